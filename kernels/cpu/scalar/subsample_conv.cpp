// SPDX-License-Identifier: Apache-2.0
// Reference convolution of the audio front end: 3x3, stride 2, zero padding 1, then LayerNorm over
// channels (weight only) and ReLU.
#include "kernels/cpu/scalar/scalar_ops.h"
#include "kernels/cpu/shape_checks.h"

#include <cmath>
#include <vector>

namespace kernels::cpu::scalar {

namespace {

double convolveAt(const SubsampleConvArgs& args, int64_t t_out, int64_t m_out, int64_t channel) {
    double sum = 0.0;
    for (int64_t kt = 0; kt < 3; ++kt) {
        for (int64_t km = 0; km < 3; ++km) {
            const int64_t t = 2 * t_out + kt - 1;
            const int64_t m = 2 * m_out + km - 1;
            if (t < 0 || t >= args.time || m < 0 || m >= args.mel) {
                continue;
            }
            for (int64_t c = 0; c < args.in_ch; ++c) {
                const float w = args.weight[((channel * args.in_ch + c) * 3 + kt) * 3 + km];
                const float x = args.in[(t * args.mel + m) * args.in_ch + c];
                sum += static_cast<double>(w) * static_cast<double>(x);
            }
        }
    }
    return sum;
}

/// (v - mean) / sqrt(variance + eps) * norm, then max(0, .), over the channels of one position.
void normAndRelu(const SubsampleConvArgs& args, const std::vector<double>& values, float* out) {
    const auto count = static_cast<double>(args.out_ch);
    double mean = 0.0;
    for (const double value : values) {
        mean += value / count;
    }
    double variance = 0.0;
    for (const double value : values) {
        variance += (value - mean) * (value - mean) / count;
    }
    const double inverse = 1.0 / std::sqrt(variance + static_cast<double>(args.eps));
    for (int64_t c = 0; c < args.out_ch; ++c) {
        const double normed =
            (values[static_cast<size_t>(c)] - mean) * inverse * static_cast<double>(args.norm[c]);
        out[c] = normed < 0.0 ? 0.0F : static_cast<float>(normed);
    }
}

} // namespace

Status subsampleConv(Queue q, const SubsampleConvArgs& args) {
    if (const Status status = checkSubsampleConv(args); status != Status::Ok) {
        return status;
    }
    const int64_t time_out = (args.time + 1) / 2;
    const int64_t mel_out = (args.mel + 1) / 2;
    parallelFor(poolOf(q), time_out * mel_out, 8, [&](int64_t begin, int64_t end) {
        std::vector<double> values(static_cast<size_t>(args.out_ch));
        for (int64_t i = begin; i < end; ++i) {
            for (int64_t c = 0; c < args.out_ch; ++c) {
                values[static_cast<size_t>(c)] = convolveAt(args, i / mel_out, i % mel_out, c);
            }
            normAndRelu(args, values, args.out + i * args.out_ch);
        }
    });
    return Status::Ok;
}

} // namespace kernels::cpu::scalar
