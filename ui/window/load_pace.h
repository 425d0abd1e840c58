// SPDX-License-Identifier: Apache-2.0
// How fast a load or move goes on and when it will be done, from the bytes that it reports. A load
// has stages (reading, reserving) of very different rates, so only the last seconds count.
#pragma once

#include <QtGlobal>

#include <deque>

namespace ui {

class LoadPace {
public:
    void restart() { seen_.clear(); }
    /// `bytes_done` at `now_ms`, on any clock that only rises. Fewer bytes than before, or another
    /// total: another stage has begun.
    void add(qint64 now_ms, quint64 bytes_done, quint64 bytes_total);
    /// Bytes per second; 0 while it is not known yet.
    [[nodiscard]] double rate() const;
    /// Seconds until the stage is done; below 0 while it is not known.
    [[nodiscard]] double secondsLeft() const;

private:
    struct Seen {
        qint64 ms = 0;
        quint64 bytes = 0;
    };
    std::deque<Seen> seen_;
    quint64 total_ = 0;
};

} // namespace ui
