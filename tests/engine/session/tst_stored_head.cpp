// SPDX-License-Identifier: Apache-2.0
// Models that store an output head: with other values than the token embedding, with the same, or
// as the one table of both; tied or not. Logits, tokens and adapters against transformers and PEFT
// (tests/golden/make_head_vectors.py), placements and formats against one device, merges that part
// head and embedding, and what inspect, plan and load say.
#include "engine/files/safetensors_writer.h"
#include "engine/lora/merge.h"
#include "engine/quant/quantize.h"
#include "engine/run/opened_model.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>

namespace fs = std::filesystem;

namespace {

const std::string kStoredHeadTable = "model.language_model.embed_tokens.weight";
const fs::path kData = support::testDataDir() / "head";

using StoredHeadTensors = std::map<std::string, support::GoldenTensor>;

engine::TensorType typeOf(const std::string& name) {
    for (const auto type :
         {engine::TensorType::U8, engine::TensorType::I64, engine::TensorType::F16,
          engine::TensorType::BF16, engine::TensorType::F32, engine::TensorType::I8}) {
        if (engine::tensorTypeName(type) == name) {
            return type;
        }
    }
    qFatal("an element type that these tests do not know");
}

void writeTensors(const fs::path& file, const StoredHeadTensors& tensors) {
    std::vector<engine::TensorToWrite> list;
    for (const auto& [name, tensor] : tensors) {
        std::vector<std::byte> bytes(tensor.bytes.size());
        std::memcpy(bytes.data(), tensor.bytes.data(), bytes.size());
        list.push_back(
            engine::tensorFromBytes(name, typeOf(tensor.dtype), tensor.shape, std::move(bytes)));
    }
    engine::WriteOptions options;
    options.is_replacing_allowed = true;
    support::must(engine::writeSafetensorsFile(file, list, options), "written");
}

/// As float32, exactly.
support::GoldenTensor widened(const support::GoldenTensor& tensor) {
    support::GoldenTensor out;
    out.dtype = "F32";
    out.shape = tensor.shape;
    const std::vector<float> values = tensor.floats();
    out.bytes.resize(values.size() * 4);
    std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
    return out;
}

/// The table with rows and columns in reverse order.
support::GoldenTensor reversed(const support::GoldenTensor& table) {
    support::GoldenTensor head = table;
    const size_t size = head.bytes.size() / 2;
    for (size_t i = 0; i < size; ++i) {
        std::memcpy(&head.bytes[2 * i], &table.bytes[2 * (size - 1 - i)], 2);
    }
    return head;
}

void setTied(const fs::path& folder, bool is_tied) {
    auto config = support::readJson(folder / "config.json");
    config["tie_word_embeddings"] = is_tied;
    if (config.contains("text_config")) {
        config["text_config"]["tie_word_embeddings"] = is_tied;
    }
    std::ofstream(folder / "config.json", std::ios::binary) << config.dump();
}

using Change = std::function<void(StoredHeadTensors&)>;

/// A golden e2b folder with other weights.
fs::path makeFolder(const QTemporaryDir& root,
                    const std::string& name,
                    bool is_tied,
                    const Change& change,
                    const std::string& from = "model") {
    const fs::path folder = fs::path(root.path().toStdString()) / name;
    fs::copy(support::goldenDir() / "e2b" / from, folder);
    StoredHeadTensors tensors = support::readSafetensors(folder / "model.safetensors");
    change(tensors);
    writeTensors(folder / "model.safetensors", tensors);
    setTied(folder, is_tied);
    return folder;
}

void addOwnHead(StoredHeadTensors& tensors) {
    tensors["lm_head.weight"] = reversed(tensors.at(kStoredHeadTable));
}

void widenAll(StoredHeadTensors& tensors) {
    for (auto& [name, tensor] : tensors) {
        if (tensor.dtype == "BF16") {
            tensor = widened(tensor);
        }
    }
}

} // namespace

class TestStoredHead : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void logits_data();
    void logits();
    void inspectAndPlanKnowIt();
    void placements_data();
    void placements();
    void headFormats_data();
    void headFormats();
    void packedCheckpoint();
    void packedHead();
    void adapters_data();
    void adapters();
    void merges_data();
    void merges();
    void refused_data();
    void refused();

private:
    QTemporaryDir root_;
};

void TestStoredHead::logits_data() {
    support::addColumns<QString, bool, bool>("head", "is_tied", "is_own");
    for (const bool is_tied : {true, false}) {
        const char* word = is_tied ? "tied" : "untied";
        for (const char* head : {"own", "own float32", "own, other spelling"}) {
            QTest::addRow("%s, %s", head, word) << QString::fromUtf8(head) << is_tied << true;
        }
        for (const char* head : {"same", "same float32", "same, zeros of other signs"}) {
            QTest::addRow("%s, %s", head, word) << QString::fromUtf8(head) << is_tied << false;
        }
    }
    QTest::addRow("the one table under the head's name") << QStringLiteral("only") << true << false;
    QTest::addRow("last row differs, tied") << QStringLiteral("last row") << true << true;
}

void TestStoredHead::logits() {
    QFETCH(QString, head);
    QFETCH(bool, is_tied);
    QFETCH(bool, is_own);
    const std::string kind = head.toStdString();
    const auto folder =
        makeFolder(root_, QTest::currentDataTag(), is_tied, [&](StoredHeadTensors& tensors) {
            const std::string name =
                kind.ends_with("spelling") ? "language_model.lm_head.weight" : "lm_head.weight";
            support::GoldenTensor& added = tensors[name];
            added = is_own && kind != "last row" ? reversed(tensors.at(kStoredHeadTable))
                                                 : tensors.at(kStoredHeadTable);
            if (kind.ends_with("float32")) {
                added = widened(added);
            } else if (kind.ends_with("signs")) {
                for (support::GoldenTensor* tensor : {&added, &tensors.at(kStoredHeadTable)}) {
                    std::memset(tensor->bytes.data(), 0, 8);
                }
                added.bytes[1] = 0x80; // -0
            } else if (kind == "only") {
                tensors.erase(kStoredHeadTable);
            } else if (kind == "last row") {
                added.bytes.back() = static_cast<uint8_t>(added.bytes.back() ^ 0x80U);
            }
        });
    engine::Engine engine;
    VERIFY_VALUE(engine.load(support::folderRequest(folder), {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    QCOMPARE(engine.currentPlan()->find("lm_head.weight") != nullptr, is_own);
    QCOMPARE(support::mentions(engine::inEnglish(engine.loadNotes()), "lm_head.weight: "),
             is_own || kind == "only");
    QVERIFY(!support::mentions(engine::inEnglish(engine.loadNotes()), "KV-sharing"));
    if (kind == "last row" || kind.ends_with("signs")) {
        return;
    }
    const auto own = support::readSafetensors(kData / "expected.safetensors");
    for (const char* id : {"text", "image"}) {
        const auto golden = support::readSafetensors(support::goldenDir() / "e2b/expected" /
                                                     (std::string(id) + ".safetensors"));
        std::vector<float> expected = is_own ? own.at(id).floats() : golden.at("logits").floats();
        const size_t size = own.at(id).floats().size();
        expected.erase(expected.begin(), expected.end() - static_cast<std::ptrdiff_t>(size));
        QCOMPARE_LE(support::maxRelativeToLargest(
                        support::engineLogits(engine, support::goldenCase("e2b", id), 4), expected),
                    1e-4);
    }
    if (is_own) {
        std::vector<int32_t> greedy;
        for (const int64_t token : own.at("greedy").integers()) {
            greedy.push_back(static_cast<int32_t>(token));
        }
        QCOMPARE(support::engineGreedy(engine, support::goldenCase("e2b", "text"), 24), greedy);
    }
}

void TestStoredHead::inspectAndPlanKnowIt() {
    const auto folder = makeFolder(root_, "known", true, addOwnHead);
    engine::Engine engine;
    const auto summary = engine.inspect(folder.string(), {});
    const auto plain = engine.inspect((support::goldenDir() / "e2b/model").string(), {});
    QVERIFY(summary.has_value() && plain.has_value());
    const uint64_t table_bytes = 1024U * 64U * 2U;
    QCOMPARE(summary->bytes, plain->bytes + table_bytes);
    QCOMPARE(summary->parameters, plain->parameters + 1024 * 64);
    QCOMPARE(summary->modules.back().name, std::string("lm_head"));
    QCOMPARE(summary->modules.back().bytes, table_bytes);
    QVERIFY(support::mentions(engine::inEnglish(summary->warnings),
                              "lm_head.weight: is used as the output head"));
    QVERIFY(!support::mentions(engine::inEnglish(plain->warnings), "lm_head"));

    engine::LoadRequest request = support::folderRequest(folder);
    request.device_map = "cpu";
    const auto plan = engine.plan(request, {});
    request.model = (support::goldenDir() / "e2b/model").string();
    const auto plain_plan = engine.plan(request, {});
    QVERIFY(plan.has_value() && plain_plan.has_value());
    QVERIFY(plan->has_stored_head && !plain_plan->has_stored_head);
    QCOMPARE(plan->modules.back().name, std::string("lm_head"));
    QCOMPARE(plan->modules.back().bytes, table_bytes);
    QVERIFY(support::mentions(engine::inEnglish(plan->notes), "lm_head.weight"));
    const auto weights = [](const engine::PlacementPlan& p) {
        return p.devices.front().parts[engine::MemoryPart::Weights];
    };
    QCOMPARE(weights(*plan), weights(*plain_plan) + table_bytes);
}

void TestStoredHead::placements_data() {
    support::addColumns<QString, QString>("map", "quant");
    const auto native = [](const char* entries) {
        return QStringLiteral(R"({"version": 1, "default": "sim:0", "map": {%1}})")
            .arg(QString::fromUtf8(entries));
    };
    const std::pair<const char*, QString> maps[] = {
        {"gpu", QStringLiteral("gpu")},
        {"lean", QStringLiteral("lean")},
        {"towers-cpu", QStringLiteral("towers-cpu")},
        {"fit", QStringLiteral("fit")},
        {"cpu", QStringLiteral("cpu")},
        {"head on the other card", native(R"("lm_head": "sim:1")")},
        {"head on cpu", native(R"("lm_head": "cpu")")},
        {"head on disk", native(R"("lm_head": {"store": "disk", "compute": "sim:0"})")},
        {"head streamed", native(R"("lm_head": {"store": "cpu", "compute": "sim:1"})")},
        {"table on cpu", native(R"("model.language_model.embed_tokens": "cpu")")},
        {"table on disk", native(R"("model.language_model.embed_tokens": "disk")")},
        {"a key too many",
         native(R"("lm_head": {"store": "sim:1", "compute": "sim:1", "duplicate_tied": true})")},
        {"accelerate's form",
         QStringLiteral(
             R"({"model.vision_tower": "cpu", "model.audio_tower": "cpu", "lm_head": 1, "": 0})")},
    };
    for (const char* quant : {"none", "nf4-dq"}) {
        for (const auto& [name, map] : maps) {
            QTest::addRow("%s, %s", name, quant) << map << QString::fromUtf8(quant);
        }
    }
}

void TestStoredHead::placements() {
    QFETCH(QString, map);
    QFETCH(QString, quant);
    const auto folder = fs::path(root_.path().toStdString()) / "placed";
    if (!fs::exists(folder)) {
        makeFolder(root_, "placed", true, addOwnHead);
    }
    engine::LoadRequest request = support::folderRequest(folder);
    request.quant = quant.toStdString();
    request.device_map = "cpu";
    engine::Engine plain;
    VERIFY_VALUE(plain.load(request, {}, {}));
    const auto expected = support::engineLogits(plain, support::goldenCase("e2b", "image"), 4);
    const auto greedy = support::engineGreedy(plain, support::goldenCase("e2b", "text"), 8);

    request.device_map = map.toStdString();
    request.sim_gpus = {uint64_t{1} << 30, uint64_t{1} << 30};
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    QCOMPARE_LE(
        support::maxRelativeToLargest(
            support::engineLogits(engine, support::goldenCase("e2b", "image"), 4), expected),
        1e-5);
    QCOMPARE(support::engineGreedy(engine, support::goldenCase("e2b", "text"), 8), greedy);

    // The map that is saved means the same.
    const auto plan = engine.currentPlan();
    request.device_map = plan->map_text;
    const auto again = engine.plan(request, {});
    QVERIFY(again.has_value());
    QVERIFY(again->errors.empty());
    const auto* head = again->find("lm_head.weight");
    QVERIFY(head != nullptr);
    QCOMPARE(head->store.toString(), plan->find("lm_head.weight")->store.toString());
    QCOMPARE(head->compute.toString(), plan->find("lm_head.weight")->compute.toString());
    QCOMPARE(again->find(kStoredHeadTable)->store.toString(),
             plan->find(kStoredHeadTable)->store.toString());
}

void TestStoredHead::headFormats_data() {
    support::addColumns<QString, QString>("head", "map");
    for (const char* head : {"int8", "nf4"}) {
        for (const char* map : {"cpu", "gpu", "lean", "fit"}) {
            QTest::addRow("%s, %s", head, map) << QString::fromUtf8(head) << QString::fromUtf8(map);
        }
    }
}

/// Smaller heads are made of the head's own values: exactly what its quantized values give.
void TestStoredHead::headFormats() {
    QFETCH(QString, head);
    QFETCH(QString, map);
    const auto folder = fs::path(root_.path().toStdString()) / "formats";
    if (!fs::exists(folder)) {
        makeFolder(root_, "formats", false, addOwnHead);
    }
    engine::LoadRequest request = support::folderRequest(folder);
    request.sim_gpus = {uint64_t{1} << 30};
    request.device_map = map.toStdString();
    engine::Engine full;
    VERIFY_VALUE(full.load(request, {}, {}));
    const auto expected = support::engineLogits(full, support::goldenCase("e2b", "text"), 4);
    request.head = head.toStdString();
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto* row = engine.currentPlan()->find("lm_head.weight");
    QVERIFY(row != nullptr);
    QCOMPARE(row->format,
             head == QStringLiteral("int8") ? engine::Format::Q8 : engine::Format::Nf4);
    QCOMPARE_LT(support::nmse(support::engineLogits(engine, support::goldenCase("e2b", "text"), 4),
                              expected),
                head == QStringLiteral("int8") ? 1e-3 : 3e-2);
}

/// A 4-bit checkpoint with a 16-bit head of its own equals the 16-bit model quantized on load.
void TestStoredHead::packedCheckpoint() {
    const auto plain = makeFolder(root_, "16 bit", false, addOwnHead);
    const auto packed =
        makeFolder(root_, "4 bit", false, addOwnHead, "quantized/nf4-dq-checkpoint");
    engine::LoadRequest request = support::folderRequest(plain);
    request.quant = "nf4-dq";
    engine::Engine on_load;
    VERIFY_VALUE(on_load.load(request, {}, {}));
    engine::Engine stored;
    VERIFY_VALUE(stored.load(support::folderRequest(packed), {}, {}));
    QCOMPARE(support::memoryDifference(stored), std::string());
    QCOMPARE_LE(support::maxRelativeToLargest(
                    support::engineLogits(stored, support::goldenCase("e2b", "text"), 4),
                    support::engineLogits(on_load, support::goldenCase("e2b", "text"), 4)),
                1e-4);
}

/// A head that is itself packed in 4 bits stays as it is, whatever --head says.
void TestStoredHead::packedHead() {
    const auto plain = makeFolder(root_, "to be packed", false, addOwnHead);
    const auto packed = makeFolder(root_, "packed head", false, [](StoredHeadTensors& tensors) {
        const support::GoldenTensor head = reversed(tensors.at(kStoredHeadTable));
        const int64_t count = 1024 * 64;
        std::vector<std::byte> values(head.bytes.size());
        std::memcpy(values.data(), head.bytes.data(), values.size());
        std::vector<uint8_t> codes(count / 2);
        std::vector<float> absmax(count / 64);
        const auto made =
            engine::quantizeValues("lm_head", kernels::WeightFormat::Nf4, 64,
                                   engine::TensorType::BF16, values, codes.data(), absmax.data());
        QVERIFY(made.has_value());
        const auto bytesOf = [](const auto& items) {
            std::vector<uint8_t> bytes(items.size() * sizeof items[0]);
            std::memcpy(bytes.data(), items.data(), bytes.size());
            return bytes;
        };
        // The table of codes and the state as a golden checkpoint has them.
        const StoredHeadTensors other = support::readSafetensors(
            support::goldenDir() / "e2b/quantized/nf4-checkpoint/model.safetensors");
        const std::string like = "model.language_model.layers.0.mlp.up_proj.weight";
        tensors["lm_head.weight"] = {"U8", {count / 2, 1}, codes};
        tensors["lm_head.weight.absmax"] = {"F32", {count / 64}, bytesOf(absmax)};
        tensors["lm_head.weight.quant_map"] = other.at(like + ".quant_map");
        support::GoldenTensor state = other.at(like + ".quant_state.bitsandbytes__nf4");
        auto json = nlohmann::json::parse(state.bytes.begin(), state.bytes.end());
        json["shape"] = {1024, 64};
        const std::string text = json.dump();
        state.bytes.assign(text.begin(), text.end());
        state.shape = {static_cast<int64_t>(text.size())};
        tensors["lm_head.weight.quant_state.bitsandbytes__nf4"] = state;
    });
    engine::LoadRequest request = support::folderRequest(plain);
    request.head = "nf4";
    engine::Engine on_load;
    VERIFY_VALUE(on_load.load(request, {}, {}));
    const auto expected = support::engineLogits(on_load, support::goldenCase("e2b", "text"), 4);
    for (const char* head : {"auto", "int8"}) {
        request = support::folderRequest(packed);
        request.head = head;
        request.device_map = "fit";
        request.sim_gpus = {uint64_t{1} << 30};
        engine::Engine engine;
        VERIFY_VALUE(engine.load(request, {}, {}));
        QCOMPARE(support::memoryDifference(engine), std::string());
        QCOMPARE(engine.currentPlan()->find("lm_head.weight")->format, engine::Format::Nf4);
        QCOMPARE(support::mentions(engine::inEnglish(engine.loadNotes()), "--head has no effect"),
                 std::string(head) == "int8");
        QCOMPARE_LE(
            support::maxRelativeToLargest(
                support::engineLogits(engine, support::goldenCase("e2b", "text"), 4), expected),
            1e-5);
    }
}

void TestStoredHead::adapters_data() {
    support::addColumns<QString, QString>("name", "base");
    for (const char* name : {"head", "saved_head", "embedding", "tokens", "saved_both"}) {
        for (const char* base : {"plain", "tied", "untied"}) {
            if (std::string(name) != "saved_both" || std::string(base) != "untied") {
                QTest::addRow("%s on %s", name, base)
                    << QString::fromUtf8(name) << QString::fromUtf8(base);
            }
        }
    }
}

void TestStoredHead::adapters() {
    QFETCH(QString, name);
    QFETCH(QString, base);
    const bool has_head = base != QStringLiteral("plain");
    const auto folder = makeFolder(root_, QTest::currentDataTag(), base != QStringLiteral("untied"),
                                   [&](StoredHeadTensors& tensors) {
                                       if (has_head) {
                                           addOwnHead(tensors);
                                       }
                                   });
    const fs::path adapter = kData / name.toStdString();
    const auto golden = support::readSafetensors(adapter / "expected_logits.safetensors");
    for (const char* map : {"cpu", "lean"}) {
        engine::LoadRequest request = support::folderRequest(folder);
        request.adapters.push_back({adapter.string(), 1.0, true});
        request.device_map = map;
        request.sim_gpus = {uint64_t{1} << 30};
        engine::Engine engine;
        VERIFY_VALUE(engine.load(request, {}, {}));
        QCOMPARE(support::memoryDifference(engine), std::string());
        QCOMPARE_LE(support::maxRelativeToLargest(
                        support::engineLogits(engine, support::goldenCase("e2b", "text"), 4),
                        golden.at(base.toStdString()).floats()),
                    1e-4);
    }
}

void TestStoredHead::merges_data() {
    adapters_data();
    QTest::addRow("saved_head on only") << QStringLiteral("saved_head") << QStringLiteral("only");
    QTest::addRow("tokens on only") << QStringLiteral("tokens") << QStringLiteral("only");
    QTest::addRow("head on same") << QStringLiteral("head") << QStringLiteral("same");
}

/// Merged into float32 weights: what the adapter gives unmerged.
void TestStoredHead::merges() {
    QFETCH(QString, name);
    QFETCH(QString, base);
    const auto folder =
        makeFolder(root_, std::string("base of ") + QTest::currentDataTag(),
                   base != QStringLiteral("untied"), [&](StoredHeadTensors& tensors) {
                       if (base == QStringLiteral("only")) {
                           tensors["lm_head.weight"] = tensors.at(kStoredHeadTable);
                           tensors.erase(kStoredHeadTable);
                       } else if (base == QStringLiteral("same")) {
                           tensors["lm_head.weight"] = tensors.at(kStoredHeadTable);
                       } else if (base != QStringLiteral("plain")) {
                           addOwnHead(tensors);
                       }
                       widenAll(tensors);
                   });
    const fs::path path = kData / name.toStdString();
    const auto model = engine::OpenedModel::open(engine::folderCheckpoint(folder));
    QVERIFY(model.has_value());
    engine::AdapterOptions options;
    options.base = model->source.get();
    const auto adapter = engine::loadAdapter(path, model->config, model->tensors, options);
    VERIFY_VALUE(adapter);
    engine::MergeRequest request;
    request.model_folder = folder;
    request.adapters.push_back({*adapter, 1.0});
    request.out_folder =
        fs::path(root_.path().toStdString()) / (std::string("merged ") + QTest::currentDataTag());
    const auto report = engine::mergeAdapters(request);
    VERIFY_VALUE(report);

    const bool is_one_table = base == QStringLiteral("plain") || base == QStringLiteral("only") ||
                              base == QStringLiteral("same");
    const bool stays_one = is_one_table && name == QStringLiteral("tokens");
    const auto merged = support::readSafetensors(request.out_folder / "model.safetensors");
    const auto config = support::readJson(request.out_folder / "config.json");
    QCOMPARE(merged.contains("lm_head.weight") && merged.contains(kStoredHeadTable), !stays_one);
    QCOMPARE(config["tie_word_embeddings"].get<bool>(),
             is_one_table ? stays_one : base != QStringLiteral("untied"));
    QCOMPARE(support::mentions(report->notes, "tensor of its own"), is_one_table && !stays_one);

    const std::string variant = is_one_table ? "plain" : base.toStdString();
    const auto golden = support::readSafetensors(path / "expected_logits.safetensors");
    engine::Engine engine;
    VERIFY_VALUE(engine.load(support::folderRequest(request.out_folder), {}, {}));
    QCOMPARE_LE(support::maxRelativeToLargest(
                    support::engineLogits(engine, support::goldenCase("e2b", "text"), 4),
                    golden.at(variant).floats()),
                1e-4);
}

void TestStoredHead::refused_data() {
    support::addColumns<bool, QString>("has_head", "fragment");
    QTest::addRow("untied and not stored") << false << QStringLiteral("tie_word_embeddings");
    QTest::addRow("another shape") << true << QStringLiteral("lm_head.weight: has shape [512, 64]");
}

void TestStoredHead::refused() {
    QFETCH(bool, has_head);
    QFETCH(QString, fragment);
    const auto folder =
        makeFolder(root_, QTest::currentDataTag(), has_head, [&](StoredHeadTensors& tensors) {
            if (has_head) {
                support::GoldenTensor head = tensors.at(kStoredHeadTable);
                head.shape = {512, 64};
                head.bytes.resize(head.bytes.size() / 2);
                tensors["lm_head.weight"] = head;
            }
        });
    engine::Engine engine;
    const auto outcome = engine.load(support::folderRequest(folder), {}, {});
    QVERIFY(!outcome.has_value());
    QCOMPARE(outcome.error().code, engine::ErrorCode::InvalidFile);
    QVERIFY2(outcome.error().message.find(fragment.toStdString()) != std::string::npos,
             outcome.error().message.c_str());
    const auto summary = engine.inspect(folder.string(), {});
    QVERIFY(summary.has_value());
    QVERIFY(support::mentions(engine::inEnglish(summary->warnings), fragment.toStdString()));
}

TEST_CLASS(TestStoredHead)
#include "tst_stored_head.moc"
