// SPDX-License-Identifier: Apache-2.0
// The compare pane against a worker that only says what the test tells it to: what is asked of it,
// what the columns show, what is marked, and that nothing stale is left standing. Pictures go to
// $BELFRY_SCREENSHOTS.
#include "engine/api/model_address.h"
#include "tests/support/program/test_class.h"
#include "ui/compare/compare_column.h"
#include "ui/compare/compare_pane.h"
#include "ui/compare/word_diff.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using Sets = std::vector<std::vector<engine::AdapterChoice>>;

namespace {

engine::GenerateRequest sampleRequest() {
    engine::GenerateRequest request;
    engine::MessagePart text;
    text.text = "Which bird is this?";
    engine::MessagePart image{engine::MessagePart::Kind::Image, "/pictures/fence.png"};
    engine::MessagePart early;
    early.text = "Hello";
    request.messages = {{engine::Message::Role::User, {early}},
                        {engine::Message::Role::Assistant, {early}},
                        {engine::Message::Role::User, {image, text}}};
    request.sampling.temperature = 0.7;
    request.sampling.seed = 42;
    request.sampling.max_tokens = 100;
    return request;
}

const std::vector<engine::AdapterChoice> kTwo{{"/adapters/medical", 0.8, true},
                                              {"/adapters/law", 1.0, false}};

engine::Reply reply(const char* text) {
    engine::Reply value;
    value.text = text;
    value.seed = 42;
    value.finish_reason = "stop";
    value.timing.decode_tokens = 40;
    value.timing.decode_s = 0.5;
    value.timing.time_to_first_token_s = 0.14;
    return value;
}

QString marked(const QString& reference, const QString& text) {
    QStringList pieces;
    for (const ui::TextRange& range : ui::compareWords(reference, text).changed) {
        pieces.append(text.mid(range.start, range.length));
    }
    return pieces.join(QLatin1Char('|'));
}

} // namespace

class TestCompare : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup() { pane_.reset(); }
    void wordDiff_data();
    void wordDiff();
    void longAnswersStayCheap();
    void columnsFollowTheAdapters();
    void asksForOneSeed();
    void columnsHaveLoadsOfTheirOwn();
    void saysWhatANewLayoutCosts();
    void showsAnswersAndMarks();
    void serverIsAskedOnce();
    void newColumnIsAnother();
    void fourColumnsStayNarrow();
    void stopAndErrors();
    void editingAColumnClearsIt();
    void foreignAnswersAreIgnored();
    void withoutAdapters();
    void copiesMarkdown();
    void everythingIsNamedAndReachable();
    void pictures();

private:
    template <typename T>
    T* child(const char* name) const {
        return pane_->findChild<T*>(QString::fromLatin1(name));
    }
    [[nodiscard]] ui::CompareColumn* column(size_t index) const {
        return pane_->columns().at(index);
    }

    std::unique_ptr<ui::ComparePane> pane_;
};

void TestCompare::initTestCase() {
    qRegisterMetaType<engine::GenerateRequest>();
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    ui::applyTheme(*qApp);
}

void TestCompare::init() {
    pane_ = std::make_unique<ui::ComparePane>();
    pane_->resize(1000, 640);
    pane_->setReady(true);
    pane_->show();
    QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
    pane_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(pane_.get()));
}

void TestCompare::wordDiff_data() {
    support::addColumns<QString, QString, QString, int>("reference", "text", "changed", "common");
    const auto row = [](const char* name, const char* a, const char* b, const char* c, int n) {
        QTest::newRow(name) << QString::fromUtf8(a) << QString::fromUtf8(b) << QString::fromUtf8(c)
                            << n;
    };
    row("same", "a b  c", "a b\nc", "", 3);
    row("one inserted", "a b c", "a b x c", "x", 2);
    row("one missing", "a b c", "a c", "", 1);
    row("two runs", "the bird is a robin here", "the cat is a small robin here", "cat|small", 1);
    row("neighbours join", "a d", "a b c d", "b c", 1);
    row("nothing in common", "a b", "x y", "x y", 0);
    row("empty reference", "", "x y", "x y", 0);
    row("empty text", "x", "", "", 0);
    row("longer", "a b", "a b c", "c", 2);
    row("other scripts", "紅茶 です", "紅茶 だ 🐦", "だ 🐦", 1);
}

void TestCompare::wordDiff() {
    QFETCH(QString, reference);
    QFETCH(QString, text);
    QFETCH(QString, changed);
    QFETCH(int, common);
    QCOMPARE(marked(reference, text), changed);
    const ui::WordDiff diff = ui::compareWords(reference, text);
    QCOMPARE(int(diff.common_words), common);
    QCOMPARE(diff.is_same, changed.isEmpty() && reference.simplified() == text.simplified());
}

void TestCompare::longAnswersStayCheap() {
    QString a;
    QString b;
    for (int i = 0; i < 20'000; ++i) {
        a += QStringLiteral("a%1 ").arg(i);
        b += QStringLiteral("b%1 ").arg(i);
    }
    const ui::WordDiff diff = ui::compareWords(a, b); // would be 400 million cells
    QCOMPARE(diff.changed.size(), size_t{1});
}

void TestCompare::columnsFollowTheAdapters() {
    QCOMPARE(pane_->columns().size(), size_t{1});
    pane_->setAdapters(kTwo);
    QCOMPARE(pane_->columns().size(), size_t{3}); // what is on is one of them: not twice
    QCOMPARE(column(0)->name(), QStringLiteral("Base model"));
    QCOMPARE(column(1)->name(), QStringLiteral("medical × 0.80"));
    QCOMPARE(column(2)->name(), QStringLiteral("law × 1.00"));
    // A strength moved in the chat does not undo what was set up here.
    column(1)->findChild<QDoubleSpinBox*>()->setValue(0.5);
    auto moved = kTwo;
    moved[0].strength = 0.3;
    pane_->setAdapters(moved);
    QCOMPARE(column(1)->name(), QStringLiteral("medical × 0.50"));
    QTest::mouseClick(column(2)->findChild<QPushButton*>(QStringLiteral("compareRemove")),
                      Qt::LeftButton);
    QCOMPARE(pane_->columns().size(), size_t{2});
    QTest::mouseClick(child<QPushButton>("compareAdd"), Qt::LeftButton);
    QTest::mouseClick(child<QPushButton>("compareAdd"), Qt::LeftButton);
    QCOMPARE(pane_->columns().size(), size_t{4});
    QVERIFY(!child<QPushButton>("compareAdd")->isEnabled());
    pane_->setAdapters({kTwo[0]});
    QCOMPARE(pane_->columns().size(), size_t{2});
    auto both = kTwo;
    both[1].is_enabled = true;
    pane_->setAdapters(both);
    QCOMPARE(pane_->columns().size(), size_t{4});
    QCOMPARE(column(1)->name(), QStringLiteral("medical × 0.80 + law × 1.00"));
}

void TestCompare::columnsHaveLoadsOfTheirOwn() {
    engine::LoadRequest loaded;
    loaded.model = "/models/e2b";
    loaded.device_map = "{}";
    pane_->setRequest(sampleRequest());
    pane_->setLoads(loaded, {{QStringLiteral("e2b-q4"), QStringLiteral("/models/e2b-q4.gguf")}});
    QTest::mouseClick(child<QPushButton>("compareAdd"), Qt::LeftButton); // without any adapter, too
    QCOMPARE(pane_->columns().size(), size_t{2});
    const auto pick = [&](const QString& text) {
        auto* menu = column(1)->findChild<QMenu*>(QStringLiteral("compareLoads"));
        Q_EMIT menu->aboutToShow();
        for (QAction* action : menu->actions()) {
            if (action->text() == text) {
                action->trigger();
            }
        }
    };
    pick(QStringLiteral("4 bits (NF4)"));
    pick(QStringLiteral("Everything on the CPU"));
    QCOMPARE(column(1)->name(),
             QStringLiteral("Base model · Everything on the CPU · 4 bits (NF4)"));
    QVERIFY(!child<QLabel>("compareHint")->text().isEmpty()); // said before it runs
    QSignalSpy asked(pane_.get(), &ui::ComparePane::compareRequested);
    pane_->run();
    const auto loads = asked.last().at(3).value<std::vector<engine::LoadRequest>>();
    QCOMPARE(loads.size(), size_t{2});
    QVERIFY(loads[0].model.empty());
    QCOMPARE(loads[1].quant, std::string("nf4"));
    QCOMPARE(loads[1].device_map, std::string("cpu"));
    pane_->showLoading(1, 1, 1 << 20, 4 << 20);
    QVERIFY(column(1)
                ->findChild<QLabel*>(QStringLiteral("compareStatus"))
                ->text()
                .contains(QStringLiteral("1.0 MiB of 4.0 MiB")));
    pane_->showFinished(1);
    pick(QStringLiteral("e2b-q4"));
    QCOMPARE(column(1)->load().device_map, std::string("fit")); // a map is of one model
    pick(QStringLiteral("As it is loaded"));
    QVERIFY(column(1)->load().model.empty());
}

void TestCompare::saysWhatANewLayoutCosts() {
    const auto plan = [](uint64_t vram, double image_s) {
        auto made = std::make_shared<engine::PlacementPlan>();
        engine::DevicePlan device;
        device.id = engine::DeviceId::cuda(0);
        device.parts[engine::MemoryPart::Weights] = vram;
        made->devices.push_back(device);
        made->estimate.image_s = image_s;
        return made;
    };
    const auto verdict = [&] { return child<QLabel>("compareVerdict")->text(); };
    engine::GenerateRequest request = sampleRequest();
    request.sampling.max_tokens = -1;
    pane_->setRequest(request);
    QSignalSpy asked(pane_.get(), &ui::ComparePane::compareRequested);
    pane_->askAgain({reply("A robin."), plan(400U << 20U, 0.1)}, plan(79U << 20U, 1.8));
    QCOMPARE(asked.size(), 1); // at once, and only what is new
    QCOMPARE(asked.last().at(2).value<Sets>().size(), size_t{1});
    const auto sent = asked.last().at(1).value<engine::GenerateRequest>();
    QCOMPARE(sent.sampling.seed, int64_t{42});
    QCOMPARE(sent.sampling.max_tokens, int64_t{-1}); // as the chat has it
    QCOMPARE(column(0)->text(), QStringLiteral("A robin."));
    pane_->showReply(1, 0, reply("A robin."));
    pane_->showFinished(1);
    QCOMPARE(column(1)->text(), QStringLiteral("A robin."));
    QVERIFY2(verdict().startsWith(QStringLiteral("Identical · 321 MiB of VRAM freed · each "
                                                 "picture about 1.7 s slower")),
             qPrintable(verdict()));
    pane_->run(); // once more
    pane_->showReply(2, 0, reply("A robin, perhaps."));
    pane_->showFinished(2);
    QVERIFY(verdict().startsWith(QStringLiteral("Another answer from word 2 on")));
    pane_->setRequest(sampleRequest()); // Compare itself is as it always was
    pane_->setAdapters(kTwo);
    QVERIFY(!child<QLabel>("compareVerdict")->isVisible());
    QCOMPARE(pane_->columns().size(), size_t{3});
}

void TestCompare::asksForOneSeed() {
    pane_->setAdapters({kTwo[0]});
    pane_->setRequest(sampleRequest());
    QCOMPARE(child<QPlainTextEdit>("comparePrompt")->toPlainText(),
             QStringLiteral("Which bird is this?"));
    QVERIFY(child<QLabel>("compareMedia")->text().contains(QStringLiteral("fence.png")));
    QSignalSpy asked(pane_.get(), &ui::ComparePane::compareRequested);
    child<QPlainTextEdit>("comparePrompt")->setPlainText(QStringLiteral("Name it."));
    child<QPlainTextEdit>("comparePrompt")->setFocus();
    QTest::keyClick(child<QPlainTextEdit>("comparePrompt"), Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(asked.size(), 1);
    const auto request = asked.first().at(1).value<engine::GenerateRequest>();
    QCOMPARE(request.sampling.seed, int64_t{42});
    QCOMPARE(request.sampling.temperature, 0.7);
    QCOMPARE(request.sampling.max_tokens, int64_t{100});
    QCOMPARE(request.messages.size(), size_t{3});
    QCOMPARE(request.messages[2].parts.size(), size_t{2});
    QCOMPARE(request.messages[2].parts[0].text, std::string("/pictures/fence.png"));
    QCOMPARE(request.messages[2].parts[1].text, std::string("Name it."));
    const auto sets = asked.first().at(2).value<Sets>();
    QCOMPARE(sets.size(), size_t{2});
    QVERIFY(!sets[0][0].is_enabled);
    QVERIFY(sets[1][0].is_enabled);
    QCOMPARE(sets[1][0].strength, 0.8);
    QVERIFY(pane_->isRunning());
    pane_->run(); // a second time: nothing
    QCOMPARE(asked.size(), 1);
}

void TestCompare::showsAnswersAndMarks() {
    pane_->setAdapters({kTwo[0]});
    pane_->setRequest(sampleRequest());
    pane_->run();
    pane_->showStarted(1, 0);
    pane_->showUpdate(1, 0, {"A ", "", 1});
    pane_->showUpdate(1, 0, {"robin", "", 2});
    QCOMPARE(column(0)->text(), QStringLiteral("A robin"));
    pane_->showReply(1, 0, reply("A robin sings."));
    QCOMPARE(column(0)->text(), QStringLiteral("A robin sings."));
    QVERIFY2(column(0)->figures().contains(QStringLiteral("80 tokens/s")),
             qPrintable(column(0)->figures()));
    pane_->showStarted(1, 1);
    pane_->showReply(1, 1, reply("A European robin sings."));
    pane_->showFinished(1);
    QVERIFY(!pane_->isRunning());
    auto* body = column(1)->findChild<QPlainTextEdit*>();
    QCOMPARE(body->extraSelections().size(), 1);
    QCOMPARE(body->extraSelections().first().cursor.selectedText(), QStringLiteral("European"));
    QVERIFY(column(0)->findChild<QPlainTextEdit*>()->extraSelections().isEmpty());
    auto* difference = column(1)->findChild<QLabel*>(QStringLiteral("compareDifference"));
    QVERIFY(difference->text().contains(QStringLiteral("word 2")));
    child<QCheckBox>("compareMark")->setChecked(false);
    QVERIFY(body->extraSelections().isEmpty());
}

void TestCompare::serverIsAskedOnce() {
    // A model on a server is offered; the conversation goes there when somebody has ticked it and
    // agreed to it.
    const std::string server = "http://192.0.2.7:8080/v1#slow";
    QVERIFY(engine::isServerModel(server));
    pane_->setAdapters({}, {server});
    pane_->setRequest(sampleRequest(), {}, QStringLiteral("chat 1"));
    QSignalSpy asked(pane_.get(), &ui::ComparePane::compareRequested);
    const auto sendsThere = [&] {
        const auto sets = asked.last().at(2).value<Sets>();
        return std::any_of(sets.begin(), sets.end(), [](const auto& set) {
            return std::any_of(set.begin(), set.end(), [](const auto& choice) {
                return choice.is_enabled && engine::isServerModel(choice.folder);
            });
        });
    };
    for (const ui::CompareColumn* one : pane_->columns()) {
        for (const QCheckBox* box : one->findChildren<QCheckBox*>()) {
            QVERIFY(!box->isChecked());
            QVERIFY2(box->toolTip().contains(QStringLiteral("slow on 192.0.2.7")),
                     qPrintable(box->toolTip()));
        }
    }
    pane_->run();
    QCOMPARE(asked.size(), 1);
    QVERIFY(!sendsThere());
    pane_->showFinished(1);
    child<QPushButton>("compareAdd")->click();
    pane_->run();
    QVERIFY(!sendsThere());
    pane_->showFinished(2);
    column(1)->findChild<QCheckBox*>()->setChecked(true);
    asked.clear();
    pane_->run();
    QCOMPARE(asked.size(), 0);
    auto* words = child<QLabel>("chatNoticeText");
    QVERIFY(words->isVisible());
    QVERIFY2(words->text().contains(QStringLiteral("192.0.2.7")), qPrintable(words->text()));
    auto* agree = child<QPushButton>("noticeChoice");
    QTest::qWait(600); // a click that was meant for what was there before counts for nothing
    agree->click();
    QCOMPARE(asked.size(), 1);
    QVERIFY(sendsThere());
    QVERIFY(!words->isVisible());
    pane_->showFinished(3);
    pane_->run(); // once is enough ...
    QCOMPARE(asked.size(), 2);
    pane_->showFinished(4);
    pane_->setRequest(sampleRequest(), {}, QStringLiteral("chat 2"));
    pane_->run(); // ... for one chat
    QCOMPARE(asked.size(), 2);
    QVERIFY(words->isVisible());
}

void TestCompare::newColumnIsAnother() {
    pane_->setAdapters({kTwo[0]});
    QCOMPARE(pane_->columns().size(), size_t{2});
    // One was taken away: the next one is that, not a second of what is there.
    QTest::mouseClick(column(0)->findChild<QPushButton*>(QStringLiteral("compareRemove")),
                      Qt::LeftButton);
    QCOMPARE(pane_->columns().size(), size_t{1});
    child<QPushButton>("compareAdd")->click();
    QVERIFY(column(0)->name() != column(1)->name());
}

void TestCompare::fourColumnsStayNarrow() {
    pane_->setAdapters({{"/adapters/a-name-that-is-much-longer-than-its-column", 0.8, true},
                        {"/adapters/law", 1.0, true}});
    while (pane_->columns().size() < 4) {
        child<QPushButton>("compareAdd")->click();
    }
    QVERIFY2(pane_->minimumSizeHint().width() <= 600,
             qPrintable(QString::number(pane_->minimumSizeHint().width())));
    pane_->resize(600, 600);
    QTest::qWait(20);
    for (const ui::CompareColumn* one : pane_->columns()) {
        for (const QCheckBox* box : one->findChildren<QCheckBox*>()) {
            QVERIFY2(box->fontMetrics().horizontalAdvance(box->text()) + 24 <= box->width(),
                     qPrintable(box->text())); // shortened by dots, not cut
        }
    }
}

void TestCompare::stopAndErrors() {
    pane_->setAdapters(kTwo);
    pane_->setRequest(sampleRequest());
    QSignalSpy cancelled(pane_.get(), &ui::ComparePane::cancelRequested);
    pane_->run();
    pane_->showStarted(1, 0);
    pane_->showError(1, 0, {engine::ErrorCode::OutOfMemory, "cuda:0 has 12 MiB left"});
    auto* status = column(0)->findChild<QLabel*>(QStringLiteral("compareStatus"));
    QCOMPARE(status->text(), QStringLiteral("cuda:0 has 12 MiB left"));
    pane_->showStarted(1, 1);
    QTest::keyClick(pane_.get(), Qt::Key_Escape);
    QCOMPARE(cancelled.size(), 1);
    engine::Reply stopped = reply("half");
    stopped.finish_reason = "cancelled";
    pane_->showReply(1, 1, stopped);
    pane_->showFinished(1);
    QCOMPARE(status->text(), QStringLiteral("cuda:0 has 12 MiB left"));
    QVERIFY(column(1)->figures().contains(QStringLiteral("stopped")));
    QVERIFY(column(2)
                ->findChild<QLabel*>(QStringLiteral("compareStatus"))
                ->text()
                .contains(QStringLiteral("Stopped")));
    QSignalSpy closed(pane_.get(), &ui::ComparePane::closeRequested);
    QTest::keyClick(pane_.get(), Qt::Key_Escape);
    QCOMPARE(closed.size(), 1);
}

void TestCompare::editingAColumnClearsIt() {
    pane_->setAdapters({kTwo[0]});
    pane_->setRequest(sampleRequest());
    pane_->run();
    pane_->showReply(1, 0, reply("one"));
    pane_->showReply(1, 1, reply("two"));
    QVERIFY(!column(1)->findChild<QCheckBox*>()->isEnabled()); // not while it runs
    pane_->showFinished(1);
    column(1)->findChild<QDoubleSpinBox*>()->setValue(1.5);
    QVERIFY(column(1)->text().isEmpty());
    QCOMPARE(column(0)->text(), QStringLiteral("one"));
    column(1)->findChild<QCheckBox*>()->setChecked(false);
    QCOMPARE(column(1)->name(), QStringLiteral("Base model"));
}

void TestCompare::foreignAnswersAreIgnored() {
    pane_->setAdapters({kTwo[0]});
    pane_->setRequest(sampleRequest());
    pane_->showReply(1, 0, reply("nobody asked"));
    QVERIFY(column(0)->text().isEmpty());
    pane_->run();
    pane_->showReply(7, 0, reply("another run"));
    pane_->showReply(1, 9, reply("no such column"));
    pane_->showFinished(7);
    QVERIFY(column(0)->text().isEmpty());
    QVERIFY(pane_->isRunning());
}

void TestCompare::withoutAdapters() {
    pane_->setRequest(sampleRequest());
    QVERIFY(child<QLabel>("compareHint")->text().contains(QStringLiteral("adapter")));
    QVERIFY(!child<QPushButton>("compareAdd")->isEnabled());
    pane_->setReady(false);
    QVERIFY(!child<QPushButton>("compareRun")->isEnabled());
    pane_->setReady(true);
    QVERIFY(child<QPushButton>("compareRun")->isEnabled());
    child<QPlainTextEdit>("comparePrompt")->clear();
    QVERIFY(child<QPushButton>("compareRun")->isEnabled()); // the picture is a prompt as well
    pane_->setRequest({});
    QVERIFY(!child<QPushButton>("compareRun")->isEnabled());
}

void TestCompare::copiesMarkdown() {
    pane_->setAdapters({kTwo[0]});
    pane_->setRequest(sampleRequest());
    QVERIFY(!child<QPushButton>("compareCopy")->isEnabled());
    pane_->run();
    pane_->showReply(1, 0, reply("one"));
    pane_->showReply(1, 1, reply("two"));
    pane_->showFinished(1);
    QTest::mouseClick(child<QPushButton>("compareCopy"), Qt::LeftButton);
    const QString text = QGuiApplication::clipboard()->text();
    for (const char* expected : {"seed 42", "> Which bird is this?", "## Base model\n\none\n",
                                 "## medical × 0.80\n\ntwo\n"}) {
        QVERIFY2(text.contains(QString::fromUtf8(expected)), qPrintable(text));
    }
}

void TestCompare::everythingIsNamedAndReachable() {
    pane_->setAdapters(kTwo);
    pane_->setRequest(sampleRequest());
    QSet<QWidget*> wanted;
    for (QWidget* widget : pane_->findChildren<QWidget*>()) {
        if (widget->isVisible() && widget->isEnabled() &&
            (widget->focusPolicy() & Qt::TabFocus) == Qt::TabFocus) {
            const auto* button = qobject_cast<QAbstractButton*>(widget);
            const bool has_text = button != nullptr && !button->text().isEmpty();
            if (widget->focusProxy() == nullptr &&
                !widget->objectName().startsWith(QStringLiteral("qt_"))) {
                QVERIFY2(!widget->accessibleName().isEmpty() || has_text,
                         qPrintable(widget->objectName()));
                wanted.insert(widget);
            }
        }
    }
    QVERIFY(wanted.size() > 15);
    child<QPlainTextEdit>("comparePrompt")->setFocus();
    for (int i = 0; i < 60; ++i) {
        wanted.remove(QApplication::focusWidget());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    }
    for (const QWidget* widget : wanted) {
        qWarning() << "not reached" << widget;
    }
    QVERIFY(wanted.isEmpty());
}

void TestCompare::pictures() {
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    for (const bool is_dark : {false, true}) {
        ui::setThemeChoice(is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
        init();
        pane_->setAdapters({kTwo[0]});
        pane_->setRequest(sampleRequest());
        pane_->run();
        pane_->showStarted(1, 0);
        pane_->showReply(1, 0,
                         reply("The picture shows a European robin on a fence post. The recording "
                               "does not match it: the song is that of a song thrush, which "
                               "repeats each phrase two to four times.\n\nIf you can, record a "
                               "second clip closer to the fence."));
        pane_->showStarted(1, 1);
        pane_->showReply(1, 1,
                         reply("The picture shows an adult Erithacus rubecula on a fence post. "
                               "The recording does not match it: the vocalisation is that of a "
                               "song thrush, which repeats each phrase two to four times.\n\nA "
                               "second clip closer to the fence would help."));
        pane_->showFinished(1);
        QCoreApplication::processEvents();
        const auto save = [&](const char* name) {
            const QPixmap picture = pane_->grab();
            QVERIFY(picture.width() >= 1000);
            if (!folder.isEmpty()) {
                QVERIFY(picture.save(
                    QStringLiteral("%1/%2-%3.png")
                        .arg(folder, QString::fromLatin1(name),
                             is_dark ? QStringLiteral("dark") : QStringLiteral("light"))));
            }
        };
        save("compare");
        pane_->setAdapters(kTwo);
        pane_->run();
        pane_->showStarted(2, 0);
        pane_->showReply(2, 0, reply("A robin."));
        pane_->showStarted(2, 1);
        pane_->showError(2, 1,
                         {engine::ErrorCode::OutOfMemory,
                          "cuda:0 has 12 MiB free, the adapter needs 48 MiB. Shorten the "
                          "context or move the vision tower to the CPU."});
        pane_->showStarted(2, 2);
        pane_->showUpdate(2, 2, {"An adult ", "", 3});
        QCoreApplication::processEvents();
        save("compare-running");
    }
    ui::setThemeChoice(ui::ThemeChoice::System);
}

TEST_CLASS_WITH(QApplication, TestCompare)
#include "tst_compare.moc"
