// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_english.h"

#include "engine/base/json/events.h"
#include "engine/base/utf8.h"
#include "engine/families/gemma4/names.h"
#include "engine/plan/plan_english.h"

namespace engine {

namespace {

/// "a, b, c".
std::string listed(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) {
        out += (out.empty() ? "" : ", ") + word;
    }
    return out;
}

/// "a", "b" or "c".
std::string choiceOf(const std::vector<std::string>& words) {
    std::string out;
    for (size_t i = 0; i < words.size(); ++i) {
        out += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
        out += inQuotes(words[i]);
    }
    return out;
}

std::string expectedText(const issue::BadValue& i) {
    using Expected = issue::BadValue::Expected;
    switch (i.expected) {
    case Expected::ImportedPlace:
        return "\"cpu\", \"disk\", \"cuda:N\", \"sim:N\" or a device number";
    case Expected::Version:
        return "1 (the only version there is)";
    case Expected::Text:
        return "text";
    case Expected::Object:
        return "an object";
    case Expected::Integer:
        return "an integer";
    case Expected::Word:
        return choiceOf(i.words);
    case Expected::Bool:
        return "true or false";
    case Expected::Device:
        return "\"cpu\", \"disk\", \"cuda:N\" or \"sim:N\"";
    case Expected::ComputeDevice:
        return "\"cpu\", \"cuda:N\" or \"sim:N\" (nothing computes on disk)";
    case Expected::Member:
        return "at least one member (store, compute, format, residency, ...)";
    case Expected::Place:
        return "\"cpu\", \"disk\", \"cuda:N\", \"sim:N\", a device number from 0 to 63 or an "
               "object";
    case Expected::Size:
        return R"(a size such as "6GiB", "1.5GB", "512MiB" or bytes)";
    case Expected::Tokens:
        return "a number of tokens, at least 1";
    }
    return {};
}

std::string placeText(const issue::KeysDisagree::Key& key) {
    std::string text;
    if (key.store.has_value()) {
        text = "store " + key.store->toString();
    }
    if (key.compute.has_value()) {
        text += (text.empty() ? "compute " : ", compute ") + key.compute->toString();
    }
    return text;
}

std::string keyText(const issue::KeysDisagree::Key& key) {
    return inQuotes(key.key) + " (line " + std::to_string(key.line) + ")";
}

std::string halfText(const issue::HeadApart::Half& half) {
    return "stored on " + half.store.toString() + ", computed on " + half.compute.toString() +
           ", format " + half.format + " (by " + inEnglish(half.by) + ")";
}

std::string whyText(const issue::FormatRefused& i) {
    using Why = issue::FormatRefused::Why;
    switch (i.why) {
    case Why::NotQuantizable:
        return "only linear weights, experts, embedding tables and the head can have it";
    case Why::NotFloats:
        return "the checkpoint holds " + i.held + " values";
    case Why::NeedsOwnKey:
        return "the checkpoint holds it packed as " + i.held +
               "; a key that names exactly this tensor may ask for its expansion";
    case Why::Packed:
        return "the checkpoint holds it packed as " + i.held +
               "; use that, as_stored, or the unquantized checkpoint";
    }
    return {};
}

} // namespace

std::string inEnglish(const issue::JsonFound& found) {
    using Kind = issue::JsonFound::Kind;
    switch (found.kind) {
    case Kind::Null:
        return "null";
    case Kind::True:
        return "true";
    case Kind::False:
        return "false";
    case Kind::Number:
        return "the number " + found.text;
    case Kind::Text:
        return inQuotes(found.text);
    case Kind::Object:
        return "an object";
    case Kind::List:
        return "an array";
    }
    return "a value";
}

std::string inEnglish(const issue::MapHint& hint) {
    using Kind = issue::MapHint::Kind;
    switch (hint.kind) {
    case Kind::None:
        return {};
    case Kind::Automatic:
        return inQuotes(hint.word) + " is accelerate's word for a placement that is worked out; "
                                     "here that is \"fit\"";
    case Kind::FirstCard:
        return inQuotes(hint.word) + " is a device, not a map: the preset \"gpu\" puts everything "
                                     "there, and a file with {\"\": \"cuda:0\"} does too";
    case Kind::Card:
        return inQuotes(hint.word) +
               " is a device, not a map: for everything there give a file "
               "with {\"\": \"cuda:" +
               hint.index + "\"}";
    case Kind::Device:
        return inQuotes(hint.word) + " is a device, not a map: give a file with {\"\": \"" +
               hint.word + "\"}";
    case Kind::NoSuchDevice:
        return inQuotes(hint.word) +
               " is a device that Belfry does not have; the presets are listed by --help";
    }
    return {};
}

std::string inEnglish(const issue::MapTooLong& i) {
    return "the text has " + std::to_string(i.bytes) + " bytes; a device map has at most " +
           std::to_string(i.most);
}

std::string inEnglish(const issue::NotJson& i) {
    return inEnglish(i.fault);
}

std::string inEnglish(const issue::NotAnObject& i) {
    return "a device map is a JSON object, found " + inEnglish(i.found);
}

std::string inEnglish(const issue::VersionMissing& /*i*/) {
    return "version is missing: with an object as a value this is not accelerate's form; add "
           "\"version\": 1 and put module keys into \"map\"";
}

std::string inEnglish(const issue::DefaultMissing& /*i*/) {
    return "the member \"default\" is missing; it says where everything goes that no key names, "
           "for example \"default\": \"cuda:0\"";
}

std::string inEnglish(const issue::BadValue& i) {
    return inQuotes(i.member) + ": expected " + expectedText(i) + ", found " + inEnglish(i.found);
}

std::string inEnglish(const issue::UnknownMember& i) {
    return "unknown member " + inQuotes(i.member) + "; known are " + listed(i.known);
}

std::string inEnglish(const issue::WholeModelKey& i) {
    return "the key " + inQuotes(i.key) + " stands for the whole model; use \"default\" for that";
}

std::string inEnglish(const issue::BadRange& i) {
    return "the key " + inQuotes(i.key) +
           " has a bracket that is not a range: one component of the form [a-b] with a <= b and no "
           "leading zeros is allowed";
}

std::string inEnglish(const issue::NotADevice& i) {
    return inQuotes(i.key) + " in \"" + i.member +
           "\" is not a device: expected cpu, disk, cuda:N or sim:N";
}

std::string inEnglish(const issue::SizeUnitCase& i) {
    return "the size " + inQuotes(i.size) +
           " has a unit in wrong upper and lower case; write KiB, MiB, GiB (1024) or KB, MB, GB "
           "(1000)";
}

std::string inEnglish(const issue::UnknownKey& i) {
    std::string message = inQuotes(i.key) + " is no module or tensor of this model";
    if (!i.parent.empty()) {
        message += "; valid numbers for " + i.parent + " are 0 to " + std::to_string(i.last);
    }
    for (size_t k = 0; k < i.proposals.size(); ++k) {
        message += (k == 0 ? "; did you mean " : " or ") + i.proposals[k];
    }
    message += i.proposals.empty() ? "" : "?";
    if (i.is_range_of_other_form) {
        message += std::string(i.proposals.empty() ? ";" : "") +
                   " ranges exist only in maps with \"version\": 1";
    }
    return message;
}

std::string inEnglish(const issue::BelowTensor& i) {
    return inQuotes(i.key) + " lies below the tensor " + i.tensor +
           ", which has no parts; did you mean " + i.tensor + "?";
}

std::string inEnglish(const issue::InsideWeight& i) {
    return inQuotes(i.key) + " points inside a weight: codes and statistics of " + i.tensor +
           " are one tensor and live on one device; name " + i.tensor;
}

std::string inEnglish(const issue::KeysDisagree& i) {
    return "the keys " + keyText(i.first) + " and " + keyText(i.second) + " both mean " +
           (i.name.empty() ? "the whole model" : i.name) + " but set " + i.field +
           " to different values (" + placeText(i.first) + " against " + placeText(i.second) +
           "); a single number does not beat a range: keep one";
}

std::string inEnglish(const issue::DefaultIncomplete& i) {
    using Missing = issue::DefaultIncomplete::Missing;
    const char* missing = i.missing == Missing::ComputeOfDisk
                              ? "\"disk\" says where bytes are stored, not what computes"
                          : i.missing == Missing::Both    ? "it names neither store nor compute"
                          : i.missing == Missing::Compute ? "it names no compute device"
                                                          : "it names no store";
    return std::string("default must settle both store and compute: ") + missing + " (" +
           std::to_string(i.tensors) + (i.tensors == 1 ? " tensor" : " tensors") +
           " would have no device)";
}

std::string inEnglish(const issue::HeadApart& i) {
    const Part head{PartRole::Head};
    const Part table{PartRole::Embedding};
    return partTensorName(head) + " and " + partTensorName(table) +
           " are the same bytes but disagree: " + shortPartName(head) + " is " + halfText(i.head) +
           ", " + shortPartName(table) + " is " + halfText(i.table) +
           "; give both the same place, or ask for two copies with \"duplicate_tied\": true";
}

std::string inEnglish(const issue::NothingSaysWhere& i) {
    return "no key gives a device to " + inEnglish(i.tensors) +
           "; add a key, or \"\" for everything else";
}

std::string inEnglish(const issue::ComputedElsewhere& i) {
    return "stored on " + i.store.toString() + " but computed on " + i.compute.toString() +
           ": store comes from " + inEnglish(i.store_by) +
           (i.store_by == i.compute_by ? " and so does compute"
                                       : ", compute from " + inEnglish(i.compute_by)) +
           "; what is stored on a GPU is computed there (" + inEnglish(i.tensors) + ")";
}

std::string inEnglish(const issue::FormatRefused& i) {
    return "format " + i.format + " is not possible: " + whyText(i) + " (" + inEnglish(i.tensors) +
           ")";
}

std::string inEnglish(const issue::FormatExpanded& i) {
    return "expanded from " + i.from + " to " + i.to +
           ": values stay those of the 4-bit weights, only memory grows (" + inEnglish(i.tensors) +
           ")";
}

std::string inEnglish(const issue::KvFormatMissing& /*i*/) {
    return "this version keeps keys and values in bf16 (fp32 with --precision f32) and has no "
           "other format for them; remove kv.format";
}

std::string inEnglish(const issue::MadeForOtherLayers& i) {
    return "the map was made for a model with " + std::to_string(i.map) + " layers, this one has " +
           std::to_string(i.model);
}

std::string inEnglish(const issue::MadeForOtherModel& i) {
    return "the map was made for the architecture \"" + i.map + "\", this model is gemma4 (" +
           i.model + ")";
}

std::string inEnglish(const issue::NoPreset& i) {
    const std::string hint = inEnglish(i.hint);
    return "there is no device-map preset " + inQuotes(i.name) + "; known are " + listed(i.known) +
           (hint.empty() ? "" : ". " + hint);
}

std::string inEnglish(const issue::PresetNeedsGpu& i) {
    return "the preset " + inQuotes(i.name) +
           " needs a GPU and this machine shows none; use the preset \"cpu\", or try a simulated "
           "GPU with --sim-gpu";
}

} // namespace engine
