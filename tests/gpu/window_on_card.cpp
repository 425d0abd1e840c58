// SPDX-License-Identifier: Apache-2.0
// The real window on a machine with a card and without a display: loads the demo model with
// everything on the first card, asks about a picture, checks the reply and what the live meter
// says about the card, and saves the window in both themes as PNG.
//
//   belfry_gpu_window [--map MAP] [--device ID] [--to FOLDER] [--json FILE]
//     --map     preset or text of a device map; default gpu
//     --device  the device that has to hold the weights; default cuda:0
//     --to      where the PNGs go; default the current folder
// Ends with 0 when every check passed, 77 without a usable card (unless --device is cpu).
#include "kernels/cuda/cards.h"
#include "kernels/cuda/driver.h"
#include "tests/app/program_fixture.h"
#include "tests/gpu/check_list.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <cstdio>
#include <fstream>

namespace {

struct Options {
    std::string map = "gpu";
    std::string device = "cuda:0";
    QString to = QStringLiteral(".");
    std::string json;
};

/// Null when the meter shows no such device.
const ui::MeterDevice* meterRow(ui::MainWindow& window, const std::string& device) {
    for (const ui::MeterDevice& row : window.meter()->devices()) {
        if (row.id.toString() == device) {
            return &row;
        }
    }
    return nullptr;
}

/// The window as a person sees it, after the layouts and the meter's next tick have settled.
std::string save(ui::MainWindow& window, const Options& options, const QString& name) {
    QTest::qWait(600);
    const QString file = options.to + QStringLiteral("/window-") + name + QStringLiteral(".png");
    return window.grab().save(file) ? std::string() : "cannot write " + file.toStdString();
}

std::string chatInTheme(const Options& options, bool is_dark, std::string* figure) {
    QTemporaryDir folder;
    ui::Settings settings;
    settings.theme = is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light;
    support::Program program(folder.path(), settings);
    program.window->resize(1440, 900);
    if (program.demo.empty()) {
        return "the demo model is not beside the program (share/belfry/demo_model)";
    }
    engine::LoadRequest request = program.session().request();
    request.device_map = options.map;
    program.session().setOptions(request);
    program.session().chooseModel(QStringLiteral("demo"));
    if (!QTest::qWaitFor(
            [&] {
                return program.session().summary() != nullptr &&
                       program.window->layoutView()->stagedPlan() != nullptr;
            },
            20000)) {
        return "no plan for the demo model after 20 s";
    }
    QElapsedTimer clock;
    clock.start();
    if (!program.load()) {
        return "the demo model is not loaded after 60 s; device map " + options.map;
    }
    const double load_s = static_cast<double>(clock.elapsed()) / 1000.0;

    program.window->takeFiles({program.sample("circles_and_square.png")});
    program.ask(QStringLiteral("What do you see?"));
    if (!program.waitForReply(2)) {
        return "no reply after 60 s";
    }
    program.ask(QStringLiteral("What is a tower?"));
    if (!program.waitForReply(4)) {
        return "no second reply after 60 s";
    }
    const ui::ChatTurn& first = program.chat().chat().turns[1];
    const ui::ChatTurn& second = program.chat().chat().turns[3];
    const double rate =
        second.timing.decode_s > 0.0
            ? static_cast<double>(second.timing.decode_tokens) / second.timing.decode_s
            : 0.0;
    char text[200];
    std::snprintf(text, sizeof(text), "load %.2f s, first token %.0f ms, %.0f tokens/s: \"%s\"",
                  load_s, 1e3 * first.timing.time_to_first_token_s, rate,
                  first.text.left(60).toUtf8().constData());
    *figure = text;

    program.window->setTab(ui::MainWindow::Tab::Chat);
    const QString theme = is_dark ? QStringLiteral("dark") : QStringLiteral("light");
    std::string wrong = save(*program.window, options, theme + QStringLiteral("-chat"));
    if (wrong.empty()) {
        program.window->setTab(ui::MainWindow::Tab::Both);
        wrong = save(*program.window, options, theme + QStringLiteral("-both"));
    }
    if (!wrong.empty()) {
        return wrong;
    }
    // The demo model answers its own sample question; which words depends on rounding only little.
    if (!first.text.contains(QStringLiteral("circle"))) {
        return "the reply about two circles and a square says: " + first.text.toStdString();
    }
    const ui::MeterDevice* row = meterRow(*program.window, options.device);
    if (row == nullptr) {
        return "the meter has no row for " + options.device;
    }
    if (!row->has_measured || row->measured[engine::MemoryPart::Weights] == 0) {
        return "the meter measures no weights on " + options.device;
    }
    if (!program.window->meter()->isVisible()) {
        return "the meter is not visible";
    }
    return {};
}

int run(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--map") {
            options.map = argv[i + 1];
        } else if (option == "--device") {
            options.device = argv[i + 1];
        } else if (option == "--to") {
            options.to = QString::fromLocal8Bit(argv[i + 1]);
        } else if (option == "--json") {
            options.json = argv[i + 1];
        } else {
            std::fprintf(stderr, "unknown option %s\n", option.c_str());
            return 2;
        }
    }
    if (options.device != "cpu") {
        std::string why;
        const kernels::cuda::Driver* driver = kernels::cuda::systemDriver(&why);
        if (driver == nullptr || kernels::cuda::listCards(*driver).empty()) {
            std::printf("skipped: %s\n", why.empty() ? "no usable graphics card" : why.c_str());
            return 77;
        }
    }
    QDir().mkpath(options.to);
    gpu::CheckList list({});
    for (const bool is_dark : {false, true}) {
        list.run("window", is_dark ? "dark" : "light",
                 [&](std::string* figure) { return chatInTheme(options, is_dark, figure); });
    }
    std::printf("%d passed, %d failed\n", list.passed(), list.failed());
    if (!options.json.empty()) {
        std::ofstream(options.json) << list.rows().dump(1) << "\n";
    }
    return list.failed() == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "belfry_gpu_window: %s\n", error.what());
        return 1;
    }
}
