// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_write.h"

#include "engine/families/gemma4/names.h"
#include "engine/plan/map_json.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/map_tree.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace engine {

namespace {

std::string residencyName(Residency residency) {
    switch (residency) {
    case Residency::Always:
        return "always";
    case Residency::OnUse:
        return "on_use";
    case Residency::Stream:
        return "stream";
    }
    return "always";
}

std::string placeText(const PlaceFields& fields, bool is_scalar_disk) {
    const bool has_only_place = !fields.format.has_value() && !fields.residency.has_value() &&
                                !fields.pin.has_value() && !fields.duplicate_tied.has_value();
    if (has_only_place && is_scalar_disk) {
        return "\"disk\"";
    }
    if (has_only_place && fields.store.has_value() && fields.store == fields.compute) {
        return jsonString(fields.store->toString());
    }
    std::string out;
    const auto member = [&out](const char* name, const std::string& value) {
        out += out.empty() ? "{ " : ", ";
        out += jsonString(name) + ": " + value;
    };
    if (fields.store.has_value()) {
        member("store", jsonString(fields.store->toString()));
    }
    if (fields.compute.has_value()) {
        member("compute", jsonString(fields.compute->toString()));
    }
    if (fields.format.has_value()) {
        member("format", jsonString(formatName(*fields.format)));
    }
    if (fields.residency.has_value()) {
        member("residency", jsonString(residencyName(*fields.residency)));
    }
    if (fields.pin.has_value()) {
        member("pin", *fields.pin ? "true" : "false");
    }
    if (fields.duplicate_tied.has_value()) {
        member("duplicate_tied", *fields.duplicate_tied ? "true" : "false");
    }
    return out + " }";
}

/// "6GiB" where that is exact, else the number of bytes.
std::string sizeText(uint64_t bytes) {
    const std::pair<uint64_t, const char*> units[] = {
        {uint64_t{1} << 30U, "GiB"}, {uint64_t{1} << 20U, "MiB"}, {uint64_t{1} << 10U, "KiB"}};
    for (const auto& [factor, name] : units) {
        if (bytes > 0 && bytes % factor == 0) {
            return jsonString(std::to_string(bytes / factor) + name);
        }
    }
    return std::to_string(bytes);
}

std::string sizesText(const std::map<DeviceId, DeviceMap::Size>& sizes) {
    std::string out;
    for (const auto& [device, size] : sizes) {
        out += (out.empty() ? "{ " : ", ") + jsonString(device.toString()) + ": " +
               sizeText(size.bytes);
    }
    return out + " }";
}

/// The members of the document, each as one text.
std::vector<std::string> documentMembers(const DeviceMap& map) {
    std::vector<std::string> members = {"\"version\": 1"};
    std::string model;
    if (map.model_architecture.has_value()) {
        model += "\"architecture\": " + jsonString(*map.model_architecture);
    }
    if (map.model_layers.has_value()) {
        model += (model.empty() ? "" : ", ") + std::string("\"layers\": ") +
                 std::to_string(*map.model_layers);
    }
    if (!model.empty()) {
        members.push_back("\"model\": { " + model + " }");
    }
    members.push_back("\"default\": " + placeText(map.default_fields, map.is_default_scalar_disk));
    if (!map.entries.empty()) {
        std::string keys = "\"map\": {";
        for (size_t i = 0; i < map.entries.size(); ++i) {
            const MapEntry& entry = map.entries[i];
            // What is stored on disk and computed where the default computes is plain "disk".
            const bool is_disk =
                entry.is_scalar_disk ||
                (entry.fields.store == DeviceId::disk() && entry.fields.compute.has_value() &&
                 entry.fields.compute == map.default_fields.compute);
            keys += std::string(i == 0 ? "" : ",") + "\n    " + jsonString(entry.key) + ": " +
                    placeText(entry.fields, is_disk);
        }
        members.push_back(keys + "\n  }");
    }
    if (!map.limits.empty()) {
        members.push_back("\"limits\": " + sizesText(map.limits));
    }
    if (!map.reserve.empty()) {
        members.push_back("\"reserve\": " + sizesText(map.reserve));
    }
    std::string kv;
    const auto addKv = [&kv](const std::string& text) { kv += (kv.empty() ? "" : ", ") + text; };
    if (map.kv_context.has_value()) {
        addKv("\"context\": " + std::to_string(*map.kv_context));
    }
    if (map.kv_place.has_value()) {
        addKv("\"place\": " + jsonString(map.kv_place->toString()));
    }
    if (map.kv_format != Format::AsStored) {
        addKv(std::string("\"format\": ") + (map.kv_format == Format::Bf16  ? "\"bf16\""
                                             : map.kv_format == Format::F16 ? "\"f16\""
                                                                            : "\"q8\""));
    }
    if (!kv.empty()) {
        members.push_back("\"kv\": { " + kv + " }");
    }
    if (map.expert_cache.has_value()) {
        members.push_back(R"("experts": { "cache": )" +
                          (*map.expert_cache == kAllThatIsLeft ? std::string(R"("max")")
                           : *map.expert_cache == 0            ? std::string(R"("off")")
                                                    : std::to_string(*map.expert_cache)) +
                          " }");
    }
    if (map.adapter_place == AdapterPlace::FollowCompute) {
        members.emplace_back(R"("adapter": { "place": "follow_compute" })");
    }
    if (!map.notes.empty()) {
        members.push_back("\"notes\": " + jsonString(map.notes));
    }
    return members;
}

/// Numbers for values that have no order.
template <typename T>
class Numbering {
public:
    int numberOf(const T& value) {
        const auto it = std::find(values_.begin(), values_.end(), value);
        if (it != values_.end()) {
            return static_cast<int>(it - values_.begin());
        }
        values_.push_back(value);
        return static_cast<int>(values_.size()) - 1;
    }
    [[nodiscard]] const T& at(int number) const { return values_[static_cast<size_t>(number)]; }

private:
    std::vector<T> values_;
};

constexpr int kUnset = 0; ///< Marks a field that nothing is said of.

/// What one of a map's places says of residency or of pin, as a number.
using SaidField = int (*)(const PlaceFields& fields);

int residencyNumber(const PlaceFields& fields) {
    return fields.residency.has_value() ? static_cast<int>(*fields.residency) : kUnset;
}

int pinNumber(const PlaceFields& fields) {
    return !fields.pin.has_value() ? kUnset : *fields.pin ? 2 : 1;
}

/// What says so of this row: the default, a key, or nothing.
int saidOf(const DeviceMap& map, const ResolvedTensor& row, MapField field, SaidField number) {
    const int by = row.set_by[static_cast<size_t>(field) - 1];
    return by == kSetByDefault ? number(map.default_fields)
           : by >= 0           ? number(map.entries[static_cast<size_t>(by)].fields)
                               : kUnset;
}

/// Residency below a key where nothing else is said; kUnset: not the same everywhere there.
int usualResidency(std::string_view key) {
    const Part part = partOfName(key);
    const Residency usual = isMedia(part) ? Residency::OnUse : Residency::Stream;
    const bool is_one = isMedia(part) || isDecoderName(key);
    return is_one ? static_cast<int>(usual) : kUnset;
}

/// The keys that say something of one field, without those that repeat what holds there anyway.
/// They stay where the map has them: told of a larger or smaller part, they would mean something
/// else to a tensor whose place changes later. `tensors`: names, sorted. lm_head is left out.
std::vector<MapTree::Key> saidKeys(const DeviceMap& map,
                                   const std::vector<std::string_view>& tensors,
                                   SaidField number,
                                   int (*usual)(std::string_view key)) {
    std::vector<MapTree::Key> all;
    std::map<std::string, int, std::less<>> by_path;
    const auto add = [&](std::string path, int value) {
        const auto below = std::lower_bound(tensors.begin(), tensors.end(), path);
        if (below != tensors.end() && isAtOrBelow(*below, path) &&
            by_path.emplace(path, value).second) {
            all.push_back({std::move(path), value});
        }
    };
    for (const MapEntry& entry : map.entries) {
        const int value = number(entry.fields);
        const std::string key = canonicalKey(entry.key);
        if (value == kUnset || key.empty()) {
            continue;
        }
        KeyRange range;
        findRange(key, range);
        if (range.component < 0) {
            add(key, value);
        }
        for (int64_t i = range.first; range.component >= 0 && i <= range.last; ++i) {
            add(withComponent(key, range.component, std::to_string(i)), value);
        }
    }
    std::erase_if(all, [&](const MapTree::Key& key) {
        std::string_view above = key.path;
        while (above.find('.') != std::string_view::npos) {
            above = above.substr(0, above.rfind('.'));
            const auto it = by_path.find(above);
            if (it != by_path.end()) {
                return it->second == key.value;
            }
        }
        const int by_default = number(map.default_fields);
        return key.value == (by_default != kUnset ? by_default : usual(key.path));
    });
    return all;
}

/// Collects keys of several trees into entries, one per key.
class EntryMaker {
public:
    explicit EntryMaker(DeviceMap& map) : map_(map) {}

    template <typename Set>
    void add(const std::vector<MapTree::Key>& keys, Set set) {
        for (const MapTree::Key& key : withRanges(keys)) {
            set(fieldsOf(key.path), key.value);
        }
    }

    PlaceFields& fieldsOf(const std::string& path) {
        if (path.empty()) {
            return map_.default_fields;
        }
        for (MapEntry& entry : map_.entries) {
            if (entry.key == path) {
                return entry.fields;
            }
        }
        map_.entries.emplace_back();
        map_.entries.back().key = path;
        return map_.entries.back().fields;
    }

private:
    DeviceMap& map_;
};

int setBy(const ResolvedTensor& row, MapField field) {
    return row.set_by[static_cast<size_t>(field) - 1];
}

/// A map said again with the fewest keys that give every tensor what it has: what canonicalMap()
/// collects, and the entries that it makes of that.
class CanonicalMap {
public:
    CanonicalMap(const DeviceMap& map, const ResolveInput& input);
    void addTensor(const ResolvedTensor& row);
    /// After all tensors.
    void addHead();
    [[nodiscard]] DeviceMap entries();

private:
    [[nodiscard]] bool isHeadFormatOwn() const {
        return head_ != nullptr && setBy(*head_, MapField::Format) >= kSetByDefault;
    }
    [[nodiscard]] bool hasHeadKey() const;
    [[nodiscard]] std::vector<MapTree::Key>
    keysOf(MapField field, SaidField number, int (*usual)(std::string_view key)) const;
    void addFormats(EntryMaker& maker) const;
    void addHeadEntry(EntryMaker& maker) const;

    const DeviceMap& map_;
    const ResolveInput& input_;
    /// A head that the files hold is a tensor like any other.
    bool has_stored_head_;
    ExpectedTensor stored_head_;
    std::string head_name_ = partName({PartRole::Head});
    const ResolvedTensor* head_ = nullptr; ///< A copy of the table.
    const ResolvedTensor* table_ = nullptr;
    MapTree places_, small_formats_, dense_formats_;
    Numbering<std::pair<DeviceId, DeviceId>> place_numbers_;
    std::vector<std::string_view> names_;
    std::vector<std::pair<std::string, Format>> exact_formats_;
};

CanonicalMap::CanonicalMap(const DeviceMap& map, const ResolveInput& input)
    : map_(map), input_(input),
      has_stored_head_(input.config != nullptr && input.config->has_own_head),
      stored_head_(has_stored_head_ ? headTensor(*input.config) : ExpectedTensor()) {}

void CanonicalMap::addTensor(const ResolvedTensor& row) {
    if (row.index < 0 && !has_stored_head_) {
        head_ = &row;
        return;
    }
    const ExpectedTensor& tensor =
        row.index < 0 ? stored_head_ : (*input_.tensors)[static_cast<size_t>(row.index)];
    if (tensor.part.role == PartRole::Embedding) {
        table_ = &row;
    }
    // An assistant that follows its layers goes on doing so.
    const bool is_following = tensor.part.role == PartRole::Assistant &&
                              setBy(row, MapField::Store) == kSetByRule &&
                              setBy(row, MapField::Compute) == kSetByRule;
    if (!is_following) {
        places_.add(tensor.name, place_numbers_.numberOf({row.store, row.compute}));
    }
    names_.push_back(tensor.name);
    // A 4-bit format or q8 on a larger part concerns its linear weights only; the others do not
    // mind. A dense format concerns everything.
    const bool is_format_given = setBy(row, MapField::Format) >= kSetByDefault;
    const bool is_small = isQuantized(row.format);
    const int given = is_format_given ? static_cast<int>(row.format) : kUnset;
    if (!isQuantizable(tensor)) {
        small_formats_.add(tensor.name, MapTree::kAny);
        if (is_format_given && is_small) {
            const bool has_own_name = tensor.kind == TensorKind::Experts; // not its module's
            exact_formats_.emplace_back(has_own_name ? tensor.name : tensor.module, row.format);
        }
    } else {
        small_formats_.add(tensor.name, is_small ? given : kUnset);
    }
    dense_formats_.add(tensor.name, is_small ? kUnset : given);
}

/// --head alone makes this copy again where nothing else is its own.
bool CanonicalMap::hasHeadKey() const {
    return head_ != nullptr && table_ != nullptr &&
           (head_->store != table_->store || head_->compute != table_->compute ||
            head_->residency != table_->residency || head_->pin != table_->pin ||
            isHeadFormatOwn() || setBy(*head_, MapField::Format) != kSetByOption ||
            setBy(*table_, MapField::Format) >= kSetByDefault);
}

void CanonicalMap::addHead() {
    std::sort(names_.begin(), names_.end());
    if (has_stored_head_) {
        return;
    }
    // What is said of the whole model would be said of this copy as well, also of one that only a
    // later key makes.
    const Format by_default = map_.default_fields.format.value_or(kFourBitFormat);
    int format = isQuantized(by_default) ? kUnset : static_cast<int>(by_default);
    if (hasHeadKey()) {
        format = isHeadFormatOwn() && !isQuantized(head_->format) ? static_cast<int>(head_->format)
                                                                  : kUnset;
    }
    dense_formats_.add(head_name_, format);
}

std::vector<MapTree::Key>
CanonicalMap::keysOf(MapField field, SaidField number, int (*usual)(std::string_view key)) const {
    std::vector<MapTree::Key> keys = saidKeys(map_, names_, number, usual);
    const int of_head = hasHeadKey() ? saidOf(map_, *head_, field, number) : kUnset;
    const int by_default = number(map_.default_fields);
    const int unsaid = by_default != kUnset ? by_default : usual(head_name_);
    if (of_head != kUnset && of_head != unsaid) {
        keys.push_back({head_name_, of_head});
    }
    return keys;
}

void CanonicalMap::addFormats(EntryMaker& maker) const {
    for (const MapTree* formats : {&small_formats_, &dense_formats_}) {
        std::vector<MapTree::Key> keys = formats->uniformParts(kUnset);
        if (!hasHeadKey() && !has_stored_head_) { // a key would make a head of its own
            std::erase_if(keys, [&](const MapTree::Key& key) { return key.path == head_name_; });
        }
        maker.add(keys, [](PlaceFields& fields, int value) {
            fields.format = static_cast<Format>(value);
        });
    }
}

void CanonicalMap::addHeadEntry(EntryMaker& maker) const {
    if (hasHeadKey()) {
        PlaceFields& fields = maker.fieldsOf(head_name_);
        fields.store = head_->store;
        fields.compute = head_->compute;
        fields.duplicate_tied = true;
        if (isHeadFormatOwn()) {
            fields.format = head_->format;
        }
    } else if (!has_stored_head_ && head_ == nullptr && table_ != nullptr &&
               input_.head != Format::AsStored &&
               setBy(*table_, MapField::Format) < kSetByDefault) {
        // A key keeps the head as the table is, against --head.
        PlaceFields& fields = maker.fieldsOf(head_name_);
        fields.store = table_->store;
        fields.compute = table_->compute;
        fields.format = table_->format;
    }
}

DeviceMap CanonicalMap::entries() {
    DeviceMap out = nativeForm(map_);
    out.entries.clear();
    out.default_fields = {};
    out.is_default_scalar_disk = false;
    out.default_fields.residency = map_.default_fields.residency;
    out.default_fields.pin = map_.default_fields.pin;
    EntryMaker maker(out);
    maker.add(places_.fewestKeys(), [&](PlaceFields& fields, int value) {
        fields.store = place_numbers_.at(value).first;
        fields.compute = place_numbers_.at(value).second;
    });
    maker.add(
        keysOf(MapField::Residency, residencyNumber, usualResidency),
        [](PlaceFields& fields, int value) { fields.residency = static_cast<Residency>(value); });
    addFormats(maker);
    maker.add(keysOf(MapField::Pin, pinNumber, [](std::string_view) { return kUnset; }),
              [](PlaceFields& fields, int value) { fields.pin = value == 2; });
    for (const auto& [module, format] : exact_formats_) {
        maker.fieldsOf(module).format = format;
    }
    addHeadEntry(maker);
    return out;
}

} // namespace

std::string writeDeviceMap(const DeviceMap& map) {
    const std::vector<std::string> members = documentMembers(nativeForm(map));
    std::string out = "{";
    for (size_t i = 0; i < members.size(); ++i) {
        out += (i == 0 ? "\n  " : ",\n  ") + members[i];
    }
    return out + "\n}\n";
}

DeviceMap canonicalMap(const DeviceMap& map, const ResolveInput& input) {
    const Resolution resolved = resolveDeviceMap(map, input);
    if (!resolved.errors.empty()) {
        return nativeForm(map);
    }
    CanonicalMap canonical(map, input);
    for (const ResolvedTensor& row : resolved.tensors) {
        canonical.addTensor(row);
    }
    canonical.addHead();
    return canonical.entries();
}

} // namespace engine
