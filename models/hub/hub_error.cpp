// SPDX-License-Identifier: Apache-2.0
#include "models/hub/hub_error.h"

#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

#include <utility>

namespace models::hub {

using engine::Error;
using engine::ErrorCode;
using engine::said;
using engine::Sentence;

engine::Argument nameOf(const Asked& asked) {
    if (asked.id.empty()) {
        return engine::phrase("a search");
    }
    std::string name = asked.id;
    if (!asked.revision.empty() && asked.revision != "main") {
        name += "@" + asked.revision.substr(0, 12);
    }
    return asked.file.empty() ? name : name + ": " + asked.file;
}

namespace {

/// The server's own sentence, or nothing.
std::string serversWords(const HttpHead& head, std::string_view body) {
    if (const std::string* message = head.find("x-error-message")) {
        return *message;
    }
    engine::Json root;
    const auto outcome = engine::readJsonTree(body, {}, root);
    if (outcome.stop == engine::JsonStop::Done) {
        const engine::Json* error = root.find("error");
        if (error != nullptr && error->is(engine::Json::Kind::String)) {
            return error->text;
        }
    }
    return {};
}

/// `error`'s sentence with what the server itself says behind it.
Error withServersWords(Error error, const std::string& words) {
    if (!words.empty()) {
        error.say(said("%1 (it says %2)", error.told(), engine::inQuotes(words)));
    }
    return error;
}

Error unauthorized(const Asked& asked,
                   const std::string& code,
                   const std::string& words,
                   int status) {
    const engine::Argument name = nameOf(asked);
    if (code == "GatedRepo") {
        const std::string page = asked.origin + "/" + asked.id;
        return hubError("HubGated",
                        asked.has_token
                            ? said("%1: its licence has to be accepted before it can be fetched: "
                                   "open %2 in a browser, sign in, accept, then try again",
                                   name, page)
                            : said("%1: its licence has to be accepted before it can be fetched: "
                                   "open %2 in a browser, sign in, accept, then set HF_TOKEN and "
                                   "try again",
                                   name, page));
    }
    if (words.find("nvalid credentials") != std::string::npos ||
        words.find("xpired") != std::string::npos) {
        return hubError("HubToken",
                        said("%1: %2 does not take the token: it is wrong or has expired; make a "
                             "new one on your settings page there, or unset HF_TOKEN",
                             name, asked.origin));
    }
    if (status == 403) {
        return hubError(
            "HubToken",
            asked.has_token
                ? said("%1: %2 refuses access to this token: it lacks the permission (a "
                       "fine-grained token names what it may read): set HF_TOKEN to one that has "
                       "it",
                       name, asked.origin)
                : said("%1: %2 refuses access; set HF_TOKEN if the model is yours", name,
                       asked.origin));
    }
    return hubError("HubToken",
                    asked.has_token
                        ? said("%1: there is no such model at %2, or it is private: check the name "
                               "and whose token HF_TOKEN is",
                               name, asked.origin)
                        : said("%1: there is no such model at %2, or it is private: check the "
                               "name, or set HF_TOKEN to a token that may read it",
                               name, asked.origin));
}

Error missing(const Asked& asked, const std::string& code) {
    if (asked.id.empty()) {
        return hubError("HubMissing",
                        said("%1 offers no search: name the model by OWNER/NAME", asked.origin));
    }
    if (code == "RevisionNotFound") {
        return hubError("HubMissing",
                        said("%1 has no revision %2; leave out what stands behind '@', or name a "
                             "branch, a tag or a commit that its page lists",
                             asked.id, engine::inQuotes(asked.revision)));
    }
    if (code == "EntryNotFound") {
        return hubError("HubMissing",
                        said("%1: it is no longer there; begin again", nameOf(asked)));
    }
    return hubError("HubMissing", said("%1: not found at %2; check the name: OWNER/NAME as on the "
                                       "model's page",
                                       nameOf(asked), asked.origin));
}

Error plainStatusError(int status, const Asked& asked) {
    if (status == 429) {
        return hubError("HubLimited", said("%1 has had too many requests from this address; try "
                                           "again in five minutes, or set HF_TOKEN",
                                           asked.origin));
    }
    if (status == 451) {
        return hubError("HubServer", said("%1: not offered where you are (status 451); choose "
                                          "another model",
                                          nameOf(asked)));
    }
    if (status >= 500) {
        return hubError("HubServer", said("%1 has trouble of its own (status %2); try again "
                                          "later, what has arrived is kept",
                                          asked.origin, status));
    }
    return hubError("HubServer", said("%1: %2 answered with status %3, expected 200; if "
                                      "HF_ENDPOINT is set, check that it is a hub",
                                      nameOf(asked), asked.origin, status));
}

} // namespace

Error hubError(const char* rule, Sentence words) {
    return {ErrorCode::InvalidRequest, std::move(words), {{"rule", rule}}};
}

Error statusError(const HttpHead& head, std::string_view body, const Asked& asked) {
    const std::string words = serversWords(head, body);
    const std::string* const named = head.find("x-error-code");
    const std::string code = named == nullptr ? std::string() : *named;
    if (head.status == 401 || head.status == 403) {
        return withServersWords(unauthorized(asked, code, words, head.status), words);
    }
    return withServersWords(
        head.status == 404 ? missing(asked, code) : plainStatusError(head.status, asked), words);
}

namespace {

/// What the network says, behind a sentence of ours; empty: nothing.
Sentence detailed(Sentence words, const std::string& detail) {
    return detail.empty() ? words : said("%1 (%2)", std::move(words), detail);
}

Error lost(const char* rule, Sentence words, const std::string& detail) {
    return hubError(rule, said("%1; what has arrived is kept: give the same command again",
                               detailed(std::move(words), detail)));
}

} // namespace

Error networkError(const HttpEnd& end, const Asked& asked) {
    using Kind = HttpEnd::Kind;
    const std::string& origin = asked.origin;
    switch (end.kind) {
    case Kind::Cancelled:
        return {ErrorCode::Cancelled,
                said("stopped; what has arrived is kept: the same command goes on from there")};
    case Kind::Forbidden:
        return hubError("HubOffline",
                        said("the network is forbidden by %1, so nothing was asked of %2: lift "
                             "that first",
                             end.detail, origin));
    case Kind::Silence:
        return lost("HubSilence", said("%1 has sent nothing for too long", origin), end.detail);
    case Kind::TooLong:
        return lost("HubSilence", said("%1 takes too long to answer", origin), end.detail);
    case Kind::NoHost:
        return lost("HubNetwork", said("%1 is not found: check the network connection", origin),
                    end.detail);
    case Kind::NoConnect:
        return lost("HubNetwork",
                    said("no connection to %1: check the network and its proxy", origin),
                    end.detail);
    case Kind::Cut:
        return lost("HubNetwork", said("the connection to %1 ended too early", origin), end.detail);
    case Kind::Tls:
        return hubError("HubNetwork",
                        detailed(said("no secure connection to %1: check the date of this "
                                      "computer and what sits between it and the network",
                                      origin),
                                 end.detail));
    case Kind::Proxy:
        return hubError("HubNetwork", detailed(said("the proxy on the way to %1 refuses: check "
                                                    "http_proxy and https_proxy",
                                                    origin),
                                               end.detail));
    case Kind::Malformed:
    case Kind::Sink:
    case Kind::Done:
        break;
    }
    return hubError("HubNetwork", detailed(said("what %1 sends is no answer of a hub: check "
                                                "HF_ENDPOINT and the network",
                                                origin),
                                           end.detail));
}

} // namespace models::hub
