// SPDX-License-Identifier: Apache-2.0
// The page "What fits": for a model and a card, memory over context, a line for each precision and
// format of keys and values. From the headers of the model's files alone, one point after the other
// through the planner, as long as the page is seen. A click on a point makes that plan.
#pragma once

#include "engine/api/error.h"
#include "engine/api/model_summary.h"
#include "ui/explore/fit_grid.h"
#include "ui/library/hub_values.h"

#include <QWidget>

#include <memory>
#include <vector>

class QComboBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ui {

class CardBox;
class FitChart;

class FitPage : public QWidget {
    Q_OBJECT

public:
    explicit FitPage(QWidget* parent = nullptr);

    [[nodiscard]] const FitGrid& grid() const { return grid_; }
    [[nodiscard]] FitChart* chart() const { return chart_; }
    /// What the load form has now, the first of the models, and those that were used lately. The
    /// chosen one stays chosen; without one it is the first.
    void setModels(const engine::LoadRequest& chosen, const QStringList& recent);
    /// One of them, or a published size: "shape:E2B".
    void selectModel(const QString& model);
    /// A model of the hub, before it is fetched.
    void selectOffer(const HubOffer& offer);
    /// That is planned and not answered yet.
    [[nodiscard]] bool isPlanning() const { return asked_ != 0; }

public Q_SLOTS:
    /// Answers to the requests; those to older ones are ignored.
    void showModel(quint64 ticket, const std::shared_ptr<const engine::ModelSummary>& model);
    void showPoint(quint64 ticket, const ui::FitPoint& point);
    void showFailure(quint64 ticket, const engine::Error& error);
    void showComparisons(const QString& model, const std::vector<engine::Comparison>& found);

Q_SIGNALS:
    void modelRequested(quint64 ticket, const QString& model);
    void pointRequested(quint64 ticket, const engine::LoadRequest& request);
    void comparisonsRequested(const QString& model);
    void planChosen(const ui::FitChoice& choice);
    /// These options are for a model that is not here: its folder, when it is.
    void offerChosen(const ui::FitChoice& choice, const QString& folder);
    /// Something was done that is not seen.
    void told(const QString& words);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    struct Model {
        QString name;
        engine::LoadRequest request;
        std::shared_ptr<const void> files; ///< An offer's: they go with the last who wants them.
        QString folder;                    ///< Where an offer will be.
    };

    QWidget* buildBar();
    QWidget* buildSide();
    QWidget* buildDetail();
    /// Another model or card: everything anew.
    void restart();
    /// Asks for the next point, where somebody looks.
    void ask();
    void fillModels();
    void buildPrecisions();
    void refresh();
    void refreshPrecisions();
    void refreshDetail();
    void choose(FitGrid::Place place);
    [[nodiscard]] const Model* model() const;
    [[nodiscard]] QString cardName() const;
    [[nodiscard]] engine::LoadRequest requestFor(FitGrid::Place place) const;
    [[nodiscard]] QString title() const;

    struct Precision {
        QString quant;
        QLabel* about = nullptr;
    };

    std::vector<Model> models_;
    std::vector<Precision> precisions_;
    FitGrid grid_;
    std::shared_ptr<const engine::ModelSummary> summary_;
    QString problem_;
    quint64 ticket_ = 0, asked_ = 0; ///< asked_: 0 = nothing.
    FitGrid::Place asked_place_;

    QComboBox* model_box_ = nullptr;
    CardBox* card_box_ = nullptr;
    QPushButton *copy_picture_ = nullptr, *copy_table_ = nullptr;
    QLabel* status_ = nullptr;
    FitChart* chart_ = nullptr;
    QVBoxLayout* rows_ = nullptr;
    QLabel *detail_ = nullptr, *parts_ = nullptr, *speed_ = nullptr, *quality_ = nullptr;
    QPushButton* choose_ = nullptr;
};

} // namespace ui
