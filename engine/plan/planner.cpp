// SPDX-License-Identifier: Apache-2.0
// makePlan: map and options to rows, rows to bytes per device and part, and what follows from
// them. Each step is a function of its own file; here is their order.
#include "engine/plan/planner.h"

#include "engine/families/gemma4/names.h"
#include "engine/forward/memory/device_roles.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/map_write.h"
#include "engine/plan/plan_advice.h"
#include "engine/plan/plan_speed.h"
#include "engine/plan/plan_transfers.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace engine {

namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
constexpr int64_t kDefaultContext = 4096;
/// What copies of all experts take beside these, and the piece in which what is left is taken.
constexpr uint64_t kExpertTables = uint64_t{1} << 20;
constexpr uint64_t kExpertGrain = uint64_t{2} << 20;
/// Left free so that groups of layers lie in pieces of memory of their own (CardSegments), and for
/// other programs where nobody has set a limit.
constexpr uint64_t kLeftForPieces = uint64_t{64} << 20;
constexpr uint64_t kLeftForOthers = uint64_t{256} << 20;

uint64_t saturatedAdd(uint64_t a, uint64_t b) {
    return a > kNoLimit - b ? kNoLimit : a + b;
}

/// Rows and columns that the byte rule wants: leading dimensions folded, vectors as one row.
std::pair<int64_t, int64_t> foldedShape(const std::vector<int64_t>& shape) {
    if (shape.size() < 2) {
        return {1, shape.empty() ? 1 : shape[0]};
    }
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) {
        rows *= shape[i];
    }
    return {rows, shape.back()};
}

/// KV of PLANNER.md: the context for full layers, the window and at most 512 rows for sliding ones.
uint64_t defaultKvBytes(const ModelConfig& config, const PlacementPlan& plan, int layer) {
    const LayerConfig& l = config.text.layers[static_cast<size_t>(layer)];
    const int64_t chunk =
        std::min({std::max<int64_t>(1, plan.prefill_chunk), plan.context, kDefaultChunk});
    const int64_t slots = l.type == LayerType::Full
                              ? plan.context
                              : std::min(plan.context, config.text.sliding_window - 1 + chunk);
    return static_cast<uint64_t>(slots) * kvTokenBytes(config, plan, layer);
}

/// Scratch of PLANNER.md: activations of one chunk on every device that computes layers.
std::map<DeviceId, uint64_t> defaultWorkspace(const ModelConfig& config,
                                              const PlacementPlan& plan,
                                              const std::vector<DeviceId>& layers) {
    int64_t widest_mlp = 0;
    int64_t widest_head = 0;
    for (const LayerConfig& layer : config.text.layers) {
        widest_mlp = std::max(widest_mlp, layer.intermediate_size);
        widest_head = std::max(widest_head, layer.head_dim);
    }
    const int64_t chunk = std::min(std::max<int64_t>(1, plan.prefill_chunk), plan.context);
    const int64_t values =
        chunk * (3 * config.text.hidden_size + 2 * widest_mlp +
                 2 * config.text.num_heads * widest_head + 2 * config.text.ple_size);
    std::map<DeviceId, uint64_t> bytes;
    for (const DeviceId& device : layers) {
        bytes[device] = static_cast<uint64_t>(values) * 4U;
    }
    return bytes;
}

} // namespace

uint64_t layerKvBytes(const PlanRequest& request, const PlacementPlan& plan, int layer) {
    return request.kv_bytes ? request.kv_bytes(plan, layer)
                            : defaultKvBytes(request.config, plan, layer);
}

std::map<DeviceId, uint64_t> scratchBytes(const PlanRequest& request,
                                          const PlacementPlan& plan,
                                          const std::vector<DeviceId>& layer_device) {
    return request.workspace_bytes ? request.workspace_bytes(plan)
                                   : defaultWorkspace(request.config, plan, layer_device);
}

namespace {

/// What a plan, out of what is free on a device, can count on: on a card whole granules beside the
/// context, less what the driver takes as it goes.
uint64_t usableBytes(const DeviceInfo& info) {
    if (info.granularity == 0) {
        return info.free;
    }
    const uint64_t context = std::min(info.free, info.context_bytes);
    const uint64_t rest = (info.free - context) / info.granularity * info.granularity;
    return context + rest - std::min(rest, kDriverTables);
}

} // namespace

MemoryBound boundOf(const PlanRequest& request, const DeviceMap& map, DeviceId id) {
    MemoryBound bound;
    const auto lower = [&bound](MemoryBound::By by, uint64_t bytes) {
        if (bytes < bound.whole) {
            bound.by = by;
            bound.whole = bytes;
        }
    };
    for (const DeviceInfo& info : request.devices) {
        if (info.id == id && info.capacity > 0) {
            bound.by = MemoryBound::By::Free;
            bound.whole = usableBytes(info);
            if (info.granted.has_value()) {
                lower(MemoryBound::By::System, *info.granted);
            }
        }
    }
    const auto option = request.limits.find(id);
    const auto in_map = map.limits.find(id);
    if (option != request.limits.end()) {
        lower(MemoryBound::By::Option, option->second);
    } else if (in_map != map.limits.end()) {
        lower(MemoryBound::By::Map, in_map->second.bytes);
    }
    const auto reserve = map.reserve.find(id);
    bound.reserve = reserve != map.reserve.end() ? reserve->second.bytes : 0;
    return bound;
}

MemoryBound hostBound(const PlanRequest& request, const DeviceMap& map) {
    MemoryBound bound;
    for (const DeviceInfo& info : request.devices) {
        if (info.id == DeviceId::cpu() && info.capacity > 0) {
            const auto reserve = map.reserve.find(info.id);
            bound.by = MemoryBound::By::Free;
            bound.whole = info.free;
            bound.reserve = reserve != map.reserve.end() ? reserve->second.bytes : 0;
            break;
        }
    }
    return bound;
}

StoredTensor storedAs(const PlanRequest& request, const ExpectedTensor& tensor) {
    const auto it = request.stored.find(tensor.name);
    return it == request.stored.end() ? StoredTensor{} : it->second;
}

StoredTensor headStoredAs(const PlanRequest& request, const ExpectedTensor& table) {
    return request.config.has_own_head ? storedAs(request, headTensor(request.config))
                                       : storedAs(request, table);
}

int32_t
blockSizeOf(const PlanRequest& request, const ResolvedTensor& row, const StoredTensor& stored) {
    if (const int32_t own = formatRow(row.format).block_size; own > 0) {
        return own;
    }
    if (!hasCodes(row.format)) {
        return kBlockSize;
    }
    const bool is_packed_kept = stored.packed != Format::AsStored && stored.packed == row.format;
    return is_packed_kept ? stored.block_size : request.quant_block;
}

uint64_t
rowBytes(const PlanRequest& request, const ResolvedTensor& row, const ExpectedTensor& tensor) {
    return rowBytes(request, row, tensor, storedAs(request, tensor));
}

uint64_t rowBytes(const PlanRequest& request,
                  const ResolvedTensor& row,
                  const ExpectedTensor& tensor,
                  const StoredTensor& stored) {
    const auto [rows, cols] = foldedShape(tensor.shape);
    return formatBytes(row.format, stored.type, rows, cols, blockSizeOf(request, row, stored));
}

uint64_t madeFromBytes(const PlanRequest& request,
                       const TensorPlacement& row,
                       const ExpectedTensor& tensor,
                       const StoredTensor& stored) {
    const bool is_quantized = isQuantized(row.format);
    if (row.store != DeviceId::disk() || !is_quantized || request.has_weight_cache ||
        stored.packed != Format::AsStored || tensor.kind == TensorKind::Embedding) {
        return 0; // of a table, rows are read
    }
    const auto [rows, cols] = foldedShape(tensor.shape);
    return formatBytes(Format::AsStored, stored.type, rows, cols, kBlockSize);
}

int64_t planContext(const PlanRequest& request, const DeviceMap& map) {
    const int64_t longest = request.config.text.max_positions;
    int64_t context = request.context > 0 ? request.context : map.kv_context.value_or(0);
    if (context <= 0) {
        context = kDefaultContext;
    }
    return longest > 0 ? std::min(context, longest) : context;
}

namespace {

class Planner {
public:
    explicit Planner(const PlanRequest& request, const KnownNames* names = nullptr)
        : request_(request), names_(names) {}

    PlacementPlan run() {
        if (!weigh()) {
            return std::move(plan_);
        }
        addTransfers(plan_, parts());
        checkModelBlock();
        makeModules();
        plan_.estimate =
            estimateSpeed(plan_, {&request_.config, tensors_, &resolution_, &request_.devices});
        // Memory is judged where every tensor has a device of this machine.
        if (!resolution_.is_incomplete) {
            checkLimits();
        }
        plan_.fits = plan_.errors.empty();
        plan_.map_text = writeDeviceMap(map_);
        return std::move(plan_);
    }

    /// `rows`: of a former plan, for their memory.
    PlacementPlan runBytes(std::vector<TensorPlacement> rows) {
        plan_.tensors = std::move(rows);
        weigh();
        return std::move(plan_);
    }

private:
    /// Rows and bytes per device; false: no map.
    bool weigh() {
        if (request_.tensors.empty()) {
            own_tensors_ = listTensors(request_.config);
        }
        tensors_ = request_.tensors.empty() ? &own_tensors_ : &request_.tensors;
        if (!chooseMap()) {
            return false;
        }
        resolve();
        makeRows();
        placeKv();
        makeDevices();
        account();
        growChunk();
        addExpertCopies();
        return true;
    }

    [[nodiscard]] PlanParts parts() const {
        PlanParts parts;
        parts.request = &request_;
        parts.tensors = tensors_;
        parts.resolution = &resolution_;
        parts.map = &map_;
        parts.layer_device = layer_device_;
        parts.names = names_;
        return parts;
    }

    bool chooseMap() {
        quant_ = request_.quant;
        head_ = request_.head;
        if (request_.map.has_value()) {
            map_ = *request_.map;
            return true;
        }
        if (request_.preset == "fit") {
            FitResult fit = fitDeviceMap(request_);
            map_ = std::move(fit.map);
            quant_ = fit.quant; // a head that was changed is in the map
            plan_.notes = std::move(fit.steps);
            return true;
        }
        std::vector<DeviceId> devices;
        for (const DeviceInfo& device : request_.devices) {
            devices.push_back(device.id);
        }
        Result<DeviceMap> preset =
            presetDeviceMap(request_.preset, devices, request_.config,
                            head_ != Format::AsStored || request_.config.has_own_head);
        if (!preset.has_value()) {
            PlanIssue issue;
            issue.code = isDevicePreset(request_.preset) ? "DM04" : "DM01";
            issue.key = request_.preset;
            issue.words = presetProblem(request_.preset, devices);
            plan_.errors.push_back(std::move(issue));
            return false;
        }
        map_ = std::move(preset).value();
        return true;
    }

    void resolve() {
        ResolveInput input;
        input.config = &request_.config;
        input.tensors = tensors_;
        input.stored = &request_.stored;
        for (const DeviceInfo& device : request_.devices) {
            input.devices.push_back(device.id);
        }
        input.quant = quant_;
        input.quantizes_experts = request_.quantizes_experts;
        input.head = head_;
        if (names_ == nullptr) {
            own_names_.emplace(*tensors_);
            names_ = &*own_names_;
        }
        input.names = names_;
        resolution_ = resolveDeviceMap(map_, input);
        plan_.errors = resolution_.errors;
        plan_.warnings = resolution_.warnings;
        plan_.notes.insert(plan_.notes.end(), resolution_.notes.begin(), resolution_.notes.end());

        plan_.is_reference_precision = request_.is_reference_precision;
        plan_.has_stored_head = request_.config.has_own_head;
        const TextConfig& text = request_.config.text;
        plan_.experts = text.has_moe ? text.num_experts : 0;
        plan_.experts_per_token = text.has_moe ? text.top_k_experts : 0;
        plan_.prefill_chunk = request_.prefill_chunk > 0 ? request_.prefill_chunk : kDefaultChunk;
        plan_.image_tokens = request_.image_tokens;
        plan_.context = planContext(request_, map_);
        const int64_t asked =
            request_.context > 0 ? request_.context : map_.kv_context.value_or(plan_.context);
        if (asked > plan_.context) {
            plan_.notes.emplace_back(said(
                "a context of %1 tokens is more than the model has positions for; planned with "
                "%2",
                asked, plan_.context));
        }
        plan_.kv_format =
            request_.kv_format != Format::AsStored ? request_.kv_format : map_.kv_format;
        if (plan_.kv_format == Format::F16) {
            PlanIssue issue;
            issue.code = "DM10";
            issue.key = "kv.format";
            issue.line = map_.kv_format_at.line;
            issue.column = map_.kv_format_at.column;
            issue.words =
                phrase("this version keeps keys and values in bf16 (fp32 with --precision f32) or "
                       "q8 and has no other format for them; change kv.format");
            plan_.errors.push_back(std::move(issue));
        }
    }

    void makeRows() {
        plan_.tensors.resize(resolution_.tensors.size());
        size_t count = 0;
        const ExpectedTensor* table = nullptr;
        size_t made_count = 0;
        for (const ResolvedTensor& resolved : resolution_.tensors) {
            const ExpectedTensor* tensor =
                resolved.index < 0 ? table : &(*tensors_)[static_cast<size_t>(resolved.index)];
            if (tensor == nullptr) {
                continue; // a shared head, but no token table to share: it has no bytes
            }
            TensorPlacement& row = plan_.tensors[count++];
            if (resolved.index < 0) {
                row.tensor = kHeadName;
                row.part = {PartRole::Head};
            } else {
                row.tensor = tensor->name;
                row.part = tensor->part;
                if (tensor->part.role == PartRole::Embedding) {
                    table = tensor;
                }
            }
            row.store = resolved.store;
            row.compute = resolved.compute;
            row.residency = resolved.residency;
            row.format = resolved.format;
            row.pin = resolved.pin;
            const StoredTensor stored =
                resolved.index < 0 ? headStoredAs(request_, *tensor) : storedAs(request_, *tensor);
            row.block_size = blockSizeOf(request_, resolved, stored);
            row.bytes = rowBytes(request_, resolved, *tensor, stored);
            row.made_from_bytes = madeFromBytes(request_, row, *tensor, stored);
            made_count += row.made_from_bytes > 0 ? 1U : 0U;
        }
        plan_.tensors.resize(count);
        weighLeftOut();
        if (made_count > 0) {
            plan_.notes.emplace_back(said(
                "%1 quantized weights stored on disk are made from the checkpoint at every use; "
                "a cache keeps them as they are (--cache FOLDER)",
                made_count));
        }
    }

    /// left_out_bytes: the towers as this plan would hold them.
    void weighLeftOut() {
        const LeftOutTowers& left_out = request_.config.left_out;
        if (!left_out.vision && !left_out.audio) {
            return;
        }
        for (const ExpectedTensor& tensor : *tensors_) {
            const bool is_there = request_.stored.empty() || request_.stored.contains(tensor.name);
            if (!tensor.is_unused || !isMedia(tensor.part) || !is_there) {
                continue;
            }
            ExpectedTensor used = tensor;
            used.is_unused = false;
            ResolvedTensor row;
            row.format =
                loadFormat(used, storedAs(request_, used), quant_, request_.quantizes_experts);
            plan_.left_out_bytes += rowBytes(request_, row, used);
        }
    }

    void placeKv() {
        const size_t count = request_.config.text.layers.size();
        layer_device_.assign(count, DeviceId::cpu());
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const int index = resolution_.tensors[i].index;
            if (index < 0) {
                continue;
            }
            const ExpectedTensor& tensor = (*tensors_)[static_cast<size_t>(index)];
            if (tensor.use == TensorUse::Query && static_cast<size_t>(tensor.layer) < count) {
                layer_device_[static_cast<size_t>(tensor.layer)] = plan_.tensors[i].compute;
            }
        }
        plan_.kv_device = map_.kv_place.has_value() ? std::vector<DeviceId>(count, *map_.kv_place)
                                                    : layer_device_;
    }

    DevicePlan& deviceOf(DeviceId id) {
        for (DevicePlan& device : plan_.devices) {
            if (device.id == id) {
                return device;
            }
        }
        DevicePlan added;
        added.id = id;
        added.description = id == DeviceId::cpu()    ? "processor and main memory"
                            : id == DeviceId::disk() ? "model files"
                                                     : "";
        added.limit = kNoLimit;
        plan_.devices.push_back(std::move(added));
        return plan_.devices.back();
    }

    void makeDevices() {
        for (const DeviceInfo& info : request_.devices) {
            DevicePlan& device = deviceOf(info.id);
            device.description = info.description;
            device.capacity = info.capacity;
            device.free = info.free;
        }
        deviceOf(DeviceId::cpu());
        for (DevicePlan& device : plan_.devices) {
            device.limit = boundOf(request_, map_, device.id).bytes();
        }
        for (const auto& [is_reserve, sizes] :
             {std::pair(false, &map_.limits), std::pair(true, &map_.reserve)}) {
            if (sizes->contains(DeviceId::disk())) {
                plan_.notes.emplace_back(
                    said("%1 has no effect: what is stored on disk stays in the model's own files, "
                         "which need no more room",
                         is_reserve ? "reserve.disk" : "limits.disk"));
            }
        }
        for (const auto& [id, bytes] : request_.limits) {
            const bool is_known =
                id == DeviceId::disk() ||
                std::any_of(plan_.devices.begin(), plan_.devices.end(),
                            [id = id](const DevicePlan& d) { return d.id == id; });
            if (!is_known) {
                PlanIssue issue;
                issue.code = "DM04";
                issue.key = "--limit";
                issue.words = said("--limit names %1, which this machine does not have", id);
                issue.is_about_card = id.kind == DeviceId::Kind::Cuda;
                plan_.errors.push_back(std::move(issue));
            }
        }
    }

    void account() {
        const ModelConfig& config = request_.config;
        for (const auto& [id, bytes] : weightBytes(plan_)) {
            deviceOf(id).parts[MemoryPart::Weights] = bytes;
        }
        for (const TensorPlacement& row : plan_.tensors) {
            if (row.store == DeviceId::disk()) {
                deviceOf(row.store);
            }
        }
        const auto addKv = [this](DeviceId id, int layer) {
            uint64_t& kv = deviceOf(id).parts[MemoryPart::Kv];
            kv = saturatedAdd(kv, layerKvBytes(request_, plan_, layer));
        };
        for (size_t i = 0; i < config.text.layers.size(); ++i) {
            if (!config.text.layers[i].is_kv_shared) {
                addKv(plan_.kv_device[i], static_cast<int>(i));
            }
        }
        for (const KvMirror& mirror : kvMirrors(config, plan_)) {
            addKv(mirror.device, mirror.owner);
        }
        addAdapters();
        for (const auto& [id, bytes] : scratchBytes(request_, plan_, layer_device_)) {
            deviceOf(id).parts[MemoryPart::Workspace] = bytes;
        }
        for (const DeviceInfo& info : request_.devices) {
            DevicePlan& device = deviceOf(info.id);
            if (info.context_bytes > 0 && device.parts.total() > 0) {
                device.parts[MemoryPart::Context] = info.context_bytes;
            }
        }
    }

    /// What is for speed alone: not in the preset that is there to save memory. Large chunks where
    /// every layer computes on a card and their scratch takes at most a quarter of what is left.
    void growChunk() {
        const bool is_lean = !request_.map.has_value() && request_.preset == "lean";
        // A driver's tables of page-locked memory are some MiB of the card's.
        plan_.locks_host = !is_lean;
        const bool is_on_cards =
            std::all_of(layer_device_.begin(), layer_device_.end(),
                        [](const DeviceId& device) { return device.kind == DeviceId::Kind::Cuda; });
        if (request_.prefill_chunk > 0 || is_lean || !is_on_cards) {
            return;
        }
        plan_.prefill_chunk = kCardChunk;
        const auto larger = scratchBytes(request_, plan_, layer_device_);
        for (const auto& [id, bytes] : larger) {
            const DevicePlan& device = deviceOf(id);
            const uint64_t now = device.parts[MemoryPart::Workspace];
            const uint64_t used = device.parts.total();
            const bool has_room =
                device.limit == kNoLimit
                    ? id == DeviceId::cpu()
                    : device.limit > used && bytes <= now + (device.limit - used) / 4;
            if (!has_room) {
                plan_.prefill_chunk = kDefaultChunk;
                return;
            }
        }
        for (const auto& [id, bytes] : larger) {
            deviceOf(id).parts[MemoryPart::Workspace] = bytes;
        }
    }

    /// The kernels take copies of single experts of these weights (HotExperts).
    [[nodiscard]] bool canCopyExperts(const TensorPlacement& row,
                                      const ExpectedTensor& tensor) const {
        const FormatRow& format = formatRow(row.format);
        const int64_t values =
            tensor.numElements() / std::max<int64_t>(1, request_.config.text.num_experts);
        const int64_t scaled =
            format.is_nested ? int64_t{256} * row.block_size : int64_t{row.block_size};
        return hasBlocks(row.format) || row.format == Format::Bf16 ||
               (row.format == Format::AsStored &&
                storedAs(request_, tensor).type == TensorType::BF16) ||
               (hasCodes(row.format) && values % scaled == 0);
    }

    /// Room for copies of routed experts whose layers compute on a card while they do on the CPU.
    void addExpertCopies() {
        const uint64_t asked = request_.expert_cache.value_or(map_.expert_cache.value_or(0));
        if (asked == 0 || plan_.is_reference_precision) {
            return;
        }
        std::set<std::string_view> adapted; // single functions compute these
        for (const AdapterBytes& adapter : request_.adapters) {
            adapted.insert(adapter.tensor);
        }
        struct Experts {
            uint64_t bytes = 0, largest = 0;
        };
        std::map<DeviceId, Experts> all;
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const TensorPlacement& row = plan_.tensors[i];
            const int index = resolution_.tensors[i].index;
            if (index < 0 || row.store != DeviceId::cpu() || row.compute != DeviceId::cpu()) {
                continue;
            }
            const ExpectedTensor& tensor = (*tensors_)[static_cast<size_t>(index)];
            if (tensor.kind != TensorKind::Experts || adapted.contains(tensor.name) ||
                !canCopyExperts(row, tensor)) {
                continue;
            }
            const DeviceId home = layer_device_[static_cast<size_t>(tensor.layer)];
            if (home.kind == DeviceId::Kind::Cuda) {
                all[home].bytes += row.bytes;
                all[home].largest = std::max(all[home].largest, row.bytes);
            }
        }
        for (const auto& [id, experts] : all) {
            uint64_t room = std::min(asked, experts.bytes + kExpertTables);
            const bool is_fit = !request_.map.has_value() && request_.preset == "fit";
            if (asked == kAllThatIsLeft || is_fit) {
                room = std::min(room, leftForCopies(id));
            }
            // Less than one of them is nothing.
            const TextConfig& text = request_.config.text;
            const auto count = static_cast<uint64_t>(std::max<int64_t>(1, text.num_experts));
            const uint64_t tables = 4 * count * static_cast<uint64_t>(text.num_layers) + 4096;
            const bool has_room = room > tables + 2 * experts.largest / count;
            deviceOf(id).parts[MemoryPart::Experts] = has_room ? room : 0;
        }
    }

    uint64_t leftForCopies(DeviceId id) {
        const DevicePlan& device = deviceOf(id);
        if (device.limit == kNoLimit) {
            return kNoLimit;
        }
        const bool is_limited = boundOf(request_, map_, id).by != MemoryBound::By::Free;
        const uint64_t taken =
            device.parts.total() + (is_limited ? kLeftForPieces : kLeftForOthers);
        return (device.limit - std::min(device.limit, taken)) / kExpertGrain * kExpertGrain;
    }

    /// Row of every tensor of the list; -1: it has none.
    [[nodiscard]] std::vector<int> rowsOfTensors() const {
        std::vector<int> rows(tensors_->size(), -1);
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            if (const int index = resolution_.tensors[i].index; index >= 0) {
                rows[static_cast<size_t>(index)] = static_cast<int>(i);
            }
        }
        return rows;
    }

    /// The row of an adapter's base tensor: the head's own or the table that it shares; nullptr:
    /// the plan has none.
    [[nodiscard]] const TensorPlacement* baseRow(const AdapterBytes& adapter,
                                                 const std::vector<int>& rows) const {
        const std::string& name = adapter.tensor;
        const bool is_head = name == kHeadName;
        if (is_head && !plan_.tensors.empty() && plan_.tensors.back().part.role == PartRole::Head) {
            return &plan_.tensors.back();
        }
        const bool is_known = adapter.index >= 0 &&
                              static_cast<size_t>(adapter.index) < tensors_->size() &&
                              (*tensors_)[static_cast<size_t>(adapter.index)].name == name;
        const int tensor =
            is_known ? adapter.index
                     : names_->indexOf(is_head ? kTokenTableName : std::string_view(name));
        const int row = tensor < 0 ? -1 : rows[static_cast<size_t>(tensor)];
        return row < 0 ? nullptr : &plan_.tensors[static_cast<size_t>(row)];
    }

    /// A and B are added where their base tensor computes. They lie there, or, where the base
    /// travels and adapter.place says so, where the base is stored, and come as it does: into one
    /// of two places (stream) or with all of their group (on_use); see engine/lora/
    /// adapter_arrivals.h, which allocates by the same rule.
    void addAdapters() {
        plan_.adapters_follow_base = map_.adapter_place == AdapterPlace::FollowBase;
        if (request_.adapters.empty()) {
            return;
        }
        const std::vector<int> rows = rowsOfTensors();
        size_t staying = 0; // replaced weights whose base travels
        std::map<DeviceId, uint64_t> scratch, stream, visit;
        std::map<const TensorPlacement*, uint64_t> streamed;
        std::map<std::pair<DeviceId, std::string_view>, uint64_t> groups;
        for (const AdapterBytes& adapter : request_.adapters) {
            const TensorPlacement* base = baseRow(adapter, rows);
            if (base == nullptr) {
                plan_.notes.emplace_back(
                    said("adapter weights for %1 are not counted: the plan has no such tensor",
                         adapter.tensor));
                continue;
            }
            const DeviceId device = adapter.is_on_host ? DeviceId::cpu() : base->compute;
            const bool travels =
                base->store != base->compute && base->residency != Residency::Always;
            uint64_t staying_bytes = adapter.bytes;
            if (!adapter.is_on_host && travels && plan_.adapters_follow_base) {
                staying_bytes -= adapter.update_bytes;
                staying += staying_bytes > 0 ? 1U : 0U;
                if (base->store.kind != DeviceId::Kind::Disk) {
                    deviceOf(base->store).parts[MemoryPart::Adapter] += adapter.update_bytes;
                }
                if (base->residency == Residency::Stream) {
                    streamed[base] += adapter.update_bytes;
                } else {
                    groups[{device, visitGroup(base->part)}] += adapter.update_bytes;
                }
            }
            deviceOf(device).parts[MemoryPart::Adapter] += staying_bytes;
            scratch[device] = std::max(scratch[device], adapter.scratch_bytes);
        }
        for (const auto& [base, bytes] : streamed) {
            stream[base->compute] = std::max(stream[base->compute], 2 * bytes);
            if (!isMedia(base->part)) {
                addTransfer(plan_, base->store, base->compute, bytes, Travel::StreamedAdapter);
            }
        }
        for (const auto& [key, bytes] : groups) {
            visit[key.first] = std::max(visit[key.first], bytes);
        }
        for (const auto* part : {&scratch, &stream, &visit}) {
            for (const auto& [device, bytes] : *part) {
                deviceOf(device).parts[MemoryPart::Adapter] += bytes;
            }
        }
        if (staying > 0) {
            plan_.notes.emplace_back(
                staying == 1
                    ? said("the adapter replaces 1 weight that travels to its device; its "
                           "replacement stays there (only A and B follow)")
                    : said("the adapter replaces %1 weights that travel to their device; their "
                           "replacements stay there (only A and B follow)",
                           staying));
        }
    }

    void checkModelBlock() {
        const auto differs = [this](Sentence words) {
            PlanIssue warning;
            warning.code = "DM22";
            warning.key = "model";
            warning.line = map_.model_at.line;
            warning.column = map_.model_at.column;
            warning.words = std::move(words);
            plan_.warnings.push_back(std::move(warning));
        };
        const auto layers = static_cast<int64_t>(request_.config.text.layers.size());
        if (map_.model_layers.has_value() && *map_.model_layers != layers) {
            differs(said("the map was made for a model with %1 layers, this one has %2",
                         *map_.model_layers, layers));
        }
        if (map_.model_architecture.has_value()) {
            const std::string& name = *map_.model_architecture;
            if (name != "gemma4" && name != request_.config.architecture) {
                differs(
                    said("the map was made for the architecture \"%1\", this model is gemma4 (%2)",
                         name.substr(0, 80), request_.config.architecture));
            }
        }
    }

    void makeModules() {
        std::map<std::string, size_t> index;
        std::vector<uint64_t> largest;
        using Place = std::tuple<DeviceId, DeviceId, Residency>;
        std::vector<std::map<Place, uint64_t>> bytes_by_place; ///< Per module.
        std::vector<std::optional<Format>>
            linear_format; ///< Format of the module's linear weights so far.
        const auto add = [&](const std::string& name, Part part, const TensorPlacement& row,
                             bool is_linear) {
            const auto [it, is_new] = index.try_emplace(name, plan_.modules.size());
            if (is_new) {
                ModulePlacement module;
                module.name = name;
                module.part = part;
                module.store = row.store;
                module.compute = row.compute;
                module.residency = row.residency;
                module.format = row.format;
                plan_.modules.push_back(std::move(module));
                largest.push_back(0);
                bytes_by_place.emplace_back();
                linear_format.emplace_back();
            }
            const size_t i = it->second;
            ModulePlacement& module = plan_.modules[i];
            module.is_mixed = module.is_mixed || module.store != row.store ||
                              module.compute != row.compute || module.residency != row.residency;
            if (is_linear) {
                if (linear_format[i].has_value() && linear_format[i] != row.format) {
                    module.is_mixed = true;
                }
                linear_format[i] = row.format;
            }
            // The place that holds most bytes stands on the block, with the format of the largest
            // linear weight.
            auto& places = bytes_by_place[i];
            const Place place{row.store, row.compute, row.residency};
            places[place] += row.bytes;
            std::tie(module.store, module.compute, module.residency) =
                std::max_element(places.begin(), places.end(), [](const auto& a, const auto& b) {
                    return a.second < b.second;
                })->first;
            const uint64_t weight = row.bytes + (is_linear ? uint64_t{1} << 50U : 0);
            if (weight > largest[i]) {
                largest[i] = weight;
                module.format = row.format;
            }
            module.bytes += row.bytes;
        };
        const std::string head_name = partName({PartRole::Head});
        const TensorPlacement* table = nullptr;
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const int tensor = resolution_.tensors[i].index;
            if (tensor < 0) {
                add(head_name, {PartRole::Head}, plan_.tensors[i], true);
                continue;
            }
            const ExpectedTensor& expected = (*tensors_)[static_cast<size_t>(tensor)];
            const bool is_experts = expected.kind == TensorKind::Experts;
            const Part part = is_experts ? expertsPart(expected.layer) : expected.part;
            add(is_experts ? partName(part) : expected.module, part, plan_.tensors[i],
                expected.kind == TensorKind::Linear);
            if (expected.part.role == PartRole::Embedding) {
                table = &plan_.tensors[i];
            }
        }
        // The tied head is a block, too; its bytes are the table's.
        if (!resolution_.has_own_head && table != nullptr) {
            ModulePlacement head;
            head.name = head_name;
            head.part = {PartRole::Head};
            head.store = table->store;
            head.compute = table->compute;
            head.residency = table->residency;
            head.format = table->format;
            plan_.modules.push_back(std::move(head));
        }
    }

    /// Where a lack of memory is told: what somebody set is a limit, what the system reports as
    /// free may be taken for a guess.
    std::vector<PlanIssue>& issuesOf(const PlanIssue& over) {
        const bool is_guess = request_.is_free_memory_a_guess && isRefusedByEstimate({over});
        return is_guess ? plan_.warnings : plan_.errors;
    }

    void checkLimits() {
        for (const DevicePlan& device : plan_.devices) {
            if (device.id != DeviceId::disk() && device.parts.total() > device.limit) {
                const PlanIssue over = overLimit(plan_, device, boundOf(request_, map_, device.id),
                                                 parts(), quant_, head_);
                issuesOf(over).push_back(over);
            }
        }
        const MemoryBound host = hostBound(request_, map_);
        const bool has_sim =
            std::any_of(plan_.devices.begin(), plan_.devices.end(), [](const DevicePlan& device) {
                return device.id.kind == DeviceId::Kind::Sim && device.parts.total() > 0;
            });
        if (has_sim && hostNeed(plan_) > host.bytes()) {
            const PlanIssue over = overHost(plan_, host, parts(), quant_, head_);
            issuesOf(over).push_back(over);
        }
    }

    const PlanRequest& request_;
    const KnownNames* names_;
    std::optional<KnownNames> own_names_;
    PlacementPlan plan_;
    std::vector<ExpectedTensor> own_tensors_;
    const std::vector<ExpectedTensor>* tensors_ = nullptr;
    DeviceMap map_;
    Format quant_ = Format::AsStored;
    Format head_ = Format::AsStored;
    Resolution resolution_;
    std::vector<DeviceId> layer_device_;
};

} // namespace

PlacementPlan makePlan(const PlanRequest& request) {
    return Planner(request).run();
}

PlacementPlan
planBytes(const PlanRequest& request, const KnownNames* names, std::vector<TensorPlacement> rows) {
    return Planner(request, names).runBytes(std::move(rows));
}

} // namespace engine
