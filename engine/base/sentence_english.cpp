// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sentence_english.h"

#include "engine/api/error.h"

#include <utility>
#include <variant>

namespace engine {

namespace {

std::string text(const std::string& words) {
    return words;
}
std::string text(int64_t number) {
    return std::to_string(number);
}
std::string text(uint64_t number) {
    return std::to_string(number);
}
std::string text(double number) {
    return std::to_string(number);
}
std::string text(const Sentence& sentence) {
    return inEnglish(sentence);
}

} // namespace

std::string inEnglish(const Sentence& sentence) {
    std::string out;
    for (const char* at = sentence.pattern; *at != '\0'; ++at) {
        const auto place = static_cast<size_t>(at[0] == '%' ? at[1] - '0' : 0);
        if (place >= 1 && place <= sentence.arguments.size()) {
            out += inEnglish(sentence.arguments[place - 1]);
            ++at;
        } else {
            out += *at;
        }
    }
    return out;
}

std::string inEnglish(const Argument& argument) {
    return std::visit([](const auto& value) { return text(value); }, argument.value);
}

Error::Error(ErrorCode kind,
             Sentence words,
             std::vector<std::pair<std::string, std::string>> facts,
             std::shared_ptr<const ErrorCause> why)
    : code(kind), message(inEnglish(words)), details(std::move(facts)), cause(std::move(why)),
      sentence(std::move(words)) {}

void Error::say(Sentence words) {
    message = inEnglish(words);
    sentence = std::move(words);
}

Sentence Error::told() const {
    return sentence.isEmpty() ? asItIs(message) : sentence;
}

} // namespace engine
