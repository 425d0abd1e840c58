// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/output_folder.h"

#include "engine/base/paths.h"
#include "engine/base/real_path.h"

#include <random>
#include <system_error>

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace engine {

namespace fs = std::filesystem;

namespace {

/// Not a place where something is mounted, and not in a folder that cannot be written.
bool canMove(const fs::path& folder) {
#ifdef _WIN32
    return !folder.empty();
#else
    struct stat own {};
    struct stat parent {};
    return ::stat(folder.c_str(), &own) == 0 && ::stat((folder / "..").c_str(), &parent) == 0 &&
           own.st_dev == parent.st_dev && ::access((folder / "..").c_str(), W_OK) == 0;
#endif
}

} // namespace

Result<std::unique_ptr<OutputFolder>> OutputFolder::open(const fs::path& wanted) {
    auto output = std::unique_ptr<OutputFolder>(new OutputFolder());
    std::error_code error;
    fs::path folder = wanted.has_filename() ? wanted : wanted.parent_path();
    const bool is_there = fs::exists(fs::symlink_status(folder, error));
    if (is_there) {
        if (!fs::is_directory(folder, error) || !fs::is_empty(folder, error)) {
            return Error{ErrorCode::InvalidRequest,
                         said("%1: the output folder exists and is not empty, or is no "
                              "folder; choose a new one",
                              utf8Of(folder))};
        }
        folder = realPath(folder, error); // a link keeps leading to it
    } else {
        if (folder.has_parent_path()) {
            fs::create_directories(folder.parent_path(), error);
        }
    }
    output->final_ = folder;
    output->work_ = folder;
    output->work_ += ".incomplete-" + std::to_string(std::random_device{}());
    if (is_there && !canMove(folder)) {
        output->work_ = folder;
        return output;
    }
    fs::create_directory(output->work_, error);
    if (error) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: cannot be created: %2", utf8Of(folder), error.message())};
    }
    output->is_apart_ = true;
    if (is_there) {
        fs::permissions(output->work_, fs::status(folder, error).permissions(), error);
    }
    return output;
}

OutputFolder::~OutputFolder() {
    if (is_kept_) {
        return;
    }
    std::error_code error;
    if (is_apart_) {
        fs::remove_all(work_, error);
        return;
    }
    for (const std::string& name : names_) {
        fs::remove(work_ / pathFromUtf8(name), error);
    }
}

Result<void> OutputFolder::keep() {
    std::error_code error;
    if (is_apart_) {
#ifdef _WIN32                      // which gives no folder the name of one that is there
        fs::remove(final_, error); // only an empty one goes
        error.clear();
#endif
        fs::rename(work_, final_, error); // an empty folder in its place is replaced
    }
    if (error) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: the finished folder cannot be given its name: %2; choose another",
                          utf8Of(final_), error.message())};
    }
    is_kept_ = true;
    return {};
}

} // namespace engine
