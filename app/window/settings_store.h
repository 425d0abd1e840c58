// SPDX-License-Identifier: Apache-2.0
// Settings and the window's place between sessions, in the user's configuration folder.
#pragma once

#include "app/window/server_notes.h"
#include "ui/chat/chat_settings.h"
#include "ui/dialogs/settings_values.h"
#include "ui/model/load_profile.h"

#include <QHash>
#include <QRect>
#include <QString>
#include <QStringList>

class QWidget;

namespace app {

struct WindowPlace {
    QRect rect;
    bool is_maximized = false;
    QList<int> splitter; ///< Widths of side, centre and meter; empty at the first start.
};

class SettingsStore {
public:
    /// `file` is an ini file; empty means the user's own.
    explicit SettingsStore(QString file = {});

    [[nodiscard]] ui::Settings read() const;
    void write(const ui::Settings& settings) const;
    [[nodiscard]] WindowPlace readPlace() const;
    void writePlace(const WindowPlace& place) const;
    /// Sampling presets and prompt shortcuts; the shortcuts of a new installation when none were
    /// ever written.
    [[nodiscard]] ui::ChatSettings readChat() const;
    void writeChat(const ui::ChatSettings& settings) const;
    /// Ways to load by name.
    [[nodiscard]] ui::LoadProfiles readProfiles() const;
    void writeProfiles(const ui::LoadProfiles& profiles) const;
    /// Options that models were loaded with last, by folder.
    [[nodiscard]] QHash<QString, engine::LoadRequest> readModelOptions() const;
    void writeModelOptions(const QHash<QString, engine::LoadRequest>& options) const;

    [[nodiscard]] ServerNotes readServers() const;
    void writeServers(const ServerNotes& notes) const;

private:
    QString file_;
};

/// Puts the window where it was, moved and shrunk so that it lies on a screen that exists now.
void restorePlace(QWidget& window, const WindowPlace& place);
/// `wanted` inside the one of `screens` that it overlaps most, else in the first; as large as fits.
QRect clampToScreens(const QRect& wanted, const QList<QRect>& screens);

} // namespace app
