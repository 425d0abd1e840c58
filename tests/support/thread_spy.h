// SPDX-License-Identifier: Apache-2.0
// QSignalSpy for signals of objects that live on another thread. QSignalSpy records where the
// signal is emitted: the test then reads a list that another thread writes, sees an emission before
// the objects of its own thread do, and waits in vain for one that came too early. This one records
// on the test's thread, behind everything that was connected before it.
#pragma once

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QObject>
#include <QTest>
#include <QVariant>

#include <type_traits>

namespace support {

class ThreadSpy : public QObject, public QList<QList<QVariant>> {
public:
    template <typename Sender, typename Source, typename... Args>
    ThreadSpy(Sender* sender, void (Source::*signal)(Args...)) {
        QObject::connect(
            sender, signal, this,
            [this](const std::decay_t<Args>&... args) {
                append(QList<QVariant>{QVariant::fromValue(args)...});
            },
            Qt::QueuedConnection);
    }

    /// True when one more emission arrives within `ms`.
    bool wait(int ms = 5000) {
        const auto before = size();
        return QTest::qWaitFor([&] { return size() > before; }, ms);
    }
};

} // namespace support
