// SPDX-License-Identifier: Apache-2.0
#include "app/serve/access_token.h"

#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <algorithm>
#include <cstdint>
#include <random>

#ifdef _WIN32
#include <fstream>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace serve {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostFileBytes = size_t{64} << 10U;
constexpr size_t kShortestToken = 16;

Error fileError(engine::Sentence words) {
    return {ErrorCode::InvalidFile, std::move(words)};
}

Error notWritten(const fs::path& file) {
    return fileError(said("%1: the file for tokens cannot be written; make room on the disk, or "
                          "name one elsewhere",
                          engine::utf8Of(file)));
}

#ifdef _WIN32

/// The user's own folders are closed to others there.
Result<void> writeOwn(const fs::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text << std::flush;
    return out.good() ? Result<void>() : notWritten(file);
}

Result<void> checkIsOwn(const fs::path& /*file*/) {
    return {};
}

#else

Result<void> writeOwn(const fs::path& file, const std::string& text) {
    const int handle = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (handle < 0) {
        return fileError(
            said("%1: the file for tokens cannot be made; name one in a folder that is "
                 "there and can be written",
                 engine::utf8Of(file)));
    }
    const ssize_t written = ::write(handle, text.data(), text.size());
    const bool is_closed = ::close(handle) == 0;
    if (written != static_cast<ssize_t>(text.size()) || !is_closed) {
        return notWritten(file);
    }
    return {};
}

Result<void> checkIsOwn(const fs::path& file) {
    struct stat facts = {};
    if (::stat(file.c_str(), &facts) == 0 && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return fileError(said("%1: other users may read or write this file with tokens; chmod 600 "
                              "keeps it to you",
                              engine::utf8Of(file)));
    }
    return {};
}

#endif

bool isTokenCharacter(char c) {
    return c > ' ' && c < 0x7f;
}

} // namespace

std::string makeToken() {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::random_device source;
    std::string token = "bf-";
    uint64_t bits = 0;
    int held = 0;
    for (int i = 0; i < 43; ++i) { // 6 bits each
        if (held < 6) {
            bits |= static_cast<uint64_t>(source()) << held;
            held += 32;
        }
        token += kDigits[bits & 63U];
        bits >>= 6U;
        held -= 6;
    }
    return token;
}

std::optional<size_t> findToken(const std::vector<std::string>& tokens, std::string_view given) {
    std::optional<size_t> found;
    for (size_t i = 0; i < tokens.size(); ++i) {
        const std::string& token = tokens[i];
        // No way out of the loop depends on what is compared, but on the length alone.
        unsigned difference = token.size() == given.size() ? 0U : 1U;
        for (size_t at = 0; at < given.size() && !token.empty(); ++at) {
            difference |=
                static_cast<unsigned>(static_cast<unsigned char>(given[at])) ^
                static_cast<unsigned>(static_cast<unsigned char>(token[at % token.size()]));
        }
        if (difference == 0U && !token.empty()) {
            found = i;
        }
    }
    return found;
}

Result<std::vector<std::string>> tokensOf(const fs::path& file) {
    std::error_code code;
    if (!fs::exists(file, code)) {
        ENGINE_TRY(writeOwn(file, makeToken() + "\n"));
    }
    ENGINE_TRY(checkIsOwn(file));
    ENGINE_ASSIGN(const std::string text, engine::readSmallFile(file, kMostFileBytes));
    std::vector<std::string> tokens;
    size_t from = 0;
    while (from < text.size()) {
        const size_t end = std::min(text.find('\n', from), text.size());
        std::string line = text.substr(from, end - from);
        from = end + 1;
        if (line.ends_with('\r')) {
            line.pop_back();
        }
        if (line.empty()) {
            continue;
        }
        if (line.size() < kShortestToken ||
            !std::all_of(line.begin(), line.end(), isTokenCharacter)) {
            return fileError(said("%1: line %2 is no token, expected at least 16 letters, digits "
                                  "or signs without spaces; delete the file to get a fresh one",
                                  engine::utf8Of(file), tokens.size() + 1));
        }
        tokens.push_back(std::move(line));
    }
    if (tokens.empty()) {
        return fileError(said("%1: the file for tokens is empty, expected one a line; delete it to "
                              "get a fresh one",
                              engine::utf8Of(file)));
    }
    return tokens;
}

} // namespace serve
