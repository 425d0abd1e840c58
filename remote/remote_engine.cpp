// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_engine.h"

#include "engine/api/model_address.h"
#include "engine/base/paths.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <random>

#include "remote/chat_request.h"
#include "remote/exchange.h"
#include "remote/reply_reader.h"
#include "remote/server_error.h"
#include "remote/short_question.h"

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;
using models::hub::HttpEnd;
using models::hub::HttpRequest;
using std::chrono::steady_clock;

namespace {

double secondsSince(steady_clock::time_point begin) {
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

Error cancelled() {
    return {ErrorCode::Cancelled, said("stopped before the server had answered")};
}

Result<ModelList> askForModels(const models::hub::HttpClientFactory& make_http,
                               const Connection& connection,
                               const std::string& user_agent,
                               const std::stop_token& stop) {
    const ShortAnswer answer =
        askShortly(make_http, connection, connection.server.base + "/models", user_agent, stop);
    const HttpEnd& end = answer.end;
    const std::string& host = connection.server.host;
    if (end.kind == HttpEnd::Kind::Cancelled) {
        return cancelled();
    }
    if (end.kind == HttpEnd::Kind::Sink) {
        return answerError(host, engine::phrase("its list of models has no end"));
    }
    if (end.kind != HttpEnd::Kind::Done) {
        return endError(end, host, false);
    }
    if (answer.head.status < 200 || answer.head.status > 299) {
        return withoutKey(statusError(answer.head, answer.body, host, {}), connection.key);
    }
    return readModelList(answer.body, host);
}

/// Whether another path of the same server may be the right one.
bool isElsewhere(const Error& error) {
    for (const auto& [key, value] : error.details) {
        if (key == "rule" && (value == "RemoteMissing" || value == "RemoteAnswer")) {
            return true;
        }
    }
    return false;
}

bool isRule(const Error& error, std::string_view rule) {
    for (const auto& [key, value] : error.details) {
        if (key == "rule" && value == rule) {
            return true;
        }
    }
    return false;
}

} // namespace

Result<ModelList> listModels(const models::hub::HttpClientFactory& make_http,
                             Connection& connection,
                             const std::string& user_agent,
                             const std::stop_token& stop) {
    auto list = askForModels(make_http, connection, user_agent, stop);
    if (list.has_value() || !isElsewhere(list.error()) || connection.server.base.ends_with("/v1")) {
        return list;
    }
    Connection below = connection;
    below.server.base += "/v1";
    auto second = askForModels(make_http, below, user_agent, stop);
    if (second.has_value()) {
        connection = below;
        return second;
    }
    return list;
}

engine::Capabilities serverCapabilities(const std::string& host, Product product) {
    engine::Capabilities can;
    can.places_parts = false;
    can.tells_memory = false;
    can.takes_adapters = false;
    can.samples_freely = takesExtensions(product);
    can.sets_image_tokens = product == Product::Vllm;
    can.continues_replies = false;
    can.host = host;
    return can;
}

engine::Capabilities RemoteEngine::capabilities() const {
    return serverCapabilities(connection_.server.host, product_);
}

Result<RemoteEngine::Found> RemoteEngine::find(const std::string& model,
                                               const std::stop_token& stop) {
    Found found;
    ENGINE_ASSIGN(found.connection, options_.connections(engine::serverBase(model)));
    const std::string name = engine::serverModelName(model);
    const std::string& host = found.connection.server.host;
    auto list = listModels(options_.make_http, found.connection, options_.user_agent, stop);
    engine::ModelSummary& summary = found.summary;
    summary.folder = model;
    // Only the server knows; it refuses what its model does not take.
    summary.has_vision = true;
    summary.has_audio = true;
    summary.longest_sound_s = static_cast<double>(engine::kMaxAudioSeconds);
    summary.quantization = "none";
    if (list.has_value()) {
        const ServerModel* const one = list->find(name);
        if (one == nullptr) {
            std::string names;
            for (size_t i = 0; i < list->models.size() && i < 5; ++i) {
                names += (i == 0 ? "" : ", ") + list->models[i].id;
            }
            return Error{
                ErrorCode::InvalidRequest,
                said("%1 has no model \"%2\"; it has: %3", host, name, names.empty() ? "-" : names),
                {{"rule", "RemoteMissing"}}};
        }
        found.product = list->product;
        summary.max_context = one->max_context;
        summary.variant = productName(found.product);
    } else if (!isRule(list.error(), "RemoteMissing") || name.empty()) {
        return list.error(); // a proxy without a list may have the model all the same
    }
    summary.architecture = host;
    summary.capabilities = serverCapabilities(host, found.product);
    return found;
}

Result<engine::ModelSummary> RemoteEngine::inspect(const std::string& model,
                                                   const std::vector<std::string>& adapters) {
    if (!adapters.empty()) {
        return Error{ErrorCode::Unsupported,
                     said("a server's adapters are models of its list; an adapter of this computer "
                          "cannot be used there")};
    }
    ENGINE_ASSIGN(Found found, find(model, {}));
    return std::move(found.summary);
}

Result<void> RemoteEngine::load(const engine::LoadRequest& request,
                                const engine::ProgressCallback& progress,
                                const std::stop_token& stop) {
    const auto begin = steady_clock::now();
    if (progress) {
        progress({"check", 0, 0, {}});
    }
    if (!request.adapters.empty()) {
        return setAdapters(request.adapters, stop);
    }
    ENGINE_ASSIGN(Found found, find(request.model, stop));
    connection_ = std::move(found.connection);
    product_ = found.product;
    name_ = engine::serverModelName(request.model);
    request_ = request;
    summary_ = std::make_shared<const engine::ModelSummary>(std::move(found.summary));
    load_s_ = secondsSince(begin);
    context_used_ = 0;
    return {};
}

void RemoteEngine::unload() {
    summary_ = nullptr;
    connection_ = {};
    context_used_ = 0;
}

std::pair<int64_t, int64_t> RemoteEngine::contextUse() const {
    return {context_used_, summary_ == nullptr ? 0 : summary_->max_context};
}

Result<engine::Reply> RemoteEngine::generate(const engine::GenerateRequest& request,
                                             const engine::UpdateCallback& delta,
                                             const std::stop_token& stop) {
    if (!isLoaded()) {
        return Error{ErrorCode::InvalidRequest,
                     said("no server is connected; choose one of its models first")};
    }
    engine::GenerateRequest asked = request;
    if (asked.sampling.seed < 0) {
        asked.sampling.seed = static_cast<int64_t>(std::random_device{}() & 0x7fffffffU);
    }
    const auto begin = steady_clock::now();
    HttpRequest post =
        requestTo(connection_, connection_.server.base + "/chat/completions", options_.user_agent);
    ENGINE_ASSIGN(post.body, chatRequest(asked, name_, product_));
    post.is_post = true;
    post.headers.push_back({"Content-Type", "application/json"});
    post.headers.push_back({"Accept", "text/event-stream"});
    post.first_byte_limit = connection_.limits.first_byte;
    post.silence_limit = connection_.limits.silence;
    ReplyReader reader(connection_.server.host, name_, connection_.limits.progress, delta);
    const HttpEnd end =
        exchange(options_.make_http, post, reader, stop, [&reader] { return reader.hasTime(); });
    Result<engine::Reply> told = reader.finish(end);
    if (!told.has_value()) {
        return withoutKey(told.error(), connection_.key);
    }
    engine::Reply reply = *std::move(told);
    reply.id = request.id;
    reply.seed = static_cast<uint64_t>(asked.sampling.seed);
    const double all_s = secondsSince(begin);
    reply.timing.time_to_first_token_s = reader.firstWordSeconds();
    reply.timing.prefill_s = reader.firstWordSeconds();
    reply.timing.decode_s = all_s - reader.firstWordSeconds();
    context_used_ =
        reply.timing.prefill_tokens + reply.timing.reused_tokens + reply.timing.decode_tokens;
    return reply;
}

Result<void> RemoteEngine::checkMedia(const std::string& /*model*/,
                                      const std::vector<std::string>& images,
                                      const std::vector<std::string>& audios) const {
    for (const std::string& image : images) {
        ENGINE_ASSIGN([[maybe_unused]] const auto info,
                      engine::probeImageFile(engine::pathFromUtf8(image)));
    }
    for (const std::string& audio : audios) {
        ENGINE_ASSIGN([[maybe_unused]] const auto info,
                      engine::probeAudioFile(engine::pathFromUtf8(audio)));
    }
    return {};
}

Result<engine::MediaCost> RemoteEngine::mediaCost(const engine::MessagePart& part,
                                                  int64_t /*image_tokens*/) {
    engine::MediaCost cost;
    std::array<char, 64> text{};
    if (part.kind == engine::MessagePart::Kind::Image) {
        ENGINE_ASSIGN(const engine::ImageInfo info,
                      engine::probeImageFile(engine::pathFromUtf8(part.text)));
        std::snprintf(text.data(), text.size(), ", %lld x %lld",
                      static_cast<long long>(info.displayed.width),
                      static_cast<long long>(info.displayed.height));
        cost.description = std::string(engine::imageFormatName(info.format)) + text.data();
        return cost;
    }
    ENGINE_ASSIGN(const engine::AudioInfo info,
                  engine::probeAudioFile(engine::pathFromUtf8(part.text)));
    std::snprintf(text.data(), text.size(), ", %.1f s", info.seconds);
    cost.description = info.format + text.data();
    return cost;
}

} // namespace remote
