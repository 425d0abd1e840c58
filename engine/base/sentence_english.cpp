// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sentence_english.h"

#include "engine/api/error.h"
#include "engine/base/sentence_list.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
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
std::string text(ByteCount amount) {
    return formatByteCount(amount.bytes);
}
std::string text(Duration time) {
    char text[32];
    if (time.seconds < 0.1) {
        std::snprintf(text, sizeof text, "%.3g ms", time.seconds * 1e3);
    } else {
        std::snprintf(text, sizeof text, time.seconds < 10 ? "%.2g s" : "%.0f s", time.seconds);
    }
    return text;
}
std::string text(Rate rate) {
    char text[32];
    std::snprintf(text, sizeof text, rate.per_second < 100 ? "%.3g" : "%.0f", rate.per_second);
    return text;
}
std::string text(DeviceId device) {
    return device.toString();
}
std::string text(const FormatName& format) {
    return format.option;
}
/// The layers that experts belong to.
PlanPart layersOf(PlanPart part) {
    part.kind = PlanPart::Kind::Layers;
    return part;
}
std::string text(const PlanPart& part) {
    using Kind = PlanPart::Kind;
    switch (part.kind) {
    case Kind::Module:
    case Kind::VisionTower:
    case Kind::AudioTower:
    case Kind::PerLayerTable:
    case Kind::TokenTable:
    case Kind::Head:
        return part.module;
    case Kind::Layers:
        return part.first_layer == part.last_layer ? "layer " + std::to_string(part.last_layer)
                                                   : "layers " + std::to_string(part.first_layer) +
                                                         "-" + std::to_string(part.last_layer);
    case Kind::Experts:
        return "experts of " + text(layersOf(part));
    case Kind::KvCache:
        return "KV cache of " + std::to_string(part.tokens) + " tokens";
    case Kind::Adapters:
        return "adapters";
    case Kind::Workspace:
        return "workspace";
    case Kind::DriverContext:
        return "context of the driver";
    case Kind::ExpertCopies:
        return "copies of experts";
    case Kind::VisitingRoom:
        return "room for visiting weights";
    }
    return {};
}

} // namespace

std::string formatByteCount(uint64_t bytes) {
    static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1024.0 && unit < 4) {
        value /= 1024.0;
        ++unit;
    }
    char text[48];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
    return text;
}

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

std::vector<std::string> inEnglish(const std::vector<Sentence>& sentences) {
    std::vector<std::string> texts;
    texts.reserve(sentences.size());
    for (const Sentence& sentence : sentences) {
        texts.push_back(inEnglish(sentence));
    }
    return texts;
}

/// "%1, %2, %3" of `count` places. Patterns live as long as the program.
static const char* listPattern(size_t count, const char* separator) {
    static std::mutex mutex;
    static auto* const patterns = new std::set<std::string>; // never destroyed
    std::string pattern;
    for (size_t i = 1; i <= count; ++i) {
        pattern += (i == 1 ? "%" : separator + std::string("%")) + std::to_string(i);
    }
    const std::lock_guard lock(mutex);
    return patterns->insert(std::move(pattern)).first->c_str();
}

Sentence joined(std::vector<Sentence> items, const char* separator) {
    constexpr size_t kPlaces = 9;
    std::erase_if(items, [](const Sentence& item) { return item.isEmpty(); });
    while (items.size() > 1) {
        std::vector<Sentence> lists;
        for (size_t begin = 0; begin < items.size(); begin += kPlaces) {
            const size_t count = std::min(kPlaces, items.size() - begin);
            Sentence& list = lists.emplace_back();
            list.pattern = listPattern(count, separator);
            for (size_t i = begin; i < begin + count; ++i) {
                list.arguments.emplace_back(std::move(items[i]));
            }
        }
        items = std::move(lists);
    }
    return items.empty() ? Sentence() : std::move(items.front());
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
