// SPDX-License-Identifier: Apache-2.0
// Adapters through the whole engine: PEFT's own logits and tokens for every golden adapter,
// strength, switching, and the forum's matrix (placements x formats x adapters) on simulated GPUs.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/sampled_points.h"
#include "tests/support/worst_error.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>

namespace {

std::vector<engine::AdapterChoice> adapters(const std::string& family,
                                            const std::vector<std::string>& names) {
    std::vector<engine::AdapterChoice> out;
    for (const std::string& name : names) {
        out.push_back({support::goldenAdapter(family, name), 1.0, true});
    }
    return out;
}

/// A column of the matrix: a base, where its adapters are, and what it is asked.
struct MatrixBase {
    engine::LoadRequest load;
    std::filesystem::path adapters;
    engine::GenerateRequest question;
};

/// "e2b/Q4_0": a GGUF file of golden_more; "w4a16-e2b": a folder there; else how e2b is quantized.
MatrixBase matrixBase(const std::string& base) {
    const size_t slash = base.find('/');
    if (slash != std::string::npos) {
        const std::string name = base.substr(0, slash);
        const auto folder = support::goldenMoreDir() / ("gguf-" + name);
        const auto told = support::readJson(folder / "cases.json");
        return {support::goldenGgufRequest(name, base.substr(slash + 1)), folder,
                support::goldenGgufCase(told["cases"].back())};
    }
    if (base.starts_with("w4a16")) {
        const auto folder = support::goldenMoreDir() / base;
        return {support::folderRequest(folder), folder,
                support::goldenCaseRequest(support::goldenCases(base).back())};
    }
    MatrixBase column{support::goldenRequest("e2b"), support::goldenDir() / "e2b/adapters",
                      support::goldenCaseRequest(support::goldenCases("e2b").back())};
    column.load.quant = base;
    return column;
}

} // namespace

class TestAdapters : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void golden_data();
    void golden();
    void furtherKinds_data();
    void furtherKinds();
    void equalsMerged_data();
    void equalsMerged();
    void onQuantizedBase();
    void oldKeysAreReported_data();
    void oldKeysAreReported();
    void strengthAndSwitching();
    void everyTurnItsOwnSet();
    void forumMatrix_data();
    void forumMatrix();
    void travellingBases_data();
    void travellingBases();
    void cleanupTestCase() { worst_.print("logits with an adapter"); }

private:
    support::WorstError worst_;
    std::map<std::string, std::vector<int32_t>> one_device_;
};

void TestAdapters::golden_data() {
    support::addColumns<QString, QString, QString>("family", "name", "expected");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b", "unified12b"}) {
        for (const auto& entry :
             std::filesystem::directory_iterator(support::goldenDir() / family / "adapters")) {
            const std::string name = entry.path().filename().string();
            // `multimodal_old_keys` must give what `multimodal` gives.
            const std::string expected = name == "multimodal_old_keys" ? "multimodal" : name;
            QTest::addRow("%s %s", family, name.c_str())
                << QString::fromUtf8(family) << QString::fromStdString(name)
                << QString::fromStdString(expected);
        }
    }
}

void TestAdapters::golden() {
    QFETCH(QString, family);
    QFETCH(QString, name);
    QFETCH(QString, expected);
    const std::string model = family.toStdString();
    engine::LoadRequest request = support::goldenRequest(model);
    request.adapters = adapters(model, {name.toStdString()});
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto folder = support::goldenDir() / model / "adapters" / expected.toStdString();
    const auto golden = support::readSafetensors(folder / "expected_logits.safetensors");
    const auto greedy = support::readJson(folder / "expected_greedy.json");
    int compared = 0;
    for (const auto& c : support::goldenCases(model)) {
        if (!golden.contains(c.id)) {
            continue;
        }
        const double error =
            worst_.add(support::maxRelativeToLargest(support::engineLogits(engine, c, 8),
                                                     golden.at(c.id).floats()),
                       c.id);
        QVERIFY2(error <= 1e-4,
                 qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
        const auto tokens = greedy[c.id].get<std::vector<int32_t>>();
        QCOMPARE(support::engineGreedy(engine, c, static_cast<int>(tokens.size())), tokens);
        ++compared;
    }
    QVERIFY(compared > 0);
}

void TestAdapters::furtherKinds_data() {
    support::addColumns<QString, QStringList, QString, QString>("family", "folders", "file",
                                                                "prefix");
    const QString data = QString::fromStdString((support::testDataDir() / "adapters/").string());
    for (const char* name :
         {"lora_bias", "bias_all", "modules_to_save", "trainable_tokens", "embedding",
          "embedding_dora", "head", "tied_embedding", "experts", "experts_down", "saved_positions",
          "saved_embedding", "saved_experts", "experts_peft_0_18", "experts_square_peft_0_18",
          "experts_square_peft_0_19_0"}) {
        const QString folder = data + QString::fromUtf8(name);
        const bool is_moe = QString::fromUtf8(name).contains(QStringLiteral("experts"));
        QTest::addRow("%s", name) << (is_moe ? QStringLiteral("moe26b") : QStringLiteral("e2b"))
                                  << QStringList{folder} << folder << QString();
    }
    const QString text = QString::fromStdString(support::goldenAdapter("e2b", "text"));
    const QString dora = QString::fromStdString(support::goldenAdapter("e2b", "dora"));
    const QString both = data + QStringLiteral("text_and_dora");
    QTest::addRow("text, then dora")
        << QStringLiteral("e2b") << QStringList{text, dora} << both << QStringLiteral("text+dora");
    QTest::addRow("dora, then text")
        << QStringLiteral("e2b") << QStringList{dora, text} << both << QStringLiteral("dora+text");
}

void TestAdapters::furtherKinds() {
    QFETCH(QString, family);
    QFETCH(QStringList, folders);
    QFETCH(QString, file);
    QFETCH(QString, prefix);
    engine::LoadRequest request = support::goldenRequest(family.toStdString());
    for (const QString& folder : folders) {
        request.adapters.push_back({folder.toStdString(), 1.0, true});
    }
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto golden =
        support::readSafetensors(file.toStdString() + "/expected_logits.safetensors");
    int compared = 0;
    for (const auto& c : support::goldenCases(family.toStdString())) {
        const std::string key =
            prefix.isEmpty() ? c.id : (c.id == "text" ? prefix.toStdString() : "");
        if (golden.contains(key)) {
            const double error =
                worst_.add(support::maxRelativeToLargest(support::engineLogits(engine, c, 4),
                                                         golden.at(key).floats()),
                           c.id);
            QVERIFY2(
                error <= 1e-4,
                qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
            ++compared;
        }
    }
    QVERIFY(compared > 0);
}

void TestAdapters::equalsMerged_data() {
    QTest::addColumn<QString>("family");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b"}) {
        QTest::addRow("%s", family) << QString::fromUtf8(family);
    }
}

void TestAdapters::equalsMerged() {
    // What PEFT computes after merging into float32 weights is what the unmerged adapter gives.
    QFETCH(QString, family);
    const std::string model = family.toStdString();
    engine::LoadRequest request = support::goldenRequest(model);
    request.adapters = adapters(model, {"multimodal"});
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    const auto golden = support::readSafetensors(
        std::filesystem::path(support::goldenAdapter(model, "multimodal")) /
        "expected_logits_merged_fp32.safetensors");
    int compared = 0;
    for (const auto& c : support::goldenCases(model)) {
        if (golden.contains(c.id)) {
            const double error =
                worst_.add(support::maxRelativeToLargest(support::engineLogits(engine, c, 8),
                                                         golden.at(c.id).floats()),
                           c.id);
            QVERIFY2(
                error <= 1e-4,
                qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
            ++compared;
        }
    }
    QVERIFY(compared > 0);
}

void TestAdapters::onQuantizedBase() {
    for (const std::string family : {"e2b", "e4b"}) {
        engine::LoadRequest request = support::goldenRequest(family);
        request.quant = "nf4-dq";
        request.adapters = adapters(family, {"multimodal"});
        engine::Engine engine;
        VERIFY_VALUE(engine.load(request, {}, {}));
        const auto golden =
            support::readSafetensors(support::goldenDir() / family /
                                     "quantized/nf4-dq+multimodal.expected_logits.safetensors");
        int compared = 0;
        for (const auto& c : support::goldenCases(family)) {
            if (golden.contains(c.id)) {
                const double error =
                    worst_.add(support::maxRelativeToLargest(support::engineLogits(engine, c, 8),
                                                             golden.at(c.id).floats()),
                               c.id);
                QVERIFY2(
                    error <= 1e-4,
                    qPrintable(
                        QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
                ++compared;
            }
        }
        QVERIFY(compared > 0);
    }
}

void TestAdapters::oldKeysAreReported_data() {
    QTest::addColumn<QString>("family");
    QTest::addRow("e2b") << QStringLiteral("e2b");
    QTest::addRow("e4b") << QStringLiteral("e4b");
}

void TestAdapters::oldKeysAreReported() {
    QFETCH(QString, family);
    const std::string model = family.toStdString();
    const auto keys = [&](const std::string& name) {
        std::vector<std::string> out;
        for (const auto& [key, tensor] :
             support::readSafetensors(std::filesystem::path(support::goldenAdapter(model, name)) /
                                      "adapter_model.safetensors")) {
            out.push_back(key);
        }
        return out;
    };
    const auto plain = keys("multimodal");
    std::vector<std::string> extra;
    for (const std::string& key : keys("multimodal_old_keys")) {
        if (std::find(plain.begin(), plain.end(), key) == plain.end()) {
            extra.push_back(key);
        }
    }
    QVERIFY(!extra.empty());
    engine::Engine engine;
    const auto summary = engine.inspect((support::goldenDir() / model / "model").string(),
                                        {support::goldenAdapter(model, "multimodal_old_keys")});
    QVERIFY(summary.has_value());
    std::vector<std::string> reported;
    for (const engine::UnusedKey& unused : summary->adapters.at(0).unmatched) {
        reported.push_back(unused.key);
        const std::string told = engine::inEnglish(unused.told());
        QVERIFY2(told.find("shares the KV of layer") != std::string::npos, told.c_str());
    }
    std::sort(reported.begin(), reported.end());
    std::sort(extra.begin(), extra.end());
    QCOMPARE(reported, extra);
}

void TestAdapters::strengthAndSwitching() {
    const std::string family = "e2b";
    const auto cases = support::goldenCases(family);
    const auto& c = cases.back();
    engine::Engine base;
    VERIFY_VALUE(base.load(support::goldenRequest(family), {}, {}));
    const auto plain = support::engineLogits(base, c, 8);

    engine::LoadRequest request = support::goldenRequest(family);
    request.adapters = adapters(family, {"multimodal", "text"});
    request.adapters[1].is_enabled = false;
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    const auto first = support::engineLogits(engine, c, 8);
    QVERIFY(first != plain);

    // A, then B, then A again equals A; the cache filled under A is not reused under B.
    auto choices = request.adapters;
    choices[0].is_enabled = false;
    choices[1].is_enabled = true;
    QElapsedTimer timer;
    timer.start();
    QVERIFY(engine.setAdapters(choices, {}).has_value());
    qInfo("switching adapters took %lld ms", static_cast<long long>(timer.elapsed()));
    const auto second = support::engineLogits(engine, c, 8);
    QVERIFY(second != first);
    QVERIFY(engine.setAdapters(request.adapters, {}).has_value());
    QCOMPARE(support::engineLogits(engine, c, 8), first);

    // Strength 0 and switched off: the base, bit for bit.
    choices = request.adapters;
    choices[0].strength = 0.0;
    QVERIFY(engine.setAdapters(choices, {}).has_value());
    QCOMPARE(support::engineLogits(engine, c, 8), plain);
    choices[0].is_enabled = false;
    QVERIFY(engine.setAdapters(choices, {}).has_value());
    QCOMPARE(support::engineLogits(engine, c, 8), plain);
    QVERIFY(engine.setAdapters({}, {}).has_value());
    QCOMPARE(support::engineLogits(engine, c, 8), plain);

    // Two together differ from each alone, and a strength outside 0..2 is refused before any
    // change.
    choices = request.adapters;
    choices[1].is_enabled = true;
    QVERIFY(engine.setAdapters(choices, {}).has_value());
    const auto both = support::engineLogits(engine, c, 8);
    QVERIFY(both != first && both != second);
    auto wrong = choices;
    wrong[0].strength = 2.5;
    QVERIFY(!engine.setAdapters(wrong, {}).has_value());
    QCOMPARE(support::engineLogits(engine, c, 8), both);
}

/// A conversation whose turns run under different sets: what the cache and the encoded media hold
/// from one set is used under the same set and under no other.
void TestAdapters::everyTurnItsOwnSet() {
    const std::string family = "e2b";
    const auto all = support::goldenCases(family);
    const auto with_image = std::find_if(all.begin(), all.end(), [](const auto& c) {
        return !support::goldenCaseRequest(c).raw_images.empty();
    });
    QVERIFY(with_image != all.end());
    engine::LoadRequest request = support::goldenRequest(family);
    request.adapters = adapters(family, {"multimodal", "text"});
    request.adapters[1].is_enabled = false;
    auto other = request.adapters;
    other[0].is_enabled = false;
    other[1].is_enabled = true;
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));

    engine::GenerateRequest turn = support::goldenCaseRequest(*with_image);
    turn.sampling.max_tokens = 6;
    QVERIFY(engine
                .encodeAhead({engine::MessagePart::Kind::Image, turn.raw_images.front()},
                             turn.image_tokens, {})
                .has_value());
    const auto first = engine.generate(turn, {}, {});
    VERIFY_VALUE(first);
    QCOMPARE(first->timing.reused_tokens, int64_t{0});
    turn.raw_ids = first->input_ids;
    // Not the reply's tokens: a model of random weights may answer with a media placeholder.
    turn.raw_ids.insert(turn.raw_ids.end(), 3, first->input_ids.front());
    const auto same_set = engine.generate(turn, {}, {});
    VERIFY_VALUE(same_set);
    QVERIFY(same_set->timing.reused_tokens >= static_cast<int64_t>(first->input_ids.size()));

    QVERIFY(engine.setAdapters(other, {}).has_value());
    const auto other_set = engine.generate(turn, {}, {});
    QVERIFY(other_set.has_value());
    QCOMPARE(other_set->timing.reused_tokens, int64_t{0});
    engine::LoadRequest alone = request;
    alone.adapters = adapters(family, {"text"});
    engine::Engine fresh;
    VERIFY_VALUE(fresh.load(alone, {}, {}));
    const auto expected = fresh.generate(turn, {}, {});
    QVERIFY(expected.has_value());
    QCOMPARE(other_set->token_ids, expected->token_ids);
    QVERIFY(other_set->token_ids != same_set->token_ids);

    QVERIFY(engine.setAdapters(request.adapters, {}).has_value());
    const auto back = engine.generate(turn, {}, {});
    QVERIFY(back.has_value());
    QCOMPARE(back->timing.reused_tokens, int64_t{0});
    QCOMPARE(back->token_ids, same_set->token_ids);

    // Switching takes under 50 ms; the best of several counts, other programs may be running.
    qint64 best_us = std::numeric_limits<qint64>::max();
    for (int i = 0; i < 6; ++i) {
        QElapsedTimer timer;
        timer.start();
        QVERIFY(engine.setAdapters(i % 2 == 0 ? other : request.adapters, {}).has_value());
        best_us = std::min(best_us, timer.nsecsElapsed() / 1000);
    }
    qInfo("switching adapters took %lld us", static_cast<long long>(best_us));
    QVERIFY(best_us < 50000);
}

void TestAdapters::forumMatrix_data() {
    support::addColumns<QString, QString, QString>("base", "set", "map");
    const std::pair<const char*, const char*> maps[] = {
        {"all on one GPU", "gpu"},
        // With a quantized base and an adapter: transformers 5.17.0 with peft 0.21.0 raises
        // KeyError: 'sliding_attention' here, 5.24.0 with 0.21.2 answers with both towers back on
        // the GPU (tests/gpu/peers/transformers_split.py).
        {"towers on the CPU",
         R"({"model.vision_tower": "cpu", "model.audio_tower": "cpu", "": "sim:0"})"},
        {"towers and table on the CPU", "lean"},
        {"everything on the CPU", "cpu"},
        {"two GPUs",
         R"({"version": 1, "default": "sim:0", "map": {"model.language_model.layers.[5-9]": "sim:1"}})"}};
    for (const char* quant : {"nf4-dq", "none", "nf4"}) {
        if (support::kTakesPart && std::string_view(quant) != "nf4-dq") {
            continue;
        }
        for (const char* set : {"", "text", "multimodal", "multimodal+text"}) {
            for (const auto& [name, map] : maps) {
                QTest::addRow("%s, %s, %s", name, quant, *set == 0 ? "no adapter" : set)
                    << QString::fromUtf8(quant) << QString::fromUtf8(set) << QString::fromUtf8(map);
            }
        }
    }
    // Files that are quantized already, and their adapters; the K types have no towers.
    const std::pair<const char*, const char*> few[] = {
        {"all on one GPU", "gpu"},
        {"towers on the CPU", "towers-cpu"},
        {"towers and table on the CPU", "lean"},
        {"everything on the CPU", "cpu"},
        {"two GPUs",
         R"({"version": 1, "default": "sim:0", "map": {"model.language_model.layers.1": "sim:1"}})"}};
    for (const char* base : {"e2b/Q4_0", "k256mix/all_types", "w4a16-e2b"}) {
        for (const char* set : {"", "adapter"}) {
            for (const auto& [name, map] : few) {
                QTest::addRow("%s, %s, %s", name, base, *set == 0 ? "no adapter" : set)
                    << QString::fromUtf8(base) << QString::fromUtf8(set) << QString::fromUtf8(map);
            }
        }
    }
}

void TestAdapters::forumMatrix() {
    QFETCH(QString, base);
    QFETCH(QString, set);
    QFETCH(QString, map);
    const MatrixBase column = matrixBase(base.toStdString());
    engine::LoadRequest request = column.load;
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    for (const QString& name : set.split(QLatin1Char('+'), Qt::SkipEmptyParts)) {
        request.adapters.push_back({(column.adapters / name.toStdString()).string(), 1.0, true});
    }
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    engine::GenerateRequest greedy = column.question;
    greedy.sampling.max_tokens = 24;
    const auto tokens = support::must(engine.generate(greedy, {}, {}), "reply").token_ids;
    auto& expected = one_device_[(base + set).toStdString()];
    if (expected.empty()) {
        QCOMPARE(map, QStringLiteral("gpu")); // the first row of each group is the one-device cell
        expected = tokens;
    }
    QCOMPARE(tokens, expected);
}

void TestAdapters::travellingBases_data() {
    support::addColumns<QStringList, QString>("names", "quant");
    QTest::newRow("plain") << QStringList{"multimodal"} << "none";
    if (!support::kTakesPart) {
        QTest::newRow("plain, 4 bits") << QStringList{"multimodal"} << "nf4-dq";
        QTest::newRow("DoRA") << QStringList{"dora"} << "none";
    }
    QTest::newRow("both") << QStringList{"multimodal", "dora"} << "nf4";
}

/// A and B stored and travelling with their base tensors, or staying where they compute: the same
/// answers as with everything on one device, memory as planned, also after moves from one to the
/// other.
void TestAdapters::travellingBases() {
    QFETCH(QStringList, names);
    QFETCH(QString, quant);
    std::vector<std::string> wanted;
    for (const QString& name : names) {
        wanted.push_back(name.toStdString());
    }
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.quant = quant.toStdString();
    request.adapters = adapters("e2b", wanted);
    request.sim_gpus = {uint64_t{64} << 20};
    const auto map = [](const std::string& entries, const char* place) {
        return R"({"version": 1, "default": "sim:0", "map": {)" + entries +
               R"(}, "adapter": {"place": ")" + place + "\"}}";
    };
    request.device_map = map("", "follow_base");
    engine::Engine moved;
    VERIFY_VALUE(moved.load(request, {}, {}));
    std::map<std::string, std::vector<float>> expected;
    std::map<std::string, std::vector<int32_t>> expected_tokens;
    const auto cases = support::goldenCases("e2b");
    for (const auto& c : cases) {
        expected[c.id] = support::engineLogits(moved, c, 4);
        expected_tokens[c.id] = support::engineGreedy(moved, c, 4);
    }
    const auto adapterBytes = [](const engine::Engine& engine, engine::DeviceId id) {
        for (const engine::DeviceMemory& device : engine.memory()) {
            if (device.id == id) {
                return device.measured[engine::MemoryPart::Adapter];
            }
        }
        return uint64_t{0};
    };
    const uint64_t all_there = adapterBytes(moved, engine::DeviceId::sim(0));
    const std::string layers = "\"model.language_model.layers";
    int num_maps = 0;
    for (const std::string& entries :
         {layers + R"(.[1-4]": {"store": "cpu", "compute": "sim:0"})",
          layers + R"(": {"store": "disk", "compute": "sim:0"})",
          layers + R"(": {"store": "cpu", "compute": "sim:0", "residency": "on_use"})",
          layers + R"(.2": "disk", "model.vision_tower": {"store": "cpu", "compute": "sim:0"},
               "model.audio_tower": "disk")",
          std::string(R"("model": {"store": "disk", "compute": "sim:0"})")}) {
        for (const char* place : {"follow_base", "follow_compute"}) {
            request.device_map = map(entries, place);
            engine::Engine loaded;
            VERIFY_VALUE(loaded.load(request, {}, {}));
            const auto outcome = moved.applyMap(request.device_map, {}, {});
            VERIFY_VALUE(outcome);
            for (engine::Engine* engine : {&loaded, &moved}) {
                QCOMPARE(support::memoryDifference(*engine), std::string());
                for (const auto& c : cases) {
                    const std::string where = entries + ", " + place + ", " + c.id;
                    QVERIFY2(support::engineLogits(*engine, c, 4) == expected[c.id], where.c_str());
                    QVERIFY2(support::engineGreedy(*engine, c, 4) == expected_tokens[c.id],
                             where.c_str());
                }
                QCOMPARE(support::memoryDifference(*engine), std::string());
            }
            const uint64_t there = adapterBytes(loaded, engine::DeviceId::sim(0));
            const bool follows = std::string(place) == "follow_base";
            // A visit of the whole language model is as large as what visits.
            const bool is_visit = entries.find("on_use") != std::string::npos;
            QVERIFY2(follows && !is_visit ? there < all_there : there <= all_there,
                     entries.c_str());
            ++num_maps;
        }
    }
    QCOMPARE(num_maps, 10);
}

TEST_CLASS(TestAdapters)
#include "tst_adapters.moc"
