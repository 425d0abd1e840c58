// SPDX-License-Identifier: Apache-2.0
// model.safetensors.index.json: which tensor lies in which shard. Only reads the text; whether the
// shards agree with it is checked in safetensors.cpp.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct ShardIndex {
    struct Item {
        std::string tensor;
        int shard = 0; ///< Into shards.
    };
    std::vector<std::string> shards; ///< File names, sorted, each once.
    std::vector<Item> items;         ///< Sorted by tensor name.
    std::optional<uint64_t> total_size_bytes;
    bool has_bad_size = false; ///< metadata.total_size is no number, and ignored.
};

constexpr uint64_t kMaxIndexBytes = uint64_t{128} << 20;
constexpr size_t kMaxShards = 500;

/// Errors: InvalidFile with rule IndexFormat (not JSON, wrong types, no tensors), ST01 (a name
/// twice), ST02 (names, depth), ShardName (a shard name that is not a plain .safetensors file
/// name), ShardCount (more than 500 shards).
Result<ShardIndex> parseShardIndex(std::string_view text, std::string_view file_name);

} // namespace engine
