// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/picture_view.h"

#include "ui/media/media_answers.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAccessible>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QImageReader>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QSaveFile>
#include <QStandardPaths>
#include <QThreadPool>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace ui {

namespace {

constexpr int kLargestSide = 8192; ///< Beyond it a picture is read smaller.
constexpr double kStep = 1.25;     ///< A key or a notch of the wheel zooms by this.
constexpr double kLargestZoom = 16.0;

} // namespace

/// The picture alone, around a point of it, in the size that the hand gives it.
class PictureCanvas : public QWidget {
public:
    explicit PictureCanvas(PictureView* view,
                           std::function<void()> changed,
                           std::function<void()> missed)
        : QWidget(view), changed_(std::move(changed)), missed_(std::move(missed)) {}

    void setPicture(const QImage& image) {
        picture_ = QPixmap::fromImage(image);
        picture_.setDevicePixelRatio(1.0);
        is_fitted_ = true;
        arrange();
    }
    [[nodiscard]] const QPixmap& picture() const { return picture_; }
    [[nodiscard]] bool isFitted() const { return is_fitted_; }
    /// Pixels of the screen for one of the picture.
    [[nodiscard]] double zoom() const { return zoom_; }
    [[nodiscard]] QSizeF shownSize() const {
        return QSizeF(picture_.size()) * zoom_ / devicePixelRatioF();
    }
    [[nodiscard]] bool isLarger() const {
        return shownSize().width() > width() + 0.5 || shownSize().height() > height() + 0.5;
    }
    void fit() {
        is_fitted_ = true;
        arrange();
    }
    /// What is at `anchor` stays there.
    void zoomTo(double zoom, const QPointF& anchor) {
        if (picture_.isNull()) {
            return;
        }
        const QPointF from_middle = anchor - QRectF(rect()).center();
        const double ratio = devicePixelRatioF();
        const QPointF fixed = middle_ + from_middle * ratio / zoom_;
        is_fitted_ = false;
        zoom_ = std::clamp(zoom, std::min(fitZoom(), 1.0) / 4.0, kLargestZoom);
        middle_ = fixed - from_middle * ratio / zoom_;
        arrange();
    }
    void zoomTo(double zoom) { zoomTo(zoom, QRectF(rect()).center()); }
    /// By device-independent pixels.
    void pan(const QPointF& by) {
        middle_ -= by * devicePixelRatioF() / zoom_;
        arrange();
    }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        QPainter painter(this);
        // Far beyond its size a picture shows its pixels as they are.
        painter.setRenderHint(QPainter::SmoothPixmapTransform, zoom_ < 4.0);
        painter.drawPixmap(shown(), picture_, QRectF(picture_.rect()));
    }
    void resizeEvent(QResizeEvent* /*event*/) override { arrange(); }
    void wheelEvent(QWheelEvent* event) override {
        zoomTo(zoom_ * std::pow(kStep, event->angleDelta().y() / 120.0), event->position());
        event->accept();
    }
    void mousePressEvent(QMouseEvent* event) override {
        pressed_ = last_ = event->position();
        event->accept();
    }
    void mouseMoveEvent(QMouseEvent* event) override {
        if ((event->buttons() & Qt::LeftButton) != 0 && isLarger()) {
            setCursor(Qt::ClosedHandCursor);
            pan(event->position() - last_);
            last_ = event->position();
        }
    }
    void mouseReleaseEvent(QMouseEvent* event) override {
        event->accept();
        arrange();
        if ((event->position() - pressed_).manhattanLength() >= 4.0) {
            return;
        }
        if (!shown().contains(event->position())) {
            missed_(); // the last act: it closes the view
        } else if (!is_fitted_) {
            fit();
        } else if (isReduced()) {
            zoomTo(1.0, event->position());
        }
    }

private:
    [[nodiscard]] double fitZoom() const {
        const QSizeF room = QSizeF(size()) * devicePixelRatioF();
        return picture_.isNull() ? 1.0
                                 : std::min({room.width() / picture_.width(),
                                             room.height() / picture_.height(), 1.0});
    }
    [[nodiscard]] bool isReduced() const { return fitZoom() < 1.0; }
    [[nodiscard]] QRectF shown() const {
        const QSizeF size = shownSize();
        const double scale = zoom_ / devicePixelRatioF();
        return {QRectF(rect()).center() - middle_ * scale, size};
    }
    void arrange() {
        if (picture_.isNull()) {
            return;
        }
        if (is_fitted_) {
            zoom_ = fitZoom();
        }
        // No edge comes inside of the window as long as the picture is larger than that.
        const auto hold = [&](double at, double whole, double room) {
            const double half = room * devicePixelRatioF() / zoom_ / 2.0;
            return whole <= 2.0 * half ? whole / 2.0 : std::clamp(at, half, whole - half);
        };
        middle_ = {hold(middle_.x(), picture_.width(), width()),
                   hold(middle_.y(), picture_.height(), height())};
        setCursor(isLarger()                  ? Qt::OpenHandCursor
                  : is_fitted_ && isReduced() ? Qt::PointingHandCursor
                                              : Qt::ArrowCursor);
        update();
        changed_();
    }

    std::function<void()> changed_, missed_;
    QPixmap picture_;
    QPointF middle_; ///< Pixel of the picture in the middle of the canvas.
    QPointF pressed_, last_;
    double zoom_ = 1.0;
    bool is_fitted_ = true;
};

PictureView::PictureView(std::vector<ShownPicture> pictures, size_t index, QWidget* window)
    : QWidget(window), pictures_(std::move(pictures)), index_(index),
      answers_(std::make_shared<MediaAnswers>()), before_(window->focusWidget()),
      title_(new ElidedLabel(QString(), this)), facts_(named("pictureFacts", new QLabel(this))),
      zoom_(named("pictureZoom", new QLabel(this))),
      canvas_(new PictureCanvas(
          this, [this] { showZoom(); }, [this] { leave(); })) {
    setObjectName(QStringLiteral("pictureView"));
    setAttribute(Qt::WA_OpaquePaintEvent); // what streams below it paints nothing here
    setAttribute(Qt::WA_DeleteOnClose);
    setFocusPolicy(Qt::StrongFocus);
    buildBar();
    layout()->addWidget(canvas_);
    qobject_cast<QVBoxLayout*>(layout())->setStretchFactor(canvas_, 1);
    connect(
        answers_.get(), &MediaAnswers::thumbnailRead, this,
        [this](const QString& file, const QImage& image) { showPicture(file, image); },
        Qt::QueuedConnection);
    connect(
        answers_.get(), &MediaAnswers::copied, this,
        [this](const QString& to, bool is_done) {
            facts_->setText(is_done ? tr("Saved") : tr("Could not be saved"));
            facts_->setToolTip(toolTipText(QDir::toNativeSeparators(to)));
            setTextRole(facts_, is_done ? TextRole::Muted : TextRole::Danger);
        },
        Qt::QueuedConnection);
    window->installEventFilter(this);
    setGeometry(window->rect());
    read();
    show();
    raise();
    setFocus(Qt::PopupFocusReason);
}

void PictureView::buildBar() {
    title_->setElideMode(Qt::ElideMiddle);
    setTextSize(title_, 100, true);
    setTextRole(facts_, TextRole::Muted);
    setTextRole(zoom_, TextRole::Muted);
    zoom_->setAlignment(Qt::AlignCenter);
    zoom_->setMinimumWidth(zoom_->fontMetrics().horizontalAdvance(QStringLiteral("1600 %")));
    auto* column = columnIn(this, {0, 0, 0, 0}, 0);
    auto* row =
        rowIn(nullptr, {Theme::kPadding, Theme::kGap, Theme::kPadding, Theme::kGap}, Theme::kGap);
    column->addLayout(row);
    const auto flat = [&](const char* name, const char* symbol, const QString& words,
                          const QString& tip) {
        auto* button = named(name, new QPushButton(this));
        button->setIcon(icon(QString::fromLatin1(symbol)));
        button->setAccessibleName(words);
        button->setToolTip(tip);
        setIconButton(button, 16, Theme::kControlHeight);
        setButtonKind(button, ButtonKind::Flat);
        return button;
    };
    previous_ = flat("picturePrevious", "chevron-left", tr("Previous picture"),
                     tr("Previous picture of the chat (Page up)"));
    next_ = flat("pictureNext", "chevron-right", tr("Next picture"),
                 tr("Next picture of the chat (Page down)"));
    smaller_ = flat("pictureSmaller", "minus", tr("Smaller"), tr("Smaller (−)"));
    larger_ = flat("pictureLarger", "plus", tr("Larger"), tr("Larger (+, or the wheel)"));
    close_ = flat("pictureClose", "close", tr("Close the picture"), tr("Back to the chat (Esc)"));
    fit_ = pushButton("pictureFit", tr("Actual size"), this);
    copy_ = pushButton("pictureCopy", tr("Copy"), this, "copy");
    save_ = pushButton("pictureSave", tr("Save…"), this, "download");
    copy_->setToolTip(
        tr("Copy the picture (%1)")
            .arg(QKeySequence(QKeySequence::Copy).toString(QKeySequence::NativeText)));
    save_->setToolTip(
        tr("Save the picture (%1)")
            .arg(QKeySequence(QKeySequence::Save).toString(QKeySequence::NativeText)));
    row->addWidget(previous_);
    row->addWidget(next_);
    row->addWidget(title_, 1);
    row->addWidget(facts_);
    for (QWidget* part :
         std::initializer_list<QWidget*>{smaller_, zoom_, larger_, fit_, copy_, save_, close_}) {
        row->addWidget(part);
    }
    for (QPushButton* button : {previous_, next_, smaller_, larger_, fit_, copy_, save_, close_}) {
        button->installEventFilter(this);
    }
    connect(previous_, &QPushButton::clicked, this, [this] { step(-1); });
    connect(next_, &QPushButton::clicked, this, [this] { step(1); });
    connect(smaller_, &QPushButton::clicked, this,
            [this] { canvas_->zoomTo(canvas_->zoom() / kStep); });
    connect(larger_, &QPushButton::clicked, this,
            [this] { canvas_->zoomTo(canvas_->zoom() * kStep); });
    connect(fit_, &QPushButton::clicked, this, [this] { setFitted(!isFitted()); });
    connect(copy_, &QPushButton::clicked, this, &PictureView::copy);
    connect(save_, &QPushButton::clicked, this, &PictureView::askWhereToSave);
    connect(close_, &QPushButton::clicked, this, &PictureView::leave);
}

void PictureView::read() {
    const auto& [file, name] = pictures_[index_];
    const int count = static_cast<int>(pictures_.size());
    const int number = static_cast<int>(index_) + 1;
    title_->setText(count > 1 ? tr("%1 (%2 of %3)").arg(name).arg(number).arg(count) : name);
    setAccessibleName(tr("Picture: %1").arg(title_->text()));
    facts_->setText(tr("Reading …"));
    facts_->setToolTip({});
    setTextRole(facts_, TextRole::Muted);
    previous_->setVisible(count > 1);
    next_->setVisible(count > 1);
    previous_->setEnabled(index_ > 0);
    next_->setEnabled(index_ + 1 < pictures_.size());
    canvas_->setPicture({});
    showZoom();
    QThreadPool::globalInstance()->start([file = file, answers = answers_] {
        // A pipe or a device by the name of a picture would keep this thread for good.
        QImageReader reader(QFileInfo(file).isFile() ? file : QString());
        reader.setAutoTransform(true);
        const QSize size = reader.size();
        if (size.isValid() && std::max(size.width(), size.height()) > kLargestSide) {
            reader.setScaledSize(size.scaled(kLargestSide, kLargestSide, Qt::KeepAspectRatio));
        }
        // As it is drawn, so that the window's thread has nothing to convert.
        const QImage image = reader.read();
        Q_EMIT answers->thumbnailRead(
            file,
            image.isNull() ? image : image.convertToFormat(QImage::Format_ARGB32_Premultiplied),
            true);
    });
}

bool PictureView::isFitted() const {
    return canvas_->isFitted();
}

QSizeF PictureView::shownSize() const {
    return canvas_->shownSize();
}

void PictureView::showPicture(const QString& file, const QImage& image) {
    if (file != pictures_[index_].file) {
        return; // another one is shown by now
    }
    if (image.isNull()) {
        facts_->setText(tr("This picture cannot be read."));
        return;
    }
    facts_->setText(tr("%1 × %2 pixels").arg(image.width()).arg(image.height()));
    canvas_->setPicture(image);
    QAccessibleEvent changed(this, QAccessible::NameChanged);
    QAccessible::updateAccessibility(&changed);
}

void PictureView::step(int by) {
    const auto to = static_cast<qint64>(index_) + by;
    if (to >= 0 && to < static_cast<qint64>(pictures_.size())) {
        index_ = static_cast<size_t>(to);
        read();
    }
}

void PictureView::setFitted(bool is_fitted) {
    if (is_fitted) {
        canvas_->fit();
    } else {
        canvas_->zoomTo(1.0);
    }
}

void PictureView::showZoom() {
    const bool has_picture = !canvas_->picture().isNull();
    zoom_->setText(has_picture ? tr("%1 %").arg(QLocale().toString(
                                     static_cast<int>(std::lround(canvas_->zoom() * 100.0))))
                               : QString());
    for (QPushButton* button : {smaller_, larger_, copy_}) {
        button->setEnabled(has_picture);
    }
    fit_->setEnabled(has_picture && !(isFitted() && canvas_->zoom() == 1.0));
    fit_->setText(isFitted() ? tr("Actual size") : tr("Fit"));
    fit_->setAccessibleName(isFitted() ? tr("Show every pixel") : tr("Fit into the window"));
    fit_->setToolTip(isFitted() ? tr("Show every pixel (1)") : tr("Fit into the window (0)"));
}

void PictureView::copy() {
    if (!canvas_->picture().isNull()) {
        QGuiApplication::clipboard()->setPixmap(canvas_->picture());
        facts_->setText(tr("Copied"));
    }
}

void PictureView::askWhereToSave() {
    const auto& [file, name] = pictures_[index_];
    auto* dialog = new QFileDialog(this, tr("Save the picture"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDirectory(QStandardPaths::writableLocation(QStandardPaths::PicturesLocation));
    dialog->selectFile(QFileInfo(name).suffix().isEmpty()
                           ? name + QLatin1Char('.') + QFileInfo(file).suffix()
                           : name);
    connect(dialog, &QFileDialog::fileSelected, this, [this, file = file](const QString& to) {
        QThreadPool::globalInstance()->start([from = file, to, answers = answers_] {
            // The dialog has asked whether to replace one that is there, which stays until the copy
            // is whole.
            bool is_done = QFileInfo(to) == QFileInfo(from);
            QFile source(from);
            QSaveFile target(to);
            if (!is_done && source.open(QIODevice::ReadOnly) && target.open(QIODevice::WriteOnly)) {
                constexpr qint64 kPiece = qint64{1} << 20;
                while (!source.atEnd() && target.write(source.read(kPiece)) > 0) {
                }
                is_done =
                    source.atEnd() && source.error() == QFileDevice::NoError && target.commit();
            }
            Q_EMIT answers->copied(to, is_done);
        });
    });
    dialog->open();
}

void PictureView::leave() {
    if (before_ != nullptr) {
        before_->setFocus(Qt::PopupFocusReason);
    }
    close();
}

bool PictureView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() && event->type() == QEvent::Resize) {
        setGeometry(parentWidget()->rect());
    }
    // Buttons would give the arrows to their neighbours.
    if (watched != parentWidget() && event->type() == QEvent::KeyPress) {
        return takeKey(static_cast<QKeyEvent*>(event));
    }
    return QWidget::eventFilter(watched, event);
}

bool PictureView::takeKey(const QKeyEvent* event) {
    const double pace = 60.0;
    const bool moves = canvas_->isLarger();
    switch (event->key()) {
    case Qt::Key_Escape:
        leave();
        return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        canvas_->zoomTo(canvas_->zoom() * kStep);
        return true;
    case Qt::Key_Minus:
        canvas_->zoomTo(canvas_->zoom() / kStep);
        return true;
    case Qt::Key_0:
        setFitted(true);
        return true;
    case Qt::Key_1:
        setFitted(false);
        return true;
    case Qt::Key_PageUp:
        step(-1);
        return true;
    case Qt::Key_PageDown:
        step(1);
        return true;
    case Qt::Key_Left:
        moves ? canvas_->pan({pace, 0.0}) : step(-1);
        return true;
    case Qt::Key_Right:
        moves ? canvas_->pan({-pace, 0.0}) : step(1);
        return true;
    case Qt::Key_Up:
        canvas_->pan({0.0, pace});
        return true;
    case Qt::Key_Down:
        canvas_->pan({0.0, -pace});
        return true;
    default:
        return false;
    }
}

void PictureView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        copy();
    } else if (event->matches(QKeySequence::Save)) {
        askWhereToSave();
    } else {
        (void)takeKey(event);
    }
    event->accept(); // what lies below gets no key
}

bool PictureView::focusNextPrevChild(bool is_next) {
    const std::array<QPushButton*, 8> all = {previous_, next_, smaller_, larger_,
                                             fit_,      copy_, save_,    close_};
    size_t at = 0;
    while (at < all.size() && !all[at]->hasFocus()) {
        ++at;
    }
    do {
        at = (at + (is_next ? 1 : all.size() - 1)) % all.size();
    } while (!all[at]->isEnabled() || all[at]->isHidden());
    all[at]->setFocus(is_next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
}

void PictureView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    // The numbers go first where there is little room.
    facts_->setVisible(width() >= 40 * fontMetrics().averageCharWidth() + 480);
}

void PictureView::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().window);
}

} // namespace ui
