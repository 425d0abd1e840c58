// SPDX-License-Identifier: Apache-2.0
#include "app/cli/fetch_report.h"

#include "app/cli/output.h"
#include "engine/base/paths.h"
#include "engine/base/sentence_english.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <cmath>

#include "models/preview_plan.h"

namespace cli {

using models::hub::FetchPlan;
using models::hub::FetchProgress;
using models::hub::PlannedFile;
using nlohmann::ordered_json;

namespace {

using State = models::hub::SnapshotStore::Found::State;

const char* stateName(State state) {
    switch (state) {
    case State::Missing:
        return "missing";
    case State::Partial:
        return "partial";
    case State::Blob:
    case State::Whole:
        return "present";
    case State::Unchecked:
        return "unchecked";
    case State::Foreign:
        return "foreign";
    }
    return "";
}

std::string duration(double seconds) {
    const auto whole = static_cast<int64_t>(std::llround(seconds));
    if (whole >= 3600) {
        return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
    }
    return whole >= 60 ? std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s"
                       : std::to_string(whole) + " s";
}

ordered_json headJson(const FetchPlan& plan) {
    return {{"id", plan.request.address.id},
            {"revision", plan.request.address.revision},
            {"commit", plan.commit},
            {"folder", engine::utf8Of(plan.modelPath())},
            {"total_bytes", plan.total_bytes}};
}

} // namespace

ordered_json fetchPlanJson(const FetchPlan& plan, const PreviewOutcome& preview) {
    ordered_json out = headJson(plan);
    out["present_bytes"] = plan.present_bytes;
    out["missing_bytes"] = plan.missingBytes();
    out["free_bytes"] = plan.free_bytes;
    out["has_room"] = models::hub::checkRoom(plan).has_value();
    ordered_json& files = out["files"] = ordered_json::array();
    for (const PlannedFile& planned : plan.files) {
        files.push_back({{"name", planned.file.name},
                         {"bytes", planned.file.size_bytes},
                         {"present_bytes", planned.found.bytes},
                         {"state", stateName(planned.found.state)},
                         {planned.file.is_large ? "sha256" : "git_sha1", planned.file.etag}});
    }
    ordered_json& left_out = out["left_out"] = ordered_json::array();
    for (const auto& file : plan.left_out) {
        left_out.push_back({{"name", file.name}, {"bytes", file.size_bytes}});
    }
    if (plan.gguf.has_value()) {
        ordered_json& quantizations = out["quantizations"] = ordered_json::array();
        for (const auto& model : plan.gguf->models) {
            quantizations.push_back({{"name", model.quantization}, {"bytes", model.bytes()}});
        }
        out["quantization"] = plan.gguf->models[plan.gguf->chosen].quantization;
    }
    if (preview.has_value() && preview->has_value()) {
        const ModelPreview& model = **preview;
        out["fits"] = model.plan.fits;
        out["bytes_by_dtype"] = model.bytes_by_dtype;
        out["model"] = summaryJson(model.summary);
        out["plan"] = planJson(model.plan);
    } else if (preview.has_value()) {
        out["fits"] = nullptr;
        out["plan_error"] = errorJson(preview->error());
    }
    return out;
}

/// The quantizations of a repository of GGUF files, with all that comes along, and which is taken.
static std::string quantizations(const FetchPlan& plan, const PreviewOutcome& preview) {
    if (!plan.gguf.has_value()) {
        return {};
    }
    const auto& listed = plan.gguf->models;
    uint64_t beside = 0;
    for (const auto& file : {plan.gguf->projector, plan.gguf->assistant}) {
        beside += file.has_value() ? file->size_bytes : 0;
    }
    std::string out = "  taken is " + listed[plan.gguf->chosen].quantization;
    out += listed.size() == 1
               ? "\n"
               : "; another: belfry-cli get " + plan.request.address.id + ":QUANTIZATION\n";
    const std::vector<bool> fits = preview.has_value() && preview->has_value()
                                       ? models::modelsThatFit(*plan.gguf, (*preview)->plan)
                                       : std::vector<bool>();
    for (size_t i = 0; i < listed.size(); ++i) {
        out += (i == plan.gguf->chosen ? "  * " : "    ") + listed[i].quantization + "  " +
               byteText(listed[i].bytes() + beside) +
               (fits.empty() ? ""
                : fits[i]    ? "  fits"
                             : "  does not fit as it is") +
               "\n";
    }
    return out;
}

/// A line for each file that is left out because of its name.
static std::string oddNames(const FetchPlan& plan) {
    std::string out;
    for (const auto& file : plan.left_out) {
        if (file.problem != nullptr) {
            out += "  left out: " + engine::inQuotes(file.name) + ", which " + file.problem + "\n";
        }
    }
    return out;
}

std::string fetchPlanText(const FetchPlan& plan, const PreviewOutcome& preview) {
    std::string out = plan.request.address.id + "@" + plan.request.address.revision + " (" +
                      plan.commit.substr(0, 12) + ")\n";
    out += quantizations(plan, preview);
    for (const PlannedFile& planned : plan.files) {
        out += "  " + planned.file.name + "  " + byteText(planned.file.size_bytes);
        if (planned.found.bytes > 0) {
            out += planned.found.bytes == planned.file.size_bytes
                       ? "  (here)"
                       : "  (" + byteText(planned.found.bytes) + " here)";
        }
        out += "\n";
    }
    if (!plan.left_out.empty()) {
        uint64_t bytes = 0;
        for (const auto& file : plan.left_out) {
            bytes += file.size_bytes;
        }
        out += "  left out: " + std::to_string(plan.left_out.size()) + " files, " +
               byteText(bytes) + " (--all fetches them)\n";
        out += oddNames(plan);
    }
    out += "to fetch: " + byteText(plan.missingBytes()) + " of " + byteText(plan.total_bytes);
    if (plan.free_bytes > 0) {
        out += "; free on that disk: " + byteText(plan.free_bytes);
    }
    out += "\ninto: " + engine::utf8Of(plan.model_folder) + "\n";
    if (const auto room = models::hub::checkRoom(plan); !room.has_value()) {
        out += room.error().message + "\n";
    }
    if (preview.has_value() && preview->has_value()) {
        const ModelPreview& model = **preview;
        out += std::string("on this computer: ") +
               (model.plan.fits ? "fits" : "does not fit as it is") + "\n\n" + planText(model.plan);
    } else if (preview.has_value()) {
        out += "on this computer: not used: " + preview->error().message + "\n";
    }
    return out;
}

std::string fetchHeadline(const FetchPlan& plan, const PreviewOutcome& preview) {
    return plan.request.address.id + " (" + plan.commit.substr(0, 12) +
           "): " + std::to_string(plan.files.size()) + " files, " + byteText(plan.total_bytes) +
           (plan.present_bytes > 0 ? ", " + byteText(plan.present_bytes) + " here already" : "") +
           "\n" + quantizations(plan, preview) + oddNames(plan);
}

ordered_json fetchedJson(const FetchPlan& plan, uint64_t fetched_bytes, double seconds) {
    ordered_json out = headJson(plan);
    out["files"] = plan.files.size();
    out["fetched_bytes"] = fetched_bytes;
    out["seconds"] = seconds;
    return out;
}

std::string FetchLine::text(const FetchProgress& progress) {
    constexpr std::chrono::seconds kWindow(3);
    const auto now = Clock::now();
    recent_.emplace_back(now, progress.fetched_bytes);
    while (recent_.size() > 2 && now - recent_.front().first > kWindow) {
        recent_.pop_front();
    }
    std::string text = byteText(progress.done_bytes) + " of " + byteText(progress.total_bytes) +
                       ", " + std::to_string(progress.done_files) + " of " +
                       std::to_string(progress.files) + " files";
    if (!progress.waiting.isEmpty()) {
        return text + "; trying again: " + engine::inEnglish(progress.waiting).substr(0, 120);
    }
    const std::chrono::duration<double> span = now - recent_.front().first;
    const auto bytes = static_cast<double>(progress.fetched_bytes - recent_.front().second);
    if (span.count() < 0.5 || bytes <= 0) {
        return text;
    }
    const double rate = bytes / span.count();
    const auto left = static_cast<double>(progress.total_bytes -
                                          std::min(progress.total_bytes, progress.done_bytes));
    return text + ", " + byteText(static_cast<uint64_t>(rate)) + "/s, " + duration(left / rate) +
           " left";
}

} // namespace cli
