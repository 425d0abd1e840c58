// SPDX-License-Identifier: Apache-2.0
// Maps that Belfry makes itself: the presets, and a map with one module placed anew.
#include "engine/api/error_cause.h"
#include "engine/families/gemma4/names.h"
#include "engine/plan/device_map.h"
#include "engine/plan/map_json.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/plan_english.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

DeviceId firstGpu(const std::vector<DeviceId>& devices) {
    DeviceId best = DeviceId::cpu();
    for (const DeviceId& device : devices) {
        // DeviceId orders cuda before sim, then by number.
        if (device.isGpu() && (!best.isGpu() || device < best)) {
            best = device;
        }
    }
    return best;
}

MapEntry placed(std::string key, DeviceId device) {
    MapEntry entry;
    entry.key = std::move(key);
    entry.fields.store = device;
    entry.fields.compute = device;
    return entry;
}

MapEntry placed(PartRole role, DeviceId device) {
    return placed(partName({role}), device);
}

/// The components of a key in canonical form and its range, for comparing keys by the modules
/// they name.
struct KeyShape {
    std::vector<std::string> parts;
    KeyRange range;

    explicit KeyShape(std::string_view key) {
        const std::string canonical = canonicalKey(key);
        findRange(canonical, range);
        for (const std::string_view part : splitKey(canonical)) {
            parts.emplace_back(part);
        }
    }

    /// The numbers that component i stands for; first > last: it is no number.
    [[nodiscard]] std::pair<int64_t, int64_t> numbers(size_t i) const {
        if (range.component == static_cast<int>(i)) {
            return {range.first, range.last};
        }
        const std::string& part = parts[i];
        if (part.empty() || part.size() > 9 ||
            part.find_first_not_of("0123456789") != std::string::npos) {
            return {1, 0};
        }
        const int64_t value = std::stoll(part);
        return {value, value};
    }
};

/// The part of `entry` at or below `module` and the rest, as entries of their own.
struct Split {
    std::vector<MapEntry> outside;
    std::vector<MapEntry> inside;
};
Split splitAt(const MapEntry& entry, const KeyShape& module) {
    const KeyShape key(entry.key);
    if (key.parts.size() < module.parts.size()) {
        return {{entry}, {}};
    }
    size_t cut = key.parts.size(); // the component whose range is only partly covered
    for (size_t i = 0; i < module.parts.size(); ++i) {
        if (key.parts[i] == module.parts[i]) {
            continue;
        }
        const auto [first, last] = key.numbers(i);
        const auto [module_first, module_last] = module.numbers(i);
        if (first > last || module_first > module_last || last < module_first ||
            first > module_last) {
            return {{entry}, {}};
        }
        if (first < module_first || last > module_last) {
            cut = i;
        }
    }
    if (cut == key.parts.size()) {
        return {{}, {entry}};
    }
    Split split;
    const auto [first, last] = key.numbers(cut);
    const auto [module_first, module_last] = module.numbers(cut);
    const auto keep = [&](std::vector<MapEntry>& out, int64_t from, int64_t to) {
        if (from > to) {
            return;
        }
        MapEntry part = entry;
        part.key.clear();
        for (size_t i = 0; i < key.parts.size(); ++i) {
            part.key += i == 0 ? "" : ".";
            if (i != cut) {
                part.key += key.parts[i];
            } else if (from == to) {
                part.key += std::to_string(from);
            } else {
                part.key += "[" + std::to_string(from) + "-" + std::to_string(to) + "]";
            }
        }
        out.push_back(std::move(part));
    };
    keep(split.outside, first, module_first - 1);
    keep(split.inside, std::max(first, module_first), std::min(last, module_last));
    keep(split.outside, module_last + 1, last);
    return split;
}

/// Takes out of `fields` what `set` decides anew. A residency belongs to its places.
void dropSet(PlaceFields& fields, const PlaceFields& set) {
    if (set.store.has_value()) {
        fields.store.reset();
    }
    if (set.compute.has_value()) {
        fields.compute.reset();
    }
    if (set.residency.has_value() || set.store.has_value() || set.compute.has_value()) {
        fields.residency.reset();
    }
    if (set.format.has_value()) {
        fields.format.reset();
    }
    if (set.pin.has_value()) {
        fields.pin.reset();
    }
    if (set.duplicate_tied.has_value()) {
        fields.duplicate_tied.reset();
    }
}

void fillFrom(PlaceFields& fields, const PlaceFields& from) {
    const auto fill = [](auto& to, const auto& value) {
        if (!to.has_value()) {
            to = value;
        }
    };
    fill(fields.store, from.store);
    fill(fields.compute, from.compute);
    fill(fields.format, from.format);
    fill(fields.residency, from.residency);
    fill(fields.pin, from.pin);
    fill(fields.duplicate_tied, from.duplicate_tied);
}

} // namespace

const std::vector<std::string>& devicePresets() {
    static const std::vector<std::string> kNames = {"gpu",  "towers-cpu",  "ple-cpu",
                                                    "lean", "experts-cpu", "cpu"};
    return kNames;
}

bool isDevicePreset(std::string_view name) {
    const std::vector<std::string>& names = devicePresets();
    return std::find(names.begin(), names.end(), name) != names.end();
}

Sentence deviceMapHint(std::string_view word) {
    const std::string quoted = inQuotes(word);
    for (const std::string_view automatic : {"auto", "balanced", "balanced_low_0", "sequential"}) {
        if (word == automatic) {
            return said("%1 is accelerate's word for a placement that is worked out; here that is "
                        "\"fit\"",
                        quoted);
        }
    }
    const std::string_view kind = word.substr(0, word.find(':'));
    const std::string_view number = kind.size() < word.size() ? word.substr(kind.size() + 1) : "0";
    const auto isNumber = [](std::string_view text) {
        return !text.empty() && text.size() < 4 &&
               text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const auto map = [&quoted](const std::string& device) {
        return said("%1 is a device, not a map: for everything there give a file with %2", quoted,
                    "{\"\": \"" + device + "\"}");
    };
    if ((kind == "cuda" || isNumber(word)) && isNumber(number)) {
        const std::string index(isNumber(word) ? word : number);
        return index == "0" ? said("%1 is a device, not a map: the preset \"gpu\" puts everything "
                                   "there, and a file with {\"\": \"cuda:0\"} does too",
                                   quoted)
                            : map("cuda:" + index);
    }
    if (kind == "sim" || kind == "disk") {
        return map(std::string(word));
    }
    if (kind == "mps" || kind == "meta" || kind == "xpu") {
        return said("%1 is a device that Belfry does not have; the presets are listed by --help",
                    quoted);
    }
    return {};
}

Sentence presetProblem(std::string_view name, const std::vector<DeviceId>& devices) {
    if (!isDevicePreset(name)) {
        std::vector<std::string> known = devicePresets();
        known.emplace_back("fit");
        Sentence text = said("there is no device-map preset %1; known are %2", inQuotes(name),
                             listed(known, known.size()));
        Sentence hint = deviceMapHint(name);
        return hint.isEmpty() ? text : said("%1. %2", std::move(text), std::move(hint));
    }
    if (name != "cpu" && !firstGpu(devices).isGpu()) {
        return said("the preset %1 needs a GPU and this machine shows none; use the preset "
                    "\"cpu\", or try a simulated GPU with --sim-gpu",
                    inQuotes(name));
    }
    return {};
}

Result<DeviceMap> presetDeviceMap(std::string_view name,
                                  const std::vector<DeviceId>& devices,
                                  const ModelConfig& config,
                                  bool has_own_head) {
    if (Sentence problem = presetProblem(name, devices); !problem.isEmpty()) {
        PlanIssue issue;
        issue.code = isDevicePreset(name) ? "DM04" : "DM01";
        issue.key = name;
        issue.words = std::move(problem);
        Error error{ErrorCode::InvalidRequest, inEnglish(issue)};
        error.cause = causeOf({std::move(issue)});
        return error;
    }
    DeviceMap map;
    map.has_default = true;
    const DeviceId device = name == "cpu" ? DeviceId::cpu() : firstGpu(devices);
    map.default_fields.store = device;
    map.default_fields.compute = device;
    map.main_device = device;
    if ((name == "ple-cpu" || name == "lean") && config.text.ple_size > 0) {
        map.entries.push_back(placed(PartRole::PerLayerTable, DeviceId::cpu()));
    }
    if (name == "lean" && has_own_head) {
        map.entries.push_back(placed(PartRole::Embedding, DeviceId::cpu()));
        if (!config.has_own_head) {
            map.entries.push_back(placed(PartRole::Head, device));
            map.entries.back().fields.duplicate_tied = true;
        }
    }
    if (name == "experts-cpu" && config.text.has_moe) {
        const auto last = static_cast<int>(config.text.num_layers) - 1;
        map.entries.push_back(placed(expertsRangeName(0, last), DeviceId::cpu()));
    }
    if (name == "towers-cpu" || name == "lean") {
        if (config.hasVisionTower()) {
            map.entries.push_back(placed(PartRole::VisionTower, DeviceId::cpu()));
        }
        if (config.vision.has_value()) {
            map.entries.push_back(placed(PartRole::VisionProjector, DeviceId::cpu()));
        }
        if (config.hasAudioTower()) {
            map.entries.push_back(placed(PartRole::AudioTower, DeviceId::cpu()));
        }
        if (config.audio.has_value()) {
            map.entries.push_back(placed(PartRole::AudioProjector, DeviceId::cpu()));
        }
    }
    return map;
}

DeviceMap nativeForm(const DeviceMap& map) {
    DeviceMap out = map;
    if (!map.is_imported) {
        return out;
    }
    out.is_imported = false;
    if (!map.has_default) {
        out.default_fields.store = map.main_device;
        out.default_fields.compute = map.main_device;
    }
    out.has_default = true;
    std::erase_if(out.entries,
                  [](const MapEntry& entry) { return canonicalKey(entry.key).empty(); });
    // Ranges are of the native form alone. A bracket in an imported key is part of a name that no
    // model has: it must not come into force as a range, so that the name gets parentheses.
    for (MapEntry& entry : out.entries) {
        std::replace(entry.key.begin(), entry.key.end(), '[', '(');
        std::replace(entry.key.begin(), entry.key.end(), ']', ')');
    }
    // What the imported form implies has to be said: two copies of the tied table.
    const auto deepest = [&out](std::string_view tensor) -> MapEntry* {
        MapEntry* best = nullptr;
        size_t length = 0;
        for (MapEntry& entry : out.entries) {
            const std::string key = canonicalKey(entry.key);
            if (key.size() > length && isAtOrBelow(tensor, key)) {
                best = &entry;
                length = key.size();
            }
        }
        return best;
    };
    MapEntry* head = deepest(kHeadName);
    if (head != nullptr) {
        const MapEntry* table = deepest(kTokenTableName);
        const PlaceFields& place = table == nullptr ? out.default_fields : table->fields;
        if (head->fields.store != place.store || head->fields.compute != place.compute) {
            head->fields.duplicate_tied = true;
        }
    }
    return out;
}

DeviceMap withPlace(const DeviceMap& map, std::string_view module, const PlaceFields& fields) {
    DeviceMap out = nativeForm(map);
    const KeyShape shape(module);
    MapEntry added;
    added.key = canonicalKey(module);
    added.fields = fields;
    const std::vector<MapEntry> entries = std::exchange(out.entries, {});
    for (const MapEntry& entry : entries) {
        Split split = splitAt(entry, shape);
        for (MapEntry& part : split.outside) {
            out.entries.push_back(std::move(part));
        }
        for (MapEntry& part : split.inside) {
            dropSet(part.fields, fields);
            part.is_scalar_disk = part.is_scalar_disk && part.fields.store.has_value() &&
                                  part.fields.compute == map.default_fields.compute;
            if (canonicalKey(part.key) == added.key) {
                fillFrom(added.fields, part.fields);
            } else if (!(part.fields == PlaceFields())) {
                out.entries.push_back(std::move(part));
            }
        }
    }
    if (shape.parts.empty()) {
        dropSet(out.default_fields, fields);
        fillFrom(added.fields, out.default_fields);
        out.default_fields = added.fields;
        out.is_default_scalar_disk = false;
    } else {
        out.entries.push_back(std::move(added));
    }
    return out;
}

} // namespace engine
