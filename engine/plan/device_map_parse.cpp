// SPDX-License-Identifier: Apache-2.0
// From the text of a device map to checked values: both forms, and every complaint that needs no
// model (DM01, DM11). What the model decides is in map_resolve.cpp.
#include "engine/api/error_cause.h"
#include "engine/api/formats.h"
#include "engine/families/gemma4/names.h"
#include "engine/plan/device_map.h"
#include "engine/plan/map_json.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/plan_english.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace engine {

namespace {

constexpr uint64_t kMaxSize = std::numeric_limits<uint64_t>::max();
constexpr int kMaxIssues = 200;

bool isPlainInteger(std::string_view literal) {
    return !literal.empty() && literal.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A number that is an integer >= 0 in JSON Schema's sense (4096, 4096.0, 4e3), saturated.
std::optional<uint64_t> wholeNumber(const Json& value) {
    if (value.kind != Json::Kind::Number) {
        return std::nullopt;
    }
    uint64_t exact = 0;
    const char* end = value.text.data() + value.text.size();
    if (isPlainInteger(value.text)) {
        const auto [stop, error] = std::from_chars(value.text.data(), end, exact);
        return error == std::errc() && stop == end ? exact : kMaxSize;
    }
    double number = 0;
    const auto [stop, error] = std::from_chars(value.text.data(), end, number);
    if (error != std::errc() || stop != end || number < 0 || number != std::floor(number)) {
        return std::nullopt;
    }
    return number >= 0x1p64 ? kMaxSize : static_cast<uint64_t>(number);
}

/// cuda:N or sim:N with N from 0 to 99, "cpu", "disk": the schema's pattern. Wider than
/// DeviceId::parse, so that a device that no machine has becomes DM04, not DM01.
std::optional<DeviceId> placeDevice(std::string_view text) {
    if (text == "cpu") {
        return DeviceId::cpu();
    }
    if (text == "disk") {
        return DeviceId::disk();
    }
    const bool is_cuda = text.starts_with("cuda:");
    if (!is_cuda && !text.starts_with("sim:")) {
        return std::nullopt;
    }
    const std::string_view digits = text.substr(text.find(':') + 1);
    if (digits.size() > 2 || !isPlainInteger(digits) || (digits.size() == 2 && digits[0] == '0')) {
        return std::nullopt;
    }
    int index = 0;
    for (const char c : digits) {
        index = index * 10 + (c - '0');
    }
    return is_cuda ? DeviceId::cuda(index) : DeviceId::sim(index);
}

enum class SizeText : uint8_t { Ok = 1, WrongCase, Bad };

/// ^[0-9]+(\.[0-9]+)?(KiB|MiB|GiB|KB|MB|GB)$, exactly, fractions of a byte dropped.
SizeText readSizeText(std::string_view text, uint64_t& bytes) {
    size_t i = text.find_first_not_of("0123456789");
    if (i == 0 || i == std::string_view::npos) {
        return SizeText::Bad;
    }
    const std::string_view whole = text.substr(0, i);
    std::string_view fraction;
    if (text[i] == '.') {
        const size_t begin = i + 1;
        i = text.find_first_not_of("0123456789", begin);
        if (i == begin || i == std::string_view::npos) {
            return SizeText::Bad;
        }
        fraction = text.substr(begin, i - begin);
    }
    struct Unit {
        std::string_view name;
        uint64_t factor;
    };
    static constexpr Unit kUnits[] = {{"KiB", uint64_t{1} << 10U}, {"MiB", uint64_t{1} << 20U},
                                      {"GiB", uint64_t{1} << 30U}, {"KB", 1'000},
                                      {"MB", 1'000'000},           {"GB", 1'000'000'000}};
    const std::string_view suffix = text.substr(i);
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    for (const Unit& unit : kUnits) {
        const bool fits_any_case =
            std::equal(suffix.begin(), suffix.end(), unit.name.begin(), unit.name.end(),
                       [&lower](char a, char b) { return lower(a) == lower(b); });
        if (!fits_any_case) {
            continue;
        }
        if (suffix != unit.name) {
            return SizeText::WrongCase;
        }
        uint64_t carry = 0; // of 0.fraction * factor, from the last digit up: exact
        for (size_t k = fraction.size(); k-- > 0;) {
            carry = (static_cast<uint64_t>(fraction[k] - '0') * unit.factor + carry) / 10;
        }
        uint64_t value = 0;
        for (const char c : whole) {
            const auto digit = static_cast<uint64_t>(c - '0');
            if (value > (kMaxSize - digit) / 10) {
                bytes = kMaxSize;
                return SizeText::Ok;
            }
            value = value * 10 + digit;
        }
        bytes = value > (kMaxSize - carry) / unit.factor ? kMaxSize : value * unit.factor + carry;
        return SizeText::Ok;
    }
    return SizeText::Bad;
}

template <typename T>
struct Word {
    std::string_view text;
    T value;
};
constexpr auto kFormatWords = [] {
    std::array<Word<Format>, std::size(kFormatRows)> words{};
    for (size_t i = 0; i < words.size(); ++i) {
        words[i] = {kFormatRows[i].name, kFormatRows[i].format};
    }
    return words;
}();
constexpr Word<Residency> kResidencies[] = {
    {"always", Residency::Always}, {"on_use", Residency::OnUse}, {"stream", Residency::Stream}};
constexpr Word<Format> kKvFormats[] = {
    {"bf16", Format::Bf16}, {"f16", Format::F16}, {"q8", Format::Q8}};
constexpr Word<AdapterPlace> kAdapterPlaces[] = {{"follow_base", AdapterPlace::FollowBase},
                                                 {"follow_compute", AdapterPlace::FollowCompute}};

template <typename Words>
std::vector<std::string> textsOf(const Words& words) {
    std::vector<std::string> out;
    out.reserve(std::size(words));
    for (const auto& word : words) {
        out.emplace_back(word.text);
    }
    return out;
}

/// "a", "b" or "c".
Sentence choiceOf(const std::vector<std::string>& words) {
    std::string all;
    for (size_t i = 0; i + 1 < words.size(); ++i) {
        all += (i == 0 ? "" : ", ") + inQuotes(words[i]);
    }
    return said("%1 or %2", all, inQuotes(words.back()));
}

class MapReader {
public:
    explicit MapReader(const ParseContext& context) : context_(context) {}

    DeviceMap map;
    std::vector<PlanIssue> issues;

    void read(std::string_view text) {
        MapJsonProblem problem;
        const std::optional<Json> root = readMapJson(text, problem);
        if (!root.has_value()) {
            complain("DM01", problem.key, problem.at, std::move(problem.words));
            return;
        }
        if (root->kind != Json::Kind::Object) {
            complain("DM01", "", root->at,
                     said("a device map is a JSON object, found %1", foundJson(*root)));
            return;
        }
        if (root->find("version") != nullptr) {
            readNative(*root);
            return;
        }
        for (const JsonMember& member : root->members) {
            if (member.value.kind == Json::Kind::Object) {
                complain("DM01", member.key, member.key_at,
                         phrase("version is missing: with an object as a value this is not "
                                "accelerate's form; add \"version\": 1 and put module keys into "
                                "\"map\""));
                return;
            }
        }
        readImported(*root);
    }

private:
    void complain(std::string_view code, std::string key, MapPosition at, Sentence words) {
        if (issues.size() >= kMaxIssues) {
            return;
        }
        PlanIssue issue;
        issue.code = code;
        issue.key = std::move(key);
        issue.words = std::move(words);
        issue.line = at.line;
        issue.column = at.column;
        issues.push_back(std::move(issue));
    }

    void complainValue(const JsonMember& member, const Sentence& expected) {
        complain("DM01", member.key, member.value.at,
                 said("%1: expected %2, found %3", inQuotes(member.key), expected,
                      foundJson(member.value)));
    }

    [[nodiscard]] DeviceId numbered(int index) const {
        return context_.are_integers_sim ? DeviceId::sim(index) : DeviceId::cuda(index);
    }

    /// An integer written as one, 0 to `last`.
    static std::optional<int> deviceNumber(const Json& value, int last) {
        if (value.kind != Json::Kind::Number || !isPlainInteger(value.text) ||
            value.text.size() > 2) {
            return std::nullopt;
        }
        int index = 0;
        for (const char c : value.text) {
            index = index * 10 + (c - '0');
        }
        return index <= last ? std::optional<int>(index) : std::nullopt;
    }

    // --- imported form -----------------------------------------------------------------------

    std::optional<DeviceId> importedDevice(const Json& value) {
        if (value.kind == Json::Kind::String) {
            return value.text == "cuda" ? DeviceId::cuda(0) : placeDevice(value.text);
        }
        if (const std::optional<int> index = deviceNumber(value, 99)) {
            return numbered(*index);
        }
        return std::nullopt;
    }

    void readImported(const Json& root) {
        map.is_imported = true;
        std::vector<DeviceId> devices;
        std::optional<DeviceId> main;
        for (const JsonMember& member : root.members) {
            const std::optional<DeviceId> device = importedDevice(member.value);
            if (!device.has_value()) {
                complainValue(
                    member, phrase("\"cpu\", \"disk\", \"cuda:N\", \"sim:N\" or a device number"));
                continue;
            }
            devices.push_back(*device);
            // Lowest number; of equal numbers cuda (DeviceId orders cuda before sim).
            if (device->isGpu() && (!main.has_value() || device->index < main->index ||
                                    (device->index == main->index && *device < *main))) {
                main = device;
            }
        }
        if (!issues.empty()) {
            return;
        }
        map.main_device = main.value_or(DeviceId::cpu());
        for (size_t i = 0; i < root.members.size(); ++i) {
            const JsonMember& member = root.members[i];
            MapEntry entry;
            entry.key = member.key;
            entry.key_at = member.key_at;
            entry.value_at = member.value.at;
            entry.fields.store = devices[i];
            // Experts that a key names are computed where they are: few of them serve a token, and
            // all of them would travel.
            const std::string name = canonicalKey(entry.key);
            const bool stays = devices[i] == DeviceId::cpu() && isExpertsName(name);
            entry.fields.compute = devices[i].isGpu() || stays ? devices[i] : map.main_device;
            if (name.empty() && !map.has_default) {
                map.has_default = true;
                map.default_fields = entry.fields;
                map.default_at = entry.value_at;
            }
            map.entries.push_back(std::move(entry));
        }
    }

    // --- native form -------------------------------------------------------------------------

    void readNative(const Json& root) {
        if (root.find("default") == nullptr) {
            complain("DM01", "default", root.at,
                     phrase("the member \"default\" is missing; it says where everything goes that "
                            "no key names, for example \"default\": \"cuda:0\""));
        }
        for (const JsonMember& member : root.members) {
            const std::string& name = member.key;
            if (name == "version") {
                if (wholeNumber(member.value) != uint64_t{1}) {
                    complainValue(member, phrase("1 (the only version there is)"));
                }
            } else if (name == "model") {
                readModel(member);
            } else if (name == "default") {
                MapEntry entry;
                if (readPlace(member, entry)) {
                    map.has_default = true;
                    map.default_fields = entry.fields;
                    map.is_default_scalar_disk = entry.is_scalar_disk;
                    map.default_at = member.value.at;
                }
            } else if (name == "map") {
                readEntries(member);
            } else if (name == "limits") {
                readSizes(member, map.limits);
            } else if (name == "reserve") {
                readSizes(member, map.reserve);
            } else if (name == "kv") {
                readKv(member);
            } else if (name == "experts") {
                readExperts(member);
            } else if (name == "adapter") {
                readAdapter(member);
            } else if (name == "notes") {
                if (member.value.kind == Json::Kind::String) {
                    map.notes = member.value.text;
                } else {
                    complainValue(member, phrase("text"));
                }
            } else {
                unknownMember(member, {"version", "model", "default", "map", "limits", "reserve",
                                       "kv", "experts", "adapter", "notes"});
            }
        }
        for (MapEntry& entry : map.entries) {
            if (entry.is_scalar_disk) {
                entry.fields.compute = map.default_fields.compute;
            }
        }
    }

    void unknownMember(const JsonMember& member, const std::vector<std::string>& known) {
        complain("DM01", member.key, member.key_at,
                 said("unknown member %1; known are %2", inQuotes(member.key),
                      listed(known, known.size())));
    }

    bool isObject(const JsonMember& member) {
        if (member.value.kind == Json::Kind::Object) {
            return true;
        }
        complainValue(member, phrase("an object"));
        return false;
    }

    void readModel(const JsonMember& member) {
        map.model_at = member.value.at;
        if (!isObject(member)) {
            return;
        }
        for (const JsonMember& part : member.value.members) {
            if (part.key == "architecture") {
                if (part.value.kind == Json::Kind::String) {
                    map.model_architecture = part.value.text;
                } else {
                    complainValue(part, phrase("text"));
                }
            } else if (part.key == "layers") {
                const bool is_negative =
                    part.value.kind == Json::Kind::Number && part.value.text.starts_with('-');
                Json magnitude = part.value;
                if (is_negative) {
                    magnitude.text.erase(0, 1);
                }
                const std::optional<uint64_t> layers = wholeNumber(magnitude);
                if (layers.has_value()) {
                    const auto value = static_cast<int64_t>(std::min<uint64_t>(
                        *layers, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
                    map.model_layers = is_negative ? -value : value;
                } else {
                    complainValue(part, phrase("an integer"));
                }
            }
        }
    }

    template <typename Words, typename T>
    void readWord(const JsonMember& member, const Words& words, std::optional<T>& out) {
        if (member.value.kind == Json::Kind::String) {
            for (const auto& word : words) {
                if (word.text == member.value.text) {
                    out = word.value;
                    return;
                }
            }
        }
        complainValue(member, choiceOf(textsOf(words)));
    }

    void readBool(const JsonMember& member, std::optional<bool>& out) {
        if (member.value.kind == Json::Kind::Bool) {
            out = member.value.boolean;
        } else {
            complainValue(member, phrase("true or false"));
        }
    }

    std::optional<DeviceId> readDevice(const JsonMember& member, bool may_be_disk) {
        if (member.value.kind == Json::Kind::String) {
            const std::optional<DeviceId> device = placeDevice(member.value.text);
            if (device.has_value() && (may_be_disk || *device != DeviceId::disk())) {
                return device;
            }
        }
        complainValue(member,
                      may_be_disk
                          ? phrase("\"cpu\", \"disk\", \"cuda:N\" or \"sim:N\"")
                          : phrase("\"cpu\", \"cuda:N\" or \"sim:N\" (nothing computes on disk)"));
        return std::nullopt;
    }

    bool readPlace(const JsonMember& member, MapEntry& entry) {
        const Json& value = member.value;
        const size_t before = issues.size();
        if (value.kind == Json::Kind::String) {
            if (const std::optional<DeviceId> device = placeDevice(value.text)) {
                entry.fields.store = device;
                entry.is_scalar_disk = *device == DeviceId::disk();
                if (!entry.is_scalar_disk) {
                    entry.fields.compute = device;
                }
                return true;
            }
        } else if (const std::optional<int> index = deviceNumber(value, 63)) {
            entry.fields.store = numbered(*index);
            entry.fields.compute = entry.fields.store;
            return true;
        } else if (value.kind == Json::Kind::Object) {
            if (value.members.empty()) {
                complainValue(
                    member, phrase("at least one member (store, compute, format, residency, ...)"));
            }
            for (const JsonMember& field : value.members) {
                readField(field, entry.fields);
            }
            return issues.size() == before;
        }
        complainValue(member, phrase("\"cpu\", \"disk\", \"cuda:N\", \"sim:N\", a device number "
                                     "from 0 to 63 or an object"));
        return false;
    }

    void readField(const JsonMember& field, PlaceFields& fields) {
        if (field.key == "store") {
            fields.store = readDevice(field, true);
        } else if (field.key == "compute") {
            fields.compute = readDevice(field, false);
        } else if (field.key == "format") {
            readWord(field, kFormatWords, fields.format);
        } else if (field.key == "residency") {
            readWord(field, kResidencies, fields.residency);
        } else if (field.key == "pin") {
            readBool(field, fields.pin);
        } else if (field.key == "duplicate_tied") {
            readBool(field, fields.duplicate_tied);
        } else {
            unknownMember(field,
                          {"store", "compute", "format", "residency", "pin", "duplicate_tied"});
        }
    }

    void readEntries(const JsonMember& member) {
        if (!isObject(member)) {
            return;
        }
        for (const JsonMember& part : member.value.members) {
            MapEntry entry;
            entry.key = part.key;
            entry.key_at = part.key_at;
            entry.value_at = part.value.at;
            KeyRange range;
            if (canonicalKey(part.key).empty()) {
                complain("DM01", part.key, part.key_at,
                         said("the key %1 stands for the whole model; use \"default\" for that",
                              inQuotes(part.key)));
            } else if (findRange(part.key, range) == RangeCheck::BadBracket) {
                complain("DM01", part.key, part.key_at,
                         said("the key %1 has a bracket that is not a range: one component of the "
                              "form [a-b] with a <= b and no leading zeros is allowed",
                              inQuotes(part.key)));
            }
            if (readPlace(part, entry)) {
                map.entries.push_back(std::move(entry));
            }
        }
    }

    void readSizes(const JsonMember& member, std::map<DeviceId, DeviceMap::Size>& out) {
        if (!isObject(member)) {
            return;
        }
        for (const JsonMember& part : member.value.members) {
            const std::optional<DeviceId> device = placeDevice(part.key);
            if (!device.has_value()) {
                complain("DM01", part.key, part.key_at,
                         said("%1 in %2 is not a device: expected cpu, disk, cuda:N or sim:N",
                              inQuotes(part.key), inQuotes(member.key)));
            }
            uint64_t bytes = 0;
            if (part.value.kind == Json::Kind::String) {
                const SizeText result = readSizeText(part.value.text, bytes);
                if (result == SizeText::WrongCase) {
                    complain("DM11", part.key, part.value.at,
                             said("the size %1 has a unit in wrong upper and lower case; write "
                                  "KiB, MiB, GiB (1024) or KB, MB, GB (1000)",
                                  inQuotes(part.value.text)));
                    continue;
                }
                if (result == SizeText::Bad) {
                    complainValue(
                        part, phrase("a size such as \"6GiB\", \"1.5GB\", \"512MiB\" or bytes"));
                    continue;
                }
            } else if (const std::optional<uint64_t> number = wholeNumber(part.value)) {
                bytes = *number;
            } else {
                complainValue(part,
                              phrase("a size such as \"6GiB\", \"1.5GB\", \"512MiB\" or bytes"));
                continue;
            }
            if (device.has_value()) {
                out[*device] = {bytes, part.key_at};
            }
        }
    }

    void readKv(const JsonMember& member) {
        if (!isObject(member)) {
            return;
        }
        for (const JsonMember& part : member.value.members) {
            if (part.key == "context") {
                const std::optional<uint64_t> context = wholeNumber(part.value);
                if (context.value_or(0) < 1) {
                    complainValue(part, phrase("a number of tokens, at least 1"));
                } else {
                    map.kv_context = static_cast<int64_t>(std::min<uint64_t>(
                        *context, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
                }
            } else if (part.key == "place") {
                if (part.value.kind != Json::Kind::String || part.value.text != "follow_layer") {
                    map.kv_place = readDevice(part, false);
                    map.kv_place_at = part.value.at;
                }
            } else if (part.key == "format") {
                std::optional<Format> format;
                readWord(part, kKvFormats, format);
                map.kv_format = format.value_or(Format::AsStored);
                map.kv_format_at = part.value.at;
            } else {
                unknownMember(part, {"context", "place", "format"});
            }
        }
    }

    void readExperts(const JsonMember& member) {
        if (!isObject(member)) {
            return;
        }
        for (const JsonMember& part : member.value.members) {
            if (part.key == "cache") {
                map.expert_cache = wholeNumber(part.value);
                if (part.value.kind == Json::Kind::String) {
                    map.expert_cache = parseExpertCache(part.value.text);
                }
                if (!map.expert_cache.has_value()) {
                    complainValue(part, phrase("\"max\", \"off\" or a size such as \"2GiB\""));
                }
            } else {
                unknownMember(part, {"cache"});
            }
        }
    }

    void readAdapter(const JsonMember& member) {
        if (!isObject(member)) {
            return;
        }
        for (const JsonMember& part : member.value.members) {
            if (part.key == "place") {
                std::optional<AdapterPlace> place;
                readWord(part, kAdapterPlaces, place);
                map.adapter_place = place.value_or(AdapterPlace::FollowBase);
                map.adapter_place_at = part.value.at;
            } else {
                unknownMember(part, {"place"});
            }
        }
    }

    ParseContext context_;
};

} // namespace

std::string_view withoutByteOrderMark(std::string_view text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

bool isDeviceMapText(std::string_view text) {
    text = withoutByteOrderMark(text);
    return !std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
    });
}

namespace {

/// {'model.layers.0': 0, ...} or {"": device(type='cuda')}, perhaps behind OrderedDict( or a name.
bool looksLikePython(std::string_view text) {
    const std::string_view head = text.substr(0, text.find_first_of(":,")); // up to the first key
    const bool has_quote =
        head.find('\'') != std::string_view::npos && head.find('"') == std::string_view::npos;
    const bool is_call = head.find("Dict(") != std::string_view::npos ||
                         head.find("dict(") != std::string_view::npos;
    return is_call || (has_quote && head.find('{') != std::string_view::npos);
}

} // namespace

Result<DeviceMap> parseDeviceMap(std::string_view json_text,
                                 const ParseContext& context,
                                 std::vector<PlanIssue>* issues) {
    MapReader reader(context);
    reader.read(withoutByteOrderMark(json_text));
    if (reader.issues.empty()) {
        return std::move(reader.map);
    }
    if (looksLikePython(json_text)) {
        PlanIssue& first = reader.issues.front();
        first.words =
            said("%1. This is a Python dictionary as print() shows it, not JSON: write the file "
                 "with json.dump(model.hf_device_map, file), or put double quotes around keys and "
                 "values",
                 std::move(first.words));
    }
    constexpr size_t kMostTold = 8; // of them in the message, all of them in the details
    Error error;
    error.code = ErrorCode::InvalidRequest;
    for (size_t i = 0; i < reader.issues.size(); ++i) {
        const PlanIssue& issue = reader.issues[i];
        const std::string text = issue.code + ": device map, line " + std::to_string(issue.line) +
                                 ", column " + std::to_string(issue.column) + ": " +
                                 inEnglish(issue);
        if (i == 0) {
            error.message = text;
            error.details = {{"code", issue.code},
                             {"key", issue.key},
                             {"line", std::to_string(issue.line)},
                             {"column", std::to_string(issue.column)}};
            continue;
        }
        // A name of its own for every one: whoever keeps them by name loses none.
        error.details.emplace_back("complaint." + std::to_string(i + 1), text);
        if (i < kMostTold) {
            error.message += "\n" + text;
        } else if (i == kMostTold) {
            error.message += "\n(and " + std::to_string(reader.issues.size() - i) + " more)";
        }
    }
    if (issues != nullptr) {
        issues->insert(issues->end(), reader.issues.begin(), reader.issues.end());
    }
    error.cause = causeOf(std::move(reader.issues));
    return error;
}

std::optional<uint64_t> parseExpertCache(std::string_view text) {
    return text == "max" ? kAllThatIsLeft : text == "off" ? 0 : parseByteSize(text);
}

std::optional<uint64_t> parseByteSize(std::string_view text) {
    uint64_t bytes = 0;
    if (readSizeText(text, bytes) != SizeText::Ok) {
        return std::nullopt;
    }
    return bytes;
}

} // namespace engine
