// SPDX-License-Identifier: Apache-2.0
// What an engine can do beside answering, and where it runs.
#pragma once

#include <string>

namespace engine {

/// The window does not offer what is false here. What a model takes (pictures, sounds) stands in
/// its summary. The engine of this program can do everything.
struct Capabilities {
    bool places_parts = true;   ///< Device maps: plans, layouts, moves.
    bool tells_memory = true;   ///< Bytes per device and part.
    bool takes_adapters = true; ///< PEFT adapters, also while a model is loaded.
    /// SamplingParameters beyond temperature, top_p, seed and max_tokens.
    bool samples_freely = true;
    bool sets_image_tokens = true; ///< GenerateRequest::image_tokens.
    bool continues_replies = true; ///< GenerateRequest::continues_reply.
    /// The computer that gets the words of a chat, "gpu.example.org:8000"; empty: this one.
    std::string host = {};
    friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

} // namespace engine
