// SPDX-License-Identifier: Apache-2.0
// Adapters in GGUF files through the whole engine: whatever the base and its placement, the file
// that is made of a PEFT folder gives the folder's logits to the bit. What is given in the other's
// place is told.
#include "tests/engine/lora/adapter_files.h"
#include "tests/engine/lora/gguf_lora_file.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace {

constexpr const char* kTowersOnCpu = "towers-cpu";
constexpr const char* kTwoCards = R"({"version": 1, "default": "sim:0", "map": {
    "model.language_model.layers.1": "sim:1", "lm_head": "cpu",
    "model.language_model.embed_tokens": "cpu"}})";

engine::LoadRequest requestWith(engine::LoadRequest request, const fs::path& adapter) {
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.adapters = {{adapter.string()}};
    return request;
}

/// "e2b", "w4a16-e2b", or the folder and label of a GGUF file: "e2b/Q4_0".
engine::LoadRequest baseOf(const std::string& base) {
    const size_t slash = base.find('/');
    if (slash != std::string::npos) {
        return support::goldenGgufRequest(base.substr(0, slash), base.substr(slash + 1));
    }
    return base.starts_with("w4a16") ? support::folderRequest(support::goldenMoreDir() / base)
                                     : support::goldenRequest(base);
}

std::vector<engine::GenerateRequest> casesOf(const std::string& base) {
    std::vector<engine::GenerateRequest> requests;
    const size_t slash = base.find('/');
    if (slash == std::string::npos) {
        for (const auto& c : support::goldenCases(base)) {
            requests.push_back(support::goldenCaseRequest(c));
        }
        return requests;
    }
    const auto told = support::readJson(support::goldenMoreDir() /
                                        ("gguf-" + base.substr(0, slash)) / "cases.json");
    for (const auto& c : told["cases"]) {
        requests.push_back(support::goldenGgufCase(c));
    }
    return requests;
}

} // namespace

class TestGgufAdapters : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sameAsFolder_data();
    void sameAsFolder();
    void pairedRows_data();
    void pairedRows();
    void severalAndStrengths();
    void mergedAndStacked();
    void inTheOthersPlace();
};

void TestGgufAdapters::sameAsFolder_data() {
    support::addColumns<QString, QString, QString, QString>("base", "adapter", "quant", "map");
    const auto row = [](const char* base, const fs::path& adapter, const char* quant,
                        const char* map, const char* name) {
        QTest::newRow(name) << base << QString::fromStdString(adapter.string()) << quant << map;
    };
    const fs::path all = support::goldenDir() / "e2b/adapters/multimodal";
    row("e2b", all, "none", "cpu", "16 bits");
    row("e2b", all, "none", kTowersOnCpu, "16 bits, towers on the CPU");
    row("e2b", all, "none", kTwoCards, "16 bits, two cards");
    row("e2b", all, "nf4-dq", kTowersOnCpu, "NF4, towers on the CPU");
    const fs::path more = support::goldenMoreDir();
    row("e2b/Q4_0", more / "gguf-e2b/adapter", "none", kTowersOnCpu, "Q4_0");
    row("e2b/Q4_0", more / "gguf-e2b/adapter", "none", kTwoCards, "Q4_0, two cards");
    row("k256mix/all_types", more / "gguf-k256mix/adapter", "none", kTwoCards, "K types");
    row("w4a16-e2b", more / "w4a16-e2b/adapter", "none", kTowersOnCpu, "W4A16");
    const fs::path data = lora_test::adapterData();
    row("moe26b", data / "experts", "none", kTwoCards, "experts");
    row("moe26b", data / "experts_down", "none", "cpu", "experts, one parameter");
    row("e2b", data / "embedding", "none", kTowersOnCpu, "tables");
    row("e2b", data / "head", "none", "cpu", "head");
}

void TestGgufAdapters::sameAsFolder() {
    QFETCH(QString, base);
    QFETCH(QString, adapter);
    QFETCH(QString, quant);
    QFETCH(QString, map);
    const QTemporaryDir root;
    const fs::path folder = adapter.toStdString();
    const fs::path file = fs::path(root.path().toStdString()) / "adapter.gguf";
    support::LoraFileOptions options;
    options.experts = base == QLatin1String("moe26b") ? 8 : 0;
    support::writeGguf(file, support::ggufLora(folder, options));
    engine::LoadRequest request = requestWith(baseOf(base.toStdString()), folder);
    request.device_map = map.toStdString();
    request.quant = quant.toStdString();
    engine::Engine expected;
    VERIFY_VALUE(expected.load(request, {}, {}));
    request.adapters = {{file.string()}};
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto summaries = engine.summary()->adapters;
    const auto folders = expected.summary()->adapters;
    QCOMPARE(summaries.size(), size_t{1});
    QCOMPARE(summaries[0].name, std::string("adapter.gguf"));
    QCOMPARE(summaries[0].active, folders[0].active);
    QCOMPARE(summaries[0].matched_modules, folders[0].matched_modules);
    QCOMPARE(summaries[0].bytes, folders[0].bytes);
    const auto cases = casesOf(base.toStdString());
    QVERIFY(!cases.empty());
    for (const auto& c : cases) {
        const auto logits = support::must(engine.logits(c, 4, {}), "logits");
        QVERIFY(logits.logits == support::must(expected.logits(c, 4, {}), "logits").logits);
    }
}

void TestGgufAdapters::pairedRows_data() {
    support::addColumns<bool, QString>("is_gguf", "map");
    for (const bool is_gguf : {false, true}) {
        for (const char* map : {"cpu", kTwoCards}) {
            QTest::addRow("%s, %s", is_gguf ? "GGUF" : "folder", map == kTwoCards ? "split" : map)
                << is_gguf << map;
        }
    }
}

/// llama's converter moves the rows of q and k within a head.
void TestGgufAdapters::pairedRows() {
    QFETCH(bool, is_gguf);
    QFETCH(QString, map);
    const QTemporaryDir root;
    const fs::path place = root.path().toStdString();
    const fs::path source = support::testDataDir() / "llama";
    for (const char* name : {"config.json", "generation_config.json", "model.safetensors"}) {
        fs::copy(source / name, place / name);
    }
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
        fs::copy(support::goldenDir() / "e2b/model" / name, place / name);
    }
    // Heads of 16: queries have 4, keys and values 2.
    const std::pair<const char*, std::pair<int64_t, int64_t>> shapes[] = {
        {"self_attn.q_proj", {64, 64}},
        {"self_attn.k_proj", {32, 64}},
        {"self_attn.v_proj", {32, 64}},
        {"self_attn.o_proj", {64, 64}}};
    lora_test::Tensors tensors;
    uint64_t seed = 1;
    for (const int layer : {0, 1}) {
        for (const auto& [module, shape] : shapes) {
            lora_test::addPair(
                tensors, "base_model.model.model.layers." + std::to_string(layer) + "." + module,
                shape.first, shape.second, 3, seed += 2);
        }
    }
    lora_test::writeAdapter(place / "peft",
                            {{"peft_type", "LORA"},
                             {"r", 3},
                             {"lora_alpha", 6},
                             {"target_modules", {"q_proj", "k_proj", "v_proj", "o_proj"}}},
                            tensors);
    support::LoraFileOptions options;
    options.architecture = "llama";
    options.head_dim = 16;
    support::writeGguf(place / "adapter.gguf", support::ggufLora(place / "peft", options));
    engine::LoadRequest request;
    request.model = (is_gguf ? source / "tiny.gguf" : place).string();
    request.context = 64;
    request.is_reference_precision = true;
    request.device_map = map.toStdString();
    support::GoldenCase c;
    c.input_ids = {7, 3, 9, 11, 100, 42, 5, 8};
    std::vector<std::vector<float>> logits;
    for (const char* adapter : {"", "peft", "adapter.gguf"}) {
        engine::Engine engine;
        engine::LoadRequest wanted = requestWith(request, place / adapter);
        if (*adapter == '\0') {
            wanted.adapters.clear();
        }
        VERIFY_VALUE(engine.load(wanted, {}, {}));
        QCOMPARE(support::memoryDifference(engine), std::string());
        logits.push_back(support::engineLogits(engine, c, 4));
    }
    QVERIFY(logits[1] != logits[0]);
    QVERIFY(logits[2] == logits[1]);
}

void TestGgufAdapters::severalAndStrengths() {
    const QTemporaryDir root;
    const fs::path file = fs::path(root.path().toStdString()) / "text.gguf";
    support::writeGguf(file, support::ggufLora(support::goldenAdapter("e2b", "text"), {}));
    const auto cases = support::goldenCases("e2b");
    std::vector<std::vector<float>> logits;
    for (const std::string& second : {support::goldenAdapter("e2b", "text"), file.string()}) {
        engine::LoadRequest request = support::goldenRequest("e2b");
        request.adapters = {{support::goldenAdapter("e2b", "dora"), 1.0, true},
                            {second, 0.5, true}};
        engine::Engine engine;
        VERIFY_VALUE(engine.load(request, {}, {}));
        logits.push_back(support::engineLogits(engine, cases.back(), 4));
        request.adapters[1].strength = 1.5;
        VERIFY_VALUE(engine.setAdapters(request.adapters, {}));
        logits.push_back(support::engineLogits(engine, cases.back(), 4));
    }
    QVERIFY(logits[0] != logits[1]);
    QVERIFY(logits[2] == logits[0]);
    QVERIFY(logits[3] == logits[1]);
}

/// Merged into a folder, and written as a PEFT folder: as the folder it was made of.
void TestGgufAdapters::mergedAndStacked() {
    const QTemporaryDir root;
    const fs::path place = root.path().toStdString();
    const std::string peft = support::goldenAdapter("e2b", "text");
    support::writeGguf(place / "text.gguf", support::ggufLora(peft, {}));
    engine::Engine engine;
    std::vector<std::map<std::string, support::GoldenTensor>> merged, stacked;
    for (const std::string& adapter : {peft, (place / "text.gguf").string()}) {
        engine::MergeOrder order;
        order.model = (support::goldenDir() / "e2b/model").string();
        order.adapters = {{adapter, 1.0, true}};
        const std::string number = std::to_string(merged.size());
        order.out_folder = (place / ("merged" + number)).string();
        const auto report = engine.merge(order, {});
        VERIFY_VALUE(report);
        QVERIFY(!report->adapters.empty());
        merged.push_back(
            support::readSafetensors(fs::path(order.out_folder) / "model.safetensors"));
        order.out_folder = (place / ("stacked" + number)).string();
        VERIFY_VALUE(engine.stack(order, {}));
        stacked.push_back(
            support::readSafetensors(fs::path(order.out_folder) / "adapter_model.safetensors"));
    }
    for (const auto* both : {&merged, &stacked}) {
        QVERIFY(!both->front().empty());
        QCOMPARE(both->front().size(), both->back().size());
        for (const auto& [name, tensor] : both->front()) {
            QVERIFY2(both->back().at(name).bytes == tensor.bytes, name.c_str());
        }
    }
}

void TestGgufAdapters::inTheOthersPlace() {
    const QTemporaryDir root;
    const fs::path file = fs::path(root.path().toStdString()) / "adapter.gguf";
    support::writeGguf(file, support::ggufLora(support::goldenAdapter("e2b", "text"), {}));
    const auto told = [](engine::LoadRequest request) {
        engine::Engine engine;
        const auto loaded = engine.load(request, {}, {});
        return loaded.has_value() ? std::string() : loaded.error().message;
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.model = file.string();
    std::string message = told(request);
    QVERIFY2(has(message, "adapter.gguf: is a LoRA adapter; open the model"), message.c_str());
    const fs::path folder = support::goldenMoreDir() / "gguf-e2b";
    message = told(requestWith(support::goldenRequest("e2b"), folder / "Q4_0.gguf"));
    QVERIFY2(has(message, "Q4_0.gguf: is a model, not an adapter. Open it"), message.c_str());
    message = told(requestWith(support::goldenRequest("e2b"), folder / "Q4_0.mmproj.gguf"));
    QVERIFY2(has(message, "is a projector (mmproj), not an adapter"), message.c_str());
    // A folder with the file in it.
    message = told(requestWith(support::goldenRequest("e2b"), file.parent_path()));
    QVERIFY2(has(message, "but adapter.gguf is; if that is the adapter, give the file"),
             message.c_str());
    // The e2b's on another size, and on another architecture.
    message = told(requestWith(support::goldenRequest("dense31b"), file));
    QVERIFY2(has(message, "adapter.gguf: blk.0.") && has(message, "expected ["), message.c_str());
    engine::LoadRequest llama = requestWith({}, file);
    llama.model = (support::testDataDir() / "llama/tiny.gguf").string();
    message = told(llama);
    QVERIFY2(has(message, "was made for a model of the architecture \"gemma4\", this one is"),
             message.c_str());
}

TEST_CLASS(TestGgufAdapters)
#include "tst_gguf_adapters.moc"
