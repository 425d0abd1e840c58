// SPDX-License-Identifier: Apache-2.0
// libFuzzer's mutator for GGUF files, which changes whole keys and tensors as well. Included by one
// file of a target.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace fuzz {

/// Where the keys and the tensors of a file lie; as far as it can be read.
struct Places {
    std::vector<std::pair<size_t, size_t>> keys, tensors; ///< Begin and end.
};

template <typename T>
T at(std::string_view bytes, size_t place) {
    T value{};
    if (place + sizeof value <= bytes.size()) {
        std::memcpy(&value, bytes.data() + place, sizeof value);
    }
    return value;
}

inline Places placesOf(std::string_view bytes) {
    constexpr std::array<size_t, 13> kBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    Places places;
    size_t place = 24;
    const auto text = [&] { place += 8 + std::min<uint64_t>(at<uint64_t>(bytes, place), 1 << 20); };
    const auto tensors = at<uint64_t>(bytes, 8);
    const auto keys = at<uint64_t>(bytes, 16);
    for (uint64_t i = 0; i < keys && place < bytes.size(); ++i) {
        const size_t begin = place;
        text();
        auto type = at<uint32_t>(bytes, place);
        place += 4;
        uint64_t count = 1;
        if (type == 9) {
            type = at<uint32_t>(bytes, place);
            count = std::min<uint64_t>(at<uint64_t>(bytes, place + 4), bytes.size());
            place += 12;
        }
        for (uint64_t n = 0; type == 8 && n < count && place < bytes.size(); ++n) {
            text();
        }
        place += type < kBytes.size() ? kBytes[type] * count : 0;
        places.keys.emplace_back(begin, place);
    }
    for (uint64_t i = 0; i < tensors && place < bytes.size(); ++i) {
        const size_t begin = place;
        text();
        place += 4 + size_t{8} * std::min<uint32_t>(at<uint32_t>(bytes, place), 4) + 12;
        places.tensors.emplace_back(begin, place);
    }
    const auto is_outside = [&](const auto& range) { return range.second > bytes.size(); };
    std::erase_if(places.keys, is_outside);
    std::erase_if(places.tensors, is_outside);
    return places;
}

} // namespace fuzz

/// Takes a key or tensor away, doubles it, moves it behind another, or puts a telling number behind
/// its name; else libFuzzer's own changes.
extern "C" size_t
LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
    std::minstd_rand random(seed);
    std::string bytes(reinterpret_cast<const char*>(data), size);
    const fuzz::Places places = fuzz::placesOf(bytes);
    const bool is_key = random() % 2 == 0;
    const auto& ranges = is_key ? places.keys : places.tensors;
    if (random() % 3 == 0 || ranges.empty()) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    const auto [begin, end] = ranges[random() % ranges.size()];
    const size_t behind = ranges[random() % ranges.size()].second;
    const std::string entry = bytes.substr(begin, end - begin);
    const size_t count_at = is_key ? 16 : 8;
    auto count = fuzz::at<uint64_t>(bytes, count_at);
    switch (random() % 4) {
    case 0:
        bytes.erase(begin, end - begin);
        --count;
        break;
    case 1:
        bytes.insert(behind, entry);
        ++count;
        break;
    default: {
        constexpr std::array<uint64_t, 16> kTelling = {0,
                                                       1,
                                                       2,
                                                       4,
                                                       8,
                                                       16,
                                                       255,
                                                       65'536,
                                                       1U << 30,
                                                       UINT32_MAX,
                                                       uint64_t{1} << 48,
                                                       uint64_t{1} << 62,
                                                       INT64_MAX,
                                                       UINT64_MAX - 31,
                                                       UINT64_MAX,
                                                       0x7f800000};
        const size_t name = 8 + fuzz::at<uint64_t>(bytes, begin);
        const size_t value = begin + name + random() % std::max<size_t>(1, entry.size() - name);
        const size_t width = size_t{1} << random() % 4;
        if (value + width <= end) {
            std::memcpy(bytes.data() + value, &kTelling[random() % kTelling.size()], width);
        }
        break;
    }
    }
    std::memcpy(bytes.data() + count_at, &count, sizeof count);
    if (bytes.size() > max_size) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    std::memcpy(data, bytes.data(), bytes.size());
    return bytes.size();
}
