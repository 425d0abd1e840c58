// SPDX-License-Identifier: Apache-2.0
// The driver is asked for its cards by a process of its own first, so that one that crashes or
// never answers costs this program its cards and not its life. Once per program: every engine in it
// shares the answer. Only when the other process answered well is the driver loaded here; without a
// driver library there is no other process at all.
#pragma once

#include "engine/api/plan_message.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kernels::cuda {
struct Driver;
struct Trouble;
} // namespace kernels::cuda

namespace engine {

/// The word that main() of a program answers with tellCards(), before anything else.
inline constexpr std::string_view kTellCards = "--tell-cards";

/// Runs in the other process: prints what it does, a line each, and at last a JSON object with the
/// driver's cards or what is wrong with it; gives the exit status. `library_path` as in
/// EngineOptions.
int tellCards(const std::string& library_path);

struct CardInquiryOptions {
    /// The program to start (a path) and kTellCards. Empty: the driver is loaded here without
    /// asking anybody.
    std::vector<std::string> words;
    std::chrono::milliseconds limit = std::chrono::seconds(20);
    std::string library_path; ///< As in EngineOptions.
};

class CardInquiry {
public:
    explicit CardInquiry(CardInquiryOptions options);
    /// Ends the other process, if it is still there.
    ~CardInquiry();
    CardInquiry(const CardInquiry&) = delete;
    CardInquiry& operator=(const CardInquiry&) = delete;

    /// Starts asking, in the background. From any thread; only the first call counts.
    void begin();

    /// Nobody wants to know any more: the other process is ended, and driver() answers at once.
    void stop();

    struct State {
        bool is_begun = false, is_done = false;
        double seconds = 0;                 ///< Since begin(); of the whole inquiry when done.
        std::optional<CardTrouble> trouble; ///< Why there is no driver here. When done.
    };
    /// Never waits. From any thread.
    [[nodiscard]] State state() const;

    /// Waits for the answer; begins when nobody has. nullptr: no driver, and `why` (may be nullptr)
    /// gets the reason; without a reason this build has no use for one.
    const kernels::cuda::Driver* driver(kernels::cuda::Trouble* why = nullptr);
    [[nodiscard]] const CardInquiryOptions& options() const { return options_; }

private:
    void ask(const std::stop_token& stop);

    const CardInquiryOptions options_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool is_begun_ = false, is_done_ = false;
    std::chrono::steady_clock::time_point begun_, done_;
    const kernels::cuda::Driver* driver_ = nullptr;
    std::unique_ptr<kernels::cuda::Trouble> trouble_;
    std::jthread thread_; ///< Last: it uses the others.
};

/// As the planner and the window tell it; `card` and `name` for the troubles of one card.
CardTrouble
cardTrouble(const kernels::cuda::Trouble& met, DeviceId card = {}, const std::string& name = {});

} // namespace engine
