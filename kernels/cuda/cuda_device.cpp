// SPDX-License-Identifier: Apache-2.0
// Opening and closing a card, memory, kernels and recordings. Copies: cuda_copies.cpp.
#include "kernels/cuda/cuda_device.h"

#include "kernels/cuda/cards.h"
#include "kernels/cuda/launch_sizes.h"
#include "kernels/stage_times.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

namespace kernels::cuda {

namespace {

constexpr unsigned kNonBlockingStream = 1;
constexpr int kRelaxedCapture = 2; ///< Other threads and streams go on as they like.
constexpr int kPoisonByte = 0xff;
/// More than any driver rounds to: another program took memory at the same time.
constexpr uint64_t kLargestGranularity = uint64_t{256} << 20;

/// The context that this thread made current last. A closed device makes all of them stale: its
/// context's handle may come back for another context.
std::atomic<uint64_t> closed_contexts{0};
thread_local CuContext current_context = nullptr;
thread_local uint64_t current_since = 0;

std::string megabytes(uint64_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

} // namespace

CudaDevice::CudaDevice(const CudaDeviceOptions& options)
    : driver_(options.driver), ordinal_(options.ordinal), limit_(options.limit),
      options_(options.card), ops_(options.ops), images_(options.images), arena_(*options.driver) {
    stream_.driver = options.driver;
    stream_.is_reference = options.is_reference;
}

CudaDevice::~CudaDevice() {
    destroy();
}

CudaDevice::Opened CudaDevice::create(const CudaDeviceOptions& options) {
    Opened opened;
    std::unique_ptr<CudaDevice> device(new CudaDevice(options));
    opened.status = device->open(&opened.message);
    if (opened.status == Status::Ok) {
        opened.device = std::move(device);
    }
    return opened;
}

Status CudaDevice::makeCurrent() {
    if (stream_.is_lost) {
        return Status::DeviceLost;
    }
    const uint64_t closed = closed_contexts.load(std::memory_order_relaxed);
    if (current_context == stream_.context && current_since == closed) {
        return Status::Ok;
    }
    const Status status = check(driver_->ctxSetCurrent(stream_.context), "cuCtxSetCurrent");
    if (status == Status::Ok) {
        current_context = stream_.context;
        current_since = closed;
    }
    return status;
}

Status CudaDevice::check(CuResult result, const char* call) {
    return stream_.check(result, call);
}

Status CudaDevice::failOpening(const char* step, std::string* message) const {
    const std::string id = "cuda:" + std::to_string(ordinal_);
    const std::string what =
        std::string(stream_.last_call) + " answered " + driver_->errorName(stream_.last_error);
    if (stream_.last_error == kCuOutOfMemory) {
        *message = id + (name_.empty() ? "" : " (" + name_ + ")") + ": no memory left to " + step +
                   " (" + what + "); close other programs that use the card";
    } else {
        *message =
            id + (name_.empty() ? "" : " (" + name_ + ")") + ": cannot " + step + " (" + what + ")";
        if (!isEndOfProcess(stream_.last_error)) { // else the engine knows what helps
            *message += "; restart the program, and the machine if that does not help";
        }
    }
    const Status status = statusOf(stream_.last_error);
    return status == Status::Ok ? Status::Unsupported : status;
}

Status CudaDevice::open(std::string* message) {
    if (images_.empty()) {
        *message = "This build has no GPU kernels (it was made without nvcc); use the CPU, or a "
                   "build with BELFRY_CUDA=ON";
        return Status::Unsupported;
    }
    // Not tried at all: the driver would only repeat the fault.
    if (const std::string fault = driver_->process_fault->what(); !fault.empty()) {
        *message = "cuda:" + std::to_string(ordinal_) +
                   ": the driver refuses every graphics card to this process since " + fault;
        return Status::DeviceLost;
    }
    for (const Card& card : listCards(*driver_)) {
        if (card.ordinal != ordinal_) {
            continue;
        }
        if (!card.unusable.empty()) {
            *message = card.unusable.text;
            return Status::Unsupported;
        }
        name_ = card.name;
        uuid_ = card.uuid;
    }
    if (name_.empty()) {
        *message = "cuda:" + std::to_string(ordinal_) +
                   ": the driver shows no such card; choose a device that exists";
        return Status::Unsupported;
    }
    const auto before = driver_->memoryOf(uuid_);
    Status status = Status::Ok;
    {
        const StageTimer timer("context of a card");
        status = openContext(message);
    }
    if (status != Status::Ok) {
        return status;
    }
    {
        const StageTimer timer("kernels onto a card");
        status = loadKernels(message);
    }
    if (status != Status::Ok) {
        return status;
    }
    size_t free_now = 0;
    size_t total = 0;
    if (check(driver_->memGetInfo(&free_now, &total), "cuMemGetInfo") != Status::Ok) {
        return failOpening("read its memory", message);
    }
    free_at_start_ = free_now;
    const auto after = driver_->memoryOf(uuid_);
    uint64_t taken = 0;
    if (before && after && after->used > before->used) {
        taken = after->used - before->used;
    }
    context_ = std::make_unique<ContextRecord>(*driver_, ordinal_, taken);
    if (const uint64_t granularity = measureGranularity(); granularity > 0) {
        context_->setGranularity(granularity);
    }
    arena_.setGranularity(cardCosts(*driver_, ordinal_).granularity);
    if (limit_ != 0 && contextBytes() >= limit_) {
        *message = "cuda:" + std::to_string(ordinal_) + " (" + name_ + "): the limit of " +
                   megabytes(limit_) + " is below what the driver itself takes (" +
                   megabytes(contextBytes()) + "); raise the limit";
        return Status::OutOfMemory;
    }
    return Status::Ok;
}

uint64_t CudaDevice::measureGranularity() {
    // The second block is one byte larger than what the first one took, so that it takes one step
    // more. Both are larger than what a driver serves from memory that it holds already.
    constexpr size_t kProbe = (size_t{2} << 20) + 1;
    std::array<CuPointer, 2> blocks{};
    std::array<uint64_t, 2> taken{kProbe - 1, 0};
    bool is_told = true;
    for (size_t i = 0; i < blocks.size() && is_told; ++i) {
        size_t before = 0;
        size_t after = 0;
        size_t total = 0;
        const size_t asked = static_cast<size_t>(taken[0]) + 1;
        is_told = driver_->memGetInfo(&before, &total) == kCuSuccess &&
                  driver_->memAlloc(&blocks[i], asked) == kCuSuccess &&
                  driver_->memGetInfo(&after, &total) == kCuSuccess && before >= after + asked;
        taken[i] = before - std::min(before, after);
    }
    for (const CuPointer block : blocks) {
        if (block != 0) {
            driver_->memFree(block);
        }
    }
    const uint64_t step = taken[1] - std::min(taken[1], taken[0]);
    const bool is_likely = is_told && std::has_single_bit(step) && step >= kPieceAlignment &&
                           step <= kLargestGranularity && taken[0] % step == 0;
    return is_likely ? step : 0;
}

Status CudaDevice::openContext(std::string* message) {
    if (check(driver_->deviceGet(&device_, ordinal_), "cuDeviceGet") != Status::Ok) {
        return failOpening("find the card", message);
    }
    int major = 0;
    int minor = 0;
    int l2_bytes = 0;
    DeviceFacts& facts = stream_.facts;
    const auto attribute = [this](int* value, int id) {
        return check(driver_->deviceGetAttribute(value, id, device_), "cuDeviceGetAttribute") ==
               Status::Ok;
    };
    if (!attribute(&major, kCuAttributeMajor) || !attribute(&minor, kCuAttributeMinor) ||
        !attribute(&facts.multiprocessors, kCuAttributeMultiprocessors) ||
        !attribute(&facts.shared_bytes, kCuAttributeMaxSharedPerBlockOptin) ||
        !attribute(&facts.shared_base, kCuAttributeReservedSharedPerBlock) ||
        !attribute(&l2_bytes, kCuAttributeL2Bytes)) {
        return failOpening("read the card's properties", message);
    }
    facts.compute_capability = 10 * major + minor;
    stream_.is_overlapping = facts.compute_capability >= 90;
    if (options_.has_kernel_times) {
        times_ = std::make_unique<KernelTimes>(*driver_);
        stream_.times = times_.get();
    }
    stream_.steps.may_stream = options_.has_streamed_launch;
    stream_.steps.may_bulk = options_.has_bulk_copies;
    stream_.steps.may_plan = options_.has_update_plans;
    stream_.steps.has_heads = options_.has_attention_by_heads;
    stream_.wide_rows = options_.wide_rows;
    if (options_.shared_bytes > 0) {
        facts.shared_bytes = std::min(facts.shared_bytes, options_.shared_bytes);
    }
    facts.l2_bytes = l2_bytes;
    if (check(driver_->primaryCtxRetain(&stream_.context, device_), "cuDevicePrimaryCtxRetain") !=
        Status::Ok) {
        return failOpening("open the card", message);
    }
    has_context_ = true;
    if (makeCurrent() != Status::Ok) {
        return failOpening("open the card", message);
    }
    const auto made = [this](CuResult result, const char* call) {
        return check(result, call) == Status::Ok;
    };
    if (!made(driver_->streamCreate(&stream_.handle, kNonBlockingStream), "cuStreamCreate") ||
        !made(driver_->streamCreate(&copy_stream_, kNonBlockingStream), "cuStreamCreate") ||
        !made(driver_->eventCreate(&kernels_reached_, kEventWithoutTiming), "cuEventCreate") ||
        !made(driver_->eventCreate(&copies_reached_, kEventWithoutTiming), "cuEventCreate")) {
        return failOpening("create its work queues", message);
    }
    stream_.upload = copy_stream_;
    return Status::Ok;
}

Status CudaDevice::loadKernels(std::string* message) {
    const int capability = stream_.facts.compute_capability;
    for (const FatbinImage& image : images_) {
        if (capability < image.oldest_capability || capability > image.newest_capability) {
            continue;
        }
        CuModule module = nullptr;
        const Status status =
            check(driver_->moduleLoadData(&module, image.data), "cuModuleLoadData");
        if (status == Status::Unsupported) {
            *message = "cuda:" + std::to_string(ordinal_) + " (" + name_ + ", compute capability " +
                       std::to_string(capability / 10) + "." + std::to_string(capability % 10) +
                       ") cannot load the kernels of this build (" +
                       driver_->errorName(stream_.last_error) + "; built for " +
                       embeddedArchitectures() +
                       "); update the driver, or build Belfry on this machine or with "
                       "-DBELFRY_CUDA_ARCHS=" +
                       std::to_string(capability);
            return status;
        }
        if (status != Status::Ok) {
            return failOpening("load the kernels", message);
        }
        modules_.push_back(module);
    }
    for (size_t id = 0; id < kKernelCount; ++id) {
        CuFunction function = nullptr;
        for (const CuModule module : modules_) {
            const CuResult found = driver_->moduleGetFunction(
                &function, module, kernelName(static_cast<KernelId>(id)));
            if (found == kCuSuccess) {
                break;
            }
            function = nullptr;
            if (found != kCuNotFound) {
                (void)check(found, "cuModuleGetFunction");
                return failOpening("load the kernels", message);
            }
        }
        if (function == nullptr) {
            continue; // a launch of it answers Unsupported with its name
        }
        int fixed = 0;
        if (check(driver_->funcGetAttribute(&fixed, kCuFunctionStaticShared, function),
                  "cuFuncGetAttribute") != Status::Ok ||
            check(driver_->funcSetAttribute(function, kCuFunctionMaxDynamicShared,
                                            stream_.facts.shared_bytes - fixed),
                  "cuFuncSetAttribute") != Status::Ok) {
            return failOpening("prepare the kernels", message);
        }
        stream_.functions[id] = function;
        if (static_cast<KernelId>(id) == KernelId::stream_async) {
            stream_.async_shared = stream_.facts.shared_bytes - fixed;
        }
    }
    return Status::Ok;
}

void CudaDevice::destroy() {
    if (!has_context_) {
        return;
    }
    // Results are of no use here: a lost context frees everything with the release below.
    driver_->ctxSetCurrent(stream_.context);
    if (times_ != nullptr && stream_.handle != nullptr && !stream_.is_lost) {
        times_->print(stream_.handle);
    }
    for (const CuStream stream : {stream_.handle, copy_stream_}) {
        if (stream != nullptr) {
            driver_->streamSynchronize(stream);
            driver_->streamDestroy(stream);
        }
    }
    for (const CuEvent event :
         {kernels_reached_, copies_reached_, staging_[0].done, staging_[1].done}) {
        if (event != nullptr) {
            driver_->eventDestroy(event);
        }
    }
    for (const CuEvent event : marks_) {
        if (event != nullptr) {
            driver_->eventDestroy(event);
        }
    }
    for (const Staging& staging : staging_) {
        if (staging.host != nullptr) {
            driver_->memFreeHost(staging.host);
        }
    }
    for (const CuModule module : modules_) {
        driver_->moduleUnload(module);
    }
    arena_.releaseAll();
    driver_->ctxSetCurrent(nullptr);
    driver_->primaryCtxRelease(device_);
    closed_contexts.fetch_add(1, std::memory_order_relaxed);
    current_context = nullptr;
    has_context_ = false;
}

void* CudaDevice::allocate(size_t bytes, int tag) {
    if (fail_countdown_ > 0 && --fail_countdown_ == 0) {
        return nullptr;
    }
    if (limit_ != 0) {
        const uint64_t taken = used_ + contextBytes();
        if (taken > limit_ || bytes > limit_ - taken) {
            return nullptr;
        }
    }
    if (makeCurrent() != Status::Ok) {
        return nullptr;
    }
    CuPointer address = 0;
    try {
        CuResult result = kCuSuccess;
        address = arena_.allocate(bytes, &result);
        if (address == 0) {
            (void)check(result, "cuMemAlloc");
            return nullptr;
        }
        // NOLINTNEXTLINE(performance-no-int-to-ptr): device addresses are passed as pointers
        blocks_.emplace(reinterpret_cast<void*>(address), Block{bytes, tag});
        used_by_tag_[tag] += bytes;
    } catch (const std::bad_alloc&) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        blocks_.erase(reinterpret_cast<void*>(address));
        arena_.free(address);
        return nullptr;
    }
    used_ += bytes;
    peak_ = used_ > peak_ ? used_ : peak_;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void* pointer = reinterpret_cast<void*>(address);
    // Filled before it is handed out: copies on other streams do not wait for this one.
    if (options_.has_poison && bytes > 0 &&
        (check(driver_->memsetD8Async(address, kPoisonByte, bytes, stream_.handle),
               "cuMemsetD8Async") != Status::Ok ||
         check(driver_->streamSynchronize(stream_.handle), "cuStreamSynchronize") != Status::Ok)) {
        free(pointer);
        return nullptr;
    }
    return pointer;
}

void CudaDevice::free(void* pointer) {
    const auto found = blocks_.find(pointer);
    if (found == blocks_.end()) {
        return;
    }
    used_ -= found->second.bytes;
    used_by_tag_[found->second.tag] -= found->second.bytes;
    blocks_.erase(found);
    // Kernels that still use the block come before whatever reuses it: one queue. Giving a whole
    // segment back waits for them in the driver.
    (void)makeCurrent();
    arena_.free(reinterpret_cast<CuPointer>(pointer));
}

MemoryInfo CudaDevice::memory() const {
    const uint64_t capacity = limit_ != 0 ? limit_ - contextBytes() : free_at_start_;
    return {capacity, used_, peak_, arena_.segmentBytes()};
}

uint64_t CudaDevice::usedBytes(int tag) const {
    const auto found = used_by_tag_.find(tag);
    return found == used_by_tag_.end() ? 0 : found->second;
}

Queue CudaDevice::queue() {
    stream_.entered = makeCurrent(); // the launch answers a failure
    return {&stream_};
}

Status CudaDevice::synchronize() {
    Status status = flushSteps();
    if (status == Status::Ok) {
        status = check(driver_->streamSynchronize(copy_stream_), "cuStreamSynchronize");
    }
    if (status == Status::Ok) {
        status = check(driver_->streamSynchronize(stream_.handle), "cuStreamSynchronize");
    }
    return status;
}

Status CudaDevice::flushSteps() {
    const Status status = makeCurrent();
    stream_.entered = status;
    return status == Status::Ok ? stream_.flush() : status;
}

uint64_t CudaDevice::reserve(uint64_t bytes) {
    if (makeCurrent() != Status::Ok) {
        return 0;
    }
    try {
        return arena_.reserve(bytes);
    } catch (const std::bad_alloc&) {
        return 0; // a hint
    }
}

void CudaDevice::setScratch(void* scratch, size_t bytes) {
    stream_.scratch = reinterpret_cast<CuPointer>(scratch);
    stream_.scratch_bytes = scratch == nullptr ? 0 : bytes;
    // The counters of split attention come first and are zero between launches.
    if (scratch != nullptr && bytes >= kCounterBytes && makeCurrent() == Status::Ok) {
        check(driver_->memsetD8Async(stream_.scratch, 0, kCounterBytes, stream_.handle),
              "cuMemsetD8Async");
        // Nobody may find the number of a step there before it is published.
        if (bytes >= kExchangeOffset + kExchangeBytes) {
            check(driver_->memsetD8Async(stream_.scratch + kExchangeOffset, 0, kExchangeBytes,
                                         stream_.handle),
                  "cuMemsetD8Async");
        }
    }
}

void* CudaDevice::allocateHost(size_t bytes) {
    constexpr unsigned kPortable = 1;
    void* pointer = nullptr;
    if (makeCurrent() != Status::Ok ||
        check(driver_->memHostAlloc(&pointer, bytes, kPortable), "cuMemHostAlloc") != Status::Ok) {
        return nullptr;
    }
    page_locked_.add(pointer, bytes);
    return pointer;
}

void CudaDevice::freeHost(void* pointer) {
    if (pointer != nullptr) {
        // A lost card as well: nothing may stay, and what was enqueued before a failure may
        // still be about to read it.
        if (driver_->ctxSetCurrent(stream_.context) == kCuSuccess) {
            current_context = stream_.context;
            current_since = closed_contexts.load(std::memory_order_relaxed);
            (void)driver_->streamSynchronize(copy_stream_);
            (void)driver_->streamSynchronize(stream_.handle);
        }
        (void)check(driver_->memFreeHost(pointer), "cuMemFreeHost");
        page_locked_.remove(pointer);
    }
}

// Both may run beside the thread that this object belongs to: of it they change page_locked_ alone.
Status CudaDevice::lockHost(void* memory, size_t bytes) {
    constexpr unsigned kPortableAndMapped = 3;
    constexpr uintptr_t kPage = 4096;
    // Drivers lock pages: what shares one with other memory would change how that is copied.
    if ((reinterpret_cast<uintptr_t>(memory) | bytes) % kPage != 0) {
        return Status::Unsupported;
    }
    bool is_locked = driver_->ctxSetCurrent(stream_.context) == kCuSuccess &&
                     driver_->memHostRegister(memory, bytes, kPortableAndMapped) == kCuSuccess;
    // Not every system has it at the same address for the card (Windows and what runs on it).
    CuPointer there = 0;
    if (is_locked && (driver_->memHostGetDevicePointer(&there, memory, 0) != kCuSuccess ||
                      there != reinterpret_cast<CuPointer>(memory))) {
        (void)driver_->memHostUnregister(memory);
        is_locked = false;
    }
    current_context = nullptr; // of this thread: whoever comes next asks again
    if (is_locked) {
        page_locked_.add(memory, bytes);
    }
    return is_locked ? Status::Ok : Status::Unsupported;
}

void CudaDevice::unlockHost(void* memory) {
    (void)driver_->ctxSetCurrent(stream_.context);
    current_context = nullptr;
    (void)driver_->memHostUnregister(memory);
    page_locked_.remove(memory);
}

void* CudaDevice::kernelAddress(void* host_block) {
    return host_block;
}

uint64_t CudaDevice::freeBytes() {
    size_t free_now = 0;
    size_t total = 0;
    if (makeCurrent() != Status::Ok ||
        check(driver_->memGetInfo(&free_now, &total), "cuMemGetInfo") != Status::Ok) {
        return 0;
    }
    return free_now;
}

uint64_t CudaDevice::otherProgramsBytes() {
    const uint64_t own = contextBytes() + arena_.segmentBytes();
    if (const auto memory = driver_->memoryOf(uuid_)) {
        return memory->used > own ? memory->used - own : 0;
    }
    size_t free_now = 0;
    size_t total = 0;
    if (makeCurrent() != Status::Ok ||
        check(driver_->memGetInfo(&free_now, &total), "cuMemGetInfo") != Status::Ok) {
        return 0;
    }
    const uint64_t used = total - free_now;
    return used > own ? used - own : 0;
}

std::string CudaDevice::lastFailure() const {
    if (stream_.last_error == kCuSuccess) {
        return stream_.last_call;
    }
    return std::string(stream_.last_call) + ": " + driver_->errorName(stream_.last_error);
}

Status CudaDevice::beginCapture() {
    if (is_capturing_) {
        return Status::Unsupported; // the one that runs goes on
    }
    Status status = makeCurrent();
    if (status == Status::Ok) {
        status = check(driver_->streamBeginCapture(stream_.handle, kRelaxedCapture),
                       "cuStreamBeginCapture");
    }
    is_capturing_ = status == Status::Ok;
    return status;
}

Status CudaDevice::endCapture(GraphHandle* graph) {
    *graph = nullptr;
    const Status flushed = flushSteps();
    if (!is_capturing_) {
        return flushed == Status::Ok ? Status::Unsupported : flushed;
    }
    is_capturing_ = false;
    // In any case: a stream that is left capturing runs nothing any more.
    CuGraph recorded = nullptr;
    Status status =
        check(driver_->streamEndCapture(stream_.handle, &recorded), "cuStreamEndCapture");
    status = flushed == Status::Ok ? status : flushed;
    CuGraphExec exec = nullptr;
    if (status == Status::Ok) {
        status = check(driver_->graphInstantiate(&exec, recorded, 0), "cuGraphInstantiate");
    }
    if (recorded != nullptr) {
        driver_->graphDestroy(recorded);
    }
    if (status == Status::Ok) {
        *graph = exec;
    }
    return status;
}

Status CudaDevice::replay(GraphHandle graph) {
    const Status status = makeCurrent();
    if (status != Status::Ok) {
        return status;
    }
    return check(driver_->graphLaunch(static_cast<CuGraphExec>(graph), stream_.handle),
                 "cuGraphLaunch");
}

void CudaDevice::freeGraph(GraphHandle graph) {
    if (graph != nullptr) {
        (void)makeCurrent();
        driver_->graphExecDestroy(static_cast<CuGraphExec>(graph));
    }
}

} // namespace kernels::cuda
