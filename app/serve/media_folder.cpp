// SPDX-License-Identifier: Apache-2.0
#include "app/serve/media_folder.h"

#include "app/serve/access_token.h"

#include <fstream>
#include <new>

namespace serve {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace fs = std::filesystem;

Result<std::shared_ptr<MediaFolder>> MediaFolder::create() {
    std::error_code code;
    const fs::path base = fs::temp_directory_path(code);
    if (!code) {
        // A name that nobody can have taken before.
        const fs::path path = base / ("belfry-serve-" + makeToken().substr(3, 16));
        if (fs::create_directory(path, code) && !code) {
            fs::permissions(path, fs::perms::owner_all, code);
            if (!code) {
                return std::shared_ptr<MediaFolder>(new MediaFolder(path));
            }
        }
    }
    return Error{ErrorCode::InvalidFile,
                 said("no folder for the pictures and recordings of requests can be made where the "
                      "system keeps temporary files (%1); set TMPDIR to one that can be written",
                      code.message())};
}

MediaFolder::~MediaFolder() {
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
                     said("there is no space for a picture or a recording of the request in the "
                          "system's folder for temporary files")};
    }
    return file;
}

} // namespace serve
