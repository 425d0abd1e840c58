// SPDX-License-Identifier: Apache-2.0
#include "ui/model/model_panel.h"

#include "engine/api/model_address.h"
#include "ui/common/body_area.h"
#include "ui/common/error_words.h"
#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"
#include "ui/common/shortcuts.h"
#include "ui/model/folder_words.h"
#include "ui/model/profile_menu.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDate>
#include <QDir>
#include <QEvent>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

namespace ui {

namespace {

constexpr int kPanelWidth = 544; ///< With its shadow, at the usual text size ...
constexpr int kWidestZoom = 150; ///< ... and as wide as a small window takes.

QComboBox* optionBox(const QString& object_name, const QString& name, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setObjectName(object_name);
    box->setAccessibleName(name);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(16);
    return box;
}

/// Chooses the entry with `data`; adds one when a layout or script set something unlisted.
void choose(QComboBox* box, const QVariant& data, const QString& label) {
    int index = box->findData(data);
    if (index < 0) {
        box->addItem(label, data);
        index = box->count() - 1;
    }
    box->setCurrentIndex(index);
}

QString tableRow(const std::array<QString, 4>& cells) {
    const QString first = QStringLiteral("style=\"padding-bottom: 2px\"");
    const QString other =
        QStringLiteral("align=\"right\" style=\"padding-bottom: 2px; padding-left: 12px\"");
    QString row;
    for (const QString& cell : cells) {
        row += QStringLiteral("<td %1>%2</td>")
                   .arg(row.isEmpty() ? first : other, cell.toHtmlEscaped());
    }
    return QStringLiteral("<tr>%1</tr>").arg(row);
}

/// "4 bits (NF4)", "97.1 %", "0.012", "30/11/2026"; beside what, where that is not 16 bits.
QString comparisonRow(const engine::Comparison& one) {
    const bool is_half = one.reference == "bfloat16" || one.reference == "float16";
    QString reference = is_half ? ModelPanel::tr("16 bits") : quantName(fromUtf8(one.reference));
    if (!one.other_model.empty()) {
        reference = QStringLiteral("%1 (%2)").arg(fromUtf8(one.other_model), reference);
    }
    const QString quant = quantName(fromUtf8(one.quant));
    const QLocale locale;
    return tableRow({is_half && one.other_model.empty()
                         ? quant
                         : ModelPanel::tr("%1 beside %2").arg(quant, reference),
                     ModelPanel::tr("%1 %").arg(locale.toString(100 * one.same_top, 'f', 1)),
                     locale.toString(one.divergence, 'g', 2),
                     locale.toString(QDate::fromString(fromUtf8(one.date), Qt::ISODate),
                                     QLocale::ShortFormat)});
}

/// Packed with scales that are packed too: the smallest of the 4-bit forms.

/// What 4 bits must bring in speed before they are proposed where both fit.
constexpr double kWorthGain = 1.15;

/// Bytes that a plan takes in memory, disk left out.
quint64 memoryOf(const engine::PlacementPlan& plan) {
    quint64 bytes = 0;
    for (const engine::DevicePlan& device : plan.devices) {
        bytes += device.id == engine::DeviceId::disk() ? 0 : device.parts.total();
    }
    return bytes;
}

/// Weights of the towers in a plan, or those that it left out.
quint64 towerBytes(const engine::PlacementPlan& plan) {
    quint64 bytes = plan.left_out_bytes;
    for (const engine::ModulePlacement& module : plan.modules) {
        bytes += engine::isMedia(module.part) ? module.bytes : 0;
    }
    return bytes;
}

/// "9.6 GiB, about 5.6 tokens/s"; of a plan that does not fit, that.
QString figuresOf(const engine::PlacementPlan& plan) {
    const QString bytes = formatBytes(memoryOf(plan));
    return plan.fits ? ModelPanel::tr("%1, about %2 tokens/s")
                           .arg(bytes, formatRate(plan.estimate.decode_tokens_per_s))
                     : ModelPanel::tr("%1, which does not fit").arg(bytes);
}

/// "gemma-4-E2B-it-assistant"; of one that lies inside its model's folder, that.
QString assistantName(const QString& folder) {
    const QString name = Session::nameOf(folder);
    return name == QStringLiteral("assistant") ? ModelPanel::tr("The one in the model's folder")
                                               : name;
}

/// "Gemma 4 E2B"; sizes that nobody has published are not a name.
QString variantName(const QString& variant) {
    return variant.isEmpty() || variant == QStringLiteral("custom")
               ? ModelPanel::tr("Gemma 4, not one of the published sizes")
               : ModelPanel::tr("Gemma 4 %1").arg(variant);
}

} // namespace

ModelPanel::ModelPanel(Session* session, RecentModels* recent, bool has_demo_model, QWidget* window)
    : Flyout(window), session_(session), recent_(recent) {
    setObjectName(QStringLiteral("modelPanel"));
    setAccessibleName(tr("Models and load options"));
    body_ = new QWidget;
    auto* column = columnIn(body_, {16, 16, 16, 16}, Theme::kGap);
    buildSources(has_demo_model);
    column->addLayout(sources_);
    buildRecent(column);
    column->addWidget(buildFacts());
    column->addWidget(buildOptions());
    column->addWidget(buildProposal());
    column->addWidget(buildAssistantProposal());
    auto* outer = columnIn(this, {0, 0, 0, 0}, 0);
    outer->addWidget(new BodyArea(body_, this), 1); // in a small window it scrolls
    buildFoot();                                    // and what it is all for does not
    outer->addWidget(foot_);
    const auto widen = [this] {
        setFixedWidth(kPanelWidth * std::min(textZoom(), kWidestZoom) / 100);
    };
    widen();
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, widen);
    connect(session_, &Session::changed, this, &ModelPanel::refresh);
    connect(recent_, &QAbstractItemModel::modelReset, this, &ModelPanel::refresh);
    connect(recent_, &QAbstractItemModel::rowsInserted, this, &ModelPanel::refresh);
    connect(recent_, &QAbstractItemModel::rowsRemoved, this, &ModelPanel::refresh);
    connect(recent_, &RecentModels::factsChanged, this, &ModelPanel::refresh);
    refreshOptions();
    refresh();
}

QSize ModelPanel::sizeHint() const {
    const QMargins around = contentsMargins();
    const int width = minimumWidth();
    const int inner = width - around.left() - around.right();
    // As high as its lines are in this width: the layout's own hint knows of none.
    const int foot = foot_->isHidden() ? 0
                     : foot_->layout()->hasHeightForWidth()
                         ? foot_->layout()->totalHeightForWidth(inner)
                         : foot_->sizeHint().height();
    return {width,
            body_->layout()->totalHeightForWidth(inner) + foot + around.top() + around.bottom()};
}

bool ModelPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::LayoutRequest && watched == body_) {
        place();
    }
    return Flyout::eventFilter(watched, event);
}

void ModelPanel::buildSources(bool has_demo_model) {
    sources_ = new QGridLayout;
    sources_->setSpacing(Theme::kGap);
    const auto add = [this](const QString& text, const char* object_name, const char* icon_name) {
        auto* button = pushButton(object_name, text, this, icon_name);
        source_buttons_.push_back(button);
        return button;
    };
    QPushButton* choose_button = add(tr("Choose a &folder…"), "chooseModelButton", "folder");
    setKeyToolTip(choose_button, tr("Choose a Gemma 4 model folder"),
                  QStringLiteral("chooseFolder"));
    QPushButton* file_button = add(tr("Choose a GGUF fil&e…"), "chooseFileButton", "folder");
    file_button->setToolTip(tr("A model in one file, as llama.cpp, LM Studio and Ollama use it"));
    QPushButton* library_button = add(tr("L&ibrary…"), "libraryButton", "search");
    setKeyToolTip(library_button, tr("Models on this computer, and where to get more"),
                  QStringLiteral("library"));
    QPushButton* demo_button = add(tr("&Demo model"), "demoModelButton", "spark");
    demo_button->setToolTip(tr("The small model that comes with Belfry"));
    demo_button->setVisible(has_demo_model);
    server_button_ = add(tr("Ser&ver…"), "serverButton", "server");
    server_button_->setToolTip(tr("Let a model on another computer answer"));
    server_button_->hide();
    arrangeSources();
    connect(server_button_, &QPushButton::clicked, this, &ModelPanel::serverDialogRequested);
    connect(choose_button, &QPushButton::clicked, this, &ModelPanel::folderDialogRequested);
    connect(file_button, &QPushButton::clicked, this, &ModelPanel::fileDialogRequested);
    connect(library_button, &QPushButton::clicked, this, [this] {
        closeFlyout();
        Q_EMIT libraryRequested();
    });
    connect(demo_button, &QPushButton::clicked, session_,
            [this] { session_->chooseModel(QStringLiteral("demo")); });
}

void ModelPanel::arrangeSources() {
    // Tiles of one size, two in a row; a last one alone takes the row.
    std::vector<QPushButton*> shown;
    for (QPushButton* button : source_buttons_) {
        sources_->removeWidget(button);
        if (!button->isHidden()) {
            shown.push_back(button);
        }
    }
    for (size_t i = 0; i < shown.size(); ++i) {
        const bool is_alone = i % 2 == 0 && i + 1 == shown.size();
        sources_->addWidget(shown[i], static_cast<int>(i / 2), static_cast<int>(i % 2), 1,
                            is_alone ? 2 : 1);
    }
    for (const int half : {0, 1}) {
        sources_->setColumnStretch(half, 1);
    }
}

void ModelPanel::setHasServers(bool has_servers) {
    server_button_->setVisible(has_servers);
    arrangeSources();
}

void ModelPanel::buildRecent(QVBoxLayout* column) {
    recent_title_ = new QLabel(tr("Recent"), this);
    setTextRole(recent_title_, TextRole::Muted);
    setTextSize(recent_title_, 90);
    column->addWidget(recent_title_);
    recent_view_ = named("recentModels", new QListView(this));
    recent_view_->setAccessibleName(tr("Recent models"));
    recent_view_->setModel(recent_);
    recent_view_->setFrameShape(QFrame::NoFrame);
    recent_view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    recent_view_->setUniformItemSizes(true);
    recent_view_->setTabKeyNavigation(false);
    column->addWidget(recent_view_);
    const auto pick = [this](const QModelIndex& index) {
        session_->chooseModel(
            QDir::fromNativeSeparators(index.data(RecentModels::FolderRole).toString()));
    };
    connect(recent_view_, &QListView::activated, this, pick);
    connect(recent_view_, &QListView::clicked, this, pick);
}

QWidget* ModelPanel::buildFacts() {
    inside_ = new QWidget(this);
    auto* inside = columnIn(inside_, {0, Theme::kGap, 0, 0}, 4);
    name_label_ = selectableLabel("chosenModelName", inside_);
    setTextSize(name_label_, 115, true);
    facts_label_ = selectableLabel("chosenModelFacts", inside_);
    setTextRole(facts_label_, TextRole::Muted);
    problem_label_ = selectableLabel("chosenModelProblem", inside_);
    beside_label_ = selectableLabel("chosenModelBeside", inside_);
    setTextRole(beside_label_, TextRole::Muted);
    inside->addWidget(name_label_);
    inside->addWidget(beside_label_);
    inside->addWidget(facts_label_);
    inside->addWidget(problem_label_);
    missing_ = new QWidget(inside_);
    auto* repairs = rowIn(missing_, {0, 4, 0, 0});
    auto* locate_button = pushButton("locateModelButton", tr("Lo&cate…"), missing_, "search");
    locate_button->setToolTip(tr("Tell where the folder is now"));
    auto* remove_button = pushButton("removeModelButton", tr("Re&move from the list"), missing_);
    remove_button->setToolTip(tr("Forget this folder; no file is deleted"));
    repairs->addWidget(locate_button);
    repairs->addWidget(remove_button);
    repairs->addStretch();
    inside->addWidget(missing_);
    connect(locate_button, &QPushButton::clicked, this,
            [this] { Q_EMIT locateRequested(session_->model()); });
    connect(remove_button, &QPushButton::clicked, this, [this] {
        recent_->forget(session_->model());
        session_->chooseModel(QString());
    });
    return inside_;
}

QFormLayout* ModelPanel::buildChoices() {
    auto* form = new QFormLayout(options_);
    form->setContentsMargins(0, Theme::kGap, 0, 0);
    form->setSpacing(Theme::kGap);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    placement_box_ = optionBox(QStringLiteral("placementBox"), tr("Placement"), options_);
    for (const char* preset :
         {"fit", "gpu", "towers-cpu", "ple-cpu", "lean", "experts-cpu", "cpu"}) {
        const QString name = QString::fromLatin1(preset);
        placement_box_->addItem(presetName(name), name);
    }
    format_box_ = optionBox(QStringLiteral("formatBox"), tr("Weights"), options_);
    context_box_ = optionBox(QStringLiteral("contextBox"), tr("Context"), options_);
    kv_box_ = optionBox(QStringLiteral("kvBox"), tr("KV cache"), options_);
    kv_box_->addItem(tr("16 bits"), QStringLiteral("auto"));
    kv_box_->addItem(tr("8 bits"), QStringLiteral("q8"));
    kv_box_->setToolTip(toolTipText(
        tr("What the model keeps of the conversation. In 8 bits it takes about half the memory; "
           "answers can change a little.")));
    gpu_box_ = optionBox(QStringLiteral("gpuBox"), tr("Graphics card"), options_);
    gpu_box_->addItem(tr("What this computer has"), qulonglong(0));
    for (const qulonglong gib : {2, 4, 6, 8, 12, 16, 24}) {
        gpu_box_->addItem(tr("Simulated, %1").arg(formatBytes(gib << 30U)), gib << 30U);
    }
    gpu_box_->setToolTip(
        tr("A simulated card computes on the processor inside a hard memory limit: "
           "try layouts without the card"));
    const auto row = [form](const QString& text, QComboBox* box) {
        auto* label = new QLabel(text);
        label->setBuddy(box);
        form->addRow(label, box);
    };
    row(tr("&Placement"), placement_box_);
    row(tr("&Weights"), format_box_);
    comparisons_label_ = selectableLabel("comparisonsLabel", options_);
    comparisons_label_->setTextFormat(Qt::RichText);
    comparisons_label_->setVisible(false);
    setTextRole(comparisons_label_, TextRole::Muted);
    form->addRow(comparisons_label_);
    row(tr("Conte&xt"), context_box_);
    row(tr("&KV cache"), kv_box_);
    row(tr("&Graphics card"), gpu_box_);
    for (QComboBox* box : {placement_box_, format_box_, context_box_, kv_box_, gpu_box_}) {
        connect(box, &QComboBox::activated, this, &ModelPanel::optionsEdited);
    }
    return form;
}

void ModelPanel::buildAssistant(QFormLayout* form) {
    assistant_box_ = optionBox(QStringLiteral("assistantBox"), tr("Drafting assistant"), options_);
    assistant_box_->setToolTip(
        toolTipText(tr("A small model that guesses the next tokens, which the model checks several "
                       "at a time. The text is the same; where it is slower, it leaves itself "
                       "out.")));
    draft_tokens_box_ = optionBox(QStringLiteral("draftTokensBox"), tr("Drafts a round"), options_);
    draft_tokens_box_->addItem(tr("As many as pay"), 0);
    for (const int tokens : {1, 2, 3, 4, 6, 8}) {
        draft_tokens_box_->addItem(QString::number(tokens), tokens);
    }
    const auto row = [form](const QString& text, QComboBox* box) {
        auto* label = new QLabel(text);
        label->setBuddy(box);
        form->addRow(label, box);
    };
    row(tr("Drafting &assistant"), assistant_box_);
    row(tr("Drafts a rou&nd"), draft_tokens_box_);
    connect(draft_tokens_box_, &QComboBox::activated, this, &ModelPanel::optionsEdited);
    connect(assistant_box_, &QComboBox::activated, this, [this] {
        if (assistant_box_->currentData().isValid()) {
            optionsEdited();
            return;
        }
        refreshOptions(); // the entry that asks for a folder is no choice
        Q_EMIT assistantDialogRequested();
    });
}

QWidget* ModelPanel::buildOptions() {
    options_ = new QWidget(this);
    QFormLayout* form = buildChoices();
    buildAssistant(form);
    text_only_ = named("textOnlyBox", new QCheckBox(options_));
    text_only_->setToolTip(toolTipText(
        tr("The vision and the audio tower stay in the files and take no memory. Pictures and "
           "sounds cannot be read then; loading without this option brings them back.")));
    profiles_ = new ProfileMenu(options_);
    auto* last = rowIn(nullptr, {0, 0, 0, 0});
    last->addWidget(text_only_, 1);
    last->addWidget(profiles_);
    form->addRow(last);
    connect(text_only_, &QCheckBox::clicked, this, &ModelPanel::optionsEdited);
    return options_;
}

QWidget* ModelPanel::buildProposal() {
    proposal_ = named("fourBitsProposal", new QWidget(this));
    auto* row = rowIn(proposal_, {0, Theme::kGap, 0, 0});
    proposal_label_ = selectableLabel("fourBitsWords", proposal_);
    auto* use = pushButton("fourBitsButton", tr("Use &4 bits"), proposal_);
    row->addWidget(proposal_label_, 1);
    row->addWidget(use, 0, Qt::AlignVCenter);
    proposal_->hide();
    connect(use, &QPushButton::clicked, this, &ModelPanel::useFourBits);
    return proposal_;
}

QWidget* ModelPanel::buildAssistantProposal() {
    assistant_proposal_ = named("assistantProposal", new QWidget(this));
    auto* row = rowIn(assistant_proposal_, {0, Theme::kGap, 0, 0});
    assistant_label_ = selectableLabel("assistantWords", assistant_proposal_);
    auto* use = pushButton("assistantButton", tr("&Use it"), assistant_proposal_);
    row->addWidget(assistant_label_, 1);
    row->addWidget(use, 0, Qt::AlignVCenter);
    assistant_proposal_->hide();
    connect(use, &QPushButton::clicked, this, &ModelPanel::useAssistant);
    return assistant_proposal_;
}

void ModelPanel::buildFoot() {
    foot_ = named("panelFoot", new QWidget(this));
    auto* column = columnIn(foot_, {0, 0, 0, 0}, 0);
    auto* edge = new QFrame(foot_);
    edge->setFrameShape(QFrame::HLine);
    edge->setFixedHeight(1);
    column->addWidget(edge);
    foot_row_ = new QBoxLayout(QBoxLayout::LeftToRight);
    foot_row_->setContentsMargins(16, 12, 16, 12);
    foot_row_->setSpacing(Theme::kGap);
    column->addLayout(foot_row_);
    plan_label_ = selectableLabel("panelPlan", foot_);
    load_button_ = pushButton("loadButton", tr("&Load"), foot_, nullptr, ButtonKind::Primary);
    launch_button_ = pushButton("launchButton", tr("&Run it on a server…"), foot_, "server");
    launch_button_->hide();
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(Theme::kGap);
    buttons->addStretch();
    buttons->addWidget(launch_button_);
    buttons->addWidget(load_button_);
    foot_row_->addWidget(plan_label_, 1);
    foot_row_->addLayout(buttons);
    connect(launch_button_, &QPushButton::clicked, this, [this] {
        closeFlyout();
        Q_EMIT serverLaunchRequested();
    });
    connect(load_button_, &QPushButton::clicked, this, [this] {
        closeFlyout();
        canLoadAnyway() ? session_->loadAnyway(session_->request()) : session_->load();
    });
}

void ModelPanel::optionsEdited() {
    if (is_refreshing_) {
        return;
    }
    engine::LoadRequest options = session_->request();
    const QString map = placement_box_->currentData().toString();
    options.device_map = map.toStdString();
    options.quant = format_box_->currentData().toString().toStdString();
    options.context = context_box_->currentData().toLongLong();
    options.kv = kv_box_->currentData().toString().toStdString();
    options.is_text_only = text_only_->isChecked();
    options.draft = assistant_box_->currentData().toString().toStdString();
    options.draft_tokens = draft_tokens_box_->currentData().toLongLong();
    const qulonglong simulated = gpu_box_->currentData().toULongLong();
    options.sim_gpus.clear();
    if (simulated > 0) {
        options.sim_gpus.push_back(simulated);
    }
    showPlan(nullptr);
    session_->setOptions(options);
}

void ModelPanel::refreshOptions() {
    is_refreshing_ = true;
    const engine::LoadRequest request = session_->request();
    const qint64 most = session_->summary() != nullptr ? session_->summary()->max_context : 0;
    context_box_->clear();
    for (const qint64 tokens : {2048, 4096, 8192, 16384, 32768, 65536, 131072}) {
        if (most == 0 || tokens <= most) {
            context_box_->addItem(tr("%1 tokens").arg(formatCount(tokens)), tokens);
        }
    }
    const qint64 context =
        request.context > 0 ? request.context : (most > 0 ? std::min<qint64>(4096, most) : 4096);
    choose(context_box_, context, tr("%1 tokens").arg(formatCount(context)));
    choose(kv_box_, fromUtf8(request.kv), tr("16 bits"));
    format_box_->clear();
    for (const QString& name : quantOptions(hasExperts())) {
        format_box_->addItem(quantName(name), name);
    }
    choose(placement_box_, fromUtf8(request.device_map), presetName(QString()));
    choose(format_box_, fromUtf8(request.quant), quantName(fromUtf8(request.quant)));
    if (request.sim_gpus.size() > 1) {
        choose(gpu_box_, QVariant(),
               tr("%n simulated cards", nullptr, static_cast<int>(request.sim_gpus.size())));
    } else {
        const qulonglong simulated = request.sim_gpus.empty() ? 0 : request.sim_gpus.front();
        choose(gpu_box_, simulated, tr("Simulated, %1").arg(formatBytes(simulated)));
    }
    text_only_->setChecked(request.is_text_only);
    refreshTextOnly();
    refreshAssistant();
    is_refreshing_ = false;
}

void ModelPanel::refreshAssistant() {
    const engine::LoadRequest request = session_->request();
    const QString known = recent_->facts(session_->model()).assistant;
    const QString chosen = request.draft == "off" ? QString() : fromUtf8(request.draft);
    const bool is_auto = chosen == QStringLiteral("auto");
    assistant_box_->clear();
    assistant_box_->addItem(tr("None"), QString());
    if (!known.isEmpty() || is_auto) {
        assistant_box_->addItem(known.isEmpty() ? tr("If there is one") : assistantName(known),
                                QStringLiteral("auto"));
        assistant_box_->setItemData(1, QDir::toNativeSeparators(known), Qt::ToolTipRole);
    }
    choose(assistant_box_, chosen, assistantName(chosen));
    assistant_box_->insertSeparator(assistant_box_->count());
    assistant_box_->addItem(tr("Choose a folder…"));
    choose(draft_tokens_box_, static_cast<int>(request.draft_tokens),
           QString::number(request.draft_tokens));
    auto* form = qobject_cast<QFormLayout*>(options_->layout());
    form->setRowVisible(draft_tokens_box_, !chosen.isEmpty());
    const bool is_usable = session_->summary() != nullptr && session_->modelError() == nullptr;
    assistant_proposal_->setVisible(is_usable && !known.isEmpty() && chosen.isEmpty());
    assistant_proposal_->setEnabled(!session_->isBusy());
    assistant_label_->setText(
        tr("A drafting assistant for this model is there: it can make replies faster."));
}

void ModelPanel::useAssistant() {
    engine::LoadRequest options = session_->request();
    options.draft = "auto";
    showPlan(nullptr);
    session_->setOptions(options);
}

void ModelPanel::refresh() {
    const bool has_recent = recent_->rowCount() > 0;
    recent_title_->setVisible(has_recent);
    recent_view_->setVisible(has_recent);
    if (has_recent) {
        const int rows = std::min(recent_->rowCount(), 4);
        recent_view_->setFixedHeight(rows * std::max(24, recent_view_->sizeHintForRow(0)) + 4);
    }
    const bool is_chosen = !session_->model().isEmpty();
    inside_->setVisible(is_chosen);
    const auto& summary = session_->summary();
    const engine::Error* error = session_->modelError();
    const bool is_beside = session_->isLoaded() && session_->model() != session_->shownModel();
    name_label_->setText(session_->modelName());
    beside_label_->setVisible(is_beside);
    const bool is_server = engine::isServerModel(session_->model().toStdString());
    beside_label_->setText((is_server ? tr("Not connected. %1 answers until it is.")
                                      : tr("Not loaded. %1 answers until it is."))
                               .arg(Session::nameOf(session_->shownModel())));
    facts_label_->setVisible(error == nullptr);
    if (is_server) {
        const QString host = fromUtf8(engine::serverHost(session_->model().toStdString()));
        facts_label_->setText(
            summary == nullptr ? tr("Asking %1 …").arg(host)
            : summary->max_context > 0
                ? tr("On %1: what you write and attach is sent there.\nUp to %2 tokens")
                      .arg(host, formatCount(summary->max_context))
                : tr("On %1: what you write and attach is sent there.").arg(host));
    } else if (summary != nullptr) {
        QStringList kinds = {tr("text")};
        if (summary->has_vision) {
            kinds.append(tr("images"));
        }
        if (summary->has_audio) {
            kinds.append(tr("audio"));
        }
        const QString precision = summary->quantization == "none"
                                      ? fromUtf8(summary->dtype)
                                      : quantName(fromUtf8(summary->quantization));
        const QString facts =
            summary->is_header_only
                ? tr("%1 · %2 parameters · would be %3 on disk · %4\nUnderstands %5 · up to %6 "
                     "tokens")
                : tr("%1 · %2 parameters · %3 on disk · %4\nUnderstands %5 · up to %6 tokens");
        facts_label_->setText(
            facts.arg(variantName(fromUtf8(summary->variant)),
                      formatParameters(summary->parameters), formatBytes(summary->bytes), precision,
                      kinds.join(QStringLiteral(", ")), formatCount(summary->max_context)));
    } else {
        facts_label_->setText(tr("Reading %1 …").arg(session_->model()));
    }
    QStringList problems;
    if (error != nullptr && is_server) {
        problems.append(errorSentence(*error));
        if (server_.kind == ServerState::Kind::Gone && server_.model == session_->model()) {
            problems.append(tr("It is asked again by itself while this window shows it."));
        }
    } else if (is_server && server_.model == session_->model() && !server_.words.isEmpty()) {
        problems.append(server_.words);
    } else if (error != nullptr) {
        problems.append(tr("%1 cannot be used.").arg(QDir::toNativeSeparators(session_->model())));
        problems.append(errorSentence(*error));
    } else if (summary != nullptr) {
        if (summary->is_header_only) {
            problems.append(weightsProblem());
        }
        for (const engine::Sentence& odd : summary->warnings) {
            problems.append(wholeSentence(odd));
        }
    }
    missing_->setVisible(error != nullptr && recent_->isMissing(session_->model()));
    setTextOrHide(problem_label_, problems.join(QLatin1Char('\n')));
    const bool is_lost =
        is_server && !problems.isEmpty() && server_.kind != ServerState::Kind::Loading;
    setTextRole(problem_label_, error != nullptr || is_lost ? TextRole::Danger : TextRole::Muted);

    askComparisons();
    const bool is_usable = is_chosen && summary != nullptr && error == nullptr;
    options_->setVisible(is_usable && !is_server);
    plan_label_->setVisible(is_usable && !is_server);
    foot_->setVisible(is_usable);
    options_->setEnabled(!session_->isBusy());
    refreshOptions();
    refreshLoad();
    refreshProposal();
    updateGeometry();
}

void ModelPanel::setBesideWhatIf(bool is_beside) {
    if (std::exchange(is_beside_what_if_, is_beside) != is_beside) {
        refreshLoad();
    }
}

void ModelPanel::refreshLoad() {
    const auto& summary = session_->summary();
    const bool is_usable = summary != nullptr && session_->modelError() == nullptr;
    load_button_->setEnabled(!session_->isBusy() && is_usable && !summary->is_header_only);
    const bool is_server = engine::isServerModel(session_->model().toStdString());
    load_button_->setText(is_server
                              ? (session_->isChosenLoaded() ? tr("Re&connect") : tr("&Connect"))
                          : canLoadAnyway()            ? tr("&Load anyway")
                          : is_beside_what_if_         ? tr("&Load here")
                          : session_->isChosenLoaded() ? tr("Re&load")
                                                       : tr("&Load"));
    launch_button_->setVisible(is_usable && !is_server && plan_ != nullptr && !plan_->fits);
    // Two buttons leave the words no room beside them.
    foot_row_->setDirection(launch_button_->isHidden() ? QBoxLayout::LeftToRight
                                                       : QBoxLayout::TopToBottom);
    load_button_->setToolTip(summary != nullptr && summary->is_header_only
                                 ? toolTipText(weightsProblem())
                             : canLoadAnyway() ? toolTipText(loadAnywayWords())
                                               : QString());
}

bool ModelPanel::canLoadAnyway() const {
    return plan_ != nullptr && !plan_->fits && engine::isRefusedByEstimate(plan_->errors);
}

void ModelPanel::refreshTextOnly() {
    const auto& summary = session_->summary();
    text_only_->setVisible(summary != nullptr && (summary->has_vision || summary->has_audio));
    const quint64 bytes = plan_ == nullptr ? 0 : towerBytes(*plan_);
    text_only_->setText(bytes == 0 ? tr("&Text only")
                        : text_only_->isChecked()
                            ? tr("&Text only: saves %1").arg(formatBytes(bytes))
                            : tr("&Text only: would save %1").arg(formatBytes(bytes)));
}

void ModelPanel::showEvent(QShowEvent* event) {
    Flyout::showEvent(event);
    askAlternative();
    compared_model_.clear(); // there may be new ones
    askComparisons();
}

void ModelPanel::askComparisons() {
    if (!isVisible() || session_->summary() == nullptr || compared_model_ == session_->model()) {
        return;
    }
    compared_model_ = session_->model();
    comparisons_label_->setVisible(false);
    Q_EMIT comparisonsRequested(compared_model_);
}

void ModelPanel::showComparisons(const QString& model,
                                 const std::vector<engine::Comparison>& found) {
    if (model != session_->model()) {
        return;
    }
    constexpr qsizetype kMostLines = 6;
    QStringList rows;
    std::set<std::array<std::string, 3>> told; // of several texts the newest
    for (auto one = found.rbegin(); one != found.rend() && rows.size() < kMostLines; ++one) {
        if (told.insert({one->quant, one->reference, one->other_model}).second) {
            rows.append(comparisonRow(*one));
        }
    }
    const QString table =
        QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"0\">%1%2</table>")
            .arg(tableRow({tr("Beside 16 bits"), tr("same token"), tr("KL"), tr("measured")}),
                 rows.join(QString()));
    setTextOrHide(comparisons_label_, rows.isEmpty() ? QString() : table);
    updateGeometry();
}

bool ModelPanel::hasExperts() const {
    return session_->summary() != nullptr && session_->summary()->has_experts;
}

std::string ModelPanel::fourBits() const {
    return hasExperts() ? "nf4-dq+experts" : "nf4-dq";
}

void ModelPanel::askAlternative() {
    const auto& summary = session_->summary();
    const engine::LoadRequest request = session_->request();
    if (!isVisible() || plan_ == nullptr || summary == nullptr || summary->is_header_only ||
        request.quant != "none" || summary->quantization != "none" || alternative_ != nullptr) {
        return;
    }
    engine::LoadRequest in_four_bits = request;
    in_four_bits.quant = fourBits();
    Q_EMIT alternativeRequested(++alternative_ticket_, in_four_bits);
}

void ModelPanel::showServerState(const ServerState& state) {
    server_ = state;
    refresh();
}

void ModelPanel::showAlternative(quint64 ticket,
                                 const std::shared_ptr<const engine::PlacementPlan>& plan) {
    if (ticket == alternative_ticket_) {
        alternative_ = plan;
        refreshProposal();
        updateGeometry();
    }
}

void ModelPanel::refreshProposal() {
    const bool is_better = plan_ != nullptr && alternative_ != nullptr &&
                           session_->request().quant == "none" &&
                           session_->modelError() == nullptr && alternative_->fits &&
                           (!plan_->fits || alternative_->estimate.decode_tokens_per_s >
                                                kWorthGain * plan_->estimate.decode_tokens_per_s);
    proposal_->setVisible(is_better);
    proposal_->setEnabled(!session_->isBusy());
    if (is_better) {
        proposal_label_->setText(
            tr("In 4 bits: %1.\nAs stored: %2.").arg(figuresOf(*alternative_), figuresOf(*plan_)));
    }
}

void ModelPanel::useFourBits() {
    engine::LoadRequest options = session_->request();
    options.quant = fourBits();
    showPlan(nullptr);
    session_->setOptions(options);
}

void ModelPanel::showPlan(const std::shared_ptr<const engine::PlacementPlan>& plan) {
    plan_ = plan;
    // Another plan: what it was compared with is of the past.
    alternative_.reset();
    ++alternative_ticket_;
    askAlternative();
    refreshTextOnly();
    refreshLoad();
    refreshProposal();
    if (plan == nullptr) {
        plan_label_->clear();
        return;
    }
    if (!plan->fits) {
        setTextRole(plan_label_, TextRole::Danger);
        QString words =
            plan->errors.empty() ? tr("This does not fit.") : issueWords(plan->errors.front());
        if (canLoadAnyway()) {
            words += QLatin1Char('\n') + loadAnywayWords();
        }
        plan_label_->setText(words);
        return;
    }
    QStringList parts;
    for (const engine::DevicePlan& device : plan->devices) {
        if (device.parts.total() > 0) {
            parts.append(tr("%1: %2 of %3")
                             .arg(deviceName(device.id.toString()),
                                  formatBytes(device.parts.total()), formatBytes(device.limit)));
        }
    }
    setTextRole(plan_label_, TextRole::Muted);
    plan_label_->setText(tr("Fits. %1").arg(parts.join(QStringLiteral(" · "))));
}

} // namespace ui
