// SPDX-License-Identifier: Apache-2.0
// What went wrong between us and a hub, in sentences that say what to do. Every error of this room
// carries the detail "rule", which scripts and tests go by:
//
//   HubAddress  what was typed names no model          HubListing  the answer of the hub is not to
//   be trusted HubOffline  the network is forbidden               HubChanged  a file is another
//   than was planned HubNetwork  no connection, or it ended             HubHash     the bytes are
//   not those of the checksum HubSilence  nothing came for too long              HubDisk     no
//   room, or the disk refuses HubRedirect led where we do not go                 HubLocked another
//   program fetches the same HubMissing  no such model, revision or file        HubFolder   the
//   folder holds something else HubToken    no, a wrong or an expired token        HubLimited  too
//   many requests HubGated    a licence must be accepted first       HubServer   the hub has
//   trouble of its own
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

#include "library/hub/http.h"

namespace library::hub {

/// What was asked for, for the sentence.
struct Asked {
    std::string id;
    std::string revision;
    std::string file = {}; ///< Empty: the model itself or its list of files.
    std::string origin;    ///< Who was asked: "https://huggingface.co".
    bool has_token = false;
};

engine::Error hubError(const char* rule, std::string message);

/// An answer of a status that is none of 200, 206, 3xx. `body`: its first 4 KiB; text of the server
/// is quoted, cut and without control characters.
engine::Error statusError(const HttpHead& head, std::string_view body, const Asked& asked);

/// A request that came to no end of its own.
engine::Error networkError(const HttpEnd& end, const Asked& asked);

} // namespace library::hub
