// SPDX-License-Identifier: Apache-2.0
// Rows of tables as fp32 in host memory, read from wherever the table is stored: only the bytes of
// the rows asked for move (the per-layer embedding table is 4 GiB, a row of it 18 KB).

#include "engine/load/tensor_store_impl.h"

#include <algorithm>
#include <cstring>

namespace engine {

namespace {

/// The row ranges that a quantization of its own needs: whole blocks, groups of blocks or rows.
struct Aligned {
    int64_t first = 0;
    int64_t count = 0;
};

Aligned alignTo(int64_t unit, int64_t first, int64_t count, int64_t n) {
    const int64_t begin = first / unit * unit;
    const int64_t end = std::min(n, (first + count + unit - 1) / unit * unit);
    return {begin, end - begin};
}

} // namespace

/// Values of a tensor on disk whose format is made from the checkpoint and not cached: quantizes
/// the few blocks that the range touches, with the same bytes as if the whole had been done.
Result<void>
TensorStore::Impl::expandDerived(StoreEntry& entry, int64_t first, int64_t count, float* out) {
    const auto& layout = entry.layout;
    const int64_t n = layout.rows * layout.cols;
    if (isNested(layout.format) && !entry.has_disk_offset) {
        // The offset is a mean over the whole tensor: one pass, once.
        double sum = 0.0;
        int64_t blocks = 0;
        const int64_t piece = int64_t{layout.block_size} * kNestedBlockSize * 64;
        const auto size = static_cast<int64_t>(tensorTypeSize(entry.origin.value_type));
        std::vector<std::byte> values(static_cast<size_t>(std::min(piece, n) * size));
        std::vector<uint8_t> codes(static_cast<size_t>((std::min(piece, n) + 1) / 2));
        std::vector<float> absmax(static_cast<size_t>(piece / layout.block_size));
        for (int64_t at = 0; at < n; at += piece) {
            const int64_t length = std::min(piece, n - at);
            ENGINE_TRY(readValues(*source, entry.origin, at, length, values.data()));
            ENGINE_TRY(quantizeValues(entry.name, weightFormat(layout.format), layout.block_size,
                                      entry.origin.value_type,
                                      {values.data(), static_cast<size_t>(length * size)},
                                      codes.data(), absmax.data(), parallel));
            const int64_t done = (length + layout.block_size - 1) / layout.block_size;
            sum = addAbsmax(sum, {absmax.data(), static_cast<size_t>(done)});
            blocks += done;
        }
        entry.disk_offset = nestedOffset(sum, blocks);
        entry.has_disk_offset = true;
    }
    const int64_t per_scale = layout.elementsPerScale();
    const int64_t unit =
        std::max<int64_t>(1, per_scale) * (isNested(layout.format) ? kNestedBlockSize : 1);
    const Aligned range = alignTo(unit, first, count, n);
    const auto size = static_cast<int64_t>(tensorTypeSize(entry.origin.value_type));
    std::vector<std::byte> values(static_cast<size_t>(range.count * size));
    ENGINE_TRY(readValues(*source, entry.origin, range.first, range.count, values.data()));

    DeviceTensor::Layout part = layout; // the range as a tensor of its own
    const bool is_rows = per_scale > 0 && per_scale == layout.cols;
    part.rows = is_rows ? range.count / layout.cols : 1;
    part.cols = is_rows ? layout.cols : range.count;
    const auto sizes = partSizes(part);
    std::array<std::vector<float>, DeviceTensor::PartCount> memory;
    std::array<void*, DeviceTensor::PartCount> parts{};
    for (size_t i = 0; i < memory.size(); ++i) {
        memory[i].resize(static_cast<size_t>((sizes[i] + 3) / 4));
        parts[i] = memory[i].data();
    }
    auto* data = reinterpret_cast<std::byte*>(memory[DeviceTensor::Data].data());
    if (isQuantized(layout.format)) {
        std::vector<float> absmax(static_cast<size_t>((range.count + per_scale - 1) / per_scale));
        ENGINE_TRY(quantizeValues(entry.name, weightFormat(layout.format), per_scale,
                                  entry.origin.value_type, values, reinterpret_cast<uint8_t*>(data),
                                  absmax.data()));
        if (isNested(layout.format)) {
            nestAbsmax(absmax, entry.disk_offset,
                       reinterpret_cast<uint8_t*>(memory[DeviceTensor::AbsmaxQ].data()),
                       memory[DeviceTensor::NestedAbsmax].data());
            std::copy(dynamicMap().begin(), dynamicMap().end(),
                      memory[DeviceTensor::NestedCode].begin());
        } else {
            memory[DeviceTensor::Scales] = std::move(absmax);
            parts[DeviceTensor::Scales] = memory[DeviceTensor::Scales].data();
        }
    } else {
        const TensorType type = layout.format == Format::F32   ? TensorType::F32
                                : layout.format == Format::F16 ? TensorType::F16
                                                               : TensorType::BF16;
        convertDense(entry.origin.value_type, values.data(), type, data, range.count);
    }
    expandRange(viewOf(part, parts, entry.disk_offset), first - range.first, count, out);
    return {};
}

Result<void>
TensorStore::Impl::expandEntry(StoreEntry& entry, int64_t first, int64_t count, float* out) {
    if (entry.shadow.is_set) {
        ENGINE_TRY(restoreShadow(entry));
    }
    const DeviceTensor* copy = entry.anyCopy();
    if (entry.compute.isAllocated() && entry.compute.device()->isHostVisible()) {
        copy = &entry.compute;
    }
    if (copy != nullptr && copy->device()->isHostVisible()) {
        expandRange(copy->view(), first, count, out);
        return {};
    }
    if (copy != nullptr) {
        const PartReader read = [&](int part, uint64_t offset,
                                    std::span<std::byte> bytes) -> Result<void> {
            const auto* at =
                static_cast<const std::byte*>(copy->part(static_cast<DeviceTensor::Part>(part)));
            if (copy->device()->copyOut(bytes.data(), at + offset, bytes.size()) !=
                kernels::Status::Ok) {
                return Error{ErrorCode::DeviceLost,
                             said("reading rows of %1 from %2 failed", entry.name,
                                  copy->deviceId().toString()),
                             {}};
            }
            return {};
        };
        return expandThrough(read, entry.layout, {}, copy->nestedOffset(), first, count, out);
    }
    if (entry.cached != nullptr) {
        const PartReader read = [&](int part, uint64_t offset, std::span<std::byte> bytes) {
            return entry.cache->read(*entry.cached, part, offset, bytes);
        };
        const Result<void> done =
            expandThrough(read, entry.layout, {}, entry.disk_offset, first, count, out);
        if (done) {
            return {};
        }
        leaveCache(entry);
    }
    if (!entry.origin.isSameAs(entry.layout)) {
        return expandDerived(entry, first, count, out);
    }
    if (!isQuantized(entry.layout.format)) {
        std::vector<std::byte> values(static_cast<size_t>(count) *
                                      tensorTypeSize(entry.origin.value_type));
        ENGINE_TRY(readValues(*source, entry.origin, first, count, values.data()));
        convertDense(entry.origin.value_type, values.data(), TensorType::F32,
                     reinterpret_cast<std::byte*>(out), count);
        return {};
    }
    const PartReader read = [&](int part, uint64_t offset, std::span<std::byte> bytes) {
        return readStored(*source, entry.origin, part, offset, bytes);
    };
    return expandThrough(read, entry.layout, entry.origin.packed.nested_code,
                         entry.origin.packed.state.nested_offset, first, count, out);
}

Result<void> TensorStore::gatherRows(Handle handle,
                                     std::span<const int32_t> ids,
                                     int64_t col_offset,
                                     float scale,
                                     kernels::MutF32 out) {
    StoreEntry* entry = impl_->entry(handle);
    if (entry == nullptr) {
        return Error{
            ErrorCode::Internal, "rows were asked for of a table that the store does not hold", {}};
    }
    const auto& layout = entry->layout;
    if (col_offset < 0 || out.cols < 0 || col_offset + out.cols > layout.cols ||
        static_cast<int64_t>(ids.size()) > out.rows) {
        return Error{ErrorCode::Internal,
                     entry->name + ": columns or rows outside the table were asked for",
                     {}};
    }
    for (const int32_t id : ids) {
        if (id < 0 || id >= layout.rows) {
            return Error{ErrorCode::InvalidRequest,
                         said("%1: has no row %2, it has %3 rows", entry->name, id, layout.rows),
                         {{"tensor", entry->name}, {"row", std::to_string(id)}}};
        }
    }
    if (!entry->shadow.is_set && ids.size() > 1) {
        const DeviceTensor* copy =
            entry->compute.isAllocated() ? &entry->compute : entry->anyCopy();
        if (copy != nullptr && copy->device()->isHostVisible() && out.cols > 0) {
            // Many rows of a table in host memory: on all cores.
            kernels::Device& device = *copy->device();
            const auto count = static_cast<int64_t>(ids.size());
            if (device.ops().gather_rows(
                    device.queue(), copy->view(), ids.data(), count, col_offset, scale,
                    {out.data, count, out.cols, out.stride}) == kernels::Status::Ok) {
                return {};
            }
        }
    }
    for (size_t i = 0; i < ids.size(); ++i) {
        float* row = out.data + static_cast<int64_t>(i) * out.stride;
        ENGINE_TRY(
            impl_->expandEntry(*entry, int64_t{ids[i]} * layout.cols + col_offset, out.cols, row));
        if (scale != 1.0F) {
            for (int64_t c = 0; c < out.cols; ++c) {
                row[c] *= scale;
            }
        }
    }
    return {};
}

std::optional<kernels::WeightView> TensorStore::residentOn(Handle handle,
                                                           const DeviceId& device) const {
    const StoreEntry* entry = impl_->entry(handle);
    if (entry == nullptr || entry->shadow.is_set) {
        return std::nullopt;
    }
    for (const DeviceTensor* copy : {&entry->compute, &entry->store}) {
        if (copy->isAllocated() && copy->deviceId() == device) {
            return copy->view();
        }
    }
    return std::nullopt;
}

bool TensorStore::lockFor(Handle handle, const DeviceId& device) {
    StoreEntry* entry = impl_->entry(handle);
    const auto reader = impl_->devices.find(device);
    if (entry == nullptr || entry->shadow.is_set || reader == impl_->devices.end() ||
        entry->place.store != DeviceId::cpu() ||
        !entry->place.pin.value_or(impl_->plan.locks_host)) {
        return false;
    }
    return entry->store.lockFor(*reader->second);
}

std::optional<kernels::WeightView> TensorStore::lockedFor(Handle handle,
                                                          const DeviceId& device) const {
    const StoreEntry* entry = impl_->entry(handle);
    const auto reader = impl_->devices.find(device);
    if (entry == nullptr || entry->shadow.is_set || reader == impl_->devices.end()) {
        return std::nullopt;
    }
    return entry->store.lockedView(*reader->second);
}

Result<std::vector<float>> TensorStore::values(Handle handle) {
    StoreEntry* entry = impl_->entry(handle);
    if (entry == nullptr) {
        return Error{ErrorCode::Internal,
                     "values were asked for of a tensor that the store does not hold",
                     {}};
    }
    const int64_t n = entry->layout.rows * entry->layout.cols;
    std::vector<float> result(static_cast<size_t>(n));
    ENGINE_TRY(impl_->expandEntry(*entry, 0, n, result.data()));
    return result;
}

} // namespace engine
