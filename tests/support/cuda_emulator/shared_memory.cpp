// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulator/shared_memory.h"

#include "tests/support/cuda_emulator/emulator.h"
#include "tests/support/pages.h"

#include <algorithm>
#include <cstring>

namespace emulator {

namespace {

constexpr size_t kStaticBytes = size_t{48} * 1024; // what a block may have
constexpr size_t kStaticRoom = size_t{64} * 1024;  // with the canaries
constexpr size_t kCanaryBytes = 64;
constexpr size_t kDynamicAlignment = 1024;
/// Numbers of static variables begin here. On a card dynamic memory lies behind them; here it is
/// always where it is on a card for kernels without such variables.
constexpr uint32_t kFirstStaticNumber = 1U << 20;
constexpr unsigned char kCanary = 0xa5;

} // namespace

SharedMemory::SharedMemory(size_t dynamic_bytes) : dynamic_bytes_(dynamic_bytes) {
    const auto page = support::pageBytes();
    const size_t dynamic_room =
        (dynamic_bytes + kDynamicAlignment - 1) / kDynamicAlignment * kDynamicAlignment;
    const size_t bytes = (kStaticRoom + dynamic_room + page - 1) / page * page;
    mapped_ = bytes + page;
    base_ = static_cast<char*>(support::takePages(mapped_));
    end_ = base_ + bytes;
    support::forbidPages(end_, page);
    dynamic_ = end_ - dynamic_room;
}

SharedMemory::~SharedMemory() {
    support::givePages(base_, mapped_);
}

void SharedMemory::reset() {
    std::memset(base_, kCanary, static_cast<size_t>(dynamic_ - base_));
    std::memset(dynamic_, 0xff, dynamic_bytes_);
    std::memset(dynamic_ + dynamic_bytes_, kCanary,
                static_cast<size_t>(end_ - dynamic_) - dynamic_bytes_);
    used_ = 0;
    variables_.clear();
}

void* SharedMemory::variable(const void* key, size_t bytes, size_t alignment) {
    for (const Variable& v : variables_) {
        if (v.key == key) {
            return base_ + v.offset;
        }
    }
    alignment = std::max<size_t>(alignment, 16);
    const size_t offset = (used_ + kCanaryBytes + alignment - 1) / alignment * alignment;
    size_t sum = bytes;
    for (const Variable& v : variables_) {
        sum += v.bytes;
    }
    if (sum > kStaticBytes || offset + bytes + kCanaryBytes > kStaticRoom) {
        return nullptr;
    }
    variables_.push_back({key, offset, bytes});
    used_ = offset + bytes;
    std::memset(base_ + offset, 0xff, bytes);
    return base_ + offset;
}

int64_t SharedMemory::numberOf(const void* pointer) const {
    const char* const at = static_cast<const char*>(pointer);
    // One past the end is a pointer, too.
    if (at < base_ || at > end_) {
        return -1;
    }
    return at < dynamic_ ? at - base_ + kFirstStaticNumber : at - dynamic_ + kReservedShared;
}

void* SharedMemory::pointerTo(uint32_t number, size_t bytes) const {
    if (number < kReservedShared) {
        return nullptr;
    }
    if (number < kFirstStaticNumber) {
        const size_t offset = number - kReservedShared;
        return offset + bytes <= dynamic_bytes_ ? dynamic_ + offset : nullptr;
    }
    const size_t offset = number - kFirstStaticNumber;
    for (const Variable& v : variables_) {
        if (offset >= v.offset && offset + bytes <= v.offset + v.bytes) {
            return base_ + offset;
        }
    }
    return nullptr;
}

std::string SharedMemory::overrun() const {
    const auto isCanary = [](char c) { return static_cast<unsigned char>(c) == kCanary; };
    const char* at = base_;
    for (size_t i = 0; i <= variables_.size(); ++i) {
        const char* const to = i < variables_.size() ? base_ + variables_[i].offset : dynamic_;
        if (!std::all_of(at, to, isCanary)) {
            return "written outside static shared variable " + std::to_string(i);
        }
        at = i < variables_.size() ? to + variables_[i].bytes : end_;
    }
    if (!std::all_of(dynamic_ + dynamic_bytes_, end_, isCanary)) {
        return "written behind the " + std::to_string(dynamic_bytes_) +
               " bytes of dynamic shared memory";
    }
    return {};
}

} // namespace emulator
