// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GGUF file that is given as an adapter of a small model: an error with a message,
// or updates that fit the model's tensors and whose values can be read.
#include "engine/families/gguf/checkpoint.h"
#include "tests/engine/files/small_gguf.h"
#include "tests/fuzz/adapter_checks.h"
#include "tests/fuzz/gguf_mutator.h"
#include "tests/fuzz/small_model.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>

using fuzz::require;

namespace {

namespace fs = std::filesystem;

/// Writes the file that this process tries; in memory where the system has such a place.
fs::path written(std::string_view bytes) {
    static const fs::path kFile =
        (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
        ("belfry-fuzz-" + std::to_string(getpid()) + ".gguf");
    static const int kRemoved = std::atexit([] { fs::remove(kFile); });
    require(kRemoved == 0);
    std::ofstream(kFile, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return kFile;
}

const fuzz::SmallModel& smallLlama() {
    static const fuzz::SmallModel kModel = [] {
        auto checkpoint = engine::ggufCheckpoint(written(support::gguf::llama().bytes()), {});
        require(checkpoint.has_value());
        auto config = engine::readModelConfig(**checkpoint);
        require(config.has_value());
        fuzz::SmallModel made{*std::move(config), {}};
        made.tensors = engine::listTensors(made.config);
        return made;
    }();
    return kModel;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const fuzz::SmallModel& model =
        bytes.find("llama") == std::string_view::npos ? fuzz::smallModel() : smallLlama();
    const auto index = engine::indexAdapter(written(bytes), model.config, model.tensors, {});
    if (!index) {
        require(!index.error().message.empty());
        require(index.error().code != engine::ErrorCode::Internal);
        return 0;
    }
    fuzz::checkIndex(*index);
    for (const engine::TensorInfo& info : index->source->tensors()) {
        std::vector<std::byte> values(info.size_bytes);
        require(index->source->read(info, 0, values).has_value());
    }
    return 0;
}
