// SPDX-License-Identifier: Apache-2.0
// Manual pages (section 1) from the grammar.
#include "app/cli/shell_words.h"

#include <algorithm>
#include <cctype>

namespace cli {

namespace {

/// Plain text for troff: no request at a line's start, hyphens that can be copied.
std::string troff(const std::string& text) {
    std::string out = !text.empty() && (text[0] == '.' || text[0] == '\'') ? "\\&" : "";
    for (const char c : text) {
        // A long row of alternatives may be broken behind any of them.
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '|' ? "|\\:" : std::string(1, c);
    }
    return out;
}

std::string heading(const std::string& name, const std::string& description) {
    std::string title = name;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return ".TH " + troff(title) + " 1 \"\" Belfry \"User Commands\"\n.SH NAME\n" + troff(name) +
           " \\- " + troff(description) + "\n";
}

std::string endOf(const std::string& others) {
    return ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage.\n.SH SEE ALSO\n" + others + "\n";
}

std::string reference(const std::string& page) {
    return "\\fB" + troff(page) + "\\fR(1)";
}

std::string overview(const Grammar& grammar) {
    std::string text = heading("belfry-cli", "chat with quantized multimodal models, parts of them "
                                             "placed per device");
    text += ".SH SYNOPSIS\n.B belfry\\-cli\n\\fICOMMAND\\fR ...\n.SH COMMANDS\n";
    std::string others;
    for (const CLI::App* command : grammar.commands()) {
        text += ".TP\n" + reference("belfry-cli-" + command->get_name()) + "\n" +
                troff(command->get_description()) + "\n";
        others += (others.empty() ? "" : ",\n") + reference("belfry-cli-" + command->get_name());
    }
    return text + endOf(others);
}

} // namespace

std::string manualPage(const Grammar& grammar, const std::string& command) {
    if (command.empty()) {
        return overview(grammar);
    }
    const CLI::App* app = grammar.command(command);
    if (app == nullptr) {
        return "";
    }
    std::string text = heading("belfry-cli-" + command, app->get_description());
    text += ".SH SYNOPSIS\n.B belfry\\-cli\n" + troff(grammar.synopsis(*app)) + "\n";
    for (const std::string& group : app->get_groups()) {
        const auto options = app->get_options([&](const CLI::Option* option) {
            return option->get_group() == group && !option->get_positional();
        });
        text += options.empty() ? "" : ".SH \"" + troff(group) + "\"\n";
        for (const CLI::Option* option : options) {
            text += ".TP\n\\fB" + troff(option->get_name()) + "\\fR";
            text += Grammar::takesValue(*option) ? " \\fI" + troff(option->get_type_name()) + "\\fR"
                                                 : "";
            text += "\n" + troff(option->get_description()) + "\n";
        }
    }
    return text + endOf(reference("belfry-cli"));
}

} // namespace cli
