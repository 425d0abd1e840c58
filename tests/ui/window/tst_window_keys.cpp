// SPDX-License-Identifier: Apache-2.0
// The keys that F1 lists act wherever the focus is: every action of the window and of the chat from
// every control of every tab, also from fields that would use the keys for editing; letters that
// are typed beside the composer arrive there; Ctrl+1, 2 and 3 put the focus into the pane.
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/message_list.h"
#include "ui/common/shortcuts.h"
#include "ui/common/unique_id.h"
#include "ui/layout/layout_view.h"
#include "ui/model/session.h"
#include "ui/style/theme.h"
#include "ui/window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QShortcut>
#include <QTest>

#include <memory>

using ui::MainWindow;

namespace {

struct WindowKeysFixture {
    MainWindow window{ui::WindowSetup{}};
    ui::ChatView* chat = window.chatView();
    QPlainTextEdit* input = window.findChild<QPlainTextEdit*>(QStringLiteral("messageInput"));

    WindowKeysFixture() {
        window.resize(1500, 900);
        window.show();
        window.activateWindow(); // without a window manager nobody else does
        (void)QTest::qWaitForWindowActive(&window);
        auto summary = std::make_shared<engine::ModelSummary>();
        summary->variant = "E2B";
        summary->has_audio = summary->has_vision = true;
        const QString model = QStringLiteral("/models/gemma-4-E2B-it");
        window.session()->chooseModel(model);
        window.session()->showModel(model, summary);
        ui::ChatDocument document;
        document.id = QStringLiteral("chat");
        for (int i = 0; i < 2; ++i) {
            ui::ChatTurn turn;
            turn.id = ui::makeUniqueId();
            turn.role = i == 0 ? engine::Message::Role::User : engine::Message::Role::Assistant;
            turn.text = QStringLiteral("Message %1").arg(i);
            document.turns.push_back(turn);
        }
        chat->setChat(document);
        window.refreshEmptyState();
        QTest::qWait(20);
    }
    /// Some may go while keys are pressed: what a timer closes or the plan makes anew.
    [[nodiscard]] QList<QPointer<QWidget>> controls() {
        QList<QPointer<QWidget>> all;
        for (QWidget* widget = window.nextInFocusChain(); widget != &window;
             widget = widget->nextInFocusChain()) {
            if (widget->isVisible() && widget->isEnabled() && widget->window() == &window &&
                (widget->focusPolicy() & Qt::TabFocus) != 0 && widget->focusProxy() == nullptr) {
                all.append(widget);
            }
        }
        return all;
    }
};

} // namespace

class TestWindowKeys : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void actEverywhere_data();
    void actEverywhere();
    void showWhatTheyChange();
    void focusOfTheTabs();
    void lettersGoToTheComposer();
    void listIsComplete();
};

void TestWindowKeys::actEverywhere_data() {
    QTest::addColumn<MainWindow::Tab>("tab");
    QTest::newRow("chat") << MainWindow::Tab::Chat;
    QTest::newRow("layout") << MainWindow::Tab::Layout;
    QTest::newRow("both") << MainWindow::Tab::Both;
}

void TestWindowKeys::actEverywhere() {
    QFETCH(MainWindow::Tab, tab);
    WindowKeysFixture f;
    f.window.setTab(tab);
    QTest::qWait(20);
    // Only whether the action is reached: what it does is not wanted here.
    QString reached;
    for (const ui::Shortcut& shortcut : ui::shortcuts()) {
        if (auto* action =
                f.window.findChild<QAction*>(QStringLiteral("action_") + shortcut.action)) {
            action->disconnect(SIGNAL(triggered(bool)));
            connect(action, &QAction::triggered, this,
                    [&reached, name = shortcut.action] { reached = name; });
        } else if (auto* of_pane = f.window.findChild<QShortcut*>(QStringLiteral("shortcut_") +
                                                                  shortcut.action)) {
            of_pane->disconnect();
            connect(of_pane, &QShortcut::activated, this,
                    [&reached, name = shortcut.action] { reached = name; });
        }
    }
    QStringList dead;
    int tried = 0;
    for (const QPointer<QWidget>& control : f.controls()) {
        for (const ui::Shortcut& shortcut : ui::shortcuts()) {
            if (shortcut.isFixed() || shortcut.group == ui::layoutGroup()) {
                continue;
            }
            for (const QKeySequence& keys : shortcut.keys) {
                if (control == nullptr) {
                    break;
                }
                control->setFocus();
                reached.clear();
                QTest::keyClick(control, keys[0].key(), keys[0].keyboardModifiers());
                ++tried;
                if (reached != shortcut.action && control != nullptr) {
                    dead.append(QStringLiteral("%1 (%2) from %3 '%4'")
                                    .arg(shortcut.action, keys.toString(),
                                         QString::fromLatin1(control->metaObject()->className()),
                                         control->objectName()));
                }
            }
        }
    }
    QVERIFY(tried > 200);
    QVERIFY2(dead.isEmpty(), qPrintable(dead.mid(0, 12).join(QLatin1Char('\n'))));
}

void TestWindowKeys::showWhatTheyChange() {
    WindowKeysFixture f;
    f.window.setTab(MainWindow::Tab::Layout);
    QVERIFY(!f.chat->isVisible());
    QTest::keyClick(&f.window, Qt::Key_R, Qt::ControlModifier);
    QCOMPARE(f.window.tab(), MainWindow::Tab::Chat);
    QVERIFY(f.chat->isVisible());
    f.window.setComparing(true);
    QVERIFY(!f.chat->isVisible());
    QTest::keyClick(&f.window, Qt::Key_Left, Qt::AltModifier);
    QVERIFY(f.chat->isVisible());
}

void TestWindowKeys::focusOfTheTabs() {
    WindowKeysFixture f;
    auto* button = f.window.findChild<QPushButton*>(QStringLiteral("modelButton"));
    button->setFocus();
    QTest::keyClick(button, Qt::Key_1, Qt::ControlModifier);
    QVERIFY(f.input->hasFocus());
    QTest::keyClick(f.input, Qt::Key_2, Qt::ControlModifier);
    QWidget* focused = f.window.focusWidget();
    QVERIFY(focused != nullptr);
    QVERIFY2(focused == f.window.layoutView() || f.window.layoutView()->isAncestorOf(focused),
             focused->metaObject()->className());
    QTest::keyClick(focused, Qt::Key_3, Qt::ControlModifier);
    QCOMPARE(f.window.focusWidget(), focused); // it is still there
    QTest::keyClick(focused, Qt::Key_1, Qt::ControlModifier);
    QVERIFY(f.input->hasFocus());
}

void TestWindowKeys::lettersGoToTheComposer() {
    WindowKeysFixture f;
    auto* button = f.window.findChild<QPushButton*>(QStringLiteral("modelButton"));
    button->setFocus();
    QTest::keyClicks(button, QStringLiteral("h"));
    QVERIFY(f.input->hasFocus());
    QTest::keyClicks(f.input, QStringLiteral("i"));
    QCOMPARE(f.input->toPlainText(), QStringLiteral("hi"));
    // Where letters mean something, or no chat is shown, they are left alone.
    auto* search = f.window.findChild<QLineEdit*>(QStringLiteral("historySearch"));
    search->setFocus();
    QTest::keyClicks(search, QStringLiteral("cat"));
    QCOMPARE(search->text(), QStringLiteral("cat"));
    f.window.setTab(MainWindow::Tab::Layout);
    button->setFocus();
    QTest::keyClicks(button, QStringLiteral("x"));
    QCOMPARE(f.input->toPlainText(), QStringLiteral("hi"));
}

void TestWindowKeys::listIsComplete() {
    // The layout's own keys, which it reads itself.
    QStringList listed;
    for (const ui::Shortcut& shortcut : ui::shortcuts()) {
        if (shortcut.group == ui::layoutGroup()) {
            for (const QKeySequence& keys : shortcut.keys) {
                listed.append(keys.toString(QKeySequence::PortableText));
            }
        }
    }
    for (const char* key : {"M", "S", "J", "1", "9", "Left", "Return", "Esc", "Space"}) {
        QVERIFY2(listed.contains(QString::fromLatin1(key)), key);
    }
}

TEST_CLASS_WITH(QApplication, TestWindowKeys)

#include "tst_window_keys.moc"
