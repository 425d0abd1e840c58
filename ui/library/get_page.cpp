// SPDX-License-Identifier: Apache-2.0
#include "ui/library/get_page.h"

#include "engine/api/formats.h"
#include "ui/common/error_words.h"
#include "ui/layout/what_if.h"
#include "ui/library/downloads_panel.h"
#include "ui/library/family_model.h"
#include "ui/library/hub_words.h"
#include "ui/library/model_row.h"
#include "ui/library/offer_card.h"
#include "ui/library/token_dialog.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kCardWidth = 380;    ///< At the usual text size.
constexpr int kBesideWidth = 1040; ///< From here on the card stands beside the list.

/// Tickets of this page: the load form's plans, answered by the same planner, count from 1.
constexpr quint64 kFirstTicket = quint64{1} << 40U;

/// "owner/name", with or without a revision, or an address: nothing to search for.
bool isAddress(const QString& text) {
    return text.contains(QLatin1String("://")) ||
           (text.count(QLatin1Char('/')) >= 1 && !text.contains(QLatin1Char(' ')));
}

engine::LoadRequest shapeRequest(const QString& variant) {
    engine::LoadRequest request;
    request.model = "shape:" + variant.toStdString();
    request.device_map = "fit"; // moves parts, then takes 4 bits, then a smaller head
    return request;
}

} // namespace

ModelNeeds needsOf(const engine::PlacementPlan& plan) {
    ModelNeeds needs;
    needs.fits = plan.fits;
    for (const engine::DevicePlan& device : plan.devices) {
        needs.bytes += device.id == engine::DeviceId::disk() ? 0 : device.parts.total();
    }
    needs.is_packed = std::any_of(
        plan.modules.begin(), plan.modules.end(),
        [](const engine::ModulePlacement& module) { return engine::hasCodes(module.format); });
    needs.tokens_per_s = plan.estimate.decode_tokens_per_s;
    return needs;
}

GetPage::GetPage(QWidget* parent)
    : QWidget(parent), model_(new GetModel(this)), last_ticket_(kFirstTicket) {
    setObjectName(QStringLiteral("getPage"));
    auto* column = columnIn(this, {0, 0, 0, 0}, Theme::kGap);
    column->addWidget(buildBar());
    auto* below_bar = new QHBoxLayout;
    promise_ = wrappedLabel("getPromise", this);
    setTextRole(promise_, TextRole::Muted);
    token_ = pushButton("getToken", tr("&Token…"), this, nullptr, ButtonKind::Flat);
    token_->setToolTip(tr("For models whose licence has to be accepted, and private ones"));
    below_bar->addWidget(promise_, 1);
    below_bar->addWidget(token_);
    column->addLayout(below_bar);
    sides_ = new QBoxLayout(QBoxLayout::LeftToRight);
    sides_->setSpacing(Theme::kPadding);
    auto* left = new QVBoxLayout;
    list_ = named("getList", new QListView(this));
    list_->setAccessibleName(tr("Models to get"));
    list_->setModel(model_);
    list_->setItemDelegate(new ModelRowDelegate(list_));
    list_->setMouseTracking(true);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setTabKeyNavigation(false);
    left->addWidget(list_, 1);
    more_ = pushButton("getMore", tr("Show &more"), this);
    left->addWidget(more_, 0, Qt::AlignLeft);
    status_ = wrappedLabel("getStatus", this);
    left->addWidget(status_);
    sides_->addLayout(left, 1);
    card_ = new OfferCard(this);
    sides_->addWidget(card_);
    column->addLayout(sides_, 1);
    downloads_ = new DownloadsPanel(this);
    column->addWidget(downloads_);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, list_,
            [this] { list_->doItemsLayout(); });
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& index) { select(index); });
    connect(more_, &QPushButton::clicked, this, [this] {
        is_searching_ = true;
        search_ticket_ = ++last_ticket_;
        Q_EMIT moreRequested(search_ticket_);
        refresh();
    });
    connect(token_, &QPushButton::clicked, this, [this] { askToken(QString(), false); });
    connect(downloads_, &DownloadsPanel::tokenRequested, this, &GetPage::askToken);
    connectCard();
    list_->setCurrentIndex(model_->index(1));
    refresh();
}

QWidget* GetPage::buildBar() {
    auto* bar = new QWidget(this);
    auto* row = rowIn(bar, {0, 0, 0, 0}, Theme::kGap);
    field_ = named("getField", new QLineEdit(bar));
    field_->setPlaceholderText(tr("Search, or paste an address or owner/name"));
    field_->setAccessibleName(tr("Search the hub, or an address"));
    field_->setClearButtonEnabled(true);
    field_->setMinimumHeight(Theme::kControlHeight);
    kind_ = named("getKind", new QComboBox(bar));
    kind_->setAccessibleName(tr("What is searched for"));
    kind_->addItem(tr("Models (safetensors)"), static_cast<int>(HubQuery::Kind::Models));
    kind_->addItem(tr("Adapters (PEFT)"), static_cast<int>(HubQuery::Kind::Adapters));
    kind_->addItem(tr("GGUF files"), static_cast<int>(HubQuery::Kind::Gguf));
    go_ = pushButton("getGo", QString(), bar);
    row->addWidget(field_, 1);
    row->addWidget(kind_);
    row->addWidget(go_);
    connect(field_, &QLineEdit::textChanged, this, &GetPage::refresh);
    connect(field_, &QLineEdit::returnPressed, this, &GetPage::go);
    connect(go_, &QPushButton::clicked, this, &GetPage::go);
    connect(kind_, &QComboBox::activated, this, [this] {
        base_.clear();
        refresh();
    });
    return bar;
}

void GetPage::connectCard() {
    connect(card_, &OfferCard::lookRequested, this, &GetPage::look);
    connect(card_, &OfferCard::baseRequested, this, &GetPage::lookAt);
    connect(card_, &OfferCard::stopRequested, this, [this] {
        ++last_ticket_;
        look_ticket_ = 0;
        card_->setAsking(false);
        Q_EMIT stopRequested();
    });
    connect(card_, &OfferCard::downloadRequested, this, [this](quint64 ticket) {
        showProblem(QString());
        Q_EMIT downloadRequested(ticket);
    });
    connect(card_, &OfferCard::loadRequested, this, &GetPage::loadRequested);
    connect(card_, &OfferCard::tokenRequested, this, &GetPage::askToken);
    connect(card_, &OfferCard::settingsRequested, this, &GetPage::settingsRequested);
    connect(card_, &OfferCard::cardChosen, this, &GetPage::planThere);
    connect(card_, &OfferCard::drawingRequested, this, [this] {
        if (card_->offer().has_value() && !card_->offer()->headers.isEmpty()) {
            Q_EMIT drawingOfOfferRequested(*card_->offer());
        } else if (const FamilyMember* member = model_->member(list_->currentIndex())) {
            Q_EMIT drawingRequested(QStringLiteral("shape:") +
                                    QString::fromLatin1(member->variant));
        }
    });
    connect(card_, &OfferCard::adaptersRequested, this, [this](const QString& id) {
        prepareAdapters(id);
        search();
    });
    connect(card_, &OfferCard::pageRequested, this, [this](const QString& id) {
        Q_EMIT pageRequested(
            id.contains(QStringLiteral("://")) ? id : network_.endpoint + QLatin1Char('/') + id);
    });
}

void GetPage::setNetwork(const NetworkFacts& network) {
    network_ = network;
    model_->setOrigin(network.endpoint);
    card_->setForbidden(!network.is_there ? tr("This build of Belfry has no network part.")
                        : network.is_forbidden_outside
                            ? tr("HF_HUB_OFFLINE forbids the network to this program.")
                        : network.is_forbidden ? tr("The settings forbid the network.")
                                               : QString());
    refresh();
    if (const auto asked = std::exchange(token_asked_, std::nullopt)) {
        openTokenDialog(asked->first, asked->second);
    }
}

void GetPage::askToken(const QString& id, bool needs_licence) {
    token_asked_ = {id, needs_licence};
    Q_EMIT tokenFactsRequested();
}

void GetPage::go() {
    const QString text = field_->text().trimmed();
    if (!go_->isEnabled()) {
        return;
    }
    if (is_searching_) {
        is_searching_ = false;
        search_ticket_ = 0;
        Q_EMIT stopRequested();
        refresh();
    } else if (isAddress(text)) {
        list_->selectionModel()->clear();
        card_->showAddress(text);
        look(text);
    } else {
        search();
    }
}

void GetPage::search() {
    is_searching_ = true;
    search_error_.reset();
    searched_.clear();
    search_ticket_ = ++last_ticket_;
    HubQuery query;
    query.words = field_->text().simplified();
    query.kind = static_cast<HubQuery::Kind>(kind_->currentData().toInt());
    query.base = query.kind == HubQuery::Kind::Adapters ? base_ : QString();
    Q_EMIT searchRequested(search_ticket_, query);
    refresh();
}

void GetPage::look(const QString& address) {
    look_ticket_ = ++last_ticket_;
    card_->setAsking(true);
    Q_EMIT lookRequested(look_ticket_, address);
}

void GetPage::lookAt(const QString& id) {
    for (int row = 0; row < model_->rowCount(); ++row) {
        const QModelIndex index = model_->index(row);
        if (index.data(GetModel::IdRole).toString().compare(id, Qt::CaseInsensitive) == 0) {
            list_->setCurrentIndex(index);
            return;
        }
    }
    list_->selectionModel()->clear();
    field_->setText(id);
    card_->showAddress(id);
}

void GetPage::prepareAdapters(const QString& base) {
    base_ = base;
    kind_->setCurrentIndex(kind_->findData(static_cast<int>(HubQuery::Kind::Adapters)));
    field_->clear();
    refresh();
}

void GetPage::select(const QModelIndex& index) {
    look_ticket_ = 0;
    if (const FamilyMember* member = model_->member(index)) {
        card_->showMember(*member);
        card_->setNeedsHere(model_->needs(QString::fromLatin1(member->variant)));
        planThere();
    } else if (const HubHit* hit = model_->hit(index)) {
        card_->showHit(*hit);
    }
}

void GetPage::planFamily() {
    for (const FamilyMember& member : family()) {
        const QString variant = QString::fromLatin1(member.variant);
        here_tickets_.insert(++last_ticket_, variant);
        Q_EMIT planRequested(last_ticket_, shapeRequest(variant));
    }
}

void GetPage::planThere() {
    const FamilyMember* member = model_->member(list_->currentIndex());
    if (member == nullptr || !was_planned_) {
        return;
    }
    engine::LoadRequest request = shapeRequest(QString::fromLatin1(member->variant));
    request.what_if = devicesOf(card_->chosenComputer());
    card_->setNeedsThere(std::nullopt);
    there_ticket_ = ++last_ticket_;
    Q_EMIT planRequested(there_ticket_, request);
}

void GetPage::showPlan(quint64 ticket, const std::shared_ptr<const engine::PlacementPlan>& plan) {
    if (ticket == there_ticket_) {
        ModelNeeds needs = needsOf(*plan);
        if (!card_->chosenComputer().tellsSpeed()) {
            needs.tokens_per_s = 0;
        }
        card_->setNeedsThere(needs);
        return;
    }
    const QString variant = here_tickets_.take(ticket);
    if (variant.isEmpty()) {
        return;
    }
    model_->setNeeds(variant, needsOf(*plan));
    const FamilyMember* member = model_->member(list_->currentIndex());
    if (member != nullptr && QLatin1String(member->variant) == variant) {
        card_->setNeedsHere(model_->needs(variant));
    }
}

void GetPage::showFound(quint64 ticket, const std::shared_ptr<const HubFound>& found) {
    if (ticket != search_ticket_) {
        return;
    }
    is_searching_ = false;
    model_->setFound(found);
    searched_ = model_->hitCount() == 0 ? field_->text().simplified() : QString();
    if (!found->is_continued && model_->firstHit().isValid()) {
        list_->setCurrentIndex(model_->firstHit());
        list_->scrollTo(model_->index(model_->firstHit().row() - 1),
                        QAbstractItemView::PositionAtTop);
    } else if (model_->hitCount() == 0) {
        searched_ = field_->text().simplified();
    }
    refresh();
}

void GetPage::showSearchError(quint64 ticket, const engine::Error& error) {
    if (ticket == search_ticket_) {
        is_searching_ = false;
        if (error.code != engine::ErrorCode::Cancelled) {
            search_error_ = error;
        }
        refresh();
    }
}

void GetPage::showOffer(quint64 ticket, const std::shared_ptr<const HubOffer>& offer) {
    if (ticket == look_ticket_) {
        card_->showOffer(*offer);
        card_->noteDownloads(downloads_->downloads());
    }
}

void GetPage::showOfferError(quint64 ticket, const engine::Error& error) {
    if (ticket == look_ticket_) {
        error.code == engine::ErrorCode::Cancelled ? card_->setAsking(false)
                                                   : card_->showError(error);
    }
}

void GetPage::showDownloads(const std::shared_ptr<const Downloads>& downloads) {
    downloads_->showDownloads(downloads);
    card_->noteDownloads(*downloads);
}

void GetPage::showProblem(const QString& text) {
    problem_ = text;
    refresh();
}

void GetPage::openTokenDialog(const QString& id, bool needs_licence) {
    auto* dialog = new TokenDialog(network_, id, needs_licence, window());
    connect(dialog, &TokenDialog::tokenEntered, this, &GetPage::tokenEntered);
    connect(dialog, &TokenDialog::pageRequested, this, &GetPage::pageRequested);
    dialog->open();
}

void GetPage::refresh() {
    const bool is_allowed = network_.is_there && !network_.is_forbidden;
    const QString text = field_->text().trimmed();
    go_->setText(is_searching_ ? tr("S&top") : isAddress(text) ? tr("L&ook up") : tr("Searc&h"));
    go_->setIcon(icon(is_searching_ ? QStringLiteral("stop") : QStringLiteral("search")));
    go_->setEnabled(is_allowed);
    token_->setEnabled(is_allowed);
    more_->setVisible(model_->hasMore() && !is_searching_);
    const bool is_modelscope =
        isAddress(text) && network_.modelscope_hosts.contains(QUrl(text).host());
    const QString origin =
        is_modelscope ? network_.modelscope_endpoint
        : network_.is_mirror
            ? tr("%1 (a mirror, set in the settings or by HF_ENDPOINT)").arg(network_.endpoint)
            : network_.endpoint;
    promise_->setText(is_allowed ? tr("Nothing is asked of the network before you click. Asked is: "
                                      "%1")
                                       .arg(origin)
                                 : tr("The network is not used."));
    QString status;
    TextRole role = TextRole::Muted;
    if (!problem_.isEmpty()) {
        status = problem_;
        role = TextRole::Danger;
    } else if (search_error_.has_value()) {
        status = errorSentence(*search_error_);
        role = TextRole::Danger;
    } else if (is_searching_) {
        status = tr("Searching…");
    } else if (!searched_.isEmpty()) {
        status = tr("Nothing was found for “%1”.").arg(searched_);
    } else if (!base_.isEmpty()) {
        status = tr("Adapters for %1").arg(base_);
    }
    setTextOrHide(status_, status);
    setTextRole(status_, role);
}

void GetPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!was_planned_) {
        was_planned_ = true; // by the planner, from shapes that it knows: nothing is asked
        planThere();
        planFamily();
    }
}

void GetPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool is_beside = width() >= kBesideWidth * textZoom() / 100;
    sides_->setDirection(is_beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    sides_->setStretch(0, 1);
    sides_->setStretch(1, is_beside ? 0 : 2);
    card_->setMinimumWidth(is_beside ? kCardWidth * textZoom() / 100 : 0);
    card_->setMaximumWidth(is_beside ? kCardWidth * textZoom() / 100 : QWIDGETSIZE_MAX);
}

} // namespace ui
