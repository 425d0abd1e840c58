// SPDX-License-Identifier: Apache-2.0
// Any bytes as the answer of a server of chat completions, cut at places that the first bytes
// choose: a reply or an error that says something; the words that were handed on are those of the
// reply; and where the network cuts the bytes changes nothing.
#include "tests/fuzz/require.h"

#include <algorithm>
#include <string>

#include "remote/model_list.h"
#include "remote/reply_reader.h"
#include "remote/server_error.h"

using fuzz::require;
using models::hub::HttpEnd;

namespace {

struct Outcome {
    std::string text, thinking, message;
    bool is_reply = false;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome read(std::string_view body, const char* type, int status, size_t piece) {
    Outcome out;
    const engine::UpdateCallback delta = [&out](const engine::ReplyUpdate& update) {
        out.text += update.text;
        out.thinking += update.thinking;
    };
    remote::ReplyReader reader("host", "model", std::chrono::hours(1), delta);
    models::hub::HttpHead head;
    head.status = status;
    head.headers = {{"content-type", type}};
    HttpEnd end;
    if (!reader.onHead(head)) {
        end.kind = HttpEnd::Kind::Sink;
    }
    for (size_t at = 0; at < body.size() && end.kind == HttpEnd::Kind::Done; at += piece) {
        const std::string_view some = body.substr(at, piece);
        if (!reader.onBytes(std::as_bytes(std::span(some.data(), some.size())))) {
            end.kind = HttpEnd::Kind::Sink;
        }
    }
    const auto reply = reader.finish(end);
    out.is_reply = reply.has_value();
    if (reply.has_value()) {
        require(reply->text == out.text && reply->thinking == out.thinking);
        require(!reply->finish_reason.empty());
        require(reply->timing.prefill_tokens >= 0 && reply->timing.reused_tokens >= 0 &&
                reply->timing.decode_tokens >= 0);
    } else {
        out.message = reply.error().message;
        require(!out.message.empty() && out.message.size() < 2000);
    }
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2) {
        return 0;
    }
    const size_t piece = std::max<size_t>(1, data[0]);
    const int status = data[1] % 4 == 0 ? 200 + data[1] * 2 : 200;
    const char* const type = data[1] % 4 == 1 ? "application/json" : "text/event-stream";
    const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
    const Outcome whole = read(body, type, status, body.size() + 1);
    require(read(body, type, status, piece) == whole);
    require(remote::wordsOfBody(body).size() <= 304);
    const auto list = remote::readModelList(body, "host");
    require(list.has_value() || !list.error().message.empty());
    return 0;
}
