// SPDX-License-Identifier: Apache-2.0
// A message that stays until it is dealt with: what is wrong, the numbers, what to do, with one
// button for the next step. Details fold out.
#pragma once

#include <QFrame>
#include <QStringList>

class QLabel;
class QPushButton;
class QToolButton;

namespace ui {

class NoticeBar : public QFrame {
    Q_OBJECT

public:
    enum class Kind { Info = 1, Warning, Error };
    explicit NoticeBar(QWidget* parent = nullptr);

    /// `action` empty: no button. Details are shown below each other after "Details".
    void showNotice(Kind kind,
                    const QString& text,
                    const QStringList& details = {},
                    const QString& action = {});
    void clear();
    [[nodiscard]] QString text() const;
    [[nodiscard]] QStringList details() const { return details_; }

Q_SIGNALS:
    void actionTriggered();
    void dismissed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void showDetails(bool is_open);

    Kind kind_ = Kind::Info;
    QLabel* text_;
    QLabel* details_label_;
    QToolButton* toggle_;
    QPushButton* action_;
    QToolButton* close_;
    QStringList details_;
};

} // namespace ui
