// SPDX-License-Identifier: Apache-2.0
// Names and files of what this program runs on, for reports.
#pragma once

#include "engine/api/computer.h"

#include <string>
#include <vector>

namespace engine {

/// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0", "Windows 10.0.22631"; what is not known is left
/// out.
std::string systemName();
/// As the system calls the processor; empty where it does not say.
std::string processorName();
/// All tables of the processor's kernels that this machine can run, the reference first.
std::vector<std::string> kernelTables();
/// The file that a loaded library lies in, its links followed; empty for what is part of the
/// program itself.
std::string libraryFile(const void* symbol);
/// Architectures that this build has kernels for cards of; empty: none.
std::string cardKernels();

/// The driver's libraries as they are found; those that were loaded say their versions. `is_done`:
/// the driver has been asked, so that what is there may be looked into.
std::vector<MachineLibraryFact> machineLibraries(bool is_done, bool has_driver);

class CardInquiry;
/// The usable cards of a driver that has been asked and answered well; else none.
std::vector<CardFact> cardFacts(CardInquiry& inquiry);

} // namespace engine
