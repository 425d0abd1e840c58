// SPDX-License-Identifier: Apache-2.0
// Walks the tree of jinja_syntax.h.
#include "engine/text/jinja.h"

#include "engine/base/json/text.h"
#include "engine/text/jinja_syntax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace engine::jinja {

namespace {

constexpr int64_t kMaxSteps = 200'000;
constexpr size_t kMaxOutput = size_t{4} << 20;
constexpr int kMaxDepth = 60;

using Kind = Value::Kind;

Error unsupported(const Sentence& what) {
    return Error{ErrorCode::Unsupported, said("the template uses %1", what), {}};
}

std::string_view trimmed(std::string_view text, std::string_view blanks, bool left, bool right) {
    const size_t first = left ? text.find_first_not_of(blanks) : 0;
    if (first == std::string_view::npos) {
        return {};
    }
    text.remove_prefix(first);
    return right ? text.substr(0, text.find_last_not_of(blanks) + 1) : text;
}

std::string mapped(std::string text, bool to_upper) {
    for (char& c : text) {
        if (to_upper ? (c >= 'a' && c <= 'z') : (c >= 'A' && c <= 'Z')) {
            c = static_cast<char>(c ^ 0x20);
        }
    }
    return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    if (what.empty()) {
        return text;
    }
    for (size_t at = text.find(what); at != std::string::npos && text.size() < kMaxOutput;
         at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
    return text;
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

/// `left`: comparisons that may still be made; lists that hold themselves several times grow fast.
bool areEqual(const Value& a, const Value& b, int& left) {
    if (isNumber(a) && isNumber(b)) {
        return numberOf(a) == numberOf(b);
    }
    if (a.kind != b.kind || --left < 0) {
        return false;
    }
    switch (a.kind) {
    case Kind::Text:
        return a.text == b.text;
    case Kind::List:
        return std::equal(a.items->begin(), a.items->end(), b.items->begin(), b.items->end(),
                          [&](const Value& x, const Value& y) { return areEqual(x, y, left); });
    case Kind::Map:
        return a.members == b.members ||
               (a.members->size() == b.members->size() &&
                std::all_of(a.members->begin(), a.members->end(), [&](const auto& member) {
                    const Value* other = b.find(member.first);
                    return other != nullptr && areEqual(member.second, *other, left);
                }));
    default:
        return true;
    }
}

bool areEqual(const Value& a, const Value& b) {
    int left = 10'000;
    return areEqual(a, b, left);
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

    Result<std::string> run(const Body& body, const std::map<std::string, Value>& variables) {
        scopes_.push_back(variables);
        ENGINE_TRY(execute(body));
        return std::move(out_);
    }

private:
    enum class Flow : uint8_t { Normal = 1, Break, Continue };
    using Scope = std::map<std::string, Value>;

    Result<void> step() {
        if (++steps_ > kMaxSteps || out_.size() > kMaxOutput || depth_ > kMaxDepth) {
            return unsupported(said("too many steps"));
        }
        return {};
    }

    // ---- statements ----

    Result<void> execute(const Body& body) {
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
            out_ += s.text;
            return {};
        case Statement::Kind::Output: {
            ENGINE_ASSIGN(const Value value, evaluate(*s.value));
            ENGINE_ASSIGN(const std::string text, textOf(value));
            out_ += text;
            return {};
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
            std::string outer = std::exchange(out_, {});
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
        for (auto& [name, old] : *target->members) {
            if (name == member) {
                old = std::move(value);
                return {};
            }
        }
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
        for (size_t i = 0; i < names.size(); ++i) {
            scopes_.back()[names[i]] = (*item.items)[i];
        }
        return {};
    }

    Result<Value::Items> itemsOf(const Value& value) {
        Value::Items items;
        switch (value.kind) {
        case Kind::Undefined:
            return items;
        case Kind::List:
            steps_ += static_cast<int64_t>(value.items->size() / 16);
            return *value.items;
        case Kind::Map:
            for (const auto& [name, unused] : *value.members) {
                items.push_back(Value::of(name));
            }
            return items;
        case Kind::Text:
            for (const char c : value.text) {
                if ((static_cast<unsigned char>(c) & 0x80U) != 0) {
                    return unsupported(said("single characters of a text that is not ASCII"));
                }
                items.push_back(Value::of(std::string(1, c)));
            }
            return items;
        default:
            return unsupported(said("a loop over what is no list"));
        }
    }

    Result<void> loop(const Statement& s) {
        ENGINE_ASSIGN(const Value over, evaluate(*s.value));
        ENGINE_ASSIGN(Value::Items items, itemsOf(over));
        scopes_.emplace_back();
        Result<void> done = passes(s, std::move(items));
        scopes_.pop_back();
        return done;
    }

    Result<void> passes(const Statement& s, Value::Items items) {
        if (s.filter != nullptr) {
            Value::Items kept;
            for (Value& item : items) {
                ENGINE_TRY(assign(s.names, item));
                ENGINE_ASSIGN(const Value condition, evaluate(*s.filter));
                if (condition.isTrue()) {
                    kept.push_back(std::move(item));
                }
            }
            items = std::move(kept);
        }
        if (items.empty() && s.bodies.size() > 1) {
            return execute(s.bodies[1]);
        }
        scopes_.back().clear();
        for (size_t at = 0; at < items.size(); ++at) {
            ENGINE_TRY(step()); // also of an empty body
            const Value state = Value::map(loopMembers(items, at));
            const size_t kept_at = made_members_.size();
            keep(state);
            scopes_.back()["loop"] = state;
            ENGINE_TRY(assign(s.names, items[at]));
            ENGINE_TRY(execute(s.bodies.front()));
            scopes_.back().clear();
            forget(state, kept_at);
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

    Result<std::string> textOf(const Value& value) {
        switch (value.kind) {
        case Kind::Undefined:
            return std::string();
        case Kind::None:
            return std::string("None");
        case Kind::Bool:
            return std::string(value.boolean ? "True" : "False");
        case Kind::Int:
            return std::to_string(value.integer);
        case Kind::Float:
            return fractionText(value.number);
        case Kind::Text:
            return value.text;
        default:
            return unsupported(said("a list or a map as text"));
        }
    }

    Result<Value> evaluate(const Expression& e) {
        ENGINE_TRY(step());
        ++depth_;
        Result<Value> value = inner(e);
        --depth_;
        if (value) {
            keep(*value);
            steps_ += static_cast<int64_t>(value->text.size() / 256);
        }
        return value;
    }

    /// What has just been made is held by nobody else.
    void keep(const Value& value) {
        if (value.items != nullptr && value.items.use_count() == 1) {
            made_items_.push_back(value.items);
            // A range or a slice is made in one step, however long.
            steps_ += static_cast<int64_t>(value.items->size() / 4);
        }
        if (value.members != nullptr && value.members.use_count() == 1) {
            made_members_.push_back(value.members);
        }
    }

    /// What keep() put at `at` and nobody but `value` holds any more goes with it: the variables of
    /// many passes are hundreds of megabytes.
    void forget(const Value& value, size_t at) {
        if (at < made_members_.size() && made_members_[at] == value.members &&
            value.members.use_count() == 2) {
            std::swap(made_members_[at], made_members_.back());
            made_members_.pop_back();
        }
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
            Value::Items items;
            for (const ExpressionPtr& part : e.parts) {
                ENGINE_ASSIGN(Value item, evaluate(*part));
                items.push_back(std::move(item));
            }
            return Value::list(std::move(items));
        }
        case Expression::Kind::Dict: {
            Value::Members members;
            for (size_t i = 0; i + 1 < e.parts.size(); i += 2) {
                ENGINE_ASSIGN(const Value key, evaluate(*e.parts[i]));
                ENGINE_ASSIGN(Value value, evaluate(*e.parts[i + 1]));
                ENGINE_ASSIGN(std::string name, textOf(key));
                members.emplace_back(std::move(name), std::move(value));
            }
            return Value::map(std::move(members));
        }
        case Expression::Kind::Member: {
            ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
            const Value* member = value.find(e.text);
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
            const Value* member = value.find(key.text);
            return member == nullptr ? Value() : *member;
        }
        if (!key.is(Kind::Int)) {
            return Value();
        }
        ENGINE_ASSIGN(const Value::Items items, itemsOf(value.is(Kind::Map) ? Value() : value));
        const auto count = static_cast<int64_t>(items.size());
        const int64_t at = key.integer < 0 ? key.integer + count : key.integer;
        return at >= 0 && at < count ? items[static_cast<size_t>(at)] : Value();
    }

    Result<Value> slice(const Expression& e) {
        ENGINE_ASSIGN(const Value value, evaluate(*e.parts[0]));
        ENGINE_ASSIGN(const Value::Items items, itemsOf(value));
        const auto count = static_cast<int64_t>(items.size());
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
        Value::Items kept;
        for (int64_t i = first; stride > 0 ? i < last : i > last; i += stride) {
            kept.push_back(items[static_cast<size_t>(i)]);
        }
        if (!value.is(Kind::Text)) {
            return Value::list(std::move(kept));
        }
        std::string text;
        for (const Value& c : kept) {
            text += c.text;
        }
        return Value::of(std::move(text));
    }

    Result<Value> binary(const Expression& e) {
        ENGINE_ASSIGN(const Value a, evaluate(*e.parts[0]));
        const std::string& op = e.text;
        if (op == "and" || op == "or") {
            return a.isTrue() == (op == "or") ? Result<Value>(a) : evaluate(*e.parts[1]);
        }
        ENGINE_ASSIGN(const Value b, evaluate(*e.parts[1]));
        if (op == "==" || op == "!=") {
            return Value::of(areEqual(a, b) == (op == "=="));
        }
        if (op == "in" || op == "not in") {
            ENGINE_ASSIGN(const bool is_in, contains(b, a));
            return Value::of(is_in == (op == "in"));
        }
        if (op == "~" || (op == "+" && a.is(Kind::Text) && b.is(Kind::Text))) {
            ENGINE_ASSIGN(std::string left, textOf(a));
            ENGINE_ASSIGN(const std::string right, textOf(b));
            if (left.size() + right.size() > kMaxOutput) {
                return unsupported(said("too long a text"));
            }
            return Value::of(left + right);
        }
        if (op == "+" && a.is(Kind::List) && b.is(Kind::List)) {
            Value::Items items = *a.items;
            items.insert(items.end(), b.items->begin(), b.items->end());
            steps_ += static_cast<int64_t>(items.size());
            return Value::list(std::move(items));
        }
        if (a.is(Kind::Text) && b.is(Kind::Text) && (op == "<" || op == ">")) {
            return Value::of(op == "<" ? a.text < b.text : a.text > b.text);
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
        if (!are_whole || std::abs(i) > kLargest || std::abs(j) > kLargest) {
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
            return in.text.find(what.text) != std::string::npos;
        }
        if (in.is(Kind::Map)) {
            return what.is(Kind::Text) && in.find(what.text) != nullptr;
        }
        if (in.is(Kind::List)) {
            return std::any_of(in.items->begin(), in.items->end(),
                               [&](const Value& item) { return areEqual(item, what); });
        }
        return unsupported(said("\"in\" on what holds nothing"));
    }

    struct Arguments {
        Value::Items values;
        std::vector<std::string> names;
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

    /// Of a call, filter or test: all parts but the first.
    Result<Arguments> argumentsOf(const Expression& e) {
        Arguments out;
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
                Value::Members members;
                for (size_t i = 0; i < arguments.values.size(); ++i) {
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
                                  why == nullptr ? std::string() : why->text.substr(0, 200)),
                             {}};
            }
        }
        return unsupported(said("the function \"%1\"", target.text));
    }

    static Result<Value> range(const Arguments& arguments) {
        const Value* a = arguments.at(0);
        const Value* b = arguments.at(1);
        if (a == nullptr || !a->is(Kind::Int) || (b != nullptr && !b->is(Kind::Int)) ||
            arguments.values.size() > 2) {
            return unsupported(said("range() of this form"));
        }
        const int64_t first = b == nullptr ? 0 : a->integer;
        const int64_t last = b == nullptr ? a->integer : b->integer;
        if (last - first > 100'000) {
            return unsupported(said("too long a range"));
        }
        Value::Items items;
        for (int64_t i = first; i < last; ++i) {
            items.push_back(Value::of(i));
        }
        return Value::list(std::move(items));
    }

    Result<Value> callMacro(const Macro& macro, const Arguments& arguments) {
        // A macro sees the template's variables, not those of the place it is called from.
        std::vector<Scope> outer(std::make_move_iterator(scopes_.begin() + 1),
                                 std::make_move_iterator(scopes_.end()));
        scopes_.resize(1);
        scopes_.emplace_back();
        std::string text = std::exchange(out_, {});
        ++depth_;
        const Result<void> done = macroBody(macro, arguments);
        --depth_;
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
        const Value* first = arguments.at(0);
        const Value* second = arguments.at(1);
        const bool has_text = first != nullptr && first->is(Kind::Text);
        if (object.is(Kind::Map)) {
            if (name == "get" && has_text) {
                const Value* member = object.find(first->text);
                return member != nullptr ? *member : second != nullptr ? *second : Value::none();
            }
            if (name == "items" || name == "keys" || name == "values") {
                Value::Items items;
                for (const auto& [key, value] : *object.members) {
                    items.push_back(name == "keys"     ? Value::of(key)
                                    : name == "values" ? value
                                                       : Value::list({Value::of(key), value}));
                }
                return Value::list(std::move(items));
            }
        }
        if (object.is(Kind::Text)) {
            const std::string& text = object.text;
            if (name == "strip" || name == "lstrip" || name == "rstrip") {
                const std::string blanks = has_text ? first->text : " \t\r\n\f\v";
                return Value::of(
                    std::string(trimmed(text, blanks, name != "rstrip", name != "lstrip")));
            }
            if ((name == "startswith" || name == "endswith") && has_text) {
                return Value::of(name == "startswith" ? text.starts_with(first->text)
                                                      : text.ends_with(first->text));
            }
            if (name == "upper" || name == "lower") {
                return Value::of(mapped(text, name == "upper"));
            }
            if (name == "replace" && has_text && second != nullptr) {
                return Value::of(replaced(text, first->text, second->text));
            }
            if (name == "split" && has_text && !first->text.empty() && second == nullptr) {
                Value::Items items;
                size_t at = 0;
                for (size_t next = text.find(first->text); next != std::string::npos;
                     next = text.find(first->text, at)) {
                    items.push_back(Value::of(text.substr(at, next - at)));
                    at = next + first->text.size();
                }
                items.push_back(Value::of(text.substr(at)));
                return Value::list(std::move(items));
            }
        }
        return unsupported(said("the method \"%1\"", name));
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
            ENGINE_ASSIGN(Value::Items items, itemsOf(value));
            return Value::list(std::move(items));
        }
        if (name == "first" || name == "last") {
            ENGINE_ASSIGN(const Value::Items items, itemsOf(value));
            return items.empty() ? Value() : name == "first" ? items.front() : items.back();
        }
        if (name == "join") {
            ENGINE_ASSIGN(const Value::Items items, itemsOf(value));
            std::string text;
            for (size_t i = 0; i < items.size(); ++i) {
                ENGINE_ASSIGN(const std::string part, textOf(items[i]));
                text += (i > 0 && first != nullptr ? first->text : "") + part;
            }
            return Value::of(std::move(text));
        }
        if (name == "dictsort" && value.is(Kind::Map)) {
            Value::Members members = *value.members;
            std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
                return mapped(a.first, false) < mapped(b.first, false);
            });
            return method(Value::map(std::move(members)), "items", {});
        }
        ENGINE_ASSIGN(std::string text, textOf(value));
        if (name == "trim") {
            return Value::of(std::string(trimmed(text, " \t\r\n\f\v", true, true)));
        }
        if (name == "upper" || name == "lower") {
            return Value::of(mapped(std::move(text), name == "upper"));
        }
        if (name == "string" || name == "safe") {
            return Value::of(std::move(text));
        }
        if (name == "replace" && first != nullptr && arguments.at(1) != nullptr) {
            return Value::of(replaced(std::move(text), first->text, arguments.at(1)->text));
        }
        return unsupported(said("the filter \"%1\"", name));
    }

    static Result<Value> length(const Value& value) {
        switch (value.kind) {
        case Kind::Undefined:
            return Value::of(int64_t{0});
        case Kind::Text:
            return Value::of(static_cast<int64_t>(
                std::count_if(value.text.begin(), value.text.end(), [](char c) {
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
            return is(areEqual(value, *first) == (name != "ne"));
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
    std::string out_;
    Flow flow_ = Flow::Normal;
    int64_t steps_ = 0;
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
    Value out;
    out.kind = Kind::Text;
    out.text = std::move(value);
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
        return !text.empty();
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

const Value* Value::find(std::string_view name) const {
    if (!is(Kind::Map)) {
        return nullptr;
    }
    const auto it = std::find_if(members->begin(), members->end(),
                                 [&](const auto& member) { return member.first == name; });
    return it == members->end() ? nullptr : &it->second;
}

Result<std::string> render(std::string_view source, const std::map<std::string, Value>& variables) {
    ENGINE_ASSIGN(const Body body, parse(source));
    return Evaluator().run(body, variables);
}

} // namespace engine::jinja
