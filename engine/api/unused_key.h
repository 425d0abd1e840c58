// SPDX-License-Identifier: Apache-2.0
// A tensor of an adapter that does not act on the model, and why: the kind of reason with its
// facts, and the engine's own sentence for the command line and reports.
#pragma once

#include "engine/api/sentence.h"

#include <cstdint>
#include <string>

namespace engine {

struct KeyReason {
    enum class Why : uint8_t {
        None = 1,      ///< It acts.
        Refused,       ///< Contradicts the model or the config: the adapter is refused, and the
                       ///< error says how.
        SharesKv,      ///< `layer` uses the keys and values of layer `other`.
        ValuesAreKeys, ///< `layer` takes its values from k_proj.
        FewerLayers,   ///< The model has only `other` layers.
        Unused,        ///< The model does not use the tensor `name`.
        NoVision,
        NoAudio,
        LeftOut,       ///< By `name`, a member of adapter_config.json.
        TurnedOff,     ///< `name`, a member of adapter_config.json, is false.
        NoModuleNamed, ///< The key names no module.
        NoModule,      ///< The model has no module `name`.
        NoParameter,   ///< The module has no parameter `name`.
        SavedWhole,    ///< modules_to_save replaces its module.
        NotBaseLayer,  ///< Its module has a low-rank update; its own weight has another name.
        SameAsBase,    ///< Equals the base's own table.
        OtherRefused,  ///< Another tensor of its module is refused.
        TextOnly,      ///< Its tower was left out of this load (LoadRequest::is_text_only).
    };
    std::string sentence = {}; ///< In English.
    Why why = Why::None;
    int layer = -1, other = -1;
    std::string name = {};
    Sentence refusal = {}; ///< Refused: `sentence` as a value.
};

struct UnusedKey {
    enum class Outcome : uint8_t {
        Inert = 1, ///< No fault of the adapter: the architecture has no use for it.
        Ignored,   ///< Left out.
        Refused,   ///< Contradicts the model or the config.
    };
    std::string key; ///< As in the file.
    Outcome outcome = Outcome::Refused;
    KeyReason reason = {};

    /// "inert: layer 6 shares the KV of layer 5".
    [[nodiscard]] std::string inEnglish() const {
        return (outcome == Outcome::Inert     ? "inert: "
                : outcome == Outcome::Ignored ? "ignored: "
                                              : "error: ") +
               reason.sentence;
    }
};

} // namespace engine
