// SPDX-License-Identifier: Apache-2.0
// What answers the hand: the meter follows a block while it is held, in the colours of the blocks;
// a price adds up; every block has a plain sentence; a block lands; the plan is copied as a
// picture.
#include "tests/support/program/test_class.h"
#include "tests/ui/layout/layout_fixture.h"
#include "ui/style/format.h"
#include "ui/style/motion.h"

#include <QClipboard>
#include <QFileDialog>
#include <QMenu>
#include <QMimeData>

#include <algorithm>
#include <cmath>
#include <set>

using engine::DeviceId;
using support::e2bRequest;
using support::LayoutFixture;
using ui::MemoryKind;

namespace {

const ui::MeterDevice* meterOf(const ui::MemoryMeter& meter, DeviceId id) {
    const auto& all = meter.devices();
    const auto it =
        std::find_if(all.begin(), all.end(), [id](const auto& d) { return d.id == id; });
    return it == all.end() ? nullptr : &*it;
}

/// Bytes of the blocks of a lane that have a colour.
double inBlocks(LayoutFixture& f, DeviceId lane, MemoryKind kind) {
    double bytes = 0;
    for (const ui::BlockWidget* block : f.view.lane(lane)->blocks()) {
        if (ui::memoryKind(block->block().kind) == kind) {
            bytes += static_cast<double>(block->block().bytes);
        }
    }
    return bytes;
}

QAction* moreAction(LayoutFixture& f, const char* name) {
    auto* menu = f.view.findChild<QMenu*>(QStringLiteral("layoutMoreMenu"));
    Q_EMIT menu->aboutToShow();
    return menu->findChild<QAction*>(QString::fromLatin1(name));
}

} // namespace

class TestMeterHand : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void cleanup() { ui::setMotion(false); }
    void coloursAreTheBlocks_data();
    void coloursAreTheBlocks();
    void barFollowsTheHand();
    void wordsOfThePrediction_data();
    void wordsOfThePrediction();
    void wordsOfCopies();
    void priceAddsUp();
    void everyBlockHasASentence();
    void landsAndComesToRest();
    void pictureOfThePlan();
};

void TestMeterHand::coloursAreTheBlocks_data() {
    QTest::addColumn<QByteArray>("map");
    for (const char* map : {"gpu", "towers-cpu", "lean", "cpu"}) {
        QTest::newRow(map) << QByteArray(map);
    }
}

void TestMeterHand::coloursAreTheBlocks() {
    QFETCH(QByteArray, map);
    LayoutFixture f(e2bRequest(map.constData()));
    QVERIFY(f.isReady());
    for (const DeviceId id : {DeviceId::sim(0), DeviceId::cpu()}) {
        const ui::MeterDevice* device = meterOf(f.meter, id);
        QVERIFY(device != nullptr);
        const auto total = static_cast<double>(device->predicted.total());
        QVERIFY(std::abs(device->predicted_kinds.total() - total) < 2);
        for (size_t i = 1; i <= ui::kMemoryKinds; ++i) {
            const auto kind = static_cast<MemoryKind>(i);
            if (kind != MemoryKind::Adapter && kind != MemoryKind::Workspace &&
                kind != MemoryKind::Driver) { // these are no blocks
                QVERIFY2(std::abs(device->predicted_kinds[kind] - inBlocks(f, id, kind)) < 2,
                         qPrintable(ui::memoryLabel(kind)));
            }
        }
    }
}

void TestMeterHand::barFollowsTheHand() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    const auto tower = [&f](DeviceId id) {
        return meterOf(f.meter, id)->predicted_kinds[MemoryKind::Vision];
    };
    const double bytes = tower(DeviceId::sim(0));
    QVERIFY(bytes > 0);
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), false));
    QCOMPARE(tower(DeviceId::sim(0)), 0.0); // left the bar, and is still in the hand
    QVERIFY(std::abs(tower(DeviceId::cpu()) - bytes) < 2);
    QTest::keyClick(f.view.blockWidget(QStringLiteral("vision")), Qt::Key_Escape);
    QCOMPARE(tower(DeviceId::sim(0)), bytes);
    QTest::mouseRelease(f.view.blockWidget(QStringLiteral("vision")), Qt::LeftButton);
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), true));
    QCOMPARE(tower(DeviceId::sim(0)), 0.0);
}

void TestMeterHand::wordsOfThePrediction_data() {
    support::addColumns<double, double, bool, QString, bool>("predicted", "measured", "is_staged",
                                                             "words", "is_right");
    const auto row = [](const char* name, double predicted, double measured, bool is_staged,
                        const char* words, bool is_right) {
        QTest::newRow(name) << predicted << measured << is_staged << QString::fromUtf8(words)
                            << is_right;
    };
    row("agree", 6.43, 6.41, false, "predicted 6.43, measured 6.41 GiB", true);
    row("differ", 6.43, 5.00, false, "predicted 6.43, measured 5.00 GiB", false);
    row("two units", 6.43, 0.5, false, "predicted 6.43 GiB, measured 512 MiB", false);
    row("staged", 2.00, 6.41, true, "planned 2.00, now 6.41 GiB", false);
    row("not loaded", 2.00, 0, false, "predicted 2.00 GiB", false);
}

void TestMeterHand::wordsOfThePrediction() {
    QFETCH(double, predicted);
    QFETCH(double, measured);
    QFETCH(bool, is_staged);
    const auto bytes = [](double gib) {
        return static_cast<uint64_t>(gib * static_cast<double>(support::kGiB));
    };
    ui::MeterDevice device;
    device.predicted[engine::MemoryPart::Weights] = bytes(predicted);
    device.measured[engine::MemoryPart::Weights] = bytes(measured);
    device.has_prediction = true;
    device.has_measured = measured > 0;
    device.is_staged = is_staged;
    QTEST(ui::predictionWords(device)
              .replace(QChar(0x202f), QLatin1Char(' '))
              .replace(QChar::Nbsp, QLatin1Char(' ')),
          "words");
    QTEST(ui::isAsPredicted(device), "is_right");
}

void TestMeterHand::wordsOfCopies() {
    ui::MeterDevice device;
    QVERIFY(ui::copiesWords(device).isEmpty());
    device.experts = {1 << 30, 300, 3840, 0, 0, 0};
    QVERIFY(ui::copiesWords(device).isEmpty()); // nothing was chosen yet
    device.experts = {1 << 30, 300, 3840, 200, 75, 104};
    QCOMPARE(ui::copiesWords(device),
             QStringLiteral("Copies of 300 of 3,840 experts take 38 % of a token's choices; with "
                            "one GiB more 52 %"));
    device.experts = {1 << 30, 3840, 3840, 200, 200, 200};
    QCOMPARE(ui::copiesWords(device),
             QStringLiteral("Copies of 3,840 of 3,840 experts take 100 % of a token's choices"));
    QVERIFY(ui::linkWords(device).isEmpty());
    device.copied_per_s = 12.34e9;
    QCOMPARE(ui::linkWords(device), QStringLiteral("12.3 GB/s come from main memory"));
}

void TestMeterHand::priceAddsUp() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), false));
    const auto rows = ui::priceOf(*f.view.stagedPlan(), *f.view.heldPlan(),
                                  f.view.blockWidget(QStringLiteral("vision"))->block(), nullptr);
    const auto cpu = std::find_if(rows.begin(), rows.end(), [](const ui::PriceRow& row) {
        return row.label == ui::laneName(DeviceId::cpu());
    });
    QVERIFY(cpu != rows.end());
    const engine::DevicePlan* device = ui::devicePlan(*f.view.heldPlan(), DeviceId::cpu());
    const auto part = [&](const char* name, engine::MemoryPart kind) {
        QString words = QString::fromLatin1(name) + ui::formatBytes(device->parts[kind]);
        return words.replace(QLatin1Char(' '), QChar::Nbsp);
    };
    QCOMPARE(cpu->detail, part("tower ", engine::MemoryPart::Weights) + QStringLiteral(" + ") +
                              part("room to compute ", engine::MemoryPart::Workspace));
    QVERIFY(f.view.findChild<ui::PriceCard*>()->text().contains(cpu->detail));
}

void TestMeterHand::everyBlockHasASentence() {
    const auto checkAll = [](LayoutFixture& f) {
        const auto* line = f.view.findChild<QLabel*>(QStringLiteral("layoutSentence"));
        QVERIFY(line->isVisible());
        const QString hint = line->text();
        const QList<ui::BlockWidget*> blocks = f.view.findChildren<ui::BlockWidget*>();
        for (ui::BlockWidget* block : blocks) {
            if (block->isVisibleTo(&f.view)) {
                block->setFocus();
                QVERIFY(line->text() != hint);
                QVERIFY2(
                    line->text().startsWith(ui::blockTitle(block->block()) + QStringLiteral(": ")),
                    qPrintable(line->text()));
                QVERIFY2(line->text().contains(ui::formatBytes(block->block().bytes)) ||
                             line->text().contains(QStringLiteral("per token")),
                         qPrintable(line->text()));
                QVERIFY(line->sizeHint().height() > 0);
            }
        }
    };
    engine::LoadRequest request = e2bRequest("gpu");
    request.draft = "auto";
    LayoutFixture f(request);
    QVERIFY(f.isReady());
    checkAll(f);
    const QString table = f.view.blockWidget(QStringLiteral("ple"))->block().sentence;
    QVERIFY2(table.contains(QStringLiteral("one row of ")) &&
                 table.contains(QStringLiteral("saves ")),
             qPrintable(table));
    engine::LoadRequest experts = e2bRequest("gpu", 24 * support::kGiB);
    experts.model = "shape:26b";
    experts.quant = "nf4-dq+experts";
    LayoutFixture g(experts);
    QVERIFY(g.isReady());
    checkAll(g);
}

void TestMeterHand::landsAndComesToRest() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    ui::setMotion(true);
    const auto ghost = [&f] { return f.view.findChild<ui::DragGhost*>(); };
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), true));
    QVERIFY(ghost()->isVisible()); // on its way
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    for (int i = 0; i < 4 && !folder.isEmpty(); ++i) { // a film strip
        f.view.grab().save(QStringLiteral("%1/landing-%2.png").arg(folder).arg(i));
        QTest::qWait(25);
    }
    QTRY_VERIFY(!ghost()->isVisible());
    // What moved lies where it would lie without motion.
    QTest::qWait(300);
    std::vector<QRect> places;
    for (const ui::BlockWidget* block : f.view.lane(DeviceId::sim(0))->blocks()) {
        places.push_back(block->geometry());
    }
    ui::setMotion(false);
    f.view.undo();
    f.view.redo();
    QVERIFY(!ghost()->isVisible());
    size_t i = 0;
    for (const ui::BlockWidget* block : f.view.lane(DeviceId::sim(0))->blocks()) {
        QCOMPARE(block->geometry(), places.at(i++));
    }
}

void TestMeterHand::pictureOfThePlan() {
    LayoutFixture f(e2bRequest("towers-cpu"));
    QVERIFY(f.isReady());
    f.view.setModel(f.model, QStringLiteral("Gemma 4 E2B"));
    moreAction(f, "more.copyPicture")->trigger();
    const QImage copied = QGuiApplication::clipboard()->image();
    QCOMPARE(copied.width(), 2 * 760);
    QVERIFY(copied.height() > 600);
    // The colours of its parts are in it, on the card and on the CPU.
    std::set<QRgb> seen;
    for (int y = 0; y < copied.height(); ++y) {
        for (int x = 0; x < copied.width(); x += 2) {
            seen.insert(copied.pixel(x, y) | 0xff000000U);
        }
    }
    for (const MemoryKind kind : {MemoryKind::Layers, MemoryKind::Vision, MemoryKind::Audio,
                                  MemoryKind::Table, MemoryKind::Head, MemoryKind::Kv}) {
        QVERIFY2(seen.contains(ui::memoryColor(kind).rgb()), qPrintable(ui::memoryLabel(kind)));
    }
    QSignalSpy saved(&f.view, &ui::LayoutView::pictureSaveRequested);
    moreAction(f, "more.savePicture")->trigger();
    auto* dialog = f.view.findChild<QFileDialog*>(QStringLiteral("savePictureDialog"));
    Q_EMIT dialog->fileSelected(QStringLiteral("/nowhere/plan.png"));
    QCOMPARE(saved.size(), 1);
    QCOMPARE(saved.first().at(1).value<QImage>().size(), copied.size());
    dialog->close();
    // A file that cannot be written is told.
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    QTRY_VERIFY2(notice->text().contains(QStringLiteral("plan.png")), qPrintable(notice->text()));
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!folder.isEmpty()) {
        for (const bool is_dark : {false, true}) {
            ui::setThemeChoice(is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
            moreAction(f, "more.copyPicture")->trigger();
            QGuiApplication::clipboard()->image().save(
                folder + (is_dark ? QStringLiteral("/plan-picture-dark.png")
                                  : QStringLiteral("/plan-picture-light.png")));
        }
        ui::setThemeChoice(ui::ThemeChoice::System);
    }
}

TEST_CLASS_WITH(QApplication, TestMeterHand)
#include "tst_meter_hand.moc"
