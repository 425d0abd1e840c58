// SPDX-License-Identifier: Apache-2.0
// Walks the tree of jinja_syntax.h.
#include "engine/text/jinja.h"

#include "engine/base/json/text.h"
#include "engine/text/jinja_budget.h"
#include "engine/text/jinja_syntax.h"
#include "engine/text/jinja_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>

namespace engine::jinja {

namespace {

constexpr size_t kMaxOutput = size_t{4} << 20;
/// Expressions, blocks and macros inside of each other, and lists inside of lists that are
/// compared.
constexpr int kMaxEvaluationDepth = 250;
/// Bytes of a list or map beside what it holds, with what remembers that it was made.
constexpr size_t kContainerBytes = 128;
constexpr size_t kTextBytes = 96; ///< The same for a text.
constexpr size_t kItemBytes = sizeof(Value);
constexpr size_t kMemberBytes = sizeof(Value::Members::value_type);

using Kind = Value::Kind;

Error unsupported(const Sentence& what) {
    return Error{ErrorCode::Unsupported, said("the template uses %1", what), {}};
}

bool isNumber(const Value& value) {
    return value.is(Kind::Int) || value.is(Kind::Float) || value.is(Kind::Bool);
}
double numberOf(const Value& value) {
    return value.is(Kind::Float) ? value.number
           : value.is(Kind::Int) ? static_cast<double>(value.integer)
                                 : (value.boolean ? 1.0 : 0.0);
}
int64_t integerOf(const Value& value) {
    return value.is(Kind::Int) ? value.integer : (value.boolean ? 1 : 0);
}

class Evaluator {
public:
    Evaluator() = default;
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;
    /// Lists and maps are emptied one by one: they may hold each other in circles or very deeply.
    ~Evaluator() {
        scopes_.clear();
        for (const auto& items : made_items_) {
            items->clear();
        }
        for (const auto& members : made_members_) {
            members->clear();
        }
    }

    Result<Text> run(const Body& body, const std::map<std::string, Value>& variables) {
        scopes_.push_back(variables);
        ENGINE_TRY(execute(body));
        return std::move(out_);
    }
    [[nodiscard]] const Cost& cost() const { return budget_.cost(); }

private:
    enum class Flow : uint8_t { Normal = 1, Break, Continue };
    using Scope = std::map<std::string, Value>;

    using SharedText = std::shared_ptr<const Text>;
    using SharedItems = std::shared_ptr<const Value::Items>;

    /// One level deeper for as long as it lives.
    struct Level {
        explicit Level(int& depth) : counted(++depth) {}
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        ~Level() { --counted; }
        int& counted;
    };

    Result<void> step() {
        if (depth_ > kMaxEvaluationDepth) {
            return unsupported(said("expressions nested too deeply"));
        }
        return budget_.work();
    }

    Result<void> write(const Text& text) {
        if (text.bytes.size() > kMaxOutput - std::min(out_.bytes.size(), kMaxOutput)) {
            return unsupported(said("too long a text"));
        }
        ENGINE_TRY(budget_.make(text.bytes.size()));
        out_.append(text);
        return {};
    }

    /// `piece` lies in `whole`.
    Result<Value> pieceOf(const Text& whole, std::string_view piece) {
        ENGINE_TRY(budget_.make(kTextBytes + piece.size()));
        return part(whole, static_cast<size_t>(piece.data() - whole.bytes.data()), piece.size());
    }
    static Value part(const Text& whole, size_t from, size_t count) {
        Text text;
        text.append(whole, from, count);
        return Value::of(std::move(text));
    }
    Result<void> chargeItems(size_t count, size_t bytes = kItemBytes) {
        ENGINE_TRY(budget_.make(kContainerBytes));
        return budget_.make(count, bytes);
    }
    Result<const Value*> memberOf(const Value& value, std::string_view name) {
        if (value.is(Kind::Map)) {
            ENGINE_TRY(budget_.work(value.members->size(), kMemberBytes));
        }
        return value.find(name);
    }

    // ---- statements ----

    Result<void> execute(const Body& body) {
        const Level level(depth_);
        for (const Statement& statement : body) {
            ENGINE_TRY(step());
            ENGINE_TRY(one(statement));
            if (flow_ != Flow::Normal) {
                break;
            }
        }
        return {};
    }

    Result<void> one(const Statement& s) {
        switch (s.kind) {
        case Statement::Kind::Text:
            return write(Text::ofTemplate(s.text));
        case Statement::Kind::Output: {
            ENGINE_ASSIGN(const Value value, evaluate(*s.value));
            ENGINE_ASSIGN(const SharedText text, textOf(value));
            return write(*text);
        }
        case Statement::Kind::If:
            for (size_t i = 0; i < s.bodies.size(); ++i) {
                bool is_taken = s.conditions[i] == nullptr;
                if (!is_taken) {
                    ENGINE_ASSIGN(const Value condition, evaluate(*s.conditions[i]));
                    is_taken = condition.isTrue();
                }
                if (is_taken) {
                    return execute(s.bodies[i]);
                }
            }
            return {};
        case Statement::Kind::For:
            return loop(s);
        case Statement::Kind::Set:
            return set(s);
        case Statement::Kind::Macro: {
            Value macro;
            macro.kind = Kind::Macro;
            macro.macro = s.macro.get();
            scopes_.back()[s.macro->name] = macro;
            return {};
        }
        case Statement::Kind::Break:
            flow_ = Flow::Break;
            return {};
        case Statement::Kind::Continue:
            flow_ = Flow::Continue;
            return {};
        }
        return {};
    }

    Result<void> set(const Statement& s) {
        Value value;
        if (s.value != nullptr) {
            ENGINE_ASSIGN(value, evaluate(*s.value));
        } else {
            Text outer = std::exchange(out_, {});
            const Result<void> done = execute(s.bodies.front());
            std::swap(outer, out_);
            ENGINE_TRY(done);
            value = Value::of(std::move(outer));
        }
        const size_t dot = s.text.find('.');
        if (dot == std::string::npos) {
            scopes_.back()[s.text] = std::move(value);
            return {};
        }
        const Value* target = lookUp(s.text.substr(0, dot));
        if (target == nullptr || !target->is(Kind::Map)) {
            return unsupported(said("an assignment to a member of what is no namespace"));
        }
        const std::string member = s.text.substr(dot + 1);
        ENGINE_TRY(budget_.work(target->members->size(), kMemberBytes));
        for (auto& [name, old] : *target->members) {
            if (name == member) {
                old = std::move(value);
                return {};
            }
        }
        ENGINE_TRY(budget_.make(2 * kMemberBytes + member.size()));
        target->members->emplace_back(member, std::move(value));
        return {};
    }

    Result<void> assign(const std::vector<std::string>& names, const Value& item) {
        if (names.size() == 1) {
            scopes_.back()[names.front()] = item;
            return {};
        }
        if (!item.is(Kind::List) || item.items->size() != names.size()) {
            return unsupported(said("a loop over pairs that are none"));
        }
        ENGINE_TRY(budget_.work(names.size(), kItemBytes));
        for (size_t i = 0; i < names.size(); ++i) {
            scopes_.back()[names[i]] = (*item.items)[i];
        }
        return {};
    }

    /// What a loop over `value` runs over; a list as it is, since no template can change one.
    Result<SharedItems> itemsOf(const Value& value) {
        Value::Items items;
        switch (value.kind) {
        case Kind::Undefined:
            break;
        case Kind::List:
            return SharedItems(value.items);
        case Kind::Map:
            ENGINE_TRY(chargeItems(value.members->size(), kItemBytes + kTextBytes));
            items.reserve(value.members->size());
            for (const auto& [name, unused] : *value.members) {
                ENGINE_TRY(budget_.make(name.size()));
                items.push_back(Value::of(name));
            }
            break;
        case Kind::Text:
            ENGINE_TRY(checkAscii(value));
            ENGINE_TRY(chargeItems(value.text().size(), kItemBytes + kTextBytes));
            items.reserve(value.text().size());
            while (items.size() < value.text().size()) {
                items.push_back(part(*value.shared_text, items.size(), 1));
            }
            break;
        default:
            return unsupported(said("a loop over what is no list"));
        }
        return SharedItems(std::make_shared<const Value::Items>(std::move(items)));
    }

    /// Before single characters of a text are looked at: they are bytes here.
    Result<void> checkAscii(const Value& text) {
        ENGINE_TRY(budget_.work(text.text().size()));
        return isAscii(text.text())
                   ? Result<void>()
                   : unsupported(said("single characters of a text that is not ASCII"));
    }

    Result<void> loop(const Statement& s) {
        ENGINE_ASSIGN(const Value over, evaluate(*s.value));
        ENGINE_ASSIGN(SharedItems items, itemsOf(over));
        scopes_.emplace_back();
        Result<void> done = passes(s, std::move(items));
        scopes_.pop_back();
        return done;
    }

    Result<void> passes(const Statement& s, SharedItems items) {
        if (s.filter != nullptr) {
            Value::Items kept;
            for (const Value& item : *items) {
                ENGINE_TRY(assign(s.names, item));
                ENGINE_ASSIGN(const Value condition, evaluate(*s.filter));
                if (condition.isTrue()) {
                    ENGINE_TRY(budget_.make(2 * kItemBytes));
                    kept.push_back(item);
                }
            }
            items = std::make_shared<const Value::Items>(std::move(kept));
        }
        if (items->empty() && s.bodies.size() > 1) {
            return execute(s.bodies[1]);
        }
        scopes_.back().clear();
        for (size_t at = 0; at < items->size(); ++at) {
            ENGINE_TRY(step()); // also of an empty body
            constexpr size_t kStateBytes = kContainerBytes + 9 * kMemberBytes;
            ENGINE_TRY(budget_.make(kStateBytes));
            const Value state = Value::map(loopMembers(*items, at));
            const size_t kept_at = made_members_.size();
            keep(state);
            scopes_.back()["loop"] = state;
            ENGINE_TRY(assign(s.names, (*items)[at]));
            ENGINE_TRY(execute(s.bodies.front()));
            scopes_.back().clear();
            if (forget(state, kept_at)) {
                budget_.giveBack(kStateBytes);
            }
            const Flow flow = std::exchange(flow_, Flow::Normal);
            if (flow == Flow::Break) {
                break;
            }
        }
        return {};
    }

    /// The variable "loop" of the pass over items[at].
    static Value::Members loopMembers(const Value::Items& items, size_t at) {
        const auto i = static_cast<int64_t>(at);
        const auto count = static_cast<int64_t>(items.size());
        Value::Members loop;
        loop.reserve(9);
        loop.emplace_back("index", Value::of(i + 1));
        loop.emplace_back("index0", Value::of(i));
        loop.emplace_back("revindex", Value::of(count - i));
        loop.emplace_back("revindex0", Value::of(count - i - 1));
        loop.emplace_back("first", Value::of(i == 0));
        loop.emplace_back("last", Value::of(i + 1 == count));
        loop.emplace_back("length", Value::of(count));
        if (i > 0) {
            loop.emplace_back("previtem", items[at - 1]);
        }
        if (i + 1 < count) {
            loop.emplace_back("nextitem", items[at + 1]);
        }
        return loop;
    }

    // ---- expressions ----

    [[nodiscard]] const Value* lookUp(const std::string& name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            const auto it = scope->find(name);
            if (it != scope->end()) {
                return &it->second;
            }
        }
        return nullptr;
    }

    Result<SharedText> textOf(const Value& value) {
        const auto text = [](std::string made) {
            return SharedText(std::make_shared<const Text>(Text{std::move(made), {}}));
        };
        switch (value.kind) {
        case Kind::Undefined:
            return text({});
        case Kind::None:
            return text("None");
        case Kind::Bool:
            return text(value.boolean ? "True" : "False");
        case Kind::Int:
            return text(std::to_string(value.integer));
        case Kind::Float:
            return text(fractionText(value.number));
        case Kind::Text:
            return value.shared_text;
        default:
            return unsupported(said("a list or a map as text"));
        }
    }

    Result<Value> evaluate(const Expression& e) {
        const Level level(depth_);
        ENGINE_TRY(step());
        Result<Value> value = inner(e);
        if (value) {
            keep(*value);
        }
        return value;
    }

    /// What has just been made is held by nobody else.
    void keep(const Value& value) {
        if (value.items != nullptr && value.items.use_count() == 1) {
            made_items_.push_back(value.items);
        }
        if (value.members != nullptr && value.members.use_count() == 1) {
            made_members_.push_back(value.members);
        }
    }

    /// What keep() put at `at` and nobody but `value` holds any more goes with it: the variables of
    /// many passes are hundreds of megabytes. Returns whether it goes.
    bool forget(const Value& value, size_t at) {
        const bool goes = at < made_members_.size() && made_members_[at] == value.members &&
                          value.members.use_count() == 2;
        if (goes) {
            std::swap(made_members_[at], made_members_.back());
            made_members_.pop_back();
        }
        return goes;
    }

    Result<Value> inner(const Expression& e) {
        switch (e.kind) {
        case Expression::Kind::Constant:
            return e.constant;
        case Expression::Kind::Name: {
            const Value* value = lookUp(e.text);
            return value == nullptr ? Value() : *value;
        }
        case Expression::Kind::List: {
            ENGINE_TRY(chargeItems(e.parts.size()));
            Value::Items items;
            items.reserve(e.parts.size());
            for (const ExpressionPtr& part : e.parts) {
                ENGINE_ASSIGN(Value item, evaluate(*part));
                items.push_back(std::move(item));
            }
            return Value::list(std::move(items));
        }
        case Expression::Kind::Dict: {
            ENGINE_TRY(chargeItems(e.parts.size() / 2, kMemberBytes));
            Value::Members members;
            members.reserve(e.parts.size() / 2);
            for (size_t i = 0; i + 1 < e.parts.size(); i += 2) {
                ENGINE_ASSIGN(const Value key, evaluate(*e.parts[i]));
                ENGINE_ASSIGN(Value value, evaluate(*e.parts[i + 1]));
                ENGINE_ASSIGN(const SharedText name, textOf(key));
                ENGINE_TRY(budget_.make(name->bytes.size()));
                members.emplace_back(name->bytes, std::move(value));
            }
            return Value::map(std::move(members));
        }
        case Expression::Kind::Member: {
            ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
            ENGINE_ASSIGN(const Value* const member, memberOf(value, e.text));
            return member == nullptr ? Value() : *member;
        }
        case Expression::Kind::Index:
            return index(e);
        case Expression::Kind::Slice:
            return slice(e);
        case Expression::Kind::Call:
            return call(e);
        case Expression::Kind::Filter:
            return filter(e);
        case Expression::Kind::Test:
            return test(e);
        case Expression::Kind::Unary: {
            ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
            if (e.text == "not") {
                return Value::of(!value.isTrue());
            }
            if (!value.is(Kind::Int)) {
                return unsupported(said("a sign before what is no whole number"));
            }
            if (e.text == "-" && value.integer == std::numeric_limits<int64_t>::min()) {
                return unsupported(said("arithmetic on fractions or very large numbers"));
            }
            return Value::of(e.text == "-" ? -value.integer : value.integer);
        }
        case Expression::Kind::Binary:
            return binary(e);
        case Expression::Kind::Condition: {
            ENGINE_ASSIGN(const Value condition, evaluate(*e.parts[0]));
            if (condition.isTrue()) {
                return evaluate(*e.parts[1]);
            }
            return e.parts[2] == nullptr ? Result<Value>(Value()) : evaluate(*e.parts[2]);
        }
        }
        return Value();
    }

    Result<Value> index(const Expression& e) {
        ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
        ENGINE_ASSIGN(const Value key, evaluate(*e.parts[1]));
        if (key.is(Kind::Text)) {
            ENGINE_ASSIGN(const Value* const member, memberOf(value, key.text()));
            return member == nullptr ? Value() : *member;
        }
        if (!key.is(Kind::Int) || !(value.is(Kind::Text) || value.is(Kind::List))) {
            return Value();
        }
        ENGINE_ASSIGN(const size_t size, sizeOf(value));
        const auto count = static_cast<int64_t>(size);
        const int64_t at = key.integer < 0 ? key.integer + count : key.integer;
        if (at < 0 || at >= count) {
            return Value();
        }
        const auto place = static_cast<size_t>(at);
        return value.is(Kind::List) ? (*value.items)[place] : part(*value.shared_text, place, 1);
    }

    /// Places in a list or a text of ASCII; 0 of what is undefined.
    Result<size_t> sizeOf(const Value& value) {
        if (value.is(Kind::Text)) {
            ENGINE_TRY(checkAscii(value));
            return value.text().size();
        }
        if (!value.is(Kind::List) && !value.is(Kind::Undefined)) {
            return unsupported(said("a loop over what is no list"));
        }
        return value.is(Kind::List) ? value.items->size() : 0;
    }

    Result<Value> slice(const Expression& e) {
        ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
        ENGINE_ASSIGN(const size_t size, sizeOf(value));
        const auto count = static_cast<int64_t>(size);
        std::array<Value, 3> bounds;
        for (size_t i = 0; i < 3; ++i) {
            if (e.parts[i + 1] != nullptr) {
                ENGINE_ASSIGN(bounds[i], evaluate(*e.parts[i + 1]));
            }
        }
        const int64_t stride = bounds[2].is(Kind::Int) ? bounds[2].integer : 1;
        if (stride == 0) {
            return unsupported(said("a slice with step 0"));
        }
        const auto bound = [&](const Value& given, int64_t otherwise) {
            if (!given.is(Kind::Int)) {
                return otherwise;
            }
            const int64_t at = given.integer < 0 ? given.integer + count : given.integer;
            return stride > 0 ? std::clamp<int64_t>(at, 0, count)
                              : std::clamp<int64_t>(at, -1, count - 1);
        };
        const int64_t first = bound(bounds[0], stride > 0 ? 0 : count - 1);
        const int64_t last = bound(bounds[1], stride > 0 ? count : -1);
        // Between -1 and `size`, so that their distance is no overflow; the step may be anything.
        const auto distance =
            static_cast<uint64_t>(std::max<int64_t>(stride > 0 ? last - first : first - last, 0));
        const uint64_t width = stride > 0 ? static_cast<uint64_t>(stride)
                                          : uint64_t{0} - static_cast<uint64_t>(stride);
        const uint64_t taken = distance / width + (distance % width != 0 ? 1 : 0);
        const auto place = [&](uint64_t i) {
            const uint64_t way = i * width; // less than `distance`
            return static_cast<size_t>(stride > 0 ? static_cast<uint64_t>(first) + way
                                                  : static_cast<uint64_t>(first) - way);
        };
        if (value.is(Kind::Text)) {
            ENGINE_TRY(budget_.make(kTextBytes + taken));
            Text text;
            text.bytes.reserve(taken);
            for (uint64_t i = 0; i < taken; ++i) {
                text.append(*value.shared_text, place(i), 1);
            }
            return Value::of(std::move(text));
        }
        ENGINE_TRY(chargeItems(taken));
        Value::Items kept;
        kept.reserve(taken);
        for (uint64_t i = 0; i < taken; ++i) {
            kept.push_back((*value.items)[place(i)]);
        }
        return Value::list(std::move(kept));
    }

    Result<Value> binary(const Expression& e) {
        ENGINE_ASSIGN(const Value a, evaluate(*e.parts[0]));
        const std::string& op = e.text;
        if (op == "and" || op == "or") {
            return a.isTrue() == (op == "or") ? Result<Value>(a) : evaluate(*e.parts[1]);
        }
        ENGINE_ASSIGN(const Value b, evaluate(*e.parts[1]));
        if (op == "==" || op == "!=") {
            ENGINE_ASSIGN(const bool is_equal, areEqual(a, b));
            return Value::of(is_equal == (op == "=="));
        }
        if (op == "in" || op == "not in") {
            ENGINE_ASSIGN(const bool is_in, contains(b, a));
            return Value::of(is_in == (op == "in"));
        }
        if (op == "~" || (op == "+" && a.is(Kind::Text) && b.is(Kind::Text))) {
            ENGINE_ASSIGN(const SharedText left, textOf(a));
            ENGINE_ASSIGN(const SharedText right, textOf(b));
            const size_t size = left->bytes.size();
            if (size > kMaxOutput || right->bytes.size() > kMaxOutput - size) {
                return unsupported(said("too long a text"));
            }
            ENGINE_TRY(budget_.make(kTextBytes + size + right->bytes.size()));
            Text both = *left;
            both.append(*right);
            return Value::of(std::move(both));
        }
        if (op == "+" && a.is(Kind::List) && b.is(Kind::List)) {
            ENGINE_TRY(chargeItems(a.items->size() + b.items->size()));
            Value::Items items;
            items.reserve(a.items->size() + b.items->size());
            items.insert(items.end(), a.items->begin(), a.items->end());
            items.insert(items.end(), b.items->begin(), b.items->end());
            return Value::list(std::move(items));
        }
        if (a.is(Kind::Text) && b.is(Kind::Text) && (op == "<" || op == ">")) {
            ENGINE_TRY(budget_.work(std::min(a.text().size(), b.text().size())));
            return Value::of(op == "<" ? a.text() < b.text() : a.text() > b.text());
        }
        if (!isNumber(a) || !isNumber(b)) {
            return unsupported(said("\"%1\" between values that have no such operation", op));
        }
        return arithmetic(op, a, b);
    }

    static Result<Value> arithmetic(const std::string& op, const Value& a, const Value& b) {
        const double x = numberOf(a);
        const double y = numberOf(b);
        if (op == "<" || op == ">") {
            return Value::of(op == "<" ? x < y : x > y);
        }
        if (op == "<=" || op == ">=") {
            return Value::of(op == "<=" ? x <= y : x >= y);
        }
        const bool are_whole = !a.is(Kind::Float) && !b.is(Kind::Float);
        const int64_t i = integerOf(a);
        const int64_t j = integerOf(b);
        constexpr int64_t kLargest = int64_t{1} << 30;
        if (!are_whole || i > kLargest || i < -kLargest || j > kLargest || j < -kLargest) {
            return unsupported(said("arithmetic on fractions or very large numbers"));
        }
        if (op == "+" || op == "-" || op == "*") {
            return Value::of(op == "+" ? i + j : op == "-" ? i - j : i * j);
        }
        if (j == 0 || op == "/") {
            return unsupported(said("a division that is not whole"));
        }
        const int64_t floor = i / j - (i % j != 0 && (i < 0) != (j < 0) ? 1 : 0);
        return Value::of(op == "//" ? floor : i - floor * j);
    }

    Result<bool> contains(const Value& in, const Value& what) {
        if (in.is(Kind::Text) && what.is(Kind::Text)) {
            ENGINE_TRY(budget_.make(Needle::bytesOf(what.text())));
            ENGINE_TRY(budget_.work(in.text().size()));
            return Needle(what.text()).find(in.text(), 0) != std::string::npos;
        }
        if (in.is(Kind::Map)) {
            if (!what.is(Kind::Text)) {
                return false;
            }
            ENGINE_ASSIGN(const Value* const member, memberOf(in, what.text()));
            return member != nullptr;
        }
        if (in.is(Kind::List)) {
            for (const Value& item : *in.items) {
                ENGINE_ASSIGN(const bool is_it, areEqual(item, what));
                if (is_it) {
                    return true;
                }
            }
            return false;
        }
        return unsupported(said("\"in\" on what holds nothing"));
    }

    /// Lists and maps may hold each other in circles, very deeply and many times.
    Result<bool> areEqual(const Value& a, const Value& b) {
        const Level level(depth_);
        ENGINE_TRY(step());
        if (isNumber(a) && isNumber(b)) {
            return numberOf(a) == numberOf(b);
        }
        if (a.kind != b.kind) {
            return false;
        }
        if (a.is(Kind::Text)) {
            if (a.shared_text == b.shared_text || a.text().size() != b.text().size()) {
                return a.shared_text == b.shared_text;
            }
            ENGINE_TRY(budget_.work(a.text().size()));
            return a.text() == b.text();
        }
        if (a.is(Kind::List)) {
            if (a.items == b.items || a.items->size() != b.items->size()) {
                return a.items == b.items;
            }
            for (size_t i = 0; i < a.items->size(); ++i) {
                ENGINE_ASSIGN(const bool is_same, areEqual((*a.items)[i], (*b.items)[i]));
                if (!is_same) {
                    return false;
                }
            }
            return true;
        }
        if (a.is(Kind::Map) && a.members != b.members) {
            if (a.members->size() != b.members->size()) {
                return false;
            }
            for (const auto& [name, value] : *a.members) {
                ENGINE_ASSIGN(const Value* const other, memberOf(b, name));
                if (other == nullptr) {
                    return false;
                }
                ENGINE_ASSIGN(const bool is_same, areEqual(value, *other));
                if (!is_same) {
                    return false;
                }
            }
        }
        return true;
    }

    struct Arguments {
        Value::Items values;
        std::span<const std::string> names; ///< "" or the keyword of each.
        [[nodiscard]] const Value* at(size_t index, std::string_view name = {}) const {
            for (size_t i = 0; i < values.size(); ++i) {
                const bool is_it = names[i].empty() ? i == index : names[i] == name;
                if (is_it) {
                    return &values[i];
                }
            }
            return nullptr;
        }
    };

    /// Arguments of a call, filter or test: all parts but the first.
    Result<Arguments> argumentsOf(const Expression& e) {
        ENGINE_TRY(budget_.work(e.names.size(), kItemBytes));
        Arguments out;
        out.values.reserve(e.names.size());
        for (size_t i = 1; i < e.parts.size(); ++i) {
            ENGINE_ASSIGN(Value value, evaluate(*e.parts[i]));
            out.values.push_back(std::move(value));
        }
        out.names = e.names;
        return out;
    }

    Result<Value> call(const Expression& e) {
        const Expression& target = *e.parts[0];
        ENGINE_ASSIGN(const Arguments arguments, argumentsOf(e));
        if (target.kind == Expression::Kind::Member) {
            ENGINE_ASSIGN(const Value object, evaluate(*target.parts[0]));
            return method(object, target.text, arguments);
        }
        if (target.kind == Expression::Kind::Name) {
            const Value* known = lookUp(target.text);
            if (known != nullptr && known->is(Kind::Macro)) {
                return callMacro(*known->macro, arguments);
            }
            if (target.text == "namespace" || target.text == "dict") {
                ENGINE_TRY(chargeItems(arguments.values.size(), kMemberBytes));
                Value::Members members;
                members.reserve(arguments.values.size());
                for (size_t i = 0; i < arguments.values.size(); ++i) {
                    ENGINE_TRY(budget_.make(arguments.names[i].size()));
                    members.emplace_back(arguments.names[i], arguments.values[i]);
                }
                return Value::map(std::move(members));
            }
            if (target.text == "range") {
                return range(arguments);
            }
            if (target.text == "raise_exception") {
                const Value* why = arguments.at(0);
                return Error{ErrorCode::Unsupported,
                             said("the template refuses this conversation: %1",
                                  why == nullptr ? std::string() : why->text().substr(0, 200)),
                             {}};
            }
        }
        return unsupported(said("the function \"%1\"", target.text));
    }

    Result<Value> range(const Arguments& arguments) {
        const Value* a = arguments.at(0);
        const Value* b = arguments.at(1);
        if (a == nullptr || !a->is(Kind::Int) || (b != nullptr && !b->is(Kind::Int)) ||
            arguments.values.size() > 2) {
            return unsupported(said("range() of this form"));
        }
        const int64_t first = b == nullptr ? 0 : a->integer;
        const int64_t last = b == nullptr ? a->integer : b->integer;
        // As unsigned numbers, whose difference is the right one however far they are apart.
        const uint64_t count =
            last > first ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first) : 0;
        if (count > 100'000) {
            return unsupported(said("too long a range"));
        }
        ENGINE_TRY(chargeItems(count));
        Value::Items items;
        items.reserve(count);
        for (int64_t i = first; i < last; ++i) {
            items.push_back(Value::of(i));
        }
        return Value::list(std::move(items));
    }

    Result<Value> callMacro(const Macro& macro, const Arguments& arguments) {
        ENGINE_TRY(budget_.work(macro.parameters.size(), 1 + arguments.values.size()));
        // A macro sees the template's variables, not those of the place it is called from.
        std::vector<Scope> outer(std::make_move_iterator(scopes_.begin() + 1),
                                 std::make_move_iterator(scopes_.end()));
        scopes_.resize(1);
        scopes_.emplace_back();
        Text text = std::exchange(out_, {});
        const Result<void> done = macroBody(macro, arguments);
        std::swap(text, out_);
        scopes_.resize(1);
        scopes_.insert(scopes_.end(), std::make_move_iterator(outer.begin()),
                       std::make_move_iterator(outer.end()));
        ENGINE_TRY(done);
        return Value::of(std::move(text));
    }

    Result<void> macroBody(const Macro& macro, const Arguments& arguments) {
        for (size_t i = 0; i < macro.parameters.size(); ++i) {
            const Value* given = arguments.at(i, macro.parameters[i]);
            Value value;
            if (given != nullptr) {
                value = *given;
            } else if (macro.defaults[i] != nullptr) {
                ENGINE_ASSIGN(value, evaluate(*macro.defaults[i]));
            }
            scopes_.back()[macro.parameters[i]] = std::move(value);
        }
        return execute(macro.body);
    }

    Result<Value> method(const Value& object, const std::string& name, const Arguments& arguments) {
        if (object.is(Kind::Map)) {
            const Value* first = arguments.at(0);
            if (name == "get" && first != nullptr && first->is(Kind::Text)) {
                const Value* second = arguments.at(1);
                ENGINE_ASSIGN(const Value* const member, memberOf(object, first->text()));
                return member != nullptr ? *member : second != nullptr ? *second : Value::none();
            }
            if (name == "items" || name == "keys" || name == "values") {
                return members(*object.members, name);
            }
        }
        if (object.is(Kind::Text)) {
            return textMethod(object, name, arguments);
        }
        return unsupported(said("the method \"%1\"", name));
    }

    /// The "items", "keys" or "values" of a map.
    Result<Value> members(const Value::Members& all, const std::string& which) {
        const size_t inner = which == "items"  ? kContainerBytes + 2 * kItemBytes + kTextBytes
                             : which == "keys" ? kTextBytes
                                               : 0;
        ENGINE_TRY(chargeItems(all.size(), kItemBytes + inner));
        Value::Items items;
        items.reserve(all.size());
        for (const auto& [key, value] : all) {
            if (which != "values") {
                ENGINE_TRY(budget_.make(key.size()));
            }
            items.push_back(which == "keys"     ? Value::of(key)
                            : which == "values" ? value
                                                : Value::list({Value::of(key), value}));
        }
        return Value::list(std::move(items));
    }

    Result<Value>
    textMethod(const Value& object, const std::string& name, const Arguments& arguments) {
        const std::string& text = object.text();
        const Value* first = arguments.at(0);
        const Value* second = arguments.at(1);
        const bool has_text = first != nullptr && first->is(Kind::Text);
        ENGINE_TRY(budget_.work(text.size()));
        if (name == "strip" || name == "lstrip" || name == "rstrip") {
            const bool left = name != "rstrip";
            const bool right = name != "lstrip";
            if (!has_text) {
                return pieceOf(*object.shared_text, stripped(text, left, right));
            }
            ENGINE_TRY(budget_.work(first->text().size()));
            if (!isAscii(first->text())) { // byte by byte it would cut characters
                return unsupported(said("the method \"%1\"", name));
            }
            return pieceOf(*object.shared_text, trimmed(text, first->text(), left, right));
        }
        if ((name == "startswith" || name == "endswith") && has_text) {
            return Value::of(name == "startswith" ? text.starts_with(first->text())
                                                  : text.ends_with(first->text()));
        }
        if (name == "upper" || name == "lower") {
            ENGINE_TRY(budget_.make(kTextBytes + text.size()));
            return Value::of(Text{mapped(text, name == "upper"), object.shared_text->own});
        }
        if (name == "replace" && has_text && second != nullptr) {
            return replace(object, first->text(), *second);
        }
        if (name == "split" && has_text && !first->text().empty() && second == nullptr) {
            return split(*object.shared_text, first->text());
        }
        return unsupported(said("the method \"%1\"", name));
    }

    Result<Value> replace(const Value& text, const std::string& what, const Value& replacement) {
        if (what.empty()) {
            return text;
        }
        ENGINE_TRY(budget_.make(Needle::bytesOf(what)));
        ENGINE_TRY(budget_.work(2, text.text().size()));
        const Needle needle(what);
        const size_t found = needle.count(text.text());
        static const Text kEmpty;
        const Text& with = replacement.shared_text == nullptr ? kEmpty : *replacement.shared_text;
        ENGINE_TRY(budget_.make(found, with.bytes.size()));
        const size_t rest = text.text().size() - found * what.size();
        ENGINE_TRY(budget_.make(kTextBytes + rest));
        return Value::of(
            replaced(*text.shared_text, needle, with, rest + found * with.bytes.size()));
    }

    Result<Value> split(const Text& whole, const std::string& what) {
        const std::string_view text = whole.bytes;
        ENGINE_TRY(budget_.make(Needle::bytesOf(what)));
        ENGINE_TRY(budget_.work(2, text.size()));
        const Needle needle(what);
        const size_t count = needle.count(text) + 1;
        ENGINE_TRY(chargeItems(count, kItemBytes + kTextBytes));
        ENGINE_TRY(budget_.make(text.size()));
        Value::Items items;
        items.reserve(count);
        size_t at = 0;
        for (size_t next = needle.find(text, 0); next != std::string_view::npos;
             next = needle.find(text, at)) {
            items.push_back(part(whole, at, next - at));
            at = next + what.size();
        }
        items.push_back(part(whole, at, std::string::npos));
        return Value::list(std::move(items));
    }

    Result<Value> filter(const Expression& e) {
        ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
        ENGINE_ASSIGN(const Arguments arguments, argumentsOf(e));
        const std::string& name = e.text;
        const Value* first = arguments.at(0);
        if (name == "default" || name == "d") {
            const Value* all = arguments.at(1, "boolean");
            const bool is_missing =
                value.is(Kind::Undefined) || (all != nullptr && all->isTrue() && !value.isTrue());
            return is_missing ? (first == nullptr ? Value::of(std::string()) : *first) : value;
        }
        if (name == "length" || name == "count") {
            return length(value);
        }
        if (name == "list") {
            ENGINE_ASSIGN(const SharedItems items, itemsOf(value));
            ENGINE_TRY(chargeItems(items->size()));
            return Value::list(*items);
        }
        if (name == "first" || name == "last") {
            ENGINE_ASSIGN(const SharedItems items, itemsOf(value));
            return items->empty() ? Value() : name == "first" ? items->front() : items->back();
        }
        if (name == "join") {
            ENGINE_ASSIGN(const SharedItems items, itemsOf(value));
            static const Text kEmpty;
            return join(*items, first == nullptr || first->shared_text == nullptr
                                    ? kEmpty
                                    : *first->shared_text);
        }
        if (name == "dictsort" && value.is(Kind::Map)) {
            return dictsort(*value.members);
        }
        ENGINE_ASSIGN(const SharedText text, textOf(value));
        ENGINE_TRY(budget_.work(text->bytes.size()));
        if (name == "trim") {
            return pieceOf(*text, stripped(text->bytes));
        }
        if (name == "upper" || name == "lower") {
            ENGINE_TRY(budget_.make(kTextBytes + text->bytes.size()));
            return Value::of(Text{mapped(text->bytes, name == "upper"), text->own});
        }
        if (name == "string" || name == "safe") {
            return value.is(Kind::Text) ? Result<Value>(value) : pieceOf(*text, text->bytes);
        }
        const Value* second = arguments.at(1);
        if (name == "replace" && first != nullptr && second != nullptr) {
            return replace(value.is(Kind::Text) ? value : Value::of(*text), first->text(), *second);
        }
        return unsupported(said("the filter \"%1\"", name));
    }

    Result<Value> join(const Value::Items& items, const Text& between) {
        const size_t gaps = items.empty() ? 0 : items.size() - 1;
        ENGINE_TRY(budget_.make(gaps, between.bytes.size()));
        size_t size = gaps * between.bytes.size();
        for (const Value& item : items) {
            ENGINE_ASSIGN(const SharedText part, textOf(item));
            ENGINE_TRY(budget_.make(part->bytes.size()));
            size += part->bytes.size();
        }
        Text text;
        text.bytes.reserve(size);
        for (size_t i = 0; i < items.size(); ++i) {
            ENGINE_ASSIGN(const SharedText part, textOf(items[i]));
            if (i > 0) {
                text.append(between);
            }
            text.append(*part);
        }
        return Value::of(std::move(text));
    }

    Result<Value> dictsort(const Value::Members& all) {
        size_t bytes = 0;
        for (const auto& [name, unused] : all) {
            bytes += name.size();
        }
        constexpr size_t kEntry =
            kMemberBytes + sizeof(std::pair<std::string, size_t>) + kTextBytes;
        ENGINE_TRY(chargeItems(all.size(), kEntry));
        ENGINE_TRY(budget_.make(2, bytes));
        // A level of the sort compares each name once at most.
        ENGINE_TRY(budget_.work(bytes + all.size() * kTextBytes,
                                static_cast<size_t>(std::bit_width(all.size()))));
        std::vector<std::pair<std::string, size_t>> order;
        order.reserve(all.size());
        for (const auto& [name, unused] : all) {
            order.emplace_back(mapped(name, false), order.size());
        }
        std::sort(order.begin(), order.end());
        Value::Members sorted;
        sorted.reserve(all.size());
        for (const auto& [unused, place] : order) {
            sorted.push_back(all[place]);
        }
        return members(sorted, "items");
    }

    Result<Value> length(const Value& value) {
        switch (value.kind) {
        case Kind::Undefined:
            return Value::of(int64_t{0});
        case Kind::Text:
            ENGINE_TRY(budget_.work(value.text().size()));
            return Value::of(static_cast<int64_t>(
                std::count_if(value.text().begin(), value.text().end(), [](char c) {
                    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
                })));
        case Kind::List:
            return Value::of(static_cast<int64_t>(value.items->size()));
        case Kind::Map:
            return Value::of(static_cast<int64_t>(value.members->size()));
        default:
            return unsupported(said("the length of a number"));
        }
    }

    Result<Value> test(const Expression& e) {
        ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
        ENGINE_ASSIGN(const Arguments arguments, argumentsOf(e));
        const std::string& name = e.text;
        const Value* first = arguments.at(0);
        const auto is = [&](bool holds) { return Value::of(holds != e.is_negated); };
        if (name == "defined" || name == "undefined") {
            return is(value.is(Kind::Undefined) == (name == "undefined"));
        }
        if (name == "none" || name == "string" || name == "boolean") {
            return is(value.is(name == "none"     ? Kind::None
                               : name == "string" ? Kind::Text
                                                  : Kind::Bool));
        }
        if (name == "mapping") {
            return is(value.is(Kind::Map));
        }
        if (name == "iterable" || name == "sequence") {
            return is(value.is(Kind::List) || value.is(Kind::Map) || value.is(Kind::Text));
        }
        if (name == "number" || name == "integer") {
            return is(isNumber(value) && !(name == "integer" && value.is(Kind::Float)));
        }
        if (name == "true" || name == "false") {
            return is(value.is(Kind::Bool) && value.boolean == (name == "true"));
        }
        if ((name == "odd" || name == "even") && value.is(Kind::Int)) {
            return is((value.integer % 2 != 0) == (name == "odd"));
        }
        if ((name == "equalto" || name == "eq" || name == "ne") && first != nullptr) {
            ENGINE_ASSIGN(const bool is_equal, areEqual(value, *first));
            return is(is_equal == (name != "ne"));
        }
        if (name == "in" && first != nullptr) {
            ENGINE_ASSIGN(const bool is_in, contains(*first, value));
            return is(is_in);
        }
        return unsupported(said("the test \"%1\"", name));
    }

    std::vector<Scope> scopes_;
    std::vector<std::shared_ptr<Value::Items>> made_items_;
    std::vector<std::shared_ptr<Value::Members>> made_members_;
    Text out_;
    Flow flow_ = Flow::Normal;
    Budget budget_;
    int depth_ = 0;
};

} // namespace

Value Value::none() {
    Value out;
    out.kind = Kind::None;
    return out;
}
Value Value::of(bool value) {
    Value out;
    out.kind = Kind::Bool;
    out.boolean = value;
    return out;
}
Value Value::of(int64_t value) {
    Value out;
    out.kind = Kind::Int;
    out.integer = value;
    return out;
}
Value Value::of(double value) {
    Value out;
    out.kind = Kind::Float;
    out.number = value;
    return out;
}
Value Value::of(std::string value) {
    return of(Text{std::move(value), {}});
}
Value Value::of(Text value) {
    Value out;
    out.kind = Kind::Text;
    out.shared_text = std::make_shared<const Text>(std::move(value));
    return out;
}
Value Value::list(Items items) {
    Value out;
    out.kind = Kind::List;
    out.items = std::make_shared<Items>(std::move(items));
    return out;
}
Value Value::map(Members members) {
    Value out;
    out.kind = Kind::Map;
    out.members = std::make_shared<Members>(std::move(members));
    return out;
}

bool Value::isTrue() const {
    switch (kind) {
    case Kind::Bool:
        return boolean;
    case Kind::Int:
        return integer != 0;
    case Kind::Float:
        return number != 0.0;
    case Kind::Text:
        return !text().empty();
    case Kind::List:
        return !items->empty();
    case Kind::Map:
        return !members->empty();
    case Kind::Macro:
        return true;
    default:
        return false;
    }
}

const std::string& Value::text() const {
    static const std::string kNone;
    return shared_text == nullptr ? kNone : shared_text->bytes;
}

const Value* Value::find(std::string_view name) const {
    if (!is(Kind::Map)) {
        return nullptr;
    }
    const auto it = std::find_if(members->begin(), members->end(),
                                 [&](const auto& member) { return member.first == name; });
    return it == members->end() ? nullptr : &it->second;
}

Text Text::ofTemplate(std::string bytes) {
    const size_t size = bytes.size();
    return {std::move(bytes), std::string(size, '\1')};
}

void Text::append(const Text& other, size_t from, size_t count) {
    const size_t size = bytes.size();
    bytes.append(other.bytes, from, count);
    if (from < other.own.size()) {
        own.resize(size);
        own.append(other.own, from, count);
    }
}

Result<Text>
render(std::string_view source, const std::map<std::string, Value>& variables, Cost* cost) {
    ENGINE_ASSIGN(const Body body, parse(source));
    Evaluator evaluator;
    Result<Text> written = evaluator.run(body, variables);
    if (cost != nullptr) {
        *cost = evaluator.cost();
    }
    return written;
}

} // namespace engine::jinja
