// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_finder.h"

#include "ui/chat/chat_model.h"

#include <QElapsedTimer>
#include <QThreadPool>

#include <algorithm>
#include <numeric>

namespace ui {

namespace {

constexpr int kAgainMs = 250; ///< A reply that is being written is counted this often.
constexpr int kAnswerMs = 60; ///< What was counted so far is told this often.

struct FindTask {
    int row;
    bool is_user;
    QString text;
};

} // namespace

ChatFinder::ChatFinder(ChatModel* model, QObject* parent)
    : QObject(parent), model_(model), answers_(std::make_shared<FindAnswers>()) {
    qRegisterMetaType<ui::RowCounts>();
    timer_.setSingleShot(true);
    timer_.setInterval(kAgainMs);
    connect(&timer_, &QTimer::timeout, this, &ChatFinder::start);
    connect(answers_.get(), &FindAnswers::counted, this, &ChatFinder::take, Qt::QueuedConnection);
    connect(model_, &QAbstractItemModel::modelReset, this, [this] { search({}, 0); });
    connect(
        model_, &QAbstractItemModel::rowsInserted, this,
        [this](const QModelIndex&, int first, int last) { reshape(first, 0, last - first + 1); });
    connect(
        model_, &QAbstractItemModel::rowsRemoved, this,
        [this](const QModelIndex&, int first, int last) { reshape(first, last - first + 1, 0); });
    connect(model_, &QAbstractItemModel::dataChanged, this,
            [this](const QModelIndex& first, const QModelIndex& last) {
                touch(first.row(), last.row());
            });
    connect(model_, &ChatModel::textAppended, this, [this](int row) { touch(row, row); });
}

ChatFinder::~ChatFinder() {
    answers_->wanted = 0; // the pool stops at the next turn
}

void ChatFinder::search(const FindNeedle& needle, int from_row) {
    needle_ = needle;
    total_ = 0;
    row_ = -1;
    index_ = 0;
    from_ = std::max(from_row, 0);
    is_running_ = false;
    answers_->wanted = 0;
    const size_t rows = needle.isEmpty() ? 0 : static_cast<size_t>(model_->rowCount());
    counts_.assign(rows, 0);
    is_stale_.assign(rows, true);
    start();
    Q_EMIT countsChanged();
    Q_EMIT currentChanged();
}

void ChatFinder::start() {
    if (is_running_ || needle_.isEmpty()) {
        return; // take() begins again
    }
    std::vector<FindTask> tasks;
    const int rows = static_cast<int>(counts_.size());
    for (int i = 0; i < rows; ++i) {
        const int row = (from_ + i) % rows;
        if (is_stale_[static_cast<size_t>(row)]) {
            const ChatTurn& turn = model_->turn(row);
            tasks.push_back({row, turn.role == engine::Message::Role::User, turn.text});
            is_stale_[static_cast<size_t>(row)] = false;
        }
    }
    if (tasks.empty()) {
        return;
    }
    is_running_ = true;
    answers_->wanted = ++ticket_;
    QThreadPool::globalInstance()->start(
        [answers = answers_, needle = needle_, ticket = ticket_, all = std::move(tasks)] {
            RowCounts counts;
            QElapsedTimer since_told;
            since_told.start();
            for (const FindTask& task : all) {
                if (answers->wanted != ticket) {
                    return;
                }
                size_t hits = 0;
                for (const QString& text : findableTexts(task.is_user, task.text)) {
                    hits += needle.hitsIn(text).size();
                }
                counts.emplace_back(task.row, static_cast<int>(hits));
                if (since_told.elapsed() >= kAnswerMs) {
                    Q_EMIT answers->counted(ticket, std::exchange(counts, {}), false);
                    since_told.restart();
                }
            }
            Q_EMIT answers->counted(ticket, counts, true);
        });
}

void ChatFinder::take(quint64 ticket, const RowCounts& counts, bool is_last) {
    if (ticket != answers_->wanted) {
        return;
    }
    bool is_other = false;
    for (const auto& [row, count] : counts) {
        int& before = counts_[static_cast<size_t>(row)];
        total_ += count - before;
        before = count;
        if (row_ < 0 && count > 0) {
            row_ = row;
            index_ = 0;
            is_other = true;
        } else if (row == row_ && index_ >= count) {
            index_ = std::max(count - 1, 0);
            row_ = count > 0 ? row_ : -1;
            is_other = true;
        }
    }
    is_running_ = !is_last;
    if (is_last && std::find(is_stale_.begin(), is_stale_.end(), true) != is_stale_.end()) {
        timer_.start();
    }
    Q_EMIT countsChanged();
    if (is_other) {
        Q_EMIT currentChanged();
    }
}

void ChatFinder::touch(int first, int last) {
    for (int row = first; row <= last && row < static_cast<int>(is_stale_.size()); ++row) {
        is_stale_[static_cast<size_t>(row)] = true;
    }
    if (!needle_.isEmpty() && !timer_.isActive()) {
        timer_.start();
    }
}

void ChatFinder::reshape(int first, int removed, int inserted) {
    if (needle_.isEmpty()) {
        return;
    }
    if (is_running_) { // its rows are others now
        is_running_ = false;
        answers_->wanted = 0;
        is_stale_.assign(is_stale_.size(), true);
    }
    const auto at = counts_.begin() + first;
    total_ -= std::accumulate(at, at + removed, 0);
    counts_.erase(at, at + removed);
    counts_.insert(counts_.begin() + first, static_cast<size_t>(inserted), 0);
    is_stale_.erase(is_stale_.begin() + first, is_stale_.begin() + first + removed);
    is_stale_.insert(is_stale_.begin() + first, static_cast<size_t>(inserted), true);
    if (row_ >= first) {
        row_ = row_ < first + removed ? -1 : row_ - removed + inserted;
        Q_EMIT currentChanged();
    }
    timer_.start();
    Q_EMIT countsChanged();
}

int ChatFinder::currentNumber() const {
    return row_ < 0 ? 0 : std::accumulate(counts_.begin(), counts_.begin() + row_, index_ + 1);
}

void ChatFinder::step(int by) {
    if (total_ == 0) {
        return;
    }
    const int rows = static_cast<int>(counts_.size());
    if (row_ < 0) {
        row_ = by > 0 ? rows - 1 : 0; // the next one is the first or the last
        index_ = by > 0 ? counts_.back() : -1;
    }
    index_ += by;
    while (index_ < 0 || index_ >= counts_[static_cast<size_t>(row_)]) {
        row_ = (row_ + (by > 0 ? 1 : rows - 1)) % rows;
        index_ = by > 0 ? 0 : counts_[static_cast<size_t>(row_)] - 1;
    }
    Q_EMIT countsChanged();
    Q_EMIT currentChanged();
}

} // namespace ui
