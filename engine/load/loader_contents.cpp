// SPDX-License-Identifier: Apache-2.0
// Whether cached weights belong to what the model files hold now. Files that were copied, touched
// or changed are read and hashed as fast as they can be read; nothing is quantized for that.

#include "engine/load/loader_jobs.h"
#include "engine/load/loader_read_ahead.h"

#include <algorithm>
#include <tuple>

namespace engine {

namespace {

/// Read at a time, between two looks at whether the load was cancelled.
constexpr int64_t kStepBytes = int64_t{1} << 20;

/// Values of one tensor of the files; several entries may be made from it.
struct Wanted {
    const WeightOrigin* origin = nullptr;
    std::vector<StoreEntry*> entries;
};

std::vector<Wanted> inFileOrder(std::vector<StoreEntry*> entries) {
    const auto position = [](const StoreEntry* entry) {
        const TensorInfo& info = *entry->origin.info;
        return std::tie(info.file_index, info.file_offset, info.name);
    };
    std::sort(entries.begin(), entries.end(),
              [&](const StoreEntry* a, const StoreEntry* b) { return position(a) < position(b); });
    std::vector<Wanted> wanted;
    for (StoreEntry* entry : entries) {
        if (wanted.empty() || wanted.back().origin->info != entry->origin.info) {
            wanted.push_back({&entry->origin, {}});
        }
        wanted.back().entries.push_back(entry);
    }
    return wanted;
}

/// Hashes the values of all of `wanted`.
Result<void> readContents(TensorStore::Impl& impl,
                          const std::vector<Wanted>& wanted,
                          CacheSet& caches,
                          const LoadOptions& options) {
    struct Piece {
        size_t index = 0;
        int64_t first = 0, count = 0;
        uint64_t bytes = 0;
        bool is_last = false;
    };
    std::vector<Piece> pieces;
    uint64_t total = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const WeightOrigin& origin = *wanted[i].origin;
        const auto size = static_cast<int64_t>(tensorTypeSize(origin.value_type));
        const int64_t step = std::max<int64_t>(1, options.piece_bytes / size);
        const int64_t n = origin.numElements();
        for (int64_t first = 0; first < n; first += step) {
            const int64_t count = std::min(step, n - first);
            pieces.push_back(
                {i, first, count, static_cast<uint64_t>(count * size), first + count == n});
            total += pieces.back().bytes;
        }
    }
    const auto read = [&](size_t index, std::span<std::byte> buffer) -> Result<void> {
        const Piece& piece = pieces[index];
        const WeightOrigin& origin = *wanted[piece.index].origin;
        const auto size = static_cast<int64_t>(tensorTypeSize(origin.value_type));
        const int64_t step = kStepBytes / size;
        for (int64_t at = 0; at < piece.count; at += step) {
            ENGINE_TRY(checkStop(options));
            ENGINE_TRY(readValues(*impl.source, origin, piece.first + at,
                                  std::min(step, piece.count - at), buffer.data() + at * size));
        }
        return {};
    };
    ENGINE_ASSIGN(const auto ahead,
                  ReadAhead::start(pieces.size(), static_cast<size_t>(options.piece_bytes) + 8,
                                   options.read_threads, 1, nullptr, read));
    PieceHasher hasher;
    uint64_t done = 0;
    for (const Piece& piece : pieces) {
        ENGINE_TRY(checkStop(options));
        ENGINE_ASSIGN(const auto buffer, ahead->next());
        hasher.update(buffer.first(static_cast<size_t>(piece.bytes)), options.parallel);
        ahead->release();
        done += piece.bytes;
        const Wanted& tensor = wanted[piece.index];
        if (piece.is_last) {
            const uint64_t content = hasher.finishWhole();
            for (StoreEntry* entry : tensor.entries) {
                entry->content = content;
            }
            caches.contents().learn(*tensor.origin, content);
        }
        if (options.on_progress) {
            options.on_progress({LoadStage::Check, done, total, tensor.entries.front()->name});
        }
    }
    impl.report.bytes_read += total;
    impl.report.bytes_compared += total;
    return {};
}

} // namespace

Result<void> learnContents(TensorStore::Impl& impl,
                           const std::vector<StoreEntry*>& entries,
                           CacheSet& caches,
                           const LoadOptions& options) {
    std::vector<std::pair<StoreEntry*, uint64_t>> cached; // with what it was made from
    std::vector<StoreEntry*> unknown;
    for (StoreEntry* entry : entries) {
        if (entry->content) {
            continue;
        }
        ENGINE_ASSIGN(const auto cache, caches.open(cacheFormOf(entry->layout), impl.report));
        const CachedTensor* found = cache == nullptr ? nullptr : findSameShape(*cache, *entry);
        if (found == nullptr) {
            continue;
        }
        cached.emplace_back(entry, found->content);
        entry->content = caches.contents().find(entry->origin);
        if (!entry->content) {
            unknown.push_back(entry);
        }
    }
    if (!unknown.empty()) {
        ENGINE_TRY(readContents(impl, inFileOrder(std::move(unknown)), caches, options));
    }
    const auto is_other = [](const auto& pair) { return *pair.first->content != pair.second; };
    const auto first = std::find_if(cached.begin(), cached.end(), is_other);
    if (first != cached.end()) {
        impl.report.notes.emplace_back(
            said("The model files hold other values than when the weight cache was made, in %1 of "
                 "%2 weights (first %3): these are made again.",
                 std::count_if(first, cached.end(), is_other), cached.size(), first->first->name));
    }
    return {};
}

} // namespace engine
