// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/result_table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace gpu {

namespace {

using nlohmann::json;

/// Operations of a picture of 2520 patches and of ten seconds of sound, the same for both shapes.
constexpr double kImageFlops = 1.08e12;
constexpr double kAudioFlops = 0.149e12;

struct Row {
    std::string name, unit;
    double figure = 0.0;
    double ceiling = 0.0; ///< What this card allows, in the same unit; 0 = not known.
    bool is_less_better = false;
    double target = 0.0; ///< At least, or at most where less is better; 0 = nothing is asked.
    std::string target_text = {}; ///< In place of the number.
    std::string share_text = {};  ///< In place of a share of the ceiling.
};

class Table {
public:
    /// Targets are meant for these cards; others get no verdict.
    explicit Table(const std::string& card)
        : has_verdicts_(card.find("H100") != std::string::npos ||
                        card.find("H200") != std::string::npos) {
        std::printf("\n%-68s %10s %-9s %10s %7s  %-18s %s\n", "benchmark", "figure", "", "ceiling",
                    "share", "target", has_verdicts_ ? "" : "(for an H100 or H200)");
    }
    void add(const Row& row) {
        std::string ceiling = "-";
        std::string share = "-";
        if (row.ceiling > 0 && row.figure > 0) {
            ceiling = text(row.ceiling);
            const double of =
                row.is_less_better ? row.ceiling / row.figure : row.figure / row.ceiling;
            share = text(100 * of) + " %";
        }
        share = row.share_text.empty() ? share : row.share_text;
        std::string target;
        std::string verdict;
        if (row.target > 0) {
            const std::string number =
                (row.is_less_better ? "<= " : ">= ") + text(row.target) + " " + row.unit;
            target = row.target_text.empty() ? number : row.target_text;
            const bool is_met =
                row.is_less_better ? row.figure <= row.target : row.figure >= row.target;
            verdict = !has_verdicts_ ? "" : is_met ? "met" : "not met";
            (verdict == "met" ? met_ : not_met_) += has_verdicts_ ? 1 : 0;
        }
        std::printf("%-68s %10s %-9s %10s %7s  %-18s %s\n", row.name.c_str(),
                    text(row.figure).c_str(), row.unit.c_str(), ceiling.c_str(), share.c_str(),
                    target.c_str(), verdict.c_str());
    }
    static void addFailed(const std::string& name) {
        std::printf("%-68s %10s\n", name.c_str(), "FAILED");
    }
    void end() const {
        if (has_verdicts_) {
            std::printf("targets: %d met, %d not met\n", met_, not_met_);
        }
    }

private:
    static std::string text(double value) {
        char out[32];
        std::snprintf(out, sizeof(out), "%.*f", value < 10 ? 2 : value < 1000 ? 1 : 0, value);
        return out;
    }
    bool has_verdicts_;
    int met_ = 0, not_met_ = 0;
};

/// A number of an object, 0 where there is none.
double at(const json& object, const char* key) {
    return object.value(key, 0.0);
}

const json& list(const json& object, const char* key) {
    static const json kNone = json::array();
    const auto it = object.find(key);
    return it == object.end() || !it->is_array() ? kNone : *it;
}

/// The result of the run of this name; an empty one without it.
json resultOf(const json& all, const std::string& name) {
    for (const json& run : list(all, "bench")) {
        if (run.value("name", "") == name && run["result"].is_object()) {
            return run["result"];
        }
    }
    return json::object();
}

/// The rate of the row at a depth; 0 without one.
double decodeAt(const json& result, int depth) {
    for (const json& row : list(result, "decode")) {
        if (row.value("depth", -1) == depth) {
            return at(row, "tokens_per_s");
        }
    }
    return 0.0;
}

void addPrompts(Table& table, const std::string& name, const json& result, double asked) {
    for (const json& row : list(result, "prefill")) {
        const double rate = at(row, "tokens_per_s");
        const double share = at(row, "share_of_peak");
        const int tokens = row.value("tokens", 0);
        table.add({.name = name + ", prompt of " + std::to_string(tokens),
                   .unit = "tokens/s",
                   .figure = rate,
                   .ceiling = share > 0 ? rate / share : 0.0,
                   .target = tokens == 4096 ? asked : 0.0});
    }
}

void addDecode(Table& table, const std::string& name, const json& result, double asked) {
    const double plain = decodeAt(result, 0);
    for (const json& row : list(result, "decode")) {
        const double rate = at(row, "tokens_per_s");
        const double share = at(row, "share_of_read_bandwidth");
        const int depth = row.value("depth", 0);
        Row line{.name = name + ", decode at " + std::to_string(depth),
                 .unit = "tokens/s",
                 .figure = rate,
                 .ceiling = share > 0 ? rate / share : 0.0};
        if (depth == 0) {
            line.target = asked;
        } else if (depth == 32768 && asked > 0 && plain > 0) {
            line.target = 0.75 * plain;
            line.target_text = ">= 75 % of depth 0";
        }
        table.add(line);
    }
}

/// With a random adapter, beside the same run without.
void addAdapter(Table& table, const std::string& name, const json& result, const json& plain) {
    for (const std::string kind : {"decode", "prefill"}) {
        const json& rows = list(result, kind.c_str());
        const json& others = list(plain, kind.c_str());
        for (size_t i = 0; i < rows.size() && i < others.size(); ++i) {
            const double with = at(rows[i], "tokens_per_s");
            const double without = at(others[i], "tokens_per_s");
            const bool is_decode = kind == "decode";
            char less[32];
            std::snprintf(less, sizeof(less), "%+.1f %%",
                          100 * (with / std::max(without, 1e-9) - 1));
            table.add({.name = name + (is_decode ? ", decode at " : ", prompt of ") +
                               std::to_string(rows[i].value(is_decode ? "depth" : "tokens", 0)),
                       .unit = "tokens/s",
                       .figure = with,
                       .target = is_decode ? without / 1.1 : 0.0,
                       .target_text = "<= 10 % slower",
                       .share_text = less});
        }
    }
}

/// From the request to the first token, and the parts of that.
void addMedia(Table& table, const std::string& name, const json& result, bool has_targets) {
    double peak = 0.0;
    for (const json& card : list(result, "cards")) {
        const double of = 1e9 * at(card, "bf16_gflops");
        peak = peak > 0 ? std::min(peak, of) : of;
    }
    for (const std::string medium : {"image", "audio"}) {
        const auto row = result.find(medium);
        if (row == result.end()) {
            continue;
        }
        const double tower = at(*row, "encode_s") - at(*row, "prepare_s");
        const double flops = medium == "audio" ? kAudioFlops : kImageFlops;
        const auto add = [&](const char* what, double seconds, double ceiling, double asked) {
            table.add({.name = name + ", " + medium + ", " + what,
                       .unit = "ms",
                       .figure = 1e3 * seconds,
                       .ceiling = 1e3 * ceiling,
                       .is_less_better = true,
                       .target = has_targets ? asked : 0.0});
        };
        add("request to first token", at(*row, "first_token_s"), 0.0, medium == "image" ? 25 : 20);
        add("of it reading and preparing", at(*row, "prepare_s"), 0.0, 0.0);
        add("of it the tower", tower, peak > 0 ? flops / peak : 0.0, 0.0);
    }
}

void addLoads(Table& table, const json& all) {
    const auto loads = all.find("load");
    if (loads == all.end() || !loads->is_object()) {
        return;
    }
    for (const auto& [shape, result] : loads->items()) {
        const auto best = result.find("best");
        if (best == result.end()) {
            Table::addFailed(shape + " load");
            continue;
        }
        for (const auto& [how, seconds] : best->items()) {
            const bool is_e2b = shape == "e2b";
            table.add({.name = shape + " load " + how + " to first token",
                       .unit = "s",
                       .figure = seconds.get<double>(),
                       .is_less_better = true,
                       .target = is_e2b && how == "from bf16"        ? 2.1
                                 : is_e2b && how == "from the cache" ? 1.0
                                                                     : 0.0});
        }
    }
}

} // namespace

int printTable(const char* file) {
    std::ifstream in(file);
    const auto all = json::parse(in, nullptr, false);
    if (all.is_discarded() || !all.is_object()) {
        std::fprintf(stderr, "%s: not a JSON file of tests/gpu/run\n", file);
        return 1;
    }
    Table table(all.value("card", ""));
    for (const json& run : list(all, "bench")) {
        const std::string name = run.value("name", "");
        const json result = run.value("result", json::object());
        if (!result.is_object() || result.empty()) {
            Table::addFailed(name);
            continue;
        }
        const std::string shape = name.substr(0, name.find(' '));
        if (result.contains("adapter")) {
            addAdapter(table, name, result, resultOf(all, shape + " C"));
            continue;
        }
        const bool is_e2b = shape == "e2b";
        const bool is_on_card = name == shape + " C, table on the card";
        const bool is_in_host = name == shape + " C";
        addPrompts(table, name, result, !is_on_card ? 0.0 : is_e2b ? 100e3 : 40e3);
        addDecode(table, name, result, !is_on_card ? 0.0 : is_e2b ? 800 : 550);
        const double host = decodeAt(result, 0);
        const double on_card = decodeAt(resultOf(all, shape + " C, table on the card"), 0);
        if (is_in_host && host > 0 && on_card > 0) {
            table.add({.name = name + ", slower than with the table on the card",
                       .unit = "%",
                       .figure = 100 * (on_card / host - 1),
                       .is_less_better = true,
                       .target = 3.0});
        }
        addMedia(table, name, result, is_in_host);
        const json memory = result.value("memory", json::object());
        if (memory.contains("cuda:0")) {
            table.add({.name = name + ", memory of the card",
                       .unit = "MiB",
                       .figure = at(memory["cuda:0"], "total") / 1048576.0,
                       .is_less_better = true,
                       .target = name == "e2b C, lean, 4k" ? 2400.0 : 0.0});
        }
    }
    addLoads(table, all);
    table.end();
    return 0;
}

} // namespace gpu
