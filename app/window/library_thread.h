// SPDX-License-Identifier: Apache-2.0
// The library (models/scanner.h) for the window: looks, deletes and keeps the list of folders on a
// thread of its own, and tells what there is as values of ui/library.
#pragma once

#include "engine/base/result.h"
#include "ui/library/library_values.h"

#include <QElapsedTimer>
#include <QObject>
#include <QThread>
#include <QTimer>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "models/removal.h"
#include "models/scanner.h"

namespace app {

struct LibrarySetup {
    /// Where to look, asked for before each scan; recent ones are added.
    std::function<std::vector<models::Root>()> roots;
    std::filesystem::path folders_file; ///< Empty: folders cannot be added.
    /// As ScanOptions; empty: names, sizes and small texts alone.
    std::function<std::unique_ptr<models::Assessor>()> make_assessor;
};

/// What the window shows of a scan; `folders`: those that the user added.
ui::LibraryContents contentsOf(const models::ScanResult& found,
                               const std::vector<std::filesystem::path>& folders);

/// Lives on the library's thread. Errors of everything here: failed().
class LibraryWorker : public QObject {
    Q_OBJECT

public:
    explicit LibraryWorker(LibrarySetup setup);
    ~LibraryWorker() override;

    /// Anew, also while one runs. `recent`: folders of models used lately.
    void scan(const QStringList& recent);
    void cancel();
    /// Answered by removalPlanned().
    void planRemoval(const QString& path);
    /// What planRemoval() told last of this path, then a scan.
    void remove(const QString& path);
    void addFolder(const QString& folder);
    void removeFolder(const QString& folder);

Q_SIGNALS:
    void contentsChanged(const std::shared_ptr<const ui::LibraryContents>& contents);
    void scanningChanged(bool is_scanning);
    void removalPlanned(const ui::LibraryRemoval& removal);
    void failed(const engine::Error& error);
    /// Models that were there are not any more.
    void removed(const QString& path);

private:
    void publish();
    void finish();
    void changeFolders(const QString& folder, bool is_added);

    LibrarySetup setup_;
    models::Scanner scanner_;
    QTimer timer_; ///< Tells of what was found since.
    std::atomic<bool> is_dirty_{false};
    std::atomic<quint64> scan_number_{0};
    bool is_scanning_ = false;
    QStringList recent_;
    std::map<QString, models::Removal> planned_; ///< By path, as it was agreed to.
};

/// The thread and its worker, owned by the GUI side.
class LibraryThread : public QObject {
    Q_OBJECT

public:
    explicit LibraryThread(LibrarySetup setup, QObject* parent = nullptr);
    ~LibraryThread() override;

    [[nodiscard]] LibraryWorker* worker() const { return worker_; }

private:
    QThread thread_;
    LibraryWorker* worker_;
};

} // namespace app
