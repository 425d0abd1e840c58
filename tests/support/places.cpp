// SPDX-License-Identifier: Apache-2.0
#include "tests/support/places.h"

#include <cstdlib>

namespace support {

// Programs carried to another machine find the data where they are told.

std::filesystem::path sourceDir() {
    return BELFRY_SOURCE_DIR;
}

std::filesystem::path testDataDir() {
    const char* moved = std::getenv("BELFRY_TEST_DATA_DIR");
    return moved != nullptr ? moved : BELFRY_TEST_DATA_DIR;
}

std::filesystem::path unpackedDataDir() {
    return BELFRY_UNPACKED_DATA_DIR;
}

std::filesystem::path goldenDir() {
    const char* moved = std::getenv("BELFRY_GOLDEN_DIR");
    return moved != nullptr ? moved : BELFRY_GOLDEN_DIR;
}

std::filesystem::path goldenMoreDir() {
    const char* moved = std::getenv("BELFRY_GOLDEN_MORE_DIR");
    return moved != nullptr ? moved : unpackedDataDir() / "golden_more";
}

} // namespace support
