// SPDX-License-Identifier: Apache-2.0
#include "app/cli/arguments.h"

#include "app/cli/grammar.h"
#include "app/cli/word_values.h"
#include "app/common/environment.h"
#include "app/common/pasted_path.h"

#include <algorithm>

#include "models/hub/modelscope.h"
#include "models/hub/names.h"

namespace cli {

using engine::Result;

namespace {

/// What a command needs and what excludes each other: told before any work.
Result<void> checkTogether(const Arguments& out) {
    const bool has_prompt = out.has_prompt || !out.raw_prompt.empty();
    if (out.command == "chat" && out.has_prompt && !out.raw_prompt.empty()) {
        return wrongUsage("chat: give --prompt or --raw-prompt, not both");
    }
    if (out.command == "chat" && out.is_json && !has_prompt) {
        return wrongUsage("chat --json: give --prompt or --raw-prompt");
    }
    if (out.command == "chat" && out.server.empty() &&
        !(out.server_model.empty() && out.key_file.empty() && out.key_variable.empty() &&
          out.server_authority.empty())) {
        return wrongUsage("chat: --server-model, --key-file, --key-env and --server-ca go with "
                          "--server URL");
    }
    if (!out.key_file.empty() && !out.key_variable.empty()) {
        return wrongUsage("chat: give --key-file or --key-env, not both");
    }
    if (!out.server.empty() && !out.model.empty()) {
        return wrongUsage("chat: give MODEL, which is computed here, or --server, not both");
    }
    if (!out.server.empty() && (!out.raw_prompt.empty() || !out.load.adapters.empty())) {
        return wrongUsage("chat --server: a server takes no --raw-prompt and no --adapter; its own "
                          "adapters are models of its list (--server-model)");
    }
    if (out.load.is_text_only && !(out.images.empty() && out.audios.empty())) {
        return wrongUsage(out.command + ": --text-only leaves out what reads --image and --audio; "
                                        "give one or the other");
    }
    if (out.command == "logits" && out.out.empty()) {
        return wrongUsage("logits: --out FILE.safetensors is missing");
    }
    if (out.command == "logits" && out.raw_prompt.empty() == out.ids.empty()) {
        return wrongUsage("logits: give either --raw-prompt TEXT or --ids 1,2,3");
    }
    if (out.command == "compare" && out.text_file.empty()) {
        return wrongUsage("compare: --text FILE is missing");
    }
    if (out.command == "compare" && out.second_model.empty() && out.second_quant.empty() &&
        out.second_kv.empty()) {
        return wrongUsage(
            "compare: give a second model, --quant2 or --kv2, with which MODEL is compared");
    }
    const engine::SamplingParameters& sampling = out.sampling;
    if (out.command == "bench" && sampling.temperature < 0 &&
        (sampling.top_k >= 0 || sampling.top_p >= 0 || sampling.min_p >= 0 ||
         sampling.repetition_penalty >= 0 || sampling.seed >= 0)) {
        return wrongUsage("bench: how tokens are drawn needs --temperature X beside it");
    }
    if (out.command == "tokenize" && out.has_text == out.reads_stdin) {
        return wrongUsage("tokenize: give either --text TEXT or --stdin");
    }
    if (out.command == "completion" && out.topic != "bash" && out.topic != "zsh" &&
        out.topic != "fish") {
        return wrongUsage("completion" + (out.topic.empty() ? "" : " " + out.topic) +
                          ": expected bash, zsh or fish");
    }
    if (out.command == "models" && int{!out.deleted.empty()} + int{!out.added_folder.empty()} +
                                           int{!out.removed_folder.empty()} >
                                       1) {
        return wrongUsage("models: give one of --delete, --add-folder and --remove-folder");
    }
    if (out.command == "get") {
        if (out.address.empty()) {
            return wrongUsage("get: no model named\n" + usage("get"));
        }
        const bool is_modelscope =
            out.source == "modelscope" ||
            (out.source.empty() && models::hub::isModelScopeAddress(out.address));
        const auto address =
            is_modelscope ? models::hub::parseModelScopeAddress(out.address)
                          : models::hub::parseAddress(out.address,
                                                      models::hub::endpoint(app::hubEnvironment()));
        if (!address.has_value()) {
            return wrongUsage("get: " + address.error().message);
        }
        if (is_modelscope && out.to.empty()) {
            return wrongUsage("get: models of ModelScope come as plain files: name a folder with "
                              "--to DIR");
        }
    }
    if (out.command == "merge" && (out.load.adapters.empty() || out.out.empty())) {
        return wrongUsage("merge: --adapter DIR|FILE[=S] and --out DIR are both needed");
    }
    return {};
}

/// "bench, chat, inspect".
std::string commandNames(const Grammar& grammar) {
    std::string names;
    for (const CLI::App* command : grammar.commands()) {
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    return names;
}

/// The words behind a command as CLI11 takes them: options that are known, each value a word of its
/// own. Errors: an unknown option, a value that is missing or too much.
Result<std::vector<std::string>> separated(const CLI::App& command,
                                           const std::vector<std::string>& words) {
    std::vector<std::string> out;
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") { // what follows is no option
            out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
            break;
        }
        if (!word.starts_with("--")) {
            out.push_back(word);
            continue;
        }
        const size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const CLI::Option* option = command.get_option_no_throw(name);
        if (option == nullptr) {
            return wrongUsage("unknown option " + word + " for " + command.get_name());
        }
        out.push_back(name);
        if (!Grammar::takesValue(*option)) {
            if (equals != std::string::npos) {
                std::string message = word;
                message.append(": ").append(name).append(" takes no value");
                return wrongUsage(message);
            }
        } else if (equals != std::string::npos) {
            out.push_back(word.substr(equals + 1));
        } else if (i + 1 < words.size()) {
            out.push_back(words[++i]);
        } else {
            return wrongUsage(name + ": a value is missing after it");
        }
    }
    return out;
}

/// What CLI11 makes of the words behind the command. Its own complaints are behind separated(): one
/// that comes all the same is told as it is.
Result<void> readWords(CLI::App& command, std::vector<std::string> words, Arguments& out) {
    std::reverse(words.begin(), words.end()); // as CLI11 wants them
    try {
        command.parse(words);
    } catch (const CLI::CallForHelp&) {
        out.is_help = true;
    } catch (const WrongWord& wrong) {
        return wrong.error;
    } catch (const CLI::ParseError& problem) {
        return wrongUsage(command.get_name() + ": " + problem.what());
    }
    for (const std::string& word : command.remaining()) {
        if (word == "--") {
            continue;
        }
        if (word.starts_with("-") && word != "-") {
            return wrongUsage("unknown option " + word + " for " + command.get_name());
        }
        const std::string model = out.model.empty() ? "" : app::pastedPath(out.model);
        return wrongUsage("unexpected word " + word +
                          (model.empty() ? "" : ": the model is " + model + " already") +
                          "; quote texts with spaces");
    }
    return {};
}

/// The model's folder, or the shape that stands for one.
Result<void> chooseModel(Arguments& out) {
    if (!out.shape.empty() && !out.model.empty()) {
        return wrongUsage("unexpected word " + out.model + ": the model is shape:" + out.shape +
                          " already; quote texts with spaces");
    }
    out.model = out.shape.empty() ? app::pastedPath(out.model) : "shape:" + out.shape;
    if (out.model.empty() && out.server.empty() && !out.is_help) {
        return wrongUsage(out.command + ": no model given\n" + usage(out.command));
    }
    out.load.model = out.model;
    out.second_model = app::pastedPath(out.second_model);
    return {};
}

} // namespace

std::string usage(const std::string& command) {
    Arguments unused;
    const Grammar grammar(unused);
    if (const CLI::App* app = grammar.command(command); app != nullptr) {
        return app->help();
    }
    std::string text =
        "belfry-cli COMMAND ...   (MODEL is a folder, a name that models lists, or demo)\n\n";
    for (const CLI::App* app : grammar.commands()) {
        text += "  belfry-cli " + grammar.synopsis(*app) + "\n";
    }
    return text + "\nbelfry-cli COMMAND --help lists the options of one command; belfry-cli "
                  "--version tells which Belfry this is.\n"
                  "Exit codes: 0 done, 1 failed, 2 wrong usage.\n";
}

Result<Arguments> parseArguments(const std::vector<std::string>& words) {
    Arguments out;
    // --json counts from the start, so that a wrong word is also told as JSON.
    out.is_json = std::find(words.begin(), words.end(), "--json") != words.end();
    if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        out.is_help = true;
        return out;
    }
    if (words[0] == "--version") {
        out.is_version = true;
        return out;
    }
    out.command = words[0];
    Grammar grammar(out);
    CLI::App* command = grammar.command(out.command);
    if (command == nullptr) {
        return wrongUsage("unknown command " + out.command + ": expected one of " +
                          commandNames(grammar));
    }
    out.load.device_map.clear();
    ENGINE_ASSIGN(std::vector<std::string> rest,
                  separated(*command, {words.begin() + 1, words.end()}));
    ENGINE_TRY(readWords(*command, std::move(rest), out));
    const bool has_no_model = out.command == "completion" || out.command == "manual" ||
                              out.command == "doctor" || out.command == "get" ||
                              out.command == "models";
    if (!has_no_model) {
        ENGINE_TRY(chooseModel(out));
    }
    if (!out.is_help) {
        ENGINE_TRY(checkTogether(out));
    }
    return out;
}

} // namespace cli
