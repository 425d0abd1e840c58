// SPDX-License-Identifier: Apache-2.0
// The one table of functions through which the engine computes. One table per implementation
// (cpu-scalar is the reference and is written to be read; cpu-avx2, cpu-avx512, cpu-avx512vnni,
// cpu-avx512bf16 are chosen at start-up). Functions check shapes, enqueue on `q` and return; they
// never allocate, synchronise with other queues, log or throw; of lists of steps see begin_steps.
//
// Conventions: activations fp32; linear products accumulate in fp32; norms, softmax, RoPE angles
// and soft-cap in fp32 (sums of norms may be double in the reference). `nullptr` data in an
// optional view means "absent".
#pragma once

#include "kernels/kv_rows.h"
#include "kernels/views.h"

#include <cmath>
#include <cstdint>

namespace kernels {

/// Where kernels are enqueued. CPU tables read `context` as a `cpu::ThreadPool*` (nullptr = run on
/// the calling thread) and finish before they return; a CUDA table reads it as a stream.
struct Queue {
    void* context = nullptr;
};

/// Which key a query may see. Positions are absolute token positions; a key slot with position -1
/// is empty. Key k is visible to query q iff
///   (k >= 0) and (not causal or k <= q or (block[k] == block[q] >= 0))
///   and (window == 0 or k > q - window).
/// With `block` set, keys of the same block are visible forward to the end of the block.
struct AttentionMask {
    const int32_t* query_position = nullptr; ///< [queries]
    const int32_t* key_position = nullptr;   ///< [keys]; any order (ring buffers).
    const int32_t* query_block = nullptr;    ///< [queries] or nullptr; -1 = none.
    const int32_t* key_block = nullptr;      ///< [keys] or nullptr.
    int64_t window = 0;                      ///< 0 = unlimited.
    bool causal = true;                      ///< false: every non-empty key is visible.
    /// Not causal, no window, and no key is empty: a table need not look at positions.
    bool is_open = false;
};

/// Softmax(scale * q k^T + mask) v with grouped heads: query head j reads kv head
/// j / (num_heads / num_kv_heads).
struct AttentionArgs {
    const float* q = nullptr; ///< [queries, num_heads, head_dim]
    const void* k = nullptr;  ///< [keys] rows of kv_type
    const void* v = nullptr;  ///< [keys] rows of kv_type
    KvType kv_type = KvType::F32;
    int64_t queries = 0;
    int64_t keys = 0;
    int64_t num_heads = 0;
    int64_t num_kv_heads = 0;
    int64_t head_dim = 0;
    float scale = 1.0F;
    AttentionMask mask;
    float* out = nullptr; ///< [queries, num_heads, head_dim]
    /// q and out are bf16 behind their pointers. Only tables with `product` take it, and only keys
    /// and values in bf16 or Q8.
    bool is_half = false;
};

/// Banded causal attention of the audio tower with relative keys and a score cap
/// (Gemma 4): s(i,j) = q_i.k_j + q_i.R[i-j] for 0 <= i-j < reach,
/// s = cap * tanh(s / cap), softmax, weighted sum of v.
struct AudioAttentionArgs {
    const float* q = nullptr;   ///< [frames, num_heads, head_dim], already scaled
    const float* k = nullptr;   ///< likewise
    const float* v = nullptr;   ///< likewise
    const float* rel = nullptr; ///< [reach, num_heads, head_dim], R[d] for distance d
    int64_t frames = 0;
    int64_t num_heads = 0;
    int64_t head_dim = 0;
    int64_t reach = 0;
    float cap = 50.0F;
    float* out = nullptr; ///< [frames, num_heads, head_dim]
};

/// 3x3 convolution, stride 2, zero padding 1, no bias, then LayerNorm over channels (weight only,
/// mean subtracted), then ReLU. in [time, mel, in_ch], out [ceil(time/2), ceil(mel/2), out_ch];
/// channels last.
struct SubsampleConvArgs {
    const float* in = nullptr;
    int64_t time = 0, mel = 0, in_ch = 0, out_ch = 0;
    const float* weight = nullptr; ///< [out_ch, in_ch, 3 (time), 3 (mel)]
    const float* norm = nullptr;   ///< [out_ch]
    float eps = 1e-6F;
    float* out = nullptr;
};

/// One low-rank update of a sum, see OpTable::lora_accumulate_all.
struct LoraTerm {
    MatView a;      ///< [rank, in]
    MatView b;      ///< [out, rank]
    MatView b_bias; ///< [out], or nullptr data.
    float scaling = 1.0F;
};

/// One low-rank update of a projection step: y[weight] += factor[0] * B (A h), added before the
/// activation. The factor is read when the step runs, so that a recorded step follows a strength.
struct ProjectLora {
    int weight = 0;
    MatView a;                     ///< [rank, in]
    MatView b;                     ///< [rows of w[weight], rank]
    const float* factor = nullptr; ///< [1] on the table's device
};

/// One row through up to three weights, with the norm and residual work in front and the activation
/// behind: a decode step that a GPU runs as one launch. All pointers on the table's device.
struct ProjectArgs {
    enum class Input : uint8_t {
        Plain = 0,    ///< h = x
        Norm,         ///< h = rms(x) * norm
        ResidualNorm, ///< r = (x + rms(t) * t_norm) * scalar; x_out = r; h = rms(r) * norm
        Residual,     ///< the same r; h = r
    };
    enum class Output : uint8_t {
        Store = 0,     ///< y[i] = W[i] h
        GatedPair,     ///< y[0] = act(W[0] h) * (W[1] h); equal shapes
        GatedMultiply, ///< y[0] = act(W[0] h) * multiply
    };
    Input input = Input::Plain;
    Output output = Output::Store;
    Activation activation = kDefaultActivation; ///< act of a gated output
    const float* x = nullptr;                   ///< [in]
    const float* t = nullptr;                   ///< [in], residual inputs
    MatView t_norm;                             ///< [in]; nullptr data: t is added as it is
    MatView norm;                               ///< [in]
    float scalar = 1.0F;
    float eps = 1e-6F;
    float* x_out = nullptr; ///< [in], not x: other blocks still read x
    int count = 0;          ///< Weights: 1 to 3, all [*, in] in one format.
    WeightView w[3];
    float* y[3] = {nullptr, nullptr, nullptr}; ///< [rows of w[i]]
    const float* multiply = nullptr;           ///< [rows of w[0]]
    int64_t multiply_stride = 0;               ///< Between its rows, from begin_rows to end_steps.

    static constexpr int kMaxLora = 12;
    static constexpr int kMaxTaps = 4;
    int lora_count = 0;
    ProjectLora lora[kMaxLora]; ///< Those of one weight follow each other, weights in order.
    /// A h of all updates, made by the step before (its taps): [sum of the ranks, lora_parts], to
    /// be summed over the parts. nullptr: this step computes A h itself.
    const float* lora_sums = nullptr;
    int lora_parts = 0;
    /// For the step that takes y[0] as its plain input: tap[i] y[0] for each of its A [rank, rows
    /// of y[0]], as sums over parts of y[0]. One part a block: the blocks of a wide step multiply
    /// what they have just made, instead of every block of the next one all of it.
    int tap_count = 0;
    MatView tap[kMaxTaps];
    float* tap_sums = nullptr; ///< [sum of the ranks, tap_parts], overwritten
    int tap_parts = 0;         ///< What OpTable::project_parts answers.
};

/// Rows that a step between OpTable::begin_rows and end_steps may have.
inline constexpr int kMostStepRows = 4;

/// Attention of one token from raw projections: head norms, RoPE, the store of the new key and
/// value (layers that own KV), softmax(scale * q k^T) v over the cache. What changes from token to
/// token is read from device memory, so that a captured step can be replayed.
struct AttendStepArgs {
    const float* q = nullptr;          ///< [num_heads, head_dim]
    const float* k = nullptr;          ///< [num_kv_heads, head_dim]; nullptr: a KV-shared reader
    const float* v = nullptr;          ///< likewise; k where the layer has k = v
    MatView q_norm, k_norm;            ///< [head_dim]; nullptr data: heads are not normed
    bool norms_values = true;          ///< Heads of v are normed, without weight.
    const float* inv_freq = nullptr;   ///< [head_dim / 2]
    const int32_t* position = nullptr; ///< [1]
    const int32_t* slot = nullptr;     ///< [1], row of the cache for the new token
    const int32_t* key_position = nullptr; ///< [capacity], the new token included
    const int32_t* key_count = nullptr;    ///< [1], cache rows in use, the new token included
    void* cache_k = nullptr;               ///< [capacity] rows of kv_type
    void* cache_v = nullptr;
    KvType kv_type = KvType::BF16;
    int64_t capacity = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0;
    int64_t window = 0; ///< 0 = unlimited
    /// Position p lies in row p % capacity and positions have no gaps: rows beyond the window need
    /// not be looked at.
    bool is_ring = false;
    /// Queries are turned as at position + turn, and see what one at `position` sees: a draft is
    /// behind the tokens that have keys. Not 0: without k; not between begin_rows and end_steps.
    int32_t turn = 0;
    float scale = 1.0F;
    float eps = 1e-6F;
    float* out = nullptr; ///< [num_heads, head_dim]
};

/// The places of rows at their experts, all on the device. chosen and share: what choose_experts
/// gives.
struct ExpertOrderArgs {
    const int32_t* chosen = nullptr; ///< [rows, top_k], each below experts.
    int64_t rows = 0, top_k = 0, experts = 0;
    const float* scale = nullptr; ///< [experts]
    float* share = nullptr;       ///< [rows, top_k], each times its expert's scale afterwards.
    int32_t* row = nullptr;       ///< [rows * top_k]: row of a place
    int32_t* place = nullptr;     ///< [rows, top_k]: place of a choice
    int32_t* first = nullptr;     ///< [experts + 1]: an expert's first place
};

/// Places of rows that are sorted by expert, each with its expert's weights: y = W x in fp32, or,
/// gated, y = act(W_gate x) * (W_up x) in bf16.
struct ExpertProductArgs {
    const void* x = nullptr;       ///< [rows, cols of w] bf16, aligned to 16 bytes.
    const int32_t* rows = nullptr; ///< [places] on the device: row of x; nullptr: row i of place i.
    WeightView w; ///< [experts * outputs, cols]; gated: of every expert gate's rows, then up's.
    bool is_gated = false;
    Activation activation = kDefaultActivation;
    void* y = nullptr;              ///< [places, end - begin], aligned to 8 bytes.
    int64_t begin = 0;              ///< Outputs of an expert, gated half of its rows, from this one
    int64_t end = 0;                ///< to the one before this; both are even.
    const int32_t* first = nullptr; ///< [experts + 1] on the device: an expert's first place.
    int64_t experts = 0;
    int64_t places = 0;
};

/// total[r,:] += weights[r,j] * x[p - place,:] for the places p = places[r,j] of row r, in their
/// order, that x has and that belong to these experts.
struct ExpertSumArgs {
    MatF32 x;                        ///< [some places, columns]
    int64_t place = 0;               ///< Its first row's.
    const int32_t* places = nullptr; ///< [rows, top_k] on the device.
    const float* weights = nullptr;  ///< [rows, top_k] on the device.
    const int32_t* first = nullptr;  ///< [experts + 1] as above; nullptr: all experts
    int64_t experts = 0, top_k = 0;
    MutF32 total; ///< [rows, columns]
};

/// Routed experts of one token beside a dense MLP, without the host: scores = R (rms(x) *
/// router_scale * input_scale), p = softmax(scores), the top_k largest of them (the lower index of
/// equals), w = their p divided by their sum, times expert_scale; then
/// t = rms(t) * t_norm + rms(sum of w_j D_j (act(G_j h) * (U_j h))) * out_norm with
/// h = rms(x) * norm. Scores in fp32. All pointers on the table's device.
struct ExpertsStepArgs {
    const float* x = nullptr;            ///< [hidden]
    float* t = nullptr;                  ///< [hidden]: the dense MLP's output; receives the sum
    WeightView router;                   ///< [experts, hidden]
    const float* router_scale = nullptr; ///< [hidden]
    const float* expert_scale = nullptr; ///< [experts]
    float input_scale = 1.0F;
    WeightView gate_up;             ///< [experts * 2 * inner, hidden]; of an expert: G, then U
    WeightView down;                ///< [experts * hidden, inner]
    MatView t_norm, norm, out_norm; ///< [hidden]
    int64_t experts = 0, top_k = 0;
    Activation activation = kDefaultActivation;
    float eps = 1e-6F;
    float* scores = nullptr; ///< [experts], overwritten, as those below
    float* chosen = nullptr; ///< [chosenFloats(top_k)]
    float* act = nullptr;    ///< [top_k, inner]
    float* sum = nullptr;    ///< [hidden]
    /// placed_experts: where in gate_up and down an expert lies, [experts]; below 0: not there.
    const int32_t* place_of = nullptr;
    int64_t places = 0;             ///< Experts that gate_up and down have room for.
    const float* own_sum = nullptr; ///< merge_experts: [hidden], added to `sum`; may be absent.

    /// int32 that route_experts sets to 1, one more, then expert (int32) and weight of each chosen.
    static constexpr int64_t chosenFloats(int64_t top_k) { return 2 * top_k + 2; }
};

/// Routed experts of a few rows whose choice is known: sum[r] = sum over j of weight[r,j] *
/// D_e (act(G_e x[r]) * (U_e x[r])) with e = chosen[r,j].
struct ExpertRowsArgs {
    static constexpr int64_t kMostPlaces = 256; ///< rows * top_k

    MatF32 x;           ///< [rows, hidden]
    WeightView gate_up; ///< [experts * 2 * inner, hidden]; of an expert: G, then U
    WeightView down;    ///< [experts * hidden, inner]
    int64_t experts = 0, top_k = 0;
    Activation activation = kDefaultActivation;
    const int32_t* chosen = nullptr; ///< [rows, top_k]
    const float* weight = nullptr;   ///< [rows, top_k]
    MutF32 sum;                      ///< [rows, hidden], overwritten
};

/// Rows through up to three weights of equal inputs, with what stands before and behind them in a
/// layer. Rows are bf16 without gaps, as tensor cores take them. All on the table's device.
struct ProductArgs {
    enum class Output : uint8_t {
        Store = 0,     ///< y[i] = W[i] x, fp32
        GatedPair,     ///< y[0] = act(W[0] x) * (W[1] x), bf16; equal shapes
        GatedMultiply, ///< y[0] = act(W[0] x) * multiply, bf16
    };
    /// Bounds of the input and of the result before anything else is done with it.
    struct Bounds {
        float in_low = -INFINITY, in_high = INFINITY;
        float out_low = -INFINITY, out_high = INFINITY;
    };
    Output output = Output::Store;
    Activation activation = kDefaultActivation; ///< act of a gated output
    const void* x = nullptr;                    ///< [rows, cols of w]
    int64_t rows = 0;
    int count = 0; ///< Weights: 1 to 3; a pair has 2.
    WeightView w[3];
    void* y[3] = {nullptr, nullptr, nullptr}; ///< [rows, rows of w[i]]
    Bounds bounds[3];
    MatF32 multiply; ///< [rows, rows of w[0]]
    /// Store: sums over parts of the columns may be left to the reader, y[i] [parts, rows, rows of
    /// w[i]]. In: for how many there is room; out: how many there are.
    int parts = 1;

    static constexpr int kMaxUpdates = 4;           ///< Per weight.
    static constexpr int64_t kMaxUpdateRanks = 512; ///< Their ranks, rounded up to multiples of 8.
    int update_count = 0;
    /// Those of one weight follow each other, weights in order: W[i] x + factor[0] * B (A x) stands
    /// for W[i] x everywhere above, x within the bounds of the weight's input. A begins at a
    /// multiple of 16 bytes.
    ProjectLora updates[3 * kMaxUpdates];
};

/// x = (x + rms(t) * t_norm) * scalar where there is t, (x + t) * scalar without t_norm; then h =
/// rms(x) * norm in bf16, or x itself in bf16 where there is no norm.
struct NormRowsArgs {
    float* x = nullptr;       ///< [rows, cols], contiguous
    const float* t = nullptr; ///< [parts, rows, cols], to be added up; or nullptr
    int parts = 1;
    MatView t_norm;    ///< [cols] or nullptr data
    MatView norm;      ///< [cols] or nullptr data
    void* h = nullptr; ///< [rows, cols] bf16, or nullptr
    int64_t rows = 0, cols = 0;
    float scalar = 1.0F;
    float eps = 1e-6F;
};

/// From raw projections of many rows to what attention reads, in bf16: q and k normed and turned
/// (half-split RoPE), v normed without weight.
struct HeadRowsArgs {
    const float* q = nullptr; ///< [parts, rows, num_heads, head_dim], to be added up
    const float* k = nullptr; ///< [parts, rows, num_kv_heads, head_dim]; nullptr: queries only
    const float* v = nullptr; ///< likewise; k where the layer has k = v
    int parts = 1;
    MatView q_norm, k_norm;              ///< [head_dim]; nullptr data: heads are not normed
    bool norms_values = true;            ///< Heads of v are normed.
    const int32_t* position = nullptr;   ///< [rows]
    const int32_t* position_2 = nullptr; ///< [rows]: the halves of a head turn by themselves, the
                                         ///< second by these; nullptr: the head as a whole
    const float* inv_freq = nullptr;     ///< [head_dim / 2, or / 4 with position_2]
    void* q_to = nullptr;                ///< [rows, num_heads, head_dim]
    /// Where keys and values go: rows from `first` on, row i to row slot[i - first] (nullptr: to
    /// row i).
    struct Target {
        void* k = nullptr; ///< [capacity] rows of kv_type; nullptr: no such target
        void* v = nullptr;
        const int32_t* slot = nullptr;
        int64_t first = 0, capacity = 0;
    };
    Target to[2];
    KvType kv_type = KvType::BF16; ///< BF16 or Q8.
    int64_t rows = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0;
    float eps = 1e-6F;
};

/// What stands before the layers of one token: its row of the embedding, and of every slice (as
/// wide as norm) of the per-layer inputs y = (rms(before * (projection x)) * norm + t) * after. All
/// on the table's device.
struct TokenInputArgs {
    const int32_t* token = nullptr; ///< [1], a row of the tables; zeros for one outside.
    WeightView embedding;           ///< [vocabulary, hidden]; without data: x holds the row.
    float embedding_scale = 1.0F;
    float* x = nullptr; ///< [hidden] = embedding_scale * the row
    WeightView table;   ///< [vocabulary, slices * width]: t = table_scale * the row;
    float table_scale = 1.0F;
    const float* token_part = nullptr; ///< or t itself, [slices * width].
    float* t = nullptr;                ///< [slices * width], written either way
    WeightView projection;             ///< [slices * width, hidden]
    MatView norm;                      ///< [width]
    float eps = 1e-6F, before = 1.0F, after = 1.0F;
    float* y = nullptr; ///< [slices * width]
};

/// Numbers of one decoded token that its steps read on the device, the positions of a ring of
/// sliding layers (-1: none) behind them.
struct TokenNumbers {
    int32_t position;
    int32_t sliding_slot, full_slot;   ///< Rows of the caches that the token's keys go to.
    int32_t sliding_count, full_count; ///< Rows in use, its own included.
    int32_t token;                     ///< Its id.
    int32_t unused[10];
};

/// Numbers of a round of drafts: where it stands, and what was drafted so far. The layout is the
/// engine's and the device code's.
struct DraftNumbers {
    static constexpr int32_t kMost = 31;
    TokenNumbers at;      ///< The last token that has keys; its token: the one to draft behind.
    int32_t count;        ///< Drafts made.
    int32_t draft[kMost]; ///< Those.
};

/// The end of a draft (OpTable::choose_draft). The largest logit's token, the lowest of equals, of
/// what is finite and not suppressed; the token drafted behind where there is none. It becomes
/// numbers->at.token and numbers->draft[count++].
struct DraftChoiceArgs {
    const float* logits = nullptr; ///< [tokens], or with groups [groups]: of their centroids.
    int64_t tokens = 0;
    const uint32_t* suppressed = nullptr; ///< [ceil(tokens / 32)] bits, or nullptr.
    int64_t groups = 0;                   ///< 0: none. Of tokens / groups rows each.
    int64_t top = 0;                      ///< Groups whose logits are largest, of equals the first.
    WeightView table;                     ///< [tokens, hidden], one group behind the other.
    const int32_t* ordering = nullptr;    ///< [tokens]: whose row of the table that is.
    const float* x = nullptr;             ///< [hidden]: logits of these tokens are rows times
    MatView norm;                         ///< rms(x) * norm.
    float eps = 1e-6F;
    DraftNumbers* numbers = nullptr;
    int32_t* told = nullptr; ///< [kMost] where the device's kernels write, as draft; or nullptr.
};

/// A token and its logit.
struct TokenLogit {
    int32_t token;
    float logit;
};

/// What a choice among the k most probable tokens can fall on: the k largest logits of a row and
/// all that equal the k-th, without -infinity, in no particular order.
struct TopLogits {
    static constexpr int32_t kMostWanted = 256; ///< Largest k.
    static constexpr int32_t kMost = 512;
    /// As the count: see the row. Too many equal the k-th or come close, or there is NaN or
    /// +infinity among the logits (suppressed ones, too).
    static constexpr int32_t kSeeRow = -1;
    int32_t count;
    int32_t unused;
    TokenLogit entry[kMost];
};

/// Values of one piece of a weight and where its quantized form goes: whole 4-bit blocks (the last
/// of a weight may be shorter), or whole rows of Int8Row. All on the device.
struct QuantizeArgs {
    const void* values = nullptr; ///< [rows, cols] of `type`, aligned to 16 bytes.
    DType type = DType::BF16;
    int64_t rows = 0; ///< 4-bit: 1, with cols = the number of values.
    int64_t cols = 0;
    WeightFormat format = WeightFormat::Int8Row; ///< Or one that has codes.
    int32_t block_size = 64;                     ///< 4-bit.
    void* data = nullptr;                        ///< [ceil(count/2)] codes, or [rows, cols] int8.
    /// [blocks] absmax or [rows] scales; not finite where a value is not finite.
    float* scales = nullptr;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): tables use designated initialisers
struct OpTable {
    const char* name;

    /// y[t,n] = sum_k x[t,k] * dequant(w)[n,k]. x [tokens, in], w [out, in], y [tokens, out],
    /// overwritten. fp32 accumulation; fast tables may round x (and expanded w) to bf16.
    /// 4-bit weights with in % block_size != 0 are allowed (blocks run over the flat array).
    Status (*linear)(Queue q, MatF32 x, WeightView w, MutF32 y);

    /// y += scaling * ((x A^T) B^T + b_bias). The unmerged LoRA update (Hu et al. 2021, eq. 3).
    /// x [tokens, in], a [rank, in], b [out, rank], b_bias [out] or nullptr data;
    /// scratch [tokens, rank], overwritten.
    Status (*lora_accumulate)(Queue q,
                              MatF32 x,
                              MatView a,
                              MatView b,
                              MatView b_bias,
                              float scaling,
                              MutF32 scratch,
                              MutF32 y);

    /// y = rms(x) * weight per row; weight [1, cols] or absent (scale-free). y may be x.
    Status (*rms_norm)(Queue q, MatF32 x, MatView weight, float eps, MutF32 y);

    /// residual += alpha * rms(x) * weight per row.
    Status (*rms_norm_add)(
        Queue q, MatF32 x, MatView weight, float eps, float alpha, MutF32 residual);

    /// In place half-split ("NeoX") RoPE on columns [offset, offset + dim) of every head:
    /// pair (j, j + dim/2), angle position[t] * inv_freq[j], j in [0, dim/2). Angles in fp32.
    /// x [tokens, heads * head_dim].
    Status (*rope)(Queue q,
                   MutF32 x,
                   int64_t head_dim,
                   int64_t offset,
                   int64_t dim,
                   const int32_t* position,
                   const float* inv_freq);

    Status (*attention)(Queue q, const AttentionArgs& args);
    Status (*audio_attention)(Queue q, const AudioAttentionArgs& args);
    Status (*subsample_conv)(Queue q, const SubsampleConvArgs& args);

    /// y = act(gate) * up, element-wise. y may be gate.
    Status (*gated_mul)(Queue q, Activation activation, MatF32 gate, MatF32 up, MutF32 y);
    /// y = x * sigmoid(gate), element-wise: SiLU where gate is x, a gated linear unit where it is
    /// other columns of the same rows. y may be x or gate.
    Status (*sigmoid_mul)(Queue q, MatF32 x, MatF32 gate, MutF32 y);
    /// Depthwise causal convolution over rows: y[t,c] = sum_k w[c,k] x[t-taps+1+k, c], zeros
    /// before row 0. w fp32 [cols, taps].
    Status (*causal_conv1d)(Queue q, MatF32 x, const float* w, int64_t taps, MutF32 y);
    /// y = min(max(x, lo), hi). y may be x. NaN stays NaN.
    Status (*clamp)(Queue q, MatF32 x, float lo, float hi, MutF32 y);
    /// y = (y + alpha * x).
    Status (*add_scaled)(Queue q, MatF32 x, float alpha, MutF32 y);
    /// x *= s.
    Status (*scale)(Queue q, MutF32 x, float s);
    /// x[t,c] *= s[c]; s fp32 [cols].
    Status (*scale_columns)(Queue q, MutF32 x, const float* s);
    /// x[t,c] += b[c]; b fp32 [cols].
    Status (*add_columns)(Queue q, MutF32 x, const float* b);
    /// x = cap * tanh(x / cap).
    Status (*soft_cap)(Queue q, MutF32 x, float cap);

    /// y[i,:] = scale * table[ids[i], col_offset : col_offset + cols(y)]; table may be any weight
    /// format. BadShape when an id is outside [0, rows).
    Status (*gather_rows)(Queue q,
                          WeightView table,
                          const int32_t* ids,
                          int64_t count,
                          int64_t col_offset,
                          float scale,
                          MutF32 y);

    /// Store fp32 rows as rows of `type` (round to nearest even): dst row slot[i] <- src row i.
    /// src [rows, heads * head_dim]; dst [capacity] rows.
    Status (*store_rows)(Queue q,
                         MatF32 src,
                         const int32_t* slot,
                         KvType type,
                         int64_t heads,
                         void* dst,
                         int64_t capacity);

    /// y += sum over terms of scaling * ((x A^T) B^T + b_bias): several adapters at one module in
    /// as many steps as one adapter takes (all A with x, then all B into y). Ranks and types may
    /// differ. `terms` is host memory, read before the call returns; `scratch` is [tokens, sum of
    /// the ranks], overwritten. nullptr = this table has none: call lora_accumulate per term.
    Status (*lora_accumulate_all)(Queue q,
                                  MatF32 x,
                                  const LoraTerm* terms,
                                  int64_t count,
                                  MutF32 scratch,
                                  MutF32 y) = nullptr;

    // Fused steps of many rows: all or none of these seven. `Unsupported` before anything is
    // enqueued for operands that the kernels do not take.
    /// Whether this device takes rows of `hidden` columns and heads of `head_dim` in these steps:
    /// asked once, when a model is bound. Operands besides: columns of products in multiples of 8,
    /// their outputs in multiples of 2, even heads, updates within ProductArgs' numbers.
    bool (*takes_rows)(Queue q, int64_t hidden, int64_t head_dim) = nullptr;
    Status (*product)(Queue q, ProductArgs& args) = nullptr;
    Status (*norm_rows)(Queue q, const NormRowsArgs& args) = nullptr;
    Status (*head_rows)(Queue q, const HeadRowsArgs& args) = nullptr;
    /// y = (x + shift) * scale in bf16; x and y [rows, cols], contiguous.
    Status (*scale_to_half)(Queue q, MatF32 x, float shift, float scale, void* y) = nullptr;
    /// y[i] = factor * sum over the side x side rows of x [grid_h * grid_w, cols] that stand for
    /// it.
    Status (*pool_rows)(Queue q, MatF32 x, int64_t grid_w, int64_t side, float factor, MutF32 y) =
        nullptr;

    /// For every slice of a row, as wide as norm: y = (rms(y * before) * norm + t) * after. y and t
    /// [rows, slices * cols of norm].
    Status (*per_layer_rows)(
        Queue q, MutF32 y, MatF32 t, MatView norm, float eps, float before, float after) = nullptr;

    // Fused decode steps: nullptr where a table has none. What takes_*() says of operands holds for
    // all values behind the pointers, so that it is asked where a step is planned; without such a
    // function the table takes all. Where it does not, the caller composes the step from the
    // functions above.
    bool (*takes_projection)(Queue q, const ProjectArgs& args) = nullptr;
    Status (*project)(Queue q, const ProjectArgs& args) = nullptr;
    /// Parts of y[0] that project() sums its taps over, for these weights and updates; 0: it takes
    /// no taps for them. nullptr: it takes none at all.
    int (*project_parts)(Queue q, const ProjectArgs& args) = nullptr;
    bool (*takes_attention)(Queue q, const AttendStepArgs& args) = nullptr;
    Status (*attend_step)(Queue q, const AttendStepArgs& args) = nullptr;
    /// scores[t,e] = sum_i R[e,i] rms(x)[t,i] * scale[i] * factor in fp32, whatever the table makes
    /// of other products: a rounded score can choose another expert. x [rows, hidden], router
    /// [experts, hidden], scale [hidden], scores [rows, experts]. Optional.
    Status (*router_scores)(Queue q,
                            MatF32 x,
                            WeightView router,
                            const float* scale,
                            float factor,
                            float eps,
                            MutF32 scores) = nullptr;
    /// The top_k largest of every row of scores, in falling order, the lower index of equals, and
    /// their shares: softmax over the row, divided by the sum of those chosen. scores [rows,
    /// experts]; chosen and share [rows, top_k], on the table's device. Optional.
    Status (*choose_experts)(Queue q, MatF32 scores, int64_t top_k, int32_t* chosen, float* share) =
        nullptr;
    /// Sorts choices by expert, equal ones by row. Optional with expert_products.
    Status (*order_experts)(Queue q, const ExpertOrderArgs& args) = nullptr;
    /// Optional. Unsupported: nothing was enqueued.
    Status (*expert_products)(Queue q, const ExpertProductArgs& args) = nullptr;
    /// Optional.
    Status (*sum_experts)(Queue q, const ExpertSumArgs& args) = nullptr;
    /// Optional; where the table reads what the host wrote. Unsupported: too many rows.
    Status (*expert_rows)(Queue q, const ExpertRowsArgs& args) = nullptr;
    /// Also of the two ends of the step, where gate_up is absent.
    bool (*takes_experts)(Queue q, const ExpertsStepArgs& args) = nullptr;
    /// Optional: the caller then asks the host which experts a row takes.
    Status (*experts_step)(Queue q, const ExpertsStepArgs& args) = nullptr;
    /// The two ends of experts_step for experts that somebody else computes, who reads `chosen` and
    /// `act` (receives h, [hidden]) and writes `sum`; gate_up and down are absent. Optional with
    /// experts_step, both or none. Unsupported: nothing was enqueued.
    Status (*route_experts)(Queue q, const ExpertsStepArgs& args) = nullptr;
    Status (*merge_experts)(Queue q, const ExpertsStepArgs& args) = nullptr;
    /// Behind route_experts, whose scores it reads: sum = what those of the chosen experts give
    /// that have a place in gate_up [places * 2 * inner, hidden] and down [places * hidden, inner].
    /// It leaves `chosen` and `t` alone. Optional with route_experts.
    Status (*placed_experts)(Queue q, const ExpertsStepArgs& args) = nullptr;
    /// Between them, project and attend_step may be collected and launched as one, in their place
    /// among all that is enqueued; the list is allocated, and its copy waited for. Optional: both
    /// or none. What was handed over must stay valid until end_steps. Unsupported: not collected.
    Status (*begin_steps)(Queue q) = nullptr;
    Status (*end_steps)(Queue q) = nullptr;
    /// In place of end_steps: nothing of what was collected since begin_rows runs.
    void (*drop_rows)(Queue q) = nullptr;
    /// As begin_steps, for a list behind the one that was handed over last on this device, which
    /// stays as it is: where a token's layers there are not one run. Optional with begin_steps.
    Status (*continue_steps)(Queue q) = nullptr;
    /// As begin_steps, for up to 160 steps that are run once, now: recordings of a list of up to
    /// 330 steps stay as they are.
    Status (*begin_once_steps)(Queue q) = nullptr;
    /// As begin_steps, for a list of up to 40 steps beside all others (an assistant's): each stays
    /// as it is when the other begins anew. One such list at a time. Optional with begin_steps.
    Status (*begin_side_steps)(Queue q) = nullptr;
    /// As begin_steps, for steps of up to kMostStepRows rows each: of what project and attend_step
    /// say, x, t, x_out, y, multiply, q, k, v and out have so many rows, without gaps but for
    /// multiply. Row r is the token at position + r; only a cache that is a ring, or whole. count
    /// [1], in device memory: rows that are there, 1 to kMostStepRows; what is made of the others
    /// is undefined. One list at a time: it takes the place of the last one that began so, and
    /// leaves others alone. Low-rank updates of project are taken where they fit. Optional;
    /// Unsupported, then or by a step: not in this form, whatever the values are, so that a list
    /// that is dropped tells.
    Status (*begin_rows)(Queue q, const int32_t* count) = nullptr;
    /// best[0] = (order-preserving bits of the largest logit) << 32 | (2^32 - 1 - its index), the
    /// lowest index of equals, among those whose bit in `suppressed` ([ceil(count/32)] words, may
    /// be nullptr) is clear. logits [count].
    Status (*argmax)(Queue q,
                     const float* logits,
                     int64_t count,
                     const uint32_t* suppressed,
                     uint64_t* best) = nullptr;
    bool (*takes_inputs)(Queue q, const TokenInputArgs& args) = nullptr;
    /// Optional: the caller then gathers, projects and calls per_layer_rows or its parts.
    Status (*token_inputs)(Queue q, const TokenInputArgs& args) = nullptr;
    /// soft_cap of one row of logits in place, and argmax of what comes out, in one launch. best:
    /// as of argmax, on the device or where its kernels write (Device::kernelAddress). Optional:
    /// the caller then calls the two.
    Status (*cap_argmax)(Queue q,
                         float* logits,
                         int64_t count,
                         float cap,
                         const uint32_t* suppressed,
                         uint64_t* best) = nullptr;
    /// soft_cap of one row of logits in place (none where cap is 0), and of what comes out the
    /// candidates for a choice among the `wanted` largest (1 to TopLogits::kMostWanted) of those
    /// not suppressed, as of argmax. top: on the device, or where its kernels write. Of rows of up
    /// to most_top_logits; the caller looks at longer ones itself.
    int64_t most_top_logits = 0;
    Status (*top_logits)(Queue q,
                         float* logits,
                         int64_t count,
                         float cap,
                         const uint32_t* suppressed,
                         int32_t wanted,
                         TopLogits* top) = nullptr;
    bool (*takes_draft_choice)(Queue q, const DraftChoiceArgs& args) = nullptr;
    /// One launch behind a draft's layers. Optional: the caller then looks at the logits.
    Status (*choose_draft)(Queue q, const DraftChoiceArgs& args) = nullptr;
    /// Dense values to a quantized format, the bytes of engine/quant/NF4.md. nullptr where the
    /// host does it. Unsupported: a format or block size that the kernels do not take.
    Status (*quantize)(Queue q, const QuantizeArgs& args) = nullptr;
};

} // namespace kernels
