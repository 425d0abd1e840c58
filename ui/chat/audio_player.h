// SPDX-License-Identifier: Apache-2.0
// Plays the sounds of a chat through QtMultimedia when the program was built with it; without it
// isAvailable() is false and the window shows no player. One sound at a time.
#pragma once

#include <QObject>
#include <QString>

#include <memory>

namespace ui {

class AudioPlayer : public QObject {
    Q_OBJECT

public:
    explicit AudioPlayer(QObject* parent = nullptr);
    ~AudioPlayer() override;

    static bool isAvailable();
    /// Starts `file`, or pauses and resumes it when it is the one that plays.
    void toggle(const QString& file);
    void stop();
    [[nodiscard]] QString file() const { return file_; }
    [[nodiscard]] bool isPlaying() const;

Q_SIGNALS:
    /// 0 to 1; is_playing false when paused, finished or failed.
    void stateChanged(const QString& file, bool is_playing, double progress);
    void failed(const QString& file, const QString& reason);

private:
    struct Backend;
    std::unique_ptr<Backend> backend_;
    QString file_;
};

} // namespace ui
