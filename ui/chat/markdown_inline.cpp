// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/markdown_inline.h"

#include <QStringView>

#include <algorithm>

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

/// Behind the next `closing` from `from` on; a backslash takes the letter behind it along, so that
/// the \\) of a line break in a formula ends nothing.
qsizetype closedBy(const QString& source, qsizetype from, QStringView closing) {
    for (qsizetype i = from; i + closing.size() <= source.size(); ++i) {
        if (QStringView(source).mid(i, closing.size()) == closing) {
            return i + closing.size();
        }
        if (source.at(i) == QLatin1Char('\\')) {
            ++i;
        }
    }
    return -1;
}

/// "10, or 3", between two dollars.
bool looksLikePrices(QStringView inside) {
    return inside.front().isDigit() && inside.contains(QLatin1Char(' ')) &&
           std::none_of(inside.begin(), inside.end(),
                        [](QChar c) { return QStringLiteral("\\^_={}+<>").contains(c); });
}

/// $x$: a dollar that touches the formula inside and no word or number outside. "$5 and $6" and
/// "5$ or 6$" are prices.
qsizetype dollarEnd(const QString& source, qsizetype at) {
    const auto isWord = [&](qsizetype i) {
        return i >= 0 && i < source.size() && source.at(i).isLetterOrNumber();
    };
    const auto isGap = [&](qsizetype i) {
        return i < 0 || i >= source.size() || source.at(i).isSpace();
    };
    const auto opens = [&](qsizetype i) { return !isGap(i + 1) && !isWord(i - 1); };
    if (!opens(at)) {
        return -1;
    }
    for (qsizetype i = at + 1; i < source.size() && source.at(i) != QLatin1Char('\n'); ++i) {
        if (source.at(i) == QLatin1Char('\\')) {
            ++i;
        } else if (source.at(i) == QLatin1Char('$')) {
            if (i > at + 1 && !isGap(i - 1) && !isWord(i + 1)) {
                return looksLikePrices(QStringView(source).mid(at + 1, i - at - 1)) ? -1 : i + 1;
            }
            if (opens(i)) {
                return -1; // the next one begins, this one was a price
            }
        }
    }
    return -1;
}

class InlineParser {
public:
    explicit InlineParser(const QString& source) : source_(source) {}

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
        if (const qsizetype end = mathEnd(source_, at_); end > 0) {
            QString formula = source_.mid(at_, end - at_);
            formula.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
            flush();
            pieces_.push_back({formula, InlineSpan::Code, {}, {}, 0, false, false});
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
        qsizetype end = at_ + run;
        while (end < source_.size()) {
            if (source_.at(end) != QLatin1Char('`')) {
                ++end;
                continue;
            }
            qsizetype closing = 0;
            while (end + closing < source_.size() &&
                   source_.at(end + closing) == QLatin1Char('`')) {
                ++closing;
            }
            if (closing == run) {
                QString code = source_.mid(at_ + run, end - at_ - run);
                code.replace(QLatin1Char('\n'), QLatin1Char(' '));
                if (code.size() > 2 && code.startsWith(QLatin1Char(' ')) &&
                    code.endsWith(QLatin1Char(' '))) {
                    code = code.mid(1, code.size() - 2);
                }
                flush();
                pieces_.push_back({code, InlineSpan::Code, {}, {}, 0, false, false});
                at_ = end + run;
                return;
            }
            end += closing;
        }
        plain_ += source_.mid(at_, run);
        at_ += run;
    }

    /// [text](address) and ![text](address); pictures from the network are never fetched.
    void link() {
        const bool is_picture = source_.at(at_) == QLatin1Char('!');
        const qsizetype open = at_ + (is_picture ? 1 : 0);
        if (open >= source_.size() || source_.at(open) != QLatin1Char('[')) {
            plain_ += source_.at(at_++);
            return;
        }
        int depth = 0;
        qsizetype close = open;
        const qsizetype limit = std::min(source_.size(), open + kLongestLabel);
        for (; close < limit; ++close) {
            const QChar c = source_.at(close);
            if (c == QLatin1Char('\\')) {
                ++close;
            } else if (c == QLatin1Char('[')) {
                ++depth;
            } else if (c == QLatin1Char(']') && --depth == 0) {
                break;
            }
        }
        if (close + 1 >= limit || source_.at(close + 1) != QLatin1Char('(')) {
            plain_ += source_.at(at_++);
            return;
        }
        const qsizetype end = source_.indexOf(QLatin1Char(')'), close + 2);
        if (end < 0 || end - close > kLongestLabel) {
            plain_ += source_.at(at_++);
            return;
        }
        QString url = source_.mid(close + 2, end - close - 2).trimmed();
        url = url.section(QLatin1Char(' '), 0, 0); // an optional title follows
        const QString label = source_.mid(open + 1, close - open - 1);
        flush();
        if (isSafeUrl(url)) {
            const InlineText inner = parseInline(label);
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

    void resolveEmphasis() {
        for (size_t closer = 0; closer < pieces_.size(); ++closer) {
            while (pieces_[closer].can_close && pieces_[closer].count > 0) {
                size_t opener = closer;
                bool is_found = false;
                while (opener > 0) {
                    --opener;
                    const Piece& piece = pieces_[opener];
                    if (piece.delimiter == pieces_[closer].delimiter && piece.can_open &&
                        piece.count > 0) {
                        is_found = true;
                        break;
                    }
                }
                if (!is_found) {
                    break;
                }
                const int used =
                    std::min(pieces_[opener].count, pieces_[closer].count) >= 2 ? 2 : 1;
                const uint8_t style = pieces_[closer].delimiter == QLatin1Char('~')
                                          ? uint8_t{InlineSpan::Strike}
                                      : used == 2 ? uint8_t{InlineSpan::Bold}
                                                  : uint8_t{InlineSpan::Italic};
                for (size_t i = opener + 1; i < closer; ++i) {
                    pieces_[i].styles = static_cast<uint8_t>(pieces_[i].styles | style);
                    if (!pieces_[i].delimiter.isNull()) {
                        pieces_[i].can_open = false; // crossed
                        pieces_[i].can_close = false;
                    }
                }
                pieces_[opener].count -= used;
                pieces_[closer].count -= used;
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
                result.spans.push_back({result.text.size(), text.size(), piece.styles, piece.url});
            }
            result.text += text;
        }
        return result;
    }

    static constexpr qsizetype kLongestLabel = 2000; ///< Keeps an unclosed bracket cheap.

    const QString& source_;
    qsizetype at_ = 0;
    QString plain_;
    std::vector<Piece> pieces_;
};

} // namespace

qsizetype mathEnd(const QString& source, qsizetype at) {
    const QStringView rest = QStringView(source).mid(at);
    if (rest.startsWith(QLatin1String("$$"))) {
        const qsizetype end = closedBy(source, at + 2, u"$$");
        return end > at + 4 ? end : -1;
    }
    if (rest.startsWith(QLatin1Char('$'))) {
        return dollarEnd(source, at);
    }
    if (rest.startsWith(QLatin1String("\\("))) {
        return closedBy(source, at + 2, u"\\)");
    }
    if (rest.startsWith(QLatin1String("\\["))) {
        return closedBy(source, at + 2, u"\\]");
    }
    if (rest.startsWith(kMathBegin)) {
        const qsizetype brace = source.indexOf(QLatin1Char('}'), at);
        const QString name =
            brace < 0 ? QString()
                      : source.mid(at + kMathBegin.size(), brace - at - kMathBegin.size());
        const QString end = QStringLiteral("\\end{%1}").arg(name);
        const qsizetype found = name.isEmpty() ? -1 : source.indexOf(end, brace);
        return found < 0 ? -1 : found + end.size();
    }
    return -1;
}

InlineText parseInline(const QString& source) {
    return InlineParser(source).run();
}

InlineText plainInline(const QString& source) {
    InlineText result;
    result.text = source;
    result.text.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
    return result;
}

} // namespace ui
