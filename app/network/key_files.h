// SPDX-License-Identifier: Apache-2.0
// Keys of servers in files, for computers without a keyring.
#pragma once

#include <memory>
#include <string>

#include "remote/key_store.h"

namespace app {

/// In `folder`, which is made when the first key is written. Files are named by a hash: an address
/// is no file name.
std::unique_ptr<remote::KeyStore> keyFiles(std::string folder);

} // namespace app
