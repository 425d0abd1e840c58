// SPDX-License-Identifier: Apache-2.0
// Why there is no graphics card to use, or why one of them is not used: the kind with its facts,
// for who words it anew, and one sentence.
#pragma once

#include <cstdint>
#include <string>

namespace kernels::cuda {

struct Driver;

struct Trouble {
    enum class Kind : uint8_t {
        None = 1,
        NoDriver,
        NoCard,      ///< The driver sees none.
        OldDriver,   ///< `found`, `needed`: versions of CUDA.
        DriverLacks, ///< `found`: the function.
        DriverFails, ///< `found`: what it answers to its start.
        OldCard,     ///< `found`, `needed`: compute capabilities.
        NoAnswer,    ///< The card gives none; `found`: what the driver answers instead.
        Crashes,     ///< Asked for its cards; `found`: the signal, `library`: whose.
        Hangs,       ///< Likewise; `found`: seconds that were waited.
    };
    Kind kind = Kind::None;
    std::string text = {}; ///< One sentence; empty for None.
    std::string found = {}, needed = {};
    std::string library = {}; ///< Its file, of Crashes and Hangs.

    [[nodiscard]] bool empty() const { return kind == Kind::None; }
};

/// Starts a driver whose entry points are filled in and says why it cannot be used: too old,
/// incomplete (`missing` names an entry point, or nullptr), no card. None = usable.
Trouble driverTrouble(const Driver& driver, const char* missing);
/// Why systemDriver() is nullptr; None where it is there.
const Trouble& systemDriverTrouble();

} // namespace kernels::cuda
