// SPDX-License-Identifier: Apache-2.0
// The library that the chats are kept with, for reports.
#pragma once

#include <string>

namespace app {

struct StoreLibrary {
    std::string version;          ///< SQLite's version, as it says itself.
    const void* symbol = nullptr; ///< One of its functions.
};

StoreLibrary storeLibrary();

} // namespace app
