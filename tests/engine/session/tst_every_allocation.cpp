// SPDX-License-Identifier: Apache-2.0
// Plain memory (operator new) runs out at every allocation: the n-th fails, for every n, of a first
// load, a load beside a loaded model, a load of an adapter, a move, the first token, a picture turn
// and a sound turn; once, and sticky (the n-th and all that follow until the request has
// returned). After each: an OutOfMemory error (or success, where a library gets along with less),
// the former model with its accounts and its answer, the next request answered, and no block of
// memory more than before.
//
// The model is the smallest that has all parts, and its threads are not started, so that the n-th
// allocation is the same one every time. By default all n of the turns are tried, and every 97th of
// loads and moves; BELFRY_EVERY_ALLOCATION=1 tries all n of everything (CONTRIBUTING.md; minutes),
// BELFRY_EVERY_ALLOCATION=FROM-TO those only.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/tiny_model.h"
#include "tests/support/memory/failing_memory.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace {

using support::MemoryFault;
using Accounts = std::map<engine::DeviceId, engine::PartBytes>;
using Which = MemoryFault::Which;

const char* const kBefore = R"({"version": 1, "default": "sim:0", "map": {
    "model.language_model.layers.1": {"store": "cpu", "compute": "sim:0"},
    "model.vision_tower": {"store": "cpu", "compute": "sim:0"},
    "model.language_model.embed_tokens_per_layer": "cpu"}})";
const char* const kAfter = R"({"version": 1, "default": "sim:0", "map": {
    "model.language_model.layers.[2-3]": "sim:1", "model.audio_tower": "cpu",
    "model.language_model.embed_tokens_per_layer": "disk"}})";

/// What a turn attaches.
enum class Attached : uint8_t { Nothing = 1, Picture, Sound };

engine::GenerateRequest requestOf(Attached attached) {
    engine::Message message;
    if (attached == Attached::Picture) {
        message.parts.push_back({engine::MessagePart::Kind::Image,
                                 (support::goldenDir() / "media/picture0.png").string()});
    } else if (attached == Attached::Sound) {
        message.parts.push_back({engine::MessagePart::Kind::Audio,
                                 (support::goldenDir() / "media/clip0.wav").string()});
    }
    message.parts.push_back({engine::MessagePart::Kind::Text, "Hi there"});
    engine::GenerateRequest request;
    request.messages = {message};
    request.sampling.temperature = 0.0;
    request.sampling.ignores_eos = true;
    request.sampling.max_tokens = 2;
    return request;
}

std::vector<int32_t> tokensOf(const engine::Result<engine::Reply>& reply) {
    return reply.has_value() ? reply->token_ids : std::vector<int32_t>();
}

struct WatchedEngine {
    /// Bytes that are in use, per device and part.
    [[nodiscard]] Accounts accounts() const {
        Accounts out;
        for (const engine::DeviceMemory& device : engine->memory()) {
            out[device.id] = device.measured;
        }
        return out;
    }
    std::vector<int32_t> turn() { return tokensOf(engine->generate(plain, {}, {})); }

    const engine::GenerateRequest plain = requestOf(Attached::Nothing);
    std::optional<engine::Engine> engine{std::in_place};
};

/// Blocks that the test's own books hold.
int64_t blocksOf(const std::vector<int32_t>& tokens, const Accounts& accounts) {
    return (tokens.empty() ? 0 : 1) + static_cast<int64_t>(accounts.size());
}

/// Which n are tried.
struct Points {
    int64_t stride = 1, from = 1, to = INT64_MAX;
};

} // namespace

class TestEveryAllocation : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void firstLoad_data() { bothForms(); }
    void firstLoad();
    void loadWithCache_data();
    void loadWithCache();
    void loadOnThreads_data();
    void loadOnThreads();
    void loadBesideLoaded_data() { bothForms(); }
    void loadBesideLoaded();
    void adapters_data() { bothForms(); }
    void adapters();
    void move_data() { bothForms(); }
    void move();
    void turns_data();
    void turns();

private:
    static void bothForms() {
        QTest::addColumn<Which>("which");
        QTest::newRow("once") << Which::Once;
        QTest::newRow("sticky") << Which::Sticky;
    }

    [[nodiscard]] engine::LoadRequest requestFor(const char* map) const {
        engine::LoadRequest request;
        request.model = (folder_.path() + "/model").toStdString();
        request.device_map = map;
        request.context = 128;
        request.sim_gpus = {64U << 20U, 64U << 20U};
        request.threads = 1;
        request.quant = "nf4-dq";
        request.adapters.push_back({(folder_.path() + "/adapter").toStdString(), 1.0, true});
        return request;
    }

    /// Lets each n of `operation` fail. `prepare` makes the state that it starts from, `check` says
    /// what is wrong after a failure or a success; "" = nothing.
    void sweep(Which which,
               int64_t stride,
               const std::function<void()>& prepare,
               const std::function<engine::Result<void>()>& operation,
               const std::function<std::string(bool has_failed)>& check);

    /// sweep() of something that changes what is loaded; `back` undoes it.
    void changes(Which which,
                 int64_t stride,
                 const std::function<engine::Result<void>(engine::Engine&)>& change,
                 const std::function<engine::Result<void>(engine::Engine&)>& back);

    QTemporaryDir folder_;
    Points points_;
    bool is_full_ = false;
};

void TestEveryAllocation::initTestCase() {
    QVERIFY(folder_.isValid());
    support::writeTinyModel((folder_.path() + "/model").toStdString());
    support::writeTinyAdapter((folder_.path() + "/adapter").toStdString());
    support::writeTinyAdapter((folder_.path() + "/second").toStdString());
    const QByteArray wanted = qgetenv("BELFRY_EVERY_ALLOCATION");
    is_full_ = !wanted.isEmpty();
    if (const auto dash = wanted.indexOf('-'); dash > 0) {
        points_.from = wanted.left(dash).toLongLong();
        points_.to = wanted.mid(dash + 1).toLongLong();
    }
    // Also what a first message takes for good: it must not look like a leak later.
    qInfo("%s", is_full_ ? "every allocation" : "every allocation of turns, a part of the others");
}

void TestEveryAllocation::sweep(Which which,
                                int64_t stride,
                                const std::function<void()>& prepare,
                                const std::function<engine::Result<void>()>& operation,
                                const std::function<std::string(bool)>& check) {
    int64_t calls = 0;
    for (int i = 0; i < 2; ++i) { // what is made once in a program is made by the first
        prepare();
        {
            MemoryFault fault(0);
            const engine::Result<void> calm = operation();
            fault.end();
            VERIFY_VALUE(calm);
        }
        calls = MemoryFault::calls();
        QCOMPARE(QString::fromStdString(check(false)), QString());
    }
    QElapsedTimer time;
    time.start();
    int64_t failures = 0;
    int64_t tried = 0;
    int64_t another_way = 0; // done without, though the caller had not asked with std::nothrow
    const int64_t step = is_full_ ? 1 : stride * support::kPointStride;
    for (int64_t n = points_.from; n <= std::min(calls, points_.to); n += step) {
        prepare();
        const QByteArray at = "allocation " + QByteArray::number(qlonglong(n));
        bool has_failed = false;
        {
            MemoryFault fault(n, which);
            const engine::Result<void> result = operation();
            fault.end();
            // It may take fewer by now: texts with the machine's free memory are shorter, files
            // that have grown older are known by their stamps.
            const int64_t made = MemoryFault::calls();
            QVERIFY2(MemoryFault::failed() >= 1 ||
                         (result.has_value() && made < n &&
                          made > calls - std::max<int64_t>(8, calls / 50)),
                     at + " was not made of " + QByteArray::number(qlonglong(made)));
            has_failed = !result.has_value();
            if (has_failed) {
                QVERIFY2(result.error().code == engine::ErrorCode::OutOfMemory,
                         at + ": " + result.error().message.c_str());
                QVERIFY2(!result.error().message.empty(), at);
            }
        }
        ++tried;
        failures += has_failed ? 1 : 0;
        another_way += !has_failed && MemoryFault::failed() != MemoryFault::failedNothrow() ? 1 : 0;
        const std::string wrong = check(has_failed);
        QVERIFY2(wrong.empty(), at + ": " + wrong.c_str());
    }
    qInfo("%s of %s allocations failed: %s errors, %s done without (%s in another way); %s ms",
          qPrintable(QString::number(tried)), qPrintable(QString::number(calls)),
          qPrintable(QString::number(failures)), qPrintable(QString::number(tried - failures)),
          qPrintable(QString::number(another_way)), qPrintable(QString::number(time.elapsed())));
    if (is_full_ && points_.to == INT64_MAX) {
        QCOMPARE(tried, calls); // each one
    }
    QVERIFY(failures > 0);
}

void TestEveryAllocation::firstLoad() {
    QFETCH(Which, which);
    const support::NoThreads guard;
    WatchedEngine watched;
    const engine::LoadRequest request = requestFor(kBefore);
    QVERIFY(watched.engine->load(request, {}, {}).has_value());
    const std::vector<int32_t> expected = watched.turn();
    QCOMPARE(expected.size(), size_t{2});
    watched.engine->unload();
    int64_t empty = -1;
    int64_t count = 0;
    sweep(
        which, 97, [&] { empty = empty < 0 ? support::liveBlocks() : empty; },
        [&] { return watched.engine->load(request, {}, {}); },
        [&](bool has_failed) -> std::string {
            if (watched.engine->isLoaded() == has_failed) {
                return has_failed ? "something is loaded" : "nothing is loaded";
            }
            if (!has_failed || ++count % 16 == 1) { // the next request
                if (has_failed && !watched.engine->load(request, {}, {}).has_value()) {
                    return "the next load fails";
                }
                if (watched.turn() != expected) {
                    return "another answer";
                }
                watched.engine->unload();
            }
            if (!watched.turn().empty()) { // also takes the room for the next message again
                return "an answer from nothing";
            }
            const int64_t live = support::liveBlocks();
            return live == empty ? "" : std::to_string(live - empty) + " blocks more than before";
        });
}

void TestEveryAllocation::loadWithCache_data() {
    support::addColumns<Which, bool>("which", "is_there");
    QTest::newRow("written, once") << Which::Once << false;
    QTest::newRow("written, sticky") << Which::Sticky << false;
    QTest::newRow("read, once") << Which::Once << true;
    QTest::newRow("read, sticky") << Which::Sticky << true;
}

/// A cache that could not be written or read is no reason for a load to fail, a damaged one that is
/// used would be another answer.
void TestEveryAllocation::loadWithCache() {
    QFETCH(Which, which);
    QFETCH(bool, is_there);
    const support::NoThreads guard;
    WatchedEngine watched;
    engine::Engine& engine = *watched.engine;
    engine::LoadRequest request = requestFor(kBefore);
    request.cache_folder = (folder_.path() + "/cache").toStdString();
    const std::filesystem::path cache = request.cache_folder;
    std::filesystem::remove_all(cache);
    QVERIFY(engine.load(request, {}, {}).has_value());
    const std::vector<int32_t> expected = watched.turn();
    QCOMPARE(expected.size(), size_t{2});
    engine.unload();
    QVERIFY(!std::filesystem::is_empty(cache));
    int64_t empty = -1;
    int64_t count = 0;
    sweep(
        which, 397,
        [&] {
            if (!is_there) {
                std::filesystem::remove_all(cache);
            }
            empty = empty < 0 ? support::liveBlocks() : empty;
        },
        [&] { return engine.load(request, {}, {}); },
        [&](bool has_failed) -> std::string {
            if (engine.isLoaded() == has_failed) {
                return has_failed ? "something is loaded" : "nothing is loaded";
            }
            if (!has_failed || ++count % 4 == 1) { // what is in the cache now is right
                if (has_failed && !engine.load(request, {}, {}).has_value()) {
                    return "the next load fails";
                }
                if (watched.turn() != expected) {
                    return "another answer";
                }
                engine.unload();
            }
            (void)watched.turn(); // takes the room for the next message again
            const int64_t live = support::liveBlocks();
            return live == empty ? "" : std::to_string(live - empty) + " blocks more than before";
        });
}

void TestEveryAllocation::loadOnThreads_data() {
    using Where = MemoryFault::Where;
    support::addColumns<Which, Where>("which", "where");
    QTest::newRow("theirs, once") << Which::Once << Where::OtherThreads;
    QTest::newRow("theirs, sticky") << Which::Sticky << Where::OtherThreads;
    QTest::newRow("engine's, once") << Which::Once << Where::ThisThread;
    QTest::newRow("engine's, sticky") << Which::Sticky << Where::ThisThread;
}

/// A load with its threads: what they allocate fails, counted over all of them, or what the
/// engine's thread allocates meanwhile.
void TestEveryAllocation::loadOnThreads() {
    QFETCH(Which, which);
    QFETCH(MemoryFault::Where, where);
    WatchedEngine watched;
    engine::Engine& engine = *watched.engine;
    const engine::LoadRequest request = requestFor(kBefore);
    const int64_t stride = is_full_                                    ? 1
                           : where == MemoryFault::Where::OtherThreads ? 7 * support::kPointStride
                                                                       : 397;
    QVERIFY(engine.load(request, {}, {}).has_value());
    const std::vector<int32_t> expected = watched.turn();
    QCOMPARE(expected.size(), size_t{2});
    engine.unload();
    (void)watched.turn();
    const int64_t empty = support::liveBlocks();
    int64_t failures = 0;
    int64_t tried = 0;
    bool is_reached = true;
    for (int64_t n = points_.from; is_reached && n <= points_.to; n += stride) {
        {
            MemoryFault fault(n, which, where);
            const engine::Result<void> loaded = engine.load(request, {}, {});
            fault.end();
            is_reached = MemoryFault::failed() > 0;
            tried += is_reached ? 1 : 0;
            failures += loaded.has_value() ? 0 : 1;
            if (!loaded.has_value()) {
                QCOMPARE(loaded.error().code, engine::ErrorCode::OutOfMemory);
                QVERIFY(!loaded.error().message.empty());
            }
        }
        if (engine.isLoaded()) { // done without, or no allocation was left to fail
            QCOMPARE(watched.turn(), expected);
            engine.unload();
        }
        QVERIFY(watched.turn().empty());
        QCOMPARE(support::liveBlocks(), empty);
    }
    qInfo("%s allocations failed: %s errors", qPrintable(QString::number(tried)),
          qPrintable(QString::number(failures)));
    QVERIFY(failures > 0);
    QVERIFY(engine.load(request, {}, {}).has_value());
    QCOMPARE(watched.turn(), expected);
}

void TestEveryAllocation::changes(
    Which which,
    int64_t stride,
    const std::function<engine::Result<void>(engine::Engine&)>& change,
    const std::function<engine::Result<void>(engine::Engine&)>& back) {
    const support::NoThreads guard;
    WatchedEngine watched;
    engine::Engine& engine = *watched.engine;
    const engine::LoadRequest request = requestFor(kBefore);
    // What a program makes once is made here.
    QVERIFY(engine.load(request, {}, {}).has_value());
    QVERIFY(change(engine).has_value());
    QVERIFY(!watched.turn().empty());
    QVERIFY(back(engine).has_value());
    engine.unload();
    int64_t empty = -1;
    std::vector<int32_t> expected;
    Accounts accounts;
    // Blocks in use with the former model in place: as loaded, or as moved back.
    std::set<int64_t> known;
    const auto stateWrong = [&]() -> std::string {
        if (!engine.isLoaded() || engine.loadedRequest().device_map != request.device_map) {
            return "the former model is not loaded";
        }
        if (watched.turn() != expected) {
            return "another answer";
        }
        return watched.accounts() != accounts ? "other accounts"
                                              : support::memoryDifference(engine);
    };
    // Functions that are alive from here to the end: their blocks do not count as left over.
    const std::function<void()> prepare = [&] {
        if (empty < 0) {
            empty = support::liveBlocks();
            (void)engine.load(request, {}, {});
            expected = watched.turn();
            accounts = watched.accounts();
        }
    };
    /// Blocks that are out besides those of the engine.
    const auto own = [&] {
        return empty + static_cast<int64_t>(known.size()) + blocksOf(expected, accounts);
    };
    const std::function<engine::Result<void>()> operation = [&] { return change(engine); };
    const std::function<std::string(bool)> check = [&](bool has_failed) -> std::string {
        if (!has_failed) {
            if (watched.turn().size() != expected.size()) {
                return "no answer after the change";
            }
            if (const auto undone = back(engine); !undone.has_value()) {
                return undone.error().message;
            }
        }
        if (std::string wrong = stateWrong(); !wrong.empty()) {
            return wrong;
        }
        const int64_t live = support::liveBlocks();
        if (known.contains(live - static_cast<int64_t>(known.size()))) {
            return "";
        }
        engine.unload();
        if (const int64_t left = support::liveBlocks() - own(); left != 0) {
            return std::to_string(left) + " blocks more than before";
        }
        known.insert(live - static_cast<int64_t>(known.size()));
        return engine.load(request, {}, {}).has_value() ? stateWrong() : "cannot be loaded again";
    };
    sweep(which, stride, prepare, operation, check);
    engine.unload();
    QCOMPARE(support::liveBlocks(), own());
    // A move that found room in another way may leave other books: some few forms, not ever more.
    QVERIFY2(known.size() < 40, "the state after a change has ever other blocks");
}

void TestEveryAllocation::loadBesideLoaded() {
    QFETCH(Which, which);
    changes(
        which, 97,
        [other = requestFor(kAfter)](engine::Engine& engine) { return engine.load(other, {}, {}); },
        [former = requestFor(kBefore)](engine::Engine& engine) {
            return engine.load(former, {}, {});
        });
}

void TestEveryAllocation::adapters() {
    QFETCH(Which, which);
    const std::vector<engine::AdapterChoice> former = requestFor(kBefore).adapters;
    std::vector<engine::AdapterChoice> other = former;
    other.front().strength = 0.5;
    other.push_back({(folder_.path() + "/second").toStdString(), 1.0, true});
    changes(
        which, 37, [&](engine::Engine& engine) { return engine.setAdapters(other, {}); },
        [&](engine::Engine& engine) { return engine.setAdapters(former, {}); });
}

void TestEveryAllocation::move() {
    QFETCH(Which, which);
    const std::string there = kAfter;
    const std::string back = kBefore;
    changes(
        which, 97, [&](engine::Engine& engine) { return engine.applyMap(there, {}, {}); },
        [&](engine::Engine& engine) { return engine.applyMap(back, {}, {}); });
}

void TestEveryAllocation::turns_data() {
    support::addColumns<Which, Attached>("which", "attached");
    QTest::newRow("first token, once") << Which::Once << Attached::Nothing;
    QTest::newRow("first token, sticky") << Which::Sticky << Attached::Nothing;
    QTest::newRow("picture, once") << Which::Once << Attached::Picture;
    QTest::newRow("picture, sticky") << Which::Sticky << Attached::Picture;
    QTest::newRow("sound, once") << Which::Once << Attached::Sound;
    QTest::newRow("sound, sticky") << Which::Sticky << Attached::Sound;
}

void TestEveryAllocation::turns() {
    QFETCH(Which, which);
    QFETCH(Attached, attached);
    const support::NoThreads guard;
    WatchedEngine watched;
    engine::Engine& engine = *watched.engine;
    const engine::LoadRequest request = requestFor(kBefore);
    const engine::GenerateRequest question = requestOf(attached);
    QVERIFY(engine.load(request, {}, {}).has_value());
    const std::vector<int32_t> expected = tokensOf(engine.generate(question, {}, {}));
    QCOMPARE(expected.size(), size_t{2});
    const Accounts accounts = watched.accounts();
    engine.unload();
    int64_t empty = -1;
    sweep(
        which, which == Which::Once ? 1 : 7,
        [&] {
            empty = empty < 0 ? support::liveBlocks() : empty;
            (void)engine.load(request, {}, {}); // nothing is encoded or in the cache
        },
        [&]() -> engine::Result<void> {
            engine::Result<engine::Reply> reply = engine.generate(question, {}, {});
            if (!reply.has_value()) {
                return std::move(reply).error();
            }
            return reply->token_ids == expected
                       ? engine::Result<void>()
                       : engine::Error{engine::ErrorCode::Internal, "another answer", {}};
        },
        [&](bool /*has_failed*/) -> std::string {
            if (watched.accounts() != accounts) {
                return "other accounts";
            }
            if (tokensOf(engine.generate(question, {}, {})) != expected) {
                return "the next request gives another answer";
            }
            engine.unload();
            const int64_t live = support::liveBlocks();
            return live == empty ? "" : std::to_string(live - empty) + " blocks more than before";
        });
}

TEST_CLASS(TestEveryAllocation)
#include "tst_every_allocation.moc"
