// SPDX-License-Identifier: Apache-2.0
// Downloads that were asked for: kept in a small file, so that what was not done when the program
// ended is there again after the next start, and run in threads, a few at a time. Nothing begins by
// itself: what a file holds comes back as Paused and goes on when resume() is called.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hub/download.h"

namespace models::hub {

struct QueueItem {
    enum class State : uint8_t {
        Waiting = 1, ///< For another to be done.
        Fetching,
        Paused,
        Done,
        Failed, ///< See error; resume() tries again.
    };

    uint64_t number = 0; ///< Its name in the queue, never used again. 0: none.
    FetchRequest request;
    std::string commit; ///< As planned; asked for again and compared when it goes on.
    std::filesystem::path model_folder; ///< Or the GGUF file.
    uint64_t total_bytes = 0;
    uint64_t done_bytes = 0;
    int64_t asked_at = 0; ///< Seconds since 1970.
    State state = State::Waiting;
    // Not in the file.
    FetchProgress progress;             ///< Fetching: of this run.
    std::optional<engine::Error> error; ///< Failed.
};
/// "waiting", "fetching", "paused", "done", "failed".
std::string_view queueStateName(QueueItem::State state);

/// No file: nothing. Items that are no possible ones are left out. Errors: HubDisk (cannot be
/// read), HubQueue (is no queue of ours: it is left as it is, and the sentence says where).
engine::Result<std::vector<QueueItem>> readQueueFile(const std::filesystem::path& file);
/// Replaces it as a whole, readable by its owner alone; items that are Done are left out. Errors:
/// HubDisk.
engine::Result<void> writeQueueFile(const std::filesystem::path& file,
                                    const std::vector<QueueItem>& items);

struct QueueOptions {
    std::filesystem::path file;           ///< Empty: nothing is kept.
    FetchOptions fetch;                   ///< Its on_progress is not called.
    int at_once = 2;                      ///< Models; each takes fetch.connections.
    std::string modelscope_endpoint = {}; ///< For requests of Source::ModelScope.
    /// Asked where the hub refuses fetch.hub.token or its absence, because reading it may open a
    /// keyring; what it gives is tried once. Empty: none.
    std::function<std::string()> token;
    /// Called after every change, at most ten times a second per item and at its end, on a thread
    /// of the queue's and never with a lock held; not after the destructor has come back. It may
    /// call nothing of the queue but items().
    std::function<void(const QueueItem&)> on_change = [](const QueueItem&) {};
};

/// Every method may be called from any thread.
class DownloadQueue {
public:
    /// Reads the file; all that was not done is Paused. Errors: as readQueueFile().
    static engine::Result<std::unique_ptr<DownloadQueue>> open(QueueOptions options);
    /// Pauses what runs, keeps it in the file.
    ~DownloadQueue();
    DownloadQueue(const DownloadQueue&) = delete;
    DownloadQueue& operator=(const DownloadQueue&) = delete;

    /// Appends and, when there is room among those that run, begins. The same model and revision
    /// into the same folder twice is one item, which goes on. Errors: HubDisk (the file).
    engine::Result<uint64_t> add(const FetchPlan& plan);
    /// Stops after the piece on its way; what has arrived stays. Nothing for a number that is not
    /// there or does not run.
    void pause(uint64_t number);
    void resume(uint64_t number);
    /// Stops and forgets it; with `removes_parts` also what has arrived of files that are not whole
    /// (files that are whole stay: another commit may have links to them).
    void cancel(uint64_t number, bool removes_parts);
    /// Forgets those that are Done.
    void clearDone();
    [[nodiscard]] std::vector<QueueItem> items() const;
    /// Until nothing runs or waits: for programs without an event loop, and tests.
    void waitUntilIdle();

private:
    struct State;
    explicit DownloadQueue(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace models::hub
