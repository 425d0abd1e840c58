// SPDX-License-Identifier: Apache-2.0
// A question of ours as the body of POST /v1/chat/completions.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/result.h"

#include <string>

#include "remote/model_list.h"

namespace remote {

/// JSON. Values of `request` that stand for the model's own default are left out, and so is what
/// `product` might refuse. Media go as data, before the text as they stand in the message. The
/// thoughts of earlier replies are not sent.
/// Errors: Unsupported (raw prompts, a reply to be continued), those of reading attachments.
engine::Result<std::string>
chatRequest(const engine::GenerateRequest& request, const std::string& model, Product product);

} // namespace remote
