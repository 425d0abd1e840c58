// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_panels.h"

#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

QLabel* caption(const QString& text, QWidget* buddy, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setBuddy(buddy);
    setTextRole(label, TextRole::Muted);
    buddy->setAccessibleName(text);
    return label;
}

/// What stands in a field that nothing was chosen in; `value` as far as it is known.
QString defaultWords(const QString& value) {
    return value.isEmpty() ? SamplingPanel::tr("model's")
                           : SamplingPanel::tr("%1 (model's)").arg(value);
}

/// A field whose lowest value means "as the model says".
QDoubleSpinBox* number(double most, double step, const QString& hint, QWidget* parent) {
    auto* box = new QDoubleSpinBox(parent);
    box->setDecimals(2);
    box->setRange(-step, most);
    box->setSingleStep(step);
    box->setSpecialValueText(defaultWords({}));
    box->setToolTip(hint);
    box->setAccessibleDescription(hint);
    return box;
}

} // namespace

SystemPromptPanel::SystemPromptPanel(QWidget* parent)
    : QFrame(parent), editor_(new QPlainTextEdit(this)) {
    setObjectName(QStringLiteral("systemPromptPanel"));
    setArea(this, Area::Surface);
    auto* layout = columnIn(this, {24, 12, 24, 12}, 8);
    QLabel* title =
        caption(tr("System prompt: what the model is told before the first message of this chat"),
                editor_, this);
    title->setWordWrap(true);
    layout->addWidget(title);
    editor_->setObjectName(QStringLiteral("systemPrompt"));
    editor_->setAccessibleName(tr("System prompt"));
    editor_->setPlaceholderText(tr("For example: You answer in short, plain sentences."));
    editor_->setTabChangesFocus(true);
    editor_->setFixedHeight(88);
    layout->addWidget(editor_);
    settle_.setSingleShot(true);
    settle_.setInterval(400);
    connect(editor_, &QPlainTextEdit::textChanged, &settle_, qOverload<>(&QTimer::start));
    connect(&settle_, &QTimer::timeout, this,
            [this] { Q_EMIT promptChanged(editor_->toPlainText()); });
}

void SystemPromptPanel::setPrompt(const QString& prompt) {
    if (editor_->toPlainText() != prompt) {
        editor_->setPlainText(prompt);
        settle_.stop();
    }
}

SamplingPanel::SamplingPanel(QWidget* parent)
    : QFrame(parent), presets_(new QComboBox(this)), name_(new QLineEdit(this)),
      save_(new QPushButton(tr("Save as preset"), this)),
      delete_(new QPushButton(tr("Delete preset"), this)),
      temperature_(number(2.0, 0.05, tr("0 always takes the likeliest word"), this)),
      top_p_(
          number(1.0, 0.05, tr("Keep the likeliest words that together reach this share"), this)),
      min_p_(number(1.0, 0.01, tr("Drop words below this share of the likeliest one"), this)),
      repetition_(number(2.0, 0.05, tr("Above 1: words already said become less likely"), this)),
      top_k_(new QSpinBox(this)), max_tokens_(new QSpinBox(this)), seed_(new QLineEdit(this)),
      thinking_(new QCheckBox(tr("Let the model think first"), this)),
      drafts_(new QCheckBox(tr("Guess ahead with the drafting assistant"), this)),
      image_tokens_(new QComboBox(this)) {
    setObjectName(QStringLiteral("samplingPanel"));
    setArea(this, Area::Surface);
    top_k_->setRange(-1, 1000);
    top_k_->setSpecialValueText(defaultWords({}));
    top_k_->setToolTip(tr("Choose among this many words; 0 switches it off"));
    max_tokens_->setRange(0, 131072);
    max_tokens_->setSpecialValueText(tr("no limit"));
    max_tokens_->setSingleStep(64);
    seed_->setPlaceholderText(tr("new each time"));
    seed_->setValidator(
        new QRegularExpressionValidator(QRegularExpression(QStringLiteral("\\d{0,18}")), seed_));
    image_tokens_->addItem(defaultWords({}), 0);
    for (const int tokens : {70, 140, 280, 560, 1120}) {
        image_tokens_->addItem(QString::number(tokens), tokens);
    }
    name_->setPlaceholderText(tr("Name of a new preset"));
    name_->setAccessibleName(tr("Name of a new preset"));
    presets_->setObjectName(QStringLiteral("samplingPresets"));
    temperature_->setObjectName(QStringLiteral("temperature"));
    top_k_->setObjectName(QStringLiteral("topK"));
    top_p_->setObjectName(QStringLiteral("topP"));
    min_p_->setObjectName(QStringLiteral("minP"));
    repetition_->setObjectName(QStringLiteral("repetition"));
    image_tokens_->setObjectName(QStringLiteral("imageTokens"));
    seed_->setObjectName(QStringLiteral("seed"));
    thinking_->setObjectName(QStringLiteral("thinking"));
    thinking_->setAccessibleName(thinking_->text());
    drafts_->setObjectName(QStringLiteral("usesDrafts"));
    drafts_->setAccessibleName(drafts_->text());
    drafts_->setToolTip(
        toolTipText(tr("The assistant guesses the next tokens and the model checks several at "
                       "once. The text is the same; where it is slower, it leaves itself out.")));
    drafts_->hide();
    save_->setAccessibleName(save_->text());
    delete_->setAccessibleName(delete_->text());

    auto* layout = columnIn(this, {24, 12, 24, 12}, 12);
    auto* top = new QHBoxLayout();
    top->setSpacing(8);
    top->addWidget(caption(tr("Preset"), presets_, this));
    top->addWidget(presets_, 1);
    top->addWidget(name_, 1);
    top->addWidget(save_);
    top->addWidget(delete_);
    layout->addLayout(top);
    auto* grid = new QGridLayout();
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(4);
    const std::vector<std::pair<QString, QWidget*>> fields = {
        {tr("Temperature"), temperature_},
        {tr("Top k"), top_k_},
        {tr("Top p"), top_p_},
        {tr("Min p"), min_p_},
        {tr("Repetition"), repetition_},
        {tr("Longest reply"), max_tokens_},
        {tr("Seed"), seed_},
        {tr("Tokens per picture"), image_tokens_}};
    for (int i = 0; i < static_cast<int>(fields.size()); ++i) {
        const auto& [text, field] = fields[static_cast<size_t>(i)];
        QWidget* const name = caption(text, field, this);
        grid->addWidget(name, i / 4 * 2, i % 4);
        if (field == image_tokens_) {
            image_fields_ = {name, field};
        } else if (field == top_k_ || field == min_p_ || field == repetition_) {
            free_fields_.insert(free_fields_.end(), {name, field});
        }
        grid->addWidget(field, i / 4 * 2 + 1, i % 4);
        field->setFixedHeight(Theme::kControlHeight);
        grid->setColumnStretch(i % 4, 1);
    }
    layout->addLayout(grid);
    auto* switches = new QHBoxLayout();
    switches->setSpacing(24);
    switches->addWidget(thinking_);
    switches->addWidget(drafts_);
    switches->addStretch();
    layout->addLayout(switches);

    for (QDoubleSpinBox* box : {temperature_, top_p_, min_p_, repetition_}) {
        connect(box, &QDoubleSpinBox::valueChanged, this, &SamplingPanel::emitValues);
    }
    connect(top_k_, &QSpinBox::valueChanged, this, &SamplingPanel::emitValues);
    connect(max_tokens_, &QSpinBox::valueChanged, this, &SamplingPanel::emitValues);
    connect(seed_, &QLineEdit::textEdited, this, &SamplingPanel::emitValues);
    connect(thinking_, &QCheckBox::toggled, this, &SamplingPanel::emitValues);
    connect(drafts_, &QCheckBox::toggled, this, [this](bool is_on) {
        if (!is_filling_) {
            Q_EMIT draftsSwitched(is_on);
        }
    });
    connect(image_tokens_, &QComboBox::currentIndexChanged, this, &SamplingPanel::emitValues);
    connect(presets_, &QComboBox::activated, this, &SamplingPanel::applyPreset);
    connect(save_, &QPushButton::clicked, this, &SamplingPanel::savePreset);
    connect(delete_, &QPushButton::clicked, this, &SamplingPanel::deletePreset);
    connect(name_, &QLineEdit::textChanged, this,
            [this](const QString& text) { save_->setEnabled(!text.trimmed().isEmpty()); });
    save_->setEnabled(false);
    fillPresets();
}

void SamplingPanel::setCapabilities(bool samples_freely, bool sets_image_tokens) {
    for (QWidget* part : free_fields_) {
        part->setVisible(samples_freely);
    }
    for (QWidget* part : image_fields_) {
        part->setVisible(sets_image_tokens);
    }
}

void SamplingPanel::setHasAssistant(bool has_assistant) {
    drafts_->setVisible(has_assistant);
}

void SamplingPanel::setDefaults(const engine::SamplingParameters& sampling, qint64 image_tokens) {
    const auto tell = [](QDoubleSpinBox* box, double value) {
        box->setSpecialValueText(
            defaultWords(value < 0.0 ? QString() : box->locale().toString(value, 'f', 2)));
    };
    tell(temperature_, sampling.temperature);
    tell(top_p_, sampling.top_p);
    tell(min_p_, sampling.min_p);
    tell(repetition_, sampling.repetition_penalty);
    top_k_->setSpecialValueText(defaultWords(
        sampling.top_k < 0 ? QString()
                           : top_k_->locale().toString(static_cast<qlonglong>(sampling.top_k))));
    image_tokens_->setItemText(
        0, defaultWords(image_tokens <= 0 ? QString() : QString::number(image_tokens)));
}

void SamplingPanel::fillPresets() {
    is_filling_ = true;
    presets_->clear();
    for (const SamplingPreset& preset : builtinPresets()) {
        presets_->addItem(preset.name);
    }
    for (const SamplingPreset& preset : own_) {
        presets_->addItem(preset.name);
    }
    presets_->addItem(tr("Custom"));
    is_filling_ = false;
    showSampling(sampling());
}

void SamplingPanel::setPresets(const std::vector<SamplingPreset>& own) {
    const engine::SamplingParameters now = sampling();
    own_ = own;
    fillPresets();
    showSampling(now);
}

QString SamplingPanel::presetName(const engine::SamplingParameters& sampling) const {
    for (const auto& group : {builtinPresets(), own_}) {
        for (const SamplingPreset& preset : group) {
            if (isSameSampling(preset.sampling, sampling)) {
                return preset.name;
            }
        }
    }
    return tr("Custom");
}

engine::SamplingParameters SamplingPanel::sampling() const {
    engine::SamplingParameters values;
    const auto read = [](const QDoubleSpinBox* box) {
        return box->value() < 0.0 ? -1.0 : box->value();
    };
    values.temperature = read(temperature_);
    values.top_p = read(top_p_);
    values.min_p = read(min_p_);
    values.repetition_penalty = read(repetition_);
    values.top_k = top_k_->value();
    values.max_tokens = max_tokens_->value();
    values.seed = seed_->text().isEmpty() ? -1 : seed_->text().toLongLong();
    return values;
}

void SamplingPanel::showSampling(const engine::SamplingParameters& values) {
    is_filling_ = true;
    const auto write = [](QDoubleSpinBox* box, double value) {
        box->setValue(value < 0.0 ? box->minimum() : value);
    };
    write(temperature_, values.temperature);
    write(top_p_, values.top_p);
    write(min_p_, values.min_p);
    write(repetition_, values.repetition_penalty);
    top_k_->setValue(static_cast<int>(std::clamp<int64_t>(values.top_k, -1, 1000)));
    max_tokens_->setValue(static_cast<int>(std::clamp<int64_t>(values.max_tokens, 0, 131072)));
    seed_->setText(values.seed < 0 ? QString() : QString::number(values.seed));
    const int found = presets_->findText(presetName(values));
    presets_->setCurrentIndex(found < 0 ? presets_->count() - 1 : found);
    const auto builtin = static_cast<int>(builtinPresets().size());
    delete_->setEnabled(presets_->currentIndex() >= builtin &&
                        presets_->currentIndex() < presets_->count() - 1);
    is_filling_ = false;
}

void SamplingPanel::setValues(const ChatDocument& chat) {
    is_filling_ = true;
    thinking_->setChecked(chat.is_thinking);
    drafts_->setChecked(chat.uses_drafts);
    const int at = image_tokens_->findData(static_cast<int>(chat.image_tokens));
    image_tokens_->setCurrentIndex(std::max(at, 0));
    is_filling_ = false;
    showSampling(chat.sampling);
}

void SamplingPanel::emitValues() {
    if (is_filling_) {
        return;
    }
    const engine::SamplingParameters values = sampling();
    showSampling(values); // the preset's name may be another now
    Q_EMIT valuesChanged(values, thinking_->isChecked(), image_tokens_->currentData().toLongLong());
}

void SamplingPanel::applyPreset(int index) {
    std::vector<SamplingPreset> all = builtinPresets();
    all.insert(all.end(), own_.begin(), own_.end());
    if (index < 0 || index >= static_cast<int>(all.size())) {
        showSampling(sampling());
        return;
    }
    engine::SamplingParameters values = all[static_cast<size_t>(index)].sampling;
    values.seed = sampling().seed;
    values.max_tokens = sampling().max_tokens;
    showSampling(values);
    Q_EMIT valuesChanged(values, thinking_->isChecked(), image_tokens_->currentData().toLongLong());
}

void SamplingPanel::savePreset() {
    const QString name = name_->text().trimmed();
    if (name.isEmpty()) {
        return;
    }
    std::erase_if(own_, [&](const SamplingPreset& preset) { return preset.name == name; });
    own_.push_back({name, sampling()});
    name_->clear();
    fillPresets();
    Q_EMIT presetsChanged(own_);
}

void SamplingPanel::deletePreset() {
    const QString name = presets_->currentText();
    std::erase_if(own_, [&](const SamplingPreset& preset) { return preset.name == name; });
    fillPresets();
    Q_EMIT presetsChanged(own_);
}

} // namespace ui
