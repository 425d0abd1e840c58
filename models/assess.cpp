// SPDX-License-Identifier: Apache-2.0
#include "models/assess.h"

#include "engine/base/paths.h"

#include <utility>

namespace models {

using engine::phrase;
using engine::said;
using engine::Sentence;

namespace {

/// Sum of weights, cache and all else, on all devices.
uint64_t totalBytes(const engine::PlacementPlan& plan) {
    uint64_t sum = 0;
    for (const engine::DevicePlan& device : plan.devices) {
        sum += device.parts.total();
    }
    return sum;
}

} // namespace

EngineAssessor::EngineAssessor(engine::EngineOptions options) : options_(std::move(options)) {
    options_.rates_file.clear(); // nobody looks at the rates: nothing is measured for them
}

void EngineAssessor::assess(Entry& entry, const std::stop_token& stop) {
    const bool is_readable = entry.form == Form::Safetensors || entry.form == Form::Gguf ||
                             (entry.form == Form::None && entry.state == State::Incomplete);
    const bool has_headers = entry.path != entry.repository;
    if (entry.kind != Kind::Model || entry.state == State::Unusable || !is_readable ||
        !has_headers || stop.stop_requested()) {
        return;
    }
    if (engine_ == nullptr) {
        engine_ = std::make_unique<engine::Engine>(options_);
    }
    const auto summary = engine_->readHeaders(engine::utf8Of(entry.path));
    if (!summary.has_value()) {
        // What is not there yet may be why: then that is what there is to tell.
        if (entry.state == State::Incomplete &&
            summary.error().code == engine::ErrorCode::InvalidFile) {
            return;
        }
        const bool is_unknown = summary.error().code == engine::ErrorCode::Unsupported;
        entry.state = State::Unusable;
        entry.trouble = Trouble{
            is_unknown ? Trouble::Reason::NotSupported : Trouble::Reason::Broken,
            summary.error().told(),
            is_unknown ? phrase("get a Gemma 4 model: belfry-cli get google/gemma-4-E2B-it")
                       : phrase("get the model again"),
        };
        return;
    }
    entry.variant = summary->variant;
    entry.parameters = summary->parameters;
    if (entry.form != Form::Gguf || entry.precision.empty()) {
        const bool is_packed = !summary->quantization.empty() && summary->quantization != "none";
        entry.precision = is_packed ? summary->quantization : summary->dtype;
    }
    if (summary->is_header_only && entry.state == State::Usable) {
        entry.state = State::Incomplete;
        const std::vector<Sentence>& warnings = summary->warnings;
        entry.trouble = Trouble{Trouble::Reason::FilesMissing,
                                warnings.empty() ? Sentence(phrase("is not whole"))
                                                 : said("is not whole: %1", warnings.front()),
                                phrase("get the model again")};
    }
    if (entry.state == State::Usable) {
        entry.notes = summary->warnings;
    }
    plan(entry, stop);
}

void EngineAssessor::plan(Entry& entry, const std::stop_token& stop) {
    engine::LoadRequest request;
    request.model = engine::utf8Of(entry.path);
    request.projector = engine::utf8Of(entry.projector);
    request.device_map.clear(); // what the programs do unasked: the card, else the processor
    const auto as_stored = engine_->plan(request);
    if (!as_stored.has_value() && !entry.projector.empty()) {
        entry.state = State::Unusable; // the towers are another model's, or damaged
        entry.trouble = Trouble{Trouble::Reason::Broken, as_stored.error().told(),
                                phrase("get the model again")};
        return;
    }
    if (!as_stored.has_value() || stop.stop_requested()) {
        return; // Unknown
    }
    entry.needs_bytes = totalBytes(*as_stored);
    if (as_stored->fits) {
        entry.fit = Fit::Fits;
        return;
    }
    request.device_map = "fit"; // moves parts, then takes 4 bits, then a smaller head
    const auto fitted = engine_->plan(request);
    if (fitted.has_value()) {
        entry.fit = fitted->fits ? Fit::FitsWithChange : Fit::DoesNotFit;
        entry.change = fitted->fits ? "--device-map fit" : "";
    }
}

} // namespace models
