// SPDX-License-Identifier: Apache-2.0
// Copies between host and card. Small ones go straight through the driver on the kernels' queue.
// Large ones pass through two page-locked buffers on the copy queue, so that filling one (a read
// from disk, often) overlaps with the transfer of the other.
#include "kernels/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>

namespace kernels::cuda {

namespace {

CuPointer address(const void* pointer) {
    return reinterpret_cast<CuPointer>(pointer);
}

} // namespace

bool CudaDevice::prepareStaging() {
    if (has_staging_ || is_staging_refused_) {
        return has_staging_;
    }
    for (Staging& staging : staging_) {
        if (staging.host == nullptr &&
            driver_->memHostAlloc(&staging.host, kStagingBytes, 0) != kCuSuccess) {
            staging.host = nullptr;
            is_staging_refused_ = true;
            return false;
        }
        if (staging.done == nullptr &&
            driver_->eventCreate(&staging.done, kEventWithoutTiming) != kCuSuccess) {
            staging.done = nullptr;
            is_staging_refused_ = true;
            return false;
        }
    }
    has_staging_ = true;
    return true;
}

Status CudaDevice::orderCopiesAfterKernels() {
    const Status status =
        check(driver_->eventRecord(kernels_reached_, stream_.handle), "cuEventRecord");
    return status != Status::Ok ? status
                                : check(driver_->streamWaitEvent(copy_stream_, kernels_reached_, 0),
                                        "cuStreamWaitEvent");
}

Status CudaDevice::orderKernelsAfterCopies() {
    const Status status =
        check(driver_->eventRecord(copies_reached_, copy_stream_), "cuEventRecord");
    return status != Status::Ok
               ? status
               : check(driver_->streamWaitEvent(stream_.handle, copies_reached_, 0),
                       "cuStreamWaitEvent");
}

Status CudaDevice::stagedIn(CuPointer to, const std::byte* from, size_t bytes) {
    Status status = orderCopiesAfterKernels();
    size_t turn = 0;
    for (size_t at = 0; at < bytes && status == Status::Ok; at += kStagingBytes, ++turn) {
        const size_t size = std::min(kStagingBytes, bytes - at);
        const Staging& staging = staging_[turn % staging_.size()];
        status = check(driver_->eventSynchronize(staging.done), "cuEventSynchronize");
        if (status != Status::Ok) {
            break;
        }
        std::memcpy(staging.host, from + at, size);
        status = check(driver_->memcpyHtoDAsync(to + at, staging.host, size, copy_stream_),
                       "cuMemcpyHtoDAsync");
        if (status == Status::Ok) {
            status = check(driver_->eventRecord(staging.done, copy_stream_), "cuEventRecord");
        }
    }
    return status == Status::Ok ? orderKernelsAfterCopies() : status;
}

Status CudaDevice::stagedOut(std::byte* to, CuPointer from, size_t bytes) {
    Status status = orderCopiesAfterKernels();
    const size_t turns = (bytes + kStagingBytes - 1) / kStagingBytes;
    const auto sizeOf = [bytes](size_t turn) {
        return std::min(kStagingBytes, bytes - turn * kStagingBytes);
    };
    const auto start = [&](size_t turn) {
        const Staging& staging = staging_[turn % staging_.size()];
        const Status sent =
            check(driver_->memcpyDtoHAsync(staging.host, from + turn * kStagingBytes, sizeOf(turn),
                                           copy_stream_),
                  "cuMemcpyDtoHAsync");
        return sent != Status::Ok
                   ? sent
                   : check(driver_->eventRecord(staging.done, copy_stream_), "cuEventRecord");
    };
    // Both buffers may still be on their way to the card: the copy queue runs in order, so a new
    // use of a buffer starts after its old one has ended.
    if (status == Status::Ok) {
        status = start(0);
    }
    for (size_t turn = 0; turn < turns && status == Status::Ok; ++turn) {
        if (turn + 1 < turns) {
            status = start(turn + 1);
        }
        if (status != Status::Ok) {
            break;
        }
        const Staging& staging = staging_[turn % staging_.size()];
        status = check(driver_->eventSynchronize(staging.done), "cuEventSynchronize");
        if (status == Status::Ok) {
            std::memcpy(to + turn * kStagingBytes, staging.host, sizeOf(turn));
        }
    }
    return status;
}

Status CudaDevice::copyIn(void* device_dst, const void* host_src, size_t bytes) {
    const Status status = flushSteps();
    if (status != Status::Ok || bytes == 0) {
        return status;
    }
    copied_in_.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes > kStagedCopy && !is_capturing_ && prepareStaging()) {
        return stagedIn(address(device_dst), static_cast<const std::byte*>(host_src), bytes);
    }
    // From plain memory the driver takes the bytes before it returns: the caller may reuse them.
    return check(driver_->memcpyHtoDAsync(address(device_dst), host_src, bytes, stream_.handle),
                 "cuMemcpyHtoDAsync");
}

Status CudaDevice::copyInLater(void* device_dst, const void* locked_src, size_t bytes, int after) {
    constexpr size_t kOnOneStream = size_t{256} << 10; // the events of two cost more than they gain
    Status status = flushSteps();
    if (status != Status::Ok || bytes == 0) {
        return status;
    }
    copied_in_.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes <= kOnOneStream) {
        return check(
            driver_->memcpyHtoDAsync(address(device_dst), locked_src, bytes, stream_.handle),
            "cuMemcpyHtoDAsync");
    }
    const CuEvent reached = after == kNoMark ? nullptr : marks_[static_cast<size_t>(after)];
    status = reached == nullptr
                 ? orderCopiesAfterKernels()
                 : check(driver_->streamWaitEvent(copy_stream_, reached, 0), "cuStreamWaitEvent");
    if (status == Status::Ok) {
        status =
            check(driver_->memcpyHtoDAsync(address(device_dst), locked_src, bytes, copy_stream_),
                  "cuMemcpyHtoDAsync");
    }
    return status == Status::Ok ? orderKernelsAfterCopies() : status;
}

Status CudaDevice::copyOutLater(void* locked_dst, const void* device_src, size_t bytes) {
    const Status status = flushSteps();
    if (status != Status::Ok || bytes == 0) {
        return status;
    }
    return check(driver_->memcpyDtoHAsync(locked_dst, address(device_src), bytes, stream_.handle),
                 "cuMemcpyDtoHAsync");
}

Status CudaDevice::mark(int number) {
    Status status = flushSteps();
    CuEvent& event = marks_[static_cast<size_t>(number)];
    if (status == Status::Ok && event == nullptr) {
        status = check(driver_->eventCreate(&event, kEventWithoutTiming), "cuEventCreate");
    }
    return status == Status::Ok
               ? check(driver_->eventRecord(event, stream_.handle), "cuEventRecord")
               : status;
}

Status CudaDevice::waitForMark(int number) {
    const Status status = makeCurrent();
    const CuEvent event = marks_[static_cast<size_t>(number)];
    return status != Status::Ok || event == nullptr
               ? status
               : check(driver_->eventSynchronize(event), "cuEventSynchronize");
}

Status CudaDevice::copyOut(void* host_dst, const void* device_src, size_t bytes) {
    Status status = flushSteps();
    if (status != Status::Ok || bytes == 0) {
        return status;
    }
    if (bytes > kStagedCopy && !is_capturing_ && prepareStaging()) {
        return stagedOut(static_cast<std::byte*>(host_dst), address(device_src), bytes);
    }
    status = check(driver_->memcpyDtoHAsync(host_dst, address(device_src), bytes, stream_.handle),
                   "cuMemcpyDtoHAsync");
    if (status == Status::Ok && !is_capturing_) {
        status = check(driver_->streamSynchronize(stream_.handle), "cuStreamSynchronize");
    }
    return status;
}

Status CudaDevice::copyWithin(void* dst, const void* src, size_t bytes) {
    const Status status = flushSteps();
    if (status != Status::Ok || bytes == 0) {
        return status;
    }
    return check(driver_->memcpyDtoDAsync(address(dst), address(src), bytes, stream_.handle),
                 "cuMemcpyDtoDAsync");
}

Status CudaDevice::clear(void* dst, size_t bytes) {
    const Status status = flushSteps();
    if (status != Status::Ok || bytes == 0) {
        return status;
    }
    return check(driver_->memsetD8Async(address(dst), 0, bytes, stream_.handle), "cuMemsetD8Async");
}

Status CudaDevice::copyFromPeer(Device& from, void* dst, const void* src, size_t bytes) {
    auto* const peer = dynamic_cast<CudaDevice*>(&from);
    if (peer == nullptr || peer->driver_ != driver_ || is_capturing_ || peer->is_capturing_) {
        return Status::Unsupported;
    }
    Status status = peer->flushSteps();
    if (status == Status::Ok) {
        status = peer->check(driver_->eventRecord(peer->kernels_reached_, peer->stream_.handle),
                             "cuEventRecord");
    }
    if (status == Status::Ok) {
        status = flushSteps();
    }
    if (status != Status::Ok || bytes == 0) {
        return status;
    }
    const auto peer_bit = static_cast<size_t>(peer->ordinal_) % peers_.size();
    if (peer->ordinal_ != ordinal_ && !peers_[peer_bit]) {
        peers_.set(peer_bit);
        // Direct access where the machine has it; without it the driver goes through the host.
        (void)driver_->ctxEnablePeerAccess(peer->stream_.context, 0);
    }
    status = check(driver_->streamWaitEvent(stream_.handle, peer->kernels_reached_, 0),
                   "cuStreamWaitEvent");
    if (status == Status::Ok) {
        status = check(driver_->memcpyPeerAsync(address(dst), stream_.context, address(src),
                                                peer->stream_.context, bytes, stream_.handle),
                       "cuMemcpyPeerAsync");
    }
    if (status == Status::Ok) {
        status = check(driver_->eventRecord(copies_reached_, stream_.handle), "cuEventRecord");
    }
    if (status == Status::Ok) {
        status = peer->makeCurrent();
    }
    // The peer must not overwrite the source before it has been read.
    return status != Status::Ok
               ? status
               : peer->check(driver_->streamWaitEvent(peer->stream_.handle, copies_reached_, 0),
                             "cuStreamWaitEvent");
}

} // namespace kernels::cuda
