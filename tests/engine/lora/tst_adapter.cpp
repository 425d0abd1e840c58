// SPDX-License-Identifier: Apache-2.0
// Adapter folders against models: the golden ones and those of tests/data/adapters, the layout of
// the forum's 786-tensor adapter on the real E2B sizes, every spelling of the same adapter.
#include "engine/base/sentence_english.h"
#include "engine/families/config.h"
#include "engine/lora/adapter.h"
#include "engine/lora/adapter_runtime.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/support/program/test_class.h"
#include "tests/support/published_configs.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace engine;
using namespace lora_test;

namespace {
constexpr const char* kPrefix = "base_model.model.";

std::string pathOf(const QTemporaryDir& folder) {
    return folder.path().toStdString();
}

/// Summary text of what an adapter does where, to compare two of them.
std::string digest(const Adapter& adapter) {
    std::string text;
    for (const LowRankUpdate& u : adapter.updates()) {
        text += u.tensor + " " + std::to_string(u.rank) + " " + std::to_string(u.scaling) + "\n";
        std::vector<float> a(static_cast<size_t>(product(u.a.shape)));
        if (!adapter.readFloats(u.a, a)) {
            return "unreadable";
        }
        for (const float value : a) {
            text += std::to_string(value) + ",";
        }
    }
    return text;
}
} // namespace

class TestAdapter : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void goldenCounts_data();
    void goldenCounts();
    void publishedNamesOfEmbedders();
    void scalingTable_data();
    void scalingTable();
    void oldKeysAreReported();
    void otherKinds_data();
    void otherKinds();
    void forumLayout();
    void spellings_data();
    void spellings();
    void mixedFamiliesAreRefused();
    void innerAndOuterMayMix();
    void normsMatchTheProduct();
    void savedTableEqualToBase();
    void everyKeyIsInOneClass();
    void targetedButMissing();
    void unknownMembersAreListed();
    void foreignAdapterIsRefused();
    void filesBeside_data();
    void filesBeside();
};

void TestAdapter::goldenCounts_data() {
    support::addColumns<QByteArray, QByteArray, int, int, int, int>("model", "adapter", "language",
                                                                    "vision", "audio", "modules");
    const auto row = [](const char* model, const char* adapter, int language, int vision, int audio,
                        int modules) {
        QTest::addRow("%s/%s", model, adapter)
            << QByteArray(model) << QByteArray(adapter) << language << vision << audio << modules;
    };
    // E2B topology: 10 layers of which 4 share KV: 6 * 7 + 4 * 5 = 62 modules; 3 vision layers of
    // 7; 2 audio layers of 3. Two tensors each.
    row("e2b", "text", 124, 0, 0, 62);
    row("e2b", "multimodal", 124, 42, 12, 89);
    row("e2b", "rslora", 124, 42, 12, 89);
    row("e2b", "dora", 186, 0, 0, 62);
    row("e2b", "layers", 12, 0, 0, 6);
    row("e2b", "bridges", 22, 2, 4, 14); // 10 gates + model projection; embed_vision; two of audio
    row("e2b", "pattern", 60, 0, 0, 30);
    // 12 layers of which 5 share KV: 7 * 7 + 5 * 5 = 74.
    row("e4b", "text", 148, 0, 0, 74);
    row("e4b", "multimodal", 148, 28, 18, 97); // 2 vision layers, 3 audio layers
    // 6 layers, no v_proj in the full one: 41.
    row("dense31b", "text", 82, 0, 0, 41);
    row("dense31b", "multimodal", 82, 28, 0, 55);
    row("moe26b", "text", 82, 0, 0, 41);
    row("moe26b", "multimodal", 82, 28, 0, 55);
    // 4 layers, no v_proj in the full one: 27; both linears of the vision embedder; the audio's.
    row("unified12b", "multimodal", 54, 4, 2, 30);
}

void TestAdapter::goldenCounts() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, adapter);
    QFETCH(int, language);
    QFETCH(int, vision);
    QFETCH(int, audio);
    QFETCH(int, modules);
    const Model m = goldenModel(model.toStdString());
    const auto folder =
        support::goldenDir() / model.toStdString() / "adapters" / adapter.toStdString();
    const auto loaded = loadAdapter(folder, m.config, m.tensors);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const CoverageReport& c = (*loaded)->coverage();
    QCOMPARE(c.by_tower.language, language);
    QCOMPARE(c.by_tower.vision, vision);
    QCOMPARE(c.by_tower.audio, audio);
    QCOMPARE(c.by_tower.other, 0);
    QCOMPARE(c.tensors, language + vision + audio);
    QCOMPARE(c.active, c.tensors);
    QCOMPARE(c.matched_modules.size(), static_cast<size_t>(modules));
    QCOMPARE((*loaded)->updates().size(), static_cast<size_t>(modules));
    QVERIFY(c.unmatched.empty());
    QVERIFY(c.targeted_but_missing.empty());
    QCOMPARE(c.norms.size(), static_cast<size_t>(modules));
    for (const DeltaNorm& norm : c.norms) {
        QVERIFY2(norm.frobenius > 0.0, norm.tensor.c_str());
    }
    const auto probe = probeAdapter(folder, m.config, m.tensors);
    QVERIFY(probe);
    QCOMPARE(probe->footprint.total_bytes, (*loaded)->footprint().total_bytes);
    QCOMPARE(probe->coverage.active, c.active);
}

/// Keys as the 12B's files name its embedders, where PEFT writes the names of the module tree.
void TestAdapter::publishedNamesOfEmbedders() {
    const Model m = goldenModel("unified12b");
    const auto folder = support::goldenDir() / "unified12b/adapters/multimodal";
    const auto renamed = [](std::string text, const std::string& from, const std::string& to) {
        for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
            text.replace(at, from.size(), to);
        }
        return text;
    };
    const auto published = [&](const std::string& text) {
        return renamed(renamed(text, "embed_vision.patch_dense", "vision_embedder.patch_dense"),
                       "multimodal_embedder.", "");
    };
    Tensors tensors;
    for (const auto& [name, tensor] : goldenTensors(folder / "adapter_model.safetensors")) {
        tensors[published(name)] = tensor;
    }
    Json config = goldenConfig(folder);
    config["target_modules"] = {"q_proj",    "k_proj",      "v_proj",
                                "o_proj",    "gate_proj",   "up_proj",
                                "down_proj", "patch_dense", "embedding_projection"};
    QTemporaryDir written;
    writeAdapter(pathOf(written), config, tensors);
    const auto wanted = loadAdapter(folder, m.config, m.tensors);
    const auto loaded = loadAdapter(pathOf(written), m.config, m.tensors);
    QVERIFY(wanted);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QVERIFY((*loaded)->coverage().unmatched.empty());
    QCOMPARE((*loaded)->coverage().by_tower.vision, 4);
    QCOMPARE((*loaded)->updates().size(), (*wanted)->updates().size());
    for (const LowRankUpdate& update : (*wanted)->updates()) {
        QVERIFY2(
            std::any_of((*loaded)->updates().begin(), (*loaded)->updates().end(),
                        [&](const LowRankUpdate& other) { return other.tensor == update.tensor; }),
            update.tensor.c_str());
    }
}

void TestAdapter::scalingTable_data() {
    support::addColumns<QByteArray, QByteArray, int, double>("adapter", "tensor", "rank",
                                                             "scaling");
    const auto row = [](const char* adapter, const char* tensor, int rank, double scaling) {
        QTest::addRow("%s %s", adapter, tensor)
            << QByteArray(adapter) << QByteArray(tensor) << rank << scaling;
    };
    row("text", "model.language_model.layers.0.mlp.up_proj.weight", 8, 16.0 / 8);
    row("multimodal", "model.audio_tower.layers.1.self_attn.q_proj.linear.weight", 8, 2.0);
    row("rslora", "model.language_model.layers.0.mlp.up_proj.weight", 8, 16.0 / std::sqrt(8.0));
    row("dora", "model.language_model.layers.9.self_attn.o_proj.weight", 4, 2.0);
    row("layers", "model.language_model.layers.3.mlp.down_proj.weight", 4, 2.0);
    row("bridges", "model.language_model.per_layer_model_projection.weight", 4, 2.0);
    // rank_pattern: layer 0 q_proj 4, o_proj 2; alpha_pattern: gate_proj 48; r 8, alpha 16.
    row("pattern", "model.language_model.layers.0.self_attn.q_proj.weight", 4, 16.0 / 4);
    row("pattern", "model.language_model.layers.1.self_attn.q_proj.weight", 8, 16.0 / 8);
    row("pattern", "model.language_model.layers.5.self_attn.o_proj.weight", 2, 16.0 / 2);
    row("pattern", "model.language_model.layers.5.mlp.gate_proj.weight", 8, 48.0 / 8);
}

void TestAdapter::scalingTable() {
    QFETCH(QByteArray, adapter);
    QFETCH(QByteArray, tensor);
    QFETCH(int, rank);
    QFETCH(double, scaling);
    const Model m = goldenModel("e2b");
    const auto loaded = loadAdapter(support::goldenDir() / "e2b/adapters" / adapter.toStdString(),
                                    m.config, m.tensors);
    QVERIFY(loaded);
    for (const LowRankUpdate& update : (*loaded)->updates()) {
        if (update.tensor == tensor.toStdString()) {
            QCOMPARE(update.rank, rank);
            QCOMPARE(update.scaling, scaling);
            return;
        }
    }
    QFAIL("no such update");
}

void TestAdapter::oldKeysAreReported() {
    for (const char* name : {"e2b", "e4b"}) {
        const Model m = goldenModel(name);
        const auto folder = support::goldenDir() / name / "adapters";
        const auto plain = loadAdapter(folder / "multimodal", m.config, m.tensors);
        const auto old = loadAdapter(folder / "multimodal_old_keys", m.config, m.tensors);
        QVERIFY2(plain && old, old ? "" : old.error().message.c_str());
        QCOMPARE(digest(**old), digest(**plain));
        const auto plain_keys =
            support::readSafetensors(folder / "multimodal/adapter_model.safetensors");
        const auto old_keys =
            support::readSafetensors(folder / "multimodal_old_keys/adapter_model.safetensors");
        std::set<std::string> extra;
        for (const auto& [key, tensor] : old_keys) {
            if (!plain_keys.contains(key)) {
                extra.insert(key);
            }
        }
        std::set<std::string> reported;
        for (const KeyReport& row : (*old)->coverage().unmatched) {
            QCOMPARE(row.key_class, KeyClass::Inert);
            const std::string why = inEnglish(row.reason.sentence);
            QVERIFY2(why.find("shares the KV of layer") != std::string::npos, why.c_str());
            reported.insert(row.key);
        }
        QVERIFY(!extra.empty());
        QVERIFY(reported == extra);
        QCOMPARE((*old)->coverage().inert, static_cast<int64_t>(extra.size()));
        QCOMPARE((*old)->coverage().active, (*plain)->coverage().active);
        // E2B: layers 6 to 9 read layer 3 (sliding) or 4 (full).
        if (std::string(name) == "e2b") {
            for (const KeyReport& row : (*old)->coverage().unmatched) {
                const bool is_last = row.key.find("layers.9.") != std::string::npos;
                const std::string why = inEnglish(row.reason.sentence);
                QVERIFY2(why.ends_with(is_last ? "of layer 4" : "of layer 5"), why.c_str());
            }
        }
    }
}

void TestAdapter::otherKinds_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, int, int, int>(
        "model", "adapter", "kind", "updates", "rows", "replacements");
    const auto row = [](const char* model, const char* adapter, const char* kind, int updates,
                        int rows, int replacements) {
        QTest::newRow(adapter) << QByteArray(model) << QByteArray(adapter) << QByteArray(kind)
                               << updates << rows << replacements;
    };
    row("e2b", "lora_bias", "lora+bias", 3, 0, 0);
    row("e2b", "bias_all", "lora+saved", 1, 0, 1);
    // 10 gates; 10 projections, 10 + 3 norms (the vision tower has them too) and the projector of
    // the vision tower replaced.
    row("e2b", "modules_to_save", "lora+saved", 10, 0, 24);
    row("e2b", "trainable_tokens", "lora+tokens", 1, 2, 0);
    row("e2b", "embedding", "lora+embedding", 12, 0, 0);
    row("e2b", "embedding_dora", "dora+embedding", 11, 0, 0);
    row("e2b", "head", "lora", 1, 0, 0);
    row("e2b", "tied_embedding", "lora+embedding", 2, 0, 0);
    row("moe26b", "experts", "lora+experts", 18, 0, 0); // 6 routers, 6 gate_up, 6 down
    row("moe26b", "experts_down", "lora+experts", 1, 0, 0);
    row("moe26b", "experts_peft_0_18", "lora+experts", 12, 0, 0);
    row("moe26b", "experts_square_peft_0_18", "lora+experts", 6, 0, 0);
    row("moe26b", "experts_square_peft_0_19_0", "lora+experts", 1, 0, 0);
}

void TestAdapter::otherKinds() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, adapter);
    QFETCH(QByteArray, kind);
    QFETCH(int, updates);
    QFETCH(int, rows);
    QFETCH(int, replacements);
    const Model m = goldenModel(model.toStdString());
    const auto loaded = loadAdapter(adapterData() / adapter.toStdString(), m.config, m.tensors);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QCOMPARE(QByteArray::fromStdString((*loaded)->coverage().kind), kind);
    QCOMPARE((*loaded)->updates().size(), static_cast<size_t>(updates));
    QCOMPARE((*loaded)->rowReplacements().size(), static_cast<size_t>(rows));
    QCOMPARE((*loaded)->replacements().size(), static_cast<size_t>(replacements));
    QCOMPARE((*loaded)->coverage().active, (*loaded)->coverage().tensors);
    if (adapter == "experts") {
        for (const LowRankUpdate& update : (*loaded)->updates()) {
            const bool is_down = update.tensor.ends_with("experts.down_proj");
            const bool is_gate_up = update.tensor.ends_with("experts.gate_up_proj");
            QCOMPARE(update.experts, is_down || is_gate_up ? 8 : 0);
            QCOMPARE(update.rank, is_down ? 1 : 2);
        }
    }
}

/// The forum's adapter: q, k, v, o, gate, up, down of 35 language and 16 vision layers, q, k, v of
/// 12 audio layers, on the real E2B sizes (values are random; one rank-1 pair each keeps it small).
void TestAdapter::forumLayout() {
    const auto config =
        parseModelConfig(support::publishedConfigJson("E2B"), support::publishedGenerationJson(),
                         support::publishedProcessorJson());
    QVERIFY2(config, config ? "" : config.error().message.c_str());
    const auto list = listTensors(*config);
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const ExpectedTensor& tensor : list) {
        shapes[tensor.name] = tensor.shape;
    }
    Tensors tensors;
    uint64_t seed = 1;
    uint64_t active_bytes = 0;
    uint64_t largest_in = 0;
    const auto add = [&](const std::string& module, bool is_active) {
        const auto& shape = shapes.at(module + ".weight");
        addPair(tensors, kPrefix + module, shape[0], shape[1], 1, seed += 2, "BF16");
        largest_in = std::max(largest_in, static_cast<uint64_t>(shape[1]));
        if (is_active) {
            const auto padded = [](int64_t n) {
                return (static_cast<uint64_t>(n) * 2 + 63) / 64 * 64;
            };
            active_bytes += padded(shape[0]) + padded(shape[1]) + 64; // A, B and the factor
        }
    };
    for (int layer = 0; layer < 35; ++layer) {
        const std::string p = "model.language_model.layers." + std::to_string(layer) + ".";
        for (const char* part :
             {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
              "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
            const std::string name = part;
            const bool is_kv = name == "self_attn.k_proj" || name == "self_attn.v_proj";
            add(p + part, !(is_kv && layer >= 15));
        }
    }
    for (int layer = 0; layer < 16; ++layer) {
        const std::string p = "model.vision_tower.encoder.layers." + std::to_string(layer) + ".";
        for (const char* part :
             {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
              "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
            add(p + part + ".linear", true);
        }
    }
    for (int layer = 0; layer < 12; ++layer) {
        const std::string p = "model.audio_tower.layers." + std::to_string(layer) + ".self_attn.";
        for (const char* part : {"q_proj", "k_proj", "v_proj"}) {
            add(p + part + ".linear", true);
        }
    }
    QCOMPARE(tensors.size(), size_t{786});
    Json json = minimalConfig();
    json["r"] = 1;
    json["lora_alpha"] = 2;
    json.erase("exclude_modules");
    // The pattern of the forum's post.
    json["target_modules"] =
        R"((?:.*?(?:vision|image|visual|patch|audio|language|text).*?(?:self_attn|attention|attn|mlp|feed_forward|ffn|dense).*?(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)(?:\.linear)?)|(?:\bmodel\.layers\.[\d]{1,}\.(?:self_attn|mlp)\.(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)))";
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), json, tensors);
    const auto loaded = loadAdapter(pathOf(folder), *config, list);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const CoverageReport& c = (*loaded)->coverage();
    QCOMPARE(c.tensors, 786);
    QCOMPARE(c.by_tower.audio, 72);
    QCOMPARE(c.by_tower.language, 490);
    QCOMPARE(c.by_tower.vision, 224);
    QCOMPARE(c.by_tower.other, 0);
    QCOMPARE(c.active, 706);
    QCOMPARE(c.inert, 80);
    QCOMPARE(c.ignored + c.errors, 0);
    QCOMPARE(c.active_by_tower.language, 410);
    QCOMPARE(c.matched_modules.size(), size_t{353});
    QCOMPARE(c.unmatched.size(), size_t{80});
    for (const KeyReport& row : c.unmatched) {
        QVERIFY(row.key.find("k_proj") != std::string::npos ||
                row.key.find("v_proj") != std::string::npos);
        // Layers 15 and up read 13 (sliding) or 14 (full: 19, 24, 29, 34).
        const auto at = row.key.find("layers.") + 7;
        const int layer = std::stoi(row.key.substr(at));
        QVERIFY(layer >= 15 && layer <= 34);
        const int owner = layer % 5 == 4 ? 14 : 13;
        QCOMPARE(inEnglish(row.reason.sentence), "layer " + std::to_string(layer) +
                                                     " shares the KV of layer " +
                                                     std::to_string(owner));
    }
    QCOMPARE((*loaded)->footprint().total_bytes, active_bytes);
}

void TestAdapter::spellings_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, QByteArray>("from", "to", "adapter",
                                                                        "pattern");
    const auto row = [](const char* title, const char* adapter, const char* from, const char* to,
                        const char* pattern) {
        QTest::newRow(title) << QByteArray(from) << QByteArray(to) << QByteArray(adapter)
                             << QByteArray(pattern);
    };
    row("no peft prefix", "text", "base_model.model.", "", nullptr);
    row("text-only class", "text", "model.model.language_model.", "model.model.",
        R"(model\.layers\.\d+\.(self_attn|mlp)\.\w+_proj)");
    row("old wrapper", "text", "model.model.language_model.", "model.language_model.model.",
        R"(language_model\.model\.layers\.\d+\..*_proj)");
    row("inner model", "text", "model.model.language_model.", "model.language_model.",
        R"(language_model\.layers\.\d+\..*_proj)");
    row("bare text model", "text", "model.model.language_model.", "model.",
        R"(layers\.\d+\..*_proj)");
    row("adapter name", "text", "lora_A.weight", "lora_A.default.weight", nullptr);
    row("compiled", "text", "base_model.model.model.", "base_model.model._orig_mod.model.",
        nullptr);
    row("data parallel", "text", "base_model.", "module.base_model.", nullptr);
    row("outer names of clipped linears", "multimodal", ".linear.lora_", ".lora_",
        R"(.*\.(q|k|v|o|gate|up|down)_proj)");
    row("outer names, pattern for the inner", "multimodal", ".linear.lora_", ".lora_", nullptr);
    row("towers without model.", "multimodal", "base_model.model.model.", "base_model.model.",
        R"((language_model|vision_tower|audio_tower)\..*(self_attn|mlp)\.[a-z]+_proj(\.linear)?)");
    row("magnitude with weight", "dora", "lora_magnitude_vector", "lora_magnitude_vector.weight",
        nullptr);
}

void TestAdapter::spellings() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QByteArray, adapter);
    QFETCH(QByteArray, pattern);
    const Model m = goldenModel("e2b");
    const auto folder = support::goldenDir() / "e2b/adapters" / adapter.toStdString();
    const auto plain = loadAdapter(folder, m.config, m.tensors);
    QVERIFY(plain);
    Tensors renamed;
    for (const auto& [key, tensor] : goldenTensors(folder / "adapter_model.safetensors")) {
        std::string name = key;
        const auto at = name.find(from.toStdString());
        if (at != std::string::npos) {
            name.replace(at, static_cast<size_t>(from.size()), to.toStdString());
        }
        renamed[name] = tensor;
    }
    Json config = goldenConfig(folder);
    if (!pattern.isNull()) {
        config["target_modules"] = pattern.toStdString();
    }
    QTemporaryDir other;
    writeAdapter(pathOf(other), config, renamed);
    const auto loaded = loadAdapter(pathOf(other), m.config, m.tensors);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QCOMPARE(digest(**loaded), digest(**plain));
    QCOMPARE((*loaded)->coverage().active, (*plain)->coverage().active);
}

void TestAdapter::mixedFamiliesAreRefused() {
    const Model m = goldenModel("e2b");
    Tensors tensors;
    addPair(tensors, "base_model.model.model.language_model.layers.0.self_attn.q_proj", 64, 64, 4,
            1);
    addPair(tensors, "base_model.model.model.layers.1.self_attn.q_proj", 64, 64, 4, 3);
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), minimalConfig(), tensors);
    const auto loaded = loadAdapter(pathOf(folder), m.config, m.tensors);
    QVERIFY(!loaded);
    QVERIFY2(loaded.error().message.find("mixes two spellings") != std::string::npos,
             loaded.error().message.c_str());
}

void TestAdapter::innerAndOuterMayMix() {
    const Model m = goldenModel("e2b");
    const std::string tower = "base_model.model.model.vision_tower.encoder.layers.";
    Tensors tensors;
    addPair(tensors, tower + "0.self_attn.q_proj.linear", 48, 48, 4, 1);
    addPair(tensors, tower + "1.self_attn.q_proj", 48, 48, 4, 3);
    Json config = minimalConfig();
    config["target_modules"] = R"(.*vision_tower.*q_proj(\.linear)?)";
    config.erase("exclude_modules");
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), config, tensors);
    const auto loaded = loadAdapter(pathOf(folder), m.config, m.tensors);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QCOMPARE((*loaded)->updates().size(), size_t{2});
    QCOMPARE((*loaded)->updates()[1].tensor,
             std::string("model.vision_tower.encoder.layers.1.self_attn.q_proj.linear.weight"));
    // The third layer is targeted and has nothing: reported, and harmless because B starts at 0.
    QCOMPARE((*loaded)->coverage().targeted_but_missing.size(), size_t{1});
}

void TestAdapter::normsMatchTheProduct() {
    const Model m = goldenModel("moe26b");
    for (const char* name : {"experts", "experts_down", "experts_peft_0_18"}) {
        const auto loaded = loadAdapter(adapterData() / name, m.config, m.tensors);
        QVERIFY(loaded);
        const bool is_old = std::string(name) == "experts_peft_0_18";
        for (size_t k = 0; k < (*loaded)->updates().size(); ++k) {
            const LowRankUpdate& u = (*loaded)->updates()[k];
            std::vector<float> a(static_cast<size_t>(product(u.a.shape)));
            std::vector<float> b(static_cast<size_t>(product(u.b.shape)));
            QVERIFY((*loaded)->readFloats(u.a, a) && (*loaded)->readFloats(u.b, b));
            const int64_t copies = std::max<int64_t>(u.experts, 1);
            double sum = 0.0;
            for (int64_t e = 0; e < copies; ++e) {
                for (int64_t o = 0; o < u.out; ++o) {
                    for (int64_t i = 0; i < u.in; ++i) {
                        double d = 0.0;
                        QCOMPARE(u.is_stored_swapped, is_old);
                        for (int64_t r = 0; r < u.rank; ++r) {
                            if (is_old) { // peft's B [in, rank, experts], its A [experts, rank,
                                          // out]
                                d += static_cast<double>(
                                         a[static_cast<size_t>((i * u.rank + r) * copies + e)]) *
                                     static_cast<double>(
                                         b[static_cast<size_t>((e * u.rank + r) * u.out + o)]);
                                continue;
                            }
                            // peft: A [experts, rank, in], B [out, rank, experts]
                            d += static_cast<double>(
                                     b[static_cast<size_t>((o * u.rank + r) * copies + e)]) *
                                 static_cast<double>(
                                     a[static_cast<size_t>((e * u.rank + r) * u.in + i)]);
                        }
                        sum += u.scaling * u.scaling * d * d;
                    }
                }
            }
            const double norm = (*loaded)->coverage().norms[k].frobenius;
            QVERIFY2(std::abs(norm - std::sqrt(sum)) < 1e-6 * norm, u.tensor.c_str());
        }
    }
}

void TestAdapter::savedTableEqualToBase() {
    const Model m = goldenModel("e2b");
    // peft saves the base's table beside an embedding update.
    auto base = support::readSafetensors(support::goldenDir() / "e2b/model/model.safetensors");
    const auto& table = base.at("model.language_model.embed_tokens.weight");
    Tensors tensors = goldenTensors(adapterData() / "tied_embedding/adapter_model.safetensors");
    tensors["base_model.model.model.language_model.embed_tokens.base_layer.weight"] = {
        table.dtype, table.shape, table.bytes};
    tensors["base_model.model.lm_head.base_layer.weight"] = {table.dtype, table.shape, table.bytes};
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), goldenConfig(adapterData() / "tied_embedding"), tensors);

    class Source : public TensorSource {
    public:
        explicit Source(const support::GoldenTensor& t) : data_(t.bytes) {
            TensorInfo info;
            info.name = "model.language_model.embed_tokens.weight";
            info.type = TensorType::BF16;
            info.shape = t.shape;
            info.size_bytes = t.bytes.size();
            list_.push_back(info);
        }
        const std::vector<TensorInfo>& tensors() const override { return list_; }
        const TensorInfo* find(std::string_view) const override { return nullptr; }
        const std::vector<std::string>& fileNames() const override { return names_; }
        Result<void>
        read(const TensorInfo&, uint64_t offset, std::span<std::byte> out) const override {
            std::memcpy(out.data(), data_.data() + offset, out.size());
            return {};
        }
        std::vector<uint8_t> data_;

    private:
        std::vector<TensorInfo> list_;
        std::vector<std::string> names_;
    };
    Source source(table);
    AdapterOptions options;
    options.base = &source;
    const auto equal = loadAdapter(pathOf(folder), m.config, m.tensors, options);
    QVERIFY2(equal, equal ? "" : equal.error().message.c_str());
    QCOMPARE((*equal)->replacements().size(), size_t{0});
    QCOMPARE((*equal)->coverage().ignored, 2);
    QCOMPARE(inEnglish((*equal)->coverage().unmatched[0].reason.sentence),
             std::string("equals the base's own table"));
    source.data_[1000] ^= 1;
    const auto changed = loadAdapter(pathOf(folder), m.config, m.tensors, options);
    QVERIFY(changed);
    QCOMPARE((*changed)->replacements().size(), size_t{2});
    // Without a base to compare with, a saved table counts as a replacement.
    const auto unknown = loadAdapter(pathOf(folder), m.config, m.tensors);
    QVERIFY(unknown);
    QCOMPARE((*unknown)->replacements().size(), size_t{2});
}

void TestAdapter::everyKeyIsInOneClass() {
    const Model m = goldenModel("e2b");
    Tensors tensors;
    const std::string p = "base_model.model.model.language_model.layers.";
    addPair(tensors, p + "0.self_attn.q_proj", 64, 64, 4, 1);  // active
    addPair(tensors, p + "7.self_attn.v_proj", 99, 3, 4, 3);   // inert, any shape
    addPair(tensors, p + "0.self_attn.o_proj", 64, 64, 4, 5);  // not targeted
    addPair(tensors, p + "10.self_attn.q_proj", 64, 64, 4, 7); // no such layer
    tensors["loose"] = noiseTensor({2}, 9);
    tensors["base_model.model.model.vision_tower.encoder.layers.0.self_attn.q_proj.linear.lora_A."
            "weight"] = noiseTensor({4, 48}, 10);
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), minimalConfig(), tensors);
    const auto loaded = loadAdapter(pathOf(folder), m.config, m.tensors);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const CoverageReport& c = (*loaded)->coverage();
    QCOMPARE(c.tensors, 10);
    QCOMPARE(c.active, 2);
    QCOMPARE(c.inert, 2);
    QCOMPARE(c.ignored, 6);
    QCOMPARE(c.errors, 0);
    QCOMPARE(c.active + c.inert + c.ignored + c.errors, c.tensors);
    std::map<std::string, std::string> reasons;
    for (const KeyReport& row : c.unmatched) {
        reasons[row.key] = inEnglish(row.reason.sentence);
    }
    QCOMPARE(reasons[p + "7.self_attn.v_proj.lora_A.weight"],
             std::string("layer 7 shares the KV of layer 5"));
    QCOMPARE(reasons[p + "0.self_attn.o_proj.lora_A.weight"],
             std::string("target_modules does not target the module"));
    QCOMPARE(reasons[p + "10.self_attn.q_proj.lora_B.weight"],
             std::string("the model has only 10 layers"));
    QCOMPARE(reasons["loose"], std::string("the key names no module"));
    QCOMPARE(reasons["base_model.model.model.vision_tower.encoder.layers.0.self_attn.q_proj.linear."
                     "lora_A.weight"],
             std::string("exclude_modules leaves the module out"));
}

void TestAdapter::targetedButMissing() {
    const Model m = goldenModel("e2b");
    Tensors tensors;
    addPair(tensors, "base_model.model.model.language_model.layers.0.self_attn.q_proj", 64, 64, 4,
            1);
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), minimalConfig(), tensors);
    const auto loaded = loadAdapter(pathOf(folder), m.config, m.tensors);
    QVERIFY(loaded);
    QCOMPARE((*loaded)->coverage().targeted_but_missing.size(), size_t{19}); // 9 q_proj, 10 up_proj
    QCOMPARE((*loaded)->coverage().targeted_but_missing.front(),
             std::string("model.language_model.layers.0.mlp.up_proj"));
}

void TestAdapter::unknownMembersAreListed() {
    const Model m = goldenModel("e2b");
    Tensors tensors;
    addPair(tensors, "base_model.model.model.language_model.layers.0.self_attn.q_proj", 64, 64, 4,
            1);
    Json config = minimalConfig();
    config["shiny_new_option"] = 3;
    config["use_new_thing"] = false; // off: known to nobody here, and without effect
    config["tiny_config"] = nullptr;
    config["list"] = Json::array();
    config["runtime_config"] = Json::object();
    config["fan_in_fan_out"] = true;
    config["base_model_name_or_path"] = "google/gemma-4-E4B-it";
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), config, tensors);
    const auto loaded = loadAdapter(pathOf(folder), m.config, m.tensors);
    QVERIFY(loaded);
    const CoverageReport& coverage = (*loaded)->coverage();
    QCOMPARE(
        coverage.unknown_members,
        (std::vector<std::string>{"shiny_new_option", "use_new_thing", "tiny_config", "list"}));
    QCOMPARE(coverage.notes.size(), size_t{3});
    const std::string first = inEnglish(coverage.notes[0]);
    QVERIFY2(first.find("shiny_new_option is 3") != std::string::npos, first.c_str());
}

void TestAdapter::foreignAdapterIsRefused() {
    const Model m = goldenModel("dense31b");
    const auto loaded =
        loadAdapter(support::goldenDir() / "e2b/adapters/bridges", m.config, m.tensors);
    QVERIFY(!loaded);
    QVERIFY2(loaded.error().message.find("made for another model") != std::string::npos,
             loaded.error().message.c_str());
}

void TestAdapter::filesBeside_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("text"); ///< Empty: the model's own with a token more.
    QTest::addColumn<QByteArray>("says"); ///< Empty: nothing is said.
    QTest::addColumn<bool>("has_template");
    const auto row = [](const char* name, const char* file, const QByteArray& text,
                        const char* says, bool has_template = false) {
        QTest::addRow("%s", name) << QByteArray(file) << text << QByteArray(says) << has_template;
    };
    row("tokenizer with a token more", "tokenizer.json", "", "lacks: \"<SCENE>\". Prompts");
    row("token list", "added_tokens.json", R"({"<pad>":0,"<SCENE>":1024,"[x]":1025})",
        "added_tokens.json in its folder has tokens that the model's tokenizer lacks: "
        "\"<SCENE>\", \"[x]\"");
    row("known tokens alone", "added_tokens.json", R"({"<pad>":0,"in":3})", "");
    row("tokens of the configuration", "tokenizer_config.json",
        R"({"added_tokens_decoder":{"2":{"content":"<bos>"},"1024":{"content":"<SCENE>"}}})",
        "tokenizer_config.json in its folder has tokens");
    row("ChatML", "chat_template.jinja", "{% for m in messages %}<|im_start|>{% endfor %}",
        "in its folder: chat_template.jinja: does not look like a Gemma 4 template", true);
    row("ChatML in the configuration", "tokenizer_config.json",
        R"({"chat_template":"{% for m in messages %}<|im_start|>{% endfor %}"})",
        "in its folder: tokenizer_config.json: does not look like a Gemma 4 template", true);
    row("Gemma 4's form", "chat_template.jinja", "{{ '<|turn>user' }}", "", true);
    row("pointer for the tokenizer", "tokenizer.json",
        "version https://git-lfs.github.com/spec/v1\n", "tokenizer.json: is a Git LFS pointer");
    row("broken list", "added_tokens.json", "{", "added_tokens.json: not valid JSON");
    row("nothing that matters", "README.md", "# An adapter", "");
}

void TestAdapter::filesBeside() {
    QFETCH(QByteArray, file);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, says);
    QFETCH(bool, has_template);
    const Model m = goldenModel("e2b");
    const auto model_folder = support::goldenDir() / "e2b/model";
    const auto checkpoint = engine::folderCheckpoint(model_folder);
    Tensors tensors;
    addPair(tensors, "base_model.model.model.language_model.layers.0.self_attn.q_proj", 64, 64, 4,
            1);
    QTemporaryDir folder;
    writeAdapter(pathOf(folder), minimalConfig(), tensors);
    if (text.isEmpty()) {
        std::ifstream in(model_folder / file.toStdString());
        Json tokenizer = Json::parse(in);
        tokenizer["added_tokens"].push_back(
            {{"id", 1024}, {"content", "<SCENE>"}, {"normalized", true}});
        text = QByteArray::fromStdString(tokenizer.dump());
    }
    writeText(pathOf(folder) / std::filesystem::path(file.toStdString()), text.toStdString());
    AdapterOptions options;
    options.model = checkpoint.get();
    const auto loaded = loadAdapter(pathOf(folder), m.config, m.tensors, options);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const std::vector<std::string> notes = inEnglish((*loaded)->coverage().notes);
    QCOMPARE(notes.size(), size_t{says.isEmpty() ? 0U : 1U});
    QVERIFY2(says.isEmpty() || notes[0].find(says.toStdString()) != std::string::npos,
             notes.empty() ? "" : notes[0].c_str());
    QCOMPARE((*loaded)->chatTemplate().has_value(), has_template);
}

TEST_CLASS(TestAdapter)
#include "tst_adapter.moc"
