// SPDX-License-Identifier: Apache-2.0
// The engine's state and what can be asked about it.
#include "engine/api/device_loss.h"
#include "engine/base/paths.h"
#include "engine/devices/card_measure.h"
#include "engine/devices/system_memory.h"
#include "engine/families/gguf/checkpoint.h"
#include "engine/files/folder_advice.h"
#include "engine/run/engine_state.h"
#include "engine/run/memory_budget.h"
#include "engine/run/planning.h"
#include "kernels/cpu/tables.h"
#include "kernels/stage_times.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <span>

namespace engine {

Error Engine::Impl::outOfHostMemory(Phrase words, std::string_view subject) noexcept {
    const std::string_view pattern = words.text;
    Error error;
    error.code = ErrorCode::OutOfMemory;
    error.message.swap(spare_message);
    error.message.clear();
    if (error.message.capacity() < pattern.size()) {
        error.message = "out of memory"; // short enough to stand in the string itself
        error.sentence = phrase("out of memory");
        return error;
    }
    error.sentence.pattern = words.text;
    const size_t place = pattern.find("%1");
    if (place == std::string_view::npos) {
        error.message.append(pattern);
        return error;
    }
    error.sentence.arguments.swap(spare_arguments);
    const bool has_room = pattern.size() + subject.size() < error.message.capacity();
    error.message.append(pattern.substr(0, place));
    if (has_room) {
        error.message.append(subject);
    }
    error.message.append(pattern.substr(place + 2));
    if (error.sentence.arguments.empty()) {
        error.sentence = {}; // as it was used before: the message says it in English
        return error;
    }
    auto& text = *std::get_if<std::string>(&error.sentence.arguments.front().value);
    if (has_room && subject.size() <= text.capacity()) {
        text.assign(subject);
    }
    return error;
}

Error withFailure(Error error, const OwnedDevices& devices, const GpuAccess& gpus) {
    for (const auto& [id, device] : devices.set) {
        // What follows from a lost card (no memory, no kernel) is told as its loss.
        if (device->isLost() && error.code != ErrorCode::DeviceLost) {
            error.code = ErrorCode::DeviceLost;
            error.say(said("%1: the device stopped answering (%2)", id.toString(), error.told()));
        }
    }
    if (error.code != ErrorCode::DeviceLost) {
        return error;
    }
    bool is_lost = false;
    for (const auto& [id, device] : devices.set) {
        const std::string failure = device->lastFailure();
        if (!failure.empty()) {
            error.say(said("%1 (%2: %3)", error.told(), id.toString(), failure));
            error.details.emplace_back("device", id.toString());
        }
        is_lost = is_lost || device->isLost();
    }
    if (!is_lost || needsNewProcess(error)) {
        return error; // the next step was told where a card was refused
    }
    if (!gpus.process_fault().empty()) {
        error.say(said("%1. %2", error.told(), kNewProcessAdvice));
        error.details.emplace_back(kNeedsNewProcess, "true");
    } else {
        error.say(
            said("%1; reload the model, or restart the program if it stays so", error.told()));
    }
    return error;
}

AdapterHomeOf Loaded::adapterHomes() const {
    return [this](const std::string& tensor) {
        AdapterHome home;
        const WeightSource::Handle handle = store->handleOf(tensor);
        if (handle == WeightSource::kAbsent) {
            return home;
        }
        const TensorPlacement& place = store->placement(handle);
        const auto it = devices.set.find(place.compute);
        if (it == devices.set.end()) {
            return home;
        }
        home.compute = it->second;
        if (place.store != place.compute && place.residency != Residency::Always &&
            store->plan().adapters_follow_base) {
            const bool is_visit = place.residency == Residency::OnUse;
            home.travel = is_visit ? AdapterHome::Travel::Visits : AdapterHome::Travel::Streams;
            home.is_on_disk = place.store.kind == DeviceId::Kind::Disk;
            home.group = is_visit ? visitGroup(place.part) : std::string_view();
        }
        return home;
    };
}

ReadBaseRows Loaded::readBase() const {
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

namespace {

/// Beside the machine's rates; empty where those are not kept.
std::filesystem::path costsFile(const std::string& rates_file) {
    return rates_file.empty() ? std::filesystem::path()
                              : pathFromUtf8(rates_file).replace_filename("card-costs");
}

} // namespace

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>()) {
    impl_->options = std::move(options);
    if (impl_->options.has_load_times) {
        kernels::StageTimer::turnOn();
    }
    if (!impl_->options.cpu_kernels.empty()) {
        kernels::limitCpuOps(impl_->options.cpu_kernels.c_str());
    }
    if (impl_->options.gpus == nullptr) {
        auto inquiry = impl_->options.inquiry;
        if (inquiry == nullptr) {
            CardInquiryOptions unasked;
            unasked.library_path = impl_->options.library_path;
            inquiry = std::make_shared<CardInquiry>(std::move(unasked));
        }
        impl_->options.gpus = std::make_shared<const GpuAccess>(
            systemGpuAccess(inquiry, impl_->options.cards, costsFile(impl_->options.rates_file)));
    }
}
Engine::~Engine() = default;

Result<OpenedModel> Engine::Impl::open(const std::string& model,
                                       bool is_text_only,
                                       const std::string& projector) const {
    constexpr std::string_view kShape = "shape:";
    if (model.starts_with(kShape)) {
        return openShape(model.substr(kShape.size()), is_text_only);
    }
    if (model == "demo") {
        if (options.demo_folder.empty()) {
            return Error{
                ErrorCode::InvalidRequest,
                said("the demo model is not installed beside this program; give a model folder")};
        }
        return OpenedModel::open(folderCheckpoint(pathFromUtf8(options.demo_folder)), is_text_only);
    }
    if (model.empty()) {
        return Error{ErrorCode::InvalidRequest, said("no model folder was given")};
    }
    ENGINE_ASSIGN(auto checkpoint, openCheckpoint(pathFromUtf8(model), pathFromUtf8(projector)));
    Result<OpenedModel> opened = OpenedModel::open(std::move(checkpoint), is_text_only);
    if (!opened.has_value()) {
        return withDownload(std::move(opened).error(), options.hub_caches);
    }
    return opened;
}

std::string Engine::Impl::adapterFolder(const std::string& name) const {
    return name == "demo" && !options.demo_folder.empty() ? options.demo_folder + "/adapter" : name;
}

Result<std::shared_ptr<const Adapter>> Engine::Impl::openAdapter(
    const std::string& folder, const OpenedModel& model, const std::stop_token& stop) const {
    AdapterOptions adapter_options;
    adapter_options.base = model.source->isHeaderOnly() ? nullptr : model.source.get();
    adapter_options.model = model.checkpoint.get();
    adapter_options.stop = stop;
    auto adapter = loadAdapter(pathFromUtf8(adapterFolder(folder)), model.config, model.adaptable(),
                               adapter_options);
    if (!adapter.has_value()) {
        return withDownload(std::move(adapter).error(), options.hub_caches);
    }
    return adapter;
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

MemoryBudget Engine::Impl::budgetOf(DeviceId card, const kernels::Device* device) const {
    const auto memory = options.gpus->video_memory(card.index);
    if (!memory.has_value()) {
        return {};
    }
    CardBudget& known = budgets[card];
    MemoryBudget now = known.watch.look(*memory, device == nullptr ? 0 : pageLockedBytes(*device));
    const std::shared_ptr<const PlacementPlan> plan =
        loaded != nullptr && building == nullptr ? loaded->plan : nullptr;
    if (now.state != MemoryBudget::State::Fine && plan != nullptr) {
        // Where it got worse, or the parts lie elsewhere, there is other advice.
        const bool is_same = known.plan == plan && now.state == known.told.state &&
                             now.must_go <= known.told.must_go + known.told.must_go / 4;
        if (is_same) {
            now.must_go = std::max(now.must_go, known.told.must_go);
            now.advice = known.told.advice;
            now.is_advice_enough = known.told.is_advice_enough;
        } else {
            const PlanFor plan_for = [this](const LoadRequest& request) {
                auto prepared = prepare(request, HeldBytes{}, {}, /*is_plan_only=*/true);
                return prepared.has_value() ? std::optional<PlacementPlan>(*prepared->plan)
                                            : std::nullopt;
            };
            try {
                adviseOnBudget(loaded->request, *plan, card, systemMemory().available, plan_for,
                               now);
            } catch (const std::bad_alloc&) {
                now.advice.clear(); // the state itself is what matters
            }
        }
    }
    known.told = now;
    known.plan = plan;
    return now;
}

bool Engine::isLoaded() const {
    return impl_->loaded != nullptr || impl_->lost.has_value();
}

const LoadRequest& Engine::loadedRequest() const {
    static const LoadRequest kNone;
    if (impl_->loaded == nullptr) {
        return impl_->lost.has_value() ? impl_->lost->request : kNone;
    }
    return impl_->loaded->request;
}

Result<ModelConfig> Engine::loadedConfig() const {
    ENGINE_ASSIGN(const Loaded* target, impl_->current());
    return target->opened.config;
}

std::shared_ptr<const ModelSummary> Engine::summary() const {
    if (impl_->loaded == nullptr) {
        return impl_->lost.has_value() ? impl_->lost->summary : nullptr;
    }
    return impl_->loaded->summary;
}

std::shared_ptr<const PlacementPlan> Engine::currentPlan() const {
    if (impl_->loaded == nullptr) {
        return impl_->lost.has_value() ? impl_->lost->plan : nullptr;
    }
    return impl_->loaded->plan;
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
            PartBytes held;
            for (const MemoryPart part : kMemoryParts) {
                held[part] = device->usedBytes(static_cast<int>(part));
            }
            if (it == out.end()) {
                it = out.insert(out.end(), DeviceMemory());
                it->id = id;
                it->used_by_others =
                    id == DeviceId::cpu() ? otherProgramsRam() : device->otherProgramsBytes();
                if (id.kind == DeviceId::Kind::Cuda) {
                    it->budget = impl_->budgetOf(id, device);
                }
            } else if (id.kind == DeviceId::Kind::Cuda) {
                // The first model's view of the card takes this one's memory for another program's.
                it->used_by_others -= std::min(it->used_by_others, held.total());
            }
            it->capacity = device->memory().capacity;
            // One context serves both models; it is there as long as the card is open.
            const uint64_t context = device->contextBytes();
            PartBytes planned;
            planned[MemoryPart::Context] = context;
            for (const DevicePlan& plan : target->plan->devices) {
                if (plan.id == id) {
                    it->description = plan.description;
                    it->capacity = plan.capacity;
                    it->limit = plan.limit;
                    planned = plan.parts.total() > 0 ? plan.parts : planned;
                }
            }
            it->copied_in += device->copiedInBytes();
            if (target->model != nullptr && target == impl_->loaded.get()) {
                it->experts = target->model->expertCache(id);
            }
            for (const MemoryPart part : kMemoryParts) {
                it->measured[part] += held[part];
                if (part != MemoryPart::Context) {
                    it->predicted[part] += planned[part];
                }
            }
            it->measured[MemoryPart::Context] =
                std::max(it->measured[MemoryPart::Context], held[MemoryPart::Context] + context);
            it->predicted[MemoryPart::Context] =
                std::max(it->predicted[MemoryPart::Context], planned[MemoryPart::Context]);
        }
    }
    return out;
}

std::vector<DeviceMemory> Engine::machineMemory() const {
    std::vector<DeviceMemory> machine = engine::machineMemory(*impl_->options.gpus);
    for (DeviceMemory& memory : machine) {
        const bool is_loaded = impl_->loaded != nullptr &&
                               impl_->loaded->devices.set.contains(memory.id); // memory() looks
        if (memory.id.kind == DeviceId::Kind::Cuda && !is_loaded && impl_->building == nullptr) {
            memory.budget = impl_->budgetOf(memory.id, nullptr);
        }
    }
    return machine;
}

double Engine::loadSeconds() const {
    return impl_->loaded == nullptr ? 0.0 : impl_->loaded->load_s;
}

namespace {

/// What an adapter's file holds and its own config or the model leaves out: with a wrong config it
/// does less than it was trained to, or nothing.
std::optional<Sentence> leftOutOf(const Adapter& adapter) {
    int64_t count = 0;
    const KeyReport* first = nullptr;
    for (const KeyReport& key : adapter.coverage().unmatched) {
        const bool is_meant = key.reason.why == KeyReason::Why::SameAsBase ||
                              key.reason.why == KeyReason::Why::TextOnly;
        if (key.key_class == KeyClass::Ignored && !is_meant && count++ == 0) {
            first = &key;
        }
    }
    if (first == nullptr) {
        return std::nullopt;
    }
    return said("adapter %1: %2 of %3 tensors of its file are not applied, the first: %4 (%5)",
                adapter.name(), count, adapter.coverage().tensors, first->key,
                first->reason.sentence);
}

} // namespace

std::vector<Sentence> Engine::loadNotes() const {
    std::vector<Sentence> notes;
    if (impl_->loaded == nullptr) {
        return notes;
    }
    // What is odd about a folder is known to more than one of these.
    std::set<std::string> told;
    const auto add = [&notes, &told](Sentence note) {
        if (told.insert(inEnglish(note)).second) {
            notes.push_back(std::move(note));
        }
    };
    const PlacementPlan& plan = *impl_->loaded->plan;
    for (const PlanIssue& warning : plan.warnings) {
        add(asItIs(describe(warning)));
    }
    for (const Note& note : plan.notes) {
        add(note.words);
    }
    const std::vector<Sentence>& odd = impl_->loaded->opened.config.warnings;
    std::for_each(odd.begin(), odd.end(), add);
    const LoadReport& report = impl_->loaded->store->report();
    std::for_each(report.notes.begin(), report.notes.end(), add);
    if (impl_->loaded->tokenizer.has_value()) {
        const std::vector<Sentence>& of_text = impl_->loaded->tokenizer->warnings();
        std::for_each(of_text.begin(), of_text.end(), add);
    }
    for (const auto& active : impl_->loaded->active) {
        for (const Sentence& note : active.adapter->coverage().notes) {
            add(said("adapter %1: %2", active.adapter->name(), note));
        }
        if (auto left_out = leftOutOf(*active.adapter)) {
            add(*std::move(left_out));
        }
    }
    for (const std::string& name : report.surplus) {
        add(said("not used: %1 (no module of this architecture)", name));
    }
    std::map<std::string_view, std::pair<size_t, std::string_view>> inert; // by reason: the first
    for (const InertTensor& tensor : report.inert) {
        ++inert.try_emplace(tensor.reason, 0, tensor.name).first->second.first;
    }
    for (const auto& [reason, tensors] : inert) {
        const auto& [count, first] = tensors;
        add(count == 1
                ? said("not loaded: %1 (%2)", first, reason)
                : said("%1 stored tensors without effect (%2) were not loaded", count, reason));
    }
    return notes;
}

std::pair<int64_t, int64_t> Engine::contextUse() const {
    if (impl_->loaded == nullptr) {
        return {0, 0};
    }
    return {impl_->loaded->kv->size(), impl_->loaded->kv->context()};
}

Capabilities Engine::capabilities() const {
    return {}; // everything
}

std::string Engine::modelFolder(const std::string& model) const {
    return model == "demo" && !impl_->options.demo_folder.empty() ? impl_->options.demo_folder
                                                                  : model;
}

std::string Engine::adapterFolder(const std::string& adapter) const {
    return impl_->adapterFolder(adapter);
}

} // namespace engine
