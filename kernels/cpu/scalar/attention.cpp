// SPDX-License-Identifier: Apache-2.0
// Reference attention: all scores of one query head in a buffer, softmax, weighted sum. A query
// that sees no key gets zeros.
#include "kernels/cpu/float_types.h"
#include "kernels/cpu/scalar/scalar_ops.h"
#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/thread_owned.h"
#include "kernels/cpu/visibility.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace kernels::cpu::scalar {

namespace {

struct Score {
    int64_t key = 0;
    double value = 0.0;
};

/// Scores to probabilities, with the largest score subtracted first.
void softmax(std::vector<Score>& scores) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const Score& score : scores) {
        largest = score.value > largest ? score.value : largest;
    }
    double sum = 0.0;
    for (Score& score : scores) {
        score.value = std::exp(score.value - largest);
        sum += score.value;
    }
    for (Score& score : scores) {
        score.value /= sum;
    }
}

/// Room for one query's, reused by the thread.
std::vector<Score>& emptyScores() {
    auto& scores = threadOwned<std::vector<Score>, Score>();
    scores.clear();
    return scores;
}

/// As many sums go on beside each other: one by one they would wait for their last addition. Each
/// sum adds its products in the order in which they lie, so that how many there are changes no bit.
constexpr size_t kSums = 4;

/// The products of q (`dim` values) with the rows of `k`, elements of `type` at key * stride, times
/// `scale`, for `scores`, whose keys are set.
template <DType type>
void scoreKeys(std::span<Score> scores,
               const float* q,
               const void* k,
               int64_t stride,
               int64_t dim,
               float scale) {
    size_t done = 0;
    for (; done + kSums <= scores.size(); done += kSums) {
        std::array<double, kSums> sums{};
        std::array<int64_t, kSums> first{};
        for (size_t i = 0; i < kSums; ++i) {
            first[i] = scores[done + i].key * stride;
        }
        for (int64_t d = 0; d < dim; ++d) {
            const auto value = static_cast<double>(q[d]);
            for (size_t i = 0; i < kSums; ++i) {
                sums[i] += value * static_cast<double>(loadElement(k, type, first[i] + d));
            }
        }
        for (size_t i = 0; i < kSums; ++i) {
            scores[done + i].value = sums[i] * static_cast<double>(scale);
        }
    }
    for (; done < scores.size(); ++done) {
        double sum = 0.0;
        for (int64_t d = 0; d < dim; ++d) {
            sum += static_cast<double>(q[d]) *
                   static_cast<double>(loadElement(k, type, scores[done].key * stride + d));
        }
        scores[done].value = sum * static_cast<double>(scale);
    }
}

/// The rows of `v` (as k above), each times the value of its score, added in the scores' order.
template <DType type>
void addValues(std::span<double> sums,
               std::span<const Score> scores,
               const void* v,
               int64_t stride) {
    for (const Score& score : scores) {
        const int64_t first = score.key * stride;
        for (size_t d = 0; d < sums.size(); ++d) {
            sums[d] += score.value *
                       static_cast<double>(loadElement(v, type, first + static_cast<int64_t>(d)));
        }
    }
}

template <DType type>
void attendOneHead(const AttentionArgs& args, int64_t query, int64_t head) {
    const int64_t dim = args.head_dim;
    const int64_t kv_head = head / (args.num_heads / args.num_kv_heads);
    const int64_t stride = args.num_kv_heads * dim;
    const int64_t offset = kv_head * dim * elementSize(type);
    std::vector<Score>& scores = emptyScores();
    for (int64_t key = 0; key < args.keys; ++key) {
        if (isVisible(args.mask, query, key)) {
            scores.push_back({key, 0.0});
        }
    }
    scoreKeys<type>(scores, args.q + (query * args.num_heads + head) * dim,
                    static_cast<const std::byte*>(args.k) + offset, stride, dim, args.scale);
    softmax(scores);
    struct Sums;
    auto& sums = threadOwned<std::vector<double>, Sums>();
    sums.assign(static_cast<size_t>(dim), 0.0);
    addValues<type>(sums, scores, static_cast<const std::byte*>(args.v) + offset, stride);
    float* out = args.out + (query * args.num_heads + head) * dim;
    for (int64_t d = 0; d < dim; ++d) {
        out[d] = static_cast<float>(sums[static_cast<size_t>(d)]);
    }
}

void attendOneAudioHead(const AudioAttentionArgs& args, int64_t frame, int64_t head) {
    const int64_t dim = args.head_dim;
    const int64_t row = args.num_heads * dim;
    const int64_t offset = head * dim;
    const float* q = args.q + frame * row + offset;
    std::vector<Score>& scores = emptyScores();
    for (int64_t distance = 0; distance < args.reach && distance <= frame; ++distance) {
        const int64_t key = frame - distance;
        double sum = 0.0;
        for (int64_t d = 0; d < dim; ++d) {
            sum += static_cast<double>(q[d]) *
                   (static_cast<double>(args.k[key * row + offset + d]) +
                    static_cast<double>(args.rel[distance * row + offset + d]));
        }
        const auto cap = static_cast<double>(args.cap);
        scores.push_back({key, cap * std::tanh(sum / cap)});
    }
    softmax(scores);
    float* out = args.out + frame * row + offset;
    for (int64_t d = 0; d < dim; ++d) {
        double sum = 0.0;
        for (const Score& score : scores) {
            sum += score.value * static_cast<double>(args.v[score.key * row + offset + d]);
        }
        out[d] = static_cast<float>(sum);
    }
}

} // namespace

Status attention(Queue q, const AttentionArgs& args) {
    if (const Status status = checkAttention(args); status != Status::Ok) {
        return status;
    }
    const auto attend = args.kv_type == DType::F32   ? attendOneHead<DType::F32>
                        : args.kv_type == DType::F16 ? attendOneHead<DType::F16>
                                                     : attendOneHead<DType::BF16>;
    parallelFor(poolOf(q), args.queries * args.num_heads, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            attend(args, i / args.num_heads, i % args.num_heads);
        }
    });
    return Status::Ok;
}

Status audioAttention(Queue q, const AudioAttentionArgs& args) {
    if (const Status status = checkAudioAttention(args); status != Status::Ok) {
        return status;
    }
    parallelFor(poolOf(q), args.frames * args.num_heads, 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            attendOneAudioHead(args, i / args.num_heads, i % args.num_heads);
        }
    });
    return Status::Ok;
}

} // namespace kernels::cpu::scalar
