// SPDX-License-Identifier: Apache-2.0
// Files that are encoded while the user types: through the wiring a job that nobody needs any more
// is stopped, by taking its file out of the message or by Stop.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/attachment_chip.h"

#include <QSemaphore>
#include <QSignalSpy>
#include <QTemporaryDir>

using support::Program;

class TestEncodeAhead : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void jobsAreStopped();
    void throughTheWindow();
};

void TestEncodeAhead::jobsAreStopped() {
    app::registerEngineTypes();
    app::EngineThread thread{engine::EngineOptions()};
    const std::stop_token reply = thread.begin();
    // Two cuts of one recording, which know nothing of each other.
    const engine::MessagePart first{engine::MessagePart::Kind::Audio, "talk.wav", 0.0, 10.0};
    const engine::MessagePart second{engine::MessagePart::Kind::Audio, "talk.wav", 10.0, 10.0};
    const std::stop_token a = thread.beginAhead(first);
    const std::stop_token b = thread.beginAhead(second);
    QVERIFY(!a.stop_requested());
    thread.cancelAhead(first);
    QVERIFY(a.stop_requested());
    QVERIFY(!b.stop_requested() && !reply.stop_requested());
    const std::stop_token again = thread.beginAhead(second);
    QVERIFY(b.stop_requested() && !again.stop_requested());
    (void)thread.begin(); // a reply that waits for b leaves it alone
    QVERIFY(!again.stop_requested());
    thread.cancel();
    QVERIFY(again.stop_requested());
}

void TestEncodeAhead::throughTheWindow() {
    const QTemporaryDir folder;
    Program program(folder.path());
    QVERIFY(program.choose(QStringLiteral("demo"), "cpu", 4 * support::kGiB));
    QVERIFY(program.load());
    const QString picture = program.sample("circles_and_square.png");
    QSignalSpy asked(&program.chat(), &ui::ChatView::encodeAheadRequested);
    program.window->takeFiles({picture});
    QTRY_COMPARE(asked.count(), 1);

    // Other adapters make other features of it: asked again for what is still attached.
    program.session().addAdapter(QString::fromStdString(program.demo) + QStringLiteral("/adapter"));
    QTRY_VERIFY(asked.count() > 1);
    QTRY_COMPARE(program.session().state(), ui::Session::State::Ready);

    // The engine is held up; the job behind that finds that it is not wanted any more.
    QSemaphore is_held;
    QSemaphore go_on;
    app::EngineWorker* worker = program.engine_thread->worker();
    QMetaObject::invokeMethod(worker, [&] {
        is_held.release();
        go_on.acquire();
    });
    is_held.acquire();
    const std::stop_token job = program.engine_thread->beginAhead(
        {engine::MessagePart::Kind::Image, picture.toStdString()});
    auto* chip = program.find<ui::AttachmentChip>("attachmentChip");
    QVERIFY(chip != nullptr);
    Q_EMIT chip->removeRequested();
    QVERIFY(job.stop_requested());
    go_on.release();
}

TEST_CLASS_WITH(QApplication, TestEncodeAhead)
#include "tst_encode_ahead.moc"
