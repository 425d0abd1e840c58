// SPDX-License-Identifier: Apache-2.0
// See scratch.h.
#include "kernels/cpu/scratch.h"

#include "kernels/cpu/thread_owned.h"

#include <array>
#include <new>

namespace kernels::cpu {

namespace {

constexpr std::align_val_t kScratchAlignment{64};

class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { release(); }

    void* atLeast(size_t bytes) {
        if (bytes > size_) {
            release();
            data_ = ::operator new(bytes, kScratchAlignment, std::nothrow);
            size_ = data_ == nullptr ? 0 : bytes;
        }
        return data_;
    }

private:
    void release() {
        ::operator delete(data_, kScratchAlignment);
        data_ = nullptr;
        size_ = 0;
    }

    void* data_ = nullptr;
    size_t size_ = 0;
};

using Buffers = std::array<Buffer, static_cast<size_t>(ScratchSlot::Count)>;

} // namespace

void* threadScratch(ScratchSlot slot, size_t bytes) {
    auto& buffers = threadOwned<Buffers, ScratchSlot>();
    return buffers[static_cast<size_t>(slot)].atLeast(bytes > 0 ? bytes : 1);
}

} // namespace kernels::cpu
