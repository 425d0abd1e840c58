// SPDX-License-Identifier: Apache-2.0
// What is asked for and not on the disk never exceeds one block, whatever order connections, disk
// and failures come in; and no connection is ever left without anything to do.
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "models/hub/asked_bytes.h"

using models::hub::AskedBytes;

namespace {

/// A file that is being fetched: ranges asked for, of which bytes come, of which bytes get written.
struct Fetch {
    std::unique_ptr<AskedBytes::Share> share;
    uint64_t size = 0;
    uint64_t asked_end = 0; ///< The furthest that was asked for.
    uint64_t range_end = 0; ///< End of the range that comes.
    uint64_t come = 0;
    uint64_t on_disk = 0;

    [[nodiscard]] uint64_t lost() const { return asked_end - std::min(asked_end, on_disk); }
};

} // namespace

class TestAskedBytes : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void neverExceedABlock_data();
    void neverExceedABlock();
    void oneAloneGetsMost();
};

void TestAskedBytes::neverExceedABlock_data() {
    support::addColumns<int, quint64>("connections", "block");
    for (const int connections : {1, 2, 4, 16}) {
        QTest::addRow("%d connections", connections) << connections << quint64{16'000'000};
    }
    QTest::newRow("the smallest block") << 4 << quint64{32};
}

void TestAskedBytes::neverExceedABlock() {
    QFETCH(int, connections);
    QFETCH(quint64, block);
    AskedBytes all(block, static_cast<size_t>(connections));
    std::vector<Fetch> fetches(static_cast<size_t>(connections));
    std::mt19937_64 random(static_cast<uint64_t>(connections));
    const auto upTo = [&](uint64_t most) { return most == 0 ? 0 : random() % (most + 1); };
    uint64_t most = 0;
    for (int step = 0; step < 20'000; ++step) {
        Fetch& fetch = fetches[random() % fetches.size()];
        if (fetch.share == nullptr || fetch.on_disk == fetch.size) {
            fetch.share.reset(); // done: another file, some of which is there
            const uint64_t size = 1 + upTo(4 * block);
            const uint64_t there = upTo(size / 2);
            fetch = {
                std::make_unique<AskedBytes::Share>(all, size), size, there, there, there, there};
        }
        if (fetch.come == fetch.range_end && fetch.come < fetch.size) {
            uint64_t end = fetch.share->rangeEnd(fetch.come, fetch.on_disk);
            if (end == fetch.come) {
                fetch.on_disk = fetch.come; // waits for the disk, and may go on for certain
                end = fetch.share->rangeEnd(fetch.come, fetch.on_disk);
                QVERIFY(end > fetch.come);
            }
            QVERIFY(end <= fetch.size);
            fetch.range_end = end;
            fetch.asked_end = std::max(fetch.asked_end, end);
        }
        fetch.come += upTo(fetch.range_end - fetch.come);
        if (random() % 3 == 0 && fetch.range_end == fetch.asked_end) {
            if (const uint64_t next = fetch.share->more(fetch.on_disk); next > 0) {
                QVERIFY(next > fetch.asked_end && next <= fetch.size);
                fetch.asked_end = next;
            }
        }
        if (random() % 50 == 0) { // the connection ends
            fetch.share->forget(fetch.come);
            fetch.range_end = fetch.asked_end = fetch.come;
        }
        fetch.on_disk += upTo(fetch.come - fetch.on_disk);
        uint64_t lost = 0;
        for (const Fetch& one : fetches) {
            lost += one.lost();
        }
        QCOMPARE_LE(lost, block);
        most = std::max(most, lost);
    }
    QVERIFY(most > block / 4); // and what may be used is
}

void TestAskedBytes::oneAloneGetsMost() {
    constexpr uint64_t kBlock = 16'000'000;
    AskedBytes all(kBlock, 4);
    AskedBytes::Share share(all, uint64_t{1} << 40);
    const uint64_t first = share.rangeEnd(0, 0);
    const uint64_t second = share.more(0);
    QVERIFY(first >= kBlock / 3); // a request for a few milliseconds would be none
    QVERIFY(second >= first + kBlock / 3);
    QCOMPARE(share.more(0), uint64_t{0});
    QCOMPARE(share.rangeEnd(first, 0), second); // what was promised is what is read next
}

TEST_CLASS(TestAskedBytes)
#include "tst_asked_bytes.moc"
