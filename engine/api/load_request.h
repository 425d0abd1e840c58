// SPDX-License-Identifier: Apache-2.0
// What to load and how: everything that decides a plan.
#pragma once

#include "engine/api/device_id.h"
#include "engine/api/placement.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Among the first kGgufMarkBytes of a GGUF file that holds an adapter: the key general.type and
/// its value.
inline constexpr std::string_view kGgufAdapterMark{"general.type\x08\0\0\0\x07\0\0\0\0\0\0\0"
                                                   "adapter",
                                                   31};
inline constexpr int kGgufMarkBytes = 1024;

struct AdapterChoice {
    std::string folder;    ///< Or the GGUF file.
    double strength = 1.0; ///< 0 to 2.
    bool is_enabled = true;
};

/// A device that a plan assumes instead of those of this machine. Rates of 0 = defaults.
struct WhatIfDevice {
    DeviceId id;
    std::string description; ///< "RTX 3060"
    uint64_t capacity = 0;   ///< Bytes.
    uint64_t free = 0;       ///< Bytes free for the engine.
    double read_bytes_per_s = 0, flops = 0, link_bytes_per_s = 0;
    friend bool operator==(const WhatIfDevice&, const WhatIfDevice&) = default;
};

/// Everything that decides a plan.
struct LoadRequest {
    std::string model; ///< Folder, GGUF file, or "demo" for the bundled model.
    /// GGUF file with the towers (mmproj) of a model in one; empty: the one beside it, if any.
    std::string projector;
    std::string device_map = "gpu"; ///< Preset name or the text of a map (starts with "{").
    std::string quant = "none";     ///< One of quantOptions().
    int64_t quant_block = 64;       ///< Weights that share a scale, of those quantized on load.
    std::string head = "auto";      ///< bf16, int8, nf4; auto: bf16, and `fit` may take a smaller
    std::string kv = "auto";        ///< Keys and values: bf16, q8; auto: the map's, else bf16.
    /// Memory of cards for copies of routed experts that lie in main memory: a size, max (what is
    /// left), off; auto: the map's, which is max with fit, else off.
    std::string expert_cache = "auto";
    int64_t context = 0;       ///< Tokens; 0 = the map's, else 4096.
    int64_t prefill_chunk = 0; ///< Tokens; 0 = large on cards with room for it, else 512.
    int64_t image_tokens = 0;  ///< 0 = the model's.
    std::vector<std::pair<std::string, uint64_t>> limits; ///< Device id, bytes.
    std::vector<uint64_t> sim_gpus; ///< Capacities in bytes of simulated GPUs.
    std::vector<AdapterChoice> adapters;
    /// Drafting assistant: a folder; "auto": the one beside the model, if there is one; "" or
    /// "off": none. For random weights "auto" is the published one of that size.
    std::string draft;
    int64_t draft_tokens = 0; ///< Drafts of one round; 0: as many as pay, also none.
    bool is_reference_precision = false;
    /// Vision and audio tower stay in the files: no memory for them, no pictures, no sounds. A map
    /// that names them is taken all the same. False again needs a load.
    bool is_text_only = false;
    /// Memory that the system reports as free counts as a guess, not as a bound: a plan that needs
    /// more of it warns (DM09) in place of refusing. Limits that somebody set stay limits.
    bool loads_anyway = false;
    int threads = 0;            ///< 0 = all.
    std::string cache_folder;   ///< Derived weights; empty = none.
    std::vector<MapMove> moves; ///< Made on device_map, in this order.
    /// Plans only: these devices instead of this machine's; load() refuses such a request.
    std::vector<WhatIfDevice> what_if;
};

} // namespace engine
