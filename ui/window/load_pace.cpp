// SPDX-License-Identifier: Apache-2.0
#include "ui/window/load_pace.h"

namespace ui {

namespace {

constexpr qint64 kWindowMs = 4000; ///< Over which the rate is taken.
constexpr qint64 kLeastMs = 700;   ///< Less tells nothing.

} // namespace

void LoadPace::add(qint64 now_ms, quint64 bytes_done, quint64 bytes_total) {
    if (bytes_total != total_ || (!seen_.empty() && bytes_done < seen_.back().bytes)) {
        seen_.clear();
        total_ = bytes_total;
    }
    seen_.push_back({now_ms, bytes_done});
    while (seen_.size() > 2 && now_ms - seen_[1].ms >= kWindowMs) {
        seen_.pop_front();
    }
}

double LoadPace::rate() const {
    if (seen_.size() < 2 || seen_.back().ms - seen_.front().ms < kLeastMs) {
        return 0.0;
    }
    return static_cast<double>(seen_.back().bytes - seen_.front().bytes) * 1e3 /
           static_cast<double>(seen_.back().ms - seen_.front().ms);
}

double LoadPace::secondsLeft() const {
    const double per_second = rate();
    if (per_second <= 0.0 || seen_.back().bytes > total_) {
        return -1.0;
    }
    return static_cast<double>(total_ - seen_.back().bytes) / per_second;
}

} // namespace ui
