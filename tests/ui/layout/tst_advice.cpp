// SPDX-License-Identifier: Apache-2.0
// What stands beside a button is what the button does: 1,000 random maps with too little memory,
// errors among them, and every advice applied as the window and the command line apply it.
#include "engine/plan/plan_advice.h"
#include "engine/run/opened_model.h"
#include "engine/run/planning.h"
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/program/test_class.h"
#include "ui/layout/repair.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <random>
#include <variant>

using namespace engine;
using namespace planfixture;

namespace {

/// A request with everything that its plan depends on.
struct Case {
    LoadRequest request;
    OpenedModel opened;
    std::vector<DeviceInfo> devices;
    std::vector<AdapterFootprint> adapters;

    [[nodiscard]] std::optional<PlacementPlan> plan(const LoadRequest& asked) const {
        Result<PlanRequest> made = planRequest(asked, opened, devices, adapters);
        return made.has_value() ? std::optional<PlacementPlan>(makePlan(*made)) : std::nullopt;
    }
};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}

    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
    bool oneIn(unsigned n) { return below(n) == 0; }
    template <size_t N>
    std::string of(const std::array<const char*, N>& words) {
        return words[below(N)];
    }

    /// A key, of a model with so many layers: most are known, some overlap, some are of no model.
    std::string key(int layers) {
        const auto first = static_cast<int>(below(static_cast<unsigned>(layers)));
        const int last = first + static_cast<int>(below(static_cast<unsigned>(layers - first)));
        const std::string range = "[" + std::to_string(first) + "-" + std::to_string(last) + "]";
        switch (below(12)) {
        case 0:
        case 1:
            return "model.language_model.layers." + range;
        case 2:
            return "model.language_model.layers.[" + std::to_string(first) + "-" +
                   std::to_string(layers + static_cast<int>(below(9))) + "]"; // beyond the last
        case 3:
            return "model.layers." + std::to_string(first);
        case 4:
            return "model.language_model.layers." + range + ".mlp";
        case 5:
            return "model.language_model.layers." + range + ".experts.gate_up_proj";
        case 6:
            return of<5>({"model.visoin_tower", "bogus.[1-2]", "model.language_model.layers.[3-1]",
                          "model.vision_tower.encoder.layers.99",
                          "model.language_model.layers.0.self_attn.q_proj.weight.absmax"});
        case 7:
            return of<3>({"model.language_model", "model.language_model.layers", "lm_head"});
        default:
            return of<6>({"model.vision_tower", "model.embed_vision", "model.audio_tower",
                          "model.language_model.embed_tokens",
                          "model.language_model.embed_tokens_per_layer",
                          "base_model.model.model.language_model.norm"});
        }
    }
    std::string place(const std::string& gpu) {
        return of<4>({"cpu", "disk", gpu.c_str(), gpu.c_str()});
    }
    std::string value(const std::string& gpu) {
        if (!oneIn(3)) {
            return "\"" + place(gpu) + "\"";
        }
        std::string text = R"({"store": ")" + of<2>({"cpu", "disk"}) + R"(", "compute": ")" +
                           of<2>({"cpu", gpu.c_str()}) + "\"";
        text +=
            oneIn(4) ? R"(, "residency": ")" + of<3>({"always", "on_use", "stream"}) + "\"" : "";
        text += oneIn(5) ? R"(, "format": ")" + of<3>({"nf4", "bf16", "q8"}) + "\"" : "";
        text += oneIn(6) ? R"(, "duplicate_tied": true)" : "";
        return text + "}";
    }
    std::string map(const std::string& gpu, int layers) {
        const bool is_imported = oneIn(3);
        std::string text;
        for (unsigned i = below(6); i > 0; --i) {
            const std::string one = "\"" + key(layers) + "\"";
            if (text.find(one) == std::string::npos) {
                text += (text.empty() ? "" : ", ") + one + ": " +
                        (is_imported ? "\"" + place(gpu) + "\"" : value(gpu));
            }
        }
        if (is_imported) {
            return "{\"\": \"" + gpu + "\"" + (text.empty() ? "" : ", " + text) + "}";
        }
        const std::string rest = oneIn(5) ? R"(, "kv": {"place": "cpu"})" : "";
        return R"({"version": 1, "default": )" + (oneIn(4) ? value(gpu) : "\"" + gpu + "\"") +
               R"(, "map": {)" + text + "}" + rest + "}";
    }

private:
    std::mt19937 random_;
};

OpenedModel openedOf(const Model& model) {
    OpenedModel opened;
    opened.config = model.config;
    opened.tensors = model.tensors;
    return opened;
}

/// Bytes of the device, or of all that the host holds, that an error is about.
uint64_t needOf(const PlanIssue& issue, const PlacementPlan& plan) {
    return issue.excess->is_host ? hostNeed(plan)
                                 : deviceRow(plan, issue.excess->device)->parts.total();
}
uint64_t limitOf(const PlanIssue& issue) {
    return issue.excess->limit;
}

/// What the words of a cost tell the time of; 0: of nothing.
double secondsOf(const Sentence& cost, const SpeedEstimate& estimate) {
    const std::string pattern = cost.pattern;
    return pattern == "about %1 per image"           ? estimate.image_s
           : pattern == "about %1 per 10 s of sound" ? 10 * estimate.audio_s_per_s
           : pattern == "about %1 per token"         ? 1 / estimate.decode_tokens_per_s
                                                     : 0;
}

} // namespace

class TestAdvice : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void unknownKey_data();
    void unknownKey();
    void randomMaps();

private:
    /// Applies every advice of the plan; counts those. Empty: each does what it says.
    static std::string lies(const Case& one, const PlacementPlan& plan, int& applied);
};

std::string TestAdvice::lies(const Case& one, const PlacementPlan& plan, int& applied) {
    for (const PlanIssue& issue : plan.errors) {
        for (const Suggestion& suggestion : issue.suggestions) {
            const std::optional<Repair>& repair = suggestion.repair;
            if (!repair.has_value()) {
                continue;
            }
            ++applied;
            const bool is_move = !repair->moves.empty();
            // On the map that was asked for, and on the document that the window has instead.
            LoadRequest shown = one.request;
            shown.device_map = is_move ? plan.map_text : shown.device_map;
            for (const LoadRequest& base : {one.request, shown}) {
                const bool is_fit = is_move && base.device_map == "fit";
                const auto after = one.plan(ui::repaired(is_fit ? shown : base, *repair));
                const std::string told = inEnglish(suggestion) + "\n in " + one.request.device_map +
                                         "\n on " + issue.key;
                if (!after.has_value()) {
                    return "no plan: " + told;
                }
                const uint64_t need = needOf(issue, plan);
                const uint64_t then = needOf(issue, *after);
                if (then >= need || need - then != repair->frees) {
                    return "frees " + std::to_string(need) + " to " + std::to_string(then) + ": " +
                           told;
                }
                if (repair->is_enough != (then <= limitOf(issue))) {
                    return "enough: " + told;
                }
                for (const PlanIssue& found : after->errors) {
                    const bool was_there =
                        std::any_of(plan.errors.begin(), plan.errors.end(), [&](const auto& now) {
                            return now.code == found.code &&
                                   (found.code != "DM09" || now.key == found.key);
                        });
                    if (!was_there) {
                        return inEnglish(found) + ": " + told;
                    }
                }
                const Sentence& cost = std::get<Sentence>(suggestion.words.arguments[2].value);
                const double slower =
                    secondsOf(cost, after->estimate) - secondsOf(cost, plan.estimate);
                const Duration* const time = cost.arguments.empty()
                                                 ? nullptr
                                                 : std::get_if<Duration>(&cost.arguments[0].value);
                if (std::abs((time != nullptr ? time->seconds : 0) - slower) > 1e-9) {
                    return std::to_string(slower) + " s: " + told;
                }
            }
        }
    }
    return {};
}

void TestAdvice::unknownKey_data() {
    QTest::addColumn<QByteArray>("key");
    QTest::newRow("a range of the other form") << QByteArray("model.language_model.layers.[0-5]");
    QTest::newRow("misspelt") << QByteArray("model.visoin_tower");
    QTest::newRow("beyond the layers") << QByteArray("model.language_model.layers.[8-77]");
}

// A tower frees what it has, whatever key stands in the map that the model does not know: the range
// came into force with the first move, and the tower was said to free what the layers have.
void TestAdvice::unknownKey() {
    QFETCH(QByteArray, key);
    const Model model = publishedModel("26B-A4B");
    Case one{{}, openedOf(model), {device(DeviceId::cpu(), 64 * kGiB)}, {}};
    one.devices.push_back(device(DeviceId::cuda(0), 12 * kGiB));
    uint64_t tower = 0;
    for (const ExpectedTensor& tensor : model.tensors) {
        uint64_t bytes = 2;
        for (const int64_t n : tensor.shape) {
            bytes *= static_cast<uint64_t>(n);
        }
        tower += isMedia(tensor.part) && !tensor.is_unused ? bytes : 0;
    }
    for (const char* form : {R"({"": 0, "KEY": "cpu"})",
                             R"({"version": 1, "default": "cuda:0", "map": {"KEY": "cpu"}})"}) {
        one.request.device_map = QByteArray(form).replace("KEY", key).toStdString();
        const auto plan = one.plan(one.request);
        QVERIFY(plan.has_value());
        if (codesOf(plan->errors) == "DM09") {
            continue; // a range that this form knows
        }
        QCOMPARE(codesOf(plan->errors), std::string("DM02 DM09"));
        int applied = 0;
        VERIFY_EMPTY(lies(one, *plan, applied));
        QVERIFY(applied > 3);
        int towers = 0;
        for (const Suggestion& suggestion : plan->errors.back().suggestions) {
            const std::optional<Repair>& step = suggestion.repair;
            if (step.has_value() && !step->moves.empty() &&
                step->moves.front().module == "model.vision_tower") {
                ++towers;
                QVERIFY(step->frees >= tower && step->frees < tower + (tower >> 3U));
                QVERIFY(!step->is_enough);
            }
        }
        QCOMPARE(towers, 1);
    }
}

void TestAdvice::randomMaps() {
    const std::array<Model, 4> models = {goldenModel("e2b"), goldenModel("moe26b"),
                                         goldenModel("e4b"), publishedModel("26B-A4B")};
    constexpr int kMaps = 1000;
    int applied = 0;
    int with_errors = 0;
    int short_plans = 0;
    for (int k = 0; k < kMaps; ++k) {
        Draw draw(static_cast<unsigned>(k));
        const Model& model = models[k % 64 == 0 ? 3 : draw.below(3)];
        const bool is_sim = draw.oneIn(3);
        const std::string gpu = is_sim ? "sim:0" : "cuda:0";
        Case one{{}, openedOf(model), {device(DeviceId::cpu(), 0)}, {}};
        for (int i = draw.oneIn(4) ? 2 : 1; i > 0; --i) {
            one.devices.push_back(device(is_sim ? DeviceId::sim(i - 1) : DeviceId::cuda(i - 1), 0));
        }
        LoadRequest& request = one.request;
        request.device_map = draw.oneIn(8)
                                 ? draw.of<5>({"fit", "gpu", "lean", "towers-cpu", "cpu"})
                                 : draw.map(gpu, static_cast<int>(model.config.text.num_layers));
        request.quant = draw.of<6>({"none", "none", "nf4", "fp4", "nf4+experts", "nf4-dq"});
        request.head = draw.of<3>({"auto", "auto", "int8"});
        request.context = 512 << draw.below(5);
        if (draw.oneIn(3)) {
            AdapterFootprint& adapter = one.adapters.emplace_back();
            adapter.scratch_bytes = 5000;
            for (const ExpectedTensor& tensor : model.tensors) {
                if (tensor.kind == TensorKind::Linear && !tensor.is_unused && draw.oneIn(2)) {
                    adapter.tensors.push_back({tensor.name, 4000, false, 3000});
                }
            }
        }
        // Without limits first, then with some share of what it takes.
        const auto free_plan = one.plan(request);
        if (!free_plan.has_value()) {
            continue;
        }
        for (DeviceInfo& info : one.devices) {
            const uint64_t need = deviceRow(*free_plan, info.id)->parts.total();
            const uint64_t host =
                is_sim && info.id == DeviceId::cpu() ? hostNeed(*free_plan) : need;
            const unsigned share = draw.oneIn(3) ? 100 + draw.below(300) : 20 + draw.below(85);
            info.capacity = info.free = std::max<uint64_t>(host, 4096) * share / 100;
        }
        const auto plan = one.plan(request);
        QVERIFY(plan.has_value());
        with_errors +=
            codesOf(plan->errors).find_first_not_of("DM09 ") != std::string::npos ? 1 : 0;
        const int before = applied;
        const std::string lie = lies(one, *plan, applied);
        QVERIFY2(lie.empty(), ("map " + std::to_string(k) + ": " + lie).c_str());
        short_plans += applied > before ? 1 : 0;
    }
    qInfo("%d advices of %d plans, %d maps with errors", applied, short_plans, with_errors);
    QVERIFY(applied > 1000);
    QVERIFY(short_plans > kMaps / 3);
    QVERIFY(with_errors > kMaps / 10);
}

TEST_CLASS(TestAdvice)
#include "tst_advice.moc"
