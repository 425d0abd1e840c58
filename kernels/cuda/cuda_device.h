// SPDX-License-Identifier: Apache-2.0
// One NVIDIA card behind kernels/device.h: its primary context, one stream for kernels and one for
// large copies, the loaded kernels, an arena of device memory with exact accounts per tag, and
// recorded launches. Every driver call is checked; after a failure that the driver cannot recover
// from, every further call answers DeviceLost and the object can only be destroyed.
#pragma once

#include "kernels/card_options.h"
#include "kernels/cuda/arena.h"
#include "kernels/cuda/cards.h"
#include "kernels/cuda/fatbin.h"
#include "kernels/cuda/page_locked.h"
#include "kernels/cuda/stream.h"
#include "kernels/device.h"

#include <array>
#include <atomic>
#include <bitset>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace kernels::cuda {

struct CudaDeviceOptions {
    const Driver* driver = nullptr; ///< Must outlive the device.
    int ordinal = 0;                ///< N of cuda:N.
    uint64_t limit = 0;        ///< Bytes this program may hold, context included; 0 = no limit.
    bool is_reference = false; ///< fp32 products of exactly rounded weights.
    const OpTable* ops = nullptr;
    std::span<const FatbinImage> images = embeddedImages();
    CardOptions card; ///< Which of its forms it takes.
};

class CudaDevice : public Device {
public:
    struct Opened {
        std::unique_ptr<CudaDevice> device; ///< nullptr on failure.
        Status status = Status::Ok;
        std::string message; ///< On failure: the object, what was found and the next step.
    };
    /// Opens the card. All or nothing: a failure leaves no memory and no context behind.
    static Opened create(const CudaDeviceOptions& options);
    ~CudaDevice() override;

    void* allocate(size_t bytes, int tag) override;
    void free(void* pointer) override;
    [[nodiscard]] MemoryInfo memory() const override;
    [[nodiscard]] uint64_t usedBytes(int tag) const override;
    Status copyIn(void* device_dst, const void* host_src, size_t bytes) override;
    Status copyInLater(void* device_dst, const void* locked_src, size_t bytes, int after) override;
    Status copyOutLater(void* locked_dst, const void* device_src, size_t bytes) override;
    Status mark(int number) override;
    Status waitForMark(int number) override;
    Status copyOut(void* host_dst, const void* device_src, size_t bytes) override;
    Status copyWithin(void* dst, const void* src, size_t bytes) override;
    Status clear(void* dst, size_t bytes) override;
    Status copyFromPeer(Device& from, void* dst, const void* src, size_t bytes) override;
    [[nodiscard]] bool isHostVisible() const override { return false; }
    [[nodiscard]] const OpTable& ops() const override { return *ops_; }
    [[nodiscard]] Queue queue() override;
    Status synchronize() override;

    uint64_t reserve(uint64_t bytes) override;
    void allocateFrom(uint64_t block) override { arena_.prefer(block); }
    void setScratch(void* scratch, size_t bytes) override;
    void* allocateHost(size_t bytes) override;
    void freeHost(void* pointer) override;
    Status lockHost(void* memory, size_t bytes) override;
    void unlockHost(void* memory) override;
    /// The same address: the driver's page-locked memory is mapped wherever addresses are unified,
    /// which they are on every card from compute capability 2.0 on in a program of 64 bits; what
    /// lockHost() took has been looked at.
    [[nodiscard]] void* kernelAddress(void* host_block) override;
    [[nodiscard]] uint64_t copiedInBytes() const override {
        return copied_in_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] uint64_t contextBytes() const override {
        return context_ != nullptr ? context_->bytes() : 0;
    }
    [[nodiscard]] uint64_t otherProgramsBytes() override;
    [[nodiscard]] std::string lastFailure() const override;

    [[nodiscard]] bool canCapture() const override {
        return !stream_.is_lost && stream_.times == nullptr;
    }
    Status beginCapture() override;
    Status endCapture(GraphHandle* graph) override;
    Status replay(GraphHandle graph) override;
    void freeGraph(GraphHandle graph) override;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const DeviceFacts& facts() const { return stream_.facts; }
    [[nodiscard]] Stream& stream() { return stream_; }
    /// Free on the card now, over all programs; 0 when it does not answer.
    [[nodiscard]] uint64_t freeBytes();
    /// Bytes taken from the driver for allocations (at least what is used).
    [[nodiscard]] uint64_t segmentBytes() const { return arena_.segmentBytes(); }
    [[nodiscard]] size_t liveAllocations() const { return blocks_.size(); }
    /// Main memory that is page-locked for this card. From any thread.
    [[nodiscard]] uint64_t pageLockedBytes() const { return page_locked_.bytes(); }
    [[nodiscard]] bool isLost() const override { return stream_.is_lost; }
    /// Makes the device's context the calling thread's; every other call does so itself.
    Status makeCurrent();

    /// Lets the n-th allocation from now (1 = the next one) return nullptr once; 0 switches it off.
    void failAllocation(uint64_t n) { fail_countdown_ = n; }

private:
    struct Block {
        size_t bytes = 0;
        int tag = 0;
    };
    /// Page-locked memory that a large copy passes through, and the event behind its last use.
    struct Staging {
        void* host = nullptr;
        CuEvent done = nullptr;
    };
    static constexpr size_t kStagedCopy = size_t{1} << 20; ///< Larger copies are staged.
    static constexpr size_t kStagingBytes = size_t{8} << 20;

    explicit CudaDevice(const CudaDeviceOptions& options);
    Status open(std::string* message);
    Status openContext(std::string* message);
    Status loadKernels(std::string* message);
    /// What the driver rounds allocations up to, by taking two for a moment; 0: not to be seen.
    uint64_t measureGranularity();
    Status failOpening(const char* step, std::string* message) const;
    /// Checks a driver result and remembers when the device is lost.
    Status check(CuResult result, const char* call);
    /// makeCurrent(), and decode steps that still wait for their launch come first.
    Status flushSteps();
    /// False when there is no page-locked memory to be had: then copies are not staged.
    bool prepareStaging();
    /// Lets the copy stream wait for all kernels enqueued so far, and back.
    Status orderCopiesAfterKernels();
    Status orderKernelsAfterCopies();
    Status stagedIn(CuPointer to, const std::byte* from, size_t bytes);
    Status stagedOut(std::byte* to, CuPointer from, size_t bytes);
    void destroy();

    const Driver* driver_;
    int ordinal_;
    uint64_t limit_;
    CardOptions options_;
    const OpTable* ops_;
    std::span<const FatbinImage> images_;
    std::string name_, uuid_;
    CuDevice device_ = 0;
    bool has_context_ = false;
    Stream stream_;
    std::unique_ptr<KernelTimes> times_;
    CuStream copy_stream_ = nullptr;
    CuEvent kernels_reached_ = nullptr;
    CuEvent copies_reached_ = nullptr;
    std::vector<CuModule> modules_;
    std::array<Staging, 2> staging_;
    std::array<CuEvent, kMarks> marks_{};
    std::bitset<64> peers_; ///< Ordinals that copies came from.
    bool has_staging_ = false, is_staging_refused_ = false;
    Arena arena_;
    std::unordered_map<void*, Block> blocks_;
    std::map<int, uint64_t> used_by_tag_;
    uint64_t used_ = 0, peak_ = 0;
    PageLocked page_locked_;
    std::unique_ptr<ContextRecord> context_;
    uint64_t free_at_start_ = 0;
    uint64_t fail_countdown_ = 0;
    bool is_capturing_ = false;
    std::atomic<uint64_t> copied_in_{0}; ///< Bytes.
};

} // namespace kernels::cuda
