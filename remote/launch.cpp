// SPDX-License-Identifier: Apache-2.0
#include "remote/launch.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace remote {

using engine::AdapterChoice;
using engine::AdapterSummary;
using engine::LaunchForm;
using engine::PartRole;
using engine::phrase;
using engine::said;
using engine::Sentence;

namespace {

constexpr std::array<int64_t, 9> kRanks = {1, 8, 16, 32, 64, 128, 256, 320, 512}; ///< vLLM's steps.
constexpr uint64_t kOverhead = uint64_t{3} << 30U; ///< Graphs, workspace and driver of a card.
constexpr double kMemoryShare = 0.9;
constexpr const char* kPort = "8000";

using Words = std::vector<std::string>; ///< An option and what belongs to it.

std::string lastName(std::string path) {
    while (path.size() > 1 && path.back() == '/') {
        path.pop_back();
    }
    return path.substr(path.find_last_of("/\\") + 1);
}

/// In AdapterSummary::kind: what a sum of low-rank updates cannot say.
constexpr std::array<const char*, 5> kMoreThanASum = {"dora", "bias", "tokens", "saved", "experts"};

/// The largest power of two that divides `count`; 1 of none.
int powerOfTwoIn(int count) {
    int power = 1;
    while (count > 0 && count % (2 * power) == 0) {
        power *= 2;
    }
    return power;
}

struct Input {
    const engine::LoadRequest& request;
    const engine::ModelSummary& summary;
    const engine::PlacementPlan& plan;
    engine::ServerCards cards;
    std::vector<AdapterChoice> adapters; ///< Those in force.
    int wanted_count = 0;                ///< Number of cards; more than can be used.

    [[nodiscard]] const AdapterSummary* find(const std::string& folder) const {
        const auto found =
            std::find_if(summary.adapters.begin(), summary.adapters.end(),
                         [&](const AdapterSummary& one) { return one.folder == folder; });
        return found == summary.adapters.end() ? nullptr : &*found;
    }
    [[nodiscard]] std::string source() const { return modelSource(request.model); }
    [[nodiscard]] bool isFolder() const { return source() == request.model; }
    [[nodiscard]] std::string name() const { return lastName(source()); }
    [[nodiscard]] bool hasTowerAdapter() const {
        return std::any_of(adapters.begin(), adapters.end(), [this](const AdapterChoice& choice) {
            const AdapterSummary* const one = find(choice.folder);
            return one != nullptr && one->vision + one->audio > 0;
        });
    }
    /// Whether one adapter can do what these do: by their kinds, as far as they were read.
    [[nodiscard]] bool isStackable() const {
        return std::all_of(adapters.begin(), adapters.end(), [this](const AdapterChoice& choice) {
            const AdapterSummary* const one = find(choice.folder);
            return one != nullptr &&
                   std::none_of(kMoreThanASum.begin(), kMoreThanASum.end(), [&](const char* kind) {
                       return one->kind.find(kind) != std::string::npos;
                   });
        });
    }
    /// Whether a server, which takes one adapter at full strength, needs another one than these.
    [[nodiscard]] bool needsOneAdapter() const {
        return adapters.size() > 1 ||
               std::any_of(adapters.begin(), adapters.end(),
                           [](const AdapterChoice& choice) { return choice.strength != 1.0; });
    }
    /// Layers can be cut into stages where none reads the keys and values of another; of a model
    /// whose layers are not known nobody can say so.
    [[nodiscard]] bool hasStages() const {
        return !summary.layers.empty() &&
               std::none_of(summary.layers.begin(), summary.layers.end(),
                            [](const engine::LayerSummary& layer) { return layer.is_kv_shared; });
    }
    /// Cards over which each layer is divided: attention heads are a multiple of 8.
    [[nodiscard]] int numTensor() const { return powerOfTwoIn(cards.count); }
    /// Stages, one behind the other.
    [[nodiscard]] int numStages() const { return cards.count / numTensor(); }
    [[nodiscard]] int64_t rank() const {
        int64_t largest = 1;
        for (const AdapterChoice& choice : adapters) {
            const AdapterSummary* const one = find(choice.folder);
            largest = std::max(largest, one == nullptr ? int64_t{16} : one->rank);
            for (size_t i = 0; one != nullptr && i < one->groups.size(); ++i) {
                largest = std::max(largest, one->groups[i].rank);
            }
        }
        const auto* const step = std::lower_bound(kRanks.begin(), kRanks.end(), largest);
        return step == kRanks.end() ? largest : *step;
    }
};

/// Weights in 16 bit on each card, a cache, and what a server takes besides.
uint64_t bytesOnEach(const Input& input, int count) {
    const uint64_t weights = input.summary.parameters > 0
                                 ? static_cast<uint64_t>(input.summary.parameters) * 2
                                 : input.summary.bytes;
    uint64_t kv = 0;
    for (const engine::DevicePlan& device : input.plan.devices) {
        kv += device.parts[engine::MemoryPart::Kv];
    }
    return (weights + kv) / static_cast<uint64_t>(count) + kOverhead;
}

int chosenCount(const Input& input) {
    constexpr std::array<int, 4> kCounts = {1, 2, 4, 8};
    constexpr std::array<int, 2> kInStages = {3, 6};
    const int wanted = input.cards.count;
    if (std::find(kCounts.begin(), kCounts.end(), wanted) != kCounts.end()) {
        return wanted;
    }
    if (std::find(kInStages.begin(), kInStages.end(), wanted) != kInStages.end()) {
        return input.hasStages() ? wanted : wanted / 3 * 2; // the next count that divides heads
    }
    const auto limit =
        static_cast<uint64_t>(kMemoryShare * static_cast<double>(input.cards.bytes_each));
    for (const int count : kCounts) {
        if (bytesOnEach(input, count) <= limit) {
            return count;
        }
    }
    return kCounts.back();
}

/// Names of adapters, each once.
std::vector<std::pair<std::string, std::string>> namedAdapters(const Input& input) {
    std::vector<std::pair<std::string, std::string>> named;
    for (const AdapterChoice& choice : input.adapters) {
        std::string name = lastName(choice.folder);
        const auto is_taken = [&](const auto& other) { return other.first == name; };
        for (int i = 2; std::any_of(named.begin(), named.end(), is_taken); ++i) {
            name = lastName(choice.folder) + "-" + std::to_string(i);
        }
        named.emplace_back(std::move(name), choice.folder);
    }
    return named;
}

/// What becomes of adapters where a server takes one at full strength.
void addAdapterLosses(const Input& input, std::vector<Sentence>& losses) {
    const Sentence way = input.isStackable() ? said("make one adapter of it (below), or merge it")
                                             : said("merge it");
    for (const AdapterChoice& choice : input.adapters) {
        if (choice.strength != 1.0) {
            losses.push_back(said("the adapter %1 at strength %2: a server applies it at full "
                                  "strength; for another one: %3",
                                  lastName(choice.folder), choice.strength, way));
        }
    }
    if (input.adapters.size() > 1) {
        losses.push_back(said("several adapters at once: a server applies one to a question, "
                              "chosen as its model; to have all: %1",
                              way));
    }
}

/// What no server program does as the placement says.
std::vector<Sentence> commonLosses(const Input& input) {
    std::vector<Sentence> losses;
    if (input.wanted_count > input.cards.count) {
        losses.push_back(said("%1 cards: every layer is divided over 1, 2, 4 or 8 of them, and "
                              "this model cannot be cut into stages, because layers read the keys "
                              "and values of others; the commands take %2",
                              input.wanted_count, input.cards.count));
    }
    if (input.numStages() > 1) {
        losses.push_back(said("%1 stages of the same size one behind the other, each on %2 cards: "
                              "fewer tokens a second than the same cards side by side give where "
                              "their number is 1, 2, 4 or 8",
                              input.numStages(), input.numTensor()));
    }
    if (input.request.quant != "none" || input.summary.quantization != "none") {
        losses.push_back(phrase("4-bit weights of bitsandbytes are not read there: the commands "
                                "take the model in 16 bit; answers differ a little. For less "
                                "memory look for an AWQ, GPTQ or FP8 version of the model"));
    }
    const bool is_elsewhere =
        std::any_of(input.plan.modules.begin(), input.plan.modules.end(),
                    [](const engine::ModulePlacement& module) {
                        return !module.store.isGpu() || !module.compute.isGpu();
                    });
    const bool has_table = input.plan.findModule({PartRole::PerLayerTable, -1}) != nullptr;
    if (is_elsewhere) {
        losses.push_back(phrase("parts on the processor or on disk: there all of the model is on "
                                "the cards, divided evenly"));
    } else if (input.plan.devices.size() > 1) {
        losses.push_back(phrase("which part is on which card: there every layer is divided over "
                                "all cards"));
    }
    if (has_table && is_elsewhere) {
        losses.push_back(phrase("the table of per-layer embeddings is on the cards as well"));
    }
    if (!input.request.limits.empty()) {
        losses.push_back(said("limits for single devices: a server takes one share of each card's "
                              "memory (%1)",
                              kMemoryShare));
    }
    if (input.request.is_text_only) {
        losses.push_back(phrase("text only: both towers are loaded there"));
    }
    if (!input.request.draft.empty() && input.request.draft != "off") {
        losses.push_back(phrase("the drafting assistant is left out of the commands"));
    }
    if (input.isFolder()) {
        losses.push_back(said("the folder %1 is this computer's: copy it to the server and write "
                              "its path there",
                              input.request.model));
    }
    addAdapterLosses(input, losses);
    return losses;
}

std::string asCommand(const std::string& begin, const std::vector<Words>& options) {
    std::string text = begin;
    for (const Words& words : options) {
        text += " \\\n    ";
        for (size_t i = 0; i < words.size(); ++i) {
            text += (i == 0 ? "" : " ") + shellWord(words[i]);
        }
    }
    return text + "\n";
}

/// A string of YAML, which is one of JSON, in which compose replaces nothing.
std::string yaml(const std::string& text) {
    std::string doubled;
    for (const char c : text) {
        doubled += c == '$' ? "$$" : std::string(1, c);
    }
    return nlohmann::json(doubled).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct Compose {
    std::string service, image, key; ///< `key`: the variable that holds the server's key.
    Words entry;                     ///< Before the model.
    Words model;                     ///< How the model is named.
    std::string port_inside;
    /// Written without doubling: what compose itself replaces.
    std::vector<std::string> raw_words = {};
};

std::string asCompose(const Input& input, const Compose& form, const std::vector<Words>& options) {
    std::string text = "services:\n  " + form.service + ":\n    image: " + form.image + "\n";
    if (!form.entry.empty()) {
        text += "    entrypoint:\n";
        for (const std::string& word : form.entry) {
            text += "      - " + yaml(word) + "\n";
        }
    }
    text += "    command:\n";
    std::vector<Words> all = {form.model};
    all.insert(all.end(), options.begin(), options.end());
    for (const Words& words : all) {
        for (const std::string& word : words) {
            text += "      - " + yaml(word) + "\n";
        }
    }
    for (const std::string& word : form.raw_words) {
        text += "      - " + word + "\n";
    }
    text += "    environment:\n      " + form.key + ": ${" + form.key + ":?set a key}\n";
    text += "    ports:\n      - \"127.0.0.1:" + std::string(kPort) + ":" + form.port_inside +
            "\"\n    ipc: host\n    volumes:\n";
    if (input.isFolder()) {
        text += "      - " + yaml(input.request.model + ":/model:ro") + "\n";
    }
    for (const auto& [name, folder] : namedAdapters(input)) {
        std::string mount = folder;
        mount += ":/adapters/";
        mount += name;
        mount += ":ro";
        text += "      - " + yaml(mount) + "\n";
    }
    text += "      - models:/root/.cache/huggingface\n";
    text += "    deploy:\n      resources:\n        reservations:\n          devices:\n"
            "            - driver: nvidia\n              count: " +
            std::to_string(input.cards.count) +
            "\n              capabilities: [gpu]\nvolumes:\n  models:\n";
    return text;
}

/// "name=path", on the server or inside of the container.
Words adapterWords(const Input& input, bool is_inside) {
    Words words;
    for (const auto& [name, folder] : namedAdapters(input)) {
        std::string pair = name;
        pair.append("=").append(is_inside ? "/adapters/" + name : folder);
        words.push_back(std::move(pair));
    }
    return words;
}

std::vector<Words> vllmOptions(const Input& input, bool is_inside) {
    std::vector<Words> options = {{"--served-model-name", input.name()},
                                  {"--dtype", "bfloat16"},
                                  {"--tensor-parallel-size", std::to_string(input.numTensor())},
                                  {"--gpu-memory-utilization", "0.90"}};
    if (input.numStages() > 1) {
        options.push_back({"--pipeline-parallel-size", std::to_string(input.numStages())});
    }
    if (input.plan.context > 0) {
        options.push_back({"--max-model-len", std::to_string(input.plan.context)});
    }
    if (!input.adapters.empty()) {
        options.push_back({"--enable-lora", "--max-lora-rank", std::to_string(input.rank())});
        Words modules = {"--lora-modules"};
        for (std::string& word : adapterWords(input, is_inside)) {
            modules.push_back(std::move(word));
        }
        options.push_back(std::move(modules));
        if (input.hasTowerAdapter() && input.cards.count == 1) {
            options.push_back({"--enable-tower-connector-lora"});
        }
    }
    if (!input.request.is_text_only && (input.summary.has_vision || input.summary.has_audio)) {
        options.push_back({"--limit-mm-per-prompt", R"({"image":4,"audio":2})"});
        if (input.request.image_tokens > 0) {
            options.push_back(
                {"--mm-processor-kwargs",
                 R"({"max_soft_tokens":)" + std::to_string(input.request.image_tokens) + "}"});
        }
    }
    options.push_back({"--reasoning-parser", "gemma4"});
    options.push_back({"--enable-auto-tool-choice", "--tool-call-parser", "gemma4"});
    return options;
}

LaunchForm vllmForm(const Input& input) {
    LaunchForm form;
    form.product = "vLLM";
    std::vector<Words> options = vllmOptions(input, false);
    options.push_back({"--host", "127.0.0.1", "--port", kPort});
    // The key stands in the environment: arguments are in the list of processes.
    form.command = "export VLLM_API_KEY=\"$(openssl rand -hex 24)\"\n" +
                   asCommand("vllm serve " + shellWord(input.source()), options);
    form.compose = asCompose(input,
                             {"vllm",
                              "vllm/vllm-openai:v0.33.0",
                              "VLLM_API_KEY",
                              {},
                              {"--model", input.isFolder() ? "/model" : input.source()},
                              kPort},
                             vllmOptions(input, true));
    form.losses = commonLosses(input);
    if (input.hasTowerAdapter()) {
        form.losses.push_back(
            input.cards.count == 1
                ? phrase("an adapter's parts in the towers need an option that vLLM calls "
                         "experimental (--enable-tower-connector-lora)")
                : phrase("an adapter's parts in the towers are not applied on several cards: "
                         "merge the adapter, or take one card"));
    }
    return form;
}

std::vector<Words> sglangOptions(const Input& input, bool is_inside) {
    std::vector<Words> options = {{"--served-model-name", input.name()},
                                  {"--dtype", "bfloat16"},
                                  {"--tp", std::to_string(input.numTensor())},
                                  {"--mem-fraction-static", "0.85"}};
    if (input.numStages() > 1) {
        options.push_back({"--pp-size", std::to_string(input.numStages())});
    }
    if (input.plan.context > 0) {
        options.push_back({"--context-length", std::to_string(input.plan.context)});
    }
    if (!input.adapters.empty()) {
        options.push_back({"--enable-lora", "--max-lora-rank", std::to_string(input.rank())});
        Words paths = {"--lora-paths"};
        for (std::string& word : adapterWords(input, is_inside)) {
            paths.push_back(std::move(word));
        }
        options.push_back(std::move(paths));
    }
    options.push_back({"--reasoning-parser", "gemma4", "--tool-call-parser", "gemma4"});
    return options;
}

LaunchForm sglangForm(const Input& input) {
    LaunchForm form;
    form.product = "SGLang";
    std::vector<Words> options = sglangOptions(input, false);
    options.push_back({"--host", "127.0.0.1", "--port", kPort});
    form.command = "export SGLANG_KEY=\"$(openssl rand -hex 24)\"\n" +
                   asCommand("python -m sglang.launch_server --model-path " +
                                 shellWord(input.source()) + " --api-key \"$SGLANG_KEY\"",
                             options);
    std::vector<Words> inside = sglangOptions(input, true);
    inside.push_back({"--host", "0.0.0.0", "--port", kPort});
    form.compose = asCompose(input,
                             {"sglang",
                              "lmsysorg/sglang:v0.5.23",
                              "SGLANG_KEY",
                              {"python3", "-m", "sglang.launch_server"},
                              {"--model-path", input.isFolder() ? "/model" : input.source()},
                              kPort,
                              {"--api-key", "${SGLANG_KEY:?set a key}"}},
                             inside);
    form.losses = commonLosses(input);
    if (input.hasTowerAdapter()) {
        form.losses.push_back(phrase("an adapter's parts in the towers are not applied: merge the "
                                     "adapter"));
    }
    form.losses.push_back(phrase("SGLang takes its key as an argument, which other users of the "
                                 "server can see in the list of processes"));
    return form;
}

/// merge of belfry-cli, `is_stack`: into one adapter.
std::string mergeCommand(const Input& input, bool is_stack) {
    std::string text = "belfry-cli merge " + shellWord(input.request.model);
    for (const AdapterChoice& adapter : input.adapters) {
        std::array<char, 32> strength{};
        std::snprintf(strength.data(), strength.size(), "=%g", adapter.strength);
        text += " --adapter " +
                shellWord(adapter.folder + (adapter.strength == 1.0 ? "" : strength.data()));
    }
    return text + (is_stack ? " --stack" : "") + " --out " +
           shellWord(input.name() + (is_stack ? "-adapters" : "-merged")) + "\n";
}

} // namespace

std::string shellWord(const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
        return word;
    }
    std::string out = "'";
    for (const char c : word) {
        out += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return out + "'";
}

std::string modelSource(const std::string& folder) {
    constexpr std::string_view kMark = "models--";
    const size_t at = folder.rfind(kMark);
    const size_t end = at == std::string::npos ? at : folder.find("/snapshots/", at);
    if (end == std::string::npos || (at > 0 && folder[at - 1] != '/')) {
        return folder;
    }
    const std::string name = folder.substr(at + kMark.size(), end - at - kMark.size());
    const size_t between = name.find("--");
    return between == std::string::npos ? folder
                                        : name.substr(0, between) + "/" + name.substr(between + 2);
}

engine::ServerLaunch serverLaunch(const engine::LoadRequest& request,
                                  const engine::ModelSummary& summary,
                                  const engine::PlacementPlan& plan,
                                  const engine::ServerCards& cards) {
    Input input{request, summary, plan, cards, {}, cards.count};
    for (const AdapterChoice& adapter : request.adapters) {
        if (adapter.is_enabled && adapter.strength > 0.0) {
            input.adapters.push_back(adapter);
        }
    }
    input.cards.count = chosenCount(input);
    engine::ServerLaunch launch;
    launch.cards = input.cards;
    launch.bytes_each = bytesOnEach(input, input.cards.count);
    launch.forms = {vllmForm(input), sglangForm(input)};
    if (input.needsOneAdapter() || input.hasTowerAdapter()) {
        launch.merge_command = mergeCommand(input, false);
    }
    if (input.needsOneAdapter() && input.isStackable()) {
        launch.stack_command = mergeCommand(input, true);
    }
    return launch;
}

} // namespace remote
