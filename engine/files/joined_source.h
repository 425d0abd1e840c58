// SPDX-License-Identifier: Apache-2.0
// Two checkpoints as one list of tensors: a model, and what is loaded beside it under names of its
// own.
#pragma once

#include "engine/files/tensor_source.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Name in the joined list of a tensor that was added; nullopt leaves it out.
using AddedName = std::function<std::optional<std::string>(std::string_view stored)>;

/// Rows of one added tensor in another order: row i of the joined tensor is row (*order)[i] of the
/// stored one.
struct RowOrder {
    std::string name;                                  ///< Joined; empty: none.
    std::shared_ptr<const std::vector<int32_t>> order; ///< [rows]; nullptr: as stored.
};

/// All tensors of `base` and the renamed ones of `added`, whose files are called
/// "label/model.safetensors". Names must not meet: those of `base` win. Header-only when one is.
std::unique_ptr<TensorSource> joinSources(std::shared_ptr<const TensorSource> base,
                                          std::shared_ptr<const TensorSource> added,
                                          const std::string& label,
                                          const AddedName& name_of,
                                          RowOrder reordered = {});

} // namespace engine
