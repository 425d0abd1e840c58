// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/repair.h"

namespace ui {

std::optional<Repair> repairOf(const engine::Suggestion& suggestion) {
    const auto* step = std::get_if<engine::SuggestedStep>(&suggestion);
    if (step == nullptr) {
        return std::nullopt;
    }
    Repair repair;
    for (const engine::SuggestedMove& moved : step->moves) {
        for (const std::string& module : moved.modules) {
            engine::MapMove& move = repair.moves.emplace_back();
            move.module = module;
            move.store = moved.store;
            move.compute = moved.compute;
        }
    }
    if (step->head_copy.has_value()) {
        engine::MapMove& move = repair.moves.emplace_back();
        move.module = "lm_head";
        move.is_tied_copy = true;
        move.store = step->head_copy->store;
        move.compute = step->head_copy->compute;
    }
    repair.head = step->is_head_int8 ? "int8" : "";
    repair.quant = step->quant;
    repair.context = step->context;
    repair.prefill_chunk = step->prefill_chunk;
    repair.image_tokens = step->image_tokens;
    repair.is_enough = step->is_enough;
    return repair;
}

engine::LoadRequest repaired(engine::LoadRequest request, const Repair& repair) {
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
