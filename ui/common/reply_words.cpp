// SPDX-License-Identifier: Apache-2.0
#include "ui/common/reply_words.h"

#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>
#include <variant>

namespace ui {

namespace {

using namespace engine::reply_note;

struct Reply {
    Q_DECLARE_TR_FUNCTIONS(ui::ReplyNote)
};

QString seconds(double value) {
    return QLocale().toString(value, 'f', 2);
}

QString words(const SoundCutShort& n) {
    return Reply::tr("The %1 recording declares %2 of sound and has %3: it was cut short, or "
                     "written without knowing its length. What is there is played.")
        .arg(fromUtf8(n.format), formatBytes(n.declared), formatBytes(n.found));
}

QString words(const SoundEndsEarly& n) {
    return Reply::tr("The %1 recording declares %2 seconds and has %3: it was cut short, or is "
                     "damaged behind. What is there is played.")
        .arg(fromUtf8(n.format), seconds(n.declared_s), seconds(n.found_s));
}

QString words(const OggCutShort& /*n*/) {
    return Reply::tr("The Ogg recording was cut short. What is there is played.");
}

QString words(const PictureFlaw& n) {
    return Reply::tr("The picture has a flaw (%1) and may look wrong.").arg(fromUtf8(n.finding));
}

QString words(const CacheLost& n) {
    return n.count == 1
               ? Reply::tr("A quantized copy was damaged while in use: 1 weight is made from the "
                           "model files (%1), which is slower. Load the model again to have the "
                           "copy written anew.")
                     .arg(fromUtf8(n.last))
               : Reply::tr("A quantized copy was damaged while in use: %1 weights are made from "
                           "the model files (%2 the last), which is slower. Load the model again "
                           "to have the copy written anew.")
                     .arg(formatCount(n.count), fromUtf8(n.last));
}

QString words(const TemplateUnreadable& n) {
    return Reply::tr("%1: its chat template cannot be compared with the prompt that is used (%2).")
        .arg(fromUtf8(n.where), sentenceWords(n.why));
}

QString words(const TemplateDiffers& n) {
    return Reply::tr("%1: its chat template would write this conversation otherwise: %2 where the "
                     "prompt that is used has %3.")
        .arg(fromUtf8(n.where), fromUtf8(n.theirs), fromUtf8(n.used));
}

QString words(const EndedByServer& n) {
    return Reply::tr("The server ended the reply: %1.").arg(fromUtf8(n.reason));
}

QString words(const ToolAsked& n) {
    return Reply::tr("The model asks for the tool %1 with %2. Belfry does not run tools.")
        .arg(fromUtf8(n.name), fromUtf8(n.arguments));
}

} // namespace

QString draftWords(const engine::DraftReport& drafts) {
    const auto figure = [](double value) { return QLocale().toString(value, 'f', 2); };
    if (drafts.rounds == 0) {
        return !drafts.is_off      ? QString()
               : drafts.gain > 0.0 ? Reply::tr("no drafts, as they reached only %1 times the speed")
                                         .arg(figure(drafts.gain))
                                   : Reply::tr("no drafts, as they do not pay here");
    }
    QString figures = Reply::tr("%1 tokens a round, %2 % of drafts right")
                          .arg(figure(drafts.tokensPerRound()),
                               QLocale().toString(std::lround(100.0 * drafts.acceptance())));
    if (drafts.gain <= 0.0) {
        return figures;
    }
    return drafts.is_off
               ? Reply::tr("drafts switched themselves off: %1 times the speed without (%2)")
                     .arg(figure(drafts.gain), figures)
               : Reply::tr("drafts: %1 times the speed without (%2)")
                     .arg(figure(drafts.gain), figures);
}

QString replyNoteWords(const engine::ReplyNote& note) {
    return std::visit([](const auto& one) { return words(one); }, note);
}

} // namespace ui
