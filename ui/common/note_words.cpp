// SPDX-License-Identifier: Apache-2.0
#include "ui/common/note_words.h"

#include "ui/common/oddity_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <string>

namespace ui {

namespace {

using namespace engine::note;

struct Note {
    Q_DECLARE_TR_FUNCTIONS(ui::Note)
};

QString device(engine::DeviceId id) {
    return deviceName(id.toString());
}

QString count(size_t value) {
    return formatCount(static_cast<qint64>(value));
}

QString secondsWords(double seconds) {
    return seconds < 0.1 ? Note::tr("%1 ms").arg(QLocale().toString(seconds * 1e3, 'g', 3))
                         : Note::tr("%1 s").arg(QLocale().toString(seconds, 'g', 2));
}

/// What a step of `fit` does, what that frees and what it costs.
QString stepWords(const QString& what, const Freed& freed, const QString& cost) {
    return freed.bytes == 0 // it left another card
               ? Note::tr("%1: %2").arg(what, cost)
               : Note::tr("%1: %2 less on %3 (%4 remain); %5")
                     .arg(what, formatBytes(freed.bytes), device(freed.device),
                          formatBytes(freed.remaining), cost);
}

QString words(const FitStart& n) {
    const QString text =
        n.verdict == FitStart::Verdict::Fits ? Note::tr("everything on %1 needs %2 of %3: it fits")
        : n.verdict == FitStart::Verdict::TooMuch
            ? Note::tr("everything on %1 needs %2 of %3: too much")
            : Note::tr("everything on %1 needs %2 of %3: more than this computer's memory, which "
                       "simulated GPUs take theirs from");
    return text.arg(device(n.device), formatBytes(n.need),
                    n.limit.has_value() ? formatBytes(*n.limit) : Note::tr("unbounded memory"));
}

QString words(const FitOrder& /*n*/) {
    return Note::tr("what costs nothing per token moves first (tables), then what costs only with "
                    "media (towers), then what every token reads (head and layers)");
}

QString words(const FitTable& n) {
    const QString what = n.is_per_layer
                             ? Note::tr("per-layer embedding table to %1")
                             : Note::tr("token embedding (the head has its own copy) to %1");
    return stepWords(
        what.arg(device(n.to)), n.freed,
        Note::tr("one row of %1 per token, not measurable").arg(formatBytes(n.row_bytes)));
}

QString words(const FitTower& n) {
    const QString cost =
        n.is_audio ? Note::tr("costs only with media: 10 s of sound take about %1 instead of %2")
                   : Note::tr("costs only with media: an image takes about %1 instead of %2");
    return stepWords((n.is_audio ? Note::tr("audio tower to %1") : Note::tr("vision tower to %1"))
                         .arg(device(n.to)),
                     n.freed, cost.arg(secondsWords(n.seconds), secondsWords(n.seconds_before)));
}

QString words(const FitFormats& n) {
    QStringList what;
    if (!n.quant.empty()) {
        what << Note::tr("linear weights in %1").arg(quantName(fromUtf8(n.quant)));
    }
    if (!n.head.empty()) {
        what << (n.head == "int8" ? Note::tr("head in 8 bits")
                                  : Note::tr("head in %1").arg(quantName(fromUtf8(n.head))));
    }
    return stepWords(what.join(QStringLiteral(", ")), n.freed,
                     Note::tr("some accuracy for speed, before what every token reads leaves"));
}

QString words(const FitHead& n) {
    return stepWords(Note::tr("head to %1").arg(device(n.to)), n.freed,
                     n.slower_s > 0
                         ? Note::tr("it is read whole for every token, about %1 more per token")
                               .arg(secondsWords(n.slower_s))
                         : Note::tr("it is read whole for every token"));
}

QString words(const FitLayers& n) {
    return stepWords(
        Note::tr("layers %1-%2 on %3, one block, so that the state changes device once")
            .arg(n.first)
            .arg(n.last)
            .arg(device(n.to)),
        n.freed,
        n.slower_s > 0 ? Note::tr("every token reads them, about %1 more per token")
                             .arg(secondsWords(n.slower_s))
                       : Note::tr("every token reads them"));
}

QString words(const FitTooLarge& n) {
    return Note::tr("even this leanest plan is %1 over the limits; it keeps layers in memory: on "
                    "disk, read anew for every token, only a map puts them")
        .arg(formatBytes(n.over));
}

QString words(const FitSpeed& n) {
    const QString text =
        n.has_simulated
            ? Note::tr("weighed with about %1 tokens/s (everything on %2: %3); a simulated GPU is "
                       "weighed as the mid-range card it stands for, so that the choice is the "
                       "card's; what it computes here has this processor's speed")
            : Note::tr("weighed with about %1 tokens/s (everything on %2: %3)");
    const QString told = text.arg(formatRate(n.rate), device(n.device), formatRate(n.rate_there));
    return n.rate > n.rate_there
               ? Note::tr("%1; what is elsewhere is computed faster there").arg(told)
               : told;
}

QString words(const FourBits& n) {
    return Note::tr("The weights stay as they are stored. In 4 bits it would be about %1 "
                    "tokens/s.")
        .arg(formatRate(n.rate));
}

QString words(const ContextCut& n) {
    return Note::tr("A context of %1 tokens is more than the model can take; planned with %2.")
        .arg(formatCount(n.asked), formatCount(n.planned));
}

QString words(const MadeAtEveryUse& n) {
    return Note::tr("%1 quantized weights on disk are made anew at every use. “Keep quantized "
                    "copies” in the settings avoids that.")
        .arg(count(n.count));
}

QString words(const DiskHasNoLimit& n) {
    return Note::tr("%1 has no effect: what is stored on disk stays in the model's own files, "
                    "which need no more room")
        .arg(n.is_reserve ? QStringLiteral("reserve.disk") : QStringLiteral("limits.disk"));
}

QString words(const AdapterNotCounted& n) {
    return Note::tr("adapter weights for %1 are not counted: the plan has no such tensor")
        .arg(fromUtf8(n.tensor));
}

QString words(const ReplacementsStay& n) {
    return n.count == 1
               ? Note::tr("the adapter replaces 1 weight that travels to its device; its "
                          "replacement stays there (only A and B follow)")
               : Note::tr("the adapter replaces %1 weights that travel to their device; their "
                          "replacements stay there (only A and B follow)")
                     .arg(count(n.count));
}

QString words(const HeadStaysPacked& n) {
    return Note::tr("The format of the head has no effect: the checkpoint holds the head packed "
                    "as %1, and it stays so")
        .arg(fromUtf8(n.format));
}

QString words(const HeadIsTable& /*n*/) {
    return Note::tr("The format of the head has no effect: the map gives embed_tokens a format, "
                    "and the head is the same table");
}

QString words(const TwoCopies& /*n*/) {
    return Note::tr("lm_head and embed_tokens are one tensor in the checkpoint; the map puts them "
                    "on different devices, so there are two copies");
}

QString words(const TiedFieldIdle& n) {
    return Note::tr("%1 given by %2 has no effect: lm_head is the table of embed_tokens; give it "
                    "to %3, or ask for two copies with \"duplicate_tied\": true")
        .arg(fromUtf8(n.field), setByWords(n.by), fromUtf8(n.table));
}

QString words(const ResidencyIdle& n) {
    return Note::tr("residency given by %1 has no effect where store and compute are the same "
                    "device (%2)")
        .arg(setByWords(n.by), tensorsWords(n.tensors));
}

QString words(const PackedStays& n) {
    return Note::tr("%1 weights of the checkpoint are packed in 4 bits already and stay as "
                    "stored; “Weights” applies to the others")
        .arg(count(n.count));
}

QString words(const NotInFiles& n) {
    return Note::tr("not in the files, planned as bf16: %1").arg(tensorsWords(n.tensors));
}

/// "a, b and 3 more" of `all`.
QString listWords(const QStringList& items, size_t all) {
    const QString text = items.join(QStringLiteral(", "));
    const auto shown = static_cast<size_t>(items.size());
    return all > shown ? Note::tr("%1 and %2 more").arg(text, count(all - shown)) : text;
}

QString words(const KeysTranslated& n) {
    QStringList items;
    for (const KeysTranslated::Pair& pair : n.keys) {
        items << QStringLiteral("\"%1\" -> \"%2\"").arg(fromUtf8(pair.from), fromUtf8(pair.to));
    }
    return Note::tr("keys translated to our names: %1").arg(listWords(items, n.count));
}

QString words(const KeysIdle& n) {
    QStringList items;
    for (const KeysIdle::Key& key : n.keys) {
        items << (key.is_shared ? Note::tr("%1 (its layer reads another layer's keys and values)")
                                      .arg(fromUtf8(key.key))
                                : fromUtf8(key.key));
    }
    return Note::tr("keys without effect (no tensors that are used lie there): %1")
        .arg(listWords(items, n.count));
}

QString words(const ManyConflicts& n) {
    return Note::tr("more than %1 pairs of keys contradict each other; only the first are listed")
        .arg(count(n.shown));
}

QString words(const MeasuredRates& n) {
    return Note::tr("speeds are estimates from rates measured on this computer: memory is read "
                    "with %1 GB/s, products run at %2 GFLOP/s")
        .arg(formatRate(n.read_bytes_per_s / 1e9), formatRate(n.flops / 1e9));
}

QString words(const DriverAssumed& n) {
    return Note::tr("%1: what the driver takes for itself is assumed, not measured (the "
                    "management library, NVML, does not tell)")
        .arg(device(n.device));
}

QString words(const engine::ModelOddity& odd) {
    return oddityWords(odd);
}

QString words(const engine::CardTrouble& trouble) {
    return cardWords(trouble);
}

template <typename T>
bool is(const engine::Note& note) {
    return std::holds_alternative<T>(note);
}

/// Where the solver began, of a plan that it made.
const FitStart* startOf(const engine::PlacementPlan& plan) {
    return plan.notes.empty() ? nullptr : std::get_if<FitStart>(&plan.notes.front());
}

} // namespace

QString noteWords(const engine::Note& note) {
    return std::visit([](const auto& one) { return words(one); }, note);
}

QString setByWords(const engine::note::SetBy& by) {
    switch (by.kind) {
    case SetBy::Kind::Key:
        return Note::tr("the key \"%1\"").arg(fromUtf8(by.key));
    case SetBy::Kind::Default:
        return Note::tr("default");
    case SetBy::Kind::EmptyKey:
        return Note::tr("the key \"%1\"").arg(QString());
    case SetBy::Kind::Rules:
        return Note::tr("the rules");
    case SetBy::Kind::Options:
        return Note::tr("the load options");
    }
    return {};
}

QString tensorsWords(const engine::note::Tensors& tensors) {
    return tensors.count == 1 ? Note::tr("1 tensor: %1").arg(fromUtf8(tensors.first))
                              : Note::tr("%1 tensors, the first: %2")
                                    .arg(count(tensors.count), fromUtf8(tensors.first));
}

QString fourBitsWords(const engine::PlacementPlan& plan) {
    for (const engine::Note& note : plan.notes) {
        if (is<FourBits>(note)) {
            return noteWords(note);
        }
    }
    return {};
}

QString cardWords(const engine::CardTrouble& trouble) {
    using Kind = engine::CardTrouble::Kind;
    const QString found = fromUtf8(trouble.found);
    const QString needed = fromUtf8(trouble.needed);
    const QString id = device(trouble.device);
    const QString card = Note::tr("%1 (%2)").arg(id, fromUtf8(trouble.name));
    switch (trouble.kind) {
    case Kind::NoDriver:
        return Note::tr("This computer has no NVIDIA driver: everything runs on the processor.");
    case Kind::NoCard:
        return Note::tr(
            "The NVIDIA driver sees no graphics card: everything runs on the processor.");
    case Kind::NoKernels:
        return Note::tr("This build of Belfry is one without graphics cards: everything runs on "
                        "the processor.");
    case Kind::OldDriver:
        return Note::tr("The NVIDIA driver is too old: it supports CUDA %1, Belfry needs %2 or "
                        "newer. Update the driver to use the graphics card.")
            .arg(found, needed);
    case Kind::DriverLacks:
        return Note::tr("The NVIDIA driver lacks the function %1. Update the driver to use the "
                        "graphics card.")
            .arg(found);
    case Kind::DriverFails:
        return Note::tr("The NVIDIA driver does not start (%1). Restart the computer, or install "
                        "the driver again, to use the graphics card.")
            .arg(found);
    case Kind::OldCard:
        return Note::tr("%1 is too old to be used: it has compute capability %2, Belfry needs %3 "
                        "or newer.")
            .arg(card, found, needed);
    case Kind::SilentCard:
        return Note::tr("%1 does not answer and is not used. Restart Belfry, and the computer if "
                        "that does not help.")
            .arg(card);
    case Kind::LostCard:
        return Note::tr("%1 is lost to this run of Belfry (%2). Restart Belfry to use it.")
            .arg(card, found);
    case Kind::CardNoAnswer:
        return Note::tr("%1 does not answer the driver (%2). Restart the computer to use it.")
            .arg(id, found);
    case Kind::DriverCrashes:
        return Note::tr("The NVIDIA driver crashed when it was asked for its graphics cards (%1: "
                        "%2). Restart the computer, or install the driver again, to use the "
                        "graphics card.")
            .arg(fromUtf8(trouble.name), found);
    case Kind::DriverHangs:
        return Note::tr("The NVIDIA driver did not tell its graphics cards within %1 s (%2). "
                        "Restart the computer, or install the driver again, to use the graphics "
                        "card.")
            .arg(found, fromUtf8(trouble.name));
    }
    return {};
}

QString noCardReason(const engine::PlacementPlan& plan) {
    QStringList reasons;
    for (const engine::PlanIssue& issue : plan.warnings) {
        if (const auto* trouble = std::get_if<engine::CardTrouble>(&issue.finding)) {
            reasons << cardWords(*trouble);
        }
    }
    for (const engine::Note& note : plan.notes) {
        if (const auto* trouble = std::get_if<engine::CardTrouble>(&note)) {
            reasons << cardWords(*trouble);
        }
    }
    return reasons.join(QLatin1Char('\n'));
}

QStringList notesWorthTelling(const engine::PlacementPlan& plan, bool with_cards) {
    QStringList out;
    const FitStart* start = startOf(plan);
    bool is_skipped = start != nullptr && start->verdict == FitStart::Verdict::Fits;
    for (const engine::Note& note : plan.notes) {
        const bool is_end = is<FitSpeed>(note) || is<FitTooLarge>(note);
        if (!is_skipped && !is<MeasuredRates>(note) &&
            (with_cards || !is<engine::CardTrouble>(note))) {
            out << noteWords(note);
        }
        is_skipped = is_skipped && !is_end;
    }
    return out;
}

QString notesTitle(const engine::PlacementPlan& plan, const QStringList& notes) {
    const FitStart* start = startOf(plan);
    if (start != nullptr && start->verdict != FitStart::Verdict::Fits) {
        return Note::tr("Not everything fits on one device: the parts are where they cost the "
                        "least time.");
    }
    return notes.isEmpty() ? QString() : notes.front();
}

} // namespace ui
