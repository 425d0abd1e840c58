// SPDX-License-Identifier: Apache-2.0
// Names of places: cuda:N, sim:N (a simulated GPU), cpu, disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

struct DeviceId {
    enum class Kind : uint8_t { Cpu = 1, Disk, Cuda, Sim };
    Kind kind = Kind::Cpu;
    int index = 0; ///< 0 for cpu and disk.

    friend bool operator==(const DeviceId&, const DeviceId&) = default;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm on the generated comparison
    friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
    [[nodiscard]] bool isGpu() const { return kind == Kind::Cuda || kind == Kind::Sim; }

    static DeviceId cpu() { return {Kind::Cpu, 0}; }
    static DeviceId disk() { return {Kind::Disk, 0}; }
    static DeviceId cuda(int index) { return {Kind::Cuda, index}; }
    static DeviceId sim(int index) { return {Kind::Sim, index}; }

    [[nodiscard]] std::string toString() const {
        switch (kind) {
        case Kind::Cpu:
            return "cpu";
        case Kind::Disk:
            return "disk";
        case Kind::Cuda:
            return "cuda:" + std::to_string(index);
        case Kind::Sim:
            return "sim:" + std::to_string(index);
        }
        return "cpu";
    }

    /// "cpu", "disk", "cuda:0" to "cuda:63", "sim:0" to "sim:63"; anything else is nullopt.
    static std::optional<DeviceId> parse(std::string_view text) {
        if (text == "cpu") {
            return cpu();
        }
        if (text == "disk") {
            return disk();
        }
        const auto colon = text.find(':');
        if (colon == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view kind = text.substr(0, colon);
        const std::string_view digits = text.substr(colon + 1);
        if ((kind != "cuda" && kind != "sim") || digits.empty() || digits.size() > 2 ||
            (digits.size() == 2 && digits[0] == '0')) {
            return std::nullopt;
        }
        int index = 0;
        for (const char c : digits) {
            if (c < '0' || c > '9') {
                return std::nullopt;
            }
            index = index * 10 + (c - '0');
        }
        if (index > 63) {
            return std::nullopt;
        }
        return kind == "cuda" ? cuda(index) : sim(index);
    }
};

} // namespace engine
