// SPDX-License-Identifier: Apache-2.0
// A tensor of an adapter that does not act on the model, and why.
#pragma once

#include "engine/api/sentence.h"

#include <cstdint>
#include <string>

namespace engine {

struct KeyReason {
    enum class Why : uint8_t {
        Other = 1,
        SameAsBase, ///< Equals the base's own table.
        TextOnly,   ///< Its tower was left out of this load (LoadRequest::is_text_only).
    };
    Sentence sentence = {}; ///< Empty: it acts.
    Why why = Why::Other;
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
    [[nodiscard]] Sentence told() const {
        return outcome == Outcome::Inert     ? said("inert: %1", reason.sentence)
               : outcome == Outcome::Ignored ? said("ignored: %1", reason.sentence)
                                             : said("error: %1", reason.sentence);
    }
};

} // namespace engine
