// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/skip_list.h"

#include "engine/plan/map_keys.h"

#include <algorithm>

namespace engine {

bool isKeptOutBy(std::string_view entry, std::string_view module) {
    if (module.ends_with(entry)) {
        return true;
    }
    return entry.size() <= module.size() &&
           std::equal(entry.begin(), entry.end(), module.begin(),
                      [](char ours, char theirs) { return ours == '.' || ours == theirs; });
}

std::vector<std::string> narrowedKeys(const std::string& key,
                                      const std::vector<std::string>& names,
                                      const std::vector<std::string>& quantized) {
    if (std::none_of(quantized.begin(), quantized.end(),
                     [&key](const std::string& module) { return isKeptOutBy(key, module); })) {
        return {key};
    }
    std::vector<std::string> children;
    for (const std::string& name : names) {
        if (name.size() <= key.size() || !isAtOrBelow(name, key)) {
            continue;
        }
        const size_t begin = key.empty() ? 0 : key.size() + 1;
        std::string child = name.substr(0, name.find('.', begin));
        if (std::find(children.begin(), children.end(), child) == children.end()) {
            children.push_back(std::move(child));
        }
    }
    if (children.empty()) {
        return {key};
    }
    std::vector<std::string> out;
    for (const std::string& child : children) {
        const std::vector<std::string> below = narrowedKeys(child, names, quantized);
        out.insert(out.end(), below.begin(), below.end());
    }
    return out;
}

} // namespace engine
