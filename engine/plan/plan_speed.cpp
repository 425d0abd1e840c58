// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_speed.h"

#include "engine/api/formats.h"

#include <algorithm>
#include <optional>

namespace engine {

namespace {

// Where nothing was measured: the constants of PLANNER.md.
constexpr double kCpuRead = 60e9;
constexpr double kCpuFlops = 0.92e12;
constexpr double kGpuRead = 360e9;
constexpr double kGpuFlops = 25.6e12;
constexpr double kGpuLayerOverhead = 25e-6;
constexpr double kLink = 12e9;
constexpr double kDiskRead = 2e9;
/// Bytes of a 16-bit checkpoint that become 4-bit weights, reading not counted: on two cores of
/// servers 0.8e9 (other work beside) to 2.2e9.
constexpr double kMadePerSecond = 1.5e9;
/// What one row of a prompt costs a card in a layer beside products (attention, norms, what is
/// written and read in between), as bytes at the rate of decoding: 0.2 us on an H100, from 217k
/// tokens/s (E2B) and 82k (E4B) at 4096 tokens.
constexpr double kCardRowBytes = 520e3;
/// Seconds for an image and for a recording where a card computes the tower, beside arithmetic: the
/// host's part and the launches. 8 ms an image, 7 ms ten seconds on an H100.
constexpr double kCardImage = 6e-3;
constexpr double kCardRecording = 6.5e-3;
constexpr double kHop = 20e-6;
constexpr double kAudioTokensPerSecond = 25.0;

const DeviceInfo* findDevice(const std::vector<DeviceInfo>& devices, DeviceId id) {
    for (const DeviceInfo& device : devices) {
        if (device.id == id) {
            return &device;
        }
    }
    return nullptr;
}

} // namespace

DeviceRates ratesOf(const DeviceInfo* device, DeviceId id) {
    DeviceRates rates = device == nullptr ? DeviceRates() : device->rates;
    const auto fill = [](double& value, double fallback) {
        if (!(value > 0)) {
            value = fallback;
        }
    };
    const bool is_cuda = id.kind == DeviceId::Kind::Cuda;
    fill(rates.read_bytes_per_s, is_cuda                  ? kGpuRead
                                 : id == DeviceId::disk() ? kDiskRead
                                                          : kCpuRead);
    fill(rates.flops, is_cuda ? kGpuFlops : kCpuFlops);
    fill(rates.link_bytes_per_s, is_cuda ? kLink : kCpuRead);
    fill(rates.layer_overhead_s, is_cuda ? kGpuLayerOverhead : 0.0);
    fill(rates.hop_s, kHop);
    return rates;
}

double diskSeconds(const TensorPlacement& row, const DeviceRates& disk) {
    return static_cast<double>(row.readBytes()) / disk.read_bytes_per_s +
           static_cast<double>(row.made_from_bytes) / kMadePerSecond;
}

double activeExperts(const TextConfig& text) {
    return static_cast<double>(text.top_k_experts) /
           static_cast<double>(std::max<int64_t>(1, text.num_experts));
}

double bandwidthShare(DeviceId device, bool has_blocks) {
    return device.kind == DeviceId::Kind::Cuda ? 0.85 : has_blocks ? 0.65 : 0.80;
}

double towerFixedSeconds(DeviceId device, bool is_image) {
    return device.kind != DeviceId::Kind::Cuda ? 0.0 : is_image ? kCardImage : kCardRecording;
}

double productShare(DeviceId device) {
    return device.kind == DeviceId::Kind::Cuda ? 0.50 : 0.65;
}

double towerShare(DeviceId device) {
    return device.kind == DeviceId::Kind::Cuda ? 0.50 : 0.65;
}

double imageFlops(const ModelConfig& config, int64_t image_tokens) {
    if (!config.vision.has_value()) {
        return 0;
    }
    const VisionConfig& vision = *config.vision;
    const auto hidden = static_cast<double>(vision.hidden_size);
    const auto layers = static_cast<double>(vision.num_layers);
    const double patches = static_cast<double>(image_tokens) *
                           static_cast<double>(vision.pooling_kernel * vision.pooling_kernel);
    const double weights =
        layers * (4 * hidden * hidden + 3 * hidden * static_cast<double>(vision.intermediate_size));
    const auto patch_width = static_cast<double>(3 * vision.patch_size * vision.patch_size);
    const auto out = static_cast<double>(config.text.hidden_size);
    return 2 * weights * patches + layers * 4 * patches * patches * hidden +
           2 * patches * patch_width * hidden +
           2 * static_cast<double>(image_tokens) * hidden * out;
}

double audioFlopsPerSecond(const ModelConfig& config) {
    if (!config.audio.has_value()) {
        return 0;
    }
    const AudioConfig& audio = *config.audio;
    const auto hidden = static_cast<double>(audio.hidden_size);
    // 16 hidden^2 in the two feed-forwards, 4 in attention, 3 in the light convolution.
    const double per_token =
        2 * static_cast<double>(audio.num_layers) * 23 * hidden * hidden +
        2 * hidden * static_cast<double>(audio.output_size) +
        2 * static_cast<double>(audio.output_size) * static_cast<double>(config.text.hidden_size);
    const double bins = static_cast<double>(audio.mel_bins);
    const double convolutions =
        2 * 9 * static_cast<double>(audio.conv_channels[0]) * bins / 2 * 50 +
        2 * 9 * static_cast<double>(audio.conv_channels[0]) *
            static_cast<double>(audio.conv_channels[1]) * bins / 4 * 25;
    return per_token * kAudioTokensPerSecond + convolutions;
}

namespace {

template <typename Key>
double sumOf(const std::map<Key, double>& parts) {
    double sum = 0;
    for (const auto& [key, seconds] : parts) {
        sum += seconds;
    }
    return sum;
}

std::vector<DeviceSeconds> listOf(const std::map<DeviceId, double>& parts) {
    std::vector<DeviceSeconds> list;
    for (const auto& [device, seconds] : parts) {
        if (seconds > 0) {
            list.push_back({device, seconds});
        }
    }
    return list;
}

SpeedBound largestOf(const std::map<SpeedBound, double>& parts) {
    const auto largest =
        std::max_element(parts.begin(), parts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return largest == parts.end() || largest->second <= 0 ? SpeedBound::Unknown : largest->first;
}

/// What a plan's tensors, layers and transfers cost, added up in the order in which they are asked
/// for.
class SpeedSums {
public:
    SpeedSums(const PlacementPlan& plan, const SpeedInput& input)
        : plan_(plan), input_(input), text_(input.config->text), layer_device_(text_.layers.size()),
          expert_device_(text_.layers.size()), copied_(copiedShare()) {
        findHomes();
    }

    void addTensor(size_t row_index);
    void addLayers();
    void addTransfers();
    [[nodiscard]] SpeedEstimate estimate();

private:
    const DeviceRates& rate(DeviceId id) {
        const auto it = rates_.find(id);
        return it != rates_.end()
                   ? it->second
                   : rates_.emplace(id, ratesOf(findDevice(*input_.devices, id), id)).first->second;
    }
    double readRate(DeviceId device, bool has_blocks = false) {
        return bandwidthShare(device, has_blocks) * rate(device).read_bytes_per_s;
    }
    /// Seconds to bring a tensor to its compute device once: from the files, and over the link.
    double fromDisk(const TensorPlacement& row) {
        return row.store == DeviceId::disk() ? diskSeconds(row, rate(row.store)) : 0.0;
    }
    double overLink(const TensorPlacement& row, DeviceId device) {
        return device.isGpu() ? static_cast<double>(row.bytes) / rate(device).link_bytes_per_s
                              : 0.0;
    }
    double travel(const TensorPlacement& row) { return fromDisk(row) + overLink(row, row.compute); }
    /// Share of the experts in main memory that have copies on the cards of their layers, and so of
    /// the choices that fall on these, where all are asked for alike.
    [[nodiscard]] double copiedShare() const;
    void findHomes();
    void addToTower(const ExpectedTensor& tensor, const TensorPlacement& row);
    /// share: of the weights, what a row is multiplied with.
    void addToPrompt(const ExpectedTensor& tensor,
                     const TensorPlacement& row,
                     bool is_streamed,
                     double share);

    struct TowerSums {
        DeviceId device;
        double visit = 0; ///< Seconds until its weights are where they compute, once per use.
    };

    const PlacementPlan& plan_;
    const SpeedInput& input_;
    const TextConfig& text_;
    std::map<DeviceId, DeviceRates> rates_;
    void spend(SpeedBound bound, DeviceId device, double seconds) {
        decode_[bound] += seconds;
        decode_by_[device] += seconds;
    }
    /// What bounds a device that reads weights.
    static SpeedBound readBound(DeviceId device, bool has_blocks) {
        return device.kind == DeviceId::Kind::Cuda ? SpeedBound::CardMemory
               : has_blocks                        ? SpeedBound::Cores
                                                   : SpeedBound::MainMemory;
    }

    std::map<SpeedBound, double> decode_;        ///< Seconds per token.
    std::map<DeviceId, double> decode_by_;       ///< The same.
    std::map<DeviceId, double> prefill_;         ///< Per token, arithmetic.
    std::map<SpeedBound, double> prefill_chunk_; ///< Per chunk, weights read and on their way.
    TowerSums vision_, audio_;
    std::vector<DeviceId> layer_device_;
    std::vector<std::optional<DeviceId>> expert_device_; ///< By layer; nothing: no experts.
    std::optional<DeviceId> head_device_;
    std::optional<DeviceId> borrower_; ///< The card that rows of the host's layers go to.
    double copied_;
};

void SpeedSums::findHomes() {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
        const int index = input_.resolution->tensors[i].index;
        const ExpectedTensor* const tensor =
            index < 0 ? nullptr : &(*input_.tensors)[static_cast<size_t>(index)];
        if (tensor == nullptr || tensor->use != TensorUse::Query || tensor->layer < 0 ||
            tensor->layer >= static_cast<int>(layer_device_.size())) {
            continue;
        }
        const DeviceId home = plan_.tensors[i].compute;
        layer_device_[static_cast<size_t>(tensor->layer)] = home;
        if (home.kind == DeviceId::Kind::Cuda && !(borrower_.has_value() && *borrower_ < home)) {
            borrower_ = home;
        }
    }
}

double SpeedSums::copiedShare() const {
    double copies = 0;
    double experts = 0;
    for (const DevicePlan& device : plan_.devices) {
        copies += static_cast<double>(device.parts[MemoryPart::Experts]);
    }
    for (size_t i = 0; copies > 0 && i < plan_.tensors.size(); ++i) {
        const int index = input_.resolution->tensors[i].index;
        const bool is_experts =
            index >= 0 && (*input_.tensors)[static_cast<size_t>(index)].kind == TensorKind::Experts;
        experts += is_experts && plan_.tensors[i].compute == DeviceId::cpu()
                       ? static_cast<double>(plan_.tensors[i].bytes)
                       : 0.0;
    }
    return copies > 0 ? std::min(1.0, copies / experts) : 0.0;
}

void SpeedSums::addTensor(size_t row_index) {
    const TensorPlacement& row = plan_.tensors[row_index];
    const int index = input_.resolution->tensors[row_index].index;
    const ExpectedTensor* tensor =
        index < 0 ? nullptr : &(*input_.tensors)[static_cast<size_t>(index)];
    if (tensor != nullptr && tensor->part.role == PartRole::Assistant) {
        return; // an estimate without drafts
    }
    const bool is_table = tensor != nullptr && tensor->kind == TensorKind::Embedding;
    const bool is_head_row = tensor == nullptr || (is_table && !input_.resolution->has_own_head &&
                                                   tensor->part.role == PartRole::Embedding);
    const bool is_streamed = row.store != row.compute && row.residency == Residency::Stream;
    if (is_table && !is_head_row) {
        return; // one row per token
    }
    if (tensor != nullptr && tensor->tower != Tower::Language) {
        addToTower(*tensor, row);
        return;
    }
    const bool is_experts = tensor != nullptr && tensor->kind == TensorKind::Experts;
    const double share = is_experts ? activeExperts(text_) : 1.0;
    const double read = share * static_cast<double>(row.bytes);
    const bool is_host_expert = is_experts && row.compute == DeviceId::cpu();
    const double copied = is_host_expert ? copied_ : 0.0;
    const bool has_blocks = hasBlocks(row.format);
    spend(readBound(row.compute, has_blocks), row.compute,
          (1 - copied) * read / readRate(row.compute, has_blocks));
    if (is_streamed) {
        spend(SpeedBound::Disk, row.store, fromDisk(row));
        spend(SpeedBound::Link, row.store, overLink(row, row.compute));
    }
    if (is_experts && static_cast<size_t>(tensor->layer) < expert_device_.size()) {
        const DeviceId home = layer_device_[static_cast<size_t>(tensor->layer)];
        spend(SpeedBound::CardMemory, home, copied * read / readRate(home));
        expert_device_[static_cast<size_t>(tensor->layer)] = row.compute;
    }
    if (is_head_row) {
        head_device_ = row.compute;
    } else if (tensor->kind == TensorKind::Linear || is_experts) {
        addToPrompt(*tensor, row, is_streamed, share);
    }
}

void SpeedSums::addToTower(const ExpectedTensor& tensor, const TensorPlacement& row) {
    TowerSums& tower = tensor.tower == Tower::Vision ? vision_ : audio_;
    const bool is_visit = row.store != row.compute && row.residency != Residency::Always;
    tower.visit += is_visit ? travel(row) : 0.0;
    if (tensor.kind == TensorKind::Linear) {
        tower.device = row.compute;
    }
}

void SpeedSums::addToPrompt(const ExpectedTensor& tensor,
                            const TensorPlacement& row,
                            bool is_streamed,
                            double share) {
    const int layer = tensor.layer;
    // Prompt tokens other than the last stop after the K and V of the last owner.
    const int last_owner = text_.lastKvOwner();
    const bool is_kv = tensor.use == TensorUse::Key || tensor.use == TensorUse::Value;
    if (layer > last_owner || (layer == last_owner && !is_kv)) {
        return;
    }
    // Experts in the host's memory are lent to the card of their layer, and layers there to the
    // first card that has some (LentRows).
    const DeviceId home = layer < 0 ? row.compute : layer_device_[static_cast<size_t>(layer)];
    const bool is_expert_away =
        tensor.kind == TensorKind::Experts && home.kind == DeviceId::Kind::Cuda;
    const bool is_layer_away = layer >= 0 && home == DeviceId::cpu() && borrower_.has_value();
    const bool is_lent = row.store == DeviceId::cpu() && row.compute == DeviceId::cpu() &&
                         (is_expert_away || is_layer_away);
    const DeviceId device = !is_lent ? row.compute : is_expert_away ? home : *borrower_;
    prefill_[device] += 2 * share * static_cast<double>(tensor.numElements()) /
                        (productShare(device) * rate(device).flops);
    // Once a layer: what a row costs beside products.
    if (device.kind == DeviceId::Kind::Cuda && tensor.use == TensorUse::MlpDown) {
        prefill_[device] += kCardRowBytes / readRate(device);
    }
    const auto bytes = static_cast<double>(row.bytes);
    if (is_lent || is_streamed) {
        prefill_chunk_[SpeedBound::Link] += overLink(row, device);
        prefill_chunk_[SpeedBound::Disk] += fromDisk(row);
    }
    prefill_chunk_[readBound(device, false)] += bytes / readRate(device);
}

void SpeedSums::addLayers() {
    for (size_t i = 0; i < layer_device_.size(); ++i) {
        spend(SpeedBound::Launches, layer_device_[i], rate(layer_device_[i]).layer_overhead_s);
        if (i > 0 && layer_device_[i] != layer_device_[i - 1]) {
            spend(SpeedBound::Launches, layer_device_[i], rate(layer_device_[i]).hop_s);
        }
        if (const auto experts = expert_device_[i];
            experts.value_or(layer_device_[i]) != layer_device_[i]) {
            spend(SpeedBound::Launches, layer_device_[i],
                  rate(*experts).hop_s + rate(layer_device_[i]).hop_s); // there and back
        }
    }
}

void SpeedSums::addTransfers() {
    for (const TransferPerToken& row : plan_.transfers_per_token) {
        if (row.what == Travel::StreamedAdapter) {
            const bool is_from_disk = row.from.kind == DeviceId::Kind::Disk;
            spend(is_from_disk ? SpeedBound::Disk : SpeedBound::Link, row.from,
                  static_cast<double>(row.bytes) / (is_from_disk ? rate(row.from).read_bytes_per_s
                                                                 : rate(row.to).link_bytes_per_s));
        }
    }
    if (head_device_.has_value() && !layer_device_.empty() &&
        *head_device_ != layer_device_.back()) {
        spend(SpeedBound::Launches, *head_device_, rate(*head_device_).hop_s);
    }
}

SpeedEstimate SpeedSums::estimate() {
    const ModelConfig& config = *input_.config;
    SpeedEstimate estimate;
    const double decode = sumOf(decode_);
    estimate.decode_tokens_per_s = decode > 0 ? 1.0 / decode : 0.0;
    estimate.decode_bound = largestOf(decode_);
    estimate.decode_by = listOf(decode_by_);
    const auto chunk = static_cast<double>(std::max<int64_t>(1, plan_.prefill_chunk));
    const double arithmetic = sumOf(prefill_);
    const double travel = sumOf(prefill_chunk_) / chunk;
    const double per_token = std::max(arithmetic, travel);
    estimate.prefill_tokens_per_s = per_token > 0 ? 1.0 / per_token : 0.0;
    if (arithmetic > travel) {
        estimate.prefill_bound = SpeedBound::Cores;
        estimate.prefill_by = listOf(prefill_);
    } else {
        estimate.prefill_bound = largestOf(prefill_chunk_);
    }
    if (config.vision.has_value()) {
        estimate.image_s = imageFlops(config, plan_.image_tokens) /
                               (towerShare(vision_.device) * rate(vision_.device).flops) +
                           vision_.visit + towerFixedSeconds(vision_.device, true);
    }
    if (config.audio.has_value()) {
        // The visit and what is fixed are paid once per clip; spread over ten seconds of audio.
        estimate.audio_s_per_s =
            audioFlopsPerSecond(config) / (towerShare(audio_.device) * rate(audio_.device).flops) +
            (audio_.visit + towerFixedSeconds(audio_.device, false)) / 10.0;
    }
    return estimate;
}

} // namespace

SpeedEstimate estimateSpeed(const PlacementPlan& plan, const SpeedInput& input) {
    SpeedSums sums(plan, input);
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        sums.addTensor(i);
    }
    sums.addLayers();
    sums.addTransfers();
    return sums.estimate();
}

} // namespace engine
