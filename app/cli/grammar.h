// SPDX-License-Identifier: Apache-2.0
// The commands and options of belfry-cli, defined once: parsing, --help, shell completion and man
// pages all read this. CLI11 keeps the definitions and takes words apart; what is wrong with a word
// is told in our own sentences.
#pragma once

#include "app/cli/arguments.h"
#include "engine/base/result.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cli {

/// Thrown out of CLI11 by what reads a value; ends in parseArguments().
struct WrongWord {
    engine::Error error;
};

/// What may stand behind an option, for completion.
struct OptionValues {
    std::vector<std::string> words;
    bool is_path = false; ///< Also (or only) a file or a folder.
};

class Grammar {
public:
    /// Words that are parsed go into `out`, which must outlive this.
    explicit Grammar(Arguments& out);
    Grammar(const Grammar&) = delete;
    Grammar& operator=(const Grammar&) = delete;

    /// nullptr where there is none of this name.
    [[nodiscard]] CLI::App* command(const std::string& name) const;
    /// In the order of their names; those only that people call.
    [[nodiscard]] std::vector<CLI::App*> commands() const;
    /// The line behind "belfry-cli ": "plan MODEL [load options]".
    [[nodiscard]] const std::string& synopsis(const CLI::App& command) const;
    [[nodiscard]] OptionValues valuesOf(const CLI::Option& option) const;
    [[nodiscard]] static bool takesValue(const CLI::Option& option);

private:
    using Reader = std::function<engine::Result<void>(const std::string& word)>;

    CLI::App&
    add(const std::string& name, const std::string& synopsis, const std::string& description);
    /// An option with one value behind it; given again, the last one counts unless `read` collects.
    CLI::Option* value(CLI::App& command,
                       const std::string& name,
                       const std::string& kind,
                       const std::string& text,
                       Reader read);
    CLI::Option* choice(CLI::App& command,
                        const std::string& name,
                        const std::vector<std::string>& words,
                        const std::string& text,
                        std::string& target);
    CLI::Option* path(CLI::App& command,
                      const std::string& name,
                      const std::string& kind,
                      const std::string& text,
                      Reader read);
    CLI::Option* integer(CLI::App& command,
                         const std::string& name,
                         const std::string& text,
                         int64_t& target,
                         int64_t least,
                         int64_t most);
    CLI::Option* number(CLI::App& command,
                        const std::string& name,
                        const std::string& text,
                        double& target,
                        double least,
                        double most);
    void flag(CLI::App& command,
              const std::string& name,
              const std::string& text,
              bool& target,
              bool set_to = true);
    void positional(CLI::App& command,
                    const std::string& name,
                    const std::vector<std::string>& words,
                    bool is_path,
                    const std::string& text,
                    std::string& target);
    void model(CLI::App& command);
    void shape(CLI::App& command); ///< --shape, in place of a model.

    void addLoadOptions(CLI::App& command);
    void addLoadSizes(CLI::App& command);
    void addMediaOptions(CLI::App& command);
    void addServerOptions(CLI::App& command);
    void addDrawOptions(CLI::App& command);
    void addPromptOption(CLI::App& command);
    void addOutOption(CLI::App& command, const std::string& kind, const std::string& text);
    void addInspect();
    void addPlan();
    void addChat();
    void addCompare();
    void addLogits();
    void addTokenize();
    void addMerge();
    void addModels();
    void addBench();
    void addDoctor();
    void addGet();
    void addServe();
    void addShellCommands();

    Arguments& out_;
    CLI::App root_;
    std::string group_ = "options"; ///< Heading that the next options stand under.
    std::map<const CLI::App*, std::string> synopses_;
    std::map<const CLI::Option*, OptionValues> values_;
};

} // namespace cli
