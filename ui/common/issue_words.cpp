// SPDX-License-Identifier: Apache-2.0
#include "ui/common/issue_words.h"

#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QStringList>

namespace ui {

namespace {

struct Issue {
    Q_DECLARE_TR_FUNCTIONS(ui::Issue)
};

} // namespace

QString partWords(const engine::PlanPart& part) {
    using Kind = engine::PlanPart::Kind;
    switch (part.kind) {
    case Kind::Module:
        return fromUtf8(part.module); // a module's path is its name
    case Kind::VisionTower:
        return Issue::tr("vision tower");
    case Kind::AudioTower:
        return Issue::tr("audio tower");
    case Kind::PerLayerTable:
        return Issue::tr("per-layer embeddings");
    case Kind::TokenTable:
        return Issue::tr("token embedding");
    case Kind::Head:
        return Issue::tr("head");
    case Kind::Layers:
        return part.first_layer == part.last_layer
                   ? Issue::tr("layer %1").arg(part.last_layer)
                   : Issue::tr("layers %1–%2").arg(part.first_layer).arg(part.last_layer);
    case Kind::Experts:
        return part.first_layer == part.last_layer
                   ? Issue::tr("experts of layer %1").arg(part.last_layer)
                   : Issue::tr("experts of layers %1–%2")
                         .arg(part.first_layer)
                         .arg(part.last_layer);
    case Kind::KvCache:
        return Issue::tr("KV cache of %1 tokens").arg(formatCount(part.tokens));
    case Kind::Adapters:
        return Issue::tr("adapters");
    case Kind::Workspace:
        return Issue::tr("workspace");
    case Kind::DriverContext:
        return Issue::tr("context of the driver");
    case Kind::ExpertCopies:
        return Issue::tr("copies of experts");
    case Kind::VisitingRoom:
        return Issue::tr("room for visiting weights");
    }
    return {};
}

QString issueWords(const engine::PlanIssue& issue) {
    QStringList sentences;
    if (!issue.words.isEmpty()) {
        sentences << wholeSentence(issue.words);
    }
    for (const engine::CardTrouble& reason : issue.reasons) {
        sentences << wholeSentence(reason.words);
    }
    return sentences.join(QLatin1Char(' '));
}

QString loadAnywayWords() {
    return Issue::tr("What is free is an estimate. Loading anyway may work; it may also make the "
                     "computer slow, or the system may end a program. A load that fails leaves "
                     "what was there.");
}

} // namespace ui
