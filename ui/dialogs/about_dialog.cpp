// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/about_dialog.h"

#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace ui {

AboutDialog::AboutDialog(const SystemFacts& facts, QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("aboutDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("About Belfry"));
    auto* column = columnIn(this, {20, 16, 20, 16}, 10);
    auto* heading = new QHBoxLayout();
    heading->setSpacing(12);
    auto* picture = new QLabel(this);
    picture->setPixmap(icon(QStringLiteral("belfry")).pixmap(40, 40));
    heading->addWidget(picture);
    auto* name = named("aboutVersion", new QLabel(tr("Belfry %1").arg(facts.version), this));
    setTextSize(name, 140, true);
    heading->addWidget(name, 1);
    column->addLayout(heading);
    const auto add = [&](const QString& text, TextRole role) {
        auto* label = new QLabel(text, this);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        label->setMinimumWidth(380);
        setTextRole(label, role);
        column->addWidget(label);
        return label;
    };
    add(tr("Chat with multimodal models on your own hardware, each part of the model on the "
           "device that you choose."),
        TextRole::Normal);
    add(facts.commit.isEmpty()
            ? tr("Built from sources without a commit, with Qt %1.").arg(facts.qt_version)
            : tr("Built from commit %1, with Qt %2.").arg(facts.commit, facts.qt_version),
        TextRole::Muted)
        ->setObjectName(QStringLiteral("aboutCommit"));
    add(tr("Belfry: Apache License 2.0. Qt, libsndfile and soxr: LGPL."), TextRole::Muted);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
}

} // namespace ui
