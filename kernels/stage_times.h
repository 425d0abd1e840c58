// SPDX-License-Identifier: Apache-2.0
// Where the time of a load goes: once turned on, every stage prints one line to stderr when it
// ends. A measuring aid for a whole program, whose stages run in many places and threads: one flag,
// set by whoever wants to see them; costs one look at it otherwise. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>

namespace kernels {

/// One stage: from construction to destruction, or a sum that print() tells.
class StageTimer {
public:
    using Clock = std::chrono::steady_clock;

    /// `name` must outlive the timer.
    explicit StageTimer(const char* name) : name_(name) {
        if (isOn()) {
            begin_ = Clock::now();
        }
    }
    ~StageTimer() {
        if (begin_ != Clock::time_point()) {
            print(name_, begin_, Clock::now() - begin_);
        }
    }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;

    /// For the rest of the program; stages that run already are not told.
    static void turnOn() {
        start();
        flag().store(true, std::memory_order_relaxed);
    }
    [[nodiscard]] static bool isOn() { return flag().load(std::memory_order_relaxed); }
    /// Begin since the measuring was turned on, and duration.
    static void print(const char* name, Clock::time_point begin, Clock::duration duration) {
        std::fprintf(stderr, "load time: at %8.1f ms for %8.1f ms: %s\n",
                     milliseconds(begin - start()), milliseconds(duration), name);
    }

private:
    static std::atomic<bool>& flag() {
        static std::atomic<bool> is_on = false;
        return is_on;
    }
    static Clock::time_point start() {
        static const Clock::time_point kStart = Clock::now();
        return kStart;
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
            if (begin_ != StageTimer::Clock::time_point()) {
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
        if (begin_ != StageTimer::Clock::time_point()) {
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
