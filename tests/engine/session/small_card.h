// SPDX-License-Identifier: Apache-2.0
// What tests of the engine on an emulated card share: a small card, engines on it, a tiny model
// whose heads its fused kernels take, and tokens.
#pragma once

#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/tiny_model.h"

#include <cstdint>
#include <memory>

namespace support {

inline EmulatedCardOptions smallCard(int cards = 1) {
    EmulatedCardOptions options;
    options.cards = cards;
    options.multiprocessors = 4;
    options.run.resident_threads = 8192;
    return options;
}

inline engine::EngineOptions optionsOn(EmulatedCard& card) {
    engine::EngineOptions options;
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&card.fake().driver(), {}, FakeDriver::images()));
    return options;
}

inline TinyShape wideHeads() {
    TinyShape shape;
    shape.hidden = 128;
    shape.intermediate = 128;
    shape.per_layer = 64;
    shape.heads = 2;
    shape.sliding_dim = 256;
    shape.full_dim = 512;
    return shape;
}

inline int32_t idAt(int64_t position) {
    return static_cast<int32_t>(30 + (position * position * 37 + position * 11) % 340);
}

} // namespace support
