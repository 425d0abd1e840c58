// SPDX-License-Identifier: Apache-2.0
// The command line of belfry-cli as checked values. The grammar is in grammar.h; a wrong word is
// an error that names it (exit code 2).
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"
#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

struct Arguments {
    std::string command;
    std::string model; ///< Folder, name of the library, "demo", or "shape:e2b" for --shape.
    std::string shape; ///< bench: as given.
    std::string topic; ///< completion: the shell; manual: a command, "" for the overview.
    bool is_json = false;
    bool is_help = false;
    bool is_version = false; ///< --version alone.
    engine::LoadRequest load;
    bool has_device_map = false;
    // prompt and media
    bool has_prompt = false;
    std::string prompt, raw_prompt, system, text;
    bool has_text = false; ///< tokenize: --text was given, perhaps empty.
    bool reads_stdin = false;
    std::vector<std::string> images, audios;
    std::vector<int32_t> ids;
    bool is_thinking = false;
    engine::SamplingParameters sampling;
    std::string export_as;      ///< plan: "", belfry or accelerate.
    bool checks_effect = false; ///< inspect: run the model without and with each adapter.
    // models
    std::vector<std::string> folders; ///< Looked into besides.
    std::string added_folder, removed_folder, deleted;
    bool is_agreed = false;    ///< --yes
    bool is_unplanned = false; ///< --no-plan
    // compare
    std::string second_model; ///< Empty: the first one.
    std::string second_quant; ///< Empty: as the first one.
    std::string second_kv;    ///< Likewise.
    int64_t judged_from = 0;  ///< Tokens of a window in front of those that are predicted.
    std::string text_file;
    // logits, merge
    int64_t last = 1;
    std::string out;
    bool is_stack = false; ///< merge: an adapter, not a model.
    // bench
    std::vector<int64_t> prefill = {512}, depth = {0};
    int64_t decode = 32;
    bool has_towers = true;
    bool has_ceiling = true;
    double draft_accept = -1.0;                  ///< Given acceptance of drafts; negative: none.
    int64_t adapter_rank = 0;                    ///< 0 = no random adapter.
    std::string adapter_targets = "projections"; ///< For the random adapter; or "all-linear".
    // get
    std::string address; ///< OWNER/NAME[@REVISION] or the address of a page.
    std::string to;      ///< A folder instead of the hub's cache; empty: the cache.
    std::string source;  ///< "hub", "modelscope"; empty: what the address says, else the hub.
    int64_t connections = 4;
    bool is_dry_run = false; ///< Tell what would come, fetch nothing.
    bool takes_all = false;  ///< Also files that Belfry does not load.
    // serve
    std::string host; ///< Address to listen at; empty: loopback.
    int64_t port = 8642;
    std::string token_file;
    std::vector<std::string> allowed_hosts, allowed_origins;
    int64_t most_waiting = 32;
    bool wants_process = false; ///< The engine in a process of its own where there is a card.
    bool is_in_process =
        false;               ///< The engine on a thread, also with a card, whatever else is said.
    std::string served_name; ///< Name of the model in requests.
    std::vector<std::string> served_adapters; ///< Names of the adapters there.
    // chat on a server
    std::string server;       ///< Its address; empty: this computer computes.
    std::string server_model; ///< Name in its list; empty: the one that it has.
    std::string key_file, key_variable;
    std::string server_authority; ///< A file with certificates that are trusted besides.
    // all that compute
    std::string cpu_kernels; ///< A table of kernels/cpu/tables.h; empty: the fastest.
};

/// "--name value" and "--name=value" are the same; "--" ends the options.
/// Errors: InvalidRequest, with the usage of the command where the model is missing.
engine::Result<Arguments> parseArguments(const std::vector<std::string>& words);

/// Overview, or the options of one command.
std::string usage(const std::string& command);

} // namespace cli
