// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/arena.h"

#include <algorithm>
#include <new>

namespace kernels::cuda {

Arena::Segments::iterator Arena::segmentOf(CuPointer pointer) {
    auto after = segments_.upper_bound(pointer);
    if (after == segments_.begin()) {
        return segments_.end();
    }
    --after;
    return pointer - after->first < after->second.bytes ? after : segments_.end();
}

Arena::Segments::iterator Arena::addSegment(size_t bytes, CuResult* result) {
    CuPointer base = 0;
    *result = driver_->memAlloc(&base, bytes);
    if (*result != kCuSuccess) {
        return segments_.end();
    }
    try {
        const auto added = segments_.emplace(base, Segment{bytes, {}, {}}).first;
        try {
            added->second.free.emplace(base, bytes);
        } catch (const std::bad_alloc&) {
            segments_.erase(added);
            throw;
        }
        segment_bytes_ += bytes;
        free_bytes_ += bytes;
        return added;
    } catch (const std::bad_alloc&) {
        driver_->memFree(base);
        throw;
    }
}

void Arena::removeSegment(Segments::iterator segment) {
    driver_->memFree(segment->first);
    segment_bytes_ -= segment->second.bytes;
    free_bytes_ -= segment->second.bytes;
    segments_.erase(segment);
}

CuPointer Arena::take(Segment& segment, Gap gap, size_t bytes) {
    const CuPointer start = gap->first;
    const size_t rest = gap->second - bytes;
    segment.live.emplace(start, bytes); // the only step that can throw comes first
    auto node = segment.free.extract(gap);
    if (rest > 0) {
        node.key() = start + bytes;
        node.mapped() = rest;
        segment.free.insert(std::move(node));
    }
    free_bytes_ -= bytes;
    return start;
}

CuPointer Arena::allocate(size_t bytes, CuResult* result) {
    *result = kCuSuccess;
    const size_t wanted = pieceBytes(bytes);
    if (wanted > SIZE_MAX / 2) {
        *result = kCuOutOfMemory;
        return 0;
    }
    Segment* best_segment = nullptr;
    Gap best;
    const auto look = [&](Segment& segment) {
        for (auto gap = segment.free.begin(); gap != segment.free.end(); ++gap) {
            if (gap->second >= wanted && (best_segment == nullptr || gap->second < best->second)) {
                best_segment = &segment;
                best = gap;
            }
        }
    };
    if (const auto preferred = segments_.find(preferred_); preferred != segments_.end()) {
        look(preferred->second);
    }
    if (best_segment == nullptr) {
        for (auto& [base, segment] : segments_) {
            look(segment);
        }
    }
    if (best_segment != nullptr) {
        return take(*best_segment, best, wanted);
    }
    // A large piece gets a segment of its own, so that it can go back as a whole.
    const size_t own = roundUp(wanted, granularity_);
    const size_t size = own >= default_segment_ / 2 ? own : roundUp(default_segment_, granularity_);
    auto added = addSegment(size, result);
    if (added == segments_.end() && size > own) {
        added = addSegment(own, result);
    }
    if (added == segments_.end()) {
        return 0;
    }
    return take(added->second, added->second.free.begin(), wanted);
}

size_t Arena::sizeOf(CuPointer pointer) const {
    auto after = segments_.upper_bound(pointer);
    if (after == segments_.begin()) {
        return 0;
    }
    --after;
    const auto live = after->second.live.find(pointer);
    return live == after->second.live.end() ? 0 : live->second;
}

void Arena::free(CuPointer pointer) {
    const auto found = segmentOf(pointer);
    if (found == segments_.end()) {
        return;
    }
    Segment& segment = found->second;
    const auto live = segment.live.find(pointer);
    if (live == segment.live.end()) {
        return;
    }
    free_bytes_ += live->second;
    auto node = segment.live.extract(live); // becomes the free entry: freeing never allocates
    const auto next = segment.free.lower_bound(pointer);
    if (next != segment.free.end() && pointer + node.mapped() == next->first) {
        node.mapped() += next->second;
        segment.free.erase(next);
    }
    auto inserted = segment.free.insert(std::move(node)).position;
    if (inserted != segment.free.begin()) {
        const auto previous = std::prev(inserted);
        if (previous->first + previous->second == inserted->first) {
            previous->second += inserted->second;
            segment.free.erase(inserted);
        }
    }
    if (segment.live.empty()) {
        removeSegment(found);
    }
}

CuPointer Arena::reserve(uint64_t bytes) {
    if (bytes == 0 || bytes > SIZE_MAX / 2) {
        return 0;
    }
    CuResult result = kCuSuccess;
    const auto added = addSegment(roundUp(static_cast<size_t>(bytes), granularity_), &result);
    if (added == segments_.end()) {
        return 0;
    }
    default_segment_ = 0;
    return added->first;
}

void Arena::releaseAll() {
    while (!segments_.empty()) {
        removeSegment(segments_.begin());
    }
    free_bytes_ = 0;
    default_segment_ = kDefaultSegment;
}

} // namespace kernels::cuda
