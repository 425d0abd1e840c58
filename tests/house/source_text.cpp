// SPDX-License-Identifier: Apache-2.0
#include "tests/house/source_text.h"

#include "tests/support/places.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace house {

namespace {

class Reader {
public:
    Reader(std::string_view source, Look look) : text_(source), look_(look) {}

    std::vector<std::string> lines() {
        while (at_ < text_.size()) {
            if (starts("//")) {
                skipTo("\n");
            } else if (starts("/*")) {
                skipTo("*/");
                at_ = std::min(at_ + 2, text_.size());
            } else if (text_[at_] == '"') {
                isRaw() ? rawString() : quoted('"');
            } else if (text_[at_] == '\'' && !isAfterWord()) { // else between digits: 1'000
                quoted('\'');
            } else {
                code(text_[at_++]);
            }
        }
        return std::move(lines_);
    }

private:
    [[nodiscard]] bool starts(std::string_view head) const {
        return text_.substr(at_).starts_with(head);
    }
    [[nodiscard]] bool isAfterWord() const {
        return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
    }
    /// R"( or u8R"(, not the end of a name like FOR"(.
    [[nodiscard]] bool isRaw() const {
        if (at_ == 0 || text_[at_ - 1] != 'R') {
            return false;
        }
        size_t begin = at_ - 1;
        while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text_[begin - 1])) != 0 ||
                             text_[begin - 1] == '_')) {
            --begin;
        }
        const std::string_view prefix = text_.substr(begin, at_ - begin);
        return prefix == "R" || prefix == "u8R" || prefix == "LR" || prefix == "uR" ||
               prefix == "UR";
    }

    void put(char c, bool is_wanted) {
        if (c == '\n') {
            lines_.emplace_back();
        } else if (is_wanted) {
            lines_.back() += c;
        }
    }
    void code(char c) { put(c, look_ != Look::Strings); }

    /// Line breaks of what is left out still count.
    void skipTo(std::string_view end) {
        while (at_ < text_.size() && !starts(end)) {
            put(text_[at_++], false);
        }
    }
    void quoted(char quote) {
        code(text_[at_++]);
        const bool is_wanted = look_ == Look::Code || (look_ == Look::Strings && quote == '"');
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
                put(text_[at_++], is_wanted);
            }
            put(text_[at_++], is_wanted);
        }
        close(1, is_wanted);
    }
    void rawString() {
        const size_t open = text_.find('(', at_);
        if (open == std::string_view::npos) {
            code(text_[at_++]);
            return;
        }
        const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        while (at_ <= open) {
            code(text_[at_++]);
        }
        while (at_ < text_.size() && !starts(end)) {
            put(text_[at_++], look_ != Look::Bare);
        }
        close(end.size(), true);
    }
    /// Past the end of a literal.
    void close(size_t length, bool is_wanted) {
        for (size_t i = 0; i < length && at_ < text_.size() && text_[at_] != '\n'; ++i) {
            code(text_[at_++]);
        }
        put(' ', is_wanted && look_ == Look::Strings);
    }

    std::string_view text_;
    Look look_;
    size_t at_ = 0;
    std::vector<std::string> lines_ = {""};
};

} // namespace

std::vector<std::string> linesOf(std::string_view source, Look look) {
    return Reader(source, look).lines();
}

std::map<std::string, std::string> sourcesBelow(const std::vector<std::string>& folders) {
    std::map<std::string, std::string> sources;
    const std::filesystem::path root = support::sourceDir();
    for (const std::string& folder : folders) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const std::string end = entry.path().extension().string();
            if (end == ".h" || end == ".cpp" || end == ".cu" || end == ".cuh") {
                std::ifstream file(entry.path(), std::ios::binary);
                std::ostringstream text;
                text << file.rdbuf();
                sources.emplace(entry.path().lexically_relative(root).generic_string(), text.str());
            }
        }
    }
    return sources;
}

} // namespace house
