// SPDX-License-Identifier: Apache-2.0
#include "remote/connection.h"

#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <algorithm>
#include <filesystem>

#ifdef _WIN32
#include <fstream>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;
namespace fs = std::filesystem;

namespace {

constexpr size_t kLongestKey = 4096;
constexpr size_t kLargestAuthority = size_t{4} << 20U; ///< A system's whole list is 0.2 MB.

Error keyError(engine::Sentence words) {
    return {ErrorCode::InvalidRequest, std::move(words), {{"rule", "RemoteKey"}}};
}

} // namespace

Result<std::string> checkedKey(std::string text, const std::string& where) {
    constexpr const char* kSpace = " \t\r\n";
    text.erase(0, std::min(text.find_first_not_of(kSpace), text.size()));
    text.erase(text.find_last_not_of(kSpace) + 1);
    if (text.empty()) {
        return keyError(said("%1 holds no key; write the server's key there, or connect without "
                             "one",
                             where));
    }
    const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
        return c > 0x20 && c < 0x7f; // what a header may carry
    });
    if (text.size() > kLongestKey || !is_plain) {
        return keyError(said("%1 holds no key: expected one word of letters, digits and signs, at "
                             "most %2 of them",
                             where, kLongestKey));
    }
    return text;
}

Result<std::string> readKeyFile(const std::string& path) {
    const fs::path file = engine::pathFromUtf8(path);
    ENGINE_ASSIGN(std::string text, engine::readSmallFile(file, 4 * kLongestKey));
#ifndef _WIN32
    std::error_code failure;
    const fs::perms mode = fs::status(file, failure).permissions();
    constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;
    if (!failure && (mode & kOthers) != fs::perms::none) {
        return keyError(said("%1: other users of this computer may read this key; take that away "
                             "(chmod 600) and try again",
                             path));
    }
#endif
    return checkedKey(std::move(text), path);
}

Result<void> writeKeyFile(const std::string& path, const std::string& key) {
    const fs::path file = engine::pathFromUtf8(path);
    const fs::path fresh = engine::pathFromUtf8(path + ".new");
    std::error_code failure;
    fs::create_directories(file.parent_path(), failure);
    fs::remove(fresh, failure);
    const auto refused = [&] {
        return keyError(said("%1: the key was not written; look whether the folder can be "
                             "written and the disk has room",
                             path));
    };
#ifdef _WIN32
    std::ofstream out(fresh, std::ios::binary);
    out << key << '\n';
    out.close();
    const bool is_written = !out.fail();
#else
    // Nobody else's from its first byte on, and not by way of a link that somebody put there.
    const int descriptor =
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) {
        return refused();
    }
    const std::string line = key + '\n';
    const bool is_all =
        ::write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    const bool is_written = ::close(descriptor) == 0 && is_all;
#endif
    if (is_written) {
        fs::rename(fresh, file, failure);
    }
    if (!is_written || failure) {
        fs::remove(fresh, failure);
        return refused();
    }
    return {};
}

Result<std::string> readAuthority(const std::string& path) {
    auto text = engine::readSmallFile(engine::pathFromUtf8(path), kLargestAuthority);
    if (!text.has_value()) {
        return Error{text.error().code, text.error().message, {{"rule", "RemoteAuthority"}}};
    }
    if (text->find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
        return Error{ErrorCode::InvalidRequest,
                     said("%1 holds no certificate: expected a PEM file, which has lines like "
                          "-----BEGIN CERTIFICATE-----; ask whoever runs the server for the "
                          "certificate of its authority",
                          path),
                     {{"rule", "RemoteAuthority"}}};
    }
    return *std::move(text);
}

} // namespace remote
