// SPDX-License-Identifier: Apache-2.0
#include "app/cli/models_output.h"

#include "app/cli/output.h"
#include "engine/base/paths.h"
#include "engine/base/sentence_english.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

namespace cli {

using models::Entry;
using models::Kind;
using nlohmann::ordered_json;

namespace {

using Row = std::vector<std::string>;

/// Characters that stand beside each other; near enough for names.
size_t widthOf(const std::string& text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<uint8_t>(c) & 0xc0U) != 0x80U;
    }));
}

std::string dateText(int64_t seconds) {
    if (seconds <= 0) {
        return "";
    }
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
#ifdef _WIN32
    localtime_s(&parts, &time);
#else
    localtime_r(&time, &parts);
#endif
    std::array<char, 16> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
    return text.data();
}

/// "5.1 B": in thousands of millions.
std::string parametersText(int64_t parameters) {
    if (parameters <= 0) {
        return "";
    }
    constexpr double kMillion = 1e6;
    const auto value = static_cast<double>(parameters);
    std::array<char, 32> text{};
    if (value >= 1000 * kMillion) {
        std::snprintf(text.data(), text.size(), "%.1f B", value / (1000 * kMillion));
    } else {
        std::snprintf(text.data(), text.size(), "%.1f M", value / kMillion);
    }
    return text.data();
}

std::string nameText(const Entry& entry) {
    const std::string revision = entry.revisionShown();
    return entry.name + (revision.empty() ? "" : " (" + revision + ")");
}

std::string fitText(const Entry& entry) {
    switch (entry.fit) {
    case models::Fit::Fits:
        return "fits";
    case models::Fit::FitsWithChange:
        return "fits with " + entry.change;
    case models::Fit::DoesNotFit:
        return "does not fit";
    case models::Fit::Unknown:
        break;
    }
    return "";
}

Row rowOf(const Entry& entry, const std::string& indent) {
    const bool is_adapter = entry.kind == Kind::Adapter;
    return {indent + nameText(entry),
            byteText(entry.bytes),
            is_adapter ? (entry.rank > 0 ? "rank " + std::to_string(entry.rank) : "")
                       : parametersText(entry.parameters),
            is_adapter ? "adapter" : entry.precision,
            dateText(entry.modified),
            fitText(entry),
            engine::utf8Of(entry.path)};
}

std::string tableText(const std::vector<Row>& rows) {
    std::vector<size_t> widths;
    for (const Row& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], widthOf(row[i]));
        }
    }
    std::string text;
    for (const Row& row : rows) {
        std::string line;
        for (size_t i = 0; i < row.size(); ++i) {
            line += row[i] + std::string(widths[i] - widthOf(row[i]) + 2, ' ');
        }
        line.resize(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string troubleText(const Entry& entry) {
    std::string text = nameText(entry) + "  " + byteText(entry.bytes) + "\n    " +
                       engine::utf8Of(entry.path) + "\n";
    if (entry.trouble.has_value()) {
        text += "    " + engine::inEnglish(entry.trouble->sentence) + "\n";
        if (!entry.trouble->way_out.isEmpty()) {
            text += "    -> " + engine::inEnglish(entry.trouble->way_out) + "\n";
        }
    }
    return text;
}

ordered_json entryJson(const Entry& entry) {
    ordered_json out = {{"kind", entry.kind == Kind::Adapter ? "adapter" : "model"},
                        {"name", entry.name},
                        {"path", engine::utf8Of(entry.path)},
                        {"place", models::placeName(entry.root.place)},
                        {"commit", entry.commit},
                        {"refs", entry.refs},
                        {"form", models::formName(entry.form)},
                        {"family", entry.family},
                        {"variant", entry.variant},
                        {"precision", entry.precision},
                        {"parameters", entry.parameters},
                        {"bytes", entry.bytes},
                        {"modified", entry.modified},
                        {"state", models::stateName(entry.state)},
                        {"missing", entry.missing}};
    if (entry.kind == Kind::Adapter) {
        out["base"] = entry.base;
        out["rank"] = entry.rank;
    } else {
        out["fit"] = models::fitName(entry.fit);
        out["change"] = entry.change;
        out["needs_bytes"] = entry.needs_bytes;
    }
    if (!entry.notes.empty()) {
        out["notes"] = engine::inEnglish(entry.notes);
    }
    if (entry.trouble.has_value()) {
        out["trouble"] = {{"reason", models::reasonName(entry.trouble->reason)},
                          {"sentence", engine::inEnglish(entry.trouble->sentence)},
                          {"way_out", engine::inEnglish(entry.trouble->way_out)}};
    }
    return out;
}

} // namespace

std::string modelsText(const models::ScanResult& found) {
    std::vector<Row> rows = {
        {"model", "size", "parameters", "precision", "date", "this computer", "place"}};
    std::string unusable;
    std::string notes;
    const auto add = [&](int index, const std::string& indent) {
        const Entry& entry = found.entries[static_cast<size_t>(index)];
        if (entry.state == models::State::Usable) {
            rows.push_back(rowOf(entry, indent));
            for (const std::string& note : engine::inEnglish(entry.notes)) {
                notes += "note: " + nameText(entry) + ": " + note + "\n";
            }
        } else {
            unusable += troubleText(entry);
        }
    };
    for (const models::Group& group : models::groupByBase(found.entries)) {
        if (group.model >= 0) {
            add(group.model, "");
        } else {
            rows.push_back({"(adapters whose model is not here)"});
        }
        for (const int adapter : group.adapters) {
            add(adapter, "  ");
        }
    }
    std::string text = rows.size() > 1 ? tableText(rows) : "";
    if (!unusable.empty()) {
        text +=
            (text.empty() ? "" : "\n") + std::string("Cannot be used as they are:\n") + unusable;
    }
    if (found.entries.empty()) {
        text = "No models were found. Get one with: belfry-cli get google/gemma-4-E2B-it\n"
               "or tell where yours are: belfry-cli models --add-folder DIR\n";
    }
    text += notes;
    for (const models::RootReport& report : found.roots) {
        const bool is_named = report.root.place == models::Place::UserFolder;
        const bool is_told = report.outcome != models::RootReport::Outcome::Done &&
                             (report.outcome != models::RootReport::Outcome::Missing || is_named);
        text += is_told ? "note: " + engine::inEnglish(report.sentence) + "\n" : "";
    }
    return text;
}

ordered_json modelsJson(const models::ScanResult& found) {
    ordered_json models = ordered_json::array();
    ordered_json homeless = ordered_json::array();
    for (const models::Group& group : models::groupByBase(found.entries)) {
        ordered_json adapters = ordered_json::array();
        for (const int adapter : group.adapters) {
            adapters.push_back(entryJson(found.entries[static_cast<size_t>(adapter)]));
        }
        if (group.model < 0) {
            homeless = std::move(adapters);
            continue;
        }
        ordered_json model = entryJson(found.entries[static_cast<size_t>(group.model)]);
        model["adapters"] = std::move(adapters);
        models.push_back(std::move(model));
    }
    ordered_json roots = ordered_json::array();
    for (const models::RootReport& report : found.roots) {
        roots.push_back({{"place", models::placeName(report.root.place)},
                         {"folder", engine::utf8Of(report.root.folder)},
                         {"outcome", models::outcomeName(report.outcome)},
                         {"sentence", engine::inEnglish(report.sentence)}});
    }
    return {{"models", std::move(models)},
            {"adapters_without_model", std::move(homeless)},
            {"roots", std::move(roots)}};
}

std::string removalText(const models::Removal& removal) {
    std::string text =
        removal.name + ": " + std::to_string(removal.paths.size()) + " entries, " +
        byteText(removal.bytes) + " would be deleted in " +
        engine::utf8Of(removal.paths.empty() ? removal.root : removal.paths.back().parent_path()) +
        "\n";
    if (removal.is_shared) {
        text += "Programs that use the same cache (transformers, vLLM, ...) lose it as well.\n";
    }
    if (!removal.kept.empty()) {
        text += "What else lies there stays:";
        constexpr size_t kMostNamed = 5;
        for (size_t i = 0; i < removal.kept.size() && i < kMostNamed; ++i) {
            text += " " + removal.kept[i];
        }
        text += removal.kept.size() > kMostNamed ? " ...\n" : "\n";
    }
    return text;
}

} // namespace cli
