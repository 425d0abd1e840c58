// SPDX-License-Identifier: Apache-2.0
// The button "Profiles" of the load form: profiles by name to load with, and what can be done with
// them: save the present choice, delete, import, export.
#pragma once

#include "ui/model/load_profile.h"

#include <QPushButton>

class QMenu;

namespace ui {

class ProfileMenu : public QPushButton {
    Q_OBJECT

public:
    explicit ProfileMenu(QWidget* parent = nullptr);

    [[nodiscard]] const LoadProfiles& profiles() const { return profiles_; }
    /// What it opens: a profile each, then what can be done with them.
    [[nodiscard]] QMenu* list() const { return menu_; }

public Q_SLOTS:
    void setProfiles(const ui::LoadProfiles& profiles);
    /// Adds a profile, or puts it in the place of the one that has its name.
    void keep(const ui::LoadProfile& profile);

Q_SIGNALS:
    void chosen(const ui::LoadProfile& profile);
    /// The user gave a name to what is chosen now: answered by keep().
    void saveRequested(const QString& name);
    void profilesEdited(const ui::LoadProfiles& profiles);
    void exportRequested(const QString& file, const ui::LoadProfile& profile);
    void importRequested(const QString& file);

private:
    void fill();
    void askName();
    void remove(const QString& name);
    void chooseExport(const LoadProfile& profile);
    void chooseImport();

    LoadProfiles profiles_;
    QMenu* menu_;
};

} // namespace ui
