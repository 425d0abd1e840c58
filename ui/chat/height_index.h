// SPDX-License-Identifier: Apache-2.0
// Heights of a long column of rows, with sums from the top and the row at a height in O(log n)
// (a Fenwick tree). Lets the message view know where row 9,000 is without laying out the others.
#pragma once

#include <cstddef>
#include <vector>

namespace ui {

class HeightIndex {
public:
    void assign(std::vector<double> heights) {
        heights_ = std::move(heights);
        tree_.assign(heights_.size() + 1, 0.0);
        for (size_t i = 1; i <= heights_.size(); ++i) {
            tree_[i] += heights_[i - 1];
            const size_t parent = i + (i & (~i + 1));
            if (parent < tree_.size()) {
                tree_[parent] += tree_[i];
            }
        }
    }
    [[nodiscard]] size_t size() const { return heights_.size(); }
    [[nodiscard]] double at(size_t row) const { return heights_[row]; }
    void set(size_t row, double height) {
        const double change = height - heights_[row];
        heights_[row] = height;
        for (size_t i = row + 1; i < tree_.size(); i += i & (~i + 1)) {
            tree_[i] += change;
        }
    }
    void append(double height) {
        // The new node covers the rows below it down to its lowest set bit.
        heights_.push_back(height);
        const size_t node = heights_.size();
        const size_t first = node - (node & (~node + 1));
        tree_.resize(node + 1, 0.0);
        tree_[node] = sumBefore(node - 1) - sumBefore(first) + height;
    }
    /// Sum of the rows before `row`.
    [[nodiscard]] double sumBefore(size_t row) const {
        double sum = 0.0;
        for (size_t i = row; i > 0; i -= i & (~i + 1)) {
            sum += tree_[i];
        }
        return sum;
    }
    [[nodiscard]] double total() const { return sumBefore(heights_.size()); }
    /// The row that covers height `y`; the last one when y is beyond the end. Needs size() > 0.
    [[nodiscard]] size_t rowAt(double y) const {
        size_t position = 0, step = 1;
        while (step * 2 < tree_.size()) {
            step *= 2;
        }
        for (; step > 0; step /= 2) {
            if (position + step < tree_.size() && tree_[position + step] <= y) {
                position += step;
                y -= tree_[position];
            }
        }
        return position < heights_.size() ? position : heights_.size() - 1;
    }

private:
    std::vector<double> heights_;
    std::vector<double> tree_ = {0.0};
};

} // namespace ui
