// SPDX-License-Identifier: Apache-2.0
// How the layout editor looks: bars, lanes, blocks and messages of the stage that is current.
#include "ui/common/issue_words.h"
#include "ui/common/note_words.h"
#include "ui/common/sentence_words.h"
#include "ui/common/shortcuts.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/layout/notice_bar.h"
#include "ui/layout/repair.h"
#include "ui/style/format.h"
#include "ui/style/motion.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// What most of a token's time goes to.
QString boundWords(engine::SpeedBound bound) {
    switch (bound) {
    case engine::SpeedBound::CardMemory:
        return LayoutView::tr("the card's memory");
    case engine::SpeedBound::MainMemory:
        return LayoutView::tr("main memory");
    case engine::SpeedBound::Cores:
        return LayoutView::tr("the processor");
    case engine::SpeedBound::Link:
        return LayoutView::tr("the way to the card (PCIe)");
    case engine::SpeedBound::Disk:
        return LayoutView::tr("the disk");
    case engine::SpeedBound::Launches:
        return LayoutView::tr("the steps between layers");
    case engine::SpeedBound::Unknown:
        break;
    }
    return {};
}

constexpr int kBarMargin = 16;
constexpr int kWidthForAdvice = 512; ///< Two lanes and what to do without a card beside them.
constexpr int kHeightForSentence = 420;
constexpr int kBarsWidth = 280; ///< Least width of the bars above and below the lanes.

/// "4 ms", "1.8 s": short times keep their digits.
QString shortSeconds(double seconds) {
    return seconds < 0.1 ? LayoutView::tr("%1 ms").arg(
                               QLocale().toString(seconds * 1000, 'f', seconds < 0.01 ? 1 : 0))
                         : formatSeconds(seconds);
}

} // namespace

void LayoutView::buildBars(QVBoxLayout* layout) {
    layout->addLayout(buildTools());
    layout->addWidget(buildPages(), 1);
    sentence_ = wrappedLabel("layoutSentence", this);
    sentence_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    setTextSize(sentence_, 92);
    auto* row = rowIn(nullptr, {kBarMargin, 0, kBarMargin, 8});
    row->addWidget(sentence_);
    layout->addLayout(row);
    notice_ = new NoticeBar;
    layout->addWidget(notice_);
    connect(notice_, &NoticeBar::actionTriggered, this, &LayoutView::runNoticeAction);
    connect(notice_, &NoticeBar::secondTriggered, this,
            [this] { applyPreset(QStringLiteral("fit")); });
    connect(notice_, &NoticeBar::dismissed, this, [this] {
        is_notice_kept_ = false;
        dismissed_ = told_;
    });
    layout->addWidget(buildFooter());
}

QLayout* LayoutView::buildTools() {
    const auto tool = [this](const char* name, const QString& icon_name, const QString& text,
                             const QString& tip) {
        auto* button = new QToolButton(this);
        button->setObjectName(QString::fromLatin1(name));
        button->setFocusPolicy(Qt::StrongFocus);
        if (!icon_name.isEmpty()) {
            button->setIcon(icon(icon_name));
        }
        button->setText(text);
        button->setToolButtonStyle(icon_name.isEmpty() ? Qt::ToolButtonTextOnly
                                                       : Qt::ToolButtonIconOnly);
        button->setToolTip(tip);
        button->setAccessibleName(tip);
        button->setMinimumHeight(Theme::kControlHeight);
        return button;
    };
    undo_ = tool("layoutUndo", QStringLiteral("undo"), tr("Undo"), tr("Undo"));
    redo_ = tool("layoutRedo", QStringLiteral("redo"), tr("Redo"), tr("Redo"));
    presets_ = tool("layoutPresets", {}, tr("Presets ▾"), tr("Presets"));
    what_if_button_ = tool("layoutWhatIf", {}, tr("What if: this computer ▾"),
                           tr("What if: plan for another computer"));
    more_ = tool("layoutMore", QStringLiteral("more"), tr("More"), tr("Map files and options"));
    const auto menu = [this](QToolButton* button, const char* name, auto fill) {
        auto* m = new QMenu(button);
        m->setObjectName(QString::fromLatin1(name));
        connect(m, &QMenu::aboutToShow, this, fill);
        connect(button, &QToolButton::clicked, m,
                [button, m] { m->popup(button->mapToGlobal(QPoint(0, button->height() + 4))); });
        return m;
    };
    presets_menu_ = menu(presets_, "layoutPresetsMenu", &LayoutView::fillPresets);
    what_if_menu_ = menu(what_if_button_, "layoutWhatIfMenu", &LayoutView::fillWhatIf);
    more_menu_ = menu(more_, "layoutMoreMenu", &LayoutView::fillMore);
    what_if_button_->setMinimumWidth(80);
    connect(undo_, &QToolButton::clicked, this, &LayoutView::undo);
    connect(redo_, &QToolButton::clicked, this, &LayoutView::redo);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(16, 8, 16, 8);
    bar->setSpacing(8);
    bar->addWidget(undo_);
    bar->addWidget(redo_);
    bar->addStretch(1);
    bar->addWidget(presets_);
    bar->addWidget(what_if_button_);
    bar->addWidget(more_);
    return bar;
}

QWidget* LayoutView::buildPages() {
    auto* empty = new QLabel(
        tr("Choose a model to see its parts here.\n\nEvery part becomes a block with its bytes. "
           "Drag blocks between graphics card, processor and disk; while you hold one, every lane "
           "tells what it would hold and what the move costs."));
    empty->setObjectName(QStringLiteral("layoutEmpty"));
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setMargin(32);
    setTextRole(empty, TextRole::Muted);
    lane_area_ = new QWidget;
    lane_layout_ = new QHBoxLayout(lane_area_);
    lane_layout_->setContentsMargins(16, 4, 16, 12);
    lane_layout_->setSpacing(12);
    buildNoGpu();
    lane_layout_->addWidget(no_gpu_);
    lane_scroll_ = new QScrollArea;
    lane_scroll_->setObjectName(QStringLiteral("layoutLanes"));
    lane_scroll_->setWidgetResizable(true);
    lane_scroll_->setFrameShape(QFrame::NoFrame);
    lane_scroll_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    lane_scroll_->setFocusPolicy(Qt::NoFocus);
    lane_scroll_->setWidget(lane_area_);
    lane_area_->setAutoFillBackground(false);
    lane_scroll_->viewport()->setAutoFillBackground(false);
    auto* stack = new QWidget;
    pages_ = new QStackedLayout(stack);
    pages_->addWidget(empty);
    pages_->addWidget(lane_scroll_);
    return stack;
}

/// A machine without a card is told what it can do instead.
void LayoutView::buildNoGpu() {
    no_gpu_ = new QWidget;
    no_gpu_->setObjectName(QStringLiteral("layoutNoGpu"));
    no_gpu_->setFixedWidth(208);
    no_gpu_why_ = new QLabel;
    no_gpu_why_->setObjectName(QStringLiteral("layoutNoGpuWhy"));
    auto* no_gpu_text = new QLabel(
        tr("A simulated card has a hard memory limit and computes on the processor: try a split "
           "before you own the card."));
    for (QLabel* label : {no_gpu_why_, no_gpu_text}) {
        label->setWordWrap(true);
        label->setAlignment(Qt::AlignCenter);
        setTextRole(label, TextRole::Muted);
    }
    auto* add_gpu = new QPushButton(tr("Add a simulated GPU …"));
    add_gpu->setObjectName(QStringLiteral("layoutAddSim"));
    add_gpu->setAccessibleName(tr("Add a simulated GPU"));
    connect(add_gpu, &QPushButton::clicked, this, &LayoutView::openOptions);
    auto* no_gpu_column = new QVBoxLayout(no_gpu_);
    no_gpu_column->setContentsMargins(8, 8, 8, 8);
    no_gpu_column->setSpacing(12);
    no_gpu_column->addStretch(1);
    no_gpu_column->addWidget(no_gpu_why_);
    no_gpu_column->addWidget(no_gpu_text);
    no_gpu_column->addWidget(add_gpu, 0, Qt::AlignHCenter);
    no_gpu_column->addStretch(1);
}

QWidget* LayoutView::buildFooter() {
    auto* footer = new QWidget;
    footer->setObjectName(QStringLiteral("layoutFooter"));
    setArea(footer, Area::Surface);
    footer->setMinimumWidth(kBarsWidth); // narrower than its contents: fitBars() makes two rows
    footer_row_ = new QBoxLayout(QBoxLayout::LeftToRight, footer);
    footer_row_->setContentsMargins(kBarMargin, 10, kBarMargin, 10);
    footer_row_->setSpacing(8);
    summary_ = new QLabel;
    summary_->setObjectName(QStringLiteral("layoutSummary"));
    summary_->setTextFormat(Qt::RichText);
    summary_->setWordWrap(true);
    QSizePolicy summary_policy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    summary_policy.setHeightForWidth(true);
    summary_->setSizePolicy(summary_policy);
    summary_->setMinimumWidth(168);
    revert_ = new QPushButton(tr("Revert"));
    revert_->setObjectName(QStringLiteral("layoutRevert"));
    revert_->setToolTip(tr("Back to what is loaded"));
    apply_ = new QPushButton;
    apply_->setObjectName(QStringLiteral("layoutApply"));
    setButtonKind(apply_, ButtonKind::Primary);
    revert_->setMinimumWidth(72);
    apply_->setMinimumWidth(96);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addStretch(1);
    buttons->addWidget(revert_);
    buttons->addWidget(apply_);
    footer_row_->addWidget(summary_, 1);
    footer_row_->addLayout(buttons);
    connect(revert_, &QPushButton::clicked, this, &LayoutView::revert);
    connect(apply_, &QPushButton::clicked, this, &LayoutView::apply);
    return footer;
}

void LayoutView::fitBars() {
    const int inner = width() - 2 * kBarMargin;
    int others = 0;
    for (const QToolButton* button : {undo_, redo_, presets_, more_}) {
        others += button->sizeHint().width() + 8;
    }
    // The computer that is looked at takes what the other buttons leave; the arrow stays.
    const QFontMetrics metrics = what_if_button_->fontMetrics();
    const QString arrow = QStringLiteral(" ▾");
    QString words = what_if_text_;
    words.chop(words.endsWith(arrow) ? arrow.size() : 0);
    const int room = inner - others - kBarMargin - metrics.horizontalAdvance(arrow);
    what_if_button_->setText(metrics.elidedText(words, Qt::ElideRight, std::max(40, room)) + arrow);
    const int buttons = (revert_->isHidden() ? 0 : revert_->sizeHint().width() + 8) +
                        (apply_->isHidden() ? 0 : apply_->sizeHint().width() + 8);
    const int least = 24 * summary_->fontMetrics().averageCharWidth();
    footer_row_->setDirection(inner - buttons < least ? QBoxLayout::TopToBottom
                                                      : QBoxLayout::LeftToRight);
}

void LayoutView::connectBlock(BlockWidget* widget) {
    connect(widget, &BlockWidget::grabbed, this,
            [this, widget](const QPoint& global) { pickUp(widget, false, global); });
    connect(widget, &BlockWidget::dragged, this, &LayoutView::holdAt);
    connect(widget, &BlockWidget::dropped, this, [this](const QPoint& global) {
        holdAt(global);
        drop();
    });
    connect(widget, &BlockWidget::menuRequested, this,
            [this, widget](const QPoint& global) { showBlockMenu(widget, global); });
    connect(widget, &BlockWidget::opened, this, [this, widget] { pickUp(widget, true, QPoint()); });
    connect(widget, &BlockWidget::cutRequested, this,
            [this, widget](int layer) { cutBefore(widget->block(), layer); });
    connect(widget, &BlockWidget::keyPressed, this,
            [this, widget](QKeyEvent* event) { handleKey(widget, event); });
    connect(widget, &BlockWidget::notedOrLeft, this, &LayoutView::showSentence);
    connect(widget, &BlockWidget::focused, this, [this, widget] {
        if (LaneWidget* home = lane(widget->block().store); home != nullptr) {
            home->showBlock(widget);
            lane_scroll_->ensureWidgetVisible(home, 0, 0);
        }
    });
}

void LayoutView::showSentence() {
    const BlockWidget* told = nullptr;
    for (const auto& [id, widget] : blocks_) {
        if (widget != nullptr && (widget->isHovered() || (told == nullptr && widget->hasFocus()))) {
            told = widget;
        }
    }
    setTextRole(sentence_, told == nullptr ? TextRole::Muted : TextRole::Normal);
    sentence_->setText(told == nullptr ? tr("Point at a block to read what it is.")
                                       : told->block().sentence);
}

void LayoutView::fitSentence() {
    // Room for the longest is kept, so that nothing moves when another one is shown.
    const QRect line(0, 0, std::max(1, width() - 2 * kBarMargin), 1000);
    int tallest = 0;
    for (const auto& [id, widget] : blocks_) {
        tallest =
            std::max(tallest, sentence_->fontMetrics()
                                  .boundingRect(line, Qt::TextWordWrap, widget->block().sentence)
                                  .height());
    }
    // It never takes what the lanes need; the tool tip has all of it.
    const int line_height = sentence_->fontMetrics().lineSpacing();
    sentence_->setFixedHeight(std::min(tallest, height() / 6 / line_height * line_height));
    sentence_->setVisible(stagedPlan() != nullptr &&
                          height() >= kHeightForSentence * textZoom() / 100);
}

std::vector<LayoutBlock> LayoutView::stagedBlocks() const {
    BlocksInput input;
    const auto plan = stagedPlan(); // kept while its blocks are made
    input.plan = plan.get();
    input.applied =
        isWhatIf() || !staging_->isOfLoadedModel() ? nullptr : staging_->applied().get();
    // A published shape that is looked at is another model than the chosen one.
    const LayoutHistory& history = staging_->history();
    const bool is_chosen_model = history.isEmpty() || !staging_->root().has_value() ||
                                 history.current().request.model == staging_->root()->model;
    input.model = is_chosen_model ? model_.get() : nullptr;
    if (!history.isEmpty()) {
        input.cuts = history.current().cuts;
    }
    return makeBlocks(input);
}

void LayoutView::refreshLanes() {
    const auto plan = stagedPlan();
    std::map<QWidget*, std::pair<QWidget*, QRect>> former_places;
    for (const auto& [id, widget] : blocks_) {
        if (widget != nullptr) {
            former_places[widget] = {widget->parentWidget(), widget->geometry()};
        }
    }
    pages_->setCurrentIndex(plan == nullptr ? 0 : 1);
    BlockWidget* focused = nullptr;
    for (const auto& [id, widget] : blocks_) {
        focused = widget != nullptr && widget->hasFocus() ? widget.data() : focused;
    }
    const LayoutBlock former = focused != nullptr ? focused->block() : LayoutBlock();

    const std::vector<LayoutBlock> blocks = stagedBlocks();

    const std::vector<engine::DeviceId> devices =
        plan == nullptr ? std::vector<engine::DeviceId>() : laneDevices(*plan);
    std::vector<LaneWidget*> lanes;
    for (const engine::DeviceId device : devices) {
        LaneWidget* widget = lane(device);
        if (widget == nullptr) {
            widget = new LaneWidget(device);
            connect(widget, &LaneWidget::roomChanged, this, &LayoutView::rescale);
        }
        lanes.push_back(widget);
    }
    std::map<QString, QPointer<BlockWidget>> widgets;
    std::map<engine::DeviceId, std::vector<BlockWidget*>> by_lane;
    BlockWidget* next_focus = nullptr;
    for (const LayoutBlock& block : blocks) {
        QPointer<BlockWidget> widget = blocks_[block.id];
        if (widget == nullptr) {
            widget = new BlockWidget;
            connectBlock(widget);
        }
        widget->setBlock(block, plan);
        widget->setHeld(false);
        widgets[block.id] = widget;
        by_lane[block.store].push_back(widget);
        if (focused != nullptr &&
            (block.id == former.id || (next_focus == nullptr && !former.modules.empty() &&
                                       std::find(block.modules.begin(), block.modules.end(),
                                                 former.modules.front()) != block.modules.end()))) {
            next_focus = widget;
        }
    }
    for (LaneWidget* widget : lanes) {
        widget->setPlan(plan);
        widget->setHeaderPlan(nullptr);
        widget->setPreview(std::nullopt);
        widget->setTarget(false);
        widget->setBlocks(by_lane[widget->device()]);
    }
    for (const auto& [id, widget] : blocks_) {
        if (widget != nullptr && !widgets.contains(id)) {
            // It may be the sender of the very event that changed the layout.
            widget->hide();
            widget->deleteLater();
        }
    }
    for (LaneWidget* widget : lanes_) {
        if (std::find(lanes.begin(), lanes.end(), widget) == lanes.end()) {
            lane_layout_->removeWidget(widget);
            widget->hide();
            widget->deleteLater();
        }
    }
    lanes_ = lanes;
    blocks_ = std::move(widgets);
    for (size_t i = 0; i < lanes_.size(); ++i) {
        lane_layout_->removeWidget(lanes_[i]);
        const int stretch = lanes_[i]->device().isGpu()                      ? 10
                            : lanes_[i]->device() == engine::DeviceId::cpu() ? 9
                                                                             : 7;
        lane_layout_->insertWidget(static_cast<int>(i), lanes_[i], stretch);
        lanes_[i]->show();
    }
    const bool has_gpu =
        std::any_of(devices.begin(), devices.end(), [](engine::DeviceId id) { return id.isGpu(); });
    lacks_gpu_ = plan != nullptr && !has_gpu && !isWhatIf();
    fitNoGpu();
    if (plan != nullptr) {
        const QString why = noCardReason(*plan);
        no_gpu_why_->setText(why.isEmpty() ? tr("No graphics card takes part.") : why);
    }
    lane_layout_->removeWidget(no_gpu_);
    lane_layout_->insertWidget(0, no_gpu_);
    QWidget* last = more_;
    for (LaneWidget* widget : lanes_) {
        for (BlockWidget* block : widget->blocks()) {
            QWidget::setTabOrder(last, block);
            last = block;
        }
    }
    QWidget::setTabOrder(last, revert_);
    QWidget::setTabOrder(revert_, apply_);
    rescale();
    fitSentence();
    showSentence();
    if (next_focus != nullptr) {
        focusBlock(next_focus);
    }
    for (const auto& [widget, place] : former_places) {
        if (widget->parentWidget() == place.first) { // one that comes from another lane lands
            slideFrom(widget, place.second);
        }
    }
}

void LayoutView::fitNoGpu() {
    // What to do without a card gives way to the lanes; the menu of other computers stays.
    no_gpu_->setVisible(lacks_gpu_ && width() >= kWidthForAdvice * textZoom() / 100);
}

void LayoutView::focusBlock(BlockWidget* widget) {
    widget->setFocus(Qt::OtherFocusReason);
}

void LayoutView::rescale() {
    if (lanes_.empty()) {
        return;
    }
    // The largest scale at which every lane fits; one scale for all, so that lengths compare.
    quint64 most = 1;
    for (const LaneWidget* lane : lanes_) {
        quint64 bytes = 0;
        for (const BlockWidget* block : lane->blocks()) {
            bytes += block->block().bytes;
        }
        most = std::max(most, bytes);
    }
    const int room = std::max(200, lanes_.front()->room() - 8);
    double low = 0.45 * room / static_cast<double>(most); // below this lanes scroll instead
    double high = 1.0 * room / static_cast<double>(most);
    const auto fits = [this, room](double scale) {
        return std::all_of(lanes_.begin(), lanes_.end(),
                           [&](const LaneWidget* lane) { return lane->heightAt(scale) <= room; });
    };
    if (fits(high)) {
        low = high;
    }
    for (int i = 0; i < 20 && low < high; ++i) {
        const double middle = (low + high) / 2;
        (fits(middle) ? low : high) = middle;
    }
    for (LaneWidget* lane : lanes_) {
        lane->setScale(low);
    }
}

void LayoutView::refreshBars() {
    const bool has_plan = stagedPlan() != nullptr;
    const LayoutHistory& history = staging_->history();
    undo_->setEnabled(history.canUndo());
    undo_keys_->setEnabled(history.canUndo()); // else the window may use them
    redo_->setEnabled(history.canRedo());
    setKeyToolTip(
        undo_, history.canUndo() ? tr("Undo: %1").arg(history.undoLabel()) : tr("Nothing to undo"),
        QStringLiteral("undoLayout"));
    setKeyToolTip(
        redo_, history.canRedo() ? tr("Redo: %1").arg(history.redoLabel()) : tr("Nothing to redo"),
        QStringLiteral("redoLayout"));
    presets_->setEnabled(has_plan);
    what_if_button_->setEnabled(has_plan || staging_->root().has_value());
    constexpr int kWidestName = 220;
    const QString name = isWhatIf() ? staging_->whatIf()->name : QString();
    what_if_text_ =
        isWhatIf()
            ? tr("What if: %1 ▾")
                  .arg(what_if_button_->fontMetrics().elidedText(name, Qt::ElideRight, kWidestName))
            : tr("What if: this computer ▾");
    more_->setEnabled(has_plan);
    const bool has_changes = hasChanges();
    revert_->setVisible(has_plan);
    revert_->setText(isWhatIf() ? tr("Back to this computer") : tr("Revert"));
    revert_->setEnabled(isWhatIf() ||
                        (has_changes && (staging_->applied() != nullptr || history.canUndo())));
    refreshApply();
    const bool is_header_only = model_ != nullptr && model_->is_header_only;

    QString text;
    if (has_plan) {
        const Theme& theme = Theme::current();
        const engine::PlacementPlan& plan = *stagedPlan();
        const auto item = [&text](const QString& part) {
            text += (text.isEmpty() ? QString() : QStringLiteral("&nbsp;&nbsp; ")) + part;
        };
        item(QStringLiteral("<b style=\"color:%1\">%2</b>")
                 .arg((plan.fits ? theme.success : theme.danger).name(),
                      plan.fits ? tr("✓ Fits") : tr("✗ Does not fit")));
        // A number and its unit stay in one line, and so do the groups of its digits: rich text
        // takes the narrow space between them, as French writes it, for a place to break.
        const auto solid = [](const QString& words) {
            QString out;
            for (const QChar c : words) {
                out += c.isSpace() ? QStringLiteral("&nbsp;") : QString(c);
            }
            return out;
        };
        int shown = 0;
        for (const engine::DeviceId id : laneDevices(plan)) {
            const engine::DevicePlan* device = devicePlan(plan, id);
            if (device != nullptr && (id.isGpu() || shown == 0) && shown < 2 &&
                id != engine::DeviceId::disk()) {
                ++shown;
                item(tr("%1 <b>%2</b> of %3")
                         .arg(laneName(id).toHtmlEscaped(),
                              solid(formatBytes(device->parts.total())),
                              solid(formatBytes(device->limit))));
            }
        }
        const engine::SpeedEstimate& speed = plan.estimate;
        if (speed.decode_tokens_per_s > 0) {
            const QString rate = tr("about&nbsp;<b>%1</b>&nbsp;tokens/s")
                                     .arg(solid(formatRate(speed.decode_tokens_per_s)));
            const QString bound = boundWords(speed.decode_bound);
            item(bound.isEmpty() ? rate : tr("%1, bounded by %2").arg(rate, solid(bound)));
        }
        if (speed.image_s > 0) {
            item(tr("image&nbsp;<b>%1</b>").arg(solid(shortSeconds(speed.image_s))));
        }
        if (speed.audio_s_per_s > 0) {
            item(tr("10&nbsp;s&nbsp;of&nbsp;sound&nbsp;<b>%1</b>")
                     .arg(solid(shortSeconds(10 * speed.audio_s_per_s))));
        }
        if (isWhatIf() && !staging_->whatIf()->tellsSpeed()) {
            item(tr("no speed is told for this card"));
        }
        if (is_header_only && !isWhatIf()) {
            item(tr("plan only: the weights are not in the folder"));
        }
        if (staging_->busy() != Busy::No && has_changes) {
            item(QStringLiteral("<span style=\"color:%1\">%2</span>")
                     .arg(theme.text_muted.name(), staging_->busy() == Busy::Reply
                                                       ? tr("a reply runs: changes follow it")
                                                       : tr("loading: changes wait for its end")));
        }
    }
    summary_->setText(text);
    fitBars();
}

QString LayoutView::applyText() const {
    if (staging_->isApplying()) {
        return tr("Applying…");
    }
    const bool has_changes = hasChanges();
    if (staging_->busy() == Busy::Reply && has_changes) {
        return staging_->isApplyQueued() ? tr("Applies after this reply")
                                         : tr("Apply after this reply");
    }
    if (staging_->canLoadAnyway()) {
        return tr("Load anyway");
    }
    if (staging_->applied() == nullptr || !staging_->isOfLoadedModel()) {
        return tr("Load with this layout");
    }
    if (has_changes && staging_->isReloadNeeded()) {
        return tr("Load again with this");
    }
    const int count = has_changes ? countChanges(*stagedPlan(), *staging_->applied()) : 0;
    return count == 0   ? tr("Apply")
           : count == 1 ? tr("Apply 1 change")
                        : tr("Apply %1 changes").arg(QLocale().toString(count));
}

QString LayoutView::applyTip() const {
    const bool is_header_only = model_ != nullptr && model_->is_header_only;
    if (staging_->isApplying()) {
        return tr("It is being applied");
    }
    if (staging_->isWaiting()) {
        return tr("The plan is being made");
    }
    if (is_header_only) {
        return tr("The weights are not in the folder: this can be planned, not loaded");
    }
    if (!hasChanges()) {
        return tr("Nothing to apply: what is loaded sits like this");
    }
    if (staging_->canLoadAnyway() && staging_->busy() == Busy::No) {
        return toolTipText(loadAnywayWords());
    }
    if (!stagedPlan()->fits) {
        return tr("It does not fit: see the message above");
    }
    if (staging_->busy() == Busy::Loading) {
        return tr("Something is being loaded or moved; apply when it is done");
    }
    if (staging_->busy() == Busy::Reply) {
        return staging_->isApplyQueued()
                   ? tr("Waits for the reply; press to take it back")
                   : tr("A reply is being written with the present layout; this "
                        "follows as soon as it is finished");
    }
    return tr("Make it true");
}

void LayoutView::refreshApply() {
    const bool has_plan = stagedPlan() != nullptr;
    const bool has_changes = hasChanges();
    const bool is_header_only = model_ != nullptr && model_->is_header_only;
    apply_->setVisible(has_plan && !isWhatIf());
    const bool is_possible = has_changes && (stagedPlan()->fits ? staging_->busy() != Busy::Loading
                                                                : staging_->canLoadAnyway() &&
                                                                      staging_->busy() == Busy::No);
    apply_->setEnabled(is_possible && !staging_->isWaiting() && !is_header_only &&
                       !staging_->isApplying());
    apply_->setText(applyText());
    apply_->setAccessibleName(apply_->text());
    const QString tip = has_plan ? applyTip() : QString();
    apply_->setAccessibleDescription(tip);
    apply_->isEnabled() ? setKeyToolTip(apply_, tip, QStringLiteral("applyLayout"))
                        : apply_->setToolTip(tip);
}

void LayoutView::runNoticeAction() {
    const NoticeAction action = notice_action_;
    if (staging_->history().isEmpty() || action == NoticeAction::None) {
        return;
    }
    if (action == NoticeAction::Replan) {
        applyPreset(QStringLiteral("fit"));
        return;
    }
    engine::LoadRequest wanted = staging_->history().current().request;
    if (action == NoticeAction::FourBits) {
        wanted.quant = stagedPlan()->experts > 0 ? "nf4+experts" : "nf4";
        wanted.device_map = "fit"; // what it would bring was worked out with a fitting layout
        wanted.moves.clear();
        staging_->stageRequest(std::move(wanted), tr("Weights in 4 bits"));
    } else if (repair_.has_value()) {
        // What an option brings was worked out with the preset, what a move does with its document.
        const std::string& asked = staging_->history().current().asked_map;
        if (repair_->moves.empty() && !asked.empty()) {
            wanted.device_map = asked;
        }
        staging_->stageRequest(repaired(std::move(wanted), *repair_), tr("Make it fit"));
    }
}

void LayoutView::showIssues() {
    const auto plan = stagedPlan();
    if (is_notice_kept_) {
        return;
    }
    told_.clear();
    if (plan == nullptr) {
        notice_->clear();
        return;
    }
    // Why there is no card stands beside the lanes.
    const QStringList notes = notesWorthTelling(*plan, no_gpu_->isHidden());
    const QString four_bits = isWhatIf() ? QString() : fourBitsWords(*plan);
    notice_action_ = four_bits.isEmpty() ? NoticeAction::None : NoticeAction::FourBits;
    const auto tell = [&](NoticeBar::Kind kind, QString text, const QStringList& details) {
        const bool is_all = details.size() == 1 && details.front() == text;
        if (!text.contains(four_bits)) {
            text += QLatin1Char(' ') + four_bits; // beside the button that does it
        }
        told_ = text;
        if (text.isEmpty() || text == dismissed_) {
            notice_->clear(); // nothing to say, or said already
        } else {
            notice_->showNotice(kind, text, is_all ? QStringList() : details,
                                four_bits.isEmpty() ? QString() : tr("Use 4 bits"));
        }
    };
    if (plan->errors.empty() && plan->warnings.empty()) {
        const QString title = notesTitle(*plan, notes);
        tell(NoticeBar::Kind::Info, title, notes);
        return;
    }
    QStringList details;
    const auto add = [&details](const engine::PlanIssue& issue) {
        details << issueWords(issue);
        for (const engine::Suggestion& suggestion : issue.suggestions) {
            details << kNoticeStep + sentenceWords(suggestion.words);
        }
    };
    for (const engine::PlanIssue& issue : plan->errors) {
        add(issue);
    }
    for (const engine::PlanIssue& issue : plan->warnings) {
        add(issue);
    }
    details << notes;
    if (plan->errors.empty()) {
        tell(NoticeBar::Kind::Warning, issueWords(plan->warnings.front()), details);
        return;
    }
    showShortage(*plan, details);
}

void LayoutView::showShortage(const engine::PlacementPlan& plan, const QStringList& details) {
    QStringList over;
    for (const engine::DevicePlan& device : plan.devices) {
        if (device.limit > 0 && device.id != engine::DeviceId::disk() &&
            device.parts.total() > device.limit) {
            over << tr("%1 would need %2 and has %3: %4 too much.")
                        .arg(laneName(device.id), formatBytes(device.parts.total()),
                             formatBytes(device.limit),
                             formatBytes(device.parts.total() - device.limit));
        }
    }
    QString text = over.isEmpty() ? issueWords(plan.errors.front()) : over.join(QLatin1Char(' '));
    repair_.reset();
    if (!plan.errors.front().suggestions.empty()) {
        const engine::Suggestion& first = plan.errors.front().suggestions.front();
        text += QStringLiteral(" ") + tr("Try: %1.").arg(sentenceWords(first.words));
        repair_ = first.repair;
    }
    if (!repair_.has_value()) {
        notice_action_ = NoticeAction::Replan;
        notice_->showNotice(NoticeBar::Kind::Error, text, details, tr("Replan everything"));
        return;
    }
    // The first button does what the sentence says; where that is not enough it says so.
    notice_action_ = NoticeAction::Repair;
    notice_->showNotice(NoticeBar::Kind::Error, text, details,
                        repair_->is_enough && plan.errors.size() == 1 ? tr("Make it fit")
                                                                      : tr("Do this first"),
                        tr("Replan everything"));
}

} // namespace ui
