// SPDX-License-Identifier: Apache-2.0
// Everything that the planner says about too little memory has words in the window: plans of the
// demo model and of a published shape under many limits, and every form of a step by itself.
#include "app/engine_worker.h"
#include "app/planner_thread.h"
#include "app/program_paths.h"
#include "engine/plan/plan_english.h"
#include "tests/app/other_languages.h"
#include "tests/support/program/test_class.h"
#include "ui/common/issue_words.h"
#include "ui/common/suggestion_words.h"
#include "ui/style/format.h"

#include <QLocale>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <atomic>
#include <set>
#include <variant>

constexpr uint64_t kMiB = uint64_t{1} << 20U;

class TestPlanWords : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyFormOfAStep_data();
    void everyFormOfAStep();
    void realPlans();
};

namespace {

/// No option of the command line, no name of a device as files spell it.
bool isPlain(const QString& words) {
    static const QRegularExpression kRaw(
        QStringLiteral("--[a-z]|\\b(sim|cuda):\\d|model\\.(vision|audio)_tower|embed_tokens"));
    return !words.contains(kRaw);
}

/// The step without its figures, so that kinds can be counted.
QString stepKind(QString step) {
    return step.replace(QRegularExpression(QStringLiteral("[0-9][0-9.]*")), QStringLiteral("#"));
}

} // namespace

namespace {

using engine::DeviceId;
using engine::PlanPart;
using engine::SuggestedStep;
using Cost = engine::SuggestedCost::Kind;

PlanPart partOf(PlanPart::Kind kind) {
    PlanPart part;
    part.kind = kind;
    return part;
}

PlanPart layersOf(int first, int last) {
    PlanPart part = partOf(PlanPart::Kind::Layers);
    part.first_layer = first;
    part.last_layer = last;
    return part;
}

SuggestedStep stepOf(double mib, const engine::SuggestedCost& cost) {
    SuggestedStep step;
    step.frees = static_cast<uint64_t>(mib * static_cast<double>(kMiB));
    step.cost = cost;
    return step;
}

SuggestedStep
moving(double mib, const engine::SuggestedCost& cost, std::vector<engine::SuggestedMove> moves) {
    SuggestedStep step = stepOf(mib, cost);
    step.moves = std::move(moves);
    return step;
}

const std::string kTable = "model.language_model.embed_tokens";

} // namespace

void TestPlanWords::everyFormOfAStep_data() {
    QTest::addColumn<engine::Suggestion>("step");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("words");
    std::set<size_t> kinds;
    std::set<Cost> costs;
    const auto row = [&](const char* name, const engine::Suggestion& step, const char* english,
                         const char* words) {
        kinds.insert(step.index());
        if (const auto* one = std::get_if<SuggestedStep>(&step)) {
            costs.insert(one->cost.kind);
        }
        QTest::newRow(name) << step << QString::fromLatin1(english) << QString::fromUtf8(words);
    };
    const DeviceId cpu = DeviceId::cpu();
    const DeviceId disk = DeviceId::disk();
    const PlanPart audio = partOf(PlanPart::Kind::AudioTower);
    const PlanPart vision = partOf(PlanPart::Kind::VisionTower);
    const std::vector<std::string> audio_keys = {"model.audio_tower", "model.embed_audio"};
    const std::vector<std::string> vision_keys = {"model.vision_tower", "model.embed_vision"};
    const PlanPart per_layer = partOf(PlanPart::Kind::PerLayerTable);
    const PlanPart table = partOf(PlanPart::Kind::TokenTable);
    row("table to the processor",
        moving(2.5, {Cost::TableRow, 1280}, {{per_layer, {kTable + "_per_layer"}, cpu, cpu}}),
        "move model.language_model.embed_tokens_per_layer to cpu: frees 2.50 MiB, costs nothing "
        "measurable (one row of 1280 bytes per token)",
        "per-layer embeddings to CPU: frees 2.5 MiB, costs nothing measurable");
    SuggestedStep step =
        moving(2.5, {Cost::TableRead, 1280}, {{per_layer, {kTable + "_per_layer"}, disk, cpu}});
    step.is_enough = true;
    row("table to disk", step,
        "move model.language_model.embed_tokens_per_layer to disk (computed on cpu): frees 2.50 "
        "MiB, costs one read of 1280 bytes per token (enough by itself)",
        "per-layer embeddings to Disk, computed on CPU: frees 2.5 MiB (enough by itself), costs "
        "one read of 1.3 KiB per token");
    row("audio tower", moving(12, {Cost::TimePerSound, 0, 1.84}, {{audio, audio_keys, cpu, cpu}}),
        "move model.audio_tower and model.embed_audio to cpu: frees 12.00 MiB, costs about 1.8 s "
        "per 10 s of audio",
        "audio tower to CPU: frees 12.0 MiB, costs about 1.8 s per 10 s of sound");
    row("vision tower, fast",
        moving(1.0 / 2048, {Cost::TimePerImage, 0, 0.0004}, {{vision, vision_keys, cpu, cpu}}),
        "move model.vision_tower and model.embed_vision to cpu: frees 512 bytes, costs less than "
        "1 ms per image",
        "vision tower to CPU: frees 512 B, costs nothing measurable");
    row("vision tower, slow",
        moving(312, {Cost::TimePerImage, 0, 0.0123}, {{vision, vision_keys, cpu, cpu}}),
        "move model.vision_tower and model.embed_vision to cpu: frees 312.00 MiB, costs about 12 "
        "ms per image",
        "vision tower to CPU: frees 312 MiB, costs about 12 ms per image");
    row("both towers",
        moving(1024, {Cost::FilesPerMedia},
               {{audio, audio_keys, disk, cpu}, {vision, vision_keys, disk, DeviceId::sim(0)}}),
        "move model.audio_tower and model.embed_audio to disk (computed on cpu), move "
        "model.vision_tower and model.embed_vision to disk (computed on sim:0): frees 1.00 GiB, "
        "costs one read of the files per image or clip",
        "audio tower to Disk, computed on CPU, vision tower to Disk, computed on Simulated GPU 0: "
        "frees 1.0 GiB, costs one read of the files each time");
    row("one layer",
        moving(9, {Cost::TimePerToken, 0, 0.012},
               {{layersOf(9, 9), {"model.language_model.layers.9"}, cpu, cpu}}),
        "move layer 9 to cpu: frees 9.00 MiB, costs about 12 ms per token",
        "layer 9 to CPU: frees 9.0 MiB, costs about 12 ms per token");
    row("layers to disk",
        moving(570, {Cost::TimePerToken, 0, 1.2},
               {{layersOf(20, 34), {"model.language_model.layers.[20-34]"}, disk, cpu}}),
        "move layers 20-34 to disk (computed on cpu): frees 570.00 MiB, costs about 1.2 s per "
        "token",
        "layers 20 to 34 to Disk, computed on CPU: frees 570 MiB, costs about 1.2 s per token");
    PlanPart module = partOf(PlanPart::Kind::Module);
    module.module = "model.other";
    row("another part", moving(1, {Cost::OneRow}, {{module, {"model.other"}, cpu, cpu}}),
        "move model.other to cpu: frees 1.00 MiB, costs nothing measurable (one row per token)",
        "model.other to CPU: frees 1.0 MiB, costs nothing measurable");
    step = stepOf(3, {Cost::HeadAccuracy});
    step.is_head_int8 = true;
    row("head", step,
        "use --head int8: frees 3.00 MiB, costs some accuracy of the last layer; it is "
        "faster",
        "head in 8 bits: frees 3.0 MiB, costs some accuracy of the last layer; it is faster");
    step.moves = {{table, {kTable}, disk, cpu}};
    step.head_copy = {cpu, cpu};
    row("head and table", step,
        "use --head int8 and move model.language_model.embed_tokens to disk (computed on cpu), "
        "with lm_head kept as a copy of its own (\"lm_head\": {\"store\": \"cpu\", \"compute\": "
        "\"cpu\", \"duplicate_tied\": true}): frees 3.00 MiB, costs some accuracy of the last "
        "layer; it is faster",
        "head in 8 bits and token embedding to Disk, computed on CPU: frees 3.0 MiB, costs some "
        "accuracy of the last layer; it is faster");
    step = moving(3, {Cost::OneRow}, {{table, {kTable}, cpu, cpu}});
    step.head_copy = {DeviceId::sim(0), DeviceId::sim(0)};
    row("table of an own head", step,
        "move model.language_model.embed_tokens to cpu, with lm_head kept as a copy of its own "
        "(\"lm_head\": {\"store\": \"sim:0\", \"compute\": \"sim:0\", \"duplicate_tied\": true}): "
        "frees 3.00 MiB, costs nothing measurable (one row per token)",
        "token embedding to CPU (the head keeps its own copy): frees 3.0 MiB, costs nothing "
        "measurable");
    step = stepOf(10, {Cost::Accuracy});
    step.quant = "nf4";
    row("nf4", step, "use --quant nf4: frees 10.00 MiB, costs some accuracy; it is faster",
        "weights in 4 bits (NF4): frees 10.0 MiB, costs some accuracy; it is faster");
    step = stepOf(10, {Cost::LittleAccuracy});
    step.quant = "nf4-dq";
    row("nf4-dq", step, "use --quant nf4-dq: frees 10.00 MiB, costs a little more accuracy",
        "weights in 4 bits (NF4, double quantization): frees 10.0 MiB, costs a little more "
        "accuracy");
    step = stepOf(1024.0 * 1024, {Cost::HardlyAccuracy});
    step.quant = "fp4-dq";
    row("fp4-dq", step, "use --quant fp4-dq: frees 1.00 TiB, costs hardly any accuracy",
        "weights in 4 bits (FP4, double quantization): frees 1.0 TiB, costs hardly any accuracy");
    step = stepOf(1, {Cost::Conversation});
    step.context = 2048;
    row("context", step,
        "use a context of 2048 tokens: frees 1.00 MiB, costs memory of the conversation",
        "a context of 2,048 tokens: frees 1.0 MiB, costs memory of the conversation");
    step = stepOf(1, {Cost::PromptTime});
    step.prefill_chunk = 128;
    row("chunk", step,
        "use --prefill-chunk 128: frees 1.00 MiB, costs time until a long prompt is read",
        "read prompts in pieces of 128 tokens: frees 1.0 MiB, costs time until a long prompt is "
        "read");
    step = stepOf(1, {Cost::ImageDetail});
    step.image_tokens = 70;
    row("picture", step, "use --image-tokens 70: frees 1.00 MiB, costs detail of large images",
        "at most 70 tokens per picture: frees 1.0 MiB, costs detail of large pictures");
    row("a value of the map", engine::asItIs("sim:0"), "sim:0", "sim:0");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::SuggestionKinds>);
    QCOMPARE(costs.size(), static_cast<size_t>(Cost::HardlyAccuracy));
}

void TestPlanWords::everyFormOfAStep() {
    QFETCH(engine::Suggestion, step);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QCOMPARE(ui::fromUtf8(engine::inEnglish(step)), english);
    QCOMPARE(ui::suggestionWords(step), words);
    if (!std::holds_alternative<engine::Sentence>(step)) {
        app_test::checkOtherLanguages(words, [&] { return ui::suggestionWords(step); });
    }
}

/// The planner itself, so that a step which is worded anew there fails here.
void TestPlanWords::realPlans() {
    app::registerEngineTypes();
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    QVERIFY2(!options.demo_folder.empty(), "the demo model is not in this copy");
    const std::atomic<quint64> wanted{0};
    app::PlannerWorker planner(options, &wanted);
    std::shared_ptr<const engine::PlacementPlan> plan;
    connect(&planner, &app::PlannerWorker::planned, this,
            [&](quint64 /*ticket*/, const auto& made) { plan = made; });
    QSet<QString> kinds;
    QStringList raw;
    int plans = 0;
    const auto look = [&](const engine::LoadRequest& request) {
        plan.reset();
        planner.plan(1, request, {});
        if (plan == nullptr) {
            return; // such a request is refused as a whole
        }
        ++plans;
        const auto check = [&](const std::string& said, const QString& words) {
            kinds.insert(stepKind(ui::fromUtf8(said)));
            if (!isPlain(words)) {
                raw.append(ui::fromUtf8(said) + QStringLiteral(" -> ") + words);
            }
        };
        for (const auto* issues : {&plan->errors, &plan->warnings}) {
            for (const engine::PlanIssue& issue : *issues) {
                check(engine::inEnglish(issue), ui::issueWords(issue));
                for (const engine::Suggestion& step : issue.suggestions) {
                    check(engine::inEnglish(step), ui::suggestionWords(step));
                }
            }
        }
    };
    for (const char* map : {"gpu", "towers-cpu", "lean", "cpu", "fit"}) {
        for (const char* quant : {"none", "nf4", "fp4"}) {
            for (const uint64_t gpu : {1 * kMiB, 4 * kMiB, 20 * kMiB, 26 * kMiB, 33 * kMiB}) {
                for (const uint64_t cpu : {uint64_t{0}, 8 * kMiB, 30 * kMiB}) {
                    engine::LoadRequest request;
                    request.model = "demo";
                    request.device_map = map;
                    request.quant = quant;
                    request.context = gpu == 26 * kMiB ? 4096 : 1024;
                    request.sim_gpus = {gpu};
                    if (cpu > 0) {
                        request.limits = {{"cpu", cpu}};
                    }
                    look(request);
                }
            }
        }
    }
    // Parts apart from each other.
    engine::LoadRequest request;
    request.model = "demo";
    request.sim_gpus = {512 * kMiB};
    for (const char* map : {R"({"": "sim:0", "model.language_model.layers.8": "cpu"})",
                            R"({"": "sim:0", "model.language_model.layers.3.mlp": "cpu"})",
                            R"({"version": 1, "default": "sim:0", "kv": {"place": "cpu"}})"}) {
        request.device_map = map;
        look(request);
    }
    QVERIFY2(raw.isEmpty(), qPrintable(raw.join(QLatin1Char('\n'))));
    QVERIFY2(plans > 100, qPrintable(QString::number(plans)));
    QVERIFY2(kinds.size() >= 12, qPrintable(QStringList(kinds.values()).join(QLatin1Char('\n'))));
}

TEST_CLASS_WITH(QApplication, TestPlanWords)
#include "tst_plan_words.moc"
