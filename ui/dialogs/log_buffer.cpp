// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/log_buffer.h"

namespace ui {

LogBuffer::LogBuffer(QObject* parent) : QAbstractListModel(parent) {}

int LogBuffer::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

QVariant LogBuffer::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) ||
        (role != Qt::DisplayRole && role != Qt::ToolTipRole)) {
        return {};
    }
    return lines_[static_cast<size_t>(index.row())];
}

QString LogBuffer::text() const {
    QString all;
    for (const QString& line : lines_) {
        all += line + QLatin1Char('\n');
    }
    return all;
}

void LogBuffer::append(const QString& line) {
    if (lines_.size() >= kMaximum) {
        beginRemoveRows({}, 0, 0);
        lines_.pop_front();
        endRemoveRows();
    }
    const int row = static_cast<int>(lines_.size());
    beginInsertRows({}, row, row);
    lines_.push_back(line);
    endInsertRows();
}

} // namespace ui
