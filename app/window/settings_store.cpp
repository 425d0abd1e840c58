// SPDX-License-Identifier: Apache-2.0
#include "app/window/settings_store.h"

#include "app/store/save_file.h"
#include "app/window/load_profiles.h"
#include "engine/base/paths.h"
#include "ui/common/private_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QJsonDocument>
#include <QScreen>
#include <QSettings>
#include <QStandardPaths>
#include <QVariantMap>
#include <QWidget>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "models/user_folders.h"

namespace app {

namespace {

/// Some lines of text; with long prompts of one's own a few hundred KiB.
constexpr qint64 kMaxBytes = qint64{16} << 20U;

/// QSettings opens by name, waits for a pipe and would put a file in the place of a device: where
/// the file is neither a plain one nor missing, settings are those of a first start and not kept.
std::unique_ptr<QSettings> openSettings(const QString& file) {
    const QString name =
        file.isEmpty() ? QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
                             QStringLiteral("/Belfry/belfry.ini")
                       : file;
    if (!isPlainOrMissing(name, kMaxBytes)) {
        // Below what is no folder nothing is found and nothing made.
        return std::make_unique<QSettings>(QCoreApplication::applicationFilePath() +
                                               QStringLiteral("/none"),
                                           QSettings::IniFormat);
    }
#ifdef Q_OS_WIN
    // By its name: QSettings' own place is the folder that roams from computer to computer.
    return std::make_unique<QSettings>(name, QSettings::IniFormat);
#else
    return file.isEmpty()
               ? std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope,
                                             QStringLiteral("Belfry"), QStringLiteral("belfry"))
               : std::make_unique<QSettings>(file, QSettings::IniFormat);
#endif
}

/// For writing: prompts of one's own and folders' names stand in there, so that nobody else reads
/// the folder, where the file is made (in two steps, by QSettings), nor the file.
class PrivateSettings {
public:
    explicit PrivateSettings(const QString& file) : store_(openSettings(file)) {
        if (file.isEmpty()) {
            ui::makePrivateFolder(QFileInfo(store_->fileName()).path());
        }
    }
    ~PrivateSettings() {
        store_->sync();
        ui::makePrivate(store_->fileName());
    }
    PrivateSettings(const PrivateSettings&) = delete;
    PrivateSettings& operator=(const PrivateSettings&) = delete;
    QSettings* operator->() const { return store_.get(); }

private:
    std::unique_ptr<QSettings> store_;
};

/// For belfry-cli, beside the settings (recentModelsFile() of app/common/library_roots.h). What
/// cannot be written there is missing from a list and nothing else.
void noteRecentModels(const QString& settings_file, const QStringList& recent) {
    const std::filesystem::path file = engine::pathFromUtf8(
        (QFileInfo(settings_file).path() + QStringLiteral("/recent-models")).toStdString());
    std::vector<std::filesystem::path> folders;
    for (const QString& folder : recent) {
        if (QDir::isAbsolutePath(folder)) {
            folders.push_back(engine::pathFromUtf8(folder.toStdString()));
        }
    }
    const auto known = models::readFolderList(file);
    if (known.has_value() && *known != folders) {
        (void)models::writeFolderList(file, folders);
    }
}

} // namespace

SettingsStore::SettingsStore(QString file) : file_(std::move(file)) {}

ui::Settings SettingsStore::read() const {
    const auto store = openSettings(file_);
    ui::Settings settings;
    const QString theme = store->value(QStringLiteral("look/theme")).toString();
    settings.theme = theme == QStringLiteral("dark")    ? ui::ThemeChoice::Dark
                     : theme == QStringLiteral("light") ? ui::ThemeChoice::Light
                                                        : ui::ThemeChoice::System;
    // A file edited by hand must not make the window unusable.
    settings.text_zoom =
        std::clamp(store->value(QStringLiteral("look/textZoom"), 100).toInt(), 70, 200);
    settings.reduces_motion = store->value(QStringLiteral("look/reduceMotion"), false).toBool();
    settings.language = store->value(QStringLiteral("look/language")).toString();
    settings.threads = std::clamp(store->value(QStringLiteral("load/threads"), 0).toInt(), 0, 1024);
    settings.uses_cache = store->value(QStringLiteral("load/cache"), true).toBool();
    settings.quant = store->value(QStringLiteral("load/quant"), settings.quant).toString();
    settings.device_map = store->value(QStringLiteral("load/map"), settings.device_map).toString();
    settings.context =
        std::max<qint64>(0, store->value(QStringLiteral("load/context"), 0).toLongLong());
    settings.reopens_chat = store->value(QStringLiteral("chat/reopen"), true).toBool();
    settings.hub_endpoint = store->value(QStringLiteral("network/endpoint")).toString();
    settings.proxy = store->value(QStringLiteral("network/proxy")).toString();
    settings.recent_models = store->value(QStringLiteral("models/recent")).toStringList();
    settings.guide_cards =
        std::clamp(store->value(QStringLiteral("look/guideCards"), 0).toInt(), 0, ui::kGuideCards);
    store->beginGroup(QStringLiteral("shortcuts"));
    const QStringList actions = store->childKeys();
    for (const QString& action : actions) {
        QStringList keys = store->value(action).toStringList();
        keys.removeAll(QString()); // how an ini file writes an empty list
        settings.shortcuts.insert(action, keys);
    }
    store->endGroup();
    return settings;
}

void SettingsStore::write(const ui::Settings& settings) const {
    const PrivateSettings store(file_);
    store->setValue(QStringLiteral("look/theme"),
                    settings.theme == ui::ThemeChoice::Dark    ? QStringLiteral("dark")
                    : settings.theme == ui::ThemeChoice::Light ? QStringLiteral("light")
                                                               : QStringLiteral("system"));
    store->setValue(QStringLiteral("look/textZoom"), settings.text_zoom);
    store->setValue(QStringLiteral("look/reduceMotion"), settings.reduces_motion);
    store->setValue(QStringLiteral("look/language"), settings.language);
    store->setValue(QStringLiteral("load/threads"), settings.threads);
    store->setValue(QStringLiteral("load/cache"), settings.uses_cache);
    store->setValue(QStringLiteral("load/quant"), settings.quant);
    store->setValue(QStringLiteral("load/map"), settings.device_map);
    store->setValue(QStringLiteral("load/context"), settings.context);
    store->setValue(QStringLiteral("chat/reopen"), settings.reopens_chat);
    store->setValue(QStringLiteral("network/endpoint"), settings.hub_endpoint);
    store->setValue(QStringLiteral("network/proxy"), settings.proxy);
    store->setValue(QStringLiteral("models/recent"), settings.recent_models);
    noteRecentModels(store->fileName(), settings.recent_models);
    store->setValue(QStringLiteral("look/guideCards"), settings.guide_cards);
    store->remove(QStringLiteral("shortcuts"));
    for (auto it = settings.shortcuts.begin(); it != settings.shortcuts.end(); ++it) {
        store->setValue(QStringLiteral("shortcuts/") + it.key(), it.value());
    }
}

WindowPlace SettingsStore::readPlace() const {
    const auto store = openSettings(file_);
    WindowPlace place;
    place.rect = store->value(QStringLiteral("window/rect")).toRect();
    place.is_maximized = store->value(QStringLiteral("window/maximized"), false).toBool();
    const QVariantList widths = store->value(QStringLiteral("window/splitter")).toList();
    for (const QVariant& width : widths) {
        place.splitter.append(width.toInt());
    }
    return place;
}

void SettingsStore::writePlace(const WindowPlace& place) const {
    const PrivateSettings store(file_);
    store->setValue(QStringLiteral("window/rect"), place.rect);
    store->setValue(QStringLiteral("window/maximized"), place.is_maximized);
    QVariantList widths;
    for (const int width : place.splitter) {
        widths.append(width);
    }
    store->setValue(QStringLiteral("window/splitter"), widths);
}

QRect clampToScreens(const QRect& wanted, const QList<QRect>& screens) {
    if (screens.isEmpty()) {
        return wanted;
    }
    const auto overlap = [&](const QRect& screen) {
        const QRect shared = screen.intersected(wanted);
        return qint64{shared.width()} * shared.height();
    };
    QRect best = screens.first();
    for (const QRect& screen : screens) {
        if (overlap(screen) > overlap(best)) {
            best = screen;
        }
    }
    const QSize size = wanted.size().boundedTo(best.size());
    const int x = std::clamp(wanted.x(), best.left(), best.right() + 1 - size.width());
    const int y = std::clamp(wanted.y(), best.top(), best.bottom() + 1 - size.height());
    return {QPoint(x, y), size};
}

ui::ChatSettings SettingsStore::readChat() const {
    const auto store = openSettings(file_);
    ui::ChatSettings settings;
    const int presets = store->beginReadArray(QStringLiteral("presets"));
    for (int i = 0; i < presets; ++i) {
        store->setArrayIndex(i);
        ui::SamplingPreset preset;
        preset.name = store->value(QStringLiteral("name")).toString();
        engine::SamplingParameters& sampling = preset.sampling;
        sampling.temperature = store->value(QStringLiteral("temperature"), -1.0).toDouble();
        sampling.top_k = store->value(QStringLiteral("topK"), -1).toLongLong();
        sampling.top_p = store->value(QStringLiteral("topP"), -1.0).toDouble();
        sampling.min_p = store->value(QStringLiteral("minP"), -1.0).toDouble();
        sampling.repetition_penalty = store->value(QStringLiteral("repetition"), -1.0).toDouble();
        if (!preset.name.isEmpty()) {
            settings.presets.push_back(preset);
        }
    }
    store->endArray();
    if (!store->contains(QStringLiteral("prompts/size"))) {
        settings.prompts = ui::defaultPrompts();
        return settings;
    }
    const int prompts = store->beginReadArray(QStringLiteral("prompts"));
    for (int i = 0; i < prompts; ++i) {
        store->setArrayIndex(i);
        settings.prompts.push_back({store->value(QStringLiteral("name")).toString(),
                                    store->value(QStringLiteral("text")).toString()});
    }
    store->endArray();
    return settings;
}

void SettingsStore::writeChat(const ui::ChatSettings& settings) const {
    const PrivateSettings store(file_);
    store->remove(QStringLiteral("presets"));
    store->beginWriteArray(QStringLiteral("presets"), static_cast<int>(settings.presets.size()));
    for (int i = 0; i < static_cast<int>(settings.presets.size()); ++i) {
        store->setArrayIndex(i);
        const ui::SamplingPreset& preset = settings.presets[static_cast<size_t>(i)];
        store->setValue(QStringLiteral("name"), preset.name);
        store->setValue(QStringLiteral("temperature"), preset.sampling.temperature);
        store->setValue(QStringLiteral("topK"), static_cast<qlonglong>(preset.sampling.top_k));
        store->setValue(QStringLiteral("topP"), preset.sampling.top_p);
        store->setValue(QStringLiteral("minP"), preset.sampling.min_p);
        store->setValue(QStringLiteral("repetition"), preset.sampling.repetition_penalty);
    }
    store->endArray();
    store->remove(QStringLiteral("prompts"));
    store->beginWriteArray(QStringLiteral("prompts"), static_cast<int>(settings.prompts.size()));
    for (int i = 0; i < static_cast<int>(settings.prompts.size()); ++i) {
        store->setArrayIndex(i);
        store->setValue(QStringLiteral("name"), settings.prompts[static_cast<size_t>(i)].name);
        store->setValue(QStringLiteral("text"), settings.prompts[static_cast<size_t>(i)].text);
    }
    store->endArray();
}

ui::LoadProfiles SettingsStore::readProfiles() const {
    const auto store = openSettings(file_);
    const QByteArray text = store->value(QStringLiteral("load/profiles")).toString().toUtf8();
    return profilesFromJson(QJsonDocument::fromJson(text).array());
}

void SettingsStore::writeProfiles(const ui::LoadProfiles& profiles) const {
    const PrivateSettings store(file_);
    const QJsonDocument json(profilesToJson(profiles));
    store->setValue(QStringLiteral("load/profiles"),
                    QString::fromUtf8(json.toJson(QJsonDocument::Compact)));
}

ServerNotes SettingsStore::readServers() const {
    const auto store = openSettings(file_);
    ServerNotes notes;
    notes.known = store->value(QStringLiteral("servers/known")).toStringList();
    notes.plain = store->value(QStringLiteral("servers/plain")).toStringList();
    notes.keyed = store->value(QStringLiteral("servers/keyed")).toStringList();
    const QVariantMap files = store->value(QStringLiteral("servers/authorities")).toMap();
    for (auto file = files.begin(); file != files.end(); ++file) {
        notes.authorities.insert(file.key(), file.value().toString());
    }
    return notes;
}

void SettingsStore::writeServers(const ServerNotes& notes) const {
    const PrivateSettings store(file_);
    store->setValue(QStringLiteral("servers/known"), notes.known);
    store->setValue(QStringLiteral("servers/plain"), notes.plain);
    store->setValue(QStringLiteral("servers/keyed"), notes.keyed);
    QVariantMap files;
    for (auto file = notes.authorities.begin(); file != notes.authorities.end(); ++file) {
        files.insert(file.key(), file.value());
    }
    store->setValue(QStringLiteral("servers/authorities"), files);
}

QHash<QString, engine::LoadRequest> SettingsStore::readModelOptions() const {
    const auto store = openSettings(file_);
    const QByteArray text = store->value(QStringLiteral("load/models")).toString().toUtf8();
    return modelOptionsFromJson(QJsonDocument::fromJson(text).object());
}

void SettingsStore::writeModelOptions(const QHash<QString, engine::LoadRequest>& options) const {
    const PrivateSettings store(file_);
    const QJsonDocument json(modelOptionsToJson(options));
    store->setValue(QStringLiteral("load/models"),
                    QString::fromUtf8(json.toJson(QJsonDocument::Compact)));
}

void restorePlace(QWidget& window, const WindowPlace& place) {
    QList<QRect> screens;
    const QList<QScreen*> all = QGuiApplication::screens();
    for (const QScreen* screen : all) {
        screens.append(screen->availableGeometry());
    }
    if (place.rect.width() >= 200 && place.rect.height() >= 200) {
        window.setGeometry(clampToScreens(place.rect, screens));
    } else if (!screens.isEmpty()) {
        window.resize(window.size().boundedTo(screens.first().size()));
    }
    if (place.is_maximized) {
        window.setWindowState(window.windowState() | Qt::WindowMaximized);
    }
}

} // namespace app
