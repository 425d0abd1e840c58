// SPDX-License-Identifier: Apache-2.0
// Argument structures that host launches and device code share: plain data, fixed widths, passed by
// value as kernel parameters. Pointers are device addresses.
#pragma once

#include "kernels/kv_rows.h"
#include "kernels/weight_formats.h"

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define BELFRY_HOST_DEVICE __host__ __device__
#else
#define BELFRY_HOST_DEVICE
#endif

namespace kernels::cuda {

using kernels::Activation; // for files that name this namespace alone
using kernels::WeightLayout;

/// Element types as numbers that both sides agree on (kernels::DType).
inline constexpr int32_t kElementF32 = 1;
inline constexpr int32_t kElementF16 = 2;
inline constexpr int32_t kElementBf16 = 3;
BELFRY_HOST_DEVICE constexpr int32_t elementBytes(int32_t type) {
    return type == kElementF32 ? 4 : 2;
}

/// One linear weight (kernels::WeightView): [rows, cols] in its canonical bytes.
struct WeightArgs {
    const void* data;
    const float* row_scale;
    const float* absmax;
    const uint8_t* absmax_q;
    const float* nested_absmax;
    const float* nested_code;
    int64_t rows;
    int64_t cols;
    float nested_offset;
    int32_t block_size; ///< Blocks: bytes of a row; of a piece of it where blocks are streamed.
    WeightLayout layout;
    uint8_t code_table; ///< As in WeightFormatRow.
    WeightFormat format;
    int32_t expand_type;
};

/// A small vector of any element type; data = nullptr: absent.
struct VectorArgs {
    const void* data;
    int32_t type;
    int32_t pad;
};

/// Rows of a KV cache (kernels/kv_rows.h), as kernels address them.
struct KvRowArgs {
    int32_t type;      ///< kernels::KvType: kElement... where there are no scales.
    int32_t bytes;     ///< In a row.
    int32_t scales_at; ///< Behind the codes; 0: the type has none.
};

struct AttentionKernelArgs {
    const float* q;
    const void* k;
    const void* v;
    float* out;
    const int32_t* query_position;
    const int32_t* key_position;
    const int32_t* query_block;
    const int32_t* key_block;
    int64_t queries;
    int64_t keys;
    int64_t window;
    int32_t num_heads;
    int32_t num_kv_heads;
    int32_t head_dim;
    KvRowArgs rows;
    int32_t is_causal;
    float scale;
    int32_t is_half; ///< q and out are bf16.
};

/// Products of bf16 rows (product.cu; kernels/ops.h, ProductArgs).
struct ProductKernelArgs {
    const void* x;    ///< [m, k] bf16
    const void* w[3]; ///< [n[i], k] bf16
    void* y[3];
    int64_t m, k;
    const float* multiply;
    int64_t multiply_stride;
    int32_t n[3];          ///< Outputs, even.
    int32_t stride[3];     ///< Elements between rows of y.
    int32_t first_tile[3]; ///< Column tiles of the weights before.
    int32_t count;
    int32_t k_part; ///< Columns of a part of k: k, or a multiple of 64.
    int32_t is_bounded;
    Activation activation; ///< Pairs and gates have one.
    float in_low[3], in_high[3], out_low[3], out_high[3];
};

/// Low-rank updates of a product (product_updates.cuh). h has a column for every rank: those of an
/// update begin at a multiple of 8, those of a weight at a multiple of 16; zeros between.
inline constexpr int kUpdatePiece = 8;
inline constexpr int kUpdateBlock = 16;
inline constexpr int kMaxProductUpdates = 12;
inline constexpr int kMaxUpdatePieces = 192;
inline constexpr int kNoUpdate = 255;
struct ProductUpdateArgs {
    const void* a;       ///< [rank, k], aligned to 16 bytes.
    const void* b;       ///< [outputs, rank]
    const float* factor; ///< [1]
    int32_t rank;
    int32_t first; ///< Its first column of h.
    int32_t a_type;
    int32_t b_type;
    int32_t weight;
    int32_t is_whole; ///< 1: four elements of B may be read at once.
};
struct ProductUpdatesArgs {
    const void* x; ///< [m, k] bf16
    void* h;       ///< [m, kUpdateBlock * first_block[3]] bf16
    int64_t m;
    int32_t k;
    float in_low[3], in_high[3]; ///< Bounds of x for the updates of weight i.
    int32_t first_block[4];      ///< Blocks of columns before weight i; [3]: all.
    ProductUpdateArgs update[kMaxProductUpdates];
    uint8_t owner[kMaxUpdatePieces]; ///< The update of each piece of h, or kNoUpdate.
};

/// For product_codes.cu: w[] instead of product.w, all in one 4-bit format with blocks of 64.
struct ProductCodesArgs {
    ProductKernelArgs product;
    WeightArgs w[3];
};
/// Bytes of shared memory of a block of 16 `fragments` rows and so many groups of four warps.
BELFRY_HOST_DEVICE constexpr int32_t productCodesShared(int32_t fragments, int32_t groups) {
    return 32768 + groups * (3 * (fragments * 2048 + 4096) + 2048) + 2048;
}
constexpr int kProductCodesColumns = 256; ///< Columns are a multiple of this.
/// product_wide.cu: rows of weights in a tile, and where stages of x begin in shared memory.
constexpr int kProductWideOutputs = 128;
constexpr int kProductWideStagesAt = 35840;
/// Stages of x for tiles of so many rows.
constexpr int productWideStages(int rows) {
    return rows <= 128 ? 8 : rows <= 192 ? 6 : 5;
}
/// Bytes of shared memory of a block; results pass through the same place.
constexpr int productWideShared(int rows) {
    const int loop = kProductWideStagesAt + productWideStages(rows) * rows * 128;
    const int results = rows * (kProductWideOutputs + 4) * 4;
    return loop > results ? loop : results;
}
/// x: its tensor map, boxes of a tile's rows and 64 columns.
struct alignas(64) ProductWideArgs {
    uint64_t x_map[16];
    ProductCodesArgs codes;
};

/// product_wide_half.cu: rows of x in a tile, where stages begin in shared memory, and the
/// largest number of outputs in a tile (of a pair half as many of each weight).
constexpr int kProductHalfRows = 128;
constexpr int kProductHalfStagesAt = 1024;
constexpr int kProductHalfMostOutputs = 320;
/// Stages of both operands for tiles of so many outputs, and bytes of shared memory of a block.
constexpr int productHalfStages(int outputs) {
    return outputs <= 128 ? 6 : outputs <= 192 ? 5 : 4;
}
constexpr int productHalfShared(int outputs) {
    return kProductHalfStagesAt + productHalfStages(outputs) * (kProductHalfRows + outputs) * 128;
}
/// Outputs of a copy, which are at most 256: of two of a tile, or all.
constexpr int productHalfBox(int outputs, bool is_pair) {
    return is_pair || outputs > 256 ? outputs / 2 : outputs;
}
/// Tensor maps of x (boxes of kProductHalfRows) and of the weights (of productHalfBox()), 64
/// columns each. product: without bounds; first_tile counts tiles of this kernel.
struct alignas(64) ProductHalfArgs {
    uint64_t x_map[16];
    uint64_t w_map[3][16];
    ProductKernelArgs product;
    int32_t row_tiles, column_tiles;
    int32_t tiles; ///< row_tiles * column_tiles * parts of k.
};

/// Several weights expanded to bf16 by one launch (expand.cu).
struct ExpandArgs {
    WeightArgs w[3];
    int64_t first[3]; ///< First row;
    int64_t rows[3];  ///< rows.
    void* to[3];
    int64_t blocks[3]; ///< Blocks of the grid up to and with weight i.
};

/// Residual, norm and rounding of whole rows (rows.cu; kernels/ops.h, NormRowsArgs).
struct NormRowsKernelArgs {
    float* x;       ///< [rows, cols]
    const float* t; ///< [parts, rows, cols] or nullptr
    void* h;        ///< [rows, cols] bf16 or nullptr
    VectorArgs t_norm, norm;
    int64_t rows;
    int32_t cols, parts;
    int32_t has_norm, has_t_norm;
    float scalar, eps;
};

/// Norms, RoPE and rounding of heads (rows.cu; kernels/ops.h, HeadRowsArgs).
struct HeadRowsKernelArgs {
    const float* q; ///< [parts, rows, heads, dim]
    const float* k; ///< [parts, rows, kv_heads, dim] or nullptr
    const float* v;
    VectorArgs q_norm, k_norm;
    const int32_t* position;
    const int32_t* position_2; ///< Positions for the second half of a head; nullptr: one rotation.
    const float* inv_freq;
    void* q_to;    ///< [rows, heads, dim] bf16
    void* k_to[2]; ///< [capacity[i]] rows
    void* v_to[2];
    const int32_t* slot[2]; ///< nullptr: row i to row i
    int64_t first[2];       ///< Rows before it are not stored there.
    int64_t capacity[2];
    int64_t rows;
    int32_t heads, kv_heads, dim, parts;
    KvRowArgs kv; ///< bf16 or Q8.
    int32_t norms_values;
    float eps;
};

/// How a projection step makes its input row h (kernels/ops.h, ProjectArgs).
inline constexpr int32_t kInputPlain = 0; ///< h = x
inline constexpr int32_t kInputNorm = 1;  ///< h = rms(x) * norm
inline constexpr int32_t kInputResidualNorm =
    2; ///< r = (x + rms(t) * t_norm) * scalar; x_out = r; h = rms(r) * norm
inline constexpr int32_t kInputResidual = 3; ///< the same r; h = r
/// What it does with the products.
inline constexpr int32_t kOutputStore = 0;         ///< y[i] = W[i] h
inline constexpr int32_t kOutputGatedPair = 1;     ///< y[0] = act(W[0] h) * (W[1] h)
inline constexpr int32_t kOutputGatedMultiply = 2; ///< y[0] = act(W[0] h) * multiply

/// Low-rank updates that one projection step can add; more run as single functions.
inline constexpr int32_t kMaxLora = 12;
/// Updates of the next step whose A this step can multiply with its own outputs.
inline constexpr int32_t kMaxTaps = 4;

/// One low-rank update of one weight of a step (kernels/ops.h, ProjectLora).
struct LoraArgs {
    const void* a;       ///< [rank, cols]
    const void* b;       ///< [rows of the weight, rank]
    const float* factor; ///< [1]
    int32_t rank;
    int32_t first; ///< Ranks of all updates before it; those of one weight lie together.
    int16_t weight;
    int16_t tile; ///< stream.cu: tiles of kLoraTileRanks before it.
    int32_t a_type;
    int32_t b_type;
    int32_t b_offset; ///< stream.cu: where its B begins, from lora_at.
};

/// Updates of one linear layer for many rows (kernels/ops.h, LoraTerm).
inline constexpr int32_t kMaxLoraTerms = 8;
struct LoraTermArgs {
    const void* a;   ///< [rank, cols]
    const void* b;   ///< [outputs, rank]
    VectorArgs bias; ///< [outputs] or absent
    float scaling;
    int32_t rank;
    int32_t first; ///< Ranks of the updates before it.
    int32_t tile;  ///< Tiles of 16 ranks before it.
    int32_t a_type;
    int32_t b_type;
};
struct LoraBatchArgs {
    LoraTermArgs term[kMaxLoraTerms];
    int32_t count;
    int32_t cols;
};

/// A of one update of the step that takes y[0] as its input.
struct TapArgs {
    const void* a; ///< [rank, outputs]
    int32_t rank;
    int32_t first;
    int32_t type;
    int32_t pad;
};

/// Counters of launches at the edges of a token, zero between them: the last block to finish does
/// what needs the results of all.
inline constexpr int kMaxEdgeSlices = 256;
struct EdgeCounters {
    unsigned long long best;        ///< Largest key so far.
    int32_t done;                   ///< Blocks that have added theirs.
    int32_t broken;                 ///< A block has met NaN or +infinity.
    int32_t slices[kMaxEdgeSlices]; ///< Blocks of each slice of the per-layer inputs that are done.
};

/// Numbers of a token (kernels/ops.h, TokenNumbers).
struct TokenNumberArgs {
    int32_t position;
    int32_t sliding_slot, full_slot;
    int32_t sliding_count, full_count;
    int32_t token;
    int32_t unused[10];
};

/// top_logits.cu: the most groups of neighbours that a row of logits falls into.
inline constexpr int kMaxLogitGroups = 2048;
/// Candidates among the logits of a row (kernels/ops.h, TopLogits).
inline constexpr int kMostTopLogits = 512;
inline constexpr int kTopSeeRow = -1;
struct TopLogitArgs {
    int32_t count;
    int32_t unused;
    struct {
        int32_t token;
        float logit;
    } entry[kMostTopLogits];
};

/// The end of a draft (draft_choice.cu; kernels/ops.h, DraftNumbers and DraftChoiceArgs).
inline constexpr int kMostDraftNumbers = 31;
struct DraftNumberArgs {
    TokenNumberArgs at;
    int32_t count;
    int32_t draft[kMostDraftNumbers];
};
inline constexpr int kMostDraftColumns = 2048;
struct DraftChoiceKernelArgs {
    const float* logits; ///< [tokens] or [groups]
    const uint32_t* suppressed;
    WeightArgs table; ///< [tokens, cols] in 16 or 32 bits
    const int32_t* ordering;
    const float* x; ///< [cols]
    VectorArgs norm;
    EdgeCounters* counters;
    DraftNumberArgs* numbers;
    int32_t* told;
    int32_t tokens;
    int32_t groups, top;
    int32_t group_size;
    int32_t parts; ///< Blocks of a group.
    float eps;
};

/// What stands before the layers of a token (token_input.cuh; kernels/ops.h, TokenInputArgs).
inline constexpr int kEdgeThreads = 256;
inline constexpr int kTokenRows = 32;       ///< Rows of the projection in a block.
inline constexpr int kMaxTokenWidth = 1024; ///< The widest slice.
struct TokenInputKernelArgs {
    WeightArgs embedding;  ///< [vocabulary, cols of projection]; without data: x holds the row.
    WeightArgs table;      ///< [vocabulary, rows of projection], where there is no token_part.
    WeightArgs projection; ///< [slices * width, hidden]
    VectorArgs norm;       ///< [width]
    const int32_t* token;  ///< [1]
    const float* token_part;
    float* x;
    float* t;
    float* y;
    EdgeCounters* counters;
    int32_t width;
    int32_t block_shift; ///< log2 of the 4-bit block size.
    int32_t x_elements;  ///< hidden rounded up to 512.
    float embedding_scale, table_scale;
    float eps, before, after;
};
/// Dynamic shared memory of it; blocks: of 4-bit absmax in a row, 0: another format.
BELFRY_HOST_DEVICE constexpr int32_t
tokenInputBytes(int32_t cols, int32_t x_elements, int32_t blocks) {
    return (blocks > 0 ? 256 * 32 * 4 + 256 * 4 : 0) + x_elements * 2 + cols * 4 + 64 * 4 +
           kTokenRows * blocks * 4;
}

/// How a step gets what the step before has made (stream.cu).
inline constexpr int32_t kLinkNone = 0;    ///< From memory: it was complete before the launch.
inline constexpr int32_t kLinkPackets = 1; ///< Values that carry the number of their step.
inline constexpr int32_t kLinkFlags = 2;   ///< From memory, behind one flag of every block.
inline constexpr int32_t kLinkWide = 3;    ///< Three values of 19 bits in a packet.
/// stream_rows.cu: packets of rows behind flags, where some blocks have no result to wait for.
inline constexpr int32_t kLinkBoth = 4;

/// Shared memory in which a step keeps fp32 rows while it makes its input: r, t and both norms.
BELFRY_HOST_DEVICE constexpr int32_t inputRowBytes(int32_t input, int32_t cols) {
    return input == kInputPlain ? 0 : 16 * cols;
}

/// Units of a step at most.
inline constexpr int kMaxLoraUnits = 512;

/// What a step with weights in blocks may be: their formats differ; pieces of rows begin anywhere
/// between whole 16 bytes.
inline constexpr int16_t kBlocksDiffer = 1;
inline constexpr int16_t kBlocksUnaligned = 2;

struct ProjectKernelArgs {
    WeightArgs w[3];
    float* y[3];
    int32_t count; ///< Weights in use.
    int32_t input;
    int16_t output;
    Activation activation;
    int32_t cols;
    int32_t outputs;     ///< Results of all weights together (a pair gives one).
    int32_t block_shift; ///< log2 of the 4-bit block size.
    // stream.cu only.
    int32_t units;      ///< 32-byte units of a weight row; in blocks: 64 columns, of a piece.
    int32_t tile_shift; ///< log2 of the rows of a tile: 16 over the folds of a row.
    int32_t share;      ///< Outputs of a block, in multiples of `grain`;
    int32_t extra;      ///< blocks that have one grain more.
    int16_t grain;
    /// A row of 16 bits or in blocks has a tile each. In stream_large.cu: parts of the columns, one
    /// after the other for all tiles of a pass; `units` are those of a part.
    int16_t pieces;
    int32_t pass_tiles; ///< Tiles whose sums are in shared memory at a time.
    // For weights in blocks:
    int16_t slot_bytes; ///< From row to row in a chunk; 0: they are not in blocks.
    int16_t block_traits;
    // What is above is all that fetching needs.
    int32_t link;        ///< How t (residual inputs) or else x arrives.
    int32_t publish;     ///< How the next step wants the outputs.
    int32_t keeps_row;   ///< The residual row x is in shared memory.
    int32_t wide_region; ///< For kLinkWide: where, and the how manieth use of it in this launch.
    int32_t wide_use;
    int32_t publish_use;
    float inverse_cols;
    const float* x;
    const float* t;
    float* x_out;
    const float* multiply;
    VectorArgs t_norm;
    VectorArgs norm;
    float scalar;
    float eps;
    int32_t rows_per_warp; ///< 1, 2 or 4 rows whose loads are in flight together.
    int32_t k_split;       ///< Warps that share one row group: 1, 2, 4, 8 or 16.
    int32_t x_elements;    ///< cols rounded up to 512.
    int32_t local_rows;    ///< Most weight rows that a block owns.
    int32_t lora_next; ///< stream.cu: steps from this one with updates to the next; 0: the last.
    // Updates whose B stays in memory (stream_direct.cuh, stream_rows_lora.cuh).
    int16_t direct_at;   ///< Where DirectUpdates or RowUpdates lie, in 16 bytes of the work memory;
                         ///< 0: none.
    int16_t direct_turn; ///< Parity of the step's number among those with updates.

    LoraArgs lora[kMaxLora];
    TapArgs tap[kMaxTaps];
    int32_t lora_count;
    int32_t tap_count;
    int32_t lora_first[4];  ///< Ranks of the weights before weight j; [3]: of all.
    int32_t lora_width;     ///< Most ranks of one weight.
    int32_t tap_ranks;      ///< Ranks of all taps together.
    const float* lora_sums; ///< [ranks, lora_parts]: A h of the step before; nullptr: made here.
    float* tap_sums;        ///< [tap_ranks, tap_parts]
    int32_t lora_parts;
    int32_t tap_parts; ///< Blocks of this step.
    // Streamed steps, whose A h is made once in the grid (unit_piece.cuh): unit u is row
    // u >> lora_shift of A (of all updates) times a chunk of lora_columns columns, the lower bits.
    uint64_t* lora_slots; ///< [lora_units]: value and tag, kUnitSlot apart.
    int32_t lora_units;   ///< 0: the step has no updates.
    int32_t lora_columns; ///< A multiple of 64.
    int16_t lora_shift;
    int16_t lora_own; ///< Most units of a block.
    // stream.cu only.
    int16_t lora_next_late; ///< lora_late of the next step with updates, or 1.
    int16_t lora_turn;      ///< Parity of the step's number among those with updates.
    int32_t lora_pitch;     ///< Bytes from A of one unit of a block to the next one's.
    int32_t lora_step;      ///< Number of the step among those of its launch with updates.
    int32_t lora_at;        ///< Where operands lie, from the start of the work memory.
    int16_t lora_late;  ///< 0: they come during the step with updates before; 1: when this begins.
    int16_t lora_tiles; ///< Tiles of kLoraTileRanks that the ranks of one update fill.
    int16_t lora_is_ragged;  ///< 1: there are tiles that are not full.
    int16_t lora_is_early;   ///< 1: A h is made of the residual row's two parts, before its planes.
    int32_t multiply_stride; ///< stream_rows.cu: between rows of multiply.
};

struct AttendStepKernelArgs {
    const float* q; ///< [num_heads, head_dim] as projected
    const float* k; ///< [num_kv_heads, head_dim] as projected; nullptr: a KV-shared reader
    const float* v;
    VectorArgs q_norm;
    VectorArgs k_norm;
    const float* inv_freq;
    const int32_t* position;     ///< [1]
    const int32_t* slot;         ///< [1] cache row of the new token
    const int32_t* key_position; ///< [capacity]
    const int32_t* key_count;    ///< [1] slots in use
    void* cache_k;               ///< [capacity] rows
    void* cache_v;
    float* out;       ///< [num_heads, head_dim]
    float* partial;   ///< [num_heads, splits, head_dim + 2]
    int32_t* counter; ///< [2, num_heads / heads_per_block], zero between steps
    int64_t window;   ///< 0 = unlimited
    int32_t num_heads;
    int32_t num_kv_heads;
    int32_t head_dim;
    int32_t splits;
    float scale;
    float eps;
    int32_t turn;   ///< Queries are turned as at position + turn.
    KvRowArgs rows; ///< bf16 or Q8.
    // Streamed steps.
    int32_t capacity; ///< Cache rows.
    /// Position p lies in row p % capacity: rows beyond the window are not read.
    int16_t is_ring;
    int16_t norms_values;
    int32_t link;       ///< How q, k and v arrive.
    int32_t publish;    ///< How out is handed on.
    int32_t head_parts; ///< Most parts of one query head; 0: by tiles only.
};

/// One step of a decoded token for the kernels that run them all (stream.cu).
inline constexpr int32_t kStepProject = 0;
inline constexpr int32_t kStepAttend = 1;
struct alignas(16) TokenStep {
    int32_t kind;
    int32_t pad[3];
    union {
        ProjectKernelArgs project;
        AttendStepKernelArgs attend;
    };
};
/// What fetching needs of a step: its beginning.
inline constexpr int kStepHeadBytes = 352;
static_assert(offsetof(TokenStep, project) + offsetof(ProjectKernelArgs, link) <= kStepHeadBytes,
              "the rest is not copied");
/// Steps of which the arguments are in shared memory at a time.
inline constexpr int kStepRing = 4;
/// A step's arguments are asked for when the one so many before it begins. They take the place of
/// the step that has just ended.
inline constexpr int kStepsAsked = kStepRing - 1;
/// Attention by tiles (stream_attend.cuh): heads of one part.
inline constexpr int kTileHeads = 8;

/// Warps that compute, and warps that fetch weights for them.
inline constexpr int kComputeWarps = 12;
inline constexpr int kComputeThreads = kComputeWarps * 32;
inline constexpr int kFetchWarps = 4;
inline constexpr int kStreamThreads = kComputeThreads + kFetchWarps * 32;
/// A tile is 16 rows of up to 24 units of 32 bytes for the tensor cores, and it is one chunk of
/// weights: whole rows behind each other as in memory, that one copy brings, and their absmax
/// values in the same order. A row of more units is 2, 4 or 8 stretches of columns (folds), which
/// are rows of the tile: so many rows fewer has it.
inline constexpr int kTileShift = 4;
inline constexpr int kTileRows = 1 << kTileShift;
inline constexpr int kUnitBytes = 32;
inline constexpr int kChunkUnits = 24;
inline constexpr int kChunkCodeBytes = kTileRows * kChunkUnits * kUnitBytes;
inline constexpr int kChunkBytes = kChunkCodeBytes + kChunkUnits * kTileRows * 4;
inline constexpr int kMaxChunks = 16;
/// stream_blocks.cu: at most 16 rows of 1536 columns in 6.6 bits, one after the other in other
/// banks.
inline constexpr int kBlockChunkBytes = kTileRows * 1296;
/// stream_large.cu: 21 units a row of a tile, what rows of 5376 and 21504 columns are made of.
inline constexpr int kLargeChunkUnits = 21;
inline constexpr int kLargeChunkCodeBytes = kTileRows * kLargeChunkUnits * kUnitBytes;
inline constexpr int kLargeChunkBytes = kLargeChunkCodeBytes + kLargeChunkUnits * kTileRows * 4;
/// Every pair of 4-bit codes as two fp16, once for each lane. Entries begin 256 bytes apart and the
/// table at a multiple of 64 KiB, so that a byte of codes is a byte of its entry's address. Behind
/// each entry is a gap of 128 bytes (GapRows).
inline constexpr int kCodePairs = 256;
inline constexpr int kCodeEntryBytes = 256;
inline constexpr int kCodeGapOffset = 32 * 4;
inline constexpr int kCodeTableBytes = kCodePairs * kCodeEntryBytes;
inline constexpr int kCodeTableAlignment = 1 << 16;
/// Six barriers (UnitSignals), aligned to 16 bytes.
inline constexpr int kUnitSignalBytes = 48;
/// stream_async.cu has three of them.
inline constexpr int kAsyncSignalBytes = 32;
/// Offsets in shared memory count from the table of codes. Behind it: two barriers a chunk, the
/// signals about low-rank updates, a barrier for each step of the ring and two for norms and, for
/// each fetching warp, the heads of two steps; then the ring of steps.
inline constexpr int kUnitSignalsOffset = kCodeTableBytes + 2 * kMaxChunks * 8;
inline constexpr int kStepBarriersOffset = kUnitSignalsOffset + kUnitSignalBytes;
inline constexpr int kStepHeadsOffset = kStepBarriersOffset + (kStepRing + 2) * 8;
inline constexpr int kStreamStepsOffset = kStepHeadsOffset + kFetchWarps * 2 * kStepHeadBytes;

// --- stream_async.cu, stream_async_half.cu and stream_async_large.cu: offsets count from the
// beginning of dynamic shared memory. ---

inline constexpr int kAsyncFetchWarps = 2;
/// One for each fetching warp, or it would take a barrier's phase for another.
inline constexpr int kAsyncFewestChunks = kAsyncFetchWarps;
/// One more asks memory for what the fetching warps will need.
inline constexpr int kAsyncThreads = kComputeThreads + (kAsyncFetchWarps + 1) * 32;
/// The part of a step's arguments before those of low-rank updates; a lane brings 16 bytes.
inline constexpr int kAsyncStepBytes = 512;
static_assert(offsetof(TokenStep, project) + offsetof(ProjectKernelArgs, lora) <= kAsyncStepBytes &&
                  offsetof(TokenStep, attend) + sizeof(AttendStepKernelArgs) <= kAsyncStepBytes &&
                  kAsyncStepBytes % 16 == 0 && kAsyncStepBytes <= 32 * 16,
              "all that a step without updates needs");
/// With low-rank updates there is a warp for those behind it.
inline constexpr int kAsyncUpdateThreads = kAsyncThreads + 32;
/// Two barriers a chunk, one for each step of the ring, how many chunks have been asked for, the
/// signals about low-rank updates, a step's head for each fetching warp, the ring of steps,
/// constants of attention; then the table of codes, where there is one, and, behind it without a
/// gap, the work memory.
inline constexpr int kAsyncStepBarriersOffset = 2 * kMaxChunks * 8;
inline constexpr int kAsyncAskedOffset = kAsyncStepBarriersOffset + kStepRing * 8;
inline constexpr int kAsyncSignalsOffset = kAsyncAskedOffset + 16;
inline constexpr int kAsyncHeadsOffset = kAsyncSignalsOffset + kAsyncSignalBytes;
inline constexpr int kAsyncStepsOffset = kAsyncHeadsOffset + kAsyncFetchWarps * kStepHeadBytes;
inline constexpr int kAsyncAttendOffset = kAsyncStepsOffset + kStepRing * kAsyncStepBytes;
inline constexpr int kDenseEntryBytes = 32 * 4;
inline constexpr int kDenseTableBytes = kCodePairs * kDenseEntryBytes;

/// Steps note clocks in builds that are for measuring (CMake: BELFRY_TRACE).
#ifdef BELFRY_TRACE
inline constexpr bool kHasTrace = true;
#else
inline constexpr bool kHasTrace = false;
#endif
/// Clocks of a step: at its start, with the input there, with its planes made, with the products
/// done and at its end. A step with low-rank updates also has those of their warp: when it begins
/// to wait for the input, has given its sum to the others, has theirs and has what is to be added.
inline constexpr int kStreamMarks = 5;
inline constexpr int kUnitMarks = 4;
inline constexpr int kTraceMarks = kStreamMarks + kUnitMarks;
/// Values that a step may publish as packets of eight bytes, and steps before their place is used
/// again.
inline constexpr int kPackets = 6144;
inline constexpr int kPacketSteps = 8;
/// Values of a wide row, and places for such rows: one for each width, so that all of a place is
/// written every time.
inline constexpr int kWideValues = 16384;
inline constexpr int kWidePackets = (kWideValues / 3 + 3) / 2 * 2; ///< Read in pairs.
inline constexpr int kWideRegions = 2;
/// stream_large.cu: values that a step may publish as packets (q, k and v of 31B), in places of its
/// own behind those of the others, and columns of a row.
inline constexpr int kLargePackets = 18432;
inline constexpr int kLargeColumns = 24576;
/// Blocks of 64 columns of it that a warp takes at a time: two packets a lane.
inline constexpr int kWideBlocks = 3;
/// Columns of a row that every thread takes at once (isShort()).
inline constexpr int kShortRow = 2 * 4 * kComputeThreads;
/// Keys of a tile of attention.
inline constexpr int kTileKeys = 32;
/// Attention by heads (stream_attend_heads.cuh): keys that a warp has in registers, keys of a
/// block, most parts of a head, and packets of all parts.
inline constexpr int kWarpKeys = 4;
inline constexpr int kHeadKeys = kComputeWarps * kWarpKeys;
inline constexpr int kHeadParts = 16;
inline constexpr int kPartPackets = 66 << 10;
/// Packets of stream_large.cu are behind all of those, and the flags of its results behind as many
/// of others.
inline constexpr int kLargePacketsAt =
    kPacketSteps * kPackets + kWideRegions * kWidePackets + kPartPackets;
inline constexpr int kLargeFlags = 256;

/// What a block needs to know of the updates of one step (unit_plan.cuh), made once for all
/// tokens: a warp takes five to eight clocks an instruction that runs once a step.
inline constexpr int kPlannedCopies =
    6; ///< Copies of A for the block's units and of B for its rows.
inline constexpr int kPlannedTiles = 4; ///< Tiles of ranks times the block's rows of a weight.
struct UnitCopy {
    const void* from;
    int32_t bytes; ///< 0: none.
    int32_t to;    ///< From the start of the work memory.
};
/// A tile of ranks of an update times the block's rows of its weight.
struct UnitJob {
    int32_t b; ///< Where the ranks of the first row lie, from the start of the work memory.
    int16_t rows;
    int16_t row_bytes;
    int16_t left_bytes; ///< Bytes of a row, from those ranks on.
    int16_t to;         ///< The first row's sum.
    int16_t tile;       ///< Which tile of ranks, among those whose sums are collected at once.
    int8_t type;        ///< Element type of B.
    int8_t is_more;     ///< 1: these rows have sums already.
};
struct alignas(16) UnitPlan {
    UnitCopy copy[kPlannedCopies];
    const float* factor; ///< A of the block's first unit, and its packet, columns and type.
    int32_t packet;
    int32_t column;
    int32_t columns;
    int16_t type;
    int16_t jobs;
    int32_t clears; ///< 1: there are rows of weights without an update.
    int32_t unused;
    UnitJob job[kPlannedTiles];
};
static_assert(sizeof(UnitJob) == 16 && sizeof(UnitPlan) == 192);

/// Rows of a step of stream_rows.cu at most, and keys of a part of its attention as long as there
/// are blocks for more: those that its warps have in registers.
inline constexpr int kStreamRows = 4;
/// Results that a step of it may publish as packets of 16 bytes, and steps before their place is
/// used again: who reads those of one step has not published the next one's.
inline constexpr int kRowPackets = 6144;
inline constexpr int kRowPacketSteps = 4;
inline constexpr int kRowPartKeys = 4 * kComputeWarps;

/// Where things lie in shared memory, in bytes from the table of codes.
struct StreamLayout {
    int32_t table;  ///< From the beginning of dynamic shared memory to the table.
    int32_t attend; ///< Constants of attention.
    int32_t norms;  ///< Norms of a step, as they are stored: two vectors of norm_bytes.
    int32_t norm_bytes;
    int32_t row;    ///< The residual row in fp32.
    int32_t work;   ///< What one step uses; negative: in front of the table.
    int32_t chunks; ///< [chunk_count, kChunkBytes]
    int32_t chunk_count;
    int32_t wide_uses[kWideRegions]; ///< Uses in this launch.
    int32_t code_table;              ///< That of all its weights of codes; 0: there are none.
    int32_t unit_steps;              ///< Steps with low-rank updates: the last warp is for them.
    int32_t first_unit_step;
    const UnitPlan* plans; ///< [unit_steps, blocks]; nullptr: made on the way.
    int32_t chunk_bytes;   ///< stream_blocks.cu and stream_async.cu.
    // stream_async.cu only; there `table` is an offset like the others.
    int32_t work_bytes;  ///< Size of the work memory, which lies behind the table.
    int32_t chunk_codes; ///< Codes of a chunk; its absmax values follow.
    int32_t ahead;       ///< Chunks that may be on their way into the cache of the card.
};

/// Work memory of a projection (StreamWork): sums of warps for the norms, scales of up to 256
/// blocks of 64 columns,
inline constexpr int kStreamNormSums = 512;
inline constexpr int kStreamScaleBytes = 1024;
static_assert(kWideValues / 64 * 4 <= kStreamScaleBytes);
/// the input as fp16, a row that meets norms as it was taken, sums of warps of the products.
BELFRY_HOST_DEVICE constexpr int32_t streamTakenBytes(int32_t cols, bool is_plain) {
    return is_plain ? 0 : 4 * cols;
}
BELFRY_HOST_DEVICE constexpr int32_t
streamProjectBytes(int32_t cols, int32_t pass_sums, bool is_plain) {
    return kStreamNormSums + kStreamScaleBytes + (cols > kPackets ? 2 * cols : 4 * cols) +
           streamTakenBytes(cols, is_plain) + pass_sums * kComputeWarps * 4;
}
/// The same of stream_large.cu, where a row that meets norms stays in registers.
inline constexpr int kLargeScaleBytes = kLargeColumns / 64 * 4;
BELFRY_HOST_DEVICE constexpr int32_t largeProjectBytes(int32_t cols, int32_t pass_sums) {
    return kStreamNormSums + kLargeScaleBytes + (cols > kPackets ? 2 : 4) * cols +
           pass_sums * kComputeWarps * 4;
}
/// The same of stream_async.cu, which has no more scales than there are blocks, and sums for norms
/// only where there may be one (not of a plain input).
BELFRY_HOST_DEVICE constexpr int32_t asyncScaleBytes(int32_t cols) {
    return (cols / 64 * 4 + 15) / 16 * 16;
}
BELFRY_HOST_DEVICE constexpr int32_t
asyncProjectBytes(int32_t cols, int32_t pass_sums, bool has_taken, bool is_plain) {
    return streamProjectBytes(cols, pass_sums, !has_taken) - kStreamScaleBytes +
           asyncScaleBytes(cols) - (is_plain ? kStreamNormSums : 0);
}
/// And of stream_async_half.cu, of bf16 weights: two parts of bf16 of wide rows as well.
BELFRY_HOST_DEVICE constexpr int32_t
asyncHalfBytes(int32_t cols, int32_t pass_sums, bool has_taken, bool is_plain) {
    return asyncProjectBytes(cols, pass_sums, has_taken, is_plain) +
           (cols > kPackets ? 2 * cols : 0);
}
/// And of stream_async_large.cu. cols: of the input as far as it is there at a time.
BELFRY_HOST_DEVICE constexpr int32_t
asyncLargeBytes(int32_t cols, bool is_wide, int32_t pass_sums, bool is_plain) {
    return (is_plain ? 0 : kStreamNormSums) + asyncScaleBytes(cols) + (is_wide ? 2 : 4) * cols +
           pass_sums * kComputeWarps * 4;
}
/// Work memory of a projection of rows (RowsWork): sums of warps, scales, the input as fp16 (of a
/// wide row two of them: one lies in the gaps of the table, one in the place of the residual row),
/// sums of warps of the products, the results of a pair's first weight.
inline constexpr int kRowsScales = kWideValues / 64;
BELFRY_HOST_DEVICE constexpr int32_t
streamRowsProjectBytes(int32_t cols, int32_t pass_sums, int32_t held_rows) {
    return held_rows * kStreamRows * 4 + kStreamNormSums + kRowsScales * 4 +
           (cols > kPackets ? 2 : kStreamRows) * cols * 2 +
           pass_sums * kStreamRows * kComputeWarps * 4;
}
/// The same of stream_rows_large.cu: rows of up to 85 blocks of 64 columns, of which three lie in
/// the gaps of the table.
inline constexpr int kLargeGapRows = 3;
inline constexpr int kLargeRowColumns = kCodePairs / kLargeGapRows * 64;
BELFRY_HOST_DEVICE constexpr int32_t largeRowsProjectBytes(int32_t cols, int32_t pass_sums) {
    return kStreamNormSums + kRowsScales * 4 + (kStreamRows - kLargeGapRows) * cols * 2 +
           pass_sums * kStreamRows * kComputeWarps * 4;
}
/// What a step of rows with low-rank updates has behind that (RowUpdates): A h of its `ranks` ranks
/// for every row, whose rows begin at different banks.
BELFRY_HOST_DEVICE constexpr int32_t rowUpdatePitch(int32_t ranks) {
    return (ranks + 31) / 32 * 32 + 8;
}
BELFRY_HOST_DEVICE constexpr int32_t rowUpdateBytes(int32_t ranks) {
    return ranks > 0 ? kStreamRows * rowUpdatePitch(ranks) * 4 : 0;
}
/// Work memory of attention of rows (RowsAttendWork): queries, turns and what packets brought
/// (later the sums of three groups of keys), products of 48 keys, their scores, maxima and totals,
/// a word. New keys and values lie in the place of the residual row.
BELFRY_HOST_DEVICE constexpr int32_t streamRowsAttendBytes(int32_t head_dim) {
    return 2 * kStreamRows * (head_dim + 32) * 2 + 4 * kStreamRows * head_dim * 4 +
           (4 * 2 + 1) * kStreamRows * kRowPartKeys * 4 + kStreamRows * 8 + 16;
}
/// Tensor cores take updates in tiles (rank_tiles.cuh): so many ranks of one update, which are the
/// depth of a product, times so many chunks of A's columns, the columns of its right operand.
inline constexpr int kLoraTileRanks = 16;
inline constexpr int kLoraTileColumns = 8;
/// 64-bit words from one packet of an update's sums to the next: a sector of 32 bytes each.
inline constexpr int kUnitSlot = 4;
/// Operands of a step's updates (stream_lora.cuh) begin with the sums of the block's rows. Behind
/// them, where a short residual row is the input, is A of a unit once more, times norms, in fp32
/// (EarlyUnit), 256 columns at a time. Of longer rows (E4B's 2560) that was slower.
inline constexpr int kMostEarlyRow = 2048;
inline constexpr int kMostEarlyColumns = 768;
BELFRY_HOST_DEVICE constexpr int32_t
streamNormedBytes(int32_t input, int32_t cols, int32_t columns) {
    const bool is_residual = input == kInputResidualNorm || input == kInputResidual;
    return is_residual && cols <= kMostEarlyRow && columns <= kMostEarlyColumns
               ? (columns + 255) / 256 * 1024
               : 0;
}
BELFRY_HOST_DEVICE constexpr int32_t streamUpdateBytes(int32_t weights, int32_t local_rows) {
    return (weights * local_rows + 3) / 4 * 16;
}
/// What a step has there whose updates stay in memory (stream_direct.cuh): those sums and A h.
BELFRY_HOST_DEVICE constexpr int32_t
directUpdateBytes(int32_t weights, int32_t local_rows, int32_t ranks) {
    return streamUpdateBytes(weights, local_rows) + (ranks + 3) / 4 * 16;
}
/// Behind the residual row: cosines and sines of both kinds of attention, and what else of them
/// stays the same for a whole token (AttendConstants).
inline constexpr int kTurnFloats = 512;
inline constexpr int kAttendConstantBytes = 2 * (kTurnFloats * 4 + 80);
inline constexpr int kAsyncTableOffset = kAsyncAttendOffset + kAttendConstantBytes;
static_assert(kAsyncSignalsOffset % 16 == 0 && kAsyncHeadsOffset % 16 == 0 &&
              kAsyncStepsOffset % 16 == 0 && kAsyncAttendOffset % 16 == 0 &&
              kAsyncTableOffset % 16 == 0);
/// Work memory of attention (AttendWork).
BELFRY_HOST_DEVICE constexpr int32_t streamAttendBytes(int32_t head_dim) {
    return (kTileKeys + 2 * kTileHeads) * (head_dim * 2 + 16) +
           2 * 2 * kTileHeads * (kTileKeys + 1) * 4 + 2 * kTileHeads * (kTileKeys * 2 + 16) + 256 +
           16 * kComputeWarps * 4 + 2 * (head_dim * 2 + 16);
}
/// The same by heads (HeadWork): never more.
BELFRY_HOST_DEVICE constexpr int32_t streamHeadBytes(int32_t head_dim) {
    return (1 + kComputeWarps) * (head_dim * 4 + 64) + kComputeWarps * 8 + 2 * head_dim * 2;
}
static_assert(streamHeadBytes(32) <= streamAttendBytes(32) &&
                  streamHeadBytes(kTurnFloats) <= streamAttendBytes(kTurnFloats),
              "one plan for both; between these sizes too, as both are linear");
/// The same of stream_async.cu: values beside the keys, of wide heads in their place.
inline constexpr int kApartHead = 256;
BELFRY_HOST_DEVICE constexpr int32_t asyncAttendBytes(int32_t head_dim) {
    return streamAttendBytes(head_dim) +
           (head_dim <= kApartHead ? kTileKeys * (head_dim * 2 + 16) : 0);
}
/// Absmax of a chunk with `codes` bytes of codes, and what a lane may read behind them.
BELFRY_HOST_DEVICE constexpr int32_t asyncChunkBytes(int32_t codes) {
    return codes + codes / 8 + 32;
}
static_assert(kTileKeys * kTurnFloats * 2 <= kCodePairs * (kCodeEntryBytes - kCodeGapOffset),
              "the values of a tile lie in the gaps");

} // namespace kernels::cuda
