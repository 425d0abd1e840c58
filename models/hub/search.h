// SPDX-License-Identifier: Apache-2.0
// Models and adapters that a hub offers: its search, page by page. One request a page (GET
// /api/models, https://huggingface.co/docs/hub/api); nothing is asked before somebody calls. What a
// hub says of a model here is for choosing alone: planFetch() asks anew and trusts none of it.
// Left out: full-text search, collections, datasets.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "models/hub/hub_client.h"

namespace models::hub {

struct SearchQuery {
    enum class Kind : uint8_t {
        Models = 1, ///< With weights as safetensors.
        Adapters,   ///< In PEFT's form; those for `base` where it is named.
        Gguf,       ///< With weights as GGUF.
        Anything,
    };
    enum class Sort : uint8_t { Downloads = 1, Likes, Changed, Created, Trending };

    std::string words;  ///< In the name; empty: any.
    std::string author; ///< Owner of the repository; empty: any.
    std::string base;   ///< "google/gemma-4-E2B-it": what was made of this. Empty: any.
    std::string family; ///< A tag as the hub has it ("gemma4"); empty: any.
    Kind kind = Kind::Models;
    Sort sort = Sort::Downloads; ///< The largest, or the latest, first.
    int page_size = 30;          ///< 1 to 100.
};

/// A licence that must be accepted at the hub, and a token, before files are to be had.
enum class Gate : uint8_t {
    None = 1,
    Automatic, ///< Accepting is enough.
    Manual,    ///< Somebody there decides.
};

struct SearchHit {
    std::string id;
    std::string author;
    Gate gate = Gate::None;
    bool is_private = false;
    bool has_safetensors = false;
    bool has_gguf = false;
    bool is_adapter = false;
    uint64_t downloads = 0; ///< In the last 30 days.
    uint64_t likes = 0;
    int64_t changed = 0;            ///< Seconds since 1970; 0 = not told.
    uint64_t parameters = 0;        ///< In the safetensors files; 0 = not told.
    std::string licence;            ///< "apache-2.0"; empty = not told.
    std::string task;               ///< "image-text-to-text"; empty = not told.
    std::vector<std::string> bases; ///< Ids of what it was made of.
};

struct SearchPage {
    std::vector<SearchHit> hits;
    std::string next; ///< For nextPage(); empty: this is the last one.
};

/// Path and query of the first page: "/api/models?search=...&filter=...". Pure.
std::string searchPath(const SearchQuery& query);

/// First page. Errors: as hub_error.h; HubListing for an answer that is no list of models. Entries
/// whose id is no possible one are left out.
engine::Result<SearchPage>
search(HubClient& hub, const SearchQuery& query, const std::stop_token& stop);

/// The page behind `page`, whose `next` must not be empty. Errors: as search(); HubListing when
/// `next` leads to another host.
engine::Result<SearchPage>
searchOn(HubClient& hub, const SearchPage& page, const std::stop_token& stop);

/// The JSON of a page, without its `next`. Pure; for tests and fuzzing. Errors: HubListing.
engine::Result<std::vector<SearchHit>> readSearchHits(const std::string& json, const Asked& asked);

/// "2026-11-03T12:00:00.000Z" as seconds since 1970; nullopt where it is no such time.
std::optional<int64_t> secondsOfTime(std::string_view text);

/// The Gemma 4 repositories that a page shows first, before anything is asked: ids alone.
const std::vector<std::string>& gemmaIds();

} // namespace models::hub
