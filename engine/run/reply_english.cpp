// SPDX-License-Identifier: Apache-2.0
#include "engine/run/reply_english.h"

#include "engine/base/sentence_english.h"
#include "engine/run/load_english.h"

#include <array>
#include <cstdio>
#include <variant>

namespace engine {

namespace {

std::string secondsText(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", seconds);
    return text.data();
}

std::string text(const reply_note::SoundCutShort& n) {
    return "the " + n.format + " recording declares " + std::to_string(n.declared) +
           " bytes of sound and has " + std::to_string(n.found) +
           ": it was cut short or written without knowing its length; what is there is played";
}

std::string text(const reply_note::SoundEndsEarly& n) {
    return "the " + n.format + " recording declares " + secondsText(n.declared_s) +
           " seconds and has " + secondsText(n.found_s) +
           ": it was cut short or is damaged behind; what is there is played";
}

std::string text(const reply_note::OggCutShort& /*n*/) {
    return "the Ogg recording ends inside a page: it was cut short; what is there is played";
}

std::string text(const reply_note::PictureFlaw& n) {
    return n.finding;
}

std::string text(const reply_note::CacheLost& n) {
    return inEnglish(n);
}

std::string text(const reply_note::TemplateUnreadable& n) {
    return n.where + ": its chat template cannot be compared with the prompt that is used (" +
           inEnglish(n.why) + ")";
}

std::string text(const reply_note::TemplateDiffers& n) {
    return n.where + ": its chat template would write this conversation otherwise: " + n.theirs +
           " where the prompt that is used has " + n.used;
}

} // namespace

std::string inEnglish(const ReplyNote& note) {
    return std::visit([](const auto& one) { return text(one); }, note);
}

std::vector<std::string> inEnglish(const std::vector<ReplyNote>& notes) {
    std::vector<std::string> texts;
    texts.reserve(notes.size());
    for (const ReplyNote& note : notes) {
        texts.push_back(inEnglish(note));
    }
    return texts;
}

} // namespace engine
