// SPDX-License-Identifier: Apache-2.0
#include "ui/common/sentence_words.h"

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

} // namespace

QString sentenceWords(const engine::Sentence& sentence) {
    const QString pattern = QCoreApplication::translate("engine::Sentence", sentence.pattern);
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

} // namespace ui
