// SPDX-License-Identifier: Apache-2.0
#include "ui/common/reply_words.h"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>

namespace ui {

namespace {

struct Reply {
    Q_DECLARE_TR_FUNCTIONS(ui::ReplyNote)
};

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

} // namespace ui
