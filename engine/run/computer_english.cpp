// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sentence_english.h"
#include "engine/base/sentence_list.h"
#include "engine/run/computer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <variant>

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

Sentence ratesText(double read_bytes_per_s, double flops) {
    const bool is_large = flops >= 1e13;
    return said("reads %1 GB/s, products %2 %3", std::lround(read_bytes_per_s / 1e9),
                std::lround(flops / (is_large ? 1e12 : 1e9)), is_large ? "TFLOP/s" : "GFLOP/s");
}

/// A text that may be missing.
Sentence textOf(const std::string& text) {
    return text.empty() ? Sentence() : asItIs(text);
}

void addCard(const CardFact& card, std::vector<ComputerRow>& rows) {
    const std::string capability =
        std::to_string(card.capability / 10) + "." + std::to_string(card.capability % 10);
    rows.push_back(
        {said("%1", card.id),
         joined({asItIs(card.name), said("compute capability %1", capability),
                 card.multiprocessors > 0 ? said("%1 multiprocessors", card.multiprocessors)
                                          : Sentence(),
                 said("%1", ByteCount{card.total}),
                 card.free.has_value() ? said("%1 free now", ByteCount{*card.free})
                                       : said("does not tell what is free")})});
    if (card.budget.budget > 0) {
        rows.push_back({{},
                        said("the system gives this program %1, it has %2",
                             ByteCount{card.budget.budget}, ByteCount{card.budget.used})});
    }
    if (card.read_bytes_per_s > 0) {
        rows.push_back({{}, said("expected: %1", ratesText(card.read_bytes_per_s, card.flops))});
    }
}

Sentence stateText(const MachineLibraryFact& library) {
    using State = MachineLibraryFact::State;
    switch (library.state) {
    case State::Loaded:
        return phrase("loaded");
    case State::NotFound:
        return phrase("not found");
    case State::NotAsked:
        return phrase("not asked");
    case State::NotUsed:
        return phrase("not used");
    case State::DoesNotStart:
        return said("does not start (answer %1)", library.answer);
    }
    return {};
}

ComputerSection cardsOf(const ComputerFacts& facts) {
    ComputerSection section{phrase("Graphics cards"), {}};
    std::vector<ComputerRow>& rows = section.rows;
    rows.push_back({phrase("kernels"), facts.card_kernels.empty()
                                           ? said("none in this build: no card is used")
                                           : said("for %1", facts.card_kernels)});
    for (const MachineLibraryFact& library : facts.machine_libraries) {
        rows.push_back({asItIs(library.name), joined({textOf(library.file), textOf(library.version),
                                                      stateText(library)})});
    }
    if (facts.is_driver_waited_for) {
        rows.push_back({phrase("driver"),
                        said("has not answered for %1 s", rounded(facts.driver_seconds, 1)), true});
    } else if (facts.is_driver_asked && !facts.machine_libraries.empty() &&
               facts.machine_libraries.front().state != MachineLibraryFact::State::NotFound) {
        rows.push_back({phrase("driver"), said("asked in %1 s", rounded(facts.driver_seconds, 2))});
    }
    for (const CardFact& card : facts.cards) {
        addCard(card, rows);
    }
    for (const CardTrouble& trouble : facts.troubles) {
        const bool is_problem = trouble.isProblem();
        rows.push_back(
            {is_problem ? phrase("problem") : phrase("note"), trouble.words, is_problem});
    }
    return section;
}

/// The sentence with "~" instead of `home` in the paths that it names.
Sentence hidden(Sentence sentence, const std::string& home) {
    for (Argument& argument : sentence.arguments) {
        if (auto* const text = std::get_if<std::string>(&argument.value)) {
            *text = withoutHome(*text, home);
        } else if (auto* const inner = std::get_if<Sentence>(&argument.value)) {
            *inner = hidden(std::move(*inner), home);
        }
    }
    return sentence;
}

ComputerSection foldersOf(const ComputerFacts& facts) {
    ComputerSection section{phrase("Free disk"), {}};
    for (const FolderFact& folder : facts.folders) {
        using Kind = FolderFact::Kind;
        const Sentence room = folder.free.has_value() ? said("%1 of %2", ByteCount{*folder.free},
                                                             ByteCount{folder.total.value_or(0)})
                                                      : said("not known (%1)", folder.problem);
        section.rows.push_back({folder.kind == Kind::Models  ? phrase("models")
                                : folder.kind == Kind::Cache ? phrase("cache")
                                                             : phrase("chats"),
                                joined({room, asItIs(folder.path)}), !folder.free.has_value()});
    }
    return section;
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
    // A folder as short as "/" has nothing to hide.
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

std::vector<ComputerSection> computerSections(const ComputerFacts& facts, const std::string& home) {
    std::string tables;
    for (const std::string& table : facts.kernel_tables) {
        tables += (tables.empty() ? "" : ", ") + table;
    }
    std::vector<ComputerSection> sections = {
        {asItIs(facts.program), {{phrase("system"), asItIs(facts.system)}}},
        {phrase("Processor and memory"),
         {{phrase("processor"),
           joined({textOf(facts.processor), said("%1 threads", facts.threads)})},
          {phrase("kernels"), said("%1 (this machine runs %2)", facts.kernels, tables)},
          {phrase("memory"), joined({said("%1", ByteCount{facts.memory_total}),
                                     said("%1 free now", ByteCount{facts.memory_free})})},
          {phrase("measured"), facts.read_bytes_per_s > 0
                                   ? ratesText(facts.read_bytes_per_s, facts.flops)
                                   : said("not yet: the first plan does")}}},
        cardsOf(facts),
        foldersOf(facts)};
    ComputerSection libraries{phrase("Libraries"), {}};
    for (const LibraryFact& library : facts.libraries) {
        const Sentence version = library.version.empty() ? said("tells no version")
                                 : library.is_told       ? asItIs(library.version)
                                                         : said("%1 (as built)", library.version);
        libraries.rows.push_back(
            {asItIs(library.name),
             joined({version,
                     library.file.empty() ? said("part of the program") : asItIs(library.file)})});
    }
    sections.push_back(std::move(libraries));
    for (ComputerSection& section : sections) {
        for (ComputerRow& row : section.rows) {
            row.value = hidden(std::move(row.value), home);
        }
    }
    return sections;
}

std::string inEnglish(const ComputerFacts& facts, const std::string& home) {
    std::string text;
    for (const ComputerSection& section : computerSections(facts, home)) {
        text += (text.empty() ? "" : "\n") + inEnglish(section.title) + "\n";
        for (const ComputerRow& row : section.rows) {
            text += line(inEnglish(row.name), inEnglish(row.value));
        }
    }
    return text;
}

} // namespace engine
