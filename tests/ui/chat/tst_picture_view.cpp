// SPDX-License-Identifier: Apache-2.0
// The large view of pictures by hand: fit, zoom by key and wheel, pan by drag, the other pictures
// of the chat, copy, the way back; from a message and from the message that is being written.
#include "tests/support/program/test_class.h"
#include "ui/chat/attachment_chip.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/picture_view.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

using ui::PictureView;

class TestPictureView : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void zoomsAndMoves();
    void goesThroughTheChat();
    void opensFromTheComposer();

private:
    std::vector<ui::ShownPicture> pictures() const {
        return {{large_, QStringLiteral("large.png")}, {small_, QStringLiteral("small.png")}};
    }
    QTemporaryDir folder_;
    QString large_, small_;
};

void TestPictureView::initTestCase() {
    ui::applyTheme(*qApp);
    large_ = folder_.filePath(QStringLiteral("large.png"));
    small_ = folder_.filePath(QStringLiteral("small.png"));
    QImage image(2000, 1000, QImage::Format_RGB32);
    image.fill(Qt::blue);
    QVERIFY(image.save(large_));
    QVERIFY(image.scaled(40, 30).save(small_));
}

void TestPictureView::zoomsAndMoves() {
    QWidget window;
    window.resize(800, 600);
    window.show();
    (void)QTest::qWaitForWindowActive(&window);
    auto* view = new PictureView(pictures(), 0, &window);
    QTRY_VERIFY(!view->shownSize().isEmpty());
    QCOMPARE(view->shownSize(), QSizeF(800, 400));
    auto* zoom = view->findChild<QLabel*>(QStringLiteral("pictureZoom"));
    QCOMPARE(zoom->text(), QStringLiteral("40 %"));
    QTest::keyClick(view, Qt::Key_1);
    QCOMPARE(view->shownSize(), QSizeF(2000, 1000));
    QCOMPARE(zoom->text(), QStringLiteral("100 %"));
    QTest::keyClick(view, Qt::Key_Plus);
    QCOMPARE(zoom->text(), QStringLiteral("125 %"));
    QWidget* canvas = window.childAt(400, 400);
    const QPoint at(100, 100);
    QWheelEvent notch(at, canvas->mapToGlobal(at), {}, {0, -240}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(canvas, &notch);
    QCOMPARE(zoom->text(), QStringLiteral("80 %"));
    // A drag moves the picture and is no click; a click fits it again.
    QTest::mousePress(canvas, Qt::LeftButton, {}, {400, 300});
    QTest::mouseMove(canvas, {300, 250});
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, {300, 250});
    QVERIFY(!view->isFitted());
    QTest::mouseClick(canvas, Qt::LeftButton, {}, {300, 250});
    QVERIFY(view->isFitted());
    QTest::keyClick(view, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->image().size(), QSize(2000, 1000));
    QTest::mouseClick(canvas, Qt::LeftButton, {}, {400, 5}); // beside it
    QVERIFY(view->isHidden());
}

void TestPictureView::goesThroughTheChat() {
    QWidget window;
    window.resize(800, 600);
    window.show();
    (void)QTest::qWaitForWindowActive(&window);
    auto* view = new PictureView(pictures(), 0, &window);
    const auto button = [&](const char* name) {
        return view->findChild<QPushButton*>(QString::fromLatin1(name));
    };
    QTRY_VERIFY(!view->shownSize().isEmpty());
    QVERIFY(!button("picturePrevious")->isEnabled());
    QTest::keyClick(view, Qt::Key_Right);
    QCOMPARE(view->index(), size_t{1});
    QTRY_COMPARE(view->shownSize(), QSizeF(40, 30)); // never larger than it is
    QVERIFY(view->accessibleName().contains(QStringLiteral("small.png (2 of 2)")));
    QVERIFY(!button("pictureNext")->isEnabled());
    QTest::keyClick(button("pictureSave"), Qt::Key_Left); // not to the button beside it
    QCOMPARE(view->index(), size_t{0});
    for (const auto* one : view->findChildren<QPushButton*>()) {
        QVERIFY(!one->accessibleName().isEmpty() || !one->text().isEmpty());
    }
    QTest::keyClick(view, Qt::Key_Escape);
    QVERIFY(view->isHidden());
}

void TestPictureView::opensFromTheComposer() {
    ui::ChatView view;
    view.resize(900, 700);
    view.show();
    (void)QTest::qWaitForWindowActive(&view);
    view.attachFiles({small_});
    auto* chip = view.findChild<ui::AttachmentChip*>();
    QVERIFY(chip != nullptr);
    QTest::mouseClick(chip, Qt::LeftButton, {}, {12, 12});
    auto* opened = view.findChild<PictureView*>();
    QVERIFY(opened != nullptr);
    QTest::keyClick(opened, Qt::Key_Escape);
    QTRY_VERIFY(view.findChild<PictureView*>() == nullptr);
    QTest::keyClick(chip, Qt::Key_Return);
    QVERIFY(view.findChild<PictureView*>() != nullptr);
}

TEST_CLASS_WITH(QApplication, TestPictureView)
#include "tst_picture_view.moc"
