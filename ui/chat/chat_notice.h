// SPDX-License-Identifier: Apache-2.0
// A card over the end of the messages that says what happened and offers what can be done about it:
// undo, a choice when the context is full, an error. Never a dialog, so that nothing waits for it,
// and in no layout, so that nothing moves when it comes or goes: the view places it.
#pragma once

#include "ui/style/passing.h"

#include <QFrame>

#include <functional>
#include <utility>
#include <vector>

class QBoxLayout;
class QHBoxLayout;
class QLabel;
class QToolButton;

namespace ui {

class ChatNotice : public QFrame {
    Q_OBJECT

public:
    enum class Tone { Info = 1, Warning, Error };
    using Choice = std::pair<QString, std::function<void()>>;

    explicit ChatNotice(QWidget* parent = nullptr);
    /// Replaces what was shown. `lasts_ms` 0: until closed or replaced; else about so long, and
    /// longer while the user's hand is near.
    void showNotice(Tone tone,
                    const QString& text,
                    const std::vector<Choice>& choices,
                    int lasts_ms = 0);
    [[nodiscard]] QString text() const;
    void clear();
    /// The choices stand beside the text where there is room for both, else below it.
    [[nodiscard]] int fitTo(int width);

Q_SIGNALS:
    /// Shown, hidden or with another text: to be placed.
    void changed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QLabel* text_;
    QBoxLayout* body_; ///< Text and choices.
    QHBoxLayout* buttons_;
    QToolButton* close_;
    Tone tone_ = Tone::Info;
    Passing* passing_;
};

} // namespace ui
