// SPDX-License-Identifier: Apache-2.0
#include "app/window/server_book.h"

#include "app/network/key_files.h"

#include <utility>

namespace app {

using engine::Result;
using remote::KeyStore;

namespace {

constexpr qsizetype kMostServers = 20;

} // namespace

ServerBook::ServerBook(const QString& key_folder,
                       ServerNotes notes,
                       MakeKeyring make,
                       std::function<void(const ServerNotes&)> on_keyed)
    : make_keyring_(std::move(make)), on_keyed_(std::move(on_keyed)), notes_(std::move(notes)),
      files_(keyFiles(key_folder.toStdString())) {}

Result<remote::Connection> ServerBook::connection(const std::string& address) {
    ServerTrial known;
    known.address = address;
    {
        // How an address is spelled does not matter: bases are in their one form.
        const auto server = remote::parseServer(address, true);
        const std::lock_guard lock(mutex_);
        if (server.has_value()) {
            const QString base = QString::fromStdString(server->base);
            known.allows_plain = notes_.plain.contains(base);
            known.authority = notes_.authorities.value(base).toStdString();
        }
    }
    return trial(known);
}

Result<remote::Connection> ServerBook::trial(const ServerTrial& trial) {
    remote::Connection connection;
    ENGINE_ASSIGN(connection.server, remote::parseServer(trial.address, trial.allows_plain));
    if (!trial.authority.empty()) {
        ENGINE_ASSIGN(connection.authorities, remote::readAuthority(trial.authority));
    }
    if (!trial.key.empty()) {
        ENGINE_ASSIGN(connection.key, remote::checkedKey(trial.key, connection.server.host));
        return connection;
    }
    ENGINE_ASSIGN(std::string kept, keyOf(connection.server.base));
    if (!kept.empty()) {
        ENGINE_ASSIGN(connection.key, remote::checkedKey(std::move(kept), connection.server.host));
    }
    return connection;
}

Result<std::string> ServerBook::keyOf(const std::string& base) {
    bool is_keyed = false;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = keys_.find(base); found != keys_.end()) {
            return found->second;
        }
        is_keyed = notes_.keyed.contains(QString::fromStdString(base));
    }
    std::string key;
    {
        const std::lock_guard lock(store_mutex_);
        // Who has no key there is not asked for the keyring's password.
        ENGINE_ASSIGN(key, files_->read(base));
        if (!key.empty()) {
            // From a version that knew no keyring. Where it stays locked the file goes on serving.
            KeyStore* const store = keyring();
            const bool is_taken = store != nullptr && store->write(base, key).has_value();
            if (is_taken || !is_keyed) {
                noteKeyed(base);
            }
            if (is_taken) {
                ENGINE_TRY(files_->remove(base));
            }
        } else if (KeyStore* const store = is_keyed ? keyring() : nullptr) {
            ENGINE_ASSIGN(key, store->read(base));
        }
    }
    if (!key.empty()) {
        useKey(base, key);
    }
    return key;
}

void ServerBook::useKey(const std::string& base, const std::string& key) {
    const std::lock_guard lock(mutex_);
    keys_[base] = key;
}

Result<void> ServerBook::keepKey(const std::string& base) {
    std::string key;
    {
        const std::lock_guard lock(mutex_);
        const auto found = keys_.find(base);
        if (found == keys_.end()) {
            return {};
        }
        key = found->second;
    }
    ENGINE_ASSIGN(key, remote::checkedKey(std::move(key), base));
    const std::lock_guard lock(store_mutex_);
    KeyStore* const store = keyring();
    ENGINE_TRY((store == nullptr ? *files_ : *store).write(base, key));
    noteKeyed(base);
    return store == nullptr ? Result<void>() : files_->remove(base); // an older one
}

Result<void> ServerBook::forgetKey(const std::string& base) {
    {
        const std::lock_guard lock(mutex_);
        keys_.erase(base);
    }
    const std::lock_guard lock(store_mutex_);
    ENGINE_TRY(files_->remove(base));
    if (KeyStore* const store = keyring()) {
        ENGINE_TRY(store->remove(base));
    }
    noteKeyed(base, false);
    return {};
}

bool ServerBook::hasKeyring() {
    const std::lock_guard lock(store_mutex_);
    return keyring() != nullptr;
}

KeyStore* ServerBook::keyring() {
    if (!std::exchange(has_looked_, true) && make_keyring_) {
        keyring_ = make_keyring_();
    }
    return keyring_.get();
}

void ServerBook::noteKeyed(const std::string& base, bool is_keyed) {
    ServerNotes notes;
    {
        const std::lock_guard lock(mutex_);
        const QString text = QString::fromStdString(base);
        notes_.keyed.removeAll(text);
        if (is_keyed) {
            notes_.keyed.append(text);
        }
        notes = notes_;
    }
    if (on_keyed_) {
        on_keyed_(notes);
    }
}

ServerNotes ServerBook::notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
}

void ServerBook::note(const QString& base, bool allows_plain, const QString& authority) {
    const std::lock_guard lock(mutex_);
    notes_.known.removeAll(base);
    notes_.known.prepend(base);
    notes_.known = notes_.known.mid(0, kMostServers);
    if (allows_plain && !notes_.plain.contains(base)) {
        notes_.plain.append(base);
    }
    if (authority.isEmpty()) {
        notes_.authorities.remove(base);
    } else {
        notes_.authorities.insert(base, authority);
    }
}

} // namespace app
