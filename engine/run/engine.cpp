// SPDX-License-Identifier: Apache-2.0
#include "engine/run/engine.h"

#include "engine/files/model_files.h"
#include "engine/gemma4/model.h"
#include "engine/lora/adapter.h"
#include "engine/lora/adapter_runtime.h"
#include "engine/lora/architecture.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "engine/plan/map_write.h"
#include "engine/run/device_set.h"
#include "engine/run/generator.h"
#include "engine/run/gpu_access.h"
#include "engine/run/loader.h"
#include "engine/run/machine_rates.h"
#include "engine/run/media_store.h"
#include "engine/run/model_folder.h"
#include "engine/run/planning.h"
#include "engine/run/prompt_builder.h"
#include "engine/run/sampler.h"
#include "engine/text/reply_parser.h"
#include "engine/text/tokenizer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <new>
#include <random>

namespace engine {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

const char* stageName(LoadStage stage) {
    switch (stage) {
    case LoadStage::Check:
        return "check";
    case LoadStage::Allocate:
        return "allocate";
    case LoadStage::Fill:
        return "read";
    case LoadStage::Move:
        return "move";
    }
    return "read";
}

AdapterSummary summarizeAdapter(const Adapter& adapter) {
    const CoverageReport& coverage = adapter.coverage();
    AdapterSummary out;
    out.folder = adapter.folder().string();
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
        out.unmatched.emplace_back(key.key,
                                   std::string(keyClassName(key.key_class)) + ": " + key.reason);
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

/// Everything that belongs to one loaded model. Members are destroyed in reverse order: the model
/// before the weights, those before the devices.
struct Loaded {
    LoadRequest request;
    ModelFolder folder;
    std::shared_ptr<const ModelSummary> summary;
    std::optional<Tokenizer> tokenizer; ///< Absent for random shapes.
    OwnedDevices devices;
    std::shared_ptr<const PlacementPlan> plan;
    std::unique_ptr<TensorStore> store;
    std::unique_ptr<AdapterSet> adapters;
    struct ActiveAdapter {
        AdapterChoice choice;
        int id = 0;
        std::shared_ptr<const Adapter> adapter;
    };
    std::vector<ActiveAdapter> active;
    std::unique_ptr<KvCache> kv;
    std::unique_ptr<Model> model;
    std::unique_ptr<Generator> generator;
    MediaStore media;
    ReplyMemory replies;
    double load_s = 0.0;

    [[nodiscard]] AdapterHook* hook() const { return active.empty() ? nullptr : adapters.get(); }

    [[nodiscard]] ComputeDeviceOf deviceOf() const {
        return [this](const std::string& tensor) -> kernels::Device* {
            const WeightSource::Handle handle = store->handleOf(tensor);
            if (handle == WeightSource::kAbsent) {
                return nullptr;
            }
            const auto it = devices.set.find(store->computeDevice(handle));
            return it == devices.set.end() ? nullptr : it->second;
        };
    }

    [[nodiscard]] ReadBaseRows readBase() const {
        return [this](const std::string& tensor, int64_t first, int64_t count,
                      std::span<float> out) -> Result<void> {
            const WeightSource::Handle handle = store->handleOf(tensor);
            if (handle == WeightSource::kAbsent) {
                return Error{ErrorCode::Internal, tensor + ": not loaded"};
            }
            std::vector<int32_t> rows(static_cast<size_t>(count));
            for (size_t i = 0; i < rows.size(); ++i) {
                rows[i] = static_cast<int32_t>(first + static_cast<int64_t>(i));
            }
            const int64_t cols = static_cast<int64_t>(out.size()) / count;
            return store->gatherRows(handle, rows, 0, 1.0F, {out.data(), count, cols, cols});
        };
    }
};

Error outOfHostMemory(const std::string& what) {
    return Error{ErrorCode::OutOfMemory,
                 what + " needed more memory than the system gave; close other programs, or choose "
                        "a smaller context or a smaller format"};
}

} // namespace

/// Adds the driver's own words to an error of a card that stopped answering.
Error withFailure(Error error, const OwnedDevices& devices) {
    for (const auto& [id, device] : devices.set) {
        // What follows from a lost card (no memory, no kernel) is told as its loss.
        if (device->isLost() && error.code != ErrorCode::DeviceLost) {
            error.code = ErrorCode::DeviceLost;
            error.message = id.toString() +
                            ": the device stopped answering; reload the model, or restart the "
                            "program if it stays so (" +
                            error.message + ")";
        }
    }
    if (error.code != ErrorCode::DeviceLost) {
        return error;
    }
    for (const auto& [id, device] : devices.set) {
        const std::string failure = device->lastFailure();
        if (!failure.empty()) {
            error.message += " (" + id.toString() + ": " + failure + ")";
            error.details.emplace_back("device", id.toString());
        }
    }
    return error;
}

/// Bytes per device.
using HeldBytes = std::map<DeviceId, uint64_t>;

struct Engine::Impl {
    EngineOptions options;
    std::unique_ptr<Loaded> loaded;
    mutable std::optional<MachineConstants> constants; ///< Read or measured by the first plan.
    const Loaded* building = nullptr;                  ///< Being loaded now.

    Result<ModelFolder> open(const std::string& model) const {
        constexpr std::string_view kShape = "shape:";
        if (model.starts_with(kShape)) {
            return openShape(model.substr(kShape.size()));
        }
        if (model == "demo") {
            if (options.demo_folder.empty()) {
                return Error{
                    ErrorCode::InvalidRequest,
                    "the demo model is not installed beside this program; give a model folder"};
            }
            return ModelFolder::open(options.demo_folder);
        }
        if (model.empty()) {
            return Error{ErrorCode::InvalidRequest, "no model folder was given"};
        }
        return ModelFolder::open(model);
    }

    /// "demo" names the bundled adapter folder beside the demo model's files.
    [[nodiscard]] std::string adapterFolder(const std::string& name) const {
        return name == "demo" && !options.demo_folder.empty() ? options.demo_folder + "/adapter"
                                                              : name;
    }

    Result<std::shared_ptr<const Adapter>> openAdapter(const std::string& folder,
                                                       const ModelFolder& model,
                                                       const std::stop_token& stop) const {
        AdapterOptions adapter_options;
        adapter_options.base = model.source->isHeaderOnly() ? nullptr : model.source.get();
        adapter_options.stop = stop;
        return loadAdapter(adapterFolder(folder), model.config, model.tensors, adapter_options);
    }

    /// Opens folder and adapters and makes the plan.
    struct Prepared {
        ModelFolder folder;
        std::vector<std::shared_ptr<const Adapter>> adapters;
        std::shared_ptr<const PlacementPlan> plan;
    };
    /// `is_plan_only`: adapters are judged by their headers and not kept.
    Result<Prepared> prepare(const LoadRequest& request,
                             const HeldBytes& held,
                             const std::stop_token& stop,
                             bool is_plan_only = false) const {
        Prepared out;
        ENGINE_ASSIGN(out.folder, open(request.model));
        std::vector<AdapterFootprint> footprints;
        for (const AdapterChoice& choice : request.adapters) {
            if (is_plan_only) {
                Result<AdapterProbe> probe = probeAdapter(adapterFolder(choice.folder),
                                                          out.folder.config, out.folder.tensors);
                if (probe.has_value() && probe->coverage.errors == 0) {
                    footprints.push_back(std::move(probe->footprint));
                    continue;
                }
                // Reading it whole tells what is wrong.
            }
            ENGINE_ASSIGN(std::shared_ptr<const Adapter> adapter,
                          openAdapter(choice.folder, out.folder, stop));
            footprints.push_back(adapter->footprint());
            out.adapters.push_back(std::move(adapter));
        }
        std::vector<DeviceInfo> devices = machineDevices(request, *options.gpus);
        for (DeviceInfo& device : devices) {
            const auto extra = held.find(device.id);
            if (extra != held.end() && device.id.kind != DeviceId::Kind::Sim) {
                device.free = std::min(device.capacity, device.free + extra->second);
            }
        }
        const bool has_measured_rates = !options.rates_file.empty() && request.what_if.empty();
        if (has_measured_rates) {
            if (!constants.has_value()) {
                constants = machineConstants(options.rates_file);
            }
            for (DeviceInfo& device : devices) {
                if (device.id.kind != DeviceId::Kind::Cuda && device.id != DeviceId::disk()) {
                    device.rates.read_bytes_per_s = constants->read_bytes_per_s;
                    device.rates.flops = constants->flops;
                }
            }
        }
        ENGINE_ASSIGN(const PlanRequest plan_request,
                      planRequest(request, out.folder, devices, footprints));
        PlacementPlan plan = makePlan(plan_request);
        if (has_measured_rates) {
            plan.notes.push_back(
                "speeds are estimates from rates measured on this computer: memory is read with " +
                std::to_string(std::lround(constants->read_bytes_per_s / 1e9)) +
                " GB/s, products run at " + std::to_string(std::lround(constants->flops / 1e9)) +
                " GFLOP/s");
        }
        plan.map_text = smallMapText(plan_request, plan.map_text);
        for (std::string& odd : oddThings(out.folder)) {
            plan.notes.push_back(std::move(odd));
        }
        const bool asks_why = (request.device_map.empty() && request.sim_gpus.empty()) ||
                              std::any_of(plan.errors.begin(), plan.errors.end(),
                                          [](const PlanIssue& e) { return e.code == "DM04"; });
        if (asks_why && request.what_if.empty()) {
            for (std::string& note : options.gpus->notes()) {
                plan.notes.push_back(std::move(note));
            }
        }
        out.plan = std::make_shared<const PlacementPlan>(std::move(plan));
        return out;
    }

    Result<std::unique_ptr<Loaded>> build(const LoadRequest& request,
                                          Prepared prepared,
                                          const ProgressCallback& progress,
                                          const std::stop_token& stop);
    /// The work of build().
    Result<void> fill(Loaded& target,
                      const LoadRequest& request,
                      Prepared prepared,
                      const ProgressCallback& progress,
                      const std::stop_token& stop);
    Result<void> addAdapters(Loaded& target,
                             const std::vector<AdapterChoice>& choices,
                             const std::vector<std::shared_ptr<const Adapter>>& adapters,
                             const std::stop_token& stop);
    Result<void> rebuildModel(Loaded& target, const std::shared_ptr<const PlacementPlan>& plan);
    Result<PreparedPrompt>
    preparePrompt(const GenerateRequest& request, Reply& reply, const std::stop_token& stop);

    static LoadOptions loadOptions(const Loaded& target,
                                   const ProgressCallback& progress,
                                   const std::stop_token& stop) {
        LoadOptions out;
        out.stop = stop;
        out.cache_folder = target.request.cache_folder;
        out.model_folder = target.request.model.starts_with("shape:") ? std::filesystem::path()
                                                                      : target.folder.path;
        out.parallel = poolParallelFor(target.devices.pool.get());
        if (progress) {
            out.on_progress = [progress](const LoadProgress& p) {
                progress({stageName(p.stage), p.bytes_done, p.bytes_total, std::string(p.tensor)});
            };
        }
        return out;
    }

    /// Opens the cards that a plan uses and that are not open yet.
    Result<void> openCards(Loaded& target, const PlacementPlan& plan) const;
    /// What the loaded model holds per device: free again for a plan that replaces it.
    [[nodiscard]] HeldBytes heldBytes() const;

    /// A result with withFailure() applied to its error.
    template <typename T>
    [[nodiscard]] Result<T> named(Result<T> result) const {
        if (result.has_value() || loaded == nullptr) {
            return result;
        }
        return withFailure(std::move(result).error(), loaded->devices);
    }

    /// After an exception rows and cache may disagree: both start empty.
    void forgetContext() {
        if (loaded != nullptr && loaded->generator != nullptr) {
            loaded->generator->forget();
        }
    }

    [[nodiscard]] Result<Loaded*> current() const {
        if (loaded == nullptr) {
            return Error{ErrorCode::InvalidRequest, "no model is loaded"};
        }
        return loaded.get();
    }
};

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>()) {
    impl_->options = std::move(options);
    if (impl_->options.gpus == nullptr) {
        impl_->options.gpus = std::make_shared<const GpuAccess>(systemGpuAccess());
    }
}
Engine::~Engine() = default;

Result<ModelSummary> Engine::inspect(const std::string& model,
                                     const std::vector<std::string>& adapters) {
    ENGINE_ASSIGN(const ModelFolder folder, impl_->open(model));
    ModelSummary summary = summarize(folder);
    // A load would refuse a bad tokenizer: told here already. Planning works without one.
    if (!model.starts_with("shape:") && modelFileExists(folder.path, "tokenizer.json")) {
        const Result<Tokenizer> tokenizer = readTokenizer(folder.path);
        if (tokenizer.has_value()) {
            summary.warnings.insert(summary.warnings.end(), tokenizer->warnings().begin(),
                                    tokenizer->warnings().end());
        } else {
            summary.warnings.push_back(tokenizer.error().message);
        }
    } else if (!model.starts_with("shape:")) {
        summary.warnings.emplace_back(
            "tokenizer.json is not in the folder: planning works, loading does not");
    }
    for (const std::string& path : adapters) {
        ENGINE_ASSIGN(const std::shared_ptr<const Adapter> adapter,
                      impl_->openAdapter(path, folder, {}));
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
    MapExport out;
    out.kind = kind;
    ExportedText text;
    switch (kind) {
    case MapExport::Kind::Document:
        text.text = prepared.plan->map_text;
        break;
    case MapExport::Kind::Accelerate:
        text = exportAccelerate(*prepared.plan, prepared.folder.tensors);
        break;
    case MapExport::Kind::LlamaCpp:
        text = exportLlamaCpp(*prepared.plan, prepared.folder.tensors);
        break;
    case MapExport::Kind::Python:
        text = exportPython(*prepared.plan, prepared.folder.tensors, prepared.folder.path.string());
        break;
    }
    out.text = std::move(text.text);
    out.losses = std::move(text.losses);
    return out;
}

Result<void> Engine::Impl::addAdapters(Loaded& target,
                                       const std::vector<AdapterChoice>& choices,
                                       const std::vector<std::shared_ptr<const Adapter>>& adapters,
                                       const std::stop_token& stop) {
    for (size_t i = 0; i < choices.size(); ++i) {
        ENGINE_ASSIGN(const int id,
                      target.adapters->add(adapters[i], choices[i].strength, choices[i].is_enabled,
                                           target.deviceOf(), target.readBase(), stop));
        target.active.push_back({choices[i], id, adapters[i]});
    }
    return {};
}

Result<std::unique_ptr<Loaded>> Engine::Impl::build(const LoadRequest& request,
                                                    Prepared prepared,
                                                    const ProgressCallback& progress,
                                                    const std::stop_token& stop) {
    const auto started = Clock::now();
    auto target = std::make_unique<Loaded>();
    // Forgotten on every way out, exceptions included.
    struct Building {
        explicit Building(const Loaded*& pointer) : place(pointer) {}
        ~Building() { place = nullptr; }
        Building(const Building&) = delete;
        Building& operator=(const Building&) = delete;
        const Loaded*& place;
    };
    Result<void> filled;
    {
        const Building guard(building);
        building = target.get();
        filled = fill(*target, request, std::move(prepared), progress, stop);
    }
    if (!filled.has_value()) {
        return withFailure(std::move(filled).error(), target->devices);
    }
    target->load_s = secondsSince(started);
    return target;
}

Result<void> Engine::Impl::fill(Loaded& target,
                                const LoadRequest& request,
                                Prepared prepared,
                                const ProgressCallback& progress,
                                const std::stop_token& stop) {
    target.request = request;
    target.folder = std::move(prepared.folder);
    target.plan = prepared.plan;
    if (!target.plan->fits) {
        return planError(*target.plan);
    }
    if (target.folder.source->isHeaderOnly()) {
        return Error{
            ErrorCode::InvalidFile,
            target.folder.path.string() +
                ": the weight files are not in the folder; a plan can be made, a load cannot"};
    }
    if (!request.model.starts_with("shape:")) {
        ENGINE_ASSIGN(target.tokenizer, readTokenizer(target.folder.path));
        if (target.tokenizer->vocabSize() > target.folder.config.text.vocab_size) {
            return Error{ErrorCode::InvalidFile,
                         "tokenizer.json has " + std::to_string(target.tokenizer->vocabSize()) +
                             " entries, the model's vocabulary has " +
                             std::to_string(target.folder.config.text.vocab_size)};
        }
    }
    auto summary = summarize(target.folder);
    for (const auto& adapter : prepared.adapters) {
        summary.adapters.push_back(summarizeAdapter(*adapter));
    }
    target.summary = std::make_shared<const ModelSummary>(std::move(summary));
    HostDeviceOptions device_options;
    device_options.threads = request.threads;
    device_options.sim_capacities = request.sim_gpus;
    device_options.is_reference_precision = request.is_reference_precision;
    target.devices = makeHostDevices(device_options);
    ENGINE_TRY(openCards(target, *target.plan));
    if (options.on_devices) {
        options.on_devices(target.devices);
    }

    ENGINE_ASSIGN(target.store,
                  ::engine::load(*target.folder.source, target.folder.config, *target.plan,
                                 target.devices.set, loadOptions(target, progress, stop)));
    target.adapters = std::make_unique<AdapterSet>(*target.devices.set.at(DeviceId::cpu()));
    ENGINE_TRY(addAdapters(target, request.adapters, prepared.adapters, stop));
    ENGINE_ASSIGN(target.kv,
                  KvCache::create(target.folder.config, *target.plan, target.devices.set));
    ENGINE_TRY(rebuildModel(target, target.plan));
    return {};
}

Result<void> Engine::Impl::openCards(Loaded& target, const PlacementPlan& plan) const {
    for (const DevicePlan& device : plan.devices) {
        if (device.id.kind != DeviceId::Kind::Cuda || device.parts.total() == 0 ||
            target.devices.set.contains(device.id)) {
            continue;
        }
        uint64_t limit = 0;
        for (const auto& [name, bytes] : target.request.limits) {
            limit = name == device.id.toString() ? bytes : limit;
        }
        ENGINE_ASSIGN(
            std::unique_ptr<kernels::Device> card,
            options.gpus->open(device.id.index, limit, target.request.is_reference_precision));
        if (target.store != nullptr) {
            target.store->addDevice(device.id, *card);
        }
        target.devices.add(device.id, std::move(card));
    }
    return {};
}

HeldBytes Engine::Impl::heldBytes() const {
    HeldBytes held;
    if (loaded != nullptr) {
        for (const auto& [id, device] : loaded->devices.set) {
            held[id] =
                device->contextBytes() + std::max(device->memory().held, device->memory().used);
        }
    }
    return held;
}

Result<void> Engine::Impl::rebuildModel(Loaded& target,
                                        const std::shared_ptr<const PlacementPlan>& plan) {
    target.generator.reset();
    target.model.reset();
    ENGINE_ASSIGN(target.model, Model::create(target.folder.config, *plan, *target.store,
                                              target.devices.set, target.hook()));
    target.plan = plan;
    return {};
}

Result<void> Engine::load(const LoadRequest& request,
                          const ProgressCallback& progress,
                          const std::stop_token& stop) {
    try {
        return loadModel(request, progress, stop);
    } catch (const std::bad_alloc&) {
        return outOfHostMemory("loading " + request.model);
    }
}

Result<Reply> Engine::generate(const GenerateRequest& request,
                               const UpdateCallback& update,
                               const std::stop_token& stop) {
    try {
        return impl_->named(answer(request, update, stop));
    } catch (const std::bad_alloc&) {
        impl_->forgetContext();
        return outOfHostMemory("the reply");
    }
}

Result<LogitsResult>
Engine::logits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop) {
    try {
        return impl_->named(promptLogits(request, rows, stop));
    } catch (const std::bad_alloc&) {
        impl_->forgetContext();
        return outOfHostMemory("the logits");
    }
}

Result<void> Engine::loadModel(const LoadRequest& request,
                               const ProgressCallback& progress,
                               const std::stop_token& stop) {
    if (!request.what_if.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     "this is a plan for another computer; loading needs one for this computer"};
    }
    if (impl_->loaded != nullptr &&
        std::any_of(impl_->loaded->devices.set.begin(), impl_->loaded->devices.set.end(),
                    [](const auto& entry) { return entry.second->isLost(); })) {
        impl_->loaded.reset(); // a lost card answers again only after everything on it is gone
    }
    ENGINE_ASSIGN(Impl::Prepared prepared, impl_->prepare(request, HeldBytes{}, stop));
    const bool lacks_memory = !prepared.plan->fits && !prepared.plan->errors.empty() &&
                              prepared.plan->errors.front().code == "DM09";
    if (lacks_memory && impl_->loaded != nullptr) {
        // Side by side with the model in use it does not fit. If it would fit alone, the old one
        // makes room, and comes back should the new one fail.
        ENGINE_ASSIGN(Impl::Prepared alone, impl_->prepare(request, impl_->heldBytes(), stop));
        if (alone.plan->fits) {
            const LoadRequest former = impl_->loaded->request;
            impl_->loaded.reset();
            Result<std::unique_ptr<Loaded>> target =
                impl_->build(request, std::move(alone), progress, stop);
            if (!target.has_value()) {
                Error error = std::move(target).error();
                const Result<void> restored = loadModel(former, progress, {});
                if (!restored.has_value()) {
                    error.message +=
                        "; the former model could not be loaded again: " + restored.error().message;
                }
                return error;
            }
            impl_->loaded = std::move(target).value();
            impl_->loaded->generator =
                std::make_unique<Generator>(*impl_->loaded->model, *impl_->loaded->kv);
            return {};
        }
    }
    ENGINE_ASSIGN(std::unique_ptr<Loaded> target,
                  impl_->build(request, std::move(prepared), progress, stop));
    impl_->loaded = std::move(target);
    impl_->loaded->generator =
        std::make_unique<Generator>(*impl_->loaded->model, *impl_->loaded->kv);
    return {};
}

void Engine::unload() {
    impl_->loaded.reset();
}

Result<void> Engine::applyMap(const std::string& device_map,
                              const ProgressCallback& progress,
                              const std::stop_token& stop) {
    try {
        return impl_->named(replace(device_map, progress, stop));
    } catch (const std::bad_alloc&) {
        return loadAgain(outOfHostMemory("the move"));
    }
}

Result<void> Engine::setAdapters(const std::vector<AdapterChoice>& adapters,
                                 const std::stop_token& stop) {
    try {
        return changeAdapters(adapters, stop);
    } catch (const std::bad_alloc&) {
        return loadAgain(outOfHostMemory("changing adapters"));
    }
}

Error Engine::loadAgain(Error error) {
    if (impl_->loaded == nullptr) {
        return error;
    }
    const LoadRequest former = impl_->loaded->request;
    impl_->loaded.reset();
    const Result<void> restored = load(former, {}, {});
    if (!restored.has_value()) {
        error.message +=
            "; the former model could not be loaded again: " + restored.error().message;
    }
    return error;
}

Result<void> Engine::replace(const std::string& device_map,
                             const ProgressCallback& progress,
                             const std::stop_token& stop) {
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    LoadRequest request = target.request;
    request.device_map = device_map;
    request.moves.clear();
    request.adapters.clear();
    for (const auto& active : target.active) {
        request.adapters.push_back(active.choice);
    }
    ENGINE_ASSIGN(const Impl::Prepared prepared, impl_->prepare(request, impl_->heldBytes(), stop));
    if (!prepared.plan->fits) {
        return planError(*prepared.plan);
    }
    ENGINE_TRY(impl_->openCards(target, *prepared.plan));
    const std::shared_ptr<const PlacementPlan> former = target.plan;
    const LoadOptions options = Impl::loadOptions(target, progress, stop);
    // The workspace goes first and comes back last: it holds nothing that must survive.
    std::unique_ptr<Generator> generator = std::move(target.generator);
    target.model.reset();
    const auto restore = [&](Error failure) -> Error {
        Error error = withFailure(std::move(failure), target.devices);
        LoadOptions quiet = options;
        quiet.stop = {};
        const Result<void> store_back = applyPlan(*target.store, *former, quiet);
        const Result<void> kv_back =
            target.kv->moveTo(target.folder.config, *former, target.devices.set);
        const Result<void> adapters_back = target.adapters->follow(target.deviceOf());
        const Result<void> model_back = impl_->rebuildModel(target, former);
        for (const auto* back : {&store_back, &kv_back, &adapters_back, &model_back}) {
            if (!back->has_value()) {
                error.message +=
                    "; the former placement could not be restored: " + back->error().message;
                impl_->loaded.reset();
                return error;
            }
        }
        generator->setModel(*target.model);
        target.generator = std::move(generator);
        return error;
    };
    if (Result<void> moved = applyPlan(*target.store, *prepared.plan, options);
        !moved.has_value()) {
        return restore(std::move(moved).error());
    }
    if (Result<void> moved =
            target.kv->moveTo(target.folder.config, *prepared.plan, target.devices.set);
        !moved.has_value()) {
        return restore(std::move(moved).error());
    }
    if (Result<void> moved = target.adapters->follow(target.deviceOf()); !moved.has_value()) {
        return restore(std::move(moved).error());
    }
    if (Result<void> rebuilt = impl_->rebuildModel(target, prepared.plan); !rebuilt.has_value()) {
        return restore(std::move(rebuilt).error());
    }
    target.request = request;
    generator->setModel(*target.model);
    target.generator = std::move(generator);
    return {};
}

Result<void> Engine::changeAdapters(const std::vector<AdapterChoice>& adapters,
                                    const std::stop_token& stop) {
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    // Check and open what is new before anything changes.
    std::vector<std::shared_ptr<const Adapter>> opened(adapters.size());
    for (size_t i = 0; i < adapters.size(); ++i) {
        if (adapters[i].strength < 0.0 || adapters[i].strength > 2.0 ||
            std::isnan(adapters[i].strength)) {
            return Error{ErrorCode::InvalidRequest, adapters[i].folder + ": strength " +
                                                        std::to_string(adapters[i].strength) +
                                                        ", expected 0 to 2"};
        }
        for (const auto& active : target.active) {
            if (active.choice.folder == adapters[i].folder) {
                opened[i] = active.adapter;
            }
        }
        if (opened[i] == nullptr) {
            ENGINE_ASSIGN(opened[i], impl_->openAdapter(adapters[i].folder, target.folder, stop));
        }
    }
    std::vector<Loaded::ActiveAdapter> next;
    std::vector<int> added;
    Result<void> outcome;
    for (size_t i = 0; i < adapters.size() && outcome.has_value(); ++i) {
        int id = 0;
        for (const auto& active : target.active) {
            if (active.choice.folder == adapters[i].folder) {
                id = active.id;
            }
        }
        if (id == 0) {
            Result<int> result = target.adapters->add(opened[i], adapters[i].strength, false,
                                                      target.deviceOf(), target.readBase(), stop);
            if (!result.has_value()) {
                outcome = std::move(result).error();
                break;
            }
            id = *result;
            added.push_back(id);
        }
        next.push_back({adapters[i], id, opened[i]});
    }
    std::vector<AdapterActivation> activations;
    for (const auto& entry : next) {
        if (entry.choice.is_enabled) {
            activations.push_back({entry.id, entry.choice.strength});
        }
    }
    if (outcome.has_value()) {
        outcome = target.adapters->activate(activations);
    }
    if (!outcome.has_value()) {
        for (const int id : added) {
            (void)target.adapters->remove(id);
        }
        return outcome;
    }
    for (const auto& active : target.active) {
        const bool is_kept =
            std::any_of(next.begin(), next.end(), [&](const auto& n) { return n.id == active.id; });
        if (!is_kept) {
            ENGINE_TRY(target.adapters->remove(active.id));
        }
    }
    target.active = std::move(next);
    target.request.adapters = adapters;
    return target.model->setAdapters(target.hook());
}

bool Engine::isLoaded() const {
    return impl_->loaded != nullptr;
}

const LoadRequest& Engine::loadedRequest() const {
    static const LoadRequest kNone;
    return impl_->loaded == nullptr ? kNone : impl_->loaded->request;
}

Result<ModelConfig> Engine::loadedConfig() const {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    return target->folder.config;
}

std::shared_ptr<const ModelSummary> Engine::summary() const {
    return impl_->loaded == nullptr ? nullptr : impl_->loaded->summary;
}

std::shared_ptr<const PlacementPlan> Engine::currentPlan() const {
    return impl_->loaded == nullptr ? nullptr : impl_->loaded->plan;
}

std::vector<DeviceMemory> Engine::memory() const {
    std::vector<DeviceMemory> out;
    // While a model is being loaded it counts as well, beside the one that is still there.
    for (const Loaded* target :
         {static_cast<const Loaded*>(impl_->loaded.get()), impl_->building}) {
        if (target == nullptr || target->plan == nullptr) {
            continue;
        }
        for (const auto& [id, device] : target->devices.set) {
            auto it =
                std::find_if(out.begin(), out.end(), [wanted = id](const DeviceMemory& memory) {
                    return memory.id == wanted;
                });
            if (it == out.end()) {
                it = out.insert(out.end(), DeviceMemory());
                it->id = id;
                it->used_by_others =
                    id == DeviceId::cpu() ? otherProgramsRam() : device->otherProgramsBytes();
            }
            it->capacity = device->memory().capacity;
            for (const MemoryPart part : kMemoryParts) {
                it->measured[part] += device->usedBytes(static_cast<int>(part));
            }
            it->measured[MemoryPart::Context] += device->contextBytes();
            for (const DevicePlan& plan : target->plan->devices) {
                if (plan.id == id) {
                    it->description = plan.description;
                    it->capacity = plan.capacity;
                    it->limit = plan.limit;
                    it->predicted = plan.parts;
                }
            }
        }
    }
    return out;
}

double Engine::loadSeconds() const {
    return impl_->loaded == nullptr ? 0.0 : impl_->loaded->load_s;
}

std::vector<std::string> Engine::loadNotes() const {
    std::vector<std::string> notes;
    if (impl_->loaded != nullptr) {
        const LoadReport& report = impl_->loaded->store->report();
        notes = impl_->loaded->folder.config.warnings; // the checkpoint's are in the report
        notes.insert(notes.end(), report.notes.begin(), report.notes.end());
        if (impl_->loaded->tokenizer.has_value()) {
            const auto odd = impl_->loaded->tokenizer->warnings();
            notes.insert(notes.end(), odd.begin(), odd.end());
        }
        for (const std::string& name : report.surplus) {
            notes.push_back("not used: " + name + " (no module of this architecture)");
        }
        if (!report.inert.empty()) {
            notes.push_back(
                std::to_string(report.inert.size()) +
                " stored tensors without effect (K/V of KV-sharing layers) were not loaded");
        }
    }
    return notes;
}

std::pair<int64_t, int64_t> Engine::contextUse() const {
    if (impl_->loaded == nullptr) {
        return {0, 0};
    }
    return {impl_->loaded->kv->size(), impl_->loaded->kv->context()};
}

Result<PreparedPrompt> Engine::Impl::preparePrompt(const GenerateRequest& request,
                                                   Reply& reply,
                                                   const std::stop_token& stop) {
    Loaded& target = *loaded;
    const ModelConfig& config = target.folder.config;
    const MediaParts parts = mediaParts(request);
    // What a model cannot take is told before any work.
    if (!parts.images.empty() && !config.vision) {
        return Error{
            ErrorCode::InvalidRequest,
            "a picture is attached, but this model has no vision tower: it cannot see pictures"};
    }
    if (!parts.audios.empty() && !config.audio) {
        return Error{ErrorCode::InvalidRequest,
                     "a recording is attached, but this model has no audio tower: it cannot hear"};
    }
    if (!target.tokenizer.has_value() && request.raw_ids.empty()) {
        return Error{ErrorCode::InvalidRequest, "this model has no tokenizer: give token ids"};
    }
    std::vector<int32_t> ids = request.raw_ids;
    if (ids.empty()) {
        ENGINE_ASSIGN(ids, promptIds(request, config, *target.tokenizer, target.replies));
    }
    PreparedPrompt prompt;
    const int64_t budget =
        request.image_tokens > 0 ? request.image_tokens : config.processor.image_tokens;
    if (budget > target.plan->image_tokens && !parts.images.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     std::to_string(budget) +
                         " image tokens were asked for; the model was loaded for at most " +
                         std::to_string(target.plan->image_tokens) +
                         ", load again with --image-tokens " + std::to_string(budget)};
    }
    const MediaTokens tokens = mediaTokens(config);
    if (request.raw_ids.empty()) {
        const PlaceholderCounts counts = countPlaceholders(ids, tokens);
        if (counts.images != static_cast<int64_t>(parts.images.size()) ||
            counts.audios != static_cast<int64_t>(parts.audios.size())) {
            return Error{ErrorCode::InvalidRequest,
                         "the prompt has " + std::to_string(counts.images) + " image and " +
                             std::to_string(counts.audios) + " audio placeholders, but " +
                             std::to_string(parts.images.size()) + " pictures and " +
                             std::to_string(parts.audios.size()) + " recordings are attached"};
        }
    }
    const std::string& fingerprint = target.adapters->fingerprint();
    std::vector<int64_t> image_counts;
    std::vector<int64_t> audio_counts;
    for (const MessagePart& part : parts.images) {
        ENGINE_ASSIGN(auto media,
                      target.media.encode(part, budget, *target.model, fingerprint, stop));
        image_counts.push_back(media->tokens);
        reply.timing.image_s += media->seconds;
        reply.notes.insert(reply.notes.end(), media->notes.begin(), media->notes.end());
        prompt.images.push_back(std::move(media));
    }
    for (const MessagePart& part : parts.audios) {
        ENGINE_ASSIGN(auto media,
                      target.media.encode(part, budget, *target.model, fingerprint, stop));
        audio_counts.push_back(media->tokens);
        reply.timing.audio_s += media->seconds;
        prompt.audios.push_back(std::move(media));
    }
    if (request.raw_ids.empty()) {
        ENGINE_ASSIGN(ExpandedPrompt expanded,
                      expandMedia(ids, tokens, image_counts, audio_counts));
        prompt.ids = std::move(expanded.ids);
        prompt.spans = std::move(expanded.spans);
        return prompt;
    }
    // Ids are already expanded: runs of placeholders are the media, in order.
    prompt.ids = std::move(ids);
    int64_t image = 0;
    int64_t audio = 0;
    for (size_t i = 0; i < prompt.ids.size();) {
        const int32_t id = prompt.ids[i];
        const bool is_image = id == tokens.image;
        if ((!is_image && id != tokens.audio) || (is_image ? parts.images : parts.audios).empty()) {
            ++i; // without media a placeholder is an ordinary (pad) row, as generated ones are
            continue;
        }
        size_t end = i;
        while (end < prompt.ids.size() && prompt.ids[end] == id) {
            ++end;
        }
        int64_t& item = is_image ? image : audio;
        const auto& counts = is_image ? image_counts : audio_counts;
        const auto count = static_cast<int64_t>(end - i);
        if (item >= static_cast<int64_t>(counts.size()) ||
            counts[static_cast<size_t>(item)] != count) {
            return Error{ErrorCode::InvalidRequest,
                         "the ids hold a run of " + std::to_string(count) +
                             (is_image ? " image" : " audio") + " placeholders as item " +
                             std::to_string(item) +
                             "; the attached media do not give that many soft tokens"};
        }
        prompt.spans.push_back(
            {is_image ? MediaKind::Image : MediaKind::Audio, item, static_cast<int64_t>(i), count});
        ++item;
        i = end;
    }
    if (image != static_cast<int64_t>(image_counts.size()) ||
        audio != static_cast<int64_t>(audio_counts.size())) {
        return Error{ErrorCode::InvalidRequest,
                     "more media are attached than the ids have placeholders for"};
    }
    return prompt;
}

Result<Reply> Engine::answer(const GenerateRequest& request,
                             const UpdateCallback& update,
                             const std::stop_token& stop) {
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    const ModelConfig& config = target.folder.config;
    const auto started = Clock::now();
    Reply reply;
    reply.id = request.id;

    SamplingOptions sampling = samplingFromDefaults(config.generation);
    const SamplingParameters& asked = request.sampling;
    sampling.temperature = asked.temperature >= 0 ? asked.temperature : sampling.temperature;
    sampling.top_k = asked.top_k >= 0 ? asked.top_k : sampling.top_k;
    sampling.top_p = asked.top_p >= 0 ? asked.top_p : sampling.top_p;
    sampling.min_p = asked.min_p >= 0 ? asked.min_p : sampling.min_p;
    sampling.repetition_penalty =
        asked.repetition_penalty >= 0 ? asked.repetition_penalty : sampling.repetition_penalty;
    sampling.seed = asked.seed >= 0
                        ? static_cast<uint64_t>(asked.seed)
                        : (static_cast<uint64_t>(std::random_device{}()) << 20U) ^
                              static_cast<uint64_t>(Clock::now().time_since_epoch().count());
    sampling.seed &= (uint64_t{1} << 53U) - 1U; // exact in JSON numbers
    reply.seed = sampling.seed;
    if (!asked.ignores_eos) {
        sampling.suppressed = suppressedTokens(config);
    }
    ENGINE_ASSIGN(Sampler sampler, Sampler::create(sampling, config.text.vocab_size));

    ENGINE_ASSIGN(const PreparedPrompt prompt, impl_->preparePrompt(request, reply, stop));
    reply.input_ids = prompt.ids;
    sampler.setHistory(prompt.ids);
    const auto prefill_started = Clock::now();
    ENGINE_ASSIGN(Generator::PrefillResult prefill,
                  target.generator->prefill(prompt, target.adapters->fingerprint(), 1, stop));
    reply.timing.prefill_s = secondsSince(prefill_started);
    reply.timing.prefill_tokens = prefill.computed_tokens;
    reply.timing.reused_tokens = prefill.reused_tokens;

    std::vector<int64_t> stops;
    ChatTokens chat_tokens;
    if (!asked.ignores_eos) {
        stops = config.generation.eos_token_ids;
        if (target.tokenizer.has_value()) {
            if (const Result<ChatTokens> found = findChatTokens(*target.tokenizer);
                found.has_value()) {
                chat_tokens = *found;
                stops.push_back(chat_tokens.turn_end);
                stops.push_back(chat_tokens.eos);
            }
        }
    }
    std::optional<ReplyParser> parser;
    if (target.tokenizer.has_value()) {
        parser.emplace(*target.tokenizer, chat_tokens);
    }
    // A reply that goes on: what is there already puts the parser where it was.
    std::vector<int32_t> whole;
    if (request.continues_reply && parser.has_value()) {
        ENGINE_ASSIGN(whole, continuedIds(request, *target.tokenizer, target.replies));
        for (const int32_t id : whole) {
            parser->push(id);
        }
    }
    const auto decode_started = Clock::now();
    int64_t count = 0;
    const auto on_token = [&](int32_t token) {
        if (count++ == 0) {
            reply.timing.time_to_first_token_s = secondsSince(started);
        }
        if (!parser.has_value()) {
            return;
        }
        const bool is_stop = std::find(stops.begin(), stops.end(), token) != stops.end();
        if (is_stop) {
            return;
        }
        const auto delta = parser->push(token);
        if (update) {
            update({delta.answer, delta.thinking, count});
        }
    };
    ENGINE_ASSIGN(Generator::DecodeResult decoded,
                  target.generator->decode(std::move(prefill.logits), sampler, stops,
                                           asked.max_tokens, on_token, stop));
    reply.timing.decode_s = secondsSince(decode_started);
    reply.timing.decode_tokens = static_cast<int64_t>(decoded.tokens.size());
    reply.finish_reason = decoded.finish_reason;
    reply.token_ids = std::move(decoded.tokens);
    if (parser.has_value()) {
        const auto rest = parser->flush();
        if (update && (!rest.answer.empty() || !rest.thinking.empty())) {
            update({rest.answer, rest.thinking, count});
        }
        reply.text = parser->answer();
        reply.thinking = parser->thinking();
        whole.insert(whole.end(), reply.token_ids.begin(), reply.token_ids.end());
        std::vector<int32_t> plain = std::move(whole);
        if (reply.finish_reason == "stop" && !plain.empty()) {
            plain.pop_back();
        } else {
            target.replies.rememberCut(reply.thinking, reply.text, plain);
        }
        const bool has_control = std::any_of(
            plain.begin(), plain.end(), [&](int32_t id) { return target.tokenizer->isAdded(id); });
        if (!has_control && reply.thinking.empty()) {
            target.replies.remember(reply.text, std::move(plain));
        }
    }
    return reply;
}

Result<LogitsResult>
Engine::promptLogits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop) {
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    Reply scratch;
    ENGINE_ASSIGN(const PreparedPrompt prompt, impl_->preparePrompt(request, scratch, stop));
    const int64_t total = static_cast<int64_t>(prompt.ids.size());
    if (rows < 1 || rows > total) {
        return Error{ErrorCode::InvalidRequest, "logits of the last " + std::to_string(rows) +
                                                    " tokens were asked for; the prompt has " +
                                                    std::to_string(total)};
    }
    ENGINE_ASSIGN(Generator::PrefillResult prefill,
                  target.generator->prefill(prompt, target.adapters->fingerprint(), rows, stop));
    LogitsResult result;
    result.logits = std::move(prefill.logits);
    result.rows = rows;
    result.vocab = target.folder.config.text.vocab_size;
    result.input_ids = prompt.ids;
    return result;
}

Result<void>
Engine::encodeAhead(const MessagePart& part, int64_t image_tokens, const std::stop_token& stop) {
    ENGINE_ASSIGN(Loaded * target, impl_->current());
    const int64_t budget =
        image_tokens > 0 ? image_tokens : target->folder.config.processor.image_tokens;
    ENGINE_TRY(target->media.encode(part, std::min(budget, target->plan->image_tokens),
                                    *target->model, target->adapters->fingerprint(), stop));
    return {};
}

Result<MediaCost> Engine::mediaCost(const MessagePart& part, int64_t image_tokens) {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    const ModelConfig& config = target->folder.config;
    MediaCost cost;
    const PlanIndex index(*target->plan);
    const ComponentDevices devices = componentDevices(config, index);
    if (part.kind == MessagePart::Kind::Image) {
        if (!config.vision) {
            return Error{ErrorCode::InvalidRequest,
                         "this model has no vision tower: it cannot see pictures"};
        }
        ENGINE_ASSIGN(const ImageInfo info, probeImageFile(part.text));
        const int64_t budget = image_tokens > 0 ? image_tokens : config.processor.image_tokens;
        ENGINE_ASSIGN(const ImageSize size,
                      targetSize(info.displayed.height, info.displayed.width, budget,
                                 config.vision->patch_size, config.vision->pooling_kernel,
                                 config.vision->position_table_size));
        cost.tokens =
            imageTokens(size, config.vision->patch_size, config.vision->pooling_kernel) + 2;
        cost.seconds = target->plan->estimate.image_s;
        cost.device = devices.vision.toString();
        cost.description = std::string(imageFormatName(info.format)) + ", " +
                           std::to_string(info.displayed.width) + " x " +
                           std::to_string(info.displayed.height);
        return cost;
    }
    if (!config.audio) {
        return Error{ErrorCode::InvalidRequest,
                     "this model has no audio tower: it cannot hear recordings"};
    }
    ENGINE_ASSIGN(const AudioInfo info, probeAudioFile(part.text));
    const double length =
        part.cut_length_s > 0 ? std::min(part.cut_length_s, info.seconds) : info.seconds;
    if (length > static_cast<double>(kMaxAudioSeconds)) {
        return Error{ErrorCode::InvalidRequest,
                     "the recording is " + std::to_string(info.seconds) +
                         " s long, one clip may have 30 s; choose a part of it",
                     {{"seconds", std::to_string(info.seconds)}}};
    }
    cost.tokens =
        audioTokens(static_cast<int64_t>(length * static_cast<double>(kAudioSampleRate))) + 2;
    cost.seconds = target->plan->estimate.audio_s_per_s * length;
    cost.device = devices.audio.toString();
    cost.description = info.format + ", " +
                       std::to_string(static_cast<int64_t>(std::lround(length * 10)) / 10) + " s";
    return cost;
}

Result<Engine::Tokenized> Engine::tokenize(const std::string& model, std::string_view text) {
    std::optional<Tokenizer> own;
    const Tokenizer* tokenizer = nullptr;
    if (impl_->loaded != nullptr && impl_->loaded->request.model == model &&
        impl_->loaded->tokenizer.has_value()) {
        tokenizer = &*impl_->loaded->tokenizer;
    } else {
        ENGINE_ASSIGN(own, readTokenizer(model == "demo" ? impl_->options.demo_folder : model));
        tokenizer = &*own;
    }
    Tokenized result;
    result.ids = tokenizer->encode(text);
    for (const int32_t id : result.ids) {
        result.pieces.emplace_back(tokenizer->tokenText(id));
    }
    return result;
}

Result<double> Engine::measureImage(int64_t grid_w, int64_t grid_h) {
    ENGINE_ASSIGN(Loaded * target, impl_->current());
    if (!target->folder.config.vision) {
        return Error{ErrorCode::InvalidRequest, "this model has no vision tower"};
    }
    const VisionConfig& vision = *target->folder.config.vision;
    std::vector<float> patches(
        static_cast<size_t>(grid_w * grid_h * 3 * vision.patch_size * vision.patch_size));
    std::minstd_rand random(1);
    for (float& value : patches) {
        value = static_cast<float>(random() % 256U) / 255.0F;
    }
    ImageInput input;
    input.patches = patches;
    input.grid_w = grid_w;
    input.grid_h = grid_h;
    const auto started = Clock::now();
    ENGINE_TRY(target->model->encodeImage(input, {}));
    return secondsSince(started);
}

Result<double> Engine::measureAudio(int64_t frames) {
    ENGINE_ASSIGN(Loaded * target, impl_->current());
    if (!target->folder.config.audio) {
        return Error{ErrorCode::InvalidRequest, "this model has no audio tower"};
    }
    std::vector<float> mel(static_cast<size_t>(frames * target->folder.config.audio->mel_bins));
    std::minstd_rand random(1);
    for (float& value : mel) {
        value = static_cast<float>(random() % 1000U) / 200.0F - 4.0F;
    }
    const auto started = Clock::now();
    ENGINE_TRY(target->model->encodeAudio(mel, frames, {}));
    return secondsSince(started);
}

namespace {

/// Values that a model computes from fixed inputs.
struct ProbeValues {
    std::vector<float> logits, vision, audio;
};

/// max |a - b| / max |a|; -1 without values.
double changeOf(const std::vector<float>& base, const std::vector<float>& other) {
    if (base.empty() || base.size() != other.size()) {
        return -1.0;
    }
    double largest = 0.0;
    double difference = 0.0;
    for (size_t i = 0; i < base.size(); ++i) {
        const auto a = static_cast<double>(base[i]);
        largest = std::max(largest, std::abs(a));
        difference = std::max(difference, std::abs(a - static_cast<double>(other[i])));
    }
    return largest > 0.0 ? difference / largest : difference;
}

} // namespace

Result<AdapterSummary::Effect> Engine::adapterEffect(const std::string& folder,
                                                     const std::stop_token& stop) {
    ENGINE_ASSIGN(Loaded * target, impl_->current());
    const ModelConfig& config = target->folder.config;
    std::minstd_rand random(7);
    const auto values = [&](int64_t count) {
        std::vector<float> out(static_cast<size_t>(count));
        for (float& value : out) {
            value = static_cast<float>(random() % 256U) / 255.0F;
        }
        return out;
    };
    GenerateRequest request;
    for (int i = 0; i < 16; ++i) {
        request.raw_ids.push_back(
            static_cast<int32_t>(random() % static_cast<uint64_t>(config.text.vocab_size)));
    }
    constexpr int64_t kFrames = 40;
    const int64_t side = config.vision ? 2 * config.vision->pooling_kernel : 0;
    const std::vector<float> pixels =
        config.vision
            ? values(side * side * 3 * config.vision->patch_size * config.vision->patch_size)
            : std::vector<float>();
    const std::vector<float> frames =
        config.audio ? values(kFrames * config.audio->mel_bins) : std::vector<float>();
    const auto probe = [&]() -> Result<ProbeValues> {
        ProbeValues out;
        ENGINE_ASSIGN(LogitsResult logits, this->logits(request, 4, stop));
        out.logits = std::move(logits.logits);
        if (config.vision) {
            ImageInput input;
            input.patches = pixels;
            input.grid_w = side;
            input.grid_h = side;
            ENGINE_ASSIGN(out.vision, impl_->loaded->model->encodeImage(input, stop));
        }
        if (config.audio) {
            ENGINE_ASSIGN(out.audio, impl_->loaded->model->encodeAudio(frames, kFrames, stop));
        }
        return out;
    };
    std::vector<AdapterChoice> former;
    for (const auto& active : target->active) {
        former.push_back(active.choice);
    }
    const auto measure = [&]() -> Result<AdapterSummary::Effect> {
        ENGINE_TRY(setAdapters({}, stop));
        ENGINE_ASSIGN(const ProbeValues base, probe());
        ENGINE_TRY(setAdapters({{folder, 1.0, true}}, stop));
        ENGINE_ASSIGN(const ProbeValues adapted, probe());
        return AdapterSummary::Effect{changeOf(base.logits, adapted.logits),
                                      changeOf(base.vision, adapted.vision),
                                      changeOf(base.audio, adapted.audio)};
    };
    Result<AdapterSummary::Effect> effect = measure();
    ENGINE_TRY(setAdapters(former, {}));
    return effect;
}

std::string Engine::modelFolder(const std::string& model) const {
    return model == "demo" && !impl_->options.demo_folder.empty() ? impl_->options.demo_folder
                                                                  : model;
}

std::string Engine::adapterFolder(const std::string& adapter) const {
    return impl_->adapterFolder(adapter);
}

double Engine::measureWeightRead(double seconds) {
    if (impl_->loaded == nullptr) {
        return 0.0;
    }
    Loaded& target = *impl_->loaded;
    double best = 0.0;
    const auto started = Clock::now();
    do {
        double bytes = 0.0;
        const auto pass = Clock::now();
        for (const TensorPlacement& row : target.plan->tensors) {
            const bool is_on_host =
                row.compute == DeviceId::cpu() || row.compute.kind == DeviceId::Kind::Sim;
            const WeightSource::Handle handle = target.store->handleOf(row.tensor);
            if (!is_on_host || row.residency != Residency::Always ||
                handle == WeightSource::kAbsent ||
                row.tensor.find("language_model.layers.") == std::string::npos) {
                continue;
            }
            const Result<kernels::WeightView> view = target.store->acquire(handle);
            if (!view.has_value()) {
                continue;
            }
            const int64_t bits = view->format == kernels::WeightFormat::F32       ? 32
                                 : view->format == kernels::WeightFormat::Nf4     ? 4
                                 : view->format == kernels::WeightFormat::Fp4     ? 4
                                 : view->format == kernels::WeightFormat::Int8Row ? 8
                                                                                  : 16;
            const int64_t size = view->rows * view->cols * bits / 8;
            kernels::cpu::readMemory(target.devices.pool.get(), view->data, size);
            target.store->release(handle);
            bytes += static_cast<double>(size);
        }
        best = std::max(best, bytes / secondsSince(pass) / 1e9);
    } while (secondsSince(started) < seconds);
    return best;
}

kernels::cpu::MachineRates Engine::measureMachine(double seconds) {
    if (impl_->loaded != nullptr) {
        return kernels::cpu::measureCpu(*impl_->loaded->devices.pool, seconds);
    }
    kernels::cpu::ThreadPool pool(kernels::cpu::ThreadPool::availableProcessors());
    return kernels::cpu::measureCpu(pool, seconds);
}

} // namespace engine
