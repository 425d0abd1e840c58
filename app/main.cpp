// SPDX-License-Identifier: Apache-2.0
// belfry: the window. An optional argument is a model folder to choose at start.
#include "app/core_dumps.h"
#include "app/environment.h"
#include "app/process_start.h"
#include "app/program.h"
#include "app/start_words.h"
#include "app/terminal_text.h"
#include "engine/run/engine.h"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    app::prepareProcess();
    app::keepOutOfCoreDumps();
    if (argc > 1 && argv[1] == engine::kTellCards) {
        return engine::tellCards(app::libraryPath());
    }
    try {
        if (const auto code = app::answerStartWords(argc, argv)) {
            return *code;
        }
        return app::runProgram(argc, argv);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "belfry: %s\n", app::terminalText(problem.what()).c_str());
        return 1;
    }
}
