// SPDX-License-Identifier: Apache-2.0
// Templates against what jinja2 writes (tests/data/jinja_cases.json, made by
// tests/golden/make_jinja_vectors.py), and templates that mean harm: they end, soon and with an
// error.
#include "engine/text/jinja.h"
#include "tests/support/golden.h"

#include <QElapsedTimer>
#include <QTest>

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
    void hostileTemplatesEnd_data();
    void hostileTemplatesEnd();

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
        QVERIFY2(!written, written ? written->c_str() : "");
        return;
    }
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    QCOMPARE(QByteArray::fromStdString(*written),
             QByteArray::fromStdString(c["expected"].get<std::string>()));
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

QTEST_APPLESS_MAIN(TestJinja)
#include "tst_jinja.moc"
