// SPDX-License-Identifier: Apache-2.0
#include "app/serve/api_request.h"

#include "app/serve/api_fields.h"
#include "app/serve/chat_messages.h"
#include "app/serve/chat_tools.h"
#include "engine/base/json/tree.h"

#include <algorithm>
#include <utility>

namespace serve {

using engine::Json;

namespace {

using Outcome = std::optional<ApiError>;

constexpr int64_t kMostTokens = int64_t{1} << 24;
constexpr int64_t kMostTopK = int64_t{1} << 24;
constexpr int64_t kSeedMask = (int64_t{1} << 53) - 1; ///< What the engine takes.
constexpr size_t kLongestStop = 1024;
constexpr int64_t kUsualCompletion = 16; ///< Tokens, as OpenAI's

Outcome parseBody(std::string_view body, Json& out) {
    engine::JsonLimits limits;
    limits.max_depth = engine::kDeepestJsonTree;
    limits.replaces_surrogates = true; // JavaScript cuts texts within a character
    limits.max_string_bytes = body.size();
    limits.max_values = engine::kMostJsonTreeValues;
    const engine::JsonOutcome outcome = engine::readJsonTree(body, limits, out);
    ApiError refusal;
    if (outcome.stop != engine::JsonStop::Done) {
        refusal.message = engine::jsonError(outcome, "the body of the request").message;
        refusal.code = "invalid_json";
        return refusal;
    }
    if (!out.is(Json::Kind::Object)) {
        refusal.message = "the body of the request is no JSON object";
        refusal.code = "invalid_json";
        return refusal;
    }
    return std::nullopt;
}

bool isEmptyContainer(const Json& value) {
    return (value.is(Json::Kind::Array) && value.items.empty()) ||
           (value.is(Json::Kind::Object) && value.members.empty());
}

/// What Belfry would have to do for these, it does not do: ignoring them would give an answer that
/// the caller takes for another.
void refuseUnknowns(Fields& fields) {
    if (const Json* old = fields.find("functions"); old != nullptr && !isEmptyContainer(*old)) {
        fields.refuse("functions", "the older form is not taken; leave them out, and send tools");
    }
    if (const Json* bias = fields.find("logit_bias"); bias != nullptr && !isEmptyContainer(*bias)) {
        fields.refuse("logit_bias", "Belfry has no bias of single tokens; leave it out");
    }
    if (const Json* format = fields.find("response_format")) {
        const Json* type = given(*format, "type");
        if (type == nullptr || !type->isString("text")) {
            fields.refuse("response_format", "expected {\"type\": \"text\"}: Belfry does not hold "
                                             "its models to JSON yet; ask for JSON in the prompt");
        }
    }
    if (const Json* modalities = fields.find("modalities")) {
        for (const Json& item : modalities->items) {
            if (!item.isString("text")) {
                fields.refuse("modalities", "expected [\"text\"]: Belfry's models answer in text");
            }
        }
    }
    if (fields.find("audio") != nullptr) {
        fields.refuse("audio", "Belfry's models answer in text; leave it out");
    }
    if (fields.find("chat_template") != nullptr) {
        fields.refuse("chat_template", "the model's own template is used; leave it out");
    }
    for (const char* key : {"presence_penalty", "frequency_penalty"}) {
        const auto penalty = fields.number(key, -2.0, 2.0);
        if (penalty.has_value() && *penalty != 0.0) {
            fields.refuse(key, "Belfry has repetition_penalty in its place; expected 0");
        }
    }
    if (const auto n = fields.integer("n", 1, 128); n.has_value() && *n > 1) {
        fields.refuse("n", "Belfry gives one answer a request: expected 1, found " +
                               std::to_string(*n) + "; ask again with another seed for more");
    }
}

void readStops(Fields& fields, std::vector<std::string>& out) {
    const Json* stop = fields.find("stop");
    if (stop == nullptr) {
        return;
    }
    std::vector<const Json*> items;
    if (stop->is(Json::Kind::Array)) {
        for (const Json& item : stop->items) {
            items.push_back(&item);
        }
    } else {
        items.push_back(stop);
    }
    // An empty field of a client's settings is no text to stop at.
    std::erase_if(
        items, [](const Json* item) { return item->is(Json::Kind::Null) || item->isString(""); });
    if (items.size() > kMostStops) {
        fields.refuse("stop", "expected at most " + std::to_string(kMostStops) + " texts");
        return;
    }
    for (const Json* item : items) {
        const bool is_text = item->is(Json::Kind::String) && item->text.size() <= kLongestStop;
        if (!is_text) {
            fields.refuse("stop", "expected a text, or a list of texts, of at most " +
                                      std::to_string(kLongestStop) + " bytes");
            return;
        }
        out.push_back(item->text);
    }
}

/// How long a reply may become; 0: as the context allows, which clients write as -1, -2 or 0.
std::optional<int64_t> readMostTokens(Fields& fields, const char* key) {
    const auto most = fields.integer(key, -2, kMostTokens);
    return most.has_value() ? std::optional(std::max<int64_t>(*most, 0)) : std::nullopt;
}

/// What chat and completions share.
void readCommon(Fields& fields, ApiRequest& out) {
    const auto model = fields.string("model");
    if (!model.has_value()) {
        fields.refuse("model", "expected the name of a model; GET /v1/models lists them");
    }
    out.model = model.value_or("");
    out.is_streamed = fields.boolean("stream").value_or(false);
    if (const Json* options = fields.find("stream_options"); options != nullptr) {
        const Json* usage = given(*options, "include_usage");
        out.includes_usage = usage != nullptr && usage->is(Json::Kind::Bool) && usage->boolean;
    }
    engine::SamplingParameters& sampling = out.generate.sampling;
    sampling.temperature = fields.number("temperature", 0.0, 2.0).value_or(sampling.temperature);
    sampling.top_p = fields.number("top_p", 0.0, 1.0).value_or(sampling.top_p);
    sampling.min_p = fields.number("min_p", 0.0, 1.0).value_or(sampling.min_p);
    if (const auto penalty = fields.number("repetition_penalty", 0.0, 100.0)) {
        sampling.repetition_penalty = *penalty == 0.0 ? 1.0 : *penalty; // both mean "none"
    }
    if (const auto top_k = fields.integer("top_k", -1, kMostTopK)) {
        sampling.top_k = std::max<int64_t>(*top_k, 0); // both mean "all"
    }
    if (const auto seed = fields.integer("seed", -1, INT64_MAX)) {
        sampling.seed = *seed < 0 ? -1 : *seed & kSeedMask;
    }
    readStops(fields, out.stops);
    refuseUnknowns(fields);
}

void readThinking(Fields& fields, ApiRequest& out) {
    if (const auto effort = fields.string("reasoning_effort")) {
        out.generate.is_thinking = *effort != "none";
    }
    if (const Json* options = fields.find("chat_template_kwargs"); options != nullptr) {
        const Json* thinking = given(*options, "enable_thinking");
        if (thinking != nullptr && !thinking->is(Json::Kind::Bool)) {
            fields.refuse("chat_template_kwargs.enable_thinking", "expected true or false");
        } else if (thinking != nullptr) {
            out.generate.is_thinking = thinking->boolean;
        }
    }
}

} // namespace

Outcome readChatRequest(std::string_view body, ApiRequest& out) {
    Json tree;
    if (Outcome wrong = parseBody(body, tree)) {
        return wrong;
    }
    out.kind = ApiRequest::Kind::Chat;
    Fields fields(tree);
    readCommon(fields, out);
    readThinking(fields, out);
    engine::SamplingParameters& sampling = out.generate.sampling;
    // The newer name counts where both are limits.
    const int64_t older = readMostTokens(fields, "max_tokens").value_or(0);
    const int64_t newer = readMostTokens(fields, "max_completion_tokens").value_or(0);
    sampling.max_tokens = newer > 0 ? newer : older;
    const bool wants_logprobs = fields.boolean("logprobs").value_or(false);
    const auto top = fields.integer("top_logprobs", 0, kMostLogprobs);
    if (top.has_value() && *top > 0 && !wants_logprobs) {
        fields.refuse("top_logprobs", "needs logprobs true beside it");
    }
    out.generate.logprobs = wants_logprobs ? top.value_or(0) : -1;
    if (fields.isWrong()) {
        return fields.error();
    }
    if (Outcome wrong = readTools(tree, out)) {
        return wrong;
    }
    return readMessages(tree, out);
}

Outcome readCompletionRequest(std::string_view body, ApiRequest& out) {
    Json tree;
    if (Outcome wrong = parseBody(body, tree)) {
        return wrong;
    }
    out.kind = ApiRequest::Kind::Completion;
    Fields fields(tree);
    readCommon(fields, out);
    engine::SamplingParameters& sampling = out.generate.sampling;
    sampling.max_tokens = readMostTokens(fields, "max_tokens").value_or(kUsualCompletion);
    out.generate.logprobs = fields.integer("logprobs", 0, kMostLogprobs).value_or(-1);
    if (fields.boolean("echo").value_or(false)) {
        fields.refuse("echo", "the prompt is not repeated; expected false");
    }
    if (const Json* suffix = fields.find("suffix"); suffix != nullptr && !suffix->isString("")) {
        fields.refuse("suffix", "Belfry's models write on at the end only; leave it out");
    }
    if (const auto best = fields.integer("best_of", 1, 128); best.has_value() && *best > 1) {
        fields.refuse("best_of", "Belfry gives one answer a request: expected 1");
    }
    if (const Json* tools = fields.find("tools"); tools != nullptr && !isEmptyContainer(*tools)) {
        fields.refuse("tools", "belong to chats: ask at /v1/chat/completions");
    }
    const Json* prompt = fields.find("prompt");
    if (prompt != nullptr && prompt->is(Json::Kind::Array) && prompt->items.size() == 1) {
        prompt = prompt->items.data();
    }
    if (prompt == nullptr || !prompt->is(Json::Kind::String) || prompt->text.empty()) {
        fields.refuse("prompt",
                      "expected a text, or a list with one text; token ids are not taken");
    } else {
        out.generate.raw_prompt = prompt->text;
    }
    return fields.error();
}

} // namespace serve
