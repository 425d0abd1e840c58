// SPDX-License-Identifier: Apache-2.0
// The two ways to write the embedders' names. Published files have "model.vision_embedder.*" and a
// projection directly below "model.embed_vision"; in transformers' module tree, and so in adapters
// and device maps, both lie below "model.embed_vision". The latter are the canonical ones.
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// A tensor's or module's path in the module tree; names that are none of a published embedder's
/// come back unchanged. Not for E2B to 31B, whose projector has the published name.
std::string moduleTreeName(std::string_view name);

} // namespace engine
