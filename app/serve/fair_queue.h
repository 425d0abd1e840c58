// SPDX-License-Identifier: Apache-2.0
// Who is next: requests of one token in the order in which they came, tokens in turns, so that a
// program that asks much does not keep the others waiting. For one thread at a time: the owner
// locks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace serve {

template <typename T>
class FairQueue {
public:
    explicit FairQueue(size_t most) : most_(most) {}

    /// False: it is full.
    bool push(size_t token, T item) {
        if (size_ >= most_) {
            return false;
        }
        waiting_[token].push_back(std::move(item));
        ++size_;
        return true;
    }

    std::optional<T> pop() {
        if (size_ == 0) {
            return std::nullopt;
        }
        auto next = waiting_.upper_bound(last_);
        if (next == waiting_.end()) {
            next = waiting_.begin();
        }
        last_ = next->first;
        T item = std::move(next->second.front());
        next->second.pop_front();
        --size_;
        if (next->second.empty()) {
            waiting_.erase(next);
        }
        return item;
    }

    /// Takes out every item that `is_gone` says so of.
    template <typename Predicate>
    void removeIf(Predicate is_gone) {
        for (auto it = waiting_.begin(); it != waiting_.end();) {
            std::deque<T>& items = it->second;
            const auto end = std::remove_if(items.begin(), items.end(), is_gone);
            size_ -= static_cast<size_t>(items.end() - end);
            items.erase(end, items.end());
            it = items.empty() ? waiting_.erase(it) : std::next(it);
        }
    }

    template <typename Visitor>
    void forEach(Visitor visit) const {
        for (const auto& [token, items] : waiting_) {
            for (const T& item : items) {
                visit(item);
            }
        }
    }

    [[nodiscard]] size_t size() const { return size_; }

private:
    size_t most_;
    size_t size_ = 0;
    size_t last_ = SIZE_MAX;                  ///< Whose turn was last.
    std::map<size_t, std::deque<T>> waiting_; ///< By token; none is empty.
};

} // namespace serve
