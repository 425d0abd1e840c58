// SPDX-License-Identifier: Apache-2.0
#include "app/store/session_file.h"

#include "app/store/database.h"
#include "app/store/durable_folder.h"
#include "app/store/save_file.h"
#include "ui/common/error_words.h"
#include "ui/common/private_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>

namespace app {

namespace {

constexpr qint64 kMaxBytes = qint64{32} << 20U; // drafts are text that somebody typed or pasted

QString key(const char* name) {
    return QString::fromLatin1(name);
}

} // namespace

SessionFile::SessionFile(const QString& folder) : file_(folder + QStringLiteral("/session.json")) {}

PreviousSession SessionFile::read() const {
    PreviousSession previous;
    const auto text = readFile(file_, kMaxBytes);
    if (!text.has_value()) {
        return previous;
    }
    const QJsonDocument document = QJsonDocument::fromJson(*text);
    if (!document.isObject()) {
        return previous;
    }
    const QJsonObject object = document.object();
    previous.exists = true;
    previous.state.chat = object.value(key("chat")).toString();
    previous.state.drafts = object.value(key("drafts")).toArray();
    if (const QString draft = object.value(key("draft")).toString(); !draft.isEmpty()) {
        // Written when there was one for all chats.
        previous.state.drafts.append(
            QJsonObject{{key("chat"), previous.state.chat}, {key("text"), draft}});
    }
    previous.state.loading = object.value(key("loading")).toString();
    previous.state.loaded = object.value(key("loaded")).toString();
    previous.state.options = object.value(key("options")).toObject();
    previous.state.is_over = object.value(key("over")).toBool();
    previous.state.resumes = object.value(key("resumes")).toBool();
    return previous;
}

engine::Result<void> SessionFile::write(const SessionState& state) const {
    makeDurableFolder(QFileInfo(file_).path());
    QJsonObject object{{key("chat"), state.chat},       {key("drafts"), state.drafts},
                       {key("loading"), state.loading}, {key("loaded"), state.loaded},
                       {key("options"), state.options}, {key("over"), state.is_over}};
    if (state.resumes) {
        object.insert(key("resumes"), true);
    }
    QByteArray text = QJsonDocument(object).toJson(QJsonDocument::Compact);
    for (QJsonArray drafts = state.drafts; text.size() > kMaxBytes && !drafts.isEmpty();) {
        drafts.removeFirst(); // the oldest: a larger file would not be read at all
        object.insert(key("drafts"), drafts);
        text = QJsonDocument(object).toJson(QJsonDocument::Compact);
    }
    const auto saved = saveFile(file_, text);
    if (saved.has_value()) {
        ui::makePrivate(file_);
        return {};
    }
    return storeError(
        StoreProblem::ReadOnly,
        QCoreApplication::translate("app::SessionFile",
                                    "%1 could not be written (%2), so the open chat is not "
                                    "remembered. Make the folder writable.")
            .arg(QDir::toNativeSeparators(file_), ui::errorWords(saved.error())));
}

} // namespace app
