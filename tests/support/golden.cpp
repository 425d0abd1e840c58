// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include "engine/base/float_types.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

namespace support {

namespace {
std::vector<uint8_t> readAll(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        std::fprintf(stderr, "golden data is missing: %s\n", file.string().c_str());
        std::exit(99);
    }
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
} // namespace

std::vector<float> GoldenTensor::floats() const {
    std::vector<float> out;
    if (dtype == "F32") {
        out.resize(bytes.size() / 4);
        std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    out.resize(bytes.size() / 2);
    for (size_t i = 0; i < out.size(); ++i) {
        uint16_t bits = 0;
        std::memcpy(&bits, bytes.data() + 2 * i, 2);
        out[i] = dtype == "BF16" ? engine::bf16ToFloat(bits) : engine::f16ToFloat(bits);
    }
    return out;
}

std::vector<int64_t> GoldenTensor::integers() const {
    const size_t size = dtype == "I64" ? 8 : 4;
    std::vector<int64_t> out(bytes.size() / size);
    for (size_t i = 0; i < out.size(); ++i) {
        if (size == 8) {
            std::memcpy(&out[i], bytes.data() + 8 * i, 8);
        } else {
            int32_t v = 0;
            std::memcpy(&v, bytes.data() + 4 * i, 4);
            out[i] = v;
        }
    }
    return out;
}

std::map<std::string, GoldenTensor> readSafetensors(const std::filesystem::path& file) {
    const auto bytes = readAll(file);
    uint64_t n = 0;
    std::memcpy(&n, bytes.data(), 8);
    const auto header =
        nlohmann::json::parse(bytes.begin() + 8, bytes.begin() + 8 + static_cast<int64_t>(n));
    std::map<std::string, GoldenTensor> out;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") {
            continue;
        }
        const auto begin = entry["data_offsets"][0].get<size_t>() + 8 + n;
        const auto end = entry["data_offsets"][1].get<size_t>() + 8 + n;
        GoldenTensor t;
        t.dtype = entry["dtype"].get<std::string>();
        t.shape = entry["shape"].get<std::vector<int64_t>>();
        t.bytes.assign(bytes.begin() + static_cast<int64_t>(begin),
                       bytes.begin() + static_cast<int64_t>(end));
        out.emplace(name, std::move(t));
    }
    return out;
}

nlohmann::json readJson(const std::filesystem::path& file) {
    const auto bytes = readAll(file);
    return nlohmann::json::parse(bytes.begin(), bytes.end());
}

double maxRelativeToLargest(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) {
        return std::numeric_limits<double>::infinity();
    }
    double largest = 0;
    double difference = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(a[i]) || std::isnan(b[i])) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        largest = std::max(largest, std::abs(static_cast<double>(b[i])));
        difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
    }
    return largest == 0 ? difference : difference / largest;
}

double nmse(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) {
        return std::numeric_limits<double>::infinity();
    }
    double error = 0;
    double power = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double d = static_cast<double>(a[i]) - b[i];
        error += d * d;
        power += static_cast<double>(b[i]) * b[i];
    }
    return power == 0 ? error : error / power;
}

} // namespace support
