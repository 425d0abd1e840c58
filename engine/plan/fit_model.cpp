// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/fit_model.h"

#include "engine/plan/plan_speed.h"
#include "engine/plan/plan_transfers.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace engine {

namespace {

int64_t picoseconds(double seconds) {
    return std::llround(seconds * 1e12);
}

int64_t saturated(uint64_t bytes) {
    return static_cast<int64_t>(std::min<uint64_t>(bytes, static_cast<uint64_t>(kFitNoLimit)));
}

/// What the adapters of one base tensor need on its computing device.
struct AdapterNeed {
    int64_t bytes = 0;
    int64_t travelling = 0; ///< Part of `bytes` where the base travels.
    int64_t scratch = 0;
};

/// -1 for the tensors of a decoder layer.
int blockOf(const ExpectedTensor& tensor, int layers) {
    if (tensor.tower == Tower::Vision) {
        return FitVision;
    }
    if (tensor.tower == Tower::Audio) {
        return FitAudio;
    }
    if (tensor.layer >= 0 && tensor.layer < layers) {
        return -1;
    }
    switch (tensor.part.role) {
    case PartRole::PerLayerTable:
        return FitPerLayerTable;
    case PartRole::Embedding:
        return FitTable;
    case PartRole::FinalNorm:
        return FitNorm;
    default:
        return FitProjection;
    }
}

} // namespace

FitModel::FitModel(const PlanRequest& r) : request(r) {
    if (request.tensors.empty()) {
        own_tensors_ = listTensors(request.config);
    }
    tensors_ = request.tensors.empty() ? &own_tensors_ : &request.tensors;
    layers = static_cast<int>(request.config.text.layers.size());
    shape_.context = planContext(request, {});
    shape_.prefill_chunk = request.prefill_chunk > 0 ? request.prefill_chunk : kDefaultChunk;
    shape_.image_tokens = request.image_tokens;
    shape_.is_reference_precision = request.is_reference_precision;
    shape_.kv_format = request.kv_format;
    for (auto& answers : scratch_) {
        answers.fill(-1);
    }
    addDevices();
    addFormats();
    addTimes();
}

// --- tables -------------------------------------------------------------------------------------

void FitModel::addDevices() {
    std::vector<DeviceId> ids;
    for (const DeviceInfo& info : request.devices) {
        if (info.id.isGpu()) {
            ids.push_back(info.id);
        }
    }
    std::sort(ids.begin(), ids.end());
    ids.resize(std::min<size_t>(ids.size(), kFitMaxGpus));
    gpus = static_cast<int>(ids.size());
    cpu = gpus;
    disk = gpus + 1;
    ids.push_back(DeviceId::cpu());
    ids.push_back(DeviceId::disk());
    for (const DeviceId& id : ids) {
        FitDevice device;
        device.id = id;
        device.limit =
            id == DeviceId::disk() ? kFitNoLimit : saturated(boundOf(request, {}, id).bytes());
        const auto info = std::find_if(request.devices.begin(), request.devices.end(),
                                       [&id](const DeviceInfo& d) { return d.id == id; });
        const bool is_given = info != request.devices.end();
        const bool is_sim = id.kind == DeviceId::Kind::Sim;
        device.as_card = is_sim ? DeviceId::cuda(id.index) : id;
        // What was measured for a simulated GPU is the processor that computes for it.
        device.rates = ratesOf(is_given && !is_sim ? &*info : nullptr, device.as_card);
        if (is_sim) {
            // Nothing is launched there. With a card's cost per layer a small model would be left
            // to the processor, which is the same one.
            device.rates.layer_overhead_s = 0;
        }
        device.context = is_given ? saturated(info->context_bytes) : 0;
        if (is_sim) {
            host_limit = saturated(hostBound(request, {}).bytes());
        }
        devices.push_back(device);
    }
}

void FitModel::addFormats() {
    std::vector<std::pair<Format, int>> quants = {{request.quant, 0}};
    if (request.may_quantize && request.quant == Format::AsStored) {
        quants.emplace_back(kFourBitFormat, 10);
        quants.emplace_back(kSmallestFormat, 20);
    }
    std::vector<std::pair<Format, int>> heads = {{request.head, 0}};
    // A packed head stays as it is.
    const auto own = request.stored.find(std::string(kHeadName));
    const bool is_packed = own != request.stored.end() && own->second.packed != Format::AsStored;
    if (request.may_change_head && request.head == Format::AsStored && !is_packed) {
        heads.emplace_back(Format::Q8, 1);
        heads.emplace_back(kFourBitFormat, 2);
    }
    for (int i = 0; i < layers; ++i) {
        const bool is_shared = request.config.text.layers[static_cast<size_t>(i)].is_kv_shared;
        const uint64_t bytes = is_shared ? 0 : layerKvBytes(request, shape_, i);
        kv_bytes_.push_back(std::min(saturated(bytes), kFitNoLimit / 4096));
    }
    if (request.duty_bytes) {
        DeviceDuties duties;
        duties.layers = 1;
        const uint64_t one = request.duty_bytes(shape_, DeviceId::Kind::Cpu, duties);
        duties.layers = 2;
        layer_table_bytes_ =
            static_cast<int64_t>(request.duty_bytes(shape_, DeviceId::Kind::Cpu, duties) - one);
    }
    for (const auto& [quant, quant_rank] : quants) {
        for (const auto& [head, head_rank] : heads) {
            formats.push_back(weigh(quant, head, quant_rank + head_rank));
            addSpans(formats.back());
        }
    }
}

FitFormats FitModel::weigh(Format quant, Format head, int quality) const {
    FitFormats out;
    out.quant = quant;
    out.head = head;
    out.quality = quality;
    out.layer_bytes.assign(static_cast<size_t>(layers), 0);
    out.layer_scratch.assign(static_cast<size_t>(layers), 0);
    out.expert_weights.assign(static_cast<size_t>(layers), 0);
    out.expert_bytes.assign(static_cast<size_t>(layers) + 1, 0);
    std::vector<int64_t> expert_scratch(static_cast<size_t>(layers), 0);
    std::unordered_map<std::string_view, AdapterNeed> adapters;
    const bool follows_base =
        !request.map.has_value() || request.map->adapter_place == AdapterPlace::FollowBase;
    for (const AdapterBytes& part : request.adapters) {
        const int64_t scratch = saturated(part.scratch_bytes);
        if (part.is_on_host) {
            out.host_adapter += saturated(part.bytes);
            out.host_scratch = std::max(out.host_scratch, scratch);
            continue;
        }
        AdapterNeed& need = adapters[part.tensor];
        need.bytes += saturated(part.bytes);
        need.travelling += follows_base ? saturated(part.update_bytes) : 0;
        need.scratch = std::max(need.scratch, scratch);
    }
    const auto adapterOf = [&adapters](std::string_view tensor) {
        const auto it = adapters.empty() ? adapters.end() : adapters.find(tensor);
        return it == adapters.end() ? AdapterNeed() : it->second;
    };
    const auto put = [&out](int block, int64_t bytes, const AdapterNeed& adapter) {
        const auto b = static_cast<size_t>(block);
        out.bytes[b] += bytes;
        out.adapter[b] += adapter.bytes;
        out.travelling_adapter[b] += adapter.travelling;
        out.scratch[b] = std::max(out.scratch[b], adapter.scratch);
    };
    const bool has_headers = !request.stored.empty();
    for (const ExpectedTensor& tensor : *tensors_) {
        if (tensor.is_unused) {
            continue;
        }
        StoredTensor stored;
        if (has_headers) {
            const auto it = request.stored.find(tensor.name);
            if (it != request.stored.end()) {
                stored = it->second;
            } else if (!tensor.is_required) {
                continue;
            }
        }
        ResolvedTensor row;
        row.format = loadFormat(tensor, stored, quant, request.quantizes_experts);
        out.has_blocks = out.has_blocks || hasBlocks(row.format);
        const int64_t bytes = saturated(rowBytes(request, row, tensor));
        const AdapterNeed adapter = adapterOf(tensor.name);
        if (tensor.part.role == PartRole::Assistant) { // goes where its last layer's keys are
            const int source = request.config.assistant->text.layers.back().kv_source;
            out.layer_bytes[static_cast<size_t>(source)] += bytes;
            continue;
        }
        const int block = blockOf(tensor, layers);
        if (block < 0) {
            const auto layer = static_cast<size_t>(tensor.layer);
            const bool is_experts = tensor.kind == TensorKind::Experts;
            int64_t& scratch = (is_experts ? expert_scratch : out.layer_scratch)[layer];
            scratch = std::max(scratch, adapter.scratch);
            out.layer_bytes[layer] += bytes + adapter.bytes;
            out.expert_weights[layer] += is_experts ? bytes : 0;
            out.expert_bytes[layer + 1] += is_experts ? bytes + adapter.bytes : 0;
        } else if (block == FitTable) {
            // The tied table is the head; beside a head of its own it is a table of rows.
            const AdapterNeed of_head = adapterOf(std::string(kHeadName));
            const bool is_stored = request.config.has_own_head;
            const StoredTensor stored_head = headStoredAs(request, tensor);
            const bool is_packed = stored_head.packed != Format::AsStored;
            const Format head_format = is_packed ? stored_head.packed : headFormat(head, quant);
            out.has_own_head = is_stored || (head != Format::AsStored && head_format != row.format);
            put(out.has_own_head ? FitTable : FitHead, bytes, adapter);
            row.format = head_format;
            put(FitHead,
                out.has_own_head ? saturated(rowBytes(request, row, tensor, stored_head)) : 0,
                of_head);
        } else {
            put(block, bytes, adapter);
        }
    }
    std::partial_sum(out.expert_bytes.begin(), out.expert_bytes.end(), out.expert_bytes.begin());
    out.expert_scratch = spanMaxima(expert_scratch);
    return out;
}

void FitModel::addSpans(FitFormats& format) const {
    const std::vector<LayerConfig>& config = request.config.text.layers;
    const size_t width = static_cast<size_t>(layers) + 1;
    format.span_bytes.assign(width * width, 0);
    format.span_scratch = spanMaxima(format.layer_scratch);
    // A reader whose owner lies before the run needs a mirror, one per owner.
    std::vector<int> mirrored_from(static_cast<size_t>(layers), -1);
    for (int from = 0; from < layers; ++from) {
        int64_t bytes = 0;
        for (int i = from; i < layers; ++i) {
            const auto layer = static_cast<size_t>(i);
            bytes += format.layer_bytes[layer] + kv_bytes_[layer] + layer_table_bytes_;
            const int source = config[layer].is_kv_shared ? config[layer].kv_source : -1;
            if (source >= 0 && source < from &&
                mirrored_from[static_cast<size_t>(source)] != from) {
                mirrored_from[static_cast<size_t>(source)] = from;
                bytes += kv_bytes_[static_cast<size_t>(source)];
            }
            format.span_bytes[span(from, i + 1)] = bytes;
        }
    }
}

std::vector<int64_t> FitModel::spanMaxima(const std::vector<int64_t>& values) const {
    const size_t width = static_cast<size_t>(layers) + 1;
    std::vector<int64_t> most(width * width, 0);
    for (int from = 0; from < layers; ++from) {
        for (int i = from; i < layers; ++i) {
            most[span(from, i + 1)] = std::max(most[span(from, i)], values[static_cast<size_t>(i)]);
        }
    }
    return most;
}

void FitModel::addTimes() {
    for (const FitDevice& device : devices) {
        hop_ps.push_back(picoseconds(device.rates.hop_s));
    }
    const FitFormats& format = formats.front();
    const double active = activeExperts(request.config.text);
    for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
        const int64_t hops = hop_ps[static_cast<size_t>(cpu)] + hop_ps[static_cast<size_t>(d)];
        int64_t sum = 0;
        int64_t away = 0;
        layer_ps.push_back(0);
        experts_away_ps.push_back(0);
        for (size_t i = 0; i < static_cast<size_t>(layers); ++i) {
            const int64_t all = format.expert_weights[i];
            const auto read = static_cast<int64_t>(active * static_cast<double>(all));
            sum += readPs(format.layer_bytes[i] - all + read, d) +
                   picoseconds(devices[static_cast<size_t>(d)].rates.layer_overhead_s);
            away += all > 0 ? readPs(read, cpu) - readPs(read, d) + hops : 0;
            layer_ps.push_back(sum);
            experts_away_ps.push_back(away);
        }
    }
}

// --- time ---------------------------------------------------------------------------------------

int64_t FitModel::readPs(int64_t bytes, int device) const {
    const FitDevice& d = devices[static_cast<size_t>(device)];
    return picoseconds(
        static_cast<double>(bytes) /
        (bandwidthShare(d.as_card, formats.front().has_blocks) * d.rates.read_bytes_per_s));
}

int64_t FitModel::headPs(int device) const {
    return readPs(formats.front().bytes[FitHead], device) +
           readPs(formats.front().bytes[FitNorm], device);
}

int64_t FitModel::projectionPs(int device) const {
    return readPs(formats.front().bytes[FitProjection], device);
}

int64_t FitModel::mediaPs(FitBlock tower, int place, const FitFormats& format) const {
    const FitDevice& device = devices[static_cast<size_t>(computePlace(place))];
    const double flops = tower == FitVision ? imageFlops(request.config, request.image_tokens)
                                            : 10 * audioFlopsPerSecond(request.config);
    double time = flops / (towerShare(device.as_card) * device.rates.flops) +
                  towerFixedSeconds(device.id, tower == FitVision);
    if (place == disk) {
        time += static_cast<double>(format.bytes[tower]) /
                devices[static_cast<size_t>(disk)].rates.read_bytes_per_s;
    }
    return picoseconds(time);
}

double FitModel::tokenSeconds(const FitCandidate& c) const {
    int64_t time = headPs(c.place[FitHead]) + projectionPs(c.place[FitProjection]);
    int before = -1;
    for (int d = 0, from = 0; d <= gpus; ++d) {
        const int to =
            d < gpus ? std::max(from, c.split[static_cast<size_t>(d)]) : std::max(from, layers);
        if (to > from) {
            const auto row = static_cast<size_t>(d) * (static_cast<size_t>(layers) + 1) +
                             static_cast<size_t>(from);
            const auto count = static_cast<size_t>(to - from);
            time += layer_ps[row + count] - layer_ps[row] +
                    (before >= 0 ? hop_ps[static_cast<size_t>(d)] : 0);
            if (d < gpus) {
                const auto away = static_cast<size_t>(c.experts_away[static_cast<size_t>(d)]);
                time += experts_away_ps[row + away] - experts_away_ps[row];
            }
            before = d;
        }
        from = to;
    }
    if (before >= 0 && before != c.place[FitHead]) {
        time += hop_ps[static_cast<size_t>(c.place[FitHead])];
    }
    return static_cast<double>(time) * 1e-12;
}

// --- bytes --------------------------------------------------------------------------------------

int FitModel::layerPlace(const FitCandidate& c, int layer) const {
    for (int g = 0; g < gpus; ++g) {
        if (layer < c.split[static_cast<size_t>(g)]) {
            return g;
        }
    }
    return cpu;
}

void FitModel::placeDependents(FitCandidate& c) const {
    c.place[FitNorm] = c.place[FitHead];
    c.place[FitProjection] = layers > 0 ? layerPlace(c, 0) : c.place[FitHead];
}

void FitModel::addProjection(const FitFormats& format, FitShare& share) const {
    share.bytes += format.bytes[FitProjection] + format.adapter[FitProjection];
    share.adapter_scratch = std::max(share.adapter_scratch, format.scratch[FitProjection]);
    share.duties.has_ple_projection = format.bytes[FitProjection] > 0;
}

void FitModel::shares(const FitCandidate& c, std::vector<FitShare>& out) const {
    using Duty = DeviceDuties::Tower;
    const FitFormats& format = formats[c.format];
    out.assign(devices.size(), FitShare());
    FitShare& host = out[static_cast<size_t>(cpu)];
    host.bytes = format.host_adapter;
    host.adapter_scratch = format.host_scratch;
    // Towers on disk visit the CPU one at a time, and so do their adapters.
    int64_t visit = 0;
    int64_t adapter_visit = 0;
    for (const FitBlock b : {FitVision, FitAudio, FitPerLayerTable, FitTable, FitHead}) {
        const int place = c.place[b];
        FitShare& share = out[static_cast<size_t>(computePlace(place))];
        share.bytes += format.adapter[b];
        share.adapter_scratch = std::max(share.adapter_scratch, format.scratch[b]);
        if (place != disk) {
            share.bytes += format.bytes[b];
        } else if (b == FitVision || b == FitAudio) {
            visit = std::max(visit, format.bytes[b]);
            share.bytes -= format.travelling_adapter[b];
            adapter_visit = std::max(adapter_visit, format.travelling_adapter[b]);
        }
        const Duty duty = format.bytes[b] == 0 ? Duty::None
                          : place == disk      ? Duty::Visiting
                                               : Duty::Resident;
        if (b == FitVision) {
            share.duties.vision = duty;
        } else if (b == FitAudio) {
            share.duties.audio = duty;
        } else if (b == FitHead) {
            share.bytes += format.bytes[FitNorm] + format.adapter[FitNorm];
            share.adapter_scratch = std::max(share.adapter_scratch, format.scratch[FitNorm]);
            share.duties.has_head = format.bytes[FitHead] > 0;
        }
    }
    host.bytes += visit + adapter_visit;
    if (layers == 0) {
        addProjection(format, out[static_cast<size_t>(c.place[FitHead])]);
    }
}

int64_t FitModel::scratch(int device, const DeviceDuties& duties) const {
    using Duty = DeviceDuties::Tower;
    if (duties.layers == 0 && !duties.has_head && !duties.has_ple_projection &&
        duties.vision == Duty::None && duties.audio == Duty::None && !duties.has_experts) {
        return 0;
    }
    const DeviceId id = devices[static_cast<size_t>(device)].id;
    const bool is_card = id.kind == DeviceId::Kind::Cuda;
    const size_t index =
        (((static_cast<size_t>(duties.vision) * 3 + static_cast<size_t>(duties.audio)) * 2 +
          (duties.has_head ? 1 : 0)) *
             2 +
         (duties.has_ple_projection ? 1 : 0)) *
            4 +
        (duties.has_experts ? 2 : 0) + (duties.layers > 0 ? 1 : 0);
    int64_t& known = scratch_[is_card ? 1 : 0][index];
    if (known >= 0) {
        return known;
    }
    if (request.duty_bytes) {
        DeviceDuties first = duties;
        first.layers = duties.layers > 0 ? 1 : 0;
        const int64_t bytes = saturated(request.duty_bytes(shape_, id.kind, first));
        known = bytes - (first.layers > 0 ? layer_table_bytes_ : 0); // the spans have it
        return known;
    }
    known = 0;
    if (duties.layers > 0) {
        for (const auto& [any, bytes] : scratchBytes(request, shape_, {id})) {
            known = saturated(bytes);
        }
    }
    return known;
}

int64_t FitModel::need(
    const FitFormats& format, int device, const FitShare& share, int from, int to, int away) const {
    DeviceDuties duties = share.duties;
    duties.layers = to - from;
    const int behind = from + away; // of the experts that leave
    const int64_t left_out = format.expert_bytes[static_cast<size_t>(behind)] -
                             format.expert_bytes[static_cast<size_t>(from)];
    const int64_t adapter_scratch =
        std::max({share.adapter_scratch, format.span_scratch[span(from, to)],
                  format.expert_scratch[span(from + away, to)]});
    const int64_t bytes = share.bytes + adapter_scratch + format.span_bytes[span(from, to)] -
                          left_out + scratch(device, duties);
    return bytes > 0 ? bytes + devices[static_cast<size_t>(device)].context : 0;
}

void FitModel::addExperts(const FitFormats& format, int from, int to, FitShare& share) const {
    share.bytes += format.expert_bytes[static_cast<size_t>(to)] -
                   format.expert_bytes[static_cast<size_t>(from)];
    share.adapter_scratch = std::max(share.adapter_scratch, format.expert_scratch[span(from, to)]);
    share.duties.has_experts = share.duties.has_experts || to > from;
}

std::vector<int64_t> FitModel::needs(const FitCandidate& c) const {
    std::vector<FitShare> share;
    shares(c, share);
    const FitFormats& format = formats[c.format];
    if (layers > 0) {
        addProjection(format, share[static_cast<size_t>(layerPlace(c, 0))]);
    }
    std::vector<int64_t> out(devices.size(), 0);
    for (int d = 0, from = 0; d <= gpus; ++d) {
        const int to =
            d < gpus ? std::max(from, c.split[static_cast<size_t>(d)]) : std::max(from, layers);
        const int away = d < gpus ? c.experts_away[static_cast<size_t>(d)] : 0;
        addExperts(format, from, from + away, share[static_cast<size_t>(cpu)]);
        out[static_cast<size_t>(d)] =
            need(format, d, share[static_cast<size_t>(d)], from, to, away);
        from = to;
    }
    return out;
}

int64_t FitModel::excess(const std::vector<int64_t>& needs) const {
    int64_t over = 0;
    for (size_t d = 0; d < needs.size(); ++d) {
        over += std::max<int64_t>(0, needs[d] - devices[d].limit);
    }
    return over + hostExcess(needs);
}

int64_t FitModel::hostExcess(const std::vector<int64_t>& needs) const {
    if (host_limit == kFitNoLimit) {
        return 0;
    }
    int64_t sum = 0;
    for (size_t d = 0; d < needs.size(); ++d) {
        const DeviceId::Kind kind = devices[d].id.kind;
        sum += kind == DeviceId::Kind::Cpu || kind == DeviceId::Kind::Sim ? needs[d] : 0;
    }
    return std::max<int64_t>(0, sum - host_limit);
}

} // namespace engine
