// SPDX-License-Identifier: Apache-2.0
// A text-only load: the towers stay in the files. The text's answers are the same to the token, the
// memory is what the plan says and smaller by the towers, pictures and sounds are refused with the
// way back, and maps and adapters that name the towers are taken.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>

namespace {

engine::LoadRequest request(bool is_text_only) {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.is_text_only = is_text_only;
    return request;
}

uint64_t weights(const engine::PlacementPlan& plan) {
    uint64_t bytes = 0;
    for (const engine::DevicePlan& device : plan.devices) {
        bytes += device.parts[engine::MemoryPart::Weights];
    }
    return bytes;
}

bool hasMedia(const engine::PlacementPlan& plan) {
    return std::any_of(plan.tensors.begin(), plan.tensors.end(),
                       [](const auto& row) { return engine::isMedia(row.part); });
}

} // namespace

class TestTextOnly : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sameAnswers();
    void theSaving_data();
    void theSaving();
    void mediaAreRefused();
    void mapThatNamesTheTowers();
    void adapterOfTheTowers();
    void oneNoteForAll();
};

void TestTextOnly::sameAnswers() {
    const support::GoldenCase c = support::goldenCaseWith("e2b", false, false);
    engine::Engine whole;
    QVERIFY(whole.load(request(false), {}, {}).has_value());
    engine::Engine lean;
    const auto loaded = lean.load(request(true), {}, {});
    VERIFY_VALUE(loaded);
    QCOMPARE(support::engineLogits(lean, c, 1), support::engineLogits(whole, c, 1));
    QCOMPARE(support::engineGreedy(lean, c, 8), support::engineGreedy(whole, c, 8));
    QCOMPARE(support::memoryDifference(lean), std::string());
    QVERIFY(!hasMedia(*lean.currentPlan()));
    QVERIFY(!lean.summary()->has_vision && !lean.summary()->has_audio);
    QVERIFY(lean.summary()->lacks_vision_by_wish && lean.summary()->lacks_audio_by_wish);
    QVERIFY(!whole.summary()->lacks_vision_by_wish && !whole.summary()->lacks_audio_by_wish);
}

void TestTextOnly::theSaving_data() {
    QTest::addColumn<QString>("quant");
    QTest::newRow("as stored") << QStringLiteral("none");
    QTest::newRow("4 bits") << QStringLiteral("nf4");
}

void TestTextOnly::theSaving() {
    QFETCH(QString, quant);
    engine::Engine engine;
    engine::LoadRequest with = request(false);
    engine::LoadRequest without = request(true);
    with.quant = without.quant = quant.toStdString();
    const auto whole = engine.plan(with, {});
    const auto lean = engine.plan(without, {});
    QVERIFY(whole.has_value() && lean.has_value());
    QCOMPARE(whole->left_out_bytes, uint64_t{0});
    QVERIFY(lean->left_out_bytes > 0);
    // What is promised is what the other plan has more.
    QCOMPARE(weights(*whole) - weights(*lean), lean->left_out_bytes);
}

void TestTextOnly::mediaAreRefused() {
    engine::Engine engine;
    QVERIFY(engine.load(request(true), {}, {}).has_value());
    for (const bool is_sound : {false, true}) {
        engine::GenerateRequest asked =
            support::goldenCaseRequest(support::goldenCaseWith("e2b", !is_sound, is_sound));
        asked.sampling.max_tokens = 1;
        const auto reply = engine.generate(asked, {}, {});
        QVERIFY(!reply.has_value());
        const engine::Error& error = reply.error();
        QCOMPARE(error.code, engine::ErrorCode::InvalidRequest);
        QVERIFY2(error.message.find(is_sound ? "without its audio tower"
                                             : "without its vision tower") != std::string::npos &&
                     error.message.find("without --text-only") != std::string::npos,
                 error.message.c_str());
    }
    // The way back.
    QVERIFY(engine.load(request(false), {}, {}).has_value());
    const support::GoldenCase c = support::goldenCaseWith("e2b", true, false);
    QCOMPARE(support::engineGreedy(engine, c, 1).front(), c.greedy.front());
}

void TestTextOnly::mapThatNamesTheTowers() {
    engine::Engine engine;
    engine::LoadRequest asked = request(true);
    asked.device_map = R"({"version": 1, "default": "cpu", "map": {"model.vision_tower": "disk"}})";
    const auto plan = engine.plan(asked, {});
    QVERIFY2(plan.has_value() && plan->fits, plan.has_value() ? "" : plan.error().message.c_str());
    const auto loaded = engine.load(asked, {}, {});
    VERIFY_VALUE(loaded);
    asked.device_map = "towers-cpu";
    asked.sim_gpus = {uint64_t{1} << 30U};
    const auto preset = engine.plan(asked, {});
    QVERIFY(preset.has_value() && preset->fits);
    QVERIFY(!hasMedia(*preset));
}

void TestTextOnly::adapterOfTheTowers() {
    engine::Engine engine;
    engine::LoadRequest asked = request(true);
    asked.adapters = {{support::goldenAdapter("e2b", "multimodal"), 1.0, true}};
    const auto loaded = engine.load(asked, {}, {});
    VERIFY_VALUE(loaded);
    const engine::AdapterSummary& adapter = engine.summary()->adapters.front();
    QVERIFY(adapter.active > 0); // the language part acts
    const auto left_out =
        std::count_if(adapter.unmatched.begin(), adapter.unmatched.end(), [](const auto& key) {
            return key.reason.why == engine::KeyReason::Why::TextOnly &&
                   key.outcome == engine::UnusedKey::Outcome::Inert;
        });
    QCOMPARE(left_out, adapter.vision + adapter.audio);
    QVERIFY(left_out > 0);
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestTextOnly::oneNoteForAll() {
    engine::Engine engine;
    QVERIFY(engine.load(request(true), {}, {}).has_value());
    int told = 0;
    for (const engine::Sentence& note : engine.loadNotes()) {
        const std::string text = engine::inEnglish(note);
        told += text.find("text-only") != std::string::npos ? 1 : 0;
        QVERIFY2(text.find("not used") == std::string::npos, text.c_str());
    }
    QCOMPARE(told, 1);
}

TEST_CLASS(TestTextOnly)
#include "tst_text_only.moc"
