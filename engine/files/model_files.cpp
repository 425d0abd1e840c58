// SPDX-License-Identifier: Apache-2.0
// Which files of a folder may be opened (rule ST07 and the file name rules of the shard index).
#include "engine/files/model_files.h"

#include "engine/base/file_reader.h"
#include "engine/base/folder_list.h"
#include "engine/base/paths.h"
#include "engine/base/real_path.h"
#include "engine/base/utf8.h"
#include "engine/files/foreign_format.h"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <vector>

namespace engine {

namespace fs = std::filesystem;

namespace {

Error nameError(std::string_view rule, std::string_view name, const Sentence& what) {
    return Error{ErrorCode::InvalidFile,
                 said("%1: %2", name, what),
                 {{"rule", std::string(rule)}, {"file", std::string(name)}}};
}

/// Names that Windows gives to devices in every folder. Refused on all systems, so that a folder
/// that is fine here is fine there.
bool isDeviceName(std::string_view name) {
    std::string stem(name.substr(0, name.find('.')));
    std::transform(stem.begin(), stem.end(), stem.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    while (!stem.empty() && stem.back() == ' ') {
        stem.pop_back();
    }
    constexpr std::array<std::string_view, 6> kDevices = {"CON", "PRN",    "AUX",
                                                          "NUL", "CONIN$", "CONOUT$"};
    if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) {
        return true;
    }
    if (!stem.starts_with("COM") && !stem.starts_with("LPT")) {
        return false;
    }
    const std::string_view digit = std::string_view(stem).substr(3);
    return (digit.size() == 1 && digit[0] >= '0' && digit[0] <= '9') || digit == "\u00b9" ||
           digit == "\u00b2" || digit == "\u00b3"; // Windows takes raised digits as digits
}

bool isBlobName(std::string_view name) {
    return (name.size() == 40 || name.size() == 64) &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// The cache of huggingface_hub: <repo>/snapshots/<revision>/[<subfolders>/]<file> links to
/// <repo>/blobs/<hexadecimal hash>, and that, since huggingface_hub 2, perhaps to the store that
/// all repositories share, <hub>/blobs/<first two digits>/<hash>. Adapters that are not called
/// default, checkpoints of a trainer and collections lie in subfolders.
bool isHubCacheLink(const fs::path& real_folder, const fs::path& target) {
    if (!isBlobName(utf8Of(target.filename()))) {
        return false;
    }
    for (fs::path at = real_folder; at.has_relative_path(); at = at.parent_path()) {
        const fs::path snapshots = at.parent_path();
        if (snapshots.filename() != "snapshots") {
            continue;
        }
        const fs::path repository = snapshots.parent_path();
        const fs::path shared = repository.parent_path() / "blobs";
        const fs::path blobs = target.parent_path();
        if (blobs == repository / "blobs" ||
            (blobs.parent_path() == shared && utf8Of(blobs.filename()).size() == 2 &&
             utf8Of(target.filename()).starts_with(utf8Of(blobs.filename())))) {
            return true;
        }
    }
    return false;
}

void collectFoldersWith(const fs::path& folder,
                        std::string_view file,
                        const std::string& shown,
                        int depth,
                        std::vector<std::string>& found) {
    constexpr size_t kMaxEntries = 1000;
    constexpr size_t kMaxFound = 4;
    std::error_code failure;
    std::vector<fs::path> names = listFolder(folder, kMaxEntries, failure);
    std::sort(names.begin(), names.end());
    for (const fs::path& name : names) {
        const fs::path below = folder / name;
        if (found.size() >= kMaxFound || !fs::is_directory(statusOfName(below, failure))) {
            continue;
        }
        const std::string path = shown + utf8Of(name);
        if (modelFileExists(below, file)) {
            found.push_back(path);
        } else if (depth > 1) {
            collectFoldersWith(below, file, path + "/", depth - 1, found);
        }
    }
}

} // namespace

std::optional<Phrase> modelFileNameProblem(std::string_view name) {
    if (name.empty()) {
        return phrase("the file name is empty");
    }
    if (name.size() > 255) {
        return phrase("the file name is longer than 255 bytes");
    }
    if (!isValidUtf8(name)) {
        return phrase("the file name is not UTF-8");
    }
    for (const char c : name) {
        if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
            return phrase("the file name holds a control character");
        }
    }
    if (name.find_first_of("/\\") != std::string_view::npos) {
        return phrase(
            "the file name holds a folder separator; files must lie in the model folder itself");
    }
    if (name.find(':') != std::string_view::npos) {
        return phrase("the file name holds ':' (a drive letter or an alternate stream)");
    }
    if (name == "." || name == "..") {
        return phrase("the file name is a folder reference");
    }
    if (name.find_first_of("<>\"|?*") != std::string_view::npos) {
        return phrase(
            "the file name holds a character that Windows allows in none: < > \" | ? or *");
    }
    if (name.back() == '.' || name.back() == ' ') {
        return phrase("the file name ends in a dot or a blank, which Windows leaves out");
    }
    if (isDeviceName(name)) {
        return phrase("the file name is a device name on Windows");
    }
    return std::nullopt;
}

bool modelFileExists(const fs::path& folder, std::string_view name) {
    if (modelFileNameProblem(name)) {
        return false;
    }
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(folder / pathFromUtf8(name), failure);
    return !failure && fs::exists(status);
}

Result<fs::path>
resolveModelFile(const fs::path& folder, std::string_view name, bool are_outside_links_allowed) {
    if (const auto problem = modelFileNameProblem(name)) {
        return nameError("ShardName", name.empty() ? std::string_view("\"\"") : name, *problem);
    }
    std::error_code failure;
    const fs::path real_folder = realPath(folder, failure);
    if (failure) {
        return nameError("FileMissing", name,
                         said("its folder cannot be opened: %1", failure.message()));
    }
    const fs::path path = real_folder / pathFromUtf8(name);
    const fs::file_status status = fs::symlink_status(path, failure);
    if (!fs::exists(status)) {
        return nameError("FileMissing", name, said("there is no such file in the folder"));
    }
    fs::path target = path;
    if (mayBeLink(path)) {
        target = realPath(path, failure);
        if (failure) {
            return nameError("ST07", name,
                             said("is a link that leads nowhere (%1); download the file again",
                                  failure.message()));
        }
        const bool is_inside = realPath(target.parent_path(), failure) == real_folder;
        if (!is_inside && !are_outside_links_allowed && !isHubCacheLink(real_folder, target)) {
            return nameError(
                "ST07", name,
                said(
                    "is a link that leaves the model folder; put the file itself into the folder"));
        }
    }
    if (!fs::is_regular_file(target, failure)) {
        return nameError(
            "ST07", name,
            said("is not a regular file (it is a folder, a pipe, a socket or a device)"));
    }
    return target;
}

std::string foldersBelowWith(const fs::path& folder, std::string_view file) {
    constexpr int kDepth = 3; // snapshots/<revision>/<subfolder>
    std::vector<std::string> found;
    collectFoldersWith(folder, file, "", kDepth, found);
    std::string text;
    for (size_t i = 0; i < std::min<size_t>(found.size(), 3); ++i) {
        text += (i == 0 ? "" : ", ") + found[i];
    }
    return found.size() > 3 ? text + " and more" : text;
}

std::vector<std::byte>
headOfModelFile(const fs::path& folder, std::string_view name, size_t count) {
    const auto path = resolveModelFile(folder, name);
    const auto file =
        path ? FileReader::open(*path) : Result<std::unique_ptr<FileReader>>(path.error());
    std::vector<std::byte> head(
        file ? static_cast<size_t>(std::min<uint64_t>((*file)->sizeBytes(), count)) : 0);
    if (!head.empty() && !(*file)->read(0, head)) {
        head.clear();
    }
    return head;
}

Result<std::optional<std::string>> readModelText(const fs::path& folder,
                                                 std::string_view name,
                                                 uint64_t max_bytes,
                                                 bool are_outside_links_allowed) {
    if (!modelFileNameProblem(name) && !modelFileExists(folder, name)) {
        return std::optional<std::string>();
    }
    ENGINE_ASSIGN(const fs::path path, resolveModelFile(folder, name, are_outside_links_allowed));
    ENGINE_ASSIGN(const std::unique_ptr<FileReader> reader,
                  FileReader::open(path, std::string(name)));
    if (reader->sizeBytes() > max_bytes) {
        return nameError("FileTooLarge", name,
                         said("has %1 bytes, more than the %2 such a file may have",
                              reader->sizeBytes(), max_bytes));
    }
    std::string text(static_cast<size_t>(reader->sizeBytes()), '\0');
    ENGINE_TRY(reader->read(0, std::as_writable_bytes(std::span<char>(text))));
    if (const auto stand_in = recogniseStandIn(text)) {
        return nameError(stand_in->rule, name, stand_in->advice);
    }
    return std::optional<std::string>(std::move(text));
}

} // namespace engine
