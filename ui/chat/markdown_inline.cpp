// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/markdown_inline.h"

#include "ui/chat/math_parse.h"

#include <QStringView>

#include <algorithm>
#include <array>
#include <iterator>

namespace ui {

namespace {

/// A piece of the result, or a run of delimiters that may still turn into emphasis.
struct Piece {
    QString text;
    uint8_t styles = 0;
    QString url;
    QChar delimiter; ///< Null for ordinary text.
    int count = 0;   ///< Delimiters left in this run.
    bool can_open = false, can_close = false;
    std::shared_ptr<const MathNode> math = nullptr;
};

bool isPunctuation(QChar c) {
    return c.isPunct() || c.isSymbol();
}

/// Only schemes that a browser or a mail program opens; never file: or javascript:.
bool isSafeUrl(const QString& url) {
    return url.startsWith(QLatin1String("https://"), Qt::CaseInsensitive) ||
           url.startsWith(QLatin1String("http://"), Qt::CaseInsensitive) ||
           url.startsWith(QLatin1String("mailto:"), Qt::CaseInsensitive);
}

/// The first place of `key` that is not before `from`, or -1.
template <typename Key>
qsizetype
firstFrom(const QHash<Key, std::vector<qsizetype>>& places, const Key& key, qsizetype from) {
    const auto all = places.constFind(key);
    if (all == places.constEnd()) {
        return -1;
    }
    const auto found = std::lower_bound(all->begin(), all->end(), from);
    return found == all->end() ? -1 : *found;
}

/// "10, or 3", between two dollars.
bool looksLikePrices(QStringView inside) {
    return inside.front().isDigit() && inside.contains(QLatin1Char(' ')) &&
           std::none_of(inside.begin(), inside.end(),
                        [](QChar c) { return QStringLiteral("\\^_={}+<>").contains(c); });
}

class InlineParser {
public:
    /// `links`: how many may stand inside of each other, as a picture does in a link.
    InlineParser(const QString& source, int links, bool is_label = false)
        : source_(source), math_(source), links_left_(links), is_label_(is_label) {}

    InlineText run() {
        while (at_ < source_.size()) {
            step();
        }
        flush();
        resolveEmphasis();
        return join();
    }

private:
    void step() {
        const QChar c = source_.at(at_);
        if (const qsizetype end = math_.endAt(at_); end > 0) {
            QString formula = source_.mid(at_, end - at_);
            flush();
            // A label is a text without parts.
            if (auto math = is_label_ ? nullptr : parseMath(formula)) {
                pieces_.push_back({QString(kFormulaUnit),
                                   InlineSpan::Math,
                                   formula,
                                   {},
                                   0,
                                   false,
                                   false,
                                   std::move(math)});
            } else {
                formula.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
                pieces_.push_back({formula, InlineSpan::Code, {}, {}, 0, false, false});
            }
            at_ = end;
        } else if (c == QLatin1Char('\\') && at_ + 1 < source_.size() &&
                   isPunctuation(source_.at(at_ + 1))) {
            // A formula whose other half is missing, or still to come, keeps its backslash too.
            const bool is_half = QStringLiteral("()[]").contains(source_.at(at_ + 1));
            plain_ += source_.mid(is_half ? at_ : at_ + 1, is_half ? 2 : 1);
            at_ += 2;
        } else if (c == QLatin1Char('\n')) {
            plain_ += QChar(QChar::LineSeparator);
            ++at_;
        } else if (c == QLatin1Char('`')) {
            codeSpan();
        } else if (c == QLatin1Char('[') || c == QLatin1Char('!')) {
            link();
        } else if (c == QLatin1Char('<') || c == QLatin1Char('h')) {
            bareLink();
        } else if (c == QLatin1Char('*') || c == QLatin1Char('_') || c == QLatin1Char('~')) {
            delimiterRun(c);
        } else {
            plain_ += c;
            ++at_;
        }
    }

    void flush() {
        if (!plain_.isEmpty()) {
            pieces_.push_back({plain_, 0, {}, {}, 0, false, false});
            plain_.clear();
        }
    }

    void codeSpan() {
        qsizetype run = 0;
        while (at_ + run < source_.size() && source_.at(at_ + run) == QLatin1Char('`')) {
            ++run;
        }
        // The end is a run of exactly the same length.
        const qsizetype end = nextRun(run, at_ + run);
        if (end < 0) {
            plain_ += source_.mid(at_, run);
            at_ += run;
            return;
        }
        QString code = source_.mid(at_ + run, end - at_ - run);
        code.replace(QLatin1Char('\n'), QLatin1Char(' '));
        if (code.size() > 2 && code.startsWith(QLatin1Char(' ')) &&
            code.endsWith(QLatin1Char(' '))) {
            code = code.mid(1, code.size() - 2);
        }
        flush();
        pieces_.push_back({code, InlineSpan::Code, {}, {}, 0, false, false});
        at_ = end + run;
    }

    /// Where the next run of exactly `length` backticks begins, or -1.
    qsizetype nextRun(qsizetype length, qsizetype from) {
        if (runs_.isEmpty()) {
            for (qsizetype at = source_.indexOf(QLatin1Char('`'), at_); at >= 0;) {
                qsizetype end = at;
                while (end < source_.size() && source_.at(end) == QLatin1Char('`')) {
                    ++end;
                }
                runs_[end - at].push_back(at);
                at = source_.indexOf(QLatin1Char('`'), end);
            }
        }
        return firstFrom(runs_, length, from);
    }

    /// The bracket that closes the one at `open`, or -1.
    qsizetype closingBracket(qsizetype open) {
        if (closing_.empty()) {
            closing_.resize(static_cast<size_t>(source_.size()), -1);
            std::vector<qsizetype> opened;
            for (qsizetype at = open; at < source_.size(); ++at) {
                const QChar c = source_.at(at);
                if (c == QLatin1Char('\\')) {
                    ++at;
                } else if (c == QLatin1Char('[')) {
                    opened.push_back(at);
                } else if (c == QLatin1Char(']') && !opened.empty()) {
                    closing_[static_cast<size_t>(opened.back())] = at;
                    opened.pop_back();
                }
            }
        }
        return closing_[static_cast<size_t>(open)];
    }

    /// [text](address) and ![text](address); pictures from the network are never fetched.
    void link() {
        const bool is_picture = source_.at(at_) == QLatin1Char('!');
        const qsizetype open = at_ + (is_picture ? 1 : 0);
        if (links_left_ == 0 || open >= source_.size() || source_.at(open) != QLatin1Char('[')) {
            plain_ += source_.at(at_++);
            return;
        }
        const qsizetype close = closingBracket(open);
        const qsizetype limit = std::min(source_.size(), open + kLongestLabel);
        if (close < 0 || close + 1 >= limit || source_.at(close + 1) != QLatin1Char('(')) {
            plain_ += source_.at(at_++);
            return;
        }
        const qsizetype length =
            QStringView(source_).mid(close + 2, kLongestLabel).indexOf(QLatin1Char(')'));
        if (length < 0) {
            plain_ += source_.at(at_++);
            return;
        }
        const qsizetype end = close + 2 + length;
        QString url = source_.mid(close + 2, end - close - 2).trimmed();
        url = url.section(QLatin1Char(' '), 0, 0); // an optional title follows
        const QString label = source_.mid(open + 1, close - open - 1);
        flush();
        if (isSafeUrl(url)) {
            const InlineText inner = InlineParser(label, links_left_ - 1, true).run();
            pieces_.push_back(
                {inner.text.isEmpty() ? url : inner.text, InlineSpan::Link, url, {}, 0, {}, {}});
        } else {
            pieces_.push_back({label, 0, {}, {}, 0, false, false});
        }
        at_ = end + 1;
    }

    /// <https://...> and https://... in running text.
    void bareLink() {
        const bool is_bracketed = source_.at(at_) == QLatin1Char('<');
        const qsizetype start = at_ + (is_bracketed ? 1 : 0);
        const QStringView rest = QStringView(source_).mid(start, 8);
        if (!rest.startsWith(QLatin1String("http://")) &&
            !rest.startsWith(QLatin1String("https://"))) {
            plain_ += source_.at(at_++);
            return;
        }
        qsizetype end = start;
        while (end < source_.size() && !source_.at(end).isSpace() &&
               source_.at(end) != QLatin1Char('>') && source_.at(end) != QLatin1Char('<') &&
               source_.at(end) != QLatin1Char('"')) {
            ++end;
        }
        if (is_bracketed && (end >= source_.size() || source_.at(end) != QLatin1Char('>'))) {
            plain_ += source_.at(at_++);
            return;
        }
        if (!is_bracketed) {
            while (end > start && QStringLiteral(".,;:!?)*_'").contains(source_.at(end - 1))) {
                --end;
            }
        }
        const QString url = source_.mid(start, end - start);
        flush();
        pieces_.push_back({url, InlineSpan::Link, url, {}, 0, false, false});
        at_ = end + (is_bracketed ? 1 : 0);
    }

    void delimiterRun(QChar c) {
        qsizetype run = 0;
        while (at_ + run < source_.size() && source_.at(at_ + run) == c) {
            ++run;
        }
        if (c == QLatin1Char('~') && run != 2) {
            plain_ += source_.mid(at_, run);
            at_ += run;
            return;
        }
        const QChar before = at_ > 0 ? source_.at(at_ - 1) : QLatin1Char(' ');
        const QChar after = at_ + run < source_.size() ? source_.at(at_ + run) : QLatin1Char(' ');
        const bool opens = !after.isSpace() &&
                           (!isPunctuation(after) || before.isSpace() || isPunctuation(before));
        const bool closes = !before.isSpace() &&
                            (!isPunctuation(before) || after.isSpace() || isPunctuation(after));
        flush();
        Piece piece;
        piece.delimiter = c;
        piece.count = static_cast<int>(run);
        // An underscore inside a word is part of a name.
        const bool is_underscore = c == QLatin1Char('_');
        piece.can_open = opens && (!is_underscore || !closes || isPunctuation(before));
        piece.can_close = closes && (!is_underscore || !opens || isPunctuation(after));
        pieces_.push_back(piece);
        at_ += run;
    }

    /// Each run closes the nearest one before it that is still open; what stands between is styled,
    /// and runs there are crossed. Three stacks of open runs, so that none is looked at twice.
    void resolveEmphasis() {
        constexpr QLatin1Char kDelimiters[] = {QLatin1Char('*'), QLatin1Char('_'),
                                               QLatin1Char('~')};
        std::vector<size_t> open[3];
        std::vector<std::array<int, 3>> changes(pieces_.size() + 1); // bold, italic, strike
        for (size_t closer = 0; closer < pieces_.size(); ++closer) {
            Piece& piece = pieces_[closer];
            if (piece.delimiter.isNull()) {
                continue;
            }
            const auto kind = static_cast<size_t>(
                std::find(std::begin(kDelimiters), std::end(kDelimiters), piece.delimiter) -
                std::begin(kDelimiters));
            while (piece.can_close && piece.count > 0 && !open[kind].empty()) {
                const size_t opener = open[kind].back();
                const int used = std::min(pieces_[opener].count, piece.count) >= 2 ? 2 : 1;
                const size_t style = piece.delimiter == QLatin1Char('~') ? 2 : used == 2 ? 0 : 1;
                ++changes[opener + 1][style];
                --changes[closer][style];
                for (std::vector<size_t>& stack : open) {
                    while (!stack.empty() && stack.back() > opener) {
                        stack.pop_back(); // crossed
                    }
                }
                pieces_[opener].count -= used;
                piece.count -= used;
                if (pieces_[opener].count == 0) {
                    open[kind].pop_back();
                }
            }
            if (piece.can_open && piece.count > 0) {
                open[kind].push_back(closer);
            }
        }
        constexpr uint8_t kStyles[] = {InlineSpan::Bold, InlineSpan::Italic, InlineSpan::Strike};
        int depth[3] = {};
        for (size_t i = 0; i < pieces_.size(); ++i) {
            for (size_t style = 0; style < 3; ++style) {
                depth[style] += changes[i][style];
                if (depth[style] > 0) {
                    pieces_[i].styles = static_cast<uint8_t>(pieces_[i].styles | kStyles[style]);
                }
            }
        }
    }

    InlineText join() {
        InlineText result;
        for (const Piece& piece : pieces_) {
            const QString text =
                piece.delimiter.isNull() ? piece.text : QString(piece.count, piece.delimiter);
            if (text.isEmpty()) {
                continue;
            }
            if (piece.styles != 0) {
                result.spans.push_back(
                    {result.text.size(), text.size(), piece.styles, piece.url, piece.math});
            }
            result.text += text;
        }
        return result;
    }

    static constexpr qsizetype kLongestLabel = 2000; ///< Keeps an unclosed bracket cheap.

    const QString& source_;
    MathEnds math_;
    int links_left_;
    bool is_label_;                                 ///< The text is the label of a link.
    QHash<qsizetype, std::vector<qsizetype>> runs_; ///< Runs of backticks, by length.
    std::vector<qsizetype> closing_;                ///< By place of an opening bracket.
    qsizetype at_ = 0;
    QString plain_;
    std::vector<Piece> pieces_;
};

} // namespace

QStringView mathName(QStringView text) {
    constexpr qsizetype kLongestName = 64;
    const qsizetype brace = text.left(kLongestName).indexOf(QLatin1Char('}'));
    return brace < 0 ? QStringView() : text.left(brace);
}

qsizetype MathEnds::endAt(qsizetype at) {
    const QChar c = source_.at(at);
    if (c != QLatin1Char('$') && c != QLatin1Char('\\')) {
        return -1;
    }
    const QStringView rest = QStringView(source_).mid(at);
    if (rest.startsWith(QLatin1String("$$"))) {
        const qsizetype end = closedBy(at + 2, u"$$", no_dollars_);
        return end > at + 4 ? end : -1;
    }
    if (c == QLatin1Char('$')) {
        return dollarEnd(at);
    }
    if (rest.startsWith(QLatin1String("\\("))) {
        return closedBy(at + 2, u"\\)", no_round_);
    }
    if (rest.startsWith(QLatin1String("\\["))) {
        return closedBy(at + 2, u"\\]", no_square_);
    }
    return rest.startsWith(kMathBegin) ? namedEnd(at + kMathBegin.size()) : -1;
}

/// A backslash takes the letter behind it along, so that the \\) of a line break in a formula ends
/// nothing. `none_from`: from where on nothing was found before.
qsizetype MathEnds::closedBy(qsizetype from, QStringView closing, qsizetype& none_from) const {
    if (from >= none_from) {
        return -1;
    }
    for (qsizetype i = from; i + closing.size() <= source_.size(); ++i) {
        if (QStringView(source_).mid(i, closing.size()) == closing) {
            return i + closing.size();
        }
        if (source_.at(i) == QLatin1Char('\\')) {
            ++i;
        }
    }
    none_from = from;
    return -1;
}

/// $x$: a dollar that touches the formula inside and no word or number outside. "$5 and $6" and
/// "5$ or 6$" are prices.
qsizetype MathEnds::dollarEnd(qsizetype at) {
    const auto isWord = [&](qsizetype i) {
        return i >= 0 && i < source_.size() && source_.at(i).isLetterOrNumber();
    };
    const auto isGap = [&](qsizetype i) {
        return i < 0 || i >= source_.size() || source_.at(i).isSpace();
    };
    const auto opens = [&](qsizetype i) { return !isGap(i + 1) && !isWord(i - 1); };
    if (!opens(at) || at < no_dollar_before_) {
        return -1;
    }
    qsizetype i = at + 1;
    for (; i < source_.size() && source_.at(i) != QLatin1Char('\n'); ++i) {
        if (source_.at(i) == QLatin1Char('\\')) {
            ++i;
        } else if (source_.at(i) == QLatin1Char('$')) {
            if (i > at + 1 && !isGap(i - 1) && !isWord(i + 1)) {
                return looksLikePrices(QStringView(source_).mid(at + 1, i - at - 1)) ? -1 : i + 1;
            }
            if (opens(i)) {
                return -1; // the next one begins, this one was a price
            }
        }
    }
    no_dollar_before_ = i;
    return -1;
}

qsizetype MathEnds::namedEnd(qsizetype at) {
    const QStringView name = mathName(QStringView(source_).mid(at));
    if (name.isEmpty()) {
        return -1;
    }
    if (!has_ends_) {
        constexpr QLatin1String kEnd("\\end{");
        for (qsizetype i = source_.indexOf(kEnd, at); i >= 0; i = source_.indexOf(kEnd, i + 1)) {
            const qsizetype begin = i + kEnd.size();
            ends_[mathName(QStringView(source_).mid(begin)).toString()].push_back(begin);
        }
        has_ends_ = true;
    }
    const qsizetype found = firstFrom(ends_, name.toString(), at + name.size());
    return found < 0 ? -1 : found + name.size() + 1;
}

InlineText parseInline(const QString& source) {
    constexpr int kMostLinks = 3;
    return InlineParser(source, kMostLinks).run();
}

InlineText parseCell(const QString& source) {
    constexpr qsizetype kLongestCell = 3000;
    return source.size() > kLongestCell ? plainInline(source) : parseInline(source);
}

InlineText plainInline(const QString& source) {
    InlineText result;
    result.text = source;
    result.text.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
    return result;
}

} // namespace ui
