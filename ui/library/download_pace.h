// SPDX-License-Identifier: Apache-2.0
// How fast a download is and how long it still takes, over the last seconds: what came before a
// pause or from an earlier start does not count.
#pragma once

#include <QtGlobal>

#include <deque>
#include <utility>

namespace ui {

class DownloadPace {
public:
    /// `bytes`: fetched since this run began. `ms`: of any clock that only goes forward.
    void note(qint64 ms, quint64 bytes);
    void clear() { recent_.clear(); }
    /// Bytes per second; 0 while there is too little to tell.
    [[nodiscard]] double rate() const;
    /// For so many bytes; below 0 while there is too little to tell.
    [[nodiscard]] double secondsFor(quint64 bytes) const;

private:
    std::deque<std::pair<qint64, quint64>> recent_;
};

} // namespace ui
