// SPDX-License-Identifier: Apache-2.0
#include "engine/run/nonfinite_cause.h"

#include "engine/families/gemma4/names.h"
#include "engine/run/media_kinds.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace engine {

namespace {

using IsWanted = std::function<bool(Part part)>;

IsWanted tensorsOf(Part wanted) {
    return [wanted](Part part) { return part == wanted; };
}

/// What every layer takes from the per-layer inputs.
bool isPerLayerInput(Part part) {
    return part.role == PartRole::PerLayerTable || part.role == PartRole::PerLayerProjection ||
           part.role == PartRole::PerLayerNorm;
}

std::string numberText(float value) {
    if (std::isnan(value)) {
        return "NaN";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-infinity" : "infinity";
    }
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
    return text;
}

/// Where the first unusable value of a prompt appears.
struct BadLayer {
    int index = -1;              ///< As HiddenObserver counts; -1: in the logits alone.
    float largest_before = 0.0F; ///< In the residual stream one layer earlier.
};

class Search {
public:
    Search(Loaded& target, const std::stop_token& stop) : target_(target), stop_(stop) {}

    Error tower(MediaKind kind) {
        const MediaRow& row = mediaRow(kind);
        const bool has_tower = target_.model->encoder(kind)->hasTower();
        return explain({has_tower ? row.tower : row.projector}, row.many,
                       {[kind](Part part) { return mediaKind(part) == kind; }},
                       std::numeric_limits<float>::quiet_NaN());
    }

    Error language(const PreparedPrompt& prompt, const Error& found) {
        const Result<BadLayer> bad = findLayer(prompt);
        if (!bad.has_value()) {
            return bad.error();
        }
        const auto layers = static_cast<int>(target_.opened.config.text.layers.size());
        const Part table = {PartRole::Embedding};
        if (bad->index < 0) {
            if (!are_logits_bad_) {
                Error error = found;
                error.say(
                    said("%1; computed once more, every layer gave finite values: a device or its "
                         "memory may be failing. Try again, or with \"--device-map cpu\"",
                         found.told()));
                return error;
            }
            const bool has_head =
                target_.store->handleOf(kHeadName) != target_.store->handleOf(kTokenTableName);
            const Part head = {PartRole::Head};
            return explain(head, phrase("the logits"), {tensorsOf(has_head ? head : table)},
                           bad->largest_before);
        }
        if (bad->index == 0) {
            return explain(table, phrase("token embeddings"), {tensorsOf(table)},
                           bad->largest_before);
        }
        std::vector<IsWanted> wanted;
        const int layer = bad->index - 1;
        wanted.push_back(tensorsOf(layerPart(layer)));
        if (bad->index == layers) { // seen behind the last norm only
            wanted.push_back(tensorsOf({PartRole::FinalNorm}));
        }
        wanted.emplace_back(isPerLayerInput);
        return explain(layerPart(layer), said("decoder layer %1", layer), wanted,
                       bad->largest_before);
    }

private:
    /// Runs the prompt from its beginning and looks at what every layer gives.
    Result<BadLayer> findLayer(const PreparedPrompt& prompt) {
        BadLayer bad;
        int first = std::numeric_limits<int>::max();
        std::vector<float> largest(target_.opened.config.text.layers.size() + 1, 0.0F);
        const HiddenObserver observer = [&](int index, std::span<const float> values, int64_t) {
            if (!areFinite(values)) {
                first = std::min(first, index);
                return;
            }
            float& most = largest[static_cast<size_t>(index)];
            for (const float value : values) {
                most = std::max(most, std::fabs(value));
            }
        };
        target_.generator->forget();
        const auto again = target_.generator->prefill(prompt, target_.adapters->fingerprint(), 1,
                                                      stop_, &observer);
        target_.generator->forget(); // rows of NaN are of no use to anybody
        if (!again.has_value()) {
            return again.error();
        }
        are_logits_bad_ = !areFinite(again->logits);
        if (first != std::numeric_limits<int>::max()) {
            bad.index = first;
        }
        const size_t before =
            bad.index > 0 ? static_cast<size_t>(bad.index) - 1 : largest.size() - 1;
        bad.largest_before =
            bad.index == 0 ? std::numeric_limits<float>::quiet_NaN() : largest[before];
        return bad;
    }

    /// The first value that is not finite in the groups of tensors, or the largest of all.
    Error explain(Part part,
                  const Sentence& what,
                  const std::vector<IsWanted>& groups,
                  float largest_before) {
        const std::string module = partName(part);
        std::optional<TensorStore::Extreme> largest;
        for (const IsWanted& is_wanted : groups) {
            const auto scanned = target_.store->scanFiles(is_wanted, stop_);
            if (!scanned.has_value()) {
                return scanned.error();
            }
            if (scanned->has_value() && !std::isfinite((*scanned)->value)) {
                return badValue(module, what, **scanned);
            }
            if (scanned->has_value() && (!largest.has_value() || std::fabs((*scanned)->value) >
                                                                     std::fabs(largest->value))) {
                largest = **scanned;
            }
        }
        return overflow(module, what, largest, largest_before);
    }

    [[nodiscard]] Error badValue(const std::string& module,
                                 const Sentence& what,
                                 const TensorStore::Extreme& found) const {
        return Error{ErrorCode::InvalidFile,
                     said("%1: element %2 is %3, so that %4 cannot be computed; a weight must be a "
                          "finite number. The file is damaged or its training had diverged: "
                          "download it again, or take another checkpoint",
                          found.tensor, found.element, numberText(found.value), what),
                     {{"rule", "finite"},
                      {"tensor", found.tensor},
                      {"module", module},
                      {"element", std::to_string(found.element)}}};
    }

    [[nodiscard]] Error overflow(const std::string& module,
                                 const Sentence& what,
                                 const std::optional<TensorStore::Extreme>& largest,
                                 float largest_before) const {
        Sentence facts = what;
        if (std::isfinite(largest_before)) {
            facts =
                said("%1; the largest value it is given is %2", facts, numberText(largest_before));
        }
        if (largest.has_value()) {
            facts = said("%1; its largest weight is element %2 of %3, %4", facts, largest->element,
                         largest->tensor, numberText(largest->value));
        }
        const bool has_adapter =
            std::any_of(target_.active.begin(), target_.active.end(), [](const auto& active) {
                return active.choice.is_enabled && active.choice.strength != 0.0;
            });
        const Phrase next = has_adapter
                                ? phrase("Switch the adapter off or give it a smaller strength; if "
                                         "that does not help, take another checkpoint")
                                : phrase("The checkpoint is damaged or its training had diverged: "
                                         "download it again, or take another one");
        Error error{ErrorCode::InvalidFile,
                    said("%1: its values are finite, but what it computes is too large for a float "
                         "or not a number (%2). %3",
                         module, facts, next),
                    {{"rule", "overflow"}}};
        error.details.emplace_back("module", module);
        if (largest.has_value()) {
            error.details.emplace_back("tensor", largest->tensor);
        }
        return error;
    }

    Loaded& target_;
    const std::stop_token& stop_;
    bool are_logits_bad_ = false;
};

} // namespace

Error explainNotFinite(Loaded& target,
                       const PreparedPrompt* prompt,
                       Error found,
                       const std::stop_token& stop) {
    if (!isNotFiniteError(found)) {
        return found;
    }
    const auto part = std::find_if(found.details.begin(), found.details.end(),
                                   [](const auto& detail) { return detail.first == "part"; });
    Search search(target, stop);
    if (part != found.details.end() && part->second != "language") {
        return search.tower(part->second == "vision" ? MediaKind::Image : MediaKind::Audio);
    }
    return prompt == nullptr ? found : search.language(*prompt, found);
}

} // namespace engine
