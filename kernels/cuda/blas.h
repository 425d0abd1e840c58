// SPDX-License-Identifier: Apache-2.0
// Large matrix products through NVIDIA's cuBLASLt where it is installed: a table of functions that
// is filled at run time, like the driver's; never a link dependency. Types are declared here after
// the library's public reference.
//
// Off unless CardOptions::cublaslt asks for it: the library's kernels take device memory of their
// own, which no plan knows.
#pragma once

#include "kernels/cuda/driver.h"
#include "kernels/views.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace kernels::cuda {

using BlasStatus = int; ///< 0 = CUBLAS_STATUS_SUCCESS.
using BlasHandle = struct BlasHandleData*;
using BlasProduct = struct BlasProductData*;       ///< cublasLtMatmulDesc_t
using BlasLayout = struct BlasLayoutData*;         ///< cublasLtMatrixLayout_t
using BlasPreference = struct BlasPreferenceData*; ///< cublasLtMatmulPreference_t

inline constexpr int kBlasCompute32F = 68;
inline constexpr int kBlasF32 = 0;
inline constexpr int kBlasBf16 = 14;
inline constexpr int kBlasTransposeA = 3;   ///< CUBLASLT_MATMUL_DESC_TRANSA
inline constexpr int kBlasTranspose = 1;    ///< CUBLAS_OP_T
inline constexpr int kBlasMaxWorkspace = 1; ///< CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

/// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
struct BlasAlgorithm {
    uint64_t data[8] = {};
};
struct BlasChoice {
    BlasAlgorithm algorithm;
    size_t workspace = 0;
    BlasStatus state = 0;
    float waves = 0.0F;
    int reserved[4] = {};
};

#define BELFRY_BLAS_FUNCTIONS(X)                                                                   \
    X(create, "cublasLtCreate", (BlasHandle * handle))                                             \
    X(destroy, "cublasLtDestroy", (BlasHandle handle))                                             \
    X(productCreate, "cublasLtMatmulDescCreate",                                                   \
      (BlasProduct * product, int compute_type, int scale_type))                                   \
    X(productDestroy, "cublasLtMatmulDescDestroy", (BlasProduct product))                          \
    X(productSet, "cublasLtMatmulDescSetAttribute",                                                \
      (BlasProduct product, int attribute, const void* value, size_t bytes))                       \
    X(layoutCreate, "cublasLtMatrixLayoutCreate",                                                  \
      (BlasLayout * layout, int type, uint64_t rows, uint64_t cols, int64_t stride))               \
    X(layoutDestroy, "cublasLtMatrixLayoutDestroy", (BlasLayout layout))                           \
    X(preferenceCreate, "cublasLtMatmulPreferenceCreate", (BlasPreference * preference))           \
    X(preferenceDestroy, "cublasLtMatmulPreferenceDestroy", (BlasPreference preference))           \
    X(preferenceSet, "cublasLtMatmulPreferenceSetAttribute",                                       \
      (BlasPreference preference, int attribute, const void* value, size_t bytes))                 \
    X(choose, "cublasLtMatmulAlgoGetHeuristic",                                                    \
      (BlasHandle handle, BlasProduct product, BlasLayout a, BlasLayout b, BlasLayout c,           \
       BlasLayout d, BlasPreference preference, int asked, BlasChoice* choices, int* found))       \
    X(multiply, "cublasLtMatmul",                                                                  \
      (BlasHandle handle, BlasProduct product, const void* alpha, CuPointer a, BlasLayout a_type,  \
       CuPointer b, BlasLayout b_type, const void* beta, CuPointer c, BlasLayout c_type,           \
       CuPointer d, BlasLayout d_type, const BlasAlgorithm* algorithm, CuPointer workspace,        \
       size_t workspace_bytes, CuStream stream))

struct BlasFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define BELFRY_BLAS_MEMBER(member, name, parameters) BlasStatus(*member) parameters = nullptr;
    BELFRY_BLAS_FUNCTIONS(BELFRY_BLAS_MEMBER)
#undef BELFRY_BLAS_MEMBER
};

/// The library as CardOptions::cublaslt asks for it, loaded once per value and never closed;
/// nullptr when it is not asked for or not to be had. From any thread.
const BlasFunctions* systemBlas(const std::string& where);

/// The library's state for one device: chosen algorithms by shape.
class Blas {
public:
    /// The device's context must be current, here and in every call. nullptr: refused.
    static std::unique_ptr<Blas> create(const BlasFunctions* functions);
    ~Blas();
    Blas(const Blas&) = delete;
    Blas& operator=(const Blas&) = delete;

    /// y[m,n] = sum over k of a[m,k] b[n,k], bf16 operands row by row without gaps, y fp32 with
    /// `stride` floats a row. Unsupported: the library has no kernel for it; nothing was enqueued.
    /// The workspace may be used by other work on the same stream.
    Status multiply(CuStream stream,
                    CuPointer a,
                    CuPointer b,
                    CuPointer y,
                    int64_t stride,
                    int64_t m,
                    int64_t n,
                    int64_t k,
                    CuPointer workspace,
                    size_t workspace_bytes);

private:
    struct Product {
        BlasProduct product = nullptr;
        BlasLayout a = nullptr, b = nullptr, y = nullptr;
        BlasAlgorithm algorithm;
        bool is_usable = false;
    };
    explicit Blas(const BlasFunctions& functions) : functions_(&functions) {}
    Product prepare(int64_t stride, int64_t m, int64_t n, int64_t k, size_t workspace_bytes) const;
    void drop(const Product& product) const;

    const BlasFunctions* functions_;
    BlasHandle handle_ = nullptr;
    std::map<std::array<int64_t, 5>, Product> products_;
};

} // namespace kernels::cuda
