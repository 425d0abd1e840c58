// SPDX-License-Identifier: Apache-2.0
// 4-bit models: quantized while loading, and as saved by bitsandbytes, against the golden logits of
// the same weights (expanded by bitsandbytes itself, run in float64), float32 path.
#include "engine/gemma4/tensor_list.h"
#include "tests/support/engine/golden_engine.h"

#include <QTest>

#include <algorithm>

class TestQuantized : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void logits_data();
    void logits();
    void modulesInFourBits_data();
    void modulesInFourBits();
};

void TestQuantized::logits_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("folder");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b"}) {
        for (const char* format : {"nf4", "nf4-dq"}) {
            QTest::addRow("%s %s on load", family, format)
                << QString::fromUtf8(family) << QString::fromUtf8(format)
                << QStringLiteral("model");
        }
    }
    // FP4 codes of values on a threshold depend on the GPU's reciprocal: the checkpoint is the
    // reference.
    QTest::addRow("e2b fp4 on load")
        << QStringLiteral("e2b") << QStringLiteral("fp4") << QStringLiteral("model");
    const std::pair<const char*, const char*> packed[] = {
        {"e2b", "nf4"},      {"e2b", "nf4-dq"},      {"e2b", "fp4"},
        {"dense31b", "nf4"}, {"dense31b", "nf4-dq"}, {"moe26b", "nf4-dq"}};
    for (const auto& [family, format] : packed) {
        QTest::addRow("%s %s as saved", family, format)
            << QString::fromUtf8(family) << QString::fromUtf8(format)
            << QStringLiteral("quantized/%1-checkpoint").arg(QString::fromUtf8(format));
    }
}

void TestQuantized::logits() {
    QFETCH(QString, family);
    QFETCH(QString, format);
    QFETCH(QString, folder);
    const std::string name = family.toStdString();
    engine::LoadRequest request = support::goldenRequest(name, folder.toStdString());
    if (folder == QStringLiteral("model")) {
        request.quant = format.toStdString();
    }
    engine::Engine engine;
    const auto loaded = engine.load(request, {}, {});
    QVERIFY2(loaded.has_value(), loaded.has_value() ? "" : loaded.error().message.c_str());
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto expected =
        support::readSafetensors(support::goldenDir() / name / "quantized" /
                                 (format.toStdString() + ".expected_logits.safetensors"));
    for (const auto& c : support::goldenCases(name)) {
        const auto golden = expected.at(c.id + ".logits_dequant_fp32").floats();
        const auto logits = support::engineLogits(engine, c, 8);
        const double error = support::maxRelativeToLargest(logits, golden);
        QVERIFY2(error <= 1e-4,
                 qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
    }
}

void TestQuantized::modulesInFourBits_data() {
    QTest::addColumn<QString>("family");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b"}) {
        QTest::addRow("%s", family) << QString::fromUtf8(family);
    }
}

void TestQuantized::modulesInFourBits() {
    QFETCH(QString, family);
    const std::string name = family.toStdString();
    engine::LoadRequest request = support::goldenRequest(name);
    request.quant = "nf4";
    engine::Engine engine;
    const auto plan = engine.plan(request);
    QVERIFY(plan.has_value());
    std::vector<std::string> actual;
    for (const auto& row : plan->tensors) {
        if (row.format == engine::Format::Nf4) {
            actual.push_back(
                row.tensor.substr(0, row.tensor.size() - std::string(".weight").size()));
        }
    }
    auto expected =
        support::readJson(support::goldenDir() / name / "quantized/nf4.linear4bit_modules.json")
            .get<std::vector<std::string>>();
    std::sort(actual.begin(), actual.end());
    std::sort(expected.begin(), expected.end());
    QCOMPARE(actual, expected);
}

QTEST_APPLESS_MAIN(TestQuantized)
#include "tst_quantized.moc"
