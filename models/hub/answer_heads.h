// SPDX-License-Identifier: Apache-2.0
// What the heads of a hub's answers say, read without trust in any of it.
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/hub/hub_client.h"

namespace models::hub {

/// nullopt when there is none or it is no number.
std::optional<uint64_t> contentLength(const HttpHead& head);

/// The address in `Link: <address>; rel="next"`; empty when there is none.
std::string nextPage(const HttpHead& head);

/// How long a 429 asks us to wait: `RateLimit: "api";r=0;t=55` (and a second more), else
/// `Retry-After: 30`. A date there counts as none.
std::optional<std::chrono::milliseconds> waitAsked(const HttpHead& head);

/// A checksum without the quotes and the "W/" of an ETag.
std::string plainEtag(std::string_view etag);

/// An answer of the hub itself (X-Linked-ETag, ETag, X-Linked-Size) against what its list said.
/// Errors: HubChanged.
engine::Result<void> checkHubHead(const HttpHead& head, const ListedFile& file, const Asked& asked);

/// The position of the first byte of a 200 or 206 whose bytes from `begin` on were asked for.
/// Errors: HubChanged for another size, HubListing for a compressed body, a web page or a range
/// that was not asked for.
engine::Result<uint64_t>
firstByte(const HttpHead& head, const ListedFile& file, uint64_t begin, const Asked& asked);

} // namespace models::hub
