// SPDX-License-Identifier: Apache-2.0
// Module paths as a tree with a value per tensor, and the fewest keys that give every tensor its
// value when the deepest key wins. For writing maps; reading them is map_resolve.h.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Values are small non-negative numbers that the caller gives a meaning.
class MapTree {
public:
    /// One more tensor; kAny = whatever its parent has.
    static constexpr int kAny = -1;
    void add(std::string_view tensor, int value);

    struct Key {
        std::string path; ///< "" = everything.
        int value = 0;
    };
    /// Fewest keys under the rule "deepest key wins"; the first is "" (Fitch 1971, parsimony on a
    /// tree: sets of best values upwards, choice downwards). Children in the order they were added.
    [[nodiscard]] std::vector<Key> fewestKeys() const;

    /// For values that cannot be taken back below a key: the highest modules whose tensors all
    /// have the same value other than `unset` (kAny fits everything).
    [[nodiscard]] std::vector<Key> uniformParts(int unset) const;

private:
    struct Node {
        std::string path;
        int value = kAny;
        bool is_leaf = false;
        std::vector<int> children;
        std::map<std::string, int, std::less<>> by_name;
    };
    struct Best;
    std::vector<Node> nodes_ = {Node{}};
};

/// Keys that differ only in one number, with equal values and consecutive numbers, as ranges:
/// "layers.[0-3]". Order: by first appearance.
std::vector<MapTree::Key> withRanges(const std::vector<MapTree::Key>& keys);

} // namespace engine
