// SPDX-License-Identifier: Apache-2.0
// Estimates for a card that is described by what its driver tells: those of an H100 come out as
// measured there (docs/benchmarks.md), those of others follow their memory and cores.
#include "engine/devices/card_estimate.h"
#include "engine/devices/gpu_access.h"
#include "engine/plan/plan_speed.h"
#include "engine/run/engine.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <cmath>

using support::FakeCard;
using support::FakeDriver;

namespace {

FakeCard named(const char* name, int capability, int gib) {
    FakeCard card;
    card.name = name;
    card.capability = capability;
    card.total = static_cast<size_t>(gib) << 30U;
    return card;
}

FakeCard h100() {
    return named("NVIDIA H100 80GB HBM3", 90, 80);
}

FakeCard rtx3060() {
    FakeCard card = named("NVIDIA GeForce RTX 3060", 86, 12);
    card.multiprocessors = 28;
    card.clock_khz = 1777000;
    card.memory_clock_khz = 7501000;
    card.memory_bus_bits = 192;
    return card;
}

engine::SpeedEstimate estimate(const FakeCard& card, const char* shape) {
    FakeDriver fake({card});
    engine::EngineOptions options;
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images()));
    engine::Engine engine(std::move(options));
    engine::LoadRequest request;
    request.model = shape;
    request.quant = "nf4-dq";
    request.head = "int8";
    request.device_map = "gpu";
    const auto plan = engine.plan(request);
    return plan.has_value() ? plan->estimate : engine::SpeedEstimate();
}

bool isWithin(double value, double expected, double share) {
    return std::abs(value - expected) <= share * expected;
}

} // namespace

class TestCardEstimate : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void asMeasured_data();
    void asMeasured();
    void otherCards();
    void withoutWarpGroups();
    void silentDriver();
};

void TestCardEstimate::asMeasured_data() {
    support::addColumns<QByteArray, double, double>("shape", "decode", "prefill");
    QTest::addRow("E2B") << QByteArray("shape:e2b") << 905.0 << 217e3;
    QTest::addRow("E4B") << QByteArray("shape:e4b") << 575.0 << 82e3;
}

void TestCardEstimate::asMeasured() {
    QFETCH(QByteArray, shape);
    QFETCH(double, decode);
    QFETCH(double, prefill);
    const engine::SpeedEstimate speed = estimate(h100(), shape.constData());
    const QByteArray told = QByteArray::number(speed.decode_tokens_per_s) + " tokens/s, prefill " +
                            QByteArray::number(speed.prefill_tokens_per_s) + ", image " +
                            QByteArray::number(speed.image_s) + " s, 10 s of audio " +
                            QByteArray::number(10 * speed.audio_s_per_s) + " s";
    qInfo().noquote() << told;
    QVERIFY2(isWithin(speed.decode_tokens_per_s, decode, 0.15), told.constData());
    QVERIFY2(isWithin(speed.prefill_tokens_per_s, prefill, 0.15), told.constData());
    QVERIFY2(isWithin(speed.image_s, 8e-3, 0.15), told.constData());
    QVERIFY2(isWithin(10 * speed.audio_s_per_s, 7e-3, 0.15), told.constData());
}

void TestCardEstimate::otherCards() {
    // 360 GB/s and 25.5 TFLOP/s, as the maker says.
    const FakeDriver fake({rtx3060()});
    const auto cards = kernels::cuda::listCards(fake.driver());
    const engine::DeviceRates rates = engine::estimatedRates(cards.at(0));
    QVERIFY2(isWithin(rates.read_bytes_per_s, 360e9, 0.01),
             qPrintable(QString::number(rates.read_bytes_per_s)));
    QVERIFY2(isWithin(rates.flops, 25.5e12, 0.01), qPrintable(QString::number(rates.flops)));
    const double slow = estimate(rtx3060(), "shape:e2b").decode_tokens_per_s;
    QVERIFY2(slow > 100 && slow < 263, qPrintable(QString::number(slow))); // its memory's limit
}

/// Products by warp groups (product_wide.cu) are of 9.0 alone: the same clocks without them.
void TestCardEstimate::withoutWarpGroups() {
    FakeCard card = h100();
    const auto flops = [&card] { // one fake driver at a time
        const FakeDriver fake({card});
        return engine::estimatedRates(kernels::cuda::listCards(fake.driver()).at(0)).flops;
    };
    const double with = flops();
    card.capability = 100;
    const double share = flops() / with;
    QVERIFY2(isWithin(share, 0.29 / 0.54, 0.01), qPrintable(QString::number(share)));
}

void TestCardEstimate::silentDriver() {
    FakeCard card = h100();
    card.memory_bus_bits = 0;
    const FakeDriver fake({card});
    const engine::DeviceRates rates =
        engine::estimatedRates(kernels::cuda::listCards(fake.driver()).at(0));
    QCOMPARE(rates.read_bytes_per_s, 0.0); // the planner's defaults
    QCOMPARE(rates.flops, 0.0);
}

TEST_CLASS_WITH(QCoreApplication, TestCardEstimate)
#include "tst_card_estimate.moc"
