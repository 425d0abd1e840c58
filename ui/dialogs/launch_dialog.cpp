// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/launch_dialog.h"

#include "ui/common/needed_height.h"
#include "ui/common/sentence_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kWidth = 680;
constexpr int kLines = 14;
constexpr quint64 kGiB = quint64{1} << 30U;

QComboBox* box(const char* name, const QString& words, QWidget* parent) {
    auto* one = named(name, new QComboBox(parent));
    one->setAccessibleName(words);
    one->setToolTip(words);
    return one;
}

} // namespace

LaunchDialog::LaunchDialog(QWidget* parent)
    : QDialog(parent), product_(box("launchProduct", tr("Server program"), this)),
      form_(box("launchForm", tr("What to copy"), this)),
      count_(box("launchCards", tr("Cards of the server"), this)),
      memory_(box("launchMemory", tr("Memory of each card"), this)),
      estimate_(selectableLabel("launchEstimate", this)), text_(new QPlainTextEdit(this)),
      losses_(selectableLabel("launchLosses", this)), stack_(selectableLabel("launchStack", this)),
      copy_stack_(new QPushButton(tr("Copy the &stack command"), this)),
      merge_(selectableLabel("launchMerge", this)),
      copy_merge_(new QPushButton(tr("Copy the &merge command"), this)), copy_(nullptr) {
    setObjectName(QStringLiteral("launchDialog"));
    setWindowTitle(tr("Run it on a server"));
    setMinimumWidth(kWidth * textZoom() / 100);
    form_->addItem(tr("Command"));
    form_->addItem(QStringLiteral("compose.yaml"));
    for (const int count : {1, 2, 3, 4, 6, 8}) {
        count_->addItem(count == 1 ? tr("1 card") : tr("%1 cards").arg(count), count);
    }
    for (const int gib : {16, 24, 32, 40, 48, 80, 96, 141}) {
        memory_->addItem(tr("of %1").arg(formatBytes(static_cast<quint64>(gib) * kGiB)),
                         static_cast<qulonglong>(gib) * kGiB);
    }
    text_->setObjectName(QStringLiteral("launchText"));
    text_->setAccessibleName(tr("Command or compose file"));
    text_->setReadOnly(true);
    text_->setTabChangesFocus(true);
    text_->setLineWrapMode(QPlainTextEdit::NoWrap);
    text_->setFont(codeFont(95));
    text_->setMinimumHeight(QFontMetrics(text_->font()).lineSpacing() * kLines);
    setTextRole(estimate_, TextRole::Muted);
    setTextRole(losses_, TextRole::Muted);
    copy_merge_->setObjectName(QStringLiteral("launchCopyMerge"));
    auto* row = new QHBoxLayout;
    row->setSpacing(Theme::kGap);
    for (QComboBox* one : {product_, form_, count_, memory_}) {
        row->addWidget(one);
    }
    row->addStretch();
    copy_stack_->setObjectName(QStringLiteral("launchCopyStack"));
    auto* ways = new QGridLayout; // their buttons are as wide as each other
    ways->setColumnStretch(0, 1);
    ways->setHorizontalSpacing(Theme::kPadding);
    ways->setVerticalSpacing(Theme::kGap);
    ways->addWidget(stack_, 0, 0);
    ways->addWidget(copy_stack_, 0, 1, Qt::AlignTop);
    ways->addWidget(merge_, 1, 0);
    ways->addWidget(copy_merge_, 1, 1, Qt::AlignTop);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    copy_ = buttons->addButton(tr("C&opy"), QDialogButtonBox::ActionRole);
    copy_->setObjectName(QStringLiteral("launchCopy"));
    copy_->setIcon(icon(QStringLiteral("copy")));
    setButtonKind(copy_, ButtonKind::Primary);
    auto* layout = columnIn(this, {16, 16, 16, 16}, Theme::kPadding);
    layout->addLayout(row);
    layout->addWidget(estimate_);
    layout->addWidget(text_, 1);
    layout->addWidget(losses_);
    layout->addLayout(ways);
    layout->addWidget(buttons);
    for (QComboBox* one : {product_, form_}) {
        connect(one, &QComboBox::currentIndexChanged, this, &LaunchDialog::refresh);
    }
    for (QComboBox* one : {count_, memory_}) {
        connect(one, &QComboBox::activated, this, &LaunchDialog::askAgain);
    }
    connect(copy_, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(text()); });
    connect(copy_merge_, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(fromUtf8(launch_.merge_command)); });
    connect(copy_stack_, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(fromUtf8(launch_.stack_command)); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void LaunchDialog::askAgain() {
    engine::ServerCards cards;
    cards.count = count_->currentData().toInt();
    cards.bytes_each = memory_->currentData().toULongLong();
    Q_EMIT cardsChosen(cards);
}

void LaunchDialog::showLaunch(const engine::ServerLaunch& launch) {
    launch_ = launch;
    const QSignalBlocker quiet(product_);
    const int chosen = std::max(0, product_->currentIndex());
    product_->clear();
    for (const engine::LaunchForm& form : launch.forms) {
        product_->addItem(fromUtf8(form.product));
    }
    product_->setCurrentIndex(chosen);
    count_->setCurrentIndex(count_->findData(launch.cards.count));
    memory_->setCurrentIndex(memory_->findData(static_cast<qulonglong>(launch.cards.bytes_each)));
    refresh();
}

QString LaunchDialog::text() const {
    const auto index = static_cast<size_t>(std::max(0, product_->currentIndex()));
    if (index >= launch_.forms.size()) {
        return {};
    }
    const engine::LaunchForm& form = launch_.forms[index];
    return fromUtf8(form_->currentIndex() == 1 ? form.compose : form.command);
}

void LaunchDialog::refresh() {
    text_->setPlainText(text());
    const bool fits = launch_.bytes_each <= launch_.cards.bytes_each;
    setTextRole(estimate_, fits ? TextRole::Muted : TextRole::Danger);
    estimate_->setText(
        fits ? tr("About %1 on each card, in 16 bit: an estimate. Belfry starts nothing there: "
                  "copy it, run it on the server, then connect to it.")
                   .arg(formatBytes(launch_.bytes_each))
             : tr("About %1 would be needed on each card, in 16 bit: take more cards or larger "
                  "ones.")
                   .arg(formatBytes(launch_.bytes_each)));
    const auto index = static_cast<size_t>(std::max(0, product_->currentIndex()));
    QStringList lines;
    if (index < launch_.forms.size()) {
        for (const engine::Sentence& loss : launch_.forms[index].losses) {
            lines.append(QStringLiteral("• ") + wholeSentence(loss));
        }
    }
    losses_->setText(tr("Not as here:") + QLatin1Char('\n') + lines.join(QLatin1Char('\n')));
    losses_->setVisible(!lines.isEmpty());
    const bool can_merge = !launch_.merge_command.empty();
    const bool can_stack = !launch_.stack_command.empty();
    stack_->setText(tr("One adapter that does what these do at their strengths, without any loss: "
                       "stack them here first, then name it in the command in their place."));
    stack_->setVisible(can_stack);
    copy_stack_->setVisible(can_stack);
    merge_->setText(tr("These adapters in one model that any server takes as it is: merge them "
                       "here first."));
    merge_->setVisible(can_merge);
    copy_merge_->setVisible(can_merge);
    const int needed = neededHeight(*this);
    setMinimumHeight(needed);
    resize(isVisible() ? width() : minimumWidth(), std::max(needed, isVisible() ? height() : 0));
}

} // namespace ui
