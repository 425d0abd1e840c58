// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/adapter_english.h"

#include "engine/base/sentence_english.h"
#include "engine/files/oddity_english.h"

#include <variant>

namespace engine {

namespace {

std::string text(const adapter_note::UnknownMember& n) {
    return "adapter_config.json: " + n.name + " is " + n.value +
           ", a member that is not known here; it is ignored, and the adapter may act otherwise "
           "than in PEFT";
}

std::string text(const adapter_note::FanInFanOut& /*n*/) {
    return "fan_in_fan_out is true; it has no meaning for linear layers and was reset";
}

std::string text(const adapter_note::ChangedBase& n) {
    return "init_lora_weights is \"" + n.initialisation +
           "\": accepted on request, right only on the changed base";
}

std::string text(const adapter_note::RuntimeConfig& /*n*/) {
    return "runtime_config is ignored, as PEFT does";
}

std::string text(const adapter_note::TrainingOnly& n) {
    return n.name + " concerns training only and is ignored";
}

std::string text(const adapter_note::OtherBase& n) {
    return "made for " + n.base + ", loaded on " + n.variant;
}

std::string text(const adapter_note::UnnamedReplacement& n) {
    return n.tensor + " replaces a base tensor although modules_to_save does not name it";
}

std::string text(const adapter_note::ExpertOrder& n) {
    const std::string written = n.version.empty() ? "without peft_version" : "by PEFT " + n.version;
    return n.is_turned ? "the experts' factors stand transposed, as PEFT before 0.19.1 stored them "
                         "(the file was written " +
                             written + "); they are turned round"
                       : "the experts' factors have the shapes of PEFT 0.19.1 and later although "
                         "the file was written " +
                             written + "; the shapes count";
}

std::string text(const adapter_note::PatternUnread& n) {
    return inEnglish(n.why) +
           (n.is_of_rank
                ? "; the ranks are taken from the shapes of the factors"
                : "; the modules that have tensors in the file are taken as the targeted ones");
}

std::string text(const adapter_note::Template& n) {
    return "in its folder: " + inEnglish(n.odd);
}

std::string text(const adapter_note::UnknownTokens& n) {
    return n.file + " in its folder has tokens that the model's tokenizer lacks: " +
           listed(n.tokens, n.count) +
           ". Prompts are cut with the model's tokenizer, these into several tokens, so that the "
           "adapter does not see what it was trained on; a copy of the model's folder with the "
           "adapter's tokenizer.json cuts them rightly";
}

std::string text(const adapter_note::TokenizerUnread& n) {
    return "in its folder: " + inEnglish(n.why) +
           " (whether the adapter needs further tokens is not known)";
}

} // namespace

std::string inEnglish(const AdapterNote& note) {
    return std::visit([](const auto& one) { return text(one); }, note);
}

std::vector<std::string> inEnglish(const std::vector<AdapterNote>& notes) {
    std::vector<std::string> texts;
    texts.reserve(notes.size());
    for (const AdapterNote& note : notes) {
        texts.push_back(inEnglish(note));
    }
    return texts;
}

} // namespace engine
