// SPDX-License-Identifier: Apache-2.0
#include "remote/server_error.h"

#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <cctype>

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::Json;
using engine::phrase;
using engine::said;
using engine::Sentence;
using models::hub::HttpEnd;

namespace {

constexpr size_t kMostWords = 300;
constexpr size_t kShortestKey = 3; ///< A shorter one is as good as a word.

/// One line, no control characters, at most kMostWords bytes, whole characters.
std::string shortened(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size() && out.size() < kMostWords;) {
        const size_t length = engine::utf8SequenceLength(text, at);
        if (length == 0) {
            ++at;
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte < 0x20U || byte == 0x7fU) {
            out += out.empty() || out.back() == ' ' ? "" : " ";
        } else {
            out.append(text.substr(at, length));
        }
        at += length;
    }
    while (!out.empty() && out.back() == ' ') {
        out.pop_back();
    }
    return out;
}

std::string wordsOfObject(const Json& root) {
    if (root.is(Json::Kind::Array) && !root.items.empty()) { // some proxies wrap it in a list
        return wordsOfObject(root.items.front());
    }
    const Json* const error = root.find("error");
    if (error != nullptr && error->is(Json::Kind::String)) {
        return error->text;
    }
    const Json* const from = error != nullptr && error->is(Json::Kind::Object) ? error : &root;
    for (const char* key : {"message", "detail", "error_description", "title"}) {
        if (std::string words = engine::textOf(from->find(key)); !words.empty()) {
            return words;
        }
    }
    // FastAPI: {"detail":[{"msg":"field required"}]}
    const Json* const detail = root.find("detail");
    return detail != nullptr && detail->is(Json::Kind::Array) && !detail->items.empty()
               ? engine::textOf(detail->items.front().find("msg"))
               : std::string();
}

/// What stands between <title> and the next '<'.
std::string titleOf(std::string_view page) {
    std::string lower(page.substr(0, 4096));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const size_t open = lower.find("<title");
    const size_t begin = open == std::string::npos ? open : lower.find('>', open);
    if (begin == std::string::npos) {
        return {};
    }
    return std::string(page.substr(begin + 1, lower.find('<', begin) - begin - 1));
}

Error remoteError(const char* rule, Sentence words) {
    return {ErrorCode::InvalidRequest, std::move(words), {{"rule", rule}}};
}

/// Also where the text was cut within the key.
void hide(std::string& text, const std::string& key) {
    constexpr std::string_view kHidden = "(the key)";
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
        text.replace(at, key.size(), kHidden);
        at += kHidden.size();
    }
    for (size_t length = key.size() - 1; length >= kShortestKey; --length) {
        if (text.ends_with(std::string_view(key).substr(0, length))) {
            text.replace(text.size() - length, length, kHidden);
            return;
        }
    }
}

void hide(Sentence& words, const std::string& key) {
    for (engine::Argument& argument : words.arguments) {
        if (auto* const text = std::get_if<std::string>(&argument.value)) {
            hide(*text, key);
        } else if (auto* const inner = std::get_if<Sentence>(&argument.value)) {
            hide(*inner, key);
        }
    }
}

/// Nothing, or " (it says ...)".
Sentence behind(const std::string& words) {
    return words.empty() ? Sentence() : said(" (it says \"%1\")", words);
}

Error of4xx(int status, const std::string& host, const std::string& model, const Sentence& told) {
    switch (status) {
    case 401:
    case 403:
        return remoteError("RemoteRefused",
                           said("%1 does not let this computer in: the key is wrong, missing or "
                                "may not do that; check it%2",
                                host, told));
    case 404:
        return remoteError("RemoteMissing",
                           model.empty()
                               ? said("%1 has nothing at this address; check whether it ends in "
                                      "/v1%2",
                                      host, told)
                               : said("%1 has no model \"%2\", or its address is another one; "
                                      "choose one of its list%3",
                                      host, model, told));
    case 413:
        return remoteError("RemoteRequest",
                           said("%1 does not take so much at once; attach fewer or smaller files, "
                                "or begin a new chat%2",
                                host, told));
    default:
        return remoteError("RemoteRequest",
                           said("%1 refuses the request with status %2%3", host, status, told));
    }
}

/// Every one with a way on; none of them is to connect all the same.
Error certificateError(const char* rule, const HttpEnd& end, const std::string& host) {
    const std::string about = shortened(end.flaw_detail);
    Sentence words;
    switch (end.flaw) {
    case HttpEnd::Flaw::Expired:
        words =
            said("%1: its certificate was valid until %2, so nothing was sent: let whoever runs "
                 "the server renew it; if this computer's clock is wrong, set it right",
                 host, about);
        break;
    case HttpEnd::Flaw::NotYetValid:
        words = said("%1: its certificate is valid from %2 on, so nothing was sent: look whether "
                     "this computer's clock is right",
                     host, about);
        break;
    case HttpEnd::Flaw::Name:
        words =
            said("%1: its certificate is another host's (%2), so nothing was sent: use the name "
                 "that stands there if it is the same server; else somebody is in between",
                 host, about);
        break;
    case HttpEnd::Flaw::Revoked:
        words =
            said("%1: its certificate was taken back by who signed it, so nothing was sent: let "
                 "whoever runs the server get a new one",
                 host);
        break;
    default:
        words = said("%1: nobody whom this computer trusts vouches for its certificate (signed by "
                     "%2), so nothing was sent: if that is an authority of your own, give its "
                     "certificate as a PEM file (below the server's address, or --server-ca FILE)",
                     host, about);
    }
    Error error = remoteError(rule, std::move(words));
    error.details.emplace_back("certificate", about);
    return error;
}

} // namespace

std::string wordsOfBody(std::string_view body) {
    const size_t first = body.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return {};
    }
    if (body[first] == '{' || body[first] == '[') {
        Json root;
        if (engine::readJsonTree(body, {}, root).stop == engine::JsonStop::Done) {
            return shortened(wordsOfObject(root));
        }
    }
    if (body[first] == '<') {
        return shortened(titleOf(body));
    }
    return shortened(body.substr(first));
}

Error statusError(const models::hub::HttpHead& head,
                  std::string_view body,
                  const std::string& host,
                  const std::string& model) {
    const Sentence told = behind(wordsOfBody(body));
    Error error;
    if (head.status >= 300 && head.status < 400) {
        const std::string* const where = head.find("location");
        error = remoteError("RemoteRedirect",
                            said("%1 sends this request to another address (%2), which is not "
                                 "followed, so that no key and no word of yours goes there; "
                                 "connect to that address if it is the right one",
                                 host, where == nullptr ? std::string("?") : shortened(*where)));
    } else if (head.status == 429 || head.status == 503) {
        const std::string* const wait = head.find("retry-after");
        const bool is_number =
            wait != nullptr && !wait->empty() && wait->size() < 6 &&
            std::all_of(wait->begin(), wait->end(), [](char c) { return c >= '0' && c <= '9'; });
        error = remoteError(
            "RemoteBusy",
            is_number ? said("%1 has no time now: try again in %2 seconds%3", host, *wait, told)
                      : said("%1 has no time now, or is still loading its model: try again in a "
                             "minute%2",
                             host, told));
    } else if (head.status >= 500) {
        error = remoteError("RemoteFailed",
                            said("%1 failed with status %2: look at its log, or try again%3", host,
                                 head.status, told));
    } else if (head.status >= 400) {
        error = of4xx(head.status, host, model, told);
    } else {
        error = remoteError("RemoteAnswer",
                            said("%1 answers with status %2, expected 200; is it a server with "
                                 "the API of OpenAI?%3",
                                 host, head.status, told));
    }
    error.details.emplace_back("status", std::to_string(head.status));
    return error;
}

Error endError(const HttpEnd& end, const std::string& host, bool has_words) {
    using Kind = HttpEnd::Kind;
    const char* const rule = has_words ? "RemoteInterrupted" : "RemoteNetwork";
    const std::string words = shortened(end.detail);
    switch (end.kind) {
    case Kind::Forbidden: // the sentence of models/hub/hub_error.cpp
        return remoteError(rule, said("the network is forbidden by %1, so nothing was asked of %2: "
                                      "lift that first",
                                      end.detail, host));
    case Kind::NoHost:
        return remoteError(rule, said("%1: there is no such computer, or no network; check the "
                                      "address and the connection",
                                      host));
    case Kind::NoConnect:
        return remoteError(rule, said("%1 cannot be reached: nothing listens there, or the network "
                                      "is down; start the server, or check address and port (%2)",
                                      host, words));
    case Kind::Silence:
        return remoteError(rule, said("%1 said nothing any more for too long; it hangs or the "
                                      "connection is lost; try again",
                                      host));
    case Kind::TooLong:
        return remoteError(rule, said("%1 keeps the connection open and says nothing of use; look "
                                      "at its log, or try again",
                                      host));
    case Kind::Tls:
        if (end.flaw != HttpEnd::Flaw::None) {
            return certificateError(rule, end, host);
        }
        return remoteError(rule, said("%1: no safe connection: its certificate is not known or "
                                      "not valid, or it speaks no TLS (%2); nothing was sent",
                                      host, words));
    case Kind::Proxy:
        return remoteError(rule,
                           said("%1: the proxy in between refuses (%2); check the system's proxy "
                                "settings",
                                host, words));
    case Kind::Malformed:
        return remoteError(rule, said("%1 answers with something that is no HTTP (%2); check the "
                                      "address and the port",
                                      host, words));
    default:
        return remoteError(rule, has_words
                                     ? said("%1 ended the connection in the middle of the reply; "
                                            "what came is kept; ask once more for the rest",
                                            host)
                                     : said("%1 ended the connection before it answered; look at "
                                            "its log, or try again",
                                            host));
    }
}

Error withoutKey(Error error, const std::string& key) {
    if (key.size() < kShortestKey) {
        return error;
    }
    Sentence words = error.sentence;
    hide(words, key);
    if (!words.isEmpty()) {
        error.say(std::move(words));
    }
    for (auto& [name, value] : error.details) {
        hide(value, key);
    }
    return error;
}

Error answerError(const std::string& host, Sentence what) {
    return remoteError("RemoteAnswer", said("%1: its answer cannot be read: %2; is it a server "
                                            "with the API of OpenAI?",
                                            host, std::move(what)));
}

Error toldError(const std::string& host, const std::string& words) {
    const std::string shown = shortened(words);
    return remoteError("RemoteFailed",
                       shown.empty() ? said("%1 failed while it answered; look at its log", host)
                                     : said("%1 failed while it answered: %2", host, shown));
}

} // namespace remote
