// SPDX-License-Identifier: Apache-2.0
// Nothing that a terminal obeys comes through, whatever the pieces; letters of all scripts do.
#include "app/common/terminal_text.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <random>

class TestTerminalText : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void filtered_data();
    void filtered();
    void anyBytesInAnyPieces();
};

void TestTerminalText::filtered_data() {
    support::addColumns<QByteArray, QByteArray>("text", "shown");
    const auto row = [](const char* name, const QByteArray& text, const char* shown) {
        QTest::newRow(name) << text << QByteArray(shown);
    };
    row("letters", "Gr\xc3\xbc\xc3\x9f Gott, \xe4\xbd\xa0\xe5\xa5\xbd, \xf0\x9f\x94\x94",
        "Gr\xc3\xbc\xc3\x9f Gott, \xe4\xbd\xa0\xe5\xa5\xbd, \xf0\x9f\x94\x94");
    row("line break and tab", "a\n\tb", "a\n\tb");
    row("title", "\x1b]0;owned\x07", "?]0;owned?");
    row("colour", "\x1b[31mred", "?[31mred");
    row("carriage return, backspace", "safe\r\b\x7f", "safe???");
    row("zero", QByteArray("a\0b", 3), "a?b");
    row("C1 in UTF-8",
        "\xc2\x9b"
        "31m\xc2\x85",
        "?31m?");
    row("C1 as a byte",
        "\x9b"
        "31m",
        "?31m");
    row("direction",
        "\xe2\x80\xae"
        "gnp.exe\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f",
        "?gnp.exe???");
    row("line separator",
        "a\xe2\x80\xa8"
        "b",
        "a?b");
    row("tags",
        "a\xf3\xa0\x81\x81"
        "b",
        "a?b");
    row("too long a form of escape", "\xc0\x9b[m", "??[m");
    row("longer still", "\xe0\x80\x9b[m", "???[m");
    row("a surrogate", "\xed\xa0\x80", "???");
    row("beyond Unicode", "\xf4\x90\x80\x80", "????");
    row("cut letter, escape", "\xe4\xbd\x1b[m", "???[m");
    row("cut at the end", "a\xe4\xbd", "a??");
    row("joiner of emoji", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb");
}

void TestTerminalText::filtered() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, shown);
    QCOMPARE(QByteArray::fromStdString(app::terminalText(text.toStdString())), shown);
    app::TerminalFilter filter; // byte for byte
    std::string joined;
    for (const char byte : text) {
        joined += filter.pass(std::string_view(&byte, 1));
    }
    QCOMPARE(QByteArray::fromStdString(joined + filter.finish()), shown);
}

void TestTerminalText::anyBytesInAnyPieces() {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string text(random() % 60, '\0');
        for (char& byte : text) {
            // Often what begins and continues characters.
            const auto any = static_cast<unsigned char>(random() % 256);
            byte = static_cast<char>(random() % 2 == 0 ? any : 0x80U | (any & 0x7fU));
        }
        const std::string whole = app::terminalText(text);
        app::TerminalFilter filter;
        std::string pieces;
        for (size_t at = 0; at < text.size();) {
            const size_t size = std::min<size_t>(random() % 5, text.size() - at);
            pieces += filter.pass(std::string_view(text).substr(at, size));
            at += size;
        }
        QCOMPARE(pieces + filter.finish(), whole);
        const QString read = QString::fromStdString(whole);
        QCOMPARE(read.toStdString(), whole); // valid UTF-8
        for (const QChar c : read) {
            QVERIFY(c == QLatin1Char('\n') || c == QLatin1Char('\t') ||
                    c.category() != QChar::Other_Control);
        }
    }
}

TEST_CLASS(TestTerminalText)
#include "tst_terminal_text.moc"
