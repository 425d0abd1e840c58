// SPDX-License-Identifier: Apache-2.0
// Looks for models and adapters in the background. Each root has a thread of its own, so that one
// that does not answer (a network drive whose server is away) holds up none of the others: it is
// named as such and left behind, and whatever it still finds is dropped.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "models/assess.h"
#include "models/disk.h"
#include "models/entry.h"
#include "models/find.h"

namespace models {

struct ScanOptions {
    std::vector<Root> roots;
    Wanted wanted;
    Limits limits;
    /// Longest that one file operation may take.
    std::chrono::milliseconds answer_limit{3000};
    /// Longest that the engine may take for one model; the first waits for the card's driver.
    std::chrono::milliseconds assess_limit{60'000};
    /// Called once per root, on its thread. Empty: names, sizes and small texts alone.
    std::function<std::unique_ptr<Assessor>()> make_assessor;
    /// Called before each file operation on the thread that does it: a seam for tests.
    std::function<void(const std::filesystem::path&)> before_operation;
};

/// All are called on one thread of the scanner's, one after the other, and never after cancel(),
/// wait() or the destructor has come back.
struct ScanListener {
    /// As it is found, and a second time (the same path) once the engine was asked about it.
    std::function<void(const Entry&)> on_entry = [](const Entry&) {};
    std::function<void(const RootReport&)> on_root = [](const RootReport&) {};
    /// The last call; not made after cancel().
    std::function<void()> on_end = [] {};
};

/// What was found so far.
struct ScanResult {
    std::vector<Entry> entries; ///< Each thing once, however many roots lead to it.
    std::vector<RootReport> roots;
    bool is_complete = false; ///< Every root is told of.
};

/// Every method may be called from any thread; start(), cancel() and wait() not by the listener.
class Scanner {
public:
    Scanner();
    /// cancel()
    ~Scanner();
    Scanner(const Scanner&) = delete;
    Scanner& operator=(const Scanner&) = delete;

    /// Begins; a scan that runs is cancelled first.
    void start(ScanOptions options, ScanListener listener = {});
    /// Ends between two file operations, and comes back when no thread works any more but those
    /// that wait for a disk: at most the answer limit.
    void cancel();
    /// Until every root is told of, or the scan is cancelled.
    void wait();
    /// The same with a limit; whether it has ended.
    bool waitFor(std::chrono::milliseconds limit);
    [[nodiscard]] ScanResult result() const;

private:
    struct Scan;
    [[nodiscard]] std::shared_ptr<Scan> current() const;
    void end();

    std::mutex control_;       ///< One starts or ends at a time.
    mutable std::mutex mutex_; ///< Guards scan_.
    std::shared_ptr<Scan> scan_;
};

} // namespace models
