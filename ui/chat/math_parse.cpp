// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/math_parse.h"

#include "ui/chat/markdown_inline.h"
#include "ui/chat/math_symbols.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ui {

namespace {

using Kind = MathNode::Kind;

constexpr qsizetype kLongest = 4000; ///< UTF-16 units.
constexpr int kDeepest = 24;
constexpr int kMostNodes = 3000;
constexpr int kMostColumns = 32;

MathNode symbol(const QString& text, MathClass part, MathFont font) {
    MathNode node;
    node.kind = Kind::Symbol;
    node.text = text;
    node.part = part;
    node.font = font;
    return node;
}

MathNode over(Kind kind, MathNode child) {
    MathNode node;
    node.kind = kind;
    node.children.push_back(std::move(child));
    return node;
}

struct Environment {
    const char* name = nullptr;
    const char* fences = nullptr;     ///< Two marks.
    const char* alignments = nullptr; ///< Repeated for further columns.
    bool is_array = false;            ///< Says its columns itself.
};

constexpr Environment kEnvironments[] = {
    {"matrix", "..", "c"},      {"pmatrix", "()", "c"},    {"bmatrix", "[]", "c"},
    {"Bmatrix", "{}", "c"},     {"vmatrix", "||", "c"},    {"Vmatrix", "\"\"", "c"},
    {"smallmatrix", "..", "c"}, {"cases", "{.", "l"},      {"aligned", "..", "rl"},
    {"align", "..", "rl"},      {"align*", "..", "rl"},    {"alignedat", "..", "rl"},
    {"split", "..", "rl"},      {"eqnarray", "..", "rcl"}, {"eqnarray*", "..", "rcl"},
    {"gathered", "..", "c"},    {"gather", "..", "c"},     {"gather*", "..", "c"},
    {"equation", "..", "c"},    {"equation*", "..", "c"},  {"multline", "..", "c"},
    {"multline*", "..", "c"},   {"array", "..", "c", true}};

class MathParser {
public:
    explicit MathParser(QStringView source) : source_(source) {}

    std::optional<MathNode> run() {
        Table table = rows();
        if (is_unknown_ || at_ < source_.size()) {
            return std::nullopt;
        }
        return table.children.size() == 1 ? std::move(table.children.front())
                                          : matrix(std::move(table), "..", QStringLiteral("rl"));
    }

private:
    struct Table {
        std::vector<MathNode> children; ///< Row by row, filled up.
        int columns = 1;
    };

    [[nodiscard]] bool isEnd() const { return is_unknown_ || at_ >= source_.size(); }
    [[nodiscard]] bool begins(QStringView text) const { return source_.mid(at_).startsWith(text); }
    bool take(QStringView text) {
        const bool is_there = begins(text);
        at_ += is_there ? text.size() : 0;
        return is_there;
    }
    MathNode unknown() {
        is_unknown_ = true;
        return {};
    }
    void skipSpace() {
        while (at_ < source_.size() && source_.at(at_).isSpace()) {
            ++at_;
        }
    }
    /// The name of a command, which the backslash before it has begun.
    QString commandName() {
        const qsizetype from = at_;
        while (at_ < source_.size() && source_.at(at_).unicode() < 128 &&
               source_.at(at_).isLetter()) {
            ++at_;
        }
        at_ += at_ == from && at_ < source_.size() ? 1 : 0;
        return source_.mid(from, at_ - from).toString();
    }
    /// "{...}" as plain text.
    QString bracedText() {
        skipSpace();
        if (!take(u"{")) {
            is_unknown_ = true;
            return {};
        }
        const qsizetype from = at_;
        while (at_ < source_.size() && source_.at(at_) != QLatin1Char('}')) {
            // A formula or a command in a text is not read.
            is_unknown_ = is_unknown_ || QStringLiteral("{\\$").contains(source_.at(at_));
            ++at_;
        }
        QString text = source_.mid(from, at_ - from).toString();
        is_unknown_ = is_unknown_ || !take(u"}");
        return text;
    }

    /// Cells and rows up to "\end", or to the end.
    Table rows() {
        std::vector<std::vector<MathNode>> all(1);
        while (true) {
            all.back().push_back(row());
            if (is_unknown_) {
                return {};
            }
            if (take(u"&")) {
                is_unknown_ = all.back().size() >= kMostColumns;
            } else if (take(u"\\\\")) {
                if (begins(u"[")) { // an extra distance
                    const qsizetype end = source_.mid(at_, 16).indexOf(QLatin1Char(']'));
                    at_ += end > 0 ? end + 1 : 0;
                }
                all.emplace_back();
            } else {
                break;
            }
        }
        const auto isEmpty = [](const std::vector<MathNode>& cells) {
            return cells.size() == 1 && cells.front().children.empty();
        };
        while (all.size() > 1 && isEmpty(all.back())) {
            all.pop_back();
        }
        Table table;
        for (const auto& cells : all) {
            table.columns = std::max(table.columns, static_cast<int>(cells.size()));
        }
        for (auto& cells : all) {
            cells.resize(static_cast<size_t>(table.columns));
            nodes_ += table.columns;
            std::move(cells.begin(), cells.end(), std::back_inserter(table.children));
        }
        is_unknown_ = is_unknown_ || nodes_ > kMostNodes;
        return table;
    }

    static MathNode matrix(Table table, const char* fences, const QString& alignments) {
        MathNode node;
        node.kind = Kind::Matrix;
        node.children = std::move(table.children);
        node.columns = table.columns;
        for (int i = 0; i < table.columns; ++i) {
            node.text += alignments.at(i % alignments.size());
        }
        const QString marks = QString::fromLatin1(fences).replace(QLatin1Char('"'), QChar(0x2016));
        if (marks == QLatin1String("..")) {
            return node;
        }
        MathNode fence = over(Kind::Fence, std::move(node));
        fence.text = marks;
        return fence;
    }

    /// Up to what ends it, which is left there: "}", "&", "\\", "\right", "\end".
    MathNode row() {
        MathNode node;
        if (++depth_ > kDeepest) {
            return unknown();
        }
        while (true) {
            skipSpace();
            if (isEnd() || begins(u"}") || begins(u"&") || begins(u"\\\\") || begins(u"\\right") ||
                begins(u"\\end")) {
                // \rightarrow begins like \right
                const bool is_command = begins(u"\\right") && at_ + 6 < source_.size() &&
                                        source_.at(at_ + 6).isLetter();
                if (!is_command) {
                    break;
                }
            }
            MathNode part = withScripts();
            if (part.kind != Kind::Row || !part.children.empty()) {
                node.children.push_back(std::move(part));
            }
        }
        --depth_;
        return node;
    }

    /// One thing, and what is below and above it.
    MathNode withScripts() {
        MathNode base;
        if (!begins(u"^") && !begins(u"_")) {
            base = atom();
        }
        MathNode scripts;
        scripts.kind = Kind::Scripts;
        scripts.children.resize(3);
        bool has_scripts = false;
        while (true) {
            skipSpace();
            if (take(u"\\limits")) {
                base.has_limits = true;
            } else if (take(u"\\nolimits")) {
                base.has_limits = false;
            } else if (begins(u"'")) {
                while (take(u"'")) {
                    scripts.children[2].children.push_back(
                        symbol(QString(QChar(0x2032)), MathClass::Ordinary, MathFont::Roman));
                }
                has_scripts = true;
            } else if (begins(u"^") || begins(u"_")) {
                const size_t place = take(u"^") ? 2 : 1;
                at_ += place == 1 ? 1 : 0;
                MathNode script = argument();
                MathNode& there = scripts.children[place];
                if (is_unknown_ || (!there.children.empty() && place == 1)) {
                    return unknown(); // two of them
                }
                there.children.push_back(std::move(script));
                has_scripts = true;
            } else {
                break;
            }
            if (isEnd()) {
                break;
            }
        }
        if (!has_scripts) {
            return base;
        }
        scripts.has_limits = base.has_limits;
        scripts.part = base.part;
        scripts.children[0] = std::move(base);
        return scripts;
    }

    /// "{...}" or one thing.
    MathNode argument() {
        skipSpace();
        if (isEnd() || begins(u"}") || begins(u"^") || begins(u"_") || begins(u"&")) {
            return unknown();
        }
        if (++depth_ > kDeepest) {
            return unknown();
        }
        MathNode node = atom();
        --depth_;
        return node;
    }

    MathNode atom() {
        if (++nodes_ > kMostNodes) {
            return unknown();
        }
        const QChar c = source_.at(at_);
        if (take(u"{")) {
            MathNode group = row();
            return take(u"}") ? std::move(group) : unknown();
        }
        if (take(u"\\")) {
            return command(commandName());
        }
        ++at_;
        if (c.isDigit() || c == QLatin1Char('.')) {
            const qsizetype from = at_ - 1;
            while (at_ < source_.size() &&
                   (source_.at(at_).isDigit() || source_.at(at_) == QLatin1Char('.'))) {
                ++at_;
            }
            return symbol(source_.mid(from, at_ - from).toString(), MathClass::Ordinary,
                          MathFont::Roman);
        }
        if (QStringLiteral("$%#\"`").contains(c)) {
            return unknown();
        }
        if (c == QLatin1Char('~')) {
            return space(0.33);
        }
        if (c.isHighSurrogate() && at_ < source_.size()) {
            return symbol(source_.mid(at_++ - 1, 2).toString(), MathClass::Ordinary,
                          MathFont::Roman);
        }
        const QString text(c == QLatin1Char('-')   ? QChar(0x2212)
                           : c == QLatin1Char('*') ? QChar(0x2217)
                                                   : c);
        if (c.isLetter()) {
            return symbol(text, MathClass::Ordinary,
                          c.unicode() < 0x250 ? MathFont::Italic : MathFont::Roman);
        }
        return symbol(text, classOf(c), MathFont::Roman);
    }

    static MathClass classOf(QChar c) {
        return QStringLiteral("+-*\u00b1\u00d7\u00f7\u00b7\u22c5").contains(c) ? MathClass::Binary
               : QStringLiteral("=<>:\u2264\u2265\u2260\u2248\u2261\u2208\u2192\u21d2").contains(c)
                   ? MathClass::Relation
               : QStringLiteral("([").contains(c)  ? MathClass::Open
               : QStringLiteral(")]!").contains(c) ? MathClass::Close
               : QStringLiteral(",;").contains(c)  ? MathClass::Comma
                                                   : MathClass::Ordinary;
    }

    static MathNode space(double ems) {
        MathNode node;
        node.kind = Kind::Space;
        node.amount = ems;
        return node;
    }

    MathNode command(const QString& name) {
        if (const MathSymbol* found = mathSymbol(name)) {
            MathNode node = symbol(found->text, found->part, found->font);
            node.is_large = found->is_large;
            node.has_limits = found->has_limits;
            return node;
        }
        constexpr std::pair<const char*, double> kSpaces[] = {
            {",", 0.17},   {":", 0.22},    {";", 0.28},      {"!", -0.17},        {" ", 0.33},
            {"quad", 1.0}, {"qquad", 2.0}, {"enspace", 0.5}, {"thinspace", 0.17}, {"enskip", 0.5}};
        for (const auto& [space_name, ems] : kSpaces) {
            if (name == QLatin1String(space_name)) {
                return space(ems);
            }
        }
        for (const char* ignored : {"displaystyle", "textstyle", "scriptstyle", "nonumber", "notag",
                                    "hfill", "allowbreak"}) {
            if (name == QLatin1String(ignored)) {
                return {};
            }
        }
        if (name == QLatin1String("begin")) {
            return environment();
        }
        if (name == QLatin1String("left")) {
            return fence();
        }
        if (name.endsWith(QLatin1String("frac")) || name.endsWith(QLatin1String("binom"))) {
            return fraction(name);
        }
        return built(name);
    }

    MathNode fraction(const QString& name) {
        const bool is_binomial = name.endsWith(QLatin1String("binom"));
        const QString kind = name.chopped(is_binomial ? 5 : 4);
        if (!kind.isEmpty() && kind != QLatin1String("d") && kind != QLatin1String("t") &&
            kind != QLatin1String("c")) {
            return unknown();
        }
        MathNode node;
        node.kind = Kind::Fraction;
        node.amount = is_binomial ? 0.0 : 1.0;
        node.children.push_back(argument());
        if (!is_unknown_) {
            node.children.push_back(argument());
        }
        if (!is_binomial) {
            return node;
        }
        MathNode whole = over(Kind::Fence, std::move(node));
        whole.text = QStringLiteral("()");
        return whole;
    }

    /// Commands with an argument.
    MathNode built(const QString& name) {
        const auto is = [&](auto... names) { return ((name == QLatin1String(names)) || ...); };
        if (is("sqrt")) {
            MathNode degree;
            skipSpace();
            if (begins(u"[")) {
                const qsizetype end = source_.mid(at_, 16).indexOf(QLatin1Char(']'));
                if (end < 1) {
                    return unknown();
                }
                degree = symbol(source_.mid(at_ + 1, end - 1).toString(), MathClass::Ordinary,
                                MathFont::Italic);
                at_ += end + 1;
            }
            MathNode root = over(Kind::Root, argument());
            root.children.push_back(std::move(degree));
            return root;
        }
        if (is("text", "textrm", "mbox", "textnormal", "textit", "textbf", "texttt", "textsf",
               "operatorname", "operatorname*", "mathrm", "tag")) {
            if (is("mathrm", "operatorname")) {
                (void)take(u"*");
                return letters(MathFont::Roman, is("operatorname"));
            }
            const QString words = bracedText();
            MathNode text = symbol(is("tag") ? QLatin1Char('(') + words + QLatin1Char(')') : words,
                                   MathClass::Ordinary,
                                   is("textbf")   ? MathFont::Bold
                                   : is("textit") ? MathFont::Italic
                                   : is("texttt") ? MathFont::Mono
                                                  : MathFont::Roman);
            return text;
        }
        if (is("mathbf", "bm", "boldsymbol", "mathit", "mathsf", "mathtt", "mathbb", "mathcal",
               "mathscr", "mathfrak", "bf")) {
            return is("bf") ? unknown() : styled(name);
        }
        if (is("hat", "widehat", "bar", "overline", "vec", "overrightarrow", "dot", "ddot", "tilde",
               "widetilde", "underline", "check")) {
            MathNode accent = over(Kind::Accent, argument());
            accent.text = is("overline")                           ? QStringLiteral("bar")
                          : name.startsWith(QLatin1String("wide")) ? name.mid(4)
                          : is("overrightarrow")                   ? QStringLiteral("vec")
                                                                   : name;
            return accent;
        }
        if (is("boxed", "fbox")) {
            return over(Kind::Box, argument());
        }
        if (is("overset", "stackrel", "underset")) {
            MathNode node;
            node.kind = Kind::Scripts;
            node.has_limits = true;
            node.part = MathClass::Relation;
            node.children.resize(3);
            node.children[is("underset") ? 1 : 2].children.push_back(argument());
            if (!is_unknown_) {
                node.children[0] = argument();
                node.children[0].has_limits = true;
            }
            return node;
        }
        if (is("pmod")) {
            MathNode node;
            node.children.push_back(space(0.5));
            node.children.push_back(
                symbol(QStringLiteral("(mod "), MathClass::Ordinary, MathFont::Roman));
            node.children.push_back(argument());
            node.children.push_back(symbol(QStringLiteral(")"), MathClass::Close, MathFont::Roman));
            return node;
        }
        if (is("not")) {
            MathNode node = argument();
            node.text += QChar(0x338);
            return node.kind == Kind::Symbol ? node : unknown();
        }
        return mathSize(name);
    }

    /// \big( and its kin are drawn like other fences, and grow with nothing.
    MathNode mathSize(const QString& name) {
        for (const char* size : {"big", "Big", "bigg", "Bigg"}) {
            for (const char* side : {"", "l", "r", "m"}) {
                if (name == QLatin1String(size) + QLatin1String(side)) {
                    skipSpace();
                    return isEnd() ? unknown() : argument();
                }
            }
        }
        return unknown();
    }

    /// The letters of an argument in another font.
    MathNode letters(MathFont font, bool is_operator) {
        MathNode node = argument();
        dress(node, font);
        if (is_operator) {
            node.part = MathClass::Operator;
        }
        return node;
    }

    static void dress(MathNode& node, MathFont font) {
        if (node.kind == Kind::Symbol && !node.is_large) {
            node.font = font;
        }
        for (MathNode& child : node.children) {
            dress(child, font);
        }
    }

    MathNode styled(const QString& name) {
        const bool is_bold = name == QLatin1String("mathbf");
        const bool is_slanted_bold =
            name == QLatin1String("bm") || name == QLatin1String("boldsymbol");
        MathNode node = letters(is_bold                           ? MathFont::Bold
                                : is_slanted_bold                 ? MathFont::BoldItalic
                                : name == QLatin1String("mathtt") ? MathFont::Mono
                                : name == QLatin1String("mathsf") ? MathFont::Roman
                                                                  : MathFont::Italic,
                                false);
        if (name == QLatin1String("mathbb")) {
            doubleStruck(node);
        }
        return node;
    }

    static void doubleStruck(MathNode& node) {
        const QString plain = QStringLiteral("CHNPQRZ");
        const QString struck = QStringLiteral("\u2102\u210d\u2115\u2119\u211a\u211d\u2124");
        if (node.kind == Kind::Symbol) {
            const qsizetype at = node.text.size() == 1 ? plain.indexOf(node.text.at(0)) : -1;
            node.font = at >= 0 ? MathFont::Roman : MathFont::Bold;
            node.text = at >= 0 ? QString(struck.at(at)) : node.text;
        }
        for (MathNode& child : node.children) {
            doubleStruck(child);
        }
    }

    /// What stands behind \left and \right.
    QString fenceMark() {
        skipSpace();
        if (isEnd()) {
            is_unknown_ = true;
            return {};
        }
        QString mark(source_.at(at_++));
        if (mark == QLatin1String("\\")) {
            const MathSymbol* found = mathSymbol(commandName());
            mark = found != nullptr ? found->text : QString();
        }
        mark = mark == QLatin1String("<")   ? QString(QChar(0x27e8))
               : mark == QLatin1String(">") ? QString(QChar(0x27e9))
                                            : mark;
        const QString known = QStringLiteral("()[]{}|./\u2016\u27e8\u27e9\u230a\u230b\u2308\u2309");
        is_unknown_ = is_unknown_ || mark.size() != 1 || !known.contains(mark);
        return mark;
    }

    MathNode fence() {
        const QString open = fenceMark();
        MathNode node = over(Kind::Fence, row());
        if (is_unknown_ || !take(u"\\right")) {
            return unknown();
        }
        node.text = open + fenceMark();
        return node;
    }

    MathNode environment() {
        const QString name = bracedText();
        const auto* found =
            std::find_if(std::begin(kEnvironments), std::end(kEnvironments),
                         [&](const Environment& one) { return name == QLatin1String(one.name); });
        if (is_unknown_ || found == std::end(kEnvironments) || ++depth_ > kDeepest) {
            return unknown();
        }
        QString alignments = QString::fromLatin1(found->alignments);
        if (found->is_array) {
            alignments = bracedText().remove(QLatin1Char(' ')).remove(QLatin1Char('|'));
            const bool is_known = !alignments.isEmpty() &&
                                  std::all_of(alignments.begin(), alignments.end(), [](QChar c) {
                                      return QStringLiteral("lcr").contains(c);
                                  });
            if (!is_known) {
                return unknown();
            }
        } else if (name == QLatin1String("alignedat")) {
            (void)bracedText();
        }
        Table table = rows();
        if (is_unknown_ || !take(u"\\end") || bracedText() != name) {
            return unknown();
        }
        --depth_;
        return matrix(std::move(table), found->fences, alignments);
    }

    QStringView source_;
    qsizetype at_ = 0;
    int depth_ = 0, nodes_ = 0;
    bool is_unknown_ = false;
};

} // namespace

bool isDisplayMath(const QString& source) {
    return source.startsWith(QLatin1String("$$")) || source.startsWith(QLatin1String("\\[")) ||
           source.startsWith(kMathBegin);
}

std::shared_ptr<const MathNode> parseMath(const QString& source) {
    const QStringView whole = QStringView(source).trimmed();
    QStringView body;
    for (const auto& [open, close] :
         {std::pair(u"$$", u"$$"), std::pair(u"$", u"$"), std::pair(u"\\(", u"\\)"),
          std::pair(u"\\[", u"\\]"), std::pair(u"\\begin", u"}")}) {
        const QStringView begin(open), end(close);
        if (whole.startsWith(begin) && whole.endsWith(end) &&
            whole.size() >= begin.size() + end.size()) {
            body = begin == u"\\begin"
                       ? whole
                       : whole.mid(begin.size(), whole.size() - begin.size() - end.size());
            break;
        }
    }
    if (body.trimmed().isEmpty() || body.size() > kLongest) {
        return nullptr;
    }
    auto found = MathParser(body).run();
    return found.has_value() ? std::make_shared<const MathNode>(std::move(*found)) : nullptr;
}

} // namespace ui
