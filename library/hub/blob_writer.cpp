// SPDX-License-Identifier: Apache-2.0
#include "library/hub/blob_writer.h"

#include "engine/base/file_reader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "library/hub/digest.h"
#include "library/hub/disk_file.h"

namespace library::hub {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;
constexpr size_t kMostPieces = 8; ///< On their way: 2 MiB.

Digest digestOf(const ListedFile& file) {
    return file.is_large ? Digest::sha256() : Digest::gitBlob(file.size_bytes);
}

Error hashError(const ListedFile& file, const std::string& found) {
    return hubError("HubHash",
                    file.name + ": the checksum of what came is " + found + ", expected " +
                        file.etag +
                        "; it was thrown away. Try again; if it stays so, the network or "
                        "a proxy changes files");
}

/// Reads the first `size` bytes of `path` into `digest`.
Result<void> hashFile(const fs::path& path,
                      uint64_t size,
                      Digest& digest,
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
    Digest digest = Digest::sha256();
    uint64_t position = 0;

    // Between the thread that appends and the one that writes.
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::vector<std::byte>> pieces;
    std::vector<std::vector<std::byte>> spare;
    bool is_writing = false; ///< A piece is out of `pieces` and not on the disk yet.
    bool is_ending = false;
    std::optional<Error> failure;
    std::thread thread;

    void writePieces();
    /// Nothing is on its way any more.
    void drain();
};

void BlobWriter::State::writePieces() {
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [this] { return is_ending || !pieces.empty(); });
        if (pieces.empty()) {
            return;
        }
        std::vector<std::byte> piece = std::move(pieces.front());
        pieces.pop_front();
        is_writing = true;
        const bool is_lost = failure.has_value();
        lock.unlock();
        Result<void> written;
        if (!is_lost) {
            written = disk->write(piece);
            if (written.has_value()) {
                digest.add(piece);
            }
        }
        lock.lock();
        if (!written.has_value()) {
            failure = std::move(written).error();
        }
        piece.clear();
        spare.push_back(std::move(piece));
        is_writing = false;
        changed.notify_all();
    }
}

void BlobWriter::State::drain() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return pieces.empty() && !is_writing; });
}

BlobWriter::BlobWriter(std::unique_ptr<State> state) : state_(std::move(state)) {
    state_->thread = std::thread([this] { state_->writePieces(); });
}

BlobWriter::~BlobWriter() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->is_ending = true;
    }
    state_->changed.notify_all();
    state_->thread.join();
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
    ENGINE_TRY(hashFile(path, state->position, state->digest, stop, on_hashed));
    return std::unique_ptr<BlobWriter>(new BlobWriter(std::move(state)));
}

uint64_t BlobWriter::position() const {
    return state_->position;
}

Result<void> BlobWriter::restart() {
    state_->drain();
    ENGINE_TRY(state_->disk->truncate());
    state_->digest = digestOf(state_->file);
    state_->position = 0;
    return {};
}

Result<void> BlobWriter::append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [this] {
            return state_->failure.has_value() || state_->pieces.size() < kMostPieces;
        });
        if (state_->failure.has_value()) {
            return *state_->failure;
        }
        std::vector<std::byte> piece;
        if (!state_->spare.empty()) {
            piece = std::move(state_->spare.back());
            state_->spare.pop_back();
        }
        lock.unlock();
        const size_t n = std::min(bytes.size(), kPieceBytes);
        piece.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
        bytes = bytes.subspan(n);
        lock.lock();
        state_->pieces.push_back(std::move(piece));
        state_->position += n;
        lock.unlock();
        state_->changed.notify_all();
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
        return hubError("HubDisk", state_->file.name + ": " +
                                       std::to_string(state_->disk->sizeBytes()) +
                                       " bytes are on the disk, expected " +
                                       std::to_string(state_->file.size_bytes) +
                                       ": does another program write there? Try again");
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
        return hubError("HubHash", file.name + ": " +
                                       (failure ? failure.message()
                                                : "has " + std::to_string(size) + " bytes") +
                                       ", expected " + std::to_string(file.size_bytes) + " bytes");
    }
    Digest digest = digestOf(file);
    ENGINE_TRY(hashFile(path, size, digest, stop, on_hashed));
    const std::string found = digest.finish();
    return found == file.etag ? Result<void>() : Result<void>(hashError(file, found));
}

} // namespace library::hub
