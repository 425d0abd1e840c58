// SPDX-License-Identifier: Apache-2.0
// One engine's process and the frames that come from it, which somebody reads at any time so that
// neither side ever waits for the other to read. Belongs to one thread.
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ipc/child.h"
#include "ipc/inbox.h"

namespace ipc {

class Link {
public:
    /// Errors: as Child::start().
    static engine::Result<std::unique_ptr<Link>> start(const std::vector<std::string>& words);
    /// Ends the process at once.
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// As Child::allow().
    void allow(const std::vector<std::string>& paths) { child_->allow(paths); }
    /// False: the process is gone or does not read.
    bool send(Kind kind, uint64_t call, std::string_view payload);
    /// What comes from it.
    [[nodiscard]] Inbox& inbox() { return inbox_; }

    [[nodiscard]] int64_t processId() const { return child_->processId(); }
    /// The process is ended if it is still there. How it ended by itself, or TimedOut.
    engine::ChildEnd end(std::chrono::milliseconds patience);

private:
    explicit Link(std::unique_ptr<Child> child);

    std::unique_ptr<Child> child_;
    Inbox inbox_; ///< Reads the child's pipe.
};

} // namespace ipc
