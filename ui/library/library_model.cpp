// SPDX-License-Identifier: Apache-2.0
#include "ui/library/library_model.h"

#include "ui/library/library_words.h"
#include "ui/style/theme.h"

#include <QDir>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

ModelRow::Tone toneOf(const LibraryItem& item) {
    if (item.state != LibraryItem::State::Usable) {
        return ModelRow::Tone::Bad;
    }
    switch (item.fit) {
    case LibraryItem::Fit::Fits:
        return ModelRow::Tone::Good;
    case LibraryItem::Fit::FitsWithChange:
        return ModelRow::Tone::Warning;
    case LibraryItem::Fit::DoesNotFit:
        return ModelRow::Tone::Bad;
    case LibraryItem::Fit::Unknown:
        break;
    }
    return ModelRow::Tone::Plain;
}

} // namespace

LibraryModel::LibraryModel(QObject* parent) : QAbstractListModel(parent) {}

void LibraryModel::setContents(const std::shared_ptr<const LibraryContents>& contents) {
    contents_ = contents;
    refresh();
}

void LibraryModel::setFilter(const QString& text) {
    const QStringList words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (words != words_) {
        words_ = words;
        refresh();
    }
}

std::vector<LibraryModel::Row> LibraryModel::makeRows() const {
    std::vector<Row> rows;
    if (contents_ == nullptr) {
        return rows;
    }
    const auto matches = [this](const LibraryItem& item) {
        return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
            const auto has = [&](const QString& text) {
                return text.contains(word, Qt::CaseInsensitive);
            };
            return has(item.name) || has(item.variant) || has(item.precision) || has(item.base) ||
                   has(item.path) || has(placeName(item.place)) || has(verdictWords(item));
        });
    };
    const auto section = [&](const QString& heading, auto&& belongs) {
        const size_t before = rows.size();
        for (const LibraryGroup& group : contents_->groups) {
            if (!belongs(group)) {
                continue;
            }
            const bool is_model_shown = group.model.has_value() && matches(*group.model);
            std::vector<Row> adapters;
            for (const LibraryItem& adapter : group.adapters) {
                // All adapters of a model that is asked for, and those that are asked for.
                if (is_model_shown || matches(adapter)) {
                    adapters.push_back({{}, adapter, group.model.has_value()});
                }
            }
            if (group.model.has_value() && (is_model_shown || !adapters.empty())) {
                rows.push_back({{}, *group.model, false});
            }
            rows.insert(rows.end(), adapters.begin(), adapters.end());
        }
        if (rows.size() > before) {
            rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(before),
                        Row{heading, {}, false});
        }
    };
    const auto is_usable = [](const LibraryGroup& group) {
        return group.model->state == LibraryItem::State::Usable;
    };
    section(tr("Models"),
            [&](const LibraryGroup& group) { return group.model.has_value() && is_usable(group); });
    section(tr("Adapters whose model is not here"),
            [](const LibraryGroup& group) { return !group.model.has_value(); });
    section(tr("Cannot be used as they are"), [&](const LibraryGroup& group) {
        return group.model.has_value() && !is_usable(group);
    });
    return rows;
}

void LibraryModel::refresh() {
    std::vector<Row> rows = makeRows();
    const auto same = [](const Row& a, const Row& b) {
        return a.heading == b.heading && a.item.path == b.item.path;
    };
    // A scan tells of more and more: rows before and after what changed stay as they are.
    const auto head = std::mismatch(rows_.begin(), rows_.end(), rows.begin(), rows.end(), same);
    const auto kept = static_cast<int>(head.first - rows_.begin());
    const auto room = static_cast<int>(std::min(rows_.size(), rows.size())) - kept;
    int tail = 0;
    while (tail < room && same(rows_[rows_.size() - 1 - static_cast<size_t>(tail)],
                               rows[rows.size() - 1 - static_cast<size_t>(tail)])) {
        ++tail;
    }
    const int old_middle = static_cast<int>(rows_.size()) - kept - tail;
    const int new_middle = static_cast<int>(rows.size()) - kept - tail;
    if (old_middle > 0) {
        beginRemoveRows({}, kept, kept + old_middle - 1);
        rows_.erase(rows_.begin() + kept, rows_.begin() + kept + old_middle);
        endRemoveRows();
    }
    if (new_middle > 0) {
        beginInsertRows({}, kept, kept + new_middle - 1);
        rows_ = std::move(rows);
        endInsertRows();
    } else {
        rows_ = std::move(rows);
    }
    if (!rows_.empty()) {
        Q_EMIT dataChanged(index(0), index(static_cast<int>(rows_.size()) - 1));
    }
}

const LibraryItem* LibraryModel::item(const QModelIndex& index) const {
    if (!index.isValid()) {
        return nullptr;
    }
    const Row& row = rows_[static_cast<size_t>(index.row())];
    return row.heading.isEmpty() ? &row.item : nullptr;
}

QModelIndex LibraryModel::indexOf(const QString& path) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i].heading.isEmpty() && rows_[i].item.path == path) {
            return index(static_cast<int>(i));
        }
    }
    return {};
}

int LibraryModel::itemCount() const {
    return static_cast<int>(std::count_if(rows_.begin(), rows_.end(),
                                          [](const Row& row) { return row.heading.isEmpty(); }));
}

int LibraryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant LibraryModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& row = rows_[static_cast<size_t>(index.row())];
    if (!row.heading.isEmpty()) {
        switch (role) {
        case Qt::DisplayRole:
            return row.heading;
        case ModelRow::IsHeadingRole:
            return true;
        default:
            return {};
        }
    }
    switch (role) {
    case Qt::DisplayRole:
        return row.item.name;
    case Qt::DecorationRole:
        return icon(row.item.state != LibraryItem::State::Usable  ? QStringLiteral("alert")
                    : row.item.kind == LibraryItem::Kind::Adapter ? QStringLiteral("adapter")
                                                                  : QStringLiteral("chip"));
    case Qt::ToolTipRole:
        return QDir::toNativeSeparators(row.item.path);
    case Qt::AccessibleTextRole: {
        const QString verdict = verdictWords(row.item);
        return QStringLiteral("%1, %2%3")
            .arg(row.item.name, itemFacts(row.item),
                 verdict.isEmpty() ? QString() : QStringLiteral(", ") + verdict);
    }
    case PathRole:
        return row.item.path;
    case ModelRow::IsHeadingRole:
        return false;
    case ModelRow::IsIndentedRole:
        return row.is_indented;
    case ModelRow::FactsRole:
        return QStringLiteral("%1 · %2").arg(itemFacts(row.item), placeName(row.item.place));
    case ModelRow::VerdictRole:
        return verdictWords(row.item);
    case ModelRow::ToneRole:
        return QVariant::fromValue(toneOf(row.item));
    case ModelRow::RevisionRole:
        return row.item.revision;
    default:
        return {};
    }
}

Qt::ItemFlags LibraryModel::flags(const QModelIndex& index) const {
    return item(index) == nullptr ? Qt::ItemFlags(Qt::NoItemFlags)
                                  : Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

} // namespace ui
