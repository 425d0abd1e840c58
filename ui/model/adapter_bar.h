// SPDX-License-Identifier: Apache-2.0
// The adapters of the session as a row of chips with "+ Adapter" behind them; where more are there
// than fit, one button with their number that opens the list of them.
#pragma once

#include <QWidget>

#include <vector>

class QHBoxLayout;
class QPushButton;

namespace ui {

class AdapterChip;
class AdapterList;
class Session;

class AdapterBar : public QWidget {
    Q_OBJECT

public:
    explicit AdapterBar(Session* session, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override;
    /// One adapter, nearly whole; more of them become one button.
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void addRequested();
    void reportRequested(int index);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    [[nodiscard]] int chipsWidth() const;
    [[nodiscard]] int wholeButtonWidth() const;
    /// What gives way to a narrow bar: the word on the button, the figures on the chips, then the
    /// chips themselves.
    void fit();
    void setListed(bool is_listed);
    void openList();

    Session* session_;
    QHBoxLayout* row_;
    QPushButton* list_button_; ///< In the place of the chips, which are in the list then.
    QPushButton* add_button_;
    AdapterList* list_ = nullptr; ///< The window's; made when it is first needed.
    std::vector<AdapterChip*> chips_;
    bool is_listed_ = false;
};

} // namespace ui
