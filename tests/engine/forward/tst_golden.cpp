// SPDX-License-Identifier: Apache-2.0
// The model against Hugging Face's own results (tests/data/golden*.tar.xz): all five models and all
// their cases, towers, every hidden state, logits and greedy tokens, on the float32 reference
// path; and the fast path against the same in its own tolerance.
#include "engine/forward/model.h"
#include "kernels/cpu/tables.h"
#include "tests/support/golden.h"
#include "tests/support/model/golden_model.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

namespace {

/// Largest difference to transformers' float64 run, as a share of the largest value.
constexpr double kBound = 1e-4;
/// Another order of sums moves some values over the edge between two codes.
constexpr double kCodesOrderBound = 1e-2;

const std::vector<std::string>& families() {
    static const std::vector<std::string> kFamilies = {"e2b", "e4b", "dense31b", "moe26b",
                                                       "unified12b"};
    return kFamilies;
}

std::vector<float> lastRows(const std::vector<float>& values, size_t rows, size_t width) {
    return {values.end() - static_cast<std::ptrdiff_t>(rows * width), values.end()};
}

/// Rows of that many values, each divided by its rms: what a projector takes.
std::vector<float> normedRows(std::vector<float> values, size_t width) {
    for (size_t first = 0; first < values.size(); first += width) {
        double squares = 0.0;
        for (size_t i = first; i < first + width; ++i) {
            squares += static_cast<double>(values[i]) * values[i];
        }
        const double rms = std::sqrt(squares / static_cast<double>(width) + 1e-6);
        for (size_t i = first; i < first + width; ++i) {
            values[i] = static_cast<float>(values[i] / rms);
        }
    }
    return values;
}

} // namespace

class TestGolden : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void reference_data() { rows(); }
    void reference();
    void codes_data() { rows(); }
    void codes();
    void fastPath_data() { rows(); }
    void fastPath();
    void chunksAndCut_data() { rows(); }
    void chunksAndCut();
    void longCalls_data();
    void longCalls();
    void stoppedCalls_data() { longCalls_data(); }
    void stoppedCalls();

private:
    static void rows() {
        support::addColumns<QString, int>("family", "index");
        for (const std::string& family : families()) {
            const auto cases = support::goldenCases(family);
            for (size_t i = 0; i < cases.size(); ++i) {
                QTest::addRow("%s %s", family.c_str(), cases[i].id.c_str())
                    << QString::fromStdString(family) << static_cast<int>(i);
            }
        }
    }
};

void TestGolden::reference() {
    QFETCH(QString, family);
    QFETCH(int, index);
    const std::string name = family.toStdString();
    auto open = support::openGoldenModel(name, true, kernels::cpuScalarOps());
    const auto c = support::goldenCases(name)[static_cast<size_t>(index)];
    const auto expected = support::readSafetensors(support::goldenDir() / name / "expected" /
                                                   (c.id + ".safetensors"));

    const auto features = support::encodeCase(*open.model, c);
    double largest = 0.0; // over everything compared; tests/support/tolerances.md has the table
    const auto compareWith = [&](const char* key, const std::vector<float>& actual,
                                 std::vector<float> golden) {
        if (golden.size() > actual.size()) { // audio rows that the mask drops stand at the end
            golden.resize(actual.size());
        }
        const double error = support::maxRelativeToLargest(actual, golden);
        largest = std::max(largest, error);
        if (!(error <= kBound)) {
            qWarning("%s: %g", key, error);
        }
        return error <= kBound;
    };
    const auto compare = [&](const char* key, const std::vector<float>& actual) {
        return compareWith(key, actual, expected.at(key).floats());
    };
    if (!c.image.empty()) {
        const char* const key = "embed_vision_before_projection";
        QVERIFY(open.config.hasVisionTower()
                    ? compare("vision_tower", features.vision_tower)
                    : compareWith(key, features.vision_tower,
                                  normedRows(expected.at(key).floats(),
                                             static_cast<size_t>(expected.at(key).shape[1]))));
        QVERIFY(compare("embed_vision", features.image));
    }
    if (!c.audio.empty() && !open.config.hasAudioTower()) {
        QVERIFY(compare("embed_audio", features.audio));
    } else if (!c.audio.empty()) {
        const auto& mask = expected.at("audio_mask").bytes;
        const auto valid = static_cast<size_t>(std::count(mask.begin(), mask.end(), 1));
        QCOMPARE(features.audio_tower.size(),
                 valid * static_cast<size_t>(open.config.audio->output_size));
        QVERIFY(compare("audio_tower", features.audio_tower));
        QVERIFY(compare("embed_audio", features.audio));
    }
    std::map<int, std::vector<float>> hidden;
    const engine::HiddenObserver observer = [&hidden](int i, std::span<const float> values,
                                                      int64_t) {
        hidden[i].insert(hidden[i].end(), values.begin(), values.end());
    };
    const auto vocab = static_cast<size_t>(open.config.text.vocab_size);
    const auto logits = support::prefill(*open.model, *open.kv, c.input_ids, features,
                                         expected.at("logits").shape[0], 512, &observer);
    QCOMPARE(hidden.size(), static_cast<size_t>(open.config.text.num_layers) + 1);
    for (const auto& [i, values] : hidden) {
        const std::string key = "hidden." + std::to_string(i);
        if (!expected.contains(key)) {
            QCOMPARE(name, std::string("unified12b")); // has them for two of its cases
            continue;
        }
        QCOMPARE(values.size(), expected.at(key).floats().size());
        QVERIFY2(compare(key.c_str(), values), key.c_str());
    }
    QCOMPARE(logits.size(), expected.at("logits").floats().size());
    QVERIFY(compare("logits", logits));
    qInfo("largest error of any tensor %.1e", largest);
    const auto tokens = support::greedy(*open.model, *open.kv, lastRows(logits, 1, vocab), 24);
    QCOMPARE(tokens, c.greedy);
}

/// Keys and values in q8 on the reference path, all else in fp32: no further from float64 than
/// transformers' bf16 in the noisiest case of the family. On the fast path 1.5 times as far.
void TestGolden::codes() {
    QFETCH(QString, family);
    QFETCH(int, index);
    const std::string name = family.toStdString();
    const auto c = support::goldenCases(name)[static_cast<size_t>(index)];
    const auto golden =
        support::readSafetensors(support::goldenDir() / name / "expected" / (c.id + ".safetensors"))
            .at("logits");
    const auto noise =
        support::readJson(support::goldenDir() / "about.json")["noise_against_float64"];
    const bool has_nmse = noise.contains(name + "/" + c.id);
    double allowed = has_nmse
                         ? 0.0
                         : support::readJson(support::goldenDir() / name / "about.json")["bf16_max"]
                               .get<double>();
    for (const auto& [key, of_case] : noise.items()) {
        if (has_nmse && key.starts_with(name + "/")) {
            allowed = std::max(allowed, of_case["bf16_nmse"].get<double>());
        }
    }
    for (const bool is_reference : {true, false}) {
        auto open = support::openGoldenModel(
            name, is_reference, is_reference ? kernels::cpuScalarOps() : kernels::bestCpuOps(), 512,
            256, engine::Format::Q8);
        const auto features = support::encodeCase(*open.model, c);
        const auto logits =
            support::prefill(*open.model, *open.kv, c.input_ids, features, golden.shape[0], 512);
        const double error = has_nmse ? support::nmse(logits, golden.floats())
                                      : support::maxRelativeToLargest(logits, golden.floats());
        qInfo("%s: %s %.2e, transformers bf16 %.2e", is_reference ? "reference" : "fast",
              has_nmse ? "NMSE" : "largest difference", error, allowed);
        QVERIFY(error <= (is_reference ? 1.0 : 1.5) * allowed);
    }
}

void TestGolden::fastPath() {
    QFETCH(QString, family);
    QFETCH(int, index);
    const std::string name = family.toStdString();
    const auto c = support::goldenCases(name)[static_cast<size_t>(index)];
    const auto expected = support::readSafetensors(support::goldenDir() / name / "expected" /
                                                   (c.id + ".safetensors"));
    const auto noise =
        support::readJson(support::goldenDir() / "about.json")["noise_against_float64"];
    const bool has_nmse = noise.contains(name + "/" + c.id);
    const double allowed =
        has_nmse ? noise[name + "/" + c.id]["bf16_nmse"].get<double>()
                 : support::readJson(support::goldenDir() / name / "about.json")["bf16_max"]
                       .get<double>();
    auto open = support::openGoldenModel(name, false, kernels::bestCpuOps());
    const auto features = support::encodeCase(*open.model, c);
    const auto vocab = static_cast<size_t>(open.config.text.vocab_size);
    auto logits = support::prefill(*open.model, *open.kv, c.input_ids, features,
                                   expected.at("logits").shape[0], 512);
    const auto golden = expected.at("logits").floats();
    const double error =
        has_nmse ? support::nmse(logits, golden) : support::maxRelativeToLargest(logits, golden);
    qInfo("%s: %s %.2e, transformers bf16 %.2e", open.cpu->ops().name,
          has_nmse ? "NMSE" : "largest difference", error, allowed);
    QVERIFY(error <= allowed);

    // Greedy, teacher-forced on the golden tokens: where the reference's margin between first and
    // second exceeds this path's own largest error, the choice must agree.
    auto reference = support::openGoldenModel(name, true, kernels::cpuScalarOps());
    const auto exact_features = support::encodeCase(*reference.model, c);
    auto exact =
        support::prefill(*reference.model, *reference.kv, c.input_ids, exact_features, 1, 512);
    logits = lastRows(logits, 1, vocab);
    int compared = 0;
    for (const int32_t token : c.greedy) {
        double largest_error = 0;
        for (size_t i = 0; i < vocab; ++i) {
            largest_error =
                std::max(largest_error, std::abs(static_cast<double>(logits[i]) - exact[i]));
        }
        std::vector<float> sorted = exact;
        std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
        if (static_cast<double>(sorted[0]) - sorted[1] > 2 * largest_error) {
            const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
            QCOMPARE(static_cast<int32_t>(best), token);
            ++compared;
        }
        engine::ForwardInput input;
        input.ids = std::span(&token, 1);
        QVERIFY(open.model->forward(input, *open.kv, logits, {}).has_value());
        QVERIFY(reference.model->forward(input, *reference.kv, exact, {}).has_value());
    }
    QVERIFY(compared > 0);
}

void TestGolden::chunksAndCut() {
    QFETCH(QString, family);
    QFETCH(int, index);
    const std::string name = family.toStdString();
    const auto c = support::goldenCases(name)[static_cast<size_t>(index)];
    auto open = support::openGoldenModel(name, true, kernels::cpuScalarOps());
    const auto features = support::encodeCase(*open.model, c);
    // All rows through all layers, in one call: no cut.
    const auto total = static_cast<int64_t>(c.input_ids.size());
    const auto vocab = static_cast<size_t>(open.config.text.vocab_size);
    const auto uncut = lastRows(
        support::prefill(*open.model, *open.kv, c.input_ids, features, total, 512), 1, vocab);
    double largest = 0.0;
    for (const int64_t chunk : {1, 7, 64, 512}) {
        // Also the scratch and the rings are sized for this chunk.
        auto sized = support::openGoldenModel(name, true, kernels::cpuScalarOps(), chunk);
        const auto logits =
            support::prefill(*sized.model, *sized.kv, c.input_ids, features, 1, chunk);
        const double error = support::maxRelativeToLargest(logits, uncut);
        largest = std::max(largest, error);
        QVERIFY2(error <= 2e-5, qPrintable(QStringLiteral("chunk %1: %2").arg(chunk).arg(error)));
    }
    qInfo("largest difference of any chunk size %.1e", largest);
}

void TestGolden::longCalls_data() {
    support::addColumns<QString, engine::Format>("family", "kv");
    for (const char* family : {"e2b", "moe26b"}) {
        QTest::newRow(family) << QString::fromLatin1(family) << engine::Format::AsStored;
        QTest::addRow("%s, q8", family) << QString::fromLatin1(family) << engine::Format::Q8;
    }
}

/// Calls of more rows than the sliding ring takes go through a stage: the same answers.
void TestGolden::longCalls() {
    QFETCH(QString, family);
    QFETCH(engine::Format, kv);
    const std::string name = family.toStdString();
    constexpr int64_t kRows = 1100;
    std::vector<int32_t> ids(kRows);
    std::vector<int32_t> blocks(kRows, -1);
    uint32_t state = 7;
    for (int32_t& id : ids) {
        state = state * 1664525U + 1013904223U;
        id = static_cast<int32_t>(10 + (state >> 8U) % 150U);
    }
    // A picture's rows, which see each other where the family is made so.
    std::fill(blocks.begin() + 640, blocks.begin() + 690, 0);

    const auto run = [&](const std::vector<int64_t>& cuts, int64_t chunk, bool is_stopped) {
        auto open = support::openGoldenModel(name, true, kernels::cpuScalarOps(), chunk, 1200, kv);
        std::vector<float> logits;
        const auto call = [&](int64_t first, int64_t end, const std::stop_token& stop) {
            engine::ForwardInput input;
            input.ids = std::span(ids).subspan(static_cast<size_t>(first),
                                               static_cast<size_t>(end - first));
            input.block = std::span(blocks).subspan(static_cast<size_t>(first),
                                                    static_cast<size_t>(end - first));
            input.logits_rows = end == kRows ? 3 : 0;
            return open.model->forward(input, *open.kv, logits, stop).has_value();
        };
        const auto all = [&] {
            int64_t first = 0;
            bool is_done = true;
            for (const int64_t end : cuts) {
                is_done = is_done && call(first, end, {});
                first = end;
            }
            return is_done;
        };
        if (is_stopped) {
            std::stop_source source;
            source.request_stop();
            if (!call(0, 540, {}) || call(540, kRows, source.get_token()) || open.kv->size() != 0) {
                return std::vector<float>();
            }
        }
        if (!all()) {
            return std::vector<float>();
        }
        std::vector<float> out = logits;
        // Tokens behind it read the ring that the long calls left.
        for (const int32_t token : {11, 42, 99}) {
            engine::ForwardInput input;
            input.ids = std::span(&token, 1);
            if (!open.model->forward(input, *open.kv, logits, {}).has_value()) {
                return std::vector<float>();
            }
            out.insert(out.end(), logits.begin(), logits.end());
        }
        return out;
    };
    const std::vector<float> expected = run({300, 600, 900, kRows}, 300, false);
    QVERIFY(!expected.empty());
    const auto check = [&](const char* what, const std::vector<float>& actual) {
        QCOMPARE(actual.size(), expected.size());
        const double error = support::maxRelativeToLargest(actual, expected);
        QVERIFY2(error <= (kv == engine::Format::Q8 ? kCodesOrderBound : 2e-5),
                 qPrintable(QStringLiteral("%1: %2").arg(what).arg(error)));
    };
    check("one call", run({kRows}, kRows, false));
    check("a ring before a long call", run({540, kRows}, kRows, false));
    check("two long calls and a short one", run({530, 1090, kRows}, kRows, false));
    check("after a stopped long call", run({kRows}, kRows, true));
}

/// A call stopped between two layers leaves slots that no layer behind that point has written,
/// whose memory may hold anything: nothing of them reaches what is computed next.
void TestGolden::stoppedCalls() {
    QFETCH(QString, family);
    QFETCH(engine::Format, kv);
    constexpr size_t kHeld = 5;
    constexpr size_t kRows = 12;
    std::vector<int32_t> ids(kRows);
    for (size_t i = 0; i < kRows; ++i) {
        ids[i] = static_cast<int32_t>(20 + 7 * i);
    }
    auto open =
        support::openGoldenModel(family.toStdString(), false, kernels::bestCpuOps(), 512, 256, kv);
    open.cpu->setPoison(true); // fresh memory reads as NaN
    std::vector<float> logits;
    const auto call = [&](engine::KvCache& cache, size_t first, size_t end, int stop_behind) {
        std::stop_source stop;
        const engine::HiddenObserver observer = [&](int i, std::span<const float>, int64_t) {
            if (i == stop_behind) {
                stop.request_stop();
            }
        };
        engine::ForwardInput input;
        input.ids = std::span(ids).subspan(first, end - first);
        input.logits_rows = 1;
        return open.model->forward(input, cache, logits, stop.get_token(),
                                   stop_behind < 0 ? nullptr : &observer);
    };
    const auto freshKv = [&] {
        return engine::KvCache::create(open.config, open.plan, open.devices).value();
    };
    const auto whole = freshKv();
    QVERIFY(call(*whole, 0, kHeld, -1).has_value());
    QVERIFY(call(*whole, kHeld, kHeld + 1, -1).has_value());
    const std::vector<float> expected = logits;

    const int layers = static_cast<int>(open.config.text.num_layers);
    for (const size_t end : {kHeld + 1, kRows}) {
        for (int stop_behind = 0; stop_behind + 1 < layers; ++stop_behind) {
            const auto held = freshKv();
            QVERIFY(call(*held, 0, kHeld, -1).has_value());
            const auto stopped = call(*held, kHeld, end, stop_behind);
            QVERIFY(!stopped.has_value());
            QCOMPARE(stopped.error().code, engine::ErrorCode::Cancelled);
            QCOMPARE(held->size(), static_cast<int64_t>(kHeld));
            QVERIFY(call(*held, kHeld, kHeld + 1, -1).has_value());
            QVERIFY2(
                logits == expected,
                qPrintable(
                    QStringLiteral("%1 rows, behind layer %2").arg(end - kHeld).arg(stop_behind)));
        }
    }
}

TEST_CLASS(TestGolden)
#include "tst_golden.moc"
