// SPDX-License-Identifier: Apache-2.0
// The keys of one device map in canonical form with the fields they set: aliases translated,
// ranges expanded, unknown names (DM02, DM06) and contradictions (DM05) reported. Answers, for a
// tensor, which key sets which field.
#pragma once

#include "engine/plan/device_map.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/map_resolve.h"

#include <array>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace engine {

class KeyTable {
public:
    /// Fields of one tensor. set_by: an entry index, kSetByDefault, or kSetByRule where unset.
    struct Fields {
        PlaceFields values;
        std::array<int, kMapFieldCount> set_by{};
        bool is_format_exact = false; ///< The key of `format` names exactly this tensor.
        bool is_covered = false; ///< Some key lies at or above it (the default does not count).
    };

    /// All three must outlive this; complaints and notes go to `out`.
    KeyTable(const DeviceMap& map, const KnownNames& names, Resolution& out)
        : map_(map), names_(names), out_(out) {}

    void build();
    /// By the deepest key that sets each field. Cheapest when called in model order.
    Fields lookUp(std::string_view tensor);

    /// Takes one field from `from` if it is set there and not yet in `to`.
    static void setIfAbsent(Fields& to, MapField field, const PlaceFields& from, int set_by);

private:
    struct Setter {
        PlaceFields values;
        std::array<int, kMapFieldCount> set_by{};
        std::array<bool, kMapFieldCount> is_disputed{};
        std::vector<int> entries; ///< All that have this canonical key, in order.
    };
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };

    void addEntry(int index);
    void addKey(const std::string& canonical, int index);
    bool checkName(const std::string& canonical, const KeyRange& range, int index);
    void unknown(const std::string& canonical, const KeyRange& range, int index);
    void inside(const std::string& canonical, int index);
    void noteUnused(const std::string& canonical, int index);
    void conflict(int first, int second, const std::string& canonical, MapField field);

    const DeviceMap& map_;
    const KnownNames& names_;
    Resolution& out_;
    std::unordered_map<std::string, Setter, Hash, std::equal_to<>> keys_;
    std::vector<bool> lengths_; ///< Lengths that occur in keys_: most names are told apart by that.
    std::set<std::pair<int, int>> conflicts_;
    int proposed_ = 0;                   ///< Keys that proposals were looked for.
    std::vector<Sentence> no_effect_;    ///< Keys.
    std::vector<Sentence> translations_; ///< Keys as written and as they are called here.

    // The chain of the tensor looked up last: ends of its components and their setters.
    std::string last_name_;
    std::vector<std::pair<size_t, const Setter*>> chain_;
};

/// withPlace() for a map that may have errors: keys that are refused (DM02, DM06) stay as they are.
/// A range that reaches beyond the layers would otherwise be cut at the module's, and what is left
/// of it come into force. `errors`: of this map, or of the one that it was made from.
DeviceMap placedAnew(const DeviceMap& map,
                     const std::vector<PlanIssue>& errors,
                     std::string_view module,
                     const PlaceFields& fields);

} // namespace engine
