// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/card_fault.h"

#include "engine/api/device_loss.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/ops.h"
#include "tests/gpu/gpu_tests.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace gpu {

using engine::Engine;
using kernels::cuda::CudaDevice;
using kernels::cuda::CudaDeviceOptions;
using kernels::cuda::CuResult;
using kernels::cuda::Driver;
using kernels::cuda::kCuSuccess;

namespace {

/// Kernels that fault on purpose; the driver compiles them. By kind.
const std::map<std::string, const char*>& faultyKernels() {
    static const std::map<std::string, const char*> kernels = {
        {"trap", ".version 7.0\n.target sm_75\n.address_size 64\n"
                 ".visible .entry faulty() { trap; ret; }\n"},
        {"misaligned", ".version 7.0\n.target sm_75\n.address_size 64\n"
                       ".visible .entry faulty() { .reg .b64 %a; .reg .b32 %v; .shared .align 8 "
                       ".b8 room[64]; mov.u64 %a, room; add.u64 %a, %a, 1; "
                       "ld.volatile.shared.b32 %v, [%a]; st.volatile.shared.b32 [%a+4], %v; ret; "
                       "}\n"},
        {"assert",
         ".version 7.0\n.target sm_75\n.address_size 64\n"
         ".extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, "
         ".param .b64 function, .param .b64 size);\n"
         ".global .align 1 .b8 text[8] = {102, 97, 117, 108, 116, 0, 0, 0};\n"
         ".visible .entry faulty() { .reg .b64 %t; mov.u64 %t, text; cvta.global.u64 %t, %t;\n"
         "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
         "st.param.b64 [a], %t; st.param.b64 [b], %t; st.param.b32 [c], 1; st.param.b64 [d], %t; "
         "st.param.b64 [e], 1;\ncall.uni __assertfail, (a, b, c, d, e); }\nret; }\n"}};
    return kernels;
}

/// One of Belfry's own kernels with an address where no memory is, as a fault of ours would be.
CuResult writeNowhere(CudaDevice& device, const Driver& driver) {
    auto* const nowhere =
        reinterpret_cast<float*>(uintptr_t{256}); // no memory is at the first page
    if (device.ops().scale(device.queue(), {nowhere, 1, 64, 64}, 2.0F) != kernels::Status::Ok) {
        return kernels::cuda::kCuInvalidValue; // refused before it was launched: no fault
    }
    return driver.ctxSynchronize();
}

CuResult runFaulty(const Driver& driver, const char* text) {
    kernels::cuda::CuModule module = nullptr;
    kernels::cuda::CuFunction function = nullptr;
    CuResult code = driver.moduleLoadData(&module, text);
    code = code == kCuSuccess ? driver.moduleGetFunction(&function, module, "faulty") : code;
    const kernels::cuda::CuLaunchConfig config;
    code = code == kCuSuccess ? driver.launchKernelEx(&config, function, nullptr, nullptr) : code;
    return code == kCuSuccess ? driver.ctxSynchronize() : code;
}

/// What the driver itself still answers, after everything of ours on the card is closed.
nlohmann::ordered_json driverAnswers(const Driver& driver) {
    nlohmann::ordered_json answers;
    int count = 0;
    kernels::cuda::CuDevice device = 0;
    std::array<char, 128> name{};
    size_t total = 0;
    size_t free_now = 0;
    kernels::cuda::CuContext context = nullptr;
    kernels::cuda::CuPointer pointer = 0;
    answers["cuDeviceGetCount"] = driver.deviceGetCount(&count);
    answers["cuDeviceGet"] = driver.deviceGet(&device, 0);
    answers["cuDeviceGetName"] = driver.deviceGetName(name.data(), name.size() - 1, device);
    answers["cuDeviceTotalMem"] = driver.deviceTotalMem(&total, device);
    answers["cuDevicePrimaryCtxRetain"] = driver.primaryCtxRetain(&context, device);
    answers["cuCtxSetCurrent"] = driver.ctxSetCurrent(context);
    answers["cuMemGetInfo"] = driver.memGetInfo(&free_now, &total);
    answers["cuMemAlloc"] = driver.memAlloc(&pointer, 1024);
    answers["cuCtxSynchronize"] = driver.ctxSynchronize();
    answers["cuDevicePrimaryCtxRelease"] = driver.primaryCtxRelease(device);
    return answers;
}

nlohmann::ordered_json outcome(const engine::Result<void>& result) {
    if (result.has_value()) {
        return {{"ok", true}};
    }
    return {{"ok", false},
            {"code", std::string(engine::errorCodeName(result.error().code))},
            {"needs_new_process", engine::needsNewProcess(result.error())},
            {"message", result.error().message}};
}

std::string runHere(const std::string& program, const std::string& kind, nlohmann::json& told) {
    const std::string command = "'" + program + "' --fault " + kind + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
        return "cannot start " + program;
    }
    std::string text;
    std::array<char, 4096> piece{};
    while (const size_t bytes = fread(piece.data(), 1, piece.size(), pipe)) {
        text.append(piece.data(), bytes);
    }
    const int status = pclose(pipe);
    const size_t at = text.find("FAULT {");
    told = at == std::string::npos
               ? nlohmann::json()
               : nlohmann::json::parse(text.substr(at + 6, text.find('\n', at) - at - 6), nullptr,
                                       false);
    if (status != 0 || !told.is_object()) {
        return "the process ended with status " + std::to_string(status) + ": " + text;
    }
    return {};
}

} // namespace

int faultHere(const std::string& kind) {
    const Driver* const driver = kernels::cuda::systemDriver(nullptr);
    if (driver == nullptr) {
        return 1;
    }
    nlohmann::ordered_json told;
    {
        const auto golden_case = support::goldenCases("e2b").front();
        Engine engine(engineOptions());
        std::string wrong = load(engine, requestFor("e2b", "gpu"));
        told["tokens"] = greedy(engine, golden_case, 8, &wrong);
        const auto ask = [&]() -> engine::Result<void> {
            const auto reply = engine.generate(support::goldenCaseRequest(golden_case), {}, {});
            return reply.has_value() ? engine::Result<void>() : reply.error();
        };
        if (kind != "none") {
            CudaDeviceOptions options;
            options.driver = driver;
            options.is_reference = true;
            options.images = kernels::cuda::embeddedImages();
            options.ops = &kernels::cuda::cudaOps(true);
            const auto second = CudaDevice::create(options);
            if (second.device == nullptr || second.device->makeCurrent() != kernels::Status::Ok) {
                std::printf("%s\n", second.message.c_str());
                return 1;
            }
            const auto faulty = faultyKernels().find(kind);
            told["fault"] = faulty == faultyKernels().end() ? writeNowhere(*second.device, *driver)
                                                            : runFaulty(*driver, faulty->second);
        }
        told["reply"] = outcome(ask());
        told["again"] = outcome(ask());
        told["load"] = outcome(engine.load(requestFor("e2b", "gpu"), {}, {}));
        const auto on_cpu = engine.load(requestFor("e2b", "cpu"), {}, {});
        told["load_cpu"] = outcome(on_cpu);
        told["tokens_cpu"] = greedy(engine, golden_case, 8, &wrong);
        told["to_card"] = outcome(engine.applyMap("gpu", {}, {}));
        told["wrong"] = wrong;
        engine.unload();
        told["driver"] = driverAnswers(*driver);
    }
    std::printf("FAULT %s\n", told.dump().c_str());
    return 0;
}

void cardFaults(CheckList& list, const std::string& program) {
    nlohmann::json whole;
    list.run("fault", "a process without one", [&](std::string*) {
        std::string wrong = runHere(program, "none", whole);
        for (const char* step : {"reply", "load", "load_cpu", "to_card"}) {
            if (wrong.empty() && !whole[step].value("ok", false)) {
                wrong = std::string(step) + ": " + whole[step].dump();
            }
        }
        return wrong;
    });
    for (const std::string kind : {"nowhere", "trap", "misaligned", "assert"}) {
        list.run("fault", kind + ": the process is refused and goes on on the CPU",
                 [&](std::string* figure) {
                     nlohmann::json told;
                     std::string wrong = runHere(program, kind, told);
                     if (!wrong.empty()) {
                         return wrong;
                     }
                     const int code = told.value("fault", 0);
                     *figure = "error " + std::to_string(code) +
                               "; driver then: " + told["driver"].dump();
                     if (!kernels::cuda::isEndOfProcess(code)) {
                         return "error " + std::to_string(code) + " is not known as a fault";
                     }
                     for (const char* step : {"reply", "again", "load", "to_card"}) {
                         const auto& row = told[step];
                         if (row.value("ok", false) || row.value("code", "") != "DeviceLost" ||
                             !row.value("needs_new_process", false)) {
                             return std::string(step) + ": " + row.dump();
                         }
                     }
                     if (!told["load_cpu"].value("ok", false) ||
                         told["tokens_cpu"] != whole["tokens"]) {
                         return "on the CPU: " + told.dump();
                     }
                     return std::string();
                 });
        list.run("fault", kind + ": the next process has the card", [&](std::string*) {
            nlohmann::json told;
            std::string wrong = runHere(program, "none", told);
            return wrong.empty() && told["tokens"] != whole["tokens"] ? told.dump() : wrong;
        });
    }
}

} // namespace gpu
