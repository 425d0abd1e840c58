// SPDX-License-Identifier: Apache-2.0
#include "app/window/load_profiles.h"

#include "app/window/load_json.h"

#include <QJsonDocument>

namespace app {

namespace {

constexpr int kVersion = 1;
constexpr int kLongestName = 60;

QString profileKey(const char* name) {
    return QString::fromLatin1(name);
}

QJsonObject toJson(const ui::LoadProfile& profile) {
    const engine::SamplingParameters& s = profile.sampling;
    // Below 0: the model's own, as in the chat's settings.
    const QJsonObject sampling{{profileKey("temperature"), s.temperature},
                               {profileKey("topK"), static_cast<qint64>(s.top_k)},
                               {profileKey("topP"), s.top_p},
                               {profileKey("minP"), s.min_p},
                               {profileKey("repetition"), s.repetition_penalty}};
    return {{profileKey("belfryProfile"), kVersion},
            {profileKey("name"), profile.name},
            {profileKey("load"), loadOptionsToJson(profile.load)},
            {profileKey("sampling"), sampling}};
}

/// An empty name: it is no profile.
ui::LoadProfile fromJson(const QJsonObject& json) {
    ui::LoadProfile profile;
    if (json.value(profileKey("belfryProfile")).toInt() != kVersion ||
        !json.value(profileKey("load")).isObject()) {
        return profile;
    }
    profile.name = json.value(profileKey("name")).toString().simplified().left(kLongestName);
    engine::LoadRequest base;
    base.device_map = "fit";
    profile.load = loadOptionsFromJson(json.value(profileKey("load")).toObject(), std::move(base));
    const QJsonObject sampling = json.value(profileKey("sampling")).toObject();
    engine::SamplingParameters& s = profile.sampling;
    s.temperature = sampling.value(profileKey("temperature")).toDouble(s.temperature);
    s.top_k = sampling.value(profileKey("topK")).toInteger(s.top_k);
    s.top_p = sampling.value(profileKey("topP")).toDouble(s.top_p);
    s.min_p = sampling.value(profileKey("minP")).toDouble(s.min_p);
    s.repetition_penalty = sampling.value(profileKey("repetition")).toDouble(s.repetition_penalty);
    return profile;
}

} // namespace

QJsonArray profilesToJson(const ui::LoadProfiles& profiles) {
    QJsonArray json;
    for (const ui::LoadProfile& profile : profiles) {
        json.append(toJson(profile));
    }
    return json;
}

ui::LoadProfiles profilesFromJson(const QJsonArray& json) {
    ui::LoadProfiles profiles;
    for (const auto& value : json) {
        ui::LoadProfile profile = fromJson(value.toObject());
        if (!profile.name.isEmpty()) {
            profiles.push_back(std::move(profile));
        }
    }
    return profiles;
}

QJsonObject modelOptionsToJson(const QHash<QString, engine::LoadRequest>& options) {
    QJsonObject json;
    for (auto it = options.begin(); it != options.end(); ++it) {
        QJsonObject one = loadOptionsToJson(it.value());
        one.remove(profileKey("adapters")); // they come back with the session, not with the model
        json.insert(it.key(), one);
    }
    return json;
}

QHash<QString, engine::LoadRequest> modelOptionsFromJson(const QJsonObject& json) {
    QHash<QString, engine::LoadRequest> options;
    for (auto it = json.begin(); it != json.end(); ++it) {
        engine::LoadRequest base;
        base.device_map = "fit";
        options.insert(it.key(), loadOptionsFromJson(it.value().toObject(), std::move(base)));
    }
    return options;
}

QByteArray profileText(const ui::LoadProfile& profile) {
    return QJsonDocument(toJson(profile)).toJson(QJsonDocument::Indented);
}

engine::Result<ui::LoadProfile> readProfileText(const QString& file, const QByteArray& text) {
    QJsonParseError problem;
    const QJsonDocument json = QJsonDocument::fromJson(text, &problem);
    ui::LoadProfile profile = fromJson(json.object());
    if (!profile.name.isEmpty()) {
        return profile;
    }
    const engine::Sentence found = json.isNull()
                                       ? engine::asItIs(problem.errorString().toStdString())
                                   : !json.isObject() ? engine::phrase("no object")
                                                      : engine::phrase("another object");
    return engine::Error{
        engine::ErrorCode::InvalidFile,
        engine::said(
            "%1: expected a profile of Belfry, an object with \"belfryProfile\": 1, \"name\" "
            "and \"load\"; found: %2. Choose a file that Profiles, Export has written",
            file.toStdString(), found)};
}

} // namespace app
