// SPDX-License-Identifier: Apache-2.0
// Writing: what is written is read back by the tests' own independent reader, golden files survive
// a round trip, shards, refusals, cancellation, and nothing left behind after a failure.
#include "engine/files/safetensors.h"
#include "engine/files/safetensors_writer.h"
#include "tests/engine/files/raw_safetensors.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>
#include <memory>

namespace {

namespace fs = std::filesystem;
using engine::TensorToWrite;
using engine::TensorType;

std::vector<std::byte> bytesOf(std::string_view text) {
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

std::vector<TensorToWrite> smallTensors() {
    std::vector<TensorToWrite> tensors;
    tensors.push_back(engine::tensorFromBytes("bias", TensorType::U8, {5}, bytesOf("abcde")));
    tensors.push_back(engine::tensorFromBytes("w", TensorType::F32, {1, 2}, bytesOf("01234567")));
    tensors.push_back(engine::tensorFromBytes("scalar", TensorType::BF16, {}, bytesOf("xy")));
    tensors.push_back(engine::tensorFromBytes("empty", TensorType::F32, {0, 3}, {}));
    tensors.push_back(engine::tensorFromBytes("v", TensorType::F32, {1}, bytesOf("ABCD")));
    return tensors;
}

} // namespace

class TestSafetensorsWriter : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        root_ = std::make_unique<QTemporaryDir>();
        folder_ = root_->path().toStdString();
    }
    void layout();
    void goldenRoundTrip_data();
    void goldenRoundTrip();
    void streamsInPieces();
    void shards_data();
    void shards();
    void refused_data();
    void refused();
    void existingFileStays();
    void failingSourceLeavesNothing();
    void cancelledLeavesNothing();
    void unwritableFolder();

private:
    [[nodiscard]] size_t numFiles() const {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    std::unique_ptr<QTemporaryDir> root_;
    fs::path folder_;
};

void TestSafetensorsWriter::layout() {
    const fs::path file = folder_ / "x.safetensors";
    const auto written = engine::writeSafetensorsFile(file, smallTensors());
    QVERIFY2(written.has_value(), written ? "" : written.error().message.c_str());
    const std::string bytes = support::textOf(file);
    const size_t header_bytes =
        static_cast<unsigned char>(bytes[0]) + 256U * static_cast<unsigned char>(bytes[1]);
    QCOMPARE((8 + header_bytes) % 8, size_t{0});
    // By descending element size, then name: empty, v, w (4 bytes), scalar (2), bias (1).
    QCOMPARE(bytes.substr(8 + header_bytes), std::string("ABCD01234567xyabcde"));
    QVERIFY(bytes.find(R"("__metadata__":{"format":"pt"})") != std::string::npos);
    const auto read = support::readSafetensors(file);
    QCOMPARE(read.size(), size_t{5});
    QCOMPARE(read.at("w").dtype, std::string("F32"));
    QCOMPARE(read.at("w").shape, (std::vector<int64_t>{1, 2}));
    QVERIFY(read.at("scalar").shape.empty());
    QCOMPARE(read.at("bias").bytes.size(), size_t{5});
    const auto source = engine::openSafetensorsFile(file);
    QVERIFY(source.has_value());
    QCOMPARE((*source)->metadata().size(), size_t{1});
    QCOMPARE(numFiles(), size_t{1});
}

void TestSafetensorsWriter::goldenRoundTrip_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::newRow("bf16 model") << QByteArray("e2b/model/model.safetensors");
    QTest::newRow("double-quantized checkpoint")
        << QByteArray("e2b/quantized/nf4-dq-checkpoint/model.safetensors");
    QTest::newRow("adapter") << QByteArray("e2b/adapters/dora/adapter_model.safetensors");
}

void TestSafetensorsWriter::goldenRoundTrip() {
    QFETCH(QByteArray, file);
    const fs::path golden = support::goldenDir() / file.constData();
    auto opened = engine::openSafetensorsFile(golden);
    QVERIFY(opened.has_value());
    const engine::TensorSource& source = **opened;
    std::vector<TensorToWrite> tensors;
    for (const engine::TensorInfo& info : source.tensors()) {
        tensors.push_back({info.name, info.type, info.shape,
                           [&source, &info](uint64_t offset, std::span<std::byte> out) {
                               return source.read(info, offset, out);
                           }});
    }
    const fs::path copy = folder_ / "copy.safetensors";
    const auto written = engine::writeSafetensorsFile(copy, tensors);
    QVERIFY2(written.has_value(), written ? "" : written.error().message.c_str());
    const auto expected = support::readSafetensors(golden);
    const auto found = support::readSafetensors(copy);
    QCOMPARE(found.size(), expected.size());
    for (const auto& [name, tensor] : expected) {
        QVERIFY2(found.count(name) == 1, name.c_str());
        QVERIFY(found.at(name).dtype == tensor.dtype && found.at(name).shape == tensor.shape);
        QVERIFY2(found.at(name).bytes == tensor.bytes, name.c_str());
    }
}

void TestSafetensorsWriter::streamsInPieces() {
    const int64_t size = static_cast<int64_t>(2 * engine::kSafetensorsPieceBytes) + 3;
    std::vector<std::pair<uint64_t, size_t>> calls;
    TensorToWrite tensor{"t",
                         TensorType::U8,
                         {size},
                         [&](uint64_t offset, std::span<std::byte> out) -> engine::Result<void> {
                             calls.emplace_back(offset, out.size());
                             std::fill(out.begin(), out.end(),
                                       static_cast<std::byte>(calls.size()));
                             return {};
                         }};
    std::vector<uint64_t> progress;
    engine::WriteOptions options;
    options.on_bytes_written = [&](uint64_t bytes) { progress.push_back(bytes); };
    QVERIFY(engine::writeSafetensorsFile(folder_ / "t.safetensors", {tensor}, options).has_value());
    const size_t piece = engine::kSafetensorsPieceBytes;
    QVERIFY(calls ==
            (std::vector<std::pair<uint64_t, size_t>>{{0, piece}, {piece, piece}, {2 * piece, 3}}));
    QCOMPARE(progress, (std::vector<uint64_t>{piece, 2 * piece, 2 * piece + 3}));
    const auto read = support::readSafetensors(folder_ / "t.safetensors");
    QCOMPARE(int{read.at("t").bytes.front()}, 1);
    QCOMPARE(int{read.at("t").bytes.back()}, 3);
}

void TestSafetensorsWriter::shards_data() {
    support::addColumns<quint64, int>("max_shard_bytes", "num_shards");
    QTest::newRow("all in one file") << quint64{19} << 1;
    QTest::newRow("one byte less") << quint64{18} << 2;        // 5+8+2+0, then 4
    QTest::newRow("eight bytes") << quint64{8} << 3;           // 5 | 8 | 2+0+4
    QTest::newRow("smaller than a tensor") << quint64{1} << 4; // 0 bytes always fit
}

void TestSafetensorsWriter::shards() {
    QFETCH(quint64, max_shard_bytes);
    QFETCH(int, num_shards);
    const auto names = engine::writeSafetensorsFolder(folder_, smallTensors(), max_shard_bytes);
    QVERIFY2(names.has_value(), names ? "" : names.error().message.c_str());
    QCOMPARE(static_cast<int>(names->size()), num_shards == 1 ? 1 : num_shards + 1);
    QCOMPARE(numFiles(), names->size());
    if (num_shards > 1) {
        QCOMPARE(names->front(),
                 "model-00001-of-0000" + std::to_string(num_shards) + ".safetensors");
        const auto index = support::readJson(folder_ / "model.safetensors.index.json");
        QCOMPARE(index["metadata"]["total_size"].get<int>(), 19);
    }
    const auto source = engine::openModelFolder(folder_);
    QVERIFY2(source.has_value(), source ? "" : source.error().message.c_str());
    QVERIFY((*source)->warnings().empty());
    QCOMPARE((*source)->tensors().size(), size_t{5});
    std::string data(8, ' ');
    QVERIFY((*source)
                ->read(*(*source)->find("w"), 0, std::as_writable_bytes(std::span<char>(data)))
                .has_value());
    QCOMPARE(data, std::string("01234567"));
}

void TestSafetensorsWriter::refused_data() {
    support::addColumns<int, QByteArray>("which", "rule");
    QTest::newRow("name twice") << 0 << QByteArray("ST01");
    QTest::newRow("empty name") << 1 << QByteArray("ST02");
    QTest::newRow("name of the metadata") << 2 << QByteArray("ST02");
    QTest::newRow("control character in a name") << 3 << QByteArray("ST02");
    QTest::newRow("name that is not UTF-8") << 4 << QByteArray("ST02");
    QTest::newRow("nine dimensions") << 5 << QByteArray("ST02");
    QTest::newRow("negative size") << 6 << QByteArray("ValidationOverflow");
    QTest::newRow("size beyond 2^48") << 7 << QByteArray("ValidationOverflow");
    QTest::newRow("no element type") << 8 << QByteArray("InvalidTensorView");
    QTest::newRow("too few bytes") << 9 << QByteArray("InvalidTensorView");
    QTest::newRow("too many bytes") << 10 << QByteArray("InvalidTensorView");
    QTest::newRow("no data") << 11 << QByteArray("InvalidTensorView");
}

void TestSafetensorsWriter::refused() {
    QFETCH(int, which);
    QFETCH(QByteArray, rule);
    std::vector<TensorToWrite> tensors = smallTensors();
    TensorToWrite& last = tensors.back();
    switch (which) {
    case 0:
        last.name = "bias";
        break;
    case 1:
        last.name = "";
        break;
    case 2:
        last.name = "__metadata__";
        break;
    case 3:
        last.name = "a\nb";
        break;
    case 4:
        last.name = "\xff";
        break;
    case 5:
        last.shape = {1, 1, 1, 1, 1, 1, 1, 1, 1};
        break;
    case 6:
        last.shape = {-1};
        break;
    case 7:
        last.shape = {int64_t{1} << 40, int64_t{1} << 40};
        break;
    case 8:
        last.type = TensorType::Other;
        break;
    case 9:
        last.shape = {2};
        break;
    case 10:
        last.shape = {}, last.type = TensorType::U8;
        break;
    default:
        last.fill = nullptr;
        break;
    }
    const auto written = engine::writeSafetensorsFile(folder_ / "x.safetensors", tensors);
    QVERIFY(!written.has_value());
    QVERIFY(written.error().code == engine::ErrorCode::InvalidRequest);
    QCOMPARE(QByteArray::fromStdString(support::detailOf(written.error())), rule);
    QCOMPARE(numFiles(), size_t{0});
}

void TestSafetensorsWriter::existingFileStays() {
    const fs::path file = folder_ / "model.safetensors";
    support::writeBytes(file, "old");
    const auto refused = engine::writeSafetensorsFile(file, smallTensors());
    QVERIFY(!refused.has_value());
    QCOMPARE(support::detailOf(refused.error()), std::string("ST09"));
    QCOMPARE(support::textOf(file), std::string("old"));
    QVERIFY(!engine::writeSafetensorsFolder(folder_, smallTensors()).has_value());
    QCOMPARE(numFiles(), size_t{1});
    engine::WriteOptions options;
    options.is_replacing_allowed = true;
    QVERIFY(engine::writeSafetensorsFile(file, smallTensors(), options).has_value());
    QCOMPARE(support::readSafetensors(file).size(), size_t{5});
    QCOMPARE(numFiles(), size_t{1});
    // An existing index refuses the folder, and the shards written before it are removed.
    fs::remove(file);
    support::writeBytes(folder_ / "model.safetensors.index.json", "{}");
    QVERIFY(!engine::writeSafetensorsFolder(folder_, smallTensors(), 8).has_value());
    QCOMPARE(numFiles(), size_t{1});
}

void TestSafetensorsWriter::failingSourceLeavesNothing() {
    std::vector<TensorToWrite> tensors = smallTensors();
    tensors[2].fill = [](uint64_t, std::span<std::byte>) -> engine::Result<void> {
        return engine::Error{engine::ErrorCode::InvalidFile, "the source broke"};
    };
    tensors[2].data_bytes.reset();
    const auto single = engine::writeSafetensorsFile(folder_ / "x.safetensors", tensors);
    QVERIFY(!single.has_value());
    QCOMPARE(single.error().message, std::string("the source broke"));
    QCOMPARE(numFiles(), size_t{0});
    QVERIFY(!engine::writeSafetensorsFolder(folder_, tensors, 8).has_value());
    QCOMPARE(numFiles(), size_t{0});
}

void TestSafetensorsWriter::cancelledLeavesNothing() {
    std::stop_source stop;
    engine::WriteOptions options;
    options.stop = stop.get_token();
    options.on_bytes_written = [&](uint64_t) { stop.request_stop(); };
    const auto written =
        engine::writeSafetensorsFile(folder_ / "x.safetensors", smallTensors(), options);
    QVERIFY(!written.has_value());
    QVERIFY(written.error().code == engine::ErrorCode::Cancelled);
    QCOMPARE(numFiles(), size_t{0});
}

void TestSafetensorsWriter::unwritableFolder() {
    const auto written =
        engine::writeSafetensorsFile(folder_ / "none" / "x.safetensors", smallTensors());
    QVERIFY(!written.has_value());
    QCOMPARE(support::detailOf(written.error()), std::string("WriteFailed"));
    QVERIFY(written.error().message.starts_with("x.safetensors: cannot be created: "));
    if (fs::exists("/dev/full")) { // a disk that is always full
        const auto full = engine::writeSafetensorsFile("/dev/full/x", smallTensors());
        QVERIFY(!full.has_value());
    }
}

TEST_CLASS(TestSafetensorsWriter)
#include "tst_safetensors_writer.moc"
