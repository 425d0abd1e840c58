// SPDX-License-Identifier: Apache-2.0
// What the system says about a card's memory over all programs (NVIDIA's management library,
// loaded at run time where it is installed). Works before the first context exists and sees other
// programs' use, which the driver API does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kernels::cuda {

struct CardMemory {
    uint64_t total = 0;
    uint64_t used = 0; ///< By all programs and the driver itself.
    uint64_t free = 0;
};

/// `uuid` as "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"; nothing without the library or the card.
std::optional<CardMemory> cardMemory(const std::string& uuid);

/// What there is of the library, for who asks why a card's memory is not told. Loads it.
struct ManagementLibrary {
    std::string file;           ///< Empty: there is none.
    std::string driver_version; ///< "580.95.05"; empty: it does not say.
    bool is_usable = false;
    int answer = 0; ///< What its start answered, where it was started; 0 = well.
};
ManagementLibrary managementLibrary();
/// "libnvidia-ml.so.1", on Windows "nvml.dll".
const char* managementLibraryName();

} // namespace kernels::cuda
