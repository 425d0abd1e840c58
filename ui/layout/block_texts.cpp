// SPDX-License-Identifier: Apache-2.0
// What stands on a block, as text.
#include "engine/api/formats.h"
#include "ui/layout/layout_blocks.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>

namespace ui {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(ui::LayoutBlock)
};

QString number(int value) {
    return QLocale().toString(value);
}

void add(QStringList& parts, const QString& part) {
    if (!part.isEmpty()) {
        parts << part;
    }
}

/// Where a block that is stored on one device computes, and how its bytes get there.
QString travel(const LayoutBlock& block) {
    if (block.store == block.compute || block.kind == BlockKind::Kv) {
        return {};
    }
    const QString device = laneName(block.compute);
    switch (block.residency) {
    case engine::Residency::Always:
        return Texts::tr("copy on %1").arg(device);
    case engine::Residency::OnUse:
        return Texts::tr("visits %1 when used").arg(device);
    case engine::Residency::Stream:
        return block.kind == BlockKind::PerLayerTable ? Texts::tr("rows go to %1").arg(device)
                                                      : Texts::tr("streamed to %1").arg(device);
    }
    return {};
}

} // namespace

QString laneName(engine::DeviceId device) {
    return deviceName(device.toString());
}

QString formatLabel(engine::Format format) {
    const std::string_view label = engine::formatRow(format).label;
    return label.empty() ? Texts::tr("as stored")
                         : QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size()));
}

QString blockTitle(const LayoutBlock& block) {
    switch (block.kind) {
    case BlockKind::Layers:
        return block.first == block.last
                   ? Texts::tr("Layer %1").arg(number(block.first))
                   : Texts::tr("Layers %1 – %2").arg(number(block.first), number(block.last));
    case BlockKind::Experts:
        return block.first == block.last ? Texts::tr("Experts of layer %1").arg(number(block.first))
                                         : Texts::tr("Experts of layers %1 – %2")
                                               .arg(number(block.first), number(block.last));
    case BlockKind::Vision:
        return Texts::tr("Vision tower");
    case BlockKind::VisionProjector:
        return Texts::tr("Vision projector");
    case BlockKind::Audio:
        return Texts::tr("Audio tower");
    case BlockKind::AudioProjector:
        return Texts::tr("Audio projector");
    case BlockKind::PerLayerTable:
        return Texts::tr("Per-layer embeddings");
    case BlockKind::Embedding:
        return block.is_tied ? Texts::tr("Head + token embedding") : Texts::tr("Token embedding");
    case BlockKind::Head:
        return Texts::tr("Head");
    case BlockKind::Assistant:
        return Texts::tr("Drafting assistant");
    case BlockKind::Other:
        return Texts::tr("Norms and projection");
    case BlockKind::Kv:
        return Texts::tr("KV cache");
    }
    return {};
}

QString blockSubtitle(const LayoutBlock& block, const engine::PlacementPlan& plan) {
    QStringList parts;
    switch (block.kind) {
    case BlockKind::Layers:
        if (block.kv_shared_from > block.first) {
            add(parts, Texts::tr("from %1 on they share KV").arg(number(block.kv_shared_from)));
        } else {
            add(parts, block.kv_shared_from >= 0 ? Texts::tr("share KV of earlier layers")
                                                 : Texts::tr("own their KV"));
        }
        break;
    case BlockKind::Experts:
        if (block.experts > 0) {
            add(parts, Texts::tr("%1 read per token").arg(formatBytes(block.readPerToken())));
            add(parts, Texts::tr("%1 of %2")
                           .arg(formatCount(block.experts_per_token), formatCount(block.experts)));
        }
        break;
    case BlockKind::Vision:
    case BlockKind::Audio:
        if (block.floors > 0) {
            add(parts, block.floors == 1 ? Texts::tr("1 layer")
                                         : Texts::tr("%1 layers").arg(number(block.floors)));
        }
        break;
    case BlockKind::Embedding:
        if (block.is_tied) {
            add(parts, Texts::tr("one table for both"));
        }
        break;
    case BlockKind::Head:
        if (block.is_stored_apart) {
            add(parts, Texts::tr("values of its own"));
        }
        break;
    case BlockKind::Kv:
        add(parts, Texts::tr("%1 tokens").arg(formatCount(plan.context)));
        add(parts, block.is_kv_pinned ? Texts::tr("kept here") : Texts::tr("follows the layers"));
        break;
    case BlockKind::PerLayerTable:
        for (const engine::TransferPerToken& transfer : plan.transfers_per_token) {
            if (transfer.what == engine::Travel::PerLayerRow ||
                transfer.what == engine::Travel::PerLayerSlice) {
                add(parts, Texts::tr("%1 read per token").arg(formatBytes(transfer.bytes)));
                break;
            }
        }
        break;
    case BlockKind::VisionProjector:
    case BlockKind::AudioProjector:
    case BlockKind::Assistant:
    case BlockKind::Other:
        break;
    }
    add(parts, travel(block));
    if (block.kind != BlockKind::Kv) {
        add(parts, formatLabel(block.format));
    }
    return parts.join(QStringLiteral(" · "));
}

QString blockNote(const LayoutBlock& block) {
    if (block.kind == BlockKind::PerLayerTable) {
        return block.store.isGpu()
                   ? Texts::tr("Only one row of it is read per token: on the CPU it would "
                               "cost hardly any speed and leave this memory free.")
                   : Texts::tr("Only one row of it is read per token: here it costs hardly "
                               "any speed.");
    }
    return {};
}

QString blockState(const LayoutBlock& block) {
    QString text;
    if (block.adapter_modules > 0) {
        text += QLatin1Char(' ') + Texts::tr("Modules in it that adapters change: %1.")
                                       .arg(formatCount(block.adapter_modules));
    }
    if (block.is_mixed) {
        text +=
            QLatin1Char(' ') + Texts::tr("Some tensors inside are placed elsewhere by the map.");
    }
    if (block.is_changed) {
        text += QLatin1Char(' ') + Texts::tr("Not applied yet.");
    }
    for (const QString& issue : block.errors + block.warnings) {
        text += QLatin1Char(' ') + issue;
    }
    return text;
}

QString blockDescription(const LayoutBlock& block, const engine::PlacementPlan& plan) {
    QString text = Texts::tr("%1, %2, on %3")
                       .arg(blockTitle(block), formatBytes(block.bytes), laneName(block.store));
    const QString subtitle = blockSubtitle(block, plan);
    if (!subtitle.isEmpty()) {
        text += QStringLiteral(". ") + subtitle;
    }
    return text + QStringLiteral(". ") + block.sentence + blockState(block);
}

} // namespace ui
