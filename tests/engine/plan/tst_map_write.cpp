// SPDX-License-Identifier: Apache-2.0
// Maps as text: what is written reads back to the same placement, the canonical map resolves like
// its source, exports survive the way back where they can be expressed, and the editor's moves.
#include "engine/plan/export_english.h"
#include "engine/plan/map_write.h"
#include "tests/engine/plan/plan_fixture.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <random>
#include <regex>

using namespace engine;
using namespace planfixture;

namespace {

const std::vector<DeviceId> kDevices = {DeviceId::cuda(0), DeviceId::cuda(1)};

const Model& e2b() {
    static const Model model = publishedModel("E2B");
    return model;
}

ResolveInput inputFor(const Model& model, HeadOption head = HeadOption::Bf16) {
    ResolveInput input;
    input.config = &model.config;
    input.tensors = &model.tensors;
    input.devices = kDevices;
    input.quant = QuantOption::Nf4;
    input.head = head;
    return input;
}

std::string rowsOf(const DeviceMap& map, HeadOption head = HeadOption::Bf16) {
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
    auto map = parseDeviceMap(text, {});
    if (!map.has_value()) {
        qFatal("%s in %s", map.error().message.c_str(), text.c_str());
    }
    return *map;
}

PlacementPlan planOf(const DeviceMap& map) {
    PlanRequest request = requestFor(e2b(), 2, 64 * kGiB, false);
    request.map = map;
    request.quant = QuantOption::Nf4;
    return makePlan(request);
}

bool mentions(const std::vector<std::string>& texts, const std::string& part) {
    return std::any_of(texts.begin(), texts.end(), [&part](const std::string& text) {
        return text.find(part) != std::string::npos;
    });
}

bool mentions(const std::vector<ExportLoss>& losses, const std::string& part) {
    return mentions(inEnglish(losses), part);
}

/// The rule by which transformers leaves a linear layer alone: of 5.17, which takes an entry as the
/// start of a name, and of 5.23, which asks for whole components.
bool isSkippedThere(const std::vector<std::string>& entries, const std::string& module) {
    return std::any_of(entries.begin(), entries.end(), [&module](const std::string& entry) {
        const auto at_start = std::regex_constants::match_continuous;
        const bool is_ending =
            module.size() >= entry.size() &&
            module.compare(module.size() - entry.size(), entry.size(), entry) == 0;
        const bool before = std::regex_search(module, std::regex(entry), at_start) || is_ending;
        const bool now =
            std::regex_search(module, std::regex("(?:" + entry + ")(?=\\.|$)"), at_start) ||
            is_ending;
        if (before != now) {
            qFatal("%s means different things for %s", entry.c_str(), module.c_str());
        }
        return now;
    });
}

/// The words in quotes behind `before`, up to the next bracket.
std::vector<std::string> quotedList(const std::string& text, const std::string& before) {
    std::vector<std::string> out;
    const size_t at = text.find(before);
    const size_t end = text.find(']', at);
    for (size_t open = text.find('"', at); at != std::string::npos && open < end;) {
        const size_t close = text.find('"', open + 1);
        out.push_back(text.substr(open + 1, close - open - 1));
        open = text.find('"', close + 1);
    }
    return out;
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
    void llamaCpp();
    void llamaCppPlaces_data();
    void llamaCppPlaces();
    void llamaCppVisitors_data();
    void llamaCppVisitors();
    void python();
    void pythonSkipsWhatThePlanSkips_data();
    void pythonSkipsWhatThePlanSkips();
    void pythonTellsFormats_data();
    void pythonTellsFormats();
    void pythonKeysLeaveNoneOut();
    void moves();
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
    for (const HeadOption head : {HeadOption::Bf16, HeadOption::Int8}) {
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
    QTest::addColumn<QString>("keys");
    QTest::addColumn<QString>("written");
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
        const auto map = presetDeviceMap(preset, kDevices, e2b().config);
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
        const bool is_same = rowsOf(a, HeadOption::Int8) == rowsOf(b, HeadOption::Int8);
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
        const std::string moved =
            differs(withPlace(map, module, fields), withPlace(canonical, module, fields));
        QVERIFY2(moved.empty(), moved.c_str());
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
        const std::string added = differs(longer, canonical_longer);
        QVERIFY2(added.empty(), added.c_str());
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
    const ExportedText exported = exportAccelerate(planOf(map), e2b().tensors);
    const DeviceMap again = parsed(exported.text);
    QVERIFY(again.is_imported);
    QVERIFY2(rowsOf(again) == rowsOf(map), exported.text.c_str());
}

void TestMapWrite::accelerateLosses() {
    const ExportedText exported = exportAccelerate(
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

void TestMapWrite::llamaCpp() {
    const ExportedText lean = exportLlamaCpp(
        planOf(parsed(R"({"version": 1, "default": "cuda:0", "kv": {"context": 8192}, "map": {
            "model.vision_tower": "cpu", "model.embed_vision": "cpu", "model.audio_tower": "cpu",
            "model.embed_audio": "cpu", "model.embed_tokens_per_layer": "cpu", "model.layers.[33-34]": "cpu"}})")),
        e2b().tensors);
    const std::string line = lean.text.substr(0, lean.text.find('\n'));
    for (const char* part : {"-ngl 99", "-c 8192", "--no-mmproj-offload",
                             R"(-ot "^blk\.(33|34)\..*$=CPU")", "-sm none"}) {
        QVERIFY2(line.find(part) != std::string::npos, line.c_str());
    }
    const ExportedText cpu = exportLlamaCpp(planOf(parsed(R"({"": "cpu"})")), e2b().tensors);
    QVERIFY(cpu.text.find("-ngl 0") != std::string::npos);
    const ExportedText mixed = exportLlamaCpp(
        planOf(
            parsed(R"({"version": 1, "default": "cuda:0", "map": {"model.vision_tower": "cpu"}})")),
        e2b().tensors);
    QVERIFY(mentions(mixed.losses, "go together"));
    QVERIFY(mentions(mixed.losses, "per-layer embedding table is always on the CPU"));
    QVERIFY(mixed.text.find("\n# ") != std::string::npos);
}

void TestMapWrite::llamaCppPlaces_data() {
    QTest::addColumn<QString>("map");
    QTest::addColumn<QStringList>("has");
    QTest::addColumn<QStringList>("has_not");
    QTest::addColumn<QString>("loss");
    const QStringList none;
    QTest::newRow("tied head on the CPU")
        << R"({"version": 1, "default": "cuda:0", "map": {
               "model.language_model.embed_tokens": "cpu"}})"
        << QStringList{"-ngl 99 -sm none", R"(-ot "^(token_embd|output)\.weight$=CPU")"}
        << QStringList{"\"output", "blk"} << "";
    QTest::newRow("all on one card") << R"({"": 0})" << QStringList{"-ngl 99 -sm none"}
                                     << QStringList{"-ot", "-ts", "-mg", "-nkvo"} << "";
    QTest::newRow("all on the second card")
        << R"({"": 1})" << QStringList{"-ngl 99 -sm none -mg 1"} << QStringList{"-ot", "-ts"} << "";
    QTest::newRow("two cards, the output with the last layers")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.[20-34]": "cuda:1",
               "model.embed_tokens": "cuda:1", "model.norm": "cuda:1",
               "model.per_layer_model_projection": "cuda:1",
               "model.per_layer_projection_norm": "cuda:1"}})"
        << QStringList{"-ngl 99 -sm layer -ts 20,16"} << QStringList{"-ot", "-sm none"} << "";
    QTest::newRow("two cards, the head on the first")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.[20-34]": "cuda:1"}})"
        << QStringList{"-sm layer -ts 20,16", R"(-ot "^output_norm\.weight$=CUDA0")",
                       R"(-ot "^per_layer_model_proj\.weight$=CUDA0")"}
        << QStringList{"-sm none", "token_embd"} << "the head computes on CUDA1 there";
    QTest::newRow("cards by turns")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.[0-9]": "cuda:1"}})"
        << QStringList{"-sm layer -ts 25,11",
                       R"(-ot "^blk\.(25|26|27|28|29|30|31|32|33|34)\..*$=CUDA0")",
                       R"(-ot "^blk\.(0|1|2|3|4|5|6|7|8|9)\..*$=CUDA1")"}
        << none << "the KV cache of layers 0-9, 25-34";
    QTest::newRow("first layers on the CPU, with their cache")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.[0-9]": "cpu"}})"
        << QStringList{"-ngl 26 -sm none"} << QStringList{"blk"} << "";
    QTest::newRow("last layers on the CPU")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.[30-34]": "cpu"}})"
        << QStringList{"-ngl 99", R"("^blk\.(30|31|32|33|34)\..*$=CPU")"} << none
        << "the KV cache of layers 30-34 stays";
    QTest::newRow("one layer on the CPU")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.30": "cpu"}})"
        << QStringList{R"("^blk\.(30)\..*$=CPU")"} << none
        << "the KV cache of layer 30 stays on the device that -ngl and -ts give it there";
    QTest::newRow("only the head on a card")
        << R"({"version": 1, "default": "cpu", "map": {"model.embed_tokens": "cuda:0",
               "model.norm": "cuda:0"}})"
        << QStringList{"-ngl 1 -sm none", "--no-mmproj-offload",
                       R"(-ot "^per_layer_model_proj\.weight$=CPU")"}
        << QStringList{"blk", "-nkvo"} << "";
    QTest::newRow("only the towers on a card")
        << R"({"version": 1, "default": "cpu", "map": {"model.vision_tower": "cuda:0",
               "model.embed_vision": "cuda:0", "model.audio_tower": "cuda:0",
               "model.embed_audio": "cuda:0"}})"
        << QStringList{"-ngl 0", "--mmproj"} << QStringList{"--no-mmproj-offload", "-ot"} << "";
    QTest::newRow("cache on the CPU")
        << R"({"version": 1, "default": "cuda:0", "kv": {"place": "cpu"}, "map": {}})"
        << QStringList{"-nkvo"} << none << "";
    QTest::newRow("a layer in two")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.layers.4.mlp": "cuda:1"}})" << none
        << none << "layers split between devices (4)";
    QTest::newRow("towers on the second card")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.vision_tower": "cuda:1",
               "model.embed_vision": "cuda:1", "model.audio_tower": "cuda:1",
               "model.embed_audio": "cuda:1"}})"
        << none << none << "go together there: on the main GPU (CUDA0)";
}

/// Weights that only visit the card stay in main memory there, and the remark counts them.
void TestMapWrite::llamaCppVisitors_data() {
    QTest::addColumn<QString>("keys");
    QTest::addColumn<QStringList>("has");
    QTest::addColumn<QStringList>("has_not");
    QTest::addColumn<QString>("loss"); ///< Empty: no weight visits.
    const QStringList none;
    const QString layers = R"("model.layers.[4-34]": {"store": "%1", "compute": "cuda:0"})";
    std::string numbers;
    size_t weights = 0;
    for (int i = 4; i < 35; ++i) {
        numbers += (i == 4 ? "" : "|") + std::to_string(i);
    }
    for (const ExpectedTensor& tensor : e2b().tensors) {
        weights += tensor.layer >= 4 && tensor.tower == Tower::Language && !tensor.is_unused;
    }
    const QStringList on_cpu = {
        "-ngl 99 -sm none", QString::fromStdString("-ot \"^blk\\.(" + numbers + ")\\..*$=CPU\"")};
    const QString stay =
        QStringLiteral("%1 weights that visit the GPU here compute on the CPU there").arg(weights);
    QTest::newRow("layers streamed from main memory")
        << layers.arg("cpu") << on_cpu << QStringList{"-nkvo", "mmproj-off"} << stay;
    QTest::newRow("layers streamed from disk")
        << layers.arg("disk") << on_cpu << QStringList{"-nkvo"} << stay;
    QTest::newRow("all layers: the cache is the card's all the same")
        << R"("model.layers": {"store": "disk", "compute": "cuda:0"})"
        << QStringList{"-ngl 99 -sm none", "-ot \"^blk", "=CPU"} << QStringList{"-nkvo"}
        << "weights that visit the GPU here compute on the CPU there";
    QTest::newRow("layers that stay on the card")
        << R"("model.layers.[4-34]": {"store": "cpu", "compute": "cuda:0", "residency": "always"})"
        << QStringList{"-ngl 99 -sm none"} << QStringList{"-ot"} << "";
    QTest::newRow("towers on disk")
        << R"("model.vision_tower": "disk", "model.embed_vision": "disk",
              "model.audio_tower": "disk", "model.embed_audio": "disk")"
        << QStringList{"--no-mmproj-offload"} << QStringList{"-ot"}
        << "weights that visit the GPU here compute on the CPU there";
    QTest::newRow("towers on disk, what joins them to the decoder on the card")
        << R"("model.vision_tower": "disk", "model.audio_tower": "disk")"
        << QStringList{"--no-mmproj-offload"} << QStringList{"-ot"}
        << "go together there: on the CPU, or on the main GPU (CUDA0) without --no-mmproj-offload";
    QTest::newRow("one tower visits: they go together")
        << R"("model.vision_tower": "disk", "model.embed_vision": "disk")"
        << QStringList{"--mmproj"} << QStringList{"--no-mmproj-offload"} << "";
    QTest::newRow("the tied head streams")
        << R"("model.embed_tokens": {"store": "cpu", "compute": "cuda:0"})"
        << QStringList{R"(-ot "^(token_embd|output)\.weight$=CPU")"} << none
        << "1 weight that visits the GPU here computes on the CPU there";
    QTest::newRow("of tables only rows come")
        << R"("model.embed_tokens_per_layer": {"store": "cpu", "compute": "cuda:0"},
              "model.embed_tokens": {"store": "disk", "compute": "cuda:0"},
              "lm_head": {"store": "cuda:0", "compute": "cuda:0", "duplicate_tied": true})"
        << none << QStringList{"-ot"} << "";
    QTest::newRow("half a layer goes with its queries")
        << R"("model.layers.4.mlp": {"store": "cpu", "compute": "cuda:0"})" << none
        << QStringList{"-ot"} << "";
}

void TestMapWrite::llamaCppVisitors() {
    QFETCH(QString, keys);
    QFETCH(QStringList, has);
    QFETCH(QStringList, has_not);
    QFETCH(QString, loss);
    const ExportedText out =
        exportLlamaCpp(planOf(parsed(R"({"version": 1, "default": "cuda:0", "map": {)" +
                                     keys.toStdString() + "}}")),
                       e2b().tensors);
    const QString line = QString::fromStdString(out.text.substr(0, out.text.find('\n')));
    for (const QString& part : has) {
        QVERIFY2(line.contains(part), qPrintable(part + " in " + line));
    }
    for (const QString& part : has_not) {
        QVERIFY2(!line.contains(part), qPrintable(part + " in " + line));
    }
    QVERIFY2(loss.isEmpty() ? !mentions(out.losses, "visit")
                            : mentions(out.losses, loss.toStdString()),
             out.text.c_str());
    QCOMPARE(mentions(out.losses, "layers split between devices (4) go whole where"),
             keys.contains("layers.4.mlp"));
}

void TestMapWrite::llamaCppPlaces() {
    QFETCH(QString, map);
    QFETCH(QStringList, has);
    QFETCH(QStringList, has_not);
    QFETCH(QString, loss);
    const ExportedText out = exportLlamaCpp(planOf(parsed(map.toStdString())), e2b().tensors);
    const QString line = QString::fromStdString(out.text.substr(0, out.text.find('\n')));
    for (const QString& part : has) {
        QVERIFY2(line.contains(part), qPrintable(part + " in " + line));
    }
    for (const QString& part : has_not) {
        QVERIFY2(!line.contains(part), qPrintable(part + " in " + line));
    }
    QVERIFY2(loss.isEmpty() || mentions(out.losses, loss.toStdString()), out.text.c_str());
    // Every pattern names whole tensors: none of them finds another one's name.
    static const QRegularExpression kPattern("-ot \"([^\"]*)=[A-Z0-9]+\"");
    for (auto it = kPattern.globalMatch(line); it.hasNext();) {
        const std::string pattern = it.next().captured(1).toStdString();
        QVERIFY(pattern.starts_with('^') && pattern.ends_with('$'));
        const std::regex expression(pattern);
        QVERIFY(pattern.starts_with("^blk") ||
                !std::regex_search("blk.0.attn_output.weight", expression));
        QVERIFY(!std::regex_search("blk.350.attn_output.weight", expression));
        QCOMPARE(std::regex_search("token_embd.weight", expression),
                 pattern.find("token_embd") != std::string::npos);
    }
}

void TestMapWrite::python() {
    const ExportedText text = exportPython(
        planOf(parsed(
            R"({"version": 1, "default": "cuda:0", "map": {"model.audio_tower": {"format": "as_stored"}}})")),
        e2b().tensors, "a \"quoted\" folder");
    for (const char* part : {"device_map = {\n  \"\": 0\n}", "bnb_4bit_quant_type=\"nf4\"",
                             "bnb_4bit_use_double_quant=False", "\"model.audio_tower\"",
                             "model_path = \"a \\\"quoted\\\" folder\""}) {
        QVERIFY2(text.text.find(part) != std::string::npos,
                 (std::string(part) + "\n" + text.text).c_str());
    }
}

void TestMapWrite::pythonSkipsWhatThePlanSkips_data() {
    QTest::addColumn<QByteArray>("map");
    QTest::newRow("one layer") << QByteArray(R"("model.layers.1": {"format": "as_stored"})");
    QTest::newRow("a weight of two layers")
        << QByteArray(R"("model.layers.1.mlp.up_proj": {"format": "as_stored"},
                         "model.layers.2.mlp.up_proj": {"format": "as_stored"})");
    QTest::newRow("layers of a tower")
        << QByteArray(R"("model.vision_tower.encoder.layers.1": {"format": "as_stored"},
                         "model.audio_tower.layers.1": {"format": "as_stored"})");
    QTest::newRow("whole parts") << QByteArray(R"("model.vision_tower": {"format": "as_stored"},
                                                  "model.layers.[3-20]": {"format": "as_stored"})");
}

void TestMapWrite::pythonSkipsWhatThePlanSkips() {
    QFETCH(QByteArray, map);
    const PlacementPlan plan = planOf(
        parsed(R"({"version": 1, "default": "cuda:0", "map": {)" + map.toStdString() + "}}"));
    const ExportedText text = exportPython(plan, e2b().tensors, "folder");
    const auto skipped = quotedList(text.text, "llm_int8_skip_modules=[");
    QVERIFY2(!skipped.empty(), text.text.c_str());
    for (const ExpectedTensor& tensor : e2b().tensors) {
        const TensorPlacement* row = plan.find(tensor.name);
        if (row == nullptr || !isQuantizable(tensor)) {
            continue;
        }
        const std::string module = row->tensor.substr(0, row->tensor.rfind('.'));
        QVERIFY2(isSkippedThere(skipped, module) == (row->format != Format::Nf4), module.c_str());
    }
}

void TestMapWrite::pythonTellsFormats_data() {
    QTest::addColumn<QByteArray>("map");
    QTest::addColumn<QByteArray>("loss"); ///< Empty: there is none.
    QTest::addColumn<bool>("has_offload");
    const QByteArray start = R"({"version": 1, "default": "cuda:0", "map": {)";
    QTest::newRow("all on the GPU") << start + "}}" << QByteArray() << false;
    QTest::newRow("all on the CPU")
        << QByteArray(R"({"version": 1, "default": "cpu"})") << QByteArray() << false;
    // 151,584,768 weights: 2 bytes each instead of 0.5625.
    QTest::newRow("tower on the CPU")
        << start + R"("model.vision_tower": "cpu"}})"
        << QByteArray("113 weights on cpu or disk have 4 bits here: transformers leaves what lies "
                      "there in bfloat16, 289.12 MiB instead of 81.32 MiB")
        << true;
    QTest::newRow("table in 4 bits")
        << start + R"("model.embed_tokens_per_layer": {"format": "nf4"}}})"
        << QByteArray("model.language_model.embed_tokens_per_layer.weight in nf4: embedding tables")
        << false;
    QTest::newRow("layer in float32")
        << start + R"("model.layers.3.mlp": {"format": "f32"}}})"
        << QByteArray("3 tensors in f32: there what is not quantized has one dtype") << false;
    QTest::newRow("layer in bfloat16")
        << start + R"("model.layers.3.mlp": {"format": "bf16"}}})" << QByteArray() << false;
}

void TestMapWrite::pythonTellsFormats() {
    QFETCH(QByteArray, map);
    QFETCH(QByteArray, loss);
    QFETCH(bool, has_offload);
    const PlacementPlan plan = planOf(parsed(map.toStdString()));
    const ExportedText python = exportPython(plan, e2b().tensors, "folder");
    const ExportedText accelerate = exportAccelerate(plan, e2b().tensors);
    for (const auto* losses : {&python.losses, &accelerate.losses}) {
        std::string all;
        for (const std::string& line : inEnglish(*losses)) {
            all += line + "\n";
        }
        QVERIFY2(loss.isEmpty() ? losses->empty() : mentions(*losses, loss.toStdString()),
                 all.c_str());
    }
    QCOMPARE(python.text.find("cpu_offload=True") != std::string::npos, has_offload);
}

/// The keys of main memory are entries of the skip list as well: no weight of a GPU is among them.
void TestMapWrite::pythonKeysLeaveNoneOut() {
    const PlacementPlan plan = planOf(parsed(
        R"({"version": 1, "default": "cpu", "map": {"model.layers": "cuda:0", "model.layers.1": "cpu",
            "model.layers.[20-21]": "cuda:1"}})"));
    const ExportedText text = exportPython(plan, e2b().tensors, "folder");
    const size_t begin = text.text.find('{');
    const DeviceMap map = parsed(text.text.substr(begin, text.text.find('}') + 1 - begin));
    std::vector<std::string> entries;
    for (const MapEntry& entry : map.entries) {
        if (!entry.fields.store->isGpu()) {
            entries.push_back(entry.key);
        }
    }
    const Resolution resolved = resolveDeviceMap(map, inputFor(e2b()));
    QCOMPARE(codesOf(resolved.errors), std::string());
    for (const ExpectedTensor& tensor : e2b().tensors) {
        const TensorPlacement* row = plan.find(tensor.name);
        if (row == nullptr || tensor.name.ends_with("layers.1.layer_scalar")) {
            continue; // the scalar of the layer whose parts are listed goes with the GPU
        }
        QCOMPARE(rowOf(e2b(), resolved, tensor.name)->store.toString(), row->store.toString());
        if (isQuantizable(tensor)) {
            const std::string module = row->tensor.substr(0, row->tensor.rfind('.'));
            QVERIFY2(isSkippedThere(entries, module) == !row->store.isGpu(), module.c_str());
        }
    }
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

QTEST_APPLESS_MAIN(TestMapWrite)
#include "tst_map_write.moc"
