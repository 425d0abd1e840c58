// SPDX-License-Identifier: Apache-2.0
#include "ui/library/family_model.h"

#include "ui/library/hub_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QUrl>

#include <algorithm>

namespace ui {

const std::vector<FamilyMember>& family() {
    static const std::vector<FamilyMember> kFamily = {
        {"google/gemma-4-E2B-it", "E2B", 5'123'178'979, 10'246'357'958, true, 131'072},
        {"google/gemma-4-E4B-it", "E4B", 7'996'157'418, 15'992'314'836, true, 131'072},
        {"google/gemma-4-26B-A4B-it", "26B-A4B", 25'805'936'206, 51'611'872'412, false, 262'144},
        {"google/gemma-4-31B-it", "31B", 31'273'088'876, 62'546'177'752, false, 262'144},
    };
    return kFamily;
}

GetModel::GetModel(QObject* parent) : QAbstractListModel(parent) {}

void GetModel::setNeeds(const QString& variant, const ModelNeeds& needs) {
    const auto known = std::find_if(needs_.begin(), needs_.end(),
                                    [&](const auto& one) { return one.first == variant; });
    if (known != needs_.end()) {
        known->second = needs;
    } else {
        needs_.emplace_back(variant, needs);
    }
    Q_EMIT dataChanged(index(1), index(static_cast<int>(family().size())));
}

void GetModel::setFound(const std::shared_ptr<const HubFound>& found) {
    if (!found->is_continued) {
        clearFound();
    }
    has_more_ = found->has_more;
    const bool needs_heading = hits_.empty();
    if (found->hits.empty()) {
        return;
    }
    const int first = rowCount();
    const int added = static_cast<int>(found->hits.size()) + (needs_heading ? 1 : 0);
    beginInsertRows({}, first, first + added - 1);
    hits_.insert(hits_.end(), found->hits.begin(), found->hits.end());
    endInsertRows();
}

void GetModel::clearFound() {
    has_more_ = false;
    if (!hits_.empty()) {
        beginRemoveRows({}, static_cast<int>(family().size()) + 1, rowCount() - 1);
        hits_.clear();
        endRemoveRows();
    }
}

void GetModel::setOrigin(const QString& endpoint) {
    origin_ = QUrl(endpoint).host();
}

const FamilyMember* GetModel::member(const QModelIndex& index) const {
    const int at = index.row() - 1;
    return index.isValid() && at >= 0 && at < static_cast<int>(family().size())
               ? &family()[static_cast<size_t>(at)]
               : nullptr;
}

const HubHit* GetModel::hit(const QModelIndex& index) const {
    const int at = index.row() - static_cast<int>(family().size()) - 2;
    return index.isValid() && at >= 0 && at < static_cast<int>(hits_.size())
               ? &hits_[static_cast<size_t>(at)]
               : nullptr;
}

std::optional<ModelNeeds> GetModel::needs(const QString& variant) const {
    for (const auto& [of, needs] : needs_) {
        if (of == variant) {
            return needs;
        }
    }
    return std::nullopt;
}

QModelIndex GetModel::firstHit() const {
    return hits_.empty() ? QModelIndex() : index(static_cast<int>(family().size()) + 2);
}

int GetModel::rowCount(const QModelIndex& parent) const {
    if (parent.isValid()) {
        return 0;
    }
    return static_cast<int>(family().size()) + 1 +
           (hits_.empty() ? 0 : static_cast<int>(hits_.size()) + 1);
}

QVariant GetModel::memberData(const FamilyMember& member, int role) const {
    const QString variant = QString::fromLatin1(member.variant);
    switch (role) {
    case Qt::DisplayRole:
        return QStringLiteral("Gemma 4 ") + variant;
    case Qt::DecorationRole:
        return icon(QStringLiteral("chip"));
    case ModelRow::FactsRole:
        return memberFacts(member);
    case ModelRow::VerdictRole: {
        const auto known = needs(variant);
        return known.has_value() ? needsInShort(*known) : QString();
    }
    case ModelRow::ToneRole: {
        const auto known = needs(variant);
        return QVariant::fromValue(!known.has_value() ? ModelRow::Tone::Plain
                                   : !known->fits     ? ModelRow::Tone::Bad
                                   : known->is_packed ? ModelRow::Tone::Warning
                                                      : ModelRow::Tone::Good);
    }
    case IdRole:
    case Qt::ToolTipRole:
        return QString::fromLatin1(member.id);
    default:
        return {};
    }
}

QVariant GetModel::hitData(const HubHit& hit, int role) {
    switch (role) {
    case Qt::DisplayRole:
    case IdRole:
        return hit.id;
    case Qt::DecorationRole:
        return icon(hit.is_adapter ? QStringLiteral("adapter") : QStringLiteral("chip"));
    case ModelRow::FactsRole:
        return hitFacts(hit);
    case ModelRow::VerdictRole:
        return hit.is_private                   ? tr("private")
               : hit.gate == HubHit::Gate::None ? QString()
                                                : tr("licence to accept");
    case ModelRow::ToneRole:
        return QVariant::fromValue(ModelRow::Tone::Warning);
    default:
        return {};
    }
}

QVariant GetModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    if (role == Qt::AccessibleTextRole) {
        QStringList parts = {data(index, Qt::DisplayRole).toString()};
        for (const int part : {int(ModelRow::FactsRole), int(ModelRow::VerdictRole)}) {
            if (const QString text = data(index, part).toString(); !text.isEmpty()) {
                parts << text;
            }
        }
        return parts.join(QStringLiteral(", "));
    }
    if (const FamilyMember* of_family = member(index)) {
        return memberData(*of_family, role);
    }
    if (const HubHit* found = hit(index)) {
        return hitData(*found, role);
    }
    switch (role) {
    case Qt::DisplayRole:
        return index.row() == 0 ? tr("Gemma 4, as Google publishes it")
                                : tr("Found at %1").arg(origin_);
    case ModelRow::IsHeadingRole:
        return true;
    default:
        return {};
    }
}

Qt::ItemFlags GetModel::flags(const QModelIndex& index) const {
    return member(index) == nullptr && hit(index) == nullptr
               ? Qt::ItemFlags(Qt::NoItemFlags)
               : Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

} // namespace ui
