// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja_syntax.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace engine::jinja {

namespace {

constexpr int kMaxDepth = 100;
/// Tokens of all expressions and pieces between them: the tree takes some hundred bytes for each.
constexpr size_t kMostParts = 100'000;
constexpr size_t kLongestName = 200; ///< Bytes: a name is copied wherever it is used.

struct Token {
    enum class Kind : uint8_t { End = 1, Name, Text, Number, Operator };
    Kind kind = Kind::End;
    std::string text;
};

bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isDigit(char c) {
    return c >= '0' && c <= '9';
}
bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

Error syntax(const Sentence& what) {
    return Error{ErrorCode::InvalidFile, said("not a Jinja template: %1", what), {}};
}
Error unknown(const Sentence& what) {
    return Error{ErrorCode::Unsupported, said("the template uses %1", what), {}};
}

/// `parts`: those that may still come.
Result<std::vector<Token>> tokensOf(std::string_view in, size_t& parts) {
    std::vector<Token> tokens;
    size_t at = 0;
    while (at < in.size()) {
        if (tokens.size() > parts) {
            return unknown(said("too many parts"));
        }
        const char c = in[at];
        if (isSpace(c)) {
            ++at;
        } else if (isNameStart(c)) {
            const size_t begin = at;
            while (at < in.size() && (isNameStart(in[at]) || isDigit(in[at]))) {
                ++at;
            }
            if (at - begin > kLongestName) {
                return unknown(said("too long a name"));
            }
            tokens.push_back({Token::Kind::Name, std::string(in.substr(begin, at - begin))});
        } else if (isDigit(c)) {
            const size_t begin = at;
            while (at < in.size() && (isDigit(in[at]) || (in[at] == '.' && at + 1 < in.size() &&
                                                          isDigit(in[at + 1])))) {
                ++at;
            }
            tokens.push_back({Token::Kind::Number, std::string(in.substr(begin, at - begin))});
        } else if (c == '\'' || c == '"') {
            Token token{Token::Kind::Text, {}};
            ++at;
            while (at < in.size() && in[at] != c) {
                if (in[at] != '\\' || at + 1 >= in.size()) {
                    token.text += in[at++];
                    continue;
                }
                const char escaped = in[at + 1];
                constexpr std::string_view kNames = "ntrbf";
                constexpr std::string_view kBytes = "\n\t\r\b\f";
                const size_t known = kNames.find(escaped);
                if (known != std::string_view::npos) {
                    token.text += kBytes[known];
                } else if (escaped == 'x' || escaped == 'u' || escaped == 'U' || isDigit(escaped)) {
                    return unknown(said("a numeric escape in a text"));
                } else if (escaped == '\\' || escaped == '\'' || escaped == '"') {
                    token.text += escaped;
                } else {
                    token.text += {'\\', escaped};
                }
                at += 2;
            }
            if (at >= in.size()) {
                return syntax(said("a text is not closed"));
            }
            ++at;
            tokens.push_back(std::move(token));
        } else {
            constexpr std::string_view kTwo[] = {"==", "!=", "<=", ">=", "//", "**"};
            std::string text(1, c);
            for (const std::string_view two : kTwo) {
                if (in.substr(at).starts_with(two)) {
                    text = two;
                }
            }
            at += text.size();
            tokens.push_back({Token::Kind::Operator, std::move(text)});
        }
    }
    parts -= std::min(parts, tokens.size());
    tokens.push_back({});
    return tokens;
}

class ExpressionParser {
public:
    explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    [[nodiscard]] const Token& peek(size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    [[nodiscard]] bool isOperator(std::string_view text) const {
        return peek().kind == Token::Kind::Operator && peek().text == text;
    }
    [[nodiscard]] bool isName(std::string_view text, size_t ahead = 0) const {
        return peek(ahead).kind == Token::Kind::Name && peek(ahead).text == text;
    }
    [[nodiscard]] bool isEnd() const { return peek().kind == Token::Kind::End; }
    bool take(std::string_view text) {
        const bool is_it = isOperator(text) || isName(text);
        at_ += is_it ? 1 : 0;
        return is_it;
    }
    Result<void> need(std::string_view text) {
        if (!take(text)) {
            return syntax(said("expected \"%1\", found \"%2\"", text, peek().text));
        }
        return {};
    }
    Result<std::string> name() {
        if (peek().kind != Token::Kind::Name) {
            return syntax(said("expected a name, found \"%1\"", peek().text));
        }
        return tokens_[at_++].text;
    }

    /// With conditions (a if b else c); a for's list is parsed without, its `if` filters.
    Result<ExpressionPtr> expression(bool has_condition = true) {
        if (++depth_ > kMaxDepth) {
            return unknown(said("expressions nested too deeply"));
        }
        ENGINE_ASSIGN(ExpressionPtr value, binary(0));
        while (has_condition && take("if")) {
            ExpressionPtr made = node(Expression::Kind::Condition);
            ENGINE_ASSIGN(ExpressionPtr condition, binary(0));
            ExpressionPtr otherwise;
            if (take("else")) {
                ENGINE_ASSIGN(otherwise, expression());
            }
            ENGINE_TRY(adopt(*made, std::move(condition)));
            ENGINE_TRY(adopt(*made, std::move(value)));
            ENGINE_TRY(adopt(*made, std::move(otherwise)));
            value = std::move(made);
        }
        --depth_;
        return value;
    }

private:
    /// Makes `child` (or nothing) a part of `parent`. Chains like a.b.c are as deep as they are
    /// long, and trees are evaluated and freed by functions that call themselves.
    static Result<void> adopt(Expression& parent, ExpressionPtr child) {
        if (child != nullptr) {
            parent.depth = std::max(parent.depth, child->depth + 1);
            if (parent.depth > 2 * kMaxDepth) {
                return unknown(said("expressions nested too deeply"));
            }
        }
        parent.parts.push_back(std::move(child));
        return {};
    }
    static ExpressionPtr node(Expression::Kind kind) {
        auto made = std::make_unique<Expression>();
        made->kind = kind;
        return made;
    }
    static ExpressionPtr constant(Value value) {
        ExpressionPtr made = node(Expression::Kind::Constant);
        made->constant = std::move(value);
        return made;
    }

    /// The operator at this level that comes next, consumed; empty when there is none.
    std::string operatorAt(size_t level) {
        static const std::vector<std::vector<std::string>> kLevels = {
            {"or"},
            {"and"},
            {},
            {"==", "!=", "<=", ">=", "<", ">", "in", "not in"},
            {"~"},
            {"+", "-"},
            {"*", "//", "/", "%"}};
        for (const std::string& text : kLevels[level]) {
            if (text == "not in") {
                if (isName("not") && isName("in", 1)) {
                    at_ += 2;
                    return text;
                }
            } else if (take(text)) {
                return text;
            }
        }
        return {};
    }

    Result<ExpressionPtr> binary(size_t level) {
        constexpr size_t kNot = 2;
        constexpr size_t kUnary = 7;
        if (level == kUnary) {
            return unary();
        }
        if (level == kNot) {
            if (isName("not")) {
                ++at_;
                if (++depth_ > kMaxDepth) {
                    return unknown(said("expressions nested too deeply"));
                }
                ExpressionPtr made = node(Expression::Kind::Unary);
                made->text = "not";
                ENGINE_ASSIGN(ExpressionPtr inside, binary(kNot));
                ENGINE_TRY(adopt(*made, std::move(inside)));
                --depth_;
                return made;
            }
            return binary(kNot + 1);
        }
        ENGINE_ASSIGN(ExpressionPtr left, binary(level + 1));
        for (std::string text = operatorAt(level); !text.empty(); text = operatorAt(level)) {
            ENGINE_ASSIGN(ExpressionPtr right, binary(level + 1));
            ExpressionPtr made = node(Expression::Kind::Binary);
            made->text = text;
            ENGINE_TRY(adopt(*made, std::move(left)));
            ENGINE_TRY(adopt(*made, std::move(right)));
            left = std::move(made);
        }
        return left;
    }

    Result<ExpressionPtr> unary() {
        if (isOperator("-") || isOperator("+")) {
            ExpressionPtr made = node(Expression::Kind::Unary);
            made->text = tokens_[at_++].text;
            if (++depth_ > kMaxDepth) {
                return unknown(said("expressions nested too deeply"));
            }
            ENGINE_ASSIGN(ExpressionPtr inside, unary());
            ENGINE_TRY(adopt(*made, std::move(inside)));
            --depth_;
            return made;
        }
        ENGINE_ASSIGN(ExpressionPtr value, primary());
        return suffixes(std::move(value));
    }

    Result<ExpressionPtr> primary() {
        const Token token = peek();
        if (token.kind == Token::Kind::Text) {
            std::string text;
            while (peek().kind == Token::Kind::Text) { // texts side by side are one
                text += tokens_[at_++].text;
            }
            return constant(Value::of(Text::ofTemplate(std::move(text))));
        }
        if (token.kind == Token::Kind::Number) {
            ++at_;
            if (token.text.find('.') != std::string::npos) {
                return constant(Value::of(std::strtod(token.text.c_str(), nullptr)));
            }
            int64_t value = 0;
            const char* const end = token.text.data() + token.text.size();
            if (std::from_chars(token.text.data(), end, value).ec != std::errc()) {
                return unknown(said("arithmetic on fractions or very large numbers"));
            }
            return constant(Value::of(value));
        }
        if (token.kind == Token::Kind::Name) {
            ++at_;
            if (token.text == "true" || token.text == "True") {
                return constant(Value::of(true));
            }
            if (token.text == "false" || token.text == "False") {
                return constant(Value::of(false));
            }
            if (token.text == "none" || token.text == "None") {
                return constant(Value::none());
            }
            ExpressionPtr made = node(Expression::Kind::Name);
            made->text = token.text;
            return made;
        }
        if (take("(")) {
            ENGINE_ASSIGN(ExpressionPtr inside, expression());
            if (isOperator(",")) {
                ExpressionPtr made = node(Expression::Kind::List);
                ENGINE_TRY(adopt(*made, std::move(inside)));
                while (take(",") && !isOperator(")")) {
                    ENGINE_ASSIGN(ExpressionPtr next, expression());
                    ENGINE_TRY(adopt(*made, std::move(next)));
                }
                inside = std::move(made);
            }
            ENGINE_TRY(need(")"));
            return inside;
        }
        if (take("[")) {
            ExpressionPtr made = node(Expression::Kind::List);
            while (!isOperator("]")) {
                ENGINE_ASSIGN(ExpressionPtr item, expression());
                ENGINE_TRY(adopt(*made, std::move(item)));
                if (!take(",")) {
                    break;
                }
            }
            ENGINE_TRY(need("]"));
            return made;
        }
        if (take("{")) {
            ExpressionPtr made = node(Expression::Kind::Dict);
            while (!isOperator("}")) {
                ENGINE_ASSIGN(ExpressionPtr key, expression());
                ENGINE_TRY(need(":"));
                ENGINE_ASSIGN(ExpressionPtr value, expression());
                ENGINE_TRY(adopt(*made, std::move(key)));
                ENGINE_TRY(adopt(*made, std::move(value)));
                if (!take(",")) {
                    break;
                }
            }
            ENGINE_TRY(need("}"));
            return made;
        }
        return syntax(said("unexpected \"%1\" in an expression", token.text));
    }

    Result<void> arguments(Expression& call) {
        while (!isOperator(")")) {
            std::string keyword;
            if (peek().kind == Token::Kind::Name && peek(1).kind == Token::Kind::Operator &&
                peek(1).text == "=") {
                keyword = peek().text;
                at_ += 2;
            }
            ENGINE_ASSIGN(ExpressionPtr argument, expression());
            ENGINE_TRY(adopt(call, std::move(argument)));
            call.names.push_back(std::move(keyword));
            if (!take(",")) {
                break;
            }
        }
        return need(")");
    }

    Result<ExpressionPtr> subscript(ExpressionPtr value) {
        ExpressionPtr made = node(Expression::Kind::Index);
        ENGINE_TRY(adopt(*made, std::move(value)));
        std::vector<ExpressionPtr> parts(3);
        size_t part = 0;
        while (!isOperator("]")) {
            if (take(":")) {
                if (++part > 2) {
                    return syntax(said("a slice of more than three parts"));
                }
                continue;
            }
            ENGINE_ASSIGN(parts[part], expression());
        }
        ENGINE_TRY(need("]"));
        made->kind = part == 0 ? Expression::Kind::Index : Expression::Kind::Slice;
        for (size_t i = 0; i < (part == 0 ? 1U : 3U); ++i) {
            ENGINE_TRY(adopt(*made, std::move(parts[i])));
        }
        if (part == 0 && made->parts[1] == nullptr) {
            return syntax(said("an empty subscript"));
        }
        return made;
    }

    Result<ExpressionPtr> test(ExpressionPtr value) {
        ExpressionPtr made = node(Expression::Kind::Test);
        made->is_negated = take("not");
        ENGINE_ASSIGN(made->text, name());
        ENGINE_TRY(adopt(*made, std::move(value)));
        if (take("(")) {
            ENGINE_TRY(arguments(*made));
        } else if (peek().kind == Token::Kind::Text || peek().kind == Token::Kind::Number) {
            ENGINE_ASSIGN(ExpressionPtr argument, primary());
            ENGINE_TRY(adopt(*made, std::move(argument)));
            made->names.emplace_back();
        }
        return made;
    }

    Result<ExpressionPtr> suffixes(ExpressionPtr value) {
        while (true) {
            if (take(".")) {
                ExpressionPtr made = node(Expression::Kind::Member);
                ENGINE_ASSIGN(made->text, name());
                ENGINE_TRY(adopt(*made, std::move(value)));
                value = std::move(made);
            } else if (take("[")) {
                ENGINE_ASSIGN(value, subscript(std::move(value)));
            } else if (take("(")) {
                ExpressionPtr made = node(Expression::Kind::Call);
                ENGINE_TRY(adopt(*made, std::move(value)));
                ENGINE_TRY(arguments(*made));
                value = std::move(made);
            } else if (take("|")) {
                ExpressionPtr made = node(Expression::Kind::Filter);
                ENGINE_ASSIGN(made->text, name());
                ENGINE_TRY(adopt(*made, std::move(value)));
                if (take("(")) {
                    ENGINE_TRY(arguments(*made));
                }
                value = std::move(made);
            } else if (take("is")) {
                ENGINE_ASSIGN(value, test(std::move(value)));
            } else {
                return value;
            }
        }
    }

    std::vector<Token> tokens_;
    size_t at_ = 0;
    int depth_ = 0;
};

/// Text, "{{ }}" and "{% %}" with white space already taken off.
struct Piece {
    char kind = 't'; ///< t: text, o: output, b: block
    std::string text;
};

class Splitter {
public:
    explicit Splitter(std::string_view source) : in_(source) {}

    Result<std::vector<Piece>> run() {
        // One line break at the very end is not part of a template.
        if (in_.ends_with('\n')) {
            in_.remove_suffix(1);
        }
        bool trims_left = false; // the tag before ended in "-"
        bool trims_line = false; // the tag before was a block: a line break behind it goes
        while (true) {
            size_t open = in_.find('{', at_);
            while (open != std::string_view::npos && open + 1 < in_.size() &&
                   std::string_view("{%#").find(in_[open + 1]) == std::string_view::npos) {
                open = in_.find('{', open + 1);
            }
            const bool is_last = open == std::string_view::npos || open + 1 >= in_.size();
            std::string text(in_.substr(at_, is_last ? std::string_view::npos : open - at_));
            if (trims_left) {
                text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
            } else if (trims_line && text.starts_with('\n')) {
                text.erase(0, 1);
            }
            if (is_last) {
                add('t', std::move(text));
                return std::move(pieces_);
            }
            const char kind = in_[open + 1];
            const char sign = open + 2 < in_.size() ? in_[open + 2] : '\0';
            if (sign == '-') {
                text.erase(text.find_last_not_of(" \t\r\n") + 1);
            } else if (kind != '{' && sign != '+') {
                stripLine(text);
            }
            add('t', std::move(text));
            ENGINE_TRY(tag(open, kind, trims_left));
            trims_line = kind != '{' && !keeps_line_;
        }
    }

private:
    void add(char kind, std::string text) {
        if (kind != 't' || !text.empty()) {
            pieces_.push_back({kind, std::move(text)});
        }
    }
    /// Blanks between the start of the line and a block.
    void stripLine(std::string& text) const {
        const size_t last = text.find_last_not_of(" \t");
        const bool is_line_start =
            last == std::string::npos ? (pieces_.empty() || at_line_start_) : text[last] == '\n';
        if (is_line_start) {
            text.erase(last == std::string::npos ? 0 : last + 1);
        }
    }

    Result<void> tag(size_t open, char kind, bool& trims_left) {
        const std::string_view close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
        size_t end = open + 2;
        char quote = '\0';
        for (; end < in_.size(); ++end) {
            const char c = in_[end];
            if (kind != '#' && quote != '\0') {
                end += c == '\\' ? 1 : 0;
                quote = c == quote ? '\0' : quote;
            } else if (kind != '#' && (c == '\'' || c == '"')) {
                quote = c;
            } else if (in_.substr(end).starts_with(close) &&
                       !(kind == '{' && in_.substr(end).starts_with("}}}"))) {
                break;
            }
        }
        if (end >= in_.size()) {
            return syntax(said("a tag is not closed"));
        }
        std::string_view inside = in_.substr(open + 2, end - open - 2);
        if (inside.starts_with('-') || inside.starts_with('+')) {
            inside.remove_prefix(1);
        }
        trims_left = inside.ends_with('-');
        keeps_line_ = inside.ends_with('+');
        if (trims_left || keeps_line_) {
            inside.remove_suffix(1);
        }
        at_ = end + 2;
        at_line_start_ = kind != '{' && at_ < in_.size() && in_[at_] == '\n';
        if (kind != '#') {
            add(kind == '{' ? 'o' : 'b', std::string(inside));
        }
        return {};
    }

    std::string_view in_;
    size_t at_ = 0;
    bool keeps_line_ = false, at_line_start_ = false;
    std::vector<Piece> pieces_;
};

class Parser {
public:
    explicit Parser(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

    Result<Body> run() {
        std::string end;
        ENGINE_ASSIGN(Body body, block({}, end));
        return body;
    }

private:
    /// Statements up to one of `ends`, whose word is left in `end` and whose parser in rest_.
    Result<Body> block(const std::vector<std::string>& ends, std::string& end) {
        if (++depth_ > kMaxDepth) {
            return unknown(said("blocks nested too deeply"));
        }
        Body body;
        while (at_ < pieces_.size()) {
            Piece piece = std::move(pieces_[at_++]);
            if (parts_ == 0) {
                return unknown(said("too many parts"));
            }
            --parts_;
            if (piece.kind == 't') {
                Statement text;
                text.text = std::move(piece.text);
                body.push_back(std::move(text));
                continue;
            }
            ENGINE_ASSIGN(std::vector<Token> tokens, tokensOf(piece.text, parts_));
            ExpressionParser in(std::move(tokens));
            if (piece.kind == 'o') {
                Statement output;
                output.kind = Statement::Kind::Output;
                ENGINE_ASSIGN(output.value, in.expression());
                ENGINE_TRY(atEnd(in));
                body.push_back(std::move(output));
                continue;
            }
            ENGINE_ASSIGN(const std::string word, in.name());
            if (std::find(ends.begin(), ends.end(), word) != ends.end()) {
                end = word;
                rest_.emplace(std::move(in));
                --depth_;
                return body;
            }
            ENGINE_TRY(statement(word, in, body));
        }
        if (!ends.empty()) {
            return syntax(said("\"%1\" is missing", ends.back()));
        }
        return body;
    }

    static Result<void> atEnd(const ExpressionParser& in) {
        return in.isEnd() ? Result<void>()
                          : syntax(said("unexpected \"%1\" in a tag", in.peek().text));
    }

    Result<void> statement(const std::string& word, ExpressionParser& in, Body& body) {
        if (word == "generation" || word == "endgeneration") {
            return {}; // marks what is trained on
        }
        Statement made;
        if (word == "if") {
            ENGINE_TRY(ifStatement(in, made));
        } else if (word == "for") {
            ENGINE_TRY(forStatement(in, made));
        } else if (word == "set") {
            ENGINE_TRY(setStatement(in, made));
        } else if (word == "macro") {
            ENGINE_TRY(macroStatement(in, made));
        } else if (word == "break" || word == "continue") {
            made.kind = word == "break" ? Statement::Kind::Break : Statement::Kind::Continue;
        } else {
            return unknown(said("the statement \"%1\", which is not known here", word));
        }
        body.push_back(std::move(made));
        return {};
    }

    Result<void> ifStatement(ExpressionParser& in, Statement& made) {
        made.kind = Statement::Kind::If;
        ENGINE_ASSIGN(ExpressionPtr condition, in.expression());
        made.conditions.push_back(std::move(condition));
        std::string end;
        while (true) {
            ENGINE_ASSIGN(Body body, block({"elif", "else", "endif"}, end));
            made.bodies.push_back(std::move(body));
            if (end == "endif") {
                return {};
            }
            made.conditions.emplace_back();
            if (end == "elif") {
                ENGINE_ASSIGN(made.conditions.back(), rest_->expression());
            }
        }
    }

    Result<void> forStatement(ExpressionParser& in, Statement& made) {
        made.kind = Statement::Kind::For;
        do {
            ENGINE_ASSIGN(std::string name, in.name());
            made.names.push_back(std::move(name));
        } while (in.take(","));
        ENGINE_TRY(in.need("in"));
        ENGINE_ASSIGN(made.value, in.expression(false));
        if (in.take("if")) {
            ENGINE_ASSIGN(made.filter, in.expression());
        }
        if (in.isName("recursive")) {
            return unknown(said("a recursive loop"));
        }
        ENGINE_TRY(atEnd(in));
        std::string end;
        ENGINE_ASSIGN(Body body, block({"else", "endfor"}, end));
        made.bodies.push_back(std::move(body));
        if (end == "else") {
            ENGINE_ASSIGN(Body otherwise, block({"endfor"}, end));
            made.bodies.push_back(std::move(otherwise));
        }
        return {};
    }

    Result<void> setStatement(ExpressionParser& in, Statement& made) {
        made.kind = Statement::Kind::Set;
        ENGINE_ASSIGN(made.text, in.name());
        if (in.take(".")) {
            ENGINE_ASSIGN(const std::string member, in.name());
            made.text += "." + member;
        }
        if (in.take("=")) {
            ENGINE_ASSIGN(made.value, in.expression());
            return atEnd(in);
        }
        ENGINE_TRY(atEnd(in));
        std::string end;
        ENGINE_ASSIGN(Body body, block({"endset"}, end));
        made.bodies.push_back(std::move(body));
        return {};
    }

    Result<void> macroStatement(ExpressionParser& in, Statement& made) {
        made.kind = Statement::Kind::Macro;
        made.macro = std::make_shared<Macro>();
        ENGINE_ASSIGN(made.macro->name, in.name());
        ENGINE_TRY(in.need("("));
        while (!in.take(")")) {
            ENGINE_ASSIGN(std::string parameter, in.name());
            made.macro->parameters.push_back(std::move(parameter));
            made.macro->defaults.emplace_back();
            if (in.take("=")) {
                ENGINE_ASSIGN(made.macro->defaults.back(), in.expression());
            }
            in.take(",");
        }
        std::string end;
        ENGINE_ASSIGN(made.macro->body, block({"endmacro"}, end));
        return {};
    }

    std::vector<Piece> pieces_;
    size_t at_ = 0;
    size_t parts_ = kMostParts;
    int depth_ = 0;
    std::optional<ExpressionParser> rest_;
};

} // namespace

Result<Body> parse(std::string_view source) {
    ENGINE_ASSIGN(std::vector<Piece> pieces, Splitter(source).run());
    return Parser(std::move(pieces)).run();
}

} // namespace engine::jinja
