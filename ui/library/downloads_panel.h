// SPDX-License-Identifier: Apache-2.0
// What is being fetched, a row each: bytes, rate, time left, pause, cancel; Load when it is done.
// Rows are kept while their download is there, so that a click meets what it was meant for.
#pragma once

#include "ui/library/hub_values.h"

#include <QWidget>

#include <map>

class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace ui {

class DownloadsPanel : public QWidget {
    Q_OBJECT

public:
    explicit DownloadsPanel(QWidget* parent = nullptr);

    [[nodiscard]] const Downloads& downloads() const { return downloads_; }

public Q_SLOTS:
    void showDownloads(const std::shared_ptr<const ui::Downloads>& downloads);

Q_SIGNALS:
    void pauseRequested(quint64 number);
    void resumeRequested(quint64 number);
    /// Stops it; what has arrived is thrown away where `removes_parts`.
    void cancelRequested(quint64 number, bool removes_parts);
    void clearRequested();
    void loadRequested(const QString& folder);
    void adapterRequested(const QString& folder);
    void tokenRequested(const QString& id, bool needs_licence);

private:
    struct Row {
        QWidget* widget = nullptr;
        QLabel* name = nullptr;
        QLabel* words = nullptr;
        QProgressBar* bar = nullptr;
        QPushButton* toggle = nullptr; ///< Pause, or go on.
        QPushButton* cancel = nullptr;
        QPushButton* next = nullptr; ///< Load, or sign in.
    };

    Row makeRow(quint64 number);
    void fillRow(Row& row, const Download& download);
    [[nodiscard]] const Download* find(quint64 number) const;
    void next(const Download& download);
    void askCancel(quint64 number);

    Downloads downloads_;
    std::map<quint64, Row> rows_;
    QVBoxLayout* column_;
    QLabel* title_;
    QPushButton* clear_;
};

} // namespace ui
