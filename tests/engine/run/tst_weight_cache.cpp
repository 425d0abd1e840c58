// SPDX-License-Identifier: Apache-2.0
// The derived cache: the file itself, damaged in every region, and loads with it (nothing is
// quantized twice, nothing wrong ever gets through, deleting it at any time is harmless).
#include "engine/base/sentence_english.h"
#include "engine/load/content_hash.h"
#include "engine/load/random_source.h"
#include "engine/load/weight_cache.h"
#include "tests/engine/run/loader_fixture.h"
#include "tests/support/program/test_class.h"

#include <fstream>
#include <map>
#include <random>
#include <thread>

namespace fs = std::filesystem;

using namespace support;

namespace {

/// Whether the system keeps all others from writing into a file that is being read.
#ifdef _WIN32
constexpr bool kOpenFilesAreGuarded = true;
#else
constexpr bool kOpenFilesAreGuarded = false;
#endif

std::vector<std::byte> randomBytes(uint64_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(count);
    for (auto& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    return bytes;
}

std::vector<engine::CachedTensor> twoTensors() {
    engine::CachedTensor a;
    a.name = "a.weight";
    a.format = Format::Nf4Dq;
    a.rows = 40;
    a.cols = 100;
    engine::CachedTensor b = a;
    b.name = "b.weight";
    b.format = Format::Q8;
    b.rows = 3;
    b.cols = 7;
    return {a, b};
}

/// Writes both tensors with known contents.
void writeFile(const fs::path& folder, uint64_t key) {
    auto writer = engine::WeightCacheWriter::create(folder, key, twoTensors());
    VERIFY_VALUE(writer);
    const auto a = engine::formatParts(Format::Nf4Dq, engine::TensorType::BF16, 40, 100);
    // Interleaved, in small pieces, as the loader produces them.
    const auto data = randomBytes(a.data, 1);
    const std::span<const std::byte> all(data);
    QVERIFY((*writer)->write(0, 0, all.first(1000)).has_value());
    QVERIFY((*writer)->write(0, 2, randomBytes(a.absmax_q, 2)).has_value());
    QVERIFY((*writer)->write(0, 0, all.subspan(1000)).has_value());
    QVERIFY((*writer)->write(0, 3, randomBytes(a.nested_absmax, 3)).has_value());
    QVERIFY((*writer)->write(0, 4, randomBytes(a.nested_code, 4)).has_value());
    QVERIFY((*writer)->write(1, 0, randomBytes(21, 5)).has_value());
    QVERIFY((*writer)->write(1, 1, randomBytes(12, 6)).has_value());
    const auto done = (*writer)->finish();
    VERIFY_VALUE(done);
}

std::vector<char> readFile(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const fs::path& path, const std::vector<char>& bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<fs::path> filesIn(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        files.push_back(entry.path());
    }
    return files;
}

/// A load of a golden model with a cache folder.
struct CachedLoad {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    MemorySource source{GoldenModel::get("e2b/model").tensors};
    QTemporaryDir folder;
    TestDevices devices;
    engine::LoadOptions options;

    CachedLoad() {
        options.cache_folder = fs::path(folder.path().toStdString()) / "cache";
        options.parallel = engine::poolParallelFor(devices.owned.pool.get());
    }
    engine::Result<std::unique_ptr<engine::TensorStore>> load(const engine::PlacementPlan& plan) {
        source.reads = 0;
        source.bytes_read = 0;
        return engine::load(source, golden.config, plan, devices.owned.set, options);
    }
    engine::PlacementPlan planOf(const Place& place) {
        return planFor(golden.config, source, everywhere(place));
    }
};

/// Loads of a copy of a golden model's file, opened anew each time.
struct FileLoad {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    QTemporaryDir temporary;
    fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    engine::LoadOptions options;

    struct Loaded {
        std::unique_ptr<TestDevices> devices = std::make_unique<TestDevices>();
        std::unique_ptr<engine::TensorSource> source;
        std::unique_ptr<engine::TensorStore> store;
        std::string error;
        [[nodiscard]] const engine::LoadReport& report() const { return store->report(); }
    };

    FileLoad() {
        fs::create_directory(folder);
        fs::copy_file(golden.folder / "model.safetensors", file());
        options.cache_folder = fs::path(temporary.path().toStdString()) / "cache";
    }
    [[nodiscard]] fs::path file() const { return folder / "model.safetensors"; }
    /// Until the system's times vouch for what was written just now.
    static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }
    [[nodiscard]] engine::PlacementPlan planOf(const Place& place) const {
        return planFor(golden.config, MemorySource(golden.tensors), everywhere(place));
    }
    [[nodiscard]] Loaded load(const engine::PlacementPlan& plan) const {
        Loaded loaded;
        auto source = engine::openModelFolder(folder);
        if (!source) {
            loaded.error = source.error().message;
            return loaded;
        }
        loaded.source = std::move(*source);
        auto store =
            engine::load(*loaded.source, golden.config, plan, loaded.devices->owned.set, options);
        if (!store) {
            loaded.error = store.error().message;
            return loaded;
        }
        loaded.store = std::move(*store);
        return loaded;
    }
};

} // namespace

class TestWeightCache : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void hashDependsOnEveryByteAndNotOnSplits();
    void writesAndReads();
    void piecesOfAnySplit();
    void everyRangeIsChecked();
    void folderThatIsNone();
    void incompleteIsNeverVisible();
    void damagedFiles_data();
    void damagedFiles();
    void everyByteFlipped();
    void modelsHaveKeysOfTheirOwn();
    void blockSizesHaveFilesOfTheirOwn();
    void settledFilesAreNotRead();
    void touchedAndCopiedFilesStillHit_data();
    void touchedAndCopiedFilesStillHit();
    void changedWeightsAreNoticed_data();
    void changedWeightsAreNoticed();
    void secondLoadUsesIt_data();
    void secondLoadUsesIt();
    void formatsKeepTheirOwnFiles();
    void mapsShareAFile();
    void damageIsRepaired();
    void deletedWhileInUse();
    void corruptedWhileInUse();
    void damagedRowsAreMadeAgain_data();
    void damagedRowsAreMadeAgain();
    void damageOnDiskIsRepaired();
    void damageOfOtherMapsIsRepaired();
    void unwritableFolderIsANote();
    void moveReadsIt();
    void oldestFilesGoFirst();
};

void TestWeightCache::oldestFilesGoFirst() {
    const QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    const auto now = fs::file_time_type::clock::now();
    uint64_t bytes = 0;
    for (uint64_t key = 1; key <= 4; ++key) {
        writeFile(folder, key);
        const fs::path file = folder / engine::cacheFileName(key);
        bytes = fs::file_size(file);
        fs::last_write_time(file, now - std::chrono::hours(10 - key)); // 1 is the oldest
    }
    // Not ours, whatever they are called.
    std::vector<fs::path> others = {folder / "notes.txt", folder / "my.belfry-weights",
                                    folder / "000000000000000G.belfry-weights"};
    for (const fs::path& other : others) {
        overwrite(other, std::vector<char>(100000, 'x'));
        fs::last_write_time(other, now - std::chrono::hours(100));
    }
    fs::create_directory(folder / engine::cacheFileName(9));
    others.push_back(folder / engine::cacheFileName(9));

    QVERIFY(engine::trimWeightCaches(folder, 4 * bytes, 4).empty());
    // 1 is older, but the one that was just written.
    QCOMPARE(engine::trimWeightCaches(folder, 3 * bytes, 1),
             std::vector<std::string>{engine::cacheFileName(2)});
    QCOMPARE(engine::trimWeightCaches(folder, 2 * bytes - 1, 4),
             (std::vector<std::string>{engine::cacheFileName(1), engine::cacheFileName(3)}));
    QVERIFY(engine::trimWeightCaches(folder, 0, 4).empty()); // the last one is kept
    std::optional<engine::Sentence> note;
    QVERIFY(engine::WeightCache::open(folder, 4, note) != nullptr);
    for (const fs::path& other : others) {
        QVERIFY(fs::exists(other));
    }
    QVERIFY(engine::trimWeightCaches(folder / "nowhere", 0, 4).empty());
}

void TestWeightCache::hashDependsOnEveryByteAndNotOnSplits() {
    // Published values of XXH3: a cache is good on every machine.
    QCOMPARE(engine::contentHash({}), uint64_t{0x2d06800538d394c2});
    const std::string abc = "abc";
    QCOMPARE(engine::contentHash(std::as_bytes(std::span(abc))), uint64_t{0x78af5f94892f3950});
    for (const size_t size : {0, 1, 7, 8, 31, 32, 33, 64, 1000}) {
        auto bytes = randomBytes(size, 9);
        const uint64_t whole = engine::contentHash(bytes);
        QVERIFY(whole != engine::contentHash(bytes, 1));
        for (size_t i = 0; i < size; ++i) {
            engine::ContentHasher hasher;
            hasher.update(std::span(bytes).first(i));
            hasher.update(std::span(bytes).subspan(i));
            QCOMPARE(hasher.finish(), whole);
            bytes[i] ^= std::byte{1};
            QVERIFY(engine::contentHash(bytes) != whole);
            bytes[i] ^= std::byte{1};
        }
        bytes.push_back(std::byte{0});
        QVERIFY(engine::contentHash(bytes) != whole);
    }
}

void TestWeightCache::writesAndReads() {
    QTemporaryDir dir;
    const fs::path folder = fs::path(dir.path().toStdString()) / "deep" / "cache";
    writeFile(folder, 77);
    QCOMPARE(filesIn(folder).size(), size_t{1});
    std::optional<engine::Sentence> note;
    const auto cache = engine::WeightCache::open(folder, 77, note);
    QVERIFY(cache != nullptr);
    QVERIFY(!note.has_value());
    QCOMPARE(cache->tensors().size(), size_t{2});
    QVERIFY(cache->find("c.weight") == nullptr);
    const auto* a = cache->find("a.weight");
    QVERIFY(a != nullptr);
    QCOMPARE(a->format, Format::Nf4Dq);
    const std::array<uint32_t, 5> seeds = {1, 0, 2, 3, 4};
    for (int part = 0; part < engine::kCacheParts; ++part) {
        const auto index = static_cast<size_t>(part);
        QCOMPARE(a->offset[index] % 64, uint64_t{0});
        std::vector<std::byte> bytes(a->bytes[index]);
        QVERIFY(cache->read(*a, part, 0, bytes).has_value());
        QVERIFY(bytes == randomBytes(a->bytes[index], seeds[index]));
        QCOMPARE(a->checksums[index].size(), static_cast<size_t>(bytes.empty() ? 0 : 1));
    }
    std::vector<std::byte> piece(10);
    QVERIFY(cache->read(*a, 0, 1990, piece).has_value());
    QVERIFY(!cache->read(*a, 0, 1991, piece).has_value());
    QVERIFY(!cache->read(*a, 5, 0, piece).has_value());
    QVERIFY(engine::WeightCache::open(folder, 78, note) == nullptr);
    QVERIFY(!note.has_value()); // simply not there
}

void TestWeightCache::piecesOfAnySplit() {
    constexpr size_t kPiece = engine::kHashPieceBytes;
    for (const size_t size : {size_t{0}, size_t{1}, kPiece - 1, kPiece, kPiece + 1, 5 * kPiece}) {
        const auto bytes = randomBytes(size, 3);
        const std::span<const std::byte> all(bytes);
        std::vector<uint64_t> wanted;
        for (size_t at = 0; at < size; at += kPiece) {
            wanted.push_back(engine::contentHash(all.subspan(at, std::min(kPiece, size - at))));
        }
        TestDevices devices;
        const auto parallel = engine::poolParallelFor(devices.owned.pool.get());
        for (const size_t step : {size_t{100}, kPiece - 7, kPiece, 3 * kPiece, 6 * kPiece}) {
            engine::PieceHasher hasher;
            engine::PieceHasher whole;
            whole.update(all); // and what came before is forgotten
            (void)whole.finishWhole();
            for (size_t at = 0; at < size; at += step) {
                hasher.update(all.subspan(at, std::min(step, size - at)), parallel);
                whole.update(all.subspan(at, std::min(step, size - at)));
            }
            QCOMPARE(hasher.finish(), wanted);
            QCOMPARE(whole.finishWhole(), engine::contentHash(std::as_bytes(std::span(wanted))));
        }
    }
}

void TestWeightCache::everyRangeIsChecked() {
    constexpr uint64_t kPiece = engine::kHashPieceBytes;
    QTemporaryDir dir;
    const fs::path folder = dir.path().toStdString();
    engine::CachedTensor tensor;
    tensor.name = "a.weight";
    tensor.format = Format::Q8;
    tensor.rows = 50;
    tensor.cols = 1001;
    const auto data = randomBytes(50 * 1001, 1); // three pieces and a bit
    {
        auto writer = engine::WeightCacheWriter::create(folder, 5, {tensor});
        QVERIFY(writer.has_value());
        QVERIFY((*writer)->write(0, 0, data).has_value());
        QVERIFY((*writer)->write(0, 1, randomBytes(200, 2)).has_value());
        QVERIFY((*writer)->finish().has_value());
    }
    const fs::path path = folder / engine::cacheFileName(5);
    const std::vector<char> intact = readFile(path);
    for (const uint64_t damaged : {uint64_t{0}, kPiece, 2 * kPiece - 1, uint64_t{50049}}) {
        std::vector<char> bytes = intact;
        bytes[64 + damaged] = static_cast<char>(bytes[64 + damaged] ^ 1);
        overwrite(path, bytes);
        std::optional<engine::Sentence> note;
        const auto cache = engine::WeightCache::open(folder, 5, note);
        QVERIFY(cache != nullptr);
        for (const uint64_t size : {uint64_t{1}, uint64_t{1001}, kPiece, 2 * kPiece + 100}) {
            for (uint64_t at = 0; at + size <= data.size(); at += 997) {
                std::vector<std::byte> seen(size);
                const auto read = cache->read(cache->tensors()[0], 0, at, seen);
                const bool touches =
                    at / kPiece <= damaged / kPiece && (at + size - 1) / kPiece >= damaged / kPiece;
                QCOMPARE(read.has_value(), !touches);
                QVERIFY(touches || std::equal(seen.begin(), seen.end(),
                                              data.begin() + static_cast<std::ptrdiff_t>(at)));
            }
        }
    }
}

void TestWeightCache::folderThatIsNone() {
    QTemporaryDir dir;
    const fs::path file = fs::path(dir.path().toStdString()) / "afile";
    std::ofstream(file) << "text";
    const auto in_place = engine::WeightCacheWriter::create(file, 5, twoTensors());
    QVERIFY(!in_place.has_value());
    QCOMPARE(in_place.error().code, engine::ErrorCode::InvalidRequest);
    QCOMPARE(in_place.error().message,
             "the cache folder " + file.string() + " is a file, not a folder: name another");
    const fs::path below = file / "cache";
    const auto inside = engine::WeightCacheWriter::create(below, 5, twoTensors());
    QVERIFY(!inside.has_value());
    QVERIFY2(inside.error().message.starts_with("the cache folder " + below.string() +
                                                " does not exist and cannot be created: "),
             inside.error().message.c_str());
}

void TestWeightCache::incompleteIsNeverVisible() {
    QTemporaryDir dir;
    const fs::path folder = dir.path().toStdString();
    {
        auto writer = engine::WeightCacheWriter::create(folder, 5, twoTensors());
        QVERIFY(writer.has_value());
        QVERIFY((*writer)->write(0, 0, randomBytes(100, 1)).has_value());
        QVERIFY(!(*writer)->write(1, 0, randomBytes(1, 1)).has_value());    // out of order
        QVERIFY(!(*writer)->write(0, 0, randomBytes(5000, 1)).has_value()); // too much
        QVERIFY(!(*writer)->finish().has_value());
    }
    QVERIFY(filesIn(folder).empty());
}

void TestWeightCache::damagedFiles_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind :
         {"empty", "one byte", "header only", "cut in data", "cut in directory", "cut in footer",
          "last byte missing", "one byte more", "other magic", "other version", "other key",
          "directory offset beyond", "directory count", "directory checksum", "text"}) {
        QTest::newRow(kind) << QString(kind);
    }
}

void TestWeightCache::damagedFiles() {
    QFETCH(QString, kind);
    QTemporaryDir dir;
    const fs::path folder = dir.path().toStdString();
    writeFile(folder, 77);
    const fs::path path = folder / engine::cacheFileName(77);
    std::vector<char> bytes = readFile(path);
    const size_t size = bytes.size();
    const std::map<QString, size_t> cuts = {{"empty", 0},
                                            {"one byte", 1},
                                            {"header only", 64},
                                            {"cut in data", 500},
                                            {"cut in directory", size - 200},
                                            {"cut in footer", size - 30},
                                            {"last byte missing", size - 1}};
    if (cuts.contains(kind)) {
        bytes.resize(cuts.at(kind));
    } else if (kind == "one byte more") {
        bytes.push_back(0);
    } else if (kind == "other magic") {
        bytes[0] ^= 1;
    } else if (kind == "other version") {
        bytes[8] = 1;
    } else if (kind == "other key") {
        bytes[16] ^= 1;
    } else if (kind == "directory offset beyond") {
        bytes[size - 64 + 6] = 1;
    } else if (kind == "directory count") {
        bytes[size - 64 + 24] = 3;
    } else if (kind == "directory checksum") {
        bytes[size - 64 + 16] ^= 1;
    } else {
        const std::string text = "this is not a cache file, but a text that somebody put there";
        bytes.assign(text.begin(), text.end());
        bytes.resize(4096, ' ');
    }
    overwrite(path, bytes);
    std::optional<engine::Sentence> note;
    QVERIFY(engine::WeightCache::open(folder, 77, note) == nullptr);
    QVERIFY(note.has_value());
    QVERIFY(engine::inEnglish(*note).find(engine::cacheFileName(77)) != std::string::npos);
}

void TestWeightCache::everyByteFlipped() {
    QTemporaryDir dir;
    const fs::path folder = dir.path().toStdString();
    writeFile(folder, 77);
    const fs::path path = folder / engine::cacheFileName(77);
    const std::vector<char> intact = readFile(path);
    int unnoticed = 0;
    for (size_t i = 0; i < intact.size(); ++i) {
        std::vector<char> bytes = intact;
        bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
        overwrite(path, bytes);
        std::optional<engine::Sentence> note;
        const auto cache = engine::WeightCache::open(folder, 77, note);
        bool is_noticed = cache == nullptr;
        for (size_t t = 0; cache != nullptr && t < cache->tensors().size(); ++t) {
            const auto& tensor = cache->tensors()[t];
            for (int part = 0; part < engine::kCacheParts; ++part) {
                std::vector<std::byte> content(tensor.bytes[static_cast<size_t>(part)]);
                is_noticed = is_noticed || !cache->read(tensor, part, 0, content).has_value();
            }
        }
        unnoticed += is_noticed ? 0 : 1;
    }
    // Only padding may change unnoticed: the ends of header and footer and the gaps between parts.
    const auto parts = engine::formatParts(Format::Nf4Dq, engine::TensorType::BF16, 40, 100);
    const uint64_t used = parts.total() + 21 + 12 + 24 + 40;
    std::optional<engine::Sentence> note;
    overwrite(path, intact);
    QVERIFY(engine::WeightCache::open(folder, 77, note) != nullptr);
    const uint64_t directory = 2 * (8 + 8 + 6 * 8 + 10 * 8) + (4 + 2) * 8; // and the checksums
    QCOMPARE(static_cast<uint64_t>(unnoticed), intact.size() - used - directory);
}

void TestWeightCache::modelsHaveKeysOfTheirOwn() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    MemorySource source(golden.tensors);
    const auto key = engine::modelKey(source);
    QVERIFY(key.has_value());
    QCOMPARE(*engine::modelKey(source), *key);
    // A retrained model with the same names and shapes.
    MemorySource trained(golden.tensors);
    for (const auto& [name, tensor] : golden.tensors) {
        for (auto& byte : trained.bytes(name)) {
            byte ^= 1;
        }
    }
    QVERIFY(*engine::modelKey(trained) != *key);
    // Another shape, another name.
    MemorySource renamed(golden.tensors);
    renamed.set("new.tensor", engine::TensorType::BF16, {2}, std::vector<uint8_t>(4));
    QVERIFY(*engine::modelKey(renamed) != *key);
    // The same in a file.
    auto file = engine::openModelFolder(golden.folder);
    QVERIFY(file.has_value());
    QCOMPARE(*engine::modelKey(**file), *key);
    QVERIFY(engine::cacheKey(1, Format::Nf4) != engine::cacheKey(1, Format::Fp4));
    QVERIFY(engine::cacheKey(1, Format::Nf4) != engine::cacheKey(2, Format::Nf4));
    QVERIFY(engine::cacheKey(1, Format::Nf4, 128) != engine::cacheKey(1, Format::Nf4));
    QCOMPARE(engine::cacheKey(1, Format::Nf4, 64), engine::cacheKey(1, Format::Nf4));
}

/// Loads with two block sizes by turns: each finds its weights, none writes the other's file.
void TestWeightCache::blockSizesHaveFilesOfTheirOwn() {
    FileLoad run;
    const engine::PlacementPlan usual =
        run.planOf({DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Nf4});
    engine::PlacementPlan wide = usual;
    std::map<std::string, const engine::ExpectedTensor*> by_name;
    const auto tensors = engine::listTensors(run.golden.config);
    for (const engine::ExpectedTensor& tensor : tensors) {
        by_name[tensor.name] = &tensor;
    }
    for (engine::TensorPlacement& row : wide.tensors) {
        if (row.format == Format::Nf4) {
            const engine::ExpectedTensor& tensor = *by_name.at(row.tensor);
            const int64_t cols = tensor.shape.back();
            row.block_size = 128;
            row.bytes = engine::formatBytes(row.format, engine::TensorType::BF16,
                                            tensor.numElements() / cols, cols, row.block_size);
        }
    }
    FileLoad::settle();
    for (int round = 0; round < 2; ++round) {
        for (const auto* plan : {&usual, static_cast<const engine::PlacementPlan*>(&wide)}) {
            const auto loaded = run.load(*plan);
            QVERIFY2(loaded.store != nullptr, loaded.error.c_str());
            QCOMPARE(loaded.report().tensors_quantized > 0, round == 0);
            QCOMPARE(loaded.report().cache_bytes_written > 0, round == 0);
        }
    }
}

void TestWeightCache::settledFilesAreNotRead() {
    FileLoad run;
    const auto plan =
        run.planOf({DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Nf4});
    FileLoad::settle();
    auto first = run.load(plan);
    QVERIFY2(first.store != nullptr, first.error.c_str());
    const uint64_t all = first.report().bytes_read;
    auto second = run.load(plan);
    QVERIFY2(second.store != nullptr, second.error.c_str());
    QCOMPARE(second.report().tensors_quantized, 0);
    QCOMPARE(second.report().bytes_compared, uint64_t{0});
    QVERIFY(second.report().bytes_read < all / 2); // what is not quantized
    QVERIFY(second.report().notes.empty());
    // Another format of the same files needs no look at them to be found later.
    const auto q8 = run.planOf({DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Q8});
    QVERIFY(run.load(q8).store != nullptr);
    QCOMPARE(run.load(q8).report().bytes_compared, uint64_t{0});
    QCOMPARE(run.load(plan).report().bytes_compared, uint64_t{0});
    // Without the record, or with a damaged one, contents are compared, and kept again.
    const fs::path record = run.options.cache_folder / "contents.belfry-known";
    const std::vector<char> intact = readFile(record);
    QVERIFY(!intact.empty());
    for (const size_t where : {size_t{0}, size_t{20}, size_t{40}, intact.size() - 1}) {
        std::vector<char> bytes = intact;
        bytes[where] = static_cast<char>(bytes[where] ^ 1);
        overwrite(record, bytes);
        auto compared = run.load(plan);
        QVERIFY(compared.report().bytes_compared > 0);
        QCOMPARE(compared.report().tensors_quantized, 0);
        QVERIFY(compared.report().notes.empty());
        QCOMPARE(run.load(plan).report().bytes_compared, uint64_t{0});
    }
    fs::remove(record);
    QVERIFY(run.load(plan).report().bytes_compared > 0);
    QCOMPARE(run.load(plan).report().bytes_compared, uint64_t{0});
}

void TestWeightCache::touchedAndCopiedFilesStillHit_data() {
    QTest::addColumn<bool>("on_disk");
    QTest::newRow("in memory") << false;
    QTest::newRow("on disk") << true;
}

void TestWeightCache::touchedAndCopiedFilesStillHit() {
    QFETCH(bool, on_disk);
    FileLoad run;
    Expected expected(run.golden);
    const auto plan = run.planOf(
        on_disk ? Place{DeviceId::disk(), DeviceId::sim(0), Residency::Stream, Format::Nf4Dq}
                : Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Nf4Dq});
    QVERIFY(run.load(plan).store != nullptr); // just written: nothing vouches for its times
    const auto check = [&](bool is_compared) {
        auto load = run.load(plan);
        QVERIFY2(load.store != nullptr, load.error.c_str());
        QCOMPARE(load.report().tensors_quantized, 0);
        QCOMPARE(load.report().cache_bytes_written, uint64_t{0});
        QCOMPARE(load.report().bytes_compared > 0, is_compared);
        QVERIFY(load.report().notes.empty());
        VERIFY_EMPTY(support::firstWrong(*load.store, expected));
    };
    check(true);
    fs::last_write_time(run.file(), fs::last_write_time(run.file()) - std::chrono::hours(5));
    check(true);
    FileLoad::settle();
    check(true);
    check(false); // the new times are known now
    const fs::path copy = fs::path(run.temporary.path().toStdString()) / "copy";
    fs::copy(run.folder, copy);
    run.folder = copy;
    check(true);
    FileLoad::settle();
    check(true);
    check(false);
    run.folder = fs::path(run.temporary.path().toStdString()) / "model";
    check(false); // both are
}

void TestWeightCache::changedWeightsAreNoticed_data() {
    support::addColumns<bool, bool>("is_settled", "on_disk");
    QTest::newRow("at once, in memory") << false << false;
    QTest::newRow("later, in memory") << true << false;
    QTest::newRow("later, on disk") << true << true;
}

/// The beginning of some weights changes in place, size and time of the file stay.
void TestWeightCache::changedWeightsAreNoticed() {
    QFETCH(bool, is_settled);
    QFETCH(bool, on_disk);
    FileLoad run;
    const auto plan = run.planOf(
        on_disk ? Place{DeviceId::disk(), DeviceId::sim(0), Residency::Stream, Format::Q8}
                : Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Q8});
    if (is_settled) {
        FileLoad::settle();
    }
    QVERIFY(run.load(plan).store != nullptr);
    QCOMPARE(run.load(plan).report().bytes_compared == 0, is_settled);
    const auto time = fs::last_write_time(run.file());
    struct Changed {
        std::streamoff at;
        std::streamsize length;
    };
    std::vector<Changed> places;
    { // closed before they change: Windows lets nobody write to a file that is being read
        auto source = engine::openModelFolder(run.folder);
        QVERIFY(source.has_value());
        for (const auto& row : plan.tensors) {
            const auto* info = (*source)->find(row.tensor);
            if (row.format != Format::Q8 || info == nullptr || places.size() == 50 ||
                engine::isGatherOnly(plan, row.part)) {
                continue;
            }
            // Before the samples that are part of the key, which would give it another file.
            const uint64_t size = info->size_bytes;
            const uint64_t length =
                size < 4096 ? size / 4 : std::min<uint64_t>(2048, (size - 4096) / 2);
            if (length >= 2) {
                places.push_back({static_cast<std::streamoff>(info->file_offset),
                                  static_cast<std::streamsize>(length)});
            }
        }
    }
    QCOMPARE(places.size(), size_t{50});
    {
        std::fstream file(run.file(), std::ios::binary | std::ios::in | std::ios::out);
        for (const Changed& place : places) {
            std::vector<char> bytes(static_cast<size_t>(place.length));
            file.seekg(place.at);
            file.read(bytes.data(), place.length);
            for (size_t i = 1; i < bytes.size(); i += 2) {
                bytes[i] = static_cast<char>(bytes[i] ^ 0x80); // the sign
            }
            file.seekp(place.at);
            file.write(bytes.data(), place.length);
        }
        QVERIFY(file.good());
    }
    fs::last_write_time(run.file(), time);
    FileLoad plain;
    plain.folder = run.folder;
    plain.options.cache_folder.clear();
    auto wanted = plain.load(plan);
    auto seen = run.load(plan);
    QVERIFY(wanted.store != nullptr);
    QVERIFY2(seen.store != nullptr, seen.error.c_str());
    for (int handle = 0; handle < seen.store->size(); ++handle) {
        const auto values = seen.store->values(handle);
        QVERIFY(values.has_value());
        QVERIFY2(*values == *wanted.store->values(handle), seen.store->name(handle).c_str());
    }
    if (!on_disk) {
        QCOMPARE(seen.report().tensors_quantized, static_cast<int>(places.size()));
    }
    QVERIFY(seen.report().cache_bytes_written > 0);
#ifdef _WIN32 // where a file that the model is read from is not replaced, which is said
    if (on_disk) {
        QCOMPARE(seen.report().notes.size(), size_t{2});
        return;
    }
#endif
    QCOMPARE(seen.report().notes.size(), size_t{1});
    auto next = run.load(plan);
    QCOMPARE(next.report().tensors_quantized, 0);
    QVERIFY(next.report().notes.empty());
}

void TestWeightCache::secondLoadUsesIt_data() {
    support::addColumns<int, bool>("format", "on_disk");
    for (const Format format :
         {Format::Nf4, Format::Nf4Dq, Format::Fp4, Format::Fp4Dq, Format::Q8}) {
        for (const bool on_disk : {false, true}) {
            QTest::addRow("%s %s", std::string(engine::formatName(format)).c_str(),
                          on_disk ? "on disk" : "in memory")
                << static_cast<int>(format) << on_disk;
        }
    }
}

void TestWeightCache::secondLoadUsesIt() {
    QFETCH(int, format);
    QFETCH(bool, on_disk);
    CachedLoad run;
    Expected expected(run.golden);
    const auto plan = run.planOf(on_disk ? Place{DeviceId::disk(), DeviceId::sim(0),
                                                 Residency::Stream, static_cast<Format>(format)}
                                         : Place{DeviceId::sim(0), DeviceId::sim(0),
                                                 Residency::Always, static_cast<Format>(format)});
    for (int round = 0; round < 3; ++round) {
        auto store = run.load(plan);
        VERIFY_VALUE(store);
        const auto& report = (*store)->report();
        if (round == 0) {
            QVERIFY(report.tensors_quantized > 100);
            QVERIFY(report.cache_bytes_written > 0);
        } else {
            QCOMPARE(report.tensors_quantized, 0);
            QCOMPARE(report.cache_bytes_written, uint64_t{0});
            QVERIFY(on_disk || report.tensors_from_cache > 100);
        }
        QVERIFY(report.notes.empty());
        run.source.bytes_read = 0;
        VERIFY_EMPTY(support::firstWrong(**store, expected));
        if (on_disk) { // only what is dense is read from the model now
            uint64_t dense = 0;
            for (const auto& row : plan.tensors) {
                dense += row.format == Format::Bf16 ? 3 * row.bytes : 0;
            }
            QVERIFY(run.source.bytes_read <= dense);
        }
    }
}

void TestWeightCache::formatsKeepTheirOwnFiles() {
    CachedLoad run;
    for (const Format format : {Format::Nf4, Format::Q8, Format::Nf4, Format::Q8}) {
        auto store = run.load(
            run.planOf(Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always, format}));
        QVERIFY(store.has_value());
    }
    QCOMPARE(filesIn(run.options.cache_folder).size(), size_t{2});
}

void TestWeightCache::mapsShareAFile() {
    // Two maps that quantize different parts: the second load adds, the third has everything.
    CachedLoad run;
    const auto planWith = [&](bool layers, bool towers) {
        return planFor(run.golden.config, run.source, [=](const engine::ExpectedTensor& tensor) {
            const bool is_language = tensor.tower == engine::Tower::Language;
            const bool is_wanted =
                tensor.kind == engine::TensorKind::Linear && (is_language ? layers : towers);
            return Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always,
                         is_wanted ? Format::Nf4 : Format::AsStored};
        });
    };
    QVERIFY(run.load(planWith(true, false)).has_value());
    QVERIFY(run.load(planWith(false, true)).has_value());
    auto both = run.load(planWith(true, true));
    QVERIFY(both.has_value());
    QCOMPARE((*both)->report().tensors_quantized, 0);
    QCOMPARE(filesIn(run.options.cache_folder).size(), size_t{1});
    Expected expected(run.golden);
    VERIFY_EMPTY(support::firstWrong(**both, expected));
}

void TestWeightCache::damageIsRepaired() {
    CachedLoad run;
    Expected expected(run.golden);
    const auto plan =
        run.planOf(Place{DeviceId::sim(0), DeviceId::sim(0), Residency::Always, Format::Nf4Dq});
    QVERIFY(run.load(plan).has_value());
    const fs::path path = filesIn(run.options.cache_folder).at(0);
    const std::vector<char> intact = readFile(path);
    for (const double where : {0.001, 0.3, 0.6, 0.9, 0.99}) {
        std::vector<char> bytes = intact;
        for (size_t i = 0; i < 200; ++i) { // longer than any padding
            const size_t at = static_cast<size_t>(where * static_cast<double>(bytes.size())) + i;
            if (at < bytes.size()) {
                bytes[at] = static_cast<char>(~bytes[at]);
            }
        }
        overwrite(path, bytes);
        auto store = run.load(plan);
        VERIFY_VALUE(store);
        QVERIFY(!(*store)->report().notes.empty());
        QVERIFY((*store)->report().tensors_quantized > 0);
        VERIFY_EMPTY(support::firstWrong(**store, expected));
        QVERIFY(readFile(path) == intact); // written anew, the same bytes
        auto next = run.load(plan);
        QVERIFY(next.has_value());
        QCOMPARE((*next)->report().tensors_quantized, 0);
    }
    for (const size_t size : {size_t{0}, size_t{100}, intact.size() / 2, intact.size() - 1}) {
        fs::resize_file(path, size);
        auto store = run.load(plan);
        QVERIFY(store.has_value());
        QVERIFY(!(*store)->report().notes.empty());
        QVERIFY(readFile(path) == intact);
    }
}

void TestWeightCache::deletedWhileInUse() {
    CachedLoad run;
    Expected expected(run.golden);
    auto store = run.load(
        run.planOf(Place{DeviceId::disk(), DeviceId::sim(0), Residency::Stream, Format::Nf4}));
    QVERIFY(store.has_value());
    std::error_code refused; // on Windows: the file stays until it is closed
    fs::remove_all(run.options.cache_folder, refused);
#ifndef _WIN32
    QVERIFY(!refused);
#endif
    VERIFY_EMPTY(support::firstWrong(**store, expected));
}

void TestWeightCache::corruptedWhileInUse() {
    CachedLoad run;
    Expected expected(run.golden);
    for (const bool is_cut : {false, true}) {
        auto store = run.load(
            run.planOf(Place{DeviceId::disk(), DeviceId::sim(0), Residency::Stream, Format::Nf4}));
        QVERIFY(store.has_value());
        const fs::path path = filesIn(run.options.cache_folder).at(0);
        const std::vector<char> intact = readFile(path);
        if (is_cut) {
            std::error_code refused;
            fs::resize_file(path, 5000, refused);
        } else {
            std::vector<char> bytes = intact;
            std::fill(bytes.begin() + 64, bytes.end(), '\0');
            overwrite(path, bytes);
        }
        if (kOpenFilesAreGuarded) { // nobody else can do that
            QVERIFY(readFile(path) == intact);
            continue;
        }
        // Whatever is read of it is checked at every use, and made from the model files instead.
        VERIFY_EMPTY(support::firstWrong(**store, expected));
        const auto& notes = (*store)->report().notes;
        QCOMPARE(notes.size(), size_t{1});
        QVERIFY(
            engine::inEnglish(notes[0]).starts_with("The weight cache was damaged while in use: "));
        QVERIFY(!fs::exists(path)); // the next load makes it anew
    }
}

void TestWeightCache::damagedRowsAreMadeAgain_data() {
    QTest::addColumn<Format>("format");
    for (const Format format : {Format::Nf4, Format::Nf4Dq, Format::Fp4, Format::Q8}) {
        QTest::newRow(std::string(engine::formatName(format)).c_str()) << format;
    }
}

/// Tables of which only rows are ever read: all else is in memory.
void TestWeightCache::damagedRowsAreMadeAgain() {
    QFETCH(Format, format);
    CachedLoad run;
    Expected expected(run.golden);
    const std::string table = "model.language_model.embed_tokens_per_layer.weight";
    const auto plan =
        planFor(run.golden.config, run.source, [&](const engine::ExpectedTensor& tensor) {
            return tensor.name == table
                       ? Place{DeviceId::disk(), DeviceId::cpu(), Residency::Stream, format}
                       : Place();
        });
    QVERIFY(run.load(plan).has_value());
    const fs::path path = filesIn(run.options.cache_folder).at(0);
    const std::vector<char> intact = readFile(path);
    for (const bool is_loaded_before : {false, true}) {
        auto before = run.load(plan);
        QVERIFY(before.has_value());
        if (!is_loaded_before) {
            before->reset();
        }
        std::vector<char> bytes = intact;
        for (size_t i = 64; i < bytes.size() / 10 * 9; ++i) {
            bytes[i] = static_cast<char>(~bytes[i]);
        }
        overwrite(path, bytes);
        if (is_loaded_before && kOpenFilesAreGuarded) { // nobody else can do that
            QVERIFY(readFile(path) == intact);
            continue;
        }
        auto store = is_loaded_before ? std::move(before) : run.load(plan);
        QVERIFY(store.has_value());
        const auto handle = (*store)->handleOf(table);
        const int64_t cols = (*store)->shape(handle)[1];
        const auto& wanted = expected(table, format);
        const std::vector<int32_t> ids = {2, 5, 9, 100, 0};
        std::vector<float> rows(ids.size() * static_cast<size_t>(cols));
        const auto count = static_cast<int64_t>(ids.size());
        QVERIFY((*store)
                    ->gatherRows(handle, ids, 0, 1.0F, {rows.data(), count, cols, cols})
                    .has_value());
        for (size_t i = 0; i < ids.size(); ++i) {
            QVERIFY(std::equal(wanted.begin() + ids[i] * cols, wanted.begin() + (ids[i] + 1) * cols,
                               rows.begin() + static_cast<std::ptrdiff_t>(i) * cols));
        }
        QCOMPARE((*store)->report().notes.size(), size_t{1});
        const auto lost = (*store)->takeUseNote(); // for the reply, once
        QVERIFY(lost.has_value());
        QCOMPARE(engine::inEnglish(*lost), engine::inEnglish((*store)->report().notes[0]));
        QVERIFY(!(*store)->takeUseNote().has_value());
        if (kOpenFilesAreGuarded) { // also from the next load
            store->reset();
        }
        auto next = run.load(plan);
        QVERIFY(next.has_value());
        QVERIFY((*next)->report().notes.empty());
        QVERIFY(readFile(path) == intact);
    }
}

/// Layers that stay on disk are not read at load: the damage is found in use, told once and gone
/// after the next load.
void TestWeightCache::damageOnDiskIsRepaired() {
    CachedLoad run;
    Expected expected(run.golden);
    for (const Format format : {Format::Nf4, Format::Nf4Dq}) {
        fs::remove_all(run.options.cache_folder);
        const auto plan =
            run.planOf(Place{DeviceId::disk(), DeviceId::sim(0), Residency::Stream, format});
        QVERIFY(run.load(plan).has_value());
        const fs::path path = filesIn(run.options.cache_folder).at(0);
        const std::vector<char> intact = readFile(path);
        std::vector<char> bytes = intact;
        for (size_t i = 64; i < bytes.size() / 10 * 9; ++i) {
            bytes[i] = static_cast<char>(~bytes[i]);
        }
        overwrite(path, bytes);
        auto store = run.load(plan);
        QVERIFY(store.has_value());
        std::string wrong = support::firstWrong(**store, expected);
        VERIFY_EMPTY(wrong);
        QCOMPARE((*store)->report().notes.size(), size_t{1});
        if (kOpenFilesAreGuarded) { // also from the next load
            store->reset();
        }
        auto next = run.load(plan);
        QVERIFY(next.has_value());
        wrong = support::firstWrong(**next, expected);
        VERIFY_EMPTY(wrong);
        QVERIFY((*next)->report().notes.empty());
        QVERIFY(readFile(path) == intact);
        auto last = run.load(plan);
        QVERIFY(last.has_value());
        QCOMPARE((*last)->report().cache_bytes_written, uint64_t{0});
    }
}

/// What another map had cached is damaged and cannot be taken over into a new file.
void TestWeightCache::damageOfOtherMapsIsRepaired() {
    CachedLoad run;
    const auto planWith = [&](engine::Tower tower) {
        return planFor(run.golden.config, run.source, [=](const engine::ExpectedTensor& tensor) {
            const bool is_wanted =
                tensor.kind == engine::TensorKind::Linear && tensor.tower == tower;
            return Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always,
                         is_wanted ? Format::Nf4 : Format::AsStored};
        });
    };
    QVERIFY(run.load(planWith(engine::Tower::Language)).has_value());
    const fs::path path = filesIn(run.options.cache_folder).at(0);
    std::vector<char> bytes = readFile(path);
    std::fill(bytes.begin() + 64, bytes.begin() + 4096, '\0');
    overwrite(path, bytes);
    QVERIFY(run.load(planWith(engine::Tower::Vision)).has_value());
    auto store = run.load(planWith(engine::Tower::Vision));
    QVERIFY(store.has_value());
    QCOMPARE((*store)->report().tensors_quantized, 0);
    QVERIFY((*store)->report().notes.empty());
}

void TestWeightCache::unwritableFolderIsANote() {
    CachedLoad run;
    std::ofstream(run.folder.path().toStdString() + "/file") << "in the way";
    run.options.cache_folder = fs::path(run.folder.path().toStdString()) / "file" / "cache";
    Expected expected(run.golden);
    for (const DeviceId store_id : {DeviceId::cpu(), DeviceId::disk()}) {
        auto store = run.load(run.planOf(Place{
            store_id, DeviceId::cpu(),
            store_id == DeviceId::cpu() ? Residency::Always : Residency::Stream, Format::Nf4}));
        VERIFY_VALUE(store);
        QVERIFY(!(*store)->report().notes.empty());
        VERIFY_EMPTY(support::firstWrong(**store, expected));
    }
}

void TestWeightCache::moveReadsIt() {
    // Disk to memory and a change of format back to a cached one: read from the cache, not made.
    CachedLoad run;
    Expected expected(run.golden);
    const auto nf4 =
        run.planOf(Place{DeviceId::sim(0), DeviceId::sim(0), Residency::Always, Format::Nf4});
    const auto dense =
        run.planOf(Place{DeviceId::sim(0), DeviceId::sim(0), Residency::Always, Format::AsStored});
    const auto disk =
        run.planOf(Place{DeviceId::disk(), DeviceId::sim(0), Residency::Stream, Format::Nf4});
    auto store = run.load(nf4);
    QVERIFY(store.has_value());
    const int quantized_at_load = (*store)->report().tensors_quantized;
    for (const auto* plan : {&dense, &nf4, &disk, &nf4, &dense, &disk}) {
        QVERIFY(engine::applyPlan(**store, *plan, run.options).has_value());
        VERIFY_EMPTY(support::firstWrong(**store, expected));
    }
    QCOMPARE((*store)->report().tensors_quantized, quantized_at_load);
}

TEST_CLASS(TestWeightCache)
#include "tst_weight_cache.moc"
