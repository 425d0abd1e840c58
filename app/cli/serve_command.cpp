// SPDX-License-Identifier: Apache-2.0
// serve: the model behind OpenAI's API, until Ctrl-C or an end asked for by the system.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/engines/engine_factory.h"
#include "app/serve/access_token.h"
#include "app/serve/http_server.h"
#include "app/serve/job.h"
#include "app/serve/service.h"
#include "engine/base/paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

namespace cli {

using engine::Result;

namespace {

constexpr std::chrono::milliseconds kLookAtInterrupt{100};

/// The last piece of a path, or a name of the library without its revision.
std::string shortName(const std::string& word) {
    std::error_code code;
    const auto path = engine::pathFromUtf8(word);
    if (!std::filesystem::exists(path, code)) {
        return word.substr(0, word.find('@'));
    }
    const auto whole = std::filesystem::weakly_canonical(path, code);
    return engine::utf8Of((code ? path : whole).filename());
}

/// Stops the service when a signal comes, also in the middle of a reply.
class InterruptWatch {
public:
    explicit InterruptWatch(serve::Service& service)
        : thread_([this, &service] {
              while (!done_.load() && !interruptToken().stop_requested()) {
                  std::this_thread::sleep_for(kLookAtInterrupt);
              }
              if (!done_.load()) {
                  service.shutDown();
              }
          }) {}
    ~InterruptWatch() {
        done_.store(true);
        thread_.join();
    }
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

private:
    std::atomic<bool> done_{false};
    std::thread thread_;
};

/// The engine behind the service. One in a process of its own may end: then there is 503 until what
/// was loaded is back, and where it does not come back by itself it is loaded anew, ever more
/// rarely.
class ServedEngine {
public:
    ServedEngine(const app::EngineFactory& engines,
                 serve::Service& service,
                 const Arguments& arguments)
        : service_(service), arguments_(arguments),
          engine_(
              engines.make({{}, [this](const engine::Recovery& recovery) { hear(recovery); }})) {}

    Result<void> load() {
        ENGINE_TRY(loadModel(engine_.at(arguments_.load.model), arguments_));
        service_.setReady(engine_.state().contextUse().second);
        return {};
    }

    /// The next request, or a moment without one.
    void answerNext() {
        if (!engine_.state().isLoaded()) {
            bringBack();
            return;
        }
        if (const auto job = service_.take(kLookAtInterrupt)) {
            service_.run(engine_.answering(), *job);
        } else if (is_returning_ || Clock::now() - looked_ >= kLookAtEngine) {
            looked_ = Clock::now();
            static_cast<void>(engine_.state().memory()); // notices an end, and follows a way back
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    static void note(const std::string& words) { std::cerr << "note: " << words << "\n"; }

    void hear(const engine::Recovery& recovery) {
        using Kind = engine::Recovery::Kind;
        switch (recovery.kind) {
        case Kind::Ended:
            is_returning_ = true;
            service_.setLoading();
            note(recovery.why.message +
                 "; it is started again and loads the model, and requests get "
                 "503 meanwhile");
            break;
        case Kind::Loading:
            break;
        case Kind::Back:
            is_returning_ = false;
            service_.setReady(engine_.state().contextUse().second);
            note("the model is loaded again");
            break;
        case Kind::Lost:
            is_returning_ = false;
            service_.setLoading();
            pause_ = kFirstPause;
            next_try_ = Clock::now() + pause_;
            note(recovery.why.message);
            break;
        }
    }

    void bringBack() {
        if (Clock::now() < next_try_) {
            std::this_thread::sleep_for(kLookAtInterrupt);
            return;
        }
        if (const auto loaded = load(); loaded.has_value()) {
            note("the model is loaded again");
            return;
        } else if (!interruptToken().stop_requested()) {
            note(loaded.error().message);
        }
        pause_ = std::min<std::chrono::seconds>(2 * pause_, kLastPause);
        next_try_ = Clock::now() + pause_;
        note("it is tried again in " + std::to_string(pause_.count()) + " s");
    }

    static constexpr std::chrono::seconds kLookAtEngine{1}, kFirstPause{10}, kLastPause{600};

    serve::Service& service_;
    const Arguments& arguments_;
    app::EngineSwitch engine_;
    bool is_returning_ = false;
    Clock::time_point looked_, next_try_;
    std::chrono::seconds pause_ = kFirstPause;
};

bool isLoopback(const std::string& host) {
    return host.empty() || host == "::1" || host.starts_with("127.");
}

/// Tells where and with what the server can be asked.
void tell(const Arguments& arguments,
          const std::string& address,
          const std::string& token,
          uint16_t port) {
    if (arguments.is_json) {
        nlohmann::ordered_json models = {arguments.served_name};
        for (const std::string& name : arguments.served_adapters) {
            models.push_back(name);
        }
        printJson({{"url", address},
                   {"port", port},
                   {"token", token},
                   {"token_file", arguments.token_file},
                   {"models", models}});
        std::cout << std::flush;
        return;
    }
    std::cout << "address: " << address << "\n";
    std::cout << (token.empty() ? "token: in " + arguments.token_file : "token: " + token) << "\n";
    std::cout << "model: " << arguments.served_name << "\n";
    for (const std::string& name : arguments.served_adapters) {
        std::cout << "model: " << name << " (adapter)\n";
    }
    std::cout << std::flush;
    if (!isLoopback(arguments.host)) {
        std::cerr << "warning: other computers can reach this port; prompts, pictures and the "
                     "token travel unencrypted. Put a proxy with TLS in front of it, or reach it "
                     "through an SSH tunnel\n";
    }
}

} // namespace

void nameServed(Arguments& arguments) {
    if (arguments.command != "serve") {
        return;
    }
    if (arguments.served_name.empty()) {
        arguments.served_name = shortName(arguments.model);
    }
    for (const engine::AdapterChoice& adapter : arguments.load.adapters) {
        std::string plain = shortName(adapter.folder);
        plain += plain == arguments.served_name ? "-adapter" : "";
        std::string name = plain;
        const auto is_taken = [&] {
            return name == arguments.served_name ||
                   std::find(arguments.served_adapters.begin(), arguments.served_adapters.end(),
                             name) != arguments.served_adapters.end();
        };
        for (int number = 2; is_taken(); ++number) {
            name = plain + "-" + std::to_string(number);
        }
        arguments.served_adapters.push_back(name);
    }
}

Result<void> runServe(const app::EngineFactory& engines, const Arguments& arguments) {
    serve::ServiceOptions options;
    std::string fresh;
    if (arguments.token_file.empty()) {
        fresh = serve::makeToken();
        options.gate.tokens = {fresh};
    } else {
        ENGINE_ASSIGN(options.gate.tokens,
                      serve::tokensOf(engine::pathFromUtf8(arguments.token_file)));
    }
    options.gate.hosts = arguments.allowed_hosts;
    options.gate.origins = arguments.allowed_origins;
    options.model = arguments.served_name;
    for (size_t i = 0; i < arguments.load.adapters.size(); ++i) {
        options.adapters.push_back({arguments.served_adapters[i], arguments.load.adapters[i]});
    }
    options.image_tokens = arguments.load.image_tokens;
    options.most_waiting = static_cast<size_t>(arguments.most_waiting);
    ENGINE_ASSIGN(const std::shared_ptr<serve::MediaFolder> media, serve::MediaFolder::create());
    serve::Service service(std::move(options), media);
    const std::vector<std::string> addresses = arguments.host.empty()
                                                   ? std::vector<std::string>{"127.0.0.1", "::1"}
                                                   : std::vector<std::string>{arguments.host};
    ENGINE_ASSIGN(const std::unique_ptr<serve::HttpServer> server,
                  serve::HttpServer::open(addresses, static_cast<uint16_t>(arguments.port),
                                          serve::ServerLimits(), service));
    const std::string& host = addresses.front();
    const std::string shown = host.find(':') != std::string::npos ? "[" + host + "]" : host;
    tell(arguments, "http://" + shown + ":" + std::to_string(server->port()) + "/v1", fresh,
         server->port());
    ServedEngine engine(engines, service, arguments);
    ENGINE_TRY(engine.load()); // meanwhile: 503
    if (!arguments.is_json) {
        std::cerr << "ready; Ctrl-C ends it\n";
    }
    const InterruptWatch watch(service);
    while (!interruptToken().stop_requested()) {
        engine.answerNext();
    }
    service.shutDown();
    if (!arguments.is_json) {
        std::cerr << "ended after " << service.counts().answered << " requests\n";
    }
    return {};
}

} // namespace cli
