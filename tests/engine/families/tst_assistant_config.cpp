// SPDX-License-Identifier: Apache-2.0
// Drafting assistants: the published sizes are read, list their tensors and know whose keys they
// read; assistants of other models and other kinds of models are refused with both sizes named.
#include "engine/base/sentence_english.h"
#include "engine/families/config.h"
#include "engine/families/gemma4/assistant.h"
#include "engine/families/gemma4/published_shapes.h"
#include "engine/families/tensor_list.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cstring>

namespace {

engine::ModelConfig modelOf(const std::string& size) {
    return engine::parseModelConfig(engine::publishedConfigJson(size),
                                    engine::publishedGenerationJson(),
                                    engine::publishedProcessorJson())
        .value();
}

/// Tensors in memory, for one that tells the order of a vocabulary.
class OneTensor final : public engine::TensorSource {
public:
    explicit OneTensor(std::vector<int64_t> values) : values_(std::move(values)) {
        engine::TensorInfo info;
        info.name = "masked_embedding.token_ordering";
        info.type = engine::TensorType::I64;
        info.shape = {static_cast<int64_t>(values_.size())};
        info.size_bytes = values_.size() * 8;
        infos_.push_back(info);
    }
    const std::vector<engine::TensorInfo>& tensors() const override { return infos_; }
    const engine::TensorInfo* find(std::string_view name) const override {
        return infos_[0].name == name ? infos_.data() : nullptr;
    }
    const std::vector<std::string>& fileNames() const override { return names_; }
    engine::Result<void> read(const engine::TensorInfo& /*tensor*/,
                              uint64_t offset,
                              std::span<std::byte> out) const override {
        std::memcpy(out.data(), reinterpret_cast<const std::byte*>(values_.data()) + offset,
                    out.size());
        return {};
    }

private:
    std::vector<int64_t> values_;
    std::vector<engine::TensorInfo> infos_;
    std::vector<std::string> names_ = {"model.safetensors"};
};

} // namespace

class TestAssistantConfig : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void readsPublishedSizes_data();
    void readsPublishedSizes();
    void oddDefaultsStopNoLoad();
    void refuses_data();
    void refuses();
    void namesTensors();
    void readsTheOrder();
};

void TestAssistantConfig::readsPublishedSizes_data() {
    QTest::addColumn<QString>("size");
    QTest::addColumn<int>("sliding");
    QTest::addColumn<int>("full");
    QTest::addColumn<qint64>("parameters"); ///< Published, in units of 0.1 million.
    QTest::newRow("E2B") << "E2B" << 13 << 14 << qint64{777};
    QTest::newRow("E4B") << "E4B" << 22 << 23 << qint64{785};
    QTest::newRow("12B") << "12B" << 46 << 47 << qint64{4229};
    QTest::newRow("26B") << "26B-A4B" << 28 << 29 << qint64{4197};
    QTest::newRow("31B") << "31B" << 58 << 59 << qint64{4695};
}

void TestAssistantConfig::readsPublishedSizes() {
    QFETCH(QString, size);
    QFETCH(int, sliding);
    QFETCH(int, full);
    QFETCH(qint64, parameters);
    engine::ModelConfig model = modelOf(size.toStdString());
    const auto assistant = engine::parseAssistantConfig(
        engine::publishedAssistantJson(size.toStdString()), "{\"num_assistant_tokens\": 5}", model);
    VERIFY_VALUE(assistant);
    QCOMPARE(assistant->num_draft_tokens, int64_t{5});
    QCOMPARE(assistant->text.layers.size(), size_t{4});
    QCOMPARE(assistant->text.layers[0].kv_source, sliding);
    QCOMPARE(assistant->text.layers[2].kv_source, sliding);
    QCOMPARE(assistant->text.layers[3].kv_source, full);
    QCOMPARE(assistant->num_centroids > 0, size == "E2B" || size == "E4B");
    const size_t before = engine::listTensors(model).size();
    model.assistant = *assistant;
    int64_t count = 0;
    const auto tensors = engine::listTensors(model);
    for (const engine::ExpectedTensor& tensor : tensors) {
        if (tensor.part.role == engine::PartRole::Assistant) {
            QVERIFY(tensor.name.starts_with("assistant."));
            count += tensor.numElements();
        }
    }
    QVERIFY(tensors.size() > before);
    QCOMPARE((count + 50000) / 100000, parameters);
}

void TestAssistantConfig::oddDefaultsStopNoLoad() {
    const engine::ModelConfig model = modelOf("E2B");
    const auto read = [&](const std::string& defaults) {
        return engine::parseAssistantConfig(engine::publishedAssistantJson("E2B"), defaults, model);
    };
    const auto many = read(R"({"num_assistant_tokens":100,"suppress_tokens":[5,99999999]})");
    VERIFY_VALUE(many);
    QCOMPARE(many->num_draft_tokens, int64_t{64});
    QCOMPARE(many->suppress_tokens, std::vector<int64_t>{5});
    QCOMPARE(many->warnings.size(), size_t{2});
    QCOMPARE(engine::inEnglish(many->warnings[0]),
             std::string("assistant/generation_config.json: num_assistant_tokens is out of its "
                         "range; it is taken as 64"));
    QVERIFY(read("{").has_value());
    QCOMPARE(read("{")->warnings.size(), size_t{1});
}

void TestAssistantConfig::refuses_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("assistant");
    QTest::addColumn<QString>("key"); ///< In config.json, or in text_config behind a dot.
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("words");
    QTest::newRow("of E4B beside E2B")
        << "E2B"
        << "E4B"
        << ""
        << ""
        << "(E2B): its backbone_hidden_size is 2560, the model has 1536";
    QTest::newRow("of 31B beside 26B") << "26B-A4B"
                                       << "31B"
                                       << ""
                                       << ""
                                       << "does not belong";
    QTest::newRow("of 12B beside 26B") << "26B-A4B"
                                       << "12B"
                                       << ""
                                       << ""
                                       << "does not belong";
    QTest::newRow("a model") << "E2B"
                             << "E2B"
                             << "model_type"
                             << "\"gemma4\""
                             << "not a drafting assistant";
    QTest::newRow("other vocabulary") << "E2B"
                                      << "E2B"
                                      << ".vocab_size"
                                      << "131072"
                                      << "vocab_size is 131072, the model has 262144";
    QTest::newRow("other window") << "E2B"
                                  << "E2B"
                                  << ".sliding_window"
                                  << "256"
                                  << "sliding_window is 256, the model has 512";
    QTest::newRow("other heads") << "E2B"
                                 << "E2B"
                                 << ".head_dim"
                                 << "128"
                                 << "layer 0's head_dim is 128, the model has 256";
    QTest::newRow("other key heads") << "E2B"
                                     << "E2B"
                                     << ".num_key_value_heads"
                                     << "2"
                                     << "number of key/value heads is 2, the model has 1";
    QTest::newRow("MLPs of two widths") << "E2B"
                                        << "E2B"
                                        << ".use_double_wide_mlp"
                                        << "true"
                                        << "assistants have plain layers";
    QTest::newRow("groups that do not divide") << "E2B"
                                               << "E2B"
                                               << "num_centroids"
                                               << "2047"
                                               << "does not divide the vocabulary";
}

void TestAssistantConfig::refuses() {
    QFETCH(QString, model);
    QFETCH(QString, assistant);
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, words);
    auto json = nlohmann::json::parse(engine::publishedAssistantJson(assistant.toStdString()));
    if (key.startsWith('.')) {
        json["text_config"][key.mid(1).toStdString()] = nlohmann::json::parse(value.toStdString());
    } else if (!key.isEmpty()) {
        json[key.toStdString()] = nlohmann::json::parse(value.toStdString());
    }
    const auto read = engine::parseAssistantConfig(json.dump(), "", modelOf(model.toStdString()));
    QVERIFY(!read.has_value());
    QVERIFY2(QString::fromStdString(read.error().message).contains(words),
             read.error().message.c_str());
}

void TestAssistantConfig::namesTensors() {
    QCOMPARE(engine::assistantTensorName("model.layers.0.self_attn.q_proj.weight"),
             std::optional<std::string>("assistant.layers.0.self_attn.q_proj.weight"));
    QCOMPARE(engine::assistantTensorName("pre_projection.weight"),
             std::optional<std::string>("assistant.pre_projection.weight"));
    QVERIFY(!engine::assistantTensorName("masked_embedding.token_ordering").has_value());
    QVERIFY(!engine::assistantTensorName("lm_head.weight").has_value());
}

void TestAssistantConfig::readsTheOrder() {
    engine::AssistantConfig assistant;
    assistant.text.vocab_size = 6;
    assistant.num_centroids = 3;
    QVERIFY(engine::readTokenOrdering(OneTensor({5, 0, 3, 1, 4, 2}), assistant).has_value());
    QCOMPARE(*assistant.token_ordering, std::vector<int32_t>({5, 0, 3, 1, 4, 2}));
    const std::pair<std::vector<int64_t>, const char*> bad[] = {
        {{5, 0, 3, 1, 4}, "another type or shape"},
        {{5, 0, 3, 1, 4, 5}, "stands there twice"},
        {{5, 0, 3, 1, 4, 6}, "entry 5 is 6"},
        {{-1, 0, 3, 1, 4, 5}, "entry 0 is -1"},
    };
    for (const auto& [values, words] : bad) {
        const auto read = engine::readTokenOrdering(OneTensor(values), assistant);
        QVERIFY(!read.has_value());
        QVERIFY2(read.error().message.find(words) != std::string::npos,
                 read.error().message.c_str());
    }
}

TEST_CLASS(TestAssistantConfig)
#include "tst_assistant_config.moc"
