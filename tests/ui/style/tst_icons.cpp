// SPDX-License-Identifier: Apache-2.0
// The icons' own small reader of drawings: every icon that ships is understood and fits its view,
// and what is not understood is said to be so.
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"
#include "ui/style/icon_drawing.h"

#include <QDir>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QTest>

class TestIcons : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void drawsEveryIcon_data();
    void drawsEveryIcon();
    void placesPaths_data();
    void placesPaths();
    void refusesOtherPaths_data();
    void refusesOtherPaths();
    void refusesOtherDrawings_data();
    void refusesOtherDrawings();
};

static QImage drawn(const QByteArray& svg, bool* is_understood) {
    QImage image(96, 96, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    *is_understood = ui::drawIcon(&painter, svg, QColor(200, 40, 10), QRectF(0, 0, 96, 96));
    return image;
}

void TestIcons::drawsEveryIcon_data() {
    QTest::addColumn<QString>("file");
    const QDir folder(QString::fromStdU16String(support::sourceDir().u16string()) +
                      QStringLiteral("/resources/icons"));
    for (const QFileInfo& file : folder.entryInfoList({QStringLiteral("*.svg")})) {
        QTest::addRow("%s", qPrintable(file.baseName())) << file.filePath();
    }
}

void TestIcons::drawsEveryIcon() {
    QFETCH(QString, file);
    QFile text(file);
    QVERIFY2(text.open(QIODevice::ReadOnly), qPrintable(file));
    bool is_understood = false;
    const QImage image = drawn(text.readAll(), &is_understood);
    QVERIFY(is_understood);
    int painted = 0;
    int at_the_edge = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const int alpha = qAlpha(image.pixel(x, y));
            painted += alpha > 128 ? 1 : 0;
            at_the_edge += alpha > 0 && (x == 0 || y == 0 || x == 95 || y == 95) ? 1 : 0;
            if (alpha == 255) { // within what blending two half-covered edges rounds away
                const QColor pixel = image.pixelColor(x, y);
                QVERIFY(qAbs(pixel.red() - 200) <= 2 && qAbs(pixel.green() - 40) <= 2 &&
                        qAbs(pixel.blue() - 10) <= 2);
            }
        }
    }
    QVERIFY2(painted > 96, qPrintable(QString::number(painted)));
    QCOMPARE(at_the_edge, 0);
}

void TestIcons::placesPaths_data() {
    support::addColumns<QString, QRectF, QPointF>("text", "bounds", "end");
    const auto row = [](const char* name, const char* text, QRectF bounds, QPointF end) {
        QTest::addRow("%s", name) << QString::fromLatin1(text) << bounds << end;
    };
    row("lines", "M 1 -2.5 L 2 -1.5 L 4 2.5", {1, -2.5, 3, 5}, {4, 2.5});
    row("closed, then on from its beginning", "M 2 2 L 6 2 L 6 6 Z L 2 10", {2, 2, 4, 8}, {2, 10});
    row("a curve", "M 0 0 C 0 4 4 4 4 0", {0, 0, 4, 3}, {4, 0});
}

void TestIcons::placesPaths() {
    QFETCH(QString, text);
    QFETCH(QRectF, bounds);
    QFETCH(QPointF, end);
    const std::optional<QPainterPath> path = ui::iconPath(text);
    QVERIFY(path.has_value());
    const QRectF found = path->boundingRect();
    const QString words = QStringLiteral("%1 %2 %3 %4")
                              .arg(found.x())
                              .arg(found.y())
                              .arg(found.width())
                              .arg(found.height());
    QVERIFY2(qAbs(found.x() - bounds.x()) < 0.01 && qAbs(found.y() - bounds.y()) < 0.01 &&
                 qAbs(found.width() - bounds.width()) < 0.01 &&
                 qAbs(found.height() - bounds.height()) < 0.01,
             qPrintable(words));
    QVERIFY(QLineF(path->currentPosition(), end).length() < 0.01);
}

void TestIcons::refusesOtherPaths_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("an arc") << QStringLiteral("M 4 12 A 8 8 0 0 1 20 12");
    QTest::newRow("relative numbers") << QStringLiteral("M 0 0 l 4 4");
    QTest::newRow("half a point") << QStringLiteral("M 4");
    QTest::newRow("half a curve") << QStringLiteral("M 4 4 C 1 1 2 2 3");
    QTest::newRow("numbers first") << QStringLiteral("4 4");
    QTest::newRow("numbers after the end") << QStringLiteral("M 0 0 L 4 0 Z 4 4");
}

void TestIcons::refusesOtherPaths() {
    QFETCH(QString, text);
    QVERIFY(!ui::iconPath(text).has_value());
}

void TestIcons::refusesOtherDrawings_data() {
    QTest::addColumn<QByteArray>("svg");
    QTest::newRow("an element of another kind")
        << QByteArray(R"(<svg><text x="1" y="1">a</text></svg>)");
    QTest::newRow("a colour of its own")
        << QByteArray(R"(<svg><circle cx="9" cy="9" r="4" fill="red"/></svg>)");
    QTest::newRow("a width that is no number")
        << QByteArray(R"(<svg stroke-width="thick"><circle cx="9" cy="9" r="4"/></svg>)");
    QTest::newRow("cut off") << QByteArray(R"(<svg><circle cx="9")");
}

void TestIcons::refusesOtherDrawings() {
    QFETCH(QByteArray, svg);
    bool is_understood = true;
    drawn(svg, &is_understood);
    QVERIFY(!is_understood);
}

TEST_CLASS_WITH(QApplication, TestIcons)
#include "tst_icons.moc"
