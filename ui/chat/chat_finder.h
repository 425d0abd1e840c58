// SPDX-License-Identifier: Apache-2.0
// Counts the hits of a search in every turn of a conversation, on the thread pool, beginning where
// the reader is: ten thousand messages cost the GUI thread a list of shared strings. Turns that
// change are counted again after a moment, alone. Knows which hit is the current one.
#pragma once

#include "ui/chat/find_text.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace ui {

class ChatModel;

using RowCounts = std::vector<std::pair<int, int>>; ///< Row, hits in it.

/// What the pool has counted, told by queued signals; belongs to no thread.
class FindAnswers : public QObject {
    Q_OBJECT

public:
    FindAnswers() { moveToThread(nullptr); }
    std::atomic<quint64> wanted = 0; ///< Ticket of the search that is still of use.

Q_SIGNALS:
    void counted(quint64 ticket, const ui::RowCounts& counts, bool is_last);
};

class ChatFinder : public QObject {
    Q_OBJECT

public:
    explicit ChatFinder(ChatModel* model, QObject* parent = nullptr);
    ~ChatFinder() override;

    /// The nearest hit from `from_row` on becomes the current one. An empty needle ends the search.
    void search(const FindNeedle& needle, int from_row);
    [[nodiscard]] const FindNeedle& needle() const { return needle_; }
    [[nodiscard]] bool isSearching() const { return is_running_; }
    [[nodiscard]] int total() const { return total_; }
    /// Row of the current hit, -1 where there is none, and its place among the hits of that row.
    [[nodiscard]] int currentRow() const { return row_; }
    [[nodiscard]] int currentIndex() const { return index_; }
    /// Its place among all, from 1.
    [[nodiscard]] int currentNumber() const;
    void step(int by);

Q_SIGNALS:
    void countsChanged();
    /// Another hit is the current one: to be brought into sight.
    void currentChanged();

private:
    void start();
    void take(quint64 ticket, const RowCounts& counts, bool is_last);
    void touch(int first, int last);
    void reshape(int first, int removed, int inserted);

    ChatModel* model_;
    std::shared_ptr<FindAnswers> answers_;
    FindNeedle needle_;
    std::vector<int> counts_;
    std::vector<bool> is_stale_;
    quint64 ticket_ = 0;
    int total_ = 0, from_ = 0;
    int row_ = -1, index_ = 0;
    bool is_running_ = false;
    QTimer timer_;
};

} // namespace ui

Q_DECLARE_METATYPE(ui::RowCounts)
