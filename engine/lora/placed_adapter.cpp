// SPDX-License-Identifier: Apache-2.0
// Reads an adapter's tensors from its file straight into device blocks.
#include "engine/lora/placed_adapter.h"

#include "engine/api/placement.h"
#include "engine/base/sentence_english.h"
#include "engine/lora/low_rank_math.h"
#include "engine/lora/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

constexpr int kTag = static_cast<int>(MemoryPart::Adapter);
constexpr uint64_t kPieceBytes = uint64_t{4} << 20;

Error cancelled() {
    return Error{ErrorCode::Cancelled, said("placing the adapter was cancelled")};
}

Result<std::vector<float>> floatsOf(const Adapter& adapter, const AdapterTensor& tensor) {
    std::vector<float> values(tensor.size_bytes / tensorTypeSize(tensor.type));
    ENGINE_TRY(adapter.readFloats(tensor, values));
    return values;
}

/// Reorders elements of `size` bytes: out[i] = in[source(i)].
template <typename SourceOf>
std::vector<std::byte>
permuted(std::span<const std::byte> in, size_t size, const SourceOf& source) {
    std::vector<std::byte> out(in.size());
    const auto count = static_cast<int64_t>(in.size() / size);
    for (int64_t i = 0; i < count; ++i) {
        std::memcpy(out.data() + static_cast<size_t>(i) * size,
                    in.data() + static_cast<size_t>(source(i)) * size, size);
    }
    return out;
}

/// Copies a file tensor into a block in pieces.
Result<void> copyTensor(const Adapter& adapter,
                        const AdapterTensor& tensor,
                        const BlockTarget& target,
                        uint64_t offset,
                        const std::stop_token& stop = {}) {
    std::vector<std::byte> piece(static_cast<size_t>(std::min(kPieceBytes, tensor.size_bytes)));
    for (uint64_t at = 0; at < tensor.size_bytes; at += kPieceBytes) {
        if (stop.stop_requested()) {
            return cancelled();
        }
        const auto n = static_cast<size_t>(std::min(kPieceBytes, tensor.size_bytes - at));
        ENGINE_TRY(adapter.readBytes(tensor, at, std::span(piece).first(n)));
        ENGINE_TRY(target.write(offset + at, std::span(piece).first(n), tensor.key));
    }
    return {};
}

Result<std::vector<std::byte>> bytesOf(const Adapter& adapter, const AdapterTensor& tensor) {
    std::vector<std::byte> bytes(tensor.size_bytes);
    ENGINE_TRY(adapter.readBytes(tensor, 0, bytes));
    return bytes;
}

} // namespace

// ---- DeviceBlock ----------------------------------------------------------------------------

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
    if (this != &other) {
        reset();
        device_ = std::exchange(other.device_, nullptr);
        memory_ = std::exchange(other.memory_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
}

void DeviceBlock::reset() {
    if (device_ != nullptr) {
        device_->free(memory_);
    }
    device_ = nullptr;
    memory_ = nullptr;
    bytes_ = 0;
}

Result<DeviceBlock>
DeviceBlock::allocate(kernels::Device& device, uint64_t bytes, const Argument& what) {
    DeviceBlock block;
    block.memory_ = device.allocate(static_cast<size_t>(bytes), kTag);
    if (block.memory_ == nullptr) {
        const kernels::MemoryInfo memory = device.memory();
        Sentence message = said("no room for %1 bytes of the adapter (%2): %3 bytes are in use",
                                bytes, what, memory.used);
        std::vector<std::pair<std::string, std::string>> details = {
            {"asked_bytes", std::to_string(bytes)}};
        if (memory.capacity > 0) {
            const uint64_t free = memory.capacity > memory.used ? memory.capacity - memory.used : 0;
            message = said("no room for %1 bytes of the adapter (%2): %3 bytes are in use of %4",
                           bytes, what, memory.used, memory.capacity);
            details.emplace_back("free_bytes", std::to_string(free));
        }
        return Error{ErrorCode::OutOfMemory,
                     said("%1; free memory there or move modules to another device", message),
                     std::move(details)};
    }
    block.device_ = &device;
    block.bytes_ = bytes;
    return block;
}

Result<void> BlockTarget::write(uint64_t offset,
                                std::span<const std::byte> bytes,
                                const std::string& what) const {
    if (bytes.empty()) {
        return {};
    }
    const kernels::Status status = device->copyIn(memory + offset, bytes.data(), bytes.size());
    if (status != kernels::Status::Ok) {
        return kernelError(status, said("copying %1", what));
    }
    return {};
}

Result<DeviceBlock> DeviceBlock::copyTo(kernels::Device& device, const std::string& what) const {
    ENGINE_ASSIGN(DeviceBlock copy, allocate(device, bytes_, what));
    if (device_->isHostVisible()) {
        ENGINE_TRY(copy.write(0, {at(0), static_cast<size_t>(bytes_)}, what));
        return copy;
    }
    std::vector<std::byte> bounce(static_cast<size_t>(std::min(kPieceBytes, bytes_)));
    for (uint64_t done = 0; done < bytes_; done += kPieceBytes) {
        const auto n = static_cast<size_t>(std::min(kPieceBytes, bytes_ - done));
        const kernels::Status status = device_->copyOut(bounce.data(), at(done), n);
        if (status != kernels::Status::Ok) {
            return kernelError(status, said("copying %1", what));
        }
        ENGINE_TRY(copy.write(done, std::span(bounce).first(n), what));
    }
    return copy;
}

Error kernelError(kernels::Status status, const Sentence& what) {
    switch (status) {
    case kernels::Status::OutOfMemory:
        return Error{ErrorCode::OutOfMemory, said("%1: the device has no memory left", what)};
    case kernels::Status::DeviceLost:
        return Error{ErrorCode::DeviceLost, said("%1: the device was lost", what)};
    case kernels::Status::Unsupported:
        return Error{ErrorCode::Unsupported, said("%1: the device has no kernel for this", what)};
    case kernels::Status::BadShape:
    case kernels::Status::Ok:
        break;
    }
    return Error{ErrorCode::Internal, inEnglish(what) + ": operands do not fit together"};
}

kernels::DType dtypeOf(TensorType type) {
    switch (type) {
    case TensorType::F16:
        return kernels::DType::F16;
    case TensorType::BF16:
        return kernels::DType::BF16;
    default:
        return kernels::DType::F32;
    }
}

kernels::WeightFormat weightFormatOf(TensorType type) {
    switch (type) {
    case TensorType::F16:
        return kernels::WeightFormat::F16;
    case TensorType::BF16:
        return kernels::WeightFormat::BF16;
    default:
        return kernels::WeightFormat::F32;
    }
}

// ---- views ----------------------------------------------------------------------------------

kernels::MatView PlacedUpdate::a(int64_t expert) const {
    const uint64_t skip =
        static_cast<uint64_t>(expert * update->rank * update->in) * tensorTypeSize(update->a.type);
    return {at(layout.a.offset + skip), dtypeOf(update->a.type), update->rank, update->in};
}

kernels::MatView PlacedUpdate::b(int64_t expert) const {
    const kernels::DType type = update->isDora() ? kernels::DType::F32 : dtypeOf(update->b.type);
    const uint64_t size = type == kernels::DType::F32 ? 4 : 2;
    const uint64_t skip = static_cast<uint64_t>(expert * update->rank * update->out) * size;
    return {at(layout.b.offset + skip), type, update->out, update->rank};
}

kernels::MatView PlacedUpdate::bias() const {
    if (!update->b_bias.present) {
        return {};
    }
    return {at(layout.bias.offset), dtypeOf(update->b_bias.type), 1, update->out};
}

const float* PlacedUpdate::columns() const {
    return reinterpret_cast<const float*>(at(layout.columns.offset));
}

const float* PlacedUpdate::factor() const {
    return reinterpret_cast<const float*>(at(layout.factor.offset));
}

kernels::MatView PlacedUpdate::identity() const {
    return {at(layout.identity.offset), kernels::DType::F32, update->rank, update->rank};
}

kernels::WeightView PlacedUpdate::table() const {
    kernels::WeightView view;
    view.data = at(layout.a.offset);
    view.format = weightFormatOf(update->a.type);
    view.rows = update->in;
    view.cols = update->rank;
    return view;
}

kernels::WeightView PlacedRows::weight() const {
    kernels::WeightView view;
    view.data = block.at(layout.value.offset);
    view.format = weightFormatOf(rows->rows.type);
    view.rows = static_cast<int64_t>(rows->ids.size());
    view.cols = rows->dim;
    return view;
}

const int32_t* PlacedRows::ids() const {
    return reinterpret_cast<const int32_t*>(block.at(layout.ids.offset));
}

kernels::WeightView PlacedTensor::weight(int64_t expert) const {
    const std::vector<int64_t>& shape = replacement->shape;
    kernels::WeightView view;
    view.format = weightFormatOf(replacement->value.type);
    view.rows = shape[shape.size() - 2];
    view.cols = shape[shape.size() - 1];
    const uint64_t skip = static_cast<uint64_t>(expert * view.rows * view.cols) *
                          tensorTypeSize(replacement->value.type);
    view.data = block.at(layout.value.offset + skip);
    return view;
}

// ---- filling --------------------------------------------------------------------------------

Result<std::vector<float>> doraFactors(const Adapter& adapter,
                                       const LowRankUpdate& update,
                                       const ReadBaseRows& read_base,
                                       const std::stop_token& stop) {
    if (!read_base) {
        return Error{ErrorCode::Internal,
                     update.tensor + ": DoRA needs the base weights, and no reader was given"};
    }
    ENGINE_ASSIGN(const std::vector<float> a, floatsOf(adapter, update.a));
    ENGINE_ASSIGN(const std::vector<float> b, floatsOf(adapter, update.b));
    ENGINE_ASSIGN(std::vector<float> g, floatsOf(adapter, update.magnitude));
    const bool is_embedding = update.kind == TensorKind::Embedding;
    // An embedding is the transpose of a linear layer: its rows are the inputs, and the norms run
    // over all of them.
    const int64_t row_count = is_embedding ? update.in : update.out;
    const int64_t row_length = is_embedding ? update.out : update.in;
    const std::vector<float> left = is_embedding ? transposed(a, update.rank, update.in) : b;
    const std::vector<float> right = is_embedding ? transposed(b, update.out, update.rank) : a;
    const auto scale = static_cast<float>(update.scaling);
    const auto rank = static_cast<size_t>(update.rank);
    const auto length = static_cast<size_t>(row_length);
    const int64_t step = std::max<int64_t>(1, (int64_t{1} << 20) / row_length);
    std::vector<float> rows(static_cast<size_t>(std::min(step, row_count)) * length);
    std::vector<double> squares(static_cast<size_t>(update.out), 0.0);
    for (int64_t first = 0; first < row_count; first += step) {
        if (stop.stop_requested()) {
            return cancelled();
        }
        const int64_t count = std::min(step, row_count - first);
        const std::span<float> block = std::span(rows).first(static_cast<size_t>(count) * length);
        ENGINE_TRY(read_base(update.tensor, first, count, block));
        for (int64_t i = 0; i < count; ++i) {
            const std::span<float> row = block.subspan(static_cast<size_t>(i) * length, length);
            addProductRow(std::span(left).subspan(static_cast<size_t>(first + i) * rank, rank),
                          right, scale, row);
            if (is_embedding) {
                for (size_t c = 0; c < length; ++c) {
                    squares[c] += static_cast<double>(row[c]) * static_cast<double>(row[c]);
                }
            } else {
                squares[static_cast<size_t>(first + i)] = squaredNorm(row);
            }
        }
    }
    for (size_t j = 0; j < g.size(); ++j) {
        const double norm = std::sqrt(squares[j]);
        g[j] = static_cast<float>(static_cast<double>(g[j]) / norm);
        if (!std::isfinite(g[j])) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: %2: output %3 of %4 has norm %5 with the update added, so that "
                              "its magnitude cannot be scaled",
                              adapter.name(), update.magnitude.key, j, update.tensor, norm),
                         {{"tensor", update.magnitude.key}}};
        }
    }
    return g;
}

Result<std::vector<float>> scaledB(const Adapter& adapter, const PlacedUpdate& placed) {
    ENGINE_ASSIGN(std::vector<float> b, floatsOf(adapter, placed.update->b));
    for (size_t i = 0; i < b.size(); ++i) {
        b[i] *= placed.g[i / static_cast<size_t>(placed.update->rank)];
    }
    return b;
}

Result<void>
fillUpdate(const Adapter& adapter, const PlacedUpdate& placed, const BlockTarget& target) {
    const LowRankUpdate& u = *placed.update;
    const std::string& what = u.tensor;
    const bool is_embedding = u.kind == TensorKind::Embedding;
    if (is_embedding) {
        ENGINE_ASSIGN(const std::vector<std::byte> a, bytesOf(adapter, u.a));
        ENGINE_TRY(
            target.write(placed.layout.a.offset,
                         permuted(a, tensorTypeSize(u.a.type),
                                  [&](int64_t i) { return (i % u.rank) * u.in + i / u.rank; }),
                         what));
        std::vector<float> identity(static_cast<size_t>(u.rank * u.rank), 0.0F);
        for (int64_t k = 0; k < u.rank; ++k) {
            identity[static_cast<size_t>(k * u.rank + k)] = 1.0F;
        }
        ENGINE_TRY(
            target.write(placed.layout.identity.offset, std::as_bytes(std::span(identity)), what));
    } else if (u.is_stored_swapped) {
        ENGINE_ASSIGN(const std::vector<std::byte> a, bytesOf(adapter, u.a));
        ENGINE_TRY(target.write(
            placed.layout.a.offset,
            permuted(a, tensorTypeSize(u.a.type), [&](int64_t i) { return indexOfA(u, i); }),
            what));
    } else {
        ENGINE_TRY(copyTensor(adapter, u.a, target, placed.layout.a.offset));
    }
    if (u.isDora()) {
        ENGINE_ASSIGN(const std::vector<float> b, scaledB(adapter, placed));
        ENGINE_TRY(target.write(placed.layout.b.offset, std::as_bytes(std::span(b)), what));
    } else if (u.experts > 0) {
        ENGINE_ASSIGN(const std::vector<std::byte> b, bytesOf(adapter, u.b));
        ENGINE_TRY(target.write(
            placed.layout.b.offset,
            permuted(b, tensorTypeSize(u.b.type), [&](int64_t i) { return indexOfB(u, i); }),
            what));
    } else {
        ENGINE_TRY(copyTensor(adapter, u.b, target, placed.layout.b.offset));
    }
    if (u.b_bias.present) {
        ENGINE_TRY(copyTensor(adapter, u.b_bias, target, placed.layout.bias.offset));
    }
    return {};
}

Result<DeviceBlock> blockAt(const PlacedUpdate& placed,
                            const AdapterHome& home,
                            kernels::Device& host,
                            const DeviceBlock& former) {
    if (home.travels() && home.is_on_disk) {
        return DeviceBlock();
    }
    kernels::Device& device = home.travels() ? host : *home.compute;
    if (former.device() != nullptr) {
        return former.copyTo(device, placed.update->tensor);
    }
    ENGINE_ASSIGN(DeviceBlock block,
                  DeviceBlock::allocate(device, placed.layout.total, placed.update->tensor));
    ENGINE_TRY(fillUpdate(*placed.source, placed, block.target()));
    ENGINE_TRY(writeStrength(placed, block.target(), placed.strength));
    return block;
}

Result<void> writeStrength(const PlacedUpdate& placed, const BlockTarget& target, double strength) {
    if (placed.layout.factor.bytes > 0) {
        const auto factor = static_cast<float>(placed.update->scaling * strength);
        ENGINE_TRY(target.write(placed.layout.factor.offset, std::as_bytes(std::span(&factor, 1)),
                                placed.update->tensor));
    }
    if (!placed.update->isDora()) {
        return {};
    }
    std::vector<float> columns = placed.g;
    if (strength != 1.0) {
        for (float& value : columns) {
            value = static_cast<float>(1.0 + strength * (static_cast<double>(value) - 1.0));
        }
    }
    return target.write(placed.layout.columns.offset, std::as_bytes(std::span(columns)),
                        placed.update->tensor);
}

Result<void> writeStrength(PlacedUpdate& placed, double strength) {
    if (placed.block.device() != nullptr) {
        ENGINE_TRY(writeStrength(placed, placed.block.target(), strength));
    }
    placed.strength = strength;
    return {};
}

std::vector<float> PlacedVector::blended(double strength) const {
    std::vector<float> values = value;
    if (strength == 1.0) {
        return values;
    }
    for (size_t i = 0; i < values.size(); ++i) {
        const double from = base.empty() ? 0.0 : static_cast<double>(base[i]);
        values[i] = static_cast<float>(from + strength * (static_cast<double>(values[i]) - from));
    }
    return values;
}

Result<void> writeBlend(PlacedVector& placed, double strength) {
    if (placed.block.device() == nullptr) {
        return {};
    }
    const std::vector<float> values = placed.blended(strength);
    return placed.block.write(0, std::as_bytes(std::span(values)), placed.replacement->tensor);
}

namespace {

class Placer {
public:
    Placer(const PlaceContext& context, PlacedAdapter& placed)
        : context_(context), placed_(placed), adapter_(*placed.adapter) {}

    Result<void> run() {
        for (const LowRankUpdate& update : adapter_.updates()) {
            ENGINE_TRY(placeUpdate(update));
        }
        for (const RowReplacement& rows : adapter_.rowReplacements()) {
            if (rows.tensor != kHeadTensor) {
                ENGINE_TRY(placeRows(rows, false));
            }
            if (rows.replaces_head || rows.tensor == kHeadTensor) {
                ENGINE_TRY(placeRows(rows, true));
            }
        }
        for (const TensorReplacement& replacement : adapter_.replacements()) {
            ENGINE_TRY(placeReplacement(replacement));
        }
        return {};
    }

private:
    [[nodiscard]] kernels::Device* deviceOf(const std::string& tensor) const {
        return context_.home_of(tensor).compute;
    }

    Result<void> placeUpdate(const LowRankUpdate& update) {
        if (context_.stop.stop_requested()) {
            return cancelled();
        }
        PlacedUpdate placed;
        placed.update = &update;
        placed.source = &adapter_;
        placed.layout = blockOf(update);
        placed.home = update.kind == TensorKind::Embedding ? AdapterHome(&context_.host)
                                                           : context_.home_of(update.tensor);
        if (placed.isPlaced()) {
            if (update.isDora()) {
                ENGINE_ASSIGN(placed.g,
                              doraFactors(adapter_, update, context_.read_base, context_.stop));
            }
            ENGINE_ASSIGN(placed.block, blockAt(placed, placed.home, context_.host, {}));
        }
        placed_.updates.push_back(std::move(placed));
        return {};
    }

    Result<void> placeRows(const RowReplacement& rows, bool is_head) {
        PlacedRows placed;
        placed.rows = &rows;
        placed.is_head = is_head;
        placed.layout = blockOf(rows, is_head);
        kernels::Device* device = is_head ? deviceOf(std::string(kHeadTensor)) : &context_.host;
        if (device != nullptr) {
            ENGINE_ASSIGN(placed.block,
                          DeviceBlock::allocate(*device, placed.layout.total, rows.tensor));
            if (is_head) {
                const std::vector<int32_t> ids(rows.ids.begin(), rows.ids.end());
                ENGINE_TRY(placed.block.write(placed.layout.ids.offset,
                                              std::as_bytes(std::span(ids)), rows.tensor));
            }
            ENGINE_TRY(
                copyTensor(adapter_, rows.rows, placed.block.target(), placed.layout.value.offset));
        }
        if (!is_head) {
            for (size_t k = 0; k < rows.ids.size(); ++k) {
                placed.row_of.emplace(static_cast<int32_t>(rows.ids[k]), static_cast<int32_t>(k));
            }
        }
        placed_.rows.push_back(std::move(placed));
        return {};
    }

    Result<void> placeReplacement(const TensorReplacement& replacement) {
        if (replacement.kind == TensorKind::Vector || replacement.kind == TensorKind::ClipScalar) {
            return placeVector(replacement);
        }
        const bool is_table = replacement.kind == TensorKind::Embedding;
        ENGINE_TRY(placeTensor(replacement, replacement.tensor,
                               is_table ? &context_.host : deviceOf(replacement.tensor)));
        if (replacement.replaces_head) {
            const std::string head(kHeadTensor);
            ENGINE_TRY(placeTensor(replacement, head, deviceOf(head)));
        }
        return {};
    }

    Result<void> placeTensor(const TensorReplacement& replacement,
                             const std::string& tensor,
                             kernels::Device* device) {
        PlacedTensor placed;
        placed.replacement = &replacement;
        placed.tensor = tensor;
        placed.layout = blockOf(replacement);
        if (device != nullptr) {
            ENGINE_ASSIGN(placed.block,
                          DeviceBlock::allocate(*device, placed.layout.total, tensor));
            ENGINE_TRY(copyTensor(adapter_, replacement.value, placed.block.target(),
                                  placed.layout.value.offset, context_.stop));
        }
        placed_.tensors.push_back(std::move(placed));
        return {};
    }

    Result<void> placeVector(const TensorReplacement& replacement) {
        kernels::Device* device = deviceOf(replacement.tensor);
        if (device == nullptr) {
            return {};
        }
        PlacedVector placed;
        placed.replacement = &replacement;
        ENGINE_ASSIGN(placed.value, floatsOf(adapter_, replacement.value));
        if (context_.read_base) {
            placed.base.resize(placed.value.size());
            const int64_t rows =
                replacement.shape.size() < 2
                    ? 1
                    : static_cast<int64_t>(placed.base.size()) / replacement.shape.back();
            ENGINE_TRY(context_.read_base(replacement.tensor, 0, rows, placed.base));
        }
        if (replacement.place != VectorPlace::Tables) {
            ENGINE_ASSIGN(placed.block,
                          DeviceBlock::allocate(
                              replacement.place == VectorPlace::Host ? context_.host : *device,
                              blockOf(replacement).total, replacement.tensor));
        }
        placed_.vectors.push_back(std::move(placed));
        return {};
    }

    const PlaceContext& context_;
    PlacedAdapter& placed_;
    const Adapter& adapter_;
};

} // namespace

Result<std::unique_ptr<PlacedAdapter>> placeAdapter(std::shared_ptr<const Adapter> adapter,
                                                    const PlaceContext& context) {
    auto placed = std::make_unique<PlacedAdapter>();
    placed->adapter = std::move(adapter);
    ENGINE_TRY(Placer(context, *placed).run());
    return placed;
}

} // namespace engine
