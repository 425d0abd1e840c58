// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/repair.h"

namespace ui {

engine::LoadRequest repaired(engine::LoadRequest request, const engine::Repair& repair) {
    request.moves = repair.moves;
    if (!repair.head.empty()) {
        request.head = repair.head;
    }
    if (!repair.quant.empty()) {
        request.quant = repair.quant;
    }
    if (repair.context > 0) {
        request.context = repair.context;
    }
    if (repair.prefill_chunk > 0) {
        request.prefill_chunk = repair.prefill_chunk;
    }
    if (repair.image_tokens > 0) {
        request.image_tokens = repair.image_tokens;
    }
    return request;
}

} // namespace ui
