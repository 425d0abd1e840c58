// SPDX-License-Identifier: Apache-2.0
// What the page "Get a model" shows of a hub, as values: what was found, what a model would bring
// and need, what is being fetched. Made by app/window/hub_thread.h from models/hub.
#pragma once

#include "engine/api/error.h"

#include <QDateTime>
#include <QMetaType>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

namespace ui {

struct HubQuery {
    enum class Kind { Models = 1, Adapters, Gguf };
    QString words;
    QString base; ///< Adapters for this model; empty: for any.
    Kind kind = Kind::Models;
};

struct HubHit {
    enum class Gate { None = 1, Automatic, Manual };
    QString id;
    QString licence;   ///< "apache-2.0"; empty: not told.
    QStringList bases; ///< What it was made of.
    Gate gate = Gate::None;
    bool is_private = false, is_adapter = false, has_safetensors = false, has_gguf = false;
    quint64 downloads = 0; ///< In the last 30 days.
    quint64 likes = 0;
    qint64 parameters = 0; ///< 0: not told.
    QDateTime changed;
};

struct HubFound {
    std::vector<HubHit> hits;
    bool has_more = false;
    bool is_continued = false; ///< Behind what an earlier answer held.
};

/// What a model takes on a computer, by the planner.
struct ModelNeeds {
    bool fits = false;
    bool is_packed = false;  ///< In 4 bits, wholly or in parts.
    quint64 bytes = 0;       ///< Memory, on all devices.
    double tokens_per_s = 0; ///< 0: not told, of cards that Belfry does not compute on.
};

struct HubFile {
    QString name;
    quint64 bytes = 0;
    quint64 present_bytes = 0; ///< On the disk already.
};

/// One of the GGUF models of a repository.
struct HubQuantization {
    QString name;             ///< "Q4_K_M"
    quint64 bytes = 0;        ///< With the projector and the assistant.
    std::optional<bool> fits; ///< This computer, as it is stored; nullopt: not known.
};

/// A model before it is fetched.
struct HubOffer {
    quint64 ticket = 0; ///< For begin().
    QString id, revision, commit;
    QString folder;                             ///< Where it will be, or the GGUF file; with '/'.
    std::vector<HubQuantization> quantizations; ///< GGUF models, by bytes; empty: it has none.
    qsizetype quantization = 0;                 ///< The one that is offered.
    QString page;                               ///< The model's, where it is not of the hub.
    std::vector<HubFile> files;
    qsizetype left_out = 0; ///< Files that Belfry does not load.
    quint64 left_out_bytes = 0;
    quint64 total_bytes = 0, present_bytes = 0;
    quint64 free_bytes = 0; ///< On that disk; 0: it does not tell.
    std::optional<engine::Error> no_room;
    QString variant;                     ///< "E2B"
    std::optional<ModelNeeds> needs;     ///< A model of which the planner can tell.
    std::optional<engine::Error> no_use; ///< A model that Belfry does not run.
    bool is_adapter = false;
    /// Its headers, as a model of the planner: there as long as somebody has headers_folder.
    QString headers, headers_projector;
    std::shared_ptr<const void> headers_folder;

    [[nodiscard]] quint64 missingBytes() const { return total_bytes - present_bytes; }
};

struct Download {
    enum class State { Waiting = 1, Fetching, Paused, Done, Failed };
    quint64 number = 0;
    QString id;
    QString folder;
    State state = State::Waiting;
    quint64 total_bytes = 0, done_bytes = 0;
    qsizetype files = 0, done_files = 0; ///< 0 files: not known.
    double bytes_per_s = 0;              ///< 0: not known yet.
    double seconds_left = -1;            ///< Below 0: not known yet.
    engine::Sentence waiting;            ///< Why nothing comes just now; empty: it does.
    std::optional<engine::Error> error;  ///< Failed.
    bool is_adapter = false;
};

using Downloads = std::vector<Download>;

/// What the user has said of the network, and what stands in the environment.
struct NetworkFacts {
    bool is_there = true;              ///< This build has a network part.
    bool is_forbidden = false;         ///< By the settings or by HF_HUB_OFFLINE.
    bool is_forbidden_outside = false; ///< By HF_HUB_OFFLINE alone.
    QString endpoint;                  ///< "https://huggingface.co"
    QString usual_endpoint;            ///< Without a mirror of the settings.
    bool is_mirror = false;            ///< Another than that.
    QString modelscope_endpoint;       ///< Asked for addresses of these hosts:
    QStringList modelscope_hosts;
    QString token_shown; ///< "hf_…wxyz"; empty: none.
    QString token_place; ///< Where one is kept: a keyring's name, or a path.
};

} // namespace ui

Q_DECLARE_METATYPE(ui::HubQuery)
Q_DECLARE_METATYPE(ui::NetworkFacts)
