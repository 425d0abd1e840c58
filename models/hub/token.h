// SPDX-License-Identifier: Apache-2.0
// The token that says who asks, from where huggingface_hub looks for it. It is a secret: no
// message, log or address ever holds it.
#pragma once

#include "engine/base/result.h"

#include <string>

#include "models/hub/cache_layout.h"

namespace models::hub {

/// Whether a token, or another one, may change this refusal: HubToken, HubGated.
bool asksForToken(const engine::Error& error);

/// HF_TOKEN, else HUGGING_FACE_HUB_TOKEN, else the text of tokenFile(); without blanks and line
/// ends around it. Empty: there is none, or HF_HUB_DISABLE_IMPLICIT_TOKEN is on.
/// Errors: HubToken when it is something that no token can be.
engine::Result<std::string> findToken(const Environment& environment);

} // namespace models::hub
