// SPDX-License-Identifier: Apache-2.0
#include "ui/model/adapter_list.h"

#include "ui/common/body_area.h"
#include "ui/model/adapter_chip.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QStyle>
#include <QVBoxLayout>

namespace ui {

AdapterList::AdapterList(QWidget* window) : Flyout(window), body_(new QWidget) {
    setObjectName(QStringLiteral("adapterList"));
    setAccessibleName(tr("Adapters"));
    rows_ = columnIn(body_, {Theme::kPadding, Theme::kPadding, Theme::kPadding, Theme::kPadding},
                     Theme::kGap);
    auto* outer = columnIn(this, {0, 0, 0, 0});
    outer->addWidget(new BodyArea(body_, this));
}

void AdapterList::setChips(const std::vector<AdapterChip*>& chips) {
    if (chips == chips_) {
        return;
    }
    chips_ = chips;
    while (QLayoutItem* item = rows_->takeAt(0)) {
        delete item;
    }
    for (AdapterChip* chip : chips) {
        rows_->addWidget(chip);
        chip->setVisible(true);
    }
    rows_->addStretch();
    updateGeometry();
}

QSize AdapterList::sizeHint() const {
    // With the room of a scroll bar: where there are many, nothing gets narrower for it.
    return body_->sizeHint() +
           QSize(2 * kShadow + style()->pixelMetric(QStyle::PM_ScrollBarExtent), 2 * kShadow);
}

} // namespace ui
