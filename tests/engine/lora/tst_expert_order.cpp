// SPDX-License-Identifier: Apache-2.0
// Which way round expert factors stand: what a PEFT version says, what shapes say, and that shapes
// win. That the values are right then is checked against PEFT's own logits in session.adapters.
#include "engine/base/sentence_english.h"
#include "engine/lora/adapter.h"
#include "engine/lora/expert_order.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

using namespace engine;
using namespace lora_test;

class TestExpertOrder : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void versions_data();
    void versions();
    void shapesWin_data();
    void shapesWin();
};

void TestExpertOrder::versions_data() {
    support::addColumns<QByteArray, bool>("version", "is_swapped");
    const auto row = [](const char* version, bool is_swapped) {
        QTest::newRow(*version == '\0' ? "absent" : version) << QByteArray(version) << is_swapped;
    };
    row("", true); // the member came with 0.18
    row("0.17.0", true);
    row("0.18.0", true);
    row("0.18.1", true);
    row("0.18.2.dev0@UNKNOWN", true);
    row("0.19.0", true);
    row("0.19.1.dev0@3f2a", true);
    row("0.19.1", false);
    row("0.19.1.post1", false);
    row("0.19.2.dev0", false);
    row("0.20.0", false);
    row("0.21.2", false);
    row("1.0", false);
    row("unknown", false);
}

void TestExpertOrder::versions() {
    QFETCH(QByteArray, version);
    QFETCH(bool, is_swapped);
    QCOMPARE(expertOrderOfVersion(version.toStdString()) == ExpertOrder::Swapped, is_swapped);
}

void TestExpertOrder::shapesWin_data() {
    support::addColumns<QByteArray, QByteArray, bool, bool>("source", "version", "is_swapped",
                                                            "has_note");
    const auto row = [](const char* title, const char* source, const char* version, bool is_swapped,
                        bool has_note) {
        QTest::newRow(title) << QByteArray(source) << QByteArray(version) << is_swapped << has_note;
    };
    row("old file", "experts_peft_0_18", "0.18.1", true, true);
    row("old file, another version", "experts_peft_0_18", "0.21.0", true, true);
    row("old file, no version", "experts_peft_0_18", "", true, true);
    row("new file", "experts", "0.21.0", false, false);
    row("new file, old version", "experts", "0.18.1", false, true);
    row("square, old", "experts_square_peft_0_18", "0.18.1", true, true);
    row("square, new", "experts_square_peft_0_18", "0.19.1", false, false);
    row("square, no version", "experts_square_peft_0_18", "", true, true);
}

void TestExpertOrder::shapesWin() {
    QFETCH(QByteArray, source);
    QFETCH(QByteArray, version);
    QFETCH(bool, is_swapped);
    QFETCH(bool, has_note);
    const Model m = goldenModel("moe26b");
    QTemporaryDir folder;
    const std::filesystem::path out = folder.path().toStdString();
    const std::filesystem::path from = adapterData() / source.toStdString();
    Json config = goldenConfig(from);
    config.erase("peft_version");
    if (!version.isEmpty()) {
        config["peft_version"] = version.toStdString();
    }
    writeAdapter(out, config, goldenTensors(from / "adapter_model.safetensors"));
    const auto loaded = loadAdapter(out, m.config, m.tensors);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    for (const LowRankUpdate& update : (*loaded)->updates()) {
        QCOMPARE(update.is_stored_swapped, update.experts > 0 && is_swapped);
    }
    bool is_noted = false;
    for (const Sentence& note : (*loaded)->coverage().notes) {
        is_noted = is_noted || inEnglish(note).starts_with("the experts' factors ");
    }
    QCOMPARE(is_noted, has_note);
}

TEST_CLASS(TestExpertOrder)
#include "tst_expert_order.moc"
