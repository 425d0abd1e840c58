// SPDX-License-Identifier: Apache-2.0
// What lies where a model was looked for: enough to say what it is instead. Read by app/ on a
// thread that may wait for a drive.
#pragma once

#include <QHash>
#include <QMetaType>
#include <QString>

namespace ui {

struct FolderFacts {
    enum class Place {
        Folder = 1,
        File,
        Missing,    ///< Nothing is there.
        Unreadable, ///< Something is, and this user may not look at it.
    };
    Place place = Place::Folder;
    QString gguf;          ///< Name of a GGUF file: llama.cpp's format.
    QString pickle;        ///< Name of a file in PyTorch's own format, where no safetensors are.
    QString other;         ///< Name of a file in another program's format ...
    QString other_program; ///< ... and whose it is: "ONNX", "TensorFlow", "LiteRT".
    QString archive;       ///< Name of an archive.
    QString model_inside;  ///< Path, relative to the folder, of one that holds a config.json.
    bool is_adapter = false;
    bool has_safetensors = false, has_config = false;
    bool is_empty = false;
    /// A file of a model folder was given in the folder's place: the folder. Empty otherwise.
    QString folder_of_file;
    /// For a model: the folder of the drafting assistant that belongs to it; empty: none is known.
    QString assistant;
};

using FolderFactsByPath = QHash<QString, FolderFacts>;

} // namespace ui

Q_DECLARE_METATYPE(ui::FolderFactsByPath)
