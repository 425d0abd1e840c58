// SPDX-License-Identifier: Apache-2.0
// The system's wish that the program ends (SIGTERM, SIGINT, SIGHUP: logging out, a shutdown, Ctrl+C
// in a terminal) as a signal of the event loop, so that the session is closed as by its user and
// the next start does not speak of a crash. Linux; elsewhere it never speaks. One per program.
#pragma once

#include <QObject>

#include <memory>

class QSocketNotifier;

namespace app {

class EndSignals : public QObject {
    Q_OBJECT

public:
    explicit EndSignals(QObject* parent = nullptr);
    ~EndSignals() override;

Q_SIGNALS:
    void endRequested();

private:
    std::unique_ptr<QSocketNotifier> notifier_;
};

} // namespace app
