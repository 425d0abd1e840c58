// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/find_bar.h"

#include "ui/chat/chat_finder.h"
#include "ui/chat/message_list.h"
#include "ui/common/shortcuts.h"
#include "ui/style/format.h"
#include "ui/style/usual_widgets.h"

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>

namespace ui {

FindBar::FindBar(ChatModel* model, MessageList* list, QWidget* parent)
    : QFrame(parent), list_(list), finder_(new ChatFinder(model, this)),
      field_(new QLineEdit(this)), count_(new QLabel(this)) {
    setObjectName(QStringLiteral("findBar"));
    setAccessibleName(tr("Find in the chat"));
    field_->setObjectName(QStringLiteral("findField"));
    field_->setPlaceholderText(tr("Find in this chat"));
    field_->setAccessibleName(tr("Find in this chat"));
    field_->addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    field_->installEventFilter(this);
    count_->setObjectName(QStringLiteral("findCount"));
    setTextRole(count_, TextRole::Muted);
    count_->setAlignment(Qt::AlignCenter);
    count_->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("1,000 of 9,999")));
    auto* row = rowIn(this, {8, 6, 6, 6}, 4);
    row->addWidget(field_, 1);
    row->addSpacing(4);
    row->addWidget(count_);
    const auto button = [&](const char* name, const char* symbol, const QString& text) {
        auto* made = named(name, new QToolButton(this));
        made->setIcon(icon(QString::fromLatin1(symbol)));
        setIconButton(made, 16, 28);
        made->setAccessibleName(text);
        setButtonKind(made, ButtonKind::Flat);
        row->addWidget(made);
        return made;
    };
    before_ = button("findPrevious", "chevron-up", tr("Previous hit"));
    next_ = button("findNext", "chevron-down", tr("Next hit"));
    auto* close = button("findClose", "close", tr("End the search"));
    setKeyToolTip(before_, tr("Previous hit"), QStringLiteral("findPrevious"));
    setKeyToolTip(next_, tr("Next hit"), QStringLiteral("findNext"));
    close->setToolTip(tr("End the search (Esc)"));
    connect(before_, &QToolButton::clicked, this, [this] { step(-1); });
    connect(next_, &QToolButton::clicked, this, [this] { step(1); });
    connect(close, &QToolButton::clicked, this, &FindBar::leave);
    connect(field_, &QLineEdit::textChanged, this, [this](const QString& text) {
        goes_without_hit_ = false;
        search(FindNeedle::phrase(text));
    });
    connect(finder_, &ChatFinder::countsChanged, this, &FindBar::showCounts);
    connect(finder_, &ChatFinder::currentChanged, this,
            [this] { list_->showHit(finder_->currentRow(), finder_->currentIndex()); });
    hide();
}

void FindBar::search(const FindNeedle& needle) {
    const int from = finder_->currentRow() >= 0 ? finder_->currentRow() : list_->topRow();
    list_->setNeedle(needle);
    finder_->search(needle, from);
}

void FindBar::open() {
    if (isHidden()) {
        had_focus_ = window()->focusWidget();
        comeUp();
        search(FindNeedle::phrase(field_->text()));
    }
    field_->setFocus(Qt::ShortcutFocusReason);
    field_->selectAll();
}

void FindBar::comeUp() {
    show();
    raise();
    list_->setHeadroom(height() + Theme::kGap);
}

void FindBar::showWords(const QString& words) {
    {
        const QSignalBlocker blocker(field_);
        field_->setText(words);
    }
    goes_without_hit_ = true;
    had_focus_ = nullptr;
    comeUp();
    search(FindNeedle::words(words));
}

void FindBar::step(int by) {
    if (isHidden()) {
        open();
    } else {
        finder_->step(by);
    }
}

void FindBar::leave() {
    if (isHidden()) {
        return;
    }
    const bool has_focus = isAncestorOf(window()->focusWidget());
    hide();
    list_->setHeadroom(0);
    search({});
    if (has_focus) {
        QWidget* to = had_focus_ != nullptr && had_focus_->isVisible() ? had_focus_.data() : list_;
        to->setFocus(Qt::PopupFocusReason);
    }
}

void FindBar::placeIn(const QRect& area) {
    const int width = std::min(fontMetrics().averageCharWidth() * 56 + 120, area.width());
    setGeometry(area.right() + 1 - width, area.top(), width, sizeHint().height());
}

void FindBar::showCounts() {
    const int total = finder_->total();
    const bool has_needle = !finder_->needle().isEmpty();
    if (goes_without_hit_ && total == 0 && has_needle && !finder_->isSearching()) {
        leave();
        return;
    }
    QString words;
    if (total > 0) {
        words = tr("%1 of %2", "number of the hit, of all")
                    .arg(formatCount(finder_->currentNumber()), formatCount(total));
    } else if (has_needle) {
        words = finder_->isSearching() ? QStringLiteral("…") : tr("not found");
    }
    count_->setText(words);
    before_->setEnabled(total > 0);
    next_->setEnabled(total > 0);
}

bool FindBar::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            finder_->step((key->modifiers() & Qt::ShiftModifier) != 0 ? -1 : 1);
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            leave();
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

void FindBar::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.border, 1.0));
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius,
                            Theme::kRadius);
}

} // namespace ui
