// SPDX-License-Identifier: Apache-2.0
// 1,000 cancels at random moments of a load, a prompt, a reply, a picture, a sound, a move, an
// adapter and a merge. What happens after the request is counted in the engine's own units: a step
// (layer), a token, a piece of a load, a tensor of a merge; in computing time, which a busy machine
// does not stretch; and on the clock. Nothing is left behind: descriptors, threads, memory. A part
// that does not look at its stop token, or that computes for too long after it, is found.
#include "engine/families/config.h"
#include "engine/lora/merge.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/tiny_model.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#ifdef Q_OS_UNIX
#include <unistd.h>
#endif

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMoments = 125; ///< For each kind of work.

const char* const kBefore =
    R"({"version": 1, "default": "sim:0", "map": {"model.vision_tower": "cpu"}})";
const char* const kAfter =
    R"({"version": 1, "default": "sim:0", "map": {"model.language_model.layers.[2-3]": "cpu"}})";

double cpuMs() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double msSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void computeFor(double ms) {
#ifdef _WIN32 // whose count of computing goes in steps of 10 ms and more
    const Clock::time_point begin = Clock::now();
    while (msSince(begin) < ms) {
    }
#else
    const double until = cpuMs() + ms;
    while (cpuMs() < until) {
    }
#endif
}

/// Asks for an end at a moment that the engine does not know: within the n-th unit of its work, by
/// the thread that was told of the unit or, a little later, by another one.
class Canceller {
public:
    Canceller(int at_unit, bool is_other_thread, double delay_ms)
        : at_unit_(at_unit), is_other_thread_(is_other_thread) {
        if (is_other_thread) {
            thread_ = std::thread([this, delay_ms] {
                while (units_ < at_unit_ && !is_over_) {
                    std::this_thread::sleep_for(std::chrono::microseconds(50));
                }
                const Clock::time_point begin = Clock::now();
                while (msSince(begin) < delay_ms && !is_over_) {
                }
                if (!is_over_) {
                    request();
                }
            });
        } else if (at_unit == 0) {
            request();
        }
    }
    /// A unit of work begins or has ended. Called by the thread that works.
    void unit() {
        units_after += is_requested ? 1 : 0;
        if (++units_ == at_unit_ && !is_other_thread_) {
            request();
        }
    }
    void end() {
        is_over_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    std::stop_source source;
    std::atomic<bool> is_requested = false;
    int units_after = 0;
    double cpu_at_request = 0.0;
    Clock::time_point requested_at;

private:
    void request() {
        cpu_at_request = cpuMs();
        requested_at = Clock::now();
        is_requested = true;
        source.request_stop();
    }

    const int at_unit_;
    const bool is_other_thread_;
    std::atomic<int> units_ = 0;
    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

/// What is wrong on purpose.
enum class Planted { Nothing = 1, Deaf, Slow };

struct Latencies {
    std::vector<double> cpu_ms, wall_ms;
    int most_units = 0, cancelled = 0, completed = 0;
    std::string problem;

    [[nodiscard]] static double most(const std::vector<double>& values) {
        return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
    }
};

/// A tiny model in one engine, and everything that can be asked of it.
class Subject {
public:
    /// `model`: of another model than the tiny one, whose towers have one layer only.
    explicit Subject(const fs::path& folder, const fs::path& model = {})
        : folder_(folder), model_(model.empty() ? folder / "model" : model) {
        if (model.empty()) {
            support::writeTinyModel(model_);
            support::writeTinyAdapter(folder / "adapter");
        }
        engine::EngineOptions options;
        options.on_step = [this] {
            unit();
            if (step_ms_ > 0.0) {
                computeFor(step_ms_); // a layer of a model that is not tiny
            }
        };
        engine_ = std::make_unique<engine::Engine>(options);
        expectDone(engine_->load(loadRequest(), {}, {}));
    }

    engine::Result<void> run(const std::string& kind, const std::stop_token& stop) {
        ++number_;
        if (kind == "load") {
            return engine_->load(loadRequest(), progress(), stop);
        }
        if (kind == "move") {
            const auto moved = engine_->applyMap(is_moved_ ? kBefore : kAfter, progress(), stop);
            is_moved_ = moved.has_value() ? !is_moved_ : is_moved_;
            return moved;
        }
        if (kind == "adapter") {
            // Taken off at once, without a look at the token: only adding is tried.
            expectDone(engine_->setAdapters({}, {}));
            return engine_->setAdapters({{(folder_ / "adapter").string(), 1.0, true}}, stop);
        }
        if (kind == "picture" || kind == "sound") {
            return engine_->encodeAhead(newMedia(kind == "picture"), 0, stop);
        }
        if (kind == "merge") {
            return merge(stop);
        }
        const bool is_prompt = kind == "prompt";
        engine::GenerateRequest request;
        engine::Message message;
        std::string text = std::to_string(number_); // nothing of it is in the cache
        for (int i = 0; i < (is_prompt ? 60 : 1); ++i) {
            text += " and so on";
        }
        message.parts.push_back({engine::MessagePart::Kind::Text, text});
        request.messages = {message};
        request.sampling.temperature = 0.0;
        request.sampling.ignores_eos = true;
        request.sampling.max_tokens = is_prompt ? 1 : 40;
        const auto reply = engine_->generate(
            request, [this](const engine::ReplyUpdate&) { unit(); }, stop);
        if (!reply.has_value()) {
            return reply.error();
        }
        if (reply->finish_reason == "cancelled") {
            return engine::Error{engine::ErrorCode::Cancelled, "cancelled"};
        }
        return {};
    }

    /// Everything as after the first load.
    void rest() {
        expectDone(engine_->setAdapters({}, {}));
        expectDone(engine_->applyMap(kBefore, {}, {}));
        is_moved_ = false;
    }

    /// `count` cancels at moments spread over the time that the work takes. Work that was done
    /// before its moment came is begun again.
    Latencies measure(const std::string& kind, int count, Planted planted = Planted::Nothing) {
        Latencies result;
        // How many units the work has, both ways of a move or an adapter.
        std::array<int, 2> units{};
        for (int i = 0; i < 4; ++i) {
            units_ = 0;
            const auto outcome = run(kind, {});
            if (!outcome.has_value()) {
                result.problem = outcome.error().message;
                return result;
            }
            units[static_cast<size_t>(i % 2)] = units_;
        }
        step_ms_ = 0.3;
        for (int i = 0; static_cast<int>(result.cpu_ms.size()) < count && i < 10 * count &&
                        result.problem.empty();
             ++i) {
            // Without units: before the work, or a little after its begin.
            const int most = std::min(units[0], units[1]);
            const int at =
                most == 0 ? 0 : 1 + static_cast<int>(random_() % static_cast<unsigned>(most));
            Canceller canceller(at, i % 2 == 1,
                                std::uniform_real_distribution<>(0.0, step_ms_)(random_));
            canceller_ = &canceller;
            const bool is_deaf = planted == Planted::Deaf;
            const auto outcome =
                run(kind, is_deaf ? std::stop_token() : canceller.source.get_token());
            if (planted == Planted::Slow && canceller.is_requested) {
                computeFor(1'100.0);
            }
            canceller.end();
            canceller_ = nullptr;
            if (!outcome.has_value() && outcome.error().code != engine::ErrorCode::Cancelled) {
                result.problem = outcome.error().message;
            }
            result.cancelled += outcome.has_value() ? 0 : 1;
            result.completed += outcome.has_value() ? 1 : 0;
            if (canceller.is_requested) {
                result.cpu_ms.push_back(cpuMs() - canceller.cpu_at_request);
                result.wall_ms.push_back(msSince(canceller.requested_at));
                result.most_units = std::max(result.most_units, canceller.units_after);
            }
            if (i % 10 == 9) {
                step_ms_ = 0.0;
                const auto after = run("reply", {});
                step_ms_ = 0.3;
                result.problem += after.has_value() ? "" : after.error().message;
            }
        }
        return result;
    }

private:
    void unit() {
        ++units_;
        if (canceller_ != nullptr) {
            canceller_->unit();
        }
    }

    [[nodiscard]] engine::LoadRequest loadRequest() const {
        engine::LoadRequest request;
        request.model = model_.string();
        request.device_map = kBefore;
        request.sim_gpus = {64U << 20U};
        request.context = 1024;
        request.prefill_chunk = 32;
        request.threads = 2;
        return request;
    }

    engine::ProgressCallback progress() {
        return [this](const engine::LoadProgressValue& value) {
            if (value.bytes_total == 0) {
                return; // a move that is taken back goes over tensors that never left
            }
            unit();
            if (step_ms_ > 0.0) {
                computeFor(step_ms_);
            }
        };
    }

    /// A file with a content that was not encoded yet.
    engine::MessagePart newMedia(bool is_picture) {
        const fs::path from =
            support::goldenDir() / (is_picture ? "media/picture0.png" : "media/clip0.wav");
        const fs::path to = folder_ / (is_picture ? "picture.png" : "sound.wav");
        std::ifstream in(from, std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(in)), {});
        if (is_picture) {
            bytes += std::to_string(number_); // behind the end chunk
        } else {
            bytes[bytes.size() - 2 - 2 * static_cast<size_t>(number_ % 4000)] ^= 1;
        }
        std::ofstream(to, std::ios::binary) << bytes;
        return {is_picture ? engine::MessagePart::Kind::Image : engine::MessagePart::Kind::Audio,
                to.string()};
    }

    engine::Result<void> merge(const std::stop_token& stop) {
        auto config = engine::readModelConfig(folder_ / "model");
        expectDone(config);
        auto adapter =
            engine::loadAdapter(folder_ / "adapter", *config, engine::listTensors(*config));
        expectDone(adapter);
        engine::MergeRequest request;
        request.model_folder = folder_ / "model";
        request.adapters = {{*adapter, 1.0}};
        request.out_folder = folder_ / ("merged" + std::to_string(number_));
        request.stop = stop;
        request.progress = [this](double, const std::string&) {
            unit();
            computeFor(step_ms_);
        };
        auto outcome = engine::mergeAdapters(request);
        const bool is_done = outcome.has_value();
        if (is_done) {
            fs::remove_all(request.out_folder);
            return {};
        }
        if (fs::exists(request.out_folder) && !fs::is_empty(request.out_folder)) {
            return engine::Error{engine::ErrorCode::Internal, "a cancelled merge left files"};
        }
        return outcome.error();
    }

    template <typename T>
    static void expectDone(const engine::Result<T>& outcome) {
        if (!outcome.has_value()) {
            qFatal("%s", outcome.error().message.c_str());
        }
    }

    fs::path folder_, model_;
    std::unique_ptr<engine::Engine> engine_;
    std::mt19937 random_{20261125};
    Canceller* canceller_ = nullptr; ///< Set and read by the engine's thread alone.
    double step_ms_ = 0.0;
    int number_ = 0, units_ = 0;
    bool is_moved_ = false;
};

/// Empty, or what is too slow.
std::string complaint(const Latencies& seen, int units) {
    if (!seen.problem.empty()) {
        return seen.problem;
    }
    if (seen.most_units > units) {
        return std::to_string(seen.most_units) + " units of work began or ended after the request";
    }
    if (Latencies::most(seen.cpu_ms) > 1'000.0) {
        return "computed for " + std::to_string(Latencies::most(seen.cpu_ms)) + " ms afterwards";
    }
    // The clock also counts what other programs do meanwhile: one in a hundred may be late.
    std::vector<double> wall = seen.wall_ms;
    std::sort(wall.begin(), wall.end());
    if (!wall.empty() && (wall[(wall.size() - 1) * 99 / 100] > 1'000.0 || wall.back() > 10'000.0)) {
        return "took " + std::to_string(wall.back()) + " ms";
    }
    return {};
}

int64_t entries(const char* folder) {
    std::error_code ignored;
    return std::distance(fs::directory_iterator(folder, ignored), fs::directory_iterator());
}

double residentKiB() {
    std::ifstream in("/proc/self/statm");
    int64_t total = 0;
    int64_t resident = 0;
    in >> total >> resident;
    return static_cast<double>(resident) * 4.0;
}

} // namespace

class TestCancelMoments : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void endsInTime_data();
    void endsInTime();
    void nothingIsLeft();
    void plantedFaultIsFound_data();
    void plantedFaultIsFound();

private:
    Subject& subjectOf(const QByteArray& kind) {
        return kind == "picture" || kind == "sound" ? *towers_ : *subject_;
    }

    QTemporaryDir folder_;
    std::unique_ptr<Subject> subject_, towers_;
    int64_t files_ = 0, threads_ = 0;
    std::vector<double> resident_;
    int moments_ = 0;
};

void TestCancelMoments::initTestCase() {
    subject_ = std::make_unique<Subject>(fs::path(folder_.path().toStdString()));
    for (const char* kind : {"load", "prompt", "reply", "picture", "sound", "move", "adapter"}) {
        QVERIFY2(subject_->run(kind, {}).has_value(), kind);
    }
    subject_->rest();
    towers_ = std::make_unique<Subject>(fs::path(folder_.path().toStdString()),
                                        support::sourceDir() / "resources/demo_model");
    files_ = entries("/proc/self/fd");
    threads_ = entries("/proc/self/task");
}

void TestCancelMoments::endsInTime_data() {
    QTest::addColumn<QByteArray>("kind");
    QTest::addColumn<int>("units"); ///< That may begin or end after the request.
    QTest::newRow("load") << QByteArray("load") << 3;
    QTest::newRow("prompt") << QByteArray("prompt") << 2;
    QTest::newRow("reply") << QByteArray("reply") << 2;
    QTest::newRow("picture") << QByteArray("picture") << 1; // of 4 layers
    QTest::newRow("sound") << QByteArray("sound") << 1;     // of 3
    QTest::newRow("move") << QByteArray("move") << 3;
    QTest::newRow("adapter") << QByteArray("adapter") << 2;
    QTest::newRow("merge") << QByteArray("merge") << 2;
}

void TestCancelMoments::endsInTime() {
    QFETCH(QByteArray, kind);
    QFETCH(int, units);
    const double before = residentKiB();
    const Latencies seen = subjectOf(kind).measure(kind.toStdString(), kMoments);
    qInfo("%d requested, %d cancelled, %d were done first; most units %d, computing %.1f ms, clock "
          "%.1f ms; memory %+.0f KiB",
          static_cast<int>(seen.cpu_ms.size()), seen.cancelled, seen.completed, seen.most_units,
          Latencies::most(seen.cpu_ms), Latencies::most(seen.wall_ms), residentKiB() - before);
    VERIFY_EMPTY(complaint(seen, units));
    QVERIFY(seen.cancelled > kMoments / 2); // moments in the middle of the work
    moments_ += static_cast<int>(seen.cpu_ms.size());
    resident_.push_back(residentKiB());
}

void TestCancelMoments::nothingIsLeft() {
#ifndef Q_OS_LINUX
    QSKIP("reads /proc");
#endif
    QCOMPARE(moments_, 1'000);
    subject_->rest();
    QCOMPARE(entries("/proc/self/fd"), files_);
    QCOMPARE(entries("/proc/self/task"), threads_);
    // Each kind once more: what they keep (caches, the allocator's room) they have by now.
    const double before = residentKiB();
    int cancels = 0;
    for (const char* kind : {"load", "prompt", "reply", "picture", "sound", "move", "adapter"}) {
        const Latencies seen = subjectOf(kind).measure(kind, 15);
        VERIFY_EMPTY(seen.problem);
        cancels += seen.cancelled;
    }
    const double per_cancel = (residentKiB() - before) / std::max(cancels, 1);
    qInfo("%.1f KiB a cancel over %d more", per_cancel, cancels);
    QVERIFY(per_cancel < 64.0);
    subject_->rest();
    QCOMPARE(entries("/proc/self/fd"), files_);
    QCOMPARE(entries("/proc/self/task"), threads_);
}

void TestCancelMoments::plantedFaultIsFound_data() {
    support::addColumns<QByteArray, bool>("kind", "is_deaf");
    for (const char* kind : {"load", "prompt", "reply", "picture", "sound", "move", "merge"}) {
        QTest::addRow("%s does not look", kind) << QByteArray(kind) << true;
    }
    QTest::newRow("computes on") << QByteArray("reply") << false;
}

void TestCancelMoments::plantedFaultIsFound() {
    QFETCH(QByteArray, kind);
    QFETCH(bool, is_deaf);
    const Latencies seen = is_deaf ? subjectOf(kind).measure(kind.toStdString(), 20, Planted::Deaf)
                                   : subjectOf(kind).measure(kind.toStdString(), 4, Planted::Slow);
    const std::string wrong = complaint(seen, kind == "picture" || kind == "sound" ? 1 : 3);
    QVERIFY(!wrong.empty());
    qInfo("%s", wrong.c_str());
}

TEST_CLASS(TestCancelMoments)
#include "tst_cancel_moments.moc"
