// SPDX-License-Identifier: Apache-2.0
// Loading, moving and unloading a model, and changing its adapters.
#include "engine/base/paths.h"
#include "engine/run/engine_state.h"
#include "engine/run/expert_counts_file.h"
#include "engine/run/planning.h"
#include "kernels/stage_times.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <new>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace engine {

namespace {

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

/// A plan whose cards are open, with a note for each whose own share of memory nothing here could
/// measure: without it the figure would pass for one.
std::shared_ptr<const PlacementPlan>
withAssumedContexts(const std::shared_ptr<const PlacementPlan>& plan, const GpuAccess& gpus) {
    auto told = std::make_shared<PlacementPlan>(*plan);
    for (const DevicePlan& device : plan->devices) {
        if (device.id.kind == DeviceId::Kind::Cuda && device.parts.total() > 0 &&
            gpus.assumes_context(device.id.index)) {
            told->notes.emplace_back(
                said("%1: what the driver takes for itself is assumed, not measured (the "
                     "management library, NVML, does not tell)",
                     device.id),
                NoteKind::AssumedContext, device.id);
        }
    }
    return told->notes.size() == plan->notes.size() ? plan : told;
}

/// Tensors of both plans that have other values in the second one. A head without a row of its own
/// is the token table.
std::unordered_set<std::string> otherFormats(const PlacementPlan& before,
                                             const PlacementPlan& after) {
    const auto byName = [](const PlacementPlan& plan) {
        std::unordered_map<std::string_view, const TensorPlacement*> rows;
        for (const TensorPlacement& row : plan.tensors) {
            rows.emplace(row.tensor, &row);
        }
        if (const auto table = rows.find(kTokenTableName); table != rows.end()) {
            rows.emplace(kHeadTensor, table->second);
        }
        return rows;
    };
    const auto former = byName(before);
    std::unordered_set<std::string> changed;
    for (const auto& [name, row] : byName(after)) {
        const auto it = former.find(name);
        if (it != former.end() &&
            (it->second->format != row->format || it->second->block_size != row->block_size)) {
            changed.emplace(name);
        }
    }
    return changed;
}

} // namespace

LoadOptions Engine::Impl::loadOptions(const Loaded& target,
                                      const ProgressCallback& progress,
                                      const std::stop_token& stop) {
    LoadOptions out;
    out.stop = stop;
    out.cache_folder = pathFromUtf8(target.request.cache_folder);
    out.parallel = poolParallelFor(target.devices.pool.get());
    // Bytes in the page cache are copied as fast as there are readers.
    out.read_threads = std::clamp(kernels::cpu::ThreadPool::availableProcessors() / 2, 2, 8);
    if (progress) {
        out.on_progress = [progress](const LoadProgress& p) {
            progress({stageName(p.stage), p.bytes_done, p.bytes_total, std::string(p.tensor)});
        };
    }
    return out;
}

Result<void> Engine::Impl::addAdapters(Loaded& target,
                                       const std::vector<AdapterChoice>& choices,
                                       const std::vector<std::shared_ptr<const Adapter>>& adapters,
                                       const std::stop_token& stop) {
    for (size_t i = 0; i < choices.size(); ++i) {
        ENGINE_ASSIGN(const int id,
                      target.adapters->add(adapters[i], choices[i].strength, choices[i].is_enabled,
                                           target.adapterHomes(), target.readBase(), stop));
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
        return withFailure(std::move(filled).error(), target->devices, *options.gpus);
    }
    if (target->turns == nullptr || !target->turns->is_of_folder) {
        target->own_template = readChatTemplateText(*target->opened.checkpoint);
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
    target.plan = prepared.plan;
    if (!target.plan->fits) {
        return planError(*target.plan);
    }
    if (prepared.opened.source->isHeaderOnly()) {
        const std::vector<std::string> why = inEnglish(prepared.opened.source->warnings());
        const std::string where = utf8Of(prepared.opened.checkpoint->where());
        const Sentence what =
            prepared.opened.source->fileNames().empty()
                ? said("%1: the weight files are not in the folder; a plan can be made, a load "
                       "cannot",
                       where)
                : said("%1: not all weights are in the folder; a plan can be made, a load cannot",
                       where);
        return Error{ErrorCode::InvalidFile,
                     why.empty() ? what : said("%1. %2", what, why.front())};
    }
    // Read beside the opening of the cards and the weights: it takes some tenths of a second.
    std::future<Result<Tokenizer>> tokenizer;
    if (!request.model.starts_with("shape:")) {
        // Copied, not moved, into std::async: where the system starts no thread it is used twice.
        const auto read = [checkpoint = prepared.opened.checkpoint] {
            const kernels::StageTimer timer("tokenizer");
            return Tokenizer::fromCheckpoint(*checkpoint);
        };
        tokenizer = std::async(read);
    }
    auto summary = summarize(prepared.opened);
    for (const auto& adapter : prepared.adapters) {
        summary.adapters.push_back(summarizeAdapter(*adapter));
    }
    target.summary = std::make_shared<const ModelSummary>(std::move(summary));
    HostDeviceOptions device_options;
    device_options.threads = request.threads;
    device_options.sim_capacities = request.sim_gpus;
    device_options.is_reference_precision = request.is_reference_precision;
    target.devices = makeHostDevices(device_options);
    {
        const kernels::StageTimer timer("opening cards");
        ENGINE_TRY(openPlanned(target, request, prepared));
    }
    target.opened = std::move(prepared.opened);
    target.speeds = std::move(prepared.speeds);
    target.plan = withAssumedContexts(prepared.plan, *options.gpus);
    if (options.on_devices) {
        options.on_devices(target.devices);
    }

    LoadOptions load_options = loadOptions(target, progress, stop);
    for (const DeviceInfo& device : prepared.asked.devices) {
        load_options.card_granularity = std::max(load_options.card_granularity, device.granularity);
    }
    ENGINE_ASSIGN(target.store, ::engine::load(*target.opened.source, target.opened.config,
                                               *target.plan, target.devices.set, load_options));
    if (tokenizer.valid()) {
        ENGINE_ASSIGN(target.tokenizer, tokenizer.get());
        if (target.tokenizer->vocabSize() > target.opened.config.text.vocab_size) {
            return Error{ErrorCode::InvalidFile,
                         said("tokenizer.json has %1 entries, the model's vocabulary has %2",
                              target.tokenizer->vocabSize(), target.opened.config.text.vocab_size)};
        }
        target.turns =
            makeTurns(target.opened.config, *target.opened.checkpoint, *target.tokenizer);
    }
    target.adapters = std::make_unique<AdapterSet>(*target.devices.set.at(DeviceId::cpu()));
    ENGINE_TRY(addAdapters(target, request.adapters, prepared.adapters, stop));
    const kernels::StageTimer timer("cache of keys and values, model");
    ENGINE_ASSIGN(target.kv,
                  KvCache::create(target.opened.config, *target.plan, target.devices.set));
    ENGINE_TRY(rebuildModel(target, target.plan, stop));
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

Result<void>
Engine::Impl::openPlanned(Loaded& target, const LoadRequest& request, Prepared& prepared) const {
    // What a card takes is measured when it is opened. Other programs may disturb that, though not
    // for ever.
    constexpr int kMostRounds = 4;
    for (int round = 1;; ++round) {
        Result<void> opened = openCards(target, *prepared.plan);
        bool is_news = false;
        for (DeviceInfo& device : prepared.asked.devices) {
            if (device.id.kind != DeviceId::Kind::Cuda) {
                continue;
            }
            const kernels::CardCosts costs = options.gpus->costs(device.id.index);
            if (costs.context_bytes > 0 && (costs.context_bytes != device.context_bytes ||
                                            costs.granularity != device.granularity)) {
                device.context_bytes = costs.context_bytes;
                device.granularity = costs.granularity;
                is_news = true;
            }
        }
        // A limit below what the driver takes: known now, so that another plan may do without.
        const bool lacks_room =
            !opened.has_value() && opened.error().code == ErrorCode::OutOfMemory;
        if (!is_news || round == kMostRounds || (!opened.has_value() && !lacks_room)) {
            return opened;
        }
        makePlanOf(request, prepared, /*is_plan_only=*/false);
        if (!prepared.plan->fits) {
            return planError(*prepared.plan);
        }
    }
}

Result<void> Engine::Impl::rebuildModel(Loaded& target,
                                        const std::shared_ptr<const PlacementPlan>& plan,
                                        const std::stop_token& stop) {
    target.generator.reset();
    target.model.reset();
    ENGINE_ASSIGN(target.model, Model::create(target.opened.config, *plan, *target.store,
                                              target.devices.set, target.hook()));
    target.model->setStepHook(options.on_step);
    target.model->setDecodeOptions(options.decode);
    target.drafts.reset(); // what rounds cost is another matter in another placement
    if (const auto& assistant = target.opened.config.assistant) {
        target.drafts.emplace(target.request.draft_tokens, assistant->num_draft_tokens);
    }
    target.plan = plan;
    if (ExpertCounts* const counts = target.model->expertCounts()) {
        readExpertCounts(expertCountsOf(target), *counts);
        ENGINE_TRY(target.model->followExperts(SIZE_MAX, stop));
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        for (const DevicePlan& device : plan->devices) {
            if (device.parts[MemoryPart::Experts] > 0 &&
                target.model->expertCache(device.id).places == 0) {
                setWithoutCopies(target, device.id,
                                 said("%1: there was no room for copies of experts", device.id));
            }
        }
    }
    return {};
}

void Engine::Impl::setWithoutCopies(Loaded& target, DeviceId card, Sentence why) {
    auto plan = std::make_shared<PlacementPlan>(*target.plan);
    for (DevicePlan& device : plan->devices) {
        if (device.id == card) {
            device.parts[MemoryPart::Experts] = 0;
        }
    }
    plan->notes.emplace_back(std::move(why));
    target.plan = std::move(plan);
}

std::filesystem::path Engine::Impl::expertCountsOf(const Loaded& target) const {
    return options.rates_file.empty()
               ? std::filesystem::path()
               : expertCountsFile(pathFromUtf8(options.rates_file).parent_path(),
                                  target.request.model);
}

void Engine::Impl::afterReply(Loaded& target, const Reply& reply, bool has_drafts) const {
    if (reply.finish_reason == "cancelled") {
        return;
    }
    if (!has_drafts && target.hook() == nullptr) {
        target.speeds.learn(*target.plan, reply.timing);
    }
    ExpertCounts* const counts = target.model->expertCounts();
    if (counts == nullptr || std::all_of(counts->all().begin(), counts->all().end(),
                                         [](uint32_t count) { return count == 0; })) {
        return;
    }
    if (const auto file = expertCountsOf(target); !file.empty()) {
        keepExpertCounts(file, *counts);
    }
    // What was asked for many replies ago counts less than what is asked for now.
    constexpr uint32_t kMostOfOne = 1U << 16;
    if (*std::max_element(counts->all().begin(), counts->all().end()) > kMostOfOne) {
        counts->halve();
    }
    // A tenth of a second at most, even where memory that is not page-locked is copied. The reply
    // is whole: whoever uses a lost card next is told.
    constexpr size_t kMostBytes = size_t{256} << 20;
    static_cast<void>(target.model->followExperts(kMostBytes, {}));
}

Result<void> Engine::load(const LoadRequest& request,
                          const ProgressCallback& progress,
                          const std::stop_token& stop) {
    try {
        impl_->keepSpareMessage();
        Result<void> loaded = loadModel(request, progress, stop);
        if (!loaded.has_value()) {
            return putBackAfter(std::move(loaded).error());
        }
        return loaded;
    } catch (const std::bad_alloc&) {
        return putBackAfter(impl_->outOfHostMemory(
            phrase("loading %1 needed more memory than the system gave; close other programs, or "
                   "choose a smaller context or a smaller format"),
            request.model));
    }
}

Result<void> Engine::loadModel(const LoadRequest& request,
                               const ProgressCallback& progress,
                               const std::stop_token& stop) {
    if (!request.what_if.empty()) {
        return Error{
            ErrorCode::InvalidRequest,
            said("this is a plan for another computer; loading needs one for this computer")};
    }
    if (impl_->loaded != nullptr &&
        std::any_of(impl_->loaded->devices.set.begin(), impl_->loaded->devices.set.end(),
                    [](const auto& entry) { return entry.second->isLost(); })) {
        impl_->loaded.reset(); // a lost card answers again only after everything on it is gone
    }
    // Beyond what is free only where nothing else is left: not beside the model in use.
    LoadRequest within = request;
    within.loads_anyway = false;
    ENGINE_ASSIGN(Impl::Prepared prepared, impl_->prepare(within, HeldBytes{}, stop));
    const bool lacks_memory = !prepared.plan->fits && !prepared.plan->errors.empty() &&
                              prepared.plan->errors.front().code == "DM09";
    if (lacks_memory && impl_->loaded != nullptr) {
        // Side by side with the model in use it does not fit. If it would fit alone, the old one
        // makes room, and comes back should the new one fail.
        ENGINE_ASSIGN(Impl::Prepared alone, impl_->prepare(request, impl_->heldBytes(), stop));
        if (alone.plan->fits) {
            prepared = std::move(alone);
            impl_->lose(); // load() puts it back should the rest fail
        }
    } else if (lacks_memory && request.loads_anyway) {
        ENGINE_ASSIGN(prepared, impl_->prepare(request, HeldBytes{}, stop));
    }
    ENGINE_ASSIGN(std::unique_ptr<Loaded> target,
                  impl_->build(request, std::move(prepared), progress, stop));
    target->generator = std::make_unique<Generator>(*target->model, *target->kv);
    impl_->loaded = std::move(target);
    impl_->lost.reset();
    return {};
}

void Engine::unload() {
    impl_->loaded.reset();
    impl_->lost.reset();
}

Result<void> Engine::applyMap(const std::string& device_map,
                              const ProgressCallback& progress,
                              const std::stop_token& stop) {
    try {
        impl_->keepSpareMessage();
        return impl_->named(replace(device_map, progress, stop));
    } catch (const std::bad_alloc&) {
        Error error = impl_->outOfHostMemory(
            phrase("the move needed more memory than the system gave; close other programs, or "
                   "choose a smaller context or a smaller format"));
        // The generator is laid aside for the time that anything changes.
        const bool is_untouched = impl_->loaded != nullptr && impl_->loaded->generator != nullptr;
        if (is_untouched) {
            return error;
        }
        return loadAgain(std::move(error));
    }
}

Result<void> Engine::setAdapters(const std::vector<AdapterChoice>& adapters,
                                 const std::stop_token& stop) {
    try {
        impl_->keepSpareMessage();
        return changeAdapters(adapters, stop);
    } catch (const std::bad_alloc&) {
        return loadAgain(impl_->outOfHostMemory(
            phrase("changing adapters needed more memory than the system gave; close other "
                   "programs, or choose a smaller context or a smaller format")));
    }
}

Error Engine::loadAgain(Error error) noexcept {
    impl_->lose();
    return putBackAfter(std::move(error));
}

Error Engine::putBackAfter(Error error) noexcept {
    try {
        const Result<void> restored = putBack();
        if (!restored.has_value()) {
            error.say(said("%1; the former model could not be loaded again: %2", error.told(),
                           restored.error().told()));
        }
    } catch (const std::bad_alloc&) {
        // Still no memory: the next request tries again.
    }
    return error;
}

Result<void> Engine::putBack() {
    if (!impl_->lost.has_value() || impl_->loaded != nullptr) {
        return {};
    }
    const LoadRequest request = impl_->lost->request;
    Result<void> loaded = loadModel(request, {}, {});
    if (!loaded.has_value() && loaded.error().code != ErrorCode::OutOfMemory) {
        impl_->lost.reset();
    }
    return loaded;
}

Result<void> Engine::replace(const std::string& device_map,
                             const ProgressCallback& progress,
                             const std::stop_token& stop) {
    ENGINE_TRY(putBack());
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    LoadRequest request = target.request;
    request.device_map = device_map;
    request.moves.clear();
    request.adapters.clear();
    for (const auto& active : target.active) {
        request.adapters.push_back(active.choice);
    }
    ENGINE_ASSIGN(Impl::Prepared prepared, impl_->prepare(request, impl_->heldBytes(), stop));
    if (!prepared.plan->fits) {
        return planError(*prepared.plan);
    }
    ENGINE_TRY(impl_->openPlanned(target, request, prepared));
    prepared.plan = withAssumedContexts(prepared.plan, *impl_->options.gpus);
    const std::shared_ptr<const PlacementPlan> former = target.plan;
    const LoadOptions options = Impl::loadOptions(target, progress, stop);
    // DoRA's norms are of the base weights as they are: taken anew where these change.
    const auto changed = otherFormats(*former, *prepared.plan);
    const auto hasChanged = [&changed](const std::string& tensor) {
        return changed.contains(tensor);
    };
    const ReadBaseRows base_of_changed = changed.empty() ? ReadBaseRows() : target.readBase();
    bool have_adapters_followed = false;
    // The workspace goes first and comes back last: it holds nothing that must survive.
    std::unique_ptr<Generator> generator = std::move(target.generator);
    target.model.reset();
    const auto restore = [&](Error failure) -> Error {
        Error error = withFailure(std::move(failure), target.devices, *impl_->options.gpus);
        LoadOptions quiet = options;
        quiet.stop = {};
        const Result<void> store_back = applyPlan(*target.store, *former, quiet);
        const Result<void> kv_back =
            target.kv->moveTo(target.opened.config, *former, target.devices.set);
        const Result<void> adapters_back = target.adapters->follow(
            target.adapterHomes(), have_adapters_followed ? base_of_changed : ReadBaseRows(),
            hasChanged);
        const Result<void> model_back = impl_->rebuildModel(target, former, {});
        for (const auto* back : {&store_back, &kv_back, &adapters_back, &model_back}) {
            if (!back->has_value()) {
                error.say(said("%1; the former placement could not be restored: %2", error.told(),
                               back->error().told()));
                return loadAgain(std::move(error));
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
            target.kv->moveTo(target.opened.config, *prepared.plan, target.devices.set);
        !moved.has_value()) {
        return restore(std::move(moved).error());
    }
    if (Result<void> moved =
            target.adapters->follow(target.adapterHomes(), base_of_changed, hasChanged);
        !moved.has_value()) {
        return restore(std::move(moved).error());
    }
    have_adapters_followed = true;
    if (Result<void> rebuilt = impl_->rebuildModel(target, prepared.plan, stop);
        !rebuilt.has_value()) {
        return restore(std::move(rebuilt).error());
    }
    target.request = std::move(request);
    target.speeds = std::move(prepared.speeds);
    generator->setModel(*target.model);
    target.generator = std::move(generator);
    return {};
}

bool Engine::Impl::giveUpExperts(Loaded& target) {
    if (!target.model->dropExperts()) {
        return false;
    }
    const std::shared_ptr<const PlacementPlan> plan = target.plan;
    for (const DevicePlan& device : plan->devices) {
        if (device.parts[MemoryPart::Experts] > 0) {
            setWithoutCopies(target, device.id,
                             said("%1: copies of experts made room for an adapter; they come back "
                                  "when the layout is applied or the model is loaded",
                                  device.id));
        }
    }
    return true;
}

Result<void> Engine::changeAdapters(const std::vector<AdapterChoice>& adapters,
                                    const std::stop_token& stop) {
    ENGINE_TRY(putBack());
    ENGINE_ASSIGN(Loaded * current, impl_->current());
    Loaded& target = *current;
    std::vector<AdapterChoice> choices = adapters;
    // Check and open what is new before anything changes.
    std::vector<std::shared_ptr<const Adapter>> opened(adapters.size());
    for (size_t i = 0; i < adapters.size(); ++i) {
        if (adapters[i].strength < 0.0 || adapters[i].strength > 2.0 ||
            std::isnan(adapters[i].strength)) {
            return Error{ErrorCode::InvalidRequest, said("%1: strength %2, expected 0 to 2",
                                                         adapters[i].folder, adapters[i].strength)};
        }
        for (const auto& active : target.active) {
            if (active.choice.folder == adapters[i].folder) {
                opened[i] = active.adapter;
            }
        }
        if (opened[i] == nullptr) {
            ENGINE_ASSIGN(opened[i], impl_->openAdapter(adapters[i].folder, target.opened, stop));
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
            const auto add = [&] {
                return target.adapters->add(opened[i], adapters[i].strength, false,
                                            target.adapterHomes(), target.readBase(), stop);
            };
            Result<int> result = add();
            if (!result.has_value() && result.error().code == ErrorCode::OutOfMemory &&
                Impl::giveUpExperts(target)) {
                result = add();
            }
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
        if (is_kept) {
            continue;
        }
        if (Result<void> removed = target.adapters->remove(active.id); !removed.has_value()) {
            return loadAgain(std::move(removed).error());
        }
    }
    const bool is_strength_only =
        next.size() == target.active.size() && target.adapters->hasOnlyUpdates() &&
        std::equal(next.begin(), next.end(), target.active.begin(),
                   [](const Loaded::ActiveAdapter& a, const Loaded::ActiveAdapter& b) {
                       return a.id == b.id && a.choice.is_enabled == b.choice.is_enabled &&
                              (a.choice.strength == 0.0) == (b.choice.strength == 0.0);
                   });
    target.active = std::move(next);
    if (is_strength_only) {
        target.model->adapterStrengthsChanged();
    } else if (Result<void> set = target.model->setAdapters(target.hook()); !set.has_value()) {
        return loadAgain(std::move(set).error());
    }
    target.request.adapters = std::move(choices);
    return {};
}

} // namespace engine
