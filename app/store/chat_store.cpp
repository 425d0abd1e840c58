// SPDX-License-Identifier: Apache-2.0
#include "app/store/chat_store.h"

#include "app/store/export_files.h"
#include "app/store/search_text.h"
#include "ui/common/error_words.h"
#include "ui/common/unique_id.h"

#include <QMetaObject>

#include <algorithm>
#include <utility>

namespace app {

namespace {

/// While something is unsaved: often enough that freeing space helps at once.
constexpr int kRetryMs = 5000;
constexpr int kMostRetryMs = 320'000;
/// Changes that come together are listed once.
constexpr int kListMs = 30;

QString text(const engine::Error& error) {
    return ui::errorWords(error);
}

} // namespace

ChatStore::ChatStore(const StoreOptions& options)
    : database_(options), session_(options.folder), retry_timer_(this), list_timer_(this) {
    retry_timer_.setInterval(kRetryMs);
    connect(&retry_timer_, &QTimer::timeout, this, &ChatStore::retry);
    list_timer_.setInterval(kListMs);
    list_timer_.setSingleShot(true);
    connect(&list_timer_, &QTimer::timeout, this, [this] { list(query_); });
}

ChatStore::~ChatStore() = default;

void ChatStore::open() {
    const auto opened = database_.open();
    // Without the lock the session is another program's, which is still at it.
    const bool is_ours = opened.has_value() || storeProblem(opened.error()) != StoreProblem::InUse;
    Q_EMIT sessionRead(is_ours ? session_.read() : PreviousSession());
    noteOpened(opened);
    list(query_);
}

bool ChatStore::ensureOpen() {
    return is_writable_ || noteOpened(database_.open());
}

bool ChatStore::noteOpened(const engine::Result<OpenReport>& opened) {
    if (!opened.has_value()) {
        showProblem(text(opened.error()));
        return false;
    }
    is_writable_ = !opened->is_read_only;
    if (opened->is_read_only) {
        showProblem(opened->message);
    } else if (!opened->message.isEmpty()) {
        raiseNotes({opened->message});
    }
    if (is_writable_ && unwritten_session_.has_value()) {
        saveSession(*std::exchange(unwritten_session_, std::nullopt));
    }
    return is_writable_;
}

void ChatStore::followFile() {
    if (!is_writable_ || !database_.isGone()) {
        return;
    }
    is_writable_ = false;
    QString note;
    if (noteOpened(database_.bringBack(note))) {
        raised_.removeAll(note); // once each time that it happens
        raiseNotes({note});
    }
    relist();
}

void ChatStore::showProblem(const QString& message) {
    if (message.isEmpty()) {
        retry_timer_.stop();
    } else if (!retry_timer_.isActive() ||
               (!unsaved_.empty() && retry_timer_.interval() != kRetryMs)) {
        retry_timer_.start(kRetryMs);
    }
    if (message != problem_) {
        problem_ = message;
        Q_EMIT problemChanged(message);
    }
}

void ChatStore::raiseNotes(const QStringList& notes) {
    for (const QString& note : notes) {
        if (!raised_.contains(note)) {
            raised_.append(note);
            Q_EMIT noteRaised(note);
        }
    }
}

engine::Result<void> ChatStore::write(ui::ChatDocument& chat) {
    followFile();
    if (!ensureOpen()) {
        return storeError(StoreProblem::ReadOnly, problem_);
    }
    QStringList notes;
    auto done = database_.save(chat, notes);
    if (!done.has_value() && storeProblem(done.error()) == StoreProblem::Damaged) {
        auto replaced = database_.replaceDamaged(done.error());
        if (replaced.has_value()) {
            notes.append(replaced->message);
            is_writable_ = !replaced->is_read_only;
            done = database_.save(chat, notes);
        } else {
            is_writable_ = false; // opened, and replaced, again at the next try
            done = std::move(replaced).error();
        }
    }
    raiseNotes(notes);
    return done;
}

void ChatStore::tellAttachments(const ui::ChatDocument& before, const ui::ChatDocument& after) {
    // The two have the same turns in the same order: saving fills in, it moves nothing.
    std::vector<const ui::ChatTurn*> then;
    ui::visitAllTurns(before.turns, [&](const ui::ChatTurn& turn) { then.push_back(&turn); });
    size_t at = 0;
    ui::visitAllTurns(after.turns, [&](const ui::ChatTurn& turn) {
        const ui::ChatTurn* old = at < then.size() ? then[at] : nullptr;
        ++at;
        const bool is_same =
            old != nullptr && std::equal(turn.attachments.begin(), turn.attachments.end(),
                                         old->attachments.begin(), old->attachments.end(),
                                         [](const ui::Attachment& a, const ui::Attachment& b) {
                                             return a.hash == b.hash;
                                         });
        if (!is_same) {
            Q_EMIT attachmentsStored(after.id, turn.id, turn.attachments);
        }
    });
}

void ChatStore::save(const ui::ChatDocument& chat, quint64 serial) {
    if (chat.turns.empty() && (chat.id.isEmpty() || !find(chat.id).has_value())) {
        Q_EMIT saved(chat.id, serial); // nothing was asked in it yet
        return;
    }
    ui::ChatDocument copy = chat;
    if (copy.id.isEmpty()) {
        copy.id = ui::makeUniqueId();
    }
    const auto done = write(copy);
    if (done.has_value()) {
        unsaved_.erase(copy.id);
        tellAttachments(chat, copy);
        Q_EMIT saved(copy.id, serial);
        if (unsaved_.empty()) {
            showProblem({});
        } else {
            retry();
        }
    } else {
        const QDateTime now = QDateTime::currentDateTimeUtc();
        copy.created = copy.created.isValid() ? copy.created : now;
        copy.modified = now;
        if (!copy.is_title_set_by_user) {
            copy.title = ui::titleFromTurns(copy);
        }
        const QString id = copy.id;
        const bool is_removed = unsaved_.contains(id) && unsaved_.at(id).is_removed;
        unsaved_.insert_or_assign(id, Unsaved{std::move(copy), serial, is_removed});
        showProblem(text(done.error()));
        Q_EMIT saveFailed(id, serial, text(done.error()));
    }
    relist();
}

void ChatStore::retry() {
    if (!ensureOpen()) {
        // To look means to read the whole store: less often where nothing waits to be saved.
        retry_timer_.setInterval(
            unsaved_.empty() ? std::min(2 * retry_timer_.interval(), kMostRetryMs) : kRetryMs);
        return;
    }
    for (auto entry = unsaved_.begin(); entry != unsaved_.end();) {
        ui::ChatDocument copy = entry->second.chat;
        auto done = write(copy);
        if (done.has_value() && entry->second.is_removed) {
            done = database_.remove(copy.id);
        }
        if (!done.has_value()) {
            showProblem(text(done.error()));
            return;
        }
        tellAttachments(entry->second.chat, copy);
        Q_EMIT saved(copy.id, entry->second.serial);
        entry = unsaved_.erase(entry);
    }
    showProblem({});
    relist();
}

engine::Result<ui::ChatDocument> ChatStore::find(const QString& id) {
    const auto unsaved = unsaved_.find(id);
    if (unsaved != unsaved_.end()) {
        return unsaved->second.chat;
    }
    return database_.load(id);
}

void ChatStore::load(const QString& id) {
    auto chat = find(id);
    if (chat.has_value()) {
        Q_EMIT loaded(*chat);
    } else {
        Q_EMIT loadFailed(id, text(chat.error()));
    }
}

void ChatStore::relist() {
    list_timer_.start();
}

void ChatStore::list(const QString& query) {
    query_ = query;
    list_timer_.stop();
    std::vector<ui::ChatSummary> chats;
    if (database_.isOpen()) {
        auto stored = database_.list(query);
        if (stored.has_value()) {
            chats = std::move(stored).value();
        } else {
            raiseNotes({text(stored.error())});
        }
    }
    const QStringList words = searchWords(query);
    for (const auto& entry : unsaved_) {
        const QString& id = entry.first;
        const Unsaved& unsaved = entry.second;
        bool is_pinned = false;
        const auto same = std::find_if(chats.begin(), chats.end(),
                                       [&](const ui::ChatSummary& chat) { return chat.id == id; });
        if (same != chats.end()) {
            is_pinned = same->is_pinned;
            chats.erase(same);
        }
        QString everything = unsaved.chat.title;
        for (const ui::ChatTurn& turn : unsaved.chat.turns) {
            everything += QLatin1Char(' ') + turn.text;
        }
        const QString folded = foldForSearch(everything);
        const bool is_found = std::all_of(
            words.begin(), words.end(), [&](const QString& word) { return folded.contains(word); });
        if (is_found && !unsaved.is_removed) {
            chats.push_back({id, unsaved.chat.title, unsaved.chat.created, unsaved.chat.modified,
                             unsaved.chat.model, static_cast<qint64>(unsaved.chat.turns.size()),
                             words.isEmpty() ? QString() : excerptAround(everything, words),
                             is_pinned});
        }
    }
    std::stable_sort(chats.begin(), chats.end(),
                     [](const ui::ChatSummary& a, const ui::ChatSummary& b) {
                         return a.is_pinned != b.is_pinned ? a.is_pinned : a.modified > b.modified;
                     });
    Q_EMIT listed(query, chats);
}

void ChatStore::finishChange(const QString& id, const engine::Result<void>& done) {
    if (!done.has_value()) {
        Q_EMIT changeFailed(id, text(done.error()));
    }
    relist();
}

void ChatStore::rename(const QString& id, const QString& title) {
    const auto unsaved = unsaved_.find(id);
    if (unsaved != unsaved_.end()) {
        ui::ChatDocument& chat = unsaved->second.chat;
        chat.is_title_set_by_user = !title.simplified().isEmpty();
        chat.title = chat.is_title_set_by_user ? title.simplified() : ui::titleFromTurns(chat);
        relist();
        return;
    }
    followFile();
    finishChange(id, database_.rename(id, title));
}

void ChatStore::remove(const QString& id) {
    const auto unsaved = unsaved_.find(id);
    if (unsaved != unsaved_.end()) {
        unsaved->second.is_removed = true;
        relist();
        return;
    }
    followFile();
    finishChange(id, database_.remove(id));
}

void ChatStore::pin(const QString& id, bool is_pinned) {
    followFile();
    finishChange(id, database_.pin(id, is_pinned));
}

void ChatStore::copy(const QString& id, const QString& title) {
    auto chat = find(id);
    if (!chat.has_value()) {
        finishChange(id, std::move(chat).error());
        return;
    }
    ui::ChatDocument made = ui::copyOf(*chat);
    made.title = title;
    made.is_title_set_by_user = true;
    const auto done = write(made);
    finishChange(id, done);
    if (done.has_value()) {
        Q_EMIT copied(made.id);
    }
}

void ChatStore::restore(const QString& id) {
    const auto unsaved = unsaved_.find(id);
    if (unsaved != unsaved_.end()) {
        unsaved->second.is_removed = false;
        relist();
        return;
    }
    followFile();
    finishChange(id, database_.restore(id));
}

void ChatStore::exportChat(const QString& id, const QString& file, ui::ExportFormat format) {
    auto chat = find(id);
    if (!chat.has_value()) {
        Q_EMIT exportFailed(file, text(chat.error()));
        return;
    }
    const auto done = writeExport(*std::move(chat), file, format);
    if (done.has_value()) {
        Q_EMIT exported(file);
    } else {
        Q_EMIT exportFailed(file, text(done.error()));
    }
}

void ChatStore::importChat(const QString& file) {
    followFile();
    if (!ensureOpen()) {
        Q_EMIT importFailed(file, problem_);
        return;
    }
    QStringList notes;
    auto chat = readExport(
        file,
        [this](QFile& opened, const QString& name) {
            return database_.addAttachment(opened, name);
        },
        notes);
    if (!chat.has_value()) {
        Q_EMIT importFailed(file, text(chat.error()));
        return;
    }
    const auto done = write(*chat);
    if (!done.has_value()) {
        Q_EMIT importFailed(file, text(done.error()));
        return;
    }
    relist();
    Q_EMIT imported(file, chat->id);
    for (const QString& note : notes) {
        raised_.removeAll(note); // once for each import
    }
    raiseNotes(notes);
}

void ChatStore::saveSession(const SessionState& state) {
    if (!is_writable_) {
        unwritten_session_ = state; // once the store is ours
        return;
    }
    const auto done = session_.write(state);
    if (!done.has_value()) {
        raiseNotes({text(done.error())});
    }
}

void ChatStore::close() {
    followFile();
    if (!unsaved_.empty()) {
        retry();
    }
    retry_timer_.stop();
    list_timer_.stop();
    database_.close();
    is_writable_ = false;
    Q_EMIT closed();
}

ChatStoreThread::ChatStoreThread(const StoreOptions& options, QObject* parent)
    : QObject(parent), store_(new ChatStore(options)) {
    store_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, store_, &QObject::deleteLater);
    // Queued behind everything that was asked before, so nothing of it is lost.
    connect(store_, &ChatStore::closed, &thread_, &QThread::quit, Qt::DirectConnection);
    thread_.setObjectName(QStringLiteral("chat store"));
    thread_.start();
}

ChatStoreThread::~ChatStoreThread() {
    QMetaObject::invokeMethod(store_, &ChatStore::close);
    thread_.wait();
}

void registerStoreTypes() {
    qRegisterMetaType<ui::ChatDocument>("ui::ChatDocument");
    qRegisterMetaType<std::vector<ui::ChatSummary>>("std::vector<ui::ChatSummary>");
    qRegisterMetaType<std::vector<ui::Attachment>>("std::vector<ui::Attachment>");
    qRegisterMetaType<ui::ExportFormat>("ui::ExportFormat");
    qRegisterMetaType<SessionState>("app::SessionState");
    qRegisterMetaType<PreviousSession>("app::PreviousSession");
}

} // namespace app
