// SPDX-License-Identifier: Apache-2.0
// Maps as text: what is written reads back to the same placement, the canonical map resolves like
// its source, exports survive the way back where they can be expressed, and the editor's moves.
#include "engine/base/sentence_english.h"
#include "engine/plan/map_write.h"
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace engine;
using namespace planfixture;

namespace {

const std::vector<DeviceId> kMapWriteDevices = {DeviceId::cuda(0), DeviceId::cuda(1)};

ResolveInput inputFor(const Model& model, Format head = Format::AsStored) {
    ResolveInput input;
    input.config = &model.config;
    input.tensors = &model.tensors;
    input.devices = kMapWriteDevices;
    input.quant = Format::Nf4;
    input.head = head;
    return input;
}

std::string rowsOf(const DeviceMap& map, Format head = Format::AsStored) {
    const Resolution resolution = resolveDeviceMap(map, inputFor(e2b(), head));
    std::string out = codesOf(resolution.errors);
    for (const ResolvedTensor& row : resolution.tensors) {
        out += std::to_string(row.index) + placeText(&row) + " " +
               std::to_string(static_cast<int>(row.format)) +
               (!row.pin.has_value() ? ""
                : *row.pin           ? " pin"
                                     : " no pin") +
               "\n";
    }
    return out;
}

DeviceMap parsed(const std::string& text) {
    return support::must(parseDeviceMap(text, {}), text.c_str());
}

PlacementPlan planOf(const DeviceMap& map) {
    PlanRequest request = requestFor(e2b(), 2, 64 * kGiB, false);
    request.map = map;
    request.quant = Format::Nf4;
    return makePlan(request);
}

using support::mentions;

bool mentions(const std::vector<Sentence>& losses, const std::string& part) {
    return mentions(inEnglish(losses), part);
}

} // namespace

class TestMapWrite : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void roundTrip_data();
    void roundTrip();
    void layersBecomeRanges();
    void saysNoMore_data();
    void saysNoMore();
    void laterPlaces_data();
    void laterPlaces();
    void keepsTheRest();
    void accelerate_data();
    void accelerate();
    void accelerateLosses();
    void accelerateTellsFormats_data();
    void accelerateTellsFormats();
    void moves();
    void experts();
};

void TestMapWrite::roundTrip_data() {
    QTest::addColumn<QString>("text");
    const auto add = [](const char* name, const char* text) { QTest::addRow("%s", name) << text; };
    add("default only", R"({"version": 1, "default": "cuda:0"})");
    add("imported", R"({"": 0, "model.vision_tower": "cpu", "model.audio_tower": "disk"})");
    add("imported without a default", R"({"model": 1, "lm_head": 1})");
    add("imported, implied copy", R"({"": 0, "lm_head": 1})");
    add("imported with foreign spellings",
        R"({"base_model.model": 0, "base_model.model.model.layers.3": "cpu", "vision_tower": 1})");
    add("split stack",
        R"({"version": 1, "default": "cuda:0", "map": {"model.layers.[20-34]": "cuda:1"}})");
    add("alternating layers",
        R"({"version": 1, "default": "cuda:0", "map": {"model.layers.1": "cuda:1",
        "model.layers.3": "cuda:1", "model.layers.5": "cpu", "model.layers.[7-9]": "cpu"}})");
    add("residencies", R"({"version": 1, "default": "cuda:0", "map": {
        "model.vision_tower": {"store": "cpu", "residency": "always"},
        "model.layers.[0-3]": {"store": "disk", "residency": "on_use"}, "model.audio_tower": "disk"}})");
    add("formats",
        R"({"version": 1, "default": {"store": "cuda:0", "compute": "cuda:0", "format": "fp4"},
        "map": {"model.vision_tower": {"format": "as_stored"}, "model.layers.3.mlp": {"format": "f32"},
        "model.embed_tokens_per_layer": {"format": "q8"}}})");
    add("two copies", R"({"version": 1, "default": "cuda:0", "map": {
        "lm_head": {"store": "cuda:1", "compute": "cuda:1", "format": "q8", "duplicate_tied": true}}})");
    add("a copy whose format is --head's beside a table of its own format",
        R"({"version": 1, "default": "cuda:0", "map": {
        "model.embed_tokens": {"format": "nf4"}, "lm_head": {"duplicate_tied": true}}})");
    add("a copy that only stays on its device",
        R"({"version": 1, "default": {"store": "cpu", "compute": "cuda:0"}, "map": {
        "lm_head": {"residency": "always", "duplicate_tied": true}}})");
    add("a copy that alone travels",
        R"({"version": 1, "default": {"store": "cpu", "compute": "cuda:0", "residency": "always"},
        "map": {"lm_head": {"residency": "stream", "duplicate_tied": true}}})");
    add("a copy that alone is not pinned",
        R"({"version": 1, "default": {"store": "cpu", "compute": "cuda:0", "pin": true}, "map": {
        "lm_head": {"pin": false, "duplicate_tied": true}}})");
    add("a copy outside what is said of the model",
        R"({"version": 1, "default": {"store": "cpu", "compute": "cuda:0"}, "map": {
        "model": {"format": "bf16", "pin": true}, "lm_head": {"duplicate_tied": true}}})");
    add("a head kept as stored", R"({"version": 1, "default": "cuda:0", "map": {
        "model.embed_tokens_per_layer": "cpu", "lm_head": {"format": "as_stored"}}})");
    add("parts of a layer", R"({"version": 1, "default": "cpu", "map": {
        "model.layers.[0-34].mlp": "cuda:0", "model.layers.4.mlp.up_proj": {"format": "q8"}}})");
}

void TestMapWrite::roundTrip() {
    QFETCH(QString, text);
    const DeviceMap map = parsed(text.toStdString());
    for (const Format head : {Format::AsStored, Format::Q8}) {
        const std::string rows = rowsOf(map, head);
        QVERIFY(!rows.starts_with("DM"));
        const std::string written = writeDeviceMap(map);
        QVERIFY2(rowsOf(parsed(written), head) == rows, written.c_str());
        const DeviceMap canonical = canonicalMap(map, inputFor(e2b(), head));
        const std::string short_text = writeDeviceMap(canonical);
        QVERIFY2(rowsOf(parsed(short_text), head) == rows, short_text.c_str());
        // Writing what was read changes nothing more.
        QCOMPARE(writeDeviceMap(parsed(short_text)), short_text);
        QCOMPARE(writeDeviceMap(canonicalMap(parsed(short_text), inputFor(e2b(), head))),
                 short_text);
    }
}

void TestMapWrite::layersBecomeRanges() {
    std::string keys;
    for (int i = 20; i < 35; ++i) {
        keys +=
            (keys.empty() ? "\"" : ", \"") + ("model.layers." + std::to_string(i)) + "\": \"cpu\"";
    }
    const DeviceMap map = parsed(R"({"version": 1, "default": "cuda:0", "map": {)" + keys + "}}");
    QCOMPARE(writeDeviceMap(canonicalMap(map, inputFor(e2b()))),
             std::string("{\n  \"version\": 1,\n  \"default\": \"cuda:0\",\n  \"map\": {\n"
                         "    \"model.language_model.layers.[20-34]\": \"cpu\"\n  }\n}\n"));
}

void TestMapWrite::saysNoMore_data() {
    support::addColumns<QString, QString>("keys", "written");
    QTest::newRow("one tower stays: nothing is said of the rest")
        << R"("model.vision_tower": {"store": "cpu", "compute": "cuda:0", "residency": "always"})"
        << R"("model.vision_tower": { "store": "cpu", "compute": "cuda:0", "residency": "always" })";
    QTest::newRow("layers on use, the tables where they were")
        << R"("model.layers.[0-9]": {"store": "cpu", "compute": "cuda:0", "residency": "on_use"})"
        << R"("model.language_model.layers.[0-9]": { "store": "cpu", "compute": "cuda:0", )"
           R"("residency": "on_use" })";
    QTest::newRow("an exception stays one")
        << R"("model.language_model": {"pin": true}, "model.layers.3": {"pin": false})"
        << R"("model.language_model": { "pin": true },
    "model.language_model.layers.3": { "pin": false })";
    QTest::newRow("what holds anyway goes")
        << R"("model.audio_tower": {"store": "cpu", "residency": "on_use"},
              "model.audio_tower.layers.0": {"residency": "on_use"})"
        << R"("model.audio_tower": { "store": "cpu", "compute": "cuda:0" })";
    QTest::newRow("a head that travels as it would anyway")
        << R"("lm_head": {"store": "cpu", "compute": "cuda:0", "residency": "stream",
              "duplicate_tied": true})"
        << R"("lm_head": { "store": "cpu", "compute": "cuda:0", "duplicate_tied": true })";
    QTest::newRow("of the model, not of a head of its own") << R"("model": {"format": "f32"})"
                                                            << R"("model": { "format": "f32" })";
}

void TestMapWrite::saysNoMore() {
    QFETCH(QString, keys);
    QFETCH(QString, written);
    const DeviceMap map =
        parsed(R"({"version": 1, "default": "cuda:0", "map": {)" + keys.toStdString() + "}}");
    QCOMPARE(QString::fromStdString(writeDeviceMap(canonicalMap(map, inputFor(e2b())))),
             "{\n  \"version\": 1,\n  \"default\": \"cuda:0\",\n  \"map\": {\n    " + written +
                 "\n  }\n}\n");
}

namespace {

/// A map of a few random keys. What is stored on a card computes there.
std::string randomMap(std::mt19937& random) {
    const auto any = [&random](const std::vector<std::string>& of) {
        return of[random() % of.size()];
    };
    const auto place = [&](bool is_whole) {
        const std::string compute = any({"cpu", "cuda:0", "cuda:1"});
        const std::string store = any({"disk", "cpu", compute});
        std::string out;
        if (is_whole || random() % 4 != 0) {
            out = R"("store": ")" + store + R"(", "compute": ")" + compute + '"';
        }
        const auto sometimes = [&](const std::string& member) {
            out += random() % 3 == 0 ? (out.empty() ? "" : ", ") + member : "";
        };
        sometimes(R"("residency": ")" + any({"always", "on_use", "stream"}) + '"');
        sometimes(R"("pin": )" + any({"true", "false"}));
        if (!is_whole) {
            sometimes(R"("format": ")" + any({"nf4", "bf16", "f32", "as_stored"}) + '"');
        }
        return out.empty() ? std::string(R"("cpu")") : "{" + out + "}";
    };
    std::string text = R"({"version": 1, "default": )" + place(true) + R"(, "map": {)";
    const int first = static_cast<int>(random() % 20);
    bool is_first = true;
    for (const std::string& key :
         {std::string("model"), std::string("model.language_model"),
          std::string("model.language_model.layers"), std::string("model.vision_tower"),
          std::string("model.audio_tower"),
          "model.layers.[" + std::to_string(first) + "-" + std::to_string(first + 9) + "]",
          "model.layers." + std::to_string(first + 12) + ".mlp",
          std::string("model.vision_tower.encoder.layers.3"),
          std::string("model.embed_tokens_per_layer")}) {
        if (random() % 3 == 0) {
            text += (is_first ? "\"" : ", \"") + key + "\": " + place(false);
            is_first = false;
        }
    }
    return text + "}}";
}

} // namespace

void TestMapWrite::laterPlaces_data() {
    QTest::addColumn<QString>("text");
    const auto add = [](const std::string& name, const std::string& text) {
        QTest::newRow(name.c_str()) << QString::fromStdString(text);
    };
    for (const std::string& preset : devicePresets()) {
        const auto map = presetDeviceMap(preset, kMapWriteDevices, e2b().config);
        QVERIFY(map.has_value());
        add(preset, writeDeviceMap(*map));
    }
    add("a tower that stays on its device", R"({"version": 1, "default": "cuda:0", "map": {
        "model.vision_tower": {"store": "cpu", "compute": "cuda:0", "residency": "always"}}})");
    add("layers on use", R"({"version": 1, "default": "cuda:0", "map": {
        "model.layers.[0-29]": {"store": "cpu", "compute": "cuda:0", "residency": "on_use"}}})");
    add("a default that has no use yet", R"({"version": 1, "default":
        {"store": "cuda:0", "compute": "cuda:0", "residency": "always"}})");
    add("pinned, with an exception", R"({"version": 1, "default": "cuda:0", "map": {
        "model": {"pin": true}, "model.layers.3": {"pin": false}}})");
    add("the model in float32", R"({"version": 1, "default": "cuda:0", "map": {
        "model": {"format": "f32"}}})");
    std::mt19937 random(20260);
    for (int i = 0; i < 30; ++i) {
        add("random " + std::to_string(i), randomMap(random));
    }
}

/// A map and its canonical form mean the same also after a part was placed anew, be it as the
/// editor and the advice of DM09 do it or by a key that somebody adds to the text.
void TestMapWrite::laterPlaces() {
    QFETCH(QString, text);
    const DeviceMap map = parsed(text.toStdString());
    QVERIFY2(!rowsOf(map).starts_with("DM"), rowsOf(map).substr(0, 60).c_str());
    const DeviceMap canonical = canonicalMap(map, inputFor(e2b()));
    const auto differs = [](const DeviceMap& a, const DeviceMap& b) {
        const bool is_same = rowsOf(a, Format::Q8) == rowsOf(b, Format::Q8);
        return is_same ? std::string() : writeDeviceMap(a) + "is not" + writeDeviceMap(b);
    };
    for (const char* module :
         {"model.language_model.embed_tokens_per_layer", "model.vision_tower",
          "model.vision_tower.encoder.layers.[2-5]", "model.audio_tower",
          "model.language_model.layers", "model.language_model.layers.[5-14]",
          "model.language_model.layers.9.self_attn", "model.language_model.norm", "lm_head"}) {
        PlaceFields fields;
        fields.store = DeviceId::disk();
        fields.compute = DeviceId::cuda(1);
        if (std::string_view(module) == "lm_head") {
            fields.duplicate_tied = true;
        }
        VERIFY_EMPTY(differs(withPlace(map, module, fields), withPlace(canonical, module, fields)));
    }
    for (const char* key : {"model.language_model.embed_tokens_per_layer.weight",
                            "model.language_model.layers.9.self_attn.q_proj",
                            "model.vision_tower.encoder.layers.3.mlp.up_proj.linear"}) {
        MapEntry entry;
        entry.key = key;
        entry.fields.store = DeviceId::disk();
        entry.fields.compute = DeviceId::cuda(1);
        DeviceMap longer = map;
        longer.entries.push_back(entry);
        DeviceMap canonical_longer = canonical;
        canonical_longer.entries.push_back(entry);
        VERIFY_EMPTY(differs(longer, canonical_longer));
    }
}

void TestMapWrite::keepsTheRest() {
    const std::string text =
        "{\n  \"version\": 1,\n  \"model\": { \"architecture\": \"gemma4\", \"layers\": 35 },\n"
        "  \"default\": \"cuda:0\",\n"
        "  \"limits\": { \"cpu\": \"12GiB\", \"cuda:0\": 6000000001 },\n"
        "  \"reserve\": { \"cuda:0\": \"512MiB\" },\n"
        "  \"kv\": { \"context\": 8192, \"place\": \"cpu\", \"format\": \"bf16\" },\n"
        "  \"adapter\": { \"place\": \"follow_compute\" },\n"
        "  \"notes\": \"two\\nlines, \\\"quoted\\\"\"\n}\n";
    QCOMPARE(writeDeviceMap(parsed(text)), text);
}

void TestMapWrite::accelerate_data() {
    QTest::addColumn<QString>("text");
    QTest::addRow("one GPU") << R"({"": 0})";
    QTest::addRow("towers stored on the CPU")
        << R"({"": 0, "model.vision_tower": "cpu", "model.audio_tower": "disk"})";
    QTest::addRow("split stack")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.[20-34]": "cuda:1"}})";
    QTest::addRow("all on the CPU") << R"({"": "cpu"})";
    QTest::addRow("head elsewhere") << R"({"": 0, "lm_head": 1})";
    QTest::addRow("table elsewhere") << R"({"": 0, "model.embed_tokens": "cpu", "lm_head": 0})";
}

void TestMapWrite::accelerate() {
    QFETCH(QString, text);
    const DeviceMap map = parsed(text.toStdString());
    const MapExport exported = exportAccelerate(planOf(map), e2b().tensors);
    const DeviceMap again = parsed(exported.text);
    QVERIFY(again.is_imported);
    QVERIFY2(rowsOf(again) == rowsOf(map), exported.text.c_str());
}

void TestMapWrite::accelerateLosses() {
    const MapExport exported = exportAccelerate(
        planOf(
            parsed(R"({"version": 1, "default": "cuda:0", "map": {"model.vision_tower": "cpu"}})")),
        e2b().tensors);
    QVERIFY(mentions(exported.losses, "tensors compute on another device here: accelerate stores"));
    QVERIFY(exportAccelerate(planOf(parsed(R"({"": 0})")), e2b().tensors).losses.empty());
    const auto losses = [](const char* map) {
        return inEnglish(exportAccelerate(planOf(parsed(map)), e2b().tensors).losses);
    };
    QCOMPARE(losses(R"({"version": 1, "default": "cuda:0", "map": {
                        "model.language_model.norm": "cpu"}})"),
             std::vector<std::string>{"1 tensor computes on another device here: accelerate stores "
                                      "\"cpu\" and \"disk\" there but computes on cuda:0, copying "
                                      "the weights for every call"});
    // Streamed from main memory is what accelerate does; with no GPU in the map it cannot know one.
    QVERIFY(losses(R"({"version": 1, "default": "cuda:0", "map": {
                       "model.layers": {"format": "bf16", "store": "cpu", "compute": "cuda:0"}}})")
                .empty());
    QVERIFY(mentions(
        losses(R"({"version": 1, "default": {"store": "cpu", "compute": "cuda:0"}})"),
        "tensors compute on another device here: where nothing is stored on a GPU, accelerate "
        "computes on cpu"));
    QVERIFY(mentions(losses(R"({"version": 1, "default": "cuda:0", "map": {
                     "model.language_model.norm": {"store": "cpu", "residency": "always"}}})"),
                     "1 tensor keeps a copy on its computing device here; accelerate copies it for "
                     "every call"));
}

void TestMapWrite::accelerateTellsFormats_data() {
    QTest::addColumn<QByteArray>("map");
    QTest::addColumn<QByteArray>("loss"); ///< Empty: there is none.
    const QByteArray start = R"({"version": 1, "default": "cuda:0", "map": {)";
    QTest::newRow("all on the GPU") << start + "}}" << QByteArray();
    QTest::newRow("all on the CPU")
        << QByteArray(R"({"version": 1, "default": "cpu"})") << QByteArray();
    // 151,584,768 weights: 2 bytes each instead of 0.5625.
    QTest::newRow("tower on the CPU")
        << start + R"("model.vision_tower": "cpu"}})"
        << QByteArray("113 weights on cpu or disk have 4 bits here: transformers leaves what lies "
                      "there in bfloat16, 289.12 MiB instead of 81.32 MiB");
    QTest::newRow("table in 4 bits")
        << start + R"("model.embed_tokens_per_layer": {"format": "nf4"}}})"
        << QByteArray(
               "model.language_model.embed_tokens_per_layer.weight in nf4: embedding tables");
    QTest::newRow("layer in float32")
        << start + R"("model.layers.3.mlp": {"format": "f32"}}})"
        << QByteArray("3 tensors in f32: there what is not quantized has one dtype");
    QTest::newRow("layer in bfloat16")
        << start + R"("model.layers.3.mlp": {"format": "bf16"}}})" << QByteArray();
}

void TestMapWrite::accelerateTellsFormats() {
    QFETCH(QByteArray, map);
    QFETCH(QByteArray, loss);
    const auto losses =
        inEnglish(exportAccelerate(planOf(parsed(map.toStdString())), e2b().tensors).losses);
    QVERIFY2(loss.isEmpty() ? losses.empty() : mentions(losses, loss.toStdString()),
             losses.empty() ? "" : losses.front().c_str());
}

// The editor: one module moves, what it does not say stays.
void TestMapWrite::moves() {
    DeviceMap map = parsed(R"({"version": 1, "default": "cuda:0", "map": {
        "model.layers.[0-9]": {"store": "cpu", "compute": "cpu", "format": "bf16"}}})");
    PlaceFields gpu;
    gpu.store = DeviceId::cuda(1);
    gpu.compute = DeviceId::cuda(1);
    map = withPlace(map, "model.language_model.layers.[3-4]", gpu);
    const Resolution moved = resolveDeviceMap(map, inputFor(e2b()));
    QCOMPARE(codesOf(moved.errors), std::string());
    const auto row = [&](int layer) {
        return rowOf(e2b(), moved,
                     "model.language_model.layers." + std::to_string(layer) +
                         ".mlp.up_proj.weight");
    };
    QCOMPARE(placeText(row(2)), std::string("cpu"));
    QCOMPARE(placeText(row(3)), std::string("cuda:1"));
    QCOMPARE(placeText(row(4)), std::string("cuda:1"));
    QCOMPARE(placeText(row(5)), std::string("cpu"));
    QCOMPARE(placeText(row(10)), std::string("cuda:0"));
    QCOMPARE(row(3)->format, Format::AsStored); // bf16 stays given, against --quant nf4
    QCOMPARE(row(10)->format, Format::Nf4);
    // The whole model: every place goes, formats stay.
    PlaceFields cpu;
    cpu.store = DeviceId::cpu();
    cpu.compute = DeviceId::cpu();
    const Resolution whole = resolveDeviceMap(withPlace(map, "", cpu), inputFor(e2b()));
    QVERIFY(
        std::all_of(whole.tensors.begin(), whole.tensors.end(), [](const ResolvedTensor& tensor) {
            return tensor.compute == DeviceId::cpu() && tensor.store == DeviceId::cpu();
        }));
    QCOMPARE(rowOf(e2b(), whole, "model.language_model.layers.5.mlp.up_proj.weight")->format,
             Format::AsStored);
}

// Experts on the CPU: one key of the document, and a key a layer in accelerate's words, which come
// back as they were.
void TestMapWrite::experts() {
    const Model moe = publishedModel("26B-A4B");
    PlanRequest request = requestFor(moe, 1, 64 * kGiB, false);
    request.map =
        parsed(R"({"": 0, "model.layers.0.experts": "cpu", "model.layers.1.experts": "cpu",
        "model.layers.2.experts.gate_up_proj": "cpu", "model.layers.2.experts.down_proj": "cpu"})");
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    const DeviceMap written = canonicalMap(*request.map, inputFor(moe));
    QCOMPARE(written.entries.size(), size_t{1});
    QCOMPARE(written.entries[0].key, std::string("model.language_model.layers.[0-2].experts"));
    QVERIFY(writeDeviceMap(written).find(R"(.experts": "cpu")") != std::string::npos);
    const MapExport exported = exportAccelerate(plan, moe.tensors);
    QVERIFY(mentions(exported.losses, "tensors compute on another device here"));
    for (const DeviceMap& back : {written, parsed(exported.text)}) {
        request.map = back;
        const PlacementPlan again = makePlan(request);
        QCOMPARE(again.tensors.size(), plan.tensors.size());
        for (size_t i = 0; i < plan.tensors.size(); ++i) {
            QVERIFY2(again.tensors[i].store == plan.tensors[i].store &&
                         again.tensors[i].compute == plan.tensors[i].compute,
                     plan.tensors[i].tensor.c_str());
        }
    }
}

TEST_CLASS(TestMapWrite)
#include "tst_map_write.moc"
