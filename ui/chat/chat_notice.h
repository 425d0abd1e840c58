// SPDX-License-Identifier: Apache-2.0
// One line above the composer that says what happened and offers what can be done about it: undo, a
// choice when the context is full, an error. Never a dialog, so that nothing waits for it.
#pragma once

#include <QFrame>
#include <QTimer>

#include <functional>
#include <utility>
#include <vector>

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
    /// Replaces what was shown. `lasts_ms` 0: until closed or replaced.
    void showNotice(Tone tone,
                    const QString& text,
                    const std::vector<Choice>& choices,
                    int lasts_ms = 0);
    [[nodiscard]] QString text() const;
    void clear();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QLabel* text_;
    QHBoxLayout* buttons_;
    QToolButton* close_;
    Tone tone_ = Tone::Info;
    QTimer timer_;
};

} // namespace ui
