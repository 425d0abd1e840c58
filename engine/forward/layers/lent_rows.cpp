// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/lent_rows.h"

#include "engine/forward/matrix_views.h"

#include <algorithm>

namespace engine {

using kernels::MatF32;
using kernels::MutF32;
using kernels::Status;
using kernels::WeightView;

namespace {

/// Blocks of every format begin with a row that is a multiple of this.
constexpr int64_t kRowStep = 256;
constexpr size_t kRoomAlignment = 256;

} // namespace

float* LentRows::Room::take(int64_t floats) {
    const size_t size = (static_cast<size_t>(floats) * sizeof(float) + kRoomAlignment - 1) /
                        kRoomAlignment * kRoomAlignment;
    if (size > bytes) {
        return nullptr;
    }
    auto* const taken = reinterpret_cast<float*>(at);
    at += size;
    bytes -= size;
    return taken;
}

LentRows::LentRows(const BoundModel& model, const DeviceScratch& home, int64_t rows)
    : model_(&model), home_(&home) {
    if (home.id() == DeviceId::cpu() && rows >= model.decode.least_lent_rows) {
        card_ = model.context->borrower();
        lent_ = card_ == nullptr ? nullptr : model.context->lent(*card_);
    }
    if (lent_ != nullptr) {
        room_ = {reinterpret_cast<std::byte*>(card_->buffer(Buffer::Lent)),
                 static_cast<size_t>(card_->size(Buffer::Lent)) * sizeof(float)};
    }
}

bool LentRows::isLent(const Linear& linear) const {
    return lent_ != nullptr && linear.device == home_->id() && linear.is_resident &&
           !linear.hasClips();
}

Result<bool>
LentRows::multiplyPart(const Linear& linear, int64_t first, int64_t rows, MatF32 x, MutF32 y) {
    ENGINE_ASSIGN(WeightView view, model_->context->resident(linear));
    if (!takeRows(view, first, rows) || lent_->mostOf(view) < 1) {
        return false;
    }
    WeightView there;
    ENGINE_KERNEL(lent_->lend(view, there), "copy in", linear.name);
    ENGINE_KERNEL(card_->ops().linear(card_->queue(), x, there, y), "linear", linear.name);
    return true;
}

Result<bool> LentRows::multiply(const Linear& linear, MatF32 x, MutF32 y) {
    ENGINE_ASSIGN(WeightView step, model_->context->resident(linear));
    const int64_t all = step.rows;
    step.rows = std::min(kRowStep, all);
    lent_->lendIn(room_.at, room_.bytes);
    const int64_t at_once = std::min(all, lent_->mostOf(step) * step.rows);
    for (int64_t first = 0; first < all && at_once > 0; first += at_once) {
        const int64_t rows = std::min(at_once, all - first);
        ENGINE_ASSIGN(const bool is_done, multiplyPart(linear, first, rows, x,
                                                       {y.data + first, y.rows, rows, y.stride}));
        if (!is_done) {
            return false;
        }
    }
    return at_once > 0;
}

Result<bool> LentRows::product(const Linear& linear, MatF32 x, MutF32 y) {
    if (!isLent(linear)) {
        return false;
    }
    const Room all = room_;
    const auto placed = [this](Buffer buffer, int64_t rows, int64_t cols) {
        return MutF32{rows * cols <= card_->size(buffer) ? card_->buffer(buffer)
                                                         : room_.take(rows * cols),
                      rows, cols, cols};
    };
    const MutF32 in = placed(Buffer::H, x.rows, x.cols);
    const MutF32 out = placed(Buffer::T, y.rows, y.cols);
    bool is_done = false;
    if (in.data != nullptr && out.data != nullptr) {
        ENGINE_KERNEL(lent_->send(in.data, x.data, sizeBytes(x)), "copy in", linear.name);
        ENGINE_ASSIGN(is_done, multiply(linear, in, out));
    }
    room_ = all;
    if (!is_done) {
        return false;
    }
    ENGINE_KERNEL(lent_->fetch(y.data, out.data, sizeBytes(y)), "copy out", linear.name);
    ENGINE_TRY(addUpdates(linear, x, y));
    return true;
}

template <typename T>
Status LentRows::place(const T*& values, int64_t count) {
    if (values == nullptr) {
        return Status::Ok;
    }
    const auto bytes = static_cast<size_t>(count) * sizeof(T);
    float* const there = room_.take(static_cast<int64_t>((bytes + 3) / 4));
    if (there == nullptr) {
        return Status::Unsupported;
    }
    const Status status = lent_->send(there, values, bytes);
    values = reinterpret_cast<const T*>(there);
    return status;
}

Result<bool> LentRows::attention(const kernels::AttentionArgs& args,
                                 int64_t row_bytes,
                                 const Linear& o,
                                 MutF32 t) {
    const int64_t rows = args.queries;
    const int64_t width = args.num_heads * args.head_dim;
    const auto kv_bytes = args.keys * row_bytes;
    constexpr int64_t kLeastRows = 64;
    if (!isLent(o)) {
        return false;
    }
    ENGINE_ASSIGN(WeightView step, model_->context->resident(o));
    step.rows = std::min(kRowStep, step.rows);
    // What a row needs: query, output, position and block; and everything else.
    const auto of_row = static_cast<int64_t>(2 * width * sizeof(float) + 2 * sizeof(int32_t));
    const auto rest = static_cast<int64_t>(room_.bytes) - 2 * kv_bytes -
                      2 * args.keys * static_cast<int64_t>(sizeof(int32_t)) -
                      2 * static_cast<int64_t>(bytesOf(step)) -
                      12 * static_cast<int64_t>(kRoomAlignment);
    const int64_t at_once = std::min(rows, rest / of_row);
    if (at_once < std::min(rows, kLeastRows)) {
        return false;
    }
    const Room all = room_;
    const MutF32 out = card_->matrix(Buffer::T, t.rows, t.cols);
    const auto run = [&]() -> Result<bool> {
        kernels::AttentionArgs there = args;
        const auto* k = static_cast<const std::byte*>(args.k);
        const auto* v = static_cast<const std::byte*>(args.v);
        ENGINE_KERNEL(place(k, kv_bytes), "copy in", o.name);
        ENGINE_KERNEL(place(v, kv_bytes), "copy in", o.name);
        ENGINE_KERNEL(place(there.mask.key_position, args.keys), "copy in", o.name);
        ENGINE_KERNEL(place(there.mask.key_block, args.keys), "copy in", o.name);
        there.k = k;
        there.v = v;
        const Room behind_keys = room_;
        for (int64_t first = 0; first < rows; first += at_once) {
            const int64_t count = std::min(at_once, rows - first);
            room_ = behind_keys;
            there.queries = count;
            there.q = args.q + first * width;
            there.mask.query_position = args.mask.query_position + first;
            there.mask.query_block =
                args.mask.query_block == nullptr ? nullptr : args.mask.query_block + first;
            ENGINE_KERNEL(place(there.q, count * width), "copy in", o.name);
            ENGINE_KERNEL(place(there.mask.query_position, count), "copy in", o.name);
            ENGINE_KERNEL(place(there.mask.query_block, count), "copy in", o.name);
            const MutF32 result{room_.take(count * width), count, width, width};
            there.out = result.data;
            const Status status = card_->ops().attention(card_->queue(), there);
            if (status == Status::Unsupported && first == 0) {
                return false;
            }
            ENGINE_KERNEL(status, "attention", o.name);
            ENGINE_ASSIGN(const bool is_done, multiply(o, result, rowsOf(out, first, count)));
            if (!is_done) {
                return false;
            }
            if (o.adapter != AdapterHook::kNone) {
                ENGINE_KERNEL(
                    lent_->fetch(args.out + first * width, result.data, sizeBytes(result)),
                    "copy out", o.name);
            }
        }
        return true;
    };
    Result<bool> outcome = run();
    room_ = all;
    if (!outcome.has_value() || !*outcome) {
        return outcome;
    }
    ENGINE_KERNEL(lent_->fetch(t.data, out.data, sizeBytes(t)), "copy out", o.name);
    ENGINE_TRY(addUpdates(o, {args.out, rows, width, width}, t));
    return true;
}

Result<void> LentRows::addUpdates(const Linear& linear, MatF32 x, MutF32 y) const {
    AdapterHook* const adapters = model_->context->adapters();
    return linear.adapter == AdapterHook::kNone || adapters == nullptr
               ? Result<void>()
               : adapters->apply(linear.adapter, model_->context->scratch(home_->id())->queue(), x,
                                 y);
}

Result<bool> LentRows::mlp(const MlpWeights& mlp, MatF32 h, MutF32 t) {
    for (const Linear* linear : {&mlp.gate, &mlp.up, &mlp.down}) {
        if (!isLent(*linear) || !linear->isPlain()) {
            return false;
        }
    }
    const int64_t width = mlp.gate.out;
    const Room all = room_;
    const MutF32 in = card_->matrix(Buffer::H, h.rows, h.cols);
    const MutF32 out = card_->matrix(Buffer::T, t.rows, t.cols);
    const MutF32 act{room_.take(h.rows * width), h.rows, width, width};
    // As many columns of gate and up at a time as leave room for their weights.
    ENGINE_ASSIGN(WeightView step, model_->context->resident(mlp.gate));
    step.rows = std::min(kRowStep, width);
    const auto step_bytes =
        2 * (bytesOf(step) + static_cast<size_t>(h.rows * step.rows) * sizeof(float));
    const auto at_once = std::min(
        width, static_cast<int64_t>(room_.bytes / (step_bytes + 2 * kRoomAlignment)) * step.rows);
    bool is_done = false;
    if (act.data != nullptr && at_once > 0) {
        const MutF32 gate{room_.take(h.rows * at_once), h.rows, at_once, at_once};
        const MutF32 up{room_.take(h.rows * at_once), h.rows, at_once, at_once};
        lent_->lendIn(room_.at, room_.bytes);
        ENGINE_KERNEL(lent_->send(in.data, h.data, sizeBytes(h)), "copy in", mlp.gate.name);
        is_done = true;
        for (int64_t first = 0; first < width && is_done; first += at_once) {
            const int64_t cols = std::min(at_once, width - first);
            const MutF32 g{gate.data, h.rows, cols, at_once};
            const MutF32 u{up.data, h.rows, cols, at_once};
            ENGINE_ASSIGN(is_done, multiplyPart(mlp.gate, first, cols, in, g));
            if (is_done) {
                ENGINE_ASSIGN(is_done, multiplyPart(mlp.up, first, cols, in, u));
            }
            ENGINE_KERNEL(card_->ops().gated_mul(card_->queue(),
                                                 model_->config.text.recipe.activation, g, u,
                                                 {act.data + first, h.rows, cols, width}),
                          "activation", mlp.gate.name);
        }
        if (is_done) {
            ENGINE_ASSIGN(is_done, multiply(mlp.down, act, out));
        }
    }
    room_ = all;
    if (is_done) {
        ENGINE_KERNEL(lent_->fetch(t.data, out.data, sizeBytes(t)), "copy out", mlp.down.name);
    }
    return is_done;
}

} // namespace engine
