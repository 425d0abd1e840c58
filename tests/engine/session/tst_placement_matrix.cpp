// SPDX-License-Identifier: Apache-2.0
// The flagship: any placement gives the same answer. For e2b, e4b, the 12B and 26B in several
// formats, for e2b as W4A16 and for e2b with keys and values in q8, every preset and many maps
// (each tower, projector, table, head and single layers on two simulated GPUs, CPU and disk; KV
// readers and owners apart; layers alternating; streamed and visiting parts): same logits as on one
// device, same greedy tokens, and measured bytes equal to predicted bytes. A failing row names the
// map.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/worst_error.h"

#include <QTest>

#include <map>

namespace {

struct Row {
    std::string name, map;
};

std::string nativePlacementMatrix(const std::string& fallback,
                                  const std::vector<std::pair<std::string, std::string>>& entries,
                                  const std::string& extra = "") {
    std::string text = "{\"version\": 1, \"default\": \"" + fallback + "\", \"map\": {";
    const char* separator = "";
    for (const auto& [key, value] : entries) {
        text += std::string(separator) + "\"" + key +
                "\": " + (value.front() == '{' ? value : "\"" + value + "\"");
        separator = ", ";
    }
    return text + "}" + extra + "}";
}

std::vector<Row> rowsFor(const std::string& family) {
    const int layers = family == "e2b" ? 10 : family == "e4b" ? 12 : 4;
    const int shared = family == "e2b" ? 4 : family == "e4b" ? 5 : 2;
    const int first_reader = layers - shared;
    const std::string layer = "model.language_model.layers.";
    std::vector<Row> rows;
    for (const char* preset : {"gpu", "towers-cpu", "ple-cpu", "lean", "cpu", "fit"}) {
        rows.push_back({std::string("preset ") + preset, preset});
    }
    const std::string parts[] = {"model.vision_tower",
                                 "model.audio_tower",
                                 "model.embed_vision",
                                 "model.embed_audio",
                                 "model.language_model.embed_tokens_per_layer",
                                 "model.language_model.per_layer_model_projection",
                                 "model.language_model.norm"};
    for (const std::string& part : parts) {
        for (const char* device : {"sim:1", "cpu", "disk"}) {
            rows.push_back(
                {part + " on " + device, nativePlacementMatrix("sim:0", {{part, device}})});
        }
    }
    for (const char* device : {"sim:1", "cpu", "disk"}) {
        rows.push_back(
            {std::string("embedding and head on ") + device,
             nativePlacementMatrix("sim:0", {{"model.language_model.embed_tokens", device}})});
    }
    rows.push_back(
        {"head apart from the embedding",
         nativePlacementMatrix(
             "sim:0",
             {{"model.language_model.embed_tokens", "cpu"},
              {"lm_head", R"({"store": "sim:1", "compute": "sim:1", "duplicate_tied": true})"}})});
    for (const int i : {0, first_reader - 2, first_reader - 1, first_reader, layers - 1}) {
        rows.push_back({"layer " + std::to_string(i) + " on cpu",
                        nativePlacementMatrix("sim:0", {{layer + std::to_string(i), "cpu"}})});
        rows.push_back({"layer " + std::to_string(i) + " on sim:1",
                        nativePlacementMatrix("sim:0", {{layer + std::to_string(i), "sim:1"}})});
    }
    rows.push_back({"one layer on disk", nativePlacementMatrix("sim:0", {{layer + "1", "disk"}})});
    const auto range = [&](int a, int b) {
        return layer + "[" + std::to_string(a) + "-" + std::to_string(b) + "]";
    };
    for (const int split :
         {1, first_reader - 2, first_reader - 1, first_reader, first_reader + 1, layers - 1}) {
        rows.push_back({"split before layer " + std::to_string(split),
                        nativePlacementMatrix("sim:0", {{range(split, layers - 1), "sim:1"}})});
    }
    rows.push_back({"KV owners on sim:1, readers on cpu",
                    nativePlacementMatrix("sim:0", {{range(0, first_reader - 1), "sim:1"},
                                                    {range(first_reader, layers - 1), "cpu"}})});
    std::vector<std::pair<std::string, std::string>> alternating;
    for (int i = 0; i < layers; ++i) {
        alternating.emplace_back(layer + std::to_string(i), i % 3 == 0   ? "sim:1"
                                                            : i % 3 == 1 ? "cpu"
                                                                         : "sim:0");
    }
    rows.push_back(
        {"layers alternating over three devices", nativePlacementMatrix("sim:0", alternating)});
    rows.push_back({"one projection of a layer elsewhere",
                    nativePlacementMatrix("sim:0", {{layer + "1.self_attn.k_proj", "cpu"},
                                                    {layer + "3.mlp.down_proj", "sim:1"}})});
    rows.push_back({"norms of a layer elsewhere",
                    nativePlacementMatrix("sim:0", {{layer + "2.input_layernorm", "cpu"}})});
    rows.push_back({"layers stored on cpu, streamed",
                    nativePlacementMatrix("sim:0", {{range(layers / 5, 2 * layers / 5),
                                                     R"({"store": "cpu", "compute": "sim:0"})"}})});
    rows.push_back(
        {"layers stored on disk, streamed",
         nativePlacementMatrix("sim:0", {{range(layers / 2, layers / 2 + 1),
                                          R"({"store": "disk", "compute": "sim:1"})"}})});
    rows.push_back(
        {"towers visit",
         nativePlacementMatrix(
             "sim:0", {{"model.vision_tower",
                        R"({"store": "cpu", "compute": "sim:0", "residency": "on_use"})"},
                       {"model.audio_tower",
                        R"({"store": "disk", "compute": "sim:1", "residency": "on_use"})"}})});
    rows.push_back(
        {"half a tower elsewhere",
         nativePlacementMatrix("sim:0", {{"model.vision_tower.encoder.layers.1", "cpu"},
                                         {"model.audio_tower.layers.0.feed_forward1", "sim:1"}})});
    rows.push_back(
        {"KV cache on the CPU", nativePlacementMatrix("sim:0", {}, R"(, "kv": {"place": "cpu"})")});
    rows.push_back(
        {"KV cache on the second GPU",
         nativePlacementMatrix("sim:0", {{range(0, 2), "cpu"}}, R"(, "kv": {"place": "sim:1"})")});
    rows.push_back({"forum map, accelerate form",
                    R"({"model.vision_tower": "cpu", "model.audio_tower": "cpu", "": "sim:0"})"});
    rows.push_back({"everything on disk, computed on sim:1",
                    nativePlacementMatrix("sim:1", {{"model", "disk"}})});
    return rows;
}

/// 26B: routed experts, which have places of their own.
std::vector<Row> expertRows() {
    const std::string layer = "model.language_model.layers.";
    const auto row = [](const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& entries) {
        return Row{name, nativePlacementMatrix("sim:0", entries)};
    };
    std::vector<Row> rows;
    for (const char* preset : {"gpu", "towers-cpu", "experts-cpu", "cpu", "fit"}) {
        rows.push_back({std::string("preset ") + preset, preset});
    }
    for (const char* device : {"sim:1", "cpu", "disk"}) {
        rows.push_back(
            row(std::string("all experts on ") + device, {{layer + "[0-5].experts", device}}));
    }
    rows.push_back(row("experts of some layers on the CPU", {{layer + "[0-2].experts", "cpu"}}));
    rows.push_back(row("experts of one layer on the CPU", {{layer + "3.experts", "cpu"}}));
    rows.push_back(row("experts on three devices",
                       {{layer + "[0-1].experts", "cpu"}, {layer + "[4-5].experts", "sim:1"}}));
    rows.push_back(row("layers on the CPU, experts on a card",
                       {{layer + "[1-3]", "cpu"}, {layer + "[1-3].experts", "sim:1"}}));
    rows.push_back(
        row("layers on two cards, experts of both on the CPU", {{layer + "[3-5]", "sim:1"},
                                                                {layer + "[0-1].experts", "cpu"},
                                                                {layer + "[3-4].experts", "cpu"}}));
    rows.push_back(row("gate and up apart from down", {{layer + "2.experts.gate_up_proj", "cpu"},
                                                       {layer + "4.experts.down_proj", "sim:1"}}));
    rows.push_back(row("router elsewhere", {{layer + "2.router.proj", "cpu"}}));
    rows.push_back(row("experts stored on the CPU, streamed",
                       {{layer + "[0-5].experts", R"({"store": "cpu", "compute": "sim:0"})"}}));
    rows.push_back(row("a copy of the experts kept on the card",
                       {{layer + "[2-3].experts",
                         R"({"store": "cpu", "compute": "sim:0", "residency": "always"})"}}));
    rows.push_back({"accelerate form, experts of two layers on the CPU",
                    R"({"": "sim:0", "model.language_model.layers.0.experts": "cpu",
                        "model.language_model.layers.5.experts": "cpu"})"});
    return rows;
}

/// The 12B: no tables of its own kind, no readers of others' keys, embedders in place of towers.
std::vector<Row> unifiedRows() {
    const std::string layer = "model.language_model.layers.";
    const auto row = [](const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& entries) {
        return Row{name, nativePlacementMatrix("sim:0", entries)};
    };
    std::vector<Row> rows;
    for (const char* preset : {"gpu", "towers-cpu", "lean", "cpu", "fit"}) {
        rows.push_back({std::string("preset ") + preset, preset});
    }
    for (const std::string part : {"model.embed_vision", "model.embed_audio"}) {
        for (const char* device : {"sim:1", "cpu", "disk"}) {
            rows.push_back(row(part + " on " + device, {{part, device}}));
        }
    }
    rows.push_back(row(
        "embedders visit",
        {{"model.embed_vision", R"({"store": "cpu", "compute": "sim:1", "residency": "on_use"})"},
         {"model.embed_audio",
          R"({"store": "disk", "compute": "sim:0", "residency": "on_use"})"}}));
    rows.push_back(
        row("halves of an embedder apart", {{"model.embed_vision.multimodal_embedder", "sim:1"},
                                            {"model.embed_vision.patch_dense", "cpu"}}));
    rows.push_back(
        row("vectors of an embedder elsewhere", {{"model.embed_vision.patch_ln1", "cpu"},
                                                 {"model.embed_vision.pos_embedding", "sim:1"},
                                                 {"model.embed_vision.pos_norm", "disk"}}));
    for (const char* at : {"1", "2", "3"}) {
        rows.push_back(
            row(std::string("split before layer ") + at, {{layer + "[" + at + "-3]", "sim:1"}}));
    }
    rows.push_back(row("layers alternating over three devices",
                       {{layer + "0", "sim:1"}, {layer + "1", "cpu"}, {layer + "3", "sim:1"}}));
    rows.push_back(row("layers stored on disk, streamed",
                       {{layer + "[1-2]", R"({"store": "disk", "compute": "sim:1"})"}}));
    rows.push_back(
        {"KV cache on the CPU", nativePlacementMatrix("sim:0", {}, R"(, "kv": {"place": "cpu"})")});
    rows.push_back({"everything on disk, computed on sim:1",
                    nativePlacementMatrix("sim:1", {{"model", "disk"}})});
    return rows;
}

engine::LoadRequest requestFor(const std::string& family) {
    return family.starts_with("w4a16") ? support::folderRequest(support::goldenMoreDir() / family)
                                       : support::goldenRequest(family);
}

/// Logits and greedy tokens of a model on one device, once per family and format.
struct Reference {
    std::map<std::string, std::vector<float>> logits;
    std::map<std::string, std::vector<int32_t>> greedy;
};

const std::vector<std::string>& casesUsed() {
    static const std::vector<std::string> kCases = {"image_audio", "text"};
    return kCases;
}

} // namespace

class TestPlacementMatrix : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sameAnswer_data();
    void sameAnswer();
    void countsRows();
    void cleanupTestCase() { worst_.print("any placement against one device"); }

private:
    support::WorstError worst_;
    const Reference&
    reference(const std::string& family, const std::string& quant, const std::string& kv);
    std::map<std::string, Reference> references_;
};

const Reference& TestPlacementMatrix::reference(const std::string& family,
                                                const std::string& quant,
                                                const std::string& kv) {
    Reference& entry = references_[family + quant + kv];
    if (entry.logits.empty()) {
        engine::Engine engine;
        engine::LoadRequest request = requestFor(family);
        request.sim_gpus = {64U << 20U};
        request.device_map = "gpu";
        request.quant = quant;
        request.kv = kv;
        support::must(engine.load(request, {}, {}), "load");
        for (const auto& c : support::goldenCases(family)) {
            if (std::find(casesUsed().begin(), casesUsed().end(), c.id) != casesUsed().end()) {
                entry.logits[c.id] = support::engineLogits(engine, c, 4);
                entry.greedy[c.id] = support::engineGreedy(engine, c, 12);
            }
        }
    }
    return entry;
}

void TestPlacementMatrix::sameAnswer_data() {
    support::addColumns<QString, QString, QString, QString>("family", "quant", "kv", "map");
    for (const char* family : {"e2b", "e4b", "w4a16-e2b"}) {
        const std::string_view name = family;
        for (const char* quant : {"none", "nf4", "nf4-dq"}) {
            if (name.starts_with("w4a16") && quant != std::string_view("none")) {
                continue; // what is packed stays as it is
            }
            for (const Row& row : rowsFor(family)) {
                QTest::addRow("%s %s: %s", family, quant, row.name.c_str())
                    << QString::fromUtf8(family) << QString::fromUtf8(quant)
                    << QStringLiteral("auto") << QString::fromStdString(row.map);
            }
        }
    }
    for (const char* quant : {"none", "nf4+experts"}) {
        for (const Row& row : expertRows()) {
            QTest::addRow("moe26b %s: %s", quant, row.name.c_str())
                << QStringLiteral("moe26b") << QString::fromUtf8(quant) << QStringLiteral("auto")
                << QString::fromStdString(row.map);
        }
    }
    for (const char* quant : {"none", "nf4-dq"}) {
        for (const Row& row : unifiedRows()) {
            QTest::addRow("unified12b %s: %s", quant, row.name.c_str())
                << QStringLiteral("unified12b") << QString::fromUtf8(quant)
                << QStringLiteral("auto") << QString::fromStdString(row.map);
        }
    }
    for (const Row& row : rowsFor("e2b")) {
        QTest::addRow("e2b, keys and values in q8: %s", row.name.c_str())
            << QStringLiteral("e2b") << QStringLiteral("none") << QStringLiteral("q8")
            << QString::fromStdString(row.map);
    }
}

void TestPlacementMatrix::sameAnswer() {
    QFETCH(QString, family);
    QFETCH(QString, quant);
    QFETCH(QString, kv);
    QFETCH(QString, map);
    const std::string name = family.toStdString();
    const Reference& expected = reference(name, quant.toStdString(), kv.toStdString());
    engine::LoadRequest request = requestFor(name);
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    request.quant = quant.toStdString();
    request.kv = kv.toStdString();
    engine::Engine engine;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
    QCOMPARE(support::memoryDifference(engine), std::string());
    for (const auto& c : support::goldenCases(name)) {
        const auto it = expected.logits.find(c.id);
        if (it == expected.logits.end()) {
            continue;
        }
        const double error = worst_.add(
            support::maxRelativeToLargest(support::engineLogits(engine, c, 4), it->second), c.id);
        QVERIFY2(error <= 1e-6, qPrintable(QStringLiteral("%1: logits differ by %2")
                                               .arg(QString::fromStdString(c.id))
                                               .arg(error)));
        QCOMPARE(support::engineGreedy(engine, c, 12), expected.greedy.at(c.id));
    }
    // Also after use: nothing was allocated behind the plan's back.
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestPlacementMatrix::countsRows() {
    QVERIFY(rowsFor("e2b").size() >= 40);
    QVERIFY(rowsFor("e4b").size() >= 40);
    QVERIFY(rowsFor("w4a16-e2b").size() >= 40);
}

TEST_CLASS(TestPlacementMatrix)
#include "tst_placement_matrix.moc"
