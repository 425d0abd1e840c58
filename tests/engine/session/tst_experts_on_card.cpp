// SPDX-License-Identifier: Apache-2.0
// The golden model with experts on a card whose kernels run on the CPU: its decoded tokens take
// their experts without a word to the host, in 16 and in 4 bits, with the answers of the CPU's
// float32 path within what bf16 costs. So do tokens whose experts the host computes.
#include "engine/devices/gpu_access.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <string_view>

namespace {

/// `where` with the experts of all layers in `format`; empty: as stored.
std::string mapOf(const std::string& where, const std::string& format) {
    std::string keys;
    for (const char* name : {"gate_up_proj", "down_proj"}) {
        keys += std::string(keys.empty() ? "" : ", ") +
                R"("model.language_model.layers.[0-5].experts.)" + name + R"(": {"format": ")" +
                format + "\"}";
    }
    return R"({"version": 1, "default": ")" + where + R"(", "map": {)" +
           (format.empty() ? "" : keys) + "}}";
}

engine::LoadRequest
requestOf(const std::string& where, const QString& quant, const QString& experts) {
    engine::LoadRequest request = support::goldenRequest("moe26b");
    request.quant = quant.toStdString();
    request.device_map = mapOf(where, experts.toStdString());
    request.is_reference_precision = where == "cpu";
    request.context = 128;
    return request;
}

engine::GenerateRequest promptOf(const support::GoldenCase& c, size_t count) {
    engine::GenerateRequest prompt;
    prompt.raw_ids = c.input_ids;
    prompt.raw_ids.resize(count);
    return prompt;
}

} // namespace

class TestExpertsOnCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void decoded_data();
    void decoded();
    void ofTheHost_data();
    void ofTheHost();
    void copies_data();
    void copies();
    void blocksAcrossExperts();
};

void TestExpertsOnCard::decoded_data() {
    support::addColumns<QString, QString>("quant", "experts");
    QTest::newRow("16 bits") << "none"
                             << "";
    QTest::newRow("dense parts in 4 bits") << "nf4-dq"
                                           << "";
    QTest::newRow("all in 4 bits") << "nf4+experts"
                                   << "";
    QTest::newRow("fp4") << "none"
                         << "fp4";
}

void TestExpertsOnCard::decoded() {
    QFETCH(QString, quant);
    QFETCH(QString, experts);
    const auto cases = support::goldenCases("moe26b");
    const auto found = std::find_if(cases.begin(), cases.end(), [](const support::GoldenCase& one) {
        return one.image.empty() && one.audio.empty() && one.input_ids.size() > 6;
    });
    QVERIFY(found != cases.end());
    const support::GoldenCase& c = *found;
    const size_t count = std::min<size_t>(12, c.input_ids.size());
    const double allowed =
        support::readJson(support::goldenDir() /
                          "about.json")["noise_against_float64"]["moe26b/" + c.id]["bf16_nmse"]
            .get<double>();

    engine::Engine on_cpu;
    const auto ready = on_cpu.load(requestOf("cpu", quant, experts), {}, {});
    VERIFY_VALUE(ready);
    support::EmulatedCard card(support::smallCard());
    engine::Engine engine(support::optionsOn(card));
    const auto loaded = engine.load(requestOf("cuda:0", quant, experts), {}, {});
    VERIFY_VALUE(loaded);
    QCOMPARE(support::memoryDifference(engine), std::string());

    QVERIFY(engine.logits(promptOf(c, count - 3), 1, {}).has_value());
    const auto runs = [&card](const char* name) {
        return std::count(card.ran().begin(), card.ran().end(), std::string("belfry_") + name);
    };
    const bool is_four_bit = !experts.isEmpty() || quant.endsWith("experts");
    const char* const kernel = is_four_bit ? "experts_four_bit" : "experts_bf16";
    const auto layers = static_cast<std::ptrdiff_t>(engine.currentPlan()->kv_device.size());
    for (size_t end = count - 2; end <= count; ++end) {
        const auto before = runs(kernel);
        const auto got = engine.logits(promptOf(c, end), 1, {});
        VERIFY_VALUE(got);
        QCOMPARE(card.finish(), std::string());
        QCOMPARE(runs(kernel) - before, layers);
        const auto want = on_cpu.logits(promptOf(c, end), 1, {});
        QVERIFY(want.has_value());
        const double nmse = support::nmse(got->logits, want->logits);
        QVERIFY2(nmse <= allowed, qPrintable(QString("%1, allowed %2").arg(nmse).arg(allowed)));
    }
    QCOMPARE(support::memoryDifference(engine), std::string());
    QVERIFY(card.fake().violations().empty());
}

void TestExpertsOnCard::ofTheHost_data() {
    support::addColumns<QString, QString, int>("quant", "layers", "count");
    QTest::newRow("all layers, 16 bits") << "none"
                                         << "[0-5]" << 6;
    QTest::newRow("all layers, 4 bits") << "nf4+experts"
                                        << "[0-5]" << 6;
    QTest::newRow("some layers") << "nf4+experts"
                                 << "[1-3]" << 3;
    QTest::newRow("the last layer") << "none"
                                    << "5" << 1;
}

/// Fused steps stand around experts that the host computes, and what they answer is what all on the
/// CPU does within what bf16 costs.
void TestExpertsOnCard::ofTheHost() {
    QFETCH(QString, quant);
    QFETCH(QString, layers);
    QFETCH(int, count);
    const support::GoldenCase c = support::goldenCases("moe26b").front();
    const double allowed =
        support::readJson(support::goldenDir() /
                          "about.json")["noise_against_float64"]["moe26b/" + c.id]["bf16_nmse"]
            .get<double>();
    engine::Engine on_cpu;
    VERIFY_VALUE(on_cpu.load(requestOf("cpu", quant, ""), {}, {}));
    support::EmulatedCard card(support::smallCard());
    engine::EngineOptions options = support::optionsOn(card);
    options.decode.most_lent_experts = 3;
    engine::Engine engine(options);
    engine::LoadRequest request = requestOf("cuda:0", quant, "");
    request.device_map = R"({"version": 1, "default": "cuda:0", "map": {
        "model.language_model.layers.)" +
                         layers.toStdString() +
                         R"(.experts": {"store": "cpu", "compute": "cpu"}}})";
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto runs = [&card](const char* name) {
        return std::count(card.ran().begin(), card.ran().end(), std::string("belfry_") + name);
    };
    constexpr size_t kCount = 8;
    QVERIFY(engine.logits(promptOf(c, kCount - 3), 1, {}).has_value());
    for (size_t end = kCount - 2; end <= kCount; ++end) {
        const auto before = runs("route_experts");
        const auto got = engine.logits(promptOf(c, end), 1, {});
        VERIFY_VALUE(got);
        QCOMPARE(card.finish(), std::string());
        QCOMPARE(runs("route_experts") - before, static_cast<std::ptrdiff_t>(count));
        const auto want = on_cpu.logits(promptOf(c, end), 1, {});
        VERIFY_VALUE(want);
        const double nmse = support::nmse(got->logits, want->logits);
        QVERIFY2(nmse <= allowed, qPrintable(QString("%1, allowed %2").arg(nmse).arg(allowed)));
    }
    QVERIFY(runs("merge_experts") == runs("route_experts"));
    // A prompt of many rows is multiplied on the card, with weights that come there for it.
    engine::GenerateRequest prompt;
    for (int32_t i = 0; i < 60; ++i) {
        prompt.raw_ids.push_back(i == 0 ? 2 : 20 + 3 * i);
    }
    const auto before = runs("product_experts_blocks");
    const auto got = engine.logits(prompt, 1, {});
    VERIFY_VALUE(got);
    QCOMPARE(card.finish(), std::string());
    if (quant == "none") { // the model's columns are too few for products of codes
        QVERIFY(runs("product_experts_blocks") - before > 4 * count);
    }
    const auto want = on_cpu.logits(prompt, 1, {});
    VERIFY_VALUE(want);
    const double nmse = support::nmse(got->logits, want->logits);
    QVERIFY2(nmse <= allowed, qPrintable(QString("%1, allowed %2").arg(nmse).arg(allowed)));
    QVERIFY(card.fake().violations().empty());
}

void TestExpertsOnCard::copies_data() {
    support::addColumns<QString, QString, qint64>("quant", "room", "places");
    QTest::newRow("16 bits, some") << "none"
                                   << "256KiB" << qint64{0};
    QTest::newRow("4 bits, some") << "nf4+experts"
                                  << "64KiB" << qint64{0};
    QTest::newRow("16 bits, all") << "none"
                                  << "1GiB" << qint64{48};
}

/// Copies of experts on the card change no answer, take the room that was planned, follow what is
/// asked for, and are remembered for the next load.
void TestExpertsOnCard::copies() {
    QFETCH(QString, quant);
    QFETCH(QString, room);
    QFETCH(qint64, places);
    const QTemporaryDir folder;
    const support::GoldenCase c = support::goldenCases("moe26b").front();
    const std::vector<int32_t> ids(c.input_ids.begin(), c.input_ids.begin() + 4);
    const engine::GenerateRequest prompt = support::greedyRequest(ids, 5);
    engine::LoadRequest request = requestOf("cuda:0", quant, "");
    request.device_map = R"({"version": 1, "default": "cuda:0", "map": {
        "model.language_model.layers.[0-5].experts": "cpu"}})";
    std::vector<int32_t> want;
    for (const char* cache : {"off", "copies", "copies"}) {
        support::EmulatedCard card(support::smallCard());
        engine::EngineOptions options = support::optionsOn(card);
        options.rates_file = folder.filePath("rates").toStdString();
        engine::Engine engine(options);
        const bool has_copies = std::string_view(cache) != "off";
        request.expert_cache = has_copies ? room.toStdString() : cache;
        VERIFY_VALUE(engine.load(request, {}, {}));
        QCOMPARE(support::memoryDifference(engine), std::string());
        const auto stateOf = [&engine] {
            for (const engine::DeviceMemory& memory : engine.memory()) {
                if (memory.id == engine::DeviceId::cuda(0)) {
                    return memory.experts;
                }
            }
            return engine::ExpertCacheState();
        };
        const auto reply = engine.generate(prompt, {}, {});
        VERIFY_VALUE(reply);
        QCOMPARE(card.finish(), std::string());
        const bool ran = std::count(card.ran().begin(), card.ran().end(),
                                    quant == "none" ? "belfry_placed_experts_bf16"
                                                    : "belfry_placed_experts_four_bit") > 0;
        QCOMPARE(ran, has_copies);
        const engine::ExpertCacheState state = stateOf();
        QCOMPARE(state.places > 0, has_copies);
        if (!has_copies) {
            want = reply->token_ids;
            continue;
        }
        QCOMPARE(reply->token_ids, want);
        QCOMPARE(state.experts, qint64{48});
        QVERIFY(state.asked > 0 && state.hits_with_more >= state.hits);
        if (places > 0) {
            QCOMPARE(state.places, places);
            QCOMPARE(state.hits, state.asked);
        } else {
            // As many as there is room for are those asked for most.
            QVERIFY(state.places < state.experts);
            QVERIFY2(double(state.hits) / double(state.asked) >
                         double(state.places) / double(state.experts),
                     qPrintable(QString("%1 of %2").arg(state.hits).arg(state.asked)));
        }
        QVERIFY(card.fake().violations().empty());
    }
}

/// Double quantization takes 256 blocks at a time; these experts are smaller than that.
void TestExpertsOnCard::blocksAcrossExperts() {
    engine::Engine engine;
    const auto loaded = engine.load(requestOf("cpu", "nf4-dq+experts", ""), {}, {});
    VERIFY_VALUE(loaded);
    const auto c = support::goldenCases("moe26b").front();
    const auto got = engine.logits(promptOf(c, 4), 1, {});
    QVERIFY(!got.has_value());
    QCOMPARE(got.error().code, engine::ErrorCode::Unsupported);
    QVERIFY(QString::fromStdString(got.error().message).contains("from one expert into the next"));
}

TEST_CLASS(TestExpertsOnCard)
#include "tst_experts_on_card.moc"
