// SPDX-License-Identifier: Apache-2.0
// Fills many tensors: reads ahead on background threads, formats on the calling thread and its
// pool, takes what the derived cache holds from there. Private to the loader.
#pragma once

#include "engine/load/loader.h"
#include "engine/load/source_contents.h"
#include "engine/load/tensor_store_impl.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace engine {

/// What one cache file holds: tensors of one format, of 4-bit ones those of one block size. (Loads
/// with two block sizes would else write one file anew by turns.)
using CacheForm = TensorStore::Impl::CacheForm;
CacheForm cacheFormOf(const DeviceTensor::Layout& layout);

/// The cache files of one model, by form, as far as they were asked for.
class CacheSet {
public:
    /// Without a folder nothing is cached. `source` must outlive *this.
    CacheSet(const TensorSource& source, std::filesystem::path folder)
        : source_(&source), folder_(std::move(folder)), contents_(source, folder_) {}

    [[nodiscard]] bool isEnabled() const { return !folder_.empty(); }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    /// Key of the file of one form. Errors: those of reading samples.
    Result<uint64_t> key(const CacheForm& form);
    /// Opens (once) the file of a form; nullptr when there is none. Notes go to the report.
    Result<std::shared_ptr<const WeightCache>> open(const CacheForm& form, LoadReport& report);
    /// Forgets an opened file, so that it is opened again.
    void forget(const CacheForm& form) { opened_.erase(form); }
    [[nodiscard]] SourceContents& contents() { return contents_; }

private:
    const TensorSource* source_;
    std::filesystem::path folder_;
    SourceContents contents_;
    std::optional<uint64_t> model_key_;
    std::map<CacheForm, std::shared_ptr<const WeightCache>> opened_;
};

/// The cached form of an entry by name, format and sizes, of whatever contents; or nullptr.
const CachedTensor* findSameShape(const WeightCache& cache, const StoreEntry& entry);
/// The same, made from the values that the model files hold now. nullptr while entry.content is not
/// known.
const CachedTensor* findCached(const WeightCache& cache, const StoreEntry& entry);

/// Finds out entry.content of those that have a cached form: from the record, or where the files
/// are not as they were then, by reading and hashing. Different contents become one note. Errors:
/// Cancelled, those of reading.
Result<void> learnContents(TensorStore::Impl& impl,
                           const std::vector<StoreEntry*>& entries,
                           CacheSet& caches,
                           const LoadOptions& options);

/// Lets an entry without copies in memory read its cached bytes from now on, if there are any.
/// False: what has to be known of them beforehand is damaged.
bool bindToCache(StoreEntry& entry, const std::shared_ptr<const WeightCache>& cache);

/// One tensor to fill.
struct FillTarget {
    StoreEntry* entry = nullptr;
    DeviceTensor* tensor = nullptr;
};

/// Fills all targets. Entries whose cached bytes turn out damaged are made from the checkpoint.
/// Errors: as load(); Cancelled. What was filled so far keeps undefined contents.
Result<void> fillTargets(TensorStore::Impl& impl,
                         const std::vector<FillTarget>& targets,
                         CacheSet& caches,
                         const LoadOptions& options,
                         LoadStage stage);

/// Writes cache files for the derived tensors that they lack; failures become notes. Then binds
/// entries that stay on disk to their cached bytes. Errors: Cancelled.
Result<void> updateCaches(TensorStore::Impl& impl, CacheSet& caches, const LoadOptions& options);

/// Looks at the stop token.
Result<void> checkStop(const LoadOptions& options);

} // namespace engine
