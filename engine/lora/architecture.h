// SPDX-License-Identifier: Apache-2.0
// The modules of one model as adapters see them: found by canonical path, with the reasons why a
// module that an older adapter names is not there.
#pragma once

#include "engine/families/tensor_list.h"
#include "engine/lora/coverage.h"
#include "engine/model/model_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

/// Something an adapter can be attached to, or a parameter it can replace.
struct ArchitectureTensor {
    const ExpectedTensor* tensor = nullptr; ///< nullptr for the head.
    bool is_head = false;
    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const std::vector<int64_t>& shape() const;
    [[nodiscard]] TensorKind kind() const { return is_head ? TensorKind::Linear : tensor->kind; }
    [[nodiscard]] Part part() const { return is_head ? Part{PartRole::Head} : tensor->part; }
};

class Architecture {
public:
    /// Both must outlive the object.
    Architecture(const ModelConfig& model, const std::vector<ExpectedTensor>& tensors);

    /// A tensor by canonical name; the head as kHeadTensor. nullopt when the model has none.
    [[nodiscard]] std::optional<ArchitectureTensor> find(std::string_view tensor) const;

    /// Linear or embedding weight of a module in either spelling of clipped linears:
    /// "...q_proj" finds "...q_proj.linear.weight" when there is no "...q_proj.weight".
    [[nodiscard]] std::optional<ArchitectureTensor> findWeight(std::string_view module) const;

    /// Why a module (canonical path) exists elsewhere but has no effect here: KV-shared layers,
    /// v = k layers. Without a sentence when there is no such reason.
    [[nodiscard]] KeyReason inertReason(std::string_view module) const;

    /// Why there is no such module: "the model has no audio tower", "... has 35 layers", ...
    [[nodiscard]] KeyReason absentReason(std::string_view module) const;

    /// All modules that low-rank updates can be attached to, in model order, the head last.
    [[nodiscard]] const std::vector<ArchitectureTensor>& attachable() const { return attachable_; }
    [[nodiscard]] const ModelConfig& model() const { return model_; }

private:
    const ModelConfig& model_;
    std::unordered_map<std::string_view, const ExpectedTensor*> by_name_;
    std::vector<ArchitectureTensor> attachable_;
};

/// The tower a key's module belongs to, by name alone.
KeyTower keyTowerOf(std::string_view canonical_module);

/// "...q_proj.weight" -> "...q_proj"; expert parameters keep their name.
std::string moduleOfTensor(std::string_view tensor);

} // namespace engine
