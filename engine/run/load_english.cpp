// SPDX-License-Identifier: Apache-2.0
#include "engine/run/load_english.h"

#include "engine/base/sentence_english.h"
#include "engine/lora/adapter_english.h"
#include "engine/plan/plan_english.h"
#include "engine/run/planning.h"

#include <variant>

namespace engine {

namespace {

std::string text(const PlanIssue& issue) {
    return describe(issue);
}

std::string text(const Note& note) {
    return inEnglish(note);
}

std::string text(const load_note::CacheUnused& n) {
    using Why = load_note::CacheUnused::Why;
    const char* why = n.why == Why::CannotOpen     ? "it cannot be opened"
                      : n.why == Why::CannotRead   ? "it cannot be read"
                      : n.why == Why::CutShort     ? "it is cut short"
                      : n.why == Why::Other        ? "it is of another version or model"
                      : n.why == Why::CutOrDamaged ? "it is cut short or damaged"
                                                   : "its directory is damaged";
    return "The weight cache " + n.file + " is not used and will be made again: " + why + ".";
}

std::string text(const load_note::CacheOutdated& n) {
    return "The model files hold other values than when the weight cache was made, in " +
           std::to_string(n.changed) + " of " + std::to_string(n.count) + " weights (first " +
           n.first + "): these are made again.";
}

std::string text(const load_note::CacheDamaged& n) {
    const std::string others = n.count == 1 ? " was"
                               : n.count == 2
                                   ? " and one other weight were"
                                   : " and " + std::to_string(n.count - 1) + " other weights were";
    return "The weight cache was damaged: " + n.first + others +
           " made again from the model files. The cache is written anew.";
}

std::string text(const load_note::CacheRewritten& /*n*/) {
    return "The weight cache was damaged and is written anew.";
}

std::string text(const load_note::CacheNotWritten& n) {
    return "The weight cache was not written: " + inEnglish(n.why);
}

std::string text(const load_note::ContentsNotKept& n) {
    return "Which contents the model files have could not be kept, the next load reads them all: " +
           inEnglish(n.why);
}

std::string text(const load_note::StateMember& n) {
    return n.tensor + ": unknown member of its quantization state: " + n.member;
}

std::string text(const load_note::Expanded& n) {
    return n.tensor + ": stored as " + n.from + ", expanded to " + n.to;
}

std::string text(const load_note::OfAdapter& n) {
    return "adapter " + n.adapter + ": " + inEnglish(n.note);
}

std::string text(const load_note::AdapterLeftOut& n) {
    return "adapter " + n.adapter + ": " + std::to_string(n.count) + " of " +
           std::to_string(n.tensors) +
           " tensors of its file are not applied, the first: " + n.first + " (" +
           n.reason.sentence + ")";
}

std::string text(const load_note::NotUsed& n) {
    return "not used: " + n.tensor + " (no module of this architecture)";
}

std::string text(const load_note::NotLoaded& n) {
    return n.count == 1 ? "not loaded: " + n.first + " (" + n.reason + ")"
                        : std::to_string(n.count) + " stored tensors without effect (" + n.reason +
                              ") were not loaded";
}

std::string text(const reply_note::CacheLost& n) {
    const bool is_one = n.count == 1;
    return "The weight cache was damaged while in use: " + std::to_string(n.count) +
           (is_one ? " weight is" : " weights are") + " made from the model files (" + n.last +
           (is_one ? "" : " the last") +
           "), which is slower. Load the model again to have the cache written anew.";
}

} // namespace

std::string inEnglish(const LoadNote& note) {
    return std::visit([](const auto& one) { return text(one); }, note);
}

std::vector<std::string> inEnglish(const std::vector<LoadNote>& notes) {
    std::vector<std::string> texts;
    texts.reserve(notes.size());
    for (const LoadNote& note : notes) {
        texts.push_back(inEnglish(note));
    }
    return texts;
}

std::string inEnglish(const reply_note::CacheLost& note) {
    return text(note);
}

} // namespace engine
