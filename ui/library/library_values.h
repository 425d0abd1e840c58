// SPDX-License-Identifier: Apache-2.0
// What the library's page shows, as values: models and adapters on this computer, where was looked,
// what a deletion would take. Made by app/window/library_thread.h from models/entry.h.
#pragma once

#include "engine/api/sentence.h"

#include <QDateTime>
#include <QMetaType>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

namespace ui {

struct LibraryItem {
    enum class Kind { Model = 1, Adapter };
    enum class State { Usable = 1, Incomplete, Unusable };
    enum class Fit { Unknown = 1, Fits, FitsWithChange, DoesNotFit };
    enum class Place { HubCache = 1, LmStudio, LlamaCpp, Ollama, Folder, Recent };
    /// Why it cannot be used; None where it can.
    enum class Reason { None = 1, FilesMissing, Pickle, Mlx, NotSupported, Broken };

    Kind kind = Kind::Model;
    State state = State::Usable;
    Fit fit = Fit::Unknown;
    Place place = Place::Folder;
    Reason reason = Reason::None;
    QString name;
    QString revision;  ///< Shown: "main", or the first digits of a commit; empty outside of caches.
    QString path;      ///< Folder, or the file of a model that is one; with '/'.
    QString projector; ///< GGUF: the file with the towers, where the engine does not find it.
    QString variant;   ///< "E2B"
    QString precision;
    QString base;          ///< Adapters: what they were made for.
    qint64 parameters = 0; ///< 0: not known.
    qint64 rank = 0;
    quint64 bytes = 0;
    quint64 needs_bytes = 0; ///< As stored, on all devices; 0: not known.
    QDateTime modified;
    engine::Sentence problem; ///< What exactly is wrong; empty where nothing is.
    engine::Sentence way_out;
    std::vector<engine::Sentence> notes; ///< What is odd about a usable model.
};

/// A model with the adapters made for it; without one: adapters whose model is not here.
struct LibraryGroup {
    std::optional<LibraryItem> model;
    std::vector<LibraryItem> adapters;
};

struct LibraryContents {
    std::vector<LibraryGroup> groups;   ///< By name, usable models first.
    std::vector<engine::Sentence> gaps; ///< Places that could not be looked through.
    QStringList folders;                ///< That the user added.
    bool is_complete = false;

    [[nodiscard]] bool isEmpty() const { return groups.empty(); }
};

/// What would be deleted, to be agreed to.
struct LibraryRemoval {
    QString name;
    QString path;              ///< Path of the item.
    QString folder;            ///< In which the files lie.
    quint64 bytes = 0;         ///< That the disk gets back.
    qsizetype entries = 0;     ///< Files, links and folders that go.
    bool is_shared = false;    ///< Other programs that use the hub's cache lose it as well.
    bool is_used_here = false; ///< It is loaded just now.
    QStringList kept;          ///< Names beside it that stay.
};

} // namespace ui

Q_DECLARE_METATYPE(ui::LibraryRemoval)
