// SPDX-License-Identifier: Apache-2.0
#include "models/hub/cache_layout.h"

#include "engine/base/paths.h"

#include <algorithm>
#include <cctype>

namespace models::hub {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kModelPrefix = "models--";

bool isHexadecimal(std::string_view text, size_t digits) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

bool isOfAName(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// `path` with a "~" at its beginning replaced; "~other" is left as it is.
fs::path fromHome(const fs::path& path, const fs::path& home) {
    if (home.empty() || path.empty() || *path.begin() != "~") {
        return path;
    }
    fs::path out = home;
    for (auto part = std::next(path.begin()); part != path.end(); ++part) {
        out /= *part;
    }
    return out;
}

std::string with(std::string_view text, std::string_view end) {
    return std::string(text) + std::string(end);
}

} // namespace

bool isSwitchedOn(std::string_view value) {
    std::string upper(value);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return upper == "1" || upper == "ON" || upper == "YES" || upper == "TRUE";
}

std::string
withVariables(std::string_view value,
              const std::function<std::optional<std::string>(const std::string&)>& value_of) {
    std::string out;
    for (size_t at = 0; at < value.size();) {
        if (value[at] != '$') {
            out += value[at++];
            continue;
        }
        const bool is_braced = at + 1 < value.size() && value[at + 1] == '{';
        const size_t begin = at + (is_braced ? 2 : 1);
        size_t end = begin;
        while (end < value.size() && (is_braced ? value[end] != '}' : isOfAName(value[end]))) {
            ++end;
        }
        const bool is_whole = end > begin && (!is_braced || end < value.size());
        const size_t next = std::min(value.size(), end + (is_braced ? 1 : 0));
        const auto found =
            is_whole ? value_of(std::string(value.substr(begin, end - begin))) : std::nullopt;
        out += found.has_value() ? *found : std::string(value.substr(at, next - at));
        at = next;
    }
    return out;
}

fs::path hubHome(const Environment& environment) {
    if (!environment.hf_home.empty()) {
        return fromHome(environment.hf_home, environment.home);
    }
    if (!environment.xdg_cache_home.empty()) {
        return fromHome(environment.xdg_cache_home, environment.home) / "huggingface";
    }
    return environment.home.empty() ? fs::path() : environment.home / ".cache" / "huggingface";
}

fs::path cacheFolder(const Environment& environment) {
    for (const fs::path* named : {&environment.hf_hub_cache, &environment.huggingface_hub_cache}) {
        if (!named->empty()) {
            return fromHome(*named, environment.home);
        }
    }
    const fs::path home = hubHome(environment);
    return home.empty() ? home : home / "hub";
}

fs::path tokenFile(const Environment& environment) {
    if (!environment.hf_token_path.empty()) {
        return fromHome(environment.hf_token_path, environment.home);
    }
    const fs::path home = hubHome(environment);
    return home.empty() ? home : home / "token";
}

std::string endpoint(const Environment& environment) {
    std::string base = environment.hf_endpoint;
    while (base.ends_with('/')) {
        base.pop_back();
    }
    return base.empty() ? std::string(kDefaultEndpoint) : base;
}

bool isCommit(std::string_view text) {
    return isHexadecimal(text, 40);
}

bool isSha256(std::string_view text) {
    return isHexadecimal(text, 64);
}

std::string repositoryFolderName(std::string_view id) {
    std::string name(kModelPrefix);
    for (const char c : id) {
        name += c == '/' ? std::string("--") : std::string(1, c);
    }
    return name;
}

std::optional<std::string> idOfFolderName(std::string_view folder_name) {
    if (!folder_name.starts_with(kModelPrefix)) {
        return std::nullopt;
    }
    std::string id(folder_name.substr(kModelPrefix.size()));
    // An id holds no "--" itself: the first one is its slash.
    if (const size_t at = id.find("--"); at != std::string::npos) {
        id.replace(at, 2, "/");
    }
    const bool is_whole = !id.empty() && id.front() != '/' && id.back() != '/';
    return is_whole ? std::optional<std::string>(id) : std::nullopt;
}

RepositoryLayout::RepositoryLayout(const fs::path& cache, std::string_view id)
    : folder_(cache / engine::pathFromUtf8(repositoryFolderName(id))),
      locks_(cache / ".locks" / engine::pathFromUtf8(repositoryFolderName(id))) {}

fs::path RepositoryLayout::blob(std::string_view etag) const {
    return blobs() / engine::pathFromUtf8(etag);
}

fs::path RepositoryLayout::partialBlob(std::string_view etag) const {
    return blobs() / engine::pathFromUtf8(with(etag, ".incomplete"));
}

fs::path RepositoryLayout::ref(std::string_view revision) const {
    return refs() / engine::pathFromUtf8(revision);
}

fs::path RepositoryLayout::snapshot(std::string_view commit) const {
    return snapshots() / engine::pathFromUtf8(commit);
}

fs::path RepositoryLayout::file(std::string_view commit, std::string_view name) const {
    return snapshot(commit) / engine::pathFromUtf8(name);
}

fs::path RepositoryLayout::lock(std::string_view etag) const {
    return locks_ / engine::pathFromUtf8(with(etag, ".lock"));
}

fs::path linkTarget(std::string_view name, std::string_view etag) {
    fs::path target;
    // Up from snapshots/COMMIT and from each folder that `name` goes down.
    for (auto ups = 2 + std::count(name.begin(), name.end(), '/'); ups > 0; --ups) {
        target /= "..";
    }
    return target / "blobs" / engine::pathFromUtf8(etag);
}

} // namespace models::hub
