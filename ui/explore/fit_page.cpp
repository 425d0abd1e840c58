// SPDX-License-Identifier: Apache-2.0
#include "ui/explore/fit_page.h"

#include "ui/common/error_words.h"
#include "ui/explore/fit_chart.h"
#include "ui/layout/card_box.h"
#include "ui/layout/memory_kinds.h"
#include "ui/library/family_model.h"
#include "ui/meter/memory_meter.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QClipboard>
#include <QDate>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

namespace {

constexpr int kSideWidth = 336; ///< At the usual text size.
constexpr int kSwatch = 14;
const QString kShape = QStringLiteral("shape:");

QIcon swatch(const QColor& color) {
    QPixmap pixmap(kSwatch, kSwatch);
    pixmap.fill(color);
    return pixmap;
}

/// Whether the same bytes are planned for both, where precision, context and card are.
bool isSameModel(const engine::LoadRequest& a, const engine::LoadRequest& b) {
    const auto is_same = [](const engine::AdapterChoice& one, const engine::AdapterChoice& other) {
        return one.folder == other.folder;
    };
    return a.model == b.model && a.projector == b.projector && a.head == b.head &&
           a.is_text_only == b.is_text_only && a.image_tokens == b.image_tokens &&
           a.prefill_chunk == b.prefill_chunk && a.draft == b.draft &&
           std::equal(a.adapters.begin(), a.adapters.end(), b.adapters.begin(), b.adapters.end(),
                      is_same);
}

struct PartWords {
    QColor color;
    QString name;
};

PartWords wordsOf(engine::MemoryPart part) {
    const auto of = [](MemoryKind kind) { return PartWords{memoryColor(kind), memoryLabel(kind)}; };
    switch (part) {
    case engine::MemoryPart::Weights:
        return {memoryColor(MemoryKind::Layers), FitPage::tr("weights")};
    case engine::MemoryPart::Kv:
        return of(MemoryKind::Kv);
    case engine::MemoryPart::Adapter:
        return of(MemoryKind::Adapter);
    case engine::MemoryPart::Workspace:
        return of(MemoryKind::Workspace);
    case engine::MemoryPart::Context:
        return of(MemoryKind::Driver);
    case engine::MemoryPart::Experts:
        return {memoryColor(MemoryKind::Experts), FitPage::tr("copies of experts")};
    }
    return {};
}

/// "■ weights", "3.1 GiB".
QString partRow(engine::MemoryPart part, quint64 bytes) {
    const PartWords words = wordsOf(part);
    return QStringLiteral("<tr><td><span style=\"color:%1\">■</span>&nbsp;%2</td>"
                          "<td align=\"right\" style=\"padding-left: 16px\">%3</td></tr>")
        .arg(words.color.name(), words.name.toHtmlEscaped(), formatBytes(bytes).toHtmlEscaped());
}

} // namespace

FitPage::FitPage(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("fitPage"));
    auto* column = columnIn(this, {0, 0, 0, 0}, Theme::kGap);
    column->addWidget(buildBar());
    status_ = wrappedLabel("fitStatus", this);
    column->addWidget(status_);
    auto* sides = new QHBoxLayout;
    sides->setSpacing(Theme::kPadding);
    chart_ = new FitChart(this);
    sides->addWidget(chart_, 1);
    sides->addWidget(buildSide());
    column->addLayout(sides, 1);
    connect(chart_, &FitChart::currentChanged, this, &FitPage::refreshDetail);
    connect(chart_, &FitChart::chosen, this, &FitPage::choose);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, &FitPage::buildPrecisions);
    setModels({}, {});
}

QWidget* FitPage::buildBar() {
    auto* bar = new QWidget(this);
    auto* row = rowIn(bar, {0, 0, 0, 0}, Theme::kGap);
    model_box_ = named("fitModel", new QComboBox(bar));
    model_box_->setAccessibleName(tr("Model"));
    model_box_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    model_box_->setMinimumContentsLength(16);
    card_box_ = new CardBox("fitCard", bar);
    card_box_->setAccessibleName(tr("Graphics card"));
    card_box_->addFirst(tr("This computer"));
    copy_picture_ = pushButton("fitCopyPicture", tr("Copy as &picture"), bar, "image");
    copy_table_ = pushButton("fitCopyTable", tr("Copy as &CSV"), bar, "copy");
    row->addWidget(model_box_, 1);
    row->addWidget(card_box_, 1);
    row->addWidget(copy_picture_);
    row->addWidget(copy_table_);
    connect(model_box_, &QComboBox::activated, this, &FitPage::restart);
    connect(card_box_, &CardBox::computerChosen, this, &FitPage::restart);
    connect(copy_picture_, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setImage(chart_->picture(title()));
        Q_EMIT told(tr("The picture is in the clipboard"));
    });
    connect(copy_table_, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(
            grid_.csv(model() == nullptr ? QString() : model()->name, cardName()));
        Q_EMIT told(tr("%n points are in the clipboard", nullptr, grid_.countPoints()));
    });
    return bar;
}

QWidget* FitPage::buildSide() {
    auto* side = new QScrollArea(this);
    side->setFrameShape(QFrame::NoFrame);
    side->setWidgetResizable(true);
    side->setFocusPolicy(Qt::NoFocus);
    side->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const auto widen = [side] {
        side->setFixedWidth(kSideWidth * std::min(textZoom(), 150) / 100);
    };
    widen();
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, side, widen);
    auto* body = new QWidget;
    setArea(body, Area::Surface);
    auto* column = columnIn(body, {16, 16, 16, 16}, Theme::kGap);
    column->addWidget(buildDetail());
    auto* heading = new QLabel(tr("Precisions"), body);
    setTextSize(heading, 105, true);
    column->addWidget(heading);
    auto* about = wrappedLabel("fitPrecisionsAbout", body);
    about->setText(tr("With the longest context that has room on the card, and what was measured "
                      "beside 16 bits"));
    setTextRole(about, TextRole::Muted);
    setTextSize(about, 92);
    column->addWidget(about);
    rows_ = columnIn(nullptr, {0, 0, 0, 0}, 4);
    column->addLayout(rows_);
    column->addStretch();
    side->setWidget(body);
    return side;
}

QWidget* FitPage::buildDetail() {
    auto* card = new QWidget(this);
    auto* column = columnIn(card, {0, 0, 0, Theme::kPadding}, 6);
    detail_ = wrappedLabel("fitDetail", card);
    setTextSize(detail_, 105, true);
    parts_ = wrappedLabel("fitParts", card);
    parts_->setTextFormat(Qt::RichText);
    speed_ = wrappedLabel("fitSpeed", card);
    quality_ = wrappedLabel("fitQuality", card);
    setTextRole(quality_, TextRole::Muted);
    choose_ = pushButton("fitChoose", tr("&Make this plan"), card, nullptr, ButtonKind::Primary);
    for (QLabel* label : {detail_, parts_, speed_, quality_}) {
        column->addWidget(label);
    }
    column->addWidget(choose_);
    connect(choose_, &QPushButton::clicked, this, [this] {
        if (chart_->current().has_value()) {
            choose(*chart_->current());
        }
    });
    return card;
}

const FitPage::Model* FitPage::model() const {
    const int index = model_box_->currentIndex();
    return index < 0 ? nullptr : &models_[static_cast<size_t>(index)];
}

QString FitPage::cardName() const {
    const QString name = card_box_->computer().name;
    return name.isEmpty() ? tr("This computer") : name;
}

QString FitPage::title() const {
    return model() == nullptr ? QString() : tr("%1 on %2").arg(model()->name, cardName());
}

void FitPage::setModels(const engine::LoadRequest& chosen, const QStringList& recent) {
    const engine::LoadRequest before =
        model() == nullptr ? engine::LoadRequest() : model()->request;
    std::erase_if(models_, [](const Model& model) { return model.files == nullptr; });
    std::vector<Model> made;
    const auto add = [&](const QString& name, const engine::LoadRequest& request) {
        const auto is_same = [&](const Model& one) { return one.request.model == request.model; };
        if (!request.model.empty() && std::none_of(made.begin(), made.end(), is_same)) {
            made.push_back({name, request, nullptr, {}});
        }
    };
    add(Session::nameOf(fromUtf8(chosen.model)), chosen);
    for (const QString& folder : recent) {
        engine::LoadRequest request;
        request.model = folder.toStdString();
        add(Session::nameOf(folder), request);
    }
    for (const FamilyMember& member : family()) {
        engine::LoadRequest request;
        request.model = (kShape + QString::fromLatin1(member.variant)).toStdString();
        add(QStringLiteral("Gemma 4 ") + QString::fromLatin1(member.variant), request);
    }
    models_.insert(models_.begin(), made.begin(), made.end());
    fillModels();
    const auto kept = std::find_if(models_.begin(), models_.end(), [&](const Model& one) {
        return one.request.model == before.model;
    });
    const bool is_chosen_new = !chosen.model.empty() && fromUtf8(before.model).startsWith(kShape);
    model_box_->setCurrentIndex(
        kept == models_.end() || is_chosen_new ? 0 : static_cast<int>(kept - models_.begin()));
    card_box_->setOwn(ownComputers());
    // What is free here changes all the time; the memory of a card that is looked at does not.
    const bool is_same = !card_box_->computer().name.isEmpty() && model() != nullptr &&
                         isSameModel(model()->request, before);
    if (!is_same) {
        restart();
    }
}

void FitPage::fillModels() {
    model_box_->clear();
    for (const Model& model : models_) {
        model_box_->addItem(model.name);
    }
}

void FitPage::selectModel(const QString& wanted) {
    for (size_t i = 0; i < models_.size(); ++i) {
        if (fromUtf8(models_[i].request.model) == wanted) {
            model_box_->setCurrentIndex(static_cast<int>(i));
            restart();
            return;
        }
    }
}

void FitPage::selectOffer(const HubOffer& offer) {
    std::erase_if(models_, [](const Model& model) { return model.files != nullptr; });
    Model& made = models_.emplace_back();
    made.name = tr("%1 (not fetched)").arg(offer.id);
    made.request.model = offer.headers.toStdString();
    made.request.projector = offer.headers_projector.toStdString();
    made.files = offer.headers_folder;
    made.folder = offer.folder;
    fillModels();
    model_box_->setCurrentIndex(model_box_->count() - 1);
    restart();
}

void FitPage::restart() {
    asked_ = 0;
    grid_ = {};
    summary_.reset();
    problem_.clear();
    buildPrecisions();
    if (isVisible() && model() != nullptr) {
        asked_ = ++ticket_;
        Q_EMIT modelRequested(asked_, fromUtf8(model()->request.model));
    }
    refresh();
}

void FitPage::showModel(quint64 ticket,
                        const std::shared_ptr<const engine::ModelSummary>& summary) {
    if (ticket != asked_) {
        return;
    }
    asked_ = 0;
    summary_ = summary;
    grid_ = FitGrid(quantOptions(summary->has_experts), std::max<qint64>(summary->max_context, 1));
    Q_EMIT comparisonsRequested(fromUtf8(model()->request.model));
    buildPrecisions();
    ask();
    refresh();
}

void FitPage::showFailure(quint64 ticket, const engine::Error& error) {
    if (ticket != asked_) {
        return;
    }
    asked_ = 0;
    if (summary_ == nullptr) {
        problem_ = errorSentence(error);
    } else {
        grid_.setProblem(asked_place_.line, errorSentence(error));
        ask();
    }
    refresh();
}

void FitPage::showPoint(quint64 ticket, const FitPoint& point) {
    if (ticket != asked_) {
        return;
    }
    asked_ = 0;
    FitPoint shown = point;
    if (!card_box_->computer().tellsSpeed()) {
        shown.tokens_per_s = 0;
    }
    grid_.setPoint(asked_place_, shown);
    ask();
    refresh();
}

void FitPage::showComparisons(const QString& of, const std::vector<engine::Comparison>& found) {
    if (model() != nullptr && of == fromUtf8(model()->request.model)) {
        grid_.setComparisons(found);
        refresh();
    }
}

void FitPage::ask() {
    const auto next = grid_.next();
    if (asked_ != 0 || !next.has_value() || !isVisible()) {
        return;
    }
    asked_ = ++ticket_;
    asked_place_ = *next;
    Q_EMIT pointRequested(asked_, requestFor(*next));
}

engine::LoadRequest FitPage::requestFor(FitGrid::Place place) const {
    const FitLine& line = grid_.lines()[place.line];
    engine::LoadRequest request = model()->request;
    request.quant = line.quant.toStdString();
    request.kv = line.kv.toStdString();
    request.context = grid_.contexts()[place.context];
    request.moves.clear();
    request.device_map.clear(); // the card, or the processor of a computer without one
    if (const WhatIfComputer computer = card_box_->computer(); !computer.name.isEmpty()) {
        request.what_if = devicesOf(computer);
        request.sim_gpus.clear();
        request.limits.clear();
    }
    return request;
}

void FitPage::choose(FitGrid::Place place) {
    const FitPoint* point = grid_.point(place);
    if (point == nullptr) {
        return;
    }
    FitChoice choice{requestFor(place), card_box_->computer()};
    choice.request.what_if.clear();
    choice.request.sim_gpus = model()->request.sim_gpus;
    choice.request.limits = model()->request.limits;
    choice.request.kv = grid_.lines()[place.line].kv == QLatin1String("q8") ? "q8" : "auto";
    const bool is_here = choice.computer.name.isEmpty();
    choice.request.device_map = point->state != FitPoint::State::Fits || !is_here ? "fit"
                                : point->has_gpu                                  ? "gpu"
                                                                                  : "cpu";
    if (model()->files != nullptr) {
        Q_EMIT offerChosen(choice, model()->folder);
    } else {
        Q_EMIT planChosen(choice);
    }
}

void FitPage::buildPrecisions() {
    precisions_.clear();
    while (QLayoutItem* item = rows_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const FitLine& line : grid_.lines()) {
        if (!precisions_.empty() && precisions_.back().quant == line.quant) {
            continue;
        }
        const QString quant = line.quant;
        auto* box = named("fitPrecision", new QCheckBox(quantName(quant), this));
        box->setIcon(swatch(FitGrid::color(quant)));
        box->setChecked(line.is_shown);
        auto* about = wrappedLabel("fitPrecisionAbout", this);
        setTextRole(about, TextRole::Muted);
        setTextSize(about, 92);
        about->setIndent(26);
        rows_->addWidget(box);
        rows_->addWidget(about);
        precisions_.push_back({quant, about});
        connect(box, &QCheckBox::toggled, this, [this, quant](bool is_on) {
            grid_.setShown(quant, is_on);
            ask();
            refresh();
        });
    }
    refreshPrecisions();
}

void FitPage::refreshPrecisions() {
    for (const Precision& row : precisions_) {
        QStringList words;
        for (const FitLine& line : grid_.lines()) {
            if (line.quant != row.quant) {
                continue;
            }
            if (!line.problem.isEmpty()) {
                words = QStringList(line.problem);
                break;
            }
            const auto longest = grid_.longestContext(line);
            const QString length = !longest.has_value() ? QStringLiteral("…")
                                   : *longest == 0      ? tr("none")
                                                        : tokensInShort(*longest);
            words.append(line.kv == QLatin1String("q8") ? tr("KV 8 bits: %1").arg(length)
                                                        : tr("KV 16 bits: %1").arg(length));
        }
        if (const QString twin = grid_.twinOf(row.quant); !twin.isEmpty()) {
            words = QStringList(tr("the same memory as %1").arg(quantName(twin)));
        }
        QString text = words.join(QStringLiteral(" · "));
        if (const engine::Comparison* measured = grid_.quality(row.quant)) {
            text += QLatin1Char('\n') +
                    tr("%1 % same token").arg(QLocale().toString(100 * measured->same_top, 'f', 1));
        }
        row.about->setText(text);
    }
}

void FitPage::refresh() {
    QString words = problem_;
    if (words.isEmpty() && model() == nullptr) {
        words = tr("Choose a model.");
    } else if (words.isEmpty() && summary_ == nullptr) {
        words = tr("Reading the headers of %1 …").arg(model()->name);
    } else if (words.isEmpty() && isPlanning()) {
        words = tr("Planning from the headers of the files: %n points so far.", nullptr,
                   grid_.countPoints());
    } else if (words.isEmpty()) {
        words = tr("Full points have room on the card, rings need main memory as well, crosses do "
                   "not fit. Broken lines: KV cache in 8 bits. A click makes that plan.");
        if (!card_box_->computer().tellsSpeed()) {
            words +=
                QLatin1Char(' ') + tr("Belfry does not compute on such a card: no speed is told.");
        }
    }
    setTextRole(status_, problem_.isEmpty() ? TextRole::Muted : TextRole::Danger);
    status_->setText(words);
    const bool has_points = grid_.countPoints() > 0;
    copy_picture_->setEnabled(has_points);
    copy_table_->setEnabled(has_points);
    chart_->show(grid_, cardName());
    refreshPrecisions();
    refreshDetail();
}

void FitPage::refreshDetail() {
    const auto place = chart_->current();
    const FitPoint* point = place.has_value() ? grid_.point(*place) : nullptr;
    for (QWidget* of_point : std::initializer_list<QWidget*>{parts_, speed_, choose_}) {
        of_point->setVisible(point != nullptr);
    }
    setTextSize(detail_, point == nullptr ? 100 : 105, point != nullptr);
    setTextRole(detail_, point == nullptr ? TextRole::Muted : TextRole::Normal);
    if (point == nullptr) {
        detail_->setText(tr("Point at the drawing, or go through it with the arrow keys."));
        setTextOrHide(quality_, {});
        return;
    }
    const FitLine& line = grid_.lines()[place->line];
    detail_->setText(tr("%1 · %2 tokens").arg(grid_.lineName(line), formatCount(point->context)));
    QString rows;
    for (const engine::MemoryPart part : engine::kMemoryParts) {
        if (point->parts[part] > 0) {
            rows += partRow(part, point->parts[part]);
        }
    }
    rows += QStringLiteral("<tr><td><b>%1</b></td><td align=\"right\"><b>%2</b></td></tr>")
                .arg(tr("together, of %1").arg(formatBytes(point->limit)).toHtmlEscaped(),
                     formatBytes(point->parts.total()).toHtmlEscaped());
    parts_->setText(
        QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"1\">%1</table>")
            .arg(rows));
    const bool tells = point->tokens_per_s > 0;
    const QString rate = formatRate(point->tokens_per_s);
    QString words;
    switch (point->state) {
    case FitPoint::State::Fits:
        words = tells ? tr("Fits: about %1 tokens/s (estimated)").arg(rate) : tr("Fits.");
        break;
    case FitPoint::State::Partly:
        words = tells ? tr("Fits with %1 elsewhere: about %2 tokens/s (estimated)")
                            .arg(formatBytes(point->elsewhere), rate)
                      : tr("Fits with %1 elsewhere.").arg(formatBytes(point->elsewhere));
        break;
    case FitPoint::State::DoesNotFit:
        words = tr("Does not fit, also with parts in main memory.");
        break;
    }
    speed_->setText(words);
    setTextRole(speed_, point->state == FitPoint::State::DoesNotFit ? TextRole::Danger
                        : point->state == FitPoint::State::Fits     ? TextRole::Success
                                                                    : TextRole::Normal);
    const engine::Comparison* measured = grid_.quality(line.quant);
    QString quality;
    if (measured != nullptr) {
        quality =
            tr("Measured beside 16 bits: %1 % same token, KL %2 (%3)")
                .arg(QLocale().toString(100 * measured->same_top, 'f', 1),
                     QLocale().toString(measured->divergence, 'g', 2),
                     QLocale().toString(QDate::fromString(fromUtf8(measured->date), Qt::ISODate),
                                        QLocale::ShortFormat));
        if (line.kv == QLatin1String("q8")) {
            quality += QLatin1Char('\n') + tr("That was with the KV cache in 16 bits.");
        }
    }
    setTextOrHide(quality_, quality);
}

void FitPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    summary_ == nullptr ? restart() : ask();
    refresh();
}

void FitPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    asked_ = 0; // the answer is not waited for; what there is stays
}

} // namespace ui
