// SPDX-License-Identifier: Apache-2.0
// GGUF files that are not as they should be: every rule broken alone (malformed_gguf.h), what is
// odd but right, every byte of the headers changed, every truncation, and the time for hostile
// names.
#include "engine/base/sentence_english.h"
#include "engine/families/config.h"
#include "engine/families/gguf/checkpoint.h"
#include "engine/files/gguf_source.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/files/malformed_gguf.h"
#include "tests/engine/files/raw_safetensors.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

namespace {

namespace fs = std::filesystem;
namespace gguf = support::gguf;

/// Everything that can be read of a model without its weights, and the ends of its tensors where
/// the file has them.
engine::Result<void>
readAll(const fs::path& model, const fs::path& projector, bool is_header_only_allowed = false) {
    ENGINE_ASSIGN(const auto checkpoint, engine::ggufCheckpoint(model, projector));
    engine::OpenOptions options;
    options.is_header_only_allowed = is_header_only_allowed;
    ENGINE_ASSIGN(const auto source, checkpoint->openTensors(options));
    for (const engine::TensorInfo& info : source->tensors()) {
        if (source->isHeaderOnly()) {
            break;
        }
        std::vector<std::byte> bytes(std::min<uint64_t>(info.size_bytes, 64));
        ENGINE_TRY(source->read(info, info.size_bytes - bytes.size(), bytes));
    }
    ENGINE_TRY(engine::readModelConfig(*checkpoint));
    if (!is_header_only_allowed || checkpoint->has(engine::ModelText::Tokenizer)) {
        ENGINE_TRY(engine::Tokenizer::fromCheckpoint(*checkpoint));
    }
    ENGINE_TRY(checkpoint->read(engine::ModelText::ChatTemplate));
    ENGINE_TRY(checkpoint->read(engine::ModelText::TokenizerConfig));
    return {};
}

/// A header read from memory.
engine::Result<engine::GgufHeader> parse(const std::string& bytes) {
    return engine::GgufHeader::parse(
        "model.gguf", bytes.size(),
        [&](uint64_t offset, std::span<std::byte> out) -> engine::Result<void> {
            if (offset > bytes.size() || out.size() > bytes.size() - offset) {
                return engine::Error{engine::ErrorCode::Internal, "read outside the file", {}};
            }
            std::memcpy(out.data(), bytes.data() + offset, out.size());
            return {};
        },
        true);
}

} // namespace

class TestGgufHeader : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QVERIFY(folder_.isValid()); }
    void init();
    void brokenRule_data();
    void brokenRule();
    void everyRuleHasARow();
    void accepted_data();
    void accepted();
    void kindsOfByteTokens();
    void warned_data();
    void warned();
    void everyByte_data();
    void everyByte();
    void truncationAtEveryByte();
    void namesChosenToCollide();
    void nothingIsAllocatedForAPromise();
    void nameWithoutAFolder();
    void linkOutOfTheFolder();
    void changedWhileOpen();

private:
    [[nodiscard]] fs::path place(const std::string& name) const {
        return fs::path(folder_.path().toStdString()) / name;
    }
    fs::path write(const std::string& name, const std::string& bytes) const {
        support::writeBytes(place(name), bytes);
        return place(name);
    }
    QTemporaryDir folder_;
};

void TestGgufHeader::init() {
    for (const auto& entry : fs::directory_iterator(folder_.path().toStdString())) {
        fs::remove_all(entry.path());
    }
}

void TestGgufHeader::brokenRule_data() {
    QTest::addColumn<int>("index");
    const auto rows = support::malformedGgufs();
    for (size_t i = 0; i < rows.size(); ++i) {
        QTest::newRow(rows[i].name.c_str()) << static_cast<int>(i);
    }
}

void TestGgufHeader::brokenRule() {
    static const auto kRows = support::malformedGgufs();
    QFETCH(int, index);
    const support::MalformedGguf& row = kRows[static_cast<size_t>(index)];
    fs::path projector;
    for (const auto& [name, bytes] : row.files) {
        const fs::path file = write(name, bytes);
        projector = name == "mmproj.gguf" ? file : projector;
    }
    const auto read = readAll(place(row.files.front().first), projector);
    QVERIFY(!read.has_value());
    const engine::Error& error = read.error();
    const QByteArray told = QByteArray::fromStdString(support::detailOf(error, "rule")) + ": " +
                            QByteArray::fromStdString(error.message);
    QVERIFY2(!support::detailOf(error, "rule").empty(), told);
    QVERIFY2(row.rule.empty() || support::detailOf(error, "rule") == row.rule, told);
    QVERIFY2(error.message.find(row.expected) != std::string::npos, told);
    QVERIFY2(error.message.find(": ") != std::string::npos, told); // the object comes first
    QVERIFY2(error.code == engine::ErrorCode::InvalidFile ||
                 error.code == engine::ErrorCode::Unsupported,
             told);
}

void TestGgufHeader::everyRuleHasARow() {
    std::set<std::string> rules;
    for (const support::MalformedGguf& row : support::malformedGgufs()) {
        rules.insert(row.rule);
    }
    for (const char* rule :
         {"GgufTruncated",    "GgufMagic",       "GgufByteOrder",   "GgufVersion",
          "GgufCount",        "GgufName",        "GgufTextTooLong", "GgufValueType",
          "GgufNestedList",   "GgufListCount",   "GgufKeyTwice",    "GgufAlignment",
          "GgufTensorTwice",  "GgufRank",        "GgufShape",       "GgufTensorType",
          "GgufRowLength",    "GgufOffset",      "GgufOverlap",     "GgufDataTruncated",
          "GgufSplit",        "GgufPartMissing", "KeyType",         "GgufKey",
          "GgufArchitecture", "GgufAdapter",     "GgufProjector",   "GgufTensorMissing",
          "GgufRopeFreqs",    "GgufTokenizer",   "GgufTextMissing", "GgufTensorName",
          "GgufTensorShape",  "FileTooLarge"}) {
        QVERIFY2(rules.count(rule) == 1, rule);
    }
}

void TestGgufHeader::accepted_data() {
    support::addColumns<QByteArray, QByteArray>("model", "projector");
    const auto row = [](const char* name, const gguf::File& file,
                        const std::string& projector = {}) {
        QTest::newRow(name) << QByteArray::fromStdString(file.bytes())
                            << QByteArray::fromStdString(projector);
    };
    const auto changed = [](gguf::File file, const gguf::Change& change) {
        change(file);
        return file;
    };
    using gguf::value;
    row("Gemma", gguf::gemma());
    row("experts", gguf::gemmaWithExperts());
    row("without tables", gguf::gemmaWithoutTables());
    row("llama", gguf::llama());
    row("vision tower", gguf::gemma(), gguf::projector().bytes());
    row("embedders", gguf::gemmaWithoutTables(), gguf::embedders().bytes());
    row("version 2", changed(gguf::gemma(), [](gguf::File& f) { f.version = 2; }));
    row("alignment 8", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("general.alignment", value(uint32_t{8})).alignment = 8;
        }));
    row("alignment 65536", changed(gguf::llama(), [](gguf::File& f) {
            f.set("general.alignment", value(uint32_t{65'536})).alignment = 65'536;
        }));
    row("tensors in another order", changed(gguf::gemma(), [](gguf::File& f) {
            std::reverse(f.tensors.begin(), f.tensors.end());
        }));
    row("unknown keys of all types", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("x.a", value(int8_t{-1})).set("x.b", value(int16_t{-1})).set("x.c", value(1.5));
            f.set("x.d", value(int64_t{-1})).set("x.e", value(uint8_t{1}));
            f.set("x.f", gguf::list(std::vector<double>{1.0, 2.0}));
            f.set("x.g", gguf::list(std::vector<std::string>{"", "\xff"}));
        }));
    row("numbers of other widths", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("gemma4.block_count", value(uint8_t{2}));
            f.set("gemma4.embedding_length", value(int64_t{32}));
            f.set("gemma4.context_length", value(uint64_t{4096}));
            f.set("gemma4.rope.freq_base", value(1e6));
            f.set("gemma4.attention.sliding_window_pattern",
                  gguf::list(std::vector<uint32_t>{1, 0}));
        }));
    row("one value for all layers", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("gemma4.feed_forward_length", value(uint32_t{64}));
            f.set("gemma4.attention.head_count_kv", value(uint32_t{1}));
        }));
    row("defaults of sampling", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("general.sampling.temp", value(1.0F)).set("general.sampling.top_k", value(64));
            f.set("general.sampling.top_p", value(0.95F));
        }));
    row("no kinds of tokens",
        changed(gguf::gemma(), [](gguf::File& f) { f.remove("tokenizer.ggml.token_type"); }));
    row("all kinds are words", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("tokenizer.ggml.token_type",
                  gguf::list(std::vector<int32_t>(gguf::gemmaTokens().size(), 1)));
        }));
    row("scores in the place of merges", gguf::llamaPieces());
    row("fewer tokens than rows", changed(gguf::llama(), [](gguf::File& f) {
            f.tensor("token_embd.weight").dims = {32, 16};
        }));
    row("first of the tokens outside the vocabulary", changed(gguf::llama(), [](gguf::File& f) {
            f.set("tokenizer.ggml.bos_token_id", value(UINT32_MAX));
        }));
    row("fused heads", changed(gguf::gemma(), [](gguf::File& f) {
            f.remove("blk.0.attn_q.weight")
                .remove("blk.0.attn_k.weight")
                .remove("blk.0.attn_v.weight");
            f.tensors.push_back({"blk.0.attn_qkv.weight", {32, 64}});
        }));
    row("split halves of experts", changed(gguf::gemmaWithExperts(), [](gguf::File& f) {
            f.remove("blk.1.ffn_gate_up_exps.weight");
            f.tensors.push_back({"blk.1.ffn_up_exps.weight", {32, 32, 4}});
            f.tensors.push_back({"blk.1.ffn_gate_exps.weight", {32, 32, 4}});
        }));
    row("one part of one", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("split.no", value(uint16_t{0})).set("split.count", value(uint16_t{1}));
        }));
    row("split into none", changed(gguf::gemma(), [](gguf::File& f) {
            f.set("split.no", value(uint16_t{0})).set("split.count", value(uint16_t{0}));
        }));
}

void TestGgufHeader::accepted() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, projector);
    const fs::path file = write("model.gguf", model.toStdString());
    const fs::path towers =
        projector.isEmpty() ? fs::path() : write("mmproj.gguf", projector.toStdString());
    VERIFY_VALUE(readAll(file, towers));
}

/// Bytes are found by their spelling, as llama.cpp finds them: whatever kind the file gives them,
/// the tokenizer is the same.
void TestGgufHeader::kindsOfByteTokens() {
    std::set<std::optional<std::string>> texts;
    for (const int32_t kind : {1, 2, 3, 4, 5, 6}) {
        auto kinds = gguf::gemmaKinds();
        std::fill_n(kinds.begin() + 24, 256, kind);
        const fs::path file =
            write("model.gguf",
                  gguf::gemma().set("tokenizer.ggml.token_type", gguf::list(kinds)).bytes());
        VERIFY_VALUE(readAll(file, {}));
        const auto checkpoint = support::must(engine::ggufCheckpoint(file, {}), "file");
        texts.insert(support::must(checkpoint->read(engine::ModelText::Tokenizer), "tokenizer"));
    }
    QCOMPARE(texts.size(), size_t{1});
    QVERIFY(*texts.begin() != std::nullopt);
}

void TestGgufHeader::warned_data() {
    support::addColumns<QByteArray, QByteArray>("model", "warning");
    const auto row = [](const std::string& name, gguf::File file, const std::string& key,
                        const std::string& value, const std::string& warning) {
        if (!key.empty()) {
            file.set(key, value);
        }
        QTest::newRow(name.c_str())
            << QByteArray::fromStdString(file.bytes()) << QByteArray::fromStdString(warning);
    };
    using gguf::value;
    row("nothing", gguf::gemma(), "", "", "");
    row("nothing in llama", gguf::llama(), "", "", "");
    row("all defaults",
        gguf::gemma()
            .set("general.sampling.temp", value(1.0F))
            .set("general.sampling.top_k", value(64)),
        "general.sampling.top_p", value(0.95F), "");
    row("sound suppressed tokens", gguf::gemma(), "tokenizer.ggml.suppress_tokens",
        gguf::list(std::vector<uint32_t>{5, 287}), "");
    const std::string end = "tokenizer.ggml.eos_token_id";
    row("end outside the vocabulary", gguf::llama(), end, value(uint32_t{7}), "eos_token_id");
    row("end below 0", gguf::llama(), end, value(int32_t{-2}), "eos_token_id");
    const std::string suppressed = "tokenizer.ggml.suppress_tokens";
    row("suppressed token outside the vocabulary", gguf::gemma(), suppressed,
        gguf::list(std::vector<int32_t>{5, 288}), "suppress_tokens");
    row("suppressed token below 0", gguf::gemma(), suppressed, gguf::list(std::vector<int32_t>{-1}),
        "suppress_tokens");
    row("suppressed tokens are texts", gguf::gemma(), suppressed,
        gguf::list(std::vector<std::string>{"a"}), suppressed);
    for (const auto& [key, name] : {std::pair("temp", "temperature"), std::pair("top_p", "top_p"),
                                    std::pair("top_k", "top_k"), std::pair("min_p", "min_p")}) {
        const std::string full = std::string("general.sampling.") + key;
        row(full + " is a text", gguf::gemma(), full, value("1"), full);
        row(full + " is below 0", gguf::gemma(), full, value(-2.0F), name);
        row(full + " is infinite", gguf::gemma(), full,
            value(std::numeric_limits<float>::infinity()), full);
    }
}

/// Defaults that cannot be are left out with a warning that names them.
void TestGgufHeader::warned() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, warning);
    const auto checkpoint = engine::ggufCheckpoint(write("model.gguf", model.toStdString()), {});
    VERIFY_VALUE(checkpoint);
    const auto config = engine::readModelConfig(**checkpoint);
    VERIFY_VALUE(config);
    const auto warnings = engine::inEnglish(config->warnings);
    const std::string first = warnings.empty() ? "" : warnings.front();
    QVERIFY2(warning.isEmpty() == warnings.empty(), first.c_str());
    QVERIFY2(warnings.empty() || support::mentions(warnings, warning.toStdString()), first.c_str());
}

void TestGgufHeader::everyByte_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const gguf::File& file) {
        QTest::newRow(name) << QByteArray::fromStdString(file.header());
    };
    gguf::File tokens = gguf::llama();
    tokens.tensors.resize(4);
    row("llama", tokens);
    gguf::File keys = gguf::gemma();
    std::erase_if(keys.keys, [](const auto& key) { return key.first.starts_with("tokenizer"); });
    keys.tensors.resize(6);
    row("Gemma", keys);
    gguf::File towers = gguf::projector();
    towers.tensors.resize(4);
    row("projector", towers);
}

/// Every byte of a header as three other values: an error with a rule, or a header that holds.
void TestGgufHeader::everyByte() {
    QFETCH(QByteArray, bytes);
    const std::string sound = bytes.toStdString();
    QVERIFY(parse(sound).has_value());
    const fs::path model = write("model.gguf", gguf::gemma().bytes());
    int errors = 0;
    int models = 0;
    for (size_t at = 0; at < sound.size(); ++at) {
        const auto old = static_cast<unsigned char>(sound[at]);
        for (const unsigned other : {old ^ 1U, old ^ 0x80U, 0xffU}) {
            std::string changed = sound;
            changed[at] = static_cast<char>(other);
            const auto header = parse(changed);
            if (!header) {
                ++errors;
                QVERIFY2(!support::detailOf(header.error(), "rule").empty(),
                         header.error().message.c_str());
                continue;
            }
            const bool is_projector = sound.find("mmproj") != std::string::npos;
            const fs::path file = write(is_projector ? "mmproj.gguf" : "changed.gguf", changed);
            const auto read = is_projector ? readAll(model, file, true) : readAll(file, {}, true);
            if (read) {
                ++models;
                continue;
            }
            QVERIFY2(!support::detailOf(read.error(), "rule").empty(),
                     read.error().message.c_str());
            QVERIFY(read.error().code != engine::ErrorCode::Internal);
        }
    }
    QVERIFY(errors > static_cast<int>(sound.size()) / 4);
    QVERIFY(models > 10); // letters of unknown names and numbers without a limit close by
    qInfo("%d bytes: %d changes refused in the header, %d gave a model",
          static_cast<int>(sound.size()), errors, models);
}

void TestGgufHeader::truncationAtEveryByte() {
    const std::string sound = gguf::llama().header();
    for (size_t length = 0; length < sound.size(); ++length) {
        const auto header = parse(sound.substr(0, length));
        QVERIFY2(!header.has_value(), std::to_string(length).c_str());
        const std::string rule = support::detailOf(header.error(), "rule");
        QVERIFY2(rule == "GgufTruncated" || rule == "GgufCount" || rule == "GgufListCount",
                 header.error().message.c_str());
    }
    QVERIFY(parse(sound).has_value());
}

/// 65,536 tensors and as many keys are read in a moment, whatever their names.
void TestGgufHeader::namesChosenToCollide() {
    gguf::File file;
    for (int i = 0; i < 65'536; ++i) {
        const std::string name = std::string(50, 'n') + std::to_string(i);
        file.tensors.push_back({name, {1}});
        file.keys.emplace_back(name, gguf::value(uint8_t{1}));
    }
    const std::string bytes = file.header();
    QElapsedTimer time;
    time.start();
    QVERIFY(parse(bytes).has_value());
    QVERIFY2(time.elapsed() < 10'000, std::to_string(time.elapsed()).c_str());
}

/// Files that promise much and hold little are refused after one small read.
void TestGgufHeader::nothingIsAllocatedForAPromise() {
    size_t asked = 0;
    const std::string promise =
        gguf::oneKey(gguf::text("k") + gguf::list(8, 1 << 22, gguf::text("a")));
    // The file says that it is large enough; what is asked for at once stays small.
    const auto header = engine::GgufHeader::parse(
        "model.gguf", uint64_t{1} << 50,
        [&](uint64_t offset, std::span<std::byte> out) -> engine::Result<void> {
            asked = std::max(asked, out.size());
            std::fill(out.begin(), out.end(), std::byte{0xff});
            if (offset < promise.size()) {
                std::memcpy(out.data(), promise.data() + offset,
                            std::min(promise.size() - offset, out.size()));
            }
            return {};
        },
        true);
    QVERIFY(!header.has_value());
    QCOMPARE(support::detailOf(header.error(), "rule"), std::string("GgufTextTooLong"));
    QVERIFY(asked <= size_t{1} << 20);
}

/// As somebody types it who stands in the folder.
void TestGgufHeader::nameWithoutAFolder() {
    write("model.gguf", gguf::gemma().bytes());
    write("mmproj.gguf", gguf::projector().bytes());
    write("blob", gguf::gemma().bytes());
    const fs::path before = fs::current_path();
    fs::current_path(place(""));
    const auto read = readAll("model.gguf", "mmproj.gguf");
    const bool is_blob = engine::isGgufFile("blob");
    fs::current_path(before);
    VERIFY_VALUE(read);
    QVERIFY(is_blob);
}

void TestGgufHeader::linkOutOfTheFolder() {
#ifndef _WIN32
    fs::create_directories(place("inside"));
    const fs::path outside = write("outside.gguf", gguf::gemma().bytes());
    fs::create_symlink(outside, place("inside/model.gguf"));
    const auto read = readAll(place("inside/model.gguf"), {});
    QVERIFY(!read.has_value());
    QCOMPARE(support::detailOf(read.error(), "rule"), std::string("ST07"));
#endif
}

/// A file that is cut or rewritten after it was opened is an error of the read, nothing worse.
void TestGgufHeader::changedWhileOpen() {
#ifndef _WIN32 // there nobody writes into a file that is open
    const fs::path file = write("model.gguf", gguf::gemma().bytes());
    const auto checkpoint = engine::ggufCheckpoint(file, {});
    VERIFY_VALUE(checkpoint);
    const auto source = (*checkpoint)->openTensors({});
    VERIFY_VALUE(source);
    fs::resize_file(file, 20'000);
    const engine::TensorInfo& last = (*source)->tensors().back();
    std::vector<std::byte> bytes(last.size_bytes);
    const auto read = (*source)->read(last, 0, bytes);
    QVERIFY(!read.has_value());
    QCOMPARE(support::detailOf(read.error(), "rule"), std::string("ST08"));
#endif
}

TEST_CLASS(TestGgufHeader)
#include "tst_gguf_header.moc"
