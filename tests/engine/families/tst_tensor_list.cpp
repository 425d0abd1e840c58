// SPDX-License-Identifier: Apache-2.0
// The tensor list against what is published (counts and bytes of the published files)
// and against the golden models' own files and lists of 4-bit modules.
#include "engine/families/config.h"
#include "engine/families/gemma4/stored_head.h"
#include "engine/families/tensor_list.h"
#include "tests/support/golden.h"
#include "tests/support/listed_model.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <map>
#include <set>

namespace {

struct Sums {
    int64_t count = 0, elements = 0;
    void add(const engine::ExpectedTensor& tensor) {
        ++count;
        elements += tensor.numElements();
    }
};

} // namespace

class TestTensorList : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void publishedTotals_data();
    void publishedTotals();
    void publishedBlocks_data();
    void publishedBlocks();
    void publishedLayers_data();
    void publishedLayers();
    void publishedLinears_data();
    void publishedLinears();
    void goldenFilesHoldExactlyTheUsedTensors_data();
    void goldenFilesHoldExactlyTheUsedTensors();
    void goldenFourBitModules_data();
    void goldenFourBitModules();
    void namesAreUniqueAndCanonical();
    void canonicalNames_data();
    void canonicalNames();
    void embeddersInEitherSpelling_data();
    void embeddersInEitherSpelling();
};

void TestTensorList::publishedTotals_data() {
    support::addColumns<QByteArray, qint64, qint64, qint64, qint64>(
        "size", "stored_count", "used_count", "stored_elements", "used_elements");
    // -1: not published. Used counts: less k_proj, v_proj, k_norm of the 20 and 18 shared layers.
    QTest::newRow("E2B") << QByteArray("E2B") << qint64{2011} << qint64{1951} << qint64{5123178979}
                         << qint64{5104298467};
    QTest::newRow("E4B") << QByteArray("E4B") << qint64{2130} << qint64{2076} << qint64{7996157418}
                         << qint64{7941101802};
    QTest::newRow("12B") << QByteArray("12B") << qint64{-1} << qint64{-1} << qint64{11959730224}
                         << qint64{11959730224};
    QTest::newRow("31B") << QByteArray("31B") << qint64{-1} << qint64{-1} << qint64{31273088876}
                         << qint64{31273088876};
    QTest::newRow("26B-A4B") << QByteArray("26B-A4B") << qint64{-1} << qint64{-1}
                             << qint64{25805936206} << qint64{25805936206};
}

void TestTensorList::publishedTotals() {
    QFETCH(QByteArray, size);
    QFETCH(qint64, stored_count);
    QFETCH(qint64, used_count);
    QFETCH(qint64, stored_elements);
    QFETCH(qint64, used_elements);
    Sums stored, used;
    for (const auto& tensor : support::publishedModel(size.constData()).tensors) {
        stored.add(tensor);
        if (!tensor.is_unused) {
            used.add(tensor);
        }
    }
    if (stored_count >= 0) {
        QCOMPARE(qint64{stored.count}, stored_count);
        QCOMPARE(qint64{used.count}, used_count);
    }
    QCOMPARE(qint64{stored.elements}, stored_elements);
    QCOMPARE(qint64{used.elements}, used_elements);
}

void TestTensorList::publishedBlocks_data() {
    support::addColumns<QByteArray, QByteArray, qint64, qint64>("size", "module_prefix",
                                                                "stored_bytes", "used_bytes");
    struct Row {
        const char* module;
        qint64 e2b_stored, e2b_used, e4b_stored, e4b_used;
    };
    const Row rows[] = {
        {"model.language_model.embed_tokens", 805306368, 805306368, 1342177280, 1342177280},
        {"model.language_model.embed_tokens_per_layer", 4697620480, 4697620480, 5637144576,
         5637144576},
        {"model.language_model.per_layer_model_projection", 27525120, 27525120, 55050240, 55050240},
        {"model.language_model.per_layer_projection_norm", 512, 512, 512, 512},
        {"model.language_model.norm", 3072, 3072, 5120, 5120},
        {"model.language_model.layers.*", 3764444230, 3726683206, 8001760340, 7891649108},
        {"model.vision_tower", 334730112, 334730112, 334730112, 334730112},
        {"model.embed_vision", 2359296, 2359296, 3932160, 3932160},
        {"model.audio_tower", 609650176, 609650176, 609650176, 609650176},
        {"model.embed_audio", 4718592, 4718592, 7864320, 7864320},
    };
    QTest::newRow("12B embed_vision") << QByteArray("12B") << QByteArray("model.embed_vision")
                                      << qint64{99844608} << qint64{99844608};
    QTest::newRow("12B embed_audio") << QByteArray("12B") << QByteArray("model.embed_audio")
                                     << qint64{4915200} << qint64{4915200};
    for (const Row& row : rows) {
        QTest::addRow("E2B %s", row.module)
            << QByteArray("E2B") << QByteArray(row.module) << row.e2b_stored << row.e2b_used;
        QTest::addRow("E4B %s", row.module)
            << QByteArray("E4B") << QByteArray(row.module) << row.e4b_stored << row.e4b_used;
    }
}

void TestTensorList::publishedBlocks() {
    QFETCH(QByteArray, size);
    QFETCH(QByteArray, module_prefix);
    QFETCH(qint64, stored_bytes);
    QFETCH(qint64, used_bytes);
    const bool is_pattern = module_prefix.endsWith('*');
    const std::string wanted = module_prefix.chopped(is_pattern ? 1 : 0).toStdString();
    Sums stored, used;
    for (const auto& tensor : support::publishedModel(size.constData()).tensors) {
        if (is_pattern ? tensor.module.starts_with(wanted) : tensor.module == wanted) {
            stored.add(tensor);
            if (!tensor.is_unused) {
                used.add(tensor);
            }
        }
    }
    QCOMPARE(qint64{2 * stored.elements}, stored_bytes);
    QCOMPARE(qint64{2 * used.elements}, used_bytes);
}

void TestTensorList::publishedLayers_data() {
    support::addColumns<QByteArray, int, qint64, qint64>("size", "layer", "stored", "used");
    const auto row = [](const char* size, int layer, qint64 stored, qint64 used) {
        QTest::addRow("%s layer %d", size, layer) << QByteArray(size) << layer << stored << used;
    };
    row("E2B", 0, 36184065, 36184065);
    row("E2B", 14, 43262465, 43262465);
    row("E2B", 15, 64495617, 63708929);
    row("E2B", 34, 71574017, 70000641);
    row("E4B", 0, 93074433, 93074433);
    row("E4B", 23, 106182145, 106182145);
    row("E4B", 24, 93074433, 90452737);
    row("E4B", 41, 106182145, 100938753);
}

void TestTensorList::publishedLayers() {
    QFETCH(QByteArray, size);
    QFETCH(int, layer);
    QFETCH(qint64, stored);
    QFETCH(qint64, used);
    Sums stored_sums, used_sums;
    const std::string module = "model.language_model.layers." + std::to_string(layer);
    for (const auto& tensor : support::publishedModel(size.constData()).tensors) {
        if (tensor.module == module) {
            QCOMPARE(tensor.layer, layer);
            stored_sums.add(tensor);
            if (!tensor.is_unused) {
                used_sums.add(tensor);
            }
        }
    }
    QCOMPARE(qint64{stored_sums.elements}, stored);
    QCOMPARE(qint64{used_sums.elements}, used);
}

void TestTensorList::publishedLinears_data() {
    support::addColumns<QByteArray, qint64, qint64>("size", "modules", "elements");
    QTest::newRow("E2B") << QByteArray("E2B") << qint64{525} << qint64{2336555008};
    QTest::newRow("E4B") << QByteArray("E4B") << qint64{592} << qint64{4434886656};
}

void TestTensorList::publishedLinears() {
    QFETCH(QByteArray, size);
    QFETCH(qint64, modules);
    QFETCH(qint64, elements);
    Sums sums;
    for (const auto& tensor : support::publishedModel(size.constData()).tensors) {
        if (engine::isQuantizable(tensor)) {
            sums.add(tensor);
        }
    }
    QCOMPARE(qint64{sums.count}, modules);
    QCOMPARE(qint64{sums.elements}, elements);
}

void TestTensorList::goldenFilesHoldExactlyTheUsedTensors_data() {
    QTest::addColumn<QByteArray>("model");
    for (const char* model : {"e2b", "e4b", "dense31b", "moe26b", "unified12b"}) {
        QTest::newRow(model) << QByteArray(model);
    }
}

void TestTensorList::goldenFilesHoldExactlyTheUsedTensors() {
    QFETCH(QByteArray, model);
    std::map<std::string, std::vector<int64_t>> expected;
    const auto golden = support::goldenModel(model.constData());
    for (const auto& tensor : golden.tensors) {
        if (!tensor.is_unused) {
            expected[tensor.name] = tensor.shape;
        }
    }
    const auto file = support::goldenDir() / model.constData() / "model" / "model.safetensors";
    std::map<std::string, std::vector<int64_t>> stored;
    for (const auto& [file_name, tensor] : support::readSafetensors(file)) {
        const std::string name = engine::storedTensorName(golden.config, file_name);
        stored[name] = tensor.shape;
        if (expected.count(name) == 0) {
            QFAIL(("not in the list: " + name).c_str());
        }
    }
    for (const auto& [name, shape] : expected) {
        QVERIFY2(stored.count(name) == 1, ("not in the file: " + name).c_str());
        QVERIFY2(stored[name] == shape, ("other shape: " + name).c_str());
    }
    QCOMPARE(stored.size(), expected.size());
}

void TestTensorList::goldenFourBitModules_data() {
    support::addColumns<QByteArray, int>("model", "modules");
    QTest::newRow("e2b") << QByteArray("e2b") << 131;
    QTest::newRow("e4b") << QByteArray("e4b") << 151;
    QTest::newRow("dense31b") << QByteArray("dense31b") << 57;
    QTest::newRow("moe26b") << QByteArray("moe26b") << 63;
    QTest::newRow("unified12b") << QByteArray("unified12b") << 30;
}

void TestTensorList::goldenFourBitModules() {
    QFETCH(QByteArray, model);
    QFETCH(int, modules);
    std::set<std::string> ours;
    for (const auto& tensor : support::goldenModel(model.constData()).tensors) {
        if (engine::isQuantizable(tensor)) {
            constexpr std::string_view kSuffix = ".weight";
            QVERIFY2(tensor.name.ends_with(kSuffix), tensor.name.c_str());
            ours.insert(tensor.name.substr(0, tensor.name.size() - kSuffix.size()));
        }
    }
    const char* const list =
        model == "unified12b" ? "nf4-dq.linear4bit_modules.json" : "nf4.linear4bit_modules.json";
    const auto file = support::goldenDir() / model.constData() / "quantized" / list;
    const auto theirs = support::readJson(file).get<std::set<std::string>>();
    for (const std::string& name : theirs) {
        QVERIFY2(ours.count(name) == 1, ("missing: " + name).c_str());
    }
    QCOMPARE(static_cast<int>(ours.size()), modules);
    QCOMPARE(ours.size(), theirs.size());
}

void TestTensorList::namesAreUniqueAndCanonical() {
    for (const char* size : {"E2B", "E4B", "12B", "31B", "26B-A4B"}) {
        std::set<std::string> names;
        for (const auto& tensor : support::publishedModel(size).tensors) {
            QVERIFY2(names.insert(tensor.name).second, tensor.name.c_str());
            QVERIFY2(tensor.name.starts_with(tensor.module + "."), tensor.name.c_str());
            QCOMPARE(engine::canonicalTensorName(tensor.name, false), tensor.name);
        }
    }
}

void TestTensorList::canonicalNames_data() {
    support::addColumns<QByteArray, bool, QByteArray>("name", "is_text_only", "canonical");
    const auto row = [](const char* name, bool is_text_only, const char* canonical) {
        QTest::addRow("%s%s", name, is_text_only ? " (text only)" : "")
            << QByteArray(name) << is_text_only << QByteArray(canonical);
    };
    const char* up = "model.language_model.layers.3.mlp.up_proj.weight";
    row(up, false, up);
    row(up, true, up);
    row("language_model.model.layers.3.mlp.up_proj.weight", false, up);
    row("model.language_model.model.layers.3.mlp.up_proj.weight", false, up);
    row("language_model.layers.3.mlp.up_proj.weight", false, up);
    row("model.layers.3.mlp.up_proj.weight", true, up);
    row("model.layers.3.mlp.up_proj.weight", false, up);
    row("layers.3.mlp.up_proj.weight", true, up);
    row("layers.3.mlp.up_proj.weight", false, "layers.3.mlp.up_proj.weight");
    row("model.embed_tokens.weight", true, "model.language_model.embed_tokens.weight");
    row("model.embed_tokens_per_layer.weight", true,
        "model.language_model.embed_tokens_per_layer.weight");
    row("model.norm.weight", true, "model.language_model.norm.weight");
    row("vision_tower.patch_embedder.input_proj.weight", false,
        "model.vision_tower.patch_embedder.input_proj.weight");
    row("audio_tower.output_proj.bias", false, "model.audio_tower.output_proj.bias");
    row("embed_vision.embedding_projection.weight", false,
        "model.embed_vision.embedding_projection.weight");
    row("vision_embedder.patch_dense.bias", false, "model.vision_embedder.patch_dense.bias");
    row("lm_head.weight", false, "lm_head.weight");
    row("model.lm_head.weight", false, "lm_head.weight");
    row("language_model.lm_head.weight", false, "lm_head.weight");
    row("base_model.model.model.language_model.layers.3.mlp.up_proj.weight", false, up);
    row("base_model.model.model.layers.3.mlp.up_proj.base_layer.weight", true, up);
    row("model.language_model.layers.3.mlp.up_proj.base_layer.weight", false, up);
    row("module.model.language_model.layers.3.mlp.up_proj.weight", false, up);
    row("module.base_model.model.language_model.model.layers.3.mlp.up_proj.weight", false, up);
    row("_orig_mod.model.language_model.layers.3.mlp.up_proj.weight", false, up);
    row("_fsdp_wrapped_module.model.language_model.layers.3._fsdp_wrapped_module."
        "_checkpoint_wrapped_module.mlp.up_proj.weight",
        false, up);
    row("base_model.model.lm_head.weight", false, "lm_head.weight");
    row("module.something.else", false, "module.something.else");
    row("something.else", false, "something.else");
    row("model.language_model.rotary.inv_freq", false, "model.language_model.rotary.inv_freq");
    row("", true, "");
}

void TestTensorList::canonicalNames() {
    QFETCH(QByteArray, name);
    QFETCH(bool, is_text_only);
    QFETCH(QByteArray, canonical);
    QCOMPARE(
        QByteArray::fromStdString(engine::canonicalTensorName(name.toStdString(), is_text_only)),
        canonical);
}

void TestTensorList::embeddersInEitherSpelling_data() {
    support::addColumns<QByteArray, QByteArray>("stored", "canonical");
    const auto row = [](const char* stored, const char* canonical) {
        QTest::newRow(stored) << QByteArray(stored) << QByteArray(canonical);
    };
    const char* const dense = "model.embed_vision.patch_dense.weight";
    const char* const projection =
        "model.embed_vision.multimodal_embedder.embedding_projection.weight";
    row(dense, dense);
    row("model.vision_embedder.patch_dense.weight", dense);
    row("vision_embedder.patch_dense.weight", dense);
    row("base_model.model.model.vision_embedder.patch_dense.base_layer.weight", dense);
    row(projection, projection);
    row("model.embed_vision.embedding_projection.weight", projection);
    row("model.vision_embedder.pos_embedding", "model.embed_vision.pos_embedding");
    row("model.embed_audio.embedding_projection.weight",
        "model.embed_audio.embedding_projection.weight");
}

/// Published files and transformers' module tree name the 12B's embedders differently; also where
/// they were left out of a load.
void TestTensorList::embeddersInEitherSpelling() {
    QFETCH(QByteArray, stored);
    QFETCH(QByteArray, canonical);
    engine::ModelConfig config = support::publishedModel("12B").config;
    QCOMPARE(QByteArray::fromStdString(engine::storedTensorName(config, stored.toStdString())),
             canonical);
    engine::leaveOutTowers(config);
    QCOMPARE(QByteArray::fromStdString(engine::storedTensorName(config, stored.toStdString())),
             canonical);
}

TEST_CLASS(TestTensorList)
#include "tst_tensor_list.moc"
