// SPDX-License-Identifier: Apache-2.0
// What the other process prints, a line each; a driver may print lines of its own between them:
//   belfry-cards: asks LIBRARY      before it goes into that library
//   belfry-cards: {"cards": [...]}  or {"trouble": {"kind", "text", "found", "needed"}}
#include "engine/devices/card_inquiry.h"

#include "engine/base/child_process.h"
#include "engine/base/json/tree.h"
#include "kernels/cuda/cards.h"
#include "kernels/cuda/fatbin.h"
#include "kernels/cuda/nvml.h"
#include "kernels/cuda/system_library.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace engine {

namespace {

using kernels::cuda::Trouble;

constexpr std::string_view kLine = "belfry-cards: ";
constexpr std::string_view kAsks = "asks ";

constexpr std::array<std::pair<Trouble::Kind, const char*>, 5> kKinds = {
    {{Trouble::Kind::NoDriver, "no_driver"},
     {Trouble::Kind::NoCard, "no_card"},
     {Trouble::Kind::OldDriver, "old_driver"},
     {Trouble::Kind::DriverLacks, "driver_lacks"},
     {Trouble::Kind::DriverFails, "driver_fails"}}};

void printLine(const std::string& text) {
    std::printf("%s%s\n", std::string(kLine).c_str(), text.c_str());
    std::fflush(stdout);
}

/// What stands behind kLine in the last line that begins so, with `first` as its first letters.
std::string_view lastLine(std::string_view output, std::string_view first) {
    const std::string wanted = std::string(kLine) + std::string(first);
    size_t from = std::string_view::npos;
    for (size_t at = output.find(wanted); at != std::string_view::npos;
         at = output.find(wanted, at + 1)) {
        from = at == 0 || output[at - 1] == '\n' ? at : from;
    }
    const size_t end = from == std::string_view::npos ? from : output.find('\n', from);
    if (end == std::string_view::npos) {
        return {}; // a line without its end was cut
    }
    std::string_view line = output.substr(from + kLine.size(), end - from - kLine.size());
    line.remove_suffix(line.ends_with('\r') ? 1 : 0); // Windows
    return line;
}

/// The trouble that the other process found, None for a driver that can be used; nothing when it
/// did not get as far.
std::optional<Trouble> answerIn(std::string_view output) {
    const std::string_view line = lastLine(output, "{");
    Json answer;
    if (line.empty() || readJsonTree(line, {}, answer).stop != JsonStop::Done) {
        return std::nullopt;
    }
    Trouble trouble;
    const Json* told = answer.find("trouble");
    if (told == nullptr) {
        return answer.find("cards") == nullptr ? std::nullopt : std::optional(trouble);
    }
    const auto text = [told](const char* key) {
        const Json* value = told->find(key);
        return value == nullptr ? std::string() : value->text;
    };
    for (const auto& [kind, name] : kKinds) {
        if (text("kind") == name) {
            trouble.kind = kind;
            trouble.found = text("found");
            trouble.needed = text("needed");
            return trouble;
        }
    }
    return std::nullopt;
}

std::string secondsText(std::chrono::milliseconds time) {
    const auto tenths = (time.count() + 50) / 100;
    const std::string whole = std::to_string(tenths / 10);
    return tenths % 10 == 0 ? whole : whole + "." + std::to_string(tenths % 10);
}

/// Describes a process that did not answer.
Trouble troubleOf(const ChildEnd& end, const std::string& found, std::chrono::milliseconds limit) {
    const std::string_view asked = lastLine(end.output, kAsks);
    Trouble trouble;
    trouble.library = asked.size() > kAsks.size() ? std::string(asked.substr(kAsks.size())) : found;
    if (end.kind == ChildEnd::Kind::TimedOut || end.kind == ChildEnd::Kind::Stopped) {
        trouble.kind = Trouble::Kind::Hangs;
        trouble.found = secondsText(limit);
        return trouble;
    }
    trouble.kind = Trouble::Kind::Crashes;
    trouble.found = end.kind == ChildEnd::Kind::Crashed ? crashName(end.code)
                                                        : "exit code " + std::to_string(end.code);
    return trouble;
}

} // namespace

int tellCards(const std::string& library_path) {
    using nlohmann::ordered_json;
    // Longer than any limit that waits for it: who started it may be gone.
    endWithParent(std::chrono::minutes(10));
    kernels::cuda::setLibraryPath(library_path);
    const std::string library =
        kernels::cuda::findSystemLibrary(kernels::cuda::driverLibraryName());
    printLine(std::string(kAsks) + library);
    ordered_json answer;
    const kernels::cuda::Driver* driver = kernels::cuda::systemDriver(nullptr);
    if (driver == nullptr) {
        const Trouble& trouble = kernels::cuda::systemDriverTrouble();
        ordered_json& told = answer["trouble"];
        for (const auto& [kind, name] : kKinds) {
            if (kind == trouble.kind) {
                told["kind"] = name;
            }
        }
        told["found"] = trouble.found;
        told["needed"] = trouble.needed;
    } else {
        answer["cards"] = ordered_json::array();
        const std::string management =
            kernels::cuda::findSystemLibrary(kernels::cuda::managementLibraryName());
        for (const kernels::cuda::Card& card : kernels::cuda::listCards(*driver)) {
            printLine(std::string(kAsks) + (management.empty() ? library : management));
            const auto free = kernels::cuda::freeBytes(*driver, card);
            answer["cards"].push_back({{"ordinal", card.ordinal},
                                       {"name", card.name},
                                       {"capability", card.compute_capability},
                                       {"total", card.total_bytes},
                                       {"free", free.value_or(0)}});
        }
    }
    printLine(answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    // What a driver does at the end of a process is of no interest to anybody.
    std::_Exit(0);
}

CardInquiry::CardInquiry(CardInquiryOptions options)
    : options_(std::move(options)), trouble_(std::make_unique<Trouble>()) {}

CardInquiry::~CardInquiry() = default;

void CardInquiry::begin() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_begun_) {
        return;
    }
    is_begun_ = true;
    begun_ = std::chrono::steady_clock::now();
    thread_ = std::jthread([this](const std::stop_token& stop) { ask(stop); });
}

void CardInquiry::stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    thread_.request_stop();
}

CardInquiry::State CardInquiry::state() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    State state;
    state.is_begun = is_begun_;
    state.is_done = is_done_;
    if (is_begun_) {
        const auto end = is_done_ ? done_ : std::chrono::steady_clock::now();
        state.seconds = std::chrono::duration<double>(end - begun_).count();
    }
    if (is_done_ && !trouble_->empty()) {
        state.trouble = cardTrouble(*trouble_);
    }
    return state;
}

const kernels::cuda::Driver* CardInquiry::driver(Trouble* why) {
    begin();
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_done_; });
    if (why != nullptr) {
        *why = *trouble_;
    }
    return driver_;
}

void CardInquiry::ask(const std::stop_token& stop) {
    kernels::cuda::setLibraryPath(options_.library_path);
    const std::string library =
        kernels::cuda::findSystemLibrary(kernels::cuda::driverLibraryName());
    const bool has_kernels = !kernels::cuda::embeddedImages().empty();
    Trouble trouble;
    bool is_good = library.empty() || has_kernels;
    if (is_good && !library.empty() && !options_.words.empty()) {
        const ChildEnd end = runChild(options_.words, options_.limit, stop);
        // A process that cannot be started says nothing about the driver.
        if (end.kind != ChildEnd::Kind::NotStarted) {
            const std::optional<Trouble> answer =
                end.kind == ChildEnd::Kind::Exited ? answerIn(end.output) : std::nullopt;
            trouble = answer.has_value() ? *answer : troubleOf(end, library, options_.limit);
            is_good = trouble.empty();
        }
    }
    const kernels::cuda::Driver* driver = nullptr;
    if (is_good) {
        driver = kernels::cuda::systemDriver(nullptr);
        trouble = kernels::cuda::systemDriverTrouble();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    driver_ = driver;
    *trouble_ = std::move(trouble);
    is_done_ = true;
    done_ = std::chrono::steady_clock::now();
    changed_.notify_all();
}

CardTrouble cardTrouble(const Trouble& met, DeviceId card, const std::string& name) {
    using From = Trouble::Kind;
    using To = CardTrouble::Kind;
    switch (met.kind) {
    case From::None:
    case From::NoDriver:
        break;
    case From::NoCard:
        return {To::NoCard,
                said("The NVIDIA driver sees no graphics card; everything runs on the CPU.")};
    case From::OldDriver:
        return {To::OldDriver,
                said("The NVIDIA driver supports CUDA %1, Belfry needs %2 or newer; update the "
                     "driver to use the graphics card. Everything runs on the CPU.",
                     met.found, met.needed)};
    case From::DriverLacks:
        return {To::DriverLacks,
                said("The NVIDIA driver lacks the function %1; update the driver to use the "
                     "graphics card. Everything runs on the CPU.",
                     met.found)};
    case From::DriverFails:
        return {To::DriverFails,
                said("The NVIDIA driver does not start (%1); restart the machine or reinstall the "
                     "driver to use the graphics card. Everything runs on the CPU.",
                     met.found)};
    case From::OldCard:
        return {To::OldCard,
                said("%1 (%2) has compute capability %3; Belfry's kernels need %4 (Turing) or "
                     "newer, so this card is not used.",
                     card, name, met.found, met.needed)};
    case From::NoAnswer:
        return {To::CardNoAnswer,
                said("%1 does not answer the driver (%2); restart the machine to use this card.",
                     card, met.found)};
    case From::Crashes:
        return {To::DriverCrashes,
                said("The NVIDIA driver crashed when it was asked for its graphics cards (%1: %2). "
                     "Restart the machine, and install the driver again if that does not help. "
                     "Everything runs on the CPU until Belfry is started again.",
                     met.library, met.found)};
    case From::Hangs:
        return {To::DriverHangs,
                said("The NVIDIA driver did not tell its graphics cards within %1 s (%2; a machine "
                     "with many cards may need longer: BELFRY_CARD_SECONDS). Restart the machine, "
                     "and install the driver again if that does not help. Everything runs on the "
                     "CPU until Belfry is started again.",
                     met.found, met.library)};
    }
    return {To::NoDriver, said("No NVIDIA driver on this machine (%1 was not found); everything "
                               "runs on the CPU.",
                               kernels::cuda::driverLibraryName())};
}

} // namespace engine
