// SPDX-License-Identifier: Apache-2.0
// The resolution rule of device maps, steps 1 to 6 of DEVICE_MAP.md. Keys are checked and merged in
// map_key_table.cpp; here every tensor gets its fields.
#include "engine/plan/map_resolve.h"

#include "engine/base/sentence_list.h"
#include "engine/base/utf8.h"
#include "engine/families/gemma4/names.h"
#include "engine/plan/map_json.h"
#include "engine/plan/map_key_table.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/plan_english.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace engine {

namespace {

constexpr Part kHead{PartRole::Head};
constexpr Part kTable{PartRole::Embedding};

constexpr int indexOf(MapField field) {
    return static_cast<int>(field) - 1;
}

/// --quant is for it.
bool takesQuant(const ExpectedTensor& tensor, bool has_experts) {
    return isQuantizable(tensor) || (has_experts && tensor.kind == TensorKind::Experts);
}

bool isFloatType(TensorType type) {
    return type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
}

bool isDenseSame(Format format, TensorType type) {
    return (format == Format::Bf16 && type == TensorType::BF16) ||
           (format == Format::F16 && type == TensorType::F16) ||
           (format == Format::F32 && type == TensorType::F32);
}

/// Tensors concerned by one cause, for a message.
struct Affected {
    size_t count = 0;
    std::string example;
    std::vector<std::string> modules;
    DeviceId store, compute = {};  ///< Places of the last one.
    std::string format, held = {}; ///< What the last one should be, and is.

    void add(const std::string& tensor, const std::string& module) {
        if (count++ == 0) {
            example = tensor;
        }
        if (modules.empty() || modules.back() != module) {
            if (std::find(modules.begin(), modules.end(), module) == modules.end()) {
                modules.push_back(module);
            }
        }
    }
    [[nodiscard]] Sentence tensors() const {
        return count == 1 ? said("1 tensor: %1", example)
                          : said("%1 tensors, the first: %2", count, example);
    }
};

/// Why weights cannot have a format.
enum class Why : uint8_t {
    NotQuantizable = 1,
    NotFloats,   ///< The checkpoint holds values of another type.
    NeedsOwnKey, ///< Packed: only a key that names it exactly may expand it.
    Packed,      ///< No other small format can be made of that.
};

/// `held`: the type or format that the checkpoint has.
Sentence wordsOf(Why why, const std::string& held) {
    switch (why) {
    case Why::NotQuantizable:
        return phrase("only linear weights, experts, embedding tables and the head can have it");
    case Why::NotFloats:
        return said("the checkpoint holds %1 values", held);
    case Why::NeedsOwnKey:
        return said("the checkpoint holds it packed as %1; a key that names exactly this tensor "
                    "may ask for its expansion",
                    held);
    case Why::Packed:
        return said("the checkpoint holds it packed as %1; use that, as_stored, or the unquantized "
                    "checkpoint",
                    held);
    }
    return {};
}

/// Why a format is refused; in the order that complaints are listed in.
struct Refusal {
    Why why = Why::NotQuantizable;
    std::string held = {};
    friend bool operator<(const Refusal& a, const Refusal& b) {
        const auto rank = [](const Refusal& r) {
            return std::tuple(std::min(r.why, Why::NeedsOwnKey), std::string_view(r.held), r.why);
        };
        return rank(a) < rank(b);
    }
};

Sentence computedElsewhere(DeviceId store,
                           DeviceId compute,
                           const Sentence& store_by,
                           const Sentence& compute_by,
                           const Sentence& tensors) {
    return inEnglish(store_by) == inEnglish(compute_by)
               ? said("stored on %1 but computed on %2: store comes from %3 and so does compute; "
                      "what is stored on a GPU is computed there (%4)",
                      store, compute, store_by, tensors)
               : said("stored on %1 but computed on %2: store comes from %3, compute from %4; what "
                      "is stored on a GPU is computed there (%5)",
                      store, compute, store_by, compute_by, tensors);
}

class Resolver {
public:
    Resolver(const DeviceMap& map, const ResolveInput& input)
        : map_(map), input_(input),
          own_names_(input.names == nullptr ? std::optional<KnownNames>(*input.tensors)
                                            : std::nullopt),
          keys_(map, input.names == nullptr ? *own_names_ : *input.names, out_) {}

    Resolution run() {
        keys_.build();
        checkDevices();
        checkDefault();
        for (size_t i = 0; i < input_.tensors->size(); ++i) {
            resolveTensor(static_cast<int>(i));
        }
        resolveHead();
        report();
        return std::move(out_);
    }

private:
    using Fields = KeyTable::Fields;

    [[nodiscard]] bool hasDevice(DeviceId device) const {
        return !device.isGpu() || std::find(input_.devices.begin(), input_.devices.end(), device) !=
                                      input_.devices.end();
    }

    PlanIssue& issue(std::vector<PlanIssue>& list,
                     std::string_view code,
                     std::string key,
                     MapPosition at,
                     Sentence words) {
        PlanIssue added;
        added.code = code;
        added.key = std::move(key);
        added.words = std::move(words);
        added.line = at.line;
        added.column = at.column;
        list.push_back(std::move(added));
        return list.back();
    }

    void noSuchDevice(DeviceId device, const std::string& key, MapPosition at) {
        if (hasDevice(device)) {
            return;
        }
        std::vector<Sentence> there;
        bool is_card = device.kind == DeviceId::Kind::Cuda;
        std::vector<Suggestion> instead;
        for (const DeviceId& other : input_.devices) {
            if (other.isGpu()) {
                there.push_back(said("%1", other));
                is_card = is_card || other.kind == DeviceId::Kind::Cuda;
                instead.emplace_back(asItIs(other.toString()));
            }
        }
        if (instead.empty()) {
            instead.emplace_back(asItIs("cpu"));
        }
        PlanIssue& added =
            issue(out_.errors, "DM04", key, at,
                  there.empty()
                      ? said("%1 names %2, which this machine does not have; it has cpu and disk",
                             inQuotes(key), device)
                      : said("%1 names %2, which this machine does not have; it has %3, cpu and "
                             "disk",
                             inQuotes(key), device, joined(std::move(there))));
        added.suggestions = std::move(instead);
        added.is_about_card = is_card;
    }

    void noSuchDevices(const PlaceFields& fields, const std::string& key, MapPosition at) {
        if (fields.store.has_value()) {
            noSuchDevice(*fields.store, key, at);
        }
        // A computing device that follows from another value (main device, default) is
        // complained about there.
        if (fields.compute.has_value() && fields.compute != fields.store &&
            !(map_.is_imported && fields.compute == map_.main_device)) {
            noSuchDevice(*fields.compute, key, at);
        }
    }

    void checkDevices() {
        if (map_.has_default && !map_.is_imported) {
            noSuchDevices(map_.default_fields, "default", map_.default_at);
        }
        for (const MapEntry& entry : map_.entries) {
            PlaceFields fields = entry.fields;
            if (entry.is_scalar_disk) {
                fields.compute.reset();
            }
            noSuchDevices(fields, entry.key, entry.value_at);
        }
        for (const auto* sizes : {&map_.limits, &map_.reserve}) {
            for (const auto& [device, size] : *sizes) {
                noSuchDevice(device, device.toString(), size.at);
            }
        }
        if (map_.kv_place.has_value()) {
            noSuchDevice(*map_.kv_place, "kv.place", map_.kv_place_at);
        }
    }

    void checkDefault() {
        if (map_.is_imported) {
            return;
        }
        const PlaceFields& fields = map_.default_fields;
        Phrase missing = phrase("\"disk\" says where bytes are stored, not what computes");
        if (!map_.is_default_scalar_disk) {
            if (fields.store.has_value() && fields.compute.has_value()) {
                return;
            }
            missing = fields.store.has_value()     ? phrase("it names no compute device")
                      : fields.compute.has_value() ? phrase("it names no store")
                                                   : phrase("it names neither store nor compute");
        }
        is_default_bad_ = true;
        size_t concerned = 0;
        for (const ExpectedTensor& tensor : *input_.tensors) {
            concerned +=
                !tensor.is_unused && isPresent(tensor) && !isCovered(tensor.name) ? 1U : 0U;
        }
        PlanIssue& added =
            issue(out_.errors, "DM08", "default", map_.default_at,
                  concerned == 1 ? said("default must settle both store and compute: %1 (%2 "
                                        "tensor would have no device)",
                                        missing, concerned)
                                 : said("default must settle both store and compute: %1 (%2 "
                                        "tensors would have no device)",
                                        missing, concerned));
        added.suggestions.emplace_back(asItIs(R"({"store": "cpu", "compute": "cpu"})"));
    }

    /// Keys alone give store and compute.
    [[nodiscard]] bool isCovered(const std::string& name) {
        const Fields fields = keys_.lookUp(name);
        return fields.values.store.has_value() && fields.values.compute.has_value();
    }

    [[nodiscard]] bool isPresent(const ExpectedTensor& tensor) const {
        return tensor.is_required || input_.stored == nullptr || input_.stored->empty() ||
               input_.stored->contains(tensor.name);
    }

    StoredTensor storedOf(const ExpectedTensor& tensor) {
        if (input_.stored != nullptr && !input_.stored->empty()) {
            const auto it = input_.stored->find(tensor.name);
            if (it != input_.stored->end()) {
                return it->second;
            }
            missing_.add(tensor.name, tensor.module);
        }
        return {};
    }

    void withDefault(Fields& fields) const {
        for (int f = 0; f < kMapFieldCount; ++f) {
            if (fields.set_by[static_cast<size_t>(f)] == kSetByRule) {
                KeyTable::setIfAbsent(fields, static_cast<MapField>(f + 1), map_.default_fields,
                                      kSetByDefault);
            }
        }
    }

    /// Store and compute of one row, with DM03 and DM08. False: it has no device.
    bool place(const Fields& fields, const ExpectedTensor& tensor, ResolvedTensor& row) {
        const std::string& name = tensor.name;
        const std::string& module = tensor.module;
        if (!fields.values.store.has_value() || !fields.values.compute.has_value()) {
            out_.is_incomplete = true;
            if (!is_default_bad_) {
                uncovered_.add(name, module);
            }
            return false;
        }
        row.store = *fields.values.store;
        row.compute = *fields.values.compute;
        row.set_by = fields.set_by;
        row.pin = fields.values.pin;
        if (row.store.isGpu() && row.compute != row.store) {
            Affected& cause = impossible_[{row.set_by[indexOf(MapField::Store)],
                                           row.set_by[indexOf(MapField::Compute)]}];
            cause.store = row.store;
            cause.compute = row.compute;
            cause.add(name, module);
            out_.is_incomplete = true;
        }
        if (!hasDevice(row.store) || !hasDevice(row.compute)) {
            out_.is_incomplete = true;
        }
        if (row.store == row.compute) {
            row.residency = Residency::Always;
            if (fields.values.residency.has_value()) {
                idle_residency_[row.set_by[indexOf(MapField::Residency)]].add(name, module);
            }
        } else {
            row.residency = fields.values.residency.value_or(
                isMedia(tensor.part) ? Residency::OnUse : Residency::Stream);
        }
        return true;
    }

    /// The format field of one row. `tensor` is the table for a head that is a copy of it.
    void decideFormat(const Fields& fields,
                      const std::string& name,
                      const ExpectedTensor& tensor,
                      bool is_head,
                      const StoredTensor& stored,
                      ResolvedTensor& row) {
        row.format = stored.packed;
        const bool is_packed = stored.packed != Format::AsStored;
        const int by = fields.set_by[indexOf(MapField::Format)];
        if (!fields.values.format.has_value()) {
            row.set_by[indexOf(MapField::Format)] = kSetByRule;
            if (takesQuant(tensor, input_.quantizes_experts) && input_.quant != Format::AsStored) {
                if (is_packed) {
                    ++packed_count_;
                } else {
                    row.format = loadFormat(tensor, stored, input_.quant, input_.quantizes_experts);
                    row.set_by[indexOf(MapField::Format)] = kSetByOption;
                    row.is_converted = true;
                }
            } else if (is_head && input_.head != Format::AsStored) {
                takeHeadOption(is_packed, row);
            }
            return;
        }
        const Format wanted = *fields.values.format;
        if (wanted == Format::AsStored || wanted == stored.packed) {
            return;
        }
        const bool is_exact = by >= 0 && fields.is_format_exact;
        if (isQuantized(wanted)) {
            // Left as they are unless a key names them, as bitsandbytes leaves them.
            const bool needs_key =
                tensor.kind == TensorKind::Embedding || tensor.kind == TensorKind::Experts;
            const bool can_have = isQuantizable(tensor) || needs_key;
            if (!can_have || (needs_key && !is_exact)) {
                row.set_by[indexOf(MapField::Format)] = kSetByRule;
                if (is_exact) {
                    refuseFormat(by, name, tensor.module, wanted, {Why::NotQuantizable});
                } else if (is_head && input_.head != Format::AsStored) {
                    takeHeadOption(is_packed, row);
                }
                return;
            }
            if (is_packed) {
                refuseFormat(by, name, tensor.module, wanted,
                             {Why::Packed, usualName(stored.packed)});
                return;
            }
        }
        if (is_packed) {
            if (!is_exact) {
                refuseFormat(by, name, tensor.module, wanted,
                             {Why::NeedsOwnKey, usualName(stored.packed)});
                return;
            }
            Affected& cause = expanded_[by];
            cause.held = usualName(stored.packed);
            cause.format = usualName(wanted);
            cause.add(name, tensor.module);
            row.format = wanted;
            row.is_converted = true;
            return;
        }
        if (!isFloatType(stored.type)) {
            refuseFormat(by, name, tensor.module, wanted,
                         {Why::NotFloats, std::string(tensorTypeName(stored.type))});
            return;
        }
        if (!isDenseSame(wanted, stored.type)) {
            row.format = wanted;
            row.is_converted = true;
        }
    }

    /// What --head asks for.
    void takeHeadOption(bool is_packed, ResolvedTensor& row) {
        if (is_packed) {
            out_.notes.emplace_back(said(
                "--head has no effect: the checkpoint holds the head packed as %1, and it stays so",
                usualName(row.format)));
            return;
        }
        row.format = headFormat(input_.head, input_.quant);
        row.set_by[indexOf(MapField::Format)] = kSetByOption;
        row.is_converted = true;
    }

    void refuseFormat(
        int by, const std::string& name, const std::string& module, Format wanted, Refusal why) {
        Affected& cause = refused_[{by, std::move(why)}];
        cause.format = usualName(wanted);
        cause.add(name, module);
    }

    void resolveTensor(int index) {
        const ExpectedTensor& tensor = (*input_.tensors)[static_cast<size_t>(index)];
        if (tensor.is_unused || !isPresent(tensor)) {
            return;
        }
        Fields fields = keys_.lookUp(tensor.name);
        if (tensor.part.role == PartRole::Assistant) {
            followLayers(fields);
        }
        withDefault(fields);
        ResolvedTensor row;
        row.index = index;
        if (!place(fields, tensor, row)) {
            return;
        }
        const StoredTensor stored = storedOf(tensor);
        decideFormat(fields, tensor.name, tensor, false, stored, row);
        if (tensor.part.role == PartRole::Layer && tensor.use == TensorUse::Query) {
            layer_compute_[tensor.layer] = row.compute;
        }
        if (tensor.part == kTable) {
            table_ = row;
            table_fields_ = fields;
            table_stored_ = stored;
        }
        out_.tensors.push_back(row);
    }

    /// An assistant that no key places is where the keys and values are that its last layer reads.
    void followLayers(Fields& fields) const {
        const bool is_placed = fields.values.store.has_value() || fields.values.compute.has_value();
        if (is_placed || input_.config == nullptr || !input_.config->assistant) {
            return;
        }
        const auto layer =
            layer_compute_.find(input_.config->assistant->text.layers.back().kv_source);
        if (map_.kv_place.has_value()) {
            fields.values.store = fields.values.compute = *map_.kv_place;
        } else if (layer != layer_compute_.end()) {
            fields.values.store = fields.values.compute = layer->second;
        }
    }

    void resolveHead() {
        if (!table_.has_value()) {
            return;
        }
        const std::string name(kHeadName);
        const ExpectedTensor& table = (*input_.tensors)[static_cast<size_t>(table_->index)];
        Fields fields = keys_.lookUp(name);
        if (input_.config != nullptr && input_.config->has_own_head) {
            resolveStoredHead(fields);
            return;
        }
        const bool is_covered = fields.is_covered;
        if (!is_covered) {
            // All fields of the table. --head counts where no key gives the table a format.
            const bool is_given = table_fields_.values.format.has_value() &&
                                  table_->set_by[indexOf(MapField::Format)] != kSetByRule;
            if (is_given) {
                if (input_.head != Format::AsStored &&
                    headFormat(input_.head, input_.quant) != table_->format) {
                    out_.notes.emplace_back(
                        said("--head has no effect: the map gives embed_tokens a format, and the "
                             "head is the same table"));
                }
                return;
            }
            ResolvedTensor head = *table_;
            decideFormat(table_fields_, name, table, true, table_stored_, head);
            if (head.set_by[indexOf(MapField::Format)] == kSetByOption &&
                head.format != table_->format) {
                addHead(head);
            }
            return;
        }
        withDefault(fields);
        ResolvedTensor head;
        ExpectedTensor as_head = table;
        as_head.name = name;
        as_head.module = partName(kHead);
        as_head.part = kHead;
        if (!place(fields, as_head, head)) {
            return;
        }
        decideFormat(fields, name, table, true, table_stored_, head);
        const bool may_differ = fields.values.duplicate_tied.value_or(false) ||
                                table_fields_.values.duplicate_tied.value_or(false);
        const bool is_same_place = head.store == table_->store && head.compute == table_->compute;
        const bool is_same = is_same_place && head.format == table_->format;
        if (may_differ) { // NOLINT(bugprone-branch-clone): the order of the rules is the rule
            addHead(head);
        } else if (is_same) {
            noteTiedFields(head);
        } else if (is_same_place && head.set_by[indexOf(MapField::Format)] == kSetByOption) {
            addHead(head);
        } else if (map_.is_imported) {
            out_.notes.emplace_back(said(
                "lm_head and embed_tokens are one tensor in the checkpoint; the map puts them on "
                "different devices, so there are two copies"));
            addHead(head);
        } else {
            tiedConflict(head);
        }
    }

    /// A head that is a tensor of the files: as any other tensor, apart from the table.
    void resolveStoredHead(Fields fields) {
        const ExpectedTensor tensor = headTensor(*input_.config);
        withDefault(fields);
        ResolvedTensor head;
        if (!place(fields, tensor, head)) {
            return;
        }
        decideFormat(fields, tensor.name, tensor, true, storedOf(tensor), head);
        addHead(head);
    }

    /// What a key says of lm_head alone, where it is the table: the table's fields are what counts.
    void noteTiedFields(const ResolvedTensor& head) {
        const auto tell = [&](MapField field, const std::string& name) {
            const int by = head.set_by[indexOf(field)];
            if (by >= 0) {
                out_.notes.emplace_back(said(
                    "%1 given by %2 has no effect: lm_head is the table of embed_tokens; give it "
                    "to %3, or ask for two copies with \"duplicate_tied\": true",
                    name, setBy(map_, by),
                    (*input_.tensors)[static_cast<size_t>(table_->index)].module));
            }
        };
        if (head.residency != table_->residency) {
            tell(MapField::Residency, "residency");
        }
        if (head.pin != table_->pin) {
            tell(MapField::Pin, "pin");
        }
    }

    void addHead(ResolvedTensor head) {
        head.index = -1;
        out_.has_own_head = true;
        out_.tensors.push_back(head);
    }

    void tiedConflict(const ResolvedTensor& head) {
        const auto half = [this](const ResolvedTensor& row, int by) {
            return said("stored on %1, computed on %2, format %3 (by %4)", row.store, row.compute,
                        usualName(row.format), setBy(map_, by));
        };
        // The field that differs, and the keys that set it for either name.
        const MapField field = head.store != table_->store       ? MapField::Store
                               : head.compute != table_->compute ? MapField::Compute
                                                                 : MapField::Format;
        const int by = head.set_by[indexOf(field)];
        const int table_by = table_->set_by[indexOf(field)];
        const int position = by >= 0 ? by : table_by;
        PlanIssue& added =
            issue(out_.errors, "DM07", keyName(position), valueAt(position),
                  said("%1 and %2 are the same bytes but disagree: %3 is %4, %5 is "
                       "%6; give both the same place, or ask for two copies with "
                       "\"duplicate_tied\": true",
                       partTensorName(kHead), partTensorName(kTable), shortPartName(kHead),
                       half(head, by), shortPartName(kTable), half(*table_, table_by)));
        added.suggestions.emplace_back(asItIs("\"duplicate_tied\": true"));
        added.modules = {partName(kHead), partName(kTable)};
    }

    [[nodiscard]] std::string keyName(int by) const {
        return by >= 0 ? map_.entries[static_cast<size_t>(by)].key : "default";
    }
    [[nodiscard]] MapPosition valueAt(int by) const {
        return by >= 0 ? map_.entries[static_cast<size_t>(by)].value_at : map_.default_at;
    }

    void report() {
        if (uncovered_.count > 0) {
            PlanIssue& added =
                issue(out_.errors, "DM03", "", {},
                      said("no key gives a device to %1; add a key, or \"\" for everything else",
                           uncovered_.tensors()));
            added.modules = uncovered_.modules;
        }
        for (const auto& [by, cause] : impossible_) {
            const int position = by.second >= 0 ? by.second : by.first;
            PlanIssue& added =
                issue(out_.errors, "DM08", keyName(position), valueAt(position),
                      computedElsewhere(cause.store, cause.compute, setBy(map_, by.first),
                                        setBy(map_, by.second), cause.tensors()));
            added.modules = cause.modules;
        }
        for (const auto& [by, cause] : refused_) {
            PlanIssue& added = issue(out_.errors, "DM10", keyName(by.first), valueAt(by.first),
                                     said("format %1 is not possible: %2 (%3)", cause.format,
                                          wordsOf(by.second.why, by.second.held), cause.tensors()));
            added.modules = cause.modules;
        }
        for (const auto& [by, cause] : expanded_) {
            PlanIssue& added = issue(out_.warnings, "DM10", keyName(by), valueAt(by),
                                     said("expanded from %1 to %2: values stay those of the 4-bit "
                                          "weights, only memory grows (%3)",
                                          cause.held, cause.format, cause.tensors()));
            added.modules = cause.modules;
        }
        for (const auto& [by, cause] : idle_residency_) {
            out_.notes.emplace_back(said(
                "residency given by %1 has no effect where store and compute are the same device "
                "(%2)",
                setBy(map_, by), cause.tensors()));
        }
        if (packed_count_ > 0) {
            out_.notes.emplace_back(
                packed_count_ == 1
                    ? said("1 weight of the checkpoint is packed already and stays as "
                           "stored; --quant applies to the others")
                    : said("%1 weights of the checkpoint are packed already and stay as "
                           "stored; --quant applies to the others",
                           packed_count_));
        }
        if (missing_.count > 0) {
            out_.notes.emplace_back(
                said("not in the files, planned as bf16: %1", missing_.tensors()));
        }
    }

    const DeviceMap& map_;
    const ResolveInput& input_;
    Resolution out_;
    std::optional<KnownNames> own_names_;
    KeyTable keys_;
    bool is_default_bad_ = false;
    std::map<int, DeviceId> layer_compute_; ///< By decoder layer.
    std::optional<ResolvedTensor> table_;
    Fields table_fields_;
    StoredTensor table_stored_;
    size_t packed_count_ = 0;
    Affected uncovered_, missing_;
    std::map<std::pair<int, int>, Affected> impossible_;
    std::map<std::pair<int, Refusal>, Affected> refused_;
    std::map<int, Affected> expanded_, idle_residency_;
};

} // namespace

Format loadFormat(const ExpectedTensor& tensor,
                  const StoredTensor& stored,
                  Format quant,
                  bool has_experts) {
    return stored.packed == Format::AsStored && takesQuant(tensor, has_experts) ? quant
                                                                                : stored.packed;
}

Format headFormat(Format head, Format quant) {
    return hasCodes(head) ? codesFormat(weightFormat(head), isNested(quant)) : head;
}

Resolution resolveDeviceMap(const DeviceMap& map, const ResolveInput& input) {
    return Resolver(map, input).run();
}

Sentence setBy(const DeviceMap& map, int set_by) {
    if (set_by == kSetByDefault) {
        return map.is_imported ? said("the key %1", inQuotes("")) : phrase("default");
    }
    if (set_by == kSetByOption) {
        return phrase("the load options");
    }
    if (set_by >= 0 && static_cast<size_t>(set_by) < map.entries.size()) {
        return said("the key %1", inQuotes(map.entries[static_cast<size_t>(set_by)].key));
    }
    return phrase("the rules");
}

} // namespace engine
