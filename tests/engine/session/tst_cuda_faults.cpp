// SPDX-License-Identifier: Apache-2.0
// The whole engine on a card whose driver fails: create, load, first token, move, unload, with a
// fault at calls of every kind. Whatever fails: a named error, no crash, nothing left on the card,
// and the engine can be used again. Kernels compute nothing here (fake driver), so that only the
// host side is looked at.
#include "engine/api/device_loss.h"
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "kernels/cuda/cuda_device.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using kernels::cuda::Trouble;
using support::FakeCard;
using support::FakeDriver;
using support::FakeLive;

namespace {

/// The fake runs no kernel: what one is taken to have written are the zeros of new memory.
kernels::CardOptions untouchedMemory() {
    kernels::CardOptions card;
    card.has_poison = false;
    return card;
}

engine::EngineOptions optionsFor(const FakeDriver& fake) {
    engine::EngineOptions options;
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images(), untouchedMemory()));
    return options;
}

engine::LoadRequest requestForCudaFaults(bool is_reference) {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.device_map = "gpu";
    request.is_reference_precision = is_reference;
    request.threads = 1;
    return request;
}

engine::GenerateRequest prompt() {
    return support::greedyRequest({2, 5, 9, 11}, 3);
}

engine::GenerateRequest drawn() {
    engine::GenerateRequest request = prompt();
    request.sampling.temperature = 1.0;
    request.sampling.top_k = 40;
    request.sampling.seed = 3;
    return request;
}

const char* kSplit = R"({"version": 1, "default": "cuda:0",
    "map": {"model.language_model.layers.[3-5]": "cpu", "model.vision_tower": "cpu"}})";

struct Step {
    std::string name;
    engine::Error error;
};

/// Load, a reply, a move, a reply; the first error ends it. Everything is closed on return.
std::vector<Step> wholeStory(const FakeDriver& fake, bool is_reference) {
    std::vector<Step> errors;
    engine::Engine engine(optionsFor(fake));
    const auto note = [&errors](const char* name, const auto& result) {
        if (!result.has_value()) {
            errors.push_back({name, result.error()});
        }
        return result.has_value();
    };
    if (note("load", engine.load(requestForCudaFaults(is_reference), {}, {})) &&
        note("reply", engine.generate(prompt(), {}, {})) &&
        note("drawn reply", engine.generate(drawn(), {}, {})) &&
        note("move", engine.applyMap(kSplit, {}, {})) &&
        note("reply after the move", engine.generate(prompt(), {}, {}))) {
        (void)engine.memory();
    }
    return errors;
}

/// A load that quantizes on the card, writes the cache and is loaded again from it.
std::vector<Step> quantizedLoads(const FakeDriver& fake) {
    QTemporaryDir cache;
    std::vector<Step> errors;
    engine::Engine engine(optionsFor(fake));
    engine::LoadRequest request = requestForCudaFaults(false);
    request.quant = "nf4-dq";
    request.head = "int8";
    request.cache_folder = cache.path().toStdString();
    for (const char* name : {"from bf16", "from the cache"}) {
        const auto loaded = engine.load(request, {}, {});
        if (!loaded.has_value()) {
            errors.push_back({name, loaded.error()});
            return errors;
        }
        engine.unload();
    }
    return errors;
}

/// Numbers of the calls worth failing: of every entry point the first ones, the last and some
/// between.
std::set<uint64_t> chosenCalls(const std::vector<const char*>& trace) {
    std::map<std::string, std::vector<uint64_t>> by_name;
    for (size_t i = 0; i < trace.size(); ++i) {
        by_name[trace[i]].push_back(i + 1);
    }
    std::set<uint64_t> chosen;
    for (const auto& [name, calls] : by_name) {
        for (const size_t share : {0, 2, 4}) {
            chosen.insert(calls[(calls.size() - 1) * share / 4]);
        }
        if (calls.size() > 1) {
            chosen.insert(calls[1]);
        }
    }
    return chosen;
}

} // namespace

class TestCudaFaults : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void withoutFaults_data();
    void withoutFaults();
    void everyKindOfCall_data();
    void everyKindOfCall();
    void everyCallOfAReply_data();
    void everyCallOfAReply();
    void quantizedLoad_data();
    void quantizedLoad();
    void memoryRunsOut();
    void formerModelComesBack();
    void lostCardIsReloaded();
    void faultEndsTheProcess_data();
    void faultEndsTheProcess();
    void secondProgramOnTheCard();
    void absentCard();
    void whyNoCard_data();
    void whyNoCard();
    void skippedCard();
    void twoCards();
    void strengthsKeepTheRecording();
    void openedAsAsked();
    void orderOfTokens();
};

void TestCudaFaults::withoutFaults_data() {
    QTest::addColumn<bool>("is_reference");
    QTest::addRow("fp32") << true;
    QTest::addRow("16 bits, recorded steps") << false;
}

void TestCudaFaults::withoutFaults() {
    QFETCH(bool, is_reference);
    FakeDriver fake;
    const auto errors = wholeStory(fake, is_reference);
    QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().error.message.c_str());
    QVERIFY2(fake.violations().empty(),
             fake.violations().empty() ? "" : fake.violations().front().c_str());
    QCOMPARE(fake.live(), FakeLive{});
    QVERIFY(!fake.launches().empty());
    const bool has_candidates =
        std::any_of(fake.launches().begin(), fake.launches().end(),
                    [](const auto& launch) { return launch.kernel == "belfry_top_logits"; });
    QCOMPARE(has_candidates, !is_reference);
}

void TestCudaFaults::everyKindOfCall_data() {
    support::addColumns<bool, int, bool>("is_reference", "code", "is_sticky");
    for (const bool is_reference : {true, false}) {
        const char* precision = is_reference ? "fp32" : "16 bits";
        QTest::addRow("%s: out of memory once", precision) << is_reference << 2 << false;
        QTest::addRow("%s: illegal address from then on", precision) << is_reference << 700 << true;
    }
}

void TestCudaFaults::everyKindOfCall() {
    QFETCH(bool, is_reference);
    QFETCH(int, code);
    QFETCH(bool, is_sticky);
    FakeDriver plain;
    QVERIFY(wholeStory(plain, is_reference).empty());
    int refused = 0;
    int tried = 0;
    for (const uint64_t n : chosenCalls(plain.trace())) {
        FakeDriver fake;
        fake.failCall(n, code, is_sticky);
        const auto errors = wholeStory(fake, is_reference);
        const std::string call = plain.trace()[n - 1];
        const std::string where =
            call + " (call " + std::to_string(n) + "), " +
            (errors.empty() ? std::string("no error")
                            : errors.front().name + ": " + errors.front().error.message);
        QVERIFY2(fake.live() == FakeLive{}, (where + "; left: " + fake.live().text()).c_str());
        QVERIFY2(
            fake.violations().empty(),
            (where + "; " + (fake.violations().empty() ? "" : fake.violations().front())).c_str());
        ++tried;
        if (errors.empty()) {
            continue;
        }
        ++refused;
        const engine::Error& error = errors.front().error;
        QVERIFY2(!error.message.empty() && error.code != engine::ErrorCode::Internal,
                 where.c_str());
        if (is_sticky) {
            // The card's listing calls come before it is opened: then there is no such card.
            QVERIFY2(error.code == engine::ErrorCode::DeviceLost ||
                         error.code == engine::ErrorCode::InvalidRequest ||
                         error.code == engine::ErrorCode::Unsupported,
                     where.c_str());
        }
        if (code == 2 && call == "cuMemAlloc") {
            QCOMPARE(error.code, engine::ErrorCode::OutOfMemory);
        }
    }
    QVERIFY(tried > 45);
    QVERIFY(refused > tried / 2);
}

void TestCudaFaults::everyCallOfAReply_data() {
    support::addColumns<QString, int>("map", "code");
    for (const int code : {2, 999}) {
        QTest::addRow("one card, %d", code) << "gpu" << code;
        QTest::addRow("two cards and the CPU, %d", code)
            << R"({"version": 1, "default": "cuda:0", "map": {
                "model.language_model.layers.[3-4]": "cpu",
                "model.language_model.layers.[6-8]": "cuda:1"}})"
            << code;
    }
}

/// A prompt that goes through the fused steps of many rows, and tokens that are recorded anew: any
/// call may fail once. The reply then comes without what failed, or ends with an error; the next
/// one is whole.
void TestCudaFaults::everyCallOfAReply() {
    QFETCH(QString, map);
    QFETCH(int, code);
    FakeDriver fake({FakeCard{"First"}, FakeCard{"Second"}});
    int refused = 0;
    int tried = 0;
    {
        engine::Engine engine(optionsFor(fake));
        engine::LoadRequest request = requestForCudaFaults(false);
        request.device_map = map.toStdString();
        request.quant = "nf4-dq";
        request.prefill_chunk = 8;
        QVERIFY(engine.load(request, {}, {}).has_value());
        for (uint64_t n = 1;; n += support::kPointStride) {
            engine::GenerateRequest ask = prompt();
            for (int32_t i = 0; i < 10; ++i) { // another one: nothing of it is in the cache
                ask.raw_ids.push_back(20 + (static_cast<int32_t>(n) + 7 * i) % 200);
            }
            std::rotate(ask.raw_ids.begin(), ask.raw_ids.begin() + 4, ask.raw_ids.end());
            QVERIFY(engine.setAdapters({}, {}).has_value()); // recordings are dropped
            fake.clearTrace();
            fake.failCall(n, code, false);
            const auto reply = engine.generate(ask, {}, {});
            const bool was_reached = fake.trace().size() >= n;
            const std::string where =
                (was_reached ? std::string(fake.trace()[n - 1]) : std::string("none")) + " (call " +
                std::to_string(n) + ")" + (reply.has_value() ? "" : ": " + reply.error().message);
            fake.failCall(0, 0, false);
            QVERIFY2(fake.violations().empty(),
                     fake.violations().empty()
                         ? ""
                         : (where + "; " + fake.violations().front()).c_str());
            if (!was_reached) {
                QVERIFY2(reply.has_value(), where.c_str());
                break;
            }
            ++tried;
            if (!reply.has_value()) {
                ++refused;
                QVERIFY2(!reply.error().message.empty() &&
                             reply.error().code != engine::ErrorCode::Internal,
                         where.c_str());
                if (reply.error().code == engine::ErrorCode::DeviceLost) {
                    engine.unload();
                    QVERIFY2(engine.load(request, {}, {}).has_value(), where.c_str());
                }
            }
            const auto next = engine.generate(ask, {}, {});
            QVERIFY2(next.has_value(),
                     (where + "; next: " + (next.has_value() ? "" : next.error().message)).c_str());
            QCOMPARE(next->token_ids.size(), size_t{3});
        }
    }
    QCOMPARE(fake.live(), FakeLive{});
    qInfo("%d of %d calls ended the reply", refused, tried);
    QVERIFY(tried > 100 / support::kPointStride);
    QVERIFY(refused > 0);
}

void TestCudaFaults::quantizedLoad_data() {
    support::addColumns<int, bool>("code", "is_sticky");
    QTest::newRow("out of memory once") << 2 << false;
    QTest::newRow("illegal address from then on") << 700 << true;
}

/// Faults while pieces are under way: buffers are given back only when no copy reads them.
void TestCudaFaults::quantizedLoad() {
    QFETCH(int, code);
    QFETCH(bool, is_sticky);
    FakeDriver plain;
    QVERIFY(quantizedLoads(plain).empty());
    QCOMPARE(plain.live(), FakeLive{});
    const auto launched = [&plain](const char* kernel) {
        return std::any_of(plain.launches().begin(), plain.launches().end(),
                           [kernel](const auto& launch) { return launch.kernel == kernel; });
    };
    QVERIFY(launched("belfry_quantize_blocks") && launched("belfry_quantize_rows"));
    int refused = 0;
    const std::set<uint64_t> chosen = chosenCalls(plain.trace());
    for (const uint64_t n : chosen) {
        FakeDriver fake;
        fake.failCall(n, code, is_sticky);
        const auto errors = quantizedLoads(fake);
        const std::string where =
            std::string(plain.trace()[n - 1]) + " (call " + std::to_string(n) + "), " +
            (errors.empty() ? std::string("no error")
                            : errors.front().name + ": " + errors.front().error.message);
        QVERIFY2(fake.live() == FakeLive{}, (where + "; left: " + fake.live().text()).c_str());
        QVERIFY2(
            fake.violations().empty(),
            (where + "; " + (fake.violations().empty() ? "" : fake.violations().front())).c_str());
        refused += errors.empty() ? 0 : 1;
        QVERIFY2(errors.empty() || (!errors.front().error.message.empty() &&
                                    errors.front().error.code != engine::ErrorCode::Internal),
                 where.c_str());
    }
    QVERIFY(refused > static_cast<int>(chosen.size()) / 2);
}

void TestCudaFaults::memoryRunsOut() {
    // The card is full but for a little, in steps: the load fails with the card's name, and what
    // was loaded before goes on.
    FakeDriver fake;
    engine::Engine engine(optionsFor(fake));
    QVERIFY(engine.load(requestForCudaFaults(true), {}, {}).has_value());
    QVERIFY(engine.generate(prompt(), {}, {}).has_value()); // what replies need stays
    int failures = 0;
    for (uint64_t n = 1; n <= 12; ++n) {
        const FakeLive before = fake.live();
        fake.fail_allocation = n;
        fake.fail_allocations = 3; // what is not reserved is tried in two sizes
        const auto loaded = engine.load(requestForCudaFaults(true), {}, {});
        fake.fail_allocation = 0;
        if (loaded.has_value()) {
            continue;
        }
        ++failures;
        QCOMPARE(loaded.error().code, engine::ErrorCode::OutOfMemory);
        QVERIFY2(loaded.error().message.find("cuda:0") != std::string::npos,
                 loaded.error().message.c_str());
        QVERIFY(engine.isLoaded());
        QVERIFY2(fake.live() == before, (fake.live().text() + " against " + before.text()).c_str());
        QVERIFY(engine.generate(prompt(), {}, {}).has_value());
    }
    QVERIFY(failures > 0);
}

/// Two models do not fit side by side: the former one makes room, and comes back when the new one
/// fails; where even that fails, the next request loads it.
void TestCudaFaults::formerModelComesBack() {
    FakeCard card;
    card.used_by_others = card.total - (size_t{725} << 20);
    FakeDriver fake({card});
    engine::Engine engine(optionsFor(fake));
    const engine::LoadRequest former = requestForCudaFaults(true);
    QVERIFY(engine.load(former, {}, {}).has_value());
    const auto expected = engine.generate(prompt(), {}, {});
    QVERIFY(expected.has_value());
    engine::LoadRequest other = former;
    other.context = 512;
    QVERIFY(!engine.plan(other).value().fits); // beside the former one
    for (const uint64_t times : {uint64_t{3}, uint64_t{1} << 40U}) {
        int failures = 0;
        for (uint64_t n = 1; n <= 12; ++n) {
            fake.fail_allocation = n;
            fake.fail_allocations = times;
            const auto loaded = engine.load(other, {}, {});
            fake.fail_allocation = 0;
            QVERIFY(engine.isLoaded());
            if (loaded.has_value()) {
                QVERIFY(engine.load(former, {}, {}).has_value());
                continue;
            }
            ++failures;
            QCOMPARE(loaded.error().code, engine::ErrorCode::OutOfMemory);
            QCOMPARE(engine.loadedRequest().context, former.context);
            QVERIFY(engine.summary() != nullptr && engine.currentPlan() != nullptr);
            const auto reply = engine.generate(prompt(), {}, {});
            VERIFY_VALUE(reply);
            QCOMPARE(reply->token_ids, expected->token_ids);
            QCOMPARE(engine.currentPlan()->context, former.context);
        }
        qInfo("%d failures", failures);
        QVERIFY(failures > 0);
    }
    engine.unload();
    QVERIFY(!engine.isLoaded());
    QVERIFY2(fake.live() == FakeLive{}, fake.live().text().c_str());
}

/// A failure that is none of a kernel: the card answers again once nothing of the old context is
/// left, and the same request loads.
void TestCudaFaults::lostCardIsReloaded() {
    FakeDriver fake;
    engine::Engine engine(optionsFor(fake));
    QVERIFY(engine.load(requestForCudaFaults(true), {}, {}).has_value());
    QVERIFY(engine.generate(prompt(), {}, {}).has_value());
    fake.failCall(20, 999, true);
    const auto failed = engine.generate(prompt(), {}, {});
    QVERIFY(!failed.has_value());
    QCOMPARE(failed.error().code, engine::ErrorCode::DeviceLost);
    QVERIFY(!engine::needsNewProcess(failed.error()));
    const std::string& message = failed.error().message;
    QVERIFY2(message.find("stopped answering") != std::string::npos, message.c_str());
    QVERIFY2(message.find("reload the model") != std::string::npos, message.c_str());
    QVERIFY2(message.find("CUDA_ERROR_UNKNOWN") != std::string::npos, message.c_str());
    // Again and again the same answer, and no work on the dead card.
    QCOMPARE(engine.generate(prompt(), {}, {}).error().code, engine::ErrorCode::DeviceLost);
    fake.failCall(0, 0, false);
    const auto reloaded = engine.load(requestForCudaFaults(true), {}, {});
    VERIFY_VALUE(reloaded);
    QVERIFY(engine.generate(prompt(), {}, {}).has_value());
    engine.unload();
    QVERIFY2(fake.live() == FakeLive{}, fake.live().text().c_str());
}

void TestCudaFaults::faultEndsTheProcess_data() {
    support::addColumns<int, bool>("code", "is_end");
    for (const int code : {226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810}) {
        QTest::addRow("%d", code) << code << true;
    }
    for (const int code : {100, 709, 712, 999}) { // what stands beside them, and other failures
        QTest::addRow("%d, no fault", code) << code << false;
    }
}

/// As on a real card: after the fault of a kernel this process never has a card again, whatever is
/// closed and opened. The engine says so without trying, the CPU goes on, a new process has the
/// card.
void TestCudaFaults::faultEndsTheProcess() {
    QFETCH(int, code);
    QFETCH(bool, is_end);
    const auto gpu = requestForCudaFaults(true);
    engine::LoadRequest cpu = gpu;
    cpu.device_map = "cpu";
    const auto tells = [](const engine::Error& error, const char* text) {
        return error.message.find(text) != std::string::npos;
    };
    FakeDriver fake;
    engine::Engine engine(optionsFor(fake));
    QVERIFY(engine.load(gpu, {}, {}).has_value());
    fake.failCall(20, code, false); // once: that it stays is the driver's doing
    const auto failed = engine.generate(prompt(), {}, {});
    QVERIFY(!failed.has_value());
    QCOMPARE(failed.error().code, engine::ErrorCode::DeviceLost);
    QCOMPARE(engine::needsNewProcess(failed.error()), is_end);
    QCOMPARE(tells(failed.error(), "Start the program again"), is_end);
    QCOMPARE(tells(failed.error(), "reload the model"), !is_end);
    QCOMPARE(fake.processFault(), is_end ? code : 0);
    fake.clearTrace();
    const auto again = engine.load(gpu, {}, {});
    QCOMPARE(again.has_value(), !is_end);
    if (is_end) {
        for (const auto& refused : {again, engine.load(gpu, {}, {})}) {
            QCOMPARE(refused.error().code, engine::ErrorCode::DeviceLost);
            QVERIFY2(engine::needsNewProcess(refused.error()) &&
                         tells(refused.error(), "refuses every graphics card to this process") &&
                         tells(refused.error(), "loading again cannot work"),
                     refused.error().message.c_str());
        }
        // Not even tried: no context is asked for.
        const auto asked = std::count_if(fake.trace().begin(), fake.trace().end(), [](auto name) {
            return std::string(name) == "cuDevicePrimaryCtxRetain";
        });
        QCOMPARE(asked, 0);
        // Where everything would go is still shown, with the reason why it cannot now.
        const auto plan = engine.plan(gpu);
        QVERIFY(plan.has_value() && plan->fits);
        QVERIFY(std::any_of(plan->notes.begin(), plan->notes.end(), [](const engine::Note& note) {
            return engine::inEnglish(note).find("is lost to this process") != std::string::npos;
        }));
        QVERIFY(engine.load(cpu, {}, {}).has_value());
        const auto on_cpu = engine.generate(prompt(), {}, {});
        QVERIFY(on_cpu.has_value());
        // And from there no way back.
        const auto moved = engine.applyMap("gpu", {}, {});
        QVERIFY(!moved.has_value() && engine::needsNewProcess(moved.error()));
        QCOMPARE(engine.generate(prompt(), {}, {}).value().token_ids, on_cpu->token_ids);
    }
    engine.unload();
    QVERIFY2(fake.live() == FakeLive{}, fake.live().text().c_str());
    QVERIFY2(fake.violations().empty(),
             fake.violations().empty() ? "" : fake.violations().front().c_str());

    FakeDriver next; // of another process
    engine::Engine fresh(optionsFor(next));
    QVERIFY(fresh.load(gpu, {}, {}).has_value());
    QVERIFY(fresh.generate(prompt(), {}, {}).has_value());
}

void TestCudaFaults::secondProgramOnTheCard() {
    FakeCard card;
    card.used_by_others = card.total - (size_t{530} << 20);
    FakeDriver fake({card});
    engine::Engine engine(optionsFor(fake));
    const auto loaded = engine.load(requestForCudaFaults(true), {}, {});
    QVERIFY(!loaded.has_value());
    QCOMPARE(loaded.error().code, engine::ErrorCode::OutOfMemory);
    QVERIFY2(loaded.error().message.find("cuda:0") != std::string::npos,
             loaded.error().message.c_str());
    QCOMPARE(fake.live(), FakeLive{});

    FakeDriver roomy;
    engine::Engine other(optionsFor(roomy));
    QVERIFY(other.load(requestForCudaFaults(true), {}, {}).has_value());
    for (const engine::DeviceMemory& device : other.memory()) {
        if (device.id == engine::DeviceId::cuda(0)) {
            QCOMPARE(device.description, std::string("Test Card"));
            QVERIFY(device.measured[engine::MemoryPart::Context] > 0);
            QCOMPARE(device.measured, device.predicted);
        }
    }
}

void TestCudaFaults::absentCard() {
    FakeDriver fake;
    engine::Engine engine(optionsFor(fake));
    engine::LoadRequest request = requestForCudaFaults(true);
    request.device_map = R"({"": "cuda:1"})";
    const auto loaded = engine.load(request, {}, {});
    QVERIFY(!loaded.has_value());
    QVERIFY2(loaded.error().message.find("DM04") != std::string::npos,
             loaded.error().message.c_str());

    // Without a driver the reason stands in the plan.
    engine::EngineOptions options;
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(nullptr, {Trouble::Kind::NoDriver}, FakeDriver::images()));
    engine::Engine without(std::move(options));
    request.device_map = "";
    const auto plan = without.plan(request);
    QVERIFY(plan.has_value() && plan->fits);
    const std::vector<std::string> notes = engine::inEnglish(plan->notes);
    QVERIFY(std::find(notes.begin(), notes.end(),
                      "No NVIDIA driver on this machine (libcuda.so.1 was not found); everything "
                      "runs on the CPU.") != notes.end());
    request.device_map = R"({"": "cuda:0"})";
    QVERIFY(!without.load(request, {}, {}).has_value());
}

/// Whatever the map asks for: the reason stands where the user looks. That there is no driver is a
/// remark, that it is too old a warning.
void TestCudaFaults::whyNoCard_data() {
    support::addColumns<Trouble::Kind, QByteArray, bool>("kind", "why", "is_problem");
    QTest::addRow("no driver") << Trouble::Kind::NoDriver
                               << QByteArray("No NVIDIA driver on this machine (libcuda.so.1 was "
                                             "not found); everything runs on the CPU.")
                               << false;
    QTest::addRow("no card")
        << Trouble::Kind::NoCard
        << QByteArray("The NVIDIA driver sees no graphics card; everything runs on the CPU.")
        << false;
    QTest::addRow("old driver") << Trouble::Kind::OldDriver
                                << QByteArray("The NVIDIA driver supports CUDA 11.4, Belfry needs "
                                              "12.0 or newer; update the driver to use the "
                                              "graphics card. Everything runs on the CPU.")
                                << true;
}

void TestCudaFaults::whyNoCard() {
    QFETCH(Trouble::Kind, kind);
    QFETCH(QByteArray, why);
    QFETCH(bool, is_problem);
    const std::string text = why.toStdString();
    const Trouble trouble{kind, "", "11.4", "12.0"};
    engine::EngineOptions options;
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(nullptr, trouble, FakeDriver::images()));
    engine::Engine engine(std::move(options));
    engine::LoadRequest request = requestForCudaFaults(true);
    const auto told = [&text](const std::vector<std::string>& notes, const char* code) {
        return std::count(notes.begin(), notes.end(), code + text);
    };
    request.device_map = "fit";
    const auto plan = engine.plan(request);
    QVERIFY(plan.has_value() && plan->fits);
    QCOMPARE(told(engine::inEnglish(plan->notes), ""), is_problem ? 0 : 1);
    QCOMPARE(plan->warnings.size(), is_problem ? 1U : 0U);
    QVERIFY(!is_problem ||
            (plan->warnings[0].code == "DM23" && engine::inEnglish(plan->warnings[0]) == text));
    QVERIFY(engine.load(request, {}, {}).has_value());
    QCOMPARE(told(engine::inEnglish(engine.loadNotes()), is_problem ? "DM23: " : ""),
             1); // what the CLI prints

    for (const char* map : {"gpu", R"({"": "cuda:0"})"}) {
        request.device_map = map;
        const auto refused = engine.load(request, {}, {});
        QVERIFY(!refused.has_value());
        QVERIFY2(refused.error().message.find(text) != std::string::npos,
                 refused.error().message.c_str());
    }

    // Nobody asked for a card.
    request.device_map = "cpu";
    const auto on_cpu = engine.plan(request);
    QVERIFY(on_cpu.has_value() && on_cpu->warnings.empty());
    QCOMPARE(told(engine::inEnglish(on_cpu->notes), ""), 0);
    request.device_map = "fit";
    request.sim_gpus = {uint64_t{4} << 30U};
    const auto simulated = engine.plan(request);
    QVERIFY(simulated.has_value() && simulated->warnings.empty());
    QCOMPARE(told(engine::inEnglish(simulated->notes), ""), 0);
}

void TestCudaFaults::skippedCard() {
    // Beside a card that works an old one is a remark, by itself a warning.
    FakeDriver fake({FakeCard{"Good"}, FakeCard{"Old", 61}});
    engine::Engine engine(optionsFor(fake));
    engine::LoadRequest request = requestForCudaFaults(true);
    request.device_map = "fit";
    const auto names = [](const std::string& text) {
        return text.find("cuda:1 (Old) has compute capability 6.1") != std::string::npos;
    };
    const auto beside = engine.plan(request);
    QVERIFY(beside.has_value() && beside->warnings.empty());
    const std::vector<std::string> remarks = engine::inEnglish(beside->notes);
    QCOMPARE(std::count_if(remarks.begin(), remarks.end(), names), 1);
    request.device_map = R"({"": "cuda:1"})";
    const auto asked = engine.load(request, {}, {});
    QVERIFY(!asked.has_value() && names(asked.error().message));

    FakeDriver only_old({FakeCard{"Old", 61}});
    engine::Engine without(optionsFor(only_old));
    request.device_map = "fit";
    const auto alone = without.plan(request);
    QVERIFY(alone.has_value() && alone->warnings.size() == 1);
    QVERIFY(engine::inEnglish(alone->warnings[0]).find("6.1") != std::string::npos);
}

void TestCudaFaults::twoCards() {
    FakeDriver fake({FakeCard{"First"}, FakeCard{"Second"}});
    {
        engine::Engine engine(optionsFor(fake));
        engine::LoadRequest request = requestForCudaFaults(true);
        request.device_map = R"({"version": 1, "default": "cuda:0",
            "map": {"model.language_model.layers.[4-9]": "cuda:1"}})";
        const auto loaded = engine.load(request, {}, {});
        VERIFY_VALUE(loaded);
        QVERIFY(engine.generate(prompt(), {}, {}).has_value());
        const auto used = [&fake](const char* call) {
            return std::count_if(fake.trace().begin(), fake.trace().end(),
                                 [call](const char* name) { return std::string(name) == call; });
        };
        QVERIFY(used("cuMemcpyPeerAsync") > 0); // card to card, not through the host
        // Single matrices there: what follows them runs on the first card again.
        for (const bool is_reference : {true, false}) {
            request.is_reference_precision = is_reference;
            request.device_map = R"({"version": 1, "default": "cuda:0", "map": {
                "model.language_model.layers.3.mlp.down_proj": "cuda:1",
                "model.language_model.layers.2.self_attn.k_proj": "cuda:1",
                "model.language_model.layers.5.self_attn.o_proj": "cuda:1",
                "model.language_model.per_layer_model_projection": "cuda:1",
                "model.vision_tower.encoder.layers.1.mlp.up_proj": "cuda:1"}})";
            QVERIFY(engine.load(request, {}, {}).has_value());
            QVERIFY(engine.generate(prompt(), {}, {}).has_value());
            QVERIFY2(fake.violations().empty(),
                     fake.violations().empty() ? "" : fake.violations().front().c_str());
        }
        QVERIFY(engine.applyMap("gpu", {}, {}).has_value());
        QVERIFY(engine.generate(prompt(), {}, {}).has_value());
    }
    QVERIFY2(fake.violations().empty(),
             fake.violations().empty() ? "" : fake.violations().front().c_str());
    QCOMPARE(fake.live(), FakeLive{});
}

/// The recorded decode step reads strengths where it runs: another strength of the same adapters
/// records nothing again, another set does.
void TestCudaFaults::strengthsKeepTheRecording() {
    FakeDriver fake({FakeCard{"First"}});
    {
        engine::Engine engine(optionsFor(fake));
        const auto loaded = engine.load(requestForCudaFaults(false), {}, {});
        VERIFY_VALUE(loaded);
        const auto recordings = [&](double strength, bool is_enabled) {
            fake.clearTrace();
            const auto set = engine.setAdapters(
                {{support::goldenAdapter("e2b", "text"), strength, is_enabled}}, {});
            if (!set.has_value() || !engine.generate(prompt(), {}, {}).has_value()) {
                return -1;
            }
            return static_cast<int>(
                std::count_if(fake.trace().begin(), fake.trace().end(), [](const char* name) {
                    return std::string(name) == "cuGraphInstantiate";
                }));
        };
        QCOMPARE(recordings(1.0, true), 1);
        QCOMPARE(recordings(0.5, true), 0);
        QCOMPARE(recordings(2.0, true), 0);
        QCOMPARE(recordings(0.0, true), 1); // nothing is active any more
        QCOMPARE(recordings(0.25, true), 1);
        QCOMPARE(recordings(0.25, false), 1);
    }
    QVERIFY2(fake.violations().empty(),
             fake.violations().empty() ? "" : fake.violations().front().c_str());
    QCOMPARE(fake.live(), FakeLive{});
}

/// What a card is to be opened with arrives at every one that the engine opens.
void TestCudaFaults::openedAsAsked() {
    FakeDriver fake({FakeCard{"First"}});
    for (const bool is_less : {false, true}) {
        kernels::CardOptions card;
        card.shared_bytes = is_less ? 65536 : 0;
        card.has_kernel_times = is_less;
        const engine::GpuAccess access =
            engine::cudaAccess(&fake.driver(), {}, FakeDriver::images(), card);
        const auto device = access.open(0, 0, false);
        VERIFY_VALUE(device);
        auto* const opened = dynamic_cast<kernels::cuda::CudaDevice*>(device->get());
        QVERIFY(opened != nullptr);
        QCOMPARE(opened->facts().shared_bytes == 65536, is_less);
        QCOMPARE(opened->canCapture(), !is_less); // launches that are timed are not recorded
    }
}

/// What the driver is asked for from a reply's first replay on: one replay a token, and both
/// streams are waited for before the next one.
void TestCudaFaults::orderOfTokens() {
    FakeDriver fake({FakeCard{"First"}});
    {
        engine::Engine engine(optionsFor(fake));
        const auto loaded = engine.load(requestForCudaFaults(false), {}, {});
        VERIFY_VALUE(loaded);
        QVERIFY(engine.generate(prompt(), {}, {}).has_value()); // recorded
        fake.clearTrace();
        engine::GenerateRequest request = prompt();
        request.raw_ids = {2, 30, 31, 32, 33, 34};
        request.sampling.max_tokens = 4;
        QVERIFY(engine.generate(request, {}, {}).has_value());
        const std::map<std::string, char> letters = {{"cuMemcpyHtoDAsync", 'C'},
                                                     {"cuGraphLaunch", 'L'},
                                                     {"cuEventRecord", 'E'},
                                                     {"cuEventSynchronize", 'e'},
                                                     {"cuStreamSynchronize", 'S'}};
        std::string calls;
        for (const char* name : fake.trace()) {
            if (const auto letter = letters.find(name); letter != letters.end()) {
                calls += letter->second;
            }
        }
        const size_t first = calls.find('L');
        QVERIFY(first != std::string::npos);
        QCOMPARE(calls.substr(first), std::string("LSSLSSLSS"));
    }
    QVERIFY2(fake.violations().empty(),
             fake.violations().empty() ? "" : fake.violations().front().c_str());
    QCOMPARE(fake.live(), FakeLive{});
}

TEST_CLASS(TestCudaFaults)
#include "tst_cuda_faults.moc"
