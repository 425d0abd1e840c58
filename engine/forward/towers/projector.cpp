// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/towers/projector.h"

namespace engine {

using kernels::MutF32;

Result<std::vector<float>>
normedOnHost(DeviceScratch& home, MutF32 rows, double eps, const std::string& name) {
    ENGINE_KERNEL(
        home.ops().rms_norm(home.queue(), rows, kernels::MatView{}, static_cast<float>(eps), rows),
        "norm", name);
    std::vector<float> host(static_cast<size_t>(rows.rows * rows.cols));
    ENGINE_KERNEL(home.device().copyOut(host.data(), rows.data, host.size() * 4), "copy out", name);
    return host;
}

Result<std::vector<float>> projected(const BoundModel& model,
                                     const Linear& projector,
                                     DeviceScratch& where,
                                     MutF32 in,
                                     Buffer out_buffer) {
    const MutF32 out = where.matrix(out_buffer, in.rows, projector.out);
    ENGINE_TRY(model.context->linear(projector, where, in, out));
    std::vector<float> features(static_cast<size_t>(out.rows * out.cols));
    ENGINE_KERNEL(where.device().copyOut(features.data(), out.data, features.size() * 4),
                  "copy out", projector.name);
    return features;
}

Result<std::vector<float>> projectedFromHost(const BoundModel& model,
                                             const Linear& projector,
                                             std::span<const float> tower,
                                             Buffer in_buffer,
                                             Buffer out_buffer) {
    DeviceScratch& where = *model.context->scratch(projector.device);
    const MutF32 in =
        where.matrix(in_buffer, static_cast<int64_t>(tower.size()) / projector.in, projector.in);
    ENGINE_KERNEL(where.device().copyIn(in.data, tower.data(), tower.size() * 4), "copy in",
                  projector.name);
    return projected(model, projector, where, in, out_buffer);
}

} // namespace engine
