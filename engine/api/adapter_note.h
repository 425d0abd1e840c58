// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of an adapter's files, as values, each a kind of its own. Words:
// engine/lora/adapter_english.h for the command line, the window in its own languages.
#pragma once

#include "engine/api/sentence.h"

#include <string>
#include <variant>

namespace engine {

namespace adapter_note {

/// A member of adapter_config.json that is set and not known here.
struct UnknownMember {
    std::string name, value;
};
/// fan_in_fan_out, which linear layers have no use for.
struct FanInFanOut {};
/// Its initialisation changed the base, and it was accepted all the same.
struct ChangedBase {
    std::string initialisation;
};
/// runtime_config is ignored.
struct RuntimeConfig {};
/// A member that concerns training only.
struct TrainingOnly {
    std::string name;
};
/// Made for another base than the model's variant.
struct OtherBase {
    std::string base, variant;
};
/// Replaces a tensor of the base that modules_to_save does not name.
struct UnnamedReplacement {
    std::string tensor;
};
/// Factors of experts in the order of PEFT before 0.19.1, which are turned round; or in that of
/// later versions, although the file says otherwise. Empty version: it says none.
struct ExpertOrder {
    bool is_turned = false;
    std::string version = {};
};
/// A pattern of the config that cannot be read: what the file holds counts instead.
struct PatternUnread {
    Sentence why;            ///< As the reader of patterns says it.
    bool is_of_rank = false; ///< The shapes of factors give ranks; else modules
                             ///< with tensors are the targeted ones.
};

} // namespace adapter_note

using AdapterNoteKinds = std::variant<adapter_note::UnknownMember,
                                      adapter_note::FanInFanOut,
                                      adapter_note::ChangedBase,
                                      adapter_note::RuntimeConfig,
                                      adapter_note::TrainingOnly,
                                      adapter_note::OtherBase,
                                      adapter_note::UnnamedReplacement,
                                      adapter_note::ExpertOrder,
                                      adapter_note::PatternUnread>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct AdapterNote : AdapterNoteKinds {
    using AdapterNoteKinds::AdapterNoteKinds;
    AdapterNote();
    AdapterNote(const AdapterNote&);
    AdapterNote(AdapterNote&&) noexcept;
    AdapterNote& operator=(const AdapterNote&);
    AdapterNote& operator=(AdapterNote&&) noexcept;
    ~AdapterNote();
    friend bool operator==(const AdapterNote&, const AdapterNote&) = delete;
    friend bool operator<(const AdapterNote&, const AdapterNote&) = delete;
};

} // namespace engine
