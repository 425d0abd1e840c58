// SPDX-License-Identifier: Apache-2.0
#include "models/hub/lists.h"

#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

#include "models/hub/cache_layout.h"
#include "models/hub/names.h"

namespace models::hub {

using engine::Error;
using engine::Json;
using engine::Phrase;
using engine::phrase;
using engine::Result;
using engine::said;
using engine::Sentence;

namespace {

constexpr int64_t kLargestFile = int64_t{1} << 44; ///< 16 TiB: no file of a model.

Error listError(const Asked& asked, Sentence what) {
    return hubError("HubListing",
                    said("%1: its answer about %2 %3; nothing was fetched. Is HF_ENDPOINT a hub?",
                         asked.origin, nameOf(asked), std::move(what)));
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
    file.name = engine::textOf(item, "path");
    const std::string shown = engine::inQuotes(file.name);
    file.problem = fileNameProblemHere(file.name);
    if (mayLeaveFolder(file.name)) {
        return hubError("HubListing",
                        said("%1: %2 has the file name %3, which %4; nothing was fetched; check "
                             "the repository's name, or ask its owner to rename the file",
                             asked.origin, nameOf(asked), shown, Phrase{file.problem}));
    }
    const auto size = sizeOf(&item);
    if (!size.has_value()) {
        return listError(asked, said("tells no possible size of %1", shown));
    }
    file.size_bytes = *size;
    const Json* const lfs = item.find("lfs");
    const Json* const large = lfs != nullptr && lfs->is(Json::Kind::Object) ? lfs : nullptr;
    file.is_large = large != nullptr;
    file.etag = engine::textOf(large != nullptr ? *large : item, "oid");
    if (file.is_large ? !isSha256(file.etag) : !isCommit(file.etag)) {
        return listError(
            asked, said("tells no checksum of %1, without which it cannot be verified", shown));
    }
    if (large != nullptr && large->find("size") != nullptr && sizeOf(large) != size) {
        return listError(asked, said("tells two sizes of %1", shown));
    }
    return file;
}

} // namespace

Result<Json> parseAnswer(const std::string& json, const Asked& asked) {
    engine::JsonLimits limits;
    limits.max_string_bytes = size_t{1} << 16;
    Json root;
    const engine::JsonOutcome outcome = engine::readJsonTree(json, limits, root);
    if (outcome.stop != engine::JsonStop::Done) {
        const Error why = engine::jsonError(outcome, "the answer");
        return listError(asked, said("is no JSON (%1)", why.told()));
    }
    return root;
}

Result<ModelInfo> readModelInfo(const std::string& json, const Asked& asked) {
    ENGINE_ASSIGN(const Json root, parseAnswer(json, asked));
    ModelInfo info;
    info.commit = engine::textOf(root, "sha");
    info.id = engine::textOf(root, "id");
    if (!isCommit(info.commit)) {
        return listError(asked, phrase("tells no commit (\"sha\" with 40 hexadecimal digits)"));
    }
    if (!info.id.empty() && !parseAddress(info.id, {}).has_value()) {
        return listError(asked, said("calls it %1, which is no name", engine::inQuotes(info.id)));
    }
    return info;
}

Result<void> readFileList(const std::string& json,
                          const Asked& asked,
                          size_t most,
                          std::vector<ListedFile>& files) {
    ENGINE_ASSIGN(const Json root, parseAnswer(json, asked));
    if (!root.is(Json::Kind::Array)) {
        return listError(asked, said("is %1, expected a list of files", root.kindName()));
    }
    for (const Json& item : root.items) {
        const std::string type = engine::textOf(item, "type");
        if (type == "directory") {
            continue;
        }
        if (type != "file") {
            return listError(asked, phrase("lists something that is neither a file nor a folder"));
        }
        if (files.size() >= most) {
            return listError(asked, said("lists more than %1 files", most));
        }
        ENGINE_ASSIGN(ListedFile file, readFile(item, asked));
        files.push_back(std::move(file));
    }
    return {};
}

} // namespace models::hub
