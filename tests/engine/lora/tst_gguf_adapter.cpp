// SPDX-License-Identifier: Apache-2.0
// Adapters in GGUF files that must be refused, each with a message that names file, tensor and what
// is wrong: every rule broken alone in a file that loads (checked first), and broken and foreign
// GGUF files of all kinds in its place. Then what is accepted, and its scale.
#include "engine/lora/adapter.h"
#include "tests/engine/files/malformed_gguf.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/engine/lora/gguf_lora_file.h"
#include "tests/support/files.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <functional>
#include <limits>

using namespace engine;
namespace fs = std::filesystem;
namespace gguf = support::gguf;

namespace {

std::string noiseBytes(int64_t count, uint64_t seed) {
    std::string bytes;
    for (const float value : lora_test::noise(count, seed, 0.2F)) {
        bytes += gguf::le(value);
    }
    return bytes;
}

gguf::File soundFile() {
    gguf::File file = gguf::adapter();
    uint64_t seed = 0;
    for (gguf::Tensor& tensor : file.tensors) {
        tensor.data = noiseBytes(static_cast<int64_t>(tensor.dims[0] * tensor.dims[1]), ++seed);
    }
    return file;
}

struct GgufRow {
    std::string name, rule, fragment;
    std::function<void(gguf::File&)> change;
    std::string model = "e2b";
};

std::vector<GgufRow> keyRows() {
    const auto set = [](const char* key, std::string value) {
        return [key, value = std::move(value)](gguf::File& f) { f.set(key, value); };
    };
    const auto without = [](const char* key) { return [key](gguf::File& f) { f.remove(key); }; };
    std::vector<GgufRow> rows = {
        {"a model", "GgufAdapter", "is a model, not an adapter",
         set("general.type", gguf::value("model"))},
        {"no kind of file", "GgufAdapter", "is a model", without("general.type")},
        {"a projector", "GgufAdapter", "is a projector (mmproj)",
         set("general.type", gguf::value("mmproj"))},
        {"type is a number", "KeyType", "\"general.type\" is not a text",
         set("general.type", gguf::value(uint32_t{1}))},
        {"a control vector", "GgufAdapterKind", "of the kind \"control_vector\"",
         set("adapter.type", gguf::value("control_vector"))},
        {"no kind", "GgufAdapterKind", "of the kind \"\"", without("adapter.type")},
        {"kind is a list", "KeyType", "\"adapter.type\" is not a text",
         set("adapter.type", gguf::list(std::vector<std::string>{"lora"}))},
        {"kind not UTF-8", "KeyType", "\"adapter.type\"", set("adapter.type", gguf::value("\xff"))},
        {"activated", "GgufAdapterKind", "activated LoRA",
         set("adapter.alora.invocation_tokens", gguf::list(std::vector<uint32_t>{1, 2}))},
        {"another architecture", "GgufArchitecture", "the architecture \"gemma3\", this one is",
         set("general.architecture", gguf::value("gemma3"))},
        {"no architecture", "GgufArchitecture", "the architecture \"\"",
         without("general.architecture")},
        {"the assistant's", "GgufArchitecture", "\"gemma4-assistant\"",
         set("general.architecture", gguf::value("gemma4-assistant"))},
        {"alpha is a text", "KeyType", "\"adapter.lora.alpha\"",
         set("adapter.lora.alpha", gguf::value("8"))},
        {"alpha is a list", "KeyType", "\"adapter.lora.alpha\"",
         set("adapter.lora.alpha", gguf::list(std::vector<float>{8.0F}))},
        {"alpha too large", "GgufKey", "adapter.lora.alpha is",
         set("adapter.lora.alpha", gguf::value(1e10F))},
        {"alpha far below 0", "GgufKey", "adapter.lora.alpha is",
         set("adapter.lora.alpha", gguf::value(-1e30F))},
        {"prefix is a number", "KeyType", "\"adapter.lora.prompt_prefix\"",
         set("adapter.lora.prompt_prefix", gguf::value(3.0F))},
        {"base is a number", "KeyType", "\"general.base_model.0.name\"",
         set("general.base_model.0.name", gguf::value(true))},
        {"one of two parts", "GgufSplit", "part 1 of 2",
         [](gguf::File& f) {
             f.set("split.count", gguf::value(uint16_t{2}))
                 .set("split.no", gguf::value(uint16_t{0}));
         }},
    };
    for (const float alpha :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        rows.push_back({"alpha " + std::to_string(alpha), "KeyType", "\"adapter.lora.alpha\"",
                        set("adapter.lora.alpha", gguf::value(alpha))});
    }
    return rows;
}

std::vector<GgufRow> tensorRows() {
    const auto renamed = [](const char* to) {
        return [to](gguf::File& f) { f.tensor("blk.0.attn_q.weight.lora_a").name = to; };
    };
    const auto dims = [](const char* tensor, std::vector<uint64_t> sides) {
        return [tensor, sides = std::move(sides)](gguf::File& f) { f.tensor(tensor).dims = sides; };
    };
    const auto value = [](float number) {
        return [number](gguf::File& f) {
            f.tensor("blk.0.ffn_up.weight.lora_b").data.replace(40, 4, gguf::le(number));
        };
    };
    const char* const a = "blk.0.attn_q.weight.lora_a";
    const char* const b = "blk.0.attn_q.weight.lora_b";
    std::vector<GgufRow> rows = {
        {"no lora_b", "", "blk.0.attn_q.weight.lora_a: lora_b of the module is missing",
         [b](gguf::File& f) { f.remove(b); }},
        {"no lora_a", "", "blk.0.attn_q.weight.lora_b: lora_a of the module is missing",
         [a](gguf::File& f) { f.remove(a); }},
        {"no tensors", "", "holds no tensors", [](gguf::File& f) { f.tensors.clear(); }},
        {"turned lora_a", "OtherShape",
         "blk.0.attn_q.weight.lora_a: shape [64, 4], expected [64, 64]", dims(a, {4, 64})},
        {"wider lora_a", "OtherShape", "shape [4, 128], expected [4, 64] (rank 4,",
         dims(a, {128, 4})},
        {"shorter lora_b", "OtherShape",
         "blk.0.attn_q.weight.lora_b: shape [32, 4], expected [64, 4]", dims(b, {4, 32})},
        {"another rank in lora_b", "OtherShape", "shape [64, 2], expected [64, 4]",
         dims(b, {2, 64})},
        {"one side", "OtherShape", "shape [4], expected", dims(a, {4})},
        {"three sides", "OtherShape", "shape [2, 2, 64], expected", dims(a, {64, 2, 2})},
        {"rank beyond all", "OtherShape", "expected [8192, 64]", dims(a, {64, 9000})},
        {"whole numbers", "", "element type I32, expected F32, F16 or BF16",
         [a](gguf::File& f) { f.tensor(a).type = 26; }},
        {"doubles", "", "element type F64", [a](gguf::File& f) { f.tensor(a).type = 28; }},
        {"tables in blocks", "GgufTensorType", "the tensor token_embd.weight.lora_a is stored as",
         [](gguf::File& f) {
             f.tensors.push_back({"token_embd.weight.lora_a", {32, 1024}, 8});
             f.tensors.push_back({"token_embd.weight.lora_b", {32, 64}});
         }},
        {"turned table", "OtherShape", "token_embd.weight.lora_a: shape [1024, 2], expected [1024",
         [](gguf::File& f) {
             f.tensors.push_back({"token_embd.weight.lora_a", {1024, 2}});
             f.tensors.push_back({"token_embd.weight.lora_b", {2, 64}});
         }},
        {"on a norm", "", "neither a linear layer nor an embedding",
         [](gguf::File& f) {
             f.tensors.push_back({"blk.0.attn_norm.weight.lora_a", {1, 2}});
             f.tensors.push_back({"blk.0.attn_norm.weight.lora_b", {2, 64}});
         }},
        {"a norm of another length", "OtherShape", "blk.0.attn_norm.weight: shape [32]",
         [](gguf::File& f) {
             f.tensors.push_back({"blk.0.attn_norm.weight", {32}});
         }},
        {"NaN", "", "ffn_up.weight.lora_b: element 10 is not a finite number",
         value(std::numeric_limits<float>::quiet_NaN())},
        {"infinity", "", "element 10 is not a finite number",
         value(-std::numeric_limits<float>::infinity())},
        {"layers of a larger model", "", "only 0 of 4 tensors find a module in this model",
         [](gguf::File& f) {
             for (gguf::Tensor& tensor : f.tensors) {
                 tensor.name.replace(4, 1, "400");
             }
         }},
        {"a whole weight", "GgufTensorName", "the tensor blk.0.attn_q.weight belongs to none",
         renamed("blk.0.attn_q.weight")},
        {"experts with two sides", "OtherShape", "ffn_down_exps.weight.lora_a: shape [4, 32]",
         [](gguf::File& f) {
             f.tensors = {{"blk.0.ffn_down_exps.weight.lora_a", {32, 4}},
                          {"blk.0.ffn_down_exps.weight.lora_b", {4, 64}}};
         },
         "moe26b"},
        {"experts in blocks", "GgufTensorType", "ffn_down_exps.weight.lora_b is stored as Q8_0",
         [](gguf::File& f) {
             f.tensors = {{"blk.0.ffn_down_exps.weight.lora_a", {32, 32, 8}},
                          {"blk.0.ffn_down_exps.weight.lora_b", {32, 64, 8}, 8}};
         },
         "moe26b"},
        {"fewer experts", "OtherShape", "ffn_down_exps.weight.lora_b: shape",
         [](gguf::File& f) {
             f.tensors = {{"blk.0.ffn_down_exps.weight.lora_a", {32, 2, 8}},
                          {"blk.0.ffn_down_exps.weight.lora_b", {2, 64, 4}}};
         },
         "moe26b"},
    };
    for (const char* name :
         {"blk.0.attn_q.weight.lora_A", "blk.0.attn_q.lora_a", "blk.0.attn_x.weight.lora_a",
          "blk.00.attn_q.weight.lora_a", "blk.-1.attn_q.weight.lora_a", ".lora_a", "lora_a",
          "blk.99999999999999999999.attn_q.weight.lora_a", "v.patch_embd.weight.lora_a",
          "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "rope_freqs.weight"}) {
        rows.push_back({std::string("name ") + name, "GgufTensorName",
                        std::string("the tensor ") + name + " belongs to none", renamed(name)});
    }
    return rows;
}

const std::vector<GgufRow>& ggufRows() {
    static const std::vector<GgufRow> kRows = [] {
        std::vector<GgufRow> rows = keyRows();
        std::vector<GgufRow> tensors = tensorRows();
        rows.insert(rows.end(), tensors.begin(), tensors.end());
        return rows;
    }();
    return kRows;
}

} // namespace

class TestGgufAdapter : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void scales();
    void isRefused_data();
    void isRefused();
    void cutAnywhere();
    void everyByte();
    void brokenFilesOfModels();
    void blocks();
    void savedNorms();

private:
    [[nodiscard]] Result<std::shared_ptr<const Adapter>> load(const std::string& bytes,
                                                              const std::string& model = "e2b") {
        lora_test::writeText(file(), bytes);
        const lora_test::Model& listed = models_[model];
        return loadAdapter(file(), listed.config, listed.tensors);
    }
    [[nodiscard]] fs::path file() const {
        return fs::path(folder_.path().toStdString()) / "lora.gguf";
    }
    QTemporaryDir folder_;
    std::map<std::string, lora_test::Model> models_;
};

void TestGgufAdapter::initTestCase() {
    for (const char* name : {"e2b", "moe26b"}) {
        models_[name] = lora_test::goldenModel(name);
    }
}

/// alpha / rank; 1 where alpha is missing or 0, as llama.cpp has it.
void TestGgufAdapter::scales() {
    gguf::File file = soundFile();
    const auto scaling = [&] {
        const auto adapter = support::must(load(file.bytes()), "adapter");
        return std::pair(adapter->updates().at(0).scaling, adapter->updates().at(0).rank);
    };
    QCOMPARE(scaling(), std::pair(2.0, int64_t{4}));
    file.set("adapter.lora.alpha", gguf::value(uint32_t{6}));
    QCOMPARE(scaling(), std::pair(1.5, int64_t{4}));
    file.set("adapter.lora.alpha", gguf::value(0.0F));
    QCOMPARE(scaling(), std::pair(1.0, int64_t{4}));
    file.remove("adapter.lora.alpha");
    QCOMPARE(scaling(), std::pair(1.0, int64_t{4}));
    // Each pair has a rank of its own.
    file = soundFile();
    file.tensor("blk.0.attn_q.weight.lora_a").dims = {64, 2};
    file.tensor("blk.0.attn_q.weight.lora_b").dims = {2, 64};
    for (gguf::Tensor& tensor : file.tensors) {
        tensor.data.resize(gguf::File::sizeOf(tensor));
    }
    QCOMPARE(scaling(), std::pair(4.0, int64_t{2}));
    const auto adapter = support::must(load(file.bytes()), "adapter");
    QCOMPARE(adapter->updates().at(1).scaling, 2.0);
    QCOMPARE(adapter->coverage().active, 4);
    QCOMPARE(adapter->coverage().targeted_but_missing.size(), size_t{0});
    QVERIFY(support::mentions(inEnglish(adapter->coverage().notes), "lora.gguf is a GGUF file"));
    file.set("adapter.lora.prompt_prefix", gguf::value("Say: "));
    QVERIFY(support::mentions(
        inEnglish(support::must(load(file.bytes()), "adapter")->coverage().notes), "\"Say: \""));
}

void TestGgufAdapter::isRefused_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < ggufRows().size(); ++i) {
        QTest::newRow(ggufRows()[i].name.c_str()) << static_cast<int>(i);
    }
}

void TestGgufAdapter::isRefused() {
    QFETCH(int, index);
    const GgufRow& row = ggufRows()[static_cast<size_t>(index)];
    gguf::File file = soundFile();
    row.change(file);
    const auto loaded = load(file.bytes(), row.model);
    QVERIFY2(!loaded, "the adapter was accepted");
    const Error& error = loaded.error();
    QVERIFY2(error.message.find(row.fragment) != std::string::npos, error.message.c_str());
    QVERIFY2(error.message.starts_with("lora.gguf: "), error.message.c_str());
    QCOMPARE(support::detailOf(error, "file"), std::string("lora.gguf"));
    QCOMPARE(support::detailOf(error, "rule"), row.rule);
    QVERIFY(error.code == ErrorCode::InvalidFile || error.code == ErrorCode::Unsupported);
}

void TestGgufAdapter::cutAnywhere() {
    const std::string whole = soundFile().bytes();
    for (size_t size = 0; size + 32 < whole.size(); size += size < 1024 ? 7 : 211) {
        const auto loaded = load(whole.substr(0, size));
        QVERIFY2(!loaded, std::to_string(size).c_str());
        QVERIFY(!support::detailOf(loaded.error(), "rule").empty());
    }
}

/// Every byte of the header as three other values: an error that names the file, or an adapter
/// whose factors fit and can be read.
void TestGgufAdapter::everyByte() {
    const std::string sound = soundFile().bytes();
    const size_t header = soundFile().header().size();
    int adapters = 0;
    for (size_t at = 0; at < header; ++at) {
        const auto old = static_cast<unsigned char>(sound[at]);
        for (const unsigned other : {old ^ 1U, old ^ 0x80U, 0xffU}) {
            std::string changed = sound;
            changed[at] = static_cast<char>(other);
            const auto loaded = load(changed);
            if (!loaded) {
                const Error& error = loaded.error();
                QVERIFY2(error.message.starts_with("lora.gguf: "), error.message.c_str());
                QVERIFY(error.code == ErrorCode::InvalidFile ||
                        error.code == ErrorCode::Unsupported);
                continue;
            }
            ++adapters;
            QVERIFY(!(*loaded)->updates().empty());
            for (const LowRankUpdate& update : (*loaded)->updates()) {
                QVERIFY(std::isfinite(update.scaling));
                std::vector<float> a(static_cast<size_t>(update.rank * update.in));
                std::vector<float> b(static_cast<size_t>(update.out * update.rank));
                VERIFY_VALUE((*loaded)->readFloats(update.a, a));
                VERIFY_VALUE((*loaded)->readFloats(update.b, b));
            }
        }
    }
    QVERIFY(adapters > 10); // alpha, names of other linears of the same shape
    QVERIFY(adapters < static_cast<int>(header));
    qInfo("%d bytes: %d changes gave an adapter", static_cast<int>(header), adapters);
}

/// Containers, metadata and tensors of models, each broken in its own way.
void TestGgufAdapter::brokenFilesOfModels() {
    for (const support::MalformedGguf& row : support::malformedGgufs()) {
        const auto loaded = load(row.files.front().second);
        QVERIFY2(!loaded, row.name.c_str());
        QVERIFY2(loaded.error().message.find(": ") != std::string::npos, row.name.c_str());
    }
}

/// Q8_0 (scale and 32 codes) is expanded, in pieces as in the whole.
void TestGgufAdapter::blocks() {
    gguf::File file = soundFile();
    gguf::Tensor& a = file.tensor("blk.0.attn_q.weight.lora_a");
    a.type = 8;
    a.data.clear();
    std::vector<float> expected;
    for (int block = 0; block < 8; ++block) {
        a.data += gguf::le(uint16_t{0x2400}); // 2^-6
        for (int i = 0; i < 32; ++i) {
            const auto code = static_cast<int8_t>(block * 37 + i * 5 - 100);
            a.data += static_cast<char>(code);
            expected.push_back(static_cast<float>(code) / 64.0F);
        }
    }
    const auto adapter = support::must(load(file.bytes()), "adapter");
    const AdapterTensor& tensor = adapter->updates().at(0).a;
    QVERIFY(tensor.type == TensorType::F32);
    QCOMPARE(tensor.size_bytes, uint64_t{1024});
    std::vector<float> values(256);
    QVERIFY(adapter->readFloats(tensor, values).has_value());
    QVERIFY(values == expected);
    for (const uint64_t offset : {0U, 4U, 124U, 128U, 500U, 1020U}) {
        std::vector<float> piece(offset > 900 ? 1 : 30);
        QVERIFY(adapter->readBytes(tensor, offset, std::as_writable_bytes(std::span(piece)))
                    .has_value());
        QVERIFY(std::equal(piece.begin(), piece.end(), expected.begin() + offset / 4));
    }
    std::vector<std::byte> beyond(8);
    QVERIFY(!adapter->readBytes(tensor, 1020, beyond).has_value());
}

/// mergekit's norms replace the model's, as in a PEFT folder.
void TestGgufAdapter::savedNorms() {
    gguf::File file = soundFile();
    file.tensors.push_back({"blk.0.attn_norm.weight", {64}, 0, noiseBytes(64, 9)});
    const auto adapter = support::must(load(file.bytes()), "adapter");
    QCOMPARE(adapter->coverage().active, 5);
    QCOMPARE(adapter->replacements().size(), size_t{1});
    QCOMPARE(adapter->replacements()[0].tensor,
             std::string("model.language_model.layers.0.input_layernorm.weight"));
}

TEST_CLASS(TestGgufAdapter)
#include "tst_gguf_adapter.moc"
