// SPDX-License-Identifier: Apache-2.0
// Values of a model folder that are NaN, infinite or so large that the arithmetic overflows, in
// every kind of tensor: an error that names the tensor, when the model is loaded or when it
// answers, and never an answer.
#include "engine/files/safetensors_writer.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <cstring>
#include <limits>

namespace fs = std::filesystem;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const std::string kTable = "model.language_model.embed_tokens.weight";

using Tensors = std::map<std::string, support::GoldenTensor>;

/// For bf16 tensors: their values are written as the upper half of a float.
void put(support::GoldenTensor& tensor, size_t element, float value) {
    const auto bits = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16U);
    std::memcpy(&tensor.bytes[2 * element], &bits, 2);
}

fs::path makeFolder(const QTemporaryDir& root, const std::string& family, const Tensors& tensors) {
    const char* row = QTest::currentDataTag();
    const fs::path folder = fs::path(root.path().toStdString()) /
                            (std::string(QTest::currentTestFunction()) + (row ? row : ""));
    fs::copy(support::goldenDir() / family / "model", folder);
    std::vector<engine::TensorToWrite> list;
    for (const auto& [name, tensor] : tensors) {
        if (tensor.dtype != "BF16") {
            qFatal("%s: not bf16", name.c_str());
        }
        std::vector<std::byte> bytes(tensor.bytes.size());
        std::memcpy(bytes.data(), tensor.bytes.data(), bytes.size());
        list.push_back(engine::tensorFromBytes(name, engine::TensorType::BF16, tensor.shape,
                                               std::move(bytes)));
    }
    engine::WriteOptions options;
    options.is_replacing_allowed = true;
    support::must(engine::writeSafetensorsFile(folder / "model.safetensors", list, options),
                  "written");
    return folder;
}

bool isIn(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

class TestNotFinite : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void loadNamesIt_data();
    void loadNamesIt();
    void openBoundsAreNone();
    void answerNamesIt_data();
    void answerNamesIt();
    void overflowNamesTheLayer_data();
    void overflowNamesTheLayer();
    void inTheMiddleOfAReply();
    void headOfItsOwn();

private:
    QTemporaryDir root_;
};

/// What is read for the host: bounds, scales, tables of the towers.
void TestNotFinite::loadNamesIt_data() {
    support::addColumns<QString, QString, float>("family", "tensor", "value");
    const auto add = [](const char* family, const char* tensor, const char* word, float value) {
        QTest::addRow("%s %s %s", family, tensor, word)
            << QString::fromUtf8(family) << QString::fromUtf8(tensor) << value;
    };
    const std::string vision = "model.vision_tower.encoder.layers.0.";
    const std::string audio = "model.audio_tower.layers.1.";
    for (const char* end : {"input_min", "input_max", "output_min", "output_max"}) {
        add("e2b", (vision + "self_attn.q_proj." + end).c_str(), "NaN", kNan);
        add("e2b", (audio + "feed_forward1.ffw_layer_1." + end).c_str(), "NaN", kNan);
        const bool is_min = std::string(end).ends_with("min");
        add("e2b", (vision + "mlp.down_proj." + end).c_str(), "closed",
            is_min ? kInfinity : -kInfinity);
    }
    add("e2b", "model.language_model.layers.3.layer_scalar", "NaN", kNan);
    add("e2b", "model.language_model.layers.3.layer_scalar", "infinity", kInfinity);
    add("e2b", (audio + "self_attn.per_dim_scale").c_str(), "NaN", kNan);
    add("e2b", (audio + "lconv1d.depthwise_conv1d.weight").c_str(), "-infinity", -kInfinity);
    add("e2b", "model.audio_tower.output_proj.bias", "NaN", kNan);
    add("e2b", "model.audio_tower.subsample_conv_projection.layer0.conv.weight", "NaN", kNan);
    add("dense31b", "model.vision_tower.std_scale", "NaN", kNan);
    add("moe26b", "model.language_model.layers.1.router.per_expert_scale", "NaN", kNan);
    add("moe26b", "model.language_model.layers.1.router.scale", "infinity", kInfinity);
}

void TestNotFinite::loadNamesIt() {
    QFETCH(QString, family);
    QFETCH(QString, tensor);
    QFETCH(float, value);
    const std::string name = tensor.toStdString();
    const std::string model = family.toStdString();
    Tensors tensors =
        support::readSafetensors(support::goldenDir() / model / "model/model.safetensors");
    QVERIFY2(tensors.contains(name), name.c_str());
    put(tensors.at(name), 0, value);
    engine::LoadRequest request = support::goldenRequest(model);
    request.model = makeFolder(root_, model, tensors).string();
    engine::Engine engine;
    const auto outcome = engine.load(request, {}, {});
    QVERIFY(!outcome.has_value());
    QCOMPARE(outcome.error().code, engine::ErrorCode::InvalidFile);
    QVERIFY2(outcome.error().message.starts_with(name), outcome.error().message.c_str());
    QCOMPARE(support::detailOf(outcome.error(), "tensor"), name);
    QVERIFY2(isIn(outcome.error().message, "download it again"), outcome.error().message.c_str());
}

void TestNotFinite::openBoundsAreNone() {
    Tensors tensors =
        support::readSafetensors(support::goldenDir() / "e2b/model/model.safetensors");
    Tensors without = tensors;
    for (auto& [name, tensor] : tensors) {
        if (name.ends_with("put_min") || name.ends_with("put_max")) {
            put(tensor, 0, name.ends_with("min") ? -kInfinity : kInfinity);
            without.erase(name);
        }
    }
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.model = makeFolder(root_, "e2b", tensors).string();
    engine::Engine open;
    QVERIFY(open.load(request, {}, {}).has_value());
    fs::rename(request.model, request.model + ", open");
    request.model = makeFolder(root_, "e2b", without).string();
    engine::Engine absent;
    QVERIFY(absent.load(request, {}, {}).has_value());
    const auto c = support::goldenCase("e2b", "image_audio");
    QCOMPARE(support::engineLogits(open, c, 1), support::engineLogits(absent, c, 1));
}

void TestNotFinite::answerNamesIt_data() {
    support::addColumns<QString, QString, QString, float>("family", "id", "tensor", "value");
    const auto add = [](const char* family, const char* id, const std::string& tensor,
                        float value = kNan) {
        QTest::addRow("%s %s %s", family, tensor.c_str(),
                      std::isnan(value) ? "NaN" : (value < 0 ? "-infinity" : "infinity"))
            << QString::fromUtf8(family) << QString::fromUtf8(id) << QString::fromStdString(tensor)
            << value;
    };
    const std::string root = "model.language_model.";
    for (const char* name :
         {"self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight",
          "self_attn.o_proj.weight", "self_attn.q_norm.weight", "self_attn.k_norm.weight",
          "mlp.gate_proj.weight", "mlp.up_proj.weight", "mlp.down_proj.weight",
          "input_layernorm.weight", "post_attention_layernorm.weight",
          "pre_feedforward_layernorm.weight", "post_feedforward_layernorm.weight",
          "per_layer_input_gate.weight", "per_layer_projection.weight",
          "post_per_layer_input_norm.weight"}) {
        add("e2b", "text", root + "layers.2." + name);
    }
    add("e2b", "text", root + "layers.9.mlp.up_proj.weight");
    add("e2b", "text", root + "layers.4.mlp.up_proj.weight", kInfinity);
    add("e2b", "text", root + "layers.4.self_attn.o_proj.weight", -kInfinity);
    add("e2b", "text", root + "norm.weight");
    add("e2b", "text", kTable);
    add("e2b", "text", root + "embed_tokens_per_layer.weight");
    add("e2b", "text", root + "per_layer_model_projection.weight");
    add("e2b", "text", root + "per_layer_projection_norm.weight");
    add("moe26b", "text", root + "layers.1.router.proj.weight");
    add("moe26b", "text", root + "layers.1.experts.gate_up_proj");
    const std::string vision = "model.vision_tower.";
    for (const char* name :
         {"patch_embedder.input_proj.weight", "patch_embedder.position_embedding_table",
          "encoder.layers.1.self_attn.q_proj.linear.weight",
          "encoder.layers.1.mlp.down_proj.linear.weight",
          "encoder.layers.0.input_layernorm.weight"}) {
        add("e2b", "image", vision + name);
    }
    add("e2b", "image", "model.embed_vision.embedding_projection.weight");
    const std::string audio = "model.audio_tower.";
    for (const char* name :
         {"subsample_conv_projection.input_proj_linear.weight",
          "layers.0.feed_forward1.ffw_layer_1.linear.weight",
          "layers.0.self_attn.relative_k_proj.weight", "layers.1.norm_out.weight",
          "layers.1.lconv1d.linear_end.linear.weight", "output_proj.weight"}) {
        add("e2b", "audio", audio + name);
    }
    add("e2b", "audio", "model.embed_audio.embedding_projection.weight", kInfinity);
}

void TestNotFinite::answerNamesIt() {
    QFETCH(QString, family);
    QFETCH(QString, id);
    QFETCH(QString, tensor);
    QFETCH(float, value);
    const std::string name = tensor.toStdString();
    const std::string model = family.toStdString();
    const auto c = support::goldenCase(model, id.toStdString());
    Tensors tensors =
        support::readSafetensors(support::goldenDir() / model / "model/model.safetensors");
    QVERIFY2(tensors.contains(name), name.c_str());
    support::GoldenTensor& changed = tensors.at(name);
    const size_t width = static_cast<size_t>(changed.shape.back());
    // In tables the row of the first token; in the others anything that is used.
    size_t element = 5 % width;
    if (name.find("embed_tokens") != std::string::npos) {
        element = static_cast<size_t>(c.input_ids.front()) * width + 3;
    } else if (name.find("experts.") != std::string::npos ||
               name.find("position_embedding_table") != std::string::npos) {
        for (size_t i = 0; i < changed.bytes.size() / 2; i += width) {
            put(changed, i, value);
        }
        element = 0;
    }
    put(changed, element, value);
    engine::LoadRequest request = support::goldenRequest(model);
    request.model = makeFolder(root_, model, tensors).string();
    for (const bool is_on_card : {false, true}) {
        if (is_on_card) {
            request.sim_gpus = {uint64_t{1} << 30};
            request.device_map = "towers-cpu";
            request.is_reference_precision = false;
        }
        engine::Engine engine;
        const auto loaded = engine.load(request, {}, {});
        VERIFY_VALUE(loaded);
        engine::GenerateRequest asked = support::goldenCaseRequest(c);
        asked.sampling.temperature = 0;
        asked.sampling.max_tokens = 4;
        const auto reply = engine.generate(asked, {}, {});
        const auto logits = engine.logits(asked, 1, {});
        QVERIFY(!reply.has_value());
        QVERIFY(!logits.has_value());
        for (const engine::Error& error : {reply.error(), logits.error()}) {
            QVERIFY2(error.code == engine::ErrorCode::InvalidFile, error.message.c_str());
            QVERIFY2(error.message.starts_with(name + ": element " + std::to_string(element) + " "),
                     error.message.c_str());
            QVERIFY2(isIn(error.message, "download it again"), error.message.c_str());
            QCOMPARE(support::detailOf(error, "tensor"), name);
        }
        QCOMPARE(support::memoryDifference(engine), std::string());
    }
}

void TestNotFinite::overflowNamesTheLayer_data() {
    support::addColumns<QString, QString, QString, QString>("id", "first", "second", "module");
    const QString layer = QStringLiteral("model.language_model.layers.3");
    QTest::addRow("decoder") << QStringLiteral("text")
                             << layer + QStringLiteral(".mlp.up_proj.weight")
                             << layer + QStringLiteral(".mlp.gate_proj.weight") << layer;
    const QString vision = QStringLiteral("model.vision_tower");
    QTest::addRow("projector") << QStringLiteral("image")
                               << QStringLiteral("model.embed_vision.embedding_projection.weight")
                               << vision + QStringLiteral(".patch_embedder.input_proj.weight")
                               << vision;
}

/// All weights are finite, what is computed with them is not.
void TestNotFinite::overflowNamesTheLayer() {
    QFETCH(QString, id);
    QFETCH(QString, first);
    QFETCH(QString, second);
    QFETCH(QString, module);
    Tensors tensors =
        support::readSafetensors(support::goldenDir() / "e2b/model/model.safetensors");
    for (const QString& name : {first, second}) {
        support::GoldenTensor& tensor = tensors.at(name.toStdString());
        for (size_t i = 0; i < tensor.bytes.size() / 2; ++i) {
            put(tensor, i, 2e38F);
        }
    }
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.model = makeFolder(root_, "e2b", tensors).string();
    engine::Engine engine;
    QVERIFY(engine.load(request, {}, {}).has_value());
    const auto reply = engine.generate(
        support::goldenCaseRequest(support::goldenCase("e2b", id.toStdString())), {}, {});
    QVERIFY(!reply.has_value());
    const engine::Error& error = reply.error();
    QVERIFY2(error.code == engine::ErrorCode::InvalidFile, error.message.c_str());
    QVERIFY2(error.message.starts_with(module.toStdString() + ": "), error.message.c_str());
    QVERIFY2(isIn(error.message, "too large for a float"), error.message.c_str());
    QVERIFY2(isIn(error.message, "another one"), error.message.c_str());
    QCOMPARE(support::detailOf(error, "module"), module.toStdString());
}

/// The prompt is fine; the row of a token that is chosen later is not.
void TestNotFinite::inTheMiddleOfAReply() {
    const auto c = support::goldenCase("e2b", "text");
    Tensors tensors =
        support::readSafetensors(support::goldenDir() / "e2b/model/model.safetensors");
    const std::string name = "model.language_model.embed_tokens_per_layer.weight";
    support::GoldenTensor& table = tensors.at(name);
    const auto width = static_cast<size_t>(table.shape.back());
    // The first greedy token that the prompt does not hold.
    size_t at = 0;
    while (std::count(c.input_ids.begin(), c.input_ids.end(), c.greedy[at]) > 0) {
        ++at;
    }
    put(table, static_cast<size_t>(c.greedy[at]) * width + 1, kNan);
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.model = makeFolder(root_, "e2b", tensors).string();
    engine::Engine engine;
    QVERIFY(engine.load(request, {}, {}).has_value());
    engine::GenerateRequest asked = support::goldenCaseRequest(c);
    asked.sampling.temperature = 0;
    asked.sampling.max_tokens = static_cast<int64_t>(c.greedy.size());
    asked.sampling.ignores_eos = true;
    const auto reply = engine.generate(asked, {}, {});
    QVERIFY(!reply.has_value());
    QVERIFY2(reply.error().message.starts_with(name + ": element "), reply.error().message.c_str());
    // Another prompt, without that token, is answered.
    asked.sampling.max_tokens = static_cast<int64_t>(at);
    const auto again = engine.generate(asked, {}, {});
    if (at > 0) {
        VERIFY_VALUE(again);
        QCOMPARE(again->token_ids,
                 std::vector<int32_t>(c.greedy.begin(), c.greedy.begin() + static_cast<int>(at)));
    }
}

/// Where a head is stored, it alone is bad, not the table.
void TestNotFinite::headOfItsOwn() {
    Tensors tensors =
        support::readSafetensors(support::goldenDir() / "e2b/model/model.safetensors");
    support::GoldenTensor head = tensors.at(kTable);
    put(head, 7, kNan);
    tensors["lm_head.weight"] = head;
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.model = makeFolder(root_, "e2b", tensors).string();
    engine::Engine engine;
    QVERIFY(engine.load(request, {}, {}).has_value());
    const auto reply =
        engine.generate(support::goldenCaseRequest(support::goldenCase("e2b", "text")), {}, {});
    QVERIFY(!reply.has_value());
    QCOMPARE(reply.error().code, engine::ErrorCode::InvalidFile);
    QVERIFY2(reply.error().message.starts_with("lm_head.weight: element 7 is NaN"),
             reply.error().message.c_str());
}

TEST_CLASS(TestNotFinite)
#include "tst_not_finite.moc"
