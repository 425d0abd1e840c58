// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/result_table.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <string>

namespace gpu {

int printTable(const char* file) {
    std::ifstream in(file);
    const auto all = nlohmann::json::parse(in, nullptr, false);
    if (all.is_discarded()) {
        std::fprintf(stderr, "%s: not a JSON file of tests/gpu/run\n", file);
        return 1;
    }
    std::printf("\n%-44s %10s %12s %10s\n", "benchmark", "figure", "", "card MiB");
    for (const auto& run : all.value("bench", nlohmann::json::array())) {
        const std::string name = run.value("name", "");
        const auto result = run.value("result", nlohmann::json::object());
        if (!result.is_object() || result.empty()) {
            std::printf("%-44s %10s\n", name.c_str(), "FAILED");
            continue;
        }
        double card = 0.0;
        const auto memory = result.value("memory", nlohmann::json::object());
        if (memory.contains("cuda:0")) {
            card = memory["cuda:0"].value("total", 0.0) / 1048576.0;
        }
        for (const auto& row : result.value("prefill", nlohmann::json::array())) {
            std::printf("%-44s %10.0f %12s %10.0f\n",
                        (name + ", prefill " + std::to_string(row.value("tokens", 0))).c_str(),
                        row.value("tokens_per_s", 0.0), "tokens/s", card);
        }
        for (const auto& row : result.value("decode", nlohmann::json::array())) {
            std::printf("%-44s %10.1f %12s %10.0f\n",
                        (name + ", decode at " + std::to_string(row.value("depth", 0))).c_str(),
                        row.value("tokens_per_s", 0.0), "tokens/s", card);
        }
        for (const char* tower : {"image", "audio"}) {
            if (result.contains(tower)) {
                std::printf("%-44s %10.1f %12s %10.0f\n", (name + ", " + tower).c_str(),
                            1e3 * result[tower].value("seconds", 0.0), "ms", card);
            }
        }
        std::printf("%-44s %10.2f %12s %10.0f\n", (name + ", load").c_str(),
                    result.value("load_s", 0.0), "s", card);
    }
    return 0;
}

} // namespace gpu
