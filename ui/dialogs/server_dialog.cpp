// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/server_dialog.h"

#include "ui/common/needed_height.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace ui {

namespace {

constexpr int kServerDialogWidth = 480;

QLabel* words(const char* name, QWidget* parent) {
    auto* label = selectableLabel(name, parent);
    label->hide();
    return label;
}

} // namespace

ServerDialog::ServerDialog(KnownServers known, QWidget* parent)
    : QDialog(parent), known_(std::move(known)), address_(new QComboBox(this)),
      key_(new QLineEdit(this)), key_place_(words("serverKeyPlace", this)),
      forget_(new QPushButton(tr("&Forget the key"), this)), authority_row_(new QWidget(this)),
      authority_label_(new QLabel(tr("A&uthority"), this)),
      authority_(new QLineEdit(authority_row_)),
      plain_(new QCheckBox(tr("&Allow it without encryption: everybody on the way can read along"),
                           this)),
      test_(new QPushButton(tr("&Test the connection"), this)), state_(words("serverState", this)),
      warning_(words("serverWarning", this)), model_label_(new QLabel(tr("&Model"), this)),
      model_(new QComboBox(this)), connect_(nullptr) {
    setObjectName(QStringLiteral("serverDialog"));
    setWindowTitle(tr("Connect to a server"));
    setMinimumWidth(kServerDialogWidth * textZoom() / 100);
    auto* intro = new QLabel(
        tr("A server with OpenAI's interface answers in place of this computer: vLLM, SGLang, "
           "llama-server, Belfry on another machine. What you write and attach is sent there."),
        this);
    intro->setWordWrap(true);
    setTextRole(intro, TextRole::Muted);
    address_->setObjectName(QStringLiteral("serverAddress"));
    address_->setEditable(true);
    address_->addItems(known_.addresses);
    address_->setCurrentIndex(known_.addresses.isEmpty() ? -1 : 0);
    address_->lineEdit()->setPlaceholderText(QStringLiteral("https://gpu.example.org/v1"));
    key_->setObjectName(QStringLiteral("serverKey"));
    key_->setEchoMode(QLineEdit::Password);
    plain_->setObjectName(QStringLiteral("serverPlain"));
    plain_->hide();
    setTextRole(key_place_, TextRole::Muted);
    setTextSize(key_place_, 90);
    forget_->setObjectName(QStringLiteral("serverForgetKey"));
    setButtonKind(forget_, ButtonKind::Flat);
    buildAuthority();
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
    auto* key_label = new QLabel(tr("&Key"), this);
    key_label->setBuddy(key_);
    auto* key_row = new QHBoxLayout;
    key_row->addWidget(key_, 1);
    key_row->addWidget(forget_);
    form->addRow(key_label, key_row);
    form->addRow(QString(), key_place_);
    form->addRow(authority_label_, authority_row_);
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
    auto* layout = columnIn(this, {16, 16, 16, 16}, Theme::kPadding);
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
        findKnown();
        changed();
    });
    connect(authority_, &QLineEdit::textChanged, this, changed);
    connect(key_, &QLineEdit::textChanged, this, changed);
    connect(plain_, &QCheckBox::toggled, this, changed);
    connect(test_, &QPushButton::clicked, this, &ServerDialog::test);
    connect(forget_, &QPushButton::clicked, this, &ServerDialog::forgetKey);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(connect_, &QPushButton::clicked, this, [this] {
        Q_EMIT connectRequested(wish(), base_, model_->currentData().toString());
        accept();
    });
    findKnown();
    refresh();
}

void ServerDialog::buildAuthority() {
    authority_->setObjectName(QStringLiteral("serverAuthority"));
    authority_->setPlaceholderText(tr("A PEM file; the system's authorities count as well"));
    authority_->setToolTip(tr("The certificate of an authority of your own that vouches for this "
                              "server. Ask whoever runs the server for it."));
    authority_label_->setBuddy(authority_);
    auto* choose = pushButton("serverAuthorityChoose", tr("Choose…"), authority_row_);
    auto* row = rowIn(authority_row_, {0, 0, 0, 0}, Theme::kGap);
    row->addWidget(authority_, 1);
    row->addWidget(choose);
    connect(choose, &QPushButton::clicked, this, &ServerDialog::chooseAuthority);
}

void ServerDialog::chooseAuthority() {
    auto* dialog = new QFileDialog(this, tr("Choose the certificate of an authority"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Certificates (*.pem *.crt *.cer)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this,
            [this](const QString& file) { authority_->setText(QDir::toNativeSeparators(file)); });
    dialog->open();
}

void ServerDialog::findKnown() {
    const QString address = address_->currentText().trimmed();
    const bool is_keyed = known_.keyed.contains(address);
    key_->setPlaceholderText(is_keyed ? tr("The one that is kept") : tr("None"));
    forget_->setVisible(is_keyed);
    const QString file = known_.authorities.value(address);
    authority_->setText(QDir::toNativeSeparators(file));
    // Few need one: shown to those, and to whom a server is refused for want of one.
    authority_row_->setVisible(!file.isEmpty());
    authority_label_->setVisible(!file.isEmpty());
}

void ServerDialog::forgetKey() {
    const QString address = address_->currentText().trimmed();
    known_.keyed.removeAll(address);
    Q_EMIT forgetKeyRequested(address);
    findKnown();
    fitHeight();
}

void ServerDialog::showKeyPlace(KeyPlace place) {
    key_place_->setText(
        place == KeyPlace::Keyring
            ? tr("A key that you type is kept in the system's keyring.")
            : tr("A key that you type is kept in a file that only you can read: no keyring runs "
                 "here."));
    key_place_->setVisible(place != KeyPlace::Unknown);
    fitHeight();
}

ServerWish ServerDialog::wish() const {
    return {address_->currentText().trimmed(), key_->text(), plain_->isChecked(),
            QDir::fromNativeSeparators(authority_->text().trimmed())};
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

void ServerDialog::showProblem(const ServerProblem& problem) {
    if (!is_asking_) {
        return;
    }
    is_asking_ = false;
    setTextRole(state_, TextRole::Danger);
    state_->setText(problem.words);
    state_->show();
    plain_->setVisible(plain_->isVisible() || problem.is_plain);
    if (problem.is_authority) {
        authority_row_->show();
        authority_label_->show();
    }
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
