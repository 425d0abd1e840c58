// SPDX-License-Identifier: Apache-2.0
// Everything that the planner says about too little memory has words in the window: plans of the
// demo model under many limits.
#include "app/common/program_paths.h"
#include "app/engines/engine_worker.h"
#include "app/window/planner_thread.h"
#include "engine/plan/plan_english.h"
#include "tests/app/other_languages.h"
#include "tests/support/program/test_class.h"
#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QLocale>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <atomic>
#include <functional>
#include <string_view>

constexpr uint64_t kMiB = uint64_t{1} << 20U;

class TestPlanWords : public QObject {
    Q_OBJECT

private Q_SLOTS:
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

/// Every step that the planner proposes, and every problem that it names, for such memories.
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
        const auto check = [&](const std::string& said, const std::function<QString()>& say) {
            const QString words = say();
            const qsizetype known = kinds.size();
            kinds.insert(stepKind(ui::fromUtf8(said)));
            if (!isPlain(words)) {
                raw.append(ui::fromUtf8(said) + QStringLiteral(" -> ") + words);
            }
            if (kinds.size() > known) {
                app_test::checkOtherLanguages(words, say);
            }
        };
        for (const auto* issues : {&plan->errors, &plan->warnings}) {
            for (const engine::PlanIssue& issue : *issues) {
                check(engine::inEnglish(issue), [&] { return ui::issueWords(issue); });
                for (const engine::Suggestion& step : issue.suggestions) {
                    if (std::string_view(step.words.pattern) == "%1") {
                        continue; // a text to put into the map has no language
                    }
                    check(engine::inEnglish(step), [&] { return ui::sentenceWords(step.words); });
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
