// SPDX-License-Identifier: Apache-2.0
// Expansion of GGUF's blocks, bit for bit what gguf-py gives (gguf_block_vectors.safetensors: 64
// random blocks of each format and 16 edges): whole rows, ranges, and one element after the other.
#include "kernels/block_formats.h"
#include "kernels/cpu/weight_rows.h"
#include "tests/kernels/kernel_cases.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <cmath>
#include <cstring>

using kernels::WeightFormat;

class TestBlockFormats : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void expansion_data();
    void expansion();
    void twoBits();
};

void TestBlockFormats::expansion_data() {
    support::addColumns<int>("format");
    for (const auto& [format, name] : support::kBlockFormats) {
        if (format != WeightFormat::Q2_0) {
            QTest::newRow(name) << static_cast<int>(format);
        }
    }
}

void TestBlockFormats::expansion() {
    QFETCH(int, format);
    static const auto kVectors =
        support::readSafetensors(support::goldenMoreDir() / "gguf_block_vectors.safetensors");
    const std::string name = QTest::currentDataTag();
    const auto& blocks = kVectors.at(name + ".blocks");
    const std::vector<float> expected = kVectors.at(name + ".expanded").floats();
    kernels::WeightView weight;
    weight.data = blocks.bytes.data();
    weight.format = static_cast<WeightFormat>(format);
    weight.rows = blocks.shape[0];
    weight.cols = kernels::rowOf(weight.format).block_values;
    QVERIFY(kernels::isWeight(weight));
    QCOMPARE(kernels::valueBytes(weight.format, weight.rows * weight.cols),
             static_cast<int64_t>(blocks.bytes.size()));
    const auto count = static_cast<int64_t>(expected.size());
    std::vector<float> ranges(expected.size());
    std::vector<float> pieces(expected.size()); // which begin and end within a block
    kernels::withBlockFormat(weight.format, [&](auto row) {
        kernels::expandBlocks<decltype(row)::kFormat>(weight.data, 0, count, ranges.data());
        for (int64_t at = 0; at < count; at += 13) {
            kernels::expandBlocks<decltype(row)::kFormat>(
                weight.data, at, std::min<int64_t>(13, count - at), pieces.data() + at);
        }
    });
    std::vector<float> rows(expected.size());
    for (int64_t i = 0; i < weight.rows; ++i) {
        kernels::cpu::expandRow(weight, i, 0, weight.cols, rows.data() + i * weight.cols);
    }
    int compared = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        if (!std::isfinite(expected[i])) {
            continue; // such blocks are refused when they are loaded
        }
        ++compared;
        for (const std::vector<float>* actual : {&ranges, &pieces, &rows}) {
            QVERIFY2(std::memcmp(&expected[i], actual->data() + i, sizeof(float)) == 0,
                     qPrintable(QStringLiteral("value %1: %2, expected %3")
                                    .arg(i)
                                    .arg((*actual)[i])
                                    .arg(expected[i])));
        }
    }
    QVERIFY(compared > count / 2);
}

/// Q2_0, of which there are no vectors: value 4 i + k of a block is d * (two bits - 1).
void TestBlockFormats::twoBits() {
    uint8_t block[18] = {0x00, 0x3e}; // 1.5
    block[2] = 0b11100100;            // 0, 1, 2, 3
    block[17] = 0b00000011;
    std::vector<float> values(64);
    kernels::expandBlocks<WeightFormat::Q2_0>(block, 0, 64, values.data());
    QCOMPARE(std::vector<float>(values.begin(), values.begin() + 5),
             (std::vector<float>{-1.5F, 0.0F, 1.5F, 3.0F, -1.5F}));
    QCOMPARE(values[60], 3.0F);
}

TEST_CLASS(TestBlockFormats)
#include "tst_block_formats.moc"
