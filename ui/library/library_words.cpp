// SPDX-License-Identifier: Apache-2.0
#include "ui/library/library_words.h"

#include "ui/style/format.h"

#include <QCoreApplication>
#include <QDir>

namespace ui {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(ui::Library)
};

using Reason = LibraryItem::Reason;

QString reasonWords(const LibraryItem& item) {
    switch (item.reason) {
    case Reason::FilesMissing:
        return Words::tr("half a download");
    case Reason::Pickle:
        return Words::tr("PyTorch file");
    case Reason::Gguf:
        return Words::tr("GGUF");
    case Reason::Mlx:
        return Words::tr("MLX");
    case Reason::NotSupported:
        return Words::tr("not supported");
    case Reason::Broken:
        return Words::tr("damaged");
    case Reason::Unreadable:
        return Words::tr("not readable");
    case Reason::None:
        break;
    }
    return Words::tr("cannot be used");
}

QString reasonSentence(const LibraryItem& item) {
    switch (item.reason) {
    case Reason::FilesMissing:
        return item.missing.isEmpty()
                   ? Words::tr("Some of its files are not there.")
                   : Words::tr("Files that it needs are not there: %1.")
                         .arg(item.missing.mid(0, 3).join(QStringLiteral(", ")) +
                              (item.missing.size() > 3 ? QStringLiteral(" …") : QString()));
    case Reason::Pickle:
        return Words::tr("Its weights are in PyTorch's own format, which can run programs when it "
                         "is opened. Belfry reads safetensors.");
    case Reason::Gguf:
        return Words::tr("This GGUF file is of a kind that Belfry does not read.");
    case Reason::Mlx:
        return Words::tr("Its weights are packed for Apple's MLX, which Belfry does not read.");
    case Reason::NotSupported:
        return Words::tr("Belfry does not run this kind of model or adapter.");
    case Reason::Broken:
        return Words::tr("Its files break their format.");
    case Reason::Unreadable:
        return Words::tr("The system does not let its files be read.");
    case Reason::None:
        break;
    }
    return {};
}

} // namespace

QString itemFacts(const LibraryItem& item) {
    QStringList parts;
    if (item.kind == LibraryItem::Kind::Adapter) {
        parts << Words::tr("Adapter");
        if (item.rank > 0) {
            parts << Words::tr("rank %1").arg(item.rank);
        }
    } else {
        if (!item.variant.isEmpty() && item.variant != QStringLiteral("custom")) {
            parts << item.variant;
        }
        if (item.parameters > 0) {
            parts << Words::tr("%1 parameters").arg(formatParameters(item.parameters));
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
        return Words::tr("Hugging Face cache");
    case LibraryItem::Place::LmStudio:
        return QStringLiteral("LM Studio");
    case LibraryItem::Place::LlamaCpp:
        return QStringLiteral("llama.cpp");
    case LibraryItem::Place::Ollama:
        return QStringLiteral("Ollama");
    case LibraryItem::Place::Folder:
        return Words::tr("your folder");
    case LibraryItem::Place::Recent:
        return Words::tr("recent");
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
        return Words::tr("fits");
    case LibraryItem::Fit::FitsWithChange:
        return Words::tr("fits when fitted");
    case LibraryItem::Fit::DoesNotFit:
        return Words::tr("does not fit");
    case LibraryItem::Fit::Unknown:
        break;
    }
    return {};
}

QString verdictSentence(const LibraryItem& item) {
    if (item.state != LibraryItem::State::Usable) {
        return reasonSentence(item);
    }
    if (item.kind == LibraryItem::Kind::Adapter) {
        return item.base.isEmpty() ? Words::tr("It does not say for which model it was made.")
                                   : Words::tr("Made for %1.").arg(item.base);
    }
    const QString needs =
        item.needs_bytes > 0
            ? QLatin1Char(' ') +
                  Words::tr("It takes %1 of memory.").arg(formatBytes(item.needs_bytes))
            : QString();
    switch (item.fit) {
    case LibraryItem::Fit::Fits:
        return Words::tr("Fits this computer as it is stored.") + needs;
    case LibraryItem::Fit::FitsWithChange:
        return Words::tr("Fits this computer when parts are moved or packed in 4 bits: the "
                         "placement “Best fit” does that.") +
               needs;
    case LibraryItem::Fit::DoesNotFit:
        return Words::tr("Does not fit this computer, also not in 4 bits.") + needs;
    case LibraryItem::Fit::Unknown:
        break;
    }
    return Words::tr("Whether it fits is not known yet.");
}

QString wayOut(const LibraryItem& item) {
    switch (item.reason) {
    case Reason::FilesMissing:
        return item.place == LibraryItem::Place::HubCache
                   ? Words::tr("Get it again: what is there is kept, only the rest is fetched.")
                   : Words::tr("Copy the missing files beside the others, or get the model again.");
    case Reason::Pickle:
        return Words::tr("Look for a repository of this model with safetensors, or convert it with "
                         "Python's safetensors.");
    case Reason::Gguf:
    case Reason::Mlx:
    case Reason::NotSupported:
        return item.kind == LibraryItem::Kind::Adapter
                   ? Words::tr("Belfry takes LoRA adapters that PEFT has saved.")
                   : Words::tr("Get a Gemma 4 model with safetensors: see “Get a model”.");
    case Reason::Broken:
        return Words::tr("Delete it and get it again.");
    case Reason::Unreadable:
        return Words::tr("Look at the folder's permissions.");
    case Reason::None:
        break;
    }
    return {};
}

QString gapWords(const LibraryGap& gap) {
    const QString folder = QDir::toNativeSeparators(gap.folder);
    switch (gap.why) {
    case LibraryGap::Why::Missing:
        return Words::tr("%1 is not there.").arg(folder);
    case LibraryGap::Why::Unreadable:
        return Words::tr("%1 cannot be read: look at its permissions.").arg(folder);
    case LibraryGap::Why::NotAnswering:
        return Words::tr("%1 does not answer and was left out; a network drive may be away.")
            .arg(folder);
    case LibraryGap::Why::Cut:
        return Words::tr("%1 has more files than are looked at: add the folder with the models "
                         "instead.")
            .arg(folder);
    }
    return {};
}

} // namespace ui
