// SPDX-License-Identifier: Apache-2.0
// What is measured and counted about a loaded model and this machine, for benchmarks. GB are 1e9
// bytes; arithmetic counts a multiply-add as two.
#pragma once

#include "engine/api/device_id.h"

#include <cstdint>
#include <string>

namespace engine {

/// What the processor and main memory reach at most; measured with all threads.
struct MachineRates {
    int threads = 0;
    std::string kernels;        ///< Name of the processor kernels in use: "cpu-avx2".
    double read_gb_per_s = 0.0; ///< Streaming read.
    double fp32_gflops = 0.0;
    double bf16_gflops = 0.0; ///< 0 without the instruction.
};

/// What a card reaches when it only reads or only multiplies; 0 = not known.
struct CardCeiling {
    DeviceId device;
    double read_gb_per_s = 0.0;
    double bf16_gflops = 0.0;
};

/// Work of the loaded model, counted from its config and plan, not timed.
struct WorkCounts {
    int64_t vocab_size = 0;
    double decode_bytes = 0.0;  ///< Weight bytes read per decoded token.
    double prefill_flops = 0.0; ///< Per prompt token that is not the last (with the KV cut).
};

/// What a picture or a sound is in the loaded model's prompt: token ids around and of it.
struct MediumShape {
    int64_t begin_id = 0, soft_id = 0, end_id = 0;
    int64_t soft_tokens = 0;
};

/// Which linear layers a random adapter is on.
enum class AdapterTargets : uint8_t {
    /// q, k, v, o, gate, up and down_proj of decoder and towers: what adapters are usually trained
    /// on ("all seven linears").
    Projections = 1,
    AllLinear, ///< Everything but the output head: also the per-layer-input linears.
};

} // namespace engine
