// SPDX-License-Identifier: Apache-2.0
#include "engine/families/generation_config.h"

#include "engine/base/json/section.h"
#include "engine/base/sentence_english.h"
#include "engine/families/config_texts.h"
#include "engine/files/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace engine {

namespace {

constexpr size_t kMostTokens = 65536;
constexpr size_t kMostTexts = 64;
constexpr size_t kLongestText = 1024;

/// A number, also one in a text.
std::optional<double> numberIn(const Json& value) {
    if (value.is(Json::Kind::Number)) {
        return value.number();
    }
    double number = 0.0;
    const char* const end = value.text.data() + value.text.size();
    const auto [stop, status] = std::from_chars(value.text.data(), end, number);
    const bool is_number = value.is(Json::Kind::String) && status == std::errc{} && stop == end &&
                           std::isfinite(number);
    return is_number ? std::optional(number) : std::nullopt;
}

/// A number without a fraction that a double holds exactly.
std::optional<int64_t> wholeIn(const Json& value) {
    constexpr double kExact = 9007199254740992.0; // 2^53
    const std::optional<double> number = numberIn(value);
    if (!number || std::abs(*number) > kExact || std::trunc(*number) != *number) {
        return std::nullopt;
    }
    return static_cast<int64_t>(*number);
}

/// The value for a note: a list with its first items.
Sentence shown(const Json& value) { // NOLINT(misc-no-recursion): kDeepestJsonTree
    constexpr size_t kMostItems = 4;
    if (!value.is(Json::Kind::Array)) {
        return shownJson(value);
    }
    std::string text;
    for (size_t i = 0; i < std::min(kMostItems, value.items.size()); ++i) {
        text += (i == 0 ? "" : ", ") + inEnglish(shown(value.items[i]));
    }
    return asItIs("[" + text + (value.items.size() > kMostItems ? ", ...]" : "]"));
}

struct NotRun {
    std::string_view member;
    double off; ///< The value of transformers that switches it off, beside null and false.
};

/// What changes the text in transformers.
constexpr auto kNotRun = std::to_array<NotRun>({
    {"max_new_tokens", 0},
    {"min_length", 0},
    {"min_new_tokens", 0},
    {"max_time", 0},
    {"num_beams", 1},
    {"penalty_alpha", 0},
    {"dola_layers", 0},
    {"typical_p", 1},
    {"top_h", 1},
    {"epsilon_cutoff", 0},
    {"eta_cutoff", 0},
    {"presence_penalty", 0},
    {"frequency_penalty", 0},
    {"encoder_repetition_penalty", 1},
    {"no_repeat_ngram_size", 0},
    {"encoder_no_repeat_ngram_size", 0},
    {"bad_words_ids", 0},
    {"force_words_ids", 0},
    {"constraints", 0},
    {"forced_bos_token_id", -1},
    {"forced_eos_token_id", -1},
    {"forced_decoder_ids", -1},
    {"begin_suppress_tokens", -1},
    {"exponential_decay_length_penalty", 0},
    {"sequence_bias", 0},
    {"token_healing", 0},
    {"guidance_scale", 1},
    {"watermarking_config", 0},
});

/// These act on the choice among beams alone.
constexpr auto kOfBeams = std::to_array<NotRun>({
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"length_penalty", 1},
    {"early_stopping", 0},
});

} // namespace

const Json* DefaultsReader::find(std::string_view key) const {
    const Json* value = object_->find(key);
    return value == nullptr || value->is(Json::Kind::Null) ? nullptr : value;
}

void DefaultsReader::note(std::string_view key, const Sentence& what) const {
    notes_->push_back(said("%1: %2 %3", file_, key, what));
}

void DefaultsReader::leaveOut(std::string_view key, const Json& value) const {
    note(key, said("is %1, which cannot be used there; it is left out", shown(value)));
}

double DefaultsReader::number(std::string_view key, double min, double max, double fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    const std::optional<double> number = numberIn(*value);
    if (!number || *number < min) {
        leaveOut(key, *value);
        return fallback;
    }
    if (*number > max) {
        note(key, said("is out of its range; it is taken as %1", shownNumber(max)));
    }
    return std::min(*number, max);
}

int64_t
DefaultsReader::integer(std::string_view key, int64_t min, int64_t max, int64_t fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    const std::optional<int64_t> number = wholeIn(*value);
    if (!number || *number < min) {
        leaveOut(key, *value);
        return fallback;
    }
    if (*number > max) {
        note(key, said("is out of its range; it is taken as %1", max));
    }
    return std::min(*number, max);
}

bool DefaultsReader::boolean(std::string_view key, bool fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (value->is(Json::Kind::Bool)) {
        return value->boolean;
    }
    const std::optional<int64_t> number = wholeIn(*value);
    if (value->isString("true") || value->isString("True") || number == 1) {
        return true;
    }
    if (!value->isString("false") && !value->isString("False") && number != 0) {
        leaveOut(key, *value);
        return fallback;
    }
    return false;
}

std::vector<int64_t> DefaultsReader::tokens(std::string_view key, int64_t vocab_size) const {
    std::vector<int64_t> ids;
    const Json* value = find(key);
    if (value == nullptr) {
        return ids;
    }
    const Json* bad = value->items.size() > kMostTokens ? value : nullptr;
    const auto take = [&](const Json& one) {
        const std::optional<int64_t> id = wholeIn(one);
        if (id && *id >= 0 && *id < vocab_size) {
            ids.push_back(*id);
        } else if (bad == nullptr) {
            bad = &one;
        }
    };
    if (!value->is(Json::Kind::Array)) {
        take(*value);
    } else if (bad == nullptr) {
        std::for_each(value->items.begin(), value->items.end(), take);
    }
    if (bad != nullptr) {
        leaveOut(key, *bad);
    }
    return ids;
}

std::vector<std::string> DefaultsReader::texts(std::string_view key) const {
    std::vector<std::string> found;
    const Json* value = find(key);
    if (value == nullptr) {
        return found;
    }
    const Json* bad = nullptr;
    const auto take = [&](const Json& one) {
        const bool is_text = one.is(Json::Kind::String) && one.text.size() <= kLongestText;
        if (!is_text || found.size() == kMostTexts) {
            bad = bad == nullptr ? &one : bad;
        } else if (!one.text.empty()) {
            found.push_back(one.text);
        }
    };
    if (value->is(Json::Kind::Array)) {
        std::for_each(value->items.begin(), value->items.end(), take);
    } else {
        take(*value);
    }
    if (bad != nullptr) {
        leaveOut(key, *bad);
    }
    return found;
}

std::optional<int64_t> DefaultsReader::whole(std::string_view key) const {
    const Json* value = find(key);
    return value == nullptr ? std::nullopt : wholeIn(*value);
}

void DefaultsReader::noteNotRun(std::string_view key, double off) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return;
    }
    const std::optional<double> number = numberIn(*value);
    const bool is_off = number ? *number == off
                        : value->is(Json::Kind::Bool)
                            ? !value->boolean
                            : value->text.empty() && value->items.empty() && value->members.empty();
    if (!is_off) {
        note(key, said("is %1; this is not run here, so that replies can differ from those of "
                       "transformers",
                       shown(*value)));
    }
}

Sentence defaultsUnread(const Error& why) {
    return said("%1 (the usual defaults of such models are used instead)", why.told());
}

Json readDefaults(std::string_view text, const std::string& file, std::vector<Sentence>& notes) {
    Result<Json> tree = parseConfigObject(text, file);
    if (!tree) {
        notes.push_back(defaultsUnread(tree.error()));
        Json empty;
        empty.kind = Json::Kind::Object;
        return empty;
    }
    return *std::move(tree);
}

GenerationDefaults readGeneration(std::string_view text,
                                  const TextConfig& model,
                                  std::vector<int64_t> fallback_eos,
                                  std::vector<Sentence>& notes) {
    const std::string file(fileNameOf(ModelText::Generation));
    const Json tree = readDefaults(text, file, notes);
    const DefaultsReader reader(tree, file, notes);
    GenerationDefaults defaults;
    defaults.temperature = reader.number("temperature", 0.0, 100.0, defaults.temperature);
    defaults.top_p = reader.number("top_p", 0.0, 1.0, defaults.top_p);
    defaults.min_p = reader.number("min_p", 0.0, 1.0, defaults.min_p);
    defaults.repetition_penalty =
        reader.number("repetition_penalty", 0.0, 100.0, defaults.repetition_penalty);
    if (defaults.repetition_penalty < 0.01) {
        defaults.repetition_penalty = 1.0; // 0: off, as elsewhere
    }
    // -1 is 0 elsewhere: all tokens.
    const int64_t top_k = reader.integer("top_k", -1, int64_t{1} << 24, defaults.top_k);
    defaults.top_k = std::max<int64_t>(0, top_k);
    defaults.do_sample = reader.boolean("do_sample", defaults.do_sample);
    defaults.eos_token_ids = reader.tokens("eos_token_id", model.vocab_size);
    if (defaults.eos_token_ids.empty()) {
        defaults.eos_token_ids = std::move(fallback_eos);
    }
    defaults.suppress_tokens = reader.tokens("suppress_tokens", model.vocab_size);
    defaults.stop_strings = reader.texts("stop_strings");
    for (const NotRun& member : kNotRun) {
        reader.noteNotRun(member.member, member.off);
    }
    if (reader.whole("num_beams").value_or(1) > 1) {
        for (const NotRun& member : kOfBeams) {
            reader.noteNotRun(member.member, member.off);
        }
    }
    if (reader.whole("max_length").value_or(model.max_positions) < model.max_positions) {
        reader.noteNotRun("max_length", 20); // what transformers writes where nobody chose
    }
    return defaults;
}

} // namespace engine
