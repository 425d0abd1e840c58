// SPDX-License-Identifier: Apache-2.0
#include "app/network/network_switch.h"

#include "app/common/environment.h"
#include "engine/base/file_writer.h"
#include "engine/base/paths.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "models/hub/cache_layout.h"

namespace app {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

/// Its being there is the setting. Empty where the environment names no place.
fs::path switchFile() {
    const fs::path folder = settingsFolder();
    return folder.empty() ? folder : folder / "network-forbidden";
}

} // namespace

NetworkBan networkBan() {
    if (models::hub::isSwitchedOn(hubEnvironment().hf_hub_offline)) {
        return NetworkBan::Environment;
    }
    std::error_code ignored;
    const fs::path file = switchFile();
    return !file.empty() && fs::exists(file, ignored) ? NetworkBan::Setting : NetworkBan::None;
}

std::string networkBanName() {
    switch (networkBan()) {
    case NetworkBan::Environment:
        return "HF_HUB_OFFLINE";
    case NetworkBan::Setting:
        return engine::utf8Of(switchFile());
    case NetworkBan::None:
        break;
    }
    return {};
}

Result<void> setNetworkForbidden(bool is_forbidden) {
    const fs::path file = switchFile();
    if (file.empty()) {
        return Error{ErrorCode::InvalidFile,
                     said("there is no place for settings: set HOME (on Windows LOCALAPPDATA)")};
    }
    std::error_code failure;
    if (!is_forbidden) {
        fs::remove(file, failure);
        return failure ? Result<void>(Error{ErrorCode::InvalidFile,
                                            said("%1: cannot be removed: %2", engine::utf8Of(file),
                                                 failure.message())})
                       : Result<void>();
    }
    if (fs::create_directories(file.parent_path(), failure)) {
        // The window's settings come to lie there: nobody else reads them.
        fs::permissions(file.parent_path(), fs::perms::owner_all, failure);
    }
    constexpr std::string_view kText =
        "While this file is here, Belfry uses no network. Its settings remove it.\n";
    ENGINE_ASSIGN(const auto writer, engine::FileWriter::create(file, true));
    ENGINE_TRY(writer->write(std::as_bytes(std::span<const char>(kText))));
    return writer->commit();
}

} // namespace app
