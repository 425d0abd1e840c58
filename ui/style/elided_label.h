// SPDX-License-Identifier: Apache-2.0
// A one-line label that shortens its text with an ellipsis instead of clipping it; the whole text
// is its tool tip while shortened, and always what a screen reader gets.
#pragma once

#include <QLabel>
#include <QStringList>

namespace ui {

class ElidedLabel : public QLabel {
    Q_OBJECT

public:
    explicit ElidedLabel(QWidget* parent = nullptr);
    explicit ElidedLabel(const QString& text, QWidget* parent = nullptr);

    void setElideMode(Qt::TextElideMode mode);
    /// Parts that stand whole or not at all, what matters most first: where the room is small those
    /// at the end are left out. text() has all of them.
    void setParts(const QStringList& parts);
    /// The text as it is shown now: without the parts that have no room.
    [[nodiscard]] QString shownText() const;
    /// Narrowest width it may get, in characters; 0 lets it vanish.
    void setMinimumCharacters(int characters);
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    Qt::TextElideMode mode_ = Qt::ElideRight;
    int minimum_characters_ = 4;
    QStringList parts_; ///< As set by setParts(), while the text is theirs.
};

} // namespace ui
