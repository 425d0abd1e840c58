// SPDX-License-Identifier: Apache-2.0
#include "remote/short_question.h"

#include <span>

#include "remote/exchange.h"

namespace remote {

using models::hub::HttpHead;
using models::hub::HttpRequest;

namespace {

constexpr size_t kLargestAnswer = size_t{8} << 20U;

class WholeSink final : public models::hub::HttpSink {
public:
    explicit WholeSink(ShortAnswer& answer) : answer_(answer) {}
    bool onHead(const HttpHead& told) override {
        answer_.head = told;
        return true;
    }
    bool onBytes(std::span<const std::byte> bytes) override {
        answer_.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return answer_.body.size() <= kLargestAnswer;
    }

private:
    ShortAnswer& answer_;
};

} // namespace

HttpRequest
requestTo(const Connection& connection, const std::string& url, const std::string& user_agent) {
    HttpRequest request;
    request.url = url;
    request.headers = {{"User-Agent", user_agent}, {"Accept-Encoding", "identity"}};
    if (!connection.key.empty()) {
        request.headers.push_back({"Authorization", "Bearer " + connection.key});
    }
    request.connect_limit = connection.limits.connect;
    request.authorities = connection.authorities;
    return request;
}

ShortAnswer askShortly(const models::hub::HttpClientFactory& make_http,
                       const Connection& connection,
                       const std::string& url,
                       const std::string& user_agent,
                       const std::stop_token& stop) {
    HttpRequest request = requestTo(connection, url, user_agent);
    request.headers.push_back({"Accept", "application/json"});
    request.silence_limit = connection.limits.list;
    request.total_limit = connection.limits.list;
    ShortAnswer answer;
    WholeSink sink(answer);
    answer.end = exchange(make_http, request, sink, stop);
    return answer;
}

} // namespace remote
