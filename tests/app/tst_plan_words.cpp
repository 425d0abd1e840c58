// SPDX-License-Identifier: Apache-2.0
// Everything that the planner says about too little memory has words in the window: plans of the
// demo model and of a published shape under many limits, and every form of a step by itself.
#include "app/engine_worker.h"
#include "app/planner_thread.h"
#include "app/program_paths.h"
#include "app/translations.h"
#include "ui/layout/issue_words.h"
#include "ui/layout/suggestion_words.h"
#include "ui/style/format.h"

#include <QLocale>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <QTranslator>

#include <atomic>
#include <functional>

constexpr uint64_t kMiB = uint64_t{1} << 20U;

class TestPlanWords : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyFormOfAStep_data();
    void everyFormOfAStep();
    void everyMessage_data();
    void everyMessage();
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

/// Says it again in the other languages of the program: nothing may stay English.
void checkOtherLanguages(const QString& english, const std::function<QString()>& say) {
    app::initTranslationResources();
    for (const QString& language : app::translatedLanguages()) {
        QTranslator translator;
        QVERIFY(translator.load(QStringLiteral(":/translations/belfry_%1.qm").arg(language)));
        QCoreApplication::installTranslator(&translator);
        QVERIFY2(say() != english, qPrintable(language + QStringLiteral(": ") + english));
        QCoreApplication::removeTranslator(&translator);
    }
}

} // namespace

void TestPlanWords::everyFormOfAStep_data() {
    QTest::addColumn<QString>("step");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* step, const char* words) {
        QTest::newRow(name) << QString::fromLatin1(step) << QString::fromUtf8(words);
    };
    row("table to the processor",
        "move model.language_model.embed_tokens_per_layer to cpu: frees 2.50 MiB, costs nothing "
        "measurable (one row of 1280 bytes per token)",
        "per-layer embeddings to CPU: frees 2.5 MiB, costs nothing measurable");
    row("table to disk",
        "move model.language_model.embed_tokens_per_layer to disk (computed on cpu): frees 2.50 "
        "MiB, costs one read of 1280 bytes per token (enough by itself)",
        "per-layer embeddings to Disk, computed on CPU: frees 2.5 MiB (enough by itself), costs "
        "one read of 1.3 KiB per token");
    row("audio tower",
        "move model.audio_tower and model.embed_audio to cpu: frees 12.00 MiB, costs about 1.8 s "
        "per 10 s of audio",
        "audio tower to CPU: frees 12.0 MiB, costs about 1.8 s per 10 s of sound");
    row("vision tower, fast",
        "move model.vision_tower and model.embed_vision to cpu: frees 512 bytes, costs less than "
        "1 ms per image",
        "vision tower to CPU: frees 512 B, costs nothing measurable");
    row("both towers",
        "move model.audio_tower and model.embed_audio to disk (computed on cpu), move "
        "model.vision_tower and model.embed_vision to disk (computed on sim:0): frees 1.00 GiB, "
        "costs one read of the files per image or clip",
        "audio tower to Disk, computed on CPU, vision tower to Disk, computed on Simulated GPU 0: "
        "frees 1.0 GiB, costs one read of the files each time");
    row("one layer", "move layer 9 to cpu: frees 9.00 MiB, costs about 12 ms per token",
        "layer 9 to CPU: frees 9.0 MiB, costs about 12 ms per token");
    row("layers to disk",
        "move layers 20-34 to disk (computed on cpu): frees 570.00 MiB, costs about 1.2 s per "
        "token",
        "layers 20 to 34 to Disk, computed on CPU: frees 570 MiB, costs about 1.2 s per token");
    row("head",
        "use --head int8: frees 3.00 MiB, costs some accuracy of the last layer; it is "
        "faster",
        "head in 8 bits: frees 3.0 MiB, costs some accuracy of the last layer; it is faster");
    row("head and table",
        "use --head int8 and move model.language_model.embed_tokens to disk (computed on cpu), "
        "with lm_head kept as a copy of its own (\"lm_head\": {\"store\": \"cpu\", \"compute\": "
        "\"cpu\", \"duplicate_tied\": true}): frees 3.00 MiB, costs some accuracy of the last "
        "layer; it is faster",
        "head in 8 bits and token embedding to Disk, computed on CPU: frees 3.0 MiB, costs some "
        "accuracy of the last layer; it is faster");
    row("table of an own head",
        "move model.language_model.embed_tokens to cpu, with lm_head kept as a copy of its own "
        "(\"lm_head\": {}): frees 3.00 MiB, costs nothing measurable (one row per token)",
        "token embedding to CPU (the head keeps its own copy): frees 3.0 MiB, costs nothing "
        "measurable");
    row("nf4", "use --quant nf4: frees 10.00 MiB, costs some accuracy; it is faster",
        "weights in 4 bits (NF4): frees 10.0 MiB, costs some accuracy; it is faster");
    row("nf4-dq", "use --quant nf4-dq: frees 10.00 MiB, costs a little more accuracy",
        "weights in 4 bits (NF4, double quantization): frees 10.0 MiB, costs a little more "
        "accuracy");
    row("fp4-dq", "use --quant fp4-dq: frees 1.00 TiB, costs hardly any accuracy",
        "weights in 4 bits (FP4, double quantization): frees 1.0 TiB, costs hardly any accuracy");
    row("context", "use a context of 2048 tokens: frees 1.00 MiB, costs memory of the conversation",
        "a context of 2,048 tokens: frees 1.0 MiB, costs memory of the conversation");
    row("chunk", "use --prefill-chunk 128: frees 1.00 MiB, costs time until a long prompt is read",
        "read prompts in pieces of 128 tokens: frees 1.0 MiB, costs time until a long prompt is "
        "read");
    row("picture", "use --image-tokens 70: frees 1.00 MiB, costs detail of large images",
        "at most 70 tokens per picture: frees 1.0 MiB, costs detail of large pictures");
    row("sum",
        "all of this together leaves 24.00 MiB, still 20.00 MiB too much: use a device with more "
        "memory or a smaller model, or raise the limit",
        "All of this together leaves 24.0 MiB, still 20.0 MiB too much. It takes a device with "
        "more memory, a smaller model, or a higher limit.");
    row("last resort", "use a device with more memory or a smaller model, or raise the limit",
        "a device with more memory, a smaller model, or a higher limit");
    row("last resort, no limit", "use a device with more memory or a smaller model",
        "a device with more memory or a smaller model");
    row("last resort, a reserve",
        "use a device with more memory or a smaller model, or lower the reserve",
        "a device with more memory, a smaller model, or a lower reserve");
    row("last resort, limit and reserve",
        "use a device with more memory or a smaller model, or raise the limit or lower the reserve",
        "a device with more memory, a smaller model, a higher limit, or a lower reserve");
}

void TestPlanWords::everyFormOfAStep() {
    QFETCH(QString, step);
    QFETCH(QString, words);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QCOMPARE(ui::suggestionWords(step.toStdString()), words);
    checkOtherLanguages(words, [&] { return ui::suggestionWords(step.toStdString()); });
}

void TestPlanWords::everyMessage_data() {
    QTest::addColumn<QString>("message");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* message, const char* words) {
        QTest::newRow(name) << QString::fromLatin1(message) << QString::fromUtf8(words);
    };
    row("over the limit",
        "sim:0 needs 36.01 MiB (37764356 bytes) but may use 4.00 MiB (4194304 bytes), 32.01 MiB "
        "too much (4.00 MiB by --limit). The largest parts: workspace 15.97 MiB, decoder layers "
        "0-9 8.97 MiB, KV cache "
        "of 4096 tokens 2.78 MiB, lm_head 2.50 MiB, model.audio_tower 2.45 MiB",
        "Simulated GPU 0 needs 36.0 MiB but may use 4.0 MiB: 32.0 MiB too much. The largest parts: "
        "workspace 16.0 MiB, layers 0–9 9.0 MiB, KV cache of 4,096 tokens 2.8 MiB, head 2.5 MiB, "
        "audio tower 2.4 MiB");
    row("over the host",
        "the memory of a simulated GPU is this computer's main memory: cpu 2.00 GiB + sim:0 1.00 "
        "GiB need 3.00 GiB (3221225472 bytes) of it together but may use 2.00 GiB (2147483648 "
        "bytes), 1.00 GiB too much (2.00 GiB free). The largest parts: decoder layers 0-9 on sim:0 "
        "1.00 GiB, "
        "room for visiting weights on cpu 512 bytes",
        "The memory of a simulated GPU is this computer's main memory: CPU 2.0 GiB + Simulated GPU "
        "0 1.0 GiB need 3.0 GiB of it together but may use 2.0 GiB, 1.0 GiB too much. The largest "
        "parts: layers 0–9 on Simulated GPU 0 1.0 GiB, room for visiting weights on CPU 512 B");
    row("over the limit that a map lowers",
        "sim:0 needs 3.00 MiB (3145728 bytes) but may use 1.00 MiB (1048576 bytes), 2.00 MiB too "
        "much (4.00 MiB free, less 3.00 MiB that the map reserves). The largest parts: lm_head "
        "2.50 MiB",
        "Simulated GPU 0 needs 3.0 MiB but may use 1.0 MiB (the map keeps 3.0 MiB free): 2.0 MiB "
        "too much. The largest parts: head 2.5 MiB");
    row("over the host, less a reserve",
        "the memory of a simulated GPU is this computer's main memory: cpu 2.00 GiB + sim:0 1.00 "
        "GiB need 3.00 GiB (3221225472 bytes) of it together but may use 2.00 GiB (2147483648 "
        "bytes), 1.00 GiB too much (2.50 GiB free, less 512.00 MiB that the map reserves). The "
        "largest parts: lm_head on sim:0 1.00 GiB",
        "The memory of a simulated GPU is this computer's main memory: CPU 2.0 GiB + Simulated GPU "
        "0 1.0 GiB need 3.0 GiB of it together but may use 2.0 GiB (the map keeps 512 MiB free), "
        "1.0 GiB too much. The largest parts: head on Simulated GPU 0 1.0 GiB");
    row("split layer",
        "layer 3 computes on sim:0 and cpu: 1024 bytes travel per token inside it; keeping a "
        "layer's weights together avoids that",
        "Layer 3 computes on Simulated GPU 0 + CPU: 1.0 KiB travel per token inside it. Keeping "
        "its weights together avoids that.");
    row("split layers",
        "layers 3-5 compute on sim:0 and cpu: 1024 bytes travel per token inside them; keeping a "
        "layer's weights together avoids that",
        "Layers 3–5 compute on Simulated GPU 0 + CPU: 1.0 KiB travel per token inside a layer. "
        "Keeping a layer's weights together avoids that.");
    row("mirror of one",
        "layer 9 on cpu reads the keys and values of layer 4 on sim:0: 512 bytes per token go to "
        "a mirror there",
        "Layer 9 on CPU reads the keys and values of layer 4 on Simulated GPU 0: 512 B per token "
        "go to a mirror there.");
    row("cache of one elsewhere",
        "layer 9 on sim:0 reads keys and values kept on cpu: 2048 bytes per token travel for it",
        "Layer 9 on Simulated GPU 0 reads keys and values kept on CPU: 2.0 KiB per token travel "
        "for it.");
    row("mirror",
        "layers 6-7, 9 on cpu read the keys and values of layer 5 on sim:0: 512 bytes per token go "
        "to a mirror there",
        "Layers 6–7, 9 on CPU read the keys and values of layer 5 on Simulated GPU 0: 512 B per "
        "token go to a mirror there.");
    row("cache elsewhere",
        "layers 6-9 on sim:0 read keys and values kept on cpu: 2048 bytes per token travel for it",
        "Layers 6–9 on Simulated GPU 0 read keys and values kept on CPU: 2.0 KiB per token travel "
        "for it.");
    row("unknown device", "--limit names cuda:3, which this machine does not have",
        "There is a limit for GPU 3, which this computer does not have.");
    row("new to the window", "something that was never said", "something that was never said");
}

void TestPlanWords::everyMessage() {
    QFETCH(QString, message);
    QFETCH(QString, words);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    engine::PlanIssue issue;
    issue.message = message.toStdString();
    QCOMPARE(ui::issueWords(issue), words);
    if (words != message) {
        checkOtherLanguages(words, [&] { return ui::issueWords(issue); });
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
            kinds.insert(kindOf(ui::fromUtf8(said)));
            if (words == ui::fromUtf8(said) || !isPlain(words)) {
                raw.append(ui::fromUtf8(said) + QStringLiteral(" -> ") + words);
            }
        };
        for (const auto* issues : {&plan->errors, &plan->warnings}) {
            for (const engine::PlanIssue& issue : *issues) {
                check(issue.message, ui::issueWords(issue));
                for (const std::string& step : issue.suggestions) {
                    check(step, ui::suggestionWords(step));
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
