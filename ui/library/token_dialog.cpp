// SPDX-License-Identifier: Apache-2.0
#include "ui/library/token_dialog.h"

#include "ui/common/needed_height.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace ui {

TokenDialog::TokenDialog(const NetworkFacts& network,
                         const QString& id,
                         bool needs_licence,
                         QWidget* parent)
    : QDialog(parent), field_(new QLineEdit(this)) {
    setObjectName(QStringLiteral("tokenDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Sign in with a token"));
    setMinimumWidth(480 * textZoom() / 100);
    auto* column = columnIn(this, {20, 16, 20, 16}, 12);
    const auto add = [&](const QString& text, TextRole role) {
        auto* label = new QLabel(text, this);
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        setTextRole(label, role);
        column->addWidget(label);
        return label;
    };
    const auto page = [&](const QString& text, const char* name, const QString& address) {
        auto* button = pushButton(name, text, this);
        button->setAutoDefault(false);
        button->setToolTip(address);
        auto* row = new QHBoxLayout;
        row->addWidget(button);
        row->addStretch();
        column->addLayout(row);
        connect(button, &QPushButton::clicked, this,
                [this, address] { Q_EMIT pageRequested(address); });
    };
    int step = 1;
    if (needs_licence) {
        add(tr("%1. Accept the licence of %2 on its page, signed in there.").arg(step++).arg(id),
            TextRole::Normal);
        page(tr("Open the model's &page in the browser"), "tokenLicence",
             network.endpoint + QLatin1Char('/') + id);
    } else if (!id.isEmpty()) {
        add(tr("%1 is to be had only by who may read it: check the name, or sign in.").arg(id),
            TextRole::Normal);
    }
    add(tr("%1. Make a token that may read, on your settings page.").arg(step++), TextRole::Normal);
    page(tr("Open the page for &tokens in the browser"), "tokenPage",
         network.endpoint + QStringLiteral("/settings/tokens"));
    add(tr("%1. Put it in here:").arg(step), TextRole::Normal);
    field_->setObjectName(QStringLiteral("tokenField"));
    field_->setAccessibleName(tr("Token"));
    field_->setEchoMode(QLineEdit::Password);
    field_->setPlaceholderText(network.token_shown.isEmpty()
                                   ? QStringLiteral("hf_…")
                                   : tr("in place of %1").arg(network.token_shown));
    field_->setMinimumHeight(Theme::kControlHeight);
    column->addWidget(field_);
    add(tr("It is kept in %1, sent to %2 and to nobody else.")
            .arg(network.token_place, network.endpoint),
        TextRole::Muted);
    auto* buttons = new QDialogButtonBox(this);
    auto* use = buttons->addButton(tr("&Use it"), QDialogButtonBox::AcceptRole);
    use->setObjectName(QStringLiteral("tokenUse"));
    use->setEnabled(false);
    setButtonKind(use, ButtonKind::Primary);
    buttons->addButton(tr("&Cancel"), QDialogButtonBox::RejectRole)
        ->setObjectName(QStringLiteral("tokenCancel"));
    if (!network.token_shown.isEmpty()) {
        auto* forget = buttons->addButton(tr("&Forget it"), QDialogButtonBox::ResetRole);
        forget->setObjectName(QStringLiteral("tokenForget"));
        connect(forget, &QPushButton::clicked, this, [this] {
            Q_EMIT tokenEntered(QString());
            reject();
        });
    }
    column->addWidget(buttons);
    connect(field_, &QLineEdit::textChanged, this,
            [use](const QString& text) { use->setEnabled(!text.trimmed().isEmpty()); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        Q_EMIT tokenEntered(field_->text().trimmed());
        accept();
    });
    field_->setFocus();
}

void TokenDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    setMinimumHeight(neededHeight(*this));
}

} // namespace ui
