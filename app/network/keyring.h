// SPDX-License-Identifier: Apache-2.0
// The system's keyring as a place for the hub's token and for the keys of servers, through
// QtKeychain where it was there at build time and a keyring runs (Secret Service, KWallet, Windows'
// credentials).
#pragma once

#include <memory>

#include "models/hub/token_store.h"
#include "remote/key_store.h"

namespace app {

/// Without a keyring huggingface_hub's file. A QCoreApplication must exist where keyrings are built
/// in. Its methods block until the keyring has answered (its own dialog may ask for a password):
/// not for the window's thread.
std::unique_ptr<models::hub::TokenStore> tokenStore();

/// nullptr where there is no keyring. A QCoreApplication must exist. Finding out asks the session's
/// bus, and its methods block like those of the other, also in a thread that has an event loop,
/// whose events wait meanwhile: not for the window's thread.
std::unique_ptr<remote::KeyStore> serverKeyring();

} // namespace app
