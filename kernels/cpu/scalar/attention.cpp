// SPDX-License-Identifier: Apache-2.0
// Reference attention: all scores of one query head in a buffer, softmax, weighted sum. A query
// that sees no key gets zeros.
#include "kernels/cpu/float_types.h"
#include "kernels/cpu/scalar/scalar_ops.h"
#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/thread_owned.h"
#include "kernels/cpu/visibility.h"

#include <cmath>
#include <limits>
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

void attendOneHead(const AttentionArgs& args, int64_t query, int64_t head) {
    const int64_t dim = args.head_dim;
    const int64_t kv_head = head / (args.num_heads / args.num_kv_heads);
    const float* q = args.q + (query * args.num_heads + head) * dim;
    std::vector<Score>& scores = emptyScores();
    for (int64_t key = 0; key < args.keys; ++key) {
        if (!isVisible(args.mask, query, key)) {
            continue;
        }
        const int64_t first = (key * args.num_kv_heads + kv_head) * dim;
        double sum = 0.0;
        for (int64_t d = 0; d < dim; ++d) {
            sum += static_cast<double>(q[d]) *
                   static_cast<double>(loadElement(args.k, args.kv_type, first + d));
        }
        scores.push_back({key, sum * static_cast<double>(args.scale)});
    }
    softmax(scores);
    float* out = args.out + (query * args.num_heads + head) * dim;
    for (int64_t d = 0; d < dim; ++d) {
        double sum = 0.0;
        for (const Score& score : scores) {
            const int64_t first = (score.key * args.num_kv_heads + kv_head) * dim;
            sum += score.value * static_cast<double>(loadElement(args.v, args.kv_type, first + d));
        }
        out[d] = static_cast<float>(sum);
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
    parallelFor(poolOf(q), args.queries * args.num_heads, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            attendOneHead(args, i / args.num_heads, i % args.num_heads);
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
