// SPDX-License-Identifier: Apache-2.0
#include "app/window/load_json.h"

#include <QJsonArray>

#include <algorithm>

namespace app {

namespace {

QString key(const char* name) {
    return QString::fromLatin1(name);
}

QString text(const std::string& utf8) {
    return QString::fromStdString(utf8);
}

/// Bytes as text: a double would round above 2^53.
QString bytesText(uint64_t bytes) {
    return QString::number(bytes);
}

void readText(const QJsonObject& json, const char* name, std::string& to) {
    const QJsonValue value = json.value(key(name));
    if (value.isString() && !value.toString().isEmpty()) {
        to = value.toString().toStdString();
    }
}

} // namespace

QJsonObject loadOptionsToJson(const engine::LoadRequest& request) {
    QJsonArray sims;
    for (const uint64_t bytes : request.sim_gpus) {
        sims.append(bytesText(bytes));
    }
    QJsonArray limits;
    for (const auto& [device, bytes] : request.limits) {
        limits.append(QJsonObject{{key("device"), text(device)}, {key("bytes"), bytesText(bytes)}});
    }
    QJsonArray adapters;
    for (const engine::AdapterChoice& adapter : request.adapters) {
        adapters.append(QJsonObject{{key("folder"), text(adapter.folder)},
                                    {key("strength"), adapter.strength},
                                    {key("on"), adapter.is_enabled}});
    }
    return {{key("map"), text(request.device_map)},
            {key("quant"), text(request.quant)},
            {key("head"), text(request.head)},
            {key("kv"), text(request.kv)},
            {key("expertCache"), text(request.expert_cache)},
            {key("context"), static_cast<qint64>(request.context)},
            {key("sim"), sims},
            {key("limits"), limits},
            {key("adapters"), adapters},
            {key("textOnly"), request.is_text_only},
            {key("projector"), text(request.projector)},
            {key("assistant"), text(request.draft)},
            {key("draftTokens"), static_cast<qint64>(request.draft_tokens)}};
}

engine::LoadRequest loadOptionsFromJson(const QJsonObject& json, engine::LoadRequest base) {
    readText(json, "map", base.device_map);
    readText(json, "quant", base.quant);
    readText(json, "head", base.head);
    readText(json, "kv", base.kv);
    readText(json, "expertCache", base.expert_cache);
    base.is_text_only = json.value(key("textOnly")).toBool(base.is_text_only);
    readText(json, "assistant", base.draft);
    readText(json, "projector", base.projector);
    base.draft_tokens =
        std::clamp<qint64>(json.value(key("draftTokens")).toInteger(base.draft_tokens), 0, 16);
    base.context = std::max<qint64>(0, json.value(key("context")).toInteger(base.context));
    const QJsonArray sims = json.value(key("sim")).toArray();
    for (const auto& bytes : sims) {
        if (const uint64_t capacity = bytes.toString().toULongLong(); capacity > 0) {
            base.sim_gpus.push_back(capacity);
        }
    }
    const QJsonArray limits = json.value(key("limits")).toArray();
    for (const auto& limit : limits) {
        const QJsonObject row = limit.toObject();
        const QString device = row.value(key("device")).toString();
        if (!device.isEmpty()) {
            base.limits.emplace_back(device.toStdString(),
                                     row.value(key("bytes")).toString().toULongLong());
        }
    }
    const QJsonArray adapters = json.value(key("adapters")).toArray();
    for (const auto& value : adapters) {
        const QJsonObject row = value.toObject();
        engine::AdapterChoice adapter;
        adapter.folder = row.value(key("folder")).toString().toStdString();
        adapter.strength = std::clamp(row.value(key("strength")).toDouble(1.0), 0.0, 2.0);
        adapter.is_enabled = row.value(key("on")).toBool(true);
        if (!adapter.folder.empty()) {
            base.adapters.push_back(std::move(adapter));
        }
    }
    return base;
}

} // namespace app
