// SPDX-License-Identifier: Apache-2.0
// 4-bit models: quantized while loading, and as saved by bitsandbytes, against the golden logits of
// the same weights (expanded by bitsandbytes itself, run in float64), float32 path.
#include "engine/families/config.h"
#include "engine/families/gemma4/stored_head.h"
#include "engine/families/tensor_list.h"
#include "engine/files/safetensors_writer.h"
#include "engine/quant/quantize.h"
#include "kernels/cpu/tables.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/worst_error.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <span>

namespace fs = std::filesystem;

namespace {

std::vector<std::byte> bytesOf(const void* data, size_t size) {
    std::vector<std::byte> bytes(size);
    std::memcpy(bytes.data(), data, size);
    return bytes;
}

/// What double quantization makes of the scales of blocks in bitsandbytes on a CPU: it finds a
/// code in a table of 65536 steps, where its GPU kernels, and ours, take the nearest one.
void nestAsOnTheCpu(std::vector<float>& absmax) {
    const std::array<float, 256>& map = engine::dynamicMap();
    const double sum = std::accumulate(absmax.begin(), absmax.end(), 0.0);
    const auto offset = static_cast<float>(sum / static_cast<double>(absmax.size()));
    constexpr size_t kNested = engine::kNestedBlockSize;
    for (size_t first = 0; first < absmax.size(); first += kNested) {
        const std::span<float> block(absmax.data() + first,
                                     std::min(kNested, absmax.size() - first));
        float largest = 0.0F;
        for (float& value : block) {
            value -= offset;
            largest = std::max(largest, std::abs(value));
        }
        for (float& value : block) {
            constexpr float kSteps = 65535.0F;
            const float ratio = std::clamp(value * (1.0F / largest), -1.0F, 1.0F);
            const auto step = static_cast<int>((ratio + 1.0F) * 0.5F * kSteps + 0.5F);
            const float looked_up = -1.0F + 2.0F * static_cast<float>(step) / kSteps;
            size_t code = 0;
            while (code + 1 < map.size() && 0.5F * (map[code] + map[code + 1]) < looked_up) {
                ++code;
            }
            value = map[code] * largest + offset;
        }
    }
}

/// A copy of a model whose 4-bit modules hold, in fp32, what quantizing makes of them; with
/// `change`, after that has changed the scales.
void writeExpanded(const fs::path& model,
                   const std::vector<std::string>& modules,
                   engine::Format format,
                   int32_t block_size,
                   const fs::path& to,
                   void (*change)(std::vector<float>&) = nullptr) {
    const engine::ModelConfig config = support::must(engine::readModelConfig(model), "config");
    fs::copy(model, to, fs::copy_options::recursive);
    fs::remove(to / "model.safetensors");
    std::vector<engine::TensorToWrite> tensors;
    for (const auto& [name, tensor] : support::readSafetensors(model / "model.safetensors")) {
        const std::string canonical = engine::storedTensorName(config, name);
        const bool is_weight = canonical.ends_with(".weight");
        const std::string module =
            is_weight ? canonical.substr(0, canonical.size() - 7) : canonical;
        if (!is_weight || std::find(modules.begin(), modules.end(), module) == modules.end()) {
            const auto type = tensor.dtype == "BF16"  ? engine::TensorType::BF16
                              : tensor.dtype == "F32" ? engine::TensorType::F32
                                                      : engine::TensorType::F16;
            tensors.push_back(engine::tensorFromBytes(
                name, type, tensor.shape, bytesOf(tensor.bytes.data(), tensor.bytes.size())));
            continue;
        }
        const int64_t rows = tensor.shape[0];
        const int64_t cols = tensor.shape[1];
        auto packed = engine::quantizeTensor(name, format, block_size, engine::TensorType::BF16,
                                             std::as_bytes(std::span<const uint8_t>(tensor.bytes)),
                                             rows, cols);
        QVERIFY(packed.has_value());
        if (change != nullptr) {
            change(packed->absmax);
        }
        std::vector<int32_t> ids(static_cast<size_t>(rows));
        for (size_t i = 0; i < ids.size(); ++i) {
            ids[i] = static_cast<int32_t>(i);
        }
        std::vector<float> values(static_cast<size_t>(rows * cols));
        QCOMPARE(kernels::cpuScalarOps().gather_rows({}, packed->view(), ids.data(), rows, 0, 1.0F,
                                                     {values.data(), rows, cols, cols}),
                 kernels::Status::Ok);
        tensors.push_back(
            engine::tensorFromBytes(name, engine::TensorType::F32, tensor.shape,
                                    bytesOf(values.data(), values.size() * sizeof(float))));
    }
    QVERIFY(engine::writeSafetensorsFile(to / "model.safetensors", tensors).has_value());
}

} // namespace

class TestQuantized : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void logits_data();
    void logits();
    void otherBlockSizes_data();
    void otherBlockSizes();
    void codesOfTheCpu_data();
    void codesOfTheCpu();
    void modulesInFourBits_data();
    void modulesInFourBits();
    void cleanupTestCase() { worst_.print("logits of 4-bit models"); }

private:
    support::WorstError worst_;
};

void TestQuantized::logits_data() {
    support::addColumns<QString, QString, QString>("family", "format", "folder");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b"}) {
        for (const char* format : {"nf4", "nf4-dq"}) {
            QTest::addRow("%s %s on load", family, format)
                << QString::fromUtf8(family) << QString::fromUtf8(format)
                << QStringLiteral("model");
        }
    }
    // FP4 codes of values on a threshold depend on the GPU's reciprocal: the checkpoint is the
    // reference.
    QTest::addRow("e2b fp4 on load")
        << QStringLiteral("e2b") << QStringLiteral("fp4") << QStringLiteral("model");
    const std::pair<const char*, const char*> packed[] = {
        {"e2b", "nf4"},      {"e2b", "nf4-dq"},      {"e2b", "fp4"},
        {"dense31b", "nf4"}, {"dense31b", "nf4-dq"}, {"moe26b", "nf4-dq"}};
    for (const auto& [family, format] : packed) {
        QTest::addRow("%s %s as saved", family, format)
            << QString::fromUtf8(family) << QString::fromUtf8(format)
            << QStringLiteral("quantized/%1-checkpoint").arg(QString::fromUtf8(format));
    }
}

void TestQuantized::logits() {
    QFETCH(QString, family);
    QFETCH(QString, format);
    QFETCH(QString, folder);
    const std::string name = family.toStdString();
    engine::LoadRequest request = support::goldenRequest(name, folder.toStdString());
    if (folder == QStringLiteral("model")) {
        request.quant = format.toStdString();
    }
    engine::Engine engine;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto expected =
        support::readSafetensors(support::goldenDir() / name / "quantized" /
                                 (format.toStdString() + ".expected_logits.safetensors"));
    for (const auto& c : support::goldenCases(name)) {
        const auto golden = expected.at(c.id + ".logits_dequant_fp32").floats();
        const auto logits = support::engineLogits(engine, c, 8);
        const double error = worst_.add(support::maxRelativeToLargest(logits, golden), c.id);
        QVERIFY2(error <= 1e-4,
                 qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
    }
}

void TestQuantized::otherBlockSizes_data() {
    support::addColumns<QString, int>("format", "block_size");
    for (const int block_size : {32, 128, 512, 4096}) {
        for (const char* format : {"nf4", "nf4-dq", "fp4"}) {
            QTest::addRow("%s, blocks of %d", format, block_size)
                << QString::fromUtf8(format) << block_size;
        }
    }
    for (const char* format : {"q4_0", "q8_0"}) {
        QTest::newRow(format) << QString::fromUtf8(format) << 32;
    }
}

// --quant-block: the same answers as from a model of which every weight is what quantizing in such
// blocks makes of it.
void TestQuantized::otherBlockSizes() {
    QFETCH(QString, format);
    QFETCH(int, block_size);
    const engine::Format kind = engine::formatOfOption(format.toStdString())->format;
    const auto modules =
        support::readJson(support::goldenDir() / "e2b/quantized/nf4.linear4bit_modules.json")
            .get<std::vector<std::string>>();
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    writeExpanded(support::goldenDir() / "e2b/model", modules, kind, block_size, folder);
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.quant = format.toStdString();
    request.quant_block =
        formatRow(kind).block_size > 0 ? 64 : block_size; // the format's own block size counts
    engine::Engine engine;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
    QCOMPARE(support::memoryDifference(engine), std::string());
    for (const auto& row : engine.currentPlan()->tensors) {
        QCOMPARE(row.block_size, row.format == kind ? block_size : engine::kBlockSize);
    }
    engine::LoadRequest expanded = support::goldenRequest("e2b");
    expanded.model = folder.string();
    engine::Engine reference;
    const auto same = reference.load(expanded, {}, {});
    VERIFY_VALUE(same);
    const auto c = support::goldenCases("e2b").front();
    QCOMPARE_LE(support::maxRelativeToLargest(support::engineLogits(engine, c, 8),
                                              support::engineLogits(reference, c, 8)),
                1e-5);
}

void TestQuantized::codesOfTheCpu_data() {
    QTest::addColumn<QString>("adapter");
    QTest::newRow("unified12b") << QString();
    QTest::newRow("unified12b with an adapter") << QStringLiteral("multimodal");
}

// The 12B's golden values are those of bitsandbytes on a CPU. Weights that are our 4-bit codes with
// scales nested by its rule give them; and a model quantized on load computes with what our own
// rule makes of the scales.
void TestQuantized::codesOfTheCpu() {
    QFETCH(QString, adapter);
    const std::string name = "unified12b";
    const fs::path folder = support::goldenDir() / name;
    const auto modules = support::readJson(folder / "quantized/nf4-dq.linear4bit_modules.json")
                             .get<std::vector<std::string>>();
    const engine::Format format = engine::formatOfOption("nf4-dq")->format;
    QTemporaryDir temporary;
    const fs::path written(temporary.path().toStdString());
    writeExpanded(folder / "model", modules, engine::Format::Nf4, 64, written / "theirs",
                  nestAsOnTheCpu);
    writeExpanded(folder / "model", modules, format, 64, written / "ours");
    const auto golden = support::readSafetensors(
        folder / (adapter.isEmpty() ? "quantized/nf4-dq.expected_logits.safetensors"
                                    : "quantized/nf4-dq+multimodal.expected_logits.safetensors"));
    const auto load = [&](engine::Engine& engine, const fs::path& model, const std::string& quant) {
        engine::LoadRequest request = support::goldenRequest(name);
        request.model = model.string();
        request.quant = quant;
        if (!adapter.isEmpty()) {
            request.adapters.push_back({support::goldenAdapter(name, adapter.toStdString())});
        }
        support::must(engine.load(request, {}, {}), "load");
    };
    engine::Engine theirs;
    engine::Engine ours;
    engine::Engine on_load;
    load(theirs, written / "theirs", "none");
    load(ours, written / "ours", "none");
    load(on_load, folder / "model", "nf4-dq");
    for (const auto& c : support::goldenCases(name)) {
        const double error =
            worst_.add(support::maxRelativeToLargest(support::engineLogits(theirs, c, 8),
                                                     golden.at(c.id).floats()),
                       c.id);
        QVERIFY2(error <= 1e-4,
                 qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
        QCOMPARE_LE(support::maxRelativeToLargest(support::engineLogits(on_load, c, 8),
                                                  support::engineLogits(ours, c, 8)),
                    1e-5);
    }
}

void TestQuantized::modulesInFourBits_data() {
    support::addColumns<QString, QString>("family", "format");
    for (const char* family : {"e2b", "e4b", "dense31b", "moe26b"}) {
        QTest::addRow("%s", family) << QString::fromUtf8(family) << QStringLiteral("nf4");
    }
    QTest::newRow("unified12b") << QStringLiteral("unified12b") << QStringLiteral("nf4-dq");
}

void TestQuantized::modulesInFourBits() {
    QFETCH(QString, family);
    QFETCH(QString, format);
    const std::string name = family.toStdString();
    engine::LoadRequest request = support::goldenRequest(name);
    request.quant = format.toStdString();
    engine::Engine engine;
    const auto plan = engine.plan(request);
    QVERIFY(plan.has_value());
    std::vector<std::string> actual;
    for (const auto& row : plan->tensors) {
        if (row.format == engine::formatOfOption(request.quant)->format) {
            actual.push_back(
                row.tensor.substr(0, row.tensor.size() - std::string(".weight").size()));
        }
    }
    auto expected = support::readJson(support::goldenDir() / name / "quantized" /
                                      (request.quant + ".linear4bit_modules.json"))
                        .get<std::vector<std::string>>();
    std::sort(actual.begin(), actual.end());
    std::sort(expected.begin(), expected.end());
    QCOMPARE(actual, expected);
}

TEST_CLASS(TestQuantized)
#include "tst_quantized.moc"
