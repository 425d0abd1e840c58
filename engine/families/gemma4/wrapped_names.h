// SPDX-License-Identifier: Apache-2.0
// Names that training programs leave in files: compilers, parallel training and activation
// checkpointing put a component into every path, data parallelism and PEFT one in front of it, PEFT
// one before the parameter of a layer that it wraps. None of them changes what a tensor is.
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", ...: anywhere in a path.
bool isWrapperComponent(std::string_view component);

/// A checkpoint's tensor name without these: wrapper components, leading "module." and
/// "base_model.model.", and "base_layer." before the parameter.
std::string withoutWrappers(std::string_view name);

} // namespace engine
