// SPDX-License-Identifier: Apache-2.0
// Named checks in sections with their outcome, printed as they run and collected for the JSON file.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <set>
#include <string>

namespace gpu {

class CheckList {
public:
    /// Sections to run, empty = all; and of them the checks whose name has `match` in it.
    explicit CheckList(std::set<std::string> wanted, std::string match = "")
        : wanted_(std::move(wanted)), match_(std::move(match)) {}

    [[nodiscard]] bool wants(const std::string& section) const {
        return wanted_.empty() || wanted_.contains(section);
    }
    /// `check` returns what is wrong; empty = passed. `figure` (may be nullptr) is printed beside.
    void run(const std::string& section,
             const std::string& name,
             const std::function<std::string(std::string* figure)>& check) {
        if (name.find(match_) == std::string::npos) {
            return;
        }
        const auto started = std::chrono::steady_clock::now();
        std::string figure;
        const std::string wrong = check(&figure);
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        std::printf("%-5s %-12s %-58s %6.2f s  %s%s\n", wrong.empty() ? "pass" : "FAIL",
                    section.c_str(), name.c_str(), seconds, figure.c_str(),
                    wrong.empty() ? "" : ("\n      " + wrong).c_str());
        std::fflush(stdout);
        (wrong.empty() ? passed_ : failed_) += 1;
        rows_.push_back({{"section", section},
                         {"name", name},
                         {"passed", wrong.empty()},
                         {"seconds", seconds},
                         {"figure", figure},
                         {"wrong", wrong}});
    }
    /// Says what this machine cannot show; neither passed nor failed.
    void leaveOut(const std::string& section, const std::string& what) {
        std::printf("%-5s %-12s %s\n", "-", section.c_str(), what.c_str());
        left_out_.push_back({{"section", section}, {"what", what}});
    }
    [[nodiscard]] int passed() const { return passed_; }
    [[nodiscard]] int failed() const { return failed_; }
    [[nodiscard]] const nlohmann::ordered_json& rows() const { return rows_; }
    [[nodiscard]] const nlohmann::ordered_json& leftOut() const { return left_out_; }

private:
    std::set<std::string> wanted_;
    std::string match_;
    nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
    nlohmann::ordered_json left_out_ = nlohmann::ordered_json::array();
    int passed_ = 0, failed_ = 0;
};

} // namespace gpu
