// SPDX-License-Identifier: Apache-2.0
// Headers in, plans out: inspect, plan, exportMap. Nothing is allocated on a device.
#include "engine/base/paths.h"
#include "engine/files/model_files.h"
#include "engine/lora/architecture.h"
#include "engine/plan/device_map.h"
#include "engine/plan/map_write.h"
#include "engine/run/engine_state.h"
#include "engine/run/planning.h"
#include "kernels/stage_times.h"

#include <algorithm>
#include <cmath>

namespace engine {

AdapterSummary summarizeAdapter(const Adapter& adapter) {
    const CoverageReport& coverage = adapter.coverage();
    AdapterSummary out;
    out.folder = utf8Of(adapter.folder());
    out.name = adapter.name();
    out.kind = coverage.kind;
    out.tensors = coverage.tensors;
    out.language = coverage.by_tower.language;
    out.vision = coverage.by_tower.vision;
    out.audio = coverage.by_tower.audio;
    out.other = coverage.by_tower.other;
    out.rank = coverage.rank;
    out.alpha = coverage.alpha;
    out.scaling = coverage.scaling;
    out.active = coverage.active;
    out.inert = coverage.inert;
    out.ignored = coverage.ignored;
    out.matched_modules = coverage.matched_modules;
    for (const std::string& module : coverage.matched_modules) {
        const KeyTower tower = keyTowerOf(module);
        out.language_modules += tower == KeyTower::Language ? 1 : 0;
        out.vision_modules += tower == KeyTower::Vision ? 1 : 0;
        out.audio_modules += tower == KeyTower::Audio ? 1 : 0;
    }
    for (const KeyReport& key : coverage.unmatched) {
        using Outcome = UnusedKey::Outcome;
        out.unmatched.push_back({key.key,
                                 key.key_class == KeyClass::Inert     ? Outcome::Inert
                                 : key.key_class == KeyClass::Ignored ? Outcome::Ignored
                                                                      : Outcome::Refused,
                                 key.reason});
    }
    out.missing = coverage.targeted_but_missing;
    for (const DeltaNorm& norm : coverage.norms) {
        out.norms.emplace_back(norm.tensor, norm.frobenius);
    }
    for (const ScalingGroup& group : coverage.groups) {
        out.groups.push_back({group.kind, group.rank, group.alpha, group.scaling, group.modules});
    }
    out.notes = coverage.notes;
    out.bytes = adapter.footprint().total_bytes;
    return out;
}

namespace {

/// Adds why cards are not used. Whoever could mend something is warned where that leaves the
/// machine without any card; that there simply is none is a remark, and the reason of an error.
void tellOfCards(const std::vector<CardTrouble>& troubles,
                 const std::vector<DeviceInfo>& devices,
                 PlacementPlan& plan) {
    const bool has_card = std::any_of(devices.begin(), devices.end(), [](const DeviceInfo& device) {
        return device.id.kind == DeviceId::Kind::Cuda;
    });
    const auto lacks = std::find_if(plan.errors.begin(), plan.errors.end(), [](const PlanIssue& e) {
        return e.code == "DM04" && (isDevicePreset(e.key) || e.is_about_card);
    });
    for (const CardTrouble& trouble : troubles) {
        if (lacks != plan.errors.end()) {
            lacks->reasons.push_back(trouble);
        }
        if (trouble.isProblem() && !has_card) {
            PlanIssue& warning = plan.warnings.emplace_back();
            warning.code = "DM23";
            warning.key = "cuda";
            warning.reasons.push_back(trouble);
        } else {
            plan.notes.emplace_back(trouble.words, NoteKind::Card);
        }
    }
}

} // namespace

Result<Engine::Impl::Prepared> Engine::Impl::prepare(const LoadRequest& request,
                                                     const HeldBytes& held,
                                                     const std::stop_token& stop,
                                                     bool is_plan_only) const {
    Prepared out;
    {
        const kernels::StageTimer timer("config and headers");
        ENGINE_ASSIGN(out.opened, open(request.model, request.is_text_only, request.projector));
        ENGINE_TRY(addAssistant(out.opened, request));
    }
    std::vector<AdapterFootprint> footprints;
    for (const AdapterChoice& choice : request.adapters) {
        if (is_plan_only) {
            Result<AdapterProbe> probe = probeAdapter(pathFromUtf8(adapterFolder(choice.folder)),
                                                      out.opened.config, out.opened.adaptable());
            if (probe.has_value() && probe->coverage.errors == 0) {
                footprints.push_back(std::move(probe->footprint));
                continue;
            }
            // Reading it whole tells what is wrong.
        }
        ENGINE_ASSIGN(std::shared_ptr<const Adapter> adapter,
                      openAdapter(choice.folder, out.opened, stop));
        footprints.push_back(adapter->footprint());
        out.adapters.push_back(std::move(adapter));
    }
    std::vector<DeviceInfo> devices;
    {
        const kernels::StageTimer timer("looking for cards");
        devices = machineDevices(request, *options.gpus);
    }
    for (DeviceInfo& device : devices) {
        // What simulated GPUs hold is main memory that is given back.
        for (const auto& [id, bytes] : held) {
            const bool is_sim = id.kind == DeviceId::Kind::Sim;
            if (is_sim ? device.id == DeviceId::cpu() : device.id == id) {
                device.free = std::min(device.capacity, device.free + bytes);
                if (device.granted.has_value()) {
                    *device.granted += bytes;
                }
            }
        }
    }
    const bool wants_rates = !options.rates_file.empty() && request.what_if.empty();
    if (wants_rates && !constants.has_value()) {
        // Nobody waits a second at each start of a chat for an estimate that is not shown.
        const bool is_looked_at = is_plan_only || request.device_map == "fit";
        constants = is_looked_at ? std::optional(machineConstants(pathFromUtf8(options.rates_file)))
                                 : keptConstants(pathFromUtf8(options.rates_file));
    }
    if (wants_rates && constants.has_value()) {
        for (DeviceInfo& device : devices) {
            if (device.id.kind != DeviceId::Kind::Cuda && device.id != DeviceId::disk()) {
                device.rates.read_bytes_per_s = constants->read_bytes_per_s;
                device.rates.flops = constants->flops;
            }
        }
    }
    if (wants_rates && !request.is_reference_precision) {
        out.speeds = SpeedBook(pathFromUtf8(options.rates_file).parent_path());
        out.speeds.correct(request, out.opened, devices);
    }
    const kernels::StageTimer timer("plan");
    ENGINE_ASSIGN(out.asked, planRequest(request, out.opened, devices, footprints));
    makePlanOf(request, out, is_plan_only);
    return out;
}

void Engine::Impl::makePlanOf(const LoadRequest& request,
                              Prepared& prepared,
                              bool is_plan_only) const {
    PlacementPlan plan = makePlan(prepared.asked);
    const bool has_measured_rates =
        !options.rates_file.empty() && request.what_if.empty() && constants.has_value();
    if (has_measured_rates && is_plan_only) { // of a plan that somebody looks at
        plan.notes.emplace_back(
            said("speeds are estimates from rates measured on this computer: memory is read with "
                 "%1 GB/s, products run at %2 GFLOP/s",
                 std::lround(constants->read_bytes_per_s / 1e9),
                 std::lround(constants->flops / 1e9)),
            NoteKind::Estimates);
    }
    plan.map_text = smallMapText(prepared.asked, plan.map_text);
    for (Sentence& odd : oddThings(prepared.opened)) {
        plan.notes.emplace_back(std::move(odd));
    }
    if (auto odd = is_plan_only ? prepared.opened.checkpoint->standIn(ModelText::Tokenizer)
                                : std::nullopt) {
        plan.notes.emplace_back(*std::move(odd)); // a load refuses it
    }
    if (asksForCards(request)) {
        tellOfCards(options.gpus->troubles(), prepared.asked.devices, plan);
    }
    prepared.plan = std::make_shared<const PlacementPlan>(std::move(plan));
}

Result<ModelSummary> Engine::readHeaders(const std::string& model) const {
    ENGINE_ASSIGN(const OpenedModel opened, impl_->open(model));
    return summarize(opened);
}

Result<ModelSummary> Engine::inspect(const std::string& model,
                                     const std::vector<std::string>& adapters) {
    ENGINE_ASSIGN(const OpenedModel opened, impl_->open(model));
    ModelSummary summary = summarize(opened);
    // A load would refuse a bad tokenizer: told here already. Planning works without one.
    if (opened.checkpoint->has(ModelText::Tokenizer)) {
        const Result<Tokenizer> tokenizer = Tokenizer::fromCheckpoint(*opened.checkpoint);
        if (tokenizer.has_value()) {
            summary.warnings.insert(summary.warnings.end(), tokenizer->warnings().begin(),
                                    tokenizer->warnings().end());
        } else {
            summary.warnings.push_back(tokenizer.error().told());
        }
    } else if (!model.starts_with("shape:")) {
        summary.warnings.push_back(
            said("tokenizer.json is not in the folder: planning works, loading does not"));
    }
    for (const std::string& path : adapters) {
        ENGINE_ASSIGN(const std::shared_ptr<const Adapter> adapter,
                      impl_->openAdapter(path, opened, {}));
        summary.adapters.push_back(summarizeAdapter(*adapter));
    }
    return summary;
}

Result<PlacementPlan> Engine::plan(const LoadRequest& request, const HeldBytes& held) {
    ENGINE_ASSIGN(const Impl::Prepared prepared,
                  impl_->prepare(request, held, {}, /*is_plan_only=*/true));
    return *prepared.plan;
}

Result<MapExport> Engine::exportMap(const LoadRequest& request, MapExport::Kind kind) {
    ENGINE_ASSIGN(const Impl::Prepared prepared,
                  impl_->prepare(request, HeldBytes{}, {}, /*is_plan_only=*/true));
    // Rows of a map in error are incomplete, or not what the map means: nothing to hand on. A lack
    // of memory may be none where the text is used.
    const std::vector<PlanIssue>& errors = prepared.plan->errors;
    if (std::any_of(errors.begin(), errors.end(),
                    [](const PlanIssue& error) { return error.code != "DM09"; })) {
        return planError(*prepared.plan);
    }
    return kind == MapExport::Kind::Accelerate
               ? exportAccelerate(*prepared.plan, prepared.opened.tensors)
               : MapExport{prepared.plan->map_text, shortages(*prepared.plan)};
}

} // namespace engine
