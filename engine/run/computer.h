// SPDX-License-Identifier: Apache-2.0
// Collects what there is of this computer (engine/api/computer.h), and words it in English for
// terminals and reports.
#pragma once

#include "engine/api/computer.h"
#include "engine/devices/card_inquiry.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// A library of the program around the engine.
struct ProgramLibrary {
    std::string name, version;
    bool is_told = true;          ///< As LibraryFact.
    const void* symbol = nullptr; ///< One of its functions; nullptr: it is compiled in.
};

struct ComputerQuestion {
    std::string program; ///< "Belfry 0.1.0"
    /// How the driver is asked; nullptr: not at all. It is not waited for.
    std::shared_ptr<CardInquiry> inquiry;
    std::string rates_file; ///< As in EngineOptions.
    bool measures = false;  ///< Rates that are not known yet are measured, about 0.7 s.
    std::vector<std::pair<FolderFact::Kind, std::string>> folders;
    std::vector<ProgramLibrary> libraries;
};

/// Any thread; some milliseconds, with a driver some more.
ComputerFacts examineComputer(const ComputerQuestion& question);

/// What the window and the terminal tell. Paths below `home` begin with "~".
std::vector<ComputerSection> computerSections(const ComputerFacts& facts, const std::string& home);
/// The same as lines of plain text.
std::string inEnglish(const ComputerFacts& facts, const std::string& home);

/// `path` with "~" instead of `home`, where it lies there.
std::string withoutHome(const std::string& path, const std::string& home);

} // namespace engine
