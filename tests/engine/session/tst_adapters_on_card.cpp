// SPDX-License-Identifier: Apache-2.0
// Adapters through the whole engine on a card whose kernels run on the CPU: prompts and pictures
// with plain low-rank updates take the very launches that they take without, updates inside them,
// and give PEFT's logits as closely; adapters of other kinds leave the fused steps.
#include "engine/devices/gpu_access.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <memory>

namespace {

/// How often each kernel ran, "belfry_" left out.
using Launches = std::map<std::string, int>;

/// Those of layers and towers, as they are without updates inside them.
std::string fusedSteps(const Launches& launches) {
    const std::string suffix = "_updates";
    Launches fused;
    for (const auto& [name, count] : launches) {
        const bool is_fused = name.starts_with("product_") || name.starts_with("attention") ||
                              name.starts_with("flash") || name == "norm_rows" ||
                              name == "head_rows" || name == "pool_rows" || name == "scale_to_half";
        if (is_fused && name != "product_ranks") {
            fused[name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name] +=
                count;
        }
    }
    std::string text;
    for (const auto& [name, count] : fused) {
        text += name + " " + std::to_string(count) + ", ";
    }
    return text;
}

int countOf(const Launches& launches, const std::string& begin, const std::string& end) {
    int count = 0;
    for (const auto& [name, times] : launches) {
        count += name.starts_with(begin) && name.ends_with(end) ? times : 0;
    }
    return count;
}

/// The model on an emulated card, with one adapter or none. One at a time.
class CardEngine {
public:
    explicit CardEngine(const std::string& adapter,
                        const std::string& quant = "none",
                        int multiprocessors = 4)
        : card_(cardOptions(multiprocessors)), engine_(support::optionsOn(card_)) {
        engine::LoadRequest request = support::goldenRequest("e2b");
        request.is_reference_precision = false;
        request.device_map = "gpu";
        request.quant = quant;
        if (!adapter.empty()) {
            request.adapters.push_back({support::goldenAdapter("e2b", adapter), 1.0, true});
        }
        const auto loaded = engine_.load(request, {}, {});
        wrong_ = loaded.has_value() ? support::memoryDifference(engine_) : loaded.error().message;
    }
    /// Logits of the last `rows` tokens of a golden case.
    std::vector<float> logits(const support::GoldenCase& c, int64_t rows) {
        const size_t before = card_.ran().size();
        std::vector<float> result = support::engineLogits(engine_, c, rows);
        launches_.clear();
        for (size_t i = before; i < card_.ran().size(); ++i) {
            ++launches_[card_.ran()[i].substr(std::string("belfry_").size())];
        }
        wrong_ = wrong_.empty() ? card_.finish() : wrong_;
        return result;
    }
    /// Tokens chosen greedily behind a prompt.
    std::vector<int32_t> tokens(const std::vector<int32_t>& prompt, int count) {
        const auto reply = engine_.generate(support::greedyRequest(prompt, count), {}, {});
        const std::string failure = reply.has_value() ? card_.finish() : reply.error().message;
        wrong_ = wrong_.empty() ? failure : wrong_;
        return reply.has_value() ? reply->token_ids : std::vector<int32_t>();
    }
    [[nodiscard]] bool hasRun(const std::string& kernel) const {
        return std::find(card_.ran().begin(), card_.ran().end(), kernel) != card_.ran().end();
    }
    [[nodiscard]] engine::Engine& engine() { return engine_; }
    [[nodiscard]] const Launches& launches() const { return launches_; } ///< Made by logits().
    [[nodiscard]] QString wrong() const { return QString::fromStdString(wrong_); }

private:
    static support::EmulatedCardOptions cardOptions(int multiprocessors) {
        support::EmulatedCardOptions options;
        options.multiprocessors = multiprocessors;
        options.run.resident_threads = multiprocessors * 2048;
        return options;
    }
    support::EmulatedCard card_;
    engine::Engine engine_;
    Launches launches_;
    std::string wrong_;
};

support::GoldenCase caseOf(const std::string& id) {
    const auto cases = support::goldenCases("e2b");
    return *std::find_if(cases.begin(), cases.end(), [&](const auto& c) { return c.id == id; });
}

/// What the same model in 16 bits is off by.
double allowedError(const std::string& id) {
    return support::readJson(support::goldenDir() /
                             "about.json")["noise_against_float64"]["e2b/" + id]["bf16_nmse"];
}

} // namespace

class TestAdaptersOnCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void golden_data();
    void golden();
    void tokenByToken_data();
    void tokenByToken();
    void strengthChanges();
    void severalAtOnce_data();
    void severalAtOnce();
    void quantized();
    void promptsBetweenTokens();

private:
    /// Without an adapter.
    struct Base {
        std::vector<float> logits;
        std::string steps;
    };
    std::map<std::pair<std::string, int64_t>, Base> base_; ///< By case and rows.
};

void TestAdaptersOnCard::golden_data() {
    QTest::addColumn<QString>("adapter");
    QTest::addColumn<QString>("id");
    QTest::addColumn<bool>("fused");
    QTest::addColumn<int>("products"); // with updates, of the whole prompt
    QTest::addColumn<int>("single");   // updates beside fused steps
    // Ten layers of q (k, v), o, gate with up, down; a picture's tower has three.
    QTest::addRow("text: text") << "text"
                                << "text" << true << 41 << 0;
    QTest::addRow("multimodal: text") << "multimodal"
                                      << "text" << true << 41 << 0;
    QTest::addRow("multimodal: picture") << "multimodal"
                                         << "image" << true << 41 + 12 << 0;
    // The gates of the per-layer inputs; not in a layer: their projection.
    QTest::addRow("bridges: text") << "bridges"
                                   << "text" << true << 10 << 1;
    QTest::addRow("dora: text") << "dora"
                                << "text" << false << 0 << -1;
}

void TestAdaptersOnCard::golden() {
    QFETCH(QString, adapter);
    QFETCH(QString, id);
    QFETCH(bool, fused);
    QFETCH(int, products);
    QFETCH(int, single);
    const support::GoldenCase c = caseOf(id.toStdString());
    const double allowed = allowedError(c.id);
    const std::vector<float> all =
        support::readSafetensors(support::goldenDir() / "e2b/adapters" / adapter.toStdString() /
                                 "expected_logits.safetensors")
            .at(c.id)
            .floats();
    constexpr int64_t kRows = 8;
    // One row alone goes through the steps of a token behind the cut.
    for (const int64_t rows : {kRows, int64_t{1}}) {
        const std::vector<float> want(
            all.end() - static_cast<std::ptrdiff_t>(all.size()) * rows / kRows, all.end());
        Base& base = base_[{c.id, rows}];
        if (base.logits.empty()) {
            CardEngine plain("");
            base.logits = plain.logits(c, rows);
            base.steps = fusedSteps(plain.launches());
            QCOMPARE(plain.wrong(), QString());
        }
        CardEngine adapted(adapter.toStdString());
        const std::vector<float> got = adapted.logits(c, rows);
        QCOMPARE(adapted.wrong(), QString());
        const double error = support::nmse(got, want);
        QVERIFY2(error <= allowed,
                 qPrintable(QString("%1 rows: %2 of %3").arg(rows).arg(error).arg(allowed)));
        QVERIFY(support::nmse(base.logits, want) > 100 * allowed);
        const Launches& launches = adapted.launches();
        const int with_updates = countOf(launches, "product_", "_updates");
        QCOMPARE(countOf(launches, "product_ranks", ""), with_updates);
        if (!fused) {
            QCOMPARE(with_updates, 0);
            QVERIFY(countOf(launches, "lora_up", "") > 40);
            continue;
        }
        QCOMPARE(fusedSteps(launches), base.steps);
        QCOMPARE(countOf(launches, "project_bf16", "") > 0, rows == 1);
        QCOMPARE(countOf(launches, "lora_up", ""), single);
        if (rows == kRows) {
            QCOMPARE(with_updates, products);
        } else {
            QVERIFY(with_updates > 0 && with_updates < products);
        }
    }
}

void TestAdaptersOnCard::tokenByToken_data() {
    QTest::addColumn<QString>("adapter");
    QTest::addRow("inside the steps") << "text";
    // The adapter reads what a collected step has from the one before: it must be in memory.
    QTest::addRow("between steps") << "dora";
}

/// Decoding: the last tokens of a prompt one at a time.
void TestAdaptersOnCard::tokenByToken() {
    QFETCH(QString, adapter);
    support::GoldenCase c = caseOf("text");
    const std::vector<float> all =
        support::readSafetensors(support::goldenDir() / "e2b/adapters" / adapter.toStdString() /
                                 "expected_logits.safetensors")
            .at(c.id)
            .floats();
    constexpr size_t kRows = 8;
    constexpr size_t kTokens = 3;
    const size_t width = all.size() / kRows;
    const std::vector<int32_t> ids = c.input_ids;
    CardEngine card(adapter.toStdString());
    for (size_t left = kTokens; left-- > 0;) {
        c.input_ids.assign(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(left));
        const std::vector<float> got = card.logits(c, 1);
        QCOMPARE(card.wrong(), QString());
        const auto row = all.begin() + static_cast<std::ptrdiff_t>((kRows - 1 - left) * width);
        const double error = support::nmse(got, {row, row + static_cast<std::ptrdiff_t>(width)});
        // One row varies more than eight.
        QVERIFY2(error <= 3 * allowedError("text"),
                 qPrintable(QString("%1 before the last: %2").arg(left).arg(error)));
    }
}

/// Factors lie in the card's memory: prompts behind a change see it.
void TestAdaptersOnCard::strengthChanges() {
    const support::GoldenCase c = caseOf("image");
    CardEngine card("multimodal");
    engine::Engine on_cpu;
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.adapters.push_back({support::goldenAdapter("e2b", "multimodal"), 1.0, true});
    QVERIFY(on_cpu.load(request, {}, {}).has_value());
    std::vector<float> before;
    for (const double strength : {1.0, 0.5, 0.0}) {
        request.adapters[0].strength = strength;
        QVERIFY(on_cpu.setAdapters(request.adapters, {}).has_value());
        QVERIFY(card.engine().setAdapters(request.adapters, {}).has_value());
        const std::vector<float> want = support::engineLogits(on_cpu, c, 8);
        const std::vector<float> got = card.logits(c, 8);
        QCOMPARE(card.wrong(), QString());
        const double error = support::nmse(got, want);
        QVERIFY2(error <= allowedError("image"),
                 qPrintable(QString("strength %1: %2").arg(strength).arg(error)));
        QVERIFY(before.empty() || support::nmse(before, want) > 100 * allowedError("image"));
        QCOMPARE(countOf(card.launches(), "lora_up", ""), 0);
        before = got;
    }
}

void TestAdaptersOnCard::severalAtOnce_data() {
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<bool>("single"); // some layers go through single functions
    QTest::addRow("two") << QStringList{"multimodal", "layers"} << false;
    // "layers" touches three of the ten: there are five updates of one linear.
    QTest::addRow("more than a product takes")
        << QStringList{"multimodal", "text", "pattern", "rslora", "layers"} << true;
}

void TestAdaptersOnCard::severalAtOnce() {
    QFETCH(QStringList, names);
    QFETCH(bool, single);
    const support::GoldenCase c = caseOf("text");
    std::vector<engine::AdapterChoice> adapters;
    for (const QString& name : names) {
        adapters.push_back({support::goldenAdapter("e2b", name.toStdString()),
                            1.0 / static_cast<double>(names.size()), true});
    }
    engine::Engine on_cpu;
    QVERIFY(on_cpu.load(support::goldenRequest("e2b"), {}, {}).has_value());
    QVERIFY(on_cpu.setAdapters(adapters, {}).has_value());
    const std::vector<float> want = support::engineLogits(on_cpu, c, 8);
    CardEngine card("");
    const std::vector<float> base = card.logits(c, 8);
    QVERIFY(card.engine().setAdapters(adapters, {}).has_value());
    const std::vector<float> got = card.logits(c, 8);
    QCOMPARE(card.wrong(), QString());
    const double error = support::nmse(got, want);
    // Five have more noise: single functions alone are off by 1.3 times of it.
    QCOMPARE_LE(error, (single ? 2 : 1) * allowedError("text"));
    QVERIFY(support::nmse(base, want) > 100 * allowedError("text"));
    // There are 41 products; three layers have four each.
    QCOMPARE(countOf(card.launches(), "product_ranks", ""), single ? 41 - 12 : 41);
    QCOMPARE(countOf(card.launches(), "lora_up", "") > 0, single);
}

/// The last row alone, whose steps behind the cut are collected as those of a token, and among
/// others. Expanded weights.
void TestAdaptersOnCard::quantized() {
    const support::GoldenCase c = caseOf("text");
    Launches plain;
    {
        CardEngine card("", "nf4-dq");
        card.logits(c, 1);
        plain = card.launches();
        QCOMPARE(card.wrong(), QString());
    }
    CardEngine card("text", "nf4-dq");
    const std::vector<float> last = card.logits(c, 1);
    QCOMPARE(fusedSteps(card.launches()), fusedSteps(plain));
    QVERIFY(countOf(card.launches(), "product_", "_updates") > 0);
    QVERIFY(plain["stream"] > 0);
    QCOMPARE(countOf(card.launches(), "stream_", "updates"), plain["stream"]);
    QVERIFY(!card.launches().contains("stream"));
    QCOMPARE(countOf(card.launches(), "lora_up", ""), 0);
    const std::vector<float> all = card.logits(c, 8);
    QCOMPARE(card.wrong(), QString());
    const std::vector<float> want(all.end() - static_cast<std::ptrdiff_t>(last.size()), all.end());
    QCOMPARE_LE(support::nmse(last, want), 2 * allowedError("text"));
}

/// A prompt's last row goes through a list of steps of its own: what the recorded ones of a token
/// need to know of their updates is still there when tokens follow. Enough blocks for plans.
void TestAdaptersOnCard::promptsBetweenTokens() {
    constexpr int kBlocks = 16;
    constexpr int kTokens = 3;
    const std::vector<int32_t> first = {2, 30, 37, 44, 51};
    const std::vector<int32_t> second = {61, 35, 72, 40, 33, 58}; // nothing of the first one stays
    std::vector<int32_t> want;
    {
        CardEngine card("text", "nf4-dq", kBlocks);
        want = card.tokens(second, kTokens);
        QCOMPARE(card.wrong(), QString());
    }
    CardEngine card("text", "nf4-dq", kBlocks);
    QCOMPARE(static_cast<int>(card.tokens(first, kTokens).size()), kTokens);
    QCOMPARE(card.tokens(second, kTokens), want);
    QCOMPARE(card.wrong(), QString());
    QVERIFY(card.hasRun("belfry_stream_updates"));
}

TEST_CLASS(TestAdaptersOnCard)
#include "tst_adapters_on_card.moc"
