// SPDX-License-Identifier: Apache-2.0
#include "tests/house/function_lengths.h"

#include "tests/house/source_text.h"

#include <algorithm>
#include <array>
#include <climits>
#include <sstream>

namespace house {

namespace {

/// In one line, without "template <...>" at its beginning.
std::string normalized(const std::string& text) {
    std::istringstream words(text);
    std::string head;
    for (std::string word; words >> word;) {
        head += (head.empty() ? "" : " ") + word;
    }
    while (head.starts_with("template")) {
        size_t at = head.find('<');
        if (at == std::string::npos) {
            break;
        }
        int depth = 0;
        do {
            depth += head[at] == '<' ? 1 : head[at] == '>' ? -1 : 0;
            ++at;
        } while (at < head.size() && depth > 0);
        head.erase(0, head.find_first_not_of(' ', at));
    }
    return head;
}

bool isNamespace(const std::string& head) {
    const size_t at = head.rfind("namespace");
    if (head == "extern \"\"") {
        return true;
    }
    // Macros may stand before it.
    return at != std::string::npos && head.find_first_of("();=", at) == std::string::npos;
}

bool isType(std::string head) {
    constexpr std::array<std::string_view, 9> kBefore = {
        "Q_OBJECT ", "public: ", "private: ", "protected: ", "typedef ",
        "static ",   "inline ",  "const ",    "constexpr "};
    for (size_t i = 0; i < kBefore.size(); ++i) {
        if (head.starts_with(kBefore[i])) {
            head.erase(0, kBefore[i].size());
            i = size_t(-1);
        }
    }
    constexpr std::array<std::string_view, 4> kTypes = {"class ", "struct ", "union ", "enum "};
    return head == "struct" || head == "union" || head == "enum" ||
           std::any_of(kTypes.begin(), kTypes.end(),
                       [&](std::string_view type) { return head.starts_with(type); });
}

class Finder {
public:
    std::vector<Function> find(std::string_view source) {
        bool goes_on = false; // a directive over several lines
        for (const std::string& line : linesOf(source, Look::Bare)) {
            ++line_;
            const size_t begin = line.find_first_not_of(" \t");
            const bool is_directive = goes_on || (begin != std::string::npos && line[begin] == '#');
            if (!is_directive) {
                code(line);
                continue;
            }
            if (!goes_on) {
                directive(std::string_view(line).substr(begin + 1));
            }
            goes_on = line.ends_with('\\');
        }
        if (!scopes_.empty() || is_broken_) {
            return {{"", line_, INT_MAX}};
        }
        return std::move(found_);
    }

private:
    struct Scope {
        enum class Kind { Outside = 1, Function, Inside } kind = Kind::Outside;
        std::string head;
        int line = 0;
    };

    void code(const std::string& line) {
        for (const char c : line) {
            if (c == '{') {
                open();
            } else if (c == '}') {
                close();
            } else if (c == ';') {
                head_.clear();
                has_just_ended_ = false;
            } else {
                head_ += c;
            }
        }
        head_ += ' ';
    }
    void open() {
        Scope scope;
        scope.head = normalized(head_);
        scope.line = line_;
        const bool is_outside = scopes_.empty() || scopes_.back().kind == Scope::Kind::Outside;
        const bool goes_on = scope.head.empty() || scope.head.starts_with(',');
        if (!is_outside) {
            scope.kind = Scope::Kind::Inside;
        } else if (goes_on && has_just_ended_) {
            // What was taken for the body was a member's initial value.
            scope.kind = Scope::Kind::Function;
            scope.head = found_.back().head;
            found_.pop_back();
        } else if (!isNamespace(scope.head) && !isType(scope.head)) {
            scope.kind = scope.head.find('(') != std::string::npos ? Scope::Kind::Function
                                                                   : Scope::Kind::Inside;
        }
        scopes_.push_back(std::move(scope));
        head_.clear();
        has_just_ended_ = false;
    }
    void close() {
        head_.clear();
        if (scopes_.empty()) {
            is_broken_ = true;
            return;
        }
        const Scope scope = std::move(scopes_.back());
        scopes_.pop_back();
        has_just_ended_ = scope.kind == Scope::Kind::Function;
        if (has_just_ended_) {
            found_.push_back({scope.head, scope.line, line_ - scope.line + 1});
        }
    }
    /// Each side of an #if begins where the first one did.
    void directive(std::string_view text) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        if (text.starts_with("if")) {
            before_if_.push_back(scopes_);
        } else if (text.starts_with("el") && !before_if_.empty()) {
            scopes_ = before_if_.back();
            head_.clear();
        } else if (text.starts_with("endif") && !before_if_.empty()) {
            before_if_.pop_back();
        }
    }

    std::vector<Function> found_;
    std::vector<Scope> scopes_;
    std::vector<std::vector<Scope>> before_if_;
    std::string head_; ///< Since the last brace or semicolon.
    int line_ = 0;
    bool has_just_ended_ = false; ///< A function, with the last brace.
    bool is_broken_ = false;
};

} // namespace

std::vector<Function> functionsOf(std::string_view source) {
    return Finder().find(source);
}

} // namespace house
