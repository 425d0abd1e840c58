// SPDX-License-Identifier: Apache-2.0
#include "tests/models/hub/fault_rows.h"

using support::HubFault;
using support::HubReply;
using support::HubRequest;
using Where = support::HubFault::Where;
using How = support::HubFault::How;

namespace {

using Headers = std::map<std::string, std::string>;

/// Another answer than the right one.
HubFault answer(Where where, int status, Headers headers, std::string body = {}, int times = -1) {
    return {where, How::Edit, times, 0,
            [status, headers = std::move(headers), body = std::move(body)](const HubRequest&,
                                                                           HubReply& reply) {
                reply.status = status;
                reply.headers = headers;
                reply.setBody(body);
            }};
}

/// The right answer with this body and its type.
HubFault body(Where where, std::string text) {
    return answer(where, 200, {{"Content-Type", "application/json"}}, std::move(text));
}

HubFault
edit(Where where, std::function<void(const HubRequest&, HubReply&)> change, int times = -1) {
    return {where, How::Edit, times, 0, std::move(change)};
}

HubFault header(Where where, const std::string& name, const std::string& value) {
    return edit(where,
                [name, value](const HubRequest&, HubReply& reply) { reply.headers[name] = value; });
}

HubFault network(Where where, How how, int times = -1, uint64_t at = 0) {
    return {where, how, times, at, {}};
}

/// A list with this as its only entry but for a model file.
HubFault entry(const std::string& json) {
    return body(Where::Tree,
                R"([{"type":"file","path":"m.safetensors","size":5,"oid":"a","lfs":{"oid":")" +
                    std::string(64, '0') + R"(","size":5}},)" + json + "]");
}

HubFault named(const std::string& name) {
    return entry(R"({"type":"file","path":")" + name + R"(","size":5,"oid":")" +
                 std::string(40, 'a') + R"("})");
}

HubFault wrongBytes(Where where, int times) {
    return edit(
        where,
        [](const HubRequest&, HubReply& reply) {
            std::string text(reply.body);
            text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
            reply.setBody(text);
        },
        times);
}

const std::string kPage = "<!DOCTYPE html><title>Sign in to the network</title>";
const Headers kHtml = {{"Content-Type", "text/html; charset=utf-8"}};

} // namespace

std::vector<FaultRow> infoFaults() {
    constexpr Where kInfo = Where::Info;
    const std::string commit(40, 'b');
    const auto sentence = [](const std::string& text) { return R"({"error":")" + text + "\"}"; };
    return {
        {"a web page instead of JSON", answer(kInfo, 200, kHtml, kPage), "HubListing", "sign-in"},
        {"half a JSON", body(kInfo, R"({"sha":")"), "HubListing", "no JSON"},
        {"nothing", body(kInfo, ""), "HubListing", "no JSON"},
        {"a list", body(kInfo, "[]"), "HubListing", "no commit"},
        {"no commit", body(kInfo, R"({"id":"org/m"})"), "HubListing", "no commit"},
        {"a commit that is none", body(kInfo, R"({"sha":"main"})"), "HubListing", "no commit"},
        {"a commit that is a path",
         body(kInfo, R"({"sha":"../../../../../../../../../../../etc/pwd"})"), "HubListing",
         "no commit"},
        {"an id that is a path", body(kInfo, R"({"sha":")" + commit + R"(","id":"../../x"})"),
         "HubListing", "no name"},
        {"nested a thousand times", body(kInfo, std::string(1000, '[') + std::string(1000, ']')),
         "HubListing", "no JSON"},
        {"more than a list has", body(kInfo, "\"" + std::string(200'000, 'x') + "\""), "HubListing",
         "bytes"},
        {"compressed", answer(kInfo, 200, {{"Content-Encoding", "gzip"}}, "\x1f\x8b\x08 nonsense"),
         "HubListing"},
        {"401: not found", answer(kInfo, 401, {{"X-Error-Code", "RepoNotFound"}}), "HubToken",
         "private"},
        {"401: nothing more", answer(kInfo, 401, {}), "HubToken", "HF_TOKEN"},
        {"401: asks for a password", answer(kInfo, 401, {{"WWW-Authenticate", "Basic realm=x"}}),
         "HubToken"},
        {"401: gated", answer(kInfo, 401, {{"X-Error-Code", "GatedRepo"}}), "HubGated", "accept"},
        {"403: gated", answer(kInfo, 403, {{"X-Error-Code", "GatedRepo"}}), "HubGated", "browser"},
        {"401: wrong token",
         answer(kInfo, 401, {}, sentence("Invalid credentials in Authorization header")),
         "HubToken", "does not take the token"},
        {"401: expired token", answer(kInfo, 401, {{"X-Error-Message", "Token has expired"}}),
         "HubToken", "expired"},
        {"403: no permission", answer(kInfo, 403, {}), "HubToken", "refuses access"},
        {"404: model", answer(kInfo, 404, {{"X-Error-Code", "RepoNotFound"}}), "HubMissing",
         "check the name"},
        {"404: revision", answer(kInfo, 404, {{"X-Error-Code", "RevisionNotFound"}}), "HubMissing",
         "revision"},
        {"404: nothing more", answer(kInfo, 404, kHtml, kPage), "HubMissing"},
        {"404: five megabytes", answer(kInfo, 404, {}, std::string(5'000'000, 'x')), "HubMissing"},
        {"429: RateLimit, then good", answer(kInfo, 429, {{"RateLimit", "\"api\";r=0;t=0"}}, {}, 1),
         "ok"},
        {"429: Retry-After, then good", answer(kInfo, 429, {{"Retry-After", "0"}}, {}, 2), "ok"},
        {"429: a date, then good",
         answer(kInfo, 429, {{"Retry-After", "Fri, 31 Dec 2100 23:59:59 GMT"}}, {}, 1), "ok"},
        {"429: without end", answer(kInfo, 429, {}), "HubLimited", "too many"},
        {"429: days to wait", answer(kInfo, 429, {{"Retry-After", "500000"}}), "HubLimited",
         "five minutes"},
        {"429: a wait that is none", answer(kInfo, 429, {{"RateLimit", "t=99999999999999999999"}}),
         "HubLimited"},
        {"408, then good", answer(kInfo, 408, {}, {}, 1), "ok"},
        {"451", answer(kInfo, 451, {}), "HubServer", "not offered"},
        {"500 twice, then good", answer(kInfo, 500, {}, {}, 2), "ok"},
        {"503 without end", answer(kInfo, 503, kHtml, kPage), "HubServer", "trouble"},
        {"418", answer(kInfo, 418, {}), "HubServer", "418"},
        {"204", answer(kInfo, 204, {}), "HubServer", "204"},
        {"escapes in its sentence", answer(kInfo, 403, {}, sentence("\\u001b[2J\\u001b]0;owned")),
         "HubToken", "?[2J"},
        {"a renamed model",
         answer(kInfo, 307, {{"Location", "/api/models/org/m/revision/main?again"}}, {}, 1), "ok"},
        {"redirects in a circle",
         answer(kInfo, 307, {{"Location", "/api/models/org/m/revision/main"}}), "HubRedirect",
         "on and on"},
        {"a redirect to another host", answer(kInfo, 302, {{"Location", "http://localhost:9/api"}}),
         "HubRedirect", "another host"},
        {"a redirect without address", answer(kInfo, 302, {}), "HubRedirect"},
        {"a redirect to a file", answer(kInfo, 302, {{"Location", "file:///etc/passwd"}}),
         "HubRedirect", "no address"},
        {"a redirect with a password",
         answer(kInfo, 302, {{"Location", "http://user:secret@127.0.0.1/"}}), "HubRedirect"},
        {"the connection ends", network(kInfo, How::Close), "HubNetwork"},
        {"the connection ends once", network(kInfo, How::Close, 1), "ok"},
        {"no HTTP", network(kInfo, How::Garbage), "HubNetwork"},
        {"cut in the head", network(kInfo, How::CutHead), "HubNetwork"},
        {"cut in the body", network(kInfo, How::CutBody, -1, 10), "HubNetwork"},
        {"cut in the body once", network(kInfo, How::CutBody, 1, 10), "ok"},
        {"silence", network(kInfo, How::Stall), "HubSilence"},
        {"silence in the head", network(kInfo, How::StallHead), "HubSilence"},
        {"silence in the body, once", network(kInfo, How::StallBody, 1, 10), "ok"},
        {"drips", network(kInfo, How::Drip), "HubSilence", "too long"},
    };
}

std::vector<FaultRow> listFaults() {
    constexpr Where kTree = Where::Tree;
    const std::string hex(40, 'a');
    const auto file = [&](const std::string& members) {
        return entry(R"({"type":"file","path":"config.json",)" + members + "}");
    };
    const auto text = [&](const std::string& path) {
        return R"({"type":"file","path":")" + path + R"(","size":5,"oid":")" + hex + R"("})";
    };
    const std::string link =
        "/api/models/org/m/tree/" + std::string(40, 'b') + "?recursive=true&expand=false";
    std::string many = "[";
    for (int i = 0; i < 60; ++i) {
        many += (i == 0 ? "" : ",") + text("f" + std::to_string(i));
    }
    return {
        {"list: a web page", answer(kTree, 200, kHtml, kPage), "HubListing", "web page"},
        {"list: an object", body(kTree, "{}"), "HubListing", "an object"},
        {"list: no objects in it", body(kTree, "[1, 2]"), "HubListing"},
        {"list: empty", body(kTree, "[]"), "HubMissing", "no files"},
        {"list: only .bin", body(kTree, "[" + text("pytorch_model.bin") + "]"), "HubMissing",
         ".safetensors"},
        {"list: only a projector", body(kTree, "[" + text("mmproj-m.gguf") + "]"), "HubMissing",
         "no whole model"},
        {"list: half a GGUF model", body(kTree, "[" + text("m-00001-of-00002.gguf") + "]"),
         "HubMissing", "no whole model"},
        {"name: ../evil", named("../evil"), "HubListing", "leads out"},
        {"name: a/../../evil", named("a/../../evil"), "HubListing", "leads out"},
        {"name: /etc/passwd", named("/etc/passwd"), "HubListing", "empty part"},
        {"name: wanted, 300 characters", named(std::string(300, 'x') + ".safetensors"),
         "HubListing", "255"},
        {"name: wanted, a line end", named("a\\nb.safetensors"), "HubListing", "control"},
        {"name: wanted, a zero byte", named("a\\u0000b.safetensors"), "HubListing", "control"},
        {"name: empty", named(""), "HubListing"},
        {"names: the same twice", entry(text("config.json") + "," + text("config.json")),
         "HubListing", "side by side"},
        {"size: negative", file(R"("size":-1,"oid":")" + hex + "\""), "HubListing", "size"},
        {"size: beyond all disks", file(R"("size":99999999999999999,"oid":")" + hex + "\""),
         "HubListing", "size"},
        {"size: 1e300", file(R"("size":1e300,"oid":")" + hex + "\""), "HubListing", "size"},
        {"size: a text", file(R"("size":"5","oid":")" + hex + "\""), "HubListing", "size"},
        {"size: none", file(R"("oid":")" + hex + "\""), "HubListing", "size"},
        {"checksum: none", file(R"("size":5)"), "HubListing", "checksum"},
        {"checksum: a path", file(R"("size":5,"oid":"../../x")"), "HubListing", "checksum"},
        {"checksum: short", file(R"("size":5,"lfs":{"oid":"abc","size":5})"), "HubListing",
         "checksum"},
        {"two sizes", file(R"("size":5,"lfs":{"oid":")" + std::string(64, 'a') + R"(","size":6})"),
         "HubListing", "two sizes"},
        {"neither file nor folder", entry(R"({"type":"link","path":"x"})"), "HubListing",
         "neither"},
        {"more files than can be", body(kTree, many + "]"), "HubListing", "more than"},
        {"next page: another host", header(kTree, "Link", "<http://localhost:9/x>; rel=\"next\""),
         "HubListing", "another host"},
        {"next page: this one again", header(kTree, "Link", "<" + link + ">; rel=\"next\""),
         "HubListing", "on and on"},
        {"next page: no address", header(kTree, "Link", "<ftp://x/y>; rel=\"next\""), "HubListing"},
        {"list: 429 once", answer(kTree, 429, {{"Retry-After", "0"}}, {}, 1), "ok"},
        {"list: 404", answer(kTree, 404, {{"X-Error-Code", "RevisionNotFound"}}), "HubMissing"},
        {"list: silence", network(kTree, How::Stall), "HubSilence"},
        {"list: cut", network(kTree, How::CutBody, -1, 100), "HubNetwork"},
    };
}

std::vector<FaultRow> fileFaults() {
    constexpr Where kSmall = Where::Small;
    constexpr Where kLarge = Where::Large;
    const auto length = [](int by) {
        return [by](const HubRequest&, HubReply& reply) {
            std::string text(reply.body);
            text.resize(text.size() + static_cast<size_t>(by), 'x');
            reply.setBody(text);
        };
    };
    return {
        {"small: wrong bytes", wrongBytes(kSmall, -1), "HubHash", "checksum"},
        {"small: wrong bytes once", wrongBytes(kSmall, 1), "ok"},
        {"small: shorter", edit(kSmall, length(-1)), "HubChanged", "list of files"},
        {"small: longer", edit(kSmall, length(1)), "HubChanged", "list of files"},
        {"small: another checksum", header(kSmall, "ETag", "\"" + std::string(40, 'c') + "\""),
         "HubChanged", "begin again"},
        {"small: another weak checksum",
         header(kSmall, "ETag", "W/\"" + std::string(40, 'c') + "\""), "HubChanged"},
        {"small: a tag that is no checksum", header(kSmall, "ETag", "\"v1\""), "ok"},
        {"small: a web page", answer(kSmall, 200, kHtml, kPage), "HubListing", "sign-in"},
        {"small: gone", answer(kSmall, 404, {{"X-Error-Code", "EntryNotFound"}}), "HubMissing",
         "no longer"},
        {"small: 401", answer(kSmall, 401, {}), "HubToken"},
        {"small: gated", answer(kSmall, 403, {{"X-Error-Code", "GatedRepo"}}), "HubGated"},
        {"small: compressed", header(kSmall, "Content-Encoding", "gzip"), "HubListing",
         "compressed"},
        {"small: cut", network(kSmall, How::CutBody, 1, 5), "ok"},
        {"small: cut in the head", network(kSmall, How::CutHead, 1), "ok"},
        {"small: 500 once", answer(kSmall, 500, {}, {}, 1), "ok"},
        {"large: another size", header(kLarge, "X-Linked-Size", "7"), "HubChanged",
         "list of files"},
        {"large: another checksum",
         header(kLarge, "X-Linked-ETag", "\"" + std::string(64, 'c') + "\""), "HubChanged",
         "changed meanwhile"},
        {"large: redirects in a circle",
         edit(kLarge, [](const HubRequest& request,
                         HubReply& reply) { reply.headers["Location"] = request.path; }),
         "HubRedirect", "on and on"},
        {"large: a redirect to a file", header(kLarge, "Location", "file:///etc/passwd"),
         "HubRedirect"},
        {"large: a redirect without address", header(kLarge, "Location", ""), "HubRedirect"},
        {"large: to where nobody listens", header(kLarge, "Location", "http://127.0.0.1:1/x"),
         "HubNetwork", "kept"},
        {"large: to a name without address",
         header(kLarge, "Location", "http://no-such-host.invalid/x"), "HubNetwork"},
        {"large: 500 twice", answer(kLarge, 500, {}, {}, 2), "ok"},
        {"large: 429 without end", answer(kLarge, 429, {}), "HubLimited"},
        {"large: silence once", network(kLarge, How::Stall, 1), "ok"},
    };
}

std::vector<FaultRow> otherHostFaults() {
    constexpr Where kCdn = Where::Cdn;
    const auto without = [](const char* name, const std::string& value) {
        return edit(Where::Cdn, [name, value](const HubRequest& request, HubReply& reply) {
            if (request.headers.count("range") > 0) {
                reply.headers[name] = value;
            }
        });
    };
    const HubFault ignores = edit(kCdn, [](const HubRequest& request, HubReply& reply) {
        const size_t skipped = 1000;
        if (request.headers.count("range") > 0 && reply.status == 206) {
            // The whole file, of which the reply's body is the end.
            const char* const begin = reply.body.data() - skipped;
            reply.body = std::string_view(begin, reply.body.size() + skipped);
            reply.status = 200;
            reply.headers.erase("Content-Range");
        }
    });
    const HubFault refuses = edit(kCdn, [](const HubRequest& request, HubReply& reply) {
        if (request.headers.count("range") > 0) {
            reply.status = 416;
            reply.headers = {};
            reply.body = {};
        }
    });
    return {
        {"address expired once", answer(kCdn, 403, {}, "<Error>expired</Error>", 1), "ok"},
        {"address expired always", answer(kCdn, 403, {}), "HubServer", "expired"},
        {"404 there once", answer(kCdn, 404, {}, {}, 1), "ok"},
        {"503 there once", answer(kCdn, 503, {}, {}, 1), "ok"},
        {"503 there always", answer(kCdn, 503, {}), "HubServer"},
        {"a web page there", answer(kCdn, 200, kHtml, kPage), "HubListing", "sign-in"},
        {"continues", {}, "ok", "", "begin"},
        {"range ignored", ignores, "ok", "", "begin"},
        {"416 for the rest", refuses, "ok", "", "begin"},
        {"what is there is too long", {}, "ok", "", "long"},
        {"what is there is wrong", {}, "ok", "", "wrong"},
        {"another range", without("Content-Range", "bytes 0-299999/300000"), "HubListing",
         "from 1000 on", "begin"},
        {"a range without end", without("Content-Range", "bytes 1000-"), "HubListing",
         "what comes says", "begin"},
        {"no word of the range", without("Content-Range", ""), "HubListing", "nothing of its range",
         "begin"},
        {"a range of another file", without("Content-Range", "bytes 1000-299999/300001"),
         "HubChanged", "list of files", "begin"},
        {"a range beyond the file", without("Content-Range", "bytes 1000-399999/*"), "HubListing",
         "what comes says", "begin"},
        {"cut once", network(kCdn, How::CutBody, 1, 100'000), "ok"},
        {"cut each time, later", network(kCdn, How::CutBody, -1, 60'000), "ok"},
        {"cut at the first byte", network(kCdn, How::CutBody, -1, 0), "HubNetwork", "kept"},
        {"cut in the head there", network(kCdn, How::CutHead), "HubNetwork"},
        {"ends at once", network(kCdn, How::Close), "HubNetwork"},
        {"ends at once, twice", network(kCdn, How::Close, 2), "ok"},
        {"no HTTP there", network(kCdn, How::Garbage), "HubNetwork"},
        {"silence there", network(kCdn, How::Stall), "HubSilence", "kept"},
        {"silence after some bytes, once", network(kCdn, How::StallBody, 1, 100'000), "ok"},
        {"silence in the head there", network(kCdn, How::StallHead), "HubSilence"},
        {"drips there", network(kCdn, How::Drip), "HubSilence"},
        {"wrong bytes there", wrongBytes(kCdn, -1), "HubHash", "thrown away"},
        {"wrong bytes there, once", wrongBytes(kCdn, 1), "ok"},
        {"compressed there", header(kCdn, "Content-Encoding", "br"), "HubListing", "compressed"},
        {"more than it says",
         edit(kCdn,
              [](const HubRequest&, HubReply& reply) {
                  reply.setBody(std::string(reply.body) + std::string(100'000, 'x'));
                  reply.headers["Content-Length"] = ""; // until the connection ends
                  reply.headers["Connection"] = "close";
              }),
         "HubChanged", "more bytes"},
        {"on to the same again",
         edit(kCdn,
              [](const HubRequest& request, HubReply& reply) {
                  reply.status = 302;
                  reply.headers = {{"Location", request.path}};
                  reply.body = {};
              }),
         "HubRedirect", "on and on"},
    };
}
