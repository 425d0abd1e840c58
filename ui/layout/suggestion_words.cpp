// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/suggestion_words.h"

#include "ui/style/format.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <cmath>

namespace ui {

namespace {

struct Suggestion {
    Q_DECLARE_TR_FUNCTIONS(ui::Suggestion)
};

QRegularExpressionMatch matched(const char* pattern, const QString& text) {
    return QRegularExpression(QStringLiteral("^%1$").arg(QString::fromLatin1(pattern))).match(text);
}

/// Nothing when the planner says something new.
QString actionWords(const QString& action) {
    if (const auto m =
            matched("move (\\S+)(?: and \\S+)? to (\\S+)(?: \\(computed on \\S+\\))?", action);
        m.hasMatch()) {
        const QString device = deviceName(m.captured(2).toStdString());
        const QString module = m.captured(1);
        if (module == QStringLiteral("model.vision_tower")) {
            return Suggestion::tr("vision tower to %1").arg(device);
        }
        if (module == QStringLiteral("model.audio_tower")) {
            return Suggestion::tr("audio tower to %1").arg(device);
        }
        if (module == QStringLiteral("model.language_model.embed_tokens_per_layer")) {
            return Suggestion::tr("per-layer embeddings to %1").arg(device);
        }
        return {};
    }
    if (const auto m =
            matched("move layers (\\d+)-(\\d+) to (\\S+)(?: \\(computed on \\S+\\))?", action);
        m.hasMatch()) {
        return Suggestion::tr("layers %1 to %2 to %3")
            .arg(m.captured(1), m.captured(2), deviceName(m.captured(3).toStdString()));
    }
    if (matched("move model\\.language_model\\.embed_tokens to cpu, with lm_head kept as .*",
                action)
            .hasMatch()) {
        return Suggestion::tr("token embedding to the CPU (the head has its own copy)");
    }
    if (matched("use --head int8 and move model\\.language_model\\.embed_tokens to cpu, with "
                "lm_head kept as .*",
                action)
            .hasMatch()) {
        return Suggestion::tr("head in 8 bits and token embedding to the CPU");
    }
    if (const auto m = matched("use --quant (\\S+)", action); m.hasMatch()) {
        return Suggestion::tr("weights in %1").arg(quantName(m.captured(1)));
    }
    if (const auto m = matched("use a context of (\\d+) tokens", action); m.hasMatch()) {
        return Suggestion::tr("a context of %1 tokens")
            .arg(formatCount(m.captured(1).toLongLong()));
    }
    return {};
}

QString costWords(const QString& cost) {
    if (cost.startsWith(QStringLiteral("nothing measurable")) ||
        cost.startsWith(QStringLiteral("less than 1 ms per"))) {
        return Suggestion::tr("nothing measurable");
    }
    if (const auto m = matched("one read of (\\d+) bytes per token", cost); m.hasMatch()) {
        return Suggestion::tr("one read of %1 per token")
            .arg(formatBytes(m.captured(1).toULongLong()));
    }
    if (const auto m = matched("about (.+) per image", cost); m.hasMatch()) {
        return Suggestion::tr("about %1 per image").arg(m.captured(1));
    }
    if (const auto m = matched("about (.+) per 10 s of audio", cost); m.hasMatch()) {
        return Suggestion::tr("about %1 per 10 s of sound").arg(m.captured(1));
    }
    if (const auto m = matched("about (.+) per token", cost); m.hasMatch()) {
        return Suggestion::tr("about %1 per token").arg(m.captured(1));
    }
    if (cost == QStringLiteral("one read of the files per image or clip")) {
        return Suggestion::tr("one read of the files each time");
    }
    if (cost == QStringLiteral("memory of the conversation")) {
        return Suggestion::tr("memory of the conversation");
    }
    if (cost == QStringLiteral("some accuracy; it is faster")) {
        return Suggestion::tr("some accuracy; it is faster");
    }
    if (cost == QStringLiteral("some accuracy of the last layer; it is faster")) {
        return Suggestion::tr("some accuracy of the last layer; it is faster");
    }
    if (cost == QStringLiteral("a little more accuracy")) {
        return Suggestion::tr("a little more accuracy");
    }
    if (cost == QStringLiteral("hardly any accuracy")) {
        return Suggestion::tr("hardly any accuracy");
    }
    return {};
}

/// "2.50 MiB" as the planner writes it; 0 when it is something else.
quint64 bytesOf(const QString& number, const QString& unit) {
    const double factor = unit == QStringLiteral("B")     ? 1.0
                          : unit == QStringLiteral("KiB") ? 1024.0
                          : unit == QStringLiteral("MiB") ? 1024.0 * 1024.0
                          : unit == QStringLiteral("GiB") ? 1024.0 * 1024.0 * 1024.0
                                                          : 0.0;
    return static_cast<quint64>(std::llround(number.toDouble() * factor));
}

} // namespace

QString suggestionWords(const std::string& suggestion) {
    QString text = fromUtf8(suggestion);
    const auto m =
        matched("(.+): frees ([0-9.]+) (\\w+), costs (.+?)( \\(enough by itself\\))?", text);
    const QString action = m.hasMatch() ? actionWords(m.captured(1)) : QString();
    const QString cost = m.hasMatch() ? costWords(m.captured(4)) : QString();
    const quint64 bytes = m.hasMatch() ? bytesOf(m.captured(2), m.captured(3)) : 0;
    if (action.isEmpty() || cost.isEmpty() || bytes == 0) {
        return text;
    }
    return m.captured(5).isEmpty()
               ? Suggestion::tr("%1: frees %2, costs %3").arg(action, formatBytes(bytes), cost)
               : Suggestion::tr("%1: frees %2 (enough by itself), costs %3")
                     .arg(action, formatBytes(bytes), cost);
}

} // namespace ui
