// SPDX-License-Identifier: Apache-2.0
// What the page "Get a model" lists: the Gemma 4 family as it was published, known without asking
// anybody, and below it what a search found. Facts of the family: the model cards of google/gemma-4
// (sizes derived from the published shapes; Apache 2.0).
#pragma once

#include "ui/library/hub_values.h"
#include "ui/library/model_row.h"

#include <QAbstractListModel>

namespace ui {

/// A published size.
struct FamilyMember {
    const char* id;      ///< "google/gemma-4-E2B-it"
    const char* variant; ///< "E2B": also the name of its shape for the planner.
    qint64 parameters;
    quint64 bytes; ///< Size of its weights as published, 16 bits each.
    bool has_audio;
    qint64 context; ///< Tokens at most.
};
const std::vector<FamilyMember>& family();

class GetModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum { IdRole = ModelRow::FirstFreeRole };

    explicit GetModel(QObject* parent = nullptr);

    /// What `variant` takes on this computer.
    void setNeeds(const QString& variant, const ModelNeeds& needs);
    void setFound(const std::shared_ptr<const HubFound>& found);
    void clearFound();
    /// What the heading over what was found says: "Found at huggingface.co".
    void setOrigin(const QString& endpoint);
    /// nullptr for other rows.
    [[nodiscard]] const FamilyMember* member(const QModelIndex& index) const;
    [[nodiscard]] const HubHit* hit(const QModelIndex& index) const;
    [[nodiscard]] std::optional<ModelNeeds> needs(const QString& variant) const;
    [[nodiscard]] QModelIndex firstHit() const;
    [[nodiscard]] bool hasMore() const { return has_more_; }
    [[nodiscard]] int hitCount() const { return static_cast<int>(hits_.size()); }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    [[nodiscard]] QVariant memberData(const FamilyMember& member, int role) const;
    [[nodiscard]] static QVariant hitData(const HubHit& hit, int role);

    std::vector<HubHit> hits_;
    bool has_more_ = false;
    QString origin_;
    std::vector<std::pair<QString, ModelNeeds>> needs_;
};

} // namespace ui
