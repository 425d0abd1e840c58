// SPDX-License-Identifier: Apache-2.0
// What benchmarks ask of the loaded model beside times: counted work, the shape of media in its
// prompt, a random adapter that fits it.
#include "engine/forward/media_encoders.h"
#include "engine/lora/random_adapter.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "engine/run/engine_state.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace engine {

static_assert(Engine::kTowerSampleRate == kAudioSampleRate);

namespace {

/// Every linear of the decoder and the head once, in their formats, of experts as many as a token
/// goes to; of the tables only one row, which does not count.
double decodeBytes(const OpenedModel& opened, const PlacementPlan& plan) {
    std::unordered_set<std::string_view> experts;
    for (const ExpectedTensor& tensor : opened.tensors) {
        if (tensor.kind == TensorKind::Experts) {
            experts.insert(tensor.name);
        }
    }
    const TextConfig& text = opened.config.text;
    const double active = static_cast<double>(text.top_k_experts) /
                          static_cast<double>(std::max<int64_t>(1, text.num_experts));
    double bytes = 0.0;
    const bool has_own_head = plan.find({PartRole::Head}) != nullptr;
    for (const auto& row : plan.tensors) {
        const PartRole role = row.part.role;
        const bool is_gather_only =
            role == PartRole::PerLayerTable || (role == PartRole::Embedding && has_own_head);
        if (!isMedia(row.part) && !is_gather_only && role != PartRole::Assistant) {
            bytes += static_cast<double>(row.bytes) * (experts.contains(row.tensor) ? active : 1.0);
        }
    }
    return bytes;
}

/// Two per weight of the layers below the KV cut, of the owner at the cut only keys and values.
double prefillFlops(const TextConfig& text) {
    double flops = 0.0;
    const int cut = text.lastKvOwner();
    const auto hidden = static_cast<double>(text.hidden_size);
    const int64_t experts = text.has_moe ? text.top_k_experts * text.moe_intermediate_size : 0;
    for (int i = 0; i <= cut; ++i) {
        const auto& layer = text.layers[static_cast<size_t>(i)];
        const auto q = static_cast<double>(text.num_heads * layer.head_dim);
        const auto kv = static_cast<double>(layer.num_kv_heads * layer.head_dim);
        const double kv_weights =
            layer.is_kv_shared ? 0.0 : (layer.k_is_v ? 1.0 : 2.0) * hidden * kv;
        flops += 2.0 * kv_weights;
        if (i < cut) {
            flops += 2.0 * (2.0 * hidden * q +
                            3.0 * hidden * static_cast<double>(layer.intermediate_size + experts) +
                            2.0 * hidden * static_cast<double>(text.ple_size));
        }
    }
    return flops + 2.0 * hidden * static_cast<double>(text.ple_size * text.num_layers);
}

Error noTower(bool is_vision) {
    return Error{ErrorCode::InvalidRequest, is_vision ? said("this model has no vision tower")
                                                      : said("this model has no audio tower")};
}

} // namespace

Result<WorkCounts> Engine::countWork() const {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    const ModelConfig& config = target->opened.config;
    WorkCounts counts;
    counts.vocab_size = config.text.vocab_size;
    counts.decode_bytes = decodeBytes(target->opened, *target->plan);
    counts.prefill_flops = prefillFlops(config.text);
    return counts;
}

Result<MediumShape> Engine::imageShape(int64_t width, int64_t height, int64_t image_tokens) const {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    const ModelConfig& config = target->opened.config;
    if (!config.vision) {
        return noTower(true);
    }
    const VisionConfig& vision = *config.vision;
    ENGINE_ASSIGN(const ImageSize size,
                  targetSize(height, width, image_tokens, vision.patch_size, vision.pooling_kernel,
                             vision.position_table_size));
    MediumShape shape;
    shape.begin_id = config.boi_token_id;
    shape.soft_id = config.image_token_id;
    shape.end_id = config.eoi_token_id;
    shape.soft_tokens = imageTokens(size, vision.patch_size, vision.pooling_kernel);
    return shape;
}

Result<MediumShape> Engine::audioShape(int64_t samples) const {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    const ModelConfig& config = target->opened.config;
    if (!config.audio) {
        return noTower(false);
    }
    MediumShape shape;
    shape.begin_id = config.boa_token_id;
    shape.soft_id = config.audio_token_id;
    shape.end_id = config.eoa_token_id;
    shape.soft_tokens = soundTokens(*config.audio, samples);
    return shape;
}

Result<double> Engine::measurePreparation(const MessagePart& part, int64_t image_tokens) const {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    const ModelConfig& config = target->opened.config;
    const auto started = Clock::now();
    if (part.kind == MessagePart::Kind::Audio) {
        ENGINE_ASSIGN(const DecodedAudio sound, readAudioFile(part.text));
        if (config.hasAudioTower()) {
            ENGINE_TRY(logMel(sound.samples));
        }
    } else if (!config.vision) {
        return noTower(true);
    } else {
        ENGINE_ASSIGN(const DecodedImage image, readImageFile(part.text));
        ENGINE_TRY(preprocessImage(image, image_tokens, config.vision->patch_size,
                                   config.vision->pooling_kernel,
                                   config.vision->position_table_size));
    }
    return secondsSince(started);
}

Result<void> Engine::writeRandomAdapter(const std::filesystem::path& folder,
                                        int64_t rank,
                                        AdapterTargets targets) const {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    return engine::writeRandomAdapter(folder, target->opened.adaptable(), rank, targets, 1);
}

} // namespace engine
