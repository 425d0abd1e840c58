// SPDX-License-Identifier: Apache-2.0
#include "ui/style/title_bar.h"

#include "ui/style/theme.h"

#include <QApplication>

#ifdef Q_OS_WIN
#include <QEvent>
#include <QWidget>

#include <dwmapi.h>
#include <windows.h>
#endif

namespace ui {

#ifdef Q_OS_WIN

namespace {

void paintTitleBar(const QWidget& window) {
    constexpr DWORD kUseDarkMode = 20; // DWMWA_USE_IMMERSIVE_DARK_MODE, newer than the headers
    const BOOL is_dark = Theme::current().is_dark ? TRUE : FALSE;
    // An older Windows refuses, and has light ones.
    (void)DwmSetWindowAttribute(reinterpret_cast<HWND>(window.internalWinId()), kUseDarkMode,
                                &is_dark, sizeof(is_dark));
}

class TitleBars : public QObject {
public:
    explicit TitleBars(QApplication* application) : QObject(application) {
        application->installEventFilter(this);
        connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, [] {
            const QWidgetList windows = QApplication::topLevelWidgets();
            for (const QWidget* window : windows) {
                if (window->internalWinId() != 0) { // it has been shown
                    paintTitleBar(*window);
                }
            }
        });
    }

    bool eventFilter(QObject* object, QEvent* event) override {
        const auto* const window = event->type() == QEvent::Show && object->isWidgetType()
                                       ? static_cast<QWidget*>(object)
                                       : nullptr;
        if (window != nullptr && window->isWindow() && window->internalWinId() != 0) {
            paintTitleBar(*window);
        }
        return false;
    }
};

} // namespace

void followThemeInTitleBars(QApplication& application) {
    if (QGuiApplication::platformName() == QStringLiteral("windows")) {
        new TitleBars(&application); // the application's child
    }
}

#else

void followThemeInTitleBars(QApplication& /*application*/) {}

#endif

} // namespace ui
