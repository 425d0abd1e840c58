// SPDX-License-Identifier: Apache-2.0
// The grammar written out for other programs: shell completion and manual pages.
#pragma once

#include "app/cli/grammar.h"

#include <string>

namespace cli {

/// A script for "bash", "zsh" or "fish"; empty for other shells.
std::string completionScript(const Grammar& grammar, const std::string& shell);

/// A page of section 1 as troff source: of one command, or of the program for "". Empty where there
/// is no such command.
std::string manualPage(const Grammar& grammar, const std::string& command);

} // namespace cli
