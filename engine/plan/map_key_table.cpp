// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_key_table.h"

#include "engine/base/sentence_list.h"
#include "engine/base/utf8.h"
#include "engine/families/gemma4/names.h"
#include "engine/plan/map_json.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <unordered_set>
#include <utility>

namespace engine {

namespace {

constexpr size_t kMaxConflicts = 500; ///< DM05 reported one by one.
constexpr int kMaxSearches = 200;     ///< Unknown keys that get proposals (a search each).
constexpr size_t kMaxNotedKeys = 40;  ///< Keys listed one by one in a note.
constexpr size_t kMaxDepth = 32;      ///< More parts than any module's name has.

bool isFieldSet(const PlaceFields& fields, MapField field) {
    switch (field) {
    case MapField::Store:
        return fields.store.has_value();
    case MapField::Compute:
        return fields.compute.has_value();
    case MapField::Format:
        return fields.format.has_value();
    case MapField::Residency:
        return fields.residency.has_value();
    case MapField::Pin:
        return fields.pin.has_value();
    case MapField::DuplicateTied:
        return fields.duplicate_tied.has_value();
    }
    return false;
}

void copyField(PlaceFields& to, const PlaceFields& from, MapField field) {
    switch (field) {
    case MapField::Store:
        to.store = from.store;
        break;
    case MapField::Compute:
        to.compute = from.compute;
        break;
    case MapField::Format:
        to.format = from.format;
        break;
    case MapField::Residency:
        to.residency = from.residency;
        break;
    case MapField::Pin:
        to.pin = from.pin;
        break;
    case MapField::DuplicateTied:
        to.duplicate_tied = from.duplicate_tied;
        break;
    }
}

bool isFieldEqual(const PlaceFields& a, const PlaceFields& b, MapField field) {
    switch (field) {
    case MapField::Store:
        return a.store == b.store;
    case MapField::Compute:
        return a.compute == b.compute;
    case MapField::Format:
        return a.format == b.format;
    case MapField::Residency:
        return a.residency == b.residency;
    case MapField::Pin:
        return a.pin == b.pin;
    case MapField::DuplicateTied:
        return a.duplicate_tied == b.duplicate_tied;
    }
    return true;
}

const char* fieldName(MapField field) {
    switch (field) {
    case MapField::Store:
        return "store";
    case MapField::Compute:
        return "compute";
    case MapField::Format:
        return "format";
    case MapField::Residency:
        return "residency";
    case MapField::Pin:
        return "pin";
    case MapField::DuplicateTied:
        return "duplicate_tied";
    }
    return "field";
}

/// "store cuda:0, compute cpu", as far as the entry says.
Sentence placeOf(const MapEntry& entry) {
    const PlaceFields& fields = entry.fields;
    return fields.store.has_value() && fields.compute.has_value()
               ? said("store %1, compute %2", *fields.store, *fields.compute)
           : fields.store.has_value()   ? said("store %1", *fields.store)
           : fields.compute.has_value() ? said("compute %1", *fields.compute)
                                        : Sentence();
}

Sentence lineOf(const MapEntry& entry) {
    return said("%1 (line %2)", inQuotes(entry.key), std::to_string(entry.key_at.line));
}

PlanIssue keyIssue(const MapEntry& entry, std::string_view code, Sentence words) {
    PlanIssue issue;
    issue.code = code;
    issue.key = entry.key;
    issue.words = std::move(words);
    issue.line = entry.key_at.line;
    issue.column = entry.key_at.column;
    return issue;
}

std::string joinParts(const std::vector<std::string_view>& parts, size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) {
        out += (i == 0 ? "" : ".") + std::string(parts[i]);
    }
    return out;
}

bool isNumber(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Sentence notedKeys(const std::vector<Sentence>& all) {
    const size_t shown = std::min(all.size(), kMaxNotedKeys);
    Sentence list = joined({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown)});
    return all.size() > shown ? said("%1 and %2 more", std::move(list), all.size() - shown) : list;
}

} // namespace

void KeyTable::setIfAbsent(Fields& to, MapField field, const PlaceFields& from, int set_by) {
    if (isFieldSet(from, field) && !isFieldSet(to.values, field)) {
        copyField(to.values, from, field);
        to.set_by[static_cast<size_t>(field) - 1] = set_by;
    }
}

void KeyTable::build() {
    for (size_t i = 0; i < map_.entries.size(); ++i) {
        addEntry(static_cast<int>(i));
    }
    if (!translations_.empty()) {
        out_.notes.emplace_back(said("keys translated to our names: %1", notedKeys(translations_)));
    }
    if (!no_effect_.empty()) {
        out_.notes.emplace_back(said("keys without effect (no tensors that are used lie there): %1",
                                     notedKeys(no_effect_)));
    }
    if (conflicts_.size() > kMaxConflicts) {
        out_.notes.emplace_back(
            said("more than %1 pairs of keys contradict each other; only the first are listed",
                 kMaxConflicts));
    }
}

void KeyTable::addEntry(int index) {
    const MapEntry& entry = map_.entries[static_cast<size_t>(index)];
    const std::string canonical = canonicalKey(entry.key);
    if (canonical.empty()) {
        addKey(canonical, index); // only to find contradictions; its fields are the default
        return;
    }
    KeyRange range;
    if (!map_.is_imported && findRange(canonical, range) == RangeCheck::BadBracket) {
        unknown(canonical, {}, index);
        return;
    }
    if (!checkName(canonical, range, index)) {
        return;
    }
    if (canonical != entry.key) {
        translations_.push_back(said("%1 -> %2", inQuotes(entry.key), inQuotes(canonical)));
    }
    if (range.component < 0) {
        noteUnused(canonical, index);
        addKey(canonical, index);
        return;
    }
    for (int64_t i = range.first; i <= range.last; ++i) {
        addKey(withComponent(canonical, range.component, std::to_string(i)), index);
    }
}

bool KeyTable::checkName(const std::string& canonical, const KeyRange& range, int index) {
    std::string name = canonical;
    if (range.component >= 0) {
        const auto parts = splitKey(canonical);
        const int64_t count =
            names_.numberedChildren(joinParts(parts, static_cast<size_t>(range.component)));
        if (range.last >= count) {
            unknown(canonical, range, index);
            return false;
        }
        for (int64_t i = range.first; i <= range.last; ++i) {
            name = withComponent(canonical, range.component, std::to_string(i));
            const KnownNames::Kind kind = names_.kindOf(name);
            if (kind == KnownNames::Kind::Unknown || kind == KnownNames::Kind::Inside) {
                break;
            }
        }
    }
    switch (names_.kindOf(name)) {
    case KnownNames::Kind::Unknown:
        unknown(canonical, range, index);
        return false;
    case KnownNames::Kind::Inside:
        inside(name, index);
        return false;
    case KnownNames::Kind::NoEffect:
        no_effect_.push_back(asItIs(canonical));
        break;
    default:
        break;
    }
    return true;
}

void KeyTable::unknown(const std::string& canonical, const KeyRange& range, int index) {
    const MapEntry& entry = map_.entries[static_cast<size_t>(index)];
    const auto parts = splitKey(canonical);
    Sentence words = said("%1 is no module or tensor of this model", inQuotes(entry.key));
    bool has_parent = false;
    bool is_index_all = false; // the number is all that is wrong
    const size_t depth = std::min(parts.size(), kMaxDepth);
    for (size_t i = 0; i < depth && !has_parent; ++i) {
        const bool is_range = static_cast<int>(i) == range.component;
        if (!is_range && !isNumber(parts[i])) {
            continue;
        }
        const std::string parent = joinParts(parts, i);
        const int64_t count = names_.numberedChildren(parent);
        const bool is_outside =
            count > 0 && (is_range ? range.last >= count
                                   : names_.kindOf(parent + "." + std::string(parts[i])) ==
                                         KnownNames::Kind::Unknown);
        if (!is_outside) {
            continue;
        }
        has_parent = true;
        words = said("%1; valid numbers for %2 are 0 to %3", std::move(words), parent,
                     std::to_string(count - 1));
        for (int64_t k = 0; k < count && !is_index_all; ++k) {
            const auto kind =
                names_.kindOf(withComponent(canonical, static_cast<int>(i), std::to_string(k)));
            is_index_all = kind != KnownNames::Kind::Unknown && kind != KnownNames::Kind::Inside;
        }
    }
    std::vector<std::string> proposals;
    if (!is_index_all && proposed_ < kMaxSearches) {
        ++proposed_;
        const bool has_range = range.component >= 0;
        const std::string first = std::to_string(range.first);
        proposals = names_.propose(has_range ? withComponent(canonical, range.component, first)
                                             : canonical);
        std::erase_if(proposals, [&](std::string& proposal) {
            // A proposal for a range is a range again, so one at another number is none.
            const auto theirs = splitKey(proposal);
            const int component =
                range.component + static_cast<int>(theirs.size()) - static_cast<int>(parts.size());
            if (!has_range || component < 0 || component >= static_cast<int>(theirs.size())) {
                return false;
            }
            const std::string_view number = theirs[static_cast<size_t>(component)];
            if (number != first) {
                return isNumber(number);
            }
            proposal =
                withComponent(proposal, component, parts[static_cast<size_t>(range.component)]);
            return false;
        });
    }
    KeyRange wished;
    if (!proposals.empty()) {
        Sentence choice = asItIs(proposals.front());
        for (size_t i = 1; i < proposals.size(); ++i) {
            choice = said("%1 or %2", std::move(choice), proposals[i]);
        }
        words = said("%1; did you mean %2?", std::move(words), std::move(choice));
    }
    if (map_.is_imported && findRange(canonical, wished) == RangeCheck::Ok &&
        wished.component >= 0) {
        words = proposals.empty()
                    ? said("%1; ranges exist only in maps with \"version\": 1", std::move(words))
                    : said("%1 ranges exist only in maps with \"version\": 1", std::move(words));
    }
    PlanIssue issue = keyIssue(entry, "DM02", std::move(words));
    for (std::string& proposal : proposals) {
        issue.suggestions.emplace_back(asItIs(std::move(proposal)));
    }
    out_.errors.push_back(std::move(issue));
}

void KeyTable::inside(const std::string& canonical, int index) {
    const MapEntry& entry = map_.entries[static_cast<size_t>(index)];
    const bool is_head = isAtOrBelow(canonical, kHeadName);
    const ExpectedTensor* tensor = is_head ? nullptr : names_.tensorAtOrAbove(canonical);
    const std::string name = is_head ? std::string(kHeadName) : tensor->name;
    const bool can_be_quantized =
        is_head || tensor->kind == TensorKind::Embedding || tensor->kind == TensorKind::Linear;
    if (!can_be_quantized) {
        PlanIssue issue =
            keyIssue(entry, "DM02",
                     said("%1 lies below the tensor %2, which has no parts; did you mean %2?",
                          inQuotes(entry.key), name));
        issue.suggestions.emplace_back(asItIs(name));
        out_.errors.push_back(std::move(issue));
        return;
    }
    PlanIssue issue = keyIssue(entry, "DM06",
                               said("%1 points inside a weight: codes and statistics of %2 are one "
                                    "tensor and live on one device; name %2",
                                    inQuotes(entry.key), name));
    issue.suggestions.emplace_back(asItIs(name));
    out_.errors.push_back(std::move(issue));
}

void KeyTable::noteUnused(const std::string& canonical, int index) {
    const KnownNames::Span span = names_.below(canonical);
    if (span.begin >= span.end) {
        return;
    }
    for (size_t i = span.begin; i < span.end; ++i) {
        if (!names_.at(i).is_unused) {
            return;
        }
    }
    // A tower that a text-only load leaves out, or keys and values that another layer has.
    const bool is_shared = !isMedia(partOfName(canonical));
    const std::string& key = map_.entries[static_cast<size_t>(index)].key;
    no_effect_.push_back(is_shared
                             ? said("%1 (its layer reads another layer's keys and values)", key)
                             : asItIs(key));
}

void KeyTable::addKey(const std::string& canonical, int index) {
    const MapEntry& entry = map_.entries[static_cast<size_t>(index)];
    const auto [it, is_new] = keys_.try_emplace(canonical);
    lengths_.resize(std::max(lengths_.size(), canonical.size() + 1), false);
    lengths_[canonical.size()] = true;
    Setter& setter = it->second;
    if (is_new) {
        setter.set_by.fill(kSetByRule);
    }
    for (int f = 1; f <= kMapFieldCount; ++f) {
        const auto field = static_cast<MapField>(f);
        if (!isFieldSet(entry.fields, field)) {
            continue;
        }
        int& set_by = setter.set_by[static_cast<size_t>(f) - 1];
        bool& is_disputed = setter.is_disputed[static_cast<size_t>(f) - 1];
        if (set_by == kSetByRule) {
            copyField(setter.values, entry.fields, field);
            set_by = index;
            continue;
        }
        is_disputed = is_disputed || !isFieldEqual(setter.values, entry.fields, field);
        for (const int other : setter.entries) {
            if (!is_disputed || conflicts_.size() > kMaxConflicts) {
                break;
            }
            const PlaceFields& theirs = map_.entries[static_cast<size_t>(other)].fields;
            if (isFieldSet(theirs, field) && !isFieldEqual(theirs, entry.fields, field)) {
                conflict(other, index, canonical, field);
            }
        }
    }
    setter.entries.push_back(index);
}

void KeyTable::conflict(int first, int second, const std::string& canonical, MapField field) {
    if (conflicts_.size() > kMaxConflicts || !conflicts_.insert({first, second}).second) {
        return;
    }
    const MapEntry& a = map_.entries[static_cast<size_t>(first)];
    const MapEntry& b = map_.entries[static_cast<size_t>(second)];
    PlanIssue issue = keyIssue(
        b, "DM05",
        said("the keys %1 and %2 both mean %3 but set %4 to different values (%5 against %6); "
             "a single number does not beat a range: keep one",
             lineOf(a), lineOf(b),
             canonical.empty() ? Sentence(phrase("the whole model")) : asItIs(canonical),
             fieldName(field), placeOf(a), placeOf(b)));
    if (!canonical.empty()) {
        issue.modules.push_back(canonical);
    }
    out_.errors.push_back(std::move(issue));
}

namespace {

/// Bytes that both begin with, eight at a time: names of a model share most of theirs.
size_t sharedLength(std::string_view a, std::string_view b) {
    const size_t shortest = std::min(a.size(), b.size());
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= shortest; at += sizeof(uint64_t)) {
        if (std::memcmp(a.data() + at, b.data() + at, sizeof(uint64_t)) != 0) {
            break;
        }
    }
    while (at < shortest && a[at] == b[at]) {
        ++at;
    }
    return at;
}

} // namespace

DeviceMap placedAnew(const DeviceMap& map,
                     const std::vector<PlanIssue>& errors,
                     std::string_view module,
                     const PlaceFields& fields) {
    std::unordered_set<std::string_view> refused_keys;
    for (const PlanIssue& issue : errors) {
        if (issue.code == "DM02" || issue.code == "DM06") {
            refused_keys.insert(issue.key);
        }
    }
    const auto isRefused = [&](const MapEntry& entry) { return refused_keys.contains(entry.key); };
    DeviceMap known = map;
    DeviceMap refused = map;
    std::erase_if(known.entries, isRefused);
    std::erase_if(refused.entries, std::not_fn(isRefused));
    DeviceMap out = withPlace(known, module, fields);
    for (MapEntry& entry : nativeForm(refused).entries) {
        out.entries.push_back(std::move(entry));
    }
    return out;
}

KeyTable::Fields KeyTable::lookUp(std::string_view tensor) {
    Fields fields;
    fields.set_by.fill(kSetByRule);
    if (keys_.empty()) {
        return fields;
    }
    // Keep the part of the chain that the name shares with the one before.
    const size_t shared = sharedLength(tensor, last_name_);
    const auto isComponentEnd = [&tensor](size_t at) {
        return at == tensor.size() || tensor[at] == '.';
    };
    while (!chain_.empty() &&
           (chain_.back().first > shared || !isComponentEnd(chain_.back().first))) {
        chain_.pop_back();
    }
    size_t begin = chain_.empty() ? 0 : chain_.back().first + 1;
    while (begin <= tensor.size()) {
        const size_t dot = tensor.find('.', begin);
        const size_t end = dot == std::string_view::npos ? tensor.size() : dot;
        const auto it = end < lengths_.size() && lengths_[end] ? keys_.find(tensor.substr(0, end))
                                                               : keys_.end();
        chain_.emplace_back(end, it == keys_.end() ? nullptr : &it->second);
        begin = end + 1;
    }
    last_name_ = tensor;

    for (size_t i = chain_.size(); i-- > 0;) {
        const Setter* setter = chain_[i].second;
        if (setter == nullptr) {
            continue;
        }
        fields.is_covered = true;
        const bool had_format = fields.values.format.has_value();
        for (int f = 1; f <= kMapFieldCount; ++f) {
            const auto field = static_cast<MapField>(f);
            setIfAbsent(fields, field, setter->values, setter->set_by[static_cast<size_t>(f) - 1]);
        }
        if (!had_format && fields.values.format.has_value()) {
            const std::string_view rest = tensor.substr(chain_[i].first);
            fields.is_format_exact = rest.empty() || rest == ".weight";
        }
    }
    return fields;
}

} // namespace engine
