// SPDX-License-Identifier: Apache-2.0
#include "ui/history/history_pane.h"

#include "ui/common/shortcuts.h"
#include "ui/history/history_delegate.h"
#include "ui/history/history_model.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAccessible>
#include <QAction>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QStandardPaths>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

namespace {

/// After the last key, so that a word that is typed is one search.
constexpr int kSearchMs = 120;
/// A deletion offers its undo this long. Ctrl+Z works longer.
constexpr int kUndoMs = 12'000;

/// What needs a word below the list: a card with a hairline, so that it reads as one thing.
class Card : public QFrame {
public:
    explicit Card(QWidget* parent = nullptr) : QFrame(parent) {}

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& theme = Theme::current();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(theme.border);
        painter.setBrush(theme.raised);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius,
                                Theme::kRadius);
    }
};

} // namespace

HistoryPane::HistoryPane(QWidget* parent)
    : QFrame(parent), model_(new HistoryModel(this)), new_chat_(new QPushButton(tr("New chat"))),
      more_(new QToolButton), search_(new QLineEdit), list_(new QListView),
      empty_(wrappedLabel("historyEmpty", this)), undo_(new Card(this)),
      undo_text_(wrappedLabel("historyUndoText", undo_)), problem_(new Card),
      problem_text_(wrappedLabel("historyProblemText", problem_)),
      undo_passing_(new Passing(undo_)) {
    setObjectName(QStringLiteral("historyPane"));
    setAccessibleName(tr("Chats"));
    setArea(this, Area::Surface);
    setMinimumWidth(180);
    new_chat_->setObjectName(QStringLiteral("newChat"));
    setKeyToolTip(new_chat_, tr("New chat"), QStringLiteral("newChat"));
    setButtonKind(new_chat_, ButtonKind::Primary);
    connect(new_chat_, &QPushButton::clicked, this, &HistoryPane::newChatRequested);
    more_->setObjectName(QStringLiteral("historyMore"));
    more_->setIcon(icon(QStringLiteral("more")));
    setIconButton(more_, 20, Theme::kControlHeight);
    more_->setAccessibleName(tr("More about chats"));
    more_->setToolTip(more_->accessibleName());
    setButtonKind(more_, ButtonKind::Flat);
    connect(more_, &QToolButton::clicked, this, [this] {
        auto* menu = named("historyMoreMenu", new QMenu(this));
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->addAction(tr("Import a chat (JSON)…"), this, &HistoryPane::askForImport);
        menu->popup(more_->mapToGlobal(QPoint(0, more_->height())));
    });
    search_->setObjectName(QStringLiteral("historySearch"));
    search_->setPlaceholderText(tr("Search chats"));
    search_->setAccessibleName(tr("Search chats"));
    setKeyToolTip(search_, tr("Finds chats in which every word occurs"),
                  QStringLiteral("searchChats"));
    search_->setClearButtonEnabled(true);
    search_->addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    search_->installEventFilter(this);
    search_timer_.setSingleShot(true);
    search_timer_.setInterval(kSearchMs);
    connect(search_, &QLineEdit::textChanged, &search_timer_, qOverload<>(&QTimer::start));
    connect(&search_timer_, &QTimer::timeout, this,
            [this] { Q_EMIT searchRequested(search_->text().simplified()); });

    list_->setObjectName(QStringLiteral("historyList"));
    list_->setAccessibleName(tr("Chats, latest first"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setModel(model_);
    auto* delegate = new HistoryDelegate(list_);
    list_->setItemDelegate(delegate);
    list_->setMouseTracking(true);
    list_->setUniformItemSizes(false);
    list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setResizeMode(QListView::Adjust);
    list_->setEditTriggers(QAbstractItemView::EditKeyPressed); // F2
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
    list_->viewport()->setAutoFillBackground(false);
    list_->installEventFilter(this);
    connect(list_, &QListView::clicked, this, &HistoryPane::choose);
    connect(list_, &QListView::customContextMenuRequested, this, [this](const QPoint& place) {
        const QModelIndex index = list_->indexAt(place);
        openMenuByMouse(index, list_->viewport()->mapToGlobal(place));
    });
    connect(delegate, &HistoryDelegate::menuRequested, this, &HistoryPane::openMenuByMouse);
    connect(model_, &HistoryModel::renameRequested, this, &HistoryPane::renameRequested);
    setTextRole(empty_, TextRole::Muted);
    empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    empty_->setContentsMargins(8, 8, 8, 8);

    auto* column = columnIn(this, {12, 12, 12, 12}, 8);
    auto* top = new QHBoxLayout();
    top->setSpacing(4);
    top->addWidget(new_chat_, 1);
    top->addWidget(more_);
    column->addLayout(top);
    column->addWidget(search_);
    column->addWidget(empty_, 1);
    column->addWidget(list_, 1);
    buildFooter();
    column->addWidget(problem_);
    updateEmptyText();
}

void HistoryPane::buildFooter() {
    for (QFrame* frame : {undo_, problem_}) {
        frame->hide();
    }
    undo_->setObjectName(QStringLiteral("historyUndo"));
    auto* undo_button = pushButton("historyUndoButton", tr("Undo"), undo_);
    undo_button->setToolTip(
        tr("Brings the chat back (%1)")
            .arg(QKeySequence(QKeySequence::Undo).toString(QKeySequence::NativeText)));
    auto* undo_column = columnIn(undo_, {12, 8, 8, 8}, 4);
    undo_column->addWidget(undo_text_);
    undo_column->addWidget(undo_button, 0, Qt::AlignRight);
    connect(undo_button, &QPushButton::clicked, this, &HistoryPane::undoRemove);
    connect(undo_passing_, &Passing::passed, this, &HistoryPane::withdrawUndo);

    problem_->setObjectName(QStringLiteral("historyProblem"));
    auto* title = wrappedLabel("historyProblemTitle", problem_);
    title->setText(tr("Chats are not being saved"));
    setTextSize(title, 100, true);
    setTextRole(title, TextRole::Danger);
    problem_text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setTextSize(problem_text_, 92);
    auto* retry = pushButton("historyRetry", tr("Try again"), problem_);
    auto* problem_column = columnIn(problem_, {12, 8, 8, 8}, 4);
    problem_column->addWidget(title);
    problem_column->addWidget(problem_text_);
    problem_column->addWidget(retry, 0, Qt::AlignRight);
    connect(retry, &QPushButton::clicked, this, &HistoryPane::retryRequested);
}

void HistoryPane::showChats(const QString& query, const std::vector<ui::ChatSummary>& chats) {
    if (query != search_->text().simplified()) {
        return; // a later search is on its way
    }
    is_listed_ = true;
    model_->setChats(chats, query);
    setCurrentChat(current_id_);
    updateEmptyText();
}

void HistoryPane::updateEmptyText() {
    const bool is_empty = model_->chatCount() == 0;
    if (!model_->query().isEmpty()) {
        empty_->setText(tr("No chat contains “%1”.").arg(model_->query()));
    } else {
        empty_->setText(is_listed_ ? tr("Your chats appear here. Each one is saved on this "
                                        "computer after every message.")
                                   : QString());
    }
    empty_->setVisible(is_empty);
    list_->setVisible(!is_empty);
}

void HistoryPane::setCurrentChat(const QString& id) {
    current_id_ = id;
    const QModelIndex index = model_->indexOf(id);
    if (index.isValid()) {
        list_->setCurrentIndex(index);
    } else {
        list_->selectionModel()->clear();
    }
}

QModelIndex HistoryPane::current() const {
    return list_->currentIndex();
}

void HistoryPane::choose(const QModelIndex& index) {
    const QString id = index.data(HistoryModel::IdRole).toString();
    if (!id.isEmpty()) {
        current_id_ = id;
        Q_EMIT chatChosen(id, model_->query());
    }
}

void HistoryPane::focusSearch() {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

void HistoryPane::remove(const QModelIndex& index) {
    const QString id = index.data(HistoryModel::IdRole).toString();
    if (id.isEmpty()) {
        return;
    }
    removed_id_ = id;
    undo_text_->setText(tr("Deleted: %1").arg(index.data().toString()));
    undo_->show();
    placeUndo();
    undo_passing_->start(kUndoMs);
    undo_passing_->holdClicks();
    Q_EMIT undoOffered(undo_text_->text());
    QAccessibleEvent alert(undo_text_, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
    Q_EMIT removeRequested(id);
    if (id == current_id_) {
        current_id_.clear();
        Q_EMIT newChatRequested(); // what is deleted is not left on screen
    }
}

void HistoryPane::removeCurrent() {
    remove(model_->indexOf(current_id_));
}

void HistoryPane::undoRemove() {
    if (removed_id_.isEmpty()) {
        return;
    }
    const QString id = removed_id_;
    removed_id_.clear();
    withdrawUndo();
    Q_EMIT restoreRequested(id);
    current_id_ = id;
    Q_EMIT chatChosen(id, QString());
}

void HistoryPane::placeUndo() {
    if (undo_->isHidden()) {
        return;
    }
    const QMargins around = layout()->contentsMargins();
    const int width = this->width() - around.left() - around.right();
    const int height = undo_->layout()->heightForWidth(width);
    const int floor = problem_->isHidden() ? this->height() - around.bottom()
                                           : problem_->y() - layout()->spacing();
    undo_->setGeometry(around.left(), floor - height, width, height);
    undo_->raise();
}

void HistoryPane::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    placeUndo();
}

void HistoryPane::withdrawUndo() {
    undo_passing_->stop();
    undo_->hide();
    Q_EMIT undoWithdrawn();
}

void HistoryPane::showSaveProblem(const QString& message) {
    problem_text_->setText(message);
    problem_->setVisible(!message.isEmpty());
    layout()->activate();
    placeUndo();
    if (!message.isEmpty()) {
        QAccessibleEvent alert(problem_, QAccessible::Alert);
        QAccessible::updateAccessibility(&alert);
    }
}

QMenu* HistoryPane::openMenu(const QModelIndex& index, const QPoint& global_position) {
    const QString id = index.data(HistoryModel::IdRole).toString();
    if (id.isEmpty()) {
        return nullptr;
    }
    const QString title = index.data().toString();
    auto* menu = named("historyMenu", new QMenu(this));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QPersistentModelIndex row(index);
    menu->addAction(tr("Open"), this, [this, row] { choose(row); });
    QAction* rename = menu->addAction(tr("Rename"), this, [this, row] { list_->edit(row); });
    rename->setShortcut(Qt::Key_F2);
    const bool is_pinned = index.data(HistoryModel::IsPinnedRole).toBool();
    menu->addAction(icon(QStringLiteral("pin")), is_pinned ? tr("Unpin") : tr("Pin to the top"),
                    this, [this, id, is_pinned] { Q_EMIT pinRequested(id, !is_pinned); });
    menu->addAction(tr("Duplicate"), this, [this, id, title] {
        Q_EMIT copyRequested(id, tr("%1 (copy)", "title of a chat").arg(title));
    });
    menu->addSeparator();
    menu->addAction(icon(QStringLiteral("download")), tr("Export as Markdown…"), this,
                    [this, id, title] { askForFile(id, title, ExportFormat::Markdown); });
    menu->addAction(tr("Export as JSON…"), this,
                    [this, id, title] { askForFile(id, title, ExportFormat::Json); });
    menu->addSeparator();
    QAction* remove_action = menu->addAction(icon(QStringLiteral("trash")), tr("Delete"), this,
                                             [this, row] { remove(row); });
    if (id == current_id_) {
        for (const Shortcut& shortcut : shortcuts()) {
            if (shortcut.action == QStringLiteral("deleteChat") && !shortcut.keys.isEmpty()) {
                remove_action->setShortcut(shortcut.keys.first());
            }
        }
    }
    menu->popup(global_position);
    return menu;
}

void HistoryPane::openMenuByMouse(const QModelIndex& index, const QPoint& global_position) {
    if (const QMenu* menu = openMenu(index, global_position)) {
        // The click has marked its row; the mark goes back to the chat that is shown.
        connect(menu, &QMenu::aboutToHide, this, [this] { setCurrentChat(current_id_); });
    }
}

void HistoryPane::askForFile(const QString& id, const QString& title, ExportFormat format) {
    // open(), not exec(): nothing waits inside a dialog while a model is answering.
    auto* dialog = new QFileDialog(this, tr("Export chat"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    const bool is_markdown = format == ExportFormat::Markdown;
    dialog->setNameFilter(is_markdown ? tr("Markdown (*.md)") : tr("JSON (*.json)"));
    dialog->setDefaultSuffix(is_markdown ? QStringLiteral("md") : QStringLiteral("json"));
    dialog->setDirectory(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation));
    dialog->selectFile(exportFileName(title, format));
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, id, format](const QString& file) { Q_EMIT exportRequested(id, file, format); });
    dialog->open();
}

void HistoryPane::askForImport() {
    auto* dialog = named("importDialog", new QFileDialog(this, tr("Import a chat")));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilter(tr("Chats exported by Belfry (*.json)"));
    dialog->setDirectory(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation));
    connect(dialog, &QFileDialog::fileSelected, this, &HistoryPane::importRequested);
    dialog->open();
}

bool HistoryPane::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) {
        return QFrame::eventFilter(watched, event);
    }
    auto* key = static_cast<QKeyEvent*>(event);
    const bool is_enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (watched == search_) {
        if (key->key() == Qt::Key_Down || is_enter) {
            // From the field into the results: the first chat, not the heading above it.
            for (int row = 0; row < model_->rowCount(); ++row) {
                const QModelIndex index = model_->index(row);
                if (!index.data(HistoryModel::IsHeadingRole).toBool()) {
                    list_->setCurrentIndex(index);
                    list_->setFocus(Qt::OtherFocusReason);
                    if (is_enter) {
                        choose(index);
                    }
                    break;
                }
            }
            return true;
        }
        if (key->matches(QKeySequence::Undo) && !search_->isUndoAvailable()) {
            undoRemove();
            return true;
        }
        if (key->key() == Qt::Key_Escape && !search_->text().isEmpty()) {
            search_->clear();
            return true;
        }
    }
    if (watched == list_) {
        if (is_enter) {
            choose(current());
            return true;
        }
        if (key->matches(QKeySequence::Undo)) {
            undoRemove();
            return true;
        }
        const bool is_menu_key =
            key->key() == Qt::Key_Menu ||
            (key->key() == Qt::Key_F10 && key->modifiers() == Qt::ShiftModifier);
        if (is_menu_key && current().isValid()) {
            openMenu(current(),
                     list_->viewport()->mapToGlobal(list_->visualRect(current()).center()));
            return true;
        }
        // Never on a bare Delete or Backspace: a chat must not vanish by a slip of the hand.
        if (key->key() == Qt::Key_Backspace &&
            key->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier)) {
            remove(current());
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace ui
