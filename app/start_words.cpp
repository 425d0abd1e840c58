// SPDX-License-Identifier: Apache-2.0
#include "app/start_words.h"

#include <QGuiApplication>

#include <cstdio>
#include <string_view>

namespace app {

std::optional<int> answerStartWords(int argc, char** argv) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    if (word == "--help" || word == "-h") {
        std::puts("belfry [MODEL_FOLDER]   the window; for the terminal: belfry-cli --help");
        return 0;
    }
    if (word == "--version") {
        std::puts("Belfry " BELFRY_VERSION);
        return 0;
    }
    if (word == "--probe-display") {
        const QGuiApplication application(argc, argv);
        return 0;
    }
    return std::nullopt;
}

} // namespace app
