// SPDX-License-Identifier: Apache-2.0
// Sorting the keys of an adapter file. Order of work: names (all keys, one naming family), then
// each key on its own, then pairs, then what the config targets and the file lacks.
#include "engine/lora/adapter_index.h"

#include "engine/lora/architecture.h"
#include "engine/lora/key_spelling.h"
#include "engine/lora/saved_table.h"
#include "engine/lora/target_matching.h"
#include "engine/lora/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace engine {

namespace {

constexpr const char* kWeightsFile = "adapter_model.safetensors";
constexpr std::string_view kEmbedTokens = "model.language_model.embed_tokens";
constexpr std::string_view kLinearSuffix = ".linear";

AdapterTensor tensorOf(const TensorInfo& info, int index) {
    return {true, info.name, info.type, info.shape, info.size_bytes, index};
}

/// A low-rank update being put together, with the reports of its keys.
struct Pending {
    ArchitectureTensor base;
    std::string match_name; ///< The name whose patterns give rank and alpha.
    AdapterTensor a, b, bias, magnitude;
    std::vector<size_t> reports;
    bool is_broken = false; ///< One of its keys is an error already.
};

class Indexer {
public:
    Indexer(AdapterIndex& index,
            const Architecture& architecture,
            const TargetMatcher& matcher,
            const AdapterOptions& options)
        : index_(index), architecture_(architecture), matcher_(matcher), options_(options) {}

    Result<void> run() {
        const auto& tensors = index_.source->tensors();
        reports_.reserve(tensors.size());
        for (const TensorInfo& info : tensors) {
            keys_.push_back(parseAdapterKey(info.name));
        }
        findFamily();
        for (size_t i = 0; i < tensors.size(); ++i) {
            if (options_.stop.stop_requested()) {
                return Error{ErrorCode::Cancelled, "loading the adapter was cancelled", {}};
            }
            ENGINE_TRY(classify(i));
        }
        assemble();
        checkRows();
        findMissing();
        finish();
        return {};
    }

private:
    // ---- reports ------------------------------------------------------------------------------

    KeyReport& report(size_t i, KeyClass key_class, std::string reason) {
        KeyReport& row = reports_[i];
        row.key_class = key_class;
        row.reason = std::move(reason);
        return row;
    }
    void ignore(size_t i, std::string reason) { report(i, KeyClass::Ignored, std::move(reason)); }
    void fail(size_t i, std::string reason) { report(i, KeyClass::Error, std::move(reason)); }
    void refuse(ErrorCode code, std::string message, std::string_view tensor = {}) {
        if (!index_.refusal) {
            index_.refusal = Error{code, std::move(message), {{"file", kWeightsFile}}};
            if (!tensor.empty()) {
                index_.refusal->details.emplace_back("tensor", std::string(tensor));
            }
        }
    }

    // ---- names --------------------------------------------------------------------------------

    /// The naming family of the file. Two families in one file are refused: patterns were written
    /// for one of them.
    void findFamily() {
        const std::string* first_key = nullptr;
        const std::string* tower_key = nullptr;
        for (size_t i = 0; i < keys_.size(); ++i) {
            if (!keys_[i]) {
                continue;
            }
            const KeyLayout layout = keys_[i]->layout;
            const std::string& name = index_.source->tensors()[i].name;
            if (layout == KeyLayout::BareTower) {
                tower_key = tower_key == nullptr ? &name : tower_key;
                continue;
            }
            if (layout == KeyLayout::Shared || layout == KeyLayout::Unknown) {
                continue;
            }
            if (first_key == nullptr) {
                first_key = &name;
                family_ = layout;
            } else if (layout != family_) {
                refuseMixed(*first_key, name, keyLayoutName(layout));
                return;
            }
        }
        if (tower_key == nullptr) {
            return;
        }
        if (first_key == nullptr) {
            family_ = KeyLayout::OldWrapper;
        } else if (family_ != KeyLayout::OldWrapper && family_ != KeyLayout::InnerModel) {
            refuseMixed(*first_key, *tower_key, keyLayoutName(KeyLayout::BareTower));
        }
    }

    void refuseMixed(const std::string& first, const std::string& second, std::string_view other) {
        refuse(ErrorCode::InvalidFile,
               std::string(kWeightsFile) + ": mixes two spellings of module paths, " +
                   std::string(keyLayoutName(family_)) + " (" + first + ") and " +
                   std::string(other) + " (" + second + "); save the adapter from one model class",
               second);
    }

    // ---- one key ------------------------------------------------------------------------------

    Result<void> classify(size_t i) {
        const TensorInfo& info = index_.source->tensors()[i];
        KeyReport row;
        row.key = info.name;
        reports_.push_back(std::move(row));
        if (!keys_[i]) {
            ignore(i, "the key names no module");
            return {};
        }
        const AdapterKey& key = *keys_[i];
        reports_[i].tower = keyTowerOf(key.canonical_module);
        if (const std::string inert = architecture_.inertReason(key.canonical_module);
            !inert.empty()) {
            report(i, KeyClass::Inert, inert);
            return {};
        }
        switch (key.leaf) {
        case AdapterLeaf::TrainableTokens:
            tokenRows(i, key);
            return {};
        case AdapterLeaf::BaseLayerParameter:
        case AdapterLeaf::Parameter:
            return parameter(i, key);
        default:
            lowRank(i, key);
            return {};
        }
    }

    /// Fails keys with values that cannot be computed with.
    bool checkType(size_t i) {
        const TensorInfo& info = index_.source->tensors()[i];
        if (!isFloatType(info.type)) {
            fail(i, "element type " + std::string(tensorTypeName(info.type)) +
                        ", expected F32, F16 or BF16");
            return false;
        }
        return true;
    }

    bool checkShape(size_t i, const std::vector<int64_t>& expected, const std::string& why) {
        const TensorInfo& info = index_.source->tensors()[i];
        if (info.shape != expected) {
            fail(i, "shape " + shapeText(info.shape) + ", expected " + shapeText(expected) + " (" +
                        why + ")");
            return false;
        }
        return true;
    }

    /// The name under which patterns see the module, when they target it.
    struct Match {
        TargetState state = TargetState::NotTargeted;
        std::string name;
    };

    /// A clipped linear has two names, with and without `.linear`; files and configs use either.
    [[nodiscard]] Match match(const std::string& spelled,
                              const ArchitectureTensor& base,
                              const std::string& canonical) const {
        const bool is_linear = base.kind() == TensorKind::Linear && !base.is_head;
        Match result{matcher_.classify(spelled, canonical, is_linear), spelled};
        if (result.state == TargetState::NotTargeted || result.state == TargetState::OtherLayer) {
            std::string other;
            if (base.name() == canonical + ".linear.weight") {
                other = spelled + std::string(kLinearSuffix);
            } else if (spelled.ends_with(kLinearSuffix)) {
                other = spelled.substr(0, spelled.size() - kLinearSuffix.size());
            }
            if (!other.empty() &&
                matcher_.classify(other, canonical, is_linear) == TargetState::Targeted) {
                return {TargetState::Targeted, other};
            }
        }
        if (base.is_head && result.state != TargetState::Targeted &&
            index_.config.ensure_weight_tying && isEmbeddingTargeted()) {
            return {TargetState::Targeted, spelled};
        }
        return result;
    }

    [[nodiscard]] bool isEmbeddingTargeted() const {
        const std::string canonical(kEmbedTokens);
        const std::string spelled = spellModulePath(canonical, family_).value_or(canonical);
        return matcher_.classify(spelled, canonical, false) == TargetState::Targeted;
    }

    /// The expert parameter that a nested wrapper stands for: the outermost wrapper belongs to
    /// the last targeted parameter of the module.
    [[nodiscard]] std::string expertParameter(const AdapterKey& key) const {
        std::vector<std::string> targeted;
        for (const char* parameter : {".gate_up_proj", ".down_proj"}) {
            const std::string full = key.spelled_module + parameter;
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

    void lowRank(size_t i, const AdapterKey& key) {
        std::optional<ArchitectureTensor> base;
        Match found;
        if (key.canonical_module.ends_with(".experts") &&
            architecture_.find(key.canonical_module + ".gate_up_proj")) {
            const std::string parameter = expertParameter(key);
            if (parameter.empty()) {
                ignore(i, "target_parameters does not name an expert parameter for this key");
                return;
            }
            base = architecture_.find(key.canonical_module + parameter);
            found = {TargetState::Targeted, key.spelled_module + parameter};
        } else {
            base = architecture_.findWeight(key.canonical_module);
            if (!base) {
                ignore(i, architecture_.absentReason(key.canonical_module));
                foreign_ += 1;
                return;
            }
            found = match(key.spelled_module, *base, key.canonical_module);
        }
        reports_[i].tensor = base->name();
        switch (found.state) {
        case TargetState::Targeted:
            break;
        case TargetState::Excluded:
            ignore(i, "exclude_modules leaves the module out");
            return;
        case TargetState::SavedWhole:
            ignore(i, "the module is in modules_to_save, which replaces it whole");
            return;
        case TargetState::OtherLayer:
            ignore(i, "layers_to_transform leaves the layer out");
            return;
        case TargetState::NotTargeted:
            ignore(i, "target_modules does not target the module");
            return;
        }
        if (base->kind() == TensorKind::Vector || base->kind() == TensorKind::ClipScalar) {
            fail(i, "a low-rank update of " + base->name() +
                        ", which is neither a linear layer nor an embedding");
            return;
        }
        attach(i, key, *base, found.name);
    }

    void attach(size_t i,
                const AdapterKey& key,
                const ArchitectureTensor& base,
                const std::string& match_name) {
        Pending& pending = pending_[base.name()];
        attachTo(pending, i, key, base, match_name);
        pending.is_broken = pending.is_broken || reports_[i].key_class == KeyClass::Error;
    }

    void attachTo(Pending& pending,
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
                fail(i, "an embedding takes lora_embedding_A and lora_embedding_B");
                return;
            }
            slot = key.leaf == AdapterLeaf::LoraA ? &pending.a : &pending.b;
            break;
        case AdapterLeaf::EmbeddingA:
        case AdapterLeaf::EmbeddingB:
            if (!is_embedding) {
                fail(i, "a linear layer takes lora_A.weight and lora_B.weight");
                return;
            }
            slot = key.leaf == AdapterLeaf::EmbeddingA ? &pending.a : &pending.b;
            break;
        case AdapterLeaf::LoraBBias:
            if (is_embedding || is_expert) {
                fail(i, "a bias of lora_B, which PEFT does not have for this kind of module");
                return;
            }
            if (!index_.config.has_lora_bias) {
                ignore(i, "lora_bias is false in adapter_config.json");
                return;
            }
            slot = &pending.bias;
            break;
        default:
            if (is_expert) {
                fail(i, "DoRA, which PEFT does not have for expert parameters");
                return;
            }
            if (!index_.config.use_dora) {
                ignore(i, "use_dora is false in adapter_config.json");
                return;
            }
            slot = &pending.magnitude;
            break;
        }
        if (slot->present) {
            fail(i, "a second key for the same tensor, after " + slot->key);
            return;
        }
        if (!checkType(i)) {
            return;
        }
        *slot = tensorOf(index_.source->tensors()[i], static_cast<int>(i));
        reports_[i].key_class = KeyClass::Active;
        pending.reports.push_back(i);
    }

    void tokenRows(size_t i, const AdapterKey& key) {
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
            ignore(i, "trainable_token_indices does not name the module");
            return;
        }
        const std::vector<int64_t>& shape = base->shape();
        for (const int64_t id : entry->token_ids) {
            if (id >= shape[0]) {
                fail(i, "replaces token " + std::to_string(id) + ", the vocabulary has " +
                            std::to_string(shape[0]));
                return;
            }
        }
        const auto count = static_cast<int64_t>(entry->token_ids.size());
        if (!checkType(i) ||
            !checkShape(i, {count, shape[1]},
                        std::to_string(count) + " ids in trainable_token_indices, rows of " +
                            base->name())) {
            return;
        }
        for (const RowReplacement& other : index_.rows) {
            if (other.tensor == base->name()) {
                fail(i, "a second key for the same tensor, after " + other.rows.key);
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

    /// Saved copies of base parameters: modules_to_save, trained biases, saved embeddings, and,
    /// as PEFT loads them too, parameters that no member of the config announces.
    Result<void> parameter(size_t i, const AdapterKey& key) {
        const std::string name = key.canonical_module + "." + key.parameter;
        const auto base = architecture_.find(name);
        if (!base) {
            const auto module = architecture_.findWeight(key.canonical_module);
            ignore(i, module ? "the module has no parameter " + key.parameter
                             : architecture_.absentReason(key.canonical_module));
            foreign_ += module ? 0 : 1;
            return {};
        }
        reports_[i].tensor = base->name();
        if (!base->is_head && base->tensor->is_unused) {
            report(i, KeyClass::Inert, "the model does not use " + base->name());
            return {};
        }
        const bool is_linear = base->kind() == TensorKind::Linear && !base->is_head;
        const TargetState state =
            matcher_.classify(key.spelled_module, key.canonical_module, is_linear);
        const bool is_base_layer = key.leaf == AdapterLeaf::BaseLayerParameter;
        const bool is_wrapped = state == TargetState::Targeted;
        if (!is_base_layer && is_wrapped && key.parameter == "weight") {
            ignore(i, "the module has a low-rank update; its own weight would be called "
                      "base_layer.weight");
            return {};
        }
        const bool is_table = base->kind() == TensorKind::Embedding || base->is_head;
        const std::vector<int64_t>& found = index_.source->tensors()[i].shape;
        if (is_table && found.size() == 2 && found[0] != base->shape()[0]) {
            fail(i,
                 "holds " + std::to_string(found[0]) + " rows, the vocabulary of the model has " +
                     std::to_string(base->shape()[0]) +
                     ": the vocabulary was resized while training, which needs the resized base");
            return {};
        }
        if (!checkType(i) || !checkShape(i, base->shape(), base->name() + " of the model")) {
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
            index_.coverage.notes.push_back(
                info(i).name + " replaces a base tensor although modules_to_save does not name it");
        }
        if (base->name() == std::string(kEmbedTokens) + ".weight" &&
            index_.config.ensure_weight_tying) {
            ties_embedding_ = true;
        }
        return {};
    }

    [[nodiscard]] const TensorInfo& info(size_t i) const { return index_.source->tensors()[i]; }

    bool replace(size_t i, const ArchitectureTensor& base, const AdapterTensor& value) {
        for (const TensorReplacement& other : index_.replacements) {
            if (other.tensor == base.name()) {
                fail(i, "a second key for the same tensor, after " + other.value.key);
                return false;
            }
        }
        index_.replacements.push_back({base.name(), base.kind(), base.shape(), value, false});
        replacement_reports_.push_back(i);
        return true;
    }

    /// PEFT saves the whole table beside an update of an embedding or of the head. Usually it is
    /// the base's own.
    Result<void> savedTable(size_t i, const ArchitectureTensor& base, const AdapterTensor& value) {
        if (options_.base != nullptr && !options_.base->isHeaderOnly()) {
            const bool is_text_only = architecture_.model().architecture == "Gemma4ForCausalLM";
            ENGINE_ASSIGN(const bool is_equal,
                          equalsBaseTable(*index_.source, info(i), *options_.base,
                                          std::string(kEmbedTokens) + ".weight", base.name(),
                                          is_text_only, options_.stop));
            if (is_equal) {
                ignore(i, "equals the base's own table");
                return {};
            }
        }
        if (!replace(i, base, value)) {
            return {};
        }
        if (!base.is_head) {
            index_.replacements.back().replaces_head = true; // one storage in PEFT
        }
        return {};
    }

    // ---- pairs --------------------------------------------------------------------------------

    void assemble() {
        for (const ArchitectureTensor& base : architecture_.attachable()) {
            const auto it = pending_.find(base.name());
            if (it != pending_.end() && !it->second.reports.empty()) {
                assembleOne(it->second);
            }
        }
    }

    void failAll(const Pending& pending, const std::string& reason) {
        for (const size_t i : pending.reports) {
            fail(i, reason);
        }
    }

    void assembleOne(Pending& p) {
        if (p.is_broken) {
            for (const size_t i : p.reports) {
                ignore(i, "another tensor of its module is refused");
            }
            return;
        }
        const bool is_embedding = p.base.kind() == TensorKind::Embedding;
        const char* half_a = is_embedding ? "lora_embedding_A" : "lora_A.weight";
        const char* half_b = is_embedding ? "lora_embedding_B" : "lora_B.weight";
        if (!p.a.present || !p.b.present) {
            failAll(p, std::string(p.a.present ? half_b : half_a) + " of the module is missing");
            return;
        }
        if (is_embedding && index_.config.has_lora_bias) {
            failAll(p, "lora_bias is true, which PEFT does not have for embeddings");
            return;
        }
        const bool is_expert = p.base.kind() == TensorKind::Experts;
        if (index_.config.has_lora_bias && !p.bias.present) {
            failAll(p, is_expert ? "lora_bias is true, which PEFT does not have for experts"
                                 : "lora_B.bias of the module is missing (lora_bias is true)");
            return;
        }
        if (index_.config.use_dora && !p.magnitude.present) {
            failAll(p, is_expert
                           ? "use_dora is true, which PEFT does not have for experts"
                           : "lora_magnitude_vector of the module is missing (use_dora is true)");
            return;
        }
        LowRankUpdate update = sized(p);
        if (!std::isfinite(update.scaling) || !checkShapes(p, update)) {
            return;
        }
        update.a = p.a;
        update.b = p.b;
        update.b_bias = p.bias;
        update.magnitude = p.magnitude;
        index_.updates.push_back(std::move(update));
    }

    [[nodiscard]] LowRankUpdate sized(const Pending& p) const {
        const std::vector<int64_t>& shape = p.base.shape();
        LowRankUpdate update;
        update.tensor = p.base.name();
        update.kind = p.base.kind();
        update.tower = p.base.tensor->tower;
        update.layer = p.base.tensor->layer;
        update.rank = matcher_.rankOf(p.match_name);
        update.alpha = matcher_.alphaOf(p.match_name);
        update.scaling = matcher_.scalingOf(p.match_name);
        switch (update.kind) {
        case TensorKind::Embedding:
            update.in = shape[0];
            update.out = shape[1];
            break;
        case TensorKind::Experts:
            update.experts = shape[0];
            update.out = shape[1];
            update.in = shape[2];
            break;
        default:
            update.out = shape[0];
            update.in = shape[1];
            break;
        }
        return update;
    }

    bool checkShapes(const Pending& p, const LowRankUpdate& u) {
        const int64_t copies = std::max<int64_t>(u.experts, 1);
        std::string why = "rank " + std::to_string(u.rank);
        if (u.experts > 0) {
            why += " of " + std::to_string(u.experts) + " experts";
        }
        why += ", " + u.tensor + " is " + shapeText(p.base.shape());
        bool is_fine = true;
        const auto check = [&](const AdapterTensor& tensor, const std::vector<int64_t>& expected) {
            if (tensor.present) {
                is_fine =
                    checkShape(static_cast<size_t>(tensor.source_index), expected, why) && is_fine;
            }
        };
        check(p.a, {u.rank * copies, u.in});
        check(p.b, {u.out, u.rank * copies});
        check(p.bias, {u.out});
        check(p.magnitude, {u.out});
        return is_fine;
    }

    // ---- across keys --------------------------------------------------------------------------

    [[nodiscard]] const TrainableTokens* tokensOf(std::string_view module_end) const {
        for (const TrainableTokens& tokens : index_.config.trainable_tokens) {
            if (module_end.ends_with(tokens.module)) {
                return &tokens;
            }
        }
        return nullptr;
    }

    /// Which replaced rows also replace rows of the tied head, and what rows cannot go with.
    void checkRows() {
        const TrainableTokens* head = tokensOf("lm_head");
        for (size_t k = 0; k < index_.rows.size(); ++k) {
            RowReplacement& rows = index_.rows[k];
            const bool is_embedding = rows.tensor == std::string(kEmbedTokens) + ".weight";
            rows.replaces_head = is_embedding && (head == nullptr || head->token_ids == rows.ids);
            const bool is_updated =
                std::any_of(index_.updates.begin(), index_.updates.end(),
                            [&](const LowRankUpdate& u) { return u.tensor == rows.tensor; });
            const bool is_replaced =
                std::any_of(index_.replacements.begin(), index_.replacements.end(),
                            [&](const TensorReplacement& r) { return r.tensor == rows.tensor; });
            if (is_updated || is_replaced) {
                fail(row_reports_[k],
                     "replaced rows together with " +
                         std::string(is_updated ? "a low-rank update" : "a replaced table") +
                         " of the same embedding are not supported");
            }
        }
        for (const TrainableTokens& tokens : index_.config.trainable_tokens) {
            const bool is_there = std::any_of(
                index_.rows.begin(), index_.rows.end(), [&](const RowReplacement& rows) {
                    return moduleOfTensor(rows.tensor).ends_with(tokens.module);
                });
            const bool is_tied_head =
                &tokens == head && std::any_of(index_.rows.begin(), index_.rows.end(),
                                               [](const auto& rows) { return rows.replaces_head; });
            const bool is_reported =
                std::any_of(reports_.begin(), reports_.end(),
                            [](const KeyReport& row) { return row.key_class == KeyClass::Error; });
            if (!is_there && !is_tied_head && !is_reported) {
                refuse(ErrorCode::InvalidFile,
                       std::string(kWeightsFile) + ": trainable_token_indices names " +
                           tokens.module + ", but its trainable_tokens_delta is missing");
            }
        }
        if (!ties_embedding_) {
            return;
        }
        const bool has_head = std::any_of(index_.replacements.begin(), index_.replacements.end(),
                                          [](const auto& r) { return r.tensor == kHeadTensor; });
        for (TensorReplacement& r : index_.replacements) {
            if (r.tensor == std::string(kEmbedTokens) + ".weight" && !has_head) {
                r.replaces_head = true;
            }
        }
    }

    /// Modules that the config targets but the file has nothing for.
    void findMissing() {
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
            bool is_targeted =
                matcher_.classify(*spelled, canonical, is_linear) == TargetState::Targeted;
            if (!is_targeted && has_outer && spelled->ends_with(kLinearSuffix)) {
                const std::string outer =
                    spelled->substr(0, spelled->size() - kLinearSuffix.size());
                is_targeted =
                    matcher_.classify(outer, canonical, is_linear) == TargetState::Targeted;
            }
            if (is_targeted) {
                index_.coverage.targeted_but_missing.push_back(canonical);
            }
        }
        if (!index_.config.is_zero_initialised && !index_.coverage.targeted_but_missing.empty()) {
            const auto& missing = index_.coverage.targeted_but_missing;
            refuse(ErrorCode::InvalidFile,
                   std::string(kWeightsFile) + ": " + std::to_string(missing.size()) +
                       " modules that adapter_config.json targets have no tensors (first: " +
                       missing.front() +
                       "), and with init_lora_weights false they would be random noise",
                   missing.front());
        }
    }

    void findMissingExperts(const ArchitectureTensor& base) {
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

    void finish() {
        CoverageReport& coverage = index_.coverage;
        coverage.tensors = static_cast<int64_t>(reports_.size());
        const KeyReport* first_error = nullptr;
        for (const KeyReport& row : reports_) {
            count(coverage.by_tower, row.tower);
            switch (row.key_class) {
            case KeyClass::Active:
                ++coverage.active;
                count(coverage.active_by_tower, row.tower);
                break;
            case KeyClass::Inert:
                ++coverage.inert;
                break;
            case KeyClass::Ignored:
                ++coverage.ignored;
                break;
            case KeyClass::Error:
                ++coverage.errors;
                first_error = first_error == nullptr ? &row : first_error;
                break;
            }
            if (row.key_class != KeyClass::Active) {
                coverage.unmatched.push_back(row);
            }
        }
        if (first_error != nullptr) {
            std::string message =
                std::string(kWeightsFile) + ": " + first_error->key + ": " + first_error->reason;
            if (coverage.errors > 1) {
                message += " (and " + std::to_string(coverage.errors - 1) + " more)";
            }
            // Errors of single tensors say more than anything about the file as a whole.
            index_.refusal.reset();
            refuse(ErrorCode::InvalidFile, std::move(message), first_error->key);
        }
        checkForeign();
        coverage.unknown_members = index_.config.unknown_members;
        coverage.notes.insert(coverage.notes.begin(), index_.config.notes.begin(),
                              index_.config.notes.end());
        noteBaseModel();
        summarise(index_);
    }

    static void count(TowerCounts& counts, KeyTower tower) {
        switch (tower) {
        case KeyTower::Language:
            ++counts.language;
            break;
        case KeyTower::Vision:
            ++counts.vision;
            break;
        case KeyTower::Audio:
            ++counts.audio;
            break;
        case KeyTower::Other:
            ++counts.other;
            break;
        }
    }

    void checkForeign() {
        const CoverageReport& c = index_.coverage;
        const std::string file = std::string(kWeightsFile) + ": ";
        if (c.tensors == 0) {
            refuse(ErrorCode::InvalidFile, file + "holds no tensors");
        } else if (2 * foreign_ > c.tensors && !options_.allow_foreign) {
            refuse(ErrorCode::InvalidFile,
                   file + "only " + std::to_string(c.tensors - foreign_) + " of " +
                       std::to_string(c.tensors) +
                       " tensors find a module in this model (first without: " + firstForeign() +
                       "); the adapter was made for another model");
        } else if (c.active == 0 && c.errors == 0) {
            const std::string first = c.unmatched.empty() ? std::string()
                                                          : " (" + c.unmatched.front().key + ": " +
                                                                c.unmatched.front().reason + ")";
            refuse(ErrorCode::InvalidFile, file + "none of its " + std::to_string(c.tensors) +
                                               " tensors would act" + first);
        }
    }

    [[nodiscard]] std::string firstForeign() const {
        for (const KeyReport& row : reports_) {
            if (row.key_class == KeyClass::Ignored && row.tensor.empty()) {
                return row.key;
            }
        }
        return {};
    }

    /// A hint when the name of the base the adapter was made for names another size.
    void noteBaseModel() {
        std::string name = index_.config.base_model;
        std::string variant = architecture_.model().variant;
        const auto lower = [](std::string& text) {
            std::transform(text.begin(), text.end(), text.begin(), [](char c) {
                return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            });
        };
        lower(name);
        lower(variant);
        for (const char* size : {"e2b", "e4b", "12b", "26b", "31b"}) {
            if (name.find(size) != std::string::npos && variant != "custom" &&
                !variant.starts_with(size)) {
                index_.coverage.notes.push_back("made for " + index_.config.base_model +
                                                ", loaded on " + architecture_.model().variant);
                return;
            }
        }
    }

    AdapterIndex& index_;
    const Architecture& architecture_;
    const TargetMatcher& matcher_;
    const AdapterOptions& options_;
    KeyLayout family_ = KeyLayout::Conditional;
    std::vector<std::optional<AdapterKey>> keys_;
    std::vector<KeyReport> reports_;
    std::map<std::string, Pending> pending_;
    std::vector<size_t> row_reports_, replacement_reports_;
    int64_t foreign_ = 0;
    bool ties_embedding_ = false;
};

} // namespace

Result<void> sortKeys(AdapterIndex& index,
                      const Architecture& architecture,
                      const TargetMatcher& matcher,
                      const AdapterOptions& options) {
    return Indexer(index, architecture, matcher, options).run();
}

} // namespace engine
