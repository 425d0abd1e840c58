// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/computer_dialog.h"

#include "ui/common/note_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QDir>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace ui {

namespace {

QString capability(int number) {
    return QStringLiteral("%1.%2").arg(number / 10).arg(number % 10);
}

QString joined(const QStringList& parts) {
    QStringList there;
    for (const QString& part : parts) {
        if (!part.isEmpty()) {
            there << part;
        }
    }
    return there.join(QStringLiteral(" · "));
}

} // namespace

ComputerDialog::ComputerDialog(QWidget* parent)
    : QDialog(parent), sections_(new QVBoxLayout), copy_(nullptr) {
    setObjectName(QStringLiteral("computerDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("This computer"));
    resize(820 * textZoom() / 100, 640);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(12);
    auto* intro = new QLabel(tr("What Belfry finds here, what of it is used, and why not the rest. "
                                "Nothing of your models and chats is in it."),
                             this);
    intro->setWordWrap(true);
    setTextRole(intro, TextRole::Muted);
    column->addWidget(intro);
    auto* area = new QScrollArea(this);
    area->setObjectName(QStringLiteral("computerArea"));
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

void ComputerDialog::showFacts(const engine::ComputerFacts& facts,
                               const QString& text,
                               const QString& home) {
    text_ = text;
    home_ = home;
    delete body_;
    body_ = new QWidget;
    auto* column = new QVBoxLayout(body_);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(18);
    sections_->insertWidget(0, body_);
    addCards(facts);
    addProcessor(facts);
    addFolders(facts);
    addLibraries(facts);
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

QString ComputerDialog::path(const std::string& file) const {
    const QString text = fromUtf8(file);
    const bool is_below =
        home_.size() > 1 && text.startsWith(home_) &&
        (text.size() == home_.size() || text.at(home_.size()) == QLatin1Char('/') ||
         text.at(home_.size()) == QLatin1Char('\\'));
    return QDir::toNativeSeparators(is_below ? QStringLiteral("~") + text.mid(home_.size()) : text);
}

void ComputerDialog::addCards(const engine::ComputerFacts& facts) {
    using State = engine::MachineLibraryFact::State;
    QGridLayout* grid = addSection(tr("Graphics cards"));
    const QLocale locale;
    for (const engine::CardFact& card : facts.cards) {
        QStringList lines;
        lines << joined(
            {fromUtf8(card.name), tr("capability %1").arg(capability(card.capability)),
             formatBytes(card.total),
             card.free.has_value() ? tr("%1 free now").arg(formatBytes(*card.free)) : QString()});
        if (card.budget.budget > 0) {
            lines << tr("the system gives Belfry %1, it has %2")
                         .arg(formatBytes(card.budget.budget), formatBytes(card.budget.used));
        }
        if (card.read_bytes_per_s > 0) {
            lines << tr("expected: reads %1 GB/s, computes %2 TFLOP/s")
                         .arg(locale.toString(card.read_bytes_per_s / 1e9, 'f', 0),
                              locale.toString(card.flops / 1e12, 'f', 0));
        }
        addRow(grid, deviceName(card.id.toString()), lines.join(QLatin1Char('\n')));
    }
    for (engine::CardTrouble trouble : facts.troubles) {
        trouble.name = path(trouble.name).toStdString(); // a library's, or no path at all
        addRow(grid, trouble.isProblem() ? tr("Problem") : tr("Note"), cardWords(trouble),
               trouble.isProblem());
    }
    if (facts.is_driver_waited_for) {
        addRow(grid, tr("Problem"),
               tr("The driver has not answered for %1.").arg(formatSeconds(facts.driver_seconds)),
               true);
    }
    for (const engine::MachineLibraryFact& library : facts.machine_libraries) {
        QString state;
        switch (library.state) {
        case State::Loaded:
            break;
        case State::NotFound:
            state = tr("not found");
            break;
        case State::NotAsked:
            state = tr("not asked");
            break;
        case State::NotUsed:
            state = tr("not used");
            break;
        case State::DoesNotStart:
            state = tr("does not start (answer %1)").arg(library.answer);
            break;
        }
        addRow(grid, fromUtf8(library.name),
               joined({fromUtf8(library.version), path(library.file), state}));
    }
    addRow(grid, tr("Kernels for cards"),
           facts.card_kernels.empty() ? tr("none in this build") : fromUtf8(facts.card_kernels));
}

void ComputerDialog::addProcessor(const engine::ComputerFacts& facts) {
    const QLocale locale;
    QGridLayout* grid = addSection(tr("Processor and memory"));
    addRow(grid, tr("System"), joined({fromUtf8(facts.system), fromUtf8(facts.program)}));
    addRow(grid, tr("Processor"),
           joined({fromUtf8(facts.processor), tr("%1 threads").arg(formatCount(facts.threads))}));
    QStringList tables;
    for (const std::string& table : facts.kernel_tables) {
        tables << fromUtf8(table);
    }
    addRow(grid, tr("Kernels"),
           tr("%1 runs, of %2").arg(fromUtf8(facts.kernels), tables.join(QStringLiteral(", "))));
    addRow(grid, tr("Memory"),
           joined({formatBytes(facts.memory_total),
                   tr("%1 free now").arg(formatBytes(facts.memory_free))}));
    addRow(grid, tr("Measured"),
           facts.read_bytes_per_s > 0
               ? tr("reads %1 GB/s, computes %2 GFLOP/s")
                     .arg(locale.toString(facts.read_bytes_per_s / 1e9, 'f', 1),
                          locale.toString(facts.flops / 1e9, 'f', 0))
               : tr("not yet: the first plan of a model does it"));
}

void ComputerDialog::addFolders(const engine::ComputerFacts& facts) {
    using Kind = engine::FolderFact::Kind;
    QGridLayout* grid = addSection(tr("Free disk"));
    for (const engine::FolderFact& folder : facts.folders) {
        const QString name = folder.kind == Kind::Models  ? tr("Models")
                             : folder.kind == Kind::Cache ? tr("Cache")
                                                          : tr("Chats");
        const QString room =
            folder.free.has_value()
                ? tr("%1 of %2")
                      .arg(formatBytes(*folder.free), formatBytes(folder.total.value_or(0)))
                : fromUtf8(folder.problem);
        addRow(grid, name, joined({room, path(folder.path)}), !folder.free.has_value());
    }
}

void ComputerDialog::addLibraries(const engine::ComputerFacts& facts) {
    QGridLayout* grid = addSection(tr("Libraries"));
    for (const engine::LibraryFact& library : facts.libraries) {
        addRow(grid, fromUtf8(library.name),
               joined({fromUtf8(library.version),
                       library.file.empty() ? tr("part of the program") : path(library.file)}));
    }
}

} // namespace ui
