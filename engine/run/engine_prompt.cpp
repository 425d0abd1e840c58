// SPDX-License-Identifier: Apache-2.0
// From a request to token ids and soft tokens: template, attachments through their towers,
// placeholders expanded. Where a tower computes on the CPU and the decoder on cards, the text in
// front of the first attachment goes into the cache while the tower is at work.
#include "engine/run/engine_state.h"
#include "engine/run/media_kinds.h"
#include "engine/run/planning.h"
#include "engine/run/template_difference.h"

#include <algorithm>
#include <future>

namespace engine {

namespace {

/// Below that the decoder's turn is over before a tower has begun, and costs a call of its own.
constexpr int64_t kFewestAhead = 32;

/// A request as it was read: nothing is encoded yet.
struct RawPrompt {
    std::vector<int32_t> ids; ///< One placeholder an attachment, or all (are_ids_expanded).
    MediaParts parts;
    int64_t image_tokens = 0;
    bool are_ids_expanded = false;
};

/// The attachments' files, in the order of RawPrompt::parts, pictures first; filled by the first
/// encodeParts().
using OpenParts = std::vector<OpenMedia>;

/// Tells, once a load, where the chat template of the model's folder or of an active adapter's
/// would write another prompt.
void tellOfTemplate(const GenerateRequest& request, Loaded& target, Reply& reply) {
    if (!request.raw_ids.empty() || !request.raw_prompt.empty() || request.continues_reply) {
        return;
    }
    std::vector<std::pair<std::string, ChatTemplateText>> templates; // adapter, its template
    if (target.own_template) {
        templates.emplace_back("", *target.own_template);
    }
    for (const Loaded::ActiveAdapter& active : target.active) {
        const std::optional<ChatTemplateText>& own = active.adapter->chatTemplate();
        if (active.choice.is_enabled && own &&
            !target.told_templates.contains(active.adapter->name())) {
            ChatTemplateText& added = templates.emplace_back(active.adapter->name(), *own).second;
            added.where.insert(0, active.adapter->name() + "/");
        }
    }
    if (templates.empty()) {
        return;
    }
    const std::vector<ChatMessage> messages = chatMessages(request);
    const ChatTemplateOptions options = chatOptions(request);
    const auto segments = target.turns->render(messages, options);
    if (!segments) {
        return;
    }
    const std::string prompt = segmentsText(*segments);
    for (const auto& [adapter, own] : templates) {
        std::optional<Sentence> note = templateDifference(own, messages, options, prompt);
        if (!note) {
            continue;
        }
        reply.notes.push_back(*std::move(note));
        if (adapter.empty()) {
            target.own_template.reset();
        } else {
            target.told_templates.insert(adapter);
        }
    }
}

Result<RawPrompt> readPrompt(const GenerateRequest& request, const Loaded& target) {
    const ModelConfig& config = target.opened.config;
    RawPrompt raw;
    raw.parts = mediaParts(request);
    const MediaParts& parts = raw.parts;
    // What a model cannot take is told before any work.
    PerMedia<int64_t> items;
    for (const MediaKind kind : kMediaKinds) {
        items[kind] = static_cast<int64_t>(parts[kind].size());
        if (items[kind] > 0 && !hasTower(config, kind)) {
            return towerMissing(config, kind, mediaRow(kind).is_attached);
        }
    }
    if (!target.tokenizer.has_value() && request.raw_ids.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     said("this model has no tokenizer: give token ids")};
    }
    raw.ids = request.raw_ids;
    raw.are_ids_expanded = !raw.ids.empty();
    if (!raw.are_ids_expanded) {
        ENGINE_ASSIGN(raw.ids,
                      promptIds(request, *target.tokenizer, *target.turns, target.replies));
    }
    raw.image_tokens =
        request.image_tokens > 0 ? request.image_tokens : config.processor.image_tokens;
    if (raw.image_tokens > target.plan->image_tokens && items[MediaKind::Image] > 0) {
        return Error{
            ErrorCode::InvalidRequest,
            said("%1 image tokens were asked for; the model was loaded for at most %2, load again "
                 "with --image-tokens %3",
                 raw.image_tokens, target.plan->image_tokens, raw.image_tokens)};
    }
    if (!raw.are_ids_expanded) {
        ENGINE_TRY(checkPlaceholders(raw.ids, mediaTokens(config), items));
    }
    return raw;
}

Result<EncodedItems> encodeParts(const RawPrompt& raw,
                                 OpenParts& open,
                                 Loaded& target,
                                 const std::stop_token& stop,
                                 MediaStore::Wanted wanted = MediaStore::Wanted::Whole) {
    EncodedItems encoded;
    size_t at = 0;
    for (const MediaKind kind : kMediaKinds) {
        for (const MessagePart& part : raw.parts[kind]) {
            ENGINE_ASSIGN(MediaEncoder * encoder, encoderOf(*target.model, kind, part.text));
            if (at == open.size()) {
                ENGINE_ASSIGN(OpenMedia file, target.media.open(part, raw.image_tokens, *encoder));
                open.push_back(std::move(file));
            }
            ENGINE_ASSIGN(auto media,
                          target.media.encode(open[at], *encoder, target.adapters->fingerprint(),
                                              stop, wanted));
            open[at++].bytes = nullptr; // one file at a time in memory
            encoded[kind].push_back(std::move(media));
        }
    }
    return encoded;
}

/// Whether towers and decoder share nothing that changes while they compute: the towers that are
/// asked for lie on the CPU, all of the decoder's arithmetic and its cache on cards.
bool canEncodeBeside(const Loaded& target, const MediaParts& parts) {
    for (const MediaKind kind : kMediaKinds) {
        const MediaEncoder* const encoder = target.model->encoder(kind);
        if (!parts[kind].empty() && encoder != nullptr && !encoder->hasTower()) {
            return false;
        }
    }
    for (const TensorPlacement& row : target.plan->tensors) {
        const auto medium = mediaKind(row.part);
        if (row.part.role == PartRole::Head || isProjector(row.part) ||
            (medium && parts[*medium].empty())) {
            continue; // has no part in it; projectors run afterwards, wherever they are
        }
        const bool is_here = row.residency == Residency::Always &&
                             row.store.kind != DeviceId::Kind::Disk && row.store == row.compute;
        const bool is_on_cpu = is_here && row.compute == DeviceId::cpu();
        const bool is_on_card = is_here && row.compute.kind == DeviceId::Kind::Cuda;
        // Rows of the tables are gathered where they lie and sent.
        const bool is_table =
            row.part.role == PartRole::Embedding || row.part.role == PartRole::PerLayerTable;
        if (medium ? !is_on_cpu : !is_on_card && !(is_table && is_on_cpu)) {
            return false;
        }
    }
    return std::none_of(
        target.plan->devices.begin(), target.plan->devices.end(), [](const DevicePlan& device) {
            return device.id.kind != DeviceId::Kind::Cuda && device.parts[MemoryPart::Kv] > 0;
        });
}

/// Encodes the attachments; the text in front of the first one may get its rows beside it.
Result<EncodedItems> encodeBeside(const RawPrompt& raw,
                                  OpenParts& open,
                                  Loaded& target,
                                  GenerateTiming& timing,
                                  const std::stop_token& stop) {
    const auto first = std::find_if(raw.ids.begin(), raw.ids.end(), [&](int32_t id) {
        return std::any_of(kMediaKinds.begin(), kMediaKinds.end(), [&](MediaKind kind) {
            const MediaEncoder* const encoder = target.model->encoder(kind);
            return encoder != nullptr && id == encoder->placeholder();
        });
    });
    PreparedPrompt text;
    text.ids.assign(raw.ids.begin(), first);
    const std::string& fingerprint = target.adapters->fingerprint();
    if (first == raw.ids.end() ||
        target.generator->missingTokens(text.ids, fingerprint) < kFewestAhead ||
        !canEncodeBeside(target, raw.parts)) {
        return encodeParts(raw, open, target, stop);
    }
    auto encoding = std::async([&raw, &open, &target, &stop] {
        return encodeParts(raw, open, target, stop, MediaStore::Wanted::Tower);
    });
    const auto started = Clock::now();
    const auto prefill = target.generator->prefill(text, fingerprint, 0, stop);
    timing.prefill_s += secondsSince(started);
    const Result<EncodedItems> towers = encoding.get();
    if (!prefill.has_value()) {
        return prefill.error();
    }
    timing.ahead_tokens = prefill->computed_tokens;
    if (!towers.has_value()) {
        return towers.error();
    }
    return encodeParts(raw, open, target, stop); // what the towers gave is found; projectors
}

/// Ids that are expanded already: runs of placeholders are the media, in order.
Result<PreparedPrompt>
findMedia(RawPrompt raw, EncodedItems encoded, const PerMedia<MediaTokens>& tokens) {
    PreparedPrompt prompt;
    prompt.ids = std::move(raw.ids);
    prompt.media = std::move(encoded);
    PerMedia<int64_t> next;
    for (size_t i = 0; i < prompt.ids.size();) {
        const int32_t id = prompt.ids[i];
        // Without media a placeholder is an ordinary (pad) row, as generated ones are.
        const auto* const kind =
            std::find_if(kMediaKinds.begin(), kMediaKinds.end(), [&](MediaKind one) {
                return id == tokens[one].placeholder && !prompt.media[one].empty();
            });
        if (kind == kMediaKinds.end()) {
            ++i;
            continue;
        }
        size_t end = i;
        while (end < prompt.ids.size() && prompt.ids[end] == id) {
            ++end;
        }
        const auto& media = prompt.media[*kind];
        const int64_t item = next[*kind]++;
        const auto count = static_cast<int64_t>(end - i);
        if (item >= static_cast<int64_t>(media.size()) ||
            media[static_cast<size_t>(item)]->tokens != count) {
            return Error{ErrorCode::InvalidRequest,
                         said("the ids hold a run of %1 %2 placeholders as item %3; the attached "
                              "media do not give that many soft tokens",
                              count, mediaName(*kind), item)};
        }
        prompt.spans.push_back({*kind, item, static_cast<int64_t>(i), count});
        i = end;
    }
    for (const MediaKind kind : kMediaKinds) {
        if (next[kind] != static_cast<int64_t>(prompt.media[kind].size())) {
            return Error{ErrorCode::InvalidRequest,
                         said("more media are attached than the ids have placeholders for")};
        }
    }
    return prompt;
}

} // namespace

Result<MediaEncoder*> encoderOf(const Model& model, MediaKind kind, const std::string& file) {
    if (MediaEncoder* encoder = model.encoder(kind)) {
        return encoder;
    }
    return towerMissing(model.config(), kind, file);
}

Result<PreparedPrompt> Engine::Impl::preparePrompt(const GenerateRequest& request,
                                                   Reply& reply,
                                                   const std::stop_token& stop,
                                                   bool may_compute_ahead) {
    Loaded& target = *loaded;
    ENGINE_ASSIGN(RawPrompt raw, readPrompt(request, target));
    tellOfTemplate(request, target, reply);
    OpenParts open;
    ENGINE_ASSIGN(EncodedItems encoded, may_compute_ahead
                                            ? encodeBeside(raw, open, target, reply.timing, stop)
                                            : encodeParts(raw, open, target, stop));
    PerMedia<std::vector<int64_t>> counts;
    for (const MediaKind kind : kMediaKinds) {
        for (const auto& media : encoded[kind]) {
            counts[kind].push_back(media->tokens);
            reply.timing.*mediaRow(kind).seconds += media->seconds;
            reply.notes.insert(reply.notes.end(), media->notes.begin(), media->notes.end());
        }
    }
    const PerMedia<MediaTokens> tokens = mediaTokens(target.opened.config);
    if (raw.are_ids_expanded) {
        return findMedia(std::move(raw), std::move(encoded), tokens);
    }
    PreparedPrompt prompt;
    ENGINE_ASSIGN(ExpandedPrompt expanded, expandMedia(raw.ids, tokens, counts));
    prompt.ids = std::move(expanded.ids);
    prompt.spans = std::move(expanded.spans);
    prompt.media = std::move(encoded);
    return prompt;
}

} // namespace engine
