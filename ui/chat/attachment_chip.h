// SPDX-License-Identifier: Apache-2.0
// One file of the message that is being written: thumbnail, name, what it will cost and where, or
// why it cannot be used; removed with a button, Delete or Backspace.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "ui/chat/chat_document.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QToolButton;

namespace ui {

class MediaCache;

class AttachmentChip : public QFrame {
    Q_OBJECT

public:
    AttachmentChip(const Attachment& attachment, MediaCache* media, QWidget* parent = nullptr);

    [[nodiscard]] const Attachment& attachment() const { return attachment_; }
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
    void playRequested(const QString& file);
    /// The part of a long recording that is used was changed: ask for the cost again.
    void attachmentChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void describe();
    Attachment attachment_;
    MediaCache* media_;
    QLabel *name_, *detail_;
    QPushButton* shorten_; ///< "Use the first 30 s"; shown when the recording is too long.
    QToolButton *play_, *remove_;
    engine::MediaCost cost_;
    bool has_cost_ = false;
    QString error_;
};

} // namespace ui
