// SPDX-License-Identifier: Apache-2.0
// The engine as one object: inspect, plan, load, re-place, adapters, generate. belfry-cli calls it
// directly; the window calls it from its worker thread. Every method belongs to one thread (the
// engine thread); cancelling goes through stop tokens. Requests in and results out are plain
// values (engine/api).
#pragma once

#include "engine/api/chat.h"
#include "engine/api/session.h"
#include "engine/base/result.h"
#include "engine/gemma4/config.h"
#include "engine/plan/plan_english.h"
#include "kernels/cpu/machine_probe.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct GpuAccess;
struct OwnedDevices;

struct EngineOptions {
    std::string demo_folder; ///< Where "demo" is; empty = not available.
    /// Where this computer's measured rates are kept; measured by the first plan when the file is
    /// missing. Empty: estimates use the planner's documented constants.
    std::string rates_file;
    /// Called with the devices of every load before anything is allocated on them. A seam for
    /// tests, which limit devices or let allocations fail.
    std::function<void(OwnedDevices&)> on_devices;
    /// Called on the engine's thread between the layers of a prompt and of the towers, often: the
    /// window publishes the state of the memory from it. Must not call the engine back except for
    /// memory(), contextUse() and other plain questions.
    std::function<void()> on_step;
    /// Graphics cards; nullptr = those of this machine.
    std::shared_ptr<const GpuAccess> gpus;
};

struct LoadProgressValue {
    std::string stage; ///< "check", "allocate", "read", "move"
    uint64_t bytes_done = 0, bytes_total = 0;
    std::string tensor;
};
using ProgressCallback = std::function<void(const LoadProgressValue&)>;
using UpdateCallback = std::function<void(const ReplyUpdate&)>;

/// Raw logits, for tests and scripts.
struct LogitsResult {
    std::vector<float> logits; ///< [rows, vocab]
    int64_t rows = 0, vocab = 0;
    std::vector<int32_t> input_ids;
    std::vector<std::string> notes; ///< As of a reply: media that were cut or changed.
};

/// What a card reaches when it only reads or only multiplies; 0 = not known.
struct CardCeiling {
    DeviceId device;
    double read_gb_per_s = 0.0;
    double bf16_gflops = 0.0;
};

class Engine {
public:
    explicit Engine(EngineOptions options = {});
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// What a folder holds, and what adapters cover. Reads headers only (adapters are read whole
    /// for the norms of their deltas).
    Result<ModelSummary> inspect(const std::string& model,
                                 const std::vector<std::string>& adapters);

    /// The plan for a request; allocates nothing. Problems of the map stand in plan.errors.
    /// `held`: memory of this program per device that the plan would give back first.
    /// Errors: only when the model or an adapter cannot be read.
    Result<PlacementPlan> plan(const LoadRequest& request,
                               const std::map<DeviceId, uint64_t>& held = {});
    /// The plan's map for other programs. Errors: as plan(), and every error of the map; a plan
    /// that only does not fit (DM09) is exported with a line among the losses.
    Result<MapExport> exportMap(const LoadRequest& request, MapExport::Kind kind);

    /// Loads. On error what was loaded before is still there and usable, as far as memory allows
    /// both side by side; otherwise see LoadRequest rules in engine/README.md.
    Result<void>
    load(const LoadRequest& request, const ProgressCallback& progress, const std::stop_token& stop);
    void unload();

    /// Re-places the loaded model: moves only what changed, keeps the chat's KV cache.
    Result<void> applyMap(const std::string& device_map,
                          const ProgressCallback& progress,
                          const std::stop_token& stop);

    /// Strengths, switches, additions and removals of adapters; the base is not touched.
    Result<void> setAdapters(const std::vector<AdapterChoice>& adapters,
                             const std::stop_token& stop);

    /// Runs the loaded model without adapters and with this one, on fixed tokens, pixels and
    /// log-mel frames. The adapters in use are back afterwards; the chat's KV cache is not.
    /// Errors: those of setAdapters and logits.
    Result<AdapterSummary::Effect> adapterEffect(const std::string& folder,
                                                 const std::stop_token& stop);

    /// The folders behind the names "demo"; other names come back as they are.
    [[nodiscard]] std::string modelFolder(const std::string& model) const;
    [[nodiscard]] std::string adapterFolder(const std::string& adapter) const;

    /// Also true for a model that memory did not let stay and that the next request loads again.
    [[nodiscard]] bool isLoaded() const;
    [[nodiscard]] const LoadRequest& loadedRequest() const;
    /// Errors: InvalidRequest when nothing is loaded.
    [[nodiscard]] Result<ModelConfig> loadedConfig() const;
    [[nodiscard]] std::shared_ptr<const ModelSummary> summary() const;
    [[nodiscard]] std::shared_ptr<const PlacementPlan> currentPlan() const;
    /// Of the devices that what is loaded, or being loaded, uses; empty when there is none.
    [[nodiscard]] std::vector<DeviceMemory> memory() const;
    /// Of this machine, whatever is loaded: sizes and what other programs use. Opens no card.
    [[nodiscard]] std::vector<DeviceMemory> machineMemory() const;
    [[nodiscard]] double loadSeconds() const;
    [[nodiscard]] std::vector<std::string> loadNotes() const;
    /// Tokens held in the KV cache, and its size.
    [[nodiscard]] std::pair<int64_t, int64_t> contextUse() const;

    /// One reply. Reuses the part of the KV cache that was computed for the same tokens, media and
    /// adapters. `delta` is called per token with complete characters.
    Result<Reply> generate(const GenerateRequest& request,
                           const UpdateCallback& delta,
                           const std::stop_token& stop);

    /// Logits of the last `rows` prompt tokens.
    Result<LogitsResult>
    logits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop);

    /// Encodes an attachment ahead of its use (while the user still types).
    Result<void>
    encodeAhead(const MessagePart& part, int64_t image_tokens, const std::stop_token& stop);
    /// Whether `model`, loaded or not, can take these files, by its config and their headers.
    /// Errors: those of reading the model and the files; InvalidRequest (no tower for them, a
    /// recording that is too long).
    Result<void> checkMedia(const std::string& model,
                            const std::vector<std::string>& images,
                            const std::vector<std::string>& audios) const;
    /// Token cost from the file's header.
    Result<MediaCost> mediaCost(const MessagePart& part, int64_t image_tokens);

    /// Token ids of a text as `tokenize` prints them, and their spellings.
    struct Tokenized {
        std::vector<int32_t> ids;
        std::vector<std::string> pieces;
    };
    Result<Tokenized> tokenize(const std::string& model, std::string_view text);

    /// Benchmarks: seconds to encode random pixels or random log-mel frames, and the machine's
    /// measured ceilings.
    Result<double> measureImage(int64_t grid_w, int64_t grid_h);
    Result<double> measureAudio(int64_t frames);
    kernels::cpu::MachineRates measureMachine(double seconds);
    /// Streaming read of a fresh buffer with all threads, in GB/s: what measureMachine() says, of
    /// this moment.
    double measureRead(double seconds);
    /// Of every opened card: about 50 ms each, with up to 1 GiB of its memory meanwhile.
    std::vector<CardCeiling> measureCards();
    /// Plain read of the decoder's weights where they are, in GB/s: what decoding could reach at
    /// most. Virtual machines may back memory unevenly, so this can differ from the rate of a fresh
    /// buffer. 0 when no such weight is in this computer's memory.
    double measureWeightRead(double seconds);
    /// The arithmetic bound of decoding in GB/s of weights: what one token's products with the
    /// decoder's linear layers and the head would reach if their weights were in the cores' own
    /// caches and no thread waited. Takes some tenths of a second. 0 when a linear is not computed
    /// on the processor.
    double measureDecodeArithmetic();

private:
    // The work behind the public methods of the same purpose; those turn a failed allocation of
    // plain memory into OutOfMemory and leave a state that the next call can work with.
    Result<void> loadModel(const LoadRequest& request,
                           const ProgressCallback& progress,
                           const std::stop_token& stop);
    Result<void> replace(const std::string& device_map,
                         const ProgressCallback& progress,
                         const std::stop_token& stop);
    Result<void> changeAdapters(const std::vector<AdapterChoice>& adapters,
                                const std::stop_token& stop);
    /// The model as last loaded or placed, once more: after a step that cannot be undone. The
    /// chat's cache starts empty. Returns `error`, which also says so when even this failed.
    Error loadAgain(Error error) noexcept;
    /// loadAgain() for a model that has gone already.
    Error putBackAfter(Error error) noexcept;
    /// Loads a lost model. Where memory is still short it stays lost and the next request tries
    /// again; other errors end that. May throw bad_alloc, which counts as short memory.
    Result<void> putBack();
    Result<Reply> answer(const GenerateRequest& request,
                         const UpdateCallback& delta,
                         const std::stop_token& stop);
    Result<LogitsResult>
    promptLogits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace engine
