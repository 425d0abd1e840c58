// SPDX-License-Identifier: Apache-2.0
// What the sections of belfry_gpu_tests share: the machine, golden models loaded as they are asked
// for, their logits and tokens, and memory as predicted. The sections stand in gpu_tests_*.cpp.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"
#include "engine/run/engine.h"
#include "kernels/cuda/cards.h"
#include "tests/gpu/check_list.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/golden.h"
#include "tests/support/model/golden_model.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gpu {

/// Simulated cards in place of real ones: shows that the checks themselves are right.
extern bool is_simulated;

/// Options of every engine here: the cards of this machine, or emulated ones.
engine::EngineOptions& engineOptions();

struct Machine {
    const kernels::cuda::Driver* driver = nullptr;
    std::vector<kernels::cuda::Card> cards; ///< Usable ones.
    [[nodiscard]] uint64_t freeBytes() const;
};

/// A golden model in fp32 with a context of 256. "cuda:" in `map` becomes "sim:" where cards are
/// simulated.
engine::LoadRequest
requestFor(const std::string& family, const std::string& map, const std::string& folder = "model");

/// What is wrong; empty = loaded.
std::string load(engine::Engine& engine, const engine::LoadRequest& request);

/// Greedy, no end of text.

/// Empty vector with *wrong set on error.
std::vector<float>
logits(engine::Engine& engine, const support::GoldenCase& c, int64_t rows, std::string* wrong);
std::vector<int32_t>
greedy(engine::Engine& engine, const support::GoldenCase& c, int count, std::string* wrong);

std::string number(double value);

const std::vector<std::string>& families();

/// Golden logits of a case by `rows` last positions; empty = the case is left out.
using GoldenLogits = std::function<std::vector<float>(const support::GoldenCase&)>;

/// Logits of every case of a family against golden values of `rows` positions, and the tokens.
std::string compareCases(engine::Engine& engine,
                         const std::string& family,
                         int64_t rows,
                         const GoldenLogits& golden,
                         bool compares_tokens,
                         double bound,
                         std::string* figure);

/// A bound per case.
using CaseBound = std::function<double(const support::GoldenCase&)>;

/// What transformers' own bf16 run of a golden case is away from the golden logits: NMSE, and the
/// largest difference as a share of the largest logit.
struct Noise {
    double nmse = 0.0, largest = 0.0;
};
Noise noiseOf(const std::string& family, const support::GoldenCase& c);

/// The NMSE allowed for 8 rows of a 4-bit model or with an adapter: half as much again as the
/// noisiest of the bf16 runs of transformers and of bitsandbytes that the golden data of the family
/// holds. So few rows vary; for the experts model one expert more or less is 0.1.
double fewRowsBound(const std::string& family);

/// Logits of the last `rows` prompt tokens, one token after another as if they were decoded: the
/// prompt before them in one piece, then steps of one row on its cache.
std::vector<float> steppedLogits(engine::Engine& engine,
                                 const support::GoldenCase& c,
                                 int64_t rows,
                                 std::string* wrong);

/// Default precision: of every case the last `rows` logits of the prompt and the last 8 by single
/// steps, as NMSE against golden values. The figure names the measured values that come closest to
/// their bounds.
std::string compareDefault(engine::Engine& engine,
                           const std::string& family,
                           int64_t rows,
                           const GoldenLogits& golden,
                           const CaseBound& bound,
                           std::string* figure);

std::vector<float> expectedLogits(const std::string& family, const support::GoldenCase& c);

/// A device map of our own format: the device of what `entries` do not name, and the entries.
std::string native(const std::string& fallback, const std::string& entries);

// The sections.
void golden(CheckList& list);
void quantized(CheckList& list);
void placements(CheckList& list, bool has_second);
void adapters(CheckList& list, bool has_second);
void determinism(CheckList& list);
void drawn(CheckList& list);
void drafts(CheckList& list);
void cancel(CheckList& list, const Machine& machine);
void outOfMemory(CheckList& list, const Machine& machine, const std::string& program);
void reloads(CheckList& list, const Machine& machine, int count);
void predictedMemory(CheckList& list, const Machine& machine);
void limits(CheckList& list, const Machine& machine);

} // namespace gpu
