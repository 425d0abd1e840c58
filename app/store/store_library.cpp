// SPDX-License-Identifier: Apache-2.0
#include "app/store/store_library.h"

#include <sqlite3.h>

namespace app {

StoreLibrary storeLibrary() {
    return {sqlite3_libversion(), reinterpret_cast<const void*>(&sqlite3_libversion)};
}

} // namespace app
