// SPDX-License-Identifier: Apache-2.0
#include "library/hub/hub_error.h"

#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

namespace library::hub {

using engine::Error;
using engine::ErrorCode;

namespace {

std::string quoted(std::string_view text) {
    return engine::inQuotes(text);
}

/// What is missing: "google/gemma@main: config.json".
std::string nameOf(const Asked& asked) {
    std::string name = asked.id;
    if (!asked.revision.empty() && asked.revision != "main") {
        name += "@" + asked.revision.substr(0, 12);
    }
    return asked.file.empty() ? name : name + ": " + asked.file;
}

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

std::string behind(const std::string& words) {
    return words.empty() ? std::string() : " (it says " + quoted(words) + ")";
}

Error unauthorized(const Asked& asked,
                   const std::string& code,
                   const std::string& words,
                   int status) {
    const std::string told = behind(words);
    if (code == "GatedRepo") {
        return hubError("HubGated",
                        nameOf(asked) +
                            ": its licence has to be accepted before it can "
                            "be fetched: open " +
                            asked.origin + "/" + asked.id +
                            " in a browser, sign in, accept, then " +
                            (asked.has_token ? "try again" : "set HF_TOKEN and try again") + told);
    }
    if (words.find("nvalid credentials") != std::string::npos ||
        words.find("xpired") != std::string::npos) {
        return hubError("HubToken",
                        nameOf(asked) + ": " + asked.origin +
                            " does not take the token: it is wrong or has expired; make "
                            "a new one on your settings page there, or unset HF_TOKEN" +
                            told);
    }
    if (status == 403) {
        return hubError("HubToken",
                        nameOf(asked) + ": " + asked.origin + " refuses access" +
                            (asked.has_token ? " to this token: it lacks the permission (a "
                                               "fine-grained token names what it may read): "
                                               "set HF_TOKEN to one that has it"
                                             : "; set HF_TOKEN if the model is yours") +
                            told);
    }
    return hubError("HubToken", nameOf(asked) + ": there is no such model at " + asked.origin +
                                    ", or it is private: check the name" +
                                    (asked.has_token ? " and whose token HF_TOKEN is"
                                                     : ", or set HF_TOKEN to a token that may read "
                                                       "it") +
                                    told);
}

} // namespace

Error hubError(const char* rule, std::string message) {
    return {ErrorCode::InvalidRequest, std::move(message), {{"rule", rule}}};
}

Error statusError(const HttpHead& head, std::string_view body, const Asked& asked) {
    const std::string words = serversWords(head, body);
    const std::string* const named = head.find("x-error-code");
    const std::string code = named == nullptr ? std::string() : *named;
    const std::string told = behind(words);
    const std::string number = std::to_string(head.status);
    switch (head.status) {
    case 401:
    case 403:
        return unauthorized(asked, code, words, head.status);
    case 404:
        if (code == "RevisionNotFound") {
            return hubError("HubMissing",
                            asked.id + " has no revision " + quoted(asked.revision) +
                                "; leave out what stands behind '@', or name a branch, "
                                "a tag or a commit that its page lists" +
                                told);
        }
        if (code == "EntryNotFound") {
            return hubError("HubMissing",
                            nameOf(asked) + ": it is no longer there; begin again" + told);
        }
        return hubError("HubMissing", nameOf(asked) + ": not found at " + asked.origin +
                                          "; check the name: OWNER/NAME as on the model's page" +
                                          told);
    case 429:
        return hubError("HubLimited", asked.origin +
                                          " has had too many requests from this address; "
                                          "try again in five minutes, or set HF_TOKEN" +
                                          told);
    case 451:
        return hubError("HubServer", nameOf(asked) +
                                         ": not offered where you are (status 451); choose another "
                                         "model" +
                                         told);
    default:
        break;
    }
    if (head.status >= 500) {
        return hubError("HubServer", asked.origin + " has trouble of its own (status " + number +
                                         "); try again later, what has arrived is kept" + told);
    }
    return hubError("HubServer", nameOf(asked) + ": " + asked.origin + " answered with status " +
                                     number +
                                     ", expected 200; if HF_ENDPOINT is set, check that it "
                                     "is a hub" +
                                     told);
}

Error networkError(const HttpEnd& end, const Asked& asked) {
    const std::string detail = end.detail.empty() ? std::string() : " (" + end.detail + ")";
    const std::string kept = "; what has arrived is kept: give the same command again";
    using Kind = HttpEnd::Kind;
    switch (end.kind) {
    case Kind::Cancelled:
        return {ErrorCode::Cancelled,
                "stopped; what has arrived is kept: the same command goes on from there"};
    case Kind::Silence:
        return hubError("HubSilence",
                        asked.origin + " has sent nothing for too long" + detail + kept);
    case Kind::TooLong:
        return hubError("HubSilence", asked.origin + " takes too long to answer" + detail + kept);
    case Kind::NoHost:
        return hubError("HubNetwork", asked.origin + " is not found: check the network connection" +
                                          detail + kept);
    case Kind::NoConnect:
        return hubError("HubNetwork", "no connection to " + asked.origin +
                                          ": check the network and its proxy" + detail + kept);
    case Kind::Cut:
        return hubError("HubNetwork",
                        "the connection to " + asked.origin + " ended too early" + detail + kept);
    case Kind::Tls:
        return hubError("HubNetwork", "no secure connection to " + asked.origin +
                                          ": check the date of this computer and what sits between "
                                          "it and the network" +
                                          detail);
    case Kind::Proxy:
        return hubError("HubNetwork", "the proxy on the way to " + asked.origin +
                                          " refuses: check http_proxy and https_proxy" + detail);
    case Kind::Malformed:
    case Kind::Sink:
    case Kind::Done:
        break;
    }
    return hubError("HubNetwork", "what " + asked.origin +
                                      " sends is no answer of a hub: check HF_ENDPOINT and the "
                                      "network" +
                                      detail);
}

} // namespace library::hub
