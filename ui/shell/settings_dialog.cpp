// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/settings_dialog.h"

#include "ui/shell/body_area.h"
#include "ui/style/format.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QThread>
#include <QVBoxLayout>

#include <algorithm>
#include <vector>

namespace ui {

namespace {

template <typename Data>
void select(QComboBox* box, const Data& data) {
    box->setCurrentIndex(std::max(0, box->findData(data)));
}

QLabel* heading(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    setTextSize(label, 110, true);
    return label;
}

QLabel* pathLabel(const QString& path, QWidget* parent) {
    auto* label = new QLabel(QDir::toNativeSeparators(path), parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setMinimumHeight(Theme::kControlHeight);
    setTextRole(label, TextRole::Muted);
    return label;
}

} // namespace

SettingsDialog::SettingsDialog(const Settings& settings,
                               const QString& data_folder,
                               const QString& cache_folder,
                               QWidget* parent)
    : QDialog(parent), settings_(settings) {
    setObjectName(QStringLiteral("settingsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Settings"));
    setMinimumWidth(560);
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(20, 16, 8, 4);
    column->setSpacing(12);
    const auto form = [column] {
        auto* layout = new QFormLayout();
        layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
        layout->setHorizontalSpacing(16);
        layout->setVerticalSpacing(8);
        column->addLayout(layout);
        return layout;
    };
    // The three forms share the edge of their fields: the widest label decides.
    std::vector<QLabel*> labels;
    const auto named = [this, &labels](const QString& text) {
        auto* label = new QLabel(text, this);
        label->setMinimumHeight(Theme::kControlHeight);
        labels.push_back(label);
        return label;
    };
    const auto add = [&named](QFormLayout* layout, const QString& text, QWidget* field,
                              const QString& name, const char* object_name) {
        field->setAccessibleName(name);
        field->setObjectName(QString::fromLatin1(object_name));
        field->setMinimumHeight(Theme::kControlHeight);
        auto* label = named(text);
        label->setBuddy(field);
        layout->addRow(label, field);
    };

    column->addWidget(heading(tr("Look"), this));
    QFormLayout* look = form();
    theme_box_ = new QComboBox(this);
    theme_box_->addItem(tr("As the system"), static_cast<int>(ThemeChoice::System));
    theme_box_->addItem(tr("Light"), static_cast<int>(ThemeChoice::Light));
    theme_box_->addItem(tr("Dark"), static_cast<int>(ThemeChoice::Dark));
    select(theme_box_, static_cast<int>(settings.theme));
    add(look, tr("&Colours"), theme_box_, tr("Colours"), "themeBox");
    zoom_box_ = new QSpinBox(this);
    zoom_box_->setRange(70, 200);
    zoom_box_->setSingleStep(10);
    zoom_box_->setSuffix(tr(" %"));
    zoom_box_->setValue(settings.text_zoom);
    add(look, tr("&Text size"), zoom_box_, tr("Text size in percent"), "zoomBox");
    language_box_ = new QComboBox(this);
    language_box_->addItem(tr("As the system"), QString());
    // Each language by its own name, in every language.
    language_box_->addItem(QStringLiteral("English"), QStringLiteral("en"));
    language_box_->addItem(QStringLiteral("Deutsch"), QStringLiteral("de"));
    language_box_->addItem(QStringLiteral("Français"), QStringLiteral("fr"));
    select(language_box_, settings.language);
    language_box_->setToolTip(tr("Used from the next start on"));
    add(look, tr("&Language (next start)"), language_box_, tr("Language, used from the next start"),
        "languageBox");
    auto* keys_button = new QPushButton(tr("&Keyboard shortcuts…"), this);
    keys_button->setObjectName(QStringLiteral("shortcutsButton"));
    keys_button->setToolTip(tr("See and change the keys of every action"));
    keys_button->setAutoDefault(false);
    look->addRow(named(QString()), keys_button);
    connect(keys_button, &QPushButton::clicked, this, &SettingsDialog::shortcutsRequested);

    column->addSpacing(4);
    column->addWidget(heading(tr("Models"), this));
    QFormLayout* loading = form();
    map_box_ = new QComboBox(this);
    for (const char* preset : {"fit", "gpu", "towers-cpu", "ple-cpu", "lean", "cpu"}) {
        const QString name = QString::fromLatin1(preset);
        map_box_->addItem(presetName(name), name);
    }
    select(map_box_, settings.device_map);
    add(loading, tr("&Placement to start with"), map_box_, tr("Placement to start with"), "mapBox");
    quant_box_ = new QComboBox(this);
    for (const char* quant : {"none", "nf4-dq", "nf4", "fp4-dq", "fp4"}) {
        const QString name = QString::fromLatin1(quant);
        quant_box_->addItem(quantName(name), name);
    }
    select(quant_box_, settings.quant);
    add(loading, tr("&Weights to start with"), quant_box_, tr("Weights to start with"), "quantBox");
    threads_box_ = new QSpinBox(this);
    threads_box_->setRange(0, std::max(1, QThread::idealThreadCount()));
    threads_box_->setSpecialValueText(tr("all"));
    threads_box_->setValue(settings.threads);
    add(loading, tr("P&rocessor threads"), threads_box_, tr("Processor threads"), "threadsBox");
    cache_check_ = new QCheckBox(tr("Keep &quantized copies for faster loading"), this);
    cache_check_->setObjectName(QStringLiteral("cacheCheck"));
    cache_check_->setChecked(settings.uses_cache);
    loading->addRow(named(QString()), cache_check_);

    column->addSpacing(4);
    column->addWidget(heading(tr("Chats and files"), this));
    QFormLayout* files = form();
    reopen_check_ = new QCheckBox(tr("&Open the last chat at start"), this);
    reopen_check_->setObjectName(QStringLiteral("reopenCheck"));
    reopen_check_->setChecked(settings.reopens_chat);
    files->addRow(named(QString()), reopen_check_);
    files->addRow(named(tr("Chats")), pathLabel(data_folder, this));
    files->addRow(named(tr("Cache, can be deleted")), pathLabel(cache_folder, this));
    int widest = 0;
    for (const QLabel* label : labels) {
        widest = std::max(widest, label->sizeHint().width());
    }
    for (QLabel* label : labels) {
        label->setFixedWidth(widest);
    }
    auto* privacy = new QLabel(
        tr("Belfry opens no network connection: models, chats, pictures and sounds stay on this "
           "computer."),
        this);
    privacy->setWordWrap(true);
    setTextRole(privacy, TextRole::Muted);
    column->addWidget(privacy);

    column->addStretch();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 16);
    outer->setSpacing(12);
    outer->addWidget(new BodyArea(body, this), 1);
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(20, 0, 20, 0);
    foot->addWidget(buttons);
    outer->addLayout(foot);
    BodyArea::fitToScreen(this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    for (QComboBox* box : {theme_box_, language_box_, map_box_, quant_box_}) {
        connect(box, &QComboBox::activated, this, &SettingsDialog::edited);
    }
    connect(zoom_box_, &QSpinBox::valueChanged, this, &SettingsDialog::edited);
    connect(threads_box_, &QSpinBox::valueChanged, this, &SettingsDialog::edited);
    connect(cache_check_, &QCheckBox::toggled, this, &SettingsDialog::edited);
    connect(reopen_check_, &QCheckBox::toggled, this, &SettingsDialog::edited);
}

void SettingsDialog::edited() {
    settings_.theme = static_cast<ThemeChoice>(theme_box_->currentData().toInt());
    settings_.text_zoom = zoom_box_->value();
    settings_.language = language_box_->currentData().toString();
    settings_.threads = threads_box_->value();
    settings_.quant = quant_box_->currentData().toString();
    settings_.device_map = map_box_->currentData().toString();
    settings_.uses_cache = cache_check_->isChecked();
    settings_.reopens_chat = reopen_check_->isChecked();
    Q_EMIT settingsEdited(settings_);
}

} // namespace ui
