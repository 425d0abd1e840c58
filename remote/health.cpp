// SPDX-License-Identifier: Apache-2.0
#include "remote/health.h"

#include <string_view>
#include <utility>

#include "remote/model_list.h"
#include "remote/server_error.h"
#include "remote/short_question.h"

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::said;
using models::hub::HttpEnd;

namespace {

using State = Health::State;

/// What an end without an answer says.
Health ofEnd(const HttpEnd& end, const std::string& host) {
    if (end.kind == HttpEnd::Kind::Cancelled) {
        return {State::Stopped, std::nullopt};
    }
    return {end.kind == HttpEnd::Kind::Forbidden ? State::Forbidden : State::Gone,
            endError(end, host, false)};
}

Health ofStatus(const ShortAnswer& answer, const Connection& connection) {
    const int status = answer.head.status;
    const State state = status == 429 || status == 503   ? State::Loading
                        : status == 401 || status == 403 ? State::Refused
                                                         : State::Gone;
    return {state, withoutKey(statusError(answer.head, answer.body, connection.server.host, {}),
                              connection.key)};
}

} // namespace

std::string healthUrl(const std::string& base) {
    constexpr std::string_view kVersion = "/v1";
    return (base.ends_with(kVersion) ? base.substr(0, base.size() - kVersion.size()) : base) +
           "/health";
}

Health askHealth(const models::hub::HttpClientFactory& make_http,
                 const Connection& connection,
                 const std::string& model,
                 const std::string& user_agent,
                 const std::stop_token& stop) {
    const std::string& host = connection.server.host;
    const auto ask = [&](const std::string& url) {
        return askShortly(make_http, connection, url, user_agent, stop);
    };
    const ShortAnswer health = ask(healthUrl(connection.server.base));
    const bool is_answer = health.end.kind == HttpEnd::Kind::Done;
    if (!is_answer) {
        return ofEnd(health.end, host);
    }
    const bool is_alive = health.head.status >= 200 && health.head.status <= 299;
    if (is_alive && model.empty()) {
        return {State::Reachable, std::nullopt};
    }
    if (health.head.status == 503) {
        return ofStatus(health, connection);
    }
    // A proxy may know nothing of /health, or want a key that is for the API alone.
    const ShortAnswer list = ask(connection.server.base + "/models");
    if (list.end.kind != HttpEnd::Kind::Done) {
        return ofEnd(list.end, host);
    }
    const bool has_list = list.head.status >= 200 && list.head.status <= 299;
    if (!has_list && !(is_alive && list.head.status == 404)) {
        return ofStatus(list, connection);
    }
    const auto models = has_list ? readModelList(list.body, host) : ModelList();
    if (has_list && !models.has_value()) {
        return {State::Gone, models.error()};
    }
    if (has_list && !model.empty() && models->find(model) == nullptr) {
        return {State::Refused,
                Error{ErrorCode::InvalidRequest,
                      said("%1 is there again, but has no model \"%2\" any more; choose one of its "
                           "list",
                           host, model),
                      {{"rule", "RemoteMissing"}}}};
    }
    return {State::Reachable, std::nullopt};
}

} // namespace remote
