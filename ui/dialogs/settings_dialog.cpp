// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/settings_dialog.h"

#include "ui/common/body_area.h"
#include "ui/style/format.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
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

/// Forms below each other in a column, each with a heading. They share the edge of their fields:
/// the widest label decides.
class SettingsDialog::Forms {
public:
    Forms(QVBoxLayout* column, QWidget* dialog) : column_(column), dialog_(dialog) {}

    void begin(const QString& title) {
        if (form_ != nullptr) {
            column_->addSpacing(4);
        }
        column_->addWidget(heading(title, dialog_));
        form_ = new QFormLayout();
        form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
        form_->setHorizontalSpacing(16);
        form_->setVerticalSpacing(8);
        column_->addLayout(form_);
    }
    void add(const QString& text, QWidget* field, const QString& name, const char* object_name) {
        field->setAccessibleName(name);
        field->setObjectName(QString::fromLatin1(object_name));
        field->setMinimumHeight(Theme::kControlHeight);
        addRow(text, field)->setBuddy(field);
    }
    QLabel* addRow(const QString& text, QWidget* field) {
        auto* label = new QLabel(text, dialog_);
        label->setMinimumHeight(Theme::kControlHeight);
        labels_.push_back(label);
        form_->addRow(label, field);
        return label;
    }
    /// After the last row.
    void alignFields() {
        int widest = 0;
        for (const QLabel* label : labels_) {
            widest = std::max(widest, label->sizeHint().width());
        }
        for (QLabel* label : labels_) {
            label->setFixedWidth(widest);
        }
    }

private:
    QVBoxLayout* column_;
    QWidget* dialog_;
    QFormLayout* form_ = nullptr;
    std::vector<QLabel*> labels_;
};

SettingsDialog::SettingsDialog(const Settings& settings,
                               const NetworkFacts& network,
                               const QString& data_folder,
                               const QString& cache_folder,
                               QWidget* parent)
    : QDialog(parent), settings_(settings) {
    setObjectName(QStringLiteral("settingsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Settings"));
    setMinimumWidth(560);
    auto* body = new QWidget;
    auto* column = columnIn(body, {20, 16, 8, 4}, 12);
    Forms forms(column, this);
    forms.begin(tr("Look"));
    buildLook(forms);
    forms.begin(tr("Models"));
    buildModels(forms);
    forms.begin(tr("Network"));
    buildNetwork(forms, network);
    forms.begin(tr("Chats and files"));
    buildFiles(forms, data_folder, cache_folder);
    forms.alignFields();
    auto* privacy = new QLabel(
        tr("Belfry opens a network connection only when you search for a model, get one or choose "
           "one on a server. Chats, pictures and sounds stay on this computer; what you write to a "
           "server goes there."),
        this);
    privacy->setWordWrap(true);
    setTextRole(privacy, TextRole::Muted);
    column->addWidget(privacy);
    column->addStretch();

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    auto* outer = columnIn(this, {0, 0, 0, 16}, 12);
    auto* area = new BodyArea(body, this);
    area->keepBarRoom();
    outer->addWidget(area, 1);
    auto* foot = rowIn(nullptr, {20, 0, 20, 0});
    foot->addWidget(buttons);
    outer->addLayout(foot);
    BodyArea::fitToScreen(this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    for (QComboBox* box : {theme_box_, language_box_, map_box_, quant_box_}) {
        connect(box, &QComboBox::activated, this, &SettingsDialog::edited);
    }
    connect(zoom_box_, &QSpinBox::valueChanged, this, &SettingsDialog::edited);
    connect(threads_box_, &QSpinBox::valueChanged, this, &SettingsDialog::edited);
    for (QLineEdit* field : {endpoint_field_, proxy_field_}) {
        connect(field, &QLineEdit::editingFinished, this, &SettingsDialog::edited);
    }
    connect(offline_check_, &QCheckBox::toggled, this, &SettingsDialog::edited);
    connect(motion_check_, &QCheckBox::toggled, this, &SettingsDialog::edited);
    connect(cache_check_, &QCheckBox::toggled, this, &SettingsDialog::edited);
    connect(reopen_check_, &QCheckBox::toggled, this, &SettingsDialog::edited);
}

void SettingsDialog::buildLook(Forms& forms) {
    theme_box_ = new QComboBox(this);
    theme_box_->addItem(tr("As the system"), static_cast<int>(ThemeChoice::System));
    theme_box_->addItem(tr("Light"), static_cast<int>(ThemeChoice::Light));
    theme_box_->addItem(tr("Dark"), static_cast<int>(ThemeChoice::Dark));
    select(theme_box_, static_cast<int>(settings_.theme));
    forms.add(tr("&Colours"), theme_box_, tr("Colours"), "themeBox");
    zoom_box_ = new QSpinBox(this);
    zoom_box_->setRange(70, 200);
    zoom_box_->setSingleStep(10);
    zoom_box_->setSuffix(tr(" %"));
    zoom_box_->setValue(settings_.text_zoom);
    forms.add(tr("&Text size"), zoom_box_, tr("Text size in percent"), "zoomBox");
    language_box_ = new QComboBox(this);
    language_box_->addItem(tr("As the system"), QString());
    // Each language by its own name, in every language.
    language_box_->addItem(QStringLiteral("English"), QStringLiteral("en"));
    language_box_->addItem(QStringLiteral("Deutsch"), QStringLiteral("de"));
    language_box_->addItem(QStringLiteral("Français"), QStringLiteral("fr"));
    select(language_box_, settings_.language);
    language_box_->setToolTip(tr("Used from the next start on"));
    forms.add(tr("&Language (next start)"), language_box_, tr("Language, used from the next start"),
              "languageBox");
    motion_check_ = named("motionCheck", new QCheckBox(tr("Re&duce motion"), this));
    motion_check_->setChecked(settings_.reduces_motion);
    motion_check_->setToolTip(tr("Blocks, lanes and bars jump to their place instead of moving "
                                 "there"));
    forms.addRow(QString(), motion_check_);
    auto* keys_button = pushButton("shortcutsButton", tr("&Keyboard shortcuts…"), this);
    keys_button->setToolTip(tr("See and change the keys of every action"));
    keys_button->setAutoDefault(false);
    forms.addRow(QString(), keys_button);
    connect(keys_button, &QPushButton::clicked, this, &SettingsDialog::shortcutsRequested);
}

void SettingsDialog::buildModels(Forms& forms) {
    map_box_ = new QComboBox(this);
    for (const char* preset :
         {"fit", "gpu", "towers-cpu", "ple-cpu", "lean", "experts-cpu", "cpu"}) {
        const QString name = QString::fromLatin1(preset);
        map_box_->addItem(presetName(name), name);
    }
    select(map_box_, settings_.device_map);
    forms.add(tr("&Placement to start with"), map_box_, tr("Placement to start with"), "mapBox");
    quant_box_ = new QComboBox(this);
    for (const QString& name : quantOptions()) {
        quant_box_->addItem(quantName(name), name);
    }
    select(quant_box_, settings_.quant);
    forms.add(tr("&Weights to start with"), quant_box_, tr("Weights to start with"), "quantBox");
    threads_box_ = new QSpinBox(this);
    threads_box_->setRange(0, std::max(1, QThread::idealThreadCount()));
    threads_box_->setSpecialValueText(tr("all"));
    threads_box_->setValue(settings_.threads);
    forms.add(tr("P&rocessor threads"), threads_box_, tr("Processor threads"), "threadsBox");
    cache_check_ =
        named("cacheCheck", new QCheckBox(tr("Keep &quantized copies for faster loading"), this));
    cache_check_->setChecked(settings_.uses_cache);
    forms.addRow(QString(), cache_check_);
}

void SettingsDialog::buildNetwork(Forms& forms, const NetworkFacts& network) {
    offline_check_ = named("offlineCheck", new QCheckBox(tr("&Never use the network"), this));
    offline_check_->setChecked(!settings_.uses_network || network.is_forbidden_outside);
    offline_check_->setEnabled(!network.is_forbidden_outside);
    offline_check_->setToolTip(network.is_forbidden_outside
                                   ? tr("HF_HUB_OFFLINE in the environment forbids it")
                                   : tr("For the window and for belfry-cli. A server on this "
                                        "computer may answer all the same."));
    forms.addRow(QString(), offline_check_);
    const auto field = [this](const QString& text, const QString& usual) {
        auto* made = new QLineEdit(text, this);
        made->setPlaceholderText(usual);
        made->setClearButtonEnabled(true);
        return made;
    };
    endpoint_field_ = field(settings_.hub_endpoint, network.usual_endpoint.isEmpty()
                                                        ? QStringLiteral("https://huggingface.co")
                                                        : network.usual_endpoint);
    endpoint_field_->setToolTip(
        tr("Where models come from: a mirror with Hugging Face's interface, as HF_ENDPOINT"));
    forms.add(tr("&Mirror"), endpoint_field_, tr("Mirror"), "endpointField");
    proxy_field_ = field(settings_.proxy, tr("as the system says"));
    proxy_field_->setToolTip(tr("http://host:port or socks5://host:port"));
    forms.add(tr("Prox&y"), proxy_field_, tr("Proxy"), "proxyField");
}

void SettingsDialog::buildFiles(Forms& forms,
                                const QString& data_folder,
                                const QString& cache_folder) {
    reopen_check_ = named("reopenCheck", new QCheckBox(tr("&Open the last chat at start"), this));
    reopen_check_->setChecked(settings_.reopens_chat);
    forms.addRow(QString(), reopen_check_);
    forms.addRow(tr("Chats"), pathLabel(data_folder, this));
    forms.addRow(tr("Cache, can be deleted"), pathLabel(cache_folder, this));
}

void SettingsDialog::edited() {
    settings_.theme = static_cast<ThemeChoice>(theme_box_->currentData().toInt());
    settings_.text_zoom = zoom_box_->value();
    settings_.reduces_motion = motion_check_->isChecked();
    settings_.language = language_box_->currentData().toString();
    settings_.threads = threads_box_->value();
    settings_.quant = quant_box_->currentData().toString();
    settings_.device_map = map_box_->currentData().toString();
    settings_.uses_cache = cache_check_->isChecked();
    settings_.reopens_chat = reopen_check_->isChecked();
    if (offline_check_->isEnabled()) {
        settings_.uses_network = !offline_check_->isChecked();
    }
    settings_.hub_endpoint = endpoint_field_->text().trimmed();
    settings_.proxy = proxy_field_->text().trimmed();
    Q_EMIT settingsEdited(settings_);
}

} // namespace ui
