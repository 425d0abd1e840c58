// SPDX-License-Identifier: Apache-2.0
#include "app/start/start_words.h"

#include "app/common/version.h"

#include <QGuiApplication>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace app {

namespace {

/// The exit code: 1 where the line is lost (a full disk, a reader that went away).
int tell(const char* line) {
    if (std::puts(line) >= 0 && std::fflush(stdout) == 0) {
        return 0;
    }
    std::fprintf(stderr, "belfry: standard output could not be written: %s\n",
                 std::strerror(errno));
    return 1;
}

} // namespace

std::optional<int> answerStartWords(int argc, char** argv) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    if (word == "--help" || word == "-h") {
        return tell(
            "belfry [--in-process | --engine-process] [MODEL_FOLDER]   the window; for the "
            "terminal: belfry-cli --help\nWhere there is a graphics card the engine is in a "
            "process of its own, which may end without the window (on Windows with "
            "--engine-process alone); --in-process: on a thread of the window");
    }
    if (word == "--version") {
        return tell(versionLine().c_str());
    }
    if (word == "--probe-display") {
        const QGuiApplication application(argc, argv);
        return 0;
    }
    return std::nullopt;
}

} // namespace app
