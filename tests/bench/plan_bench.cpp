// SPDX-License-Identifier: Apache-2.0
// Time of the planner for the published shapes, headers only: every preset and `fit` on one, two
// and four GPUs, with and without an adapter. Each figure is the median of many runs, in
// milliseconds; "fit" alone is the choice of the placement, "plan" the whole plan with that choice.
// Usage: belfry_plan_bench            times
//        belfry_plan_bench --grid     one line per request of a grid: what fit chose and its cost
//                                     (to compare two versions of the solver)
#include "engine/families/config.h"
#include "engine/families/gemma4/published_shapes.h"
#include "engine/families/tensor_list.h"
#include "engine/plan/planner.h"
#include "engine/run/planning.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace engine;

constexpr uint64_t kGiB = uint64_t{1} << 30U;

PlanRequest requestFor(const std::string& size, int gpus, uint64_t bytes, bool is_sim) {
    PlanRequest request;
    request.config = parseModelConfig(publishedConfigJson(size), publishedGenerationJson(),
                                      publishedProcessorJson())
                         .value();
    request.tensors = listTensors(request.config);
    DeviceInfo cpu;
    cpu.id = DeviceId::cpu();
    cpu.capacity = cpu.free = 64 * kGiB;
    request.devices.push_back(cpu);
    for (int i = 0; i < gpus; ++i) {
        DeviceInfo gpu;
        gpu.id = is_sim ? DeviceId::sim(i) : DeviceId::cuda(i);
        gpu.capacity = gpu.free = bytes;
        gpu.context_bytes = is_sim ? 0 : 400U << 20U;
        request.devices.push_back(gpu);
    }
    setMemoryRules(request);
    return request;
}

/// Rank 16 in fp32 on every linear of the language model and the towers.
void addAdapter(PlanRequest& request) {
    for (size_t i = 0; i < request.tensors.size(); ++i) {
        const ExpectedTensor& tensor = request.tensors[i];
        if (tensor.kind == TensorKind::Linear && !tensor.is_unused) {
            const auto sum = static_cast<uint64_t>(tensor.shape[0] + tensor.shape[1]);
            request.adapters.push_back({tensor.name, uint64_t{64} * sum, false, uint64_t{512} * 64,
                                        uint64_t{64} * sum, static_cast<int>(i)});
        }
    }
}

double medianMs(const std::function<void()>& work) {
    std::vector<double> times;
    double spent = 0;
    while (times.size() < 7 || (spent < 400 && times.size() < 101)) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        times.push_back(took.count());
        spent += took.count();
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void printTimes() {
    for (const char* size : {"E2B", "E4B"}) {
        for (const char* preset : {"gpu", "lean"}) {
            PlanRequest request = requestFor(size, 1, 12 * kGiB, false);
            request.quant = Format::Nf4Dq;
            request.preset = preset;
            std::printf("%s %-8s                        plan %6.2f ms\n", size, preset,
                        medianMs([&] { (void)makePlan(request); }));
        }
        for (const bool has_adapter : {false, true}) {
            PlanRequest request = requestFor(size, 1, 2 * kGiB, false); // with advice
            request.preset = "gpu";
            if (has_adapter) {
                addAdapter(request);
            }
            std::printf("%s gpu, does not fit%s          plan %6.2f ms\n", size,
                        has_adapter ? ", adapter" : "         ",
                        medianMs([&] { (void)makePlan(request); }));
        }
        for (const bool has_adapter : {false, true}) {
            for (const int gpus : {0, 1, 2, 4}) {
                for (const uint64_t gib : {1, 2, 3, 6, 16}) {
                    if (gpus == 0 && gib > 1) {
                        continue;
                    }
                    PlanRequest request = requestFor(size, gpus, gib * kGiB, false);
                    request.quant = Format::Nf4Dq;
                    request.preset = "fit";
                    if (has_adapter) {
                        addAdapter(request);
                    }
                    const double fit = medianMs([&] { (void)fitDeviceMap(request); });
                    const double plan = medianMs([&] { (void)makePlan(request); });
                    std::printf("%s fit  %d x %2llu GiB%s fit %6.2f ms, plan %6.2f ms\n", size,
                                gpus, static_cast<unsigned long long>(gib),
                                has_adapter ? ", adapter" : "         ", fit, plan);
                    std::fflush(stdout);
                }
            }
        }
    }
}

struct Formats {
    const char* name;
    Format quant;
    Format head;
    bool may_change_head, may_quantize;
};

void printGrid(bool is_sim) {
    const Formats all[] = {
        {"none", Format::AsStored, Format::AsStored, false, false},
        {"nf4", Format::Nf4, Format::AsStored, false, false},
        {"nf4-dq", Format::Nf4Dq, Format::AsStored, false, false},
        {"nf4-dq,int8", Format::Nf4Dq, Format::Q8, false, false},
        {"nf4-dq,free-head", Format::Nf4Dq, Format::AsStored, true, false},
        {"free", Format::AsStored, Format::AsStored, true, true},
    };
    for (const char* size : {"E2B", "E4B"}) {
        for (const int gpus : {1, 2, 3}) {
            for (const Formats& formats : all) {
                for (const int64_t context : {4096, 32768, 131072}) {
                    for (const bool has_adapter : {false, true}) {
                        PlanRequest request = requestFor(size, gpus, kGiB, is_sim);
                        request.quant = formats.quant;
                        request.head = formats.head;
                        request.may_change_head = formats.may_change_head;
                        request.may_quantize = formats.may_quantize;
                        request.context = context;
                        request.preset = "fit";
                        if (has_adapter) {
                            addAdapter(request);
                        }
                        for (uint64_t gib = 1; gib <= 24; gib += gpus > 1 && gib > 12 ? 3 : 1) {
                            for (int i = 1; i <= gpus; ++i) {
                                auto& gpu = request.devices[static_cast<size_t>(i)];
                                // Cards of unlike sizes: the second has half of the first.
                                gpu.capacity = gpu.free =
                                    i == 2 && context == 32768 ? gib * kGiB / 2 : gib * kGiB;
                            }
                            const PlacementPlan plan = makePlan(request);
                            std::string text = plan.map_text;
                            std::replace(text.begin(), text.end(), '\n', ' ');
                            const TensorPlacement* head = plan.find("lm_head.weight");
                            std::printf("%s|%d|%s|%lld|%d|%llu||%d|%.9g|%.9g|%.9g|%d|%s\n", size,
                                        gpus, formats.name, static_cast<long long>(context),
                                        has_adapter ? 1 : 0, static_cast<unsigned long long>(gib),
                                        plan.fits ? 1 : 0, plan.estimate.decode_tokens_per_s,
                                        plan.estimate.image_s, plan.estimate.audio_s_per_s,
                                        head == nullptr ? 0 : static_cast<int>(head->format),
                                        text.c_str());
                        }
                    }
                }
            }
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--grid") == 0) {
        printGrid(argc > 2);
        return 0;
    }
    printTimes();
    return 0;
}
