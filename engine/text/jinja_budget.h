// SPDX-License-Identifier: Apache-2.0
// What one evaluation of a template may cost. Everything that it makes or looks at is charged
// before that happens, so that no template can fill memory or hold the program up: memory is never
// more than what was charged, and work is linear in the steps.
#pragma once

#include "engine/base/result.h"
#include "engine/text/jinja.h"

#include <chrono>

namespace engine::jinja {

class Budget {
public:
    static constexpr int64_t kMostSteps = 200'000;
    /// Made, also what is gone again. What says who wrote a text (Text::own) comes on top, a byte
    /// for each of its bytes at most.
    static constexpr size_t kMostBytes = size_t{64} << 20;
    static constexpr size_t kBytesOfStep = 256; ///< That are looked at or copied.
    static constexpr std::chrono::seconds kLongestTime{1};

    /// One step, and `count` things of `bytes` each that are looked at.
    Result<void> work(size_t count = 0, size_t bytes = 1) {
        constexpr size_t kMost = size_t{kMostSteps} * kBytesOfStep;
        if (bytes != 0 && count > kMost / bytes) {
            cost_.steps = kMostSteps + 1;
        } else {
            cost_.steps += 1 + static_cast<int64_t>(count * bytes / kBytesOfStep);
        }
        if (cost_.steps > kMostSteps || (++looks_ % kLooksOfClock == 0 && isLate())) {
            return limit(said("too many steps"));
        }
        return {};
    }
    /// The same for things that are made.
    Result<void> make(size_t count, size_t bytes = 1) {
        if (bytes != 0 && count > (kMostBytes - cost_.bytes) / bytes) {
            return limit(said("too much memory, more than %1 MiB", kMostBytes >> 20));
        }
        cost_.bytes += count * bytes;
        return work(count, bytes);
    }
    /// What was made is gone for certain.
    void giveBack(size_t bytes) { cost_.bytes -= bytes; }

    [[nodiscard]] const Cost& cost() const { return cost_; }

private:
    static constexpr int64_t kLooksOfClock = 256;

    static Error limit(const Sentence& what) {
        return Error{ErrorCode::Unsupported, said("the template uses %1", what), {}};
    }
    [[nodiscard]] bool isLate() const {
        return std::chrono::steady_clock::now() - begin_ > kLongestTime;
    }

    Cost cost_;
    int64_t looks_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace engine::jinja
