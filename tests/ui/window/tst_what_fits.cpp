// SPDX-License-Identifier: Apache-2.0
// The page "What fits" in the real window, with the real planner: every precision has its lines,
// bytes are those of the plans, what is known of the quality stands beside them, closing the page
// ends the planning, keys and mouse make the plan of a point, and both copies hold what is drawn.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "ui/explore/fit_chart.h"
#include "ui/explore/fit_page.h"
#include "ui/layout/card_box.h"
#include "ui/library/get_page.h"
#include "ui/library/models_page.h"
#include "ui/model/model_panel.h"
#include "ui/style/format.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QTemporaryDir>

using State = ui::FitPoint::State;
using support::kGiB;
using support::Program;

namespace {

const QString kE2b = QStringLiteral("shape:E2B");

ui::FitPage& open(Program& program, const QString& model, const char* card) {
    ui::FitPage& page = *program.window->fitPage();
    program.find<QAction>("action_whatFits")->trigger();
    auto* cards = program.find<ui::CardBox>("fitCard");
    cards->choose(ui::listedComputer(QString::fromUtf8(card)));
    page.selectModel(model);
    return page;
}

bool isWhole(const ui::FitPage& page) {
    return QTest::qWaitFor(
        [&] { return !page.grid().lines().empty() && !page.grid().next().has_value(); }, 120000);
}

size_t lineOf(const ui::FitGrid& grid, const char* quant, const char* kv) {
    for (size_t i = 0; i < grid.lines().size(); ++i) {
        if (grid.lines()[i].quant == QLatin1String(quant) &&
            grid.lines()[i].kv == QLatin1String(kv)) {
            return i;
        }
    }
    return grid.lines().size();
}

} // namespace

class TestWhatFits : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void linesAreThePlans();
    void hiddenItPlansNothing();
    void aPointBecomesThePlan();
    void offersKeepTheirOptions();
};

void TestWhatFits::linesAreThePlans() {
    QTemporaryDir folder;
    Program program(folder.path());
    ui::FitPage& page = open(program, kE2b, "RTX 4060");
    QVERIFY(isWhole(page));
    const ui::FitGrid& grid = page.grid();
    const QStringList quants = ui::quantOptions(false);
    QCOMPARE(grid.lines().size(), static_cast<size_t>(2 * quants.size()));
    QCOMPARE(grid.contexts().back(), qint64{131072});
    for (const ui::FitLine& line : grid.lines()) {
        quint64 before = 0;
        for (const auto& point : line.points) {
            QVERIFY(point.has_value());
            QVERIFY(point->parts.total() > before); // it grows with the context
            before = point->parts.total();
            QCOMPARE(point->state == State::Fits, before <= point->limit);
            QCOMPARE(point->tokens_per_s > 0, point->state != State::DoesNotFit);
        }
    }
    const auto total = [&](const char* quant, const char* kv, size_t context) {
        return grid.point({lineOf(grid, quant, kv), context})->parts.total();
    };
    QVERIFY(total("nf4-dq", "bf16", 2) < total("nf4", "bf16", 2));
    QVERIFY(total("nf4", "bf16", 2) < total("none", "bf16", 2));
    QVERIFY(total("nf4", "q8", 6) < total("nf4", "bf16", 6));
    // The bytes of a point are those of its plan.
    engine::LoadRequest request;
    request.model = kE2b.toStdString();
    request.device_map = "gpu";
    request.quant = "nf4";
    request.kv = "q8";
    request.context = grid.contexts()[3];
    request.what_if = ui::devicesOf(ui::listedComputer(QStringLiteral("RTX 4060")));
    engine::Engine engine;
    const auto plan = engine.plan(request);
    QVERIFY(plan.has_value());
    const ui::FitPoint& point = *grid.point({lineOf(grid, "nf4", "q8"), 3});
    for (const engine::DevicePlan& device : plan->devices) {
        if (device.id.isGpu()) {
            QVERIFY(point.parts == device.parts);
            QCOMPARE(point.limit, device.limit);
        }
    }
    QCOMPARE(point.tokens_per_s, plan->estimate.decode_tokens_per_s);
    // What compare has found stands there; of a text that was judged twice the newer.
    engine::Comparison measured;
    measured.quant = "nf4";
    measured.reference = "bfloat16";
    measured.same_top = 0.9;
    engine::Comparison newer = measured;
    newer.same_top = 0.971;
    page.showComparisons(QStringLiteral("another"), {measured});
    QVERIFY(grid.quality(QStringLiteral("nf4")) == nullptr);
    page.showComparisons(kE2b, {measured, newer});
    page.chart()->setCurrent(ui::FitGrid::Place{lineOf(grid, "nf4", "q8"), 3});
    QVERIFY(program.find<QLabel>("fitQuality")->text().contains(QStringLiteral("97.1")));
    // A table with a line for every point, and a picture.
    QTest::mouseClick(program.find("fitCopyTable"), Qt::LeftButton);
    const QStringList rows =
        QGuiApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(rows.size(), grid.countPoints() + 1);
    for (const QString& row : rows) {
        QCOMPARE(row.count(QLatin1Char(',')), rows.front().count(QLatin1Char(',')));
    }
    QCOMPARE(rows.filter(QStringLiteral("Gemma 4 E2B,RTX 4060,nf4,q8,16384,fits,%1,")
                             .arg(point.parts.total()))
                 .size(),
             1);
    QTest::mouseClick(program.find("fitCopyPicture"), Qt::LeftButton);
    QVERIFY(QGuiApplication::clipboard()->image().width() > 1000);
    if (const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS"); !to.isEmpty()) {
        QGuiApplication::clipboard()->image().save(to + QStringLiteral("/what-fits-picture.png"));
    }
    // A card without kernels: what fits is told, and no speed.
    auto* cards = program.find<ui::CardBox>("fitCard");
    cards->choose(ui::listedComputer(QStringLiteral("RX 7600")));
    Q_EMIT cards->computerChosen();
    QTRY_VERIFY(page.grid().countPoints() > 0);
    QCOMPARE(page.grid().point({0, 0})->tokens_per_s, 0.0);
}

void TestWhatFits::hiddenItPlansNothing() {
    QTemporaryDir folder;
    Program program(folder.path());
    ui::FitPage& page = open(program, kE2b, "RTX 3090");
    QTRY_VERIFY(page.grid().countPoints() > 2);
    QVERIFY(page.isPlanning());
    QTest::keyClick(program.window->modelsPage(), Qt::Key_Escape);
    QVERIFY(!page.isVisible() && !page.isPlanning());
    const int kept = page.grid().countPoints();
    QTest::qWait(200);
    QCOMPARE(page.grid().countPoints(), kept);
    // A precision that is not looked at is not planned; the other ones go on.
    program.find<QAction>("action_whatFits")->trigger();
    for (QCheckBox* box : page.findChildren<QCheckBox*>()) {
        box->setChecked(box->text() == ui::quantName(QStringLiteral("nf4")));
    }
    QVERIFY(isWhole(page));
    QVERIFY(page.grid().countPoints() <
            static_cast<int>(page.grid().lines().size() * page.grid().contexts().size()));
}

void TestWhatFits::aPointBecomesThePlan() {
    QTemporaryDir folder;
    Program program(folder.path());
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 8 * kGiB));
    ui::FitPage& page = *program.window->fitPage();
    program.find<QAction>("action_whatFits")->trigger();
    QVERIFY(isWhole(page));
    // By keys: to the last context of the second line below the first.
    ui::FitChart* chart = page.chart();
    chart->setFocus();
    QVERIFY(chart->current().has_value());
    for (size_t i = 0; i < page.grid().contexts().size(); ++i) {
        QTest::keyClick(chart, Qt::Key_Right);
    }
    QTest::keyClick(chart, Qt::Key_Down);
    const ui::FitGrid::Place place = *chart->current();
    const ui::FitLine& line = page.grid().lines()[place.line];
    const std::string quant = line.quant.toStdString();
    const std::string kv = line.kv == QStringLiteral("q8") ? "q8" : "auto";
    const qint64 context = page.grid().contexts()[place.context];
    QVERIFY(!chart->accessibleDescription().isEmpty());
    QTest::keyClick(chart, Qt::Key_Return);
    QVERIFY(program.window->modelPanel()->isVisible()); // this computer: the load form
    QCOMPARE(program.session().request().quant, quant);
    QCOMPARE(program.session().request().kv, kv);
    QCOMPARE(program.session().request().context, context);
    QCOMPARE(program.session().request().device_map, std::string("gpu"));
    QCOMPARE(program.session().request().sim_gpus.size(), size_t{1});
    // By the mouse, of another model on another computer: its layout.
    open(program, kE2b, "2x RTX 3090");
    QTRY_VERIFY(page.grid().point({0, 0}) != nullptr);
    QTest::mouseClick(chart, Qt::LeftButton, {}, chart->position({0, 0}).toPoint());
    QTRY_COMPARE(program.session().model(), kE2b);
    ui::LayoutView* layout = program.window->layoutView();
    QTRY_VERIFY(layout->isWhatIf() && layout->lane(engine::DeviceId::cuda(1)) != nullptr);
    QVERIFY(layout->isVisible());
    QCOMPARE(layout->stagedPlan()->context, page.grid().contexts().front());
}

void TestWhatFits::offersKeepTheirOptions() {
    QTemporaryDir folder;
    Program program(folder.path());
    ui::HubOffer offer;
    offer.id = QStringLiteral("ada/model");
    offer.folder = QStringLiteral("/models/ada");
    offer.headers = QString::fromStdString(program.demo);
    auto files = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = files;
    offer.headers_folder = std::move(files);
    Q_EMIT program.window->modelsPage()->get()->drawingOfOfferRequested(offer);
    ui::FitPage& page = *program.window->fitPage();
    offer = {};
    QVERIFY(!watched.expired()); // the headers stay as long as they are drawn
    QVERIFY(isWhole(page));
    Q_EMIT page.chart()->chosen({lineOf(page.grid(), "q8_0", "q8"), 0});
    QCOMPARE(program.window->modelsPage()->page(), ui::ModelsPage::Page::Get);
    QVERIFY(program.session().model().isEmpty()); // nothing here is chosen by it
    program.session().chooseModel(QStringLiteral("/models/ada"));
    QCOMPARE(program.session().request().quant, std::string("q8_0"));
    QCOMPARE(program.session().request().kv, std::string("q8"));
}

TEST_CLASS_WITH(QApplication, TestWhatFits)
#include "tst_what_fits.moc"
