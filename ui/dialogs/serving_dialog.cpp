// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/serving_dialog.h"

#include "ui/common/error_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace ui {

ServingDialog::ServingDialog(QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("servingDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Other programs"));
    setMinimumWidth(560 * textZoom() / 100);
    auto* column = columnIn(this, {16, 16, 16, 16}, 12);
    auto* intro = new QLabel(
        tr("Programs that speak to OpenAI's interface, such as Open WebUI, Continue or LibreChat, "
           "can use the model that is loaded here. It stays on this computer: only its own "
           "programs get in, and only with the token."),
        this);
    intro->setWordWrap(true);
    setTextRole(intro, TextRole::Muted);
    column->addWidget(intro);
    switch_ = named("servingSwitch", new QCheckBox(tr("Let other programs use this model"), this));
    switch_->setMinimumHeight(Theme::kControlHeight);
    column->addWidget(switch_);
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setHorizontalSpacing(16);
    form->setVerticalSpacing(8);
    address_ = addField(form, tr("Address"), "servingAddress");
    model_ = addField(form, tr("Model name"), "servingModel");
    token_ = addField(form, tr("Token"), "servingToken");
    token_->setEchoMode(QLineEdit::Password);
    column->addLayout(form);
    status_ = wrappedLabel("servingStatus", this);
    column->addWidget(status_);
    column->addStretch();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(switch_, &QCheckBox::toggled, this, &ServingDialog::switched);
    showState({});
}

QLineEdit*
ServingDialog::addField(QFormLayout* form, const QString& name, const char* object_name) {
    auto* row = new QWidget(this);
    auto* line = rowIn(row, {0, 0, 0, 0}, 8);
    auto* field = named(object_name, new QLineEdit(row));
    field->setAccessibleName(name);
    field->setReadOnly(true);
    field->setMinimumHeight(Theme::kControlHeight);
    auto* copy = new QPushButton(tr("Copy"), row);
    copy->setObjectName(field->objectName() + QStringLiteral("Copy"));
    copy->setAccessibleName(tr("Copy: %1").arg(name));
    copy->setIcon(icon(QStringLiteral("copy")));
    copy->setMinimumHeight(Theme::kControlHeight);
    copy->setAutoDefault(false);
    line->addWidget(field, 1);
    line->addWidget(copy);
    auto* label = new QLabel(name, this);
    label->setMinimumHeight(Theme::kControlHeight);
    label->setBuddy(field);
    form->addRow(label, row);
    connect(copy, &QPushButton::clicked, field,
            [field] { QGuiApplication::clipboard()->setText(field->text()); });
    connect(field, &QLineEdit::textChanged, copy,
            [copy](const QString& text) { copy->setEnabled(!text.isEmpty()); });
    copy->setEnabled(false);
    return field;
}

void ServingDialog::showState(const ServingState& state) {
    using Kind = ServingState::Kind;
    const bool is_on = state.kind != Kind::Off;
    {
        const QSignalBlocker quiet(switch_);
        switch_->setChecked(is_on);
    }
    const auto show = [](QLineEdit* field, const QString& text) {
        if (field->text() != text) { // keep what is selected in it
            field->setText(text);
            field->setCursorPosition(0);
        }
        field->setEnabled(!text.isEmpty());
    };
    show(address_, is_on ? state.address : QString());
    show(model_, is_on ? state.model : QString());
    show(token_, is_on ? state.token : QString());
    QString words;
    switch (state.kind) {
    case Kind::Off:
        words = state.error.has_value() ? errorSentence(*state.error)
                                        : tr("Off: no other program gets an answer.");
        break;
    case Kind::NoModel:
        words = tr("On, but no model is loaded: programs are asked to wait.");
        break;
    case Kind::Ready:
        words = tr("Ready.");
        break;
    case Kind::Answering:
        words =
            state.waiting > 0 ? tr("Answering. Waiting: %1.").arg(state.waiting) : tr("Answering.");
        break;
    }
    if (is_on) {
        words +=
            QLatin1Char(' ') + tr("Requests answered: %1.").arg(QLocale().toString(state.answered));
    }
    status_->setText(words);
    setTextRole(status_, state.error.has_value() ? TextRole::Danger : TextRole::Muted);
}

} // namespace ui
