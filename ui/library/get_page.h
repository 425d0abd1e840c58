// SPDX-License-Identifier: Apache-2.0
// The page "Get a model": the Gemma 4 family, a search over the hub, a pasted address, what a model
// would bring and need, and what is being fetched. Nothing leaves this computer before a click:
// opened, it asks the planner alone. A view: wishes leave as signals, answers come as values.
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/placement.h"
#include "ui/library/hub_values.h"

#include <QHash>
#include <QWidget>

#include <utility>

class QBoxLayout;
class QComboBox;
class QLabel;
class QLineEdit;
class QListView;
class QPushButton;

namespace ui {

class DownloadsPanel;
class GetModel;
class OfferCard;

/// What a plan says of memory and speed.
ModelNeeds needsOf(const engine::PlacementPlan& plan);

class GetPage : public QWidget {
    Q_OBJECT

public:
    explicit GetPage(QWidget* parent = nullptr);

    [[nodiscard]] GetModel* model() const { return model_; }
    [[nodiscard]] DownloadsPanel* downloads() const { return downloads_; }
    [[nodiscard]] OfferCard* card() const { return card_; }
    [[nodiscard]] const NetworkFacts& network() const { return network_; }

public Q_SLOTS:
    void setNetwork(const ui::NetworkFacts& network);
    /// Answers to searchRequested(), lookRequested() and planRequested(); others are ignored.
    void showFound(quint64 ticket, const std::shared_ptr<const ui::HubFound>& found);
    void showSearchError(quint64 ticket, const engine::Error& error);
    void showOffer(quint64 ticket, const std::shared_ptr<const ui::HubOffer>& offer);
    void showOfferError(quint64 ticket, const engine::Error& error);
    void showPlan(quint64 ticket, const std::shared_ptr<const engine::PlacementPlan>& plan);
    void showDownloads(const std::shared_ptr<const ui::Downloads>& downloads);
    /// What could not be done with a download.
    void showProblem(const QString& text);
    /// A model that somewhere else was asked for: its card, without a request.
    void lookAt(const QString& id);
    /// Ready to search adapters for a model: without a request.
    void prepareAdapters(const QString& base);

Q_SIGNALS:
    void searchRequested(quint64 ticket, const ui::HubQuery& query);
    /// The page behind what the last search found.
    void moreRequested(quint64 ticket);
    void lookRequested(quint64 ticket, const QString& address);
    /// What was asked last is not wanted any more.
    void stopRequested();
    void downloadRequested(quint64 ticket);
    /// A plan without a load, by the planner alone.
    void planRequested(quint64 ticket, const engine::LoadRequest& request);
    /// What fits of a published size, or of a model that was looked up.
    void drawingRequested(const QString& shape);
    void drawingOfOfferRequested(const ui::HubOffer& offer);
    void loadRequested(const QString& folder);
    /// What is known of the token: answered by setNetwork().
    void tokenFactsRequested();
    void tokenEntered(const QString& token);
    void settingsRequested();
    /// An address for the browser.
    void pageRequested(const QString& address);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildBar();
    void connectCard();
    /// Enter or the button: an address is looked at, words are searched for.
    void go();
    void search();
    void look(const QString& address);
    void select(const QModelIndex& index);
    void planFamily();
    void planThere();
    /// As soon as it is known which token there is.
    void askToken(const QString& id, bool needs_licence);
    void openTokenDialog(const QString& id, bool needs_licence);
    void refresh();

    GetModel* model_;
    NetworkFacts network_;
    QString base_; ///< Base model of the adapters that are searched for.
    quint64 last_ticket_;
    quint64 search_ticket_ = 0, look_ticket_ = 0, there_ticket_ = 0;
    QHash<quint64, QString> here_tickets_; ///< Variant by ticket.
    bool was_planned_ = false;
    bool is_searching_ = false;
    QString searched_; ///< Nothing was found for these words; empty: no such search.
    QString problem_;
    std::optional<engine::Error> search_error_;
    std::optional<std::pair<QString, bool>> token_asked_; ///< Arguments of askToken().

    QLineEdit* field_ = nullptr;
    QComboBox* kind_ = nullptr;
    QPushButton* go_ = nullptr;
    QPushButton* token_ = nullptr;
    QLabel* promise_ = nullptr;
    QLabel* status_ = nullptr;
    QBoxLayout* sides_ = nullptr;
    QListView* list_ = nullptr;
    QPushButton* more_ = nullptr;
    OfferCard* card_ = nullptr;
    DownloadsPanel* downloads_ = nullptr;
};

} // namespace ui
