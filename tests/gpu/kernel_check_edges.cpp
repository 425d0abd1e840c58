// SPDX-License-Identifier: Apache-2.0
// What stands before and behind the layers of a decoded token, against the scalar CPU table, and
// its time beside that of the single functions.
#include "tests/gpu/kernel_check.h"
#include "tests/support/token_inputs.h"
#include "tests/support/top_logits.h"

#include <algorithm>
#include <numeric>

namespace kernel_check {
namespace {

struct Choice {
    std::vector<float> logits;
    int64_t token = -1;
};

/// Soft cap and the largest of what is not suppressed, the lowest index of equals.
Choice choose(std::vector<float> logits, float cap, const std::vector<uint32_t>& suppressed) {
    Choice choice;
    const auto n = static_cast<int64_t>(logits.size());
    cpuScalarOps().soft_cap({}, {logits.data(), 1, n, n}, cap);
    for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        if ((suppressed[at / 32] >> (at % 32) & 1U) == 0 &&
            (choice.token < 0 || logits[at] > logits[static_cast<size_t>(choice.token)])) {
            choice.token = i;
        }
    }
    choice.logits = std::move(logits);
    return choice;
}

void checkChoice(cuda::CudaDevice& d) {
    if (d.ops().cap_argmax == nullptr) {
        std::printf("soft cap and choice are single functions here\n");
        return;
    }
    const Buffer on_card(d, 16);
    auto* const on_host = static_cast<uint64_t*>(d.allocateHost(16));
    void* const mapped = d.kernelAddress(on_host);
#ifdef BELFRY_EMULATED_CARD
    constexpr int64_t kMost = 20480;
#else
    constexpr int64_t kMost = 262144;
#endif
    for (const int64_t count : {kMost, int64_t{5003}, int64_t{3}}) {
        // Two that the cap makes equal, and a larger one that is suppressed.
        std::vector<float> start = normal(static_cast<size_t>(count), 8.0F);
        start[static_cast<size_t>(count - 1)] = 2000.0F;
        start[static_cast<size_t>(count / 2)] = 2001.0F;
        start[0] = 4000.0F;
        std::vector<uint32_t> skipped(static_cast<size_t>((count + 31) / 32), 0);
        skipped[0] = 1;
        const Pair<uint32_t> suppressed(d, skipped);
        const Choice want = choose(start, 30.0F, skipped);
        // The second time: what the blocks count begins at zero again.
        for (int round = 0; round < 3; ++round) {
            const Pair<float> logits(d, start);
            const bool is_mapped = round == 2 && mapped != nullptr;
            on_host[0] = 0;
            const Status status = d.ops().cap_argmax(
                d.queue(), static_cast<float*>(logits.card->data), count, 30.0F, suppressed.there(),
                static_cast<uint64_t*>(is_mapped ? mapped : on_card.data));
            const double error = relativeError(fetch(d, *logits.card, start.size()), want.logits);
            uint64_t best = 0;
            if (!is_mapped) {
                d.copyOut(&best, on_card.data, 8);
            }
            d.synchronize();
            best = is_mapped ? on_host[0] : best;
            const auto token = static_cast<int64_t>(0xffffffffU - static_cast<uint32_t>(best));
            report("soft cap and choice of " + std::to_string(count) +
                       (is_mapped ? ", in memory of the host" : ""),
                   status, token == want.token ? error : 1.0, 1e-6);
        }
    }
    d.freeHost(on_host);
}

using Candidates = std::vector<std::pair<int32_t, uint32_t>>;

Candidates sortedCandidates(const TopLogits& top) {
    Candidates all;
    for (int i = 0; i < top.count; ++i) {
        all.emplace_back(top.entry[i].token, std::bit_cast<uint32_t>(top.entry[i].logit));
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// Rows of a vocabulary and of less, with ties at the bar, with nothing to choose, broken ones.
void checkCandidates(cuda::CudaDevice& d) {
    if (d.ops().top_logits == nullptr) {
        std::printf("candidates are looked for by the host here\n");
        return;
    }
    const Buffer on_card(d, sizeof(TopLogits));
    auto* const on_host = static_cast<TopLogits*>(d.allocateHost(sizeof(TopLogits)));
    void* const mapped = d.kernelAddress(on_host);
#ifdef BELFRY_EMULATED_CARD
    constexpr int64_t kMost = 20480;
#else
    constexpr int64_t kMost = 262144;
#endif
    for (const int64_t count : {kMost, int64_t{5003}, int64_t{3}}) {
        for (const std::string kind : {"plain", "ties", "negative", "none", "NaN"}) {
            std::vector<float> start = normal(static_cast<size_t>(count), 8.0F);
            for (float& logit : start) {
                logit = kind == "ties"       ? std::round(logit * 4) / 4
                        : kind == "negative" ? logit - 400.0F
                        : kind == "none"     ? -INFINITY
                                             : logit;
            }
            start[0] = 4000.0F; // suppressed
            start[static_cast<size_t>(count / 2)] = kind == "NaN" ? NAN : 3.0F;
            std::vector<uint32_t> skipped(static_cast<size_t>((count + 31) / 32), 0);
            skipped[0] = 1;
            const Pair<uint32_t> suppressed(d, skipped);
            for (const int32_t wanted : {1, 64, TopLogits::kMostWanted}) {
                for (const float cap : {0.0F, 30.0F}) {
                    const Pair<float> logits(d, start);
                    const bool is_mapped = wanted != 64 && mapped != nullptr;
                    on_host->count = -2;
                    const Status status = d.ops().top_logits(
                        d.queue(), static_cast<float*>(logits.card->data), count, cap,
                        suppressed.there(), wanted,
                        static_cast<TopLogits*>(is_mapped ? mapped : on_card.data));
                    const std::vector<float> capped = fetch(d, *logits.card, start.size());
                    TopLogits got{};
                    if (!is_mapped) {
                        d.copyOut(&got, on_card.data, sizeof(got));
                    }
                    d.synchronize();
                    got = is_mapped ? *on_host : got;
                    const TopLogits want =
                        support::topLogits(capped.data(), count, skipped.data(), wanted);
                    const bool is_same =
                        got.count == want.count && sortedCandidates(got) == sortedCandidates(want);
                    report("candidates of " + std::to_string(wanted) + " of " +
                               std::to_string(count) + ", " + kind +
                               (cap > 0.0F ? ", capped" : "") + (is_mapped ? ", mapped" : ""),
                           status, is_same ? 0.0 : 1.0, 1e-6);
                }
            }
        }
    }
    d.freeHost(on_host);
}

/// What E2B's assistant ends with: a table of bf16 in groups, and operands of a draft.
struct DraftHead {
    static constexpr int64_t kCols = 256, kGroups = 2048, kTop = 32;
    int64_t tokens;
    Pair<float> centroids, x, norm;
    Pair<int32_t> ordering;
    Pair<uint16_t> table;
    Pair<uint32_t> suppressed;
    Buffer numbers;

    DraftHead(cuda::CudaDevice& d, int64_t tokens_)
        : tokens(tokens_), centroids(d, normal(kGroups)), x(d, normal(kCols)),
          norm(d, normal(kCols)), ordering(d, orderOf(tokens_)), table(d, tableOf(tokens_)),
          suppressed(d, std::vector<uint32_t>(static_cast<size_t>((tokens_ + 31) / 32), 0)),
          numbers(d, sizeof(kernels::DraftNumbers)) {
        const kernels::DraftNumbers none{};
        d.copyIn(numbers.data, &none, sizeof(none));
    }
    static std::vector<int32_t> orderOf(int64_t tokens) {
        std::vector<int32_t> order(static_cast<size_t>(tokens));
        std::iota(order.rbegin(), order.rend(), 0);
        return order;
    }
    static std::vector<uint16_t> tableOf(int64_t tokens) {
        const std::vector<float> values = normal(static_cast<size_t>(tokens * kCols));
        std::vector<uint16_t> halves(values.size());
        std::transform(values.begin(), values.end(), halves.begin(), [](float value) {
            return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16U);
        });
        return halves;
    }
    [[nodiscard]] kernels::DraftChoiceArgs args() const {
        kernels::DraftChoiceArgs a;
        a.logits = centroids.there();
        a.tokens = tokens;
        a.suppressed = suppressed.there();
        a.groups = kGroups;
        a.top = kTop;
        a.table.data = table.there();
        a.table.format = WeightFormat::BF16;
        a.table.rows = tokens;
        a.table.cols = kCols;
        a.ordering = ordering.there();
        a.x = x.there();
        a.norm = {norm.there(), DType::F32, 1, kCols};
        a.numbers = static_cast<kernels::DraftNumbers*>(numbers.data);
        return a;
    }
    /// The largest logits of the nearest groups, and the token of the first.
    [[nodiscard]] std::pair<int32_t, double> expected() const {
        std::vector<int32_t> groups(kGroups);
        std::iota(groups.begin(), groups.end(), 0);
        std::stable_sort(groups.begin(), groups.end(), [this](int32_t a, int32_t b) {
            return centroids.host[static_cast<size_t>(a)] > centroids.host[static_cast<size_t>(b)];
        });
        std::vector<std::pair<double, int32_t>> logits;
        const int64_t size = tokens / kGroups;
        for (int64_t i = 0; i < kTop * size; ++i) {
            const int64_t row = groups[static_cast<size_t>(i / size)] * size + i % size;
            double sum = 0.0;
            for (int64_t c = 0; c < kCols; ++c) {
                const auto bits =
                    static_cast<uint32_t>(table.host[static_cast<size_t>(row * kCols + c)]) << 16U;
                sum += static_cast<double>(std::bit_cast<float>(bits)) *
                       x.host[static_cast<size_t>(c)] * norm.host[static_cast<size_t>(c)];
            }
            logits.emplace_back(sum, ordering.host[static_cast<size_t>(row)]);
        }
        std::partial_sort(logits.begin(), logits.begin() + 2, logits.end(), std::greater<>());
        return {logits[0].second, (logits[0].first - logits[1].first) / logits[0].first};
    }
};

/// The largest token of all, or of the nearest groups.
void checkDraftChoice(cuda::CudaDevice& d) {
    if (d.ops().choose_draft == nullptr) {
        std::printf("drafts are chosen by the host here\n");
        return;
    }
#ifdef BELFRY_EMULATED_CARD
    constexpr int64_t kMost = 8192;
#else
    constexpr int64_t kMost = 262144;
#endif
    const DraftHead head(d, kMost);
    const auto [token, lead] = head.expected();
    const Pair<float> logits(d, normal(static_cast<size_t>(kMost), 8.0F));
    const auto largest = static_cast<int32_t>(
        std::max_element(logits.host.begin(), logits.host.end()) - logits.host.begin());
    for (const bool has_groups : {true, false}) {
        for (int round = 0; round < 2; ++round) {
            kernels::DraftChoiceArgs args = head.args();
            if (!has_groups) {
                args.groups = 0;
                args.logits = logits.there();
            }
            const Status status = d.ops().choose_draft(d.queue(), args);
            kernels::DraftNumbers got{};
            d.copyOut(&got, head.numbers.data, sizeof(got));
            d.synchronize();
            const int32_t count = (has_groups ? 0 : 2) + round;
            const bool is_right = got.count == count + 1 &&
                                  got.draft[count] == (has_groups ? token : largest) &&
                                  (!has_groups || lead > 1e-5);
            report(std::string("draft of ") + (has_groups ? "the nearest groups" : "all tokens"),
                   status, is_right ? 0.0 : 1.0, 1e-6);
        }
    }
}

/// A token's inputs with their operands for both sides.
struct Inputs {
    Weight embedding, table, projection;
    Pair<float> norm, part;
    Pair<int32_t> numbers;
    Buffer x, t, y;

    Inputs(cuda::CudaDevice& d,
           int64_t vocabulary,
           int64_t hidden,
           int64_t slices,
           int64_t width,
           WeightFormat format)
        : embedding(d, WeightFormat::Int8Row, vocabulary, hidden, false),
          table(d, WeightFormat::Nf4, vocabulary, slices * width, true),
          projection(d, format, slices * width, hidden, true),
          norm(d, normal(static_cast<size_t>(width))),
          part(d, normal(static_cast<size_t>(slices * width))), numbers(d, numbersOf(vocabulary)),
          x(d, static_cast<size_t>(hidden) * 4), t(d, static_cast<size_t>(slices * width) * 4),
          y(d, static_cast<size_t>(slices * width) * 4) {}

    /// A ring's positions behind the number of the token.
    static std::vector<int32_t> numbersOf(int64_t vocabulary) {
        std::vector<int32_t> numbers(64, 7);
        numbers[0] = static_cast<int32_t>(vocabulary * 2 / 3);
        return numbers;
    }
    [[nodiscard]] TokenInputArgs args(bool has_part) const {
        TokenInputArgs a;
        a.token = numbers.there();
        a.embedding = embedding.card;
        a.embedding_scale = 39.0F;
        a.x = x.f();
        a.table = table.card;
        a.table_scale = 16.0F;
        a.token_part = has_part ? part.there() : nullptr;
        a.t = t.f();
        a.projection = projection.card;
        a.norm = {norm.there(), DType::F32, 1, static_cast<int64_t>(norm.host.size())};
        a.before = 1.0F / 39.0F;
        a.after = 0.70710678F;
        a.y = y.f();
        return a;
    }
};

void checkInputs(cuda::CudaDevice& d) {
    if (d.ops().token_inputs == nullptr) {
        std::printf("a token's inputs are single functions here\n");
        return;
    }
    struct Case {
        int64_t hidden, slices, width;
        WeightFormat format;
    };
    for (const Case& c : {Case{1536, 5, 256, WeightFormat::Nf4},
                          {2560, 3, 256, WeightFormat::Nf4},
                          {1536, 4, 64, WeightFormat::Int8Row},
                          {2560, 2, 256, WeightFormat::BF16}}) {
        const Inputs in(d, 37, c.hidden, c.slices, c.width, c.format);
        for (const bool has_part : {false, true, false}) {
            TokenInputArgs args = in.args(has_part);
            const Status status = d.ops().token_inputs(d.queue(), args);
            const auto n = static_cast<size_t>(c.slices * c.width);
            const std::vector<float> got = fetch(d, in.y, n);
            const std::vector<float> got_x = fetch(d, in.x, static_cast<size_t>(c.hidden));
            d.synchronize();
            std::vector<float> x(static_cast<size_t>(c.hidden));
            std::vector<float> t(n);
            std::vector<float> y(n);
            args.token = in.numbers.host.data();
            args.embedding = in.embedding.host;
            args.x = x.data();
            args.table = in.table.host;
            args.token_part = has_part ? in.part.host.data() : nullptr;
            args.t = t.data();
            args.projection = in.projection.host;
            args.norm.data = in.norm.host.data();
            args.y = y.data();
            support::composedTokenInputs(cpuScalarOps(), {}, args);
            const bool is_exact = relativeError(got_x, x) <= 1e-6;
            report("inputs of a token " + std::string(formatName(c.format, true)) + " " +
                       std::to_string(c.hidden) + " x " + std::to_string(c.slices) + " x " +
                       std::to_string(c.width) + (has_part ? ", its part there" : ""),
                   status, is_exact ? relativeError(got, y) : 1.0, 4e-3);
        }
    }
}

/// The same launch from the single functions, as before.
Status singleInputs(cuda::CudaDevice& d, const TokenInputArgs& a) {
    const OpTable& ops = d.ops();
    const int64_t hidden = a.projection.cols;
    const int64_t all = a.projection.rows;
    const MutF32 y{a.y, 1, all, all};
    const MutF32 slices{a.y, all / a.norm.cols, a.norm.cols, a.norm.cols};
    ops.gather_rows(d.queue(), a.embedding, a.token, 1, 0, 39.0F, {a.x, 1, hidden, hidden});
    ops.gather_rows(d.queue(), a.table, a.token, 1, 0, 16.0F, {a.t, 1, all, all});
    ProjectArgs p;
    p.x = a.x;
    p.count = 1;
    p.w[0] = a.projection;
    p.y[0] = a.y;
    ops.project(d.queue(), p);
    ops.scale(d.queue(), y, a.before);
    ops.rms_norm(d.queue(), slices, a.norm, a.eps, slices);
    ops.add_scaled(d.queue(), {a.t, 1, all, all}, 1.0F, y);
    return ops.scale(d.queue(), y, a.after);
}

void timeInputs(cuda::CudaDevice& d) {
    for (const auto& [name, hidden, slices] :
         {std::tuple<const char*, int64_t, int64_t>{"E2B", 1536, 35}, {"E4B", 2560, 42}}) {
        // Weights of several tokens, so that none is in L2.
        std::vector<std::unique_ptr<Inputs>> in(12);
        for (auto& one : in) {
            one = std::make_unique<Inputs>(d, 300, hidden, slices, int64_t{256}, WeightFormat::Nf4);
        }
        const auto argsOf = [&](int i, bool has_part) {
            return in[static_cast<size_t>(i) % in.size()]->args(has_part);
        };
        const double single =
            microseconds(d, 24, [&](int i) { return singleInputs(d, argsOf(i, false)); });
        std::printf("  inputs %s, single functions                 %8.2f us\n", name, single);
        if (d.ops().token_inputs == nullptr) {
            continue;
        }
        for (const bool has_part : {false, true}) {
            const double fused = microseconds(
                d, 24, [&](int i) { return d.ops().token_inputs(d.queue(), argsOf(i, has_part)); });
            std::printf("  inputs %s in one launch%-20s %8.2f us\n", name,
                        has_part ? ", its part there" : "", fused);
        }
    }
}

void timeChoice(cuda::CudaDevice& d) {
    const int64_t count = 262144;
    const Pair<float> logits(d, normal(static_cast<size_t>(count), 8.0F));
    const Pair<uint32_t> suppressed(d, std::vector<uint32_t>(static_cast<size_t>(count / 32), 0));
    const Buffer best(d, 16);
    auto* const values = static_cast<float*>(logits.card->data);
    auto* const key = static_cast<uint64_t*>(best.data);
    const double single = microseconds(d, 20, [&](int) {
        const Status status = d.ops().soft_cap(d.queue(), {values, 1, count, count}, 30.0F);
        return status == Status::Ok
                   ? d.ops().argmax(d.queue(), values, count, suppressed.there(), key)
                   : status;
    });
    std::printf("  soft cap and choice, single functions       %8.2f us\n", single);
    if (d.ops().cap_argmax != nullptr) {
        const double fused = microseconds(d, 20, [&](int) {
            return d.ops().cap_argmax(d.queue(), values, count, 30.0F, suppressed.there(), key);
        });
        std::printf("  soft cap and choice in one launch           %8.2f us\n", fused);
    }
    if (d.ops().top_logits == nullptr) {
        return;
    }
    auto* const on_host = static_cast<TopLogits*>(d.allocateHost(sizeof(TopLogits)));
    auto* const mapped = static_cast<TopLogits*>(d.kernelAddress(on_host));
    for (const int32_t wanted : {1, 64, TopLogits::kMostWanted}) {
        const double top = microseconds(d, 20, [&](int) {
            return mapped == nullptr ? Status::Unsupported
                                     : d.ops().top_logits(d.queue(), values, count, 30.0F,
                                                          suppressed.there(), wanted, mapped);
        });
        std::printf("  soft cap and candidates of the %3d largest  %8.2f us\n", wanted, top);
    }
    d.freeHost(on_host);
}

void timeDraftChoice(cuda::CudaDevice& d) {
    if (d.ops().choose_draft == nullptr) {
        return;
    }
    const int64_t count = 262144;
    const DraftHead head(d, count);
    const Pair<float> logits(d, normal(static_cast<size_t>(count), 8.0F));
    for (const bool has_groups : {true, false}) {
        kernels::DraftChoiceArgs args = head.args();
        if (!has_groups) {
            args.groups = 0;
            args.logits = logits.there();
        }
        const double time =
            microseconds(d, 20, [&](int) { return d.ops().choose_draft(d.queue(), args); });
        std::printf("  a draft among %-28s  %8.2f us\n",
                    has_groups ? "32 of 2048 groups" : "all tokens", time);
    }
}

} // namespace

void checkEdges(cuda::CudaDevice& d) {
    checkChoice(d);
    checkCandidates(d);
    checkDraftChoice(d);
    checkInputs(d);
}

void timeEdges(cuda::CudaDevice& d) {
    std::printf("\nedges of a token, as parts of a recording\n");
    timeChoice(d);
    timeDraftChoice(d);
    if (d.ops().project != nullptr) {
        timeInputs(d);
    }
}

} // namespace kernel_check
