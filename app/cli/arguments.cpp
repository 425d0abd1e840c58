// SPDX-License-Identifier: Apache-2.0
#include "app/cli/arguments.h"

#include "app/cli/engine_options.h"
#include "app/pasted_path.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"
#include "engine/plan/device_map.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

Error wrongUsage(const std::string& message) {
    return Error{ErrorCode::InvalidRequest, message, {{"usage", "belfry-cli --help"}}};
}

Result<int64_t>
toInteger(const std::string& option, const std::string& word, int64_t least, int64_t most) {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size() || value < least || value > most) {
        return wrongUsage(option + " " + word + ": expected a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
}

Result<double>
toNumber(const std::string& option, const std::string& word, double least, double most) {
    double value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size() ||
        !(value >= least && value <= most)) {
        std::ostringstream text;
        text << option << " " << word << ": expected a number from " << least << " to " << most;
        return wrongUsage(text.str());
    }
    return value;
}

std::string presetNames() {
    std::string names = "fit";
    for (const std::string& name : engine::devicePresets()) {
        names += ", " + name;
    }
    return names;
}

/// The pieces between commas, empty ones too: "1," has two.
std::vector<std::string> pieces(const std::string& word) {
    std::vector<std::string> out;
    size_t begin = 0;
    for (size_t comma = word.find(','); comma != std::string::npos; comma = word.find(',', begin)) {
        out.push_back(word.substr(begin, comma - begin));
        begin = comma + 1;
    }
    out.push_back(word.substr(begin));
    return out;
}

Result<std::vector<int64_t>>
toIntegers(const std::string& option, const std::string& word, int64_t least, int64_t most) {
    std::vector<int64_t> values;
    if (word.empty()) {
        return wrongUsage(option + ": expected numbers separated by commas");
    }
    for (const std::string& piece : pieces(word)) {
        ENGINE_ASSIGN(const int64_t value, toInteger(option, piece, least, most));
        values.push_back(value);
    }
    return values;
}

/// Far more than a computer has, and so little that sums of sizes do not wrap.
constexpr uint64_t kLargestSize = uint64_t{1} << 50U;

Result<uint64_t> toBytes(const std::string& option, const std::string& word) {
    const std::string found = word.empty() ? "a size is missing" : word;
    const auto bytes = engine::parseByteSize(word);
    if (!bytes.has_value() || *bytes == 0) {
        return wrongUsage(option + ": " + found + ": expected a size such as 8GiB or 512MiB");
    }
    if (*bytes > kLargestSize) {
        return wrongUsage(option + ": " + found +
                          " is more memory than there is: expected at most " +
                          std::to_string(kLargestSize >> 30U) + "GiB");
    }
    return *bytes;
}

std::string joined(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) {
        list += (list.empty() ? "" : ", ") + word;
    }
    return list;
}

constexpr const char* kLoadOptions =
    "load options:\n"
    "  --device-map FILE|PRESET   gpu, towers-cpu, ple-cpu, lean, cpu, fit; or a JSON map\n"
    "  --quant none|nf4|nf4-dq|fp4|fp4-dq   --quant-block 32...4096   --head auto|bf16|int8|nf4\n"
    "  --context N   --limit DEVICE=SIZE   --sim-gpu SIZE[,SIZE]   --prefill-chunk N\n"
    "  --adapter DIR[=STRENGTH]   (repeatable)   --precision auto|f32   --threads N\n"
    "  --cache DIR   keep quantized weights there for the next load\n"
    "  --cpu-kernels cpu-scalar|cpu-avx2|cpu-avx512|cpu-avx512vnni|cpu-avx512bf16   none beyond "
    "these\n";
constexpr const char* kMediaOptions =
    "media:\n"
    "  --image FILE   --audio FILE   (repeatable)   --image-tokens 70|140|280|560|1120\n";
constexpr const char* kSamplingOptions =
    "sampling:\n"
    "  --max-tokens N --temperature X --top-k N --top-p X --min-p X --repetition-penalty X --seed "
    "N\n"
    "  --ignore-eos   --system TEXT   --thinking      (temperature 0 = greedy)\n";

const std::map<std::string, std::string>& commandUsage() {
    static const std::map<std::string, std::string> kUsage = {
        {"inspect", "belfry-cli inspect MODEL [--adapter DIR]... [--effect]\n  what is in it: "
                    "modules, bytes, towers, adapter coverage\n"
                    "  --effect   load the model and measure what each adapter changes\n"},
        {"plan",
         std::string(
             "belfry-cli plan MODEL [load options] [--export belfry|accelerate|llama.cpp|python]\n"
             "  where everything would go, predicted bytes, errors; allocates nothing. "
             "--export prints the map for another program\n") +
             kLoadOptions},
        {"chat", std::string("belfry-cli chat MODEL [load options] [media] [sampling] (--prompt "
                             "TEXT | --raw-prompt TEXT)\n"
                             "  one reply, streamed to stdout; without a prompt: interactive\n") +
                     kLoadOptions + kMediaOptions + kSamplingOptions},
        {"logits", std::string("belfry-cli logits MODEL [load options] [media] (--raw-prompt TEXT "
                               "| --ids 1,2,3) --last N --out FILE.safetensors\n") +
                       kLoadOptions + kMediaOptions},
        {"tokenize", "belfry-cli tokenize MODEL (--text TEXT | --stdin)\n"},
        {"merge", "belfry-cli merge MODEL --adapter DIR[=S]... --out DIR\n  bf16 merge, with drift "
                  "report\n"},
        {"bench", std::string("belfry-cli bench (MODEL | --shape e2b|e4b) [load options] --prefill "
                              "512,4096 --decode 128 --depth 0,4096 [--no-towers]\n"
                              "  [--no-ceiling]   without measuring what a card reaches at most\n"
                              "  [--adapter-rank N]   decode and prompts again with a random "
                              "adapter of this rank\n"
                              "  [--adapter-targets projections|all-linear]   on q, k, v, o, gate, "
                              "up and down_proj (as usual), or on every linear\n"
                              "  [--temperature X]   draw the decoded tokens instead of choosing "
                              "greedily; with it --top-k N --top-p X --min-p X\n"
                              "      --repetition-penalty X --seed N (else the model's own, seed "
                              "1)\n"
                              "  [--kernel-times]   times of a card's kernels and clocks of its "
                              "decode steps, to stderr (slower)\n"
                              "  [--load-times]   how long each stage of the load took, to stderr\n"
                              "  [--without FORM[,FORM]]   for comparisons: ") +
                      joined(formNames()) +
                      "\n  [--cublaslt 1|PATH]   large products of a card by NVIDIA's library\n" +
                      kLoadOptions},
    };
    return kUsage;
}

/// What a command needs and what excludes each other: told before any work.
Result<void> checkTogether(const Arguments& out) {
    const bool has_prompt = out.has_prompt || !out.raw_prompt.empty();
    if (out.command == "chat" && out.has_prompt && !out.raw_prompt.empty()) {
        return wrongUsage("chat: give --prompt or --raw-prompt, not both");
    }
    if (out.command == "chat" && out.is_json && !has_prompt) {
        return wrongUsage("chat --json: give --prompt or --raw-prompt");
    }
    if (out.command == "logits" && out.out.empty()) {
        return wrongUsage("logits: --out FILE.safetensors is missing");
    }
    if (out.command == "logits" && out.raw_prompt.empty() == out.ids.empty()) {
        return wrongUsage("logits: give either --raw-prompt TEXT or --ids 1,2,3");
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
    if (out.command == "merge" && (out.load.adapters.empty() || out.out.empty())) {
        return wrongUsage("merge: --adapter DIR[=S] and --out DIR are both needed");
    }
    return {};
}

} // namespace

std::string usage(const std::string& command) {
    const auto it = commandUsage().find(command);
    if (it != commandUsage().end()) {
        return it->second + "  --json   one JSON object on stdout, nothing else\n";
    }
    std::string text = "belfry-cli COMMAND ...   (MODEL is a folder, or demo)\n\n";
    for (const auto& [name, body] : commandUsage()) {
        text += "  " + body.substr(0, body.find('\n')) + "\n";
    }
    return text + "\nbelfry-cli COMMAND --help lists the options of one command.\n"
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
    out.command = words[0];
    if (!commandUsage().contains(out.command)) {
        return wrongUsage("unknown command " + out.command +
                          ": expected one of bench, chat, inspect, logits, merge, plan, tokenize");
    }
    out.load.device_map.clear();
    size_t at = 1;
    std::string option;
    const auto value = [&]() -> Result<std::string> {
        if (at + 1 >= words.size()) {
            return wrongUsage(option + ": a value is missing after it");
        }
        return words[++at];
    };
    using Handler = std::function<Result<void>()>;
    const auto text = [&](std::string& target) -> Handler {
        return [&]() -> Result<void> {
            ENGINE_ASSIGN(target, value());
            return {};
        };
    };
    const auto path = [&](std::string& target) -> Handler {
        return [&]() -> Result<void> {
            ENGINE_ASSIGN(const std::string word, value());
            target = app::pastedPath(word, app::PathFor::Writing);
            return {};
        };
    };
    const auto integer = [&](int64_t& target, int64_t least, int64_t most) -> Handler {
        return [&, least, most]() -> Result<void> {
            ENGINE_ASSIGN(const std::string word, value());
            ENGINE_ASSIGN(target, toInteger(option, word, least, most));
            return {};
        };
    };
    const auto number = [&](double& target, double least, double most) -> Handler {
        return [&, least, most]() -> Result<void> {
            ENGINE_ASSIGN(const std::string word, value());
            ENGINE_ASSIGN(target, toNumber(option, word, least, most));
            return {};
        };
    };
    const auto integers = [&](std::vector<int64_t>& target, int64_t least) -> Handler {
        return [&, least]() -> Result<void> {
            ENGINE_ASSIGN(const std::string word, value());
            ENGINE_ASSIGN(target, toIntegers(option, word, least, 1 << 20));
            return {};
        };
    };
    const auto oneOf = [&](std::string& target, const std::vector<std::string>& known) -> Handler {
        return [&, known]() -> Result<void> {
            ENGINE_ASSIGN(target, value());
            if (std::find(known.begin(), known.end(), target) != known.end()) {
                return {};
            }
            return wrongUsage(option + " " + target + ": expected one of " + joined(known));
        };
    };
    const auto flag = [](bool& target, bool set_to) -> Handler {
        return [&target, set_to]() -> Result<void> {
            target = set_to;
            return {};
        };
    };
    int64_t threads = 0;
    const std::map<std::string, Handler> handlers = {
        {"--json", flag(out.is_json, true)},
        {"--help", flag(out.is_help, true)},
        {"--thinking", flag(out.is_thinking, true)},
        {"--ignore-eos", flag(out.sampling.ignores_eos, true)},
        {"--stdin", flag(out.reads_stdin, true)},
        {"--effect", flag(out.checks_effect, true)},
        {"--no-towers", flag(out.has_towers, false)},
        {"--no-ceiling", flag(out.has_ceiling, false)},
        {"--kernel-times", flag(out.has_kernel_times, true)},
        {"--load-times", flag(out.has_load_times, true)},
        {"--cublaslt", text(out.cublaslt)},
        {"--cpu-kernels", oneOf(out.cpu_kernels, {"cpu-scalar", "cpu-avx2", "cpu-avx512",
                                                  "cpu-avx512vnni", "cpu-avx512bf16"})},
        {"--without",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             const std::vector<std::string> known = formNames();
             for (const std::string& form : pieces(word)) {
                 if (std::find(known.begin(), known.end(), form) == known.end()) {
                     return wrongUsage(option + " " + form + ": expected one of " + joined(known));
                 }
                 out.without.push_back(form);
             }
             return {};
         }},
        {"--quant", oneOf(out.load.quant, {"none", "nf4", "nf4-dq", "fp4", "fp4-dq"})},
        {"--quant-block",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             ENGINE_ASSIGN(out.load.quant_block, toInteger(option, word, 32, 4096));
             if ((out.load.quant_block & (out.load.quant_block - 1)) != 0) {
                 return wrongUsage("--quant-block " + word +
                                   ": expected a power of two from 32 to 4096");
             }
             return {};
         }},
        {"--head", oneOf(out.load.head, {"auto", "bf16", "int8", "nf4"})},
        {"--cache", path(out.load.cache_folder)},
        {"--raw-prompt", text(out.raw_prompt)},
        {"--system", text(out.system)},
        {"--out", path(out.out)},
        {"--context", integer(out.load.context, 1, 1 << 24)},
        {"--prefill-chunk", integer(out.load.prefill_chunk, 1, 65536)},
        {"--threads", integer(threads, 1, 1024)},
        {"--last", integer(out.last, 1, 1 << 24)},
        {"--decode", integer(out.decode, 0, 1 << 20)},
        {"--adapter-rank", integer(out.adapter_rank, 1, 1024)},
        {"--adapter-targets", oneOf(out.adapter_targets, {"projections", "all-linear"})},
        {"--prefill", integers(out.prefill, 0)},
        {"--depth", integers(out.depth, 0)},
        {"--max-tokens", integer(out.sampling.max_tokens, 1, 1 << 24)},
        {"--top-k", integer(out.sampling.top_k, 0, 1 << 24)},
        {"--seed", integer(out.sampling.seed, 0, (int64_t{1} << 53) - 1)},
        {"--temperature", number(out.sampling.temperature, 0.0, 100.0)},
        {"--top-p", number(out.sampling.top_p, 1e-9, 1.0)},
        {"--min-p", number(out.sampling.min_p, 0.0, 1.0)},
        {"--repetition-penalty", number(out.sampling.repetition_penalty, 1e-6, 100.0)},
        {"--prompt",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(out.prompt, value());
             out.has_prompt = true;
             return {};
         }},
        {"--text",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(out.text, value());
             out.has_text = true;
             return {};
         }},
        {"--image",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             out.images.push_back(app::pastedPath(word));
             return {};
         }},
        {"--audio",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             out.audios.push_back(app::pastedPath(word));
             return {};
         }},
        {"--image-tokens",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             ENGINE_ASSIGN(out.load.image_tokens, toInteger(option, word, 1, 4096));
             const auto known = {70, 140, 280, 560, 1120};
             if (std::find(known.begin(), known.end(), out.load.image_tokens) == known.end()) {
                 return wrongUsage("--image-tokens " + word +
                                   ": expected 70, 140, 280, 560 or 1120");
             }
             return {};
         }},
        {"--ids",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             ENGINE_ASSIGN(const std::vector<int64_t> ids, toIntegers(option, word, 0, INT32_MAX));
             out.ids.assign(ids.begin(), ids.end());
             return {};
         }},
        {"--shape",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             out.model = "shape:" + word;
             return {};
         }},
        {"--export",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(out.export_as, value());
             const auto known = {"belfry", "accelerate", "llama.cpp", "python"};
             if (std::find(known.begin(), known.end(), out.export_as) == known.end()) {
                 return wrongUsage("--export " + out.export_as +
                                   ": expected belfry, accelerate, llama.cpp or python");
             }
             if (out.command != "plan") {
                 return wrongUsage("--export belongs to the command plan");
             }
             return {};
         }},
        {"--precision",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             if (word != "auto" && word != "f32") {
                 return wrongUsage("--precision " + word + ": expected auto or f32");
             }
             out.load.is_reference_precision = word == "f32";
             return {};
         }},
        {"--limit",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             const auto equals = word.find('=');
             if (equals == std::string::npos) {
                 return wrongUsage("--limit " + word +
                                   ": expected DEVICE=SIZE, for example cuda:0=8GiB");
             }
             const auto device = engine::DeviceId::parse(word.substr(0, equals));
             if (!device.has_value() || *device == engine::DeviceId::disk()) {
                 return wrongUsage("--limit " + word +
                                   ": expected cpu, cuda:N or sim:N before the size");
             }
             ENGINE_ASSIGN(const uint64_t bytes, toBytes(option, word.substr(equals + 1)));
             out.load.limits.emplace_back(word.substr(0, equals), bytes);
             return {};
         }},
        {"--sim-gpu",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             for (const std::string& piece : pieces(word)) {
                 ENGINE_ASSIGN(const uint64_t bytes, toBytes(option, piece));
                 out.load.sim_gpus.push_back(bytes);
             }
             return {};
         }},
        {"--adapter",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             engine::AdapterChoice choice;
             choice.folder = app::pastedPath(word);
             const auto equals = word.rfind('=');
             std::error_code code;
             if (equals != std::string::npos &&
                 !std::filesystem::exists(engine::pathFromUtf8(choice.folder), code)) {
                 ENGINE_ASSIGN(choice.strength,
                               toNumber(option, word.substr(equals + 1), 0.0, 2.0));
                 choice.folder = app::pastedPath(word.substr(0, equals));
             }
             out.load.adapters.push_back(choice);
             return {};
         }},
        {"--device-map",
         [&]() -> Result<void> {
             ENGINE_ASSIGN(const std::string word, value());
             out.has_device_map = true;
             if (word == "fit" || engine::isDevicePreset(word)) {
                 out.load.device_map = word;
                 return {};
             }
             const std::string file = app::pastedPath(word);
             auto content =
                 engine::readSmallFile(engine::pathFromUtf8(file), engine::kMaxDeviceMapBytes);
             if (!content.has_value()) {
                 const bool is_missing = content.error().details.front().second == "FileMissing";
                 const std::string hint = engine::deviceMapHint(word);
                 return wrongUsage("--device-map " +
                                   (is_missing
                                        ? file + ": neither a file nor a preset (" + presetNames() +
                                              ")" + (hint.empty() ? "" : "; " + hint)
                                        : content.error().message));
             }
             out.load.device_map = *std::move(content);
             // What a file holds is a map, or a bad one: never nothing or a preset's name.
             if (!engine::isDeviceMapText(out.load.device_map)) {
                 out.load.device_map += ' ';
             }
             return {};
         }},
    };
    for (; at < words.size(); ++at) {
        option = words[at];
        const auto handler = handlers.find(option);
        if (handler != handlers.end()) {
            ENGINE_TRY(handler->second());
        } else if (option.starts_with("--")) {
            return wrongUsage("unknown option " + option + " for " + out.command);
        } else if (out.model.empty()) {
            out.model = app::pastedPath(option);
        } else {
            return wrongUsage("unexpected word " + option + ": the model is " + out.model +
                              " already; quote texts with spaces");
        }
    }
    out.load.threads = static_cast<int>(threads);
    if (!out.is_help && out.model.empty()) {
        return wrongUsage(out.command + ": no model given\n" + usage(out.command));
    }
    if (!out.is_help) {
        ENGINE_TRY(checkTogether(out));
    }
    out.load.model = out.model;
    return out;
}

} // namespace cli
