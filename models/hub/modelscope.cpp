// SPDX-License-Identifier: Apache-2.0
#include "models/hub/modelscope.h"

#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <array>

#include "models/hub/lists.h"
#include "models/hub/url.h"

namespace models::hub {

using engine::Json;
using engine::Phrase;
using engine::Result;
using engine::said;

namespace {

constexpr int64_t kLargestListedFile = int64_t{1} << 44; ///< 16 TiB: no file of a model.

constexpr std::string_view kPages = "/models/";

engine::Error modelScopeListError(const Asked& asked, engine::Sentence what) {
    return hubError("HubListing", said("%1: its list of the files of %2 %3; nothing was fetched",
                                       asked.origin, nameOf(asked), std::move(what)));
}

Result<ListedFile> readModelScopeFile(const Json& item, const Asked& asked) {
    ListedFile file;
    file.name = engine::textOf(item, "Path");
    file.etag = engine::textOf(item, "Sha256");
    file.is_large = true; // as far as the checksum goes, all are
    const std::string shown = engine::inQuotes(file.name);
    file.problem = fileNameProblemHere(file.name);
    if (mayLeaveFolder(file.name)) {
        return modelScopeListError(
            asked, said("has the file name %1, which %2", shown, Phrase{file.problem}));
    }
    const Json* const size = item.find("Size");
    const auto bytes = size == nullptr ? std::nullopt : size->integer();
    if (!bytes.has_value() || *bytes < 0 || *bytes > kLargestListedFile) {
        return modelScopeListError(asked, said("tells no possible size of %1", shown));
    }
    file.size_bytes = static_cast<uint64_t>(*bytes);
    if (!isSha256(file.etag)) {
        return modelScopeListError(
            asked, said("tells no checksum of %1, without which it cannot be verified", shown));
    }
    return file;
}

} // namespace

std::string modelScopeEndpoint(const Environment& environment) {
    std::string base = environment.modelscope_endpoint;
    while (base.ends_with('/')) {
        base.pop_back();
    }
    return base.empty() ? std::string(kModelScopeEndpoint) : base;
}

std::span<const std::string_view> modelScopeHosts() {
    static constexpr std::array<std::string_view, 4> kHosts = {
        "modelscope.cn", "www.modelscope.cn", "modelscope.ai", "www.modelscope.ai"};
    return kHosts;
}

bool isModelScopeAddress(std::string_view text) {
    const auto hosts = modelScopeHosts();
    const auto url = parseUrl(text);
    return url.has_value() && std::find(hosts.begin(), hosts.end(), url->host) != hosts.end();
}

Result<ModelAddress> parseModelScopeAddress(std::string_view text) {
    std::string rest(text);
    if (isModelScopeAddress(text)) {
        // "/models/OWNER/NAME/summary": what the hub's form has without the first part
        const std::string target = parseUrl(text)->target;
        rest = std::string(kDefaultEndpoint) +
               (target.starts_with(kPages) ? target.substr(kPages.size() - 1) : target);
    }
    ENGINE_ASSIGN(ModelAddress address, parseAddress(rest, kDefaultEndpoint));
    if (rest.find('@') == std::string::npos) {
        address.revision = "master";
    }
    return address;
}

std::string modelScopePage(const std::string& id) {
    return std::string(kModelScopeEndpoint) + std::string(kPages) + id;
}

std::string modelScopeListPath(const std::string& id, const std::string& revision) {
    return "/api/v1/models/" + id +
           "/repo/files?Revision=" + percentEncoded(revision, /*keeps_slashes=*/false) +
           "&Recursive=True";
}

std::string
modelScopeFilePath(const std::string& id, const std::string& revision, const std::string& name) {
    return "/api/v1/models/" + id +
           "/repo?Revision=" + percentEncoded(revision, /*keeps_slashes=*/false) +
           "&FilePath=" + percentEncoded(name, /*keeps_slashes=*/false);
}

Result<std::vector<ListedFile>>
readModelScopeList(const std::string& json, const Asked& asked, size_t most) {
    ENGINE_ASSIGN(const Json root, parseAnswer(json, asked));
    const Json* const data = root.find("Data");
    const Json* const items = data == nullptr ? nullptr : data->find("Files");
    if (items == nullptr || !items->is(Json::Kind::Array)) {
        const std::string message = engine::textOf(root, "Message");
        return message.empty()
                   ? modelScopeListError(asked, engine::phrase("is none (\"Data\" with \"Files\")"))
                   : hubError("HubMissing",
                              said("%1 has no list of the files of %2 (%3); check "
                                   "the name and the revision",
                                   asked.origin, nameOf(asked), engine::inQuotes(message)));
    }
    std::vector<ListedFile> files;
    for (const Json& item : items->items) {
        if (engine::textOf(item, "Type") == "tree") {
            continue;
        }
        if (files.size() >= most) {
            return modelScopeListError(asked, said("lists more than %1 files", most));
        }
        ENGINE_ASSIGN(ListedFile file, readModelScopeFile(item, asked));
        files.push_back(std::move(file));
    }
    return files;
}

} // namespace models::hub
