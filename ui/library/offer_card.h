// SPDX-License-Identifier: Apache-2.0
// The side of the page "Get a model" that tells of one model: what it takes here and on another
// card, what fetching it brings, and the button that does. A view of values.
#pragma once

#include "ui/library/hub_values.h"

#include <QScrollArea>

class QLabel;
class QListWidget;
class QPushButton;

namespace ui {

class CardBox;
struct FamilyMember;
struct WhatIfComputer;

class OfferCard : public QScrollArea {
    Q_OBJECT

public:
    explicit OfferCard(QWidget* parent = nullptr);

    /// The model that is spoken of; what was offered or went wrong before goes.
    void showMember(const FamilyMember& member);
    void showHit(const HubHit& hit);
    void showAddress(const QString& address);
    [[nodiscard]] const QString& id() const { return id_; }
    [[nodiscard]] const std::optional<HubOffer>& offer() const { return offer_; }
    /// What the shown member takes on this computer, and on the chosen card.
    void setNeedsHere(const std::optional<ModelNeeds>& needs);
    void setNeedsThere(const std::optional<ModelNeeds>& needs);
    [[nodiscard]] WhatIfComputer chosenComputer() const;
    void setAsking(bool is_asking);
    void showOffer(const HubOffer& offer);
    void showError(const engine::Error& error);
    /// Whether what is offered is being fetched, or has come meanwhile.
    void noteDownloads(const Downloads& downloads);
    /// Nothing that uses the network can be pressed, and why.
    void setForbidden(const QString& why);

Q_SIGNALS:
    /// Files, bytes and plan of `address` are wanted: uses the network.
    void lookRequested(const QString& address);
    void stopRequested();
    void downloadRequested(quint64 ticket);
    void loadRequested(const QString& folder);
    void adaptersRequested(const QString& id);
    void tokenRequested(const QString& id, bool needs_licence);
    void settingsRequested();
    void pageRequested(const QString& id);
    /// What this model was made of, where it is of no use itself.
    void baseRequested(const QString& id);
    void cardChosen();
    /// The drawing of what fits of the shown member, or of what is offered.
    void drawingRequested();

private:
    void begin(const QString& id, const QString& title, const QString& facts);
    void listQuantizations();
    void refresh();

    QString id_;
    QString base_id_; ///< What it was made of; empty: not known.
    bool is_member_ = false;
    bool is_adapter_ = false;
    bool is_asking_ = false;
    bool is_fetching_ = false;
    QString forbidden_;
    std::optional<ModelNeeds> here_, there_;
    std::optional<HubOffer> offer_;
    std::optional<engine::Error> error_;
    QLabel* title_;
    QLabel* subtitle_;
    QLabel* facts_;
    QLabel* needs_;
    QWidget* card_row_;
    CardBox* cards_;
    QLabel* needs_there_;
    QListWidget* quantizations_;
    QLabel* figures_;
    QLabel* plan_;
    QLabel* files_;
    QLabel* folder_;
    QLabel* problem_;
    QPushButton* draw_;
    QPushButton* look_;
    QPushButton* download_;
    QPushButton* way_on_;
    QPushButton* adapters_;
    QPushButton* base_;
    QPushButton* page_;
};

} // namespace ui
