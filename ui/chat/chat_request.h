// SPDX-License-Identifier: Apache-2.0
// From a conversation to what the engine is asked, and what fits its context. Pure functions.
#pragma once

#include "engine/api/chat.h"
#include "ui/chat/chat_document.h"

namespace ui {

/// The request for a reply to the first `turns` turns. Turns that are cut and replies without text
/// are left out; neighbouring messages of one role become one, media stand before the text.
engine::GenerateRequest makeRequest(const ChatDocument& chat, size_t turns);

/// The request that goes on with the last turn, a reply that was cut short.
engine::GenerateRequest makeContinuation(const ChatDocument& chat);
/// A reply that ended before the model was done: at the token limit, stopped, or cut by a crash.
bool canContinue(const ChatTurn& turn);

/// Tokens of a turn by its length: an estimate, good to about a third, for gauges and cuts.
qint64 estimateTokens(const ChatTurn& turn);
qint64 estimateTokens(const QString& text);
/// Tokens in the context after the last reply as the engine counted them, plus an estimate for what
/// came after; all estimated when nothing was counted.
qint64 contextTokens(const ChatDocument& chat);

/// How many of the oldest turns to leave out so that the rest, with `reserve` tokens for the
/// answer, fits `context`. `known` is the count of all tokens now seen when the engine told it,
/// else 0; it corrects the estimates. Whole questions with their replies; the last question always
/// stays. Returns a number of turns from the beginning, at least those cut already.
int turnsToCut(const ChatDocument& chat, qint64 context, qint64 reserve, qint64 known);

/// Pictures: png, jpg, jpeg, webp. Sounds: wav, flac, ogg, opus, mp3, aiff, aif.
bool isPictureFile(const QString& file);
bool isSoundFile(const QString& file);

} // namespace ui
