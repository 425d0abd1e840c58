// SPDX-License-Identifier: Apache-2.0
#include "app/window/library_thread.h"

#include "engine/base/paths.h"
#include "ui/style/format.h"

#include <QDir>
#include <QMetaObject>

#include <algorithm>
#include <utility>

#include "models/user_folders.h"

namespace app {

namespace {

constexpr int kTellProgressMs = 150;

using ui::LibraryItem;

QString shownPath(const std::filesystem::path& path) {
    return QDir::fromNativeSeparators(ui::fromUtf8(engine::utf8Of(path)));
}

LibraryItem::Place placeOf(models::Place place) {
    switch (place) {
    case models::Place::HubCache:
        return LibraryItem::Place::HubCache;
    case models::Place::LmStudio:
        return LibraryItem::Place::LmStudio;
    case models::Place::LlamaCpp:
        return LibraryItem::Place::LlamaCpp;
    case models::Place::Ollama:
        return LibraryItem::Place::Ollama;
    case models::Place::Recent:
        return LibraryItem::Place::Recent;
    case models::Place::UserFolder:
        break;
    }
    return LibraryItem::Place::Folder;
}

LibraryItem::Reason reasonOf(models::Trouble::Reason reason) {
    switch (reason) {
    case models::Trouble::Reason::FilesMissing:
        return LibraryItem::Reason::FilesMissing;
    case models::Trouble::Reason::Pickle:
        return LibraryItem::Reason::Pickle;
    case models::Trouble::Reason::Mlx:
        return LibraryItem::Reason::Mlx;
    case models::Trouble::Reason::NotSupported:
        return LibraryItem::Reason::NotSupported;
    case models::Trouble::Reason::Broken:
        break;
    }
    return LibraryItem::Reason::Broken;
}

LibraryItem itemOf(const models::Entry& entry) {
    LibraryItem item;
    item.kind =
        entry.kind == models::Kind::Adapter ? LibraryItem::Kind::Adapter : LibraryItem::Kind::Model;
    item.state = entry.state == models::State::Usable       ? LibraryItem::State::Usable
                 : entry.state == models::State::Incomplete ? LibraryItem::State::Incomplete
                                                            : LibraryItem::State::Unusable;
    item.fit = entry.fit == models::Fit::Fits             ? LibraryItem::Fit::Fits
               : entry.fit == models::Fit::FitsWithChange ? LibraryItem::Fit::FitsWithChange
               : entry.fit == models::Fit::DoesNotFit     ? LibraryItem::Fit::DoesNotFit
                                                          : LibraryItem::Fit::Unknown;
    item.place = placeOf(entry.root.place);
    item.name = ui::fromUtf8(entry.name);
    item.revision = ui::fromUtf8(entry.revisionShown());
    item.path = shownPath(entry.path);
    item.projector = entry.projector.empty() ? QString() : shownPath(entry.projector);
    item.variant = ui::fromUtf8(entry.variant);
    item.precision = ui::fromUtf8(entry.precision);
    item.base = ui::fromUtf8(entry.base);
    item.parameters = entry.parameters;
    item.rank = entry.rank;
    item.bytes = entry.bytes;
    item.needs_bytes = entry.needs_bytes;
    if (entry.modified > 0) {
        item.modified = QDateTime::fromSecsSinceEpoch(entry.modified);
    }
    item.notes = entry.notes;
    if (entry.trouble.has_value()) {
        item.reason = reasonOf(entry.trouble->reason);
        item.problem = entry.trouble->sentence;
        item.way_out = entry.trouble->way_out;
    }
    return item;
}

} // namespace

ui::LibraryContents contentsOf(const models::ScanResult& found,
                               const std::vector<std::filesystem::path>& folders) {
    ui::LibraryContents contents;
    for (const models::Group& group : models::groupByBase(found.entries)) {
        ui::LibraryGroup shown_group;
        if (group.model >= 0) {
            shown_group.model = itemOf(found.entries[static_cast<size_t>(group.model)]);
        }
        for (const int adapter : group.adapters) {
            shown_group.adapters.push_back(itemOf(found.entries[static_cast<size_t>(adapter)]));
        }
        contents.groups.push_back(std::move(shown_group));
    }
    for (const models::RootReport& report : found.roots) {
        using Outcome = models::RootReport::Outcome;
        // A place that nobody named and that is not there is no gap.
        if (report.outcome != Outcome::Done && report.outcome != Outcome::Cancelled &&
            (report.outcome != Outcome::Missing ||
             report.root.place == models::Place::UserFolder)) {
            contents.gaps.push_back(report.sentence);
        }
    }
    for (const std::filesystem::path& folder : folders) {
        contents.folders << shownPath(folder);
    }
    contents.is_complete = found.is_complete;
    return contents;
}

LibraryWorker::LibraryWorker(LibrarySetup setup) : setup_(std::move(setup)), timer_(this) {
    timer_.setInterval(kTellProgressMs);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (is_dirty_.exchange(false)) {
            publish();
        }
    });
}

LibraryWorker::~LibraryWorker() {
    scanner_.cancel();
}

void LibraryWorker::scan(const QStringList& recent) {
    recent_ = recent;
    models::ScanOptions options;
    options.roots = setup_.roots();
    for (const QString& folder : recent) {
        options.roots.push_back(
            {models::Place::Recent, engine::pathFromUtf8(folder.toStdString())});
    }
    options.make_assessor = setup_.make_assessor;
    const quint64 number = ++scan_number_;
    models::ScanListener listener;
    listener.on_entry = [this](const models::Entry&) { is_dirty_ = true; };
    listener.on_root = [this](const models::RootReport&) { is_dirty_ = true; };
    listener.on_end = [this, number] {
        QMetaObject::invokeMethod(
            this,
            [this, number] {
                if (number == scan_number_) {
                    finish();
                }
            },
            Qt::QueuedConnection);
    };
    is_scanning_ = true;
    Q_EMIT scanningChanged(true);
    scanner_.start(std::move(options), std::move(listener));
    timer_.start();
}

void LibraryWorker::cancel() {
    if (is_scanning_) {
        ++scan_number_;
        scanner_.cancel();
        finish();
    }
}

void LibraryWorker::finish() {
    timer_.stop();
    is_dirty_ = false;
    is_scanning_ = false;
    publish();
    Q_EMIT scanningChanged(false);
}

void LibraryWorker::publish() {
    std::vector<std::filesystem::path> folders;
    if (!setup_.folders_file.empty()) {
        auto read = models::readFolderList(setup_.folders_file);
        if (read.has_value()) {
            folders = std::move(read).value();
        }
    }
    Q_EMIT contentsChanged(
        std::make_shared<const ui::LibraryContents>(contentsOf(scanner_.result(), folders)));
}

void LibraryWorker::planRemoval(const QString& path) {
    const models::ScanResult found = scanner_.result();
    const auto entry =
        std::find_if(found.entries.begin(), found.entries.end(),
                     [&](const models::Entry& one) { return shownPath(one.path) == path; });
    if (entry == found.entries.end()) {
        Q_EMIT failed(
            {engine::ErrorCode::InvalidRequest,
             engine::said("%1 is not in the library any more; look again", path.toStdString())});
        return;
    }
    auto removal = models::planRemoval(*entry);
    if (!removal.has_value()) {
        Q_EMIT failed(removal.error());
        return;
    }
    ui::LibraryRemoval asked;
    asked.name = ui::fromUtf8(removal->name);
    asked.path = path;
    asked.folder =
        shownPath(removal->paths.empty() ? removal->root : removal->paths.back().parent_path());
    asked.bytes = removal->bytes;
    asked.entries = static_cast<qsizetype>(removal->paths.size());
    asked.is_shared = removal->is_shared;
    for (const std::string& name : removal->kept) {
        asked.kept << ui::fromUtf8(name);
    }
    planned_[path] = std::move(removal).value();
    Q_EMIT removalPlanned(asked);
}

void LibraryWorker::remove(const QString& path) {
    const auto planned = planned_.extract(path);
    if (planned.empty()) {
        return;
    }
    const auto outcome = models::remove(planned.mapped());
    if (!outcome.has_value()) {
        Q_EMIT failed(outcome.error());
    } else {
        Q_EMIT removed(path);
    }
    scan(recent_); // also after half a deletion: what is left is shown
}

void LibraryWorker::changeFolders(const QString& folder, bool is_added) {
    if (setup_.folders_file.empty()) {
        Q_EMIT failed({engine::ErrorCode::InvalidRequest,
                       engine::said("there is no place for settings: set HOME (on Windows "
                                    "LOCALAPPDATA)")});
        return;
    }
    auto folders = models::readFolderList(setup_.folders_file);
    if (!folders.has_value()) {
        Q_EMIT failed(folders.error());
        return;
    }
    const std::filesystem::path path =
        engine::pathFromUtf8(folder.toStdString()).lexically_normal();
    const auto known = std::find(folders->begin(), folders->end(), path);
    if (is_added && known == folders->end()) {
        folders->push_back(path);
    } else if (!is_added && known != folders->end()) {
        folders->erase(known);
    }
    const auto written = models::writeFolderList(setup_.folders_file, *folders);
    if (!written.has_value()) {
        Q_EMIT failed(written.error());
        return;
    }
    scan(recent_);
}

void LibraryWorker::addFolder(const QString& folder) {
    changeFolders(folder, true);
}

void LibraryWorker::removeFolder(const QString& folder) {
    changeFolders(folder, false);
}

LibraryThread::LibraryThread(LibrarySetup setup, QObject* parent)
    : QObject(parent), worker_(new LibraryWorker(std::move(setup))) {
    thread_.setObjectName(QStringLiteral("library"));
    worker_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
    thread_.start();
}

LibraryThread::~LibraryThread() {
    thread_.quit();
    thread_.wait();
}

} // namespace app
