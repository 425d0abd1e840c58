// SPDX-License-Identifier: Apache-2.0
// The system's keyring as a place for the hub's token, through QtKeychain where it was there at
// build time and a keyring runs (Secret Service, KWallet, Windows' credentials); else
// huggingface_hub's file.
#pragma once

#include <memory>

#include "library/hub/token_store.h"

namespace app {

/// A QCoreApplication must exist where keyrings are built in. Its methods block until the keyring
/// has answered (its own dialog may ask for a password): not for the window's thread.
std::unique_ptr<library::hub::TokenStore> tokenStore();

} // namespace app
