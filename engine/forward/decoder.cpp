// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/decoder.h"

#include "engine/forward/matrix_views.h"
#include "engine/forward/token/decode_step.h"

#include <algorithm>
#include <cassert>

namespace engine {

using kernels::MutF32;

Stream Decoder::begin(int64_t rows) const {
    Stream stream;
    stream.home = model_->text.layers.front().home;
    stream.x = stream.home->matrix(Buffer::X, rows, model_->config.text.hidden_size);
    return stream;
}

Result<void> Decoder::moveTo(DeviceScratch& where, Stream& stream) {
    if (stream.home == &where) {
        return {};
    }
    const MutF32 there = where.matrix(Buffer::X, stream.x.rows, stream.x.cols);
    ENGINE_TRY(
        model_->context->move(*stream.home, stream.x.data, where, there.data, sizeBytes(stream.x)));
    stream = {&where, there};
    return {};
}

Result<void> Decoder::head(Stream stream,
                           std::vector<float>& logits,
                           const HiddenObserver* observer,
                           std::vector<float>* hidden,
                           RowChoices* choices) {
    const TextConfig& text = model_->config.text;
    const Linear& weight = model_->text.head;
    DeviceScratch& where = *model_->text.head_home;
    ENGINE_TRY(moveTo(where, stream));
    const MutF32 rows = stream.x;
    const auto queue = where.queue();
    const auto& ops = where.ops();
    const MutF32 normed = where.matrix(Buffer::H, rows.rows, rows.cols);
    ENGINE_KERNEL(ops.rms_norm(queue, rows, model_->text.final_norm,
                               static_cast<float>(text.rms_norm_eps), normed),
                  "final norm", weight.name);
    ENGINE_TRY(observe(observer, static_cast<int>(text.num_layers), {&where, normed}));
    if (hidden != nullptr) {
        hidden->resize(static_cast<size_t>(normed.rows * normed.cols));
        ENGINE_KERNEL(where.device().copyOut(hidden->data(), normed.data, sizeBytes(normed)),
                      "copy out", "final norm");
    }
    logits.clear();
    for (int64_t first = 0; first < rows.rows; first += kHeadRows) {
        const int64_t count = std::min(kHeadRows, rows.rows - first);
        const MutF32 out = where.matrix(Buffer::Logits, count, text.vocab_size);
        ENGINE_TRY(model_->context->linear(weight, where, rowsOf(normed, first, count), out));
        if (text.final_logit_softcap > 0) {
            ENGINE_KERNEL(ops.soft_cap(queue, out, static_cast<float>(text.final_logit_softcap)),
                          "soft cap", weight.name);
        }
        if (choices != nullptr && rows.rows <= kHeadRows) {
            ENGINE_ASSIGN(const bool are_told, choose(where, rows.rows, *choices));
            if (are_told) {
                return {};
            }
        }
        logits.resize(static_cast<size_t>(rows.rows * text.vocab_size));
        ENGINE_KERNEL(where.device().copyOut(logits.data() + first * text.vocab_size, out.data,
                                             sizeBytes(out)),
                      "copy out", weight.name);
    }
    return {};
}

Result<bool> Decoder::choose(DeviceScratch& where, int64_t rows, RowChoices& choices) {
    choices.rows.assign(static_cast<size_t>(rows), {});
    if (!choices.is_greedy && !model_->decode.has_candidates) {
        return false;
    }
    chooser_.reset(); // a token's step writes the suppressed ones too
    for (int64_t row = 0; row < rows; ++row) {
        TokenChoice choice;
        choice.is_greedy = choices.is_greedy;
        choice.wanted = choices.wanted;
        choice.suppressed = choices.suppressed;
        ENGINE_TRY(chooser_.choose(where, model_->config.text.vocab_size, choice, row));
        if (!choice.isTold()) {
            choices.rows.assign(static_cast<size_t>(rows), {});
            return false;
        }
        choices.rows[static_cast<size_t>(row)] = {choice.token, choice.top};
    }
    return true;
}

Result<void> Decoder::observe(const HiddenObserver* observer, int index, const Stream& stream) {
    if (observer == nullptr) {
        return {};
    }
    rows_host_.resize(static_cast<size_t>(stream.x.rows * stream.x.cols));
    ENGINE_KERNEL(
        stream.home->device().copyOut(rows_host_.data(), stream.x.data, sizeBytes(stream.x)),
        "copy out", "observer");
    (*observer)(index, rows_host_, stream.x.rows);
    return {};
}

LayerExecutor& Decoder::executorOf(int index, int64_t rows) {
    const bool is_fused = rows > 1 && model_->text.layers[static_cast<size_t>(index)].takes_rows;
    return is_fused ? static_cast<LayerExecutor&>(fused_) : single_;
}

Result<bool> Decoder::runCut(int index,
                             const LayerCall& call,
                             Stream& stream,
                             DecodeStep* last_row,
                             std::vector<float>& logits) {
    LayerExecutor& all_rows = executorOf(index, stream.x.rows);
    ENGINE_TRY(all_rows.storeKeys(call, index, stream.x));
    const int64_t wanted = call.rows.logitsRows();
    if (wanted == 0) {
        logits.clear();
        return true;
    }
    stream.x = rowsOf(stream.x, call.rows.firstOf(wanted), wanted);
    const bool is_in_block = call.rows.hasBlocks() && call.rows.blocks().back() >= 0;
    if (last_row != nullptr && wanted == 1 && !is_in_block && &all_rows == &fused_) {
        ENGINE_ASSIGN(const bool is_done, last_row->finish(index, stream.x.data,
                                                           call.rows.firstOf(1), call.kv, logits));
        if (is_done) {
            return true;
        }
    }
    ENGINE_TRY(executorOf(index, wanted).runLayer(call, index, stream.x, true));
    return false;
}

Result<void> Decoder::run(const ForwardInput& input,
                          const LayerCall& call,
                          DecodeStep* last_row,
                          std::vector<float>& logits,
                          const std::stop_token& stop,
                          const HiddenObserver* observer) {
    const TextConfig& text = model_->config.text;
    Stream stream = begin(call.rows.count());
    ENGINE_TRY(inputs_.embed(input.ids, input.features, *stream.home, stream.x));
    ENGINE_TRY(observe(observer, 0, stream));
    if (text.ple_size > 0) {
        ENGINE_TRY(inputs_.perLayer(*stream.home, stream.x, input.logits_rows));
    }
    const int cut = input.logits_rows < call.rows.count() ? text.lastKvOwner() : -1;
    fused_.begin();
    for (int i = 0; i < static_cast<int>(text.num_layers); ++i) {
        if (!model_->mayGoOn(stop)) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        const DecoderLayer& layer = model_->text.layers[static_cast<size_t>(i)];
        ENGINE_TRY(moveTo(*layer.home, stream));
        ENGINE_TRY(call.rows.uploadTo(*layer.home, call.kv));
        ENGINE_TRY(call.rows.uploadTo(*layer.attention, call.kv));
        if (i == cut) {
            ENGINE_ASSIGN(const bool has_ended, runCut(i, call, stream, last_row, logits));
            if (has_ended) {
                return {};
            }
        } else {
            ENGINE_TRY(executorOf(i, stream.x.rows).runLayer(call, i, stream.x, false));
        }
        if (i + 1 < static_cast<int>(text.num_layers)) {
            ENGINE_TRY(observe(observer, i + 1, stream));
        }
    }
    return head(stream, logits, observer, input.hidden, input.choices);
}

Result<void> Decoder::forward(const ForwardInput& input,
                              KvCache& kv,
                              DecodeStep* last_row,
                              std::vector<float>& logits,
                              const std::stop_token& stop,
                              const HiddenObserver* observer) {
    const auto rows = static_cast<int64_t>(input.ids.size());
    if (rows == 0 || rows > model_->max_rows || input.logits_rows > rows) {
        return Error{ErrorCode::Internal, "forward: " + std::to_string(rows) +
                                              " rows asked for, 1 to " +
                                              std::to_string(model_->max_rows) + " are possible"};
    }
    ENGINE_TRY(rows_.open(*model_, kv, rows, input.block, input.logits_rows));
    kv.append(rows_.blocks());
    Result<void> outcome = run(input, {model_->decoderStack(), kv, rows_},
                               observer == nullptr && input.hidden == nullptr ? last_row : nullptr,
                               logits, stop, observer);
    if (!outcome.has_value()) {
        // Rows of a failed call must not be visible to the next one. A long call has overwritten
        // the window before it: then nothing is left.
        const bool is_rolled_back = kv.takeBack();
        assert(is_rolled_back || rows_.isStaged());
        if (!is_rolled_back) {
            kv.clear();
        }
    }
    return outcome;
}

} // namespace engine
