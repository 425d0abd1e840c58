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

Error planError(const Sentence& what) {
    return {ErrorCode::InvalidRequest, said("%1 Make the plan again for this model.", what), {}};
}

Result<void> checkPlace(const TensorStore::Impl& impl, const TensorPlacement& row) {
    if (row.compute.kind == DeviceId::Kind::Disk) {
        return planError(
            said("%1 is planned to compute on disk, which cannot compute.", row.tensor));
    }
    const bool is_split = row.store != row.compute;
    if (is_split && row.store.isGpu()) {
        return planError(said("%1 is planned to be stored on %2 and computed on %3; only cpu and "
                              "disk store for others.",
                              row.tensor, row.store.toString(), row.compute.toString()));
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
    for (Sentence& warning : impl.source->warnings()) {
        impl.report.notes.push_back(std::move(warning));
    }
}

Result<std::vector<StoreEntry>> makeEntries(TensorStore::Impl& impl, const PlacementPlan& plan) {
    if (!plan.errors.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     said("the plan has errors: %1: %2", plan.errors.front().code,
                          inEnglish(plan.errors.front())),
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
                expected == known.end()
                    ? said("The plan lists %1, which this model does not have.", row.tensor)
                    : said("The plan lists %1 twice.", row.tensor));
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
            return planError(said("%1 needs %2 bytes as %3, the plan says %4.", row.tensor,
                                  entry.layout.parts().total(), formatName(entry.layout.format),
                                  row.bytes));
        }
        for (const std::string& member : entry.origin.packed.state.unknown_members) {
            impl.report.notes.emplace_back(
                said("%1: unknown member of its quantization state: %2", row.tensor, member));
        }
        const bool is_packed =
            entry.origin.kind == StoredAs::Packed4Bit || entry.origin.kind == StoredAs::W4A16;
        if (is_packed && !entry.origin.isSameAs(entry.layout)) {
            impl.report.notes.emplace_back(said("%1: stored as %2, expanded to %3", row.tensor,
                                                formatName(entry.origin.storedFormat()),
                                                formatName(entry.layout.format)));
        }
        entries.push_back(std::move(entry));
    }
    for (const ExpectedTensor& tensor : impl.expected) {
        if (tensor.is_required && !tensor.is_unused && !planned.contains(tensor.name)) {
            return planError(said("The plan does not say where %1 goes.", tensor.name));
        }
    }
    return entries;
}

} // namespace engine
