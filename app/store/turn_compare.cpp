// SPDX-License-Identifier: Apache-2.0
#include "app/store/turn_compare.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace app {

namespace {

auto fields(const engine::AdapterChoice& value) {
    return std::tie(value.folder, value.strength, value.is_enabled);
}

auto fields(const ui::Attachment& value) {
    return std::tie(value.kind, value.file, value.hash, value.name, value.bytes, value.tokens,
                    value.cut_start_s, value.cut_length_s);
}

auto fields(const engine::GenerateTiming& value) {
    return std::tie(value.prefill_tokens, value.reused_tokens, value.prefill_s, value.decode_tokens,
                    value.decode_s, value.time_to_first_token_s, value.image_s, value.audio_s);
}

auto fields(const engine::DraftReport& value) {
    return std::tie(value.rounds, value.drafted, value.accepted, value.gain, value.is_off,
                    value.draft_s, value.check_s);
}

bool isSameReport(const std::optional<engine::DraftReport>& a,
                  const std::optional<engine::DraftReport>& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || fields(*a) == fields(*b));
}

auto fields(const engine::SamplingParameters& value) {
    return std::tie(value.temperature, value.top_k, value.top_p, value.min_p,
                    value.repetition_penalty, value.seed, value.max_tokens);
}

template <typename T>
bool isSameList(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& x, const T& y) { return fields(x) == fields(y); });
}

} // namespace

bool isSameTurn(const ui::ChatTurn& a, const ui::ChatTurn& b) {
    const auto plain = [](const ui::ChatTurn& turn) {
        return std::tie(turn.id, turn.role, turn.is_cut, turn.seed, turn.finish_reason, turn.time,
                        turn.model, turn.notes, turn.text, turn.thinking, turn.thinking_s,
                        turn.version);
    };
    const auto is_same_tail = [](const std::vector<ui::ChatTurn>& x,
                                 const std::vector<ui::ChatTurn>& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), isSameTurn);
    };
    return plain(a) == plain(b) &&
           std::equal(a.versions.begin(), a.versions.end(), b.versions.begin(), b.versions.end(),
                      is_same_tail) &&
           fields(a.timing) == fields(b.timing) && isSameReport(a.drafts, b.drafts) &&
           isSameList(a.attachments, b.attachments) && isSameList(a.adapters, b.adapters);
}

bool isSameContent(const ui::ChatDocument& a, const ui::ChatDocument& b) {
    return a.system_prompt == b.system_prompt && a.is_thinking == b.is_thinking &&
           a.image_tokens == b.image_tokens && a.uses_drafts == b.uses_drafts &&
           a.model == b.model && fields(a.sampling) == fields(b.sampling) &&
           isSameList(a.adapters, b.adapters) &&
           std::equal(a.turns.begin(), a.turns.end(), b.turns.begin(), b.turns.end(), isSameTurn);
}

} // namespace app
