// SPDX-License-Identifier: Apache-2.0
// "Connect to a server": address and key, what the server answers, and which of its models is to
// answer. Says before anything is sent that words leave the computer, and whether anybody on the
// way can read them. Asks nobody itself.
#pragma once

#include "ui/dialogs/server_values.h"

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
    explicit ServerDialog(KnownServers known, QWidget* parent = nullptr);

public Q_SLOTS:
    void showAnswer(const ui::ServerAnswer& answer);
    void showProblem(const ui::ServerProblem& problem);
    void showKeyPlace(ui::KeyPlace place);

Q_SIGNALS:
    void testRequested(const ui::ServerWish& wish);
    /// The key that is kept for this address is to go.
    void forgetKeyRequested(const QString& base);
    /// Use this model of the server that answered last.
    void connectRequested(const ui::ServerWish& wish, const QString& base, const QString& model);

private:
    void refresh();
    void fitHeight();
    void test();
    [[nodiscard]] ServerWish wish() const;

    void buildAuthority();
    void chooseAuthority();
    /// What is known of the address that stands there: its key is kept, a file was given.
    void findKnown();
    void forgetKey();

    KnownServers known_;
    QComboBox* address_;
    QLineEdit* key_;
    QLabel* key_place_;
    QPushButton* forget_;
    QWidget* authority_row_; ///< Where the server needs one: https, and nobody knows its signer.
    QLabel* authority_label_;
    QLineEdit* authority_;
    QCheckBox* plain_;
    QPushButton* test_;
    QLabel* state_;
    QLabel* warning_;
    QLabel* model_label_;
    QComboBox* model_;
    QPushButton* connect_;
    QString base_; ///< From the answer; empty: none yet.
    bool is_asking_ = false;
};

} // namespace ui
