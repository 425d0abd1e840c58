// SPDX-License-Identifier: Apache-2.0
// belfry: the window. An optional argument is a model folder to choose at start.
#include "app/program.h"

int main(int argc, char** argv) {
    return app::runProgram(argc, argv);
}
