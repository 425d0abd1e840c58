// SPDX-License-Identifier: Apache-2.0
// Plays the sounds of a chat, one at a time. Pieces of the recording are decoded on the thread pool
// shortly before they are heard; the loudspeaker's thread only copies samples. What is not possible
// is told as a sentence at the sound that it concerns, and nothing here waits.
#pragma once

#include "ui/media/sound_devices.h"
#include "ui/media/sound_types.h"

#include <QObject>
#include <QTimer>

#include <map>
#include <memory>
#include <set>

namespace ui {

class SoundPlayer : public QObject {
    Q_OBJECT

public:
    enum class State { Stopped = 1, Waiting, Playing, Paused };

    explicit SoundPlayer(QObject* parent = nullptr);
    ~SoundPlayer() override;

    void setDecoder(std::shared_ptr<const SoundDecoder> decoder) { decoder_ = std::move(decoder); }
    /// Other devices than the system's; what plays is stopped. Both null: a build without sound.
    void setDevices(std::unique_ptr<SoundDevices> devices);
    [[nodiscard]] SoundDevices* devices();

    /// Starts `clip` at its place, or pauses and resumes it when it is the current one.
    void toggle(const SoundClip& clip);
    /// Goes to a place, seconds from the start of the clip; whether it plays does not change. The
    /// clip becomes the current one.
    void seek(const SoundClip& clip, double seconds);
    void stop();
    /// Stops if the sound comes from none of these files: its message is gone.
    void keepOnly(const QStringList& files);
    /// The same recording lies elsewhere now.
    void moved(const QString& from, const QString& to);

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] const SoundClip& current() const { return clip_; }
    [[nodiscard]] bool isPlaying(const SoundClip& clip) const {
        return clip == clip_ && (state_ == State::Playing || state_ == State::Waiting);
    }
    /// Seconds from the start of the clip; 0 for another than the current one.
    [[nodiscard]] double position(const SoundClip& clip) const;
    /// Why `clip` could not be played, a translated sentence with the next step; empty if nothing
    /// is known against it.
    [[nodiscard]] QString problem(const SoundClip& clip) const {
        return clip == clip_ ? problem_ : QString();
    }

Q_SIGNALS:
    /// State, place or problem of the current clip, or another is current.
    void changed();
    void failed(const QString& file, const QString& reason);

private:
    void connectOutput();
    void choose(const SoundClip& clip);
    void start();
    void requestPart(int index);
    void takePart(quint64 ticket, int index, const std::shared_ptr<const SoundPart>& part);
    void showAdvanced(quint64 ticket, qint64 frame);
    void finish();
    void stopOutput();
    void fail(const QString& reason);
    void setState(State state);
    [[nodiscard]] static QString sentence(SoundProblem problem, const QString& detail);

    std::shared_ptr<const SoundDecoder> decoder_;
    std::unique_ptr<SoundDevices> devices_;
    bool is_connected_ = false;
    SoundClip clip_;
    State state_ = State::Stopped;
    double position_s_ = 0.0; ///< In the recording.
    quint64 ticket_ = 0;      ///< Number of the piece that is heard without a break.
    int wanted_part_ = -1;    ///< The sound starts when it is decoded; -1 = it runs.
    int last_part_ = -1;      ///< -1 = not known yet.
    bool can_resume_ = false; ///< Paused, and the device still holds what comes next.
    std::set<int> requested_;
    std::map<int, std::shared_ptr<const SoundPart>> parts_; ///< The last ones, by number.
    QString problem_;
    QTimer watchdog_; ///< Since the output gave a sign of life.
};

} // namespace ui
