// SPDX-License-Identifier: Apache-2.0
#include "app/cli/grammar.h"

#include "app/cli/word_values.h"
#include "app/common/pasted_path.h"
#include "app/serve/own_names.h"
#include "engine/api/formats.h"
#include "engine/run/engine.h"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace cli {

using engine::Result;

namespace {

/// CLI11's help page with the synopsis of ours.
class HelpPage : public CLI::Formatter {
public:
    explicit HelpPage(std::string synopsis) : synopsis_(std::move(synopsis)) {
        constexpr size_t kOptionColumn = 32;
        column_width(kOptionColumn);
    }
    std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
        return "Usage: belfry-cli " + synopsis_ + "\n";
    }

private:
    std::string synopsis_;
};

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : between) + word;
    }
    return text;
}

/// "70, 140 or 280".
std::string listed(const std::vector<std::string>& words) {
    return joined({words.begin(), words.end() - 1}, ", ") + " or " + words.back();
}

constexpr int64_t kMostTokens = 1 << 24;

} // namespace

Grammar::Grammar(Arguments& out) : out_(out), root_("", "belfry-cli") {
    addBench();
    addChat();
    addCompare();
    addShellCommands();
    addDoctor();
    addGet();
    addInspect();
    addLogits();
    addMerge();
    addModels();
    addPlan();
    addServe();
    addTokenize();
}

CLI::App* Grammar::command(const std::string& name) const {
    for (const auto& [app, line] : synopses_) {
        if (app->get_name() == name) {
            return const_cast<CLI::App*>(app);
        }
    }
    return nullptr;
}

std::vector<CLI::App*> Grammar::commands() const {
    std::vector<CLI::App*> out;
    for (const auto& [app, line] : synopses_) {
        if (!app->get_group().empty()) {
            out.push_back(const_cast<CLI::App*>(app));
        }
    }
    std::sort(out.begin(), out.end(),
              [](const CLI::App* a, const CLI::App* b) { return a->get_name() < b->get_name(); });
    return out;
}

const std::string& Grammar::synopsis(const CLI::App& command) const {
    return synopses_.at(&command);
}

OptionValues Grammar::valuesOf(const CLI::Option& option) const {
    const auto found = values_.find(&option);
    return found == values_.end() ? OptionValues() : found->second;
}

bool Grammar::takesValue(const CLI::Option& option) {
    return option.get_items_expected_min() > 0;
}

CLI::App&
Grammar::add(const std::string& name, const std::string& synopsis, const std::string& description) {
    CLI::App* app = root_.add_subcommand(name, description);
    app->allow_extras(); // told by parseArguments()
    app->set_help_flag("-h,--help", "this page");
    app->get_help_ptr()->group("Options");
    app->formatter(std::make_shared<HelpPage>(synopsis));
    synopses_[app] = synopsis;
    group_ = "Options";
    return *app;
}

CLI::Option* Grammar::value(CLI::App& command,
                            const std::string& name,
                            const std::string& kind,
                            const std::string& text,
                            Reader read) {
    CLI::callback_t callback = [read = std::move(read)](const CLI::results_t& words) {
        const Result<void> outcome = read(words.front());
        if (!outcome.has_value()) {
            throw WrongWord{outcome.error()};
        }
        return true;
    };
    return command.add_option(name, std::move(callback), text)
        ->type_name(kind)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->trigger_on_parse()
        ->group(group_);
}

CLI::Option* Grammar::choice(CLI::App& command,
                             const std::string& name,
                             const std::vector<std::string>& words,
                             const std::string& text,
                             std::string& target) {
    CLI::Option* option = value(
        command, name, joined(words, "|"), text,
        [name, words, &target](const std::string& word) -> Result<void> {
            target = word;
            if (std::find(words.begin(), words.end(), word) == words.end()) {
                return wrongUsage(name + " " + word + ": expected one of " + joined(words, ", "));
            }
            return {};
        });
    values_[option].words = words;
    return option;
}

CLI::Option* Grammar::path(CLI::App& command,
                           const std::string& name,
                           const std::string& kind,
                           const std::string& text,
                           Reader read) {
    CLI::Option* option = value(command, name, kind, text, std::move(read));
    values_[option].is_path = true;
    return option;
}

CLI::Option* Grammar::integer(CLI::App& command,
                              const std::string& name,
                              const std::string& text,
                              int64_t& target,
                              int64_t least,
                              int64_t most) {
    return value(command, name, "N", text,
                 [name, &target, least, most](const std::string& word) -> Result<void> {
                     ENGINE_ASSIGN(target, toInteger(name, word, least, most));
                     return {};
                 });
}

CLI::Option* Grammar::number(CLI::App& command,
                             const std::string& name,
                             const std::string& text,
                             double& target,
                             double least,
                             double most) {
    return value(command, name, "X", text,
                 [name, &target, least, most](const std::string& word) -> Result<void> {
                     ENGINE_ASSIGN(target, toNumber(name, word, least, most));
                     return {};
                 });
}

void Grammar::flag(CLI::App& command,
                   const std::string& name,
                   const std::string& text,
                   bool& target,
                   bool set_to) {
    command
        .add_flag_callback(
            name, [&target, set_to] { target = set_to; }, text)
        ->group(group_);
}

void Grammar::positional(CLI::App& command,
                         const std::string& name,
                         const std::vector<std::string>& words,
                         bool is_path,
                         const std::string& text,
                         std::string& target) {
    CLI::callback_t callback = [&target](const CLI::results_t& found) {
        target = found.front();
        return true;
    };
    CLI::Option* option = command.add_option(name, std::move(callback), text);
    values_[option] = {words, is_path};
}

void Grammar::model(CLI::App& command) {
    positional(command, "MODEL", {"demo"}, true,
               "a folder, a GGUF file, a name that models lists, or demo", out_.model);
}

void Grammar::shape(CLI::App& command) {
    const std::vector<std::string> names = {"e2b", "e4b", "12b", "26b", "31b"};
    CLI::Option* option =
        value(command, "--shape", joined(names, "|"), "random weights of a published size",
              [this, names](const std::string& word) -> Result<void> {
                  if (std::find(names.begin(), names.end(), word) == names.end()) {
                      return wrongUsage("--shape " + word + ": expected " + listed(names));
                  }
                  out_.shape = word;
                  return {};
              });
    values_[option].words = names;
}

void Grammar::addLoadOptions(CLI::App& command) {
    group_ = "Load options";
    CLI::Option* map =
        path(command, "--device-map", "FILE|PRESET",
             "where parts go: " + joined(engine::Engine::mapPresets(), ", ") + ", or a JSON map",
             [this](const std::string& word) -> Result<void> {
                 out_.has_device_map = true;
                 auto text = engine::Engine::readDeviceMap(word, app::pastedPath(word));
                 if (!text.has_value()) {
                     return wrongUsage("--device-map " + text.error().message);
                 }
                 out_.load.device_map = *std::move(text);
                 return {};
             });
    values_[map].words = engine::Engine::mapPresets();
    choice(command, "--quant", engine::quantOptions(), "quantize the weights on load",
           out_.load.quant);
    value(command, "--quant-block", "N", "weights that share a scale, 32 to 4096",
          [this](const std::string& word) -> Result<void> {
              ENGINE_ASSIGN(out_.load.quant_block, toInteger("--quant-block", word, 32, 4096));
              if ((out_.load.quant_block & (out_.load.quant_block - 1)) != 0) {
                  return wrongUsage("--quant-block " + word +
                                    ": expected a power of two from 32 to 4096");
              }
              return {};
          });
    choice(command, "--head", {"auto", "bf16", "int8", "nf4"}, "format of the output head",
           out_.load.head);
    path(command, "--adapter", "DIR|FILE[=STRENGTH]",
         "an adapter: a PEFT folder, a GGUF file, or a name that models lists; repeatable",
         [this](const std::string& word) -> Result<void> {
             engine::AdapterChoice adapter;
             adapter.folder = app::pastedPath(word);
             const auto equals = word.rfind('=');
             std::error_code code;
             if (equals != std::string::npos && !std::filesystem::exists(adapter.folder, code)) {
                 ENGINE_ASSIGN(adapter.strength,
                               toNumber("--adapter", word.substr(equals + 1), 0.0, 2.0));
                 adapter.folder = app::pastedPath(word.substr(0, equals));
             }
             out_.load.adapters.push_back(adapter);
             return {};
         });
    CLI::Option* precision =
        value(command, "--precision", "auto|f32", "f32: the reference's arithmetic, slow",
              [this](const std::string& word) -> Result<void> {
                  if (word != "auto" && word != "f32") {
                      return wrongUsage("--precision " + word + ": expected auto or f32");
                  }
                  out_.load.is_reference_precision = word == "f32";
                  return {};
              });
    values_[precision].words = {"auto", "f32"};
    path(command, "--cache", "DIR", "keep quantized weights there for the next load",
         [this](const std::string& word) -> Result<void> {
             out_.load.cache_folder = app::pastedPath(word, app::PathFor::Writing);
             return {};
         });
    choice(command, "--cpu-kernels",
           {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"},
           "the widest kernels of the processor to compute with", out_.cpu_kernels);
    path(command, "--mmproj", "FILE",
         "towers of a model in a GGUF file; without: the mmproj file beside it whose width fits",
         [this](const std::string& word) -> Result<void> {
             out_.load.projector = app::pastedPath(word);
             return {};
         });
    path(command, "--draft", "DIR|auto|off",
         "drafting assistant; auto: the one beside the model or in the same hub cache, if there is "
         "one",
         [this](const std::string& word) -> Result<void> {
             out_.load.draft = word == "auto" || word == "off" ? word : app::pastedPath(word);
             return {};
         });
    integer(command, "--draft-tokens", "drafts of a round; without: as many as pay",
            out_.load.draft_tokens, 1, 16);
    addLoadSizes(command);
}

void Grammar::addLoadSizes(CLI::App& command) {
    choice(command, "--kv", {"auto", "bf16", "q8"},
           "format of keys and values; q8 takes about half of bf16's memory", out_.load.kv);
    value(command, "--expert-cache", "auto|max|off|SIZE",
          "memory of cards for copies of the experts in demand; auto: max with fit, else off",
          [this](const std::string& word) -> Result<void> {
              if (word != "auto" && word != "max" && word != "off") {
                  ENGINE_TRY(toBytes("--expert-cache", word));
              }
              out_.load.expert_cache = word;
              return {};
          });
    integer(command, "--context", "tokens of context", out_.load.context, 1, kMostTokens);
    value(command, "--limit", "DEVICE=SIZE", "most memory to take there; repeatable",
          [this](const std::string& word) -> Result<void> {
              ENGINE_ASSIGN(auto limit, toLimit("--limit", word));
              out_.load.limits.push_back(std::move(limit));
              return {};
          });
    value(command, "--sim-gpu", "SIZE[,SIZE]", "simulated GPUs of these sizes: sim:0, sim:1, ...",
          [this](const std::string& word) -> Result<void> {
              for (const std::string& piece : pieces(word)) {
                  ENGINE_ASSIGN(const uint64_t bytes, toBytes("--sim-gpu", piece));
                  out_.load.sim_gpus.push_back(bytes);
              }
              return {};
          });
    flag(command, "--text-only",
         "leave the vision and the audio tower out: less memory, no pictures, no sounds",
         out_.load.is_text_only, true);
    flag(command, "--anyway",
         "load although less memory is free than the plan needs: the system may become slow or "
         "end a program; limits of --limit and the map stay",
         out_.load.loads_anyway, true);
    integer(command, "--prefill-chunk", "tokens of a prompt computed at a time",
            out_.load.prefill_chunk, 1, 65536);
    value(command, "--threads", "N", "threads of the processor to use",
          [this](const std::string& word) -> Result<void> {
              ENGINE_ASSIGN(const int64_t threads, toInteger("--threads", word, 1, 1024));
              out_.load.threads = static_cast<int>(threads);
              return {};
          });
    const std::vector<std::string> budgets = {"70", "140", "280", "560", "1120"};
    CLI::Option* tokens =
        value(command, "--image-tokens", joined(budgets, "|"), "soft tokens of a picture",
              [this, budgets](const std::string& word) -> Result<void> {
                  ENGINE_ASSIGN(out_.load.image_tokens, toInteger("--image-tokens", word, 1, 4096));
                  const std::string plain = std::to_string(out_.load.image_tokens);
                  if (std::find(budgets.begin(), budgets.end(), plain) == budgets.end()) {
                      return wrongUsage("--image-tokens " + word + ": expected " + listed(budgets));
                  }
                  return {};
              });
    values_[tokens].words = budgets;
}

void Grammar::addMediaOptions(CLI::App& command) {
    group_ = "Media";
    path(command, "--image", "FILE", "a picture; repeatable",
         [this](const std::string& word) -> Result<void> {
             out_.images.push_back(app::pastedPath(word));
             return {};
         });
    path(command, "--audio", "FILE", "a recording; repeatable",
         [this](const std::string& word) -> Result<void> {
             out_.audios.push_back(app::pastedPath(word));
             return {};
         });
}

void Grammar::addDrawOptions(CLI::App& command) {
    engine::SamplingParameters& sampling = out_.sampling;
    number(command, "--temperature", "0 = greedy", sampling.temperature, 0.0, 100.0);
    // Below zero an engine takes the model's own, so what other programs write for "off" becomes
    // what the engine takes for it.
    value(command, "--top-k", "N", "draw from the N likeliest tokens; 0 or -1 = all",
          [&sampling](const std::string& word) -> Result<void> {
              ENGINE_ASSIGN(const int64_t top_k, toInteger("--top-k", word, -1, kMostTokens));
              sampling.top_k = std::max<int64_t>(top_k, 0);
              return {};
          });
    number(command, "--top-p",
           "draw from the likeliest tokens up to this probability; 0 = the likeliest alone",
           sampling.top_p, 0.0, 1.0);
    number(command, "--min-p", "leave out tokens below this share of the likeliest", sampling.min_p,
           0.0, 1.0);
    value(command, "--repetition-penalty", "X", "1 or 0 = none",
          [&sampling](const std::string& word) -> Result<void> {
              ENGINE_ASSIGN(const double penalty,
                            toNumber("--repetition-penalty", word, 0.0, 100.0));
              sampling.repetition_penalty = penalty == 0.0 ? 1.0 : penalty;
              return {};
          });
    integer(command, "--seed", "the same seed draws the same tokens; -1 = another one each time",
            sampling.seed, -1, (int64_t{1} << 53) - 1);
}

void Grammar::addPromptOption(CLI::App& command) {
    value(command, "--raw-prompt", "TEXT", "exactly this text, without the chat template",
          [this](const std::string& word) -> Result<void> {
              out_.raw_prompt = word;
              return {};
          });
}

void Grammar::addOutOption(CLI::App& command, const std::string& kind, const std::string& text) {
    path(command, "--out", kind, text, [this](const std::string& word) -> Result<void> {
        out_.out = app::pastedPath(word, app::PathFor::Writing);
        return {};
    });
}

void Grammar::addInspect() {
    CLI::App& command =
        add("inspect", "inspect MODEL [--adapter DIR|FILE]... [--effect] [load options]",
            "What is in a model: modules, bytes, towers, adapter coverage.");
    model(command);
    flag(command, "--effect", "load the model and measure what each adapter changes",
         out_.checks_effect);
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
    addLoadOptions(command);
}

void Grammar::addPlan() {
    CLI::App& command = add("plan", "plan (MODEL | --shape NAME) [load options] [--export FORMAT]",
                            "Where everything would go, predicted bytes, errors; allocates "
                            "nothing.");
    model(command);
    shape(command);
    const std::vector<std::string> formats = {"belfry", "accelerate"};
    CLI::Option* option =
        value(command, "--export", joined(formats, "|"), "print the map as text",
              [this, formats](const std::string& word) -> Result<void> {
                  out_.export_as = word;
                  if (std::find(formats.begin(), formats.end(), word) == formats.end()) {
                      return wrongUsage("--export " + word + ": expected " + listed(formats));
                  }
                  return {};
              });
    values_[option].words = formats;
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
    addLoadOptions(command);
}

void Grammar::addChat() {
    CLI::App& command =
        add("chat", "chat (MODEL | --server URL) [options] [--prompt TEXT | --raw-prompt TEXT]",
            "One reply, streamed to stdout; without a prompt: a conversation.");
    model(command);
    value(command, "--prompt", "TEXT", "the question",
          [this](const std::string& word) -> Result<void> {
              out_.prompt = word;
              out_.has_prompt = true;
              return {};
          });
    addPromptOption(command);
    value(command, "--system", "TEXT", "instructions before the conversation",
          [this](const std::string& word) -> Result<void> {
              out_.system = word;
              return {};
          });
    flag(command, "--thinking", "let the model think before it answers", out_.is_thinking);
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
    addMediaOptions(command);
    group_ = "Sampling";
    value(command, "--max-tokens", "N", "length of a reply; 0 or -1 = as the context allows",
          [this](const std::string& word) -> Result<void> {
              ENGINE_ASSIGN(const int64_t most, toInteger("--max-tokens", word, -1, kMostTokens));
              out_.sampling.max_tokens = std::max<int64_t>(most, 0);
              return {};
          });
    flag(command, "--ignore-eos", "go on behind the end of a reply", out_.sampling.ignores_eos);
    addDrawOptions(command);
    addServerOptions(command);
    addLoadOptions(command);
}

void Grammar::addCompare() {
    CLI::App& command =
        add("compare", "compare MODEL [MODEL2] [--quant2 B] [--kv2 C] --text FILE [load options]",
            "What a file or a format costs: how often two agree over a text on the likeliest next "
            "token, their KL divergence and perplexities; load options are for both.");
    model(command);
    positional(command, "MODEL2", {"demo"}, true, "the one to judge; without: MODEL itself",
               out_.second_model);
    choice(command, "--quant2", engine::quantOptions(),
           "quantize the second one so; without: as --quant says", out_.second_quant);
    choice(command, "--kv2", {"auto", "bf16", "q8"},
           "format of the second one's keys and values; without: as --kv says", out_.second_kv);
    integer(command, "--depth", "tokens of a window in front of those that are predicted",
            out_.judged_from, 0, kMostTokens);
    path(command, "--text", "FILE",
         "the text, read in windows of --context tokens (512 without it); the first one's logits "
         "wait in a temporary file, four bytes for each token and word of the vocabulary",
         [this](const std::string& word) -> Result<void> {
             out_.text_file = app::pastedPath(word);
             return {};
         });
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
    addLoadOptions(command);
}

void Grammar::addServerOptions(CLI::App& command) {
    group_ = "Server";
    const auto word = [&](const char* name, const char* kind, const char* text,
                          std::string& target) {
        value(command, name, kind, text, [&target](const std::string& given) -> Result<void> {
            target = given;
            return {};
        });
    };
    word("--server", "URL",
         "ask a server with OpenAI's API (vLLM, SGLang, llama-server, belfry-cli serve) in place "
         "of a model of this computer: what you write is sent there",
         out_.server);
    word("--server-model", "NAME", "the model of its list; without: the only one",
         out_.server_model);
    path(command, "--key-file", "FILE", "the server's key, in a file that only you can read",
         [this](const std::string& given) -> Result<void> {
             out_.key_file = app::pastedPath(given);
             return {};
         });
    word("--key-env", "NAME", "the variable of the environment that holds the key",
         out_.key_variable);
    path(command, "--server-ca", "FILE",
         "an authority of your own that vouches for the server: its certificate, as PEM; the "
         "system's count as well",
         [this](const std::string& given) -> Result<void> {
             out_.server_authority = app::pastedPath(given);
             return {};
         });
}

void Grammar::addLogits() {
    CLI::App& command = add("logits",
                            "logits MODEL (--raw-prompt TEXT | --ids 1,2,3) --last N --out "
                            "FILE.safetensors [options]",
                            "Raw logits of the last tokens of a prompt, as a file.");
    model(command);
    addPromptOption(command);
    value(command, "--ids", "N[,N]", "token ids instead of a text",
          [this](const std::string& word) -> Result<void> {
              ENGINE_ASSIGN(const std::vector<int64_t> ids,
                            toIntegers("--ids", word, 0, INT32_MAX));
              out_.ids.assign(ids.begin(), ids.end());
              return {};
          });
    integer(command, "--last", "how many tokens, from the end", out_.last, 1, kMostTokens);
    addOutOption(command, "FILE.safetensors", "where to write them");
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
    addMediaOptions(command);
    addLoadOptions(command);
}

void Grammar::addTokenize() {
    CLI::App& command = add("tokenize", "tokenize MODEL (--text TEXT | --stdin)",
                            "Token ids of a text, and their spellings.");
    model(command);
    value(command, "--text", "TEXT", "the text", [this](const std::string& word) -> Result<void> {
        out_.text = word;
        out_.has_text = true;
        return {};
    });
    flag(command, "--stdin", "the text is read from standard input", out_.reads_stdin);
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
}

void Grammar::addMerge() {
    CLI::App& command =
        add("merge", "merge MODEL --adapter DIR|FILE[=S]... [--stack] --out DIR [load options]",
            "A model folder in bf16 with adapters merged into it, and what the merge loses; or "
            "one adapter that does what several do.");
    model(command);
    flag(command, "--stack",
         "write one adapter in place of a model: the sum of the given ones at their strengths, for "
         "servers that apply one adapter at full strength",
         out_.is_stack);
    addOutOption(command, "DIR", "the new folder");
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
    addLoadOptions(command);
}

void Grammar::addModels() {
    CLI::App& command =
        add("models", "models [--folder DIR]... [--no-plan] [--delete NAME [--yes]] [--json]",
            "Models and adapters on this computer: where they are, whether they are whole, and "
            "whether they fit.");
    path(command, "--folder", "DIR", "look there as well; repeatable",
         [this](const std::string& word) -> Result<void> {
             out_.folders.push_back(app::pastedPath(word));
             return {};
         });
    path(command, "--add-folder", "DIR", "look there from now on",
         [this](const std::string& word) -> Result<void> {
             out_.added_folder = app::pastedPath(word);
             return {};
         });
    path(command, "--remove-folder", "DIR", "no longer look there; deletes nothing",
         [this](const std::string& word) -> Result<void> {
             out_.removed_folder = app::pastedPath(word);
             return {};
         });
    value(command, "--delete", "NAME", "delete a model or an adapter from the disk",
          [this](const std::string& word) -> Result<void> {
              out_.deleted = app::pastedPath(word);
              return {};
          });
    flag(command, "--yes", "delete without asking", out_.is_agreed);
    flag(command, "--no-plan", "without what this computer makes of them: faster",
         out_.is_unplanned);
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
}

void Grammar::addBench() {
    CLI::App& command =
        add("bench", "bench (MODEL | --shape NAME) [load options] [options]",
            "Load time, rates of prompts and decoding, times of a picture and a sound, and memory, "
            "beside what this machine reaches at most.");
    model(command);
    shape(command);
    const auto numbers = [&](const char* name, const char* text, std::vector<int64_t>& target) {
        value(command, name, "N[,N]", text,
              [name, &target](const std::string& word) -> Result<void> {
                  ENGINE_ASSIGN(target, toIntegers(name, word, 0, 1 << 20));
                  return {};
              });
    };
    numbers("--prefill", "lengths of prompts in tokens; 0 = none", out_.prefill);
    numbers("--depth", "tokens before those that are decoded", out_.depth);
    integer(command, "--decode", "tokens to decode", out_.decode, 0, 1 << 20);
    flag(command, "--no-towers", "without pictures and sounds", out_.has_towers, false);
    flag(command, "--no-ceiling", "without measuring what a card reaches at most", out_.has_ceiling,
         false);
    number(command, "--draft-accept",
           "drafts are accepted with this probability, whatever the model says", out_.draft_accept,
           0.0, 1.0);
    integer(command, "--adapter-rank", "with a random adapter of this rank", out_.adapter_rank, 1,
            1024);
    choice(command, "--adapter-targets", {"projections", "all-linear"},
           "what it is on: q, k, v, o, gate, up and down_proj, or every linear",
           out_.adapter_targets);
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
    group_ =
        "Drawing tokens instead of greedy choice (with --temperature; else the model's, seed 1)";
    addDrawOptions(command);
    addLoadOptions(command);
}

void Grammar::addDoctor() {
    CLI::App& command = add("doctor", "doctor [--json]",
                            "This computer: driver, cards, memory, rates, disk, libraries, and "
                            "what is not used and why.");
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
}

void Grammar::addGet() {
    CLI::App& command = add(
        "get", "get OWNER/NAME[:QUANTIZATION][@REVISION] [--to DIR] [--dry-run] [--all] [--json]",
        "Fetch a model or an adapter from the Hugging Face hub, into the cache that Python's "
        "programs use as well, or from ModelScope into a folder; given again, it goes on where "
        "it ended. Nothing else here uses the network.");
    positional(
        command, "OWNER/NAME", {}, false,
        "as on the model's page, also that page's address; :QUANTIZATION: which GGUF file, such as "
        ":Q4_K_M; @REVISION: branch, tag or commit",
        out_.address);
    path(command, "--to", "DIR", "plain files in this folder instead of the cache",
         [this](const std::string& word) -> Result<void> {
             out_.to = app::pastedPath(word, app::PathFor::Writing);
             return {};
         });
    choice(command, "--source", {"hub", "modelscope"},
           "whose OWNER/NAME it is; modelscope needs --to. Addresses of modelscope.cn say so "
           "themselves",
           out_.source);
    flag(command, "--dry-run",
         "tell files, bytes and, from the remote headers, where the parts would go here; fetch "
         "nothing",
         out_.is_dry_run);
    flag(command, "--all",
         "also files that Belfry does not load (.bin, folders, further quantizations)",
         out_.takes_all);
    integer(command, "--connections", "files fetched at the same time", out_.connections, 1, 16);
    flag(command, "--json", "one JSON object on stdout, nothing else", out_.is_json);
}

void Grammar::addServe() {
    CLI::App& command = add(
        "serve", "serve MODEL [--port N] [--token-file FILE] [load options]",
        "Let other programs use the model, as they use OpenAI's: chat and text completions at "
        "http://127.0.0.1:PORT/v1, for this computer alone, with a token that is printed once.");
    model(command);
    integer(command, "--port", "port to listen at; 0: one that is free", out_.port, 0, 65535);
    const auto text = [&](const char* name, const char* kind, const char* help, auto keep) {
        value(command, name, kind, help, [keep](const std::string& word) -> Result<void> {
            keep(word);
            return {};
        });
    };
    text("--host", "ADDRESS", "listen there, for other computers as well; 0.0.0.0: everywhere",
         [this](const std::string& word) { out_.host = word; });
    path(command, "--token-file", "FILE",
         "tokens that let programs in, one a line; made with a fresh one where it is not there",
         [this](const std::string& word) -> Result<void> {
             out_.token_file = app::pastedPath(word, app::PathFor::Writing);
             return {};
         });
    text("--name", "NAME", "the model's name in requests",
         [this](const std::string& word) { out_.served_name = word; });
    value(command, "--allow-host", "NAME",
          "a name of this computer that requests may use; repeatable",
          [this](const std::string& word) -> Result<void> {
              const Result<std::string> name = serve::allowedHost(word);
              out_.allowed_hosts.push_back(name.has_value() ? *name : word);
              return name.has_value() ? Result<void>() : wrongUsage(name.error().message);
          });
    value(command, "--allow-origin", "ORIGIN",
          "a page that may ask from a browser, such as http://localhost:3000; repeatable",
          [this](const std::string& word) -> Result<void> {
              const Result<std::string> origin = serve::allowedOrigin(word);
              out_.allowed_origins.push_back(origin.has_value() ? *origin : word);
              return origin.has_value() ? Result<void>() : wrongUsage(origin.error().message);
          });
    integer(command, "--queue", "requests that may wait", out_.most_waiting, 1, 1000);
    flag(command, "--engine-process",
         "the engine in a process of its own; on Windows with this option alone, elsewhere without "
         "it",
         out_.wants_process);
    flag(
        command, "--in-process",
        "the engine in this process also where there is a graphics card, whose crash then ends the "
        "server",
        out_.is_in_process);
    flag(command, "--json", "address, token and names as one JSON object on stdout", out_.is_json);
    addLoadOptions(command);
}

void Grammar::addShellCommands() {
    CLI::App& completion = add("completion", "completion bash|zsh|fish",
                               "A script for a shell to complete these commands with.");
    positional(completion, "SHELL", {"bash", "zsh", "fish"}, false, "the shell", out_.topic);
    CLI::App& manual = add("manual", "manual [COMMAND]", "A manual page as troff source.");
    manual.group(""); // for packagers and the build; listed nowhere
    positional(manual, "COMMAND", {}, false, "the command; without one: the overview", out_.topic);
}

} // namespace cli
