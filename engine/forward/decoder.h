// SPDX-License-Identifier: Apache-2.0
// The text decoder for the rows of one call: embedding, per-layer inputs, layers, head. Formulas:
// ARCHITECTURE.md of the family. Rows other than the last few stop behind the last layer that owns
// KV: the layers behind it write no cache, so nobody ever reads those rows. Single tokens go
// another way (token_runner.h).
#pragma once

#include "engine/forward/decoder_inputs.h"
#include "engine/forward/layers/fused_rows.h"
#include "engine/forward/layers/single_layers.h"
#include "engine/forward/token/token_choice.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

class DecodeStep;

struct ForwardInput {
    std::span<const int32_t> ids;   ///< Rows of this call; placeholders as they are.
    std::span<const int32_t> block; ///< Image block per row or -1; empty = none.
    std::vector<FeatureSpan> features;
    int64_t logits_rows = 1; ///< Logits for the last n rows; the others stop after the
                             ///< last layer that owns KV. 0 = fill the cache only.
    /// Filled with the rows behind the final norm, [logits_rows, hidden], for drafts; or nullptr.
    std::vector<float>* hidden = nullptr;
    /// Whose rows get the choices where the head's device makes them; logits stay empty then. Of at
    /// most kHeadRows rows; or nullptr.
    RowChoices* choices = nullptr;
};

/// Sees the residual stream, for tests: (index, values [rows, hidden]); index 0 after embedding,
/// i after decoder layer i - 1, num_layers after the final norm.
using HiddenObserver = std::function<void(int index, std::span<const float> values, int64_t rows)>;

/// The residual stream on its way through devices.
struct Stream {
    DeviceScratch* home = nullptr;
    kernels::MutF32 x; ///< [rows, hidden], Buffer::X of `home`.
};

class Decoder {
public:
    explicit Decoder(BoundModel& model)
        : model_(&model), inputs_(model), single_(model), fused_(model) {}

    /// As Model::forward(). last_row: takes the last row's rest where it can; may be nullptr.
    Result<void> forward(const ForwardInput& input,
                         KvCache& kv,
                         DecodeStep* last_row,
                         std::vector<float>& logits,
                         const std::stop_token& stop,
                         const HiddenObserver* observer);

    // What a token's way shares.
    [[nodiscard]] DecoderInputs& inputs() { return inputs_; }
    [[nodiscard]] SingleLayers& single() { return single_; }
    /// Where the first layer is; x is not filled.
    [[nodiscard]] Stream begin(int64_t rows) const;
    /// The stream to another device; nothing where it is there.
    Result<void> moveTo(DeviceScratch& where, Stream& stream);
    /// Final norm and head: logits [rows, vocab], soft-capped. observer may be nullptr; hidden and
    /// choices: as ForwardInput has them.
    Result<void> head(Stream stream,
                      std::vector<float>& logits,
                      const HiddenObserver* observer,
                      std::vector<float>* hidden = nullptr,
                      RowChoices* choices = nullptr);

private:
    Result<void> run(const ForwardInput& input,
                     const LayerCall& call,
                     DecodeStep* last_row,
                     std::vector<float>& logits,
                     const std::stop_token& stop,
                     const HiddenObserver* observer);
    /// The layer where rows without logits stop. True: the call has ended here.
    Result<bool> runCut(int index,
                        const LayerCall& call,
                        Stream& stream,
                        DecodeStep* last_row,
                        std::vector<float>& logits);
    [[nodiscard]] LayerExecutor& executorOf(int index, int64_t rows);
    /// Fills choices' rows from the logits that were enqueued. False: the device does not tell one.
    Result<bool> choose(DeviceScratch& where, int64_t rows, RowChoices& choices);
    Result<void> observe(const HiddenObserver* observer, int index, const Stream& stream);

    BoundModel* model_;
    DecoderInputs inputs_;
    SingleLayers single_;
    FusedRows fused_;
    CallRows rows_;
    HeadChooser chooser_;
    std::vector<float> rows_host_; ///< For the observer.
};

} // namespace engine
