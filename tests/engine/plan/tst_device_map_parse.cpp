// SPDX-License-Identifier: Apache-2.0
// Reading device maps: both forms, DM01 and DM11 with their positions, sizes, and texts that are
// no JSON at all.
#include "engine/plan/device_map.h"
#include "engine/plan/plan_english.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <string>
#include <vector>

using namespace engine;

namespace {

std::string place(const PlaceFields& fields) {
    return (fields.store ? fields.store->toString() : "-") + "/" +
           (fields.compute ? fields.compute->toString() : "-");
}

} // namespace

class TestDeviceMapParse : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void byteOrderMark();
    void complaints_data();
    void complaints();
    void allComplaintsTogether();
    void manyComplaints();
    void accepted_data();
    void accepted();
    void fullDocument();
    void importedForm();
    void importedMainDevice_data();
    void importedMainDevice();
    void integersAsSim();
    void sizes_data();
    void sizes();
    void truncatedTexts();
    void depthAndSize();
    void pythonDictionaries_data();
    void pythonDictionaries();
    void wordsOfOtherPrograms_data();
    void wordsOfOtherPrograms();
};

void TestDeviceMapParse::pythonDictionaries_data() {
    support::addColumns<QByteArray, bool>("text", "is_told");
    QTest::newRow("printed") << QByteArray("{'model.layers.0': 0, 'lm_head': 'cpu'}") << true;
    QTest::newRow("printed, everything") << QByteArray("{'': device(type='cuda')}") << true;
    QTest::newRow("ordered") << QByteArray("OrderedDict([('', 'cpu')]) {") << true;
    QTest::newRow("ordered, new form") << QByteArray("OrderedDict({'': 0})") << true;
    QTest::newRow("JSON with a fault") << QByteArray(R"({"model": 'cpu'})") << false;
    QTest::newRow("no map") << QByteArray("model: cpu") << false;
}

void TestDeviceMapParse::pythonDictionaries() {
    QFETCH(QByteArray, text);
    QFETCH(bool, is_told);
    const auto map = parseDeviceMap(text.toStdString(), {});
    QVERIFY(!map);
    const bool is_there =
        map.error().message.find("json.dump(model.hf_device_map") != std::string::npos;
    QVERIFY2(is_there == is_told, map.error().message.c_str());
}

void TestDeviceMapParse::wordsOfOtherPrograms_data() {
    QTest::addColumn<QByteArray>("word");
    QTest::addColumn<QByteArray>("fragment"); // empty: no hint
    const auto row = [](const char* word, const char* fragment) {
        QTest::newRow(word) << QByteArray(word) << QByteArray(fragment);
    };
    for (const char* automatic : {"auto", "balanced", "balanced_low_0", "sequential"}) {
        row(automatic, "here that is \"fit\"");
    }
    row("cuda", "the preset \"gpu\"");
    row("cuda:0", "the preset \"gpu\"");
    row("0", "the preset \"gpu\"");
    row("cuda:1", "{\"\": \"cuda:1\"}");
    row("1", "{\"\": \"cuda:1\"}");
    row("sim:0", "{\"\": \"sim:0\"}");
    row("disk", "{\"\": \"disk\"}");
    row("mps", "does not have");
    row("gpu", "");
    row("fits", "");
    row("cuda:x", "");
}

void TestDeviceMapParse::wordsOfOtherPrograms() {
    QFETCH(QByteArray, word);
    QFETCH(QByteArray, fragment);
    const std::string hint = inEnglish(deviceMapHint(word.toStdString()));
    QCOMPARE(hint.empty(), fragment.isEmpty());
    QVERIFY2(hint.find(fragment.toStdString()) != std::string::npos, hint.c_str());
}

void TestDeviceMapParse::complaints_data() {
    support::addColumns<QByteArray, QString, QString, int, int>("text", "code", "key", "line",
                                                                "column");
    const auto add = [](const char* name, const char* text, const char* key, int line, int column,
                        const char* code = "DM01") {
        QTest::addRow("%s", name) << QByteArray(text) << code << key << line << column;
    };
    // JSON itself
    add("empty text", "", "", 1, 1);
    add("only white space", " \n\t", "", 2, 2);
    add("second byte-order mark", "\xef\xbb\xbf\xef\xbb\xbf{}", "", 1, 1);
    add("no object", "[1]", "", 1, 1);
    add("trailing comma", "{\"\": 0,}", "", 1, 8);
    add("single quotes", "{'': 0}", "", 1, 2);
    add("comment", "{\n // no\n}", "", 2, 2);
    add("text after the end", "{} {}", "", 1, 4);
    add("unclosed string", "{\"a", "", 1, 4);
    add("leading zero", "{\"\": 01}", "", 1, 7);
    add("plus sign", "{\"\": +1}", "", 1, 6);
    add("bare word", "{\"\": cpu}", "", 1, 6);
    add("NaN", "{\"\": NaN}", "", 1, 6);
    add("bad escape", R"({"\x": 0})", "", 1, 4);
    add("half a surrogate pair", R"({"\ud800": 0})", "", 1, 3);
    add("line break in a string", "{\"a\nb\": 0}", "", 1, 4);
    add("not UTF-8", "{\"\xff\": 0}", "", 1, 3);
    add("overlong UTF-8", "{\"\xc0\xaf\": 0}", "", 1, 3);
    add("column counts characters", "{\"\xc3\xa4\": 0, \"\xc3\xa4\": 1}", "\xc3\xa4", 1, 10);
    add("duplicate key", "{\"\": 0,\n \"a\": 1,\n \"a\": 1}", "a", 3, 2);
    add("duplicate after unescaping", R"({"a": 0, "\u0061": 0})", "a", 1, 10);
    add("duplicate inside a place",
        R"({"version": 1, "default": {"store": "cpu", "store": "cpu", "compute": "cpu"}})", "store",
        1, 44);
    // imported form
    add("auto", R"({"": "auto"})", "", 1, 6);
    add("mps", R"({"": "mps"})", "", 1, 6);
    add("negative number", R"({"": -1})", "", 1, 6);
    add("fraction", R"({"": 1.0})", "", 1, 6);
    add("true", R"({"": true})", "", 1, 6);
    add("null", R"({"": null})", "", 1, 6);
    add("array", R"({"": [0]})", "", 1, 6);
    add("cuda:007", R"({"a": "cuda:007"})", "a", 1, 7);
    add("CPU in capitals", R"({"a": "CPU"})", "a", 1, 7);
    add("version is missing", "{\"default\": 0,\n \"map\": {}}", "map", 2, 2);
    add("version is missing, object place", R"({"model": {"store": "cpu"}})", "model", 1, 2);
    // native form
    add("other version", R"({"version": 2, "default": "cpu"})", "version", 1, 13);
    add("version as text", R"({"version": "1", "default": "cpu"})", "version", 1, 13);
    add("no default", "\n{\"version\": 1}", "default", 2, 1);
    add("unknown member", R"({"version": 1, "default": "cpu", "devices": {}})", "devices", 1, 34);
    add("empty key in map", R"({"version": 1, "default": "cpu", "map": {"": "cpu"}})", "", 1, 42);
    add("base_model in map",
        R"({"version": 1, "default": "cpu", "map": {"base_model.model": "cpu"}})",
        "base_model.model", 1, 42);
    add("device \"cuda\" in the native form", R"({"version": 1, "default": "cuda"})", "default", 1,
        27);
    add("device number 64", R"({"version": 1, "default": 64})", "default", 1, 27);
    add("device number 1.0", R"({"version": 1, "default": 1.0})", "default", 1, 27);
    add("empty place", R"({"version": 1, "default": "cpu", "map": {"model": {}}})", "model", 1, 51);
    add("unknown place member",
        R"({"version": 1, "default": "cpu", "map": {"model": {"device": "cpu"}}})", "device", 1,
        52);
    add("compute on disk", R"({"version": 1, "default": {"store": "disk", "compute": "disk"}})",
        "compute", 1, 56);
    add("unknown format",
        R"({"version": 1, "default": "cpu", "map": {"model": {"format": "int4"}}})", "format", 1,
        62);
    add("format in capitals",
        R"({"version": 1, "default": "cpu", "map": {"model": {"format": "NF4"}}})", "format", 1,
        62);
    add("unknown residency",
        R"({"version": 1, "default": "cpu", "map": {"model": {"residency": "lazy"}}})", "residency",
        1, 65);
    add("pin is no boolean", R"({"version": 1, "default": "cpu", "map": {"model": {"pin": 1}}})",
        "pin", 1, 59);
    add("store as number", R"({"version": 1, "default": {"store": 0, "compute": "cuda:0"}})",
        "store", 1, 37);
    add("bracket, reversed range",
        R"({"version": 1, "default": "cpu", "map": {"layers.[3-1]": 0}})", "layers.[3-1]", 1, 42);
    add("bracket, leading zero", R"({"version": 1, "default": "cpu", "map": {"layers.[01-2]": 0}})",
        "layers.[01-2]", 1, 42);
    add("bracket, one number", R"({"version": 1, "default": "cpu", "map": {"layers.[3]": 0}})",
        "layers.[3]", 1, 42);
    add("bracket, part of a component",
        R"({"version": 1, "default": "cpu", "map": {"layers.x[1-2]": 0}})", "layers.x[1-2]", 1, 42);
    add("bracket, two ranges", R"({"version": 1, "default": "cpu", "map": {"a.[0-1].b.[0-1]": 0}})",
        "a.[0-1].b.[0-1]", 1, 42);
    add("bracket, star", R"({"version": 1, "default": "cpu", "map": {"layers.[*]": 0}})",
        "layers.[*]", 1, 42);
    add("limits of no device", R"({"version": 1, "default": "cpu", "limits": {"gpu": 1}})", "gpu",
        1, 45);
    add("negative limit", R"({"version": 1, "default": "cpu", "limits": {"cpu": -1}})", "cpu", 1,
        52);
    add("limit with a space", R"({"version": 1, "default": "cpu", "limits": {"cpu": "6 GiB"}})",
        "cpu", 1, 52);
    add("limit with another unit", R"({"version": 1, "default": "cpu", "limits": {"cpu": "6TB"}})",
        "cpu", 1, 52);
    add("limit without a digit", R"({"version": 1, "default": "cpu", "limits": {"cpu": ".5GB"}})",
        "cpu", 1, 52);
    add("context 0", R"({"version": 1, "default": "cpu", "kv": {"context": 0}})", "context", 1, 52);
    add("context 1.5", R"({"version": 1, "default": "cpu", "kv": {"context": 1.5}})", "context", 1,
        52);
    add("KV on disk", R"({"version": 1, "default": "cpu", "kv": {"place": "disk"}})", "place", 1,
        50);
    add("KV format nf4", R"({"version": 1, "default": "cpu", "kv": {"format": "nf4"}})", "format",
        1, 51);
    add("copies of experts", R"({"version": 1, "default": "cpu", "experts": {"cache": "most"}})",
        "cache", 1, 55);
    add("adapter place", R"({"version": 1, "default": "cpu", "adapter": {"place": "cpu"}})",
        "place", 1, 55);
    add("notes is no text", R"({"version": 1, "default": "cpu", "notes": 5})", "notes", 1, 43);
    add("layers is no integer", R"({"version": 1, "default": "cpu", "model": {"layers": 3.5}})",
        "layers", 1, 54);
    // DM11: only the case of letters is wrong
    add("6Gb", R"({"version": 1, "default": "cpu", "limits": {"cpu": "6Gb"}})", "cpu", 1, 52,
        "DM11");
    add("6gib", R"({"version": 1, "default": "cpu", "limits": {"cpu": "6gib"}})", "cpu", 1, 52,
        "DM11");
    add("1.5MIB", R"({"version": 1, "default": "cpu", "reserve": {"cpu": "1.5MIB"}})", "cpu", 1, 53,
        "DM11");
}

void TestDeviceMapParse::complaints() {
    QFETCH(QByteArray, text);
    QFETCH(QString, code);
    QFETCH(QString, key);
    QFETCH(int, line);
    QFETCH(int, column);
    std::vector<PlanIssue> issues;
    const auto map = parseDeviceMap(
        std::string_view(text.constData(), static_cast<size_t>(text.size())), {}, &issues);
    QVERIFY(!map.has_value());
    QCOMPARE(issues.size(), size_t{1});
    QCOMPARE(QString::fromStdString(issues[0].code), code);
    QCOMPARE(QString::fromStdString(issues[0].key), key);
    QCOMPARE(std::make_pair(issues[0].line, issues[0].column), std::make_pair(line, column));
    QVERIFY(!inEnglish(issues[0]).empty());
    QCOMPARE(map.error().code, ErrorCode::InvalidRequest);
    QVERIFY(map.error().message.find(inEnglish(issues[0])) != std::string::npos);
    QCOMPARE(map.error().details[0].second, issues[0].code);
}

void TestDeviceMapParse::allComplaintsTogether() {
    std::vector<PlanIssue> issues;
    const auto map = parseDeviceMap(R"({"version": 1, "default": "cpu",
        "map": {"a.[2-1]": "cpu", "b": {"format": "int4", "pin": 3}},
        "limits": {"cpu": "6gb", "gpu": "x"}, "extra": 1})",
                                    {}, &issues);
    QVERIFY(!map.has_value());
    std::vector<std::string> found;
    for (const PlanIssue& issue : issues) {
        found.push_back(issue.code + " " + issue.key + " " + std::to_string(issue.line));
    }
    const std::vector<std::string> expected = {"DM01 a.[2-1] 2", "DM01 format 2", "DM01 pin 2",
                                               "DM11 cpu 3",     "DM01 gpu 3",    "DM01 gpu 3",
                                               "DM01 extra 3"};
    QCOMPARE(found, expected);
    // All of them reach the user, in words and apart.
    const Error& error = map.error();
    QCOMPARE(error.details.size(), size_t{4} + 6);
    for (size_t i = 1; i < issues.size(); ++i) {
        QVERIFY2(error.message.find("\n" + issues[i].code + ": device map, line " +
                                    std::to_string(issues[i].line)) != std::string::npos,
                 error.message.c_str());
        QCOMPARE(error.details[3 + i].first, "complaint." + std::to_string(i + 1));
        QVERIFY(error.details[3 + i].second.find(inEnglish(issues[i])) != std::string::npos);
        QVERIFY(error.message.find(error.details[3 + i].second) != std::string::npos);
    }
}

/// A message stays readable; the details are complete.
void TestDeviceMapParse::manyComplaints() {
    std::string keys;
    for (int i = 0; i < 20; ++i) {
        keys += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\": true";
    }
    const auto map = parseDeviceMap("{" + keys + "}", {});
    QVERIFY(!map.has_value());
    QCOMPARE(std::count(map.error().message.begin(), map.error().message.end(), '\n'), 8);
    QVERIFY(map.error().message.ends_with("(and 12 more)"));
    QCOMPARE(map.error().details.size(), size_t{4} + 19);
}

void TestDeviceMapParse::accepted_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addRow("empty object") << QByteArray("{}");
    QTest::addRow("white space") << QByteArray(" \r\n\t{ \"\" :\n0 } \n");
    QTest::addRow("escapes in keys") << QByteArray(R"({"\u006dodel": 0, "\ud83d\ude00\/": 1})");
    QTest::addRow("default member as a module key") << QByteArray(R"({"default": "cuda:0"})");
    QTest::addRow("a version that JSON calls 1")
        << QByteArray(R"({"version": 1.0, "default": "cpu", "kv": {"context": 4e3}})");
    QTest::addRow("unknown member of model") << QByteArray(
        R"({"version": 1, "default": "cpu", "model": {"name": ["x"], "layers": -1}})");
    QTest::addRow("a device no machine has")
        << QByteArray(R"({"version": 1, "default": "cuda:99"})");
    QTest::addRow("an unknown module")
        << QByteArray(R"({"version": 1, "default": "cpu", "map": {"x": 0}})");
}

void TestDeviceMapParse::accepted() {
    QFETCH(QByteArray, text);
    const auto map = parseDeviceMap(text.toStdString(), {});
    VERIFY_VALUE(map);
}

void TestDeviceMapParse::fullDocument() {
    const auto read = parseDeviceMap(R"({
  "version": 1,
  "model": { "architecture": "gemma4", "layers": 35 },
  "default": "cuda:0",
  "map": {
    "model.language_model.embed_tokens_per_layer": { "store": "cpu", "compute": "cpu" },
    "model.language_model.layers.[0-19]": "cuda:0",
    "model.language_model.layers.[20-34]": { "store": "cpu", "compute": "cpu", "format": "nf4_dq", "pin": false },
    "model.vision_tower": { "store": "cpu", "compute": "cuda:0", "residency": "on_use" },
    "model.audio_tower": "disk",
    "lm_head": { "duplicate_tied": true }
  },
  "limits": { "cuda:0": "6GiB", "cpu": 12345 },
  "reserve": { "cuda:0": "512MiB" },
  "kv": { "context": 8192, "place": "follow_layer", "format": "bf16" },
  "experts": { "cache": "2GiB" },
  "adapter": { "place": "follow_compute" },
  "notes": "free text, ignored"
})",
                                     {});
    VERIFY_VALUE(read);
    const DeviceMap& map = *read;
    QVERIFY(!map.is_imported);
    QCOMPARE(map.model_architecture.value(), std::string("gemma4"));
    QCOMPARE(map.model_layers.value(), int64_t{35});
    QCOMPARE(place(map.default_fields), std::string("cuda:0/cuda:0"));
    QCOMPARE(map.entries.size(), size_t{6});
    QCOMPARE(place(map.entries[0].fields), std::string("cpu/cpu"));
    QCOMPARE(map.entries[2].key, std::string("model.language_model.layers.[20-34]"));
    QCOMPARE(map.entries[2].fields.format.value(), Format::Nf4Dq);
    QCOMPARE(map.entries[2].fields.pin.value(), false);
    QCOMPARE(map.entries[2].key_at.line, 8);
    QCOMPARE(map.entries[2].key_at.column, 5);
    QCOMPARE(map.entries[3].fields.residency.value(), Residency::OnUse);
    // "disk" takes the default's compute device.
    QCOMPARE(place(map.entries[4].fields), std::string("disk/cuda:0"));
    QVERIFY(map.entries[4].is_scalar_disk);
    QCOMPARE(place(map.entries[5].fields), std::string("-/-"));
    QCOMPARE(map.entries[5].fields.duplicate_tied.value(), true);
    QCOMPARE(map.limits.at(DeviceId::cuda(0)).bytes, uint64_t{6} << 30U);
    QCOMPARE(map.limits.at(DeviceId::cpu()).bytes, uint64_t{12345});
    QCOMPARE(map.reserve.at(DeviceId::cuda(0)).bytes, uint64_t{512} << 20U);
    QCOMPARE(map.kv_context.value(), int64_t{8192});
    QVERIFY(!map.kv_place.has_value());
    QCOMPARE(map.kv_format, Format::Bf16);
    QCOMPARE(map.expert_cache.value(), uint64_t{2} << 30U);
    QCOMPARE(map.adapter_place, AdapterPlace::FollowCompute);
    QCOMPARE(map.notes, std::string("free text, ignored"));
}

void TestDeviceMapParse::importedForm() {
    const auto read = parseDeviceMap(
        R"({"model.vision_tower": "cpu", "model.audio_tower": "disk", "": 0, "lm_head": "cuda"})",
        {});
    QVERIFY(read.has_value());
    const DeviceMap& map = *read;
    QVERIFY(map.is_imported);
    QVERIFY(map.has_default);
    QCOMPARE(map.main_device, DeviceId::cuda(0));
    QCOMPARE(place(map.default_fields), std::string("cuda:0/cuda:0"));
    // Stored there, computed on the main device.
    QCOMPARE(place(map.entries[0].fields), std::string("cpu/cuda:0"));
    QCOMPARE(place(map.entries[1].fields), std::string("disk/cuda:0"));
    QCOMPARE(place(map.entries[3].fields), std::string("cuda:0/cuda:0"));
}

void TestDeviceMapParse::importedMainDevice_data() {
    support::addColumns<QByteArray, QString>("text", "main");
    QTest::addRow("lowest number") << QByteArray(R"({"a": 3, "b": 1, "c": 2})") << "cuda:1";
    QTest::addRow("no GPU") << QByteArray(R"({"a": "cpu", "b": "disk"})") << "cpu";
    QTest::addRow("cuda before sim") << QByteArray(R"({"a": "sim:0", "b": "cuda:0"})") << "cuda:0";
    QTest::addRow("sim alone") << QByteArray(R"({"a": "sim:2", "b": "cpu", "c": "sim:1"})")
                               << "sim:1";
    QTest::addRow("cuda is cuda:0") << QByteArray(R"({"a": "cuda:1", "b": "cuda"})") << "cuda:0";
    QTest::addRow("empty map") << QByteArray("{}") << "cpu";
}

void TestDeviceMapParse::importedMainDevice() {
    QFETCH(QByteArray, text);
    QFETCH(QString, main);
    const auto map = parseDeviceMap(text.toStdString(), {});
    QVERIFY(map.has_value());
    QCOMPARE(QString::fromStdString(map->main_device.toString()), main);
}

void TestDeviceMapParse::integersAsSim() {
    ParseContext context;
    context.are_integers_sim = true;
    const auto imported = parseDeviceMap(R"({"": 1, "lm_head": "cuda:0"})", context);
    QVERIFY(imported.has_value());
    QCOMPARE(place(imported->default_fields), std::string("sim:1/sim:1"));
    QCOMPARE(place(imported->entries[1].fields), std::string("cuda:0/cuda:0"));
    const auto native = parseDeviceMap(R"({"version": 1, "default": 63})", context);
    QVERIFY(native.has_value());
    QCOMPARE(place(native->default_fields), std::string("sim:63/sim:63"));
}

void TestDeviceMapParse::sizes_data() {
    support::addColumns<QString, bool, quint64>("text", "is_valid", "bytes");
    const auto add = [](const char* text, bool is_valid, quint64 bytes = 0) {
        QTest::addRow("%s", text) << text << is_valid << bytes;
    };
    add("6GiB", true, quint64{6} << 30U);
    add("6GB", true, 6'000'000'000);
    add("512MiB", true, 536'870'912);
    add("1KB", true, 1000);
    add("1KiB", true, 1024);
    add("0.5KiB", true, 512);
    add("1.0009765625KiB", true, 1025);
    add("0.001KiB", true, 1); // 1.024: fractions of a byte are dropped
    add("0.0009KB", true, 0);
    add("0.999999999999999999999KB", true, 999);
    add("1.5GB", true, 1'500'000'000);
    add("007MB", true, 7'000'000);
    add("99999999999999999999999GiB", true, ~quint64{0}); // saturates
    add("18446744073709551615KB", true, ~quint64{0});
    add("6", false);
    add("6B", false);
    add("6gib", false);
    add("6Gb", false);
    add("1.GiB", false);
    add("-1GiB", false);
    add("1,5GiB", false);
    add("1e3KB", false);
    add("", false);
}

void TestDeviceMapParse::sizes() {
    QFETCH(QString, text);
    QFETCH(bool, is_valid);
    QFETCH(quint64, bytes);
    const auto size = parseByteSize(text.toStdString());
    QCOMPARE(size.has_value(), is_valid);
    if (is_valid) {
        QCOMPARE(quint64{*size}, bytes);
    }
}

// Every prefix of a good document is refused with a place, never read as something else.
void TestDeviceMapParse::truncatedTexts() {
    const std::string text = R"({"version": 1, "default": {"store": "cpu", "compute": "cpu"},
 "map": {"model.\u0061udio_tower": true, "x": [1, 2.5e3, null]}})";
    for (size_t length = 0; length < text.size(); ++length) {
        std::vector<PlanIssue> issues;
        const auto map = parseDeviceMap(text.substr(0, length), {}, &issues);
        QVERIFY(!map.has_value());
        QCOMPARE(issues.size(), size_t{1});
        QVERIFY(issues[0].line >= 1 && issues[0].column >= 1);
    }
}

void TestDeviceMapParse::depthAndSize() {
    std::string deep = "{\"a\": ";
    for (int i = 0; i < 100000; ++i) {
        deep += '[';
    }
    QVERIFY(!parseDeviceMap(deep, {}).has_value());
    const std::string large(kMaxDeviceMapBytes + 1, ' ');
    const auto refused = parseDeviceMap(large, {});
    QVERIFY(!refused.has_value());
    QVERIFY(refused.error().message.find("bytes") != std::string::npos);
}

void TestDeviceMapParse::byteOrderMark() {
    const std::string plain = R"({"": "cpu"})";
    const std::string marked = "\xEF\xBB\xBF" + plain;
    QVERIFY(isDeviceMapText(plain) && isDeviceMapText(marked) && isDeviceMapText(" \r\n" + plain));
    // Meant as a map, and no good one: the reader says what is wrong.
    QVERIFY(isDeviceMapText("[]") && isDeviceMapText("\n") && isDeviceMapText("fit\n"));
    QVERIFY(!isDeviceMapText("towers-cpu"));
    QVERIFY(!isDeviceMapText("fit") && !isDeviceMapText("") && !isDeviceMapText("\xEF\xBB\xBF"));
    const auto map = parseDeviceMap(marked, {});
    QVERIFY(map.has_value());
    QVERIFY(map->is_imported && map->has_default);
    // Only before the text.
    QVERIFY(!parseDeviceMap(plain + "\xEF\xBB\xBF", {}).has_value());
}

TEST_CLASS(TestDeviceMapParse)
#include "tst_device_map_parse.moc"
