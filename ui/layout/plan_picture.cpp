// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/plan_picture.h"

#include "ui/layout/memory_kinds.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace ui {

namespace {

struct PictureTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::PlanPicture)
};

constexpr int kPictureWidth = 760;
constexpr int kPictureEdge = 32;
constexpr int kStack = 20;
constexpr qreal kSharpness = 2;

class PlanPainter {
public:
    PlanPainter(const engine::PlacementPlan& plan, const std::vector<LayoutBlock>& blocks)
        : plan_(plan), blocks_(blocks), weights_(weightsByKind(plan)) {}

    /// Without a painter only measures. Returns the height.
    int paint(QPainter* painter, const QString& title, const QString& subtitle) {
        painter_ = painter;
        int y = line(kPictureEdge, title, {}, scaledFont(170, true), theme_.text) + 2;
        y = line(y, subtitle, {}, scaledFont(100), theme_.text_muted) + 20;
        for (const engine::DeviceId id : laneDevices(plan_)) {
            y = device(id, y);
        }
        fill(QRectF(kPictureEdge, y, kPictureWidth - 2 * kPictureEdge, 1), theme_.border);
        return line(y + 14, speed(), PictureTexts::tr("planned with Belfry"), scaledFont(105, true),
                    theme_.text) +
               kPictureEdge - 8;
    }

private:
    void fill(const QRectF& box, const QColor& color) const {
        if (painter_ != nullptr) {
            painter_->fillRect(box, color);
        }
    }

    /// A line of text from edge to edge; returns where the next one begins.
    int line(int y,
             const QString& left,
             const QString& right,
             const QFont& font,
             const QColor& color,
             int from = kPictureEdge,
             int to = kPictureWidth - kPictureEdge) const {
        const QFontMetrics metrics(font);
        if (painter_ != nullptr) {
            const QFont quiet = scaledFont(95);
            const int right_width =
                right.isEmpty() ? 0 : QFontMetrics(quiet).horizontalAdvance(right) + 12;
            painter_->setFont(font);
            painter_->setPen(color);
            painter_->drawText(QRect(from, y, to - from - right_width, metrics.height()),
                               Qt::AlignLeft | Qt::AlignVCenter,
                               metrics.elidedText(left, Qt::ElideRight, to - from - right_width));
            painter_->setFont(quiet);
            painter_->setPen(theme_.text_muted);
            painter_->drawText(QRect(to - right_width, y, right_width, metrics.height()),
                               Qt::AlignRight | Qt::AlignVCenter, right);
        }
        return y + metrics.height();
    }

    int device(engine::DeviceId id, int y) {
        std::vector<const LayoutBlock*> here;
        for (const LayoutBlock& block : blocks_) {
            if (block.store == id) {
                here.push_back(&block);
            }
        }
        const engine::DevicePlan* const row = devicePlan(plan_, id);
        const bool is_disk = id == engine::DeviceId::disk();
        const quint64 used = is_disk ? diskBytes(plan_) : row == nullptr ? 0 : row->parts.total();
        if (here.empty() && used == 0) {
            return y;
        }
        QString name = laneName(id);
        if (row != nullptr && id.kind == engine::DeviceId::Kind::Cuda &&
            !row->description.empty()) {
            name += QStringLiteral(" · ") + fromUtf8(row->description);
        }
        const bool has_limit = row != nullptr && !is_disk && row->limit > 0 &&
                               row->limit != std::numeric_limits<uint64_t>::max();
        y = line(y, name,
                 has_limit
                     ? PictureTexts::tr("%1 of %2").arg(formatBytes(used), formatBytes(row->limit))
                     : formatBytes(used),
                 scaledFont(112, true), theme_.text) +
            6;
        if (row != nullptr && !is_disk) {
            stack(*row, has_limit ? row->limit : used, y);
            y += kStack + 10;
        }
        return parts(here, row, y) + 18;
    }

    /// As wide as what the device may hold.
    void stack(const engine::DevicePlan& row, quint64 limit, int y) {
        if (painter_ == nullptr) {
            return;
        }
        const QRectF bar(kPictureEdge, y, kPictureWidth - 2 * kPictureEdge, kStack);
        const KindBytes kinds = byKind(row.parts, weights_[row.id]);
        const double whole = std::max({kinds.total(), static_cast<double>(limit), 1.0});
        QPainterPath clip;
        clip.addRoundedRect(bar, 5, 5);
        painter_->save();
        painter_->setClipPath(clip);
        fill(bar, theme_.raised);
        double x = bar.left();
        for (size_t i = 0; i < kMemoryKinds; ++i) {
            const double width = kinds.bytes[i] / whole * bar.width();
            fill(QRectF(x, y, kinds.bytes[i] > 0 ? std::max(1.0, width) : 0, kStack),
                 memoryColor(static_cast<MemoryKind>(i + 1)));
            x += width;
        }
        painter_->restore();
        if (kinds.total() > static_cast<double>(limit)) {
            const double end = bar.left() + static_cast<double>(limit) / whole * bar.width();
            fill(QRectF(end - 1, y - 3, 2, kStack + 6), theme_.danger);
        }
    }

    /// Which part is here, in two columns, with what is no block below them.
    int parts(const std::vector<const LayoutBlock*>& here, const engine::DevicePlan* row, int y) {
        std::vector<std::tuple<QColor, QString, quint64>> entries;
        entries.reserve(here.size() + 3);
        for (const LayoutBlock* block : here) {
            entries.emplace_back(memoryColor(memoryKind(block->kind)), blockTitle(*block),
                                 block->bytes);
        }
        const auto add = [&](MemoryKind kind, engine::MemoryPart part) {
            if (row != nullptr && row->parts[part] > 0) {
                QString name = memoryLabel(kind);
                name[0] = name.at(0).toUpper(); // as the titles of blocks
                entries.emplace_back(memoryColor(kind), name, row->parts[part]);
            }
        };
        add(MemoryKind::Adapter, engine::MemoryPart::Adapter);
        add(MemoryKind::Workspace, engine::MemoryPart::Workspace);
        add(MemoryKind::Driver, engine::MemoryPart::Context);
        add(MemoryKind::Experts, engine::MemoryPart::Experts);
        constexpr int kBetween = 32;
        const int column = (kPictureWidth - 2 * kPictureEdge - kBetween) / 2;
        const size_t half = (entries.size() + 1) / 2;
        const QFont font = scaledFont(98);
        const int step = QFontMetrics(font).height() + 5;
        for (size_t i = 0; i < entries.size(); ++i) {
            const auto& [color, name, bytes] = entries[i];
            const int left = kPictureEdge + (i < half ? 0 : column + kBetween);
            const int top = y + static_cast<int>(i < half ? i : i - half) * step;
            if (painter_ != nullptr) {
                painter_->setPen(Qt::NoPen);
                painter_->setBrush(color);
                painter_->drawRoundedRect(QRectF(left, top + step / 2.0 - 7, 10, 10), 3, 3);
            }
            line(top, name, formatBytes(bytes), font, theme_.text, left + 18, left + column);
        }
        return y + static_cast<int>(half) * step;
    }

    [[nodiscard]] QString speed() const {
        const engine::SpeedEstimate& estimate = plan_.estimate;
        QStringList words;
        if (!plan_.fits) {
            words << PictureTexts::tr("does not fit");
        }
        if (estimate.decode_tokens_per_s > 0) {
            words << PictureTexts::tr("about %1 tokens/s")
                         .arg(formatRate(estimate.decode_tokens_per_s));
        }
        if (estimate.image_s > 0) {
            words << PictureTexts::tr("a picture %1").arg(formatDuration(estimate.image_s));
        }
        return words.join(QStringLiteral(" · "));
    }

    const engine::PlacementPlan& plan_;
    const std::vector<LayoutBlock>& blocks_;
    const Theme& theme_ = Theme::current();
    std::map<engine::DeviceId, KindBytes> weights_;
    QPainter* painter_ = nullptr;
};

} // namespace

QImage planPicture(const engine::PlacementPlan& plan,
                   const std::vector<LayoutBlock>& blocks,
                   const QString& title,
                   const QString& subtitle) {
    PlanPainter painting(plan, blocks);
    const QSize size(kPictureWidth, painting.paint(nullptr, title, subtitle));
    QImage image(size * kSharpness, QImage::Format_RGB32);
    image.setDevicePixelRatio(kSharpness);
    image.fill(Theme::current().surface);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painting.paint(&painter, title, subtitle);
    return image;
}

} // namespace ui
