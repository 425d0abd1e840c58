// SPDX-License-Identifier: Apache-2.0
#include "models/preview_plan.h"

#include "engine/base/paths.h"

#include <algorithm>
#include <utility>

namespace models {

using engine::Result;

Result<PreviewedModel> readPreview(engine::Engine& engine,
                                   const hub::FetchPlan& plan,
                                   const std::filesystem::path& folder) {
    PreviewedModel model;
    engine::LoadRequest& request = model.request;
    request.model = engine::utf8Of(folder);
    request.device_map.clear(); // what fits this computer
    if (plan.gguf.has_value()) {
        const auto& chosen = plan.gguf->models[plan.gguf->chosen];
        request.model = engine::utf8Of(folder / engine::pathFromUtf8(chosen.parts.front().name));
    }
    ENGINE_ASSIGN(model.summary, engine.inspect(request.model, {}));
    const bool has_towers = model.summary.has_vision || model.summary.has_audio;
    if (plan.gguf.has_value() && plan.gguf->projector.has_value() && !has_towers) {
        // The engine has found that it does not fit, or that such a model takes none.
        request.projector =
            engine::utf8Of(folder / engine::pathFromUtf8(plan.gguf->projector->name));
        const auto planned = engine.plan(request);
        request.projector.clear();
        const auto namesFile = [](const auto& detail) { return detail.first == "file"; };
        if (!planned.has_value() && std::any_of(planned.error().details.begin(),
                                                planned.error().details.end(), namesFile)) {
            return planned.error();
        }
    }
    return model;
}

std::vector<bool> modelsThatFit(const hub::GgufFiles& gguf, const engine::PlacementPlan& plan) {
    const auto most = std::max_element(
        plan.devices.begin(), plan.devices.end(),
        [](const auto& a, const auto& b) { return a.parts.total() < b.parts.total(); });
    std::vector<bool> fits(gguf.models.size(), most != plan.devices.end());
    for (size_t i = 0; i < fits.size() && fits[i] && most->limit > 0; ++i) {
        const uint64_t others =
            most->parts.total() - std::min(most->parts.total(), gguf.models[gguf.chosen].bytes());
        fits[i] = others + gguf.models[i].bytes() <= most->limit;
    }
    return fits;
}

} // namespace models
