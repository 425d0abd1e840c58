// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_english.h"
#include "engine/plan/planner.h"
#include "engine/run/computer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace engine {

namespace {

/// "name:      value" with all values below each other.
std::string line(const std::string& name, const std::string& value) {
    constexpr size_t kColumn = 20;
    const std::string label = name + ":";
    return "  " + label + std::string(label.size() < kColumn ? kColumn - label.size() : 1, ' ') +
           value + "\n";
}

std::string rounded(double value, int digits) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::string ratesText(double read_bytes_per_s, double flops) {
    return "reads " + std::to_string(std::lround(read_bytes_per_s / 1e9)) + " GB/s, products " +
           (flops >= 1e13 ? rounded(flops / 1e12, 0) + " TFLOP/s"
                          : rounded(flops / 1e9, 0) + " GFLOP/s");
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

std::string cardText(const CardFact& card) {
    std::string text = card.name + ", compute capability " + std::to_string(card.capability / 10) +
                       "." + std::to_string(card.capability % 10);
    if (card.multiprocessors > 0) {
        text += ", " + std::to_string(card.multiprocessors) + " multiprocessors";
    }
    text += ", " + formatByteCount(card.total);
    text += card.free.has_value() ? ", " + formatByteCount(*card.free) + " free now"
                                  : ", does not tell what is free";
    text += "\n";
    std::string more;
    if (card.budget.budget > 0) {
        more += line("", "the system gives this program " + formatByteCount(card.budget.budget) +
                             ", it has " + formatByteCount(card.budget.used));
    }
    if (card.read_bytes_per_s > 0) {
        more += line("", "expected: " + ratesText(card.read_bytes_per_s, card.flops));
    }
    return text + more;
}

std::string stateText(const MachineLibraryFact& library) {
    using State = MachineLibraryFact::State;
    switch (library.state) {
    case State::Loaded:
        return "loaded";
    case State::NotFound:
        return "not found";
    case State::NotAsked:
        return "not asked";
    case State::NotUsed:
        return "not used";
    case State::DoesNotStart:
        return "does not start (answer " + std::to_string(library.answer) + ")";
    }
    return {};
}

std::string cardsText(const ComputerFacts& facts, const std::string& home) {
    std::string text = "Graphics cards\n";
    text += line("kernels", facts.card_kernels.empty() ? "none in this build: no card is used"
                                                       : "for " + facts.card_kernels);
    for (const MachineLibraryFact& library : facts.machine_libraries) {
        std::string value = library.file.empty() ? "" : withoutHome(library.file, home) + ", ";
        value += library.version.empty() ? "" : library.version + ", ";
        text += line(library.name, value + stateText(library));
    }
    if (facts.is_driver_waited_for) {
        text += line("driver", "has not answered for " + rounded(facts.driver_seconds, 1) + " s");
    } else if (facts.is_driver_asked && !facts.machine_libraries.empty() &&
               facts.machine_libraries.front().state != MachineLibraryFact::State::NotFound) {
        text += line("driver", "asked in " + rounded(facts.driver_seconds, 2) + " s");
    }
    for (const CardFact& card : facts.cards) {
        std::string one = line(card.id.toString(), cardText(card));
        one.pop_back(); // the text ends its last line itself
        text += one;
    }
    for (const CardTrouble& trouble : facts.troubles) {
        text += line(trouble.isProblem() ? "problem" : "note", withoutHome(trouble.sentence, home));
    }
    return text;
}

const char* folderName(FolderFact::Kind kind) {
    switch (kind) {
    case FolderFact::Kind::Models:
        return "models";
    case FolderFact::Kind::Cache:
        return "cache";
    case FolderFact::Kind::Chats:
        return "chats";
    }
    return "";
}

} // namespace

std::string withoutHome(const std::string& path, const std::string& home) {
    // Windows' names of folders are the same with either separator, and in capitals.
    const bool is_drive = home.size() > 1 && (home[1] == ':' || home.starts_with("\\\\"));
    const auto plain = [is_drive](char c) {
        if (!is_drive) {
            return c;
        }
        return c == '\\' ? '/' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    std::string text = path;
    // Of a folder as short as "/" nothing is to be hidden.
    for (size_t at = 0; home.size() >= 2 && at + home.size() <= text.size(); ++at) {
        const size_t end = at + home.size();
        if ((end == text.size() || text[end] == '/' || text[end] == '\\') &&
            std::equal(home.begin(), home.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                       [&](char a, char b) { return plain(a) == plain(b); })) {
            text.replace(at, home.size(), "~");
        }
    }
    return text;
}

std::string inEnglish(const ComputerFacts& facts, const std::string& home) {
    std::string text = facts.program + "\n";
    text += line("system", facts.system);
    text += "\nProcessor and memory\n";
    text += line("processor", (facts.processor.empty() ? "" : facts.processor + ", ") +
                                  std::to_string(facts.threads) + " threads");
    text +=
        line("kernels", facts.kernels + " (this machine runs " + joined(facts.kernel_tables) + ")");
    text += line("memory", formatByteCount(facts.memory_total) + ", " +
                               formatByteCount(facts.memory_free) + " free now");
    text +=
        line("measured", facts.read_bytes_per_s > 0 ? ratesText(facts.read_bytes_per_s, facts.flops)
                                                    : "not yet: the first plan does");
    text += "\n" + cardsText(facts, home);
    text += "\nFree disk\n";
    for (const FolderFact& folder : facts.folders) {
        text += line(folderName(folder.kind),
                     (folder.free.has_value() ? formatByteCount(*folder.free) + " of " +
                                                    formatByteCount(folder.total.value_or(0))
                                              : "not known (" + folder.problem + ")") +
                         ", " + withoutHome(folder.path, home));
    }
    text += "\nLibraries\n";
    for (const LibraryFact& library : facts.libraries) {
        std::string value = library.version.empty() ? "tells no version" : library.version;
        value += library.is_told || library.version.empty() ? "" : " (as built)";
        value +=
            library.file.empty() ? ", part of the program" : ", " + withoutHome(library.file, home);
        text += line(library.name, value);
    }
    return text;
}

} // namespace engine
