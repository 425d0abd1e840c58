// SPDX-License-Identifier: Apache-2.0
// What a caller sees of an engine that loads a model, whichever runs behind it: the window's
// worker, the server and the chat of belfry-cli talk to this alone. The engine of this program is
// engine::Engine (run/engine.h), which also plans.
// Every method belongs to one thread (the engine thread); cancelling goes through stop tokens.
// Requests in and results out are plain values.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/api/sentence.h"
#include "engine/api/snapshot.h"
#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace engine {

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
    std::vector<Sentence> notes; ///< As of a reply: media that were cut or changed.
};

class EngineClient {
public:
    EngineClient() = default;
    virtual ~EngineClient() = default;
    EngineClient(const EngineClient&) = delete;
    EngineClient& operator=(const EngineClient&) = delete;

    /// What the loaded model can do; without one, what the engine can do at best.
    [[nodiscard]] virtual Capabilities capabilities() const = 0;

    /// What a model holds, and what adapters cover. Reads headers only (adapters are read whole
    /// for the norms of their deltas).
    virtual Result<ModelSummary> inspect(const std::string& model,
                                         const std::vector<std::string>& adapters) = 0;

    /// Loads. On error what was loaded before is still there and usable, as far as memory allows
    /// both side by side; otherwise see LoadRequest rules in engine/README.md.
    virtual Result<void> load(const LoadRequest& request,
                              const ProgressCallback& progress,
                              const std::stop_token& stop) = 0;
    virtual void unload() = 0;

    /// Also true for a model that memory did not let stay and that the next request loads again.
    [[nodiscard]] virtual bool isLoaded() const = 0;
    [[nodiscard]] virtual const LoadRequest& loadedRequest() const = 0;
    [[nodiscard]] virtual std::shared_ptr<const ModelSummary> summary() const = 0;
    [[nodiscard]] virtual double loadSeconds() const = 0;
    /// What the plan says, what is odd about the files, what became of the weight cache and what
    /// was left out. The window shows none of it.
    [[nodiscard]] virtual std::vector<Sentence> loadNotes() const = 0;
    /// Tokens held in the KV cache, and its size.
    [[nodiscard]] virtual std::pair<int64_t, int64_t> contextUse() const = 0;

    /// One reply. Reuses the part of the KV cache that was computed for the same tokens, media and
    /// adapters. `delta` is called per token with complete characters.
    virtual Result<Reply> generate(const GenerateRequest& request,
                                   const UpdateCallback& delta,
                                   const std::stop_token& stop) = 0;

    // What not every engine does: with the capability named first, where there is one. Others
    // answer Unsupported, or nothing.

    /// places_parts. Re-places the loaded model: moves only what changed, keeps the chat's KV
    /// cache.
    virtual Result<void> applyMap(const std::string& device_map,
                                  const ProgressCallback& progress,
                                  const std::stop_token& stop);
    /// places_parts. Of what is loaded; nullptr without.
    [[nodiscard]] virtual std::shared_ptr<const PlacementPlan> currentPlan() const;
    /// tells_memory. Of the devices that what is loaded, or being loaded, uses; empty when there is
    /// none.
    [[nodiscard]] virtual std::vector<DeviceMemory> memory() const;
    /// tells_memory. Of this machine, whatever is loaded: sizes and what other programs use. Opens
    /// no card.
    [[nodiscard]] virtual std::vector<DeviceMemory> machineMemory() const;

    /// takes_adapters. Strengths, switches, additions and removals of adapters; the base is not
    /// touched.
    virtual Result<void> setAdapters(const std::vector<AdapterChoice>& adapters,
                                     const std::stop_token& stop);
    /// takes_adapters. Runs the loaded model without adapters and with this one, on fixed tokens,
    /// pixels and log-mel frames. The adapters in use are back afterwards; the chat's KV cache is
    /// not. Errors: those of setAdapters and logits.
    virtual Result<AdapterSummary::Effect> adapterEffect(const std::string& folder,
                                                         const std::stop_token& stop);

    /// Logits of the last `rows` prompt tokens.
    virtual Result<LogitsResult>
    logits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop);

    /// Encodes an attachment ahead of its use (while the user still types).
    virtual Result<void>
    encodeAhead(const MessagePart& part, int64_t image_tokens, const std::stop_token& stop);
    /// Whether `model`, loaded or not, can take these files, by its config and their
    /// headers. Errors: those of reading the model and the files; InvalidRequest (no tower for
    /// them, a recording that is too long).
    virtual Result<void> checkMedia(const std::string& model,
                                    const std::vector<std::string>& images,
                                    const std::vector<std::string>& audios) const;
    /// Token cost from the file's header.
    virtual Result<MediaCost> mediaCost(const MessagePart& part, int64_t image_tokens);
};

} // namespace engine
