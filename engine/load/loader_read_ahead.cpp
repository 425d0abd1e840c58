// SPDX-License-Identifier: Apache-2.0
// Piece i lives in slot i % slots; a reader may take it once the piece that was there before has
// been given back.

#include "engine/load/loader_read_ahead.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>

namespace engine {

Result<std::unique_ptr<ReadAhead>> ReadAhead::start(size_t num_pieces,
                                                    size_t buffer_bytes,
                                                    int threads,
                                                    size_t held,
                                                    kernels::Device* locking,
                                                    ReadPiece read) {
    std::unique_ptr<ReadAhead> ahead(new ReadAhead);
    ahead->locking_ = locking;
    ahead->read_ = std::move(read);
    ahead->num_pieces_ = num_pieces;
    ahead->buffer_bytes_ = buffer_bytes;
    const size_t num_threads =
        std::min<size_t>(static_cast<size_t>(std::clamp(threads, 1, 16)), num_pieces);
    ahead->slots_.resize(std::min(num_threads + 1 + held, num_pieces));
    for (Slot& slot : ahead->slots_) {
        const size_t bytes = std::max<size_t>(buffer_bytes, 1);
        slot.locked = locking == nullptr ? nullptr : locking->allocateHost(bytes);
        slot.data = static_cast<std::byte*>(slot.locked);
        if (slot.data == nullptr) {
            slot.buffer.reset(new (std::nothrow) std::byte[bytes]);
            slot.data = slot.buffer.get();
        }
        if (slot.data == nullptr) {
            return Error{ErrorCode::OutOfMemory,
                         said("no memory for %1 read buffers of %2 bytes; close other programs",
                              ahead->slots_.size(), buffer_bytes),
                         {{"asked_bytes", std::to_string(ahead->slots_.size() * buffer_bytes)}}};
        }
    }
    for (size_t i = 0; i < num_threads; ++i) {
        try {
            ahead->threads_.emplace_back([self = ahead.get()] { self->work(); });
        } catch (const std::system_error&) {
            break; // fewer readers will do
        }
    }
    return ahead;
}

Result<void> ReadAhead::read(size_t index, std::byte* data) {
    try {
        return read_(index, {data, buffer_bytes_});
    } catch (const std::bad_alloc&) {
        Error error; // without a text, for which there may be no memory either: next() has it
        error.code = ErrorCode::OutOfMemory;
        return error;
    }
}

ReadAhead::~ReadAhead() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
    for (const Slot& slot : slots_) {
        if (slot.locked != nullptr) {
            locking_->freeHost(slot.locked);
        }
    }
}

void ReadAhead::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] {
            return is_stopping_ || next_to_read_ >= num_pieces_ ||
                   next_to_read_ < released_ + slots_.size();
        });
        if (is_stopping_ || next_to_read_ >= num_pieces_) {
            return;
        }
        const size_t index = next_to_read_++;
        Slot& slot = slots_[index % slots_.size()];
        slot.outcome.reset();
        lock.unlock();
        Result<void> outcome = read(index, slot.data);
        lock.lock();
        slot.outcome = std::move(outcome);
        changed_.notify_all();
    }
}

Result<std::span<std::byte>> ReadAhead::next() {
    std::unique_lock lock(mutex_);
    const size_t index = next_to_give_++;
    Slot& slot = slots_[index % slots_.size()];
    if (threads_.empty()) { // none could be started: read here
        slot.outcome = read(index, slot.data);
        next_to_read_ = index + 1;
    }
    changed_.wait(lock, [&] { return slot.outcome.has_value() && next_to_read_ > index; });
    if (!slot.outcome->has_value()) {
        Error error = slot.outcome->error();
        if (error.message.empty()) {
            error.say(said("no memory to read the weights; close other programs"));
        }
        return error;
    }
    return std::span<std::byte>(slot.data, buffer_bytes_);
}

void ReadAhead::release() {
    {
#ifndef BELFRY_PLANTED_RACE // built once without the lock: tests/race must notice
        const std::lock_guard lock(mutex_);
#endif
        ++released_;
    }
    changed_.notify_all();
}

} // namespace engine
