// SPDX-License-Identifier: Apache-2.0
// Any bytes as model.safetensors.index.json: an error that names a rule, or shard names that cannot
// leave a folder.
#include "engine/files/model_files.h"
#include "engine/files/shard_index.h"
#include "tests/fuzz/require.h"

#include <cstdint>

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto index = engine::parseShardIndex(text, "fuzz");
    if (!index) {
        require(!index.error().message.empty() && index.error().details[0].first == "rule");
        return 0;
    }
    require(!index->items.empty() && index->shards.size() <= engine::kMaxShards);
    for (const std::string& shard : index->shards) {
        require(!engine::modelFileNameProblem(shard));
        require(shard.find_first_of("/\\:") == std::string::npos &&
                shard.ends_with(".safetensors"));
    }
    for (size_t i = 0; i < index->items.size(); ++i) {
        const auto& item = index->items[i];
        require(item.shard >= 0 && static_cast<size_t>(item.shard) < index->shards.size());
        require(i == 0 || index->items[i - 1].tensor < item.tensor);
    }
    return 0;
}
