// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/picture_view.h"

#include "ui/media/media_answers.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImageReader>
#include <QKeyEvent>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QStandardPaths>
#include <QThreadPool>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace ui {

namespace {

constexpr int kLargestSide = 8192; ///< Beyond it a picture is read smaller.

} // namespace

/// The picture alone, in the size that it is given.
class PictureCanvas : public QWidget {
public:
    void setPicture(const QImage& image) {
        picture_ = QPixmap::fromImage(image);
        update();
    }
    [[nodiscard]] const QPixmap& picture() const { return picture_; }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::SmoothPixmapTransform);
        painter.drawPixmap(rect(), picture_);
    }

private:
    QPixmap picture_;
};

PictureView::PictureView(const QString& file, const QString& name, QWidget* window)
    : QWidget(window), file_(file), name_(name), answers_(std::make_shared<MediaAnswers>()),
      before_(window->focusWidget()), facts_(new QLabel), zoom_(new QPushButton(this)),
      save_(new QPushButton(tr("Save…"), this)), close_(new QPushButton(this)),
      area_(new QScrollArea(this)), canvas_(new PictureCanvas) {
    setObjectName(QStringLiteral("pictureView"));
    setAccessibleName(tr("Picture: %1").arg(name));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* title = new ElidedLabel(name, this);
    title->setElideMode(Qt::ElideMiddle);
    setTextSize(title, 100, true);
    facts_->setObjectName(QStringLiteral("pictureFacts"));
    facts_->setText(tr("Reading …"));
    setTextRole(facts_, TextRole::Muted);
    zoom_->setObjectName(QStringLiteral("pictureZoom"));
    save_->setObjectName(QStringLiteral("pictureSave"));
    save_->setIcon(icon(QStringLiteral("download")));
    close_->setObjectName(QStringLiteral("pictureClose"));
    close_->setIcon(icon(QStringLiteral("close")));
    close_->setAccessibleName(tr("Close the picture"));
    close_->setToolTip(tr("Back to the chat (Esc)"));
    setIconButton(close_, 16, Theme::kControlHeight);
    setButtonKind(close_, ButtonKind::Flat);
    auto* row =
        rowIn(nullptr, {Theme::kPadding, Theme::kGap, Theme::kPadding, Theme::kGap}, Theme::kGap);
    row->addWidget(title, 1);
    row->addWidget(facts_);
    row->addWidget(zoom_);
    row->addWidget(save_);
    row->addWidget(close_);
    area_->setFrameShape(QFrame::NoFrame);
    area_->setAlignment(Qt::AlignCenter);
    area_->setFocusPolicy(Qt::NoFocus);
    area_->viewport()->setAutoFillBackground(false);
    area_->setWidget(canvas_);
    canvas_->setAutoFillBackground(false); // setWidget() switches it on
    canvas_->resize(0, 0);
    auto* column = columnIn(this, {0, 0, 0, 0}, 0);
    column->addLayout(row);
    column->addWidget(area_, 1);
    connect(zoom_, &QPushButton::clicked, this, [this] { setFitted(!is_fitted_); });
    connect(save_, &QPushButton::clicked, this, &PictureView::askWhereToSave);
    connect(close_, &QPushButton::clicked, this, &PictureView::leave);
    connect(
        answers_.get(), &MediaAnswers::thumbnailRead, this,
        [this](const QString& /*file*/, const QImage& image) { showPicture(image); },
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
    QThreadPool::globalInstance()->start([file, answers = answers_] {
        // A pipe or a device by the name of a picture would keep this thread for good.
        QImageReader reader(QFileInfo(file).isFile() ? file : QString());
        reader.setAutoTransform(true);
        const QSize size = reader.size();
        if (size.isValid() && std::max(size.width(), size.height()) > kLargestSide) {
            reader.setScaledSize(size.scaled(kLargestSide, kLargestSide, Qt::KeepAspectRatio));
        }
        Q_EMIT answers->thumbnailRead(file, reader.read(), true);
    });
    setGeometry(window->rect());
    setFitted(true);
    show();
    raise();
    close_->setFocus(Qt::PopupFocusReason);
}

QSize PictureView::shownSize() const {
    return canvas_->size();
}

void PictureView::showPicture(const QImage& image) {
    if (image.isNull()) {
        facts_->setText(tr("This picture cannot be read."));
        zoom_->setEnabled(false);
        return;
    }
    canvas_->setPicture(image);
    facts_->setText(tr("%1 × %2 pixels").arg(image.width()).arg(image.height()));
    arrange();
}

void PictureView::setFitted(bool is_fitted) {
    is_fitted_ = is_fitted;
    zoom_->setText(is_fitted ? tr("100 %") : tr("Fit"));
    zoom_->setAccessibleName(is_fitted ? tr("Show every pixel") : tr("Fit into the window"));
    zoom_->setToolTip(zoom_->accessibleName());
    arrange();
}

void PictureView::arrange() {
    const QPixmap& picture = canvas_->picture();
    if (picture.isNull()) {
        return;
    }
    layout()->activate();
    const QSize whole = picture.size() / devicePixelRatioF();
    const QSize room = area_->maximumViewportSize() - QSize(2 * Theme::kPadding, 0);
    const bool is_larger = whole.width() > room.width() || whole.height() > room.height();
    canvas_->resize(is_fitted_ && is_larger ? whole.scaled(room, Qt::KeepAspectRatio) : whole);
    zoom_->setEnabled(is_larger);
}

void PictureView::askWhereToSave() {
    auto* dialog = new QFileDialog(this, tr("Save the picture"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDirectory(QStandardPaths::writableLocation(QStandardPaths::PicturesLocation));
    dialog->selectFile(QFileInfo(name_).suffix().isEmpty()
                           ? name_ + QLatin1Char('.') + QFileInfo(file_).suffix()
                           : name_);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& to) {
        QThreadPool::globalInstance()->start([from = file_, to, answers = answers_] {
            // The dialog has asked whether to replace one that is there, which stays until the copy
            // is whole.
            const QString part = to + QStringLiteral(".part");
            bool is_done = QFileInfo(to) == QFileInfo(from);
            if (!is_done && QFile::copy(from, part)) {
                is_done = (!QFile::exists(to) || QFile::remove(to)) && QFile::rename(part, to);
                QFile::remove(part);
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
    return QWidget::eventFilter(watched, event);
}

void PictureView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        leave();
    }
    event->accept(); // what lies below gets no key
}

void PictureView::mousePressEvent(QMouseEvent* event) {
    const QPoint at = canvas_->mapFrom(this, event->position().toPoint());
    if (!canvas_->rect().contains(at)) {
        leave(); // beside the picture
    } else if (zoom_->isEnabled()) {
        setFitted(!is_fitted_);
    }
    event->accept();
}

bool PictureView::focusNextPrevChild(bool is_next) {
    const std::array<QPushButton*, 3> all = {zoom_, save_, close_};
    size_t at = 0;
    while (at < all.size() && !all[at]->hasFocus()) {
        ++at;
    }
    do {
        at = (at + (is_next ? 1 : all.size() - 1)) % all.size();
    } while (!all[at]->isEnabled());
    all[at]->setFocus(is_next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
}

void PictureView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void PictureView::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().window);
}

} // namespace ui
