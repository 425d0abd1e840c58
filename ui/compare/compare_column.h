// SPDX-License-Identifier: Apache-2.0
// One column of the compare pane: which adapters are in force with which strength, what the model
// answered with them, in which words that differs from the first column, and at what speed.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/load_request.h"

#include <QFrame>
#include <QList>
#include <QString>

#include <utility>
#include <vector>

class QCheckBox;
class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QMenu;
class QPlainTextEdit;
class QPushButton;

namespace ui {

/// Models that can be loaded: name and path.
using NamedModels = QList<std::pair<QString, QString>>;

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
    /// What is loaded, and models that can be loaded in its place: the column offers other loads of
    /// it. Without a model it offers none.
    void setLoads(const engine::LoadRequest& loaded, const NamedModels& models);
    /// What the column loads first; without a model: it asks what is loaded.
    [[nodiscard]] engine::LoadRequest load() const;
    /// A reply of before: it has a name, and nothing to choose.
    void setKept(const QString& name);
    /// The adapters to choose from, with what is on and how strong.
    void setAdapters(const std::vector<engine::AdapterChoice>& adapters);
    [[nodiscard]] std::vector<engine::AdapterChoice> adapters() const;
    [[nodiscard]] QString name() const;

    void clear();
    void showWaiting();
    void showStarted();
    /// Another load is under way for it.
    void showLoading(quint64 done, quint64 total);
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
    void adaptersEdited(); ///< Or the load.

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateName();
    void fitNames();
    void fillLoads();
    /// What of the load is another; empty: nothing.
    [[nodiscard]] QString loadWords() const;
    void setStatus(const QString& status, bool is_error = false);

    QLabel* title_;
    QPushButton* remove_;
    QPushButton* load_button_;
    QMenu* loads_;
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
    engine::LoadRequest loaded_, wanted_;
    NamedModels models_;
    QString kept_name_;
    QString figures_;
    int number_ = 1;
    bool is_finished_ = false;
    bool is_waiting_ = false;
};

} // namespace ui
