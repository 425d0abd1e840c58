// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/computer_dialog.h"

#include "ui/common/sentence_words.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace ui {

ComputerDialog::ComputerDialog(QWidget* parent)
    : QDialog(parent), sections_(new QVBoxLayout), copy_(nullptr) {
    setObjectName(QStringLiteral("computerDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("This computer"));
    resize(820 * textZoom() / 100, 640);
    auto* column = columnIn(this, {16, 16, 16, 16}, 12);
    auto* intro = new QLabel(tr("What Belfry finds here, what of it is used, and why not the rest. "
                                "Nothing of your models and chats is in it."),
                             this);
    intro->setWordWrap(true);
    setTextRole(intro, TextRole::Muted);
    column->addWidget(intro);
    auto* area = named("computerArea", new QScrollArea(this));
    area->setAccessibleName(windowTitle());
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget;
    sections_->setContentsMargins(0, 0, 12, 0);
    page->setLayout(sections_);
    area->setWidget(page);
    column->addWidget(area, 1);
    auto* waiting = new QLabel(tr("Looking…"), page);
    setTextRole(waiting, TextRole::Muted);
    body_ = waiting;
    sections_->addWidget(waiting);
    sections_->addStretch();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    copy_ = buttons->addButton(tr("Copy as text"), QDialogButtonBox::ActionRole);
    copy_->setObjectName(QStringLiteral("copyComputer"));
    copy_->setIcon(icon(QStringLiteral("copy")));
    copy_->setEnabled(false);
    QPushButton* refresh = buttons->addButton(tr("Refresh"), QDialogButtonBox::ActionRole);
    refresh->setObjectName(QStringLiteral("refreshComputer"));
    refresh->setIcon(icon(QStringLiteral("refresh")));
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(refresh, &QPushButton::clicked, this, &ComputerDialog::refreshRequested);
    connect(copy_, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(text_); });
}

void ComputerDialog::showFacts(const std::vector<engine::ComputerSection>& sections,
                               const QString& text) {
    text_ = text;
    delete body_;
    body_ = new QWidget;
    columnIn(body_, {0, 0, 0, 0}, 18);
    sections_->insertWidget(0, body_);
    for (const engine::ComputerSection& section : sections) {
        QGridLayout* grid = addSection(sentenceWords(section.title));
        for (const engine::ComputerRow& row : section.rows) {
            QString name = sentenceWords(row.name);
            if (!name.isEmpty() && row.name.pattern[0] != '%') { // no name of a library
                name[0] = name[0].toUpper();
            }
            addRow(grid, name, sentenceWords(row.value), row.is_problem);
        }
    }
    copy_->setEnabled(true);
}

QGridLayout* ComputerDialog::addSection(const QString& title) {
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(20);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, 150 * textZoom() / 100);
    grid->setColumnStretch(1, 1);
    auto* label = new QLabel(title, body_);
    setTextSize(label, 105, true);
    grid->addWidget(label, 0, 0, 1, 2);
    qobject_cast<QVBoxLayout*>(body_->layout())->addLayout(grid);
    return grid;
}

void ComputerDialog::addRow(QGridLayout* grid,
                            const QString& name,
                            const QString& value,
                            bool is_bad) {
    const int row = grid->rowCount();
    auto* label = new QLabel(name, body_);
    setTextRole(label, TextRole::Muted);
    auto* text = new QLabel(value, body_);
    text->setTextFormat(Qt::PlainText);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    text->setAccessibleName(name);
    if (is_bad) {
        setTextRole(text, TextRole::Danger);
    }
    grid->addWidget(label, row, 0, Qt::AlignTop);
    grid->addWidget(text, row, 1);
}

} // namespace ui
