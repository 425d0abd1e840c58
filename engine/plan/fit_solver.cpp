// SPDX-License-Identifier: Apache-2.0
// `fit`: the fastest placement within limits. It looks through one family of plans (PLANNER.md,
// "Fit") with the exact byte rules of the planner and takes the one with the lowest cost, compared
// in this order: time per token, changed formats, time per image and clip, where tables are.
#include "engine/plan/plan_speed.h"
#include "engine/plan/plan_transfers.h"
#include "engine/plan/planner.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace engine {

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

/// Blocks that are placed as one, beside the decoder layers.
enum Block { Vision = 0, Audio, PerLayerTable, Table, Head, Projection, Norm, BlockCount };

constexpr int kMaxGpus = 8; ///< `fit` uses at most these; more are left alone.

/// One member of the family. Places are indices into devices_: GPUs first, then cpu, then disk.
struct Candidate {
    std::array<int, kMaxGpus> split{}; ///< Per GPU: the first layer after it; the rest is on cpu.
    std::array<int, BlockCount> place{};
    size_t format = 0; ///< Index of the format variant.
};

/// Compared in this order. Times in whole picoseconds, so that sums in different orders are equal.
struct Cost {
    int64_t token_ps = std::numeric_limits<int64_t>::max();
    int quality = 0;
    int64_t media_ps = 0;
    int tables = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm on the generated comparison
    friend auto operator<=>(const Cost&, const Cost&) = default;
};

int64_t picoseconds(double seconds) {
    return std::llround(seconds * 1e12);
}

/// What a device computes, as far as its scratch depends on it.
enum Role : unsigned {
    HasLayers = 1,
    HasHead = 2,
    HasProjection = 4,
    HasVision = 8,
    HasAudio = 16,
    RoleCount = 32
};

/// The model in one choice of formats.
struct Variant {
    QuantOption quant = QuantOption::None;
    HeadOption head = HeadOption::Bf16;
    int quality = 0;
    bool has_own_head = false;
    Resolution resolution;
    PlacementPlan plan;         ///< Rows; places are overwritten per question.
    std::vector<int> row_block; ///< Per row: a Block, or -1 for a decoder layer.
    std::vector<int64_t> layer_bytes;
    std::array<int64_t, BlockCount> block_bytes{};
    std::array<int64_t, BlockCount> block_adapter{}; ///< On the computing device, wherever stored.
    /// Scratch of adapters: the largest on each device counts once.
    std::vector<int64_t> layer_scratch;
    std::array<int64_t, BlockCount> block_scratch{};
    int64_t host_adapter = 0; ///< On cpu whatever the placement.
    int64_t host_scratch = 0;
    /// Scratch by kind of device (cpu, cuda, sim) and roles; -1 = not asked yet.
    std::array<std::array<int64_t, RoleCount>, 3> scratch{};
};

class Solver {
public:
    explicit Solver(const PlanRequest& request) : request_(request) {
        for (const DeviceInfo& info : request.devices) {
            if (info.id.isGpu()) {
                devices_.push_back(info.id);
            }
        }
        std::sort(devices_.begin(), devices_.end());
        devices_.resize(std::min<size_t>(devices_.size(), kMaxGpus));
        gpus_ = static_cast<int>(devices_.size());
        cpu_ = gpus_;
        disk_ = gpus_ + 1;
        devices_.push_back(DeviceId::cpu());
        devices_.push_back(DeviceId::disk());
        for (const DeviceId& id : devices_) {
            const uint64_t usable = id == DeviceId::disk() ? std::numeric_limits<uint64_t>::max()
                                                           : usableBytes(request, {}, id);
            limits_.push_back(
                usable > static_cast<uint64_t>(kNoLimit) ? kNoLimit : static_cast<int64_t>(usable));
            const auto info = std::find_if(request.devices.begin(), request.devices.end(),
                                           [&id](const DeviceInfo& d) { return d.id == id; });
            const bool is_given = info != request.devices.end();
            // A simulated GPU stands for a card: it is weighed as one, though it computes on the
            // CPU.
            const DeviceId as_card = id.kind == DeviceId::Kind::Sim ? DeviceId::cuda(id.index) : id;
            rates_.push_back(ratesOf(is_given ? &*info : nullptr, as_card));
            context_.push_back(is_given ? static_cast<int64_t>(info->context_bytes) : 0);
        }
        if (request.tensors.empty()) {
            own_tensors_ = listTensors(request.config);
        }
        tensors_ = request.tensors.empty() ? &own_tensors_ : &request.tensors;
        layer_count_ = static_cast<int>(request.config.text.layers.size());
    }

    FitResult run() {
        makeVariants();
        const bool is_found = gpus_ <= 2 ? searchAll() : searchGreedy();
        FitResult result;
        const Variant& variant = variants_[best_.format];
        result.fits = is_found;
        result.head = variant.head;
        result.quant = variant.quant;
        result.map = mapOf(best_);
        explain(result);
        return result;
    }

private:
    // --- the model -----------------------------------------------------------------------------

    void makeVariants() {
        std::vector<std::pair<QuantOption, int>> quants = {{request_.quant, 0}};
        if (request_.may_quantize && request_.quant == QuantOption::None) {
            quants.emplace_back(QuantOption::Nf4, 10);
            quants.emplace_back(QuantOption::Nf4Dq, 20);
        }
        std::vector<std::pair<HeadOption, int>> heads = {{request_.head, 0}};
        if (request_.may_change_head && request_.head == HeadOption::Bf16) {
            heads.emplace_back(HeadOption::Int8, 1);
            heads.emplace_back(HeadOption::Nf4, 2);
        }
        for (const auto& [quant, quant_rank] : quants) {
            for (const auto& [head, head_rank] : heads) {
                variants_.push_back(makeVariant(quant, head, quant_rank + head_rank));
            }
        }
        PlacementPlan& plan = variants_.front().plan;
        for (int i = 0; i < layer_count_; ++i) {
            const bool is_shared = request_.config.text.layers[static_cast<size_t>(i)].is_kv_shared;
            const uint64_t bytes = is_shared ? 0 : layerKvBytes(request_, plan, i);
            kv_bytes_.push_back(static_cast<int64_t>(
                std::min<uint64_t>(bytes, static_cast<uint64_t>(kNoLimit) / 4096)));
        }
    }

    Variant makeVariant(QuantOption quant, HeadOption head, int quality) const {
        Variant variant;
        variant.quant = quant;
        variant.head = head;
        variant.quality = quality;
        DeviceMap map;
        map.has_default = true;
        map.default_fields.store = DeviceId::cpu();
        map.default_fields.compute = DeviceId::cpu();
        ResolveInput input;
        input.config = &request_.config;
        input.tensors = tensors_;
        input.stored = &request_.stored;
        input.devices = devices_;
        input.quant = quant;
        input.head = head;
        variant.resolution = resolveDeviceMap(map, input);
        variant.has_own_head = variant.resolution.has_own_head;
        variant.layer_bytes.assign(static_cast<size_t>(layer_count_), 0);
        for (auto& by_role : variant.scratch) {
            by_role.fill(-1);
        }
        PlacementPlan& plan = variant.plan;
        plan.context = planContext(request_, map);
        plan.prefill_chunk = request_.prefill_chunk > 0 ? request_.prefill_chunk : kDefaultChunk;
        plan.image_tokens = request_.image_tokens;
        plan.is_reference_precision = request_.is_reference_precision;
        plan.kv_device.assign(static_cast<size_t>(layer_count_), DeviceId::cpu());

        variant.layer_scratch.assign(static_cast<size_t>(layer_count_), 0);
        std::unordered_map<std::string_view, AdapterNeed> adapter;
        for (const AdapterBytes& part : request_.adapters) {
            const auto scratch = static_cast<int64_t>(part.scratch_bytes);
            if (part.is_on_host) {
                variant.host_adapter += static_cast<int64_t>(part.bytes);
                variant.host_scratch = std::max(variant.host_scratch, scratch);
                continue;
            }
            AdapterNeed& need = adapter[part.tensor];
            need.bytes += static_cast<int64_t>(part.bytes);
            need.scratch = std::max(need.scratch, scratch);
        }
        const ExpectedTensor* table = nullptr;
        plan.tensors.reserve(variant.resolution.tensors.size());
        // The rows that say where a layer computes go first: they are looked up by name.
        std::vector<const ResolvedTensor*> rows;
        rows.reserve(variant.resolution.tensors.size());
        for (const bool is_query : {true, false}) {
            for (const ResolvedTensor& resolved : variant.resolution.tensors) {
                const bool is_first =
                    resolved.index >= 0 &&
                    (*tensors_)[static_cast<size_t>(resolved.index)].name.ends_with(
                        ".self_attn.q_proj.weight");
                if (is_first == is_query) {
                    rows.push_back(&resolved);
                }
            }
        }
        for (const ResolvedTensor* row_of : rows) {
            const ResolvedTensor& resolved = *row_of;
            const bool is_head = resolved.index < 0;
            const ExpectedTensor* tensor =
                is_head ? table : &(*tensors_)[static_cast<size_t>(resolved.index)];
            int block = is_head ? Head : blockOf(*tensor);
            if (block == Table) {
                table = tensor;
                // The tied table is the head; by itself it is a table of rows.
                block = variant.has_own_head ? Table : Head;
            }
            TensorPlacement row;
            row.tensor = is_head ? "lm_head.weight" : tensor->name;
            row.format = resolved.format;
            row.bytes = rowBytes(request_, resolved, *tensor);
            const auto bytes = static_cast<int64_t>(row.bytes);
            AdapterNeed extra = adapterNeed(adapter, row.tensor);
            if (block == Head && !is_head) {
                const AdapterNeed tied = adapterNeed(adapter, "lm_head.weight");
                extra.bytes += tied.bytes;
                extra.scratch = std::max(extra.scratch, tied.scratch);
            }
            variant.row_block.push_back(block);
            if (block < 0) {
                const auto layer = static_cast<size_t>(tensor->layer);
                variant.layer_bytes[layer] += bytes + extra.bytes;
                variant.layer_scratch[layer] =
                    std::max(variant.layer_scratch[layer], extra.scratch);
            } else {
                variant.block_bytes[static_cast<size_t>(block)] += bytes;
                const auto b = static_cast<size_t>(block);
                variant.block_adapter[b] += extra.bytes;
                variant.block_scratch[b] = std::max(variant.block_scratch[b], extra.scratch);
            }
            plan.tensors.push_back(std::move(row));
        }
        return variant;
    }

    /// What the adapters of one base tensor need on its computing device.
    struct AdapterNeed {
        int64_t bytes = 0;
        int64_t scratch = 0;
    };

    static AdapterNeed
    adapterNeed(const std::unordered_map<std::string_view, AdapterNeed>& adapters,
                std::string_view tensor) {
        const auto it = adapters.find(tensor);
        return it == adapters.end() ? AdapterNeed() : it->second;
    }

    /// Adapters' scratch per device: the largest of what computes there.
    void addAdapterScratch(const Candidate& c, std::vector<int64_t>& need) const {
        const Variant& variant = variants_[c.format];
        std::vector<int64_t> largest(devices_.size(), 0);
        const auto raise = [&largest](int place, int64_t bytes) {
            int64_t& at = largest[static_cast<size_t>(place)];
            at = std::max(at, bytes);
        };
        raise(cpu_, variant.host_scratch);
        for (int b = 0; b < BlockCount; ++b) {
            const auto block = static_cast<size_t>(b);
            raise(computePlace(c.place[block]), variant.block_scratch[block]);
        }
        for (int i = 0; i < layer_count_; ++i) {
            raise(layerPlace(c, i), variant.layer_scratch[static_cast<size_t>(i)]);
        }
        for (size_t d = 0; d < need.size(); ++d) {
            need[d] += largest[d];
        }
        need[static_cast<size_t>(cpu_)] += variant.host_adapter;
    }

    [[nodiscard]] int blockOf(const ExpectedTensor& tensor) const {
        if (tensor.tower == Tower::Vision) {
            return Vision;
        }
        if (tensor.tower == Tower::Audio) {
            return Audio;
        }
        if (tensor.layer >= 0 && tensor.layer < layer_count_) {
            return -1;
        }
        if (tensor.module == "model.language_model.embed_tokens_per_layer") {
            return PerLayerTable;
        }
        if (tensor.module == "model.language_model.embed_tokens") {
            return Table;
        }
        return tensor.module == "model.language_model.norm" ? Norm : Projection;
    }

    // --- one candidate -------------------------------------------------------------------------

    [[nodiscard]] int layerPlace(const Candidate& c, int layer) const {
        for (int g = 0; g < gpus_; ++g) {
            if (layer < c.split[static_cast<size_t>(g)]) {
                return g;
            }
        }
        return cpu_;
    }

    /// What a block needs on its computing device; disk blocks of towers compute on the CPU.
    [[nodiscard]] int computePlace(int place) const { return place == disk_ ? cpu_ : place; }

    void placeDependents(Candidate& c) const {
        c.place[Norm] = c.place[Head];
        c.place[Projection] = layer_count_ > 0 ? layerPlace(c, 0) : c.place[Head];
    }

    /// Weights and KV of layers, head, final norm and per-layer projection.
    void addLayerBytes(const Candidate& c, std::vector<int64_t>& need) const {
        const Variant& variant = variants_[c.format];
        for (const int b : {Head, Norm, Projection}) {
            const auto block = static_cast<size_t>(b);
            need[static_cast<size_t>(c.place[block])] +=
                variant.block_bytes[block] + variant.block_adapter[block];
        }
        uint64_t mirrored = 0;
        for (int i = 0; i < layer_count_; ++i) {
            const int place = layerPlace(c, i);
            const auto layer = static_cast<size_t>(i);
            need[static_cast<size_t>(place)] +=
                variant.layer_bytes[layer] + kv_bytes_[layer] +
                mirrorBytes(
                    i, place, [&](int source) { return layerPlace(c, source); }, mirrored);
        }
    }

    /// Bytes of the mirror that layer i needs on its device, once per kind of layer and device.
    template <typename PlaceOf>
    int64_t mirrorBytes(int i, int place, PlaceOf placeOf, uint64_t& mirrored) const {
        const LayerConfig& layer = request_.config.text.layers[static_cast<size_t>(i)];
        if (!layer.is_kv_shared || layer.kv_source < 0 || placeOf(layer.kv_source) == place) {
            return 0;
        }
        const unsigned kind = layer.type == LayerType::Full ? 1 : 0;
        const uint64_t bit = uint64_t{1} << (2 * static_cast<unsigned>(place) + kind);
        if ((mirrored & bit) != 0) {
            return 0;
        }
        mirrored |= bit;
        return kv_bytes_[static_cast<size_t>(layer.kv_source)];
    }

    /// Towers and tables of rows. Towers on disk visit the CPU one at a time.
    void addBlockBytes(const Candidate& c, std::vector<int64_t>& need) const {
        const Variant& variant = variants_[c.format];
        int64_t visit = 0;
        for (const int b : {Vision, Audio, PerLayerTable, Table}) {
            const auto block = static_cast<size_t>(b);
            const int place = c.place[block];
            need[static_cast<size_t>(computePlace(place))] += variant.block_adapter[block];
            if (place != disk_) {
                need[static_cast<size_t>(place)] += variant.block_bytes[block];
            } else if (b == Vision || b == Audio) {
                visit = std::max(visit, variant.block_bytes[block]);
            }
        }
        need[static_cast<size_t>(cpu_)] += visit;
    }

    /// Scratch of one device by what it computes, asked of the model once per set of roles.
    int64_t scratch(Variant& variant, int device, unsigned roles) const {
        const DeviceId::Kind kind = devices_[static_cast<size_t>(device)].kind;
        int64_t& known = variant.scratch[kind == DeviceId::Kind::Cuda  ? 1
                                         : kind == DeviceId::Kind::Sim ? 2
                                                                       : 0][roles];
        if (known >= 0 || roles == 0) {
            return std::max<int64_t>(0, known);
        }
        const int other = device != cpu_ ? cpu_ : gpus_ > 0 ? 0 : cpu_;
        const auto placeOf = [&](unsigned role) {
            return devices_[static_cast<size_t>((roles & role) != 0 ? device : other)];
        };
        PlacementPlan& plan = variant.plan;
        for (size_t i = 0; i < plan.tensors.size(); ++i) {
            const int block = variant.row_block[i];
            const unsigned role = block < 0                                  ? HasLayers
                                  : block == Vision                          ? HasVision
                                  : block == Audio                           ? HasAudio
                                  : block == Projection                      ? HasProjection
                                  : block == PerLayerTable || block == Table ? 0U
                                                                             : HasHead;
            plan.tensors[i].store = placeOf(role);
            plan.tensors[i].compute = plan.tensors[i].store;
        }
        plan.kv_device.assign(static_cast<size_t>(layer_count_), placeOf(HasLayers));
        known = 0;
        for (const auto& [id, bytes] : scratchBytes(request_, plan, plan.kv_device)) {
            if (id == devices_[static_cast<size_t>(device)]) {
                known = static_cast<int64_t>(bytes);
            }
        }
        return known;
    }

    [[nodiscard]] unsigned rolesOf(const Candidate& c, int device) const {
        unsigned roles = 0;
        for (int g = 0, first = 0; g <= gpus_; ++g) {
            const int end = g < gpus_ ? c.split[static_cast<size_t>(g)] : layer_count_;
            roles |= g == device && end > first ? HasLayers : 0U;
            first = std::max(first, end);
        }
        const auto add = [&](int block, unsigned role) {
            const auto b = static_cast<size_t>(block);
            const bool is_there = variants_[c.format].block_bytes[b] > 0;
            roles |= is_there && computePlace(c.place[b]) == device ? role : 0U;
        };
        add(Head, HasHead);
        add(Projection, HasProjection);
        add(Vision, HasVision);
        add(Audio, HasAudio);
        return roles;
    }

    /// Adds scratch and driver contexts, and returns the bytes over the limits.
    int64_t finish(const Candidate& c, std::vector<int64_t>& need) {
        Variant& variant = variants_[c.format];
        if (!request_.adapters.empty()) {
            addAdapterScratch(c, need);
        }
        for (int d = 0; d <= cpu_; ++d) {
            const auto device = static_cast<size_t>(d);
            need[device] += scratch(variant, d, rolesOf(c, d));
            need[device] += need[device] > 0 ? context_[device] : 0;
        }
        return overLimits(need);
    }

    [[nodiscard]] int64_t overLimits(const std::vector<int64_t>& need) const {
        int64_t over = 0;
        for (size_t d = 0; d < need.size(); ++d) {
            over += std::max<int64_t>(0, need[d] - limits_[d]);
        }
        return over;
    }

    /// All bytes of a candidate in need_; returns those over the limits.
    int64_t excess(const Candidate& c) {
        need_.assign(devices_.size(), 0);
        addLayerBytes(c, need_);
        addBlockBytes(c, need_);
        return finish(c, need_);
    }

    // --- cost ----------------------------------------------------------------------------------

    [[nodiscard]] double readTime(int64_t bytes, int place) const {
        const auto d = static_cast<size_t>(place);
        return static_cast<double>(bytes) /
               (bandwidthShare(devices_[d]) * rates_[d].read_bytes_per_s);
    }

    /// Seconds per token by place alone: always with the bytes of the formats asked for, so that
    /// a smaller format is not taken for its speed.
    [[nodiscard]] double tokenTime(const Candidate& c) const {
        const Variant& asked = variants_.front();
        double time = readTime(asked.block_bytes[Head], c.place[Head]) +
                      readTime(asked.block_bytes[Norm], c.place[Norm]) +
                      readTime(asked.block_bytes[Projection], c.place[Projection]);
        int before = -1;
        for (int i = 0; i < layer_count_; ++i) {
            const int place = layerPlace(c, i);
            const DeviceRates& rates = rates_[static_cast<size_t>(place)];
            time += readTime(asked.layer_bytes[static_cast<size_t>(i)], place) +
                    rates.layer_overhead_s + (before >= 0 && before != place ? rates.hop_s : 0.0);
            before = place;
        }
        if (before >= 0 && before != c.place[Head]) {
            time += rates_[static_cast<size_t>(c.place[Head])].hop_s;
        }
        return time;
    }

    [[nodiscard]] int64_t mediaPs(int block, int place, const Variant& variant) const {
        const auto d = static_cast<size_t>(computePlace(place));
        const double flops = block == Vision ? imageFlops(request_.config, request_.image_tokens)
                                             : 10 * audioFlopsPerSecond(request_.config);
        double time = flops / (towerShare(devices_[d]) * rates_[d].flops);
        if (place == disk_) {
            time += static_cast<double>(variant.block_bytes[static_cast<size_t>(block)]) /
                    rates_[static_cast<size_t>(disk_)].read_bytes_per_s;
        }
        return picoseconds(time);
    }

    /// 0 on a GPU, 1 in main memory, 2 on disk.
    [[nodiscard]] int tableRank(int place) const {
        return place == disk_ ? 2 : place == cpu_ ? 1 : 0;
    }

    // --- search --------------------------------------------------------------------------------

    /// Places of towers and tables with their cost, best first.
    struct Inner {
        std::array<int, BlockCount> place{};
        int64_t media_ps = 0;
        int tables = 0;
    };

    [[nodiscard]] std::vector<Inner> innerChoices(size_t format, int head) const {
        const Variant& variant = variants_[format];
        const auto choices = [&](int block) {
            if (variant.block_bytes[static_cast<size_t>(block)] == 0) {
                return std::vector<int>{cpu_};
            }
            std::vector<int> places;
            for (int place = 0; place <= disk_; ++place) {
                places.push_back(place);
            }
            return places;
        };
        std::vector<int> own = {cpu_};
        if (variant.has_own_head) {
            own =
                head == cpu_ ? std::vector<int>{cpu_, disk_} : std::vector<int>{head, cpu_, disk_};
        }
        std::vector<Inner> all;
        for (const int vision : choices(Vision)) {
            for (const int audio : choices(Audio)) {
                for (const int table : choices(PerLayerTable)) {
                    for (const int own_table : own) {
                        Inner inner;
                        inner.place[Vision] = vision;
                        inner.place[Audio] = audio;
                        inner.place[PerLayerTable] = table;
                        inner.place[Table] = own_table;
                        inner.media_ps =
                            mediaPs(Vision, vision, variant) + mediaPs(Audio, audio, variant);
                        inner.tables = 4 * tableRank(own_table) + tableRank(table);
                        all.push_back(inner);
                    }
                }
            }
        }
        std::stable_sort(all.begin(), all.end(), [](const Inner& a, const Inner& b) {
            return std::tie(a.media_ps, a.tables) < std::tie(b.media_ps, b.tables);
        });
        return all;
    }

    static void applyInner(Candidate& c, const Inner& inner) {
        for (const int b : {Vision, Audio, PerLayerTable, Table}) {
            c.place[static_cast<size_t>(b)] = inner.place[static_cast<size_t>(b)];
        }
    }

    /// Every member, cheapest first, until one fits. Otherwise the leanest.
    bool searchAll() {
        struct Outer {
            Cost cost;
            Candidate candidate;
        };
        std::vector<Outer> outers;
        std::vector<std::vector<Inner>> inners;
        const auto addOuter = [&](Candidate& c) {
            for (int head = 0; head <= cpu_; ++head) {
                c.place[Head] = head;
                placeDependents(c);
                Outer outer;
                outer.cost.token_ps = picoseconds(tokenTime(c));
                for (size_t f = 0; f < variants_.size(); ++f) {
                    c.format = f;
                    outer.cost.quality = variants_[f].quality;
                    outer.candidate = c;
                    outers.push_back(outer);
                }
            }
        };
        for (int first = gpus_ > 0 ? layer_count_ : 0; first >= 0; --first) {
            for (int second = gpus_ > 1 ? layer_count_ : first; second >= first; --second) {
                Candidate c;
                c.split[0] = first;
                c.split[1] = second;
                addOuter(c);
            }
        }
        std::stable_sort(outers.begin(), outers.end(),
                         [](const Outer& a, const Outer& b) { return a.cost < b.cost; });
        for (size_t f = 0; f < variants_.size(); ++f) {
            for (int head = 0; head <= cpu_; ++head) {
                inners.push_back(innerChoices(f, head));
            }
        }
        int64_t least = kNoLimit;
        std::vector<int64_t> base;
        for (const bool is_leanest : {false, true}) {
            for (const Outer& outer : outers) {
                Candidate c = outer.candidate;
                base.assign(devices_.size(), 0);
                addLayerBytes(c, base);
                if (!is_leanest && overLimits(base) > 0) {
                    continue;
                }
                for (const Inner& inner : inners[c.format * static_cast<size_t>(cpu_ + 1) +
                                                 static_cast<size_t>(c.place[Head])]) {
                    applyInner(c, inner);
                    need_ = base;
                    addBlockBytes(c, need_);
                    if (!is_leanest && overLimits(need_) > 0) {
                        continue;
                    }
                    const int64_t over = finish(c, need_);
                    if (over == 0) {
                        best_ = c;
                        return true;
                    }
                    if (is_leanest && over < least) {
                        least = over;
                        best_ = c;
                    }
                }
            }
        }
        return false;
    }

    /// Three GPUs and more: for every place of the other blocks the GPUs are filled with layers one
    /// after the other; once as full as they get, once without a cut between the last owners of KV
    /// and their readers (which would need mirrors).
    bool searchGreedy() {
        Cost best_cost;
        int64_t least = kNoLimit;
        for (size_t f = 0; f < variants_.size(); ++f) {
            for (int head = 0; head <= cpu_; ++head) {
                for (const Inner& inner : innerChoices(f, head)) {
                    for (const bool keeps_sharing : {false, true}) {
                        Candidate c;
                        c.format = f;
                        c.place[Head] = head;
                        applyInner(c, inner);
                        fill(c, keeps_sharing);
                        Cost cost;
                        cost.token_ps = picoseconds(tokenTime(c));
                        cost.quality = variants_[f].quality;
                        cost.media_ps = inner.media_ps;
                        cost.tables = inner.tables;
                        const bool is_found = best_cost < Cost();
                        if (is_found && !(cost < best_cost)) {
                            continue;
                        }
                        const int64_t over = excess(c);
                        if (over == 0) {
                            best_cost = cost;
                            best_ = c;
                        } else if (!is_found && over < least) {
                            least = over;
                            best_ = c;
                        }
                    }
                }
            }
        }
        return best_cost < Cost();
    }

    /// Gives each GPU in turn as many layers as its room allows.
    void fill(Candidate& c, bool keeps_sharing) {
        Variant& variant = variants_[c.format];
        std::vector<int64_t> fixed(devices_.size(), 0);
        addBlockBytes(c, fixed);
        const int head = c.place[Head];
        fixed[static_cast<size_t>(head)] += variant.block_bytes[Head] +
                                            variant.block_adapter[Head] +
                                            variant.block_bytes[Norm] + variant.block_adapter[Norm];
        // Cuts are not wanted after this layer and before the last.
        const int owners_from = std::max(0, request_.config.text.lastKvOwner() - 1);
        std::vector<int> place_of(static_cast<size_t>(layer_count_), cpu_);
        uint64_t mirrored = 0;
        int next = 0;
        for (int g = 0; g < gpus_; ++g) {
            const auto gpu = static_cast<size_t>(g);
            c.split[gpu] = layer_count_; // so that it counts as one with layers
            c.place[Projection] = next == 0 ? g : place_of[0];
            const unsigned roles = (rolesOf(c, g) & ~static_cast<unsigned>(HasLayers)) | HasLayers;
            int64_t need =
                fixed[gpu] + scratch(variant, g, roles) + context_[gpu] +
                (next == 0 ? variant.block_bytes[Projection] + variant.block_adapter[Projection]
                           : 0);
            int end = next;
            while (end < layer_count_) {
                place_of[static_cast<size_t>(end)] = g;
                const auto layer = static_cast<size_t>(end);
                need +=
                    variant.layer_bytes[layer] + kv_bytes_[layer] +
                    mirrorBytes(
                        end, g, [&](int source) { return place_of[static_cast<size_t>(source)]; },
                        mirrored);
                if (need > limits_[gpu]) {
                    break;
                }
                ++end;
            }
            if (keeps_sharing && end > owners_from && end < layer_count_ && next <= owners_from) {
                end = owners_from;
            }
            for (int i = end; i < layer_count_; ++i) {
                place_of[static_cast<size_t>(i)] = cpu_;
            }
            c.split[gpu] = end;
            next = end;
        }
        for (size_t k = 1; k < static_cast<size_t>(gpus_); ++k) {
            c.split[k] = std::max(c.split[k], c.split[k - 1]);
        }
        placeDependents(c);
    }

    // --- result --------------------------------------------------------------------------------

    [[nodiscard]] DeviceId deviceAt(int place) const {
        return devices_[static_cast<size_t>(place)];
    }

    [[nodiscard]] DeviceMap mapOf(const Candidate& c) const {
        const Variant& variant = variants_[c.format];
        DeviceMap map;
        map.has_default = true;
        const int home = layer_count_ > 0 ? layerPlace(c, 0) : c.place[Head];
        map.default_fields.store = deviceAt(home);
        map.default_fields.compute = deviceAt(home);
        map.main_device = deviceAt(home);
        const auto add = [&](const std::string& key, int place, bool is_two_copies = false) {
            MapEntry entry;
            entry.key = key;
            entry.fields.store = deviceAt(place);
            entry.fields.compute = deviceAt(computePlace(place));
            if (is_two_copies) {
                entry.fields.duplicate_tied = true;
            }
            map.entries.push_back(std::move(entry));
        };
        const auto addIfElsewhere = [&](const std::string& key, int place, int bytes_of) {
            if (place != home && variant.block_bytes[static_cast<size_t>(bytes_of)] > 0) {
                add(key, place);
            }
        };
        const std::string language = "model.language_model.";
        const int table = variant.has_own_head ? c.place[Table] : c.place[Head];
        if (table != home) {
            add(language + "embed_tokens", table);
        }
        if (variant.has_own_head && table != c.place[Head]) {
            add("lm_head", c.place[Head], true);
        }
        addIfElsewhere(language + "embed_tokens_per_layer", c.place[PerLayerTable], PerLayerTable);
        for (int i = 0; i < layer_count_;) {
            const int place = layerPlace(c, i);
            int last = i;
            while (last + 1 < layer_count_ && layerPlace(c, last + 1) == place) {
                ++last;
            }
            if (place != home) {
                add(language + "layers." +
                        (i == last ? std::to_string(i)
                                   : "[" + std::to_string(i) + "-" + std::to_string(last) + "]"),
                    place);
            }
            i = last + 1;
        }
        addIfElsewhere(language + "norm", c.place[Norm], Norm);
        addIfElsewhere("model.vision_tower", c.place[Vision], Vision);
        addIfElsewhere("model.embed_vision", c.place[Vision], Vision);
        addIfElsewhere("model.audio_tower", c.place[Audio], Audio);
        addIfElsewhere("model.embed_audio", c.place[Audio], Audio);
        return map;
    }

    void explain(FitResult& result) {
        const auto bytesText = [](int64_t bytes) {
            return formatByteCount(static_cast<uint64_t>(std::max<int64_t>(0, bytes)));
        };
        Candidate all = best_;
        all.format = 0;
        all.split.fill(layer_count_);
        all.place.fill(gpus_ > 0 ? 0 : cpu_);
        const bool is_too_much = excess(all) > 0;
        const int first = gpus_ > 0 ? 0 : cpu_;
        result.steps.push_back("everything on " + deviceAt(first).toString() + " needs " +
                               bytesText(need_[static_cast<size_t>(first)]) + " of " +
                               (limits_[static_cast<size_t>(first)] == kNoLimit
                                    ? std::string("unbounded memory")
                                    : bytesText(limits_[static_cast<size_t>(first)])) +
                               (is_too_much ? ": too much" : ": it fits"));
        const Variant& variant = variants_[best_.format];
        const auto moved = [&](const std::string& name, int block, const std::string& cost) {
            const int place = best_.place[static_cast<size_t>(block)];
            const int64_t bytes = variant.block_bytes[static_cast<size_t>(block)];
            if (place != first && bytes > 0) {
                result.steps.push_back(name + " to " + deviceAt(place).toString() + ": " +
                                       bytesText(bytes) + " less on " + deviceAt(first).toString() +
                                       "; " + cost);
            }
        };
        const int64_t row = request_.config.text.num_layers * request_.config.text.ple_size * 2;
        moved("per-layer embedding table", PerLayerTable,
              "one row of " + std::to_string(row) + " bytes per token, not measurable");
        moved("audio tower", Audio, "costs only when audio is attached");
        moved("vision tower", Vision, "costs only when an image is attached");
        if (variant.quality > 0) {
            result.steps.emplace_back("smaller formats than asked for, as allowed");
        }
        if (variant.has_own_head && best_.place[Table] != best_.place[Head]) {
            moved("token embedding (the head has its own copy)", Table, "one row per token");
        }
        if (best_.place[Head] != first) {
            result.steps.push_back("head to " + deviceAt(best_.place[Head]).toString() +
                                   ": it is read whole for every token");
        }
        for (int g = 0, from = 0; g <= gpus_ && layer_count_ > 0; ++g) {
            const int end = g < gpus_ ? best_.split[static_cast<size_t>(g)] : layer_count_;
            if (end > from) {
                if (g != first) {
                    result.steps.push_back("layers " + std::to_string(from) + "-" +
                                           std::to_string(end - 1) + " on " +
                                           deviceAt(g).toString() +
                                           ", one block, so that the state changes device once");
                }
                from = end;
            }
        }
        const int64_t over = excess(best_);
        if (!result.fits) {
            result.steps.push_back("even this leanest plan is " + bytesText(over) +
                                   " over the limits");
            return;
        }
        const bool has_sim = std::any_of(devices_.begin(), devices_.end(), [](const DeviceId& id) {
            return id.kind == DeviceId::Kind::Sim;
        });
        char speed[160];
        std::snprintf(speed, sizeof speed,
                      "weighed with about %.3g tokens/s (everything on %s: %.3g)%s",
                      1.0 / std::max(1e-12, tokenTime(best_)), deviceAt(first).toString().c_str(),
                      1.0 / std::max(1e-12, tokenTime(all)),
                      has_sim ? "; simulated GPUs count as mid-range cards here" : "");
        result.steps.emplace_back(speed);
    }

    const PlanRequest& request_;
    std::vector<ExpectedTensor> own_tensors_;
    const std::vector<ExpectedTensor>* tensors_ = nullptr;
    std::vector<DeviceId> devices_;
    std::vector<int64_t> limits_, context_;
    std::vector<DeviceRates> rates_;
    int gpus_ = 0, cpu_ = 0, disk_ = 1, layer_count_ = 0;
    std::vector<Variant> variants_;
    std::vector<int64_t> kv_bytes_;
    std::vector<int64_t> need_;
    Candidate best_;
};

} // namespace

FitResult fitDeviceMap(const PlanRequest& request) {
    return Solver(request).run();
}

} // namespace engine
