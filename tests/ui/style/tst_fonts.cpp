// SPDX-License-Identifier: Apache-2.0
// Text of every script that chats are written in, laid out with the window's own fonts: no glyph
// may be the box of a missing one, and emoji that are several characters are drawn as one. The
// fonts are packages of scripts/packages.txt; a row whose font this machine lacks says so.
#include "tests/support/program/test_class.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QGlyphRun>
#include <QTest>
#include <QTextLayout>

class TestFonts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void everyGlyphIsThere_data();
    void everyGlyphIsThere();
    void severalCharactersOneEmoji_data();
    void severalCharactersOneEmoji();

private:
    static QList<QGlyphRun> layOut(const QString& text, const QFont& font);
};

void TestFonts::initTestCase() {
    ui::applyTheme(*qobject_cast<QApplication*>(QApplication::instance()));
}

QList<QGlyphRun> TestFonts::layOut(const QString& text, const QFont& font) {
    QTextLayout layout(text, font);
    layout.beginLayout();
    QTextLine line = layout.createLine();
    line.setLineWidth(10000);
    layout.endLayout();
    return layout.glyphRuns();
}

void TestFonts::everyGlyphIsThere_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("family"); // must be installed; empty = looked up by script
    QTest::addColumn<int>("script");
    const auto row = [](const char* name, const char* text, QFontDatabase::WritingSystem script) {
        QTest::newRow(name) << QString::fromUtf8(text) << QString() << static_cast<int>(script);
    };
    row("latin", "Žluťoučký kůň, Ħ, ẞ, ơ, ﬁ", QFontDatabase::Latin);
    row("greek", "Ξεσκεπάζω την ψυχοφθόρα", QFontDatabase::Greek);
    row("cyrillic", "Съешь ещё этих булок, їжак", QFontDatabase::Cyrillic);
    row("arabic", "مرحبا بالعالم ١٢٣ پچگ", QFontDatabase::Arabic);
    row("hebrew", "שלום עולם", QFontDatabase::Hebrew);
    row("devanagari", "नमस्ते दुनिया क्षत्रिय", QFontDatabase::Devanagari);
    row("bengali", "ওহে বিশ্ব", QFontDatabase::Bengali);
    row("tamil", "வணக்கம் உலகம்", QFontDatabase::Tamil);
    row("thai", "สวัสดีชาวโลก", QFontDatabase::Thai);
    row("georgian", "გამარჯობა", QFontDatabase::Georgian);
    row("armenian", "Բարեւ", QFontDatabase::Armenian);
    row("chinese", "你好，世界。龍龜", QFontDatabase::SimplifiedChinese);
    row("japanese", "こんにちは、カタカナ漢字", QFontDatabase::Japanese);
    row("korean", "안녕하세요 세계", QFontDatabase::Korean);
    QTest::newRow("mathematics") << QString::fromUtf8("∀x∈ℝ: ∑ √2 ≈ 1 ∫ ⟨ψ|φ⟩ 𝔸𝒜 ⊗ ⇒")
                                 << QStringLiteral("Noto Sans Math") << 0;
    QTest::newRow("emoji") << QString::fromUtf8("😀🎉🚀❤️")
                           << QStringLiteral("Noto Color Emoji") << 0;
}

void TestFonts::everyGlyphIsThere() {
    QFETCH(QString, text);
    QFETCH(QString, family);
    QFETCH(int, script);
    const QStringList families =
        family.isEmpty()
            ? QFontDatabase::families(static_cast<QFontDatabase::WritingSystem>(script))
            : QFontDatabase::families().filter(family);
    if (families.isEmpty()) {
        QSKIP("no font of this machine has this script; install scripts/packages.txt");
    }
    for (const QFont& font : {QApplication::font(), ui::codeFont()}) {
        int glyphs = 0;
        const QList<QGlyphRun> runs = layOut(text, font);
        for (const QGlyphRun& run : runs) {
            const QList<quint32> indexes = run.glyphIndexes();
            glyphs += static_cast<int>(indexes.size());
            QVERIFY2(
                !indexes.contains(0),
                qPrintable(
                    QStringLiteral("a glyph is missing in %1").arg(run.rawFont().familyName())));
        }
        QVERIFY(glyphs > 0);
    }
}

void TestFonts::severalCharactersOneEmoji_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("family, joined") << QString::fromUtf8("👨‍👩‍👧‍👦");
    QTest::newRow("skin tone") << QString::fromUtf8("👍🏽");
    QTest::newRow("flag") << QString::fromUtf8("🇩🇪");
    QTest::newRow("profession, joined") << QString::fromUtf8("👩‍🚀");
}

void TestFonts::severalCharactersOneEmoji() {
    QFETCH(QString, text);
    if (!QFontDatabase::families().contains(QStringLiteral("Noto Color Emoji"))) {
        QSKIP("Noto Color Emoji is not installed; install scripts/packages.txt");
    }
    int visible = 0;
    const QList<QGlyphRun> runs = layOut(text, QApplication::font());
    for (const QGlyphRun& run : runs) {
        QVERIFY(!run.glyphIndexes().contains(0));
        const QList<QPointF> advances = run.rawFont().advancesForGlyphIndexes(run.glyphIndexes());
        for (const QPointF& advance : advances) {
            visible += advance.x() > 0.5 ? 1 : 0;
        }
    }
    QCOMPARE(visible, 1);
}

TEST_CLASS_WITH(QApplication, TestFonts)
#include "tst_fonts.moc"
