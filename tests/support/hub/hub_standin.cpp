// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hub/hub_standin.h"

#include "engine/base/digest.h"
#include "tests/support/loopback.h"
#include "tests/support/sockets.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

#include "models/hub/url.h"

namespace support {

namespace {

/// Between two bytes of a body that drips.
#ifdef _WIN32
constexpr int kDripMs = 6 * kPollMs;
#else
constexpr int kDripMs = kPollMs;
#endif

using engine::Digest;

std::string etagOf(const std::string& content, bool is_large) {
    Digest digest = is_large ? Digest::sha256() : Digest::gitBlob(content.size());
    digest.add(std::as_bytes(std::span(content.data(), content.size())));
    return digest.finish();
}

/// The file that ModelScope is asked for; empty: none.
std::string modelScopeFile(const std::string& path) {
    constexpr std::string_view kName = "&FilePath=";
    const size_t at = path.find(kName);
    return at == std::string::npos || !path.starts_with("/api/v1/models/")
               ? std::string()
               : path.substr(at + kName.size());
}

/// "bytes=5-", "bytes=5-9" against a length: [begin, end). False: no range, or none of that.
bool readRange(const HubRequest& request, uint64_t size, uint64_t& begin, uint64_t& end) {
    const auto found = request.headers.find("range");
    if (found == request.headers.end() || !found->second.starts_with("bytes=")) {
        return false;
    }
    const std::string text = found->second.substr(6);
    const size_t dash = text.find('-');
    begin = std::stoull(text.substr(0, dash));
    end = dash + 1 < text.size() ? std::stoull(text.substr(dash + 1)) + 1 : size;
    end = std::min(end, size);
    return true;
}

} // namespace

bool HubContent::isLarge(const std::string& name) const {
    return name.ends_with(".safetensors") || name.ends_with(".bin") || name.ends_with(".gguf");
}

HubStandin::HubStandin(HubContent content, HubFault fault)
    : content_(std::move(content)), fault_(std::move(fault)), faults_left_(fault_.times),
      server_([this](int connection) { serve(connection, false); }),
      other_([this](int connection) { serve(connection, true); }) {
    for (const auto& [name, text] : content_.files) {
        etags_[name] = etagOf(text, content_.isLarge(name));
    }
}

HubStandin::~HubStandin() {
    is_ending_ = true;
}

std::string HubStandin::endpoint() const {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + content_.prefix;
}

std::string HubStandin::otherEndpoint() const {
    return "http://127.0.0.1:" + std::to_string(other_.port());
}

std::vector<HubRequest> HubStandin::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

size_t HubStandin::connections() const {
    return server_.connections() + other_.connections();
}

std::string HubStandin::idIn(const std::string& path) const {
    for (const std::string& id : content_.also_called) {
        if (path.starts_with("/api/models/" + id + "/") || path.starts_with("/" + id + "/")) {
            return id;
        }
    }
    return content_.id;
}

std::string HubStandin::etag(const std::string& name) const {
    return etags_.at(name);
}

void HubStandin::serve(int connection, bool is_other_host) {
    std::string text;
    char piece[4096];
    while (!is_ending_) {
        const size_t end = text.find("\r\n\r\n");
        if (end == std::string::npos) {
            if (!isReadable(connection)) {
                continue;
            }
            const ssize_t n = ::recv(connection, piece, sizeof(piece), 0);
            if (n <= 0) {
                return;
            }
            text.append(piece, static_cast<size_t>(n));
            continue;
        }
        HubRequest request;
        request.is_other_host = is_other_host;
        const std::string head = text.substr(0, end);
        text.erase(0, end + 4);
        const size_t first = head.find(' ');
        request.path = head.substr(first + 1, head.find(' ', first + 1) - first - 1);
        if (!is_other_host && request.path.starts_with(content_.prefix)) {
            request.path.erase(0, content_.prefix.size());
        }
        for (size_t at = head.find("\r\n"); at != std::string::npos;) {
            const size_t next = head.find("\r\n", at + 2);
            const std::string line = head.substr(at + 2, next - at - 2);
            const size_t colon = line.find(':');
            if (colon != std::string::npos) {
                request.headers[lower(line.substr(0, colon))] =
                    line.substr(std::min(line.size(), line.find_first_not_of(' ', colon + 1)));
            }
            at = next;
        }
        // HEAD is answered as GET without its body: Python's client asks so.
        request.headers[":method"] = head.substr(0, first);
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
        }
        if (!answer(connection, request)) {
            return;
        }
    }
}

HubFault::Where HubStandin::place(const HubRequest& request) const {
    using Where = HubFault::Where;
    const std::string api = "/api/models/" + idIn(request.path);
    if (request.is_other_host) {
        return Where::Cdn;
    }
    if (request.path.starts_with("/api/models?")) {
        return Where::Search;
    }
    if (request.path.starts_with(api + "/tree/")) {
        return Where::Tree;
    }
    if (request.path.starts_with(api)) {
        return Where::Info;
    }
    if (request.path.starts_with("/api/v1/models/" + content_.id + "/repo/files?")) {
        return Where::Tree;
    }
    const std::string path = request.path.substr(0, request.path.find('?'));
    return content_.isLarge(path) || content_.isLarge(modelScopeFile(request.path)) ? Where::Large
                                                                                    : Where::Small;
}

bool HubStandin::answer(int connection, const HubRequest& request) {
    using How = HubFault::How;
    using Where = HubFault::Where;
    const Where where = place(request);
    bool is_faulty = fault_.where == where;
    if (is_faulty) {
        const std::lock_guard lock(mutex_);
        is_faulty = faults_left_ != 0;
        faults_left_ -= is_faulty && faults_left_ > 0 ? 1 : 0;
    }
    HubReply reply = rightReply(request);
    if (is_faulty && fault_.how == How::Edit) {
        fault_.edit(request, reply);
    }
    const bool is_file = (where == Where::Small || where == Where::Cdn) &&
                         (reply.status == 200 || reply.status == 206);
    if (request.headers.at(":method") == "HEAD") {
        reply.headers.emplace("Content-Length", std::to_string(reply.body.size()));
        reply.body = {};
    }
    if (is_faulty && fault_.how == How::Close) {
        return false;
    }
    if (is_faulty && fault_.how == How::Stall) {
        hold(connection);
        return false;
    }
    if (is_faulty && fault_.how == How::Garbage) {
        sendBytes(connection, "\x16\x03\x01 this is no web server\r\n\r\n", false);
        return false;
    }
    return sendReply(connection, reply, is_file, is_faulty ? &fault_ : nullptr);
}

bool HubStandin::sendReply(int connection,
                           const HubReply& reply,
                           bool is_file,
                           const HubFault* fault) {
    using How = HubFault::How;
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Told\r\n";
    auto headers = reply.headers;
    headers.emplace("Content-Length", std::to_string(reply.body.size()));
    for (const auto& [name, value] : headers) {
        if (!value.empty()) { // an empty one leaves the header out
            head += name + ": " + value + "\r\n";
        }
    }
    head += "\r\n";
    if (fault != nullptr && (fault->how == How::CutHead || fault->how == How::StallHead)) {
        sendBytes(connection, std::string_view(head).substr(0, head.size() / 2), false);
        if (fault->how == How::StallHead) {
            hold(connection);
        }
        return false;
    }
    if (!sendBytes(connection, head, false)) {
        return false;
    }
    std::string_view body = reply.body;
    if (fault != nullptr && (fault->how == How::CutBody || fault->how == How::StallBody)) {
        sendBytes(connection, body.substr(0, std::min<size_t>(body.size(), fault->at)), is_file);
        if (fault->how == How::StallBody) {
            hold(connection);
        }
        return false;
    }
    if (fault != nullptr && fault->how == How::Drip) {
        for (size_t i = 0; i < body.size() && !is_ending_; ++i) {
            if (!sendBytes(connection, body.substr(i, 1), is_file)) {
                return false;
            }
            // A whole answer takes longer than any limit of the tests (shortLimits()).
            std::this_thread::sleep_for(std::chrono::milliseconds(kDripMs));
        }
        return true;
    }
    constexpr size_t kPiece = size_t{64} << 10;
    while (content_.bytes_per_second > 0 && is_file && body.size() > kPiece) {
        if (is_ending_ || !sendBytes(connection, body.substr(0, kPiece), is_file)) {
            return false;
        }
        body.remove_prefix(kPiece);
        std::this_thread::sleep_for(
            std::chrono::microseconds(kPiece * 1'000'000 / content_.bytes_per_second));
    }
    return sendBytes(connection, body, is_file) && headers.count("Connection") == 0;
}

bool HubStandin::sendBytes(int connection, std::string_view bytes, bool is_counted) {
    while (!bytes.empty() && !is_ending_) {
        if (!isReady(connection, POLLOUT, kPollMs)) {
            continue;
        }
        const ssize_t n = sendWithoutWaiting(connection, bytes.data(), bytes.size());
        if (n < 0) {
            return false;
        }
        const auto sent = static_cast<size_t>(n);
        bytes.remove_prefix(sent);
        bytes_sent_ += is_counted ? sent : 0;
    }
    return bytes.empty();
}

void HubStandin::hold(int connection) const {
    char byte = 0;
    while (!is_ending_ && !(isReadable(connection) && ::recv(connection, &byte, 1, 0) <= 0)) {
    }
}

HubReply HubStandin::listReply(const HubRequest& request) const {
    size_t first = 0;
    if (const size_t at = request.path.find("&cursor="); at != std::string::npos) {
        first = std::stoul(request.path.substr(at + 8));
    }
    std::string json = "[";
    size_t index = 0;
    for (const auto& [name, text] : content_.files) {
        if (index >= first && index < first + content_.page_size) {
            const std::string size = std::to_string(text.size());
            json += (index == first ? "" : ",") + std::string(R"({"type":"file","path":")") + name +
                    R"(","size":)" + size + R"(,"oid":")" + std::string(40, 'a') + R"(")";
            if (content_.isLarge(name)) {
                json += R"(,"lfs":{"oid":")" + etags_.at(name) + R"(","size":)" + size +
                        R"(,"pointerSize":130})";
            } else {
                json.replace(json.size() - 41, 40, etags_.at(name));
            }
            json += "}";
        }
        ++index;
    }
    HubReply reply;
    reply.headers["Content-Type"] = "application/json; charset=utf-8";
    if (first + content_.page_size < index) {
        reply.headers["Link"] =
            "<" + endpoint() + "/api/models/" + idIn(request.path) + "/tree/" + content_.commit +
            "?recursive=true&expand=false&cursor=" + std::to_string(first + content_.page_size) +
            ">; rel=\"next\"";
    }
    reply.setBody(json + "]");
    return reply;
}

HubReply HubStandin::modelScopeListReply() const {
    std::string json = R"({"Code":200,"Message":"success","Success":true,"Data":{"Files":[)"
                       R"({"Name":"original","Path":"original","Type":"tree","Size":0})";
    for (const auto& [name, text] : content_.files) {
        const std::string sha256 = etagOf(text, /*is_large=*/true);
        json += R"(,{"Name":")" + name.substr(name.rfind('/') + 1) + R"(","Path":")" + name +
                R"(","Type":"blob","Revision":")" + content_.commit + R"(","Sha256":")" + sha256 +
                R"(","Size":)" + std::to_string(text.size()) + "}";
    }
    HubReply reply;
    reply.headers["Content-Type"] = "application/json; charset=utf-8";
    reply.setBody(json + "]}}");
    return reply;
}

HubReply HubStandin::searchReply(const HubRequest& request) const {
    size_t page = 0;
    if (const size_t at = request.path.find("&cursor="); at != std::string::npos) {
        page = std::stoul(request.path.substr(at + 8));
    }
    HubReply reply;
    reply.headers["Content-Type"] = "application/json; charset=utf-8";
    const std::vector<std::string>& pages = content_.search_pages;
    if (page + 1 < pages.size()) {
        const size_t end = std::min(request.path.find("&cursor="), request.path.size());
        reply.headers["Link"] = "<" + endpoint() + request.path.substr(0, end) +
                                "&cursor=" + std::to_string(page + 1) + ">; rel=\"next\"";
    }
    reply.setBody(page < pages.size()
                      ? pages[page]
                      : R"([{"id":")" + content_.id +
                            R"(","author":"org","downloads":12,"likes":3,"gated":false,)"
                            R"("private":false,"lastModified":"2026-11-03T12:00:00.000Z",)"
                            R"("pipeline_tag":"text-generation","library_name":"transformers",)"
                            R"("tags":["safetensors","gemma4","license:apache-2.0"]}])");
    return reply;
}

HubReply HubStandin::fileReply(const HubRequest& request, const std::string& name) const {
    const std::string& text = content_.files.at(name);
    HubReply reply;
    reply.body = text;
    reply.headers["ETag"] = "\"" + etags_.at(name) + "\"";
    reply.headers["Accept-Ranges"] = "bytes";
    uint64_t begin = 0;
    uint64_t end = 0;
    if (readRange(request, text.size(), begin, end)) {
        if (begin >= text.size()) {
            reply.status = 416;
            reply.headers["Content-Range"] = "bytes */" + std::to_string(text.size());
            reply.body = {};
            return reply;
        }
        reply.status = 206;
        reply.headers["Content-Range"] = "bytes " + std::to_string(begin) + "-" +
                                         std::to_string(end - 1) + "/" +
                                         std::to_string(text.size());
        reply.body = reply.body.substr(begin, end - begin);
    }
    return reply;
}

HubReply HubStandin::rightReply(const HubRequest& request) const {
    HubReply reply;
    const std::string path = *models::hub::percentDecoded(request.path);
    const std::string id = idIn(path);
    const std::string api = "/api/models/" + id;
    const std::string resolve = "/" + id + "/resolve/";
    const auto token = request.headers.find("authorization");
    if (!request.is_other_host && !content_.token.empty() &&
        (token == request.headers.end() || token->second != "Bearer " + content_.token)) {
        reply.status = 401;
        reply.headers["X-Error-Code"] = "RepoNotFound";
        return reply;
    }
    if (path.starts_with("/api/models?")) {
        return searchReply(request);
    }
    if (path.starts_with(api + "/tree/")) {
        return listReply(request);
    }
    if (path.starts_with(api)) {
        reply.headers["Content-Type"] = "application/json; charset=utf-8";
        reply.setBody(R"({"id":")" + id + R"(","sha":")" + content_.commit +
                      R"(","private":false,"gated":false,"tags":[],"siblings":[]})");
        return reply;
    }
    if (path.starts_with("/api/v1/models/" + content_.id + "/repo/files?")) {
        return modelScopeListReply();
    }
    std::string name = modelScopeFile(path);
    if (request.is_other_host && path.starts_with("/cdn/")) {
        name = path.substr(5, path.find('?') - 5);
    } else if (path.starts_with(resolve)) {
        name = path.substr(path.find('/', resolve.size()) + 1);
    }
    if (content_.files.find(name) == content_.files.end()) {
        reply.status = 404;
        reply.headers["X-Error-Code"] =
            path.starts_with("/api/models/") ? "RepoNotFound" : "EntryNotFound";
        return reply;
    }
    if (!request.is_other_host && content_.isLarge(name)) {
        reply.status = 302;
        reply.headers["Location"] = otherEndpoint() + "/cdn/" + name + "?signature=secret";
        reply.headers["X-Linked-ETag"] = "\"" + etags_.at(name) + "\"";
        reply.headers["X-Linked-Size"] = std::to_string(content_.files.at(name).size());
        reply.headers["X-Repo-Commit"] = content_.commit;
        return reply;
    }
    reply = fileReply(request, name);
    reply.headers["X-Repo-Commit"] = content_.commit;
    return reply;
}

} // namespace support
