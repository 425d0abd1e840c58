// SPDX-License-Identifier: Apache-2.0
// Checks before anything is allocated; see loader_entries.h.

#include "engine/load/loader_entries.h"

#include "engine/families/gemma4/names.h"
#include "engine/families/gemma4/stored_head.h"
#include "engine/families/gemma4/stored_names.h"
#include "engine/model/clip_bound.h"
#include "engine/plan/plan_english.h"

#include <algorithm>
#include <unordered_set>

namespace engine {

namespace {

Error planError(const std::string& what) {
    return {ErrorCode::InvalidRequest, what + " Make the plan again for this model.", {}};
}

Result<void> checkPlace(const TensorStore::Impl& impl, const TensorPlacement& row) {
    if (row.compute.kind == DeviceId::Kind::Disk) {
        return planError(row.tensor + " is planned to compute on disk, which cannot compute.");
    }
    const bool is_split = row.store != row.compute;
    if (is_split && row.store.isGpu()) {
        return planError(row.tensor + " is planned to be stored on " + row.store.toString() +
                         " and computed on " + row.compute.toString() +
                         "; only cpu and disk store for others.");
    }
    ENGINE_TRY(impl.device(row.compute));
    if (row.store.kind != DeviceId::Kind::Disk) {
        ENGINE_TRY(impl.device(row.store));
    }
    return {};
}

/// Why a stored tensor that the list lacks changes nothing, whatever its values are; empty: it is
/// not known.
std::string inertReason(const ModelConfig& config, std::string_view tensor) {
    if (tensor == kHeadName) { // another head is in the list: decideHead() compared the values
        return "its values are the token embedding's: one table serves both";
    }
    const bool is_clip_bound = isClipBound(tensor);
    const Part part = partOfName(tensor);
    if ((is_clip_bound && part.role == PartRole::VisionTower && config.vision &&
         !config.vision->has_clipped_linears) ||
        (is_clip_bound && part.role == PartRole::AudioTower && config.audio &&
         !config.audio->has_clipped_linears)) {
        return "bounds of linears that config.json does not clip (use_clipped_linears)";
    }
    const auto layer = static_cast<size_t>(part.layer); // -1 is above all
    if (layer < config.text.layers.size() && config.text.layers[layer].k_is_v &&
        tensorUseOfName(tensor) == TensorUse::Value && tensor.ends_with(".weight")) {
        return "layers that take their values from " + shortUseName(TensorUse::Key) +
               " (attention_k_eq_v)";
    }
    return {};
}

} // namespace

void indexSource(TensorStore::Impl& impl) {
    impl.expected = listTensors(impl.config);
    if (impl.config.has_own_head) {
        impl.expected.push_back(headTensor(impl.config));
    }
    std::unordered_map<std::string, const ExpectedTensor*> known;
    for (const ExpectedTensor& tensor : impl.expected) {
        known.emplace(tensor.name, &tensor);
    }
    for (const TensorInfo& info : impl.source->tensors()) {
        if (isQuantHelper(info.name)) {
            continue;
        }
        const std::string canonical = storedTensorName(impl.config, info.name);
        const auto found = known.find(canonical);
        if (found == known.end()) {
            if (std::string reason = inertReason(impl.config, canonical); !reason.empty()) {
                impl.report.inert.push_back({info.name, std::move(reason)});
            } else {
                impl.report.surplus.push_back(info.name);
            }
            continue;
        }
        if (found->second->is_unused) {
            impl.report.inert.push_back({info.name, isMedia(found->second->part)
                                                        ? "towers left out of a text-only load"
                                                        : "K/V of KV-sharing layers"});
        }
        impl.file_names.emplace(canonical, info.name);
    }
    for (const ExpectedTensor& tensor : impl.expected) {
        if (!tensor.is_required && !tensor.is_unused && !impl.file_names.contains(tensor.name)) {
            impl.report.missing.push_back(tensor.name);
        }
    }
    for (ModelOddity& warning : impl.source->warnings()) {
        impl.report.notes.emplace_back(Note(std::move(warning)));
    }
}

Result<std::vector<StoreEntry>> makeEntries(TensorStore::Impl& impl, const PlacementPlan& plan) {
    if (!plan.errors.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     "the plan has errors: " + plan.errors.front().code + ": " +
                         inEnglish(plan.errors.front()),
                     {}};
    }
    std::unordered_map<std::string, const ExpectedTensor*> known;
    for (const ExpectedTensor& tensor : impl.expected) {
        known.emplace(tensor.name, &tensor);
    }
    ENGINE_TRY(checkStoredNames(impl.config, impl.expected, *impl.source));
    std::unordered_set<std::string> planned;
    std::vector<StoreEntry> entries;
    entries.reserve(plan.tensors.size());
    for (const TensorPlacement& row : plan.tensors) {
        // A tied head with a row of its own is a copy of the table.
        const bool is_copy = row.tensor == kHeadName && !impl.config.has_own_head;
        const std::string origin_name = is_copy ? std::string(kTokenTableName) : row.tensor;
        const auto expected = known.find(origin_name);
        if (expected == known.end() || !planned.insert(row.tensor).second) {
            return planError(
                "The plan lists " + row.tensor +
                (expected == known.end() ? ", which this model does not have." : " twice."));
        }
        const auto file_name = impl.file_names.find(origin_name);
        if (file_name == impl.file_names.end()) {
            if (!expected->second->is_required) {
                continue; // clip scalars: absent means no clip
            }
            if (row.tensor == kHeadName) {
                return missingHead();
            }
            return missingTensor(row.tensor, impl.config, impl.expected, *impl.source);
        }
        ENGINE_TRY(checkPlace(impl, row));
        StoreEntry entry;
        entry.name = row.tensor;
        entry.place = row;
        ENGINE_ASSIGN(entry.origin, openOrigin(*impl.source, file_name->second, row.tensor,
                                               expected->second->shape));
        entry.layout = entry.origin.layoutFor(row.format, row.block_size);
        entry.is_gather_only = isGatherOnly(plan, row.part);
        if (entry.layout.parts().total() != row.bytes) {
            return planError(row.tensor + " needs " + std::to_string(entry.layout.parts().total()) +
                             " bytes as " + std::string(formatName(entry.layout.format)) +
                             ", the plan says " + std::to_string(row.bytes) + ".");
        }
        for (const std::string& member : entry.origin.packed.state.unknown_members) {
            impl.report.notes.emplace_back(load_note::StateMember{row.tensor, member});
        }
        if (entry.origin.kind == StoredAs::Packed4Bit && !entry.origin.isSameAs(entry.layout)) {
            impl.report.notes.emplace_back(load_note::Expanded{
                row.tensor, std::string(formatName(entry.origin.storedFormat())),
                std::string(formatName(entry.layout.format))});
        }
        entries.push_back(std::move(entry));
    }
    for (const ExpectedTensor& tensor : impl.expected) {
        if (tensor.is_required && !tensor.is_unused && !planned.contains(tensor.name)) {
            return planError("The plan does not say where " + tensor.name + " goes.");
        }
    }
    return entries;
}

} // namespace engine
