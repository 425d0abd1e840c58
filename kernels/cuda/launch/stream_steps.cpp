// SPDX-License-Identifier: Apache-2.0
// Collects decode steps for device/decode/stream.cu, device/decode/stream_async.cu and their forms
// for long rows: which step takes what from the one before, and how.
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch/token_steps.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <bit>

namespace kernels::cuda {

namespace {

constexpr unsigned kPlanThreads = 160;
/// Values of a packet of a wide row.
constexpr int kWideGrain = 3;
/// Columns that a thread's share of a residual row may have.
constexpr int64_t kMostResidualColumns = int64_t{4} * 4 * kComputeThreads;

int bitsOf(WeightLayout layout) {
    return layout == WeightLayout::Codes ? 4 : layout == WeightLayout::BF16 ? 16 : 8;
}

/// Weights in blocks (device/decode/stream_blocks.cuh): GGUF's, and 4-bit codes with absmax for
/// each 32 of them.
bool hasBlocks(const ProjectKernelArgs& a) {
    return a.w[0].layout == WeightLayout::Blocks ||
           (a.w[0].format == WeightFormat::Int4 && (a.w[0].block_size == 32 || a.slot_bytes > 0));
}
/// Those and bf16 ones have the form of rows in pieces.
bool isHalf(const ProjectKernelArgs& a) {
    return a.w[0].layout == WeightLayout::BF16 || hasBlocks(a);
}
bool isFourBit(const ProjectKernelArgs& a) {
    return a.w[0].layout == WeightLayout::Codes && !hasBlocks(a);
}

bool hasResidual(const ProjectKernelArgs& a) {
    return a.input == kInputResidualNorm || a.input == kInputResidual;
}

bool isPossible(const Stream& s) {
    return !s.steps.has_left && s.steps.uploaded + s.steps.steps.size() < mostSteps(s.steps);
}

/// Its updates can be made once in the grid: rows of B come in pieces of 16 bytes.
bool areUpdatesShared(const ProjectKernelArgs& a) {
    return a.lora_count > 0 && a.lora_sums == nullptr && a.tap_count == 0 &&
           a.lora_first[3] <= kMaxLoraUnits &&
           std::all_of(a.lora, a.lora + a.lora_count, [](const LoraArgs& lora) {
               return isAligned(lora.b) && lora.rank * elementBytes(lora.b_type) % 16 == 0;
           });
}

/// The block formats that device/decode/stream_blocks.cuh multiplies.
bool isStreamedFormat(WeightFormat format) {
    switch (format) {
    case WeightFormat::Int4:
    case WeightFormat::Q4_0:
    case WeightFormat::Q4_1:
    case WeightFormat::Q5_0:
    case WeightFormat::Q5_1:
    case WeightFormat::Q8_0:
    case WeightFormat::Q4_K:
    case WeightFormat::Q5_K:
    case WeightFormat::Q6_K:
        return true;
    default:
        return false;
    }
}

/// Bytes of a row of a weight in blocks, absmax of codes included.
int64_t blockRowBytes(const WeightArgs& w) {
    return valueBytes(w.format, w.cols) + (w.layout == WeightLayout::Codes ? w.cols / 8 : 0);
}

/// The rows in blocks of a step; none: its weights are not.
BlockRows blockRows(const Stream& s, const ProjectKernelArgs& a) {
    BlockRows rows;
    for (int j = 0; hasBlocks(a) && j < a.count; ++j) {
        const int values = rowOf(a.w[j].format).block_values;
        rows.bytes = std::max(rows.bytes, blockRowBytes(a.w[j]));
        // Absmax of two units are 16 bytes.
        rows.grain = std::max(rows.grain, values > 64 ? values / 64 : values == 0 ? 2 : 1);
        rows.is_mixed = rows.is_mixed || a.w[j].format != a.w[0].format;
        rows.chunk_bytes = isAsync(s) ? kChunkCodeBytes : kBlockChunkBytes;
    }
    return rows;
}

/// stream_blocks.cu takes weight j of a step in blocks.
bool isStreamableBlock(const ProjectKernelArgs& a, int j) {
    const WeightArgs& w = a.w[j];
    const bool is_codes = w.layout == WeightLayout::Codes;
    const bool has_absmax = !is_codes || (w.absmax != nullptr && isAligned(w.absmax) &&
                                          w.expand_type == kElementBf16 && a.cols % 128 == 0);
    // Copies are of whole 16 bytes, and none may reach behind the weight's end.
    return isStreamedFormat(w.format) && has_absmax && w.rows * blockRowBytes(w) % 16 == 0 &&
           (a.output != kOutputGatedPair || w.format == a.w[0].format);
}

/// Its weights have a form that the kernel takes.
bool isStreamable(const ProjectKernelArgs& a) {
    if (a.tap_count > 0 || a.cols % 64 != 0) {
        return false;
    }
    const bool is_four_bit = isFourBit(a);
    if (!is_four_bit && !isHalf(a) && a.w[0].layout != WeightLayout::Int8Row) {
        return false;
    }
    for (int j = 0; j < a.count; ++j) {
        const WeightArgs& w = a.w[j];
        if (reinterpret_cast<uintptr_t>(w.data) % 16 != 0 ||
            (hasBlocks(a) && !isStreamableBlock(a, j)) ||
            (is_four_bit &&
             (w.block_size < 64 || !std::has_single_bit(static_cast<uint32_t>(w.block_size)) ||
              a.cols % w.block_size != 0 || w.block_size != a.w[0].block_size))) {
            return false;
        }
    }
    const bool is_wide = a.input != kInputPlain && a.cols > kMostResidualColumns;
    return !is_wide && (a.input == kInputPlain || a.input == kInputNorm || hasResidual(a));
}

/// What a step leaves for the next one: values, and where they would lie in memory.
struct Left {
    const float* at = nullptr;
    int64_t values = 0;
};
Left leftBy(const TokenStep& step) {
    if (step.kind == kStepAttend) {
        return {step.attend.out, int64_t{step.attend.num_heads} * step.attend.head_dim};
    }
    return {step.project.y[0], step.project.outputs};
}

/// Size of `count` elements as they are stored; 0: there is none.
int bytesOf(const VectorArgs& vector, int count) {
    return vector.data == nullptr ? 0 : count * (vector.type == kElementF32 ? 4 : 2);
}

/// A multiple of 128: pieces of A lie next to each other.
constexpr int alignOperands(int bytes) {
    return (bytes + 127) / 128 * 128;
}

StreamNeeds mostOf(const StreamNeeds& a, const StreamNeeds& b) {
    return {std::max(a.row_bytes, b.row_bytes),
            std::max(a.norm_bytes, b.norm_bytes),
            std::max(a.attend_bytes, b.attend_bytes),
            std::max(a.plain_bytes, b.plain_bytes),
            std::max(a.project_bytes, b.project_bytes),
            std::max(a.operand_bytes, b.operand_bytes),
            std::max(a.behind_bytes, b.behind_bytes),
            std::max(a.chunk_codes, b.chunk_codes),
            a.has_codes || b.has_codes,
            a.has_halves || b.has_halves,
            a.has_blocks || b.has_blocks};
}

/// In stream_async.cu and its forms: there is a table of codes in shared memory.
bool hasTable(const StreamNeeds& needs) {
    return needs.has_codes || !needs.has_halves;
}
/// Bytes of work memory: attention also has the table's place.
int asyncWorkBytes(const StreamNeeds& needs) {
    const int beside = hasTable(needs) ? kDenseTableBytes : 0;
    return std::max(needs.attend_bytes - beside, needs.plain_bytes);
}

/// Where operands of updates begin in the work memory.
int operandsBegin(const StreamNeeds& needs) {
    return alignOperands(needs.project_bytes);
}

/// Bytes of a chunk of stream.cu and its forms.
int chunkBytes(const Stream& s, const StreamNeeds& needs) {
    return s.steps.is_large   ? kLargeChunkBytes
           : needs.has_blocks ? std::max(kChunkBytes, alignOperands(needs.chunk_codes))
                              : kChunkBytes;
}

StreamLayout layoutOf(const Stream& s, const StreamNeeds& needs) {
    if (isAsync(s)) {
        return asyncLayoutFor(s.async_shared, needs.row_bytes, asyncWorkBytes(needs),
                              needs.chunk_codes, hasTable(needs));
    }
    return streamLayoutFor(
        s.facts.shared_base, s.facts.shared_bytes, needs.row_bytes, needs.norm_bytes,
        std::max({needs.attend_bytes, needs.plain_bytes, operandsBegin(needs) + needs.operand_bytes,
                  needs.behind_bytes}),
        chunkBytes(s, needs), !needs.has_blocks);
}

/// Room in shared memory for one more step; false: launch it otherwise.
bool fits(const Stream& s, const StreamNeeds& needs) {
    // What an earlier list needed is no matter of this one.
    const bool is_first = s.steps.steps.empty();
    return layoutOf(s, is_first ? needs : mostOf(s.steps.needs, needs)).chunk_count > 0;
}

/// Shares A of a step's updates out over the blocks. No units: there are too many ranks.
LoraUnitSizes shareUnits(const Stream& s, ProjectKernelArgs& args) {
    int tiles = 0;
    bool is_ragged = false;
    for (int i = 0; i < args.lora_count; ++i) {
        LoraArgs& term = args.lora[i];
        term.tile = static_cast<int16_t>(tiles);
        tiles += (term.rank + kLoraTileRanks - 1) / kLoraTileRanks;
        is_ragged = is_ragged || term.rank % kLoraTileRanks != 0;
    }
    const LoraUnitSizes units =
        streamUnitSizes(s.facts.multiprocessors, args.lora_first[3], tiles, args.cols);
    args.lora_tiles = static_cast<int16_t>(tiles);
    args.lora_is_ragged = is_ragged ? 1 : 0;
    args.lora_shift = static_cast<int16_t>(std::countr_zero(static_cast<uint32_t>(units.chunks)));
    args.lora_units = units.units;
    args.lora_columns = units.columns;
    args.lora_own = static_cast<int16_t>(units.own);
    return units;
}

/// shareUnits(), and operands behind each other as device/decode/stream_lora.cuh takes them.
/// Returns their bytes; 0: there are too many.
int shareStreamUnits(const Stream& s, ProjectKernelArgs& args, const StreamSizes& sizes) {
    const LoraUnitSizes units = shareUnits(s, args);
    if (units.units == 0) {
        return 0;
    }
    int widest = 0;
    for (int i = 0; i < args.lora_count; ++i) {
        widest = std::max(widest, elementBytes(args.lora[i].a_type));
    }
    args.lora_pitch = units.columns * widest;
    args.local_rows = sizes.share + sizes.grain; // of one weight
    int bytes = streamUpdateBytes(args.count, args.local_rows) +
                streamNormedBytes(args.input, args.cols, units.columns) +
                units.own * args.lora_pitch;
    for (int i = 0; i < args.lora_count; ++i) {
        LoraArgs& term = args.lora[i];
        term.b_offset = bytes;
        bytes += args.local_rows * term.rank * elementBytes(term.b_type);
    }
    return alignOperands(bytes);
}

int operandBytes(const ProjectKernelArgs& a) {
    const LoraArgs& last = a.lora[a.lora_count - 1];
    return alignOperands(last.b_offset + a.local_rows * last.rank * elementBytes(last.b_type));
}

/// A and B of updates stay in memory (device/decode/stream_direct.cuh): of all steps of the list so
/// far, and of one that is added to it.
bool isDirect(const Stream& s) {
    return isAsync(s) || s.steps.is_large || (!s.steps.steps.empty() && s.steps.has_halves);
}
bool isDirect(const Stream& s, const ProjectKernelArgs& args) {
    return isDirect(s) || isHalf(args);
}

/// Bytes of work memory for those of a step, behind what else it has there; 0: it has none.
int directBytes(const ProjectKernelArgs& a, bool has_updates) {
    return has_updates ? directUpdateBytes(a.count, a.local_rows, a.lora_first[3]) : 0;
}

/// Places them behind `work_bytes`. Returns the bytes of both.
int placeDirect(ProjectKernelArgs& a, int work_bytes, bool has_updates) {
    constexpr int kGrain = 16;
    const int begin = (work_bytes + kGrain - 1) / kGrain * kGrain;
    a.direct_at = static_cast<int16_t>(has_updates ? begin / kGrain : 0);
    return begin + directBytes(a, has_updates);
}

/// Operands of the latest step that has any, beside which those of the next one come
/// (placeStreamUnits()); 0: those come later.
int lastOperandBytes(const std::vector<TokenStep>& steps) {
    for (size_t back = 1; back <= kStepsAsked && back <= steps.size(); ++back) {
        const TokenStep& step = steps[steps.size() - back];
        if (step.kind != kStepProject) {
            return 0;
        }
        if (step.project.lora_units > 0) {
            return operandBytes(step.project);
        }
    }
    return 0;
}

/// What the step has in the work memory, were its updates' operands not there.
int workBytes(const StreamNeeds& needs, const TokenStep& step) {
    const ProjectKernelArgs& a = step.project;
    return step.kind == kStepAttend ? needs.attend_bytes
                                    : streamWorkBytes(a.cols, a.pass_tiles, a.tile_shift,
                                                      a.input == kInputPlain, isHalf(a));
}

/// Plans of one step.
size_t planBytes(const Stream& s) {
    return static_cast<size_t>(s.facts.multiprocessors) * sizeof(UnitPlan);
}
/// Plans of the steps collected so far.
CuPointer planAt(const Stream& s) {
    return s.scratch + kPlanOffset + s.steps.planned * planBytes(s);
}

/// The place for wide rows of this width; -1: there is none. Always the same one for a width, and
/// never two widths of a model in one: what was not written would be taken for new some day.
int wideRegion(TokenSteps& t, int64_t values) {
    const int region = values > kWideValues / 2 ? 1 : 0;
    if (values > kWideValues || (t.wide_values[region] != 0 && t.wide_values[region] != values)) {
        return -1;
    }
    t.wide_values[region] = values;
    return region;
}

/// sizesInRoom() for stream_async.cu and stream_async_half.cu. is_first: of its list, so that its
/// row does not come in packets that every thread takes at once (isShort()).
StreamSizes asyncSizes(const Stream& s,
                       ProjectKernelArgs& args,
                       int64_t outputs,
                       bool is_first,
                       bool has_updates,
                       StreamNeeds& needs) {
    const bool is_pair = args.output == kOutputGatedPair;
    const bool is_plain = args.input == kInputPlain;
    const bool has_taken = !is_plain && (is_first || args.cols > kShortRow);
    const int bits = bitsOf(args.w[0].layout);
    const bool is_half = isHalf(args);
    needs.row_bytes = is_plain ? 0 : args.cols * 4;
    needs.has_codes = isFourBit(args);
    needs.has_halves = is_half;
    needs.has_blocks = hasBlocks(args);
    const bool has_table = hasTable(is_first ? needs : mostOf(s.steps.needs, needs));
    int most_tiles = kMostPassTiles;
    for (;;) {
        const StreamSizes sizes = streamProjectSizes(
            s.facts.multiprocessors, outputs, args.cols, is_pair, is_plain, args.count, bits,
            is_pair && outputs > kPackets ? kWideGrain : 1, most_tiles, true, blockRows(s, args));
        if (sizes.units == 0) {
            return {};
        }
        const int sums = args.cols > kPackets && !is_half ? sizes.pass_tiles << sizes.tile_shift
                                                          : sizes.pass_tiles * kTileRows;
        args.local_rows = sizes.share + sizes.grain;
        needs.plain_bytes =
            placeDirect(args,
                        is_half ? asyncHalfBytes(args.cols, sums, has_taken, is_plain)
                                : asyncProjectBytes(args.cols, sums, has_taken, is_plain),
                        has_updates);
        needs.chunk_codes =
            (needs.has_blocks ? sizes.slot_bytes : sizes.units / sizes.pieces * kUnitBytes)
            << sizes.tile_shift;
        // Fewer sums at a time where the wide rows and the chunks of other steps would lack room.
        most_tiles = sizes.pass_tiles - (is_pair ? 6 : 1);
        const bool is_least = most_tiles < (is_pair ? 6 : 1);
        if (fits(s, needs) &&
            (is_least || needs.plain_bytes <= asyncWorkRoom(s.async_shared, has_table))) {
            return sizes;
        }
        if (is_least) {
            return {};
        }
    }
}

/// sizesInRoom() for stream_large.cu and stream_async_large.cu.
StreamSizes largeSizes(const Stream& s,
                       ProjectKernelArgs& args,
                       int64_t outputs,
                       bool has_updates,
                       StreamNeeds& needs) {
    const bool is_pair = args.output == kOutputGatedPair;
    const int bits = bitsOf(args.w[0].layout);
    args.local_rows = static_cast<int32_t>(outputs / s.facts.multiprocessors) + 1;
    const int more = placeDirect(args, 0, has_updates);
    StreamSizes sizes;
    if (isAsync(s)) {
        sizes = asyncLargeSizes(s.facts.multiprocessors, outputs, args.cols, is_pair,
                                args.input == kInputPlain, args.count, bits,
                                asyncLargeRoom(s.async_shared) - more);
        needs.chunk_codes = (sizes.units * kUnitBytes) << sizes.tile_shift;
    } else {
        sizes = largeProjectSizes(s.facts.multiprocessors, outputs, args.cols, is_pair, args.count,
                                  bits, largeWorkRoom(s.facts.shared_base) - more);
    }
    if (sizes.units == 0) {
        return {};
    }
    needs.plain_bytes = placeDirect(args, sizes.work_bytes, has_updates);
    return fits(s, needs) ? sizes : StreamSizes{};
}

/// The sizes of a projection and what it needs of shared memory; no units: there is no room.
StreamSizes sizesInRoom(const Stream& s,
                        ProjectKernelArgs& args,
                        int64_t outputs,
                        bool has_updates,
                        StreamNeeds& needs) {
    const bool is_direct = isDirect(s, args);
    if (is_direct && has_updates && shareUnits(s, args).units == 0) {
        return {};
    }
    if (s.steps.is_large) {
        return largeSizes(s, args, outputs, has_updates, needs);
    }
    if (isAsync(s)) {
        return asyncSizes(s, args, outputs, s.steps.steps.empty(), has_updates, needs);
    }
    const bool is_pair = args.output == kOutputGatedPair;
    needs.has_blocks = hasBlocks(args);
    const auto sizesWith = [&](int most_tiles) {
        return streamProjectSizes(s.facts.multiprocessors, outputs, args.cols, is_pair,
                                  args.input == kInputPlain, args.count, bitsOf(args.w[0].layout),
                                  is_pair && outputs > kPackets ? kWideGrain : 1, most_tiles,
                                  needs.has_blocks, blockRows(s, args));
    };
    StreamSizes sizes = sizesWith(kMostPassTiles);
    if (sizes.units == 0) {
        return {};
    }
    needs.row_bytes = args.input == kInputPlain ? 0 : args.cols * 4;
    if (!needs.has_blocks || args.cols <= kShortRow) {
        // Longer ones stay in memory (bringsNorms()).
        needs.norm_bytes = std::max(bytesOf(args.norm, args.cols), bytesOf(args.t_norm, args.cols));
    }
    // Operands come while the step before is at work, if that has updates too, else when their own
    // begins: a projection without updates has all of the work memory for itself.
    const auto takeWork = [&] {
        if (has_updates && !is_direct) {
            needs.project_bytes = sizes.work_bytes;
        } else {
            args.local_rows = sizes.share + sizes.grain;
            needs.plain_bytes = placeDirect(args, sizes.work_bytes, has_updates);
        }
    };
    takeWork();
    needs.chunk_codes = sizes.slot_bytes << sizes.tile_shift;
    if (has_updates && !is_direct) {
        // Those of the step before are still there when they come, if there is room for both.
        const int own = shareStreamUnits(s, args, sizes);
        if (own == 0) {
            return {};
        }
        needs.operand_bytes = own + lastOperandBytes(s.steps.steps);
        if (!fits(s, needs)) {
            needs.operand_bytes = own;
        }
    }
    // Fewer sums at a time where operands of updates take the room.
    const int least_tiles = is_pair ? (needs.has_blocks ? 6 : sizes.pass_tiles) : kTileRows;
    while (!fits(s, needs) && sizes.pass_tiles > least_tiles) {
        sizes = sizesWith(sizes.pass_tiles / 2);
        takeWork();
    }
    return fits(s, needs) ? sizes : StreamSizes{};
}

/// What stream_blocks.cuh wants to know of weights in blocks.
void takeBlocks(ProjectKernelArgs& args, const StreamSizes& sizes) {
    args.slot_bytes = static_cast<int16_t>(sizes.slot_bytes);
    args.block_traits = 0;
    for (int j = 0; sizes.slot_bytes > 0 && j < args.count; ++j) {
        WeightArgs& w = args.w[j];
        w.block_size = static_cast<int32_t>(valueBytes(w.format, w.cols) / sizes.pieces);
        args.block_traits = static_cast<int16_t>(
            args.block_traits | (w.format != args.w[0].format ? kBlocksDiffer : 0) |
            (w.block_size % 16 != 0 ? kBlocksUnaligned : 0));
    }
}

void takeSizes(ProjectKernelArgs& args, const StreamSizes& sizes, int64_t outputs) {
    args.units = sizes.slot_bytes > 0 ? sizes.units / sizes.pieces : sizes.units;
    args.tile_shift = sizes.tile_shift;
    args.pass_tiles = sizes.pass_tiles;
    args.share = sizes.share;
    args.extra = sizes.extra;
    args.grain = static_cast<int16_t>(sizes.grain);
    args.pieces = static_cast<int16_t>(sizes.pieces);
    takeBlocks(args, sizes);
    args.inverse_cols = 1.0F / static_cast<float>(args.cols);
    args.outputs = static_cast<int32_t>(outputs);
    args.block_shift =
        isFourBit(args) ? std::countr_zero(static_cast<uint32_t>(args.w[0].block_size)) : 0;
    args.link = kLinkNone;
    args.publish = kLinkNone;
    args.keeps_row = 0;
}

/// FORM::kHasLargePackets of the list's kernel.
bool hasLargePackets(const TokenSteps& t) {
    return t.is_large || t.needs.has_blocks;
}

/// How the projection takes its row from the step before it, if that leaves what it needs.
void linkToBefore(TokenSteps& t, ProjectKernelArgs& args) {
    const float* const taken = hasResidual(args)           ? args.t
                               : args.input == kInputPlain ? args.x
                                                           : nullptr;
    const bool is_row_there = args.input == kInputPlain || t.row == args.x;
    if (t.steps.empty() || taken == nullptr || !is_row_there) {
        return;
    }
    TokenStep& before = t.steps.back();
    const Left left = leftBy(before);
    const bool is_one = before.kind == kStepAttend || before.project.count == 1 ||
                        before.project.output == kOutputGatedPair;
    if (left.at != taken || left.values != args.cols || !is_one) {
        return;
    }
    // The residual row of long rows is read where the first block wrote it: behind flags of a
    // step since then, which are those of attention and of a step that a plain input takes.
    const bool is_by_flags = left.values > kPackets || (t.is_large && !hasResidual(args));
    args.link = is_by_flags ? kLinkFlags : kLinkPackets;
    // Attention publishes packets only, but for long rows.
    if (args.link == kLinkFlags && before.kind == kStepAttend) {
        args.link = hasLargePackets(t) ? kLinkFlags : kLinkNone;
    } else if (args.link == kLinkFlags && before.project.grain == kWideGrain &&
               !hasResidual(args)) {
        const int region = wideRegion(t, left.values);
        if (region >= 0) {
            args.link = kLinkWide;
            args.wide_region = region;
            args.wide_use = t.wide_uses[region]++;
            before.project.wide_region = region;
            before.project.publish_use = args.wide_use;
        }
    }
}

/// Models with fewer columns have heads and rows that are none of the streamed launch's: a list
/// would end with each of them. Published ones have 1536 and more.
constexpr int64_t kLeastHalfColumns = 128;

/// stream_large.cu or stream_async_large.cu takes a list that begins with this step.
bool mayBeginLarge(const Stream& s, const ProjectKernelArgs& args) {
    const auto has = [&](KernelId plain, KernelId updates) {
        return s.functions[static_cast<size_t>(plain)] != nullptr &&
               s.functions[static_cast<size_t>(updates)] != nullptr;
    };
    return args.input != kInputPlain && !isHalf(args) && s.facts.multiprocessors <= kLargeFlags &&
           (isAsync(s) ? has(KernelId::stream_async_large, KernelId::stream_async_large_updates)
                       : has(KernelId::stream_large, KernelId::stream_large_updates));
}

/// And stream.cu or stream_async.cu has no room for the row, or for the queries, keys and values
/// (26B).
bool needsLarge(const ProjectKernelArgs& args, int64_t outputs) {
    return args.cols > kShortRow || (args.count > 1 && args.output == kOutputStore &&
                                     outputs > kPackets && outputs <= kLargePackets);
}

/// For lists with bf16 weights, or with such in blocks.
KernelId pieceKernel(const Stream& s, bool has_blocks) {
    return isAsync(s)   ? (has_blocks ? KernelId::stream_async_blocks : KernelId::stream_async_half)
           : has_blocks ? KernelId::stream_blocks
                        : KernelId::stream_half;
}

/// Nothing is known of a list that has no step yet.
void forgetList(TokenSteps& t) {
    t.needs = {};
    t.has_halves = false;
    t.code_table = 0;
    t.unit_steps = 0;
    for (int i = 0; i < kWideRegions; ++i) {
        t.wide_values[i] = 0;
        t.wide_uses[i] = 0;
    }
}

} // namespace

bool isAsync(const Stream& s) {
    return !s.steps.may_bulk || s.facts.compute_capability < 90 ||
           s.facts.shared_bytes < kBulkSharedBytes;
}

Status streamProject(Stream& s, ProjectKernelArgs args, int64_t outputs) {
    TokenSteps& t = s.steps;
    const bool has_updates = areUpdatesShared(args);
    const bool is_half = isHalf(args);
    if (args.lora_count > 0 && !has_updates) {
        // What is left of the token is single launches, too: no lists of a few steps among them.
        t.has_left = t.has_left || isAsync(s) || is_half;
        return Status::Unsupported;
    }
    // A head in 16 bits behind layers of 4 bits is a launch of its own: with two chunks of shared
    // memory less of it would be on its way than sixteen warps load into registers.
    const bool is_begun_apart =
        t.steps.empty() ? args.cols < kLeastHalfColumns
                        : (isAsync(s) ? !t.has_halves : t.unit_steps > 0 && !isDirect(s));
    const KernelId half = pieceKernel(s, hasBlocks(args));
    if (is_half && (is_begun_apart || s.functions[static_cast<size_t>(half)] == nullptr ||
                    (hasBlocks(args) && s.facts.multiprocessors > kLargeFlags))) {
        return Status::Unsupported;
    }
    if (!isPossible(s) || !isStreamable(args)) {
        return Status::Unsupported;
    }
    if (!isAsync(s) && !t.steps.empty() &&
        (hasBlocks(args) ? !t.needs.has_blocks : isFourBit(args) && t.needs.has_blocks)) {
        // stream_blocks.cu has no table of codes.
        if (const Status status = s.flush(); status != Status::Ok) {
            return status;
        }
    }
    const bool is_first = t.steps.empty();
    const bool may_be_large = is_first && mayBeginLarge(s, args);
    if (is_first) {
        t.is_large = may_be_large && needsLarge(args, outputs);
    } else if (t.is_large && is_half) {
        return Status::Unsupported;
    }
    StreamNeeds needs;
    StreamSizes sizes = sizesInRoom(s, args, outputs, has_updates, needs);
    if (sizes.units == 0 && may_be_large) {
        // Columns that no parts divide, or a row and norms that leave no room for weights.
        t.is_large = !t.is_large;
        needs = {};
        sizes = sizesInRoom(s, args, outputs, has_updates, needs);
    }
    if (sizes.units == 0) {
        t.has_left = isAsync(s);
        return Status::Unsupported;
    }
    takeSizes(args, sizes, outputs);
    const bool is_four_bit = isFourBit(args);
    if (is_four_bit && !t.steps.empty() && t.code_table != 0 &&
        t.code_table != args.w[0].code_table) {
        // One launch has one table of codes.
        if (const Status status = s.flush(); status != Status::Ok) {
            return status;
        }
    }
    linkToBefore(t, args);
    if (args.link == kLinkNone && !t.steps.empty()) {
        // Something else is needed than what the step before leaves: it has to be in memory.
        if (const Status status = s.flush(); status != Status::Ok) {
            return status;
        }
    }
    if (args.link == kLinkNone && (isAsync(s) || has_updates)) {
        // The first one of a list needs more, and may have its updates' operands elsewhere.
        needs = {};
        sizes = sizesInRoom(s, args, outputs, has_updates, needs);
        if (sizes.units == 0) {
            t.has_left = isAsync(s);
            return Status::Unsupported;
        }
        takeSizes(args, sizes, outputs);
    }
    if (args.link != kLinkNone) {
        publish(t.steps.back(), args.link);
        args.keeps_row = args.input != kInputPlain && !t.is_large ? 1 : 0;
    }
    if (t.steps.empty()) {
        forgetList(t);
    }
    if (args.input != kInputPlain) {
        t.row = hasResidual(args) ? args.x_out : args.x;
    }
    t.has_halves = t.has_halves || is_half;
    if (is_four_bit) {
        t.code_table = args.w[0].code_table;
    }
    t.needs = mostOf(t.needs, needs);
    if (has_updates) {
        ++t.unit_steps;
        // A place for the values of a step is used again when nobody can be so far behind.
        args.lora_slots =
            typedPointerOf<uint64_t>(s.scratch + kExchangeOffset + kStreamUnitOffset) +
            t.steps.size() % kPacketSteps * kStreamUnitWords;
    }
    TokenStep step{};
    step.kind = kStepProject;
    step.project = args;
    t.steps.push_back(step);
    return Status::Ok;
}

Status streamAttend(Stream& s, AttendStepKernelArgs args) {
    TokenSteps& t = s.steps;
    if (!isPossible(s) || t.steps.empty() || t.steps.back().kind != kStepProject) {
        return Status::Unsupported;
    }
    const ProjectKernelArgs& before = t.steps.back().project;
    const bool is_linked =
        before.y[0] == args.q &&
        before.outputs <= (hasLargePackets(t) ? kLargePackets : kPackets) &&
        before.output == kOutputStore &&
        (args.k == nullptr ? before.count == 1
                           : before.y[1] == args.k && before.count == (args.v == args.k ? 2 : 3) &&
                                 (args.v == args.k || before.y[2] == args.v));
    const int heads = args.num_heads / args.num_kv_heads;
    const int splits = s.facts.multiprocessors / args.num_kv_heads;
    const size_t partial = static_cast<size_t>(args.num_heads) * static_cast<size_t>(splits) *
                           (static_cast<size_t>(args.head_dim) + 2U) * 4U;
    StreamNeeds needs;
    if (isAsync(s)) {
        needs.attend_bytes = asyncAttendBytes(args.head_dim);
    } else {
        needs.attend_bytes =
            t.needs.has_blocks ? asyncAttendBytes(args.head_dim) : streamAttendBytes(args.head_dim);
        needs.norm_bytes =
            std::max(bytesOf(args.q_norm, args.head_dim), bytesOf(args.k_norm, args.head_dim));
    }
    const auto is_aligned = [](const void* at) {
        return reinterpret_cast<uintptr_t>(at) % 16 == 0;
    };
    if (!is_linked || heads > kTileHeads || !is_aligned(args.q_norm.data) ||
        !is_aligned(args.k_norm.data) || args.head_dim < 32 || args.head_dim > kTurnFloats ||
        splits < 1 || partial + kPartialOffset > kPartialBytes || !fits(s, needs)) {
        return Status::Unsupported;
    }
    args.splits = splits;
    args.partial = typedPointerOf<float>(s.scratch + kPartialOffset);
    args.head_parts =
        t.has_heads ? headParts(s.facts.multiprocessors, args.num_heads, args.head_dim) : 0;
    args.link = kLinkPackets;
    args.publish = kLinkNone;
    publish(t.steps.back(), kLinkPackets);
    t.needs = mostOf(t.needs, needs);
    TokenStep step{};
    step.kind = kStepAttend;
    step.attend = args;
    t.steps.push_back(step);
    return Status::Ok;
}

namespace {

bool hasUnits(const TokenStep& step) {
    return step.kind == kStepProject && step.project.lora_units > 0;
}

/// placeStreamUnits() of updates that stay in memory: each is told how far the next one is.
void numberDirectUnits(TokenSteps& t) {
    size_t before = t.steps.size();
    int number = 0;
    for (size_t i = 0; i < t.steps.size(); ++i) {
        if (!hasUnits(t.steps[i])) {
            continue;
        }
        if (number == 0) {
            t.first_unit_step = static_cast<int>(i);
        } else {
            t.steps[before].project.lora_next = static_cast<int32_t>(i - before);
        }
        t.steps[i].project.lora_next = 0;
        t.steps[i].project.direct_turn = static_cast<int16_t>(number++ & 1);
        before = i;
    }
    t.has_plans = false;
}

} // namespace

void placeStreamUnits(Stream& s) {
    if (isDirect(s)) {
        numberDirectUnits(s.steps);
        return;
    }
    std::vector<TokenStep>& steps = s.steps.steps;
    const auto hasUnits = [&](size_t i) { return kernels::cuda::hasUnits(steps[i]); };
    // In turn at the beginning and at the end of their part of the work memory, so that those of
    // two steps that follow each other fit.
    const int begin = operandsBegin(s.steps.needs);
    const int end = begin + s.steps.needs.operand_bytes;
    // Attention uses all of that: those of the step behind it lie further back, where that takes
    // no chunk of weights its place.
    const int behind = alignOperands(std::max(end, s.steps.needs.attend_bytes));
    const auto isBehind = [&](size_t i) {
        return i >= 2 && steps[i - 1].kind == kStepAttend && hasUnits(i - 2);
    };
    StreamNeeds needs = s.steps.needs;
    for (size_t i = 0; i < steps.size(); ++i) {
        if (hasUnits(i) && isBehind(i)) {
            needs.behind_bytes =
                std::max(needs.behind_bytes, behind + operandBytes(steps[i].project));
        }
    }
    const bool has_behind =
        layoutOf(s, needs).chunk_count == layoutOf(s, s.steps.needs).chunk_count;
    if (has_behind) {
        s.steps.needs = needs;
    }
    // Operands come in time and stay whole while the steps from `first` on that have none run.
    const auto isLeftAlone = [&](size_t first, size_t step) {
        return step - first < kStepsAsked &&
               std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(first),
                           steps.begin() + static_cast<std::ptrdiff_t>(step),
                           [&](const TokenStep& other) {
                               return workBytes(s.steps.needs, other) <= begin;
                           });
    };
    ProjectKernelArgs* before = nullptr;
    size_t before_at = 0;
    int before_bytes = 0;
    int32_t number = 0;
    bool has_plans = s.steps.may_plan && !s.steps.is_once &&
                     s.functions[static_cast<size_t>(KernelId::stream_plans)] != nullptr;
    bool is_first_place = true;
    for (size_t i = 0; i < steps.size(); ++i) {
        if (!hasUnits(i)) {
            continue;
        }
        ProjectKernelArgs& a = steps[i].project;
        const int bytes = operandBytes(a);
        a.lora_at = is_first_place ? begin : end - bytes;
        a.lora_turn = is_first_place ? 0 : 1;
        if (has_behind && isBehind(i)) {
            a.lora_at = behind;
            a.lora_late = 0;
        } else {
            // The first one since the launch began has only other steps before it.
            const bool may_come = isLeftAlone(before != nullptr ? before_at + 1 : 0, i);
            a.lora_late = may_come && bytes + before_bytes <= end - begin ? 0 : 1;
        }
        // A row of packets that is added to one which no step with updates has just made.
        const bool is_row_old =
            i > 0 && (steps[i - 1].kind == kStepAttend || !hasResidual(steps[i - 1].project));
        // Not the launch's first step with updates: nothing tells its warp how far the others are.
        const bool is_early = before != nullptr &&
                              streamNormedBytes(a.input, a.cols, a.lora_columns) > 0 &&
                              a.link == kLinkPackets && a.keeps_row != 0 && is_row_old &&
                              a.lora_late == 0 && a.lora_own == 1;
        a.lora_is_early = is_early ? 1 : 0;
        a.lora_next = 0;
        a.lora_next_late = 1;
        a.lora_step = number++;
        has_plans = has_plans && a.lora_late == 0 && a.lora_tiles <= kPlannedTiles &&
                    a.lora_own + a.lora_count <= kPlannedCopies;
        is_first_place = !is_first_place;
        if (before != nullptr) {
            before->lora_next = static_cast<int32_t>(i - before_at);
            before->lora_next_late = a.lora_late;
        } else {
            s.steps.first_unit_step = static_cast<int>(i);
        }
        before = &a;
        before_at = i;
        before_bytes = a.lora_at == behind ? 0 : bytes;
    }
    const size_t plans = s.steps.planned + static_cast<size_t>(number);
    s.steps.has_plans = has_plans && number > 0 && plans * planBytes(s) <= kPlanBytes;
}

Status streamUnitSizes(Stream& s, CuPointer list, size_t count) {
    if (!s.steps.has_plans) {
        return Status::Ok;
    }
    const auto* steps = typedPointerOf<const TokenStep>(list);
    auto* plans = typedPointerOf<UnitPlan>(planAt(s));
    auto blocks = static_cast<int>(s.facts.multiprocessors);
    void* parameters[] = {static_cast<void*>(&steps), static_cast<void*>(&plans),
                          static_cast<void*>(&blocks)};
    CuLaunchConfig config;
    config.grid_x = static_cast<unsigned>(count);
    config.block_x = kPlanThreads;
    config.stream = s.upload;
    return s.check(
        s.driver->launchKernelEx(&config, s.functions[static_cast<size_t>(KernelId::stream_plans)],
                                 parameters, nullptr),
        kernelName(KernelId::stream_plans));
}

namespace {

/// The kernel of a list. is_planned: its updates have plans.
KernelId kernelOf(const Stream& s, bool has_updates, bool is_planned) {
    const auto one = [has_updates](KernelId plain, KernelId updates) {
        return has_updates ? updates : plain;
    };
    if (isAsync(s) && s.steps.is_large) {
        return one(KernelId::stream_async_large, KernelId::stream_async_large_updates);
    }
    if (s.steps.needs.has_blocks) {
        return isAsync(s)
                   ? one(KernelId::stream_async_blocks, KernelId::stream_async_blocks_updates)
                   : one(KernelId::stream_blocks, KernelId::stream_blocks_updates);
    }
    if (isAsync(s) && s.steps.has_halves) {
        return one(KernelId::stream_async_half, KernelId::stream_async_half_updates);
    }
    if (isAsync(s)) {
        return one(KernelId::stream_async, KernelId::stream_async_updates);
    }
    if (s.steps.is_large) {
        return one(KernelId::stream_large, KernelId::stream_large_updates);
    }
    if (s.steps.has_halves) {
        return one(KernelId::stream_half, KernelId::stream_half_updates);
    }
    return one(KernelId::stream,
               is_planned ? KernelId::stream_updates : KernelId::stream_any_updates);
}

} // namespace

Status launchStream(Stream& s, CuPointer list, int count, CuPointer trace) {
    StreamLayout layout = layoutOf(s, s.steps.needs);
    for (int i = 0; i < kWideRegions; ++i) {
        layout.wide_uses[i] = s.steps.wide_uses[i];
    }
    layout.code_table = s.steps.code_table;
    layout.unit_steps = s.steps.unit_steps;
    layout.first_unit_step = s.steps.first_unit_step;
    const bool is_planned = s.steps.has_plans;
    if (is_planned) {
        layout.plans = typedPointerOf<const UnitPlan>(planAt(s));
        s.steps.planned += static_cast<size_t>(s.steps.unit_steps);
        s.steps.has_plans = false;
    }
    const bool is_async = isAsync(s);
    if (is_async) {
        const int more = asyncAhead(s.facts.l2_bytes, s.facts.multiprocessors, layout.chunk_bytes,
                                    layout.chunk_count);
        layout.ahead = more > 0 ? layout.chunk_count + more : 0;
    }
    const auto shared =
        static_cast<unsigned>(is_async ? layout.chunks + layout.chunk_count * layout.chunk_bytes
                                       : layout.table + layout.chunks +
                                             layout.chunk_count * chunkBytes(s, s.steps.needs));
    const auto* steps = typedPointerOf<const TokenStep>(list);
    auto* counters = typedPointerOf<int32_t>(s.scratch + kStreamCounterOffset);
    auto* flags = typedPointerOf<int32_t>(s.scratch + kExchangeOffset);
    auto* packets = typedPointerOf<void>(s.scratch + kExchangeOffset + kFlagBytes);
    auto* clocks = typedPointerOf<long long>(trace);
    void* parameters[] = {static_cast<void*>(&steps),  static_cast<void*>(&count),
                          static_cast<void*>(&layout), static_cast<void*>(&counters),
                          static_cast<void*>(&flags),  static_cast<void*>(&packets),
                          static_cast<void*>(&clocks)};
    const bool has_updates = layout.unit_steps > 0;
    return s.launchResident(kernelOf(s, has_updates, is_planned),
                            static_cast<unsigned>(s.facts.multiprocessors),
                            static_cast<unsigned>(!is_async     ? kStreamThreads
                                                  : has_updates ? kAsyncUpdateThreads
                                                                : kAsyncThreads),
                            shared, parameters);
}

} // namespace kernels::cuda
