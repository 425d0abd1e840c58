// SPDX-License-Identifier: Apache-2.0
// The matcher. The compiler is linear_pattern_compiler.cpp.
#include "engine/lora/linear_pattern.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

bool isWord(std::string_view text, size_t index) {
    if (index >= text.size()) {
        return false;
    }
    const char c = text[index];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

} // namespace

/// Threads of one position in order of preference, each step once.
class LinearPattern::Threads {
public:
    explicit Threads(size_t steps) : seen_(steps, 0) {}
    void clear() {
        list.clear();
        ++round_;
    }
    bool visit(uint32_t step) {
        if (seen_[step] == round_) {
            return false;
        }
        seen_[step] = round_;
        return true;
    }
    std::vector<Thread> list; ///< At Char and Match steps.
    std::vector<Thread> open; ///< Work of follow().

private:
    std::vector<uint32_t> seen_;
    uint32_t round_ = 1;
};

bool LinearPattern::holds(const Step& step,
                          std::string_view text,
                          size_t position,
                          const Tables& tables) const {
    const bool is_edge = (position > 0 && isWord(text, position - 1)) != isWord(text, position);
    switch (step.op) {
    case Op::TextBegin:
        return position == 0;
    case Op::TextEnd:
        return position == text.size();
    case Op::LineBegin:
        return position == 0 || text[position - 1] == '\n';
    case Op::LineEnd:
        return position == text.size() || text[position] == '\n';
    case Op::WordEdge:
        return is_edge;
    case Op::NotWordEdge:
        return !is_edge;
    case Op::Look:
        return tables[step.x][position];
    case Op::LookNot:
        return !tables[step.x][position];
    default:
        return true;
    }
}

void LinearPattern::follow(const Program& program,
                           Thread thread,
                           std::string_view text,
                           size_t position,
                           const Tables& tables,
                           Threads& threads) const {
    threads.open.assign(1, thread);
    while (!threads.open.empty()) {
        Thread now = threads.open.back();
        threads.open.pop_back();
        if (!threads.visit(now.at)) {
            continue;
        }
        const Step& step = program[now.at];
        switch (step.op) {
        case Op::Char:
        case Op::Match:
            threads.list.push_back(now);
            break;
        case Op::Jump:
            now.at = step.x;
            threads.open.push_back(now);
            break;
        case Op::Split: {
            Thread second = now;
            second.at = step.y;
            threads.open.push_back(second);
            now.at = step.x;
            threads.open.push_back(now);
            break;
        }
        case Op::Save:
            now.saved[step.x] = position;
            ++now.at;
            threads.open.push_back(now);
            break;
        default:
            if (holds(step, text, position, tables)) {
                ++now.at;
                threads.open.push_back(now);
            }
            break;
        }
    }
}

LinearPattern::Tables LinearPattern::look(std::string_view text) const {
    Tables tables;
    for (const Look& look : looks_) {
        std::vector<bool> table(text.size() + 1, false);
        Threads now(look.program.size());
        Threads next(look.program.size());
        for (size_t i = 0; i <= text.size(); ++i) {
            const size_t position = look.is_behind ? i : text.size() - i;
            follow(look.program, Thread{}, text, position, tables, now); // begins anywhere
            next.clear();
            for (const Thread& thread : now.list) {
                const Step& step = look.program[thread.at];
                if (step.op == Op::Match) {
                    table[position] = true;
                    continue;
                }
                if (i == text.size()) {
                    continue;
                }
                const char c = text[look.is_behind ? position : position - 1];
                if (sets_[step.x][static_cast<unsigned char>(c)]) {
                    Thread moved = thread;
                    ++moved.at;
                    follow(look.program, moved, text, look.is_behind ? position + 1 : position - 1,
                           tables, next);
                }
            }
            std::swap(now, next);
        }
        tables.push_back(std::move(table));
    }
    return tables;
}

bool LinearPattern::run(std::string_view text, bool is_whole, std::string_view& captured) const {
    const Tables tables = look(text);
    Threads now(program_.size());
    Threads next(program_.size());
    follow(program_, Thread{}, text, 0, tables, now);
    bool has_matched = false;
    for (size_t position = 0; !now.list.empty(); ++position) {
        next.clear();
        for (const Thread& thread : now.list) {
            const Step& step = program_[thread.at];
            if (step.op == Op::Match) {
                if (is_whole && position < text.size()) {
                    continue;
                }
                has_matched = true;
                captured = text.substr(thread.saved[0], thread.saved[1] - thread.saved[0]);
                break; // those behind are less preferred
            }
            if (position < text.size() &&
                sets_[step.x][static_cast<unsigned char>(text[position])]) {
                Thread moved = thread;
                ++moved.at;
                follow(program_, moved, text, position + 1, tables, next);
            }
        }
        std::swap(now, next);
    }
    return has_matched;
}

size_t LinearPattern::steps() const {
    size_t count = program_.size();
    for (const Look& look : looks_) {
        count += look.program.size();
    }
    return count;
}

bool LinearPattern::matchesWhole(std::string_view text) const {
    std::string_view captured;
    return run(text, true, captured);
}

bool LinearPattern::matchesStart(std::string_view text, std::string_view& captured) const {
    return run(text, false, captured);
}

} // namespace engine
