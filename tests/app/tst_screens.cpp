// SPDX-License-Identifier: Apache-2.0
// Every screen and state of the window in both themes and all languages: no clipped text, nothing
// overlapping, every control named and reachable. Run a second time at 200 % (app.screens_200).
// With BELFRY_SCREENSHOTS set (target "screenshots") each is saved there as PNG.
#include "app/start/translations.h"
#include "engine/api/device_loss.h"
#include "tests/app/model_samples.h"
#include "tests/app/program_fixture.h"
#include "tests/app/screen_checks.h"
#include "tests/support/program/test_class.h"
#include "tests/ui/media/fake_sound.h"
#include "ui/chat/attachment_chip.h"
#include "ui/chat/chat_document.h"
#include "ui/chat/message_list.h"
#include "ui/chat/picture_view.h"
#include "ui/compare/compare_pane.h"
#include "ui/dialogs/coverage_dialog.h"
#include "ui/explore/fit_chart.h"
#include "ui/explore/fit_page.h"
#include "ui/layout/card_box.h"
#include "ui/library/downloads_panel.h"
#include "ui/library/family_model.h"
#include "ui/library/get_page.h"
#include "ui/library/library_page.h"
#include "ui/library/offer_card.h"
#include "ui/media/sound_card.h"
#include "ui/media/sound_player.h"
#include "ui/media/sound_range.h"
#include "ui/media/sound_recorder.h"
#include "ui/model/model_panel.h"
#include "ui/model/recent_models.h"
#include "ui/style/format.h"

#include <QAbstractButton>
#include <QDialog>
#include <QDir>
#include <QDragEnterEvent>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QShortcut>
#include <QTemporaryDir>
#include <QTranslator>
#include <QUrl>

#include <cmath>

using engine::DeviceId;
using support::kGiB;
using support::Program;

constexpr QSize kSmallWindow(1024, 700);
constexpr QSize kLeastWindow(860, 600); ///< A screen of 1366x768, and one of 1440x900 at 200 %.

/// As many as are shown, with a name that does not fit into a line.
static std::vector<engine::Comparison> comparisons() {
    std::vector<engine::Comparison> found;
    for (const char* quant : {"none", "q8_0", "q4_0", "nf4", "nf4-dq", "fp4"}) {
        engine::Comparison one;
        one.quant = quant;
        one.reference = "bfloat16";
        one.date = "2026-11-30";
        one.same_top = 0.999 - 0.01 * static_cast<double>(found.size());
        one.divergence = 0.0004 * std::pow(2.5, static_cast<double>(found.size()));
        found.push_back(one);
    }
    found.front().other_model = "gemma-4-E2B-it-unquantized-BF16-00001-of-00003.gguf";
    return found;
}

class TestScreens : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void screens_data();
    void screens();

private:
    static void settle();
    void check(QWidget* top, const QString& name);
    void checkAsIs(QWidget* top, const QString& name);
    void checkDialog(Program& program, const char* object_name, const QString& name);
    void checkOtherModel(Program& program, const QString& folder);
    void checkModels(Program& program);
    void checkSound(Program& program, const QString& long_recording);
    bool is_dark_ = false;
    QString prefix_;
    QStringList problems_;
};

void TestScreens::screens_data() {
    support::addColumns<bool, QString>("is_dark", "language");
    for (const char* language : {"en", "de", "fr"}) {
        QTest::addRow("light %s", language) << false << QString::fromLatin1(language);
        if (QLatin1String(language) != QLatin1String("fr")) { // as long as in light
            QTest::addRow("dark %s", language) << true << QString::fromLatin1(language);
        }
    }
}

/// Layouts settle over a few rounds of the event loop.
void TestScreens::settle() {
    for (int i = 0; i < 4; ++i) {
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    }
}

void TestScreens::check(QWidget* top, const QString& name) {
    checkAsIs(top, name);
    // A small laptop's screen: everything that the large window shows has to work there as well.
    // Sizes are the same in both themes.
    if (!is_dark_ && qobject_cast<ui::MainWindow*>(top) != nullptr) {
        const QSize before = top->size();
        for (const auto& [size, suffix] :
             {std::pair{kSmallWindow, "-small"}, std::pair{kLeastWindow, "-least"}}) {
            top->resize(size);
            checkAsIs(top, name + QString::fromLatin1(suffix));
            if (top->size() != size) {
                problems_.append(QStringLiteral("%1%2%3: wants %4x%5")
                                     .arg(prefix_, name, QString::fromLatin1(suffix))
                                     .arg(top->width())
                                     .arg(top->height()));
            }
        }
        top->resize(before);
        settle();
    }
}

void TestScreens::checkAsIs(QWidget* top, const QString& name) {
    settle();
    for (const QString& problem : support::clippedTexts(top) + support::widerThanViewport(top) +
                                      support::overlaps(top) + support::unreachable(top)) {
        problems_.append(prefix_ + name + QStringLiteral(": ") + problem);
    }
    if (support::focusChainLength(top) < 0) {
        problems_.append(prefix_ + name + QStringLiteral(": the focus chain does not come back"));
    }
    const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!to.isEmpty()) {
        top->grab().save(QStringLiteral("%1/%2%3.png").arg(to, prefix_, name));
    }
}

void TestScreens::checkDialog(Program& program, const char* object_name, const QString& name) {
    auto* dialog = program.find<QDialog>(object_name);
    QVERIFY2(dialog != nullptr, object_name);
    QTRY_VERIFY(dialog->isVisible());
    check(dialog, name);
    delete dialog;
}

/// Another model is chosen beside the loaded one: one that can be loaded, then a GGUF file, half of
/// which is missing.
void TestScreens::checkOtherModel(Program& program, const QString& folder) {
    program.session().chooseModel(QStringLiteral("shape:e2b"));
    QTRY_VERIFY(program.find("chosenLoad")->isEnabled());
    check(program.window.get(), QStringLiteral("04b-other-chosen"));
    program.window->openModelPanel();
    check(program.window.get(), QStringLiteral("04c-other-panel"));
    program.window->modelPanel()->closeFlyout();
    const QString gguf = folder + QStringLiteral("/gemma-4-E2B-it-GGUF");
    QVERIFY(QDir().mkpath(gguf));
    QFile file(gguf + QStringLiteral("/gemma-4-E2B-it-Q4_K_M.gguf"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("GGUF");
    file.close();
    program.session().chooseModel(gguf);
    QTRY_VERIFY(program.session().modelError() != nullptr);
    program.window->openModelPanel();
    QTRY_VERIFY(
        program.find<QLabel>("chosenModelProblem")->text().contains(QStringLiteral("Q4_K_M.gguf")));
    check(program.window.get(), QStringLiteral("04d-gguf-panel"));
    program.window->modelPanel()->closeFlyout();
    QVERIFY(!program.window->recentModels()->folders().contains(gguf));
    program.session().chooseLoaded();
    QTRY_VERIFY(program.session().summary() != nullptr);
}

/// Library and Get a model, empty and with one of everything.
void TestScreens::checkModels(Program& program) {
    ui::MainWindow* window = program.window.get();
    ui::LibraryPage* library = window->modelsPage()->library();
    ui::GetPage* get = window->modelsPage()->get();
    get->setNetwork(support::networkFacts());
    library->showContents(std::make_shared<const ui::LibraryContents>());
    window->showModels(ui::ModelsPage::Page::Library);
    check(window, QStringLiteral("30-library-empty"));
    library->showContents(support::libraryContents());
    check(window, QStringLiteral("31-library"));
    library->select(QStringLiteral("/home/ada/.cache/huggingface/hub/models--ada/half"));
    check(window, QStringLiteral("31b-half-a-download"));
    library->showRemoval(support::libraryRemoval());
    checkDialog(program, "removalDialog", QStringLiteral("32-delete"));
    window->showModels(ui::ModelsPage::Page::Get);
    for (const ui::FamilyMember& member : ui::family()) {
        const ui::ModelNeeds needs{member.parameters<30'000'000'000, member.parameters> 6e9,
                                   member.bytes / 3, 24.5};
        get->model()->setNeeds(QString::fromLatin1(member.variant), needs);
    }
    get->card()->setNeedsHere(ui::ModelNeeds{true, false, 11'000'000'000, 24.5});
    get->card()->setNeedsThere(ui::ModelNeeds{true, true, 3'300'000'000, 88.1});
    check(window, QStringLiteral("33-family"));
    get->card()->showOffer(support::hubOffer());
    get->downloads()->showDownloads(support::downloads());
    check(window, QStringLiteral("34-offer-and-downloads"));
    ui::NetworkFacts forbidden = support::networkFacts();
    forbidden.is_forbidden = true;
    get->setNetwork(forbidden);
    check(window, QStringLiteral("35-network-forbidden"));
    get->setNetwork(support::networkFacts());
    get->downloads()->showDownloads(std::make_shared<const ui::Downloads>());
    Q_EMIT get->card()->tokenRequested(QStringLiteral("ada/private-model"), true);
    get->setNetwork(support::networkFacts());
    checkDialog(program, "tokenDialog", QStringLiteral("36-token"));
    program.find<QAction>("action_whatFits")->trigger();
    ui::FitPage* fit = window->fitPage();
    program.find<ui::CardBox>("fitCard")->choose(ui::listedComputer(QStringLiteral("RTX 4060")));
    fit->selectModel(QStringLiteral("shape:E2B"));
    QTRY_VERIFY(!fit->grid().lines().empty() && !fit->grid().next().has_value());
    fit->showComparisons(QStringLiteral("shape:E2B"), comparisons());
    fit->chart()->setCurrent(ui::FitGrid::Place{3, 4});
    check(window, QStringLiteral("37-what-fits"));
    window->closeModels();
}

/// Player, long recording and microphone, with a loudspeaker and a microphone of the test's own.
void TestScreens::checkSound(Program& program, const QString& long_recording) {
    auto own = std::make_unique<support::FakeDevices>();
    support::FakeDevices* devices = own.get();
    ui::SoundPlayer* player = program.chat().player();
    player->setDevices(std::move(own));
    const auto card = [&]() -> ui::SoundCard* {
        for (ui::SoundCard* one : program.window->findChildren<ui::SoundCard*>()) {
            if (one->isVisible()) {
                return one;
            }
        }
        return nullptr;
    };
    QTRY_VERIFY(card() != nullptr && card()->maximum() > 0.0); // the waveform is there
    player->toggle(card()->clip());
    support::settle();
    devices->out.pull(ui::kSoundRate / 4);
    QVERIFY(player->isPlaying(card()->clip()));
    card()->setFocus();
    check(program.window.get(), QStringLiteral("05b-sound-plays"));
    devices->out.to_open = ui::SoundProblem::NoDevice;
    player->stop();
    player->toggle(card()->clip()); // told in the card and below the conversation
    support::settle();
    QVERIFY(!player->problem(card()->clip()).isEmpty());
    check(program.window.get(), QStringLiteral("05c-no-sound-device"));

    // 75 s of syllables, at a quarter of the usual rate to keep the file small.
    QByteArray samples;
    for (int i = 0; i < 75 * 4000; ++i) {
        const double t = i / 4000.0;
        const double loud =
            std::abs(std::sin(2.1 * t)) * (0.35 + 0.65 * std::abs(std::sin(0.6 * t)));
        const auto value = static_cast<qint16>(12000.0 * loud * std::sin(1200.0 * t));
        samples.append(reinterpret_cast<const char*>(&value), 2);
    }
    QFile file(long_recording);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(ui::wavBytes(samples, 4000));
    file.close();
    program.window->takeFiles({long_recording});
    QTRY_VERIFY(program.find<QAbstractButton>("choosePart") != nullptr &&
                program.find<QAbstractButton>("choosePart")->isVisible());
    support::settle();
    check(program.window.get(), QStringLiteral("05d-long-recording"));
    QTest::mouseClick(program.find<QAbstractButton>("choosePart"), Qt::LeftButton);
    auto* range = program.find<ui::SoundRange>("soundRange");
    QTest::keyClick(range, Qt::Key_PageUp);
    auto* detail = program.find<QLabel>("attachmentDetail");
    const QString cpu = ui::deviceName("sim:0");
    QTRY_VERIFY(detail->text().contains(cpu)); // the engine told the cost of the part
    check(program.window.get(), QStringLiteral("05e-part-of-a-recording"));

    QTest::mouseClick(program.find<QAbstractButton>("recordButton"), Qt::LeftButton);
    devices->in.hear(std::vector<int16_t>(7 * 16000, 6000));
    QVERIFY(program.find<QWidget>("recordStrip")->isVisible());
    check(program.window.get(), QStringLiteral("05f-recording"));
    QTest::mouseClick(program.find<QAbstractButton>("cancelRecording"), Qt::LeftButton);
    devices->in.to_open = ui::SoundProblem::NoDevice;
    QTest::mouseClick(program.find<QAbstractButton>("recordButton"), Qt::LeftButton);
    check(program.window.get(), QStringLiteral("05g-no-microphone"));
    QTest::mouseClick(program.find<QAbstractButton>("cancelRecording"), Qt::LeftButton);
    auto* chip = program.window->findChild<ui::AttachmentChip*>();
    QTest::keyClick(chip, Qt::Key_Delete);
}

void TestScreens::screens() {
    QFETCH(bool, is_dark);
    QFETCH(QString, language);
    is_dark_ = is_dark;
    prefix_ = QStringLiteral("%1-%2-%3-")
                  .arg(language, is_dark ? QStringLiteral("dark") : QStringLiteral("light"))
                  .arg(qRound(100 * qApp->devicePixelRatio()));
    problems_.clear();
    QLocale::setDefault(QLocale(language));
    QTranslator translator;
    app::initTranslationResources();
    if (translator.load(QStringLiteral(":/translations/belfry_%1.qm").arg(language))) {
        QCoreApplication::installTranslator(&translator);
    } else {
        QCOMPARE(language, QStringLiteral("en"));
    }
    QTemporaryDir folder;
    ui::Settings settings;
    settings.theme = is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light;
    {
        Program program(folder.path(), settings);
        program.window->resize(1280, 800);
        QVERIFY(QTest::qWaitForWindowExposed(program.window.get()));
        check(program.window.get(), QStringLiteral("01-first-run"));

        program.session().chooseModel(QStringLiteral("/nonexistent/model"));
        program.window->openModelPanel();
        QTRY_VERIFY(program.session().modelError() != nullptr);
        check(program.window.get(), QStringLiteral("02-broken-folder"));
        QTRY_VERIFY(program.find("removeModelButton")->isVisible()); // gone, not only broken
        check(program.window.get(), QStringLiteral("02b-missing-folder"));

        const QString demo = QString::fromStdString(program.demo);
        QVERIFY(program.choose(demo, "gpu", 8 * kGiB));
        program.session().addAdapter(demo + QStringLiteral("/adapter"));
        QTRY_VERIFY(program.session().coverage(program.session().adapters().front().folder) !=
                    nullptr);
        program.window->openModelPanel();
        QTRY_VERIFY(program.find<QWidget>("assistantProposal")->isVisible());
        check(program.window.get(), QStringLiteral("03-model-panel"));
        program.window->modelPanel()->showComparisons(demo, comparisons());
        check(program.window.get(), QStringLiteral("03c-measured-precisions"));
        program.window->modelPanel()->showComparisons(demo, {});
        QTest::mouseClick(program.find("assistantButton"), Qt::LeftButton);
        QVERIFY(program.find<QWidget>("draftTokensBox")->isVisible());
        check(program.window.get(), QStringLiteral("03b-model-panel-assistant"));
        program.window->modelPanel()->closeFlyout();
        QVERIFY(program.load());
        check(program.window.get(), QStringLiteral("04-ready"));
        checkOtherModel(program, folder.path());
        checkModels(program);

        program.window->takeFiles({program.sample("circles_and_square.png")});
        program.ask(QStringLiteral("What do you see?"));
        QVERIFY(program.waitForReply(2));
        program.window->takeFiles({program.sample("word_seven.wav")});
        program.ask(QStringLiteral("Which word do you hear?"));
        QVERIFY(program.waitForReply(4));
        check(program.window.get(), QStringLiteral("05-chat"));
        Q_EMIT program.window->findChild<QShortcut*>(QStringLiteral("shortcut_find"))->activated();
        QVERIFY(program.find<QWidget>("findBar")->isVisible());
        program.find<QLineEdit>("findField")->setText(QStringLiteral("e"));
        QTRY_VERIFY(program.find<QLabel>("findCount")->text().size() > 4);
        check(program.window.get(), QStringLiteral("05c-find"));
        QTest::keyClick(program.find<QLineEdit>("findField"), Qt::Key_Escape);
        Q_EMIT program.window->chatView()->messageList()->attachmentActivated(0, 0);
        auto* picture = program.window->findChild<ui::PictureView*>();
        QTRY_VERIFY(!picture->shownSize().isEmpty());
        checkAsIs(picture, QStringLiteral("05d-picture"));
        QTest::keyClick(picture, Qt::Key_Escape);
        checkSound(program, folder.filePath(QStringLiteral("interview.wav")));

        program.window->setTab(ui::MainWindow::Tab::Layout);
        check(program.window.get(), QStringLiteral("06-layout"));
        // Held, not let go: every lane tells what it would hold, and the price is shown.
        QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu(), false));
        checkAsIs(program.window.get(), QStringLiteral("06b-layout-held"));
        QWidget* held = program.window->layoutView()->blockWidget(QStringLiteral("vision"));
        QTest::keyClick(held, Qt::Key_Escape);
        QTest::mouseRelease(held, Qt::LeftButton);
        QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu()));
        QVERIFY(program.waitForPlace(QStringLiteral("vision"), DeviceId::cpu()));
        check(program.window.get(), QStringLiteral("07-layout-staged"));
        program.window->setTab(ui::MainWindow::Tab::Both);
        check(program.window.get(), QStringLiteral("08-both"));
        program.window->setTab(ui::MainWindow::Tab::Chat);

        QTest::mouseClick(program.find<QAbstractButton>("compareButton"), Qt::LeftButton);
        QTRY_VERIFY(program.window->comparePane()->isVisible());
        check(program.window.get(), QStringLiteral("09-compare"));
        QTest::mouseClick(program.find("compareRun"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(program.session().state() == ui::Session::State::Ready &&
                                     !program.window->comparePane()->isRunning(),
                                 20000);
        check(program.window.get(), QStringLiteral("09b-compared"));
        // The last question once more, as after Apply.
        ui::ComparePane::Before before;
        before.reply.text = program.chat().chat().turns.back().text.toStdString();
        before.reply.timing = program.chat().chat().turns.back().timing;
        auto elsewhere =
            std::make_shared<engine::PlacementPlan>(*program.session().snapshot()->plan);
        elsewhere->estimate.image_s += 1.7;
        elsewhere->devices.front().parts[engine::MemoryPart::Weights] += 321U << 20U;
        before.plan = program.session().snapshot()->plan;
        program.window->comparePane()->askAgain(before, elsewhere);
        QTRY_VERIFY(program.session().state() == ui::Session::State::Ready &&
                    !program.window->comparePane()->isRunning());
        check(program.window.get(), QStringLiteral("09c-asked-again"));
        Q_EMIT program.window->comparePane()->closeRequested();

        // What a file costs, before it is sent.
        program.window->takeFiles({program.sample("circles_and_square.png")});
        program.input()->setPlainText(QStringLiteral("And this?"));
        QTRY_VERIFY(program.find<QWidget>("attachmentChip") != nullptr);
        check(program.window.get(), QStringLiteral("20-before-sending"));
        for (const char* name : {"notes.txt", "circles_and_square.png"}) {
            QMimeData data;
            data.setUrls({QUrl::fromLocalFile(program.sample(name))});
            QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
            QCoreApplication::sendEvent(program.window.get(), &enter);
            QDragMoveEvent move(QPoint(410, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
            QCoreApplication::sendEvent(program.window.get(), &move);
            QCOMPARE(move.isAccepted(), QLatin1String(name) != QLatin1String("notes.txt"));
            checkAsIs(program.window.get(), move.isAccepted() ? QStringLiteral("21-drop")
                                                              : QStringLiteral("21b-drop-refused"));
            QDragLeaveEvent leave;
            QCoreApplication::sendEvent(program.window.get(), &leave);
        }
        program.input()->clear();

        engine::Error error;
        error.code = engine::ErrorCode::OutOfMemory;
        error.message = "model.vision_tower on sim:0: 312 MiB asked, 204 MiB free";
        Q_EMIT program.session().failed(
            QCoreApplication::translate("ui::Session",
                                        "Nothing was moved; everything is where it was"),
            error);
        check(program.window.get(), QStringLiteral("10-error"));
        error.code = engine::ErrorCode::DeviceLost;
        error.message = "cuda:0: the device stopped answering (CUDA_ERROR_ILLEGAL_ADDRESS)";
        error.details = {{std::string(engine::kNeedsNewProcess), "true"}};
        program.session().showDeviceError(error);
        check(program.window.get(), QStringLiteral("10b-card-lost"));
        program.window->notice()->hide();

        program.window->openSettings();
        checkDialog(program, "settingsDialog", QStringLiteral("11-settings"));
        program.window->openShortcuts();
        checkDialog(program, "shortcutsDialog", QStringLiteral("12-shortcuts"));
        program.window->openShortcutEditor();
        checkDialog(program, "shortcutEditor", QStringLiteral("12b-shortcut-editor"));
        program.window->openComputer();
        auto* computer = program.window->findChild<QPushButton*>(QStringLiteral("copyComputer"));
        QTRY_VERIFY_WITH_TIMEOUT(computer->isEnabled(), 20000); // the facts are there
        checkDialog(program, "computerDialog", QStringLiteral("13-computer"));
        ui::ServingState serving;
        program.window->showServing(serving);
        program.window->openServing();
        checkDialog(program, "servingDialog", QStringLiteral("13c-serving-off"));
        serving.kind = ui::ServingState::Kind::Answering;
        serving.address = QStringLiteral("http://127.0.0.1:8642/v1");
        serving.model = QStringLiteral("belfry");
        serving.token = QStringLiteral("bf-0123456789abcdefghijklmnopqrstuvwxyz");
        serving.answered = 1234;
        serving.waiting = 3;
        program.window->showServing(serving);
        program.window->openServing();
        checkDialog(program, "servingDialog", QStringLiteral("13d-serving-on"));
        program.window->openDiagnostics();
        checkDialog(program, "diagnosticsDialog", QStringLiteral("13-diagnostics"));
        program.window->openAbout();
        checkDialog(program, "aboutDialog", QStringLiteral("13b-about"));
        QTest::mouseClick(program.find("adapterReport"), Qt::LeftButton);
        // Base and adapter give different values: measured on the loaded model.
        QTRY_VERIFY(program.find("checkEffect")->isEnabled());
        QTest::mouseClick(program.find("checkEffect"), Qt::LeftButton);
        QTRY_VERIFY(program.session().state() == ui::Session::State::Ready);
        if (language == QStringLiteral("en")) {
            const QString effect = program.find<QLabel>("coverageEffect")->text();
            QVERIFY2(effect.startsWith(QStringLiteral("It acts.")), qPrintable(effect));
            const auto* table = program.find<QAbstractItemView>("coverageTable")->model();
            for (int row = 0; row < table->rowCount(); ++row) {
                QVERIFY2(
                    !table->index(row, ui::CoverageModel::NormColumn).data().toString().isEmpty(),
                    qPrintable(table->index(row, 0).data().toString()));
            }
        }
        checkDialog(program, "coverageDialog", QStringLiteral("14-coverage"));
    }
    {
        // The state after the first click: the demo is loaded, its samples wait to be asked.
        QTemporaryDir first;
        Program program(first.path(), settings);
        program.window->resize(1280, 800);
        QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 8 * kGiB));
        QVERIFY(program.load());
        QTRY_VERIFY(program.find<QWidget>("samplesStrip")->isVisible());
        check(program.window.get(), QStringLiteral("22-samples"));
        program.window->setTab(ui::MainWindow::Tab::Both);
        check(program.window.get(), QStringLiteral("22b-samples-both"));
    }
    {
        QTemporaryDir other;
        Program program(other.path(), settings);
        program.window->resize(1280, 800);
        QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 4ULL << 20U));
        program.window->setTab(ui::MainWindow::Tab::Layout);
        QTRY_VERIFY(!program.window->layoutView()->stagedPlan()->fits);
        check(program.window.get(), QStringLiteral("15-over-full"));

        ui::LayoutView* view = program.window->layoutView();
        view->lookAt(ui::listedComputer(QStringLiteral("RTX 4060")));
        QTRY_VERIFY(view->lane(DeviceId::cuda(0)) != nullptr);
        check(program.window.get(), QStringLiteral("17-what-if-listed"));
        const ui::GraphicsCard own{QStringLiteral("Workshop card"), 10, 400, 30};
        view->lookAt({QStringLiteral("Two workshop cards"), {own, own}, 64});
        QTRY_VERIFY(view->lane(DeviceId::cuda(1)) != nullptr);
        check(program.window.get(), QStringLiteral("18-what-if-own"));
        auto* menu = view->findChild<QMenu*>(QStringLiteral("layoutWhatIfMenu"));
        QVERIFY(menu != nullptr);
        Q_EMIT menu->aboutToShow();
        menu->findChild<QAction*>(QStringLiteral("whatIf.model.E4B"))->trigger();
        QTRY_VERIFY(view->findChild<QAbstractButton*>(QStringLiteral("layoutWhatIf"))
                        ->text()
                        .contains(QStringLiteral("E4B")));
        check(program.window.get(), QStringLiteral("19-what-if-not-on-disk"));
    }
    {
        // Loading, held still: a window without an engine behind it.
        ui::WindowSetup setup;
        setup.settings = settings;
        ui::MainWindow window(setup);
        window.resize(1280, 800);
        window.show();
        auto summary = std::make_shared<engine::ModelSummary>();
        summary->variant = "E2B";
        summary->parameters = 5'100'000'000;
        summary->bytes = 10'200'000'000;
        summary->dtype = "bfloat16";
        summary->quantization = "none";
        summary->max_context = 131072;
        summary->has_audio = summary->has_vision = true;
        const QString model = QStringLiteral("/models/gemma-4-E2B-it");
        window.session()->chooseModel(model);
        window.session()->showModel(model, summary);
        window.session()->load();
        auto snapshot = std::make_shared<engine::EngineSnapshot>();
        snapshot->state = engine::EngineSnapshot::State::Loading;
        snapshot->stage = "read";
        snapshot->bytes_done = 1'300'000'000;
        snapshot->bytes_total = 2'100'000'000;
        window.session()->showSnapshot(snapshot);
        check(&window, QStringLiteral("16-loading"));
    }
    QCoreApplication::removeTranslator(&translator);
    for (const QString& problem : std::as_const(problems_)) {
        qWarning("%s", qPrintable(problem)); // QVERIFY2 shortens a long list
    }
    QVERIFY2(problems_.isEmpty(), qPrintable(problems_.join(QLatin1Char('\n'))));
}

TEST_CLASS_WITH(QApplication, TestScreens)
#include "tst_screens.moc"
