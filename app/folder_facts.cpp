// SPDX-License-Identifier: Apache-2.0
#include "app/folder_facts.h"

#include "app/store/plain_file.h"
#include "engine/base/assistant_folder.h"
#include "engine/base/paths.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>

namespace app {

namespace {

using ui::FolderFacts;

constexpr int kMostEntries = 2000; ///< Per folder.
constexpr int kMostHeads = 16;     ///< Files without a telling name that are opened.
constexpr int kMostFolders = 200;  ///< Looked into for a model one or two levels deeper.

FolderFacts::Place placeOf(const QString& path) {
    std::error_code error;
    const auto status = std::filesystem::status(engine::pathFromUtf8(path.toStdString()), error);
    if (error == std::errc::permission_denied) {
        return FolderFacts::Place::Unreadable;
    }
    if (!std::filesystem::exists(status)) {
        return FolderFacts::Place::Missing;
    }
    if (!std::filesystem::is_directory(status)) {
        return FolderFacts::Place::File;
    }
    return QFileInfo(path).isReadable() && QFileInfo(path).isExecutable()
               ? FolderFacts::Place::Folder
               : FolderFacts::Place::Unreadable;
}

bool endsWithOneOf(const QString& name, std::initializer_list<const char*> suffixes) {
    return std::any_of(suffixes.begin(), suffixes.end(),
                       [&](const char* suffix) { return name.endsWith(QLatin1String(suffix)); });
}

/// Whose format it is by its name; empty when the name does not tell.
QString otherProgram(const QString& name) {
    if (endsWithOneOf(name, {".onnx", ".onnx_data"})) {
        return QStringLiteral("ONNX");
    }
    if (endsWithOneOf(name, {".h5", ".keras", ".pb"})) {
        return QStringLiteral("TensorFlow");
    }
    if (endsWithOneOf(name, {".msgpack"})) {
        return QStringLiteral("Flax");
    }
    if (endsWithOneOf(name, {".tflite", ".task", ".litertlm"})) {
        return QStringLiteral("LiteRT");
    }
    if (endsWithOneOf(name, {".npz"})) {
        return QStringLiteral("NumPy");
    }
    if (endsWithOneOf(name, {".nemo"})) {
        return QStringLiteral("NeMo");
    }
    if (endsWithOneOf(name, {".mlmodel", ".mlpackage"})) {
        return QStringLiteral("Core ML");
    }
    return {};
}

void noteName(FolderFacts& facts, const QString& name) {
    const QString lower = name.toLower();
    const auto note = [&name](QString& into) {
        if (into.isEmpty() || name < into) {
            into = name; // the same one each time, whatever the order of the folder
        }
    };
    if (lower.endsWith(QLatin1String(".gguf")) || lower.endsWith(QLatin1String(".ggml"))) {
        note(facts.gguf);
    } else if (endsWithOneOf(lower, {".bin", ".pt", ".pth", ".ckpt", ".pkl"})) {
        note(facts.pickle);
    } else if (endsWithOneOf(lower, {".zip", ".tar", ".tgz", ".gz", ".xz", ".7z", ".zst"})) {
        note(facts.archive);
    } else if (endsWithOneOf(lower, {".safetensors"})) {
        facts.has_safetensors = true;
    } else if (lower == QLatin1String("config.json")) {
        facts.has_config = true;
    } else if (lower == QLatin1String("adapter_config.json")) {
        facts.is_adapter = true;
    } else if (const QString program = otherProgram(lower); !program.isEmpty()) {
        note(facts.other);
        facts.other_program = otherProgram(facts.other.toLower());
    }
}

/// By the first bytes: files are called anything ("sha256-..." in Ollama's folder).
void noteHead(FolderFacts& facts, const QString& path, const QString& name) {
    QFile file;
    QString why;
    if (!openPlain(file, path, why)) {
        return;
    }
    const QByteArray head = file.read(8);
    if (head.startsWith("GGUF") || head.startsWith("tjgg") || head.startsWith("lmgg")) {
        facts.gguf = name;
    }
}

QString modelInside(const QString& folder) {
    const auto has_model = [](const QString& path) {
        return QFile::exists(path + QStringLiteral("/config.json")) &&
               !QFile::exists(path + QStringLiteral("/adapter_config.json"));
    };
    // "models--google--gemma-4-E2B-it/snapshots/HASH" is how a hub's cache looks.
    for (const QString& below : {QString(), QStringLiteral("/snapshots")}) {
        QDirIterator folders(folder + below, QDir::Dirs | QDir::NoDotAndDotDot);
        for (int i = 0; i < kMostFolders && folders.hasNext(); ++i) {
            const QString one = folders.next();
            if (has_model(one)) {
                return QDir(folder).relativeFilePath(one);
            }
        }
    }
    return {};
}

} // namespace

ui::FolderFacts readFolderFacts(const QString& path) {
    FolderFacts facts;
    facts.place = placeOf(path);
    if (facts.place == FolderFacts::Place::File) {
        const QFileInfo info(path);
        noteName(facts, info.fileName());
        noteHead(facts, path, info.fileName());
        if (QFile::exists(info.path() + QStringLiteral("/config.json")) && facts.gguf.isEmpty()) {
            facts.folder_of_file = info.path();
        }
        return facts;
    }
    if (facts.place != FolderFacts::Place::Folder) {
        return facts;
    }
    int heads = 0;
    facts.is_empty = true;
    QDirIterator entries(path,
                         QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot);
    for (int i = 0; i < kMostEntries && entries.hasNext(); ++i) {
        entries.next();
        facts.is_empty = false;
        const QFileInfo info = entries.fileInfo();
        if (!info.isFile()) {
            continue;
        }
        noteName(facts, info.fileName());
        if (info.suffix().isEmpty() && heads < kMostHeads) {
            ++heads;
            noteHead(facts, info.filePath(), info.fileName());
        }
    }
    if (facts.has_safetensors) {
        facts.pickle.clear(); // both are published side by side, as training arguments are
    }
    if (!facts.has_config) {
        facts.model_inside = modelInside(path);
    } else if (!facts.is_adapter) {
        facts.assistant = QString::fromStdString(
            engine::utf8Of(engine::assistantFolderOf(engine::pathFromUtf8(path.toStdString()))));
    }
    return facts;
}

} // namespace app
