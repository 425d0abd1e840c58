// SPDX-License-Identifier: Apache-2.0
// A second process that holds memory of cuda:0, as a game or another model would.
#pragma once

#include <cstdint>
#include <string>

namespace gpu {

class OtherProgram {
public:
    /// Starts `program --hold bytes_left` and waits until it holds the memory.
    OtherProgram(const std::string& program, uint64_t bytes_left);
    /// Ends it and waits until its memory is back.
    ~OtherProgram();
    OtherProgram(const OtherProgram&) = delete;
    OtherProgram& operator=(const OtherProgram&) = delete;
    [[nodiscard]] bool isHolding() const { return is_holding_; }

private:
    int process_ = -1;
    int to_child_ = -1;
    bool is_holding_ = false;
};

/// What the second process does: takes memory of cuda:0 until about `bytes_left` are free, says so
/// with a line on stdout, and keeps it until stdin is closed. Returns the exit status.
int holdMemory(uint64_t bytes_left);

} // namespace gpu
