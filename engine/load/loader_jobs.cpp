// SPDX-License-Identifier: Apache-2.0
// The read - format - place pipeline of the loader; see loader_jobs.h.

#include "engine/load/loader_jobs.h"

#include "engine/load/loader_card.h"
#include "engine/load/loader_read_ahead.h"
#include "kernels/stage_times.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>

namespace engine {

namespace {

/// How a tensor is filled.
enum class Way : uint8_t { Values = 1, Packed, Cached };

struct Job {
    FillTarget target;
    Way way = Way::Values;
    std::unique_ptr<MemorySink> sink;
    std::unique_ptr<TensorFiller> filler; ///< Values.
    std::optional<PieceHasher> hasher;    ///< Values that a cache will be made from.
    std::shared_ptr<const WeightCache> cache;
    const CachedTensor* cached = nullptr;
    float nested_offset = 0.0F;
    size_t pieces_left = 0;
    bool is_damaged = false;
    bool is_quantized_there = false; ///< By its card, at least some pieces.
};

/// One read. Values: elements; Packed and Cached: bytes of a part.
struct Piece {
    size_t job = 0;
    int part = 0;
    uint64_t first = 0;
    uint64_t count = 0;
    uint64_t bytes = 0;
    std::byte* direct = nullptr; ///< Read there instead of into a buffer.
};

/// Read at a time, between two looks at whether the load was cancelled.
constexpr uint64_t kFileStepBytes = uint64_t{1} << 20U;
/// Written at a time: a disk that is behind holds a writer up for longer than one that is read.
constexpr uint64_t kWriteStepBytes = uint64_t{256} << 10U;

class FillRun {
public:
    FillRun(TensorStore::Impl& impl, CacheSet& caches, const LoadOptions& options, LoadStage stage)
        : impl_(&impl), caches_(&caches), options_(&options), stage_(stage) {}

    void add(const FillTarget& target,
             const CachedTensor* cached,
             std::shared_ptr<const WeightCache> cache) {
        auto job = std::make_unique<Job>();
        const StoreEntry& entry = *target.entry;
        job->target = target;
        job->sink = std::make_unique<MemorySink>(*target.tensor);
        if (cached != nullptr) {
            job->way = Way::Cached;
            job->cached = cached;
            job->cache = std::move(cache);
        } else if (entry.origin.isSameAs(entry.layout) && isQuantized(entry.layout.format)) {
            job->way = Way::Packed;
        } else {
            job->filler = std::make_unique<TensorFiller>(entry.origin, entry.layout, *job->sink,
                                                         options_->parallel, options_->piece_bytes);
            if (caches_->isEnabled() && !entry.content && entry.origin.isDerived(entry.layout)) {
                job->hasher.emplace();
            }
        }
        jobs_.push_back(std::move(job));
    }

    /// Reads in the order of the files, whatever the order of the plan.
    void sortJobs() {
        const auto position = [](const Job& job) {
            const TensorInfo& info = *job.target.entry->origin.info;
            return job.cached != nullptr ? std::pair(-1, job.cached->offset[0])
                                         : std::pair(info.file_index, info.file_offset);
        };
        std::sort(jobs_.begin(), jobs_.end(),
                  [&](const auto& a, const auto& b) { return position(*a) < position(*b); });
    }

    void makePieces() {
        for (size_t i = 0; i < jobs_.size(); ++i) {
            const size_t before = pieces_.size();
            const Job& job = *jobs_[i];
            if (job.way == Way::Values) {
                addValuePieces(i);
            } else {
                for (int part = 0; part < kCacheParts; ++part) {
                    addPartPieces(i, part);
                }
            }
            jobs_[i]->pieces_left = pieces_.size() - before;
        }
        for (const Piece& piece : pieces_) {
            total_bytes_ += piece.bytes;
            if (piece.direct == nullptr) {
                buffer_bytes_ = std::max(buffer_bytes_, piece.bytes);
            }
        }
    }

    Result<void> run() {
        if (pieces_.empty()) {
            return {};
        }
        makeCards();
        auto buffers = std::make_unique<kernels::StageTimer>("read buffers");
        ENGINE_ASSIGN(const auto ahead,
                      ReadAhead::start(pieces_.size(), static_cast<size_t>(buffer_bytes_),
                                       options_->read_threads, kPiecesUnderWay,
                                       cards_.empty() ? nullptr : &cards_.front()->device(),
                                       [this](size_t index, std::span<std::byte> buffer) {
                                           return read(pieces_[index], buffer);
                                       }));
        buffers.reset();
        // Waits for copies that still read the buffers, also when a piece threw.
        const std::shared_ptr<void> closing(nullptr, [this](void*) { cards_.clear(); });
        return passPieces(*ahead);
    }

    /// Targets whose cached bytes were damaged.
    [[nodiscard]] const std::vector<FillTarget>& damaged() const { return damaged_; }

private:
    /// A piece that was handed to its device.
    struct UnderWay {
        const Piece* piece = nullptr;
        CardFill* card = nullptr; ///< nullptr: done already.
        int mark = 0;
        std::span<const std::byte> bytes;
        bool is_quantized_there = false;
    };

    /// One for every card among the targets.
    void makeCards() {
        struct Most {
            kernels::Device* device = nullptr;
            size_t bytes = 0, scales = 0;
        };
        std::vector<Most> most;
        for (const Piece& piece : pieces_) {
            const Job& job = *jobs_[piece.job];
            kernels::Device& device = job.sink->device();
            if (device.isHostVisible()) {
                continue;
            }
            auto here = std::find_if(most.begin(), most.end(),
                                     [&](const Most& one) { return one.device == &device; });
            if (here == most.end()) {
                here = most.insert(most.end(), {&device, 0, 0});
            }
            const DeviceTensor::Layout& layout = job.target.entry->layout;
            if (job.way == Way::Values && isQuantized(layout.format)) {
                const auto per_scale = static_cast<uint64_t>(layout.elementsPerScale());
                here->bytes = std::max(here->bytes, static_cast<size_t>(piece.bytes));
                here->scales = std::max(
                    here->scales, static_cast<size_t>((piece.count + per_scale - 1) / per_scale));
            }
        }
        for (const Most& one : most) {
            cards_.push_back(std::make_unique<CardFill>(*one.device, one.bytes, one.scales));
        }
    }

    [[nodiscard]] CardFill* cardOf(const Job& job) const {
        const auto found = std::find_if(cards_.begin(), cards_.end(), [&](const auto& card) {
            return &card->device() == &job.sink->device();
        });
        return found == cards_.end() ? nullptr : found->get();
    }

    /// Hands all pieces over in order; a few are on their way to cards at a time.
    Result<void> passPieces(ReadAhead& ahead) {
        kernels::StageSum waiting("of the weights, waiting for files");
        kernels::StageSum settling("of the weights, waiting for cards");
        std::deque<UnderWay> under_way;
        const auto settle = [&]() -> Result<void> {
            const kernels::StageSum::Piece wait(settling);
            const UnderWay oldest = under_way.front();
            under_way.pop_front();
            ENGINE_TRY(complete(oldest));
            ahead.release();
            return {};
        };
        uint64_t done = 0;
        int turn = 0;
        for (const Piece& piece : pieces_) {
            ENGINE_TRY(checkStop(*options_));
            while (under_way.size() >= kPiecesUnderWay) {
                ENGINE_TRY(settle());
            }
            Job& job = *jobs_[piece.job];
            auto buffer = [&] {
                const kernels::StageSum::Piece wait(waiting);
                return ahead.next();
            }();
            UnderWay now;
            now.piece = &piece;
            now.mark = turn++ % static_cast<int>(kPiecesUnderWay);
            if (!buffer && job.way != Way::Cached) {
                return std::move(buffer).error();
            }
            if (!buffer) {
                ENGINE_TRY(checkStop(*options_));
                job.is_damaged = true; // a cache that fails is only a reason to do without it
            } else if (!job.is_damaged) {
                now.bytes = {piece.direct != nullptr ? piece.direct : buffer->data(),
                             static_cast<size_t>(piece.bytes)};
                const bool is_locked = piece.direct == nullptr && ahead.isLocked();
                ENGINE_TRY(handOver(job, now, is_locked));
            }
            under_way.push_back(now);
            done += piece.bytes;
            (job.way == Way::Cached ? impl_->report.cache_bytes_read : impl_->report.bytes_read) +=
                piece.bytes;
            tell(done, job.target.entry->name);
        }
        while (!under_way.empty()) {
            ENGINE_TRY(settle());
        }
        return {};
    }

    Result<void> handOver(Job& job, UnderWay& now, bool is_locked) {
        const Piece& piece = *now.piece;
        CardFill* const card = cardOf(job);
        if (card != nullptr && is_locked && job.way == Way::Values) {
            ENGINE_ASSIGN(now.is_quantized_there,
                          card->quantize(*job.target.tensor, job.target.entry->origin.value_type,
                                         static_cast<int64_t>(piece.first),
                                         static_cast<int64_t>(piece.count), now.bytes, now.mark));
        }
        if (job.hasher) {
            job.hasher->update(now.bytes, options_->parallel);
        }
        if (!now.is_quantized_there) {
            job.sink->setLocked(is_locked ? now.bytes : std::span<const std::byte>());
            ENGINE_TRY(accept(job, piece, now.bytes));
        }
        if (card != nullptr && is_locked) {
            ENGINE_TRY(card->begin(now.mark));
            now.card = card;
        }
        return {};
    }

    /// After a piece has arrived. The last one of a tensor completes it.
    Result<void> complete(const UnderWay& piece) {
        Job& job = *jobs_[piece.piece->job];
        if (piece.card != nullptr) {
            ENGINE_TRY(piece.card->finish(piece.mark));
        }
        if (piece.is_quantized_there) {
            ENGINE_TRY(job.filler->takeScales(static_cast<int64_t>(piece.piece->first),
                                              piece.card->scales(piece.mark), piece.bytes));
            job.is_quantized_there = true;
        }
        return --job.pieces_left == 0 ? finish(job) : Result<void>();
    }

    void addValuePieces(size_t index) {
        const Job& job = *jobs_[index];
        const WeightOrigin& origin = job.target.entry->origin;
        const auto size = static_cast<uint64_t>(tensorTypeSize(origin.value_type));
        const int64_t n = origin.numElements();
        for (int64_t first = 0; first < n; first += job.filler->pieceElements()) {
            Piece piece;
            piece.job = index;
            piece.first = static_cast<uint64_t>(first);
            piece.count = static_cast<uint64_t>(std::min(job.filler->pieceElements(), n - first));
            piece.bytes = piece.count * size;
            piece.direct = job.filler->directPiece(first);
            pieces_.push_back(piece);
        }
    }

    void addPartPieces(size_t index, int part) {
        const Job& job = *jobs_[index];
        uint64_t bytes = 0;
        if (job.cached != nullptr) {
            bytes = job.cached->bytes[static_cast<size_t>(part)];
        } else {
            bytes = job.target.entry->origin.storedBytes(part);
        }
        std::byte* direct = job.sink->direct(part);
        auto step = static_cast<uint64_t>(options_->piece_bytes);
        step -= job.cached != nullptr ? 0 : step % job.target.entry->origin.partUnit();
        for (uint64_t at = 0; at < bytes; at += step) {
            const uint64_t size = std::min(step, bytes - at);
            pieces_.push_back(
                {index, part, at, size, size, direct == nullptr ? nullptr : direct + at});
        }
    }

    /// On a reading thread.
    /// In steps: a slow disk must not hold up a load that was cancelled.
    Result<void> read(const Piece& piece, std::span<std::byte> buffer) const {
        std::byte* const out = piece.direct != nullptr ? piece.direct : buffer.data();
        const Job& job = *jobs_[piece.job];
        const bool is_values = job.way == Way::Values;
        const uint64_t count = is_values ? piece.count : piece.bytes;
        const uint64_t unit_bytes = count == 0 ? 1 : piece.bytes / count;
        // What has to be made from packed values is made in one go.
        const bool is_stored = !is_values || job.target.entry->origin.kind == StoredAs::Dense;
        uint64_t step = is_stored ? kFileStepBytes / unit_bytes : std::max(count, uint64_t{1});
        step -= job.way == Way::Packed ? step % job.target.entry->origin.partUnit() : 0;
        for (uint64_t at = 0; at < count; at += step) {
            ENGINE_TRY(checkStop(*options_));
            const uint64_t length = std::min(step, count - at);
            ENGINE_TRY(readStep(piece, piece.first + at, length,
                                {out + at * unit_bytes, static_cast<size_t>(length * unit_bytes)}));
        }
        return {};
    }

    /// `count` values or bytes from `first` on.
    Result<void>
    readStep(const Piece& piece, uint64_t first, uint64_t count, std::span<std::byte> bytes) const {
        const Job& job = *jobs_[piece.job];
        const WeightOrigin& origin = job.target.entry->origin;
        switch (job.way) {
        case Way::Values:
            return readValues(*impl_->source, origin, static_cast<int64_t>(first),
                              static_cast<int64_t>(count), bytes.data());
        case Way::Packed:
            return readStored(*impl_->source, origin, piece.part, first, bytes);
        case Way::Cached:
            return job.cache->read(*job.cached, piece.part, first, bytes);
        }
        return {};
    }

    Result<void> accept(Job& job, const Piece& piece, std::span<const std::byte> bytes) {
        switch (job.way) {
        case Way::Values:
            return job.filler->accept(static_cast<int64_t>(piece.first),
                                      static_cast<int64_t>(piece.count), bytes);
        case Way::Packed:
            return job.sink->write(piece.part, piece.first, bytes);
        case Way::Cached:
            ENGINE_TRY(job.sink->write(piece.part, piece.first, bytes));
            if (piece.part == DeviceTensor::NestedCode && bytes.size() >= 4) {
                std::memcpy(&job.nested_offset, bytes.data() + bytes.size() - 4, 4);
            }
            return {};
        }
        return {};
    }

    Result<void> finish(Job& job) {
        StoreEntry& entry = *job.target.entry;
        switch (job.way) {
        case Way::Values:
            ENGINE_TRY(job.filler->finish());
            if (job.hasher) {
                entry.content = job.hasher->finishWhole();
                caches_->contents().learn(entry.origin, *entry.content);
            }
            job.nested_offset = job.filler->nestedOffset();
            impl_->report.tensors_quantized += entry.origin.isDerived(entry.layout) ? 1 : 0;
            impl_->report.tensors_quantized_on_cards += job.is_quantized_there ? 1 : 0;
            if (entry.layout.format == kW4A16Format) {
                countGrid(entry.origin.numElements(), job.filler->gridMisses());
            }
            break;
        case Way::Packed:
            ENGINE_TRY(writeStoredCode(entry.origin, *job.sink));
            job.nested_offset = entry.origin.packed.state.nested_offset;
            break;
        case Way::Cached:
            if (job.is_damaged) {
                damaged_.push_back(job.target);
                return {};
            }
            ++impl_->report.tensors_from_cache;
            break;
        }
        job.target.tensor->setNestedOffset(job.nested_offset);
        job.filler.reset(); // its buffers
        return {};
    }

    /// A weight counts as trained for its grid when only a few of its values are not on it.
    void countGrid(int64_t values, int64_t misses) const {
        constexpr int64_t kMostMisses = 100; // one value in so many
        LoadReport::Grids& grids = impl_->report.grids;
        if (misses > values / kMostMisses) {
            ++grids.requantized;
            return;
        }
        ++grids.trained;
        grids.trained_values += values;
        grids.trained_misses += misses;
    }

    void tell(uint64_t done, std::string_view tensor) const {
        if (options_->on_progress) {
            options_->on_progress({stage_, done, total_bytes_, tensor});
        }
    }

    TensorStore::Impl* impl_;
    CacheSet* caches_;
    const LoadOptions* options_;
    LoadStage stage_;
    std::vector<std::unique_ptr<Job>> jobs_;
    std::vector<Piece> pieces_;
    std::vector<FillTarget> damaged_;
    std::vector<std::unique_ptr<CardFill>> cards_;
    uint64_t buffer_bytes_ = 0, total_bytes_ = 0;
};

/// Writes the parts of one tensor in a cache file, from memory or from the checkpoint.
class CacheSink final : public PartSink {
public:
    CacheSink(WeightCacheWriter& writer, size_t tensor, const LoadOptions& options)
        : writer_(&writer), tensor_(tensor), options_(&options) {}
    [[nodiscard]] std::byte* direct(int /*part*/) override { return nullptr; }
    /// In steps: a disk that cannot keep up lets writers wait.
    Result<void> write(int part, uint64_t /*offset*/, std::span<const std::byte> bytes) override {
        while (bytes.size() > kWriteStepBytes) {
            ENGINE_TRY(writer_->write(tensor_, part, bytes.first(kWriteStepBytes)));
            bytes = bytes.subspan(kWriteStepBytes);
            ENGINE_TRY(checkStop(*options_));
        }
        return writer_->write(tensor_, part, bytes);
    }

private:
    WeightCacheWriter* writer_;
    size_t tensor_;
    const LoadOptions* options_;
};

CachedTensor describe(const StoreEntry& entry) {
    CachedTensor tensor;
    tensor.name = entry.name;
    tensor.format = entry.layout.format;
    tensor.block_size = entry.layout.block_size;
    tensor.dtype = entry.layout.dtype;
    tensor.rows = entry.layout.rows;
    tensor.cols = entry.layout.cols;
    return tensor;
}

/// Copies a tensor's parts from a device into the cache file.
Result<void> writeFromMemory(const DeviceTensor& tensor,
                             PartSink& sink,
                             const LoadOptions& options,
                             std::vector<std::byte>& bounce) {
    for (int i = 0; i < DeviceTensor::PartCount; ++i) {
        const auto part = static_cast<DeviceTensor::Part>(i);
        const auto* bytes = static_cast<const std::byte*>(tensor.part(part));
        const uint64_t size = tensor.partBytes(part);
        for (uint64_t at = 0; at < size; at += kPieceBytes) {
            ENGINE_TRY(checkStop(options));
            const auto length = static_cast<size_t>(std::min<uint64_t>(kPieceBytes, size - at));
            const std::byte* from = bytes + at;
            if (!tensor.device()->isHostVisible()) {
                bounce.resize(static_cast<size_t>(kPieceBytes));
                if (tensor.device()->copyOut(bounce.data(), from, length) != kernels::Status::Ok) {
                    return Error{ErrorCode::DeviceLost,
                                 said("reading weights back from a device failed"),
                                 {}};
                }
                from = bounce.data();
            }
            ENGINE_TRY(sink.write(i, at, {from, length}));
        }
    }
    return {};
}

/// Copies a tensor that is not loaded now from the former cache file. False: damaged there.
Result<bool> writeFromCache(const WeightCache& cache,
                            const CachedTensor& tensor,
                            PartSink& sink,
                            const LoadOptions& options) {
    std::vector<std::byte> bytes;
    for (int part = 0; part < kCacheParts; ++part) {
        const uint64_t size = tensor.bytes[static_cast<size_t>(part)];
        for (uint64_t at = 0; at < size; at += kPieceBytes) {
            ENGINE_TRY(checkStop(options));
            bytes.resize(static_cast<size_t>(std::min<uint64_t>(kPieceBytes, size - at)));
            if (!cache.read(tensor, part, at, bytes)) {
                return false;
            }
            ENGINE_TRY(sink.write(part, at, bytes));
        }
    }
    return true;
}

/// One form's cache file: what is wanted, what the old file has, what to write.
class CacheUpdate {
public:
    CacheUpdate(TensorStore::Impl& impl, CacheSet& caches, const LoadOptions& options)
        : impl_(&impl), caches_(&caches), options_(&options) {}

    Result<void>
    run(const CacheForm& form, const std::vector<StoreEntry*>& wanted, bool is_damaged) {
        ENGINE_ASSIGN(auto old, caches_->open(form, impl_->report));
        if (old == nullptr || is_damaged) {
            old.reset();
            ENGINE_TRY(write(form, wanted, nullptr));
            return {};
        }
        const bool is_complete =
            std::all_of(wanted.begin(), wanted.end(), [&](const StoreEntry* entry) {
                return findCached(*old, *entry) != nullptr;
            });
        if (is_complete) {
            return {};
        }
        ENGINE_ASSIGN(const bool is_written, write(form, wanted, std::move(old)));
        if (!is_written) {
            ENGINE_TRY(write(form, wanted, nullptr));
        }
        return {};
    }

private:
    /// A new file of what is wanted and of what earlier loads cached for other maps in `old` (may
    /// be nullptr). False, and nothing written: something in `old` is damaged.
    Result<bool> write(const CacheForm& form,
                       const std::vector<StoreEntry*>& wanted,
                       std::shared_ptr<const WeightCache> old) {
        std::vector<CachedTensor> tensors;
        tensors.reserve(wanted.size());
        for (const StoreEntry* entry : wanted) {
            tensors.push_back(describe(*entry));
        }
        std::vector<const CachedTensor*> kept;
        if (old != nullptr) {
            for (const CachedTensor& tensor : old->tensors()) {
                const bool is_new =
                    std::any_of(wanted.begin(), wanted.end(), [&](const StoreEntry* entry) {
                        return entry->name == tensor.name;
                    });
                if (!is_new) {
                    kept.push_back(&tensor);
                    tensors.push_back(tensor);
                }
            }
        }
        ENGINE_ASSIGN(const uint64_t key, caches_->key(form));
        ENGINE_ASSIGN(const auto writer,
                      WeightCacheWriter::create(caches_->folder(), key, std::move(tensors)));
        size_t index = 0;
        for (StoreEntry* entry : wanted) {
            ENGINE_TRY(checkStop(*options_));
            CacheSink sink(*writer, index++, *options_);
            if (const DeviceTensor* copy = entry->anyCopy(); copy != nullptr) {
                ENGINE_TRY(writeFromMemory(*copy, sink, *options_, bounce_));
            } else {
                PieceHasher hasher;
                ENGINE_TRY(fillSynchronously(*impl_->source, entry->origin, entry->layout, sink,
                                             options_->parallel, &hasher));
                entry->content = hasher.finishWhole();
                caches_->contents().learn(entry->origin, *entry->content);
                ++impl_->report.tensors_quantized;
            }
            if (!entry->content) {
                return Error{ErrorCode::Internal, entry->name + ": its values were not hashed", {}};
            }
            writer->setContent(index - 1, *entry->content);
            impl_->report.cache_bytes_written += entry->layout.parts().total();
        }
        for (const CachedTensor* tensor : kept) {
            if (old == nullptr) {
                return false; // cannot be: they are what is kept of it
            }
            CacheSink sink(*writer, index++, *options_);
            ENGINE_ASSIGN(const bool is_intact, writeFromCache(*old, *tensor, sink, *options_));
            if (!is_intact) {
                return false;
            }
        }
        // Closed first where nobody else reads it: Windows replaces no open file.
        kept.clear();
        old.reset();
        caches_->forget(form);
        ENGINE_TRY(writer->finish());
        return true;
    }

    TensorStore::Impl* impl_;
    CacheSet* caches_;
    const LoadOptions* options_;
    std::vector<std::byte> bounce_;
};

/// The offset of a nested tensor in the cache: the last number of its map part.
Result<float> cachedOffset(const WeightCache& cache, const CachedTensor& tensor) {
    float offset = 0.0F;
    const uint64_t bytes = tensor.bytes[DeviceTensor::NestedCode];
    if (bytes >= 4) {
        ENGINE_TRY(cache.read(tensor, DeviceTensor::NestedCode, bytes - 4,
                              std::as_writable_bytes(std::span(&offset, 1))));
    }
    return offset;
}

} // namespace

Result<void> checkStop(const LoadOptions& options) {
    if (options.stop.stop_requested()) {
        return Error{ErrorCode::Cancelled, said("loading was cancelled; nothing was changed"), {}};
    }
    return {};
}

CacheForm cacheFormOf(const DeviceTensor::Layout& layout) {
    const bool has_blocks =
        isQuantized(layout.format) && weightFormat(layout.format) != kernels::WeightFormat::Int8Row;
    return {layout.format, has_blocks ? layout.block_size : kBlockSize};
}

Result<uint64_t> CacheSet::key(const CacheForm& form) {
    if (!model_key_) {
        ENGINE_ASSIGN(const uint64_t model_key, modelKey(*source_));
        model_key_ = model_key;
    }
    return cacheKey(*model_key_, form.first, form.second);
}

Result<std::shared_ptr<const WeightCache>> CacheSet::open(const CacheForm& form,
                                                          LoadReport& report) {
    if (!isEnabled()) {
        return std::shared_ptr<const WeightCache>();
    }
    if (const auto found = opened_.find(form); found != opened_.end()) {
        return found->second;
    }
    ENGINE_ASSIGN(const uint64_t cache_key, key(form));
    std::optional<Sentence> note;
    std::shared_ptr<const WeightCache> cache = WeightCache::open(folder_, cache_key, note);
    if (note.has_value()) {
        report.notes.emplace_back(*std::move(note));
    }
    opened_[form] = cache;
    return cache;
}

const CachedTensor* findSameShape(const WeightCache& cache, const StoreEntry& entry) {
    const CachedTensor* cached = cache.find(entry.name);
    const auto& layout = entry.layout;
    const bool is_same = cached != nullptr && cached->format == layout.format &&
                         cached->dtype == layout.dtype && cached->block_size == layout.block_size &&
                         cached->rows == layout.rows && cached->cols == layout.cols;
    return is_same ? cached : nullptr;
}

const CachedTensor* findCached(const WeightCache& cache, const StoreEntry& entry) {
    const CachedTensor* cached = findSameShape(cache, entry);
    return cached != nullptr && entry.content == cached->content ? cached : nullptr;
}

bool bindToCache(StoreEntry& entry, const std::shared_ptr<const WeightCache>& cache) {
    const CachedTensor* cached = findCached(*cache, entry);
    if (cached == nullptr) {
        return true;
    }
    const auto offset = cachedOffset(*cache, *cached);
    if (offset) {
        entry.cache = cache;
        entry.cached = cached;
        entry.disk_offset = *offset;
        entry.has_disk_offset = true;
    }
    return offset.has_value();
}

/// Weights of a damaged cache were made again, `first` among them.
static Sentence damageNote(size_t count, const std::string& first) {
    return count == 1   ? said("The weight cache was damaged: %1 was made again from the model "
                                 "files. The cache is written anew.",
                               first)
           : count == 2 ? said("The weight cache was damaged: %1 and one other weight were made "
                               "again from the model files. The cache is written anew.",
                               first)
                        : said("The weight cache was damaged: %1 and %2 other weights were made "
                               "again from the model files. The cache is written anew.",
                               first, count - 1);
}

Result<void> fillTargets(TensorStore::Impl& impl,
                         const std::vector<FillTarget>& targets,
                         CacheSet& caches,
                         const LoadOptions& options,
                         LoadStage stage) {
    std::vector<StoreEntry*> derived;
    for (const FillTarget& target : targets) {
        if (target.entry->origin.isDerived(target.entry->layout)) {
            derived.push_back(target.entry);
        }
    }
    ENGINE_TRY(learnContents(impl, derived, caches, options));
    FillRun run(impl, caches, options, stage);
    for (const FillTarget& target : targets) {
        const StoreEntry& entry = *target.entry;
        const CachedTensor* cached = nullptr;
        std::shared_ptr<const WeightCache> cache;
        if (entry.origin.isDerived(entry.layout)) {
            ENGINE_ASSIGN(cache, caches.open(cacheFormOf(entry.layout), impl.report));
            cached = cache == nullptr ? nullptr : findCached(*cache, entry);
        }
        run.add(target, cached, std::move(cache));
    }
    run.sortJobs();
    run.makePieces();
    ENGINE_TRY(run.run());
    if (!run.damaged().empty()) {
        impl.report.notes.emplace_back(
            damageNote(run.damaged().size(), run.damaged().front().entry->name));
        FillRun again(impl, caches, options, stage);
        for (const FillTarget& target : run.damaged()) {
            const CacheForm form = cacheFormOf(target.entry->layout);
            impl.damaged_caches.insert(form);
            ENGINE_ASSIGN(const auto cache, caches.open(form, impl.report));
            cache->remove(); // whatever becomes of this load
            again.add(target, nullptr, nullptr);
        }
        again.sortJobs();
        again.makePieces();
        ENGINE_TRY(again.run());
    }
    return {};
}

Result<void> updateCaches(TensorStore::Impl& impl, CacheSet& caches, const LoadOptions& options) {
    if (!caches.isEnabled()) {
        return {};
    }
    std::map<CacheForm, std::vector<StoreEntry*>> wanted;
    for (StoreEntry& entry : impl.entries) {
        if (!entry.is_gone && entry.origin.isDerived(entry.layout)) {
            wanted[cacheFormOf(entry.layout)].push_back(&entry);
        }
    }
    for (const auto& [form, entries] : wanted) {
        // False: damage that can be seen now.
        const auto bindOnDisk = [&, &entries = entries](const auto& cache) {
            return std::all_of(entries.begin(), entries.end(), [&](StoreEntry* entry) {
                return entry->anyCopy() != nullptr || bindToCache(*entry, cache);
            });
        };
        ENGINE_TRY(learnContents(impl, entries, caches, options));
        bool is_damaged = impl.damaged_caches.contains(form);
        ENGINE_ASSIGN(auto cache, caches.open(form, impl.report));
        if (!is_damaged && cache != nullptr && !bindOnDisk(cache)) {
            impl.report.notes.emplace_back(
                said("The weight cache was damaged and is written anew."));
            is_damaged = true;
        }
        // Held by nobody here while it may be replaced.
        const std::weak_ptr<const WeightCache> before = cache;
        cache.reset();
        CacheUpdate update(impl, caches, options);
        Result<void> written = update.run(form, entries, is_damaged);
        if (!written) {
            if (written.error().code == ErrorCode::Cancelled) {
                return written;
            }
            impl.report.notes.emplace_back(
                said("The weight cache was not written: %1", written.error().told()));
        }
        impl.damaged_caches.erase(form);
        auto renewed = caches.open(form, impl.report);
        if (renewed && *renewed != nullptr && *renewed != before.lock()) {
            (void)bindOnDisk(*renewed);
        }
    }
    if (const Result<void> saved = caches.contents().save(); !saved) {
        impl.report.notes.emplace_back(said("Which contents the model files have could not be "
                                            "kept, the next load reads them all: %1",
                                            saved.error().told()));
    }
    return {};
}

} // namespace engine
