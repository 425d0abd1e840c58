// SPDX-License-Identifier: Apache-2.0
// Everything that the engine on a thread does, the engine in a process of its own does as well: one
// scenario a row, run on both, and what came of it compared value by value, by the bytes that a
// value has on the wire. Times alone are left out.
#include "engine/api/error_cause.h"
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "tests/ipc/asking.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <filesystem>
#include <functional>
#include <string>

#include "ipc/messages.h"

namespace {

using engine::EngineClient;
using engine::MessagePart;

constexpr uint64_t kGiB = uint64_t{1} << 30U;

/// What a scenario saw, a line each.
class Seen {
public:
    template <typename T>
    void value(const char* what, const T& seen) {
        ipc::Answer<T> answer;
        answer.value = seen;
        add(what, ipc::encode(answer));
    }
    template <typename T>
    void outcome(const char* what, const engine::Result<T>& result) {
        if (result.has_value()) {
            value(what, *result);
        } else {
            error(what, result.error());
        }
    }
    void outcome(const char* what, const engine::Result<void>& result) {
        if (result.has_value()) {
            value(what, ipc::Nothing());
        } else {
            error(what, result.error());
        }
    }
    void outcome(const char* what, engine::Result<engine::Reply> result) {
        if (result.has_value()) {
            forgetTimes(*result);
        }
        outcome<engine::Reply>(what, result);
    }
    void text(const char* what, std::string seen) { add(what, std::move(seen)); }
    /// What the plain questions answer.
    void state(const EngineClient& engine);

    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& lines() const {
        return lines_;
    }

private:
    void add(const char* what, std::string bytes) { lines_.emplace_back(what, std::move(bytes)); }
    void error(const char* what, const engine::Error& error) {
        ipc::Answer<ipc::Nothing> answer;
        answer.error = error;
        add(what, ipc::encode(answer));
    }
    /// Clears what other programs of this machine change as they come and go.
    static void forgetFree(engine::PlacementPlan& plan) {
        for (engine::DevicePlan& device : plan.devices) {
            if (device.id == engine::DeviceId::cpu()) {
                device.free = device.limit = 0;
            }
        }
    }
    static void forgetTimes(engine::Reply& reply) {
        engine::GenerateTiming& t = reply.timing;
        t.prefill_s = t.decode_s = t.time_to_first_token_s = t.image_s = t.audio_s = 0.0;
        if (reply.drafts.has_value()) {
            reply.drafts->gain = reply.drafts->draft_s = reply.drafts->check_s = 0.0;
        }
    }

    std::vector<std::pair<std::string, std::string>> lines_;
};

void Seen::state(const EngineClient& engine) {
    ipc::Answer<ipc::Nothing> answer;
    ipc::EngineState& state = answer.state;
    state.is_loaded = engine.isLoaded();
    state.capabilities = engine.capabilities();
    std::tie(state.context_used, state.context_size) = engine.contextUse();
    state.memory = engine.memory();
    for (engine::DeviceMemory& memory : state.memory) {
        memory.used_by_others = 0;
        memory.limit = memory.id == engine::DeviceId::cpu() ? 0 : memory.limit;
    }
    state.model = {engine.loadedRequest(), 0.0, engine.loadNotes()};
    state.summary = engine.summary();
    if (const auto plan = engine.currentPlan()) {
        engine::PlacementPlan copy = *plan;
        forgetFree(copy);
        state.plan = std::make_shared<const engine::PlacementPlan>(std::move(copy));
    }
    answer.value.emplace();
    add("state", ipc::encode(answer));
}

engine::LoadRequest onSim(const char* map) {
    engine::LoadRequest request = asking::demoRequest(map);
    request.sim_gpus = {kGiB};
    return request;
}

std::string adapter() {
    return asking::demoFolder() + "/adapter";
}

MessagePart sample(MessagePart::Kind kind, const char* name) {
    return {kind, asking::demoFolder() + "/samples/" + name};
}

engine::GenerateRequest plainQuestion(int64_t tokens, const std::string& text = "Hello") {
    engine::GenerateRequest request = asking::question(tokens, text);
    request.uses_drafts = false;
    request.sampling.seed = 3; // told in the reply
    return request;
}

/// An assistant's options, what of its drafts was right, and replies that leave it out.
void drafts(EngineClient& engine, Seen& seen) {
    engine::LoadRequest request = onSim("gpu");
    request.draft = "auto";
    request.draft_tokens = 3;
    seen.outcome("load", engine.load(request, {}, {}));
    seen.state(engine);
    engine::GenerateRequest question = plainQuestion(40);
    question.uses_drafts = true;
    const auto drafted = engine.generate(question, {}, {});
    QVERIFY(drafted.has_value() && drafted->drafts.has_value());
    QVERIFY(drafted->drafts->rounds > 0 && drafted->drafts->check_s > 0.0);
    seen.outcome("drafted", drafted);
    seen.outcome("without", engine.generate(plainQuestion(10, "And then?"), {}, {}));
    engine::GenerateRequest forced = question;
    forced.forced_acceptance = 1.0;
    const auto whole = engine.generate(forced, {}, {});
    QVERIFY(whole.has_value() && whole->drafts.has_value());
    QCOMPARE(whole->drafts->acceptance(), 1.0);
    seen.outcome("forced", whole);
    request.draft = "off";
    seen.outcome("no assistant", engine.load(request, {}, {}));
    const auto alone = engine.generate(question, {}, {});
    QVERIFY(alone.has_value() && !alone->drafts.has_value());
    seen.outcome("alone", alone);
}

/// Strengths, switches, what an adapter changes: as the compare pane goes from column to column.
void adapters(EngineClient& engine, Seen& seen) {
    engine::LoadRequest request = asking::demoRequest("cpu");
    request.adapters = {{adapter(), 0.5, true}};
    seen.outcome("load", engine.load(request, {}, {}));
    for (const double strength : {0.0, 0.5, 1.0, 2.0}) {
        seen.outcome("strength", engine.setAdapters({{adapter(), strength, true}}, {}));
        seen.outcome("reply", engine.generate(plainQuestion(12, "What is a tower?"), {}, {}));
        seen.state(engine);
    }
    seen.outcome("off", engine.setAdapters({{adapter(), 1.0, false}}, {}));
    seen.outcome("effect", engine.adapterEffect(adapter(), {}));
    seen.outcome("reply", engine.generate(plainQuestion(12, "What is a tower?"), {}, {}));
    seen.outcome("none", engine.setAdapters({}, {}));
    seen.outcome("no adapter", engine.setAdapters({{"/nowhere", 1.0, true}}, {}));
    seen.state(engine);
}

/// Edits of the layout: moves with the chat's cache kept, maps that are wrong, the ledger.
void layout(EngineClient& engine, Seen& seen) {
    const engine::LoadRequest request = onSim("cpu");
    seen.outcome("inspect", engine.inspect("demo", {adapter()}));
    seen.outcome("load", engine.load(request, {}, {}));
    seen.outcome("reply", engine.generate(plainQuestion(8), {}, {}));
    for (const char* map : {"towers-cpu", "gpu", "lean", "{\"version\": 1, \"default\": \"moon\"}",
                            "{\"version\": 1", "cpu"}) {
        seen.outcome(map, engine.applyMap(map, {}, {}));
        seen.state(engine);
    }
    const auto next = engine.generate(plainQuestion(8), {}, {});
    QVERIFY(next.has_value() && next->timing.reused_tokens > 0);
    seen.outcome("the cache was kept", next);
    engine::LoadRequest small = onSim("gpu");
    small.sim_gpus = {uint64_t{1} << 20U};
    seen.outcome("load that does not fit", engine.load(small, {}, {}));
    seen.state(engine);
    engine.unload();
    seen.state(engine);
}

/// Pictures and sounds, ahead and in a question, and files that are none.
void media(EngineClient& engine, Seen& seen) {
    const MessagePart picture = sample(MessagePart::Kind::Image, "green_star.png");
    const MessagePart sound = sample(MessagePart::Kind::Audio, "word_seven.wav");
    const MessagePart none = sample(MessagePart::Kind::Image, "samples.json");
    seen.outcome("load", engine.load(asking::demoRequest("cpu"), {}, {}));
    for (const MessagePart& part : {picture, sound, none}) {
        seen.outcome("cost", engine.mediaCost(part, 0));
        seen.outcome("ahead", engine.encodeAhead(part, 0, {}));
    }
    seen.outcome("check", engine.checkMedia("demo", {picture.text}, {sound.text}));
    seen.outcome("check", engine.checkMedia("demo", {none.text}, {}));
    for (const MessagePart& part : {picture, sound, none}) {
        engine::GenerateRequest request = plainQuestion(8, "What is it?");
        request.messages.front().parts.insert(request.messages.front().parts.begin(), part);
        seen.outcome("reply", engine.generate(request, {}, {}));
    }
}

/// Requests of every kind: continued, thinking, raw, with probabilities, with tools.
void requests(EngineClient& engine, Seen& seen) {
    seen.outcome("load", engine.load(asking::demoRequest("cpu"), {}, {}));
    engine::GenerateRequest cut = plainQuestion(4);
    const auto half = engine.generate(cut, {}, {});
    QVERIFY(half.has_value());
    seen.outcome("half", half);
    cut.messages.push_back(
        {engine::Message::Role::Assistant, {{MessagePart::Kind::Text, half->text}}});
    cut.continues_reply = true;
    seen.outcome("continued", engine.generate(cut, {}, {}));
    engine::GenerateRequest thinking = plainQuestion(6);
    thinking.is_thinking = true;
    thinking.sampling.temperature = 0.9;
    thinking.sampling.seed = 11;
    seen.outcome("thinking, drawn", engine.generate(thinking, {}, {}));
    engine::GenerateRequest raw;
    raw.raw_prompt = "<bos>Hello";
    raw.sampling.temperature = 0.0;
    raw.sampling.max_tokens = 5;
    raw.sampling.seed = 3;
    seen.outcome("raw", engine.generate(raw, {}, {}));
    seen.outcome("logits", engine.logits(raw, 2, {}));
    engine::GenerateRequest likely = plainQuestion(5);
    likely.logprobs = 2;
    engine::ReplyUpdate told;
    seen.outcome("probabilities", engine.generate(likely,
                                                  [&told](const engine::ReplyUpdate& update) {
                                                      told.text += update.text;
                                                      told.tokens = update.tokens;
                                                      told.logprobs.insert(told.logprobs.end(),
                                                                           update.logprobs.begin(),
                                                                           update.logprobs.end());
                                                  },
                                                  {}));
    QVERIFY(!told.logprobs.empty());
    seen.text("told", ipc::encode(told));
    engine::GenerateRequest tools = plainQuestion(5, "Weather?");
    tools.tools = {{"weather", "Tells it.", R"({"properties":{"city":{"type":"string"}}})"}};
    seen.outcome("tools", engine.generate(tools, {}, {}));
    engine::Message asking;
    asking.role = engine::Message::Role::Assistant;
    asking.calls = {{"c1", "weather", R"({"city":"Paris"})"}};
    engine::Message result;
    result.role = engine::Message::Role::Tool;
    result.call_id = "c1";
    result.parts = {{MessagePart::Kind::Text, "18 C"}};
    tools.messages.push_back(asking);
    tools.messages.push_back(result);
    const auto round = engine.generate(tools, {}, {});
    VERIFY_VALUE(round);
    seen.outcome("a round", round);
    engine::GenerateRequest empty;
    seen.outcome("nothing asked", engine.generate(empty, {}, {}));
}

} // namespace

class TestEnginesAlike : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void alike_data();
    void alike();
};

using Scenario = std::function<void(EngineClient&, Seen&)>;
Q_DECLARE_METATYPE(Scenario)

void TestEnginesAlike::alike_data() {
    QTest::addColumn<Scenario>("scenario");
    QTest::newRow("drafts") << Scenario(drafts);
    QTest::newRow("adapters") << Scenario(adapters);
    QTest::newRow("layout") << Scenario(layout);
    QTest::newRow("media") << Scenario(media);
    QTest::newRow("requests") << Scenario(requests);
}

void TestEnginesAlike::alike() {
    QFETCH(const Scenario, scenario);
    asking::Log log;
    engine::EngineOptions options;
    options.demo_folder = asking::demoFolder();
    options.gpus = std::make_shared<const engine::GpuAccess>();
    engine::Engine here(options);
    ipc::ProcessEngine there(asking::options({BELFRY_HOST_PROGRAM, "cpu"}, log));
    Seen a;
    Seen b;
    scenario(here, a);
    if (QTest::currentTestFailed()) {
        return;
    }
    scenario(there, b);
    if (QTest::currentTestFailed()) {
        return;
    }
    QVERIFY(!a.lines().empty());
    QCOMPARE(b.lines().size(), a.lines().size());
    for (size_t i = 0; i < a.lines().size(); ++i) {
        const QByteArray place =
            QByteArray::fromStdString(a.lines()[i].first) + ", line " + QByteArray::number(int(i));
        QCOMPARE(b.lines()[i].first, a.lines()[i].first);
        QVERIFY2(b.lines()[i].second == a.lines()[i].second, place.constData());
    }
    QVERIFY(!log.has("ended"));
}

TEST_CLASS_WITH(QCoreApplication, TestEnginesAlike)
#include "tst_engines_alike.moc"
