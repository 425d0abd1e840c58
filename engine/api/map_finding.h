// SPDX-License-Identifier: Apache-2.0
// What is wrong in the text of a device map, or does not fit the model it is for, as values: the
// places are in PlanIssue. Words: engine/plan/map_english.h for the command line, the window in
// its own languages.
#pragma once

#include "engine/api/device_id.h"
#include "engine/api/json_fault.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

namespace note {

/// What set a field of a map.
struct SetBy {
    enum class Kind : uint8_t { Key = 1, Default, EmptyKey, Rules, Options };
    Kind kind = Kind::Key;
    std::string key = {}; ///< Of Key, as written.
    friend bool operator==(const SetBy&, const SetBy&) = default;
};
/// So many tensors; the first by name.
struct Tensors {
    size_t count = 0;
    std::string first;
};

} // namespace note

namespace issue {

/// A JSON value as a complaint shows it.
struct JsonFound {
    enum class Kind : uint8_t { Null = 1, True, False, Number, Text, Object, List };
    Kind kind = Kind::Null;
    std::string text = {}; ///< Number: its first digits. Text: all of it.
};

/// A hint for a word that is no map: what the user may have meant.
struct MapHint {
    enum class Kind : uint8_t {
        None = 1,
        Automatic,    ///< accelerate's word for what is "fit" here.
        FirstCard,    ///< The first card; the preset "gpu" means it.
        Card,         ///< Card `index`.
        Device,       ///< Another device of Belfry's.
        NoSuchDevice, ///< A device of other programs.
    };
    Kind kind = Kind::None;
    std::string word = {}, index = {};
};

struct MapTooLong {
    uint64_t bytes = 0, most = 0;
};
struct NotJson {
    JsonFault fault;
};
/// A map is a JSON object.
struct NotAnObject {
    JsonFound found;
};
/// "version" is missing, and the text is not accelerate's form.
struct VersionMissing {};
/// "default" is missing.
struct DefaultMissing {};
/// `found` stands where `expected` belongs.
struct BadValue {
    enum class Expected : uint8_t {
        ImportedPlace = 1, ///< "cpu", "disk", "cuda:N", "sim:N" or a device number.
        Version,           ///< 1
        Text,
        Object,
        Integer,
        Word, ///< One of `words`.
        Bool,
        Device,        ///< "cpu", "disk", "cuda:N" or "sim:N".
        ComputeDevice, ///< The same without disk.
        Member,        ///< An object with at least one.
        Place,         ///< A device, its number, or an object.
        Size,
        Tokens,
    };
    std::string member;
    Expected expected = Expected::Text;
    JsonFound found = {};
    std::vector<std::string> words = {};
};
struct UnknownMember {
    std::string member;
    std::vector<std::string> known;
};
/// A key that stands for everything; "default" is for that.
struct WholeModelKey {
    std::string key;
};
/// A bracket that is no range.
struct BadRange {
    std::string key;
};
/// A key of `member` (limits, reserve) is no device.
struct NotADevice {
    std::string key, member;
};
/// A size whose unit is written in other letters.
struct SizeUnitCase {
    std::string size;
};

/// The key is no module or tensor of this model.
struct UnknownKey {
    std::string key;
    std::string parent = {}; ///< Not empty: numbers below it go from 0 to `last`.
    int64_t last = 0;
    std::vector<std::string> proposals = {};
    bool is_range_of_other_form = false; ///< Ranges exist only with "version": 1.
};
/// The key lies below a tensor that has no parts.
struct BelowTensor {
    std::string key, tensor;
};
/// The key points inside a quantized weight.
struct InsideWeight {
    std::string key, tensor;
};
/// Two keys mean the same but set `field` to different values.
struct KeysDisagree {
    struct Key {
        std::string key;
        int line = 0;
        std::optional<DeviceId> store = {}, compute = {};
    };
    Key first, second;
    std::string name; ///< That both mean; empty: the whole model.
    std::string field;
};
/// The default settles store or compute, not both; so many tensors would have no device.
struct DefaultIncomplete {
    enum class Missing : uint8_t {
        ComputeOfDisk = 1, ///< "disk" stores, and does not compute.
        Both,
        Compute,
        Store,
    };
    Missing missing = Missing::Both;
    size_t tensors = 0;
};
/// Head and token table are the same bytes but are put to different places.
struct HeadApart {
    struct Half {
        DeviceId store, compute;
        std::string format;
        note::SetBy by = {};
    };
    Half head, table;
};
struct NothingSaysWhere {
    note::Tensors tensors;
};
/// What is stored on a GPU is computed there.
struct ComputedElsewhere {
    DeviceId store, compute;
    note::SetBy store_by = {}, compute_by = {};
    note::Tensors tensors = {};
};
/// Tensors that cannot have a format.
struct FormatRefused {
    enum class Why : uint8_t {
        NotQuantizable = 1,
        NotFloats,   ///< The checkpoint holds values of the type `held`.
        NeedsOwnKey, ///< Packed as `held`: only a key that names it exactly may expand it.
        Packed,      ///< As `held`, and no other small format can be made of that.
    };
    std::string format;
    Why why = Why::NotQuantizable;
    std::string held = {};
    note::Tensors tensors = {};
};
/// Packed weights that the map has expanded: only memory grows.
struct FormatExpanded {
    std::string from, to;
    note::Tensors tensors = {};
};
/// kv.format asks for one that this version does not have.
struct KvFormatMissing {};
/// The map was made for a model with other layers.
struct MadeForOtherLayers {
    int64_t map = 0, model = 0;
};
/// The map was made for another architecture.
struct MadeForOtherModel {
    std::string map, model;
};
struct NoPreset {
    std::string name;
    std::vector<std::string> known = {};
    MapHint hint = {};
};
/// A preset that needs a GPU, and there is none.
struct PresetNeedsGpu {
    std::string name;
};

} // namespace issue

} // namespace engine
