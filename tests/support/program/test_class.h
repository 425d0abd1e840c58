// SPDX-License-Identifier: Apache-2.0
// The tests of a folder are one program (belfry_tests() in CMakeLists.txt). It runs the file that
// its first argument names and hands the other arguments to QtTest:
//   build/test/tests/engine/plan/tests_engine.plan planner fitsTheCard
#pragma once

#include <QTest>

#include <string>

// Qt waits five seconds, which a busy machine can need. A longer limit costs time only where a test
// fails.
#undef QTRY_VERIFY
#define QTRY_VERIFY(expr) QTRY_VERIFY_WITH_TIMEOUT(expr, 30000)
#undef QTRY_VERIFY2
#define QTRY_VERIFY2(expr, words) QTRY_VERIFY2_WITH_TIMEOUT(expr, words, 30000)
#undef QTRY_COMPARE
#define QTRY_COMPARE(expr, expected) QTRY_COMPARE_WITH_TIMEOUT(expr, expected, 30000)

/// Fails with the error of a Result that holds no value.
#define VERIFY_VALUE(result)                                                                       \
    do {                                                                                           \
        const auto& verified_result = (result);                                                    \
        QVERIFY2(verified_result.has_value(),                                                      \
                 verified_result.has_value() ? "" : verified_result.error().message.c_str());      \
    } while (false)

/// Fails with what a std::string says is wrong; an empty one passes.
#define VERIFY_EMPTY(wrong)                                                                        \
    do {                                                                                           \
        const std::string verified_text = (wrong);                                                 \
        QVERIFY2(verified_text.empty(), verified_text.c_str());                                    \
    } while (false)

namespace support {

/// Adds columns of test data: addColumns<QString, int>("name", "count").
template <typename... Types, typename... Names>
void addColumns(Names... names) {
    (QTest::addColumn<Types>(names), ...);
}

/// A file tst_NAME.cpp of the program. Constructing one registers it under NAME.
class TestFile {
public:
    /// Behaves like main(); the name of the file has been removed from its arguments.
    using Main = int (*)(int argc, char** argv);

    /// @param path `__FILE__`.
    TestFile(const char* path, Main main);
};

} // namespace support

/// The file's tests are what `main_function` runs (support::TestFile::Main).
#define TEST_MAIN(main_function)                                                                   \
    static const support::TestFile kFileOf_##main_function(__FILE__, main_function);

/// The file's tests are the slots of `Class`, which need no application object.
#define TEST_CLASS(Class)                                                                          \
    static int run##Class(int argc, char** argv) {                                                 \
        Class tests;                                                                               \
        return QTest::qExec(&tests, argc, argv);                                                   \
    }                                                                                              \
    TEST_MAIN(run##Class)

/// The file's tests are the slots of `Class`, which need a QCoreApplication or a QApplication.
#define TEST_CLASS_WITH(Application, Class)                                                        \
    static int run##Class(int argc, char** argv) {                                                 \
        Application::setAttribute(Qt::AA_Use96Dpi);                                                \
        Application application(argc, argv);                                                       \
        Class tests;                                                                               \
        return QTest::qExec(&tests, argc, argv);                                                   \
    }                                                                                              \
    TEST_MAIN(run##Class)
