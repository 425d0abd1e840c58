// SPDX-License-Identifier: Apache-2.0
// Pages of which one is shown, as large as that one needs: a hidden page does not keep the window
// from getting small.
#pragma once

#include <QStackedWidget>

namespace ui {

class PageStack : public QStackedWidget {
public:
    explicit PageStack(QWidget* parent = nullptr) : QStackedWidget(parent) {
        connect(this, &QStackedWidget::currentChanged, this, [this] { updateGeometry(); });
    }

    [[nodiscard]] QSize minimumSizeHint() const override {
        const QWidget* page = currentWidget();
        return page == nullptr ? QSize() : page->minimumSizeHint().expandedTo(page->minimumSize());
    }
};

} // namespace ui
