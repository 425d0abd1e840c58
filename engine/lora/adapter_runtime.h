// SPDX-License-Identifier: Apache-2.0
// Loaded adapters at run time: unmerged low-rank updates on the compute device of each base
// tensor, several at once with a strength each, switched without touching the base. The forward
// pass sees it as an AdapterHook. Engine thread only.
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
#include "engine/model/adapter_hook.h"
#include "kernels/device.h"
#include "kernels/ops.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Where the factors of one base tensor compute, and where they are meanwhile.
struct AdapterHome {
    enum class Travel : uint8_t {
        Stays,   ///< On the computing device.
        Streams, ///< Comes at every use.
        Visits,  ///< Comes with all of its group and stays until another group comes.
    };

    AdapterHome() = default;
    AdapterHome(kernels::Device* device) : compute(device) {} // NOLINT(*-explicit-*): stays there

    kernels::Device* compute = nullptr;
    Travel travel = Travel::Stays;
    bool is_on_disk = false; ///< Comes from the adapter's file, otherwise from host memory.
    std::string_view group;  ///< For a visit; a literal.

    [[nodiscard]] bool travels() const { return travel != Travel::Stays; }
    bool operator==(const AdapterHome&) const = default;
};

/// Home of this base tensor's factors (plan: `compute`, and `store` and `residency` where they
/// follow it). Asked for canonical names, for kHeadTensor and for "...experts.gate_up_proj"; never
/// for embeddings (their parts live on the set's host device). Only A and B and what belongs to
/// them travel; for everything else the computing device alone counts. compute nullptr = the tensor
/// is not loaded (for example a tower was left out): its updates are skipped.
using AdapterHomeOf = std::function<AdapterHome(const std::string& tensor)>;

/// Expanded base rows [first, first + count) of a loaded tensor as fp32, [count, row length];
/// vectors are one row, tensors of more dimensions have the leading ones folded into rows. Used
/// once per tensor, when an adapter with DoRA or replaced vectors is added.
using ReadBaseRows = std::function<Result<void>(
    const std::string& tensor, int64_t first, int64_t count, std::span<float> out)>;

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

class AdapterSet final : public AdapterHook {
public:
    /// `host`: the host-visible device (cpu) that holds embedding parts. It and all devices that
    /// AdapterHomeOf returns must outlive the set.
    explicit AdapterSet(kernels::Device& host);
    ~AdapterSet() override;

    /// Copies the adapter's tensors to the homes of their base tensors and appends it. Either
    /// everything is placed or nothing changed. Returns the entry's id.
    /// Errors: OutOfMemory (tensor, asked bytes, bytes in use), InvalidRequest (strength outside
    /// 0..2; a second enabled adapter that replaces the same tensor or token row), InvalidFile
    /// (the file changed since loading), Cancelled, or what `read_base` returns.
    Result<int> add(std::shared_ptr<const Adapter> adapter,
                    double strength,
                    bool is_enabled,
                    const AdapterHomeOf& home_of,
                    const ReadBaseRows& read_base,
                    std::stop_token stop = {});
    Result<void> remove(int id);
    void clear();

    /// Live changes: no file, no base tensor, no large copy is touched.
    Result<void> setStrength(int id, double strength);
    Result<void> setEnabled(int id, bool is_enabled);
    /// Makes exactly these adapters active, in this order (order matters with DoRA only); all
    /// others are disabled and keep their memory and place behind them.
    Result<void> activate(std::span<const AdapterActivation> active);

    /// After base tensors moved: brings the copies to their new homes. Either all moved or nothing
    /// changed. Never asks for anything else to be moved. `read_base`, when not empty: base tensors
    /// changed their format (and so their values), DoRA's norms are taken again of those that
    /// `has_changed` names (empty: of all).
    Result<void> follow(const AdapterHomeOf& home_of,
                        const ReadBaseRows& read_base = {},
                        const std::function<bool(const std::string& tensor)>& has_changed = {});

    [[nodiscard]] const std::vector<AdapterEntry>& entries() const;
    /// Equal texts = equal function (same active adapters, order, strengths). KV computed under
    /// one text may be reused under an equal one, and under no other. Empty = base model.
    [[nodiscard]] const std::string& fingerprint() const;
    /// True when nothing is active: the forward pass is the base's own.
    [[nodiscard]] bool isIdle() const { return fingerprint().empty(); }
    /// Everything active is a low-rank update of a tensor: nothing that a model copies or binds
    /// depends on a strength.
    [[nodiscard]] bool hasOnlyUpdates() const;
    /// Bytes of adapter memory on one device, scratch and room for what travels included.
    [[nodiscard]] uint64_t bytesOn(const kernels::Device* device) const;

    // AdapterHook. A handle exists for every tensor that some entry touches, active or not, and
    // stays valid until clear(); while nothing is active there, apply does nothing. So a model
    // looks names up again after add() and follow(), and need not after strengths and switches.
    [[nodiscard]] Handle find(std::string_view base_tensor) const override;
    /// After the base product and before the base bias; inside a clipped linear between the two
    /// clamps; at kHeadTensor on raw logits, before the soft-cap.
    Result<void>
    apply(Handle handle, kernels::Queue queue, kernels::MatF32 x, kernels::MutF32 y) override;
    bool stepUpdates(Handle handle, std::vector<kernels::ProjectLora>& updates) const override;
    Result<void> applyRows(Handle handle,
                           std::span<const int32_t> ids,
                           int64_t col_offset,
                           float scale,
                           kernels::MutF32 rows) override;
    /// For "...experts.gate_up_proj" and "...experts.down_proj": x are the rows routed to `expert`.
    Result<void> applyExpert(Handle handle,
                             int64_t expert,
                             kernels::Queue queue,
                             kernels::MatF32 x,
                             kernels::MutF32 y) override;
    /// Blended values of a replaced small tensor; valid until the next change of the set.
    [[nodiscard]] std::span<const float> replacement(std::string_view base_tensor) const override;
    /// The same on a device, when they lie there; follows strengths, valid until add, remove or
    /// follow.
    [[nodiscard]] const float* replacementOn(std::string_view base_tensor,
                                             const kernels::Device& device) const override;
    /// Rises with every change of the set, never returns to an earlier value.
    [[nodiscard]] uint64_t generation() const override;

private:
    struct State;
    class Following;
    std::unique_ptr<State> state_;
};

} // namespace engine
