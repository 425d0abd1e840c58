// SPDX-License-Identifier: Apache-2.0
#include "library/hub/lists.h"

#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

#include "library/hub/cache_layout.h"
#include "library/hub/names.h"

namespace library::hub {

using engine::Error;
using engine::Json;
using engine::Result;

namespace {

constexpr int64_t kLargestFile = int64_t{1} << 44; ///< 16 TiB: no file of a model.

Error listError(const Asked& asked, const std::string& what) {
    return hubError("HubListing", asked.origin + ": its answer about " + asked.id + " " + what +
                                      "; nothing was fetched. Is HF_ENDPOINT a hub?");
}

Result<Json> parsed(const std::string& json, const Asked& asked) {
    engine::JsonLimits limits;
    limits.max_string_bytes = size_t{1} << 16;
    Json root;
    const engine::JsonOutcome outcome = engine::readJsonTree(json, limits, root);
    if (outcome.stop != engine::JsonStop::Done) {
        const Error why = engine::jsonError(outcome, "the answer");
        return listError(asked, "is no JSON (" + why.message + ")");
    }
    return root;
}

/// The string of a member, or nothing.
std::string textOf(const Json* object, std::string_view key) {
    const Json* const value = object == nullptr ? nullptr : object->find(key);
    return value != nullptr && value->is(Json::Kind::String) ? value->text : std::string();
}

std::optional<uint64_t> sizeOf(const Json* object) {
    const Json* const value = object == nullptr ? nullptr : object->find("size");
    const auto size = value == nullptr ? std::nullopt : value->integer();
    return size.has_value() && *size >= 0 && *size <= kLargestFile
               ? std::optional(static_cast<uint64_t>(*size))
               : std::nullopt;
}

Result<ListedFile> readFile(const Json& item, const Asked& asked) {
    ListedFile file;
    file.name = textOf(&item, "path");
    const std::string shown = engine::inQuotes(file.name);
    if (const char* problem = fileNameProblem(file.name)) {
        return listError(asked, "has the file name " + shown + ", which " + problem);
    }
    const auto size = sizeOf(&item);
    if (!size.has_value()) {
        return listError(asked, "tells no possible size of " + shown);
    }
    file.size_bytes = *size;
    const Json* const lfs = item.find("lfs");
    const Json* const large = lfs != nullptr && lfs->is(Json::Kind::Object) ? lfs : nullptr;
    file.is_large = large != nullptr;
    file.etag = textOf(large != nullptr ? large : &item, "oid");
    if (file.is_large ? !isSha256(file.etag) : !isCommit(file.etag)) {
        return listError(asked, "tells no checksum of " + shown +
                                    ", without which it cannot be "
                                    "verified");
    }
    if (large != nullptr && large->find("size") != nullptr && sizeOf(large) != size) {
        return listError(asked, "tells two sizes of " + shown);
    }
    return file;
}

} // namespace

Result<ModelInfo> readModelInfo(const std::string& json, const Asked& asked) {
    ENGINE_ASSIGN(const Json root, parsed(json, asked));
    ModelInfo info;
    info.commit = textOf(&root, "sha");
    info.id = textOf(&root, "id");
    if (!isCommit(info.commit)) {
        return listError(asked, "tells no commit (\"sha\" with 40 hexadecimal digits)");
    }
    if (!info.id.empty() && !parseAddress(info.id, {}).has_value()) {
        return listError(asked, "calls it " + engine::inQuotes(info.id) + ", which is no name");
    }
    return info;
}

Result<void> readFileList(const std::string& json,
                          const Asked& asked,
                          size_t most,
                          std::vector<ListedFile>& files) {
    ENGINE_ASSIGN(const Json root, parsed(json, asked));
    if (!root.is(Json::Kind::Array)) {
        return listError(asked,
                         "is " + std::string(root.kindName().text) + ", expected a list of files");
    }
    for (const Json& item : root.items) {
        const std::string type = textOf(&item, "type");
        if (type == "directory") {
            continue;
        }
        if (type != "file") {
            return listError(asked, "lists something that is neither a file nor a folder");
        }
        if (files.size() >= most) {
            return listError(asked, "lists more than " + std::to_string(most) + " files");
        }
        ENGINE_ASSIGN(ListedFile file, readFile(item, asked));
        files.push_back(std::move(file));
    }
    return {};
}

Result<void> checkFileList(const std::vector<ListedFile>& files, const Asked& asked) {
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const ListedFile& file : files) {
        names.push_back(file.name);
    }
    const auto [first, second] = clashingNames(names);
    if (!second.empty()) {
        return listError(asked, "lists " + engine::inQuotes(first) + " and " +
                                    engine::inQuotes(second) +
                                    ", which not every disk can hold side by side");
    }
    return {};
}

} // namespace library::hub
