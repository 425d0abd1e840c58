// SPDX-License-Identifier: Apache-2.0
// JSON written again, and numbers as Python writes them.
#include "engine/base/json/text.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

class TestText : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void readsTheSame();
    void fractions_data();
    void fractions();
    void fractionsReadBack();
};

void TestText::readsTheSame() {
    const std::string text =
        R"({"a":[1,2.50,-0,1e5,true,false,null,"x\"\\\u0001"],"b":{},"c":[],"":"é"})";
    engine::Json tree;
    QCOMPARE(engine::readJsonTree(text, {}, tree).stop, engine::JsonStop::Done);
    const std::string written = engine::jsonText(tree);
    QCOMPARE(written, text);
}

/// Expected values: repr() of Python 3.11.
void TestText::fractions_data() {
    support::addColumns<double, QByteArray>("value", "text");
    const auto row = [](double value, const char* text) {
        QTest::newRow(text) << value << QByteArray(text);
    };
    row(0.0, "0.0");
    row(-0.0, "-0.0");
    row(1.0, "1.0");
    row(1.5, "1.5");
    row(-2.5, "-2.5");
    row(0.1, "0.1");
    row(0.1 + 0.2, "0.30000000000000004");
    row(100000.0, "100000.0");
    row(123456.789, "123456.789");
    row(1e15, "1000000000000000.0");
    row(9999999999999998.0, "9999999999999998.0");
    row(1e16, "1e+16");
    row(1.5e22, "1.5e+22");
    row(1e300, "1e+300");
    row(0.0001, "0.0001");
    row(0.00012, "0.00012");
    row(0.00001, "1e-05");
    row(-2.5e-7, "-2.5e-07");
    row(5e-324, "5e-324");
    row(std::numeric_limits<double>::max(), "1.7976931348623157e+308");
    row(std::numeric_limits<double>::infinity(), "inf");
    row(-std::numeric_limits<double>::infinity(), "-inf");
    row(std::nan(""), "nan");
}

void TestText::fractions() {
    QFETCH(double, value);
    QFETCH(QByteArray, text);
    QCOMPARE(QByteArray::fromStdString(engine::fractionText(value)), text);
}

void TestText::fractionsReadBack() {
    std::mt19937_64 random(7);
    for (int i = 0; i < 20'000; ++i) {
        const double value = std::ldexp(std::uniform_real_distribution<>(-1.0, 1.0)(random),
                                        std::uniform_int_distribution<>(-80, 80)(random));
        bool is_number = false;
        const std::string text = engine::fractionText(value);
        const double read = QByteArray::fromStdString(text).toDouble(&is_number);
        QVERIFY2(is_number && read == value, text.c_str());
    }
}

TEST_CLASS(TestText)
#include "tst_text.moc"
