// SPDX-License-Identifier: Apache-2.0
// Sizes that host code decides before a launch: scratch memory, grids, how rows are dealt to warps.
// Pure functions, tested without a card.
#pragma once

#include "kernels/cuda/device/common/args.h"
#include "kernels/cuda/stream.h"

#include <cstddef>
#include <cstdint>

namespace kernels::cuda {

/// Expanded weights that are in memory at a time: a panel of rows that stays in the L2 cache.
inline constexpr size_t kPanelBytes = size_t{10} << 20U;
/// Scratch begins with counters, zero between launches: of split attention, then (at
/// kBarrierOffset) of the grid barrier.
inline constexpr size_t kCounterBytes = 4096;
inline constexpr size_t kBarrierOffset = 2048;
/// stream.cu and its forms count here.
inline constexpr size_t kStreamCounterOffset = kBarrierOffset + 64;
/// Between them: what the blocks of a launch for one token count (EdgeCounters).
inline constexpr size_t kEdgeOffset = kBarrierOffset + 256;
static_assert(kEdgeOffset + sizeof(EdgeCounters) <= kCounterBytes);
/// Then the steps of a token (stream.cu), 47 layers of seven; behind them those of a list
/// that runs once (OpTable::begin_once_steps).
inline constexpr size_t kTokenStepBytes = size_t{398} << 10U;
inline constexpr size_t kStepBytes = kTokenStepBytes + (size_t{194} << 10U);
/// Then, for measurements (kHasTrace), clocks of every step.
inline constexpr size_t kTraceBytes = size_t{36} << 10U;
static_assert(kStepBytes / sizeof(TokenStep) * kTraceMarks * sizeof(long long) <= kTraceBytes);
/// Then the steps of a list of rows (OpTable::begin_rows).
inline constexpr size_t kRowStepOffset = kCounterBytes + kStepBytes + kTraceBytes;
inline constexpr size_t kRowStepBytes = kTokenStepBytes;
/// Then those of an assistant's draft (OpTable::begin_side_steps).
inline constexpr size_t kSideStepOffset = kRowStepOffset + kRowStepBytes;
inline constexpr size_t kSideStepBytes = size_t{49} << 10U;
/// Then what the blocks of stream.cu hand to each other: a flag of every block, and packets.
/// Nothing else may ever write there.
inline constexpr size_t kExchangeOffset = kSideStepOffset + kSideStepBytes;
inline constexpr size_t kFlagBytes = 2048;
inline constexpr size_t kStreamUnitOffset =
    kFlagBytes +
    (size_t{kLargePacketsAt} + size_t{kPacketSteps} * static_cast<size_t>(kLargePackets)) * 8U;
static_assert(2U * sizeof(int32_t) * kLargeFlags <= kFlagBytes);
/// Words of the sums of a step's updates.
inline constexpr size_t kStreamUnitWords = size_t{kMaxLoraUnits} * static_cast<size_t>(kUnitSlot);
static_assert((kExchangeOffset + kStreamUnitOffset) % (size_t{8} * kUnitSlot) == 0,
              "whole sectors");
/// Then the packets of rows (stream_rows.cu).
inline constexpr size_t kRowPacketOffset =
    kStreamUnitOffset + size_t{kPacketSteps} * kStreamUnitWords * 8U;
inline constexpr size_t kRowPacketBytes = size_t{kRowPacketSteps} * kRowPackets * 16U;
static_assert((kExchangeOffset + kRowPacketOffset) % 16U == 0);
inline constexpr size_t kExchangeBytes = kRowPacketOffset + kRowPacketBytes;
/// Then the plans of steps with low-rank updates for every block (UnitPlan): 186 steps on a card of
/// 132 multiprocessors. Lists of more do without.
inline constexpr size_t kPlanOffset = kExchangeOffset + kExchangeBytes;
inline constexpr size_t kPlanBytes = size_t{9} << 19U;
/// Counters, steps and partial results: up to 64 heads, 50 splits of 512 + 2 floats.
inline constexpr size_t kPartialBytes = (size_t{64} * 64U * 514U * 4U) + kCounterBytes +
                                        kPlanBytes + size_t{kPacketSteps} * kLargePackets * 8U +
                                        kRowPacketBytes;
/// Where partial results begin.
inline constexpr size_t kPartialOffset = kPlanOffset + kPlanBytes;
/// Products keep their input and panel over the partial results: neither outlives its own step.
inline constexpr size_t kWorkOffset = kPartialOffset;
/// Products of a panel take 128 rows at least, also of the widest weight (31B's down_proj), in
/// bf16.
inline constexpr size_t kWidestPanel = 21504; // columns
static_assert(kPanelBytes >= 128U * kWidestPanel * 2U);
inline constexpr int kMaxSplits = 64;

/// Bytes of kernel scratch for products of up to `rows` rows with up to `widest_in` inputs.
/// Shape: counters and steps, then either partials, or the input in bf16 and a weight panel.
constexpr size_t scratchBytes(int64_t rows, int64_t widest_in) {
    const size_t input = static_cast<size_t>(rows * widest_in) * 2U;
    const size_t work = kWorkOffset + (input + 255U) / 256U * 256U + kPanelBytes;
    return work > kPartialBytes ? work : kPartialBytes;
}

/// How a projection step of one row is dealt out: every block owns a contiguous range of outputs.
struct ProjectSizes {
    int grid = 1;
    int local_rows = 1;    ///< Most weight rows of a block.
    int rows_per_warp = 1; ///< 1, 2 or 4 rows whose loads are in flight together.
    int k_split = 1;       ///< 1, 2, 4, 8 or 16 warps share the columns of a row group.
    unsigned shared_bytes = 0;
};
/// outputs: results of all weights together; is_pair: each needs a row of two weights;
/// block_size: of a 4-bit format, else 0.
ProjectSizes
projectSizes(int multiprocessors, int64_t outputs, int64_t cols, bool is_pair, int64_t block_size);

/// Shared memory that low-rank updates add to a step: `ranks` of all updates, `width` of the weight
/// with most, `tap_ranks` of the next step's.
unsigned loraSharedBytes(
    const ProjectSizes& sizes, bool is_pair, int64_t ranks, int64_t width, int64_t tap_ranks);

/// How the A of a streamed step's updates is shared out (device/decode/unit_piece.cuh): `ranks`
/// rows of `cols` elements, each in `chunks`, a power of two.
struct LoraUnitSizes {
    int units = 0; ///< 0: not in this form.
    int chunks = 1;
    int columns = 0;
    int own = 0; ///< Most of a block.
};
/// For stream.cu: pieces of A of about the same length for all blocks. `tiles` (of kLoraTileRanks)
/// times chunks are the columns that come as packets, eight at a time if they may.
LoraUnitSizes streamUnitSizes(int multiprocessors, int64_t ranks, int64_t tiles, int64_t cols);
/// The same for stream_rows.cu, a unit a warp: as many as the threads of a block take at once.
LoraUnitSizes rowUnitSizes(int64_t ranks, int64_t cols);

/// How a projection is cut for stream.cu.
struct StreamSizes {
    int units = 0;      ///< 32-byte units of a weight row; 0: the kernel has no form for it.
    int tile_shift = 0; ///< log2 of the rows of a tile: 16 over the folds of a row.
    int pass_tiles = 0; ///< Tiles whose sums are kept at a time; a pair's all.
    int work_bytes = 0;
    int share = 0; ///< Outputs of a block, in multiples of grain;
    int extra = 0; ///< blocks that have one grain more.
    int grain = 1;
    /// In 16 bits: chunks of a tile, with so many pieces of its rows. In stream_large.cu: parts of
    /// the columns, of which `units` are one.
    int pieces = 1;
    int slot_bytes = 0; ///< Rows in blocks: from row to row in a chunk.
};
/// Rows in blocks of a step, whose weights may have several formats.
struct BlockRows {
    int64_t bytes = 0; ///< The widest row has so many; 0: they are not in blocks.
    int grain = 1;     ///< Pieces are a multiple of so many units of 64 columns.
    int chunk_bytes = 0;
    bool is_mixed = false; ///< Narrower rows may begin elsewhere between whole 16 bytes.
};
/// No limit of streamProjectSizes().
inline constexpr int kMostPassTiles = 1 << 20;
/// outputs, is_pair as of projectSizes(); is_plain: the input meets no residual row and no norm;
/// weights: how many follow each other; bits: 4, 8 or 16; grain: outputs that stay together;
/// most_tiles: of a pass, unless it is a pair; has_pair_passes: of a pair too, a multiple of six
/// tiles, so that results which stay together are of one pass; blocks: instead of bits.
StreamSizes streamProjectSizes(int multiprocessors,
                               int64_t outputs,
                               int64_t cols,
                               bool is_pair,
                               bool is_plain,
                               int weights,
                               int bits,
                               int grain,
                               int most_tiles = kMostPassTiles,
                               bool has_pair_passes = false,
                               const BlockRows& blocks = {});

/// Work memory of a projection in that form. pass_tiles, tile_shift: of its sizes; is_half: bf16 or
/// blocks.
int streamWorkBytes(
    int64_t cols, int pass_tiles, int tile_shift, bool is_plain, bool is_half = false);

/// The same for stream_large.cu; room: most work memory. Pairs come in turn, in passes.
StreamSizes largeProjectSizes(int multiprocessors,
                              int64_t outputs,
                              int64_t cols,
                              bool is_pair,
                              int weights,
                              int bits,
                              int room);
/// The same for stream_async_large.cu, where rows of more than kPackets columns are there a part at
/// a time and the sums of parts are one. is_plain: no norm meets the row.
StreamSizes asyncLargeSizes(int multiprocessors,
                            int64_t outputs,
                            int64_t cols,
                            bool is_pair,
                            bool is_plain,
                            int weights,
                            int bits,
                            int room);
/// Its most work memory: what two chunks leave of a block's shared memory, and no more than is of
/// use.
int asyncLargeRoom(int shared_bytes);
/// The same for stream_rows_large.cu, whose plain rows are there a part at a time.
StreamSizes largeRowsSizes(int multiprocessors,
                           int64_t outputs,
                           int64_t cols,
                           bool is_pair,
                           bool is_plain,
                           int weights,
                           int bits,
                           int room);
/// Work memory that a projection of both may take: what lies in front of the table of codes, but
/// never so little that a row of 6144 columns would not fit.
int largeWorkRoom(int shared_base);

/// Where things lie in a block's shared memory, of which the dynamic part begins at address
/// `shared_base`; chunk_count = 0: not enough of it. What the alignment of the table of codes
/// leaves in front of it is for the work memory, if that is enough. chunk_bytes: kLargeChunkBytes
/// of stream_large.cu; has_table: not of stream_blocks.cu.
StreamLayout streamLayoutFor(int shared_base,
                             int shared_bytes,
                             int row_bytes,
                             int norm_bytes,
                             int work_bytes,
                             int chunk_bytes = kChunkBytes,
                             bool has_table = true);

/// The same for stream_async.cu and its forms, where dynamic shared memory may begin anywhere.
/// chunk_codes: bytes of codes of the largest tile; has_table: there are 4-bit weights.
StreamLayout asyncLayoutFor(
    int shared_bytes, int row_bytes, int work_bytes, int chunk_codes, bool has_table = true);
/// Chunks ahead of a ring of `chunk_count` that are asked for in the card's cache: ten of a block
/// with those in the ring, and of all blocks no more than half of the cache holds.
int asyncAhead(int64_t l2_bytes, int multiprocessors, int chunk_bytes, int chunk_count);
/// Work memory that a projection of that form takes if it can do with it: what E2B leaves of 99 KiB
/// beside two chunks, more on larger cards and where there is no table of codes.
int asyncWorkRoom(int shared_bytes, bool has_table = true);
/// Cards with bulk copies and less shared memory than this take that form, too.
inline constexpr int kBulkSharedBytes = 196608;

/// Most parts of a query head where a block takes one head (stream_attend_heads.cuh); 0: not in
/// this form.
int headParts(int multiprocessors, int num_heads, int head_dim);

/// Cache ranges that attention of one token is split into, fixed when a graph is captured.
int attendSplits(int multiprocessors, int64_t num_heads, int64_t capacity);

/// Dynamic shared memory of the tensor-core attention of a head size, with `keys` keys a tile and
/// `stages` tiles at a time.
constexpr unsigned flashSharedBytes(int64_t head_dim, int64_t keys, int64_t stages = 1) {
    const int64_t queries = 64;
    return static_cast<unsigned>((queries + 2 * keys * stages) * head_dim * 2 + queries * keys * 2 +
                                 keys * 8 * stages + 4 * queries * 4 + queries * 8);
}

/// The same of flash_small.cu, heads of 256 or 512: 64 queries (less 8 elements each), 16 keys and
/// 16 values; positions of two tiles, votes and ends; of 512 the weights and largest scores that
/// two warps exchange. With the 1024 bytes that may count as a kernel's own less than
/// kSmallSharedBytes.
constexpr unsigned flashSmallBytes(int64_t head_dim) {
    const int64_t queries = 64;
    const int64_t keys = 16;
    const int64_t exchanged = head_dim == 512 ? queries * 32 + queries * 8 : 0;
    return static_cast<unsigned>(queries * (head_dim * 2 - 16) + 2 * keys * head_dim * 2 +
                                 2 * keys * 8 + 64 + 64 + exchanged);
}
/// The same of flash_open.cu, heads of 64 or 72: 128 queries, twice 64 keys and values, rows of
/// whole steps of 16 elements and an odd number of 16-byte places unless that is eight.
constexpr unsigned flashOpenBytes(int64_t head_dim) {
    const int64_t places = head_dim == 64 ? 8 : (head_dim + 15) / 16 * 2 | 1;
    return static_cast<unsigned>((128 + 4 * 64) * places * 16);
}
/// What a block has at most on cards of compute capability 8.6, 8.9 and 12.0; CardOptions may take
/// it for the limit of others.
inline constexpr int kSmallSharedBytes = 101376;

/// The kernel of attention with masks.
struct FlashSizes {
    KernelId kernel = KernelId::attention_reference; ///< That one: no form on tensor cores fits.
    unsigned threads = 0;
    unsigned shared_bytes = 0;
};
/// shared_bytes: most of a block; is_half: queries and results in bf16.
FlashSizes flashSizes(int compute_capability, int shared_bytes, int64_t head_dim, bool is_half);

/// Largest tile product: 128 x 128 where that fills the card, else 64 x 64.
bool usesLargeTiles(int multiprocessors, int64_t m, int64_t n);

/// A product of codes by warp groups (device/prompt/product_wide.cu).
struct WideSizes {
    int rows = 0;  ///< Rows of x in a tile: 128, 192 or 256.
    int parts = 1; ///< Parts of the columns.
};
/// rows: of x; column_tiles: of all weights; pieces: of kProductCodesColumns columns; most_parts:
/// what there is room for; form_rows: 0, or rows of a tile that are asked for. The least time by
/// clocks a stage as measured on an H100.
WideSizes wideSizes(int multiprocessors,
                    int64_t rows,
                    int64_t column_tiles,
                    int64_t pieces,
                    int most_parts,
                    int form_rows);

/// Rows of a product that go in one tile of product_codes.cu.
inline constexpr int64_t kFewRows = 64;

/// How product_codes.cu takes a product.
struct CodesSizes {
    int fragments = 4; ///< Fragments of 16 rows in a tile.
    int groups = 1;    ///< Groups of four warps in a block, each with a share of its columns.
    int parts = 1;     ///< Parts of the columns, none of them empty,
    int64_t part = 1;  ///< of so many pieces.
};
/// column_tiles: of all weights; pieces: of kProductCodesColumns columns; most_parts: 1 or more.
CodesSizes codesSizes(int multiprocessors,
                      int shared_bytes,
                      int64_t rows,
                      int64_t column_tiles,
                      int64_t pieces,
                      int most_parts);

/// A product of bf16 weights by warp groups (device/prompt/product_wide_half.cu).
struct HalfSizes {
    int outputs = 0; ///< For a tile of kProductHalfRows rows: 128, 192, 256 or 320; for a pair
                     ///< those of both weights.
    int parts = 1;   ///< Parts of the columns, none of them empty.
};
/// outputs: of each of `count` weights, of a pair the first counts; parts: between least_parts and
/// most_parts, of at least 256 columns unless least_parts says otherwise; form_outputs: 0, or
/// outputs of a tile that are asked for. The least time by clocks a stage.
HalfSizes halfSizes(int multiprocessors,
                    int64_t rows,
                    const int64_t* outputs,
                    int count,
                    bool is_pair,
                    int64_t cols,
                    int least_parts,
                    int most_parts,
                    int form_outputs);

} // namespace kernels::cuda
