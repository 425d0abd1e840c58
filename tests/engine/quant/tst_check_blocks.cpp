// SPDX-License-Identifier: Apache-2.0
// Scales of GGUF's blocks that are not finite: each half of every format, first and last block.
#include "engine/quant/quant_state.h"
#include "kernels/weight_formats.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTest>

#include <string>
#include <vector>

namespace {

using kernels::WeightFormat;

struct Halves {
    const char* name;
    WeightFormat format;
    std::vector<size_t> at; ///< Where a block has its halves, in bytes.
};
/// Places of ggml-common.h.
const std::vector<Halves> kHalves = {
    {"Q4_0", WeightFormat::Q4_0, {0}},     {"Q4_1", WeightFormat::Q4_1, {0, 2}},
    {"Q5_0", WeightFormat::Q5_0, {0}},     {"Q5_1", WeightFormat::Q5_1, {0, 2}},
    {"Q8_0", WeightFormat::Q8_0, {0}},     {"Q2_K", WeightFormat::Q2_K, {80, 82}},
    {"Q3_K", WeightFormat::Q3_K, {108}},   {"Q4_K", WeightFormat::Q4_K, {0, 2}},
    {"Q5_K", WeightFormat::Q5_K, {0, 2}},  {"Q6_K", WeightFormat::Q6_K, {208}},
    {"IQ4_NL", WeightFormat::IQ4_NL, {0}}, {"IQ4_XS", WeightFormat::IQ4_XS, {0}},
    {"Q2_0", WeightFormat::Q2_0, {0}},
};
constexpr int kBlocks = 3;

} // namespace

class TestCheckBlocks : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void notFinite_data();
    void notFinite();
    void exponent();
};

void TestCheckBlocks::notFinite_data() {
    support::addColumns<int, int, int, int>("format", "place", "half", "fill");
    for (const Halves& row : kHalves) {
        for (const size_t place : row.at) {
            for (const int half : {0x7c00, 0xfc00, 0x7e00, 0xffff}) {
                for (const int fill : {0, 0x11}) { // sub-scales of 0 hide nothing
                    QTest::addRow("%s byte %d, %04x, others %02x", row.name,
                                  static_cast<int>(place), half, fill)
                        << static_cast<int>(row.format) << static_cast<int>(place) << half << fill;
                }
            }
        }
    }
}

void TestCheckBlocks::notFinite() {
    QFETCH(int, format);
    QFETCH(int, place);
    QFETCH(int, half);
    QFETCH(int, fill);
    const auto kind = static_cast<WeightFormat>(format);
    const auto each = static_cast<size_t>(kernels::rowOf(kind).block_bytes);
    const std::vector<std::byte> sound(kBlocks * each, static_cast<std::byte>(fill));
    VERIFY_VALUE(engine::checkBlocks("w", kind, 0, sound));
    for (const size_t block : {size_t{0}, size_t{kBlocks - 1}}) {
        auto blocks = sound;
        blocks[block * each + static_cast<size_t>(place)] = static_cast<std::byte>(half & 255);
        blocks[block * each + static_cast<size_t>(place) + 1] = static_cast<std::byte>(half >> 8);
        const auto checked = engine::checkBlocks("blk.w", kind, 40, blocks);
        QVERIFY(!checked.has_value());
        QCOMPARE(support::detailOf(checked.error()), std::string("block_scale"));
        QVERIFY2(checked.error().message.starts_with("blk.w: the scale of block " +
                                                     std::to_string(40 + block) + " is not"),
                 checked.error().message.c_str());
    }
}

/// MXFP4 has an exponent, of which 255 stands for no number.
void TestCheckBlocks::exponent() {
    std::vector<std::byte> blocks(17 * kBlocks, std::byte{0x77});
    for (const int e : {0, 1, 2, 127, 254}) {
        blocks[17] = static_cast<std::byte>(e);
        VERIFY_VALUE(engine::checkBlocks("w", WeightFormat::MXFP4, 0, blocks));
    }
    blocks[17] = std::byte{255};
    const auto checked = engine::checkBlocks("w", WeightFormat::MXFP4, 0, blocks);
    QVERIFY(!checked.has_value());
    QVERIFY(checked.error().message.starts_with("w: the scale of block 1 is not"));
}

TEST_CLASS(TestCheckBlocks)
#include "tst_check_blocks.moc"
