// SPDX-License-Identifier: Apache-2.0
// Settings of one chat, unfolded above its messages: the system prompt, and how the next words are
// drawn. Changes act from the next reply on.
#pragma once

#include "engine/api/chat.h"
#include "ui/chat/chat_document.h"
#include "ui/chat/chat_settings.h"

#include <QFrame>
#include <QTimer>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace ui {

class SystemPromptPanel : public QFrame {
    Q_OBJECT

public:
    explicit SystemPromptPanel(QWidget* parent = nullptr);
    void setPrompt(const QString& prompt);
    [[nodiscard]] QPlainTextEdit* editor() const { return editor_; }

Q_SIGNALS:
    void promptChanged(const QString& prompt);

private:
    QPlainTextEdit* editor_;
    QTimer settle_; ///< The chat is saved when typing pauses, not per key.
};

class SamplingPanel : public QFrame {
    Q_OBJECT

public:
    explicit SamplingPanel(QWidget* parent = nullptr);
    void setValues(const ChatDocument& chat);
    /// What the model itself asks for: shown where nothing else is chosen. -1 and 0 = not known.
    void setDefaults(const engine::SamplingParameters& sampling, qint64 image_tokens);
    void setPresets(const std::vector<SamplingPreset>& own);
    /// What the engine follows; the fields of the rest are not there.
    void setCapabilities(bool samples_freely, bool sets_image_tokens);
    /// A drafting assistant is loaded: its switch is there.
    void setHasAssistant(bool has_assistant);
    /// Name of the preset that the values are equal to, or "custom".
    [[nodiscard]] QString presetName(const engine::SamplingParameters& sampling) const;

Q_SIGNALS:
    void valuesChanged(const engine::SamplingParameters& sampling,
                       bool is_thinking,
                       qint64 image_tokens);
    void presetsChanged(const std::vector<SamplingPreset>& own);
    void draftsSwitched(bool is_on);

private:
    void emitValues();
    void fillPresets();
    void applyPreset(int index);
    void savePreset();
    void deletePreset();
    [[nodiscard]] engine::SamplingParameters sampling() const;
    void showSampling(const engine::SamplingParameters& sampling);

    QComboBox* presets_;
    QLineEdit* name_;
    QPushButton *save_, *delete_;
    QDoubleSpinBox *temperature_, *top_p_, *min_p_, *repetition_;
    QSpinBox *top_k_, *max_tokens_;
    QLineEdit* seed_;
    QCheckBox* thinking_;
    QCheckBox* drafts_;
    QComboBox* image_tokens_;
    std::vector<QWidget*> free_fields_, image_fields_; ///< With their captions.
    std::vector<SamplingPreset> own_;
    bool is_filling_ = false;
};

} // namespace ui
