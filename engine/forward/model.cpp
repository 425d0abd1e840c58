// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/model.h"

#include "engine/families/gemma4/names.h"
#include "engine/forward/bind.h"
#include "engine/forward/media_encoders.h"
#include "engine/forward/memory/device_roles.h"
#include "engine/forward/memory/hot_experts.h"
#include "engine/forward/towers/media_embedders.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace engine {

namespace {

Model::FormatKeys formatKeysOf(const PlacementPlan& plan) {
    // FNV-1a; compared within one run of the program only.
    const auto mix = [](uint64_t& key, std::string_view bytes) {
        for (const char c : bytes) {
            key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
    };
    Model::FormatKeys keys;
    for (const TensorPlacement& row : plan.tensors) {
        const Part part = partOfName(row.tensor);
        if (part.role == PartRole::Head || part.role == PartRole::Assistant) {
            continue;
        }
        uint64_t& key = isVision(part) ? keys.vision : isAudio(part) ? keys.audio : keys.text;
        mix(key, row.tensor);
        mix(key, std::to_string(static_cast<int>(row.format)) + "/" +
                     std::to_string(row.block_size) + ";");
    }
    return keys;
}

} // namespace

Model::~Model() = default;

Result<std::unique_ptr<Model>> Model::create(ModelConfig config,
                                             const PlacementPlan& plan,
                                             WeightSource& weights,
                                             const DeviceMapping& devices,
                                             AdapterHook* adapters) {
    std::unique_ptr<Model> model(new Model());
    BoundModel& bound = model->bound_;
    bound.config = std::move(config);
    bound.devices = devices;
    bound.plan = plan;
    bound.context = std::make_unique<ComputeContext>(weights, adapters);
    bound.is_reference = plan.is_reference_precision;
    const RunShape shape = runShape(bound.config, plan);
    bound.max_rows = maxRows(bound.config, shape);
    bound.ring_rows = ringRows(bound.config, shape);
    for (const auto& [device, role] : deviceRoles(bound.config, plan)) {
        const auto it = devices.find(device);
        if (it == devices.end()) {
            return Error{ErrorCode::InvalidRequest,
                         said("the plan computes on %1, which is not open", device.toString())};
        }
        ENGINE_TRY(bound.context->addDevice(device, *it->second,
                                            layoutWorkspace(bound.config, shape, role)));
    }
    ENGINE_TRY(bindModel(bound));
    if (const TextConfig& text = bound.config.text; text.has_moe) {
        bound.expert_counts = std::make_shared<ExpertCounts>(text.num_layers, text.num_experts);
        for (const DecoderLayer& layer : bound.text.layers) {
            if (!bound.hot_experts.contains(layer.home) && HotExperts::hasRoom(plan, *layer.home)) {
                ENGINE_ASSIGN(bound.hot_experts[layer.home],
                              HotExperts::create(bound, *layer.home));
            }
        }
    }
    model->format_keys_ = formatKeysOf(plan);
    model->makeEncoders();
    return model;
}

ExpertCacheState Model::expertCache(DeviceId card) const {
    const auto hot = bound_.hot_experts.find(bound_.context->scratch(card));
    return hot == bound_.hot_experts.end() ? ExpertCacheState()
                                           : hot->second->state(*bound_.expert_counts);
}

Result<void> Model::followExperts(size_t most_bytes, const std::stop_token& stop) {
    tokens_.settle();
    for (const auto& [home, hot] : bound_.hot_experts) {
        Result<void> followed = hot->follow(*bound_.expert_counts, most_bytes, stop);
        if (!followed.has_value()) {
            dropExperts();
            return followed;
        }
    }
    return {};
}

bool Model::dropExperts() {
    tokens_.reset(); // recordings name them
    return !std::exchange(bound_.hot_experts, {}).empty();
}

void Model::makeEncoders() {
    const ModelConfig& config = bound_.config;
    if (config.hasVisionTower()) {
        encoders_[MediaKind::Image] =
            std::make_unique<PictureTowerEncoder>(bound_, vision_, format_keys_.vision);
    } else if (config.vision) {
        encoders_[MediaKind::Image] = std::make_unique<PatchEmbedder>(bound_, format_keys_.vision);
    }
    if (config.hasAudioTower()) {
        encoders_[MediaKind::Audio] =
            std::make_unique<SoundTowerEncoder>(bound_, audio_, format_keys_.audio);
    } else if (config.audio) {
        encoders_[MediaKind::Audio] = std::make_unique<FrameEmbedder>(bound_, format_keys_.audio);
    }
}

Result<void> Model::setAdapters(AdapterHook* adapters) {
    bound_.context->setAdapters(adapters);
    tokens_.reset();
    drafter_.reset();
    return bindModel(bound_);
}

Result<void> Model::checkRoom(std::span<const int32_t> ids, const KvCache& kv) const {
    const auto rows = static_cast<int64_t>(ids.size());
    if (kv.size() + rows > kv.context()) {
        return Error{ErrorCode::InvalidRequest,
                     said("the context is full: %1 tokens are held, %2 more do not fit into %3; "
                          "start a new chat, or reload with a larger --context",
                          kv.size(), rows, kv.context())};
    }
    const int64_t vocab = bound_.config.text.vocab_size;
    for (const int32_t id : ids) {
        if (id < 0 || id >= vocab) {
            return Error{ErrorCode::InvalidRequest,
                         said("token id %1 is outside the vocabulary of %2", id, vocab)};
        }
    }
    return {};
}

Result<void> Model::step(int32_t id,
                         KvCache& kv,
                         TokenChoice* choice,
                         std::vector<float>& logits,
                         const std::stop_token& stop) {
    ENGINE_TRY(checkRoom(std::span(&id, 1), kv));
    return tokens_.run(id, kv, choice, logits, stop);
}

Result<bool> Model::check(std::span<const int32_t> ids, KvCache& kv, RowChoices& choices) {
    ENGINE_TRY(checkRoom(ids, kv));
    return tokens_.check(ids, kv, choices);
}

Result<bool> Model::draftAndCheck(DraftRound& round, KvCache& kv, RowChoices& choices) {
    round.ids.assign(static_cast<size_t>(round.count) + 1, round.token);
    ENGINE_TRY(checkRoom(round.ids, kv));
    DraftStep* const step = drafter() == nullptr ? nullptr : drafter_.step(kv);
    if (step == nullptr || kv.size() == 0 ||
        static_cast<int64_t>(round.hidden.size()) != bound_.config.text.hidden_size ||
        tokens_.checksOn(kv, round.count + 1) != step->home()) {
        return false;
    }
    tokens_.settle();
    ENGINE_TRY(step->begin({round.token, round.hidden, drafter_.turn()}, round.count, kv));
    std::vector<int32_t> drafts;
    const CheckStep::Later later = {step->draftsThere(), [&]() -> Result<void> {
                                        ENGINE_TRY(step->end(round.count, drafts));
                                        if (round.when_drafted) {
                                            round.when_drafted();
                                        }
                                        return {};
                                    }};
    ENGINE_ASSIGN(const bool is_done, tokens_.check(round.ids, kv, choices, &later));
    std::copy(drafts.begin(), drafts.end(), round.ids.begin() + 1);
    return is_done;
}

Result<void> Model::forward(const ForwardInput& input,
                            KvCache& kv,
                            std::vector<float>& logits,
                            const std::stop_token& stop,
                            const HiddenObserver* observer) {
    ENGINE_TRY(checkRoom(input.ids, kv));
    if (input.ids.size() == 1 && input.logits_rows == 1 && input.features.empty() &&
        observer == nullptr && input.hidden == nullptr &&
        (input.block.empty() || input.block.front() < 0)) {
        return tokens_.run(input.ids.front(), kv, nullptr, logits, stop);
    }
    if (input.choices != nullptr) {
        tokens_.forgetSuppressed();
    }
    return decoder_.forward(input, kv, tokens_.lastRow(kv), logits, stop, observer);
}

} // namespace engine
