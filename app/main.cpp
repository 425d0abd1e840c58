// SPDX-License-Identifier: Apache-2.0
// belfry: the window. An optional argument is a model folder to choose at start.
#include "app/program.h"
#include "app/start_words.h"

int main(int argc, char** argv) {
    if (const auto code = app::answerStartWords(argc, argv)) {
        return *code;
    }
    return app::runProgram(argc, argv);
}
