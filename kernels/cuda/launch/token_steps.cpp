// SPDX-License-Identifier: Apache-2.0
// Collects the decode steps of a token and runs them as one cooperative launch.
#include "kernels/cuda/launch/token_steps.h"

#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <vector>

namespace kernels::cuda {

namespace {

constexpr unsigned kTokenThreads = 512; // device/token.cu
constexpr size_t kMaxSteps = kStepBytes / sizeof(TokenStep);
/// Parts that the reader of an attention step merges itself.
constexpr int32_t kDirectSplits = 4;
/// The table of code values, then the attention step's own.
constexpr unsigned kAttendSharedBytes = 32768 + kPartSharedBytes;

// NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's address type
template <typename T>
T* pointerOf(CuPointer address) {
    return reinterpret_cast<T*>(address); // NOLINT(performance-no-int-to-ptr)
}

bool isFourBit(int32_t format) {
    return format == kFormatNf4 || format == kFormatFp4;
}

/// What a step is, for the table of times.
std::string labelOf(const TokenStep& step) {
    if (step.kind == kStepAttend) {
        return "attention of heads of " + std::to_string(step.attend.head_dim) +
               (step.attend.window > 0 ? ", window " : "") +
               (step.attend.window > 0 ? std::to_string(step.attend.window) : "");
    }
    const ProjectKernelArgs& a = step.project;
    std::string label = "projection " + std::to_string(a.outputs) + " x " + std::to_string(a.cols) +
                        (a.output == kOutputGeluPair ? ", pair" : "") + ", input " +
                        std::to_string(a.input);
    if (a.lora_units > 0) {
        label += ", " + std::to_string(a.lora_units) + " units";
    }
    if (a.rows_per_warp > 0) { // token.cu
        label += ", " + std::to_string(a.rows_per_warp) + " rows, " + std::to_string(a.k_split) +
                 " warps";
    }
    return label;
}

/// Room for one more step that needs `shared` bytes and, if 4-bit, `format`. Launches what is there
/// first where the two do not go together.
Status makeRoom(Stream& s, unsigned shared, int32_t format) {
    TokenSteps& t = s.steps;
    if (t.is_stream) {
        if (const Status status = s.flush(); status != Status::Ok) {
            return status;
        }
    }
    const auto ring = static_cast<unsigned>(kStepRing * sizeof(TokenStep));
    if (shared + ring > static_cast<unsigned>(s.facts.shared_bytes)) {
        return Status::Unsupported;
    }
    if (t.uploaded + t.steps.size() >= mostSteps(t)) {
        return Status::Unsupported;
    }
    if (isFourBit(format)) {
        if (t.table_format != 0 && t.table_format != format) {
            if (const Status status = s.flush(); status != Status::Ok) {
                return status;
            }
        }
        t.table_format = format;
    }
    t.shared_bytes = std::max(t.shared_bytes, shared + ring);
    return Status::Ok;
}

/// Bytes of a row of B of one update; 0: not in pieces of 16 bytes.
int32_t pieceBytes(const LoraArgs& lora) {
    const int32_t bytes = lora.rank * (lora.b_type == kElementF32 ? 4 : 2);
    return bytes % 16 == 0 && reinterpret_cast<uintptr_t>(lora.b) % 16 == 0 ? bytes : 0;
}

/// How a projection is dealt out, its updates included.
ProjectSizes collectedSizes(const Stream& s, ProjectKernelArgs& args, int64_t outputs) {
    const bool is_pair = args.output == kOutputGeluPair;
    ProjectSizes sizes = residentProjectSizes(
        s.facts.multiprocessors, static_cast<int>(kTokenThreads), outputs, args.cols, is_pair,
        isFourBit(args.w[0].format) ? args.w[0].block_size : 0);
    const LoraUnitSizes units = shareUpdates(s, args);
    sizes.shared_bytes += static_cast<unsigned>(inputRowBytes(args.input, args.cols, true));
    sizes.shared_bytes +=
        units.units > 0
            ? loraUnitBytes(units, args.lora_first[3], sizes.local_rows, args.lora_pitch)
            : loraSharedBytes(sizes, is_pair, args.lora_first[3], args.lora_width, args.tap_ranks);
    return sizes;
}

} // namespace

LoraUnitSizes shareUpdates(const Stream& s, ProjectKernelArgs& args) {
    LoraUnitSizes none;
    if (args.lora_count == 0 || args.lora_sums != nullptr || args.tap_count > 0) {
        return none;
    }
    int32_t widest = 0;
    int32_t offset = 0;
    for (int i = 0; i < args.lora_count; ++i) {
        const int32_t bytes = pieceBytes(args.lora[i]);
        if (bytes == 0) {
            return none;
        }
        offset = i > 0 && args.lora[i].weight == args.lora[i - 1].weight ? offset : 0;
        args.lora[i].b_offset = offset;
        offset += bytes;
        widest = std::max(widest, offset);
    }
    const LoraUnitSizes sizes =
        loraUnitSizes(s.facts.multiprocessors, args.lora_first[3], args.cols);
    args.lora_units = sizes.units;
    args.lora_chunks = sizes.chunks;
    args.lora_columns = sizes.columns;
    args.lora_own = static_cast<int16_t>(sizes.own);
    args.lora_pitch = widest;
    return sizes;
}

Status beginSteps(Queue q) {
    Stream& s = *static_cast<Stream*>(q.context);
    TokenSteps& t = s.steps;
    const KernelId id = KernelId::token;
    if (!t.is_enabled || s.is_reference || s.facts.compute_capability < 80 ||
        s.functions[static_cast<size_t>(id)] == nullptr || s.scratch_bytes < kPartialBytes) {
        return Status::Unsupported;
    }
    try {
        t.steps.reserve(kMaxSteps);
    } catch (const std::bad_alloc&) {
        return Status::Unsupported; // single launches need no list
    }
    t.steps.clear();
    t.uploaded = 0;
    t.planned = 0;
    t.is_once = false;
    t.is_side = false;
    t.rows = nullptr;
    t.is_stream = false;
    t.row = nullptr;
    t.has_left = false;
    t.is_collecting = true;
    return Status::Ok;
}

Status continueSteps(Queue q) {
    TokenSteps& steps = static_cast<Stream*>(q.context)->steps;
    const size_t uploaded = steps.uploaded;
    const size_t planned = steps.planned;
    const Status status = beginSteps(q);
    if (status == Status::Ok) {
        steps.uploaded = uploaded;
        steps.planned = planned;
    }
    return status;
}

Status beginSideSteps(Queue q) {
    static_assert(kSideStepBytes / sizeof(TokenStep) >= 40);
    const Status status = beginSteps(q);
    static_cast<Stream*>(q.context)->steps.is_side = status == Status::Ok;
    return status;
}

size_t mostSteps(const TokenSteps& steps) {
    return steps.is_side ? kSideStepBytes / sizeof(TokenStep) : kMaxSteps;
}

Status endSteps(Queue q) {
    Stream& s = *static_cast<Stream*>(q.context);
    const Status status = s.flush();
    s.steps.is_collecting = false;
    s.steps.rows = nullptr;
    return status;
}

bool canCollect(const Stream& s, ProjectKernelArgs args, int64_t outputs) {
    const auto ring = static_cast<unsigned>(kStepRing * sizeof(TokenStep));
    return s.steps.uploaded + s.steps.steps.size() < mostSteps(s.steps) &&
           collectedSizes(s, args, outputs).shared_bytes + ring <=
               static_cast<unsigned>(s.facts.shared_bytes);
}

Status collectProject(Stream& s, ProjectKernelArgs args, int64_t outputs) {
    TokenSteps& t = s.steps;
    if (t.rows != nullptr) {
        return rowsProject(s, args, outputs);
    }
    if (const Status status = streamProject(s, args, outputs); status != Status::Unsupported) {
        return status;
    }
    const ProjectSizes sizes = collectedSizes(s, args, outputs);
    args.lora_slots = pointerOf<uint64_t>(s.scratch + kUnitOffset);
    args.lora_epoch = pointerOf<const int32_t>(s.scratch + kBarrierOffset) + 2;
    args.lora_step = static_cast<int32_t>(t.uploaded + t.steps.size());
    if (args.tap_count > 0 && args.tap_parts != sizes.grid) {
        return Status::Unsupported;
    }
    if (const Status status = makeRoom(s, sizes.shared_bytes, args.w[0].format);
        status != Status::Ok) {
        return status;
    }
    const bool is_four_bit = isFourBit(args.w[0].format);
    args.rows_per_warp = sizes.rows_per_warp;
    args.k_split = sizes.k_split;
    args.block_shift =
        is_four_bit ? std::countr_zero(static_cast<uint32_t>(args.w[0].block_size)) : 0;
    args.x_elements = static_cast<int32_t>((args.cols + 511) / 512 * 512);
    args.outputs = static_cast<int32_t>(outputs);
    args.local_rows = sizes.local_rows;
    TokenStep* before = t.steps.empty() ? nullptr : &t.steps.back();
    if (before != nullptr && before->kind == kStepAttend && args.input == kInputPlain &&
        before->attend.out == args.x && before->attend.num_heads <= 64) {
        before->attend.range.direct_splits = std::min(kDirectSplits, before->attend.range.splits);
        args.input = kInputAttention;
        args.partial = before->attend.partial;
        args.range = before->attend.range;
        args.head_dim = before->attend.head_dim;
    }
    TokenStep step{};
    step.kind = kStepProject;
    step.project = args;
    t.steps.push_back(step);
    return Status::Ok;
}

Status collectAttend(Stream& s, AttendStepKernelArgs args) {
    if (s.steps.rows != nullptr) {
        return rowsAttend(s, args);
    }
    if (const Status status = streamAttend(s, args); status != Status::Unsupported) {
        return status;
    }
    const unsigned ring = kStepRing * sizeof(TokenStep);
    AttendSizes sizes =
        residentAttendSizes(s.facts.multiprocessors, args.num_heads, args.num_kv_heads,
                            args.head_dim, static_cast<unsigned>(s.facts.shared_bytes) - ring);
    if (sizes.splits == 0) { // no tile fits: heads of 512 in 99 KiB
        sizes = {};
        sizes.splits = residentSplits(s.facts.multiprocessors, args.num_heads, args.num_kv_heads);
        sizes.shared_bytes = kAttendSharedBytes;
    }
    const size_t partial = static_cast<size_t>(args.num_heads) * static_cast<size_t>(sizes.splits) *
                           (static_cast<size_t>(args.head_dim) + 2U) * 4U;
    const bool has_parts = (args.num_heads / args.num_kv_heads) %
                               std::min(args.num_heads / args.num_kv_heads, kPartHeads) ==
                           0;
    if (sizes.splits < 1 || partial + kPartialOffset > kPartialBytes ||
        (sizes.tile == 0 && !has_parts)) {
        return Status::Unsupported;
    }
    if (const Status status = makeRoom(s, sizes.shared_bytes, 0); status != Status::Ok) {
        return status;
    }
    args.partial = pointerOf<float>(s.scratch + kPartialOffset);
    args.range = {};
    args.range.from = args.key_count;
    args.range.splits = sizes.splits;
    args.range.tile = sizes.tile;
    if (sizes.tile > 0 && args.is_ring != 0) {
        // Rows 0 to the position, or the window's.
        args.range.from = args.position;
        args.range.more = 1;
        args.range.limit = static_cast<int32_t>(
            args.window > 0 && args.window < args.capacity ? args.window : args.capacity);
    }
    args.key_groups = sizes.key_groups;
    args.stages = sizes.stages;
    TokenStep step{};
    step.kind = kStepAttend;
    step.attend = args;
    s.steps.steps.push_back(step);
    return Status::Ok;
}

Status Stream::flush() {
    TokenSteps& t = steps;
    if (t.steps.empty()) {
        return Status::Ok;
    }
    if (is_lost || entered != Status::Ok) {
        t.steps.clear();
        return is_lost ? Status::DeviceLost : entered;
    }
    const size_t count = t.steps.size();
    const size_t bytes = count * sizeof(TokenStep);
    std::vector<std::string> labels;
    if (times != nullptr) {
        const bool has_units =
            std::any_of(t.steps.begin(), t.steps.end(), [](const TokenStep& step) {
                return step.kind == kStepProject && step.project.lora_units > 0;
            });
        for (const TokenStep& step : t.steps) {
            labels.push_back(labelOf(step) + (has_units ? " +" : "") +
                             (t.rows != nullptr ? " of rows" : ""));
        }
    }
    if (t.is_stream) {
        placeStreamUnits(*this);
    }
    const bool has_rows = t.rows != nullptr;
    const size_t first = t.is_side ? kSideStepOffset : kCounterBytes;
    const CuPointer to =
        scratch + (has_rows ? kRowStepOffset : first + t.uploaded * sizeof(TokenStep));
    // Not on the compute stream: while that one is captured the copy would become part of every
    // replay. The host waits, so the list may go. A launch that still reads an older list has
    // ended: the host waits for every token, and for one that ran ahead before it makes a new list.
    Status status =
        check(driver->memcpyHtoDAsync(to, t.steps.data(), bytes, upload), "cuMemcpyHtoDAsync");
    if (status == Status::Ok && t.is_stream) {
        status = streamUnitSizes(*this, to, count);
    }
    if (status == Status::Ok) {
        status = check(driver->streamSynchronize(upload), "cuStreamSynchronize");
    }
    t.steps.clear();
    if (has_rows) {
        const CuPointer clocks = times == nullptr ? 0 : scratch + kCounterBytes + kStepBytes;
        if (status == Status::Ok) {
            status = launchRows(*this, to, static_cast<int>(count), clocks);
        }
        if (times != nullptr && status == Status::Ok) {
            times->addSteps(handle, clocks, labels, kTraceMarks);
        }
        return status;
    }
    t.uploaded += count;
    const bool is_stream = t.is_stream;
    const unsigned shared = t.shared_bytes;
    const int32_t format = t.table_format == 0 ? kFormatNf4 : t.table_format;
    t.shared_bytes = 0;
    t.table_format = 0;
    t.is_stream = false;
    t.row = nullptr;
    if (status != Status::Ok) {
        return status;
    }
    const CuPointer clocks = times == nullptr ? 0 : scratch + kCounterBytes + kStepBytes;
    if (is_stream) {
        status = launchStream(*this, to, static_cast<int>(count), clocks);
        if (times != nullptr && status == Status::Ok) {
            times->addSteps(handle, clocks, labels, kTraceMarks);
        }
        return status;
    }
    const auto* list = pointerOf<const TokenStep>(to);
    auto* counters = pointerOf<int32_t>(scratch + kBarrierOffset);
    auto number = static_cast<int>(count);
    auto table = static_cast<int>(format);
    auto* trace = pointerOf<long long>(clocks);
    void* parameters[] = {static_cast<void*>(&list), &number, &table, static_cast<void*>(&counters),
                          static_cast<void*>(&trace)};
    status = launchResident(KernelId::token, static_cast<unsigned>(facts.multiprocessors),
                            kTokenThreads, shared, parameters);
    if (times != nullptr && status == Status::Ok) {
        times->addSteps(handle, clocks, labels, 3);
    }
    return status;
}

} // namespace kernels::cuda
