// SPDX-License-Identifier: Apache-2.0
#include "app/program_paths.h"

#include "engine/base/paths.h"

#include <filesystem>
#include <system_error>

namespace app {

std::string demoModelFolder() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path folder = program.parent_path();
    for (const std::filesystem::path& candidate :
         {folder / "../share/belfry/demo_model", folder / "demo_model",
          engine::pathFromUtf8(BELFRY_RESOURCES_DIR) / "demo_model"}) {
        if (std::filesystem::is_regular_file(candidate / "config.json", error)) {
            return engine::utf8Of(std::filesystem::weakly_canonical(candidate, error));
        }
    }
    return {};
}

} // namespace app
