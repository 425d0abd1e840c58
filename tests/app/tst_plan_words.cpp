// SPDX-License-Identifier: Apache-2.0
// Everything that the planner says about too little memory has words in the window: plans of the
// demo model and of a published shape under many limits, and every form of a step by itself.
#include "app/engine_worker.h"
#include "app/planner_thread.h"
#include "app/program_paths.h"
#include "engine/plan/plan_english.h"
#include "tests/app/map_messages.h"
#include "tests/app/other_languages.h"
#include "ui/common/issue_words.h"
#include "ui/common/note_words.h"
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
    void everyMessage_data();
    void everyMessage();
    void everyNote_data();
    void everyNote();
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
QString kindOf(QString step) {
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
    row("sum", engine::StepsTogether{24 * kMiB, 20 * kMiB, {true, false}},
        "all of this together leaves 24.00 MiB, still 20.00 MiB too much: use a device with more "
        "memory or a smaller model, or raise the limit",
        "All of this together leaves 24.0 MiB, still 20.0 MiB too much. It takes a device with "
        "more memory, a smaller model, or a higher limit.");
    row("last resort", engine::LastResort{true, false},
        "use a device with more memory or a smaller model, or raise the limit",
        "a device with more memory, a smaller model, or a higher limit");
    row("last resort, no limit", engine::LastResort(),
        "use a device with more memory or a smaller model",
        "a device with more memory or a smaller model");
    row("last resort, a reserve", engine::LastResort{false, true},
        "use a device with more memory or a smaller model, or lower the reserve",
        "a device with more memory, a smaller model, or a lower reserve");
    row("last resort, limit and reserve", engine::LastResort{true, true},
        "use a device with more memory or a smaller model, or raise the limit or lower the reserve",
        "a device with more memory, a smaller model, a higher limit, or a lower reserve");
    row("a value of the map", engine::MapValue{"sim:0"}, "sim:0", "sim:0");
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
    if (!std::holds_alternative<engine::MapValue>(step)) {
        app_test::checkOtherLanguages(words, [&] { return ui::suggestionWords(step); });
    }
}

namespace {

using namespace engine::issue;
using namespace engine::note;

engine::PartShare share(const PlanPart& part, double mib) {
    return {part, static_cast<uint64_t>(mib * static_cast<double>(kMiB))};
}

engine::MemoryBound boundOf(engine::MemoryBound::By by, uint64_t whole, uint64_t reserve = 0) {
    return {by, whole, reserve};
}

engine::CardTrouble
trouble(engine::CardTrouble::Kind kind, const char* found = "", const char* needed = "") {
    return {kind, "as the driver's table words it.", DeviceId::cuda(1), "Old", found, needed};
}

} // namespace

void TestPlanWords::everyMessage_data() {
    QTest::addColumn<engine::Finding>("finding");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("words");
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const engine::Finding& finding, const char* english,
                              const char* words) {
        kinds.insert(finding.index());
        QTest::newRow(name) << finding << QString::fromLatin1(english) << QString::fromUtf8(words);
    };
    using By = engine::MemoryBound::By;
    const DeviceId cpu = DeviceId::cpu();
    const DeviceId sim = DeviceId::sim(0);
    PlanPart kv = partOf(PlanPart::Kind::KvCache);
    kv.tokens = 4096;
    PlanPart head = partOf(PlanPart::Kind::Head);
    head.module = "lm_head";
    PlanPart audio = partOf(PlanPart::Kind::AudioTower);
    audio.module = "model.audio_tower";
    const PlanPart workspace = partOf(PlanPart::Kind::Workspace);
    row("over the limit",
        OverLimit{sim,
                  37764356,
                  4 * kMiB,
                  boundOf(By::Option, 4 * kMiB),
                  {share(workspace, 15.97), share(layersOf(0, 9), 8.97), share(kv, 2.78),
                   share(head, 2.5), share(audio, 2.449)}},
        "sim:0 needs 36.01 MiB (37764356 bytes) but may use 4.00 MiB (4194304 bytes), 32.01 MiB "
        "too much (4.00 MiB by --limit). The largest parts: workspace 15.97 MiB, decoder layers "
        "0-9 8.97 MiB, KV cache of 4096 tokens 2.78 MiB, lm_head 2.50 MiB, model.audio_tower 2.45 "
        "MiB",
        "Simulated GPU 0 needs 36.0 MiB but may use 4.0 MiB: 32.0 MiB too much. The largest parts: "
        "workspace 16.0 MiB, layers 0–9 9.0 MiB, KV cache of 4,096 tokens 2.8 MiB, head 2.5 MiB, "
        "audio tower 2.4 MiB");
    engine::PartShare layers = share(layersOf(0, 9), 1024);
    layers.device = sim;
    engine::PartShare room = {partOf(PlanPart::Kind::VisitingRoom), 512, cpu};
    row("over the host",
        OverHost{{{cpu, 2048 * kMiB}, {sim, 1024 * kMiB}},
                 3072 * kMiB,
                 2048 * kMiB,
                 boundOf(By::Free, 2048 * kMiB),
                 {layers, room}},
        "the memory of a simulated GPU is this computer's main memory: cpu 2.00 GiB + sim:0 1.00 "
        "GiB need 3.00 GiB (3221225472 bytes) of it together but may use 2.00 GiB (2147483648 "
        "bytes), 1.00 GiB too much (2.00 GiB free). The largest parts: decoder layers 0-9 on sim:0 "
        "1.00 GiB, room for visiting weights on cpu 512 bytes",
        "The memory of a simulated GPU is this computer's main memory: CPU 2.0 GiB + Simulated GPU "
        "0 1.0 GiB need 3.0 GiB of it together but may use 2.0 GiB, 1.0 GiB too much. The largest "
        "parts: layers 0–9 on Simulated GPU 0 1.0 GiB, room for visiting weights on CPU 512 B");
    row("over the limit that a map lowers",
        OverLimit{sim, 3 * kMiB, kMiB, boundOf(By::Free, 4 * kMiB, 3 * kMiB), {share(head, 2.5)}},
        "sim:0 needs 3.00 MiB (3145728 bytes) but may use 1.00 MiB (1048576 bytes), 2.00 MiB too "
        "much (4.00 MiB free, less 3.00 MiB that the map reserves). The largest parts: lm_head "
        "2.50 MiB",
        "Simulated GPU 0 needs 3.0 MiB but may use 1.0 MiB (the map keeps 3.0 MiB free): 2.0 MiB "
        "too much. The largest parts: head 2.5 MiB");
    engine::PartShare own = share(head, 1024);
    own.device = sim;
    row("over the host, less a reserve",
        OverHost{{{cpu, 2048 * kMiB}, {sim, 1024 * kMiB}},
                 3072 * kMiB,
                 2048 * kMiB,
                 boundOf(By::Free, 2560 * kMiB, 512 * kMiB),
                 {own}},
        "the memory of a simulated GPU is this computer's main memory: cpu 2.00 GiB + sim:0 1.00 "
        "GiB need 3.00 GiB (3221225472 bytes) of it together but may use 2.00 GiB (2147483648 "
        "bytes), 1.00 GiB too much (2.50 GiB free, less 512.00 MiB that the map reserves). The "
        "largest parts: lm_head on sim:0 1.00 GiB",
        "The memory of a simulated GPU is this computer's main memory: CPU 2.0 GiB + Simulated GPU "
        "0 1.0 GiB need 3.0 GiB of it together but may use 2.0 GiB (the map keeps 512 MiB free), "
        "1.0 GiB too much. The largest parts: head on Simulated GPU 0 1.0 GiB");
    row("split layer", SplitLayers{{3}, {sim, cpu}, 1024},
        "layer 3 computes on sim:0 and cpu: 1024 bytes travel per token inside it; keeping a "
        "layer's weights together avoids that",
        "Layer 3 computes on Simulated GPU 0 + CPU: 1.0 KiB travel per token inside it. Keeping "
        "its weights together avoids that.");
    row("split layers", SplitLayers{{3, 4, 5}, {sim, cpu}, 1024},
        "layers 3-5 compute on sim:0 and cpu: 1024 bytes travel per token inside them; keeping a "
        "layer's weights together avoids that",
        "Layers 3–5 compute on Simulated GPU 0 + CPU: 1.0 KiB travel per token inside a layer. "
        "Keeping a layer's weights together avoids that.");
    row("mirror of one", KvMirrored{{9}, cpu, 4, sim, 512},
        "layer 9 on cpu reads the keys and values of layer 4 on sim:0: 512 bytes per token go to "
        "a mirror there",
        "Layer 9 on CPU reads the keys and values of layer 4 on Simulated GPU 0: 512 B per token "
        "go to a mirror there.");
    row("cache of one elsewhere", KvElsewhere{{9}, sim, cpu, 2048},
        "layer 9 on sim:0 reads keys and values kept on cpu: 2048 bytes per token travel for it",
        "Layer 9 on Simulated GPU 0 reads keys and values kept on CPU: 2.0 KiB per token travel "
        "for it.");
    row("mirror", KvMirrored{{6, 7, 9}, cpu, 5, sim, 512},
        "layers 6-7, 9 on cpu read the keys and values of layer 5 on sim:0: 512 bytes per token go "
        "to a mirror there",
        "Layers 6–7, 9 on CPU read the keys and values of layer 5 on Simulated GPU 0: 512 B per "
        "token go to a mirror there.");
    row("cache elsewhere", KvElsewhere{{6, 7, 8, 9}, sim, cpu, 2048},
        "layers 6-9 on sim:0 read keys and values kept on cpu: 2048 bytes per token travel for it",
        "Layers 6–9 on Simulated GPU 0 read keys and values kept on CPU: 2.0 KiB per token travel "
        "for it.");
    row("limit of an unknown device", LimitWithoutDevice{DeviceId::cuda(3)},
        "--limit names cuda:3, which this machine does not have",
        "There is a limit for GPU 3, which this computer does not have.");
    row("unknown device", NoDevice{"lm_head", DeviceId::cuda(1), {sim}},
        "\"lm_head\" names cuda:1, which this machine does not have; it has sim:0, cpu and disk",
        "\"lm_head\" names GPU 1, which this machine does not have; it has Simulated GPU 0, CPU "
        "and disk.");
    row("card", trouble(engine::CardTrouble::Kind::OldDriver, "11.4", "12.0"),
        "as the driver's table words it.",
        "The NVIDIA driver is too old: it supports CUDA 11.4, Belfry needs 12.0 or newer. Update "
        "the driver to use the graphics card.");
    app_test::addMapFindings(row);
    QCOMPARE(kinds.size(), std::variant_size_v<engine::FindingKinds>);
}

void TestPlanWords::everyMessage() {
    QFETCH(engine::Finding, finding);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    engine::PlanIssue issue;
    issue.finding = finding;
    QCOMPARE(ui::fromUtf8(engine::inEnglish(issue)), english);
    QCOMPARE(ui::issueWords(issue), words);
    app_test::checkOtherLanguages(words, [&] { return ui::issueWords(issue); });
    issue.is_python = true;
    QVERIFY(engine::inEnglish(issue).ends_with("put double quotes around keys and values"));
    QVERIFY(
        ui::issueWords(issue).endsWith(QStringLiteral("double quotes around keys and values.")));
    issue.is_python = false;
    issue.reasons = {trouble(engine::CardTrouble::Kind::NoDriver)};
    QCOMPARE(ui::fromUtf8(engine::inEnglish(issue)),
             english +
                 (english.endsWith(QLatin1Char('.')) ? QStringLiteral(" ") : QStringLiteral(". ")) +
                 QStringLiteral("as the driver's table words it."));
    QVERIFY(ui::issueWords(issue).endsWith(
        QStringLiteral(". This computer has no NVIDIA driver: everything runs on the processor.")));
}

void TestPlanWords::everyNote_data() {
    QTest::addColumn<engine::Note>("note");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("words");
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const engine::Note& note, const char* english,
                              const char* words) {
        kinds.insert(note.index());
        QTest::newRow(name) << note << QString::fromLatin1(english) << QString::fromUtf8(words);
    };
    const DeviceId cpu = DeviceId::cpu();
    const DeviceId sim = DeviceId::sim(0);
    const Freed freed = {sim, 5 * kMiB, 40 * kMiB};
    using Verdict = FitStart::Verdict;
    row("it fits", FitStart{sim, 3 * kMiB, 4 * kMiB, Verdict::Fits},
        "everything on sim:0 needs 3.00 MiB of 4.00 MiB: it fits",
        "everything on Simulated GPU 0 needs 3.0 MiB of 4.0 MiB: it fits");
    row("too much", FitStart{cpu, 3 * kMiB, 2 * kMiB, Verdict::TooMuch},
        "everything on cpu needs 3.00 MiB of 2.00 MiB: too much",
        "everything on CPU needs 3.0 MiB of 2.0 MiB: too much");
    row("more than the host", FitStart{sim, 3 * kMiB, {}, Verdict::MoreThanHost},
        "everything on sim:0 needs 3.00 MiB of unbounded memory: more than this computer's memory, "
        "which simulated GPUs take theirs from",
        "everything on Simulated GPU 0 needs 3.0 MiB of unbounded memory: more than this "
        "computer's memory, which simulated GPUs take theirs from");
    row("order", FitOrder{},
        "what costs nothing per token moves first (tables), then what costs only with media "
        "(towers), then what every token reads (head and layers)",
        "what costs nothing per token moves first (tables), then what costs only with media "
        "(towers), then what every token reads (head and layers)");
    row("per-layer table", FitTable{true, cpu, freed, 17920},
        "per-layer embedding table to cpu: 5.00 MiB less on sim:0 (40.00 MiB remain); one row of "
        "17920 bytes per token, not measurable",
        "per-layer embedding table to CPU: 5.0 MiB less on Simulated GPU 0 (40.0 MiB remain); one "
        "row of 17.5 KiB per token, not measurable");
    row("token table of another card", FitTable{false, cpu, {sim, 0, kMiB}, 512},
        "token embedding (the head has its own copy) to cpu: one row of 512 bytes per token, not "
        "measurable",
        "token embedding (the head has its own copy) to CPU: one row of 512 B per token, not "
        "measurable");
    row("audio tower", FitTower{true, cpu, freed, 1.23, 0.0042},
        "audio tower to cpu: 5.00 MiB less on sim:0 (40.00 MiB remain); costs only with media: 10 "
        "s of sound take about 1.2 s instead of 4.2 ms",
        "audio tower to CPU: 5.0 MiB less on Simulated GPU 0 (40.0 MiB remain); costs only with "
        "media: 10 s of sound take about 1.2 s instead of 4.2 ms");
    row("vision tower", FitTower{false, cpu, freed, 0.0421, 0.0042},
        "vision tower to cpu: 5.00 MiB less on sim:0 (40.00 MiB remain); costs only with media: an "
        "image takes about 42.1 ms instead of 4.2 ms",
        "vision tower to CPU: 5.0 MiB less on Simulated GPU 0 (40.0 MiB remain); costs only with "
        "media: an image takes about 42.1 ms instead of 4.2 ms");
    row("head in 8 bits", FitFormats{"", "int8", freed},
        "head in int8: 5.00 MiB less on sim:0 (40.00 MiB remain); some accuracy for speed, before "
        "what every token reads leaves; --head bf16 keeps the head as it is stored",
        "head in 8 bits: 5.0 MiB less on Simulated GPU 0 (40.0 MiB remain); some accuracy for "
        "speed, before what every token reads leaves");
    row("both formats", FitFormats{"nf4", "nf4", freed},
        "linear weights in nf4, head in nf4: 5.00 MiB less on sim:0 (40.00 MiB remain); some "
        "accuracy for speed, before what every token reads leaves; --head bf16 keeps the head as "
        "it is stored",
        "linear weights in 4 bits (NF4), head in 4 bits (NF4): 5.0 MiB less on Simulated GPU 0 "
        "(40.0 MiB remain); some accuracy for speed, before what every token reads leaves");
    row("head", FitHead{cpu, freed, 0.003},
        "head to cpu: 5.00 MiB less on sim:0 (40.00 MiB remain); it is read whole for every token, "
        "about 3 ms more per token",
        "head to CPU: 5.0 MiB less on Simulated GPU 0 (40.0 MiB remain); it is read whole for "
        "every token, about 3 ms more per token");
    row("head, not slower", FitHead{cpu, freed, 0},
        "head to cpu: 5.00 MiB less on sim:0 (40.00 MiB remain); it is read whole for every token",
        "head to CPU: 5.0 MiB less on Simulated GPU 0 (40.0 MiB remain); it is read whole for "
        "every token");
    row("layers", FitLayers{3, 9, cpu, freed, 0.0031},
        "layers 3-9 on cpu, one block, so that the state changes device once: 5.00 MiB less on "
        "sim:0 (40.00 MiB remain); every token reads them, about 3.1 ms more per token",
        "layers 3-9 on CPU, one block, so that the state changes device once: 5.0 MiB less on "
        "Simulated GPU 0 (40.0 MiB remain); every token reads them, about 3.1 ms more per token");
    row("layers, not slower", FitLayers{3, 9, cpu, {sim, 0, 0}, 0},
        "layers 3-9 on cpu, one block, so that the state changes device once: every token reads "
        "them",
        "layers 3-9 on CPU, one block, so that the state changes device once: every token reads "
        "them");
    row("too large", FitTooLarge{kMiB},
        "even this leanest plan is 1.00 MiB over the limits; it keeps layers in memory: on disk, "
        "read anew for every token, only a map puts them",
        "even this leanest plan is 1.0 MiB over the limits; it keeps layers in memory: on disk, "
        "read anew for every token, only a map puts them");
    row("speed", FitSpeed{35.04, DeviceId::cuda(0), 120, false},
        "weighed with about 35 tokens/s (everything on cuda:0: 120)",
        "weighed with about 35 tokens/s (everything on GPU 0: 120)");
    row("speed, slower there", FitSpeed{120, DeviceId::cuda(0), 35, false},
        "weighed with about 120 tokens/s (everything on cuda:0: 35); what is elsewhere is computed "
        "faster there",
        "weighed with about 120 tokens/s (everything on GPU 0: 35); what is elsewhere is computed "
        "faster there");
    row("speed, simulated", FitSpeed{35.04, sim, 120, true},
        "weighed with about 35 tokens/s (everything on sim:0: 120); a simulated GPU is weighed as "
        "the mid-range card it stands for, so that the choice is the card's; what it computes here "
        "has this processor's speed",
        "weighed with about 35 tokens/s (everything on Simulated GPU 0: 120); a simulated GPU is "
        "weighed as the mid-range card it stands for, so that the choice is the card's; what it "
        "computes here has this processor's speed");
    row("four bits", FourBits{12},
        "linear weights stay as they are stored, because no --quant was given; with --quant nf4 it "
        "would be about 12 tokens/s",
        "The weights stay as they are stored. In 4 bits it would be about 12 tokens/s.");
    row("context", ContextCut{200000, 131072},
        "a context of 200000 tokens is more than the model has positions for; planned with 131072",
        "A context of 200,000 tokens is more than the model can take; planned with 131,072.");
    row("made at every use", MadeAtEveryUse{1200},
        "1200 quantized weights stored on disk are made from the checkpoint at every use; a cache "
        "keeps them as they are (--cache FOLDER)",
        "1,200 quantized weights on disk are made anew at every use. “Keep quantized copies” in "
        "the settings avoids that.");
    row("limit of the disk", DiskHasNoLimit{false},
        "limits.disk has no effect: what is stored on disk stays in the model's own files, which "
        "need no more room",
        "limits.disk has no effect: what is stored on disk stays in the model's own files, which "
        "need no more room");
    row("adapter", AdapterNotCounted{"a.weight"},
        "adapter weights for a.weight are not counted: the plan has no such tensor",
        "adapter weights for a.weight are not counted: the plan has no such tensor");
    row("one replacement", ReplacementsStay{1},
        "the adapter replaces 1 weight that travels to its device; its replacement stays there "
        "(only A and B follow)",
        "the adapter replaces 1 weight that travels to its device; its replacement stays there "
        "(only A and B follow)");
    row("replacements", ReplacementsStay{3},
        "the adapter replaces 3 weights that travel to their device; their replacements stay there "
        "(only A and B follow)",
        "the adapter replaces 3 weights that travel to their device; their replacements stay there "
        "(only A and B follow)");
    row("packed head", HeadStaysPacked{"nf4"},
        "--head has no effect: the checkpoint holds the head packed as nf4, and it stays so",
        "The format of the head has no effect: the checkpoint holds the head packed as nf4, and it "
        "stays so");
    row("head is the table", HeadIsTable{},
        "--head has no effect: the map gives embed_tokens a format, and the head is the same table",
        "The format of the head has no effect: the map gives embed_tokens a format, and the head "
        "is the same table");
    row("two copies", TwoCopies{},
        "lm_head and embed_tokens are one tensor in the checkpoint; the map puts them on different "
        "devices, so there are two copies",
        "lm_head and embed_tokens are one tensor in the checkpoint; the map puts them on different "
        "devices, so there are two copies");
    row("tied field", TiedFieldIdle{"pin", {SetBy::Kind::Key, "lm_head"}, "the.table"},
        "pin given by the key \"lm_head\" has no effect: lm_head is the table of embed_tokens; "
        "give it to the.table, or ask for two copies with \"duplicate_tied\": true",
        "pin given by the key \"lm_head\" has no effect: lm_head is the table of embed_tokens; "
        "give it to the.table, or ask for two copies with \"duplicate_tied\": true");
    const auto idle = [&row](const char* name, SetBy::Kind by, const char* words) {
        const std::string text =
            std::string("residency given by ") + words +
            " has no effect where store and compute are the same device (1 tensor: a.weight)";
        row(name, ResidencyIdle{{by, ""}, {1, "a.weight"}}, text.c_str(), text.c_str());
    };
    idle("idle, default", SetBy::Kind::Default, "default");
    idle("idle, empty key", SetBy::Kind::EmptyKey, "the key \"\"");
    idle("idle, rules", SetBy::Kind::Rules, "the rules");
    idle("idle, options", SetBy::Kind::Options, "the load options");
    row("packed weights", PackedStays{3},
        "3 weights of the checkpoint are packed in 4 bits already and stay as stored; --quant "
        "applies to the others",
        "3 weights of the checkpoint are packed in 4 bits already and stay as stored; “Weights” "
        "applies to the others");
    row("not in the files", NotInFiles{{2, "a.weight"}},
        "not in the files, planned as bf16: 2 tensors, the first: a.weight",
        "not in the files, planned as bf16: 2 tensors, the first: a.weight");
    row("translated", KeysTranslated{{{"a", "b"}}, 3},
        "keys translated to our names: \"a\" -> \"b\" and 2 more",
        "keys translated to our names: \"a\" -> \"b\" and 2 more");
    row("idle keys", KeysIdle{{{"a", false}, {"b", true}}, 2},
        "keys without effect (no tensors that are used lie there): a, b (its layer reads another "
        "layer's keys and values)",
        "keys without effect (no tensors that are used lie there): a, b (its layer reads another "
        "layer's keys and values)");
    row("conflicts", ManyConflicts{500},
        "more than 500 pairs of keys contradict each other; only the first are listed",
        "more than 500 pairs of keys contradict each other; only the first are listed");
    row("rates", MeasuredRates{24.4e9, 611e9},
        "speeds are estimates from rates measured on this computer: memory is read with 24 GB/s, "
        "products run at 611 GFLOP/s",
        "speeds are estimates from rates measured on this computer: memory is read with 24 GB/s, "
        "products run at 611 GFLOP/s");
    row("driver", DriverAssumed{DeviceId::cuda(0)},
        "cuda:0: what the driver takes for itself is assumed, not measured (the management "
        "library, NVML, does not tell)",
        "GPU 0: what the driver takes for itself is assumed, not measured (the management library, "
        "NVML, does not tell)");
    row("the files", engine::ModelOddity{engine::odd::SingleFileUsed{}},
        "both model.safetensors and model.safetensors.index.json exist; the single file is used",
        "There is one file of weights and an index of several. The single file is used.");
    using Kind = engine::CardTrouble::Kind;
    const auto card = [&](const char* name, Kind kind, const char* words) {
        row(name, trouble(kind, "X", "Y"), "as the driver's table words it.", words);
    };
    card("no driver", Kind::NoDriver,
         "This computer has no NVIDIA driver: everything runs on the processor.");
    card("no card", Kind::NoCard,
         "The NVIDIA driver sees no graphics card: everything runs on the processor.");
    card("no kernels", Kind::NoKernels,
         "This build of Belfry is one without graphics cards: everything runs on the processor.");
    card("old driver", Kind::OldDriver,
         "The NVIDIA driver is too old: it supports CUDA X, Belfry needs Y or newer. Update the "
         "driver to use the graphics card.");
    card("driver lacks", Kind::DriverLacks,
         "The NVIDIA driver lacks the function X. Update the driver to use the graphics card.");
    card("driver fails", Kind::DriverFails,
         "The NVIDIA driver does not start (X). Restart the computer, or install the driver again, "
         "to use the graphics card.");
    card("old card", Kind::OldCard,
         "GPU 1 (Old) is too old to be used: it has compute capability X, Belfry needs Y or "
         "newer.");
    card("silent card", Kind::SilentCard,
         "GPU 1 (Old) does not answer and is not used. Restart Belfry, and the computer if that "
         "does not help.");
    card("lost card", Kind::LostCard,
         "GPU 1 (Old) is lost to this run of Belfry (X). Restart Belfry to use it.");
    card("no answer", Kind::CardNoAnswer,
         "GPU 1 does not answer the driver (X). Restart the computer to use it.");
    card("driver crashes", Kind::DriverCrashes,
         "The NVIDIA driver crashed when it was asked for its graphics cards (Old: X). Restart the "
         "computer, or install the driver again, to use the graphics card.");
    card("driver hangs", Kind::DriverHangs,
         "The NVIDIA driver did not tell its graphics cards within X s (Old). Restart the "
         "computer, or install the driver again, to use the graphics card.");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::NoteKinds>);
}

void TestPlanWords::everyNote() {
    QFETCH(engine::Note, note);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QCOMPARE(ui::fromUtf8(engine::inEnglish(note)), english);
    QCOMPARE(ui::noteWords(note), words);
    app_test::checkOtherLanguages(words, [&] { return ui::noteWords(note); });
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
            kinds.insert(kindOf(ui::fromUtf8(said)));
            if (words == ui::fromUtf8(said) || !isPlain(words)) {
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

QTEST_MAIN(TestPlanWords)
#include "tst_plan_words.moc"
