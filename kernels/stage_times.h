// SPDX-License-Identifier: Apache-2.0
// Where the time of a load goes: with BELFRY_LOAD_TIMES set every stage prints one line to stderr
// when it ends. A measuring aid; costs one look at a flag where it is not set. Thread-safe.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace kernels {

/// One stage: from construction to destruction, or a sum that print() tells.
class StageTimer {
public:
    using Clock = std::chrono::steady_clock;

    /// `name` must outlive the timer.
    explicit StageTimer(const char* name) : name_(name) {
        if (isOn()) {
            firstUse();
            begin_ = Clock::now();
        }
    }
    ~StageTimer() {
        if (isOn()) {
            print(name_, begin_, Clock::now() - begin_);
        }
    }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;

    [[nodiscard]] static bool isOn() {
        static const bool kIsOn = std::getenv("BELFRY_LOAD_TIMES") != nullptr;
        return kIsOn;
    }
    /// Begin since the first use of this class in the program, and duration.
    static void print(const char* name, Clock::time_point begin, Clock::duration duration) {
        std::fprintf(stderr, "load time: at %8.1f ms for %8.1f ms: %s\n",
                     milliseconds(begin - firstUse()), milliseconds(duration), name);
    }

private:
    static Clock::time_point firstUse() {
        static const Clock::time_point kFirst = Clock::now();
        return kFirst;
    }
    static double milliseconds(Clock::duration duration) {
        return std::chrono::duration<double, std::milli>(duration).count();
    }

    const char* name_;
    Clock::time_point begin_;
};

/// Adds up what one thread waits for or works on in many short pieces.
class StageSum {
public:
    /// Counts from construction to destruction.
    class Piece {
    public:
        explicit Piece(StageSum& sum)
            : sum_(&sum), begin_(StageTimer::isOn() ? StageTimer::Clock::now()
                                                    : StageTimer::Clock::time_point()) {}
        ~Piece() {
            if (StageTimer::isOn()) {
                sum_->total_ += StageTimer::Clock::now() - begin_;
            }
        }
        Piece(const Piece&) = delete;
        Piece& operator=(const Piece&) = delete;

    private:
        StageSum* sum_;
        StageTimer::Clock::time_point begin_;
    };

    explicit StageSum(const char* name) : name_(name) {
        if (StageTimer::isOn()) {
            begin_ = StageTimer::Clock::now();
        }
    }
    ~StageSum() {
        if (StageTimer::isOn()) {
            StageTimer::print(name_, begin_, total_);
        }
    }
    StageSum(const StageSum&) = delete;
    StageSum& operator=(const StageSum&) = delete;

private:
    const char* name_;
    StageTimer::Clock::time_point begin_;
    StageTimer::Clock::duration total_{};
};

} // namespace kernels
