// SPDX-License-Identifier: Apache-2.0
// Where a program with an RPATH finds the driver's libraries: the loader's cache, whole and
// damaged, and the order of places. That a planted library is not run:
// tests/installer/planted_library.sh.
#include "kernels/cuda/system_library.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

void addWord(std::string& bytes, size_t value) {
    const auto word = static_cast<uint32_t>(value);
    char text[sizeof(word)];
    std::memcpy(text, &word, sizeof(word));
    bytes.append(text, sizeof(word));
}

/// glibc's format of today.
std::string cacheOf(const std::vector<std::pair<std::string, std::string>>& libraries) {
    std::string bytes = "glibc-ld.so.cache1.1";
    std::string texts;
    const size_t texts_begin = 48 + 24 * libraries.size();
    addWord(bytes, libraries.size());
    bytes.resize(48, '\0');
    for (const auto& [name, path] : libraries) {
        addWord(bytes, 0x0303);
        addWord(bytes, texts_begin + texts.size());
        texts += name + '\0';
        addWord(bytes, texts_begin + texts.size());
        texts += path + '\0';
        bytes.append(12, '\0');
    }
    return bytes + texts;
}

QStringList list(const std::vector<std::string>& paths) {
    QStringList texts;
    for (const std::string& path : paths) {
        texts.append(QString::fromStdString(path));
    }
    return texts;
}

} // namespace

class TestSystemLibrary : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void cache_data();
    void cache();
    void everyCutAndFlip();
    void order();
};

void TestSystemLibrary::cache_data() {
    support::addColumns<QByteArray, QStringList>("bytes", "expected");
    const std::string whole = cacheOf({{"liba.so.1", "/lib/liba.so.1"},
                                       {"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"},
                                       {"libcuda.so.1", "/usr/lib/i386-linux-gnu/libcuda.so.1"},
                                       {"libcuda.so.12", "/opt/libcuda.so.12"}});
    const QStringList both = {QStringLiteral("/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
                              QStringLiteral("/usr/lib/i386-linux-gnu/libcuda.so.1")};
    const auto row = [](const char* name, const std::string& bytes, const QStringList& expected) {
        QTest::addRow("%s", name) << QByteArray::fromStdString(bytes) << expected;
    };
    row("whole", whole, both);
    row("behind the old format", std::string("ld.so-1.7.0\0\0\0\0\0", 16) + whole, both);
    row("none of the name", cacheOf({{"liba.so.1", "/lib/liba.so.1"}}), {});
    row("a path that is not absolute", cacheOf({{"libcuda.so.1", "lib/libcuda.so.1"}}), {});
    row("empty", {}, {});
    row("another file", std::string(4096, 'x'), {});
    std::string many = whole;
    std::memset(many.data() + 20, 0xff, 4);
    row("more entries than bytes", many, both);
    std::string far = whole;
    std::memset(far.data() + 48 + 24 + 8, 0xff, 4);
    row("a path behind the end", far, both.mid(1));
    row("a text without an end", whole.substr(0, whole.size() - 1), both);
}

void TestSystemLibrary::cache() {
    QFETCH(QByteArray, bytes);
    QFETCH(QStringList, expected);
    QCOMPARE(list(kernels::cuda::pathsInLoaderCache(bytes.toStdString(), "libcuda.so.1")),
             expected);
}

void TestSystemLibrary::everyCutAndFlip() {
    const std::string whole = cacheOf(
        {{"libcuda.so.1", "/lib/libcuda.so.1"}, {"libnvidia-ml.so.1", "/lib/libnvidia-ml.so.1"}});
    for (size_t at = 0; at < whole.size(); ++at) {
        // On the heap and without a byte more, so that reading behind it is seen by
        // AddressSanitizer.
        const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at));
        QVERIFY(
            kernels::cuda::pathsInLoaderCache({cut.data(), cut.size()}, "libcuda.so.1").size() <=
            1);
        std::vector<char> flipped(whole.begin(), whole.end());
        flipped[at] = static_cast<char>(~flipped[at]);
        for (const auto& path :
             kernels::cuda::pathsInLoaderCache({flipped.data(), flipped.size()}, "libcuda.so.1")) {
            QVERIFY(path.starts_with('/'));
        }
    }
}

void TestSystemLibrary::order() {
    const auto paths = kernels::cuda::systemLibraryPaths(
        "libcuda.so.1",
        "/first:relative::./here:/second:", cacheOf({{"libcuda.so.1", "/third/libcuda.so.1"}}));
    QVERIFY(paths.size() > 3);
    QCOMPARE(
        list({paths[0], paths[1], paths[2]}),
        QStringList({QStringLiteral("/first/libcuda.so.1"), QStringLiteral("/second/libcuda.so.1"),
                     QStringLiteral("/third/libcuda.so.1")}));
    for (const std::string& path : paths) {
        QVERIFY(path.starts_with('/'));
    }
    QVERIFY(!kernels::cuda::systemLibraryPaths("libcuda.so.1", {}, {}).empty());
}

TEST_CLASS_WITH(QCoreApplication, TestSystemLibrary)
#include "tst_system_library.moc"
