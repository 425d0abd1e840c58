// SPDX-License-Identifier: Apache-2.0
// Formulas: what is understood and what is shown as its source, bounded work on hostile ones, the
// proportions of what is drawn, and that the source is what is copied.
#include "tests/support/latency_probe.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_style.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/math_block.h"
#include "ui/chat/math_formula.h"
#include "ui/chat/math_parse.h"
#include "ui/chat/message_item.h"
#include "ui/chat/message_list.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QTest>

using engine::Message;
using ui::ChatTurn;

namespace {

std::shared_ptr<const ui::MathFormula> formulaOf(const char* source, bool is_display = true) {
    const QString text = QString::fromUtf8(source);
    const auto node = ui::parseMath(text);
    return node == nullptr
               ? nullptr
               : ui::MathFormula::make(*node, text, ui::ChatStyle::current().text, is_display);
}

ChatTurn replyOf(const QString& text) {
    ChatTurn turn;
    turn.role = Message::Role::Assistant;
    turn.text = text;
    return turn;
}

ui::ItemContext contextOf(const ui::ChatStyle& style) {
    ui::ItemContext context;
    context.style = &style;
    context.width = 700;
    return context;
}

} // namespace

class TestMath : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void understands_data();
    void understands();
    void proportions();
    void isBounded_data();
    void isBounded();
    void blocks_data();
    void blocks();
    void copiesTheSource();
    void manyAtOnce();
};

void TestMath::understands_data() {
    support::addColumns<QString, bool>("source", "is_understood");
    for (const char* known :
         {"$x$",
          "\\(a^2 + b_{i,j}^{n-1} = c'\\)",
          "$$\\frac{1}{\\sqrt[3]{x}}$$",
          "$\\sum_{i=1}^{n} i$",
          "$\\int_0^\\infty e^{-x^2}\\,dx$",
          "$\\lim_{x \\to 0} f(x)$",
          "$\\alpha \\leq \\Omega \\cdot \\nabla$",
          "$\\left( \\frac a b \\right]$",
          "$\\left. f \\right|_0^1$",
          "$\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$",
          "$\\begin{cases} x & \\text{if } x > 0 \\\\ 0 & \\text{else} \\end{cases}$",
          "\\begin{align*} a &= b \\\\ &= c \\end{align*}",
          "$$ a \\\\ b $$",
          "$\\begin{array}{l|c} a & b \\end{array}$",
          "$\\hat{x} + \\vec v + \\overline{ab}$",
          "$\\mathbf{A} \\mathbb{R}^n \\mathrm{d}x \\operatorname{rank} A$",
          "$\\boxed{42}$",
          "$\\overset{!}{=}$",
          "$50\\%$",
          "$\\binom{n}{k}$",
          "$a \\bmod b \\pmod n$",
          "$x \\not= y$",
          "$\\big( x \\big)$",
          "$\\tag{1} x$",
          "$ü + 日$"}) {
        QTest::newRow(known) << QString::fromUtf8(known) << true;
    }
    for (const char* unknown :
         {"$$", "$ $", "$\\nosuch$", "$\\frac{1}$", "${x$", "$x}$", "$x_1_2$", "$\\left( x$",
          "$\\begin{tikzpicture} x \\end{tikzpicture}$", "$\\begin{matrix} x \\end{pmatrix}$",
          "$\\text{a $b$}$", "$\\begin{array}{p{3cm}} x \\end{array}$", "$^$", "$a & b",
          "$\\color{red} x$", "$\\href{https://x.org}{x}$", "$\\input{/etc/passwd}$", "x"}) {
        QTest::newRow(unknown) << QString::fromUtf8(unknown) << false;
    }
}

void TestMath::understands() {
    QFETCH(QString, source);
    QFETCH(bool, is_understood);
    QCOMPARE(ui::parseMath(source) != nullptr, is_understood);
    if (is_understood) {
        const auto formula = formulaOf(source.toUtf8().constData());
        QVERIFY(formula->width() > 1.0 && formula->width() < 1000.0);
        QVERIFY(formula->ascent() + formula->descent() > 1.0);
    }
}

void TestMath::proportions() {
    const auto height = [](const char* source, bool is_display = true) {
        const auto formula = formulaOf(source, is_display);
        return formula->ascent() + formula->descent();
    };
    const auto width = [](const char* source) { return formulaOf(source)->width(); };
    QVERIFY(height("$\\frac{a}{b}$") > 1.7 * height("$ab$"));
    QVERIFY(height("$\\sum_{i=1}^n i$") > 1.3 * height("$\\sum_{i=1}^n i$", false));
    QVERIFY(formulaOf("$x^2$")->ascent() > formulaOf("$x2$")->ascent());
    QVERIFY(formulaOf("$x_2$")->descent() > formulaOf("$x2$")->descent());
    QVERIFY(width("$a=b$") > width("$ab$") + width("$=$"));
    QVERIFY(width("$-a$") < width("$b-a$") - width("$b$")); // a sign is no operation
    QVERIFY(height("$\\left(\\frac{a}{b}\\right)$") >= height("$\\frac{a}{b}$"));
    QVERIFY(height("$\\begin{matrix}1\\\\2\\\\3\\end{matrix}$") > 2.5 * height("$1$"));
    QVERIFY(height("$\\sqrt{x}$") > height("$x$"));
}

void TestMath::isBounded_data() {
    support::addColumns<QString>("piece");
    for (const char* piece :
         {"{", "}", "\\frac", "x^", "x_{", "\\sqrt{", "\\left(", "&", "\\\\", "\\begin{matrix}",
          "\\hat", "'", "\\text{", "^{^", "a", "\\", "\\begin{array}{c}", "\\not", "\\big"}) {
        QTest::newRow(piece) << QString::fromLatin1(piece);
    }
}

void TestMath::isBounded() {
    QFETCH(QString, piece);
    for (const qsizetype count : {10, 100, 1000, 100'000}) {
        const QString source = QLatin1Char('$') + piece.repeated(count) + QLatin1Char('$');
        QElapsedTimer timer;
        timer.start();
        if (const auto node = ui::parseMath(source)) {
            (void)ui::MathFormula::make(*node, source, ui::ChatStyle::current().text, true);
        }
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    }
}

void TestMath::blocks_data() {
    support::addColumns<QString, bool>("source", "is_drawn");
    QTest::newRow("lines") << QStringLiteral("$$\nx = 1\n$$") << true;
    QTest::newRow("one line") << QStringLiteral("\\[ x \\]") << true;
    QTest::newRow("named") << QStringLiteral("\\begin{align}\na &= b\n\\end{align}") << true;
    QTest::newRow("in a list") << QStringLiteral("- a\n  $$\n  x\n  $$") << true;
    QTest::newRow("among words") << QStringLiteral("so $$ x $$ is") << false;
    QTest::newRow("not closed yet") << QStringLiteral("$$\nx = 1") << false;
    QTest::newRow("not understood") << QStringLiteral("$$\n\\nosuch\n$$") << false;
    QTest::newRow("code") << QStringLiteral("```latex\n$$\nx\n$$\n```") << false;
}

void TestMath::blocks() {
    QFETCH(QString, source);
    QFETCH(bool, is_drawn);
    const ui::ChatStyle style = ui::ChatStyle::current();
    const ui::MessageItem whole(replyOf(source), contextOf(style));
    ui::MessageItem grown(replyOf(source.left(1)), contextOf(style));
    for (qsizetype i = 2; i <= source.size(); ++i) {
        grown.update(replyOf(source.left(i)), contextOf(style));
    }
    for (const ui::MessageItem* item : {&whole, static_cast<const ui::MessageItem*>(&grown)}) {
        const auto& last = item->block(item->findEnd() - 1);
        QCOMPARE(dynamic_cast<const ui::MathBlock*>(&last) != nullptr, is_drawn);
    }
}

void TestMath::copiesTheSource() {
    ui::ChatDocument chat;
    chat.turns = {replyOf(QStringLiteral("question"))};
    const QString text = QStringLiteral("so $x^2$ and\n\n$$\ny_1\n$$\n\n| a |\n|---|\n| $z$ |");
    chat.turns.push_back(replyOf(text));
    ui::ChatView view;
    view.resize(900, 700);
    view.show();
    (void)QTest::qWaitForWindowActive(&view);
    view.setChat(chat);
    ui::MessageList* list = view.messageList();
    list->setFocus();
    list->setCurrentRow(1);
    QTest::keyClick(list, Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(list->selectedText(), QStringLiteral("so $x^2$ and\n$$\ny_1\n$$\na\n$z$"));
    QTest::keyClick(list, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), list->selectedText());
}

/// As many formulas as a paragraph holds before it is cut, each another one.
void TestMath::manyAtOnce() {
    QString text;
    for (int i = 0; text.size() < 2950; ++i) {
        text += QStringLiteral("$x_{%1}$ ").arg(i);
    }
    const ui::ChatStyle style = ui::ChatStyle::current();
    const double before = support::threadCpuMs();
    ui::MessageItem item(replyOf(text), contextOf(style));
    (void)item.shape(0);
    const double took = support::threadCpuMs() - before;
    qInfo("a paragraph of formulas took %.1f ms", took);
    QVERIFY2(!support::judgesTimes() || took < 50.0, qPrintable(QString::number(took)));
}

TEST_CLASS_WITH(QApplication, TestMath)
#include "tst_math.moc"
