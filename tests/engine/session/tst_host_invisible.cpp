// SPDX-License-Identifier: Apache-2.0
// The engine on devices whose memory the host cannot touch, as on a graphics card: a forgotten
// direct access ends the program here, on any machine. Golden parity of every family, placements
// over two such devices, CPU and disk, formats, adapters, moves, and the recorded decode step
// against the plain one.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <filesystem>
#include <map>
#include <memory>

namespace {

constexpr uint64_t kHostCapacity = uint64_t{512} << 20;

std::string errorOfHostInvisible(const engine::Result<void>& result) {
    return result.has_value() ? std::string() : result.error().message;
}

} // namespace

class TestHostInvisible : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void golden_data();
    void golden();
    void placements_data();
    void placements();
    void adapters_data();
    void adapters();
    void travellingTable_data();
    void travellingTable();
    void movesKeepTheChat();
    void recordedStep_data();
    void recordedStep();
    void tablesStayThere();
    void encodesBesideThePrompt_data();
    void encodesBesideThePrompt();
    void refusesHostPointers();
    void cleanup();

private:
    [[nodiscard]] engine::EngineOptions options() {
        engine::EngineOptions out;
        out.gpus = support::hiddenAccess(2, kHostCapacity, counts_);
        return out;
    }
    support::HiddenCounts counts_;
    std::map<std::string, std::unique_ptr<engine::Engine>> on_cpu_; ///< By --quant.
};

void TestHostInvisible::cleanup() {
    QCOMPARE(counts_.host_pointers, 0);
    QCOMPARE(counts_.open, 0);
    QCOMPARE(counts_.leaked, size_t{0});
}

void TestHostInvisible::golden_data() {
    QTest::addColumn<QString>("family");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b", "unified12b"}) {
        QTest::addRow("%s", family) << QString::fromUtf8(family);
    }
}

void TestHostInvisible::golden() {
    QFETCH(QString, family);
    const std::string name = family.toStdString();
    engine::Engine on_cpu;
    VERIFY_VALUE(on_cpu.load(support::goldenRequest(name), {}, {}));
    engine::Engine engine(options());
    engine::LoadRequest request = support::goldenRequest(name);
    request.device_map = "gpu";
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(counts_.open, 1); // only the device that the plan uses
    QCOMPARE(support::memoryDifference(engine), std::string());
    for (const auto& c : support::goldenCases(name)) {
        const double error = support::maxRelativeToLargest(support::engineLogits(engine, c, 4),
                                                           support::engineLogits(on_cpu, c, 4));
        QVERIFY2(error <= 1e-6, c.id.c_str());
        const auto tokens = support::engineGreedy(engine, c, static_cast<int>(c.greedy.size()));
        QCOMPARE(tokens, c.greedy);
    }
}

void TestHostInvisible::placements_data() {
    support::addColumns<QString, QString>("quant", "map");
    const std::string layer = "\"model.language_model.layers.";
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"towers on the CPU", "towers-cpu"},
        {"lean", "lean"},
        {"two cards", support::nativeMap("cuda:0", layer + "[4-9]\": \"cuda:1\"")},
        {"card, CPU, card", support::nativeMap("cuda:0", layer + "[2-4]\": \"cpu\", " + layer +
                                                             "[5-9]\": \"cuda:1\"")},
        {"KV owners here, readers there",
         support::nativeMap("cuda:1", layer + "[0-5]\": \"cuda:0\"")},
        {"streamed from the CPU",
         support::nativeMap("cuda:0", layer + R"([2-4]": {"store": "cpu", "compute": "cuda:0"})")},
        {"streamed from disk",
         support::nativeMap("cuda:0", layer + R"([5-6]": {"store": "disk", "compute": "cuda:1"})")},
        {"towers visit",
         support::nativeMap(
             "cuda:0",
             R"("model.vision_tower": {"store": "cpu", "compute": "cuda:0", "residency": "on_use"},
                   "model.audio_tower": {"store": "disk", "compute": "cuda:1", "residency": "on_use"})")},
        {"single projections elsewhere",
         support::nativeMap("cuda:0", layer + R"(2.self_attn.k_proj": "cpu", )" + layer +
                                          R"(3.mlp.down_proj": "cuda:1", )" + layer +
                                          R"(4.input_layernorm": "cpu")")},
        {"head apart on the second card",
         support::nativeMap("cuda:0",
                            R"("model.language_model.embed_tokens": "cpu",
                   "lm_head": {"store": "cuda:1", "compute": "cuda:1", "duplicate_tied": true})")},
        {"half a tower elsewhere",
         support::nativeMap("cuda:0", R"("model.vision_tower.encoder.layers.1": "cpu",
                             "model.audio_tower.layers.0.feed_forward1": "cuda:1")")},
        {"KV cache on the CPU",
         R"({"version": 1, "default": "cuda:0", "map": {}, "kv": {"place": "cpu"}})"},
        {"KV cache on the second card",
         R"({"version": 1, "default": "cuda:0", "map": {}, "kv": {"place": "cuda:1"}})"},
        {"everything on disk", support::nativeMap("cuda:0", R"("model": "disk")")},
    };
    for (const char* quant : {"none", "nf4-dq"}) {
        for (const auto& [name, map] : rows) {
            QTest::addRow("%s: %s", quant, name.c_str())
                << QString::fromUtf8(quant) << QString::fromStdString(map);
        }
    }
}

void TestHostInvisible::placements() {
    QFETCH(QString, quant);
    QFETCH(QString, map);
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.quant = quant.toStdString();
    if (!on_cpu_.contains(request.quant)) {
        on_cpu_[request.quant] = std::make_unique<engine::Engine>();
        VERIFY_VALUE(on_cpu_[request.quant]->load(request, {}, {}));
    }
    engine::Engine& on_cpu = *on_cpu_[request.quant];
    engine::Engine engine(options());
    request.device_map = map.toStdString();
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    for (const auto& c : support::goldenCases("e2b")) {
        if (c.id != "image_audio") {
            continue;
        }
        QCOMPARE_LE(support::maxRelativeToLargest(support::engineLogits(engine, c, 4),
                                                  support::engineLogits(on_cpu, c, 4)),
                    1e-6);
        QCOMPARE(support::engineGreedy(engine, c, 4), support::engineGreedy(on_cpu, c, 4));
    }
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestHostInvisible::adapters_data() {
    support::addColumns<QString, QString, bool>("family", "name", "is_split");
    for (const bool is_split : {false, true}) {
        for (const auto& entry :
             std::filesystem::directory_iterator(support::goldenDir() / "e2b" / "adapters")) {
            const bool is_variant =
                entry.path().filename() != "multimodal" && entry.path().filename() != "dora";
            if (is_split && is_variant) {
                continue; // the same sites, already seen unsplit
            }
            QTest::addRow("e2b %s%s", entry.path().filename().string().c_str(),
                          is_split ? " split" : "")
                << QStringLiteral("e2b") << QString::fromStdString(entry.path().filename().string())
                << is_split;
        }
    }
}

void TestHostInvisible::adapters() {
    QFETCH(QString, family);
    QFETCH(QString, name);
    QFETCH(bool, is_split);
    engine::LoadRequest request = support::goldenRequest(family.toStdString());
    request.device_map =
        is_split ? support::nativeMap("cuda:0", R"("model.language_model.layers.[3-9]": "cuda:1",
                                       "model.vision_tower": "cpu")")
                 : "gpu";
    request.adapters.push_back(
        {support::goldenAdapter(family.toStdString(), name.toStdString()), 1.0, true});
    engine::Engine engine(options());
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto folder =
        support::goldenDir() / family.toStdString() / "adapters" /
        (name == QStringLiteral("multimodal_old_keys") ? "multimodal" : name.toStdString());
    const auto golden = support::readSafetensors(folder / "expected_logits.safetensors");
    int compared = 0;
    for (const auto& c : support::goldenCases(family.toStdString())) {
        if (golden.contains(c.id)) {
            QCOMPARE_LE(support::maxRelativeToLargest(support::engineLogits(engine, c, 8),
                                                      golden.at(c.id).floats()),
                        1e-4);
            ++compared;
        }
    }
    QVERIFY(compared > 0);
}

void TestHostInvisible::travellingTable_data() {
    support::addColumns<QString, QString>("family", "store");
    for (const char* family : {"e2b", "dense31b"}) {
        for (const char* store : {"cpu", "disk"}) {
            QTest::addRow("%s, on %s", family, store) << family << store;
        }
    }
}

/// The table that the head shares comes for every token: its steps are not recorded with what has
/// come once. In 16 bits, alone and with an adapter on the head that travels with it.
void TestHostInvisible::travellingTable() {
    QFETCH(QString, family);
    QFETCH(QString, store);
    const std::string name = family.toStdString();
    const std::string table = R"("model.language_model.embed_tokens": {"store": ")" +
                              store.toStdString() + R"(", "compute": "cuda:0"})";
    const auto answers = [&](const std::string& map, const std::string& adapter) {
        engine::LoadRequest request = support::goldenRequest(name);
        request.is_reference_precision = false;
        request.device_map = map;
        if (!adapter.empty()) {
            request.adapters.push_back(
                {(support::testDataDir() / "adapters" / adapter).string(), 1.0, true});
            request.adapters.push_back({support::goldenAdapter(name, "multimodal"), 1.0, true});
        }
        engine::Engine engine(options());
        const std::string error = errorOfHostInvisible(engine.load(request, {}, {}));
        if (!error.empty()) {
            qFatal("%s", error.c_str());
        }
        std::vector<float> logits;
        std::vector<int32_t> tokens;
        for (int turn = 0; turn < 2; ++turn) {
            for (const auto& c : support::goldenCases(name)) {
                const auto some = support::engineLogits(engine, c, 2);
                logits.insert(logits.end(), some.begin(), some.end());
                const auto text = support::engineGreedy(engine, c, 6);
                tokens.insert(tokens.end(), text.begin(), text.end());
            }
        }
        return std::make_pair(logits, tokens);
    };
    const auto there = answers("gpu", "");
    const auto comes = answers(support::nativeMap("cuda:0", table), "");
    // Steps of a token on one device round otherwise than single functions.
    QCOMPARE_LE(support::maxRelativeToLargest(comes.first, there.first), 4e-2);
    QCOMPARE(comes.second.size(), there.second.size());
    if (name != "e2b") {
        return; // the head's adapter is of that model
    }
    // Two more sites that travel, so that places are taken in turn.
    const std::string sites = table + R"(, "model.vision_tower.encoder.layers.0.self_attn.q_proj":
            {"store": "cpu", "compute": "cuda:0", "residency": "stream"},
            "model.vision_tower.encoder.layers.0.self_attn.k_proj":
            {"store": "cpu", "compute": "cuda:0", "residency": "stream"})";
    const auto placed = [&](const char* place) {
        return R"({"version": 1, "default": "cuda:0", "map": {)" + sites +
               R"(}, "adapter": {"place": ")" + place + "\"}}";
    };
    const auto follows = answers(placed("follow_base"), "head");
    const auto stays = answers(placed("follow_compute"), "head");
    QVERIFY(follows.first == stays.first);
    QCOMPARE(follows.second, stays.second);
    QVERIFY(follows.first != comes.first);
}

void TestHostInvisible::movesKeepTheChat() {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.device_map = "cpu";
    engine::Engine engine(options());
    VERIFY_VALUE(engine.load(request, {}, {}));
    const auto c = support::goldenCases("e2b").front();
    const auto expected = support::engineGreedy(engine, c, 12);
    const int64_t held = engine.contextUse().first;
    QVERIFY(held > 0);
    for (const std::string& map :
         {std::string("gpu"),
          support::nativeMap("cuda:0", R"("model.language_model.layers.[3-9]": "cuda:1")"),
          support::nativeMap("cuda:1", R"("model.vision_tower": "cpu")"), std::string("lean"),
          std::string("cpu")}) {
        VERIFY_VALUE(engine.applyMap(map, {}, {}));
        QCOMPARE(engine.contextUse().first, held); // the chat's cache moved along
        QCOMPARE(support::memoryDifference(engine), std::string());
        QCOMPARE(support::engineGreedy(engine, c, 12), expected);
    }
}

void TestHostInvisible::recordedStep_data() {
    support::addColumns<QString, QString, QString, QString>("family", "quant", "head", "adapter");
    QTest::addRow("e2b") << "e2b"
                         << "none"
                         << "bf16"
                         << "";
    QTest::addRow("e4b nf4") << "e4b"
                             << "nf4"
                             << "int8"
                             << "";
    QTest::addRow("dense31b nested") << "dense31b"
                                     << "nf4-dq"
                                     << "nf4"
                                     << "";
    QTest::addRow("e2b with adapter") << "e2b"
                                      << "none"
                                      << "bf16"
                                      << "text";
    // Composed of single functions where the adapter is more than a low-rank update.
    QTest::addRow("e2b with DoRA") << "e2b"
                                   << "none"
                                   << "bf16"
                                   << "dora";
    QTest::addRow("e2b, ranks by pattern") << "e2b"
                                           << "none"
                                           << "bf16"
                                           << "pattern";
}

void TestHostInvisible::recordedStep() {
    QFETCH(QString, family);
    QFETCH(QString, quant);
    QFETCH(QString, head);
    QFETCH(QString, adapter);
    const std::string name = family.toStdString();
    engine::LoadRequest request = support::goldenRequest(name);
    request.is_reference_precision = false; // the step needs the 16-bit cache
    request.quant = quant.toStdString();
    request.head = head.toStdString();
    if (!adapter.isEmpty()) {
        request.adapters.push_back(
            {support::goldenAdapter(name, adapter.toStdString()), 1.0, true});
    }
    engine::Engine on_cpu;
    VERIFY_VALUE(on_cpu.load(request, {}, {}));
    request.device_map = "gpu";
    engine::Engine engine(options());
    VERIFY_VALUE(engine.load(request, {}, {}));
    const int before = counts_.replays;
    const auto c = support::goldenCases(name).front();
    // 40 tokens: past the sliding window, so that the ring wraps within the recording.
    QCOMPARE(support::engineGreedy(engine, c, 40), support::engineGreedy(on_cpu, c, 40));
    QVERIFY2(counts_.replays - before >= 39, "decode did not use the recorded step");
    QCOMPARE(support::memoryDifference(engine), std::string());
}

// Rows of the embedding and per-layer tables in a device's memory are taken there by its kernels:
// how often the host reads from the device does not grow with the prompt.
void TestHostInvisible::tablesStayThere() {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.is_reference_precision = false;
    request.device_map = "gpu";
    request.prefill_chunk = 64;
    engine::Engine engine(options());
    VERIFY_VALUE(engine.load(request, {}, {}));
    const auto readsOf = [&](int32_t first, int32_t tokens) {
        engine::GenerateRequest prompt = support::greedyRequest({}, 1);
        for (int32_t i = 0; i < tokens; ++i) {
            prompt.raw_ids.push_back(first + i);
        }
        const int before = counts_.reads;
        const auto reply = engine.generate(prompt, {}, {});
        return reply.has_value() ? counts_.reads - before : -1;
    };
    const int of_few = readsOf(10, 4);
    QVERIFY(of_few > 0);
    QCOMPARE(readsOf(30, 24), of_few);
}

void TestHostInvisible::encodesBesideThePrompt_data() {
    support::addColumns<QString, bool>("map", "is_beside");
    const auto row = [](const char* name, const std::string& map, bool is_beside) {
        QTest::newRow(name) << QString::fromStdString(map) << is_beside;
    };
    row("towers on the CPU", "towers-cpu", true);
    row("tables there as well",
        support::nativeMap("cuda:0", R"("model.vision_tower": "cpu", "model.audio_tower": "cpu",
            "model.embed_vision": "cpu", "model.embed_audio": "cpu",
            "model.language_model.embed_tokens_per_layer": "cpu")"),
        true);
    row("all on the card", "gpu", false);
    row("projector on the card",
        support::nativeMap("cuda:0", R"("model.vision_tower": "cpu", "model.audio_tower": "cpu")"),
        true);
    row("a layer on the CPU",
        support::nativeMap("cuda:0", R"("model.vision_tower": "cpu", "model.audio_tower": "cpu",
            "model.embed_vision": "cpu", "model.embed_audio": "cpu",
            "model.language_model.layers.3": "cpu")"),
        false);
}

// Text in front of an attachment gets its rows while a tower on the CPU is at work, where both
// share nothing: the same tokens, and every row is counted once.
void TestHostInvisible::encodesBesideThePrompt() {
    QFETCH(QString, map);
    QFETCH(bool, is_beside);
    constexpr int64_t kText = 40;
    int media = 0;
    for (const auto& c : support::goldenCases("e2b")) {
        if (c.image.empty() && c.audio.empty()) {
            continue;
        }
        ++media;
        engine::GenerateRequest prompt = support::goldenCaseRequest(c);
        for (int32_t i = 0; i < kText; ++i) {
            prompt.raw_ids.insert(prompt.raw_ids.begin() + 1 + i, 100 + i);
        }
        prompt.sampling.max_tokens = 3;
        engine::LoadRequest request = support::goldenRequest("e2b");
        request.context = 512;
        engine::Engine plain;
        VERIFY_VALUE(plain.load(request, {}, {}));
        const auto expected = plain.generate(prompt, {}, {});
        VERIFY_VALUE(expected);
        request.device_map = map.toStdString();
        engine::Engine engine(options());
        VERIFY_VALUE(engine.load(request, {}, {}));
        const auto total = static_cast<int64_t>(prompt.raw_ids.size());
        for (const bool is_again : {false, true}) {
            const auto reply = engine.generate(prompt, {}, {});
            VERIFY_VALUE(reply);
            QCOMPARE(reply->token_ids, expected->token_ids);
            const engine::GenerateTiming& timing = reply->timing;
            QCOMPARE(timing.reused_tokens, is_again ? total - 1 : 0);
            QCOMPARE(timing.prefill_tokens, is_again ? 1 : total);
            QCOMPARE(timing.ahead_tokens > 0, is_beside && !is_again);
            QVERIFY(timing.ahead_tokens == 0 || timing.ahead_tokens > kText);
        }
    }
    QVERIFY(media >= 2);
}

void TestHostInvisible::refusesHostPointers() {
    // The net itself: it must catch what it is there for.
    support::HiddenCounts counts;
    {
        support::HiddenDevice device(kHostCapacity, true, counts);
        std::vector<float> host(4, 1.0F);
        QCOMPARE(device.ops().scale(device.queue(), {host.data(), 1, 4, 4}, 2.0F),
                 kernels::Status::BadShape);
        QCOMPARE(host[0], 1.0F);
        void* memory = device.allocate(16, 1);
        QCOMPARE(device.copyIn(host.data(), host.data(), 16), kernels::Status::BadShape);
        QCOMPARE(device.copyOut(memory, memory, 16), kernels::Status::BadShape);
        QCOMPARE(device.copyIn(memory, host.data(), 16), kernels::Status::Ok);
        QCOMPARE(device.ops().scale(device.queue(), {static_cast<float*>(memory), 1, 4, 4}, 2.0F),
                 kernels::Status::Ok);
        QCOMPARE(device.copyOut(host.data(), memory, 16), kernels::Status::Ok);
        QCOMPARE(host[3], 2.0F);
    }
    QCOMPARE(counts.host_pointers, 2);
    QCOMPARE(counts.leaked, size_t{1});
}

TEST_CLASS(TestHostInvisible)
#include "tst_host_invisible.moc"
