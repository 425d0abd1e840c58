// SPDX-License-Identifier: Apache-2.0
// doctor: what there is of this computer and what of it is used.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/output.h"
#include "app/common/environment.h"
#include "app/common/version.h"
#include "engine/base/paths.h"
#include "engine/base/sentence_english.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace cli {

using engine::Result;
using nlohmann::ordered_json;

namespace {

template <typename T>
ordered_json orNull(const std::optional<T>& value) {
    return value.has_value() ? ordered_json(*value) : ordered_json(nullptr);
}

const char* kindName(engine::FolderFact::Kind kind) {
    switch (kind) {
    case engine::FolderFact::Kind::Models:
        return "models";
    case engine::FolderFact::Kind::Cache:
        return "cache";
    case engine::FolderFact::Kind::Chats:
        return "chats";
    }
    return "";
}

const char* stateName(engine::MachineLibraryFact::State state) {
    using State = engine::MachineLibraryFact::State;
    switch (state) {
    case State::Loaded:
        return "loaded";
    case State::NotFound:
        return "not_found";
    case State::NotAsked:
        return "not_asked";
    case State::NotUsed:
        return "not_used";
    case State::DoesNotStart:
        return "does_not_start";
    }
    return "";
}

ordered_json cardsJson(const engine::ComputerFacts& facts) {
    ordered_json cards = ordered_json::array();
    for (const engine::CardFact& card : facts.cards) {
        ordered_json one = {{"id", card.id.toString()},
                            {"name", card.name},
                            {"compute_capability", card.capability},
                            {"total", card.total},
                            {"free", orNull(card.free)},
                            {"expected_read_bytes_per_s", card.read_bytes_per_s},
                            {"expected_flops", card.flops}};
        if (card.budget.budget > 0) {
            one["system_budget"] = card.budget.budget;
            one["system_used"] = card.budget.used;
        }
        cards.push_back(std::move(one));
    }
    return cards;
}

ordered_json factsJson(const engine::ComputerFacts& facts, const std::string& home) {
    ordered_json out = {
        {"program", facts.program},
        {"system", facts.system},
        {"processor", facts.processor},
        {"threads", facts.threads},
        {"kernels", facts.kernels},
        {"kernel_tables", facts.kernel_tables},
        {"memory", {{"total", facts.memory_total}, {"free", facts.memory_free}}},
        {"measured", {{"read_bytes_per_s", facts.read_bytes_per_s}, {"flops", facts.flops}}},
        {"card_kernels", facts.card_kernels},
        {"driver_seconds", facts.driver_seconds},
        {"cards", cardsJson(facts)}};
    ordered_json& machine = out["machine_libraries"] = ordered_json::array();
    for (const engine::MachineLibraryFact& library : facts.machine_libraries) {
        machine.push_back({{"name", library.name},
                           {"file", engine::withoutHome(library.file, home)},
                           {"state", stateName(library.state)},
                           {"version", library.version}});
    }
    ordered_json& troubles = out["troubles"] = ordered_json::array();
    for (const engine::CardTrouble& trouble : facts.troubles) {
        troubles.push_back(
            {{"problem", trouble.isProblem()},
             {"message", engine::withoutHome(engine::inEnglish(trouble.words), home)}});
    }
    ordered_json& folders = out["folders"] = ordered_json::array();
    for (const engine::FolderFact& folder : facts.folders) {
        folders.push_back({{"for", kindName(folder.kind)},
                           {"path", engine::withoutHome(folder.path, home)},
                           {"free", orNull(folder.free)},
                           {"total", orNull(folder.total)},
                           {"problem", folder.problem}});
    }
    ordered_json& libraries = out["libraries"] = ordered_json::array();
    for (const engine::LibraryFact& library : facts.libraries) {
        libraries.push_back({{"name", library.name},
                             {"version", library.version},
                             {"told_at_run_time", library.is_told},
                             {"file", engine::withoutHome(library.file, home)}});
    }
    return out;
}

} // namespace

Result<void> runDoctor(const std::shared_ptr<engine::CardInquiry>& inquiry,
                       const Arguments& arguments) {
    using Kind = engine::FolderFact::Kind;
    engine::ComputerQuestion question;
    question.program = app::versionLine();
    question.inquiry = inquiry;
    question.rates_file = app::ratesFile();
    question.measures = true;
    for (const std::filesystem::path& cache : app::hubCaches()) {
        question.folders.emplace_back(Kind::Models, engine::utf8Of(cache));
    }
    if (!question.rates_file.empty()) {
        question.folders.emplace_back(
            Kind::Cache, engine::utf8Of(engine::pathFromUtf8(question.rates_file).parent_path()));
    }
    if (const std::string chats = app::chatsFolder(); !chats.empty()) {
        question.folders.emplace_back(Kind::Chats, chats);
    }
    question.libraries = {{"CLI11", CLI11_VERSION, false, nullptr}};
    (void)inquiry->driver(); // somebody looks at the answer: it is waited for
    const engine::ComputerFacts facts = engine::examineComputer(question);
    const std::string home = engine::utf8Of(app::homeFolder());
    if (arguments.is_json) {
        printJson(factsJson(facts, home));
    } else {
        std::cout << engine::inEnglish(facts, home);
    }
    return {};
}

} // namespace cli
