// SPDX-License-Identifier: Apache-2.0
#include "ui/library/download_pace.h"

namespace ui {

namespace {

constexpr qint64 kWindowMs = 3000;
constexpr qint64 kLeastMs = 500;

} // namespace

void DownloadPace::note(qint64 ms, quint64 bytes) {
    if (!recent_.empty() && bytes < recent_.back().second) {
        recent_.clear(); // another run
    }
    recent_.emplace_back(ms, bytes);
    while (recent_.size() > 2 && ms - recent_.front().first > kWindowMs) {
        recent_.pop_front();
    }
}

double DownloadPace::rate() const {
    if (recent_.size() < 2) {
        return 0;
    }
    const qint64 ms = recent_.back().first - recent_.front().first;
    const quint64 bytes = recent_.back().second - recent_.front().second;
    return ms < kLeastMs ? 0 : 1000.0 * static_cast<double>(bytes) / static_cast<double>(ms);
}

double DownloadPace::secondsFor(quint64 bytes) const {
    const double now = rate();
    return now > 0 ? static_cast<double>(bytes) / now : -1;
}

} // namespace ui
