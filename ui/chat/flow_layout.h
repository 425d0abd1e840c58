// SPDX-License-Identifier: Apache-2.0
// Widgets side by side, in as many lines as the width needs.
#pragma once

#include <QLayout>

#include <vector>

namespace ui {

class FlowLayout : public QLayout {
public:
    explicit FlowLayout(QWidget* parent, int spacing) : QLayout(parent) {
        setSpacing(spacing);
        setContentsMargins(0, 0, 0, 0);
    }
    ~FlowLayout() override {
        while (QLayoutItem* item = FlowLayout::takeAt(0)) {
            delete item;
        }
    }
    FlowLayout(const FlowLayout&) = delete;
    FlowLayout& operator=(const FlowLayout&) = delete;

    void addItem(QLayoutItem* item) override { items_.push_back(item); }
    [[nodiscard]] int count() const override { return static_cast<int>(items_.size()); }
    [[nodiscard]] QLayoutItem* itemAt(int index) const override {
        return index >= 0 && index < count() ? items_[static_cast<size_t>(index)] : nullptr;
    }
    QLayoutItem* takeAt(int index) override {
        QLayoutItem* item = FlowLayout::itemAt(index);
        if (item != nullptr) {
            items_.erase(items_.begin() + index);
        }
        return item;
    }
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override {
        return arrange(QRect(0, 0, width, 0), true);
    }
    void setGeometry(const QRect& rect) override {
        QLayout::setGeometry(rect);
        (void)arrange(rect, false);
    }
    [[nodiscard]] QSize sizeHint() const override { return minimumSize(); }
    [[nodiscard]] QSize minimumSize() const override {
        QSize size(0, 0);
        for (const QLayoutItem* item : items_) {
            size = size.expandedTo(item->minimumSize());
        }
        return size;
    }

private:
    [[nodiscard]] int arrange(const QRect& rect, bool is_trial) const {
        int x = rect.x(), y = rect.y(), row = 0;
        for (QLayoutItem* item : items_) {
            const int width = std::min(item->sizeHint().width(), rect.width());
            const int height =
                item->hasHeightForWidth() ? item->heightForWidth(width) : item->sizeHint().height();
            if (x > rect.x() && x + width > rect.right() + 1) {
                x = rect.x();
                y += row + spacing();
                row = 0;
            }
            if (!is_trial) {
                item->setGeometry(QRect(x, y, width, height));
            }
            x += width + spacing();
            row = std::max(row, height);
        }
        return y + row - rect.y();
    }
    std::vector<QLayoutItem*> items_;
};

} // namespace ui
