// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_advice.h"

#include "engine/families/gemma4/names.h"
#include "engine/plan/plan_speed.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

namespace engine {

namespace {

constexpr size_t kShownContributors = 5;
constexpr int64_t kLeastContext = 512; ///< Tokens; less is no conversation.
constexpr int64_t kLeastChunk = 128;
constexpr int64_t kLeastImageTokens = 70;

/// What remains when no step is enough.
std::string lastResort(const MemoryBound& bound) {
    const bool has_limit = bound.by == MemoryBound::By::Option || bound.by == MemoryBound::By::Map;
    std::string text = "use a device with more memory or a smaller model";
    text += has_limit ? ", or raise the limit" : "";
    return text + (bound.reserve == 0 ? ""
                   : has_limit        ? " or lower the reserve"
                                      : ", or lower the reserve");
}

/// "1.00 GiB free, less 2.00 GiB that the map reserves".
std::string boundText(const MemoryBound& bound) {
    const char* by = bound.by == MemoryBound::By::Option ? " by --limit"
                     : bound.by == MemoryBound::By::Map  ? " by the limits of the map"
                                                         : " free";
    return formatByteCount(bound.whole) + by +
           (bound.reserve == 0
                ? std::string()
                : ", less " + formatByteCount(bound.reserve) + " that the map reserves");
}

/// "about 12 ms", "less than 1 ms".
std::string aboutSeconds(double value) {
    char text[32];
    if (value < 0.001) {
        return "less than 1 ms";
    }
    if (value < 1) {
        std::snprintf(text, sizeof text, "about %.0f ms", value * 1000);
    } else {
        std::snprintf(text, sizeof text, "about %.1f s", value);
    }
    return text;
}

/// What has too little memory: one device, or everything that lies in the host's memory.
struct Shortage {
    std::optional<DeviceId> device; ///< Absent: cpu and simulated GPUs together.
    MemoryBound bound;
    uint64_t limit = bound.bytes();

    [[nodiscard]] bool concerns(DeviceId id) const {
        return device.has_value() ? id == *device
                                  : id == DeviceId::cpu() || id.kind == DeviceId::Kind::Sim;
    }
    [[nodiscard]] uint64_t need(const PlacementPlan& plan) const {
        uint64_t bytes = 0;
        for (const DevicePlan& row : plan.devices) {
            bytes += concerns(row.id) ? row.parts.total() : 0;
        }
        return bytes;
    }
    /// Only a card's memory is apart from what the processor computes in.
    [[nodiscard]] bool isGpu() const { return device.has_value() && device->isGpu(); }
};

/// What a step changes in the request, piled up over several steps.
struct Change {
    std::vector<std::pair<std::string, PlaceFields>> places;
    std::optional<HeadOption> head;
    std::optional<QuantOption> quant;
    std::optional<int64_t> context, chunk, image_tokens;

    void add(const Change& other) {
        places.insert(places.end(), other.places.begin(), other.places.end());
        head = other.head.has_value() ? other.head : head;
        quant = other.quant.has_value() ? other.quant : quant;
        context = other.context.has_value() ? other.context : context;
        chunk = other.chunk.has_value() ? other.chunk : chunk;
        image_tokens = other.image_tokens.has_value() ? other.image_tokens : image_tokens;
    }
};

PlaceFields placed(DeviceId store, DeviceId compute) {
    PlaceFields fields;
    fields.store = store;
    fields.compute = compute;
    return fields;
}

/// Finds steps that free memory, in the order of their cost. Each is planned anew: what a step is
/// said to free is what the plan with it has less.
class Advisor {
public:
    Advisor(const PlacementPlan& plan,
            Shortage shortage,
            const PlanParts& parts,
            QuantOption quant,
            HeadOption head)
        : plan_(plan), shortage_(shortage), parts_(parts), quant_(quant), head_(head),
          need_(shortage.need(plan)), excess_(need_ - shortage.limit), asked_(*parts.request),
          request_(asked_), is_fit_(!asked_.map.has_value() && asked_.preset == "fit") {}

    std::vector<std::string> steps() {
        const bool is_kv_first = isLargest(MemoryPart::Kv);
        const bool is_workspace_first = isLargest(MemoryPart::Workspace);
        if (is_kv_first) {
            shorterContext();
        }
        if (is_workspace_first) {
            smallerWorkspace();
        }
        // `fit` has tried every place of tables and towers already.
        if (!is_fit_) {
            moveTables();
            moveTowers();
        }
        smallerHead();
        quantize();
        if (!is_kv_first) {
            shorterContext();
        }
        moveLayers();
        // First what is enough by itself, in the order of its cost.
        std::stable_partition(steps_.begin(), steps_.end(),
                              [](const Step& step) { return step.is_enough; });
        std::vector<std::string> texts;
        texts.reserve(steps_.size() + 1);
        for (Step& step : steps_) {
            texts.push_back(std::move(step.text));
        }
        sumUp(texts);
        return texts;
    }

private:
    [[nodiscard]] const TextConfig& text() const { return parts_.request->config.text; }

    [[nodiscard]] DeviceRates rates(DeviceId id) const {
        for (const DeviceInfo& info : parts_.request->devices) {
            if (info.id == id) {
                return ratesOf(&info, id);
            }
        }
        return ratesOf(nullptr, id);
    }

    /// Bytes there after a change; none where the map would then be refused.
    std::optional<uint64_t> needAfter(const Change& change) {
        request_.map = asked_.map;
        if (!change.places.empty()) {
            request_.map = *parts_.map;
            for (const auto& [module, fields] : change.places) {
                request_.map = withPlace(*request_.map, module, fields);
            }
        }
        // A step that names a place is a key of the document of the plan at hand; with any other
        // `fit` chooses anew.
        const bool is_fit = is_fit_ && change.places.empty();
        request_.head = change.head.value_or(is_fit ? asked_.head : head_);
        request_.quant = change.quant.value_or(is_fit ? asked_.quant : quant_);
        request_.context = change.context.value_or(asked_.context);
        request_.prefill_chunk = change.chunk.value_or(asked_.prefill_chunk);
        request_.image_tokens = change.image_tokens.value_or(asked_.image_tokens);
        PlacementPlan after = planBytes(request_, parts_.names, std::move(spare_rows_));
        const uint64_t need = shortage_.need(after);
        spare_rows_ = std::move(after.tensors);
        const auto refused =
            std::count_if(plan_.errors.begin(), plan_.errors.end(),
                          [](const PlanIssue& issue) { return issue.code != "DM09"; });
        if (after.errors.size() > static_cast<size_t>(refused)) {
            return std::nullopt;
        }
        return need;
    }

    uint64_t freedBy(const Change& change) {
        const uint64_t after = needAfter(change).value_or(need_);
        return need_ - std::min(need_, after);
    }

    /// known: what it frees, where that has been asked before. False: nothing, and it is left out.
    bool add(const std::string& what,
             const Change& change,
             const std::string& cost,
             std::optional<uint64_t> known = std::nullopt) {
        const uint64_t frees = known.has_value() ? *known : freedBy(change);
        if (frees == 0) {
            return false;
        }
        is_enough_alone_ = is_enough_alone_ || frees >= excess_;
        all_.add(change);
        steps_.push_back({what + ": frees " + formatByteCount(frees) + ", costs " + cost +
                              (frees >= excess_ ? " (enough by itself)" : ""),
                          frees >= excess_});
        return true;
    }

    [[nodiscard]] uint64_t part(MemoryPart part) const {
        uint64_t bytes = 0;
        for (const DevicePlan& row : plan_.devices) {
            bytes += shortage_.concerns(row.id) ? row.parts[part] : 0;
        }
        return bytes;
    }

    [[nodiscard]] bool isLargest(MemoryPart which) const {
        return std::all_of(kMemoryParts.begin(), kMemoryParts.end(),
                           [&](MemoryPart other) { return part(other) <= part(which); });
    }

    /// The first row of these modules that takes memory there.
    template <typename Is>
    [[nodiscard]] const TensorPlacement* rowThere(Is is) const {
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const ExpectedTensor* tensor = tensorOfRow(parts_, i);
            const TensorPlacement& row = plan_.tensors[i];
            if (tensor != nullptr && is(*tensor) &&
                (shortage_.concerns(row.store) || shortage_.concerns(row.compute))) {
                return &row;
            }
        }
        return nullptr;
    }

    /// A card's part goes to main memory and its processor; what main memory holds goes to disk and
    /// computes where it did. `fit` has filled main memory, so that only disk remains.
    [[nodiscard]] PlaceFields away(const TensorPlacement& row) const {
        return shortage_.isGpu() && !is_fit_ ? placed(DeviceId::cpu(), DeviceId::cpu())
                                             : placed(DeviceId::disk(), row.compute);
    }
    static std::string toText(const PlaceFields& fields) {
        return fields.store == fields.compute
                   ? " to " + fields.store->toString()
                   : " to " + fields.store->toString() + " (computed on " +
                         fields.compute->toString() + ")";
    }

    void moveTables() {
        const Part part = {PartRole::PerLayerTable};
        const std::string name = partName(part);
        const TensorPlacement* row =
            rowThere([&](const ExpectedTensor& t) { return t.part == part; });
        if (row == nullptr) {
            return;
        }
        Change change;
        change.places = {{name, away(*row)}};
        const std::string bytes = std::to_string(text().num_layers * text().ple_size * 2);
        add("move " + name + toText(away(*row)), change,
            shortage_.isGpu() ? "nothing measurable (one row of " + bytes + " bytes per token)"
                              : "one read of " + bytes + " bytes per token");
    }

    void moveTowers() {
        const PlanRequest& request = *parts_.request;
        // What it takes more than where it is.
        const auto slower = [this](double flops, DeviceId from) {
            const auto seconds = [&](DeviceId id) {
                return flops / (towerShare(id) * rates(id).flops);
            };
            return aboutSeconds(std::max(0.0, seconds(DeviceId::cpu()) - seconds(from)));
        };
        Change both;
        std::string names;
        for (const Tower tower : {Tower::Audio, Tower::Vision}) {
            const bool is_audio = tower == Tower::Audio;
            const TensorPlacement* row =
                rowThere([&](const ExpectedTensor& t) { return t.tower == tower; });
            if (row == nullptr) {
                continue;
            }
            const std::string first =
                partName({is_audio ? PartRole::AudioTower : PartRole::VisionTower});
            const std::string second =
                partName({is_audio ? PartRole::AudioProjector : PartRole::VisionProjector});
            Change change;
            change.places = {{first, away(*row)}, {second, away(*row)}};
            std::string what = "move ";
            what.append(first).append(" and ").append(second).append(toText(away(*row)));
            if (!shortage_.isGpu()) {
                both.add(change);
                names += (names.empty() ? "" : ", ") + what;
            } else if (is_audio) {
                add(what, change,
                    slower(10 * audioFlopsPerSecond(request.config), row->compute) +
                        " per 10 s of audio");
            } else {
                add(what, change,
                    slower(imageFlops(request.config, plan_.image_tokens), row->compute) +
                        " per image");
            }
        }
        // Each tower visits its device while it computes; only together do they need less room.
        if (!names.empty()) {
            add(names, both, "one read of the files per image or clip");
        }
    }

    /// A smaller head, and the table it was made of out of the way. The map must name both: a head
    /// without a key of its own goes where the table goes.
    void smallerHead() {
        const Part part = {PartRole::Embedding};
        const std::string name = partName(part);
        const TensorPlacement* table =
            rowThere([&](const ExpectedTensor& t) { return t.part == part; });
        if (table == nullptr) {
            return;
        }
        const bool has_own_head = parts_.resolution->has_own_head;
        Change change;
        std::string what;
        if (parts_.request->config.has_own_head) {
            storedHead(name, *table);
            return;
        }
        if (!has_own_head) {
            change.head = HeadOption::Int8;
            what = "use --head int8";
        }
        const char* cost = has_own_head ? "nothing measurable (one row per token)"
                                        : "some accuracy of the last layer; it is faster";
        // `fit` finds another place for the table by itself, but may put something else here.
        if (is_fit_ && (has_own_head || add(what, change, cost))) {
            return;
        }
        const TensorPlacement* head = plan_.find(Part{PartRole::Head});
        const TensorPlacement& now = head != nullptr ? *head : *table;
        PlaceFields own = placed(now.store, now.compute);
        own.duplicate_tied = true;
        change.places = {{name, away(*table)}, {partName({PartRole::Head}), own}};
        what += std::string(what.empty() ? "" : " and ") + "move " + name + toText(away(*table)) +
                ", with " + partName({PartRole::Head}) + " kept as a copy of its own (" +
                headKey(own) + ")";
        add(what, change, cost);
    }

    /// Where the head is a tensor of the files, table and head are two things to change.
    void storedHead(const std::string& name, const TensorPlacement& table) {
        const TensorPlacement* head = plan_.find(Part{PartRole::Head});
        if (head != nullptr && shortage_.concerns(head->compute) && !isFourBit(head->format) &&
            head->format != Format::Q8) {
            Change change;
            change.head = HeadOption::Int8;
            add("use --head int8", change, "some accuracy of the last layer; it is faster");
        }
        if (!is_fit_) {
            Change change;
            change.places = {{name, away(table)}};
            add("move " + name + toText(away(table)), change,
                "nothing measurable (one row per token)");
        }
    }

    /// The entry of a map that keeps the head where it is.
    static std::string headKey(const PlaceFields& own) {
        return "\"" + partName({PartRole::Head}) + R"(": {"store": ")" + own.store->toString() +
               R"(", "compute": ")" + own.compute->toString() + R"(", "duplicate_tied": true})";
    }

    void quantize() {
        const auto offer = [this](QuantOption quant, const char* name, const char* cost) {
            Change change;
            change.quant = quant;
            add(std::string("use --quant ") + name, change, cost);
        };
        if (quant_ == QuantOption::None) {
            offer(QuantOption::Nf4, "nf4", "some accuracy; it is faster");
            offer(QuantOption::Nf4Dq, "nf4-dq", "a little more accuracy");
        } else if (quant_ == QuantOption::Nf4) {
            offer(QuantOption::Nf4Dq, "nf4-dq", "hardly any accuracy");
        } else if (quant_ == QuantOption::Fp4) {
            offer(QuantOption::Fp4Dq, "fp4-dq", "hardly any accuracy");
        }
    }

    /// Half the context, or the half of that and so on that is enough.
    void shorterContext() {
        if (part(MemoryPart::Kv) == 0 || plan_.context < 2 * kLeastContext) {
            return;
        }
        // The cache alone decides: scratch that shrinks with it comes on top.
        PlacementPlan shorter = plan_;
        const auto kvAt = [&](int64_t context) {
            shorter.context = context;
            uint64_t bytes = 0;
            const auto addThere = [&](DeviceId device, int owner) {
                bytes +=
                    shortage_.concerns(device) ? layerKvBytes(*parts_.request, shorter, owner) : 0;
            };
            for (size_t i = 0; i < text().layers.size(); ++i) {
                if (!text().layers[i].is_kv_shared) {
                    addThere(plan_.kv_device[i], static_cast<int>(i));
                }
            }
            for (const KvMirror& mirror : kvMirrors(parts_.request->config, plan_)) {
                addThere(mirror.device, mirror.owner);
            }
            return bytes;
        };
        Change change;
        change.context = plan_.context / 2;
        const uint64_t now = kvAt(plan_.context);
        for (int64_t n = plan_.context / 2; n >= kLeastContext; n /= 2) {
            if (now - kvAt(n) >= excess_) {
                change.context = n;
                break;
            }
        }
        add("use a context of " + std::to_string(*change.context) + " tokens", change,
            "memory of the conversation");
    }

    void smallerWorkspace() {
        if (plan_.prefill_chunk > kLeastChunk) {
            Change change;
            change.chunk = kLeastChunk;
            add("use --prefill-chunk " + std::to_string(kLeastChunk), change,
                "time until a long prompt is read");
        }
        if (plan_.image_tokens > kLeastImageTokens) {
            Change change;
            change.image_tokens = kLeastImageTokens;
            add("use --image-tokens " + std::to_string(kLeastImageTokens), change,
                "detail of large images");
        }
    }

    /// Layers there that go to the same place, with their bytes.
    struct LayerRun {
        PlaceFields to;
        std::map<int, uint64_t> bytes;
    };

    /// The last ones first. Each layer goes where the first of its tensors would.
    [[nodiscard]] std::vector<LayerRun> layerRuns() const {
        struct Layer {
            PlaceFields to;
            uint64_t bytes = 0;
        };
        std::map<int, Layer> layers;
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const ExpectedTensor* tensor = tensorOfRow(parts_, i);
            const TensorPlacement& row = plan_.tensors[i];
            if (tensor != nullptr && tensor->tower == Tower::Language && tensor->layer >= 0 &&
                shortage_.concerns(row.store)) {
                const auto [it, is_new] = layers.try_emplace(tensor->layer, Layer{away(row), 0});
                it->second.bytes += row.bytes;
            }
        }
        std::vector<LayerRun> runs;
        for (auto it = layers.rbegin(); it != layers.rend(); ++it) {
            const auto& [index, layer] = *it;
            if (runs.empty() || !(runs.back().to == layer.to) ||
                !runs.back().bytes.contains(index + 1)) {
                runs.push_back({layer.to, {}});
            }
            runs.back().bytes[index] = layer.bytes;
        }
        return runs;
    }

    /// The last layers there, as few as are enough; where they compute on several devices, those of
    /// each.
    void moveLayers() {
        std::vector<PlaceFields> offered;
        for (const LayerRun& run : layerRuns()) {
            if (std::find(offered.begin(), offered.end(), run.to) == offered.end()) {
                offered.push_back(run.to);
                moveLayers(run.to, run.bytes);
            }
        }
    }

    void moveLayers(const PlaceFields& fields, const std::map<int, uint64_t>& layer_bytes) {
        // Their cache goes with them, and mirrors come: the sum of weights is only a first guess.
        const int last = layer_bytes.rbegin()->first;
        const auto changeFrom = [&](int first) {
            Change change;
            change.places = {{layerRangeName(first, last), fields}};
            return change;
        };
        const int least = layer_bytes.begin()->first;
        // Weights and cached rows of the layers are most of it; a plan with them says the rest
        // (adapters, scratch, mirrors).
        int enough = last + 1;
        uint64_t expected = 0;
        while (enough > least && expected < excess_) {
            --enough;
            expected += layer_bytes.at(enough);
            const auto i = static_cast<size_t>(enough);
            expected += !text().layers[i].is_kv_shared && shortage_.concerns(plan_.kv_device[i])
                            ? layerKvBytes(*parts_.request, plan_, enough)
                            : 0;
        }
        uint64_t frees = freedBy(changeFrom(enough));
        if (frees >= excess_) {
            for (uint64_t fewer = 0; enough < last; ++enough, frees = fewer) {
                fewer = freedBy(changeFrom(enough + 1));
                if (fewer < excess_) {
                    break;
                }
            }
        } else {
            while (enough > least && frees < excess_) {
                frees = freedBy(changeFrom(--enough));
            }
        }
        uint64_t moved = 0;
        for (int i = enough; i <= last; ++i) {
            moved += layer_bytes.at(i);
        }
        const DeviceRates cpu = rates(DeviceId::cpu());
        const auto perSecond = [&](DeviceId id, const DeviceRates& r) {
            return bandwidthShare(id) * r.read_bytes_per_s;
        };
        double slower = 0;
        if (fields.store != DeviceId::disk()) {
            const DeviceRates gpu = rates(*shortage_.device);
            slower = static_cast<double>(moved) * (1 / perSecond(DeviceId::cpu(), cpu) -
                                                   1 / perSecond(*shortage_.device, gpu)) +
                     cpu.hop_s + gpu.hop_s;
        } else {
            slower = readSeconds(enough, last);
        }
        add((enough == last ? "move layer " : "move layers " + std::to_string(enough) + "-") +
                std::to_string(last) + toText(fields),
            changeFrom(enough), aboutSeconds(std::max(0.0, slower)) + " per token", frees);
    }

    /// To read these layers from disk for a token, in the format that they have there.
    [[nodiscard]] double readSeconds(int first, int last) const {
        double seconds = 0;
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const ExpectedTensor* tensor = tensorOfRow(parts_, i);
            if (tensor != nullptr && tensor->tower == Tower::Language && tensor->layer >= first &&
                tensor->layer <= last) {
                TensorPlacement row = plan_.tensors[i];
                row.store = DeviceId::disk();
                row.made_from_bytes =
                    madeFromBytes(asked_, row, *tensor, storedAs(asked_, *tensor));
                seconds += diskSeconds(row, rates(DeviceId::disk()));
            }
        }
        return seconds;
    }

    /// Says so when all of it together is not enough.
    void sumUp(std::vector<std::string>& texts) {
        if (texts.empty() || is_enough_alone_) {
            return;
        }
        const std::optional<uint64_t> after = needAfter(all_);
        if (after.has_value() && *after > shortage_.limit) {
            texts.push_back("all of this together leaves " + formatByteCount(*after) + ", still " +
                            formatByteCount(*after - shortage_.limit) +
                            " too much: " + lastResort(shortage_.bound));
        }
    }

    const PlacementPlan& plan_;
    std::vector<TensorPlacement> spare_rows_; ///< Memory for the rows of the next plan.
    Shortage shortage_;
    const PlanParts& parts_;
    QuantOption quant_;
    HeadOption head_;
    uint64_t need_;
    uint64_t excess_;
    const PlanRequest& asked_;
    PlanRequest request_; ///< What was asked, to be asked again with a step.
    bool is_fit_;
    bool is_enough_alone_ = false;
    Change all_;
    struct Step {
        std::string text;
        bool is_enough;
    };
    std::vector<Step> steps_;
};

std::string bothWays(uint64_t bytes) {
    return formatByteCount(bytes) + " (" + std::to_string(bytes) + " bytes)";
}

std::string largestParts(const std::vector<Contributor>& all) {
    std::string text = "The largest parts:";
    for (size_t i = 0; i < std::min(all.size(), kShownContributors); ++i) {
        text += (i == 0 ? " " : ", ") + all[i].name + " " + formatByteCount(all[i].bytes);
    }
    return text;
}

void addSteps(PlanIssue& issue,
              const PlacementPlan& plan,
              const Shortage& shortage,
              const PlanParts& parts,
              QuantOption quant,
              HeadOption head) {
    for (const ModulePlacement& module : plan.modules) {
        if (shortage.concerns(module.store) || shortage.concerns(module.compute)) {
            issue.modules.push_back(module.name);
        }
    }
    if (!parts.request->wants_advice) {
        return;
    }
    issue.suggestions = Advisor(plan, shortage, parts, quant, head).steps();
    if (issue.suggestions.empty()) {
        issue.suggestions.push_back(lastResort(shortage.bound));
    }
}

} // namespace

std::vector<Contributor>
contributors(const PlacementPlan& plan, const DevicePlan& device, const PlanParts& parts) {
    std::map<std::string, uint64_t> by_module;
    int first_layer = -1;
    int last_layer = -1;
    uint64_t layers = 0;
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const TensorPlacement& row = plan.tensors[i];
        const bool is_here = row.store == device.id ||
                             (row.compute == device.id && row.residency == Residency::Always);
        if (!is_here) {
            continue;
        }
        const ExpectedTensor* tensor = tensorOfRow(parts, i);
        if (tensor == nullptr) {
            by_module[partName({PartRole::Head})] += row.bytes;
        } else if (tensor->tower == Tower::Language && tensor->layer >= 0) {
            first_layer = first_layer < 0 ? tensor->layer : std::min(first_layer, tensor->layer);
            last_layer = std::max(last_layer, tensor->layer);
            layers += row.bytes;
        } else {
            by_module[tensor->module] += row.bytes;
        }
    }
    std::vector<Contributor> all;
    all.reserve(by_module.size() + 8);
    for (const auto& [name, bytes] : by_module) {
        all.push_back({name, bytes});
    }
    if (layers > 0) {
        all.push_back(
            {"decoder layers " + std::to_string(first_layer) + "-" + std::to_string(last_layer),
             layers});
    }
    const auto staging = stagingBytes(plan);
    if (const auto it = staging.find(device.id); it != staging.end()) {
        all.push_back({"room for visiting weights", it->second.total()});
    }
    all.push_back(
        {"KV cache of " + std::to_string(plan.context) + " tokens", device.parts[MemoryPart::Kv]});
    all.push_back({"adapters", device.parts[MemoryPart::Adapter]});
    all.push_back({"workspace", device.parts[MemoryPart::Workspace]});
    all.push_back({"context of the driver", device.parts[MemoryPart::Context]});
    std::erase_if(all, [](const Contributor& c) { return c.bytes == 0; });
    std::stable_sort(all.begin(), all.end(),
                     [](const Contributor& a, const Contributor& b) { return a.bytes > b.bytes; });
    return all;
}

PlanIssue overLimit(const PlacementPlan& plan,
                    const DevicePlan& device,
                    const MemoryBound& bound,
                    const PlanParts& parts,
                    QuantOption quant,
                    HeadOption head) {
    PlanIssue issue;
    issue.code = "DM09";
    issue.key = device.id.toString();
    const uint64_t need = device.parts.total();
    issue.message = device.id.toString() + " needs " + bothWays(need) + " but may use " +
                    bothWays(device.limit) + ", " + formatByteCount(need - device.limit) +
                    " too much (" + boundText(bound) + "). " +
                    largestParts(contributors(plan, device, parts));
    addSteps(issue, plan, {device.id, bound}, parts, quant, head);
    return issue;
}

uint64_t hostNeed(const PlacementPlan& plan) {
    return Shortage().need(plan);
}

PlanIssue overHost(const PlacementPlan& plan,
                   const MemoryBound& bound,
                   const PlanParts& parts,
                   QuantOption quant,
                   HeadOption head) {
    const Shortage shortage = {std::nullopt, bound};
    const uint64_t limit = shortage.limit;
    const uint64_t need = shortage.need(plan);
    PlanIssue issue;
    issue.code = "DM09";
    issue.key = DeviceId::cpu().toString();
    std::vector<Contributor> all;
    std::string names;
    for (const DevicePlan& device : plan.devices) {
        if (!shortage.concerns(device.id) || device.parts.total() == 0) {
            continue;
        }
        const std::string name = device.id.toString();
        names += (names.empty() ? "" : " + ") + name + " " + formatByteCount(device.parts.total());
        for (const Contributor& part : contributors(plan, device, parts)) {
            all.push_back({part.name + " on " + name, part.bytes});
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Contributor& a, const Contributor& b) { return a.bytes > b.bytes; });
    issue.message = "the memory of a simulated GPU is this computer's main memory: " + names +
                    " need " + bothWays(need) + " of it together but may use " + bothWays(limit) +
                    ", " + formatByteCount(need - limit) + " too much (" + boundText(bound) +
                    "). " + largestParts(all);
    addSteps(issue, plan, shortage, parts, quant, head);
    return issue;
}

} // namespace engine
