// SPDX-License-Identifier: Apache-2.0
// serve: the model behind OpenAI's API, until Ctrl-C or an end asked for by the system.
#include "app/cli/commands.h"
#include "app/cli/console.h"
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

Result<void> runServe(engine::EngineClient& engine, const Arguments& arguments) {
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
    ENGINE_TRY(loadModel(engine, arguments)); // meanwhile: 503
    service.setReady(engine.contextUse().second);
    if (!arguments.is_json) {
        std::cerr << "ready; Ctrl-C ends it\n";
    }
    const InterruptWatch watch(service);
    while (!interruptToken().stop_requested()) {
        if (const auto job = service.take(kLookAtInterrupt)) {
            service.run(engine, *job);
        }
    }
    service.shutDown();
    if (!arguments.is_json) {
        std::cerr << "ended after " << service.counts().answered << " requests\n";
    }
    return {};
}

} // namespace cli
