// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/repair.h"

#include "ui/style/format.h"

#include <QRegularExpression>

namespace ui {

namespace {

QRegularExpressionMatch matched(const char* pattern, const QString& text) {
    return QRegularExpression(QStringLiteral("^%1$").arg(QString::fromLatin1(pattern))).match(text);
}

bool place(engine::MapMove& move, const QString& store, const QString& compute) {
    const auto to = engine::DeviceId::parse(store.toStdString());
    const auto on = compute.isEmpty() ? to : engine::DeviceId::parse(compute.toStdString());
    if (!to.has_value() || !on.has_value()) {
        return false;
    }
    move.store = *to;
    move.compute = *on;
    return true;
}

/// "move MODULE and MODULE to DEVICE (computed on DEVICE)".
bool addMove(Repair& repair, const QString& text) {
    const auto m = matched("move (.+) to (\\S+?)(?: \\(computed on (\\S+)\\))?", text);
    if (!m.hasMatch()) {
        return false;
    }
    QStringList modules = m.captured(1).split(QStringLiteral(" and "));
    if (const auto layers = matched("layers? (\\d+)(?:-(\\d+))?", m.captured(1));
        layers.hasMatch()) {
        const QString which =
            layers.captured(2).isEmpty()
                ? layers.captured(1)
                : QStringLiteral("[%1-%2]").arg(layers.captured(1), layers.captured(2));
        modules = {QStringLiteral("model.language_model.layers.") + which};
    }
    for (const QString& module : modules) {
        engine::MapMove move;
        move.module = module.toStdString();
        if (module.contains(QLatin1Char(' ')) || !place(move, m.captured(2), m.captured(3))) {
            return false;
        }
        repair.moves.push_back(move);
    }
    return true;
}

/// "lm_head kept as a copy of its own ("lm_head": {...})".
bool addOwnHead(Repair& repair, const QString& text) {
    const auto m = matched("lm_head kept as a copy of its own \\(\"lm_head\": \\{\"store\": "
                           "\"(\\S+)\", \"compute\": \"(\\S+)\", \"duplicate_tied\": true\\}\\)",
                           text);
    engine::MapMove move;
    move.module = "lm_head";
    move.is_tied_copy = true;
    if (!m.hasMatch() || !place(move, m.captured(1), m.captured(2))) {
        return false;
    }
    repair.moves.push_back(move);
    return true;
}

bool addUse(Repair& repair, const QString& text) {
    const auto m = matched("use (?:--(head|quant|prefill-chunk|image-tokens) (\\S+)|a (context) of "
                           "(\\d+) tokens)",
                           text);
    if (!m.hasMatch()) {
        return false;
    }
    const QString what = m.captured(1) + m.captured(3);
    const QString value = m.captured(2) + m.captured(4);
    if (what == QStringLiteral("head")) {
        repair.head = value.toStdString();
    } else if (what == QStringLiteral("quant")) {
        repair.quant = value.toStdString();
    } else if (what == QStringLiteral("context")) {
        repair.context = value.toLongLong();
    } else if (what == QStringLiteral("prefill-chunk")) {
        repair.prefill_chunk = value.toLongLong();
    } else {
        repair.image_tokens = value.toLongLong();
    }
    return true;
}

} // namespace

std::optional<Repair> repairOf(const std::string& suggestion) {
    const auto m = matched("(.+): frees .+?( \\(enough by itself\\))?", fromUtf8(suggestion));
    if (!m.hasMatch()) {
        return std::nullopt;
    }
    Repair repair;
    repair.is_enough = !m.captured(2).isEmpty();
    static const QRegularExpression kNext(
        QStringLiteral(", (?=move )|, with (?=lm_head )|(?<=int8) and (?=move )"));
    const QStringList steps = m.captured(1).split(kNext);
    for (const QString& step : steps) {
        if (!addUse(repair, step) && !addMove(repair, step) && !addOwnHead(repair, step)) {
            return std::nullopt; // half a step is another one
        }
    }
    return repair;
}

engine::LoadRequest repaired(engine::LoadRequest request, const Repair& repair) {
    request.moves = repair.moves;
    if (!repair.head.empty()) {
        request.head = repair.head;
    }
    if (!repair.quant.empty()) {
        request.quant = repair.quant;
    }
    if (repair.context > 0) {
        request.context = repair.context;
    }
    if (repair.prefill_chunk > 0) {
        request.prefill_chunk = repair.prefill_chunk;
    }
    if (repair.image_tokens > 0) {
        request.image_tokens = repair.image_tokens;
    }
    return request;
}

} // namespace ui
