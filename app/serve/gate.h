// SPDX-License-Identifier: Apache-2.0
// Who may ask: decided from the head of a request alone, before a byte of its body is read. Keeps
// out pages of other sites that a browser has open (Origin, Host against rebinding of names, the
// content type against plain forms), programs without a token, and heads that two readers could
// take for two different requests.
#pragma once

#include "app/serve/exchange.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace serve {

struct GateRules {
    std::vector<std::string> tokens;
    /// Names under which the server is known besides its address: "host.docker.internal"; with
    /// whatever port.
    std::vector<std::string> hosts;
    /// Pages that may ask, as allowedOrigin() spells them: "http://localhost:3000".
    std::vector<std::string> origins;
    size_t most_body_bytes = size_t{64} << 20U;
};

inline constexpr size_t kMostLineBytes = size_t{8} << 10U;  ///< Request line alone.
inline constexpr size_t kMostHeadBytes = size_t{16} << 10U; ///< With all fields.
inline constexpr size_t kMostFields = 64;

/// A head as its bytes, the empty line included: line ends, folded lines, control characters,
/// lengths, which a parser may forgive. What to answer; nullopt: it may be parsed.
std::optional<HttpAnswer> checkRawHead(std::string_view head);

class Gate {
public:
    using Clock = std::chrono::steady_clock;

    explicit Gate(GateRules rules) : rules_(std::move(rules)) {}

    /// The answer to a request that may not go on (also a preflight's), or who asks. Both with the
    /// fields by which an allowed page may read the answer.
    std::variant<HttpAnswer, Admission> check(const HttpHead& head, Clock::time_point now);

private:
    [[nodiscard]] bool isOwnHost(const HttpHead& head) const;
    [[nodiscard]] std::optional<HttpAnswer> checkShape(const HttpHead& head) const;
    std::variant<HttpAnswer, Admission>
    judge(const HttpHead& head, bool is_page_allowed, Clock::time_point now);
    [[nodiscard]] std::optional<HttpAnswer> checkSender(const HttpHead& head,
                                                        bool is_allowed) const;
    [[nodiscard]] std::optional<HttpAnswer> checkBody(const HttpHead& head) const;
    HttpAnswer wrongToken(Clock::time_point now);

    GateRules rules_;
    std::deque<Clock::time_point> failures_; ///< Within the last minute.
};

} // namespace serve
