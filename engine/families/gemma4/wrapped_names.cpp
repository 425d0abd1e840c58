// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/wrapped_names.h"

#include <algorithm>
#include <array>

namespace engine {

bool isWrapperComponent(std::string_view component) {
    constexpr std::array<std::string_view, 5> kWrappers = {"_orig_mod", "_fsdp_wrapped_module",
                                                           "_checkpoint_wrapped_module",
                                                           "_forward_module", "_fpw_module"};
    return std::find(kWrappers.begin(), kWrappers.end(), component) != kWrappers.end();
}

std::string withoutWrappers(std::string_view name) {
    std::string kept;
    while (true) {
        const size_t dot = name.find('.');
        const std::string_view part = name.substr(0, dot);
        if (!isWrapperComponent(part) && part != "base_layer") {
            kept += kept.empty() ? "" : ".";
            kept += part;
        }
        if (dot == std::string_view::npos) {
            break;
        }
        name.remove_prefix(dot + 1);
    }
    constexpr std::string_view kParallel = "module.";
    constexpr std::string_view kPeft = "base_model.model.";
    while (kept.starts_with(kParallel) || kept.starts_with(kPeft)) {
        kept.erase(0, kept.starts_with(kPeft) ? kPeft.size() : kParallel.size());
    }
    return kept;
}

} // namespace engine
