// SPDX-License-Identifier: Apache-2.0
// One finding of every kind about the text of a device map, with its English and its words in the
// window: rows of tst_plan_words.
#pragma once

#include "engine/api/plan_message.h"

namespace app_test {

/// `row` takes a name, a finding, its English and its words.
template <typename Row>
void addJsonFaults(const Row& row) {
    using engine::JsonFault;
    using Kind = JsonFault::Kind;
    const auto fault = [](Kind kind, const char* name = "", uint64_t most = 0) {
        return engine::issue::NotJson{{kind, JsonFault::Found::Character, "x", name, most}};
    };
    row("JSON: more text", fault(Kind::NoEnd), "expected the end of the text, found \"x\"",
        "Expected the end of the text, found “x”.");
    row("JSON: no name", fault(Kind::NoName),
        "expected a member name in double quotes, found \"x\"",
        "Expected a name in double quotes, found “x”.");
    row("JSON: no colon", fault(Kind::NoColon, "a"), "expected ':' after \"a\", found \"x\"",
        "Expected “:” after “a”, found “x”.");
    row("JSON: no comma in an object", fault(Kind::NoObjectComma),
        "expected ',' or '}', found \"x\"", "Expected “,” or “}”, found “x”.");
    row("JSON: no comma in a list", fault(Kind::NoListComma), "expected ',' or ']', found \"x\"",
        "Expected “,” or “]”, found “x”.");
    row("JSON: no value", fault(Kind::NoValue), "expected a value, found \"x\"",
        "Expected a value, found “x”.");
    row("JSON: the end", engine::issue::NotJson{{Kind::NoValue}},
        "expected a value, found the end of the text",
        "Expected a value, found the end of the text.");
    row("JSON: a byte", engine::issue::NotJson{{Kind::NoValue, JsonFault::Found::NotUtf8}},
        "expected a value, found a byte that is not UTF-8",
        "Expected a value, found a byte that is not UTF-8.");
    row("JSON: no digit", fault(Kind::NoDigit), "expected a digit, found \"x\"",
        "Expected a digit, found “x”.");
    row("JSON: no code", fault(Kind::NoHexDigits),
        "expected four hexadecimal digits after \\u, found \"x\"",
        "Expected four hexadecimal digits after \\u, found “x”.");
    row("JSON: zero", fault(Kind::LeadingZero), "a number must not start with 0",
        "A number must not start with 0.");
    row("JSON: control", fault(Kind::ControlCharacter),
        "a control character or line break inside a string",
        "A control character or line break is inside a text.");
    row("JSON: not UTF-8", fault(Kind::NotUtf8), "a byte that is not UTF-8",
        "A byte is not UTF-8.");
    row("JSON: open", fault(Kind::OpenString), "the text ends inside a string",
        "The map ends inside a text.");
    row("JSON: escape", fault(Kind::UnknownEscape), "unknown escape: \"x\" after \\",
        "“x” after a backslash has no meaning.");
    row("JSON: half", fault(Kind::HalfSurrogate), "half of a surrogate pair",
        "This is half of a surrogate pair.");
    row("JSON: twice", fault(Kind::RepeatedName, "a"), "the key \"a\" stands twice in one object",
        "The key “a” stands twice in one object.");
    row("JSON: deep", fault(Kind::TooDeep, "", 16), "nested deeper than 16 levels",
        "It is nested deeper than 16 levels.");
    row("JSON: many", fault(Kind::TooManyValues, "", 4000), "more than 4000 values",
        "It has more than 4,000 values.");
    row("JSON: long", fault(Kind::StringTooLong, "", 4000), "string longer than 4000 bytes",
        "A text in it is longer than 4,000 bytes.");
}

template <typename Row>
void addBadValues(const Row& row) {
    using engine::issue::BadValue;
    using engine::issue::JsonFound;
    using Expected = BadValue::Expected;
    using Kind = JsonFound::Kind;
    row("value: imported", BadValue{"a", Expected::ImportedPlace, {Kind::Null}},
        R"("a": expected "cpu", "disk", "cuda:N", "sim:N" or a device number, found null)",
        R"(“a”: expected "cpu", "disk", "cuda:N", "sim:N" or the number of a device, found null.)");
    row("value: version", BadValue{"version", Expected::Version, {Kind::Number, "2"}},
        "\"version\": expected 1 (the only version there is), found the number 2",
        "“version”: expected 1, the only version there is, found the number 2.");
    row("value: text", BadValue{"notes", Expected::Text, {Kind::List}},
        "\"notes\": expected text, found an array", "“notes”: expected a text, found a list.");
    row("value: object", BadValue{"map", Expected::Object, {Kind::True}},
        "\"map\": expected an object, found true", "“map”: expected an object, found true.");
    row("value: integer", BadValue{"layers", Expected::Integer, {Kind::False}},
        "\"layers\": expected an integer, found false",
        "“layers”: expected a whole number, found false.");
    row("value: word",
        BadValue{"residency", Expected::Word, {Kind::Text, "x"}, {"always", "on_use", "stream"}},
        R"("residency": expected "always", "on_use" or "stream", found "x")",
        R"(“residency”: expected "always", "on_use" or "stream", found “x”.)");
    row("value: bool", BadValue{"pin", Expected::Bool, {Kind::Object}},
        "\"pin\": expected true or false, found an object",
        "“pin”: expected true or false, found an object.");
    row("value: device", BadValue{"store", Expected::Device, {Kind::Null}},
        R"("store": expected "cpu", "disk", "cuda:N" or "sim:N", found null)",
        R"(“store”: expected "cpu", "disk", "cuda:N" or "sim:N", found null.)");
    row("value: computes", BadValue{"compute", Expected::ComputeDevice, {Kind::Text, "disk"}},
        R"("compute": expected "cpu", "cuda:N" or "sim:N" (nothing computes on disk), found "disk")",
        R"(“compute”: expected "cpu", "cuda:N" or "sim:N", as nothing computes on disk, found )"
        "“disk”.");
    row("value: member", BadValue{"a", Expected::Member, {Kind::Object}},
        "\"a\": expected at least one member (store, compute, format, residency, ...), found an "
        "object",
        "“a”: expected an object with store, compute, format, residency or another member, found "
        "an object.");
    row("value: place", BadValue{"a", Expected::Place, {Kind::Text, "gpu"}},
        R"("a": expected "cpu", "disk", "cuda:N", "sim:N", a device number from 0 to 63 or an )"
        "object, found \"gpu\"",
        R"(“a”: expected "cpu", "disk", "cuda:N", "sim:N", a device number from 0 to 63 or an )"
        "object, found “gpu”.");
    row("value: size", BadValue{"cpu", Expected::Size, {Kind::Text, "6"}},
        R"("cpu": expected a size such as "6GiB", "1.5GB", "512MiB" or bytes, found "6")",
        R"(“cpu”: expected a size such as "6GiB", "1.5GB", "512MiB", or bytes, found “6”.)");
    row("value: tokens", BadValue{"context", Expected::Tokens, {Kind::Number, "0"}},
        "\"context\": expected a number of tokens, at least 1, found the number 0",
        "“context”: expected a number of tokens, at least 1, found the number 0.");
}

template <typename Row>
void addKeyFindings(const Row& row) {
    using namespace engine::issue;
    using engine::DeviceId;
    const DeviceId cpu = DeviceId::cpu();
    const DeviceId sim = DeviceId::sim(0);
    row("unknown key", UnknownKey{"vision"}, "\"vision\" is no module or tensor of this model",
        "“vision” is no module or tensor of this model.");
    row("unknown key, near others", UnknownKey{"a.7", "a", 5, {"a.b", "a.c"}},
        "\"a.7\" is no module or tensor of this model; valid numbers for a are 0 to 5; did you "
        "mean "
        "a.b or a.c?",
        "“a.7” is no module or tensor of this model. Valid numbers for a are 0 to 5. Did you mean "
        "a.b or a.c?");
    row("unknown key, a range", UnknownKey{"a.[0-3]", "", 0, {}, true},
        "\"a.[0-3]\" is no module or tensor of this model; ranges exist only in maps with "
        "\"version\": 1",
        "“a.[0-3]” is no module or tensor of this model. Ranges exist only in maps with "
        "\"version\": 1.");
    row("below a tensor", BelowTensor{"a.b", "a"},
        "\"a.b\" lies below the tensor a, which has no parts; did you mean a?",
        "“a.b” lies below the tensor a, which has no parts. Did you mean that one?");
    row("inside a weight", InsideWeight{"a.absmax", "a"},
        "\"a.absmax\" points inside a weight: codes and statistics of a are one tensor and live on "
        "one device; name a",
        "“a.absmax” points inside a weight: codes and statistics of a are one tensor and live on "
        "one device. Name that one.");
    row("keys disagree", KeysDisagree{{"a", 3, cpu, cpu}, {"b", 4, {}, sim}, "a.b", "compute"},
        "the keys \"a\" (line 3) and \"b\" (line 4) both mean a.b but set compute to different "
        "values (store cpu, compute cpu against compute sim:0); a single number does not beat a "
        "range: keep one",
        "The keys “a” (line 3) and “b” (line 4) both mean a.b but set compute to different values "
        "(store CPU, compute CPU against compute Simulated GPU 0). A single number does not beat a "
        "range: keep one.");
    row("keys of everything disagree",
        KeysDisagree{{"", 1, cpu, {}}, {"model", 2, sim, {}}, "", "store"},
        "the keys \"\" (line 1) and \"model\" (line 2) both mean the whole model but set store to "
        "different values (store cpu against store sim:0); a single number does not beat a range: "
        "keep one",
        "The keys “” (line 1) and “model” (line 2) both mean the whole model but set store to "
        "different values (store CPU against store Simulated GPU 0). A single number does not beat "
        "a range: keep one.");
}

template <typename Row>
void addPlaceFindings(const Row& row) {
    using namespace engine::issue;
    using engine::DeviceId;
    using engine::note::SetBy;
    const DeviceId cpu = DeviceId::cpu();
    const DeviceId sim = DeviceId::sim(0);
    using Missing = DefaultIncomplete::Missing;
    row("default is disk", DefaultIncomplete{Missing::ComputeOfDisk, 1},
        "default must settle both store and compute: \"disk\" says where bytes are stored, not "
        "what "
        "computes (1 tensor would have no device)",
        "\"default\" must settle both store and compute: \"disk\" says where bytes are stored, not "
        "what computes. 1 tensor would have no device.");
    row("default has nothing", DefaultIncomplete{Missing::Both, 3},
        "default must settle both store and compute: it names neither store nor compute (3 tensors "
        "would have no device)",
        "\"default\" must settle both store and compute: it names neither. 3 tensors would have no "
        "device.");
    row("default computes nowhere", DefaultIncomplete{Missing::Compute, 3},
        "default must settle both store and compute: it names no compute device (3 tensors would "
        "have no device)",
        "\"default\" must settle both store and compute: it does not name what computes. 3 tensors "
        "would have no device.");
    row("default stores nowhere", DefaultIncomplete{Missing::Store, 3},
        "default must settle both store and compute: it names no store (3 tensors would have no "
        "device)",
        "\"default\" must settle both store and compute: it does not name what stores. 3 tensors "
        "would have no device.");
    row("head apart",
        HeadApart{{cpu, cpu, "nf4", {SetBy::Kind::Key, "lm_head"}},
                  {sim, sim, "as_stored", {SetBy::Kind::Default}}},
        "lm_head.weight and model.language_model.embed_tokens.weight are the same bytes but "
        "disagree: lm_head is stored on cpu, computed on cpu, format nf4 (by the key \"lm_head\"), "
        "embed_tokens is stored on sim:0, computed on sim:0, format as_stored (by default); give "
        "both the same place, or ask for two copies with \"duplicate_tied\": true",
        "Head and token embedding are the same bytes but disagree: the head is stored on CPU, "
        "computed on CPU, format nf4 (by the key \"lm_head\"), the token embedding is stored on "
        "Simulated GPU 0, computed on Simulated GPU 0, format as_stored (by default). Give both "
        "the "
        "same place, or ask for two copies with \"duplicate_tied\": true.");
    row("nothing says where", NothingSaysWhere{{2, "a.weight"}},
        "no key gives a device to 2 tensors, the first: a.weight; add a key, or \"\" for "
        "everything "
        "else",
        "No key gives a device to some parts (2 tensors, the first: a.weight). Add a key, or \"\" "
        "for everything else.");
    row("computed elsewhere",
        ComputedElsewhere{sim, cpu, {SetBy::Kind::Key, "a"}, {SetBy::Kind::Default}, {1, "a.b"}},
        "stored on sim:0 but computed on cpu: store comes from the key \"a\", compute from "
        "default; "
        "what is stored on a GPU is computed there (1 tensor: a.b)",
        "Stored on Simulated GPU 0 but computed on CPU: store comes from the key \"a\", compute "
        "from default. What is stored on a GPU is computed there (1 tensor: a.b).");
    row("computed elsewhere by one key",
        ComputedElsewhere{sim, cpu, {SetBy::Kind::Key, "a"}, {SetBy::Kind::Key, "a"}, {1, "a.b"}},
        "stored on sim:0 but computed on cpu: store comes from the key \"a\" and so does compute; "
        "what is stored on a GPU is computed there (1 tensor: a.b)",
        "Stored on Simulated GPU 0 but computed on CPU; both come from the key \"a\". What is "
        "stored on a GPU is computed there (1 tensor: a.b).");
    using Why = FormatRefused::Why;
    row("format of a norm", FormatRefused{"nf4", Why::NotQuantizable, "", {1, "a"}},
        "format nf4 is not possible: only linear weights, experts, embedding tables and the head "
        "can have it (1 tensor: a)",
        "The format nf4 is not possible: only linear weights, experts, embedding tables and the "
        "head can have it (1 tensor: a).");
    row("format of whole numbers", FormatRefused{"f16", Why::NotFloats, "I32", {1, "a"}},
        "format f16 is not possible: the checkpoint holds I32 values (1 tensor: a)",
        "The format f16 is not possible: the checkpoint holds I32 values (1 tensor: a).");
    row("format of packed weights", FormatRefused{"bf16", Why::NeedsOwnKey, "nf4", {1, "a"}},
        "format bf16 is not possible: the checkpoint holds it packed as nf4; a key that names "
        "exactly this tensor may ask for its expansion (1 tensor: a)",
        "The format bf16 is not possible: the checkpoint holds it packed as nf4, and only a key "
        "that names exactly this tensor may ask for its expansion (1 tensor: a).");
    row("another small format", FormatRefused{"fp4", Why::Packed, "nf4", {1, "a"}},
        "format fp4 is not possible: the checkpoint holds it packed as nf4; use that, as_stored, "
        "or "
        "the unquantized checkpoint (1 tensor: a)",
        "The format fp4 is not possible: the checkpoint holds it packed as nf4; use that, "
        "as_stored, or the unquantized checkpoint (1 tensor: a).");
    row("expanded", FormatExpanded{"nf4", "bf16", {1, "a"}},
        "expanded from nf4 to bf16: values stay those of the 4-bit weights, only memory grows (1 "
        "tensor: a)",
        "Expanded from nf4 to bf16: the values stay those of the 4-bit weights, only memory grows "
        "(1 tensor: a).");
}

template <typename Row>
void addMapFindings(const Row& row) {
    using namespace engine::issue;
    row("map too long", MapTooLong{5'000'000, 4'194'304},
        "the text has 5000000 bytes; a device map has at most 4194304",
        "The text has 4.8 MiB; a device map has at most 4.0 MiB.");
    addJsonFaults(row);
    row("no object", NotAnObject{{JsonFound::Kind::Number, "1"}},
        "a device map is a JSON object, found the number 1",
        "A device map is a JSON object, found the number 1.");
    row("version missing", VersionMissing{},
        "version is missing: with an object as a value this is not accelerate's form; add "
        "\"version\": 1 and put module keys into \"map\"",
        "\"version\" is missing: with an object as a value this is not accelerate's form. Add "
        "\"version\": 1 and put the keys of modules into \"map\".");
    row("default missing", DefaultMissing{},
        "the member \"default\" is missing; it says where everything goes that no key names, for "
        "example \"default\": \"cuda:0\"",
        "\"default\" is missing. It says where everything goes that no key names, for example "
        "\"default\": \"cuda:0\".");
    addBadValues(row);
    row("unknown member", UnknownMember{"a", {"place", "format"}},
        "unknown member \"a\"; known are place, format",
        "The member “a” is unknown. Known are place, format.");
    row("key of everything", WholeModelKey{"model"},
        "the key \"model\" stands for the whole model; use \"default\" for that",
        "The key “model” stands for the whole model. Use \"default\" for that.");
    row("bad range", BadRange{"a.[3-1]"},
        "the key \"a.[3-1]\" has a bracket that is not a range: one component of the form [a-b] "
        "with a <= b and no leading zeros is allowed",
        "The key “a.[3-1]” has a bracket that is not a range: one component of the form [a-b] with "
        "a <= b and no leading zeros is allowed.");
    row("no device", NotADevice{"gpu", "limits"},
        "\"gpu\" in \"limits\" is not a device: expected cpu, disk, cuda:N or sim:N",
        "“gpu” in \"limits\" is not a device: expected cpu, disk, cuda:N or sim:N.");
    row("case of a unit", SizeUnitCase{"6gib"},
        "the size \"6gib\" has a unit in wrong upper and lower case; write KiB, MiB, GiB (1024) or "
        "KB, MB, GB (1000)",
        "The size “6gib” has a unit in wrong upper and lower case. Write KiB, MiB, GiB (1024) or "
        "KB, MB, GB (1000).");
    addKeyFindings(row);
    addPlaceFindings(row);
    row("format of the cache", KvFormatMissing{},
        "this version keeps keys and values in bf16 (fp32 with --precision f32) and has no other "
        "format for them; remove kv.format",
        "This version keeps keys and values in bf16 and has no other format for them. Remove "
        "kv.format.");
    row("other layers", MadeForOtherLayers{35, 30},
        "the map was made for a model with 35 layers, this one has 30",
        "The map was made for a model with 35 layers, this one has 30.");
    row("other model", MadeForOtherModel{"llama", "Gemma4ForConditionalGeneration"},
        "the map was made for the architecture \"llama\", this model is gemma4 "
        "(Gemma4ForConditionalGeneration)",
        "The map was made for the architecture “llama”, this model is "
        "Gemma4ForConditionalGeneration.");
    using Hint = MapHint::Kind;
    const auto preset = [&row](const char* name, const MapHint& hint, const char* english,
                               const char* words) {
        const std::string start =
            "there is no device-map preset \"" + hint.word + "\"; known are gpu, fit";
        const std::string begin =
            "There is no placement called “" + hint.word + "”. Known are gpu, fit.";
        row(name, NoPreset{hint.word, {"gpu", "fit"}, hint}, (start + english).c_str(),
            (begin + words).c_str());
    };
    preset("no preset", {Hint::None, "gpus"}, "", "");
    preset("no preset: auto", {Hint::Automatic, "auto"},
           ". \"auto\" is accelerate's word for a placement that is worked out; here that is "
           "\"fit\"",
           " “auto” is accelerate's word for a placement that is worked out; here that is “fit”.");
    preset(
        "no preset: first card", {Hint::FirstCard, "cuda", "0"},
        ". \"cuda\" is a device, not a map: the preset \"gpu\" puts everything there, and a file "
        "with {\"\": \"cuda:0\"} does too",
        " “cuda” is a device, not a map: “gpu” puts everything there.");
    preset("no preset: card", {Hint::Card, "1", "1"},
           ". \"1\" is a device, not a map: for everything there give a file with {\"\": "
           "\"cuda:1\"}",
           " “1” is a device, not a map: for everything there take a file with {\"\": "
           "\"cuda:1\"}.");
    preset("no preset: device", {Hint::Device, "sim:0"},
           ". \"sim:0\" is a device, not a map: give a file with {\"\": \"sim:0\"}",
           " “sim:0” is a device, not a map: for everything there take a file with {\"\": "
           "\"sim:0\"}.");
    preset("no preset: other device", {Hint::NoSuchDevice, "mps"},
           ". \"mps\" is a device that Belfry does not have; the presets are listed by --help",
           " “mps” is a device that Belfry does not have.");
    row("preset without a GPU", PresetNeedsGpu{"gpu"},
        "the preset \"gpu\" needs a GPU and this machine shows none; use the preset \"cpu\", or "
        "try "
        "a simulated GPU with --sim-gpu",
        "The placement “Everything on the GPU” needs a GPU, and this computer shows none. Use "
        "“Everything on the CPU”, or try “Graphics card: Simulated”.");
}

} // namespace app_test
