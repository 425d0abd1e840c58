// SPDX-License-Identifier: Apache-2.0
// The resolution rule of device maps: the test vectors of the device-map description (7.6), each
// error and warning code with its position, count and proposals, formats, the tied table.
#include "engine/plan/map_keys.h"
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <set>

using namespace engine;
using namespace planfixture;

namespace {

const std::vector<DeviceId> kDevices = {DeviceId::cuda(0), DeviceId::cuda(1), DeviceId::sim(0)};
const std::string kLayer = "model.language_model.layers.";

std::string where(const Resolution& resolution, const std::string& tensor) {
    return placeText(rowOf(e2b(), resolution, tensor));
}

std::string native(const std::string& def, const std::string& keys) {
    return R"({"version": 1, "default": )" + def + R"(, "map": {)" + keys + "}}";
}

size_t usedTensors(const Model& model) {
    size_t count = 0;
    for (const ExpectedTensor& tensor : model.tensors) {
        count += tensor.is_unused ? 0U : 1U;
    }
    return count;
}

/// Everything that loading depends on, to compare two resolutions.
std::string fingerprint(const Resolution& resolution) {
    std::string out;
    for (const ResolvedTensor& row : resolution.tensors) {
        out += std::to_string(row.index) + placeText(&row) +
               std::to_string(static_cast<int>(row.format)) + "\n";
    }
    return out;
}

/// The language tower by layers, the rest on one device: a map as HF's own code makes them.
std::string hfMap() {
    std::string keys = R"("model.language_model.embed_tokens": 0,
        "lm_head": 0, "model.language_model.embed_tokens_per_layer": 0,
        "model.language_model.per_layer_model_projection": 1,
        "model.language_model.per_layer_projection_norm": 1,
        "model.language_model.norm": 1, "model.language_model.rotary_emb": 1,
        "model.vision_tower.patch_embedder": 0, "model.vision_tower.encoder": 0,
        "model.vision_tower.pooler": 0, "model.audio_tower": 1, "model.embed_vision": 1,
        "model.embed_audio.embedding_pre_projection_norm": 1,
        "model.embed_audio.embedding_projection": 1)";
    for (int i = 0; i < 35; ++i) {
        const std::string layer = kLayer + std::to_string(i);
        const char* device = i < 20 ? "0" : "1";
        if (i != 20) {
            keys += ", \"" + layer + "\": " + device;
            continue;
        }
        // One layer split into its modules, as accelerate does at a boundary.
        for (const char* part :
             {"self_attn.q_proj", "self_attn.q_norm", "self_attn.v_norm", "self_attn.o_proj",
              "self_attn.k_proj", "mlp", "input_layernorm", "post_attention_layernorm",
              "pre_feedforward_layernorm", "post_feedforward_layernorm", "act_fn",
              "per_layer_input_gate", "per_layer_projection", "post_per_layer_input_norm",
              "layer_scalar"}) {
            keys += ", \"" + layer + "." + part + "\": 1";
        }
    }
    return "{" + keys + "}";
}

} // namespace

class TestMapResolve : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void places_data();
    void places();
    void forumMaps();
    void baseModelPrefix();
    void aliases_data();
    void aliases();
    void hfOwnMap();
    void kvSharingLayerKeys();
    void provenance();
    void complaints_data();
    void complaints();
    void togetherAndOnce();
    void proposals_data();
    void proposals();
    void proposalsForRanges();
    void rangesOfTheImportedForm();
    void editDistance_data();
    void editDistance();
    void tied_data();
    void tied();
    void fieldsOfTheTiedHead();
    void formats_data();
    void formats();
    void packedCheckpoint();
    void otherFamilies();
    void clipScalarsAbsent();
};

void TestMapResolve::places_data() {
    support::addColumns<QString, QString, QString>("map", "tensor", "place");
    const auto add = [](const char* name, const std::string& map, const std::string& tensor,
                        const char* place) {
        QTest::addRow("%s", name) << QString::fromStdString(map) << QString::fromStdString(tensor)
                                  << place;
    };
    const std::string q3 = kLayer + "3.self_attn.q_proj.weight";
    const std::string vision = "model.vision_tower.encoder.layers.0.mlp.up_proj.linear.weight";
    const std::string table = "model.language_model.embed_tokens_per_layer.weight";
    add("empty map and default", native("\"cuda:0\"", ""), q3, "cuda:0");
    add("no map at all", R"({"version": 1, "default": {"store": "cpu", "compute": "cuda:1"}})", q3,
        "cpu>cuda:1 stream");
    add("empty key, imported", R"({"": 1})", q3, "cuda:1");
    add("imported cpu computes on the main device", R"({"": 0, "model.vision_tower": "cpu"})",
        vision, "cpu>cuda:0 on_use");
    add("imported disk", R"({"": 1, "model.language_model.layers.3": "disk"})", q3,
        "disk>cuda:1 stream");
    add("imported, all on cpu", R"({"": "cpu"})", q3, "cpu");
    add("imported, disk without GPU", R"({"": "disk"})", q3, "disk>cpu stream");
    // longest prefix with field inheritance
    const std::string inherit = R"("model": {"compute": "cuda:1"},
        "model.language_model.layers.3": {"store": "disk"})";
    add("inherited compute, own store", native("\"cpu\"", inherit), q3, "disk>cuda:1 stream");
    add("inherited compute, default store", native("\"cpu\"", inherit),
        kLayer + "4.mlp.up_proj.weight", "cpu>cuda:1 stream");
    add("deeper key wins, whatever the order",
        native("\"cpu\"", R"("model.language_model.layers.3.self_attn": "cuda:1",
            "model.language_model.layers.3": "cuda:0", "model": "sim:0")"),
        q3, "cuda:1");
    add("layers.1 is not layers.10",
        native("\"cpu\"", R"("model.language_model.layers.1": "cuda:0")"),
        kLayer + "10.mlp.up_proj.weight", "cpu");
    add("layers.1 itself", native("\"cpu\"", R"("model.language_model.layers.1": "cuda:0")"),
        kLayer + "1.mlp.up_proj.weight", "cuda:0");
    add("embed_tokens is not embed_tokens_per_layer",
        native("\"cpu\"", R"("model.language_model.embed_tokens": "cuda:0")"), table, "cpu");
    add("range, first", native("\"cpu\"", R"("model.language_model.layers.[3-5]": "cuda:0")"), q3,
        "cuda:0");
    add("range, last", native("\"cpu\"", R"("model.language_model.layers.[3-5]": "cuda:0")"),
        kLayer + "5.mlp.up_proj.weight", "cuda:0");
    add("range, after it", native("\"cpu\"", R"("model.language_model.layers.[3-5]": "cuda:0")"),
        kLayer + "6.mlp.up_proj.weight", "cpu");
    add("range in the middle of a key",
        native("\"cpu\"", R"("model.language_model.layers.[0-34].self_attn.q_proj": "cuda:0")"), q3,
        "cuda:0");
    add("range in a tower",
        native("\"cpu\"", R"("vision_tower.encoder.layers.[0-15].mlp": "cuda:0")"), vision,
        "cuda:0");
    add("a range and a single layer that set different fields",
        native("\"cpu\"", R"("model.language_model.layers.[0-9]": {"store": "cpu"},
            "model.language_model.layers.3": {"compute": "cuda:1"})"),
        q3, "cpu>cuda:1 stream");
    add("overlapping ranges that agree",
        native("\"cpu\"", R"("model.language_model.layers.[0-5]": "cuda:0",
            "model.language_model.layers.[3-9]": "cuda:0")"),
        q3, "cuda:0");
    add("disk under the default's compute device",
        native(R"({"store": "cpu", "compute": "sim:0"})", R"("model.audio_tower": "disk")"),
        "model.audio_tower.output_proj.weight", "disk>sim:0 on_use");
    add("disk does not inherit a compute device from a shorter key",
        native("\"cuda:0\"", R"("model": {"compute": "cpu", "store": "cpu"},
            "model.audio_tower": "disk")"),
        "model.audio_tower.output_proj.weight", "disk>cuda:0 on_use");
    add("store cpu under cuda:0", native("\"cuda:0\"", R"("model.vision_tower": {"store": "cpu"})"),
        vision, "cpu>cuda:0 on_use");
    add("residency given",
        native("\"cuda:0\"", R"("model.vision_tower": {"store": "cpu", "residency": "always"})"),
        vision, "cpu>cuda:0 always");
    add("residency from a shorter key",
        native(
            "\"cuda:0\"",
            R"("model.vision_tower": {"residency": "stream"}, "model.vision_tower.encoder": {"store": "cpu"})"),
        vision, "cpu>cuda:0 stream");
    add("projectors visit by default",
        native("\"cuda:0\"", R"("model.embed_audio": {"store": "cpu"})"),
        "model.embed_audio.embedding_projection.weight", "cpu>cuda:0 on_use");
    add("tables stream rows",
        native("\"cuda:0\"", R"("model.language_model.embed_tokens_per_layer": {"store": "disk"})"),
        table, "disk>cuda:0 stream");
    add("a tensor's own name", native("\"cpu\"", "\"" + q3 + "\": 1"), q3, "cuda:1");
    add("a clip scalar's own name",
        native("\"cpu\"",
               R"("model.vision_tower.encoder.layers.0.mlp.up_proj.input_max": "cuda:0")"),
        "model.vision_tower.encoder.layers.0.mlp.up_proj.input_max", "cuda:0");
}

void TestMapResolve::places() {
    QFETCH(QString, map);
    QFETCH(QString, tensor);
    QFETCH(QString, place);
    const Resolution resolution = resolve(e2b(), map.toStdString(), kDevices);
    QVERIFY2(resolution.errors.empty(),
             resolution.errors.empty() ? "" : inEnglish(resolution.errors[0]).c_str());
    QCOMPARE(QString::fromStdString(where(resolution, tensor.toStdString())), place);
    QCOMPARE(resolution.tensors.size(), usedTensors(e2b()));
}

// The forum's two maps: the one that loads, and the one with names of another model.
void TestMapResolve::forumMaps() {
    const Resolution working = resolve(e2b(),
                                       R"({"model.language_model": 0, "lm_head": 0,
        "model.vision_tower": "cpu", "model.audio_tower": "cpu",
        "model.embed_vision": 0, "model.embed_audio": 0})",
                                       kDevices);
    QCOMPARE(codesOf(working.errors), std::string());
    QCOMPARE(where(working, "model.audio_tower.output_proj.bias"),
             std::string("cpu>cuda:0 on_use"));
    QVERIFY(!working.has_own_head); // both on cuda:0: one table

    const Resolution failing = resolve(e2b(),
                                       R"({"model.language_model": 0, "lm_head": 0,
        "model.vision_tower": "cpu",
        "model.audio_tower": "cpu", "model.multi_modal_projector": "cpu"})",
                                       kDevices);
    QCOMPARE(codesOf(failing.errors), std::string("DM02 DM03"));
    QCOMPARE(failing.errors[0].key, std::string("model.multi_modal_projector"));
    QCOMPARE(failing.errors[0].line, 3);
    const std::vector<std::string> expected = {"model.embed_vision", "model.embed_audio"};
    QCOMPARE(inEnglish(failing.errors[0].suggestions), expected);
    QVERIFY(inEnglish(failing.errors[1]).find("2 tensors") != std::string::npos);
    QCOMPARE(failing.errors[1].modules, expected);

    // With "" the misspelt key is still an error, unlike elsewhere.
    const Resolution covered =
        resolve(e2b(), R"({"": 0, "model.multi_modal_projector": "cpu"})", kDevices);
    QCOMPARE(codesOf(covered.errors), std::string("DM02"));
}

void TestMapResolve::baseModelPrefix() {
    const Resolution plain = resolve(e2b(), hfMap(), kDevices);
    std::string prefixed = hfMap();
    for (size_t at = prefixed.find('"'); at != std::string::npos;
         at = prefixed.find('"', prefixed.find('"', at + 1) + 1)) {
        prefixed.insert(at + 1, "base_model.model.");
    }
    QVERIFY(prefixed.find("\"base_model.model.lm_head\"") != std::string::npos);
    const Resolution peft = resolve(e2b(), prefixed, kDevices);
    QCOMPARE(codesOf(peft.errors), std::string());
    QCOMPARE(fingerprint(peft), fingerprint(plain));
    QVERIFY(mentions(inEnglish(peft.notes), "translated"));
}

void TestMapResolve::aliases_data() {
    support::addColumns<QString, QString>("key", "canonical");
    const auto add = [](const char* key, const char* canonical) {
        QTest::addRow("%s", key) << key << canonical;
    };
    add("", "");
    add("base_model", "");
    add("base_model.model", "");
    add("base_model.model.model", "model");
    add("base_model.model.base_model.model.lm_head", "base_model.model.lm_head"); // one only
    add("base_model.other", "base_model.other");
    add("model.lm_head", "lm_head");
    add("model.lm_head.weight", "lm_head.weight");
    add("language_model.lm_head", "lm_head");
    add("lm_head", "lm_head");
    add("language_model.model", "model.language_model");
    add("language_model.model.layers.3", "model.language_model.layers.3");
    add("language_model", "model.language_model");
    add("language_model.layers.3", "model.language_model.layers.3");
    add("vision_tower.encoder", "model.vision_tower.encoder");
    add("audio_tower", "model.audio_tower");
    add("embed_vision.embedding_projection", "model.embed_vision.embedding_projection");
    add("embed_audio", "model.embed_audio");
    add("model.layers.[0-3]", "model.language_model.layers.[0-3]");
    add("model.norm.weight", "model.language_model.norm.weight");
    add("model.embed_tokens", "model.language_model.embed_tokens");
    add("model.embed_tokens_per_layer", "model.language_model.embed_tokens_per_layer");
    add("model.per_layer_model_projection", "model.language_model.per_layer_model_projection");
    add("model.per_layer_projection_norm", "model.language_model.per_layer_projection_norm");
    add("model.rotary_emb", "model.language_model.rotary_emb");
    add("base_model.model.model.layers.0.mlp", "model.language_model.layers.0.mlp");
    add("base_model.model.vision_tower", "model.vision_tower");
    add("model.normal", "model.normal"); // whole components only
    add("language_models.layers.3", "language_models.layers.3");
    add("layers.3", "layers.3");
    add("model", "model");
    add("a..b", "a..b");
}

void TestMapResolve::aliases() {
    QFETCH(QString, key);
    QFETCH(QString, canonical);
    QCOMPARE(QString::fromStdString(canonicalKey(key.toStdString())), canonical);
}

void TestMapResolve::hfOwnMap() {
    const Resolution resolution = resolve(e2b(), hfMap(), kDevices);
    QCOMPARE(codesOf(resolution.errors), std::string());
    QVERIFY(mentions(inEnglish(resolution.notes), "rotary_emb"));
    QVERIFY(mentions(inEnglish(resolution.notes), "v_norm"));
    QVERIFY(mentions(inEnglish(resolution.notes), "pooler"));
    QVERIFY(mentions(inEnglish(resolution.notes), "self_attn.k_proj"));
    QCOMPARE(where(resolution, kLayer + "20.self_attn.o_proj.weight"), std::string("cuda:1"));
    QCOMPARE(where(resolution, kLayer + "19.self_attn.o_proj.weight"), std::string("cuda:0"));
}

void TestMapResolve::kvSharingLayerKeys() {
    const Resolution resolution = resolve(
        e2b(), native("\"cpu\"", R"("model.language_model.layers.20.self_attn.k_proj": "cuda:0",
                    "model.language_model.layers.15.self_attn.v_proj.weight": "cuda:0",
                    "model.language_model.layers.34.self_attn.k_norm": "cuda:0")"),
        kDevices);
    QCOMPARE(codesOf(resolution.errors), std::string());
    QVERIFY(mentions(inEnglish(resolution.notes), "layers.20.self_attn.k_proj"));
    QVERIFY(mentions(inEnglish(resolution.notes), "layers.15.self_attn.v_proj.weight"));
    QVERIFY(mentions(inEnglish(resolution.notes), "layers.34.self_attn.k_norm"));
    QVERIFY(rowOf(e2b(), resolution, kLayer + "20.self_attn.k_proj.weight") == nullptr);
    // Layer 14 owns its keys and values: its k_proj has an effect.
    const Resolution owner = resolve(
        e2b(), native("\"cpu\"", R"("model.language_model.layers.14.self_attn.k_proj": "cuda:0")"),
        kDevices);
    QCOMPARE(where(owner, kLayer + "14.self_attn.k_proj.weight"), std::string("cuda:0"));
    QVERIFY(!mentions(inEnglish(owner.notes), "without effect"));
}

void TestMapResolve::provenance() {
    const std::string text =
        native("\"cuda:0\"", R"("model.language_model.layers.[0-9]": {"store": "cpu"},
            "model.language_model.layers.3": {"compute": "cpu", "format": "nf4"})");
    const Resolution resolution = resolve(e2b(), text, kDevices, Format::Fp4);
    const ResolvedTensor* row = rowOf(e2b(), resolution, kLayer + "3.mlp.up_proj.weight");
    QVERIFY(row != nullptr);
    const auto by = [row](MapField field) { return row->set_by[static_cast<size_t>(field) - 1]; };
    QCOMPARE(by(MapField::Store), 0);
    QCOMPARE(by(MapField::Compute), 1);
    QCOMPARE(by(MapField::Format), 1);
    QCOMPARE(by(MapField::Residency), kSetByRule);
    QCOMPARE(row->format, Format::Nf4);
    const ResolvedTensor* other = rowOf(e2b(), resolution, kLayer + "20.mlp.up_proj.weight");
    QCOMPARE(other->set_by[0], kSetByDefault);
    QCOMPARE(other->set_by[static_cast<size_t>(MapField::Format) - 1], kSetByOption);
    QCOMPARE(other->format, Format::Fp4);
    const auto map = parseDeviceMap(text, {});
    QCOMPARE(inEnglish(setBy(*map, 0)),
             std::string("the key \"model.language_model.layers.[0-9]\""));
    QCOMPARE(inEnglish(setBy(*map, kSetByDefault)), std::string("default"));
}

void TestMapResolve::complaints_data() {
    QTest::addColumn<QString>("map");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("key");
    QTest::addColumn<int>("line");
    QTest::addColumn<int>("column");
    QTest::addColumn<QString>("part"); ///< Part of the message.
    const auto add = [](const char* name, const std::string& map, const char* code, const char* key,
                        int line, int column, const char* part) {
        QTest::addRow("%s", name) << QString::fromStdString(map) << code << key << line << column
                                  << part;
    };
    const char* def = "\"cuda:0\"";
    // DM02
    add("unknown module", native(def, "\n  \"model.visoin_tower\": 0"), "DM02",
        "model.visoin_tower", 2, 3, "model.vision_tower");
    add("index out of range", native(def, R"("model.language_model.layers.35": 0)"), "DM02",
        "model.language_model.layers.35", 1, 45, "0 to 34");
    add("index below it", native(def, R"("model.layers.35.mlp.up_proj": 0)"), "DM02",
        "model.layers.35.mlp.up_proj", 1, 45, "0 to 34");
    add("huge index", native(def, R"("model.language_model.layers.99999999999999999999": 0)"),
        "DM02", "model.language_model.layers.99999999999999999999", 1, 45, "0 to 34");
    add("leading zero", native(def, R"("model.language_model.layers.07": 0)"), "DM02",
        "model.language_model.layers.07", 1, 45, "0 to 34");
    add("tower index", native(def, R"("model.audio_tower.layers.12": 0)"), "DM02",
        "model.audio_tower.layers.12", 1, 45, "0 to 11");
    add("range beyond the last layer", native(def, R"("model.language_model.layers.[30-40]": 0)"),
        "DM02", "model.language_model.layers.[30-40]", 1, 45, "0 to 34");
    add("enormous range",
        native(def, R"("model.language_model.layers.[0-4000000000000000000000]": 0)"), "DM02",
        "model.language_model.layers.[0-4000000000000000000000]", 1, 45, "0 to 34");
    add("range on no list", native(def, R"("model.vision_tower.[0-3]": 0)"), "DM02",
        "model.vision_tower.[0-3]", 1, 45, "no module");
    add("range in the imported form", R"({"": 0, "model.language_model.layers.[0-3]": 1})", "DM02",
        "model.language_model.layers.[0-3]", 1, 9, "no module");
    add("empty component", native(def, R"("model..language_model": 0)"), "DM02",
        "model..language_model", 1, 45, "no module");
    add("trailing dot", native(def, R"("model.": 0)"), "DM02", "model.", 1, 45, "no module");
    add("below a norm", native(def, R"("model.language_model.norm.weight.absmax": 0)"), "DM02",
        "model.language_model.norm.weight.absmax", 1, 45, "no parts");
    // DM03
    add("uncovered tensors",
        R"({"model.language_model": 0, "model.vision_tower": 0, "model.embed_vision": 0,
        "model.embed_audio": 0})",
        "DM03", "", 0, 0, "751 tensors");
    add("uncovered projectors", R"({"model.language_model": 0, "model.vision_tower": 0,
        "model.audio_tower": 0})",
        "DM03", "", 0, 0, "2 tensors");
    // DM04
    add("no such GPU", native(def, "\n\"model.vision_tower\": \"cuda:7\""), "DM04",
        "model.vision_tower", 2, 23, "cuda:0, cuda:1, sim:0, cpu and disk");
    add("no such default", native("\"sim:3\"", ""), "DM04", "default", 1, 27, "sim:3");
    add("no such device in limits", R"({"version": 1, "default": "cpu", "limits": {"cuda:9": 5}})",
        "DM04", "cuda:9", 1, 45, "cuda:9");
    add("no such device for KV", R"({"version": 1, "default": "cpu", "kv": {"place": "sim:9"}})",
        "DM04", "kv.place", 1, 50, "sim:9");
    // DM05
    add("range and single layer disagree", native(def, R"("model.language_model.layers.[0-9]": 0,
  "model.language_model.layers.3": 1)"),
        "DM05", "model.language_model.layers.3", 2, 3, "model.language_model.layers.[0-9]");
    add("overlapping ranges disagree", native(def, R"("model.language_model.layers.[0-9]": 0,
"model.language_model.layers.[5-12]": 1)"),
        "DM05", "model.language_model.layers.[5-12]", 2, 1, "store");
    add("aliases disagree", native(def, R"("model.vision_tower": 0, "vision_tower": "cpu")"),
        "DM05", "vision_tower", 1, 70, "model.vision_tower");
    add("formats disagree", native(def, R"("model.vision_tower": {"format": "nf4"},
"base_model.model.vision_tower": {"format": "bf16"})"),
        "DM05", "base_model.model.vision_tower", 2, 1, "format");
    add("whole model twice", R"({"": 0, "base_model.model": 1})", "DM05", "base_model.model", 1, 9,
        "whole model");
    // DM06
    add("statistics",
        native(def, R"("model.language_model.layers.0.mlp.up_proj.weight.absmax": 0)"), "DM06",
        "model.language_model.layers.0.mlp.up_proj.weight.absmax", 1, 45, "one tensor");
    add("packed state",
        native(
            def,
            R"("model.vision_tower.encoder.layers.0.mlp.up_proj.linear.weight.quant_state.bitsandbytes__nf4": 0)"),
        "DM06",
        "model.vision_tower.encoder.layers.0.mlp.up_proj.linear.weight.quant_state.bitsandbytes__"
        "nf4",
        1, 45, "one tensor");
    add("statistics in a range",
        native(def, R"("model.language_model.layers.[0-3].mlp.up_proj.weight.absmax": 0)"), "DM06",
        "model.language_model.layers.[0-3].mlp.up_proj.weight.absmax", 1, 45, "one tensor");
    add("inside the head", native(def, R"("lm_head.weight.absmax": 0)"), "DM06",
        "lm_head.weight.absmax", 1, 45, "lm_head.weight");
    // DM08
    add("stored on a GPU, computed elsewhere",
        native(def, "\n\"model.vision_tower\": {\"compute\": \"cpu\"}"), "DM08",
        "model.vision_tower", 2, 23,
        "store comes from default, compute from the key \"model.vision_tower\"");
    add("two GPUs in one place",
        native(def, R"("model.norm": {"store": "cuda:0", "compute": "cuda:1"})"), "DM08",
        "model.norm", 1, 59, "1 tensor:");
    add("default disk", native("\"disk\"", ""), "DM08", "default", 1, 27,
        "2011" /* replaced below */);
    add("default without compute", native(R"({"store": "cpu"})", ""), "DM08", "default", 1, 27,
        "no compute");
    add("default without store", native(R"({"compute": "cpu"})", ""), "DM08", "default", 1, 27,
        "no store");
    add("default with neither", native(R"({"format": "nf4"})", ""), "DM08", "default", 1, 27,
        "neither");
    add("default stored on a GPU, computed on cpu",
        native(R"({"store": "cuda:0", "compute": "cpu"})", ""), "DM08", "default", 1, 27,
        "and so does compute");
    // DM10
    add("nf4 for a norm", native(def, R"("model.language_model.norm": {"format": "nf4"})"), "DM10",
        "model.language_model.norm", 1, 74, "only linear weights");
    add("q8 for a table of positions",
        native(def,
               R"("model.vision_tower.patch_embedder.position_embedding_table": {"format": "q8"})"),
        "DM10", "model.vision_tower.patch_embedder.position_embedding_table", 1, 107,
        "only linear weights");
}

void TestMapResolve::complaints() {
    QFETCH(QString, map);
    QFETCH(QString, code);
    QFETCH(QString, key);
    QFETCH(int, line);
    QFETCH(int, column);
    QFETCH(QString, part);
    const Resolution resolution = resolve(e2b(), map.toStdString(), kDevices);
    QCOMPARE(QString::fromStdString(codesOf(resolution.errors)), code);
    const PlanIssue& issue = resolution.errors[0];
    QCOMPARE(QString::fromStdString(issue.key), key);
    QCOMPARE(std::make_pair(issue.line, issue.column), std::make_pair(line, column));
    if (part == "2011") {
        part = QString::number(usedTensors(e2b())) + " tensors"; // all of them, once
    }
    QVERIFY2(inEnglish(issue).find(part.toStdString()) != std::string::npos,
             inEnglish(issue).c_str());
    if (code == "DM06") {
        QCOMPARE(issue.suggestions.size(), size_t{1});
    }
    if (inEnglish(issue).find("valid numbers") != std::string::npos && !key.contains("[")) {
        QVERIFY(issue.suggestions.empty());
    }
}

void TestMapResolve::togetherAndOnce() {
    const Resolution resolution = resolve(e2b(), native("\"cuda:0\"", R"(
        "model.language_model.layers.[0-99]": 0,
        "model.visoin_tower": "cuda:8",
        "model.language_model.layers.[0-20]": 0,
        "model.language_model.layers.[10-30]": 1,
        "model.audio_tower": {"compute": "cpu"},
        "model.embed_vision": {"compute": "cuda:1"},
        "model.embed_tokens.weight.absmax": 0)"),
                                          kDevices);
    QCOMPARE(codesOf(resolution.errors), std::string("DM02 DM02 DM05 DM06 DM04 DM08 DM08"));
    QVERIFY(inEnglish(resolution.errors[2]).find("[0-20]") != std::string::npos);
    QVERIFY(inEnglish(resolution.errors[5]).find("751 tensors") != std::string::npos);

    // A pair of keys contradicts itself once, three keys make three pairs.
    const Resolution three =
        resolve(e2b(), native("\"cuda:0\"", R"("model.language_model.layers.[0-20]": 0,
        "model.layers.[0-20]": 1, "language_model.layers.[0-20]": "cpu")"),
                kDevices);
    QCOMPARE(codesOf(three.errors), std::string("DM05 DM05 DM05"));
    // A bad default hides what follows from it, not the rest.
    const Resolution hidden = resolve(
        e2b(), native("\"disk\"", R"("model.vision_tower": "disk", "model.nrom": 0)"), kDevices);
    QCOMPARE(codesOf(hidden.errors), std::string("DM02 DM08"));
    QVERIFY(hidden.is_incomplete);
}

void TestMapResolve::proposals_data() {
    support::addColumns<QString, QStringList>("key", "expected");
    const auto add = [](const char* key, const QStringList& expected) {
        QTest::addRow("%s", key) << key << expected;
    };
    const QStringList projectors = {"model.embed_vision", "model.embed_audio"};
    add("multi_modal_projector", projectors);
    add("model.multi_modal_projector", projectors);
    add("model.multi_modal_projector.linear_1", projectors);
    add("mm_projector", projectors);
    add("model.mm_projector.0", projectors);
    add("vision_model", {"model.vision_tower"});
    add("model.vision_model.encoder.layers.0", {"model.vision_tower"});
    add("audio_model", {"model.audio_tower"});
    add("embed_per_layer", {"model.language_model.embed_tokens_per_layer"});
    add("model.per_layer_embed_tokens", {"model.language_model.embed_tokens_per_layer"});
    add("per_layer_token_embd.weight", {"model.language_model.embed_tokens_per_layer"});
    // Known names that end in the key, shortest first, then by name.
    add("layers.3", {"model.audio_tower.layers.3", "model.language_model.layers.3",
                     "model.vision_tower.encoder.layers.3"});
    add("layers.30", {"model.language_model.layers.30"});
    add("norm",
        {"model.language_model.norm", "model.audio_tower.subsample_conv_projection.layer0.norm",
         "model.audio_tower.subsample_conv_projection.layer1.norm"});
    add("per_layer_model_projection", {"model.language_model.per_layer_model_projection"});
    // Few letters off, component by component.
    add("model.visoin_tower", {"model.vision_tower"});
    add("model.vison_towr", {"model.vision_tower"});
    add("lm_haed", {"lm_head"});
    add("model.language_model.layer.3", {"model.language_model.layers.3"});
    // Two letters off the first norm's name, four off the last: all within 10 of 63 characters.
    add("model.language_model.layers.3.self_attn.qproj",
        {"model.language_model.layers.3.self_attn.q_proj",
         "model.language_model.layers.0.self_attn.q_proj",
         "model.language_model.layers.1.self_attn.q_proj"});
    add("something.else.entirely", {});
    add("x", {});
}

void TestMapResolve::proposals() {
    QFETCH(QString, key);
    QFETCH(QStringList, expected);
    const Resolution resolution =
        resolve(e2b(), native("\"cpu\"", "\"" + key.toStdString() + "\": 0"), kDevices);
    QCOMPARE(codesOf(resolution.errors), std::string("DM02"));
    QStringList found;
    for (const std::string& name : inEnglish(resolution.errors[0].suggestions)) {
        found << QString::fromStdString(name);
    }
    // Where the table or an ending answers, near names may follow.
    if (!expected.isEmpty() && found.size() > expected.size()) {
        QVERIFY2(found.size() <= 3, qPrintable(found.join(", ")));
        found = found.mid(0, expected.size());
    }
    QCOMPARE(found, expected);
}

/// Only names that hold the range as it was written, none of another number.
void TestMapResolve::proposalsForRanges() {
    for (const char* key : {"model.language_model.layers.[0-1].mpl",
                            "model.language_model.layers.[0-1].self_attn.qproj"}) {
        const Resolution resolution =
            resolve(e2b(), native("\"cpu\"", "\"" + std::string(key) + "\": 0"), kDevices);
        QCOMPARE(codesOf(resolution.errors), std::string("DM02"));
        QVERIFY(!resolution.errors[0].suggestions.empty());
        for (const std::string& name : inEnglish(resolution.errors[0].suggestions)) {
            QVERIFY2(name.find("layers.[0-1].") != std::string::npos, name.c_str());
        }
    }
}

void TestMapResolve::rangesOfTheImportedForm() {
    const auto messageOf = [](const std::string& map) {
        const Resolution resolution = resolve(e2b(), map, kDevices);
        return codesOf(resolution.errors) + " " + inEnglish(resolution.errors[0]);
    };
    const std::string range = messageOf(R"({"": 0, "model.language_model.layers.[0-3]": "cpu"})");
    QVERIFY2(range.starts_with("DM02 ") &&
                 range.ends_with(" ranges exist only in maps with \"version\": 1"),
             range.c_str());
    const std::string plain = messageOf(R"({"": 0, "model.language_model.layers.x": "cpu"})");
    QVERIFY2(plain.find("ranges") == std::string::npos, plain.c_str());
}

void TestMapResolve::editDistance_data() {
    support::addColumns<QString, QString, int>("a", "b", "distance");
    const auto add = [](const char* a, const char* b, int distance) {
        QTest::addRow("%s-%s", a, b) << a << b << distance;
    };
    add("", "", 0);
    add("", "abc", 3);
    add("kitten", "sitting", 3);
    add("ab", "ba", 1);
    add("ca", "abc", 2); // unrestricted: transposed and inserted between
    add("visoin", "vision", 1);
    add("a", "b", 1);
    add("abcdef", "badcfe", 3);
}

void TestMapResolve::editDistance() {
    QFETCH(QString, a);
    QFETCH(QString, b);
    QFETCH(int, distance);
    QCOMPARE(engine::editDistance(a.toStdString(), b.toStdString(), 100), distance);
    QCOMPARE(engine::editDistance(b.toStdString(), a.toStdString(), 100), distance);
}

void TestMapResolve::tied_data() {
    QTest::addColumn<QString>("map");
    QTest::addColumn<Format>("head");
    QTest::addColumn<QString>("codes");
    QTest::addColumn<QString>("table"); ///< Place and format.
    QTest::addColumn<QString>("own");   ///< For lm_head.weight, "none" when there is one copy.
    const auto add = [](const char* name, const std::string& map, Format head, const char* codes,
                        const char* table, const char* own) {
        QTest::addRow("%s", name) << QString::fromStdString(map) << head << codes << table << own;
    };
    const char* def = "\"cuda:0\"";
    const Format bf16 = Format::AsStored;
    const Format int8 = Format::Q8;
    const char* embed = R"("model.language_model.embed_tokens": )";
    add("nothing said", native(def, ""), bf16, "", "cuda:0 as_stored", "none");
    add("only embed_tokens", native(def, std::string(embed) + "\"cpu\""), bf16, "", "cpu as_stored",
        "none");
    add("only the model, not lm_head", native("\"cpu\"", R"("model": "cuda:1")"), bf16, "",
        "cuda:1 as_stored", "none");
    add("only lm_head, elsewhere", native(def, R"("lm_head": "cuda:1")"), bf16, "DM07",
        "cuda:0 as_stored", "none");
    add("only lm_head, same place", native(def, R"("lm_head": "cuda:0")"), bf16, "",
        "cuda:0 as_stored", "none");
    add("lm_head on the last GPU, two copies",
        native(def,
               R"("lm_head": {"store": "cuda:1", "compute": "cuda:1", "duplicate_tied": true})"),
        bf16, "", "cuda:0 as_stored", "cuda:1 as_stored");
    add("duplicate_tied at the table",
        native(def, std::string(embed) + R"({"duplicate_tied": true}, "lm_head": "cuda:1")"), bf16,
        "", "cuda:0 as_stored", "cuda:1 as_stored");
    add("duplicate_tied in the default",
        native(R"({"store": "cpu", "compute": "cpu", "duplicate_tied": true})",
               R"("lm_head": "cuda:1")"),
        bf16, "", "cpu as_stored", "cuda:1 as_stored");
    add("duplicate_tied false beats the default",
        native(
            R"({"store": "cpu", "compute": "cpu", "duplicate_tied": true})",
            std::string(embed) +
                R"({"duplicate_tied": false}, "lm_head": {"store": "cuda:1", "compute": "cuda:1", "duplicate_tied": false})"),
        bf16, "DM07", "cpu as_stored", "none");
    add("two copies in one place, because asked for",
        native(def, R"("lm_head": {"duplicate_tied": true})"), bf16, "", "cuda:0 as_stored",
        "cuda:0 as_stored");
    add("duplicate_tied without a key for lm_head",
        native(def, std::string(embed) + R"({"duplicate_tied": true})"), bf16, "",
        "cuda:0 as_stored", "none");
    add("residency alone may differ",
        native(def, std::string(embed) +
                        R"({"store": "cpu"}, "lm_head": {"store": "cpu", "residency": "always"})"),
        bf16, "", "cpu>cuda:0 stream as_stored", "none");
    add("imported: the copy is implied", R"({"": 0, "lm_head": 1})", bf16, "", "cuda:0 as_stored",
        "cuda:1 as_stored");
    add("imported: same place, one copy", R"({"": 0, "lm_head": 0})", bf16, "", "cuda:0 as_stored",
        "none");
    add("--head int8: a copy beside the table", native(def, ""), int8, "", "cuda:0 as_stored",
        "cuda:0 q8");
    add("--head int8 follows the table", native(def, std::string(embed) + "\"cpu\""), int8, "",
        "cpu as_stored", "cpu q8");
    add("--head int8, lm_head in the same place", native(def, R"("lm_head": "cuda:0")"), int8, "",
        "cuda:0 as_stored", "cuda:0 q8");
    add("--head int8, lm_head elsewhere",
        native(def, std::string(embed) + R"("cpu", "lm_head": "cuda:0")"), int8, "DM07",
        "cpu as_stored", "none");
    add("--head int8 imported", R"({"": 0, "model.embed_tokens": "cpu", "lm_head": 0})", int8, "",
        "cpu>cuda:0 stream as_stored", "cuda:0 q8");
    add("--head nf4", native(def, ""), Format::Nf4, "", "cuda:0 as_stored", "cuda:0 nf4");
    add("a format at the table is the head's, too",
        native(def, std::string(embed) + R"({"format": "q8"})"), bf16, "", "cuda:0 q8", "none");
    add("a format at the table beats --head",
        native(def, std::string(embed) + R"({"format": "bf16"})"), int8, "", "cuda:0 as_stored",
        "none");
    add("--head equals the table's format",
        native(def, std::string(embed) + R"({"format": "q8"}, "lm_head": 0)"), int8, "",
        "cuda:0 q8", "none");
    add("a format at lm_head alone", native(def, R"("lm_head": {"format": "q8"})"), bf16, "DM07",
        "cuda:0 as_stored", "none");
    add("a format at lm_head with two copies",
        native(def, R"("lm_head": {"format": "nf4", "duplicate_tied": true})"), bf16, "",
        "cuda:0 as_stored", "cuda:0 nf4");
    add("a format at lm_head beats --head", native(def, R"("lm_head": {"format": "as_stored"})"),
        int8, "", "cuda:0 as_stored", "none");
    add("a 4-bit default leaves the table alone",
        native(R"({"store": "cpu", "compute": "cpu", "format": "nf4"})", ""), bf16, "",
        "cpu as_stored", "none");
    add("a 4-bit default leaves the head to --head",
        native(R"({"store": "cpu", "compute": "cpu", "format": "nf4"})", ""), int8, "",
        "cpu as_stored", "cpu q8");
}

void TestMapResolve::tied() {
    QFETCH(QString, map);
    QFETCH(Format, head);
    QFETCH(QString, codes);
    QFETCH(QString, table);
    QFETCH(QString, own);
    const Resolution resolution =
        resolve(e2b(), map.toStdString(), kDevices, Format::AsStored, head);
    QCOMPARE(QString::fromStdString(codesOf(resolution.errors)), codes);
    const auto text = [&resolution](const char* name) {
        const ResolvedTensor* row = rowOf(e2b(), resolution, name);
        static const char* const kNames[] = {"",    "as_stored", "bf16", "f16",    "f32",
                                             "nf4", "nf4_dq",    "fp4",  "fp4_dq", "q8"};
        return row == nullptr ? QString("none")
                              : QString::fromStdString(placeText(row)) + " " +
                                    kNames[static_cast<int>(row->format)];
    };
    QCOMPARE(text("model.language_model.embed_tokens.weight"), table);
    QCOMPARE(text("lm_head.weight"), own);
    QCOMPARE(resolution.has_own_head, own != "none");
    if (codes == "DM07") {
        const PlanIssue& issue = resolution.errors[0];
        QVERIFY(issue.line > 0);
        QVERIFY(inEnglish(issue).find("lm_head") != std::string::npos);
        QVERIFY(inEnglish(issue).find("embed_tokens") != std::string::npos);
        QCOMPARE(issue.suggestions.size(), size_t{1});
    }
}

/// One tensor has one residency: what a key says of the head alone is not dropped in silence.
void TestMapResolve::fieldsOfTheTiedHead() {
    const auto notesOf = [](const std::string& map) {
        const Resolution resolved =
            resolve(publishedModel("E2B"),
                    R"({"version": 1, "default": {"store": "cpu", "compute": "cuda:0"}, "map": {)" +
                        map + "}}",
                    {DeviceId::cuda(0)});
        std::string all = codesOf(resolved.errors);
        for (const std::string& note : inEnglish(resolved.notes)) {
            all += note + "\n";
        }
        return all;
    };
    const std::string both = notesOf(R"("lm_head": {"residency": "always", "pin": true})");
    QVERIFY2(both.starts_with("residency given by the key \"lm_head\" has no effect") &&
                 both.find("\npin given by the key \"lm_head\"") != std::string::npos &&
                 both.find("embed_tokens, or ask for two copies") != std::string::npos,
             both.c_str());
    // Where the table says the same, or there are two copies, nothing is lost.
    for (const char* map :
         {R"("lm_head": {"residency": "stream"})",
          R"("lm_head": {"residency": "always", "pin": true, "duplicate_tied": true})",
          R"("lm_head": {"pin": false}, "model.embed_tokens": {"pin": false})"}) {
        const std::string notes = notesOf(map);
        QVERIFY2(notes.find("has no effect") == std::string::npos, notes.c_str());
    }
}

void TestMapResolve::formats_data() {
    support::addColumns<QString, Format, QString, int>("keys", "quant", "tensor", "format");
    const auto add = [](const char* name, const char* keys, Format quant, const std::string& tensor,
                        Format format) {
        QTest::addRow("%s", name) << keys << quant << QString::fromStdString(tensor)
                                  << static_cast<int>(format);
    };
    const std::string up = kLayer + "3.mlp.up_proj.weight";
    const std::string norm = kLayer + "3.input_layernorm.weight";
    const std::string vision = "model.vision_tower.encoder.layers.0.mlp.up_proj.linear.weight";
    const std::string clip = "model.vision_tower.encoder.layers.0.mlp.up_proj.input_max";
    const std::string table = "model.language_model.embed_tokens_per_layer.weight";
    const Format none = Format::AsStored;
    const Format nf4 = Format::Nf4;
    add("no option", "", none, up, Format::AsStored);
    add("option", "", nf4, up, Format::Nf4);
    add("option, towers too", "", nf4, vision, Format::Nf4);
    add("option, projector", "", Format::Nf4Dq, "model.embed_audio.embedding_projection.weight",
        Format::Nf4Dq);
    add("option, no norm", "", nf4, norm, Format::AsStored);
    add("option, no table", "", nf4, table, Format::AsStored);
    add("option, no position table", "", nf4,
        "model.vision_tower.patch_embedder.position_embedding_table", Format::AsStored);
    add("as_stored keeps a tower out", R"("model.vision_tower": {"format": "as_stored"})", nf4,
        vision, Format::AsStored);
    add("bf16 of bf16 is as stored", R"("model.vision_tower": {"format": "bf16"})", nf4, vision,
        Format::AsStored);
    add("f32 for everything below", R"("model.vision_tower": {"format": "f32"})", nf4, clip,
        Format::F32);
    add("4 bits for a part: linear weights", R"("model.vision_tower": {"format": "fp4"})", none,
        vision, Format::Fp4);
    add("4 bits for a part: not the rest", R"("model.vision_tower": {"format": "fp4"})", none, clip,
        Format::AsStored);
    add("q8 for a part", R"("model.language_model": {"format": "q8"})", nf4, up, Format::Q8);
    add("q8 for a part: not the table", R"("model.language_model": {"format": "q8"})", nf4, table,
        Format::AsStored);
    add("nf4 for exactly the table",
        R"("model.language_model.embed_tokens_per_layer": {"format": "nf4"})", none, table,
        Format::Nf4);
    add("nf4 for exactly the table's tensor",
        R"("model.language_model.embed_tokens_per_layer.weight": {"format": "q8"})", none, table,
        Format::Q8);
    add("deeper key",
        R"("model": {"format": "nf4"}, "model.language_model.layers.3.mlp": {"format": "f16"})",
        none, up, Format::F16);
    add("a small format above hides a dense one further up: a norm stays",
        R"("model": {"format": "f32"}, "model.language_model": {"format": "nf4"})", none, norm,
        Format::AsStored);
    add("one linear by name", R"("model.layers.3.mlp.up_proj.weight": {"format": "fp4_dq"})", nf4,
        up, Format::Fp4Dq);
    add("a wrapped linear by its wrapper",
        R"("vision_tower.encoder.layers.0.mlp.up_proj": {"format": "nf4"})", none, vision,
        Format::Nf4);
}

void TestMapResolve::formats() {
    QFETCH(QString, keys);
    QFETCH(Format, quant);
    QFETCH(QString, tensor);
    QFETCH(int, format);
    const Resolution resolution =
        resolve(e2b(), native("\"cpu\"", keys.toStdString()), kDevices, quant);
    QCOMPARE(codesOf(resolution.errors), std::string());
    const ResolvedTensor* row = rowOf(e2b(), resolution, tensor.toStdString());
    QVERIFY(row != nullptr);
    QCOMPARE(static_cast<int>(row->format), format);
    QCOMPARE(row->is_converted, row->format != Format::AsStored);
}

void TestMapResolve::packedCheckpoint() {
    StoredTensors stored;
    for (const ExpectedTensor& tensor : e2b().tensors) {
        StoredTensor entry;
        if (isQuantizable(tensor) && tensor.tower == Tower::Language) {
            entry.packed = Format::Nf4Dq;
        }
        stored[tensor.name] = entry;
    }
    const std::string up = kLayer + "3.mlp.up_proj.weight";
    const auto with = [&](const std::string& keys, Format quant = Format::AsStored) {
        return resolve(e2b(), native("\"cpu\"", keys), kDevices, quant, Format::AsStored, stored);
    };
    Resolution plain = with("");
    QCOMPARE(rowOf(e2b(), plain, up)->format, Format::Nf4Dq);
    QVERIFY(!rowOf(e2b(), plain, up)->is_converted);

    // --quant leaves packed weights as they are and says so; the others follow it.
    Resolution option = with("", Format::Fp4);
    QCOMPARE(codesOf(option.errors), std::string());
    QCOMPARE(rowOf(e2b(), option, up)->format, Format::Nf4Dq);
    QCOMPARE(rowOf(e2b(), option, "model.embed_vision.embedding_projection.weight")->format,
             Format::Fp4);
    QVERIFY(mentions(inEnglish(option.notes), "packed already"));

    // The stored format may be asked for; another one cannot be derived.
    QCOMPARE(codesOf(with(R"("model.language_model": {"format": "nf4_dq"})").errors),
             std::string());
    const Resolution fp4 = with(R"("model.language_model": {"format": "fp4"})");
    QCOMPARE(codesOf(fp4.errors), std::string("DM10"));
    QVERIFY2(inEnglish(fp4.errors[0]).find("276 tensors") != std::string::npos,
             inEnglish(fp4.errors[0]).c_str());
    QCOMPARE(codesOf(with(R"("model.language_model": {"format": "bf16"})").errors),
             std::string("DM10"));

    // Expansion is explicit: a key that names the tensor, with a warning.
    const Resolution expanded =
        with(R"("model.language_model.layers.3.mlp.up_proj": {"format": "bf16"})");
    QCOMPARE(codesOf(expanded.errors), std::string());
    QCOMPARE(codesOf(expanded.warnings), std::string("DM10"));
    QCOMPARE(rowOf(e2b(), expanded, up)->format, Format::Bf16);
    QVERIFY(rowOf(e2b(), expanded, up)->is_converted);
}

// Known names follow the config: no towers, no PLE, experts.
void TestMapResolve::otherFamilies() {
    const Model dense = publishedModel("31B");
    QCOMPARE(codesOf(resolve(dense, R"({"": 0, "model.audio_tower": "cpu"})", kDevices).errors),
             std::string("DM02"));
    const Resolution projector =
        resolve(dense, R"({"": 0, "model.multi_modal_projector": "cpu"})", kDevices);
    const std::vector<std::string> meant = inEnglish(projector.errors[0].suggestions);
    QCOMPARE(meant.front(), std::string("model.embed_vision"));
    QVERIFY(std::find(meant.begin(), meant.end(), "model.embed_audio") == meant.end());
    const Model moe = publishedModel("26B-A4B");
    const Resolution experts = resolve(
        moe,
        native("\"cuda:0\"",
               R"("model.layers.[0-29].experts": "cpu", "model.layers.3.router.norm": "cpu")"),
        kDevices, Format::Nf4);
    QCOMPARE(codesOf(experts.errors), std::string());
    QCOMPARE(placeText(rowOf(moe, experts, kLayer + "7.experts.gate_up_proj")), std::string("cpu"));
    // Experts are no linear modules: --quant leaves them, the router's projection is one.
    QCOMPARE(rowOf(moe, experts, kLayer + "7.experts.gate_up_proj")->format, Format::AsStored);
    QCOMPARE(rowOf(moe, experts, kLayer + "7.router.proj.weight")->format, Format::Nf4);
    // Small formats only where a key says so of exactly them.
    const std::string gate_up = "model.language_model.layers.[0-29].experts.gate_up_proj";
    const Resolution small =
        resolve(moe,
                native("\"cuda:0\"",
                       "\"" + gate_up +
                           R"(": {"format": "nf4"}, "model.layers.7.experts": {"format": "q8"})"),
                kDevices, Format::Nf4);
    QCOMPARE(codesOf(small.errors), std::string());
    QCOMPARE(rowOf(moe, small, kLayer + "7.experts.gate_up_proj")->format, Format::Nf4);
    QCOMPARE(rowOf(moe, small, kLayer + "7.experts.down_proj")->format, Format::AsStored);
    QVERIFY(mentions(inEnglish(experts.notes), "router.norm"));
    // In accelerate's form as well "cpu" computes experts that a key names; whole layers and what
    // lies on disk travel, and so do experts where the long form says so.
    const Resolution imported =
        resolve(moe,
                R"({"": 0, "model.language_model.layers.0.experts": "cpu", "model.layers.1": "cpu",
                    "model.layers.2.experts": "disk", "model.layers.3.experts.down_proj": "cpu"})",
                kDevices);
    QCOMPARE(codesOf(imported.errors), std::string());
    const auto placeOf = [&](const Resolution& from, const std::string& name) {
        return placeText(rowOf(moe, from, kLayer + name));
    };
    QCOMPARE(placeOf(imported, "0.experts.gate_up_proj"), std::string("cpu"));
    QCOMPARE(placeOf(imported, "0.router.proj.weight"), std::string("cuda:0"));
    QCOMPARE(placeOf(imported, "1.experts.gate_up_proj"), std::string("cpu>cuda:0 stream"));
    QCOMPARE(placeOf(imported, "2.experts.gate_up_proj"), std::string("disk>cuda:0 stream"));
    QCOMPARE(placeOf(imported, "3.experts.down_proj"), std::string("cpu"));
    const Resolution streamed =
        resolve(moe,
                native("\"cuda:0\"",
                       R"("model.layers.[0-29].experts": {"store": "cpu", "compute": "cuda:0"})"),
                kDevices);
    QCOMPARE(placeOf(streamed, "9.experts.down_proj"), std::string("cpu>cuda:0 stream"));
}

void TestMapResolve::clipScalarsAbsent() {
    StoredTensors stored;
    size_t present = 0;
    for (const ExpectedTensor& tensor : e2b().tensors) {
        if (tensor.is_required && !tensor.is_unused) {
            stored[tensor.name] = {};
            ++present;
        }
    }
    const Resolution resolution =
        resolve(e2b(), R"({"": 0})", kDevices, Format::AsStored, Format::AsStored, stored);
    QCOMPARE(resolution.tensors.size(), present);
    QCOMPARE(present, usedTensors(e2b()) - 928);
    // A required tensor that the files lack is planned and noted.
    stored.erase("model.language_model.norm.weight");
    const Resolution missing =
        resolve(e2b(), R"({"": 0})", kDevices, Format::AsStored, Format::AsStored, stored);
    QCOMPARE(missing.tensors.size(), present);
    QVERIFY(mentions(inEnglish(missing.notes), "model.language_model.norm.weight"));
}

TEST_CLASS(TestMapResolve)
#include "tst_map_resolve.moc"
