// SPDX-License-Identifier: Apache-2.0
// The header parser: every rule broken alone (the table of malformed_safetensors.h), files that
// look odd but are right, byte flips, truncation at every byte, and reading what was described.
#include "engine/base/sentence_english.h"
#include "engine/files/safetensors.h"
#include "tests/engine/files/malformed_safetensors.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

namespace {

namespace fs = std::filesystem;

/// Name, type, shape, offset and size of every tensor, for comparison.
std::string describe(const std::vector<engine::TensorInfo>& tensors) {
    std::string text;
    for (const engine::TensorInfo& info : tensors) {
        text += info.name + " " + std::string(engine::tensorTypeName(info.type)) + " [";
        for (const int64_t size : info.shape) {
            text += std::to_string(size) + ",";
        }
        text +=
            "] " + std::to_string(info.file_offset) + "+" + std::to_string(info.size_bytes) + "\n";
    }
    return text;
}

} // namespace

class TestSafetensorsHeader : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QVERIFY(folder_.isValid()); }
    void brokenRule_data();
    void brokenRule();
    void everyRuleHasARow();
    void accepted_data();
    void accepted();
    void warnings_data();
    void warnings();
    void unreadableTypeFailsOnRead();
    void readOutsideTensorIsRefused();
    void tooManyTensors();
    void randomByteFlips();
    void truncationAtEveryByte();
    void headerOnlyFile();
    void goldenFilesEqualIndependentReader_data();
    void goldenFilesEqualIndependentReader();

private:
    fs::path write(const std::string& bytes) {
        const fs::path file = fs::path(folder_.path().toStdString()) / "model.safetensors";
        support::writeBytes(file, bytes);
        return file;
    }
    QTemporaryDir folder_;
};

void TestSafetensorsHeader::brokenRule_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("content", "rule", "expected");
    for (const support::MalformedCase& row : support::malformedSafetensors()) {
        QTest::newRow(row.name.c_str())
            << QByteArray::fromStdString(row.files[0].second) << QByteArray::fromStdString(row.rule)
            << QByteArray::fromStdString(row.expected);
    }
}

void TestSafetensorsHeader::brokenRule() {
    QFETCH(QByteArray, content);
    QFETCH(QByteArray, rule);
    QFETCH(QByteArray, expected);
    const auto source = engine::openSafetensorsFile(write(content.toStdString()));
    QVERIFY(!source.has_value());
    const engine::Error& error = source.error();
    QCOMPARE(QByteArray::fromStdString(support::detailOf(error, "rule")), rule);
    QVERIFY2(error.message.find(expected.toStdString()) != std::string::npos,
             error.message.c_str());
    QVERIFY(error.message.starts_with("model.safetensors: "));
    QVERIFY(error.code == engine::ErrorCode::InvalidFile ||
            error.code == engine::ErrorCode::Unsupported);
}

void TestSafetensorsHeader::everyRuleHasARow() {
    std::set<std::string> rules;
    for (const support::MalformedCase& row : support::malformedSafetensors()) {
        rules.insert(row.rule);
    }
    for (const char* rule :
         {"HeaderTooSmall", "HeaderTooLarge", "InvalidHeaderLength", "InvalidHeader",
          "InvalidHeaderDeserialization", "InvalidOffset", "ValidationOverflow", "MisalignedSlice",
          "TensorInvalidInfo", "MetadataIncompleteBuffer", "ST01", "ST02", "ST03", "PickleFile",
          "ZipFile", "GgufFile"}) {
        QVERIFY2(rules.count(rule) == 1, rule);
    }
}

void TestSafetensorsHeader::accepted_data() {
    QTest::addColumn<QByteArray>("header");
    QTest::addColumn<int>("data_bytes");
    QTest::addColumn<QByteArray>("listing"); // offsets relative to the data area
    const auto row = [](const char* name, const std::string& header, int data_bytes,
                        const char* listing) {
        QTest::newRow(name) << QByteArray::fromStdString(header) << data_bytes
                            << QByteArray(listing);
    };
    const auto entry = support::headerEntry;
    const std::string a = entry("a", "F32", "2", "0,8");
    const std::string b = entry("b", "U8", "3", "8,11");
    row("one tensor", "{" + a + "}", 8, "a F32 [2,] 0+8\n");
    row("nothing at all", "{}", 0, "");
    row("metadata only", R"({"__metadata__":{"format":"pt"}})", 0, "");
    row("leading spaces", "   {" + a + "}", 8, "a F32 [2,] 0+8\n");
    row("trailing spaces", "{" + a + "}      ", 8, "a F32 [2,] 0+8\n");
    row("white space of all kinds", " \t\r\n{ \n" + a + "\t}\r\n", 8, "a F32 [2,] 0+8\n");
    row("rank 0", "{" + entry("s", "BF16", "", "0,2") + "}", 2, "s BF16 [] 0+2\n");
    row("zero-size", "{" + entry("z", "F32", "0,7", "0,0") + "}", 0, "z F32 [0,7,] 0+0\n");
    row("zero-size between others", "{" + a + "," + entry("z", "F32", "0", "8,8") + "," + b + "}",
        11, "a F32 [2,] 0+8\nb U8 [3,] 8+3\nz F32 [0,] 8+0\n");
    row("data area at an odd address", " {" + a + "}", 8, "a F32 [2,] 0+8\n");
    row("odd offset inside the data",
        "{" + entry("u", "U8", "1", "0,1") + "," + entry("v", "F32", "1", "1,5") + "}", 5,
        "u U8 [1,] 0+1\nv F32 [1,] 1+4\n");
    row("swapped order in the header", "{" + b + "," + a + "}", 11,
        "a F32 [2,] 0+8\nb U8 [3,] 8+3\n");
    row("members in another order", R"({"a":{"data_offsets":[0,8],"shape":[2],"dtype":"F32"}})", 8,
        "a F32 [2,] 0+8\n");
    row("eight dimensions", "{" + entry("a", "U8", "1,1,2,1,1,1,1,1", "0,2") + "}", 2,
        "a U8 [1,1,2,1,1,1,1,1,] 0+2\n");
    row("name of 1024 bytes", "{" + entry(std::string(1024, 'n'), "U8", "1", "0,1") + "}", 1,
        (std::string(1024, 'n') + " U8 [1,] 0+1\n").c_str());
    row("name with an escape", "{" + entry("\\u00e9\\ud83d\\ude00", "U8", "1", "0,1") + "}", 1,
        "\xc3\xa9\xf0\x9f\x98\x80 U8 [1,] 0+1\n");
    row("name with a slash", "{" + entry("a\\/b", "U8", "1", "0,1") + "}", 1, "a/b U8 [1,] 0+1\n");
    row("long metadata", R"({"__metadata__":{"x":")" + std::string(100'000, 'm') + "\"}," + a + "}",
        8, "a F32 [2,] 0+8\n");
    row("all types",
        "{" + entry("b", "BOOL", "1", "0,1") + "," + entry("c", "I8", "1", "1,2") + "," +
            entry("d", "I16", "1", "2,4") + "," + entry("e", "U16", "1", "4,6") + "," +
            entry("f", "F16", "1", "6,8") + "," + entry("g", "I32", "1", "8,12") + "," +
            entry("h", "U32", "1", "12,16") + "," + entry("i", "F64", "1", "16,24") + "," +
            entry("j", "I64", "1", "24,32") + "," + entry("k", "U64", "1", "32,40") + "}",
        40,
        "b BOOL [1,] 0+1\nc I8 [1,] 1+1\nd I16 [1,] 2+2\ne U16 [1,] 4+2\nf F16 [1,] 6+2\n"
        "g I32 [1,] 8+4\nh U32 [1,] 12+4\ni F64 [1,] 16+8\nj I64 [1,] 24+8\nk U64 [1,] 32+8\n");
    row("types without a reader",
        "{" + entry("a", "F8_E4M3", "4", "0,4") + "," + entry("b", "F4", "4", "4,6") + "," +
            entry("c", "C64", "1", "6,14") + "}",
        14, "a other [4,] 0+4\nb other [4,] 4+2\nc other [1,] 6+8\n");
    row("unknown type", "{" + entry("a", "Q9", "4", "0,3") + "}", 3, "a other [4,] 0+3\n");
}

void TestSafetensorsHeader::accepted() {
    QFETCH(QByteArray, header);
    QFETCH(int, data_bytes);
    QFETCH(QByteArray, listing);
    const auto source = engine::openSafetensorsFile(
        write(support::rawSafetensors(header.toStdString(), static_cast<size_t>(data_bytes))));
    QVERIFY2(source.has_value(), source ? "" : source.error().message.c_str());
    std::vector<engine::TensorInfo> relative = (*source)->tensors();
    for (engine::TensorInfo& info : relative) {
        info.file_offset -= 8 + static_cast<uint64_t>(header.size());
    }
    QCOMPARE(QByteArray::fromStdString(describe(relative)), listing);
    for (const engine::TensorInfo& info : (*source)->tensors()) {
        QCOMPARE((*source)->find(info.name), &info);
        if (info.type == engine::TensorType::Other) {
            continue;
        }
        std::vector<std::byte> bytes(info.size_bytes);
        QVERIFY((*source)->read(info, 0, bytes).has_value());
        for (size_t i = 0; i < bytes.size(); ++i) {
            const uint64_t position =
                info.file_offset + i - 8 - static_cast<uint64_t>(header.size());
            QCOMPARE(static_cast<int>(bytes[i]), static_cast<int>(position % 251));
        }
    }
    QVERIFY((*source)->find("no such name") == nullptr);
    QVERIFY(!(*source)->isHeaderOnly());
}

void TestSafetensorsHeader::warnings_data() {
    support::addColumns<QByteArray, QByteArray>("header", "warning");
    const auto row = [](const char* name, const char* members, const char* warning) {
        QTest::newRow(name)
            << QByteArray("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]") +
                   members + "}}"
            << QByteArray(warning);
    };
    row("none", "", "");
    row("unknown member", ",\"x\":1", "tensor a: unknown member \"x\" ignored (ST06)");
    row("unknown object", ",\"x\":{\"y\":[1,2]}", "unknown member \"x\" ignored (ST06)");
    row("unknown members", ",\"x\":[],\"y\":null,\"z\":true", "unknown member \"z\" ignored");
    row("many unknown members", ",\"x1\":1,\"x2\":1,\"x3\":1,\"x4\":1,\"x5\":1,\"x6\":1,\"x7\":1",
        "2 more unknown members ignored (ST06)");
}

void TestSafetensorsHeader::warnings() {
    QFETCH(QByteArray, header);
    QFETCH(QByteArray, warning);
    const auto source =
        engine::openSafetensorsFile(write(support::rawSafetensors(header.toStdString(), 1)));
    QVERIFY2(source.has_value(), source ? "" : source.error().message.c_str());
    const auto warnings = engine::inEnglish((*source)->warnings());
    if (warning.isEmpty()) {
        QVERIFY(warnings.empty());
        return;
    }
    QVERIFY(support::mentions(warnings, warning.toStdString()));
}

void TestSafetensorsHeader::unreadableTypeFailsOnRead() {
    const std::string header = "{" + support::headerEntry("f8", "F8_E4M3", "4", "0,4") + "}";
    const auto source = engine::openSafetensorsFile(write(support::rawSafetensors(header, 4)));
    QVERIFY(source.has_value());
    QCOMPARE((*source)->warnings().size(), size_t{1});
    QVERIFY(engine::inEnglish((*source)->warnings()[0]).find("(ST05)") != std::string::npos);
    std::vector<std::byte> bytes(4);
    const auto read = (*source)->read(*(*source)->find("f8"), 0, bytes);
    QVERIFY(!read.has_value());
    QCOMPARE(support::detailOf(read.error(), "rule"), std::string("ST05"));
    QVERIFY(read.error().code == engine::ErrorCode::Unsupported);
}

void TestSafetensorsHeader::readOutsideTensorIsRefused() {
    const std::string header = "{" + support::headerEntry("a", "U8", "8", "0,8") + "}";
    const auto source = engine::openSafetensorsFile(write(support::rawSafetensors(header, 8)));
    QVERIFY(source.has_value());
    const engine::TensorInfo& info = *(*source)->find("a");
    std::vector<std::byte> bytes(4);
    QVERIFY((*source)->read(info, 4, bytes).has_value());
    QCOMPARE(static_cast<int>(bytes[0]), 4);
    for (const uint64_t offset : {uint64_t{5}, uint64_t{9}, UINT64_MAX, UINT64_MAX - 3}) {
        const auto read = (*source)->read(info, offset, bytes);
        QVERIFY(!read.has_value());
        QCOMPARE(support::detailOf(read.error(), "rule"), std::string("TensorRange"));
    }
}

void TestSafetensorsHeader::tooManyTensors() {
    std::string header = "{";
    for (int i = 0; i < 1'000'001; ++i) {
        header += (i == 0 ? "" : ",") + support::headerEntry(std::to_string(i), "U8", "0", "0,0");
    }
    header += "}";
    const auto parsed = engine::parseSafetensorsHeader(header, 8 + header.size(), "big");
    QVERIFY(!parsed.has_value());
    QCOMPARE(support::detailOf(parsed.error(), "rule"), std::string("ST02"));
    QVERIFY(parsed.error().message.find("more than 1000000 tensors") != std::string::npos);
}

/// A flipped byte gives a named error, or a listing whose tensors tile the same data.
void TestSafetensorsHeader::randomByteFlips() {
    const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," +
                               support::headerEntry("w.absmax", "F32", "3", "0,12") + "," +
                               support::headerEntry("w", "BF16", "2,4", "12,28") + "," +
                               support::headerEntry("bias", "U8", "5", "28,33") + "}  ";
    const std::string sound = support::rawSafetensors(header, 33);
    // Not kept open: on Windows nobody writes into a file that is.
    QVERIFY(engine::openSafetensorsFile(write(sound)).has_value());
    std::mt19937 random(20261120);
    int num_errors = 0;
    for (int i = 0; i < 200; ++i) {
        std::string changed = sound;
        const size_t position = random() % (8 + header.size());
        changed[position] = static_cast<char>(changed[position] ^ (1 << (random() % 8)));
        const auto source = engine::openSafetensorsFile(write(changed));
        if (!source) {
            ++num_errors;
            QVERIFY2(!support::detailOf(source.error(), "rule").empty(),
                     source.error().message.c_str());
            continue;
        }
        uint64_t total = 0;
        for (const engine::TensorInfo& info : (*source)->tensors()) {
            total += info.size_bytes;
            std::vector<std::byte> bytes(info.size_bytes);
            QVERIFY(info.type == engine::TensorType::Other ||
                    (*source)->read(info, 0, bytes).has_value());
        }
        QCOMPARE(total, uint64_t{33});
        QCOMPARE((*source)->tensors().size(), size_t{3});
    }
    QVERIFY(num_errors > 100); // names and metadata texts may change, structure may not
}

void TestSafetensorsHeader::truncationAtEveryByte() {
    const std::string header = "{" + support::headerEntry("a", "F32", "2", "0,8") + "," +
                               support::headerEntry("b", "U8", "3", "8,11") + "}";
    const std::string sound = support::rawSafetensors(header, 11);
    for (size_t length = 0; length < sound.size(); ++length) {
        const auto source = engine::openSafetensorsFile(write(sound.substr(0, length)));
        QVERIFY2(!source.has_value(), std::to_string(length).c_str());
        const std::string expected = length < 8                   ? "HeaderTooSmall"
                                     : length < 8 + header.size() ? "InvalidHeaderLength"
                                                                  : "MetadataIncompleteBuffer";
        QCOMPARE(support::detailOf(source.error(), "rule"), expected);
    }
}

void TestSafetensorsHeader::headerOnlyFile() {
    const std::string header = "{" + support::headerEntry("a", "F32", "2", "0,8") + "}";
    const fs::path file = write(support::rawSafetensors(header, 0));
    engine::OpenOptions options;
    options.is_header_only_allowed = true;
    auto source = engine::openSafetensorsFile(file, options);
    QVERIFY2(source.has_value(), source ? "" : source.error().message.c_str());
    QVERIFY((*source)->isHeaderOnly());
    QCOMPARE((*source)->tensors().size(), size_t{1});
    std::vector<std::byte> bytes(8);
    const auto read = (*source)->read((*source)->tensors()[0], 0, bytes);
    QVERIFY(!read.has_value());
    QCOMPARE(support::detailOf(read.error(), "rule"), std::string("DataAbsent"));
    source->reset(); // on Windows nobody writes into a file that is open
    // Part of the data is a damaged file, not a header-only one.
    const auto cut =
        engine::openSafetensorsFile(write(support::rawSafetensors(header, 7)), options);
    QVERIFY(!cut.has_value());
    QCOMPARE(support::detailOf(cut.error(), "rule"), std::string("MetadataIncompleteBuffer"));
}

void TestSafetensorsHeader::goldenFilesEqualIndependentReader_data() {
    QTest::addColumn<QByteArray>("file");
    for (const char* file : {"e2b/model/model.safetensors", "moe26b/model/model.safetensors",
                             "e2b/quantized/nf4-dq-checkpoint/model.safetensors",
                             "e2b/adapters/multimodal/adapter_model.safetensors",
                             "quantization_vectors.safetensors"}) {
        QTest::newRow(file) << QByteArray(file);
    }
}

void TestSafetensorsHeader::goldenFilesEqualIndependentReader() {
    QFETCH(QByteArray, file);
    const fs::path path = support::goldenDir() / file.constData();
    const auto expected = support::readSafetensors(path);
    const auto source = engine::openSafetensorsFile(path);
    QVERIFY2(source.has_value(), source ? "" : source.error().message.c_str());
    QCOMPARE((*source)->tensors().size(), expected.size());
    for (const auto& [name, tensor] : expected) {
        const engine::TensorInfo* info = (*source)->find(name);
        QVERIFY2(info != nullptr, name.c_str());
        QVERIFY(info->shape == tensor.shape);
        QCOMPARE(std::string(engine::tensorTypeName(info->type)), tensor.dtype);
        QCOMPARE(info->size_bytes, uint64_t{tensor.bytes.size()});
        std::vector<std::byte> bytes(info->size_bytes);
        QVERIFY((*source)->read(*info, 0, bytes).has_value());
        QVERIFY(bytes.empty() || std::memcmp(bytes.data(), tensor.bytes.data(), bytes.size()) == 0);
    }
}

TEST_CLASS(TestSafetensorsHeader)
#include "tst_safetensors_header.moc"
