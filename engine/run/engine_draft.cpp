// SPDX-License-Identifier: Apache-2.0
// Which drafting assistant a load takes along.
#include "engine/base/assistant_folder.h"
#include "engine/base/paths.h"
#include "engine/families/gguf/checkpoint.h"
#include "engine/run/engine_state.h"

#include <filesystem>
#include <utility>

namespace engine {

Result<void> Engine::Impl::addAssistant(OpenedModel& opened, const LoadRequest& request) const {
    if (request.draft.empty() || request.draft == "off") {
        return {};
    }
    const bool is_auto = request.draft == "auto";
    if (is_auto && request.model.starts_with("shape:")) {
        return opened.addRandomAssistant();
    }
    const std::filesystem::path folder =
        is_auto ? assistantFolderOf(opened.checkpoint->where()) : pathFromUtf8(request.draft);
    if (folder.empty()) {
        return {};
    }
    ENGINE_ASSIGN(auto checkpoint, openCheckpoint(folder));
    Result<void> added = opened.addAssistant(std::move(checkpoint));
    if (!added.has_value()) {
        Error error = std::move(added).error();
        error.say(said("drafts (%1): %2", utf8Of(folder), error.told()));
        return error;
    }
    return {};
}

} // namespace engine
