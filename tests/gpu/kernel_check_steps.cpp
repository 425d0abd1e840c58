// SPDX-License-Identifier: Apache-2.0
// Steps of a decoded token, with low-rank updates and without, against the scalar CPU table: one by
// one as launches of their own, or collected into one.
#include "tests/gpu/card_copies.h"
#include "tests/kernels/step_cases.h"

namespace kernel_check {
namespace {

using support::AttendCase;
using support::ProjectCase;
using Input = ProjectArgs::Input;
using Output = ProjectArgs::Output;

constexpr std::pair<WeightFormat, bool> kFormats[] = {
    {WeightFormat::Nf4, true},   {WeightFormat::Int8Row, false}, {WeightFormat::BF16, false},
    {WeightFormat::Int4, false}, {WeightFormat::Q4_0, false},    {WeightFormat::Q4_1, false},
    {WeightFormat::Q5_0, false}, {WeightFormat::Q5_1, false},    {WeightFormat::Q8_0, false},
    {WeightFormat::Q4_K, false}, {WeightFormat::Q5_K, false},    {WeightFormat::Q6_K, false}};

int32_t blockOf(WeightFormat format) {
    return format == WeightFormat::Int4 ? 32 : 64;
}

/// Enqueues the steps, in one launch where they are collected.
Status
enqueue(cuda::CudaDevice& d, bool is_collected, const std::vector<std::function<Status()>>& steps) {
    Status status = is_collected ? d.ops().begin_steps(d.queue()) : Status::Ok;
    if (status != Status::Ok) {
        return status;
    }
    for (const auto& step : steps) {
        status = status == Status::Ok ? step() : status;
    }
    const Status ended = is_collected ? d.ops().end_steps(d.queue()) : Status::Ok;
    return status == Status::Ok ? ended : status;
}

/// The projection step with residual and norms.
void checkPairs(cuda::CudaDevice& d, bool is_collected, const std::string& form) {
    for (const auto& [format, nested] : kFormats) {
        const ProjectCase c(format, nested, blockOf(format), 1536, {2048, 2048},
                            Input::ResidualNorm, Output::GatedPair);
        const CardCopies copies(d, c);
        const Status status = enqueue(
            d, is_collected, {[&] { return d.ops().project(d.queue(), copies.moved(c.args)); }});
        copies.bringBack();
        double residual = 0.0;
        const double error = c.error(&residual);
        report(form + "project pair " + formatName(format, nested), status, error, 4e-3);
        report(form + "project residual " + formatName(format, nested), status, residual, 1e-6);
    }
}

/// The attention step, and projections behind it: the first merges the parts itself where they are
/// few, the second stands behind a barrier.
void checkAttentionSteps(cuda::CudaDevice& d, bool is_collected, const std::string& form) {
    struct Case {
        int64_t heads, kv, dim, size, ring, window;
        bool owner;
        KvType type = KvType::BF16;
    };
    for (const Case c : {Case{8, 1, 256, 5, 64, 0, true},
                         {8, 1, 256, 600, 768, 512, true},
                         {8, 1, 512, 300, 4096, 0, true},
                         {8, 2, 256, 700, 768, 512, false},
                         {8, 1, 256, 900, 768, 512, true},
                         {8, 2, 512, 2500, 4096, 0, true},
                         {4, 2, 32, 40, 64, 16, true},
                         {8, 1, 512, 1, 4096, 0, true},
                         {8, 1, 256, 5, 64, 0, true, KvType::Q8},
                         {8, 1, 256, 600, 768, 512, true, KvType::Q8},
                         {8, 2, 256, 700, 768, 512, false, KvType::Q8},
                         {8, 2, 512, 2500, 4096, 0, true, KvType::Q8},
                         {4, 2, 32, 40, 64, 16, true, KvType::Q8}}) {
        AttendCase attend(c.heads, c.kv, c.dim, c.size, c.ring, c.window, c.owner, 1, c.type);
        attend.args.is_ring = c.window > 0 || c.dim == 512;
        const int64_t width = c.heads * c.dim;
        ProjectCase o(WeightFormat::Nf4, true, 64, width, {192}, Input::Plain, Output::Store);
        o.readFrom(attend.args.out, attend.want);
        ProjectCase last(WeightFormat::Nf4, true, 64, 192, {64}, Input::Plain, Output::Store);
        last.readFrom(o.args.y[0], o.want[0]);
        const CardCopies copies(d, attend, o, last);
        const auto attends = [&] {
            return d.ops().attend_step(d.queue(), copies.moved(attend.args));
        };
        Status status = enqueue(d, is_collected, {attends});
        if (status == Status::Ok) { // twice: counters must come back to 0
            status = enqueue(d, is_collected, {attends});
        }
        copies.bringBack();
        report(form + "attend step head " + std::to_string(c.dim) + ", " + std::to_string(c.size) +
                   " tokens" + (c.type == KvType::Q8 ? ", q8" : ""),
               status, support::relativeError(attend.out.data(), attend.want),
               is_collected ? 1e-4 : 2e-5); // collected: queries as sums of two bf16 numbers
        report(form + "attend step cache", Status::Ok, attend.wrongRows(), 0);
        status = enqueue(d, is_collected,
                         {attends, [&] { return d.ops().project(d.queue(), copies.moved(o.args)); },
                          [&] { return d.ops().project(d.queue(), copies.moved(last.args)); }});
        copies.bringBack();
        double residual = 0.0;
        report(form + "attention and two projections", status, last.error(&residual), 4e-3);
    }
}

} // namespace

void checkSteps(cuda::CudaDevice& d, bool is_collected) {
    const std::string form = is_collected ? "collected: " : "";
    checkPairs(d, is_collected, form);
    checkAttentionSteps(d, is_collected, form);
}

/// Columns of 31B, in a list that begins with a residual row of it: norm and a few outputs, then
/// rows without norm.
void checkLongRows(cuda::CudaDevice& d) {
    for (const auto& [format, cols] : {std::pair{WeightFormat::Nf4, int64_t{8192}},
                                       {WeightFormat::Nf4, int64_t{16384}},
                                       {WeightFormat::Nf4, int64_t{21504}},
                                       {WeightFormat::Int8Row, int64_t{21504}}}) {
        const bool is_nested = format == WeightFormat::Nf4;
        const ProjectCase first(WeightFormat::Nf4, true, 64, 5376, {64}, Input::Norm,
                                Output::Store);
        const ProjectCase plain(format, is_nested, 64, cols, {400}, Input::Plain, Output::Store,
                                30);
        const CardCopies copies(d, first, plain);
        const Status status =
            enqueue(d, true,
                    {[&] { return d.ops().project(d.queue(), copies.moved(first.args)); },
                     [&] { return d.ops().project(d.queue(), copies.moved(plain.args)); }});
        copies.bringBack();
        const std::string name =
            std::string(formatName(format, is_nested)) + " " + std::to_string(cols);
        double residual = 0.0;
        report("collected: norm of 5376 before " + name, status, first.error(&residual), 4e-3);
        report("collected: long row " + name, status, plain.error(&residual), 4e-3);
    }
}

/// Low-rank updates inside projection steps: three weights with one, none and two updates; a pair
/// whose outputs are multiplied with the next step's A, and that next step.
void checkStepUpdates(cuda::CudaDevice& d, bool is_collected) {
    for (const auto& [format, nested] : kFormats) {
        for (const DType type : {DType::BF16, DType::F32}) {
            const std::string name = std::string(formatName(format, nested)) +
                                     (is_collected ? ", collected" : "") +
                                     (type == DType::BF16 ? ", bf16" : ", fp32") + " adapter";
            // Ranks of eight: A h is shared out over the blocks (stream_lora.cuh).
            const bool is_shared = is_collected && type == DType::BF16;
            const auto with = [type](ProjectCase& c,
                                     std::initializer_list<std::pair<int, int64_t>> ranks) {
                uint64_t seed = 50;
                for (const auto& [weight, rank] : ranks) {
                    c.addUpdate(weight, rank, type, seed += 2);
                }
                c.compute();
            };
            double residual = 0.0;
            ProjectCase three(format, nested, blockOf(format), 1536, {2048, 256, 192}, Input::Norm,
                              Output::Store);
            with(three, {{0, 16}, {2, is_shared ? 8 : 5}, {2, 64}});
            {
                const CardCopies copies(d, three);
                const Status status =
                    enqueue(d, is_collected,
                            {[&] { return d.ops().project(d.queue(), copies.moved(three.args)); }});
                copies.bringBack();
                report("project with updates " + name, status, three.error(&residual), 4e-3);
            }
            // A pair with taps, then the step that takes its output.
            ProjectCase pair(format, nested, blockOf(format), 1536, {2048, 2048}, Input::Norm,
                             Output::GatedPair);
            with(pair, {{0, 16}, {1, 8}});
            ProjectCase behind(format, nested, blockOf(format), 2048, {1536}, Input::Plain,
                               Output::Store, 30);
            with(behind, {{0, 16}, {0, is_shared ? 8 : 3}});
            behind.readFrom(pair.args.y[0], pair.want[0]);
            const CardCopies copies(d, pair, behind);
            const Buffer sums(d, size_t{19} * 1024 * 4);
            ProjectArgs first = copies.moved(pair.args);
            ProjectArgs second = copies.moved(behind.args);
            first.tap[0] = second.lora[0].a;
            first.tap[1] = second.lora[1].a;
            first.tap_sums = sums.f();
            for (const bool has_sums : {true, false}) {
                const Status status =
                    enqueue(d, is_collected,
                            {[&] {
                                 first.tap_count = 2;
                                 first.tap_parts = d.ops().project_parts(d.queue(), first);
                                 first.tap_count = first.tap_parts > 0 ? 2 : 0;
                                 return d.ops().project(d.queue(), first);
                             },
                             [&] {
                                 second.lora_sums =
                                     has_sums && first.tap_count > 0 ? sums.f() : nullptr;
                                 second.lora_parts = first.tap_parts;
                                 return d.ops().project(d.queue(), second);
                             }});
                copies.bringBack();
                report("project pair with updates " + name, status, pair.error(&residual), 4e-3);
                report(std::string("project ") + (has_sums ? "with taps " : "without taps ") + name,
                       status, behind.error(&residual), 5e-3);
            }
        }
    }
}

} // namespace kernel_check
