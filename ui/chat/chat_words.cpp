// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_words.h"

#include "ui/style/format.h"

#include <QCoreApplication>

namespace ui {

namespace {
struct Texts {
    Q_DECLARE_TR_FUNCTIONS(ui::ChatWords)
};
} // namespace

QString tokensWords(qint64 count) {
    return count == 1 ? Texts::tr("1 token") : Texts::tr("%1 tokens").arg(formatCount(count));
}

QString messagesWords(qint64 count) {
    return count == 1 ? Texts::tr("1 message") : Texts::tr("%1 messages").arg(formatCount(count));
}

} // namespace ui
