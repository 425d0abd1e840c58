// SPDX-License-Identifier: Apache-2.0
// The settings page. Everything acts at once, so there is no OK: Close is enough, and each change
// leaves as settingsEdited().
#pragma once

#include "ui/dialogs/settings_values.h"
#include "ui/library/hub_values.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace ui {

class SettingsDialog : public QDialog {
    Q_OBJECT

public:
    /// `data_folder` and `cache_folder` are shown so that the user knows where things are, what
    /// the environment says of the network likewise.
    SettingsDialog(const Settings& settings,
                   const NetworkFacts& network,
                   const QString& data_folder,
                   const QString& cache_folder,
                   QWidget* parent);

Q_SIGNALS:
    void settingsEdited(const ui::Settings& settings);
    void shortcutsRequested();

private:
    class Forms;
    void buildLook(Forms& forms);
    void buildModels(Forms& forms);
    void buildNetwork(Forms& forms, const NetworkFacts& network);
    void buildFiles(Forms& forms, const QString& data_folder, const QString& cache_folder);
    void edited();

    Settings settings_;
    QComboBox* theme_box_ = nullptr;
    QComboBox* language_box_ = nullptr;
    QSpinBox* zoom_box_ = nullptr;
    QSpinBox* threads_box_ = nullptr;
    QComboBox* quant_box_ = nullptr;
    QComboBox* map_box_ = nullptr;
    QCheckBox* cache_check_ = nullptr;
    QCheckBox* reopen_check_ = nullptr;
    QCheckBox* offline_check_ = nullptr;
    QCheckBox* motion_check_ = nullptr;
    QLineEdit* endpoint_field_ = nullptr;
    QLineEdit* proxy_field_ = nullptr;
};

} // namespace ui
