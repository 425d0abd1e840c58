// SPDX-License-Identifier: Apache-2.0
#include "ui/common/error_words.h"

#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <vector>

namespace ui {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(ui::ErrorCause)
};

QString placed(const engine::PlanIssue& issue) {
    QString text = issueWords(issue);
    if (issue.line > 0) {
        text = Words::tr("Line %1, column %2: %3").arg(issue.line).arg(issue.column).arg(text);
    }
    if (issue.code == "DM09") { // others suggest values to put in, which the text names
        for (const engine::Suggestion& suggestion : issue.suggestions) {
            text += QStringLiteral("\n• ") + sentenceWords(suggestion.words);
        }
    }
    return text;
}

QString placed(const std::vector<engine::PlanIssue>& errors) {
    constexpr size_t kMostTold = 8;
    QStringList lines;
    for (size_t i = 0; i < errors.size() && i < kMostTold; ++i) {
        lines << placed(errors[i]);
    }
    if (errors.size() > kMostTold) {
        lines << Words::tr("(and %1 more)")
                     .arg(formatCount(static_cast<qint64>(errors.size() - kMostTold)));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

QString errorWords(const engine::Error& error) {
    if (error.cause != nullptr) {
        return placed(error.cause->errors);
    }
    return error.sentence.isEmpty() ? fromUtf8(error.message) : sentenceWords(error.sentence);
}

QString errorSentence(const engine::Error& error) {
    return error.cause != nullptr || error.sentence.isEmpty() ? errorWords(error)
                                                              : wholeSentence(error.sentence);
}

} // namespace ui
