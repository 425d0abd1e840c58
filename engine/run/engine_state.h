// SPDX-License-Identifier: Apache-2.0
// What the halves of the engine share: one loaded model, and the engine's private members. Included
// by engine*.cpp only.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/base/seconds_since.h"
#include "engine/devices/device_set.h"
#include "engine/devices/gpu_access.h"
#include "engine/devices/machine_rates.h"
#include "engine/devices/spill_watch.h"
#include "engine/families/chat_turns.h"
#include "engine/families/stored_templates.h"
#include "engine/forward/model.h"
#include "engine/load/loader.h"
#include "engine/lora/adapter.h"
#include "engine/lora/adapter_runtime.h"
#include "engine/run/draft_policy.h"
#include "engine/run/engine.h"
#include "engine/run/generator.h"
#include "engine/run/media_store.h"
#include "engine/run/opened_model.h"
#include "engine/run/prompt_builder.h"
#include "engine/run/speed_book.h"
#include "engine/text/tokenizer.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

using Clock = std::chrono::steady_clock;

/// What `inspect` and a load tell about an adapter.
AdapterSummary summarizeAdapter(const Adapter& adapter);

/// A model that memory did not let stay: it is loaded again before the next request.
struct LostModel {
    LoadRequest request;
    std::shared_ptr<const ModelSummary> summary;
    std::shared_ptr<const PlacementPlan> plan;
};

/// Adds the driver's own words to an error of a card that stopped answering.
Error withFailure(Error error, const OwnedDevices& devices, const GpuAccess& gpus);

/// Everything that belongs to one loaded model. Members are destroyed in reverse order: the model
/// before the weights, those before the devices.
struct Loaded {
    LoadRequest request;
    OpenedModel opened;
    std::shared_ptr<const ModelSummary> summary;
    std::optional<Tokenizer> tokenizer;     ///< Absent for random shapes.
    std::unique_ptr<const ChatTurns> turns; ///< Where there is a tokenizer.
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
    std::optional<DraftPolicy> drafts; ///< Where an assistant is loaded.
    MediaStore media;
    ReplyMemory replies;
    SpeedBook speeds;
    double load_s = 0.0;
    /// The folder's own chat template, until it has been told that it writes something else.
    std::optional<ChatTemplateText> own_template;
    /// Adapters, by name, whose own template was told of likewise.
    std::set<std::string> told_templates;

    [[nodiscard]] AdapterHook* hook() const { return active.empty() ? nullptr : adapters.get(); }

    /// Where an adapter's factors of a tensor are and compute, by the plan as it is now.
    [[nodiscard]] AdapterHomeOf adapterHomes() const;
    /// Reads rows of a loaded weight as float32.
    [[nodiscard]] ReadBaseRows readBase() const;
};

/// Bytes per device.
using HeldBytes = std::map<DeviceId, uint64_t>;

struct Engine::Impl {
    EngineOptions options;
    std::unique_ptr<Loaded> loaded;
    std::optional<LostModel> lost; ///< Only while nothing is loaded.
    static constexpr size_t kSpareMessageBytes = 512;
    std::string spare_message;
    std::vector<Argument> spare_arguments;             ///< One text for its sentence.
    mutable std::optional<MachineConstants> constants; ///< Read or measured by the first plan.
    const Loaded* building = nullptr;                  ///< Being loaded now.
    /// One card's share of its memory by the system, and what was advised last about it.
    struct CardBudget {
        SpillWatch watch;
        MemoryBudget told;
        std::shared_ptr<const PlacementPlan> plan; ///< That the advice is about.
    };
    mutable std::map<DeviceId, CardBudget> budgets;

    /// Budget of a card, opened or not (`device` may be nullptr); 0 where nobody tells. Makes some
    /// plans when a card gets into need.
    [[nodiscard]] MemoryBudget budgetOf(DeviceId card, const kernels::Device* device) const;

    /// A folder, a GGUF file (its `projector`: ggufCheckpoint()), "demo" or "shape:NAME";
    /// `is_text_only`: without its towers.
    [[nodiscard]] Result<OpenedModel> open(const std::string& model,
                                           bool is_text_only = false,
                                           const std::string& projector = {}) const;

    /// The drafting assistant that the request asks for; nothing where it asks for none.
    Result<void> addAssistant(OpenedModel& opened, const LoadRequest& request) const;

    /// "demo" names the bundled adapter folder beside the demo model's files.
    [[nodiscard]] std::string adapterFolder(const std::string& name) const;

    Result<std::shared_ptr<const Adapter>> openAdapter(const std::string& folder,
                                                       const OpenedModel& model,
                                                       const std::stop_token& stop) const;

    /// Opens folder and adapters and makes the plan.
    struct Prepared {
        OpenedModel opened;
        std::vector<std::shared_ptr<const Adapter>> adapters;
        PlanRequest asked; ///< What the plan answers.
        std::shared_ptr<const PlacementPlan> plan;
        SpeedBook speeds; ///< What the rates in `asked` were corrected by.
    };
    /// `is_plan_only`: adapters are judged by their headers and not kept.
    Result<Prepared> prepare(const LoadRequest& request,
                             const HeldBytes& held,
                             const std::stop_token& stop,
                             bool is_plan_only = false) const;

    /// The plan that `prepared.asked` leads to, with what is to be said of machine and model.
    void makePlanOf(const LoadRequest& request, Prepared& prepared, bool is_plan_only) const;

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
    Result<void> rebuildModel(Loaded& target,
                              const std::shared_ptr<const PlacementPlan>& plan,
                              const std::stop_token& stop);
    /// The plan says that there are no copies of experts on a card, and why.
    static void setWithoutCopies(Loaded& target, DeviceId card, Sentence why);
    /// Where it is kept how often the model's experts were asked for; empty: nowhere.
    [[nodiscard]] std::filesystem::path expertCountsOf(const Loaded& target) const;
    /// What a reply teaches: the speed of devices, and which experts are in demand, whose copies
    /// come to the cards.
    void afterReply(Loaded& target, const Reply& reply, bool has_drafts) const;
    /// Makes room on the cards by giving up these copies; false: there are none.
    static bool giveUpExperts(Loaded& target);
    /// may_compute_ahead: rows of the text in front of the first attachment may go into the cache
    /// while it is encoded (timing.ahead_tokens).
    Result<PreparedPrompt> preparePrompt(const GenerateRequest& request,
                                         Reply& reply,
                                         const std::stop_token& stop,
                                         bool may_compute_ahead = false);

    static LoadOptions loadOptions(const Loaded& target,
                                   const ProgressCallback& progress,
                                   const std::stop_token& stop);

    /// Opens the cards that a plan uses and that are not open yet.
    Result<void> openCards(Loaded& target, const PlacementPlan& plan) const;
    /// The same of prepared.plan, which is made anew where a card that is opened takes another
    /// amount for its driver than was planned with. Errors: also those of a plan that does not fit
    /// then.
    Result<void> openPlanned(Loaded& target, const LoadRequest& request, Prepared& prepared) const;
    /// What the loaded model holds per device: free again for a plan that replaces it.
    [[nodiscard]] HeldBytes heldBytes() const;

    /// A result with withFailure() applied to its error.
    template <typename T>
    [[nodiscard]] Result<T> named(Result<T> result) const {
        if (result.has_value() || loaded == nullptr) {
            return result;
        }
        return withFailure(std::move(result).error(), loaded->devices, *options.gpus);
    }

    /// After an exception rows and cache may disagree: both start empty.
    void forgetContext() {
        if (loaded != nullptr && loaded->generator != nullptr) {
            loaded->generator->forget();
        }
    }

    /// Room for the message of outOfHostMemory(), taken while there is memory. May throw bad_alloc.
    void keepSpareMessage() {
        spare_message.reserve(kSpareMessageBytes);
        if (spare_arguments.empty()) {
            spare_arguments.emplace_back(std::string());
            std::get_if<std::string>(&spare_arguments.front().value)->reserve(kSpareMessageBytes);
        }
    }
    /// OutOfMemory for plain memory of this program. `subject` stands in the place of `words` if
    /// they have one. Allocates nothing.
    [[nodiscard]] Error outOfHostMemory(Phrase words, std::string_view subject = {}) noexcept;

    /// Takes the loaded model down, to be put back later. Allocates nothing.
    void lose() noexcept {
        if (loaded != nullptr) {
            lost.emplace(LostModel{std::move(loaded->request), std::move(loaded->summary),
                                   std::move(loaded->plan)});
            loaded.reset();
        }
    }

    [[nodiscard]] Result<Loaded*> current() const {
        if (loaded == nullptr) {
            return Error{ErrorCode::InvalidRequest, said("no model is loaded")};
        }
        return loaded.get();
    }
};

/// What encodes a file of this kind. Errors: towerMissing().
Result<MediaEncoder*> encoderOf(const Model& model, MediaKind kind, const std::string& file);

} // namespace engine
