// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/shortcuts_dialog.h"

#include "ui/common/body_area.h"
#include "ui/common/shortcuts.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace ui {

ShortcutsDialog::ShortcutsDialog(QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("shortcutsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Keyboard shortcuts"));
    auto* body = new QWidget;
    auto* columns = rowIn(body, {20, 16, 8, 4}, 40);
    const std::vector<Shortcut> all = shortcuts();
    QStringList groups;
    for (const Shortcut& shortcut : all) {
        if (!groups.contains(shortcut.group)) {
            groups.append(shortcut.group);
        }
    }
    // Two columns of about the same length.
    std::vector<QVBoxLayout*> sides;
    for (int i = 0; i < 2; ++i) {
        auto* side = new QVBoxLayout();
        side->setSpacing(16);
        columns->addLayout(side);
        sides.push_back(side);
    }
    size_t lengths[2] = {0, 0};
    for (const QString& group : groups) {
        const size_t side = lengths[0] <= lengths[1] ? 0 : 1;
        auto* grid = new QGridLayout();
        grid->setHorizontalSpacing(24);
        grid->setVerticalSpacing(8);
        auto* title = new QLabel(group, this);
        setTextSize(title, 105, true);
        grid->addWidget(title, 0, 0, 1, 2);
        int row = 1;
        for (const Shortcut& shortcut : all) {
            if (shortcut.group != group) {
                continue;
            }
            QStringList keys;
            for (const QKeySequence& sequence : shortcut.keys) {
                keys.append(sequence.toString(QKeySequence::NativeText));
            }
            auto* text = new QLabel(shortcut.text, this);
            auto* key =
                new QLabel(keys.isEmpty() ? tr("none") : keys.join(QStringLiteral("  ")), this);
            setTextRole(key, TextRole::Muted);
            key->setAccessibleName(tr("Keys for %1").arg(shortcut.text));
            grid->addWidget(text, row, 0);
            grid->addWidget(key, row, 1, Qt::AlignRight);
            ++row;
        }
        grid->setColumnStretch(0, 1);
        lengths[side] += static_cast<size_t>(row) + 1;
        sides[side]->addLayout(grid);
    }
    for (QVBoxLayout* side : sides) {
        side->addStretch();
    }
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    QPushButton* change = buttons->addButton(tr("C&hange…"), QDialogButtonBox::ActionRole);
    change->setObjectName(QStringLiteral("changeShortcuts"));
    change->setToolTip(tr("Give actions other keys"));
    connect(change, &QPushButton::clicked, this, [this] {
        accept(); // what it shows is about to change
        Q_EMIT changeRequested();
    });
    auto* column = columnIn(this, {0, 0, 0, 16}, 12);
    auto* area = new BodyArea(body, this);
    area->keepBarRoom();
    column->addWidget(area, 1);
    auto* foot = rowIn(nullptr, {20, 0, 20, 0});
    foot->addWidget(buttons);
    column->addLayout(foot);
    BodyArea::fitToScreen(this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

} // namespace ui
