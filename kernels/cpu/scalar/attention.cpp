// SPDX-License-Identifier: Apache-2.0
// Reference attention: all scores of one query head in a buffer, softmax, weighted sum. A query
// that sees no key gets zeros.
#include "kernels/cpu/kv_rows.h"
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

/// The products of q (`dim` values) with the keys `k`, times `scale`, for `scores`, whose keys are
/// set.
template <KvType type>
void scoreKeys(
    std::span<Score> scores, const float* q, const KvHeadRows& k, int64_t dim, float scale) {
    const auto factorOf = [&](int64_t key) {
        return static_cast<double>(scale) * static_cast<double>(k.scale(key));
    };
    size_t done = 0;
    for (; done + kSums <= scores.size(); done += kSums) {
        std::array<double, kSums> sums{};
        std::array<const std::byte*, kSums> row{};
        for (size_t i = 0; i < kSums; ++i) {
            row[i] = k.codes + scores[done + i].key * k.row_bytes;
        }
        for (int64_t d = 0; d < dim; ++d) {
            const auto value = static_cast<double>(q[d]);
            for (size_t i = 0; i < kSums; ++i) {
                sums[i] += value * static_cast<double>(loadCode<type>(row[i], d));
            }
        }
        for (size_t i = 0; i < kSums; ++i) {
            scores[done + i].value = sums[i] * factorOf(scores[done + i].key);
        }
    }
    for (; done < scores.size(); ++done) {
        double sum = 0.0;
        for (int64_t d = 0; d < dim; ++d) {
            sum += static_cast<double>(q[d]) *
                   static_cast<double>(loadCode<type>(k.codes + scores[done].key * k.row_bytes, d));
        }
        scores[done].value = sum * factorOf(scores[done].key);
    }
}

/// The values, each times the value of its score, added in the scores' order.
template <KvType type>
void addValues(std::span<double> sums, std::span<const Score> scores, const KvHeadRows& v) {
    for (const Score& score : scores) {
        const std::byte* const row = v.codes + score.key * v.row_bytes;
        const double factor = score.value * static_cast<double>(v.scale(score.key));
        for (size_t d = 0; d < sums.size(); ++d) {
            sums[d] += factor * static_cast<double>(loadCode<type>(row, static_cast<int64_t>(d)));
        }
    }
}

template <KvType type>
void attendOneHead(const AttentionArgs& args, int64_t query, int64_t head) {
    const int64_t dim = args.head_dim;
    const int64_t kv_head = head / (args.num_heads / args.num_kv_heads);
    const auto rowsOf = [&](const void* data) {
        return KvHeadRows(data, type, args.num_kv_heads, dim, kv_head);
    };
    std::vector<Score>& scores = emptyScores();
    for (int64_t key = 0; key < args.keys; ++key) {
        if (isVisible(args.mask, query, key)) {
            scores.push_back({key, 0.0});
        }
    }
    scoreKeys<type>(scores, args.q + (query * args.num_heads + head) * dim, rowsOf(args.k), dim,
                    args.scale);
    softmax(scores);
    struct Sums;
    auto& sums = threadOwned<std::vector<double>, Sums>();
    sums.assign(static_cast<size_t>(dim), 0.0);
    addValues<type>(sums, scores, rowsOf(args.v));
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
    const auto attend = args.kv_type == KvType::F32   ? attendOneHead<KvType::F32>
                        : args.kv_type == KvType::F16 ? attendOneHead<KvType::F16>
                        : args.kv_type == KvType::Q8  ? attendOneHead<KvType::Q8>
                                                      : attendOneHead<KvType::BF16>;
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
