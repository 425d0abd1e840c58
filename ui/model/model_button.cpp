// SPDX-License-Identifier: Apache-2.0
#include "ui/model/model_button.h"

#include "engine/api/model_address.h"
#include "ui/common/shortcuts.h"
#include "ui/model/folder_words.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QPainter>
#include <QStyleOptionButton>
#include <QStylePainter>

#include <algorithm>

namespace ui {

namespace {

constexpr int kSide = 12;    ///< Left and right of everything.
constexpr int kIcon = 18;    ///< The bell tower.
constexpr int kBadgePad = 8; ///< Left and right of a badge's text.

} // namespace

ModelButton::ModelButton(Session* session, QWidget* parent)
    : QPushButton(parent), session_(session) {
    setObjectName(QStringLiteral("modelButton"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(session, &Session::changed, this, &ModelButton::refresh);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, [this] {
        updateGeometry();
        update();
    });
    refresh();
}

void ModelButton::refresh() {
    badges_.clear();
    QStringList spoken;
    const QString model = session_->shownModel();
    state_ = QString();
    if (model.isEmpty()) {
        name_ = tr("Choose a model");
    } else {
        name_ = Session::nameOf(model);
        if (model != session_->model() && session_->isLoaded()) {
            if (name_ == session_->modelName()) {
                name_ = folderName(model, {session_->model()});
            }
            state_ = engine::isServerModel(model.toStdString()) ? tr("connected") : tr("loaded");
            // The chosen one stands beside it.
            spoken.append(state_);
        }
        const auto summary = session_->shownSummary();
        if (summary != nullptr && engine::isServerModel(model.toStdString())) {
            // What the model takes only its server knows; which program that is it says.
            if (!summary->variant.empty()) {
                badges_.append(fromUtf8(summary->variant));
                spoken.append(badges_);
            }
        } else if (summary != nullptr) {
            if (summary->parameters > 0) {
                badges_.append(formatParameters(summary->parameters));
                spoken.append(tr("%1 parameters").arg(badges_.last()));
            }
            badges_.append(tr("text"));
            if (summary->has_vision) {
                badges_.append(tr("image"));
            }
            if (summary->has_audio) {
                badges_.append(tr("audio"));
            }
            spoken.append(badges_.mid(1));
        }
    }
    if (!state_.isEmpty()) {
        badges_.prepend(state_);
    }
    setAccessibleName(model.isEmpty()
                          ? name_
                          : tr("Model: %1")
                                .arg(name_ + (spoken.isEmpty() ? QString() : QStringLiteral(", ")) +
                                     spoken.join(QStringLiteral(", "))));
    setAccessibleDescription(tr("Opens the list of models and the load options"));
    setKeyToolTip(this, tr("Models and load options"), QStringLiteral("modelPanel"));
    updateGeometry();
    update();
}

QSize ModelButton::sizeHint() const {
    int width = kSide + kIcon + 8 + QFontMetrics(scaledFont(100, true)).horizontalAdvance(name_) +
                24 + 16 + kSide;
    const QFontMetrics small(scaledFont(85));
    for (const QString& badge : badges_) {
        width += small.horizontalAdvance(badge) + 2 * kBadgePad + 6;
    }
    return {width, std::max(Theme::kControlHeight + 4, fontMetrics().height() + 16)};
}

QSize ModelButton::minimumSizeHint() const {
    int width = kSide + kIcon + 8 + fontMetrics().averageCharWidth() * 14 + 28 + kSide;
    if (!state_.isEmpty()) { // that the other one is loaded has to be seen
        width += QFontMetrics(scaledFont(85)).horizontalAdvance(state_) + 2 * kBadgePad + 6;
    }
    return {std::min(width, sizeHint().width()), sizeHint().height()};
}

void ModelButton::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    option.text.clear();
    painter.drawControl(QStyle::CE_PushButtonBevel, option);
    painter.setRenderHint(QPainter::Antialiasing);
    const int middle = height() / 2;
    int x = kSide;
    painter.drawPixmap(x, middle - kIcon / 2,
                       iconPixmap(QStringLiteral("belfry"), kIcon,
                                  session_->isLoaded()                ? theme.accent
                                  : session_->modelError() != nullptr ? theme.danger
                                                                      : theme.text_muted,
                                  devicePixelRatioF()));
    x += kIcon + 8;
    const int right = width() - kSide - 16 - 8;
    const QFont bold = scaledFont(100, true);
    painter.setFont(bold);
    painter.setPen(isEnabled() ? theme.text : theme.text_disabled);
    const QFontMetrics metrics(bold);
    const int state_width =
        state_.isEmpty()
            ? 0
            : QFontMetrics(scaledFont(85)).horizontalAdvance(state_) + 2 * kBadgePad + 10;
    const int name_width = std::min(metrics.horizontalAdvance(name_) + 1, right - x - state_width);
    painter.drawText(QRect(x, 0, name_width, height()), Qt::AlignVCenter | Qt::TextSingleLine,
                     metrics.elidedText(name_, Qt::ElideMiddle, name_width));
    x += name_width + 10;
    const QFont small = scaledFont(85);
    painter.setFont(small);
    const QFontMetrics small_metrics(small);
    for (const QString& badge : badges_) {
        const int badge_width = small_metrics.horizontalAdvance(badge) + 2 * kBadgePad;
        if (x + badge_width > right) {
            break; // the whole list is in the panel and in the accessible name
        }
        const QRectF box(x + 0.5, middle - small_metrics.height() / 2.0 - 1.5, badge_width - 1,
                         small_metrics.height() + 3);
        const bool is_state = !state_.isEmpty() && &badge == &badges_.first();
        painter.setPen(is_state ? theme.success : theme.border);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2);
        painter.setPen(is_state ? theme.success : theme.text_muted);
        painter.drawText(box, Qt::AlignCenter | Qt::TextSingleLine, badge);
        x += badge_width + 6;
    }
    painter.setPen(QPen(theme.text_muted, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF c(width() - kSide - 6, middle);
    painter.drawPolyline(QPolygonF({c + QPointF(-4, -2), c + QPointF(0, 2), c + QPointF(4, -2)}));
}

} // namespace ui
