// SPDX-License-Identifier: Apache-2.0
// Collects the decode steps of a token and runs them as one cooperative launch.
#include "kernels/cuda/launch/token_steps.h"

#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace kernels::cuda {

namespace {

constexpr size_t kMaxSteps = kStepBytes / sizeof(TokenStep);

/// What a step is, for the table of times.
std::string labelOf(const TokenStep& step) {
    if (step.kind == kStepAttend) {
        return "attention of heads of " + std::to_string(step.attend.head_dim) +
               (step.attend.window > 0 ? ", window " : "") +
               (step.attend.window > 0 ? std::to_string(step.attend.window) : "");
    }
    const ProjectKernelArgs& a = step.project;
    std::string label = "projection " + std::to_string(a.outputs) + " x " + std::to_string(a.cols) +
                        (a.output == kOutputGatedPair ? ", pair" : "") + ", input " +
                        std::to_string(a.input);
    if (a.lora_units > 0) {
        label += ", " + std::to_string(a.lora_units) + " units";
    }
    return label;
}

} // namespace

Status beginSteps(Queue q) {
    Stream& s = *static_cast<Stream*>(q.context);
    TokenSteps& t = s.steps;
    const KernelId kernel = isAsync(s) ? KernelId::stream_async : KernelId::stream;
    if (!t.may_stream || s.is_reference || s.facts.compute_capability < 80 ||
        s.functions[static_cast<size_t>(kernel)] == nullptr || s.scratch_bytes < kPartialBytes ||
        static_cast<size_t>(s.facts.multiprocessors) * sizeof(int32_t) > kFlagBytes) {
        return Status::Unsupported;
    }
    try {
        t.steps.reserve(kMaxSteps);
    } catch (const std::bad_alloc&) {
        return Status::Unsupported; // single launches need no list
    }
    t.steps.clear();
    t.uploaded = 0;
    t.planned = 0;
    t.is_once = false;
    t.is_side = false;
    t.rows = nullptr;
    t.row = nullptr;
    t.has_left = false;
    t.is_collecting = true;
    return Status::Ok;
}

Status continueSteps(Queue q) {
    TokenSteps& steps = static_cast<Stream*>(q.context)->steps;
    const size_t uploaded = steps.uploaded;
    const size_t planned = steps.planned;
    const Status status = beginSteps(q);
    if (status == Status::Ok) {
        steps.uploaded = uploaded;
        steps.planned = planned;
    }
    return status;
}

Status beginSideSteps(Queue q) {
    static_assert(kSideStepBytes / sizeof(TokenStep) >= 40);
    const Status status = beginSteps(q);
    static_cast<Stream*>(q.context)->steps.is_side = status == Status::Ok;
    return status;
}

size_t mostSteps(const TokenSteps& steps) {
    return steps.is_side ? kSideStepBytes / sizeof(TokenStep) : kMaxSteps;
}

Status endSteps(Queue q) {
    Stream& s = *static_cast<Stream*>(q.context);
    const Status status = s.flush();
    s.steps.is_collecting = false;
    s.steps.rows = nullptr;
    return status;
}

void dropRows(Queue q) {
    TokenSteps& steps = static_cast<Stream*>(q.context)->steps;
    steps.steps.clear();
    steps.is_collecting = false;
    steps.rows = nullptr;
}

Status collectProject(Stream& s, ProjectKernelArgs args, int64_t outputs) {
    return s.steps.rows != nullptr ? rowsProject(s, args, outputs)
                                   : streamProject(s, args, outputs);
}

bool wouldCollect(Stream& s, const ProjectKernelArgs& args, int64_t outputs) {
    TokenSteps before = s.steps;
    s.steps.is_asked = true;
    const bool is_taken = collectProject(s, args, outputs) == Status::Ok;
    s.steps = std::move(before);
    return is_taken;
}

Status collectAttend(Stream& s, AttendStepKernelArgs args) {
    return s.steps.rows != nullptr ? rowsAttend(s, args) : streamAttend(s, args);
}

Status Stream::flush() {
    TokenSteps& t = steps;
    if (t.steps.empty()) {
        return Status::Ok;
    }
    if (t.is_asked) {
        t.steps.clear();
        return Status::Ok;
    }
    if (is_lost || entered != Status::Ok) {
        t.steps.clear();
        return is_lost ? Status::DeviceLost : entered;
    }
    const size_t count = t.steps.size();
    const size_t bytes = count * sizeof(TokenStep);
    const bool has_rows = t.rows != nullptr;
    const bool is_timed = kHasTrace && times != nullptr;
    std::vector<std::string> labels;
    if (is_timed) {
        const bool has_units =
            std::any_of(t.steps.begin(), t.steps.end(), [](const TokenStep& step) {
                return step.kind == kStepProject && step.project.lora_units > 0;
            });
        for (const TokenStep& step : t.steps) {
            labels.push_back(labelOf(step) + (has_units ? " +" : "") +
                             (has_rows ? " of rows" : ""));
        }
    }
    if (!has_rows) {
        placeStreamUnits(*this);
    }
    const size_t first = t.is_side ? kSideStepOffset : kCounterBytes;
    const CuPointer to =
        scratch + (has_rows ? kRowStepOffset : first + t.uploaded * sizeof(TokenStep));
    // Not on the compute stream: while that one is captured the copy would become part of every
    // replay. The host waits, so the list may go. A launch that still reads an older list has
    // ended: the host waits for every token.
    Status status =
        check(driver->memcpyHtoDAsync(to, t.steps.data(), bytes, upload), "cuMemcpyHtoDAsync");
    if (status == Status::Ok && !has_rows) {
        status = streamUnitSizes(*this, to, count);
    }
    if (status == Status::Ok) {
        status = check(driver->streamSynchronize(upload), "cuStreamSynchronize");
    }
    t.steps.clear();
    if (!has_rows) {
        t.uploaded += count;
        t.row = nullptr;
    }
    if (status != Status::Ok) {
        return status;
    }
    const CuPointer clocks = is_timed ? scratch + kCounterBytes + kStepBytes : 0;
    status = has_rows ? launchRows(*this, to, static_cast<int>(count), clocks)
                      : launchStream(*this, to, static_cast<int>(count), clocks);
    if (is_timed && status == Status::Ok) {
        times->addSteps(handle, clocks, labels);
    }
    return status;
}

} // namespace kernels::cuda
