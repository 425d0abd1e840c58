// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_advice.h"

#include "engine/api/formats.h"
#include "engine/base/sentence_list.h"
#include "engine/families/gemma4/names.h"
#include "engine/plan/map_key_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace engine {

namespace {

constexpr size_t kShownContributors = 5;
constexpr int64_t kLeastContext = 512; ///< Tokens; less is no conversation.
constexpr int64_t kLeastChunk = 128;
constexpr int64_t kLeastImageTokens = 70;

/// A module by what a sentence calls it.
PlanPart namedPart(const std::string& module) {
    using Kind = PlanPart::Kind;
    const Part part = partOfName(module);
    if (partName(part) != module) {
        return {Kind::Module, module}; // something within a part
    }
    switch (part.role) {
    case PartRole::VisionTower:
        return {Kind::VisionTower, module};
    case PartRole::AudioTower:
        return {Kind::AudioTower, module};
    case PartRole::PerLayerTable:
        return {Kind::PerLayerTable, module};
    case PartRole::Embedding:
        return {Kind::TokenTable, module};
    case PartRole::Head:
        return {Kind::Head, module};
    default:
        return {Kind::Module, module};
    }
}

PlanPart layerRange(PlanPart::Kind kind, int first, int last) {
    PlanPart part;
    part.kind = kind;
    part.first_layer = first;
    part.last_layer = last;
    return part;
}

/// What remains when no step is enough.
Sentence lastResort(const MemoryBound& bound) {
    const bool has_limit = bound.by == MemoryBound::By::Option || bound.by == MemoryBound::By::Map;
    if (has_limit) {
        return bound.reserve > 0
                   ? said("use a device with more memory or a smaller model, or raise the limit or "
                          "lower the reserve")
                   : said("use a device with more memory or a smaller model, or raise the limit");
    }
    return bound.reserve > 0
               ? said("use a device with more memory or a smaller model, or lower the reserve")
               : said("use a device with more memory or a smaller model");
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
    std::optional<Format> head;
    std::optional<Format> quant;
    bool quantizes_experts = false; ///< With quant.
    std::string quant_name;         ///< As LoadRequest.
    std::optional<int64_t> context, chunk, image_tokens;

    void add(const Change& other) {
        places.insert(places.end(), other.places.begin(), other.places.end());
        head = other.head.has_value() ? other.head : head;
        quantizes_experts = other.quant.has_value() ? other.quantizes_experts : quantizes_experts;
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

/// The change as a button asks for it.
Repair repairOf(const Change& change) {
    Repair repair;
    for (const auto& [module, fields] : change.places) {
        MapMove& move = repair.moves.emplace_back();
        move.module = module;
        move.store = *fields.store;
        move.compute = *fields.compute;
        move.is_tied_copy = fields.duplicate_tied.value_or(false);
    }
    repair.head = change.head.has_value() ? "int8" : "";
    repair.quant = change.quant_name;
    repair.context = change.context.value_or(0);
    repair.prefill_chunk = change.chunk.value_or(0);
    repair.image_tokens = change.image_tokens.value_or(0);
    return repair;
}

/// "disk (computed on cpu)".
Sentence placeWords(const PlaceFields& to) {
    return *to.store == *to.compute ? said("%1", *to.store)
                                    : said("%1 (computed on %2)", *to.store, *to.compute);
}

Sentence moveWords(PlanPart part, const PlaceFields& to) {
    return said("move %1 to %2", std::move(part), placeWords(to));
}

constexpr Phrase kUseInt8Head = phrase("use --head int8");
constexpr Phrase kOneRow = phrase("nothing measurable (one row per token)");
constexpr Phrase kHeadAccuracy = phrase("some accuracy of the last layer; it is faster");

/// What takes longer after a step.
enum class Slower : uint8_t { Image = 1, Sound, Token };
/// What a step costs: words, or time, which is estimated where the step is kept.
using Cost = std::variant<Sentence, Slower>;

/// Finds steps that free memory, in the order of their cost. Each is planned anew: what a step is
/// said to free is what the plan with it has less.
class Advisor {
public:
    Advisor(const PlacementPlan& plan,
            Shortage shortage,
            const PlanParts& parts,
            Format quant,
            Format head)
        : plan_(plan), shortage_(shortage), parts_(parts), quant_(quant), head_(head),
          need_(shortage.need(plan)), excess_(need_ - shortage.limit), asked_(*parts.request),
          request_(asked_), is_fit_(!asked_.map.has_value() && asked_.preset == "fit") {
        request_.wants_advice = false;
    }

    std::vector<Suggestion> steps() {
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
        moveExperts();
        moveLayers();
        // First what is enough by itself, in the order of its cost.
        std::stable_partition(steps_.begin(), steps_.end(),
                              [](const Suggestion& step) { return step.repair->is_enough; });
        sumUp();
        return std::move(steps_);
    }

private:
    [[nodiscard]] const TextConfig& text() const { return parts_.request->config.text; }

    /// Makes request_ the one with a change: what the button beside the step asks for.
    void ask(const Change& change) {
        request_.map = asked_.map;
        if (!change.places.empty()) {
            request_.map = *parts_.map;
            for (const auto& [module, fields] : change.places) {
                request_.map = placedAnew(*request_.map, parts_.resolution->errors, module, fields);
            }
        }
        // A step that names a place is a key of the document of the plan at hand; with any other
        // `fit` chooses anew.
        const bool is_fit = is_fit_ && change.places.empty();
        request_.head = change.head.value_or(is_fit ? asked_.head : head_);
        request_.quant = change.quant.value_or(is_fit ? asked_.quant : quant_);
        request_.quantizes_experts =
            change.quant.has_value() ? change.quantizes_experts : asked_.quantizes_experts;
        request_.context = change.context.value_or(asked_.context);
        request_.prefill_chunk = change.chunk.value_or(asked_.prefill_chunk);
        request_.image_tokens = change.image_tokens.value_or(asked_.image_tokens);
    }

    /// What a change does here and on the other devices.
    struct Outcome {
        uint64_t need = 0;
        bool is_refused = false;         ///< The map has errors then that it did not have.
        bool is_short_elsewhere = false; ///< Another device has too little then, and had enough.
        [[nodiscard]] bool isPossible() const { return !is_refused && !is_short_elsewhere; }
    };
    Outcome outcomeOf(const Change& change) {
        ask(change);
        PlacementPlan after = planBytes(request_, parts_.names, std::move(spare_rows_));
        const auto wasThere = [this](const PlanIssue& issue) {
            return std::any_of(plan_.errors.begin(), plan_.errors.end(),
                               [&](const PlanIssue& now) { return now.code == issue.code; });
        };
        const Outcome outcome = {shortage_.need(after),
                                 !std::all_of(after.errors.begin(), after.errors.end(), wasThere),
                                 isShortElsewhere(after)};
        spare_rows_ = std::move(after.tensors);
        return outcome;
    }

    [[nodiscard]] bool isShortElsewhere(const PlacementPlan& after) const {
        const auto isShort = [](const DevicePlan& row) {
            return row.id != DeviceId::disk() && row.parts.total() > row.limit;
        };
        for (const DevicePlan& row : after.devices) {
            if (shortage_.concerns(row.id) || !isShort(row)) {
                continue;
            }
            const auto now = std::find_if(plan_.devices.begin(), plan_.devices.end(),
                                          [&](const DevicePlan& d) { return d.id == row.id; });
            if (now == plan_.devices.end() || !isShort(*now)) {
                return true;
            }
        }
        return shortage_.device.has_value() && isHostShort(after) && !isHostShort(plan_);
    }
    [[nodiscard]] bool isHostShort(const PlacementPlan& plan) const {
        return std::any_of(plan.devices.begin(), plan.devices.end(),
                           [](const DevicePlan& row) {
                               return row.id.kind == DeviceId::Kind::Sim && row.parts.total() > 0;
                           }) &&
               hostNeed(plan) > hostBound(asked_, *parts_.map).bytes();
    }

    /// 0 where the change cannot be, or only moves the shortage to another device.
    uint64_t freedBy(const Change& change) {
        const Outcome outcome = outcomeOf(change);
        return outcome.isPossible() ? need_ - std::min(need_, outcome.need) : 0;
    }

    /// False: it frees nothing, and is left out.
    bool add(const Change& change, Sentence action, const Cost& cost) {
        const uint64_t frees = freedBy(change);
        if (frees == 0) {
            return false;
        }
        const auto* const slower = std::get_if<Slower>(&cost);
        Sentence costs =
            slower != nullptr ? slowerWords(change, *slower) : std::get<Sentence>(cost);
        Repair repair = repairOf(change);
        repair.frees = frees;
        repair.is_enough = frees >= excess_;
        repair.action = action;
        is_enough_alone_ = is_enough_alone_ || repair.is_enough;
        Sentence words = repair.is_enough
                             ? said("%1: frees %2 (enough by itself), costs %3", std::move(action),
                                    ByteCount{frees}, std::move(costs))
                             : said("%1: frees %2, costs %3", std::move(action), ByteCount{frees},
                                    std::move(costs));
        all_.add(change);
        steps_.emplace_back(std::move(words), std::move(repair));
        return true;
    }

    /// What a plan with the change takes longer for.
    Sentence slowerWords(const Change& change, Slower what) {
        ask(change);
        const SpeedEstimate& now = plan_.estimate;
        const SpeedEstimate then = makePlan(request_).estimate;
        const auto perToken = [](const SpeedEstimate& estimate) {
            return estimate.decode_tokens_per_s > 0 ? 1 / estimate.decode_tokens_per_s : 0.0;
        };
        const Duration more = {what == Slower::Image ? then.image_s - now.image_s
                               : what == Slower::Sound
                                   ? 10 * (then.audio_s_per_s - now.audio_s_per_s)
                                   : perToken(then) - perToken(now)};
        return more.seconds < 0.001    ? phrase("nothing measurable")
               : what == Slower::Image ? said("about %1 per image", more)
               : what == Slower::Sound ? said("about %1 per 10 s of sound", more)
                                       : said("about %1 per token", more);
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
        const ExpectedTensor* table =
            tensorOfRow(parts_, static_cast<size_t>(row - plan_.tensors.data()));
        const uint64_t bytes = row->bytes / static_cast<uint64_t>(table->shape.front());
        add(change, moveWords(namedPart(name), away(*row)),
            shortage_.isGpu()
                ? said("nothing measurable (one row of %1 per token)", ByteCount{bytes})
                : said("one read of %1 per token", ByteCount{bytes}));
    }

    void moveTowers() {
        Change both;
        std::vector<Sentence> both_moves;
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
            const ModelConfig& config = parts_.request->config;
            Change change;
            change.places = {{second, away(*row)}};
            Sentence move = moveWords(namedPart(second), away(*row));
            if (is_audio ? config.hasAudioTower() : config.hasVisionTower()) {
                change.places.insert(change.places.begin(), {first, away(*row)});
                move =
                    said("move %1 and %2 to %3", namedPart(first), second, placeWords(away(*row)));
            }
            if (!shortage_.isGpu()) {
                both.add(change);
                both_moves.push_back(std::move(move));
            } else {
                add(change, std::move(move), is_audio ? Slower::Sound : Slower::Image);
            }
        }
        // Each tower visits its device while it computes; only together do they need less room.
        if (!both_moves.empty()) {
            add(both, joined(std::move(both_moves)),
                phrase("one read of the files per image or clip"));
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
        if (parts_.request->config.has_own_head) {
            storedHead(name, *table);
            return;
        }
        if (!has_own_head) {
            change.head = Format::Q8;
        }
        const Sentence cost = has_own_head ? kOneRow : kHeadAccuracy;
        // `fit` finds another place for the table by itself, but may put something else here.
        if (is_fit_ && (has_own_head || add(change, kUseInt8Head, cost))) {
            return;
        }
        const TensorPlacement* head = plan_.find(Part{PartRole::Head});
        const TensorPlacement& now = head != nullptr ? *head : *table;
        PlaceFields own = placed(now.store, now.compute);
        own.duplicate_tied = true;
        const std::string head_name = partName({PartRole::Head});
        change.places = {{name, away(*table)}, {head_name, own}};
        Sentence apart =
            said("%1, with %2 kept as a copy of its own (\"%2\": {\"store\": \"%3\", \"compute\": "
                 "\"%4\", \"duplicate_tied\": true})",
                 moveWords(namedPart(name), away(*table)), namedPart(head_name), *own.store,
                 *own.compute);
        add(change, has_own_head ? std::move(apart) : said("use --head int8 and %1", apart), cost);
    }

    /// Where the head is a tensor of the files, table and head are two things to change.
    void storedHead(const std::string& name, const TensorPlacement& table) {
        const TensorPlacement* head = plan_.find(Part{PartRole::Head});
        if (head != nullptr && shortage_.concerns(head->compute) && !isQuantized(head->format)) {
            Change change;
            change.head = Format::Q8;
            add(change, kUseInt8Head, kHeadAccuracy);
        }
        if (!is_fit_) {
            Change change;
            change.places = {{name, away(table)}};
            add(change, moveWords(namedPart(name), away(table)), kOneRow);
        }
    }

    void quantize() {
        const auto offer = [this](Format quant, bool has_experts, Phrase cost) {
            Change change;
            change.quant = quant;
            change.quantizes_experts = has_experts;
            change.quant_name = formatRow(quant).option;
            change.quant_name += has_experts ? "+experts" : "";
            add(change, said("use --quant %1", FormatName{change.quant_name}), cost);
        };
        constexpr Phrase kSomeAccuracy = phrase("some accuracy; it is faster");
        if (!hasCodes(quant_)) {
            offer(kFourBitFormat, text().has_moe, kSomeAccuracy);
            offer(kSmallestFormat, text().has_moe, phrase("a little more accuracy"));
            return;
        }
        const bool has_word = quant_ == kFourBitFormat || quant_ == kSmallestFormat;
        if (text().has_moe && !asked_.quantizes_experts && has_word) {
            offer(quant_, true, kSomeAccuracy);
        }
        if (const Format nested = codesFormat(weightFormat(quant_), true);
            nested != Format::AsStored && nested != quant_) {
            offer(nested, asked_.quantizes_experts, phrase("hardly any accuracy"));
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
        add(change, said("use a context of %1 tokens", *change.context),
            phrase("memory of the conversation"));
    }

    void smallerWorkspace() {
        if (plan_.prefill_chunk > kLeastChunk) {
            Change change;
            change.chunk = kLeastChunk;
            add(change, said("use --prefill-chunk %1", kLeastChunk),
                phrase("time until a long prompt is read"));
        }
        if (plan_.image_tokens > kLeastImageTokens) {
            Change change;
            change.image_tokens = kLeastImageTokens;
            add(change, said("use --image-tokens %1", kLeastImageTokens),
                phrase("detail of large pictures"));
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
        const int last = layer_bytes.rbegin()->first;
        // Weights and cached rows of the layers are most of it; a plan with them says the rest
        // (adapters, scratch, mirrors).
        int guess = 0;
        uint64_t expected = 0;
        for (auto it = layer_bytes.rbegin(); it != layer_bytes.rend() && expected < excess_; ++it) {
            ++guess;
            const auto i = static_cast<size_t>(it->first);
            expected += it->second;
            expected += !text().layers[i].is_kv_shared && shortage_.concerns(plan_.kv_device[i])
                            ? layerKvBytes(*parts_.request, plan_, it->first)
                            : 0;
        }
        moveFewest(static_cast<int>(layer_bytes.size()), guess, [&](int count) {
            return Moved{layerRange(PlanPart::Kind::Layers, last - count + 1, last),
                         layerRangeName(last - count + 1, last), fields};
        });
    }

    /// Routed experts of the first layers of a card, as few as are enough: most of the bytes, of
    /// which a token reads little.
    void moveExperts() {
        if (!shortage_.isGpu() || is_fit_) {
            return;
        }
        std::map<int, uint64_t> experts; // by layer
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const ExpectedTensor* tensor = tensorOfRow(parts_, i);
            if (tensor != nullptr && tensor->kind == TensorKind::Experts &&
                shortage_.concerns(plan_.tensors[i].store)) {
                experts[tensor->layer] += plan_.tensors[i].bytes;
            }
        }
        int most = 0; // one behind the other
        int guess = 0;
        uint64_t expected = 0;
        for (const auto& [layer, bytes] : experts) {
            if (layer != experts.begin()->first + most) {
                break;
            }
            ++most;
            guess += expected < excess_ ? 1 : 0;
            expected += bytes;
        }
        if (most == 0) {
            return;
        }
        const int first = experts.begin()->first;
        moveFewest(most, guess, [&](int count) {
            return Moved{layerRange(PlanPart::Kind::Experts, first, first + count - 1),
                         expertsRangeName(first, first + count - 1),
                         placed(DeviceId::cpu(), DeviceId::cpu())};
        });
    }

    /// Something of a number of layers that moves.
    struct Moved {
        PlanPart part;
        std::string key;
        PlaceFields to;

        [[nodiscard]] Change change() const {
            Change change;
            change.places = {{key, to}};
            return change;
        }
    };

    /// Proposes as few of 1 to `most` as are enough, else all, and no more than the other device
    /// has room for. The sum of weights is only a first guess: caches and mirrors move as well.
    template <typename MovedOf>
    void moveFewest(int most, int guess, MovedOf movedOf) {
        const auto isEnough = [&](int count) {
            return need_ - std::min(need_, outcomeOf(movedOf(count).change()).need) >= excess_;
        };
        int count = guess;
        if (isEnough(count)) {
            while (count > 1 && isEnough(count - 1)) {
                --count;
            }
        } else {
            while (count < most && !isEnough(count)) {
                ++count;
            }
        }
        int possible = 0;
        for (int n = count; possible < count; n = count - (count - possible) / 2) {
            const bool is_possible = outcomeOf(movedOf(n).change()).isPossible();
            (is_possible ? possible : count) = is_possible ? n : n - 1;
        }
        if (possible > 0) {
            const Moved moved = movedOf(possible);
            add(moved.change(), moveWords(moved.part, moved.to), Slower::Token);
        }
    }

    /// Says so when all of it together is not enough.
    void sumUp() {
        if (steps_.empty() || is_enough_alone_) {
            return;
        }
        const Outcome after = outcomeOf(all_);
        if (!after.is_refused && after.need > shortage_.limit) {
            steps_.emplace_back(said("all of this together leaves %1, still %2 too much: %3",
                                     ByteCount{after.need}, ByteCount{after.need - shortage_.limit},
                                     lastResort(shortage_.bound)));
        }
    }

    const PlacementPlan& plan_;
    std::vector<TensorPlacement> spare_rows_; ///< Memory for the rows of the next plan.
    Shortage shortage_;
    const PlanParts& parts_;
    Format quant_;
    Format head_;
    uint64_t need_;
    uint64_t excess_;
    const PlanRequest& asked_;
    PlanRequest request_; ///< What was asked, to be asked again with a step.
    bool is_fit_;
    bool is_enough_alone_ = false;
    Change all_;
    std::vector<Suggestion> steps_;
};

/// The largest of `all`, which are sorted: "head 2.00 GiB, workspace on cpu 12.00 MiB".
Sentence largestOf(const std::vector<PartShare>& all) {
    std::vector<Sentence> list;
    for (size_t i = 0; i < std::min(all.size(), kShownContributors); ++i) {
        const PartShare& share = all[i];
        list.push_back(share.device.has_value()
                           ? said("%1 on %2 %3", share.part, *share.device, ByteCount{share.bytes})
                           : said("%1 %2", share.part, ByteCount{share.bytes}));
    }
    return joined(std::move(list));
}

/// What the engine may use, and why: "1.00 GiB free, less 2.00 GiB that the map reserves".
Sentence boundWords(const MemoryBound& bound) {
    const ByteCount whole{bound.whole};
    Sentence text = bound.by == MemoryBound::By::Option ? said("%1 by --limit", whole)
                    : bound.by == MemoryBound::By::Map  ? said("%1 by the limits of the map", whole)
                    : bound.by == MemoryBound::By::System
                        ? said("%1 that the system lets this program have", whole)
                        : said("%1 free", whole);
    return bound.reserve == 0 ? text
                              : said("%1, less %2 that the map reserves", std::move(text),
                                     ByteCount{bound.reserve});
}

void addSteps(PlanIssue& issue,
              const PlacementPlan& plan,
              const Shortage& shortage,
              const PlanParts& parts,
              Format quant,
              Format head) {
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
        issue.suggestions.emplace_back(lastResort(shortage.bound));
    }
}

} // namespace

std::vector<PartShare>
contributors(const PlacementPlan& plan, const DevicePlan& device, const PlanParts& parts) {
    std::map<std::string, uint64_t> by_module;
    int first_layer = -1;
    int last_layer = -1;
    uint64_t layers = 0;
    std::map<int, uint64_t> experts; // by layer
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
        } else if (tensor->kind == TensorKind::Experts) {
            experts[tensor->layer] += row.bytes;
        } else if (tensor->tower == Tower::Language && tensor->layer >= 0) {
            first_layer = first_layer < 0 ? tensor->layer : std::min(first_layer, tensor->layer);
            last_layer = std::max(last_layer, tensor->layer);
            layers += row.bytes;
        } else {
            by_module[tensor->module] += row.bytes;
        }
    }
    std::vector<PartShare> all;
    all.reserve(by_module.size() + 8);
    for (const auto& [name, bytes] : by_module) {
        all.push_back({namedPart(name), bytes});
    }
    if (layers > 0) {
        all.push_back({layerRange(PlanPart::Kind::Layers, first_layer, last_layer), layers});
    }
    if (!experts.empty()) {
        uint64_t bytes = 0;
        for (const auto& [layer, of_layer] : experts) {
            bytes += of_layer;
        }
        all.push_back(
            {layerRange(PlanPart::Kind::Experts, experts.begin()->first, experts.rbegin()->first),
             bytes});
    }
    const auto add = [&all](PlanPart::Kind kind, uint64_t bytes) -> PlanPart& {
        PartShare& share = all.emplace_back();
        share.part.kind = kind;
        share.bytes = bytes;
        return share.part;
    };
    const auto staging = stagingBytes(plan);
    if (const auto it = staging.find(device.id); it != staging.end()) {
        add(PlanPart::Kind::VisitingRoom, it->second.total());
    }
    add(PlanPart::Kind::KvCache, device.parts[MemoryPart::Kv]).tokens = plan.context;
    add(PlanPart::Kind::Adapters, device.parts[MemoryPart::Adapter]);
    add(PlanPart::Kind::Workspace, device.parts[MemoryPart::Workspace]);
    add(PlanPart::Kind::DriverContext, device.parts[MemoryPart::Context]);
    add(PlanPart::Kind::ExpertCopies, device.parts[MemoryPart::Experts]);
    std::erase_if(all, [](const PartShare& c) { return c.bytes == 0; });
    std::stable_sort(all.begin(), all.end(),
                     [](const PartShare& a, const PartShare& b) { return a.bytes > b.bytes; });
    return all;
}

PlanIssue overLimit(const PlacementPlan& plan,
                    const DevicePlan& device,
                    const MemoryBound& bound,
                    const PlanParts& parts,
                    Format quant,
                    Format head) {
    PlanIssue issue;
    issue.code = "DM09";
    issue.key = device.id.toString();
    const uint64_t need = device.parts.total();
    issue.excess = {device.id, false, need, device.limit, bound};
    issue.words = said(
        "%1 needs %2 (%3 bytes) but may use %4 (%5 bytes), %6 too much (%7). The largest parts: "
        "%8",
        device.id, ByteCount{need}, std::to_string(need), ByteCount{device.limit},
        std::to_string(device.limit), ByteCount{need - device.limit}, boundWords(bound),
        largestOf(contributors(plan, device, parts)));
    addSteps(issue, plan, {device.id, bound}, parts, quant, head);
    return issue;
}

uint64_t hostNeed(const PlacementPlan& plan) {
    return Shortage().need(plan);
}

PlanIssue overHost(const PlacementPlan& plan,
                   const MemoryBound& bound,
                   const PlanParts& parts,
                   Format quant,
                   Format head) {
    const Shortage shortage = {std::nullopt, bound};
    PlanIssue issue;
    issue.code = "DM09";
    issue.key = DeviceId::cpu().toString();
    std::vector<PartShare> all;
    std::vector<Sentence> names;
    for (const DevicePlan& device : plan.devices) {
        if (!shortage.concerns(device.id) || device.parts.total() == 0) {
            continue;
        }
        names.push_back(said("%1 %2", device.id, ByteCount{device.parts.total()}));
        for (PartShare& share : contributors(plan, device, parts)) {
            share.device = device.id;
            all.push_back(std::move(share));
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const PartShare& a, const PartShare& b) { return a.bytes > b.bytes; });
    const uint64_t need = shortage.need(plan);
    issue.excess = {DeviceId::cpu(), true, need, shortage.limit, bound};
    issue.words = said(
        "the memory of a simulated GPU is this computer's main memory: %1 need %2 (%3 bytes) of "
        "it together but may use %4 (%5 bytes), %6 too much (%7). The largest parts: %8",
        joined(std::move(names), " + "), ByteCount{need}, std::to_string(need),
        ByteCount{shortage.limit}, std::to_string(shortage.limit), ByteCount{need - shortage.limit},
        boundWords(bound), largestOf(all));
    addSteps(issue, plan, shortage, parts, quant, head);
    return issue;
}

} // namespace engine
