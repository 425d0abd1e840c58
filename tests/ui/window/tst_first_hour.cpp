// SPDX-License-Identifier: Apache-2.0
// What a newcomer meets in the first hour, the engine played by the test: rate and time of a load,
// the proposal of 4 bits, text only, "load anyway", options that belong to a model, profiles, and
// the cards from the demo's first reply on.
#include "engine/api/error_cause.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/common/sentence_words.h"
#include "ui/compare/compare_pane.h"
#include "ui/dialogs/serving_state.h"
#include "ui/layout/layout_view.h"
#include "ui/layout/what_if.h"
#include "ui/meter/memory_meter.h"
#include "ui/model/folder_words.h"
#include "ui/model/model_panel.h"
#include "ui/model/profile_menu.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/motion.h"
#include "ui/style/theme.h"
#include "ui/window/load_pace.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTest>
#include <QTextDocumentFragment>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <algorithm>
#include <array>
#include <cmath>

using ui::MainWindow;
using ui::Session;

namespace {

const QString kModel = QStringLiteral("/models/gemma-4-E2B-it");
constexpr quint64 kHourGiB = quint64{1} << 30U;

std::shared_ptr<const engine::ModelSummary> summary(const QString& folder) {
    auto model = std::make_shared<engine::ModelSummary>();
    model->folder = folder.toStdString();
    model->variant = "E2B";
    model->parameters = 5'100'000'000;
    model->has_vision = model->has_audio = true;
    model->quantization = "none";
    return model;
}

/// A plan of `bytes` on the card, of which the towers take one GiB.
std::shared_ptr<engine::PlacementPlan> plan(quint64 bytes, quint64 limit, double tokens_per_s) {
    auto out = std::make_shared<engine::PlacementPlan>();
    engine::DevicePlan& card = out->devices.emplace_back();
    card.id = engine::DeviceId::cuda(0);
    card.capacity = card.free = card.limit = limit;
    card.parts[engine::MemoryPart::Weights] = bytes;
    engine::ModulePlacement& tower = out->modules.emplace_back();
    tower.name = "tower";
    tower.part = {engine::PartRole::VisionTower};
    tower.bytes = kHourGiB;
    out->fits = bytes <= limit;
    out->estimate.decode_tokens_per_s = tokens_per_s;
    if (!out->fits) {
        engine::PlanIssue& issue = out->errors.emplace_back();
        issue.code = "DM09";
        issue.key = "cuda:0";
        issue.words = engine::said("%1 needs %2", card.id, engine::ByteCount{bytes});
        issue.excess = {card.id, false, bytes, limit, {engine::MemoryBound::By::Free, limit}};
    }
    return out;
}

class FirstHourWindow {
public:
    explicit FirstHourWindow(int guide_cards = ui::kGuideCards) : window(setup(guide_cards)) {
        window.resize(1280, 900);
        window.show();
    }
    void choose(const QString& model = kModel) {
        session().chooseModel(model);
        session().showModel(model, summary(model));
    }
    void finish(const QString& model = kModel) {
        auto snapshot = std::make_shared<engine::EngineSnapshot>();
        snapshot->model = summary(model);
        snapshot->state = engine::EngineSnapshot::State::Ready;
        session().showSnapshot(snapshot);
        session().showLoaded();
    }
    void load(const QString& model = kModel) {
        choose(model);
        session().load();
        finish(model);
    }
    Session& session() { return *window.session(); }
    ui::ModelPanel& panel() { return *window.modelPanel(); }
    template <typename T>
    T* find(const char* name) {
        return window.findChild<T*>(QString::fromLatin1(name));
    }
    QString text(const char* name) {
        auto* label = find<QLabel>(name);
        return label == nullptr ? QString() : label->text();
    }
    QString noticeTitle() { return window.notice()->isVisible() ? text("noticeTitle") : QString(); }
    void press(const char* button) { QTest::mouseClick(find<QPushButton>(button), Qt::LeftButton); }
    MainWindow window;

private:
    static ui::WindowSetup setup(int guide_cards) {
        ui::WindowSetup setup;
        setup.has_demo_model = true;
        setup.demo_adapter = QStringLiteral("/share/demo_model/adapter");
        setup.settings.guide_cards = guide_cards;
        return setup;
    }
};

} // namespace

class TestFirstHour : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void pace();
    void loadShowsRateAndTime();
    void fourBitsAreProposed_data();
    void fourBitsAreProposed();
    void measuredPrecisions();
    void oldComparisonIsIgnored();
    void textOnly();
    void wayBackFromTextOnly();
    void loadAnyway();
    void anywayAfterARefusal();
    void noAnywayAgainstALimit();
    void optionsBelongToAModel();
    void profiles();
    void guide();
    void guideIsSkipped();
    void motionIsReduced();
    void guideIsOfTheDemo();
    void namesApart_data();
    void namesApart();
    void adapterNames();
    void whatIfIsNotThisComputer();
    void greyLoadSaysWhy();
    void hintWhileLoading();
    void othersUseTheModel();
    void panelIsWideEnough();
    void wheelScrolls();
    void adaptersThatDoNotFit();
    void noWordsOfTheTerminal();
};

void TestFirstHour::pace() {
    ui::LoadPace pace;
    QCOMPARE(pace.rate(), 0.0);
    QVERIFY(pace.secondsLeft() < 0);
    for (int i = 0; i <= 20; ++i) {
        pace.add(i * 100, 50'000'000ULL * static_cast<quint64>(i), 3'000'000'000ULL);
    }
    QCOMPARE(pace.rate(), 500e6);
    QCOMPARE(pace.secondsLeft(), 4.0); // 2 of 3 GB
    // Slower from now on: the last seconds count.
    for (int i = 1; i <= 60; ++i) {
        pace.add(2000 + i * 100, 1'000'000'000ULL + 10'000'000ULL * static_cast<quint64>(i),
                 3'000'000'000ULL);
    }
    QVERIFY2(std::abs(pace.rate() - 100e6) < 1e6, qPrintable(QString::number(pace.rate())));
    // Another stage begins: nothing is known of it.
    pace.add(8100, 0, 3'000'000'000ULL);
    QCOMPARE(pace.rate(), 0.0);
    QVERIFY(pace.secondsLeft() < 0);
}

void TestFirstHour::loadShowsRateAndTime() {
    FirstHourWindow w;
    w.choose();
    w.session().load();
    const auto progress = [&](quint64 done) {
        auto snapshot = std::make_shared<engine::EngineSnapshot>();
        snapshot->state = engine::EngineSnapshot::State::Loading;
        snapshot->stage = "read";
        snapshot->bytes_done = done;
        snapshot->bytes_total = 100 * kHourGiB;
        w.session().showSnapshot(snapshot);
    };
    progress(kHourGiB);
    QVERIFY(!w.text("engineStateDetail").contains(QStringLiteral("/s")));
    QTest::qWait(1000);
    progress(2 * kHourGiB);
    const QString told = w.text("engineStateDetail");
    QVERIFY2(told.contains(QStringLiteral("/s")) && told.contains(QStringLiteral("left")),
             qPrintable(told));
    QVERIFY2(told.startsWith(QStringLiteral("2 %")), qPrintable(told));
    QVERIFY(told.endsWith(QStringLiteral("2.0 GiB of 100 GiB")));
}

void TestFirstHour::fourBitsAreProposed_data() {
    support::addColumns<double, double, double, QString>("stored_gib", "stored_rate", "packed_rate",
                                                         "words");
    QTest::newRow("does not fit") << 10.0 << 20.0 << 20.0
                                  << QStringLiteral("In 4 bits: 3.0 GiB, about 20 tokens/s.\n"
                                                    "As stored: 10.0 GiB, which does not fit.");
    QTest::newRow("slower") << 7.0 << 5.6 << 14.0
                            << QStringLiteral("In 4 bits: 3.0 GiB, about 14 tokens/s.\n"
                                              "As stored: 7.0 GiB, about 5.6 tokens/s.");
    QTest::newRow("as good") << 7.0 << 20.0 << 21.0 << QString();
}

void TestFirstHour::fourBitsAreProposed() {
    QFETCH(double, stored_gib);
    QFETCH(double, stored_rate);
    QFETCH(double, packed_rate);
    QFETCH(QString, words);
    FirstHourWindow w;
    w.choose();
    QSignalSpy asked(&w.panel(), &ui::ModelPanel::alternativeRequested);
    w.panel().showPlan(
        plan(static_cast<quint64>(stored_gib * double(kHourGiB)), 8 * kHourGiB, stored_rate));
    QCOMPARE(asked.size(), 0); // nobody looks
    w.window.openModelPanel();
    QCOMPARE(asked.size(), 1);
    const auto request = asked.last().at(1).value<engine::LoadRequest>();
    QCOMPARE(request.quant, std::string("nf4-dq"));
    QCOMPARE(request.model, kModel.toStdString());
    w.panel().showAlternative(asked.last().at(0).toULongLong(),
                              plan(3 * kHourGiB, 8 * kHourGiB, packed_rate));
    auto* proposal = w.find<QWidget>("fourBitsProposal");
    QCOMPARE(proposal->isVisible(), !words.isEmpty());
    if (words.isEmpty()) {
        return;
    }
    QCOMPARE(w.text("fourBitsWords"), words);
    w.press("fourBitsButton");
    QCOMPARE(w.session().request().quant, std::string("nf4-dq"));
    QVERIFY(!proposal->isVisible());
    // Chosen: nothing to propose.
    asked.clear();
    w.panel().showPlan(plan(3 * kHourGiB, 8 * kHourGiB, packed_rate));
    QCOMPARE(asked.size(), 0);
}

/// What compare has found of the chosen model stands below its format; of another one nothing does.
void TestFirstHour::measuredPrecisions() {
    FirstHourWindow w;
    w.choose();
    QSignalSpy asked(&w.panel(), &ui::ModelPanel::comparisonsRequested);
    w.window.openModelPanel();
    QCOMPARE(asked.size(), 1);
    QCOMPARE(asked[0][0].toString(), kModel);
    auto* label = w.find<QLabel>("comparisonsLabel");
    QVERIFY(!label->isVisible());
    engine::Comparison one;
    one.quant = "nf4";
    one.reference = "bfloat16";
    one.date = "2026-11-29";
    one.same_top = 0.955;
    one.divergence = 0.03;
    engine::Comparison newer = one; // of another text
    newer.date = "2026-11-30";
    newer.same_top = 0.971;
    newer.divergence = 0.012;
    engine::Comparison file = one;
    file.quant = "none";
    file.other_model = "gemma-4-E2B-it";
    w.panel().showComparisons(QStringLiteral("/another"), {one});
    QVERIFY(!label->isVisible());
    w.panel().showComparisons(kModel, {one, newer, file});
    QVERIFY(label->isVisible());
    const QString day = QLocale().toString(QDate(2026, 11, 30), QLocale::ShortFormat);
    const QStringList cells = QTextDocumentFragment::fromHtml(label->text())
                                  .toPlainText()
                                  .split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    const QStringList expected =
        QStringLiteral("Beside 16 bits|same token|KL|measured|As stored beside gemma-4-E2B-it "
                       "(16 bits)|95.5 %|0.03|%1|4 bits (NF4)|97.1 %|0.012|%2")
            .arg(QLocale().toString(QDate(2026, 11, 29), QLocale::ShortFormat), day)
            .split(QLatin1Char('|'));
    QCOMPARE(cells.mid(0, expected.size()), expected);
    QCoreApplication::processEvents(); // the panel grows
    QVERIFY(label->height() >= label->heightForWidth(label->width()));
    const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    QVERIFY(to.isEmpty() || w.panel().grab().save(to + QStringLiteral("/measured-precisions.png")));
    w.panel().showComparisons(kModel, {});
    QVERIFY(!label->isVisible());
}

void TestFirstHour::oldComparisonIsIgnored() {
    FirstHourWindow w;
    w.choose();
    w.window.openModelPanel();
    QSignalSpy asked(&w.panel(), &ui::ModelPanel::alternativeRequested);
    w.panel().showPlan(plan(10 * kHourGiB, 8 * kHourGiB, 20));
    const quint64 old = asked.last().at(0).toULongLong();
    w.panel().showPlan(plan(7 * kHourGiB, 8 * kHourGiB, 20));
    w.panel().showAlternative(old, plan(3 * kHourGiB, 8 * kHourGiB, 90));
    QVERIFY(!w.find<QWidget>("fourBitsProposal")->isVisible());
}

void TestFirstHour::textOnly() {
    FirstHourWindow w;
    w.choose();
    w.window.openModelPanel();
    w.panel().showPlan(plan(7 * kHourGiB, 8 * kHourGiB, 20));
    auto* box = w.find<QCheckBox>("textOnlyBox");
    QVERIFY(box->isVisible() && !box->isChecked());
    QVERIFY2(box->text().contains(QStringLiteral("would save 1.0 GiB")), qPrintable(box->text()));
    QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    QVERIFY(w.session().request().is_text_only);
    auto lean = plan(6 * kHourGiB, 8 * kHourGiB, 20);
    lean->modules.clear();
    lean->left_out_bytes = kHourGiB;
    w.panel().showPlan(lean);
    QVERIFY2(box->text().contains(QStringLiteral("saves 1.0 GiB")), qPrintable(box->text()));
    QSignalSpy wanted(&w.session(), &Session::loadRequested);
    w.press("loadButton");
    QVERIFY(wanted.last().first().value<engine::LoadRequest>().is_text_only);
}

void TestFirstHour::wayBackFromTextOnly() {
    FirstHourWindow w;
    w.choose();
    engine::LoadRequest options = w.session().request();
    options.is_text_only = true;
    w.session().setOptions(options);
    w.session().load();
    auto snapshot = std::make_shared<engine::EngineSnapshot>();
    auto lean = std::make_shared<engine::ModelSummary>(*summary(kModel));
    lean->has_vision = lean->has_audio = false;
    lean->lacks_vision_by_wish = lean->lacks_audio_by_wish = true;
    snapshot->model = lean;
    w.session().showSnapshot(snapshot);
    w.session().showLoaded();
    w.window.chatView()->attachFiles({QStringLiteral("/p/cat.png")});
    QPushButton* back = nullptr;
    const auto buttons = w.window.chatView()->findChildren<QPushButton*>();
    for (QPushButton* button : buttons) {
        if (button->text() == QStringLiteral("Load with pictures and sounds")) {
            back = button;
        }
    }
    QVERIFY(back != nullptr);
    QSignalSpy wanted(&w.session(), &Session::loadRequested);
    back->click();
    w.session().showModel(kModel, summary(kModel)); // it is looked at once more
    QCOMPARE(wanted.size(), 1);
    QVERIFY(!wanted.last().first().value<engine::LoadRequest>().is_text_only);
}

void TestFirstHour::loadAnyway() {
    FirstHourWindow w;
    w.choose();
    w.window.openModelPanel();
    w.panel().showPlan(plan(10 * kHourGiB, 8 * kHourGiB, 20));
    auto* load = w.find<QPushButton>("loadButton");
    QCOMPARE(load->text(), QStringLiteral("&Load anyway"));
    QVERIFY(w.text("panelPlan").contains(QStringLiteral("What is free is an estimate")));
    QSignalSpy wanted(&w.session(), &Session::loadRequested);
    w.press("loadButton");
    QCOMPARE(wanted.size(), 1);
    QVERIFY(wanted.last().first().value<engine::LoadRequest>().loads_anyway);
    w.finish();
    // It was said of that load, not of the next.
    QVERIFY(!w.session().loadedRequest().loads_anyway);
    QVERIFY(!w.session().request().loads_anyway);
    w.window.openModelPanel();
    w.panel().showPlan(plan(7 * kHourGiB, 8 * kHourGiB, 20));
    QCOMPARE(load->text(), QStringLiteral("Re&load"));
}

void TestFirstHour::anywayAfterARefusal() {
    FirstHourWindow w;
    w.choose();
    w.session().load();
    engine::Error error{engine::ErrorCode::OutOfMemory, "DM09: too much"};
    error.cause = engine::causeOf(plan(10 * kHourGiB, 8 * kHourGiB, 20)->errors);
    w.session().showLoadError(error);
    QVERIFY(w.window.notice()->isVisible());
    QVERIFY(w.text("noticeDetail").contains(QStringLiteral("What is free is an estimate")));
    QCOMPARE(w.find<QPushButton>("noticeAction")->text(), QStringLiteral("Load anyway"));
    QSignalSpy wanted(&w.session(), &Session::loadRequested);
    w.press("noticeAction");
    QCOMPARE(wanted.size(), 1);
    const auto request = wanted.last().first().value<engine::LoadRequest>();
    QVERIFY(request.loads_anyway);
    QCOMPARE(request.model, kModel.toStdString());
}

void TestFirstHour::noAnywayAgainstALimit() {
    FirstHourWindow w;
    w.choose();
    w.window.openModelPanel();
    auto limited = plan(10 * kHourGiB, 8 * kHourGiB, 20);
    auto& over = *limited->errors.front().excess;
    over.bound.by = engine::MemoryBound::By::Option;
    w.panel().showPlan(limited);
    QCOMPARE(w.find<QPushButton>("loadButton")->text(), QStringLiteral("&Load"));
    over.bound.by = engine::MemoryBound::By::Free;
    over.device = engine::DeviceId::sim(0);
    w.panel().showPlan(limited);
    QCOMPARE(w.find<QPushButton>("loadButton")->text(), QStringLiteral("&Load"));
}

void TestFirstHour::optionsBelongToAModel() {
    const QString other = QStringLiteral("/models/gemma-4-31B-it");
    FirstHourWindow w;
    QSignalSpy kept(&w.session(), &Session::optionsRemembered);
    w.choose();
    engine::LoadRequest options = w.session().request();
    options.quant = "nf4";
    options.context = 16384;
    options.threads = 3;
    w.session().setOptions(options);
    w.session().load();
    w.finish();
    QCOMPARE(kept.size(), 1);
    QCOMPARE(kept.last().at(0).toString(), kModel);
    w.choose(other);
    options = w.session().request();
    options.quant = "none";
    options.context = 4096;
    options.threads = 5;
    w.session().setOptions(options);
    w.session().load();
    w.finish(other);
    w.session().chooseModel(kModel);
    QCOMPARE(w.session().request().quant, std::string("nf4"));
    QCOMPARE(w.session().request().context, 16384);
    QCOMPARE(w.session().request().threads, 5); // the program's, not the model's
    // And after a start: the program hands them in.
    FirstHourWindow next;
    engine::LoadRequest before;
    before.quant = "fp4";
    next.session().setRemembered({{kModel, before}});
    next.session().chooseModel(kModel);
    QCOMPARE(next.session().request().quant, std::string("fp4"));
}

void TestFirstHour::profiles() {
    FirstHourWindow w;
    w.choose();
    engine::LoadRequest options = w.session().request();
    options.quant = "nf4";
    options.device_map = "lean";
    options.threads = 3;
    w.session().setOptions(options);
    w.session().addAdapter(QStringLiteral("/adapters/medical"));
    w.session().showModel(kModel, summary(kModel));
    engine::SamplingParameters sampling;
    sampling.temperature = 0.3;
    w.window.chatView()->setSampling(sampling);
    ui::ProfileMenu* menu = w.panel().profileMenu();
    QSignalSpy edited(menu, &ui::ProfileMenu::profilesEdited);
    Q_EMIT menu->saveRequested(QStringLiteral("laptop"));
    QCOMPARE(edited.size(), 1);
    QCOMPARE(menu->profiles().size(), size_t{1});
    // Everything else is chosen, then the profile.
    options.quant = "none";
    options.device_map = "gpu";
    options.threads = 7;
    w.session().setOptions(options);
    w.session().removeAdapter(0);
    sampling.temperature = 1.5;
    w.window.chatView()->setSampling(sampling);
    QAction* laptop = menu->list()->actions().first();
    QCOMPARE(laptop->text(), QStringLiteral("laptop"));
    laptop->trigger();
    QCOMPARE(w.session().request().quant, std::string("nf4"));
    QCOMPARE(w.session().request().device_map, std::string("lean"));
    QCOMPARE(w.session().request().threads, 7);
    QCOMPARE(w.session().adapters().size(), size_t{1});
    QCOMPARE(w.session().adapters().front().folder, std::string("/adapters/medical"));
    QCOMPARE(w.window.chatView()->chat().sampling.temperature, 0.3);
    // One of the same name takes its place.
    menu->keep({QStringLiteral("laptop"), {}, {}});
    QCOMPARE(menu->profiles().size(), size_t{1});
    QVERIFY(menu->profiles().front().load.adapters.empty());
}

void TestFirstHour::guide() {
    FirstHourWindow w(0);
    QSignalSpy edited(&w.window, &MainWindow::settingsEdited);
    const QString demo = QStringLiteral("demo");
    w.load(demo);
    QCOMPARE(w.noticeTitle(), QString()); // not before a reply
    const auto reply = [&] { Q_EMIT w.window.chatView()->turnFinished({}); };
    reply();
    QCOMPARE(w.noticeTitle(), QStringLiteral("See where each part of the model sits"));
    QCOMPARE(edited.last().first().value<ui::Settings>().guide_cards, 1);
    reply(); // it stays, and is not overtaken
    QCOMPARE(w.noticeTitle(), QStringLiteral("See where each part of the model sits"));
    w.press("noticeAction");
    QCOMPARE(w.window.tab(), MainWindow::Tab::Both);
    QCOMPARE(w.noticeTitle(), QString());
    // A part was moved.
    w.session().showMapApplied();
    QCOMPARE(w.noticeTitle(), QStringLiteral("Give the demo another way to answer"));
    w.press("noticeAction");
    QCOMPARE(w.window.tab(), MainWindow::Tab::Chat);
    QCOMPARE(w.session().adapters().size(), size_t{1});
    QCOMPARE(w.session().adapters().front().folder, std::string("/share/demo_model/adapter"));
    QCOMPARE(w.noticeTitle(), QString());
    w.session().showModel(demo, summary(demo));
    reply();
    QCOMPARE(w.noticeTitle(), QStringLiteral("Compare with and without the adapter"));
    QCOMPARE(edited.last().first().value<ui::Settings>().guide_cards, ui::kGuideCards);
    w.window.notice()->hide();
    reply();
    QCOMPARE(w.noticeTitle(), QString()); // never again
    // Nor in the next session.
    FirstHourWindow next(w.window.settings().guide_cards);
    next.load(demo);
    Q_EMIT next.window.chatView()->turnFinished({});
    QCOMPARE(next.noticeTitle(), QString());
}

void TestFirstHour::guideIsSkipped() {
    FirstHourWindow w(0);
    w.load(QStringLiteral("demo"));
    Q_EMIT w.window.chatView()->turnFinished({});
    QVERIFY(!w.noticeTitle().isEmpty());
    QCOMPARE(w.find<QPushButton>("noticeAlso")->text(), QStringLiteral("Skip the tour"));
    w.press("noticeAlso");
    QCOMPARE(w.window.settings().guide_cards, ui::kGuideCards);
    Q_EMIT w.window.chatView()->turnFinished({});
    QCOMPARE(w.noticeTitle(), QString());
}

void TestFirstHour::motionIsReduced() {
    FirstHourWindow w;
    ui::setMotion(true);
    ui::Settings settings = w.window.settings();
    for (const bool is_reduced : {true, false}) {
        settings.reduces_motion = is_reduced;
        w.window.setSettings(settings);
        QCOMPARE(ui::isMotionOn(), !is_reduced);
    }
    ui::setMotion(false);
}

void TestFirstHour::guideIsOfTheDemo() {
    FirstHourWindow w(0);
    w.load(kModel);
    Q_EMIT w.window.chatView()->turnFinished({});
    QCOMPARE(w.noticeTitle(), QString());
    QCOMPARE(w.window.settings().guide_cards, 0);
}

void TestFirstHour::namesApart_data() {
    support::addColumns<QString, QString>("folders", "names");
    const auto row = [](const char* name, const char* folders, const char* names) {
        QTest::newRow(name) << QString::fromLatin1(folders) << QString::fromLatin1(names);
    };
    row("different", "/a/one;/b/two", "one;two");
    row("parents", "/a/old/model;/a/new/model", "model (in old);model (in new)");
    row("further up", "/x/a/model;/y/a/model", "model (in x);model (in y)");
    row("three", "/a/old/model;/a/new/model;/c", "model (in old);model (in new);c");
    row("one above the other", "/model;/model/model", "/model;model (in model)");
}

void TestFirstHour::namesApart() {
    QFETCH(QString, folders);
    QFETCH(QString, names);
    const QStringList all = folders.split(QLatin1Char(';'));
    const QStringList expected = names.split(QLatin1Char(';'));
    ui::RecentModels recent;
    recent.setFolders(all);
    for (int i = 0; i < all.size(); ++i) {
        QCOMPARE(recent.index(i).data().toString(), QDir::toNativeSeparators(expected.at(i)));
    }
}

void TestFirstHour::adapterNames() {
    const auto name = [](const char* folder, const QStringList& others = {}) {
        return ui::adapterName(QString::fromLatin1(folder), others).toStdString();
    };
    QCOMPARE(name("/a/notes/text"), std::string("text"));
    QCOMPARE(name("/a/notes/adapter"), std::string("notes/adapter"));
    QCOMPARE(name("/a/notes/checkpoint-500"), std::string("notes/checkpoint-500"));
    QCOMPARE(name("/adapter"), std::string("adapter"));
    QCOMPARE(name("/a/x/adapter", {QStringLiteral("/a/y/adapter")}), std::string("adapter (in x)"));
}

void TestFirstHour::whatIfIsNotThisComputer() {
    FirstHourWindow w;
    ui::LayoutView* layout = w.window.layoutView();
    QSignalSpy asked(layout, &ui::LayoutView::planRequested);
    const auto answer = [&](quint64 bytes, engine::DeviceId device) {
        auto made = plan(bytes, 8 * kHourGiB, 20);
        made->devices.front().id = device;
        layout->showPlan(asked.last().at(0).toULongLong(), made);
    };
    const auto shows = [&](engine::DeviceId device) {
        const auto& devices = w.window.meter()->devices();
        return std::any_of(devices.begin(), devices.end(),
                           [&](const ui::MeterDevice& one) { return one.id == device; });
    };
    w.choose();
    answer(3 * kHourGiB, engine::DeviceId::cpu());
    QVERIFY(shows(engine::DeviceId::cpu()));
    w.window.setTab(MainWindow::Tab::Layout);
    layout->lookAt(ui::listedComputer(QStringLiteral("RTX 4060")));
    answer(6 * kHourGiB, engine::DeviceId::cuda(0));
    QVERIFY(layout->isWhatIf());
    QVERIFY(shows(engine::DeviceId::cuda(0)));
    QVERIFY(w.window.meter()->text().startsWith(QStringLiteral("Not this computer")));
    // What Load does is said of this computer, by every button of that name.
    QCOMPARE(w.find<QPushButton>("topLoadButton")->text(), QStringLiteral("Load here"));
    w.window.openModelPanel();
    QCOMPARE(w.find<QPushButton>("loadButton")->text(), QStringLiteral("&Load here"));
    QVERIFY2(w.text("panelPlan").contains(QStringLiteral("CPU")), qPrintable(w.text("panelPlan")));
    w.panel().closeFlyout();
    // Elsewhere the meter is this computer's.
    w.window.setTab(MainWindow::Tab::Chat);
    QVERIFY(!shows(engine::DeviceId::cuda(0)));
    QVERIFY(!w.window.meter()->text().startsWith(QStringLiteral("Not this computer")));
    w.window.setTab(MainWindow::Tab::Both);
    QVERIFY(shows(engine::DeviceId::cuda(0)));
    // A real load leaves it.
    w.press("topLoadButton");
    QVERIFY(!layout->isWhatIf());
    QVERIFY(!shows(engine::DeviceId::cuda(0)));
    QVERIFY(shows(engine::DeviceId::cpu()));
    w.finish();
    // A plan for the other computer that comes too late changes nothing here.
    layout->lookAt(ui::listedComputer(QStringLiteral("RTX 3070")));
    w.session().load();
    answer(6 * kHourGiB, engine::DeviceId::cuda(0));
    QVERIFY(!layout->isWhatIf());
    QVERIFY(!shows(engine::DeviceId::cuda(0)));
}

void TestFirstHour::greyLoadSaysWhy() {
    FirstHourWindow w;
    auto bare = std::make_shared<engine::ModelSummary>(*summary(kModel));
    bare->is_header_only = true;
    w.session().chooseModel(kModel);
    w.session().showModel(kModel, bare);
    auto* load = w.find<QPushButton>("topLoadButton");
    QVERIFY(load->isVisible() && !load->isEnabled());
    const QString why = QStringLiteral("The weights are not here");
    QVERIFY2(load->toolTip().contains(why), qPrintable(load->toolTip()));
    QVERIFY2(w.text("composerHint").contains(QStringLiteral("cannot be loaded")),
             qPrintable(w.text("composerHint")));
    QVERIFY2(w.text("chatEmptyHint").contains(why), qPrintable(w.text("chatEmptyHint")));
    w.window.openModelPanel();
    QVERIFY(w.find<QPushButton>("loadButton")->toolTip().contains(why));
    w.choose(QStringLiteral("/models/whole"));
    QVERIFY(load->isEnabled());
    QVERIFY(!load->toolTip().contains(why));
    QVERIFY(!w.text("chatEmptyHint").contains(why));
}

void TestFirstHour::hintWhileLoading() {
    // From the wish to the model's being there it is one and the same.
    FirstHourWindow w;
    const QString waits = QStringLiteral("The model is being loaded; write meanwhile");
    w.session().chooseAndLoad(kModel);
    QCOMPARE(w.text("composerHint"), waits);
    w.session().showModel(kModel, summary(kModel));
    QCOMPARE(w.text("composerHint"), waits);
    auto snapshot = std::make_shared<engine::EngineSnapshot>();
    snapshot->state = engine::EngineSnapshot::State::Loading;
    w.session().showSnapshot(snapshot);
    QCOMPARE(w.text("composerHint"), waits);
    snapshot = std::make_shared<engine::EngineSnapshot>();
    snapshot->state = engine::EngineSnapshot::State::Empty; // between two jobs of the engine
    w.session().showSnapshot(snapshot);
    QCOMPARE(w.text("composerHint"), waits);
    w.finish();
    QVERIFY(w.text("composerHint") != waits);
}

void TestFirstHour::othersUseTheModel() {
    FirstHourWindow w;
    w.load();
    auto* button = w.find<QPushButton>("servingButton");
    QVERIFY(!button->isVisible());
    ui::ServingState state;
    state.kind = ui::ServingState::Kind::Ready;
    state.address = QStringLiteral("http://127.0.0.1:8642/v1");
    w.window.showServing(state);
    QVERIFY(button->isVisible());
    QCOMPARE(button->text(), QStringLiteral("Shared"));
    QVERIFY(button->toolTip().contains(state.address));
    state.kind = ui::ServingState::Kind::Answering;
    w.window.showServing(state);
    QCOMPARE(button->text(), QStringLiteral("In use"));
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(w.find<QDialog>("servingDialog")->isVisible());
    state.kind = ui::ServingState::Kind::Off;
    w.window.showServing(state);
    QVERIFY(!button->isVisible());
}

void TestFirstHour::panelIsWideEnough() {
    // All sources, all that the panel can say, in a low window: nothing is cut at the right, and
    // verdict and Load stand where they always do.
    FirstHourWindow w;
    w.window.resize(860, 600);
    w.panel().setHasServers(true);
    w.choose();
    w.window.openModelPanel();
    w.panel().showPlan(plan(10 * kHourGiB, 8 * kHourGiB, 20));
    QTest::qWait(30);
    auto* area = w.panel().findChild<QScrollArea*>();
    QVERIFY2(area->widget()->width() <= area->viewport()->width(),
             qPrintable(QStringLiteral("%1 in %2")
                            .arg(area->widget()->width())
                            .arg(area->viewport()->width())));
    auto* foot = w.find<QWidget>("panelFoot");
    QVERIFY(!area->isAncestorOf(foot));
    for (const char* name : {"loadButton", "panelPlan"}) {
        const auto* widget = w.find<QWidget>(name);
        QVERIFY2(foot->isAncestorOf(widget) && !widget->visibleRegion().isEmpty(), name);
        QCOMPARE(widget->visibleRegion().boundingRect(), widget->rect());
    }
    QList<int> widths;
    for (const char* name :
         {"chooseModelButton", "chooseFileButton", "libraryButton", "demoModelButton"}) {
        auto* source = w.find<QPushButton>(name);
        QVERIFY2(source->isVisible(), name);
        widths.append(source->width());
    }
    const auto [least, most] = std::minmax_element(widths.begin(), widths.end());
    QVERIFY(*most - *least <= 1); // one pixel may be left over in halving
    QVERIFY(w.find<QPushButton>("serverButton")->width() > *most); // the fifth has a row alone
}

void TestFirstHour::wheelScrolls() {
    // A slider, a number and a choice take the wheel with the focus only: what scrolls past them
    // does not change them.
    QWidget window;
    auto* column = new QVBoxLayout(&window);
    auto* slider = new QSlider(Qt::Horizontal);
    auto* number = new QSpinBox;
    auto* choice = new QComboBox;
    slider->setValue(50);
    number->setValue(50);
    choice->addItems({QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")});
    choice->setCurrentIndex(1);
    auto* other = new QPushButton;
    const std::array<QWidget*, 3> fields = {slider, number, choice};
    column->addWidget(other);
    for (QWidget* field : fields) {
        column->addWidget(field);
    }
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    const auto takes = [](QWidget* widget) {
        const QPointF at(5, 5);
        QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(widget, &event);
        return event.isAccepted(); // else it goes on to what scrolls
    };
    other->setFocus();
    for (QWidget* field : fields) {
        QVERIFY2(!takes(field), field->metaObject()->className());
        QVERIFY(!field->hasFocus());
        QVERIFY((field->focusPolicy() & Qt::WheelFocus) != Qt::WheelFocus);
    }
    QCOMPARE(slider->value(), 50);
    QCOMPARE(number->value(), 50);
    QCOMPARE(choice->currentIndex(), 1);
    slider->setFocus();
    QVERIFY(takes(slider));
    QVERIFY(slider->value() != 50);
}

void TestFirstHour::adaptersThatDoNotFit() {
    FirstHourWindow w;
    w.window.resize(1280, 800);
    w.load();
    for (const char* name : {"text", "multimodal", "rslora", "style"}) {
        w.session().addAdapter(QStringLiteral("/adapters/") + QString::fromLatin1(name));
    }
    QTest::qWait(30);
    auto* list = w.find<QPushButton>("adapterListButton");
    QVERIFY(list->isVisible());
    QCOMPARE(list->text(), QStringLiteral("4 adapters ▾"));
    QVERIFY(list->toolTip().contains(QStringLiteral("style")));
    QTest::mouseClick(list, Qt::LeftButton);
    auto* flyout = w.find<QWidget>("adapterList");
    QVERIFY(flyout->isVisible());
    const QList<QFrame*> chips = flyout->findChildren<QFrame*>(QStringLiteral("adapterChip"));
    QCOMPARE(chips.size(), 4);
    for (const QFrame* chip : chips) {
        QCOMPARE(chip->visibleRegion().boundingRect(), chip->rect()); // whole
    }
    // What is switched off is counted as such; with two they stand side by side again.
    w.session().setAdapterEnabled(3, false);
    QCOMPARE(list->text(), QStringLiteral("3 of 4 adapters ▾"));
    w.session().removeAdapter(3);
    w.session().removeAdapter(2);
    QTest::qWait(30);
    QVERIFY(!list->isVisible());
    QVERIFY(!flyout->isVisible());
    auto* bar = w.find<QWidget>("adapterBar");
    QCOMPARE(bar->findChildren<QFrame*>(QStringLiteral("adapterChip")).size(), 2);
}

void TestFirstHour::noWordsOfTheTerminal() {
    // Whatever the engine says of downloads and models: the window names its own buttons.
    QFile file(QString::fromStdString(
        (support::sourceDir() / "resources/translations/engine_de.ts").string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString all = QString::fromUtf8(file.readAll());
    static const QRegularExpression source(QStringLiteral("<source>([^<]*)</source>"));
    int seen = 0;
    for (auto it = source.globalMatch(all); it.hasNext();) {
        QString text = it.next().captured(1);
        text.replace(QStringLiteral("&apos;"), QStringLiteral("'"))
            .replace(QStringLiteral("&quot;"), QStringLiteral("\""))
            .replace(QStringLiteral("&amp;"), QStringLiteral("&"));
        const QByteArray pattern = text.toUtf8();
        engine::Sentence sentence;
        sentence.pattern = pattern.constData();
        sentence.arguments.assign(9, engine::Argument("x"));
        const QString words = ui::sentenceWords(sentence);
        for (const char* term : {"HF_TOKEN", "HF_HUB_CACHE", "--all", "give token ids"}) {
            const QString word = QString::fromLatin1(term);
            seen += text.contains(word) ? 1 : 0;
            QVERIFY2(!words.contains(word), qPrintable(words));
        }
    }
    QVERIFY2(seen >= 10, qPrintable(QString::number(seen)));
}

TEST_CLASS_WITH(QApplication, TestFirstHour)
#include "tst_first_hour.moc"
