// SPDX-License-Identifier: Apache-2.0
// Tokens of a decoder that cards and the CPU share, through the whole engine with the real kernels
// on the CPU: fused steps for every layer on a card, lists of steps of one card beside each other.
// Two cards give the logits of one to the bit: tokens, and rows of a prompt that go
// through all layers together (a last row alone goes another way behind the cut). (All else that
// may happen is in tst_split_steps.cpp, on devices without kernels.)
#include "engine/devices/gpu_access.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>

class TestSplitOnCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void asOneCard_data();
    void asOneCard();
    void layersOfTheHost_data();
    void layersOfTheHost();
    void choiceOnTheCard();
};

void TestSplitOnCard::asOneCard_data() {
    support::addColumns<QString, QString, QString>("quant", "adapter", "kv");
    QTest::newRow("4 bits") << "nf4-dq"
                            << ""
                            << "auto";
    QTest::newRow("4 bits, keys and values in q8") << "nf4-dq"
                                                   << ""
                                                   << "q8";
    QTest::newRow("16 bits") << "none"
                             << ""
                             << "auto";
    QTest::newRow("4 bits, adapter") << "nf4"
                                     << "text"
                                     << "auto";
}

void TestSplitOnCard::asOneCard() {
    QFETCH(QString, quant);
    QFETCH(QString, adapter);
    QFETCH(QString, kv);
    constexpr int kTokens = 4;
    constexpr int32_t kPrompt = 20;
    support::EmulatedCard card(support::smallCard(2));
    struct Place {
        const char* map;
        int layers; ///< On cards.
        int norms;  ///< Norms of a prompt: three a layer, one more where a run of layers begins.
        bool has_cpu;
    };
    std::vector<int32_t> one_card;
    std::vector<float> one_card_rows, one_card_last;
    for (const Place& place : {Place{"gpu", 10, 31, false},
                               Place{R"({"version": 1, "default": "cuda:0", "map":
                  {"model.language_model.layers.[4-9]": "cuda:1"}})",
                                     10, 32, false},
                               Place{R"({"version": 1, "default": "cuda:0", "map":
                  {"model.language_model.layers.[3-4]": "cpu",
                   "model.language_model.layers.8": "cuda:1"}})",
                                     8, 28, true}}) {
        size_t before = card.ran().size();
        engine::Engine engine(support::optionsOn(card));
        engine::LoadRequest request = support::goldenRequest("e2b");
        request.is_reference_precision = false; // fused steps need the 16-bit cache
        request.quant = quant.toStdString();
        request.kv = kv.toStdString();
        request.head = "int8";
        request.device_map = place.map;
        request.context = 64;
        if (!adapter.isEmpty()) {
            request.adapters.push_back(
                {support::goldenAdapter("e2b", adapter.toStdString()), 1.0, true});
        }
        const auto loaded = engine.load(request, {}, {});
        VERIFY_VALUE(loaded);
        // Rows of a prompt in fused steps, then tokens one by one.
        engine::GenerateRequest prompt = support::greedyRequest({}, kTokens);
        for (int32_t i = 0; i < kPrompt; ++i) {
            prompt.raw_ids.push_back(i == 0 ? 2 : 30 + 7 * i);
        }
        std::vector<float> logits;
        const auto rows = engine.logits(prompt, 8, {});
        QCOMPARE(card.finish(), std::string());
        VERIFY_VALUE(rows);
        const auto ran = [&](size_t from, const std::string& wanted) {
            return std::count_if(card.ran().begin() + static_cast<std::ptrdiff_t>(from),
                                 card.ran().end(), [&](const std::string& name) {
                                     return name == wanted || name == wanted + "_updates" ||
                                            name == wanted + "_half";
                                 });
        };
        // Three norms a layer, and that of the first layer of each run of them.
        const auto norms = ran(before, "belfry_norm_rows");
        before = card.ran().size();
        const auto reply = engine.generate(prompt, {}, {});
        QCOMPARE(card.finish(), std::string());
        VERIFY_VALUE(reply);
        const auto steps = ran(before, "belfry_attend_step_256");
        engine::GenerateRequest more = prompt;
        more.raw_ids.insert(more.raw_ids.end(), reply->token_ids.begin(), reply->token_ids.end());
        const auto last = engine.logits(more, 1, {});
        QCOMPARE(card.finish(), std::string());
        QVERIFY(last.has_value());
        if (one_card.empty()) {
            one_card = reply->token_ids;
            one_card_rows = rows->logits;
            one_card_last = last->logits;
            continue;
        }
        if (quant == "none") {
            QCOMPARE(norms, static_cast<std::ptrdiff_t>(place.norms));
        }
        // Heads as small as these are no part of a streamed launch. The first token comes from the
        // prompt's last row.
        QVERIFY(steps >= static_cast<std::ptrdiff_t>(place.layers) * (kTokens - 1));
        if (place.has_cpu) {
            const double rows_error = support::maxRelativeToLargest(rows->logits, one_card_rows);
            const double error = support::maxRelativeToLargest(last->logits, one_card_last);
            QCOMPARE_LT(rows_error, 3e-2);
            if (kv == "q8") {
                continue; // values of other products take other codes: the text may be another one
            }
            QCOMPARE_LT(error, 3e-2);
        } else { // to the bit
            QVERIFY(rows->logits == one_card_rows);
            QVERIFY(last->logits == one_card_last);
        }
        QCOMPARE(reply->token_ids, one_card);
    }
    QVERIFY(card.fake().violations().empty());
}

void TestSplitOnCard::layersOfTheHost_data() {
    support::addColumns<QString, QString>("quant", "adapter");
    QTest::newRow("4 bits") << "nf4-dq"
                            << "";
    QTest::newRow("16 bits") << "none"
                             << "";
    QTest::newRow("adapter") << "nf4"
                             << "text";
}

/// Many rows of layers on the CPU are multiplied on the card, with weights that come there: what
/// they answer is what the CPU by itself does within what bf16 costs.
void TestSplitOnCard::layersOfTheHost() {
    QFETCH(QString, quant);
    QFETCH(QString, adapter);
    support::EmulatedCard card(support::smallCard(1));
    engine::GenerateRequest prompt;
    for (int32_t i = 0; i < 70; ++i) {
        prompt.raw_ids.push_back(i == 0 ? 2 : 30 + 3 * i);
    }
    std::vector<float> on_cpu;
    double on_card = 0; // what bf16 costs
    for (const char* map : {"cpu", "gpu", R"({"version": 1, "default": "cuda:0", "map":
                                      {"model.language_model.layers.[2-9]": "cpu"}})"}) {
        engine::Engine engine(support::optionsOn(card));
        engine::LoadRequest request = support::goldenRequest("e2b");
        request.is_reference_precision = false;
        request.quant = quant.toStdString();
        request.device_map = map;
        request.context = 128;
        if (!adapter.isEmpty()) {
            request.adapters.push_back(
                {support::goldenAdapter("e2b", adapter.toStdString()), 1.0, true});
        }
        VERIFY_VALUE(engine.load(request, {}, {}));
        QCOMPARE(support::memoryDifference(engine), std::string());
        const auto before = card.ran().size();
        const auto rows = engine.logits(prompt, 8, {});
        QCOMPARE(card.finish(), std::string());
        VERIFY_VALUE(rows);
        if (on_cpu.empty()) {
            on_cpu = rows->logits;
            continue;
        }
        const double noise = support::nmse(rows->logits, on_cpu);
        if (on_card == 0) {
            on_card = noise;
            continue;
        }
        // The three layers that own keys see all rows; with an adapter each product goes by itself.
        const auto ran = [&](const char* kernel) {
            return std::count(card.ran().begin() + static_cast<std::ptrdiff_t>(before),
                              card.ran().end(), kernel);
        };
        QCOMPARE(ran("belfry_gated_mul"), adapter.isEmpty() ? 3 : 0);
        QVERIFY2(ran("belfry_gemm_64") >= 3 * 6,
                 qPrintable(QString::number(ran("belfry_gemm_64"))));
        QCOMPARE(ran("belfry_attention_reference"), 2 + 3);
        QCOMPARE_LT(noise, 1.5 * on_card);
        QCOMPARE(support::memoryDifference(engine), std::string());
    }
    QVERIFY(card.fake().violations().empty());
}

/// Behind the head of a decoder over two cards the card chooses: greedy tokens, and candidates for
/// drawn ones, instead of a row of logits for every token. The texts are those of whole rows.
void TestSplitOnCard::choiceOnTheCard() {
    support::EmulatedCard card(support::smallCard(2));
    engine::Engine engine(support::optionsOn(card));
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.is_reference_precision = false; // fused steps need the 16-bit cache
    request.head = "int8";
    request.device_map = R"({"version": 1, "default": "cuda:0", "map":
        {"model.language_model.layers.[5-9]": "cuda:1", "model.vision_tower": "cpu"}})";
    request.context = 64;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
    constexpr size_t kTokens = 5;
    engine::GenerateRequest prompt;
    prompt.raw_ids = {2, 30, 31, 32, 33};
    prompt.sampling.ignores_eos = true;
    prompt.sampling.max_tokens = kTokens;
    prompt.sampling.repetition_penalty = 1.0;
    QVERIFY(engine.generate(prompt, {}, {}).has_value()); // all but its last row stay from here on
    const auto ran = [&](const char* kernel) {
        return std::count(card.ran().begin(), card.ran().end(), kernel);
    };
    constexpr int kSeeds = 3;
    for (int seed = 0; seed <= kSeeds; ++seed) { // 0: greedy
        prompt.sampling.temperature = seed == 0 ? 0.0 : 1.5;
        prompt.sampling.top_k = 40;
        prompt.sampling.top_p = 0.95;
        prompt.sampling.seed = seed;
        std::vector<std::vector<int32_t>> texts;
        for (const bool has_choice : {true, false}) {
            const auto before = ran("belfry_argmax") + ran("belfry_top_logits");
            if (!has_choice) {
                // A penalty of almost nothing makes the host look at every row.
                prompt.sampling.repetition_penalty = 1.0 + 1e-12;
            }
            const auto reply = engine.generate(prompt, {}, {});
            prompt.sampling.repetition_penalty = 1.0;
            QCOMPARE(card.finish(), std::string());
            VERIFY_VALUE(reply);
            QCOMPARE(reply->token_ids.size(), kTokens);
            texts.push_back(reply->token_ids);
            // The first token comes from the prompt's row.
            QCOMPARE(ran("belfry_argmax") + ran("belfry_top_logits") - before,
                     has_choice ? static_cast<std::ptrdiff_t>(kTokens) - 1 : 0);
        }
        QCOMPARE(texts[0], texts[1]);
    }
    QVERIFY(ran("belfry_argmax") >= static_cast<std::ptrdiff_t>(kTokens) - 1);
    QVERIFY(ran("belfry_top_logits") >= kSeeds * (static_cast<std::ptrdiff_t>(kTokens) - 1));
    QVERIFY(card.fake().violations().empty());
}

TEST_CLASS(TestSplitOnCard)
#include "tst_split_on_card.moc"
