// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/note_words.h"

#include "ui/common/engine_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <string>

namespace ui {

namespace {

struct Note {
    Q_DECLARE_TR_FUNCTIONS(ui::Note)
};

QRegularExpressionMatch matched(const char* pattern, const QString& text) {
    return QRegularExpression(QStringLiteral("^%1").arg(QString::fromLatin1(pattern))).match(text);
}

QString cardName(const QRegularExpressionMatch& match) {
    return Note::tr("%1 (%2)").arg(deviceName(match.captured(1).toStdString()), match.captured(2));
}

/// What the solver tells of its choice comes first and ends with the figure it weighed.
bool isStory(const QString& note) {
    return note.startsWith(QLatin1String("everything on "));
}
bool isEndOfStory(const QString& note) {
    return note.startsWith(QLatin1String("weighed with ")) ||
           note.startsWith(QLatin1String("even this leanest plan "));
}

/// The planner's notes in the window's words; what it says for the first time goes through
/// engineWords().
QString noteWords(const QString& text) {
    if (const auto m = matched("linear weights stay as they are stored, because no --quant was "
                               "given; with --quant nf4 it would be about ([0-9.]+) tokens/s",
                               text);
        m.hasMatch()) {
        return Note::tr("The weights stay as they are stored. In 4 bits it would be about %1 "
                        "tokens/s.")
            .arg(formatRate(m.captured(1).toDouble()));
    }
    if (const auto m = matched("(\\d+) quantized weights stored on disk are made from the "
                               "checkpoint at every use; a cache keeps them",
                               text);
        m.hasMatch()) {
        return Note::tr("%1 quantized weights on disk are made anew at every use. “Keep quantized "
                        "copies” in the settings avoids that.")
            .arg(formatCount(m.captured(1).toLongLong()));
    }
    if (const auto m = matched("a context of (\\d+) tokens is more than the model has positions "
                               "for; planned with (\\d+)",
                               text);
        m.hasMatch()) {
        return Note::tr("A context of %1 tokens is more than the model can take; planned with %2.")
            .arg(formatCount(m.captured(1).toLongLong()), formatCount(m.captured(2).toLongLong()));
    }
    // The window has no choice of that kind.
    static const QString kHeadChoice =
        QStringLiteral("; --head bf16 keeps the head as it is stored");
    const QString plain = QString(text).remove(kHeadChoice);
    QString words = engineWords(plain);
    if (!words.isEmpty() && words != plain) {
        words[0] = words[0].toUpper();
    }
    return words;
}

} // namespace

QString fourBitsWords(const engine::PlacementPlan& plan) {
    for (const std::string& note : plan.notes) {
        if (note.find("with --quant nf4 it would be") != std::string::npos) {
            return noteWords(fromUtf8(note));
        }
    }
    return {};
}

QString cardWords(const QString& text) {
    if (matched("No NVIDIA driver on this machine", text).hasMatch()) {
        return Note::tr("This computer has no NVIDIA driver: everything runs on the processor.");
    }
    if (matched("The NVIDIA driver sees no graphics card", text).hasMatch()) {
        return Note::tr(
            "The NVIDIA driver sees no graphics card: everything runs on the processor.");
    }
    if (matched("This build has no GPU kernels", text).hasMatch()) {
        return Note::tr("This build of Belfry is one without graphics cards: everything runs on "
                        "the processor.");
    }
    if (const auto m = matched("The NVIDIA driver supports CUDA (\\S+), Belfry needs (\\S+) or "
                               "newer",
                               text);
        m.hasMatch()) {
        return Note::tr("The NVIDIA driver is too old: it supports CUDA %1, Belfry needs %2 or "
                        "newer. Update the driver to use the graphics card.")
            .arg(m.captured(1), m.captured(2));
    }
    if (const auto m = matched("The NVIDIA driver lacks the function (\\w+)", text); m.hasMatch()) {
        return Note::tr("The NVIDIA driver lacks the function %1. Update the driver to use the "
                        "graphics card.")
            .arg(m.captured(1));
    }
    if (const auto m = matched("The NVIDIA driver does not start \\((.+?)\\)", text);
        m.hasMatch()) {
        return Note::tr("The NVIDIA driver does not start (%1). Restart the computer, or install "
                        "the driver again, to use the graphics card.")
            .arg(m.captured(1));
    }
    if (const auto m = matched("(cuda:\\d+) \\((.+)\\) has compute capability (\\S+); Belfry's "
                               "kernels need (\\S+)",
                               text);
        m.hasMatch()) {
        return Note::tr("%1 is too old to be used: it has compute capability %2, Belfry needs %3 "
                        "or newer.")
            .arg(cardName(m), m.captured(3), m.captured(4));
    }
    if (const auto m = matched("(cuda:\\d+) \\((.+)\\) does not answer;", text); m.hasMatch()) {
        return Note::tr("%1 does not answer and is not used. Restart Belfry, and the computer if "
                        "that does not help.")
            .arg(cardName(m));
    }
    if (const auto m = matched("(cuda:\\d+) does not answer the driver \\((.+?)\\)", text);
        m.hasMatch()) {
        return Note::tr("%1 does not answer the driver (%2). Restart the computer to use it.")
            .arg(deviceName(m.captured(1).toStdString()), m.captured(2));
    }
    return {};
}

QString noCardReason(const engine::PlacementPlan& plan) {
    QStringList reasons;
    const auto add = [&reasons](const std::string& text) {
        if (const QString words = cardWords(fromUtf8(text)); !words.isEmpty()) {
            reasons << words;
        }
    };
    for (const engine::PlanIssue& issue : plan.warnings) {
        if (issue.code == "DM23") {
            add(issue.message);
        }
    }
    for (const std::string& note : plan.notes) {
        add(note);
    }
    return reasons.join(QLatin1Char('\n'));
}

QStringList notesWorthTelling(const engine::PlacementPlan& plan, bool with_cards) {
    QStringList out;
    bool is_skipped = false;
    for (const std::string& note : plan.notes) {
        const QString text = fromUtf8(note);
        is_skipped = is_skipped || (isStory(text) && text.endsWith(QLatin1String(": it fits")));
        const bool is_end = isEndOfStory(text);
        if (is_skipped || text.startsWith(QLatin1String("speeds are estimates "))) {
            is_skipped = is_skipped && !is_end;
            continue;
        }
        const QString card = cardWords(text);
        if (card.isEmpty() || with_cards) {
            out << (card.isEmpty() ? noteWords(text) : card);
        }
    }
    return out;
}

QString notesTitle(const engine::PlacementPlan& plan, const QStringList& notes) {
    const bool is_placed = !plan.notes.empty() && isStory(fromUtf8(plan.notes.front())) &&
                           !notes.isEmpty() && isStory(notes.front());
    if (is_placed) {
        return Note::tr("Not everything fits on one device: the parts are where they cost the "
                        "least time.");
    }
    return notes.isEmpty() ? QString() : notes.front();
}

} // namespace ui
