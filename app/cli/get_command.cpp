// SPDX-License-Identifier: Apache-2.0
// get: a model from the hub, as a plan first and then as files. With chat --server the only command
// that uses the network.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/fetch_report.h"
#include "app/cli/output.h"
#include "app/cli/temporary_folder.h"
#include "app/common/environment.h"
#include "app/common/version.h"
#include "app/network/network_switch.h"
#include "engine/base/paths.h"

#include "models/hub/download.h"
#include "models/hub/modelscope.h"
#include "models/hub/preview.h"
#include "models/hub/token.h"
#include "models/preview_plan.h"
#ifdef BELFRY_HAS_NETWORK
#include "app/network/network_part.h"
#endif

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <thread>

namespace cli {

using engine::Error;
using engine::Result;
using nlohmann::ordered_json;
namespace hub = models::hub;

namespace {

/// Stopped soon after interruptToken() is, which may have no callbacks.
class InterruptSource {
public:
    InterruptSource()
        : watch_([this](const std::stop_token& ended) {
              while (hub::waitFor(std::chrono::milliseconds(50), ended)) {
                  if (interruptToken().stop_requested()) {
                      source_.request_stop();
                      return;
                  }
              }
          }) {}
    [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

private:
    std::stop_source source_;
    std::jthread watch_;
};

bool isModelScope(const Arguments& arguments) {
    return arguments.source == "modelscope" ||
           (arguments.source.empty() && hub::isModelScopeAddress(arguments.address));
}

Result<hub::FetchOptions> fetchOptions(const Arguments& arguments,
                                       const hub::Environment& environment) {
    hub::FetchOptions options;
    options.hub.user_agent = "belfry/" + app::version();
    if (isModelScope(arguments)) {
        options.hub.source = hub::Source::ModelScope;
        options.hub.endpoint = hub::modelScopeEndpoint(environment);
        return options; // the hub's token is the hub's
    }
    options.hub.endpoint = hub::endpoint(environment);
    ENGINE_ASSIGN(options.hub.token, hub::findToken(environment));
    return options;
}

Result<hub::FetchRequest> fetchRequest(const Arguments& arguments,
                                       const hub::Environment& environment) {
    hub::FetchRequest request;
    ENGINE_ASSIGN(request.address,
                  isModelScope(arguments)
                      ? hub::parseModelScopeAddress(arguments.address)
                      : hub::parseAddress(arguments.address, hub::endpoint(environment)));
    request.target.cache = hub::cacheFolder(environment);
    request.target.folder = engine::pathFromUtf8(arguments.to);
    request.target.has_links = !hub::isSwitchedOn(environment.hf_hub_disable_symlinks);
    request.takes_all = arguments.takes_all;
    request.source = isModelScope(arguments) ? hub::Source::ModelScope : hub::Source::Hub;
    if (request.target.cache.empty() && request.target.folder.empty()) {
        return Error{engine::ErrorCode::InvalidRequest,
                     "there is no folder for the hub's cache, because neither HOME nor HF_HOME is "
                     "set; set one, or name a folder with --to"};
    }
    return request;
}

/// What the planner makes of the model on this computer, from headers alone.
Result<ModelPreview> previewModel(const hub::FetchPlan& plan,
                                  hub::HubClient& client,
                                  engine::Engine& engine,
                                  const std::stop_token& stop) {
    ENGINE_ASSIGN(const auto folder, TemporaryFolder::make("preview"));
    ModelPreview preview;
    ENGINE_ASSIGN(preview.bytes_by_dtype, hub::writePreview(plan, client, folder->path(), stop));
    ENGINE_ASSIGN(models::PreviewedModel model, models::readPreview(engine, plan, folder->path()));
    ENGINE_ASSIGN(preview.plan, engine.plan(model.request));
    preview.summary = std::move(model.summary);
    return preview;
}

bool isModel(const hub::FetchPlan& plan) {
    return plan.gguf.has_value() ||
           std::any_of(plan.files.begin(), plan.files.end(), [](const hub::PlannedFile& planned) {
               return planned.file.name == "config.json";
           });
}

void tellPlan(const hub::FetchPlan& plan,
              const std::optional<Result<ModelPreview>>& preview,
              const Arguments& arguments) {
    if (arguments.is_json) {
        printJson(fetchPlanJson(plan, preview));
    } else {
        std::cout << fetchPlanText(plan, preview);
    }
}

/// A token that was typed in the window, where the system keeps it.
using StoredToken = std::function<Result<std::string>()>;

/// Whether the hub wants a token, none was given, and one is stored: `options` has it now. So no
/// keyring is opened for models that are everybody's.
bool takesStoredToken(const Error& error,
                      hub::FetchOptions& options,
                      const StoredToken& stored_token) {
    if (options.hub.source != hub::Source::Hub || !options.hub.token.empty() ||
        !hub::asksForToken(error)) {
        return false;
    }
    const auto token = stored_token();
    if (!token.has_value() || token->empty()) {
        return false;
    }
    options.hub.token = *token;
    return true;
}

Result<hub::FetchPlan> planned(const hub::FetchRequest& request,
                               hub::FetchOptions& options,
                               const StoredToken& stored_token,
                               const std::stop_token& stop) {
    const auto http = options.make_http();
    ENGINE_ASSIGN(hub::HubClient client, hub::HubClient::create(options.hub, *http));
    auto plan = hub::planFetch(request, client, stop);
    if (plan.has_value() || !takesStoredToken(plan.error(), options, stored_token)) {
        return plan;
    }
    ENGINE_ASSIGN(client, hub::HubClient::create(options.hub, *http));
    return hub::planFetch(request, client, stop);
}

Result<void> get(const hub::HttpClientFactory& make_http,
                 const StoredToken& stored_token,
                 engine::Engine& engine,
                 const Arguments& arguments) {
    const hub::Environment environment = app::hubEnvironment();
    ENGINE_ASSIGN(hub::FetchOptions options, fetchOptions(arguments, environment));
    ENGINE_ASSIGN(const hub::FetchRequest request, fetchRequest(arguments, environment));
    options.make_http = make_http;
    options.connections = static_cast<int>(arguments.connections);
    const InterruptSource interrupt;
    ENGINE_ASSIGN(const hub::FetchPlan plan,
                  planned(request, options, stored_token, interrupt.token()));
    // A pair of files that does not fit together is told before anything large is fetched.
    const bool checks = plan.gguf.has_value() && plan.missingBytes() > 0;
    std::optional<Result<ModelPreview>> preview;
    if (arguments.is_dry_run || checks) {
        if (isModel(plan)) {
            const auto http = make_http();
            ENGINE_ASSIGN(hub::HubClient client, hub::HubClient::create(options.hub, *http));
            preview = previewModel(plan, client, engine, interrupt.token());
            if (!preview->has_value() &&
                takesStoredToken(preview->error(), options, stored_token)) {
                ENGINE_ASSIGN(client, hub::HubClient::create(options.hub, *http));
                preview = previewModel(plan, client, engine, interrupt.token());
            }
        }
    }
    if (arguments.is_dry_run) {
        tellPlan(plan, preview, arguments);
        return {};
    }
    if (checks && !preview->has_value()) {
        return preview->error();
    }
    const bool shows = !arguments.is_json && isErrorTerminal();
    FetchLine line;
    if (shows) {
        options.on_progress = [&](const hub::FetchProgress& progress) {
            showProgress(line.text(progress));
        };
    }
    if (!arguments.is_json) {
        std::cerr << fetchHeadline(plan, preview);
    }
    uint64_t fetched = 0;
    options.on_progress = [&, show = options.on_progress](const hub::FetchProgress& progress) {
        fetched = progress.fetched_bytes;
        show(progress);
    };
    const auto begin = std::chrono::steady_clock::now();
    auto outcome = hub::fetch(plan, options, interrupt.token());
    if (!outcome.has_value() && takesStoredToken(outcome.error(), options, stored_token)) {
        outcome = hub::fetch(plan, options, interrupt.token()); // a list may be everybody's
    }
    if (shows) {
        showProgress("");
    }
    ENGINE_TRY(outcome);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (arguments.is_json) {
        printJson(fetchedJson(plan, fetched, seconds.count()));
    } else {
        std::cout << engine::utf8Of(plan.modelPath()) << "\n";
    }
    return {};
}

} // namespace

Result<void> runGet(engine::Engine& engine, const Arguments& arguments) {
#ifdef BELFRY_HAS_NETWORK
    ENGINE_ASSIGN(app::NetworkPart* const network, app::networkPart());
    return get(
        network->http(app::networkBanName), [network] { return network->tokens()->read(); }, engine,
        arguments);
#else
    (void)engine;
    (void)&get;
    return Error{engine::ErrorCode::Unsupported,
                 "this build of belfry-cli has no network part, so it cannot fetch " +
                     arguments.address +
                     "; fetch it with Python's \"hf download\", or take a build with Qt 6 Network"};
#endif
}

} // namespace cli
