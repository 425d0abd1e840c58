// SPDX-License-Identifier: Apache-2.0
// Every kernel of kernels/cuda/device, compiled for the CPU, by name. CMakeLists.txt finds the
// kernels in the .cu files, so that a new one needs no entry anywhere.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace emulator {

struct Kernel {
    const char* name; ///< "belfry_..."
    /// Takes a launch's arguments as the driver gets them, copies them, and gives the body that
    /// every thread runs.
    std::function<void()> (*bind)(void** parameters);
};

/// nullptr: no such kernel.
const Kernel* findKernel(std::string_view name);
/// Name of the i-th kernel; nullptr behind the last.
const char* kernelAt(size_t i);

namespace detail {

template <auto KERNEL, typename... P, size_t... I>
std::function<void()> bindAll(void (*)(P...), void** parameters, std::index_sequence<I...>) {
    std::tuple<std::remove_cv_t<P>...> values{*static_cast<std::remove_cv_t<P>*>(parameters[I])...};
    return [values] { std::apply(KERNEL, values); };
}

template <auto KERNEL>
struct Binder {
    template <typename... P>
    static std::function<void()> call(void (*kernel)(P...), void** parameters) {
        return bindAll<KERNEL>(kernel, parameters, std::index_sequence_for<P...>{});
    }
    static std::function<void()> bind(void** parameters) { return call(KERNEL, parameters); }
};

} // namespace detail

// One entry of the list of a .cu file (generated code).
// NOLINTNEXTLINE(bugprone-macro-parentheses): an initialiser
#define CUDA_EMULATOR_KERNEL(name) {#name, &::emulator::detail::Binder<&name>::bind},

} // namespace emulator
