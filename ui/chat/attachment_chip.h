// SPDX-License-Identifier: Apache-2.0
// One file of the message that is being written: thumbnail or player, name, what it will cost and
// where, or why it cannot be used; removed with a button, Delete or Backspace. Of a recording that
// is longer than the model hears, the part that is used is chosen here; the file stays whole.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "ui/chat/chat_document.h"
#include "ui/media/sound_types.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QToolButton;

namespace ui {

class MediaCache;
class SoundCard;
class SoundPlayer;
class SoundRange;

class AttachmentChip : public QFrame {
    Q_OBJECT

public:
    AttachmentChip(const Attachment& attachment,
                   MediaCache* media,
                   SoundPlayer* player,
                   QWidget* parent = nullptr);

    [[nodiscard]] const Attachment& attachment() const { return attachment_; }
    /// What is asked of the engine: the file, or the chosen part of it.
    [[nodiscard]] engine::MessagePart part() const;
    /// Seconds of one clip that the model hears; 0 = not known.
    void setLongest(double seconds);
    void showCost(const engine::MediaCost& cost);
    void showError(const engine::Error& error);
    /// Nothing is known: no model is loaded that could tell.
    void showUnknown(const QString& reason);
    [[nodiscard]] bool hasError() const { return !error_.isEmpty(); }
    [[nodiscard]] QString error() const { return error_; }
    [[nodiscard]] bool hasCost() const { return has_cost_; }
    [[nodiscard]] const engine::MediaCost& cost() const { return cost_; }

Q_SIGNALS:
    void removeRequested();
    /// A picture is to be seen large.
    void activated();
    /// The part of a long recording that is used was changed: ask for the cost again.
    void attachmentChanged();
    /// What it shows may need another height.
    void heightChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void buildSound();
    void usePart(double start_s);
    void showPart();
    void showDetail();
    void describe();
    [[nodiscard]] bool isSound() const {
        return attachment_.kind == engine::MessagePart::Kind::Audio;
    }
    [[nodiscard]] SoundClip clip() const {
        return {attachment_.file, attachment_.cut_start_s, attachment_.cut_length_s};
    }

    Attachment attachment_;
    MediaCache* media_;
    SoundPlayer* player_;
    QLabel *name_, *detail_;
    QToolButton* remove_;
    // Sounds only:
    SoundCard* card_ = nullptr;
    SoundRange* range_ = nullptr;    ///< Shown once a part of a long recording is used.
    QWidget* choices_ = nullptr;     ///< What can be done with a recording that is too long.
    QPushButton* shorten_ = nullptr; ///< "Use the first 30 s"
    double longest_s_ = 30.0;
    double recording_s_ = 0.0; ///< Length of the whole recording; 0 = not known.
    engine::MediaCost cost_;
    bool has_cost_ = false;
    QString error_;
};

} // namespace ui
