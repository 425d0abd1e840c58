// SPDX-License-Identifier: Apache-2.0
// No function of the product is so long that it cannot be reviewed. Those that still are stand in
// the list with their lines; it may only become shorter, so that a function that has fewer fails
// as well until the list says so.
#include "tests/house/function_lengths.h"
#include "tests/house/source_text.h"

#include <QTest>

#include <algorithm>
#include <climits>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kTooLong = 120;

/// Lines of the functions that are too long, by file, the longest first.
using LongFunctions = std::map<std::string, std::vector<int>>;

const LongFunctions& known() {
    static const LongFunctions kKnown = {};
    return kKnown;
}

std::vector<int> longOnes(const std::vector<house::Function>& functions) {
    std::vector<int> lines;
    for (const house::Function& function : functions) {
        if (function.lines >= kTooLong) {
            lines.push_back(function.lines);
        }
    }
    std::sort(lines.rbegin(), lines.rend());
    return lines;
}

/// What is wrong, one line per file; empty: nothing.
std::string complaints(const std::map<std::string, std::string>& sources,
                       const LongFunctions& still) {
    std::string text;
    LongFunctions listed = still;
    for (const auto& [path, source] : sources) {
        const std::vector<house::Function> functions = house::functionsOf(source);
        if (functions.size() == 1 && functions[0].lines == INT_MAX) {
            text += path + ": its braces do not match\n";
            continue;
        }
        const std::vector<int> found = longOnes(functions);
        const std::vector<int> wanted =
            listed.contains(path) ? listed.at(path) : std::vector<int>();
        listed.erase(path);
        if (found == wanted) {
            continue;
        }
        text += path + ": functions of " + std::to_string(kTooLong) + " lines and more:";
        for (const house::Function& function : functions) {
            if (function.lines >= kTooLong) {
                text += " " + std::to_string(function.lines) + " at line " +
                        std::to_string(function.line) + ",";
            }
        }
        text += found.empty() ? " none," : "";
        text += found < wanted ? " fewer than the list says: write that there\n"
                               : " divide them by what they do\n";
    }
    for (const auto& [path, lines] : listed) {
        text += path + ": is in the list, and does not exist\n";
    }
    return text;
}

std::string functionOf(int lines) {
    std::string text = "void f() {\n";
    for (int i = 2; i < lines; ++i) {
        text += "    g();\n";
    }
    return text + "}\n";
}

} // namespace

class TestFunctions : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void areFound_data();
    void areFound();
    void areShort();
    void findsALongOne();
    void listOnlyShrinks();
};

void TestFunctions::areFound_data() {
    QTest::addColumn<QByteArray>("source");
    QTest::addColumn<QByteArray>("found"); ///< "head@line+lines"
    const auto row = [](const char* name, const char* source, const char* found) {
        QTest::newRow(name) << QByteArray(source) << QByteArray(found);
    };
    row("function", "int f(int a) {\n    return a;\n}\n", "int f(int a)@1+3");
    row("head over two lines", "int f(int a,\n      int b) {\n}\n", "int f(int a, int b)@2+2");
    row("in a namespace", "namespace a::b {\nvoid f() {}\n}\n", "void f()@2+1");
    row("behind a macro", "Q_DECLARE(x)\nnamespace app {\nvoid f() {\n}\n}\n", "void f()@3+2");
    row("in C", "extern \"C\" {\nvoid f() {}\n}\n", "void f()@2+1");
    row("kernel", "extern \"C\" __global__ void __launch_bounds__(64) k(int a) {\n}\n",
        "extern \"\" __global__ void __launch_bounds__(64) k(int a)@1+2");
    row("in a class", "class A : public B {\n    Q_OBJECT\npublic:\n    void f() {\n    }\n};\n",
        "Q_OBJECT public: void f()@4+2");
    row("in a class in a class", "struct A {\n    struct B {\n        void f() {}\n    };\n};\n",
        "void f()@3+1");
    row("template", "template <class T, typename = A<B<T>>>\nvoid f(T t) {\n}\n",
        "void f(T t)@2+2");
    row("template of a class", "template <typename T>\nstruct A {\n    void f() {}\n};\n",
        "void f()@3+1");
    row("blocks and lambdas are a part",
        "void f() {\n    if (a) {\n    }\n    x([] {\n    });\n}\n", "void f()@1+6");
    row("initialisers", "A::A() : a_(1), b_{2} {\n}\n", "A::A() : a_(1), b_@1+2");
    row("initialisers, more of them", "A::A() : b_{2}, c_{3}, d_(4) {\n}\n", "A::A() : b_@1+2");
    row("values are none", "constexpr int kA[] = {1, 2};\nint b{3};\nenum class C { D = 1 };\n",
        "");
    row("braces in literals and comments", "void f() {\n    g(\"{{\", '{'); // {\n}\n",
        "void f()@1+3");
    row("braces in a raw string", "void f() {\n    g(R\"x({{\n)x\");\n}\n", "void f()@1+4");
    row("macros are none", "#define F(x) \\\n    void x() { \\\n    {\nvoid f() {\n}\n",
        "void f()@4+2");
    row("both sides", "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n", "void g()@4+3");
    row("does not close", "void f() {\n", "@2+2147483647");
    row("closes too often", "void f() {\n}\n}\n", "@4+2147483647");
}

void TestFunctions::areFound() {
    QFETCH(QByteArray, source);
    QByteArray found;
    for (const house::Function& function : house::functionsOf(source.toStdString())) {
        found += (found.isEmpty() ? "" : " ") + QByteArray::fromStdString(function.head) + "@" +
                 QByteArray::number(function.line) + "+" + QByteArray::number(function.lines);
    }
    QTEST(found, "found");
}

void TestFunctions::areShort() {
    const auto sources =
        house::sourcesBelow({"app", "engine", "ipc", "kernels", "library", "remote", "ui"});
    QVERIFY(sources.size() > 500);
    const std::string wrong = complaints(sources, known());
    QVERIFY2(wrong.empty(), ("\n" + wrong).c_str());
    size_t functions = 0;
    for (const auto& [path, source] : sources) {
        functions += house::functionsOf(source).size();
    }
    QVERIFY2(functions > 5000, std::to_string(functions).c_str());
}

void TestFunctions::findsALongOne() {
    QCOMPARE(complaints({{"ui/a.cpp", functionOf(kTooLong - 1)}}, {}), std::string());
    QCOMPARE(complaints({{"ui/a.cpp", "class A {\n" + functionOf(kTooLong) + "};\n"}}, {}),
             std::string("ui/a.cpp: functions of 120 lines and more: 120 at line 2, divide them by "
                         "what they do\n"));
    QVERIFY(complaints({{"ui/a.cpp", "void f() {\n"}}, {}).starts_with("ui/a.cpp: its braces"));
}

void TestFunctions::listOnlyShrinks() {
    const LongFunctions still = {{"ui/a.cpp", {130, 125}}};
    const std::string both = functionOf(125) + functionOf(130);
    QCOMPARE(complaints({{"ui/a.cpp", both}}, still), std::string());
    for (const std::string& less : {functionOf(130), functionOf(125) + functionOf(129)}) {
        const std::string wrong = complaints({{"ui/a.cpp", less}}, still);
        QVERIFY2(wrong.find("write that there") != std::string::npos, wrong.c_str());
    }
    for (const std::string& more : {both + functionOf(120), functionOf(125) + functionOf(131)}) {
        const std::string wrong = complaints({{"ui/a.cpp", more}}, still);
        QVERIFY2(wrong.find("divide them") != std::string::npos, wrong.c_str());
    }
    QVERIFY(complaints({}, still).starts_with("ui/a.cpp: is in the list"));
}

QTEST_APPLESS_MAIN(TestFunctions)
#include "tst_functions.moc"
