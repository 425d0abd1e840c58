// SPDX-License-Identifier: Apache-2.0
// How much may be on its way. A program that is killed loses what it had asked for and not written
// yet, wherever that was: in its own buffers, the system's, the network's, the sender's. So a file
// is asked for in ranges, and what is asked for and not on the disk never exceeds one block, over
// all connections of a fetch together. (A server that knows no ranges sends whole files all the
// same.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace models::hub {

/// Any thread.
class AskedBytes {
public:
    /// `block_bytes` at least 8 for each connection.
    AskedBytes(uint64_t block_bytes, size_t num_connections);

    /// One file on one connection, for as long as it is being fetched; no more of them at a time
    /// than there are connections. Positions are those in the file. Of one thread.
    class Share {
    public:
        Share(AskedBytes& all, uint64_t file_bytes);
        ~Share();
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        /// The end of the range to ask for from `position` on, `on_disk` bytes being written: what
        /// more() has given, else as much as there is room for. `position`: what is on its way to
        /// the disk has to get there first; not once everything has.
        uint64_t rangeEnd(uint64_t position, uint64_t on_disk);
        /// The end of the range behind what was asked for last; 0: there is no room for one that
        /// is worth a request, or no more to come.
        uint64_t more(uint64_t on_disk);
        /// Nothing behind `position` is on its way any more.
        void forget(uint64_t position);

    private:
        /// Adds what may be asked for; false: nothing.
        bool take(uint64_t on_disk);

        AskedBytes& all_;
        uint64_t file_bytes_;
        uint64_t asked_end_ = 0;
        uint64_t counted_ = 0; ///< Its part of all_.taken_.
    };

private:
    const uint64_t block_bytes_;
    const uint64_t num_connections_;
    const uint64_t least_; ///< That each connection may always have, and is counted for.
    std::mutex mutex_;
    uint64_t num_active_ = 0;
    uint64_t taken_; ///< Never more than block_bytes_.
};

} // namespace models::hub
