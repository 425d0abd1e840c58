// SPDX-License-Identifier: Apache-2.0
// Colours, distances and fonts of the window by role, one instance for light and one for dark.
// Widgets that paint themselves read Theme::current() in paintEvent and repaint on
// ThemeNotifier::changed(); everything else follows through the application's palette and style.
#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QObject>
#include <QPixmap>
#include <QString>

class QApplication;
class QLabel;
class QWidget;
class QAbstractButton;

namespace ui {

struct Theme {
    bool is_dark = false;
    QColor window;  ///< Behind everything: the centre of the window.
    QColor surface; ///< Panes, bars, cards, fields.
    QColor raised;  ///< Buttons, chips, hovered rows, bubbles.
    QColor border;  ///< Hairlines between surfaces; decorative.
    QColor text, text_muted, text_disabled;
    QColor accent;    ///< The one colour of "do this", focus and progress.
    QColor on_accent; ///< Text on accent and on danger.
    QColor selection; ///< Background of selected text and rows; text stays `text`.
    QColor hover;     ///< Laid over a control under the mouse.
    QColor danger, warning, success;
    QColor found, found_current; ///< Behind what a search has found, with `text`.
    QColor on_found_current;     ///< Text on found_current.
    QColor code_background;
    QColor code_keyword, code_type, code_string, code_comment, code_number, code_removed, code_meta;
    // Blocks of the layout and pieces of the meter's bars (ui/layout/memory_kinds.h): eight hues
    // for what a person moves, greys for the rest. Each has 3:1 or more on surface and raised.
    QColor part_layers, part_experts, part_vision, part_audio, part_ple, part_head, part_kv,
        part_adapter;
    QColor part_rest, part_workspace, part_context, part_other;

    static constexpr int kGap = 8;
    static constexpr int kPadding = 12;
    static constexpr int kRadius = 6;
    static constexpr int kControlHeight = 32;

    static const Theme& current();
    static const Theme& light();
    static const Theme& dark();
};

/// Tells painted widgets that Theme::current() is another one. Lives on the GUI thread.
class ThemeNotifier : public QObject {
    Q_OBJECT

public:
    static ThemeNotifier& instance();

Q_SIGNALS:
    void changed();
};

/// What the user asked for; System follows the desktop and its changes.
enum class ThemeChoice { System = 1, Light, Dark };

/// Installs style, palette and fonts. Call once, before the first widget.
void applyTheme(QApplication& application);
void setThemeChoice(ThemeChoice choice);

/// The application's font at `percent` of its size, monospaced for code.
QFont scaledFont(int percent, bool is_bold = false);
QFont codeFont(int percent = 100);
/// Zoom of all text, 50 to 300; 100 is the system's size. Kept until the program ends.
void setTextZoom(int percent);
int textZoom();

/// resources/icons/NAME.svg, drawn in the text colour of the theme in force when it is painted
/// (accent and disabled states included), sharp at every scale. An unknown name is an empty icon.
QIcon icon(const QString& name);
/// The same drawn once in one colour. `size` in device-independent pixels.
QPixmap iconPixmap(const QString& name, int size, const QColor& color, qreal device_pixel_ratio);

/// How a button looks: Normal is filled and framed, Primary is the one thing to do here, Danger
/// stops or deletes, Flat shows itself on hover, Tab is one of a row of choices.
enum class ButtonKind { Normal = 1, Primary, Danger, Flat, Tab };
void setButtonKind(QAbstractButton* button, ButtonKind kind);
ButtonKind buttonKind(const QWidget* button);

/// Text colours that follow the theme without a palette of their own.
enum class TextRole { Normal = 1, Muted, Accent, Success, Danger };
void setTextRole(QWidget* widget, TextRole role);
/// Size and weight relative to the application's font; follows setTextZoom().
void setTextSize(QWidget* widget, int percent, bool is_bold = false);

/// A square button with a picture only, both sizes at the usual text size; follows setTextZoom().
void setIconButton(QAbstractButton* button, int icon_size, int side);

/// Fills a widget with one of the theme's areas.
enum class Area { Window = 1, Surface };
void setArea(QWidget* widget, Area area);

} // namespace ui
