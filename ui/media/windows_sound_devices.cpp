// SPDX-License-Identifier: Apache-2.0
// Loudspeaker and microphone on Windows, through its wave functions (winmm). The "wave mapper" is
// the user's default device, also when that changes while it plays, and converts rates. Buffers are
// looked after by a timer: no code of ours runs on the sound system's threads. Elsewhere:
// qt_sound_devices.cpp.
#ifdef _WIN32

#include "ui/media/sound_devices.h"
#include "ui/media/sound_thread.h"

#include <QTimer>

#include <windows.h>

#include <array>
#include <vector>
// After windows.h.
#include <mmsystem.h>

namespace ui {

namespace {

constexpr int kBuffers = 5;
constexpr int kWindowsBufferMs =
    50; ///< All together: long enough for a busy machine, short for a seek.
constexpr int kLookMs = 20;
constexpr int kRecordingRate = 16000; ///< What the tower hears anyway.

WAVEFORMATEX formatOf(int rate, int channels) {
    WAVEFORMATEX format{};
    format.wFormatTag = WAVE_FORMAT_PCM;
    format.nChannels = static_cast<WORD>(channels);
    format.nSamplesPerSec = static_cast<DWORD>(rate);
    format.wBitsPerSample = 16;
    format.nBlockAlign = static_cast<WORD>(2 * channels);
    format.nAvgBytesPerSec = format.nSamplesPerSec * format.nBlockAlign;
    return format;
}

/// What Windows says of a result, in the user's language.
QString reasonText(MMRESULT result) {
    std::array<wchar_t, MAXERRORLENGTH> words{};
    if (waveOutGetErrorTextW(result, words.data(), static_cast<UINT>(words.size())) !=
        MMSYSERR_NOERROR) {
        return QString::number(result);
    }
    return QString::fromWCharArray(words.data());
}

SoundProblem problemOf(MMRESULT result) {
    return result == MMSYSERR_NODRIVER || result == MMSYSERR_BADDEVICEID ? SoundProblem::NoDevice
                                                                         : SoundProblem::CannotOpen;
}

/// One piece of memory that the sound system reads or fills.
struct Buffer {
    WAVEHDR header{};
    std::vector<char> bytes;

    /// Anew, for a device that has just been opened.
    void reset(size_t size) {
        bytes.assign(size, 0);
        header = {};
        header.lpData = bytes.data();
        header.dwBufferLength = static_cast<DWORD>(size);
    }
    [[nodiscard]] bool isDone() const { return (header.dwFlags & WHDR_DONE) != 0; }
};

class WindowsSoundOutput : public SoundOutput {
public:
    WindowsSoundOutput() {
        timer_.setParent(this); // moves to the other thread together
        timer_.setInterval(kLookMs);
        connect(&timer_, &QTimer::timeout, this, [this] {
            refill();
            report();
        });
    }
    ~WindowsSoundOutput() override {
        timer_.setParent(nullptr);
        release();
    }

protected:
    void open(QIODevice* /*stream*/) override {
        if (waveOutGetNumDevs() == 0) {
            fail(SoundProblem::NoDevice, {});
            return;
        }
        const WAVEFORMATEX format = formatOf(kSoundRate, kSoundChannels);
        MMRESULT result = waveOutOpen(&device_, WAVE_MAPPER, &format, 0, 0, CALLBACK_NULL);
        if (result != MMSYSERR_NOERROR) {
            device_ = nullptr;
            fail(problemOf(result), reasonText(result));
            return;
        }
        given_ = 0;
        for (Buffer& buffer : buffers_) {
            buffer.reset(size_t{kSoundRate} * kWindowsBufferMs / 1000 * PcmStream::kFrameBytes);
            result = waveOutPrepareHeader(device_, &buffer.header, sizeof buffer.header);
            if (result != MMSYSERR_NOERROR || !give(buffer)) {
                if (isOpen()) {
                    fail(SoundProblem::CannotOpen, reasonText(result));
                }
                return;
            }
        }
        timer_.start();
    }

    void setSuspended(bool is_suspended) override {
        if (device_ != nullptr) {
            if (is_suspended) {
                waveOutPause(device_);
            } else {
                waveOutRestart(device_);
            }
        }
    }

    void close() override {
        timer_.stop();
        release();
    }

    [[nodiscard]] qint64 pendingFrames() const override {
        MMTIME time{};
        time.wType = TIME_SAMPLES;
        if (device_ == nullptr ||
            waveOutGetPosition(device_, &time, sizeof time) != MMSYSERR_NOERROR) {
            return 0;
        }
        // The device may count bytes instead. Its count has 32 bits; ours is compared in as many.
        const DWORD played =
            time.wType == TIME_BYTES ? time.u.cb / PcmStream::kFrameBytes : time.u.sample;
        return static_cast<DWORD>(given_) - played;
    }

private:
    void refill() {
        for (Buffer& buffer : buffers_) {
            if (device_ != nullptr && buffer.isDone() && !give(buffer)) {
                return;
            }
        }
    }

    /// Fills the buffer and hands it over. False, with the failure told, when the device refuses.
    bool give(Buffer& buffer) {
        const qint64 size = static_cast<qint64>(buffer.bytes.size());
        stream()->read(buffer.bytes.data(), size);
        given_ += size / PcmStream::kFrameBytes;
        const MMRESULT result = waveOutWrite(device_, &buffer.header, sizeof buffer.header);
        if (result != MMSYSERR_NOERROR) {
            fail(SoundProblem::Lost, reasonText(result));
            return false;
        }
        return true;
    }

    void release() {
        if (device_ == nullptr) {
            return;
        }
        waveOutReset(device_); // gives all buffers back
        for (Buffer& buffer : buffers_) {
            waveOutUnprepareHeader(device_, &buffer.header, sizeof buffer.header);
        }
        waveOutClose(device_);
        device_ = nullptr;
    }

    HWAVEOUT device_ = nullptr;
    std::array<Buffer, kBuffers> buffers_;
    qint64 given_ = 0; ///< Frames handed over since the device was opened.
    QTimer timer_;
};

class WindowsSoundInput : public SoundInput {
public:
    WindowsSoundInput() {
        timer_.setParent(this);
        timer_.setInterval(kLookMs);
        connect(&timer_, &QTimer::timeout, this, [this] { collect(); });
    }
    ~WindowsSoundInput() override {
        timer_.setParent(nullptr);
        release();
    }

protected:
    void open() override {
        if (waveInGetNumDevs() == 0) {
            fail(SoundProblem::NoDevice, {});
            return;
        }
        const WAVEFORMATEX format = formatOf(kRecordingRate, 1);
        MMRESULT result = waveInOpen(&device_, WAVE_MAPPER, &format, 0, 0, CALLBACK_NULL);
        if (result != MMSYSERR_NOERROR) {
            device_ = nullptr; // also what Windows answers where the user allows no microphone
            fail(problemOf(result), reasonText(result));
            return;
        }
        next_ = 0;
        for (Buffer& buffer : buffers_) {
            buffer.reset(size_t{kRecordingRate} * kWindowsBufferMs / 1000 * 2);
            result = waveInPrepareHeader(device_, &buffer.header, sizeof buffer.header);
            if (result == MMSYSERR_NOERROR) {
                result = waveInAddBuffer(device_, &buffer.header, sizeof buffer.header);
            }
            if (result != MMSYSERR_NOERROR) {
                break;
            }
        }
        if (result == MMSYSERR_NOERROR) {
            result = waveInStart(device_);
        }
        if (result != MMSYSERR_NOERROR) {
            fail(SoundProblem::CannotOpen, reasonText(result));
            return;
        }
        begin(kRecordingRate);
        timer_.start();
    }

    void close() override {
        timer_.stop();
        release();
    }

private:
    void collect() {
        while (device_ != nullptr && buffers_[static_cast<size_t>(next_)].isDone()) {
            Buffer& buffer = buffers_[static_cast<size_t>(next_)];
            next_ = (next_ + 1) % kBuffers;
            deliver(QByteArray(buffer.header.lpData,
                               static_cast<qsizetype>(buffer.header.dwBytesRecorded)));
            const MMRESULT result = waveInAddBuffer(device_, &buffer.header, sizeof buffer.header);
            if (result != MMSYSERR_NOERROR) {
                fail(SoundProblem::Lost, reasonText(result));
            }
        }
    }

    void release() {
        if (device_ == nullptr) {
            return;
        }
        waveInReset(device_);
        for (Buffer& buffer : buffers_) {
            waveInUnprepareHeader(device_, &buffer.header, sizeof buffer.header);
        }
        waveInClose(device_);
        device_ = nullptr;
    }

    HWAVEIN device_ = nullptr;
    std::array<Buffer, kBuffers> buffers_;
    int next_ = 0; ///< The buffer that is filled next.
    QTimer timer_;
};

class WindowsSoundDevices : public ThreadedSoundDevices {
protected:
    SoundOutput* makeOutput() override { return new WindowsSoundOutput; }
    SoundInput* makeInput() override { return new WindowsSoundInput; }
};

} // namespace

std::unique_ptr<SoundDevices> makeSoundDevices() {
    return std::make_unique<WindowsSoundDevices>();
}

} // namespace ui

#endif
