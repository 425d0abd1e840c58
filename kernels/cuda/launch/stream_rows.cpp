// SPDX-License-Identifier: Apache-2.0
// Collects the steps of a few rows for device/small_batch/stream_rows.cu.
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch/token_steps.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <bit>
#include <new>

namespace kernels::cuda {

namespace {

constexpr size_t kMaxRowSteps = kRowStepBytes / sizeof(TokenStep);
/// As stream_steps.cpp has it: the numbers of steps go on from one kernel to the other.
constexpr int kMostSums = 192; ///< Rows of a pass.
constexpr int kMostParts = 32; ///< Parts of a head: lanes of the warp that merges them.

bool hasRowForm(const ProjectKernelArgs& a) {
    const bool is_four_bit = a.w[0].layout == WeightLayout::Codes;
    if (a.tap_count > 0 || a.lora_sums != nullptr || a.cols % 64 != 0 ||
        (!is_four_bit && a.w[0].layout != WeightLayout::Int8Row)) {
        return false;
    }
    for (int j = 0; j < a.count; ++j) {
        const WeightArgs& w = a.w[j];
        if (!isAligned(w.data) ||
            (is_four_bit &&
             (w.block_size < 64 || !std::has_single_bit(static_cast<uint32_t>(w.block_size)) ||
              a.cols % w.block_size != 0 || w.block_size != a.w[0].block_size))) {
            return false;
        }
    }
    return true;
}

/// Shares A of a step's updates out over the warps of all blocks. False: B does not come in pieces
/// of 16 bytes, or there are too many ranks.
bool shareRowUpdates(ProjectKernelArgs& a) {
    if (a.lora_count == 0) {
        return true;
    }
    for (int i = 0; i < a.lora_count; ++i) {
        const LoraArgs& term = a.lora[i];
        if (!isAligned(term.b) || term.rank * elementBytes(term.b_type) % 16 != 0) {
            return false;
        }
    }
    const LoraUnitSizes units = rowUnitSizes(a.lora_first[3], a.cols);
    a.lora_units = units.units;
    a.lora_shift = static_cast<int16_t>(std::countr_zero(static_cast<uint32_t>(units.chunks)));
    a.lora_columns = units.columns;
    return units.units > 0;
}

StreamLayout rowsLayoutOf(const Stream& s, const StreamNeeds& needs) {
    return streamLayoutFor(s.facts.shared_base, s.facts.shared_bytes, needs.row_bytes, 0,
                           std::max(needs.attend_bytes, needs.project_bytes),
                           s.steps.is_large ? kLargeChunkBytes : kChunkBytes);
}

/// Takes the needs of one more step where there is room for them.
bool takeNeeds(Stream& s, const StreamNeeds& needs) {
    StreamNeeds all = s.steps.needs;
    all.row_bytes = std::max(all.row_bytes, needs.row_bytes);
    all.attend_bytes = std::max(all.attend_bytes, needs.attend_bytes);
    all.project_bytes = std::max(all.project_bytes, needs.project_bytes);
    if (rowsLayoutOf(s, all).chunk_count == 0) {
        return false;
    }
    s.steps.needs = all;
    return true;
}

/// How a projection of rows is cut. Takes what it needs of shared memory, A h of its updates behind
/// the rest; no units: there is not so much.
StreamSizes
takeRowSizes(Stream& s, ProjectKernelArgs& args, int64_t outputs, bool is_pair, int bits) {
    const bool is_plain = args.input == kInputPlain;
    const int updates = rowUpdateBytes(args.lora_first[3]);
    StreamNeeds needs;
    const auto takeAll = [&](int work_bytes) {
        args.direct_at = static_cast<int16_t>(work_bytes / 16);
        needs.project_bytes = work_bytes + updates;
        return takeNeeds(s, needs);
    };
    if (s.steps.is_large) {
        const StreamSizes sizes =
            largeRowsSizes(s.facts.multiprocessors, outputs, args.cols, is_pair, is_plain,
                           args.count, bits, largeWorkRoom(s.facts.shared_base) - updates);
        return sizes.units != 0 && takeAll(sizes.work_bytes) ? sizes : StreamSizes{};
    }
    if (args.cols > (is_plain ? kWideValues : kShortRow)) {
        return {};
    }
    StreamSizes sizes = streamProjectSizes(s.facts.multiprocessors, outputs, args.cols, is_pair,
                                           true, args.count, bits, 1);
    if (sizes.units == 0) {
        return sizes;
    }
    // A pair's weights come at once, or one after the other where they do not fit.
    const int held = is_pair ? sizes.share + sizes.grain : 0;
    int pass_tiles =
        is_pair ? sizes.pass_tiles : std::min(sizes.pass_tiles, kMostSums >> sizes.tile_shift);
    needs.row_bytes = args.cols > kPackets ? 2 * args.cols : 0;
    for (; pass_tiles > 0; pass_tiles /= 2) {
        const int sums =
            args.cols > kPackets ? pass_tiles << sizes.tile_shift : pass_tiles * kTileRows;
        if (takeAll(streamRowsProjectBytes(args.cols, sums, held))) {
            sizes.pass_tiles = pass_tiles;
            return sizes;
        }
    }
    return {};
}

/// Whether `before` leaves what lies at `taken`, as all that it makes or as its first results.
bool leaves(const TokenStep& before, const float* taken, bool is_all) {
    if (before.kind == kStepAttend) {
        return is_all && before.attend.out == taken;
    }
    const ProjectKernelArgs& a = before.project;
    return a.y[0] == taken && (!is_all || a.count == 1 || a.output == kOutputGatedPair);
}

/// How `before` gives its results to the next step. Pairs are wide, attention is made by few
/// blocks: theirs lie in memory. Packets alone are for steps of which every block has a result.
int32_t linkOf(const Stream& s, const TokenStep& before) {
    if (s.steps.is_large || before.kind == kStepAttend ||
        before.project.output == kOutputGatedPair) {
        return kLinkFlags;
    }
    return before.project.share > 0 ? kLinkPackets : kLinkBoth;
}

/// How the projection takes its input from the step before. False: not possible in this form.
bool linkProject(Stream& s, ProjectKernelArgs& args) {
    TokenSteps& t = s.steps;
    const bool is_plain = args.input == kInputPlain;
    args.link = kLinkNone;
    args.publish = kLinkNone;
    args.keeps_row = !is_plain && !t.steps.empty() && args.x == t.row ? 1 : 0;
    if (!t.steps.empty()) {
        TokenStep& before = t.steps.back();
        args.link = linkOf(s, before);
        if (!t.is_large && !is_plain && (args.keeps_row == 0 || args.link == kLinkFlags)) {
            return false; // the rows are not where each thread has its own, or nothing comes to
                          // them
        }
        if (args.link != kLinkFlags && (!leaves(before, is_plain ? args.x : args.t, true) ||
                                        before.project.outputs > kRowPackets)) {
            return false;
        }
        publish(before, args.link);
    } else if (!t.is_large && args.t != nullptr) {
        return false;
    }
    if (!is_plain) {
        t.row = args.input == kInputNorm ? args.x : args.x_out;
    }
    return true;
}

bool linkAttend(Stream& s, AttendStepKernelArgs& args) {
    TokenStep& before = s.steps.steps.back();
    args.link = linkOf(s, before);
    args.publish = kLinkFlags;
    if (args.link != kLinkFlags) {
        const ProjectKernelArgs& a = before.project;
        if (before.kind != kStepProject || !leaves(before, args.q, false) ||
            a.outputs > kRowPackets ||
            (args.k != nullptr && (args.k != a.y[1] || args.v != a.y[a.count - 1]))) {
            return false;
        }
    } else if (!s.steps.is_large) {
        return false;
    }
    publish(before, args.link);
    return true;
}

} // namespace

Status beginRows(Queue q, const int32_t* count) {
    Stream& s = *static_cast<Stream*>(q.context);
    if (!s.steps.may_bulk || s.facts.compute_capability < 90 ||
        s.functions[static_cast<size_t>(KernelId::stream_rows)] == nullptr ||
        s.facts.multiprocessors < kStreamRows) { // each writes a row of the residual stream
        return Status::Unsupported;
    }
    if (count == nullptr) {
        return Status::BadShape;
    }
    const Status status = beginSteps(q);
    if (status == Status::Ok) {
        s.steps.rows = count;
        s.steps.needs = {};
        s.steps.code_table = 0;
        s.steps.unit_steps = 0;
    }
    return status;
}

Status rowsProject(Stream& s, ProjectKernelArgs args, int64_t outputs) {
    TokenSteps& t = s.steps;
    if (!hasRowForm(args) || !shareRowUpdates(args) || t.steps.size() >= kMaxRowSteps) {
        return Status::Unsupported;
    }
    const bool is_four_bit = args.w[0].layout == WeightLayout::Codes;
    if (is_four_bit && t.code_table != 0 && t.code_table != args.w[0].code_table) {
        return Status::Unsupported; // one launch has one table of codes
    }
    if (t.steps.empty()) {
        // As stream_steps.cpp has it.
        t.is_large = args.input != kInputPlain && args.cols > kShortRow &&
                     s.functions[static_cast<size_t>(KernelId::stream_rows_large)] != nullptr;
    }
    const bool is_pair = args.output == kOutputGatedPair;
    const StreamSizes sizes = takeRowSizes(s, args, outputs, is_pair, is_four_bit ? 4 : 8);
    if (sizes.units == 0) {
        return Status::Unsupported;
    }
    args.units = sizes.units;
    args.tile_shift = sizes.tile_shift;
    args.pass_tiles = sizes.pass_tiles;
    args.pieces = static_cast<int16_t>(sizes.pieces);
    args.share = sizes.share;
    args.extra = sizes.extra;
    args.grain = static_cast<int16_t>(sizes.grain);
    args.inverse_cols = 1.0F / static_cast<float>(args.cols);
    args.outputs = static_cast<int32_t>(outputs);
    args.block_shift =
        is_four_bit ? std::countr_zero(static_cast<uint32_t>(args.w[0].block_size)) : 0;
    if (is_four_bit) {
        t.code_table = args.w[0].code_table;
    }
    if (!linkProject(s, args)) {
        return Status::Unsupported;
    }
    if (args.lora_count > 0) {
        ++t.unit_steps;
        // As stream_steps.cpp has it, but in the second half of each sector: what is a mark there
        // would be a value here.
        args.lora_slots =
            typedPointerOf<uint64_t>(s.scratch + kExchangeOffset + kStreamUnitOffset) +
            t.steps.size() % kPacketSteps * kStreamUnitWords + kUnitSlot / 2;
    }
    TokenStep step{};
    step.kind = kStepProject;
    step.project = args;
    t.steps.push_back(step);
    return Status::Ok;
}

Status rowsAttend(Stream& s, AttendStepKernelArgs args) {
    TokenSteps& t = s.steps;
    const int splits = std::min(s.facts.multiprocessors / args.num_heads, kMostParts);
    const size_t partial = static_cast<size_t>(args.num_heads) * static_cast<size_t>(splits) *
                           static_cast<size_t>(kStreamRows) *
                           (static_cast<size_t>(args.head_dim) + 2U) * sizeof(float);
    StreamNeeds needs;
    needs.attend_bytes = streamRowsAttendBytes(args.head_dim);
    needs.row_bytes = 2 * kStreamRows * args.head_dim * 2; // new keys and values
    if (t.steps.empty() || t.steps.size() >= kMaxRowSteps || args.is_ring == 0 || args.turn != 0 ||
        splits < 1 || args.num_heads > 64 || args.head_dim < 64 ||
        !std::has_single_bit(static_cast<uint32_t>(args.head_dim)) || args.head_dim > kTurnFloats ||
        !isAligned(args.q_norm.data) || !isAligned(args.k_norm.data) ||
        kPartialOffset + partial > s.scratch_bytes || !takeNeeds(s, needs) ||
        !linkAttend(s, args)) {
        return Status::Unsupported;
    }
    args.splits = splits;
    args.partial = typedPointerOf<float>(s.scratch + kPartialOffset);
    args.counter = typedPointerOf<int32_t>(s.scratch);
    TokenStep step{};
    step.kind = kStepAttend;
    step.attend = args;
    t.steps.push_back(step);
    return Status::Ok;
}

Status launchRows(Stream& s, CuPointer list, int count, CuPointer trace) {
    StreamLayout layout = rowsLayoutOf(s, s.steps.needs);
    layout.code_table = s.steps.code_table;
    const auto shared = static_cast<unsigned>(
        layout.table + layout.chunks +
        layout.chunk_count * (s.steps.is_large ? kLargeChunkBytes : kChunkBytes));
    const auto* steps = typedPointerOf<const TokenStep>(list);
    auto* counters = typedPointerOf<int32_t>(s.scratch + kStreamCounterOffset);
    auto* flags = typedPointerOf<int32_t>(s.scratch + kExchangeOffset);
    auto* packets = typedPointerOf<void>(s.scratch + kExchangeOffset + kRowPacketOffset);
    const int32_t* rows = s.steps.rows;
    auto* clocks = typedPointerOf<long long>(trace);
    void* parameters[] = {static_cast<void*>(&steps),  static_cast<void*>(&count),
                          static_cast<void*>(&layout), static_cast<void*>(&counters),
                          static_cast<void*>(&flags),  static_cast<void*>(&packets),
                          static_cast<void*>(&rows),   static_cast<void*>(&clocks)};
    const bool has_updates = s.steps.unit_steps > 0;
    const KernelId large =
        has_updates ? KernelId::stream_rows_large_updates : KernelId::stream_rows_large;
    const KernelId small = has_updates ? KernelId::stream_rows_updates : KernelId::stream_rows;
    return s.launchResident(s.steps.is_large ? large : small,
                            static_cast<unsigned>(s.facts.multiprocessors),
                            static_cast<unsigned>(kStreamThreads), shared, parameters);
}

} // namespace kernels::cuda
