// SPDX-License-Identifier: Apache-2.0
// What names of GGUF files say; the rows are names of files on the hub.
#include "engine/base/gguf_names.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using engine::GgufRole;

class TestGgufNames : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void roles_data();
    void roles();
    void parts();
};

void TestGgufNames::roles_data() {
    QTest::addColumn<int>("role");
    QTest::addColumn<QByteArray>("quantization");
    const auto row = [](const char* name, GgufRole role, const char* quantization) {
        QTest::newRow(name) << static_cast<int>(role) << QByteArray(quantization);
    };
    row("gemma-4-E2B-it-Q4_K_M.gguf", GgufRole::Model, "Q4_K_M");
    row("gemma-4-12b-it-UD-Q4_K_XL.gguf", GgufRole::Model, "UD-Q4_K_XL");
    row("google_gemma-4-E2B-it-bf16.GGUF", GgufRole::Model, "BF16");
    row("SmolLM2-135M-Instruct.Q4_1.gguf", GgufRole::Model, "Q4_1");
    row("gpt-oss-20b-mxfp4.gguf", GgufRole::Model, "MXFP4");
    row("Q4_0.gguf", GgufRole::Model, "Q4_0");
    row("UD-IQ2_M.gguf", GgufRole::Model, "UD-IQ2_M");
    row("model.gguf", GgufRole::Model, "");
    row("a-quite-good-one.gguf", GgufRole::Model, "");
    row("CLOUD-Q8_0.gguf", GgufRole::Model, "Q8_0");
    row("BF16/m-BF16-00001-of-00002.gguf", GgufRole::Model, "BF16");
    row("BF16/m-BF16-00002-of-00002.gguf", GgufRole::Part, "BF16");
    row("mmproj-BF16.gguf", GgufRole::Projector, "BF16");
    row("m.mmproj-Q8_0.gguf", GgufRole::Projector, "Q8_0");
    row("mtp-gemma-4-E2B-it.gguf", GgufRole::Assistant, "");
    row("Ornith-9B-MTP-Q4_0.gguf", GgufRole::Model, "Q4_0");
    row("MTP/mtp-m-BF16.gguf", GgufRole::Assistant, "BF16");
    row("config.json", GgufRole::None, "");
    row(".gguf", GgufRole::Model, "");
    row("", GgufRole::None, "");
}

void TestGgufNames::roles() {
    QFETCH(int, role);
    QFETCH(QByteArray, quantization);
    const char* name = QTest::currentDataTag();
    QCOMPARE(static_cast<int>(engine::ggufRole(name)), role);
    QCOMPARE(engine::ggufQuantization(name), quantization.toStdString());
}

void TestGgufNames::parts() {
    using Names = std::vector<std::string>;
    QCOMPARE(engine::partNames("m-00002-of-00002.gguf"),
             (Names{"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}));
    for (const char* name : {"m.gguf", "m-0001-of-00002.gguf", "00001-of-00002.gguf",
                             "m-00001-of-99999.gguf", "m-00001-of-", ""}) {
        QVERIFY2(engine::partNames(name).empty(), name);
    }
}

TEST_CLASS(TestGgufNames)
#include "tst_gguf_names.moc"
