// SPDX-License-Identifier: Apache-2.0
// Drawn tokens through the whole engine on a card whose kernels run on the CPU: recorded steps,
// candidates written where the host reads them, the same texts as from whole rows of logits. (All
// that may come between is in tst_drawn_tokens.cpp, on a device without kernels.)
#include "engine/devices/gpu_access.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <set>

class TestDrawnOnCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sameTexts();
};

void TestDrawnOnCard::sameTexts() {
    support::EmulatedCard card(support::smallCard());
    engine::Engine engine(support::optionsOn(card));
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.is_reference_precision = false; // the step needs the 16-bit cache
    request.device_map = "gpu";
    request.context = 64;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
    struct Settings {
        double temperature;
        int64_t top_k;
        double top_p, min_p;
        int64_t seed;
    };
    // The prompt's rows but the last stay from here on: all replies begin with the same logits,
    // those of one row (of many they are rounded otherwise).
    engine::GenerateRequest first;
    first.raw_ids = {2, 30, 31, 32, 33};
    first.sampling.max_tokens = 1;
    QVERIFY(engine.generate(first, {}, {}).has_value());
    constexpr size_t kTokens = 6;
    std::set<std::vector<int32_t>> different;
    for (const Settings& settings : {Settings{1.0, 64, 0.95, 0.0, 1},
                                     {1.0, 64, 0.95, 0.0, 2},
                                     {1.6, 64, 1.0, 0.01, 2},
                                     {6.0, 256, 1.0, 0.0, 3},
                                     {0.7, 5, 0.8, 0.0, 4}}) {
        engine::GenerateRequest prompt = first;
        prompt.sampling.temperature = settings.temperature;
        prompt.sampling.top_k = settings.top_k;
        prompt.sampling.top_p = settings.top_p;
        prompt.sampling.min_p = settings.min_p;
        prompt.sampling.repetition_penalty = 1.0;
        prompt.sampling.seed = settings.seed;
        prompt.sampling.max_tokens = kTokens;
        prompt.sampling.ignores_eos = true;
        std::vector<std::vector<int32_t>> texts;
        for (const bool has_candidates : {true, false}) {
            card.fake().clearTrace();
            // A penalty of almost nothing makes the host look at every row.
            prompt.sampling.repetition_penalty = has_candidates ? 1.0 : 1.0 + 1e-12;
            const auto reply = engine.generate(prompt, {}, {});
            QCOMPARE(card.finish(), std::string());
            VERIFY_VALUE(reply);
            QCOMPARE(reply->token_ids.size(), kTokens);
            texts.push_back(reply->token_ids);
            // A row of logits for the first token, which comes from the prompt, or for every one.
            const auto& calls = card.fake().trace();
            QCOMPARE(std::count_if(
                         calls.begin(), calls.end(),
                         [](const char* name) { return std::string(name) == "cuMemcpyDtoHAsync"; }),
                     has_candidates ? 1 : static_cast<std::ptrdiff_t>(kTokens));
        }
        QCOMPARE(texts[0], texts[1]);
        different.insert(texts[0]);
    }
    QVERIFY(different.size() >= 4);
    QVERIFY(std::count(card.ran().begin(), card.ran().end(), "belfry_top_logits") >= 25);
    QVERIFY(card.fake().violations().empty());
}

TEST_CLASS(TestDrawnOnCard)
#include "tst_drawn_on_card.moc"
