// SPDX-License-Identifier: Apache-2.0
// Markdown as models write it: blocks, inline marks, and the same result however the text arrives.
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/markdown_blocks.h"
#include "ui/chat/markdown_inline.h"

#include <QTest>

using ui::InlineSpan;
using ui::InlineText;
using ui::MarkdownBlock;
using ui::MarkdownParser;

namespace {

/// One line per block, so that a difference can be read in the test's output.
QStringList outline(const MarkdownParser& parser) {
    QStringList lines;
    for (const MarkdownBlock& block : parser.blocks()) {
        QString line;
        switch (block.kind) {
        case MarkdownBlock::Kind::Paragraph:
            line = QStringLiteral("p");
            break;
        case MarkdownBlock::Kind::Heading:
            line = QStringLiteral("h%1").arg(block.level);
            break;
        case MarkdownBlock::Kind::Code:
            line = QStringLiteral("code(%1)%2")
                       .arg(block.language, block.is_open ? QStringLiteral("...") : QString());
            break;
        case MarkdownBlock::Kind::Table:
            line = QStringLiteral("table");
            for (const QStringList& row : block.rows) {
                line += QStringLiteral("[%1]").arg(row.join(QLatin1Char(',')));
            }
            break;
        case MarkdownBlock::Kind::Rule:
            line = QStringLiteral("rule");
            break;
        }
        if (block.indent > 0) {
            line += QStringLiteral(" >%1").arg(block.indent);
        }
        if (block.quotes > 0) {
            line += QStringLiteral(" q%1").arg(block.quotes);
        }
        if (!block.marker.isEmpty()) {
            line += QStringLiteral(" ") + block.marker;
        }
        if (block.joins) {
            line += QStringLiteral(" +");
        }
        QString text = block.text;
        lines.append(line + QStringLiteral(" |") +
                     text.replace(QLatin1Char('\n'), QStringLiteral("\\n")));
    }
    return lines;
}

QString spansOf(const InlineText& text) {
    QStringList parts;
    for (const InlineSpan& span : text.spans) {
        QString styles;
        const auto add = [&](InlineSpan::Style style, char letter) {
            if ((span.styles & style) != 0) {
                styles += QLatin1Char(letter);
            }
        };
        add(InlineSpan::Bold, 'B');
        add(InlineSpan::Italic, 'I');
        add(InlineSpan::Code, 'C');
        add(InlineSpan::Strike, 'S');
        add(InlineSpan::Link, 'L');
        add(InlineSpan::Math, 'M');
        if (span.math != nullptr) {
            parts.append(styles + QLatin1Char(':') + span.url);
            continue;
        }
        parts.append(styles + QLatin1Char(':') + text.text.mid(span.start, span.length) +
                     (span.url.isEmpty() ? QString() : QStringLiteral("=") + span.url));
    }
    return parts.join(QLatin1Char(' '));
}

} // namespace

class TestMarkdown : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void blocks_data();
    void blocks();
    void inlineMarks_data();
    void inlineMarks();
    void sameHoweverItArrives();
    void sameHoweverLongLinesArrive();
    void onlyTheEndIsParsedAgain();
    void longPiecesAreCut();
    void longLinesAreCut_data();
    void longLinesAreCut();
    void manyBlocksAreNotRead();
    void wideTablesAreText();
    void blocksInLinearTime();
    void inlineInLinearTime();
    void streamsInLinearTime();
};

void TestMarkdown::blocks_data() {
    support::addColumns<QString, QStringList>("source", "expected");
    const auto row = [](const char* name, const char* source, const QStringList& expected) {
        QTest::newRow(name) << QString::fromUtf8(source) << expected;
    };
    row("paragraphs", "one\ntwo\n\nthree",
        {QStringLiteral("p |one\\ntwo"), QStringLiteral("p |three")});
    row("heading", "# Big\n## Small ##\ntext",
        {QStringLiteral("h1 |Big"), QStringLiteral("h2 |Small"), QStringLiteral("p |text")});
    row("not a heading", "#hash", {QStringLiteral("p |#hash")});
    row("list", "- a\n- b\n  more\n\n- c",
        {QStringLiteral("p >1 • |a"), QStringLiteral("p >1 • |b\\nmore"),
         QStringLiteral("p >1 • |c")});
    row("ordered from three", "3. c\n4. d",
        {QStringLiteral("p >1 3. |c"), QStringLiteral("p >1 4. |d")});
    row("nested", "- a\n  - b\n    1. c\n- d\n\nend",
        {QStringLiteral("p >1 • |a"), QStringLiteral("p >2 • |b"), QStringLiteral("p >3 1. |c"),
         QStringLiteral("p >1 • |d"), QStringLiteral("p |end")});
    row("tasks", "- [ ] open\n- [x] done",
        {QStringLiteral("p >1 ☐ |open"), QStringLiteral("p >1 ☑ |done")});
    row("code", "```cpp\nint a;\n\nint b;\n```\nafter",
        {QStringLiteral("code(cpp) |int a;\\n\\nint b;"), QStringLiteral("p |after")});
    row("open code", "```\nx", {QStringLiteral("code()... |x")});
    row("fence in fence", "````\n```\n````", {QStringLiteral("code() |```")});
    row("code in a list", "1. do:\n   ```sh\n   ls\n   ```\n2. next",
        {QStringLiteral("p >1 1. |do:"), QStringLiteral("code(sh) >1 |ls"),
         QStringLiteral("p >1 2. |next")});
    row("marks in code stay", "```\n# no heading\n- no list\n```",
        {QStringLiteral("code() |# no heading\\n- no list")});
    row("quote", "> said\n> more\n\nend",
        {QStringLiteral("p q1 |said\\nmore"), QStringLiteral("p |end")});
    row("rule", "a\n\n---\n\nb",
        {QStringLiteral("p |a"), QStringLiteral("rule |"), QStringLiteral("p |b")});
    row("table", "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 |\n\nend",
        {QStringLiteral("table[a,b][1,2][3,] |"), QStringLiteral("p |end")});
    row("table after text", "see:\n| a | b |\n|---|---|\n| 1 | x\\|y |",
        {QStringLiteral("p |see:"), QStringLiteral("table[a,b][1,x|y] |")});
    row("no table", "a | b\nc", {QStringLiteral("p |a | b\\nc")});
    row("formula", "see\n$$\na_1 &= b \\\\\n  - c\n$$\nend",
        {QStringLiteral("p |see"), QStringLiteral("code(LaTeX) |$$\\na_1 &= b \\\\\\n  - c\\n$$"),
         QStringLiteral("p |end")});
    row("formula in brackets", "\\[ x\n= \\{y\\}\n\\] with\n\nb",
        {QStringLiteral("code(LaTeX) |\\[ x\\n= \\{y\\}\\n\\] with"), QStringLiteral("p |b")});
    row("formula with a name", "\\begin{align}\na &= b \\\\\n\\end{align}",
        {QStringLiteral("code(LaTeX) |\\begin{align}\\na &= b \\\\\\n\\end{align}")});
    row("formula in a list", "1. so:\n   $$\n   x\n   $$\n2. b",
        {QStringLiteral("p >1 1. |so:"), QStringLiteral("code(LaTeX) >1 |$$\\nx\\n$$"),
         QStringLiteral("p >1 2. |b")});
    row("formula in a quote", "> $$\n> x\n> $$\nb",
        {QStringLiteral("code(LaTeX) q1 |$$\\nx\\n$$"), QStringLiteral("p |b")});
    row("formula in one line", "$$ a\\,b $$", {QStringLiteral("p |$$ a\\,b $$")});
    row("formula that never ends", "$$\nx\n\nb",
        {QStringLiteral("code(LaTeX) |$$\\nx"), QStringLiteral("p |b")});
    row("formula that is being written", "$$\nx", {QStringLiteral("code(LaTeX)... |$$\\nx")});
    row("formulas in a table", "| a | b |\n|---|---|\n| $\\|x\\|$ | $|y|$ |",
        {QStringLiteral("table[a,b][$\\|x\\|$,$|y|$] |")});
    row("windows lines", "a\r\n\r\nb", {QStringLiteral("p |a"), QStringLiteral("p |b")});
}

void TestMarkdown::blocks() {
    QFETCH(QString, source);
    QFETCH(QStringList, expected);
    MarkdownParser parser;
    parser.append(source);
    QCOMPARE(outline(parser), expected);
}

void TestMarkdown::inlineMarks_data() {
    support::addColumns<QString, QString, QString>("source", "text", "spans");
    const auto row = [](const char* name, const char* source, const char* text, const char* spans) {
        QTest::newRow(name) << QString::fromUtf8(source) << QString::fromUtf8(text)
                            << QString::fromUtf8(spans);
    };
    row("plain", "a b", "a b", "");
    row("bold and italic", "**a** and *b*", "a and b", "B:a I:b");
    row("both", "***a***", "a", "BI:a");
    row("nested", "**a *b* c**", "a b c", "B:a  BI:b B: c");
    row("underscores", "__a__ snake_case_name _b_", "a snake_case_name b", "B:a I:b");
    row("a product", "2 * 3 * 4", "2 * 3 * 4", "");
    row("unclosed", "**a", "**a", "");
    row("code", "use `a*b*c` now", "use a*b*c now", "C:a*b*c");
    row("code with backtick", "`` a`b ``", "a`b", "C:a`b");
    row("unclosed code", "a `b", "a `b", "");
    row("strike", "~~a~~ ~b~", "a ~b~", "S:a");
    row("escape", "\\*a\\*", "*a*", "");
    row("link", "[site](https://x.org/a) end", "site end", "L:site=https://x.org/a");
    row("bare link", "see https://x.org.", "see https://x.org.", "L:https://x.org=https://x.org");
    row("angle link", "<https://x.org>", "https://x.org", "L:https://x.org=https://x.org");
    row("unsafe link", "[run](javascript:alert)", "run", "");
    row("local file", "[f](file:///etc/passwd)", "f", "");
    row("picture", "![a cat](https://x.org/c.png)", "a cat", "L:a cat=https://x.org/c.png");
    row("html stays", "a <b>c</b>", "a <b>c</b>", "");
    row("formula", "so \\(a^2 \\, b_1*c_1*d\\) is", "so \\(a^2 \\, b_1*c_1*d\\) is",
        "M:\\(a^2 \\, b_1*c_1*d\\)");
    row("display formula", "\\[ \\int x\\,dx \\]", "\\[ \\int x\\,dx \\]",
        "M:\\[ \\int x\\,dx \\]");
    row("dollars", "if $x_1\\{y\\}$, $$a \\\\ b$$.", "if $x_1\\{y\\}$, $$a \\\\ b$$.",
        "M:$x_1\\{y\\}$ M:$$a \\\\ b$$");
    row("named formula", "\\begin{pmatrix}1 \\\\ 2\\end{pmatrix}",
        "\\begin{pmatrix}1 \\\\ 2\\end{pmatrix}", "M:\\begin{pmatrix}1 \\\\ 2\\end{pmatrix}");
    row("line break in a formula", "\\(a \\\\) b\\)", "\\(a \\\\) b\\)", "M:\\(a \\\\) b\\)");
    row("formula over lines", "\\(a\nb\\)", "\\(a\nb\\)", "M:\\(a\nb\\)");
    row("unknown formula", "\\(\\nosuch\nb\\)", "\\(\\nosuch\u2028b\\)", "C:\\(\\nosuch\u2028b\\)");
    row("half a formula", "\\(a^2", "\\(a^2", "");
    row("bold with a formula", "**so $a*b$**", "so $a*b$", "B:so  BM:$a*b$");
    row("prices", "from $5 to $10, 3$ *or* $7/$8, US$4", "from $5 to $10, 3$ or $7/$8, US$4",
        "I:or");
    row("price and formula", "$5 for $x$", "$5 for $x$", "M:$x$");
    row("escaped dollar", "\\$x$ and $a\\$b$", "$x$ and $a\\$b$", "M:$a\\$b$");
    row("line break", "a\nb", "a\u2028b", "");
}

void TestMarkdown::inlineMarks() {
    QFETCH(QString, source);
    QFETCH(QString, text);
    QFETCH(QString, spans);
    const InlineText result = ui::parseInline(source);
    QString written; // formulas as their source
    qsizetype behind = 0;
    for (const InlineSpan& span : result.spans) {
        written += result.text.mid(behind, span.start - behind) +
                   (span.math != nullptr ? span.url : result.text.mid(span.start, span.length));
        behind = span.start + span.length;
    }
    QCOMPARE(written + result.text.mid(behind), text);
    QCOMPARE(spansOf(result), spans);
}

void TestMarkdown::sameHoweverItArrives() {
    const QString source = QStringLiteral(
        "# Title\n\nSome **bold** text\nover lines.\n\n- a\n- b\n  1. c\n\n```py\nx = 1\n\ny = "
        "2\n```\n\nso \\(x\\)\n$$\na \\\\\n- b\n$$\nand\n\\[\ny\n\\]\n\n| a | b |\n|---|---|\n| 1 "
        "| 2 |\n| 3 | 4 |\n\n> quote\n\nEnd of it.\n---\n");
    MarkdownParser whole;
    whole.append(source);
    for (const int step : {1, 2, 3, 7, 40}) {
        MarkdownParser pieces;
        for (qsizetype at = 0; at < source.size(); at += step) {
            pieces.append(source.mid(at, step));
            // Every state on the way is that of the text so far.
            MarkdownParser fresh;
            fresh.append(source.left(at + step));
            QCOMPARE(outline(pieces), outline(fresh));
        }
        QCOMPARE(outline(pieces), outline(whole));
    }
}

void TestMarkdown::sameHoweverLongLinesArrive() {
    const QString source = QStringLiteral("# ") + QStringLiteral("word ").repeated(5000) +
                           QStringLiteral("\n\n\n- ") + QStringLiteral("x").repeated(40'000) +
                           QStringLiteral("\n\n```\n") + QStringLiteral("code ").repeated(9000) +
                           QStringLiteral("\nb\n```\n> ") + QStringLiteral("q ").repeated(9000) +
                           QStringLiteral("\n| a | b |\n|---|---|\n|") +
                           QStringLiteral("c ").repeated(9000) + QStringLiteral("|\n\nend");
    MarkdownParser whole;
    whole.append(source);
    for (const int step : {997, 16'000, 20'001}) {
        MarkdownParser pieces;
        for (qsizetype at = 0; at < source.size(); at += step) {
            pieces.append(source.mid(at, step));
        }
        QCOMPARE(outline(pieces), outline(whole));
    }
}

void TestMarkdown::onlyTheEndIsParsedAgain() {
    MarkdownParser parser;
    for (int i = 0; i < 500; ++i) {
        parser.append(QStringLiteral("paragraph %1\n\n").arg(i));
        QVERIFY(parser.firstChanged() + 2 >= parser.blocks().size());
    }
    QCOMPARE(parser.blocks().size(), size_t{500});
}

void TestMarkdown::longPiecesAreCut() {
    MarkdownParser parser;
    parser.append(QStringLiteral("```\n"));
    for (int i = 0; i < 200; ++i) {
        parser.append(QStringLiteral("line %1\n").arg(i));
    }
    parser.append(QStringLiteral("```\n\n"));
    parser.append(QStringLiteral("word ").repeated(4000));
    parser.append(QStringLiteral("\n\n| a | b |\n|---|---|\n"));
    for (int i = 0; i < 150; ++i) {
        parser.append(QStringLiteral("| %1 | x |\n").arg(i));
    }
    QString code, words;
    int rows = 0;
    for (const MarkdownBlock& block : parser.blocks()) {
        QVERIFY(block.rows.size() <= size_t{MarkdownParser::kLongestTable} + 2);
        if (block.kind == MarkdownBlock::Kind::Table) {
            QCOMPARE(block.rows.front(), (QStringList{QStringLiteral("a"), QStringLiteral("b")}));
            rows += static_cast<int>(block.rows.size()) - 1;
            continue;
        }
        QVERIFY(block.text.size() <= 2 * MarkdownParser::kLongestParagraph);
        if (block.kind == MarkdownBlock::Kind::Code) {
            QVERIFY(block.text.count(QLatin1Char('\n')) < MarkdownParser::kLongestCode);
            code += (code.isEmpty() ? QString() : QStringLiteral("\n")) + block.text;
        } else {
            words += block.text + QLatin1Char(' ');
        }
    }
    QCOMPARE(rows, 150);
    QCOMPARE(code.count(QLatin1Char('\n')), 199);
    QVERIFY(code.startsWith(QStringLiteral("line 0\nline 1\n")));
    QVERIFY(code.endsWith(QStringLiteral("line 199")));
    QCOMPARE(words.count(QStringLiteral("word")), 4000);
}

void TestMarkdown::longLinesAreCut_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("between"); // of the pieces
    const QString words = QStringLiteral("word ").repeated(20'000).trimmed();
    QTest::newRow("heading") << QStringLiteral("# ") + words << QStringLiteral(" ");
    QTest::newRow("item") << QStringLiteral("- ") + words << QStringLiteral(" ");
    QTest::newRow("paragraph") << words << QStringLiteral(" ");
    QTest::newRow("quote") << QStringLiteral("> ") + words << QStringLiteral(" ");
    QTest::newRow("line of a paragraph") << QStringLiteral("a\n") + words << QStringLiteral(" ");
    QTest::newRow("code") << QStringLiteral("```\n") + words << QString();
    QTest::newRow("heading without words")
        << QStringLiteral("# ") + QStringLiteral("word").repeated(20'000) << QString();
}

void TestMarkdown::longLinesAreCut() {
    QFETCH(QString, source);
    QFETCH(QString, between);
    MarkdownParser parser;
    parser.append(source + QStringLiteral("\n\nend\n"));
    QString text;
    for (const MarkdownBlock& block : parser.blocks()) {
        const bool is_code = block.kind == MarkdownBlock::Kind::Code;
        QVERIFY(block.text.size() <=
                (is_code ? MarkdownParser::kLongestLine : 2 * MarkdownParser::kLongestParagraph));
        text += (text.isEmpty() ? QString() : between) + block.text;
    }
    QCOMPARE(text.count(QStringLiteral("word")), 20'000);
    if (parser.blocks().front().kind != MarkdownBlock::Kind::Code) {
        QCOMPARE(parser.blocks().back().text, QStringLiteral("end"));
    } else { // copied as it was written
        QVERIFY(text.startsWith(source.mid(4)));
    }
}

void TestMarkdown::manyBlocksAreNotRead() {
    for (const char* line : {"- a\n", "#\n", "---\n", "> a\n\n", "```\n", "a\n\n", "$$\n"}) {
        MarkdownParser parser;
        parser.append(QString::fromLatin1(line).repeated(400'000) + QStringLiteral("the end"));
        QVERIFY2(parser.blocks().size() < MarkdownParser::kMostBlocks + 2'000, line);
        QVERIFY(parser.blocks().back().text.endsWith(QStringLiteral("the end")));
    }
}

void TestMarkdown::wideTablesAreText() {
    MarkdownParser parser;
    parser.append(QStringLiteral("|a").repeated(1000) + QLatin1Char('\n') +
                  QStringLiteral("|-").repeated(1000) + QStringLiteral("\n|\n|\n"));
    QCOMPARE(parser.blocks().front().kind, MarkdownBlock::Kind::Paragraph);
    // Rows of a column each in a table of many: what is made is bounded.
    MarkdownParser narrow;
    narrow.append(QStringLiteral("|a").repeated(200) + QLatin1Char('\n') +
                  QStringLiteral("|-").repeated(200) + QLatin1Char('\n') +
                  QStringLiteral("|\n").repeated(200'000));
    qsizetype cells = 0;
    for (const MarkdownBlock& block : narrow.blocks()) {
        for (const QStringList& row : block.rows) {
            cells += row.size();
        }
    }
    QVERIFY(cells > 0 && cells < MarkdownParser::kMostCells + 1000);
}

namespace {

const std::vector<std::string>& marks() {
    static const std::vector<std::string> kMarks = {"a",
                                                    " ",
                                                    "\n",
                                                    "\t",
                                                    "#",
                                                    "# ",
                                                    "- ",
                                                    "- [ ] ",
                                                    "1. ",
                                                    "> ",
                                                    ">",
                                                    "|",
                                                    "|a|b\n",
                                                    "|-",
                                                    "---\n",
                                                    "```",
                                                    "```\n",
                                                    "~~~\n",
                                                    "`",
                                                    "`a``b",
                                                    "*",
                                                    "*a_b",
                                                    "**a",
                                                    "a* ",
                                                    "*a ",
                                                    "_",
                                                    "~~",
                                                    "~~a",
                                                    "[",
                                                    "]",
                                                    "[a](",
                                                    "[a](b)",
                                                    "![",
                                                    "![a](b",
                                                    "(",
                                                    ")",
                                                    "<http://a",
                                                    "https://a",
                                                    "h",
                                                    "<",
                                                    "\\",
                                                    "\\(a",
                                                    "\\[a",
                                                    "\\)",
                                                    "$",
                                                    "$a",
                                                    "$$",
                                                    "$$a$",
                                                    "\\begin{a}",
                                                    "\\end{a}",
                                                    "\\begin{",
                                                    "{",
                                                    "}",
                                                    "\\$a",
                                                    ".$a",
                                                    "[a](https://b)",
                                                    "`\\",
                                                    "\xc3\xa4",
                                                    "\xf0\x9f\x98\x80"};
    return kMarks;
}

} // namespace

void TestMarkdown::blocksInLinearTime() {
    const auto blocks = [](const std::string& text) {
        MarkdownParser parser;
        parser.append(QString::fromStdString(text));
        QVERIFY(parser.blocks().size() < 2 * MarkdownParser::kMostBlocks);
    };
    const std::vector<std::string> openers = {
        "a",   "\n",  " ", "# ", "- ", "> ", "|",          "---\n", "```\n",    "`",
        "*",   "*a ", "_", "[",  "]",  "![", "(",          ")",     "<h",       "\\(",
        "\\[", "\\)", "$", "$a", "$$", "\\", "\\begin{a}", "[a](",  "https://a"};
    support::Foreign alone{blocks, openers};
    alone.largest_pair = 0;
    support::checkLinear(alone);
    const auto read = [](const std::string& text) {
        MarkdownParser parser;
        parser.append(QString::fromStdString(text));
        for (const MarkdownBlock& block : parser.blocks()) {
            (void)ui::parseInline(block.text);
        }
    };
    support::checkLinear({read, marks(), {}, {}, size_t{1} << 20, 0});
    support::checkLinear({read, openers, {}, {}, size_t{64} << 10});
    for (const char* before : {"# ", "- ", "> ", "|a|b|\n|-|-|\n|", "```\n", "$$\n", "a "}) {
        support::checkLinear({read, marks(), before, {}, size_t{64} << 10, 0});
    }
}

void TestMarkdown::inlineInLinearTime() {
    support::Foreign foreign{
        [](const std::string& text) { (void)ui::parseInline(QString::fromStdString(text)); },
        marks()};
    foreign.largest = size_t{1} << 20; // no block is so long
    foreign.largest_pair = 0;
    support::checkLinear(foreign);
}

/// A reply comes in pieces: what each costs does not grow with what was there before.
void TestMarkdown::streamsInLinearTime() {
    const auto read = [](const std::string& text) {
        const QString source = QString::fromStdString(text);
        MarkdownParser parser;
        for (qsizetype at = 0; at < source.size(); at += 256) {
            parser.append(source.mid(at, 256));
        }
    };
    support::checkLinear({read,
                          {"a", "\n", " ", "- a\n", "|a|b\n", "```\n", "$$a$", "> "},
                          {},
                          {},
                          size_t{1} << 20,
                          0});
}

TEST_CLASS_WITH(QCoreApplication, TestMarkdown)
#include "tst_markdown.moc"
