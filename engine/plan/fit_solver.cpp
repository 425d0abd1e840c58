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

/// One member of the family. Places are indices into devices_: GPUs first, then cpu, then disk.
struct Candidate {
    std::vector<int> split; ///< Per GPU: the first layer after it; the rest is on cpu.
    std::array<int, BlockCount> place{};
    size_t format = 0; ///< Index of the format variant.
};

struct Cost {
    double token_s = std::numeric_limits<double>::infinity();
    int quality = 0;
    double media_s = 0;
    int tables = 0;
    friend bool operator<(const Cost& a, const Cost& b) {
        // Times are sums in different orders: equal within rounding counts as equal.
        const double near = 1e-9;
        if (std::abs(a.token_s - b.token_s) > near * (a.token_s + b.token_s)) {
            return a.token_s < b.token_s;
        }
        if (a.quality != b.quality) {
            return a.quality < b.quality;
        }
        if (std::abs(a.media_s - b.media_s) > near * (a.media_s + b.media_s)) {
            return a.media_s < b.media_s;
        }
        return a.tables < b.tables;
    }
};

/// The model in one choice of formats.
struct Variant {
    QuantOption quant = QuantOption::None;
    HeadOption head = HeadOption::Bf16;
    int quality = 0;
    bool has_own_head = false;
    Resolution resolution;
    PlacementPlan plan; ///< Rows; places are overwritten per question.
    std::vector<int> row_layer;
    std::vector<int> row_block; ///< Per row: a Block, or -1 for a decoder layer.
    std::vector<int64_t> layer_bytes;
    std::array<int64_t, BlockCount> block_bytes{};
    std::array<int64_t, BlockCount> block_adapter{}; ///< On the computing device, wherever stored.
    std::unordered_map<uint64_t, std::vector<int64_t>> scratch; ///< Per signature, per device.
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
        gpus_ = static_cast<int>(devices_.size());
        cpu_ = gpus_;
        disk_ = gpus_ + 1;
        devices_.push_back(DeviceId::cpu());
        devices_.push_back(DeviceId::disk());
        for (const DeviceId& id : devices_) {
            const uint64_t usable = id == DeviceId::disk() ? std::numeric_limits<uint64_t>::max()
                                                           : usableBytes(request, {}, id);
            limits_.push_back(usable > static_cast<uint64_t>(kNoLimit)
                                  ? kNoLimit
                                  : static_cast<int64_t>(usable));
            const auto info = std::find_if(request.devices.begin(),
                                           request.devices.end(),
                                           [&id](const DeviceInfo& d) { return d.id == id; });
            const bool is_given = info != request.devices.end();
            rates_.push_back(ratesOf(is_given ? &*info : nullptr, id));
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
        search(false);
        const bool is_found = best_cost_.token_s < std::numeric_limits<double>::infinity();
        if (!is_found) {
            search(true);
        }
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
            const bool is_shared =
                request_.config.text.layers[static_cast<size_t>(i)].is_kv_shared;
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
        PlacementPlan& plan = variant.plan;
        plan.context = planContext(request_, map);
        plan.prefill_chunk = std::max<int64_t>(1, request_.prefill_chunk);
        plan.image_tokens = request_.image_tokens;
        plan.is_reference_precision = request_.is_reference_precision;
        plan.kv_device.assign(static_cast<size_t>(layer_count_), DeviceId::cpu());

        std::unordered_map<std::string_view, int64_t> adapter;
        for (const AdapterBytes& bytes : request_.adapters) {
            adapter[bytes.tensor] += static_cast<int64_t>(bytes.bytes);
        }
        const ExpectedTensor* table = nullptr;
        plan.tensors.reserve(variant.resolution.tensors.size());
        for (const ResolvedTensor& resolved : variant.resolution.tensors) {
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
            int64_t extra = adapterBytes(adapter, row.tensor);
            if (block == Head && !is_head) {
                extra += adapterBytes(adapter, "lm_head.weight");
            }
            variant.row_layer.push_back(block < 0 ? tensor->layer : -1);
            variant.row_block.push_back(block);
            if (block < 0) {
                variant.layer_bytes[static_cast<size_t>(tensor->layer)] += bytes + extra;
            } else {
                variant.block_bytes[static_cast<size_t>(block)] += bytes;
                variant.block_adapter[static_cast<size_t>(block)] += extra;
            }
            plan.tensors.push_back(std::move(row));
        }
        return variant;
    }

    static int64_t adapterBytes(const std::unordered_map<std::string_view, int64_t>& adapter,
                                std::string_view tensor) {
        const auto it = adapter.find(tensor);
        return it == adapter.end() ? 0 : it->second;
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

    /// Bytes per device without scratch.
    void additiveBytes(const Candidate& c, std::vector<int64_t>& need) const {
        const Variant& variant = variants_[c.format];
        need.assign(devices_.size(), 0);
        std::array<int64_t, 2> visits{};
        for (int b = 0; b < BlockCount; ++b) {
            const auto block = static_cast<size_t>(b);
            const int place = c.place[block];
            need[static_cast<size_t>(computePlace(place))] += variant.block_adapter[block];
            if (place != disk_) {
                need[static_cast<size_t>(place)] += variant.block_bytes[block];
            } else if (b == Vision || b == Audio) {
                visits[block] = variant.block_bytes[block];
            }
        }
        need[static_cast<size_t>(cpu_)] += std::max(visits[0], visits[1]);
        const auto& layers = request_.config.text.layers;
        uint64_t mirrored = 0; // bit per (owner kind, device): at most two owners have readers
        for (int i = 0; i < layer_count_; ++i) {
            const auto layer = static_cast<size_t>(i);
            const int place = layerPlace(c, i);
            need[static_cast<size_t>(place)] += variant.layer_bytes[layer] + kv_bytes_[layer];
            const int source = layers[layer].kv_source;
            if (layers[layer].is_kv_shared && source >= 0 && layerPlace(c, source) != place) {
                const bool is_full = layers[layer].type == LayerType::Full;
                const uint64_t bit = uint64_t{1} << static_cast<unsigned>(2 * place + (is_full ? 1 : 0));
                if ((mirrored & bit) == 0) {
                    mirrored |= bit;
                    need[static_cast<size_t>(place)] += kv_bytes_[static_cast<size_t>(source)];
                }
            }
        }
    }

    /// Scratch per device, asked of the model once per distribution of roles.
    const std::vector<int64_t>& scratch(const Candidate& c) {
        Variant& variant = variants_[c.format];
        uint64_t key = 0;
        for (int g = 0, first = 0; g <= gpus_; ++g) {
            const int end = g < gpus_ ? c.split[static_cast<size_t>(g)] : layer_count_;
            key |= uint64_t{end > first ? 1U : 0U} << static_cast<unsigned>(g);
            first = std::max(first, end);
        }
        unsigned shift = 20;
        for (const int b : {Vision, Audio, Head, Projection}) {
            key |= static_cast<uint64_t>(computePlace(c.place[static_cast<size_t>(b)])) << shift;
            shift += 8;
        }
        const auto [it, is_new] = variant.scratch.try_emplace(key);
        if (is_new) {
            PlacementPlan& plan = variant.plan;
            for (size_t i = 0; i < plan.tensors.size(); ++i) {
                const int block = variant.row_block[i];
                const int place = block < 0 ? layerPlace(c, variant.row_layer[i])
                                            : c.place[static_cast<size_t>(block)];
                plan.tensors[i].store = devices_[static_cast<size_t>(place)];
                plan.tensors[i].compute = devices_[static_cast<size_t>(computePlace(place))];
            }
            for (int i = 0; i < layer_count_; ++i) {
                plan.kv_device[static_cast<size_t>(i)] =
                    devices_[static_cast<size_t>(layerPlace(c, i))];
            }
            it->second.assign(devices_.size(), 0);
            for (const auto& [id, bytes] : scratchBytes(request_, plan, plan.kv_device)) {
                const auto at = std::find(devices_.begin(), devices_.end(), id);
                if (at != devices_.end()) {
                    it->second[static_cast<size_t>(at - devices_.begin())] =
                        static_cast<int64_t>(bytes);
                }
            }
        }
        return it->second;
    }

    /// Bytes over the limits, all devices together; 0 = it fits.
    int64_t excess(const Candidate& c, bool is_exact) {
        additiveBytes(c, need_);
        int64_t over = 0;
        const auto count = [&] {
            over = 0;
            for (size_t d = 0; d < need_.size(); ++d) {
                if (need_[d] > limits_[d]) {
                    over += need_[d] - limits_[d];
                }
            }
        };
        count();
        if (over > 0 && !is_exact) {
            return over;
        }
        const std::vector<int64_t>& extra = scratch(c);
        for (size_t d = 0; d < need_.size(); ++d) {
            need_[d] += extra[d];
            need_[d] += need_[d] > 0 ? context_[d] : 0;
        }
        count();
        return over;
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

    [[nodiscard]] double mediaTime(int block, int place, const Variant& variant) const {
        const auto d = static_cast<size_t>(computePlace(place));
        const double flops = block == Vision
                                 ? imageFlops(request_.config, request_.image_tokens)
                                 : 10 * audioFlopsPerSecond(request_.config);
        double time = flops / (towerShare(devices_[d]) * rates_[d].flops);
        if (place == disk_) {
            time += static_cast<double>(variant.block_bytes[static_cast<size_t>(block)]) /
                    rates_[static_cast<size_t>(disk_)].read_bytes_per_s;
        }
        return time;
    }

    /// 0 on a GPU, 1 in main memory, 2 on disk.
    [[nodiscard]] int tableRank(int place) const {
        return place == disk_ ? 2 : place == cpu_ ? 1 : 0;
    }

    // --- search --------------------------------------------------------------------------------

    void search(bool is_leanest) {
        is_leanest_ = is_leanest;
        least_excess_ = kNoLimit;
        for (size_t f = 0; f < variants_.size(); ++f) {
            Candidate c;
            c.format = f;
            c.split.assign(static_cast<size_t>(gpus_), 0);
            if (gpus_ <= 2) {
                splitFrom(c, 0, 0);
            } else {
                greedySplits(c);
            }
        }
    }

    /// All ways to cut the layers into consecutive parts, most layers on GPUs first.
    void splitFrom(Candidate& c, int gpu, int first) {
        if (gpu == gpus_) {
            chooseHead(c);
            return;
        }
        for (int end = layer_count_; end >= first; --end) {
            c.split[static_cast<size_t>(gpu)] = end;
            splitFrom(c, gpu + 1, end);
        }
    }

    void chooseHead(Candidate& c) {
        for (int head = 0; head <= cpu_; ++head) {
            c.place[Head] = head;
            placeDependents(c);
            Cost cost;
            cost.token_s = tokenTime(c);
            cost.quality = variants_[c.format].quality;
            if (!is_leanest_ && best_cost_ < cost) {
                continue;
            }
            choosePlaces(c, cost);
        }
    }

    void choosePlaces(Candidate& c, const Cost& base) {
        const Variant& variant = variants_[c.format];
        const auto choices = [&](int block) {
            std::vector<int> places;
            const bool is_absent = variant.block_bytes[static_cast<size_t>(block)] == 0;
            for (int place = 0; place <= (is_absent ? 0 : disk_); ++place) {
                places.push_back(is_absent ? cpu_ : place);
            }
            return places;
        };
        const std::vector<int> tables = choices(PerLayerTable);
        const std::vector<int> audio = choices(Audio);
        const std::vector<int> vision = choices(Vision);
        std::vector<int> own = {cpu_};
        if (variant.has_own_head) {
            own = {c.place[Head]};
            for (const int place : {cpu_, disk_}) {
                if (place != c.place[Head]) {
                    own.push_back(place);
                }
            }
        }
        for (const int vision_place : vision) {
            c.place[Vision] = vision_place;
            for (const int audio_place : audio) {
                c.place[Audio] = audio_place;
                Cost cost = base;
                cost.media_s = mediaTime(Vision, vision_place, variant) +
                               mediaTime(Audio, audio_place, variant);
                for (const int table : tables) {
                    c.place[PerLayerTable] = table;
                    for (const int own_place : own) {
                        c.place[Table] = own_place;
                        cost.tables = 4 * tableRank(own_place) + tableRank(table);
                        consider(c, cost);
                    }
                }
            }
        }
    }

    void consider(const Candidate& c, const Cost& cost) {
        if (!is_leanest_) {
            if (cost < best_cost_ && excess(c, false) == 0) {
                best_cost_ = cost;
                best_ = c;
            }
            return;
        }
        const int64_t over = excess(c, true);
        if (over < least_excess_) {
            least_excess_ = over;
            best_ = c;
        }
    }

    /// Three GPUs and more: fill them one after the other, for every place of the other blocks.
    /// Second try: no cut between the last KV owners and their readers, which would need a mirror.
    void greedySplits(Candidate& c) {
        const int last_owner = std::max(0, request_.config.text.lastKvOwner() - 1);
        const std::vector<int> places = {0, gpus_ - 1, cpu_, disk_};
        for (const bool keeps_sharing : {false, true}) {
            for (int head = 0; head <= cpu_; ++head) {
                for (const int table : places) {
                    for (const int audio : places) {
                        for (const int vision : places) {
                            c.place.fill(cpu_);
                            c.place[Head] = head;
                            c.place[PerLayerTable] = table;
                            c.place[Audio] = audio;
                            c.place[Vision] = vision;
                            c.place[Table] = variants_[c.format].has_own_head ? cpu_ : head;
                            fill(c, keeps_sharing ? last_owner : -1);
                        }
                    }
                }
            }
        }
    }

    void fill(Candidate& c, int keep_from) {
        std::vector<int64_t> room(devices_.size(), 0);
        c.split.assign(static_cast<size_t>(gpus_), 0);
        placeDependents(c);
        const std::vector<int64_t> empty_scratch(devices_.size(), 0);
        int next = 0;
        for (int g = 0; g < gpus_; ++g) {
            const auto gpu = static_cast<size_t>(g);
            int end = layer_count_;
            while (end > next) {
                for (size_t k = gpu; k < c.split.size(); ++k) {
                    c.split[k] = end;
                }
                placeDependents(c);
                additiveBytes(c, room);
                const int64_t need = room[gpu] + scratch(c)[gpu] + context_[gpu];
                const bool is_cut = keep_from >= 0 && end > keep_from && end < layer_count_;
                if (need <= limits_[gpu] && !is_cut) {
                    break;
                }
                --end;
            }
            for (size_t k = gpu; k < c.split.size(); ++k) {
                c.split[k] = end;
            }
            next = end;
        }
        placeDependents(c);
        Cost cost;
        cost.token_s = tokenTime(c);
        const Variant& variant = variants_[c.format];
        cost.quality = variant.quality;
        cost.media_s = mediaTime(Vision, c.place[Vision], variant) +
                       mediaTime(Audio, c.place[Audio], variant);
        cost.tables = 4 * tableRank(c.place[Table]) + tableRank(c.place[PerLayerTable]);
        consider(c, cost);
    }

    // --- result --------------------------------------------------------------------------------

    [[nodiscard]] DeviceId deviceAt(int place) const { return devices_[static_cast<size_t>(place)]; }

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
        all.split.assign(static_cast<size_t>(gpus_), layer_count_);
        all.place.fill(gpus_ > 0 ? 0 : cpu_);
        const bool is_too_much = excess(all, true) > 0;
        const int first = gpus_ > 0 ? 0 : cpu_;
        result.steps.push_back(
            "everything on " + deviceAt(first).toString() + " needs " +
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
                                       bytesText(bytes) + " less on " +
                                       deviceAt(first).toString() + "; " + cost);
            }
        };
        const int64_t row =
            request_.config.text.num_layers * request_.config.text.ple_size * 2;
        moved("per-layer embedding table",
              PerLayerTable,
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
        const int64_t over = excess(best_, true);
        if (!result.fits) {
            result.steps.push_back("even this leanest plan is " + bytesText(over) +
                                   " over the limits");
            return;
        }
        char speed[96];
        std::snprintf(speed,
                      sizeof speed,
                      "about %.3g tokens/s by these constants (everything on %s: %.3g)",
                      1.0 / std::max(1e-12, tokenTime(best_)),
                      deviceAt(first).toString().c_str(),
                      1.0 / std::max(1e-12, tokenTime(all)));
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
    Cost best_cost_;
    bool is_leanest_ = false;
    int64_t least_excess_ = kNoLimit;
};

} // namespace

FitResult fitDeviceMap(const PlanRequest& request) { return Solver(request).run(); }

} // namespace engine
