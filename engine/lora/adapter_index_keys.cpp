// SPDX-License-Identifier: Apache-2.0
// One key of an adapter file: its tensor, whether the config targets it, where it goes.
#include "engine/families/gemma4/names.h"
#include "engine/lora/adapter_indexer.h"
#include "engine/lora/saved_table.h"
#include "engine/lora/tensor_values.h"

namespace engine {

namespace {

AdapterTensor tensorOf(const TensorInfo& info, int index) {
    return {true, info.name, info.type, info.shape, info.size_bytes, index};
}

} // namespace

bool AdapterIndexer::checkType(size_t i) {
    const TensorInfo& info = index_.source->tensors()[i];
    if (!isFloatType(info.type)) {
        fail(i, said("element type %1, expected F32, F16 or BF16", tensorTypeName(info.type)));
        return false;
    }
    return true;
}

bool AdapterIndexer::checkShape(size_t i,
                                const std::vector<int64_t>& expected,
                                const Sentence& why) {
    const TensorInfo& info = index_.source->tensors()[i];
    if (info.shape != expected) {
        other_shapes_.insert(i);
        fail(i,
             said("shape %1, expected %2 (%3)", shapeText(info.shape), shapeText(expected), why));
        return false;
    }
    return true;
}

Result<AdapterIndexer::Match> AdapterIndexer::match(const std::string& spelled,
                                                    const ArchitectureTensor& base,
                                                    const std::string& canonical) const {
    const bool is_linear = base.kind() == TensorKind::Linear && !base.is_head;
    ENGINE_ASSIGN(const TargetState state, matcher_.classify(spelled, canonical, is_linear));
    if (state == TargetState::NotTargeted || state == TargetState::OtherLayer) {
        std::string other;
        if (base.name() == canonical + ".linear.weight") {
            other = spelled + std::string(kLinearSuffix);
        } else if (spelled.ends_with(kLinearSuffix)) {
            other = spelled.substr(0, spelled.size() - kLinearSuffix.size());
        }
        if (!other.empty()) {
            ENGINE_ASSIGN(const bool is_targeted, isTargeted(other, canonical, is_linear));
            if (is_targeted) {
                return Match{TargetState::Targeted, other};
            }
        }
    }
    if (base.is_head && state != TargetState::Targeted && index_.config.ensure_weight_tying &&
        architecture_.model().tie_word_embeddings) {
        ENGINE_ASSIGN(const bool is_targeted, isEmbeddingTargeted());
        if (is_targeted) {
            return Match{TargetState::Targeted, spelled};
        }
    }
    return Match{state, spelled};
}

Result<bool> AdapterIndexer::isTargeted(std::string_view module,
                                        std::string_view canonical,
                                        bool is_linear) const {
    ENGINE_ASSIGN(const TargetState state, matcher_.classify(module, canonical, is_linear));
    return state == TargetState::Targeted;
}

Result<bool> AdapterIndexer::isEmbeddingTargeted() const {
    const std::string canonical = partName({PartRole::Embedding});
    const std::string spelled = spellModulePath(canonical, family_).value_or(canonical);
    return isTargeted(spelled, canonical, false);
}

std::string AdapterIndexer::expertParameter(const AdapterKey& key) const {
    std::vector<std::string> targeted;
    for (const std::string_view parameter : expertParameters()) {
        const std::string full = key.spelled_module + "." + std::string(parameter);
        for (const std::string& entry : index_.config.target_parameters) {
            if (full == entry || full.ends_with("." + entry)) {
                targeted.emplace_back(parameter);
                break;
            }
        }
    }
    const auto depth = static_cast<size_t>(key.base_layer_depth);
    return depth < targeted.size() ? targeted[targeted.size() - 1 - depth] : std::string{};
}

Result<void> AdapterIndexer::lowRank(size_t i, const AdapterKey& key) {
    std::optional<ArchitectureTensor> base;
    Match found;
    if (architecture_.find(key.canonical_module + "." + std::string(expertParameters()[0]))) {
        const std::string parameter = expertParameter(key);
        if (parameter.empty()) {
            ignore(i, {said("target_parameters does not name an expert parameter for this key")});
            return {};
        }
        base = architecture_.find(key.canonical_module + "." + parameter);
        found = {TargetState::Targeted, key.spelled_module + "." + parameter};
    } else {
        base = architecture_.findWeight(key.canonical_module);
        if (!base) {
            ignore(i, architecture_.absentReason(key.canonical_module));
            foreign_ += 1;
            return {};
        }
        ENGINE_ASSIGN(found, match(key.spelled_module, *base, key.canonical_module));
    }
    reports_[i].tensor = base->name();
    switch (found.state) {
    case TargetState::Targeted:
        break;
    case TargetState::Excluded:
        ignore(i, {said("exclude_modules leaves the module out")});
        return {};
    case TargetState::SavedWhole:
        ignore(i, {said("the module is in modules_to_save, which replaces it whole")});
        return {};
    case TargetState::OtherLayer:
        ignore(i, {said("layers_to_transform leaves the layer out")});
        return {};
    case TargetState::NotTargeted:
        ignore(i, {said("target_modules does not target the module")});
        return {};
    }
    if (base->kind() == TensorKind::Vector || base->kind() == TensorKind::ClipScalar) {
        fail(i, said("a low-rank update of %1, which is neither a linear layer nor an embedding",
                     base->name()));
        return {};
    }
    attach(i, key, *base, found.name);
    return {};
}

void AdapterIndexer::attach(size_t i,
                            const AdapterKey& key,
                            const ArchitectureTensor& base,
                            const std::string& match_name) {
    Pending& pending = pending_[base.name()];
    attachTo(pending, i, key, base, match_name);
    pending.is_broken = pending.is_broken || reports_[i].key_class == KeyClass::Error;
}

void AdapterIndexer::attachTo(Pending& pending,
                              size_t i,
                              const AdapterKey& key,
                              const ArchitectureTensor& base,
                              const std::string& match_name) {
    if (pending.reports.empty()) {
        pending.base = base;
        pending.match_name = match_name;
    }
    const bool is_embedding = base.kind() == TensorKind::Embedding;
    const bool is_expert = base.kind() == TensorKind::Experts;
    AdapterTensor* slot = nullptr;
    switch (key.leaf) {
    case AdapterLeaf::LoraA:
    case AdapterLeaf::LoraB:
        if (is_embedding) {
            fail(i, said("an embedding takes lora_embedding_A and lora_embedding_B"));
            return;
        }
        slot = key.leaf == AdapterLeaf::LoraA ? &pending.a : &pending.b;
        break;
    case AdapterLeaf::EmbeddingA:
    case AdapterLeaf::EmbeddingB:
        if (!is_embedding) {
            fail(i, said("a linear layer takes lora_A.weight and lora_B.weight"));
            return;
        }
        slot = key.leaf == AdapterLeaf::EmbeddingA ? &pending.a : &pending.b;
        break;
    case AdapterLeaf::LoraBBias:
        if (is_embedding || is_expert) {
            fail(i, said("a bias of lora_B, which PEFT does not have for this kind of module"));
            return;
        }
        if (!index_.config.has_lora_bias) {
            turnedOff(i, "lora_bias");
            return;
        }
        slot = &pending.bias;
        break;
    default:
        if (is_expert) {
            fail(i, said("DoRA, which PEFT does not have for expert parameters"));
            return;
        }
        if (!index_.config.use_dora) {
            turnedOff(i, "use_dora");
            return;
        }
        slot = &pending.magnitude;
        break;
    }
    if (slot->present) {
        fail(i, said("a second key for the same tensor, after %1", slot->key));
        return;
    }
    if (!checkType(i)) {
        return;
    }
    *slot = tensorOf(index_.source->tensors()[i], static_cast<int>(i));
    reports_[i].key_class = KeyClass::Active;
    pending.reports.push_back(i);
}

void AdapterIndexer::tokenRows(size_t i, const AdapterKey& key) {
    const auto base = architecture_.find(key.canonical_module + ".weight");
    if (!base || (base->kind() != TensorKind::Embedding && !base->is_head)) {
        ignore(i, architecture_.absentReason(key.canonical_module));
        foreign_ += base ? 0 : 1;
        return;
    }
    reports_[i].tensor = base->name();
    const TrainableTokens* entry = nullptr;
    for (const TrainableTokens& tokens : index_.config.trainable_tokens) {
        if (key.spelled_module.ends_with(tokens.module)) {
            entry = &tokens;
            break;
        }
    }
    if (entry == nullptr) {
        ignore(i, {said("trainable_token_indices does not name the module")});
        return;
    }
    const std::vector<int64_t>& shape = base->shape();
    for (const int64_t id : entry->token_ids) {
        if (id >= shape[0]) {
            fail(i, said("replaces token %1, the vocabulary has %2", id, shape[0]));
            return;
        }
    }
    const auto count = static_cast<int64_t>(entry->token_ids.size());
    if (!checkType(i) ||
        !checkShape(i, {count, shape[1]},
                    said("%1 ids in trainable_token_indices, rows of %2", count, base->name()))) {
        return;
    }
    for (const RowReplacement& other : index_.rows) {
        if (other.tensor == base->name()) {
            fail(i, said("a second key for the same tensor, after %1", other.rows.key));
            return;
        }
    }
    RowReplacement rows;
    rows.tensor = base->name();
    rows.ids = entry->token_ids;
    rows.dim = shape[1];
    rows.rows = tensorOf(index_.source->tensors()[i], static_cast<int>(i));
    index_.rows.push_back(std::move(rows));
    row_reports_.push_back(i);
}

Result<void> AdapterIndexer::parameter(size_t i, const AdapterKey& key) {
    const std::string name = key.canonical_module + "." + key.parameter;
    const auto base = architecture_.find(name);
    if (!base) {
        const auto module = architecture_.findWeight(key.canonical_module);
        ignore(i, module ? KeyReason{said("the module has no parameter %1", key.parameter)}
                         : architecture_.absentReason(key.canonical_module));
        foreign_ += module ? 0 : 1;
        return {};
    }
    reports_[i].tensor = base->name();
    if (!base->is_head && base->tensor->is_unused) {
        report(i, KeyClass::Inert, {said("the model does not use %1", base->name())});
        return {};
    }
    const bool is_linear = base->kind() == TensorKind::Linear && !base->is_head;
    ENGINE_ASSIGN(const TargetState state,
                  matcher_.classify(key.spelled_module, key.canonical_module, is_linear));
    const bool is_base_layer = key.leaf == AdapterLeaf::BaseLayerParameter;
    const bool is_wrapped = state == TargetState::Targeted;
    if (!is_base_layer && is_wrapped && key.parameter == "weight") {
        ignore(i, {said("the module has a low-rank update; its own weight would be called "
                        "base_layer.weight")});
        return {};
    }
    const bool is_table = base->kind() == TensorKind::Embedding || base->is_head;
    const std::vector<int64_t>& found = index_.source->tensors()[i].shape;
    if (is_table && found.size() == 2 && found[0] != base->shape()[0]) {
        fail(i, said("holds %1 rows, the vocabulary of the model has %2: the vocabulary was "
                     "resized while training, which needs the resized base",
                     found[0], base->shape()[0]));
        return {};
    }
    if (!checkType(i) || !checkShape(i, base->shape(), said("%1 of the model", base->name()))) {
        return {};
    }
    const AdapterTensor value = tensorOf(index_.source->tensors()[i], static_cast<int>(i));
    if (is_base_layer && is_table) {
        return savedTable(i, *base, value);
    }
    if (!replace(i, *base, value)) {
        return {};
    }
    if (!is_base_layer && state != TargetState::SavedWhole && key.parameter != "bias") {
        index_.coverage.notes.push_back(said(
            "%1 replaces a base tensor although modules_to_save does not name it", info(i).name));
    }
    if (base->part().role == PartRole::Embedding && index_.config.ensure_weight_tying &&
        architecture_.model().tie_word_embeddings) {
        ties_embedding_ = true;
    }
    return {};
}

/// Clip limits are read by the host as well.
static VectorPlace placeOf(const ExpectedTensor* tensor) {
    return tensor == nullptr                                        ? VectorPlace::Device
           : isTableVector(*tensor)                                 ? VectorPlace::Tables
           : isHostVector(*tensor) || tensor->clip != ClipEnd::None ? VectorPlace::Host
                                                                    : VectorPlace::Device;
}

bool AdapterIndexer::replace(size_t i, const ArchitectureTensor& base, const AdapterTensor& value) {
    for (const TensorReplacement& other : index_.replacements) {
        if (other.tensor == base.name()) {
            fail(i, said("a second key for the same tensor, after %1", other.value.key));
            return false;
        }
    }
    index_.replacements.push_back(
        {base.name(), base.kind(), base.shape(), value, placeOf(base.tensor)});
    replacement_reports_.push_back(i);
    return true;
}

Result<void>
AdapterIndexer::savedTable(size_t i, const ArchitectureTensor& base, const AdapterTensor& value) {
    const ModelConfig& model = architecture_.model();
    if (options_.base != nullptr && !options_.base->isHeaderOnly()) {
        ENGINE_ASSIGN(const bool is_equal, equalsBaseTable(*index_.source, info(i), *options_.base,
                                                           model, base.name(), options_.stop));
        if (is_equal) {
            ignore(i, {said("equals the base's own table"), KeyReason::Why::SameAsBase});
            return {};
        }
    }
    if (!replace(i, base, value)) {
        return {};
    }
    if (!base.is_head && model.tie_word_embeddings && !model.has_own_head) {
        index_.replacements.back().replaces_head = true; // one storage in PEFT
    }
    return {};
}

} // namespace engine
