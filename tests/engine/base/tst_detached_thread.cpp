// SPDX-License-Identifier: Apache-2.0
#include "engine/base/detached_thread.h"

#include <QTest>

#include <atomic>
#include <memory>

class TestDetachedThread : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void shortOnesAllRun();
    void whatTheyHoldIsGivenBack();
};

/// As many as a search has roots, again and again: some end before they are begun with whole.
void TestDetachedThread::shortOnesAllRun() {
    constexpr int kTurns = 200;
    constexpr int kAtOnce = 6;
    const auto num_run = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < kTurns; ++i) {
        for (int j = 0; j < kAtOnce; ++j) {
            engine::runDetached([num_run] { ++*num_run; });
        }
    }
    QTRY_COMPARE(num_run->load(), kTurns * kAtOnce);
}

void TestDetachedThread::whatTheyHoldIsGivenBack() {
    const auto held = std::make_shared<int>(7);
    engine::runDetached([held] {});
    QTRY_COMPARE(held.use_count(), 1L);
}

QTEST_GUILESS_MAIN(TestDetachedThread)
#include "tst_detached_thread.moc"
