// SPDX-License-Identifier: Apache-2.0
// Values of a conversation: messages with media, sampling options, a request for one reply, and
// what came of it. Plain values that cross the boundary between the window and the engine.
#pragma once

#include "engine/api/error.h"
#include "engine/api/sentence.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// One piece of a message, in the order the model sees it.
struct MessagePart {
    enum class Kind : uint8_t { Text = 1, Image, Audio };
    Kind kind = Kind::Text;
    std::string text; ///< UTF-8 text, or for media the path of the file.
    /// Audio only: take [start, start + length) of a longer recording; length 0 = the whole clip.
    double cut_start_s = 0.0, cut_length_s = 0.0;
};

/// A tool that the model asks for. Nothing here runs it: it is shown, or handed to who asked.
struct ToolCall {
    std::string id, name;
    std::string arguments; ///< JSON; of a server as the model wrote it, which may be broken.
    friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

/// A tool that the model may ask for.
struct Tool {
    std::string name, description;
    std::string parameters = {}; ///< JSON Schema of an object; empty: it takes nothing.
};

struct Message {
    enum class Role : uint8_t { System = 1, User, Assistant, Tool };
    Role role = Role::User;
    std::vector<MessagePart> parts;   ///< Role::Tool: what the tool answered.
    std::vector<ToolCall> calls = {}; ///< Role::Assistant: what it asked for.
    std::string call_id = {};         ///< Role::Tool: of the call that this answers.
    std::string thinking = {};        ///< Role::Assistant, behind the last question: its thoughts.
};

/// Values below zero mean "the model's own default" (generation_config.json).
struct SamplingParameters {
    double temperature = -1.0; ///< 0 = greedy.
    int64_t top_k = -1;        ///< 0 = off.
    double top_p = -1.0;
    double min_p = -1.0;
    double repetition_penalty = -1.0;
    int64_t seed = -1;      ///< Negative: a fresh one each time, reported in the reply.
    int64_t max_tokens = 0; ///< 0 = until the context is full.
    /// Raw generation: no stop token, no suppressed token.
    bool ignores_eos = false;
};

struct GenerateRequest {
    uint64_t id = 0; ///< Chosen by the caller; comes back in snapshots and replies.
    std::vector<Message> messages;
    bool is_thinking = false;
    SamplingParameters sampling;
    int64_t image_tokens = 0; ///< Soft-token budget per image; 0 = the model's.
    bool uses_drafts = true;  ///< Where an assistant is loaded.
    /// How many of the likeliest tokens are told beside each token of the answer, with their
    /// probabilities (ReplyUpdate::logprobs); 0: the token alone; negative: nothing. Told without
    /// drafts only.
    int64_t logprobs = -1;
    /// For benchmarks with random weights: drafts are accepted with this probability, whatever the
    /// model says; negative: the model decides.
    double forced_acceptance = -1.0;
    /// Instead of messages: text that already has <bos> and the turn markers, with media in order
    /// of its placeholders; or token ids.
    std::string raw_prompt;
    std::vector<std::string> raw_images, raw_audios;
    std::vector<int32_t> raw_ids;
    /// The last message is a reply that was cut short: go on writing it, in the same turn.
    /// Reply::text, thinking and the streamed updates: the text is whole, the updates bring only
    /// what is new; token_ids are the new ones, input_ids end with the part that was there.
    bool continues_reply = false;
    std::string continued_thinking; ///< Its thoughts, where the cut reply had some.
    /// What the model is told that it may ask for; its calls stand in Reply::tool_calls.
    std::vector<Tool> tools = {};
};

struct GenerateTiming {
    int64_t prefill_tokens = 0; ///< Tokens computed now; those reused from the cache not counted.
    int64_t reused_tokens = 0;
    int64_t ahead_tokens = 0; ///< Part of prefill_tokens: computed while attachments were encoded.
    double prefill_s = 0.0;
    int64_t decode_tokens = 0;
    double decode_s = 0.0;
    double time_to_first_token_s = 0.0;  ///< From the request, encoders included.
    double image_s = 0.0, audio_s = 0.0; ///< Decoding and encoding of media in this request.
};

/// What drafting did in one reply.
struct DraftReport {
    int64_t rounds = 0;   ///< Rows of several tokens that the model checked at once.
    int64_t drafted = 0;  ///< Drafts in them,
    int64_t accepted = 0; ///< and how many of these the model would have said itself.
    /// Tokens per second of the rounds by those of tokens one at a time; 0: nothing to compare.
    double gain = 0.0;
    bool is_off = false;                 ///< It was slower than without, so it is left out now.
    double draft_s = 0.0, check_s = 0.0; ///< All of the rounds: drafting, and the model's checks.
    [[nodiscard]] double tokensPerRound() const {
        return rounds > 0 ? 1.0 + static_cast<double>(accepted) / static_cast<double>(rounds) : 0.0;
    }
    /// Share of all drafts.
    [[nodiscard]] double acceptance() const {
        return drafted > 0 ? static_cast<double>(accepted) / static_cast<double>(drafted) : 0.0;
    }
};

struct Reply {
    uint64_t id = 0;
    std::string text;               ///< The answer, without control tokens.
    std::string thinking;           ///< What stood in the thought channel.
    std::vector<int32_t> token_ids; ///< Generated, stop token included.
    std::vector<int32_t> input_ids; ///< Prompt after placeholder expansion.
    /// "stop" (a stop token), "length" (max_tokens), "context" (cache full), "cancelled",
    /// "tool_calls" (it waits for them).
    std::string finish_reason;
    uint64_t seed = 0;
    GenerateTiming timing;
    std::optional<DraftReport> drafts; ///< Where an assistant is loaded and was not left out.
    std::vector<ToolCall> tool_calls;
    std::string host; ///< The computer that answered (Capabilities::host); empty: this one.
    std::vector<Sentence> notes; ///< What the user should know: cut clips, other templates.
};

/// A token of an answer beside those that could have stood in its place.
struct TokenLogprob {
    struct Choice {
        int32_t id = 0;
        std::string bytes;    ///< Its text; part of a character where a token is one.
        double logprob = 0.0; ///< Natural logarithm, before temperature and cuts.
    };
    Choice said;
    std::vector<Choice> likeliest; ///< Falling; as many as were asked for.
};

/// Text that came with one decoding step.
struct ReplyUpdate {
    std::string text, thinking;
    int64_t tokens = 0;                      ///< Generated so far.
    std::vector<TokenLogprob> logprobs = {}; ///< Where they were asked for: of the answer alone.
};

/// What an attachment will cost, from its header alone.
struct MediaCost {
    int64_t tokens = 0;
    double seconds = 0.0;    ///< Estimated time of the tower on its device.
    std::string device;      ///< Where the tower computes.
    std::string description; ///< "JPEG, 4032 x 3024", "WAV, 16-bit PCM, 12.4 s"
};

} // namespace engine
