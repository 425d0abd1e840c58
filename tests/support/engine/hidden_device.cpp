// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engine/hidden_device.h"

#include "kernels/cpu/tables.h"
#include "tests/support/moved_operands.h"
#include "tests/support/token_inputs.h"
#include "tests/support/top_logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>

namespace support {

using kernels::AttendStepArgs;
using kernels::AttentionArgs;
using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;
using kernels::OpTable;
using kernels::ProjectArgs;
using kernels::Queue;
using kernels::Status;

namespace {

/// No machine has memory there, so that a direct access ends the program.
constexpr uintptr_t kHidden = uintptr_t{1} << 62U;

void* hide(void* pointer) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return pointer == nullptr
               ? nullptr
               : reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(pointer) | kHidden);
}

/// Operands with host addresses in place of the device's.
struct Revealer {
    HiddenDevice* device;
    bool is_ok = true;

    template <typename T>
    T operator()(T value) {
        const MovedOperands moved([this](auto* p) {
            return static_cast<decltype(p)>(const_cast<void*>(device->reveal(p, &is_ok)));
        });
        return moved(value);
    }
};

/// The same function of the CPU table with revealed operands, now or at replay.
template <auto Member, typename... Args>
Status forward(Queue q, Args... args) {
    auto* const device = static_cast<HiddenDevice*>(q.context);
    Revealer revealed{device};
    std::tuple<std::decay_t<Args>...> operands{revealed(static_cast<std::decay_t<Args>>(args))...};
    if (!revealed.is_ok) {
        return Status::BadShape;
    }
    return device->submit([device, operands] {
        return std::apply(
            [device](const auto&... plain) {
                return (device->base().*Member)(device->hostQueue(), plain...);
            },
            operands);
    });
}

template <auto Member, typename... Args>
constexpr auto forwarder(Status (*OpTable::*)(Queue, Args...)) {
    return &forward<Member, Args...>;
}

/// Parts that taps are summed over. One: then every sum has the order of the single functions, and
/// a recorded step gives the same bits as a composed one (tst_cuda_lora has many parts).
constexpr int kTapParts = 1;

MutF32 rowOf(std::vector<float>& values) {
    const auto n = static_cast<int64_t>(values.size());
    return MutF32{values.data(), 1, n, n};
}

/// y += the updates of weight i of a step whose input is h.
Status addUpdates(
    const OpTable& ops, Queue q, const ProjectArgs& a, int i, std::vector<float>& h, MutF32 y) {
    auto status = Status::Ok;
    int64_t first = 0; // ranks before this update
    for (int j = 0; j < a.lora_count && status == Status::Ok; ++j) {
        const kernels::ProjectLora& lora = a.lora[j];
        const int64_t rank = lora.a.rows;
        std::vector<float> scratch(static_cast<size_t>(rank));
        if (lora.weight == i && a.lora_sums == nullptr) {
            status = ops.lora_accumulate(q, rowOf(h), lora.a, lora.b, {}, *lora.factor,
                                         rowOf(scratch), y);
        } else if (lora.weight == i) {
            std::vector<float> sums(scratch.size(), 0.0F);
            std::vector<float> identity(static_cast<size_t>(rank * rank), 0.0F);
            for (int64_t r = 0; r < rank; ++r) {
                identity[static_cast<size_t>(r * rank + r)] = 1.0F;
                for (int part = 0; part < a.lora_parts; ++part) {
                    sums[static_cast<size_t>(r)] += a.lora_sums[(first + r) * a.lora_parts + part];
                }
            }
            status = ops.lora_accumulate(q, rowOf(sums),
                                         {identity.data(), kernels::DType::F32, rank, rank}, lora.b,
                                         {}, *lora.factor, rowOf(scratch), y);
        }
        first += rank;
    }
    return status;
}

/// The taps of a finished step: part p is the sum over every kTapParts-th output from p.
Status tapOutputs(const OpTable& ops, Queue q, const ProjectArgs& a) {
    auto status = Status::Ok;
    int64_t first = 0;
    for (int j = 0; j < a.tap_count; ++j) {
        const MatView& tap = a.tap[j];
        for (int part = 0; part < a.tap_parts; ++part) {
            std::vector<float> masked(static_cast<size_t>(tap.cols), 0.0F);
            for (int64_t c = part; c < tap.cols; c += a.tap_parts) {
                masked[static_cast<size_t>(c)] = a.y[0][c];
            }
            // A x through an update whose B is the identity.
            std::vector<float> identity(static_cast<size_t>(tap.rows * tap.rows), 0.0F);
            for (int64_t r = 0; r < tap.rows; ++r) {
                identity[static_cast<size_t>(r * tap.rows + r)] = 1.0F;
            }
            std::vector<float> scratch(static_cast<size_t>(tap.rows));
            std::vector<float> sums(static_cast<size_t>(tap.rows), 0.0F);
            const auto one = ops.lora_accumulate(
                q, rowOf(masked), tap, {identity.data(), kernels::DType::F32, tap.rows, tap.rows},
                {}, 1.0F, rowOf(scratch), rowOf(sums));
            status = status == Status::Ok ? one : status;
            for (int64_t r = 0; r < tap.rows; ++r) {
                a.tap_sums[(first + r) * a.tap_parts + part] = sums[static_cast<size_t>(r)];
            }
        }
        first += tap.rows;
    }
    return status;
}

/// The products and what is done with them; h: the step's input.
Status multiplyHost(const OpTable& ops, Queue q, const ProjectArgs& a, std::vector<float>& h) {
    const auto product = [&](int i, MutF32 y) {
        const auto status = ops.linear(q, rowOf(h), a.w[i], y);
        return status == Status::Ok ? addUpdates(ops, q, a, i, h, y) : status;
    };
    auto status = Status::Ok;
    if (a.output == ProjectArgs::Output::Store) {
        for (int i = 0; i < a.count && status == Status::Ok; ++i) {
            status = product(i, MutF32{a.y[i], 1, a.w[i].rows, a.w[i].rows});
        }
        return status;
    }
    const int64_t out = a.w[0].rows;
    std::vector<float> gate(static_cast<size_t>(out));
    std::vector<float> up(static_cast<size_t>(out));
    status = product(0, rowOf(gate));
    if (a.output == ProjectArgs::Output::GatedPair) {
        status = status == Status::Ok ? product(1, rowOf(up)) : status;
    } else {
        std::copy_n(a.multiply, out, up.begin());
    }
    return status != Status::Ok ? status
                                : ops.gated_mul(q, a.activation, rowOf(gate), rowOf(up),
                                                MutF32{a.y[0], 1, out, out});
}

Status projectHost(const OpTable& ops, Queue q, const ProjectArgs& a) {
    const int64_t in = a.w[0].cols;
    std::vector<float> residual(a.x, a.x + in);
    auto status = Status::Ok;
    if (a.input == ProjectArgs::Input::ResidualNorm || a.input == ProjectArgs::Input::Residual) {
        if (a.t != nullptr) {
            const MatF32 t{a.t, 1, in, in};
            status = a.t_norm.data != nullptr
                         ? ops.rms_norm_add(q, t, a.t_norm, a.eps, 1.0F, rowOf(residual))
                         : ops.add_scaled(q, t, 1.0F, rowOf(residual));
        }
        if (status == Status::Ok) {
            status = ops.scale(q, rowOf(residual), a.scalar);
        }
        if (a.x_out != nullptr) {
            std::copy(residual.begin(), residual.end(), a.x_out);
        }
    }
    std::vector<float> normed = residual;
    if (status == Status::Ok &&
        (a.input == ProjectArgs::Input::Norm || a.input == ProjectArgs::Input::ResidualNorm)) {
        status = ops.rms_norm(q, rowOf(residual), a.norm, a.eps, rowOf(normed));
    }
    if (status == Status::Ok) {
        status = multiplyHost(ops, q, a, normed);
    }
    return status == Status::Ok ? tapOutputs(ops, q, a) : status;
}

Status attendHost(const OpTable& ops, Queue q, const AttendStepArgs& a) {
    const int64_t dim = a.head_dim;
    const int64_t q_width = a.num_heads * dim;
    const int64_t kv_width = a.num_kv_heads * dim;
    std::vector<float> query(a.q, a.q + q_width);
    const MutF32 heads{query.data(), a.num_heads, dim, dim};
    const auto norm = [&](const MutF32& rows, const MatView& weight, bool is_wanted) {
        return is_wanted ? ops.rms_norm(q, rows, weight, a.eps, rows) : Status::Ok;
    };
    auto status = norm(heads, a.q_norm, a.q_norm.data != nullptr);
    if (status == Status::Ok) {
        status = ops.rope(q, MutF32{query.data(), 1, q_width, q_width}, dim, 0, dim, a.position,
                          a.inv_freq);
    }
    if (a.k != nullptr && status == Status::Ok) {
        std::vector<float> key(a.k, a.k + kv_width);
        std::vector<float> value(a.v, a.v + kv_width);
        const MutF32 key_heads{key.data(), a.num_kv_heads, dim, dim};
        const MutF32 value_heads{value.data(), a.num_kv_heads, dim, dim};
        const MutF32 key_row{key.data(), 1, kv_width, kv_width};
        status = norm(key_heads, a.k_norm, a.k_norm.data != nullptr);
        if (status == Status::Ok) {
            status = ops.rope(q, key_row, dim, 0, dim, a.position, a.inv_freq);
        }
        if (status == Status::Ok) {
            status = norm(value_heads, MatView{}, a.norms_values);
        }
        if (status == Status::Ok) {
            status = ops.store_rows(q, key_row, a.slot, a.kv_type, a.num_kv_heads, a.cache_k,
                                    a.capacity);
        }
        if (status == Status::Ok) {
            status = ops.store_rows(q, MutF32{value.data(), 1, kv_width, kv_width}, a.slot,
                                    a.kv_type, a.num_kv_heads, a.cache_v, a.capacity);
        }
    }
    AttentionArgs attention;
    attention.q = query.data();
    attention.k = a.cache_k;
    attention.v = a.cache_v;
    attention.kv_type = a.kv_type;
    attention.queries = 1;
    attention.keys = *a.key_count;
    attention.num_heads = a.num_heads;
    attention.num_kv_heads = a.num_kv_heads;
    attention.head_dim = dim;
    attention.scale = a.scale;
    attention.mask.query_position = a.position;
    attention.mask.key_position = a.key_position;
    attention.mask.window = a.window;
    attention.out = a.out;
    return status != Status::Ok ? status : ops.attention(q, attention);
}

Status argmaxHost(const float* logits, int64_t count, const uint32_t* suppressed, uint64_t* best) {
    uint64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (suppressed != nullptr && ((suppressed[i / 32] >> (i % 32)) & 1U) != 0) {
            continue;
        }
        const auto bits = std::bit_cast<uint32_t>(logits[i]);
        const uint32_t ordered = (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
        found =
            std::max(found, (uint64_t{ordered} << 32U) | (0xffffffffU - static_cast<uint32_t>(i)));
    }
    *best = found;
    return Status::Ok;
}

int projectPartsHidden(Queue /*q*/, const ProjectArgs& /*args*/) {
    return kTapParts;
}

/// `host` of the CPU's table and queue with revealed arguments.
template <typename Args, Status (*host)(const OpTable&, Queue, const Args&)>
Status hiddenStep(Queue q, const Args& args) {
    auto* const device = static_cast<HiddenDevice*>(q.context);
    Revealer revealed{device};
    const Args plain = revealed(args);
    return revealed.is_ok ? device->submit([device, plain] {
        return host(device->base(), device->hostQueue(), plain);
    })
                          : Status::BadShape;
}

Status argmaxHidden(
    Queue q, const float* logits, int64_t count, const uint32_t* suppressed, uint64_t* best) {
    auto* const device = static_cast<HiddenDevice*>(q.context);
    Revealer revealed{device};
    const float* plain_logits = revealed(logits);
    const uint32_t* plain_suppressed = revealed(suppressed);
    uint64_t* plain_best = revealed(best);
    return revealed.is_ok ? device->submit([=] {
        return argmaxHost(plain_logits, count, plain_suppressed, plain_best);
    })
                          : Status::BadShape;
}

Status capArgmaxHidden(
    Queue q, float* logits, int64_t count, float cap, const uint32_t* suppressed, uint64_t* best) {
    auto* const device = static_cast<HiddenDevice*>(q.context);
    Revealer revealed{device};
    float* plain_logits = revealed(logits);
    const uint32_t* plain_suppressed = revealed(suppressed);
    uint64_t* plain_best = revealed(best);
    return revealed.is_ok ? device->submit([=] {
        auto status = Status::Ok;
        if (cap > 0.0F) {
            status =
                device->base().soft_cap(device->hostQueue(), {plain_logits, 1, count, count}, cap);
        }
        return status == Status::Ok ? argmaxHost(plain_logits, count, plain_suppressed, plain_best)
                                    : status;
    })
                          : Status::BadShape;
}

Status topLogitsHidden(Queue q,
                       float* logits,
                       int64_t count,
                       float cap,
                       const uint32_t* suppressed,
                       int32_t wanted,
                       kernels::TopLogits* top) {
    auto* const device = static_cast<HiddenDevice*>(q.context);
    Revealer revealed{device};
    float* plain_logits = revealed(logits);
    const uint32_t* plain_suppressed = revealed(suppressed);
    kernels::TopLogits* plain_top = revealed(top);
    return revealed.is_ok ? device->submit([=] {
        auto status = Status::Ok;
        if (cap > 0.0F) {
            status =
                device->base().soft_cap(device->hostQueue(), {plain_logits, 1, count, count}, cap);
        }
        *plain_top = topLogits(plain_logits, count, plain_suppressed, wanted);
        const int row = device->counts().tops++;
        if (device->counts().untold_rows > 0 && row % device->counts().untold_rows == 0) {
            plain_top->count = kernels::TopLogits::kSeeRow;
        }
        return status;
    })
                          : Status::BadShape;
}

OpTable makeTable() {
    OpTable table{};
    table.name = "hidden";
#define BELFRY_FORWARD(name) table.name = forwarder<&OpTable::name>(&OpTable::name)
    BELFRY_FORWARD(linear);
    BELFRY_FORWARD(lora_accumulate);
    BELFRY_FORWARD(rms_norm);
    BELFRY_FORWARD(rms_norm_add);
    BELFRY_FORWARD(rope);
    BELFRY_FORWARD(attention);
    BELFRY_FORWARD(audio_attention);
    BELFRY_FORWARD(subsample_conv);
    BELFRY_FORWARD(gated_mul);
    BELFRY_FORWARD(sigmoid_mul);
    BELFRY_FORWARD(causal_conv1d);
    BELFRY_FORWARD(clamp);
    BELFRY_FORWARD(add_scaled);
    BELFRY_FORWARD(scale);
    BELFRY_FORWARD(scale_columns);
    BELFRY_FORWARD(add_columns);
    BELFRY_FORWARD(soft_cap);
    BELFRY_FORWARD(gather_rows);
    BELFRY_FORWARD(store_rows);
#undef BELFRY_FORWARD
    table.project = hiddenStep<ProjectArgs, projectHost>;
    table.project_parts = projectPartsHidden;
    table.attend_step = hiddenStep<AttendStepArgs, attendHost>;
    table.argmax = argmaxHidden;
    table.cap_argmax = capArgmaxHidden;
    table.most_top_logits = 1 << 20;
    table.top_logits = topLogitsHidden;
    table.token_inputs = hiddenStep<kernels::TokenInputArgs, composedTokenInputs>;
    return table;
}

} // namespace

HiddenDevice::HiddenDevice(uint64_t capacity, bool is_reference, HiddenCounts& counts)
    : pool_(2),
      memory_(capacity, &pool_, is_reference ? kernels::cpuScalarOps() : kernels::bestCpuOps()),
      base_(is_reference ? &kernels::cpuScalarOps() : &kernels::bestCpuOps()), counts_(&counts) {
    memory_.setPoison(true);
    ++counts_->open;
}

HiddenDevice::~HiddenDevice() {
    counts_->leaked += memory_.liveAllocations() + static_cast<size_t>(graphs_);
    --counts_->open;
}

const OpTable& HiddenDevice::ops() const {
    static const OpTable kTable = makeTable();
    return kTable;
}

const void* HiddenDevice::reveal(const void* pointer, bool* is_ok) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (pointer != nullptr && (address & kHidden) == 0) {
        ++counts_->host_pointers;
        *is_ok = false;
        std::fprintf(stderr, "a kernel of the hidden device got a host pointer\n");
        return nullptr;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<const void*>(address & ~kHidden);
}

void* HiddenDevice::allocate(size_t bytes, int tag) {
    return recording_ != nullptr ? nullptr : hide(memory_.allocate(bytes, tag));
}

void HiddenDevice::free(void* pointer) {
    bool is_ok = true;
    counts_->too_early += pending_.empty() ? 0 : 1;
    memory_.free(const_cast<void*>(reveal(pointer, &is_ok)));
}

Status HiddenDevice::submit(std::function<Status()> step) {
    if (recording_ != nullptr) {
        recording_->push_back(std::move(step));
        return Status::Ok;
    }
    const Status before = runPending(UINT64_MAX);
    return before == Status::Ok ? step() : before;
}

Status HiddenDevice::runPending(uint64_t until) {
    auto status = Status::Ok;
    while (!pending_.empty() && done_ < until && status == Status::Ok) {
        status = pending_.front()();
        pending_.pop_front();
        ++done_;
    }
    return status;
}

Status HiddenDevice::later(std::function<Status()> step) {
    pending_.push_back(std::move(step));
    return counts_->is_late ? Status::Ok : runPending(UINT64_MAX);
}

Status HiddenDevice::mark(int number) {
    marks_[static_cast<size_t>(number)] = done_ + pending_.size();
    return Status::Ok;
}

Status HiddenDevice::waitForMark(int number) {
    return runPending(marks_[static_cast<size_t>(number)]);
}

Status HiddenDevice::copyInLater(void* device_dst, const void* locked_src, size_t bytes, int) {
    bool is_ok = true;
    void* const to = const_cast<void*>(reveal(device_dst, &is_ok));
    if (!is_ok || (reinterpret_cast<uintptr_t>(locked_src) & kHidden) != 0) {
        return Status::BadShape;
    }
    const auto copy = [this, to, locked_src, bytes] {
        return memory_.copyIn(to, locked_src, bytes);
    };
    return recording_ != nullptr ? submit(copy) : later(copy);
}

Status HiddenDevice::copyIn(void* device_dst, const void* host_src, size_t bytes) {
    bool is_ok = true;
    void* const to = const_cast<void*>(reveal(device_dst, &is_ok));
    if (!is_ok || (reinterpret_cast<uintptr_t>(host_src) & kHidden) != 0) {
        return Status::BadShape;
    }
    return submit([this, to, host_src, bytes] { return memory_.copyIn(to, host_src, bytes); });
}

Status HiddenDevice::copyOut(void* host_dst, const void* device_src, size_t bytes) {
    bool is_ok = true;
    const void* const from = reveal(device_src, &is_ok);
    if (!is_ok || (reinterpret_cast<uintptr_t>(host_dst) & kHidden) != 0) {
        return Status::BadShape;
    }
    ++counts_->reads;
    return submit([this, host_dst, from, bytes] { return memory_.copyOut(host_dst, from, bytes); });
}

Status HiddenDevice::copyWithin(void* dst, const void* src, size_t bytes) {
    bool is_ok = true;
    void* const to = const_cast<void*>(reveal(dst, &is_ok));
    const void* const from = reveal(src, &is_ok);
    return is_ok ? submit([this, to, from, bytes] { return memory_.copyWithin(to, from, bytes); })
                 : Status::BadShape;
}

Status HiddenDevice::clear(void* dst, size_t bytes) {
    bool is_ok = true;
    void* const to = const_cast<void*>(reveal(dst, &is_ok));
    return is_ok ? submit([this, to, bytes] { return memory_.clear(to, bytes); })
                 : Status::BadShape;
}

void HiddenDevice::setScratch(void* scratch, size_t /*bytes*/) {
    bool is_ok = true;
    (void)reveal(scratch, &is_ok);
}

Status HiddenDevice::lockHost(void* /*memory*/, size_t /*bytes*/) {
    ++counts_->locks;
    ++counts_->locked;
    return Status::Ok;
}

void HiddenDevice::unlockHost(void* /*memory*/) {
    --counts_->locked;
    counts_->too_early += pending_.empty() ? 0 : 1;
}

void* HiddenDevice::kernelAddress(void* host_block) {
    return counts_->has_copies_only ? nullptr : hide(host_block);
}

Status HiddenDevice::synchronize() {
    return recording_ != nullptr ? Status::Unsupported : runPending(UINT64_MAX);
}

Status HiddenDevice::beginCapture() {
    recording_ = std::make_unique<Recording>();
    return Status::Ok;
}

Status HiddenDevice::endCapture(kernels::GraphHandle* graph) {
    *graph = recording_.release();
    ++counts_->recorded;
    ++graphs_;
    return *graph == nullptr ? Status::Unsupported : Status::Ok;
}

Status HiddenDevice::replay(kernels::GraphHandle graph) {
    ++counts_->replays;
    return later([steps = static_cast<Recording*>(graph)] {
        auto status = Status::Ok;
        for (const auto& step : *steps) {
            status = status == Status::Ok ? step() : status;
        }
        return status;
    });
}

void HiddenDevice::freeGraph(kernels::GraphHandle graph) {
    if (graph != nullptr) {
        counts_->too_early += pending_.empty() ? 0 : 1;
        --graphs_;
        delete static_cast<Recording*>(graph); // NOLINT(cppcoreguidelines-owning-memory)
    }
}

std::shared_ptr<const engine::GpuAccess>
hiddenAccess(int count, uint64_t capacity, HiddenCounts& counts) {
    auto access = std::make_shared<engine::GpuAccess>();
    access->list = [count, capacity] {
        std::vector<engine::DeviceInfo> devices;
        for (int i = 0; i < count; ++i) {
            engine::DeviceInfo info;
            info.id = engine::DeviceId::cuda(i);
            info.description = "host-invisible test device";
            info.capacity = capacity;
            info.free = capacity;
            devices.push_back(info);
        }
        return devices;
    };
    access->open =
        [capacity, &counts](int, uint64_t limit,
                            bool is_reference) -> engine::Result<std::unique_ptr<kernels::Device>> {
        const uint64_t bytes = limit > 0 ? std::min(limit, capacity) : capacity;
        return std::unique_ptr<kernels::Device>(
            std::make_unique<HiddenDevice>(bytes, is_reference, counts));
    };
    return access;
}

} // namespace support
