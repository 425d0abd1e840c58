// SPDX-License-Identifier: Apache-2.0
#include "models/disk.h"

#include "engine/base/file_reader.h"
#include "engine/base/folder_list.h"
#include "engine/base/paths.h"
#include "engine/base/real_path.h"
#include "engine/base/small_file.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <system_error>

namespace models {

namespace fs = std::filesystem;

namespace {

int64_t secondsOf(fs::file_time_type time) {
    const auto system = std::chrono::file_clock::to_sys(time);
    return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

Look fileAt(const fs::path& path) {
    Look look;
    std::error_code failure;
    look.kind = Look::Kind::File;
    look.bytes = fs::file_size(path, failure);
    if (failure) {
        look.bytes = 0;
    }
    const fs::file_time_type time = fs::last_write_time(path, failure);
    look.modified = failure ? 0 : secondsOf(time);
    return look;
}

} // namespace

bool Disk::mayGoOn(const fs::path& path) {
    is_over_ = is_over_ || !step_(path);
    return !is_over_;
}

std::vector<fs::path> Disk::list(const fs::path& folder, std::error_code& failure) {
    failure.clear();
    if (num_entries_ >= limits_.max_entries) {
        is_cut_ = true;
        return {};
    }
    if (!mayGoOn(folder)) {
        return {};
    }
    const size_t most = std::min(limits_.max_folder_names, limits_.max_entries - num_entries_);
    std::vector<fs::path> names = engine::listFolder(folder, most + 1, failure);
    if (names.size() > most) {
        is_cut_ = true;
        names.resize(most);
    }
    num_entries_ += names.size();
    std::sort(names.begin(), names.end());
    return names;
}

Look Disk::look(const fs::path& path) {
    Look look;
    if (!mayGoOn(path)) {
        return look;
    }
    std::error_code failure;
    const fs::file_status status = engine::statusOfName(path, failure);
    if (!fs::exists(status)) {
        return look;
    }
    if (fs::is_regular_file(status)) {
        return fileAt(path);
    }
    look.kind = fs::is_directory(status) ? Look::Kind::Folder
                : fs::is_symlink(status) ? Look::Kind::Link
                                         : Look::Kind::Other;
    return look;
}

Look Disk::lookAtModelFile(const fs::path& folder, const std::string& name) {
    if (!mayGoOn(folder / engine::pathFromUtf8(name))) {
        return {};
    }
    const auto path = engine::resolveModelFile(folder, name);
    return path.has_value() ? fileAt(*path) : Look();
}

std::string Disk::read(const fs::path& path) {
    if (!mayGoOn(path)) {
        return {};
    }
    auto text = engine::readSmallFile(path, limits_.max_text_bytes);
    return text.has_value() ? *std::move(text) : std::string();
}

std::string Disk::readModelFile(const fs::path& folder, const std::string& name) {
    if (!mayGoOn(folder / engine::pathFromUtf8(name))) {
        return {};
    }
    auto text = engine::readModelText(folder, name, limits_.max_text_bytes);
    return text.has_value() && text->has_value() ? **std::move(text) : std::string();
}

std::string Disk::head(const fs::path& folder, const std::string& name) {
    constexpr size_t kHeadBytes = 1024;
    if (!mayGoOn(folder / engine::pathFromUtf8(name))) {
        return {};
    }
    const auto path = engine::resolveModelFile(folder, name);
    if (!path.has_value()) {
        return {};
    }
    const auto reader = engine::FileReader::open(*path, name);
    if (!reader.has_value()) {
        return {};
    }
    std::string head(std::min<uint64_t>(kHeadBytes, (*reader)->sizeBytes()), '\0');
    const auto outcome = (*reader)->read(0, std::as_writable_bytes(std::span<char>(head)));
    return outcome.has_value() ? head : std::string();
}

fs::path Disk::real(const fs::path& path) {
    if (!mayGoOn(path)) {
        return path;
    }
    std::error_code failure;
    fs::path real = engine::realPath(path, failure);
    return failure ? path : real;
}

} // namespace models
