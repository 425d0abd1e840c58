// SPDX-License-Identifier: Apache-2.0
// EngineProcess::ask() and order(), for the two files that ask.
#pragma once

#include "engine/api/device_loss.h"

#include <type_traits>
#include <utility>

#include "ipc/engine_process.h"

namespace ipc {

template <typename Call>
engine::Result<typename Call::Value>
EngineProcess::ask(const Call& call, const std::stop_token& stop, const Listener& listener) {
    ENGINE_TRY(makeReady(std::is_same_v<Call, Load>, namedBy(call), stop, listener));
    const std::string request = encode(call);
    if (request.size() > kMostPayload) {
        return engine::Error{engine::ErrorCode::InvalidRequest,
                             engine::said("the request has %1 bytes, which is more than the %2 "
                                          "that the engine's process takes; shorten it",
                                          request.size(), kMostPayload)};
    }
    const uint64_t number = ++last_call_;
    if (!link_->send(Call::kKind, number, request)) {
        return lose(Fault::Ended, {});
    }
    Heard heard = await(number, listener, stop, Until::Answered);
    if (heard.error.has_value()) {
        return std::move(*heard.error);
    }
    Answer<typename Call::Value> answer;
    std::string why;
    if (!decode(heard.payload, answer, why)) {
        return lose(Fault::Garbage, why);
    }
    take(std::move(answer.state));
    if (!answer.value.has_value()) {
        return engine::needsNewProcess(answer.error) ? renew(std::move(answer.error))
                                                     : std::move(answer.error);
    }
    return std::move(*answer.value);
}

template <typename Call>
engine::Result<void>
EngineProcess::order(const Call& call, const std::stop_token& stop, const Listener& listener) {
    auto result = ask(call, stop, listener);
    if (!result.has_value()) {
        return std::move(result).error();
    }
    return {};
}

} // namespace ipc
