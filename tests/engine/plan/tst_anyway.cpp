// SPDX-License-Identifier: Apache-2.0
// LoadRequest::loads_anyway in the planner: what the system reports as free becomes a warning, what
// somebody set stays a limit, and so does the size of a simulated GPU.
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using planfixture::kGiB;

namespace {

engine::PlanRequest tight(bool is_sim) {
    engine::PlanRequest request =
        planfixture::requestFor(planfixture::publishedModel("E2B"), 1, kGiB, is_sim);
    request.preset = "gpu";
    return request;
}

} // namespace

class TestAnyway : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void freeMemoryIsAGuess();
    void aLimitIsNone();
    void simulatedSizeIsNone();
    void mainMemory();
};

void TestAnyway::freeMemoryIsAGuess() {
    engine::PlanRequest request = tight(false);
    const engine::PlacementPlan refused = engine::makePlan(request);
    QVERIFY(!refused.fits);
    QCOMPARE(planfixture::codesOf(refused.errors), std::string("DM09"));
    QVERIFY(engine::isRefusedByEstimate(refused.errors));
    request.is_free_memory_a_guess = true;
    const engine::PlacementPlan tried = engine::makePlan(request);
    QVERIFY(tried.fits);
    QVERIFY(tried.errors.empty());
    QVERIFY(planfixture::codesOf(tried.warnings).find("DM09") != std::string::npos);
    // The same plan else.
    QCOMPARE(tried.tensors.size(), refused.tensors.size());
    QCOMPARE(tried.devices.at(1).parts, refused.devices.at(1).parts);
}

void TestAnyway::aLimitIsNone() {
    engine::PlanRequest request = tight(false);
    request.limits[engine::DeviceId::cuda(0)] = kGiB / 2;
    request.is_free_memory_a_guess = true;
    const engine::PlacementPlan plan = engine::makePlan(request);
    QVERIFY(!plan.fits);
    QCOMPARE(planfixture::codesOf(plan.errors), std::string("DM09"));
    QVERIFY(!engine::isRefusedByEstimate(plan.errors));
}

void TestAnyway::simulatedSizeIsNone() {
    engine::PlanRequest request = tight(true);
    request.is_free_memory_a_guess = true;
    const engine::PlacementPlan plan = engine::makePlan(request);
    QVERIFY(!plan.fits);
    QVERIFY(!engine::isRefusedByEstimate(plan.errors));
}

void TestAnyway::mainMemory() {
    engine::PlanRequest request = tight(false);
    request.preset = "cpu";
    request.devices.front().free = kGiB;
    QVERIFY(engine::isRefusedByEstimate(engine::makePlan(request).errors));
    request.is_free_memory_a_guess = true;
    QVERIFY(engine::makePlan(request).fits);
    QVERIFY(!engine::isRefusedByEstimate({})); // nothing refused
}

TEST_CLASS(TestAnyway)
#include "tst_anyway.moc"
