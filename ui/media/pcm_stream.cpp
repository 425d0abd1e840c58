// SPDX-License-Identifier: Apache-2.0
#include "ui/media/pcm_stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ui {

namespace {

constexpr qint64 kPartFrames = static_cast<qint64>(kSoundPartSeconds) * kSoundRate;

qint64 firstFrame(const SoundPart& part) {
    return std::llround(part.start_s * kSoundRate);
}

qint64 frameCount(const SoundPart& part) {
    return static_cast<qint64>(part.samples.size()) / kSoundChannels;
}

} // namespace

PcmStream::PcmStream(QObject* parent) : QIODevice(parent) {
    open(QIODevice::ReadOnly | QIODevice::Unbuffered);
}

void PcmStream::begin(qint64 frame, qint64 end) {
    parts_.clear();
    frame_ = frame;
    end_ = end;
    after_end_ = 0;
}

void PcmStream::addPart(std::shared_ptr<const SoundPart> part) {
    if (part->is_last) {
        const qint64 last = firstFrame(*part) + frameCount(*part);
        end_ = end_ < 0 ? last : std::min(end_, last);
    }
    std::erase_if(parts_, [&](const auto& old) {
        return firstFrame(*old) == firstFrame(*part) ||
               std::abs(firstFrame(*old) - frame_) > 2 * kPartFrames;
    });
    parts_.push_back(std::move(part));
}

qint64 PcmStream::bytesAvailable() const {
    return kSoundRate * kFrameBytes; // there is always something to read
}

qint64 PcmStream::readData(char* data, qint64 size) {
    const qint64 wanted = size / kFrameBytes;
    qint64 done = 0;
    while (done < wanted && !isAtEnd()) {
        const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) {
            return frame_ >= firstFrame(*part) && frame_ < firstFrame(*part) + frameCount(*part);
        });
        if (found == parts_.end()) {
            break;
        }
        const SoundPart& part = **found;
        const qint64 at = frame_ - firstFrame(part);
        qint64 count = std::min(frameCount(part) - at, wanted - done);
        if (end_ >= 0) {
            count = std::min(count, end_ - frame_);
        }
        std::memcpy(data + done * kFrameBytes, part.samples.data() + at * kSoundChannels,
                    static_cast<size_t>(count * kFrameBytes));
        frame_ += count;
        done += count;
    }
    std::memset(data + done * kFrameBytes, 0, static_cast<size_t>((wanted - done) * kFrameBytes));
    if (isAtEnd()) {
        after_end_ += wanted - done;
    }
    return wanted * kFrameBytes;
}

qint64 PcmStream::writeData(const char* /*data*/, qint64 /*size*/) {
    return -1;
}

} // namespace ui
