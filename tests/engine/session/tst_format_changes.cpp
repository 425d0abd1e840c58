// SPDX-License-Identifier: Apache-2.0
// Another format of a loaded model's part: what was encoded or cached with the former weights
// answers no more, what does not depend on them stays. Adapters whose factors depend on the base
// (DoRA) are as after a load with that format, too.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <QTest>

#include <algorithm>

namespace {

std::string nativeMap(const std::string& entries) {
    return R"({"version": 1, "default": "cpu", "map": {)" + entries + "}}";
}

} // namespace

class TestFormatChanges : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void asAFreshLoad_data();
    void asAFreshLoad();
};

void TestFormatChanges::asAFreshLoad_data() {
    QTest::addColumn<QString>("part");
    QTest::addColumn<QString>("format");
    QTest::addColumn<bool>("is_text_kept"); ///< Rows of text in the cache stay of use.
    QTest::addColumn<QString>("adapter");
    const auto row = [](const char* name, const char* part, const char* format, bool is_text_kept,
                        const char* adapter = "") {
        QTest::newRow(name) << part << format << is_text_kept << adapter;
    };
    row("layers", "model.language_model.layers", "nf4", false);
    if (!support::kTakesPart) {
        row("one matrix", "model.language_model.layers.3.mlp.down_proj", "fp4", false);
        row("vision projector", "model.embed_vision", "nf4", true);
        row("audio projector", "model.embed_audio", "nf4", true);
        row("layers, DoRA", "model.language_model.layers", "nf4", false, "dora");
    }
    row("vision tower", "model.vision_tower", "nf4", true);
    row("audio tower", "model.audio_tower", "fp4", true);
    row("layers, DoRA, fp4", "model.language_model.layers", "fp4_dq", false, "dora");
    row("layers, plain adapter", "model.language_model.layers", "nf4", false, "text");
}

void TestFormatChanges::asAFreshLoad() {
    QFETCH(QString, part);
    QFETCH(QString, format);
    QFETCH(bool, is_text_kept);
    QFETCH(QString, adapter);
    const std::string changed =
        nativeMap("\"" + part.toStdString() + R"(": {"format": ")" + format.toStdString() + "\"}");
    engine::LoadRequest request = support::goldenRequest("e2b");
    if (!adapter.isEmpty()) {
        request.adapters.push_back(
            {support::goldenAdapter("e2b", adapter.toStdString()), 1.0, true});
    }
    request.device_map = changed;
    engine::Engine fresh;
    VERIFY_VALUE(fresh.load(request, {}, {}));
    request.device_map = nativeMap("");
    engine::Engine engine, fresh_plain;
    VERIFY_VALUE(engine.load(request, {}, {}));
    VERIFY_VALUE(fresh_plain.load(request, {}, {}));
    int cases = 0;
    for (const support::GoldenCase& c : support::goldenCases("e2b")) {
        // The chat was about the same picture or sound, which is encoded and in the cache.
        VERIFY_VALUE(engine.applyMap(nativeMap(""), {}, {}));
        const auto before = support::engineLogits(engine, c, 4);
        QVERIFY2(before == support::engineLogits(fresh_plain, c, 4), c.id.c_str());
        VERIFY_VALUE(engine.applyMap(changed, {}, {}));
        const auto want = support::engineLogits(fresh, c, 4);
        QVERIFY2(support::engineLogits(engine, c, 4) == want, c.id.c_str());
        QCOMPARE(support::engineGreedy(engine, c, 4), support::engineGreedy(fresh, c, 4));
        const bool is_concerned = !is_text_kept || (part.contains("vision") && !c.image.empty()) ||
                                  (part.contains("audio") && !c.audio.empty());
        QCOMPARE(before != want, is_concerned);
        ++cases;
    }
    QVERIFY(cases >= 4);

    // Text that was held before a tower's change is not computed again, behind a layer's it is.
    VERIFY_VALUE(engine.applyMap(nativeMap(""), {}, {}));
    engine::GenerateRequest prompt;
    prompt.raw_ids = {2, 20, 21, 22, 23, 24, 25, 26};
    prompt.sampling.temperature = 0.0;
    prompt.sampling.max_tokens = 1;
    QVERIFY(engine.generate(prompt, {}, {}).has_value());
    VERIFY_VALUE(engine.applyMap(changed, {}, {}));
    const auto reply = engine.generate(prompt, {}, {});
    QVERIFY(reply.has_value());
    QCOMPARE(reply->timing.reused_tokens > 0, is_text_kept);
}

TEST_CLASS(TestFormatChanges)
#include "tst_format_changes.moc"
