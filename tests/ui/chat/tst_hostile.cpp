// SPDX-License-Identifier: Apache-2.0
// Replies that are hard to show: three hundred long texts made of beginnings that never end, in
// every kind of block. Each is opened and drawn; no frame takes 100 ms of the GUI thread where
// times are judged (latency_probe.h), and nothing that a reply names is opened. A screen full of
// emoji takes longer, because Qt needs about 85 microseconds to shape one: those times are printed.
#include "tests/support/latency_probe.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/message_list.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QDesktopServices>
#include <QImage>
#include <QTest>
#include <QUrl>

#include <algorithm>

namespace {

constexpr qsizetype kLength = 60'000; ///< UTF-16 units, about 15,000 tokens.

const char* const kPieces[] = {"a",
                               "word ",
                               "\t",
                               "**a",
                               "_a_ ",
                               "`a",
                               "[a](",
                               "![a](file:///etc/passwd) ",
                               "<img src=x onerror=alert(1)>",
                               "https://a.b/c ",
                               "$x_{1}$ ",
                               "$\\frac{",
                               "\\begin{matrix}",
                               "\\sqrt{",
                               "| a ",
                               "/* ",
                               "\"",
                               "R\"x(",
                               "<<EOF ",
                               "${",
                               "# a\n",
                               "- a\n",
                               "> ",
                               "```cpp\n",
                               "$$\nx\n$$\n",
                               "a\n",
                               "\xd9\x85\xd8\xb1\xd8\xad",
                               "\xe6\x97\xa5\xe6\x9c\xac",
                               "\xf0\x9f\x90\xa6",
                               "a\xcc\x81\xcc\x82\xcc\x83"};
const char* const kBefore[] = {
    "", "# ", "- ", "> ", "```python\n", "```\n", "$$\n", "| a |\n|---|\n| ", "\\[ ", "$"};

class OpenedUrls : public QObject {
    Q_OBJECT

public Q_SLOTS:
    void open(const QUrl& /*url*/) { ++count; }

public:
    int count = 0;
};

} // namespace

class TestHostile : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void everyFrame();
};

void TestHostile::everyFrame() {
    OpenedUrls opened;
    for (const char* scheme : {"file", "http", "https"}) {
        QDesktopServices::setUrlHandler(QString::fromLatin1(scheme), &opened, "open");
    }
    ui::ChatView view;
    view.resize(900, 700);
    view.show();
    (void)QTest::qWaitForWindowActive(&view);
    std::vector<double> times, emoji;
    QString worst;
    const auto frame = [&](const QString& name, auto act) {
        const double before = support::threadCpuMs();
        act();
        (void)view.messageList()->viewport()->grab();
        const double took = support::threadCpuMs() - before;
        if (name.contains(QString::fromUtf8("\xf0\x9f\x90\xa6"))) {
            emoji.push_back(took);
            return;
        }
        if (times.empty() || took > *std::max_element(times.begin(), times.end())) {
            worst = name;
        }
        times.push_back(took);
    };
    for (const char* before : kBefore) {
        for (const char* one : kPieces) {
            const QString piece = QString::fromUtf8(one);
            ui::ChatDocument chat;
            chat.turns.resize(2);
            chat.turns[0].text = QStringLiteral("question");
            chat.turns[1].role = engine::Message::Role::Assistant;
            chat.turns[1].text = QString::fromUtf8(before) + piece.repeated(kLength / piece.size());
            const QString name = QStringLiteral("%1|%2").arg(QString::fromUtf8(before), piece);
            frame(name, [&] { view.setChat(chat); });
            frame(name, [&] { view.messageList()->scrollToRow(0); });
        }
    }
    for (const char* scheme : {"file", "http", "https"}) {
        QDesktopServices::unsetUrlHandler(QString::fromLatin1(scheme));
    }
    QCOMPARE(opened.count, 0);
    const double slowest = *std::max_element(times.begin(), times.end());
    qInfo("%zu frames, p50 %.1f, p99 %.1f, slowest %.1f ms (%s)", times.size(),
          support::percentile(times, 0.5), support::percentile(times, 0.99), slowest,
          qPrintable(worst.simplified()));
    qInfo("%zu frames of emoji, p50 %.1f, slowest %.1f ms", emoji.size(),
          support::percentile(emoji, 0.5), support::percentile(emoji, 1.0));
    QVERIFY(!support::judgesTimes() || slowest < 100.0);
}

TEST_CLASS_WITH(QApplication, TestHostile)
#include "tst_hostile.moc"
