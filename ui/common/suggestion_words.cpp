// SPDX-License-Identifier: Apache-2.0
#include "ui/common/suggestion_words.h"

#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

namespace ui {

namespace {

struct Suggestion {
    Q_DECLARE_TR_FUNCTIONS(ui::Suggestion)
};

/// "Disk", or "Disk, computed on CPU" where the two differ.
QString placeWords(engine::DeviceId store, engine::DeviceId compute) {
    const QString device = deviceName(store.toString());
    return store == compute
               ? device
               : Suggestion::tr("%1, computed on %2").arg(device, deviceName(compute.toString()));
}

QString moveWords(const engine::SuggestedMove& move) {
    using Kind = engine::PlanPart::Kind;
    const QString place = placeWords(move.store, move.compute);
    const engine::PlanPart& part = move.part;
    switch (part.kind) {
    case Kind::Layers:
        return part.first_layer == part.last_layer
                   ? Suggestion::tr("layer %1 to %2").arg(part.first_layer).arg(place)
                   : Suggestion::tr("layers %1 to %2 to %3")
                         .arg(part.first_layer)
                         .arg(part.last_layer)
                         .arg(place);
    case Kind::VisionTower:
        return Suggestion::tr("vision tower to %1").arg(place);
    case Kind::AudioTower:
        return Suggestion::tr("audio tower to %1").arg(place);
    case Kind::PerLayerTable:
        return Suggestion::tr("per-layer embeddings to %1").arg(place);
    case Kind::TokenTable:
        return Suggestion::tr("token embedding to %1").arg(place);
    case Kind::Module:
    case Kind::Head:
    case Kind::KvCache:
    case Kind::Adapters:
    case Kind::Workspace:
    case Kind::DriverContext:
    case Kind::VisitingRoom:
        break;
    }
    return Suggestion::tr("%1 to %2").arg(partWords(part), place);
}

QString actionWords(const engine::SuggestedStep& step) {
    QStringList moves;
    for (const engine::SuggestedMove& move : step.moves) {
        moves.append(moveWords(move));
    }
    QString moved = moves.join(QStringLiteral(", "));
    if (step.is_head_int8) {
        return moves.isEmpty() ? Suggestion::tr("head in 8 bits")
                               : Suggestion::tr("head in 8 bits and %1").arg(moved);
    }
    if (step.head_copy.has_value()) {
        return Suggestion::tr("%1 (the head keeps its own copy)").arg(moved);
    }
    if (!step.quant.empty()) {
        return Suggestion::tr("weights in %1").arg(quantName(fromUtf8(step.quant)));
    }
    if (step.context > 0) {
        return Suggestion::tr("a context of %1 tokens").arg(formatCount(step.context));
    }
    if (step.prefill_chunk > 0) {
        return Suggestion::tr("read prompts in pieces of %1 tokens")
            .arg(formatCount(step.prefill_chunk));
    }
    if (step.image_tokens > 0) {
        return Suggestion::tr("at most %1 tokens per picture").arg(formatCount(step.image_tokens));
    }
    return moved;
}

/// "about 12 ms", "about 1.8 s".
QString timeWords(double seconds) {
    return seconds < 1
               ? Suggestion::tr("about %1 ms").arg(QLocale().toString(seconds * 1000, 'f', 0))
               : Suggestion::tr("about %1 s").arg(QLocale().toString(seconds, 'f', 1));
}

QString costWords(const engine::SuggestedCost& cost) {
    using Kind = engine::SuggestedCost::Kind;
    const auto timed = [&cost](const QString& words) {
        return cost.seconds < 0.001 ? Suggestion::tr("nothing measurable")
                                    : words.arg(timeWords(cost.seconds));
    };
    switch (cost.kind) {
    case Kind::TableRow:
    case Kind::OneRow:
        return Suggestion::tr("nothing measurable");
    case Kind::TableRead:
        return Suggestion::tr("one read of %1 per token").arg(formatBytes(cost.bytes));
    case Kind::TimePerImage:
        return timed(Suggestion::tr("%1 per image"));
    case Kind::TimePerSound:
        return timed(Suggestion::tr("%1 per 10 s of sound"));
    case Kind::TimePerToken:
        return timed(Suggestion::tr("%1 per token"));
    case Kind::FilesPerMedia:
        return Suggestion::tr("one read of the files each time");
    case Kind::Conversation:
        return Suggestion::tr("memory of the conversation");
    case Kind::PromptTime:
        return Suggestion::tr("time until a long prompt is read");
    case Kind::ImageDetail:
        return Suggestion::tr("detail of large pictures");
    case Kind::Accuracy:
        return Suggestion::tr("some accuracy; it is faster");
    case Kind::HeadAccuracy:
        return Suggestion::tr("some accuracy of the last layer; it is faster");
    case Kind::LittleAccuracy:
        return Suggestion::tr("a little more accuracy");
    case Kind::HardlyAccuracy:
        return Suggestion::tr("hardly any accuracy");
    }
    return {};
}

QString words(const engine::SuggestedStep& step) {
    const QString text = step.is_enough
                             ? Suggestion::tr("%1: frees %2 (enough by itself), costs %3")
                             : Suggestion::tr("%1: frees %2, costs %3");
    return text.arg(actionWords(step), formatBytes(step.frees), costWords(step.cost));
}

QString words(const engine::Sentence& sentence) {
    return sentenceWords(sentence);
}

} // namespace

QString stepWords(const engine::SuggestedStep& step) {
    return actionWords(step);
}

QString suggestionWords(const engine::Suggestion& suggestion) {
    return std::visit([](const auto& one) { return words(one); }, suggestion);
}

} // namespace ui
