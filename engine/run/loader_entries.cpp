// SPDX-License-Identifier: Apache-2.0
// Checks before anything is allocated; see loader_entries.h.

#include "engine/run/loader_entries.h"

#include "engine/gemma4/stored_names.h"

#include <algorithm>
#include <unordered_set>

namespace engine {

namespace {

constexpr const char* kTable = "model.language_model.embed_tokens.weight";
constexpr const char* kHead = "lm_head.weight";

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

} // namespace

void indexSource(TensorStore::Impl& impl) {
    impl.expected = listTensors(impl.config);
    const bool is_text_only = !impl.config.vision && !impl.config.audio;
    std::unordered_map<std::string, const ExpectedTensor*> known;
    for (const ExpectedTensor& tensor : impl.expected) {
        known.emplace(tensor.name, &tensor);
    }
    for (const TensorInfo& info : impl.source->tensors()) {
        if (isQuantHelper(info.name)) {
            continue;
        }
        const std::string canonical = canonicalTensorName(info.name, is_text_only);
        const auto found = known.find(canonical);
        if (found == known.end()) {
            if (canonical == kHead) {
                impl.report.inert.push_back(info.name +
                                            " (the head is tied to the token embedding)");
            } else {
                impl.report.surplus.push_back(info.name);
            }
            continue;
        }
        if (found->second->is_unused) {
            impl.report.inert.push_back(info.name +
                                        " (this layer reads another layer's keys and values)");
        }
        impl.file_names.emplace(canonical, info.name);
    }
    for (const ExpectedTensor& tensor : impl.expected) {
        if (!tensor.is_required && !tensor.is_unused && !impl.file_names.contains(tensor.name)) {
            impl.report.missing.push_back(tensor.name);
        }
    }
    for (const std::string& warning : impl.source->warnings()) {
        impl.report.notes.push_back(warning);
    }
}

Result<std::vector<StoreEntry>> makeEntries(TensorStore::Impl& impl, const PlacementPlan& plan) {
    if (!plan.errors.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     "the plan has errors: " + plan.errors.front().code + ": " +
                         plan.errors.front().message,
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
        const std::string& origin_name = row.tensor == kHead ? kTable : row.tensor;
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
            return missingTensor(row.tensor, impl.config, impl.expected, *impl.source);
        }
        ENGINE_TRY(checkPlace(impl, row));
        StoreEntry entry;
        entry.name = row.tensor;
        entry.place = row;
        ENGINE_ASSIGN(entry.origin, openOrigin(*impl.source, file_name->second, row.tensor,
                                               expected->second->shape));
        entry.layout = entry.origin.layoutFor(row.format, row.block_size);
        entry.is_gather_only = isGatherOnly(plan, row.tensor);
        if (entry.layout.parts().total() != row.bytes) {
            return planError(row.tensor + " needs " + std::to_string(entry.layout.parts().total()) +
                             " bytes as " + std::string(formatName(entry.layout.format)) +
                             ", the plan says " + std::to_string(row.bytes) + ".");
        }
        for (const std::string& member : entry.origin.packed.state.unknown_members) {
            impl.report.notes.push_back(row.tensor +
                                        ": unknown member of its quantization state: " + member);
        }
        if (entry.origin.kind == StoredAs::Packed4Bit && !entry.origin.isSameAs(entry.layout)) {
            impl.report.notes.push_back(
                row.tensor + ": stored as " + std::string(formatName(entry.origin.storedFormat())) +
                ", expanded to " + std::string(formatName(entry.layout.format)));
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
