// SPDX-License-Identifier: Apache-2.0
// The scratch memory of a forward pass, per device: one allocation whose size is known before
// anything is loaded. The same functions size it (for the planner) and carve it (for the model),
// so that predicted and measured bytes are equal by construction.
#pragma once

#include "engine/api/placement.h"
#include "engine/forward/memory/buffers.h"
#include "engine/model/model_config.h"
#include "kernels/kv_rows.h"

#include <array>
#include <cstdint>

namespace engine {

/// Tokens whose PLE rows are gathered at a time: on the CPU few, so that they stay in its caches.
inline constexpr int64_t kPleRows = 64;
inline constexpr int64_t kPleCardRows = 512;
/// Patches processed at a time outside attention. A graphics card takes more: fewer launches, and
/// blocks that fill it.
inline constexpr int64_t kVisionBlockRows = 512;
inline constexpr int64_t kVisionCardRows = 1280;
/// In fused steps, whose rows between the products are half as wide.
inline constexpr int64_t kVisionFusedRows = 2560;
inline constexpr int64_t kAudioBlockFrames = 128; ///< Soft tokens per block of the convolutions.

/// What a device does, as far as its scratch depends on it.
struct DeviceRole {
    bool has_layers = false;         ///< Some decoder layer computes here.
    bool has_ple_projection = false; ///< per_layer_model_projection computes here.
    bool has_head = false;           ///< final norm and head compute here.
    bool has_vision = false;
    bool has_audio = false;
    bool has_vision_embedder = false;
    bool has_audio_embedder = false;
    bool has_assistant = false; ///< Drafts are made here.
    bool is_cuda = false;       ///< A graphics card: its kernels need scratch of their own.
    int64_t foreign_in = 0;     ///< Widest input of a linear that computes here for another device.
    int64_t foreign_out = 0;    ///< Its widest output.
    int64_t foreign_row = 0;    ///< Widest input or output of an assistant's linear from elsewhere.
    bool has_foreign_vision = false; ///< Such a linear belongs to a vision tower.
    int64_t table_floats = 0;        ///< Small vectors kept here as fp32: see isTableVector().
};

/// Sizes that are chosen, not given by the model.
struct RunShape {
    int64_t context = 4096;      ///< Tokens of KV cache.
    int64_t prefill_chunk = 512; ///< Tokens per prefill chunk asked for.
    int64_t image_tokens = 280;  ///< Largest soft-token budget of one image.
    bool is_reference = false;   ///< Single functions in fp32 alone.
    kernels::KvType kv_type = kernels::KvType::BF16;
};

/// Values of the widest layer's queries, [num_heads * head_dim], and of its MLP.
int64_t widestQ(const ModelConfig& config);
int64_t widestMlp(const ModelConfig& config);

/// Rows that one forward call may have: the chunk, or a whole image block where blocks must stay
/// together (use_bidirectional_attention = "vision").
int64_t maxRows(const ModelConfig& config, const RunShape& shape);

/// Rows of one call that sliding layers keep beside the window. A decoded token reads the whole
/// ring, so that it does not grow with larger chunks: those go through a stage (stageRows).
inline constexpr int64_t kMostRingRows = 512;

/// Rows of a call that may ask for logits, and of a call that needs no stage: at most maxRows,
/// kMostRingRows or one whole image block.
int64_t ringRows(const ModelConfig& config, const RunShape& shape);

/// Rows of the stage of sliding layers, where one call's keys and values lie behind a copy of the
/// ring while the call attends to them: ring and maxRows; 0 when every call fits the ring.
int64_t stageRows(const ModelConfig& config, const RunShape& shape);

/// Slots of the KV ring of one layer: the context for full layers, window - 1 + ringRows for
/// sliding ones (never more than the context).
int64_t kvCapacity(const ModelConfig& config, const RunShape& shape, LayerType type);

/// Bytes of one token's keys (or values) of one layer, which may read another's.
int64_t kvRowBytes(const ModelConfig& config, kernels::KvType type, int layer);

/// Bytes of K and V of one layer that owns KV, on one device; 0 for KV-shared layers.
uint64_t kvBytes(const ModelConfig& config, const RunShape& shape, int layer);

/// Where each buffer lies, offsets in floats from the start of the device's workspace.
class WorkspaceLayout {
public:
    /// `floats` are rounded up to a multiple of 16 (64 bytes).
    void add(Buffer buffer, int64_t floats);
    /// Scratch phases (text, vision, audio) share memory: begin one, the layout takes the maximum.
    void beginPhase();
    /// What is added from here to nextAlternative() or endAlternatives() shares memory with the
    /// other alternatives: buffers of which only one set is in use at a time.
    void beginAlternatives() { alternatives_end_ = alternatives_ = cursor_; }
    void nextAlternative();
    void endAlternatives();
    /// Behind endAlternatives(): all of their memory, for when none of them is in use.
    void addOver(Buffer buffer) {
        entries_[static_cast<size_t>(buffer)] = Entry{alternatives_, cursor_ - alternatives_};
    }
    /// Likewise: the buffer, last of its set, has what lies behind it in longer sets.
    void extend(Buffer buffer) {
        entries_[static_cast<size_t>(buffer)].floats = cursor_ - offset(buffer);
    }
    /// What is added from here on shares memory with everything from `buffer` on.
    void shareFrom(Buffer buffer) { cursor_ = offset(buffer); }
    /// -1 when absent.
    [[nodiscard]] int64_t offset(Buffer buffer) const { return at(buffer).offset; }
    /// Floats; 0 when absent.
    [[nodiscard]] int64_t size(Buffer buffer) const { return at(buffer).floats; }
    [[nodiscard]] uint64_t totalBytes() const { return static_cast<uint64_t>(end_) * 4U; }

private:
    struct Entry {
        int64_t offset = -1;
        int64_t floats = 0;
    };
    [[nodiscard]] const Entry& at(Buffer buffer) const {
        return entries_[static_cast<size_t>(buffer)];
    }
    std::array<Entry, static_cast<size_t>(Buffer::Count)> entries_;
    int64_t base_ = 0; ///< End of what is shared by all phases.
    int64_t cursor_ = 0;
    int64_t end_ = 0;
    int64_t alternatives_ = 0, alternatives_end_ = 0;
    bool in_phase_ = false;
};

WorkspaceLayout
layoutWorkspace(const ModelConfig& config, const RunShape& shape, const DeviceRole& role);

} // namespace engine
