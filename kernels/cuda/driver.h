// SPDX-License-Identifier: Apache-2.0
// The CUDA driver API as one table of function pointers, filled at run time from libcuda.so.1
// (nvcuda.dll): the program has no link dependency on CUDA and starts on machines without it. The
// types are declared here, after the public driver API reference, so that no toolkit is needed to
// build. Tests put a fake driver behind the same table.
#pragma once

#include "kernels/cuda/nvml.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace kernels::cuda {

using CuResult = int; ///< 0 = CUDA_SUCCESS.
using CuDevice = int;
using CuPointer = uint64_t; ///< CUdeviceptr.
using CuContext = struct CuContextHandle*;
using CuStream = struct CuStreamHandle*;
using CuEvent = struct CuEventHandle*;
using CuModule = struct CuModuleHandle*;
using CuFunction = struct CuFunctionHandle*;
using CuGraph = struct CuGraphHandle*;
using CuGraphExec = struct CuGraphExecHandle*;

inline constexpr CuResult kCuSuccess = 0;
inline constexpr CuResult kCuInvalidValue = 1;
inline constexpr CuResult kCuOutOfMemory = 2;
inline constexpr CuResult kCuNoDevice = 100;
inline constexpr CuResult kCuInvalidImage = 200;
inline constexpr CuResult kCuNoBinaryForGpu = 209;
inline constexpr CuResult kCuUnsupportedPtx = 222;
inline constexpr CuResult kCuNotFound = 500;
inline constexpr CuResult kCuNotReady = 600;
inline constexpr CuResult kCuLaunchOutOfResources = 701; ///< Too many registers: not an end.
inline constexpr CuResult kCuNotSupported = 801;
inline constexpr CuResult kCuCooperativeTooLarge = 720;
/// 900 to 908: a call that cannot be captured, or a capture that such a call ended.
inline constexpr CuResult kCuCaptureUnsupported = 900;
inline constexpr CuResult kCuCaptureLast = 908;

/// Answers after which the driver refuses every card to this process, whatever contexts are given
/// back, reset and made: faults of kernels. cuda.h says of them that "the process must be
/// terminated and relaunched"; seen so with 700 and 719 on an H100. Their neighbours (701, 703 to
/// 709, 711 to 713, 720) are wrong calls, not faults.
constexpr bool isEndOfProcess(CuResult code) {
    return code == 226 ||                  // an error the card contained
           code == 700 ||                  // illegal address
           code == 702 ||                  // launch timed out
           code == 710 ||                  // assert
           (code >= 714 && code <= 719) || // stack, instruction, alignment, space, counter, launch
           code == 721 ||                  // tensor memory leak
           code == 810;                    // the MPS server ended this client
}

/// How the reasons begin that only say that this machine has no card of ours; all others are
/// something to mend.
inline constexpr const char* kNoDriver = "No NVIDIA driver on this machine";
inline constexpr const char* kNoCard = "The NVIDIA driver sees no graphics card";

/// CUdevice_attribute values that we read.
inline constexpr int kCuAttributeMultiprocessors = 16;
inline constexpr int kCuAttributeClockKhz = 13;
inline constexpr int kCuAttributeMemoryClockKhz = 36;
inline constexpr int kCuAttributeMemoryBusBits = 37;
inline constexpr int kCuAttributeMajor = 75;
inline constexpr int kCuAttributeMinor = 76;
inline constexpr int kCuAttributeMaxSharedPerBlockOptin = 97;
inline constexpr int kCuAttributeReservedSharedPerBlock = 111;
inline constexpr int kCuAttributeL2Bytes = 38;

/// CUfunction_attribute values that we use.
inline constexpr int kCuFunctionStaticShared = 1;
inline constexpr int kCuFunctionMaxDynamicShared = 8;

/// CUlaunchAttribute: a 4-byte id, 4 bytes of padding, 64 bytes of value.
struct CuLaunchAttribute {
    int id = 0;
    char pad[4] = {};
    union {
        int programmatic_serialization_allowed;
        int cooperative;
        char bytes[64];
    } value = {};
};
inline constexpr int kCuLaunchCooperative = 2;
inline constexpr int kCuLaunchProgrammaticSerialization = 6;

/// CUlaunchConfig.
struct CuLaunchConfig {
    unsigned grid_x = 1, grid_y = 1, grid_z = 1;
    unsigned block_x = 1, block_y = 1, block_z = 1;
    unsigned shared_bytes = 0;
    CuStream stream = nullptr;
    CuLaunchAttribute* attributes = nullptr;
    unsigned attribute_count = 0;
};

/// A matrix in global memory as copies of tiles want to know it; the driver fills it (opaque).
struct alignas(64) TensorMap {
    uint64_t words[16];
};
constexpr int kTensorBf16 = 9;
constexpr int kTensorSwizzle128 = 3;
constexpr int kTensorPromote256 = 3;
constexpr unsigned kEventWithoutTiming = 2;

/// Every entry point that Belfry calls: X(member, exported name, parameters).
#define BELFRY_CU_FUNCTIONS(X)                                                                     \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(driverGetVersion, "cuDriverGetVersion", (int* version))                                      \
    X(getErrorName, "cuGetErrorName", (CuResult code, const char** name))                          \
    X(deviceGetCount, "cuDeviceGetCount", (int* count))                                            \
    X(deviceGet, "cuDeviceGet", (CuDevice * device, int ordinal))                                  \
    X(deviceGetName, "cuDeviceGetName", (char* name, int length, CuDevice device))                 \
    X(deviceGetUuid, "cuDeviceGetUuid_v2", (unsigned char* uuid, CuDevice device))                 \
    X(deviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, CuDevice device))    \
    X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, CuDevice device))                    \
    X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (CuContext * context, CuDevice device))        \
    X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CuDevice device))                        \
    X(primaryCtxSetFlags, "cuDevicePrimaryCtxSetFlags_v2", (CuDevice device, unsigned flags))      \
    X(ctxSetCurrent, "cuCtxSetCurrent", (CuContext context))                                       \
    X(ctxEnablePeerAccess, "cuCtxEnablePeerAccess", (CuContext peer, unsigned flags))              \
    X(ctxSynchronize, "cuCtxSynchronize", ())                                                      \
    X(memGetInfo, "cuMemGetInfo_v2", (size_t * free, size_t * total))                              \
    X(memAlloc, "cuMemAlloc_v2", (CuPointer * pointer, size_t bytes))                              \
    X(memFree, "cuMemFree_v2", (CuPointer pointer))                                                \
    X(memHostAlloc, "cuMemHostAlloc", (void** pointer, size_t bytes, unsigned flags))              \
    X(memFreeHost, "cuMemFreeHost", (void* pointer))                                               \
    X(memHostRegister, "cuMemHostRegister_v2", (void* pointer, size_t bytes, unsigned flags))      \
    X(memHostUnregister, "cuMemHostUnregister", (void* pointer))                                   \
    X(memHostGetDevicePointer, "cuMemHostGetDevicePointer_v2",                                     \
      (CuPointer * pointer, void* host, unsigned flags))                                           \
    X(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                     \
      (CuPointer to, const void* from, size_t bytes, CuStream stream))                             \
    X(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                     \
      (void* to, CuPointer from, size_t bytes, CuStream stream))                                   \
    X(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                     \
      (CuPointer to, CuPointer from, size_t bytes, CuStream stream))                               \
    X(memcpyPeerAsync, "cuMemcpyPeerAsync",                                                        \
      (CuPointer to, CuContext to_context, CuPointer from, CuContext from_context, size_t bytes,   \
       CuStream stream))                                                                           \
    X(memsetD8Async, "cuMemsetD8Async",                                                            \
      (CuPointer to, unsigned char value, size_t bytes, CuStream stream))                          \
    X(streamCreate, "cuStreamCreate", (CuStream * stream, unsigned flags))                         \
    X(streamDestroy, "cuStreamDestroy_v2", (CuStream stream))                                      \
    X(streamSynchronize, "cuStreamSynchronize", (CuStream stream))                                 \
    X(streamWaitEvent, "cuStreamWaitEvent", (CuStream stream, CuEvent event, unsigned flags))      \
    X(streamBeginCapture, "cuStreamBeginCapture_v2", (CuStream stream, int mode))                  \
    X(streamEndCapture, "cuStreamEndCapture", (CuStream stream, CuGraph * graph))                  \
    X(graphInstantiate, "cuGraphInstantiateWithFlags",                                             \
      (CuGraphExec * exec, CuGraph graph, unsigned long long flags))                               \
    X(graphLaunch, "cuGraphLaunch", (CuGraphExec exec, CuStream stream))                           \
    X(graphDestroy, "cuGraphDestroy", (CuGraph graph))                                             \
    X(graphExecDestroy, "cuGraphExecDestroy", (CuGraphExec exec))                                  \
    X(eventCreate, "cuEventCreate", (CuEvent * event, unsigned flags))                             \
    X(eventDestroy, "cuEventDestroy_v2", (CuEvent event))                                          \
    X(eventRecord, "cuEventRecord", (CuEvent event, CuStream stream))                              \
    X(eventSynchronize, "cuEventSynchronize", (CuEvent event))                                     \
    X(eventElapsedTime, "cuEventElapsedTime", (float* milliseconds, CuEvent start, CuEvent end))   \
    X(moduleLoadData, "cuModuleLoadData", (CuModule * module, const void* image))                  \
    X(moduleUnload, "cuModuleUnload", (CuModule module))                                           \
    X(moduleGetFunction, "cuModuleGetFunction",                                                    \
      (CuFunction * function, CuModule module, const char* name))                                  \
    X(funcGetAttribute, "cuFuncGetAttribute", (int* value, int attribute, CuFunction function))    \
    X(funcSetAttribute, "cuFuncSetAttribute", (CuFunction function, int attribute, int value))     \
    X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                              \
      (TensorMap * map, int type, uint32_t rank, void* address, const uint64_t* sizes,             \
       const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,        \
       int swizzle, int promotion, int fill))                                                      \
    X(launchKernelEx, "cuLaunchKernelEx",                                                          \
      (const CuLaunchConfig* config, CuFunction function, void** parameters, void** extra))

/// What cost this process its cards, noted once and never forgotten. From any thread.
class ProcessFault {
public:
    /// Only the first one counts: those that follow are its echo.
    void note(std::string what);
    /// "cuStreamSynchronize answered CUDA_ERROR_ILLEGAL_ADDRESS"; empty = nothing happened.
    [[nodiscard]] std::string what() const;

private:
    mutable std::mutex mutex_;
    std::string what_;
};

/// The entry points of one driver library. Plain pointers: calls cost what a linked call costs.
struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define BELFRY_CU_MEMBER(member, name, parameters) CuResult(*member) parameters = nullptr;
    BELFRY_CU_FUNCTIONS(BELFRY_CU_MEMBER)
#undef BELFRY_CU_MEMBER

    /// The adapter's number on Windows (LUID, 8 bytes), by which DXGI calls the same card. Not
    /// needed: nullptr elsewhere and where the driver has none.
    CuResult (*deviceGetLuid)(char* luid, unsigned* node_mask, CuDevice device) = nullptr;

    /// What the management library says of a card's memory: the machine's, or a test's.
    std::optional<CardMemory> (*memoryOf)(const std::string& uuid) = &cardMemory;
    /// "580.95.05"; empty: nobody tells.
    std::string (*versionText)() = [] { return managementLibrary().driver_version; };

    /// "CUDA_ERROR_OUT_OF_MEMORY", or the number when the driver has no name for it.
    [[nodiscard]] std::string errorName(CuResult code) const;
    /// Told of every failed call; keeps what isEndOfProcess().
    void noteFailure(CuResult code, const char* call) const;
    std::shared_ptr<ProcessFault> process_fault = std::make_shared<ProcessFault>();
};

/// The machine's driver, loaded and initialised once; nullptr without one, with one that lacks an
/// entry point, or without a card. `why` (may be nullptr) then gets one sentence for the user.
const Driver* systemDriver(std::string* why);
/// The library behind systemDriver() as a path; empty where none was loaded.
std::string systemDriverFile();
/// "libcuda.so.1", on Windows "nvcuda.dll".
const char* driverLibraryName();

} // namespace kernels::cuda
