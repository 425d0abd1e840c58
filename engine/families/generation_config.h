// SPDX-License-Identifier: Apache-2.0
// generation_config.json: a model's defaults for replies. Nothing in it stops a load: what can be
// meant is taken, the rest is left out with a note; so is what transformers would run and Belfry
// does not. Members and their defaults: GenerationConfig of transformers.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/json/tree.h"
#include "engine/model/model_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Reads single members of a JSON object as defaults are read; each odd one becomes a note.
class DefaultsReader {
public:
    DefaultsReader(const Json& object, std::string file, std::vector<Sentence>& notes)
        : object_(&object), file_(std::move(file)), notes_(&notes) {}

    /// Whole or not, also as a text ("0.7"); `fallback` where it is absent, null or left out.
    [[nodiscard]] double
    number(std::string_view key, double min, double max, double fallback) const;
    /// Also 64.0 and "64"; above `max` it is taken as `max`.
    [[nodiscard]] int64_t
    integer(std::string_view key, int64_t min, int64_t max, int64_t fallback) const;
    /// Also 0, 1, "true", "false".
    [[nodiscard]] bool boolean(std::string_view key, bool fallback) const;
    /// One token or a list of them; those outside of the vocabulary are left out.
    [[nodiscard]] std::vector<int64_t> tokens(std::string_view key, int64_t vocab_size) const;
    /// One text or a list of them, none of them empty.
    [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
    /// A whole number; nothing is noted of any other value.
    [[nodiscard]] std::optional<int64_t> whole(std::string_view key) const;
    /// Notes a member that is switched on: neither null, false, empty nor `off`.
    void noteNotRun(std::string_view key, double off) const;

private:
    [[nodiscard]] const Json* find(std::string_view key) const;
    void note(std::string_view key, const Sentence& what) const;
    void leaveOut(std::string_view key, const Json& value) const;

    const Json* object_;
    std::string file_;
    std::vector<Sentence>* notes_;
};

/// The note of a defaults file that cannot be read.
Sentence defaultsUnread(const Error& why);

/// The object of a defaults file; an empty one, with a note, where it cannot be read.
Json readDefaults(std::string_view text, const std::string& file, std::vector<Sentence>& notes);

/// `fallback_eos` are config.json's own end tokens, used when the file names none.
GenerationDefaults readGeneration(std::string_view text,
                                  const TextConfig& model,
                                  std::vector<int64_t> fallback_eos,
                                  std::vector<Sentence>& notes);

} // namespace engine
