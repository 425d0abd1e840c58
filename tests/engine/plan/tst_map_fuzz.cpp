// SPDX-License-Identifier: Apache-2.0
// 10,000 generated maps, resolved twice: by the engine and by a resolver written here from the
// rules alone, naively (every tensor against every key, text comparisons, no shared code). Places,
// formats and the set of complaints must be equal. A second test feeds damaged texts.
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

using namespace engine;
using namespace planfixture;

namespace {

using Text = std::string;
using Fields = std::map<Text, Text>; ///< "store" -> "cpu", ...

struct Key {
    Text written;
    Fields fields;
    bool is_scalar_disk = false;
};

/// A map as the generator knows it.
struct Map {
    bool is_imported = false;
    std::vector<Key> keys; ///< Imported: values in fields["device"].
    Fields def;            ///< Native default.
    bool is_default_scalar_disk = false;
    Text quant, head;
};

std::vector<Text> split(const Text& text) {
    std::vector<Text> parts;
    Text part;
    for (const char c : text) {
        if (c == '.') {
            parts.push_back(part);
            part.clear();
        } else {
            part += c;
        }
    }
    parts.push_back(part);
    return parts;
}

Text join(const std::vector<Text>& parts) {
    Text out;
    for (size_t i = 0; i < parts.size(); ++i) {
        out += (i ? "." : "") + parts[i];
    }
    return out;
}

bool covers(const Text& key, const Text& name) {
    return name == key || name.rfind(key + ".", 0) == 0;
}

/// Step 1 of the rule, as text replacement with a dot at the end.
Text canonical(const Text& key) {
    Text k = key + ".";
    if (k == "base_model." || k == "base_model.model.") {
        return "";
    }
    const auto starts = [&k](const Text& prefix) { return k.rfind(prefix, 0) == 0; };
    if (starts("base_model.model.")) {
        k = k.substr(17);
    }
    if (starts("language_model.lm_head.")) {
        k = k.substr(15);
    } else if (starts("model.lm_head.")) {
        k = k.substr(6);
    } else if (starts("language_model.model.")) {
        k = "model.language_model." + k.substr(21);
    } else if (starts("language_model.") || starts("vision_tower.") || starts("audio_tower.") ||
               starts("embed_vision.") || starts("embed_audio.")) {
        k = "model." + k;
    } else {
        for (const char* name :
             {"layers", "norm", "embed_tokens", "embed_tokens_per_layer",
              "per_layer_model_projection", "per_layer_projection_norm", "rotary_emb"}) {
            if (starts("model." + Text(name) + ".")) {
                k = "model.language_model." + k.substr(6);
                break;
            }
        }
    }
    return k.substr(0, k.size() - 1);
}

/// What the naive resolver says about a map.
struct Answer {
    std::map<Text, Text> rows; ///< Tensor -> "store compute residency format".
    std::set<Text> complaints; ///< "DM02 key", "DM05 a|b", "DM08 a|b", ...
    bool has_all_places = true;
};

class NaiveResolver {
public:
    explicit NaiveResolver(const Model& model) : model_(model) {
        for (const ExpectedTensor& tensor : model.tensors) {
            tensors_.insert(tensor.name);
            std::vector<Text> parts = split(tensor.name);
            while (parts.size() > 1) {
                parts.pop_back();
                modules_.insert(join(parts));
            }
        }
    }

    Answer resolve(const Map& map) {
        Answer answer;
        // Sources to canonical keys.
        std::map<Text, std::vector<size_t>> by_canonical;
        const std::vector<Fields> fields = fieldsOf(map);
        std::set<Text> devices = {"cpu", "disk", "cuda:0", "cuda:1", "sim:0"};
        for (size_t i = 0; i < map.keys.size(); ++i) {
            for (const Text& device : devicesOf(map, i)) {
                if (!devices.count(device)) {
                    answer.complaints.insert("DM04 " + map.keys[i].written + " " + device);
                }
            }
            const Text name = canonical(map.keys[i].written);
            if (name.empty()) {
                by_canonical[""].push_back(i);
                continue;
            }
            const std::vector<Text> all = map.is_imported ? std::vector<Text>{name} : expand(name);
            bool is_unknown = all.empty();
            bool is_inside = false;
            for (const Text& one : all) {
                if (isInside(one)) {
                    is_inside = true;
                } else if (!isKnown(one)) {
                    is_unknown = true;
                }
            }
            if (is_unknown || is_inside) {
                answer.complaints.insert((is_unknown ? "DM02 " : "DM06 ") + map.keys[i].written);
                continue;
            }
            for (const Text& one : all) {
                by_canonical[one].push_back(i);
            }
        }
        for (const auto& [name, sources] : by_canonical) {
            for (size_t a = 0; a < sources.size(); ++a) {
                for (size_t b = a + 1; b < sources.size(); ++b) {
                    for (const auto& [field, value] : fields[sources[a]]) {
                        const auto it = fields[sources[b]].find(field);
                        if (it != fields[sources[b]].end() && it->second != value) {
                            answer.complaints.insert("DM05 " + map.keys[sources[a]].written + "|" +
                                                     map.keys[sources[b]].written);
                        }
                    }
                }
            }
        }
        // Defaults.
        Fields def = map.def;
        bool has_default = !map.is_imported;
        if (map.is_imported && by_canonical.count("")) {
            def = fields[by_canonical[""][0]];
            has_default = true;
        }
        const bool is_default_bad =
            !map.is_imported && (!def.count("store") || !def.count("compute"));
        if (is_default_bad) {
            answer.complaints.insert("DM08 default");
        }
        if (!map.is_imported) {
            for (const char* field : {"store", "compute"}) {
                if (def.count(field) && !devices.count(def.at(field))) {
                    answer.complaints.insert("DM04 default " + def.at(field));
                }
            }
        }
        // Rows.
        const auto valueOf = [&](const Text& tensor, const Text& field,
                                 Text& by) -> std::optional<Text> {
            Text best;
            std::optional<Text> value;
            for (const auto& [name, sources] : by_canonical) {
                if (name.empty() || !covers(name, tensor) || name.size() < best.size()) {
                    continue;
                }
                for (const size_t source : sources) {
                    const auto it = fields[source].find(field);
                    if (it != fields[source].end()) {
                        best = name;
                        value = it->second;
                        by = map.keys[source].written;
                        by_name_ = name;
                        break;
                    }
                }
            }
            if (!value && has_default && def.count(field)) {
                by = "default";
                by_name_ = "";
                value = def.at(field);
            }
            return value;
        };
        std::map<Text, Fields> row_fields;
        const auto rowOf = [&](const Text& tensor, bool is_linear, bool is_table, bool is_head) {
            Text by_store;
            Text by_compute;
            Text by;
            const auto store = valueOf(tensor, "store", by_store);
            const auto compute = valueOf(tensor, "compute", by_compute);
            if (!store || !compute) {
                answer.has_all_places = false;
                if (!is_default_bad) {
                    answer.complaints.insert("DM03");
                }
                return false;
            }
            if (*store != "cpu" && *store != "disk" && *compute != *store) {
                answer.complaints.insert("DM08 " + by_store + "|" + by_compute);
            }
            const bool is_tower =
                covers("model.vision_tower", tensor) || covers("model.audio_tower", tensor) ||
                covers("model.embed_vision", tensor) || covers("model.embed_audio", tensor);
            const auto residency = valueOf(tensor, "residency", by);
            Text r = *store == *compute ? "always"
                     : residency        ? *residency
                     : is_tower         ? "on_use"
                                        : "stream";
            const auto format = valueOf(tensor, "format", by);
            const bool is_exact = by_name_ == tensor || by_name_ + ".weight" == tensor;
            const auto optionFormat = [&] {
                if (is_linear && map.quant != "none") {
                    return map.quant;
                }
                return is_head && map.head != "bf16" ? map.head : Text("as_stored");
            };
            Text f = "as_stored";
            bool is_given = false;
            if (!format) {
                f = optionFormat();
            } else if (*format == "as_stored" || *format == "bf16") {
                is_given = true;
            } else if (*format == "f32" || *format == "f16") {
                f = *format;
                is_given = true;
            } else if (is_linear || (is_table && is_exact)) {
                f = *format;
                is_given = true;
            } else if (is_exact) {
                answer.complaints.insert("DM10 " + by);
            } else if (is_head) {
                f = optionFormat();
            }
            Fields row = {
                {"store", *store}, {"compute", *compute}, {"residency", r}, {"format", f}};
            row["given"] = is_given ? "yes" : "no";
            const auto twice = valueOf(tensor, "duplicate_tied", by);
            row["twice"] = twice && *twice == "true" ? "yes" : "no";
            row_fields[tensor] = row;
            return true;
        };
        for (const ExpectedTensor& tensor : model_.tensors) {
            if (!tensor.is_unused) {
                rowOf(tensor.name, tensor.kind == TensorKind::Linear,
                      tensor.kind == TensorKind::Embedding, false);
            }
        }
        // The head.
        const Text table = "model.language_model.embed_tokens.weight";
        if (row_fields.count(table)) {
            bool is_covered = false;
            for (const auto& [name, sources] : by_canonical) {
                is_covered = is_covered || (!name.empty() && covers(name, "lm_head.weight"));
            }
            if (!is_covered) {
                if (row_fields[table]["given"] == "no" && map.head != "bf16") {
                    row_fields["lm_head.weight"] = row_fields[table];
                    row_fields["lm_head.weight"]["format"] = map.head;
                }
            } else if (rowOf("lm_head.weight", false, true, true)) {
                Fields& head = row_fields["lm_head.weight"];
                Fields& one = row_fields[table];
                const bool is_same_place =
                    head["store"] == one["store"] && head["compute"] == one["compute"];
                const bool is_same = is_same_place && head["format"] == one["format"];
                const bool is_by_option = head["given"] == "no" && head["format"] != "as_stored";
                const bool is_allowed = head["twice"] == "yes" || one["twice"] == "yes";
                if (!is_allowed && !is_same && !(is_same_place && is_by_option) &&
                    !map.is_imported) {
                    answer.complaints.insert("DM07");
                    row_fields.erase("lm_head.weight");
                } else if (!is_allowed && is_same) {
                    row_fields.erase("lm_head.weight");
                }
            }
        }
        for (auto& [tensor, row] : row_fields) {
            answer.rows[tensor] =
                row["store"] + " " + row["compute"] + " " + row["residency"] + " " + row["format"];
        }
        return answer;
    }

    [[nodiscard]] const std::set<Text>& tensors() const { return tensors_; }
    [[nodiscard]] const std::set<Text>& modules() const { return modules_; }

private:
    std::vector<Fields> fieldsOf(const Map& map) const {
        std::vector<Fields> all;
        Text main = "cpu";
        if (map.is_imported) {
            int best = 1000;
            for (const Key& key : map.keys) {
                const Text& device = key.fields.at("device");
                if (device.size() < 5) {
                    continue; // cpu, disk
                }
                const int number = std::stoi(device.substr(device.find(':') + 1));
                const int rank = 2 * number + (device[0] == 's' ? 1 : 0);
                if (rank < best) {
                    best = rank;
                    main = device;
                }
            }
        }
        for (const Key& key : map.keys) {
            Fields fields = key.fields;
            if (map.is_imported) {
                const Text device = fields.at("device");
                fields = {{"store", device},
                          {"compute", device == "cpu" || device == "disk" ? main : device}};
            } else if (key.is_scalar_disk && map.def.count("compute")) {
                fields["compute"] = map.def.at("compute");
            }
            all.push_back(fields);
        }
        return all;
    }

    static std::set<Text> devicesOf(const Map& map, size_t i) {
        std::set<Text> devices;
        for (const char* field : {"device", "store", "compute"}) {
            const auto it = map.keys[i].fields.find(field);
            if (it != map.keys[i].fields.end()) {
                devices.insert(it->second);
            }
        }
        return devices;
    }

    /// Ranges by counting; an absent number is an unknown name.
    static std::vector<Text> expand(const Text& name) {
        std::vector<Text> parts = split(name);
        for (Text& part : parts) {
            if (part.empty() || part[0] != '[') {
                continue;
            }
            int a = 0;
            int b = 0;
            char dash = 0;
            std::istringstream in(part.substr(1));
            in >> a >> dash >> b;
            std::vector<Text> all;
            for (int i = a; i <= b && i < 300; ++i) {
                part = std::to_string(i);
                all.push_back(join(parts));
            }
            return all;
        }
        return {name};
    }

    [[nodiscard]] bool isKnown(const Text& name) const {
        if (tensors_.count(name) || modules_.count(name) || name == "lm_head" ||
            name == "lm_head.weight") {
            return true;
        }
        const std::vector<Text> parts = split(name);
        const Text parent = join({parts.begin(), parts.end() - 1});
        const Text& leaf = parts.back();
        if (!modules_.count(parent)) {
            return false;
        }
        return leaf == "rotary_emb" || leaf == "act_fn" || leaf == "v_norm" ||
               (leaf == "embedding_pre_projection_norm" &&
                (parent == "model.embed_vision" || parent == "model.embed_audio")) ||
               (leaf == "pooler" && parent == "model.vision_tower") ||
               (leaf == "rel_pos_enc" && parent == "model.audio_tower") ||
               (leaf == "act" &&
                parent.rfind("model.audio_tower.subsample_conv_projection.layer", 0) == 0);
    }

    [[nodiscard]] bool isInside(const Text& name) const {
        if (name.rfind("lm_head.weight.", 0) == 0) {
            return true;
        }
        for (const ExpectedTensor& tensor : model_.tensors) {
            if (name.rfind(tensor.name + ".", 0) == 0) {
                return tensor.kind == TensorKind::Linear || tensor.kind == TensorKind::Embedding;
            }
        }
        return false;
    }

    const Model& model_;
    std::set<Text> tensors_, modules_;
    Text by_name_;
};

class Generator {
public:
    Generator(const NaiveResolver& names, unsigned seed) : random_(seed) {
        all_.assign(names.tensors().begin(), names.tensors().end());
        all_.insert(all_.end(), names.modules().begin(), names.modules().end());
        short_.assign(names.modules().begin(), names.modules().end());
        std::erase_if(short_, [](const Text& name) { return split(name).size() > 4; });
    }

    Map make() {
        Map map;
        map.is_imported = chance(25);
        static const Text kQuants[] = {"none", "none", "nf4", "nf4_dq", "fp4"};
        static const Text kHeads[] = {"bf16", "bf16", "q8", "nf4"};
        map.quant = kQuants[below(5)];
        map.head = kHeads[below(4)];
        if (map.head == "nf4" && map.quant == "nf4_dq") {
            map.head = "nf4_dq";
        }
        if (!map.is_imported) {
            const size_t kind = below(30);
            if (kind == 0) {
                map.def = {{"store", "disk"}};
                map.is_default_scalar_disk = true;
            } else if (kind < 18) {
                map.def["store"] = gpuOrCpu();
                map.def["compute"] = map.def["store"];
            } else {
                map.def = object(true);
            }
        }
        const size_t count = below(chance(10) ? 60 : 8);
        std::set<Text> written;
        for (size_t i = 0; i < count; ++i) {
            Key key;
            key.written = name(map.is_imported);
            if (!written.insert(key.written).second) {
                continue;
            }
            if (map.is_imported) {
                key.fields["device"] = chance(60) ? gpuOrCpu() : any();
            } else if (chance(60)) {
                const Text device = any();
                key.fields["store"] = device;
                key.is_scalar_disk = device == "disk";
                if (!key.is_scalar_disk) {
                    key.fields["compute"] = device;
                }
            } else {
                key.fields = object(false);
            }
            map.keys.push_back(key);
        }
        if (map.is_imported && chance(70) && written.insert("").second) {
            map.keys.push_back({"", {{"device", gpuOrCpu()}}, false});
        }
        return map;
    }

    static Text text(const Map& map) {
        const auto place = [](const Fields& fields, bool is_scalar_disk) {
            if (fields.count("device")) {
                return "\"" + fields.at("device") + "\"";
            }
            if (is_scalar_disk) {
                return Text("\"disk\"");
            }
            if (fields.size() == 2 && fields.count("store") && fields.count("compute") &&
                fields.at("store") == fields.at("compute")) {
                return "\"" + fields.at("store") + "\"";
            }
            Text out = "{";
            for (const auto& [field, value] : fields) {
                const bool is_bool = field == "duplicate_tied" || field == "pin";
                out += (out.size() > 1 ? ", \"" : "\"") + field +
                       "\": " + (is_bool ? value : "\"" + value + "\"");
            }
            return out + "}";
        };
        Text keys;
        for (const Key& key : map.keys) {
            keys += (keys.empty() ? "\"" : ",\n\"") + key.written +
                    "\": " + place(key.fields, key.is_scalar_disk);
        }
        if (map.is_imported) {
            return "{" + keys + "}";
        }
        return R"({"version": 1, "default": )" + place(map.def, map.is_default_scalar_disk) +
               ", \"map\": {" + keys + "}}";
    }

    std::mt19937& random() { return random_; }
    size_t below(size_t n) { return random_() % n; }
    bool chance(int percent) { return static_cast<int>(below(100)) < percent; }

private:
    Text gpuOrCpu() {
        static const Text kDevices[] = {"cpu", "cuda:0", "cuda:1", "sim:0"};
        return kDevices[below(4)];
    }
    Text any() { return chance(3) ? Text("cuda:5") : chance(20) ? Text("disk") : gpuOrCpu(); }

    Fields object(bool is_default) {
        Fields fields;
        if (is_default || chance(60)) {
            fields["store"] = chance(60) ? Text("cpu") : any();
        }
        if ((is_default && chance(90)) || chance(50)) {
            fields["compute"] = chance(80) && fields.count("store") && fields["store"] != "disk"
                                    ? fields["store"]
                                    : gpuOrCpu();
        }
        static const Text kFormats[] = {"as_stored", "bf16",   "f16", "f32",
                                        "nf4",       "nf4_dq", "fp4", "q8"};
        if (chance(25)) {
            fields["format"] = kFormats[below(8)];
        }
        static const Text kResidencies[] = {"always", "on_use", "stream"};
        if (chance(25)) {
            fields["residency"] = kResidencies[below(3)];
        }
        if (chance(15)) {
            fields["duplicate_tied"] = chance(70) ? "true" : "false";
        }
        if (fields.empty()) {
            fields["store"] = "cpu";
        }
        return fields;
    }

    Text name(bool is_imported) {
        Text name = chance(50) ? short_[below(short_.size())] : all_[below(all_.size())];
        if (chance(12)) {
            static const Text kNames[] = {"lm_head",
                                          "lm_head.weight",
                                          "model",
                                          "model.language_model",
                                          "model.language_model.embed_tokens",
                                          "model.language_model.embed_tokens.weight",
                                          "model.language_model.rotary_emb",
                                          "model.vision_tower.pooler",
                                          "model.audio_tower.rel_pos_enc",
                                          "model.vision_tower"};
            name = kNames[below(10)];
        }
        if (chance(4)) {
            name += chance(50) ? ".absmax" : ".act_fn";
        }
        // A range instead of a number.
        if (!is_imported && chance(30)) {
            std::vector<Text> parts = split(name);
            for (Text& part : parts) {
                if (!part.empty() && part.find_first_not_of("0123456789") == Text::npos) {
                    const size_t a = below(12);
                    part = "[" + std::to_string(a) + "-" + std::to_string(a + below(6)) + "]";
                    break;
                }
            }
            name = join(parts);
        }
        // A misspelling.
        if (chance(4) && name.size() > 3) {
            const size_t at = below(name.size());
            if (name[at] >= 'a' && name[at] <= 'z') {
                name[at] = 'x';
            }
        }
        // Another spelling.
        const auto replace = [&name](const Text& from, const Text& to) {
            if (covers(from, name)) {
                name = to + name.substr(from.size());
            }
        };
        switch (below(8)) {
        case 0:
            replace("model.language_model", "language_model.model");
            break;
        case 1:
            replace("model.language_model", "language_model");
            break;
        case 2:
            for (const char* part : {"layers", "norm", "embed_tokens", "embed_tokens_per_layer",
                                     "per_layer_model_projection", "rotary_emb"}) {
                replace("model.language_model." + Text(part), "model." + Text(part));
            }
            break;
        case 3:
            for (const char* part :
                 {"vision_tower", "audio_tower", "embed_vision", "embed_audio"}) {
                replace("model." + Text(part), part);
            }
            break;
        case 4:
            replace("lm_head", chance(50) ? "model.lm_head" : "language_model.lm_head");
            break;
        default:
            break;
        }
        return chance(12) ? "base_model.model." + name : name;
    }

    std::mt19937 random_;
    std::vector<Text> all_, short_;
};

Text formatText(Format format) {
    static const char* const kNames[] = {"",    "as_stored", "bf16", "f16",    "f32",
                                         "nf4", "nf4_dq",    "fp4",  "fp4_dq", "q8"};
    return kNames[static_cast<int>(format)];
}

} // namespace

class TestMapFuzz : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void agreesWithNaiveResolver();
    void damagedTexts();
};

// The sanitizers look at what the code does, ten times slower: a fifth of the maps shows it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kMapShare = 5;
#else
constexpr int kMapShare = 1;
#endif

void TestMapFuzz::agreesWithNaiveResolver() {
    const Model model = goldenModel("e2b");
    NaiveResolver naive(model);
    Generator generator(naive, 20261120);
    const std::vector<DeviceId> devices = {DeviceId::cuda(0), DeviceId::cuda(1), DeviceId::sim(0)};
    const std::map<Text, Format> quants = {{"none", Format::AsStored},
                                           {"nf4", Format::Nf4},
                                           {"nf4_dq", Format::Nf4Dq},
                                           {"fp4", Format::Fp4}};
    std::map<Text, int> seen; // how often each outcome occurred: the generator must reach them all
    for (int i = 0; i < 10000 / kMapShare; ++i) {
        const Map map = generator.make();
        const Text text = Generator::text(map);
        const auto parsed = parseDeviceMap(text, {});
        QVERIFY2(parsed.has_value(),
                 (text + "\n" + (parsed ? "" : parsed.error().message)).c_str());
        ResolveInput input;
        input.config = &model.config;
        input.tensors = &model.tensors;
        input.devices = devices;
        input.quant = quants.at(map.quant);
        input.head = map.head == "bf16" ? Format::AsStored
                     : map.head == "q8" ? Format::Q8
                                        : Format::Nf4;
        const Resolution found = resolveDeviceMap(*parsed, input);
        const Answer expected = naive.resolve(map);

        std::set<Text> complaints;
        size_t places = 0;
        for (const PlanIssue& issue : found.errors) {
            Text one = issue.code;
            if (issue.code == "DM02" || issue.code == "DM06" || issue.code == "DM10") {
                one += " " + issue.key;
            } else if (issue.code == "DM04") {
                const size_t at = inEnglish(issue).find(" names ") + 7;
                one += " " + issue.key + " " +
                       inEnglish(issue).substr(at, inEnglish(issue).find(',', at) - at);
            } else if (issue.code == "DM08" && inEnglish(issue).rfind("default must", 0) == 0) {
                one += " default";
            } else if (issue.code == "DM05" || issue.code == "DM08") {
                one = issue.code; // pairs are counted below
                ++places;
            }
            QVERIFY2(one == "DM05" || one == "DM08" || complaints.insert(one).second,
                     ("reported twice: " + one + "\n" + text).c_str());
            ++seen[issue.code];
            QVERIFY(issue.code == "DM03" || issue.line > 0 ||
                    (issue.code == "DM08" && issue.key == "default"));
        }
        std::set<Text> others;
        size_t expected_places = 0;
        for (const Text& one : expected.complaints) {
            const bool is_pair = one.find('|') != Text::npos;
            expected_places += is_pair ? 1U : 0U;
            if (!is_pair) {
                others.insert(one);
            }
        }
        if (others != complaints || places != expected_places) {
            Text report = "map " + std::to_string(i) + " --quant " + map.quant + " --head " +
                          map.head + "\n" + text + "\nexpected:";
            for (const Text& one : expected.complaints) {
                report += " [" + one + "]";
            }
            report += "\nfound:";
            for (const PlanIssue& issue : found.errors) {
                report += " [" + issue.code + " " + issue.key + ": " + inEnglish(issue) + "]";
            }
            QFAIL(report.c_str());
        }
        if (!others.empty() && !expected.has_all_places) {
            continue;
        }
        std::map<Text, Text> rows;
        for (const ResolvedTensor& row : found.tensors) {
            const Text name = row.index < 0 ? "lm_head.weight"
                                            : model.tensors[static_cast<size_t>(row.index)].name;
            const Text residency = row.residency == Residency::Always  ? "always"
                                   : row.residency == Residency::OnUse ? "on_use"
                                                                       : "stream";
            rows[name] = row.store.toString() + " " + row.compute.toString() + " " + residency +
                         " " + formatText(row.format);
        }
        seen[expected.complaints.empty() ? "clean" : "complaints"] += 1;
        seen["own head"] += found.has_own_head ? 1 : 0;
        if (places == 0 &&
            rows != expected.rows) { // which of two contradicting keys counts is open
            for (const auto& [name, row] : expected.rows) {
                if (rows[name] != row) {
                    QFAIL(("map " + std::to_string(i) + " --quant " + map.quant + " --head " +
                           map.head + "\n" + text + "\n" + name + ": expected " + row + ", found " +
                           rows[name])
                              .c_str());
                }
            }
            QFAIL(("a row too many in map " + std::to_string(i) + "\n" + text).c_str());
        }
    }
    for (const char* outcome : {"clean", "complaints", "own head", "DM02", "DM03", "DM04", "DM05",
                                "DM06", "DM07", "DM08", "DM10"}) {
        qInfo("%s: %d", outcome, seen[outcome]);
        QVERIFY2(seen[outcome] >= 20 / kMapShare, outcome);
    }
}

// Random damage: an answer or a complaint with a place, never a crash, never an endless loop.
void TestMapFuzz::damagedTexts() {
    const Model model = goldenModel("e2b");
    NaiveResolver naive(model);
    Generator generator(naive, 7);
    int accepted = 0;
    for (int i = 0; i < 5000 / kMapShare; ++i) {
        Text text = Generator::text(generator.make());
        const size_t edits = 1 + generator.below(4);
        for (size_t k = 0; k < edits && !text.empty(); ++k) {
            const size_t at = generator.below(text.size());
            switch (generator.below(4)) {
            case 0:
                text[at] = static_cast<char>(generator.below(256));
                break;
            case 1:
                text.erase(at, 1 + generator.below(20));
                break;
            case 2:
                text.insert(at, text.substr(generator.below(text.size()), generator.below(30)));
                break;
            default:
                text.insert(at, 1, "{}[]\",:\\-.0"[generator.below(11)]);
                break;
            }
        }
        std::vector<PlanIssue> issues;
        const auto map = parseDeviceMap(text, {}, &issues);
        QCOMPARE(map.has_value(), issues.empty());
        for (const PlanIssue& issue : issues) {
            QVERIFY(issue.line > 0 && issue.column > 0 && !inEnglish(issue).empty());
        }
        if (map.has_value()) {
            ++accepted;
            ResolveInput input;
            input.config = &model.config;
            input.tensors = &model.tensors;
            input.devices = {DeviceId::cuda(0)};
            const Resolution resolution = resolveDeviceMap(*map, input);
            QVERIFY(!resolution.tensors.empty() || !resolution.errors.empty());
        }
    }
    qInfo("%d of %d damaged texts still read", accepted, 5000 / kMapShare);
    QVERIFY(accepted > 0);
}

TEST_CLASS(TestMapFuzz)
#include "tst_map_fuzz.moc"
