// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch_sizes.h"

#include "kernels/card_scratch.h"
#include "kernels/cuda/device/common/args.h"

#include <algorithm>
#include <bit>

namespace kernels {

size_t cardScratchBytes(int64_t rows, int64_t width) {
    return cuda::scratchBytes(rows, width);
}

} // namespace kernels

namespace kernels::cuda {

namespace {

constexpr int64_t kWarps = 16; // of a projection block
constexpr int64_t kSlab = 512; // weights a warp takes at a time
/// absmax values that a block keeps in shared memory; more rows need more blocks.
constexpr int64_t kScaleBytes = int64_t{28} * 1024;
constexpr int64_t kTableBytes =
    (int64_t{256} * 32 + int64_t{3} * 256) * 4; // codes, and nested codes
constexpr int64_t kBufferBytes = int64_t{128} * 4;

int64_t ceilDivide(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/// Cost of a deal of rows to warps, in slabs of the busiest warp. One read of the input row from
/// shared memory serves all rows of a group (counted: 8 cycles of table reads a slab and row, 8 of
/// input reads a slab); the sum over the lanes of a warp costs about a quarter of a slab a row.
double dealCost(int64_t local, int64_t slabs, int64_t warps, int64_t rows, int64_t k_split) {
    const double per_row = rows == 4 ? 1.0 : rows == 2 ? 1.2 : 1.6;
    const int64_t turns = ceilDivide(ceilDivide(local, rows), warps / k_split);
    const int64_t depth = ceilDivide(slabs, k_split);
    return static_cast<double>(turns * rows) * (static_cast<double>(depth) * per_row + 0.25);
}

} // namespace

ProjectSizes
projectSizes(int multiprocessors, int64_t outputs, int64_t cols, bool is_pair, int64_t block_size) {
    const int64_t slabs = ceilDivide(cols, kSlab);
    const int64_t blocks = block_size > 0 ? cols / block_size : 0;
    const int64_t rows_per_output = is_pair ? 2 : 1;
    int64_t grid = std::min<int64_t>(multiprocessors, outputs);
    const int64_t scale_bytes = outputs * rows_per_output * blocks * 4;
    if (scale_bytes > grid * kScaleBytes) {
        grid = ceilDivide(ceilDivide(scale_bytes, kScaleBytes), multiprocessors) * multiprocessors;
    }
    const int64_t local = ceilDivide(outputs, grid) * rows_per_output;
    ProjectSizes best;
    double lowest = -1.0;
    for (const int64_t rows_per_warp : {4, 2, 1}) {
        if (rows_per_warp == 4 && block_size == 0) {
            continue; // codes of 8 and 16 bits: four rows do not fit the registers
        }
        for (const int64_t k_split : {1, 2, 4, 8, 16}) {
            const double cost = dealCost(local, slabs, kWarps, rows_per_warp, k_split);
            if (lowest < 0 || cost < lowest) {
                lowest = cost;
                best.rows_per_warp = static_cast<int>(rows_per_warp);
                best.k_split = static_cast<int>(k_split);
            }
        }
    }
    best.grid = static_cast<int>(grid);
    best.local_rows = static_cast<int>(local);
    best.shared_bytes =
        static_cast<unsigned>((block_size > 0 ? kTableBytes : 0) + slabs * kSlab * 2 +
                              kBufferBytes + (local * best.k_split + local * blocks) * 4);
    return best;
}

unsigned loraSharedBytes(
    const ProjectSizes& sizes, bool is_pair, int64_t ranks, int64_t width, int64_t tap_ranks) {
    const int64_t outputs = sizes.local_rows / (is_pair ? 2 : 1);
    const int64_t taps = tap_ranks > 0 ? (tap_ranks + 1) * outputs : 0;
    return static_cast<unsigned>((ranks + width * sizes.local_rows + taps) * 4);
}

LoraUnitSizes streamUnitSizes(int multiprocessors, int64_t ranks, int64_t tiles, int64_t cols) {
    LoraUnitSizes sizes;
    constexpr int64_t kMostColumns = kMaxLoraUnits / kLoraTileRanks;
    if (tiles > kMostColumns) {
        return sizes;
    }
    // Blocks of 64 columns, which share a scale.
    const int64_t blocks = ceilDivide(cols, 64);
    const int64_t columns = tiles <= kLoraTileColumns ? kLoraTileColumns : kMostColumns;
    const int64_t most =
        std::clamp<int64_t>(multiprocessors / ranks, 1, std::min(blocks, columns / tiles));
    const auto chunks = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
    sizes.units = static_cast<int>(ranks * chunks);
    sizes.chunks = static_cast<int>(chunks);
    sizes.columns = static_cast<int>(ceilDivide(blocks, chunks) * 64);
    sizes.own = static_cast<int>(ceilDivide(sizes.units, multiprocessors));
    return sizes;
}

LoraUnitSizes rowUnitSizes(int64_t ranks, int64_t cols) {
    LoraUnitSizes sizes;
    if (ranks > kMaxLoraUnits) {
        return sizes;
    }
    constexpr int64_t kLeastColumns = 256; // eight of every lane
    constexpr int64_t kMostChunks = 32;    // whose sums one warp adds
    const int64_t most = std::clamp<int64_t>(
        kComputeThreads / ranks, 1, std::clamp<int64_t>(cols / kLeastColumns, 1, kMostChunks));
    const auto chunks = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
    sizes.units = static_cast<int>(ranks * chunks);
    sizes.chunks = static_cast<int>(chunks);
    sizes.columns = static_cast<int>(ceilDivide(ceilDivide(cols, 64), chunks) * 64);
    return sizes;
}

namespace {

/// Pieces of a row of bf16, the fewest that four stretches of a chunk take; 0: none fit evenly.
int64_t halfPieces(int64_t units) {
    constexpr int64_t kMostPieces = 16;
    for (int64_t pieces = 1; pieces <= kMostPieces; ++pieces) {
        if (units % (4 * pieces) == 0 && units / pieces <= int64_t{4} * kChunkUnits) {
            return pieces;
        }
    }
    return 0;
}

/// Bytes from row to row of pieces in a chunk: room for what lies between a row and whole 16 bytes,
/// and an odd number of these, so that rows begin in different banks.
int64_t slotBytes(const BlockRows& blocks, int64_t pieces) {
    const int64_t bytes = blocks.bytes / pieces;
    const bool is_aligned = !blocks.is_mixed && blocks.bytes % 16 == 0 && bytes % 16 == 0;
    return (ceilDivide(is_aligned ? bytes : bytes + 15, 16) | 1) * 16;
}

/// Stretches and pieces of rows in blocks, the fewest pieces first; no pieces: none fit.
struct BlockCut {
    int64_t folds = 1;
    int64_t pieces = 0;
};
BlockCut blockCut(int64_t units, const BlockRows& blocks) {
    constexpr int64_t kMostPieces = 16;
    for (int64_t pieces = 1; pieces <= kMostPieces; ++pieces) {
        if (units % (pieces * blocks.grain) != 0 || blocks.bytes % pieces != 0) {
            continue;
        }
        for (int64_t folds = 1; folds <= 4; folds *= 2) {
            if (kTileRows / folds * slotBytes(blocks, pieces) <= blocks.chunk_bytes &&
                ceilDivide(units / pieces, folds) <= kChunkUnits) {
                return {folds, pieces};
            }
        }
    }
    return {};
}

} // namespace

int streamWorkBytes(int64_t cols, int pass_tiles, int tile_shift, bool is_plain, bool is_half) {
    if (is_half) {
        return kStreamNormSums + kStreamScaleBytes + static_cast<int>(cols) * 4 +
               streamTakenBytes(static_cast<int32_t>(cols), is_plain) +
               pass_tiles * kTileRows * kComputeWarps * 4;
    }
    // A wide row's sums of stretches are added at once.
    const int sums = cols > kPackets ? pass_tiles << tile_shift : pass_tiles * kTileRows;
    return streamProjectBytes(static_cast<int32_t>(cols), sums, is_plain);
}

StreamSizes streamProjectSizes(int multiprocessors,
                               int64_t outputs,
                               int64_t cols,
                               bool is_pair,
                               bool is_plain,
                               int weights,
                               int bits,
                               int grain,
                               int most_tiles,
                               bool has_pair_passes,
                               const BlockRows& blocks) {
    const bool has_blocks = blocks.bytes > 0;
    const int64_t units = has_blocks ? cols / 64 : cols * bits / 8 / kUnitBytes;
    const int64_t grains = ceilDivide(outputs, grain);
    const int64_t local = ceilDivide(grains, multiprocessors) * grain;
    StreamSizes sizes;
    // A wide row has one part of fp16, so that eight stretches fit beside each other, others two.
    const bool is_half = bits == 16 || has_blocks;
    const bool is_wide = cols > kPackets && !is_half;
    int64_t pieces = is_half ? halfPieces(units) : 1;
    int64_t folds = is_wide ? 8 : 1;
    if (has_blocks) {
        const BlockCut cut = blockCut(units, blocks);
        pieces = cut.pieces;
        folds = cut.folds;
    }
    while (folds < 4 && units > folds * pieces * kChunkUnits) {
        folds *= 2;
    }
    if (pieces == 0 || units > folds * pieces * kChunkUnits) {
        return sizes;
    }
    if (pieces > 1 && !has_blocks) {
        folds = 4;
    }
    // More of them where a block has few rows: more warps have a share, or each a smaller one.
    while (folds < 4 && weights == 1 && local * 2 * folds <= kTileRows &&
           units % (8 * folds) == 0) {
        folds *= 2;
    }
    const int64_t rows = kTileRows / folds;
    // Every weight's rows may end in a tile that is not full.
    const int64_t tiles =
        is_pair ? 2 * ceilDivide(local, rows) : ceilDivide(local, rows) + weights - 1;
    constexpr int64_t kPassTiles = 12;
    sizes.units = static_cast<int>(units);
    sizes.pieces = static_cast<int>(pieces);
    sizes.slot_bytes = has_blocks ? static_cast<int>(slotBytes(blocks, pieces)) : 0;
    sizes.tile_shift = std::countr_zero(static_cast<uint64_t>(rows));
    constexpr int kPairTiles = 2 * 3;
    const int64_t most_of_pair =
        has_pair_passes ? std::max(kPairTiles, most_tiles / kPairTiles * kPairTiles) : tiles;
    sizes.pass_tiles =
        static_cast<int>(is_pair ? std::min(tiles, most_of_pair)
                                 : std::min({tiles, kPassTiles * folds, int64_t{most_tiles}}));
    sizes.work_bytes = streamWorkBytes(cols, sizes.pass_tiles, sizes.tile_shift, is_plain, is_half);
    sizes.share = static_cast<int>(grains / multiprocessors) * grain;
    sizes.extra = static_cast<int>(grains % multiprocessors);
    sizes.grain = grain;
    return sizes;
}

namespace {

/// From the beginning of dynamic shared memory to the table of codes.
int tableOffset(int shared_base) {
    return (shared_base + kCodeTableAlignment - 1) / kCodeTableAlignment * kCodeTableAlignment -
           shared_base;
}

/// Parts of a row of `units`, of so many stretches each: the fewest that fit a chunk; 0: none do.
int64_t largePieces(int64_t units, int64_t folds, int bits) {
    constexpr int64_t kMostPieces = 16;
    // Four absmax values are copied at once; a block of 64 columns of 8 bits is two units.
    const int64_t grain = bits == 4 ? 4 : 2;
    if (units <= folds * kLargeChunkUnits) {
        return 1;
    }
    for (int64_t pieces = 2; pieces <= kMostPieces; ++pieces) {
        if (units % (pieces * grain) == 0 && units / pieces <= folds * kLargeChunkUnits) {
            return pieces;
        }
    }
    return 0;
}

} // namespace

int largeWorkRoom(int shared_base) {
    constexpr int kLeast = 44 << 10;
    return std::max(kLeast, tableOffset(shared_base) / 128 * 128);
}

namespace {

/// Sets how outputs are dealt out and tiles come in passes, as many as there is room for; `bytes`:
/// work memory of a pass of so many tiles. Leaves no units where there is room for none.
template <typename Bytes>
void takePasses(StreamSizes& sizes,
                int multiprocessors,
                int64_t outputs,
                bool is_pair,
                int weights,
                int64_t rows,
                int room,
                const Bytes& bytes) {
    const int64_t local = ceilDivide(outputs, multiprocessors);
    // Every weight's rows may end in a tile that is not full.
    const int64_t tiles =
        is_pair ? 2 * ceilDivide(local, rows) : ceilDivide(local, rows) + weights - 1;
    int64_t pass = (room - bytes(0)) / (bytes(1) - bytes(0));
    pass = std::min(is_pair ? pass / 2 * 2 : pass, tiles);
    if (pass < (is_pair ? 2 : 1)) {
        sizes = {};
        return;
    }
    sizes.tile_shift = std::countr_zero(static_cast<uint64_t>(rows));
    sizes.pass_tiles = static_cast<int>(pass);
    sizes.work_bytes = bytes(pass);
    sizes.share = static_cast<int>(outputs / multiprocessors);
    sizes.extra = static_cast<int>(outputs % multiprocessors);
}

} // namespace

StreamSizes largeRowsSizes(int multiprocessors,
                           int64_t outputs,
                           int64_t cols,
                           bool is_pair,
                           bool is_plain,
                           int weights,
                           int bits,
                           int room) {
    StreamSizes sizes;
    constexpr int64_t kFolds = 4;
    const int64_t units = cols * bits / 8 / kUnitBytes;
    const int64_t pieces = largePieces(units, kFolds, bits);
    const int64_t columns = is_plain && pieces > 0 ? cols / pieces : cols;
    if (pieces == 0 || columns > kLargeRowColumns) {
        return sizes;
    }
    sizes.units = static_cast<int>(units / pieces);
    sizes.pieces = static_cast<int>(pieces);
    takePasses(sizes, multiprocessors, outputs, is_pair, weights, kTileRows / kFolds, room,
               [&](int64_t pass) {
                   return largeRowsProjectBytes(static_cast<int32_t>(columns),
                                                static_cast<int32_t>(pass * kTileRows / 2));
               });
    return sizes;
}

namespace {

/// Stretches, parts and units of a row that is multiplied in parts, and sums of a tile and part.
struct LargeRow {
    int64_t folds = 1;
    int64_t pieces = 0; ///< None: there is no form for it.
    int64_t units = 0;  ///< Units of a part.
    int64_t rows = 0;   ///< Rows of a tile.
    int64_t sums = 0;
};

LargeRow largeRow(int64_t cols, int bits) {
    LargeRow row;
    const int64_t units = cols * bits / 8 / kUnitBytes;
    const bool is_wide = cols > kPackets;
    row.folds = is_wide ? 8 : 1;
    while (row.folds < 4 && units > row.folds * kLargeChunkUnits) {
        row.folds *= 2;
    }
    row.pieces = cols > kLargeColumns ? 0 : largePieces(units, row.folds, bits);
    if (row.pieces > 0) {
        row.units = units / row.pieces;
        row.rows = kTileRows / row.folds;
        row.sums = is_wide ? row.rows : kTileRows;
    }
    return row;
}

} // namespace

StreamSizes largeProjectSizes(int multiprocessors,
                              int64_t outputs,
                              int64_t cols,
                              bool is_pair,
                              int weights,
                              int bits,
                              int room) {
    StreamSizes sizes;
    const LargeRow row = largeRow(cols, bits);
    if (row.pieces == 0) {
        return sizes;
    }
    sizes.units = static_cast<int>(row.units);
    sizes.pieces = static_cast<int>(row.pieces);
    takePasses(sizes, multiprocessors, outputs, is_pair, weights, row.rows, room,
               [&](int64_t pass) {
                   return largeProjectBytes(static_cast<int32_t>(cols),
                                            static_cast<int32_t>(pass * row.sums * row.pieces));
               });
    return sizes;
}

StreamSizes asyncLargeSizes(int multiprocessors,
                            int64_t outputs,
                            int64_t cols,
                            bool is_pair,
                            bool is_plain,
                            int weights,
                            int bits,
                            int room) {
    StreamSizes sizes;
    const LargeRow row = largeRow(cols, bits);
    if (row.pieces == 0) {
        return sizes;
    }
    sizes.units = static_cast<int>(row.units);
    sizes.pieces = static_cast<int>(row.pieces);
    const int64_t held = cols > kPackets ? cols / row.pieces : cols;
    takePasses(sizes, multiprocessors, outputs, is_pair, weights, row.rows, room,
               [&](int64_t pass) {
                   return asyncLargeBytes(static_cast<int32_t>(held), cols > kPackets,
                                          static_cast<int32_t>(pass * row.sums), is_plain);
               });
    return sizes;
}

int asyncLargeRoom(int shared_bytes) {
    constexpr int kBeside = kAsyncTableOffset + kDenseTableBytes +
                            kAsyncFewestChunks * asyncChunkBytes(kLargeChunkCodeBytes);
    constexpr int kMost = 44 << 10; // all tiles of a block of most products: the rest is for chunks
    return std::clamp(shared_bytes - kBeside, 0, kMost);
}

StreamLayout streamLayoutFor(int shared_base,
                             int shared_bytes,
                             int row_bytes,
                             int norm_bytes,
                             int work_bytes,
                             int chunk_bytes,
                             bool has_table) {
    // As copies need it where 192 bytes more are one chunk less: 31B, seven of them.
    const int grain = chunk_bytes == kLargeChunkBytes ? 16 : 128;
    const auto align = [grain](int bytes) { return (bytes + grain - 1) / grain * grain; };
    StreamLayout layout{};
    // Without a table of codes its place is work memory, and what more of that there is in front.
    layout.table =
        has_table ? tableOffset(shared_base) : align(std::max(0, work_bytes - kCodeTableBytes));
    layout.attend = align(kStreamStepsOffset + kStepRing * static_cast<int>(sizeof(TokenStep)));
    layout.norms = layout.attend + align(kAttendConstantBytes);
    // Two vectors of this step and two of the next one.
    layout.norm_bytes = align(norm_bytes);
    layout.row = layout.norms + 4 * layout.norm_bytes;
    layout.chunks = layout.row + align(row_bytes);
    const int work = align(work_bytes);
    if (!has_table) {
        layout.work = -layout.table;
    } else if (work <= layout.table) {
        layout.work = -work;
    } else {
        layout.work = layout.chunks;
        layout.chunks += work;
    }
    // Fewer would leave a fetching warp without a chunk to work on.
    constexpr int kFewest = 4;
    constexpr int kStatic = 1024; // what is reserved may count as the kernel's own static memory
    const int room = shared_bytes - kStatic - layout.table - layout.chunks;
    const int count = std::min(room / chunk_bytes, kMaxChunks);
    layout.chunk_count = count < kFewest ? 0 : count;
    layout.chunk_bytes = chunk_bytes;
    return layout;
}

StreamLayout
asyncLayoutFor(int shared_bytes, int row_bytes, int work_bytes, int chunk_codes, bool has_table) {
    const auto align = [](int bytes) { return (bytes + 15) / 16 * 16; };
    StreamLayout layout{};
    layout.attend = kAsyncAttendOffset;
    layout.table = kAsyncTableOffset;
    layout.work = layout.table + (has_table ? kDenseTableBytes : 0);
    layout.work_bytes = align(work_bytes);
    layout.row = layout.work + layout.work_bytes;
    layout.chunks = layout.row + align(row_bytes);
    layout.chunk_codes = align(chunk_codes);
    layout.chunk_bytes = align(asyncChunkBytes(layout.chunk_codes));
    const int count = std::min((shared_bytes - layout.chunks) / layout.chunk_bytes, kMaxChunks);
    layout.chunk_count = count < kAsyncFewestChunks ? 0 : count;
    return layout;
}

int asyncWorkRoom(int shared_bytes, bool has_table) {
    constexpr int kBeside = kAsyncTableOffset + kDenseTableBytes + 1536 * 4 +
                            kAsyncFewestChunks * asyncChunkBytes(kChunkCodeBytes);
    return std::clamp(shared_bytes - kBeside, 0, 32768) + (has_table ? 0 : kDenseTableBytes);
}

int asyncAhead(int64_t l2_bytes, int multiprocessors, int chunk_bytes, int chunk_count) {
    constexpr int64_t kAtOnce = 10; // those in shared memory included
    const int64_t room = l2_bytes / 2 / (int64_t{multiprocessors} * chunk_bytes);
    return static_cast<int>(std::clamp<int64_t>(kAtOnce - chunk_count, 0, room));
}

int headParts(int multiprocessors, int num_heads, int head_dim) {
    return std::min(
        {multiprocessors / num_heads, kHeadParts, kPartPackets / (num_heads * (head_dim + 2))});
}

int attendSplits(int multiprocessors, int64_t num_heads, int64_t capacity) {
    const int64_t blocks = std::max<int64_t>(1, num_heads / 4);
    const int64_t fill = std::max<int64_t>(1, multiprocessors / blocks);
    const int64_t useful = std::max<int64_t>(1, capacity / 32);
    return static_cast<int>(std::min<int64_t>({fill, useful, kMaxSplits}));
}

FlashSizes flashSizes(int compute_capability, int shared_bytes, int64_t head_dim, bool is_half) {
    struct Form {
        int64_t head_dim = 0;
        bool is_half_only = false;
        FlashSizes sizes;
    };
    static constexpr Form kForms[] = {
        // of a head size the fastest first
        {64, false, {KernelId::flash_64, 256, flashSharedBytes(64, 64)}},
        {256, false, {KernelId::flash_256, 256, flashSharedBytes(256, 64)}},
        {256, false, {KernelId::flash_small_256, 128, flashSmallBytes(256)}},
        {512, true, {KernelId::flash_512_double, 256, flashSharedBytes(512, 32, 2)}},
        {512, false, {KernelId::flash_512, 256, flashSharedBytes(512, 32)}},
        {512, false, {KernelId::flash_small_512, 256, flashSmallBytes(512)}},
    };
    for (const Form& form : kForms) {
        if (compute_capability >= 80 && form.head_dim == head_dim &&
            (is_half || !form.is_half_only) &&
            static_cast<int64_t>(form.sizes.shared_bytes) <= shared_bytes) {
            return form.sizes;
        }
    }
    return {};
}

bool usesLargeTiles(int multiprocessors, int64_t m, int64_t n) {
    const int64_t tiles = ((m + 127) / 128) * ((n + 127) / 128);
    return m > 64 && tiles >= multiprocessors / 2;
}

WideSizes wideSizes(int multiprocessors,
                    int64_t rows,
                    int64_t column_tiles,
                    int64_t pieces,
                    int most_parts,
                    int form_rows) {
    struct Form {
        int rows;
        double stage; ///< Clocks for 64 columns.
    };
    constexpr Form kForms[] = {{256, 1430.0}, {192, 1170.0}, {128, 960.0}};
    constexpr double kEdges = 3000.0;  // clocks of a block's beginning and end
    constexpr double kResults = 600.0; // clocks for what one more part writes and is read of a tile
    constexpr int64_t kMostParts = 8;
    WideSizes best;
    double least = 0.0;
    for (const Form& form : kForms) {
        if (form_rows != 0 && form.rows != form_rows) {
            continue;
        }
        const int64_t tiles =
            std::max<int64_t>(1, (rows + form.rows - 1) / form.rows * column_tiles);
        for (int64_t wanted = 1;
             wanted <=
             std::min({pieces, kMostParts, static_cast<int64_t>(std::max(1, most_parts))});
             ++wanted) {
            const int64_t part = (pieces + wanted - 1) / wanted; // pieces of a part
            const int64_t parts = (pieces + part - 1) / part;
            const int64_t waves = (tiles * parts + multiprocessors - 1) / multiprocessors;
            const int64_t stages = part * (kProductCodesColumns / 64);
            const double clocks =
                static_cast<double>(waves) * (kEdges + static_cast<double>(stages) * form.stage) +
                static_cast<double>((parts - 1) * tiles) * kResults / multiprocessors;
            if (best.rows == 0 || clocks < least) {
                least = clocks;
                best = {form.rows, static_cast<int>(parts)};
            }
        }
    }
    return best;
}

CodesSizes codesSizes(int multiprocessors,
                      int shared_bytes,
                      int64_t rows,
                      int64_t column_tiles,
                      int64_t pieces,
                      int most_parts) {
    CodesSizes sizes;
    // On a multiprocessor at the same time, on cards with as much shared memory as 9.0 has.
    int64_t at_once = 3;
    // With more than 32 rows two groups have too few registers: 64 rows of 31B take 28.3 ms instead
    // of 25.3.
    constexpr int64_t kGroupedRows = 32;
    const int fragments = rows <= 16 ? 1 : 2;
    const int groups = rows <= 16 ? 3 : 2;
    if (rows <= kGroupedRows && shared_bytes >= productCodesShared(fragments, groups)) {
        sizes.fragments = fragments;
        sizes.groups = groups;
        at_once = 2;
    }
    const int64_t tiles = ceilDivide(rows, int64_t{16} * sizes.fragments) * column_tiles;
    const int64_t wanted = at_once * multiprocessors / std::max<int64_t>(1, tiles);
    const int64_t most = std::clamp<int64_t>(std::min(wanted, pieces), 1, std::max(1, most_parts));
    // The fewest with which no group of warps has more to do than with the most.
    const auto longest = [&](int64_t parts) {
        return ceilDivide(ceilDivide(pieces, parts), sizes.groups);
    };
    int64_t parts = most;
    while (parts > 1 && longest(parts - 1) == longest(most)) {
        --parts;
    }
    sizes.part = ceilDivide(pieces, parts);
    sizes.parts = static_cast<int>(ceilDivide(pieces, sizes.part));
    return sizes;
}

HalfSizes halfSizes(int multiprocessors,
                    int64_t rows,
                    const int64_t* outputs,
                    int count,
                    bool is_pair,
                    int64_t cols,
                    int least_parts,
                    int most_parts,
                    int form_outputs) {
    struct Form {
        int outputs;
        double stage; ///< Clocks for 64 columns.
    };
    constexpr Form kForms[] = {{320, 1400.0}, {256, 1130.0}, {192, 860.0}, {128, 600.0}};
    constexpr double kResults = 12.0;  // clocks for what a tile writes, by its outputs
    constexpr double kSums = 55.0;     // the same for what is written and read of one more part
    constexpr double kLaunch = 1500.0; // clocks before the first tile's first products
    constexpr int64_t kMostParts = 8;
    const int64_t chunks = ceilDivide(cols, 64);
    const int64_t row_tiles = ceilDivide(rows, kProductHalfRows);
    const int64_t last =
        std::max<int64_t>(least_parts, std::min({chunks / 4, kMostParts, int64_t{most_parts}}));
    HalfSizes best;
    double least = 0.0;
    for (const Form& form : kForms) {
        if ((form_outputs != 0 && form.outputs != form_outputs) ||
            (is_pair && form.outputs > 256)) {
            continue;
        }
        int64_t columns = 0;
        for (int i = 0; i < (is_pair ? 1 : count); ++i) {
            columns += ceilDivide(outputs[i], is_pair ? form.outputs / 2 : form.outputs);
        }
        for (int64_t parts = least_parts; parts <= last; ++parts) {
            const int64_t part = ceilDivide(chunks, parts);
            if (ceilDivide(chunks, part) != parts) {
                continue; // one would be empty
            }
            const int64_t waves = ceilDivide(row_tiles * columns * parts, multiprocessors);
            const double clocks =
                kLaunch +
                static_cast<double>(waves) *
                    (static_cast<double>(part) * form.stage + form.outputs * kResults) +
                static_cast<double>((parts - 1) * row_tiles * columns * form.outputs) * kSums /
                    multiprocessors;
            if (best.outputs == 0 || clocks < least) {
                least = clocks;
                best = {form.outputs, static_cast<int>(parts)};
            }
        }
    }
    return best;
}

} // namespace kernels::cuda
