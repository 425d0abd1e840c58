// SPDX-License-Identifier: Apache-2.0
// Sorting the keys of an adapter file: the order of work and what the file is as a whole.
#include "engine/lora/adapter_indexer.h"

#include <algorithm>

namespace engine {

Result<void> AdapterIndexer::run() {
    const auto& tensors = index_.source->tensors();
    reports_.reserve(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        keys_.push_back(parseAdapterKey(index_.keyOf(i)));
    }
    findFamily();
    for (size_t i = 0; i < tensors.size(); ++i) {
        if (options_.stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("loading the adapter was cancelled"), {}};
        }
        ENGINE_TRY(classify(i));
    }
    ENGINE_TRY(assemble());
    checkRows();
    ENGINE_TRY(findMissing());
    finish();
    return {};
}

void AdapterIndexer::refuse(ErrorCode code, Sentence message, std::string_view tensor) {
    if (!index_.refusal) {
        index_.refusal = Error{code, std::move(message), {{"file", fileName()}}};
        if (!tensor.empty()) {
            index_.refusal->details.emplace_back("tensor", std::string(tensor));
        }
    }
}

void AdapterIndexer::findFamily() {
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

void AdapterIndexer::refuseMixed(const std::string& first,
                                 const std::string& second,
                                 std::string_view other) {
    refuse(ErrorCode::InvalidFile,
           said("%1: mixes two spellings of module paths, %2 (%3) and %4 (%5); save the adapter "
                "from one model class",
                fileName(), keyLayoutName(family_), first, other, second),
           second);
}

Result<void> AdapterIndexer::classify(size_t i) {
    const TensorInfo& info = index_.source->tensors()[i];
    KeyReport row;
    row.key = info.name;
    reports_.push_back(std::move(row));
    if (!keys_[i]) {
        ignore(i, {said("the key names no module")});
        return {};
    }
    const AdapterKey& key = *keys_[i];
    reports_[i].tower = keyTowerOf(key.canonical_module);
    if (KeyReason inert = architecture_.inertReason(key.canonical_module);
        !inert.sentence.isEmpty()) {
        report(i, KeyClass::Inert, std::move(inert));
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
        return lowRank(i, key);
    }
}

void AdapterIndexer::finish() {
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
        Sentence message =
            said("%1: %2: %3", fileName(), first_error->key, first_error->reason.sentence);
        if (coverage.errors > 1) {
            message = said("%1 (and %2 more)", message, coverage.errors - 1);
        }
        // Errors of single tensors say more than anything about the file as a whole.
        index_.refusal.reset();
        refuse(ErrorCode::InvalidFile, std::move(message), first_error->key);
        const auto first = static_cast<size_t>(first_error - reports_.data());
        if (other_shapes_.contains(first)) {
            index_.refusal->details.emplace_back("rule", "OtherShape");
        }
    }
    checkForeign();
    coverage.unknown_members = index_.config.unknown_members;
    coverage.notes.insert(coverage.notes.begin(), index_.config.notes.begin(),
                          index_.config.notes.end());
    noteBaseModel();
    summarise(index_);
}

void AdapterIndexer::count(TowerCounts& counts, KeyTower tower) {
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

void AdapterIndexer::checkForeign() {
    const CoverageReport& c = index_.coverage;
    if (c.tensors == 0) {
        refuse(ErrorCode::InvalidFile, said("%1: holds no tensors", fileName()));
    } else if (2 * foreign_ > c.tensors && !options_.allow_foreign) {
        refuse(ErrorCode::InvalidFile,
               said("%1: only %2 of %3 tensors find a module in this model (first without: %4); %5",
                    fileName(), c.tensors - foreign_, c.tensors, firstForeign(), foreignReason()));
    } else if (c.active == 0 && c.errors == 0) {
        const Sentence none = said("%1: none of its %2 tensors would act", fileName(), c.tensors);
        refuse(ErrorCode::InvalidFile, c.unmatched.empty()
                                           ? none
                                           : said("%1 (%2: %3)", none, c.unmatched.front().key,
                                                  c.unmatched.front().reason.sentence));
    }
}

std::string AdapterIndexer::firstForeign() const {
    for (const KeyReport& row : reports_) {
        if (row.key_class == KeyClass::Ignored && row.tensor.empty()) {
            return row.key;
        }
    }
    return {};
}

Sentence AdapterIndexer::foreignReason() const {
    for (size_t i = 0; i < reports_.size(); ++i) {
        const bool is_foreign =
            reports_[i].key_class == KeyClass::Ignored && reports_[i].tensor.empty() && keys_[i];
        if (!is_foreign) {
            continue;
        }
        const std::string& spelled = keys_[i]->spelled_module;
        for (const ArchitectureTensor& base : architecture_.attachable()) {
            const std::string module = moduleOfTensor(base.name());
            const size_t layers = module.find(".layers.");
            const std::string tail =
                layers == std::string::npos ? "." + module : module.substr(layers);
            if (spelled.ends_with(tail)) {
                return said(
                    "they have this model's modules under another name, \"%1\" where it has "
                    "\"%2\": the adapter was made for a model that was put into another, or for "
                    "another part of it. If it belongs here, rename its tensors",
                    spelled.substr(0, spelled.size() - tail.size()),
                    module.substr(0, module.size() - tail.size()));
            }
        }
        break;
    }
    return said("the adapter was made for another model");
}

void AdapterIndexer::noteBaseModel() {
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
            index_.coverage.notes.push_back(said("made for %1, loaded on %2",
                                                 index_.config.base_model,
                                                 architecture_.model().variant));
            return;
        }
    }
}

Result<void> sortKeys(AdapterIndex& index,
                      const Architecture& architecture,
                      const TargetMatcher& matcher,
                      const AdapterOptions& options) {
    return AdapterIndexer(index, architecture, matcher, options).run();
}

} // namespace engine
