// SPDX-License-Identifier: Apache-2.0
// belfry: the window. An optional argument is a model folder to choose at start.
#include "app/common/core_dumps.h"
#include "app/common/environment.h"
#include "app/common/process_start.h"
#include "app/common/terminal_text.h"
#include "app/engines/process_engines.h"
#include "app/program.h"
#include "app/start/start_words.h"
#include "engine/base/thread_limit.h"
#include "engine/run/engine.h"

#include <cstdio>
#include <exception>
#include <string>

int main(int argc, char** argv) {
    app::prepareProcess();
    try {
        if (argc > 1 && argv[1] == app::kRunEngine) {
            return app::runEngineProcess(); // keeps out of core dumps when it has its limits
        }
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "belfry: the engine's process: %s\n",
                     app::terminalText(problem.what()).c_str());
        return 1;
    }
    app::keepOutOfCoreDumps();
    if (argc > 1 && argv[1] == engine::kTellCards) {
        return engine::tellCards(app::libraryPath());
    }
    try {
        if (const auto code = app::answerStartWords(argc, argv)) {
            return *code;
        }
        app::prepareWindow();
        return app::runProgram(argc, argv);
    } catch (const std::exception& problem) {
        const auto shortage = engine::threadShortage(problem);
        const std::string why = shortage.has_value() ? shortage->message : problem.what();
        std::fprintf(stderr, "belfry: %s\n", app::terminalText(why).c_str());
        return 1;
    }
}
