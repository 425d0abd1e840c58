// SPDX-License-Identifier: Apache-2.0
// A base whose values changed under its adapters.
#pragma once

#include "engine/lora/adapter_runtime.h"

#include <span>
#include <string>
#include <utility>

namespace lora_test {

/// Twice what `read` gives.
inline engine::ReadBaseRows doubledRows(engine::ReadBaseRows read) {
    return [read = std::move(read)](const std::string& tensor, int64_t first, int64_t count,
                                    std::span<float> out) -> engine::Result<void> {
        auto done = read(tensor, first, count, out);
        for (float& value : out) {
            value *= 2.0F;
        }
        return done;
    };
}

} // namespace lora_test
