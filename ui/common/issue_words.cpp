// SPDX-License-Identifier: Apache-2.0
#include "ui/common/issue_words.h"

#include "ui/common/map_words.h"
#include "ui/common/note_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace ui {

namespace {

using namespace engine::issue;

struct Issue {
    Q_DECLARE_TR_FUNCTIONS(ui::Issue)
};

QString device(engine::DeviceId id) {
    return deviceName(id.toString());
}

/// "workspace 16.0 MiB, head on Simulated GPU 0 2.5 MiB".
QString partsWords(const std::vector<engine::PartShare>& parts) {
    QStringList words;
    for (const engine::PartShare& share : parts) {
        QString name = partWords(share.part);
        if (share.device.has_value()) {
            name = Issue::tr("%1 on %2").arg(name, device(*share.device));
        }
        words.append(name + QLatin1Char(' ') + formatBytes(share.bytes));
    }
    return words.join(QStringLiteral(", "));
}

/// What may be used, and what the map keeps of it.
QString usableWords(uint64_t limit, const engine::MemoryBound& bound) {
    return bound.reserve == 0 ? formatBytes(limit)
                              : Issue::tr("%1 (the map keeps %2 free)")
                                    .arg(formatBytes(limit), formatBytes(bound.reserve));
}

/// What is wrong in a map.
template <typename T>
QString words(const T& finding) {
    return mapWords(finding);
}

QString words(const OverLimit& issue) {
    return Issue::tr("%1 needs %2 but may use %3: %4 too much. The largest parts: %5")
        .arg(device(issue.device), formatBytes(issue.need), usableWords(issue.limit, issue.bound),
             formatBytes(issue.need - std::min(issue.need, issue.limit)),
             partsWords(issue.largest));
}

QString words(const OverHost& issue) {
    QStringList devices;
    for (const OverHost::Share& share : issue.shares) {
        devices.append(device(share.device) + QLatin1Char(' ') + formatBytes(share.bytes));
    }
    return Issue::tr("The memory of a simulated GPU is this computer's main memory: %1 need "
                     "%2 of it together but may use %3, %4 too much. The largest parts: %5")
        .arg(devices.join(QStringLiteral(" + ")), formatBytes(issue.need),
             usableWords(issue.limit, issue.bound),
             formatBytes(issue.need - std::min(issue.need, issue.limit)),
             partsWords(issue.largest));
}

QString words(const SplitLayers& issue) {
    QStringList places;
    for (const engine::DeviceId id : issue.devices) {
        places.append(device(id));
    }
    return (issue.layers.size() == 1
                ? Issue::tr("Layer %1 computes on %2: %3 travel per token inside it. Keeping "
                            "its weights together avoids that.")
                : Issue::tr("Layers %1 compute on %2: %3 travel per token inside a layer. "
                            "Keeping a layer's weights together avoids that."))
        .arg(layerNumbers(issue.layers), places.join(QStringLiteral(" + ")),
             formatBytes(issue.bytes));
}

QString words(const KvMirrored& issue) {
    return (issue.layers.size() == 1
                ? Issue::tr("Layer %1 on %2 reads the keys and values of layer %3 on %4: %5 "
                            "per token go to a mirror there.")
                : Issue::tr("Layers %1 on %2 read the keys and values of layer %3 on %4: %5 "
                            "per token go to a mirror there."))
        .arg(layerNumbers(issue.layers), device(issue.device), QString::number(issue.owner),
             device(issue.owner_device), formatBytes(issue.bytes));
}

QString words(const KvElsewhere& issue) {
    return (issue.layers.size() == 1
                ? Issue::tr("Layer %1 on %2 reads keys and values kept on %3: %4 per token "
                            "travel for it.")
                : Issue::tr("Layers %1 on %2 read keys and values kept on %3: %4 per token "
                            "travel for it."))
        .arg(layerNumbers(issue.layers), device(issue.device), device(issue.cache),
             formatBytes(issue.bytes));
}

QString words(const LimitWithoutDevice& issue) {
    return Issue::tr("There is a limit for %1, which this computer does not have.")
        .arg(device(issue.device));
}

QString words(const NoDevice& issue) {
    QString there;
    for (const engine::DeviceId id : issue.gpus) {
        there += device(id) + QStringLiteral(", ");
    }
    return Issue::tr("\"%1\" names %2, which this machine does not have; it has %3CPU and disk.")
        .arg(fromUtf8(issue.key), device(issue.device), there);
}

QString words(const engine::CardTrouble& trouble) {
    return cardWords(trouble);
}

} // namespace

QString layerNumbers(const std::vector<int>& layers) {
    QStringList runs;
    for (size_t i = 0; i < layers.size();) {
        size_t last = i;
        while (last + 1 < layers.size() && layers[last + 1] == layers[last] + 1) {
            ++last;
        }
        runs << (last == i ? QString::number(layers[i])
                           : QStringLiteral("%1–%2").arg(layers[i]).arg(layers[last]));
        i = last + 1;
    }
    return runs.join(QStringLiteral(", "));
}

QString partWords(const engine::PlanPart& part) {
    using Kind = engine::PlanPart::Kind;
    switch (part.kind) {
    case Kind::Module:
        return fromUtf8(part.module); // a module's path is its name
    case Kind::VisionTower:
        return Issue::tr("vision tower");
    case Kind::AudioTower:
        return Issue::tr("audio tower");
    case Kind::PerLayerTable:
        return Issue::tr("per-layer embeddings");
    case Kind::TokenTable:
        return Issue::tr("token embedding");
    case Kind::Head:
        return Issue::tr("head");
    case Kind::Layers:
        return Issue::tr("layers %1–%2").arg(part.first_layer).arg(part.last_layer);
    case Kind::KvCache:
        return Issue::tr("KV cache of %1 tokens").arg(formatCount(part.tokens));
    case Kind::Adapters:
        return Issue::tr("adapters");
    case Kind::Workspace:
        return Issue::tr("workspace");
    case Kind::DriverContext:
        return Issue::tr("context of the driver");
    case Kind::VisitingRoom:
        return Issue::tr("room for visiting weights");
    }
    return {};
}

QString issueWords(const engine::PlanIssue& issue) {
    QString text = std::visit([](const auto& one) { return words(one); }, issue.finding);
    if (issue.is_python) {
        text += QLatin1Char(' ') + pythonMapWords();
    }
    for (const engine::CardTrouble& reason : issue.reasons) {
        text += (text.endsWith(QLatin1Char('.')) ? QStringLiteral(" ") : QStringLiteral(". ")) +
                cardWords(reason);
    }
    return text;
}

QString loadAnywayWords() {
    return Issue::tr("What is free is an estimate. Loading anyway may work; it may also make the "
                     "computer slow, or the system may end a program. A load that fails leaves "
                     "what was there.");
}

} // namespace ui
