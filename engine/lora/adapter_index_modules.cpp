// SPDX-License-Identifier: Apache-2.0
// Across the keys of an adapter file: pairs with their shapes, replaced rows, modules that the
// config targets and the file has nothing for.
#include "engine/families/gemma4/names.h"
#include "engine/lora/adapter_indexer.h"

#include <algorithm>
#include <cmath>

namespace engine {

Result<void> AdapterIndexer::findExpertOrder() {
    std::vector<ExpertPair> pairs;
    bool is_square = true;
    for (const auto& [name, p] : pending_) {
        if (!p.reports.empty() && p.base.kind() == TensorKind::Experts && p.a.present &&
            p.b.present) {
            ENGINE_ASSIGN(const LowRankUpdate u, sized(p));
            pairs.push_back({p.a.shape, p.b.shape, u.experts, u.out, u.in, u.rank});
            is_square = is_square && u.in == u.out;
        }
    }
    if (pairs.empty()) {
        return {};
    }
    const std::string& version = index_.config.peft_version;
    expert_order_ = expertOrderOf(pairs, version);
    const bool is_turned = expert_order_ == ExpertOrder::Swapped;
    if (is_turned || (!is_square && expertOrderOfVersion(version) == ExpertOrder::Swapped)) {
        const Sentence written = version.empty() ? Sentence(phrase("without peft_version"))
                                                 : said("by PEFT %1", version);
        index_.coverage.notes.push_back(
            is_turned ? said("the experts' factors stand transposed, as PEFT before 0.19.1 stored "
                             "them (the file was written %1); they are turned round",
                             written)
                      : said("the experts' factors have the shapes of PEFT 0.19.1 and later "
                             "although the file was written %1; the shapes count",
                             written));
    }
    return {};
}

Result<void> AdapterIndexer::assemble() {
    ENGINE_TRY(findExpertOrder());
    for (const ArchitectureTensor& base : architecture_.attachable()) {
        const auto it = pending_.find(base.name());
        if (it != pending_.end() && !it->second.reports.empty()) {
            ENGINE_TRY(assembleOne(it->second));
        }
    }
    return {};
}

void AdapterIndexer::failAll(const Pending& pending, const Sentence& reason) {
    for (const size_t i : pending.reports) {
        fail(i, reason);
    }
}

Result<void> AdapterIndexer::assembleOne(Pending& p) {
    if (p.is_broken) {
        for (const size_t i : p.reports) {
            ignore(i, {said("another tensor of its module is refused")});
        }
        return {};
    }
    const bool is_embedding = p.base.kind() == TensorKind::Embedding;
    const bool is_gguf = index_.config.is_told_by_file;
    const char* half_a = is_gguf ? "lora_a" : is_embedding ? "lora_embedding_A" : "lora_A.weight";
    const char* half_b = is_gguf ? "lora_b" : is_embedding ? "lora_embedding_B" : "lora_B.weight";
    if (!p.a.present || !p.b.present) {
        failAll(p, said("%1 of the module is missing", p.a.present ? half_b : half_a));
        return {};
    }
    if (is_embedding && index_.config.has_lora_bias) {
        failAll(p, said("lora_bias is true, which PEFT does not have for embeddings"));
        return {};
    }
    const bool is_expert = p.base.kind() == TensorKind::Experts;
    if (index_.config.has_lora_bias && !p.bias.present) {
        failAll(p, is_expert ? said("lora_bias is true, which PEFT does not have for experts")
                             : said("lora_B.bias of the module is missing (lora_bias is true)"));
        return {};
    }
    if (index_.config.use_dora && !p.magnitude.present) {
        failAll(p, is_expert
                       ? said("use_dora is true, which PEFT does not have for experts")
                       : said("lora_magnitude_vector of the module is missing (use_dora is true)"));
        return {};
    }
    ENGINE_ASSIGN(LowRankUpdate update, sized(p));
    if (!std::isfinite(update.scaling) || !checkShapes(p, update)) {
        return {};
    }
    update.a = update.is_stored_swapped ? p.b : p.a;
    update.b = update.is_stored_swapped ? p.a : p.b;
    update.b_bias = p.bias;
    update.magnitude = p.magnitude;
    index_.updates.push_back(std::move(update));
    return {};
}

Result<LowRankUpdate> AdapterIndexer::sized(const Pending& p) const {
    const std::vector<int64_t>& shape = p.base.shape();
    LowRankUpdate update;
    update.tensor = p.base.name();
    update.kind = p.base.kind();
    update.tower = p.base.tensor->tower;
    update.layer = p.base.tensor->layer;
    ENGINE_ASSIGN(update.alpha, matcher_.alphaOf(p.match_name));
    switch (update.kind) {
    case TensorKind::Embedding:
        update.in = shape[0];
        update.out = shape[1];
        break;
    case TensorKind::Experts:
        update.experts = shape[0];
        update.out = shape[1];
        update.in = shape[2];
        update.is_stored_swapped = expert_order_ == ExpertOrder::Swapped;
        break;
    default:
        update.out = shape[0];
        update.in = shape[1];
        break;
    }
    ENGINE_ASSIGN(update.rank, matcher_.rankOf(p.match_name));
    if (update.rank == 0) { // rank_pattern cannot be read, or there is none
        const int64_t rows = p.a.shape.empty() ? 0 : p.a.shape.front();
        update.rank = std::clamp<int64_t>(rows / std::max<int64_t>(update.experts, 1), 1, kMaxRank);
    }
    if (index_.config.is_told_by_file && update.alpha == 0.0) {
        update.alpha = static_cast<double>(update.rank);
    }
    update.scaling = matcher_.scalingOf(update.alpha, update.rank);
    return update;
}

bool AdapterIndexer::checkShapes(const Pending& p, const LowRankUpdate& u) {
    const int64_t copies = std::max<int64_t>(u.experts, 1);
    const std::string shape = shapeText(p.base.shape());
    const Sentence why =
        u.experts > 0 ? said("rank %1 of %2 experts, %3 is %4", u.rank, u.experts, u.tensor, shape)
                      : said("rank %1, %2 is %3", u.rank, u.tensor, shape);
    bool is_fine = true;
    const auto check = [&](const AdapterTensor& tensor, const std::vector<int64_t>& expected) {
        if (tensor.present) {
            is_fine =
                checkShape(static_cast<size_t>(tensor.source_index), expected, why) && is_fine;
        }
    };
    check(p.a, {u.rank * copies, u.is_stored_swapped ? u.out : u.in});
    check(p.b, {u.is_stored_swapped ? u.in : u.out, u.rank * copies});
    check(p.bias, {u.out});
    check(p.magnitude, {u.out});
    return is_fine;
}

const TrainableTokens* AdapterIndexer::tokensOf(std::string_view module_end) const {
    for (const TrainableTokens& tokens : index_.config.trainable_tokens) {
        if (module_end.ends_with(tokens.module)) {
            return &tokens;
        }
    }
    return nullptr;
}

void AdapterIndexer::checkRows() {
    const TrainableTokens* head = tokensOf(partName({PartRole::Head}));
    for (size_t k = 0; k < index_.rows.size(); ++k) {
        RowReplacement& rows = index_.rows[k];
        const bool is_embedding = rows.tensor == kTokenTableName;
        rows.replaces_head = is_embedding && architecture_.model().tie_word_embeddings &&
                             (head == nullptr || head->token_ids == rows.ids);
        const bool is_updated =
            std::any_of(index_.updates.begin(), index_.updates.end(),
                        [&](const LowRankUpdate& u) { return u.tensor == rows.tensor; });
        const bool is_replaced =
            std::any_of(index_.replacements.begin(), index_.replacements.end(),
                        [&](const TensorReplacement& r) { return r.tensor == rows.tensor; });
        if (is_updated || is_replaced) {
            fail(row_reports_[k], is_updated ? said("replaced rows together with a low-rank update "
                                                    "of the same embedding are not supported")
                                             : said("replaced rows together with a replaced table "
                                                    "of the same embedding are not supported"));
        }
    }
    for (const TrainableTokens& tokens : index_.config.trainable_tokens) {
        const bool is_there =
            std::any_of(index_.rows.begin(), index_.rows.end(), [&](const RowReplacement& rows) {
                return moduleOfTensor(rows.tensor).ends_with(tokens.module);
            });
        const bool is_tied_head =
            &tokens == head && std::any_of(index_.rows.begin(), index_.rows.end(),
                                           [](const auto& rows) { return rows.replaces_head; });
        const bool is_reported =
            std::any_of(reports_.begin(), reports_.end(),
                        [](const KeyReport& row) { return row.key_class == KeyClass::Error; });
        if (!is_there && !is_tied_head && !is_reported) {
            refuse(ErrorCode::InvalidFile, said("%1: trainable_token_indices names %2, but its "
                                                "trainable_tokens_delta is missing",
                                                fileName(), tokens.module));
        }
    }
    if (!ties_embedding_) {
        return;
    }
    const bool has_head = std::any_of(index_.replacements.begin(), index_.replacements.end(),
                                      [](const auto& r) { return r.tensor == kHeadTensor; });
    for (TensorReplacement& r : index_.replacements) {
        if (r.tensor == kTokenTableName && !has_head) {
            r.replaces_head = true;
        }
    }
}

Result<void> AdapterIndexer::findMissing() {
    const bool has_outer = std::any_of(keys_.begin(), keys_.end(), [&](const auto& key) {
        return key && keyTowerOf(key->canonical_module) != KeyTower::Language &&
               architecture_.find(key->canonical_module + ".linear.weight");
    });
    for (const ArchitectureTensor& base : architecture_.attachable()) {
        if (base.kind() == TensorKind::Experts) {
            findMissingExperts(base);
            continue;
        }
        const std::string canonical = moduleOfTensor(base.name());
        const auto spelled = spellModulePath(canonical, family_);
        const bool is_there = pending_.contains(base.name());
        if (!spelled || is_there) {
            continue;
        }
        const bool is_linear = base.kind() == TensorKind::Linear && !base.is_head;
        ENGINE_ASSIGN(bool is_targeted, isTargeted(*spelled, canonical, is_linear));
        if (!is_targeted && has_outer && spelled->ends_with(kLinearSuffix)) {
            const std::string outer = spelled->substr(0, spelled->size() - kLinearSuffix.size());
            ENGINE_ASSIGN(is_targeted, isTargeted(outer, canonical, is_linear));
        }
        if (is_targeted) {
            index_.coverage.targeted_but_missing.push_back(canonical);
        }
    }
    if (!index_.config.is_zero_initialised && !index_.coverage.targeted_but_missing.empty()) {
        const auto& missing = index_.coverage.targeted_but_missing;
        refuse(ErrorCode::InvalidFile,
               said("%1: %2 modules that adapter_config.json targets have no tensors (first: %3), "
                    "and with init_lora_weights false they would be random noise",
                    fileName(), missing.size(), missing.front()),
               missing.front());
    }
    return {};
}

void AdapterIndexer::findMissingExperts(const ArchitectureTensor& base) {
    const auto spelled = spellModulePath(base.name(), family_);
    if (!spelled || pending_.contains(base.name())) {
        return;
    }
    for (const std::string& entry : index_.config.target_parameters) {
        if (*spelled == entry || spelled->ends_with("." + entry)) {
            index_.coverage.targeted_but_missing.push_back(base.name());
            return;
        }
    }
}

} // namespace engine
