// SPDX-License-Identifier: Apache-2.0
// From text to a tree to steps. Counted repeats become copies, so the tree is walked more than once
// and the number of steps is watched while they are written.
#include "engine/lora/linear_pattern.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

namespace engine {

namespace {

constexpr int kNoLimit = -1;
constexpr int kMaxDepth = 200;
constexpr int64_t kMaxWidth = 1'000'000;

} // namespace

class LinearPatternCompiler {
public:
    explicit LinearPatternCompiler(std::string_view text) : in_(text) {}

    Result<LinearPattern> run() {
        ENGINE_ASSIGN(const NodePtr root, alternatives());
        if (at_ < in_.size()) {
            return invalid(said("a closing bracket without an opening one"));
        }
        pattern_.program_ = programOf(*root, false);
        if (steps_ > LinearPattern::kMaxSteps) {
            return Error{ErrorCode::Unsupported, said("the pattern needs too large an automaton")};
        }
        return std::move(pattern_);
    }

private:
    using Op = LinearPattern::Op;
    using Set = LinearPattern::Set;
    struct Node;
    using NodePtr = std::unique_ptr<Node>;
    struct Node {
        enum class Kind { Sequence, Choice, Char, Assertion, Repeat, Capture, Look };
        Kind kind = Kind::Sequence;
        std::vector<NodePtr> parts;
        Op op = Op::Match; ///< Assertion
        uint32_t set = 0;  ///< Char
        int low = 0, high = kNoLimit;
        bool is_lazy = false;
        bool is_negative = false, is_behind = false; ///< Look
    };
    struct Flags {
        bool ignores_case = false, is_multiline = false, dot_takes_all = false;
    };
    struct Width {
        int64_t low = 0, high = 0;
    };

    static Error invalid(const Sentence& what) {
        return Error{ErrorCode::InvalidFile, said("not a valid pattern: %1", what)};
    }
    [[nodiscard]] bool has(std::string_view text) const {
        return in_.substr(at_).starts_with(text);
    }
    static NodePtr node(Node::Kind kind) {
        auto made = std::make_unique<Node>();
        made->kind = kind;
        return made;
    }
    static NodePtr assertion(Op op) {
        NodePtr made = node(Node::Kind::Assertion);
        made->op = op;
        return made;
    }

    // ---- sets ----

    NodePtr charNode(Set set) {
        if (flags_.ignores_case) {
            for (size_t c = 'a'; c <= 'z'; ++c) {
                const size_t upper = c - 'a' + 'A';
                if (set[c] || set[upper]) {
                    set.set(c).set(upper);
                }
            }
        }
        return setNode(set);
    }
    NodePtr setNode(const Set& set) {
        NodePtr made = node(Node::Kind::Char);
        made->set = static_cast<uint32_t>(pattern_.sets_.size());
        pattern_.sets_.push_back(set);
        return made;
    }
    static Set rangeSet(unsigned char first, unsigned char last) {
        Set set;
        for (size_t c = first; c <= last; ++c) {
            set.set(c);
        }
        return set;
    }
    /// \d \w \s and their opposites.
    static std::optional<Set> classOf(char c) {
        const Set digits = rangeSet('0', '9');
        Set word = digits | rangeSet('a', 'z') | rangeSet('A', 'Z');
        word.set('_');
        Set space;
        for (const char blank : {' ', '\t', '\n', '\r', '\f', '\v'}) {
            space.set(static_cast<unsigned char>(blank));
        }
        switch (c) {
        case 'd':
            return digits;
        case 'D':
            return ~digits;
        case 'w':
            return word;
        case 'W':
            return ~word;
        case 's':
            return space;
        case 'S':
            return ~space;
        default:
            return std::nullopt;
        }
    }
    /// The byte behind a backslash at at_; consumes both.
    Result<unsigned char> escapedByte() {
        const char c = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
        at_ += 2;
        constexpr std::string_view kNames = "nrtfva";
        constexpr std::string_view kBytes = "\n\r\t\f\v\a";
        if (const size_t known = kNames.find(c); known != std::string_view::npos) {
            return static_cast<unsigned char>(kBytes[known]);
        }
        if (c != 'x') {
            return static_cast<unsigned char>(c);
        }
        unsigned value = 0;
        for (int i = 0; i < 2 && at_ < in_.size(); ++i) {
            const char h = in_[at_++];
            const char lower = static_cast<char>(h >= 'A' && h <= 'F' ? h - 'A' + 'a' : h);
            value =
                value * 16 + static_cast<unsigned>(lower >= 'a' ? lower - 'a' + 10 : lower - '0');
        }
        return static_cast<unsigned char>(value & 255U);
    }

    Result<NodePtr> characterClass() {
        ++at_;
        const bool is_negated = has("^");
        at_ += is_negated ? 1 : 0;
        Set set;
        while (at_ < in_.size() && in_[at_] != ']') {
            if (in_[at_] == '\\' && at_ + 1 < in_.size()) {
                if (const auto known = classOf(in_[at_ + 1])) {
                    set |= *known;
                    at_ += 2;
                    continue;
                }
            }
            ENGINE_ASSIGN(const unsigned char first, classByte());
            unsigned char last = first;
            if (has("-") && at_ + 1 < in_.size() && in_[at_ + 1] != ']') {
                ++at_;
                ENGINE_ASSIGN(last, classByte());
            }
            if (last < first) {
                return invalid(said("a range of a class runs backwards"));
            }
            set |= rangeSet(first, last);
        }
        if (at_ >= in_.size()) {
            return invalid(said("a character class is not closed"));
        }
        ++at_;
        if (!is_negated) {
            return charNode(set);
        }
        NodePtr made = charNode(set);
        pattern_.sets_[made->set].flip();
        return made;
    }
    Result<unsigned char> classByte() {
        if (in_[at_] == '\\') {
            return escapedByte();
        }
        return static_cast<unsigned char>(in_[at_++]);
    }

    // ---- tree ----

    Result<NodePtr> alternatives() {
        if (++depth_ > kMaxDepth) {
            return invalid(said("groups nested too deeply"));
        }
        const Flags outer = flags_;
        NodePtr choice = node(Node::Kind::Choice);
        ENGINE_ASSIGN(NodePtr first, sequence());
        choice->parts.push_back(std::move(first));
        while (has("|")) {
            ++at_;
            ENGINE_ASSIGN(NodePtr next, sequence());
            choice->parts.push_back(std::move(next));
        }
        flags_ = outer;
        --depth_;
        return choice;
    }

    Result<NodePtr> sequence() {
        NodePtr made = node(Node::Kind::Sequence);
        while (at_ < in_.size() && in_[at_] != '|' && in_[at_] != ')') {
            ENGINE_ASSIGN(NodePtr item, atom());
            if (item == nullptr) {
                continue; // flags
            }
            ENGINE_ASSIGN(item, repeated(std::move(item)));
            made->parts.push_back(std::move(item));
        }
        return made;
    }

    Result<NodePtr> atom() {
        const char c = in_[at_];
        switch (c) {
        case '(':
            return group();
        case '[':
            return characterClass();
        case '.': {
            ++at_;
            Set any;
            any.set();
            if (!flags_.dot_takes_all) {
                any.reset('\n');
            }
            return setNode(any);
        }
        case '^':
            ++at_;
            return assertion(flags_.is_multiline ? Op::LineBegin : Op::TextBegin);
        case '$':
            ++at_;
            return assertion(flags_.is_multiline ? Op::LineEnd : Op::TextEnd);
        case '\\':
            return escape();
        default:
            ++at_;
            return charNode(rangeSet(static_cast<unsigned char>(c), static_cast<unsigned char>(c)));
        }
    }

    Result<NodePtr> escape() {
        const char c = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
        if (const auto known = classOf(c)) {
            at_ += 2;
            return charNode(*known);
        }
        const auto edge = [&](Op op) {
            at_ += 2;
            return assertion(op);
        };
        switch (c) {
        case 'b':
            return edge(Op::WordEdge);
        case 'B':
            return edge(Op::NotWordEdge);
        case 'A':
            return edge(Op::TextBegin);
        case 'z':
            return edge(Op::TextEnd);
        default:
            break;
        }
        ENGINE_ASSIGN(const unsigned char byte, escapedByte());
        return charNode(rangeSet(byte, byte));
    }

    /// Groups, look-arounds and flags; nullptr for flags that stand alone.
    Result<NodePtr> group() {
        NodePtr made;
        if (has("(?=") || has("(?!") || has("(?<=") || has("(?<!")) {
            made = node(Node::Kind::Look);
            made->is_behind = in_[at_ + 2] == '<';
            at_ += made->is_behind ? 4 : 3;
            made->is_negative = in_[at_ - 1] == '!';
        } else if (has("(?:")) {
            at_ += 3;
            made = node(Node::Kind::Sequence);
        } else if (has("(?")) {
            at_ += 2;
            Flags flags = flags_;
            bool value = true;
            while (at_ < in_.size() && in_[at_] != ':' && in_[at_] != ')') {
                const char c = in_[at_++];
                value = value && c != '-';
                flags.ignores_case = c == 'i' ? value : flags.ignores_case;
                flags.is_multiline = c == 'm' ? value : flags.is_multiline;
                flags.dot_takes_all = c == 's' ? value : flags.dot_takes_all;
            }
            const bool is_alone = has(")");
            ++at_;
            if (is_alone) {
                flags_ = flags; // until the enclosing group ends
                return NodePtr();
            }
            const Flags outer = std::exchange(flags_, flags);
            ENGINE_ASSIGN(NodePtr inside, alternatives());
            flags_ = outer;
            return closed(std::move(inside));
        } else {
            ++at_;
            made = node(Node::Kind::Capture);
        }
        ENGINE_ASSIGN(NodePtr inside, alternatives());
        if (made->kind == Node::Kind::Look && made->is_behind) {
            const Width width = widthOf(*inside);
            if (width.low != width.high) {
                return invalid(said("a look-behind needs a fixed width"));
            }
        }
        made->parts.push_back(std::move(inside));
        return closed(std::move(made));
    }
    Result<NodePtr> closed(NodePtr made) {
        if (!has(")")) {
            return invalid(said("a group is not closed"));
        }
        ++at_;
        return made;
    }

    Result<NodePtr> repeated(NodePtr item) {
        int low = 0;
        int high = kNoLimit;
        if (has("*")) {
            ++at_;
        } else if (has("+")) {
            ++at_;
            low = 1;
        } else if (has("?")) {
            ++at_;
            high = 1;
        } else if (has("{")) {
            ++at_;
            low = number();
            high = low;
            if (has(",")) {
                ++at_;
                high = has("}") ? kNoLimit : number();
            }
            ++at_; // the brace; translatePythonPattern() has seen to it
            if (high != kNoLimit && high < low) {
                return invalid(said("a repeat of at least %1 and at most %2", low, high));
            }
        } else {
            return item;
        }
        NodePtr made = node(Node::Kind::Repeat);
        made->low = low;
        made->high = high;
        made->is_lazy = has("?");
        at_ += made->is_lazy ? 1 : 0;
        made->parts.push_back(std::move(item));
        return made;
    }
    int number() {
        int value = 0;
        while (at_ < in_.size() && in_[at_] >= '0' && in_[at_] <= '9') {
            value = std::min(value * 10 + (in_[at_++] - '0'), 10'000);
        }
        return value;
    }

    static Width widthOf(const Node& node) {
        switch (node.kind) {
        case Node::Kind::Char:
            return {1, 1};
        case Node::Kind::Assertion:
        case Node::Kind::Look:
            return {0, 0};
        case Node::Kind::Repeat: {
            const Width one = widthOf(*node.parts.front());
            const int64_t high = node.high == kNoLimit && one.high > 0
                                     ? kMaxWidth
                                     : one.high * std::max(node.high, 0);
            return {std::min(kMaxWidth, one.low * node.low), std::min(kMaxWidth, high)};
        }
        case Node::Kind::Choice: {
            Width all{kMaxWidth, 0};
            for (const NodePtr& part : node.parts) {
                const Width one = widthOf(*part);
                all = {std::min(all.low, one.low), std::max(all.high, one.high)};
            }
            return all;
        }
        default: {
            Width all;
            for (const NodePtr& part : node.parts) {
                const Width one = widthOf(*part);
                all = {std::min(kMaxWidth, all.low + one.low),
                       std::min(kMaxWidth, all.high + one.high)};
            }
            return all;
        }
        }
    }

    // ---- steps ----

    using Program = LinearPattern::Program;

    [[nodiscard]] bool isFull() const { return steps_ > LinearPattern::kMaxSteps; }
    uint32_t add(Program& program, Op op, uint32_t x = 0, uint32_t y = 0) {
        ++steps_;
        program.push_back({op, x, y});
        return static_cast<uint32_t>(program.size() - 1);
    }
    static uint32_t end(const Program& program) { return static_cast<uint32_t>(program.size()); }

    Program programOf(const Node& root, bool is_reversed) {
        Program program;
        write(program, root, is_reversed);
        add(program, Op::Match);
        return program;
    }

    void write(Program& program, const Node& node, bool is_reversed) {
        if (isFull()) {
            return;
        }
        switch (node.kind) {
        case Node::Kind::Char:
            add(program, Op::Char, node.set);
            return;
        case Node::Kind::Assertion:
            add(program, node.op);
            return;
        case Node::Kind::Look: {
            // Its own program first: inner look-arounds are numbered before outer ones.
            LinearPattern::Look look;
            look.is_behind = node.is_behind;
            look.program = programOf(*node.parts.front(), !node.is_behind);
            pattern_.looks_.push_back(std::move(look));
            add(program, node.is_negative ? Op::LookNot : Op::Look,
                static_cast<uint32_t>(pattern_.looks_.size() - 1));
            return;
        }
        case Node::Kind::Choice:
            choice(program, node, is_reversed);
            return;
        case Node::Kind::Repeat:
            repeat(program, node, is_reversed);
            return;
        case Node::Kind::Capture:
            add(program, Op::Save, 0);
            write(program, *node.parts.front(), is_reversed);
            add(program, Op::Save, 1);
            return;
        case Node::Kind::Sequence:
            for (size_t i = 0; i < node.parts.size(); ++i) {
                write(program, *node.parts[is_reversed ? node.parts.size() - 1 - i : i],
                      is_reversed);
            }
            return;
        }
    }

    void choice(Program& program, const Node& node, bool is_reversed) {
        std::vector<uint32_t> jumps;
        for (size_t i = 0; i < node.parts.size(); ++i) {
            const bool is_last = i + 1 == node.parts.size();
            const uint32_t split = is_last ? 0 : add(program, Op::Split);
            if (!is_last) {
                program[split].x = end(program);
            }
            write(program, *node.parts[i], is_reversed);
            if (!is_last) {
                jumps.push_back(add(program, Op::Jump));
                program[split].y = end(program);
            }
        }
        for (const uint32_t jump : jumps) {
            program[jump].x = end(program);
        }
    }

    void split(Program& program, uint32_t at, uint32_t inside, uint32_t behind, bool is_lazy) {
        program[at].x = is_lazy ? behind : inside;
        program[at].y = is_lazy ? inside : behind;
    }

    void repeat(Program& program, const Node& node, bool is_reversed) {
        const Node& item = *node.parts.front();
        for (int i = 0; i < node.low && !isFull(); ++i) {
            write(program, item, is_reversed);
        }
        if (node.high == kNoLimit) {
            const uint32_t loop = add(program, Op::Split);
            write(program, item, is_reversed);
            add(program, Op::Jump, loop);
            split(program, loop, loop + 1, end(program), node.is_lazy);
            return;
        }
        std::vector<uint32_t> exits;
        for (int i = node.low; i < node.high && !isFull(); ++i) {
            exits.push_back(add(program, Op::Split));
            write(program, item, is_reversed);
        }
        for (const uint32_t at : exits) {
            split(program, at, at + 1, end(program), node.is_lazy);
        }
    }

    std::string_view in_;
    size_t at_ = 0;
    int depth_ = 0;
    size_t steps_ = 0;
    Flags flags_;
    LinearPattern pattern_;
};

Result<LinearPattern> LinearPattern::compile(std::string_view pattern) {
    return LinearPatternCompiler(pattern).run();
}

} // namespace engine
