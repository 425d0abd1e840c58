// SPDX-License-Identifier: Apache-2.0
// From the bytes of an answer to a reply: a stream of events, one object, or an error in whatever
// form it comes. Hands words on as they come and decides how the whole ends.
#pragma once

#include "engine/client/engine_client.h"

#include <chrono>
#include <optional>
#include <string>

#include "models/hub/http.h"
#include "remote/chat_stream.h"
#include "remote/sse.h"

namespace remote {

class ReplyReader final : public models::hub::HttpSink {
public:
    /// `progress`: how long signs of life may come without a whole line of use.
    ReplyReader(std::string host,
                std::string model,
                std::chrono::milliseconds progress,
                const engine::UpdateCallback& delta);

    bool onHead(const models::hub::HttpHead& head) override;
    bool onBytes(std::span<const std::byte> bytes) override;
    [[nodiscard]] bool hasTime() const;

    /// The reply after the answer's end. A stop gives what came, "cancelled". Errors: those of
    /// server_error.h; Cancelled before the first word.
    engine::Result<engine::Reply> finish(const models::hub::HttpEnd& end);
    /// From the making of this to the first word; 0 without one.
    [[nodiscard]] double firstWordSeconds() const { return first_word_s_; }

private:
    bool isSuccess() const { return head_.status >= 200 && head_.status <= 299; }
    void addEvent(std::string_view data);
    bool note(SseParser::Outcome outcome);
    void tell(const engine::ReplyUpdate& update);

    std::string host_, model_;
    std::chrono::milliseconds progress_;
    const engine::UpdateCallback& delta_;
    std::chrono::steady_clock::time_point begin_, last_use_;
    double first_word_s_ = 0.0;
    models::hub::HttpHead head_;
    bool is_stream_ = true;
    std::string body_; ///< Body of an error, or of an answer that is no stream.
    SseParser parser_;
    ChatStream stream_;
    std::optional<engine::Error> error_;
};

} // namespace remote
