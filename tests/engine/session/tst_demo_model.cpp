// SPDX-License-Identifier: Apache-2.0
// The bundled model answers, and answers the same wherever its parts are: 60 fixed held-out
// questions with pictures and sounds over 12 placements, 4-bit weights and an 8-bit head included;
// the 12 that need the adapter fail without it, so a lost tower adapter would show.
#include "engine/run/engine.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

namespace {

const std::string kDemoModelDemo = (support::sourceDir() / "resources/demo_model").string();

struct Tally {
    int right = 0, asked = 0;
    std::vector<std::string> answers;
    int64_t rounds = 0, drafted = 0, accepted = 0; ///< Counts of drafts.
};

/// Asks the fixed questions; only those that need the adapter, or only those that do not.
Tally ask(engine::Engine& engine, bool needs_adapter) {
    Tally tally;
    const std::string folder = kDemoModelDemo + "/eval/fixed/";
    for (const auto& question : support::readJson(folder + "questions.json")) {
        if (question["adapter"].get<bool>() != needs_adapter) {
            continue;
        }
        engine::GenerateRequest request;
        engine::Message message;
        if (question["image"].is_string()) {
            message.parts.push_back(
                {engine::MessagePart::Kind::Image, folder + question["image"].get<std::string>()});
        }
        if (question["audio"].is_string()) {
            message.parts.push_back(
                {engine::MessagePart::Kind::Audio, folder + question["audio"].get<std::string>()});
        }
        message.parts.push_back(
            {engine::MessagePart::Kind::Text, question["question"].get<std::string>()});
        request.messages.push_back(message);
        request.sampling.temperature = 0.0;
        request.sampling.max_tokens = 64;
        const auto reply = engine.generate(request, {}, {});
        const std::string text =
            reply.has_value() ? reply->text : "error: " + reply.error().message;
        if (reply.has_value() && reply->drafts.has_value()) {
            tally.rounds += reply->drafts->rounds;
            tally.drafted += reply->drafts->drafted;
            tally.accepted += reply->drafts->accepted;
        }
        ++tally.asked;
        tally.right += text == question["answer"].get<std::string>() ? 1 : 0;
        if (text != question["answer"].get<std::string>()) {
            qInfo("%s: %s", question["id"].get<std::string>().c_str(), text.c_str());
        }
        tally.answers.push_back(text);
    }
    return tally;
}

std::string load(engine::Engine& engine,
                 const char* map,
                 const char* quant,
                 const char* head,
                 bool has_adapter,
                 bool has_assistant = false) {
    engine::LoadRequest request;
    request.draft = has_assistant ? "auto" : "off";
    request.draft_tokens = 3;
    request.model = kDemoModelDemo;
    request.device_map = map;
    request.quant = quant;
    request.head = head;
    request.context = 512;
    request.threads = 2;
    request.sim_gpus = {64U << 20U, 64U << 20U};
    if (has_adapter) {
        request.adapters.push_back({kDemoModelDemo + "/adapter", 1.0, true});
    }
    const auto outcome = engine.load(request, {}, {});
    return outcome.has_value() ? std::string() : outcome.error().message;
}

} // namespace

class TestDemoModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void itsAssistantGuessesAhead_data();
    void itsAssistantGuessesAhead();
    void sameAnswersEverywhere_data();
    void sameAnswersEverywhere();
    void newThingsNeedTheAdapter();

private:
    std::vector<std::string> base_, adapted_;
};

void TestDemoModel::itsAssistantGuessesAhead_data() {
    support::addColumns<QString, QString>("map", "quant");
    QTest::newRow("one device") << "cpu"
                                << "none";
    QTest::newRow("4 bits") << "gpu"
                            << "nf4-dq";
    QTest::newRow("split, the assistant apart") << R"({"version": 1, "default": "sim:0", "map": {
            "model.language_model.layers.[6-9]": "sim:1", "assistant": "cpu"}})"
                                                << "none";
}

/// The trained assistant that comes with the model: the answers stay, and most of its drafts are in
/// them. By chance, with the word said most often as every draft, one in ten would be.
void TestDemoModel::itsAssistantGuessesAhead() {
    QFETCH(QString, map);
    QFETCH(QString, quant);
    engine::Engine engine;
    const bool is_exact = quant == QLatin1String("none");
    VERIFY_EMPTY(load(engine, map.toUtf8().constData(), quant.toUtf8().constData(),
                      is_exact ? "bf16" : "int8", false, true));
    const Tally tally = ask(engine, false);
    QCOMPARE(tally.right, tally.asked);
    QVERIFY(tally.rounds > 100);
    const double accepted =
        static_cast<double>(tally.accepted) / static_cast<double>(tally.drafted);
    qInfo("%.2f of %lld drafts accepted, %.2f tokens a round", accepted,
          static_cast<long long>(tally.drafted),
          1.0 + static_cast<double>(tally.accepted) / static_cast<double>(tally.rounds));
    QVERIFY(accepted > 0.5);
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestDemoModel::sameAnswersEverywhere_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("map", "quant", "head");
    const auto row = [](const char* name, const char* map, const char* quant, const char* head) {
        QTest::newRow(name) << QByteArray(map) << QByteArray(quant) << QByteArray(head);
    };
    row("one GPU", "gpu", "none", "bf16");
    row("one GPU, nf4-dq, int8 head", "gpu", "nf4-dq", "int8");
    row("towers on the CPU", "towers-cpu", "none", "bf16");
    row("towers on the CPU, nf4-dq", "towers-cpu", "nf4-dq", "bf16");
    row("table on the CPU", "ple-cpu", "nf4", "bf16");
    row("towers and table on the CPU", "lean", "nf4-dq", "int8");
    row("everything on the CPU", "cpu", "none", "bf16");
    row("best fit", "fit", "nf4", "bf16");
    row("two GPUs",
        R"({"version": 1, "default": "sim:0", "map": {"model.language_model.layers.[5-9]": "sim:1"}})",
        "nf4-dq", "bf16");
    row("KV owners and readers apart",
        R"({"version": 1, "default": "sim:0", "map": {"model.language_model.layers.[6-9]": "cpu"}})",
        "none", "bf16");
    row("towers visit",
        R"({"version": 1, "default": "sim:0", "map": {"model.vision_tower": {"store": "cpu", "compute": "sim:0"}, "model.audio_tower": {"store": "disk", "compute": "sim:1"}}})",
        "nf4", "bf16");
    row("accelerate's map",
        R"({"model.vision_tower": "cpu", "model.audio_tower": "cpu", "": "sim:0"})", "nf4", "bf16");
}

void TestDemoModel::sameAnswersEverywhere() {
    QFETCH(QByteArray, map);
    QFETCH(QByteArray, quant);
    QFETCH(QByteArray, head);
    engine::Engine plain;
    QCOMPARE(load(plain, map.constData(), quant.constData(), head.constData(), false),
             std::string());
    const Tally base = ask(plain, false);
    QCOMPARE(base.right, base.asked);
    engine::Engine with_adapter;
    QCOMPARE(load(with_adapter, map.constData(), quant.constData(), head.constData(), true),
             std::string());
    const Tally adapted = ask(with_adapter, true);
    QCOMPARE(adapted.right, adapted.asked);
    QCOMPARE(base.asked + adapted.asked, 60);
    if (base_.empty()) {
        base_ = base.answers;
        adapted_ = adapted.answers;
    }
    QCOMPARE(base.answers, base_);
    QCOMPARE(adapted.answers, adapted_);
}

void TestDemoModel::newThingsNeedTheAdapter() {
    engine::Engine engine;
    QCOMPARE(load(engine, "cpu", "none", "bf16", false), std::string());
    const Tally without = ask(engine, true);
    QCOMPARE(without.right, 0);
}

TEST_CLASS(TestDemoModel)
#include "tst_demo_model.moc"
