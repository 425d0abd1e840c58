// SPDX-License-Identifier: Apache-2.0
// Reading configurations that are right: published sizes, golden models, old and new spellings,
// defaults, numbers at their limits. What is wrong is in tests/engine/files/malformed_config.h.
#include "engine/base/sentence_english.h"
#include "engine/families/config.h"
#include "engine/families/stored_templates.h"
#include "engine/families/tensor_list.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"
#include "tests/support/published_configs.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <utility>

using engine::LayerType;
using engine::ModelConfig;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

json goldenConfig(const char* model) {
    return support::readJson(support::goldenDir() / model / "model" / "config.json");
}

ModelConfig
parsed(const json& config, const std::string& generation = {}, const std::string& processor = {}) {
    return support::must(engine::parseModelConfig(config.dump(), generation, processor), "config");
}

bool hasWarning(const ModelConfig& config, std::string_view text) {
    return std::any_of(config.warnings.begin(), config.warnings.end(), [&](const auto& warning) {
        return engine::inEnglish(warning).find(text) != std::string::npos;
    });
}

/// Head size, key/value heads, type and width of every layer, for comparison.
std::string describeLayers(const ModelConfig& config) {
    std::string text;
    for (const engine::LayerConfig& layer : config.text.layers) {
        text += std::string(layer.type == LayerType::Full ? "F" : "S") +
                std::to_string(layer.head_dim) + "x" + std::to_string(layer.num_kv_heads) + "/" +
                std::to_string(layer.intermediate_size) + "<" + std::to_string(layer.kv_source) +
                (layer.is_kv_shared ? "s" : "") + (layer.k_is_v ? "=" : "") + " ";
    }
    return text;
}

void writeText(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

} // namespace

class TestConfig : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void publishedSizes_data();
    void publishedSizes();
    void kvSharingOfPublishedSizes();
    void goldenModels_data();
    void goldenModels();
    void flatAndPerLayerSpellingAgree_data();
    void flatAndPerLayerSpellingAgree();
    void perLayerConfigReplacesFlatKeys();
    void layerTypes();
    void ropeSpellings_data();
    void ropeSpellings();
    void tokenIdSpellings();
    void textOnly();
    void quantizationBlock_data();
    void quantizationBlock();
    void generationDefaults();
    void oddDefaults_data();
    void oddDefaults();
    void whatIsNotRunIsTold_data();
    void whatIsNotRunIsTold();
    void processorSpellings();
    void chatTemplateDecides_data();
    void chatTemplateDecides();
    void storedTemplates_data();
    void storedTemplates();
    void oldTemplates();
    void embedders();
    void whatEmbeddersAreNot_data();
    void whatEmbeddersAreNot();
    void folderReading();
    void limitsAreAccepted();
    void sumsOfSizesAreBounded();
    void randomNumbersNeverBreakIt();
};

void TestConfig::publishedSizes_data() {
    support::addColumns<QByteArray, int, int, int, bool>("size", "layers", "full_layers", "window",
                                                         "is_large");
    QTest::newRow("E2B") << QByteArray("E2B") << 35 << 7 << 512 << false;
    QTest::newRow("E4B") << QByteArray("E4B") << 42 << 7 << 512 << false;
    QTest::newRow("12B") << QByteArray("12B") << 48 << 8 << 1024 << true;
    QTest::newRow("26B-A4B") << QByteArray("26B-A4B") << 30 << 5 << 1024 << true;
    QTest::newRow("31B") << QByteArray("31B") << 60 << 10 << 1024 << true;
}

void TestConfig::publishedSizes() {
    QFETCH(QByteArray, size);
    QFETCH(int, layers);
    QFETCH(int, full_layers);
    QFETCH(int, window);
    QFETCH(bool, is_large);
    const ModelConfig config =
        parsed(json::parse(support::publishedConfigJson(size.toStdString())),
               support::publishedGenerationJson(), support::publishedProcessorJson());
    QCOMPARE(QByteArray::fromStdString(config.variant), size);
    QCOMPARE(config.is_large_template, is_large);
    QCOMPARE(config.text.layers.size(), static_cast<size_t>(layers));
    QCOMPARE(static_cast<int>(
                 std::count_if(config.text.layers.begin(), config.text.layers.end(),
                               [](const auto& layer) { return layer.type == LayerType::Full; })),
             full_layers);
    QCOMPARE(config.text.sliding_window, int64_t{window});
    QCOMPARE(config.text.is_vision_bidirectional, is_large);
    QCOMPARE(config.text.final_logit_softcap, 30.0);
    QCOMPARE(config.text.full_rope.theta, 1e6);
    QCOMPARE(config.text.full_rope.rotary_factor, 0.25);
    QCOMPARE(config.text.sliding_rope.theta, 1e4);
    QCOMPARE(config.text.sliding_rope.rotary_factor, 1.0);
    const bool has_embedders = size == "12B";
    QCOMPARE(config.hasVisionTower(), !has_embedders);
    QCOMPARE(config.hasAudioTower(), !is_large);
    QCOMPARE(config.vision->standardize, is_large && !has_embedders);
    QCOMPARE(config.vision->has_clipped_linears, !is_large);
    QCOMPARE(config.audio.has_value(), !is_large || has_embedders);
    QCOMPARE(config.generation.eos_token_ids, (std::vector<int64_t>{1, 106, 50}));
    QCOMPARE(config.image_token_id, int64_t{258880});
    QCOMPARE(config.eoa_token_id, int64_t{258883});
    QCOMPARE(config.dtype, std::string("bfloat16"));
    QVERIFY(config.warnings.empty());
    for (const engine::LayerConfig& layer : config.text.layers) {
        const bool is_full = layer.type == LayerType::Full;
        QCOMPARE(layer.head_dim, int64_t{is_full ? 512 : 256});
        QCOMPARE(layer.k_is_v, is_full && is_large);
    }
    if (size == "31B") {
        QCOMPARE(config.text.layers[5].num_kv_heads, int64_t{4});
        QCOMPARE(config.text.layers[4].num_kv_heads, int64_t{16});
    }
}

/// Which layers share whose keys and values: the table of gemma4.md 3.5.
void TestConfig::kvSharingOfPublishedSizes() {
    struct Row {
        const char* size;
        int first, sliding_source, full_source;
    };
    for (const Row& row : {Row{"E2B", 15, 13, 14}, Row{"E4B", 24, 22, 23}}) {
        const ModelConfig config = parsed(json::parse(support::publishedConfigJson(row.size)));
        QCOMPARE(config.text.lastKvOwner(), row.first - 1);
        for (int i = 0; i < static_cast<int>(config.text.layers.size()); ++i) {
            const engine::LayerConfig& layer = config.text.layers[static_cast<size_t>(i)];
            QCOMPARE(layer.is_kv_shared, i >= row.first);
            const int source = layer.type == LayerType::Full ? row.full_source : row.sliding_source;
            QCOMPARE(layer.kv_source, i >= row.first ? source : i);
            const bool is_doubled = row.size == std::string("E2B") && i >= row.first;
            QCOMPARE(layer.intermediate_size,
                     is_doubled ? int64_t{12288} : int64_t{row.first == 15 ? 6144 : 10240});
        }
    }
}

void TestConfig::goldenModels_data() {
    support::addColumns<QByteArray, QByteArray>("model", "layers");
    QTest::newRow("e2b") << QByteArray("e2b")
                         << QByteArray("S16x1/128<0 S16x1/128<1 S16x1/128<2 S16x1/128<3 "
                                       "F32x1/128<4 S16x1/128<5 S16x1/256<5s S16x1/256<5s "
                                       "S16x1/256<5s F32x1/256<4s ");
    QTest::newRow("dense31b") << QByteArray("dense31b")
                              << QByteArray("S16x2/160<0 S16x2/160<1 S16x2/160<2 S16x2/160<3 "
                                            "S16x2/160<4 F32x1/160<5= ");
    QTest::newRow("moe26b") << QByteArray("moe26b")
                            << QByteArray("S16x2/64<0 S16x2/64<1 S16x2/64<2 S16x2/64<3 "
                                          "S16x2/64<4 F32x1/64<5= ");
    QTest::newRow("unified12b") << QByteArray("unified12b")
                                << QByteArray("S16x2/96<0 S16x2/96<1 S16x2/96<2 F32x1/96<3= ");
}

void TestConfig::goldenModels() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, layers);
    const auto config = engine::readModelConfig(support::goldenDir() / model.constData() / "model");
    QVERIFY2(config.has_value(), config ? "" : config.error().message.c_str());
    QCOMPARE(QByteArray::fromStdString(describeLayers(*config)), layers);
    QCOMPARE(config->variant, std::string("custom"));
    QCOMPARE(config->is_large_template, model != "e2b");
    QCOMPARE(config->processor.image_tokens, int64_t{70}); // not image_seq_length, which is 280
    QCOMPARE(config->generation.eos_token_ids, (std::vector<int64_t>{1, 6}));
    QCOMPARE(config->vision->position_table_size, int64_t{model == "unified12b" ? 80 : 128});
    QVERIFY(config->warnings.empty());
}

void TestConfig::flatAndPerLayerSpellingAgree_data() {
    goldenModels_data();
}

void TestConfig::flatAndPerLayerSpellingAgree() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, layers);
    json flat = goldenConfig(model.constData());
    flat["text_config"].erase("per_layer_config");
    flat["text_config"]["global_head_dim"] = 32;
    flat["text_config"]["num_global_key_value_heads"] = 1;
    QCOMPARE(QByteArray::fromStdString(describeLayers(parsed(flat))), layers);
    json padded = goldenConfig(model.constData());
    json& own = padded["text_config"]["per_layer_config"];
    json renamed = json::object();
    for (const auto& [key, value] : own.items()) {
        renamed["000" + key] = value;
    }
    own = renamed;
    QCOMPARE(QByteArray::fromStdString(describeLayers(parsed(padded))), layers);
    // Without global_head_dim full layers have 512.
    flat["text_config"].erase("global_head_dim");
    QCOMPARE(parsed(flat).text.layers.back().head_dim, int64_t{512});
    // num_global_key_value_heads counts only where k is v.
    flat["text_config"]["attention_k_eq_v"] = false;
    QCOMPARE(parsed(flat).text.layers.back().num_kv_heads,
             model == "e2b" ? int64_t{1} : int64_t{2});
}

void TestConfig::perLayerConfigReplacesFlatKeys() {
    json config = goldenConfig("dense31b");
    config["text_config"]["global_head_dim"] = 64;
    config["text_config"]["num_global_key_value_heads"] = 2;
    const ModelConfig both = parsed(config);
    QCOMPARE(both.text.layers[5].head_dim, int64_t{32});
    QCOMPARE(both.text.layers[5].num_kv_heads, int64_t{1});
    // Empty but present: no layer differs.
    config["text_config"]["per_layer_config"] = json::object();
    const ModelConfig none = parsed(config);
    QCOMPARE(none.text.layers[5].head_dim, int64_t{16});
    QCOMPARE(none.text.layers[5].num_kv_heads, int64_t{2});
    // null counts as absent.
    config["text_config"]["per_layer_config"] = nullptr;
    QCOMPARE(parsed(config).text.layers[5].head_dim, int64_t{64});
    // A layer that only changes one value takes the rest from the top.
    config["text_config"]["per_layer_config"] = {{"2", {{"num_key_value_heads", 4}}}};
    QCOMPARE(parsed(config).text.layers[2].num_kv_heads, int64_t{4});
    QCOMPARE(parsed(config).text.layers[2].head_dim, int64_t{16});
}

void TestConfig::layerTypes() {
    json config = goldenConfig("dense31b");
    config["text_config"].erase("layer_types");
    config["text_config"]["num_hidden_layers"] = 13;
    const ModelConfig derived = parsed(config);
    for (int i = 0; i < 13; ++i) {
        const bool is_full = i == 5 || i == 11 || i == 12; // every sixth and the last
        QCOMPARE(derived.text.layers[static_cast<size_t>(i)].type == LayerType::Full, is_full);
    }
    QVERIFY(derived.warnings.empty());
    json sliding = goldenConfig("dense31b");
    sliding["text_config"]["layer_types"] = std::vector<std::string>(6, "sliding_attention");
    const ModelConfig forced = parsed(sliding);
    QVERIFY(forced.text.layers[4].type == LayerType::Sliding);
    QVERIFY(forced.text.layers[5].type == LayerType::Full);
    QVERIFY(hasWarning(forced, "the last layer is always full"));
}

void TestConfig::ropeSpellings_data() {
    QTest::addColumn<QByteArray>("members"); // of text_config, instead of rope_parameters
    QTest::addColumn<double>("sliding_theta");
    QTest::addColumn<double>("full_theta");
    QTest::addColumn<double>("full_rotary");
    QTest::addColumn<double>("full_factor");
    QTest::newRow("none: defaults") << QByteArray("{}") << 1e4 << 1e6 << 0.25 << 1.0;
    QTest::newRow("new, other values") << QByteArray(R"({"rope_parameters":{
            "sliding_attention":{"rope_type":"default","rope_theta":20000},
            "full_attention":{"rope_type":"proportional","rope_theta":5e5,
                "partial_rotary_factor":0.5,"factor":8}}})")
                                       << 2e4 << 5e5 << 0.5 << 8.0;
    QTest::newRow("new, one type only")
        << QByteArray(R"({"rope_parameters":{"sliding_attention":{"rope_theta":3e4}}})") << 3e4
        << 1e6 << 0.25 << 1.0;
    QTest::newRow("older: rope_scaling per type") << QByteArray(R"({"rope_scaling":{
            "sliding_attention":{"type":"default","rope_theta":30000},
            "full_attention":{"type":"proportional","rope_theta":2e6,
                "partial_rotary_factor":0.125}}})")
                                                  << 3e4 << 2e6 << 0.125 << 1.0;
    QTest::newRow("older: thetas and one scaling")
        << QByteArray(R"({"rope_theta":7e5,"rope_local_base_freq":15000,
            "rope_scaling":{"rope_type":"proportional","partial_rotary_factor":0.25,
                "factor":2}})")
        << 15e3 << 7e5 << 0.25 << 2.0;
    QTest::newRow("older: thetas only")
        << QByteArray(R"({"rope_theta":7e5,"rope_local_base_freq":15000,"rope_scaling":null})")
        << 15e3 << 7e5 << 0.25 << 1.0;
    QTest::newRow("linear scaling of whole heads")
        << QByteArray(R"({"rope_parameters":{"full_attention":{"rope_type":"linear",
            "rope_theta":1e6,"factor":4}}})")
        << 1e4 << 1e6 << 1.0 << 4.0;
    QTest::newRow("rope_parameters wins over rope_scaling")
        << QByteArray(R"({"rope_parameters":{"sliding_attention":{"rope_theta":4e4}},
            "rope_scaling":{"sliding_attention":{"rope_theta":5e4}}})")
        << 4e4 << 1e6 << 0.25 << 1.0;
}

void TestConfig::ropeSpellings() {
    QFETCH(QByteArray, members);
    QFETCH(double, sliding_theta);
    QFETCH(double, full_theta);
    QFETCH(double, full_rotary);
    QFETCH(double, full_factor);
    json config = goldenConfig("e2b");
    config["text_config"].erase("rope_parameters");
    config["text_config"].update(json::parse(members.toStdString()));
    const ModelConfig read = parsed(config);
    QCOMPARE(read.text.sliding_rope.theta, sliding_theta);
    QCOMPARE(read.text.sliding_rope.rotary_factor, 1.0);
    QCOMPARE(read.text.sliding_rope.factor, 1.0);
    QCOMPARE(read.text.full_rope.theta, full_theta);
    QCOMPARE(read.text.full_rope.rotary_factor, full_rotary);
    QCOMPARE(read.text.full_rope.factor, full_factor);
}

void TestConfig::tokenIdSpellings() {
    json config = goldenConfig("e2b"); // has eoa_token_index
    QCOMPARE(parsed(config).eoa_token_id, int64_t{11});
    config["eoa_token_id"] = 11; // both
    QCOMPARE(parsed(config).eoa_token_id, int64_t{11});
    config.erase("eoa_token_index");
    QCOMPARE(parsed(config).eoa_token_id, int64_t{11});
    config["video_token_id"] = nullptr; // published id outside this vocabulary: none
    QCOMPARE(parsed(config).video_token_id, int64_t{-1});
    json published = json::parse(support::publishedConfigJson("E2B"));
    for (const char* key : {"image_token_id", "audio_token_id", "video_token_id", "boi_token_id",
                            "eoi_token_id", "boa_token_id", "eoa_token_id", "eoa_token_index"}) {
        published.erase(key);
    }
    const ModelConfig defaults = parsed(published);
    QCOMPARE(defaults.image_token_id, int64_t{258880});
    QCOMPARE(defaults.eoa_token_id, int64_t{258883});
    // End tokens: generation_config first, then config.json, then text_config.
    config["eos_token_id"] = {1, 6};
    QCOMPARE(parsed(config).generation.eos_token_ids, (std::vector<int64_t>{1, 6}));
    QCOMPARE(parsed(config, R"({"eos_token_id":5})").generation.eos_token_ids,
             (std::vector<int64_t>{5}));
    config.erase("eos_token_id");
    config["text_config"]["eos_token_id"] = 7;
    QCOMPARE(parsed(config).generation.eos_token_ids, (std::vector<int64_t>{7}));
}

void TestConfig::textOnly() {
    const json published = json::parse(support::publishedConfigJson("E4B"));
    json flat = published["text_config"]; // a text-only export has the members at the root
    flat["architectures"] = {"Gemma4ForCausalLM"};
    const ModelConfig read = parsed(flat);
    QCOMPARE(read.architecture, std::string("Gemma4ForCausalLM"));
    QCOMPARE(read.variant, std::string("E4B"));
    QVERIFY(!read.vision && !read.audio);
    QCOMPARE(read.text.layers.size(), size_t{42});
    QVERIFY(read.warnings.empty());
    for (const auto& tensor : engine::listTensors(read)) {
        QVERIFY(tensor.tower == engine::Tower::Language);
    }
    flat.erase("architectures");
    QCOMPARE(parsed(flat).architecture, std::string("Gemma4ForCausalLM"));
    QVERIFY(hasWarning(parsed(flat), "architectures is missing"));
    // A multimodal config that names the causal class has no towers either.
    json nested = published;
    nested["architectures"] = {"Gemma4ForCausalLM"};
    QVERIFY(!parsed(nested).vision);
    // Media ids that do not fit a small vocabulary are none, not an error.
    flat["vocab_size"] = 1000;
    flat["vocab_size_per_layer_input"] = 1000;
    QCOMPARE(parsed(flat).image_token_id, int64_t{-1});
}

void TestConfig::quantizationBlock_data() {
    QTest::addColumn<QByteArray>("where");
    QTest::newRow("top level") << QByteArray("");
    QTest::newRow("in text_config") << QByteArray("text_config");
}

void TestConfig::quantizationBlock() {
    QFETCH(QByteArray, where);
    const json quantized = support::readJson(support::goldenDir() / "e2b" / "quantized" /
                                             "nf4-dq-checkpoint" / "config.json");
    json config = goldenConfig("e2b");
    QVERIFY(!parsed(config).quantization.has_value());
    json& section = where.isEmpty() ? config : config[where.toStdString()];
    section["quantization_config"] = quantized["quantization_config"];
    section["quantization_config"]["llm_int8_skip_modules"] = {"lm_head", "vision_tower"};
    const auto hint = parsed(config).quantization;
    QVERIFY(hint.has_value());
    QCOMPARE(hint->quant_method, std::string("bitsandbytes"));
    QCOMPARE(hint->quant_type, std::string("nf4"));
    QCOMPARE(hint->compute_dtype, std::string("bfloat16"));
    QVERIFY(hint->load_in_4bit && hint->double_quant && !hint->load_in_8bit);
    QCOMPARE(hint->skip_modules.size(), size_t{2});
}

void TestConfig::generationDefaults() {
    const json config = goldenConfig("e2b");
    const engine::GenerationDefaults none = parsed(config).generation;
    QCOMPARE(none.temperature, 1.0);
    QCOMPARE(none.top_k, int64_t{64});
    QCOMPARE(none.top_p, 0.95);
    QVERIFY(none.do_sample);
    QVERIFY(none.suppress_tokens.empty());
    const engine::GenerationDefaults given =
        parsed(config,
               R"({"temperature":0.7,"top_k":0,"top_p":1,"min_p":0.05,"repetition_penalty":1.1,
            "do_sample":false,"suppress_tokens":[11,8]})")
            .generation;
    QCOMPARE(given.temperature, 0.7);
    QCOMPARE(given.top_k, int64_t{0});
    QCOMPARE(given.top_p, 1.0);
    QCOMPARE(given.min_p, 0.05);
    QCOMPARE(given.repetition_penalty, 1.1);
    QVERIFY(!given.do_sample);
    QCOMPARE(given.suppress_tokens, (std::vector<int64_t>{11, 8}));
}

void TestConfig::oddDefaults_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("taken"); ///< What reads like this: the odd file says the same.
    QTest::addColumn<QByteArray>("note");  ///< Empty: none.
    const auto row = [](const char* text, const char* taken, const char* note) {
        QTest::addRow("%s", text) << QByteArray(text) << QByteArray(taken) << QByteArray(note);
    };
    // Elsewhere these mean "all", "off", or are written by other programs.
    row(R"({"top_k":-1})", R"({"top_k":0})", "");
    row(R"({"top_k":64.0})", R"({"top_k":64})", "");
    row(R"({"top_k":"40"})", R"({"top_k":40})", "");
    row(R"({"temperature":"0.7"})", R"({"temperature":0.7})", "");
    row(R"({"top_p":0})", R"({"top_p":0.0})", "");
    row(R"({"repetition_penalty":0})", R"({"repetition_penalty":1})", "");
    row(R"({"do_sample":"false"})", R"({"do_sample":false})", "");
    row(R"({"do_sample":0})", R"({"do_sample":false})", "");
    row(R"({"eos_token_id":6.0})", R"({"eos_token_id":6})", "");
    row(R"({"temperature":null,"top_k":null,"eos_token_id":null})", "{}", "");
    // What goes too far is taken as the last that does not.
    row(R"({"top_p":1.5})", R"({"top_p":1})", "top_p is out of its range; it is taken as 1");
    row(R"({"temperature":1e6})", R"({"temperature":100})", "temperature is out of its range");
    // What cannot be meant is left out.
    row(R"({"temperature":-0.5})", "{}", "temperature is -0.5, which cannot be used there");
    row(R"({"temperature":"hot"})", "{}", "temperature is \"hot\", which cannot be used there");
    row(R"({"top_k":64.5})", "{}", "top_k is 64.5");
    row(R"({"top_k":-7})", "{}", "top_k is -7");
    row(R"({"top_k":[1]})", "{}", "top_k is [1]");
    row(R"({"min_p":-1})", "{}", "min_p is -1");
    row(R"({"do_sample":"perhaps"})", "{}", "do_sample is \"perhaps\"");
    row(R"({"eos_token_id":[1,6,999999]})", R"({"eos_token_id":[1,6]})", "eos_token_id is 999999");
    row(R"({"eos_token_id":-1})", "{}", "eos_token_id is -1");
    row(R"({"eos_token_id":"</s>"})", "{}", "eos_token_id is \"</s>\"");
    row(R"({"eos_token_id":{"a":1}})", "{}", "eos_token_id is an object");
    row(R"({"suppress_tokens":[8,999999,[9]]})", R"({"suppress_tokens":[8]})",
        "suppress_tokens is 999999");
    row(R"({"stop_strings":"END"})", R"({"stop_strings":["END",""]})", "");
    row(R"({"stop_strings":["a",5]})", R"({"stop_strings":["a"]})", "stop_strings is 5");
    // Nor does a file that is none.
    row("", "{}", "");
    row("[]", "{}", "is a list, expected an object");
    row(R"({"temperature":NaN})", "{}", "not valid JSON");
    row(R"({"top_p":1e999})", "{}", "that no double can hold");
    row("{", "{}", "the usual defaults of such models are used instead");
}

void TestConfig::oddDefaults() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, taken);
    QFETCH(QByteArray, note);
    const json config = goldenConfig("e2b");
    const ModelConfig found = parsed(config, text.toStdString());
    const engine::GenerationDefaults& odd = found.generation;
    const engine::GenerationDefaults plain = parsed(config, taken.toStdString()).generation;
    QCOMPARE(odd.temperature, plain.temperature);
    QCOMPARE(odd.top_k, plain.top_k);
    QCOMPARE(odd.top_p, plain.top_p);
    QCOMPARE(odd.min_p, plain.min_p);
    QCOMPARE(odd.repetition_penalty, plain.repetition_penalty);
    QCOMPARE(odd.do_sample, plain.do_sample);
    QCOMPARE(odd.eos_token_ids, plain.eos_token_ids);
    QCOMPARE(odd.suppress_tokens, plain.suppress_tokens);
    QCOMPARE(odd.stop_strings, plain.stop_strings);
    const size_t usual = parsed(config).warnings.size();
    QCOMPARE(found.warnings.size(), usual + (note.isEmpty() ? 0U : 1U));
    if (!note.isEmpty()) {
        QVERIFY(hasWarning(found, note.toStdString()));
        QVERIFY(hasWarning(found, "generation_config.json: "));
    }
}

void TestConfig::whatIsNotRunIsTold_data() {
    support::addColumns<QByteArray, bool>("text", "is_told");
    const auto row = [](const char* text, bool is_told) {
        QTest::addRow("%s", text) << QByteArray(text) << is_told;
    };
    for (const char* text : {R"({"max_new_tokens":3})",
                             R"({"min_new_tokens":8})",
                             R"({"max_length":2000})",
                             R"({"num_beams":4})",
                             R"({"bad_words_ids":[[7]]})",
                             R"({"no_repeat_ngram_size":3})",
                             R"({"forced_eos_token_id":1})",
                             R"({"forced_bos_token_id":2})",
                             R"({"typical_p":0.9})",
                             R"({"encoder_repetition_penalty":1.2})",
                             R"({"encoder_no_repeat_ngram_size":2})",
                             R"({"penalty_alpha":0.6})",
                             R"({"begin_suppress_tokens":[1]})",
                             R"({"epsilon_cutoff":0.1})",
                             R"({"sequence_bias":[[[1],2.0]]})",
                             R"({"guidance_scale":1.5})",
                             R"({"exponential_decay_length_penalty":[10,1.1]})",
                             R"({"max_time":2.5})",
                             R"({"watermarking_config":{"bias":2}})",
                             R"({"presence_penalty":0.5})"}) {
        row(text, true);
    }
    // transformers' own values, and what does nothing without beams.
    for (const char* text :
         {R"({"max_new_tokens":null,"max_length":20,"num_beams":1})", R"({"typical_p":1.0})",
          R"({"no_repeat_ngram_size":0,"bad_words_ids":null,"penalty_alpha":0.0})",
          R"({"length_penalty":2.0,"early_stopping":true})", R"({"max_length":131072})",
          R"({"guidance_scale":1,"token_healing":false,"constraints":[]})",
          R"({"cache_implementation":"hybrid","use_cache":true,"transformers_version":"5.0"})",
          R"({"stop_strings":["x"]})"}) {
        row(text, false);
    }
}

void TestConfig::whatIsNotRunIsTold() {
    QFETCH(QByteArray, text);
    QFETCH(bool, is_told);
    const ModelConfig found = parsed(goldenConfig("e2b"), text.toStdString());
    QCOMPARE(hasWarning(found, "this is not run here"), is_told);
    const std::string member = json::parse(text.toStdString()).begin().key();
    QCOMPARE(hasWarning(found, "generation_config.json: " + member + " is "), is_told);
}

void TestConfig::processorSpellings() {
    const json config = goldenConfig("e2b");
    QCOMPARE(parsed(config).processor.image_tokens, int64_t{280});
    QCOMPARE(parsed(config).processor.max_audio_tokens, int64_t{750});
    // Older, flat spelling.
    QCOMPARE(parsed(config, "", R"({"max_soft_tokens":560,"patch_size":16,"image_seq_length":280})")
                 .processor.image_tokens,
             int64_t{560});
    const ModelConfig left = parsed(
        config, "", R"({"audio_seq_length":375,"feature_extractor":{"padding_side":"left"}})");
    QCOMPARE(left.processor.max_audio_tokens, int64_t{375});
    QVERIFY(hasWarning(left, "recordings are padded on the right"));
    // A model without an audio tower does not care about sound settings.
    QVERIFY(engine::parseModelConfig(goldenConfig("dense31b").dump(), "",
                                     R"({"feature_extractor":{"sampling_rate":8000}})")
                .has_value());
}

void TestConfig::chatTemplateDecides_data() {
    support::addColumns<QByteArray, QByteArray, bool, bool>("model", "text", "is_large",
                                                            "has_warning");
    const QByteArray small = "{{ '<|turn>model\\n' }}{%- if x %}<|channel>thought\\n{%- endif %}";
    const QByteArray large = "{{ '<|turn>model\\n' }}{{ '<|channel>thought\\n<channel|>' }}";
    const QByteArray large_literal = "<|turn>model\n<|channel>thought\n<channel|>";
    QTest::newRow("small sizes, no template")
        << QByteArray("e2b") << QByteArray() << false << false;
    QTest::newRow("small sizes, small template") << QByteArray("e2b") << small << false << false;
    QTest::newRow("small sizes, large template") << QByteArray("e2b") << large << true << false;
    QTest::newRow("large sizes, no template")
        << QByteArray("dense31b") << QByteArray() << true << false;
    QTest::newRow("large sizes, large template, literal line break")
        << QByteArray("dense31b") << large_literal << true << false;
    QTest::newRow("large sizes, small template")
        << QByteArray("dense31b") << small << false << false;
    QTest::newRow("another family's template")
        << QByteArray("dense31b") << QByteArray("<start_of_turn>user") << true << true;
}

void TestConfig::chatTemplateDecides() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, text);
    QFETCH(bool, is_large);
    QFETCH(bool, has_warning);
    QTemporaryDir root;
    const fs::path folder = root.path().toStdString();
    writeText(folder / "config.json", goldenConfig(model.constData()).dump());
    if (!text.isEmpty()) {
        writeText(folder / "chat_template.jinja", text.toStdString());
    }
    const auto config = engine::readModelConfig(folder);
    QVERIFY2(config.has_value(), config ? "" : config.error().message.c_str());
    QCOMPARE(config->is_large_template, is_large);
    QCOMPARE(!config->warnings.empty(), has_warning);
}

/// Templates come in four files and two forms; the first in transformers' order counts.
void TestConfig::storedTemplates_data() {
    QTest::addColumn<QByteArrayList>("files"); // name, text, ...
    QTest::addColumn<bool>("is_large");
    QTest::addColumn<QByteArrayList>("notes"); // fragments, one a note
    const QByteArray chatml = "{{'<|im_start|>' + m['role'] + '<|im_end|>'}}";
    const QByteArray large = "<|turn>model\\n<|channel>thought\\n<channel|>";
    const auto member = [](const QByteArray& text) {
        return QByteArray::fromStdString(json{{"chat_template", text.toStdString()}}.dump());
    };
    const auto row = [](const char* title, const QByteArrayList& files, bool is_large,
                        const QByteArrayList& notes) {
        QTest::newRow(title) << files << is_large << notes;
    };
    const QByteArray unlike = ": does not look like a Gemma 4 template";
    row("none", {}, false, {});
    row("tokenizer_config.json", {"tokenizer_config.json", member(chatml)}, false,
        {"tokenizer_config.json" + unlike});
    row("its marks are named", {"tokenizer_config.json", member(chatml)}, false,
        {"the template writes <|im_start|>, <|im_end|>"});
    row("chat_template.json", {"chat_template.json", member(chatml)}, false,
        {"chat_template.json" + unlike});
    row("processor_config.json", {"processor_config.json", member(chatml)}, false,
        {"processor_config.json" + unlike});
    row("Gemma 3's turns", {"tokenizer_config.json", member("{{'<start_of_turn>' + x}}")}, false,
        {"the template writes <start_of_turn>"});
    row("Mistral's", {"tokenizer_config.json", member("{{ '[INST] ' + x + ' [/INST]' }}")}, false,
        {"the template writes [INST], [/INST]"});
    row("Gemma 4's own, large", {"tokenizer_config.json", member(large)}, true, {});
    row("the jinja file counts",
        {"chat_template.jinja", large, "tokenizer_config.json", member(chatml)}, true, {});
    row("the jinja file counts, the other way round",
        {"chat_template.jinja", chatml, "tokenizer_config.json", member(large)}, false,
        {"chat_template.jinja" + unlike});
    row("several by name",
        {"tokenizer_config.json",
         R"({"chat_template":[{"name":"tool_use","template":"x"},{"name":"default","template":")" +
             large + R"("}]})"},
        true, {"tokenizer_config.json (tool_use): a further chat template"});
    row("a folder of them",
        {"chat_template.jinja", large, "additional_chat_templates/rag.jinja", "x",
         "additional_chat_templates/notes.txt", "x"},
        true, {"additional_chat_templates/rag.jinja: a further chat template"});
    row("no template in it", {"tokenizer_config.json", R"({"chat_template":null})"}, false, {});
    row("not JSON", {"tokenizer_config.json", R"({"chat_template":)"}, false,
        {"its chat template is not known"});
}

/// Google's earlier ones are known by their bytes, of which there is no copy here.
void TestConfig::oldTemplates() {
    using engine::oldTemplateDate;
    QCOMPARE(oldTemplateDate("85a08664d16d8f3be4416c92427b3ac10df1024ac566cc0b4bc3bab409393f98"),
             std::string_view("2026-04-10"));
    QCOMPARE(oldTemplateDate("33204f1acb5bd0002713e16a593847f24ceeafe711ed88bda2a352dc996a3373"),
             std::string_view("2026-04-28"));
    QVERIFY(oldTemplateDate("0a2c8073c878ab1da004bee933a998606537bbb62016310352c7285c3f01c5b5")
                .empty()); // the newest
    const std::string note =
        engine::inEnglish(engine::oldTemplateNote("chat_template.jinja", "2026-04-10"));
    QVERIFY(note.starts_with("chat_template.jinja: its chat template is Google's of 2026-04-10"));
    QVERIFY(note.find(engine::newestTemplateDate()) != std::string::npos);
}

void TestConfig::storedTemplates() {
    QFETCH(QByteArrayList, files);
    QFETCH(bool, is_large);
    QFETCH(QByteArrayList, notes);
    QTemporaryDir root;
    const fs::path folder = root.path().toStdString();
    writeText(folder / "config.json", goldenConfig("e2b").dump());
    for (qsizetype i = 0; i + 1 < files.size(); i += 2) {
        const fs::path file = folder / files[i].toStdString();
        fs::create_directories(file.parent_path());
        writeText(file, files[i + 1].toStdString());
    }
    const auto config = engine::readModelConfig(folder);
    QVERIFY2(config.has_value(), config ? "" : config.error().message.c_str());
    QCOMPARE(config->is_large_template, is_large);
    QCOMPARE(config->warnings.size(), static_cast<size_t>(notes.size()));
    for (qsizetype i = 0; i < notes.size(); ++i) {
        const std::string warning = engine::inEnglish(config->warnings[static_cast<size_t>(i)]);
        QVERIFY2(warning.find(notes[i].toStdString()) != std::string::npos, warning.c_str());
    }
}

void TestConfig::embedders() {
    json config = goldenConfig("unified12b");
    const ModelConfig read = parsed(config, {}, R"({"audio_seq_length": 9})");
    QVERIFY(!read.vision->has_tower);
    QCOMPARE(read.vision->patch_size, int64_t{48});
    QCOMPARE(read.vision->pooling_kernel, int64_t{1});
    QCOMPARE(read.vision->hidden_size, int64_t{16});
    QCOMPARE(read.vision->position_table_size, int64_t{80});
    QCOMPARE(read.vision->num_layers, int64_t{0});
    QVERIFY(!read.audio->has_tower);
    QCOMPARE(read.audio->output_size, int64_t{640});
    QCOMPARE(read.text.ple_size, int64_t{0}); // without the key
    QCOMPARE(read.processor.max_audio_tokens, int64_t{750});
    QVERIFY(read.is_large_template);
    // Either may be missing: then what it takes is refused.
    config["vision_config"] = nullptr;
    QVERIFY(!parsed(config).vision && parsed(config).audio);
    config["audio_config"] = nullptr;
    QVERIFY(!parsed(config).audio);
    // Text alone.
    json text = config["text_config"];
    text["architectures"] = {"Gemma4UnifiedForCausalLM"};
    QCOMPARE(parsed(text).text.layers.size(), size_t{4});
}

void TestConfig::whatEmbeddersAreNot_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("where", "value", "words");
    const auto row = [](const char* where, const char* value, const char* words) {
        QTest::addRow("%s %s", where, value)
            << QByteArray(where) << QByteArray(value) << QByteArray(words);
    };
    row("/vision_config/output_proj_dims", "32", "output_proj_dims is 32; only 16");
    row("/vision_config/model_patch_size", "32", "model_patch_size is 32; only 48");
    row("/vision_config/mm_embed_dim", "null", "mm_embed_dim is missing");
    row("/vision_config/model_type", "\"gemma4_vision\"", "only gemma4_unified_vision");
    row("/audio_config/audio_embed_dim", "320", "audio_embed_dim is 320; only 640");
    row("/text_config/model_type", "\"gemma4_text\"", "only gemma4_unified_text");
    row("/text_config/hidden_size_per_layer_input", "256", "hidden_size_per_layer_input is 256");
    row("/text_config/use_bidirectional_attention", "\"all\"", "use_bidirectional_attention");
    row("/architectures", "[\"Gemma4ForConditionalGeneration\"]",
        "Gemma4UnifiedForConditionalGeneration and Gemma4UnifiedForCausalLM are implemented");
}

void TestConfig::whatEmbeddersAreNot() {
    QFETCH(QByteArray, where);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, words);
    json config = goldenConfig("unified12b");
    config[json::json_pointer(where.toStdString())] = json::parse(value.toStdString());
    const auto read = engine::parseModelConfig(config.dump(), "", "");
    QVERIFY(!read.has_value());
    QVERIFY2(read.error().message.find(words.toStdString()) != std::string::npos,
             read.error().message.c_str());
    // The processor's members too must fit the embedders.
    const auto processor = [](const char* text) {
        return engine::parseModelConfig(goldenConfig("unified12b").dump(), "", text).has_value();
    };
    QVERIFY(processor(R"({"image_processor": {"patch_size": 24, "pooling_kernel_size": 2}})"));
    QVERIFY(!processor(R"({"image_processor": {"patch_size": 16, "pooling_kernel_size": 2}})"));
    QVERIFY(!processor(R"({"feature_extractor": {"audio_samples_per_token": 320}})"));
}

void TestConfig::folderReading() {
    QTemporaryDir root;
    const fs::path folder = root.path().toStdString();
    QVERIFY(!engine::readModelConfig(folder).has_value());
    QVERIFY(!engine::readModelConfig(folder / "none").has_value());
    writeText(folder / "config.json", goldenConfig("e2b").dump());
    QCOMPARE(engine::readModelConfig(folder)->processor.image_tokens, int64_t{280});
    // The older pair: settings in preprocessor_config.json, lengths in processor_config.json.
    writeText(folder / "preprocessor_config.json",
              R"({"max_soft_tokens":140,"patch_size":16,"sampling_rate":16000,"feature_size":64})");
    writeText(folder / "processor_config.json", R"({"audio_seq_length":100})");
    const auto older = engine::readModelConfig(folder);
    QVERIFY2(older.has_value(), older ? "" : older.error().message.c_str());
    QCOMPARE(older->processor.image_tokens, int64_t{140});
    QCOMPARE(older->processor.max_audio_tokens, int64_t{100});
    QCOMPARE(older->audio->mel_bins, int64_t{64});
    // With both complete the newer file counts.
    writeText(folder / "processor_config.json", R"({"image_processor":{"max_soft_tokens":1120}})");
    QCOMPARE(engine::readModelConfig(folder)->processor.image_tokens, int64_t{1120});
}

void TestConfig::limitsAreAccepted() {
    json config = goldenConfig("e2b");
    json& text = config["text_config"];
    text["sliding_window"] = 1 << 27;
    text["max_position_embeddings"] = 1 << 27;
    text["vocab_size"] = 1 << 24;
    text["vocab_size_per_layer_input"] = 1 << 24;
    QCOMPARE(parsed(config).text.vocab_size, int64_t{1} << 24);
    config = goldenConfig("e2b");
    config["text_config"]["num_kv_shared_layers"] = 5; // layer 4 owns the full layers' keys
    QCOMPARE(parsed(config).text.layers[9].kv_source, 4);
}

void TestConfig::sumsOfSizesAreBounded() {
    json config = goldenConfig("dense31b");
    json& text = config["text_config"];
    text["hidden_size"] = 65536;
    text["intermediate_size"] = 1 << 20;
    text["num_hidden_layers"] = 1024;
    text.erase("layer_types");
    text.erase("per_layer_config");
    const auto huge = engine::parseModelConfig(config.dump(), "", "");
    QVERIFY(!huge.has_value());
    QVERIFY2(huge.error().message.find("more than 2^44 parameters") != std::string::npos,
             huge.error().message.c_str());
    config = goldenConfig("e2b");
    config["text_config"]["hidden_size_per_layer_input"] = 65536;
    config["text_config"]["num_hidden_layers"] = 1024;
    config["text_config"]["num_kv_shared_layers"] = 0;
    config["text_config"].erase("layer_types");
    QVERIFY(parsed(config).text.ple_size == 65536); // 2^26 columns of 1024 rows
    config["text_config"]["vocab_size"] = 1 << 24;
    config["text_config"]["vocab_size_per_layer_input"] = 1 << 24;
    QVERIFY(!engine::parseModelConfig(config.dump(), "", "").has_value());
}

/// 20000 configurations with one or two members replaced by hostile values: an answer every time,
/// and whatever is accepted lists tensors whose sizes add up without overflow.
void TestConfig::randomNumbersNeverBreakIt() {
    const json sound[2] = {goldenConfig("e2b"), goldenConfig("moe26b")};
    const json values = json::parse(
        R"([0, 1, -1, 2, 3, 7, 64, 65535, 65536, 65537, 2147483647, 2147483648, -2147483648,
            4294967296, 9223372036854775807, 18446744073709551615, -9223372036854775808, 1e308,
            -1e308, 0.5, 1e-300, null, true, false, "", "64", [], {}, [1, 2], {"0": {}}, [[]]])");
    std::vector<json::json_pointer> places[2];
    for (int i = 0; i < 2; ++i) {
        const json flat = sound[i].flatten();
        for (const auto& [pointer, value] : flat.items()) {
            places[i].emplace_back(pointer);
        }
    }
    std::mt19937 random(7);
    int num_accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
        const size_t which = random() % 2;
        json config = sound[which];
        for (uint32_t i = 0; i <= random() % 2; ++i) {
            const auto& place = places[which][random() % places[which].size()];
            try {
                config.at(place) = values[random() % values.size()];
            } catch (const json::exception&) { // the other change removed the place
            }
        }
        const auto read = engine::parseModelConfig(config.dump(), "", "");
        if (!read) {
            QVERIFY(!read.error().message.empty());
            continue;
        }
        ++num_accepted;
        int64_t total = 0;
        for (const auto& tensor : engine::listTensors(*read)) {
            const int64_t elements = tensor.numElements();
            QVERIFY(elements > 0 && elements <= (int64_t{1} << 44) - total);
            total += elements;
        }
    }
    QVERIFY(num_accepted > 1000 && num_accepted < 19'000);
}

TEST_CLASS(TestConfig)
#include "tst_config.moc"
