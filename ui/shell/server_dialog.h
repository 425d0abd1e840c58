// SPDX-License-Identifier: Apache-2.0
// "Connect to a server": address and key, what the server answers, and which of its models is to
// answer. Says before anything is sent that words leave the computer, and whether anybody on the
// way can read them. Asks nobody itself.
#pragma once

#include "ui/shell/server_values.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace ui {

class ServerDialog : public QDialog {
    Q_OBJECT

public:
    /// `known`: addresses of earlier connections, the last one first.
    explicit ServerDialog(const QStringList& known, QWidget* parent = nullptr);

public Q_SLOTS:
    void showAnswer(const ui::ServerAnswer& answer);
    /// `is_plain`: refused because http goes to a host that is not of this network.
    void showProblem(const QString& words, bool is_plain);

Q_SIGNALS:
    void testRequested(const ui::ServerWish& wish);
    /// Use this model of the server that answered last.
    void connectRequested(const ui::ServerWish& wish, const QString& base, const QString& model);

private:
    void refresh();
    void fitHeight();
    void test();
    [[nodiscard]] ServerWish wish() const;

    QComboBox* address_;
    QLineEdit* key_;
    QCheckBox* plain_;
    QPushButton* test_;
    QLabel* state_;
    QLabel* warning_;
    QLabel* model_label_;
    QComboBox* model_;
    QPushButton* connect_;
    QString base_; ///< Of the answer; empty: none yet.
    bool is_asking_ = false;
};

} // namespace ui
