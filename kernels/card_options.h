// SPDX-License-Identifier: Apache-2.0
// What a graphics card is opened with besides its memory: the forms of kernels that it may take,
// and what is measured meanwhile. Left alone, every card takes the fastest forms that it has. Less
// is for tests and for comparisons: how a card of another class computes, or what a form is worth.
// Results stay within the tolerances of tests/support/tolerances.md whatever is chosen. Which form
// runs where: docs/dev/kernels-cuda.md.
#pragma once

namespace kernels {

struct CardOptions {
    /// The steps of a decoded token as one launch (stream.cu, stream_async.cu); false: a launch a
    /// step, as on compute capability 7.5.
    bool has_streamed_launch = true;
    /// Weights on their way to it by bulk copies where the card has them; false: with instructions
    /// of compute capability 8.0 only (stream_async.cu), as on 8.x.
    bool has_bulk_copies = true;
    /// In stream.cu, low-rank updates by plans made once; false: worked out in every token, as for
    /// lists too long for plans.
    bool has_update_plans = true;
    /// In stream.cu, attention over short contexts by query heads; false: by tiles of keys, as over
    /// long ones.
    bool has_attention_by_heads = true;
    /// Rows of a tile of products by warp groups (product_wide.cu; of product_wide_half.cu its
    /// outputs): 128, 192 or 256; 0: by shape; negative: none of them, as on cards that are not of
    /// compute capability 9.0.
    int wide_rows = 0;
    /// Most shared memory of a block in bytes, never more than the card has; 0: what it has. 101376
    /// is what compute capability 8.6, 8.9 and 12.0 have.
    int shared_bytes = 0;
    /// Every launch is timed, and a table of times is printed to stderr when the card is closed,
    /// with clocks of decode steps where the build has them (CMake: BELFRY_TRACE). Nothing is
    /// recorded and replayed meanwhile.
    bool has_kernel_times = false;
    /// New memory is filled with 0xff (NaN in every float type), so that a read of what was never
    /// written shows. In debug builds.
#ifdef NDEBUG
    bool has_poison = false;
#else
    bool has_poison = true;
#endif
};

} // namespace kernels
