// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/issue_words.h"

#include "ui/common/engine_words.h"
#include "ui/layout/note_words.h"
#include "ui/layout/suggestion_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace ui {

namespace {

struct Issue {
    Q_DECLARE_TR_FUNCTIONS(ui::Issue)
};

QRegularExpressionMatch matched(const char* pattern, const QString& text) {
    return QRegularExpression(QStringLiteral("^%1$").arg(QString::fromLatin1(pattern))).match(text);
}

/// "0-3, 5": the numbers as they are, with a dash between them.
QString layerNumbers(QString numbers) {
    return numbers.replace(QLatin1Char('-'), QChar(0x2013));
}

QString device(const QString& id) {
    return deviceName(id.toStdString());
}

QString partName(const QString& part) {
    if (part == QStringLiteral("model.vision_tower")) {
        return Issue::tr("vision tower");
    }
    if (part == QStringLiteral("model.audio_tower")) {
        return Issue::tr("audio tower");
    }
    if (part == QStringLiteral("model.language_model.embed_tokens_per_layer")) {
        return Issue::tr("per-layer embeddings");
    }
    if (part == QStringLiteral("model.language_model.embed_tokens")) {
        return Issue::tr("token embedding");
    }
    if (part == QStringLiteral("lm_head")) {
        return Issue::tr("head");
    }
    if (part == QStringLiteral("adapters")) {
        return Issue::tr("adapters");
    }
    if (part == QStringLiteral("workspace")) {
        return Issue::tr("workspace");
    }
    if (part == QStringLiteral("context of the driver")) {
        return Issue::tr("context of the driver");
    }
    if (part == QStringLiteral("room for visiting weights")) {
        return Issue::tr("room for visiting weights");
    }
    if (const auto m = matched("decoder layers (\\d+)-(\\d+)", part); m.hasMatch()) {
        return Issue::tr("layers %1–%2").arg(m.captured(1), m.captured(2));
    }
    if (const auto m = matched("KV cache of (\\d+) tokens", part); m.hasMatch()) {
        return Issue::tr("KV cache of %1 tokens").arg(formatCount(m.captured(1).toLongLong()));
    }
    return part; // a module's path is its name
}

/// "workspace 15.97 MiB, lm_head 2.50 MiB": names in the user's words. " on sim:0" may follow one.
QString partsWords(const QString& parts) {
    static const QRegularExpression kPart(
        QStringLiteral("^(.+?)(?: on ((?:sim|cuda):\\d+|cpu))? ([0-9.]+) (\\w+)$"));
    QStringList words;
    const QStringList all = parts.split(QStringLiteral(", "));
    for (const QString& part : all) {
        const auto m = kPart.match(part);
        if (!m.hasMatch()) {
            return parts;
        }
        QString name = partName(m.captured(1));
        if (!m.captured(2).isEmpty()) {
            name = Issue::tr("%1 on %2").arg(name, device(m.captured(2)));
        }
        words.append(name + QLatin1Char(' ') +
                     formatBytes(plannerBytes(m.captured(3), m.captured(4))));
    }
    return words.join(QStringLiteral(", "));
}

/// What may be used, and what the map keeps of it.
QString usableWords(quint64 limit, const QString& reserve, const QString& unit) {
    return reserve.isEmpty()
               ? formatBytes(limit)
               : Issue::tr("%1 (the map keeps %2 free)")
                     .arg(formatBytes(limit), formatBytes(plannerBytes(reserve, unit)));
}

/// Too little memory on one device, or of the host for all simulated ones together.
QString memoryWords(const QString& text) {
    if (const auto m = matched("(\\S+) needs .+ \\((\\d+) bytes\\) but may use .+ \\((\\d+) "
                               "bytes\\), .+ too much(?: \\(.+, less ([0-9.]+) (\\w+) that the map "
                               "reserves\\)| \\(.+\\))?\\. The largest parts: (.+)",
                               text);
        m.hasMatch()) {
        const quint64 need = m.captured(2).toULongLong();
        const quint64 limit = m.captured(3).toULongLong();
        return Issue::tr("%1 needs %2 but may use %3: %4 too much. The largest parts: %5")
            .arg(device(m.captured(1)), formatBytes(need),
                 usableWords(limit, m.captured(4), m.captured(5)),
                 formatBytes(need - std::min(need, limit)), partsWords(m.captured(6)));
    }
    if (const auto m =
            matched("the memory of a simulated GPU is this computer's main memory: (.+) "
                    "need .+ \\((\\d+) bytes\\) of it together but may use .+ "
                    "\\((\\d+) bytes\\), .+ too much(?: \\(.+, less ([0-9.]+) (\\w+) that the map "
                    "reserves\\)| \\(.+\\))?\\. The largest parts: (.+)",
                    text);
        m.hasMatch()) {
        QStringList devices;
        const QStringList all = m.captured(1).split(QStringLiteral(" + "));
        for (const QString& one : all) {
            const QStringList words = one.split(QLatin1Char(' '));
            devices.append(words.size() == 3 ? device(words[0]) + QLatin1Char(' ') +
                                                   formatBytes(plannerBytes(words[1], words[2]))
                                             : one);
        }
        const quint64 need = m.captured(2).toULongLong();
        const quint64 limit = m.captured(3).toULongLong();
        return Issue::tr("The memory of a simulated GPU is this computer's main memory: %1 need "
                         "%2 of it together but may use %3, %4 too much. The largest parts: %5")
            .arg(devices.join(QStringLiteral(" + ")), formatBytes(need),
                 usableWords(limit, m.captured(4), m.captured(5)),
                 formatBytes(need - std::min(need, limit)), partsWords(m.captured(6)));
    }
    return {};
}

/// Parts of the model that lie apart and send each other bytes with every token.
QString travelWords(const QString& text) {
    const bool is_one = text.startsWith(QStringLiteral("layer "));
    if (const auto m = matched("layers? (.+?) computes? on (.+): (\\d+) bytes travel per token "
                               "inside .*",
                               text);
        m.hasMatch()) {
        QStringList places;
        const QStringList all = m.captured(2).split(QStringLiteral(" and "));
        for (const QString& place : all) {
            places.append(device(place));
        }
        return (is_one
                    ? Issue::tr("Layer %1 computes on %2: %3 travel per token inside it. Keeping "
                                "its weights together avoids that.")
                    : Issue::tr("Layers %1 compute on %2: %3 travel per token inside a layer. "
                                "Keeping a layer's weights together avoids that."))
            .arg(layerNumbers(m.captured(1)), places.join(QStringLiteral(" + ")),
                 formatBytes(m.captured(3).toULongLong()));
    }
    if (const auto m = matched("layers? (.+) on (\\S+) reads? the keys and values of layer (\\d+) "
                               "on (\\S+): (\\d+) bytes per token go to a mirror there",
                               text);
        m.hasMatch()) {
        return (is_one ? Issue::tr("Layer %1 on %2 reads the keys and values of layer %3 on %4: %5 "
                                   "per token go to a mirror there.")
                       : Issue::tr("Layers %1 on %2 read the keys and values of layer %3 on %4: %5 "
                                   "per token go to a mirror there."))
            .arg(layerNumbers(m.captured(1)), device(m.captured(2)), m.captured(3),
                 device(m.captured(4)), formatBytes(m.captured(5).toULongLong()));
    }
    if (const auto m = matched("layers? (.+) on (\\S+) reads? keys and values kept on (\\S+): "
                               "(\\d+) bytes per token travel for it",
                               text);
        m.hasMatch()) {
        return (is_one ? Issue::tr("Layer %1 on %2 reads keys and values kept on %3: %4 per token "
                                   "travel for it.")
                       : Issue::tr("Layers %1 on %2 read keys and values kept on %3: %4 per token "
                                   "travel for it."))
            .arg(layerNumbers(m.captured(1)), device(m.captured(2)), device(m.captured(3)),
                 formatBytes(m.captured(4).toULongLong()));
    }
    return {};
}

} // namespace

QString issueWords(const engine::PlanIssue& issue) {
    const QString text = fromUtf8(issue.message);
    QString words = memoryWords(text);
    if (words.isEmpty()) {
        words = travelWords(text);
    }
    if (words.isEmpty()) {
        words = cardWords(text);
    }
    if (const auto m = matched("--limit names (\\S+), which this machine does not have", text);
        m.hasMatch()) {
        words = Issue::tr("There is a limit for %1, which this computer does not have.")
                    .arg(device(m.captured(1)));
    }
    return words.isEmpty() ? engineWords(text) : words;
}

} // namespace ui
