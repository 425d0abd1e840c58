// SPDX-License-Identifier: Apache-2.0
// A model's config and the tensors that it lists: published shapes and golden models.
#pragma once

#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "tests/support/places.h"
#include "tests/support/published_configs.h"
#include "tests/support/results.h"

#include <string>
#include <vector>

namespace support {

struct ListedModel {
    engine::ModelConfig config;
    std::vector<engine::ExpectedTensor> tensors;

    ListedModel() = default;
    explicit ListedModel(engine::ModelConfig of)
        : config(std::move(of)), tensors(engine::listTensors(config)) {}
};

/// "E2B", "E4B", "31B", "26B-A4B": the published shapes.
inline ListedModel publishedModel(const std::string& size) {
    return ListedModel(
        must(engine::parseModelConfig(publishedConfigJson(size), publishedGenerationJson(),
                                      publishedProcessorJson()),
             size.c_str()));
}

/// "e2b", "e4b", "dense31b", "moe26b": the tiny golden models.
inline ListedModel goldenModel(const std::string& name) {
    return ListedModel(must(engine::readModelConfig(goldenDir() / name / "model"), name.c_str()));
}

} // namespace support
