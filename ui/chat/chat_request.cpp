// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_request.h"

#include "engine/api/model_address.h"

#include <QFileInfo>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kCharactersPerToken = 3.6; ///< English and code; other scripts need more tokens.
constexpr qint64 kTurnOverhead = 5;         ///< Turn markers and role.
constexpr qint64 kMediaGuess = 280;

} // namespace

engine::GenerateRequest makeRequest(const ChatDocument& chat, size_t turns) {
    engine::GenerateRequest request;
    request.is_thinking = chat.is_thinking;
    request.sampling = chat.sampling;
    request.image_tokens = chat.image_tokens;
    request.uses_drafts = chat.uses_drafts;
    if (!chat.system_prompt.trimmed().isEmpty()) {
        engine::Message system;
        system.role = engine::Message::Role::System;
        system.parts.push_back(
            {engine::MessagePart::Kind::Text, chat.system_prompt.trimmed().toStdString()});
        request.messages.push_back(std::move(system));
    }
    for (size_t i = 0; i < std::min(turns, chat.turns.size()); ++i) {
        const ChatTurn& turn = chat.turns[i];
        const bool is_empty = turn.text.isEmpty() && turn.attachments.empty();
        if (turn.is_cut || is_empty) {
            continue;
        }
        engine::Message message;
        message.role = turn.role;
        for (const Attachment& attachment : turn.attachments) {
            engine::MessagePart part;
            part.kind = attachment.kind;
            part.text = attachment.file.toStdString();
            part.cut_start_s = attachment.cut_start_s;
            part.cut_length_s = attachment.cut_length_s;
            message.parts.push_back(std::move(part));
        }
        if (!turn.text.isEmpty()) {
            message.parts.push_back({engine::MessagePart::Kind::Text, turn.text.toStdString()});
        }
        if (!request.messages.empty() && request.messages.back().role == turn.role) {
            auto& parts = request.messages.back().parts;
            if (!parts.empty() && parts.back().kind == engine::MessagePart::Kind::Text) {
                parts.back().text += "\n\n";
            }
            parts.insert(parts.end(), message.parts.begin(), message.parts.end());
        } else {
            request.messages.push_back(std::move(message));
        }
    }
    return request;
}

engine::GenerateRequest makeContinuation(const ChatDocument& chat) {
    engine::GenerateRequest request = makeRequest(chat, chat.turns.size() - 1);
    const ChatTurn& reply = chat.turns.back();
    engine::Message message;
    message.role = engine::Message::Role::Assistant;
    message.parts.push_back({engine::MessagePart::Kind::Text, reply.text.toStdString()});
    request.messages.push_back(std::move(message));
    request.continues_reply = true;
    request.continued_thinking = reply.thinking.toStdString();
    return request;
}

bool canContinue(const ChatTurn& turn) {
    return turn.role == engine::Message::Role::Assistant &&
           !engine::isServerModel(turn.model.toStdString()) && // which begins every reply anew
           (!turn.text.isEmpty() || !turn.thinking.isEmpty()) &&
           (turn.finish_reason == QLatin1String("length") ||
            turn.finish_reason == QLatin1String("cancelled") ||
            turn.finish_reason == QLatin1String("interrupted"));
}

qint64 estimateTokens(const QString& text) {
    return static_cast<qint64>(std::ceil(static_cast<double>(text.size()) / kCharactersPerToken));
}

qint64 estimateTokens(const ChatTurn& turn) {
    qint64 tokens = kTurnOverhead + estimateTokens(turn.text);
    for (const Attachment& attachment : turn.attachments) {
        tokens += attachment.tokens > 0 ? attachment.tokens : kMediaGuess;
    }
    return tokens;
}

qint64 contextTokens(const ChatDocument& chat) {
    qint64 later = 0;
    for (auto turn = chat.turns.rbegin(); turn != chat.turns.rend(); ++turn) {
        const engine::GenerateTiming& timing = turn->timing;
        const qint64 counted = timing.reused_tokens + timing.prefill_tokens + timing.decode_tokens;
        if (!turn->is_cut && turn->role == engine::Message::Role::Assistant && counted > 0) {
            return counted + later;
        }
        later += turn->is_cut ? 0 : estimateTokens(*turn);
    }
    return later + (chat.turns.empty() ? 0 : estimateTokens(chat.system_prompt));
}

int turnsToCut(const ChatDocument& chat, qint64 context, qint64 reserve, qint64 known) {
    const auto count = static_cast<int>(chat.turns.size());
    std::vector<qint64> tokens(chat.turns.size());
    qint64 total = estimateTokens(chat.system_prompt);
    int cut = 0;
    for (int i = 0; i < count; ++i) {
        const ChatTurn& turn = chat.turns[static_cast<size_t>(i)];
        tokens[static_cast<size_t>(i)] = turn.is_cut ? 0 : estimateTokens(turn);
        total += tokens[static_cast<size_t>(i)];
        cut = turn.is_cut && cut == i ? i + 1 : cut;
    }
    const double scale =
        known > 0 && total > 0 ? static_cast<double>(known) / static_cast<double>(total) : 1.0;
    int last_question = count - 1;
    while (last_question > 0 &&
           chat.turns[static_cast<size_t>(last_question)].role != engine::Message::Role::User) {
        --last_question;
    }
    while (cut<last_question&& static_cast<double>(total) * scale> static_cast<double>(context -
                                                                                       reserve)) {
        do {
            total -= tokens[static_cast<size_t>(cut)];
            ++cut;
        } while (cut < last_question &&
                 chat.turns[static_cast<size_t>(cut)].role != engine::Message::Role::User);
    }
    return cut;
}

bool isPictureFile(const QString& file) {
    static const QStringList kSuffixes = {QStringLiteral("png"), QStringLiteral("jpg"),
                                          QStringLiteral("jpeg"), QStringLiteral("webp")};
    return kSuffixes.contains(QFileInfo(file).suffix().toLower());
}

bool isSoundFile(const QString& file) {
    static const QStringList kSuffixes = {QStringLiteral("wav"), QStringLiteral("flac"),
                                          QStringLiteral("ogg"), QStringLiteral("opus"),
                                          QStringLiteral("mp3"), QStringLiteral("aiff"),
                                          QStringLiteral("aif"), QStringLiteral("au")};
    return kSuffixes.contains(QFileInfo(file).suffix().toLower());
}

} // namespace ui
