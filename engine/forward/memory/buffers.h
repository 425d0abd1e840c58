// SPDX-License-Identifier: Apache-2.0
// Every buffer of a forward pass, with its shape: what one device's workspace is carved into
// (workspace.cpp says which device has which, how large, and which share memory). fp32 row-major
// without gaps where nothing else is said; int32 through DeviceScratch::ints().
//
// rows: of one call (maxRows). Widths are those of the widest layer. "half": bf16, two in a float.
#pragma once

#include <cstdint>

namespace engine {

inline constexpr int64_t kHeadRows = 8;      ///< Logit rows computed at a time.
inline constexpr int64_t kDraftSeenFrom = 8; ///< In Buffer::DraftPosition.

enum class Buffer : uint8_t {
    // Kept for the life of the model.
    KernelScratch, ///< What a card's kernels need for themselves.
    Tables,        ///< Small vectors as fp32: ModelBinder::table().
    ForeignIn,     ///< [rows, in] of a linear that computes here for another device,
    ForeignOut,    ///< [rows, out] and its result.

    // Decoder: positions and places of a call's rows.
    Ids,                ///< [rows] int32, token ids
    InvFreqSliding,     ///< [head_dim / 2] of sliding layers
    InvFreqFull,        ///< [head_dim / 2] of full layers
    QueryPosition,      ///< [rows] int32
    QueryBlock,         ///< [rows] int32, image block or -1
    SlotsSliding,       ///< [rows] int32, rows of the ring
    SlotsFull,          ///< [rows] int32, rows of a full layer's cache
    KeyPositionSliding, ///< [ring] int32, -1: empty
    KeyBlockSliding,    ///< [ring] int32
    KeyPositionFull,    ///< [context] int32: i
    SlotsStage,         ///< [rows] int32; of calls longer than the ring (workspace.h, stageRows)
    KeyPositionStage,   ///< [stage] int32
    KeyBlockStage,      ///< [stage] int32
    StageK,             ///< [stage, kv_heads * head_dim] in the cache's type
    StageV,             ///< likewise

    // Decoder: the residual stream and one layer.
    X,    ///< [rows, hidden], the residual stream
    H,    ///< [rows, hidden], normed input of a product; half in fused rows
    T,    ///< [rows, hidden], a branch's result before its norm; fused rows: [parts, rows, hidden]
    Q,    ///< [rows, heads * head_dim]
    K,    ///< [rows, kv_heads * head_dim]
    V,    ///< likewise
    O,    ///< [rows, heads * head_dim], attention's result; fused rows: queries half, result half
    Gate, ///< [rows, intermediate]; half in fused rows
    Up,   ///< [rows, intermediate]
    Logits, ///< [up to kHeadRows, vocab]

    // Decoder: per-layer inputs.
    Ple,      ///< [rows, layers * ple_size]
    PleToken, ///< [up to kPleRows or kPleCardRows, layers * ple_size], rows of the table
    PleSlice, ///< [rows, ple_size], of one layer, where Ple is on another device
    PleGate,  ///< [rows, ple_size]; half in fused rows

    // Decoder: experts.
    MoeProbs,     ///< [rows, experts]
    MoeRouterLow, ///< [rows, experts]
    MoeIn,        ///< [rows, hidden]
    MoeRows,   ///< [rows of some experts, hidden]; on a card [rows * top_k, moe_intermediate] half
    MoeGateUp, ///< [rows of some experts, 2 * moe_intermediate]
    MoeAct,    ///< [rows of some experts, moe_intermediate]
    MoeDown,   ///< [rows of some experts, hidden]; on a card [rows * top_k, some columns]
    MoeSum,    ///< [rows, hidden]
    MoeOrder,  ///< [4, rows * top_k] and [experts + 1]: experts.cpp, addOnCard(); cards only
    Lent,      ///< [2, some bytes] over attention's, the MLP's, the experts' and the head's:
               ///< lent_weights.h
    MoeLent,   ///< [2, some bytes] over MoeGateUp and what is behind it; cards only

    // Fused steps of one token (token_steps.h).
    StepInput,      ///< TokenNumbers, ring positions, [hidden] row, [layers * ple_size] table row
    StepX,          ///< [hidden], the residual stream beside the input's row
    StepNorm,       ///< [hidden], norm of a row that another card has begun
    StepBest,       ///< the chosen token's key, or TopLogits
    StepLora,       ///< sums of the next step's A h
    StepSuppressed, ///< [vocab / 32] bits

    // Vision tower. P: patches of an image, B: rows of a block outside attention.
    VisionInvFreq,      ///< [head_dim / 4]
    PatchX,             ///< [P] int32, column
    PatchY,             ///< [P] int32, row
    PatchIds,           ///< [P] int32, rows of the position table
    PatchSlots,         ///< [P] int32: i
    VisionX,            ///< [P, hidden], the residual stream
    VisionKeys,         ///< [P, hidden]
    VisionValues,       ///< [P, hidden]
    VisionKeysHalf,     ///< [P, hidden] half, on a card
    VisionValuesHalf,   ///< likewise
    VisionH,            ///< [B, hidden]
    VisionT,            ///< [B, hidden]
    VisionPatch,        ///< [B, 3 * patch^2]
    VisionKBlock,       ///< [B, hidden]
    VisionVBlock,       ///< [B, hidden]
    VisionQ,            ///< [B, hidden]
    VisionO,            ///< [B, hidden]
    VisionGate,         ///< [B, intermediate]
    VisionUp,           ///< [B, intermediate]
    VisionClamp,        ///< [B, widest], clamped input of a clipped linear
    VisionRowsQueries,  ///< [P, hidden] half; from here on: fused rows
    VisionRowsKeys,     ///< [P, hidden] half
    VisionRowsValues,   ///< [P, hidden] half
    VisionRowsPool,     ///< [soft tokens, hidden]
    VisionRowsH,        ///< [B, hidden] half
    VisionRowsT,        ///< [parts, B, hidden]
    VisionRowsO,        ///< [B, hidden] half
    VisionRowsQ,        ///< [parts, B, hidden]
    VisionRowsK,        ///< [parts, B, hidden]
    VisionRowsV,        ///< [parts, B, hidden]
    VisionRowsAct,      ///< [B, intermediate] half
    VisionRowsPixels,   ///< [B, 3 * patch^2]
    VisionRowsPatch,    ///< [B, 3 * patch^2] half
    VisionProjectorIn,  ///< [soft tokens, vision hidden]
    VisionProjectorOut, ///< [soft tokens, hidden]

    // Audio tower. F: soft tokens (frames of the tower).
    AudioRelPositions, ///< [context_left, hidden], sines
    AudioRelKeys,      ///< [context_left, hidden]
    Mel,               ///< [4 F, mel bins]
    AudioConv1,        ///< [frames of a block, mel / 2, channels]
    AudioConv2,        ///< [frames of a block, mel / 4, channels]
    AudioX,            ///< [F, hidden], the residual stream
    AudioH,            ///< [F, hidden]
    AudioT,            ///< [F, hidden]
    AudioQ,            ///< [F, hidden]
    AudioK,            ///< [F, hidden]
    AudioV,            ///< [F, hidden]
    AudioO,            ///< [F, hidden]
    AudioWide,         ///< [F, 4 * hidden]
    AudioClamp,        ///< [F, 4 * hidden], clamped input of a clipped linear
    AudioOut,          ///< [F, output size]
    AudioProjectorIn,  ///< [F, output size]
    AudioProjectorOut, ///< [F, hidden]

    // The assistant on a card, kept for the life of the model (draft_step.h).
    DraftNumbers,    ///< DraftNumbers
    DraftOrdering,   ///< [vocab] int32, tokens in the order of a table in groups
    DraftSuppressed, ///< [vocab / 32] bits, never drafted

    // The assistant: one row.
    DraftIn,        ///< [2 * model hidden], the model's embedding and hidden state
    DraftPosition,  ///< [16] int32: for RoPE; from [kDraftSeenFrom] on for what a draft may see
    DraftX,         ///< [hidden], the residual stream
    DraftH,         ///< [hidden]
    DraftT,         ///< [hidden]
    DraftQ,         ///< [heads * head_dim] of its widest layer
    DraftO,         ///< likewise
    DraftGate,      ///< [intermediate]
    DraftUp,        ///< [intermediate]
    DraftCentroids, ///< [groups]
    DraftRows,      ///< [candidates, hidden] of a table in groups
    DraftLogits,    ///< [candidates] or [vocab]

    Count, ///< Number of buffers; as a name: none.
};

} // namespace engine
