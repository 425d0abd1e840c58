// SPDX-License-Identifier: Apache-2.0
#include "ui/library/removal_dialog.h"

#include "ui/common/needed_height.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace ui {

namespace {

constexpr qsizetype kMostNamed = 5;

} // namespace

RemovalDialog::RemovalDialog(const LibraryRemoval& removal, QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("removalDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Delete a model"));
    setMinimumWidth(460 * textZoom() / 100);
    auto* column = columnIn(this, {20, 16, 20, 16}, 12);
    const auto add = [&](const QString& text, const char* name) {
        auto* label = named(name, new QLabel(text, this));
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        column->addWidget(label);
        return label;
    };
    setTextSize(add(tr("Delete %1?").arg(removal.name), "removalTitle"), 115, true);
    add(tr("%1 (%2 bytes) come back to the disk; %n files and folders go:", nullptr,
           static_cast<int>(removal.entries))
            .arg(formatBytes(removal.bytes), formatCount(static_cast<qint64>(removal.bytes))),
        "removalBytes");
    auto* folder = add(QDir::toNativeSeparators(removal.folder), "removalFolder");
    folder->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setTextRole(folder, TextRole::Muted);
    if (removal.is_used_here) {
        setTextRole(add(tr("It is loaded now. It goes on answering until it is ejected, and cannot "
                           "be loaded again."),
                        "removalUsed"),
                    TextRole::Danger);
    }
    if (removal.is_shared) {
        add(tr("Programs that use the same cache (transformers, vLLM and others) lose it as well."),
            "removalShared");
    }
    if (!removal.kept.isEmpty()) {
        add(tr("What else lies there stays: %1")
                .arg(removal.kept.mid(0, kMostNamed).join(QStringLiteral(", ")) +
                     (removal.kept.size() > kMostNamed ? QStringLiteral(" …") : QString())),
            "removalKept");
    }
    add(tr("This cannot be undone."), "removalForGood");
    auto* buttons = new QDialogButtonBox(this);
    auto* keep = buttons->addButton(tr("&Keep"), QDialogButtonBox::RejectRole);
    keep->setObjectName(QStringLiteral("removalKeep"));
    keep->setDefault(true);
    auto* remove = buttons->addButton(tr("&Delete"), QDialogButtonBox::AcceptRole);
    remove->setObjectName(QStringLiteral("removalDelete"));
    remove->setAutoDefault(false);
    setButtonKind(remove, ButtonKind::Danger);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void RemovalDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    setMinimumHeight(neededHeight(*this));
}

} // namespace ui
