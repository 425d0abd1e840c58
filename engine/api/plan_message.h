// SPDX-License-Identifier: Apache-2.0
// What stands beside the sentences of a plan: kinds of notes, why a card is not used, and what is
// too much for a memory.
#pragma once

#include "engine/api/device_id.h"
#include "engine/api/sentence.h"

#include <cstdint>
#include <utility>

namespace engine {

/// Why a graphics card is not used, or why there is none.
struct CardTrouble {
    enum class Kind : uint8_t {
        NoDriver = 1,
        NoCard,        ///< The driver sees none.
        NoKernels,     ///< This build has no GPU kernels.
        OldDriver,     ///< Its version of CUDA is.
        DriverLacks,   ///< A function is missing.
        DriverFails,   ///< It does not start.
        OldCard,       ///< Its compute capability is.
        SilentCard,    ///< It does not answer.
        LostCard,      ///< Lost to this process.
        CardNoAnswer,  ///< It does not answer the driver.
        DriverCrashes, ///< Asked for its cards.
        DriverHangs,   ///< Likewise.
    };
    Kind kind = Kind::NoDriver;
    Sentence words = {};

    /// Somebody has a card here and could do something. False: there simply is none.
    [[nodiscard]] bool isProblem() const {
        return kind != Kind::NoDriver && kind != Kind::NoCard && kind != Kind::NoKernels;
    }
};

/// What a remark about a plan is, where somebody tells it apart from the others.
enum class NoteKind : uint8_t {
    Remark = 1,
    AllOnOne,       ///< How `fit` came to its map: everything has room on one device.
    Apart,          ///< Likewise, where it has not: a step that moved something, or the end.
    FourBits,       ///< What 4 bits would bring, which nobody asked for.
    Estimates,      ///< Where estimates come from.
    AssumedContext, ///< What the driver takes for itself on `device` is not measured.
    Card,           ///< Why a graphics card is not used.
};

/// Something worth knowing about a plan.
struct Note {
    Note() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): most notes are nothing but a sentence
    Note(Sentence what, NoteKind which = NoteKind::Remark, DeviceId of = {})
        : kind(which), words(std::move(what)), device(of) {}

    NoteKind kind = NoteKind::Remark;
    Sentence words;
    DeviceId device; ///< For NoteKind::AssumedContext.
};

/// What the engine may use of a memory, and what says so.
struct MemoryBound {
    enum class By : uint8_t {
        Nothing = 1,
        Free,
        Option,
        Map,
        System, ///< What the system lets this program have there (Windows).
    };
    By by = By::Nothing;
    uint64_t whole = UINT64_MAX; ///< The largest uint64_t: nothing bounds it.
    uint64_t reserve = 0;        ///< Set by the map.
    [[nodiscard]] uint64_t bytes() const {
        return whole == UINT64_MAX ? whole : whole - (whole < reserve ? whole : reserve);
    }
};

/// What is too much for a memory.
struct MemoryExcess {
    DeviceId device;
    bool is_host = false; ///< Simulated GPUs and cpu together need more than main memory.
    uint64_t need = 0, limit = 0;
    MemoryBound bound = {};
};

} // namespace engine
