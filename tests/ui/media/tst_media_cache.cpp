// SPDX-License-Identifier: Apache-2.0
// Thumbnails and outlines that a pool of threads reads: what comes for a file that is there, gone
// or something else, and what happens to answers that come when nobody waits for them any more.
#include "tests/support/program/test_class.h"
#include "ui/media/media_cache.h"

#include <QImage>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>

#include <atomic>
#include <future>
#include <memory>

namespace {

/// Answers when it is allowed to, and says whether it had been asked to stop by then.
class HeldDecoder final : public ui::SoundDecoder {
public:
    [[nodiscard]] ui::SoundPart
    part(const QString& /*file*/, double /*start_s*/, double /*length_s*/) const override {
        return {};
    }
    [[nodiscard]] ui::SoundOutline outline(const QString& /*file*/,
                                           const std::stop_token& stop) const override {
        begun.fetch_add(1);
        go.get_future().wait();
        was_stopped = stop.stop_requested();
        ui::SoundOutline outline;
        outline.state = ui::SoundOutline::State::Ready;
        outline.seconds = 1.5;
        return outline;
    }

    mutable std::atomic<int> begun{0};
    mutable std::atomic<bool> was_stopped{false};
    mutable std::promise<void> go;
};

} // namespace

class TestMediaCache : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void thumbnails_data();
    void thumbnails();
    void outlines();
    void answersWhenTheCacheIsGone();

private:
    [[nodiscard]] QString path(const QString& name) const { return folder_->filePath(name); }

    std::unique_ptr<QTemporaryDir> folder_;
};

void TestMediaCache::init() {
    folder_ = std::make_unique<QTemporaryDir>();
    QVERIFY(folder_->isValid());
    QImage image(1200, 600, QImage::Format_RGB32);
    image.fill(Qt::red);
    QVERIFY(image.save(path(QStringLiteral("picture.png"))));
    QFile text(path(QStringLiteral("text.png")));
    QVERIFY(text.open(QIODevice::WriteOnly) && text.write("no picture") > 0);
}

void TestMediaCache::thumbnails_data() {
    support::addColumns<QString, int, QSize>("name", "state", "size");
    using State = ui::MediaCache::State;
    QTest::addRow("picture, made smaller")
        << QStringLiteral("picture.png") << static_cast<int>(State::Ready) << QSize(480, 240);
    QTest::addRow("something else")
        << QStringLiteral("text.png") << static_cast<int>(State::Unreadable) << QSize();
    QTest::addRow("gone") << QStringLiteral("gone.png") << static_cast<int>(State::Missing)
                          << QSize();
}

void TestMediaCache::thumbnails() {
    QFETCH(QString, name);
    ui::MediaCache cache;
    QSignalSpy changed(&cache, &ui::MediaCache::changed);
    const QString file = path(name);
    QCOMPARE(cache.thumbnail(file).state, ui::MediaCache::State::Waiting);
    QTRY_COMPARE(changed.size(), 1);
    QCOMPARE(changed.first().first().toString(), file);
    QTEST(static_cast<int>(cache.thumbnail(file).state), "state");
    QTEST(cache.thumbnail(file).pixmap.size().isEmpty() ? QSize()
                                                        : cache.thumbnail(file).pixmap.size(),
          "size");
    QCOMPARE(changed.size(), 1);
}

void TestMediaCache::outlines() {
    ui::MediaCache cache;
    const auto decoder = std::make_shared<HeldDecoder>();
    cache.setDecoder(decoder);
    QSignalSpy changed(&cache, &ui::MediaCache::changed);
    const QString file = path(QStringLiteral("text.png"));
    QCOMPARE(cache.outline(file).state, ui::SoundOutline::State::Waiting);
    QTRY_COMPARE(decoder->begun.load(), 1);
    QCOMPARE(cache.outline(file).state, ui::SoundOutline::State::Waiting); // not asked twice
    decoder->go.set_value();
    QTRY_COMPARE(changed.size(), 1);
    QCOMPARE(decoder->begun.load(), 1);
    QCOMPARE(cache.outline(file).state, ui::SoundOutline::State::Ready);
    QCOMPARE(cache.outline(file).seconds, 1.5);
    QVERIFY(!decoder->was_stopped);
    // A file that is gone is not handed to the decoder.
    cache.outline(path(QStringLiteral("gone.wav")));
    QTRY_COMPARE(changed.size(), 2);
    QCOMPARE(cache.outline(path(QStringLiteral("gone.wav"))).state,
             ui::SoundOutline::State::Missing);
    QCOMPARE(decoder->begun.load(), 1);
}

void TestMediaCache::answersWhenTheCacheIsGone() {
    auto cache = std::make_unique<ui::MediaCache>();
    ui::MediaCache other;
    QSignalSpy others(&other, &ui::MediaCache::changed);
    const auto decoder = std::make_shared<HeldDecoder>();
    cache->setDecoder(decoder);
    cache->outline(path(QStringLiteral("text.png")));
    QTRY_COMPARE(decoder->begun.load(), 1);
    cache->thumbnail(path(QStringLiteral("picture.png"))); // answered, and never collected
    cache.reset();
    decoder->go.set_value();
    QVERIFY(QThreadPool::globalInstance()->waitForDone(10'000));
    QVERIFY(decoder->was_stopped);
    QCoreApplication::processEvents();
    QCOMPARE(others.size(), 0);
    QCOMPARE(decoder.use_count(), 1L);
}

TEST_CLASS_WITH(QApplication, TestMediaCache)
#include "tst_media_cache.moc"
