// SPDX-License-Identifier: Apache-2.0
// What a plan says besides published totals: exact bytes per format and residency, staging areas,
// limits and DM09 with its advice, transfers and DM20 to DM22, the cache's place, modules.
#include "engine/base/sentence_english.h"
#include "engine/plan/plan_speed.h"
#include "engine/plan/plan_transfers.h"
#include "engine/quant/quantize.h"
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>

using namespace engine;
using namespace planfixture;

namespace {

PlanRequest mapped(const Model& model, const std::string& text, int gpus = 2) {
    PlanRequest request = requestFor(model, gpus, 64 * kGiB);
    request.map = support::must(parseDeviceMap(text, {}), text.c_str());
    return request;
}

std::string native(const std::string& keys, const std::string& def = "\"sim:0\"") {
    return R"({"version": 1, "default": )" + def + R"(, "map": {)" + keys + "}}";
}

uint64_t weights(const PlacementPlan& plan, DeviceId id) {
    const DevicePlan* row = deviceRow(plan, id);
    return row == nullptr ? 0 : row->parts[MemoryPart::Weights];
}

uint64_t transfer(const PlacementPlan& plan, DeviceId from, DeviceId to, const std::string& what) {
    for (const TransferPerToken& row : plan.transfers_per_token) {
        if (row.from == from && row.to == to && inEnglish(row.what) == what) {
            return row.bytes;
        }
    }
    return 0;
}

constexpr uint64_t kPle = 4'697'620'480;
constexpr uint64_t kEmbed = 805'306'368;
constexpr uint64_t kVision = 334'730'112 + 2'359'296;
constexpr uint64_t kAudio = 609'650'176 + 4'718'592;
constexpr uint64_t kTotal = 10'208'596'934;

/// Does what a proposed step says, word for word, as a user would: options, and keys of the map.
PlanRequest stepped(const PlanRequest& request, const PlacementPlan& plan, const QString& step) {
    PlanRequest out = request;
    out.wants_advice = false;
    DeviceMap map = *parseDeviceMap(plan.map_text, {});
    bool is_moved = false;
    const auto put = [&](const QString& key, const QString& place) {
        static const QRegularExpression kPlace("^(\\S+)(?: \\(computed on (\\S+)\\))?$");
        const QRegularExpressionMatch match = kPlace.match(place);
        PlaceFields fields;
        fields.store = DeviceId::parse(match.captured(1).toStdString());
        fields.compute = match.captured(2).isEmpty()
                             ? fields.store
                             : DeviceId::parse(match.captured(2).toStdString());
        if (!fields.store.has_value() || !fields.compute.has_value()) {
            qFatal("no place in %s", qPrintable(place));
        }
        map = withPlace(map, key.toStdString(), fields);
        is_moved = true;
    };
    static const QRegularExpression kMove(
        "move (model\\S+)(?: and (model\\S+))? to (\\S+?(?: \\(computed on \\S+\\))?)(?=,|:|$)");
    for (auto it = kMove.globalMatch(step); it.hasNext();) {
        const QRegularExpressionMatch match = it.next();
        put(match.captured(1), match.captured(3));
        if (!match.captured(2).isEmpty()) {
            put(match.captured(2), match.captured(3));
        }
    }
    static const QRegularExpression kLayers("move (experts of )?layers? (\\d+)(?:-(\\d+))? to "
                                            "(\\S+?(?: \\(computed on \\S+\\))?)(?=:)");
    if (const auto match = kLayers.match(step); match.hasMatch()) {
        const QString last = match.captured(3).isEmpty() ? match.captured(2) : match.captured(3);
        put("model.language_model.layers.[" + match.captured(2) + "-" + last + "]" +
                (match.captured(1).isEmpty() ? "" : ".experts"),
            match.captured(4));
    }
    static const QRegularExpression kHeadKey("\"lm_head\": (\\{[^}]*\\})");
    if (const auto match = kHeadKey.match(step); match.hasMatch()) {
        const DeviceMap entry = support::must(
            parseDeviceMap(native("\"lm_head\": " + match.captured(1).toStdString()), {}), "map");
        map = withPlace(map, "lm_head", entry.entries.at(0).fields);
        is_moved = true;
    }
    if (is_moved) {
        out.map = map;
    }
    const auto option = [&step](const char* pattern) {
        return QRegularExpression(QString::fromLatin1(pattern)).match(step).captured(1);
    };
    if (step.contains("use --head int8")) {
        out.head = Format::Q8;
    }
    QString quant = option("use --quant (\\S+):");
    if (!quant.isEmpty()) {
        out.quantizes_experts = quant.endsWith("+experts");
        quant.remove("+experts");
        out.quant = quant == "nf4"      ? Format::Nf4
                    : quant == "nf4-dq" ? Format::Nf4Dq
                                        : Format::Fp4Dq;
    }
    const QString context = option("use a context of (\\d+) tokens:");
    if (!context.isEmpty()) {
        out.context = context.toLongLong();
    }
    const QString chunk = option("use --prefill-chunk (\\d+):");
    if (!chunk.isEmpty()) {
        out.prefill_chunk = chunk.toLongLong();
    }
    const QString image = option("use --image-tokens (\\d+):");
    if (!image.isEmpty()) {
        out.image_tokens = image.toLongLong();
    }
    return out;
}

} // namespace

class TestPlanner : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void formatBytes_data();
    void formatBytes();
    void storedTypesAndBlocks();
    void residencies_data();
    void residencies();
    void stagingRule();
    void limits();
    void saysWhatBounds();
    void overLimit();
    void overLimitOnCpu();
    void simulatedInMainMemory();
    void stepsDoWhatTheySay_data();
    void stepsDoWhatTheySay();
    void fitAdvisesDisk();
    void stepsForTheLargestPart();
    void stepsThatAreNotEnough();
    void notJudgedWhenUnplaced();
    void oneDeviceMovesNothing();
    void madeAtEveryUse();
    void blocksOnTheProcessor();
    void splitStack();
    void kvReadersElsewhere();
    void kvPlace();
    void splitLayer();
    void streamedWeights();
    void modelBlock();
    void contextOptions();
    void kvFormats();
    void adapters();
    void modules();
    void presets_data();
    void presets();
    void presetsWithoutGpu();
    void expertsElsewhere();
    void copiesOfExperts();
};

// By hand: bytes of one tensor [rows, cols] in every format.
void TestPlanner::formatBytes_data() {
    support::addColumns<QString, quint64>("format", "bytes");
    // up_proj of layer 0: [6144, 1536], n = 9,437,184, 147,456 blocks, 576 groups of 256 blocks.
    const quint64 n = 9'437'184;
    QTest::addRow("as_stored") << "as_stored" << 2 * n;
    QTest::addRow("f32") << "f32" << 4 * n;
    QTest::addRow("f16") << "f16" << 2 * n;
    QTest::addRow("nf4") << "nf4" << quint64{4'718'592 + 4 * 147'456};
    QTest::addRow("fp4") << "fp4" << quint64{4'718'592 + 4 * 147'456};
    QTest::addRow("nf4_dq") << "nf4_dq" << quint64{4'718'592 + 147'456 + 4 * 576 + 1024 + 4};
    QTest::addRow("fp4_dq") << "fp4_dq" << quint64{4'718'592 + 147'456 + 4 * 576 + 1024 + 4};
    QTest::addRow("q8") << "q8" << quint64{n + 4 * 6144};
}

void TestPlanner::formatBytes() {
    QFETCH(QString, format);
    QFETCH(quint64, bytes);
    const std::string up = "model.language_model.layers.0.mlp.up_proj.weight";
    const PlacementPlan plan = makePlan(
        mapped(e2b(), native("\"" + up + R"(": {"format": ")" + format.toStdString() + "\"}")));
    QVERIFY2(plan.fits, plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
    const TensorPlacement* row = plan.find(up);
    QVERIFY(row != nullptr);
    QCOMPARE(row->bytes, bytes);
    QCOMPARE(weights(plan, DeviceId::sim(0)), kTotal - 18'874'368 + bytes);
}

void TestPlanner::storedTypesAndBlocks() {
    PlanRequest request = mapped(e2b(), native(""));
    for (const ExpectedTensor& tensor : e2b().tensors) {
        request.stored[tensor.name] = {};
    }
    const std::string up = "model.language_model.layers.0.mlp.up_proj.weight";
    const std::string norm = "model.language_model.norm.weight";
    request.stored[norm].type = TensorType::F32;
    request.stored[up].packed = Format::Nf4Dq;
    request.stored[up].block_size = 128;
    const PlacementPlan plan = makePlan(request);
    QCOMPARE(plan.find(norm)->bytes, uint64_t{4 * 1536});
    // 73,728 blocks of 128, 288 groups of 256.
    QCOMPARE(plan.find(up)->format, Format::Nf4Dq);
    QCOMPARE(plan.find(up)->bytes, uint64_t{4'718'592 + 73'728 + 4 * 288 + 1028});
    // A position table and convolutions count all their dimensions.
    QCOMPARE(plan.find("model.vision_tower.patch_embedder.position_embedding_table")->bytes,
             uint64_t{31'457'280});
    QCOMPARE(plan.find("model.audio_tower.subsample_conv_projection.layer1.conv.weight")->bytes,
             uint64_t{2 * 36'864});
    QCOMPARE(plan.find("model.audio_tower.layers.0.feed_forward1.ffw_layer_1.input_min")->bytes,
             uint64_t{2});
}

void TestPlanner::residencies_data() {
    support::addColumns<QString, quint64, quint64>("keys", "gpu", "cpu");
    const quint64 layer0 = 72'368'130;
    const quint64 linear = 18'874'368; // the largest linear weight of layer 0
    const auto add = [](const char* name, const char* keys, quint64 gpu, quint64 cpu) {
        QTest::addRow("%s", name) << keys << gpu << cpu;
    };
    add("all on one device", "", kTotal, 0);
    add("PLE computed on the CPU", R"("model.embed_tokens_per_layer": "cpu")", kTotal - kPle, kPle);
    add("PLE stored on the CPU: rows travel", R"("model.embed_tokens_per_layer": {"store": "cpu"})",
        kTotal - kPle, kPle);
    add("PLE on disk: no memory anywhere", R"("model.embed_tokens_per_layer": "disk")",
        kTotal - kPle, 0);
    add("PLE kept on both",
        R"("model.embed_tokens_per_layer": {"store": "cpu", "residency": "always"})", kTotal, kPle);
    add("a layer streamed", R"("model.layers.0": {"store": "cpu"})", kTotal - layer0 + 2 * linear,
        layer0);
    add("a layer streamed from disk", R"("model.layers.0": "disk")", kTotal - layer0 + 2 * linear,
        0);
    add("a layer kept on both", R"("model.layers.0": {"store": "cpu", "residency": "always"})",
        kTotal, layer0);
    add("a layer that visits", R"("model.layers.0": {"store": "cpu", "residency": "on_use"})",
        kTotal, layer0);
    add("vision visits",
        R"("model.vision_tower": {"store": "cpu"}, "model.embed_vision": {"store": "cpu"})", kTotal,
        kVision);
    add("both towers visit: room for the larger",
        R"("model.vision_tower": {"store": "cpu"}, "model.embed_vision": {"store": "cpu"},
           "model.audio_tower": "disk", "model.embed_audio": "disk")",
        kTotal - kVision, kVision);
    add("the tied table streamed for the head", R"("model.embed_tokens": {"store": "cpu"})",
        kTotal - kEmbed + 2 * kEmbed, kEmbed);
    add("the table read by rows, the head resident",
        R"("model.embed_tokens": {"store": "cpu"},
           "lm_head": {"store": "sim:0", "compute": "sim:0", "duplicate_tied": true})",
        kTotal, kEmbed);
    add("two copies of the table",
        R"("lm_head": {"store": "cpu", "compute": "cpu", "duplicate_tied": true})", kTotal, kEmbed);
}

void TestPlanner::residencies() {
    QFETCH(QString, keys);
    QFETCH(quint64, gpu);
    QFETCH(quint64, cpu);
    const PlacementPlan plan = makePlan(mapped(e2b(), native(keys.toStdString())));
    QVERIFY2(plan.fits, plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
    QCOMPARE(weights(plan, DeviceId::sim(0)), gpu);
    QCOMPARE(weights(plan, DeviceId::cpu()), cpu);
    QCOMPARE(weights(plan, DeviceId::disk()), uint64_t{0});
}

void TestPlanner::stagingRule() {
    const PlacementPlan plan = makePlan(mapped(
        e2b(),
        native(R"("model.layers.[0-3]": {"store": "cpu"}, "model.layers.34": {"store": "cpu"},
            "model.embed_tokens_per_layer": {"store": "cpu"}, "model.vision_tower": {"store": "cpu"},
            "model.embed_vision": {"store": "cpu"}, "model.audio_tower": {"store": "cpu"},
            "model.norm": {"store": "cpu", "residency": "on_use"})")));
    const auto staging = stagingBytes(plan);
    QCOMPARE(staging.size(), size_t{1});
    const StagingBytes& sim = staging.at(DeviceId::sim(0));
    QCOMPARE(sim.stream, uint64_t{2 * 37'748'736}); // layer 34 is double-wide
    QCOMPARE(sim.visit, uint64_t{609'650'176});     // the audio tower without its projector
    QCOMPARE(visitGroup({PartRole::VisionProjector}), std::string_view("vision"));
    QCOMPARE(visitGroup({PartRole::AudioTower}), std::string_view("audio"));
    QCOMPARE(visitGroup({PartRole::FinalNorm}), std::string_view("language"));
    QVERIFY(isGatherOnly(plan, {PartRole::PerLayerTable}));
    QVERIFY(!isGatherOnly(plan, {PartRole::Embedding}));
}

void TestPlanner::limits() {
    PlanRequest request = mapped(e2b(), R"({"version": 1, "default": "sim:0",
        "limits": {"sim:0": "20GiB", "cpu": "8GiB"}, "reserve": {"sim:0": "512MiB", "sim:1": "1GiB"}})");
    request.devices[1].free = 30 * kGiB;
    PlacementPlan plan = makePlan(request);
    QCOMPARE(deviceRow(plan, DeviceId::sim(0))->limit, 20 * kGiB - (kGiB >> 1U));
    QCOMPARE(deviceRow(plan, DeviceId::sim(1))->limit, 63 * kGiB);
    QCOMPARE(deviceRow(plan, DeviceId::cpu())->limit, 8 * kGiB);
    // --limit beats the map's limit; free memory bounds both.
    request.limits[DeviceId::sim(0)] = 25 * kGiB;
    plan = makePlan(request);
    QCOMPARE(deviceRow(plan, DeviceId::sim(0))->limit, 25 * kGiB - (kGiB >> 1U));
    request.limits[DeviceId::sim(0)] = 50 * kGiB;
    plan = makePlan(request);
    QCOMPARE(deviceRow(plan, DeviceId::sim(0))->limit, 30 * kGiB - (kGiB >> 1U));
    // Exactly what is needed fits, one byte less does not.
    const uint64_t need = deviceRow(plan, DeviceId::sim(0))->parts.total();
    request.limits[DeviceId::sim(0)] = need + (kGiB >> 1U);
    QVERIFY(makePlan(request).fits);
    request.limits[DeviceId::sim(0)] = need + (kGiB >> 1U) - 1;
    plan = makePlan(request);
    QVERIFY(!plan.fits);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    // A reserve larger than the bound leaves nothing, not a wrapped number.
    request.limits[DeviceId::sim(0)] = 1;
    QCOMPARE(deviceRow(makePlan(request), DeviceId::sim(0))->limit, uint64_t{0});
    // The disk has no bound: a map that gives it one is told so.
    const PlacementPlan disk = makePlan(mapped(e2b(), R"({"version": 1, "default": "sim:0",
        "limits": {"disk": "1MiB"}, "reserve": {"disk": "1MiB"}})"));
    QVERIFY(mentions(inEnglish(disk.notes), "limits.disk has no effect"));
    QVERIFY(mentions(inEnglish(disk.notes), "reserve.disk has no effect"));
    QVERIFY(!mentions(inEnglish(makePlan(request).notes), "disk has no effect"));
    // A limit for a device that does not exist.
    request.limits = {{DeviceId::cuda(3), kGiB}};
    QCOMPARE(codesOf(makePlan(request).errors), std::string("DM04"));
}

/// Where the bound comes from, and a last resort that can change it.
void TestPlanner::saysWhatBounds() {
    PlanRequest request = mapped(e2b(), R"({"version": 1, "default": "sim:0"})");
    const auto issueWith = [&](uint64_t free, uint64_t option, const std::string& members) {
        request.map = *parseDeviceMap(R"({"version": 1, "default": "sim:0")" + members + "}", {});
        request.devices[1].capacity = request.devices[1].free = free;
        request.limits.clear();
        if (option > 0) {
            request.limits[DeviceId::sim(0)] = option;
        }
        const PlacementPlan plan = makePlan(request);
        return plan.errors.empty() ? PlanIssue() : plan.errors[0];
    };
    const auto ends = [](const PlanIssue& issue, const std::string& last) {
        return !issue.suggestions.empty() && inEnglish(issue.suggestions.back()).ends_with(last);
    };
    const uint64_t least = 1U << 20U;
    PlanIssue issue = issueWith(least, 0, "");
    QVERIFY(inEnglish(issue).find(" too much (1.00 MiB free). The largest") != std::string::npos);
    QVERIFY(ends(issue, "use a device with more memory or a smaller model"));
    issue = issueWith(kGiB, 0, R"(, "reserve": {"sim:0": "2GiB"})");
    QVERIFY2(inEnglish(issue).find("may use 0 bytes (0 bytes)") != std::string::npos &&
                 inEnglish(issue).find(" too much (1.00 GiB free, less 2.00 GiB that the map "
                                       "reserves). The") != std::string::npos,
             inEnglish(issue).c_str());
    QVERIFY(ends(issue, "or a smaller model, or lower the reserve"));
    issue = issueWith(kGiB, least, R"(, "limits": {"sim:0": "2MiB"})");
    QVERIFY(inEnglish(issue).find(" too much (1.00 MiB by --limit). The") != std::string::npos);
    QVERIFY(ends(issue, "or a smaller model, or raise the limit"));
    issue = issueWith(kGiB, 0, R"(, "limits": {"sim:0": "2MiB"}, "reserve": {"sim:0": "1MiB"})");
    QVERIFY(
        inEnglish(issue).find(" too much (2.00 MiB by the limits of the map, less 1.00 MiB that "
                              "the map reserves). The") != std::string::npos);
    QVERIFY(ends(issue, "or a smaller model, or raise the limit or lower the reserve"));
    // A limit above what is free bounds nothing.
    issue = issueWith(least, kGiB, "");
    QVERIFY(inEnglish(issue).find(" too much (1.00 MiB free). The") != std::string::npos);
    // The host's memory bounds a simulated GPU.
    request.devices[0].capacity = request.devices[0].free = kGiB;
    issue = issueWith(64 * kGiB, 0, R"(, "reserve": {"cpu": "1GiB"})");
    QVERIFY(
        inEnglish(issue).find(" too much (1.00 GiB free, less 1.00 GiB that the map reserves). The "
                              "largest parts: ") != std::string::npos);
    QVERIFY(ends(issue, "or a smaller model, or lower the reserve"));
}

void TestPlanner::overLimit() {
    PlanRequest request = requestFor(e2b(), 1, 6 * kGiB);
    useModelRules(request);
    request.context = 32768;
    const PlacementPlan plan = makePlan(request);
    QVERIFY(!plan.fits);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    const PlanIssue& issue = plan.errors[0];
    QCOMPARE(issue.key, std::string("sim:0"));
    const uint64_t need = deviceRow(plan, DeviceId::sim(0))->parts.total();
    QVERIFY(inEnglish(issue).find(std::to_string(need) + " bytes") != std::string::npos);
    QVERIFY(inEnglish(issue).find(std::to_string(6 * kGiB) + " bytes") != std::string::npos);
    // Five contributors, largest first.
    const std::string parts = inEnglish(issue).substr(inEnglish(issue).find("largest parts:"));
    QCOMPARE(std::count(parts.begin(), parts.end(), ','), 4);
    const std::vector<std::string> order = {
        "model.language_model.embed_tokens_per_layer 4.38 GiB", "layers 0-34 3.47 GiB",
        "model.language_model.embed_tokens 768.00 MiB", "model.audio_tower 581.41 MiB"};
    size_t at = 0;
    for (const std::string& item : order) {
        const size_t found = parts.find(item, at);
        QVERIFY2(found != std::string::npos, (item + " in " + parts).c_str());
        at = found;
    }
    QVERIFY(mentions(inEnglish(issue.suggestions),
                     "move model.language_model.embed_tokens_per_layer to cpu: frees 4.38 "
                     "GiB (enough by itself), "
                     "costs nothing measurable (one row of 17.50 KiB per token)"));
    QVERIFY(mentions(inEnglish(issue.suggestions),
                     "move model.audio_tower and model.embed_audio to cpu: frees "));
    QVERIFY(mentions(inEnglish(issue.suggestions),
                     "move model.vision_tower and model.embed_vision to cpu: frees "));
    QVERIFY(mentions(inEnglish(issue.suggestions), "--quant nf4: frees"));
    QVERIFY(mentions(inEnglish(issue.suggestions), "--head int8"));
    QVERIFY(!issue.modules.empty());

    // Doing what is proposed frees what was promised.
    PlanRequest moved = request;
    moved.preset = "ple-cpu";
    const PlacementPlan after = makePlan(moved);
    QCOMPARE(need - deviceRow(after, DeviceId::sim(0))->parts.total(), kPle);
    PlanRequest quantized = request;
    quantized.quant = Format::Nf4;
    const uint64_t freed = need - deviceRow(makePlan(quantized), DeviceId::sim(0))->parts.total();
    QVERIFY2(mentions(inEnglish(issue.suggestions), "--quant nf4: frees " + formatByteCount(freed)),
             formatByteCount(freed).c_str());
}

void TestPlanner::overLimitOnCpu() {
    PlanRequest request = requestFor(e2b(), 0, 0);
    request.preset = "cpu";
    request.devices[0].capacity = request.devices[0].free = 4 * kGiB;
    const PlacementPlan plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions), "embed_tokens_per_layer to disk"));
    // A tower on disk visits main memory: one alone would free nothing.
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions),
                     "move model.audio_tower and model.embed_audio to disk (computed on cpu), move "
                     "model.vision_tower and model.embed_vision to disk (computed on cpu): frees"));
    // Unknown memory is no limit.
    request.devices[0].capacity = 0;
    request.devices[0].free = 0;
    QVERIFY(makePlan(request).fits);
}

void TestPlanner::simulatedInMainMemory() {
    // 31B in bf16 on a simulated card of 100 GiB, in a computer with 23 GiB.
    PlanRequest request = requestFor(publishedModel("31B"), 1, 100 * kGiB);
    useModelRules(request);
    request.devices[0].capacity = 32 * kGiB;
    request.devices[0].free = 23 * kGiB;
    PlacementPlan plan = makePlan(request);
    QVERIFY(!plan.fits);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    QCOMPARE(plan.errors[0].key, std::string("cpu"));
    QCOMPARE(deviceRow(plan, DeviceId::sim(0))->limit, 100 * kGiB);
    const uint64_t need = deviceRow(plan, DeviceId::sim(0))->parts.total() +
                          deviceRow(plan, DeviceId::cpu())->parts.total();
    for (const std::string& part : {std::to_string(need), std::to_string(23 * kGiB),
                                    std::string("simulated GPU"), std::string("sim:0 ")}) {
        QVERIFY2(inEnglish(plan.errors[0]).find(part) != std::string::npos, part.c_str());
    }
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions), "use --quant nf4: frees"));
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions), "enough by itself"));
    QVERIFY(!mentions(inEnglish(plan.errors[0].suggestions), "to cpu"));
    // To the byte, with what stands on the CPU beside it; a reserve counts, unknown memory does
    // not bound.
    request = mapped(e2b(), native("\"model.vision_tower\": \"cpu\", \"lm_head\": \"sim:1\", "
                                   "\"model.language_model.embed_tokens\": \"sim:1\""));
    plan = makePlan(request);
    QVERIFY(plan.fits);
    uint64_t all = 0;
    for (const DeviceId id : {DeviceId::cpu(), DeviceId::sim(0), DeviceId::sim(1)}) {
        QVERIFY(deviceRow(plan, id)->parts.total() > 0);
        all += deviceRow(plan, id)->parts.total();
    }
    request.devices[0].free = all;
    QVERIFY(makePlan(request).fits);
    request.devices[0].free = all - 1;
    QCOMPARE(codesOf(makePlan(request).errors), std::string("DM09"));
    request.devices[0].free = all;
    request.map->reserve[DeviceId::cpu()].bytes = 1;
    QCOMPARE(codesOf(makePlan(request).errors), std::string("DM09"));
    request.devices[0].capacity = 0;
    QVERIFY(makePlan(request).fits);
    // A real card has its own memory.
    request = requestFor(e2b(), 1, 64 * kGiB, false);
    request.devices[0].capacity = request.devices[0].free = kGiB;
    QVERIFY(makePlan(request).fits);
}

void TestPlanner::stepsDoWhatTheySay_data() {
    QTest::addColumn<QString>("size");
    QTest::addColumn<QString>("map");
    QTest::addColumn<int>("mib"); ///< Memory of the card; without one, main memory.
    QTest::addColumn<QString>("options");
    QTest::addColumn<qlonglong>("context");
    for (const char* size : {"E2B", "E4B", "31B", "26B-A4B"}) {
        for (const char* map : {"gpu", "lean", "cpu"}) {
            for (const int mib : {1500, 6000}) {
                for (const char* options : {"", "nf4", "nf4 int8", "fp4"}) {
                    QTest::addRow("%s %s in %d MiB %s", size, map, mib, options)
                        << size << map << mib << options << 8192LL;
                }
            }
        }
        for (const int mib : {900, 2200}) {
            for (const char* options : {"", "nf4", "nf4 int8"}) {
                QTest::addRow("%s fit in %d MiB each %s", size, mib, options)
                    << size << "fit" << mib << options << 8192LL;
            }
        }
        QTest::addRow("%s, a long chat", size) << size << "gpu" << 12000 << "nf4" << 131072LL;
        if (publishedModel(size).config.audio.has_value()) {
            QTest::addRow("%s, towers visit", size)
                << size << R"({"version": 1, "default": "cuda:0", "map": {"model.vision_tower":
                   {"store": "cpu", "compute": "cuda:0"}, "model.audio_tower": {"store": "cpu",
                   "compute": "cuda:0", "residency": "always"}}})"
                << 1500 << "nf4" << 4096LL;
        }
        QTest::addRow("%s, imported", size)
            << size << R"({"": "cuda:0", "model.language_model.layers.3": "cpu"})" << 1500 << "nf4"
            << 4096LL;
        QTest::addRow("%s, table apart", size)
            << size
            << R"({"version": 1, "default": "cuda:0", "map": {"model.language_model.embed_tokens":
                   "cuda:0", "lm_head": "cuda:0"}})"
            << 1500 << "nf4 int8" << 4096LL;
    }
}

void TestPlanner::stepsDoWhatTheySay() {
    QFETCH(QString, size);
    QFETCH(QString, map);
    QFETCH(int, mib);
    QFETCH(QString, options);
    QFETCH(qlonglong, context);
    const uint64_t bytes = static_cast<uint64_t>(mib) << 20U;
    PlanRequest request = requestFor(publishedModel(size.toStdString()), 1, bytes, false);
    useModelRules(request);
    request.context = context;
    request.prefill_chunk = 0;
    request.quant = options.contains("nf4")   ? Format::Nf4
                    : options.contains("fp4") ? Format::Fp4
                                              : Format::AsStored;
    request.head = options.contains("int8") ? Format::Q8 : Format::AsStored;
    if (map.startsWith('{')) {
        request.map = *parseDeviceMap(map.toStdString(), {});
    } else {
        request.preset = map.toStdString();
    }
    if (map == "cpu") {
        request.devices.resize(1);
    }
    if (map == "cpu" || map == "fit") {
        request.devices[0].capacity = request.devices[0].free = bytes;
    }
    const PlacementPlan plan = makePlan(request);
    if (plan.fits) {
        return;
    }
    const std::string all = codesOf(plan.errors);
    QVERIFY2(all == "DM09" || (map == "fit" && all == "DM09 DM09"), all.c_str());
    for (const PlanIssue& issue : plan.errors) {
        const DeviceId id = *DeviceId::parse(issue.key);
        const uint64_t need = deviceRow(plan, id)->parts.total();
        const uint64_t excess = need - deviceRow(plan, id)->limit;
        int applied = 0;
        for (const std::string& step : inEnglish(issue.suggestions)) {
            const auto frees = step.find(": frees ");
            if (frees == std::string::npos) {
                continue;
            }
            const PlacementPlan after =
                makePlan(stepped(request, plan, QString::fromStdString(step)));
            const std::string codes = codesOf(after.errors);
            QVERIFY2(codes.empty() || codes.find_first_not_of("DM09 ") == std::string::npos,
                     (step + " -> " + codes).c_str());
            const uint64_t left = deviceRow(after, id)->parts.total();
            QVERIFY2(left < need, step.c_str());
            const std::string freed = formatByteCount(need - left);
            const std::string enough = need - left >= excess ? " (enough by itself)" : "";
            QVERIFY2(step.substr(frees).starts_with(": frees " + freed + enough + ","),
                     (step + " -> " + freed).c_str());
            ++applied;
        }
        // A head in 8 bits alone can be more than the card has.
        QVERIFY(applied > 0 || (map == "fit" && issue.suggestions.size() == 1));
    }
}

/// `fit` never puts layers on disk, so its advice does: as keys of the document it has made.
void TestPlanner::fitAdvisesDisk() {
    PlanRequest request = requestFor(publishedModel("E4B"), 1, uint64_t{3314} << 20U);
    useModelRules(request);
    request.preset = "fit";
    request.limits = {{DeviceId::cpu(), uint64_t{2155} << 20U}};
    const PlacementPlan plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM09 DM09"));
    QVERIFY(mentions(inEnglish(plan.notes),
                     "it keeps layers in memory: on disk, read anew for every token, "
                     "only a map puts them"));
    PlanRequest moved = request;
    PlacementPlan after = plan;
    for (const PlanIssue& issue : plan.errors) {
        const std::vector<std::string> steps = inEnglish(issue.suggestions);
        const auto step =
            std::find_if(steps.begin(), steps.end(), [&issue](const std::string& text) {
                return text.starts_with("move layers ") &&
                       text.find(" to disk (computed on " + issue.key + "): frees ") !=
                           std::string::npos &&
                       text.find("(enough by itself)") != std::string::npos;
            });
        QVERIFY2(step != steps.end(), inEnglish(issue).c_str());
        moved = stepped(moved, after, QString::fromStdString(*step));
        after = makePlan(moved);
    }
    QVERIFY2(after.fits, codesOf(after.errors).c_str());
    // Main memory that simulated cards share: the layers of each device are a step.
    request.limits.clear();
    request.devices[0].free = 4 * kGiB;
    request.devices[1].capacity = request.devices[1].free = uint64_t{1} << 30U;
    const PlacementPlan shared = makePlan(request);
    const auto host =
        std::find_if(shared.errors.begin(), shared.errors.end(), [](const PlanIssue& issue) {
            return inEnglish(issue).find("is this computer's main memory") != std::string::npos;
        });
    QVERIFY(host != shared.errors.end());
    QVERIFY(mentions(inEnglish(host->suggestions), "to disk (computed on cpu): frees "));
}

void TestPlanner::stepsForTheLargestPart() {
    // A long chat: the cache is the largest part, and the first step is about it.
    PlanRequest request = requestFor(publishedModel("E4B"), 1, 3 * kGiB, false);
    useModelRules(request);
    request.preset = "lean";
    request.quant = Format::Nf4Dq;
    request.context = 131072;
    PlacementPlan plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    const DevicePlan* card = deviceRow(plan, DeviceId::cuda(0));
    if (card->parts[MemoryPart::Kv] > card->parts[MemoryPart::Weights]) {
        QVERIFY(inEnglish(plan.errors[0].suggestions[0]).starts_with("use a context of"));
    }
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions), "use a context of"));
    // A card that only computes: the scratch is.
    const std::string away = R"({"store": "cpu", "compute": "cuda:0", "residency": "stream"})";
    request = requestFor(goldenModel("e2b"), 1, 1U << 16U, false);
    useModelRules(request);
    request.context = 4096;
    request.prefill_chunk = 2048;
    request.map = *parseDeviceMap(native("", away), {});
    plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    card = deviceRow(plan, DeviceId::cuda(0));
    QVERIFY(card->parts[MemoryPart::Workspace] > card->parts[MemoryPart::Weights]);
    QVERIFY(card->parts[MemoryPart::Workspace] > card->parts[MemoryPart::Kv]);
    QVERIFY2(inEnglish(plan.errors[0].suggestions[0]).starts_with("use --prefill-chunk 128: frees"),
             inEnglish(plan.errors[0].suggestions[0]).c_str());
    // The head, and layers, for main memory too.
    request = requestFor(e2b(), 0, 0);
    useModelRules(request);
    request.preset = "cpu";
    request.quant = Format::Nf4Dq;
    request.devices[0].capacity = request.devices[0].free = 2 * kGiB;
    plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions),
                     "use --head int8 and move model.language_model.embed_tokens to disk (computed "
                     "on cpu), with lm_head kept as a copy of its own (\"lm_head\": {\"store\": "
                     "\"cpu\", \"compute\": \"cpu\", \"duplicate_tied\": true})"));
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions), "move layers "));
    QVERIFY(mentions(inEnglish(plan.errors[0].suggestions), "-34 to disk (computed on cpu)"));
}

void TestPlanner::stepsThatAreNotEnough() {
    PlanRequest request = requestFor(e2b(), 0, 0);
    useModelRules(request);
    request.preset = "cpu";
    request.devices[0].capacity = request.devices[0].free = 20U << 20U;
    PlacementPlan plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    QVERIFY(
        inEnglish(plan.errors[0].suggestions.back()).starts_with("all of this together leaves "));
    QVERIFY(inEnglish(plan.errors[0].suggestions.back()).find("too much") != std::string::npos);
    // Enough: nothing is said.
    request.devices[0].capacity = request.devices[0].free = 8 * kGiB;
    plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM09"));
    QVERIFY(!mentions(inEnglish(plan.errors[0].suggestions), "together leaves"));
}

void TestPlanner::notJudgedWhenUnplaced() {
    PlanRequest request = mapped(e2b(), R"({"model.language_model": "sim:0"})");
    request.limits[DeviceId::sim(0)] = 1;
    const PlacementPlan plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM03"));
    QVERIFY(!plan.fits);
    // A misspelt key and too little memory are both reported.
    request = mapped(e2b(), R"({"": "sim:0", "model.visoin_tower": "cpu"})");
    request.limits[DeviceId::sim(0)] = 1;
    QCOMPARE(codesOf(makePlan(request).errors), std::string("DM02 DM09"));
}

void TestPlanner::oneDeviceMovesNothing() {
    const PlacementPlan plan = makePlan(mapped(e2b(), native("")));
    QVERIFY(plan.transfers_per_token.empty());
    QVERIFY(plan.warnings.empty());
    QVERIFY(plan.notes.empty());
}

// Layers on disk in a format that the checkpoint has not: what is read for a token, and how long it
// takes, is the checkpoint's, unless a cache keeps what was made.
void TestPlanner::madeAtEveryUse() {
    PlanRequest request = mapped(e2b(), native(R"("model.language_model.layers":
        {"store": "disk", "compute": "sim:0", "residency": "stream"})"));
    const auto read = [](const PlacementPlan& plan) {
        return transfer(plan, DeviceId::disk(), DeviceId::sim(0), "streamed weights");
    };
    const PlacementPlan stored = makePlan(request);
    QVERIFY(stored.notes.empty());
    request.quant = Format::Nf4;
    const PlacementPlan made = makePlan(request);
    QVERIFY(read(stored) > 0);
    QCOMPARE(read(made), read(stored));
    QVERIFY(made.estimate.decode_tokens_per_s < stored.estimate.decode_tokens_per_s);
    QCOMPARE(made.notes.size(), size_t{1});
    QVERIFY2(inEnglish(made.notes[0]).find("made from the checkpoint at every use") !=
                 std::string::npos,
             inEnglish(made.notes[0]).c_str());
    request.has_weight_cache = true;
    const PlacementPlan cached = makePlan(request);
    QVERIFY(read(cached) < read(stored) * 3 / 10);
    QVERIFY(cached.estimate.decode_tokens_per_s > stored.estimate.decode_tokens_per_s);
    QVERIFY(cached.notes.empty());
}

// A processor reads blocks of GGUF files at a smaller share of its memory's rate, a card does not.
void TestPlanner::blocksOnTheProcessor() {
    const auto speed = [](Format packed) {
        PlanRequest request = mapped(e2b(), native("", "\"cpu\""));
        for (const ExpectedTensor& tensor : listTensors(request.config)) {
            StoredTensor& stored = request.stored[tensor.name];
            if (tensor.kind == TensorKind::Linear && tensor.tower == Tower::Language) {
                stored.packed = packed;
                stored.block_size = 32;
            }
        }
        return makePlan(request).estimate.decode_tokens_per_s;
    };
    // 18 bytes for 32 values, and 20: 16 for the codes and an fp32 scale.
    QVERIFY(speed(Format::Q4_0) < speed(Format::Int4));
    QCOMPARE(bandwidthShare(DeviceId::cuda(0), true), bandwidthShare(DeviceId::cuda(0), false));
}

void TestPlanner::splitStack() {
    // Layers 0-19 and the head on sim:0, 20-34 on sim:1: two hops of the hidden state.
    const PlacementPlan plan =
        makePlan(mapped(e2b(), native(R"("model.layers.[20-34]": "sim:1")")));
    QVERIFY(plan.fits);
    QCOMPARE(transfer(plan, DeviceId::sim(0), DeviceId::sim(1), "hidden state"),
             uint64_t{1536 * 4});
    QCOMPARE(transfer(plan, DeviceId::sim(1), DeviceId::sim(0), "hidden state"),
             uint64_t{1536 * 4});
    // Slices of the per-layer input for 15 layers.
    QCOMPARE(transfer(plan, DeviceId::sim(0), DeviceId::sim(1), "per-layer input slice"),
             uint64_t{15 * 256 * 4});
    QCOMPARE(codesOf(plan.warnings), std::string("DM20 DM20"));
    // The per-layer table on the CPU sends one row.
    const PlacementPlan table =
        makePlan(mapped(e2b(), native(R"("model.embed_tokens_per_layer": {"store": "cpu"})")));
    QCOMPARE(transfer(table, DeviceId::cpu(), DeviceId::sim(0), "per-layer embedding row"),
             uint64_t{17'920});
    QCOMPARE(table.transfers_per_token.size(), size_t{1});
}

// Layer 20 of E2B reads the KV of layer 13; alone on another device it needs a mirror.
void TestPlanner::kvReadersElsewhere() {
    const PlacementPlan plan = makePlan(mapped(e2b(), native(R"("model.layers.20": "sim:1")")));
    QCOMPARE(codesOf(plan.warnings), std::string("DM20"));
    QVERIFY2(inEnglish(plan.warnings[0])
                 .starts_with("layer 20 on sim:1 reads the keys and values of layer 13"),
             inEnglish(plan.warnings[0]).c_str());
    QVERIFY2(inEnglish(plan.warnings[0]).find("1024 bytes per token") != std::string::npos,
             inEnglish(plan.warnings[0]).c_str());
    QCOMPARE(transfer(plan, DeviceId::sim(0), DeviceId::sim(1), "KV mirror"), uint64_t{1024});
    const uint64_t window = 512 - 1 + 512; // ring of the window and one chunk
    QCOMPARE(deviceRow(plan, DeviceId::sim(1))->parts[MemoryPart::Kv], window * 1024);
    // All readers elsewhere: 3 KB per token, both owners mirrored once.
    const PlacementPlan all = makePlan(mapped(e2b(), native(R"("model.layers.[15-34]": "sim:1")")));
    QCOMPARE(transfer(all, DeviceId::sim(0), DeviceId::sim(1), "KV mirror"), uint64_t{3072});
    QCOMPARE(deviceRow(all, DeviceId::sim(1))->parts[MemoryPart::Kv], window * 1024 + 4096 * 2048);
    // Owners elsewhere: the mirror is where the readers are; E4B sends 6 KB.
    const Model e4b = publishedModel("E4B");
    const PlacementPlan four = makePlan(mapped(e4b, native(R"("model.layers.[0-23]": "sim:1")")));
    QCOMPARE(transfer(four, DeviceId::sim(1), DeviceId::sim(0), "KV mirror"), uint64_t{6144});
    QCOMPARE(kvMirrors(e4b.config, four).size(), size_t{2});
    // The same with the model's own rules.
    PlanRequest exact = mapped(e2b(), native(R"("model.layers.[15-34]": "sim:1")"));
    useModelRules(exact);
    const PlacementPlan exact_plan = makePlan(exact);
    const auto kv = kvBytesPerDevice(e2b().config, exact_plan);
    for (const auto& [id, bytes] : kv) {
        QCOMPARE(deviceRow(exact_plan, id)->parts[MemoryPart::Kv], bytes);
    }
    QCOMPARE(kv.size(), size_t{2});
    // fp32 cache on the float32 path.
    PlanRequest reference = mapped(e2b(), native(R"("model.layers.20": "sim:1")"));
    reference.is_reference_precision = true;
    const PlacementPlan wide = makePlan(reference);
    QCOMPARE(deviceRow(wide, DeviceId::sim(1))->parts[MemoryPart::Kv], 2 * window * 1024);
    QCOMPARE(transfer(wide, DeviceId::sim(0), DeviceId::sim(1), "KV mirror"), uint64_t{2048});
    // Codes and a scale to whole 16 bytes, on both paths; the option beats the map.
    for (const bool is_reference : {false, true}) {
        for (const bool is_mapped : {false, true}) {
            const std::string format = is_mapped ? "q8" : "bf16";
            PlanRequest codes =
                mapped(e2b(), R"({"version": 1, "default": "sim:0", "map": {"model.layers.20": )"
                              R"("sim:1"}, "kv": {"format": ")" +
                                  format + R"("}})");
            codes.kv_format = is_mapped ? Format::AsStored : Format::Q8;
            codes.is_reference_precision = is_reference;
            const PlacementPlan small = makePlan(codes);
            QCOMPARE(deviceRow(small, DeviceId::sim(1))->parts[MemoryPart::Kv],
                     window * 2 * (256 + 16));
            QCOMPARE(transfer(small, DeviceId::sim(0), DeviceId::sim(1), "KV mirror"),
                     uint64_t{544});
        }
    }
}

void TestPlanner::kvPlace() {
    const PlacementPlan plan = makePlan(
        mapped(e2b(),
               R"({"version": 1, "default": "sim:0", "map": {"model.layers.[20-34]": "sim:1"},
            "kv": {"place": "sim:1", "context": 8192}})"));
    QVERIFY(plan.fits);
    QCOMPARE(plan.context, int64_t{8192});
    QVERIFY(std::all_of(plan.kv_device.begin(), plan.kv_device.end(),
                        [](const DeviceId& id) { return id == DeviceId::sim(1); }));
    QCOMPARE(deviceRow(plan, DeviceId::sim(0))->parts[MemoryPart::Kv], uint64_t{0});
    QCOMPARE(deviceRow(plan, DeviceId::sim(1))->parts[MemoryPart::Kv],
             uint64_t{12 * 1023 * 1024 + 3 * 8192 * 2048});
    // Readers 15-19 stay on sim:0 and are flagged; no mirror is needed.
    QCOMPARE(codesOf(plan.warnings), std::string("DM20"));
    QCOMPARE(plan.warnings[0].modules.size(), size_t{5});
    QVERIFY2(inEnglish(plan.warnings[0]).starts_with("layers 15-19 on sim:0 read keys and values"),
             inEnglish(plan.warnings[0]).c_str());
    QCOMPARE(transfer(plan, DeviceId::sim(0), DeviceId::sim(1), "KV mirror"), uint64_t{0});
    QVERIFY(transfer(plan, DeviceId::sim(0), DeviceId::sim(1), "queries, keys and values") > 0);
    // A device that is not there is one complaint.
    const PlacementPlan missing =
        makePlan(mapped(e2b(), R"({"version": 1, "default": "sim:0", "kv": {"place": "sim:9"}})"));
    QCOMPARE(codesOf(missing.errors), std::string("DM04"));
    QCOMPARE(codesOf(missing.warnings), std::string());
    const PlacementPlan layers = makePlan(
        mapped(e2b(), native(R"("model.layers.20": "sim:9", "model.layers.3.mlp": "sim:9")")));
    QCOMPARE(codesOf(layers.errors), std::string("DM04 DM04"));
    QCOMPARE(codesOf(layers.warnings), std::string());
    // follow_layer is the default, said or not.
    const PlacementPlan follow = makePlan(
        mapped(e2b(), R"({"version": 1, "default": "sim:0", "kv": {"place": "follow_layer"}})"));
    QCOMPARE(follow.kv_device.front(), DeviceId::sim(0));
}

void TestPlanner::splitLayer() {
    const PlacementPlan plan = makePlan(mapped(
        e2b(), native(R"("model.layers.[3-5].mlp": "cpu", "model.layers.9.mlp.down_proj": "sim:1",
            "model.layers.12.input_layernorm": "cpu")")));
    QVERIFY(plan.fits);
    QCOMPARE(codesOf(plan.warnings), std::string("DM21 DM21")); // a norm elsewhere is no split
    QCOMPARE(plan.warnings[0].modules.size(), size_t{3});
    QCOMPARE(plan.warnings[0].modules[0], std::string("model.language_model.layers.3"));
    // gate and up: 1536 in, 6144 out each; down: 6144 in, 1536 out.
    const uint64_t in = uint64_t{4} * (1536 + 1536 + 6144);
    const uint64_t out = uint64_t{4} * (6144 + 6144 + 1536);
    QVERIFY(inEnglish(plan.warnings[0]).find(std::to_string(3 * (in + out)) + " bytes") !=
            std::string::npos);
    QCOMPARE(transfer(plan, DeviceId::sim(0), DeviceId::cpu(), "input of a split layer"), 3 * in);
    QCOMPARE(transfer(plan, DeviceId::cpu(), DeviceId::sim(0), "output of a split layer"), 3 * out);
    QVERIFY(inEnglish(plan.warnings[1]).find("layer 9 computes on sim:0 and sim:1") !=
            std::string::npos);
    // The device of a layer is that of its q_proj.
    const PlacementPlan query =
        makePlan(mapped(e2b(), native(R"("model.layers.3.self_attn.q_proj": "sim:1")")));
    QCOMPARE(query.kv_device[3], DeviceId::sim(1));
    QCOMPARE(codesOf(query.warnings), std::string("DM21"));
}

void TestPlanner::streamedWeights() {
    const PlacementPlan plan = makePlan(
        mapped(e2b(), native(R"("model.layers.0": {"store": "cpu"}, "model.layers.1": "disk",
            "model.embed_tokens_per_layer": {"store": "cpu"}, "model.vision_tower": {"store": "cpu"})")));
    QCOMPARE(transfer(plan, DeviceId::cpu(), DeviceId::sim(0), "streamed weights"),
             uint64_t{72'368'130});
    QCOMPARE(transfer(plan, DeviceId::disk(), DeviceId::sim(0), "streamed weights"),
             uint64_t{72'368'130});
    const PlacementPlan plain = makePlan(mapped(e2b(), native("")));
    QVERIFY(plan.estimate.decode_tokens_per_s < plain.estimate.decode_tokens_per_s);
    QVERIFY(plan.estimate.image_s > plain.estimate.image_s); // the visit
    QVERIFY(plan.estimate.prefill_tokens_per_s > 0);
}

void TestPlanner::modelBlock() {
    const auto warned = [](const std::string& block) {
        return codesOf(makePlan(mapped(e2b(), R"({"version": 1, "model": )" + block +
                                                  R"(, "default": "sim:0"})"))
                           .warnings);
    };
    QCOMPARE(warned(R"({"architecture": "gemma4", "layers": 35})"), std::string());
    QCOMPARE(warned(R"({"architecture": "Gemma4ForConditionalGeneration"})"), std::string());
    QCOMPARE(warned(R"({"layers": 42})"), std::string("DM22"));
    QCOMPARE(warned(R"({"architecture": "llama", "layers": 42})"), std::string("DM22 DM22"));
    const PlacementPlan plan = makePlan(
        mapped(e2b(), "{\"version\": 1,\n \"model\": {\"layers\": 42}, \"default\": \"sim:0\"}"));
    QVERIFY(plan.fits); // a warning only
    QCOMPARE(plan.warnings[0].line, 2);
}

void TestPlanner::contextOptions() {
    PlanRequest request =
        mapped(e2b(), R"({"version": 1, "default": "sim:0", "kv": {"context": 2000}})");
    QCOMPARE(makePlan(request).context, int64_t{2000});
    request.context = 3000; // the option beats the map
    QCOMPARE(makePlan(request).context, int64_t{3000});
    request.context = 1'000'000;
    const PlacementPlan clamped = makePlan(request);
    QCOMPARE(clamped.context, int64_t{131072});
    QVERIFY(mentions(inEnglish(clamped.notes), "1000000"));
    PlanRequest none = mapped(e2b(), native(""));
    QCOMPARE(makePlan(none).context, int64_t{4096});
}

void TestPlanner::kvFormats() {
    const auto errors = [](const char* format) {
        return codesOf(
            makePlan(mapped(e2b(), R"({"version": 1, "default": "sim:0", "kv": {"format": ")" +
                                       std::string(format) + "\"}}"))
                .errors);
    };
    QCOMPARE(errors("bf16"), std::string());
    QCOMPARE(errors("q8"), std::string());
    QCOMPARE(errors("f16"), std::string("DM10"));
}

void TestPlanner::adapters() {
    const std::string places =
        R"("model.vision_tower": {"store": "cpu"}, "model.audio_tower": "cpu",
        "model.language_model.layers.[1-2]": {"store": "cpu", "compute": "sim:0"},
        "model.language_model.layers.3": {"store": "disk", "compute": "sim:0"})";
    PlanRequest request = mapped(e2b(), native(places));
    const std::string layer = "model.language_model.layers.";
    const std::string vision = "model.vision_tower.encoder.layers.";
    request.adapters = {
        {layer + "0.mlp.up_proj.weight", 100, false, 5, 100},
        {"model.audio_tower.layers.0.self_attn.q_proj.linear.weight", 3, false, 0, 3},
        {"lm_head.weight", 4000, false, 0, 4000},
        {layer + "20.self_attn.k_proj.weight", 50000, false, 0, 50000},
        // What follows travels: two of the vision tower and, from two adapters, of one layer.
        {vision + "0.mlp.up_proj.linear.weight", 20, false, 0, 20},
        {vision + "1.mlp.up_proj.linear.weight", 40, false, 0, 40},
        {layer + "1.mlp.up_proj.weight", 300, false, 0, 300},
        {layer + "1.mlp.up_proj.weight", 500, false, 0, 500},
        {layer + "2.mlp.up_proj.weight", 700, false, 0, 600}, // 100 are a replacement
        {layer + "3.mlp.up_proj.weight", 790, false, 0, 790},
    };
    const auto adapterBytes = [](const PlacementPlan& plan, DeviceId id) {
        return deviceRow(plan, id)->parts[MemoryPart::Adapter];
    };
    const auto streamed = [](const PlacementPlan& plan, DeviceId from) {
        for (const TransferPerToken& row : plan.transfers_per_token) {
            if (row.what == Travel::StreamedAdapter && row.from == from) {
                return row.bytes;
            }
        }
        return uint64_t{0};
    };
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    QVERIFY(plan.adapters_follow_base);
    // On the compute device of a base that stays; a tensor that is never loaded has none. Stored
    // with a base that travels, with room for twice the largest (layer 1's two) and for a visit.
    QCOMPARE(adapterBytes(plan, DeviceId::sim(0)),
             uint64_t{100 + 5 + 4000 + 100 + 2 * 800 + 20 + 40});
    QCOMPARE(adapterBytes(plan, DeviceId::cpu()), uint64_t{3 + 20 + 40 + 300 + 500 + 600});
    QCOMPARE(streamed(plan, DeviceId::cpu()), uint64_t{300 + 500 + 600});
    QCOMPARE(streamed(plan, DeviceId::disk()), uint64_t{790});
    QVERIFY(mentions(inEnglish(plan.notes), "layers.20.self_attn.k_proj"));
    QVERIFY(mentions(inEnglish(plan.notes), "the adapter replaces 1 weight that travels"));
    QCOMPARE(codesOf(plan.warnings), std::string());

    const auto asked = [&](const std::string& place) {
        PlanRequest other = request;
        other.map = *parseDeviceMap(R"({"version": 1, "default": "sim:0", "map": {)" + places +
                                        R"(}, "adapter": {"place": ")" + place + "\"}}",
                                    {});
        return makePlan(other);
    };
    QCOMPARE(adapterBytes(asked("follow_base"), DeviceId::sim(0)),
             adapterBytes(plan, DeviceId::sim(0)));
    const PlacementPlan compute = asked("follow_compute");
    QVERIFY(!compute.adapters_follow_base);
    QCOMPARE(adapterBytes(compute, DeviceId::cpu()), uint64_t{3});
    QCOMPARE(adapterBytes(compute, DeviceId::sim(0)),
             uint64_t{100 + 5 + 4000 + 20 + 40 + 300 + 500 + 700 + 790});
    QCOMPARE(streamed(compute, DeviceId::cpu()), uint64_t{0});
    QVERIFY(!mentions(inEnglish(compute.notes), "the adapter replaces"));
}

void TestPlanner::modules() {
    PlanRequest request = mapped(e2b(), native(R"("model.vision_tower.encoder.layers.0": "cpu",
        "model.layers.3": {"format": "bf16"})"));
    request.quant = Format::Nf4;
    const PlacementPlan plan = makePlan(request);
    uint64_t sum = 0;
    std::map<std::string, ModulePlacement> by_name;
    for (const ModulePlacement& module : plan.modules) {
        sum += module.bytes;
        QVERIFY2(by_name.emplace(module.name, module).second, module.name.c_str());
    }
    QCOMPARE(sum, weights(plan, DeviceId::sim(0)) + weights(plan, DeviceId::cpu()));
    QCOMPARE(by_name.size(), size_t{35 + 9 + 1}); // + lm_head, tied: no bytes of its own
    QCOMPARE(by_name.at("lm_head").bytes, uint64_t{0});
    QVERIFY(by_name.at("model.vision_tower").is_mixed);
    QVERIFY(!by_name.at("model.language_model.layers.0").is_mixed); // norms in bf16 do not count
    QCOMPARE(by_name.at("model.language_model.layers.0").format, Format::Nf4);
    QCOMPARE(by_name.at("model.language_model.layers.3").format, Format::AsStored);
    QCOMPARE(by_name.at("model.vision_tower").store, DeviceId::sim(0));
    QCOMPARE(by_name.at("model.vision_tower").format, Format::Nf4);
}

void TestPlanner::presets_data() {
    support::addColumns<QString, quint64>("preset", "gpu");
    QTest::addRow("gpu") << "gpu" << quint64{kTotal};
    QTest::addRow("towers-cpu") << "towers-cpu" << quint64{kTotal - kVision - kAudio};
    QTest::addRow("ple-cpu") << "ple-cpu" << quint64{kTotal - kPle};
    QTest::addRow("lean") << "lean" << quint64{kTotal - kPle - kVision - kAudio};
    QTest::addRow("cpu") << "cpu" << quint64{0};
}

void TestPlanner::presets() {
    QFETCH(QString, preset);
    QFETCH(quint64, gpu);
    PlanRequest request = requestFor(e2b(), 2, 64 * kGiB);
    request.preset = preset.toStdString();
    PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    QCOMPARE(weights(plan, DeviceId::sim(0)), gpu);
    QCOMPARE(weights(plan, DeviceId::cpu()), kTotal - gpu);
    // With a head of its own the token table is rows only, which "lean" leaves in main memory; the
    // document says so whatever head is asked for later.
    request.head = Format::Q8;
    plan = makePlan(request);
    QVERIFY(plan.fits);
    const TensorPlacement* table = plan.find("model.language_model.embed_tokens.weight");
    const DeviceId main = preset == "cpu" ? DeviceId::cpu() : DeviceId::sim(0);
    QCOMPARE(table->compute, preset == "lean" ? DeviceId::cpu() : main);
    QCOMPARE(plan.find("lm_head.weight")->compute, main);
    for (const Format head : {Format::Q8, Format::AsStored}) {
        PlanRequest document = request;
        document.head = head;
        document.map = *parseDeviceMap(plan.map_text, {});
        const PlacementPlan again = makePlan(document);
        QVERIFY(again.fits);
        QCOMPARE(again.find("model.language_model.embed_tokens.weight")->compute, table->compute);
    }
    request.head = Format::AsStored;
    // cuda is taken before sim.
    request.devices.push_back(device(DeviceId::cuda(1), 64 * kGiB));
    plan = makePlan(request);
    QCOMPARE(weights(plan, DeviceId::cuda(1)), gpu);
    QCOMPARE(weights(plan, DeviceId::sim(0)), uint64_t{0});
    // Models without audio or per-layer embeddings have the same presets.
    const Model dense = publishedModel("31B");
    PlanRequest other = requestFor(dense, 1, 128 * kGiB);
    other.devices[0] = device(DeviceId::cpu(), 128 * kGiB);
    other.preset = preset.toStdString();
    plan = makePlan(other);
    QVERIFY2(plan.fits, plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
}

void TestPlanner::presetsWithoutGpu() {
    PlanRequest request = requestFor(e2b(), 0, 0);
    request.preset = "lean";
    const PlacementPlan plan = makePlan(request);
    QCOMPARE(codesOf(plan.errors), std::string("DM04"));
    QVERIFY(!plan.fits);
    request.preset = "gpus";
    QCOMPARE(codesOf(makePlan(request).errors), std::string("DM01"));
    QVERIFY(inEnglish(makePlan(request).errors[0]).find("towers-cpu") != std::string::npos);
}

// Experts on the CPU: a row goes there and a sum comes back for each layer, the time is that of the
// experts that a token uses and of two hops, and too small a card is told to do so.
void TestPlanner::expertsElsewhere() {
    const Model model = publishedModel("26B-A4B");
    PlanRequest request = requestFor(model, 1, 64 * kGiB, false);
    useModelRules(request);
    request.quant = Format::Nf4Dq;
    request.quantizes_experts = true;
    request.preset = "gpu";
    const PlacementPlan all = makePlan(request);
    request.preset = "experts-cpu";
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits && plan.warnings.empty());
    const auto layers = static_cast<uint64_t>(model.config.text.num_layers);
    uint64_t bytes = 0;
    for (const ModulePlacement& module : plan.modules) {
        if (module.part.role == PartRole::Experts) {
            QCOMPARE(module.name, "model.language_model.layers." +
                                      std::to_string(module.part.layer) + ".experts");
            QVERIFY(module.store == DeviceId::cpu() && module.compute == DeviceId::cpu());
            QCOMPARE(module.format, Format::Nf4Dq);
            bytes += module.bytes;
        } else if (module.part.role == PartRole::Layer) {
            QVERIFY(module.compute == DeviceId::cuda(0) && !module.is_mixed);
        }
    }
    QCOMPARE(deviceRow(plan, DeviceId::cpu())->parts[MemoryPart::Weights], bytes);
    QCOMPARE(deviceRow(plan, DeviceId::cuda(0))->parts[MemoryPart::Weights] + bytes,
             deviceRow(all, DeviceId::cuda(0))->parts[MemoryPart::Weights]);
    const uint64_t rows = layers * 4 * static_cast<uint64_t>(model.config.text.hidden_size);
    QCOMPARE(plan.transfers_per_token.size(), size_t{2});
    for (const TransferPerToken& transfer : plan.transfers_per_token) {
        QCOMPARE(transfer.bytes, rows);
    }
    const double read = static_cast<double>(bytes) * 8 / 128;
    const double more =
        read / (0.80 * 60e9) - read / (0.85 * 360e9) + 2 * 20e-6 * static_cast<double>(layers);
    const double took =
        1 / plan.estimate.decode_tokens_per_s - 1 / all.estimate.decode_tokens_per_s;
    QVERIFY2(std::abs(took - more) < 1e-9, qPrintable(QString::number(took)));
    // Prompts are computed on the card: the experts travel once a chunk.
    QVERIFY(plan.estimate.prefill_tokens_per_s > all.estimate.prefill_tokens_per_s / 4);
    QVERIFY(plan.estimate.prefill_tokens_per_s <
            static_cast<double>(plan.prefill_chunk) / (static_cast<double>(bytes) / 12e9));

    request.preset = "gpu";
    request.devices[1].capacity = request.devices[1].free = 8 * kGiB;
    const PlacementPlan over = makePlan(request);
    QCOMPARE(codesOf(over.errors), std::string("DM09"));
    QVERIFY(mentions({inEnglish(over.errors[0])}, "experts of layers 0-29"));
    const auto& steps = over.errors[0].suggestions;
    const auto step = std::find_if(steps.begin(), steps.end(), [](const Suggestion& suggestion) {
        return inEnglish(suggestion.words).starts_with("move experts of layers 0-");
    });
    QVERIFY(step != steps.end());
    QVERIFY(step->repair->is_enough);
    QVERIFY(mentions({inEnglish(step->words)}, "per token"));
    // As few as are enough, and without them it is too much.
    const MapMove& move = step->repair->moves.at(0);
    QVERIFY(move.module.ends_with(".experts"));
    QVERIFY(step->repair->frees <
            deviceRow(over, DeviceId::cuda(0))->parts.total() - 8 * kGiB + bytes / layers + 1);
}

// Copies of experts take what was asked for, or what is left on the card, at most all of them, and
// so many of a token's are read there; what the kernels cannot read, and who holds all on one
// device, gets none.
void TestPlanner::copiesOfExperts() {
    const Model model = publishedModel("26B-A4B");
    PlanRequest request = requestFor(model, 1, 64 * kGiB, false);
    useModelRules(request);
    request.quant = Format::Nf4Dq;
    request.quantizes_experts = true;
    request.preset = "experts-cpu";
    const auto copies = [](const PlacementPlan& plan) {
        return deviceRow(plan, DeviceId::cuda(0))->parts[MemoryPart::Experts];
    };
    const PlacementPlan without = makePlan(request);
    QCOMPARE(copies(without), uint64_t{0});
    const uint64_t experts = deviceRow(without, DeviceId::cpu())->parts[MemoryPart::Weights];
    request.expert_cache = 64 << 10; // no room for one
    QCOMPARE(copies(makePlan(request)), uint64_t{0});
    request.expert_cache = kGiB;
    const PlacementPlan some = makePlan(request);
    QCOMPARE(copies(some), kGiB);
    const double share = static_cast<double>(kGiB) / static_cast<double>(experts);
    const double less =
        share * static_cast<double>(experts) * 8 / 128 * (1 / (0.80 * 60e9) - 1 / (0.85 * 360e9));
    const double saved =
        1 / without.estimate.decode_tokens_per_s - 1 / some.estimate.decode_tokens_per_s;
    QVERIFY2(std::abs(saved - less) < 1e-9, qPrintable(QString::number(saved)));
    request.expert_cache = kAllThatIsLeft;
    const PlacementPlan whole = makePlan(request);
    QVERIFY(copies(whole) > experts && copies(whole) < experts + kGiB / 512);
    request.limits[DeviceId::cuda(0)] = 6 * kGiB;
    const PlacementPlan left = makePlan(request);
    const DevicePlan& card = *deviceRow(left, DeviceId::cuda(0));
    QVERIFY(left.fits && copies(left) > kGiB);
    QVERIFY(card.parts.total() <= card.limit && card.limit - card.parts.total() < kGiB / 8);
    request.is_reference_precision = true;
    QCOMPARE(copies(makePlan(request)), uint64_t{0});
    request.is_reference_precision = false;
    request.preset = "fit";
    request.expert_cache.reset();
    request.limits[DeviceId::cuda(0)] += kGiB / 4;
    const PlacementPlan fit = makePlan(request);
    QVERIFY(fit.fits && copies(fit) > 0);
    QVERIFY(QString::fromStdString(fit.map_text).contains(R"("experts": { "cache": "max" })"));
    request.map = *parseDeviceMap(fit.map_text, {});
    QCOMPARE(copies(makePlan(request)), copies(fit));
    // A size that `fit` has no room for behind what it chose is what is left.
    request.map.reset();
    request.expert_cache = 4 * kGiB;
    const PlacementPlan clamped = makePlan(request);
    QVERIFY(clamped.fits);
    QCOMPARE(copies(clamped), copies(fit));
}

TEST_CLASS(TestPlanner)
#include "tst_planner.moc"
