// SPDX-License-Identifier: Apache-2.0
// Tells the user of a driver that keeps the window waiting for its cards, and why there is no card
// when it crashed or never answered. What is merely absent stays where the layout says it.
#pragma once

#include <QObject>
#include <QTimer>

#include <memory>

namespace engine {
class CardInquiry;
} // namespace engine

namespace ui {
class MainWindow;
} // namespace ui

namespace app {

class CardWatch : public QObject {
    Q_OBJECT

public:
    /// `inquiry` may be nullptr: then there is nothing to watch. `window` must outlive this.
    CardWatch(ui::MainWindow* window, std::shared_ptr<engine::CardInquiry> inquiry);

    /// From here on it is told that the driver has not answered.
    static constexpr double kPatienceS = 1.2;

private:
    void look();

    ui::MainWindow* window_;
    std::shared_ptr<engine::CardInquiry> inquiry_;
    QTimer timer_;
    bool has_told_ = false;
};

} // namespace app
