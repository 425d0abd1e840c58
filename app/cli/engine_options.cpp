// SPDX-License-Identifier: Apache-2.0
#include "app/cli/engine_options.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cli {

namespace {

/// Shared memory of a block on cards of compute capability 8.6, 8.9 and 12.0.
constexpr int kSmallSharedBytes = 101376;

/// A form that --without leaves out, and how.
struct Form {
    std::string_view name;
    void (*leaveOut)(engine::EngineOptions& options);
};

constexpr std::array<Form, 11> kForms = {{
    {"token-launch", [](engine::EngineOptions& o) { o.cards.has_token_launch = false; }},
    {"streamed-launch", [](engine::EngineOptions& o) { o.cards.has_streamed_launch = false; }},
    {"bulk-copies", [](engine::EngineOptions& o) { o.cards.has_bulk_copies = false; }},
    {"large-shared-memory",
     [](engine::EngineOptions& o) { o.cards.shared_bytes = kSmallSharedBytes; }},
    {"update-plans", [](engine::EngineOptions& o) { o.cards.has_update_plans = false; }},
    {"attention-by-heads",
     [](engine::EngineOptions& o) { o.cards.has_attention_by_heads = false; }},
    {"wide-products", [](engine::EngineOptions& o) { o.cards.wide_rows = -1; }},
    {"candidates", [](engine::EngineOptions& o) { o.decode.has_candidates = false; }},
    {"lookahead", [](engine::EngineOptions& o) { o.decode.looks_ahead = false; }},
    {"split-steps", [](engine::EngineOptions& o) { o.decode.has_split_steps = false; }},
    {"draft-steps", [](engine::EngineOptions& o) { o.decode.has_draft_steps = false; }},
}};

} // namespace

std::vector<std::string> formNames() {
    std::vector<std::string> names;
    names.reserve(kForms.size());
    for (const Form& form : kForms) {
        names.emplace_back(form.name);
    }
    return names;
}

engine::EngineOptions engineOptions(const Arguments& arguments) {
    engine::EngineOptions options;
    options.cpu_kernels = arguments.cpu_kernels;
    options.has_load_times = arguments.has_load_times;
    options.cards.has_kernel_times = arguments.has_kernel_times;
    for (const Form& form : kForms) {
        if (std::find(arguments.without.begin(), arguments.without.end(), form.name) !=
            arguments.without.end()) {
            form.leaveOut(options);
        }
    }
    return options;
}

} // namespace cli
