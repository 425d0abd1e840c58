// SPDX-License-Identifier: Apache-2.0
// Pieces of the weight file are made and written by all threads, each piece at its place in the
// file: one thread would take longer than the loads that are to be measured.
#include "tests/gpu/model_folder_writer.h"

#include "engine/families/config.h"
#include "engine/families/gemma4/published_shapes.h"
#include "engine/load/random_source.h"
#include "tests/support/files.h"
#include "tests/support/gemma4_vocabulary.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace gpu {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Error refused(const std::filesystem::path& file) {
    return Error{ErrorCode::InvalidFile,
                 file.string() + " cannot be written: " + std::strerror(errno)};
}

Result<void> writeText(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        return refused(file);
    }
    return {};
}

/// Length and JSON of the header, padded so that the data starts at a multiple of 8 bytes.
std::string headerOf(const engine::TensorSource& source) {
    nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
    for (const engine::TensorInfo& info : source.tensors()) {
        header[info.name] = {
            {"dtype", "BF16"},
            {"shape", info.shape},
            {"data_offsets", {info.file_offset, info.file_offset + info.size_bytes}}};
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes + text;
}

bool writeAt(int file, const std::byte* bytes, size_t size, uint64_t offset) {
    while (size > 0) {
        const ssize_t written = ::pwrite(file, bytes, size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes += written;
        size -= static_cast<size_t>(written);
        offset += static_cast<uint64_t>(written);
    }
    return true;
}

struct Piece {
    const engine::TensorInfo* info = nullptr;
    uint64_t offset = 0;
    size_t bytes = 0;
};

std::vector<Piece> piecesOf(const engine::TensorSource& source) {
    constexpr uint64_t kPieceBytes = uint64_t{4} << 20;
    std::vector<Piece> pieces;
    for (const engine::TensorInfo& info : source.tensors()) {
        for (uint64_t at = 0; at < info.size_bytes; at += kPieceBytes) {
            pieces.push_back(
                {&info, at, static_cast<size_t>(std::min(kPieceBytes, info.size_bytes - at))});
        }
    }
    return pieces;
}

Result<void> writeWeights(const engine::TensorSource& source, const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        return refused(path);
    }
    const std::string header = headerOf(source);
    std::atomic<int> failure{
        writeAt(file, reinterpret_cast<const std::byte*>(header.data()), header.size(), 0) ? 0
                                                                                           : errno};
    const std::vector<Piece> pieces = piecesOf(source);
    std::atomic<size_t> next{0};
    const auto work = [&] {
        std::vector<std::byte> buffer;
        for (size_t i = next++; i < pieces.size() && failure == 0; i = next++) {
            const Piece& piece = pieces[i];
            buffer.resize(piece.bytes);
            if (!source.read(*piece.info, piece.offset, buffer).has_value() ||
                !writeAt(file, buffer.data(), buffer.size(),
                         header.size() + piece.info->file_offset + piece.offset)) {
                failure = errno != 0 ? errno : EIO;
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
        threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (::close(file) != 0 && failure == 0) {
        failure = errno;
    }
    if (failure != 0) {
        errno = failure;
        return refused(path);
    }
    return {};
}

} // namespace

Result<void> writeModelFolder(const std::string& shape,
                              const std::filesystem::path& vocabulary,
                              const std::filesystem::path& folder) {
    const std::string config = engine::publishedConfigJson(shape == "e2b"   ? "E2B"
                                                           : shape == "e4b" ? "E4B"
                                                                            : shape);
    if (config.empty()) {
        return Error{ErrorCode::InvalidRequest, shape + ": expected e2b or e4b"};
    }
    const std::string words = support::textOf(vocabulary);
    if (words.empty()) {
        return Error{ErrorCode::InvalidRequest, vocabulary.string() + " cannot be read"};
    }
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    ENGINE_TRY(writeText(folder / "config.json", config));
    ENGINE_TRY(writeText(folder / "generation_config.json", engine::publishedGenerationJson()));
    ENGINE_TRY(writeText(folder / "processor_config.json", engine::publishedProcessorJson()));
    ENGINE_TRY(writeText(folder / "tokenizer.json", support::gemma4Vocabulary(words)));
    ENGINE_ASSIGN(const engine::ModelConfig parsed,
                  engine::parseModelConfig(config, engine::publishedGenerationJson(),
                                           engine::publishedProcessorJson()));
    return writeWeights(*engine::makeRandomSource(parsed, 1), folder / "model.safetensors");
}

} // namespace gpu
