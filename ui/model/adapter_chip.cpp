// SPDX-License-Identifier: Apache-2.0
#include "ui/model/adapter_chip.h"

#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QHBoxLayout>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>

#include <cmath>

namespace ui {

namespace {

constexpr int kSteps = 40; ///< The slider goes from 0 to 2 in steps of 0.05.
constexpr int kSliderWidth = 96, kShortSlider = 56;

QPushButton* flatButton(const QString& object_name, const QString& icon_name, QWidget* parent) {
    auto* button = new QPushButton(parent);
    button->setObjectName(object_name);
    setButtonKind(button, ButtonKind::Flat);
    if (!icon_name.isEmpty()) {
        button->setIcon(icon(icon_name));
        button->setFixedSize(28, 28);
    }
    return button;
}

} // namespace

AdapterChip::AdapterChip(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("adapterChip"));
    power_ = flatButton(QStringLiteral("adapterSwitch"), QStringLiteral("power"), this);
    power_->setCheckable(true);
    name_ = new ElidedLabel(this);
    name_->setMinimumCharacters(8);
    name_->setMaximumWidth(200);
    slider_ = named("adapterStrength", new QSlider(Qt::Horizontal, this));
    slider_->setRange(0, kSteps);
    slider_->setPageStep(4);
    slider_->setFixedWidth(kSliderWidth);
    value_ = new QLabel(this);
    value_->setMinimumWidth(value_->fontMetrics().horizontalAdvance(QStringLiteral("0.00")) + 2);
    report_ = flatButton(QStringLiteral("adapterReport"), QString(), this);
    remove_ = flatButton(QStringLiteral("adapterRemove"), QStringLiteral("close"), this);
    auto* row = rowIn(this, {4, 2, 4, 2}, 4);
    row->addWidget(power_);
    row->addWidget(name_);
    row->addSpacing(4);
    row->addWidget(slider_);
    row->addWidget(value_);
    row->addWidget(report_);
    row->addWidget(remove_);
    connect(power_, &QPushButton::toggled, this, &AdapterChip::enabledChanged);
    connect(slider_, &QSlider::valueChanged, this, [this](int value) {
        const double strength = value * 2.0 / kSteps;
        showStrength(strength);
        Q_EMIT strengthChanged(strength);
    });
    connect(remove_, &QPushButton::clicked, this, &AdapterChip::removeRequested);
    connect(report_, &QPushButton::clicked, this, &AdapterChip::reportRequested);
}

std::pair<qint64, qint64> AdapterChip::matched(const engine::AdapterSummary& coverage) {
    const qint64 unmatched = static_cast<qint64>(coverage.unmatched.size());
    return {coverage.tensors - unmatched, coverage.tensors};
}

void AdapterChip::showStrength(double strength) {
    value_->setText(QLocale().toString(strength, 'f', 2));
    slider_->setAccessibleDescription(tr("Strength %1 of 2").arg(value_->text()));
}

void AdapterChip::show(const engine::AdapterChoice& choice,
                       const QString& name,
                       const engine::AdapterSummary* coverage) {
    is_enabled_ = choice.is_enabled;
    name_->setText(name);
    setTextRole(name_, choice.is_enabled ? TextRole::Normal : TextRole::Muted);
    setAccessibleName(tr("Adapter %1").arg(name));
    {
        const QSignalBlocker block_power(power_);
        const QSignalBlocker block_slider(slider_);
        power_->setChecked(choice.is_enabled);
        slider_->setValue(static_cast<int>(std::lround(choice.strength * kSteps / 2.0)));
    }
    showStrength(choice.strength);
    slider_->setEnabled(choice.is_enabled);
    value_->setEnabled(choice.is_enabled);
    power_->setAccessibleName(tr("Use adapter %1").arg(name));
    power_->setToolTip(choice.is_enabled ? tr("Switch the adapter off for the next reply")
                                         : tr("Switch the adapter on for the next reply"));
    slider_->setAccessibleName(tr("Strength of adapter %1").arg(name));
    slider_->setToolTip(tr("Strength, 0 to 2; acts on the next reply without loading again"));
    remove_->setAccessibleName(tr("Remove adapter %1").arg(name));
    remove_->setToolTip(tr("Remove the adapter"));
    has_problem_ = false;
    if (coverage == nullptr) {
        report_text_ = QStringLiteral("…");
        report_->setAccessibleName(tr("Coverage of adapter %1 is being read").arg(name));
        report_->setEnabled(false);
    } else {
        const auto [hits, all] = matched(*coverage);
        has_problem_ = hits < all || !coverage->missing.empty();
        report_text_ = tr("%1 of %2").arg(formatCount(hits), formatCount(all));
        report_->setEnabled(true);
        report_->setAccessibleName(
            tr("Coverage of adapter %1: %2 of %3 tensors").arg(name).arg(hits).arg(all));
        report_->setToolTip(report_text_ + QStringLiteral(": ") +
                            (has_problem_
                                 ? tr("Some tensors have no place in this model. Open the report.")
                                 : tr("Every tensor has its place. Open the coverage report.")));
    }
    arrange(true);
    compact_width_ = layout()->sizeHint().width();
    arrange(false);
    whole_width_ = layout()->sizeHint().width();
    if (is_compact_) {
        arrange(true);
    }
    update();
}

void AdapterChip::arrange(bool is_compact) {
    // A mark stands for the figures where these do not fit; the tool tip has the words.
    const bool is_mark = is_compact && report_->isEnabled();
    slider_->setFixedWidth(is_compact ? kShortSlider : kSliderWidth);
    report_->setText(is_mark ? QString() : report_text_);
    report_->setIcon(has_problem_ ? icon(QStringLiteral("alert"))
                     : is_mark    ? icon(QStringLiteral("check"))
                                  : QIcon());
    layout()->invalidate(); // else the widths of before count until the next round of events
}

void AdapterChip::setCompact(bool is_compact) {
    if (is_compact_ != is_compact) {
        is_compact_ = is_compact;
        arrange(is_compact);
        updateGeometry();
    }
}

void AdapterChip::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(has_problem_ ? theme.warning : theme.border);
    painter.setBrush(theme.raised);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2);
}

} // namespace ui
