// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/saved_table.h"

#include "engine/families/gemma4/stored_head.h"
#include "engine/families/tensor_list.h"
#include "engine/lora/adapter.h"
#include "engine/lora/tensor_values.h"

#include <algorithm>
#include <vector>

namespace engine {

Result<bool> equalsBaseTable(const TensorSource& adapter,
                             const TensorInfo& saved,
                             const TensorSource& base,
                             const ModelConfig& model,
                             std::string_view tensor,
                             const std::stop_token& stop) {
    const std::string_view wanted =
        tensor == kHeadTensor && !model.has_own_head ? kTokenTableName : tensor;
    const TensorInfo* own = nullptr;
    for (const TensorInfo& info : base.tensors()) {
        if (storedTensorName(model, info.name) == wanted) {
            own = &info;
            break;
        }
    }
    if (own == nullptr || own->shape != saved.shape || !isFloatType(own->type)) {
        return false;
    }
    constexpr uint64_t kPiece = uint64_t{1} << 20;
    const uint64_t count = saved.size_bytes / tensorTypeSize(saved.type);
    std::vector<float> a(kPiece);
    std::vector<float> b(kPiece);
    for (uint64_t first = 0; first < count; first += kPiece) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("loading the adapter was cancelled")};
        }
        const auto n = static_cast<size_t>(std::min(kPiece, count - first));
        ENGINE_TRY(readFloatRange(adapter, saved, first, std::span(a).first(n)));
        ENGINE_TRY(readFloatRange(base, *own, first, std::span(b).first(n)));
        if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin())) {
            return false;
        }
    }
    return true;
}

} // namespace engine
