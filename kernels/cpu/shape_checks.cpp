// SPDX-License-Identifier: Apache-2.0
// See shape_checks.h. A matrix without rows is valid and needs no data.
#include "kernels/cpu/shape_checks.h"

namespace kernels::cpu {

namespace {

Status okIf(bool is_ok) {
    return is_ok ? Status::Ok : Status::BadShape;
}

} // namespace

bool isMatrix(const MatF32& matrix) {
    if (matrix.rows == 0) {
        return matrix.cols >= 0;
    }
    return matrix.rows > 0 && matrix.cols > 0 && matrix.data != nullptr &&
           (matrix.stride >= matrix.cols || matrix.rows == 1);
}

bool isSameShape(const MatF32& a, const MatF32& b) {
    return isMatrix(a) && isMatrix(b) && a.rows == b.rows && a.cols == b.cols;
}

Status checkLinear(const MatF32& x, const WeightView& w, const MatF32& y) {
    return okIf(isMatrix(x) && isMatrix(y) && isWeight(w) && x.rows == y.rows && x.cols == w.cols &&
                y.cols == w.rows);
}

Status checkLora(const MatF32& x,
                 const MatView& a,
                 const MatView& b,
                 const MatView& b_bias,
                 const MatF32& scratch,
                 const MatF32& y) {
    const bool is_bias_ok = b_bias.data == nullptr || b_bias.rows * b_bias.cols == y.cols;
    return okIf(isMatrix(x) && isMatrix(y) && isMatrix(scratch) && a.data != nullptr &&
                b.data != nullptr && x.rows == y.rows && scratch.rows == x.rows &&
                a.cols == x.cols && a.rows > 0 && scratch.cols == a.rows && b.cols == a.rows &&
                b.rows == y.cols && is_bias_ok);
}

Status checkLoraTerms(
    const MatF32& x, const LoraTerm* terms, int64_t count, const MatF32& scratch, const MatF32& y) {
    if (count < 0 || (count > 0 && terms == nullptr)) {
        return Status::BadShape;
    }
    int64_t first = 0;
    for (int64_t i = 0; i < count; ++i) {
        const LoraTerm& term = terms[i];
        if (term.a.rows <= 0 || term.a.rows > scratch.cols - first) {
            return Status::BadShape;
        }
        const float* data = scratch.data == nullptr ? nullptr : scratch.data + first;
        const MatF32 part{data, scratch.rows, term.a.rows, scratch.stride};
        const Status status = checkLora(x, term.a, term.b, term.b_bias, part, y);
        if (status != Status::Ok) {
            return status;
        }
        first += term.a.rows;
    }
    return okIf(count == 0 || first == scratch.cols);
}

Status checkNorm(const MatF32& x, const MatView& weight, const MatF32& y) {
    const bool is_weight_ok = weight.data == nullptr || weight.rows * weight.cols == x.cols;
    return okIf(isSameShape(x, y) && is_weight_ok);
}

Status checkRope(const MatF32& x,
                 int64_t head_dim,
                 int64_t offset,
                 int64_t dim,
                 const int32_t* position,
                 const float* inv_freq) {
    if (!isMatrix(x) || head_dim <= 0 || x.cols % head_dim != 0 || offset < 0 || dim < 0 ||
        dim % 2 != 0 || offset > head_dim || dim > head_dim - offset) {
        return Status::BadShape;
    }
    return okIf(x.rows == 0 || dim == 0 || (position != nullptr && inv_freq != nullptr));
}

Status checkAttention(const AttentionArgs& args) {
    if (args.queries < 0 || args.keys < 0 || args.num_heads <= 0 || args.num_kv_heads <= 0 ||
        args.num_heads % args.num_kv_heads != 0 || args.head_dim <= 0 || args.mask.window < 0) {
        return Status::BadShape;
    }
    if (args.queries == 0) {
        return Status::Ok;
    }
    const bool has_keys = args.keys == 0 || (args.k != nullptr && args.v != nullptr &&
                                             args.mask.key_position != nullptr);
    return okIf(args.q != nullptr && args.out != nullptr && has_keys &&
                args.mask.query_position != nullptr &&
                (args.mask.query_block == nullptr) == (args.mask.key_block == nullptr));
}

Status checkAudioAttention(const AudioAttentionArgs& args) {
    if (args.frames < 0 || args.num_heads <= 0 || args.head_dim <= 0 || args.reach <= 0 ||
        !(args.cap > 0.0F)) {
        return Status::BadShape;
    }
    return okIf(args.frames == 0 || (args.q != nullptr && args.k != nullptr && args.v != nullptr &&
                                     args.rel != nullptr && args.out != nullptr));
}

Status checkSubsampleConv(const SubsampleConvArgs& args) {
    if (args.time < 0 || args.mel <= 0 || args.in_ch <= 0 || args.out_ch <= 0) {
        return Status::BadShape;
    }
    return okIf(args.time == 0 || (args.in != nullptr && args.weight != nullptr &&
                                   args.norm != nullptr && args.out != nullptr));
}

Status checkGather(const WeightView& table,
                   const int32_t* ids,
                   int64_t count,
                   int64_t col_offset,
                   const MatF32& y) {
    if (!isWeight(table) || !isMatrix(y) || count < 0 || y.rows != count || col_offset < 0 ||
        y.cols > table.cols || col_offset > table.cols - y.cols || (count > 0 && ids == nullptr)) {
        return Status::BadShape;
    }
    for (int64_t i = 0; i < count; ++i) {
        if (ids[i] < 0 || ids[i] >= table.rows) {
            return Status::BadShape;
        }
    }
    return Status::Ok;
}

Status checkStore(
    const MatF32& src, const int32_t* slot, int64_t heads, const void* dst, int64_t capacity) {
    if (!isMatrix(src) || heads <= 0 || src.cols % heads != 0 ||
        (src.rows > 0 && (slot == nullptr || dst == nullptr))) {
        return Status::BadShape;
    }
    for (int64_t i = 0; i < src.rows; ++i) {
        if (slot[i] < 0 || slot[i] >= capacity) {
            return Status::BadShape;
        }
    }
    return Status::Ok;
}

} // namespace kernels::cpu
