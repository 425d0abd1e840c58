// SPDX-License-Identifier: Apache-2.0
// Residency of loaded tensors; see tensor_store.h. Staging is in tensor_store_staging.cpp, reads
// of rows in tensor_store_gather.cpp.

#include "engine/load/tensor_store.h"

#include "engine/load/tensor_store_impl.h"
#include "engine/model/clip_bound.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace engine {

std::array<uint64_t, DeviceTensor::PartCount> partSizes(const DeviceTensor::Layout& layout) {
    const FormatParts parts = layout.parts();
    return {parts.data, parts.scales, parts.absmax_q, parts.nested_absmax, parts.nested_code};
}

Error outOfMemory(const Argument& what,
                  DeviceId id,
                  const kernels::Device& device,
                  uint64_t asked) {
    const kernels::MemoryInfo memory = device.memory();
    const bool is_bounded = memory.capacity > 0;
    const uint64_t free =
        is_bounded && memory.capacity > memory.used ? memory.capacity - memory.used : 0;
    return {ErrorCode::OutOfMemory,
            is_bounded
                ? said("%1 has no room for %2: %3 asked, %4 free of %5. Move parts to "
                       "another device, choose a smaller context or a smaller format.",
                       id, what, ByteCount{asked}, ByteCount{free}, ByteCount{memory.capacity})
                : said("%1 has no room for %2: %3 asked. Move parts to another device, "
                       "choose a smaller context or a smaller format.",
                       id, what, ByteCount{asked}),
            {{"device", id.toString()},
             {"asked_bytes", std::to_string(asked)},
             {"free_bytes", is_bounded ? std::to_string(free) : std::string("unknown")},
             {"used_bytes", std::to_string(memory.used)}}};
}

kernels::WeightView viewOf(const DeviceTensor::Layout& layout,
                           const std::array<void*, DeviceTensor::PartCount>& parts,
                           float nested_offset) {
    kernels::WeightView view;
    view.data = parts[DeviceTensor::Data];
    view.rows = layout.rows;
    view.cols = layout.cols;
    view.format = layout.format == Format::AsStored ? kernels::WeightFormat::BF16
                                                    : weightFormat(layout.format);
    const auto* const scales = static_cast<const float*>(parts[DeviceTensor::Scales]);
    if (!isQuantized(layout.format)) {
        return view;
    }
    if (view.format == kernels::WeightFormat::Int8Row) {
        view.row_scale = scales;
        return view;
    }
    view.block_size = layout.block_size;
    view.expand_type = layout.dtype == TensorType::F32   ? kernels::DType::F32
                       : layout.dtype == TensorType::F16 ? kernels::DType::F16
                                                         : kernels::DType::BF16;
    if (isNested(layout.format)) {
        view.absmax_q = static_cast<const uint8_t*>(parts[DeviceTensor::AbsmaxQ]);
        view.nested_absmax = static_cast<const float*>(parts[DeviceTensor::NestedAbsmax]);
        view.nested_code = static_cast<const float*>(parts[DeviceTensor::NestedCode]);
        view.nested_offset = nested_offset;
    } else {
        view.absmax = scales;
    }
    return view;
}

// --- DeviceTensor -------------------------------------------------------------------------------

DeviceTensor& DeviceTensor::operator=(DeviceTensor&& other) noexcept {
    if (this != &other) {
        reset();
        layout_ = std::move(other.layout_);
        lock_ = std::move(other.lock_);
        device_id_ = other.device_id_;
        device_ = std::exchange(other.device_, nullptr);
        parts_ = std::exchange(other.parts_, {});
        bytes_ = std::exchange(other.bytes_, {});
        nested_offset_ = other.nested_offset_;
    }
    return *this;
}

Result<DeviceTensor> DeviceTensor::allocate(std::string_view name,
                                            const Layout& layout,
                                            DeviceId device_id,
                                            kernels::Device& device,
                                            MemoryPart part) {
    DeviceTensor tensor;
    tensor.layout_ = layout;
    tensor.device_id_ = device_id;
    tensor.device_ = &device;
    tensor.bytes_ = partSizes(layout);
    for (size_t i = 0; i < PartCount; ++i) {
        if (tensor.bytes_[i] == 0) {
            continue;
        }
        tensor.parts_[i] = device.allocate(tensor.bytes_[i], static_cast<int>(part));
        if (tensor.parts_[i] == nullptr) {
            const uint64_t asked = tensor.sizeBytes();
            tensor.reset();
            return outOfMemory(std::string(name), device_id, device, asked);
        }
    }
    return tensor;
}

kernels::WeightView DeviceTensor::view() const {
    return viewOf(layout_, parts_, nested_offset_);
}

uint64_t DeviceTensor::sizeBytes() const {
    uint64_t sum = 0;
    for (const uint64_t bytes : bytes_) {
        sum += bytes;
    }
    return sum;
}

bool DeviceTensor::lockFor(kernels::Device& reader) {
    if (lock_ == nullptr && device_ != nullptr && device_->isHostVisible() &&
        bytes_[Data] == sizeBytes() && bytes_[Data] > 0) {
        try {
            lock_ = std::make_unique<HostLock>(reader, parts_[Data], bytes_[Data]);
        } catch (const std::bad_alloc&) {
            return false; // nothing depends on it
        }
    }
    return lock_ != nullptr && &lock_->device() == &reader;
}

std::optional<kernels::WeightView> DeviceTensor::lockedView(const kernels::Device& reader) const {
    if (lock_ == nullptr || &lock_->device() != &reader || !lock_->isComplete()) {
        return std::nullopt;
    }
    kernels::WeightView there = view();
    there.data = const_cast<kernels::Device&>(reader).kernelAddress(parts_[Data]);
    return there.data == nullptr ? std::nullopt : std::optional(there);
}

void DeviceTensor::reset() {
    lock_.reset();
    if (device_ != nullptr) {
        for (void*& part : parts_) {
            device_->free(part);
            part = nullptr;
        }
        bytes_ = {};
        device_ = nullptr;
    }
}

Result<void> copyTensor(const DeviceTensor& from, DeviceTensor& to) {
    constexpr uint64_t kPiece = uint64_t{4} << 20;
    std::vector<std::byte> bounce;
    for (int i = 0; i < DeviceTensor::PartCount; ++i) {
        const auto part = static_cast<DeviceTensor::Part>(i);
        const uint64_t bytes = from.partBytes(part);
        const auto* source = static_cast<const std::byte*>(from.part(part));
        auto* target = static_cast<std::byte*>(to.part(part));
        auto status = kernels::Status::Ok;
        if (bytes == 0) {
            continue;
        }
        if (from.device() == to.device()) {
            status = to.device()->copyWithin(target, source, bytes);
        } else if (from.device()->isHostVisible()) {
            status = to.device()->copyIn(target, source, bytes);
        } else if (to.device()->isHostVisible()) {
            status = from.device()->copyOut(target, source, bytes);
        } else if (status = to.device()->copyFromPeer(*from.device(), target, source, bytes);
                   status == kernels::Status::Unsupported) {
            status = kernels::Status::Ok;
            bounce.resize(static_cast<size_t>(std::min(bytes, kPiece)));
            for (uint64_t at = 0; at < bytes && status == kernels::Status::Ok; at += kPiece) {
                const auto size = static_cast<size_t>(std::min(kPiece, bytes - at));
                status = from.device()->copyOut(bounce.data(), source + at, size);
                if (status == kernels::Status::Ok) {
                    status = to.device()->copyIn(target + at, bounce.data(), size);
                }
            }
        }
        if (status != kernels::Status::Ok) {
            return Error{ErrorCode::DeviceLost,
                         said("copying weights from %1 to %2 failed; restart the program",
                              from.deviceId().toString(), to.deviceId().toString()),
                         {}};
        }
    }
    to.setNestedOffset(from.nestedOffset());
    return {};
}

// --- TensorStore --------------------------------------------------------------------------------

std::unique_ptr<TensorStore> StoreBuilder::wrap(std::unique_ptr<TensorStore::Impl> impl) {
    return std::unique_ptr<TensorStore>(new TensorStore(std::move(impl)));
}

TensorStore::TensorStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TensorStore::~TensorStore() = default;

StoreEntry* TensorStore::Impl::entry(WeightSource::Handle handle) {
    if (handle < 0 || static_cast<size_t>(handle) >= entries.size() ||
        entries[static_cast<size_t>(handle)].is_gone) {
        return nullptr;
    }
    return &entries[static_cast<size_t>(handle)];
}

Result<kernels::Device*> TensorStore::Impl::device(DeviceId id) const {
    const auto found = devices.find(id);
    if (found == devices.end()) {
        return Error{ErrorCode::InvalidRequest,
                     said("the plan names %1, which this engine does not have", id.toString()),
                     {{"device", id.toString()}}};
    }
    return found->second;
}

namespace {

Error noSuchTensor() {
    return {ErrorCode::Internal, "a weight was asked for that the store does not hold", {}};
}

} // namespace

WeightSource::Handle TensorStore::handleOf(std::string_view tensor) const {
    auto found = impl_->index.find(std::string(tensor));
    if (found == impl_->index.end() && tensor == kHeadName) {
        found = impl_->index.find(std::string(kTokenTableName)); // tied
    }
    return found == impl_->index.end() ? kAbsent : found->second;
}

DeviceId TensorStore::computeDevice(Handle handle) const {
    const StoreEntry* entry = impl_->entry(handle);
    return entry == nullptr ? DeviceId::cpu() : entry->place.compute;
}

Result<kernels::WeightView> TensorStore::acquire(Handle handle) {
    StoreEntry* entry = impl_->entry(handle);
    if (entry == nullptr) {
        return noSuchTensor();
    }
    return impl_->acquire(*entry, handle);
}

void TensorStore::release(Handle /*handle*/) {
    // Streamed tensors are overwritten in turn and visitors leave when another group comes, so
    // there is nothing to give back per tensor.
}

Result<kernels::WeightView> TensorStore::acquire(std::string_view tensor) {
    return acquire(handleOf(tensor));
}

void TensorStore::release(std::string_view tensor) {
    release(handleOf(tensor));
}

Result<std::optional<TensorStore::Extreme>>
TensorStore::scanFiles(const std::function<bool(Part)>& is_wanted,
                       const std::stop_token& stop) const {
    constexpr int64_t kPiece = int64_t{1} << 20;
    std::optional<Extreme> largest;
    std::vector<std::byte> bytes;
    std::vector<float> values;
    for (const StoreEntry& entry : impl_->entries) {
        if (entry.is_gone || !is_wanted(entry.place.part)) {
            continue;
        }
        const bool may_be_infinite = isClipBound(entry.name);
        const WeightOrigin& origin = entry.origin;
        const int64_t count = origin.numElements();
        for (int64_t first = 0; first < count; first += kPiece) {
            if (stop.stop_requested()) {
                return Error{ErrorCode::Cancelled, said("stopped by the user"), {}};
            }
            const int64_t n = std::min(kPiece, count - first);
            bytes.resize(static_cast<size_t>(n) * tensorTypeSize(origin.value_type));
            values.resize(static_cast<size_t>(n));
            ENGINE_TRY(readValues(*impl_->source, origin, first, n, bytes.data()));
            convertDense(origin.value_type, bytes.data(), TensorType::F32,
                         reinterpret_cast<std::byte*>(values.data()), n);
            for (int64_t i = 0; i < n; ++i) {
                const float value = values[static_cast<size_t>(i)];
                if (!std::isfinite(value) && (std::isnan(value) || !may_be_infinite)) {
                    return std::optional(Extreme{entry.name, first + i, value});
                }
                if (std::isfinite(value) &&
                    (!largest.has_value() || std::fabs(value) > std::fabs(largest->value))) {
                    largest = Extreme{entry.name, first + i, value};
                }
            }
        }
    }
    return largest;
}

const std::vector<int64_t>& TensorStore::shape(Handle handle) const {
    static const std::vector<int64_t> kNone;
    const StoreEntry* entry = impl_->entry(handle);
    return entry == nullptr ? kNone : entry->layout.shape;
}

Format TensorStore::format(Handle handle) const {
    const StoreEntry* entry = impl_->entry(handle);
    return entry == nullptr ? Format::AsStored : entry->layout.format;
}

const std::string& TensorStore::name(Handle handle) const {
    static const std::string kNone;
    const StoreEntry* entry = impl_->entry(handle);
    return entry == nullptr ? kNone : entry->name;
}

const TensorPlacement& TensorStore::placement(Handle handle) const {
    static const TensorPlacement kNone;
    const StoreEntry* entry = impl_->entry(handle);
    return entry == nullptr ? kNone : entry->place;
}

int TensorStore::size() const {
    return static_cast<int>(impl_->entries.size());
}
const PlacementPlan& TensorStore::plan() const {
    return impl_->plan;
}
const LoadReport& TensorStore::report() const {
    return impl_->report;
}
std::optional<Sentence> TensorStore::takeUseNote() {
    return std::exchange(impl_->has_use_note, false) ? std::optional(impl_->lost_in_use)
                                                     : std::nullopt;
}
void TensorStore::addDevice(DeviceId id, kernels::Device& device) {
    impl_->devices[id] = &device;
}
uint64_t TensorStore::generation() const {
    return impl_->generation;
}
uint64_t TensorStore::takeStagedBytes() {
    return std::exchange(impl_->staged_bytes, 0);
}

} // namespace engine
