// SPDX-License-Identifier: Apache-2.0
// The library as a list: models, each with its adapters beneath it (indented), adapters whose model
// is not here, and what cannot be used; headings are rows of their own that cannot be selected. A
// filter leaves out what has none of its words. Never looks at a file.
#pragma once

#include "ui/library/library_values.h"
#include "ui/library/model_row.h"

#include <QAbstractListModel>

namespace ui {

class LibraryModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum { PathRole = ModelRow::FirstFreeRole };

    explicit LibraryModel(QObject* parent = nullptr);

    /// Rows that stay keep their place, so that what is selected stays selected.
    void setContents(const std::shared_ptr<const LibraryContents>& contents);
    void setFilter(const QString& text);
    /// nullptr for a heading and for no row.
    [[nodiscard]] const LibraryItem* item(const QModelIndex& index) const;
    [[nodiscard]] QModelIndex indexOf(const QString& path) const;
    /// Models and adapters shown, headings left out.
    [[nodiscard]] int itemCount() const;
    [[nodiscard]] const std::shared_ptr<const LibraryContents>& contents() const {
        return contents_;
    }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    struct Row {
        QString heading; ///< Empty: an item.
        LibraryItem item;
        bool is_indented = false;
    };

    [[nodiscard]] std::vector<Row> makeRows() const;
    void refresh();

    std::shared_ptr<const LibraryContents> contents_;
    QStringList words_; ///< Words of the filter.
    std::vector<Row> rows_;
};

} // namespace ui
