// SPDX-License-Identifier: Apache-2.0
#include "models/hub/queue.h"

#include "engine/base/paths.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "models/hub/hub_error.h"
#include "models/hub/snapshot_store.h"
#include "models/hub/token.h"

namespace models::hub {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;
using ItemState = QueueItem::State;

namespace {

int64_t secondsNow() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool isSame(const FetchRequest& a, const FetchRequest& b) {
    return a.address.id == b.address.id && a.address.revision == b.address.revision &&
           a.address.quantization == b.address.quantization && a.target.cache == b.target.cache &&
           a.target.folder == b.target.folder;
}

} // namespace

std::string_view queueStateName(ItemState state) {
    switch (state) {
    case ItemState::Waiting:
        return "waiting";
    case ItemState::Fetching:
        return "fetching";
    case ItemState::Paused:
        return "paused";
    case ItemState::Done:
        return "done";
    case ItemState::Failed:
        return "failed";
    }
    return "";
}

struct DownloadQueue::State {
    explicit State(QueueOptions chosen) : options(std::move(chosen)) {}

    QueueOptions options;
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::mutex file_mutex; ///< Who writes the file; taken before mutex.
    std::vector<QueueItem> items;
    std::map<uint64_t, std::stop_source> running; ///< By number.
    std::map<uint64_t, std::thread> threads;      ///< Those that run.
    std::vector<std::thread> ended;               ///< Take no lock any more; to be joined.
    std::map<uint64_t, bool> forgotten; ///< Cancelled while running: whether parts go as well.
    std::set<uint64_t> again;           ///< Paused and resumed before they had stopped.
    uint64_t last_number = 0;
    bool is_ending = false;

    QueueItem* find(uint64_t number) {
        const auto found = std::find_if(items.begin(), items.end(), [&](const QueueItem& item) {
            return item.number == number;
        });
        return found == items.end() ? nullptr : &*found;
    }
    Result<void> save();
    /// With mutex held, and not by a thread of the queue's.
    void joinEnded() {
        for (std::thread& thread : ended) {
            thread.join();
        }
        ended.clear();
    }
    /// With mutex held: begins what waits, as far as there is room.
    void beginWaiting();
    /// A thread's work.
    void run(const QueueItem& item, const std::stop_token& stop);
    Result<void> fetchItem(const QueueItem& item, const std::stop_token& stop);
    Result<void>
    fetchWith(const FetchOptions& with, const QueueItem& item, const std::stop_token& stop);
    void update(uint64_t number, const std::function<void(QueueItem&)>& change);
    void end(uint64_t number, const Result<void>& outcome);
    void removeParts(const QueueItem& item) const;
};

Result<void> DownloadQueue::State::save() {
    if (options.file.empty()) {
        return {};
    }
    const std::lock_guard file_lock(file_mutex);
    std::vector<QueueItem> copy;
    {
        const std::lock_guard lock(mutex);
        copy = items;
    }
    return writeQueueFile(options.file, copy);
}

void DownloadQueue::State::beginWaiting() {
    for (QueueItem& item : items) {
        if (is_ending || running.size() >= static_cast<size_t>(std::max(1, options.at_once))) {
            return;
        }
        if (item.state != ItemState::Waiting || running.contains(item.number)) {
            continue;
        }
        item.state = ItemState::Fetching;
        item.error.reset();
        item.progress = {};
        const std::stop_token stop = running[item.number].get_token();
        threads[item.number] = std::thread([this, item, stop] { run(item, stop); });
    }
}

void DownloadQueue::State::update(uint64_t number, const std::function<void(QueueItem&)>& change) {
    QueueItem copy;
    {
        const std::lock_guard lock(mutex);
        QueueItem* const item = find(number);
        if (item == nullptr || forgotten.contains(number)) {
            return;
        }
        change(*item);
        copy = *item;
    }
    options.on_change(copy);
}

Result<void> DownloadQueue::State::fetchItem(const QueueItem& item, const std::stop_token& stop) {
    FetchOptions fetch_options = options.fetch;
    fetch_options.on_progress = [&](const FetchProgress& progress) {
        update(item.number, [&](QueueItem& shown) {
            shown.progress = progress;
            shown.done_bytes = progress.done_bytes;
        });
    };
    const bool is_hubs = item.request.source == Source::Hub;
    if (!is_hubs) {
        fetch_options.hub.source = item.request.source;
        fetch_options.hub.endpoint = options.modelscope_endpoint;
        fetch_options.hub.token.clear();
    }
    auto outcome = fetchWith(fetch_options, item, stop);
    if (!is_hubs || outcome.has_value() || !asksForToken(outcome.error()) || !options.token) {
        return outcome;
    }
    const std::string token = options.token();
    if (token.empty() || token == fetch_options.hub.token) {
        return outcome;
    }
    fetch_options.hub.token = token;
    return fetchWith(fetch_options, item, stop);
}

Result<void> DownloadQueue::State::fetchWith(const FetchOptions& with,
                                             const QueueItem& item,
                                             const std::stop_token& stop) {
    const auto http = with.make_http();
    ENGINE_ASSIGN(HubClient hub, HubClient::create(with.hub, *http));
    ENGINE_ASSIGN(const FetchPlan plan, planFetch(item.request, hub, stop));
    update(item.number, [&](QueueItem& shown) {
        shown.commit = plan.commit; // a branch may have moved on since: its new state is fetched
        shown.model_folder = plan.modelPath();
        shown.total_bytes = plan.total_bytes;
    });
    return hub::fetch(plan, with, stop);
}

void DownloadQueue::State::run(const QueueItem& item, const std::stop_token& stop) {
    options.on_change(item);
    Result<void> outcome;
    try {
        outcome = fetchItem(item, stop);
    } catch (const std::exception& problem) { // no memory: nothing else throws
        outcome = Error{ErrorCode::OutOfMemory,
                        said("the download ended: %1; close other programs and give the same "
                             "command again",
                             problem.what())};
    }
    end(item.number, outcome);
}

void DownloadQueue::State::end(uint64_t number, const Result<void>& outcome) {
    std::optional<QueueItem> told;
    std::optional<QueueItem> dropped;
    {
        const std::lock_guard lock(mutex);
        QueueItem* const item = find(number);
        if (const auto gone = forgotten.find(number); gone != forgotten.end()) {
            dropped = gone->second && item != nullptr ? std::optional(*item) : std::nullopt;
            forgotten.erase(gone);
            std::erase_if(items, [&](const QueueItem& other) { return other.number == number; });
        } else if (item != nullptr) {
            const bool is_stopped =
                !outcome.has_value() && outcome.error().code == ErrorCode::Cancelled;
            item->state = outcome.has_value()                    ? ItemState::Done
                          : !is_stopped                          ? ItemState::Failed
                          : again.contains(number) && !is_ending ? ItemState::Waiting
                                                                 : ItemState::Paused;
            again.erase(number);
            item->error =
                outcome.has_value() || is_stopped ? std::nullopt : std::optional(outcome.error());
            item->done_bytes = outcome.has_value() ? item->total_bytes : item->done_bytes;
            told = *item;
        }
    }
    if (dropped.has_value()) {
        removeParts(*dropped);
    }
    if (told.has_value()) {
        options.on_change(*told);
    }
    (void)save(); // at worst the file says that it is not done, and the next start finds that it is
    const std::lock_guard lock(mutex);
    running.erase(number);
    ended.push_back(std::move(threads[number]));
    threads.erase(number);
    beginWaiting();
    changed.notify_all();
}

void DownloadQueue::State::removeParts(const QueueItem& item) const {
    // Parts are named by checksums that only a list of files tells; of this model, all of them.
    std::error_code ignored;
    const fs::path folder =
        item.request.target.folder.empty()
            ? RepositoryLayout(item.request.target.cache, item.request.address.id).blobs()
            : item.request.target.folder / ".cache" / "huggingface" / "download";
    std::vector<fs::path> parts;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".incomplete" &&
            fs::is_regular_file(entry.symlink_status(ignored))) {
            parts.push_back(entry.path());
        }
    }
    for (const fs::path& part : parts) {
        fs::remove(part, ignored);
    }
}

DownloadQueue::DownloadQueue(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<DownloadQueue>> DownloadQueue::open(QueueOptions options) {
    auto state = std::make_unique<State>(std::move(options));
    if (!state->options.file.empty()) {
        ENGINE_ASSIGN(state->items, readQueueFile(state->options.file));
    }
    for (QueueItem& item : state->items) {
        item.state = ItemState::Paused;
        item.number = ++state->last_number;
    }
    return std::unique_ptr<DownloadQueue>(new DownloadQueue(std::move(state)));
}

DownloadQueue::~DownloadQueue() {
    std::unique_lock lock(state_->mutex);
    state_->is_ending = true;
    for (auto& [number, stop] : state_->running) {
        stop.request_stop();
    }
    state_->changed.wait(lock, [this] { return state_->running.empty(); });
    state_->joinEnded();
}

Result<uint64_t> DownloadQueue::add(const FetchPlan& plan) {
    uint64_t number = 0;
    {
        const std::lock_guard lock(state_->mutex);
        const auto known =
            std::find_if(state_->items.begin(), state_->items.end(), [&](const QueueItem& item) {
                return isSame(item.request, plan.request) &&
                       !state_->forgotten.contains(item.number);
            });
        QueueItem* item = known == state_->items.end() ? nullptr : &*known;
        if (item == nullptr) {
            item = &state_->items.emplace_back();
            item->number = ++state_->last_number;
            item->asked_at = secondsNow();
        }
        item->request = plan.request;
        item->commit = plan.commit;
        item->model_folder = plan.modelPath();
        item->total_bytes = plan.total_bytes;
        item->done_bytes = plan.present_bytes;
        number = item->number;
        if (item->state != ItemState::Fetching) {
            item->state = ItemState::Waiting;
        }
    }
    const auto saved = state_->save();
    if (!saved.has_value()) {
        cancel(number, /*removes_parts=*/false);
        return saved.error();
    }
    const std::lock_guard lock(state_->mutex);
    state_->joinEnded();
    state_->beginWaiting();
    return number;
}

void DownloadQueue::pause(uint64_t number) {
    std::optional<QueueItem> told;
    {
        const std::lock_guard lock(state_->mutex);
        QueueItem* const item = state_->find(number);
        const auto running = state_->running.find(number);
        if (item == nullptr) {
            return;
        }
        if (running != state_->running.end()) {
            running->second.request_stop(); // its thread tells of the rest
            state_->again.erase(number);
        } else if (item->state == ItemState::Waiting) {
            item->state = ItemState::Paused;
            told = *item;
        }
    }
    if (told.has_value()) {
        state_->options.on_change(*told);
    }
}

void DownloadQueue::resume(uint64_t number) {
    const std::lock_guard lock(state_->mutex);
    state_->joinEnded();
    QueueItem* const item = state_->find(number);
    if (item == nullptr) {
        return;
    }
    const auto running = state_->running.find(number);
    if (running != state_->running.end() && running->second.stop_requested()) {
        state_->again.insert(number); // once its thread has stopped
    } else if (item->state == ItemState::Paused || item->state == ItemState::Failed) {
        item->state = ItemState::Waiting;
        state_->beginWaiting();
    }
}

void DownloadQueue::cancel(uint64_t number, bool removes_parts) {
    std::optional<QueueItem> dropped;
    {
        const std::lock_guard lock(state_->mutex);
        QueueItem* const item = state_->find(number);
        if (item == nullptr) {
            return;
        }
        if (const auto running = state_->running.find(number); running != state_->running.end()) {
            state_->forgotten[number] = removes_parts;
            running->second.request_stop();
            return; // its thread does the rest
        }
        dropped = *item;
        std::erase_if(state_->items,
                      [&](const QueueItem& other) { return other.number == number; });
    }
    if (removes_parts) {
        state_->removeParts(*dropped);
    }
    (void)state_->save();
}

void DownloadQueue::clearDone() {
    const std::lock_guard lock(state_->mutex);
    std::erase_if(state_->items,
                  [](const QueueItem& item) { return item.state == ItemState::Done; });
}

std::vector<QueueItem> DownloadQueue::items() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<QueueItem> shown;
    std::copy_if(
        state_->items.begin(), state_->items.end(), std::back_inserter(shown),
        [this](const QueueItem& item) { return !state_->forgotten.contains(item.number); });
    return shown;
}

void DownloadQueue::waitUntilIdle() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] {
        return state_->running.empty() &&
               std::none_of(state_->items.begin(), state_->items.end(),
                            [](const QueueItem& item) { return item.state == ItemState::Waiting; });
    });
}

} // namespace models::hub
