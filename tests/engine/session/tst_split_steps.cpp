// SPDX-License-Identifier: Apache-2.0
// Tokens of a decoder that several devices share (engine/forward/token/split_steps.h): every run of
// layers on one device is one recording, whatever lies between them, and the answer is to the bit
// that of one device and that of single functions. On devices whose memory the host cannot touch,
// whose replays run at once or as late as a card may.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>

namespace {

constexpr uint64_t kSplitCapacity = uint64_t{512} << 20;
constexpr int kTokens = 40; ///< Past the sliding window: rings wrap within the recordings.

std::string layers(const std::string& range, const std::string& device) {
    return "\"model.language_model.layers." + range + "\": \"" + device + "\"";
}

engine::LoadRequest requestOf(const std::string& family, const std::string& map) {
    engine::LoadRequest request = support::goldenRequest(family);
    request.is_reference_precision = false; // fused steps need the 16-bit cache
    request.device_map = map;
    return request;
}

} // namespace

class TestSplitSteps : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { counts_ = {}; }
    void sameAnswers_data();
    void sameAnswers();
    void withAdapters_data();
    void withAdapters();
    void strengthsAreFollowed();
    void movesAndTwoChats();
    void givenUpAnywhere();
    void cleanup();

private:
    [[nodiscard]] std::unique_ptr<engine::Engine> makeEngine(bool is_split = true) {
        engine::EngineOptions options;
        options.decode.has_split_steps = is_split;
        options.gpus = support::hiddenAccess(2, kSplitCapacity, counts_);
        return std::make_unique<engine::Engine>(options);
    }
    support::HiddenCounts counts_;
};

void TestSplitSteps::cleanup() {
    QCOMPARE(counts_.host_pointers, 0);
    QCOMPARE(counts_.open, 0);
    QCOMPARE(counts_.leaked, size_t{0});
    QCOMPARE(counts_.too_early, 0);
}

void TestSplitSteps::sameAnswers_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("quant");
    QTest::addColumn<QString>("map");
    QTest::addColumn<int>("parts"); ///< Recordings that a token replays; the head may be one.
    QTest::addColumn<int>("chunk");
    QTest::addColumn<bool>("is_late");
    struct Row {
        const char* name;
        const char* family;
        std::string map;
        int parts;
        int chunk = 64;
    };
    std::string alternating;
    for (int i = 1; i < 10; i += 2) {
        alternating += (i > 1 ? ", " : "") + layers(std::to_string(i), "cuda:1");
    }
    const std::string stored = R"({"store": "cpu", "compute": "cuda:0"})";
    const std::vector<Row> rows = {
        {"two cards", "e2b", support::nativeMap("cuda:0", layers("[4-9]", "cuda:1")), 3},
        {"CPU in the middle, one card twice", "e2b",
         support::nativeMap("cuda:0", layers("[2-4]", "cpu")), 2},
        {"first layers on the CPU", "e2b", support::nativeMap("cuda:0", layers("[0-2]", "cpu")), 1},
        {"card, CPU, card", "e2b",
         support::nativeMap("cuda:0", layers("[2-4]", "cpu") + ", " + layers("[5-9]", "cuda:1")),
         3},
        {"KV owners here, readers there", "e2b",
         support::nativeMap("cuda:1", layers("[0-5]", "cuda:0")), 2},
        {"alternating", "e2b", support::nativeMap("cuda:0", alternating), 11},
        {"slices in calls of three rows", "e2b",
         support::nativeMap("cuda:0", layers("[3-9]", "cuda:1")), 5, 3},
        {"keys of one layer elsewhere", "e2b",
         support::nativeMap("cuda:0", R"("model.language_model.layers.2.self_attn.k_proj": "cpu")"),
         2},
        {"two layers streamed", "e2b",
         support::nativeMap("cuda:0", R"("model.language_model.layers.[4-5]": )" + stored), 2},
        {"per-layer projection elsewhere", "e2b",
         support::nativeMap("cuda:0",
                            R"("model.language_model.per_layer_model_projection": "cuda:1")"),
         1},
        {"head elsewhere", "e2b",
         support::nativeMap("cuda:0", R"("model.language_model.embed_tokens": "cpu",
            "lm_head": {"store": "cuda:1", "compute": "cuda:1", "duplicate_tied": true})"),
         1},
        {"cache on the CPU", "e2b",
         R"({"version": 1, "default": "cuda:0", "map": {}, "kv": {"place": "cpu"}})", 0},
        {"two cards", "e4b", support::nativeMap("cuda:0", layers("[5-9]", "cuda:1")), 3},
        {"two cards", "dense31b", support::nativeMap("cuda:0", layers("[2-5]", "cuda:1")), 3},
        {"experts", "moe26b", support::nativeMap("cuda:0", layers("[2-5]", "cuda:1")), 0},
    };
    for (const bool is_late : {false, true}) {
        for (const Row& row : rows) {
            for (const char* quant : {"none", "nf4-dq"}) {
                if (is_late && std::string(quant) == "none") {
                    continue;
                }
                QTest::addRow("%s %s: %s%s", row.family, quant, row.name, is_late ? ", late" : "")
                    << QString::fromUtf8(row.family) << QString::fromUtf8(quant)
                    << QString::fromStdString(row.map) << row.parts << row.chunk << is_late;
            }
        }
    }
}

void TestSplitSteps::sameAnswers() {
    QFETCH(QString, family);
    QFETCH(QString, quant);
    QFETCH(QString, map);
    QFETCH(int, parts);
    QFETCH(int, chunk);
    QFETCH(bool, is_late);
    const std::string name = family.toStdString();
    engine::LoadRequest request = requestOf(name, "cpu");
    request.quant = quant.toStdString();
    request.prefill_chunk = chunk;
    engine::Engine on_cpu;
    VERIFY_VALUE(on_cpu.load(request, {}, {}));
    const auto c = support::goldenCases(name).front();
    const auto tokens = support::engineGreedy(on_cpu, c, kTokens);
    const auto logits = support::engineLogits(on_cpu, c, 1);

    request.device_map = map.toStdString();
    for (const bool is_split : {true, false}) {
        counts_.is_late = is_late;
        const auto engine = makeEngine(is_split);
        VERIFY_VALUE(engine->load(request, {}, {}));
        const int before = counts_.replays;
        QCOMPARE(support::engineGreedy(*engine, c, kTokens), tokens);
        const int replays = counts_.replays - before;
        // The first of the tokens is the prompt's.
        QCOMPARE(replays, is_split ? parts * (kTokens - 1) : 0);
        QVERIFY(support::engineLogits(*engine, c, 1) == logits);
        QCOMPARE(support::memoryDifference(*engine), std::string());
    }
}

void TestSplitSteps::withAdapters_data() {
    QTest::addColumn<QString>("adapter");
    for (const char* name : {"text", "dora", "pattern"}) {
        QTest::newRow(name) << QString::fromUtf8(name);
    }
}

void TestSplitSteps::withAdapters() {
    QFETCH(QString, adapter);
    engine::LoadRequest request = requestOf("e2b", "cpu");
    request.quant = "nf4";
    request.adapters.push_back({support::goldenAdapter("e2b", adapter.toStdString()), 1.0, true});
    engine::Engine on_cpu;
    VERIFY_VALUE(on_cpu.load(request, {}, {}));
    const auto c = support::goldenCases("e2b").front();
    request.device_map =
        support::nativeMap("cuda:0", layers("[3-4]", "cpu") + ", " + layers("[6-9]", "cuda:1"));
    const auto engine = makeEngine();
    VERIFY_VALUE(engine->load(request, {}, {}));
    const int before = counts_.replays;
    QCOMPARE(support::engineGreedy(*engine, c, kTokens), support::engineGreedy(on_cpu, c, kTokens));
    QCOMPARE(counts_.replays - before, 4 * (kTokens - 1));
}

// Strengths that are arguments of a recording (DoRA is composed of single functions) and such that
// it reads: after a change, the answer is that of the new one.
void TestSplitSteps::strengthsAreFollowed() {
    for (const char* adapter : {"text", "dora"}) {
        engine::LoadRequest request = requestOf("e2b", "cpu");
        request.adapters.push_back({support::goldenAdapter("e2b", adapter), 1.0, true});
        engine::Engine on_cpu;
        VERIFY_VALUE(on_cpu.load(request, {}, {}));
        request.device_map = support::nativeMap("cuda:0", layers("[3-9]", "cuda:1"));
        const auto engine = makeEngine();
        VERIFY_VALUE(engine->load(request, {}, {}));
        const auto c = support::goldenCases("e2b").front();
        std::vector<std::vector<int32_t>> texts;
        for (const double strength : {1.0, 2.0, 0.0, 0.5}) {
            const auto path = support::goldenAdapter("e2b", adapter);
            for (engine::Engine* each : {&on_cpu, engine.get()}) {
                VERIFY_VALUE(each->setAdapters({{path, strength, true}}, {}));
            }
            texts.push_back(support::engineGreedy(on_cpu, c, kTokens));
            QCOMPARE(support::engineGreedy(*engine, c, kTokens), texts.back());
        }
        QVERIFY(texts[0] != texts[1] || texts[1] != texts[2]);
    }
}

// Another map in the middle of a chat, and back: recordings are made anew, the cache goes along.
void TestSplitSteps::movesAndTwoChats() {
    engine::LoadRequest request = requestOf("e2b", "cpu");
    engine::Engine on_cpu;
    VERIFY_VALUE(on_cpu.load(request, {}, {}));
    const auto c = support::goldenCases("e2b").front();
    const auto expected = support::engineGreedy(on_cpu, c, kTokens);
    const std::string two = support::nativeMap("cuda:0", layers("[3-9]", "cuda:1"));
    request.device_map = two;
    const auto engine = makeEngine();
    VERIFY_VALUE(engine->load(request, {}, {}));
    for (const std::string& map :
         {support::nativeMap("cuda:0", layers("[2-6]", "cuda:1")), std::string("gpu"),
          support::nativeMap("cpu", layers("[2-6]", "cuda:1")), two}) {
        QCOMPARE(support::engineGreedy(*engine, c, kTokens), expected);
        VERIFY_VALUE(engine->applyMap(map, {}, {}));
        QCOMPARE(support::memoryDifference(*engine), std::string());
    }
    const int before = counts_.replays;
    QCOMPARE(support::engineGreedy(*engine, c, kTokens), expected);
    QVERIFY(counts_.replays - before >= 2 * (kTokens - 2));
}

// A token that is given up between two of its parts: nothing of it is freed or written over before
// it has run, and the next text is whole.
void TestSplitSteps::givenUpAnywhere() {
    counts_.is_late = true;
    engine::LoadRequest request = requestOf("e2b", "cpu");
    engine::Engine on_cpu;
    VERIFY_VALUE(on_cpu.load(request, {}, {}));
    const auto c = support::goldenCases("e2b").front();
    const auto expected = support::engineGreedy(on_cpu, c, 8);
    request.device_map = support::nativeMap("cuda:0", layers("[3-9]", "cuda:1"));
    const auto engine = makeEngine();
    VERIFY_VALUE(engine->load(request, {}, {}));
    engine::GenerateRequest text = support::goldenCaseRequest(c);
    text.sampling.max_tokens = 150;
    int cancelled = 0;
    for (int i = 0; i < 80; ++i) {
        std::stop_source stop;
        std::jthread other([&stop, i] {
            std::this_thread::sleep_for(std::chrono::microseconds(200 + 397 * i % 9000));
            stop.request_stop();
        });
        const auto reply = engine->generate(text, {}, stop.get_token());
        other.join();
        cancelled += !reply.has_value() || reply->finish_reason == "cancelled" ? 1 : 0;
        if (i % 2 == 0) {
            VERIFY_VALUE(engine->setAdapters({}, {})); // recordings are dropped
        }
        if (i % 8 == 7) {
            QCOMPARE(support::engineGreedy(*engine, c, 8), expected);
        }
        QCOMPARE(counts_.too_early, 0);
    }
    QVERIFY(cancelled > 10);
}

TEST_CLASS(TestSplitSteps)
#include "tst_split_steps.moc"
