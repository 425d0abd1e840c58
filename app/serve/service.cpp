// SPDX-License-Identifier: Apache-2.0
#include "app/serve/service.h"

#include "app/serve/job.h"
#include "app/serve/media_data.h"
#include "app/serve/routes.h"
#include "app/serve/stop_strings.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

namespace serve {

using engine::Error;
using engine::MessagePart;
using engine::Result;

namespace {

/// As every prompt of these models begins.
constexpr std::string_view kBegin = "<bos>";

ApiError unavailable(std::string message, const char* code) {
    ApiError refusal;
    refusal.status = 503;
    refusal.type = "unavailable_error";
    refusal.code = code;
    refusal.message = std::move(message);
    return refusal;
}

ApiError noMemory() {
    ApiError refusal;
    refusal.status = 500;
    refusal.type = "server_error";
    refusal.message = "the system has no memory left for this request; send smaller pictures and "
                      "recordings, or close other programs";
    return refusal;
}

void replaceAll(std::string& text, const std::string& what, const std::string& by) {
    if (what.empty()) {
        return;
    }
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
        text.replace(at, what.size(), by);
        at += by.size();
    }
}

/// Puts files in the place of the labels. Errors: those of MediaFolder::save.
Result<void> saveMedia(Job& job, const std::shared_ptr<MediaFolder>& folder) {
    for (Medium& medium : job.request.media) {
        ENGINE_ASSIGN(MediaFolder::File file, MediaFolder::save(folder, medium.bytes));
        for (engine::Message& message : job.request.generate.messages) {
            for (MessagePart& part : message.parts) {
                if (part.kind != MessagePart::Kind::Text && part.text == medium.label) {
                    part.text = engine::utf8Of(*file);
                }
            }
        }
        job.files.push_back(std::move(file));
        medium.bytes = std::string();
    }
    return {};
}

bool isSameChoice(const std::vector<engine::AdapterChoice>& a,
                  const std::vector<engine::AdapterChoice>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& two) {
        return one.folder == two.folder && one.strength == two.strength &&
               one.is_enabled == two.is_enabled;
    });
}

} // namespace

Service::Service(ServiceOptions options, std::shared_ptr<MediaFolder> media)
    : options_(std::move(options)), media_(std::move(media)),
      created_(std::chrono::duration_cast<std::chrono::seconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count()),
      gate_(options_.gate), queue_(options_.most_waiting) {
    cards_.push_back({options_.model, ""});
    if (options_.switches_adapters) {
        for (const ServiceOptions::Adapter& adapter : options_.adapters) {
            cards_.push_back({adapter.name, options_.model});
        }
    }
}

Service::~Service() = default;

std::variant<HttpAnswer, Admission> Service::onHead(const HttpHead& head) {
    return gate_.check(head, Gate::Clock::now());
}

std::optional<ApiError> Service::nameError(const std::string& model) const {
    const bool is_known = std::any_of(cards_.begin(), cards_.end(),
                                      [&](const ModelCard& card) { return card.id == model; });
    if (is_known) {
        return std::nullopt;
    }
    std::string names;
    for (const ModelCard& card : cards_) {
        names += (names.empty() ? "" : ", ") + card.id;
    }
    ApiError refusal;
    refusal.status = 404;
    refusal.type = "not_found_error";
    refusal.code = "model_not_found";
    refusal.param = "model";
    refusal.message = "there is no model of this name here; expected one of " + names;
    return refusal;
}

std::optional<ApiError> Service::busyError(bool is_full) const {
    if (is_down_) {
        return unavailable("the server is being ended", "shutting_down");
    }
    if (!is_ready_) {
        return unavailable("the model is being loaded; ask again soon", "loading");
    }
    if (is_full) {
        ApiError refusal;
        refusal.status = 429;
        refusal.type = "rate_limit_error";
        refusal.code = "queue_full";
        refusal.message = std::to_string(options_.most_waiting) +
                          " requests wait already, and one is answered at a time; ask again later";
        return refusal;
    }
    return std::nullopt;
}

void Service::answerModel(std::string_view path, Exchange& exchange) const {
    const std::string id = unescaped(path.substr(kModelsPath.size() + 1));
    for (const ModelCard& card : cards_) {
        if (card.id == id) {
            HttpAnswer answer;
            answer.body = modelJson(card, context_, created_);
            exchange.answer(std::move(answer));
            return;
        }
    }
    exchange.answer(errorAnswer(*nameError("")));
}

void Service::onRequest(HttpRequest request, std::shared_ptr<Exchange> exchange) {
    const Route route = routeOf(request.head.path());
    if (route == Route::Root) {
        HttpAnswer answer;
        answer.content_type = "text/plain; charset=utf-8";
        answer.body = "Belfry answers OpenAI's clients at /v1; they need its token.\n";
        exchange->answer(std::move(answer));
        return;
    }
    if (route == Route::Chat || route == Route::Completions) {
        ApiRequest read;
        try {
            auto wrong = route == Route::Chat ? readChatRequest(request.body, read)
                                              : readCompletionRequest(request.body, read);
            wrong = wrong.has_value() ? wrong : nameError(read.model);
            if (wrong.has_value()) {
                exchange->answer(errorAnswer(*wrong));
                return;
            }
            request.body = std::string(); // its media are held once
            read.generate.image_tokens = options_.image_tokens;
            if (route == Route::Completions) {
                if (!read.generate.raw_prompt.starts_with(kBegin)) {
                    read.generate.raw_prompt.insert(0, kBegin);
                }
            }
            admit(std::make_shared<Job>(std::move(read), request.admission.token, exchange));
        } catch (const std::bad_alloc&) {
            exchange->answer(errorAnswer(noMemory()));
        }
        return;
    }
    const std::lock_guard lock(mutex_);
    if (route == Route::Health) {
        HttpAnswer answer;
        answer.body = R"({"status":"ok"})";
        const auto busy = busyError(false);
        exchange->answer(busy.has_value() ? errorAnswer(*busy) : std::move(answer));
    } else if (route == Route::Models) {
        HttpAnswer answer;
        answer.body = modelsJson(cards_, context_, created_);
        exchange->answer(std::move(answer));
    } else {
        answerModel(request.head.path(), *exchange);
    }
}

void Service::admit(const std::shared_ptr<Job>& job) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto busy = busyError(queue_.size() >= options_.most_waiting)) {
            job->fail(*busy);
            return;
        }
    }
    // Only this thread adds to the queue: it has not become full meanwhile.
    if (const Result<void> saved = saveMedia(*job, media_); !saved.has_value()) {
        ApiError refusal = noMemory();
        refusal.message = saved.error().message;
        job->fail(refusal);
        return;
    }
    Job::watch(job);
    {
        const std::lock_guard lock(mutex_);
        static_cast<void>(queue_.push(job->token, job));
    }
    has_waiting_.notify_one();
    if (on_waiting_) {
        on_waiting_();
    }
}

void Service::onTick() {
    const auto now = Job::Clock::now();
    const std::lock_guard lock(mutex_);
    queue_.removeIf([](const std::shared_ptr<Job>& job) { return job->isGone(); });
    queue_.forEach(
        [&](const std::shared_ptr<Job>& job) { job->keepAlive(now, options_.comment_interval); });
    if (running_ != nullptr) {
        running_->keepAlive(now, options_.comment_interval);
    }
}

void Service::setReady(int64_t context) {
    const std::lock_guard lock(mutex_);
    context_ = context;
    is_ready_ = true;
}

void Service::setLoading() {
    const std::lock_guard lock(mutex_);
    is_ready_ = false;
}

void Service::setOnWaiting(std::function<void()> on_waiting) {
    on_waiting_ = std::move(on_waiting);
}

void Service::shutDown() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_down_, true)) {
        return;
    }
    while (const auto job = queue_.pop()) {
        (*job)->fail(*busyError(false));
    }
    if (running_ != nullptr) {
        running_->stop.request_stop();
    }
    has_waiting_.notify_all();
}

std::shared_ptr<Job> Service::take(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const auto due = std::chrono::steady_clock::now() + patience;
    while (!is_down_) {
        while (auto job = queue_.pop()) {
            if (!(*job)->isGone()) {
                running_ = *std::move(job);
                return running_;
            }
        }
        if (has_waiting_.wait_until(lock, due) == std::cv_status::timeout) {
            break;
        }
    }
    return nullptr;
}

Result<void> Service::chooseAdapters(engine::EngineClient& engine, const Job& job) const {
    if (!options_.switches_adapters || options_.adapters.empty()) {
        return {};
    }
    std::vector<engine::AdapterChoice> wanted;
    for (const ServiceOptions::Adapter& adapter : options_.adapters) {
        wanted.push_back(adapter.choice);
        wanted.back().is_enabled = adapter.name == job.request.model;
    }
    if (isSameChoice(engine.loadedRequest().adapters, wanted)) {
        return {};
    }
    return engine.setAdapters(wanted, job.stop.get_token());
}

/// What is reused of a prompt is told, and is faster: with several tokens one could find out what
/// another has asked, piece by piece. So what the engine holds of another's words gives way, to a
/// prompt of one token.
Result<void> Service::forgetOthers(engine::EngineClient& engine, const Job& job) {
    if (options_.gate.tokens.size() < 2 || last_token_ == job.token) {
        return {};
    }
    engine::GenerateRequest shortest;
    shortest.raw_prompt = kBegin;
    ENGINE_ASSIGN([[maybe_unused]] const auto unused,
                  engine.logits(shortest, 1, job.stop.get_token()));
    last_token_ = job.token; // not where that failed: the words of another may be there still
    return {};
}

ApiError
Service::worded(const Error& error, const engine::EngineClient& engine, const Job& job) const {
    ApiError out = engineError(error);
    for (size_t i = 0; i < job.files.size(); ++i) {
        const std::string path = engine::utf8Of(*job.files[i]);
        if (out.message.find(path) != std::string::npos) {
            out.param = job.request.media[i].label;
            replaceAll(out.message, path, out.param);
        }
    }
    for (const ServiceOptions::Adapter& adapter : options_.adapters) {
        replaceAll(out.message, adapter.choice.folder, adapter.name);
    }
    const std::string& model = engine.loadedRequest().model;
    if (model.find_first_of("/\\") != std::string::npos) {
        replaceAll(out.message, model, options_.model);
    }
    return out;
}

void Service::run(engine::EngineClient& engine, Job& job) {
    StopStrings stops(job.request.stops);
    const auto update = [&](const engine::ReplyUpdate& value) {
        if (stops.isStopped()) {
            return;
        }
        job.send({stops.push(value.text), value.thinking, value.logprobs, {}});
        if (stops.isStopped()) {
            job.stop.request_stop();
        }
    };
    try {
        Result<void> chosen = chooseAdapters(engine, job);
        chosen = chosen.has_value() ? forgetOthers(engine, job) : std::move(chosen);
        const Result<engine::Reply> reply =
            chosen.has_value() ? engine.generate(job.request.generate, update, job.stop.get_token())
                               : Result<engine::Reply>(chosen.error());
        const bool is_cut = reply.has_value() && reply->finish_reason == "cancelled";
        if (!reply.has_value() && reply.error().code != engine::ErrorCode::Cancelled) {
            job.fail(worded(reply.error(), engine, job));
        } else if (!reply.has_value() || (is_cut && !stops.isStopped())) {
            job.fail(
                unavailable("the reply was stopped: the server is being ended", "shutting_down"));
        } else {
            std::vector<engine::ToolCall> calls = reply->tool_calls;
            if (stops.isStopped()) {
                calls.clear(); // they stand behind the end that was asked for
            } else if (job.request.is_one_call && calls.size() > 1) {
                calls.resize(1);
            }
            const bool is_waiting = !calls.empty() && reply->finish_reason == "tool_calls";
            job.send({stops.flush(), {}, {}, {}});
            job.send({{}, {}, {}, std::move(calls)});
            const Usage usage{static_cast<int64_t>(reply->input_ids.size()),
                              static_cast<int64_t>(reply->token_ids.size()),
                              reply->timing.reused_tokens};
            const bool is_full =
                reply->finish_reason == "length" || reply->finish_reason == "context";
            job.finish(is_full && !stops.isStopped() ? "length"
                       : is_waiting                  ? "tool_calls"
                                                     : "stop",
                       usage);
        }
    } catch (const std::bad_alloc&) {
        job.fail(noMemory());
    }
    const std::lock_guard lock(mutex_);
    running_ = nullptr;
    ++answered_;
}

ServiceCounts Service::counts() const {
    const std::lock_guard lock(mutex_);
    return {answered_, queue_.size(), running_ != nullptr};
}

} // namespace serve
