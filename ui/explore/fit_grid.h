// SPDX-License-Identifier: Apache-2.0
// The lines of the page "What fits": one for each precision and format of keys and values, with the
// points that have come. It says which point is planned next, and writes all of them as a table.
// No widget.
#pragma once

#include "engine/api/comparison.h"
#include "ui/explore/fit_values.h"

#include <QColor>
#include <QCoreApplication>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace ui {

struct FitLine {
    QString quant;
    QString kv; ///< As LoadRequest::kv: "bf16", "q8".
    bool is_shown = true;
    std::vector<std::optional<FitPoint>> points; ///< By FitGrid::contexts().
    QString problem;                             ///< Why it has no more points.
};

class FitGrid {
    Q_DECLARE_TR_FUNCTIONS(ui::FitGrid)

public:
    /// Where a point is.
    struct Place {
        size_t line = 0, context = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };

    FitGrid() = default;
    FitGrid(const QStringList& quants, qint64 max_context);

    [[nodiscard]] const std::vector<qint64>& contexts() const { return contexts_; }
    [[nodiscard]] const std::vector<FitLine>& lines() const { return lines_; }
    [[nodiscard]] const FitPoint* point(Place place) const;
    [[nodiscard]] int countPoints() const;
    /// The point that is wanted next: the ends of all shown lines before what lies between them.
    [[nodiscard]] std::optional<Place> next() const;
    void setPoint(Place place, const FitPoint& point);
    void setProblem(size_t line, const QString& problem);
    void setShown(const QString& quant, bool is_shown);
    void setComparisons(const std::vector<engine::Comparison>& found);
    /// What was measured last of a precision beside the original 16 bits; nullptr: nothing.
    [[nodiscard]] const engine::Comparison* quality(const QString& quant) const;
    /// Bytes of the cards that may be used; 0 before the first point.
    [[nodiscard]] quint64 limit() const;
    /// The longest context of a line with everything on the cards; 0: none, nullopt: not known yet.
    [[nodiscard]] std::optional<qint64> longestContext(const FitLine& line) const;

    /// An earlier precision whose lines are the same, and hide those of `quant`; empty: none.
    [[nodiscard]] QString twinOf(const QString& quant) const;

    /// "4 bits (NF4) · KV 8 bits".
    [[nodiscard]] QString lineName(const FitLine& line) const;
    /// "5.3 GiB of 11.3 GiB · about 88 tokens/s".
    [[nodiscard]] static QString pointWords(const FitPoint& point);
    /// A colour of its own for each precision, of the theme in force.
    [[nodiscard]] static QColor color(const QString& quant);
    /// All points, a line each: UTF-8, comma-separated, numbers as programs read them.
    [[nodiscard]] QString csv(const QString& model, const QString& card) const;

private:
    std::vector<qint64> contexts_;
    std::vector<FitLine> lines_;
    std::vector<engine::Comparison> comparisons_;
};

/// "32K"; what is no whole number of them as it is.
QString tokensInShort(qint64 tokens);

} // namespace ui
