// SPDX-License-Identifier: Apache-2.0
// Any bytes as the head and the body of a request to belfry-cli serve, without sockets: refused in
// OpenAI's shape, or a request whose numbers are in their ranges and whose media are all there.
#include "app/serve/api_request.h"
#include "app/serve/api_words.h"
#include "app/serve/gate.h"
#include "tests/fuzz/require.h"

#include <algorithm>
#include <cstdint>

using fuzz::require;

namespace {

/// As a parser that forgives everything would take it apart.
serve::HttpHead headOf(std::string_view text) {
    serve::HttpHead head;
    head.local_address = "127.0.0.1";
    head.local_port = 1;
    const std::string_view line = text.substr(0, text.find("\r\n"));
    const size_t first = line.find(' ');
    head.method = std::string(line.substr(0, first));
    if (first != std::string_view::npos) {
        head.target = std::string(line.substr(first + 1, line.rfind(' ') - first - 1));
    }
    for (size_t from = line.size() + 2; from < text.size();) {
        const size_t end = std::min(text.find("\r\n", from), text.size());
        const std::string_view field = text.substr(from, end - from);
        const size_t colon = std::min(field.find(": "), field.size());
        head.fields.emplace_back(field.substr(0, colon),
                                 field.substr(std::min(colon + 2, field.size())));
        from = end + 2;
    }
    return head;
}

void checkRefusal(const serve::ApiError& error) {
    require(error.status == 400 && !error.message.empty());
    require(serve::errorJson(error).starts_with(R"({"error":{"message":)"));
}

void checkRequest(const serve::ApiRequest& request) {
    const engine::SamplingParameters& sampling = request.generate.sampling;
    require(sampling.temperature == -1.0 ||
            (sampling.temperature >= 0.0 && sampling.temperature <= 2.0));
    require(sampling.top_p == -1.0 || (sampling.top_p > 0.0 && sampling.top_p <= 1.0));
    require(sampling.top_k >= -1 && sampling.max_tokens >= 0 && sampling.seed >= -1);
    require(request.generate.logprobs <= serve::kMostLogprobs);
    require(request.stops.size() <= serve::kMostStops);
    size_t media = 0;
    for (const engine::Message& message : request.generate.messages) {
        require(!message.parts.empty());
        media += static_cast<size_t>(
            std::count_if(message.parts.begin(), message.parts.end(), [](const auto& part) {
                return part.kind != engine::MessagePart::Kind::Text;
            }));
    }
    require(media == request.media.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const size_t end = text.find("\r\n\r\n");
    const std::string_view head = text.substr(0, end);
    const std::string_view body =
        end == std::string_view::npos ? std::string_view() : text.substr(end + 4);
    if (!serve::checkRawHead(std::string(head) + "\r\n\r\n").has_value()) {
        serve::GateRules rules;
        rules.tokens = {"a-token-of-the-fuzzer"};
        serve::Gate gate(rules);
        const auto verdict = gate.check(headOf(head), serve::Gate::Clock::now());
        const auto* answer = std::get_if<serve::HttpAnswer>(&verdict);
        require(answer == nullptr || (answer->status >= 204 && answer->status < 600));
    }
    serve::ApiRequest chat;
    if (const auto wrong = serve::readChatRequest(body, chat)) {
        checkRefusal(*wrong);
    } else {
        checkRequest(chat);
    }
    serve::ApiRequest completion;
    if (const auto wrong = serve::readCompletionRequest(body, completion)) {
        checkRefusal(*wrong);
    } else {
        checkRequest(completion);
    }
    return 0;
}
