// SPDX-License-Identifier: Apache-2.0
// The published sizes' JSON texts under the tests' namespace; link engine_families.
#pragma once

#include "engine/families/gemma4/published_shapes.h"

namespace support {

using engine::publishedConfigJson;
using engine::publishedGenerationJson;
using engine::publishedProcessorJson;

} // namespace support
