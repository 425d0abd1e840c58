// SPDX-License-Identifier: Apache-2.0
#include "app/store/session_file.h"

#include "app/store/database.h"
#include "app/store/durable_folder.h"
#include "app/store/save_file.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>

namespace app {

namespace {

constexpr qint64 kMaxBytes = qint64{4} << 20U; // a draft is text that somebody typed

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
    previous.state.draft = object.value(key("draft")).toString();
    previous.state.loading = object.value(key("loading")).toString();
    previous.state.loaded = object.value(key("loaded")).toString();
    previous.state.options = object.value(key("options")).toObject();
    previous.state.is_over = object.value(key("over")).toBool();
    previous.state.resumes = object.value(key("resumes")).toBool();
    return previous;
}

engine::Result<void> SessionFile::write(const SessionState& state) const {
    makeDurableFolder(QFileInfo(file_).path());
    QJsonObject object{{key("chat"), state.chat},       {key("draft"), state.draft},
                       {key("loading"), state.loading}, {key("loaded"), state.loaded},
                       {key("options"), state.options}, {key("over"), state.is_over}};
    if (state.resumes) {
        object.insert(key("resumes"), true);
    }
    const auto saved = saveFile(file_, QJsonDocument(object).toJson(QJsonDocument::Compact));
    if (saved.has_value()) {
        return {};
    }
    return storeError(
        StoreProblem::ReadOnly,
        QCoreApplication::translate("app::SessionFile",
                                    "%1 could not be written (%2), so the open chat is not "
                                    "remembered. Make the folder writable.")
            .arg(QDir::toNativeSeparators(file_), QString::fromStdString(saved.error().message)));
}

} // namespace app
