// SPDX-License-Identifier: Apache-2.0
// Where the tests' data lies. Functions, not definitions that every test is compiled with: one
// object file then serves every folder that the project is built in.
#pragma once

#include <filesystem>

namespace support {

/// The project's own folder.
std::filesystem::path sourceDir();
/// tests/data: the tracked data.
std::filesystem::path testDataDir();
/// What the build unpacked of it (the golden data, the real vocabulary).
std::filesystem::path unpackedDataDir();
/// Folder of the golden data, for example goldenDir() / "e2b/model"; $BELFRY_GOLDEN_DIR if set.
std::filesystem::path goldenDir();
/// Golden data of the 12B, of compressed-tensors and GGUF files; $BELFRY_GOLDEN_MORE_DIR if set,
/// which may hold more files than are tracked.
std::filesystem::path goldenMoreDir();

} // namespace support
