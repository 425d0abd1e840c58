// SPDX-License-Identifier: Apache-2.0
// Asks for a token of the hub: where the licence is accepted, where a token is made, where it will
// be kept. The token itself is shown to nobody and goes out of here by one signal.
#pragma once

#include "ui/library/hub_values.h"

#include <QDialog>

class QLineEdit;

namespace ui {

class TokenDialog : public QDialog {
    Q_OBJECT

public:
    /// `id`: the model that asks for it; empty: nobody does now. `needs_licence`: its licence has
    /// to be accepted first.
    TokenDialog(const NetworkFacts& network,
                const QString& id,
                bool needs_licence,
                QWidget* parent = nullptr);

Q_SIGNALS:
    /// Empty: the one that is kept is to be forgotten.
    void tokenEntered(const QString& token);
    /// A page to open in the browser: by a click here.
    void pageRequested(const QString& address);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QLineEdit* field_;
};

} // namespace ui
