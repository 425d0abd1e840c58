// SPDX-License-Identifier: Apache-2.0
// What `fit` knows of a request before it searches: devices with limits and rates, and for every
// choice of formats the bytes and seconds of each block and of every run of layers. After that a
// placement is weighed by looking tables up; nothing is resolved, allocated or compared by name.
#pragma once

#include "engine/plan/planner.h"

#include <array>
#include <cstdint>
#include <vector>

namespace engine {

/// Blocks that are placed as one, beside the decoder layers.
enum FitBlock : uint8_t {
    FitVision = 0,
    FitAudio,
    FitPerLayerTable,
    FitTable, ///< Token embedding, where the head is another tensor or a copy.
    FitHead,
    FitProjection, ///< Per-layer projection and its norm: with the first layer.
    FitNorm,       ///< With the head.
    FitBlockCount
};

inline constexpr int kFitMaxGpus = 8; ///< `fit` uses at most these; more are left alone.
inline constexpr int64_t kFitNoLimit = INT64_MAX;

/// One member of the family of plans. Places are indices into FitModel::devices.
struct FitCandidate {
    std::array<int, kFitMaxGpus> split{}; ///< Per GPU: the first layer after it; the rest: cpu.
    /// Per GPU: so many of its layers, the first ones, have their routed experts on the CPU.
    std::array<int, kFitMaxGpus> experts_away{};
    std::array<int, FitBlockCount> place{};
    size_t format = 0; ///< Index of the choice of formats.
};

struct FitDevice {
    DeviceId id;
    int64_t limit = kFitNoLimit; ///< Bytes.
    int64_t context = 0;         ///< Driver context where anything is there, bytes.
    /// A simulated GPU stands for a card and has a card's rates here, whatever computes for it.
    DeviceId as_card;
    DeviceRates rates;
};

/// The model in one choice of formats. Bytes include adapters unless they are named apart.
struct FitFormats {
    Format quant = Format::AsStored;
    Format head = Format::AsStored;
    int quality = 0; ///< 0 = as asked; more = smaller than asked.
    bool has_own_head = false;
    bool has_blocks = false;            ///< Weights are blocks of a GGUF file.
    std::vector<int64_t> layer_bytes;   ///< Weights and adapters per layer.
    std::vector<int64_t> layer_scratch; ///< For adapters: the largest on a device counts once.
    std::array<int64_t, FitBlockCount> bytes{};
    std::array<int64_t, FitBlockCount> adapter{}; ///< On the computing device where that stores.
    std::array<int64_t, FitBlockCount> travelling_adapter{}; ///< Travelling part of that.
    std::array<int64_t, FitBlockCount> scratch{};            ///< For adapters.
    int64_t host_adapter = 0;                                ///< On cpu whatever the placement.
    int64_t host_scratch = 0;
    /// For layers [from, to) on one device: weights, adapters, KV, mirrors of KV that is read from
    /// elsewhere; and the largest scratch of adapters (of the linears). Index: from * (layers + 1)
    /// + to.
    std::vector<int64_t> span_bytes;
    std::vector<int64_t> span_scratch;
    /// The same of what goes with routed experts alone, which span_bytes includes and span_scratch
    /// does not: weights and adapters of layers [0, i), and scratch of layers [from, to).
    std::vector<int64_t> expert_bytes;
    std::vector<int64_t> expert_scratch;
    std::vector<int64_t> expert_weights; ///< Per layer, without adapters.
    [[nodiscard]] bool hasExperts() const { return expert_bytes.back() > 0; }
};

/// What a device holds besides layers.
struct FitShare {
    int64_t bytes = 0;
    int64_t adapter_scratch = 0;
    DeviceDuties duties;
};

class FitModel {
public:
    /// `request` must live as long.
    explicit FitModel(const PlanRequest& request);

    const PlanRequest& request;
    std::vector<FitDevice> devices; ///< GPUs in order, then cpu, then disk.
    int gpus = 0, cpu = 0, disk = 1;
    int layers = 0;
    int64_t host_limit = kFitNoLimit; ///< For cpu and simulated GPUs together; none without those.
    std::vector<FitFormats> formats;  ///< The first is what was asked for.
    /// Picoseconds per token of layers [0, i) on a device (whole numbers: sums in any order are
    /// equal), always with the bytes of the formats asked for, so that a smaller format is not
    /// taken for its speed. Index: device * (layers + 1) + i.
    std::vector<int64_t> layer_ps;
    /// What layers [0, i) on a device take longer with their experts on the CPU; the same index.
    std::vector<int64_t> experts_away_ps;
    std::vector<int64_t> hop_ps; ///< Handing the state to a device.

    /// Picoseconds per token of head, norm and per-layer projection on a device.
    [[nodiscard]] int64_t headPs(int device) const;
    [[nodiscard]] int64_t projectionPs(int device) const;
    /// Picoseconds of one image (FitVision) or ten seconds of sound (FitAudio).
    [[nodiscard]] int64_t mediaPs(FitBlock tower, int place, const FitFormats& format) const;

    [[nodiscard]] int computePlace(int place) const { return place == disk ? cpu : place; }
    [[nodiscard]] int layerPlace(const FitCandidate& c, int layer) const;
    /// Puts norm and per-layer projection where they belong.
    void placeDependents(FitCandidate& c) const;
    /// Seconds per token of a candidate.
    [[nodiscard]] double tokenSeconds(const FitCandidate& c) const;

    /// What towers, tables and head put on each device; disk stays empty.
    void shares(const FitCandidate& c, std::vector<FitShare>& out) const;
    /// Adds the per-layer projection to the device of the first layer.
    void addProjection(const FitFormats& format, FitShare& share) const;
    /// Bytes of a device with its share and layers [from, to), the experts of the first `away` left
    /// out.
    [[nodiscard]] int64_t need(const FitFormats& format,
                               int device,
                               const FitShare& share,
                               int from,
                               int to,
                               int away = 0) const;
    /// Adds the experts of layers [from, to), which compute on another device, to a share.
    void addExperts(const FitFormats& format, int from, int to, FitShare& share) const;
    /// The same of every device of a candidate.
    [[nodiscard]] std::vector<int64_t> needs(const FitCandidate& c) const;
    /// Bytes over the limits, summed.
    [[nodiscard]] int64_t excess(const std::vector<int64_t>& needs) const;
    /// Bytes of cpu and simulated GPUs together over what the host has.
    [[nodiscard]] int64_t hostExcess(const std::vector<int64_t>& needs) const;

    [[nodiscard]] size_t span(int from, int to) const {
        return static_cast<size_t>(from) * (static_cast<size_t>(layers) + 1) +
               static_cast<size_t>(to);
    }

private:
    void addDevices();
    void addFormats();
    [[nodiscard]] FitFormats weigh(Format quant, Format head, int quality) const;
    void addSpans(FitFormats& format) const;
    /// The largest of layers [from, to), for all pairs.
    [[nodiscard]] std::vector<int64_t> spanMaxima(const std::vector<int64_t>& values) const;
    void addTimes();
    [[nodiscard]] int64_t readPs(int64_t bytes, int device) const;
    [[nodiscard]] int64_t scratch(int device, const DeviceDuties& duties) const;

    std::vector<ExpectedTensor> own_tensors_;
    const std::vector<ExpectedTensor>* tensors_ = nullptr;
    PlacementPlan shape_; ///< No rows: context, chunk, image budget and precision.
    std::vector<int64_t> kv_bytes_;
    int64_t layer_table_bytes_ = 0; ///< Scratch that grows with each layer on a device.
    /// Answers of the model by kind of device (a card or not) and duties; -1 = not asked yet.
    mutable std::array<std::array<int64_t, 144>, 2> scratch_{};
};

} // namespace engine
