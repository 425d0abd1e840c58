// SPDX-License-Identifier: Apache-2.0
// belfry-cli bench for developers: without forms of kernels that the card has, so as to see what a
// form is worth and how another card computes, and with times of kernels and of a load's stages.
//
//   belfry_form_bench [--without FORM[,FORM]] [--kernel-times] [--load-times] WORDS OF BENCH
//
// --kernel-times: of a card's kernels, to stderr (slower); clocks of decode steps in builds with
// BELFRY_TRACE
// --load-times: of each stage of the load, to stderr
#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/word_values.h"
#include "app/common/program_paths.h"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Form {
    std::string_view name;
    void (*leaveOut)(engine::EngineOptions& options);
};

constexpr Form kForms[] = {
    {"streamed-launch", [](engine::EngineOptions& o) { o.cards.has_streamed_launch = false; }},
    {"bulk-copies", [](engine::EngineOptions& o) { o.cards.has_bulk_copies = false; }},
    // What a block has on cards of compute capability 8.6, 8.9 and 12.0.
    {"large-shared-memory", [](engine::EngineOptions& o) { o.cards.shared_bytes = 101376; }},
    {"update-plans", [](engine::EngineOptions& o) { o.cards.has_update_plans = false; }},
    {"attention-by-heads",
     [](engine::EngineOptions& o) { o.cards.has_attention_by_heads = false; }},
    {"wide-products", [](engine::EngineOptions& o) { o.cards.wide_rows = -1; }},
    {"candidates", [](engine::EngineOptions& o) { o.decode.has_candidates = false; }},
    {"split-steps", [](engine::EngineOptions& o) { o.decode.has_split_steps = false; }},
    {"draft-steps", [](engine::EngineOptions& o) { o.decode.has_draft_steps = false; }},
};

/// Whether there is such a form.
bool leaveOut(const std::string& name, engine::EngineOptions& options) {
    for (const Form& form : kForms) {
        if (form.name == name) {
            form.leaveOut(options);
            return true;
        }
    }
    std::fprintf(stderr, "--without %s: expected one of", name.c_str());
    for (const Form& form : kForms) {
        std::fprintf(stderr, " %.*s", static_cast<int>(form.name.size()), form.name.data());
    }
    std::fprintf(stderr, "\n");
    return false;
}

int run(const std::vector<std::string>& words) {
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    std::vector<std::string> rest = {"bench"};
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--kernel-times") {
            options.cards.has_kernel_times = true;
        } else if (words[i] == "--load-times") {
            options.has_load_times = true;
        } else if (words[i] == "--without" && i + 1 < words.size()) {
            for (const std::string& form : cli::pieces(words[++i])) {
                if (!leaveOut(form, options)) {
                    return 2;
                }
            }
        } else {
            rest.push_back(words[i]);
        }
    }
    const auto arguments = cli::parseArguments(rest);
    if (!arguments.has_value()) {
        std::fprintf(stderr, "%s\n", arguments.error().message.c_str());
        return 2;
    }
    if (arguments->is_help) {
        std::printf("%s", cli::usage("bench").c_str());
        return 0;
    }
    options.cpu_kernels = arguments->cpu_kernels;
    cli::armInterrupt();
    engine::Engine engine(options);
    const auto measured = cli::runBench(engine, *arguments);
    if (!measured.has_value()) {
        std::fprintf(stderr, "%s\n", measured.error().message.c_str());
    }
    return measured.has_value() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    cli::openConsole();
    int code = 1;
    try {
        code = run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
    }
    return cli::closeConsole(code);
}
