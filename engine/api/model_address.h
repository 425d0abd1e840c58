// SPDX-License-Identifier: Apache-2.0
// How a model on a server is called where folders of models are called by their paths: the server's
// address, '#', and the name that the server has for the model:
// "https://gpu.example.org/v1#gemma-4-E4B-it". What asks it is in remote/.
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// Whether a model's name is an address.
inline bool isServerModel(std::string_view model) {
    return model.starts_with("https://") || model.starts_with("http://");
}

/// What stands behind '#': the server's name of the model; empty where none does.
inline std::string serverModelName(std::string_view model) {
    const size_t at = model.find('#');
    return at == std::string_view::npos ? std::string() : std::string(model.substr(at + 1));
}

/// What stands before '#'.
inline std::string serverBase(std::string_view model) {
    return std::string(model.substr(0, model.find('#')));
}

/// "gpu.example.org:8000": host and port as written.
inline std::string serverHost(std::string_view model) {
    const size_t begin = model.find("://");
    if (begin == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = model.substr(begin + 3);
    return std::string(rest.substr(0, rest.find_first_of("/#?")));
}

inline std::string serverModel(const std::string& base, const std::string& name) {
    return base + "#" + name;
}

} // namespace engine
