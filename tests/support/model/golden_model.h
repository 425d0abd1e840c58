// SPDX-License-Identifier: Apache-2.0
// A golden model opened for tests: config, weights in memory, devices, model, cache; and its cases
// with their media as the golden preprocessing gives them (so that the model is tested apart from
// our own image and audio front end).
#pragma once

#include "engine/forward/memory/kv_cache.h"
#include "engine/forward/model.h"
#include "kernels/cpu/host_device.h"
#include "kernels/cpu/thread_pool.h"
#include "tests/support/model/memory_weights.h"

#include <memory>
#include <string>
#include <vector>

namespace support {

struct GoldenCase {
    std::string id;
    std::string image, audio; ///< File relative to goldenDir() or absolute; empty: none.
    std::vector<int32_t> input_ids;
    std::vector<int32_t> greedy;
};

/// The cases of a family in goldenDir(), or else of a model in goldenMoreDir().
std::vector<GoldenCase> goldenCases(const std::string& family);
/// The case of this name; ends the test program where there is none.
GoldenCase goldenCase(const std::string& family, const std::string& id);
/// The first case with these media and no others; ends the test program where there is none.
GoldenCase goldenCaseWith(const std::string& family, bool has_image, bool has_audio);

/// A model whose every tensor sits on the CPU.
struct OpenGoldenModel {
    engine::ModelConfig config;
    std::unique_ptr<kernels::cpu::ThreadPool> pool;
    std::unique_ptr<kernels::cpu::HostDevice> cpu;
    engine::DeviceMapping devices;
    std::unique_ptr<MemoryWeights> weights;
    engine::PlacementPlan plan;
    std::unique_ptr<engine::KvCache> kv;
    std::unique_ptr<engine::Model> model;
};

/// Ends the test program with a message when anything fails.
OpenGoldenModel openGoldenModel(const std::string& family,
                                bool is_reference,
                                const kernels::OpTable& ops,
                                int64_t chunk = 512,
                                int64_t context = 256,
                                engine::Format kv_format = engine::Format::AsStored);

/// The same for any folder with one weight file.
OpenGoldenModel openModel(const std::filesystem::path& folder,
                          engine::ModelConfig config,
                          bool is_reference,
                          const kernels::OpTable& ops,
                          int64_t chunk,
                          int64_t context,
                          engine::Format kv_format = engine::Format::AsStored);

/// Runs of soft tokens in ids: first row, count, token id.
struct SoftTokenRun {
    int64_t first = 0, count = 0;
    int32_t id = 0;
};
std::vector<SoftTokenRun> softTokenRuns(const engine::ModelConfig& config,
                                        const std::vector<int32_t>& ids);

/// Features of a case's image and audio, encoded by the model from golden patches and log-mel;
/// without towers from the files, and the towers' outputs are the projectors' inputs.
struct CaseFeatures {
    std::vector<float> image, audio;
    std::vector<float> vision_tower, audio_tower;
};
CaseFeatures encodeCase(engine::Model& model, const GoldenCase& c);

/// Prefill in chunks of `chunk` rows (image blocks kept whole), logits of the last n rows.
/// The observer sees every call.
std::vector<float> prefill(engine::Model& model,
                           engine::KvCache& kv,
                           const std::vector<int32_t>& ids,
                           const CaseFeatures& features,
                           int64_t logits_rows,
                           int64_t chunk,
                           const engine::HiddenObserver* observer = nullptr);

/// Greedy continuation, no stop tokens, nothing suppressed; `logits` are those of the last row.
std::vector<int32_t>
greedy(engine::Model& model, engine::KvCache& kv, std::vector<float> logits, int count);

} // namespace support
