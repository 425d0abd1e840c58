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

/// Of the protocol. Both processes are the same program, but not after an update of its file.
inline constexpr uint32_t kVersion = 2;
inline constexpr size_t kMostPayload = size_t{64} << 20U;
inline constexpr size_t kFrameHead = 4 + 1 + 8;

enum class Kind : uint8_t {
    // To the engine; each is answered.
    Hello = 1,
    Inspect,
    Plan,
    ExportMap,
    Load,
    Unload,
    ApplyMap,
    SetAdapters,
    AdapterEffect,
    Generate,
    Logits,
    Tokenize,
    EncodeAhead,
    CheckMedia,
    MediaCost,
    Status,
    ModelFolder,
    AdapterFolder,
    // To the engine, at any time.
    Cancel, ///< The call of this number.
    Ping,   ///< Answered by the process, whatever its engine does.
    // From it.
    Answer = 64, ///< The last of a call.
    Progress,
    Update,
    Step, ///< Of long work: the state of the memory.
    Pong,
};

struct Frame {
    Kind kind = Kind::Hello;
    uint64_t call = 0;
    std::string payload;
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
    std::string pending_;
    std::deque<Frame> frames_;
};

} // namespace ipc
