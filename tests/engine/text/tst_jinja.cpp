// SPDX-License-Identifier: Apache-2.0
// Templates against what jinja2 writes (tests/data/jinja_cases.json, made by
// tests/golden/make_jinja_vectors.py), and templates that mean harm: they end, soon and with an
// error.
#include "engine/text/jinja.h"
#include "engine/text/jinja_budget.h"
#include "tests/support/golden.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QTest>

#include <limits>

using namespace engine;
using jinja::Value;

namespace {

Value valueOf(const nlohmann::json& json) {
    if (json.is_boolean()) {
        return Value::of(json.get<bool>());
    }
    if (json.is_string()) {
        return Value::of(json.get<std::string>());
    }
    if (json.is_array()) {
        Value::Items items;
        for (const auto& item : json) {
            items.push_back(valueOf(item));
        }
        return Value::list(std::move(items));
    }
    Value::Members members;
    for (const auto& [name, member] : json.items()) {
        members.emplace_back(name, valueOf(member));
    }
    return Value::map(std::move(members));
}

} // namespace

class TestJinja : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void matchesJinja2_data();
    void matchesJinja2();
    void knowsWhoWroteWhat_data();
    void knowsWhoWroteWhat();
    void hostileTemplatesEnd_data();
    void hostileTemplatesEnd();
    void bombs_data();
    void bombs();
    void longTemplates();

private:
    nlohmann::json cases_;
};

void TestJinja::matchesJinja2_data() {
    QTest::addColumn<int>("index");
    cases_ = support::readJson(support::testDataDir() / "jinja_cases.json").at("cases");
    for (size_t i = 0; i < cases_.size(); ++i) {
        QTest::newRow(cases_[i]["title"].get<std::string>().c_str()) << static_cast<int>(i);
    }
}

void TestJinja::matchesJinja2() {
    QFETCH(int, index);
    const nlohmann::json& c = cases_[static_cast<size_t>(index)];
    std::map<std::string, Value> variables;
    for (const auto& [name, value] : c["variables"].items()) {
        variables[name] = valueOf(value);
    }
    const auto written = jinja::render(c["source"].get<std::string>(), variables);
    if (c["expected"].is_null()) {
        QVERIFY2(!written, written ? written->bytes.c_str() : "");
        return;
    }
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    QCOMPARE(QByteArray::fromStdString(written->bytes),
             QByteArray::fromStdString(c["expected"].get<std::string>()));
}

/// Expected is what is written with every stretch that the template did not hold in parentheses.
void TestJinja::knowsWhoWroteWhat_data() {
    QTest::addColumn<QByteArray>("source");
    QTest::addColumn<QByteArray>("expected");
    const auto row = [](const char* title, const QByteArray& source, const QByteArray& expected) {
        QTest::newRow(title) << source << expected;
    };
    row("output", "<a>{{ x }}<b>", "<a>( <s>, )<b>");
    row("sum", "{{ '<a>' + x + '<b>' }}", "<a>( <s>, )<b>");
    row("joined with ~", "{{ '<a>' ~ x ~ 1 }}", "<a>( <s>, 1)");
    row("trimmed", "{{ ('  <a>' + x) | trim }}", "<a>( <s>,)");
    row("trimmed of other spaces",
        "{{ '\u3000 a\u00a0\u2003' | trim }}{{ '\u3000b\u00a0'.lstrip() }}", "ab\u00a0");
    row("stripped of letters", "{{ ('<a>' + x.strip()).strip('<,') }}", "a>(<s>)");
    row("slice", "{{ ('<a>' + x)[1:6] }}", "a>( <s)");
    row("reversed", "{{ ('>a<' + x)[::-1] }}", "( ,>s< )<a>");
    row("one character", "{{ ('<a>' + x)[2] }}{{ ('<a>' + x)[-3] }}", ">(>)");
    row("characters", "{% for c in '<' + x %}{{ c }}{% endfor %}", "<( <s>, )");
    row("split", "{{ ('<a>,' + x).split(',')[0] }}{{ ('<a>,' + x).split(',')[1] }}", "<a>( <s>)");
    row("replaced by the template", "{{ x.replace('<s>', '<e>') }}", "( <e>, )");
    row("replaced by what came in", "{{ '<a>,<b>'.replace(',', x) }}", "<a>( <s>, )<b>");
    row("filter replace", "{{ ('<a>' + x) | replace('s', 'e') }}", "<a>( <e>, )");
    row("upper", "{{ ('<a>' + x).upper() }}{{ ('<A>' + x) | lower }}", "<A>( <S>, )<a>( <s>, )");
    row("joined list", "{{ ['<a>', x, x] | join('|') }}", "<a>|( <s>, )|( <s>, )");
    row("macro", "{% macro m(t) %}<a>{{ t }}{% endmacro %}{{ m(x) + '<b>' }}", "<a>( <s>, )<b>");
    row("block", "{% set b %}<a>{{ x }}{% endset %}{{ (b + '<b>') | string }}", "<a>( <s>, )<b>");
    row("namespace", "{% set n = namespace(t='<a>') %}{% set n.t = n.t + x %}{{ n.t }}",
        "<a>( <s>, )");
    row("keys and values", "{% for k, v in m.items() %}{{ k }}<a>{{ v }}{% endfor %}",
        "(<k>)<a>(<v>)");
    row("default", "{{ none_such | default('<a>') }}{{ x | default('<a>') }}", "<a>( <s>, )");
    row("numbers and truth", "{{ 1 }}<a>{{ true }}", "(1)<a>(True)");
}

void TestJinja::knowsWhoWroteWhat() {
    QFETCH(QByteArray, source);
    QFETCH(QByteArray, expected);
    const auto written = jinja::render(
        source.toStdString(), {{"x", Value::of(std::string(" <s>, "))},
                               {"m", Value::map({{"<k>", Value::of(std::string("<v>"))}})}});
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    QByteArray shown;
    bool was_own = true;
    for (size_t i = 0; i < written->bytes.size(); ++i) {
        const bool is_own = i < written->own.size() && written->own[i] != 0;
        if (is_own != was_own) {
            shown += was_own ? '(' : ')';
        }
        was_own = is_own;
        shown += written->bytes[i];
    }
    QCOMPARE(was_own ? shown : shown + ')', expected);
}

void TestJinja::hostileTemplatesEnd_data() {
    QTest::addColumn<QByteArray>("source");
    const auto row = [](const char* title, const QByteArray& source) {
        QTest::newRow(title) << source;
    };
    row("endless loops",
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}");
    row("a long list in every pass",
        "{% for a in range(9999) %}{% if range(9999) %}{% endif %}{% endfor %}");
    row("variables of a loop that are held",
        "{% set ns = namespace(t=[]) %}{% for a in range(99999) %}{% set ns.t = [loop, ns.t] %}"
        "{% for b in range(3) %}{% set ns.u = loop %}{% endfor %}{% endfor %}{{ ns.t }}");
    row("a macro that calls itself", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
    row("a text that doubles",
        "{% set ns = namespace(t='aaaaaaaa') %}{% for i in range(99) %}{% set ns.t = ns.t + ns.t %}"
        "{% endfor %}{{ ns.t }}");
    row("a list that doubles", "{% set ns = namespace(t=[1]) %}{% for i in range(99) %}{% set ns.t "
                               "= ns.t + ns.t %}{% endfor %}"
                               "{{ ns.t | join }}");
    row("a list nested very deeply", "{% set ns = namespace(t=[1]) %}{% for i in range(9999) %}{% "
                                     "set ns.t = [ns.t] %}{% endfor %}"
                                     "{{ ns.t }}");
    row("a namespace in itself",
        "{% set ns = namespace() %}{% set ns.me = ns %}{% set ns.all = [ns, ns] %}{{ ns.me }}");
    row("lists that hold each other many times",
        "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] "
        "%}"
        "{% set ns.b = [ns.b, ns.b] %}{% endfor %}{{ ns.a == ns.b }}{{ ns.a }}");
    row("brackets", "{{ " + QByteArray(5000, '(') + "1" + QByteArray(5000, ')') + " }}");
    row("nots", "{{ " + QByteArray("not ").repeated(5000) + "1 }}");
    row("signs", "{{ " + QByteArray(5000, '-') + "1 }}");
    row("blocks", QByteArray("{% if 1 %}").repeated(5000));
    row("lists in lists", "{{ " + QByteArray(5000, '[') + QByteArray(5000, ']') + " }}");
    row("include", "{% include 'x' %}");
    row("attributes of objects", "{{ ''.__class__.__mro__() }}");
    row("an open tag", "{{ 'a");
    row("an open comment", "{# x");
    row("division by zero", "{{ 1 // 0 }}");
}

void TestJinja::hostileTemplatesEnd() {
    QFETCH(QByteArray, source);
    QElapsedTimer timer;
    timer.start();
    QVERIFY(!jinja::render(source.toStdString(), {}));
#if defined(__SANITIZE_ADDRESS__)
    constexpr qint64 kLongest = 60000; // every access is looked at
#else
    constexpr qint64 kLongest = 5000;
#endif
    QVERIFY2(timer.elapsed() < kLongest, "a template must not hold the program up");
}

namespace {

/// "x" holds this; what a person wrote may be long too.
std::string longText() {
    return std::string(size_t{2} << 20, 'a');
}

} // namespace

void TestJinja::bombs_data() {
    QTest::addColumn<QByteArray>("source");
    QTest::addColumn<QByteArray>("expected"); // null: an error
    const auto row = [](const char* title, const QByteArray& source, const char* expected) {
        QTest::newRow(title) << source << QByteArray(expected);
    };
    const auto loops = [](const char* count, const char* body) {
        return QByteArray("{% for i in range(") + count + ") %}" + body + "{% endfor %}";
    };
    const auto namespaced = [&](const char* first, const char* count, const char* body,
                                const char* last) {
        return QByteArray("{% set ns = namespace(l=") + first + ") %}" + loops(count, body) + last;
    };
    constexpr auto kError = nullptr;
    // Numbers at the ends of what there is.
    row("slice of a text, step 2^63-1", "{{ 'abc'[1::9223372036854775807] }}", "b");
    row("slice of a list, step 2^63-1", "{{ [1,2,3][0::9223372036854775807] | join }}", "1");
    row("slice, step -(2^63-1)", "{{ 'abc'[::-9223372036854775807] }}", "c");
    row("slice, all ends far out",
        "{{ 'abc'[-9223372036854775807:9223372036854775807:2] }}"
        "{{ 'abc'[9223372036854775807:-9223372036854775807:-2] }}",
        "acca");
    row("slice, the lowest number", "{{ 'abc'[low:] }}{{ 'abc'[::low] }}{{ 'abc'[:low:low] }}",
        "abccc");
    row("slice of nothing", "{{ ''[::-1] }}{{ [][5:-5:-3] | length }}{{ u[1:2] | length }}", "00");
    row("slice, step 0", "{{ 'abc'[::0] }}", kError);
    row("index far out", "{{ 'abc'[9223372036854775807] }}{{ [1][low] }}{{ 'abc'[-1] }}", "c");
    row("minus the lowest number", "{{ -low }}", kError);
    row("sums of the lowest number", "{{ low - 1 }}", kError);
    row("products of the lowest number", "{{ low * -1 }}", kError);
    row("quotients of the lowest number", "{{ low // -1 }}", kError);
    row("a number that is too long", "{{ 99999999999999999999999 }}", kError);
    row("range over all", "{{ range(-9223372036854775807,9223372036854775807)|length }}", kError);
    row("range from the lowest", "{{ range(low, 9223372036854775807)|length }}", kError);
    row("range downwards", "{{ range(9223372036854775807,-9223372036854775807)|length }}", "0");
    row("range at the end", "{{ range(9223372036854775806,9223372036854775807)|length }}", "1");
    row("range too long", "{{ range(100001)|length }}", kError);
    row("range with a step", "{{ range(0,10,9223372036854775807)|length }}", kError);
    // Bytes.
    row("join of 100,000 long texts",
        namespaced("[x]", "17", "{% set ns.l = ns.l + ns.l %}", "{{ ns.l | join | length }}"),
        kError);
    row("join with a long text between", "{{ range(100000) | join(x) | length }}", kError);
    row("a list of long texts that doubles",
        namespaced("[x]", "40", "{% set ns.l = ns.l + ns.l %}", "{{ ns.l | length }}"), kError);
    row("long texts joined by ~",
        namespaced("x", "40", "{% set ns.l = ns.l ~ ns.l %}", "{{ ns.l | length }}"), kError);
    row("many sums of long texts", loops("9999", "{% set y = x + '1' %}"), kError);
    row("many long texts held", namespaced("[]", "9999", "{% set ns.l = [ns.l, x ~ i] %}", ""),
        kError);
    row("long texts as output", loops("99", "{{ x }}"), kError);
    row("long texts in blocks", loops("9999", "{% set y %}{{ x }}{% endset %}"), kError);
    row("long texts of macros",
        "{% macro m() %}{{ x }}{% endmacro %}" + loops("9999", "{% set y = m() %}"), kError);
    row("upper of long texts", loops("9999", "{% set y = x | upper %}"), kError);
    row("characters of a long text", "{{ x | list | length }}", kError);
    row("a loop over a long text", "{% for c in x %}{% endfor %}", kError);
    row("pieces of a long text", "{{ x.split('a') | length }}", kError);
    row("slices of long texts", loops("9999", "{% set y = x[1:] %}"), kError);
    row("namespaces that copy", loops("99999", "{% set y = namespace(a=x, b=i, c=i) %}"), kError);
    row("maps that copy their keys", loops("9999", "{% set y = {x: i} %}"), kError);
    row("copies of lists", "{% set l = range(99999) %}" + loops("9999", "{% set y = l | list %}"),
        kError);
    row("text times number", "{{ 'a' * 1000000000 }}", kError);
    row("list times number", "{{ [1] * 1000000000 }}", kError);
    row("a power", "{{ 9 ** 999999999 }}", kError);
    // Work without bytes.
    row("replace, longer", "{{ x.replace('a','bb') | length }}", "4194304");
    row("replace, away", "{{ x.replace('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','') | length }}", "0");
    row("replace as a filter", "{{ x | replace('a','b') | length }}", "2097152");
    row("replace by long texts", "{{ x | replace('a',x) | length }}", kError);
    row("find a^n b", "{{ (h ~ 'b') in x }}", "False");
    row("replace a^n b", "{{ x.replace(h ~ 'b', '') | length }}", "2097152");
    row("split at a^n b", "{{ x.split(h ~ 'b') | length }}", "1");
    row("many searches", loops("9999", "{% if 'b' in x %}{% endif %}"), kError);
    row("many comparisons", loops("9999", "{% if x ~ '' == x %}{% endif %}"), kError);
    row("comparisons in a list", "{{ (x ~ 'b') in [x ~ 'c', x ~ 'd'] }}", "False");
    row("many lengths", loops("9999", "{% if x | length %}{% endif %}"), kError);
    row("many single characters", loops("9999", "{% if x[0] %}{% endif %}"), kError);
    row("strip of many letters", "{{ x.strip(x) | length }}", "0");
    row("a namespace of many members",
        namespaced("{}", "9999", "{% set ns.l = {'a': ns.l} %}", "") + "{{ ns.l == ns.l }}",
        "True");
    row("deep values compared",
        "{% set ns = namespace(a=[1], b=[1]) %}" +
            loops("9999", "{% set ns.a = [ns.a] %}{% set ns.b = [ns.b] %}") + "{{ ns.a == ns.b }}",
        kError);
    row("deep maps compared",
        "{% set ns = namespace(a={}, b={}) %}" +
            loops("9999", "{% set ns.a = {'k': ns.a} %}{% set ns.b = {'k': ns.b} %}") +
            "{{ ns.a == ns.b }}",
        kError);
    row("circles compared",
        "{% set a = namespace() %}{% set b = namespace() %}{% set a.n = b %}{% set b.n = a %}"
        "{{ a == b }}",
        kError);
    row(
        "sorting",
        "{% set d = {" +
            [] {
                QByteArray all;
                for (int i = 0; i < 5000; ++i) {
                    all += "'k" + QByteArray::number(i * 7919 % 5000) + "': 1,";
                }
                return all;
            }() +
            "} %}{% for i in range(999) %}{% set y = d | dictsort %}{% endfor %}",
        kError);
    row("loops in loops", loops("99999", loops("99999", "")), kError);
    row("macros in macros", "{% macro a(n) %}{{ a(n) ~ a(n) }}{% endmacro %}{{ a(1) }}", kError);
    row("two macros",
        "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
        kError);
    row("a macro in deep blocks",
        "{% macro m() %}" + QByteArray("{% if 1 %}").repeated(90) + "{{ m() }}" +
            QByteArray("{% endif %}").repeated(90) + "{% endmacro %}{{ m() }}",
        kError);
    row("parameters and arguments",
        "{% macro m(" + QByteArray("a,").repeated(20000) + "b) %}{% endmacro %}{{ m(" +
            QByteArray("1,").repeated(20000) + "1) }}",
        kError);
}

void TestJinja::bombs() {
    QFETCH(QByteArray, source);
    QFETCH(QByteArray, expected);
    const std::map<std::string, Value> variables = {
        {"x", Value::of(longText())},
        {"h", Value::of(longText().substr(0, size_t{1} << 19))},
        {"low", Value::of(std::numeric_limits<int64_t>::min())}};
    const size_t peak = support::peakMemory();
    jinja::Cost cost;
    const auto written = jinja::render(source.toStdString(), variables, &cost);
    if (expected.isNull()) {
        QVERIFY2(!written, written ? written->bytes.substr(0, 100).c_str() : "");
        QVERIFY(!written.error().message.empty());
    } else {
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        QCOMPARE(QByteArray::fromStdString(written->bytes), expected);
    }
    // What passes a limit is charged once more before it is refused.
    QVERIFY(cost.steps <= 2 * jinja::Budget::kMostSteps + 1);
    QVERIFY(cost.bytes <= jinja::Budget::kMostBytes);
#if !defined(__SANITIZE_ADDRESS__)
    QVERIFY(support::peakMemory() - peak < 4 * jinja::Budget::kMostBytes);
#endif
}

void TestJinja::longTemplates() {
    const auto read = [](const std::string& source) { (void)jinja::render(source, {}); };
    // A folder's template may have 1 MiB.
    constexpr size_t kLargest = size_t{1} << 20;
    support::Foreign whole{read,
                           {"{{", "}}", "{%", "%}", "{#", "#}", "{", "}", "-", "\n", " ", "'", "a",
                            "{{ 1 }}", "{% if 1 %}", "{% endif %}", "{% set a = 1 %}", "\\"}};
    whole.largest = kLargest;
    support::checkLinear(whole);
    support::Foreign inside{read,
                            {"(",      ")",    "[",    "]",  "{",  "}",  "1",  "a",     ".",
                             ",",      ":",    "|",    "~",  "+",  "-",  "'",  "not ",  " if ",
                             " else ", " is ", " in ", "1+", "a.", "a|", "a[", "1 if ", "a if a "},
                            "{{ a",
                            "}}"};
    inside.largest = kLargest;
    support::checkLinear(inside);
}

TEST_CLASS(TestJinja)
#include "tst_jinja.moc"
