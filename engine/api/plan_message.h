// SPDX-License-Identifier: Apache-2.0
// What the planner says about a plan, as values: which thing, and the parts, devices and numbers
// that it is said of. Who shows them makes the sentence: engine/plan/plan_english.h for the command
// line and logs, the window in its own languages. Each is a variant, so that a kind without words
// does not compile.
#pragma once

#include "engine/api/device_id.h"
#include "engine/api/map_finding.h"
#include "engine/api/model_oddity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace engine {

/// What takes memory, as a sentence names it.
struct PlanPart {
    enum class Kind : uint8_t {
        Module = 1, ///< Another module than those below: its path is its name.
        VisionTower,
        AudioTower,
        PerLayerTable,
        TokenTable,
        Head,
        Layers,
        KvCache,
        Adapters,
        Workspace,
        DriverContext,
        VisitingRoom, ///< Where weights lie that come to compute.
    };
    Kind kind = Kind::Module;
    std::string module = {};               ///< Path; empty: no module, or several layers.
    int first_layer = -1, last_layer = -1; ///< Of Layers.
    int64_t tokens = 0;                    ///< Of KvCache.
};

/// A part with the bytes it takes.
struct PartShare {
    PlanPart part;
    uint64_t bytes = 0;
    std::optional<DeviceId> device = {}; ///< Where shares of several devices are told together.
};

/// A suggested step moves this.
struct SuggestedMove {
    PlanPart part;
    std::vector<std::string> modules =
        {}; ///< Keys of the map to set, e.g. a tower and its projector.
    DeviceId store, compute;
};

/// What a suggested step costs.
struct SuggestedCost {
    enum class Kind : uint8_t {
        TableRow = 1,  ///< Nothing measurable: one row of `bytes` per token.
        OneRow,        ///< Nothing measurable: one row per token.
        TableRead,     ///< One read of `bytes` from disk per token.
        TimePerImage,  ///< `seconds`; less than a millisecond counts as nothing.
        TimePerSound,  ///< `seconds` per 10 s of audio.
        TimePerToken,  ///< `seconds`
        FilesPerMedia, ///< One read of the files per image or clip.
        Conversation,  ///< Memory of the conversation.
        PromptTime,    ///< Time until a long prompt is read.
        ImageDetail,
        Accuracy,     ///< Some accuracy; it is faster.
        HeadAccuracy, ///< Some accuracy of the last layer; it is faster.
        LittleAccuracy,
        HardlyAccuracy,
    };
    Kind kind = Kind::OneRow;
    uint64_t bytes = 0;
    double seconds = 0;
};

/// A change of the request that frees memory where too little is.
struct SuggestedStep {
    std::vector<SuggestedMove> moves = {};
    /// The tied head becomes a copy of its own, kept here, while `moves` takes its table away.
    struct Place {
        DeviceId store, compute;
    };
    std::optional<Place> head_copy = {};
    bool is_head_int8 = false;                                ///< The head in 8 bits.
    std::string quant = {};                                   ///< As LoadRequest; empty: as it is.
    int64_t context = 0, prefill_chunk = 0, image_tokens = 0; ///< 0: as they are.
    uint64_t frees = 0;                                       ///< Bytes.
    SuggestedCost cost = {};
    bool is_enough = false; ///< The plan fits after this step alone.
};

/// What remains when no step is enough: a device with more memory, a smaller model, or ...
struct LastResort {
    bool has_limit = false;   ///< ... a higher limit.
    bool has_reserve = false; ///< ... a lower reserve.
};

/// All steps together are not enough.
struct StepsTogether {
    uint64_t leaves = 0, over = 0; ///< Bytes still needed, and those too many.
    LastResort rest = {};
};

/// Text to put into the map instead of what stands there.
struct MapValue {
    std::string text;
};

using SuggestionKinds = std::variant<SuggestedStep, StepsTogether, LastResort, MapValue>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct Suggestion : SuggestionKinds {
    using SuggestionKinds::SuggestionKinds;
    Suggestion();
    Suggestion(const Suggestion&);
    Suggestion(Suggestion&&) noexcept;
    Suggestion& operator=(const Suggestion&);
    Suggestion& operator=(Suggestion&&) noexcept;
    ~Suggestion();
    friend bool operator==(const Suggestion&, const Suggestion&) = delete;
    friend bool operator<(const Suggestion&, const Suggestion&) = delete;
};

/// Why a graphics card is not used, or why there is none.
struct CardTrouble {
    enum class Kind : uint8_t {
        NoDriver = 1,
        NoCard,        ///< The driver sees none.
        NoKernels,     ///< This build has no GPU kernels.
        OldDriver,     ///< `found`, `needed`: versions of CUDA.
        DriverLacks,   ///< `found`: the function that is missing.
        DriverFails,   ///< It does not start; `found`: its answer.
        OldCard,       ///< `device`, `name`; `found`, `needed`: compute capabilities.
        SilentCard,    ///< `device`, `name`: it does not answer.
        LostCard,      ///< `device`, `name`: lost to this process since `found`.
        CardNoAnswer,  ///< `device`: it does not answer the driver, which says `found`.
        DriverCrashes, ///< Asked for its cards; `name`: the library's file, `found`: the signal.
        DriverHangs,   ///< Asked for its cards; `name`: likewise, `found`: seconds waited.
    };
    Kind kind = Kind::NoDriver;
    std::string sentence = {}; ///< In English, as who met it words it.
    DeviceId device = {};
    std::string name = {};
    std::string found = {}, needed = {};

    /// Somebody has a card here and could do something. False: there simply is none.
    [[nodiscard]] bool isProblem() const {
        return kind != Kind::NoDriver && kind != Kind::NoCard && kind != Kind::NoKernels;
    }
};

/// Things worth knowing about a plan, each a kind of its own.
namespace note {

/// What a step of the preset `fit` frees on the device that everything would be on; 0: it left
/// another one.
struct Freed {
    DeviceId device;
    uint64_t bytes = 0, remaining = 0;
};

/// How `fit` came to its map: what everything on one device would need, ...
struct FitStart {
    DeviceId device;
    uint64_t need = 0;
    std::optional<uint64_t> limit = {}; ///< Absent: unbounded.
    enum class Verdict : uint8_t {
        Fits = 1,
        TooMuch,
        MoreThanHost ///< Than main memory, which simulated GPUs take theirs from.
    };
    Verdict verdict = Verdict::Fits;
};
/// ... that tables move first, then towers, then head and layers, ...
struct FitOrder {};
/// ... a table that moved, at the price of one row per token, ...
struct FitTable {
    bool is_per_layer = false; ///< Else the token table of a head with its own copy.
    DeviceId to;
    Freed freed = {};
    uint64_t row_bytes = 0;
};
/// ... a tower, ...
struct FitTower {
    bool is_audio = false;
    DeviceId to;
    Freed freed = {};
    double seconds = 0, seconds_before = 0; ///< Of an image, or 10 s of sound.
};
/// ... smaller formats, as options name them; empty: as they were, ...
struct FitFormats {
    std::string quant, head;
    Freed freed = {};
};
/// ... the head, ...
struct FitHead {
    DeviceId to;
    Freed freed = {};
    double slower_s = 0; ///< Per token; 0: not slower.
};
/// ... layers, ...
struct FitLayers {
    int first = 0, last = 0;
    DeviceId to;
    Freed freed = {};
    double slower_s = 0;
};
/// ... and the end: even the leanest plan is so many bytes over the limits, ...
struct FitTooLarge {
    uint64_t over = 0;
};
/// ... or the speeds that were weighed, in tokens per second.
struct FitSpeed {
    double rate = 0;
    DeviceId device;
    double rate_there = 0; ///< With everything on `device`.
    bool has_simulated = false;
};
/// What 4 bits would bring, which nobody asked for.
struct FourBits {
    double rate = 0; ///< Tokens per second.
};

/// More context was asked for than the model has positions for.
struct ContextCut {
    int64_t asked = 0, planned = 0;
};
/// Quantized weights on disk are made anew at every use.
struct MadeAtEveryUse {
    size_t count = 0;
};
/// limits.disk or reserve.disk has no effect.
struct DiskHasNoLimit {
    bool is_reserve = false;
};
struct AdapterNotCounted {
    std::string tensor;
};
/// The adapter replaces weights that travel; its replacements stay where they compute.
struct ReplacementsStay {
    size_t count = 0;
};

/// --head has no effect: the checkpoint holds the head packed in `format`.
struct HeadStaysPacked {
    std::string format;
};
/// --head has no effect: the map gives the token table a format, and the head is that table.
struct HeadIsTable {};
/// Head and table are one tensor, but the map puts them apart.
struct TwoCopies {};
/// `field` of the tied head has no effect; `table` is what it would have to be given to.
struct TiedFieldIdle {
    std::string field;
    SetBy by = {};
    std::string table = {};
};
/// A residency where store and compute are the same device.
struct ResidencyIdle {
    SetBy by = {};
    Tensors tensors = {};
};
/// Weights of the checkpoint that are packed in 4 bits already.
struct PackedStays {
    size_t count = 0;
};
/// Planned as bf16.
struct NotInFiles {
    Tensors tensors = {};
};
/// Keys as written and as they are called here; the first of `count`.
struct KeysTranslated {
    struct Pair {
        std::string from, to;
    };
    std::vector<Pair> keys;
    size_t count = 0;
};
/// Keys without effect; the first of `count`.
struct KeysIdle {
    struct Key {
        std::string key;
        bool is_shared = false; ///< Its layer reads another layer's keys and values.
    };
    std::vector<Key> keys;
    size_t count = 0;
};
/// Only the first `shown` pairs of keys that contradict each other are listed.
struct ManyConflicts {
    size_t shown = 0;
};

/// Where estimates come from: rates of this computer.
struct MeasuredRates {
    double read_bytes_per_s = 0, flops = 0;
};
/// What the driver takes for itself on this card is assumed, not measured.
struct DriverAssumed {
    DeviceId device;
};

} // namespace note

using NoteKinds = std::variant<note::FitStart,
                               note::FitOrder,
                               note::FitTable,
                               note::FitTower,
                               note::FitFormats,
                               note::FitHead,
                               note::FitLayers,
                               note::FitTooLarge,
                               note::FitSpeed,
                               note::FourBits,
                               note::ContextCut,
                               note::MadeAtEveryUse,
                               note::DiskHasNoLimit,
                               note::AdapterNotCounted,
                               note::ReplacementsStay,
                               note::HeadStaysPacked,
                               note::HeadIsTable,
                               note::TwoCopies,
                               note::TiedFieldIdle,
                               note::ResidencyIdle,
                               note::PackedStays,
                               note::NotInFiles,
                               note::KeysTranslated,
                               note::KeysIdle,
                               note::ManyConflicts,
                               note::MeasuredRates,
                               note::DriverAssumed,
                               ModelOddity,
                               CardTrouble>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct Note : NoteKinds {
    using NoteKinds::NoteKinds;
    Note();
    Note(const Note&);
    Note(Note&&) noexcept;
    Note& operator=(const Note&);
    Note& operator=(Note&&) noexcept;
    ~Note();
    friend bool operator==(const Note&, const Note&) = delete;
    friend bool operator<(const Note&, const Note&) = delete;
};

/// What the engine may use of a memory, and what says so.
struct MemoryBound {
    enum class By : uint8_t {
        Nothing = 1,
        Free,
        Option,
        Map,
        System, ///< What the system lets this program have there (Windows).
    };
    By by = By::Nothing;
    uint64_t whole = UINT64_MAX; ///< The largest uint64_t: nothing bounds it.
    uint64_t reserve = 0;        ///< Of the map.
    [[nodiscard]] uint64_t bytes() const {
        return whole == UINT64_MAX ? whole : whole - (whole < reserve ? whole : reserve);
    }
};

/// Errors and warnings about a plan, each a kind of its own.
namespace issue {

/// A device needs more than it may use.
struct OverLimit {
    DeviceId device;
    uint64_t need = 0, limit = 0;
    MemoryBound bound = {};
    std::vector<PartShare> largest = {};
};
/// Simulated GPUs and cpu together need more than main memory.
struct OverHost {
    struct Share {
        DeviceId device;
        uint64_t bytes = 0;
    };
    std::vector<Share> shares;
    uint64_t need = 0, limit = 0;
    MemoryBound bound = {};
    std::vector<PartShare> largest = {};
};
/// The weights of these layers (rising) lie on several devices; `bytes` travel per token.
struct SplitLayers {
    std::vector<int> layers;
    std::vector<DeviceId> devices; ///< The one with the attention first.
    uint64_t bytes = 0;
};
/// These layers read the keys and values of a layer elsewhere, which get a mirror.
struct KvMirrored {
    std::vector<int> layers;
    DeviceId device;
    int owner = 0;
    DeviceId owner_device;
    uint64_t bytes = 0; ///< Per token.
};
/// These layers read keys and values that the map keeps elsewhere.
struct KvElsewhere {
    std::vector<int> layers;
    DeviceId device, cache;
    uint64_t bytes = 0; ///< Per token.
};
/// A limit for a device that this machine does not have.
struct LimitWithoutDevice {
    DeviceId device;
};
/// The map names a device that this machine does not have.
struct NoDevice {
    std::string key;
    DeviceId device;
    std::vector<DeviceId> gpus = {}; ///< That it has, beside cpu and disk.
};

} // namespace issue

using FindingKinds = std::variant<issue::OverLimit,
                                  issue::OverHost,
                                  issue::SplitLayers,
                                  issue::KvMirrored,
                                  issue::KvElsewhere,
                                  issue::LimitWithoutDevice,
                                  issue::NoDevice,
                                  issue::MapTooLong,
                                  issue::NotJson,
                                  issue::NotAnObject,
                                  issue::VersionMissing,
                                  issue::DefaultMissing,
                                  issue::BadValue,
                                  issue::UnknownMember,
                                  issue::WholeModelKey,
                                  issue::BadRange,
                                  issue::NotADevice,
                                  issue::SizeUnitCase,
                                  issue::UnknownKey,
                                  issue::BelowTensor,
                                  issue::InsideWeight,
                                  issue::KeysDisagree,
                                  issue::DefaultIncomplete,
                                  issue::HeadApart,
                                  issue::NothingSaysWhere,
                                  issue::ComputedElsewhere,
                                  issue::FormatRefused,
                                  issue::FormatExpanded,
                                  issue::KvFormatMissing,
                                  issue::MadeForOtherLayers,
                                  issue::MadeForOtherModel,
                                  issue::NoPreset,
                                  issue::PresetNeedsGpu,
                                  CardTrouble>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct Finding : FindingKinds {
    using FindingKinds::FindingKinds;
    Finding();
    Finding(const Finding&);
    Finding(Finding&&) noexcept;
    Finding& operator=(const Finding&);
    Finding& operator=(Finding&&) noexcept;
    ~Finding();
    friend bool operator==(const Finding&, const Finding&) = delete;
    friend bool operator<(const Finding&, const Finding&) = delete;
};

} // namespace engine
