// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_tree.h"

#include "engine/plan/map_keys.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace engine {

void MapTree::add(std::string_view tensor, int value) {
    int at = 0;
    size_t end = 0;
    for (const std::string_view part : splitKey(tensor)) {
        end += (end == 0 ? 0 : 1) + part.size();
        const auto it = nodes_[static_cast<size_t>(at)].by_name.find(part);
        if (it != nodes_[static_cast<size_t>(at)].by_name.end()) {
            at = it->second;
            continue;
        }
        const auto next = static_cast<int>(nodes_.size());
        Node node;
        node.path = tensor.substr(0, end);
        nodes_.push_back(std::move(node));
        nodes_[static_cast<size_t>(at)].by_name.emplace(part, next);
        nodes_[static_cast<size_t>(at)].children.push_back(next);
        at = next;
    }
    nodes_[static_cast<size_t>(at)].is_leaf = true;
    nodes_[static_cast<size_t>(at)].value = value;
}

std::vector<MapTree::Key> MapTree::fewestKeys() const {
    // Children come after their parent in nodes_, so one pass backwards goes upwards.
    std::vector<std::set<int>> best(nodes_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
        const Node& node = nodes_[i];
        if (node.is_leaf) {
            if (node.value != kAny) {
                best[i].insert(node.value);
            }
            continue;
        }
        std::map<int, int> count;
        int most = 0;
        for (const int child : node.children) {
            for (const int value : best[static_cast<size_t>(child)]) {
                most = std::max(most, ++count[value]);
            }
        }
        for (const auto& [value, n] : count) {
            if (n == most) {
                best[i].insert(value);
            }
        }
    }
    std::vector<Key> keys;
    struct Visit {
        int node;
        int inherited;
    };
    std::vector<Visit> open = {{0, kAny}};
    while (!open.empty()) {
        const Visit visit = open.back();
        open.pop_back();
        const auto i = static_cast<size_t>(visit.node);
        int value = visit.inherited;
        if (!best[i].empty() && !best[i].contains(visit.inherited)) {
            value = *best[i].begin();
            keys.push_back({nodes_[i].path, value});
        }
        const std::vector<int>& children = nodes_[i].children;
        for (size_t c = children.size(); c-- > 0;) {
            open.push_back({children[c], value});
        }
    }
    return keys;
}

std::vector<MapTree::Key> MapTree::uniformParts(int unset) const {
    constexpr int kMixed = -2;
    std::vector<int> common(nodes_.size(), kAny);
    for (size_t i = nodes_.size(); i-- > 0;) {
        const Node& node = nodes_[i];
        int value = node.value;
        for (const int child : node.children) {
            const int theirs = common[static_cast<size_t>(child)];
            if (value == kAny) {
                value = theirs;
            } else if (theirs != kAny && theirs != value) {
                value = kMixed;
            }
        }
        common[i] = value;
    }
    std::vector<Key> keys;
    std::vector<int> open = {0};
    while (!open.empty()) {
        const auto i = static_cast<size_t>(open.back());
        open.pop_back();
        if (common[i] >= 0) {
            if (common[i] != unset) {
                keys.push_back({nodes_[i].path, common[i]});
            }
            continue;
        }
        const std::vector<int>& children = nodes_[i].children;
        for (size_t c = children.size(); c-- > 0;) {
            open.push_back(children[c]);
        }
    }
    return keys;
}

std::vector<MapTree::Key> withRanges(const std::vector<MapTree::Key>& keys) {
    struct Group {
        size_t first_seen = 0;
        std::vector<int64_t> numbers;
    };
    struct Name {
        std::string before, after; ///< Around the number.
        int value = 0;
        bool operator<(const Name& other) const {
            return std::tie(before, after, value) <
                   std::tie(other.before, other.after, other.value);
        }
    };
    std::map<Name, Group> groups;
    std::vector<std::pair<size_t, MapTree::Key>> out;
    for (size_t i = 0; i < keys.size(); ++i) {
        const std::string& path = keys[i].path;
        size_t begin = 0;
        bool has_number = false;
        for (const std::string_view part : splitKey(path)) {
            if (!part.empty() && part.size() < 9 &&
                part.find_first_not_of("0123456789") == std::string_view::npos) {
                const Name name{path.substr(0, begin), path.substr(begin + part.size()),
                                keys[i].value};
                Group& group = groups.try_emplace(name, Group{i, {}}).first->second;
                group.numbers.push_back(std::stoll(std::string(part)));
                has_number = true;
                break;
            }
            begin += part.size() + 1;
        }
        if (!has_number) {
            out.emplace_back(i, keys[i]);
        }
    }
    for (auto& [name, group] : groups) {
        std::sort(group.numbers.begin(), group.numbers.end());
        for (size_t i = 0; i < group.numbers.size();) {
            size_t last = i;
            while (last + 1 < group.numbers.size() &&
                   group.numbers[last + 1] == group.numbers[last] + 1) {
                ++last;
            }
            const std::string first_text = std::to_string(group.numbers[i]);
            const std::string number =
                i == last ? first_text
                          : "[" + first_text + "-" + std::to_string(group.numbers[last]) + "]";
            out.emplace_back(group.first_seen,
                             MapTree::Key{name.before + number + name.after, name.value});
            i = last + 1;
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<MapTree::Key> sorted;
    sorted.reserve(out.size());
    for (auto& [order, key] : out) {
        sorted.push_back(std::move(key));
    }
    return sorted;
}

} // namespace engine
