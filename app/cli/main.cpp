// SPDX-License-Identifier: Apache-2.0
// belfry-cli: the engine for scripts, tests and benchmarks. Contains no engine logic.
// Exit codes: 0 done, 1 failed, 2 wrong usage.
#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/model_names.h"
#include "app/cli/output.h"
#include "app/cli/server_engine.h"
#include "app/cli/shell_words.h"
#include "app/cli/word_values.h"
#include "app/common/core_dumps.h"
#include "app/common/environment.h"
#include "app/common/process_start.h"
#include "app/common/program_paths.h"
#include "app/common/program_words.h"
#include "app/common/version.h"
#include "app/engines/process_engines.h"
#include "engine/base/thread_limit.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <string_view>

namespace {

int fail(const engine::Error& error, bool is_json, int code) {
    std::cerr << "error: " << engine::errorCodeName(error.code) << ": " << error.message << "\n";
    if (is_json) {
        cli::printJson(cli::errorJson(error));
    }
    return code;
}

/// "completion" and "manual": nothing of the engine is needed.
engine::Result<void> printShellWords(const cli::Arguments& arguments) {
    cli::Arguments unused;
    const cli::Grammar grammar(unused);
    const std::string text = arguments.command == "manual"
                                 ? cli::manualPage(grammar, arguments.topic)
                                 : cli::completionScript(grammar, arguments.topic);
    if (text.empty()) {
        return cli::wrongUsage(arguments.command + " " + arguments.topic + ": there is none");
    }
    const cli::Verbatim verbatim;
    std::cout << text;
    return {};
}

/// Whether the driver is asked while the model's files are still being read.
bool needsCards(const cli::Arguments& arguments) {
    const bool plans_all =
        arguments.command == "models" && !arguments.is_unplanned && arguments.deleted.empty();
    const bool computes = plans_all || arguments.command == "plan" || arguments.command == "chat" ||
                          arguments.command == "logits" || arguments.command == "bench" ||
                          arguments.command == "serve" || arguments.command == "compare";
    return computes && arguments.server.empty() && arguments.load.sim_gpus.empty() &&
           arguments.load.device_map != "cpu";
}

/// One per program: who asks for cards waits for it.
std::shared_ptr<engine::CardInquiry> cardInquiry() {
    engine::CardInquiryOptions options;
    options.words = {app::ownProgram(), std::string(engine::kTellCards)};
    options.limit = app::cardLimit();
    options.library_path = app::libraryPath();
    return std::make_shared<engine::CardInquiry>(std::move(options));
}

/// serve stays when its engine ends: that has a process of its own, which decodes what requests
/// bring. Not with options that a process is not told.
app::EngineFactory enginesOf(const engine::EngineOptions& options,
                             const cli::Arguments& arguments) {
    const bool has_process = (app::kIsProcessUsual || arguments.wants_process) &&
                             !arguments.is_in_process && arguments.cpu_kernels.empty();
    return has_process ? app::processEngines(options, {}) : app::EngineFactory(options);
}

int run(const std::vector<std::string>& words) {
    const bool is_json = std::find(words.begin(), words.end(), "--json") != words.end();
    auto arguments = cli::parseArguments(words);
    if (!arguments.has_value()) {
        return fail(arguments.error(), is_json, 2);
    }
    if (arguments->is_help) {
        std::cout << cli::usage(arguments->command);
        return 0;
    }
    if (arguments->is_version) {
        std::cout << app::versionLine() << "\n";
        return 0;
    }
    if (arguments->command == "completion" || arguments->command == "manual") {
        const auto printed = printShellWords(*arguments);
        return printed.has_value() ? 0 : fail(printed.error(), is_json, 2);
    }
    if (arguments->command == "doctor") {
        const auto told = cli::runDoctor(cardInquiry(), *arguments);
        return told.has_value() ? 0 : fail(told.error(), is_json, 1);
    }
    // Some ask what any engine answers (EngineClient), the others what this one alone does.
    using Command = std::function<engine::Result<void>(engine::Engine&, const cli::Arguments&)>;
    static const std::map<std::string, Command> kCommands = {
        {"inspect", cli::runInspect}, {"plan", cli::runPlan},         {"chat", cli::runChat},
        {"logits", cli::runLogits},   {"tokenize", cli::runTokenize}, {"merge", cli::runMerge},
        {"bench", cli::runBench},     {"get", cli::runGet},           {"compare", cli::runCompare}};
    engine::EngineOptions options;
    options.cpu_kernels = arguments->cpu_kernels;
    options.demo_folder = app::demoModelFolder();
    options.rates_file = app::ratesFile();
    options.hub_caches = app::hubCaches();
    options.inquiry = cardInquiry();
    if (needsCards(*arguments)) {
        options.inquiry->begin();
    }
    cli::armInterrupt();
    if (!arguments->server.empty()) {
        const auto chatted = cli::runServerChat(*arguments);
        return chatted.has_value() ? 0 : fail(chatted.error(), is_json, 1);
    }
    if (arguments->command == "models") {
        const auto told = cli::runModels(options, *arguments);
        return told.has_value() ? 0 : fail(told.error(), is_json, 1);
    }
    cli::nameServed(*arguments);
    const auto named = cli::resolveNames(*arguments);
    if (!named.has_value()) {
        return fail(named.error(), is_json, 1);
    }
    if (arguments->command == "serve") {
        const auto served = cli::runServe(enginesOf(options, *arguments), *arguments);
        return served.has_value() ? 0 : fail(served.error(), is_json, 1);
    }
    engine::Engine engine(options);
    const auto outcome = kCommands.at(arguments->command)(engine, *arguments);
    if (!outcome.has_value()) {
        return fail(outcome.error(), is_json, 1);
    }
    if (cli::interruptToken().stop_requested() && !cli::isOutputLost()) {
        // What is printed is cut: no script may take it for the whole.
        std::cerr << "error: Cancelled: ended by a signal before it was done\n";
        return 1;
    }
    return 0;
}

bool isJson(int argc, char** argv) {
    return std::any_of(argv, argv + argc,
                       [](const char* word) { return std::string_view(word) == "--json"; });
}

} // namespace

int main(int argc, char** argv) {
    app::prepareProcess();
    if (argc > 1 && argv[1] == app::kRunEngine) {
        return app::runEngineProcess(); // keeps out of core dumps when it has its limits
    }
    app::keepOutOfCoreDumps();
    if (argc > 1 && argv[1] == engine::kTellCards) {
        return engine::tellCards(app::libraryPath());
    }
    cli::openConsole();
    int code = 1;
    try {
        code = run(app::programWords(argc, argv));
    } catch (const std::bad_alloc&) {
        std::cerr << "error: OutOfMemory: the system has no memory left for this; close other "
                     "programs or choose "
                     "smaller options\n";
    } catch (const std::filesystem::filesystem_error& problem) {
        code =
            fail({engine::ErrorCode::InvalidFile,
                  std::string(problem.what()) + "; name a folder that is there and can be written"},
                 isJson(argc, argv), 1);
    } catch (const std::exception& problem) {
        const engine::Error unexpected{engine::ErrorCode::Internal,
                                       std::string(problem.what()) +
                                           "; please report this with the command that you gave"};
        code = fail(engine::threadShortage(problem).value_or(unexpected), isJson(argc, argv), 1);
    }
    return cli::closeConsole(code);
}
