// SPDX-License-Identifier: Apache-2.0
// Loaded adapters at run time: unmerged low-rank updates on the compute device of each base
// tensor, several at once with a strength each, switched without touching the base. Independent of
// the model code: the forward pass asks once per tensor for a handle and passes activations.
// Engine thread only.
//
// Meaning, for one linear with base product y0 = x W^T (before the base bias is added):
//   y = y0; a replaced weight W': y <- y + t (x W'^T - y)
//   then every active adapter in order, with strength t and scaling s:
//   plain: y <- y + t s (B A x + bias_B)
//   DoRA:  y <- y + t ((g - 1) y + g s B A x), g_j = m_j / || (W + s B A)_j ||_2
// Strength 0 and disabled adapters take part in nothing: bits as without them.
#pragma once

#include "engine/base/result.h"
#include "engine/lora/adapter.h"
#include "kernels/device.h"
#include "kernels/ops.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Device on which the product or gather of this base tensor is computed (plan: `compute`).
/// Asked for canonical names, for kHeadTensor, and for "...experts.gate_up_proj". nullptr = the
/// tensor is not loaded (for example the tower was left out): its updates are skipped.
using ComputeDeviceOf = std::function<kernels::Device*(const std::string& tensor)>;

/// Expanded base rows [first, first + count) of a loaded tensor as fp32, [count, row length];
/// vectors are one row. Used once, when an adapter with DoRA or blended vectors is added.
using ReadBaseRows = std::function<Result<void>(
    const std::string& tensor, int64_t first, int64_t count, std::span<float> out)>;

/// fp32 workspace on the device of the call. Any size from AdapterSet::minScratchFloats() on
/// works; tokens * maxRank() floats avoid splitting long inputs into blocks.
struct AdapterScratch {
    float* data = nullptr;
    int64_t floats = 0;
};

class LinearAdapters;    ///< What the active adapters do at one linear (or at the head).
class EmbeddingAdapters; ///< ... at one embedding gather.
class ExpertAdapters;    ///< ... at the expert matrices of one layer.

/// A small tensor (norm weight, bias, scalar) as the active adapters want it, in fp32.
struct VectorOverride {
    const float* device = nullptr; ///< On the compute device.
    std::span<const float> host;
};

struct AdapterEntry {
    int id = 0; ///< Unique within the set, never reused.
    std::shared_ptr<const Adapter> adapter;
    double strength = 1.0; ///< 0 to 2.
    bool is_enabled = true;
};

/// One element of a whole new activation, see AdapterSet::activate.
struct AdapterActivation {
    int id = 0;
    double strength = 1.0;
};

class AdapterSet {
public:
    AdapterSet();
    ~AdapterSet(); ///< Frees all device memory; the devices must still live.
    AdapterSet(const AdapterSet&) = delete;
    AdapterSet& operator=(const AdapterSet&) = delete;

    /// Copies the adapter's tensors to the devices of their base tensors and appends it. Either
    /// everything is placed or nothing changed. Returns the entry's id.
    /// Errors: OutOfMemory (asked and free bytes), InvalidRequest (strength), InvalidFile (the
    /// file changed since loading), Cancelled, or what `read_base` returns.
    Result<int> add(std::shared_ptr<const Adapter> adapter,
                    double strength,
                    bool is_enabled,
                    const ComputeDeviceOf& device_of,
                    const ReadBaseRows& read_base,
                    std::stop_token stop = {});
    Result<void> remove(int id);
    void clear();

    /// Live changes: no file, no base tensor, no large copy is touched.
    Result<void> setStrength(int id, double strength);
    Result<void> setEnabled(int id, bool is_enabled);
    /// Makes exactly these adapters active, in this order (order matters with DoRA only); all
    /// others are disabled and keep their memory. One change of generation.
    Result<void> activate(std::span<const AdapterActivation> active);

    /// After base tensors moved: brings the copies to the new compute devices. Either all moved
    /// or nothing changed. Never asks for anything else to be moved.
    Result<void> follow(const ComputeDeviceOf& device_of);

    [[nodiscard]] const std::vector<AdapterEntry>& entries() const;
    /// Rises with every change of the set; handles from find... are valid until then.
    [[nodiscard]] uint64_t generation() const;
    /// Equal texts = equal function (same active adapters, order, strengths). KV computed under
    /// one text may be reused under an equal one, and under no other.
    [[nodiscard]] const std::string& fingerprint() const;
    /// True when nothing is active: the forward pass is the base's own.
    [[nodiscard]] bool isIdle() const;

    [[nodiscard]] int64_t maxRank() const;          ///< Over all entries, active or not.
    [[nodiscard]] int64_t minScratchFloats() const; ///< 0 for an empty set.
    /// Bytes of adapter memory on one device.
    [[nodiscard]] uint64_t bytesOn(const kernels::Device* device) const;

    /// nullptr = no active adapter here. Names are canonical; kHeadTensor for the output head.
    [[nodiscard]] const LinearAdapters* find(std::string_view tensor) const;
    [[nodiscard]] const EmbeddingAdapters* findEmbedding(std::string_view tensor) const;
    /// `tensor`: "...experts.gate_up_proj" or "...experts.down_proj".
    [[nodiscard]] const ExpertAdapters* findExperts(std::string_view tensor) const;
    [[nodiscard]] const VectorOverride* findVector(std::string_view tensor) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Adds what the active adapters change to y = x W^T. Call after the base product and before the
/// base bias; inside a clipped linear between the two clamps. At the head: on raw logits, before
/// the soft-cap. x [tokens, in], y [tokens, out].
kernels::Status applyAdapters(const LinearAdapters& at,
                              const kernels::OpTable& ops,
                              kernels::Queue q,
                              kernels::MatF32 x,
                              kernels::MutF32 y,
                              AdapterScratch scratch);

/// The same for one expert's matrix: x are the rows routed to it.
kernels::Status applyExpertAdapters(const ExpertAdapters& at,
                                    int64_t expert,
                                    const kernels::OpTable& ops,
                                    kernels::Queue q,
                                    kernels::MatF32 x,
                                    kernels::MutF32 y,
                                    AdapterScratch scratch);

/// After y[i,:] = scale * table[ids[i], col_offset : col_offset + cols(y)]: applies low-rank
/// updates, replaced rows and replaced tables to y. `host_ids` and `device_ids` hold the same
/// `count` ids.
kernels::Status applyEmbeddingAdapters(const EmbeddingAdapters& at,
                                       const kernels::OpTable& ops,
                                       kernels::Queue q,
                                       const int32_t* host_ids,
                                       const int32_t* device_ids,
                                       int64_t count,
                                       int64_t col_offset,
                                       float scale,
                                       kernels::MutF32 y,
                                       AdapterScratch scratch);

} // namespace engine
