// SPDX-License-Identifier: Apache-2.0
// Colours of parts are seen on what they are painted on, and told apart: in both themes each has a
// contrast of 3:1 or more, and the eight hues lie apart on the circle.
#include "tests/support/program/test_class.h"
#include "ui/style/theme.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

/// WCAG 2: relative luminance.
double luminance(const QColor& color) {
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
           0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a);
    const double y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

} // namespace

class TestPartColours : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void areSeenAndToldApart_data() {
        QTest::addColumn<bool>("is_dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void areSeenAndToldApart() {
        QFETCH(bool, is_dark);
        const ui::Theme& t = is_dark ? ui::Theme::dark() : ui::Theme::light();
        const std::vector<QColor> hues = {t.part_layers, t.part_experts, t.part_vision,
                                          t.part_audio,  t.part_ple,     t.part_head,
                                          t.part_kv,     t.part_adapter};
        std::vector<QColor> all = hues;
        all.insert(all.end(), {t.part_rest, t.part_workspace, t.part_context, t.part_other});
        for (const QColor& color : all) {
            for (const QColor& ground : {t.surface, t.raised}) {
                QVERIFY2(contrast(color, ground) >= 3.0, qPrintable(color.name()));
            }
        }
        for (size_t i = 0; i < hues.size(); ++i) {
            QVERIFY2(hues[i].saturation() > 120, qPrintable(hues[i].name()));
            for (size_t k = 0; k < i; ++k) {
                const int apart = std::abs(hues[i].hue() - hues[k].hue());
                QVERIFY2(std::min(apart, 360 - apart) >= 24,
                         qPrintable(hues[i].name() + hues[k].name()));
            }
        }
    }
};

TEST_CLASS(TestPartColours)
#include "tst_part_colours.moc"
