// SPDX-License-Identifier: Apache-2.0
#include "ui/library/offer_card.h"

#include "ui/common/error_words.h"
#include "ui/layout/card_box.h"
#include "ui/library/family_model.h"
#include "ui/library/hub_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr size_t kMostFiles = 12;

QLabel* wrapped(const char* name, QWidget* parent, QVBoxLayout* column) {
    auto* label = selectableLabel(name, parent);
    column->addWidget(label);
    return label;
}

QString filesOf(const HubOffer& offer) {
    QStringList lines;
    for (size_t i = 0; i < std::min(kMostFiles, offer.files.size()); ++i) {
        const HubFile& file = offer.files[i];
        lines << QStringLiteral("%1  %2").arg(file.name, formatBytes(file.bytes)) +
                     (file.present_bytes == 0 ? QString()
                      : file.present_bytes == file.bytes
                          ? QLatin1Char(' ') + OfferCard::tr("(here)")
                          : QLatin1Char(' ') +
                                OfferCard::tr("(%1 here)").arg(formatBytes(file.present_bytes)));
    }
    if (offer.files.size() > kMostFiles) {
        lines << OfferCard::tr("and %n more", nullptr,
                               static_cast<int>(offer.files.size() - kMostFiles));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

OfferCard::OfferCard(QWidget* parent) : QScrollArea(parent) {
    setObjectName(QStringLiteral("offerCard"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* body = new QWidget;
    setArea(body, Area::Surface);
    auto* column = columnIn(body, {16, 16, 16, 16}, Theme::kGap);
    title_ = wrapped("offerTitle", body, column);
    setTextSize(title_, 115, true);
    subtitle_ = wrapped("offerId", body, column);
    setTextRole(subtitle_, TextRole::Muted);
    facts_ = wrapped("offerFacts", body, column);
    needs_ = wrapped("offerNeeds", body, column);
    card_row_ = new QWidget(body);
    auto* on_card = columnIn(card_row_, {0, 0, 0, 0}, 4);
    auto* what_if = new QLabel(tr("What if you had …"), card_row_);
    setTextRole(what_if, TextRole::Muted);
    cards_ = new CardBox("offerCards", card_row_);
    cards_->setAccessibleName(tr("A graphics card to plan for"));
    cards_->choose(listedComputer(QStringLiteral("RTX 3060")));
    what_if->setBuddy(cards_);
    on_card->addWidget(what_if);
    on_card->addWidget(cards_);
    column->addWidget(card_row_);
    needs_there_ = wrapped("offerNeedsThere", body, column);
    quantizations_ = named("offerQuantizations", new QListWidget(body));
    quantizations_->setAccessibleName(tr("Quantizations"));
    quantizations_->setUniformItemSizes(true);
    quantizations_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    quantizations_->setTabKeyNavigation(false);
    column->addWidget(quantizations_);
    figures_ = wrapped("offerFigures", body, column);
    plan_ = wrapped("offerPlan", body, column);
    problem_ = wrapped("offerProblem", body, column);
    setTextRole(problem_, TextRole::Danger);
    const auto button = [&](const char* name, const char* picture) {
        auto* made = pushButton(name, QString(), body, picture);
        column->addWidget(made);
        return made;
    };
    draw_ = button("offerDraw", "meter");
    draw_->setText(tr("Dra&w what fits…"));
    look_ = button("offerLook", "search");
    download_ = button("offerDownload", "download");
    setButtonKind(download_, ButtonKind::Primary);
    way_on_ = button("offerWayOn", "continue");
    adapters_ = button("offerAdapters", "adapter");
    adapters_->setText(tr("Adapters &for it…"));
    base_ = button("offerBase", "search");
    page_ = button("offerPage", "eye");
    page_->setText(tr("&Open its page in the browser"));
    files_ = wrapped("offerFiles", body, column);
    setTextRole(files_, TextRole::Muted);
    folder_ = wrapped("offerFolder", body, column);
    setTextRole(folder_, TextRole::Muted);
    column->addStretch();
    setWidget(body);
    listQuantizations();
    connect(cards_, &CardBox::computerChosen, this, &OfferCard::cardChosen);
    // By a click or Enter, not by walking through the list: it uses the network.
    const auto look_at_another = [this] {
        const int row = quantizations_->currentRow();
        if (offer_.has_value() && !is_asking_ && row >= 0 && row != offer_->quantization) {
            const QString name = offer_->quantizations[static_cast<size_t>(row)].name;
            Q_EMIT lookRequested(offer_->id + QLatin1Char(':') + name + QLatin1Char('@') +
                                 offer_->revision);
        }
    };
    connect(quantizations_, &QListWidget::itemClicked, this, look_at_another);
    connect(quantizations_, &QListWidget::itemActivated, this, look_at_another);
    connect(draw_, &QPushButton::clicked, this, &OfferCard::drawingRequested);
    connect(look_, &QPushButton::clicked, this,
            [this] { is_asking_ ? stopRequested() : lookRequested(id_); });
    connect(download_, &QPushButton::clicked, this, [this] {
        if (offer_.has_value()) {
            offer_->missingBytes() == 0 && !offer_->is_adapter ? loadRequested(offer_->folder)
                                                               : downloadRequested(offer_->ticket);
        }
    });
    connect(way_on_, &QPushButton::clicked, this, [this] {
        error_.has_value() && asksForToken(*error_)
            ? tokenRequested(id_, ruleOf(*error_) == QStringLiteral("HubGated"))
            : settingsRequested();
    });
    connect(base_, &QPushButton::clicked, this, [this] { Q_EMIT baseRequested(base_id_); });
    connect(adapters_, &QPushButton::clicked, this, [this] { Q_EMIT adaptersRequested(id_); });
    connect(page_, &QPushButton::clicked, this, [this] {
        Q_EMIT pageRequested(offer_.has_value() && !offer_->page.isEmpty() ? offer_->page : id_);
    });
    refresh();
}

void OfferCard::begin(const QString& id, const QString& title, const QString& facts) {
    id_ = id;
    is_member_ = is_adapter_ = is_asking_ = is_fetching_ = false;
    here_.reset();
    there_.reset();
    offer_.reset();
    error_.reset();
    base_id_.clear();
    listQuantizations();
    title_->setText(title);
    setTextOrHide(subtitle_, title == id ? QString() : id);
    setTextOrHide(facts_, facts);
    verticalScrollBar()->setValue(0);
}

void OfferCard::showMember(const FamilyMember& member) {
    begin(QString::fromLatin1(member.id),
          QStringLiteral("Gemma 4 ") + QString::fromLatin1(member.variant),
          memberFacts(member) + QLatin1Char('\n') +
              tr("Up to %1 tokens of context").arg(formatCount(member.context)));
    is_member_ = true;
    refresh();
}

void OfferCard::showHit(const HubHit& hit) {
    begin(hit.id, hit.id, hitFacts(hit));
    is_adapter_ = hit.is_adapter;
    base_id_ = hit.bases.isEmpty() ? QString() : hit.bases.first();
    refresh();
}

void OfferCard::showAddress(const QString& address) {
    begin(address, address, {});
    refresh();
}

WhatIfComputer OfferCard::chosenComputer() const {
    return cards_->computer();
}

void OfferCard::setNeedsHere(const std::optional<ModelNeeds>& needs) {
    here_ = needs;
    refresh();
}

void OfferCard::setNeedsThere(const std::optional<ModelNeeds>& needs) {
    there_ = needs;
    refresh();
}

void OfferCard::setAsking(bool is_asking) {
    is_asking_ = is_asking;
    if (is_asking) {
        error_.reset();
    } else {
        listQuantizations(); // what was offered is it still
    }
    refresh();
}

void OfferCard::showOffer(const HubOffer& offer) {
    is_asking_ = false;
    error_.reset();
    offer_ = offer;
    id_ = offer.id;
    is_adapter_ = offer.is_adapter;
    if (!is_member_) {
        title_->setText(offer.id);
    }
    setTextOrHide(subtitle_,
                  tr("%1 at revision %2 (%3)").arg(offer.id, offer.revision, offer.commit.left(7)));
    listQuantizations();
    refresh();
}

void OfferCard::listQuantizations() {
    const bool has_several = offer_.has_value() && offer_->quantizations.size() > 1;
    quantizations_->setVisible(has_several);
    if (!has_several) {
        return;
    }
    const QSignalBlocker blocker(quantizations_); // no choice of the user's
    quantizations_->clear();
    for (const HubQuantization& one : offer_->quantizations) {
        QStringList parts = {one.name, formatBytes(one.bytes)};
        if (one.fits.has_value()) {
            parts << (*one.fits ? tr("fits") : tr("does not fit as it is"));
        }
        quantizations_->addItem(parts.join(QStringLiteral(" · ")));
    }
    constexpr int kMostRows = 8;
    const int rows = std::min(kMostRows, quantizations_->count());
    quantizations_->setFixedHeight(quantizations_->sizeHintForRow(0) * rows +
                                   2 * quantizations_->frameWidth());
    quantizations_->setCurrentRow(static_cast<int>(offer_->quantization));
}

void OfferCard::noteDownloads(const Downloads& downloads) {
    if (!offer_.has_value()) {
        return;
    }
    const bool was_fetching = std::exchange(is_fetching_, false);
    const bool was_here = offer_->missingBytes() == 0;
    for (const Download& download : downloads) {
        if (download.folder == offer_->folder) {
            is_fetching_ = download.state == Download::State::Fetching ||
                           download.state == Download::State::Waiting;
            if (download.state == Download::State::Done) {
                offer_->present_bytes = offer_->total_bytes;
                for (HubFile& file : offer_->files) {
                    file.present_bytes = file.bytes;
                }
            }
        }
    }
    if (was_fetching != is_fetching_ || was_here != (offer_->missingBytes() == 0)) {
        refresh();
    }
}

void OfferCard::showError(const engine::Error& error) {
    is_asking_ = false;
    error_ = error;
    listQuantizations(); // what was offered is it still
    refresh();
}

void OfferCard::setForbidden(const QString& why) {
    forbidden_ = why;
    refresh();
}

void OfferCard::refresh() {
    const auto role = [](const ModelNeeds& needs) {
        return needs.fits ? TextRole::Success : TextRole::Danger;
    };
    setTextOrHide(needs_,
                  here_.has_value() ? tr("This computer: %1").arg(needsInFull(*here_)) : QString());
    setTextRole(needs_, here_.has_value() ? role(*here_) : TextRole::Normal);
    card_row_->setVisible(is_member_);
    setTextOrHide(needs_there_,
                  is_member_ && there_.has_value() ? needsInFull(*there_) : QString());
    setTextRole(needs_there_, there_.has_value() ? role(*there_) : TextRole::Normal);
    setTextOrHide(figures_, offer_.has_value() ? offerFigures(*offer_) : QString());
    QString plan;
    TextRole plan_role = TextRole::Normal;
    if (offer_.has_value() && offer_->no_use.has_value()) {
        plan = tr("Belfry cannot use it: %1").arg(errorWords(*offer_->no_use));
        plan_role = TextRole::Danger;
    } else if (offer_.has_value() && offer_->needs.has_value()) {
        plan = tr("Read from its files: %1").arg(needsInFull(*offer_->needs));
        plan_role = role(*offer_->needs);
    }
    setTextOrHide(plan_, plan);
    setTextRole(plan_, plan_role);
    setTextOrHide(files_, offer_.has_value() ? filesOf(*offer_) : QString());
    setTextOrHide(folder_, offer_.has_value()
                               ? tr("Goes into %1").arg(QDir::toNativeSeparators(offer_->folder))
                               : QString());
    QString problem = forbidden_;
    if (problem.isEmpty() && error_.has_value()) {
        problem = errorSentence(*error_);
    } else if (problem.isEmpty() && offer_.has_value() && offer_->no_room.has_value()) {
        problem = errorSentence(*offer_->no_room);
    }
    setTextOrHide(problem_, problem);
    const bool is_allowed = forbidden_.isEmpty() && !id_.isEmpty();
    draw_->setVisible(is_member_ || (offer_.has_value() && !offer_->headers.isEmpty()));
    look_->setVisible(!offer_.has_value() || is_asking_);
    look_->setEnabled(is_allowed);
    look_->setText(is_asking_           ? tr("Asking… &stop")
                   : error_.has_value() ? tr("&Try again")
                                        : tr("&Look up files and bytes…"));
    look_->setIcon(icon(is_asking_ ? QStringLiteral("stop") : QStringLiteral("search")));
    setButtonKind(look_, is_asking_ ? ButtonKind::Normal : ButtonKind::Primary);
    const bool is_here = offer_.has_value() && offer_->missingBytes() == 0 && !offer_->is_adapter;
    const bool is_useless = offer_.has_value() && offer_->no_use.has_value();
    // A pair of files that does not fit together is of no use to any program.
    const bool is_broken = is_useless && ruleOf(*offer_->no_use) == QStringLiteral("GgufProjector");
    download_->setVisible(offer_.has_value() && !is_asking_ && !is_broken);
    download_->setEnabled(is_here || (is_allowed && offer_.has_value() && !is_fetching_ &&
                                      offer_->missingBytes() > 0 && !offer_->no_room.has_value()));
    download_->setText(!offer_.has_value() ? QString()
                       : is_here           ? tr("&Load")
                       : is_fetching_      ? tr("Is being fetched")
                       : offer_->missingBytes() == 0
                           ? tr("Is here")
                           : tr("&Download %1").arg(formatBytes(offer_->missingBytes())));
    way_on_->setVisible(!forbidden_.isEmpty() || (error_.has_value() && asksForToken(*error_)));
    way_on_->setText(!forbidden_.isEmpty() ? tr("&Settings…") : tr("S&ign in…"));
    const bool is_missing = error_.has_value() && ruleOf(*error_) == QStringLiteral("HubMissing");
    adapters_->setVisible(!is_adapter_ && !is_useless && !is_missing && forbidden_.isEmpty() &&
                          id_.contains(QLatin1Char('/')) && !id_.contains(QLatin1Char(':')));
    // What is of no use is not urged on anybody; what might be is one click away.
    setButtonKind(download_, is_useless ? ButtonKind::Normal : ButtonKind::Primary);
    if (is_useless && !is_here && !is_fetching_ && offer_->missingBytes() > 0) {
        download_->setText(
            tr("&Download %1 all the same").arg(formatBytes(offer_->missingBytes())));
    }
    if (is_missing && !is_asking_) {
        setButtonKind(look_, ButtonKind::Normal);
    }
    base_->setVisible(!base_id_.isEmpty() && (is_useless || error_.has_value()));
    base_->setText(tr("Look at &its base model, %1").arg(base_id_));
    page_->setVisible(id_.contains(QLatin1Char('/')) && !id_.contains(QLatin1Char(':')) &&
                      forbidden_.isEmpty());
}

} // namespace ui
