// SPDX-License-Identifier: Apache-2.0
// Pictures to patches against golden data (transformers' Pillow back end, exact) and the published
// worked sizes; the fast resize against a slow one written straight from the formula.
#include "engine/media/image.h"
#include "engine/media/resize.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <chrono>
#include <cmath>
#include <random>

namespace {

/// One axis of the resize in plain loops: stride is the step along the axis, in elements.
uint8_t slowTap(const uint8_t* first, int64_t stride, int64_t n_in, int64_t n_out, int64_t i) {
    const double s = static_cast<double>(n_in) / static_cast<double>(n_out);
    const double g = s > 1.0 ? s : 1.0;
    const double c = (static_cast<double>(i) + 0.5) * s;
    const auto cubic = [](double t) {
        t = std::abs(t);
        if (t < 1.0) {
            return 1.5 * t * t * t - 2.5 * t * t + 1.0;
        }
        return t < 2.0 ? -0.5 * t * t * t + 2.5 * t * t - 4.0 * t + 2.0 : 0.0;
    };
    const auto begin = std::max<int64_t>(0, static_cast<int64_t>(std::trunc(c - 2.0 * g + 0.5)));
    const auto end = std::min<int64_t>(n_in, static_cast<int64_t>(std::trunc(c + 2.0 * g + 0.5)));
    double sum = 0.0;
    for (int64_t k = begin; k < end; ++k) {
        sum += cubic((static_cast<double>(k) - c + 0.5) / g);
    }
    int64_t total = 1 << 21;
    for (int64_t k = begin; k < end; ++k) {
        const double w = cubic((static_cast<double>(k) - c + 0.5) / g) / sum;
        total += std::llround(w * (1 << 22)) * first[k * stride];
    }
    return static_cast<uint8_t>(std::clamp<int64_t>(total >> 22, 0, 255));
}

std::vector<uint8_t>
slowResize(const std::vector<uint8_t>& rgb, int64_t h, int64_t w, int64_t new_h, int64_t new_w) {
    std::vector<uint8_t> wide(static_cast<size_t>(h * new_w * 3));
    for (int64_t y = 0; y < h; ++y) {
        for (int64_t i = 0; i < new_w * 3; ++i) {
            wide[static_cast<size_t>(y * new_w * 3 + i)] =
                w == new_w ? rgb[static_cast<size_t>(y * w * 3 + i)]
                           : slowTap(rgb.data() + y * w * 3 + i % 3, 3, w, new_w, i / 3);
        }
    }
    if (h == new_h) {
        return wide;
    }
    std::vector<uint8_t> out(static_cast<size_t>(new_h * new_w * 3));
    for (int64_t y = 0; y < new_h; ++y) {
        for (int64_t i = 0; i < new_w * 3; ++i) {
            out[static_cast<size_t>(y * new_w * 3 + i)] =
                slowTap(wide.data() + i, new_w * 3, h, new_h, y);
        }
    }
    return out;
}

std::vector<uint8_t> noise(int64_t h, int64_t w, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> rgb(static_cast<size_t>(h * w * 3));
    for (uint8_t& v : rgb) {
        // Mostly black and white: the overshoot of the first pass must be clipped.
        const unsigned r = random();
        v = static_cast<uint8_t>((r & 3U) == 0 ? (r >> 8U) & 255U : (r & 4U) != 0 ? 255 : 0);
    }
    return rgb;
}

} // namespace

class TestImagePatches : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void matchesGolden_data();
    void matchesGolden();
    void targetSizes_data();
    void targetSizes();
    void targetSizeNeverExceedsTheBudget();
    void targetSizeRefusals();
    void resizeMatchesPlainLoops_data();
    void resizeMatchesPlainLoops();
    void largePhotographIsFast();
    void badImagesAreRefused();
};

void TestImagePatches::matchesGolden_data() {
    support::addColumns<QString, int>("file", "budget");
    QTest::newRow("picture0, 70") << "picture0.png" << 70;
    QTest::newRow("picture0, 280") << "picture0.png" << 280;
    QTest::newRow("picture1, tall, 70") << "picture1.png" << 70;
    QTest::newRow("picture2, shrinking, 70") << "picture2.png" << 70;
    QTest::newRow("grey, 70") << "extra_grey.png" << 70;
    QTest::newRow("transparency, 70") << "extra_rgba.png" << 70;
    QTest::newRow("no resize, 70") << "extra_same_size.png" << 70;
}

void TestImagePatches::matchesGolden() {
    QFETCH(QString, file);
    QFETCH(int, budget);
    const auto folder = support::goldenDir() / "media";
    const auto golden = support::readSafetensors(folder / "image_processor_pil.safetensors");
    const std::string key = "media_" + file.toStdString() + "." + std::to_string(budget);
    QVERIFY(golden.count(key + ".pixels_u8") == 1);
    const std::vector<uint8_t>& pixels = golden.at(key + ".pixels_u8").bytes;
    const std::vector<int64_t> positions = golden.at(key + ".positions").integers();

    const auto image = engine::readImageFile(folder / file.toStdString());
    VERIFY_VALUE(image);
    const auto grid = engine::preprocessImage(*image, budget);
    QVERIFY(grid.has_value());

    const auto patches = static_cast<size_t>(grid->grid_w * grid->grid_h);
    QCOMPARE(grid->patch_values, int64_t{768});
    QCOMPARE(grid->patches.size(), patches * 768);
    QCOMPARE(grid->soft_tokens * 9, static_cast<int64_t>(patches));
    QVERIFY(positions.size() >= patches * 2);
    size_t differing = 0;
    for (size_t i = 0; i < patches * 768; ++i) {
        const float expected = static_cast<float>(pixels[i]) / 255.0F;
        differing += grid->patches[i] == expected ? 0U : 1U;
    }
    QCOMPARE(differing, size_t{0});
    for (size_t n = 0; n < patches; ++n) {
        QCOMPARE(int64_t{grid->pos_x[n]}, positions[2 * n]);
        QCOMPARE(int64_t{grid->pos_y[n]}, positions[2 * n + 1]);
    }
    for (size_t n = patches * 2; n < positions.size(); ++n) {
        QCOMPARE(positions[n], int64_t{-1}); // the reference's padding, which we do not need
    }
}

void TestImagePatches::targetSizes_data() {
    support::addColumns<int, int, int, int, int, int>("height", "width", "budget", "new_height",
                                                      "new_width", "tokens");
    const auto row = [](int h, int w, int budget, int new_h, int new_w, int tokens) {
        QTest::addRow("%dx%d at %d", h, w, budget) << h << w << budget << new_h << new_w << tokens;
    };
    // The published worked examples.
    row(224, 224, 280, 768, 768, 256);
    row(1080, 1920, 280, 576, 1056, 264);
    row(480, 640, 280, 672, 912, 266);
    row(768, 1024, 280, 672, 912, 266);
    row(3000, 20, 280, 9792, 48, 204);
    row(224, 224, 70, 384, 384, 64);
    row(1080, 1920, 1120, 1200, 2112, 1100);
    // By hand, with sqrt(9 * B * 256 / (h * w)) and floors to 48.
    row(1000, 1000, 140, 528, 528, 121);     // side sqrt(322560) = 567.9, 11.8 units
    row(1000, 1000, 560, 1104, 1104, 529);   // side sqrt(1290240) = 1135.9, 23.7 units
    row(1000, 1000, 1120, 1584, 1584, 1089); // side sqrt(2580480) = 1606.4, 33.5 units
    row(1, 1, 280, 768, 768, 256);           // enlarged like any square
    row(1, 100000, 280, 48, 13440, 280);     // floor(w/h) units, capped at the budget
    row(100000, 1, 70, 3360, 48, 70);
    row(1, 100, 70, 48, 3360, 70);  // f * h = 40.2 is below one unit; 100 units > 70
    row(10, 600, 70, 48, 3072, 64); // f = 5.1846: 51.8 is one unit, 3110.8 is 64 units
}

void TestImagePatches::targetSizes() {
    QFETCH(int, height);
    QFETCH(int, width);
    QFETCH(int, budget);
    QFETCH(int, new_height);
    QFETCH(int, new_width);
    QFETCH(int, tokens);
    const auto size = engine::targetSize(height, width, budget);
    QVERIFY(size.has_value());
    QCOMPARE(size->height, int64_t{new_height});
    QCOMPARE(size->width, int64_t{new_width});
    QCOMPARE(engine::imageTokens(*size), int64_t{tokens});
}

void TestImagePatches::targetSizeNeverExceedsTheBudget() {
    for (const int64_t budget : engine::kSoftTokenBudgets) {
        for (int64_t h = 1; h <= 3000; h += 61) {
            for (int64_t w = 1; w <= 3000; w += 67) {
                const auto size = engine::targetSize(h, w, budget);
                QVERIFY(size.has_value());
                QVERIFY(size->width > 0 && size->height > 0);
                QVERIFY(size->width % 48 == 0 && size->height % 48 == 0);
                QVERIFY(engine::imageTokens(*size) <= budget);
            }
        }
    }
}

void TestImagePatches::targetSizeRefusals() {
    for (const int64_t budget : {0, -1, 1, 100, 281, 100000}) {
        const auto size = engine::targetSize(100, 100, budget);
        QVERIFY(!size.has_value());
        QCOMPARE(size.error().code, engine::ErrorCode::InvalidRequest);
        QVERIFY(size.error().message.find("70, 140, 280, 560 or 1120") != std::string::npos);
    }
    QVERIFY(!engine::targetSize(0, 100, 70).has_value());
    QVERIFY(!engine::targetSize(100, -3, 70).has_value());
    QVERIFY(!engine::targetSize(INT64_MAX, INT64_MAX, 70).has_value());
    QVERIFY(!engine::targetSize(100, 100, 70, 0, 3).has_value());
    QVERIFY(!engine::targetSize(100, 100, 70, 16, -1).has_value());
    // 3000 x 20 needs 612 rows of patches; the small test models have 128 positions.
    const auto tall = engine::targetSize(3000, 20, 280, 16, 3, 128);
    QVERIFY(!tall.has_value());
    QCOMPARE(tall.error().code, engine::ErrorCode::Unsupported);
    QVERIFY(tall.error().message.find("612 patches") != std::string::npos);
    QVERIFY(engine::targetSize(3000, 20, 280, 16, 3, 612).has_value());
}

void TestImagePatches::resizeMatchesPlainLoops_data() {
    support::addColumns<int, int, int, int>("height", "width", "new_height", "new_width");
    const auto row = [](const char* name, int h, int w, int new_h, int new_w) {
        QTest::addRow("%s, %dx%d to %dx%d", name, h, w, new_h, new_w) << h << w << new_h << new_w;
    };
    row("both larger", 37, 53, 96, 144);
    row("both smaller", 301, 211, 96, 48);
    row("one pixel", 1, 1, 48, 48);
    row("one row", 1, 301, 48, 96);
    row("one column", 301, 1, 96, 48);
    row("only width", 40, 61, 40, 48);
    row("only height", 61, 40, 48, 40);
    row("wider and lower", 200, 33, 48, 240);
    row("odd sizes", 17, 19, 7, 5);
    row("to one pixel", 31, 29, 1, 1);
    row("very long taps", 5, 4000, 5, 7);
    row("rows not a multiple of 16", 35, 64, 50, 51);
    row("nearly the same", 48, 49, 49, 48);
}

void TestImagePatches::resizeMatchesPlainLoops() {
    QFETCH(int, height);
    QFETCH(int, width);
    QFETCH(int, new_height);
    QFETCH(int, new_width);
    const auto rgb = noise(height, width, 7);
    const auto fast = engine::media::resizeBicubic(rgb, height, width, new_height, new_width);
    QVERIFY(fast == slowResize(rgb, height, width, new_height, new_width));
}

void TestImagePatches::largePhotographIsFast() {
    engine::DecodedImage photo;
    photo.width = 4000;
    photo.height = 3000;
    photo.rgb = noise(3000, 4000, 3);
    double best_ms = 1e9;
    for (int run = 0; run < 3; ++run) {
        const auto start = std::chrono::steady_clock::now();
        const auto resized = engine::resizeToTarget(photo, {912, 672});
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        QVERIFY(resized.has_value());
        QCOMPARE(resized->rgb.size(), size_t{912} * 672 * 3);
        best_ms = std::min(best_ms, took.count());
    }
    qInfo("12 megapixels to 912 x 672: %.1f ms", best_ms);
#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
    QSKIP("the time means nothing in this build");
#endif
    // Far above the measured time: only a lost fast path may fail it on a busy machine.
    QVERIFY(best_ms < 1000.0);
}

void TestImagePatches::badImagesAreRefused() {
    engine::DecodedImage image;
    QVERIFY(!engine::preprocessImage(image, 70).has_value());
    image.width = 10;
    image.height = 10;
    image.rgb.resize(299);
    const auto grid = engine::preprocessImage(image, 70);
    QVERIFY(!grid.has_value());
    QCOMPARE(grid.error().code, engine::ErrorCode::InvalidRequest);
    image.rgb.resize(300);
    QVERIFY(engine::preprocessImage(image, 70).has_value());
    QVERIFY(!engine::preprocessImage(image, 71).has_value());
    QVERIFY(!engine::resizeToTarget(image, {0, 48}).has_value());
    QVERIFY(!engine::resizeToTarget(image, {100000, 100000}).has_value());
}

TEST_CLASS(TestImagePatches)
#include "tst_image_patches.moc"
