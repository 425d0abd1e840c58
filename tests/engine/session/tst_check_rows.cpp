// SPDX-License-Identifier: Apache-2.0
// Checks of a few tokens as a recording of fused steps (engine/forward/token/check_step.h), with
// the real kernels on the CPU and a model of E2B's kinds of layers, whose heads of 256 and 512 the
// golden models do not have: choices, logits, hidden rows, keys and values are those of tokens one
// by one, wherever the sliding window is; whole texts with drafts, right and wrong, also
// beside an adapter, are those without. A check that went another way would prove nothing: each is
// seen to run.
#include "engine/devices/gpu_access.h"
#include "engine/files/checkpoint.h"
#include "engine/load/loader.h"
#include "engine/plan/planner.h"
#include "engine/run/opened_model.h"
#include "engine/run/planning.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/tiny_model.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/worst_error.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace {

/// As of fused rows against single functions (tst_split_on_card.cpp): cached rows are bf16, inputs
/// of 11 bits.
constexpr double kBound = 3e-2;
/// NMSE against rows of a prompt, which round otherwise: their logits are up to five times as far
/// from those of single tokens as a check's are.
constexpr double kHiddenBound = 2e-2;
/// Tokens whose logits are so close may be exchanged.
constexpr double kNear = 1.5e-2;

/// chunk: of a prompt; the ring of the sliding layers has 11 slots more.
engine::LoadRequest requestFor(const std::string& model, int64_t chunk) {
    engine::LoadRequest request;
    request.model = model;
    request.device_map = "gpu";
    request.quant = "nf4-dq";
    request.head = "int8";
    request.context = 96;
    request.prefill_chunk = chunk;
    request.is_text_only = true;
    request.threads = 2;
    return request;
}

std::ptrdiff_t count(const support::EmulatedCard& card, const std::string& kernel) {
    return std::count(card.ran().begin(), card.ran().end(), kernel);
}

/// The model on an emulated card, with one cache for tokens by themselves and one for checks.
struct Opened {
    Opened(const std::string& folder, int64_t chunk) : card(support::smallCard()) {
        const engine::GpuAccess access =
            engine::cudaAccess(&card.fake().driver(), {}, support::FakeDriver::images());
        opened = support::must(engine::OpenedModel::open(engine::folderCheckpoint(folder), true),
                               "model");
        const engine::LoadRequest request = requestFor(folder, chunk);
        engine::HostDeviceOptions options;
        options.threads = 2;
        devices = engine::makeHostDevices(options);
        devices.add(engine::DeviceId::cuda(0), support::must(access.open(0, 0, false), "card"));
        plan = engine::makePlan(support::must(
            engine::planRequest(request, opened, engine::machineDevices(request, access), {}),
            "plan request"));
        store = support::must(engine::load(*opened.source, opened.config, plan, devices.set, {}),
                              "load");
        steps = support::must(engine::KvCache::create(opened.config, plan, devices.set), "cache");
        checks = support::must(engine::KvCache::create(opened.config, plan, devices.set), "cache");
        model = support::must(
            engine::Model::create(opened.config, plan, *store, devices.set, nullptr), "model");
    }

    /// The rows of a prompt, in both caches.
    void fill(std::span<const int32_t> ids) {
        for (engine::KvCache* kv : {steps.get(), checks.get()}) {
            engine::ForwardInput input;
            input.ids = ids;
            std::vector<float> logits;
            support::must(model->forward(input, *kv, logits, {}), "prompt");
        }
    }

    std::vector<float> step(int32_t id, engine::KvCache& kv) {
        std::vector<float> logits;
        support::must(model->step(id, kv, nullptr, logits, {}), "step");
        return logits;
    }

    /// Ends the program where the check goes another way.
    engine::RowChoices
    check(std::span<const int32_t> ids, bool is_greedy = false, int32_t wanted = 0) {
        engine::RowChoices rows;
        rows.is_greedy = is_greedy;
        rows.wanted = wanted;
        const auto before = count(card, "belfry_stream_rows");
        const int launches = ids.size() <= engine::CheckStep::kMostRows ? 1 : 2;
        if (!support::must(model->check(ids, *checks, rows), "check") ||
            count(card, "belfry_stream_rows") != before + launches) {
            qFatal("a check of %zu rows did not run as fused steps", ids.size());
        }
        return rows;
    }

    support::EmulatedCard card;
    engine::OpenedModel opened;
    engine::OwnedDevices devices;
    engine::PlacementPlan plan;
    std::unique_ptr<engine::TensorStore> store;
    std::unique_ptr<engine::KvCache> steps, checks;
    std::unique_ptr<engine::Model> model;
};

int32_t largest(std::span<const float> logits) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double largestSize(const std::vector<float>& values) {
    float most = 0.0F;
    for (const float value : values) {
        most = std::max(most, std::abs(value));
    }
    return most;
}

/// How far the largest is before the second, as a share of the largest value.
double lead(std::vector<float> logits) {
    std::partial_sort(logits.begin(), logits.begin() + 2, logits.end(), std::greater<>());
    return (logits[0] - logits[1]) / largestSize(logits);
}

std::vector<float> rowOf(const std::vector<float>& rows, size_t row, size_t width) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(row * width);
    return {first, first + static_cast<std::ptrdiff_t>(width)};
}

/// What a layer holds of the positions in use: K, then V. Emulated cards' memory is the host's.
std::vector<float> held(const engine::KvCache& kv, int layer, bool is_full) {
    const engine::KvCache::LayerKv& owner = kv.owner(layer);
    std::vector<float> values;
    const auto width = static_cast<size_t>(owner.row_bytes) / sizeof(uint16_t);
    for (const void* half : {owner.primary.k, owner.primary.v}) {
        for (int64_t slot = 0; slot < owner.capacity; ++slot) {
            if (is_full ? slot >= kv.size()
                        : kv.slidingPositions()[static_cast<size_t>(slot)] < 0) {
                continue;
            }
            const auto* bits =
                static_cast<const uint16_t*>(half) + static_cast<size_t>(slot) * width;
            for (size_t i = 0; i < width; ++i) {
                values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits[i]) << 16U));
            }
        }
    }
    return values;
}

/// Whether two texts behind a prompt are the same. Ends the program where the first other token is
/// none that rounding may have put there.
bool isSame(engine::Engine& engine,
            engine::GenerateRequest prompt,
            const std::vector<int32_t>& text,
            const std::vector<int32_t>& other) {
    const auto [at, there] = std::mismatch(text.begin(), text.end(), other.begin(), other.end());
    if (at == text.end() && there == other.end()) {
        return true;
    }
    if (at == text.end() || there == other.end()) {
        qFatal("texts of %zu and of %zu tokens", text.size(), other.size());
    }
    prompt.raw_ids.insert(prompt.raw_ids.end(), text.begin(), at);
    const std::vector<float> logits = support::must(engine.logits(prompt, 1, {}), "logits").logits;
    const double gap =
        std::abs(logits[static_cast<size_t>(*at)] - logits[static_cast<size_t>(*there)]) /
        largestSize(logits);
    if (!(gap < kNear)) {
        qFatal("token %zd is %d in place of %d, %g away", at - text.begin(), *at, *there, gap);
    }
    return false;
}

} // namespace

class TestCheckRows : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void rowsAreTokens();
    void launchesAreChecks();
    void choicesOfRows_data();
    void choicesOfRows();
    void choicesOfMoreRows();
    void roundsAreTokens();
    void textsOfAnEngine_data();
    void textsOfAnEngine();
    void cleanupTestCase() {
        logits_.print("logits");
        hidden_.print("hidden rows");
        cached_.print("keys and values");
    }

private:
    void compareRows(Opened& on, std::span<const int32_t> ids, size_t kept);
    void compareCaches(const Opened& on);

    QTemporaryDir folder_;
    std::string model_, assistant_, adapter_;
    support::WorstError logits_, hidden_, cached_;
    int same_tokens_ = 0, near_ties_ = 0;
};

void TestCheckRows::initTestCase() {
    QVERIFY(folder_.isValid());
    model_ = (folder_.path() + "/model").toStdString();
    assistant_ = (folder_.path() + "/assistant").toStdString();
    support::writeTinyModel(model_, support::wideHeads());
    support::writeTinyAssistant(assistant_, model_, support::wideHeads());
    adapter_ = (folder_.path() + "/adapter").toStdString();
    support::writeTinyAdapter(adapter_, support::wideHeads(), 8);
}

/// A check of `ids`, of which `kept` stay, against tokens one by one.
void TestCheckRows::compareRows(Opened& on, std::span<const int32_t> ids, size_t kept) {
    const auto vocab = static_cast<size_t>(on.opened.config.text.vocab_size);
    const auto width = static_cast<size_t>(on.opened.config.text.hidden_size);
    const int64_t before = on.steps->size();
    QCOMPARE(on.checks->size(), before);
    // Hidden rows of the form that a check takes elsewhere; the cache is then as it was.
    engine::ForwardInput input;
    input.ids = ids;
    input.logits_rows = static_cast<int64_t>(ids.size());
    std::vector<float> hidden, ignored;
    input.hidden = &hidden;
    support::must(on.model->forward(input, *on.steps, ignored, {}), "rows");
    QVERIFY(on.steps->truncate(before));

    const engine::RowChoices rows = on.check(ids);
    QCOMPARE(rows.logits.size(), ids.size() * vocab);
    QCOMPARE(rows.hidden.size(), ids.size() * width);
    for (size_t i = 0; i < ids.size(); ++i) {
        const std::string where =
            "row " + std::to_string(i) + " at " + std::to_string(before + static_cast<int64_t>(i));
        const std::vector<float> wanted = on.step(ids[i], *on.steps);
        const std::vector<float> logits = rowOf(rows.logits, i, vocab);
        const double error = logits_.add(support::maxRelativeToLargest(logits, wanted), where);
        QVERIFY2(error < kBound,
                 qPrintable(QString::fromStdString(where) + ": " + QString::number(error)));
        QCOMPARE_LT(
            hidden_.add(support::nmse(rowOf(rows.hidden, i, width), rowOf(hidden, i, width)),
                        where),
            kHiddenBound);
        if (lead(wanted) > 2 * error) {
            QCOMPARE(largest(logits), largest(wanted));
            ++same_tokens_;
        } else {
            ++near_ties_;
        }
    }
    QVERIFY(on.steps->truncate(before + static_cast<int64_t>(kept)));
    QVERIFY(on.checks->truncate(before + static_cast<int64_t>(kept)));
    compareCaches(on);
}

void TestCheckRows::compareCaches(const Opened& on) {
    QCOMPARE(on.checks->slidingPositions(), on.steps->slidingPositions());
    const auto& layers = on.opened.config.text.layers;
    int owners = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
        if (layers[i].is_kv_shared) {
            continue;
        }
        const bool is_full = layers[i].type == engine::LayerType::Full;
        const std::vector<float> wanted = held(*on.steps, static_cast<int>(i), is_full);
        QVERIFY(!wanted.empty());
        QCOMPARE_LT(cached_.add(support::maxRelativeToLargest(
                                    held(*on.checks, static_cast<int>(i), is_full), wanted),
                                "layer " + std::to_string(i)),
                    kBound);
        ++owners;
    }
    QCOMPARE(owners, 2); // a sliding one and a full one
}

/// Positions before, across and behind the end of the window of 12, and round the ring; tails that
/// are cut; single tokens and further prompts between.
void TestCheckRows::rowsAreTokens() {
    Opened on(model_, 8);
    QCOMPARE(on.opened.config.text.sliding_window, int64_t{12});
    const auto take = [](int64_t from, size_t number) {
        std::vector<int32_t> ids(number);
        for (size_t i = 0; i < number; ++i) {
            ids[i] = support::idAt(from + static_cast<int64_t>(i));
        }
        return ids;
    };
    struct Check {
        size_t rows, kept;
    };
    const std::vector<std::vector<Check>> turns = {
        {{2, 2}, {4, 4}, {3, 1}, {4, 4}}, // from 3 to 14
        {{4, 2}, {3, 3}},
        {{4, 4}},
    };
    for (const std::vector<Check>& turn : turns) {
        on.fill(take(on.steps->size(), on.steps->size() == 0 ? 3 : 5));
        for (const Check& check : turn) {
            compareRows(on, take(on.steps->size() + 100, check.rows), check.kept);
            if (QTest::currentTestFailed()) {
                return;
            }
        }
        // What comes next by itself reads what the checks have left.
        const int32_t next = support::idAt(on.steps->size());
        const std::vector<float> wanted = on.step(next, *on.steps);
        QCOMPARE_LT(
            logits_.add(support::maxRelativeToLargest(on.step(next, *on.checks), wanted), "next"),
            kBound);
    }
    QVERIFY(on.steps->size() > on.steps->owner(0).capacity); // round the ring
    QVERIFY2(same_tokens_ > 4 * near_ties_, qPrintable(QString::number(near_ties_)));
    QCOMPARE(on.card.finish(), std::string());
    QVERIFY(count(on.card, "belfry_stream") > 0);
    QVERIFY(on.card.fake().violations().empty());
}

/// What goes as two launches is bit by bit what two checks make of it, round the ring of keys.
void TestCheckRows::launchesAreChecks() {
    Opened on(model_, 8);
    on.fill(std::vector<int32_t>{2, 35, 77});
    struct Check {
        size_t rows, kept;
    };
    for (const Check& turn : {Check{8, 8}, {6, 3}, {7, 7}, {8, 1}, {8, 6}, {6, 6}, {7, 5}}) {
        const int64_t before = on.checks->size();
        std::vector<int32_t> ids(turn.rows);
        for (size_t i = 0; i < ids.size(); ++i) {
            ids[i] = support::idAt(before + 100 + static_cast<int64_t>(i));
        }
        const engine::RowChoices rows = on.check(ids);
        std::vector<float> logits, hidden;
        for (const auto part : {std::span(ids).first(4), std::span(ids).subspan(4)}) {
            engine::RowChoices some;
            QVERIFY(support::must(on.model->check(part, *on.steps, some), "check"));
            logits.insert(logits.end(), some.logits.begin(), some.logits.end());
            hidden.insert(hidden.end(), some.hidden.begin(), some.hidden.end());
        }
        QVERIFY(rows.logits == logits);
        QVERIFY(rows.hidden == hidden);
        for (engine::KvCache* kv : {on.steps.get(), on.checks.get()}) {
            QVERIFY(kv->truncate(before + static_cast<int64_t>(turn.kept)));
        }
        QCOMPARE(on.checks->slidingPositions(), on.steps->slidingPositions());
        QVERIFY(held(*on.checks, 0, false) == held(*on.steps, 0, false));
    }
    QVERIFY(on.steps->size() > on.steps->owner(0).capacity);
    QCOMPARE(on.card.finish(), std::string());
    QVERIFY(on.card.fake().violations().empty());
}

/// The card chooses, or tells the candidates, or neither, in every order, as the row of logits
/// says; suppressed tokens are left out.
void TestCheckRows::choicesOfRows_data() {
    QTest::addColumn<int>("tokens");
    QTest::newRow("one launch") << 4;
    QTest::newRow("two launches") << 7;
}

void TestCheckRows::choicesOfRows() {
    QFETCH(int, tokens);
    Opened on(model_, 8);
    const auto vocab = static_cast<size_t>(on.opened.config.text.vocab_size);
    on.fill(std::vector<int32_t>{2, 40, 50, 60, 70});
    std::vector<int32_t> ids = {80, 90, 100, 110, 120, 130, 140};
    ids.resize(static_cast<size_t>(tokens));
    const int64_t before = on.checks->size();
    const engine::RowChoices plain = on.check(ids);
    QVERIFY(on.checks->truncate(before));
    enum class Kind { Greedy, Top, Row };
    for (const Kind kind :
         {Kind::Greedy, Kind::Top, Kind::Greedy, Kind::Row, Kind::Top, Kind::Row, Kind::Greedy}) {
        const engine::RowChoices rows =
            on.check(ids, kind == Kind::Greedy, kind == Kind::Top ? 8 : 0);
        QVERIFY(on.checks->truncate(before));
        QCOMPARE(rows.rows.size(), ids.size());
        QCOMPARE(rows.logits.empty(), kind != Kind::Row);
        for (size_t i = 0; i < ids.size(); ++i) {
            const std::vector<float> logits = rowOf(plain.logits, i, vocab);
            QCOMPARE(rows.rows[i].token.has_value(), kind == Kind::Greedy);
            QCOMPARE(rows.rows[i].top.empty(), kind != Kind::Top);
            if (kind == Kind::Greedy) {
                QCOMPARE(*rows.rows[i].token, largest(logits));
            } else if (kind == Kind::Top) {
                const auto top = rows.rows[i].top;
                QVERIFY(top.size() >= 8);
                const auto best =
                    std::max_element(top.begin(), top.end(), [](const auto& a, const auto& b) {
                        return a.logit < b.logit;
                    });
                QCOMPARE(best->token, largest(logits));
            } else {
                QVERIFY(rows.logits == plain.logits);
            }
        }
    }
    engine::RowChoices rows;
    rows.is_greedy = true;
    const std::vector<int32_t> suppressed = {largest(rowOf(plain.logits, 1, vocab))};
    rows.suppressed = suppressed;
    QVERIFY(support::must(on.model->check(ids, *on.checks, rows), "check"));
    std::vector<float> second = rowOf(plain.logits, 1, vocab);
    second[static_cast<size_t>(suppressed.front())] = -1e9F;
    QCOMPARE(*rows.rows[1].token, largest(second));
    QCOMPARE(on.card.finish(), std::string());
}

/// The card chooses all the same for rows that go by forward(); what a token's step or a check has
/// sent as suppressed is not taken for what forward() has, nor the other way round.
void TestCheckRows::choicesOfMoreRows() {
    Opened on(model_, 8);
    const auto vocab = static_cast<size_t>(on.opened.config.text.vocab_size);
    on.fill(std::vector<int32_t>{2, 40, 50, 60, 70});
    const std::vector<int32_t> ids = {80, 90, 100, 110, 120, 130};
    const int64_t before = on.checks->size();
    const auto forward = [&](engine::RowChoices* rows) {
        engine::ForwardInput input;
        input.ids = ids;
        input.logits_rows = static_cast<int64_t>(ids.size());
        input.choices = rows;
        std::vector<float> logits;
        support::must(on.model->forward(input, *on.checks, logits, {}), "rows");
        if (!on.checks->truncate(before)) {
            qFatal("the rows do not go again");
        }
        return logits;
    };
    const std::vector<float> plain = forward(nullptr);
    QCOMPARE(plain.size(), ids.size() * vocab);
    const std::vector<int32_t> suppressed = {largest(rowOf(plain, 1, vocab))};
    const auto wanted = [&](size_t row, bool is_suppressed) {
        std::vector<float> logits = rowOf(plain, row, vocab);
        if (is_suppressed) {
            logits[static_cast<size_t>(suppressed.front())] = -1e9F;
        }
        return largest(logits);
    };
    for (const bool is_suppressed : {false, true, true, false}) {
        engine::RowChoices rows;
        rows.is_greedy = true;
        if (is_suppressed) {
            rows.suppressed = suppressed;
        }
        QVERIFY(forward(&rows).empty());
        QCOMPARE(rows.rows.size(), ids.size());
        for (size_t i = 0; i < ids.size(); ++i) {
            QCOMPARE(rows.rows[i].token, std::optional(wanted(i, is_suppressed)));
        }
        engine::RowChoices few;
        few.is_greedy = true;
        few.suppressed = is_suppressed ? std::span<const int32_t>() : suppressed;
        QVERIFY(support::must(on.model->check(std::span(ids).first(4), *on.checks, few), "check"));
        QVERIFY(on.checks->truncate(before));
        QCOMPARE(few.rows[1].token == std::optional(suppressed.front()), is_suppressed);
    }
    engine::RowChoices candidates;
    candidates.wanted = 8;
    QVERIFY(forward(&candidates).empty());
    for (size_t i = 0; i < ids.size(); ++i) { // each row's are its own
        const auto top = candidates.rows[i].top;
        QVERIFY(top.size() >= 8);
        const auto best = std::max_element(
            top.begin(), top.end(), [](const auto& a, const auto& b) { return a.logit < b.logit; });
        QCOMPARE(best->token, wanted(i, false));
    }
    engine::RowChoices neither;
    QVERIFY(forward(&neither) == plain);
    QCOMPARE(on.card.finish(), std::string());
}

/// Whole greedy texts in rounds as a generator makes them, whose drafts are right, wrong, or right
/// up to one, over two turns.
void TestCheckRows::roundsAreTokens() {
    Opened on(model_, 16);
    constexpr size_t kTokens = 14;
    std::vector<int32_t> prompt = {2, 35, 77, 120, 300, 41};
    for (int turn = 0; turn < 2; ++turn) {
        on.fill(prompt);
        const int64_t start = on.checks->size();
        // What the model says behind a first token, a token a step; how sure it is of each.
        std::vector<int32_t> text = {prompt.back() + 1};
        std::vector<double> leads = {1.0};
        while (text.size() < kTokens) {
            const std::vector<float> logits = on.step(text.back(), *on.steps);
            text.push_back(largest(logits));
            leads.push_back(lead(logits));
        }
        QVERIFY(std::count_if(leads.begin(), leads.end(),
                              [](double value) { return value < kNear; }) <= 3);
        QVERIFY(on.steps->truncate(start));
        // The same as texts are written: the card chooses.
        for (size_t said = 1; said < kTokens; ++said) {
            engine::TokenChoice choice;
            choice.is_greedy = true;
            std::vector<float> logits;
            support::must(on.model->step(text[said - 1], *on.steps, &choice, logits, {}), "step");
            QCOMPARE(choice.token, std::optional(text[said]));
        }
        for (const size_t right :
             turn == 0 ? std::array{size_t{3}, size_t{0}} : std::array{size_t{1}, size_t{2}}) {
            QVERIFY(on.checks->truncate(start));
            size_t said = 1;
            while (said + 3 < kTokens) {
                std::vector<int32_t> ids = {text[said - 1]};
                for (size_t i = 0; i < 3; ++i) {
                    ids.push_back(i < right ? text[said + i] : (text[said + i] + 1) % 384);
                }
                const engine::RowChoices rows = on.check(ids, true);
                const auto chosen = [&](size_t row) {
                    return leads[said + row] < kNear ? text[said + row] : *rows.rows[row].token;
                };
                size_t confirmed = 0;
                while (confirmed < 3 && chosen(confirmed) == ids[confirmed + 1]) {
                    ++confirmed;
                }
                QCOMPARE(confirmed, right);
                QCOMPARE(chosen(confirmed), text[said + confirmed]);
                said += confirmed + 1;
                QVERIFY(on.checks->truncate(start + static_cast<int64_t>(said) - 1));
            }
        }
        // Both caches end with the same tokens, the last of the text in neither.
        const int64_t both = std::min(on.checks->size(), on.steps->size());
        QVERIFY(both > start + 4);
        QVERIFY(on.checks->truncate(both));
        QVERIFY(on.steps->truncate(both));
        compareCaches(on);
        prompt = {static_cast<int32_t>(200 + turn), 15, 16, 17};
    }
    QCOMPARE(on.card.finish(), std::string());
}

/// Through generator and assistant, greedy and drawn in turns on one model: the texts are those
/// without drafts, and behind drafts that were accepted whatever the model said, what follows is
/// what follows such a text.
void TestCheckRows::textsOfAnEngine_data() {
    support::addColumns<bool, int>("has_adapter", "drafts");
    QTest::newRow("the model by itself") << false << 3;
    QTest::newRow("with an adapter") << true << 3;
    QTest::newRow("more drafts than a launch checks") << false << 6;
}

void TestCheckRows::textsOfAnEngine() {
    QFETCH(bool, has_adapter);
    QFETCH(int, drafts);
    const std::string kernel = has_adapter ? "belfry_stream_rows_updates" : "belfry_stream_rows";
    support::EmulatedCard card(support::smallCard());
    engine::Engine engine(support::optionsOn(card));
    engine::LoadRequest request = requestFor(model_, 8);
    request.draft = assistant_;
    request.draft_tokens = drafts;
    if (has_adapter) {
        request.adapters.push_back({adapter_, 1.0, true});
    }
    support::must(engine.load(request, {}, {}), "load");
    engine::GenerateRequest asked;
    asked.raw_ids = {2, 31, 99, 150, 42, 77};
    asked.sampling.ignores_eos = true;
    asked.sampling.repetition_penalty = 1.0;
    asked.sampling.top_k = 20;
    asked.sampling.top_p = 0.95;
    int same = 0;
    // So cold that rounding seldom exchanges the tokens that are drawn.
    for (const double temperature : {0.0, 0.02, 0.0}) {
        asked.sampling.temperature = temperature;
        asked.sampling.seed = 5;
        asked.sampling.max_tokens = 9;
        std::vector<int32_t> without;
        asked.sampling.max_tokens = 1; // all but the prompt's last row stay from here on
        (void)support::must(engine.generate(asked, {}, {}), "reply");
        asked.sampling.max_tokens = 9;
        for (const bool uses_drafts : {false, true}) {
            asked.uses_drafts = uses_drafts;
            const auto before = count(card, kernel);
            const engine::Reply reply = support::must(engine.generate(asked, {}, {}), "reply");
            const auto checks = count(card, kernel) - before;
            QCOMPARE(reply.token_ids.size(), size_t{9});
            QCOMPARE(checks > 0, uses_drafts);
            if (uses_drafts) {
                same += isSame(engine, asked, reply.token_ids, without) ? 1 : 0;
                QVERIFY(reply.drafts.has_value() && 2 * reply.drafts->rounds >= checks);
            }
            without = reply.token_ids;
        }
        asked.raw_ids.insert(asked.raw_ids.end(), without.begin(), without.end());
        asked.raw_ids.push_back(60); // the next turn
    }
    QVERIFY(same >= 2);
    asked.sampling.temperature = 0.0;
    asked.forced_acceptance = 1.0;
    const auto before = count(card, kernel);
    const engine::Reply forced = support::must(engine.generate(asked, {}, {}), "reply");
    QVERIFY(count(card, kernel) > before);
    QVERIFY(forced.drafts->accepted >= 5);
    asked.raw_ids.insert(asked.raw_ids.end(), forced.token_ids.begin(), forced.token_ids.end());
    asked.forced_acceptance = -1.0;
    asked.uses_drafts = false;
    asked.sampling.max_tokens = 5;
    const engine::Reply behind = support::must(engine.generate(asked, {}, {}), "reply");
    QVERIFY(behind.timing.reused_tokens > 30);           // rows that checks have written
    support::must(engine.load(request, {}, {}), "load"); // an empty cache
    const engine::Reply anew = support::must(engine.generate(asked, {}, {}), "reply");
    QCOMPARE(anew.timing.reused_tokens, int64_t{0});
    QCOMPARE(behind.token_ids, anew.token_ids);
    QCOMPARE(card.finish(), std::string());
    QVERIFY(card.fake().violations().empty());
    QCOMPARE(support::memoryDifference(engine), std::string()); // assistant and check included
}

TEST_CLASS(TestCheckRows)
#include "tst_check_rows.moc"
