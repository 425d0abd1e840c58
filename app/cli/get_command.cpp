// SPDX-License-Identifier: Apache-2.0
// get: a model from the hub, as a plan first and then as files. The one command that uses the
// network.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/fetch_report.h"
#include "app/cli/output.h"
#include "app/environment.h"
#include "app/version.h"
#include "engine/base/paths.h"

#include "library/hub/download.h"
#include "library/hub/preview.h"
#include "library/hub/token.h"
#ifdef BELFRY_HAS_NETWORK
#include "app/qt_http.h"
#endif

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

namespace cli {

using engine::Error;
using engine::Result;
using nlohmann::ordered_json;
namespace hub = library::hub;

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

Result<hub::FetchOptions> fetchOptions(const hub::Environment& environment) {
    hub::FetchOptions options;
    options.hub.endpoint = hub::endpoint(environment);
    options.hub.user_agent = "belfry/" + app::version();
    options.hub.is_offline = hub::isSwitchedOn(environment.hf_hub_offline);
    ENGINE_ASSIGN(options.hub.token, hub::findToken(environment));
    return options;
}

Result<hub::FetchRequest> fetchRequest(const Arguments& arguments,
                                       const hub::Environment& environment) {
    hub::FetchRequest request;
    ENGINE_ASSIGN(request.address,
                  hub::parseAddress(arguments.address, hub::endpoint(environment)));
    request.target.cache = hub::cacheFolder(environment);
    request.target.folder = engine::pathFromUtf8(arguments.to);
    request.target.has_links = !hub::isSwitchedOn(environment.hf_hub_disable_symlinks);
    request.takes_all = arguments.takes_all;
    if (request.target.cache.empty() && request.target.folder.empty()) {
        return Error{engine::ErrorCode::InvalidRequest,
                     "there is no folder for the hub's cache, because neither HOME nor HF_HOME is "
                     "set; set one, or name a folder with --to"};
    }
    return request;
}

/// A folder of this run's own, removed at its end.
class PreviewFolder {
public:
    static Result<std::unique_ptr<PreviewFolder>> make() {
        std::random_device random;
        std::error_code failure;
        auto folder = std::unique_ptr<PreviewFolder>(new PreviewFolder);
        folder->path_ = std::filesystem::temp_directory_path(failure) /
                        ("belfry-preview-" + std::to_string(random()));
        if (failure || !std::filesystem::create_directory(folder->path_, failure)) {
            return Error{engine::ErrorCode::InvalidFile,
                         engine::utf8Of(folder->path_) +
                             " cannot be made; set TMPDIR to a folder that can be written"};
        }
        return folder;
    }
    ~PreviewFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    PreviewFolder(const PreviewFolder&) = delete;
    PreviewFolder& operator=(const PreviewFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    PreviewFolder() = default;
    std::filesystem::path path_;
};

/// What the planner makes of the model on this computer, from headers alone.
Result<ModelPreview> previewModel(const hub::FetchPlan& plan,
                                  hub::HubClient& client,
                                  engine::EngineClient& engine,
                                  const std::stop_token& stop) {
    ENGINE_ASSIGN(const auto folder, PreviewFolder::make());
    ModelPreview preview;
    ENGINE_ASSIGN(preview.bytes_by_dtype, hub::writePreview(plan, client, folder->path(), stop));
    const std::string model = engine::utf8Of(folder->path());
    ENGINE_ASSIGN(preview.summary, engine.inspect(model, {}));
    engine::LoadRequest request;
    request.model = model;
    request.device_map.clear(); // what fits this computer, as `plan` without a map
    ENGINE_ASSIGN(preview.plan, engine.plan(request));
    return preview;
}

bool isModel(const hub::FetchPlan& plan) {
    return std::any_of(plan.files.begin(), plan.files.end(), [](const hub::PlannedFile& planned) {
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

Result<void> get(const hub::HttpClientFactory& make_http,
                 engine::EngineClient& engine,
                 const Arguments& arguments) {
    const hub::Environment environment = app::hubEnvironment();
    ENGINE_ASSIGN(hub::FetchOptions options, fetchOptions(environment));
    ENGINE_ASSIGN(const hub::FetchRequest request, fetchRequest(arguments, environment));
    options.make_http = make_http;
    options.connections = static_cast<int>(arguments.connections);
    const InterruptSource interrupt;
    const auto http = make_http();
    ENGINE_ASSIGN(hub::HubClient client, hub::HubClient::create(options.hub, *http));
    ENGINE_ASSIGN(const hub::FetchPlan plan, hub::planFetch(request, client, interrupt.token()));
    if (arguments.is_dry_run) {
        std::optional<Result<ModelPreview>> preview;
        if (isModel(plan)) {
            preview = previewModel(plan, client, engine, interrupt.token());
        }
        tellPlan(plan, preview, arguments);
        return {};
    }
    const bool shows = !arguments.is_json && isErrorTerminal();
    FetchLine line;
    if (shows) {
        options.on_progress = [&](const hub::FetchProgress& progress) {
            showProgress(line.text(progress));
        };
    }
    if (!arguments.is_json) {
        std::cerr << fetchHeadline(plan);
    }
    uint64_t fetched = 0;
    options.on_progress = [&, show = options.on_progress](const hub::FetchProgress& progress) {
        fetched = progress.fetched_bytes;
        show(progress);
    };
    const auto begin = std::chrono::steady_clock::now();
    const auto outcome = hub::fetch(plan, options, interrupt.token());
    if (shows) {
        showProgress("");
    }
    ENGINE_TRY(outcome);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (arguments.is_json) {
        printJson(fetchedJson(plan, fetched, seconds.count()));
    } else {
        std::cout << engine::utf8Of(plan.model_folder) << "\n";
    }
    return {};
}

} // namespace

Result<void> runGet(engine::EngineClient& engine, const Arguments& arguments) {
#ifdef BELFRY_HAS_NETWORK
    const app::NetworkUse network;
    return get(app::qtHttp(), engine, arguments);
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
