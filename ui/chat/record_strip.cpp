// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/record_strip.h"

#include "ui/media/sound_player.h"
#include "ui/media/sound_recorder.h"
#include "ui/media/waveform.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

/// A dot that says "on", and how loud it is.
class LevelBar : public QWidget {
public:
    LevelBar(const SoundRecorder* recorder, QWidget* parent)
        : QWidget(parent), recorder_(recorder) {
        setFixedSize(112, 20);
    }

protected:
    void paintEvent(QPaintEvent* event) override {
        Q_UNUSED(event);
        const Theme& theme = Theme::current();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.danger);
        painter.drawEllipse(QRectF(2.0, 5.0, 10.0, 10.0));
        const QRectF bar(22.0, 7.0, width() - 24.0, 6.0);
        painter.setBrush(theme.raised);
        painter.drawRoundedRect(bar, 3.0, 3.0);
        // As ears do: 50 dB over the whole bar.
        const double level = recorder_->level();
        const double share =
            level > 0.0 ? std::clamp(1.0 + 20.0 * std::log10(level) / 50.0, 0.0, 1.0) : 0.0;
        painter.setBrush(share > 0.97 ? theme.danger : theme.success);
        painter.drawRoundedRect(QRectF(bar.x(), bar.y(), bar.width() * share, bar.height()), 3.0,
                                3.0);
    }

private:
    const SoundRecorder* recorder_;
};

} // namespace

RecordStrip::RecordStrip(SoundPlayer* player, QWidget* parent)
    : QFrame(parent), player_(player), recorder_(new SoundRecorder(this)),
      level_(new LevelBar(recorder_, this)), text_(new QLabel(this)), use_(new QPushButton(this)),
      cancel_(new QPushButton(this)) {
    setObjectName(QStringLiteral("recordStrip"));
    auto* row = rowIn(this, {0, 0, 0, 0}, 8);
    row->addWidget(level_);
    text_->setObjectName(QStringLiteral("recordText"));
    text_->setWordWrap(true);
    row->addWidget(text_, 1);
    use_->setObjectName(QStringLiteral("useRecording"));
    setButtonKind(use_, ButtonKind::Primary);
    cancel_->setObjectName(QStringLiteral("cancelRecording"));
    row->addWidget(use_);
    row->addWidget(cancel_);
    connect(use_, &QPushButton::clicked, this, &RecordStrip::toggle);
    connect(cancel_, &QPushButton::clicked, this, &RecordStrip::cancel);
    connect(recorder_, &SoundRecorder::changed, this, &RecordStrip::showState);
    connect(recorder_, &SoundRecorder::recorded, this, [this](const QString& file) {
        Q_EMIT recorded(file);
        if (recorder_->problem().isEmpty()) {
            Q_EMIT closed();
        }
    });
}

bool RecordStrip::isRecording() const {
    return recorder_->state() != SoundRecorder::State::Idle;
}

void RecordStrip::toggle() {
    if (isRecording()) {
        recorder_->finish();
    } else {
        start();
    }
}

void RecordStrip::start() {
    player_->stop(); // it would be recorded
    recorder_->start(player_->devices()->input(), longest_s_);
    showState();
    use_->setFocus(Qt::OtherFocusReason);
}

void RecordStrip::cancel() {
    recorder_->cancel();
    Q_EMIT closed();
}

void RecordStrip::showState() {
    const bool is_on = isRecording();
    const bool is_running = recorder_->state() == SoundRecorder::State::Recording;
    level_->setVisible(is_on);
    setTextRole(text_, is_on ? TextRole::Normal : TextRole::Danger);
    if (!is_on) {
        text_->setText(recorder_->problem());
    } else if (recorder_->state() == SoundRecorder::State::Writing) {
        text_->setText(tr("Keeping the recording…"));
    } else if (!is_running) {
        text_->setText(tr("Opening the microphone…"));
    } else {
        text_->setText(
            tr("Recording %1 of %2")
                .arg(clockText(std::floor(recorder_->seconds())), clockText(recorder_->limit())));
    }
    use_->setText(is_on ? tr("Use") : tr("Try again"));
    use_->setAccessibleName(is_on ? tr("Use the recording") : tr("Try to record again"));
    use_->setToolTip(is_on ? tr("End the recording and attach it") : QString());
    use_->setEnabled(recorder_->state() != SoundRecorder::State::Writing);
    cancel_->setText(is_on ? tr("Cancel") : tr("Close"));
    cancel_->setAccessibleName(is_on ? tr("Cancel the recording") : tr("Close"));
    level_->update();
}

void RecordStrip::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        cancel();
        return;
    }
    QFrame::keyPressEvent(event);
}

} // namespace ui
