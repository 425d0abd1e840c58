// SPDX-License-Identifier: Apache-2.0
#include "ui/model/profile_menu.h"

#include "ui/style/theme.h"

#include <QFileDialog>
#include <QInputDialog>
#include <QMenu>

#include <algorithm>

namespace ui {

namespace {

constexpr int kLongestName = 60;

/// "&" in a menu marks a key.
QString menuText(const QString& name) {
    return QString(name).replace(QLatin1Char('&'), QStringLiteral("&&"));
}

QString fileFilter() {
    return ProfileMenu::tr("Profiles of Belfry (*.belfry-profile.json)");
}

} // namespace

ProfileMenu::ProfileMenu(QWidget* parent)
    : QPushButton(tr("Pro&files…"), parent), menu_(new QMenu(this)) {
    setObjectName(QStringLiteral("profileButton"));
    setToolTip(tr("Ways to load under a name: map, precision, context, adapters and sampling"));
    setButtonKind(this, ButtonKind::Flat);
    menu_->setObjectName(QStringLiteral("profileMenu"));
    fill();
    connect(this, &QPushButton::clicked, this,
            [this] { menu_->popup(mapToGlobal(QPoint(0, height()))); });
}

void ProfileMenu::setProfiles(const LoadProfiles& profiles) {
    profiles_ = profiles;
    fill();
}

void ProfileMenu::keep(const LoadProfile& profile) {
    const auto same = std::find_if(profiles_.begin(), profiles_.end(),
                                   [&](const auto& other) { return other.name == profile.name; });
    if (same != profiles_.end()) {
        *same = profile;
    } else {
        profiles_.push_back(profile);
    }
    fill();
    Q_EMIT profilesEdited(profiles_);
}

void ProfileMenu::fill() {
    menu_->clear();
    for (const LoadProfile& profile : profiles_) {
        connect(menu_->addAction(menuText(profile.name)), &QAction::triggered, this,
                [this, profile] { Q_EMIT chosen(profile); });
    }
    menu_->addSeparator();
    connect(menu_->addAction(tr("&Save the present choice…")), &QAction::triggered, this,
            &ProfileMenu::askName);
    connect(menu_->addAction(tr("&Import…")), &QAction::triggered, this,
            &ProfileMenu::chooseImport);
    if (profiles_.empty()) {
        return;
    }
    QMenu* exports = menu_->addMenu(tr("&Export"));
    QMenu* removals = menu_->addMenu(tr("&Delete"));
    for (const LoadProfile& profile : profiles_) {
        connect(exports->addAction(menuText(profile.name)), &QAction::triggered, this,
                [this, profile] { chooseExport(profile); });
        connect(removals->addAction(menuText(profile.name)), &QAction::triggered, this,
                [this, name = profile.name] { remove(name); });
    }
}

void ProfileMenu::askName() {
    auto* dialog = new QInputDialog(window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("profileName"));
    dialog->setWindowTitle(tr("Save as a profile"));
    dialog->setLabelText(tr("Name, for example “home card” or “laptop”. One of the same name is "
                            "replaced."));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
        const QString name = text.simplified().left(kLongestName);
        if (!name.isEmpty()) {
            Q_EMIT saveRequested(name);
        }
    });
    dialog->open();
}

void ProfileMenu::remove(const QString& name) {
    profiles_.erase(std::remove_if(profiles_.begin(), profiles_.end(),
                                   [&](const LoadProfile& each) { return each.name == name; }),
                    profiles_.end());
    Q_EMIT profilesEdited(profiles_);
    // The menu that this comes from is still open.
    QMetaObject::invokeMethod(this, &ProfileMenu::fill, Qt::QueuedConnection);
}

void ProfileMenu::chooseExport(const LoadProfile& profile) {
    auto* dialog = new QFileDialog(window(), tr("Export the profile %1").arg(profile.name));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilter(fileFilter());
    dialog->setDefaultSuffix(QStringLiteral("belfry-profile.json"));
    QString name = profile.name;
    for (QChar& character : name) {
        const bool is_plain = character.isLetterOrNumber() || character == QLatin1Char(' ');
        character = is_plain ? character : QLatin1Char('-');
    }
    dialog->selectFile(name);
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, profile](const QString& file) { Q_EMIT exportRequested(file, profile); });
    dialog->open();
}

void ProfileMenu::chooseImport() {
    auto* dialog = new QFileDialog(window(), tr("Import a profile"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilter(fileFilter());
    connect(dialog, &QFileDialog::fileSelected, this, &ProfileMenu::importRequested);
    dialog->open();
}

} // namespace ui
