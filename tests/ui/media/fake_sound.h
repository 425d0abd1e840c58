// SPDX-License-Identifier: Apache-2.0
// Sound without a device: a recording whose samples tell their place, a loudspeaker that takes
// samples when the test says so, a microphone that hears what the test says.
#pragma once

#include "ui/media/sound_devices.h"
#include "ui/media/sound_types.h"

#include <QCoreApplication>
#include <QThreadPool>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace support {

/// The left sample of a frame of the fake recording; the right one is its negative.
inline int16_t fakeSample(qint64 frame) {
    return static_cast<int16_t>(frame % 30011 + 1);
}

/// Every file has `seconds` of fakeSample(); "broken" in the name cannot be read.
class FakeDecoder : public ui::SoundDecoder {
public:
    explicit FakeDecoder(double seconds) : seconds_(seconds) {}

    [[nodiscard]] ui::SoundPart
    part(const QString& file, double start_s, double length_s) const override {
        ++parts_read;
        ui::SoundPart part;
        part.start_s = start_s;
        if (file.contains(QStringLiteral("broken"))) {
            part.error = QStringLiteral("%1: the data is damaged").arg(file);
            return part;
        }
        const qint64 first = std::llround(start_s * ui::kSoundRate);
        const qint64 all = std::llround(seconds_ * ui::kSoundRate);
        const qint64 last = std::min(all, first + std::llround(length_s * ui::kSoundRate));
        if (first >= all) {
            part.error = QStringLiteral("behind the end");
            return part;
        }
        part.samples.reserve(static_cast<size_t>(2 * (last - first)));
        for (qint64 frame = first; frame < last; ++frame) {
            part.samples.push_back(fakeSample(frame));
            part.samples.push_back(static_cast<int16_t>(-fakeSample(frame)));
        }
        part.is_last = last == all;
        return part;
    }
    [[nodiscard]] ui::SoundOutline outline(const QString& file,
                                           const std::stop_token& /*stop*/) const override {
        ui::SoundOutline outline;
        if (file.contains(QStringLiteral("broken"))) {
            outline.state = ui::SoundOutline::State::Unreadable;
            outline.error = QStringLiteral("damaged");
            return outline;
        }
        outline.state = ui::SoundOutline::State::Ready;
        outline.seconds = seconds_;
        const auto count = static_cast<int>(std::clamp(seconds_ * 20.0, 100.0, 4000.0));
        for (int i = 0; i < count; ++i) {
            // Syllables: louder and quieter, so that a picture of it looks like speech.
            const double t = seconds_ * i / count;
            outline.peaks.push_back(static_cast<float>(
                std::abs(std::sin(2.1 * t)) * (0.35 + 0.65 * std::abs(std::sin(7.3 * t)))));
        }
        return outline;
    }
    mutable std::atomic<int> parts_read = 0;

private:
    double seconds_;
};

class FakeOutput : public ui::SoundOutput {
public:
    /// As the device would: takes `frames` and tells the place. Nothing while it is not running.
    std::vector<int16_t> pull(qint64 frames) {
        std::vector<int16_t> taken;
        if (!isOpen() || is_suspended || to_open.has_value()) {
            return taken;
        }
        taken.resize(static_cast<size_t>(frames * ui::kSoundChannels));
        stream()->read(reinterpret_cast<char*>(taken.data()), frames * ui::PcmStream::kFrameBytes);
        report();
        return taken;
    }
    void lose() { fail(ui::SoundProblem::Lost, QStringLiteral("unplugged")); }
    [[nodiscard]] bool isRunning() const { return isOpen() && !is_suspended; }

    std::optional<ui::SoundProblem> to_open; ///< What goes wrong when it is opened.
    bool is_suspended = false;
    int opened = 0;
    qint64 pending = 0; ///< Frames that were taken and are not heard yet.

protected:
    void open(QIODevice* /*stream*/) override {
        ++opened;
        is_suspended = false;
        if (to_open.has_value()) {
            fail(*to_open, QStringLiteral("busy"));
        }
    }
    void setSuspended(bool suspended) override { is_suspended = suspended; }
    void close() override { is_suspended = false; }
    [[nodiscard]] qint64 pendingFrames() const override { return pending; }
};

class FakeInput : public ui::SoundInput {
public:
    void hear(const std::vector<int16_t>& samples) {
        deliver(QByteArray(reinterpret_cast<const char*>(samples.data()),
                           static_cast<qsizetype>(samples.size() * 2)));
    }
    void lose() { fail(ui::SoundProblem::Lost, QStringLiteral("unplugged")); }
    std::optional<ui::SoundProblem> to_open;
    bool is_open = false;
    int rate = 16000;

protected:
    void open() override {
        if (to_open.has_value()) {
            fail(*to_open, QStringLiteral("denied"));
            return;
        }
        is_open = true;
        begin(rate);
    }
    void close() override { is_open = false; }
};

class FakeDevices : public ui::SoundDevices {
public:
    ui::SoundOutput* output() override { return has_devices ? &out : nullptr; }
    ui::SoundInput* input() override { return has_devices ? &in : nullptr; }
    FakeOutput out;
    FakeInput in;
    bool has_devices = true;
};

/// Until everything that was begun on the pool has arrived.
inline void settle() {
    for (int i = 0; i < 3; ++i) {
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    }
}

} // namespace support
