// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/folder_words.h"

#include "ui/common/error_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QDir>

#include <algorithm>
#include <utility>
#include <vector>

namespace ui {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(ui::FolderProblem)
};

QString detail(const engine::Error& error, const char* key) {
    const auto found = std::find_if(error.details.begin(), error.details.end(),
                                    [key](const auto& pair) { return pair.first == key; });
    return found == error.details.end() ? QString() : fromUtf8(found->second);
}

/// A model of a kind that is not run; empty when the error is about something else.
QString kindWords(const engine::Error& error) {
    const QString kind = detail(error, "model_kind");
    if (kind == QStringLiteral("unified")) {
        return Words::tr("It holds Gemma 4 12B (unified), which Belfry does not run yet. It runs "
                         "E2B, E4B, 26B-A4B and 31B.");
    }
    if (kind == QStringLiteral("assistant")) {
        return Words::tr("It holds a helper for faster decoding, not a model to chat with. Choose "
                         "the folder of the model that it belongs to.");
    }
    return kind.isEmpty() ? QString()
                          : Words::tr("It holds a model of another kind (%1). Belfry runs Gemma 4: "
                                      "E2B, E4B, 26B-A4B and 31B.")
                                .arg(detail(error, "model_type"));
}

QString ggufWords(const QString& name) {
    return Words::tr("%1 is a GGUF file: a model converted for llama.cpp, Ollama or LM Studio. "
                     "Belfry does not read this form. It runs the model as it was published: "
                     "choose the Hugging Face folder with config.json and .safetensors files; "
                     "“Weights: 4 bits” makes it as small when it is loaded.")
        .arg(name);
}

QString pickleWords(const QString& name) {
    return Words::tr("The weights are in %1, PyTorch's own form, which can run programs when it is "
                     "read; Belfry does not open it. Get the .safetensors files of the model, or "
                     "convert it once with transformers (save_pretrained).")
        .arg(name);
}

/// What the given file is, or what a folder without config.json holds; empty: nothing to tell.
QString insteadWords(const FolderFacts& facts) {
    if (!facts.gguf.isEmpty()) {
        return ggufWords(facts.gguf);
    }
    if (facts.is_adapter) {
        return Words::tr("It holds an adapter, no model. Choose the model first, then add this "
                         "folder with “Adapter”.");
    }
    if (!facts.model_inside.isEmpty()) {
        return Words::tr("The model is in a folder inside it: %1. Choose that one.")
            .arg(QDir::toNativeSeparators(facts.model_inside));
    }
    if (!facts.other.isEmpty()) {
        return Words::tr("%1 is a model in the form of %2. Belfry runs the model as it was "
                         "published: choose the Hugging Face folder with config.json and "
                         ".safetensors files.")
            .arg(facts.other, facts.other_program);
    }
    if (!facts.pickle.isEmpty()) {
        return pickleWords(facts.pickle);
    }
    if (!facts.archive.isEmpty()) {
        return Words::tr("%1 is an archive. Unpack it and choose the folder that comes out.")
            .arg(facts.archive);
    }
    return {};
}

QString fileWords(const FolderFacts& facts) {
    if (!facts.folder_of_file.isEmpty()) {
        return Words::tr("This is one file of a model. Choose its folder: %1")
            .arg(QDir::toNativeSeparators(facts.folder_of_file));
    }
    const QString words = insteadWords(facts);
    return words.isEmpty() ? Words::tr("This is a file, not a folder. Choose the folder that holds "
                                       "a Hugging Face model: config.json and .safetensors files.")
                           : words;
}

} // namespace

QString weightsProblem(const FolderFacts& facts) {
    const QString other = !facts.gguf.isEmpty()     ? ggufWords(facts.gguf)
                          : !facts.pickle.isEmpty() ? pickleWords(facts.pickle)
                                                    : QString();
    return other.isEmpty()
               ? Words::tr("The weights are not here: layouts can be tried, loading cannot. Put "
                           "the .safetensors files into this folder to load it.")
               : Words::tr("Layouts can be tried, loading cannot. %1").arg(other);
}

QString folderProblem(const engine::Error& error, const FolderFacts& facts) {
    switch (facts.place) {
    case FolderFacts::Place::Missing:
        return Words::tr("The folder is not there any more: moved, renamed or deleted.");
    case FolderFacts::Place::Unreadable:
        return Words::tr("You may not look into it. Ask its owner for the right to read it.");
    case FolderFacts::Place::File:
        return fileWords(facts);
    case FolderFacts::Place::Folder:
        break;
    }
    if (!facts.has_config) {
        if (QString words = insteadWords(facts); !words.isEmpty()) {
            return words;
        }
    }
    if (facts.is_empty) {
        return Words::tr("The folder is empty. Choose the folder that holds a Hugging Face model.");
    }
    const QString file = detail(error, "file");
    if (detail(error, "rule") == QStringLiteral("FileMissing") && !file.isEmpty()) {
        return file == QStringLiteral("config.json")
                   ? Words::tr("There is no config.json in it. Choose the folder that holds a "
                               "Hugging Face model.")
               : !facts.has_safetensors && (!facts.gguf.isEmpty() || !facts.pickle.isEmpty())
                   ? weightsProblem(facts)
                   : Words::tr("%1 is missing in it. Download the file into the folder.").arg(file);
    }
    const QString kind = kindWords(error);
    return kind.isEmpty() ? errorSentence(error) : kind;
}

QString adapterProblem(const engine::Error& error) {
    return detail(error, "rule") == QStringLiteral("OtherShape")
               ? Words::tr("It was trained for a model of another size. Choose the model that it "
                           "was trained for, or another adapter.")
               : QString();
}

QStringList namingParts(const QString& folder) {
    QStringList parts = QDir::cleanPath(folder).split(QLatin1Char('/'), Qt::SkipEmptyParts);
    const qsizetype at = parts.size() - 3;
    if (at >= 0 && parts[at + 1] == QStringLiteral("snapshots") &&
        parts[at].startsWith(QStringLiteral("models--"))) {
        const QStringList id = parts[at].split(QStringLiteral("--")).mid(1);
        parts = parts.mid(0, at) + id;
    }
    return parts;
}

QString folderName(const QString& folder, const QStringList& others) {
    const QStringList parts = namingParts(folder);
    if (parts.isEmpty()) {
        return folder;
    }
    std::vector<QStringList> same; // of the same name
    for (const QString& other : others) {
        QStringList of_other = namingParts(other);
        if (of_other != parts && !of_other.isEmpty() && of_other.last() == parts.last()) {
            same.push_back(std::move(of_other));
        }
    }
    if (same.empty()) {
        return parts.last();
    }
    for (qsizetype up = 2; up <= parts.size(); ++up) {
        const QString& above = parts.at(parts.size() - up);
        const bool is_apart = std::none_of(same.begin(), same.end(), [&](const QStringList& other) {
            return other.size() >= up && other.at(other.size() - up) == above;
        });
        if (is_apart) {
            return Words::tr("%1 (in %2)").arg(parts.last(), above);
        }
    }
    return QDir::toNativeSeparators(folder);
}

QString adapterName(const QString& folder, const QStringList& others) {
    static const QStringList kSaysNothing = {QStringLiteral("adapter"), QStringLiteral("adapters"),
                                             QStringLiteral("best"),    QStringLiteral("final"),
                                             QStringLiteral("lora"),    QStringLiteral("output"),
                                             QStringLiteral("peft")};
    const QString name = folderName(folder, others);
    const QStringList parts = namingParts(folder);
    const bool says_nothing = kSaysNothing.contains(name, Qt::CaseInsensitive) ||
                              name.startsWith(QStringLiteral("checkpoint-"));
    return says_nothing && parts.size() > 1 && name == parts.last()
               ? parts.at(parts.size() - 2) + QLatin1Char('/') + name
               : name;
}

} // namespace ui
