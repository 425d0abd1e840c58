// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/code_lexer.h"

#include "ui/chat/code_languages.h"

#include <QHash>

#include <algorithm>
#include <array>

namespace ui {

namespace {

using Words = std::vector<QLatin1String>;
using Inside = LexState::Inside;

constexpr uint8_t kRawString = 255; ///< LexState::which of a string that ends with its `end`.
constexpr qsizetype kLongestMark = 64;

bool isWordUnit(QChar c) {
    return c.isLetterOrNumber() || c == QLatin1Char('_');
}

Words wordsOf(QLatin1String text, Qt::CaseSensitivity sensitivity) {
    Words words;
    for (const QLatin1String word : text.tokenize(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        words.push_back(word);
    }
    std::sort(words.begin(), words.end(),
              [&](QLatin1String a, QLatin1String b) { return a.compare(b, sensitivity) < 0; });
    return words;
}

/// A row with what is made of it once.
struct Compiled {
    explicit Compiled(const CodeLanguage& language)
        : row(&language),
          sensitivity((language.features & CodeLanguage::AnyCase) != 0 ? Qt::CaseInsensitive
                                                                       : Qt::CaseSensitive),
          keywords(wordsOf(language.keywords, sensitivity)),
          types(wordsOf(language.types, sensitivity)) {
        for (const Words* words : {&keywords, &types}) {
            for (const QLatin1String word : *words) {
                begins_word[word.front().unicode()] = true;
            }
        }
        for (const auto* pairs : {&language.blocks, &language.strings}) {
            for (const CodePair& pair : *pairs) {
                begins_mark[pair.open.front().unicode()] = true;
            }
        }
        for (const QLatin1String mark : language.comments) {
            begins_mark[mark.front().unicode()] = true;
        }
    }
    [[nodiscard]] bool has(uint32_t feature) const { return (row->features & feature) != 0; }
    [[nodiscard]] bool contains(const Words& words, QStringView word) const {
        const auto found =
            std::lower_bound(words.begin(), words.end(), word, [&](QLatin1String a, QStringView b) {
                return b.compare(a, sensitivity) > 0;
            });
        return found != words.end() && word.compare(*found, sensitivity) == 0;
    }

    const CodeLanguage* row;
    Qt::CaseSensitivity sensitivity;
    Words keywords, types;
    std::array<bool, 128> begins_word{}, begins_mark{};
};

const std::vector<Compiled>& compiled() {
    static const std::vector<Compiled> all(codeLanguages().begin(), codeLanguages().end());
    return all;
}

class LineLexer {
public:
    LineLexer(const Compiled& language,
              QStringView line,
              LexState& state,
              std::vector<CodeSpan>& spans)
        : language_(language), line_(line), state_(state), spans_(spans) {}

    void run() {
        if (language_.has(CodeLanguage::Diff)) {
            diffLine();
            return;
        }
        if (state_.inside == Inside::HereDocument) {
            const bool is_end = line_.trimmed() == state_.end;
            add(0, line_.size(), is_end ? CodeKind::Keyword : CodeKind::String);
            state_ = is_end ? LexState() : state_;
            return;
        }
        if (state_.inside == Inside::Comment) {
            rest(language_.row->blocks[state_.which], CodeKind::Comment, 0);
        } else if (state_.inside == Inside::String && state_.which == kRawString) {
            rawRest(0);
        } else if (state_.inside == Inside::String) {
            rest(language_.row->strings[state_.which], CodeKind::String, 0);
        } else if (state_.inside == Inside::Nothing) {
            beginning();
        }
        while (at_ < line_.size()) {
            language_.has(CodeLanguage::Markup) ? markupStep() : step();
        }
        if (!here_.isEmpty() && state_.inside == Inside::Nothing) {
            state_.inside = Inside::HereDocument;
            state_.end = here_;
        }
    }

private:
    [[nodiscard]] QChar unit(qsizetype at) const {
        return at >= 0 && at < line_.size() ? line_.at(at) : QChar();
    }
    [[nodiscard]] bool is(qsizetype at, char c) const { return unit(at) == QLatin1Char(c); }
    [[nodiscard]] bool begins(QLatin1String mark) const { return line_.mid(at_).startsWith(mark); }
    void add(qsizetype from, qsizetype to, CodeKind kind) {
        if (to > from) {
            spans_.push_back({from, to - from, kind});
        }
    }

    void diffLine() {
        const bool is_head = line_.startsWith(QLatin1String("+++")) ||
                             line_.startsWith(QLatin1String("---")) || is(0, '@') ||
                             line_.startsWith(QLatin1String("diff ")) ||
                             line_.startsWith(QLatin1String("index "));
        if (is_head || is(0, '+') || is(0, '-')) {
            add(0, line_.size(),
                is_head      ? CodeKind::Meta
                : is(0, '+') ? CodeKind::Added
                             : CodeKind::Removed);
        }
    }

    /// What means something at the beginning of a line alone.
    void beginning() {
        while (at_ < line_.size() && line_.at(at_).isSpace()) {
            ++at_;
        }
        if (language_.has(CodeLanguage::Directives) && is(at_, '#')) {
            const qsizetype from = at_++;
            while (at_ < line_.size() && (isWordUnit(unit(at_)) || is(at_, ' '))) {
                if (is(at_, ' ') && isWordUnit(unit(at_ - 1))) {
                    break;
                }
                ++at_;
            }
            add(from, at_, CodeKind::Meta);
            const qsizetype open = at_ + 1;
            if (is(open, '<')) {
                const qsizetype close = line_.indexOf(QLatin1Char('>'), open);
                if (close > 0) {
                    add(open, close + 1, CodeKind::String);
                    at_ = close + 1;
                }
            }
        } else if (language_.has(CodeLanguage::Rules) && at_ == 0) {
            const qsizetype colon = line_.indexOf(QLatin1Char(':'));
            if (colon > 0 && !is(colon + 1, '=') && !line_.left(colon).contains(QLatin1Char('='))) {
                add(0, colon, CodeKind::Meta);
                at_ = colon;
            }
        }
    }

    void step() {
        const QChar c = line_.at(at_);
        const bool is_ascii = c.unicode() < 128;
        if (is_ascii && language_.begins_mark[c.unicode()] && mark()) {
            return;
        }
        if (is(at_, '<') && is(at_ + 1, '<') && language_.has(CodeLanguage::HereDocuments) &&
            hereDocument()) {
            return;
        }
        if (c.isDigit()) {
            number();
        } else if (language_.has(CodeLanguage::Sigils) &&
                   (c == QLatin1Char('$') || c == QLatin1Char('@'))) {
            sigil();
        } else if (c.isLetter() || c == QLatin1Char('_') ||
                   (is_ascii && language_.begins_word[c.unicode()])) {
            word();
        } else {
            ++at_;
        }
    }

    /// A comment or a string.
    bool mark() {
        const CodeLanguage& row = *language_.row;
        for (size_t i = 0; i < row.blocks.size(); ++i) {
            if (begins(row.blocks[i].open)) {
                open(row.blocks[i], Inside::Comment, i, CodeKind::Comment);
                return true;
            }
        }
        for (const QLatin1String mark : row.comments) {
            const bool may_begin = !language_.has(CodeLanguage::HashAfterSpace) || at_ == 0 ||
                                   unit(at_ - 1).isSpace() || is(at_ - 1, ';');
            if (may_begin && begins(mark)) {
                add(at_, line_.size(), CodeKind::Comment);
                at_ = line_.size();
                return true;
            }
        }
        if (is(at_, '\'') && isApostrophe()) {
            return false;
        }
        for (size_t i = 0; i < row.strings.size(); ++i) {
            if (begins(row.strings[i].open)) {
                open(row.strings[i], Inside::String, i, CodeKind::String);
                return true;
            }
        }
        return false;
    }

    /// It belongs to a word, or marks a lifetime.
    [[nodiscard]] bool isApostrophe() const {
        if (language_.has(CodeLanguage::Lifetimes)) {
            return !is(at_ + 1, '\\') && !is(at_ + 2, '\'');
        }
        if (language_.has(CodeLanguage::Keys)) {
            return unit(at_ - 1).isLetterOrNumber();
        }
        // Up to two letters say what kind of string follows.
        return unit(at_ - 1).isLetterOrNumber() && unit(at_ - 2).isLetterOrNumber() &&
               unit(at_ - 3).isLetterOrNumber();
    }

    void open(const CodePair& pair, Inside inside, size_t which, CodeKind kind) {
        const qsizetype from = at_;
        at_ += pair.open.size();
        state_.inside = inside;
        state_.which = static_cast<uint8_t>(which);
        state_.depth = 1;
        rest(pair, kind, from);
    }

    /// From within a pair to its end, or to that of the line.
    void rest(const CodePair& pair, CodeKind kind, qsizetype from) {
        const bool nests = kind == CodeKind::Comment && language_.has(CodeLanguage::NestedComments);
        while (at_ < line_.size()) {
            if (pair.has_escapes && is(at_, '\\')) {
                at_ += 2;
            } else if (begins(pair.close)) {
                at_ += pair.close.size();
                if (!nests || --state_.depth == 0) {
                    finish(from, kind);
                    return;
                }
            } else if (nests && begins(pair.open)) {
                at_ += pair.open.size();
                state_.depth = static_cast<uint8_t>(std::min(state_.depth + 1, 200));
            } else {
                ++at_;
            }
        }
        at_ = line_.size();
        if (pair.is_long) {
            add(from, at_, kind);
        } else {
            finish(from, kind); // it was never closed, and ends here
        }
    }

    void finish(qsizetype from, CodeKind kind) {
        state_ = LexState();
        // A name in data: "name": value
        qsizetype next = at_;
        while (next < line_.size() && line_.at(next).isSpace()) {
            ++next;
        }
        const bool is_key = kind == CodeKind::String && language_.has(CodeLanguage::Keys) &&
                            (is(next, ':') || is(next, '='));
        add(from, at_, is_key ? CodeKind::Type : kind);
    }

    void rawRest(qsizetype from) {
        const qsizetype end = line_.indexOf(state_.end, at_);
        at_ = end < 0 ? line_.size() : end + state_.end.size();
        add(from, at_, CodeKind::String);
        if (end >= 0) {
            state_ = LexState();
        }
    }

    /// `from` is the place of the letters before it: R"x( of C++, r#" of Rust.
    bool rawString(qsizetype from) {
        const QStringView prefix = line_.mid(from, at_ - from);
        QString end;
        qsizetype begin = at_;
        if (prefix.endsWith(QLatin1Char('R')) && prefix.size() <= 3 && is(at_, '"')) {
            const qsizetype round = line_.mid(at_, 18).indexOf(QLatin1Char('('));
            if (round < 0) {
                return false;
            }
            end = QLatin1Char(')') + line_.mid(at_ + 1, round - 1).toString() + QLatin1Char('"');
            begin = at_ + round + 1;
        } else if (prefix == QLatin1String("r") || prefix == QLatin1String("br")) {
            while (is(begin, '#') && begin - at_ < kLongestMark) {
                ++begin;
            }
            if (!is(begin, '"')) {
                return false;
            }
            end = QLatin1Char('"') + QString(begin - at_, QLatin1Char('#'));
            ++begin;
        } else {
            return false;
        }
        state_.inside = Inside::String;
        state_.which = kRawString;
        state_.end = end;
        at_ = begin;
        rawRest(from);
        return true;
    }

    bool hereDocument() {
        qsizetype from = at_ + 2;
        from += is(from, '<') ? 1 : 0; // PHP writes three
        from += is(from, '-') || is(from, '~') ? 1 : 0;
        const bool is_quoted = is(from, '"') || is(from, '\'');
        from += is_quoted ? 1 : 0;
        qsizetype end = from;
        while (end < line_.size() && isWordUnit(line_.at(end)) && end - from < kLongestMark) {
            ++end;
        }
        if (end == from || !(is_quoted || unit(from).isUpper())) {
            return false;
        }
        here_ = line_.mid(from, end - from).toString();
        end += is_quoted ? 1 : 0;
        add(at_, std::min(end, line_.size()), CodeKind::Keyword);
        at_ = std::min(end, line_.size());
        return true;
    }

    void number() {
        const qsizetype from = at_;
        const bool is_hex = is(at_, '0') && (is(at_ + 1, 'x') || is(at_ + 1, 'X'));
        while (at_ < line_.size()) {
            const QChar c = line_.at(at_);
            const bool is_exponent =
                !is_hex && (is(at_, '+') || is(at_, '-')) && (is(at_ - 1, 'e') || is(at_ - 1, 'E'));
            const bool is_divided = (is(at_, '.') || is(at_, '\'')) && unit(at_ + 1).isDigit();
            if (!isWordUnit(c) && !is_exponent && !is_divided) {
                break;
            }
            ++at_;
        }
        add(from, at_, CodeKind::Number);
    }

    void sigil() {
        const qsizetype from = at_;
        const bool is_variable = is(at_++, '$');
        if (is_variable && is(at_, '{')) {
            const qsizetype close = line_.indexOf(QLatin1Char('}'), at_);
            at_ = close < 0 ? line_.size() : close + 1;
        } else {
            while (at_ < line_.size() && isWordUnit(line_.at(at_))) {
                ++at_;
            }
        }
        if (at_ > from + 1) {
            add(from, at_, is_variable ? CodeKind::Type : CodeKind::Meta);
        }
    }

    void word() {
        const qsizetype from = at_++;
        const bool has_dashes = language_.has(CodeLanguage::Dashes);
        while (at_ < line_.size() &&
               (isWordUnit(line_.at(at_)) ||
                (has_dashes && is(at_, '-') && unit(at_ + 1).isLetterOrNumber()))) {
            ++at_;
        }
        if (language_.has(CodeLanguage::RawStrings) && (is(at_, '"') || is(at_, '#')) &&
            rawString(from)) {
            return;
        }
        const QStringView found = line_.mid(from, at_ - from);
        qsizetype next = at_;
        while (next < line_.size() && is(next, ' ')) {
            ++next;
        }
        const bool is_key = language_.has(CodeLanguage::Keys) && (is(next, ':') || is(next, '='));
        if (!is_key && language_.contains(language_.keywords, found)) {
            add(from, at_, CodeKind::Keyword);
        } else if (is_key || language_.contains(language_.types, found)) {
            add(from, at_, CodeKind::Type);
        }
    }

    void markupStep() {
        if (state_.inside == Inside::Tag) {
            tagStep();
            return;
        }
        const CodePair& comment = language_.row->blocks.front();
        if (begins(comment.open)) {
            open(comment, Inside::Comment, 0, CodeKind::Comment);
        } else if (is(at_, '<') && (unit(at_ + 1).isLetter() || is(at_ + 1, '/') ||
                                    is(at_ + 1, '!') || is(at_ + 1, '?'))) {
            const qsizetype from = at_++;
            while (at_ < line_.size() && !line_.at(at_).isSpace() && !is(at_, '>') &&
                   !(is(at_, '/') && at_ > from + 1)) {
                ++at_;
            }
            add(from, at_, is(from + 1, '!') ? CodeKind::Meta : CodeKind::Keyword);
            state_.inside = Inside::Tag;
        } else if (is(at_, '&')) {
            const qsizetype end = line_.mid(at_, 12).indexOf(QLatin1Char(';'));
            add(at_, at_ + end + 1, CodeKind::Number);
            at_ += std::max<qsizetype>(end, 0) + 1;
        } else {
            ++at_;
        }
    }

    void tagStep() {
        const qsizetype from = at_;
        if (is(at_, '"') || is(at_, '\'')) {
            const qsizetype end = line_.indexOf(line_.at(at_), at_ + 1);
            at_ = end < 0 ? line_.size() : end + 1;
            add(from, at_, CodeKind::String);
        } else if (is(at_, '>')) {
            ++at_;
            add(from, at_, CodeKind::Keyword);
            state_ = LexState();
        } else if (is(at_, '/') && is(at_ + 1, '>')) {
            at_ += 2;
            add(from, at_, CodeKind::Keyword);
            state_ = LexState();
        } else if (unit(at_).isLetter() || is(at_, '@') || is(at_, ':')) {
            while (at_ < line_.size() &&
                   (isWordUnit(line_.at(at_)) || is(at_, '-') || is(at_, ':') || is(at_, '@'))) {
                ++at_;
            }
            add(from, at_, CodeKind::Type);
        } else {
            ++at_;
        }
    }

    const Compiled& language_;
    QStringView line_;
    LexState& state_;
    std::vector<CodeSpan>& spans_;
    qsizetype at_ = 0;
    QString here_; ///< A here-document begins below this line, and ends with this.
};

} // namespace

const CodeLanguage* codeLanguage(const QString& name) {
    static const QHash<QString, const CodeLanguage*> all = [] {
        QHash<QString, const CodeLanguage*> names;
        for (const CodeLanguage& language : codeLanguages()) {
            for (const QLatin1String one :
                 language.names.tokenize(QLatin1Char(' '), Qt::SkipEmptyParts)) {
                names.insert(one, &language);
            }
        }
        return names;
    }();
    QString word = name.left(24).toLower();
    // ```{python} and ```js:file.js
    word = word.section(QLatin1Char(':'), 0, 0).remove(QLatin1Char('{')).remove(QLatin1Char('}'));
    return all.value(word, nullptr);
}

void lexLine(const CodeLanguage& language,
             QStringView line,
             LexState& state,
             std::vector<CodeSpan>& spans) {
    const auto index = static_cast<size_t>(&language - codeLanguages().data());
    LineLexer(compiled()[index], line, state, spans).run();
}

} // namespace ui
