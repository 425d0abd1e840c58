// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_settings.h"

#include <QCoreApplication>

namespace ui {

namespace {
struct SettingsTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::ChatSettings)
};
} // namespace

std::vector<SamplingPreset> builtinPresets() {
    engine::SamplingParameters exact;
    exact.temperature = 0.0;
    engine::SamplingParameters calm;
    calm.temperature = 0.4;
    calm.top_k = 40;
    calm.top_p = 0.9;
    engine::SamplingParameters lively;
    lively.temperature = 1.2;
    // As many as a card chooses among by itself (without a top_k it hands over the whole row of
    // logits for every token); min_p leaves hardly ever more.
    lively.top_k = 256;
    lively.top_p = 0.98;
    lively.min_p = 0.05;
    return {{SettingsTexts::tr("Model default"), {}},
            {SettingsTexts::tr("Exact (always the likeliest word)"), exact},
            {SettingsTexts::tr("Calm"), calm},
            {SettingsTexts::tr("Lively"), lively}};
}

std::vector<PromptShortcut> defaultPrompts() {
    return {{SettingsTexts::tr("summarise"),
             SettingsTexts::tr("Summarise this in five short points:\n\n")},
            {SettingsTexts::tr("explain"),
             SettingsTexts::tr("Explain this step by step to somebody new to the subject:\n\n")},
            {SettingsTexts::tr("describe"), SettingsTexts::tr("Describe this picture in detail.")},
            {SettingsTexts::tr("transcribe"),
             SettingsTexts::tr("Write down word for word what is said in this recording.")},
            {SettingsTexts::tr("review"),
             SettingsTexts::tr(
                 "Review this code. Name mistakes first, then what could be simpler:\n\n")}};
}

bool isSameSampling(const engine::SamplingParameters& a, const engine::SamplingParameters& b) {
    const auto same = [](double x, double y) { return (x < 0 && y < 0) || x == y; };
    return same(a.temperature, b.temperature) &&
           same(static_cast<double>(a.top_k), static_cast<double>(b.top_k)) &&
           same(a.top_p, b.top_p) && same(a.min_p, b.min_p) &&
           same(a.repetition_penalty, b.repetition_penalty);
}

} // namespace ui
