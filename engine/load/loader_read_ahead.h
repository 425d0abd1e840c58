// SPDX-License-Identifier: Apache-2.0
// Reads numbered pieces on background threads, a few ahead of the one that consumes them, hands
// them out in order and takes them back in order. Private to the loader.
#pragma once

#include "engine/base/result.h"
#include "kernels/device.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace engine {

class ReadAhead {
public:
    /// Reads piece `index` completely; `buffer` has buffer_bytes and belongs to this piece until it
    /// was consumed. Called on the reading threads, several at a time.
    using ReadPiece = std::function<Result<void>(size_t index, std::span<std::byte> buffer)>;

    /// held: pieces that the caller keeps at a time, at least 1.
    /// locking (may be nullptr): a device that copies from the buffers; they are page-locked for it
    /// as far as there is such memory. It is used on the calling thread only, and by the
    /// destructor. Where the system starts no thread next() reads. Errors: OutOfMemory (buffers).
    static Result<std::unique_ptr<ReadAhead>> start(size_t num_pieces,
                                                    size_t buffer_bytes,
                                                    int threads,
                                                    size_t held,
                                                    kernels::Device* locking,
                                                    ReadPiece read);
    /// Waits for reads that are under way.
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// The next piece in order: its buffer, valid until it is released, or why it could not be
    /// read. Not to be called while `held` pieces are out.
    Result<std::span<std::byte>> next();
    /// Gives the oldest piece that is out back (one that could not be read as well).
    void release();
    /// The buffer of the piece that next() gave last is page-locked.
    [[nodiscard]] bool isLocked() const {
        return next_to_give_ > 0 && slots_[(next_to_give_ - 1) % slots_.size()].locked != nullptr;
    }

private:
    struct Slot {
        std::byte* data = nullptr;
        std::unique_ptr<std::byte[]> buffer; ///< Owns data, or:
        void* locked = nullptr;              ///< data, of locking_->allocateHost().
        std::optional<Result<void>> outcome; ///< Set when the piece in the slot has been read.
    };
    ReadAhead() = default;
    void work();
    /// Piece `index` into `data`; a failed allocation on the way is an error like any other, since
    /// nothing may be thrown out of a thread.
    Result<void> read(size_t index, std::byte* data);

    ReadPiece read_;
    kernels::Device* locking_ = nullptr;
    size_t num_pieces_ = 0;
    size_t buffer_bytes_ = 0;
    std::vector<Slot> slots_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    size_t next_to_read_ = 0; ///< First piece that no thread has taken.
    size_t next_to_give_ = 0; ///< Piece that next() returns.
    size_t released_ = 0;     ///< Pieces given back.
    bool is_stopping_ = false;
};

} // namespace engine
