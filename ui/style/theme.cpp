// SPDX-License-Identifier: Apache-2.0
#include "ui/style/theme.h"

#include "ui/style/belfry_style.h"
#include "ui/style/title_bar.h"

#include <QAbstractButton>
#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QPalette>
#include <QPointer>
#include <QStyleHints>
#include <QWidget>

#include <algorithm>

#ifdef Q_OS_WIN
#include <windows.h>
#endif

namespace ui {

namespace {

constexpr const char* kKindProperty = "belfryKind";
constexpr const char* kTextPercentProperty = "belfryTextPercent";
constexpr const char* kTextBoldProperty = "belfryTextBold";
constexpr const char* kIconSizeProperty = "belfryIconSize";
constexpr const char* kIconSideProperty = "belfryIconSide";

Theme makeDark() {
    Theme t;
    t.is_dark = true;
    t.window = QColor(0x14161a);
    t.surface = QColor(0x1b1e25);
    t.raised = QColor(0x242831);
    t.border = QColor(0x323743);
    t.text = QColor(0xe9ebf0);
    t.text_muted = QColor(0xa1a8b5);
    t.text_disabled = QColor(0x6b7280);
    t.accent = QColor(0x6ea8ff);
    t.on_accent = QColor(0x0b1526);
    t.selection = QColor(0x2a4268);
    t.hover = QColor(255, 255, 255, 16);
    t.danger = QColor(0xf0805f);
    t.warning = QColor(0xe6aa46);
    t.success = QColor(0x4ac18b);
    t.found = QColor(0x594610);
    t.found_current = QColor(0xf2b52c);
    t.on_found_current = QColor(0x14161a);
    t.code_background = QColor(0x191c22);
    t.code_keyword = QColor(0xcb9df2);
    t.code_type = QColor(0x6cc7dd);
    t.code_string = QColor(0x9ccf84);
    t.code_comment = QColor(0x8b93a3);
    t.code_number = QColor(0xe8ab6c);
    t.code_removed = QColor(0xf28f86);
    t.code_meta = QColor(0x8ab8ff);
    t.part_layers = QColor(0x5f97ff);
    t.part_experts = QColor(0xa97df5);
    t.part_vision = QColor(0x2fc0c8);
    t.part_audio = QColor(0xe873c4);
    t.part_ple = QColor(0xa9cc45);
    t.part_head = QColor(0xff7f8c);
    t.part_kv = QColor(0x4fc97f);
    t.part_adapter = QColor(0xf0a53a);
    t.part_rest = QColor(0x8b93a3);
    t.part_workspace = QColor(0xb4bccb);
    t.part_context = QColor(0xd5dae3);
    t.part_other = QColor(0x767e8d);
    return t;
}

Theme makeLight() {
    Theme t;
    t.is_dark = false;
    t.window = QColor(0xf3f4f7);
    t.surface = QColor(0xffffff);
    t.raised = QColor(0xf0f1f5);
    t.border = QColor(0xd8dbe3);
    t.text = QColor(0x1a1d23);
    t.text_muted = QColor(0x5b6371);
    t.text_disabled = QColor(0x9aa1ad);
    t.accent = QColor(0x2b66dd);
    t.on_accent = QColor(0xffffff);
    t.selection = QColor(0xcfe0ff);
    t.hover = QColor(0, 0, 0, 12);
    t.danger = QColor(0xbd4a22);
    t.warning = QColor(0x9a6400);
    t.success = QColor(0x1b7f52);
    t.found = QColor(0xffe795);
    t.found_current = QColor(0xff9f2e);
    t.on_found_current = QColor(0x1a1d23);
    t.code_background = QColor(0xf0f1f5);
    t.code_keyword = QColor(0x842bb0);
    t.code_type = QColor(0x0a6284);
    t.code_string = QColor(0x1d6a36);
    t.code_comment = QColor(0x5f6674);
    t.code_number = QColor(0x9a4300);
    t.code_removed = QColor(0xb3261e);
    t.code_meta = QColor(0x2456c0);
    t.part_layers = QColor(0x2f6fe4);
    t.part_experts = QColor(0x7a3fd0);
    t.part_vision = QColor(0x0a8793);
    t.part_audio = QColor(0xc03a9c);
    t.part_ple = QColor(0x5d8700);
    t.part_head = QColor(0xd23a55);
    t.part_kv = QColor(0x1d8a4c);
    t.part_adapter = QColor(0xb07500);
    t.part_rest = QColor(0x7a8292);
    t.part_workspace = QColor(0x5a6478);
    t.part_context = QColor(0x3f4654);
    t.part_other = QColor(0x7d8591);
    return t;
}

/// State of the theme: one per program, touched by the GUI thread only.
struct State {
    const Theme* theme = &Theme::light();
    ThemeChoice choice = ThemeChoice::System;
    QPointer<QApplication> application;
    QPalette system_palette;
    QFont base_font;
    int zoom = 100;
};

State& state() {
    static State instance;
    return instance;
}

QPalette makePalette(const Theme& t) {
    QPalette p;
    const auto set = [&p](QPalette::ColorRole role, const QColor& color) {
        p.setColor(QPalette::All, role, color);
    };
    set(QPalette::Window, t.window);
    set(QPalette::Base, t.surface);
    set(QPalette::AlternateBase, t.raised);
    set(QPalette::Button, t.raised);
    set(QPalette::WindowText, t.text);
    set(QPalette::Text, t.text);
    set(QPalette::ButtonText, t.text);
    set(QPalette::PlaceholderText, t.text_muted);
    set(QPalette::BrightText, t.danger);
    set(QPalette::Link, t.accent);
    set(QPalette::LinkVisited, t.success);
    set(QPalette::Highlight, t.selection);
    set(QPalette::HighlightedText, t.text);
    set(QPalette::ToolTipBase, t.raised);
    set(QPalette::ToolTipText, t.text);
    set(QPalette::Light, t.raised);
    set(QPalette::Midlight, t.raised);
    set(QPalette::Mid, t.border);
    set(QPalette::Dark, t.border);
    set(QPalette::Shadow, t.border);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        p.setColor(QPalette::Disabled, role, t.text_disabled);
    }
    return p;
}

bool isSystemDark() {
#ifdef Q_OS_WIN
    // Before 6.5 Qt keeps this from programs with a style of their own.
    DWORD is_light = 1;
    DWORD size = sizeof(is_light);
    const LSTATUS status = RegGetValueW(
        HKEY_CURRENT_USER, L"Software\\Microsoft\\Windows\\CurrentVersion\\Themes\\Personalize",
        L"AppsUseLightTheme", RRF_RT_REG_DWORD, nullptr, &is_light, &size);
    if (status == ERROR_SUCCESS) {
        return is_light == 0;
    }
#endif
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    if (QGuiApplication::styleHints()->colorScheme() != Qt::ColorScheme::Unknown) {
        return QGuiApplication::styleHints()->colorScheme() == Qt::ColorScheme::Dark;
    }
#endif
    const QPalette& palette = state().system_palette;
    return palette.color(QPalette::WindowText).lightness() >
           palette.color(QPalette::Window).lightness();
}

void update() {
    State& s = state();
    const bool is_dark =
        s.choice == ThemeChoice::Dark || (s.choice == ThemeChoice::System && isSystemDark());
    s.theme = is_dark ? &Theme::dark() : &Theme::light();
    QApplication::setPalette(makePalette(*s.theme));
    const QWidgetList widgets = QApplication::allWidgets();
    for (QWidget* widget : widgets) {
        widget->update();
    }
    Q_EMIT ThemeNotifier::instance().changed();
}

/// Hears the desktop change between light and dark. Qt 6.4 tells only through the palette.
class SystemWatcher : public QObject {
public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override {
        // Sent to every window when the platform's theme changes, not by our own setPalette().
        if (event->type() == QEvent::ThemeChange && watched->isWindowType()) {
            QApplication::setPalette(QPalette());
            state().system_palette = QApplication::palette();
            update();
        }
        return false;
    }
};

/// Families in order: the desktop's own, then ours for scripts it lacks, then emoji.
void applyFont() {
    State& s = state();
    QFont font = s.base_font;
    QStringList families = font.families();
    if (families.isEmpty()) {
        families = QStringList{font.family()};
    }
    for (const QString& family : {QStringLiteral("Noto Sans"), QStringLiteral("Noto Sans Math"),
                                  QStringLiteral("Noto Color Emoji")}) {
        if (!families.contains(family)) {
            families.append(family);
        }
    }
    font.setFamilies(families);
    if (font.pointSizeF() > 0) {
        font.setPointSizeF(font.pointSizeF() * s.zoom / 100.0);
    } else {
        font.setPixelSize(std::max(1, font.pixelSize() * s.zoom / 100));
    }
    QApplication::setFont(font);
}

} // namespace

const Theme& Theme::light() {
    static const Theme theme = makeLight();
    return theme;
}

const Theme& Theme::dark() {
    static const Theme theme = makeDark();
    return theme;
}

const Theme& Theme::current() {
    return *state().theme;
}

ThemeNotifier& ThemeNotifier::instance() {
    static ThemeNotifier notifier;
    return notifier;
}

void applyTheme(QApplication& application) {
    State& s = state();
    const bool is_first = s.application != &application;
    s.application = &application;
    if (is_first) {
        QApplication::setStyle(new BelfryStyle);
        s.system_palette = QApplication::palette();
        s.base_font = QApplication::font();
        application.installEventFilter(new SystemWatcher(&application));
        followThemeInTitleBars(application);
    }
    applyFont();
    update();
}

void setThemeChoice(ThemeChoice choice) {
    state().choice = choice;
    if (state().application != nullptr) {
        update();
    }
}

QFont scaledFont(int percent, bool is_bold) {
    QFont font = QApplication::font();
    if (font.pointSizeF() > 0) {
        font.setPointSizeF(std::max(1.0, font.pointSizeF() * percent / 100.0));
    } else {
        font.setPixelSize(std::max(1, font.pixelSize() * percent / 100));
    }
    if (is_bold) {
        font.setWeight(QFont::DemiBold);
    }
    return font;
}

QFont codeFont(int percent) {
    QFont font = scaledFont(percent);
    font.setFamilies({QFontDatabase::systemFont(QFontDatabase::FixedFont).family(),
                      QStringLiteral("Noto Sans Mono"), QStringLiteral("DejaVu Sans Mono"),
                      QStringLiteral("Noto Color Emoji")});
    font.setStyleHint(QFont::Monospace);
    return font;
}

void setTextZoom(int percent) {
    state().zoom = std::clamp(percent, 50, 300);
    if (state().application == nullptr) {
        return;
    }
    applyFont();
    const QWidgetList widgets = QApplication::allWidgets();
    for (QWidget* widget : widgets) {
        const int own = widget->property(kTextPercentProperty).toInt();
        if (own > 0) {
            widget->setFont(scaledFont(own, widget->property(kTextBoldProperty).toBool()));
        }
        if (const int side = widget->property(kIconSideProperty).toInt(); side > 0) {
            setIconButton(qobject_cast<QAbstractButton*>(widget),
                          widget->property(kIconSizeProperty).toInt(), side);
        }
    }
    Q_EMIT ThemeNotifier::instance().changed();
}

int textZoom() {
    return state().zoom;
}

void setIconButton(QAbstractButton* button, int icon_size, int side) {
    button->setProperty(kIconSizeProperty, icon_size);
    button->setProperty(kIconSideProperty, side);
    const int pixels = icon_size * textZoom() / 100;
    button->setIconSize({pixels, pixels});
    // Larger text needs no smaller button; the usual one is large enough to be hit.
    const int square = std::max(side, side * textZoom() / 100);
    button->setFixedSize(square, square);
}

void setButtonKind(QAbstractButton* button, ButtonKind kind) {
    button->setProperty(kKindProperty, static_cast<int>(kind));
    button->update();
}

ButtonKind buttonKind(const QWidget* button) {
    const int value = button != nullptr ? button->property(kKindProperty).toInt() : 0;
    return value >= static_cast<int>(ButtonKind::Normal) &&
                   value <= static_cast<int>(ButtonKind::Tab)
               ? static_cast<ButtonKind>(value)
               : ButtonKind::Normal;
}

void setTextRole(QWidget* widget, TextRole role) {
    switch (role) {
    case TextRole::Normal:
        widget->setForegroundRole(QPalette::WindowText);
        break;
    case TextRole::Muted:
        widget->setForegroundRole(QPalette::PlaceholderText);
        break;
    case TextRole::Accent:
        widget->setForegroundRole(QPalette::Link);
        break;
    case TextRole::Success:
        widget->setForegroundRole(QPalette::LinkVisited);
        break;
    case TextRole::Danger:
        widget->setForegroundRole(QPalette::BrightText);
        break;
    }
}

void setTextSize(QWidget* widget, int percent, bool is_bold) {
    widget->setProperty(kTextPercentProperty, percent);
    widget->setProperty(kTextBoldProperty, is_bold);
    widget->setFont(scaledFont(percent, is_bold));
}

void setArea(QWidget* widget, Area area) {
    widget->setBackgroundRole(area == Area::Window ? QPalette::Window : QPalette::Base);
    widget->setAutoFillBackground(true);
}

} // namespace ui
