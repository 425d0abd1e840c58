// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda/fake_driver.h"

#include "kernels/cuda/cards.h"
#include "kernels/cuda/kernel_list.h"
#include "kernels/ops.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <thread>

namespace support {

using namespace kernels::cuda;

namespace {

/// Device addresses lie where no machine has memory.
constexpr uint64_t kDeviceBit = uint64_t{1} << 62U;
constexpr int kStaticShared = 1024;
constexpr int kMaxShared = 232448;

FakeDriver* current_fake = nullptr;
thread_local CuContext thread_context = nullptr;

} // namespace

struct FakeContext {
    int device = 0;
    int references = 0;
};
struct FakeStream;
struct FakeEvent {
    FakeStream* stream = nullptr;
    uint64_t position = 0; ///< Steps of the stream that must be done.
};
struct FakeStep {
    std::function<void()> work;
    FakeStream* wait_stream = nullptr; ///< Waits for that stream first.
    uint64_t wait_position = 0;
};
struct FakeStream {
    FakeContext* context = nullptr;
    std::deque<FakeStep> pending;
    uint64_t enqueued = 0, done = 0;
    std::unique_ptr<std::vector<FakeStep>> recording;
};
struct FakeModule {
    FakeContext* context = nullptr;
};
struct FakeFunction {
    std::string name;
    FakeModule* module = nullptr;
    int max_dynamic = 48 * 1024;
};

struct FakeDriver::State {
    std::vector<FakeCard> cards;
    std::map<int, std::unique_ptr<FakeContext>> contexts;
    std::map<FakeStream*, std::unique_ptr<FakeStream>> streams;
    std::map<FakeEvent*, std::unique_ptr<FakeEvent>> events;
    std::map<FakeModule*, std::unique_ptr<FakeModule>> modules;
    std::map<FakeFunction*, std::unique_ptr<FakeFunction>> functions;
    std::map<void*, std::unique_ptr<std::vector<FakeStep>>> graphs, execs;
    struct Block {
        size_t bytes = 0;
        void* memory = nullptr;
        void* base = nullptr; ///< What calloc gave.
        FakeContext* context = nullptr;
    };
    std::map<uint64_t, Block> device_memory;
    std::map<uint64_t, size_t> host_memory;

    /// Runs a stream's steps up to a position, and what they wait for.
    void run(FakeStream* stream, uint64_t position) {
        while (stream->done < position && !stream->pending.empty()) {
            FakeStep step = std::move(stream->pending.front());
            stream->pending.pop_front();
            if (step.wait_stream != nullptr && streams.contains(step.wait_stream)) {
                run(step.wait_stream, step.wait_position);
            }
            ++stream->done;
            if (step.work) {
                step.work();
            }
        }
    }
    void runAll(const FakeContext* context) {
        for (auto& [key, stream] : streams) {
            if (stream->context == context) {
                run(key, stream->enqueued);
            }
        }
    }
    void enqueue(FakeStream* stream, FakeStep step) {
        if (stream->recording != nullptr) {
            stream->recording->push_back(std::move(step));
            return;
        }
        stream->pending.push_back(std::move(step));
        ++stream->enqueued;
    }
    /// Host address of a range of device memory; nullptr when it is not all inside one live block.
    void* find(CuPointer pointer, size_t bytes) {
        auto after = device_memory.upper_bound(pointer);
        if (after == device_memory.begin()) {
            return nullptr;
        }
        --after;
        const uint64_t offset = pointer - after->first;
        return offset <= after->second.bytes && bytes <= after->second.bytes - offset
                   ? static_cast<std::byte*>(after->second.memory) + offset
                   : nullptr;
    }
    [[nodiscard]] bool isPinned(const void* host, size_t bytes) const {
        const auto address = reinterpret_cast<uint64_t>(host);
        auto after = host_memory.upper_bound(address);
        if (after == host_memory.begin()) {
            return false;
        }
        --after;
        return address - after->first < after->second &&
               bytes <= after->second - (address - after->first);
    }
};

std::string FakeLive::text() const {
    return "contexts " + std::to_string(contexts) + ", streams " + std::to_string(streams) +
           ", events " + std::to_string(events) + ", modules " + std::to_string(modules) +
           ", graphs " + std::to_string(graphs + execs) + ", device blocks " +
           std::to_string(device_blocks) + ", host blocks " + std::to_string(host_blocks);
}

CuResult FakeDriver::answer(CuResult code) {
    if (isEndOfProcess(code)) {
        process_fault_ = code;
        for (auto& [key, stream] : state_->streams) {
            stream->pending.clear(); // nothing more runs on any card
        }
    }
    return code;
}

CuResult FakeDriver::enter(const char* name) {
    trace_.push_back(name);
    ++calls_;
    const std::string_view call = name;
    const bool needs_no_context =
        call.starts_with("cuDevice") && !call.starts_with("cuDevicePrimaryCtx");
    if (process_fault_ != kCuSuccess && !needs_no_context) {
        return answer(process_fault_); // also what was enqueued in between is gone
    }
    if (has_failed_ && is_fail_sticky_) {
        for (auto& [key, stream] : state_->streams) {
            stream->pending.clear(); // a context that is beyond repair runs nothing more
        }
        return fail_code_;
    }
    if (fault && !needs_no_context) {
        if (const CuResult code = fault(name); code != kCuSuccess) {
            return answer(code);
        }
    }
    if (fail_at_ != 0 && calls_ == fail_at_) {
        has_failed_ = true;
        return answer(fail_code_);
    }
    return kCuSuccess;
}

void FakeDriver::setUsedByOthers(int card, size_t bytes) {
    state_->cards[static_cast<size_t>(card)].used_by_others = bytes;
}

void FakeDriver::failCall(uint64_t n, CuResult code, bool is_sticky) {
    fail_at_ = n == 0 ? 0 : calls_ + n;
    fail_code_ = code;
    is_fail_sticky_ = is_sticky;
    has_failed_ = false;
}

void FakeDriver::violation(std::string text) {
    violations_.push_back(std::move(text));
}

void FakeDriver::clearTrace() {
    trace_.clear();
    launches_.clear();
}

FakeLive FakeDriver::live() const {
    FakeLive live;
    for (const auto& [device, context] : state_->contexts) {
        live.contexts += context->references;
    }
    live.streams = static_cast<int>(state_->streams.size());
    live.events = static_cast<int>(state_->events.size());
    live.modules = static_cast<int>(state_->modules.size());
    live.graphs = static_cast<int>(state_->graphs.size());
    live.execs = static_cast<int>(state_->execs.size());
    live.device_blocks = state_->device_memory.size();
    live.host_blocks = state_->host_memory.size();
    return live;
}

uint64_t FakeDriver::deviceBytes(int card) const {
    uint64_t bytes = 0;
    for (const auto& [address, block] : state_->device_memory) {
        bytes += block.context->device == card ? block.bytes : 0;
    }
    return bytes;
}

uint64_t FakeDriver::takenBytes(int card) const {
    const FakeCard& of = state_->cards[static_cast<size_t>(card)];
    const auto context = state_->contexts.find(card);
    const bool is_open = context != state_->contexts.end() && context->second->references > 0;
    uint64_t bytes = is_open ? of.context_bytes : 0;
    for (const auto& [address, block] : state_->device_memory) {
        bytes += block.context->device == card
                     ? (block.bytes + of.granularity - 1) / of.granularity * of.granularity
                     : 0;
    }
    return bytes;
}

uint64_t FakeDriver::hostBytes() const {
    uint64_t bytes = 0;
    for (const auto& [address, size] : state_->host_memory) {
        bytes += size;
    }
    return bytes;
}

std::span<const FatbinImage> FakeDriver::images() {
    static constexpr unsigned char kBytes[16] = {};
    static constexpr FatbinImage kImages[] = {{"fake", kBytes, sizeof(kBytes)}};
    return kImages;
}

/// The entry points. Handles are addresses of the state's objects.
struct FakeCalls {
    static FakeDriver& fake() { return *current_fake; }
    static FakeDriver::State& state() { return *current_fake->state_; }
    template <typename T, typename H>
    static T* object(H handle) {
        return reinterpret_cast<T*>(handle);
    }
    static FakeContext* context() { return object<FakeContext>(thread_context); }

    /// The stream behind a handle; its context must be the calling thread's.
    static FakeStream* stream(CuStream handle, const char* call) {
        auto* const found = object<FakeStream>(handle);
        if (!state().streams.contains(found)) {
            fake().violation(std::string(call) + ": no such stream");
            return nullptr;
        }
        if (found->context != context()) {
            fake().violation(std::string(call) + ": another context is current");
        }
        return found;
    }
    static bool needsContext(const char* call) {
        if (context() == nullptr) {
            fake().violation(std::string(call) + ": no context is current");
        }
        return context() != nullptr;
    }
    static void pause() {
        if (fake().copy_ms > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(fake().copy_ms));
        }
    }

#define BELFRY_ENTER(name)                                                                         \
    if (const CuResult fault = fake().enter(name); fault != kCuSuccess) {                          \
        return fault;                                                                              \
    }

    static CuResult init(unsigned) {
        return fake().on_init ? fake().on_init() : fake().init_result;
    }
    static CuResult driverGetVersion(int* version) {
        *version = fake().version;
        return kCuSuccess;
    }
    static CuResult getErrorName(CuResult code, const char** name) {
        static const std::map<CuResult, const char*> kNames = {
            {1, "CUDA_ERROR_INVALID_VALUE"},   {2, "CUDA_ERROR_OUT_OF_MEMORY"},
            {100, "CUDA_ERROR_NO_DEVICE"},     {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
            {500, "CUDA_ERROR_NOT_FOUND"},     {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
            {719, "CUDA_ERROR_LAUNCH_FAILED"}, {999, "CUDA_ERROR_UNKNOWN"},
        };
        const auto found = kNames.find(code);
        if (found == kNames.end()) {
            return 1;
        }
        *name = found->second;
        return kCuSuccess;
    }
    static CuResult deviceGetCount(int* count) {
        BELFRY_ENTER("cuDeviceGetCount")
        *count = static_cast<int>(state().cards.size());
        return kCuSuccess;
    }
    static CuResult deviceGet(CuDevice* device, int ordinal) {
        BELFRY_ENTER("cuDeviceGet")
        if (ordinal < 0 || static_cast<size_t>(ordinal) >= state().cards.size()) {
            return 101;
        }
        *device = ordinal;
        return kCuSuccess;
    }
    static const FakeCard& card(CuDevice device) {
        return state().cards[static_cast<size_t>(device)];
    }
    static CuResult deviceGetName(char* name, int length, CuDevice device) {
        BELFRY_ENTER("cuDeviceGetName")
        std::strncpy(name, card(device).name.c_str(), static_cast<size_t>(length));
        return kCuSuccess;
    }
    static CuResult deviceGetUuid(unsigned char* uuid, CuDevice device) {
        BELFRY_ENTER("cuDeviceGetUuid")
        std::memset(uuid, 0xe0 + device, 16);
        return kCuSuccess;
    }
    static CuResult deviceGetAttribute(int* value, int attribute, CuDevice device) {
        BELFRY_ENTER("cuDeviceGetAttribute")
        switch (attribute) {
        case kCuAttributeMajor:
            *value = card(device).capability / 10;
            break;
        case kCuAttributeMinor:
            *value = card(device).capability % 10;
            break;
        case kCuAttributeMultiprocessors:
            *value = card(device).multiprocessors;
            break;
        case kCuAttributeClockKhz:
            *value = card(device).clock_khz;
            break;
        case kCuAttributeMemoryClockKhz:
            *value = card(device).memory_clock_khz;
            break;
        case kCuAttributeMemoryBusBits:
            *value = card(device).memory_bus_bits;
            break;
        case kCuAttributeMaxSharedPerBlockOptin:
            *value = card(device).shared_bytes;
            break;
        case kCuAttributeReservedSharedPerBlock:
            *value = card(device).reserved_shared;
            break;
        default:
            *value = 1 << 20;
        }
        return kCuSuccess;
    }
    static CuResult deviceTotalMem(size_t* bytes, CuDevice device) {
        BELFRY_ENTER("cuDeviceTotalMem")
        *bytes = card(device).total;
        return kCuSuccess;
    }
    static CuResult primaryCtxRetain(CuContext* out, CuDevice device) {
        BELFRY_ENTER("cuDevicePrimaryCtxRetain")
        auto& held = state().contexts[device];
        if (held == nullptr) {
            held = std::make_unique<FakeContext>();
            held->device = device;
        }
        ++held->references;
        *out = reinterpret_cast<CuContext>(held.get());
        return kCuSuccess;
    }
    static CuResult primaryCtxRelease(CuDevice device) {
        const CuResult fault = fake().enter("cuDevicePrimaryCtxRelease");
        if (state().contexts[device] == nullptr || state().contexts[device]->references == 0) {
            fake().violation("cuDevicePrimaryCtxRelease: not retained");
            return 1;
        }
        --state().contexts[device]->references;
        return fault;
    }
    static CuResult primaryCtxSetFlags(CuDevice, unsigned) {
        BELFRY_ENTER("cuDevicePrimaryCtxSetFlags")
        return kCuSuccess;
    }
    static CuResult ctxSetCurrent(CuContext wanted) {
        BELFRY_ENTER("cuCtxSetCurrent")
        thread_context = wanted;
        return kCuSuccess;
    }
    static CuResult ctxEnablePeerAccess(CuContext, unsigned) {
        BELFRY_ENTER("cuCtxEnablePeerAccess")
        return kCuSuccess;
    }
    static CuResult ctxSynchronize() {
        BELFRY_ENTER("cuCtxSynchronize")
        state().runAll(context());
        return kCuSuccess;
    }
    static size_t usedOn(int device) {
        return card(device).used_by_others + fake().takenBytes(device);
    }
    static std::optional<CardMemory> memoryOf(const std::string& uuid) {
        for (size_t i = 0; i < state().cards.size() && fake().has_management; ++i) {
            const auto device = static_cast<int>(i);
            std::array<unsigned char, 16> bytes{};
            std::array<char, 3> hex{};
            (void)deviceGetUuid(bytes.data(), device);
            std::snprintf(hex.data(), hex.size(), "%02x", bytes[0]);
            if (uuid.starts_with("GPU-" + std::string(hex.data()))) {
                const uint64_t used = std::min(usedOn(device), card(device).total);
                return CardMemory{card(device).total, used, card(device).total - used};
            }
        }
        return std::nullopt;
    }
    static CuResult memGetInfo(size_t* free, size_t* total) {
        BELFRY_ENTER("cuMemGetInfo")
        if (!needsContext("cuMemGetInfo")) {
            return 201;
        }
        *total = card(context()->device).total;
        *free = *total - usedOn(context()->device);
        return kCuSuccess;
    }
    static CuResult memAlloc(CuPointer* pointer, size_t bytes) {
        BELFRY_ENTER("cuMemAlloc")
        if (!needsContext("cuMemAlloc")) {
            return 201;
        }
        if (fake().fail_allocation > 1) {
            --fake().fail_allocation;
        } else if (fake().fail_allocation == 1) {
            if (--fake().fail_allocations == 0) {
                fake().fail_allocation = 0;
                fake().fail_allocations = 1;
            }
            return kCuOutOfMemory;
        }
        const FakeCard& on = card(context()->device);
        const size_t takes = (bytes + on.granularity - 1) / on.granularity * on.granularity;
        if (takes > on.total - std::min(on.total, usedOn(context()->device))) {
            return kCuOutOfMemory;
        }
        // Zeros that cost nothing until they are touched.
        void* const base = std::calloc(1, bytes + 256);
        if (base == nullptr) {
            return kCuOutOfMemory;
        }
        void* memory = base;
        size_t room = bytes + 256;
        memory = std::align(256, bytes, memory, room);
        *pointer = reinterpret_cast<uint64_t>(memory) | (fake().compute ? 0 : kDeviceBit);
        state().device_memory[*pointer] = {bytes, memory, base, context()};
        return kCuSuccess;
    }
    static CuResult memFree(CuPointer pointer) {
        const CuResult fault = fake().enter("cuMemFree");
        const auto found = state().device_memory.find(pointer);
        if (found == state().device_memory.end()) {
            fake().violation("cuMemFree: not allocated");
            return 1;
        }
        state().runAll(found->second.context); // the driver waits as well
        std::free(found->second.base);
        state().device_memory.erase(found);
        return fault;
    }
    static CuResult memHostAlloc(void** pointer, size_t bytes, unsigned) {
        BELFRY_ENTER("cuMemHostAlloc")
        // No kernel runs that would write here: what one is taken to have written are zeros.
        *pointer = std::calloc(1, bytes);
        state().host_memory[reinterpret_cast<uint64_t>(*pointer)] = bytes;
        return kCuSuccess;
    }
    static CuResult memFreeHost(void* pointer) {
        const CuResult fault = fake().enter("cuMemFreeHost");
        if (state().host_memory.erase(reinterpret_cast<uint64_t>(pointer)) == 0) {
            fake().violation("cuMemFreeHost: not allocated");
            return 1;
        }
        std::free(pointer);
        return fault;
    }
    static CuResult memHostRegister(void* pointer, size_t bytes, unsigned) {
        BELFRY_ENTER("cuMemHostRegister")
        state().host_memory[reinterpret_cast<uint64_t>(pointer)] = bytes;
        return kCuSuccess;
    }
    static CuResult memHostUnregister(void* pointer) {
        const CuResult fault = fake().enter("cuMemHostUnregister");
        state().host_memory.erase(reinterpret_cast<uint64_t>(pointer));
        return fault;
    }
    static CuResult memHostGetDevicePointer(CuPointer* pointer, void* host, unsigned) {
        BELFRY_ENTER("cuMemHostGetDevicePointer")
        *pointer = reinterpret_cast<uint64_t>(host) + fake().mapping_offset;
        return kCuSuccess;
    }

    static CuResult
    copy(const char* call, CuStream handle, std::function<void()> work, bool waits) {
        FakeStream* const on = stream(handle, call);
        if (on == nullptr) {
            return 400;
        }
        pause();
        state().enqueue(on, {std::move(work), nullptr, 0});
        if (waits && on->recording == nullptr) {
            state().run(on, on->enqueued);
        }
        return kCuSuccess;
    }
    static CuResult memcpyHtoDAsync(CuPointer to, const void* from, size_t bytes, CuStream handle) {
        BELFRY_ENTER("cuMemcpyHtoDAsync")
        void* const target = state().find(to, bytes);
        if (target == nullptr) {
            fake().violation("cuMemcpyHtoDAsync: target outside live memory");
            return 700;
        }
        if (state().isPinned(from, bytes)) {
            return copy(
                "cuMemcpyHtoDAsync", handle, [=] { std::memcpy(target, from, bytes); }, false);
        }
        // Plain memory is taken at once.
        const auto* bytes_of = static_cast<const std::byte*>(from);
        auto taken = std::make_shared<std::vector<std::byte>>(bytes_of, bytes_of + bytes);
        return copy(
            "cuMemcpyHtoDAsync", handle, [=] { std::memcpy(target, taken->data(), taken->size()); },
            false);
    }
    static CuResult memcpyDtoHAsync(void* to, CuPointer from, size_t bytes, CuStream handle) {
        BELFRY_ENTER("cuMemcpyDtoHAsync")
        const void* const source = state().find(from, bytes);
        if (source == nullptr) {
            fake().violation("cuMemcpyDtoHAsync: source outside live memory");
            return 700;
        }
        return copy(
            "cuMemcpyDtoHAsync", handle, [=] { std::memcpy(to, source, bytes); },
            !state().isPinned(to, bytes));
    }
    static CuResult memcpyDtoDAsync(CuPointer to, CuPointer from, size_t bytes, CuStream handle) {
        BELFRY_ENTER("cuMemcpyDtoDAsync")
        void* const target = state().find(to, bytes);
        const void* const source = state().find(from, bytes);
        if (target == nullptr || source == nullptr) {
            fake().violation("cuMemcpyDtoDAsync: outside live memory");
            return 700;
        }
        return copy(
            "cuMemcpyDtoDAsync", handle, [=] { std::memmove(target, source, bytes); }, false);
    }
    static CuResult memcpyPeerAsync(CuPointer to,
                                    CuContext to_context,
                                    CuPointer from,
                                    CuContext from_context,
                                    size_t bytes,
                                    CuStream handle) {
        BELFRY_ENTER("cuMemcpyPeerAsync")
        void* const target = state().find(to, bytes);
        const void* const source = state().find(from, bytes);
        const auto ownerOf = [](CuPointer pointer) {
            const auto& block = *std::prev(state().device_memory.upper_bound(pointer));
            return reinterpret_cast<CuContext>(block.second.context);
        };
        if (target == nullptr || source == nullptr || ownerOf(to) != to_context ||
            ownerOf(from) != from_context) {
            fake().violation("cuMemcpyPeerAsync: outside live memory of its context");
            return 700;
        }
        return copy(
            "cuMemcpyPeerAsync", handle, [=] { std::memcpy(target, source, bytes); }, false);
    }
    static CuResult
    memsetD8Async(CuPointer to, unsigned char value, size_t bytes, CuStream handle) {
        BELFRY_ENTER("cuMemsetD8Async")
        void* const target = state().find(to, bytes);
        if (target == nullptr) {
            fake().violation("cuMemsetD8Async: outside live memory");
            return 700;
        }
        return copy(
            "cuMemsetD8Async", handle, [=] { std::memset(target, value, bytes); }, false);
    }

    static CuResult streamCreate(CuStream* out, unsigned) {
        BELFRY_ENTER("cuStreamCreate")
        if (!needsContext("cuStreamCreate")) {
            return 201;
        }
        auto made = std::make_unique<FakeStream>();
        made->context = context();
        *out = reinterpret_cast<CuStream>(made.get());
        FakeStream* const key = made.get();
        state().streams[key] = std::move(made);
        return kCuSuccess;
    }
    static CuResult streamDestroy(CuStream handle) {
        const CuResult fault = fake().enter("cuStreamDestroy");
        if (state().streams.erase(object<FakeStream>(handle)) == 0) {
            fake().violation("cuStreamDestroy: no such stream");
        }
        return fault;
    }
    static CuResult streamSynchronize(CuStream handle) {
        BELFRY_ENTER("cuStreamSynchronize")
        FakeStream* const on = stream(handle, "cuStreamSynchronize");
        if (on == nullptr) {
            return 400;
        }
        if (on->recording != nullptr) {
            return kCuCaptureUnsupported;
        }
        state().run(on, on->enqueued);
        return kCuSuccess;
    }
    static CuResult streamWaitEvent(CuStream handle, CuEvent event, unsigned) {
        BELFRY_ENTER("cuStreamWaitEvent")
        FakeStream* const on = stream(handle, "cuStreamWaitEvent");
        auto* const awaited = object<FakeEvent>(event);
        if (on == nullptr || !state().events.contains(awaited)) {
            return 400;
        }
        state().enqueue(on, {nullptr, awaited->stream, awaited->position});
        return kCuSuccess;
    }
    static CuResult streamBeginCapture(CuStream handle, int) {
        BELFRY_ENTER("cuStreamBeginCapture")
        FakeStream* const on = stream(handle, "cuStreamBeginCapture");
        if (on == nullptr || on->recording != nullptr) {
            return kCuCaptureUnsupported;
        }
        on->recording = std::make_unique<std::vector<FakeStep>>();
        return kCuSuccess;
    }
    static CuResult streamEndCapture(CuStream handle, CuGraph* graph) {
        const CuResult fault = fake().enter("cuStreamEndCapture");
        FakeStream* const on = stream(handle, "cuStreamEndCapture");
        if (on == nullptr || on->recording == nullptr) {
            return kCuCaptureUnsupported;
        }
        auto recording = std::move(on->recording);
        if (fault != kCuSuccess) {
            *graph = nullptr;
            return fault;
        }
        *graph = reinterpret_cast<CuGraph>(recording.get());
        state().graphs[*graph] = std::move(recording);
        return kCuSuccess;
    }
    static CuResult graphInstantiate(CuGraphExec* exec, CuGraph graph, unsigned long long) {
        BELFRY_ENTER("cuGraphInstantiate")
        const auto found = state().graphs.find(graph);
        if (found == state().graphs.end()) {
            return 400;
        }
        auto copied = std::make_unique<std::vector<FakeStep>>(*found->second);
        *exec = reinterpret_cast<CuGraphExec>(copied.get());
        state().execs[*exec] = std::move(copied);
        return kCuSuccess;
    }
    static CuResult graphLaunch(CuGraphExec exec, CuStream handle) {
        BELFRY_ENTER("cuGraphLaunch")
        FakeStream* const on = stream(handle, "cuGraphLaunch");
        const auto found = state().execs.find(exec);
        if (on == nullptr || found == state().execs.end()) {
            fake().violation("cuGraphLaunch: no such recording");
            return 400;
        }
        for (const FakeStep& step : *found->second) {
            state().enqueue(on, step);
        }
        return kCuSuccess;
    }
    static CuResult graphDestroy(CuGraph graph) {
        const CuResult fault = fake().enter("cuGraphDestroy");
        state().graphs.erase(graph);
        return fault;
    }
    static CuResult graphExecDestroy(CuGraphExec exec) {
        const CuResult fault = fake().enter("cuGraphExecDestroy");
        state().execs.erase(exec);
        return fault;
    }
    static CuResult eventCreate(CuEvent* event, unsigned) {
        BELFRY_ENTER("cuEventCreate")
        auto made = std::make_unique<FakeEvent>();
        *event = reinterpret_cast<CuEvent>(made.get());
        FakeEvent* const key = made.get();
        state().events[key] = std::move(made);
        return kCuSuccess;
    }
    static CuResult eventDestroy(CuEvent event) {
        const CuResult fault = fake().enter("cuEventDestroy");
        state().events.erase(object<FakeEvent>(event));
        return fault;
    }
    static CuResult eventRecord(CuEvent event, CuStream handle) {
        BELFRY_ENTER("cuEventRecord")
        FakeStream* const on = stream(handle, "cuEventRecord");
        auto* const recorded = object<FakeEvent>(event);
        if (on == nullptr || !state().events.contains(recorded)) {
            return 400;
        }
        recorded->stream = on;
        recorded->position = on->enqueued;
        return kCuSuccess;
    }
    static CuResult eventSynchronize(CuEvent event) {
        BELFRY_ENTER("cuEventSynchronize")
        auto* const awaited = object<FakeEvent>(event);
        if (!state().events.contains(awaited)) {
            return 400;
        }
        if (awaited->stream != nullptr && state().streams.contains(awaited->stream)) {
            state().run(awaited->stream, awaited->position);
        }
        return kCuSuccess;
    }
    static CuResult eventElapsedTime(float* milliseconds, CuEvent, CuEvent) {
        BELFRY_ENTER("cuEventElapsedTime")
        *milliseconds = 1.0F;
        return kCuSuccess;
    }

    static CuResult moduleLoadData(CuModule* module, const void*) {
        BELFRY_ENTER("cuModuleLoadData")
        if (fake().image_result != kCuSuccess) {
            return fake().image_result;
        }
        auto made = std::make_unique<FakeModule>();
        made->context = context();
        *module = reinterpret_cast<CuModule>(made.get());
        FakeModule* const key = made.get();
        state().modules[key] = std::move(made);
        return kCuSuccess;
    }
    static CuResult moduleUnload(CuModule module) {
        const CuResult fault = fake().enter("cuModuleUnload");
        auto* const key = object<FakeModule>(module);
        std::erase_if(state().functions,
                      [key](const auto& entry) { return entry.second->module == key; });
        if (state().modules.erase(key) == 0) {
            fake().violation("cuModuleUnload: not loaded");
        }
        return fault;
    }
    static CuResult moduleGetFunction(CuFunction* function, CuModule module, const char* name) {
        BELFRY_ENTER("cuModuleGetFunction")
        if (name == fake().missing_kernel) {
            return kCuNotFound;
        }
        auto made = std::make_unique<FakeFunction>();
        made->name = name;
        made->module = object<FakeModule>(module);
        *function = reinterpret_cast<CuFunction>(made.get());
        FakeFunction* const key = made.get();
        state().functions[key] = std::move(made);
        return kCuSuccess;
    }
    /// What emulated kernels find there (cuda_emulator/include/emulated_ptx.h, copyTile).
    static CuResult tensorMapEncodeTiled(TensorMap* map,
                                         int type,
                                         uint32_t rank,
                                         void* address,
                                         const uint64_t* sizes,
                                         const uint64_t* strides,
                                         const uint32_t* box,
                                         const uint32_t* steps,
                                         int interleave,
                                         int swizzle,
                                         int,
                                         int fill) {
        BELFRY_ENTER("cuTensorMapEncodeTiled")
        const bool is_matrix = type == kTensorBf16 && rank == 2 && swizzle == kTensorSwizzle128 &&
                               interleave == 0 && fill == 0 && steps[0] == 1 && steps[1] == 1;
        if (!is_matrix || reinterpret_cast<uintptr_t>(address) % 16 != 0 || strides[0] % 16 != 0 ||
            sizes[0] == 0 || sizes[1] == 0 || box[0] != 64 || box[1] == 0 || box[1] > 256) {
            return kCuInvalidValue;
        }
        *map = {};
        map->words[0] = reinterpret_cast<uintptr_t>(address);
        map->words[1] = sizes[0];
        map->words[2] = sizes[1];
        map->words[3] = strides[0];
        map->words[4] = box[1];
        return kCuSuccess;
    }
    static CuResult funcGetAttribute(int* value, int attribute, CuFunction) {
        BELFRY_ENTER("cuFuncGetAttribute")
        *value = attribute == kCuFunctionStaticShared ? kStaticShared : 0;
        return kCuSuccess;
    }
    static CuResult funcSetAttribute(CuFunction function, int attribute, int value) {
        BELFRY_ENTER("cuFuncSetAttribute")
        if (attribute == kCuFunctionMaxDynamicShared) {
            if (value + kStaticShared > kMaxShared) {
                return kCuInvalidValue; // static and dynamic share one block's memory
            }
            object<FakeFunction>(function)->max_dynamic = value;
        }
        return kCuSuccess;
    }
    static CuResult
    launchKernelEx(const CuLaunchConfig* config, CuFunction function, void** parameters, void**) {
        BELFRY_ENTER("cuLaunchKernelEx")
        auto* const kernel = object<FakeFunction>(function);
        FakeStream* const on = stream(config->stream, "cuLaunchKernelEx");
        if (on == nullptr || !state().functions.contains(kernel)) {
            fake().violation("cuLaunchKernelEx: no such stream or kernel");
            return 400;
        }
        FakeDriver::Launch launch;
        launch.kernel = kernel->name;
        launch.grid = {config->grid_x, config->grid_y, config->grid_z};
        launch.block = {config->block_x, config->block_y, config->block_z};
        launch.shared = config->shared_bytes;
        launch.is_overlapping = config->attribute_count > 0;
        const uint64_t threads = uint64_t{config->block_x} * config->block_y * config->block_z;
        if (threads == 0 || threads > 1024 || config->grid_x == 0 || config->grid_y == 0 ||
            config->grid_z == 0 || config->grid_x > 0x7fffffffU || config->grid_y > 65535 ||
            config->grid_z > 65535 ||
            config->shared_bytes > static_cast<unsigned>(kernel->max_dynamic)) {
            fake().violation(kernel->name + ": impossible launch");
            return kCuInvalidValue;
        }
        fake().launches_.push_back(launch);
        FakeStep step;
        if (fake().compute) {
            step.work = fake().compute(launch, parameters);
        } else if (kernel->name == kernelName(KernelId::argmax) ||
                   kernel->name == kernelName(KernelId::cap_argmax)) {
            // The one result that host code reads as more than numbers: logit 1.0 at one token.
            uint64_t best = 0;
            std::memcpy(&best, parameters[3], sizeof(best));
            void* const block = reinterpret_cast<void*>(best);
            void* const target = state().isPinned(block, 8) ? block : state().find(best, 8);
            step.work = [target] {
                const uint64_t key = (uint64_t{0xbf800000U} << 32U) |
                                     (0xffffffffU - static_cast<uint32_t>(fake().token));
                if (target != nullptr) {
                    std::memcpy(target, &key, sizeof(key));
                }
            };
        } else if (kernel->name == kernelName(KernelId::top_logits)) {
            // The same logit as the only candidate.
            uint64_t top = 0;
            std::memcpy(&top, parameters[3], sizeof(top));
            void* const block = reinterpret_cast<void*>(top);
            void* const target = state().isPinned(block, sizeof(kernels::TopLogits))
                                     ? block
                                     : state().find(top, sizeof(kernels::TopLogits));
            step.work = [target] {
                if (target != nullptr) {
                    auto* const to = static_cast<kernels::TopLogits*>(target);
                    to->entry[0] = {fake().token, 1.0F};
                    to->count = 1;
                }
            };
        }
        state().enqueue(on, std::move(step));
        return kCuSuccess;
    }
#undef BELFRY_ENTER
};

FakeDriver::FakeDriver(std::vector<FakeCard> cards) : state_(std::make_unique<State>()) {
    state_->cards = std::move(cards);
    current_fake = this;
    thread_context = nullptr;
#define BELFRY_FAKE(member, name, parameters) driver_.member = &FakeCalls::member;
    BELFRY_CU_FUNCTIONS(BELFRY_FAKE)
#undef BELFRY_FAKE
    driver_.memoryOf = &FakeCalls::memoryOf;
    driver_.versionText = [] { return std::string("fake"); };
}

FakeDriver::~FakeDriver() {
    kernels::cuda::forgetCosts(driver_); // the next fake may lie at the same address
    for (const auto& [address, block] : state_->device_memory) {
        std::free(block.base);
    }
    current_fake = nullptr;
}

} // namespace support
