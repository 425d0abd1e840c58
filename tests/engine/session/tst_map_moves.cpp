// SPDX-License-Identifier: Apache-2.0
// Moves on a map (what the layout editor asks for), the document that comes back with a plan, plans
// for other computers, exports. Shapes without weights: headers decide everything here.
#include "engine/run/engine.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>

namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30U;

engine::LoadRequest e2b(const char* map) {
    engine::LoadRequest request;
    request.model = "shape:e2b";
    request.device_map = map;
    request.quant = "nf4-dq";
    request.sim_gpus = {8 * kGiB};
    return request;
}

engine::MapMove place(const char* module, engine::DeviceId device) {
    engine::MapMove move;
    move.module = module;
    move.store = device;
    move.compute = device;
    return move;
}

const engine::ModulePlacement* moduleOf(const engine::PlacementPlan& plan, const char* name) {
    for (const engine::ModulePlacement& module : plan.modules) {
        if (module.name == name) {
            return &module;
        }
    }
    return nullptr;
}

} // namespace

class TestMapMoves : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void movesEqualPresets();
    void documentPlansTheSame_data();
    void documentPlansTheSame();
    void kvAndHead();
    void otherComputers();
    void fitTakesASmallerHead();
    void exports();
    void exportsOfMapsInError_data();
    void exportsOfMapsInError();
    void exportsOfPlansThatDoNotFit();

private:
    engine::Engine engine_;
};

void TestMapMoves::movesEqualPresets() {
    engine::LoadRequest moved = e2b("gpu");
    for (const char* module :
         {"model.vision_tower", "model.embed_vision", "model.audio_tower", "model.embed_audio",
          "model.language_model.embed_tokens_per_layer"}) {
        moved.moves.push_back(place(module, engine::DeviceId::cpu()));
    }
    const auto a = engine_.plan(moved);
    const auto b = engine_.plan(e2b("lean"));
    QVERIFY(a.has_value() && b.has_value());
    QCOMPARE(a->map_text, b->map_text);
    QVERIFY(!a->map_text.empty());
    QCOMPARE(a->tensors.size(), b->tensors.size());
    for (size_t i = 0; i < a->tensors.size(); ++i) {
        QVERIFY(a->tensors[i].store == b->tensors[i].store);
    }
    // And back again.
    for (engine::MapMove move : std::vector<engine::MapMove>(moved.moves)) {
        moved.moves.push_back(place(move.module.c_str(), engine::DeviceId::sim(0)));
    }
    const auto c = engine_.plan(moved);
    QVERIFY(c.has_value());
    QCOMPARE(c->map_text, engine_.plan(e2b("gpu"))->map_text);
}

void TestMapMoves::documentPlansTheSame_data() {
    QTest::addColumn<QString>("map");
    for (const char* map : {"gpu", "towers-cpu", "ple-cpu", "lean", "cpu", "fit"}) {
        QTest::addRow("%s", map) << QString::fromLatin1(map);
    }
}

void TestMapMoves::documentPlansTheSame() {
    QFETCH(QString, map);
    const auto plan = engine_.plan(e2b(map.toUtf8().constData()));
    QVERIFY(plan.has_value());
    engine::LoadRequest again = e2b("");
    again.device_map = plan->map_text;
    const auto second = engine_.plan(again);
    QVERIFY(second.has_value());
    QCOMPARE(second->map_text, plan->map_text);
    QCOMPARE(second->fits, plan->fits);
    for (size_t i = 0; i < plan->devices.size(); ++i) {
        QVERIFY(second->devices[i].parts == plan->devices[i].parts);
    }
}

void TestMapMoves::kvAndHead() {
    engine::LoadRequest request = e2b("lean");
    request.moves = {place("kv", engine::DeviceId::cpu())};
    const auto kv = engine_.plan(request);
    QVERIFY(kv.has_value());
    QVERIFY(kv->kv_device.front() == engine::DeviceId::cpu());
    engine::MapMove follow;
    follow.kind = engine::MapMove::Kind::Inherit;
    follow.module = "kv";
    request.moves.push_back(follow);
    QCOMPARE(engine_.plan(request)->map_text, engine_.plan(e2b("lean"))->map_text);

    // A head of its own costs its bytes; tying it again gives them back.
    engine::MapMove head = place("lm_head", engine::DeviceId::cpu());
    head.is_tied_copy = true;
    request.moves = {head};
    const auto copied = engine_.plan(request);
    QVERIFY(copied.has_value());
    QVERIFY2(copied->errors.empty(),
             copied->errors.empty() ? "" : engine::inEnglish(copied->errors[0]).c_str());
    QVERIFY(moduleOf(*copied, "lm_head")->bytes > 0);
    QVERIFY(moduleOf(*copied, "lm_head")->store == engine::DeviceId::cpu());
    follow.module = "lm_head";
    request.moves.push_back(follow);
    QCOMPARE(moduleOf(*engine_.plan(request), "lm_head")->bytes, uint64_t{0});
}

void TestMapMoves::otherComputers() {
    engine::LoadRequest request = e2b("gpu");
    request.sim_gpus.clear();
    engine::WhatIfDevice card{
        engine::DeviceId::cuda(0), "RTX 3050", 6 * kGiB, 6 * kGiB, 168e9, 9e12, 8e9};
    engine::WhatIfDevice memory{engine::DeviceId::cpu(), "RAM", 32 * kGiB, 28 * kGiB, 0, 0, 0};
    request.what_if = {card, memory};
    const auto small = engine_.plan(request);
    QVERIFY(small.has_value());
    QVERIFY(!small->fits); // 4.4 GiB of per-layer table do not go on 6 GiB with the rest
    request.device_map = "fit";
    const auto fitted = engine_.plan(request);
    QVERIFY(fitted.has_value() && fitted->fits);
    request.device_map = "lean";
    const double slow = engine_.plan(request)->estimate.decode_tokens_per_s;
    request.what_if[0].read_bytes_per_s = 1000e9;
    QVERIFY(engine_.plan(request)->estimate.decode_tokens_per_s > 1.5 * slow);
    const auto loaded = engine_.load(request, {}, {});
    QVERIFY(!loaded.has_value());
    QCOMPARE(loaded.error().code, engine::ErrorCode::InvalidRequest);
}

void TestMapMoves::fitTakesASmallerHead() {
    engine::LoadRequest request = e2b("fit");
    request.model = "shape:e4b";
    request.quant = "nf4-dq";
    request.sim_gpus.clear();
    request.what_if = {{engine::DeviceId::cuda(0), "card", 3 * kGiB, 3 * kGiB, 360e9, 25e12, 12e9},
                       {engine::DeviceId::cpu(), "RAM", 32 * kGiB, 28 * kGiB, 0, 0, 0}};
    const auto formatOf = [this](const engine::LoadRequest& asked) {
        const auto plan = engine_.plan(asked);
        const engine::TensorPlacement* head =
            plan.has_value() && plan->fits ? plan->find("lm_head.weight") : nullptr;
        return head == nullptr ? engine::Format::AsStored : head->format;
    };
    const auto fitted = engine_.plan(request);
    QVERIFY(fitted.has_value() && fitted->fits);
    QCOMPARE(formatOf(request), engine::Format::Q8);
    // The window keeps the map that was shown, and the options beside it.
    engine::LoadRequest shown = request;
    shown.device_map = fitted->map_text;
    QCOMPARE(formatOf(shown), engine::Format::Q8);
    QCOMPARE(engine_.plan(shown)->map_text, fitted->map_text);
    shown.head = "bf16";
    QCOMPARE(formatOf(shown), engine::Format::Q8);
    // A move on top of the choice keeps it.
    engine::LoadRequest moved = request;
    moved.moves = {{engine::MapMove::Kind::Place, "model.vision_tower", engine::DeviceId::cpu(),
                    engine::DeviceId::cpu()}};
    QCOMPARE(formatOf(moved), engine::Format::Q8);
    // What the user names is left alone; so is the path that answers exactly.
    for (const char* head : {"bf16", "int8", "nf4"}) {
        engine::LoadRequest named = request;
        named.head = head;
        QCOMPARE(formatOf(named), std::string(head) == "bf16"   ? engine::Format::AsStored
                                  : std::string(head) == "int8" ? engine::Format::Q8
                                                                : engine::Format::Nf4Dq);
    }
    engine::LoadRequest exact = request;
    exact.is_reference_precision = true;
    QCOMPARE(formatOf(exact), engine::Format::AsStored);
}

void TestMapMoves::exports() {
    const engine::LoadRequest request = e2b("towers-cpu");
    const auto document = engine_.exportMap(request, engine::MapExport::Kind::Document);
    QCOMPARE(document->text, engine_.plan(request)->map_text);
    // The accelerate form can be read again and says the same about storage.
    engine::LoadRequest again = request;
    again.device_map = engine_.exportMap(request, engine::MapExport::Kind::Accelerate)->text;
    const auto plan = engine_.plan(again);
    QVERIFY(plan.has_value());
    QVERIFY(moduleOf(*plan, "model.vision_tower")->store == engine::DeviceId::cpu());
}

/// What a map in error leaves of a plan is not what the map says: no program gets it.
void TestMapMoves::exportsOfMapsInError_data() {
    support::addColumns<QByteArray, QByteArray>("map", "code");
    QTest::newRow("unknown key") << QByteArray(R"({"": 0, "model.multi_modal_projector": "cpu"})")
                                 << QByteArray("DM02");
    QTest::newRow("uncovered towers")
        << QByteArray(R"({"model.language_model": 0})") << QByteArray("DM03");
    QTest::newRow("no such card")
        << QByteArray(R"({"version": 1, "default": "sim:0", "map": {"model.layers.3": "sim:9"}})")
        << QByteArray("DM04");
    QTest::newRow("contradiction") << QByteArray(R"({"version": 1, "default": "sim:0",
                          "map": {"model.layers.[0-3]": "cpu", "model.layers.2": "sim:0"}})")
                                   << QByteArray("DM05");
    QTest::newRow("tied table in two places")
        << QByteArray(R"({"version": 1, "default": "sim:0", "map": {"lm_head": "cpu"}})")
        << QByteArray("DM07");
    QTest::newRow("impossible pair")
        << QByteArray(
               R"({"version": 1, "default": "sim:0", "map": {"model.layers.2": {"compute": "cpu"}}})")
        << QByteArray("DM08");
    QTest::newRow("default that computes nowhere")
        << QByteArray(R"({"version": 1, "default": "disk"})") << QByteArray("DM08");
}

void TestMapMoves::exportsOfMapsInError() {
    QFETCH(QByteArray, map);
    QFETCH(QByteArray, code);
    using Kind = engine::MapExport::Kind;
    for (const Kind kind : {Kind::Document, Kind::Accelerate}) {
        const auto exported = engine_.exportMap(e2b(map.constData()), kind);
        QVERIFY(!exported.has_value());
        QVERIFY2(exported.error().message.find(code.constData()) != std::string::npos,
                 exported.error().message.c_str());
        QVERIFY(exported.error().code == engine::ErrorCode::InvalidRequest);
    }
}

void TestMapMoves::exportsOfPlansThatDoNotFit() {
    using Kind = engine::MapExport::Kind;
    const engine::LoadRequest request =
        e2b(R"({"version": 1, "default": "sim:0", "limits": {"sim:0": "1MiB"}})");
    for (const Kind kind : {Kind::Document, Kind::Accelerate}) {
        const auto exported = engine_.exportMap(request, kind);
        QVERIFY(exported.has_value());
        QVERIFY(!exported->losses.empty());
        const std::string first = engine::inEnglish(exported->losses[0]);
        QVERIFY2(
            first.starts_with("this plan does not fit: sim:0 needs ") &&
                first.find(" too much (1.00 MiB by the limits of the map). The largest parts: ") !=
                    std::string::npos,
            first.c_str());
    }
}

TEST_CLASS_WITH(QCoreApplication, TestMapMoves)
#include "tst_map_moves.moc"
