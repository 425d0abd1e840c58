// SPDX-License-Identifier: Apache-2.0
// A device in host memory: `cpu`, and `sim:N` (the same with a hard capacity, to try placements
// without a graphics card). Keeps exact accounts per tag. For tests: the n-th allocation can be
// made to fail, and fresh memory can be filled with a pattern that reads as NaN.
#pragma once

#include "kernels/cpu/host_arena.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/device.h"

#include <map>
#include <unordered_map>

namespace kernels::cpu {

class HostDevice : public Device {
public:
    /// capacity in bytes, 0 = only what the system gives. `pool` (may be nullptr: kernels run on
    /// the calling thread) and `ops` must outlive the device.
    HostDevice(uint64_t capacity, ThreadPool* pool, const OpTable& ops);
    /// Frees what is still allocated; see liveAllocations().
    ~HostDevice() override;

    void* allocate(size_t bytes, int tag) override;
    void free(void* pointer) override;
    [[nodiscard]] MemoryInfo memory() const override;
    [[nodiscard]] uint64_t usedBytes(int tag) const override;
    Status copyIn(void* device_dst, const void* host_src, size_t bytes) override;
    Status copyOut(void* host_dst, const void* device_src, size_t bytes) override;
    Status copyWithin(void* dst, const void* src, size_t bytes) override {
        return copyIn(dst, src, bytes);
    }
    Status clear(void* dst, size_t bytes) override;
    [[nodiscard]] bool isHostVisible() const override { return true; }
    [[nodiscard]] const OpTable& ops() const override { return *ops_; }
    [[nodiscard]] Queue queue() override { return {pool_}; }
    Status synchronize() override { return Status::Ok; }

    /// Changes the hard limit (0 = none). Existing allocations stay even when above it.
    void setCapacity(uint64_t capacity) { capacity_ = capacity; }
    /// Lets the n-th allocation from now (1 = the next one) return nullptr once; 0 switches it off.
    void failAllocation(uint64_t n) { fail_countdown_ = n; }
    /// Calls of allocate() so far, failed ones included.
    [[nodiscard]] uint64_t allocationCalls() const { return allocation_calls_; }
    /// Blocks that were allocated and not freed.
    [[nodiscard]] size_t liveAllocations() const { return blocks_.size(); }
    /// Fill new blocks with 0xff (NaN in every float type). Default: on in debug builds.
    void setPoison(bool is_on) { has_poison_ = is_on; }
    /// Forget the peak: it becomes what is used now.
    void resetPeak() { peak_ = used_; }

private:
    struct Block {
        size_t bytes = 0;
        int tag = 0;
        bool is_in_arena = false;
    };
    void giveBack(void* pointer, bool is_in_arena);

    uint64_t capacity_;
    ThreadPool* pool_;
    const OpTable* ops_;
    uint64_t used_ = 0;
    uint64_t peak_ = 0;
    uint64_t fail_countdown_ = 0;
    uint64_t allocation_calls_ = 0;
#ifdef NDEBUG
    bool has_poison_ = false;
#else
    bool has_poison_ = true;
#endif
    HostArena arena_;
    std::unordered_map<void*, Block> blocks_;
    std::map<int, uint64_t> used_by_tag_;
};

} // namespace kernels::cpu
