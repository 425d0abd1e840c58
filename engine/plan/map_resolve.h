// SPDX-License-Identifier: Apache-2.0
// Applies a device map to a model: for every tensor and every field the key that decides it, with
// all errors DM02 to DM08 and DM10 and the notes about keys. The resolution rule is in
// engine/plan/DEVICE_MAP.md. Pure; knows nothing of memory sizes and limits (planner.h).
#pragma once

#include "engine/api/placement.h"
#include "engine/families/tensor_list.h"
#include "engine/files/tensor_source.h"
#include "engine/plan/device_map.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

class KnownNames;

/// How a checkpoint holds one tensor, as far as the plan depends on it.
struct StoredTensor {
    TensorType type = TensorType::BF16; ///< Packed: the type recorded in the packed state.
    /// Packed by bitsandbytes: a format that has codes; else AsStored.
    Format packed = Format::AsStored;
    int32_t block_size = 64; ///< Packed only.
};

/// By canonical name; a packed weight is one entry named P.weight. An empty map means "no headers
/// at hand": every tensor of the list is taken as present in bf16.
using StoredTensors = std::unordered_map<std::string, StoredTensor>;

/// The fields that keys set, as an index.
enum class MapField : uint8_t { Store = 1, Compute, Format, Residency, Pin, DuplicateTied };
inline constexpr int kMapFieldCount = 6;

/// Which key set a field: an index into DeviceMap::entries, or one of these.
inline constexpr int kSetByDefault = -1; ///< `default`, or "" of the imported form.
inline constexpr int kSetByRule = -2;    ///< Derived: default residency, as stored, the tied table.
inline constexpr int kSetByOption = -3;  ///< --quant or --head.

struct ResolvedTensor {
    /// Index into the tensor list; -1 = lm_head.weight: a tensor of its own (config.has_own_head)
    /// or a copy of the table.
    int index = -1;
    DeviceId store;
    DeviceId compute;
    Residency residency = Residency::Always;
    /// AsStored only for dense tensors that nothing converts; packed tensors have their format.
    Format format = Format::AsStored;
    bool is_converted = false; ///< Format differs from what the checkpoint holds.
    std::optional<bool> pin;
    std::array<int, kMapFieldCount> set_by{}; ///< Index with static_cast<int>(field) - 1.
};

struct Resolution {
    /// In the order of the tensor list, unused and absent tensors left out; a separate head last.
    std::vector<ResolvedTensor> tensors;
    bool has_own_head = false; ///< lm_head.weight has a row of its own (the last one).
    /// Some tensor has no device of this machine: the rows cannot be accounted for.
    bool is_incomplete = false;
    std::vector<PlanIssue> errors;
    std::vector<PlanIssue> warnings;
    std::vector<Note> notes;
};

struct ResolveInput {
    const ModelConfig* config = nullptr;
    const std::vector<ExpectedTensor>* tensors = nullptr;
    const StoredTensors* stored = nullptr; ///< May be null: as empty.
    std::vector<DeviceId> devices;         ///< Those of this machine; cpu and disk always count.
    Format quant = Format::AsStored;
    bool quantizes_experts = false;    ///< `quant` is for experts as well.
    Format head = Format::AsStored;    ///< AsStored: in 16 bits.
    const KnownNames* names = nullptr; ///< Names of `tensors`, where they were looked up before.
};

/// Format of a tensor that no key gives one: as the checkpoint holds it, else as --quant says.
/// has_experts: of experts too, which bitsandbytes leaves alone.
Format loadFormat(const ExpectedTensor& tensor,
                  const StoredTensor& stored,
                  Format quant,
                  bool has_experts);
/// Format of a head for which --head asks for `head`: codes follow --quant in double quantization.
Format headFormat(Format head, Format quant);

Resolution resolveDeviceMap(const DeviceMap& map, const ResolveInput& input);

/// What set a field: "the key "model.vision_tower"", "default", "the load options", "the rules".
Sentence setBy(const DeviceMap& map, int set_by);

} // namespace engine
