// SPDX-License-Identifier: Apache-2.0
// Which contents the tensors of model files have, without reading them: what a load has hashed
// while it read is kept beside the weight caches, under what the system says of the file, and
// holds as long as the system says the same. See engine/load/WEIGHT_CACHE.md. Private to the
// loader.
#pragma once

#include "engine/load/loader_origin.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

class SourceContents {
public:
    /// Looks at the files of `source` (must outlive *this) and at the record in `folder`. A record
    /// that is missing or damaged is an empty one. Without a folder nothing is known.
    SourceContents(const TensorSource& source, std::filesystem::path folder);

    /// Hash of the values of a tensor (PieceHasher over what readValues() gives), where its file is
    /// as it was when they were hashed.
    [[nodiscard]] std::optional<uint64_t> find(const WeightOrigin& origin) const;
    /// The values have been read after *this was made, and have this hash.
    void learn(const WeightOrigin& origin, uint64_t content);
    /// Adds what was learned to the record, unless the files have changed meanwhile. Errors:
    /// InvalidFile (cannot be written).
    Result<void> save();

private:
    /// Names a tensor in a file of certain times. nullopt: the system cannot vouch for the file.
    [[nodiscard]] std::optional<uint64_t> place(const WeightOrigin& origin) const;
    [[nodiscard]] std::vector<std::optional<FileStamp>> stamps() const;

    const TensorSource* source_;
    std::filesystem::path folder_;
    std::vector<std::optional<FileStamp>> stamps_; ///< By file, before anything was read.
    std::map<uint64_t, uint64_t> known_;           ///< Content by place.
    std::vector<std::pair<uint64_t, uint64_t>> learned_;
};

} // namespace engine
