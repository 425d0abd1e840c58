// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/folder_words.h"

#include "ui/style/format.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>

namespace ui {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(ui::FolderProblem)
};

QString detail(const engine::Error& error, const char* key) {
    const auto found = std::find_if(error.details.begin(), error.details.end(),
                                    [key](const auto& pair) { return pair.first == key; });
    return found == error.details.end() ? QString() : fromUtf8(found->second);
}

/// Of the engine's sentence about model_type; nothing when it is about something else.
QString kindWords(const QString& message) {
    static const QRegularExpression kPattern(
        QStringLiteral("^config\\.json: model_type is \"([^\"]*)\": (.*)$"));
    const QRegularExpressionMatch match = kPattern.match(message);
    if (!match.hasMatch()) {
        return {};
    }
    const QString why = match.captured(2);
    if (why.startsWith(QStringLiteral("the encoder-free"))) {
        return Words::tr("It holds Gemma 4 12B (unified), which Belfry does not run yet. It runs "
                         "E2B, E4B, 26B-A4B and 31B.");
    }
    if (why.startsWith(QStringLiteral("a speculative-decoding assistant"))) {
        return Words::tr("It holds a helper for faster decoding, not a model to chat with. Choose "
                         "the folder of the model that it belongs to.");
    }
    return Words::tr("It holds a model of another kind (%1). Belfry runs Gemma 4: E2B, E4B, "
                     "26B-A4B and 31B.")
        .arg(match.captured(1));
}

} // namespace

QString folderProblem(const engine::Error& error, bool is_gone) {
    if (is_gone) {
        return Words::tr("The folder is not there any more: moved, renamed or deleted.");
    }
    const QString message = fromUtf8(error.message);
    const QString file = detail(error, "file");
    if (detail(error, "rule") == QStringLiteral("FileMissing") && !file.isEmpty()) {
        return file == QStringLiteral("config.json")
                   ? Words::tr("There is no config.json in it. Choose the folder that holds a "
                               "Hugging Face model.")
                   : Words::tr("%1 is missing in it. Download the file into the folder.").arg(file);
    }
    const QString kind = kindWords(message);
    return kind.isEmpty() ? message : kind;
}

QString adapterProblem(const engine::Error& error) {
    static const QRegularExpression kOtherShape(
        QStringLiteral("^adapter_model.*shape \\[[^\\]]*\\], expected \\["),
        QRegularExpression::DotMatchesEverythingOption);
    return kOtherShape.match(fromUtf8(error.message)).hasMatch()
               ? Words::tr("It was trained for a model of another size. Choose the model that it "
                           "was trained for, or another adapter.")
               : QString();
}

} // namespace ui
