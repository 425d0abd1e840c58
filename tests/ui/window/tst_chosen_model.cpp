// SPDX-License-Identifier: Apache-2.0
// The model that is loaded and the one that is chosen are two things: what the top bar, the title
// and the composer say of each, and the ways from one to the other. Esc while one is loaded.
#include "engine/api/load_request.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/model/chosen_chip.h"
#include "ui/model/model_button.h"
#include "ui/model/model_panel.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using ui::MainWindow;
using ui::Session;

namespace {

const QString kOther = QStringLiteral("/models/gemma-4-E2B-it");

std::shared_ptr<const engine::ModelSummary> summary(const char* folder) {
    auto model = std::make_shared<engine::ModelSummary>();
    model->folder = folder;
    model->variant = "E2B";
    model->parameters = 2'000'000;
    model->has_vision = true;
    return model;
}

QString textOf(QWidget* window, const char* name) {
    auto* label = window->findChild<QLabel*>(QString::fromLatin1(name));
    return label != nullptr ? label->text() : QString();
}

/// A window in which the demo is loaded; the engine is played by the test.
class Window {
public:
    Window() : window(setup()) {
        window.resize(1280, 800);
        window.show();
        session().chooseModel(QStringLiteral("demo"));
        session().showModel(QStringLiteral("demo"), summary("demo"));
        session().load();
        finish("demo");
    }
    /// Tells about the chosen folder, as the planner's thread would.
    void tell(const QString& assistant) {
        ui::FolderFacts facts;
        facts.assistant = assistant;
        window.recentModels()->showFacts({{session().model(), facts}});
    }
    void finish(const char* folder) {
        auto snapshot = std::make_shared<engine::EngineSnapshot>();
        snapshot->model = summary(folder);
        session().showSnapshot(snapshot);
        session().showLoaded();
    }
    Session& session() { return *window.session(); }
    ui::ChosenChip* chip() { return window.findChild<ui::ChosenChip*>(); }
    template <typename T>
    T* find(const char* name) {
        return window.findChild<T*>(QString::fromLatin1(name));
    }
    MainWindow window;

private:
    static ui::WindowSetup setup() {
        ui::WindowSetup setup;
        setup.has_demo_model = true;
        return setup;
    }
};

} // namespace

class TestChosenModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void bothAreOnScreen();
    void loadAndBack();
    void unusableFolder();
    void whatIsKeptOfTheOptions();
    void recentHoldsModelsOnly();
    void assistantIsProposed();
    void escapeAsksBeforeALongLoad();
    void escapeOffersToResume();
    void adapterFiles();
};

void TestChosenModel::bothAreOnScreen() {
    Window w;
    QVERIFY(!w.chip()->isVisible());
    QCOMPARE(w.window.windowTitle(), QStringLiteral("Demo model - Belfry"));
    auto* button = w.find<ui::ModelButton>("modelButton");
    QVERIFY(button->accessibleName().startsWith(QStringLiteral("Model: Demo model")));
    w.session().chooseModel(kOther);
    // The loaded one stays what it is ...
    QCOMPARE(w.window.windowTitle(), QStringLiteral("Demo model - Belfry"));
    QVERIFY2(button->accessibleName().startsWith(QStringLiteral("Model: Demo model, loaded")),
             qPrintable(button->accessibleName()));
    QCOMPARE(textOf(&w.window, "engineState"), QStringLiteral("Loaded"));
    // ... and the chosen one stands beside it.
    QVERIFY(w.chip()->isVisible());
    QVERIFY(textOf(&w.window, "chosenName").contains(QStringLiteral("gemma-4")));
    QCOMPARE(textOf(&w.window, "chosenState"), QStringLiteral("reading …"));
    QVERIFY(!w.find<QPushButton>("chosenLoad")->isEnabled());
    w.session().showModel(kOther, summary("/models/gemma-4-E2B-it"));
    QCOMPARE(textOf(&w.window, "chosenState"), QStringLiteral("not loaded"));
    QVERIFY(w.find<QPushButton>("chosenLoad")->isEnabled());
    // Who answers is said where the question is written.
    const auto hint = [&] {
        QStringList texts;
        const auto labels = w.window.chatView()->findChildren<QLabel*>();
        for (const QLabel* label : labels) {
            texts.append(label->text());
        }
        return texts.join(QLatin1Char('\n'));
    };
    QVERIFY2(hint().contains(QStringLiteral("Demo model answers")), qPrintable(hint()));
    // "Load" of what was never loaded.
    w.window.openModelPanel();
    QCOMPARE(w.find<QPushButton>("loadButton")->text(), QStringLiteral("&Load"));
    QVERIFY(textOf(&w.window, "chosenModelBeside").contains(QStringLiteral("Demo model answers")));
    w.session().chooseLoaded();
    QCOMPARE(w.find<QPushButton>("loadButton")->text(), QStringLiteral("Re&load"));
    QVERIFY(!hint().contains(QStringLiteral("Demo model answers")));
}

void TestChosenModel::loadAndBack() {
    Window w;
    QSignalSpy wanted(&w.session(), &Session::loadRequested);
    w.session().chooseModel(kOther);
    w.session().showModel(kOther, summary("/models/gemma-4-E2B-it"));
    QTest::mouseClick(w.find<QPushButton>("chosenBack"), Qt::LeftButton);
    QCOMPARE(w.session().model(), QStringLiteral("demo"));
    QVERIFY(!w.chip()->isVisible());
    QCOMPARE(wanted.size(), 0);
    w.session().showModel(QStringLiteral("demo"), summary("demo"));
    w.session().chooseModel(kOther);
    w.session().showModel(kOther, summary("/models/gemma-4-E2B-it"));
    QTest::mouseClick(w.find<QPushButton>("chosenLoad"), Qt::LeftButton);
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted.last().first().value<engine::LoadRequest>().model,
             std::string("/models/gemma-4-E2B-it"));
    // While it is loaded the window speaks of it.
    QVERIFY(!w.chip()->isVisible());
    QCOMPARE(w.window.windowTitle(), QStringLiteral("gemma-4-E2B-it - Belfry"));
    w.finish("/models/gemma-4-E2B-it");
    QCOMPARE(w.window.windowTitle(), QStringLiteral("gemma-4-E2B-it - Belfry"));
    QVERIFY(!w.chip()->isVisible());
}

void TestChosenModel::unusableFolder() {
    Window w;
    w.session().chooseModel(QStringLiteral("/models/empty"));
    w.session().showModelError(QStringLiteral("/models/empty"),
                               {engine::ErrorCode::InvalidFile, "no config.json"});
    QCOMPARE(textOf(&w.window, "chosenState"), QStringLiteral("cannot be used"));
    QVERIFY(!w.find<QPushButton>("chosenLoad")->isVisible());
    QVERIFY(w.find<QPushButton>("chosenWhy")->isVisible());
    QTest::mouseClick(w.find<QPushButton>("chosenWhy"), Qt::LeftButton);
    QVERIFY(w.window.modelPanel()->isVisible());
    QCOMPARE(textOf(&w.window, "engineState"), QStringLiteral("Loaded"));
    QCOMPARE(w.window.windowTitle(), QStringLiteral("Demo model - Belfry"));
}

void TestChosenModel::whatIsKeptOfTheOptions() {
    Window w;
    engine::LoadRequest options = w.session().request();
    options.device_map = R"({"version": 1})";
    options.quant = "nf4";
    w.session().setOptions(options);
    QCOMPARE(w.session().loadedRequest().quant, std::string("none"));
    w.session().chooseModel(kOther);
    QCOMPARE(w.session().request().quant, std::string("nf4"));
    // A map names the parts of one model.
    QCOMPARE(w.session().request().device_map, std::string("fit"));
    w.session().chooseLoaded();
    QCOMPARE(w.session().request().quant, std::string("none"));
}

void TestChosenModel::recentHoldsModelsOnly() {
    Window w;
    w.session().chooseModel(QStringLiteral("/models/empty"));
    w.session().showModelError(QStringLiteral("/models/empty"),
                               {engine::ErrorCode::InvalidFile, "no config.json"});
    QCOMPARE(w.window.recentModels()->folders(), QStringList());
    w.session().chooseModel(kOther);
    QCOMPARE(w.window.recentModels()->folders(), QStringList()); // nobody knows yet
    w.session().showModel(kOther, summary("/models/gemma-4-E2B-it"));
    QCOMPARE(w.window.recentModels()->folders(), QStringList{kOther});
}

/// One that is known is proposed, taken by a click and by the list, and stays with its model.
void TestChosenModel::assistantIsProposed() {
    Window w;
    w.session().chooseModel(kOther);
    w.session().showModel(kOther, summary("/models/gemma-4-E2B-it"));
    w.window.openModelPanel();
    auto* proposal = w.find<QWidget>("assistantProposal");
    auto* box = w.find<QComboBox>("assistantBox");
    auto* tokens = w.find<QComboBox>("draftTokensBox");
    QVERIFY(!proposal->isVisible());
    QVERIFY(!tokens->isVisible());
    QCOMPARE(box->currentText(), QStringLiteral("None"));
    w.tell(kOther + QStringLiteral("-assistant"));
    QVERIFY(proposal->isVisible());
    QTest::mouseClick(w.find<QPushButton>("assistantButton"), Qt::LeftButton);
    QVERIFY(!proposal->isVisible());
    QCOMPARE(w.session().request().draft, std::string("auto"));
    QCOMPARE(box->currentText(), QStringLiteral("gemma-4-E2B-it-assistant"));
    QVERIFY(tokens->isVisible());
    QCOMPARE(tokens->currentText(), QStringLiteral("As many as pay"));
    tokens->setCurrentIndex(tokens->findData(4));
    Q_EMIT tokens->activated(tokens->currentIndex());
    QCOMPARE(w.session().request().draft_tokens, int64_t{4});
    // A folder of the user's own: the last entry asks for it and is no choice itself.
    QSignalSpy asked(w.window.modelPanel(), &ui::ModelPanel::assistantDialogRequested);
    box->setCurrentIndex(box->count() - 1);
    Q_EMIT box->activated(box->count() - 1);
    QCOMPARE(asked.count(), 1);
    QCOMPARE(box->currentText(), QStringLiteral("gemma-4-E2B-it-assistant"));
    engine::LoadRequest options = w.session().request();
    options.draft = "/elsewhere/my-assistant";
    w.session().setOptions(options);
    QCOMPARE(box->currentText(), QStringLiteral("my-assistant"));
    // It is of that model: another one does not take it along.
    w.session().chooseModel(QStringLiteral("/models/gemma-4-31B-it"));
    QCOMPARE(w.session().request().draft, std::string());
}

void TestChosenModel::escapeAsksBeforeALongLoad() {
    Window w;
    w.session().chooseModel(kOther);
    w.session().showModel(kOther, summary("/models/gemma-4-E2B-it"));
    w.session().load();
    QSignalSpy cancelled(&w.session(), &Session::cancelRequested);
    QTest::qWait(3100);
    QTest::keyClick(&w.window, Qt::Key_Escape);
    QCOMPARE(cancelled.size(), 0);
    QVERIFY(w.window.notice()->isVisible());
    auto* stop = w.window.notice()->findChild<QPushButton*>(QStringLiteral("noticeAction"));
    QVERIFY(stop != nullptr && stop->isVisible());
    QCOMPARE(stop->text(), QStringLiteral("Stop loading"));
    // The load ends by itself: the question with it.
    w.finish("/models/gemma-4-E2B-it");
    QVERIFY(!w.window.notice()->isVisible());
    w.session().load();
    QTest::qWait(3100);
    QTest::keyClick(&w.window, Qt::Key_Escape);
    QTest::mouseClick(stop, Qt::LeftButton);
    QCOMPARE(cancelled.size(), 1);
}

void TestChosenModel::escapeOffersToResume() {
    Window w;
    w.session().chooseModel(kOther);
    w.session().showModel(kOther, summary("/models/gemma-4-E2B-it"));
    w.session().load();
    QSignalSpy cancelled(&w.session(), &Session::cancelRequested);
    QSignalSpy wanted(&w.session(), &Session::loadRequested);
    QTest::keyClick(&w.window, Qt::Key_Escape);
    QCOMPARE(cancelled.size(), 1);
    QVERIFY(w.window.notice()->isVisible());
    auto* resume = w.window.notice()->findChild<QPushButton*>(QStringLiteral("noticeAction"));
    QVERIFY(resume != nullptr && resume->isVisible());
    QCOMPARE(resume->text(), QStringLiteral("Resume"));
    // Pressed before the engine has said that it stopped: it follows then.
    QTest::mouseClick(resume, Qt::LeftButton);
    QCOMPARE(wanted.size(), 0);
    w.session().showLoadError({engine::ErrorCode::Cancelled, "stopped"});
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted.last().first().value<engine::LoadRequest>().model,
             std::string("/models/gemma-4-E2B-it"));
}

/// A GGUF file is added where it says that it is an adapter, else chosen.
void TestChosenModel::adapterFiles() {
    const QTemporaryDir folder;
    const auto write = [&folder](const char* name, std::string_view mark) {
        QString path = folder.filePath(QString::fromLatin1(name));
        QFile file(path);
        const QByteArray bytes = "GGUF" + QByteArray(mark.data(), static_cast<int>(mark.size()));
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() ? path
                                                                                    : QString();
    };
    const QString adapter = write("lora.GGUF", engine::kGgufAdapterMark);
    const QString model = write("model.gguf", "general.type, adapter");
    Window w;
    w.window.takeFiles({adapter});
    QCOMPARE(w.session().adapters().size(), size_t{1});
    QCOMPARE(w.session().adapters()[0].folder, adapter.toStdString());
    QCOMPARE(w.session().model(), QStringLiteral("demo"));
    w.window.takeFiles({model});
    QCOMPARE(w.session().model(), model);
}

TEST_CLASS_WITH(QApplication, TestChosenModel)
#include "tst_chosen_model.moc"
