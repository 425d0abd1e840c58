// SPDX-License-Identifier: Apache-2.0
// The body behind a request's head, of a told length or in chunks (RFC 9112, chapters 6 and 7).
// Strict, because two readers who disagree about where a body ends see two different requests:
// lines of chunks end in CR LF, sizes are hexadecimal digits alone. Extensions of chunks and
// trailers mean nothing here; they are bounded and dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace serve {

inline constexpr size_t kMostChunkWords = size_t{16} << 10U; ///< Extensions and trailers of a body.

class BodyReader {
public:
    enum class State {
        More = 1,     ///< It goes on.
        Done,         ///< `body` is whole.
        Malformed,    ///< These are no chunks.
        TooManyWords, ///< More than kMostChunkWords around the chunks.
        TooLarge,     ///< More than `most_bytes`.
    };

    /// `length`: what was told; without one the body comes in chunks.
    BodyReader(std::optional<uint64_t> length, size_t most_bytes);

    /// Takes the next bytes; how many of them: the rest belongs to the next request.
    size_t take(std::string_view bytes);
    [[nodiscard]] State state() const { return state_; }
    std::string& body() { return body_; }

private:
    enum class Part { Size = 1, Data, DataEnd, Trailer };

    size_t takeData(std::string_view bytes);
    void takeOfLine(char c);
    void onLine();
    void onSize();

    const size_t most_bytes_;
    const bool has_chunks_;
    State state_ = State::More;
    Part part_ = Part::Data;
    uint64_t left_ = 0; ///< Bytes of the data.
    size_t words_ = 0;  ///< Bytes of extensions and trailers.
    std::string line_, body_;
};

} // namespace serve
