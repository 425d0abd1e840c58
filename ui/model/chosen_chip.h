// SPDX-License-Identifier: Apache-2.0
// Beside the model that is loaded, the one that is chosen: its name, that it is not loaded, Load,
// and the way back to the loaded one. Hidden while both are the same or nothing is loaded.
#pragma once

#include <QFrame>

class QPushButton;

namespace ui {

class ElidedLabel;
class Session;

class ChosenChip : public QFrame {
    Q_OBJECT

public:
    explicit ChosenChip(Session* session, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override;
    /// As StatusStrip's functions of these names.
    void setBesideWhatIf(bool is_beside);
    void setWhyNotLoadable(const QString& why);

Q_SIGNALS:
    /// The user wants to know why the chosen folder cannot be used.
    void whyRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    /// Hides the words of the state where they would be cut.
    void fit();

    Session* session_;
    bool is_beside_what_if_ = false;
    QString why_not_loadable_;
    ElidedLabel* name_;
    ElidedLabel* state_;
    QPushButton* load_;
    QPushButton* why_;
    QPushButton* back_;
};

} // namespace ui
