// SPDX-License-Identifier: Apache-2.0
// The device map: what the user wrote about where parts of a model go. Two texts are read, the
// dictionary that accelerate uses (imported form) and our own version 1 document (native form);
// format and rules: engine/plan/DEVICE_MAP.md. Here a map is only text turned into checked values;
// it is applied to a model by map_resolve.h and written out again by map_write.h.
#pragma once

#include "engine/api/placement.h"
#include "engine/base/json/position.h"
#include "engine/base/result.h"
#include "engine/model/model_config.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Largest device-map text that is read.
inline constexpr size_t kMaxDeviceMapBytes = size_t{4} << 20;

/// What the text does not say.
struct ParseContext {
    /// Simulated GPUs were asked for: an integer i means sim:i instead of cuda:i.
    bool are_integers_sim = false;
};

/// The size of expert_cache that is written "max".
inline constexpr uint64_t kAllThatIsLeft = UINT64_MAX;

/// Line and column of something in the map text, both from 1, columns in characters; 0 = none
/// (a map that a program made).
using MapPosition = JsonPosition;

/// What one key (or the default) sets. A device index may be one that no machine has.
struct PlaceFields {
    std::optional<DeviceId> store;   ///< Where the canonical bytes live.
    std::optional<DeviceId> compute; ///< Which device runs the arithmetic; never disk.
    std::optional<Format> format;
    std::optional<Residency> residency;
    std::optional<bool> pin; ///< Page-locked host memory.
    std::optional<bool> duplicate_tied;
    friend bool operator==(const PlaceFields&, const PlaceFields&) = default;
};

struct MapEntry {
    std::string key; ///< As written: may be an alias, may hold one [a-b] (native form).
    PlaceFields fields;
    /// Scalar "disk": stored on disk, computed on the default's compute device, whatever that is.
    bool is_scalar_disk = false;
    MapPosition key_at;
    MapPosition value_at;
};

enum class AdapterPlace : uint8_t { FollowBase = 1, FollowCompute };
struct DeviceMap {
    bool is_imported = false; ///< Came from the accelerate form.
    /// Imported form: computes what is stored on cpu and disk, but for experts on cpu that a key
    /// names.
    DeviceId main_device;
    bool has_default = false; ///< Always true in the native form; imported: the key "" was there.
    PlaceFields default_fields;
    bool is_default_scalar_disk = false; ///< default: "disk", which is DM08.
    MapPosition default_at;
    std::vector<MapEntry>
        entries; ///< In the order of the text; "" of the imported form is not here.

    struct Size {
        uint64_t bytes = 0;
        MapPosition at;
    };
    std::map<DeviceId, Size> limits;
    std::map<DeviceId, Size> reserve;

    std::optional<int64_t> kv_context;
    std::optional<DeviceId> kv_place; ///< Absent = each layer's cache on its layer's device.
    MapPosition kv_place_at;
    /// bf16, f16 or q8; AsStored: not given.
    Format kv_format = Format::AsStored;
    MapPosition kv_format_at;
    /// Bytes of each card for copies of routed experts that lie in main memory; kAllThatIsLeft.
    std::optional<uint64_t> expert_cache;
    AdapterPlace adapter_place = AdapterPlace::FollowBase;
    MapPosition adapter_place_at;                  ///< Line 0: not given.
    std::optional<std::string> model_architecture; ///< Check only.
    std::optional<int64_t> model_layers;           ///< Check only.
    MapPosition model_at;
    std::string notes;
};

/// A text without the UTF-8 byte order mark that editors put before it.
std::string_view withoutByteOrderMark(std::string_view text);
/// Is the text a map, or meant as one, rather than a preset's name (letters, digits, '-', '_') or
/// nothing?
bool isDeviceMapText(std::string_view text);

/// Reads a device map of either form; a byte order mark before it is skipped. `issues` (may be
/// null) receives every complaint, each with line and column. Errors: InvalidRequest; the message
/// tells the first complaints, a line each; details are code (DM01 or DM11), key, line and column
/// of the first, and each further one as "complaint.N".
Result<DeviceMap> parseDeviceMap(std::string_view json_text,
                                 const ParseContext& context,
                                 std::vector<PlanIssue>* issues = nullptr);

/// "512MiB", "1.5GB" (pattern of the schema) in bytes, fractions of a byte dropped; saturates.
/// nullopt when the text does not fit the pattern. Also for the --limit option.
std::optional<uint64_t> parseByteSize(std::string_view text);

/// The same, or "max" or "off": the room for copies of experts.
std::optional<uint64_t> parseExpertCache(std::string_view text);

/// Names of the presets: "gpu", "towers-cpu", "ple-cpu", "lean", "experts-cpu", "cpu". ("fit" is
/// not a map but a question to the planner: see planner.h.)
const std::vector<std::string>& devicePresets();
bool isDevicePreset(std::string_view name);

/// What to write instead of a word that means a placement elsewhere: "auto" and the like of
/// accelerate, the name of a single device. Empty for other words.
Sentence deviceMapHint(std::string_view word);

/// Why there is no map of this preset for these devices: an unknown name, or no GPU for one that
/// needs it. Empty: there is one.
Sentence presetProblem(std::string_view name, const std::vector<DeviceId>& devices);

/// The map of a preset for these devices: the GPU is the first cuda device, else the first sim
/// device. Parts that the model does not have are left out. has_own_head: the head is a copy in
/// another format (--head), so that the token table is one of rows only, which "lean" leaves in
/// main memory like the per-layer one.
/// Errors: InvalidRequest, as presetProblem().
Result<DeviceMap> presetDeviceMap(std::string_view name,
                                  const std::vector<DeviceId>& devices,
                                  const ModelConfig& config,
                                  bool has_own_head = false);

/// The imported form in the words of the native one: `default` = the value of "", else the main
/// device. A native map comes back unchanged.
DeviceMap nativeForm(const DeviceMap& map);

/// The map in native form with one module (or tensor, or range:
/// "model.language_model.layers.[3-7]") placed anew: what `fields` sets is taken out of all keys at
/// or below it. "" places the whole model. For the editor.
DeviceMap withPlace(const DeviceMap& map, std::string_view module, const PlaceFields& fields);

} // namespace engine
