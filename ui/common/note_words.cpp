// SPDX-License-Identifier: Apache-2.0
#include "ui/common/note_words.h"

#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"

#include <QCoreApplication>

namespace ui {

namespace {

using engine::NoteKind;

struct Note {
    Q_DECLARE_TR_FUNCTIONS(ui::Note)
};

} // namespace

QString fourBitsWords(const engine::PlacementPlan& plan) {
    for (const engine::Note& note : plan.notes) {
        if (note.kind == NoteKind::FourBits) {
            return wholeSentence(note.words);
        }
    }
    return {};
}

QString noCardReason(const engine::PlacementPlan& plan) {
    QStringList reasons;
    for (const engine::PlanIssue& issue : plan.warnings) {
        if (issue.code == "DM23") {
            reasons << issueWords(issue);
        }
    }
    for (const engine::Note& note : plan.notes) {
        if (note.kind == NoteKind::Card) {
            reasons << wholeSentence(note.words);
        }
    }
    return reasons.join(QLatin1Char('\n'));
}

QStringList notesWorthTelling(const engine::PlacementPlan& plan, bool with_cards) {
    QStringList out;
    for (const engine::Note& note : plan.notes) {
        if (note.kind != NoteKind::AllOnOne && note.kind != NoteKind::Estimates &&
            (with_cards || note.kind != NoteKind::Card)) {
            out << wholeSentence(note.words);
        }
    }
    return out;
}

QString notesTitle(const engine::PlacementPlan& plan, const QStringList& notes) {
    if (!plan.notes.empty() && plan.notes.front().kind == NoteKind::Apart) {
        return Note::tr("Not everything fits on one device: the parts are where they cost the "
                        "least time.");
    }
    return notes.isEmpty() ? QString() : notes.front();
}

} // namespace ui
