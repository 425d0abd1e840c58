// SPDX-License-Identifier: Apache-2.0
// Raw bytes of safetensors files for tests: a header text is taken as it is, right or wrong.
#pragma once

#include "tests/support/files.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace support {

/// Eight bytes, little-endian.
inline std::string lengthPrefix(uint64_t length) {
    std::string prefix(8, '\0');
    for (size_t i = 0; i < 8; ++i) {
        prefix[i] = static_cast<char>((length >> (8 * i)) & 0xffU);
    }
    return prefix;
}

/// Length prefix, header and `data_bytes` bytes 0, 1, 2, ... (modulo 251).
inline std::string rawSafetensors(std::string_view header, size_t data_bytes) {
    std::string file = lengthPrefix(header.size());
    file += header;
    for (size_t i = 0; i < data_bytes; ++i) {
        file += static_cast<char>(i % 251);
    }
    return file;
}

/// One entry of a header: "name":{"dtype":...}.
inline std::string headerEntry(const std::string& name,
                               const std::string& dtype,
                               const std::string& shape,
                               const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
           "],\"data_offsets\":[" + offsets + "]}";
}

inline void writeBytes(const std::filesystem::path& file, std::string_view bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

} // namespace support
