// SPDX-License-Identifier: Apache-2.0
// Real loudspeaker and microphone on a thread of their own, since the sound system may let a call
// wait. What they are is the business of the file that knows the system's library.
#pragma once

#include "ui/media/sound_devices.h"

#include <memory>

class QThread;

namespace ui {

class ThreadedSoundDevices : public SoundDevices {
public:
    ~ThreadedSoundDevices() override;

    SoundOutput* output() override;
    SoundInput* input() override;

protected:
    /// Called once, at the first use, on the thread of the caller.
    virtual SoundOutput* makeOutput() = 0;
    virtual SoundInput* makeInput() = 0;

private:
    void prepare();

    QThread* thread_ = nullptr;
    SoundOutput* output_ = nullptr;
    SoundInput* input_ = nullptr;
};

} // namespace ui
