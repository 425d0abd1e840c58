// SPDX-License-Identifier: Apache-2.0
#include "ui/common/error_words.h"

#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"
#include "ui/common/suggestion_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <variant>

namespace ui {

namespace {

using namespace engine::cause;

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
            text += QStringLiteral("\n• ") + suggestionWords(suggestion);
        }
    }
    return text;
}

QString words(const BadPlan& c) {
    constexpr size_t kMostTold = 8;
    QStringList lines;
    for (size_t i = 0; i < c.errors.size() && i < kMostTold; ++i) {
        lines << placed(c.errors[i]);
    }
    if (c.errors.size() > kMostTold) {
        lines << Words::tr("(and %1 more)")
                     .arg(formatCount(static_cast<qint64>(c.errors.size() - kMostTold)));
    }
    return lines.join(QLatin1Char('\n'));
}

QString words(const PromptTooLong& c) {
    return Words::tr("The prompt has %1 tokens, the context holds %2. Shorten the conversation, or "
                     "load with a larger “Context”.")
        .arg(formatCount(c.tokens), formatCount(c.context));
}

QString words(const ContextFull& c) {
    return Words::tr("The context is full: %1 tokens are held, %2 more do not fit into %3. Start a "
                     "new chat, or load with a larger “Context”.")
        .arg(formatCount(c.held), formatCount(c.more), formatCount(c.context));
}

QString words(const TooManyImageTokens& c) {
    return Words::tr("%1 tokens per picture were asked for; the model was loaded for at most %2. "
                     "Load it again for that many.")
        .arg(formatCount(c.asked), formatCount(c.loaded));
}

QString words(const PictureTooLarge& c) {
    return Words::tr("The picture has %1 × %2 patches, more than the model was loaded for. Load it "
                     "with more tokens per picture.")
        .arg(formatCount(c.grid_w), formatCount(c.grid_h));
}

QString words(const PictureOverCall& c) {
    return Words::tr("A picture has more tokens than are read at once (%1). Load the model with "
                     "more tokens per picture.")
        .arg(formatCount(c.tokens));
}

QString words(const BadOption& c) {
    const QString option = c.option == BadOption::Option::Weights ? Words::tr("“Weights”")
                           : c.option == BadOption::Option::Head  ? Words::tr("the format of the "
                                                                               "head")
                                                                  : Words::tr("the size of blocks");
    if (c.expected.empty()) {
        return Words::tr("%1 cannot be %2: a power of two from 32 to 4096 is possible.")
            .arg(option, fromUtf8(c.value));
    }
    QStringList expected;
    for (const std::string& word : c.expected) {
        expected << fromUtf8(word);
    }
    return Words::tr("%1 cannot be %2: possible are %3.")
        .arg(option, fromUtf8(c.value), expected.join(QStringLiteral(", ")));
}

QString words(const NotFiniteOnce& /*c*/) {
    return Words::tr("Values that are not finite came out; computed once more, every layer gave "
                     "finite ones. A device or its memory may be failing. Try again, or with "
                     "everything on the CPU.");
}

QString words(const TowerLeftOut& c) {
    return c.is_sound ? Words::tr("The model is loaded for text only, without its audio tower: it "
                                  "cannot hear sounds. Turn off “Text only” and load it again.")
                      : Words::tr("The model is loaded for text only, without its vision tower: it "
                                  "cannot see pictures. Turn off “Text only” and load it again.");
}

} // namespace

QString errorWords(const engine::Error& error) {
    if (error.cause != nullptr) {
        return std::visit([](const auto& one) { return words(one); }, error.cause->what);
    }
    return error.sentence.isEmpty() ? fromUtf8(error.message) : sentenceWords(error.sentence);
}

QString errorSentence(const engine::Error& error) {
    return error.cause != nullptr || error.sentence.isEmpty() ? errorWords(error)
                                                              : wholeSentence(error.sentence);
}

} // namespace ui
