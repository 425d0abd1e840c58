// SPDX-License-Identifier: Apache-2.0
// The adapters of the session as a row of chips with "+ Adapter" behind them; scrolls sideways when
// there are more than fit.
#pragma once

#include <QWidget>

#include <vector>

class QHBoxLayout;
class QPushButton;
class QScrollArea;

namespace ui {

class AdapterChip;
class Session;

class AdapterBar : public QWidget {
    Q_OBJECT

public:
    explicit AdapterBar(Session* session, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override;
    /// One adapter, nearly whole; more of them scroll.
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void addRequested();
    void reportRequested(int index);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    [[nodiscard]] int chipsWidth() const;
    [[nodiscard]] int wholeButtonWidth() const;
    /// What gives way to a narrow bar: the word on the button, the figures on the chips.
    void fit();

    Session* session_;
    QScrollArea* area_;
    QWidget* row_widget_;
    QHBoxLayout* row_;
    QPushButton* add_button_;
    std::vector<AdapterChip*> chips_;
};

} // namespace ui
