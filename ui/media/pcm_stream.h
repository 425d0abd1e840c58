// SPDX-License-Identifier: Apache-2.0
// Decoded samples as the device that a loudspeaker reads from. Lives on the thread of its output.
#pragma once

#include "ui/media/sound_types.h"

#include <QIODevice>

#include <memory>
#include <vector>

namespace ui {

/// Interleaved 16-bit samples, kSoundChannels at kSoundRate. Never runs dry: where a part is not
/// there yet, and after the end, it gives silence, so that no output stops by itself.
class PcmStream : public QIODevice {
    Q_OBJECT

public:
    static constexpr qint64 kFrameBytes = qint64{2} * kSoundChannels;

    explicit PcmStream(QObject* parent = nullptr);

    /// Goes to a frame of the recording and forgets all parts. `end` is the frame to stop at,
    /// -1 = at the end of the recording.
    void begin(qint64 frame, qint64 end);
    /// Parts far from the current place are forgotten.
    void addPart(std::shared_ptr<const SoundPart> part);
    /// The frame that is read next.
    [[nodiscard]] qint64 frame() const { return frame_; }
    [[nodiscard]] bool isAtEnd() const { return end_ >= 0 && frame_ >= end_; }
    /// Frames of silence given since the end was reached.
    [[nodiscard]] qint64 framesAfterEnd() const { return after_end_; }

    [[nodiscard]] bool isSequential() const override { return true; }
    [[nodiscard]] qint64 bytesAvailable() const override;

protected:
    qint64 readData(char* data, qint64 size) override;
    qint64 writeData(const char* data, qint64 size) override;

private:
    std::vector<std::shared_ptr<const SoundPart>> parts_;
    qint64 frame_ = 0, end_ = -1, after_end_ = 0;
};

} // namespace ui
