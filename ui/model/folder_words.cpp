// SPDX-License-Identifier: Apache-2.0
#include "ui/model/folder_words.h"

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

constexpr qsizetype kBlobLength = 71; ///< "sha256-" and 64 digits: Ollama's.

bool isFileName(const QString& name) {
    return name.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive) ||
           (name.startsWith(QLatin1String("sha256-")) && name.size() == kBlobLength);
}

/// Without the ending and the number of the first part; a checksum by its first digits.
QString bareName(QString name) {
    if (name.size() == kBlobLength && name.startsWith(QLatin1String("sha256-"))) {
        return name.left(19);
    }
    name.chop(5);
    constexpr qsizetype kPartLength = 15; // -00001-of-00003
    if (name.size() > kPartLength &&
        QStringView(name).last(kPartLength).startsWith(QLatin1String("-00001-of-"))) {
        name.chop(kPartLength);
    }
    return name;
}

} // namespace

QString weightsProblem() {
    return Words::tr("The weights are not here: layouts can be tried, loading cannot. Put the "
                     ".safetensors files into this folder to load it.");
}

QString adapterProblem(const engine::Error& error) {
    const bool is_other_shape =
        std::any_of(error.details.begin(), error.details.end(),
                    [](const auto& detail) { return detail.second == "OtherShape"; });
    return is_other_shape
               ? Words::tr("It was trained for a model of another size. Choose the model that it "
                           "was trained for, or another adapter.")
               : QString();
}

QStringList namingParts(const QString& folder) {
    QStringList parts = QDir::cleanPath(folder).split(QLatin1Char('/'), Qt::SkipEmptyParts);
    QStringList file;
    if (!parts.isEmpty() && isFileName(parts.last())) {
        file.append(bareName(parts.takeLast()));
    }
    const qsizetype at = parts.size() - 3;
    if (at >= 0 && parts[at + 1] == QStringLiteral("snapshots") &&
        parts[at].startsWith(QStringLiteral("models--"))) {
        const QStringList id = parts[at].split(QStringLiteral("--")).mid(1);
        parts = parts.mid(0, at) + id;
    }
    return parts + file;
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
