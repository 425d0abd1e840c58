// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_speed.h"

#include <algorithm>

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
/// Of an image and of a recording where a card computes the tower, beside arithmetic: the host's
/// part and the launches. 8 ms an image, 7 ms ten seconds on an H100.
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

double bandwidthShare(DeviceId device) {
    return device.kind == DeviceId::Kind::Cuda ? 0.85 : 0.80;
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

SpeedEstimate estimateSpeed(const PlacementPlan& plan, const SpeedInput& input) {
    const ModelConfig& config = *input.config;
    const auto layer_count = static_cast<int>(config.text.layers.size());
    std::map<DeviceId, DeviceRates> rates;
    const auto rate = [&](DeviceId id) -> const DeviceRates& {
        const auto it = rates.find(id);
        return it != rates.end()
                   ? it->second
                   : rates.emplace(id, ratesOf(findDevice(*input.devices, id), id)).first->second;
    };
    /// Seconds to bring a tensor to its compute device once.
    const auto travel = [&](const TensorPlacement& row) {
        double seconds = 0;
        if (row.store == DeviceId::disk()) {
            seconds += diskSeconds(row, rate(row.store));
        }
        if (row.compute.isGpu()) {
            seconds += static_cast<double>(row.bytes) / rate(row.compute).link_bytes_per_s;
        }
        return seconds;
    };

    double decode = 0;
    double prefill = 0;       // per token, arithmetic
    double prefill_chunk = 0; // per chunk, weights' travel
    std::map<DeviceId, double> visits;
    DeviceId vision;
    DeviceId audio;
    double vision_visit = 0;
    double audio_visit = 0;
    std::vector<DeviceId> layer_device(static_cast<size_t>(layer_count));
    std::optional<DeviceId> head_device;
    const int last_owner = config.text.lastKvOwner();
    const auto per_byte = [&](const TensorPlacement& row) {
        return static_cast<double>(row.bytes) /
               (bandwidthShare(row.compute) * rate(row.compute).read_bytes_per_s);
    };
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const TensorPlacement& row = plan.tensors[i];
        const int index = input.resolution->tensors[i].index;
        const ExpectedTensor* tensor =
            index < 0 ? nullptr : &(*input.tensors)[static_cast<size_t>(index)];
        const bool is_table = tensor != nullptr && tensor->kind == TensorKind::Embedding;
        const bool is_head_row =
            tensor == nullptr || (is_table && !input.resolution->has_own_head &&
                                  tensor->part.role == PartRole::Embedding);
        const bool is_streamed = row.store != row.compute && row.residency == Residency::Stream;
        if (is_table && !is_head_row) {
            continue; // one row per token
        }
        if (tensor != nullptr && tensor->tower != Tower::Language) {
            const bool is_visit = row.store != row.compute && row.residency != Residency::Always;
            (tensor->tower == Tower::Vision ? vision_visit : audio_visit) +=
                is_visit ? travel(row) : 0.0;
            if (tensor->kind == TensorKind::Linear) {
                (tensor->tower == Tower::Vision ? vision : audio) = row.compute;
            }
            continue;
        }
        double read = static_cast<double>(row.bytes);
        if (tensor != nullptr && tensor->kind == TensorKind::Experts) {
            read *= static_cast<double>(config.text.top_k_experts) /
                    static_cast<double>(std::max<int64_t>(1, config.text.num_experts));
        }
        decode += read / (bandwidthShare(row.compute) * rate(row.compute).read_bytes_per_s) +
                  (is_streamed ? travel(row) : 0.0);
        if (is_head_row) {
            head_device = row.compute;
            continue;
        }
        if (tensor == nullptr || tensor->kind != TensorKind::Linear) {
            continue;
        }
        const int layer = tensor->layer;
        if (layer >= 0 && layer < layer_count && tensor->use == TensorUse::Query) {
            layer_device[static_cast<size_t>(layer)] = row.compute;
        }
        // Prompt tokens other than the last stop after the K and V of the last owner.
        const bool is_kv = tensor->use == TensorUse::Key || tensor->use == TensorUse::Value;
        if (layer < last_owner || (layer == last_owner && is_kv)) {
            prefill += 2 * static_cast<double>(tensor->numElements()) /
                       (productShare(row.compute) * rate(row.compute).flops);
            if (row.compute.kind == DeviceId::Kind::Cuda && tensor->use == TensorUse::MlpDown) {
                prefill += kCardRowBytes /
                           (bandwidthShare(row.compute) * rate(row.compute).read_bytes_per_s);
            }
            prefill_chunk += (is_streamed ? travel(row) : 0.0) + per_byte(row);
        }
    }
    for (int i = 0; i < layer_count; ++i) {
        const DeviceId device = layer_device[static_cast<size_t>(i)];
        decode += rate(device).layer_overhead_s;
        if (i > 0 && device != layer_device[static_cast<size_t>(i) - 1]) {
            decode += rate(device).hop_s;
        }
    }
    for (const TransferPerToken& row : plan.transfers_per_token) {
        if (row.what == Travel::StreamedAdapter) {
            const bool is_from_disk = row.from.kind == DeviceId::Kind::Disk;
            decode +=
                static_cast<double>(row.bytes) /
                (is_from_disk ? rate(row.from).read_bytes_per_s : rate(row.to).link_bytes_per_s);
        }
    }
    if (head_device.has_value() && layer_count > 0 && *head_device != layer_device.back()) {
        decode += rate(*head_device).hop_s;
    }

    SpeedEstimate estimate;
    estimate.decode_tokens_per_s = decode > 0 ? 1.0 / decode : 0.0;
    const auto chunk = static_cast<double>(std::max<int64_t>(1, plan.prefill_chunk));
    const double per_token = std::max(prefill, prefill_chunk / chunk);
    estimate.prefill_tokens_per_s = per_token > 0 ? 1.0 / per_token : 0.0;
    if (config.vision.has_value()) {
        estimate.image_s =
            imageFlops(config, plan.image_tokens) / (towerShare(vision) * rate(vision).flops) +
            vision_visit + towerFixedSeconds(vision, true);
    }
    if (config.audio.has_value()) {
        // The visit and what is fixed are paid once per clip; spread over ten seconds of audio.
        estimate.audio_s_per_s =
            audioFlopsPerSecond(config) / (towerShare(audio) * rate(audio).flops) +
            (audio_visit + towerFixedSeconds(audio, false)) / 10.0;
    }
    return estimate;
}

} // namespace engine
