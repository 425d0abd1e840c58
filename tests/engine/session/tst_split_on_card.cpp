// SPDX-License-Identifier: Apache-2.0
// Tokens of a decoder that cards and the CPU share, through the whole engine with the real kernels
// on the CPU: as many launches of fused steps as there are parts, lists of steps of one card beside
// each other, the texts and (but for the order of a few sums at the seams) the logits of one card.
// (All else that may happen is in tst_split_steps.cpp, on devices without kernels.)
#include "engine/run/gpu_access.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"

#include <QTest>

#include <algorithm>

class TestSplitOnCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void asOneCard_data();
    void asOneCard();
};

void TestSplitOnCard::asOneCard_data() {
    QTest::addColumn<QString>("quant");
    QTest::addColumn<QString>("adapter");
    QTest::addColumn<QString>("kernel");
    QTest::newRow("4 bits") << "nf4-dq"
                            << ""
                            << "belfry_stream";
    QTest::newRow("16 bits") << "none"
                             << ""
                             << "belfry_token";
    QTest::newRow("4 bits, adapter") << "nf4"
                                     << "text"
                                     << "belfry_token";
}

void TestSplitOnCard::asOneCard() {
    QFETCH(QString, quant);
    QFETCH(QString, adapter);
    QFETCH(QString, kernel);
    constexpr int kTokens = 4;
    support::EmulatedCardOptions card_options;
    card_options.cards = 2;
    card_options.multiprocessors = 4;
    card_options.run.resident_threads = 8192;
    support::EmulatedCard card(card_options);
    struct Place {
        const char* map;
        int parts; ///< Launches of a token.
        bool has_cpu;
    };
    std::vector<int32_t> one_card;
    std::vector<float> one_card_logits;
    for (const Place& place :
         {Place{"gpu", 1, false},
          Place{R"({"version": 1, "default": "cuda:0", "map":
                  {"model.language_model.layers.[4-9]": "cuda:1"}})",
                2, false},
          Place{R"({"version": 1, "default": "cuda:0", "map":
                  {"model.language_model.layers.[3-4]": "cpu",
                   "model.language_model.layers.8": "cuda:1"}})",
                4, true}}) {
        engine::EngineOptions options;
        options.gpus = std::make_shared<const engine::GpuAccess>(
            engine::cudaAccess(&card.fake().driver(), "", support::FakeDriver::images()));
        engine::Engine engine(options);
        engine::LoadRequest request = support::goldenRequest("e2b");
        request.is_reference_precision = false; // fused steps need the 16-bit cache
        request.quant = quant.toStdString();
        request.head = "int8";
        request.device_map = place.map;
        request.context = 64;
        if (!adapter.isEmpty()) {
            request.adapters.push_back(
                {support::goldenAdapter("e2b", adapter.toStdString()), 1.0, true});
        }
        const auto loaded = engine.load(request, {}, {});
        QVERIFY2(loaded.has_value(), loaded.has_value() ? "" : loaded.error().message.c_str());
        engine::GenerateRequest prompt;
        prompt.raw_ids = {2, 30, 31, 32, 33};
        prompt.sampling.temperature = 0.0;
        prompt.sampling.ignores_eos = true;
        // The prompt's rows go another way on several devices, which rounds otherwise: tokens one
        // by one, so that all go through the fused steps.
        std::vector<int32_t> tokens;
        std::vector<float> logits;
        const size_t before = card.ran().size();
        for (size_t rows = 1; rows <= prompt.raw_ids.size(); ++rows) {
            engine::GenerateRequest part = prompt;
            part.raw_ids.resize(rows);
            const auto result = engine.logits(part, 1, {});
            QVERIFY2(result.has_value(), result.has_value() ? "" : result.error().message.c_str());
            logits = result->logits;
        }
        QCOMPARE(card.finish(), std::string());
        prompt.sampling.max_tokens = kTokens;
        const auto reply = engine.generate(prompt, {}, {});
        QCOMPARE(card.finish(), std::string());
        QVERIFY2(reply.has_value(), reply.has_value() ? "" : reply.error().message.c_str());
        const auto launches =
            std::count_if(card.ran().begin() + static_cast<std::ptrdiff_t>(before),
                          card.ran().end(), [&](const std::string& name) {
                              return name.starts_with(kernel.toStdString()) &&
                                     name.find("inputs") == std::string::npos;
                          });
        qInfo("%s: %d launches", place.map, static_cast<int>(launches));
        if (one_card.empty()) {
            one_card = reply->token_ids;
            one_card_logits = logits;
            continue;
        }
        const double error = support::maxRelativeToLargest(logits, one_card_logits);
        qInfo("largest difference %.2e", error);
        QCOMPARE(reply->token_ids, one_card);
    }
    QVERIFY(card.fake().violations().empty());
}

QTEST_APPLESS_MAIN(TestSplitOnCard)
#include "tst_split_on_card.moc"
