// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/blas.h"

#include "kernels/cuda/system_library.h"

#include <map>
#include <mutex>
#include <string>
#include <type_traits>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace kernels::cuda {

namespace {

#if defined(_WIN32)
constexpr const char* kNames[] = {"cublasLt64_13.dll", "cublasLt64_12.dll"};
void* openLibrary(const std::string& path, bool is_name) {
    return reinterpret_cast<void*>(LoadLibraryExA(path.c_str(), nullptr,
                                                  is_name ? LOAD_LIBRARY_SEARCH_SYSTEM32
                                                          : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS |
                                                                LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR));
}
void* findSymbol(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}
#else
constexpr const char* kNames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
void* openLibrary(const std::string& path, bool is_name) {
    return is_name ? openSystemLibrary(path.c_str()) : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}
void* findSymbol(void* library, const char* name) {
    return dlsym(library, name);
}
#endif

struct Loaded {
    BlasFunctions functions;
    bool is_usable = false;
};

Loaded load(const std::string& where) {
    Loaded loaded;
    // Never closed, like the driver.
    void* library = nullptr;
    if (where == "1") {
        for (const char* name : kNames) {
            library = library == nullptr ? openLibrary(name, true) : library;
        }
    } else {
        library = openLibrary(where, false);
        for (const char* name : kNames) {
            library = library == nullptr ? openLibrary(where + "/" + name, false) : library;
        }
    }
    if (library == nullptr) {
        return loaded;
    }
    loaded.is_usable = true;
    const auto resolve = [&](auto& member, const char* name) {
        void* symbol = findSymbol(library, name);
        loaded.is_usable = loaded.is_usable && symbol != nullptr;
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(symbol);
    };
#define BELFRY_BLAS_RESOLVE(member, name, parameters) resolve(loaded.functions.member, name);
    BELFRY_BLAS_FUNCTIONS(BELFRY_BLAS_RESOLVE)
#undef BELFRY_BLAS_RESOLVE
    return loaded;
}

} // namespace

const BlasFunctions* systemBlas(const std::string& where) {
    if (where.empty() || where == "0") {
        return nullptr;
    }
    static std::mutex mutex;
    static std::map<std::string, Loaded> known;
    const std::lock_guard lock(mutex);
    auto found = known.find(where);
    if (found == known.end()) {
        found = known.emplace(where, load(where)).first;
    }
    return found->second.is_usable ? &found->second.functions : nullptr;
}

std::unique_ptr<Blas> Blas::create(const BlasFunctions* functions) {
    if (functions == nullptr) {
        return nullptr;
    }
    std::unique_ptr<Blas> blas(new Blas(*functions));
    if (functions->create(&blas->handle_) != 0) {
        blas->handle_ = nullptr;
        return nullptr;
    }
    return blas;
}

Blas::~Blas() {
    for (const auto& [shape, product] : products_) {
        drop(product);
    }
    if (handle_ != nullptr) {
        functions_->destroy(handle_);
    }
}

void Blas::drop(const Product& product) const {
    for (const BlasLayout layout : {product.a, product.b, product.y}) {
        if (layout != nullptr) {
            functions_->layoutDestroy(layout);
        }
    }
    if (product.product != nullptr) {
        functions_->productDestroy(product.product);
    }
}

Blas::Product
Blas::prepare(int64_t stride, int64_t m, int64_t n, int64_t k, size_t workspace_bytes) const {
    // The library counts column by column: our y is its [n, m], our b its [k, n] taken transposed,
    // our a its [k, m].
    Product out;
    const auto rows = static_cast<uint64_t>(m);
    const auto outputs = static_cast<uint64_t>(n);
    const auto depth = static_cast<uint64_t>(k);
    const int transpose = kBlasTranspose;
    BlasPreference preference = nullptr;
    BlasChoice choice;
    int found = 0;
    const BlasFunctions& f = *functions_;
    out.is_usable =
        f.productCreate(&out.product, kBlasCompute32F, kBlasF32) == 0 &&
        f.productSet(out.product, kBlasTransposeA, &transpose, sizeof(transpose)) == 0 &&
        f.layoutCreate(&out.a, kBlasBf16, depth, outputs, k) == 0 &&
        f.layoutCreate(&out.b, kBlasBf16, depth, rows, k) == 0 &&
        f.layoutCreate(&out.y, kBlasF32, outputs, rows, stride) == 0 &&
        f.preferenceCreate(&preference) == 0 &&
        f.preferenceSet(preference, kBlasMaxWorkspace, &workspace_bytes, sizeof(workspace_bytes)) ==
            0 &&
        f.choose(handle_, out.product, out.a, out.b, out.y, out.y, preference, 1, &choice,
                 &found) == 0 &&
        found > 0 && choice.state == 0 && choice.workspace <= workspace_bytes;
    out.algorithm = choice.algorithm;
    if (preference != nullptr) {
        f.preferenceDestroy(preference);
    }
    return out;
}

Status Blas::multiply(CuStream stream,
                      CuPointer a,
                      CuPointer b,
                      CuPointer y,
                      int64_t stride,
                      int64_t m,
                      int64_t n,
                      int64_t k,
                      CuPointer workspace,
                      size_t workspace_bytes) {
    const std::array<int64_t, 5> shape{stride, m, n, k, static_cast<int64_t>(workspace_bytes)};
    auto found = products_.find(shape);
    if (found == products_.end()) {
        constexpr size_t kMostShapes = 512; // prompts of every length come by
        if (products_.size() >= kMostShapes) {
            for (const auto& [old, product] : products_) {
                drop(product);
            }
            products_.clear();
        }
        found = products_.emplace(shape, prepare(stride, m, n, k, workspace_bytes)).first;
    }
    const Product& product = found->second;
    if (!product.is_usable) {
        return Status::Unsupported;
    }
    const float one = 1.0F;
    const float zero = 0.0F;
    const BlasStatus status = functions_->multiply(
        handle_, product.product, &one, b, product.a, a, product.b, &zero, y, product.y, y,
        product.y, &product.algorithm, workspace, workspace_bytes, stream);
    if (status != 0) {
        found->second.is_usable = false;
        return Status::Unsupported;
    }
    return Status::Ok;
}

} // namespace kernels::cuda
