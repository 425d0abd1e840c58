// SPDX-License-Identifier: Apache-2.0
#include "app/common/pasted_path.h"

#include "app/common/environment.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#ifndef _WIN32
#include <pwd.h>
#include <unistd.h>
#endif

namespace app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\n\v\f";
#ifdef _WIN32
constexpr char kEscape = '\0'; ///< None: a backslash stands between folders.
#else
constexpr char kEscape = '\\';
#endif

bool isThere(const std::string& path, PathFor purpose) {
    if (path.empty() || path.find('\0') != std::string::npos) {
        return false;
    }
    std::error_code failure;
    if (purpose == PathFor::Reading) {
        return fs::exists(fs::status(engine::pathFromUtf8(path), failure));
    }
    const fs::path folder = engine::pathFromUtf8(path).parent_path();
    return folder.empty() || fs::is_directory(folder, failure);
}

int hexDigit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char low = static_cast<char>(c | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/// The path of a file: address on this computer.
std::optional<std::string> fromAddress(std::string_view word) {
    constexpr std::string_view kScheme = "file:";
    if (word.size() < kScheme.size() ||
        !std::equal(kScheme.begin(), kScheme.end(), word.begin(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b | 0x20 : b); })) {
        return std::nullopt;
    }
    word.remove_prefix(kScheme.size());
    if (word.starts_with("//")) {
        word.remove_prefix(2);
        const size_t slash = word.find('/');
        const std::string_view host = word.substr(0, slash);
        if (slash == std::string_view::npos ||
            !(host.empty() || host == "localhost" || host == "127.0.0.1")) {
            return std::nullopt; // another computer's
        }
        word.remove_prefix(slash);
    }
    std::string path;
    for (size_t i = 0; i < word.size(); ++i) {
        const int high = word[i] == '%' && i + 2 < word.size() ? hexDigit(word[i + 1]) : -1;
        const int low = high >= 0 ? hexDigit(word[i + 2]) : -1;
        if (low >= 0 && (high != 0 || low != 0)) {
            path += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            path += word[i];
        }
    }
#ifdef _WIN32
    if (path.size() > 2 && path[0] == '/' && path[2] == ':') { // "file:///C:/folder"
        path.erase(0, 1);
    }
#endif
    return path;
}

/// The home folder for a leading ~ or ~NAME.
std::string withHome(const std::string& path) {
    if (!path.starts_with('~')) {
        return path;
    }
#ifdef _WIN32
    const size_t end = std::min(path.find_first_of("/\\"), path.size());
#else
    const size_t end = std::min(path.find('/'), path.size());
#endif
    const std::string name = path.substr(1, end - 1);
    std::string home;
    if (name.empty()) {
        home = engine::utf8Of(homeFolder());
    }
#ifndef _WIN32
    if (home.empty()) {
        const passwd* user = name.empty() ? ::getpwuid(::getuid()) : ::getpwnam(name.c_str());
        home = user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "";
    }
#endif
    return home.empty() ? path : home + path.substr(end);
}

/// Bytes behind a backslash within $'...': n and t, octal and hexadecimal numbers.
void readEscape(std::string_view word, size_t& at, std::string& out) {
    const char c = word[at];
    int value = 0;
    size_t digits = 0;
    if (c == 'x') {
        while (digits < 2 && at + 1 < word.size() && hexDigit(word[at + 1]) >= 0) {
            value = value * 16 + hexDigit(word[++at]);
            ++digits;
        }
    } else {
        while (digits < 3 && at < word.size() && word[at] >= '0' && word[at] <= '7') {
            value = value * 8 + (word[at++] - '0');
            ++digits;
        }
        at -= digits > 0 ? 1 : 0;
    }
    if (digits > 0) {
        out += static_cast<char>(value);
        return;
    }
    constexpr std::array<std::pair<char, char>, 7> kNamed = {{{'n', '\n'},
                                                              {'t', '\t'},
                                                              {'r', '\r'},
                                                              {'a', '\a'},
                                                              {'b', '\b'},
                                                              {'e', '\x1b'},
                                                              {'f', '\f'}}};
    const auto* named = std::find_if(kNamed.begin(), kNamed.end(),
                                     [c](const auto& known) { return known.first == c; });
    out += named != kNamed.end() ? named->second : c;
}

/// The words of a line as a POSIX shell reads them; nothing when a quote is not closed.
std::optional<std::vector<std::string>> shellWords(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool has_word = false;
    char quote = 0; // ' " or $ for $'...'
    for (size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool has_next = i + 1 < line.size();
        if (quote == '\'') {
            if (c == '\'') {
                quote = 0;
            } else {
                word += c;
            }
        } else if (quote == '$' && c == kEscape && has_next) {
            readEscape(line, ++i, word);
        } else if (quote == '"' && c == kEscape && has_next &&
                   std::string_view("\"\\$`").find(line[i + 1]) != std::string_view::npos) {
            word += line[++i];
        } else if (quote != 0) {
            if (c == (quote == '$' ? '\'' : quote)) {
                quote = 0;
            } else {
                word += c;
            }
        } else if (c == kEscape && has_next) {
            word += line[++i];
            has_word = true;
        } else if (c == '\'' || c == '"') {
            quote = c;
            has_word = true;
        } else if (c == '$' && has_next && line[i + 1] == '\'') {
            quote = '$';
            has_word = true;
            ++i;
        } else if (kBlanks.find(c) != std::string_view::npos) {
            if (has_word) {
                words.push_back(std::exchange(word, {}));
                has_word = false;
            }
        } else {
            word += c;
            has_word = true;
        }
    }
    if (quote != 0) {
        return std::nullopt;
    }
    if (has_word) {
        words.push_back(word);
    }
    return words;
}

/// Without backslashes and quotes, blanks kept: a name with blanks of which only some are escaped.
std::string withoutEscapes(std::string_view word) {
    std::string out;
    for (size_t i = 0; i < word.size(); ++i) {
        out += word[i] == kEscape && i + 1 < word.size() ? word[++i] : word[i];
    }
    return out;
}

std::optional<std::string> withinQuotes(std::string_view word) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPairs = {
        {{"'", "'"},
         {"\"", "\""},
         {"\u2018", "\u2019"},
         {"\u201c", "\u201d"},
         {"\u201e", "\u201c"},
         {"\u00ab", "\u00bb"}}};
    for (const auto& [open, close] : kPairs) {
        if (word.size() > open.size() + close.size() && word.starts_with(open) &&
            word.ends_with(close)) {
            return std::string(word.substr(open.size(), word.size() - open.size() - close.size()));
        }
    }
    return std::nullopt;
}

/// All readings of a word, the plainest first.
std::vector<std::string> readings(std::string_view word) {
    std::vector<std::string> out;
    const auto add = [&](std::string path) {
        const auto address = fromAddress(path);
        if (address) {
            out.push_back(*address);
        }
        const std::string at_home = withHome(path);
        if (at_home != path) {
            out.push_back(at_home);
        }
        out.push_back(std::move(path));
    };
    out.emplace_back(word);
    add(std::string(word));
    const auto words = shellWords(word);
    if (words && words->size() == 1) {
        add(words->front());
    }
    if (const auto inner = withinQuotes(word)) {
        add(*inner);
    }
    add(withoutEscapes(word));
    return out;
}

/// The reading to name when none is there.
std::string likeliest(std::string_view word) {
    const auto words = shellWords(word);
    std::string path(word);
    if (words && words->size() == 1) {
        path = words->front();
    } else if (const auto inner = withinQuotes(word)) {
        path = *inner;
    }
    return fromAddress(path).value_or(withHome(path));
}

} // namespace

std::string_view trimmedWord(std::string_view word) {
    if (word.starts_with(kByteOrderMark)) {
        word.remove_prefix(kByteOrderMark.size());
    }
    const size_t first = std::min(word.find_first_not_of(kBlanks), word.size());
    word.remove_prefix(first);
    const size_t last = word.find_last_not_of(kBlanks);
    return word.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string pastedPath(std::string_view word, PathFor purpose) {
    if (word.empty() || isThere(std::string(word), PathFor::Reading)) {
        return std::string(word); // a name may have blanks at its end
    }
    const std::string_view trimmed = trimmedWord(word);
    if (purpose == PathFor::Writing) {
        // A new file may have any name; only what hardly is one is read otherwise.
        const bool is_pasted = withinQuotes(trimmed) || fromAddress(trimmed) ||
                               trimmed.starts_with("~") ||
                               (kEscape != '\0' && trimmed.find("\\ ") != std::string_view::npos);
        if (std::string path = likeliest(trimmed); is_pasted && isThere(path, purpose)) {
            return path;
        }
    }
    for (const std::string& path : readings(trimmed)) {
        if (isThere(path, purpose)) {
            return path;
        }
    }
    return likeliest(trimmed);
}

std::vector<std::string> pastedPaths(std::string_view word) {
    const std::string whole = pastedPath(word);
    if (!isThere(whole, PathFor::Reading)) {
        const auto words = shellWords(trimmedWord(word));
        std::vector<std::string> paths;
        for (const std::string& one : words.value_or(std::vector<std::string>())) {
            paths.push_back(pastedPath(one));
        }
        if (paths.size() > 1 && std::all_of(paths.begin(), paths.end(), [](const auto& path) {
                return isThere(path, PathFor::Reading);
            })) {
            return paths;
        }
    }
    return {whole};
}

} // namespace app
