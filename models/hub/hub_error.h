// SPDX-License-Identifier: Apache-2.0
// What went wrong between us and a hub, in sentences that say what to do. Every error of this room
// carries the detail "rule", which scripts and tests go by:
//
//   HubAddress   what was typed names no model
//   HubOffline   the network is forbidden
//   HubNetwork   no connection, or it ended
//   HubSilence   nothing came for too long
//   HubRedirect  led where we do not go
//   HubMissing   no such model, revision or file
//   HubToken     no, a wrong or an expired token
//   HubGated     a licence must be accepted first
//   HubLimited   too many requests
//   HubServer    the hub has trouble of its own
//   HubListing   the answer of the hub is not to be trusted
//   HubChanged   a file is another than was planned
//   HubHash      the bytes are not those of the checksum
//   HubDisk      no room, or the disk refuses
//   HubLocked    another program fetches the same
//   HubFolder    the folder holds something else
//   HubQueue     the list of downloads is none
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

#include "models/hub/http.h"

namespace models::hub {

/// What was asked for, for the sentence.
struct Asked {
    std::string id;
    std::string revision;
    std::string file = {}; ///< Empty: the model itself or its list of files.
    std::string origin;    ///< Who was asked: "https://huggingface.co".
    bool has_token = false;
};

engine::Error hubError(const char* rule, engine::Sentence words);

/// What it is, for the sentence: "google/gemma@v2: config.json"; "a search" where no model was
/// asked for.
engine::Argument nameOf(const Asked& asked);

/// An answer of a status that is none of 200, 206, 3xx. `body`: its first 4 KiB; text of the server
/// is quoted, cut and without control characters.
engine::Error statusError(const HttpHead& head, std::string_view body, const Asked& asked);

/// A request that came to no end of its own.
engine::Error networkError(const HttpEnd& end, const Asked& asked);

} // namespace models::hub
