// SPDX-License-Identifier: Apache-2.0
// The tour's toy card with the real engine, as somebody with and without a graphics card meets it:
// one click shows a small simulated card that is four fifths full, the vision tower leaves its bar,
// a later move is too much, one click repairs it, and the way to the own card is offered.
#include "kernels/cuda/cards.h"
#include "tests/app/program_fixture.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/program/test_class.h"
#include "ui/layout/notice_bar.h"
#include "ui/layout/what_if.h"

#include <QLabel>
#include <QTemporaryDir>
#include <QToolButton>

using engine::DeviceId;
using kernels::cuda::Trouble;
using support::FakeCard;
using support::FakeDriver;

class TestTour : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void toyCard_data();
    void toyCard();
    void cardsByName_data();
    void cardsByName();
};

void TestTour::toyCard_data() {
    support::addColumns<QString, QString>("card", "planned_for");
    QTest::newRow("no card") << QString() << QStringLiteral("Gemma 4 E2B on RTX 4060");
    QTest::newRow("a card") << QStringLiteral("NVIDIA GeForce RTX 3090")
                            << QStringLiteral("Gemma 4 E2B on RTX 3090");
}

void TestTour::toyCard() {
    QFETCH(QString, card);
    QFETCH(QString, planned_for);
    const bool has_card = !card.isEmpty();
    const QTemporaryDir folder;
    FakeDriver fake({FakeCard{card.toStdString()}});
    support::ProgramCards cards;
    cards.engine = std::make_shared<const engine::GpuAccess>(engine::cudaAccess(
        has_card ? &fake.driver() : nullptr,
        has_card ? Trouble{} : Trouble{Trouble::Kind::NoDriver}, FakeDriver::images()));
    auto planner = std::make_shared<engine::GpuAccess>();
    planner->list = [list = cards.engine->list()] { return list; };
    cards.planner = planner;
    support::Program program(folder.path(), ui::Settings(), cards);
    program.window->resize(1440, 900);
    engine::LoadRequest options = program.session().request();
    options.device_map = "cpu"; // the card is a fake, whose answers are none
    program.session().setOptions(options);
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
    const auto toy = [&]() -> const ui::MeterDevice* {
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
    QTRY_VERIFY(toy() != nullptr);
    QTRY_VERIFY(title().contains(QStringLiteral("83 % full")));
    QVERIFY(program.window->meter()->isVisible());
    const auto share = [&] {
        return static_cast<double>(toy()->predicted.total()) / static_cast<double>(toy()->limit);
    };
    QVERIFY2(share() > 0.75 && share() < 0.87, qPrintable(QString::number(share())));
    QVERIFY(toy()->predicted_kinds[ui::MemoryKind::Vision] > 0);
    program.shot("tour-2-toy");
    QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu(), false));
    QTRY_COMPARE(toy()->predicted_kinds[ui::MemoryKind::Vision], 0.0); // while it is held
    program.shot("tour-3-held");
    QTest::keyClick(layout->blockWidget(QStringLiteral("vision")), Qt::Key_Escape);
    QTest::mouseRelease(layout->blockWidget(QStringLiteral("vision")), Qt::LeftButton);
    QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu()));
    QVERIFY(program.waitForPlace(QStringLiteral("vision"), DeviceId::cpu()));
    QTRY_VERIFY(title().startsWith(QStringLiteral("The tower has left")));
    QVERIFY(program.drag(QStringLiteral("audio"), DeviceId::sim(0)));
    QTRY_VERIFY(!layout->stagedPlan()->fits);
    QTRY_COMPARE(title(), QString());
    QVERIFY(toy()->predicted.total() > toy()->limit);
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
    QTRY_VERIFY2(program.find<QToolButton>("layoutWhatIf")->text().contains(planned_for),
                 qPrintable(program.find<QToolButton>("layoutWhatIf")->text()));
    program.shot("tour-6-what-if");
    // Back to this computer, everything is as it was loaded.
    program.window->layoutView()->revert();
    QTRY_VERIFY(!layout->isWhatIf());
    QVERIFY(!layout->hasChanges());
}

void TestTour::cardsByName_data() {
    support::addColumns<QString, double>("name", "bandwidth");
    const double usual = ui::usualCard().read_gb_per_s;
    QTest::newRow("longer name") << QStringLiteral("NVIDIA GeForce RTX 4060 Ti") << 288.0;
    QTest::newRow("Tesla") << QStringLiteral("Tesla T4") << 300.0;
    QTest::newRow("not listed") << QStringLiteral("NVIDIA L40") << usual;
}

void TestTour::cardsByName() {
    QFETCH(QString, name);
    const ui::GraphicsCard card = ui::listedCard(name);
    QTEST(card.read_gb_per_s, "bandwidth");
    QVERIFY2(name.contains(card.name), qPrintable(card.name));
    QCOMPARE(card.tellsSpeed(), name != QLatin1String("NVIDIA L40"));
}

TEST_CLASS_WITH(QApplication, TestTour)
#include "tst_tour.moc"
