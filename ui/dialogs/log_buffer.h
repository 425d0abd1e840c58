// SPDX-License-Identifier: Apache-2.0
// The last lines of the log as a list model. Filled by the message handler of app/; holds no
// prompts, replies or media, because none are ever logged.
#pragma once

#include <QAbstractListModel>

#include <deque>

namespace ui {

class LogBuffer : public QAbstractListModel {
    Q_OBJECT

public:
    static constexpr int kMaximum = 2000;

    explicit LogBuffer(QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    /// All lines, oldest first.
    [[nodiscard]] QString text() const;

public Q_SLOTS:
    void append(const QString& line);

private:
    std::deque<QString> lines_;
};

} // namespace ui
