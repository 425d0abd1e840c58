// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/server_dialog.h"

#include "ui/common/needed_height.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace ui {

namespace {

constexpr int kWidth = 480;

QLabel* words(const char* name, QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setObjectName(QString::fromLatin1(name));
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->hide();
    return label;
}

} // namespace

ServerDialog::ServerDialog(const QStringList& known, QWidget* parent)
    : QDialog(parent), address_(new QComboBox(this)), key_(new QLineEdit(this)),
      plain_(new QCheckBox(tr("&Allow it without encryption: everybody on the way can read along"),
                           this)),
      test_(new QPushButton(tr("&Test the connection"), this)), state_(words("serverState", this)),
      warning_(words("serverWarning", this)), model_label_(new QLabel(tr("&Model"), this)),
      model_(new QComboBox(this)), connect_(nullptr) {
    setObjectName(QStringLiteral("serverDialog"));
    setWindowTitle(tr("Connect to a server"));
    setMinimumWidth(kWidth * textZoom() / 100);
    auto* intro = new QLabel(
        tr("A server with OpenAI's interface answers in place of this computer: vLLM, SGLang, "
           "llama-server, Belfry on another machine. What you write and attach is sent there."),
        this);
    intro->setWordWrap(true);
    setTextRole(intro, TextRole::Muted);
    address_->setObjectName(QStringLiteral("serverAddress"));
    address_->setEditable(true);
    address_->addItems(known);
    address_->setCurrentIndex(known.isEmpty() ? -1 : 0);
    address_->lineEdit()->setPlaceholderText(QStringLiteral("https://gpu.example.org/v1"));
    key_->setObjectName(QStringLiteral("serverKey"));
    key_->setEchoMode(QLineEdit::Password);
    key_->setPlaceholderText(tr("None, or the one that is kept"));
    plain_->setObjectName(QStringLiteral("serverPlain"));
    plain_->hide();
    test_->setObjectName(QStringLiteral("serverTest"));
    model_->setObjectName(QStringLiteral("serverModel"));
    model_label_->setBuddy(model_);
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setSpacing(Theme::kGap);
    const auto row = [form, this](const QString& text, QWidget* field) {
        auto* label = new QLabel(text, this);
        label->setBuddy(field);
        form->addRow(label, field);
    };
    row(tr("A&ddress"), address_);
    row(tr("&Key"), key_);
    form->addRow(QString(), plain_);
    auto* test_row = new QHBoxLayout;
    test_row->addWidget(test_);
    test_row->addStretch();
    form->addRow(QString(), test_row);
    form->addRow(state_);
    form->addRow(warning_);
    form->addRow(model_label_, model_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    connect_ = buttons->addButton(tr("&Connect"), QDialogButtonBox::AcceptRole);
    connect_->setObjectName(QStringLiteral("serverConnect"));
    setButtonKind(connect_, ButtonKind::Primary);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(Theme::kPadding);
    layout->addWidget(intro);
    layout->addLayout(form);
    layout->addStretch();
    layout->addWidget(buttons);
    const auto changed = [this] {
        base_.clear();
        is_asking_ = false;
        state_->hide();
        warning_->hide();
        refresh();
    };
    connect(address_, &QComboBox::editTextChanged, this, [this, changed] {
        plain_->hide();
        plain_->setChecked(false);
        changed();
    });
    connect(key_, &QLineEdit::textChanged, this, changed);
    connect(plain_, &QCheckBox::toggled, this, changed);
    connect(test_, &QPushButton::clicked, this, &ServerDialog::test);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(connect_, &QPushButton::clicked, this, [this] {
        Q_EMIT connectRequested(wish(), base_, model_->currentData().toString());
        accept();
    });
    refresh();
}

ServerWish ServerDialog::wish() const {
    return {address_->currentText().trimmed(), key_->text(), plain_->isChecked()};
}

void ServerDialog::test() {
    is_asking_ = true;
    base_.clear();
    setTextRole(state_, TextRole::Muted);
    state_->setText(tr("Asking the server…"));
    state_->show();
    warning_->hide();
    refresh();
    Q_EMIT testRequested(wish());
}

void ServerDialog::showAnswer(const ServerAnswer& answer) {
    if (!is_asking_) {
        return; // of what stood there before
    }
    is_asking_ = false;
    base_ = answer.base;
    model_->clear();
    for (const ServerAnswer::Model& model : answer.models) {
        QString text = model.name;
        if (!model.parent.isEmpty()) {
            text = tr("%1 (adapter of %2)").arg(model.name, model.parent);
        } else if (model.max_context > 0) {
            text = tr("%1 (%2 tokens)").arg(model.name, formatCount(model.max_context));
        }
        model_->addItem(text, model.name);
    }
    const int count = model_->count();
    setTextRole(state_, count > 0 ? TextRole::Success : TextRole::Danger);
    state_->setText(count == 0 ? tr("%1 answers, but lists no model.").arg(answer.host)
                    : answer.product.isEmpty()
                        ? tr("%1 answers.").arg(answer.host)
                        : tr("%1 answers: %2.").arg(answer.host, answer.product));
    state_->show();
    if (!answer.is_encrypted && !answer.is_loopback) {
        warning_->setText(tr("Not encrypted: prompts, pictures and the key can be read on the way "
                             "there. Use it in a network that you trust."));
        setTextRole(warning_, TextRole::Danger);
        warning_->show();
    }
    refresh();
}

void ServerDialog::showProblem(const QString& text, bool is_plain) {
    if (!is_asking_) {
        return;
    }
    is_asking_ = false;
    setTextRole(state_, TextRole::Danger);
    state_->setText(text);
    state_->show();
    plain_->setVisible(plain_->isVisible() || is_plain);
    refresh();
}

void ServerDialog::refresh() {
    const bool has_answer = !base_.isEmpty() && model_->count() > 0;
    model_->setVisible(has_answer);
    model_label_->setVisible(has_answer);
    test_->setEnabled(!is_asking_ && !address_->currentText().trimmed().isEmpty());
    connect_->setEnabled(has_answer);
    // Enter does the next thing.
    test_->setDefault(!has_answer);
    connect_->setDefault(has_answer);
    fitHeight();
}

void ServerDialog::fitHeight() {
    resize(isVisible() ? width() : minimumWidth(), neededHeight(*this));
}

} // namespace ui
