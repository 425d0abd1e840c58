// SPDX-License-Identifier: Apache-2.0
// A file on its way to the disk: appended to what an earlier attempt left, written and hashed in
// two threads of its own beside the one that reads the network, taken for whole only when length
// and checksum are right. The file's length is the only note of how far it is, so that an end at
// any byte loses nothing.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>

#include "models/hub/hub_client.h"

namespace models::hub {

class BlobWriter {
public:
    /// Opens or creates `path` (a plain file, not a link) and reads what is there already into the
    /// checksum, for which `on_hashed` hears the bytes. A file that is longer than `file` begins
    /// anew. Errors: HubDisk, Cancelled.
    static engine::Result<std::unique_ptr<BlobWriter>>
    open(const std::filesystem::path& path,
         const ListedFile& file,
         const std::stop_token& stop,
         const std::function<void(uint64_t bytes)>& on_hashed);
    /// Waits until what was handed over is on its way to the disk; the file stays.
    ~BlobWriter();
    BlobWriter(const BlobWriter&) = delete;
    BlobWriter& operator=(const BlobWriter&) = delete;

    /// Bytes in the file and on their way there.
    [[nodiscard]] uint64_t position() const;
    /// Bytes in the file: what the end of the program leaves.
    [[nodiscard]] uint64_t onDisk() const;
    /// Waits until all that was handed over is in the file. Errors: of an earlier write.
    engine::Result<void> settle();
    /// From the first byte again: a server that knows no ranges, or a wrong checksum.
    engine::Result<void> restart();
    /// Where the next bytes may be put, so that append() need not copy them: valid until then.
    /// Waits while too many are on their way. Empty: an earlier write has failed, append() tells.
    std::span<std::byte> room();
    /// Takes `bytes` (the beginning of room(), or copies them); waits while too many are on their
    /// way. Errors: of an earlier write.
    engine::Result<void> append(std::span<const std::byte> bytes);
    /// Everything on the disk, flushed and closed, with length and checksum right. Errors: HubDisk,
    /// HubHash (both values; the file is removed then).
    engine::Result<void> finish();

private:
    struct State;
    explicit BlobWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Length and checksum of a file that is there. Errors: HubDisk, HubHash, Cancelled.
engine::Result<void> verifyFile(const std::filesystem::path& path,
                                const ListedFile& file,
                                const std::stop_token& stop,
                                const std::function<void(uint64_t bytes)>& on_hashed);

} // namespace models::hub
