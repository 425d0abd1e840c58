// SPDX-License-Identifier: Apache-2.0
// Access to golden data: a deliberately small, independent safetensors reader (so that tests of
// our reader do not check it against itself) and JSON files.
#pragma once

#include "tests/support/places.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace support {

struct GoldenTensor {
    std::string dtype;
    std::vector<int64_t> shape;
    std::vector<uint8_t> bytes;
    /// Values as fp32; F32, F16 and BF16 only.
    [[nodiscard]] std::vector<float> floats() const;
    /// Values of I32 or I64 tensors.
    [[nodiscard]] std::vector<int64_t> integers() const;
};

/// All tensors of a trusted safetensors file. Ends the test program when it cannot be read.
std::map<std::string, GoldenTensor> readSafetensors(const std::filesystem::path& file);
nlohmann::json readJson(const std::filesystem::path& file);

/// Largest |a - b| divided by the largest |b|. NaN anywhere gives NaN. Sizes must agree.
double maxRelativeToLargest(const std::vector<float>& a, const std::vector<float>& b);
/// sum (a-b)^2 / sum b^2.
double nmse(const std::vector<float>& a, const std::vector<float>& b);

} // namespace support
