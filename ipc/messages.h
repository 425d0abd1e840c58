// SPDX-License-Identifier: Apache-2.0
// The payloads of frames: a struct per method of EngineClient, with the value that answers it, and
// what comes while a call runs. Bytes are made and read by encode() and decode(), in messages.cpp
// for all of them.
#pragma once

#include "engine/api/snapshot.h"
#include "engine/client/engine_client.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/frame.h"

namespace ipc {

struct Nothing {};

/// What the engine's process makes its engine with.
struct HostOptions {
    std::string demo_folder, rates_file, library_path;
    std::vector<std::string> hub_caches;
    std::vector<std::string> writable; ///< Folders beside that of rates_file.
    std::string compiled_kernels;      ///< Where a driver keeps what it has compiled; may be empty.
    /// Through which a driver reaches the service that shares a card between programs (MPS); empty:
    /// it does not run, and nothing has to be connected.
    std::string sharing_folder;
    bool asks_cards = false; ///< Whether a driver of graphics cards may be asked.
};

struct Welcome {
    uint32_t version = 0;
    std::string program;             ///< "0.2.0 (9d669e3)": of the process that answers.
    std::vector<std::string> limits; ///< What the process has denied itself.
};

// Calls. kKind: of the frame; Value: what answers it.

struct Hello {
    static constexpr Kind kKind = Kind::Hello;
    using Value = Welcome;
    uint32_t version = kVersion;
    HostOptions options;
};
struct Inspect {
    static constexpr Kind kKind = Kind::Inspect;
    using Value = engine::ModelSummary;
    std::string model;
    std::vector<std::string> adapters;
};
struct Load {
    static constexpr Kind kKind = Kind::Load;
    using Value = Nothing;
    engine::LoadRequest request;
};
struct Unload {
    static constexpr Kind kKind = Kind::Unload;
    using Value = Nothing;
};
struct ApplyMap {
    static constexpr Kind kKind = Kind::ApplyMap;
    using Value = Nothing;
    std::string device_map;
};
struct SetAdapters {
    static constexpr Kind kKind = Kind::SetAdapters;
    using Value = Nothing;
    std::vector<engine::AdapterChoice> adapters;
};
struct AdapterEffect {
    static constexpr Kind kKind = Kind::AdapterEffect;
    using Value = engine::AdapterSummary::Effect;
    std::string folder;
};
struct Generate {
    static constexpr Kind kKind = Kind::Generate;
    using Value = engine::Reply;
    engine::GenerateRequest request;
};
struct Logits {
    static constexpr Kind kKind = Kind::Logits;
    using Value = engine::LogitsResult;
    engine::GenerateRequest request;
    int64_t rows = 0;
};
struct EncodeAhead {
    static constexpr Kind kKind = Kind::EncodeAhead;
    using Value = Nothing;
    engine::MessagePart part;
    int64_t image_tokens = 0;
};
struct CheckMedia {
    static constexpr Kind kKind = Kind::CheckMedia;
    using Value = Nothing;
    std::string model;
    std::vector<std::string> images, audios;
};
struct MediaCost {
    static constexpr Kind kKind = Kind::MediaCost;
    using Value = engine::MediaCost;
    engine::MessagePart part;
    int64_t image_tokens = 0;
};
/// The machine's memory; that of the engine comes with every answer.
struct Status {
    static constexpr Kind kKind = Kind::Status;
    using Value = std::vector<engine::DeviceMemory>;
};

// What comes back.

/// What is loaded, or would be again.
struct LoadedModel {
    engine::LoadRequest request;
    double load_s = 0.0;
    std::vector<engine::Sentence> notes;
};
/// What EngineClient's plain questions answer. What did not change since it was told is left out.
struct EngineState {
    bool is_loaded = false;
    engine::Capabilities capabilities;
    int64_t context_used = 0, context_size = 0;
    std::vector<engine::DeviceMemory> memory;
    std::optional<LoadedModel> model;
    /// Told even where they are nullptr.
    std::optional<std::shared_ptr<const engine::ModelSummary>> summary;
    std::optional<std::shared_ptr<const engine::PlacementPlan>> plan;
};
/// The last frame of a call: a value or an error.
template <typename T>
struct Answer {
    EngineState state;
    std::optional<T> value;
    engine::Error error; ///< Where there is no value.
};
struct Step {
    int64_t context_used = 0, context_size = 0;
    std::vector<engine::DeviceMemory> memory;
};

/// The bytes of a payload: a call, an Answer of a call's value, engine::ReplyUpdate,
/// engine::LoadProgressValue, Step.
template <typename T>
std::string encode(const T& value);

/// False: these bytes are no such value; `why` then says what was wrong, in English.
template <typename T>
[[nodiscard]] bool decode(std::string_view bytes, T& value, std::string& why);

} // namespace ipc
