// SPDX-License-Identifier: Apache-2.0
// Sampling presets and prompt shortcuts survive the program.
#include "app/window/settings_store.h"
#include "kernels/ops.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

class TestChatSettings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void startsWithShortcuts();
    void comesBackAsItWasWritten();
    void presetsLetTheCardChoose();
};

void TestChatSettings::startsWithShortcuts() {
    const QTemporaryDir folder;
    const app::SettingsStore store(folder.filePath(QStringLiteral("belfry.ini")));
    QVERIFY(store.readChat().presets.empty());
    QVERIFY(store.readChat().prompts.size() > 2);
    // All forgotten is not the same as never asked.
    store.writeChat({});
    QVERIFY(store.readChat().prompts.empty());
}

void TestChatSettings::comesBackAsItWasWritten() {
    const QTemporaryDir folder;
    const app::SettingsStore store(folder.filePath(QStringLiteral("belfry.ini")));
    ui::ChatSettings settings;
    ui::SamplingPreset preset;
    preset.name = QStringLiteral("Nüchtern");
    preset.sampling.temperature = 0.25;
    preset.sampling.top_k = 12;
    preset.sampling.min_p = 0.05;
    settings.presets = {preset, {QStringLiteral("other"), {}}};
    settings.prompts = {{QStringLiteral("sum"), QStringLiteral("Two lines;\n= \"quoted\"")}};
    store.writeChat(settings);
    settings.presets.pop_back();
    store.writeChat(settings);
    const ui::ChatSettings read = store.readChat();
    QCOMPARE(read.presets.size(), size_t{1});
    QCOMPARE(read.presets[0].name, preset.name);
    QVERIFY(ui::isSameSampling(read.presets[0].sampling, preset.sampling));
    QVERIFY(!ui::isSameSampling(read.presets[0].sampling, {}));
    QCOMPARE(read.prompts.size(), size_t{1});
    QCOMPARE(read.prompts[0].text, settings.prompts[0].text);
}

/// What draws at random draws among few enough tokens for a card to choose them: else the whole row
/// of logits is copied for every token, at half the speed.
void TestChatSettings::presetsLetTheCardChoose() {
    int drawing = 0;
    for (const ui::SamplingPreset& preset : ui::builtinPresets()) {
        const engine::SamplingParameters& sampling = preset.sampling;
        if (sampling.temperature <= 0.0) {
            continue; // the likeliest token, or the model's own values
        }
        ++drawing;
        QVERIFY2(sampling.top_k > 0 && sampling.top_k <= kernels::TopLogits::kMostWanted,
                 qPrintable(preset.name));
    }
    QCOMPARE(drawing, 2);
}

TEST_CLASS_WITH(QCoreApplication, TestChatSettings)
#include "tst_chat_settings.moc"
