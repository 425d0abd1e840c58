// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cards.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace kernels::cuda {

namespace {

/// More than any driver takes: another program took memory at the same time.
constexpr uint64_t kLargestContext = uint64_t{2} << 30;
/// A context that is known does not grow by as much.
constexpr uint64_t kLargestGrowth = uint64_t{256} << 20;

struct ContextState {
    int open = 0;
    CardCosts known; ///< Measured or recalled.
};
std::mutex context_mutex;
/// By driver and ordinal.
std::map<std::pair<const Driver*, int>, ContextState>& contexts() {
    static std::map<std::pair<const Driver*, int>, ContextState> states;
    return states;
}

std::string uuidText(const std::array<unsigned char, 16>& bytes) {
    std::string text = "GPU-";
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text += '-';
        }
        std::array<char, 3> hex{};
        std::snprintf(hex.data(), hex.size(), "%02x", bytes[i]);
        text += hex.data();
    }
    return text;
}

Card describe(const Driver& driver, int ordinal) {
    Card card;
    card.ordinal = ordinal;
    const std::string id = "cuda:" + std::to_string(ordinal);
    CuDevice device = 0;
    std::array<char, 256> name{};
    std::array<unsigned char, 16> uuid{};
    size_t total = 0;
    int major = 0;
    int minor = 0;
    CuResult answer = driver.deviceGet(&device, ordinal);
    const auto then = [&answer](auto&& ask) { answer = answer == kCuSuccess ? ask() : answer; };
    then([&] {
        return driver.deviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
    });
    then([&] { return driver.deviceTotalMem(&total, device); });
    then([&] { return driver.deviceGetAttribute(&major, kCuAttributeMajor, device); });
    then([&] { return driver.deviceGetAttribute(&minor, kCuAttributeMinor, device); });
    if (answer != kCuSuccess) {
        const std::string name_of_answer = driver.errorName(answer);
        card.unusable = {Trouble::Kind::NoAnswer,
                         id + " does not answer the driver (" + name_of_answer +
                             "); restart the machine to use this card.",
                         name_of_answer};
        return card;
    }
    card.name = name.data();
    card.total_bytes = total;
    card.compute_capability = 10 * major + minor;
    const auto fact = [&driver, device](int attribute) {
        int value = 0;
        return driver.deviceGetAttribute(&value, attribute, device) == kCuSuccess ? value : 0;
    };
    card.multiprocessors = fact(kCuAttributeMultiprocessors);
    card.clock_khz = fact(kCuAttributeClockKhz);
    card.memory_clock_khz = fact(kCuAttributeMemoryClockKhz);
    card.memory_bus_bits = fact(kCuAttributeMemoryBusBits);
    if (driver.deviceGetUuid(uuid.data(), device) == kCuSuccess) {
        card.uuid = uuidText(uuid);
    }
    if (driver.deviceGetLuid != nullptr) {
        Luid luid{};
        unsigned nodes = 0;
        if (driver.deviceGetLuid(reinterpret_cast<char*>(luid.data()), &nodes, device) ==
            kCuSuccess) {
            card.luid = luid;
        }
    }
    if (card.compute_capability < kOldestCapability) {
        const std::string found = std::to_string(major) + "." + std::to_string(minor);
        card.unusable = {Trouble::Kind::OldCard,
                         id + " (" + card.name + ") has compute capability " + found +
                             "; Belfry's kernels need 7.5 (Turing) or newer, so this card is not "
                             "used.",
                         found, "7.5"};
    }
    return card;
}

} // namespace

std::vector<Card> listCards(const Driver& driver) {
    std::vector<Card> cards;
    int count = 0;
    if (driver.deviceGetCount(&count) != kCuSuccess) {
        return cards;
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        cards.push_back(describe(driver, ordinal));
    }
    return cards;
}

std::optional<uint64_t> freeBytes(const Driver& driver, const Card& card) {
    if (!card.uuid.empty()) {
        if (const auto memory = driver.memoryOf(card.uuid)) {
            return memory->free;
        }
    }
    if (!driver.process_fault->what().empty()) {
        return card.total_bytes; // no context answers here; for the process that follows it is free
    }
    // On a thread of its own: the calling thread keeps the context that is current there.
    std::optional<uint64_t> answer;
    std::thread([&driver, &card, &answer] {
        CuDevice device = 0;
        CuContext context = nullptr;
        size_t free_now = 0;
        size_t total = 0;
        if (driver.deviceGet(&device, card.ordinal) != kCuSuccess ||
            driver.primaryCtxRetain(&context, device) != kCuSuccess) {
            return;
        }
        if (driver.ctxSetCurrent(context) == kCuSuccess &&
            driver.memGetInfo(&free_now, &total) == kCuSuccess) {
            answer = free_now;
        }
        driver.ctxSetCurrent(nullptr);
        driver.primaryCtxRelease(device);
    }).join();
    return answer;
}

CardCosts cardCosts(const Driver& driver, int ordinal) {
    const std::lock_guard<std::mutex> lock(context_mutex);
    const auto found = contexts().find({&driver, ordinal});
    CardCosts costs = found == contexts().end() ? CardCosts() : found->second.known;
    if (costs.context_bytes == 0) {
        costs.context_bytes = kUsualCosts.context_bytes;
    }
    if (costs.granularity == 0) {
        costs.granularity = kUsualCosts.granularity;
    }
    return costs;
}

bool isContextAssumed(const Driver& driver, int ordinal) {
    const std::lock_guard<std::mutex> lock(context_mutex);
    const auto found = contexts().find({&driver, ordinal});
    return found == contexts().end() || found->second.known.context_bytes == 0;
}

void recallCosts(const Driver& driver, int ordinal, const CardCosts& costs) {
    const std::lock_guard<std::mutex> lock(context_mutex);
    ContextState& state = contexts()[{&driver, ordinal}];
    if (state.known == CardCosts() && state.open == 0) {
        state.known = costs;
    }
}

void forgetCosts(const Driver& driver) {
    const std::lock_guard<std::mutex> lock(context_mutex);
    std::erase_if(contexts(),
                  [&driver](const auto& entry) { return entry.first.first == &driver; });
}

ContextRecord::ContextRecord(const Driver& driver, int ordinal, uint64_t measured)
    : driver_(&driver), ordinal_(ordinal) {
    const std::lock_guard<std::mutex> lock(context_mutex);
    ContextState& state = contexts()[{driver_, ordinal_}];
    uint64_t& known = state.known.context_bytes;
    if (state.open++ == 0) {
        // Other programs take and give memory meanwhile: two figures that disagree count as none.
        if (measured > 0 && measured <= kLargestContext) {
            const uint64_t apart = std::max(measured, known) - std::min(measured, known);
            known = known == 0 || apart <= kLargestGrowth ? measured : 0;
        }
    }
    bytes_ = known > 0 ? known : kUsualCosts.context_bytes;
}

ContextRecord::~ContextRecord() {
    const std::lock_guard<std::mutex> lock(context_mutex);
    --contexts()[{driver_, ordinal_}].open;
}

void ContextRecord::setGranularity(uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(context_mutex);
    contexts()[{driver_, ordinal_}].known.granularity = bytes;
}

} // namespace kernels::cuda
