// SPDX-License-Identifier: Apache-2.0
// Estimates learn from replies that were measured: a device's factor from its share of the time,
// kept by device and format, and what comes of it in the next estimate.
#include "engine/run/engine.h"
#include "engine/run/speed_book.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

class TestSpeedBook : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void factors_data();
    void factors();
    void learnsFromAReply();
};

void TestSpeedBook::factors_data() {
    support::addColumns<double, double, double, double, double>("here", "all", "used", "measured",
                                                                "factor");
    QTest::newRow("as estimated") << 1.0 << 1.0 << 1.0 << 1.0 << 1.0;
    QTest::newRow("half as fast") << 1.0 << 1.0 << 1.0 << 2.0 << 2.0;
    QTest::newRow("beside others") << 0.8 << 1.0 << 1.0 << 1.4 << 1.5;
    QTest::newRow("corrected before") << 1.5 << 2.0 << 1.5 << 3.5 << 3.0;
    QTest::newRow("most is another's") << 0.5 << 1.0 << 1.0 << 2.0 << -1.0;
    QTest::newRow("faster than the others") << 0.7 << 1.0 << 1.0 << 0.2 << -1.0;
    QTest::newRow("beyond belief") << 1.0 << 1.0 << 1.0 << 90.0 << 10.0;
    QTest::newRow("no estimate") << 0.0 << 0.0 << 1.0 << 1.0 << -1.0;
}

void TestSpeedBook::factors() {
    QFETCH(double, here);
    QFETCH(double, all);
    QFETCH(double, used);
    QFETCH(double, measured);
    QFETCH(double, factor);
    const auto learned = engine::learnedFactor({here, all, used, measured});
    QCOMPARE(learned.has_value(), factor > 0);
    QVERIFY(!learned.has_value() || std::abs(*learned - factor) < 1e-9);
}

void TestSpeedBook::learnsFromAReply() {
    const QTemporaryDir folder;
    engine::EngineOptions options;
    options.rates_file = folder.filePath("machine-rates").toStdString();
    engine::Engine engine(options);
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.device_map = "cpu";
    request.is_reference_precision = false;
    const auto before = engine.plan(request, {}); // measures the machine
    VERIFY_VALUE(before);
    const auto rateOf = [](const engine::PlacementPlan& plan) {
        return plan.estimate.decode_tokens_per_s;
    };
    VERIFY_VALUE(engine.load(request, {}, {}));
    const QString file = folder.filePath("speed-factors");
    const auto reply = [&](int64_t tokens) {
        return engine.generate(support::greedyRequest({2, 20, 30, 40}, tokens), {}, {});
    };
    VERIFY_VALUE(reply(8)); // too short to tell
    QVERIFY(!QFile::exists(file));
    const auto measured = reply(48);
    VERIFY_VALUE(measured);
    QVERIFY(QFile::exists(file));
    const auto after = engine.plan(request, {});
    VERIFY_VALUE(after);
    // A tiny model's tokens are all fixed costs: far from the estimate, and then near.
    const double truth = 47 / measured->timing.decode_s;
    const auto distance = [&](double rate) { return std::abs(std::log(rate / truth)); };
    QVERIFY2(distance(rateOf(*after)) < distance(rateOf(*before)),
             qPrintable(QString("%1 before, %2 after, %3 measured")
                            .arg(rateOf(*before))
                            .arg(rateOf(*after))
                            .arg(truth)));
    QCOMPARE(after->estimate.decode_bound, engine::SpeedBound::MainMemory);
}

TEST_CLASS_WITH(QCoreApplication, TestSpeedBook)
#include "tst_speed_book.moc"
