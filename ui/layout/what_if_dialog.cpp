// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/what_if_dialog.h"

#include "ui/layout/card_box.h"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

WhatIfDialog::WhatIfDialog(QWidget* parent)
    : QDialog(parent), name_(new QLineEdit), card_(new CardBox("whatIfCard")), count_(new QSpinBox),
      memory_(new QDoubleSpinBox), bandwidth_(new QDoubleSpinBox), tflops_(new QDoubleSpinBox),
      ram_(new QDoubleSpinBox) {
    setObjectName(QStringLiteral("whatIfDialog"));
    setWindowTitle(tr("A computer of your own"));
    const auto number = [](QDoubleSpinBox* box, double least, double most, double value,
                           const QString& suffix) {
        box->setRange(least, most);
        box->setDecimals(1);
        box->setValue(value);
        box->setSuffix(suffix);
    };
    number(memory_, 0.5, 1024, 8, tr(" GiB"));
    number(bandwidth_, 1, 20000, 272, tr(" GB/s"));
    number(tflops_, 0, 5000, 30, tr(" TFLOPS"));
    tflops_->setSpecialValueText(tr("not told: what fits only"));
    number(ram_, 2, 4096, 32, tr(" GiB"));
    count_->setRange(0, kMostWhatIfCards);
    count_->setValue(1);
    card_->addFirst(tr("Another card"));
    name_->setText(tr("My computer"));
    name_->setMaxLength(60);
    auto* form = new QFormLayout;
    const auto row = [&](const QString& label, QWidget* field, const char* name) {
        form->addRow(label, field);
        field->setAccessibleName(label);
        field->setObjectName(QString::fromLatin1(name));
    };
    row(tr("Name"), name_, "whatIfName");
    row(tr("Graphics card"), card_, "whatIfCard");
    row(tr("How many"), count_, "whatIfCount");
    row(tr("Memory of each"), memory_, "whatIfMemory");
    row(tr("Memory bandwidth"), bandwidth_, "whatIfBandwidth");
    row(tr("16-bit arithmetic"), tflops_, "whatIfTflops");
    row(tr("Main memory"), ram_, "whatIfRam");
    auto* note = new QLabel(tr("Of each card 0.6 GiB are taken as used by the desktop and the "
                               "driver. Speeds are estimates."));
    note->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Ok)->setText(tr("Plan for it"));
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(card_, &CardBox::computerChosen, this, [this] {
        const WhatIfComputer listed = card_->computer();
        if (!listed.cards.empty()) {
            const GraphicsCard& card = listed.cards.front();
            count_->setValue(static_cast<int>(listed.cards.size()));
            memory_->setValue(card.gib);
            bandwidth_->setValue(card.read_gb_per_s);
            tflops_->setValue(card.tflops);
        }
    });
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(note);
    layout->addWidget(buttons);
}

WhatIfComputer WhatIfDialog::computer() const {
    WhatIfComputer computer;
    computer.name = name_->text().trimmed().isEmpty() ? tr("My computer") : name_->text().trimmed();
    computer.ram_gib = ram_->value();
    const WhatIfComputer listed = card_->computer();
    const GraphicsCard card{listed.cards.empty() ? tr("%1 GiB card").arg(memory_->value())
                                                 : listed.cards.front().name,
                            memory_->value(), bandwidth_->value(), tflops_->value()};
    for (int i = 0; i < count_->value(); ++i) {
        computer.cards.push_back(card);
    }
    return computer;
}

} // namespace ui
