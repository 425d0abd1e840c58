// SPDX-License-Identifier: Apache-2.0
// Pictures of the chat, large, over the whole window: one at a time, fitted or in any size, to look
// at closely, to copy and to save. Read on a thread pool, as everything that is a file.
#pragma once

#include <QPixmap>
#include <QPointer>
#include <QWidget>

#include <memory>
#include <vector>

class QLabel;
class QPushButton;

namespace ui {

class ElidedLabel;
class MediaAnswers;
class PictureCanvas;

struct ShownPicture {
    QString file, name;
};

class PictureView : public QWidget {
    Q_OBJECT

public:
    /// Over `window`, which owns it, until it is closed. `pictures` is not empty.
    PictureView(std::vector<ShownPicture> pictures, size_t index, QWidget* window);

    [[nodiscard]] bool isFitted() const;
    /// The picture as it is shown, in device-independent pixels; empty until it has been read.
    [[nodiscard]] QSizeF shownSize() const;
    [[nodiscard]] size_t index() const { return index_; }

public Q_SLOTS:
    void setFitted(bool is_fitted);
    /// The picture before (-1) or after (+1); nothing at either end.
    void step(int by);

protected:
    /// Among its own buttons: what lies below is not in use.
    bool focusNextPrevChild(bool is_next) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void buildBar();
    void read();
    void showPicture(const QString& file, const QImage& image);
    void showZoom();
    void copy();
    void askWhereToSave();
    void leave();
    /// A key that moves or scales the picture; false where it means something else.
    bool takeKey(const QKeyEvent* event);

    std::vector<ShownPicture> pictures_;
    size_t index_;
    std::shared_ptr<MediaAnswers> answers_; ///< Shared with the pool's work.
    QPointer<QWidget> before_;              ///< Had the focus.
    ElidedLabel* title_;
    QLabel *facts_, *zoom_;
    QPushButton *previous_ = nullptr, *next_ = nullptr, *smaller_ = nullptr, *larger_ = nullptr;
    QPushButton *fit_ = nullptr, *copy_ = nullptr, *save_ = nullptr, *close_ = nullptr;
    PictureCanvas* canvas_;
};

} // namespace ui
