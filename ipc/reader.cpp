// SPDX-License-Identifier: Apache-2.0
#include "ipc/reader.h"

#include "engine/base/sentence_english.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "ipc/sentence_fields.h"

namespace ipc {

namespace {

constexpr size_t kMostPattern = 2000;
constexpr size_t kMostPatterns = 4096;

/// Patterns are literals where they are said; here they are kept for the life of the program, as
/// many as an honest program has. nullptr: there is no room for one more.
const char* kept(const std::string& pattern) {
    static std::mutex mutex;
    static std::set<std::string>* const patterns = new std::set<std::string>; // never destroyed
    const std::lock_guard lock(mutex);
    const auto found = patterns->find(pattern);
    if (found != patterns->end()) {
        return found->c_str();
    }
    return patterns->size() >= kMostPatterns ? nullptr : patterns->insert(pattern).first->c_str();
}

/// How long inEnglish() of it would be: places may stand in a pattern many times, and be sentences
/// of that kind themselves.
uint64_t filledSize(const engine::Sentence& sentence) {
    std::vector<uint64_t> sizes;
    for (const engine::Argument& argument : sentence.arguments) {
        const auto* const text = std::get_if<std::string>(&argument.value);
        const auto* const inner = std::get_if<engine::Sentence>(&argument.value);
        const auto* const format = std::get_if<engine::FormatName>(&argument.value);
        sizes.push_back(text != nullptr     ? text->size()
                        : format != nullptr ? format->option.size()
                        : inner != nullptr  ? filledSize(*inner)
                                            : 32);
    }
    uint64_t size = 0;
    for (const char* at = sentence.pattern; *at != '\0' && size <= Reader::kMostWords; ++at) {
        const auto place = static_cast<size_t>(at[0] == '%' ? at[1] - '0' : 0);
        size += place >= 1 && place <= sizes.size() ? sizes[place - 1] : 1;
    }
    return std::min(size, Reader::kMostWords + 1);
}

} // namespace

void Reader::fail(const char* what) {
    if (wrong_ == nullptr) {
        wrong_ = what;
        rest_ = {};
    }
}

std::string_view Reader::some(uint64_t count) {
    if (count > rest_.size()) {
        fail("an end in the middle");
        return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
}

bool Reader::charge(uint64_t bytes) {
    memory_ += bytes;
    if (memory_ > kMostMemory) {
        fail("too much at once");
    }
    return isGood();
}

size_t Reader::getLength() {
    uint32_t length = 0;
    get(length);
    if (length > rest_.size()) { // everything takes a byte at least
        fail("a length beyond the end");
        return 0;
    }
    return isGood() ? length : 0;
}

void Reader::getBytes(std::string& bytes) {
    const size_t length = getLength();
    if (isGood() && charge(length)) {
        bytes = some(length);
    }
}

void Reader::get(std::string& text) {
    getBytes(text);
    if (isGood() && !engine::isValidUtf8(text)) {
        fail("a text that is not UTF-8");
    }
}

void Reader::get(bool& value) {
    uint8_t number = 0;
    get(number);
    if (number > 1) {
        fail("neither true nor false");
    }
    value = isGood() && number == 1;
}

void Reader::get(engine::Sentence& sentence) {
    if (++depth_ > kMostDepth) {
        fail("sentences too deep");
    }
    std::string pattern;
    get(pattern);
    get(sentence.arguments);
    --depth_;
    if (!isGood()) {
        return;
    }
    if (pattern.size() > kMostPattern || pattern.find('\0') != std::string::npos ||
        sentence.arguments.size() > 9) {
        fail("a sentence too long");
    } else if (const char* const literal = kept(pattern); literal != nullptr) {
        sentence.pattern = literal;
    } else {
        sentence.pattern = pattern.c_str();
        const bool fits = filledSize(sentence) <= kMostWords;
        sentence = engine::asItIs(fits ? engine::inEnglish(sentence) : std::string());
    }
    if (isGood() && depth_ == 0 && filledSize(sentence) > kMostWords) {
        fail("a sentence too long");
    }
}

void Reader::get(engine::Argument& argument) {
    // Not as a variant of any other kind: a Sentence is made by the function above.
    get(argument.value);
}

} // namespace ipc
