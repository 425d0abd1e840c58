// SPDX-License-Identifier: Apache-2.0
// One column of the compare pane: which adapters are in force with which strength, what the model
// answered with them, in which words that differs from the first column, and at what speed.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/load_request.h"

#include <QFrame>
#include <QString>

#include <vector>

class QCheckBox;
class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace ui {

/// "Base model", or the adapters that are on: "medical × 0.80 + law × 1.00".
QString adapterSetName(const std::vector<engine::AdapterChoice>& adapters);

class CompareColumn : public QFrame {
    Q_OBJECT

public:
    explicit CompareColumn(QWidget* parent = nullptr);

    /// Which column this is, from 1, for screen readers.
    void setNumber(int number);
    void setRemovable(bool is_removable);
    void setEditable(bool is_editable);
    /// The adapters to choose from, with what is on and how strong.
    void setAdapters(const std::vector<engine::AdapterChoice>& adapters);
    [[nodiscard]] std::vector<engine::AdapterChoice> adapters() const;
    [[nodiscard]] QString name() const { return adapterSetName(adapters()); }

    void clear();
    void showWaiting();
    void showStarted();
    void append(const engine::ReplyUpdate& update);
    void showReply(const engine::Reply& reply);
    void showError(const engine::Error& error);
    void showStopped();
    /// Marks what differs from the first column's answer; an empty one marks nothing.
    void markAgainst(const QString& reference, bool is_marking);
    [[nodiscard]] QString text() const;
    [[nodiscard]] bool isFinished() const { return is_finished_; }
    [[nodiscard]] bool isWaiting() const { return is_waiting_; }
    [[nodiscard]] QString figures() const;

Q_SIGNALS:
    void removeRequested();
    void adaptersEdited();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateName();
    void fitNames();
    void setStatus(const QString& status, bool is_error = false);

    QLabel* title_;
    QPushButton* remove_;
    QGridLayout* choices_;
    QPlainTextEdit* body_;
    QLabel* status_;
    QLabel* difference_;
    struct Choice {
        std::string folder;
        QCheckBox* box = nullptr;
        QDoubleSpinBox* strength = nullptr;
    };
    std::vector<Choice> rows_;
    QString figures_;
    int number_ = 1;
    bool is_finished_ = false;
    bool is_waiting_ = false;
};

} // namespace ui
