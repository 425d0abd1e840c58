// SPDX-License-Identifier: Apache-2.0
#include "models/hub/search.h"

#include "engine/base/json/tree.h"

#include <algorithm>
#include <array>

#include "models/hub/lists.h"
#include "models/hub/names.h"
#include "models/hub/url.h"

namespace models::hub {

using engine::Json;
using engine::Result;
using engine::said;

namespace {

constexpr size_t kMostHits = 1000; ///< Per page; the hub sends 100 at most.
constexpr size_t kMostBases = 64;  ///< Per hit; a merge has some.

const char* sortName(SearchQuery::Sort sort) {
    switch (sort) {
    case SearchQuery::Sort::Downloads:
        return "downloads";
    case SearchQuery::Sort::Likes:
        return "likes";
    case SearchQuery::Sort::Changed:
        return "lastModified";
    case SearchQuery::Sort::Created:
        return "createdAt";
    case SearchQuery::Sort::Trending:
        return "trendingScore";
    }
    return "downloads";
}

/// The tags that all must be there.
std::vector<std::string> tagsOf(const SearchQuery& query) {
    using Kind = SearchQuery::Kind;
    std::vector<std::string> tags;
    if (query.kind == Kind::Models) {
        tags.emplace_back("safetensors");
    } else if (query.kind == Kind::Gguf) {
        tags.emplace_back("gguf");
    } else if (query.kind == Kind::Adapters && query.base.empty()) {
        tags.emplace_back("peft");
    }
    if (!query.base.empty()) {
        // An adapter names its base so; peft alone would bring those of other models as well.
        tags.push_back((query.kind == Kind::Adapters ? "base_model:adapter:" : "base_model:") +
                       query.base);
    }
    if (!query.family.empty()) {
        tags.push_back(query.family);
    }
    return tags;
}

uint64_t countOf(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    const auto number = value == nullptr ? std::nullopt : value->integer();
    return number.has_value() && *number > 0 ? static_cast<uint64_t>(*number) : 0;
}

Gate gateOf(const Json& model) {
    const Json* const gated = model.find("gated");
    if (gated == nullptr || (gated->is(Json::Kind::Bool) && !gated->boolean)) {
        return Gate::None;
    }
    return gated->isString("manual") ? Gate::Manual : Gate::Automatic;
}

/// What stands behind `prefix`, unless another prefix of the hub's follows ("adapter:...").
std::string behind(std::string_view tag, std::string_view prefix) {
    return tag.starts_with(prefix) ? std::string(tag.substr(prefix.size())) : std::string();
}

void readTag(const std::string& tag, SearchHit& hit) {
    hit.has_safetensors = hit.has_safetensors || tag == "safetensors";
    hit.has_gguf = hit.has_gguf || tag == "gguf";
    hit.is_adapter = hit.is_adapter || tag == "peft";
    if (const std::string licence = behind(tag, "license:"); !licence.empty()) {
        hit.licence = licence;
    }
    std::string base = behind(tag, "base_model:");
    for (const std::string_view relation : {"adapter:", "finetune:", "quantized:", "merge:"}) {
        base = base.starts_with(relation) ? base.substr(relation.size()) : base;
    }
    // Each base has a tag with its relation and one without.
    if (hit.bases.size() < kMostBases && parseAddress(base, {}).has_value() &&
        std::find(hit.bases.begin(), hit.bases.end(), base) == hit.bases.end()) {
        hit.bases.push_back(base);
    }
}

/// nullopt: its id is no possible one.
std::optional<SearchHit> readHit(const Json& model) {
    SearchHit hit;
    hit.id = engine::textOf(model, "id");
    hit.id = hit.id.empty() ? engine::textOf(model, "modelId") : hit.id; // of mirrors
    const auto address = parseAddress(hit.id, {});
    if (!address.has_value() || address->id != hit.id) {
        return std::nullopt;
    }
    hit.author = engine::textOf(model, "author");
    if (const size_t slash = hit.id.find('/'); hit.author.empty() && slash != std::string::npos) {
        hit.author = hit.id.substr(0, slash);
    }
    hit.gate = gateOf(model);
    const Json* const is_private = model.find("private");
    hit.is_private =
        is_private != nullptr && is_private->is(Json::Kind::Bool) && is_private->boolean;
    hit.downloads = countOf(model, "downloads");
    hit.likes = countOf(model, "likes");
    hit.changed = secondsOfTime(engine::textOf(model, "lastModified")).value_or(0);
    hit.task = engine::textOf(model, "pipeline_tag");
    if (const Json* const tensors = model.find("safetensors"); tensors != nullptr) {
        hit.parameters = countOf(*tensors, "total");
        hit.has_safetensors = hit.has_safetensors || hit.parameters > 0;
    }
    if (const Json* const tags = model.find("tags"); tags != nullptr) {
        for (const Json& tag : tags->items) {
            if (tag.is(Json::Kind::String)) {
                readTag(tag.text, hit);
            }
        }
    }
    hit.is_adapter = hit.is_adapter || engine::textOf(model, "library_name") == "peft";
    return hit;
}

Result<SearchPage> pageAt(HubClient& hub, const std::string& path, const std::stop_token& stop) {
    const Asked asked = hub.askedForSearch();
    SearchPage page;
    ENGINE_ASSIGN(const std::string json, hub.answer(path, asked, &page.next, stop));
    ENGINE_ASSIGN(page.hits, readSearchHits(json, asked));
    return page;
}

bool isLeapYear(int64_t year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/// The number in text[at, at + digits); nullopt where there is none.
std::optional<int64_t> numberAt(std::string_view text, size_t at, size_t digits) {
    int64_t number = 0;
    for (size_t i = at; i < at + digits; ++i) {
        if (text[i] < '0' || text[i] > '9') {
            return std::nullopt;
        }
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

} // namespace

std::string searchPath(const SearchQuery& query) {
    std::string path = "/api/models?";
    const auto add = [&](std::string_view name, const std::string& value) {
        path += path.back() == '?' ? "" : "&";
        path += std::string(name) + "=" + percentEncoded(value, /*keeps_slashes=*/false);
    };
    if (!query.words.empty()) {
        add("search", query.words);
    }
    if (!query.author.empty()) {
        add("author", query.author);
    }
    for (const std::string& tag : tagsOf(query)) {
        add("filter", tag);
    }
    add("sort", sortName(query.sort));
    add("limit", std::to_string(std::clamp(query.page_size, 1, 100)));
    // What is shown and no more: whole entries have every file of a repository.
    for (const char* member : {"author", "downloads", "gated", "lastModified", "library_name",
                               "likes", "pipeline_tag", "private", "safetensors", "tags"}) {
        add("expand", member);
    }
    return path;
}

Result<SearchPage> search(HubClient& hub, const SearchQuery& query, const std::stop_token& stop) {
    return pageAt(hub, searchPath(query), stop);
}

Result<SearchPage> searchOn(HubClient& hub, const SearchPage& page, const std::stop_token& stop) {
    return pageAt(hub, page.next, stop);
}

Result<std::vector<SearchHit>> readSearchHits(const std::string& json, const Asked& asked) {
    ENGINE_ASSIGN(const Json root, parseAnswer(json, asked));
    if (!root.is(Json::Kind::Array)) {
        return hubError("HubListing", said("%1: what it found is %2, expected a list of models; is "
                                           "HF_ENDPOINT a hub?",
                                           asked.origin, root.kindName()));
    }
    std::vector<SearchHit> hits;
    for (const Json& model : root.items) {
        if (hits.size() >= kMostHits) {
            break;
        }
        if (auto hit = readHit(model); hit.has_value()) {
            hits.push_back(*std::move(hit));
        }
    }
    return hits;
}

std::optional<int64_t> secondsOfTime(std::string_view text) {
    // "2026-11-03T12:00:00", whatever follows: fractions of a second, "Z".
    constexpr std::string_view kForm = "0000-00-00T00:00:00";
    if (text.size() < kForm.size()) {
        return std::nullopt;
    }
    for (size_t i = 0; i < kForm.size(); ++i) {
        if (kForm[i] != '0' && text[i] != kForm[i]) {
            return std::nullopt;
        }
    }
    const auto year = numberAt(text, 0, 4);
    const auto month = numberAt(text, 5, 2);
    const auto day = numberAt(text, 8, 2);
    const auto hour = numberAt(text, 11, 2);
    const auto minute = numberAt(text, 14, 2);
    const auto second = numberAt(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second || *year < 1970 || *month < 1 ||
        *month > 12 || *day < 1 || *day > 31) {
        return std::nullopt;
    }
    constexpr std::array<int64_t, 12> kDaysBefore = {0,   31,  59,  90,  120, 151,
                                                     181, 212, 243, 273, 304, 334};
    int64_t days = *day - 1 + kDaysBefore[static_cast<size_t>(*month) - 1];
    days += *month > 2 && isLeapYear(*year) ? 1 : 0;
    for (int64_t y = 1970; y < *year; ++y) {
        days += isLeapYear(y) ? 366 : 365;
    }
    return ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
}

const std::vector<std::string>& gemmaIds() {
    static const std::vector<std::string> kIds = {"google/gemma-4-E2B-it", "google/gemma-4-E4B-it",
                                                  "google/gemma-4-26B-A4B-it",
                                                  "google/gemma-4-31B-it"};
    return kIds;
}

} // namespace models::hub
