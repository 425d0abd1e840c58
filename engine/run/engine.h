// SPDX-License-Identifier: Apache-2.0
// The engine of this program as one object, and what only it can be asked: plans, measurements.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/listening.h"
#include "engine/api/load_request.h"
#include "engine/api/map_export.h"
#include "engine/api/measure.h"
#include "engine/api/merge.h"
#include "engine/api/model_summary.h"
#include "engine/api/snapshot.h"
#include "engine/base/result.h"
#include "engine/base/sentence_english.h"
#include "engine/client/engine_client.h"
#include "engine/devices/card_inquiry.h"
#include "engine/forward/token/decode_options.h"
#include "engine/plan/plan_english.h"
#include "engine/run/computer.h"
#include "kernels/card_options.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct GpuAccess;
struct ModelConfig;
struct OwnedDevices;

struct EngineOptions {
    std::string demo_folder; ///< Where "demo" is; empty = not available.
    /// Where this computer's measured rates are kept; measured by the first plan when the file is
    /// missing. Empty: estimates use the planner's documented constants.
    std::string rates_file;
    /// Folders of huggingface_hub's downloads, to name them where somebody gives a repository's
    /// name for a folder (engine/files/folder_advice.h).
    std::vector<std::filesystem::path> hub_caches;
    /// Called with the devices of every load before anything is allocated on them. A seam for
    /// tests, which limit devices or let allocations fail.
    std::function<void(OwnedDevices&)> on_devices;
    /// Called on the engine's thread between the layers of a prompt and of the towers, often: the
    /// window publishes the state of the memory from it. Must not call the engine back except for
    /// memory(), contextUse() and other plain questions.
    std::function<void()> on_step;
    /// Graphics cards; nullptr = those of this machine, opened as `cards` says.
    std::shared_ptr<const GpuAccess> gpus;
    kernels::CardOptions cards;
    /// How this machine's driver is asked before it is loaded; one for all engines of a program.
    /// nullptr: it is loaded unasked when somebody wants to know of cards.
    std::shared_ptr<CardInquiry> inquiry;
    /// Folders to look for the driver in first, as the system's LD_LIBRARY_PATH has them: for
    /// programs whose loader does not (kernels/cuda/system_library.h). Of an engine without an
    /// inquiry; counts until a driver has been looked for.
    std::string library_path;
    DecodeOptions decode;
    /// The widest CPU kernels to compute with, by the name of their table (kernels/cpu/tables.h):
    /// "cpu-avx2" computes as a machine without AVX-512 does. Empty, or what this machine does not
    /// have: no limit. Holds for the whole program, whose first engine decides.
    std::string cpu_kernels;
    /// From now on, every stage of a load prints to stderr how long it took; for the whole program.
    bool has_load_times = false;
};

/// Token ids of a text and their spellings.
struct Tokenized {
    std::vector<int32_t> ids;
    std::vector<std::string> pieces;
    std::vector<int32_t> prefix; ///< What the model's files put before raw text.
};

/// The engine of this program. Docs of the methods that override: EngineClient.
class Engine final : public EngineClient {
public:
    explicit Engine(EngineOptions options = {});
    ~Engine() override;

    [[nodiscard]] Capabilities capabilities() const override;
    Result<ModelSummary> inspect(const std::string& model,
                                 const std::vector<std::string>& adapters) override;
    Result<void> load(const LoadRequest& request,
                      const ProgressCallback& progress,
                      const std::stop_token& stop) override;
    void unload() override;
    Result<void> applyMap(const std::string& device_map,
                          const ProgressCallback& progress,
                          const std::stop_token& stop) override;
    Result<void> setAdapters(const std::vector<AdapterChoice>& adapters,
                             const std::stop_token& stop) override;
    Result<AdapterSummary::Effect> adapterEffect(const std::string& folder,
                                                 const std::stop_token& stop) override;
    [[nodiscard]] bool isLoaded() const override;
    [[nodiscard]] const LoadRequest& loadedRequest() const override;
    [[nodiscard]] std::shared_ptr<const ModelSummary> summary() const override;
    [[nodiscard]] std::shared_ptr<const PlacementPlan> currentPlan() const override;
    [[nodiscard]] std::vector<DeviceMemory> memory() const override;
    [[nodiscard]] std::vector<DeviceMemory> machineMemory() const override;
    [[nodiscard]] double loadSeconds() const override;
    [[nodiscard]] std::vector<Sentence> loadNotes() const override;
    [[nodiscard]] std::pair<int64_t, int64_t> contextUse() const override;
    Result<Reply> generate(const GenerateRequest& request,
                           const UpdateCallback& delta,
                           const std::stop_token& stop) override;
    Result<LogitsResult>
    logits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop) override;
    Result<void> encodeAhead(const MessagePart& part,
                             int64_t image_tokens,
                             const std::stop_token& stop) override;
    Result<void> checkMedia(const std::string& model,
                            const std::vector<std::string>& images,
                            const std::vector<std::string>& audios) const override;
    Result<MediaCost> mediaCost(const MessagePart& part, int64_t image_tokens) override;

    /// The plan for a request; allocates nothing. Problems of the map stand in plan.errors. `held`:
    /// memory of this program per device that the plan would give back first. Errors: only when the
    /// model or an adapter cannot be read.
    Result<PlacementPlan> plan(const LoadRequest& request,
                               const std::map<DeviceId, uint64_t>& held = {});
    /// The plan's map for other programs. Errors: as plan(), and every error of the map; a plan
    /// that only does not fit (DM09) is exported with a line among the losses.
    Result<MapExport> exportMap(const LoadRequest& request, MapExport::Kind kind);
    /// The folders behind the names "demo"; other names come back as they are.
    [[nodiscard]] std::string modelFolder(const std::string& model) const;
    [[nodiscard]] std::string adapterFolder(const std::string& adapter) const;
    /// Token ids of a text with a model's vocabulary.
    Result<Tokenized> tokenize(const std::string& model, std::string_view text);

    /// inspect() of the headers alone: without the tokenizer, which takes longer than all else to
    /// read, and without adapters. Errors: those of config and checkpoint readers.
    [[nodiscard]] Result<ModelSummary> readHeaders(const std::string& model) const;

    /// For tests that count layers; programs ask summary() and countWork(). Errors: InvalidRequest
    /// when nothing is loaded.
    [[nodiscard]] Result<ModelConfig> loadedConfig() const;

    /// Writes a model folder with the adapters in it, and <out>/merge_report.json. Nothing needs to
    /// be loaded. Errors: those of reading model and adapters; InvalidRequest (packed base, output
    /// not empty), InvalidFile (the update did not survive the rounding), Cancelled.
    Result<MergeReport> merge(const MergeOrder& order, const std::stop_token& stop);
    /// Writes an adapter folder that does what all adapters of the order do at their strengths, for
    /// programs that apply one adapter at full strength. Errors: as merge(), less those of the
    /// base; Unsupported (an adapter that is more than a low-rank sum).
    Result<StackReport> stack(const MergeOrder& order, const std::stop_token& stop);
    /// The report as the file has it.
    static nlohmann::ordered_json mergeReportTree(const MergeReport& report);

    /// Benchmarks: seconds to read and prepare a picture's or a sound's file without encoding it,
    /// and the machine's measured ceilings.
    Result<double> measurePreparation(const MessagePart& part, int64_t image_tokens) const;
    MachineRates measureMachine(double seconds);
    /// Bytes and operations of the loaded model. Errors: InvalidRequest when nothing is loaded.
    [[nodiscard]] Result<WorkCounts> countWork() const;
    /// A picture of so many pixels, a sound of so many samples at kTowerSampleRate, in the loaded
    /// model's prompt. Errors: InvalidRequest (nothing loaded, no such tower).
    [[nodiscard]] Result<MediumShape>
    imageShape(int64_t width, int64_t height, int64_t image_tokens) const;
    [[nodiscard]] Result<MediumShape> audioShape(int64_t samples) const;
    static constexpr int64_t kTowerSampleRate = 16'000; ///< Hz
    /// A PEFT folder with random factors that fits the loaded model, for measuring what adapters
    /// cost; the same bytes every time. Errors: InvalidRequest (nothing loaded, rank outside
    /// 1..1024), InvalidFile (the folder cannot be written).
    Result<void> writeRandomAdapter(const std::filesystem::path& folder,
                                    int64_t rank,
                                    AdapterTargets targets) const;
    /// Streaming read of a fresh buffer with all threads, in GB/s: what measureMachine() says, of
    /// this moment.
    double measureRead(double seconds);
    /// Measures every opened card: about 50 ms each, with up to 1 GiB of its memory meanwhile.
    std::vector<CardCeiling> measureCards();

    /// Name of the processor kernels that this machine runs.
    static std::string processorKernels();
    /// "512MiB", "1.5GB" in bytes, fractions of a byte dropped; saturates. nullopt for other texts.
    static std::optional<uint64_t> parseByteSize(std::string_view text);
    /// Names that a device map may have instead of a text, "fit" first.
    static std::vector<std::string> mapPresets();
    /// What a request's device_map is for `word`: a preset's name as it stands, else the content of
    /// `file`, which is never empty or a preset's name. Errors: InvalidRequest with a hint where
    /// the word means a placement elsewhere, InvalidFile of a file that cannot be read.
    static Result<std::string> readDeviceMap(const std::string& word, const std::string& file);
    /// Logits and input ids as a safetensors file; replaces one, writes into what is no plain file.
    static Result<void>
    writeLogits(const std::string& file, const LogitsResult& logits, const std::stop_token& stop);
    /// Reads a recording on any thread, for a loudspeaker and a waveform: media/sound_listening.h.
    static Result<ListeningPart>
    readListeningPart(const std::filesystem::path& path, double start_s, double length_s);
    static Result<SoundPeaks> readSoundPeaks(const std::filesystem::path& path,
                                             size_t max_peaks,
                                             const std::stop_token& stop);

private:
    // The work behind the public methods of the same purpose; those turn a failed allocation of
    // plain memory into OutOfMemory and leave a state that the next call can work with.
    Result<void> loadModel(const LoadRequest& request,
                           const ProgressCallback& progress,
                           const std::stop_token& stop);
    Result<void> replace(const std::string& device_map,
                         const ProgressCallback& progress,
                         const std::stop_token& stop);
    Result<void> changeAdapters(const std::vector<AdapterChoice>& adapters,
                                const std::stop_token& stop);
    /// The model as last loaded or placed, once more: after a step that cannot be undone. The
    /// chat's cache starts empty. Returns `error`, which also says so when even this failed.
    Error loadAgain(Error error) noexcept;
    /// loadAgain() for a model that has gone already.
    Error putBackAfter(Error error) noexcept;
    /// Loads a lost model. Where memory is still short it stays lost and the next request tries
    /// again; other errors end that. May throw bad_alloc, which counts as short memory.
    Result<void> putBack();
    Result<Reply> answer(const GenerateRequest& request,
                         const UpdateCallback& delta,
                         const std::stop_token& stop);
    Result<LogitsResult>
    promptLogits(const GenerateRequest& request, int64_t rows, const std::stop_token& stop);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace engine
