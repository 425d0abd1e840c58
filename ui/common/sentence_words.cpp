// SPDX-License-Identifier: Apache-2.0
#include "ui/common/sentence_words.h"

#include "ui/common/issue_words.h"
#include "ui/common/window_sentences.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <variant>

namespace ui {

namespace {

QString words(const std::string& text) {
    return fromUtf8(text);
}
QString words(int64_t number) {
    return QLocale().toString(static_cast<qlonglong>(number));
}
QString words(uint64_t number) {
    return QLocale().toString(static_cast<qulonglong>(number));
}
QString words(double number) {
    return QLocale().toString(number, 'g', 6);
}
QString words(const engine::Sentence& sentence) {
    return sentenceWords(sentence);
}
QString words(engine::ByteCount amount) {
    return formatBytes(amount.bytes);
}
QString words(engine::Duration time) {
    return formatDuration(time.seconds);
}
QString words(engine::Rate rate) {
    return formatRate(rate.per_second);
}
QString words(engine::DeviceId device) {
    return deviceName(device.toString());
}
QString words(const engine::FormatName& format) {
    return quantName(fromUtf8(format.option));
}
QString words(const engine::PlanPart& part) {
    return partWords(part);
}

} // namespace

/// In the user's language, and in the window's words where the engine's are the terminal's.
static QString patternOf(const engine::Sentence& sentence) {
    const char* const own = windowPattern(sentence.pattern);
    return own != nullptr ? QCoreApplication::translate("ui::WindowSentence", own)
                          : QCoreApplication::translate("engine::Sentence", sentence.pattern);
}

QString sentenceWords(const engine::Sentence& sentence) {
    const QString pattern = patternOf(sentence);
    QString out;
    // Not QString::arg(): what stands in a place may hold a %1 of its own.
    for (qsizetype i = 0; i < pattern.size(); ++i) {
        const int place = pattern[i] == QLatin1Char('%') && i + 1 < pattern.size()
                              ? pattern[i + 1].digitValue()
                              : -1;
        if (place >= 1 && static_cast<size_t>(place) <= sentence.arguments.size()) {
            out += std::visit([](const auto& value) { return words(value); },
                              sentence.arguments[static_cast<size_t>(place) - 1].value);
            ++i;
        } else {
            out += pattern[i];
        }
    }
    return out;
}

/// "config.json", "--in-process", "cuda:0" and "num_layers" are spelled as they are.
static bool isProse(const QString& pattern) {
    const auto is_of_word = [](QChar c) {
        return c.isLetter() || c == QLatin1Char('\'') || c == QLatin1Char('-') ||
               c == QChar(0x2019);
    };
    qsizetype end = 0;
    while (end < pattern.size() && is_of_word(pattern[end])) {
        ++end;
    }
    if (end > 0 && end < pattern.size() && pattern[end].isPunct()) {
        end += end + 1 == pattern.size() || pattern[end + 1].isSpace() ? 1 : 0;
    }
    return end > 0 && pattern[0].isLetter() && (end == pattern.size() || pattern[end].isSpace());
}

/// Whether the pattern begins with a word of prose, or that of the sentence that stands first in
/// it.
static bool beginsInProse(const engine::Sentence& sentence) {
    const QString pattern = patternOf(sentence);
    if (!pattern.startsWith(QLatin1Char('%'))) {
        return isProse(pattern);
    }
    const int place = pattern.size() > 1 ? pattern[1].digitValue() : -1;
    if (place < 1 || static_cast<size_t>(place) > sentence.arguments.size()) {
        return false;
    }
    const auto* const first =
        std::get_if<engine::Sentence>(&sentence.arguments[static_cast<size_t>(place) - 1].value);
    return first != nullptr && beginsInProse(*first);
}

QString wholeSentence(const engine::Sentence& sentence) {
    QString words = sentenceWords(sentence);
    if (words.isEmpty()) {
        return words;
    }
    if (beginsInProse(sentence)) {
        words[0] = words[0].toUpper();
    }
    const QChar last = words.back();
    const bool is_open = last.isLetterOrNumber() || last == QLatin1Char(')') ||
                         last == QLatin1Char('"') || last == QChar(0x201C) ||
                         last == QChar(0x201D) || last == QChar(0x00BB) ||
                         last == QLatin1Char('\'');
    return is_open ? words + QLatin1Char('.') : words;
}

} // namespace ui
