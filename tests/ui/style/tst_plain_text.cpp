// SPDX-License-Identifier: Apache-2.0
// Names of files, models, adapters and chats are other people's words. None is read as rich text,
// which would open files and, on Windows, shares: every label, tool tip and message box shows it
// letter by letter, and no source makes a widget that would not.
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"
#include "ui/history/history_pane.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QApplication>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QHelpEvent>
#include <QImage>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocument>
#include <QToolTip>

#include <memory>

namespace {

QLabel* shownTip() {
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        if (widget->inherits("QTipLabel") && widget->isVisible()) {
            return qobject_cast<QLabel*>(widget);
        }
    }
    return nullptr;
}

} // namespace

class TestPlainText : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void labels();
    void toolTips();
    void messageBoxes();
    void wholeWindow();
    void longTipsAreBroken();
    void sources();

private:
    QTemporaryDir folder_;
    QString hostile_; ///< A name that is a picture of 400 x 400 where it is read as rich text.
};

void TestPlainText::initTestCase() {
    ui::applyTheme(*qApp);
    const QString file = folder_.filePath(QStringLiteral("seen.png"));
    QVERIFY(QImage(400, 400, QImage::Format_RGB32).save(file));
    hostile_ = QStringLiteral("<img src=\"%1\">").arg(file);
    QVERIFY(Qt::mightBeRichText(hostile_));
    QLabel rich; // the picture counts where it is opened: what the other tests rely on
    rich.setTextFormat(Qt::RichText);
    rich.setText(hostile_);
    QVERIFY(rich.sizeHint().height() >= 400);
}

void TestPlainText::labels() {
    QLabel label(hostile_);
    QVERIFY2(label.sizeHint().height() < 100, "a label that was measured before it was shown");
    label.show();
    QCOMPARE(label.textFormat(), Qt::PlainText);
    label.setText(QStringLiteral("&lt;") + hostile_);
    QVERIFY(label.sizeHint().height() < 100);
}

void TestPlainText::toolTips() {
    QWidget widget;
    widget.resize(200, 100);
    widget.show();
    QVERIFY(QTest::qWaitForWindowExposed(&widget));
    for (const QString& text :
         {hostile_, QStringLiteral("a &lt; b\n") + hostile_, QStringLiteral("<b>bold</b> name")}) {
        widget.setToolTip(text);
        QHelpEvent event(QEvent::ToolTip, QPoint(20, 20), widget.mapToGlobal(QPoint(20, 20)));
        QCoreApplication::sendEvent(&widget, &event);
        QTRY_VERIFY(shownTip() != nullptr);
        QCOMPARE(shownTip()->textFormat(), Qt::PlainText);
        QCOMPARE(shownTip()->text(), text);
        QVERIFY(shownTip()->height() < 200);
        QToolTip::showText(widget.mapToGlobal(QPoint(40, 40)), text + QLatin1Char(' '), &widget);
        QTRY_COMPARE(shownTip()->text(), text + QLatin1Char(' '));
        QVERIFY(shownTip()->height() < 200);
        QToolTip::hideText();
        QTRY_VERIFY(shownTip() == nullptr);
    }
}

void TestPlainText::messageBoxes() {
    QMessageBox box(QMessageBox::Warning, QStringLiteral("Title"), hostile_);
    box.setInformativeText(hostile_);
    box.show();
    QVERIFY(QTest::qWaitForWindowExposed(&box));
    for (const QLabel* label : box.findChildren<QLabel*>()) {
        QVERIFY2(label->text().isEmpty() || label->textFormat() == Qt::PlainText,
                 qPrintable(label->objectName()));
    }
    QVERIFY(box.height() < 400);
}

/// Everything that takes a name gets this one; then every label and every tip of the window is
/// looked at.
void TestPlainText::wholeWindow() {
    ui::MainWindow window{ui::WindowSetup{}};
    window.resize(1500, 900);
    window.show();
    auto summary = std::make_shared<engine::ModelSummary>();
    summary->variant = summary->dtype = summary->quantization = hostile_.toStdString();
    summary->has_audio = summary->has_vision = true;
    engine::AdapterSummary adapter;
    adapter.folder = adapter.name = adapter.kind = hostile_.toStdString();
    adapter.tensors = adapter.active = 2;
    adapter.unmatched = {{hostile_.toStdString(),
                          engine::UnusedKey::Outcome::Ignored,
                          {engine::asItIs(hostile_.toStdString())}}};
    summary->adapters.push_back(adapter);
    const QString model = QStringLiteral("/models/") + hostile_;
    window.session()->chooseModel(model);
    window.session()->addAdapter(hostile_);
    window.session()->showModel(model, summary);
    ui::ChatDocument chat;
    chat.id = QStringLiteral("chat");
    chat.title = chat.system_prompt = hostile_;
    window.chatView()->setChat(chat);
    ui::ChatSettings settings;
    settings.prompts = {{hostile_, hostile_}};
    settings.presets = {{hostile_, {}}};
    window.chatView()->setSettings(settings);
    window.chatView()->attachFiles({folder_.filePath(QStringLiteral("<b>a</b>.png"))});
    ui::ChatSummary listed;
    listed.id = chat.id;
    listed.title = hostile_;
    window.historyPane()->showChats({}, {listed});
    window.notice()->showFolded(hostile_, hostile_, hostile_);
    window.openModelPanel();
    QTest::qWait(50);
    int looked_at = 0;
    const QList<QWidget*> all = window.findChildren<QWidget*>();
    for (QWidget* widget : all) {
        if (const auto* label = qobject_cast<QLabel*>(widget)) {
            label->ensurePolished();
            // Rich on purpose: only with escaped names in them.
            const bool is_rich = label->textFormat() == Qt::RichText;
            QVERIFY2(label->textFormat() == Qt::PlainText || is_rich,
                     qPrintable(label->objectName() + label->text()));
            QVERIFY2(!is_rich || !label->text().contains(QLatin1String("<img")),
                     qPrintable(label->objectName()));
            ++looked_at;
        }
        if (Qt::mightBeRichText(widget->toolTip()) && widget->isVisible()) {
            const QPoint at = widget->rect().center();
            QHelpEvent event(QEvent::ToolTip, at, widget->mapToGlobal(at));
            QCoreApplication::sendEvent(widget, &event);
            if (const QLabel* tip = shownTip()) {
                QCOMPARE(tip->textFormat(), Qt::PlainText);
                QVERIFY(tip->height() < 300);
            }
            QToolTip::hideText();
            ++looked_at;
        }
    }
    QVERIFY(looked_at > 50);
}

void TestPlainText::longTipsAreBroken() {
    const QString words = QStringLiteral("You answer in short, plain sentences. ").repeated(12);
    const QString tip = ui::toolTipText(words);
    for (const QString& line : tip.split(QLatin1Char('\n'))) {
        QVERIFY(line.size() <= 72);
    }
    QCOMPARE(tip.simplified(), words.simplified());
    const QString path = QStringLiteral("/home/") + QString(200, QLatin1Char('x'));
    QCOMPARE(ui::toolTipText(path).remove(QLatin1Char('\n')), path);
    QCOMPARE(ui::toolTipText(QStringLiteral("short\ntext")), QStringLiteral("short\ntext"));
}

/// What shows rich text whatever the style says is used nowhere, but where it is written with
/// escaped names.
void TestPlainText::sources() {
    const QRegularExpression rich(QStringLiteral(
        "RichText|AutoText|MarkdownText|setHtml|insertHtml|appendHtml|setMarkdown|toHtml\\(|"
        "QTextBrowser|QWhatsThis|setWhatsThis|QSplashScreen|QGraphicsTextItem|QStaticText"));
    const QStringList known = {
        QStringLiteral("ui/explore/fit_page.cpp"), QStringLiteral("ui/layout/notice_bar.cpp"),
        QStringLiteral("ui/layout/layout_view_show.cpp"),
        QStringLiteral("ui/model/model_panel.cpp"), QStringLiteral("ui/style/belfry_style.cpp")};
    const QDir root(QString::fromStdString((support::sourceDir()).string()));
    int files = 0;
    QStringList found;
    for (const char* part : {"ui", "app"}) {
        QDirIterator it(root.filePath(QString::fromLatin1(part)), {QStringLiteral("*.cpp")},
                        QDir::Files, QDirIterator::Subdirectories);
        while (it.hasNext()) {
            QFile file(it.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            ++files;
            const QString name = root.relativeFilePath(file.fileName());
            int number = 0;
            for (const QByteArray& line : file.readAll().split('\n')) {
                ++number;
                if (!known.contains(name) && rich.match(QString::fromUtf8(line)).hasMatch()) {
                    found.append(QStringLiteral("%1:%2: %3")
                                     .arg(name)
                                     .arg(number)
                                     .arg(QString::fromUtf8(line.trimmed())));
                }
            }
        }
    }
    QVERIFY(files > 100);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(QLatin1Char('\n'))));
}

TEST_CLASS_WITH(QApplication, TestPlainText)
#include "tst_plain_text.moc"
