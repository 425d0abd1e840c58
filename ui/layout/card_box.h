// SPDX-License-Identifier: Apache-2.0
// The list of computers for What-if to choose from: grouped, and searched by typing a part of a
// name.
#pragma once

#include "ui/layout/what_if.h"

#include <QComboBox>

namespace ui {

class CardBox : public QComboBox {
    Q_OBJECT

public:
    explicit CardBox(const char* name, QWidget* parent = nullptr);

    /// An entry above the groups, chosen with no computer: "This computer".
    void addFirst(const QString& text);
    /// A group of computers of one's own, before the listed ones; replaces the former.
    void setOwn(const std::vector<WhatIfComputer>& computers);
    void choose(const WhatIfComputer& computer);
    /// Without a name: the first entry.
    [[nodiscard]] WhatIfComputer computer() const;

Q_SIGNALS:
    /// Another one was chosen by the user.
    void computerChosen();

protected:
    void focusOutEvent(QFocusEvent* event) override;

private:
    void fill();
    void addGroup(const QString& name, const std::vector<WhatIfComputer>& computers);
    void take(int index);

    QString first_;
    std::vector<WhatIfComputer> own_;
    int chosen_ = -1; ///< As told last.
};

} // namespace ui
