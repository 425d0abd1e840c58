// SPDX-License-Identifier: Apache-2.0
// GGUF files through the whole engine, against the float64 run over the expanded weights
// (golden_more): formats alone and mixed, projectors, experts, the 12B, PEFT adapters, each on the
// processor, on two simulated cards with the towers on the CPU, and streamed from disk; and the
// files' tokenizer and turns.
#include "tests/engine/files/raw_gguf.h"
#include "tests/engine/lora/gguf_lora_file.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/files.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/worst_error.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace fs = std::filesystem;

namespace {

/// Largest difference to the float64 run, as a share of the largest logit.
constexpr double kBound = 1e-4;
constexpr int64_t kRows = 4; // of logits, in the expected data

struct Folder {
    nlohmann::json cases;
    std::map<std::string, support::GoldenTensor> logits;
};

fs::path folderOf(const std::string& name) {
    return support::goldenMoreDir() / ("gguf-" + name);
}

const Folder& folder(const std::string& name) {
    static std::map<std::string, Folder> known;
    Folder& entry = known[name];
    if (entry.logits.empty()) {
        entry.cases = support::readJson(folderOf(name) / "cases.json");
        entry.logits = support::readSafetensors(folderOf(name) / "expected_logits.safetensors");
    }
    return entry;
}

struct Place {
    const char* name;
    const char* map;
};
constexpr Place kPlaces[] = {
    {"cpu", "cpu"},
    {"towers on the CPU", "towers-cpu"},
    {"two cards", R"({"version": 1, "default": "sim:0", "map": {
        "model.language_model.layers.1": "sim:1", "lm_head": "cpu",
        "model.language_model.embed_tokens": "cpu"}})"},
    {"streamed", R"({"version": 1, "default": "sim:0", "map": {
        "model.language_model.layers.0": {"store": "disk", "compute": "sim:0"},
        "model.language_model.layers.1": {"store": "cpu", "compute": "sim:0"}}})"},
};

/// The model and its projector in one file, as Ollama's converter writes them. `is_packed`: the
/// bounds of the vision tower's linears stand in one list.
std::string ollamasFile(const std::string& model, const std::string& projector, bool is_packed) {
    namespace gguf = support::gguf;
    gguf::File file = gguf::readFile(model);
    gguf::File towers = gguf::readFile(projector);
    file.set("tokenizer.ggml.model", gguf::value("llama")).remove("general.type");
    for (const auto& [key, value] : towers.keys) {
        if (key.starts_with("clip.vision.") || key.starts_with("clip.audio.")) {
            file.set("gemma4." + key.substr(5), value);
        }
    }
    const std::map<std::string, std::string> renamed = {
        {"a.input_projection.weight", "a.pre_encode.out.weight"},
        {"a.pre_encode.out.weight", "mm.a.fc.weight"},
        {"a.pre_encode.out.bias", "mm.a.fc.bias"},
        {"attn_pre_norm.weight", "ln1.weight"},
        {"attn_post_norm.weight", "ln2.weight"},
        {"ln2.weight", "layer_pre_norm.weight"},
        {"attn_k_rel.weight", "linear_pos.weight"}};
    std::map<std::string, std::string> bounds;
    for (gguf::Tensor& tensor : towers.tensors) {
        if (tensor.name.starts_with("v.blk.") && tensor.name.find("put_m") != std::string::npos) {
            bounds[tensor.name] = tensor.data;
            if (is_packed) {
                continue;
            }
        }
        const size_t rest = tensor.name.starts_with("a.blk.") ? tensor.name.find('.', 6) + 1 : 0;
        if (const auto to = renamed.find(tensor.name.substr(rest));
            to != renamed.end() && tensor.name[0] == 'a') {
            tensor.name = tensor.name.substr(0, rest) + to->second;
        }
        file.tensors.push_back(std::move(tensor));
    }
    std::string list;
    for (size_t layer = 0; layer < bounds.size() / 28; ++layer) {
        for (const char* linear :
             {"attn_q", "attn_k", "attn_v", "attn_out", "ffn_gate", "ffn_up", "ffn_down"}) {
            for (const char* bound : {"input_min", "input_max", "output_min", "output_max"}) {
                list += bounds.at("v.blk." + std::to_string(layer) + "." + linear + "." + bound);
            }
        }
    }
    list += std::string(16, '\0'); // of the projector, which has none
    file.tensors.push_back({"v.clamp_data", {list.size() / 4}, 0, list});
    return file.bytes();
}

} // namespace

class TestGguf : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sameLogits_data();
    void sameLogits();
    void adapters_data();
    void adapters();
    void onACard_data();
    void onACard();
    void requantized();
    void findsItsProjector();
    void foldersWithFiles();
    void ollamasBlob_data();
    void ollamasBlob();
    void cleanupTestCase() { worst_.print("GGUF files against float64"); }

private:
    support::WorstError worst_;
};

void TestGguf::sameLogits_data() {
    support::addColumns<QString, QString, QString>("folder", "label", "map");
    for (const char* name : {"e2b", "moe26b", "dense31b", "12b", "k256", "k256mix"}) {
        if (!fs::exists(folderOf(name))) {
            continue; // beside the project, not in it
        }
        for (const auto& [label, types] : folder(name).cases["types"].items()) {
            if (!fs::exists(folderOf(name) / (label + ".gguf"))) {
                continue;
            }
            for (const Place& place : kPlaces) {
                if (std::string(name) == "k256" && place.map != kPlaces[0].map) {
                    continue; // one layer
                }
                QTest::addRow("%s %s, %s", name, label.c_str(), place.name)
                    << name << QString::fromStdString(label) << place.map;
            }
        }
    }
}

void TestGguf::sameLogits() {
    QFETCH(QString, folder);
    QFETCH(QString, label);
    QFETCH(QString, map);
    const std::string name = folder.toStdString();
    const Folder& golden = ::folder(name);
    engine::LoadRequest request = support::goldenGgufRequest(name, label.toStdString());
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    engine::Engine engine;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
    QCOMPARE(support::memoryDifference(engine), std::string());
    int compared = 0;
    for (const auto& c : golden.cases["cases"]) {
        const std::string key = label.toStdString() + "." + c["id"].get<std::string>();
        const auto expected = golden.logits.find(key);
        if (expected == golden.logits.end()) {
            continue; // no projector in this format
        }
        ++compared;
        const auto logits =
            support::must(engine.logits(support::goldenGgufCase(c), kRows, {}), key.c_str());
        const double error = worst_.add(
            support::maxRelativeToLargest(logits.logits, expected->second.floats()), key);
        QVERIFY2(error <= kBound, qPrintable(QStringLiteral("%1: logits differ by %2")
                                                 .arg(QString::fromStdString(key))
                                                 .arg(error)));
        engine::GenerateRequest greedy = support::goldenGgufCase(c);
        greedy.sampling.max_tokens = 16;
        const auto reply = support::must(engine.generate(greedy, {}, {}), key.c_str());
        QCOMPARE(reply.token_ids, golden.cases["greedy"][key].get<std::vector<int32_t>>());
    }
    QVERIFY(compared > 0);
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestGguf::adapters_data() {
    support::addColumns<QString, QString, QString>("folder", "label", "map");
    for (const auto& [name, label] :
         {std::pair("e2b", "Q4_0"), std::pair("e2b", "Q8_0"), std::pair("12b", "Q4_0"),
          std::pair("k256mix", "all_types")}) {
        for (const Place& place : kPlaces) {
            if (fs::exists(folderOf(name) / (std::string(label) + ".gguf"))) {
                QTest::addRow("%s %s, %s", name, label, place.name) << name << label << place.map;
            }
        }
    }
}

/// A PEFT folder, unconverted, on the quantized file; towers included.
void TestGguf::adapters() {
    QFETCH(QString, folder);
    QFETCH(QString, label);
    QFETCH(QString, map);
    const std::string name = folder.toStdString();
    const fs::path adapter = folderOf(name) / "adapter";
    const auto expected = support::readSafetensors(adapter / "expected_logits.safetensors");
    engine::LoadRequest request = support::goldenGgufRequest(name, label.toStdString());
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    request.adapters = {{adapter.string()}};
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    int compared = 0;
    for (const auto& c : ::folder(name).cases["cases"]) {
        const auto it = expected.find(label.toStdString() + "." + c["id"].get<std::string>());
        if (it == expected.end()) {
            continue;
        }
        ++compared;
        const auto logits =
            support::must(engine.logits(support::goldenGgufCase(c), kRows, {}), it->first.c_str());
        const double error = worst_.add(
            support::maxRelativeToLargest(logits.logits, it->second.floats()), it->first);
        QVERIFY2(error <= kBound, qPrintable(QStringLiteral("%1: logits differ by %2")
                                                 .arg(QString::fromStdString(it->first))
                                                 .arg(error)));
    }
    QVERIFY(compared > 0);
}

void TestGguf::onACard_data() {
    support::addColumns<QString, QString, bool>("folder", "label", "reference");
    for (const auto& [name, label] :
         {std::pair("e2b", "Q4_0"), std::pair("moe26b", "mixed"), std::pair("12b", "Q4_0"),
          std::pair("k256mix", "all_types")}) {
        for (const bool is_reference : {true, false}) {
            QTest::addRow("%s %s, %s", name, label, is_reference ? "f32" : "fast")
                << name << label << is_reference;
        }
    }
}

/// An emulated card: exact in the reference's arithmetic; else rounded as on the CPU, and a token
/// goes through the fused steps.
void TestGguf::onACard() {
    QFETCH(QString, folder);
    QFETCH(QString, label);
    QFETCH(bool, reference);
    const std::string name = folder.toStdString();
    support::EmulatedCard card(support::smallCard(1));
    engine::Engine engine(support::optionsOn(card));
    engine::LoadRequest request = support::goldenGgufRequest(name, label.toStdString());
    request.device_map = "gpu";
    request.is_reference_precision = reference;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine, false), std::string());
    const auto& c = ::folder(name).cases["cases"][0];
    const std::string key = label.toStdString() + "." + c["id"].get<std::string>();
    const auto expected = ::folder(name).logits.at(key).floats();
    const auto logits =
        support::must(engine.logits(support::goldenGgufCase(c), kRows, {}), key.c_str());
    const double error = support::maxRelativeToLargest(logits.logits, expected);
    // Rounding changes which experts a token of random weights is sent to, on the CPU as well.
    const double rounded = name == "moe26b" ? 0.4 : 3e-2;
    QVERIFY2(error <= (reference ? kBound : rounded), qPrintable(QString::number(error)));
    engine::GenerateRequest greedy = support::goldenGgufCase(c);
    greedy.sampling.max_tokens = 3;
    const size_t from = card.ran().size();
    QCOMPARE(support::must(engine.generate(greedy, {}, {}), key.c_str()).token_ids.size(), 3U);
    QCOMPARE(card.finish(), std::string());
    QVERIFY(card.fake().violations().empty());
    const auto is_fused = [](const std::string& kernel) {
        return kernel == "belfry_project_blocks";
    };
    QCOMPARE(std::any_of(card.ran().begin() + static_cast<std::ptrdiff_t>(from), card.ran().end(),
                         is_fused),
             !reference);
}

/// --quant leaves blocks as they are, and a map expands them where it names them.
void TestGguf::requantized() {
    engine::LoadRequest request = support::goldenGgufRequest("e2b", "Q4_0");
    request.quant = "nf4";
    request.device_map = R"({"version": 1, "default": "cpu", "map": {
        "model.language_model.layers.0.mlp.down_proj": {"format": "bf16"}}})";
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto plan = engine.currentPlan();
    QVERIFY(plan != nullptr);
    std::map<engine::Format, int> formats;
    for (const engine::TensorPlacement& row : plan->tensors) {
        ++formats[row.format];
    }
    QCOMPARE(formats[engine::Format::Q4_0], 33);
    // What the files have as floats: the per-layer projection and three of the towers' linears.
    QCOMPARE(formats[engine::Format::Nf4], 4);
}

/// Without --mmproj the file beside the model whose width fits; one of another width is named.
void TestGguf::findsItsProjector() {
    const QTemporaryDir folder;
    const auto copy = [&](const char* from, const char* name, const char* to) {
        fs::copy_file(folderOf(from) / name, fs::path(folder.path().toStdString()) / to);
    };
    copy("e2b", "Q4_0.gguf", "model-Q4_0.gguf");
    copy("12b", "Q4_0.mmproj.gguf", "a-mmproj.gguf");
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.model = folder.path().toStdString() + "/model-Q4_0.gguf";
    copy("e2b", "Q4_0.mmproj.gguf", "mmproj-Q8_0.gguf");
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QVERIFY(engine.summary()->has_vision);
    QVERIFY(engine.summary()->has_audio);
}

/// A folder stands for its only model, also beside a config.json; of several none is guessed.
void TestGguf::foldersWithFiles() {
    const QTemporaryDir root;
    const fs::path folder = root.path().toStdString();
    const auto copy = [&](const char* from, const char* name, const char* to) {
        fs::copy_file(folderOf(from) / name, folder / to);
    };
    copy("e2b", "Q4_0.gguf", "m-Q4_0.gguf");
    copy("e2b", "Q4_0.mmproj.gguf", "mmproj-BF16.gguf");
    copy("e2b", "Q4_0.mmproj.gguf", "mtp-m.gguf");
    copy("e2b", "Q4_0.mmproj.gguf", "n-00002-of-00002.gguf");
    support::writeGguf(folder / "adapter.gguf",
                       support::ggufLora(support::goldenAdapter("e2b", "text"), {}));
    const engine::Engine engine;
    for (const bool has_config : {false, true}) {
        if (has_config) {
            std::ofstream(folder / "config.json") << R"({"model_type": "gemma4"})";
        }
        const auto summary = engine.readHeaders(folder.string());
        VERIFY_VALUE(summary);
        QCOMPARE(summary->quantization, std::string("Q4_0"));
        QVERIFY(summary->has_vision);
    }
    copy("12b", "Q4_0.gguf", "n-Q4_0.gguf");
    const auto several = engine.readHeaders(folder.string());
    QVERIFY(!several.has_value());
    QVERIFY2(several.error().message.find("holds 2 GGUF models: m-Q4_0.gguf, n-Q4_0.gguf") !=
                 std::string::npos,
             several.error().message.c_str());
    VERIFY_VALUE(engine.readHeaders((folder / "n-Q4_0.gguf").string()));
}

void TestGguf::ollamasBlob_data() {
    support::addColumns<bool, QString>("is_packed", "map");
    for (const Place& place : kPlaces) {
        QTest::addRow("bounds in one list, %s", place.name) << true << place.map;
    }
    QTest::newRow("bounds by themselves") << false << QStringLiteral("cpu");
}

/// One file with the keys and names of Ollama's converter is the two files, to the bit.
void TestGguf::ollamasBlob() {
    QFETCH(bool, is_packed);
    QFETCH(QString, map);
    const QTemporaryDir folder;
    const std::string blob = folder.path().toStdString() + "/sha256-5d1f"; // without an ending
    const std::string projector = support::textOf(folderOf("e2b") / "Q4_0.mmproj.gguf");
    std::ofstream(blob, std::ios::binary)
        << ollamasFile(support::textOf(folderOf("e2b") / "Q4_0.gguf"), projector, is_packed);
    engine::LoadRequest two = support::goldenGgufRequest("e2b", "Q4_0");
    two.sim_gpus = {64U << 20U, 64U << 20U};
    two.device_map = map.toStdString();
    engine::LoadRequest one = two;
    one.model = blob;
    one.projector.clear();
    engine::Engine expected;
    engine::Engine engine;
    VERIFY_VALUE(expected.load(two, {}, {}));
    VERIFY_VALUE(engine.load(one, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    QVERIFY(engine.summary()->has_vision && engine.summary()->has_audio);
    QVERIFY(engine.summary()->warnings.empty());
    for (const auto& c : ::folder("e2b").cases["cases"]) {
        const auto logits =
            support::must(engine.logits(support::goldenGgufCase(c), kRows, {}), "blob");
        QCOMPARE(logits.logits,
                 support::must(expected.logits(support::goldenGgufCase(c), kRows, {}), "two files")
                     .logits);
    }
    // A file that is named is taken in place of the model's own towers.
    one.projector = two.projector;
    VERIFY_VALUE(engine.load(one, {}, {}));
    QVERIFY(engine.summary()->has_audio);
}

TEST_CLASS(TestGguf)
#include "tst_gguf.moc"
