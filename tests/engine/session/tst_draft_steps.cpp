// SPDX-License-Identifier: Apache-2.0
// Drafts as a recording of fused steps that the card chooses (engine/forward/drafts/draft_step.h),
// with the real kernels on the CPU: each is the token with the largest logit by the single
// functions, or one that rounding puts beside it, over 4-bit and 16-bit weights, heads of 256 and
// 512, heads in groups, both conventions of positions, wherever the window is; a round needs no
// launch of the single functions. A round that went another way would prove nothing: each is seen
// to run.
#include "engine/devices/gpu_access.h"
#include "engine/files/checkpoint.h"
#include "engine/load/loader.h"
#include "engine/plan/planner.h"
#include "engine/run/opened_model.h"
#include "engine/run/planning.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/tiny_model.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

namespace {

/// Logits so close, as a share of the largest, may be exchanged: as far as fused rows may be from
/// single functions (tst_check_rows.cpp), here over drafts that are made of each other.
constexpr float kDraftStepsNear = 3e-2F;

/// A model with its assistant on an emulated card.
struct Drafting {
    Drafting(const std::string& model_folder, const std::string& assistant, engine::LoadRequest how)
        : card(support::smallCard()) {
        const engine::GpuAccess access =
            engine::cudaAccess(&card.fake().driver(), {}, support::FakeDriver::images());
        opened = support::must(
            engine::OpenedModel::open(engine::folderCheckpoint(model_folder), true), "model");
        support::must(opened.addAssistant(engine::folderCheckpoint(assistant)), "assistant");
        how.model = model_folder;
        how.device_map = "gpu";
        how.is_text_only = true;
        how.threads = 2;
        engine::HostDeviceOptions options;
        options.threads = 2;
        devices = engine::makeHostDevices(options);
        devices.add(engine::DeviceId::cuda(0),
                    support::must(access.open(0, 0, how.is_reference_precision), "card"));
        plan = engine::makePlan(
            support::must(engine::planRequest(how, opened, engine::machineDevices(how, access), {}),
                          "plan request"));
        store = support::must(engine::load(*opened.source, opened.config, plan, devices.set, {}),
                              "load");
        kv = support::must(engine::KvCache::create(opened.config, plan, devices.set), "cache");
        model = support::must(
            engine::Model::create(opened.config, plan, *store, devices.set, nullptr), "model");
    }

    [[nodiscard]] std::ptrdiff_t count(const std::string& kernel) const {
        return std::count(card.ran().begin(), card.ran().end(), kernel);
    }

    /// The hidden row behind these tokens, which are in the cache then.
    std::vector<float> fill(std::span<const int32_t> ids) {
        engine::ForwardInput input;
        input.ids = ids;
        std::vector<float> logits, hidden;
        input.hidden = &hidden;
        support::must(model->forward(input, *kv, logits, {}), "prompt");
        return hidden;
    }

    /// A round by steps, against the single functions behind the same tokens.
    /// is_fused: as steps; else the single functions make the round as well.
    void compare(int32_t token, const std::vector<float>& hidden, int64_t wanted, bool is_fused);

    support::EmulatedCard card;
    engine::OpenedModel opened;
    engine::OwnedDevices devices;
    engine::PlacementPlan plan;
    std::unique_ptr<engine::TensorStore> store;
    std::unique_ptr<engine::KvCache> kv;
    std::unique_ptr<engine::Model> model;
    int same = 0, near = 0;
};

void Drafting::compare(int32_t token,
                       const std::vector<float>& hidden,
                       int64_t count_wanted,
                       bool is_fused) {
    engine::Drafter& drafter = *model->drafter();
    const bool has_groups = opened.config.assistant->num_centroids > 0;
    const std::string choice = has_groups ? "belfry_draft_groups" : "belfry_draft_largest";
    const auto choices = count(choice);
    const std::vector<int32_t> drafts =
        support::must(drafter.draft(token, count_wanted, hidden, *kv, {}), "drafts");
    QCOMPARE(static_cast<int64_t>(drafts.size()), count_wanted);
    QCOMPARE(count(choice) - choices,
             static_cast<std::ptrdiff_t>(is_fused ? count_wanted : int64_t{0}));

    support::must(drafter.begin(hidden, *kv), "begin");
    for (const int32_t draft : drafts) {
        std::vector<float> logits;
        const int32_t wanted = support::must(drafter.next(token, *kv, &logits), "draft");
        token = draft;
        const engine::ModelConfig& config = opened.config;
        const bool is_placeholder = wanted == config.image_token_id ||
                                    wanted == config.audio_token_id ||
                                    wanted == config.video_token_id;
        if (draft == wanted || (is_placeholder && is_fused)) { // steps never draft such
            ++same;
            continue;
        }
        float largest = 0.0F;
        for (const float logit : logits) {
            largest = std::isfinite(logit) ? std::max(largest, std::abs(logit)) : largest;
        }
        const float gap = logits[static_cast<size_t>(wanted)] - logits[static_cast<size_t>(draft)];
        QVERIFY2(gap <= kDraftStepsNear * largest,
                 qPrintable(QString("%1 in place of %2, %3 of %4 below")
                                .arg(draft)
                                .arg(wanted)
                                .arg(static_cast<double>(gap))
                                .arg(static_cast<double>(largest))));
        ++near;
    }
}

support::TinyShape wideHeadsDraftSteps() {
    support::TinyShape shape = support::wideHeads();
    shape.assistant_hidden = 128; // blocks of 64
    return shape;
}

} // namespace

class TestDraftSteps : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void draftsAreTheSingleOnes_data();
    void draftsAreTheSingleOnes();
    void draftsOfGroups_data();
    void draftsOfGroups();
    void referencePrecisionGoesAlone();
};

void TestDraftSteps::draftsAreTheSingleOnes_data() {
    support::addColumns<QString, QString>("quant", "form");
    QTest::newRow("4 bits") << "nf4-dq"
                            << "belfry_stream";
    QTest::newRow("bf16") << "none"
                          << "belfry_stream_half";
}

void TestDraftSteps::draftsAreTheSingleOnes() {
    QFETCH(const QString, quant);
    QFETCH(const QString, form);
    QTemporaryDir folder;
    const std::string model = (folder.path() + "/model").toStdString();
    const std::string assistant = (folder.path() + "/assistant").toStdString();
    support::writeTinyModel(model, wideHeadsDraftSteps());
    support::writeTinyAssistant(assistant, model, wideHeadsDraftSteps());
    engine::LoadRequest request;
    request.quant = quant.toStdString();
    request.head = "int8";
    request.context = 96;
    request.prefill_chunk = 8;
    Drafting on(model, assistant, request);
    // Behind 3 to 44 tokens: before, across and behind the window of 12, and round the ring.
    for (int64_t turn = 0; turn < 8; ++turn) {
        std::vector<int32_t> ids(turn == 0 ? 3 : 1 + turn);
        for (int32_t& id : ids) {
            id = support::idAt(on.kv->size() + (&id - ids.data()));
        }
        const std::vector<float> hidden = on.fill(ids);
        on.model->drafter()->setPosition(turn % 3 == 2 ? engine::DraftPosition::BeforeToken
                                                       : engine::DraftPosition::OfToken);
        const auto launches = on.count(form.toStdString());
        on.compare(support::idAt(on.kv->size() + 50), hidden, 3 - turn % 2, true);
        if (QTest::currentTestFailed()) {
            return;
        }
        QVERIFY(on.count(form.toStdString()) > launches);
        if (turn == 4) { // a tail that was turned down
            QVERIFY(on.kv->truncate(on.kv->size() - 2));
            on.compare(support::idAt(7), hidden, 2, true);
        }
    }
    QVERIFY2(on.same > 4 * on.near, qPrintable(QString("%1 of %2").arg(on.near).arg(on.same)));
    QCOMPARE(on.card.finish(), std::string());
    QVERIFY(on.card.fake().violations().empty());
}

void TestDraftSteps::draftsOfGroups_data() {
    support::addColumns<QString, bool>("family", "is_fused");
    QTest::newRow("e2b") << "e2b" << true;
    QTest::newRow("e4b, heads of 24") << "e4b" << false;
    QTest::newRow("dense31b") << "dense31b" << true;
}

/// The golden assistants: tables in groups or not, heads of 16; such as no step takes.
void TestDraftSteps::draftsOfGroups() {
    QFETCH(const QString, family);
    QFETCH(const bool, is_fused);
    const std::string name = family.toStdString();
    engine::LoadRequest request;
    request.context = 96;
    Drafting on((support::goldenDir() / name / "model").string(),
                (support::testDataDir() / "assistants" / name / "model").string(), request);
    for (int64_t turn = 0; turn < 4; ++turn) {
        std::vector<int32_t> ids(4 + 5 * turn);
        for (int32_t& id : ids) {
            id = support::idAt(on.kv->size() + (&id - ids.data()));
        }
        const std::vector<float> hidden = on.fill(ids);
        on.compare(support::idAt(on.kv->size() + 9), hidden, 3, is_fused);
        if (QTest::currentTestFailed()) {
            return;
        }
    }
    QVERIFY2(on.same > 2 * on.near, qPrintable(QString("%1 of %2").arg(on.near).arg(on.same)));
    QCOMPARE(on.card.finish(), std::string());
    QVERIFY(on.card.fake().violations().empty());
}

/// In float32 drafts are the reference's own functions.
void TestDraftSteps::referencePrecisionGoesAlone() {
    QTemporaryDir folder;
    const std::string model = (folder.path() + "/model").toStdString();
    const std::string assistant = (folder.path() + "/assistant").toStdString();
    support::writeTinyModel(model, wideHeadsDraftSteps());
    support::writeTinyAssistant(assistant, model, wideHeadsDraftSteps());
    engine::LoadRequest request;
    request.is_reference_precision = true;
    request.context = 32;
    Drafting on(model, assistant, request);
    const std::vector<float> hidden = on.fill(std::vector<int32_t>{2, 40, 50});
    const auto drafts =
        support::must(on.model->drafter()->draft(60, 2, hidden, *on.kv, {}), "drafts");
    QCOMPARE(drafts.size(), size_t{2});
    QCOMPARE(on.count("belfry_draft_largest"), std::ptrdiff_t{0});
}

TEST_CLASS(TestDraftSteps)
#include "tst_draft_steps.moc"
