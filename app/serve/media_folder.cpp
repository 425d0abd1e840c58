// SPDX-License-Identifier: Apache-2.0
#include "app/serve/media_folder.h"

#include "app/serve/access_token.h"
#include "engine/base/paths.h"

#include <fstream>
#include <new>
#include <vector>

namespace serve {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "belfry-serve-";
constexpr size_t kNameLetters = 16;
constexpr int kTries = 3;

/// Folders of servers of this user that ended without removing them: nobody holds their lock.
/// Whatever is not whole as this program makes it stays.
void removeLeft(const fs::path& base) {
    std::error_code code;
    std::vector<fs::path> found;
    fs::directory_iterator entries(base, code);
    for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
        const std::string name = engine::utf8Of(entries->path().filename());
        if (name.starts_with(kPrefix) &&
            name.size() == std::string(kPrefix).size() + kNameLetters) {
            found.push_back(entries->path());
        }
    }
    for (const fs::path& folder : found) {
        if (!FolderLock::isOwn(folder)) {
            continue;
        }
        // Held while the files go: a server that is just being started finds its lock taken, and
        // takes another folder.
        std::optional<FolderLock> lock = FolderLock::take(folder, false);
        if (!lock.has_value()) {
            continue;
        }
#ifdef _WIN32 // which removes no open file
        lock.reset();
#endif
        fs::remove_all(folder, code);
    }
}

} // namespace

Result<std::shared_ptr<MediaFolder>> MediaFolder::create(const fs::path& base) {
    std::error_code code;
    const fs::path place = base.empty() ? fs::temp_directory_path(code) : base;
    if (!code) {
        removeLeft(place);
    }
    for (int i = 0; i < kTries && !code; ++i) {
        // A name that nobody can have taken before.
        const fs::path path = place / (kPrefix + makeToken().substr(3, kNameLetters));
        if (!fs::create_directory(path, code) || code) {
            break;
        }
        fs::permissions(path, fs::perms::owner_all, code);
        std::optional<FolderLock> lock = FolderLock::take(path, true);
        // Another server that starts may have taken it for one that was left.
        if (!code && lock.has_value() && fs::exists(path / FolderLock::kFile, code) && !code) {
            return std::shared_ptr<MediaFolder>(new MediaFolder(path, *std::move(lock)));
        }
    }
    return Error{ErrorCode::InvalidFile,
                 said("no folder for the pictures and recordings of requests can be made where the "
                      "system keeps temporary files (%1); set TMPDIR to one that can be written",
                      code.message())};
}

MediaFolder::~MediaFolder() {
#ifdef _WIN32 // which removes no open file
    lock_.reset();
#endif
    std::error_code code;
    fs::remove_all(path_, code);
}

Result<MediaFolder::File> MediaFolder::save(const std::shared_ptr<MediaFolder>& folder,
                                            std::string_view bytes) {
    const fs::path path = folder->path_ / std::to_string(folder->next_.fetch_add(1));
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    // The folder stays until its last file is gone.
    File file(new fs::path{path}, [folder](const fs::path* gone) {
        std::error_code code;
        fs::remove(*gone, code);
        delete gone;
    });
    if (!out.good()) {
        return Error{ErrorCode::InvalidFile,
                     said("a picture or a recording of the request cannot be written to the "
                          "system's folder for temporary files; its disk may be full")};
    }
    return file;
}

} // namespace serve
