// SPDX-License-Identifier: Apache-2.0
// What the user can set once for all chats and models. Plain values: app/ reads and writes them,
// the settings page edits a copy.
#pragma once

#include "ui/common/shortcuts.h"
#include "ui/style/theme.h"

#include <QString>
#include <QStringList>

namespace ui {

/// Cards of the guide from the demo's first reply on; see MainWindow::guide().
inline constexpr int kGuideCards = 3;

struct Settings {
    ThemeChoice theme = ThemeChoice::System;
    int text_zoom = 100; ///< Percent of the system's text size, 70 to 200.
    bool reduces_motion = false;
    QString language;       ///< "de", "fr", "en"; empty follows the system.
    int threads = 0;        ///< Processor threads of the engine; 0 = all.
    bool uses_cache = true; ///< Keep quantized copies of weights in the cache folder.
    bool reopens_chat = true;
    QString quant = QStringLiteral("none"); ///< What Load starts with for a new model.
    QString device_map = QStringLiteral("fit");
    qint64 context = 0;       ///< Tokens; 0 = the engine's default.
    bool uses_network = true; ///< False: never, for both programs (network_switch.h keeps it).
    QString hub_endpoint;     ///< A mirror; empty: HF_ENDPOINT, else huggingface.co.
    QString proxy;            ///< "http://host:port" or "socks5://…"; empty: as the system says.
    QStringList recent_models;
    int guide_cards = 0;    ///< Cards of the guide that were shown; kGuideCards: all, or skipped.
    ShortcutKeys shortcuts; ///< Those that the user changed.

    friend bool operator==(const Settings&, const Settings&) = default;
};

} // namespace ui
