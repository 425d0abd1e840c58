// SPDX-License-Identifier: Apache-2.0
#include "ui/library/library_words.h"

#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>

namespace ui {

namespace {

struct LibraryTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::Library)
};

using Reason = LibraryItem::Reason;

QString reasonWords(const LibraryItem& item) {
    switch (item.reason) {
    case Reason::FilesMissing:
        return LibraryTexts::tr("half a download");
    case Reason::Pickle:
        return LibraryTexts::tr("PyTorch file");
    case Reason::Mlx:
        return LibraryTexts::tr("MLX");
    case Reason::NotSupported:
        return LibraryTexts::tr("not supported");
    case Reason::Broken:
        return LibraryTexts::tr("damaged");
    case Reason::None:
        break;
    }
    return LibraryTexts::tr("cannot be used");
}

} // namespace

QString itemFacts(const LibraryItem& item) {
    QStringList parts;
    if (item.kind == LibraryItem::Kind::Adapter) {
        parts << LibraryTexts::tr("Adapter");
        if (item.rank > 0) {
            parts << LibraryTexts::tr("rank %1").arg(item.rank);
        }
    } else {
        if (!item.variant.isEmpty() && item.variant != QStringLiteral("custom")) {
            parts << item.variant;
        }
        if (item.parameters > 0) {
            parts << LibraryTexts::tr("%1 parameters").arg(formatParameters(item.parameters));
        }
        if (!item.precision.isEmpty()) {
            const bool is_packed = item.precision.startsWith(QLatin1String("nf4")) ||
                                   item.precision.startsWith(QLatin1String("fp4"));
            parts << (is_packed ? quantName(item.precision) : item.precision);
        }
    }
    parts << formatBytes(item.bytes);
    if (item.modified.isValid()) {
        parts << QLocale().toString(item.modified.date(), QLocale::ShortFormat);
    }
    return parts.join(QStringLiteral(" · "));
}

QString placeName(LibraryItem::Place place) {
    switch (place) {
    case LibraryItem::Place::HubCache:
        return LibraryTexts::tr("Hugging Face cache");
    case LibraryItem::Place::LmStudio:
        return QStringLiteral("LM Studio");
    case LibraryItem::Place::LlamaCpp:
        return QStringLiteral("llama.cpp");
    case LibraryItem::Place::Ollama:
        return QStringLiteral("Ollama");
    case LibraryItem::Place::Folder:
        return LibraryTexts::tr("your folder");
    case LibraryItem::Place::Recent:
        return LibraryTexts::tr("recent");
    }
    return {};
}

QString verdictWords(const LibraryItem& item) {
    if (item.state != LibraryItem::State::Usable) {
        return reasonWords(item);
    }
    if (item.kind == LibraryItem::Kind::Adapter) {
        return {};
    }
    switch (item.fit) {
    case LibraryItem::Fit::Fits:
        return LibraryTexts::tr("fits");
    case LibraryItem::Fit::FitsWithChange:
        return LibraryTexts::tr("fits when fitted");
    case LibraryItem::Fit::DoesNotFit:
        return LibraryTexts::tr("does not fit");
    case LibraryItem::Fit::Unknown:
        break;
    }
    return {};
}

QString verdictSentence(const LibraryItem& item) {
    if (item.state != LibraryItem::State::Usable) {
        return wholeSentence(item.problem);
    }
    if (item.kind == LibraryItem::Kind::Adapter) {
        return item.base.isEmpty()
                   ? LibraryTexts::tr("It does not say for which model it was made.")
                   : LibraryTexts::tr("Made for %1.").arg(item.base);
    }
    QString notes;
    for (const engine::Sentence& note : item.notes) {
        notes += QLatin1Char(' ') + wholeSentence(note);
    }
    const QString rest =
        (item.needs_bytes > 0
             ? QLatin1Char(' ') +
                   LibraryTexts::tr("It takes %1 of memory.").arg(formatBytes(item.needs_bytes))
             : QString()) +
        notes;
    switch (item.fit) {
    case LibraryItem::Fit::Fits:
        return LibraryTexts::tr("Fits this computer as it is stored.") + rest;
    case LibraryItem::Fit::FitsWithChange:
        return LibraryTexts::tr("Fits this computer when parts are moved or packed in 4 bits: the "
                                "placement “Best fit” does that.") +
               rest;
    case LibraryItem::Fit::DoesNotFit:
        return LibraryTexts::tr("Does not fit this computer, also not in 4 bits.") + rest;
    case LibraryItem::Fit::Unknown:
        break;
    }
    return LibraryTexts::tr("Whether it fits is not known yet.") + notes;
}

} // namespace ui
