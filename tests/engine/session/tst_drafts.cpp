// SPDX-License-Identifier: Apache-2.0
// Drafts of an assistant: its logits and drafts are transformers' (tests/golden/
// make_assistant_vectors.py), and whatever it drafts, the text is the one without it: on one device
// and on many placements, greedy and drawn, with and without the multimodal adapter, at every end
// of a text, over several turns. Predicted bytes are the bytes taken.
#include "engine/families/config.h"
#include "engine/families/gemma4/assistant.h"
#include "engine/files/checkpoint.h"
#include "engine/files/safetensors_writer.h"
#include "engine/load/loader.h"
#include "engine/load/random_source.h"
#include "engine/plan/planner.h"
#include "engine/run/opened_model.h"
#include "engine/run/planning.h"
#include "kernels/cpu/tables.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/worst_error.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace {

std::filesystem::path assistantDir(const std::string& family) {
    return support::testDataDir() / "assistants" / family;
}

std::string assistantModel(const std::string& family) {
    return (assistantDir(family) / "model").string();
}

/// A golden model with its assistant on the CPU, float32.
struct DraftsDrafting {
    explicit DraftsDrafting(const std::string& family) {
        opened = support::must(engine::OpenedModel::open(engine::folderCheckpoint(
                                   support::goldenDir() / family / "model")),
                               "model");
        support::must(opened.addAssistant(engine::folderCheckpoint(assistantModel(family))),
                      "assistant");
        engine::HostDeviceOptions options;
        options.threads = 2;
        options.is_reference_precision = true;
        devices = engine::makeHostDevices(options);
        const engine::LoadRequest request = support::goldenRequest(family);
        engine::DeviceInfo cpu;
        cpu.id = engine::DeviceId::cpu();
        plan = engine::makePlan(
            support::must(engine::planRequest(request, opened, {cpu}, {}), "plan request"));
        store = support::must(engine::load(*opened.source, opened.config, plan, devices.set, {}),
                              "load");
        kv = support::must(engine::KvCache::create(opened.config, plan, devices.set), "cache");
        model = support::must(
            engine::Model::create(opened.config, plan, *store, devices.set, nullptr), "model");
    }

    /// Fills the cache and returns the hidden state behind the last token.
    std::vector<float>
    fill(const support::GoldenCase& c, const support::CaseFeatures& features, size_t said) {
        std::vector<int32_t> ids = c.input_ids;
        ids.insert(ids.end(), c.greedy.begin(), c.greedy.begin() + static_cast<ptrdiff_t>(said));
        const auto width = static_cast<ptrdiff_t>(opened.config.text.hidden_size);
        const auto last = static_cast<int>(opened.config.text.num_layers);
        std::vector<float> hidden;
        const engine::HiddenObserver observer = [&](int index, std::span<const float> values,
                                                    int64_t) {
            if (index == last) {
                hidden.assign(values.end() - width, values.end());
            }
        };
        kv->clear();
        (void)support::prefill(*model, *kv, ids, features, 1, 512, &observer);
        return hidden;
    }

    engine::OpenedModel opened;
    engine::OwnedDevices devices;
    engine::PlacementPlan plan;
    std::unique_ptr<engine::TensorStore> store;
    std::unique_ptr<engine::KvCache> kv;
    std::unique_ptr<engine::Model> model;
};

engine::LoadRequest draftRequest(const std::string& family, int64_t tokens = 3) {
    engine::LoadRequest request = support::goldenRequest(family);
    request.draft = assistantModel(family);
    request.draft_tokens = tokens;
    return request;
}

std::string native(const std::string& fallback,
                   const std::vector<std::pair<std::string, std::string>>& entries,
                   const std::string& extra = "") {
    std::string text = R"({"version": 1, "default": ")" + fallback + R"(", "map": {)";
    const char* separator = "";
    for (const auto& [key, value] : entries) {
        text += std::string(separator) + "\"" + key + "\": \"" + value + "\"";
        separator = ", ";
    }
    return text + "}" + extra + "}";
}

std::vector<std::pair<std::string, std::string>> placements() {
    const std::string layers = "model.language_model.layers.";
    return {
        {"preset gpu", "gpu"},
        {"preset lean", "lean"},
        {"layers 0 to 2 on the CPU", native("sim:0", {{layers + "[0-2]", "cpu"}})},
        {"split in front of the last owners", native("sim:0", {{layers + "[4-9]", "sim:1"}})},
        {"split between the two owners", native("sim:0", {{layers + "[5-9]", "sim:1"}})},
        {"split behind the owners", native("sim:0", {{layers + "[6-9]", "sim:1"}})},
        {"owner of the full keys alone", native("sim:0", {{layers + "4", "sim:1"}})},
        {"last layer on the CPU", native("sim:0", {{layers + "9", "cpu"}})},
        {"assistant on the CPU", native("sim:0", {{"assistant", "cpu"}})},
        {"assistant on the second device", native("sim:0", {{"assistant", "sim:1"}})},
        {"a layer of it elsewhere", native("sim:0", {{"assistant.layers.1", "sim:1"}})},
        {"it follows no key but the cache's",
         native("sim:0", {{layers + "[0-3]", "cpu"}}, R"(, "kv": {"place": "sim:1"})")},
        {"head and table on the CPU",
         native("sim:0", {{"model.language_model.embed_tokens", "cpu"}})},
        {"forum map", R"({"model.vision_tower": "cpu", "": "sim:0"})"},
        {"one layer on disk", native("sim:0", {{layers + "1", "disk"}})},
    };
}

/// An assistant of random weights beside the golden 12B, for which there is none of transformers'.
void writeUnifiedAssistant(const std::filesystem::path& folder) {
    const auto model_folder = support::goldenDir() / "unified12b" / "model";
    auto config = support::readJson(assistantDir("dense31b") / "model" / "config.json");
    const auto model_text = support::readJson(model_folder / "config.json")["text_config"];
    config["model_type"] = "gemma4_unified_assistant";
    config["backbone_hidden_size"] = model_text["hidden_size"];
    auto& text = config["text_config"];
    text["model_type"] = "gemma4_unified_text";
    for (const char* key : {"vocab_size", "num_attention_heads", "num_key_value_heads", "head_dim",
                            "sliding_window", "rope_parameters", "per_layer_config"}) {
        text[key] = model_text[key];
    }
    for (const char* key : {"hidden_size_per_layer_input", "global_head_dim",
                            "num_global_key_value_heads", "vocab_size_per_layer_input"}) {
        text.erase(key);
    }
    engine::ModelConfig model = support::must(engine::readModelConfig(model_folder), "model");
    model.assistant =
        support::must(engine::parseAssistantConfig(config.dump(), "", model), "assistant");
    const auto random = engine::makeRandomSource(model, 5);
    std::vector<engine::TensorToWrite> tensors;
    for (const engine::TensorInfo& info : random->tensors()) {
        constexpr std::string_view kPart = "assistant.";
        if (info.name.starts_with(kPart)) {
            std::vector<std::byte> bytes(info.size_bytes);
            support::must(random->read(info, 0, bytes), "read");
            tensors.push_back(engine::tensorFromBytes(info.name.substr(kPart.size()), info.type,
                                                      info.shape, std::move(bytes)));
        }
    }
    std::ofstream(folder / "config.json") << config.dump();
    support::must(engine::writeSafetensorsFile(folder / "model.safetensors", tensors), "write");
}

engine::Reply replyOf(engine::Engine& engine, const engine::GenerateRequest& request) {
    return support::must(engine.generate(request, {}, {}), "reply");
}

} // namespace

class TestDrafts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void draftLogits_data();
    void draftLogits();
    void roundsAreTransformers_data();
    void roundsAreTransformers();
    void sameText_data();
    void sameText();
    void unifiedAssistant_data();
    void unifiedAssistant();
    void sameTextEverywhere_data();
    void sameTextEverywhere();
    void onCards_data();
    void onCards();
    void sameDrawnText();
    void endsOfAText();
    void turnsAndRegeneration();
    void cancelled();
    void followsItsLayers();
    void isNotForAdapters();
    void wrongPairs();
    void cleanupTestCase() { worst_.print("draft logits"); }

private:
    support::WorstError worst_;
};

void TestDrafts::draftLogits_data() {
    QTest::addColumn<QString>("family");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b"}) {
        QTest::newRow(family) << QString::fromUtf8(family);
    }
}

void TestDrafts::draftLogits() {
    QFETCH(QString, family);
    const std::string name = family.toStdString();
    DraftsDrafting drafting(name);
    engine::Drafter& drafter = *drafting.model->drafter();
    const auto expected = support::readSafetensors(assistantDir(name) / "expected.safetensors");
    const auto vocab = static_cast<size_t>(drafting.opened.config.text.vocab_size);
    int compared = 0;
    for (const auto& c : support::goldenCases(name)) {
        const auto features = support::encodeCase(*drafting.model, c);
        const std::vector<float> hidden = drafting.fill(c, features, 0);
        for (const auto& [label, position] :
             {std::pair("n", engine::DraftPosition::OfToken),
              std::pair("n1", engine::DraftPosition::BeforeToken)}) {
            const std::vector<float> wanted = expected.at(c.id + ".logits." + label).floats();
            const auto drafts = expected.at(c.id + ".drafts." + label).integers();
            drafter.setPosition(position);
            support::must(drafter.begin(hidden, *drafting.kv), "begin");
            int32_t token = c.greedy.front();
            for (size_t step = 0; step < drafts.size(); ++step) {
                std::vector<float> logits;
                token = support::must(drafter.next(token, *drafting.kv, &logits), "draft");
                std::vector<float> row(wanted.begin() + static_cast<ptrdiff_t>(step * vocab),
                                       wanted.begin() + static_cast<ptrdiff_t>((step + 1) * vocab));
                for (size_t i = 0; i < vocab; ++i) {
                    // The value that the largest mask took the place of is lost to the reference.
                    const bool is_outside = row[i] < -1e29F;
                    if (is_outside) {
                        row[i] = logits[i] = 0.0F;
                    }
                }
                QVERIFY(std::all_of(logits.begin(), logits.end(),
                                    [](float value) { return std::isfinite(value); }));
                const double error =
                    worst_.add(support::maxRelativeToLargest(logits, row), c.id + label);
                QVERIFY2(error <= 1e-4, qPrintable(QStringLiteral("%1, step %2: %3")
                                                       .arg(QString::fromStdString(c.id))
                                                       .arg(step)
                                                       .arg(error)));
                QCOMPARE(int64_t{token}, drafts[step]);
                ++compared;
            }
        }
    }
    QVERIFY(compared >= 24);
}

void TestDrafts::roundsAreTransformers_data() {
    draftLogits_data();
}

void TestDrafts::roundsAreTransformers() {
    QFETCH(QString, family);
    const std::string name = family.toStdString();
    DraftsDrafting drafting(name);
    engine::Drafter& drafter = *drafting.model->drafter();
    const auto rounds = support::readJson(assistantDir(name) / "rounds.json");
    const auto cases = support::goldenCases(name);
    const auto& c = cases.front(); // text alone: each round fills the cache anew
    size_t said = 0;
    int compared = 0;
    for (const auto& round : rounds.at(c.id)) {
        const std::vector<float> hidden = drafting.fill(c, {}, said);
        QCOMPARE(drafting.kv->size(), round[0].get<int64_t>());
        support::must(drafter.begin(hidden, *drafting.kv), "begin");
        int32_t token = round[1].get<int32_t>();
        QCOMPARE(token, c.greedy[said]);
        for (const auto& draft : round[2]) {
            token = support::must(drafter.next(token, *drafting.kv), "draft");
            QCOMPARE(token, draft.get<int32_t>());
            ++compared;
        }
        said += 1 + round[3].get<size_t>();
    }
    QVERIFY(compared >= 15);
}

void TestDrafts::sameText_data() {
    support::addColumns<QString, bool>("family", "has_adapter");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b"}) {
        QTest::addRow("%s", family) << QString::fromUtf8(family) << false;
        QTest::addRow("%s with the multimodal adapter", family)
            << QString::fromUtf8(family) << true;
    }
}

void TestDrafts::sameText() {
    QFETCH(QString, family);
    QFETCH(bool, has_adapter);
    const std::string name = family.toStdString();
    engine::Engine engine;
    engine::LoadRequest request = draftRequest(name);
    if (has_adapter) {
        request.adapters.push_back({support::goldenAdapter(name, "multimodal")});
    }
    support::must(engine.load(request, {}, {}), "load");
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto of_adapter = has_adapter
                                ? support::readJson(support::goldenDir() / name /
                                                    "adapters/multimodal/expected_greedy.json")
                                : nlohmann::json();
    int64_t accepted = 0;
    int64_t rounds = 0;
    for (const auto& c : support::goldenCases(name)) {
        engine::GenerateRequest asked = support::goldenCaseRequest(c);
        asked.sampling.max_tokens = 24;
        const engine::Reply drafted = replyOf(engine, asked);
        asked.uses_drafts = false;
        const engine::Reply plain = replyOf(engine, asked);
        QCOMPARE(drafted.token_ids, plain.token_ids);
        if (!has_adapter) {
            QCOMPARE(drafted.token_ids, c.greedy);
        }
        QVERIFY(drafted.drafts.has_value());
        QVERIFY(!plain.drafts.has_value());
        QVERIFY(drafted.drafts->rounds > 0);
        accepted += drafted.drafts->accepted;
        rounds += drafted.drafts->rounds;
    }
    qInfo("%lld drafts accepted in %lld rounds", static_cast<long long>(accepted),
          static_cast<long long>(rounds));
    QVERIFY(has_adapter || accepted > 0);
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestDrafts::unifiedAssistant_data() {
    QTest::addColumn<QString>("map");
    QTest::newRow("one device") << "gpu";
    QTest::newRow("split, the assistant apart") << QString::fromStdString(
        native("sim:0", {{"model.language_model.layers.[2-3]", "sim:1"}, {"assistant", "cpu"}}));
}

/// The 12B's assistant belongs to it, and whatever it drafts, the text is the one without.
void TestDrafts::unifiedAssistant() {
    QFETCH(QString, map);
    QTemporaryDir folder;
    writeUnifiedAssistant(folder.path().toStdString());
    engine::LoadRequest request = support::goldenRequest("unified12b");
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    request.draft = folder.path().toStdString();
    request.draft_tokens = 3;
    engine::Engine engine;
    support::must(engine.load(request, {}, {}), "load");
    QCOMPARE(support::memoryDifference(engine), std::string());
    for (const auto& c : support::goldenCases("unified12b")) {
        engine::GenerateRequest asked = support::goldenCaseRequest(c);
        asked.sampling.max_tokens = 24;
        const engine::Reply drafted = replyOf(engine, asked);
        QCOMPARE(drafted.token_ids, c.greedy);
        QVERIFY(drafted.drafts->rounds > 0);
    }
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestDrafts::sameTextEverywhere_data() {
    support::addColumns<QString, bool, QString, QString>("map", "has_adapter", "quant", "kv");
    for (const auto& [name, map] : placements()) {
        const QString text = QString::fromStdString(map);
        QTest::addRow("%s", name.c_str()) << text << false << "none"
                                          << "auto";
        QTest::addRow("%s, with an adapter", name.c_str()) << text << true << "none"
                                                           << "auto";
        QTest::addRow("%s, keys and values in q8", name.c_str()) << text << false << "none"
                                                                 << "q8";
    }
    QTest::newRow("4 bits, split")
        << QString::fromStdString(placements()[4].second) << false << "nf4-dq"
        << "auto";
}

void TestDrafts::sameTextEverywhere() {
    QFETCH(QString, map);
    QFETCH(bool, has_adapter);
    QFETCH(QString, quant);
    QFETCH(QString, kv);
    const std::string family = "e2b";
    engine::LoadRequest request = draftRequest(family);
    request.kv = kv.toStdString();
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    request.quant = quant.toStdString();
    if (has_adapter) {
        request.adapters.push_back({support::goldenAdapter(family, "multimodal")});
    }
    engine::Engine engine;
    support::must(engine.load(request, {}, {}), "load");
    QCOMPARE(support::memoryDifference(engine), std::string());
    int64_t accepted = 0;
    for (const auto& c : support::goldenCases(family)) {
        if (c.id != "text" && c.id != "image_audio") {
            continue;
        }
        engine::GenerateRequest asked = support::goldenCaseRequest(c);
        asked.sampling.max_tokens = 24;
        const engine::Reply drafted = replyOf(engine, asked);
        if (!has_adapter && quant == "none" && kv == "auto") {
            QCOMPARE(drafted.token_ids, c.greedy);
        }
        asked.uses_drafts = false;
        QCOMPARE(drafted.token_ids, replyOf(engine, asked).token_ids);
        QVERIFY(drafted.drafts->rounds > 0);
        accepted += drafted.drafts->accepted;
    }
    QVERIFY(has_adapter || quant != "none" || accepted > 0);
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestDrafts::onCards_data() {
    support::addColumns<QString, bool>("map", "is_late");
    const std::string layers = "model.language_model.layers.";
    for (const bool is_late : {false, true}) {
        const char* when = is_late ? "late" : "at once";
        QTest::addRow("one, %s", when) << "gpu" << is_late;
        QTest::addRow("two, %s", when)
            << QString::fromStdString(native("cuda:0", {{layers + "[5-9]", "cuda:1"}})) << is_late;
        QTest::addRow("assistant on the CPU, %s", when)
            << QString::fromStdString(native("cuda:0", {{"assistant", "cpu"}})) << is_late;
        QTest::addRow("assistant stored on the CPU, %s", when)
            << QStringLiteral(R"({"version": 1, "default": "cuda:0", "map": {"assistant":
                {"store": "cpu", "compute": "cuda:0", "residency": "stream"}}})")
            << is_late;
    }
}

/// Devices that the host cannot look into, whose kernels refuse pointers of the host.
void TestDrafts::onCards() {
    QFETCH(QString, map);
    QFETCH(bool, is_late);
    support::HiddenCounts counts;
    counts.is_late = is_late;
    {
        engine::EngineOptions options;
        options.gpus = support::hiddenAccess(2, uint64_t{512} << 20, counts);
        engine::Engine engine(options);
        for (const char* family : {"e2b", "dense31b"}) {
            if (family == std::string("dense31b") && map.contains("layers")) {
                continue; // it has fewer
            }
            engine::LoadRequest request = draftRequest(family, 0);
            request.is_reference_precision = false; // fused steps need the 16-bit cache
            request.device_map = map.toStdString();
            support::must(engine.load(request, {}, {}), "load");
            QCOMPARE(support::memoryDifference(engine), std::string());
            const auto c = support::goldenCases(family).front();
            engine::GenerateRequest asked = support::goldenCaseRequest(c);
            asked.sampling.max_tokens = 16;
            asked.uses_drafts = false;
            const engine::Reply plain = replyOf(engine, asked);
            request.draft_tokens = 3;
            support::must(engine.load(request, {}, {}), "load");
            asked.uses_drafts = true;
            // Tokens by themselves and rounds in turns, on one cache.
            for (const bool uses_drafts : {true, false, true}) {
                asked.uses_drafts = uses_drafts;
                const engine::Reply reply = replyOf(engine, asked);
                QCOMPARE(reply.token_ids, plain.token_ids);
                QCOMPARE(reply.drafts.has_value() && reply.drafts->rounds > 0, uses_drafts);
            }
            QCOMPARE(support::memoryDifference(engine), std::string());
        }
    }
    QCOMPARE(counts.host_pointers, 0);
    QCOMPARE(counts.leaked, size_t{0});
    QCOMPARE(counts.too_early, 0);
}

void TestDrafts::sameDrawnText() {
    engine::Engine engine;
    support::must(engine.load(draftRequest("e4b", 4), {}, {}), "load");
    const auto c = support::goldenCases("e4b").front();
    int64_t accepted = 0;
    for (int seed = 1; seed <= 12; ++seed) {
        engine::GenerateRequest asked = support::goldenCaseRequest(c);
        asked.sampling.ignores_eos = seed % 2 == 0;
        asked.sampling.temperature = seed % 3 == 0 ? 0.3 : 0.05;
        asked.sampling.top_k = 40;
        asked.sampling.top_p = 0.95;
        asked.sampling.repetition_penalty = seed % 4 == 0 ? 1.2 : 1.0;
        asked.sampling.seed = seed;
        asked.sampling.max_tokens = 24;
        const engine::Reply drafted = replyOf(engine, asked);
        asked.uses_drafts = false;
        const engine::Reply plain = replyOf(engine, asked);
        QCOMPARE(drafted.token_ids, plain.token_ids);
        QCOMPARE(drafted.finish_reason, plain.finish_reason);
        accepted += drafted.drafts->accepted;
    }
    QVERIFY(accepted > 0);
}

void TestDrafts::endsOfAText() {
    engine::LoadRequest request = draftRequest("e2b", 5);
    const auto c = support::goldenCases("e2b").front();
    request.context = static_cast<int64_t>(c.input_ids.size()) + 9;
    engine::Engine engine;
    support::must(engine.load(request, {}, {}), "load");
    engine::GenerateRequest asked = support::goldenCaseRequest(c);
    // Every length up to the end of the context, and what the cache holds then.
    for (int64_t most = 0; most <= 12; ++most) {
        asked.sampling.max_tokens = most;
        asked.uses_drafts = true;
        const engine::Reply drafted = replyOf(engine, asked);
        const auto held = engine.contextUse();
        asked.uses_drafts = false;
        const engine::Reply plain = replyOf(engine, asked);
        QCOMPARE(drafted.token_ids, plain.token_ids);
        QCOMPARE(drafted.finish_reason, plain.finish_reason);
        QCOMPARE(held, engine.contextUse());
    }
}

void TestDrafts::turnsAndRegeneration() {
    // The sliding window is short: tails are cut from rings that have gone round.
    engine::LoadRequest request = draftRequest("dense31b", 4);
    request.prefill_chunk = 8;
    engine::Engine drafting;
    engine::Engine plain;
    support::must(drafting.load(request, {}, {}), "load");
    request.draft.clear();
    support::must(plain.load(request, {}, {}), "load");
    const auto c = support::goldenCases("dense31b").front();
    engine::GenerateRequest asked = support::goldenCaseRequest(c);
    asked.sampling.max_tokens = 40;
    for (int turn = 0; turn < 3; ++turn) {
        const engine::Reply first = replyOf(drafting, asked);
        const engine::Reply again = replyOf(drafting, asked); // regenerated from the cache
        const engine::Reply expected = replyOf(plain, asked);
        QCOMPARE(first.token_ids, expected.token_ids);
        QCOMPARE(again.token_ids, expected.token_ids);
        QVERIFY(first.drafts->rounds > 0);
        // The next turn follows; the third goes back and is edited.
        asked.raw_ids.insert(asked.raw_ids.end(), first.token_ids.begin(), first.token_ids.end());
        if (turn == 1) {
            asked.raw_ids.resize(asked.raw_ids.size() - 30);
            asked.raw_ids.back() = 77;
        }
        asked.raw_ids.push_back(100 + turn);
    }
}

void TestDrafts::cancelled() {
    engine::Engine engine;
    support::must(engine.load(draftRequest("e2b", 6), {}, {}), "load");
    const auto c = support::goldenCases("e2b").front();
    engine::GenerateRequest asked = support::goldenCaseRequest(c);
    asked.sampling.max_tokens = 24;
    for (int64_t at = 1; at < 20; at += 3) {
        std::stop_source source;
        const auto update = [&](const engine::ReplyUpdate& delta) {
            if (delta.tokens >= at) {
                source.request_stop();
            }
        };
        const engine::Reply cut =
            support::must(engine.generate(asked, update, source.get_token()), "cut");
        QCOMPARE(cut.finish_reason, std::string("cancelled"));
        const auto count = static_cast<ptrdiff_t>(cut.token_ids.size());
        QVERIFY(count >= at);
        QVERIFY(count <= at + 6); // the round in which it was stopped is the last
        QCOMPARE(cut.token_ids, std::vector<int32_t>(c.greedy.begin(), c.greedy.begin() + count));
        QCOMPARE(replyOf(engine, asked).token_ids, c.greedy);
    }
}

void TestDrafts::followsItsLayers() {
    const auto placeOf = [](const engine::Engine& engine) {
        const auto* module = engine.currentPlan()->findModule({engine::PartRole::Assistant});
        return module == nullptr ? std::string() : module->compute.toString();
    };
    engine::LoadRequest request = draftRequest("e2b");
    request.sim_gpus = {64U << 20U, 64U << 20U};
    const std::string layers = "model.language_model.layers.";
    request.device_map = native("sim:0", {{layers + "[3-5]", "sim:1"}});
    engine::Engine engine;
    support::must(engine.load(request, {}, {}), "load");
    QCOMPARE(placeOf(engine), std::string("sim:1"));
    const auto c = support::goldenCases("e2b").front();
    engine::GenerateRequest asked = support::goldenCaseRequest(c);
    asked.sampling.max_tokens = 24;
    QCOMPARE(replyOf(engine, asked).token_ids, c.greedy);
    // A move of the layers takes it along, one of its own does not.
    support::must(engine.applyMap(native("sim:0", {{layers + "[3-5]", "cpu"}}), {}, {}), "move");
    QCOMPARE(placeOf(engine), std::string("cpu"));
    QCOMPARE(replyOf(engine, asked).token_ids, c.greedy);
    support::must(engine.applyMap(
                      native("sim:0", {{layers + "[3-5]", "cpu"}, {"assistant", "sim:1"}}), {}, {}),
                  "move");
    QCOMPARE(placeOf(engine), std::string("sim:1"));
    QCOMPARE(replyOf(engine, asked).token_ids, c.greedy);
    QCOMPARE(support::memoryDifference(engine), std::string());
    // A map that places one is also taken where none is loaded.
    request.draft = "off";
    request.device_map = native("sim:0", {{"assistant", "sim:1"}});
    support::must(engine.load(request, {}, {}), "load");
    QCOMPARE(placeOf(engine), std::string());
    QVERIFY(!replyOf(engine, asked).drafts.has_value());
}

void TestDrafts::isNotForAdapters() {
    // "pattern" names q_proj and others by their last words alone, which the assistant has, too.
    engine::LoadRequest request = draftRequest("e2b");
    request.adapters.push_back({support::goldenAdapter("e2b", "pattern")});
    engine::Engine engine;
    support::must(engine.load(request, {}, {}), "load");
    for (const auto& adapter : engine.summary()->adapters) {
        for (const std::string& module : adapter.matched_modules) {
            QVERIFY2(!module.starts_with("assistant"), module.c_str());
        }
    }
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestDrafts::wrongPairs() {
    engine::Engine engine;
    engine::LoadRequest request = draftRequest("e2b");
    request.draft = assistantModel("dense31b");
    const auto other = engine.load(request, {}, {});
    QVERIFY(!other.has_value());
    QVERIFY2(other.error().message.find("does not belong to this model") != std::string::npos,
             other.error().message.c_str());
    request.draft = (support::goldenDir() / "e2b/model").string();
    const auto model = engine.load(request, {}, {});
    QVERIFY(!model.has_value());
    QVERIFY2(model.error().message.find("not a drafting assistant") != std::string::npos,
             model.error().message.c_str());
    request.draft = "/nowhere/at/all";
    QVERIFY(!engine.load(request, {}, {}).has_value());
    request.draft = "auto"; // there is none beside the golden models
    support::must(engine.load(request, {}, {}), "load");
    const auto c = support::goldenCases("e2b").front();
    QVERIFY(!replyOf(engine, support::goldenCaseRequest(c)).drafts.has_value());
}

TEST_CLASS(TestDrafts)
#include "tst_drafts.moc"
