// SPDX-License-Identifier: Apache-2.0
#include "ui/explore/fit_grid.h"

#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <algorithm>
#include <iterator>

namespace ui {

namespace {

constexpr qint64 kLeastContext = 2048;
constexpr const char* kKvFormats[] = {"bf16", "q8"};

/// As a spreadsheet takes it: quoted where it has to be.
QString cell(QString text) {
    if (text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('"')) ||
        text.contains(QLatin1Char('\n'))) {
        text = QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) +
               QLatin1Char('"');
    }
    return text;
}

} // namespace

QString tokensInShort(qint64 tokens) {
    return tokens >= 1024 && tokens % 1024 == 0 ? QStringLiteral("%1K").arg(tokens / 1024)
                                                : formatCount(tokens);
}

FitGrid::FitGrid(const QStringList& quants, qint64 max_context) {
    // A small model has a drawing, too.
    for (qint64 tokens = std::clamp(max_context / 8, qint64{1}, kLeastContext);
         tokens < max_context; tokens *= 2) {
        contexts_.push_back(tokens);
    }
    contexts_.push_back(max_context);
    for (const QString& quant : quants) {
        for (const char* kv : kKvFormats) {
            FitLine& line = lines_.emplace_back();
            line.quant = quant;
            line.kv = QString::fromLatin1(kv);
            line.points.resize(contexts_.size());
        }
    }
}

const FitPoint* FitGrid::point(Place place) const {
    if (place.line >= lines_.size() || place.context >= contexts_.size()) {
        return nullptr;
    }
    const std::optional<FitPoint>& found = lines_[place.line].points[place.context];
    return found.has_value() ? &*found : nullptr;
}

int FitGrid::countPoints() const {
    int count = 0;
    for (const FitLine& line : lines_) {
        count += static_cast<int>(std::count_if(line.points.begin(), line.points.end(),
                                                [](const auto& one) { return one.has_value(); }));
    }
    return count;
}

std::optional<FitGrid::Place> FitGrid::next() const {
    std::vector<size_t> order; // both ends, then from the left
    for (size_t i = 0; i < contexts_.size(); ++i) {
        order.push_back(i == 0 ? 0 : i == 1 ? contexts_.size() - 1 : i - 1);
    }
    for (const size_t context : order) {
        for (size_t line = 0; line < lines_.size(); ++line) {
            if (lines_[line].is_shown && lines_[line].problem.isEmpty() &&
                !lines_[line].points[context].has_value()) {
                return Place{line, context};
            }
        }
    }
    return std::nullopt;
}

void FitGrid::setPoint(Place place, const FitPoint& point) {
    if (place.line < lines_.size() && place.context < contexts_.size()) {
        lines_[place.line].points[place.context] = point;
    }
}

void FitGrid::setProblem(size_t line, const QString& problem) {
    if (line < lines_.size()) {
        lines_[line].problem = problem;
    }
}

void FitGrid::setShown(const QString& quant, bool is_shown) {
    for (FitLine& line : lines_) {
        line.is_shown = line.quant == quant ? is_shown : line.is_shown;
    }
}

void FitGrid::setComparisons(const std::vector<engine::Comparison>& found) {
    comparisons_ = found;
}

const engine::Comparison* FitGrid::quality(const QString& quant) const {
    const std::string wanted = quant.toStdString();
    const auto found = std::find_if(
        comparisons_.rbegin(), comparisons_.rend(), [&](const engine::Comparison& one) {
            return one.quant == wanted &&
                   (one.reference == "bfloat16" || one.reference == "float16");
        });
    return found == comparisons_.rend() ? nullptr : &*found;
}

quint64 FitGrid::limit() const {
    for (const FitLine& line : lines_) {
        for (const auto& point : line.points) {
            if (point.has_value()) {
                return point->limit;
            }
        }
    }
    return 0;
}

std::optional<qint64> FitGrid::longestContext(const FitLine& line) const {
    qint64 longest = 0;
    for (size_t i = 0; i < contexts_.size(); ++i) {
        if (!line.points[i].has_value()) {
            return std::nullopt;
        }
        if (line.points[i]->state == FitPoint::State::Fits) {
            longest = contexts_[i];
        }
    }
    return longest;
}

QString FitGrid::twinOf(const QString& quant) const {
    const auto is_same = [](const auto& a, const auto& b) {
        return a.has_value() && b.has_value() && a->parts == b->parts;
    };
    for (size_t line = 0; line < lines_.size(); line += std::size(kKvFormats)) {
        for (size_t other = 0; other < line && lines_[line].quant == quant;
             other += std::size(kKvFormats)) {
            const auto& points = lines_[line].points;
            const auto& others = lines_[other].points;
            if (lines_[other].is_shown &&
                std::equal(points.begin(), points.end(), others.begin(), others.end(), is_same)) {
                return lines_[other].quant;
            }
        }
    }
    return {};
}

QString FitGrid::lineName(const FitLine& line) const {
    return (line.kv == QLatin1String("q8") ? tr("%1 · KV 8 bits") : tr("%1 · KV 16 bits"))
        .arg(quantName(line.quant));
}

QString FitGrid::pointWords(const FitPoint& point) {
    QStringList parts{
        tr("%1 of %2").arg(formatBytes(point.parts.total()), formatBytes(point.limit))};
    if (point.state == FitPoint::State::DoesNotFit) {
        parts.append(tr("does not fit"));
    } else if (point.tokens_per_s > 0) {
        parts.append(tr("about %1 tokens/s").arg(formatRate(point.tokens_per_s)));
    }
    return parts.join(QStringLiteral(" · "));
}

QColor FitGrid::color(const QString& quant) {
    const Theme& theme = Theme::current();
    const std::vector<std::pair<const char*, QColor>> colors = {
        {"none", theme.text},
        {"nf4", theme.part_kv},
        {"nf4-dq", theme.part_vision},
        {"fp4", theme.part_adapter},
        {"fp4-dq", theme.part_audio},
        {"q4_0", theme.part_experts},
        {"q8_0", theme.part_layers},
        {"nf4+experts", theme.part_ple},
        {"nf4-dq+experts", theme.part_head},
    };
    for (const auto& [name, color] : colors) {
        if (quant == QLatin1String(name)) {
            return color;
        }
    }
    return theme.text_muted;
}

QString FitGrid::csv(const QString& model, const QString& card) const {
    QString text = QStringLiteral(
        "model,card,weights,kv,context_tokens,state,bytes,limit_bytes,weights_bytes,kv_bytes,"
        "adapter_bytes,workspace_bytes,context_bytes,expert_cache_bytes,elsewhere_bytes,"
        "tokens_per_s,same_token\n");
    for (const FitLine& line : lines_) {
        // Compare measures with keys and values in 16 bits.
        const engine::Comparison* measured =
            line.kv == QLatin1String("q8") ? nullptr : quality(line.quant);
        for (const auto& point : line.points) {
            if (!point.has_value()) {
                continue;
            }
            QStringList row{cell(model),
                            cell(card),
                            line.quant,
                            line.kv,
                            QString::number(point->context),
                            point->state == FitPoint::State::Fits     ? QStringLiteral("fits")
                            : point->state == FitPoint::State::Partly ? QStringLiteral("partly")
                                                                      : QStringLiteral("no"),
                            QString::number(point->parts.total()),
                            QString::number(point->limit)};
            for (const engine::MemoryPart part : engine::kMemoryParts) {
                row.append(QString::number(point->parts[part]));
            }
            row.append(QString::number(point->elsewhere));
            row.append(point->tokens_per_s > 0 ? QString::number(point->tokens_per_s, 'f', 2)
                                               : QString());
            row.append(measured != nullptr ? QString::number(measured->same_top) : QString());
            text += row.join(QLatin1Char(',')) + QLatin1Char('\n');
        }
    }
    return text;
}

} // namespace ui
