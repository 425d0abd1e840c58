// SPDX-License-Identifier: Apache-2.0
// Why a server did not answer, as an error for people: of its statuses with whatever body they come
// in (objects of vLLM, SGLang and llama-server, plain strings, pages of proxies), and of ends of
// the network.
#pragma once

#include "engine/api/error.h"

#include <string>
#include <string_view>

#include "models/hub/http.h"

namespace remote {

/// The server's own words in the body of an error, at most 300 characters of one line; empty where
/// there are none: of an HTML page its title.
std::string wordsOfBody(std::string_view body);

/// `status` is none of 200 to 299. `model` may be empty (no model was asked). Details "rule" =
/// RemoteRefused (401, 403), RemoteMissing (404), RemoteBusy (429, 503), RemoteRedirect,
/// RemoteFailed (other 5xx), RemoteRequest (all others); "status".
engine::Error statusError(const models::hub::HttpHead& head,
                          std::string_view body,
                          const std::string& host,
                          const std::string& model);

/// An end other than Done and Cancelled. `has_words`: some of the reply is there. Details "rule" =
/// RemoteNetwork, or RemoteInterrupted with words.
engine::Error endError(const models::hub::HttpEnd& end, const std::string& host, bool has_words);

/// The error without the key, which some servers repeat in theirs: errors are shown, copied and
/// sent to others.
engine::Error withoutKey(engine::Error error, const std::string& key);

/// What a server wrote cannot be a reply. "rule" = RemoteAnswer.
engine::Error answerError(const std::string& host, engine::Sentence what);

/// An error that a server tells inside of a reply. "rule" = RemoteFailed.
engine::Error toldError(const std::string& host, const std::string& words);

} // namespace remote
