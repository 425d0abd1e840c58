// SPDX-License-Identifier: Apache-2.0
// Where the keys of servers are kept, each by its server's base address. The system's keyring is
// app/keyring.h; the files here are for computers without one. No message, log or address ever
// holds a key.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace remote {

class KeyStore {
public:
    enum class Kind : uint8_t {
        Keyring = 1, ///< The system's, under its user's password.
        File,        ///< A file for each, that only its owner may read.
    };

    KeyStore() = default;
    KeyStore(const KeyStore&) = delete;
    KeyStore& operator=(const KeyStore&) = delete;
    virtual ~KeyStore() = default;

    [[nodiscard]] virtual Kind kind() const = 0;
    /// Empty: there is none. May block while its user unlocks a keyring. Whether it is a key is the
    /// caller's to see (checkedKey()). Errors: "rule" = RemoteKey (others may read it, the keyring
    /// stays locked).
    virtual engine::Result<std::string> read(const std::string& base) = 0;
    /// In place of the one before. Errors: the same.
    virtual engine::Result<void> write(const std::string& base, const std::string& key) = 0;
    /// None there: done. Errors: the same.
    virtual engine::Result<void> remove(const std::string& base) = 0;
};

/// In `folder`, which is made when the first key is written. Files are named by a hash: an address
/// is no file name.
std::unique_ptr<KeyStore> fileKeyStore(std::string folder);

} // namespace remote
