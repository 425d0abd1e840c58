// SPDX-License-Identifier: Apache-2.0
// What the operating system may do to a reader: short reads, interruptions and input errors at
// every call, and how much memory a header may cost. pread() and operator new are replaced in this
// program.
#include "engine/files/safetensors.h"
#include "tests/engine/files/raw_safetensors.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

enum class Fault { None, Short, Interrupt, IoError, EndOfFile };

Fault fault = Fault::None;
int fault_call = -1; ///< Number of the call that fails; -1 = every call.
int num_calls = 0;

std::atomic<size_t> live_bytes{0};
std::atomic<size_t> peak_bytes{0};

ssize_t faultyRead(int file, void* out, size_t size, off_t offset) {
    const bool is_hit = fault != Fault::None && (fault_call < 0 || num_calls == fault_call);
    ++num_calls;
    if (is_hit && fault == Fault::Interrupt && num_calls % 2 == 1) {
        errno = EINTR;
        return -1;
    }
    if (is_hit && fault == Fault::IoError) {
        errno = EIO;
        return -1;
    }
    if (is_hit && fault == Fault::EndOfFile) {
        return 0;
    }
    const size_t wanted = is_hit && fault == Fault::Short && size > 1 ? 1 : size;
    return syscall(SYS_pread64, file, out, wanted, offset);
}

} // namespace

extern "C" ssize_t pread(int file, void* out, size_t size, off_t offset) {
    return faultyRead(file, out, size, offset);
}
extern "C" ssize_t pread64(int file, void* out, size_t size, off_t offset) {
    return faultyRead(file, out, size, offset);
}

void* operator new(size_t size) {
    void* memory = std::malloc(size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    const size_t now = live_bytes += malloc_usable_size(memory);
    if (now > peak_bytes) {
        peak_bytes = now;
    }
    return memory;
}
void operator delete(void* memory) noexcept {
    if (memory != nullptr) {
        live_bytes -= malloc_usable_size(memory);
        std::free(memory);
    }
}
void operator delete(void* memory, size_t /*size*/) noexcept {
    operator delete(memory);
}

class TestReadFaults : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void cleanup() { fault = Fault::None; }
    void shortReadsAndInterruptions_data();
    void shortReadsAndInterruptions();
    void failingCall_data();
    void failingCall();
    void headerMemory_data();
    void headerMemory();
    void lyingLengthAllocatesNothing();
};

void TestReadFaults::shortReadsAndInterruptions_data() {
    QTest::addColumn<Fault>("kind");
    QTest::newRow("one byte per call") << Fault::Short;
    QTest::newRow("every other call interrupted") << Fault::Interrupt;
}

void TestReadFaults::shortReadsAndInterruptions() {
    QFETCH(Fault, kind);
    QTemporaryDir folder;
    const std::filesystem::path file = folder.path().toStdString() + "/model.safetensors";
    support::writeBytes(
        file,
        support::rawSafetensors("{" + support::headerEntry("a", "U8", "300", "0,300") + "}", 300));
    fault = kind;
    fault_call = -1;
    const auto source = engine::openSafetensorsFile(file);
    QVERIFY2(source.has_value(), source ? "" : source.error().message.c_str());
    std::vector<std::byte> bytes(300);
    QVERIFY((*source)->read((*source)->tensors()[0], 0, bytes).has_value());
    for (size_t i = 0; i < bytes.size(); ++i) {
        QCOMPARE(static_cast<size_t>(bytes[i]), i % 251);
    }
}

void TestReadFaults::failingCall_data() {
    support::addColumns<Fault, QByteArray>("kind", "rule");
    QTest::newRow("input error") << Fault::IoError << QByteArray("FileUnreadable");
    QTest::newRow("end of file") << Fault::EndOfFile << QByteArray("ST08");
}

/// The n-th read fails, for every n: of opening and of reading.
void TestReadFaults::failingCall() {
    QFETCH(Fault, kind);
    QFETCH(QByteArray, rule);
    QTemporaryDir folder;
    const std::filesystem::path file = folder.path().toStdString() + "/model.safetensors";
    support::writeBytes(
        file, support::rawSafetensors("{" + support::headerEntry("a", "U8", "3", "0,3") + "}", 3));
    fault = kind;
    int num_failures = 0;
    for (fault_call = 0; fault_call < 50; ++fault_call) {
        num_calls = 0;
        const auto source = engine::openSafetensorsFile(file);
        std::vector<std::byte> bytes(3);
        const auto read = source ? (*source)->read((*source)->tensors()[0], 0, bytes)
                                 : engine::Result<void>(source.error());
        if (read) {
            break;
        }
        ++num_failures;
        QCOMPARE(QByteArray::fromStdString(support::detailOf(read.error())), rule);
        QVERIFY(read.error().message.starts_with("model.safetensors: "));
    }
    QCOMPARE(num_failures, 3); // first bytes, header, tensor; the fourth call does not happen
}

void TestReadFaults::headerMemory_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("50000 short entries") << 0;
    QTest::newRow("names of 1000 bytes") << 1;
    QTest::newRow("metadata of many members") << 2;
    QTest::newRow("unknown members") << 3;
}

/// Reliability target: at most eight times the header and 1 MiB.
void TestReadFaults::headerMemory() {
    QFETCH(int, kind);
    std::string header = "{";
    if (kind == 2) {
        header += "\"__metadata__\":{";
    }
    const int count = kind == 1 ? 2000 : kind == 2 ? 4096 : 50'000;
    for (int i = 0; i < count; ++i) {
        header += i == 0 ? "" : ",";
        const std::string number = std::to_string(i);
        if (kind == 2) {
            header += "\"" + number + "\":\"\"";
        } else if (kind == 3) {
            header += "\"" + number + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":0})";
        } else {
            header += support::headerEntry(number + std::string(kind == 1 ? 1000 : 0, 'n'), "U8",
                                           "0", "0,0");
        }
    }
    header += kind == 2 ? "}}" : "}";
    const size_t before = live_bytes;
    peak_bytes = before;
    const auto parsed = engine::parseSafetensorsHeader(header, 8 + header.size(), "x");
    QVERIFY2(parsed.has_value(), parsed ? "" : parsed.error().message.c_str());
    const size_t used = peak_bytes - before;
    qInfo("header %zu bytes, peak %zu bytes (%.1f times)", header.size(), used,
          static_cast<double>(used) / static_cast<double>(header.size()));
    QVERIFY(used <= 8 * header.size() + (size_t{1} << 20));
}

void TestReadFaults::lyingLengthAllocatesNothing() {
    QTemporaryDir folder;
    const std::filesystem::path file = folder.path().toStdString() + "/model.safetensors";
    support::writeBytes(file, support::lengthPrefix(99'000'000) + "{}");
    const size_t before = live_bytes;
    peak_bytes = before;
    QVERIFY(!engine::openSafetensorsFile(file).has_value());
    QVERIFY(peak_bytes - before < size_t{64} << 10);
}

TEST_CLASS(TestReadFaults)
#include "tst_read_faults.moc"
