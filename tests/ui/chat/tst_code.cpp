// SPDX-License-Identifier: Apache-2.0
// Colours of code: what is found in each language, the same however the text arrives, in linear
// time, in colours that can be read; and code that is wider than the message scrolls sideways.
#include "tests/support/latency_probe.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_style.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/code_block.h"
#include "ui/chat/code_lexer.h"
#include "ui/chat/message_item.h"
#include "ui/chat/message_list.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <QTest>
#include <QWheelEvent>

#include <cmath>

using engine::Message;
using ui::ChatTurn;
using ui::CodeKind;
using ui::CodeSpan;

namespace {

/// "k:if s:"a" c:# x": kinds and texts in order.
QString spansOf(const QString& language, const QString& code) {
    const ui::CodeLanguage* found = ui::codeLanguage(language);
    if (found == nullptr) {
        return QStringLiteral("unknown");
    }
    constexpr char kLetters[] = "?ktscn+-m";
    QStringList parts;
    ui::LexState state;
    for (const QString& line : code.split(QLatin1Char('\n'))) {
        std::vector<CodeSpan> spans;
        ui::lexLine(*found, line, state, spans);
        qsizetype behind = 0;
        for (const CodeSpan& span : spans) {
            if (span.start < behind || span.length <= 0 || span.start + span.length > line.size()) {
                return QStringLiteral("spans overlap in: ") + line;
            }
            behind = span.start + span.length;
            parts.append(QString(QLatin1Char(kLetters[static_cast<int>(span.kind)])) +
                         QLatin1Char(':') + line.mid(span.start, span.length));
        }
    }
    return parts.join(QLatin1Char(' '));
}

double luminance(const QColor& color) {
    const auto linear = [](double c) {
        return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
           0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double one = luminance(a), other = luminance(b);
    return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

ui::ItemContext contextOf(const ui::ChatStyle& style, bool is_streaming) {
    ui::ItemContext context;
    context.style = &style;
    context.width = 700;
    context.is_streaming = is_streaming;
    return context;
}

} // namespace

class TestCode : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void colours_data();
    void colours();
    void canBeRead_data();
    void canBeRead();
    void linear_data();
    void linear();
    void sameHoweverItArrives();
    void scrollsSideways();
};

void TestCode::colours_data() {
    support::addColumns<QString, QString, QString>("language", "code", "spans");
    const auto row = [](const char* language, const char* code, const char* spans) {
        QTest::addRow("'%s'", language)
            << QString::fromLatin1(language) << QString::fromUtf8(code) << QString::fromUtf8(spans);
    };
    row("c", "#include <a.h> // b\nint x = 0x1F;", "m:#include s:<a.h> c:// b t:int n:0x1F");
    row("C++", "auto s = R\"x(a\"\n)\" b)x\"; 1'000u", "k:auto s:R\"x(a\" s:)\" b)x\" n:1'000u");
    row("cpp", "/* a\nb */ return '\\'';", "c:/* a c:b */ k:return s:'\\''");
    row("cuda", "__global__ void f(float4 v)", "k:__global__ t:void t:float4");
    row("python", "@dc\ndef f():\n  \"\"\"a\n  b\"\"\"\n  return f'{x}' # c",
        "m:@dc k:def s:\"\"\"a s:  b\"\"\" k:return s:'{x}' c:# c");
    row("js", "const a = `x\ny`; // z", "k:const s:`x s:y` c:// z");
    row("tsx", "let a: number = 1.5e-3", "k:let t:number n:1.5e-3");
    row("json", "{\"a b\": [1, \"c\", true]}", "t:\"a b\" n:1 s:\"c\" k:true");
    row("yaml", "a-b: it's # c\n- 'd'", "t:a-b c:# c s:'d'");
    row("toml", "a = 'b' # c", "t:a s:'b' c:# c");
    row("bash", "if [ $A ]; then echo \"x\ny\" ${B#c} # d\nfi",
        "k:if t:$A k:then t:echo s:\"x s:y\" t:${B#c} c:# d k:fi");
    row("sh", "cat <<EOF >a\nif x\nEOF\nfi", "t:cat k:<<EOF s:if x k:EOF k:fi");
    row("PowerShell", "IF ($a -eq 1) { <# b #> }", "k:IF t:$a k:-eq n:1 c:<# b #>");
    row("SQL", "SELECT count(*) FROM t -- 'a'", "k:SELECT t:count k:FROM c:-- 'a'");
    row("html", "<!-- a\nb --><a href=\"c\">&amp;</a>",
        "c:<!-- a c:b --> k:<a t:href s:\"c\" k:> n:&amp; k:</a k:>");
    row("css", "a { color: #fff; /* b */ }", "t:color c:/* b */");
    row("java", "@Override public String a() { return null; }",
        "m:@Override k:public t:String k:return t:null");
    row("kotlin", "/* a /* b */ c */ val x = 1", "c:/* a /* b */ c */ k:val n:1");
    row("c#", "var s = @\"a\nb\";", "k:var s:@\"a s:b\"");
    row("go", "func f() { a := `b\nc` }", "k:func s:`b s:c`");
    row("rust", "fn f<'a>(x: &'a str) { r#\"b\"#; 'c' }", "k:fn t:str s:r#\"b\"# s:'c'");
    row("swift", "let a: Int = 1 // b", "k:let t:Int n:1 c:// b");
    row("ruby", "def a; @b = \"c#d\" # e", "k:def m:@b s:\"c#d\" c:# e");
    row("php", "$a = null; # b", "t:$a t:null c:# b");
    row("lua", "--[[ a\nb ]] local c -- d", "c:--[[ a c:b ]] k:local c:-- d");
    row("r", "x <- c(1, NA) # a", "t:c n:1 t:NA c:# a");
    row("cmake", "SET(A \"b\") # c", "k:SET s:\"b\" c:# c");
    row("Dockerfile", "FROM a:1\nRUN x # y", "k:FROM n:1 k:RUN c:# y");
    row("make", "all: a\n\techo $(B)", "m:all");
    row("diff", "+a\n-b\n@@ 1\n c", "+:+a -:-b m:@@ 1");
    row("klingon", "if", "unknown");
    row("", "if", "unknown");
}

void TestCode::colours() {
    QFETCH(QString, language);
    QFETCH(QString, code);
    QFETCH(QString, spans);
    QCOMPARE(spansOf(language, code), spans);
}

void TestCode::canBeRead_data() {
    support::addColumns<bool>("is_dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

void TestCode::canBeRead() {
    QFETCH(bool, is_dark);
    const ui::Theme& theme = is_dark ? ui::Theme::dark() : ui::Theme::light();
    for (const QColor& color :
         {theme.code_keyword, theme.code_type, theme.code_string, theme.code_comment,
          theme.code_number, theme.code_removed, theme.code_meta, theme.text}) {
        QVERIFY2(contrast(color, theme.code_background) >= 4.5, qPrintable(color.name()));
    }
    QVERIFY(contrast(theme.text, theme.found) >= 4.5);
    QVERIFY(contrast(theme.on_found_current, theme.found_current) >= 4.5);
}

void TestCode::linear_data() {
    support::addColumns<QString, QString>("language", "piece");
    QTest::newRow("quotes") << QStringLiteral("cpp") << QStringLiteral("\"");
    QTest::newRow("raw strings") << QStringLiteral("cpp") << QStringLiteral("R\"(");
    QTest::newRow("comments") << QStringLiteral("rust") << QStringLiteral("/*");
    QTest::newRow("tags") << QStringLiteral("html") << QStringLiteral("<a b='");
    QTest::newRow("entities") << QStringLiteral("html") << QStringLiteral("&");
    QTest::newRow("variables") << QStringLiteral("bash") << QStringLiteral("${");
    QTest::newRow("here") << QStringLiteral("sh") << QStringLiteral("<<A ");
    QTest::newRow("words") << QStringLiteral("python") << QStringLiteral("if ");
    QTest::newRow("spaces") << QStringLiteral("json") << QStringLiteral("a ");
    QTest::newRow("colons") << QStringLiteral("make") << QStringLiteral("a:=");
}

void TestCode::linear() {
    QFETCH(QString, language);
    QFETCH(QString, piece);
    const auto took = [&](qsizetype length) {
        const QString code = piece.repeated(length / piece.size());
        const double before = support::threadCpuMs();
        (void)spansOf(language, code);
        return support::threadCpuMs() - before;
    };
    (void)took(1000);
    const double once = took(50'000), ten_times = took(500'000);
    QVERIFY2(ten_times < 30.0 * std::max(once, 5.0), qPrintable(QString::number(ten_times)));
}

void TestCode::sameHoweverItArrives() {
    const ui::ChatStyle style = ui::ChatStyle::current();
    QString code = QStringLiteral("before\n\n```cpp\n/* a comment\n");
    for (int i = 0; i < 100; ++i) {
        code += QStringLiteral("line %1 \"of it\"\n").arg(i);
    }
    code += QStringLiteral("*/ int x; // y\n```\nafter\n");
    ChatTurn turn;
    turn.role = Message::Role::Assistant;
    turn.text = code.left(1);
    ui::MessageItem grown(turn, contextOf(style, true));
    QImage image(700, 4000, QImage::Format_RGB32);
    const auto draw = [&](ui::MessageItem& item) {
        image.fill(ui::Theme::current().window);
        QPainter painter(&image);
        double y = 0.0;
        for (size_t i = 0; i < item.findEnd(); ++i) {
            (void)item.shape(i);
            const ui::MessageBlock& block = item.block(i);
            y += block.gap_above;
            block.draw(painter, {0.0, y, block.extent, block.height() - block.gap_above}, {});
            y += block.height() - block.gap_above;
        }
        return image.copy();
    };
    for (qsizetype at = 1; at < code.size(); at += 37) {
        turn.text = code.left(at + 37);
        grown.update(turn, contextOf(style, true));
        (void)draw(grown);
    }
    ui::MessageItem whole(turn, contextOf(style, true));
    QCOMPARE(draw(grown), draw(whole));
    QCOMPARE(grown.codeAt(1), whole.codeAt(1));
}

void TestCode::scrollsSideways() {
    ui::ChatDocument chat;
    ChatTurn turn;
    turn.role = Message::Role::User;
    turn.text = QStringLiteral("code");
    chat.turns.push_back(turn);
    turn.role = Message::Role::Assistant;
    turn.text = QStringLiteral("```\n") + QStringLiteral("word ").repeated(60) +
                QStringLiteral("end\nshort\n```\n");
    chat.turns.push_back(turn);
    ui::ChatView view;
    view.resize(900, 700);
    view.show();
    (void)QTest::qWaitForWindowActive(&view);
    view.setChat(chat);
    ui::MessageList* list = view.messageList();
    QWidget* port = list->viewport();
    const auto shot = [&] { return port->grab().toImage(); };
    const QImage before = shot();
    const QRect row = list->rowRect(1);
    const QPoint middle = row.center();
    const auto wheel = [&](int y, Qt::KeyboardModifiers modifiers) {
        QWheelEvent event(middle, port->mapToGlobal(middle), {}, {0, y}, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(port, &event);
    };
    wheel(-120, Qt::ShiftModifier);
    QCOMPARE(list->rowRect(1), row); // the lines are not wrapped: two, a header, the padding
    QVERIFY(row.height() < 32 + 2 * 24 + 12 + 60);
    const QImage scrolled = shot();
    QVERIFY(scrolled != before);
    wheel(120, Qt::ShiftModifier);
    QCOMPARE(shot(), before);
    list->setFocus();
    list->setCurrentRow(1);
    const QImage focused = shot();
    QTest::keyClick(list, Qt::Key_Right, Qt::ShiftModifier);
    QVERIFY(shot() != focused);
    QTest::keyClick(list, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(shot(), focused);
    // The slider is somewhere below the last line: what is dragged there marks nothing, and moves.
    const QImage still = shot();
    bool is_moved = false;
    for (QPoint at(row.left() + 40, row.bottom()); at.y() > row.top() && !is_moved; --at.ry()) {
        QTest::mousePress(port, Qt::LeftButton, {}, at);
        QTest::mouseMove(port, at + QPoint(120, 0));
        QTest::mouseRelease(port, Qt::LeftButton, {}, at + QPoint(120, 0));
        is_moved = list->selectedText().isEmpty() && shot() != still;
    }
    QVERIFY(is_moved);
    // What is beyond the edge can be marked by the mouse, and copied whole.
    QTest::keyClick(list, Qt::Key_A, Qt::ControlModifier);
    QVERIFY(list->selectedText().contains(QStringLiteral("word end\nshort")));
}

TEST_CLASS_WITH(QApplication, TestCode)
#include "tst_code.moc"
