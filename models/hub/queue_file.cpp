// SPDX-License-Identifier: Apache-2.0
// The queue's file: a list of what was asked for, in JSON, written by hand because nothing else in
// the library writes any.
#include "engine/base/json/tree.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "models/hub/cache_layout.h"
#include "models/hub/disk_file.h"
#include "models/hub/hub_error.h"
#include "models/hub/names.h"
#include "models/hub/queue.h"

namespace models::hub {

namespace fs = std::filesystem;
using engine::Json;
using engine::Result;
using engine::said;

namespace {

constexpr size_t kMostBytes = size_t{4} << 20;
constexpr size_t kMostItems = 1000;
constexpr std::string_view kKind = "belfry-downloads";
constexpr int64_t kVersion = 1;
constexpr std::string_view kModelScope = "modelscope"; ///< Value of "source"; none: the hub.

std::string inJson(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20U) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
            out += escaped;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

bool isOn(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    return value != nullptr && value->is(Json::Kind::Bool) && value->boolean;
}

int64_t numberOf(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    const auto number = value == nullptr ? std::nullopt : value->integer();
    return std::max<int64_t>(0, number.value_or(0));
}

/// nullopt: nothing that we would have written.
std::optional<QueueItem> readItem(const Json& object) {
    QueueItem item;
    const auto address =
        parseAddress(engine::textOf(object, "id") + "@" + engine::textOf(object, "revision"), {});
    if (!address.has_value()) {
        return std::nullopt;
    }
    item.request.address = *address;
    item.request.address.quantization = engine::textOf(object, "quantization");
    item.request.target.cache = engine::pathFromUtf8(engine::textOf(object, "cache"));
    item.request.target.folder = engine::pathFromUtf8(engine::textOf(object, "folder"));
    item.request.target.has_links = isOn(object, "has_links");
    item.request.takes_all = isOn(object, "takes_all");
    item.commit = engine::textOf(object, "commit");
    item.model_folder = engine::pathFromUtf8(engine::textOf(object, "model_folder"));
    const Target& target = item.request.target;
    const fs::path& place = target.folder.empty() ? target.cache : target.folder;
    const bool is_hubs = engine::textOf(object, "source") != kModelScope;
    item.request.source = is_hubs ? Source::Hub : Source::ModelScope;
    if (!place.is_absolute() || (is_hubs && !isCommit(item.commit))) {
        return std::nullopt;
    }
    item.total_bytes = static_cast<uint64_t>(numberOf(object, "total_bytes"));
    item.done_bytes =
        std::min(item.total_bytes, static_cast<uint64_t>(numberOf(object, "done_bytes")));
    item.asked_at = numberOf(object, "asked_at");
    item.state = QueueItem::State::Paused;
    return item;
}

} // namespace

Result<std::vector<QueueItem>> readQueueFile(const fs::path& file) {
    std::error_code failure;
    if (!fs::exists(file, failure) && !failure) {
        return std::vector<QueueItem>();
    }
    const std::string shown = engine::utf8Of(file);
    const auto text = engine::readSmallFile(file, kMostBytes);
    if (!text.has_value()) {
        return hubError("HubDisk", said("%1; move it away, and the list of downloads begins anew",
                                        text.error().told()));
    }
    const auto root = engine::parseJson(*text, "downloads.json");
    const Json* const items = root.has_value() ? root->find("items") : nullptr;
    const bool is_ours = items != nullptr && items->is(Json::Kind::Array) &&
                         engine::textOf(*root, "kind") == kKind &&
                         numberOf(*root, "version") == kVersion;
    if (!is_ours) {
        return hubError("HubQueue", said("%1 is no list of downloads that this Belfry can read; "
                                         "move it away, and the list begins anew",
                                         shown));
    }
    std::vector<QueueItem> out;
    for (const Json& object : items->items) {
        if (auto item = readItem(object); item.has_value() && out.size() < kMostItems) {
            out.push_back(*std::move(item));
        }
    }
    return out;
}

Result<void> writeQueueFile(const fs::path& file, const std::vector<QueueItem>& items) {
    std::string text = "{\"kind\": " + inJson(kKind) +
                       ", \"version\": " + std::to_string(kVersion) + ", \"items\": [";
    bool is_first = true;
    for (const QueueItem& item : items) {
        if (item.state == QueueItem::State::Done) {
            continue;
        }
        const Target& target = item.request.target;
        const auto isTrue = [](bool value) { return std::string(value ? "true" : "false"); };
        text += std::string(is_first ? "\n" : ",\n") +                               //
                " {\"id\": " + inJson(item.request.address.id) +                     //
                ", \"revision\": " + inJson(item.request.address.revision) +         //
                ", \"quantization\": " + inJson(item.request.address.quantization) + //
                ", \"commit\": " + inJson(item.commit) +                             //
                ", \"cache\": " + inJson(engine::utf8Of(target.cache)) +             //
                ", \"folder\": " + inJson(engine::utf8Of(target.folder)) +           //
                ", \"has_links\": " + isTrue(target.has_links) +                     //
                ", \"takes_all\": " + isTrue(item.request.takes_all) +               //
                (item.request.source == Source::ModelScope ? ", \"source\": " + inJson(kModelScope)
                                                           : std::string()) +
                ", \"model_folder\": " + inJson(engine::utf8Of(item.model_folder)) + //
                ", \"total_bytes\": " + std::to_string(item.total_bytes) +           //
                ", \"done_bytes\": " + std::to_string(item.done_bytes) +             //
                ", \"asked_at\": " + std::to_string(item.asked_at) + "}";
        is_first = false;
    }
    text += "\n]}\n";
    fs::path temporary = file;
    temporary += ".incomplete";
    return writeSmallFile(file, temporary, text, FileReaders::Owner);
}

} // namespace models::hub
