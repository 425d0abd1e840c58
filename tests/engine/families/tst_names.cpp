// SPDX-License-Identifier: Apache-2.0
// Names and parts of Gemma 4 against each other: whatever the list of tensors holds, its name leads
// to its part and the part to its block's name, also for the head, which no list holds.
#include "engine/families/config.h"
#include "engine/families/gemma4/names.h"
#include "engine/families/tensor_list.h"
#include "tests/support/program/test_class.h"
#include "tests/support/published_configs.h"

#include <QTest>

#include <map>

using engine::Part;
using engine::PartRole;
using engine::TensorUse;

class TestNames : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void listedTensors_data();
    void listedTensors();
    void usesOfOneLayer();
    void otherNames_data();
    void otherNames();
    void uses_data();
    void uses();
    void spellings();
};

void TestNames::listedTensors_data() {
    QTest::addColumn<QByteArray>("size");
    for (const char* size : {"E2B", "E4B", "12B", "31B", "26B-A4B"}) {
        QTest::newRow(size) << QByteArray(size);
    }
}

void TestNames::listedTensors() {
    QFETCH(QByteArray, size);
    const auto config = engine::parseModelConfig(support::publishedConfigJson(size.constData()),
                                                 support::publishedGenerationJson(),
                                                 support::publishedProcessorJson());
    QVERIFY(config.has_value());
    auto tensors = engine::listTensors(*config);
    tensors.push_back(engine::headTensor(*config));
    int roles = 0;
    for (const engine::ExpectedTensor& tensor : tensors) {
        const char* name = tensor.name.c_str();
        QVERIFY2(tensor.part.role != PartRole::Other, name);
        QVERIFY2(engine::partOfName(tensor.name) == tensor.part, name);
        QVERIFY2(engine::partOfName(tensor.module) == tensor.part, name);
        QCOMPARE(engine::partName(tensor.part), tensor.module);
        QCOMPARE(tensor.module + "." + std::string(engine::nameWithinPart(tensor.name)),
                 tensor.name);
        QVERIFY2(engine::tensorUseOfName(tensor.name) == tensor.use, name);
        const bool is_media = tensor.tower != engine::Tower::Language;
        QCOMPARE(engine::isMedia(tensor.part), is_media);
        QCOMPARE(engine::isDecoderName(tensor.name), !is_media);
        QCOMPARE(engine::isVision(tensor.part), tensor.tower == engine::Tower::Vision);
        if (!is_media) {
            QCOMPARE(tensor.part.layer, tensor.layer);
        }
        roles |= 1 << static_cast<int>(tensor.part.role);
    }
    const bool has_rows = config->text.ple_size > 0;
    for (int role = 2; role <= static_cast<int>(PartRole::AudioProjector); ++role) {
        const auto asked = static_cast<PartRole>(role);
        const bool is_per_layer = asked == PartRole::PerLayerTable ||
                                  asked == PartRole::PerLayerProjection ||
                                  asked == PartRole::PerLayerNorm;
        const bool is_there = asked == PartRole::VisionTower  ? config->hasVisionTower()
                              : asked == PartRole::AudioTower ? config->hasAudioTower()
                              : engine::isAudio({asked})      ? config->audio.has_value()
                              : is_per_layer                  ? has_rows
                                                              : true;
        QCOMPARE((roles >> role & 1) == 1, is_there);
    }
}

void TestNames::usesOfOneLayer() {
    const auto config = engine::parseModelConfig(support::publishedConfigJson("E2B"),
                                                 support::publishedGenerationJson(),
                                                 support::publishedProcessorJson());
    QVERIFY(config.has_value());
    std::map<TensorUse, int> counts;
    for (const engine::ExpectedTensor& tensor : engine::listTensors(*config)) {
        if (tensor.part == engine::layerPart(3)) {
            ++counts[tensor.use];
        }
    }
    counts.erase(TensorUse::Other);
    const std::map<TensorUse, int> wanted = {{TensorUse::Query, 1},
                                             {TensorUse::Key, 1},
                                             {TensorUse::Value, 1},
                                             {TensorUse::KeyNorm, 1},
                                             {TensorUse::MlpDown, 1}};
    QVERIFY(counts == wanted);
}

void TestNames::otherNames_data() {
    support::addColumns<QByteArray, int, int, bool>("name", "role", "layer", "is_decoder");
    const auto row = [](const char* name, PartRole role, int layer, bool is_decoder) {
        QTest::newRow(*name == '\0' ? "nothing" : name)
            << QByteArray(name) << static_cast<int>(role) << layer << is_decoder;
    };
    row("", PartRole::Other, -1, false);
    row("model", PartRole::Other, -1, false);
    row("model.language_model", PartRole::Other, -1, true);
    row("model.language_model.layers", PartRole::Other, -1, true);
    row("model.language_model.layers.7", PartRole::Layer, 7, true);
    row("model.language_model.layers.70.mlp", PartRole::Layer, 70, true);
    row("model.language_model.layers.7b", PartRole::Other, -1, true);
    row("model.language_model.layers.-1", PartRole::Other, -1, true);
    row("model.language_model.layers.[3-7]", PartRole::Other, -1, true);
    row("model.language_model.layers.99999999999", PartRole::Other, -1, true);
    row("model.language_model.norm2", PartRole::Other, -1, true);
    row("model.language_modelx", PartRole::Other, -1, false);
    row("model.vision_tower.encoder.layers.3", PartRole::VisionTower, -1, false);
    row("model.vision_towers", PartRole::Other, -1, false);
    row("model.embed_audio.x", PartRole::AudioProjector, -1, false);
    row("lm_head", PartRole::Head, -1, true);
    row("lm_head.weight", PartRole::Head, -1, true);
    row("language_model.lm_head", PartRole::Other, -1, false);
}

void TestNames::otherNames() {
    QFETCH(QByteArray, name);
    QFETCH(int, role);
    QFETCH(int, layer);
    QFETCH(bool, is_decoder);
    const Part part = engine::partOfName(name.toStdString());
    QCOMPARE(static_cast<int>(part.role), role);
    QCOMPARE(part.layer, layer);
    QCOMPARE(engine::isDecoderName(name.toStdString()), is_decoder);
}

void TestNames::uses_data() {
    support::addColumns<QByteArray, int>("name", "use");
    const auto row = [](const char* name, TensorUse use) {
        QTest::newRow(name) << QByteArray(name) << static_cast<int>(use);
    };
    row("model.language_model.layers.0.self_attn.q_proj.weight", TensorUse::Query);
    row("model.language_model.layers.0.self_attn.q_proj", TensorUse::Query);
    row("model.language_model.layers.0.self_attn.v_norm", TensorUse::ValueNorm);
    row("model.language_model.layers.0.self_attn", TensorUse::Other);
    row("model.language_model.layers.0", TensorUse::Other);
    row("model.vision_tower.encoder.layers.0.self_attn.q_proj.linear.weight", TensorUse::Other);
    row("model.audio_tower.output_proj.bias", TensorUse::AudioOutput);
    row("model.audio_tower.output_proj.weight", TensorUse::AudioOutput);
    row("model.audio_tower.output_proj.scale", TensorUse::Other);
}

void TestNames::uses() {
    QFETCH(QByteArray, name);
    QFETCH(int, use);
    QCOMPARE(static_cast<int>(engine::tensorUseOfName(name.toStdString())), use);
}

void TestNames::spellings() {
    QCOMPARE(engine::partName({}), std::string());
    QCOMPARE(engine::shortPartName({PartRole::Embedding}), std::string("embed_tokens"));
    QCOMPARE(engine::shortPartName({PartRole::Head}), std::string("lm_head"));
    QCOMPARE(engine::partTensorName({PartRole::Head}), std::string(engine::kHeadName));
    QCOMPARE(engine::partTensorName({PartRole::Embedding}), std::string(engine::kTokenTableName));
    QCOMPARE(engine::layerRangeName(3, 7), std::string("model.language_model.layers.[3-7]"));
    QCOMPARE(engine::layerRangeName(3, 3), std::string("model.language_model.layers.3"));
}

TEST_CLASS(TestNames)
#include "tst_names.moc"
