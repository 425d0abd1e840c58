// SPDX-License-Identifier: Apache-2.0
// The kernels that run a whole token without a barrier over the grid (device/decode/stream*.cu) on
// the CPU: chains of steps as a decoder has them, on cards as they are sold, against the scalar
// table and in several thread orders. What cards without bulk copies or with little shared memory
// compute is, to the bit, what a card of 9.0 with as many multiprocessors does.
#include "kernels/cuda/launch_sizes.h"
#include "tests/kernels/stream_chain.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

using kernels::DType;
using kernels::ProjectArgs;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

struct CardKind {
    const char* name;
    int capability, shared_bytes;
};
constexpr CardKind kBulk = {"9.0", 90, 232448};
constexpr CardKind kSmall = {"8.6", 86, 101376};
constexpr CardKind kMiddle = {"8.0", 80, 166912};
constexpr CardKind kAda = {"8.9", 89, 101376};
constexpr CardKind kLate = {"12.0", 120, 101376};

bool isAsync(const CardKind& kind) {
    return kind.capability != kBulk.capability;
}

EmulatedCardOptions optionsOf(const CardKind& kind, int multiprocessors, int seed) {
    EmulatedCardOptions options;
    options.multiprocessors = multiprocessors;
    options.run.seed = static_cast<uint64_t>(seed);
    if (isAsync(kind)) {
        options.capability = kind.capability;
        options.shared_bytes = kind.shared_bytes;
        options.run.resident_threads = 512U * static_cast<unsigned>(multiprocessors);
    }
    return options;
}

struct ChainRow {
    const char* name;
    const CardKind* kind;
    int multiprocessors, seed;
    ChainShape shape;
};

// clang-format off
const ChainRow kChains[] = {
    {"nested nf4", &kBulk, 4, 0, {}},
    {"one token", &kBulk, 3, 1, {.tokens = 1}},
    {"fp4, plain absmax", &kBulk, 3, 2, {.format = WeightFormat::Fp4, .is_nested = false}},
    {"blocks of 128", &kBulk, 5, 3, {.block = 128, .hidden = 256, .inter = 384, .ple = 128}},
    {"8-bit", &kBulk, 4, 4, {.format = WeightFormat::Int8Row}},
    {"parts", &kBulk, 4, 5, {.tokens = 200}},
    {"window in a ring", &kBulk, 5, 6, {.tokens = 400, .window = 90}},
    {"two kv heads", &kBulk, 4, 7, {.kv_heads = 2, .tokens = 100}},
    {"keys are values", &kBulk, 4, 8, {.k_is_v = true}},
    {"a reader", &kBulk, 4, 9, {.tokens = 130, .is_reader = true}},
    {"no per-layer input", &kBulk, 3, 10, {.ple = 0}},
    {"wide heads and rows", &kBulk, 28, 11,
     {.hidden = 1600, .heads = 2, .dim = 512, .inter = 6400, .tokens = 40}},
    // Recipes without norms behind branches, of heads and of values, with SiLU.
    {"no norms but in front, SiLU", &kBulk, 4, 80, {.ple = 0, .is_plain = true}},
    {"no norms but in front, SiLU, parts, long first row", &kBulk, 28, 81,
     {.layers = 1, .hidden = 1600, .heads = 2, .dim = 512, .inter = 6400, .tokens = 200,
      .scale = 0.1F, .is_plain = true}},
    {"no norms but in front, SiLU, bf16", &kBulk, 4, 82,
     {.format = WeightFormat::BF16, .is_nested = false, .is_plain = true}},
    {"no norms but in front, SiLU, long rows", &kBulk, 4, 83, {.hidden = 3200, .is_plain = true}},
    {"no norms but in front, SiLU, rank 16, early", &kBulk, 24, 25,
     {.layers = 3, .is_reader = true, .is_plain = true, .rank = 16,
      .has_projections_only = true}},
    {"no norms but in front, SiLU", &kSmall, 4, 84, {.tokens = 200, .is_plain = true}},
    {"no norms but in front, SiLU, bf16", &kMiddle, 4, 85,
     {.format = WeightFormat::BF16, .is_nested = false, .ple = 0, .is_plain = true}},
    {"no norms but in front, SiLU, long rows", &kAda, 4, 86,
     {.layers = 1, .hidden = 3200, .tokens = 30, .is_plain = true}},
    {"bf16", &kBulk, 4, 50, {.format = WeightFormat::BF16, .is_nested = false}},
    {"bf16, a ring, a reader", &kBulk, 7, 51,
     {.format = WeightFormat::BF16, .is_nested = false, .tokens = 200, .window = 90,
      .is_reader = true, .is_ring = true}},
    {"bf16, rows of several pieces, wide ones among them", &kBulk, 28, 52,
     {.format = WeightFormat::BF16, .is_nested = false, .hidden = 320, .heads = 2,
      .dim = 64, .inter = 6400}},
    // Adapters of bf16 weights stay in memory (device/decode/stream_direct.cuh).
    {"bf16, rank 16", &kBulk, 4, 53,
     {.format = WeightFormat::BF16, .is_nested = false, .rank = 16}},
    {"bf16, rows of several pieces, two adapters, fp32", &kBulk, 28, 54,
     {.layers = 1, .format = WeightFormat::BF16, .is_nested = false, .hidden = 320,
      .heads = 2, .inter = 6400, .rank = 8, .other_rank = 4, .update_type = DType::F32}},
    // Blocks as GGUF files have them (device/decode/stream_blocks.cuh).
    {"Q4_0", &kBulk, 4, 90,
     {.format = WeightFormat::Q4_0, .head = WeightFormat::Q8_0, .is_nested = false}},
    {"Q4_K, head in Q6_K", &kBulk, 4, 91,
     {.format = WeightFormat::Q4_K, .head = WeightFormat::Q6_K, .is_nested = false,
      .hidden = 256, .inter = 512, .ple = 256}},
    {"Q5_K, pieces of wide rows", &kBulk, 28, 92,
     {.layers = 1, .format = WeightFormat::Q5_K, .head = WeightFormat::Q5_0, .is_nested = false,
      .hidden = 1536, .heads = 2, .dim = 128, .inter = 6400, .ple = 0}},
    {"Q6_K, rows that are no whole 16 bytes, head in Q5_1", &kBulk, 5, 93,
     {.format = WeightFormat::Q6_K, .head = WeightFormat::Q5_1, .is_nested = false,
      .hidden = 768, .inter = 1280, .ple = 256, .tokens = 40}},
    {"Q4_K, values in Q6_K", &kBulk, 5, 103,
     {.format = WeightFormat::Q4_K, .head = WeightFormat::Q6_K, .values = WeightFormat::Q6_K,
      .is_nested = false, .hidden = 768, .heads = 4, .kv_heads = 2, .inter = 512, .ple = 256}},
    {"Q4_0, values in Q5_1", &kSmall, 5, 104,
     {.format = WeightFormat::Q4_0, .head = WeightFormat::Q8_0, .values = WeightFormat::Q5_1,
      .is_nested = false}},
    {"Q8_0, a ring, a reader, head in Q4_1", &kBulk, 7, 94,
     {.format = WeightFormat::Q8_0, .head = WeightFormat::Q4_1, .is_nested = false, .tokens = 200,
      .window = 90, .is_reader = true, .is_ring = true}},
    {"4-bit codes in blocks of 32", &kBulk, 4, 95,
     {.format = WeightFormat::Int4, .head = WeightFormat::Q8_0, .is_nested = false,
      .hidden = 256, .inter = 384, .ple = 128}},
    {"Q4_0, rank 16, no norms but in front, SiLU", &kBulk, 4, 96,
     {.format = WeightFormat::Q4_0, .is_nested = false, .ple = 0, .is_plain = true, .rank = 16}},
    {"Q4_0, rows of 12B", &kBulk, 24, 97,
     {.layers = 1, .format = WeightFormat::Q4_0, .head = WeightFormat::Q6_K, .is_nested = false,
      .hidden = 3840, .heads = 2, .inter = 6400, .ple = 0}},
    {"Q4_0, more queries, keys and values than packets", &kBulk, 16, 101,
     {.format = WeightFormat::Q4_0, .head = WeightFormat::Q8_0, .is_nested = false, .heads = 16,
      .kv_heads = 8, .dim = 256, .ple = 0, .tokens = 40}},
    {"Q8_0, wide results of attention behind flags", &kBulk, 16, 102,
     {.layers = 1, .format = WeightFormat::Q8_0, .is_nested = false, .hidden = 256, .heads = 16,
      .kv_heads = 2, .dim = 512, .ple = 0, .tokens = 40}},
    {"Q4_0, head in Q6_K", &kSmall, 4, 98,
     {.format = WeightFormat::Q4_0, .head = WeightFormat::Q6_K, .is_nested = false,
      .hidden = 256, .tokens = 200}},
    {"Q4_K, rank 8", &kMiddle, 4, 99,
     {.format = WeightFormat::Q4_K, .head = WeightFormat::Q8_0, .is_nested = false,
      .hidden = 1536, .inter = 2048, .ple = 0, .rank = 8}},
    {"4-bit codes in blocks of 32", &kAda, 5, 100,
     {.format = WeightFormat::Int4, .head = WeightFormat::Q6_K, .is_nested = false,
      .hidden = 256, .inter = 384, .ple = 128}},
    // Rows as long as those of 12B and 31B (device/decode/stream_large.cu). The residual row is in memory.
    {"long rows", &kBulk, 4, 60, {.hidden = 3200, .tokens = 200}},
    {"long rows, 8-bit", &kBulk, 5, 61,
     {.layers = 1, .format = WeightFormat::Int8Row, .hidden = 3200}},
    {"long rows, fp4, plain absmax, blocks of 128", &kBulk, 4, 62,
     {.format = WeightFormat::Fp4, .is_nested = false, .block = 128, .hidden = 3328, .inter
      = 384, .ple = 128, .tokens = 30}},
    {"long rows, wide results of attention behind flags", &kBulk, 16, 63,
     {.layers = 1, .hidden = 3136, .heads = 16, .kv_heads = 2, .dim = 512, .inter = 192,
      .ple = 0, .tokens = 40}},
    // 26B: the row leaves no room for chunks, queries, keys and values none for packets.
    {"rows that leave no room for weights", &kBulk, 4, 64,
     {.hidden = 2816, .ple = 0, .tokens = 100, .is_large = true}},
    {"more queries, keys and values than packets", &kBulk, 16, 65,
     {.heads = 16, .kv_heads = 8, .dim = 256, .ple = 0, .tokens = 40, .is_large = true}},
    {"long rows, rank 16", &kBulk, 4, 66, {.hidden = 3200, .tokens = 100, .rank = 16}},
    {"long rows, rank 8: blocks without a unit", &kBulk, 24, 67,
     {.layers = 1, .hidden = 3200, .rank = 8}},
    {"long rows, rank 64, 8-bit", &kBulk, 5, 68,
     {.layers = 1, .format = WeightFormat::Int8Row, .hidden = 3200, .rank = 64}},
    {"long rows, two adapters, fp16, in every second step", &kBulk, 7, 69,
     {.hidden = 3200, .rank = 8, .other_rank = 24, .update_type = DType::F16, .every = 2}},
    {"long rows, two adapters, fp32, not of the first weight", &kBulk, 4, 70,
     {.layers = 1, .hidden = 3200, .rank = 4, .other_rank = 12, .update_type = DType::F32,
      .without = 0}},
    {"rows that leave no room for weights, rank 16", &kBulk, 4, 71,
     {.hidden = 2816, .ple = 0, .is_large = true, .rank = 16}},
    // Adapters: their operands come while the step before runs, or, where there is no room for both
    // or no step with updates near, when the step begins (placeStreamUnits()). There are no plans
    // where that happens, where blocks have many units (few multiprocessors) or many tiles of
    // ranks.
    {"rank 16", &kBulk, 4, 12, {.rank = 16, .is_planned = false}},
    {"rank 8, two kv heads, fp4", &kBulk, 5, 13,
     {.format = WeightFormat::Fp4, .kv_heads = 2, .rank = 8, .is_planned = false}},
    {"rank 64: a block has many units", &kBulk, 6, 14, {.rank = 64, .is_planned = false}},
    {"rank 16 in every second step", &kBulk, 4, 15, {.rank = 16, .every = 2, .is_planned = false}},
    {"rank 16 in every fifth step, 8-bit", &kBulk, 4, 16,
     {.format = WeightFormat::Int8Row, .rank = 16, .every = 5, .is_planned = false}},
    {"rank 8, not of the second weight: q, v and gate", &kBulk, 4, 21, {.rank = 8, .without = 1}},
    {"rank 8, not of the first weight: k, v and up", &kBulk, 4, 22, {.rank = 8, .without = 0}},
    {"two adapters, fp16", &kBulk, 3, 17,
     {.rank = 8, .other_rank = 24, .update_type = DType::F16, .is_planned = false}},
    {"two adapters, fp32, a reader", &kBulk, 4, 18,
     {.is_reader = true, .rank = 4, .other_rank = 12, .update_type = DType::F32, .is_planned
      = false}},
    {"rank 4: ranks in parts", &kBulk, 16, 19, {.layers = 1, .rank = 4, .update_type = DType::F32}},
    {"rank 8: blocks without a unit", &kBulk, 24, 23, {.layers = 1, .rank = 8}},
    {"rank 16: blocks without a unit", &kBulk, 24, 23, {.rank = 16}},
    // Operands of q, k and v come two steps without updates ahead; the early units among them.
    {"rank 16 of attention and MLP", &kBulk, 4, 24,
     {.rank = 16, .has_projections_only = true, .is_planned = false}},
    {"rank 16 of attention and MLP, early", &kBulk, 24, 25,
     {.layers = 3, .is_reader = true, .rank = 16, .has_projections_only = true}},
    {"rank 16 of attention and MLP, early, fp16", &kBulk, 24, 43,
     {.layers = 3, .is_reader = true, .rank = 16, .update_type = DType::F16,
      .has_projections_only = true}},
    // The updating warp late: the others are as far ahead as they can be.
    {"rank 16 of attention and MLP, early, starving", &kBulk, 24, 42,
     {.layers = 3, .is_reader = true, .rank = 16, .has_projections_only = true}},
    {"rank 32: several tiles of a weight", &kBulk, 24, 27,
     {.layers = 1, .k_is_v = true, .rank = 32}},
    {"rank 16 of attention and MLP, early, not planned", &kBulk, 24, 25,
     {.layers = 3, .is_reader = true, .rank = 16, .has_projections_only = true, .is_planned
      = false, .may_plan = false}},
    {"rank 8 of wide rows", &kBulk, 16, 20,
     {.layers = 1, .inter = 6400, .ple = 0, .rank = 8, .is_planned = false}},
    {"rank 8 of wide rows, blocks of one unit", &kBulk, 24, 26,
     {.layers = 1, .inter = 6400, .ple = 0, .rank = 8}},
    {"nested nf4", &kSmall, 4, 0, {}},
    {"nested nf4", &kMiddle, 5, 1, {}},
    {"nested nf4", &kLate, 7, 2, {}},
    {"fp4, plain absmax", &kAda, 3, 3, {.format = WeightFormat::Fp4, .is_nested = false}},
    {"blocks of 128", &kSmall, 5, 4, {.block = 128, .hidden = 256, .inter = 384, .ple = 128}},
    {"8-bit", &kSmall, 4, 5, {.format = WeightFormat::Int8Row}},
    // Rows of gate and up in a block whose sums do not fit beside each other.
    {"pairs in passes", &kSmall, 3, 6,
     {.layers = 1, .hidden = 1536, .heads = 1, .inter = 960, .ple = 0}},
    {"pairs in passes, their results wide", &kSmall, 11, 7,
     {.layers = 1, .hidden = 64, .heads = 1, .inter = 6400, .ple = 0}},
    {"parts", &kSmall, 4, 8, {.tokens = 200}},
    {"heads of 512 by head", &kSmall, 6, 9, {.heads = 2, .dim = 512, .tokens = 140, .scale = 0.1F}},
    {"tiles of 512, hidden rows, the new one in the second tile", &kSmall, 3, 10,
     {.heads = 1, .dim = 512, .tokens = 300, .window = 90, .scale = 0.1F, .hole = 50}},
    {"tiles of 512 in the place of the keys, a reader", &kAda, 4, 11,
     {.heads = 2, .kv_heads = 2, .dim = 512, .tokens = 150, .is_reader = true,
      .scale = 0.1F}},
    {"tiles of 256, hidden rows, the new one in the first tile", &kSmall, 4, 12,
     {.heads = 2, .dim = 256, .tokens = 400, .window = 90, .scale = 0.1F, .hole = 150}},
    {"window in a ring", &kMiddle, 5, 13, {.tokens = 400, .window = 90, .is_ring = true}},
    {"q8, a reader of a ring", &kBulk, 5, 13,
     {.tokens = 400, .window = 90, .is_reader = true, .is_ring = true, .kv_type = KvType::Q8}},
    {"q8, keys are values, two kv heads", &kMiddle, 4, 14,
     {.kv_heads = 2, .k_is_v = true, .kv_type = KvType::Q8}},
    {"q8, tiles of 512 in the place of the keys, a reader", &kAda, 4, 11,
     {.heads = 2, .kv_heads = 2, .dim = 512, .tokens = 150, .is_reader = true, .scale = 0.1F,
      .kv_type = KvType::Q8}},
    {"q8, bf16 weights, tiles of 256, hidden rows", &kBulk, 4, 12,
     {.format = WeightFormat::BF16, .is_nested = false, .heads = 2, .dim = 256, .tokens = 400,
      .window = 90, .scale = 0.1F, .hole = 150, .kv_type = KvType::Q8}},
    {"q8, Q4_0, parts", &kBulk, 4, 98,
     {.format = WeightFormat::Q4_0, .head = WeightFormat::Q6_K, .is_nested = false,
      .hidden = 256, .tokens = 200, .kv_type = KvType::Q8}},
    {"q8, long rows", &kBulk, 4, 60, {.hidden = 3200, .tokens = 200, .kv_type = KvType::Q8}},
    {"keys are values, two kv heads", &kSmall, 4, 14, {.kv_heads = 2, .k_is_v = true}},
    {"bf16", &kSmall, 4, 15, {.format = WeightFormat::BF16, .is_nested = false}},
    {"bf16, a ring, a reader", &kLate, 7, 16,
     {.format = WeightFormat::BF16, .is_nested = false, .tokens = 400, .window = 90,
      .is_reader = true, .is_ring = true}},
    {"bf16, tiles of 512, hidden rows", &kAda, 3, 17,
     {.format = WeightFormat::BF16, .is_nested = false, .heads = 1, .dim = 512,
      .tokens = 300, .window = 90, .scale = 0.1F, .hole = 50}},
    {"bf16, rows of several pieces, wide ones among them", &kSmall, 28, 18,
     {.layers = 1, .format = WeightFormat::BF16, .is_nested = false, .hidden = 320,
      .heads = 2, .inter = 6400, .ple = 0}},
    {"bf16, a head in nf4", &kSmall, 5, 19,
     {.format = WeightFormat::BF16, .head = WeightFormat::Nf4, .is_nested = false,
      .hidden = 128}},
    // A residual row as long as that of 12B.
    {"bf16, long rows", &kMiddle, 4, 20,
     {.layers = 1, .format = WeightFormat::BF16, .head = WeightFormat::BF16,
      .is_nested = false, .hidden = 3840}},
    {"bf16, rank 16", &kSmall, 4, 21,
     {.format = WeightFormat::BF16, .is_nested = false, .rank = 16}},
    {"bf16, rows of several pieces, two adapters, fp32", &kMiddle, 28, 22,
     {.layers = 1, .format = WeightFormat::BF16, .is_nested = false, .hidden = 320,
      .heads = 2, .inter = 6400, .ple = 0, .rank = 4, .other_rank = 8, .update_type = DType::F32}},
    // Adapters stay in memory (device/decode/stream_direct.cuh).
    {"rank 16", &kSmall, 4, 23, {.rank = 16}},
    {"rank 16 of attention and MLP, blocks without a unit", &kMiddle, 20, 24,
     {.layers = 1, .rank = 16, .has_projections_only = true}},
    {"rank 64, 8-bit", &kAda, 5, 25, {.layers = 1, .format = WeightFormat::Int8Row, .rank = 64}},
    {"two adapters, fp16, in every second step", &kLate, 7, 26,
     {.rank = 8, .other_rank = 24, .update_type = DType::F16, .every = 2}},
    {"two adapters, fp32, a reader, not of the second weight", &kSmall, 4, 27,
     {.is_reader = true, .rank = 4, .other_rank = 12, .update_type = DType::F32,
      .without = 1}},
    {"wide results, rank 8", &kSmall, 11, 28,
     {.layers = 1, .hidden = 64, .heads = 1, .inter = 6400, .ple = 0, .rank = 8}},
    // Rows as long as those of 12B and 31B; 26B, whose queries, keys and values are more than
    // packets.
    {"long rows", &kSmall, 4, 29, {.hidden = 3200, .tokens = 200}},
    {"long rows, gate and up in passes, 8-bit", &kMiddle, 3, 30,
     {.layers = 1, .format = WeightFormat::Int8Row, .hidden = 3200, .heads = 1,
      .inter = 320, .ple = 0}},
    {"long rows, fp4, plain absmax, tiles of 512", &kLate, 4, 31,
     {.layers = 1, .format = WeightFormat::Fp4, .is_nested = false, .hidden = 3328,
      .heads = 2, .dim = 512, .ple = 0, .tokens = 260, .scale = 0.1F}},
    {"more queries, keys and values than packets", &kAda, 16, 32,
     {.layers = 1, .heads = 16, .kv_heads = 8, .dim = 256, .ple = 0, .tokens = 40, .is_large
      = true}},
    {"long rows, rank 16", &kSmall, 4, 33, {.hidden = 3200, .tokens = 100, .rank = 16}},
    {"long rows, two adapters, fp16, in every second step", &kLate, 7, 34,
     {.layers = 1, .hidden = 3200, .rank = 8, .other_rank = 24, .update_type = DType::F16,
      .every = 2}},
    {"20 multiprocessors", &kSmall, 20, 35, {.layers = 1, .ple = 0}},
    {"46 multiprocessors", &kSmall, 46, 36, {.layers = 1, .ple = 0}},
};
// clang-format on

struct HeadsRow {
    const char* name;
    int multiprocessors;
    bool is_by_head;
    ChainShape shape; ///< One layer with heads and tokens; heads() sets the rest.
};

// clang-format off
const HeadsRow kHeads[] = {
    {"two tokens", 2, true, {.heads = 2, .tokens = 2}},
    {"one full part", 2, true, {.heads = 2, .tokens = 48}},
    {"above it", 3, false, {.heads = 2, .tokens = 49}},
    {"two parts, blocks without one", 5, true, {.heads = 2, .tokens = 49}},
    {"two full parts", 4, true, {.heads = 2, .tokens = 96}},
    {"above them", 4, false, {.heads = 2, .tokens = 97}},
    {"one key a warp, an empty part", 7, true, {.heads = 1, .tokens = 61}},
    {"heads of 256, two kv heads", 12, true,
     {.heads = 4, .kv_heads = 2, .dim = 256, .tokens = 100, .hole = 50}},
    {"heads of 512, one key a warp", 5, true, {.heads = 1, .dim = 512, .tokens = 50}},
    {"heads of 512, several keys", 6, true, {.heads = 2, .dim = 512, .tokens = 140}},
    {"heads of 32", 4, true, {.heads = 2, .dim = 32, .tokens = 70}},
    {"a ring that wraps", 4, true, {.heads = 2, .tokens = 300, .window = 90, .is_ring = true}},
    {"the new row among the others", 6, true, {.heads = 1, .tokens = 300, .window = 90}},
    {"a window and a hole", 4, true, {.heads = 2, .tokens = 80, .window = 60, .hole = 50}},
    {"a window that hides whole warps and parts", 8, true, {.heads = 1, .tokens = 90, .window = 3}},
    {"a reader", 6, true, {.heads = 2, .tokens = 75, .is_reader = true}},
    {"a reader of a ring", 4, true,
     {.heads = 2, .tokens = 300, .window = 40, .is_reader = true, .is_ring = true}},
    {"keys are values", 4, true, {.heads = 2, .tokens = 60, .k_is_v = true}},
    // Parts of several tiles, in all places that the new row has: rows of one gap and of several.
    {"tiles of 32, hidden rows, the new one in the second tile", 3, false,
     {.heads = 2, .dim = 32, .tokens = 300, .window = 90}},
    {"tiles of 256, hidden rows, the new one in the first tile", 4, false,
     {.heads = 2, .dim = 256, .tokens = 400, .window = 90, .hole = 150}},
    {"tiles of 256 of a ring, the new row in the last tile", 2, false,
     {.heads = 2, .dim = 256, .tokens = 300, .window = 200, .is_ring = true}},
    {"tiles of 512, hidden rows, the new one in the second tile", 3, false,
     {.heads = 1, .dim = 512, .tokens = 300, .window = 90, .hole = 50}},
    {"tiles of 512, two kv heads, a reader", 4, false,
     {.heads = 2, .kv_heads = 2, .dim = 512, .tokens = 150, .is_reader = true}},
};
// clang-format on

/// Everything that a chain left, in one row, as bits. has_head: that of its last step, too.
std::vector<uint32_t> leftBy(Chain& chain, bool has_head = true) {
    std::vector<uint32_t> all;
    const auto add = [&](const std::vector<float>& values) {
        for (const float value : values) {
            all.push_back(std::bit_cast<uint32_t>(value));
        }
    };
    for (const auto& p : chain.projections) {
        if (!has_head && p == chain.projections.back()) {
            break;
        }
        for (const auto& y : p->y) {
            add(y.values());
        }
        if (p->args.t != nullptr) {
            add(p->x_out.values());
        }
    }
    for (const auto& a : chain.attentions) {
        add(a->out.values());
    }
    return all;
}

bool hasBlocks(const ChainShape& shape) {
    return kernels::rowOf(shape.format).layout == kernels::WeightLayout::Blocks ||
           shape.format == WeightFormat::Int4;
}

/// Its rows are those of stream_large.cu.
bool isLong(const ChainShape& shape) {
    return shape.is_large || (shape.hidden > kernels::cuda::kShortRow &&
                              shape.format != WeightFormat::BF16 && !hasBlocks(shape));
}

/// The kernels that ran, but for what makes plans of updates.
std::vector<std::string> layersOf(const EmulatedCard& card) {
    std::vector<std::string> names = card.ran();
    std::erase(names, "belfry_stream_plans");
    return names;
}

std::string kernelOf(const CardKind& kind, const ChainShape& shape) {
    std::string kernel = isAsync(kind) ? "belfry_stream_async" : "belfry_stream";
    const bool has_blocks = hasBlocks(shape);
    const bool is_half = shape.format == WeightFormat::BF16 || has_blocks;
    kernel += has_blocks ? "_blocks" : is_half ? "_half" : "";
    kernel += isLong(shape) ? "_large" : "";
    if (shape.rank > 0) {
        const bool has_plans = !isAsync(kind) && !is_half && !isLong(shape);
        kernel += has_plans && !shape.is_planned ? "_any_updates" : "_updates";
    }
    return kernel;
}

} // namespace

class TestCudaStream : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void chain_data();
    void chain();
    void longRows_data();
    void longRows();
    void heads_data();
    void heads();
    void measured_data();
    void measured();
    void formsAskedFor_data();
    void formsAskedFor();
    void tableElsewhere();
    void headOfHalves();
    void updatesGoElsewhere();
};

void TestCudaStream::chain_data() {
    QTest::addColumn<size_t>("index");
    for (size_t i = 0; i < std::size(kChains); ++i) {
        const ChainRow& row = kChains[i];
        // These take minutes under a sanitizer.
        const bool is_long =
            isAsync(*row.kind) ? row.multiprocessors > 4 || row.seed % 6 != 0 : row.shape.heads > 8;
        if (!support::kTakesPart || !is_long) {
            QTest::addRow("%s, %s, %d", row.kind->name, row.name, row.seed) << i;
        }
    }
}

void TestCudaStream::chain() {
    QFETCH(size_t, index);
    const ChainRow& row = kChains[index];
    const ChainShape& shape = row.shape;
    Chain own(shape, shape.layers);
    {
        EmulatedCardOptions options = optionsOf(*row.kind, row.multiprocessors, row.seed);
        options.card.has_update_plans = shape.may_plan;
        EmulatedCard card(options);
        // The second turn meets what the first one left; the widest shape takes long.
        const int turns = !isAsync(*row.kind) && shape.heads > 8 ? 1 : 2;
        for (int turn = 0; turn < turns; ++turn) {
            QCOMPARE(own.run(card.device()), Status::Ok);
            QCOMPARE(QString::fromStdString(card.finish()), QString());
            double residual = 0.0;
            QCOMPARE_LT(own.projections.front()->error(&residual), kProjectionBound);
            QCOMPARE_LT(own.error(), kStreamBound);
        }
        QCOMPARE(layersOf(card),
                 std::vector<std::string>(sizeOf(turns), kernelOf(*row.kind, shape)));
    }
    const bool is_long = isLong(shape);
    if (!isAsync(*row.kind) || shape.rank > 0 ||
        (is_long && shape.format == WeightFormat::Int8Row) ||
        (shape.format == WeightFormat::BF16 && shape.hidden > kernels::cuda::kShortRow)) {
        // Sums of ranks, or of parts of a row, in another order; norms of fp32 in this length leave
        // stream_half.cu no room.
        return;
    }
    Chain other(shape, shape.layers);
    EmulatedCardOptions options = optionsOf(kBulk, row.multiprocessors, 0);
    options.run.resident_threads = 512U * static_cast<unsigned>(row.multiprocessors);
    EmulatedCard large(options);
    QCOMPARE(other.run(large.device()), Status::Ok);
    QCOMPARE(QString::fromStdString(large.finish()), QString());
    QCOMPARE(large.ran(), std::vector<std::string>{kernelOf(kBulk, shape)});
    // The head has 8 bits, and its long rows come in parts.
    QVERIFY(leftBy(own, !is_long) == leftBy(other, !is_long));
}

// Rows with the columns of 12B and 31B, of few outputs, in a list of their form. In little shared
// memory there is one part of the columns of down and of attention's results at a time.
void TestCudaStream::longRows_data() {
    support::addColumns<bool, WeightFormat, bool, int64_t, bool, int64_t, int64_t>(
        "isAsync", "format", "isNested", "cols", "isPlain", "rank", "outputs");
    const auto row = [](const char* name, WeightFormat format, bool is_nested, int64_t cols,
                        bool is_plain, int64_t rank = 0, int64_t outputs = 50) {
        for (const CardKind& kind : {kBulk, kSmall}) {
            QTest::addRow("%s, %s", kind.name, name)
                << ::isAsync(kind) << format << is_nested << cols << is_plain << rank << outputs;
        }
    };
    row("31B, residual row", WeightFormat::Nf4, true, 5376, false);
    row("31B, head in 8 bits", WeightFormat::Int8Row, false, 5376, false);
    row("31B, down", WeightFormat::Nf4, true, 21504, true);
    row("31B, down, plain absmax", WeightFormat::Fp4, false, 21504, true);
    row("31B, down in 8 bits", WeightFormat::Int8Row, false, 21504, true);
    row("31B, o of full layers", WeightFormat::Nf4, true, 16384, true);
    row("31B, o of sliding layers", WeightFormat::Nf4, true, 8192, true);
    row("12B, residual row", WeightFormat::Nf4, true, 3840, false);
    row("12B, down", WeightFormat::Nf4, true, 15360, true);
    row("12B, o of sliding layers", WeightFormat::Nf4, true, 4096, true);
    row("31B, residual row, rank 16", WeightFormat::Nf4, true, 5376, false, 16);
    row("31B, down, rank 16", WeightFormat::Nf4, true, 21504, true, 16);
    row("31B, down in 8 bits, rank 8", WeightFormat::Int8Row, false, 21504, true, 8);
    // The first part of the input is made again for the second pass.
    row("31B, down in passes", WeightFormat::Nf4, true, 21504, true, 0, 1000);
}

void TestCudaStream::longRows() {
    QFETCH(bool, isAsync);
    QFETCH(WeightFormat, format);
    QFETCH(bool, isNested);
    QFETCH(int64_t, cols);
    QFETCH(bool, isPlain);
    QFETCH(int64_t, rank);
    QFETCH(int64_t, outputs);
    EmulatedCard card(optionsOf(isAsync ? kSmall : kBulk, 3, isAsync ? 1 : 0));
    // What makes the list one of long rows, and what else is in it.
    ProjectCase first(WeightFormat::Nf4, true, 64, 3200, {16}, ProjectArgs::Input::Norm,
                      ProjectArgs::Output::Store, 1);
    ProjectCase step(format, isNested, 64, cols, {outputs},
                     isPlain ? ProjectArgs::Input::Plain : ProjectArgs::Input::ResidualNorm,
                     ProjectArgs::Output::Store, 30);
    if (rank > 0) {
        step.addUpdate(0, rank, DType::BF16, 60);
        step.compute();
    }
    if (isAsync && outputs > 50) {
        using namespace kernels::cuda;
        const StreamSizes sizes = asyncLargeSizes(3, outputs, cols, false, isPlain, 1, 4,
                                                  asyncLargeRoom(kSmall.shared_bytes - 1024));
        QVERIFY(sizes.pass_tiles << sizes.tile_shift < outputs / 3);
    }
    const auto& ops = card.device().ops();
    const auto queue = card.device().queue();
    QCOMPARE(ops.begin_steps(queue), Status::Ok);
    QCOMPARE(ops.project(queue, first.args), Status::Ok);
    QCOMPARE(ops.project(queue, step.args), Status::Ok);
    QCOMPARE(ops.end_steps(queue), Status::Ok);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    double residual = 0.0;
    QVERIFY(first.error(&residual) < kProjectBound);
    QCOMPARE_LT(step.error(&residual), kProjectBound);
    QCOMPARE_LT(residual, kResidualBound);
    const std::string kernel = isAsync ? "belfry_stream_async_large" : "belfry_stream_large";
    QCOMPARE(layersOf(card),
             (std::vector<std::string>{kernel, rank > 0 ? kernel + "_updates" : kernel}));
}

// Attention by heads (device/decode/stream_attend_heads.cuh) against the reference and against
// attention by tiles. A block takes 48 keys, four a warp; the number of parts of a head is that of
// the blocks over that of the heads. Above 48 keys a part, it is by tiles: then both runs are the
// same.
void TestCudaStream::heads_data() {
    support::addColumns<size_t, KvType>("index", "type");
    for (size_t i = 0; i < std::size(kHeads); ++i) {
        QTest::newRow(kHeads[i].name) << i << KvType::BF16;
        QTest::addRow("%s, q8", kHeads[i].name) << i << KvType::Q8;
    }
}

void TestCudaStream::heads() {
    QFETCH(size_t, index);
    QFETCH(KvType, type);
    const HeadsRow& row = kHeads[index];
    ChainShape shape = row.shape;
    shape.kv_type = type;
    shape.hidden = shape.inter = 64;
    shape.ple = 0;
    shape.scale = 0.1F;
    const int layers = shape.is_reader ? 2 : 1;
    Chain by_heads(shape, layers);
    Chain by_tiles(shape, layers);
    for (Chain* chain : {&by_heads, &by_tiles}) {
        EmulatedCardOptions options;
        options.card.has_attention_by_heads = chain == &by_heads;
        options.multiprocessors = row.multiprocessors;
        options.run.seed = index;
        EmulatedCard card(options);
        // The second turn meets what the first one left.
        const int turns = chain == &by_heads ? 2 : 1;
        for (int turn = 0; turn < turns; ++turn) {
            QCOMPARE(chain->run(card.device()), Status::Ok);
            QCOMPARE(QString::fromStdString(card.finish()), QString());
            QVERIFY2(chain->error() < kStreamBound, qPrintable(QString::number(chain->error())));
        }
        QCOMPARE(card.ran(), std::vector<std::string>(sizeOf(turns), "belfry_stream"));
    }
    for (size_t i = 0; i < by_heads.attentions.size(); ++i) {
        const AttendCase& a = *by_heads.attentions[i];
        const AttendCase& b = *by_tiles.attentions[i];
        const std::vector<float> want = b.out.values();
        const double error = relativeError(a.out.data(), want);
        // The second layer: a cached value of the first may have gone to the other neighbour.
        QCOMPARE_LT(error, (i == 0 ? kAttendBound : kStreamBound));
        QCOMPARE(a.out.values() == want, !row.is_by_head);
        QVERIFY(relativeError(a.out.data(), a.want) < kStreamBound);
    }
    QVERIFY(by_heads.attentions.front()->cache_k.values() ==
            by_tiles.attentions.front()->cache_k.values());
    QVERIFY(by_heads.attentions.front()->cache_v.values() ==
            by_tiles.attentions.front()->cache_v.values());
}

void TestCudaStream::measured_data() {
    support::addColumns<int, int, bool, QString>("rank", "multiprocessors", "hasBulkCopies",
                                                 "kernel");
    QTest::newRow("no updates") << 0 << 3 << true << "belfry_stream";
    QTest::newRow("planned updates") << 8 << 12 << true << "belfry_stream_updates";
    QTest::newRow("any updates") << 8 << 3 << true << "belfry_stream_any_updates";
    // A card of 9.0 takes the form when it is asked to.
    QTest::newRow("no bulk copies") << 0 << 3 << false << "belfry_stream_async";
}

// With every launch timed (CardOptions::has_kernel_times) the same comes out.
void TestCudaStream::measured() {
    QFETCH(int, rank);
    QFETCH(int, multiprocessors);
    QFETCH(bool, hasBulkCopies);
    QFETCH(QString, kernel);
    ChainShape shape;
    shape.rank = rank;
    std::vector<uint32_t> results[2];
    for (const bool is_measured : {false, true}) {
        EmulatedCardOptions options;
        options.card.has_kernel_times = is_measured;
        options.multiprocessors = multiprocessors;
        if (!hasBulkCopies) {
            options.card.has_bulk_copies = false;
            options.card.shared_bytes = kernels::cuda::kSmallSharedBytes;
        }
        EmulatedCard card(options);
        Chain chain(shape, 1);
        QCOMPARE(chain.run(card.device()), Status::Ok);
        QCOMPARE(QString::fromStdString(card.finish()), QString());
        QCOMPARE_LT(chain.error(), kStreamBound);
        results[is_measured ? 1 : 0] = leftBy(chain);
        QCOMPARE(layersOf(card), std::vector<std::string>({kernel.toStdString()}));
    }
    QVERIFY(results[0] == results[1]);
}

void TestCudaStream::formsAskedFor_data() {
    support::addColumns<int, QString>("sharedBytes", "kernel");
    QTest::newRow("fastest") << 0 << "belfry_stream";
    QTest::newRow("99 KiB") << 1024 * 99 << "belfry_stream_async";
}

/// A card takes what CardOptions leave it, and computes the same with that.
void TestCudaStream::formsAskedFor() {
    QFETCH(int, sharedBytes);
    QFETCH(QString, kernel);
    EmulatedCardOptions options;
    options.multiprocessors = 3;
    options.card.shared_bytes = sharedBytes;
    {
        EmulatedCard card(options);
        Chain chain(ChainShape(), 1);
        QCOMPARE(chain.run(card.device()), Status::Ok);
        QCOMPARE(QString::fromStdString(card.finish()), QString());
        QCOMPARE_LT(chain.error(), kStreamBound);
        QCOMPARE(card.ran(), std::vector<std::string>{kernel.toStdString()});
    }
    // Without a launch for a token nothing is collected.
    options.card.has_streamed_launch = false;
    EmulatedCard single(options);
    QCOMPARE(single.device().ops().begin_steps(single.device().queue()), Status::Unsupported);
}

// A card whose shared memory begins elsewhere than it says computes nothing rather than nonsense.
void TestCudaStream::tableElsewhere() {
    EmulatedCardOptions options;
    options.multiprocessors = 3;
    options.reserved_shared = 2048;
    EmulatedCard card(options);
    Chain chain(ChainShape{}, 1);
    QCOMPARE(chain.run(card.device()), Status::Ok);
    QVERIFY(card.finish().find("__trap()") != std::string::npos);
}

// With few places for weights layers of 4 bits and a head of bf16 are a launch each.
void TestCudaStream::headOfHalves() {
    ChainShape shape;
    shape.hidden = 128;
    shape.head = WeightFormat::BF16;
    Chain chain(shape, 1);
    EmulatedCard card(optionsOf(kSmall, 4, 1));
    QCOMPARE(chain.run(card.device()), Status::Ok);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    QCOMPARE_LT(chain.error(), kStreamBound);
    QCOMPARE(card.ran(), (std::vector<std::string>{"belfry_stream_async", "belfry_project_bf16"}));
}

// A token with updates whose B is not in pieces of 16 bytes is single launches from the first of
// them on.
void TestCudaStream::updatesGoElsewhere() {
    ChainShape shape;
    shape.rank = 4;
    shape.has_projections_only = true;
    Chain chain(shape, 2);
    EmulatedCard card(optionsOf(kSmall, 4, 1));
    QCOMPARE(chain.run(card.device()), Status::Ok);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    QCOMPARE_LT(chain.error(), kStreamBound);
    QCOMPARE(card.ran().size(), chain.order.size());
    for (const std::string& name : card.ran()) {
        QVERIFY2(name.find("belfry_stream") == std::string::npos, name.c_str());
    }
}

TEST_CLASS_WITH(QCoreApplication, TestCudaStream)
#include "tst_cuda_stream.moc"
