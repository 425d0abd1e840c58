// SPDX-License-Identifier: Apache-2.0
// One request on its way through the queue and the engine, and what its client has been sent.
#pragma once

#include "app/serve/api_words.h"
#include "app/serve/media_folder.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

namespace serve {

/// Pieces go out as events where the request asked for a stream, else all at once at the end. Any
/// thread.
class Job {
public:
    using Clock = std::chrono::steady_clock;

    Job(ApiRequest request, size_t token, std::shared_ptr<Exchange> exchange);

    ApiRequest request;
    const size_t token; ///< Which one it came with.
    const ReplyFrame frame;
    std::vector<MediaFolder::File> files; ///< Its media.

    /// Stops the generation: the client has gone, the reply has come to one of its stops, or the
    /// server ends.
    std::stop_source stop;
    [[nodiscard]] bool isGone() const;
    /// From now on it notices when its client goes. The server's thread, while onRequest runs.
    static void watch(const std::shared_ptr<Job>& job);

    void send(ReplyPiece piece);
    void finish(std::string_view finish_reason, const Usage& usage);
    void fail(const ApiError& error);
    /// A comment where a stream has been silent for so long.
    void keepAlive(Clock::time_point now, std::chrono::milliseconds interval);

private:
    void setGone();
    void beginStream();

    const std::shared_ptr<Exchange> exchange_;
    mutable std::mutex mutex_; ///< Guards all below.
    bool has_begun_ = false, is_ended_ = false, is_gone_ = false;
    Clock::time_point last_sent_;
    ReplyPiece whole_; ///< Without a stream.
};

} // namespace serve
