// SPDX-License-Identifier: Apache-2.0
// Decoder layers for one token as fused steps on one device (kernels/ops.h: project, attend_step).
// Which layers, and what stands before and behind them, is said by those who use it: decode_step.h
// for a whole token on one device, split_steps.h for the layers of one that several devices share,
// draft_step.h for the assistant's.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/forward/layers/host_experts.h"
#include "engine/forward/memory/kv_cache.h"

#include <functional>

namespace engine {

class LayerSteps {
public:
    /// What a row still lacks: x is complete after x = (x + norm(t)) * scalar.
    struct Pending {
        const float* t = nullptr; ///< nullptr: nothing
        kernels::MatView norm;    ///< nullptr data: none
        float scalar = 1.0F;
    };
    /// One projection step: ops.project, or the same from single functions where a linear has
    /// clips or adapters that are more than low-rank updates, or the table does not take it.
    struct Projection {
        kernels::ProjectArgs args;
        const Linear* linear[3] = {nullptr, nullptr, nullptr};
        const Linear* next = nullptr; ///< Takes y[0] as its only input, in the step behind.

        /// y: nullptr where the step has no place for its result.
        void add(const Linear& factor, float* y) {
            linear[args.count] = &factor;
            args.y[args.count++] = y;
        }
    };
    /// The numbers that begin the input block; the ring's positions follow them.
    static constexpr int64_t kNumberFloats = sizeof(kernels::TokenNumbers) / sizeof(int32_t);

    explicit LayerSteps(BoundModel& model) : model_(&model) {}

    /// The table of `home` has the fused steps, and the layers and the cache are of their kind.
    /// Which operands it takes is asked by ask().
    [[nodiscard]] static bool
    isPossibleOn(const LayerStack& stack, const DeviceScratch& home, const KvCache& kv);
    /// Every weight of the layer lies and computes where the layer is, and so does its cache.
    /// but_experts: its experts may be the host's (HostExperts::serves()).
    [[nodiscard]] static bool isLayerHere(const DecoderLayer& layer, bool but_experts = false);
    /// The same for one linear; absent ones count as here.
    [[nodiscard]] static bool isHere(const Linear& linear, DeviceId home);

    /// Positions of the ring behind the numbers: what the input block has room for in front of the
    /// rows, a multiple of four floats, as those are read four at a time.
    [[nodiscard]] static int64_t ringFloats(const DeviceScratch& home);
    /// Numbers and ring of the last token in the cache to `host`, as the input block begins.
    static void fillNumbers(const KvCache& kv, std::byte* host);

    /// Begins a token, or a part of one: x is the row in front of the first layer (overwritten),
    /// complete but for what is pending, spare another one. per_layer: the slice of per-layer
    /// inputs of layer `per_layer_first`, followed by those behind it; nullptr where the model has
    /// none.
    void begin(DeviceScratch& home,
               float* x,
               float* spare,
               const float* per_layer,
               int per_layer_first,
               const Pending& pending);
    /// As begin(), of rows between OpTable::begin_rows and end_steps: x, spare and all buffers have
    /// several rows. Nothing is composed then.
    void beginRows(DeviceScratch& home, float* x, float* spare, const float* per_layer);
    /// As begin(), for the assistant's layers. turn: as of kernels::AttendStepArgs. Nothing is
    /// composed here either.
    void beginDraft(float* x, float* spare, int32_t turn);
    /// From now on experts of the host go through `host`, and turn(layer) is called between the
    /// step that asks for them and the one that reads their sum.
    using HostTurn = std::function<Result<void>(const DecoderLayer& layer)>;
    void leaveExpertsTo(const HostExperts& host, HostTurn turn) {
        host_experts_ = &host;
        host_turn_ = std::move(turn);
    }
    /// Behind one of them and up to the next one, the functions below enqueue nothing, but ask the
    /// table whether it takes their steps.
    void ask() { is_asking_ = true; }
    /// It takes all that was asked since ask(), where not composed.
    [[nodiscard]] bool isTaken() const { return is_taken_; }
    /// The same of some layers of one token, with `home` and nothing in front of them.
    bool takesLayers(DeviceScratch& home, int first, int end, const KvCache& kv);
    /// Layers from `first` to the one before `end`. are_keys_stored: the cache holds this token's
    /// keys and values of the first one already.
    Result<void> enqueueLayers(int first, int end, bool are_keys_stored, const KvCache& kv);
    /// Final norm and head: logits, without their cap, to Buffer::Logits. The row is complete then.
    Result<void> enqueueHead();
    /// What is pending; then the row is complete. Where nothing follows here that adds it.
    Result<void> enqueueResidual();
    [[nodiscard]] const Pending& pending() const { return pending_; }
    Result<void> project(Projection& step);
    /// A step that reads x with what is pending, behind `norm` where that has data; then x is whole
    /// behind it.
    Result<void> projectRow(Projection& step, kernels::MatView norm);

    [[nodiscard]] float* x() const { return x_; }
    [[nodiscard]] const kernels::TokenNumbers* numbers() const;
    /// Updates that project() did not take since begin(): their strengths are arguments of what
    /// was enqueued.
    [[nodiscard]] bool hasComposedUpdates() const { return has_composed_updates_; }

private:
    Result<void> enqueueLayer(int index, bool are_keys_stored, const KvCache& kv);
    Result<void> enqueueAttention(const DecoderLayer& layer,
                                  int index,
                                  kernels::MatView norm,
                                  bool are_keys_stored,
                                  const KvCache& kv);
    Result<void> enqueueMlp(const DecoderLayer& layer, kernels::MatView norm);
    /// Behind enqueueMlp(), whose result becomes that of both.
    Result<void> enqueueExperts(const DecoderLayer& layer);
    Result<void> enqueuePerLayerInput(const DecoderLayer& layer, int index);
    /// The stack's t = linear x, for rows that stand alone.
    Result<void> projectBack(const Linear& linear, const float* x);

    /// row [1, hidden] = (row + norm(t)) * scalar.
    Result<void> addResidual(const Pending& pending, kernels::MutF32 row, const std::string& name);
    Result<void> compose(const Projection& step);
    /// Puts the active updates of the step's linears into its arguments; false: it must be
    /// composed.
    bool addUpdates(Projection& step);
    /// Lets the step multiply the next one's A, where both can.
    void addTaps(Projection& step);

    BoundModel* model_;
    DeviceScratch* home_ = nullptr;
    bool has_composed_updates_ = false;
    const HostExperts* host_experts_ = nullptr;
    HostTurn host_turn_;
    bool may_compose_ = true; ///< False for rows and drafts: only fused steps, and no taps.
    bool is_asking_ = false;
    bool is_taken_ = true;
    LayerStack stack_;
    const int32_t* ring_ = nullptr; ///< Positions of the sliding ring.
    int32_t turn_ = 0;
    // The residual stream between steps: x is complete but for what `pending` says is still to add.
    float* x_ = nullptr;
    float* spare_ = nullptr;
    const float* per_layer_ = nullptr;
    int per_layer_first_ = 0;
    Pending pending_;
    /// The linear whose A the step before has multiplied already, and in how many parts.
    const Linear* tapped_ = nullptr;
    int tap_parts_ = 0;
};

} // namespace engine
