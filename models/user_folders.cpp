// SPDX-License-Identifier: Apache-2.0
#include "models/user_folders.h"

#include "engine/base/file_writer.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace models {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;
using engine::Sentence;

namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;

Error refused(Sentence words) {
    return Error{ErrorCode::InvalidRequest, std::move(words)};
}

} // namespace

Result<std::vector<fs::path>> readFolderList(const fs::path& file) {
    std::vector<fs::path> folders;
    const auto text = engine::readSmallFile(file, kMaxFileBytes);
    if (!text.has_value()) {
        const auto& details = text.error().details;
        const bool is_missing = std::any_of(details.begin(), details.end(), [](const auto& detail) {
            return detail.first == "rule" && detail.second == "FileMissing";
        });
        return is_missing ? Result<std::vector<fs::path>>(folders)
                          : Result<std::vector<fs::path>>(text.error());
    }
    std::string_view rest = *text;
    while (!rest.empty() && folders.size() < kMaxUserFolders) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        while (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        if (line.empty() || line[0] == '#') {
            continue;
        }
#ifdef _WIN32
        if (!engine::isValidUtf8(line)) {
            continue; // no path there
        }
#endif
        fs::path folder = engine::pathFromUtf8(line);
        if (folder.is_absolute()) {
            folders.push_back(std::move(folder));
        }
    }
    return folders;
}

Result<void> writeFolderList(const fs::path& file, const std::vector<fs::path>& folders) {
    if (folders.size() > kMaxUserFolders) {
        return refused(
            said("at most %1 folders are kept; name one above several of them", kMaxUserFolders));
    }
    std::string text = "# Folders in which Belfry looks for models, one per line.\n";
    for (const fs::path& folder : folders) {
        const std::string line = engine::utf8Of(folder);
        if (!folder.is_absolute() || line.find_first_of("\r\n") != std::string::npos) {
            return refused(
                said("%1: expected an absolute path without line breaks", engine::inQuotes(line)));
        }
        text += line + "\n";
    }
    std::error_code failure;
    if (fs::create_directories(file.parent_path(), failure)) {
        // The window's settings come to lie there: nobody else reads them.
        fs::permissions(file.parent_path(), fs::perms::owner_all, failure);
    }
    ENGINE_ASSIGN(const auto writer, engine::FileWriter::create(file, true));
    ENGINE_TRY(writer->write(std::as_bytes(std::span<const char>(text))));
    return writer->commit();
}

} // namespace models
