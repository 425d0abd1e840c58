// SPDX-License-Identifier: Apache-2.0
// One plain sentence about a block, for somebody who knows what VRAM is and no more.
#include "ui/layout/layout_blocks.h"
#include "ui/style/format.h"

#include <QCoreApplication>

namespace ui {

namespace {

struct Plainly {
    Q_DECLARE_TR_FUNCTIONS(ui::BlockSentence)
};

/// A row of a table that has one for every word.
quint64 rowBytes(const LayoutBlock& block, const engine::ModelSummary* model) {
    return model == nullptr || model->vocabulary <= 0
               ? 0
               : block.bytes / static_cast<quint64>(model->vocabulary);
}

/// What it means for the card that a part is as good in main memory.
QString saving(const LayoutBlock& block) {
    return (block.store.isGpu() ? Plainly::tr("moving it there saves %1 of VRAM")
                                : Plainly::tr("that keeps %1 of VRAM free"))
        .arg(formatBytes(block.bytes));
}

QString tableSentence(const LayoutBlock& block, const engine::ModelSummary* model) {
    const quint64 row = rowBytes(block, model);
    return row == 0 ? Plainly::tr("a look-up table; one row of it is read per token, so it is as "
                                  "good in main memory: %1.")
                          .arg(saving(block))
                    : Plainly::tr("a look-up table; one row of %1 is read per token, so it is as "
                                  "good in main memory: %2.")
                          .arg(formatBytes(row), saving(block));
}

QString towerSentence(const LayoutBlock& block, const engine::PlacementPlan& plan) {
    const bool is_vision = block.kind == BlockKind::Vision;
    QString text = is_vision ? Plainly::tr("turns a picture into tokens before the reply; text "
                                           "alone never uses it.")
                             : Plainly::tr("turns a sound into tokens before the reply; text alone "
                                           "never uses it.");
    const double seconds = is_vision ? plan.estimate.image_s : 10 * plan.estimate.audio_s_per_s;
    if (seconds > 0) {
        text += QLatin1Char(' ') + (is_vision ? Plainly::tr("Here a picture takes about %1.")
                                              : Plainly::tr("Here 10 s of sound take about %1."))
                                       .arg(formatDuration(seconds));
    }
    return text + QLatin1Char(' ') +
           (block.store.isGpu() ? Plainly::tr("On the CPU it is slower and saves %1 of VRAM.")
                                : Plainly::tr("On a card it is faster and takes %1 of VRAM."))
               .arg(formatBytes(block.bytes));
}

QString expertsSentence(const LayoutBlock& block) {
    return block.experts == 0
               ? Plainly::tr("specialists, of which each token uses a few; the others only wait, "
                             "so main memory serves them well: %1.")
                     .arg(saving(block))
               : Plainly::tr("specialists, of which each token uses %1 of %2: %3 are read per "
                             "token, the rest waits, so main memory serves them well: %4.")
                     .arg(formatCount(block.experts_per_token), formatCount(block.experts),
                          formatBytes(block.readPerToken()), saving(block));
}

QString plainWords(const LayoutBlock& block,
                   const engine::PlacementPlan& plan,
                   const engine::ModelSummary* model) {
    const QString bytes = formatBytes(block.bytes);
    switch (block.kind) {
    case BlockKind::Layers:
        return Plainly::tr("the model itself, one layer after the other. Every token reads all %1 "
                           "of them, so they are fastest where memory is fastest.")
            .arg(bytes);
    case BlockKind::Experts:
        return expertsSentence(block);
    case BlockKind::Vision:
    case BlockKind::Audio:
        return towerSentence(block, plan);
    case BlockKind::VisionProjector:
        return Plainly::tr("hands what the vision tower saw to the layers; small (%1), and best "
                           "where the tower is.")
            .arg(bytes);
    case BlockKind::AudioProjector:
        return Plainly::tr("hands what the audio tower heard to the layers; small (%1), and best "
                           "where the tower is.")
            .arg(bytes);
    case BlockKind::PerLayerTable:
        return tableSentence(block, model);
    case BlockKind::Embedding:
        return block.is_tied
                   ? Plainly::tr("the list of words, for reading and for writing. Each token looks "
                                 "up one row and is chosen by reading all %1, so it belongs where "
                                 "the last layers are.")
                         .arg(bytes)
                   : tableSentence(block, model);
    case BlockKind::Head:
        return Plainly::tr("chooses the next word out of all. Each token reads all %1 of it, so it "
                           "belongs where the last layers are.")
            .arg(bytes);
    case BlockKind::Assistant:
        return Plainly::tr("a small model that guesses the next tokens for the large one to check. "
                           "Each guess reads all %1 of it, so it is fastest on the card.")
            .arg(bytes);
    case BlockKind::Other:
        return Plainly::tr("small pieces (%1) between the others, used for every token; best where "
                           "the layers are.")
            .arg(bytes);
    case BlockKind::Kv:
        return Plainly::tr("attention memory: what the model keeps of the chat, %1 for %2 tokens. "
                           "Each token reads what is filled of it; a shorter context takes "
                           "less.")
            .arg(bytes, formatCount(plan.context));
    }
    return {};
}

} // namespace

QString blockSentence(const LayoutBlock& block,
                      const engine::PlacementPlan& plan,
                      const engine::ModelSummary* model) {
    return Plainly::tr("%1: %2", "name of a block, then what it is")
        .arg(blockTitle(block), plainWords(block, plan, model));
}

} // namespace ui
