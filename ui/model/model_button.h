// SPDX-License-Identifier: Apache-2.0
// The model's name and what it can take, in one button that opens the model panel.
#pragma once

#include <QPushButton>
#include <QStringList>

namespace ui {

class Session;

class ModelButton : public QPushButton {
    Q_OBJECT

public:
    explicit ModelButton(Session* session, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();

    Session* session_;
    QString name_;
    QString state_; ///< First of the badges while another model is chosen than the loaded one.
    QStringList badges_;
};

} // namespace ui
