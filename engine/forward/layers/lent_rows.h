// SPDX-License-Identifier: Apache-2.0
// Rows of a prompt in a layer of the host, multiplied on a card: the weights come there in pieces
// (lent_weights.h), in memory that the card needs for its own layers only. A weight crosses a link
// in a twentieth of the time that a processor multiplies hundreds of rows with it, and so do keys
// and values that hundreds of rows attend to. All else of the layer stays with the host.
#pragma once

#include "engine/forward/bound_model.h"

namespace engine {

class LentRows {
public:
    /// For `rows` rows of a layer on `home`.
    LentRows(const BoundModel& model, const DeviceScratch& home, int64_t rows);

    /// y = W x as ComputeContext::linear(); x and y on the layer's device, contiguous. False: not
    /// on a card, nothing was done.
    Result<bool> product(const Linear& linear, kernels::MatF32 x, kernels::MutF32 y);
    /// t = O attention(args), likewise. args: of host memory, with q and room for the output;
    /// row_bytes: of a row of keys or values.
    Result<bool> attention(const kernels::AttentionArgs& args,
                           int64_t row_bytes,
                           const Linear& o,
                           kernels::MutF32 t);
    /// t = D (act(G h) * (U h)), likewise.
    Result<bool> mlp(const MlpWeights& mlp, kernels::MatF32 h, kernels::MutF32 t);

private:
    /// Memory of the card's that is free for rows and weights.
    struct Room {
        std::byte* at = nullptr;
        size_t bytes = 0;
        /// nullptr: there is no such room.
        float* take(int64_t floats);
    };
    [[nodiscard]] bool isLent(const Linear& linear) const;
    /// `count` values of the host to the card, or nothing for none. Unsupported: no room.
    template <typename T>
    kernels::Status place(const T*& values, int64_t count);
    /// y = W x, both on the card, some rows of W at a time. False: there is no room for any.
    Result<bool> multiply(const Linear& linear, kernels::MatF32 x, kernels::MutF32 y);
    /// What adapters add, on the host.
    Result<void> addUpdates(const Linear& linear, kernels::MatF32 x, kernels::MutF32 y) const;
    /// Rows [first, first + rows) of the linear, lent, times x.
    Result<bool> multiplyPart(
        const Linear& linear, int64_t first, int64_t rows, kernels::MatF32 x, kernels::MutF32 y);

    const BoundModel* model_;
    const DeviceScratch* home_;
    DeviceScratch* card_ = nullptr; ///< nullptr: nobody multiplies.
    LentWeights* lent_ = nullptr;
    Room room_;
};

} // namespace engine
