// SPDX-License-Identifier: Apache-2.0
// The model that adapters and device maps are tried against: the tiny golden e2b.
#pragma once

#include "engine/families/config.h"
#include "engine/families/tensor_list.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace fuzz {

struct SmallModel {
    engine::ModelConfig config;
    std::vector<engine::ExpectedTensor> tensors;
};

inline const SmallModel& smallModel() {
    static const SmallModel kModel = [] {
        auto config = engine::readModelConfig(BELFRY_GOLDEN_DIR "/e2b/model");
        if (!config) {
            std::fprintf(stderr, "%s\n", config.error().message.c_str());
            std::exit(2);
        }
        SmallModel made{*config, {}};
        made.tensors = engine::listTensors(made.config);
        return made;
    }();
    return kModel;
}

} // namespace fuzz
