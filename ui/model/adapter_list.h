// SPDX-License-Identifier: Apache-2.0
// All adapters below each other, for a bar that has no room for them side by side.
#pragma once

#include "ui/model/flyout.h"

#include <vector>

class QVBoxLayout;

namespace ui {

class AdapterChip;

class AdapterList : public Flyout {
    Q_OBJECT

public:
    explicit AdapterList(QWidget* window);

    /// Takes the chips into the list, in this order; they stay the caller's.
    void setChips(const std::vector<AdapterChip*>& chips);
    [[nodiscard]] QSize sizeHint() const override;

private:
    QWidget* body_;
    QVBoxLayout* rows_;
    std::vector<AdapterChip*> chips_;
};

} // namespace ui
