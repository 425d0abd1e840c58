// SPDX-License-Identifier: Apache-2.0
// Device memory taken from the driver in few large segments and handed out in pieces: cuMemAlloc
// rounds (mostly to 2 MiB) and waits for the card, a model has thousands of tensors. Best fit,
// neighbours are joined when freed, an empty segment goes back to the driver. No knowledge of
// limits or tags.
#pragma once

#include "kernels/card_costs.h"
#include "kernels/cuda/driver.h"

#include <cstddef>
#include <cstdint>
#include <map>

namespace kernels::cuda {

class Arena {
public:
    /// The device's context must be current in every call.
    explicit Arena(const Driver& driver) : driver_(&driver) {}
    ~Arena() { releaseAll(); }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    static constexpr size_t kDefaultSegment = size_t{32} << 20;

    /// Address of `bytes` (0 counts as 1), aligned to 256; 0 with *result set to the driver's
    /// answer when it has no room. May throw bad_alloc for its own books, without a leak.
    CuPointer allocate(size_t bytes, CuResult* result);
    /// Bytes of a live piece, rounded; 0 for an address that is none.
    [[nodiscard]] size_t sizeOf(CuPointer pointer) const;
    void free(CuPointer pointer);
    /// What the driver rounds allocations up to: segments are multiples of it.
    void setGranularity(size_t bytes) { granularity_ = bytes; }
    /// Takes one segment for pieces of `bytes` in total (pieceBytes() of each), so that they take
    /// no more of the card than that, rounded up once; what comes on top takes as little as it
    /// can. Its address; 0 where there is no room, which is no error.
    CuPointer reserve(uint64_t bytes);
    /// Pieces come out of this segment as long as it has room; 0: out of any. Without that a piece
    /// may take another segment's last room, so that a large one that was meant for it needs a
    /// segment of its own.
    void prefer(CuPointer segment) { preferred_ = segment; }
    /// Gives everything back, live pieces included.
    void releaseAll();

    /// Bytes held from the driver.
    [[nodiscard]] uint64_t segmentBytes() const { return segment_bytes_; }
    [[nodiscard]] size_t segments() const { return segments_.size(); }
    [[nodiscard]] uint64_t freeBytes() const { return free_bytes_; }

private:
    struct Segment {
        size_t bytes = 0;
        std::map<CuPointer, size_t> free; ///< Start and length, never two adjacent.
        std::map<CuPointer, size_t> live;
    };
    using Segments = std::map<CuPointer, Segment>;

    using Gap = std::map<CuPointer, size_t>::iterator;

    Segments::iterator segmentOf(CuPointer pointer);
    Segments::iterator addSegment(size_t bytes, CuResult* result);
    void removeSegment(Segments::iterator segment);
    CuPointer take(Segment& segment, Gap gap, size_t bytes);

    const Driver* driver_;
    Segments segments_;
    CuPointer preferred_ = 0; ///< The address of a segment that may be gone.
    uint64_t segment_bytes_ = 0;
    uint64_t free_bytes_ = 0;
    size_t granularity_ = kUsualCosts.granularity;
    size_t default_segment_ = kDefaultSegment;
};

} // namespace kernels::cuda
