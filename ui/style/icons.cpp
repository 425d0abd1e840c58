// SPDX-License-Identifier: Apache-2.0
// Icons from resources/icons: 24 x 24 SVG that draws with stroke or fill "currentColor". The colour
// is put in when the icon is painted, so one file serves both themes and every state.
#include "ui/style/icon_drawing.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>

static void initIconResources() {
    Q_INIT_RESOURCE(belfry_icons);
}

namespace ui {

namespace {

/// The file's text, read once; empty when there is no such icon.
const QByteArray& svgText(const QString& name) {
    static QHash<QString, QByteArray> cache = [] {
        initIconResources();
        return QHash<QString, QByteArray>();
    }();
    auto found = cache.find(name);
    if (found == cache.end()) {
        QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
        found = cache.insert(name, file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray());
    }
    return *found;
}

QPixmap render(const QString& name, const QSize& pixels, const QColor& color) {
    const QString key = QStringLiteral("belfry-icon-%1-%2x%3-%4")
                            .arg(name)
                            .arg(pixels.width())
                            .arg(pixels.height())
                            .arg(color.rgba(), 0, 16);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap)) {
        return pixmap;
    }
    pixmap = QPixmap(pixels);
    pixmap.fill(Qt::transparent);
    const QByteArray& text = svgText(name);
    if (!text.isEmpty()) {
        QPainter painter(&pixmap);
        painter.setOpacity(color.alphaF());
        drawIcon(&painter, text, QColor(color.rgb()), QRectF(QPointF(0, 0), QSizeF(pixels)));
    }
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

class ThemedIconEngine : public QIconEngine {
public:
    explicit ThemedIconEngine(QString name) : name_(std::move(name)) {}

    void
    paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        const qreal ratio = painter->device()->devicePixelRatioF();
        QPixmap drawn = pixmap(rect.size() * ratio, mode, state);
        drawn.setDevicePixelRatio(ratio);
        painter->drawPixmap(rect, drawn);
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        const Theme& theme = Theme::current();
        QColor color = theme.text;
        if (mode == QIcon::Disabled) {
            color = theme.text_disabled;
        } else if (state == QIcon::On) {
            color = theme.accent;
        }
        return render(name_, size, color);
    }
    [[nodiscard]] QIconEngine* clone() const override { return new ThemedIconEngine(name_); }
    [[nodiscard]] QString key() const override { return QStringLiteral("belfry"); }
    QString iconName() override { return name_; }
    bool isNull() override { return svgText(name_).isEmpty(); }

private:
    QString name_;
};

} // namespace

QIcon icon(const QString& name) {
    return QIcon(new ThemedIconEngine(name));
}

QPixmap iconPixmap(const QString& name, int size, const QColor& color, qreal device_pixel_ratio) {
    const int pixels = qRound(size * device_pixel_ratio);
    QPixmap pixmap = render(name, QSize(pixels, pixels), color);
    pixmap.setDevicePixelRatio(device_pixel_ratio);
    return pixmap;
}

} // namespace ui
