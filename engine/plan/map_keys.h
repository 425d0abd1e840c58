// SPDX-License-Identifier: Apache-2.0
// Keys of device maps: their canonical spelling, the range component [a-b], the names that exist
// in a model, and proposals for names that do not. Rules: engine/plan/DEVICE_MAP.md.
#pragma once

#include "engine/families/tensor_list.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

/// "a.b.c" as its components; empty text has none, "a..b" has an empty one.
std::vector<std::string_view> splitKey(std::string_view key);

/// True when `name` is `module` or lies below it, by whole components; "" is above everything.
bool isAtOrBelow(std::string_view name, std::string_view module);

/// The canonical spelling. `base_model` and `base_model.model` alone give "" (the whole model).
std::string canonicalKey(std::string_view key);

/// A component that is exactly [a-b].
struct KeyRange {
    int component = -1; ///< Its position among the components; -1 = no range in the key.
    int64_t first = 0;  ///< Saturated far above any layer count.
    int64_t last = 0;
};
enum class RangeCheck : uint8_t { Ok = 1, BadBracket };
/// Looks for [a-b] (decimal, no leading zeros, a <= b). BadBracket: any other use of a bracket, or
/// two ranges.
RangeCheck findRange(std::string_view key, KeyRange& range);

/// `key` with component `component` replaced.
std::string withComponent(std::string_view key, int component, std::string_view replacement);

/// All names of a model that a key may have, whatever its files hold.
class KnownNames {
public:
    enum class Kind : uint8_t {
        Unknown = 1,
        Module,   ///< A dotted prefix of tensor names.
        Tensor,   ///< A tensor of the list.
        Head,     ///< lm_head or lm_head.weight.
        NoEffect, ///< A module without tensors that other programs' maps list.
        Inside,   ///< Below a tensor.
    };

    /// `tensors` must outlive this.
    explicit KnownNames(const std::vector<ExpectedTensor>& tensors);

    [[nodiscard]] Kind kindOf(std::string_view name) const;
    /// Indices into `sorted` order of the tensors at or below a module: [begin, end).
    struct Span {
        size_t begin = 0, end = 0;
    };
    [[nodiscard]] Span below(std::string_view module) const;
    [[nodiscard]] const ExpectedTensor& at(size_t i) const { return *sorted_[i]; }
    /// Place of the tensor of that name in the list; -1 when there is none.
    [[nodiscard]] int indexOf(std::string_view tensor) const;
    /// The tensor that is `name` or of which `name` is a part below it; nullptr when none.
    [[nodiscard]] const ExpectedTensor* tensorAtOrAbove(std::string_view name) const;
    /// How many numbered children a module has ("model.language_model.layers": 35); 0 = none.
    [[nodiscard]] int64_t numberedChildren(std::string_view module) const;

    /// Up to three proposals for an unknown key (canonical spelling), best first.
    [[nodiscard]] std::vector<std::string> propose(std::string_view key) const;

private:
    [[nodiscard]] bool isNoEffect(std::string_view name) const;
    void prepareCandidates() const;

    const std::vector<ExpectedTensor>* tensors_;
    std::vector<const ExpectedTensor*> sorted_; ///< By name.
    /// Made when first needed.
    mutable std::unordered_map<std::string_view, int> index_;
    mutable std::unordered_map<std::string, int64_t> numbered_;
    mutable std::vector<std::string> candidates_; ///< All known names; made when first needed.
};

/// Unrestricted Damerau-Levenshtein distance: insertion, deletion, substitution and transposition
/// of neighbours cost 1. Stops early above `limit` and returns limit + 1.
int editDistance(std::string_view a, std::string_view b, int limit);

} // namespace engine
