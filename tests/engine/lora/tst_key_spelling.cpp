// SPDX-License-Identifier: Apache-2.0
// Keys of adapter files in every spelling, and module paths there and back.
#include "engine/lora/key_spelling.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using namespace engine;

class TestKeySpelling : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void parses_data();
    void parses();
    void namesNoModule_data();
    void namesNoModule();
    void spellsBack_data();
    void spellsBack();
};

void TestKeySpelling::parses_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, int, int>("key", "spelled", "canonical",
                                                                      "leaf", "layout");
    const auto row = [](const char* title, const char* key, const char* spelled,
                        const char* canonical, AdapterLeaf leaf, KeyLayout layout) {
        QTest::newRow(title) << QByteArray(key) << QByteArray(spelled) << QByteArray(canonical)
                             << static_cast<int>(leaf) << static_cast<int>(layout);
    };
    constexpr const char* kQ = "model.language_model.layers.3.self_attn.q_proj";
    constexpr const char* kTower = "model.vision_tower.encoder.layers.0.mlp.up_proj.linear";
    constexpr auto kA = AdapterLeaf::LoraA;
    constexpr auto kB = AdapterLeaf::LoraB;
    constexpr auto kConditional = KeyLayout::Conditional;
    row("peft on the conditional class",
        "base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_A.weight", kQ, kQ, kA,
        kConditional);
    row("without peft prefix", "model.language_model.layers.3.self_attn.q_proj.lora_B.weight", kQ,
        kQ, kB, kConditional);
    row("text-only", "base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight",
        "model.layers.3.self_attn.q_proj", kQ, kA, KeyLayout::TextOnly);
    row("old wrapper",
        "base_model.model.language_model.model.layers.3.self_attn.q_proj.lora_A.weight",
        "language_model.model.layers.3.self_attn.q_proj", kQ, kA, KeyLayout::OldWrapper);
    row("inner model", "base_model.model.language_model.layers.3.self_attn.q_proj.lora_A.weight",
        "language_model.layers.3.self_attn.q_proj", kQ, kA, KeyLayout::InnerModel);
    row("text model alone", "base_model.model.layers.3.self_attn.q_proj.lora_A.weight",
        "layers.3.self_attn.q_proj", kQ, kA, KeyLayout::BareText);
    row("old head", "base_model.model.language_model.lm_head.lora_A.weight",
        "language_model.lm_head", "lm_head", kA, KeyLayout::OldWrapper);
    row("head", "base_model.model.lm_head.lora_B.weight", "lm_head", "lm_head", kB,
        KeyLayout::Shared);
    row("tower, inner",
        "base_model.model.model.vision_tower.encoder.layers.0.mlp.up_proj.linear.lora_A.weight",
        kTower, kTower, kA, kConditional);
    row("tower, outer",
        "base_model.model.model.vision_tower.encoder.layers.0.mlp.up_proj.lora_A.weight",
        "model.vision_tower.encoder.layers.0.mlp.up_proj",
        "model.vision_tower.encoder.layers.0.mlp.up_proj", kA, kConditional);
    row("tower, old",
        "base_model.model.vision_tower.encoder.layers.0.mlp.up_proj.linear.lora_A.weight",
        "vision_tower.encoder.layers.0.mlp.up_proj.linear", kTower, kA, KeyLayout::BareTower);
    row("projector, old", "base_model.model.embed_audio.embedding_projection.lora_A.weight",
        "embed_audio.embedding_projection", "model.embed_audio.embedding_projection", kA,
        KeyLayout::BareTower);
    row("adapter name inside",
        "base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_A.default.weight", kQ,
        kQ, kA, kConditional);
    row("adapter name with dots",
        "base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_A.my.v1.2.weight", kQ,
        kQ, kA, kConditional);
    row("compiled",
        "base_model.model._orig_mod.model.language_model.layers.3.self_attn.q_proj.lora_A.weight",
        kQ, kQ, kA, kConditional);
    row("compiled outside",
        "_orig_mod.base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_A.weight",
        kQ, kQ, kA, kConditional);
    row("sharded",
        "base_model.model.model.language_model.layers.3._fsdp_wrapped_module.self_attn.q_proj.lora_"
        "A.weight",
        kQ, kQ, kA, kConditional);
    row("activation checkpointing",
        "base_model.model.model.language_model.layers.3._checkpoint_wrapped_module.self_attn.q_"
        "proj.lora_A.weight",
        kQ, kQ, kA, kConditional);
    row("three wrappers at once",
        "_forward_module.module.base_model.model._orig_mod.model.language_model.layers.3._fsdp_"
        "wrapped_module._checkpoint_wrapped_module.self_attn.q_proj.lora_A.weight",
        kQ, kQ, kA, kConditional);
    row("wrapped by PEFT twice",
        "base_model.model.base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_A."
        "weight",
        kQ, kQ, kA, kConditional);
    row("data parallel",
        "module.base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_A.weight", kQ,
        kQ, kA, kConditional);
    row("bias of B", "base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_B.bias",
        kQ, kQ, AdapterLeaf::LoraBBias, kConditional);
    row("magnitude",
        "base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_magnitude_vector", kQ,
        kQ, AdapterLeaf::Magnitude, kConditional);
    row("magnitude with weight",
        "base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_magnitude_vector."
        "weight",
        kQ, kQ, AdapterLeaf::Magnitude, kConditional);
    row("magnitude with name and weight",
        "base_model.model.model.language_model.layers.3.self_attn.q_proj.lora_magnitude_vector."
        "default.weight",
        kQ, kQ, AdapterLeaf::Magnitude, kConditional);
    constexpr const char* kEmbed = "model.language_model.embed_tokens";
    row("embedding A", "base_model.model.model.language_model.embed_tokens.lora_embedding_A",
        kEmbed, kEmbed, AdapterLeaf::EmbeddingA, kConditional);
    row("embedding B with name",
        "base_model.model.model.language_model.embed_tokens.lora_embedding_B.default", kEmbed,
        kEmbed, AdapterLeaf::EmbeddingB, kConditional);
    row("tokens", "base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta",
        "model.embed_tokens", kEmbed, AdapterLeaf::TrainableTokens, KeyLayout::TextOnly);
    row("saved table", "base_model.model.model.language_model.embed_tokens.base_layer.weight",
        kEmbed, kEmbed, AdapterLeaf::BaseLayerParameter, kConditional);
    row("saved table under tokens",
        "base_model.model.model.language_model.embed_tokens.token_adapter.base_layer.weight",
        kEmbed, kEmbed, AdapterLeaf::BaseLayerParameter, kConditional);
    row("trained bias", "base_model.model.model.audio_tower.output_proj.base_layer.bias",
        "model.audio_tower.output_proj", "model.audio_tower.output_proj",
        AdapterLeaf::BaseLayerParameter, kConditional);
    row("old trained bias", "base_model.model.model.audio_tower.output_proj.bias",
        "model.audio_tower.output_proj", "model.audio_tower.output_proj", AdapterLeaf::Parameter,
        kConditional);
    row("saved norm", "base_model.model.model.language_model.layers.0.input_layernorm.weight",
        "model.language_model.layers.0.input_layernorm",
        "model.language_model.layers.0.input_layernorm", AdapterLeaf::Parameter, kConditional);
    row("saved module of a raw state",
        "base_model.model.model.language_model.norm.modules_to_save.default.weight",
        "model.language_model.norm", "model.language_model.norm", AdapterLeaf::Parameter,
        kConditional);
    row("saved scalar", "base_model.model.model.layers.0.layer_scalar", "model.layers.0",
        "model.language_model.layers.0", AdapterLeaf::Parameter, KeyLayout::TextOnly);
    row("experts, outer wrapper",
        "base_model.model.model.language_model.layers.0.experts.lora_A.weight",
        "model.language_model.layers.0.experts", "model.language_model.layers.0.experts", kA,
        kConditional);
    row("experts, inner wrapper",
        "base_model.model.model.language_model.layers.0.experts.base_layer.lora_B.weight",
        "model.language_model.layers.0.experts", "model.language_model.layers.0.experts", kB,
        kConditional);
    row("another family", "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight",
        "transformer.h.0.attn.c_attn", "transformer.h.0.attn.c_attn", kA, KeyLayout::Unknown);
}

void TestKeySpelling::parses() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, spelled);
    QFETCH(QByteArray, canonical);
    QFETCH(int, leaf);
    QFETCH(int, layout);
    const auto parsed = parseAdapterKey(key.toStdString());
    QVERIFY(parsed.has_value());
    QCOMPARE(QByteArray::fromStdString(parsed->spelled_module), spelled);
    QCOMPARE(QByteArray::fromStdString(parsed->canonical_module), canonical);
    QCOMPARE(static_cast<int>(parsed->leaf), leaf);
    QCOMPARE(static_cast<int>(parsed->layout), layout);
    QCOMPARE(parsed->base_layer_depth, key.contains(".base_layer.") ? 1 : 0);
}

void TestKeySpelling::namesNoModule_data() {
    QTest::addColumn<QByteArray>("key");
    for (const char* key : {"", "weight", "lora_A.weight", "base_model.model.lora_A.weight", ".",
                            "a..lora_A.weight", ".lora_A.weight", "model.q_proj."}) {
        QTest::newRow(key) << QByteArray(key);
    }
}

void TestKeySpelling::namesNoModule() {
    QFETCH(QByteArray, key);
    QVERIFY(!parseAdapterKey(key.toStdString()).has_value());
}

void TestKeySpelling::spellsBack_data() {
    QTest::addColumn<KeyLayout>("layout");
    for (const auto layout : {KeyLayout::Conditional, KeyLayout::TextOnly, KeyLayout::OldWrapper,
                              KeyLayout::InnerModel, KeyLayout::BareText}) {
        QTest::newRow(std::string(keyLayoutName(layout)).c_str()) << layout;
    }
}

void TestKeySpelling::spellsBack() {
    QFETCH(KeyLayout, layout);
    const bool has_towers = layout != KeyLayout::TextOnly && layout != KeyLayout::BareText;
    for (const char* canonical :
         {"model.language_model.layers.12.mlp.up_proj",
          "model.language_model.embed_tokens_per_layer", "model.language_model.norm",
          "model.audio_tower.layers.1.lconv1d.linear_start.linear",
          "model.embed_vision.embedding_projection"}) {
        const auto spelled = spellModulePath(canonical, layout);
        const bool is_tower = std::string(canonical).find("language_model") == std::string::npos;
        QCOMPARE(spelled.has_value(), has_towers || !is_tower);
        if (spelled) {
            QCOMPARE(canonicalModulePath(*spelled), std::string(canonical));
        }
    }
}

TEST_CLASS(TestKeySpelling)
#include "tst_key_spelling.moc"
