// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/suggestion_words.h"

#include "ui/common/engine_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>
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

/// "Disk", or "Disk, computed on CPU" where the two differ.
QString placeWords(const QString& store, const QString& compute) {
    const QString device = deviceName(store.toStdString());
    return compute.isEmpty() ? device
                             : Suggestion::tr("%1, computed on %2")
                                   .arg(device, deviceName(compute.toStdString()));
}

/// One "move ... to ..."; nothing when the planner says something new.
QString moveWords(const QString& move) {
    static constexpr const char* kPlace = " to (\\S+?)(?: \\(computed on (\\S+)\\))?";
    const auto moved = [&](const char* what) {
        return matched(qPrintable(QString::fromLatin1(what) + QString::fromLatin1(kPlace)), move);
    };
    if (const auto m = moved("move layers (\\d+)-(\\d+)"); m.hasMatch()) {
        return Suggestion::tr("layers %1 to %2 to %3")
            .arg(m.captured(1), m.captured(2), placeWords(m.captured(3), m.captured(4)));
    }
    if (const auto m = moved("move layer (\\d+)"); m.hasMatch()) {
        return Suggestion::tr("layer %1 to %2")
            .arg(m.captured(1), placeWords(m.captured(2), m.captured(3)));
    }
    const auto m = moved("move (\\S+)(?: and \\S+)?");
    if (!m.hasMatch()) {
        return {};
    }
    const QString module = m.captured(1);
    const QString place = placeWords(m.captured(2), m.captured(3));
    if (module == QStringLiteral("model.vision_tower")) {
        return Suggestion::tr("vision tower to %1").arg(place);
    }
    if (module == QStringLiteral("model.audio_tower")) {
        return Suggestion::tr("audio tower to %1").arg(place);
    }
    if (module == QStringLiteral("model.language_model.embed_tokens_per_layer")) {
        return Suggestion::tr("per-layer embeddings to %1").arg(place);
    }
    if (module == QStringLiteral("model.language_model.embed_tokens")) {
        return Suggestion::tr("token embedding to %1").arg(place);
    }
    return {};
}

QString actionWords(const QString& action) {
    // Both towers at once.
    static const QRegularExpression kNextMove(QStringLiteral(", (?=move )"));
    const QStringList moves = action.split(kNextMove);
    if (moves.size() > 1) {
        QStringList words;
        for (const QString& move : moves) {
            words.append(moveWords(move));
            if (words.last().isEmpty()) {
                return {};
            }
        }
        return words.join(QStringLiteral(", "));
    }
    if (QString words = moveWords(action); !words.isEmpty()) {
        return words;
    }
    if (const auto m = matched("(use --head int8 and )?(move model\\.language_model\\.embed_tokens "
                               "to .+), with lm_head kept as .*",
                               action);
        m.hasMatch()) {
        const QString table = moveWords(m.captured(2));
        if (table.isEmpty()) {
            return {};
        }
        return m.captured(1).isEmpty()
                   ? Suggestion::tr("%1 (the head keeps its own copy)").arg(table)
                   : Suggestion::tr("head in 8 bits and %1").arg(table);
    }
    if (action == QStringLiteral("use --head int8")) {
        return Suggestion::tr("head in 8 bits");
    }
    if (const auto m = matched("use --quant (\\S+)", action); m.hasMatch()) {
        return Suggestion::tr("weights in %1").arg(quantName(m.captured(1)));
    }
    if (const auto m = matched("use a context of (\\d+) tokens", action); m.hasMatch()) {
        return Suggestion::tr("a context of %1 tokens")
            .arg(formatCount(m.captured(1).toLongLong()));
    }
    if (const auto m = matched("use --prefill-chunk (\\d+)", action); m.hasMatch()) {
        return Suggestion::tr("read prompts in pieces of %1 tokens")
            .arg(formatCount(m.captured(1).toLongLong()));
    }
    if (const auto m = matched("use --image-tokens (\\d+)", action); m.hasMatch()) {
        return Suggestion::tr("at most %1 tokens per picture")
            .arg(formatCount(m.captured(1).toLongLong()));
    }
    return {};
}

/// "about 12 ms", "about 1.8 s", "less than 1 ms" as the planner writes them.
QString timeWords(const QString& time) {
    const auto m = matched("about ([0-9.]+) (ms|s)", time);
    if (!m.hasMatch()) {
        return {};
    }
    const bool is_ms = m.captured(2) == QStringLiteral("ms");
    const QString number = QLocale().toString(m.captured(1).toDouble(), 'f', is_ms ? 0 : 1);
    return is_ms ? Suggestion::tr("about %1 ms").arg(number)
                 : Suggestion::tr("about %1 s").arg(number);
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
    if (const auto m = matched("(about .+) per (image|10 s of audio|token)", cost); m.hasMatch()) {
        const QString time = timeWords(m.captured(1));
        const QString what = m.captured(2);
        return time.isEmpty()                    ? QString()
               : what == QStringLiteral("image") ? Suggestion::tr("%1 per image").arg(time)
               : what == QStringLiteral("token") ? Suggestion::tr("%1 per token").arg(time)
                                                 : Suggestion::tr("%1 per 10 s of sound").arg(time);
    }
    if (cost == QStringLiteral("one read of the files per image or clip")) {
        return Suggestion::tr("one read of the files each time");
    }
    if (cost == QStringLiteral("memory of the conversation")) {
        return Suggestion::tr("memory of the conversation");
    }
    if (cost == QStringLiteral("time until a long prompt is read")) {
        return Suggestion::tr("time until a long prompt is read");
    }
    if (cost == QStringLiteral("detail of large images")) {
        return Suggestion::tr("detail of large pictures");
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

/// What remains when no step is enough; nothing when the text is another.
QString lastResortWords(const QString& text) {
    const auto m = matched("use a device with more memory or a smaller model(, or raise the limit)?"
                           "(,? or lower the reserve)?",
                           text);
    if (!m.hasMatch()) {
        return {};
    }
    const bool has_reserve = !m.captured(2).isEmpty();
    if (!m.captured(1).isEmpty()) {
        return has_reserve ? Suggestion::tr("a device with more memory, a smaller model, a higher "
                                            "limit, or a lower reserve")
                           : Suggestion::tr("a device with more memory, a smaller model, or a "
                                            "higher limit");
    }
    return has_reserve
               ? Suggestion::tr("a device with more memory, a smaller model, or a lower reserve")
               : Suggestion::tr("a device with more memory or a smaller model");
}

} // namespace

quint64 plannerBytes(const QString& number, const QString& unit) {
    const double factor = unit == QStringLiteral("bytes") ? 1.0
                          : unit == QStringLiteral("KiB") ? 1024.0
                          : unit == QStringLiteral("MiB") ? 1024.0 * 1024.0
                          : unit == QStringLiteral("GiB") ? 1024.0 * 1024.0 * 1024.0
                          : unit == QStringLiteral("TiB") ? 1024.0 * 1024.0 * 1024.0 * 1024.0
                                                          : 0.0;
    return static_cast<quint64>(std::llround(number.toDouble() * factor));
}

QString suggestionWords(const std::string& suggestion) {
    QString text = fromUtf8(suggestion);
    if (QString words = lastResortWords(text); !words.isEmpty()) {
        return words;
    }
    if (const auto m = matched("all of this together leaves ([0-9.]+) (\\w+), still ([0-9.]+) "
                               "(\\w+) too much: (.*)",
                               text);
        m.hasMatch()) {
        const QString words = lastResortWords(m.captured(5));
        return words.isEmpty()
                   ? engineWords(text)
                   : Suggestion::tr("All of this together leaves %1, still %2 too much. It takes "
                                    "%3.")
                         .arg(formatBytes(plannerBytes(m.captured(1), m.captured(2))),
                              formatBytes(plannerBytes(m.captured(3), m.captured(4))), words);
    }
    const auto m =
        matched("(.+): frees ([0-9.]+) (\\w+), costs (.+?)( \\(enough by itself\\))?", text);
    const QString action = m.hasMatch() ? actionWords(m.captured(1)) : QString();
    const QString cost = m.hasMatch() ? costWords(m.captured(4)) : QString();
    const quint64 bytes = m.hasMatch() ? plannerBytes(m.captured(2), m.captured(3)) : 0;
    if (action.isEmpty() || cost.isEmpty() || bytes == 0) {
        return engineWords(text);
    }
    return m.captured(5).isEmpty()
               ? Suggestion::tr("%1: frees %2, costs %3").arg(action, formatBytes(bytes), cost)
               : Suggestion::tr("%1: frees %2 (enough by itself), costs %3")
                     .arg(action, formatBytes(bytes), cost);
}

} // namespace ui
