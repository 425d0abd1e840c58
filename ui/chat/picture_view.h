// SPDX-License-Identifier: Apache-2.0
// A picture of the chat, large, over the whole window: fitted or pixel by pixel, to look at and to
// save. Read on a thread pool, as everything that is a file.
#pragma once

#include <QPixmap>
#include <QPointer>
#include <QWidget>

#include <memory>

class QLabel;
class QPushButton;
class QScrollArea;

namespace ui {

class ElidedLabel;
class MediaAnswers;
class PictureCanvas;

class PictureView : public QWidget {
    Q_OBJECT

public:
    /// Over `window`, which owns it, until it is closed.
    PictureView(const QString& file, const QString& name, QWidget* window);

    [[nodiscard]] bool isFitted() const { return is_fitted_; }
    /// The picture as it is shown, in device-independent pixels; empty until it has been read.
    [[nodiscard]] QSize shownSize() const;

public Q_SLOTS:
    void setFitted(bool is_fitted);

protected:
    /// Among its own buttons: what lies below is not in use.
    bool focusNextPrevChild(bool is_next) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void showPicture(const QImage& image);
    void askWhereToSave();
    void arrange();
    void leave();

    QString file_, name_;
    std::shared_ptr<MediaAnswers> answers_; ///< Shared with the pool's work.
    QPointer<QWidget> before_;              ///< Had the focus.
    QLabel* facts_;
    QPushButton* zoom_;
    QPushButton* save_;
    QPushButton* close_;
    QScrollArea* area_;
    PictureCanvas* canvas_;
    bool is_fitted_ = true;
};

} // namespace ui
