// SPDX-License-Identifier: Apache-2.0
#include "ui/library/hub_words.h"

#include "ui/common/error_words.h"
#include "ui/common/sentence_words.h"
#include "ui/library/family_model.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

namespace ui {

namespace {

struct HubTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::Hub)
};

} // namespace

QString memberFacts(const FamilyMember& member) {
    return HubTexts::tr("%1 parameters · %2 · %3 · Apache 2.0")
        .arg(formatParameters(member.parameters), formatBytes(member.bytes),
             member.has_audio ? HubTexts::tr("text, pictures, sounds")
                              : HubTexts::tr("text, pictures"));
}

QString hitFacts(const HubHit& hit) {
    QStringList parts;
    if (hit.is_adapter) {
        parts << (hit.bases.isEmpty() ? HubTexts::tr("adapter")
                                      : HubTexts::tr("adapter for %1").arg(hit.bases.first()));
    } else if (hit.parameters > 0) {
        parts << HubTexts::tr("%1 parameters").arg(formatParameters(hit.parameters));
    }
    if (hit.has_gguf) {
        parts << QStringLiteral("GGUF");
    }
    if (hit.has_safetensors) {
        parts << QStringLiteral("safetensors");
    }
    if (!hit.licence.isEmpty()) {
        parts << hit.licence;
    }
    if (hit.downloads > 0) {
        parts << HubTexts::tr("%1 downloads a month")
                     .arg(formatCount(static_cast<qint64>(hit.downloads)));
    }
    if (hit.changed.isValid()) {
        parts << QLocale().toString(hit.changed.date(), QLocale::ShortFormat);
    }
    return parts.join(QStringLiteral(" · "));
}

QString needsInShort(const ModelNeeds& needs) {
    return !needs.fits       ? HubTexts::tr("does not fit")
           : needs.is_packed ? HubTexts::tr("fits in 4 bits")
                             : HubTexts::tr("fits");
}

QString needsInFull(const ModelNeeds& needs) {
    if (!needs.fits) {
        return HubTexts::tr("Does not fit, also not in 4 bits: it would take %1 of memory.")
            .arg(formatBytes(needs.bytes));
    }
    const QString figures = needs.tokens_per_s > 0
                                ? HubTexts::tr("%1 of memory, about %2 tokens/s (estimated)")
                                      .arg(formatBytes(needs.bytes), formatRate(needs.tokens_per_s))
                                : HubTexts::tr("%1 of memory").arg(formatBytes(needs.bytes));
    return needs.is_packed ? HubTexts::tr("Fits in 4 bits: %1.").arg(figures)
                           : HubTexts::tr("Fits as it is published: %1.").arg(figures);
}

QString offerFigures(const HubOffer& offer) {
    QStringList lines;
    const int files = static_cast<int>(offer.files.size());
    lines << (offer.missingBytes() == 0
                  ? HubTexts::tr("All of its %n files are here already.", nullptr, files)
                  : HubTexts::tr("%1 to fetch in %n files.", nullptr, files)
                        .arg(formatBytes(offer.missingBytes())));
    if (offer.present_bytes > 0 && offer.missingBytes() > 0) {
        lines << HubTexts::tr("%1 of it are here already.").arg(formatBytes(offer.present_bytes));
    }
    if (offer.left_out > 0) {
        lines << HubTexts::tr("%n files that Belfry does not load are left out (%1).", nullptr,
                              static_cast<int>(offer.left_out))
                     .arg(formatBytes(offer.left_out_bytes));
    }
    if (offer.free_bytes > 0) {
        lines << HubTexts::tr("%1 are free on that disk.").arg(formatBytes(offer.free_bytes));
    }
    return lines.join(QLatin1Char(' '));
}

QString downloadWords(const Download& download) {
    const QString bytes =
        HubTexts::tr("%1 of %2")
            .arg(formatBytes(download.done_bytes), formatBytes(download.total_bytes));
    switch (download.state) {
    case Download::State::Waiting:
        return HubTexts::tr("%1 · waits for another to be done").arg(bytes);
    case Download::State::Paused:
        return HubTexts::tr("%1 · paused").arg(bytes);
    case Download::State::Done:
        return HubTexts::tr("%1 · whole and checked").arg(formatBytes(download.total_bytes));
    case Download::State::Failed:
        return download.error.has_value() ? errorWords(*download.error)
                                          : HubTexts::tr("ended early");
    case Download::State::Fetching:
        break;
    }
    if (!download.waiting.isEmpty()) {
        return HubTexts::tr("%1 · trying again: %2").arg(bytes, sentenceWords(download.waiting));
    }
    QStringList parts = {bytes};
    if (download.bytes_per_s > 0) {
        parts << HubTexts::tr("%1/s").arg(formatBytes(static_cast<quint64>(download.bytes_per_s)));
    }
    if (download.seconds_left >= 0) {
        parts << HubTexts::tr("%1 left").arg(formatSeconds(download.seconds_left));
    }
    return parts.join(QStringLiteral(" · "));
}

QString ruleOf(const engine::Error& error) {
    for (const auto& [name, value] : error.details) {
        if (name == "rule") {
            return fromUtf8(value);
        }
    }
    return {};
}

bool asksForToken(const engine::Error& error) {
    const QString rule = ruleOf(error);
    return rule == QStringLiteral("HubGated") || rule == QStringLiteral("HubToken");
}

} // namespace ui
