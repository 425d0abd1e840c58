// SPDX-License-Identifier: Apache-2.0
// A message that stays until it is dealt with: what is wrong, the numbers, what to do, with one
// button for the next step. Details fold out.
#pragma once

#include <QFrame>
#include <QStringList>

class QBoxLayout;
class QLabel;
class QPushButton;
class QScrollArea;
class QToolButton;

namespace ui {

/// A line of the details that starts with this is an item of a list.
inline const QString kNoticeStep = QStringLiteral("• ");

class NoticeBar : public QFrame {
    Q_OBJECT

public:
    enum class Kind { Info = 1, Warning, Error };
    explicit NoticeBar(QWidget* parent = nullptr);

    /// `action` empty: no button; `second` is another way, beside it. Details are shown below each
    /// other after "Details", at most a part of the parent's height; more scrolls.
    void showNotice(Kind kind,
                    const QString& text,
                    const QStringList& details = {},
                    const QString& action = {},
                    const QString& second = {});
    void clear();
    /// False when they are not open.
    bool closeDetails();
    /// To be called when the parent's height has changed.
    void fitDetails();
    [[nodiscard]] QString text() const;
    [[nodiscard]] QStringList details() const { return details_; }

Q_SIGNALS:
    void actionTriggered();
    void secondTriggered();
    void dismissed();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void showDetails(bool is_open);

    Kind kind_ = Kind::Info;
    QLabel* text_;
    QLabel* details_label_;
    QScrollArea* details_area_;
    QToolButton* toggle_;
    QPushButton *action_, *second_;
    QToolButton* close_;
    QBoxLayout* row_; ///< Text and buttons.
    QStringList details_;
};

} // namespace ui
