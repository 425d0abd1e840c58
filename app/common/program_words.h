// SPDX-License-Identifier: Apache-2.0
// The words that a program was started with.
#pragma once

#include <string>
#include <vector>

namespace app {

/// Those behind the program's name, as they came, in UTF-8 on Windows, which gives main() others in
/// the encoding of the computer's language.
std::vector<std::string> programWords(int argc, char** argv);

} // namespace app
