// SPDX-License-Identifier: Apache-2.0
// Headers as published GGUF files have them, without the data: shapes of the published sizes in the
// mixes of their load logs. Each opens, has the log's number of tensors of each type, and is
// planned with the bytes that its tensors have.
#include "engine/files/gguf_source.h"
#include "engine/run/engine.h"
#include "tests/engine/files/raw_safetensors.h"
#include "tests/engine/files/small_gguf.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

namespace {

namespace fs = std::filesystem;
namespace gguf = support::gguf;
using engine::TensorType;
using Histogram = std::map<std::string, int>;

constexpr uint32_t kF32 = 0, kQ4_0 = 2, kQ5_0 = 6, kQ5_1 = 7, kQ8_0 = 8, kQ4_K = 12, kQ5_K = 13,
                   kQ6_K = 14, kIQ4_NL = 20, kBF16 = 30;

struct Size {
    const char* name;
    uint64_t layers, period, hidden, width, heads, kv, full_kv, shared, window;
    bool has_tables, is_k_v, has_experts;
};
constexpr Size kSizes[] = {
    {"E2B", 35, 5, 1536, 6144, 8, 1, 1, 20, 512, true, false, false},
    {"E4B", 42, 6, 2560, 10240, 8, 2, 2, 18, 512, true, false, false},
    {"12B", 48, 6, 3840, 15360, 16, 8, 1, 0, 1024, false, true, false},
    {"31B", 60, 6, 5376, 21504, 32, 16, 4, 0, 1024, false, true, false},
    {"26B-A4B", 30, 6, 2816, 2112, 16, 8, 2, 0, 1024, false, true, true},
};
constexpr uint64_t kVocabulary = 262'144;

/// What a weight is, for the rule of a mix: layer -1 outside of layers.
using Mix = std::function<uint32_t(const std::string& part, int layer, const Size& size)>;

/// llama-quantize's choice of layers with more bits.
bool hasMoreBits(int at, int count) {
    return at < count / 8 || at >= 7 * count / 8 || (at - count / 8) % 3 == 2;
}

uint32_t q4_k_m(const std::string& part, int layer, const Size& size) {
    const auto layers = static_cast<int>(size.layers);
    const auto period = static_cast<int>(size.period);
    if (layer < 0) {
        return part == "per_layer_model_proj" ? kBF16 : kQ6_K;
    }
    if (part == "inp_gate" || part == "proj") {
        return std::string(size.name) == "E2B" ? kQ5_K : kQ4_K;
    }
    if (part == "ffn_down" && !size.has_experts) {
        return hasMoreBits(layer, layers) ? kQ6_K : kQ4_K;
    }
    if (part == "ffn_down" || part == "ffn_down_exps") { // rows that are no multiples of 256
        return hasMoreBits(layer, layers) ? kQ8_0 : kQ5_0;
    }
    if (part == "attn_v") { // counted over those that there are
        const int count = size.is_k_v ? layers - layers / period : layers;
        const int at = size.is_k_v ? layer - layer / period : layer;
        return hasMoreBits(at, count) ? kQ6_K : kQ4_K;
    }
    // The log of the E2B has 17 more, of which it does not say where they are.
    return part == "attn_k" && std::string(size.name) == "E2B" && hasMoreBits(layer, layers)
               ? kQ6_K
               : kQ4_K;
}

Mix uniform(uint32_t linears, uint32_t table) {
    return [=](const std::string& part, int layer, const Size&) {
        return part == "per_layer_model_proj" ? kBF16 : layer < 0 ? table : linears;
    };
}

gguf::File headerOf(const Size& size, const Mix& mix) {
    using gguf::value;
    gguf::File file;
    const auto u32 = [](uint64_t number) { return value(static_cast<uint32_t>(number)); };
    const std::string p = "gemma4.";
    std::vector<int> pattern;
    std::vector<int32_t> kv;
    std::vector<int32_t> widths;
    const auto isFull = [&](uint64_t i) { return (i + 1) % size.period == 0; };
    const bool is_double = size.shared == 20;
    for (uint64_t i = 0; i < size.layers; ++i) {
        pattern.push_back(isFull(i) ? 0 : 1);
        kv.push_back(static_cast<int32_t>(isFull(i) ? size.full_kv : size.kv));
        widths.push_back(static_cast<int32_t>(
            is_double && i >= size.layers - size.shared ? 2 * size.width : size.width));
    }
    file.set("general.architecture", value("gemma4"))
        .set("general.type", value("model"))
        .set(p + "block_count", u32(size.layers))
        .set(p + "context_length", u32(131'072))
        .set(p + "embedding_length", u32(size.hidden))
        .set(p + "embedding_length_per_layer_input", u32(size.has_tables ? 256 : 0))
        .set(p + "feed_forward_length", gguf::list(widths))
        .set(p + "attention.head_count", u32(size.heads))
        .set(p + "attention.head_count_kv", gguf::list(kv))
        .set(p + "attention.key_length", u32(512))
        .set(p + "attention.key_length_swa", u32(256))
        .set(p + "attention.layer_norm_rms_epsilon", value(1e-6F))
        .set(p + "attention.sliding_window", u32(size.window))
        .set(p + "attention.sliding_window_pattern", gguf::bools(pattern))
        .set(p + "attention.shared_kv_layers", u32(size.shared))
        .set(p + "rope.freq_base", value(1e6F))
        .set(p + "rope.freq_base_swa", value(1e4F))
        .set(p + "final_logit_softcapping", value(30.0F));
    if (size.has_experts) {
        file.set(p + "expert_count", u32(128))
            .set(p + "expert_used_count", u32(8))
            .set(p + "expert_feed_forward_length", u32(704));
    }
    const auto weight = [&](int layer, const std::string& part, std::vector<uint64_t> dims) {
        const std::string b = layer < 0 ? "" : "blk." + std::to_string(layer) + ".";
        file.tensors.push_back({b + part + ".weight", std::move(dims), mix(part, layer, size)});
    };
    const auto vector = [&](const std::string& name, std::vector<uint64_t> dims) {
        file.tensors.push_back({name, std::move(dims), kF32});
    };
    vector("rope_freqs.weight", {256});
    weight(-1, "token_embd", {size.hidden, kVocabulary});
    vector("output_norm.weight", {size.hidden});
    if (size.has_tables) {
        weight(-1, "per_layer_token_embd", {256 * size.layers, kVocabulary});
        weight(-1, "per_layer_model_proj", {size.hidden, 256 * size.layers});
        vector("per_layer_proj_norm.weight", {256});
    }
    for (uint64_t i = 0; i < size.layers; ++i) {
        const auto layer = static_cast<int>(i);
        const std::string b = "blk." + std::to_string(i) + ".";
        const uint64_t head = isFull(i) ? 512 : 256;
        const auto keys = static_cast<uint64_t>(kv[i]) * head;
        const auto width = static_cast<uint64_t>(widths[i]);
        for (const char* norm : {"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"}) {
            vector(b + norm + ".weight", {size.hidden});
        }
        vector(b + "attn_q_norm.weight", {head});
        vector(b + "attn_k_norm.weight", {head});
        vector(b + "layer_output_scale.weight", {1});
        weight(layer, "attn_q", {size.hidden, size.heads * head});
        weight(layer, "attn_k", {size.hidden, keys});
        if (!size.is_k_v || !isFull(i)) {
            weight(layer, "attn_v", {size.hidden, keys});
        }
        weight(layer, "attn_output", {size.heads * head, size.hidden});
        weight(layer, "ffn_gate", {size.hidden, width});
        weight(layer, "ffn_up", {size.hidden, width});
        weight(layer, "ffn_down", {width, size.hidden});
        if (size.has_tables) {
            weight(layer, "inp_gate", {size.hidden, 256});
            weight(layer, "proj", {256, size.hidden});
            vector(b + "post_norm.weight", {size.hidden});
        }
        if (size.has_experts) {
            weight(layer, "ffn_gate_up_exps", {size.hidden, 1408, 128});
            weight(layer, "ffn_down_exps", {704, size.hidden, 128});
            vector(b + "ffn_gate_inp.weight", {size.hidden, 128});
            vector(b + "ffn_gate_inp.scale", {size.hidden});
            vector(b + "ffn_down_exps.scale", {128});
            for (const char* norm : {"pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"}) {
                vector(b + norm + ".weight", {size.hidden});
            }
        }
    }
    return file;
}

/// Types of the apex file: as Q4_K_M, but ten tensors each in two more.
Mix apex() {
    return [](const std::string& part, int layer, const Size& size) {
        const uint32_t type = q4_k_m(part, layer, size);
        return type != kQ5_0 || layer >= 18 ? type : part == "ffn_down" ? kQ5_1 : kIQ4_NL;
    };
}

struct Row {
    const char* name;
    const char* size;
    Mix mix;
    Histogram types;
};
std::vector<Row> rowsOf() {
    return {
        {"E2B Q4_K_M",
         "E2B",
         q4_k_m,
         {{"F32", 283}, {"Q4_K", 194}, {"Q5_K", 70}, {"Q6_K", 53}, {"BF16", 1}}},
        {"E4B Q4_K_M", "E4B", q4_k_m, {{"F32", 339}, {"Q4_K", 336}, {"Q6_K", 44}, {"BF16", 1}}},
        {"26B-A4B Q4_K_M",
         "26B-A4B",
         q4_k_m,
         {{"F32", 392}, {"Q4_K", 192}, {"Q5_0", 32}, {"Q8_0", 28}, {"Q6_K", 14}}},
        {"26B-A4B of five types of blocks",
         "26B-A4B",
         apex(),
         {{"F32", 392},
          {"Q4_K", 192},
          {"Q5_0", 12},
          {"Q5_1", 10},
          {"IQ4_NL", 10},
          {"Q8_0", 28},
          {"Q6_K", 14}}},
        {"26B-A4B QAT Q4_0",
         "26B-A4B",
         uniform(kQ4_0, kQ8_0),
         {{"F32", 392}, {"Q4_0", 265}, {"Q8_0", 1}}},
        {"31B Q8_0", "31B", uniform(kQ8_0, kQ8_0), {{"F32", 422}, {"Q8_0", 411}}},
        {"12B Q4_0", "12B", uniform(kQ4_0, kQ6_K), {{"F32", 338}, {"Q4_0", 328}, {"Q6_K", 1}}},
    };
}

} // namespace

class TestGgufPublished : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QVERIFY(folder_.isValid()); }
    void opensAndPlans_data();
    void opensAndPlans();

private:
    [[nodiscard]] fs::path place(const char* name) const {
        return fs::path(folder_.path().toStdString()) / name;
    }
    QTemporaryDir folder_;
};

void TestGgufPublished::opensAndPlans_data() {
    QTest::addColumn<int>("index");
    const auto rows = rowsOf();
    for (size_t i = 0; i < rows.size(); ++i) {
        QTest::newRow(rows[i].name) << static_cast<int>(i);
    }
}

void TestGgufPublished::opensAndPlans() {
    QFETCH(int, index);
    const Row row = rowsOf()[static_cast<size_t>(index)];
    const auto* const size =
        std::find_if(std::begin(kSizes), std::end(kSizes),
                     [&](const Size& known) { return std::string(known.name) == row.size; });
    const gguf::File file = headerOf(*size, row.mix);
    support::writeBytes(place("model.gguf"), file.header());
    const auto model = engine::openGgufModel(place("model.gguf"));
    VERIFY_VALUE(model);
    QVERIFY((*model)->is_data_absent);
    Histogram types;
    for (const engine::TensorInfo& tensor : (*model)->tensors) {
        ++types[std::string(engine::tensorTypeName(tensor.type))];
    }
    QCOMPARE(types, row.types);

    uint64_t expected = 0; // what of the file is used
    for (const gguf::Tensor& tensor : file.tensors) {
        const auto layer = tensor.name.starts_with("blk.")
                               ? static_cast<uint64_t>(std::stoi(tensor.name.substr(4)))
                               : 0;
        const bool is_shared = layer >= size->layers - size->shared &&
                               (tensor.name.find("attn_k") != std::string::npos ||
                                tensor.name.find("attn_v") != std::string::npos);
        const bool is_used = tensor.name != "rope_freqs.weight" && !is_shared;
        expected += is_used ? gguf::File::sizeOf(tensor) : 0;
    }
    engine::LoadRequest request;
    request.model = place("model.gguf").string();
    request.device_map = "cpu";
    request.context = 1024;
    engine::Engine engine;
    const auto plan = engine.plan(request);
    VERIFY_VALUE(plan);
    uint64_t bytes = 0;
    for (const engine::TensorPlacement& tensor : plan->tensors) {
        bytes += tensor.bytes;
    }
    QCOMPARE(bytes, expected);
    for (const engine::PlanIssue& issue : plan->errors) {
        QCOMPARE(issue.code, std::string("DM09")); // the computer is too small
    }
    engine::Engine second;
    const auto loaded = second.load(request, {}, {});
    QVERIFY(!loaded.has_value()); // there is nothing to load
}

TEST_CLASS(TestGgufPublished)
#include "tst_gguf_published.moc"
