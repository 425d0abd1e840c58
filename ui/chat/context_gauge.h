// SPDX-License-Identifier: Apache-2.0
// How full the context is: a bar with what is used, what the next message would add, and the limit.
// A button, because a full context is a choice: its menu offers what can be done.
#pragma once

#include <QAbstractButton>

namespace ui {

class ContextGauge : public QAbstractButton {
    Q_OBJECT

public:
    explicit ContextGauge(QWidget* parent = nullptr);
    /// Tokens. `size` 0: nothing is loaded. `is_estimate`: no count of the engine yet.
    void setValues(qint64 used, qint64 draft, qint64 size, bool is_estimate);
    [[nodiscard]] qint64 used() const { return used_; }
    [[nodiscard]] qint64 size() const { return size_; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void cutOldestRequested();
    void restoreAllRequested();
    void largerRequested();

public:
    void setHasCut(bool has_cut) { has_cut_ = has_cut; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void showMenu();
    [[nodiscard]] QString words(bool is_short) const;
    qint64 used_ = 0, draft_ = 0, size_ = 0;
    bool is_estimate_ = false, has_cut_ = false;
};

} // namespace ui
