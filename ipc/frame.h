// SPDX-License-Identifier: Apache-2.0
// What travels between the window's process and the engine's: frames. A frame is the length of
// what follows (32 bits), its kind (8), the call that it belongs to (64), and a payload that
// messages.h describes by kind; all little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace ipc {

/// Protocol version. Both processes are the same program, but not after an update of its file.
inline constexpr uint32_t kVersion = 5;
inline constexpr size_t kMostPayload = size_t{64} << 20U;
inline constexpr size_t kFrameHead = 4 + 1 + 8;

enum class Kind : uint8_t {
    // To the engine; each is answered.
    Hello = 1,
    Inspect,
    Load,
    Unload,
    ApplyMap,
    SetAdapters,
    AdapterEffect,
    Generate,
    Logits,
    EncodeAhead,
    CheckMedia,
    MediaCost,
    Status,
    // To the engine, at any time.
    Cancel, ///< The call of this number.
    Ping,   ///< Answered by the process, whatever its engine does.
    // From it.
    Answer = 64, ///< The last of a call.
    Progress,
    Update,
    Step, ///< During long work: the state of the memory.
    Pong,
};

struct Frame {
    Kind kind = Kind::Hello;
    uint64_t call = 0;
    std::string payload;
    bool is_lost = false; ///< There was no memory for the payload, which is empty.
};

/// Empty when the payload is longer than kMostPayload.
std::string frameBytes(Kind kind, uint64_t call, std::string_view payload);

/// Cuts bytes into frames as they come. Holds at most one frame that is not whole.
class FrameCutter {
public:
    /// False: these bytes are no frames, and nothing that follows can be.
    [[nodiscard]] bool feed(std::string_view bytes);
    [[nodiscard]] bool hasFrame() const { return !frames_.empty(); }
    /// hasFrame() must be true.
    Frame take();

private:
    /// With a whole head_.
    void beginFrame();

    std::string head_;   ///< Head of the frame that comes, as far as it is there.
    Frame frame_;        ///< What head_ announced, once that is whole.
    size_t missing_ = 0; ///< Bytes of its payload that have not come.
    std::deque<Frame> frames_;
};

} // namespace ipc
