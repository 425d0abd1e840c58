// SPDX-License-Identifier: Apache-2.0
// The fit solver against brute force: every member of its family of plans is written out as a map
// and planned; whenever one of them fits, so must the solver's, and none may be cheaper. Against
// the presets, with random limits; the order of its sacrifices; formats it may change.
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <random>

using namespace engine;
using namespace planfixture;

namespace {

PlaceFields at(DeviceId store, DeviceId compute) {
    PlaceFields fields;
    fields.store = store;
    fields.compute = compute;
    return fields;
}

void put(DeviceMap& map, const std::string& key, DeviceId store, DeviceId compute) {
    MapEntry entry;
    entry.key = key;
    entry.fields = at(store, compute);
    map.entries.push_back(std::move(entry));
}

/// Every choice of how many of the first layers of each card's part have their experts on the CPU,
/// added to `map`. `visit` returns false to stop.
bool eachOfExperts(const DeviceMap& map,
                   const std::vector<std::pair<int, int>>& parts, ///< Layers [first, second).
                   size_t part,
                   const std::function<bool(const DeviceMap&)>& visit) {
    if (part == parts.size()) {
        return visit(map);
    }
    DeviceMap more = map;
    const auto [from, to] = parts[part];
    for (int i = from; i <= to; ++i) {
        if (!eachOfExperts(more, parts, part + 1, visit)) {
            return false;
        }
        put(more, "model.layers." + std::to_string(i) + ".experts", DeviceId::cpu(),
            DeviceId::cpu());
    }
    return true;
}

/// All members of the family, written from its description: consecutive layers on the GPUs in
/// order and the rest on the CPU, of each part the experts of the first layers there as well; head,
/// towers and tables each on any GPU, the CPU or (towers and tables) on disk. `visit` returns false
/// to stop.
void eachMember(const Model& model,
                const std::vector<DeviceId>& gpus,
                const std::function<bool(const DeviceMap&)>& visit) {
    const int layers = static_cast<int>(model.config.text.num_layers);
    std::vector<DeviceId> computing = gpus;
    computing.push_back(DeviceId::cpu());
    std::vector<DeviceId> storing = computing;
    storing.push_back(DeviceId::disk());
    const auto computes = [](DeviceId store) {
        return store == DeviceId::disk() ? DeviceId::cpu() : store;
    };
    const bool has_second = gpus.size() > 1;
    const bool has_tables = model.config.text.ple_size > 0;
    const bool has_audio = model.config.audio.has_value();
    const std::vector<DeviceId> nowhere = {DeviceId::cpu()};
    for (int first = gpus.empty() ? 0 : layers; first >= 0; --first) {
        for (int second = has_second ? layers : first; second >= first; --second) {
            std::vector<DeviceId> of_layer;
            for (int i = 0; i < layers; ++i) {
                of_layer.push_back(i < first ? gpus[0] : i < second ? gpus[1] : DeviceId::cpu());
            }
            for (const DeviceId head : computing) {
                for (const DeviceId table : has_tables ? storing : nowhere) {
                    for (const DeviceId audio : has_audio ? storing : nowhere) {
                        for (const DeviceId vision : storing) {
                            DeviceMap map;
                            map.has_default = true;
                            map.default_fields = at(of_layer[0], of_layer[0]);
                            for (int i = 0; i < layers; ++i) {
                                const DeviceId device = of_layer[static_cast<size_t>(i)];
                                put(map, "model.layers." + std::to_string(i), device, device);
                            }
                            put(map, "model.embed_tokens", head, head);
                            put(map, "model.norm", head, head);
                            if (has_tables) {
                                put(map, "model.embed_tokens_per_layer", table, computes(table));
                            }
                            if (has_audio) {
                                put(map, "model.audio_tower", audio, computes(audio));
                                put(map, "model.embed_audio", audio, computes(audio));
                            }
                            for (const char* key : {"model.vision_tower", "model.embed_vision"}) {
                                put(map, key, vision, computes(vision));
                            }
                            std::vector<std::pair<int, int>> parts;
                            if (model.config.text.has_moe) {
                                parts = {{0, first}, {first, second}};
                            }
                            if (!eachOfExperts(map, parts, 0, visit)) {
                                return;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A card that is faster than the CPU, so that the order of places matters.
PlanRequest cardRequest(const Model& model, int gpus, uint64_t bytes, uint64_t cpu_bytes) {
    PlanRequest request = requestFor(model, gpus, bytes, false);
    request.devices[0].capacity = request.devices[0].free = cpu_bytes;
    request.preset = "fit";
    useModelRules(request);
    return request;
}

} // namespace

class TestFit : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void bruteForce_data();
    void bruteForce();
    void predictsThePlan_data();
    void predictsThePlan();
    void beatsPresets_data();
    void beatsPresets();
    void sacrificesInOrder();
    void formatsOnlyWhenAllowed();
    void headBeforeLayers();
    void quantizesNothingUnasked();
    void ownHead();
    void simulatedAsTheCard_data();
    void simulatedAsTheCard();
    void fillsASimulatedCard_data();
    void fillsASimulatedCard();
    void leavesASlowerCard();
    void adapterScratchCounts();
    void dutiesAsThePlanSays_data();
    void dutiesAsThePlanSays();
    void nothingFits();
    void simulatedInMainMemory();
    void explains();
    void experts_data();
    void experts();
    void fewExpertsForTheProcessor();
};

void TestFit::bruteForce_data() {
    support::addColumns<QString, int, int>("model", "gpus", "cases");
    QTest::addRow("e2b, no GPU") << "e2b" << 0 << 10;
    QTest::addRow("e2b, one GPU") << "e2b" << 1 << 12;
    QTest::addRow("e2b, two GPUs") << "e2b" << 2 << 1;
    QTest::addRow("e2b, two unlike GPUs") << "e2b" << -2 << 2;
    QTest::addRow("e4b, one GPU") << "e4b" << 1 << 6;
    QTest::addRow("moe26b, one GPU") << "moe26b" << 1 << 24;
    QTest::addRow("moe26b, two GPUs") << "moe26b" << 2 << 6;
    QTest::addRow("moe26b, two unlike GPUs") << "moe26b" << -2 << 2;
}

// Random limits: the solver fits exactly when some member fits, no member that fits decodes faster,
// and none of those that decode as fast takes less time for media.
void TestFit::bruteForce() {
    QFETCH(QString, model);
    QFETCH(int, gpus);
    QFETCH(int, cases);
    const bool are_unlike = gpus < 0;
    gpus = std::abs(gpus);
    const Model tiny = goldenModel(model.toStdString());
    std::mt19937 random(static_cast<unsigned>(gpus) * 100U + 5U);
    std::vector<DeviceId> ids;
    for (int i = 0; i < gpus; ++i) {
        ids.push_back(DeviceId::cuda(i));
    }
    PlanRequest whole = cardRequest(tiny, gpus, 64 * kGiB, 64 * kGiB);
    whole.context = 64;
    whole.prefill_chunk = 8;
    whole.preset = gpus > 0 ? "gpu" : "cpu";
    const PlacementPlan all = makePlan(whole);
    const DeviceId home = gpus > 0 ? DeviceId::cuda(0) : DeviceId::cpu();
    const uint64_t need = deviceRow(all, home)->parts.total();
    int fitting = 0;
    int refused = 0;
    for (int k = 0; k < cases; ++k) {
        const auto share = [&](unsigned from, unsigned to) {
            return need * (from + random() % (to - from)) / 100U;
        };
        PlanRequest request = cardRequest(tiny, gpus, gpus > 0 ? share(2, 105) : 0, share(40, 200));
        request.context = 64;
        request.prefill_chunk = 8;
        if (are_unlike) {
            DeviceInfo& second = request.devices[2];
            second.capacity = second.free = need * (1 + k) / 3;
            second.rates.read_bytes_per_s = 900e9;
            second.rates.flops = 100e12;
        }
        if (k % 2 == 1) {
            const std::string layer = tiny.config.text.has_moe
                                          ? "model.language_model.layers.1.experts.gate_up_proj"
                                          : "model.language_model.layers.1.mlp.up_proj.weight";
            request.adapters = {
                {layer, need / 50, false, need / 100},
                {"model.language_model.embed_tokens.weight", need / 60, true, need / 90}};
        }
        const FitResult fit = fitDeviceMap(request);
        PlanRequest member = request;
        member.wants_advice = false;
        double best = 0;
        double best_media = 1e9;
        bool some_fits = false;
        const auto mediaOf = [](const PlacementPlan& plan) {
            return plan.estimate.image_s + 10 * plan.estimate.audio_s_per_s;
        };
        eachMember(tiny, ids, [&](const DeviceMap& map) {
            member.map = map;
            const PlacementPlan plan = makePlan(member);
            if (plan.fits) {
                some_fits = true;
                const double speed = plan.estimate.decode_tokens_per_s;
                if (speed > best * (1 + 1e-6)) {
                    best_media = 1e9;
                }
                if (speed > best * (1 - 1e-6)) {
                    best_media = std::min(best_media, mediaOf(plan));
                }
                best = std::max(best, speed);
            }
            return true;
        });
        QCOMPARE(fit.fits, some_fits);
        const PlacementPlan plan = makePlan(request);
        QVERIFY2(plan.fits == some_fits,
                 plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
        if (some_fits) {
            QVERIFY2(
                plan.estimate.decode_tokens_per_s >= best * (1 - 1e-6),
                qPrintable(
                    QString("%1 against %2").arg(plan.estimate.decode_tokens_per_s).arg(best)));
            QVERIFY2(mediaOf(plan) <= best_media * (1 + 1e-6),
                     qPrintable(QString("%1 against %2").arg(mediaOf(plan)).arg(best_media)));
        }
        ++(some_fits ? fitting : refused);
    }
    qInfo("%d limits with a plan, %d without", fitting, refused);
    QVERIFY(fitting > 0);
}

void TestFit::predictsThePlan_data() {
    support::addColumns<QString, int, bool>("size", "gpus", "has_adapter");
    for (const char* size : {"E2B", "E4B", "31B", "26B-A4B"}) {
        for (const int gpus : {0, 1, 2, 4}) {
            QTest::addRow("%s %d GPUs", size, gpus) << size << gpus << false;
        }
        QTest::addRow("%s 1 GPU, adapter", size) << size << 1 << true;
    }
}

// The solver adds bytes up by blocks; the planner's own sums must agree for random limits: what the
// solver says fits, fits, and what it says does not, does not.
void TestFit::predictsThePlan() {
    QFETCH(QString, size);
    QFETCH(int, gpus);
    QFETCH(bool, has_adapter);
    const Model model = publishedModel(size.toStdString());
    std::mt19937 random(11);
    int fitting = 0;
    for (int k = 0; k < 12; ++k) {
        PlanRequest request = cardRequest(model, gpus, uint64_t{256U + random() % 12000U} << 20U,
                                          uint64_t{1024U + random() % 48000U} << 20U);
        request.quant = k % 3 == 0 ? Format::AsStored : Format::Nf4Dq;
        request.quantizes_experts = true;
        request.head = k % 2 == 0 ? Format::AsStored : Format::Q8;
        request.context = 1024 << (k % 4);
        if (has_adapter) {
            for (const ExpectedTensor& tensor : model.tensors) {
                const bool is_experts = tensor.kind == TensorKind::Experts;
                if ((tensor.kind == TensorKind::Linear || is_experts) && !tensor.is_unused) {
                    request.adapters.push_back({tensor.name, 64'000, false, 500'000});
                }
            }
            request.adapters.push_back(
                {"model.language_model.embed_tokens.weight", 9'000'000, true, 700'000});
        }
        const FitResult fit = fitDeviceMap(request);
        const PlacementPlan plan = makePlan(request);
        QVERIFY2(
            plan.fits == fit.fits,
            (std::to_string(k) + (plan.errors.empty() ? "" : inEnglish(plan.errors[0]))).c_str());
        QVERIFY(fit.fits || codesOf(plan.errors).starts_with("DM09"));
        fitting += fit.fits ? 1 : 0;
    }
    qInfo("%d of 12 fit", fitting);
    QVERIFY(fitting > 0);
}

void TestFit::beatsPresets_data() {
    support::addColumns<QString, int>("size", "quant");
    for (const char* size : {"E2B", "E4B"}) {
        QTest::addRow("%s bf16", size) << size << static_cast<int>(Format::AsStored);
        QTest::addRow("%s nf4-dq", size) << size << static_cast<int>(Format::Nf4Dq);
    }
    QTest::addRow("26B-A4B nf4-dq") << "26B-A4B" << static_cast<int>(Format::Nf4Dq);
}

void TestFit::beatsPresets() {
    QFETCH(QString, size);
    QFETCH(int, quant);
    const Model model = publishedModel(size.toStdString());
    std::mt19937 random(3);
    int compared = 0;
    for (int k = 0; k < 25; ++k) {
        PlanRequest request = cardRequest(model, 1, uint64_t{512U + random() % 18000U} << 20U,
                                          uint64_t{2048U + random() % 30000U} << 20U);
        request.quant = static_cast<Format>(quant);
        request.quantizes_experts = true;
        const PlacementPlan fit = makePlan(request);
        for (const std::string& preset : devicePresets()) {
            request.preset = preset;
            const PlacementPlan plan = makePlan(request);
            if (!plan.fits) {
                continue;
            }
            ++compared;
            QVERIFY2(fit.fits, preset.c_str());
            QVERIFY2(fit.estimate.decode_tokens_per_s >=
                         plan.estimate.decode_tokens_per_s * (1 - 1e-6),
                     qPrintable(QString("%1: %2 against %3")
                                    .arg(QString::fromStdString(preset))
                                    .arg(fit.estimate.decode_tokens_per_s)
                                    .arg(plan.estimate.decode_tokens_per_s)));
        }
    }
    qInfo("%d presets compared", compared);
    QVERIFY(compared > 10);
}

// As memory shrinks: nothing moves, then the per-layer table, then the audio tower, then the
// vision tower, and only then layers.
void TestFit::sacrificesInOrder() {
    const Model model = publishedModel("E2B");
    PlanRequest request = cardRequest(model, 1, 64 * kGiB, 64 * kGiB);
    request.quant = Format::Nf4Dq;
    int stage = 0;
    std::vector<int> seen(5, 0);
    for (uint64_t mib = 8000; mib >= 400; mib -= 100) {
        request.devices[1].capacity = request.devices[1].free = mib << 20U;
        const PlacementPlan plan = makePlan(request);
        QVERIFY2(plan.fits, plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
        const auto is_away = [&plan](const char* tensor) {
            return !plan.find(tensor)->compute.isGpu();
        };
        const bool has_table = is_away("model.language_model.embed_tokens_per_layer.weight");
        const bool has_audio = is_away("model.audio_tower.output_proj.weight");
        const bool has_vision = is_away("model.vision_tower.patch_embedder.input_proj.weight");
        const bool has_layers = std::any_of(plan.kv_device.begin(), plan.kv_device.end(),
                                            [](const DeviceId& id) { return !id.isGpu(); });
        const bool has_head = is_away("model.language_model.embed_tokens.weight");
        const int now = has_layers || has_head ? 4
                        : has_vision           ? 3
                        : has_audio            ? 2
                        : has_table            ? 1
                                               : 0;
        QVERIFY2(now >= stage, qPrintable(QString("%1 MiB").arg(mib)));
        QVERIFY(!has_audio || has_table);
        QVERIFY(!has_vision || has_audio);
        stage = now;
        ++seen[static_cast<size_t>(now)];
        // Layers that left are the last ones, in one block.
        bool is_gone = false;
        for (const DeviceId& device : plan.kv_device) {
            QVERIFY(!is_gone || !device.isGpu());
            is_gone = !device.isGpu();
        }
    }
    for (const int stage_index : {0, 1, 4}) {
        QVERIFY2(seen[static_cast<size_t>(stage_index)] > 0,
                 qPrintable(QString::number(stage_index)));
    }
    QVERIFY(seen[2] + seen[3] > 0);
}

void TestFit::formatsOnlyWhenAllowed() {
    const Model model = publishedModel("E2B");
    PlanRequest request = cardRequest(model, 1, 2 * kGiB, 64 * kGiB);
    request.context = 4096;
    request.quant = Format::Nf4Dq;
    const FitResult plain = fitDeviceMap(request);
    QCOMPARE(plain.head, Format::AsStored);
    QCOMPARE(plain.quant, Format::Nf4Dq);
    request.may_change_head = true;
    const FitResult head = fitDeviceMap(request);
    QVERIFY(head.fits);
    // A smaller head comes before layers on the CPU, not before towers and tables.
    PlanRequest large = request;
    large.devices[1].capacity = large.devices[1].free = 64 * kGiB;
    QCOMPARE(fitDeviceMap(large).head, Format::AsStored);
    PlanRequest tight = request;
    tight.devices[1].capacity = tight.devices[1].free = 1700U << 20U;
    const FitResult small = fitDeviceMap(tight);
    QVERIFY(small.fits);
    QVERIFY(small.head != Format::AsStored);
    const PlacementPlan plan = makePlan(tight);
    QVERIFY(plan.find("lm_head.weight") != nullptr);
    QVERIFY(plan.find("lm_head.weight")->compute.isGpu());
    QVERIFY(!plan.find("model.language_model.embed_tokens.weight")->store.isGpu());
    QCOMPARE(plan.kv_device.back(), DeviceId::cuda(0));
    // Quantizing what was asked for in bf16.
    PlanRequest dense = cardRequest(model, 1, 4 * kGiB, 64 * kGiB);
    QCOMPARE(fitDeviceMap(dense).quant, Format::AsStored);
    dense.may_quantize = true;
    QCOMPARE(fitDeviceMap(dense).quant, Format::Nf4);
    QVERIFY(makePlan(dense).fits);
}

void TestFit::headBeforeLayers() {
    // E4B on 3 GiB: without a smaller head eight layers would leave.
    const Model model = publishedModel("E4B");
    PlanRequest request = cardRequest(model, 1, 3 * kGiB, 64 * kGiB);
    request.quant = Format::Nf4Dq;
    const PlacementPlan kept = makePlan(request);
    QVERIFY(kept.fits);
    QCOMPARE(kept.find("lm_head.weight"), nullptr);
    QCOMPARE(kept.kv_device.back(), DeviceId::cpu());
    request.may_change_head = true;
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    QCOMPARE(plan.find("lm_head.weight")->format, Format::Q8);
    QCOMPARE(plan.kv_device.back(), DeviceId::cuda(0));
    QVERIFY(plan.estimate.decode_tokens_per_s > 1.5 * kept.estimate.decode_tokens_per_s);
    QVERIFY(mentions(inEnglish(plan.notes), "head in int8"));
    QVERIFY(mentions(inEnglish(plan.notes), "--head bf16 keeps"));
    // The map says it all: what was explained is what is loaded from it.
    PlanRequest later = request;
    later.may_change_head = false;
    later.preset = "gpu";
    later.map = *parseDeviceMap(plan.map_text, {});
    const PlacementPlan loaded = makePlan(later);
    QVERIFY(loaded.fits);
    QCOMPARE(loaded.tensors.size(), plan.tensors.size());
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        QCOMPARE(loaded.tensors[i].tensor, plan.tensors[i].tensor);
        QCOMPARE(loaded.tensors[i].format, plan.tensors[i].format);
        QCOMPARE(loaded.tensors[i].store, plan.tensors[i].store);
        QCOMPARE(loaded.tensors[i].bytes, plan.tensors[i].bytes);
    }
    // With room the head stays as it is.
    request.devices[1].capacity = request.devices[1].free = 6 * kGiB;
    QCOMPARE(makePlan(request).find("lm_head.weight"), nullptr);
}

void TestFit::quantizesNothingUnasked() {
    const Model model = publishedModel("E4B");
    PlanRequest request = cardRequest(model, 1, 6 * kGiB, 64 * kGiB);
    request.may_change_head = true;
    PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    QCOMPARE(plan.kv_device.back(), DeviceId::cpu());
    QCOMPARE(plan.find("model.language_model.layers.0.mlp.up_proj.weight")->format,
             Format::AsStored);
    QVERIFY(mentions(inEnglish(plan.notes), "with --quant nf4 it would be about"));
    request.quant = Format::Nf4;
    plan = makePlan(request);
    QVERIFY(plan.fits);
    QVERIFY(!mentions(inEnglish(plan.notes), "--quant"));
}

void TestFit::ownHead() {
    // --head int8: the bf16 table is only read by rows and leaves the GPU when room is short.
    const Model model = publishedModel("E2B");
    PlanRequest request = cardRequest(model, 1, 1900U << 20U, 64 * kGiB);
    request.quant = Format::Nf4Dq;
    request.head = Format::Q8;
    const PlacementPlan plan = makePlan(request);
    QVERIFY2(plan.fits, plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
    QCOMPARE(plan.find("lm_head.weight")->store, DeviceId::cuda(0));
    QCOMPARE(plan.find("lm_head.weight")->format, Format::Q8);
    QCOMPARE(plan.find("model.language_model.embed_tokens.weight")->store, DeviceId::cpu());
    QCOMPARE(plan.kv_device.back(), DeviceId::cuda(0));
}

void TestFit::simulatedAsTheCard_data() {
    support::addColumns<QString, int>("size", "gpus");
    QTest::addRow("E2B") << "E2B" << 1;
    QTest::addRow("E4B") << "E4B" << 1;
    QTest::addRow("E4B, two") << "E4B" << 2;
}

// On simulated GPUs fit chooses what it would choose on cards of their size, although the rates
// measured for them are the processor's. (With those rates a simulated GPU looked slower than the
// CPU: tables went there and layers did not.)
void TestFit::simulatedAsTheCard() {
    QFETCH(QString, size);
    QFETCH(int, gpus);
    const Model model = publishedModel(size.toStdString());
    for (const Format head : {Format::AsStored, Format::Q8}) {
        for (uint64_t mib = 700; mib < 12'000; mib += 450) {
            PlanRequest card = cardRequest(model, gpus, mib << 20U, 64 * kGiB);
            card.quant = Format::Nf4Dq;
            card.head = head;
            // Scratch differs between the two kinds; what is compared is the choice.
            card.workspace_bytes = nullptr;
            card.duty_bytes = nullptr;
            PlanRequest simulated = card;
            for (DeviceInfo& device : simulated.devices) {
                device.rates.read_bytes_per_s = 28e9;
                device.rates.flops = 0.5e12;
                if (device.id.isGpu()) {
                    device.id = DeviceId::sim(device.id.index);
                }
            }
            card.devices[0].rates = simulated.devices[0].rates;
            const PlacementPlan on_cards = makePlan(card);
            const PlacementPlan on_sims = makePlan(simulated);
            QCOMPARE(on_sims.fits, on_cards.fits);
            QString wanted = QString::fromStdString(on_cards.map_text);
            wanted.replace("cuda:", "sim:");
            QCOMPARE(QString::fromStdString(on_sims.map_text), wanted);
            QVERIFY(mentions(inEnglish(on_sims.notes), "mid-range card"));
        }
    }
}

void TestFit::fillsASimulatedCard_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"e2b", "e4b", "dense31b", "moe26b"}) {
        QTest::newRow(name) << name;
    }
}

// A model so small that a card's cost per layer is most of its time fills a simulated card, whose
// layers the processor computes either way: only the per-layer table was there before. Where it has
// too little room, layers leave from the end and what fits stays.
void TestFit::fillsASimulatedCard() {
    QFETCH(QString, name);
    const Model model = goldenModel(name.toStdString());
    PlanRequest request = requestFor(model, 1, 4 * kGiB);
    useModelRules(request);
    request.preset = "fit";
    request.devices[0].rates.read_bytes_per_s = 20e9;
    request.devices[0].rates.flops = 0.1e12;
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    for (const TensorPlacement& row : plan.tensors) {
        QVERIFY2(row.store == DeviceId::sim(0) && row.compute == DeviceId::sim(0),
                 row.tensor.c_str());
    }
    const uint64_t all = deviceRow(plan, DeviceId::sim(0))->parts.total();
    request.devices[1].capacity = request.devices[1].free = all * 3 / 4;
    const PlacementPlan less = makePlan(request);
    QVERIFY(less.fits);
    QCOMPARE(less.kv_device.front(), DeviceId::sim(0));
    QVERIFY(deviceRow(less, DeviceId::sim(0))->parts.total() > all / 4);
}

// On a card, whose start costs time for every layer, such a model really is slower: it stays with
// the processor, whole, and a note says why.
void TestFit::leavesASlowerCard() {
    PlanRequest request = requestFor(goldenModel("e2b"), 1, 4 * kGiB, false);
    useModelRules(request);
    request.preset = "fit";
    request.devices[0].rates.flops = 10e12; // towers too
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    QCOMPARE(deviceRow(plan, DeviceId::cuda(0))->parts.total(), uint64_t{0});
    QVERIFY(mentions(inEnglish(plan.notes), "; what is elsewhere is computed faster there"));
    // A model of usual size does not, and nothing is said.
    const PlacementPlan large =
        makePlan(cardRequest(publishedModel("E2B"), 1, 6 * kGiB, 64 * kGiB));
    QVERIFY(large.fits);
    QVERIFY(!mentions(inEnglish(large.notes), "faster there"));
}

// An adapter's scratch decides: with it a layer more leaves the card.
void TestFit::adapterScratchCounts() {
    const Model model = publishedModel("E2B");
    PlanRequest request = cardRequest(model, 1, 2 * kGiB, 64 * kGiB);
    request.quant = Format::Nf4Dq;
    request.adapters.push_back(
        {"model.language_model.layers.0.mlp.up_proj.weight", 1'000'000, false, 0});
    const PlacementPlan plain = makePlan(request);
    QVERIFY(plain.fits);
    const uint64_t free = deviceRow(plain, DeviceId::cuda(0))->limit -
                          deviceRow(plain, DeviceId::cuda(0))->parts.total();
    request.adapters[0].scratch_bytes = free + 1;
    const PlacementPlan larger = makePlan(request);
    QVERIFY2(larger.fits, larger.errors.empty() ? "" : inEnglish(larger.errors[0]).c_str());
    QVERIFY(larger.map_text != plain.map_text);
    request.adapters[0].scratch_bytes = free;
    QCOMPARE(makePlan(request).map_text, plain.map_text);
}

void TestFit::dutiesAsThePlanSays_data() {
    QTest::addColumn<QString>("size");
    for (const char* size : {"E2B", "E4B", "31B", "26B-A4B"}) {
        QTest::newRow(size) << size;
    }
}

// Scratch by duties, which fit uses, equals scratch by the rows of a plan, which the loader uses.
void TestFit::dutiesAsThePlanSays() {
    QFETCH(QString, size);
    const Model model = publishedModel(size.toStdString());
    const auto layers = static_cast<int>(model.config.text.num_layers);
    const DutyScratch rules(model.config, model.tensors);
    for (const bool is_sim : {true, false}) {
        const DeviceId gpu = is_sim ? DeviceId::sim(0) : DeviceId::cuda(0);
        for (unsigned bits = 1; bits < (model.config.text.has_moe ? 64 : 32); ++bits) {
            const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
            DeviceMap map;
            map.has_default = true;
            map.default_fields = at(DeviceId::cpu(), DeviceId::cpu());
            DeviceDuties duties;
            duties.layers = has(0) ? layers / 2 : 0;
            for (int i = 0; i < duties.layers; ++i) {
                put(map, "model.layers." + std::to_string(i), gpu, gpu);
            }
            duties.has_experts = has(5);
            for (int i = layers / 2; has(5) && i < layers; ++i) {
                put(map, "model.layers." + std::to_string(i) + ".experts", gpu, gpu);
            }
            duties.has_head = has(1);
            if (has(1)) {
                put(map, "model.embed_tokens", gpu, gpu);
                put(map, "model.norm", gpu, gpu);
            }
            duties.has_ple_projection = has(2) && model.config.text.ple_size > 0;
            if (duties.has_ple_projection) {
                put(map, "model.per_layer_model_projection", gpu, gpu);
                put(map, "model.per_layer_projection_norm", gpu, gpu);
            }
            // Towers visit in every other plan.
            using Duty = DeviceDuties::Tower;
            const DeviceId store = bits % 2 == 0 ? DeviceId::cpu() : gpu;
            const Duty duty = bits % 2 == 0 ? Duty::Visiting : Duty::Resident;
            if (has(3) && model.config.vision.has_value()) {
                put(map, "model.vision_tower", store, gpu);
                put(map, "model.embed_vision", store, gpu);
                duties.vision = duty;
            }
            if (has(4) && model.config.audio.has_value()) {
                put(map, "model.audio_tower", store, gpu);
                put(map, "model.embed_audio", store, gpu);
                duties.audio = duty;
            }
            PlanRequest request = requestFor(model, 1, 512 * kGiB, is_sim);
            request.devices[0].capacity = request.devices[0].free = 512 * kGiB;
            useModelRules(request);
            request.map = map;
            const PlacementPlan plan = makePlan(request);
            QVERIFY2(plan.fits, plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
            QCOMPARE(rules.bytes(runShape(model.config, plan), gpu.kind, duties),
                     deviceRow(plan, gpu)->parts[MemoryPart::Workspace]);
        }
    }
}

void TestFit::nothingFits() {
    const Model model = publishedModel("E2B");
    PlanRequest request = cardRequest(model, 1, 100U << 20U, 200U << 20U);
    const FitResult fit = fitDeviceMap(request);
    QVERIFY(!fit.fits);
    QVERIFY(mentions(inEnglish(fit.steps), "leanest"));
    const PlacementPlan plan = makePlan(request);
    QVERIFY(!plan.fits);
    QVERIFY(codesOf(plan.errors).starts_with("DM09"));
    QCOMPARE(plan.find("model.language_model.embed_tokens_per_layer.weight")->store,
             DeviceId::disk());
}

void TestFit::simulatedInMainMemory() {
    // Two simulated cards that would hold everything, in a computer that cannot: what can stay on
    // disk does, and the plan is one that can be loaded.
    const Model model = publishedModel("E2B");
    PlanRequest request = cardRequest(model, 0, 0, 64 * kGiB);
    request.devices[0].capacity = request.devices[0].free = 6 * kGiB;
    request.devices.push_back(device(DeviceId::sim(0), 64 * kGiB));
    request.devices.push_back(device(DeviceId::sim(1), 64 * kGiB));
    const FitResult fit = fitDeviceMap(request);
    QVERIFY(fit.fits);
    QVERIFY(mentions(inEnglish(fit.steps), "this computer's memory"));
    const PlacementPlan plan = makePlan(request);
    QVERIFY2(plan.fits, plan.errors.empty() ? "" : inEnglish(plan.errors[0]).c_str());
    QCOMPARE(plan.find("model.language_model.embed_tokens_per_layer.weight")->store,
             DeviceId::disk());
    QVERIFY(plan.kv_device.back().isGpu());
    request.devices[0].free = 3 * kGiB;
    QVERIFY(!fitDeviceMap(request).fits);
    QCOMPARE(codesOf(makePlan(request).errors), std::string("DM09"));
}

void TestFit::explains() {
    const Model model = publishedModel("E4B");
    PlanRequest request = cardRequest(model, 1, 4 * kGiB, 64 * kGiB);
    request.quant = Format::Nf4Dq;
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    QVERIFY(mentions(inEnglish(plan.notes), "everything on cuda:0 needs"));
    QVERIFY(mentions(inEnglish(plan.notes),
                     "per-layer embedding table to cpu: 5.25 GiB less on cuda:0"));
    QVERIFY(mentions(inEnglish(plan.notes), "tokens/s"));
    // Layers are told with their price.
    request.devices[1].capacity = request.devices[1].free = 3 * kGiB;
    const PlacementPlan tight = makePlan(request);
    QVERIFY(tight.fits);
    QVERIFY(mentions(inEnglish(tight.notes), "-41 on cpu, one block"));
    QVERIFY(mentions(inEnglish(tight.notes), "more per token"));
    for (const std::string& note : inEnglish(tight.notes)) {
        qInfo("%s", note.c_str());
    }
}

void TestFit::experts_data() {
    support::addColumns<int, int>("gib", "gpus");
    for (const int gib : {4, 8, 12, 16}) {
        QTest::addRow("%d GiB", gib) << gib << 1;
    }
    QTest::addRow("two cards of 6 GiB") << 6 << 2;
}

// 26B in 4 bits: as many experts as a card lacks room for are on the CPU, all layers stay on cards,
// and the steps say so with the price.
void TestFit::experts() {
    QFETCH(int, gib);
    QFETCH(int, gpus);
    const Model model = publishedModel("26B-A4B");
    const auto layers = static_cast<int>(model.config.text.num_layers);
    PlanRequest request = cardRequest(model, gpus, static_cast<uint64_t>(gib) * kGiB, 64 * kGiB);
    request.quant = Format::Nf4Dq;
    request.quantizes_experts = true;
    const PlacementPlan plan = makePlan(request);
    QVERIFY(plan.fits);
    int away = 0;
    uint64_t of_one = 0;
    for (int i = 0; i < layers; ++i) {
        const ModulePlacement* layer = plan.findModule(layerPart(i));
        const ModulePlacement* experts = plan.findModule(expertsPart(i));
        QVERIFY(layer != nullptr && experts != nullptr);
        QVERIFY2(layer->compute.isGpu() && !layer->is_mixed, layer->name.c_str());
        QCOMPARE(experts->store, experts->compute);
        QVERIFY(experts->compute == layer->compute || experts->compute == DeviceId::cpu());
        away += experts->compute == DeviceId::cpu() ? 1 : 0;
        of_one = experts->bytes;
    }
    for (const std::string& note : inEnglish(plan.notes)) {
        qInfo("%s", note.c_str());
    }
    qInfo("experts of %d layers on the CPU, %.1f tokens/s", away,
          plan.estimate.decode_tokens_per_s);
    // No more than make room: a card has no place for those of one layer more.
    for (int g = 0; g < gpus; ++g) {
        const DevicePlan* card = deviceRow(plan, DeviceId::cuda(g));
        QVERIFY(away == 0 || card->limit - card->parts.total() < of_one);
    }
    QCOMPARE(away > 0, gib < 16);
    QCOMPARE(mentions(inEnglish(plan.notes), "experts of layers 0-"), away > 0);
    QCOMPARE(mentions(inEnglish(plan.notes), "a token reads 8 of 128 in each layer"), away > 0);
    // Two lines of a map say it, and mean the same.
    const auto map = parseDeviceMap(plan.map_text, {});
    VERIFY_VALUE(map);
    PlanRequest again = request;
    again.map = *map;
    QCOMPARE(makePlan(again).estimate.decode_tokens_per_s, plan.estimate.decode_tokens_per_s);
    // Whole layers instead, as many as make room, are slower.
    PlanRequest whole = request;
    double best = 0;
    for (int i = 0; i <= layers && gpus == 1; ++i) {
        DeviceMap by_layers;
        by_layers.has_default = true;
        by_layers.default_fields = at(DeviceId::cuda(0), DeviceId::cuda(0));
        if (i < layers) {
            put(by_layers,
                "model.layers.[" + std::to_string(i) + "-" + std::to_string(layers - 1) + "]",
                DeviceId::cpu(), DeviceId::cpu());
        }
        whole.map = by_layers;
        whole.wants_advice = false;
        const PlacementPlan other = makePlan(whole);
        best = std::max(best, other.fits ? other.estimate.decode_tokens_per_s : 0);
    }
    QVERIFY2(away == 0 || plan.estimate.decode_tokens_per_s > best,
             qPrintable(QString::number(best)));
    qInfo("whole layers: %.1f tokens/s", best);
}

// Main memory has too little room for the experts that a card lacks room for: nothing fits, or, a
// little larger, exactly that does.
void TestFit::fewExpertsForTheProcessor() {
    const Model model = publishedModel("26B-A4B");
    PlanRequest request = cardRequest(model, 1, 8 * kGiB, 64 * kGiB);
    request.quant = Format::Nf4Dq;
    request.quantizes_experts = true;
    const PlacementPlan plan = makePlan(request);
    const uint64_t need = deviceRow(plan, DeviceId::cpu())->parts.total();
    request.devices[0].capacity = request.devices[0].free = need;
    QVERIFY(fitDeviceMap(request).fits);
    QVERIFY(makePlan(request).fits);
    request.devices[0].capacity = request.devices[0].free = need / 2;
    QVERIFY(!fitDeviceMap(request).fits);
    QVERIFY(!makePlan(request).fits);
}

TEST_CLASS(TestFit)
#include "tst_fit.moc"
