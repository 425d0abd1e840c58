// SPDX-License-Identifier: Apache-2.0
#include "ui/library/library_page.h"

#include "ui/common/sentence_words.h"
#include "ui/library/library_model.h"
#include "ui/library/library_words.h"
#include "ui/library/removal_dialog.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/page_stack.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace ui {

namespace {

constexpr int kDetailWidth = 340;         ///< At the usual text size.
constexpr int kDetailsBesideWidth = 1000; ///< From here on the details stand beside the list.

} // namespace

LibraryPage::LibraryPage(QWidget* parent) : QWidget(parent), model_(new LibraryModel(this)) {
    setObjectName(QStringLiteral("libraryPage"));
    auto* column = columnIn(this, {0, 0, 0, 0}, Theme::kGap);
    column->addWidget(buildBar());
    stack_ = new PageStack(this);
    found_ = new QWidget(stack_);
    sides_ = new QBoxLayout(QBoxLayout::LeftToRight, found_);
    sides_->setContentsMargins(0, 0, 0, 0);
    sides_->setSpacing(Theme::kPadding);
    sides_->addWidget(buildList(), 1);
    sides_->addWidget(buildDetail());
    stack_->addWidget(found_);
    stack_->addWidget(buildEmpty());
    column->addWidget(stack_, 1);
    status_ = selectableLabel("libraryStatus", this);
    setTextRole(status_, TextRole::Muted);
    column->addWidget(status_);
    gaps_ = selectableLabel("libraryGaps", this);
    setTextRole(gaps_, TextRole::Muted);
    column->addWidget(gaps_);
    refresh();
}

QWidget* LibraryPage::buildBar() {
    auto* bar = new QWidget(this);
    auto* row = rowIn(bar, {0, 0, 0, 0}, Theme::kGap);
    filter_ = named("libraryFilter", new QLineEdit(bar));
    filter_->setPlaceholderText(tr("Filter by name, size, place"));
    filter_->setAccessibleName(tr("Filter the library"));
    filter_->setClearButtonEnabled(true);
    filter_->setMinimumHeight(Theme::kControlHeight);
    scan_ = pushButton("libraryScan", QString(), bar);
    auto* folders = pushButton("libraryFolders", tr("&Folders…"), bar, "folder");
    folders->setToolTip(tr("Folders of yours in which models are looked for"));
    folders_ = named("libraryFoldersMenu", new QMenu(folders));
    row->addWidget(filter_, 1);
    row->addWidget(folders);
    row->addWidget(scan_);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        model_->setFilter(text);
        refresh();
    });
    connect(folders, &QPushButton::clicked, this, [this, folders] {
        fillFoldersMenu();
        folders_->popup(folders->mapToGlobal(QPoint(0, folders->height() + 4)));
    });
    connect(scan_, &QPushButton::clicked, this,
            [this] { is_scanning_ ? cancelRequested() : scanRequested(); });
    return bar;
}

QWidget* LibraryPage::buildList() {
    list_ = named("libraryList", new QListView(found_));
    list_->setAccessibleName(tr("Models and adapters on this computer"));
    list_->setModel(model_);
    list_->setItemDelegate(new ModelRowDelegate(list_));
    list_->setMouseTracking(true);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setTabKeyNavigation(false);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, list_,
            [this] { list_->doItemsLayout(); });
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this] {
        wanted_.clear();
        refreshDetail();
    });
    connect(list_, &QListView::activated, this, [this] {
        if (load_->isEnabled() && load_->isVisibleTo(this)) {
            load_->click();
        }
    });
    return list_;
}

QWidget* LibraryPage::buildDetail() {
    auto* area = named("libraryDetail", new QScrollArea(found_));
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* card = new QWidget;
    setArea(card, Area::Surface);
    auto* column = columnIn(card, {16, 16, 16, 16}, Theme::kGap);
    name_ = selectableLabel("libraryName", card);
    setTextSize(name_, 115, true);
    facts_ = selectableLabel("libraryFacts", card);
    setTextRole(facts_, TextRole::Muted);
    verdict_ = selectableLabel("libraryVerdict", card);
    way_out_ = selectableLabel("libraryWayOut", card);
    path_ = selectableLabel("libraryPath", card);
    setTextRole(path_, TextRole::Muted);
    for (QLabel* label : {name_, facts_, verdict_, way_out_}) {
        column->addWidget(label);
    }
    column->addSpacing(4);
    const auto button = [&](const QString& text, const char* name, const char* picture) {
        auto* made = pushButton(name, text, card, picture);
        column->addWidget(made);
        return made;
    };
    load_ = button(tr("&Load"), "libraryLoad", "play");
    setButtonKind(load_, ButtonKind::Primary);
    options_ = button(tr("Load &options…"), "libraryOptions", "settings");
    get_ = button(QString(), "libraryGet", "download");
    show_ = button(tr("&Show in folder"), "libraryShow", "folder");
    delete_ = button(tr("&Delete…"), "libraryDelete", "trash");
    column->addWidget(path_); // below what can be pressed: in a small window that comes first
    column->addStretch();
    area->setWidget(card);
    detail_ = area;
    const auto with_path = [this](auto wish) {
        return [this, wish] {
            if (const LibraryItem* item = current()) {
                Q_EMIT(this->*wish)(item->path);
            }
        };
    };
    connect(load_, &QPushButton::clicked, this, [this] {
        if (const LibraryItem* item = current()) {
            const QString path = item->path;
            item->kind == LibraryItem::Kind::Adapter ? adapterRequested(path) : loadRequested(path);
        }
    });
    connect(options_, &QPushButton::clicked, this, with_path(&LibraryPage::optionsRequested));
    connect(show_, &QPushButton::clicked, this, with_path(&LibraryPage::showRequested));
    connect(delete_, &QPushButton::clicked, this, with_path(&LibraryPage::removalRequested));
    connect(get_, &QPushButton::clicked, this, [this] {
        if (const LibraryItem* item = current()) {
            const QString id = item->name.section(QLatin1Char('/'), 0, 1); // without a file's name
            item->state == LibraryItem::State::Usable ? adaptersWanted(id) : getRequested(id);
        }
    });
    return area;
}

QWidget* LibraryPage::buildEmpty() {
    empty_ = named("libraryEmpty", new QWidget(stack_));
    auto* column = new QVBoxLayout(empty_);
    column->setSpacing(Theme::kPadding);
    column->addStretch(2);
    empty_words_ = selectableLabel("libraryEmptyWords", empty_);
    empty_words_->setAlignment(Qt::AlignHCenter);
    column->addWidget(empty_words_);
    auto* row = new QHBoxLayout;
    row->addStretch();
    auto* get =
        pushButton("libraryEmptyGet", tr("&Get a model"), empty_, "download", ButtonKind::Primary);
    auto* add = pushButton("libraryEmptyAdd", tr("&Add a folder…"), empty_);
    row->addWidget(get);
    row->addWidget(add);
    row->addStretch();
    column->addLayout(row);
    column->addStretch(3);
    connect(get, &QPushButton::clicked, this, [this] { Q_EMIT getRequested(QString()); });
    connect(add, &QPushButton::clicked, this, &LibraryPage::folderDialogRequested);
    return empty_;
}

void LibraryPage::fillFoldersMenu() {
    folders_->clear();
    folders_->addAction(icon(QStringLiteral("plus")), tr("Add a folder…"), this,
                        &LibraryPage::folderDialogRequested);
    const QStringList known =
        model_->contents() != nullptr ? model_->contents()->folders : QStringList();
    if (!known.isEmpty()) {
        folders_->addSection(tr("Looked in as well; choose one to take it out"));
    }
    for (const QString& folder : known) {
        folders_->addAction(icon(QStringLiteral("close")), QDir::toNativeSeparators(folder), this,
                            [this, folder] { Q_EMIT folderRemoved(folder); });
    }
}

QString LibraryPage::projectorOf(const QString& path) const {
    const LibraryItem* const item = model_->item(model_->indexOf(path));
    return item == nullptr ? QString() : item->projector;
}

const LibraryItem* LibraryPage::current() const {
    return model_->item(list_->currentIndex());
}

void LibraryPage::showContents(const std::shared_ptr<const LibraryContents>& contents) {
    was_filled_ = true;
    model_->setContents(contents);
    if (const QModelIndex wanted = model_->indexOf(wanted_); wanted.isValid()) {
        list_->setCurrentIndex(wanted);
        list_->scrollTo(wanted);
    }
    refresh();
}

void LibraryPage::setScanning(bool is_scanning) {
    is_scanning_ = is_scanning;
    refresh();
}

void LibraryPage::select(const QString& path) {
    wanted_ = path;
    if (const QModelIndex index = model_->indexOf(path); index.isValid()) {
        list_->setCurrentIndex(index);
    }
}

void LibraryPage::showProblem(const QString& text) {
    problem_ = text;
    refresh();
}

void LibraryPage::showRemoval(const LibraryRemoval& removal) {
    LibraryRemoval asked = removal;
    asked.is_used_here = removal.path == loaded_;
    auto* dialog = new RemovalDialog(asked, window());
    connect(dialog, &QDialog::accepted, this, [this, asked] { Q_EMIT removeRequested(asked); });
    dialog->open();
}

void LibraryPage::refresh() {
    scan_->setText(is_scanning_ ? tr("S&top looking") : tr("L&ook again"));
    scan_->setIcon(icon(is_scanning_ ? QStringLiteral("stop") : QStringLiteral("refresh")));
    const auto& contents = model_->contents();
    const bool is_empty = contents == nullptr || contents->isEmpty();
    stack_->setCurrentWidget(is_empty ? empty_ : found_);
    empty_words_->setText(
        is_scanning_ ? tr("Looking for models…")
                     : tr("No models were found in the folders of Hugging Face, LM Studio and "
                          "llama.cpp. Get one, or tell where yours are."));
    QString status;
    if (!problem_.isEmpty()) {
        status = problem_;
    } else if (is_scanning_ && !is_empty) {
        status = tr("Looking… %n found", nullptr, model_->itemCount());
    } else if (!is_empty && model_->itemCount() == 0) {
        status = tr("Nothing matches the filter.");
    } else if (!is_empty && !contents->is_complete) {
        status = tr("Looking was stopped; there may be more.");
    }
    setTextRole(status_, problem_.isEmpty() ? TextRole::Muted : TextRole::Danger);
    setTextOrHide(status_, status);
    QStringList gaps;
    if (contents != nullptr) {
        for (const engine::Sentence& gap : contents->gaps) {
            gaps << wholeSentence(gap);
        }
    }
    setTextOrHide(gaps_, gaps.join(QLatin1Char('\n')));
    if (!list_->currentIndex().isValid() && model_->itemCount() > 0 && wanted_.isEmpty()) {
        for (int row = 0; row < model_->rowCount(); ++row) {
            if (model_->item(model_->index(row)) != nullptr) {
                list_->setCurrentIndex(model_->index(row));
                break;
            }
        }
    }
    refreshDetail();
}

void LibraryPage::refreshDetail() {
    const LibraryItem* item = current();
    detail_->setVisible(item != nullptr);
    if (item == nullptr) {
        return;
    }
    const bool is_adapter = item->kind == LibraryItem::Kind::Adapter;
    const bool is_usable = item->state == LibraryItem::State::Usable;
    name_->setText(item->revision.isEmpty() ? item->name
                                            : tr("%1 (%2)").arg(item->name, item->revision));
    facts_->setText(itemFacts(*item));
    setTextOrHide(verdict_, verdictSentence(*item));
    setTextRole(verdict_, !is_usable || item->fit == LibraryItem::Fit::DoesNotFit ? TextRole::Danger
                          : item->fit == LibraryItem::Fit::Fits ? TextRole::Success
                                                                : TextRole::Normal);
    setTextOrHide(way_out_, is_usable ? QString() : wholeSentence(item->way_out));
    path_->setText(QDir::toNativeSeparators(item->path));
    load_->setText(is_adapter ? tr("&Add to the model") : tr("&Load"));
    load_->setIcon(icon(is_adapter ? QStringLiteral("plus") : QStringLiteral("play")));
    load_->setVisible(is_usable);
    options_->setVisible(is_usable && !is_adapter);
    const bool is_of_hub = item->place == LibraryItem::Place::HubCache;
    get_->setVisible(is_of_hub && !is_adapter &&
                     (is_usable || item->state == LibraryItem::State::Incomplete));
    get_->setText(is_usable ? tr("Adapters &for it…") : tr("&Get the rest…"));
}

void LibraryPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool is_beside = width() >= kDetailsBesideWidth * textZoom() / 100;
    sides_->setDirection(is_beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    sides_->setStretch(0, 2);
    sides_->setStretch(1, is_beside ? 0 : 3);
    detail_->setMinimumWidth(is_beside ? kDetailWidth * textZoom() / 100 : 0);
    detail_->setMaximumWidth(is_beside ? kDetailWidth * textZoom() / 100 : QWIDGETSIZE_MAX);
}

} // namespace ui
