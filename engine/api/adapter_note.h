// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of an adapter's files, as values, each a kind of its own. Words:
// engine/lora/adapter_english.h for the command line, the window in its own languages.
#pragma once

#include "engine/api/model_oddity.h"
#include "engine/api/sentence.h"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

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
/// A chat template that lies in the adapter's folder, as of a model's.
struct Template {
    ModelOddity odd;
};
/// Tokens of the tokenizer in the adapter's folder that the model's lacks; the first of `count`.
struct UnknownTokens {
    std::string file;
    std::vector<std::string> tokens; ///< Quoted.
    size_t count = 0;
};
/// The tokenizer in the adapter's folder cannot be read.
struct TokenizerUnread {
    Sentence why; ///< An error's message.
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
                                      adapter_note::PatternUnread,
                                      adapter_note::Template,
                                      adapter_note::UnknownTokens,
                                      adapter_note::TokenizerUnread>;

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
