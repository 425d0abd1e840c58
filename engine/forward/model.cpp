// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/model.h"

#include "engine/api/error_cause.h"
#include "engine/families/gemma4/names.h"
#include "engine/forward/bind.h"
#include "engine/forward/device_roles.h"
#include "engine/forward/media_encoders.h"

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
    model->format_keys_ = formatKeysOf(plan);
    if (bound.config.vision) {
        model->pictures_ = std::make_unique<PictureEncoder>(*model);
    }
    if (bound.config.audio) {
        model->sounds_ = std::make_unique<SoundEncoder>(*model);
    }
    return model;
}

Result<void> Model::setAdapters(AdapterHook* adapters) {
    bound_.context->setAdapters(adapters);
    tokens_.reset();
    return bindModel(bound_);
}

Result<void> Model::check(std::span<const int32_t> ids, const KvCache& kv) const {
    const auto rows = static_cast<int64_t>(ids.size());
    if (kv.size() + rows > kv.context()) {
        return Error{ErrorCode::InvalidRequest,
                     said("the context is full: %1 tokens are held, %2 more do not fit into %3; "
                          "start a new chat, or reload with a larger --context",
                          kv.size(), rows, kv.context()),
                     {},
                     causeOf(cause::ContextFull{kv.size(), rows, kv.context()})};
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
    ENGINE_TRY(check(std::span(&id, 1), kv));
    return tokens_.run(id, kv, choice, logits, stop);
}

Result<void> Model::forward(const ForwardInput& input,
                            KvCache& kv,
                            std::vector<float>& logits,
                            const std::stop_token& stop,
                            const HiddenObserver* observer) {
    ENGINE_TRY(check(input.ids, kv));
    if (input.ids.size() == 1 && input.logits_rows == 1 && input.features.empty() &&
        observer == nullptr && input.hidden == nullptr &&
        (input.block.empty() || input.block.front() < 0)) {
        return tokens_.run(input.ids.front(), kv, nullptr, logits, stop);
    }
    return decoder_.forward(input, kv, tokens_.lastRow(kv), logits, stop, observer);
}

} // namespace engine
