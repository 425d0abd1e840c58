// SPDX-License-Identifier: Apache-2.0
#include "models/scanner.h"

#include "engine/base/detached_thread.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace models {

namespace {

using engine::said;
using Clock = std::chrono::steady_clock;

int64_t nowMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
        .count();
}

struct Job;

/// What root threads hand to the thread that tells the listener. Lives as long as the last of them,
/// which may wait for a disk long after the scanner is gone.
struct Channel {
    struct Item {
        size_t job = 0;
        bool is_end = false;
        Entry entry;       ///< Unless is_end.
        RootReport report; ///< When is_end.
    };
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Item> items;

    void put(Item item) {
        {
            const std::lock_guard lock(mutex);
            items.push_back(std::move(item));
        }
        changed.notify_all();
    }
};

/// One root's work.
struct Job {
    size_t number = 0;
    Root root;
    Wanted wanted;
    Limits limits;
    std::function<std::unique_ptr<Assessor>()> make_assessor;
    std::function<void(const std::filesystem::path&)> before_operation;
    std::stop_token stop;
    std::shared_ptr<Channel> channel;
    std::atomic<int64_t> busy_since_ms = 0; ///< Start of what it does now.
    std::atomic<bool> is_assessing = false;
    std::atomic<bool> is_given_up = false;

    [[nodiscard]] bool isOver() const { return stop.stop_requested() || is_given_up; }
};

void work(Job& job) {
    Disk disk(job.limits, [&job](const std::filesystem::path& path) {
        if (job.isOver()) {
            return false;
        }
        job.busy_since_ms = nowMs();
        if (job.before_operation) {
            job.before_operation(path);
        }
        return !job.isOver();
    });
    std::vector<Entry> models;
    Channel::Item end;
    end.job = job.number;
    end.is_end = true;
    end.report = findBelow(disk, job.root, job.wanted, [&](Entry entry) {
        if (entry.kind == Kind::Model) {
            models.push_back(entry);
        }
        job.channel->put({job.number, false, std::move(entry), {}});
    });
    if (job.make_assessor && !models.empty() && !job.isOver()) {
        job.busy_since_ms = nowMs();
        job.is_assessing = true;
        const std::unique_ptr<Assessor> assessor = job.make_assessor();
        for (Entry& model : models) {
            if (job.isOver()) {
                break;
            }
            job.busy_since_ms = nowMs();
            assessor->assess(model, job.stop);
            job.channel->put({job.number, false, std::move(model), {}});
        }
    }
    if (job.isOver()) {
        end.report.outcome = RootReport::Outcome::Cancelled;
        end.report.sentence = said("%1: the search was ended", engine::utf8Of(job.root.folder));
    }
    job.channel->put(std::move(end));
}

/// Whatever goes wrong in it ends as the root's report.
void workSafely(const std::shared_ptr<Job>& job) {
    std::string problem;
    try {
        work(*job);
        return;
    } catch (const std::exception& thrown) { // memory, or a name that no text can hold
        problem = thrown.what();
    }
    Channel::Item end;
    end.job = job->number;
    end.is_end = true;
    end.report = {
        job->root, RootReport::Outcome::Unreadable,
        said("%1: was not looked at to its end: %2", engine::utf8Of(job->root.folder), problem)};
    job->channel->put(std::move(end));
}

} // namespace

/// One scan: the thread that tells the listener, and what was found.
struct Scanner::Scan {
    ScanListener listener;
    std::chrono::milliseconds answer_limit{0}, assess_limit{0};
    std::shared_ptr<Channel> channel = std::make_shared<Channel>();
    std::vector<std::shared_ptr<Job>> jobs;
    std::vector<bool> is_told; ///< By job.
    std::stop_source stop;
    std::thread teller;

    mutable std::mutex mutex; ///< Guards what follows.
    std::condition_variable ended;
    ScanResult result;
    std::vector<size_t> finders; ///< Job of each entry.
    bool is_ended = false;

    void begin(ScanOptions& options);
    void run();
    void take(const Channel::Item& item);
    void takeEntry(size_t job, const Entry& entry);
    void takeReport(size_t job, const RootReport& report);
    void giveUpSilentRoots();
    [[nodiscard]] bool areAllTold() const {
        return std::all_of(is_told.begin(), is_told.end(), [](bool told) { return told; });
    }
};

void Scanner::Scan::begin(ScanOptions& options) {
    answer_limit = options.answer_limit;
    assess_limit = options.assess_limit;
    is_told.assign(options.roots.size(), false);
    for (size_t i = 0; i < options.roots.size(); ++i) {
        auto job = std::make_shared<Job>();
        job->number = i;
        job->root = options.roots[i];
        job->wanted = options.wanted;
        job->limits = options.limits;
        job->make_assessor = options.make_assessor;
        job->before_operation = options.before_operation;
        job->stop = stop.get_token();
        job->channel = channel;
        job->busy_since_ms = nowMs();
        jobs.push_back(job);
        try {
            // Detached: one that waits for a dead disk cannot be ended by anybody.
            engine::runDetached([job] { workSafely(job); });
        } catch (const std::system_error& problem) {
            Channel::Item end;
            end.job = i;
            end.is_end = true;
            end.report = {job->root, RootReport::Outcome::Unreadable,
                          said("no thread for it: %1; close other programs and search again",
                               problem.what())};
            channel->put(std::move(end));
        }
    }
    teller = std::thread([this] { run(); });
}

void Scanner::Scan::run() {
    constexpr std::chrono::milliseconds kLookAtClocks{20};
    while (!areAllTold()) {
        std::deque<Channel::Item> items;
        {
            std::unique_lock lock(channel->mutex);
            channel->changed.wait_for(lock, kLookAtClocks, [&] { return !channel->items.empty(); });
            items.swap(channel->items);
        }
        for (const Channel::Item& item : items) {
            take(item);
        }
        giveUpSilentRoots();
    }
    if (!stop.stop_requested()) {
        listener.on_end();
    }
    {
        const std::lock_guard lock(mutex);
        result.is_complete = !stop.stop_requested();
        is_ended = true;
    }
    ended.notify_all();
}

void Scanner::Scan::take(const Channel::Item& item) {
    if (is_told[item.job]) {
        return; // given up meanwhile
    }
    if (item.is_end) {
        takeReport(item.job, item.report);
    } else if (!stop.stop_requested()) {
        takeEntry(item.job, item.entry);
    }
}

void Scanner::Scan::takeEntry(size_t job, const Entry& entry) {
    {
        const std::lock_guard lock(mutex);
        const auto known =
            std::find_if(result.entries.begin(), result.entries.end(), [&](const Entry& other) {
                return other.real_path == entry.real_path && other.kind == entry.kind;
            });
        if (known == result.entries.end()) {
            result.entries.push_back(entry);
            finders.push_back(job);
        } else {
            size_t& finder = finders[static_cast<size_t>(known - result.entries.begin())];
            // Its own place has a name for it, which a folder that was used lately does not know.
            const bool is_better =
                known->root.place == Place::Recent && entry.root.place != Place::Recent;
            if (finder != job && !is_better) {
                return; // found over another root
            }
            *known = entry;
            finder = job;
        }
    }
    listener.on_entry(entry);
}

void Scanner::Scan::takeReport(size_t job, const RootReport& report) {
    is_told[job] = true;
    {
        const std::lock_guard lock(mutex);
        result.roots.push_back(report);
    }
    if (!stop.stop_requested()) {
        listener.on_root(report);
    }
}

void Scanner::Scan::giveUpSilentRoots() {
    const int64_t now = nowMs();
    for (const std::shared_ptr<Job>& job : jobs) {
        // After cancel() nobody waits longer than for one answer.
        const auto limit =
            job->is_assessing && !stop.stop_requested() ? assess_limit : answer_limit;
        const int64_t silent_ms = now - job->busy_since_ms;
        if (is_told[job->number] || silent_ms <= limit.count()) {
            continue;
        }
        job->is_given_up = true;
        takeReport(job->number,
                   {job->root, RootReport::Outcome::NotAnswering,
                    said("%1: did not answer within %2 s and was skipped; if it is a network "
                         "drive, look whether it is connected",
                         engine::utf8Of(job->root.folder), limit.count() / 1000)});
    }
}

Scanner::Scanner() = default;

Scanner::~Scanner() {
    cancel();
}

std::shared_ptr<Scanner::Scan> Scanner::current() const {
    const std::lock_guard lock(mutex_);
    return scan_;
}

void Scanner::end() {
    const std::shared_ptr<Scan> scan = current();
    if (scan != nullptr && scan->teller.joinable()) {
        scan->stop.request_stop();
        scan->teller.join();
    }
}

void Scanner::start(ScanOptions options, ScanListener listener) {
    const std::lock_guard control(control_);
    end();
    const auto scan = std::make_shared<Scan>();
    scan->listener = std::move(listener);
    {
        const std::lock_guard lock(mutex_);
        scan_ = scan;
    }
    scan->begin(options);
}

void Scanner::cancel() {
    const std::lock_guard control(control_);
    end();
}

void Scanner::wait() {
    if (const std::shared_ptr<Scan> scan = current()) {
        std::unique_lock lock(scan->mutex);
        scan->ended.wait(lock, [&] { return scan->is_ended; });
    }
}

bool Scanner::waitFor(std::chrono::milliseconds limit) {
    const std::shared_ptr<Scan> scan = current();
    if (scan == nullptr) {
        return true;
    }
    std::unique_lock lock(scan->mutex);
    return scan->ended.wait_for(lock, limit, [&] { return scan->is_ended; });
}

ScanResult Scanner::result() const {
    const std::shared_ptr<Scan> scan = current();
    if (scan == nullptr) {
        return {};
    }
    const std::lock_guard lock(scan->mutex);
    return scan->result;
}

} // namespace models
