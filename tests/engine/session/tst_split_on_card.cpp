// SPDX-License-Identifier: Apache-2.0
// Tokens of a decoder that cards and the CPU share, through the whole engine with the real kernels
// on the CPU: as many launches of fused steps as there are parts, lists of steps of one card beside
// each other. Two cards give the logits of one to the bit: tokens, and rows of a prompt that go
// through all layers together (a last row alone goes another way behind the cut). (All else that
// may happen is in tst_split_steps.cpp, on devices without kernels.)
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
    QTest::newRow("4 bits") << "nf4-dq"
                            << "";
    QTest::newRow("16 bits") << "none"
                             << "";
    QTest::newRow("4 bits, adapter") << "nf4"
                                     << "text";
}

void TestSplitOnCard::asOneCard() {
    QFETCH(QString, quant);
    QFETCH(QString, adapter);
    constexpr int kTokens = 4;
    constexpr int32_t kPrompt = 20;
    support::EmulatedCardOptions card_options;
    card_options.cards = 2;
    card_options.multiprocessors = 4;
    card_options.run.resident_threads = 8192;
    support::EmulatedCard card(card_options);
    struct Place {
        const char* map;
        int launches; ///< Of a token in 16 bits; an 8-bit head is one by itself.
        int norms;    ///< Of a prompt: three a layer, one more where a run of layers begins.
        bool has_cpu;
    };
    std::vector<int32_t> one_card;
    std::vector<float> one_card_rows, one_card_last;
    for (const Place& place : {Place{"gpu", 2, 31, false},
                               Place{R"({"version": 1, "default": "cuda:0", "map":
                  {"model.language_model.layers.[4-9]": "cuda:1"}})",
                                     3, 32, false},
                               Place{R"({"version": 1, "default": "cuda:0", "map":
                  {"model.language_model.layers.[3-4]": "cpu",
                   "model.language_model.layers.8": "cuda:1"}})",
                                     5, 28, true}}) {
        size_t before = card.ran().size();
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
        // Rows of a prompt in fused steps, then tokens one by one.
        engine::GenerateRequest prompt;
        prompt.sampling.temperature = 0.0;
        prompt.sampling.ignores_eos = true;
        prompt.sampling.max_tokens = kTokens;
        for (int32_t i = 0; i < kPrompt; ++i) {
            prompt.raw_ids.push_back(i == 0 ? 2 : 30 + 7 * i);
        }
        std::vector<float> logits;
        const auto rows = engine.logits(prompt, 8, {});
        QCOMPARE(card.finish(), std::string());
        QVERIFY2(rows.has_value(), rows.has_value() ? "" : rows.error().message.c_str());
        const auto ran = [&](size_t from, const std::string& wanted) {
            return std::count_if(card.ran().begin() + static_cast<std::ptrdiff_t>(from),
                                 card.ran().end(), [&](const std::string& name) {
                                     return name == wanted || name == wanted + "_updates";
                                 });
        };
        // Three norms a layer, and that of the first layer of each run of them.
        const auto norms = ran(before, "belfry_norm_rows");
        before = card.ran().size();
        const auto reply = engine.generate(prompt, {}, {});
        QCOMPARE(card.finish(), std::string());
        QVERIFY2(reply.has_value(), reply.has_value() ? "" : reply.error().message.c_str());
        const auto steps = ran(before, "belfry_stream") + ran(before, "belfry_token");
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
            QCOMPARE(steps, static_cast<std::ptrdiff_t>(place.launches) * kTokens);
            QCOMPARE(norms, static_cast<std::ptrdiff_t>(place.norms));
        }
        QVERIFY(steps > 0);
        if (place.has_cpu) {
            const double rows_error = support::maxRelativeToLargest(rows->logits, one_card_rows);
            const double error = support::maxRelativeToLargest(last->logits, one_card_last);
            QVERIFY2(rows_error < 3e-2, qPrintable(QString::number(rows_error)));
            QVERIFY2(error < 3e-2, qPrintable(QString::number(error)));
        } else { // to the bit
            QVERIFY(rows->logits == one_card_rows);
            QVERIFY(last->logits == one_card_last);
        }
        QCOMPARE(reply->token_ids, one_card);
    }
    QVERIFY(card.fake().violations().empty());
}

QTEST_APPLESS_MAIN(TestSplitOnCard)
#include "tst_split_on_card.moc"
