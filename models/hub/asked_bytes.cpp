// SPDX-License-Identifier: Apache-2.0
#include "models/hub/asked_bytes.h"

#include <algorithm>

namespace models::hub {

AskedBytes::AskedBytes(uint64_t block_bytes, size_t num_connections)
    : block_bytes_(block_bytes), num_connections_(num_connections),
      least_(block_bytes / (4 * num_connections)), taken_(least_ * num_connections) {}

AskedBytes::Share::Share(AskedBytes& all, uint64_t file_bytes)
    : all_(all), file_bytes_(file_bytes), counted_(all.least_) {
    const std::lock_guard lock(all_.mutex_);
    ++all_.num_active_;
}

AskedBytes::Share::~Share() {
    const std::lock_guard lock(all_.mutex_);
    --all_.num_active_;
    all_.taken_ -= counted_ - all_.least_;
}

bool AskedBytes::Share::take(uint64_t on_disk) {
    const std::lock_guard lock(all_.mutex_);
    const uint64_t least = all_.least_;
    // Each connection counts for `least` even when it has asked for less: so none ever waits for
    // another.
    const uint64_t held = asked_end_ - std::min(asked_end_, on_disk);
    all_.taken_ -= counted_;
    counted_ = std::max(held, least);
    all_.taken_ += counted_;
    const uint64_t room = all_.block_bytes_ - all_.taken_ + counted_ - held;
    // Two ranges each, so that one is being asked for while another comes.
    const uint64_t idle = all_.num_connections_ - all_.num_active_;
    const uint64_t fair = (all_.block_bytes_ - idle * least) / all_.num_active_ / 2;
    const uint64_t rest = file_bytes_ - asked_end_;
    const uint64_t taken = std::min({room, fair, rest});
    if (taken == 0 || taken < std::min(least / 2, rest)) {
        return false;
    }
    asked_end_ += taken;
    all_.taken_ -= counted_;
    counted_ = std::max(held + taken, least);
    all_.taken_ += counted_;
    return true;
}

uint64_t AskedBytes::Share::rangeEnd(uint64_t position, uint64_t on_disk) {
    if (asked_end_ <= position) {
        asked_end_ = position;
        take(on_disk);
    }
    return asked_end_;
}

uint64_t AskedBytes::Share::more(uint64_t on_disk) {
    return asked_end_ < file_bytes_ && take(on_disk) ? asked_end_ : 0;
}

void AskedBytes::Share::forget(uint64_t position) {
    asked_end_ = std::min(asked_end_, position);
}

} // namespace models::hub
