// SPDX-License-Identifier: Apache-2.0
// The tour's toy card with the real engine, as somebody without a graphics card meets it: one click
// shows a small simulated card that is four fifths full, the vision tower leaves its bar, a later
// move is too much, one click repairs it, and the way to the own card is offered.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "ui/layout/notice_bar.h"

#include <QLabel>
#include <QTemporaryDir>

using engine::DeviceId;

class TestTour : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void toyCard();
};

void TestTour::toyCard() {
    const QTemporaryDir folder;
    support::Program program(folder.path(), ui::Settings());
    program.window->resize(1440, 900);
    program.session().chooseModel(QStringLiteral("demo"));
    QTRY_VERIFY(program.window->layoutView()->stagedPlan() != nullptr);
    QVERIFY(program.load());
    program.ask(QStringLiteral("Hello"));
    QVERIFY(program.waitForReply(2));
    const auto title = [&] {
        return program.window->notice()->isVisible() ? program.find<QLabel>("noticeTitle")->text()
                                                     : QString();
    };
    const auto* layout = program.window->layoutView();
    const auto card = [&]() -> const ui::MeterDevice* {
        for (const ui::MeterDevice& device : program.window->meter()->devices()) {
            if (device.id == DeviceId::sim(0)) {
                return &device;
            }
        }
        return nullptr;
    };
    QTRY_VERIFY(title().startsWith(QStringLiteral("See where")));
    program.shot("tour-1-offer");
    QTest::mouseClick(program.find("noticeAction"), Qt::LeftButton);
    QCOMPARE(program.window->tab(), ui::MainWindow::Tab::Both);
    QTRY_VERIFY(card() != nullptr);
    QTRY_VERIFY(title().contains(QStringLiteral("83 % full")));
    QVERIFY(program.window->meter()->isVisible());
    const auto share = [&] {
        return static_cast<double>(card()->predicted.total()) / static_cast<double>(card()->limit);
    };
    QVERIFY2(share() > 0.75 && share() < 0.87, qPrintable(QString::number(share())));
    QVERIFY(card()->predicted_kinds[ui::MemoryKind::Vision] > 0);
    program.shot("tour-2-toy");
    QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu(), false));
    QTRY_COMPARE(card()->predicted_kinds[ui::MemoryKind::Vision], 0.0); // while it is held
    program.shot("tour-3-held");
    QTest::keyClick(layout->blockWidget(QStringLiteral("vision")), Qt::Key_Escape);
    QTest::mouseRelease(layout->blockWidget(QStringLiteral("vision")), Qt::LeftButton);
    QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu()));
    QVERIFY(program.waitForPlace(QStringLiteral("vision"), DeviceId::cpu()));
    QTRY_VERIFY(title().startsWith(QStringLiteral("The tower has left")));
    QVERIFY(program.drag(QStringLiteral("audio"), DeviceId::sim(0)));
    QTRY_VERIFY(!layout->stagedPlan()->fits);
    QTRY_COMPARE(title(), QString());
    QVERIFY(card()->predicted.total() > card()->limit);
    program.shot("tour-4-too-much");
    auto* repair = layout->findChild<ui::NoticeBar*>()->findChild<QPushButton*>(
        QStringLiteral("layoutNoticeAction"));
    QTRY_VERIFY(repair->isVisible());
    QCOMPARE(repair->text(), QStringLiteral("Make it fit"));
    QTest::mouseClick(repair, Qt::LeftButton);
    QTRY_VERIFY(layout->stagedPlan()->fits);
    QTRY_COMPARE(title(), QStringLiteral("And your card?"));
    program.shot("tour-5-your-card");
    QTest::mouseClick(program.find("noticeAction"), Qt::LeftButton);
    QTRY_VERIFY(layout->isWhatIf() &&
                layout->blockWidget(QStringLiteral("layers.0-34")) != nullptr);
    program.shot("tour-6-what-if");
    // Back to this computer, everything is as it was loaded.
    program.window->layoutView()->revert();
    QTRY_VERIFY(!layout->isWhatIf());
    QVERIFY(!layout->hasChanges());
}

TEST_CLASS_WITH(QApplication, TestTour)
#include "tst_tour.moc"
