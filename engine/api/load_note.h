// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of a load, as values, each a kind of its own: what the plan says, what is
// odd about the files, what became of the weight cache, and what was left out. The window
// shows none of them; English: engine/run/load_english.h.
#pragma once

#include "engine/api/adapter_note.h"
#include "engine/api/placement.h"
#include "engine/api/reply_note.h"
#include "engine/api/sentence.h"
#include "engine/api/unused_key.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace engine {

namespace load_note {

/// A file of the weight cache that is not used and will be made again.
struct CacheUnused {
    enum class Why : uint8_t {
        CannotOpen = 1,
        CannotRead,
        CutShort,
        Other, ///< Of another version or model.
        CutOrDamaged,
        DirectoryDamaged,
    };
    std::string file;
    Why why = Why::CannotOpen;
};
/// The model files hold other values than when the cache was made, in `changed` of `count` weights.
struct CacheOutdated {
    size_t changed = 0, count = 0;
    std::string first; ///< Of the changed ones, by name.
};
/// Weights of a damaged cache that were made again.
struct CacheDamaged {
    size_t count = 0;
    std::string first; ///< By name.
};
/// A damaged cache that is written anew.
struct CacheRewritten {};
struct CacheNotWritten {
    Sentence why; ///< An error's message.
};
/// Which contents the files have is not kept, so that the next load reads them all.
struct ContentsNotKept {
    Sentence why; ///< An error's message.
};
/// A member of a packed weight's state that is not known.
struct StateMember {
    std::string tensor, member;
};
/// A packed weight that is expanded, as formats are called in a map.
struct Expanded {
    std::string tensor, from, to;
};
struct OfAdapter {
    std::string adapter; ///< By name.
    AdapterNote note;
};
/// Tensors of an adapter's file that its own config or the model leaves out.
struct AdapterLeftOut {
    std::string adapter; ///< By name.
    int64_t count = 0, tensors = 0;
    std::string first; ///< By name.
    KeyReason reason;  ///< Of the first.
};
/// A stored tensor that no module has.
struct NotUsed {
    std::string tensor;
};
/// Stored tensors without effect.
struct NotLoaded {
    size_t count = 0;
    std::string first;  ///< By name.
    std::string reason; ///< In the words of the model's family.
};

} // namespace load_note

using LoadNoteKinds = std::variant<PlanIssue,
                                   Note,
                                   load_note::CacheUnused,
                                   load_note::CacheOutdated,
                                   load_note::CacheDamaged,
                                   load_note::CacheRewritten,
                                   load_note::CacheNotWritten,
                                   load_note::ContentsNotKept,
                                   load_note::StateMember,
                                   load_note::Expanded,
                                   load_note::OfAdapter,
                                   load_note::AdapterLeftOut,
                                   load_note::NotUsed,
                                   load_note::NotLoaded,
                                   reply_note::CacheLost>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct LoadNote : LoadNoteKinds {
    using LoadNoteKinds::LoadNoteKinds;
    LoadNote();
    LoadNote(const LoadNote&);
    LoadNote(LoadNote&&) noexcept;
    LoadNote& operator=(const LoadNote&);
    LoadNote& operator=(LoadNote&&) noexcept;
    ~LoadNote();
    friend bool operator==(const LoadNote&, const LoadNote&) = delete;
    friend bool operator<(const LoadNote&, const LoadNote&) = delete;
};

} // namespace engine
