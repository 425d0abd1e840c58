// SPDX-License-Identifier: Apache-2.0
// Completion for three shells: commands, the options of a command, and behind an option its words
// or files. Written from the grammar, so that it cannot be older than the program.
#include "app/cli/shell_words.h"

namespace cli {

namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

/// A text between single quotes, as all three shells read it.
std::string shellQuoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

std::string longName(const CLI::Option& option) {
    return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

std::vector<const CLI::Option*> optionsOf(const CLI::App& command) {
    return command.get_options(
        [](const CLI::Option* option) { return !longName(*option).empty(); });
}

/// The word that is no option: a model, a shell. nullptr where a command takes none.
const CLI::Option* positionalOf(const CLI::App& command) {
    const auto found =
        command.get_options([](const CLI::Option* option) { return option->get_positional(); });
    return found.empty() ? nullptr : found.front();
}

std::string bashCandidates(const OptionValues& values) {
    return "mapfile -t COMPREPLY < <(compgen " + std::string(values.is_path ? "-f " : "") + "-W " +
           shellQuoted(joined(values.words)) + " -- \"$word\")";
}

std::string bashScript(const Grammar& grammar) {
    std::vector<std::string> names;
    std::string behind;
    std::string options;
    for (const CLI::App* command : grammar.commands()) {
        const std::string& name = command->get_name();
        names.push_back(name);
        std::vector<std::string> own;
        for (const CLI::Option* option : optionsOf(*command)) {
            own.push_back("--" + longName(*option));
            if (Grammar::takesValue(*option)) {
                behind += "        '" + name + " " + own.back() + "') " +
                          bashCandidates(grammar.valuesOf(*option)) + "; return ;;\n";
            }
        }
        const CLI::Option* positional = positionalOf(*command);
        options +=
            "        " + name + ") if [[ $word == -* ]]; then " + bashCandidates({own, false}) +
            "; else " +
            bashCandidates(positional == nullptr ? OptionValues() : grammar.valuesOf(*positional)) +
            "; fi ;;\n";
    }
    return "# bash completion of belfry-cli: belfry-cli completion bash\n"
           "_belfry_cli() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        " +
           bashCandidates({names, false}) +
           "; return\n"
           "    fi\n"
           "    case \"${COMP_WORDS[1]} $before\" in\n" +
           behind +
           "    esac\n"
           "    case \"${COMP_WORDS[1]}\" in\n" +
           options +
           "    esac\n"
           "}\n"
           "complete -o filenames -F _belfry_cli belfry-cli\n";
}

/// A text inside [] or between colons of an _arguments line.
std::string zshText(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') {
            out += '\\';
        }
        out += c;
    }
    return out;
}

std::string zshValues(const OptionValues& values) {
    const std::string words = "(" + joined(values.words) + ")";
    if (!values.is_path) {
        return values.words.empty() ? "" : words;
    }
    return values.words.empty()
               ? "_files"
               : "{_alternative \"words:word:" + words + "\" \"files:file:_files\"}";
}

std::string zshScript(const Grammar& grammar) {
    std::string names;
    std::string cases;
    for (const CLI::App* command : grammar.commands()) {
        names += "        " +
                 shellQuoted(command->get_name() + ":" + zshText(command->get_description())) +
                 "\n";
        cases += "        " + command->get_name() + ") _arguments";
        for (const CLI::Option* option : optionsOf(*command)) {
            std::string line =
                "*--" + longName(*option) + "[" + zshText(option->get_description()) + "]";
            if (Grammar::takesValue(*option)) {
                line += ":" + zshText(option->get_type_name()) + ":" +
                        zshValues(grammar.valuesOf(*option));
            }
            cases += " \\\n            " + shellQuoted(line);
        }
        if (const CLI::Option* positional = positionalOf(*command); positional != nullptr) {
            cases += " \\\n            " + shellQuoted("1:" + positional->get_name(true) + ":" +
                                                       zshValues(grammar.valuesOf(*positional)));
        }
        cases += " ;;\n";
    }
    return "#compdef belfry-cli\n"
           "# zsh completion of belfry-cli: belfry-cli completion zsh\n"
           "_belfry_cli() {\n"
           "    local -a commands=(\n" +
           names +
           "    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $words[1] in\n" +
           cases +
           "    esac\n"
           "}\n"
           "if [ \"$funcstack[1]\" = _belfry-cli ]; then\n"
           "    _belfry_cli \"$@\"\n"
           "else\n"
           "    compdef _belfry_cli belfry-cli\n"
           "fi\n";
}

/// What stands behind an option or alone: words, files, both, or anything (-x: no files).
std::string fishValues(const OptionValues& values) {
    std::string text = values.is_path ? " -F" : "";
    if (!values.words.empty()) {
        text += " -a " + shellQuoted(joined(values.words));
    }
    return text;
}

std::string fishScript(const Grammar& grammar) {
    std::string text = "# fish completion of belfry-cli: belfry-cli completion fish\n"
                       "complete -c belfry-cli -f\n";
    for (const CLI::App* command : grammar.commands()) {
        const std::string& name = command->get_name();
        text += "complete -c belfry-cli -n __fish_use_subcommand -a " + name + " -d " +
                shellQuoted(command->get_description()) + "\n";
        const std::string begin =
            "complete -c belfry-cli -n '__fish_seen_subcommand_from " + name + "'";
        for (const CLI::Option* option : optionsOf(*command)) {
            text += begin + " -l " + longName(*option);
            if (Grammar::takesValue(*option)) {
                const OptionValues values = grammar.valuesOf(*option);
                text += std::string(values.is_path ? " -r" : " -x") + fishValues(values);
            }
            text += " -d " + shellQuoted(option->get_description()) + "\n";
        }
        if (const CLI::Option* positional = positionalOf(*command); positional != nullptr) {
            text += begin + fishValues(grammar.valuesOf(*positional)) + "\n";
        }
    }
    return text;
}

} // namespace

std::string completionScript(const Grammar& grammar, const std::string& shell) {
    return shell == "bash"   ? bashScript(grammar)
           : shell == "zsh"  ? zshScript(grammar)
           : shell == "fish" ? fishScript(grammar)
                             : "";
}

} // namespace cli
