// SPDX-License-Identifier: Apache-2.0
// Where the keys of servers are kept, each by its server's base address: the system's keyring
// (app/network/keyring.h), or files on computers without one (app/network/key_files.h). No message,
// log or address ever holds a key.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
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

} // namespace remote
