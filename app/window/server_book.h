// SPDX-License-Identifier: Apache-2.0
// What is known of the user's servers: which may be spoken to without encryption, whose word is
// taken for which, and their keys: in the system's keyring, where there is one, else each in a file
// of its own that nobody else can read. A key is handed to a connection and to nothing else. Asked
// by the engine's thread and by threads beside the window, edited by the window's.
#pragma once

#include "app/window/server_notes.h"
#include "engine/base/result.h"

#include <QString>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "remote/connection.h"
#include "remote/key_store.h"

namespace app {

/// A server that is tried: what stands in the dialog.
struct ServerTrial {
    std::string address;
    std::string key; ///< Empty: the kept one, if there is one.
    bool allows_plain = false;
    std::string authority; ///< A file with certificates; empty: the system's alone.
};

class ServerBook {
public:
    /// Called once, when a key is asked for or kept; nullptr: there is no keyring.
    using MakeKeyring = std::function<std::unique_ptr<remote::KeyStore>()>;

    /// `key_folder`: for keys where there is no keyring; made when the first one is kept.
    /// `on_keyed`: a key is kept, or no longer; what knows of it must be kept as well, before an
    /// older copy goes. Called in the thread that asked.
    explicit ServerBook(const QString& key_folder,
                        ServerNotes notes = {},
                        MakeKeyring make = {},
                        std::function<void(const ServerNotes&)> on_keyed = {});

    /// Settings and key of a server. May block while its user unlocks the keyring: not for the
    /// window's thread. Errors: parseServer(), readAuthority(), those of the keys.
    [[nodiscard]] engine::Result<remote::Connection> connection(const std::string& address);
    /// The same for an address that is only tried.
    [[nodiscard]] engine::Result<remote::Connection> trial(const ServerTrial& trial);
    /// From now on the key of this server, also where keeping it fails: until the program ends.
    void useKey(const std::string& base, const std::string& key);
    /// Keeps what useKey() got. Blocks as connection(). Errors: RemoteKey.
    engine::Result<void> keepKey(const std::string& base);
    /// It is used and kept no longer. Blocks as connection(). Errors: RemoteKey.
    engine::Result<void> forgetKey(const std::string& base);
    /// Whether keys are kept in the keyring. Asks the system; blocks as connection().
    [[nodiscard]] bool hasKeyring();

    /// What the settings keep.
    [[nodiscard]] ServerNotes notes() const;
    /// The server was chosen. An empty `authority` takes the one before away.
    void note(const QString& base, bool allows_plain, const QString& authority);

private:
    engine::Result<std::string> keyOf(const std::string& base);
    remote::KeyStore* keyring();
    void noteKeyed(const std::string& base, bool is_keyed = true);

    const MakeKeyring make_keyring_;
    const std::function<void(const ServerNotes&)> on_keyed_;
    mutable std::mutex mutex_; ///< Guards the next two.
    ServerNotes notes_;
    std::map<std::string, std::string> keys_; ///< Keys seen in this run.
    std::mutex store_mutex_;                  ///< Guards the rest: one question at a time.
    std::unique_ptr<remote::KeyStore> files_, keyring_;
    bool has_looked_ = false;
};

} // namespace app
