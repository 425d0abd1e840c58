// SPDX-License-Identifier: Apache-2.0
#include "models/hub/preview.h"

#include "engine/base/digest.h"
#include "engine/base/json/tree.h"
#include "engine/base/paths.h"
#include "engine/files/gguf_header.h"

#include <algorithm>
#include <vector>

#include "models/hub/disk_file.h"

namespace models::hub {

namespace fs = std::filesystem;
using engine::Error;
using engine::Result;
using engine::said;

namespace {

constexpr uint64_t kFirstRead = uint64_t{128} << 10; ///< Most headers are within.
constexpr uint64_t kLargestHeader = 100'000'000;
constexpr uint64_t kLargestPreviewText = uint64_t{4} << 20;

/// Bytes [begin, end) of a file, with repetitions.
Result<std::vector<std::byte>> readRange(const FetchPlan& plan,
                                         HubClient& hub,
                                         const ListedFile& file,
                                         uint64_t begin,
                                         uint64_t end,
                                         const std::stop_token& stop) {
    std::vector<std::byte> bytes;
    uint64_t at = 0; // of the next byte that comes
    FileSink sink;
    sink.begin = [&](uint64_t position) -> Result<void> {
        at = position;
        bytes.clear();
        return {};
    };
    bool is_enough = false;
    sink.bytes = [&](std::span<const std::byte> piece) -> Result<void> {
        // Where ranges are not known, all comes from the beginning.
        const uint64_t skipped = std::min<uint64_t>(piece.size(), begin - std::min(begin, at));
        at += piece.size();
        piece = piece.subspan(static_cast<size_t>(skipped));
        const uint64_t missing = (end - begin) - bytes.size();
        piece = piece.first(static_cast<size_t>(std::min<uint64_t>(piece.size(), missing)));
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        is_enough = bytes.size() == end - begin;
        return is_enough && at < file.size_bytes && at > end
                   ? Result<void>(hubError("HubListing", said("enough")))
                   : Result<void>();
    };
    for (int attempt = 1;; ++attempt) {
        const auto outcome =
            hub.read(plan.request.address.id, plan.commit, file, begin, end, sink, stop);
        if (outcome.has_value() || is_enough) {
            break;
        }
        const auto wait = hub.waitAfter(outcome.error(), attempt);
        if (!wait.has_value()) {
            return outcome.error();
        }
        if (!waitFor(*wait, stop)) {
            return networkError({HttpEnd::Kind::Cancelled}, {});
        }
    }
    if (bytes.size() != end - begin) {
        return hubError("HubListing", said("%1: %2 bytes came, %3 were asked for; check the "
                                           "network's proxy",
                                           file.name, bytes.size(), end - begin));
    }
    return bytes;
}

Result<std::vector<std::byte>> readHeader(const FetchPlan& plan,
                                          HubClient& hub,
                                          const ListedFile& file,
                                          const std::stop_token& stop) {
    const uint64_t first = std::min(kFirstRead, file.size_bytes);
    ENGINE_ASSIGN(std::vector<std::byte> bytes, readRange(plan, hub, file, 0, first, stop));
    const auto length = safetensorsHeaderBytes(bytes, file.size_bytes);
    if (!length.has_value()) {
        return hubError("HubListing", said("%1 at the hub begins with no header of a .safetensors "
                                           "file, so it is none; choose another model",
                                           file.name));
    }
    const uint64_t end = 8 + *length;
    if (end > first) {
        ENGINE_ASSIGN(const auto rest, readRange(plan, hub, file, first, end, stop));
        bytes.insert(bytes.end(), rest.begin(), rest.end());
    }
    bytes.resize(static_cast<size_t>(end));
    return bytes;
}

/// The beginning of a GGUF file as far as its header goes, got in growing pieces.
Result<std::vector<std::byte>> readGgufHeader(const FetchPlan& plan,
                                              HubClient& hub,
                                              const ListedFile& file,
                                              BytesByDtype& sums,
                                              const std::stop_token& stop) {
    std::vector<std::byte> bytes;
    const auto read = [&](uint64_t offset, std::span<std::byte> out) -> Result<void> {
        ENGINE_ASSIGN(const auto piece,
                      readRange(plan, hub, file, offset, offset + out.size(), stop));
        std::copy(piece.begin(), piece.end(), out.begin());
        bytes.resize(std::max<size_t>(bytes.size(), offset + out.size()));
        std::copy(piece.begin(), piece.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        return {};
    };
    ENGINE_ASSIGN(const engine::GgufHeader header,
                  engine::GgufHeader::parse(file.name, file.size_bytes, read));
    for (const engine::TensorInfo& tensor : header.tensors()) {
        sums[std::string(engine::tensorTypeName(tensor.type))] += tensor.size_bytes;
    }
    return bytes;
}

/// Adds each tensor's bytes (the span of its data_offsets) to its type's.
Result<void>
addTypes(const ListedFile& file, std::span<const std::byte> header, BytesByDtype& sums) {
    const std::string_view text(reinterpret_cast<const char*>(header.data()) + 8,
                                header.size() - 8);
    ENGINE_ASSIGN(const engine::Json root, engine::parseJson(text, file.name));
    for (const engine::JsonMember& member : root.members) {
        const engine::Json* const dtype = member.value.find("dtype");
        const engine::Json* const offsets = member.value.find("data_offsets");
        if (dtype == nullptr || offsets == nullptr || offsets->items.size() != 2) {
            continue; // __metadata__; what else is wrong the engine tells
        }
        const auto begin = offsets->items[0].integer();
        const auto end = offsets->items[1].integer();
        if (begin.has_value() && end.has_value() && *begin >= 0 && *end >= *begin) {
            sums[dtype->text] += static_cast<uint64_t>(*end - *begin);
        }
    }
    return {};
}

Result<void> checkText(const ListedFile& file, std::span<const std::byte> bytes) {
    engine::Digest digest =
        file.is_large ? engine::Digest::sha256() : engine::Digest::gitBlob(file.size_bytes);
    digest.add(bytes);
    const std::string found = digest.finish();
    return found == file.etag
               ? Result<void>()
               : Result<void>(hubError("HubHash", said("%1: the checksum of what came is %2, "
                                                       "expected %3; check the network's proxy",
                                                       file.name, found, file.etag)));
}

} // namespace

std::optional<uint64_t> safetensorsHeaderBytes(std::span<const std::byte> first_bytes,
                                               uint64_t file_bytes) {
    if (first_bytes.size() < 10 || first_bytes[8] != std::byte{'{'}) {
        return std::nullopt;
    }
    uint64_t length = 0;
    for (size_t i = 8; i > 0; --i) {
        length = (length << 8U) | std::to_integer<uint64_t>(first_bytes[i - 1]);
    }
    const bool is_possible =
        length >= 2 && length <= kLargestHeader && file_bytes >= 8 && length <= file_bytes - 8;
    return is_possible ? std::optional(length) : std::nullopt;
}

Result<BytesByDtype> writePreview(const FetchPlan& plan,
                                  HubClient& hub,
                                  const fs::path& folder,
                                  const std::stop_token& stop) {
    BytesByDtype sums;
    for (const PlannedFile& planned : plan.files) {
        const ListedFile& file = planned.file;
        const bool is_weights = file.name.ends_with(".safetensors");
        const bool is_gguf = plan.gguf.has_value() && file.name.ends_with(".gguf");
        const bool is_text = file.name.ends_with(".json") || file.name.ends_with(".jinja");
        if ((file.name.find('/') != std::string::npos && !is_gguf) ||
            (!is_weights && !is_gguf && (!is_text || file.size_bytes > kLargestPreviewText))) {
            continue;
        }
        std::vector<std::byte> bytes;
        if (is_gguf) {
            ENGINE_ASSIGN(bytes, readGgufHeader(plan, hub, file, sums, stop));
        } else if (is_weights) {
            ENGINE_ASSIGN(bytes, readHeader(plan, hub, file, stop));
            ENGINE_TRY(addTypes(file, bytes, sums));
        } else if (file.size_bytes > 0) {
            ENGINE_ASSIGN(bytes, readRange(plan, hub, file, 0, file.size_bytes, stop));
            ENGINE_TRY(checkText(file, bytes));
        }
        const fs::path path = folder / engine::pathFromUtf8(file.name);
        std::error_code failure;
        fs::create_directories(path.parent_path(), failure); // told by the write
        ENGINE_TRY(writeSmallFile(
            path, folder / ".preview.incomplete",
            std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    }
    return sums;
}

} // namespace models::hub
