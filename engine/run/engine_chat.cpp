// SPDX-License-Identifier: Apache-2.0
// Replies, logits, attachments and tokens of the loaded model. From a request to ids:
// engine_prompt.cpp.
#include "engine/base/paths.h"
#include "engine/families/gguf/checkpoint.h"
#include "engine/forward/media_encoders.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "engine/run/engine_state.h"
#include "engine/run/nonfinite_cause.h"
#include "engine/run/planning.h"
#include "engine/run/sampler.h"
#include "engine/run/stop_texts.h"
#include "engine/run/token_logprob.h"
#include "engine/text/reply_parser.h"
#include "kernels/stage_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <new>
#include <random>
#include <utility>

namespace engine {

namespace {

/// What the request leaves open is as the model's files say.
SamplingOptions samplingFor(const SamplingParameters& asked, const ModelConfig& config) {
    SamplingOptions sampling = samplingFromDefaults(config.generation);
    sampling.temperature = asked.temperature >= 0 ? asked.temperature : sampling.temperature;
    sampling.top_k = asked.top_k >= 0 ? asked.top_k : sampling.top_k;
    sampling.top_p = asked.top_p >= 0 ? asked.top_p : sampling.top_p;
    sampling.min_p = asked.min_p >= 0 ? asked.min_p : sampling.min_p;
    sampling.repetition_penalty =
        asked.repetition_penalty >= 0 ? asked.repetition_penalty : sampling.repetition_penalty;
    sampling.seed = asked.seed >= 0
                        ? static_cast<uint64_t>(asked.seed)
                        : (static_cast<uint64_t>(std::random_device{}()) << 20U) ^
                              static_cast<uint64_t>(Clock::now().time_since_epoch().count());
    sampling.seed &= (uint64_t{1} << 53U) - 1U; // exact in JSON numbers
    if (!asked.ignores_eos) {
        sampling.suppressed = suppressedTokens(config);
    }
    return sampling;
}

/// Keeps the tokens that a reply's text came of: the next turn asks with its text, which may be
/// spelled by other tokens, and the cache holds these. `ids`: all of them, the stop included.
void rememberReply(Loaded& target,
                   const Reply& reply,
                   std::vector<int32_t> ids,
                   const std::vector<int64_t>& stops) {
    const bool has_stop =
        !ids.empty() && std::find(stops.begin(), stops.end(), ids.back()) != stops.end();
    if (reply.finish_reason == "stop" && has_stop) {
        ids.pop_back();
    } else if (reply.finish_reason != "stop") {
        target.replies.rememberCut(reply.thinking, reply.text, ids);
    }
    // Control tokens and thoughts are no part of the text that comes back.
    const bool has_control = std::any_of(ids.begin(), ids.end(),
                                         [&](int32_t id) { return target.tokenizer->isAdded(id); });
    if (!has_control && reply.thinking.empty()) {
        target.replies.remember(reply.text, std::move(ids));
    }
}

/// Tokens that end a reply, and those that divide it into thoughts, words and calls.
std::pair<std::vector<int64_t>, ChatTokens> marksFor(const GenerateRequest& request,
                                                     const Loaded& target) {
    std::vector<int64_t> stops;
    ChatTokens tokens;
    if (request.sampling.ignores_eos) {
        return {stops, tokens};
    }
    stops = target.opened.config.generation.eos_token_ids;
    if (target.turns != nullptr) {
        tokens = target.turns->tokens;
        stops.insert(stops.end(), target.turns->stops.begin(), target.turns->stops.end());
        if (!usesTools(request)) {
            tokens.call_begin = -1; // spelled out like any other word
        } else if (tokens.hasTools()) {
            stops.push_back(tokens.response); // it waits for the results
        }
    }
    return {stops, tokens};
}

/// What reads the reply, where the prompt leaves it.
ReplyParser parserOf(const GenerateRequest& request,
                     const Tokenizer& tokenizer,
                     const ChatTurns& turns,
                     const ChatTokens& tokens) {
    const bool is_raw = !request.raw_prompt.empty() || !request.raw_ids.empty();
    ReplyParser parser(tokenizer, tokens, DetokenizerOptions{.continues_text = is_raw});
    if (turns.endsInThought(chatMessages(request), chatOptions(request))) {
        parser.beginInThought();
    }
    return parser;
}

/// What the model asks for. The ids are the same for the same reply: clients send them back.
void takeCalls(const GenerateRequest& request,
               const ChatTurns& turns,
               const std::vector<std::string>& calls,
               Reply& reply) {
    for (const std::string& written : calls) {
        ToolCall call = turns.readCall(written, request.tools);
        std::array<char, 64> id{};
        std::snprintf(id.data(), id.size(), "call_%013llx%05zx%03zx",
                      static_cast<unsigned long long>(reply.seed), reply.input_ids.size(),
                      reply.tool_calls.size());
        call.id = id.data();
        reply.tool_calls.push_back(std::move(call));
    }
    if (!reply.tool_calls.empty() && reply.finish_reason == "stop") {
        reply.finish_reason = "tool_calls";
    }
}

} // namespace

Result<Reply> Engine::generate(const GenerateRequest& request,
                               const UpdateCallback& update,
                               const std::stop_token& stop) {
    try {
        impl_->keepSpareMessage();
        return impl_->named(answer(request, update, stop));
    } catch (const std::bad_alloc&) {
        impl_->forgetContext();
        return impl_->outOfHostMemory(
            phrase("the reply needed more memory than the system gave; close other programs, or "
                   "choose a smaller context or a smaller format"));
    }
}

Result<LogitsResult>
Engine::logits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop) {
    try {
        impl_->keepSpareMessage();
        return impl_->named(promptLogits(request, rows, stop));
    } catch (const std::bad_alloc&) {
        impl_->forgetContext();
        return impl_->outOfHostMemory(
            phrase("the logits needed more memory than the system gave; close other programs, or "
                   "choose a smaller context or a smaller format"));
    }
}

Result<Reply> Engine::answer(const GenerateRequest& request,
                             const UpdateCallback& update,
                             const std::stop_token& stop) {
    ENGINE_TRY(putBack());
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    const ModelConfig& config = target.opened.config;
    const auto started = Clock::now();
    const kernels::StageTimer timer("reply");
    Reply reply;
    reply.id = request.id;
    const SamplingParameters& asked = request.sampling;
    SamplingOptions sampling = samplingFor(asked, config);
    sampling.needs_rows = request.logprobs >= 0;
    reply.seed = sampling.seed;
    ENGINE_ASSIGN(Sampler sampler, Sampler::create(sampling, config.text.vocab_size));

    Result<PreparedPrompt> prepared = impl_->preparePrompt(request, reply, stop, true);
    if (!prepared.has_value()) {
        return explainNotFinite(target, nullptr, std::move(prepared).error(), stop);
    }
    PreparedPrompt& prompt = *prepared; // with the reply's tokens once there are any
    reply.input_ids = prompt.ids;
    sampler.setHistory(prompt.ids);
    DraftPolicy* const policy =
        request.uses_drafts && request.logprobs < 0 && target.drafts.has_value() ? &*target.drafts
                                                                                 : nullptr;
    if (policy != nullptr) {
        policy->beginReply();
    }
    const auto prefill_started = Clock::now();
    ENGINE_ASSIGN(Generator::PrefillResult prefill,
                  target.generator->prefill(prompt, target.adapters->fingerprint(), 1, stop,
                                            nullptr, policy != nullptr && !policy->isOff()));
    // What was computed while attachments were encoded lies in the cache by now.
    const int64_t ahead = std::min(reply.timing.ahead_tokens, prefill.reused_tokens);
    reply.timing.prefill_s += secondsSince(prefill_started);
    reply.timing.prefill_tokens = prefill.computed_tokens + ahead;
    reply.timing.reused_tokens = prefill.reused_tokens - ahead;

    const auto marks = marksFor(request, target);
    const std::vector<int64_t>& stops = marks.first;
    std::optional<ReplyParser> parser;
    if (target.tokenizer.has_value()) {
        parser.emplace(parserOf(request, *target.tokenizer, *target.turns, marks.second));
    }
    // A reply that goes on: what is there already puts the parser where it was.
    std::vector<int32_t> whole;
    if (request.continues_reply && parser.has_value()) {
        ENGINE_ASSIGN(whole,
                      continuedIds(request, *target.tokenizer, *target.turns, target.replies));
        for (const int32_t id : whole) {
            parser->push(id);
        }
    }
    const auto decode_started = Clock::now();
    int64_t count = 0;
    StopTexts stop_texts(asked.ignores_eos ? std::vector<std::string>()
                                           : config.generation.stop_strings);
    const auto on_token = [&](int32_t token, std::span<const float> logits) {
        if (count++ == 0) {
            reply.timing.time_to_first_token_s = secondsSince(started);
        }
        prompt.ids.push_back(token);
        if (!parser.has_value() || std::find(stops.begin(), stops.end(), token) != stops.end()) {
            return true;
        }
        const auto delta = parser->push(token);
        if (update) {
            ReplyUpdate told{delta.answer, delta.thinking, count};
            if (request.logprobs >= 0 && !parser->isThinking() && delta.thinking.empty() &&
                !target.tokenizer->isAdded(token)) {
                told.logprobs = {tokenLogprob(logits, token, request.logprobs, *target.tokenizer)};
            }
            update(told);
        }
        return stop_texts.goesOn(delta.thinking + delta.answer);
    };
    Generator::Drafting drafting{policy, std::move(prefill.hidden),
                                 ForcedAcceptance(request.forced_acceptance)};
    Result<Generator::DecodeResult> outcome =
        target.generator->decode(std::move(prefill.logits), sampler, stops, asked.max_tokens,
                                 on_token, stop, policy != nullptr ? &drafting : nullptr);
    if (!outcome.has_value()) {
        return explainNotFinite(target, &prompt, std::move(outcome).error(), stop);
    }
    Generator::DecodeResult decoded = std::move(outcome).value();
    reply.timing.decode_s = secondsSince(decode_started);
    reply.timing.decode_tokens = static_cast<int64_t>(decoded.tokens.size());
    reply.finish_reason = decoded.finish_reason;
    if (policy != nullptr) {
        reply.drafts = policy->report();
    }
    reply.token_ids = std::move(decoded.tokens);
    if (parser.has_value()) {
        const auto rest = parser->flush();
        if (update && (!rest.answer.empty() || !rest.thinking.empty())) {
            update({rest.answer, rest.thinking, count});
        }
        reply.text = parser->answer();
        reply.thinking = parser->thinking();
        whole.insert(whole.end(), reply.token_ids.begin(), reply.token_ids.end());
        rememberReply(target, reply, std::move(whole), stops);
        takeCalls(request, *target.turns, parser->calls(), reply);
    }
    if (std::optional<Sentence> note = target.store->takeUseNote()) {
        reply.notes.push_back(*std::move(note));
    }
    impl_->afterReply(target, reply, policy != nullptr);
    return reply;
}

Result<LogitsResult>
Engine::promptLogits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop) {
    ENGINE_TRY(putBack());
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    Reply scratch;
    const Result<PreparedPrompt> prepared = impl_->preparePrompt(request, scratch, stop);
    if (!prepared.has_value()) {
        return explainNotFinite(target, nullptr, prepared.error(), stop);
    }
    const PreparedPrompt& prompt = *prepared;
    const int64_t total = static_cast<int64_t>(prompt.ids.size());
    if (rows < 1 || rows > total) {
        return Error{
            ErrorCode::InvalidRequest,
            said("logits of the last %1 tokens were asked for; the prompt has %2", rows, total)};
    }
    ENGINE_ASSIGN(Generator::PrefillResult prefill,
                  target.generator->prefill(prompt, target.adapters->fingerprint(), rows, stop));
    if (!areFinite(prefill.logits)) {
        return explainNotFinite(
            target, &prompt, notFiniteError("the logits of this prompt are not finite", "language"),
            stop);
    }
    LogitsResult result;
    result.notes = std::move(scratch.notes);
    result.logits = std::move(prefill.logits);
    result.rows = rows;
    result.vocab = target.opened.config.text.vocab_size;
    result.input_ids = prompt.ids;
    return result;
}

/// The kind of a part that is not text.
static MediaKind fileKind(const MessagePart& part) {
    return part.kind == MessagePart::Kind::Image ? MediaKind::Image : MediaKind::Audio;
}

Result<void>
Engine::encodeAhead(const MessagePart& part, int64_t image_tokens, const std::stop_token& stop) {
    try {
        impl_->keepSpareMessage();
        ENGINE_TRY(putBack());
        ENGINE_ASSIGN(Loaded * target, impl_->current());
        const int64_t budget =
            image_tokens > 0 ? image_tokens : target->opened.config.processor.image_tokens;
        ENGINE_ASSIGN(MediaEncoder * encoder, encoderOf(*target->model, fileKind(part), part.text));
        ENGINE_ASSIGN(
            const OpenMedia file,
            target->media.open(part, std::min(budget, target->plan->image_tokens), *encoder));
        const auto encoded =
            target->media.encode(file, *encoder, target->adapters->fingerprint(), stop);
        return encoded.has_value() ? Result<void>()
                                   : explainNotFinite(*target, nullptr, encoded.error(), stop);
    } catch (const std::bad_alloc&) {
        return impl_->outOfHostMemory(
            phrase("reading %1 needed more memory than the system gave; close other programs, or "
                   "choose a smaller context or a smaller format"),
            part.text);
    }
}

namespace {

/// Seconds for people: "12.4".
std::string oneDecimal(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

} // namespace

Result<MediaCost> Engine::mediaCost(const MessagePart& part, int64_t image_tokens) {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    const ModelConfig& config = target->opened.config;
    MediaCost cost;
    const ComponentDevices devices = componentDevices(config, *target->plan);
    ENGINE_TRY(encoderOf(*target->model, fileKind(part), part.text));
    if (part.kind == MessagePart::Kind::Image) {
        ENGINE_ASSIGN(const ImageInfo info, probeImageFile(pathFromUtf8(part.text)));
        const int64_t budget = image_tokens > 0 ? image_tokens : config.processor.image_tokens;
        ENGINE_ASSIGN(const ImageSize size,
                      targetSize(info.displayed.height, info.displayed.width, budget,
                                 config.vision->patch_size, config.vision->pooling_kernel,
                                 config.vision->position_table_size));
        cost.tokens =
            imageTokens(size, config.vision->patch_size, config.vision->pooling_kernel) + 2;
        cost.seconds = target->plan->estimate.image_s;
        cost.device = devices.vision.toString();
        cost.description = std::string(imageFormatName(info.format)) + ", " +
                           std::to_string(info.displayed.width) + " x " +
                           std::to_string(info.displayed.height);
        return cost;
    }
    ENGINE_ASSIGN(const AudioInfo info, probeAudioFile(pathFromUtf8(part.text)));
    if (part.cut_length_s > 0 && part.cut_start_s >= info.seconds) {
        return Error{ErrorCode::InvalidRequest,
                     said("the part starts at %1 s, after the end of the recording, which has %2 "
                          "s; choose an earlier part",
                          oneDecimal(part.cut_start_s), oneDecimal(info.seconds))};
    }
    const double length = part.cut_length_s > 0
                              ? std::min(part.cut_length_s, info.seconds - part.cut_start_s)
                              : info.seconds;
    const double longest = longestSound(config);
    if (length > longest) {
        return Error{
            ErrorCode::InvalidRequest,
            said("the recording is %1 s long, one clip may have %2 s; choose a part of it",
                 oneDecimal(info.seconds), oneDecimal(longest)),
            {{"seconds", std::to_string(info.seconds)}, {"longest_s", std::to_string(longest)}}};
    }
    cost.tokens =
        soundTokens(*config.audio,
                    static_cast<int64_t>(length * static_cast<double>(kAudioSampleRate))) +
        2;
    cost.seconds = target->plan->estimate.audio_s_per_s * length;
    cost.device = devices.audio.toString();
    cost.description = info.format + ", " + oneDecimal(length) + " s";
    return cost;
}

Result<Tokenized> Engine::tokenize(const std::string& model, std::string_view text) {
    std::optional<Tokenizer> own;
    const Tokenizer* tokenizer = nullptr;
    if (impl_->loaded != nullptr && impl_->loaded->request.model == model &&
        impl_->loaded->tokenizer.has_value()) {
        tokenizer = &*impl_->loaded->tokenizer;
    } else {
        ENGINE_ASSIGN(
            const auto checkpoint,
            openCheckpoint(pathFromUtf8(model == "demo" ? impl_->options.demo_folder : model)));
        ENGINE_ASSIGN(own, Tokenizer::fromCheckpoint(*checkpoint));
        tokenizer = &*own;
    }
    Tokenized result;
    result.ids = tokenizer->encode(text);
    result.prefix.assign(tokenizer->prefixTokens().begin(), tokenizer->prefixTokens().end());
    for (const int32_t id : result.ids) {
        result.pieces.emplace_back(tokenizer->tokenText(id));
    }
    return result;
}

} // namespace engine
