// SPDX-License-Identifier: Apache-2.0
// Where the program finds what ships beside it, installed or in a build folder.
#pragma once

#include <string>

namespace app {

/// Folder of the bundled demo model, or empty when it is not there. Looked for beside the program
/// (../share/belfry/demo_model, ./demo_model) and, in a build folder, in the source tree.
std::string demoModelFolder();

/// The folder of the program's file (links followed); empty where the system does not say.
std::string programFolder();

/// The program that runs, as a path to start it once more (UTF-8), whatever has become of its file
/// since; empty where the system does not say.
std::string ownProgram();

} // namespace app
