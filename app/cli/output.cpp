// SPDX-License-Identifier: Apache-2.0
#include "app/cli/output.h"

#include "engine/api/formats.h"
#include "engine/run/engine.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace cli {

using nlohmann::ordered_json;

namespace {

const char* residencyName(engine::Residency residency) {
    switch (residency) {
    case engine::Residency::Always:
        return "always";
    case engine::Residency::OnUse:
        return "on_use";
    case engine::Residency::Stream:
        return "stream";
    }
    return "always";
}

ordered_json partsJson(const engine::PartBytes& parts) {
    ordered_json out = ordered_json::object();
    for (const engine::MemoryPart part : engine::kMemoryParts) {
        out[engine::memoryPartName(part)] = parts[part];
    }
    return out;
}

ordered_json issuesJson(const std::vector<engine::PlanIssue>& issues) {
    ordered_json out = ordered_json::array();
    for (const engine::PlanIssue& issue : issues) {
        ordered_json row = {{"code", issue.code},
                            {"key", issue.key},
                            {"message", engine::inEnglish(issue)},
                            {"suggestions", engine::inEnglish(issue.suggestions)}};
        if (issue.line > 0) {
            row["line"] = issue.line;
            row["column"] = issue.column;
        }
        if (!issue.modules.empty()) {
            row["modules"] = issue.modules;
        }
        out.push_back(row);
    }
    return out;
}

std::string padded(std::string text, size_t width) {
    // Counts bytes: names here are ASCII paths.
    if (text.size() < width) {
        text.append(width - text.size(), ' ');
    }
    return text;
}

std::string groupDigits(int64_t value) {
    std::string digits = std::to_string(value);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
        digits.insert(static_cast<size_t>(at), " ");
    }
    return digits;
}

} // namespace

std::string byteText(uint64_t bytes) {
    constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
    auto value = static_cast<double>(bytes);
    size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < kUnits.size()) {
        value /= 1024.0;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
    return text.data();
}

ordered_json errorJson(const engine::Error& error) {
    ordered_json details = ordered_json::object();
    for (const auto& [key, value] : error.details) {
        details[key] = value;
    }
    return {{"error",
             {{"code", engine::errorCodeName(error.code)},
              {"message", error.message},
              {"details", details}}}};
}

ordered_json summaryJson(const engine::ModelSummary& summary) {
    ordered_json modules = ordered_json::array();
    for (const engine::ModuleSummary& module : summary.modules) {
        modules.push_back({{"name", module.name},
                           {"kind", module.kind},
                           {"parameters", module.parameters},
                           {"bytes", module.bytes}});
    }
    ordered_json adapters = ordered_json::array();
    for (const engine::AdapterSummary& adapter : summary.adapters) {
        ordered_json unmatched = ordered_json::array();
        for (const engine::UnusedKey& unused : adapter.unmatched) {
            unmatched.push_back(
                {{"key", unused.key}, {"reason", engine::inEnglish(unused.told())}});
        }
        ordered_json norms = ordered_json::object();
        for (const auto& [tensor, norm] : adapter.norms) {
            norms[tensor] = norm;
        }
        ordered_json groups = ordered_json::array();
        for (const auto& group : adapter.groups) {
            groups.push_back({{"kind", group.kind},
                              {"rank", group.rank},
                              {"alpha", group.alpha},
                              {"scaling", group.scaling},
                              {"modules", group.modules}});
        }
        ordered_json effect = nullptr;
        if (adapter.effect.isMeasured()) {
            effect = {{"differs_from_base", adapter.effect.differs()},
                      {"logits", adapter.effect.logits},
                      {"vision", adapter.effect.vision},
                      {"audio", adapter.effect.audio}};
        }
        adapters.push_back({{"folder", adapter.folder},
                            {"name", adapter.name},
                            {"tensors", adapter.tensors},
                            {"by_tower",
                             {{"language", adapter.language},
                              {"vision", adapter.vision},
                              {"audio", adapter.audio},
                              {"other", adapter.other}}},
                            {"active", adapter.active},
                            {"inert", adapter.inert},
                            {"ignored", adapter.ignored},
                            {"modules_by_tower",
                             {{"language", adapter.language_modules},
                              {"vision", adapter.vision_modules},
                              {"audio", adapter.audio_modules}}},
                            {"matched_modules", adapter.matched_modules},
                            {"unmatched", unmatched},
                            {"targeted_but_missing", adapter.missing},
                            {"rank", adapter.rank},
                            {"alpha", adapter.alpha},
                            {"scaling", adapter.scaling},
                            {"groups", groups},
                            {"kind", adapter.kind},
                            {"bytes", adapter.bytes},
                            {"delta_norms", norms},
                            {"effect", effect},
                            {"notes", engine::inEnglish(adapter.notes)}});
    }
    return {{"architecture", summary.architecture},
            {"variant", summary.variant},
            {"parameters", summary.parameters},
            {"bytes", summary.bytes},
            {"dtype", summary.dtype},
            {"quantization", summary.quantization},
            {"max_context", summary.max_context},
            {"has_vision", summary.has_vision},
            {"has_audio", summary.has_audio},
            {"is_header_only", summary.is_header_only},
            {"modules", modules},
            {"adapters", adapters},
            {"warnings", engine::inEnglish(summary.warnings)}};
}

/// A device that is not there, the disk, or memory of unknown size has no limit.
bool isBounded(const engine::DevicePlan& device) {
    return device.limit != std::numeric_limits<uint64_t>::max();
}

ordered_json planJson(const engine::PlacementPlan& plan) {
    ordered_json devices = ordered_json::array();
    for (const engine::DevicePlan& device : plan.devices) {
        devices.push_back(
            {{"id", device.id.toString()},
             {"description", device.description},
             {"capacity", device.capacity},
             {"free", device.free},
             {"limit", isBounded(device) ? ordered_json(device.limit) : ordered_json(nullptr)},
             {"predicted", device.parts.total()},
             {"parts", partsJson(device.parts)}});
    }
    ordered_json modules = ordered_json::array();
    for (const engine::ModulePlacement& module : plan.modules) {
        modules.push_back({{"name", module.name},
                           {"store", module.store.toString()},
                           {"compute", module.compute.toString()},
                           {"residency", residencyName(module.residency)},
                           {"format", engine::formatName(module.format)},
                           {"bytes", module.bytes},
                           {"is_mixed", module.is_mixed}});
    }
    ordered_json transfers = ordered_json::array();
    for (const engine::TransferPerToken& t : plan.transfers_per_token) {
        transfers.push_back({{"from", t.from.toString()},
                             {"to", t.to.toString()},
                             {"bytes", t.bytes},
                             {"what", engine::inEnglish(t.what)}});
    }
    return {{"fits", plan.fits},
            {"context", plan.context},
            {"left_out_bytes", plan.left_out_bytes},
            {"prefill_chunk", plan.prefill_chunk},
            {"devices", devices},
            {"modules", modules},
            {"errors", issuesJson(plan.errors)},
            {"warnings", issuesJson(plan.warnings)},
            {"notes", engine::inEnglish(plan.notes)},
            {"transfers_per_token", transfers},
            {"estimate",
             {{"decode_tokens_per_s", plan.estimate.decode_tokens_per_s},
              {"decode_bound", engine::speedBoundName(plan.estimate.decode_bound)},
              {"prefill_tokens_per_s", plan.estimate.prefill_tokens_per_s},
              {"prefill_bound", engine::speedBoundName(plan.estimate.prefill_bound)},
              {"image_s", plan.estimate.image_s},
              {"audio_s_per_s", plan.estimate.audio_s_per_s}}}};
}

ordered_json memoryJson(const std::vector<engine::DeviceMemory>& memory) {
    ordered_json out = ordered_json::object();
    for (const engine::DeviceMemory& device : memory) {
        ordered_json row = partsJson(device.measured);
        row["total"] = device.measured.total();
        row["predicted"] = partsJson(device.predicted);
        if (const engine::ExpertCacheState& experts = device.experts; experts.places > 0) {
            row["experts"] = {{"copies", experts.places},
                              {"of", experts.experts},
                              {"asked", experts.asked},
                              {"hits", experts.hits},
                              {"hits_with_a_gib_more", experts.hits_with_more}};
        }
        out[device.id.toString()] = row;
    }
    return out;
}

static ordered_json draftsJson(const engine::DraftReport& drafts) {
    return {{"rounds", drafts.rounds},
            {"drafted", drafts.drafted},
            {"accepted", drafts.accepted},
            {"tokens_per_round", drafts.tokensPerRound()},
            {"acceptance", drafts.acceptance()},
            {"gain", drafts.gain},
            {"draft_s", drafts.draft_s},
            {"check_s", drafts.check_s},
            {"is_off", drafts.is_off}};
}

std::string draftsText(const engine::DraftReport& drafts) {
    std::array<char, 160> text{};
    if (drafts.rounds > 0 && drafts.gain > 0.0) {
        std::snprintf(text.data(), text.size(),
                      "drafts: %.2f tokens a round, %.0f %% accepted, %.2f times the speed without",
                      drafts.tokensPerRound(), 100.0 * drafts.acceptance(), drafts.gain);
    } else if (drafts.rounds > 0) { // no token came by itself to compare with
        std::snprintf(text.data(), text.size(), "drafts: %.2f tokens a round, %.0f %% accepted",
                      drafts.tokensPerRound(), 100.0 * drafts.acceptance());
    }
    if (!drafts.is_off) {
        return text.data();
    }
    if (drafts.rounds > 0) {
        return std::string(text.data()) +
               "; drafts are off: they do not pay for this text on this placement";
    }
    std::snprintf(text.data(), text.size(),
                  "drafts are off: on this placement they reached %.2f times the speed without",
                  drafts.gain);
    return text.data();
}

ordered_json replyJson(const engine::Reply& reply, double load_s) {
    const engine::GenerateTiming& timing = reply.timing;
    ordered_json json = {{"reply", reply.text},
                         {"thinking", reply.thinking},
                         {"token_ids", reply.token_ids},
                         {"input_ids", reply.input_ids},
                         {"finish_reason", reply.finish_reason},
                         {"seed", reply.seed},
                         {"notes", engine::inEnglish(reply.notes)},
                         {"timing",
                          {{"load_s", load_s},
                           {"prefill_tokens", timing.prefill_tokens},
                           {"reused_tokens", timing.reused_tokens},
                           {"ahead_tokens", timing.ahead_tokens},
                           {"prefill_s", timing.prefill_s},
                           {"decode_tokens", timing.decode_tokens},
                           {"decode_s", timing.decode_s},
                           {"image_s", timing.image_s},
                           {"audio_s", timing.audio_s},
                           {"time_to_first_token_s", timing.time_to_first_token_s}}}};
    if (reply.drafts.has_value()) {
        json["drafts"] = draftsJson(*reply.drafts);
    }
    if (!reply.host.empty()) {
        json["host"] = reply.host;
    }
    for (const engine::ToolCall& call : reply.tool_calls) {
        json["tool_calls"].push_back(
            {{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    }
    return json;
}

std::string summaryText(const engine::ModelSummary& summary) {
    std::string out = summary.folder + "\n" + summary.architecture + ", " + summary.variant + ", " +
                      groupDigits(summary.parameters) + " parameters, " + byteText(summary.bytes) +
                      (summary.dtype.empty() ? "" : ", " + summary.dtype) +
                      ", quantization: " + summary.quantization + "\n";
    out += std::string("takes text") + (summary.has_vision ? ", pictures" : "") +
           (summary.has_audio ? ", sound" : "") + "; up to " + groupDigits(summary.max_context) +
           " tokens of context\n";
    if (summary.is_header_only) {
        out += (summary.weights_unread.isEmpty() ? "the weight files are absent"
                                                 : engine::inEnglish(summary.weights_unread)) +
               ": planning works, loading does not\n";
    }
    out += "\n" + padded("module", 58) + padded("kind", 28) + padded("parameters", 16) + "bytes\n";
    for (const engine::ModuleSummary& module : summary.modules) {
        out += padded(module.name, 58) + padded(module.kind, 28) +
               padded(groupDigits(module.parameters), 16) + byteText(module.bytes) + "\n";
    }
    for (const engine::AdapterSummary& adapter : summary.adapters) {
        out += "\nadapter " + adapter.name + ": " + adapter.kind + ", rank " +
               std::to_string(adapter.rank) + ", " + std::to_string(adapter.tensors) +
               " tensors (language " + std::to_string(adapter.language) + ", vision " +
               std::to_string(adapter.vision) + ", audio " + std::to_string(adapter.audio) +
               ", other " + std::to_string(adapter.other) + "), " +
               std::to_string(adapter.matched_modules.size()) + " modules matched, " +
               byteText(adapter.bytes) + "\n";
        for (const auto& group : adapter.groups) {
            std::array<char, 96> text{};
            std::snprintf(text.data(), text.size(), "rank %lld, alpha %g, scaling %g: %lld modules",
                          static_cast<long long>(group.rank), group.alpha, group.scaling,
                          static_cast<long long>(group.modules));
            out += "  " + group.kind + ", " + text.data() + "\n";
        }
        if (adapter.effect.isMeasured()) {
            const auto part = [&](const char* name, double value) {
                std::array<char, 64> text{};
                std::snprintf(text.data(), text.size(), "%s %.3g", name, value);
                return value < 0.0 ? std::string() : std::string(text.data()) + "  ";
            };
            out +=
                adapter.effect.differs()
                    ? "  changes, of the largest value: " + part("logits", adapter.effect.logits) +
                          part("picture", adapter.effect.vision) +
                          part("sound", adapter.effect.audio) + "\n"
                    : "  changes nothing: logits, picture and sound are those of the base\n";
        }
        for (const engine::UnusedKey& unused : adapter.unmatched) {
            out.append("  not used: ").append(unused.key).append(" (");
            out.append(engine::inEnglish(unused.told())).append(")\n");
        }
        for (const std::string& module : adapter.missing) {
            out += "  targeted, but not in the file: " + module + "\n";
        }
        for (const std::string& note : engine::inEnglish(adapter.notes)) {
            out += "  note: " + note + "\n";
        }
    }
    for (const std::string& warning : engine::inEnglish(summary.warnings)) {
        out += "warning: " + warning + "\n";
    }
    return out;
}

std::string planText(const engine::PlacementPlan& plan) {
    std::string out = padded("module", 58) + padded("stored", 9) + padded("computed", 10) +
                      padded("format", 11) + "bytes\n";
    for (const engine::ModulePlacement& module : plan.modules) {
        out += padded(module.name, 58) + padded(module.store.toString(), 9) +
               padded(module.compute.toString(), 10) +
               padded(engine::usualName(module.format) + (module.is_mixed ? " *" : ""), 11) +
               byteText(module.bytes) + "\n";
    }
    out += "\n";
    for (const engine::DevicePlan& device : plan.devices) {
        out += padded(device.id.toString(), 9) + "predicted " + byteText(device.parts.total());
        if (isBounded(device) && device.id != engine::DeviceId::disk()) {
            out += " of " + byteText(device.limit);
        }
        const char* separator = "  (";
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            if (device.parts[part] > 0) {
                out += std::string(separator) + engine::memoryPartName(part) + " " +
                       byteText(device.parts[part]);
                separator = ", ";
            }
        }
        out += device.parts.total() > 0 ? ")\n" : "\n";
    }
    if (plan.left_out_bytes > 0) {
        out += "text only: vision and audio tower left out, " + byteText(plan.left_out_bytes) +
               " saved\n";
    }
    for (const engine::TransferPerToken& t : plan.transfers_per_token) {
        out += "per token " + t.from.toString() + " -> " + t.to.toString() + ": " +
               byteText(t.bytes) + " " + engine::inEnglish(t.what) + "\n";
    }
    const engine::SpeedEstimate& estimate = plan.estimate;
    std::array<char, 200> text{};
    std::snprintf(
        text.data(), text.size(),
        "estimate: %.1f tokens/s (%s), prefill %.0f tokens/s (%s), one image %.2f s, "
        "sound %.2f s per s\n",
        estimate.decode_tokens_per_s, engine::speedBoundName(estimate.decode_bound).data(),
        estimate.prefill_tokens_per_s, engine::speedBoundName(estimate.prefill_bound).data(),
        estimate.image_s, estimate.audio_s_per_s);
    out += text.data();
    for (const std::string& note : engine::inEnglish(plan.notes)) {
        out += "note: " + note + "\n";
    }
    const auto list = [&out](const char* label, const std::vector<engine::PlanIssue>& issues) {
        for (const engine::PlanIssue& issue : issues) {
            out += std::string(label) + " " + issue.code +
                   (issue.key.empty() ? "" : " " + issue.key) +
                   (issue.line > 0 ? " (line " + std::to_string(issue.line) + ", column " +
                                         std::to_string(issue.column) + ")"
                                   : "") +
                   ": " + engine::inEnglish(issue) + "\n";
            for (const std::string& suggestion : engine::inEnglish(issue.suggestions)) {
                out += "    " + suggestion + "\n";
            }
        }
    };
    list("warning", plan.warnings);
    list("error", plan.errors);
    out += plan.fits ? "fits\n" : "does not fit\n";
    return out;
}

} // namespace cli
