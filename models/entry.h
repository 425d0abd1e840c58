// SPDX-License-Identifier: Apache-2.0
// What the library knows of a model or an adapter on the disk, as values: made by scanner.h, shown
// by `belfry-cli models` and the window. Texts are UTF-8, as far as the names on the disk are.
#pragma once

#include "engine/api/sentence.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace models {

/// Whose folder something lies in.
enum class Place : uint8_t {
    HubCache = 1, ///< Downloads of huggingface_hub, and of `belfry-cli get`.
    LmStudio,     ///< LM Studio's own folder; its settings say where the models are.
    LlamaCpp,     ///< Downloads of llama.cpp.
    Ollama,       ///< Ollama's own folder: files named by their checksums, and lists of them.
    UserFolder,   ///< Named by the user.
    Recent,       ///< A model's own folder, used before.
};
/// "hub-cache", "lm-studio", "llama.cpp", "ollama", "folder", "recent": in JSON and tables.
std::string_view placeName(Place place);

/// A folder to look into.
struct Root {
    Place place = Place::UserFolder;
    std::filesystem::path folder;
};

enum class Kind : uint8_t { Model = 1, Adapter };

/// How the weights are stored.
enum class Form : uint8_t {
    None = 1, ///< There are no weights.
    Safetensors,
    Gguf,
    Mlx, ///< Safetensors with the quantization of Apple's MLX.
    Pickle,
};
/// "", "safetensors", "gguf", "mlx", "pickle".
std::string_view formName(Form form);

enum class State : uint8_t {
    Usable = 1,
    Incomplete, ///< Some of its files are not there: see missing.
    Unusable,   ///< See trouble.
};
/// "usable", "incomplete", "unusable".
std::string_view stateName(State state);

/// Why something cannot be used, and the way out.
struct Trouble {
    enum class Reason : uint8_t {
        FilesMissing = 1, ///< Half a download, or files that were deleted.
        Pickle,
        Mlx,
        NotSupported, ///< A family, a quantization, a kind of adapter that Belfry does not run.
        Broken,       ///< Files that break their format.
    };
    Reason reason = Reason::Broken;
    engine::Sentence sentence; ///< Names the file.
    engine::Sentence way_out;  ///< The next step; may be empty where `sentence` has it.
};
/// "files-missing", "pickle", "mlx", "not-supported", "broken".
std::string_view reasonName(Trouble::Reason reason);

/// What this computer makes of a model, by its headers alone.
enum class Fit : uint8_t {
    Unknown = 1,    ///< Nobody asked, or it cannot be told.
    Fits,           ///< As it is stored, without any option.
    FitsWithChange, ///< See change.
    DoesNotFit,
};
/// "unknown", "fits", "fits-with-change", "does-not-fit".
std::string_view fitName(Fit fit);

struct Entry {
    Kind kind = Kind::Model;
    Form form = Form::None;
    State state = State::Usable;
    /// What MODEL may say: "google/gemma-4-E2B-it" in a hub's cache, else the path below the root.
    std::string name;
    std::filesystem::path path;      ///< The folder; of GGUF the file.
    std::filesystem::path projector; ///< A GGUF model's, where the engine does not find it.
    std::filesystem::path real_path; ///< Without links: the same for the same thing.
    Root root;
    /// In a hub's cache: the commit, and the branches and tags that lead to it.
    std::string commit;
    std::vector<std::string> refs;
    std::filesystem::path repository; ///< In a hub's cache: models--OWNER--NAME.

    std::string family;     ///< model_type of config.json: "gemma4"; adapters: "lora".
    std::string variant;    ///< "E2B"; empty where the headers do not tell.
    std::string precision;  ///< "bfloat16", "nf4-dq", "Q4_K_M", ...; empty = not known.
    int64_t parameters = 0; ///< 0 = not known.
    int64_t rank = 0;       ///< Adapters.
    std::string base;       ///< Adapters: base_model_name_or_path, as it is written.
    uint64_t bytes = 0;     ///< Size of all its files, a GGUF model's with towers and assistant.
    int64_t modified = 0;   ///< Newest of its files, seconds since 1970.
    std::vector<std::string> missing; ///< Files that are named by others and not there.
    std::optional<Trouble> trouble;
    std::vector<engine::Sentence> notes; ///< What is odd about a usable model, as a load tells.

    Fit fit = Fit::Unknown;
    std::string change;       ///< FitsWithChange: the option ("--device-map fit").
    uint64_t needs_bytes = 0; ///< As stored, on all devices together; 0 = not known.

    /// The branch where there is one, else the first 7 digits of the commit; "" outside of caches.
    [[nodiscard]] std::string revisionShown() const;
};

/// What became of a root.
struct RootReport {
    enum class Outcome : uint8_t {
        Done = 1,
        Missing, ///< There is no such folder: no fault of the user's where he did not name it.
        Unreadable,
        NotAnswering, ///< A file operation took longer than the limit: skipped.
        Cut,          ///< More entries than are looked at.
        Cancelled,
    };
    Root root;
    Outcome outcome = Outcome::Done;
    engine::Sentence sentence; ///< Empty when Done.
};
/// "done", "missing", "unreadable", "not-answering", "cut", "cancelled".
std::string_view outcomeName(RootReport::Outcome outcome);

/// Indices into the entries: a model (-1: its base is not here) with the adapters made for it.
struct Group {
    int model = -1;
    std::vector<int> adapters;
};

/// Models by name, usable ones first, each with its adapters; then adapters without a base here. An
/// adapter's base is found by name or path, else it is the model in whose folder the adapter lies,
/// else one with the same last part of the name (without what Unsloth appends to it for 4 bits),
/// because trainings name copies of the same model.
std::vector<Group> groupByBase(const std::vector<Entry>& entries);

/// What a file manager is to show: the folder of a model, the file of a GGUF model.
std::filesystem::path placeToShow(const Entry& entry);

} // namespace models
