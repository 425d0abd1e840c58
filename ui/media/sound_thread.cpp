// SPDX-License-Identifier: Apache-2.0
#include "ui/media/sound_thread.h"

#include <QThread>

namespace ui {

namespace {

constexpr int kGoodbyeMs = 500; ///< At the end of the program a stuck sound system is left behind.

} // namespace

ThreadedSoundDevices::~ThreadedSoundDevices() {
    if (thread_ == nullptr) {
        return;
    }
    thread_->quit();
    if (thread_->wait(kGoodbyeMs)) {
        delete output_;
        delete input_;
        delete thread_;
    } // else the sound system does not answer: what hangs in it is left to the system
}

SoundOutput* ThreadedSoundDevices::output() {
    prepare();
    return output_;
}

SoundInput* ThreadedSoundDevices::input() {
    prepare();
    return input_;
}

void ThreadedSoundDevices::prepare() {
    if (thread_ != nullptr) {
        return;
    }
    qRegisterMetaType<SoundProblem>("ui::SoundProblem");
    thread_ = new QThread;
    thread_->setObjectName(QStringLiteral("sound"));
    output_ = makeOutput();
    input_ = makeInput();
    output_->moveToThread(thread_);
    input_->moveToThread(thread_);
    SoundOutput* output = output_;
    SoundInput* input = input_;
    // On their own thread, before it ends.
    QObject::connect(
        thread_, &QThread::finished, output, [output] { output->stop(); }, Qt::DirectConnection);
    QObject::connect(
        thread_, &QThread::finished, input, [input] { input->stop(); }, Qt::DirectConnection);
    thread_->start();
}

} // namespace ui
