// SPDX-License-Identifier: Apache-2.0
#include "models/hub/blob_writer.h"

#include "engine/base/digest.h"
#include "engine/base/file_reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "models/hub/disk_file.h"

namespace models::hub {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

constexpr size_t kBlockBytes = size_t{512} << 10;
constexpr size_t kMostBlocks = 6; ///< 3 MiB: what a program that dies may lose of what it had.

struct Block {
    std::vector<std::byte> bytes = std::vector<std::byte>(kBlockBytes);
    size_t used = 0;
    int users = 0; ///< Lanes that have not had it yet.
};

/// Blocks on their way through one thread.
struct Lane {
    std::deque<Block*> queue;
    bool is_busy = false; ///< With one that is out of the queue.
    std::thread thread;

    [[nodiscard]] bool isIdle() const { return queue.empty() && !is_busy; }
};

engine::Digest digestOf(const ListedFile& file) {
    return file.is_large ? engine::Digest::sha256() : engine::Digest::gitBlob(file.size_bytes);
}

Error hashError(const ListedFile& file, const std::string& found) {
    return hubError("HubHash", said("%1: the checksum of what came is %2, expected %3; it was "
                                    "thrown away. Try again; if it stays so, the network or a "
                                    "proxy changes files",
                                    file.name, found, file.etag));
}

/// Reads the first `size` bytes of `path` into `digest`.
Result<void> hashFile(const fs::path& path,
                      uint64_t size,
                      engine::Digest& digest,
                      const std::stop_token& stop,
                      const std::function<void(uint64_t)>& on_hashed) {
    ENGINE_ASSIGN(const auto reader, engine::FileReader::open(path));
    std::vector<std::byte> piece(size_t{1} << 20);
    for (uint64_t at = 0; at < size;) {
        if (stop.stop_requested()) {
            return networkError({HttpEnd::Kind::Cancelled}, {});
        }
        const auto n = static_cast<size_t>(std::min<uint64_t>(piece.size(), size - at));
        ENGINE_TRY(reader->read(at, std::span(piece).first(n)));
        digest.add(std::span(piece).first(n));
        on_hashed(n);
        at += n;
    }
    return {};
}

} // namespace

struct BlobWriter::State {
    fs::path path;
    ListedFile file;
    std::unique_ptr<DiskFile> disk;
    engine::Digest digest = engine::Digest::sha256();
    uint64_t position = 0;
    std::atomic<uint64_t> on_disk{0};

    // Shared by the thread that appends and two that write and hash beside each other. A block goes
    // on when it is full or the disk waits for it: few large writes when there is much, and nothing
    // held back when there is little.
    std::mutex mutex;
    std::condition_variable changed;
    std::array<Block, kMostBlocks> blocks;
    std::vector<Block*> spare;
    Block* filling = nullptr;
    Lane writing;
    Lane hashing;
    bool is_ending = false;
    std::optional<Error> failure;

    void run(Lane& lane, const std::function<Result<void>(std::span<const std::byte>)>& use);
    /// With mutex held: what is being filled goes on.
    void push();
    /// Waits for a block to fill. False: a failure.
    bool takeBlock(std::unique_lock<std::mutex>& lock);
    /// Nothing is on its way any more.
    void drain();
};

void BlobWriter::State::run(Lane& lane,
                            const std::function<Result<void>(std::span<const std::byte>)>& use) {
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [&] { return is_ending || !lane.queue.empty(); });
        if (lane.queue.empty()) {
            return;
        }
        Block* const block = lane.queue.front();
        lane.queue.pop_front();
        lane.is_busy = true;
        const bool is_lost = failure.has_value();
        lock.unlock();
        Result<void> outcome;
        if (!is_lost) {
            outcome = use(std::span<const std::byte>(block->bytes).first(block->used));
        }
        lock.lock();
        if (!outcome.has_value()) {
            failure = std::move(outcome).error();
        }
        if (--block->users == 0) {
            block->used = 0;
            spare.push_back(block);
        }
        lane.is_busy = false;
        changed.notify_all();
    }
}

void BlobWriter::State::push() {
    if (filling != nullptr && filling->used > 0) {
        filling->users = 2;
        writing.queue.push_back(filling);
        hashing.queue.push_back(filling);
        filling = nullptr;
        changed.notify_all();
    }
}

bool BlobWriter::State::takeBlock(std::unique_lock<std::mutex>& lock) {
    changed.wait(lock,
                 [this] { return failure.has_value() || filling != nullptr || !spare.empty(); });
    if (failure.has_value()) {
        return false;
    }
    if (filling == nullptr) {
        filling = spare.back();
        spare.pop_back();
    }
    return true;
}

void BlobWriter::State::drain() {
    std::unique_lock lock(mutex);
    push();
    changed.wait(lock, [this] { return writing.isIdle() && hashing.isIdle(); });
}

BlobWriter::BlobWriter(std::unique_ptr<State> state) : state_(std::move(state)) {
    State& s = *state_;
    for (Block& block : s.blocks) {
        s.spare.push_back(&block);
    }
    s.writing.thread = std::thread([&s] {
        s.run(s.writing, [&s](auto bytes) {
            auto written = s.disk->write(bytes);
            s.on_disk += written.has_value() ? bytes.size() : 0;
            return written;
        });
    });
    s.hashing.thread = std::thread([&s] {
        s.run(s.hashing, [&s](auto bytes) {
            s.digest.add(bytes);
            return Result<void>();
        });
    });
}

BlobWriter::~BlobWriter() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->push();
        state_->is_ending = true;
    }
    state_->changed.notify_all();
    state_->writing.thread.join();
    state_->hashing.thread.join();
}

Result<std::unique_ptr<BlobWriter>>
BlobWriter::open(const fs::path& path,
                 const ListedFile& file,
                 const std::stop_token& stop,
                 const std::function<void(uint64_t)>& on_hashed) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->file = file;
    ENGINE_ASSIGN(state->disk, DiskFile::openToAppend(path));
    state->digest = digestOf(file);
    state->position = state->disk->sizeBytes();
    if (state->position > file.size_bytes) {
        ENGINE_TRY(state->disk->truncate());
        state->position = 0;
    }
    state->on_disk = state->position;
    if (state->position > 0) {
        state->disk.reset(); // a reader of ours opens no file on Windows that is open for writing
        ENGINE_TRY(hashFile(path, state->position, state->digest, stop, on_hashed));
        ENGINE_ASSIGN(state->disk, DiskFile::openToAppend(path));
    }
    return std::unique_ptr<BlobWriter>(new BlobWriter(std::move(state)));
}

uint64_t BlobWriter::position() const {
    return state_->position;
}

uint64_t BlobWriter::onDisk() const {
    return state_->on_disk;
}

Result<void> BlobWriter::settle() {
    std::unique_lock lock(state_->mutex);
    state_->push();
    state_->changed.wait(lock, [this] { return state_->writing.isIdle(); });
    return state_->failure.has_value() ? Result<void>(*state_->failure) : Result<void>();
}

Result<void> BlobWriter::restart() {
    state_->drain();
    ENGINE_TRY(state_->disk->truncate());
    state_->digest = digestOf(state_->file);
    state_->position = 0;
    state_->on_disk = 0;
    return {};
}

std::span<std::byte> BlobWriter::room() {
    std::unique_lock lock(state_->mutex);
    if (!state_->takeBlock(lock)) {
        return {};
    }
    return std::span(state_->filling->bytes).subspan(state_->filling->used);
}

Result<void> BlobWriter::append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        std::unique_lock lock(state_->mutex);
        if (!state_->takeBlock(lock)) {
            return *state_->failure;
        }
        lock.unlock();
        Block& block = *state_->filling; // this thread's alone until it is pushed
        const size_t n = std::min(bytes.size(), kBlockBytes - block.used);
        std::byte* const to = block.bytes.data() + block.used;
        if (bytes.data() != to) { // else it was read into room()
            std::memcpy(to, bytes.data(), n);
        }
        bytes = bytes.subspan(n);
        lock.lock();
        block.used += n;
        state_->position += n;
        if (block.used == kBlockBytes || state_->writing.isIdle()) {
            state_->push();
        }
    }
    return {};
}

Result<void> BlobWriter::finish() {
    state_->drain();
    if (state_->failure.has_value()) {
        return *state_->failure;
    }
    ENGINE_TRY(state_->disk->flush());
    if (state_->disk->sizeBytes() != state_->file.size_bytes) {
        return hubError("HubDisk", said("%1: %2 bytes are on the disk, expected %3: does another "
                                        "program write there? Try again",
                                        state_->file.name, state_->disk->sizeBytes(),
                                        state_->file.size_bytes));
    }
    const std::string found = state_->digest.finish();
    state_->digest = digestOf(state_->file);
    if (found != state_->file.etag) {
        ENGINE_TRY(state_->disk->truncate());
        std::error_code ignored;
        fs::remove(state_->path, ignored);
        return hashError(state_->file, found);
    }
    return {};
}

Result<void> verifyFile(const fs::path& path,
                        const ListedFile& file,
                        const std::stop_token& stop,
                        const std::function<void(uint64_t)>& on_hashed) {
    std::error_code failure;
    const uint64_t size = fs::file_size(path, failure);
    if (failure || size != file.size_bytes) {
        return hubError("HubHash", failure ? said("%1: %2, expected %3 bytes", file.name,
                                                  failure.message(), file.size_bytes)
                                           : said("%1 has %2 bytes, expected %3", file.name, size,
                                                  file.size_bytes));
    }
    engine::Digest digest = digestOf(file);
    ENGINE_TRY(hashFile(path, size, digest, stop, on_hashed));
    const std::string found = digest.finish();
    return found == file.etag ? Result<void>() : Result<void>(hashError(file, found));
}

} // namespace models::hub
