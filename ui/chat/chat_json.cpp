// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_json.h"

#include <algorithm>

namespace ui {

namespace {

constexpr int kVersion = 1;

QString key(const char* name) {
    return QString::fromLatin1(name);
}

QString roleName(engine::Message::Role role) {
    switch (role) {
    case engine::Message::Role::System:
        return QStringLiteral("system");
    case engine::Message::Role::User:
        return QStringLiteral("user");
    case engine::Message::Role::Assistant:
        return QStringLiteral("assistant");
    case engine::Message::Role::Tool: // in no chat of the window: nothing runs tools there
        break;
    }
    return QStringLiteral("user");
}

engine::Message::Role roleFromName(const QString& name) {
    if (name == QLatin1String("assistant")) {
        return engine::Message::Role::Assistant;
    }
    return name == QLatin1String("system") ? engine::Message::Role::System
                                           : engine::Message::Role::User;
}

QString timeToText(const QDateTime& time) {
    return time.isValid() ? time.toUTC().toString(Qt::ISODateWithMs) : QString();
}

QDateTime timeFromText(const QString& text) {
    return QDateTime::fromString(text, Qt::ISODateWithMs);
}

QJsonArray adaptersToJson(const std::vector<engine::AdapterChoice>& adapters) {
    QJsonArray array;
    for (const engine::AdapterChoice& adapter : adapters) {
        array.append(QJsonObject{{key("folder"), QString::fromStdString(adapter.folder)},
                                 {key("strength"), adapter.strength},
                                 {key("enabled"), adapter.is_enabled}});
    }
    return array;
}

std::vector<engine::AdapterChoice> adaptersFromJson(const QJsonArray& array) {
    std::vector<engine::AdapterChoice> adapters;
    for (const auto& value : array) {
        const QJsonObject object = value.toObject();
        adapters.push_back({object.value(key("folder")).toString().toStdString(),
                            object.value(key("strength")).toDouble(1.0),
                            object.value(key("enabled")).toBool(true)});
    }
    return adapters;
}

QJsonObject attachmentToJson(const Attachment& attachment) {
    QJsonObject object{{key("kind"), attachment.kind == engine::MessagePart::Kind::Audio
                                         ? QStringLiteral("audio")
                                         : QStringLiteral("image")},
                       {key("file"), attachment.file},
                       {key("hash"), attachment.hash},
                       {key("name"), attachment.name},
                       {key("bytes"), attachment.bytes},
                       {key("tokens"), attachment.tokens}};
    if (attachment.cut_start_s != 0.0 || attachment.cut_length_s != 0.0) {
        object.insert(key("cut_start_s"), attachment.cut_start_s);
        object.insert(key("cut_length_s"), attachment.cut_length_s);
    }
    return object;
}

Attachment attachmentFromJson(const QJsonObject& object) {
    Attachment attachment;
    attachment.kind = object.value(key("kind")).toString() == QLatin1String("audio")
                          ? engine::MessagePart::Kind::Audio
                          : engine::MessagePart::Kind::Image;
    attachment.file = object.value(key("file")).toString();
    attachment.hash = object.value(key("hash")).toString();
    attachment.name = object.value(key("name")).toString();
    attachment.bytes = object.value(key("bytes")).toInteger();
    attachment.tokens = object.value(key("tokens")).toInteger();
    attachment.cut_start_s = object.value(key("cut_start_s")).toDouble();
    attachment.cut_length_s = object.value(key("cut_length_s")).toDouble();
    return attachment;
}

QJsonObject draftToJson(const Draft& draft) {
    QJsonArray attachments;
    for (const Attachment& attachment : draft.attachments) {
        attachments.append(attachmentToJson(attachment));
    }
    return {{key("text"), draft.text}, {key("attachments"), attachments}};
}

Draft draftFromJson(const QJsonObject& object) {
    Draft draft;
    draft.text = object.value(key("text")).toString();
    for (const auto& value : object.value(key("attachments")).toArray()) {
        draft.attachments.push_back(attachmentFromJson(value.toObject()));
    }
    return draft;
}

QJsonObject timingToJson(const engine::GenerateTiming& timing) {
    return {{key("prefill_tokens"), static_cast<qint64>(timing.prefill_tokens)},
            {key("reused_tokens"), static_cast<qint64>(timing.reused_tokens)},
            {key("prefill_s"), timing.prefill_s},
            {key("decode_tokens"), static_cast<qint64>(timing.decode_tokens)},
            {key("decode_s"), timing.decode_s},
            {key("time_to_first_token_s"), timing.time_to_first_token_s},
            {key("image_s"), timing.image_s},
            {key("audio_s"), timing.audio_s}};
}

engine::GenerateTiming timingFromJson(const QJsonObject& object) {
    engine::GenerateTiming timing;
    timing.prefill_tokens = object.value(key("prefill_tokens")).toInteger();
    timing.reused_tokens = object.value(key("reused_tokens")).toInteger();
    timing.prefill_s = object.value(key("prefill_s")).toDouble();
    timing.decode_tokens = object.value(key("decode_tokens")).toInteger();
    timing.decode_s = object.value(key("decode_s")).toDouble();
    timing.time_to_first_token_s = object.value(key("time_to_first_token_s")).toDouble();
    timing.image_s = object.value(key("image_s")).toDouble();
    timing.audio_s = object.value(key("audio_s")).toDouble();
    return timing;
}

QJsonObject draftReportToJson(const engine::DraftReport& drafts) {
    return {{key("rounds"), static_cast<qint64>(drafts.rounds)},
            {key("drafted"), static_cast<qint64>(drafts.drafted)},
            {key("accepted"), static_cast<qint64>(drafts.accepted)},
            {key("gain"), drafts.gain},
            {key("off"), drafts.is_off},
            {key("draft_s"), drafts.draft_s},
            {key("check_s"), drafts.check_s}};
}

engine::DraftReport draftReportFromJson(const QJsonObject& object) {
    const auto count = [&object](const char* name) {
        return std::max<qint64>(0, object.value(key(name)).toInteger());
    };
    engine::DraftReport drafts;
    drafts.rounds = count("rounds");
    drafts.drafted = count("drafted");
    drafts.accepted = std::min<qint64>(count("accepted"), drafts.drafted);
    drafts.gain = object.value(key("gain")).toDouble();
    drafts.is_off = object.value(key("off")).toBool();
    drafts.draft_s = object.value(key("draft_s")).toDouble();
    drafts.check_s = object.value(key("check_s")).toDouble();
    return drafts;
}

QJsonObject samplingToJson(const engine::SamplingParameters& sampling) {
    return {{key("temperature"), sampling.temperature},
            {key("top_k"), static_cast<qint64>(sampling.top_k)},
            {key("top_p"), sampling.top_p},
            {key("min_p"), sampling.min_p},
            {key("repetition_penalty"), sampling.repetition_penalty},
            {key("seed"), QString::number(sampling.seed)},
            {key("max_tokens"), static_cast<qint64>(sampling.max_tokens)}};
}

engine::SamplingParameters samplingFromJson(const QJsonObject& object) {
    engine::SamplingParameters sampling;
    sampling.temperature = object.value(key("temperature")).toDouble(sampling.temperature);
    sampling.top_k = object.value(key("top_k")).toInteger(sampling.top_k);
    sampling.top_p = object.value(key("top_p")).toDouble(sampling.top_p);
    sampling.min_p = object.value(key("min_p")).toDouble(sampling.min_p);
    sampling.repetition_penalty =
        object.value(key("repetition_penalty")).toDouble(sampling.repetition_penalty);
    bool is_number = false;
    const qint64 seed = object.value(key("seed")).toString().toLongLong(&is_number);
    sampling.seed = is_number ? seed : -1;
    sampling.max_tokens = object.value(key("max_tokens")).toInteger();
    return sampling;
}

} // namespace

QJsonObject turnToJson(const ChatTurn& turn) {
    QJsonObject object{{key("id"), turn.id},
                       {key("role"), roleName(turn.role)},
                       {key("text"), turn.text},
                       {key("time"), timeToText(turn.time)}};
    // What is empty is left out: most turns have little of the following.
    if (!turn.thinking.isEmpty()) {
        object.insert(key("thinking"), turn.thinking);
    }
    if (!turn.attachments.empty()) {
        QJsonArray attachments;
        for (const Attachment& attachment : turn.attachments) {
            attachments.append(attachmentToJson(attachment));
        }
        object.insert(key("attachments"), attachments);
    }
    if (turn.role == engine::Message::Role::Assistant) {
        object.insert(key("finish_reason"), turn.finish_reason);
        object.insert(key("timing"), timingToJson(turn.timing));
        if (turn.drafts.has_value()) {
            object.insert(key("guessed_ahead"), draftReportToJson(*turn.drafts));
        }
        object.insert(key("seed"), QString::number(turn.seed));
        object.insert(key("model"), turn.model);
        object.insert(key("adapters"), adaptersToJson(turn.adapters));
    }
    if (!turn.notes.isEmpty()) {
        object.insert(key("notes"), QJsonArray::fromStringList(turn.notes));
    }
    if (turn.is_cut) {
        object.insert(key("cut"), true);
    }
    if (turn.is_edited) {
        object.insert(key("edited"), true);
    }
    if (turn.thinking_s > 0.0) {
        object.insert(key("thinking_s"), turn.thinking_s);
    }
    if (!turn.versions.empty()) {
        QJsonArray versions;
        for (const auto& version : turn.versions) {
            versions.append(turnsToJson(version));
        }
        object.insert(key("versions"), versions);
        object.insert(key("version"), turn.version);
    }
    return object;
}

ChatTurn turnFromJson(const QJsonObject& object) {
    ChatTurn turn;
    turn.id = object.value(key("id")).toString();
    turn.role = roleFromName(object.value(key("role")).toString());
    turn.text = object.value(key("text")).toString();
    turn.thinking = object.value(key("thinking")).toString();
    for (const auto& value : object.value(key("attachments")).toArray()) {
        turn.attachments.push_back(attachmentFromJson(value.toObject()));
    }
    turn.finish_reason = object.value(key("finish_reason")).toString();
    turn.timing = timingFromJson(object.value(key("timing")).toObject());
    if (const QJsonValue drafts = object.value(key("guessed_ahead")); drafts.isObject()) {
        turn.drafts = draftReportFromJson(drafts.toObject());
    }
    for (const auto& value : object.value(key("notes")).toArray()) {
        turn.notes.append(value.toString());
    }
    turn.seed = object.value(key("seed")).toString().toULongLong();
    turn.time = timeFromText(object.value(key("time")).toString());
    turn.is_cut = object.value(key("cut")).toBool();
    turn.is_edited = object.value(key("edited")).toBool();
    turn.model = object.value(key("model")).toString();
    turn.adapters = adaptersFromJson(object.value(key("adapters")).toArray());
    turn.thinking_s = object.value(key("thinking_s")).toDouble();
    for (const auto& value : object.value(key("versions")).toArray()) {
        std::vector<ChatTurn> version = turnsFromJson(value.toArray());
        if (!version.empty()) {
            turn.versions.push_back(std::move(version));
        }
    }
    turn.version =
        std::clamp(object.value(key("version")).toInt(), 0, static_cast<int>(turn.versions.size()));
    return turn;
}

QJsonArray draftsToJson(const ChatDrafts& drafts) {
    QList<QString> ids = drafts.keys();
    std::stable_sort(ids.begin(), ids.end(), [&](const QString& a, const QString& b) {
        return drafts[a].changed_ms < drafts[b].changed_ms;
    });
    QJsonArray array;
    for (const QString& id : ids) {
        const ChatDraft& draft = drafts[id];
        QJsonObject object = draftToJson(draft.message);
        object.insert(key("chat"), id);
        object.insert(key("changed_ms"), draft.changed_ms);
        if (!draft.edited_turn.isEmpty()) {
            object.insert(key("edited_turn"), draft.edited_turn);
            object.insert(key("edit"), draftToJson(draft.edit));
        }
        array.append(object);
    }
    return array;
}

ChatDrafts draftsFromJson(const QJsonArray& array) {
    ChatDrafts drafts;
    for (const auto& value : array) {
        const QJsonObject object = value.toObject();
        ChatDraft draft;
        draft.message = draftFromJson(object);
        draft.edited_turn = object.value(key("edited_turn")).toString();
        draft.edit = draftFromJson(object.value(key("edit")).toObject());
        draft.changed_ms = object.value(key("changed_ms")).toInteger();
        if (!draft.isEmpty()) {
            drafts.insert(object.value(key("chat")).toString(), draft);
        }
    }
    return drafts;
}

QJsonArray turnsToJson(const std::vector<ChatTurn>& turns) {
    QJsonArray array;
    for (const ChatTurn& turn : turns) {
        array.append(turnToJson(turn));
    }
    return array;
}

std::vector<ChatTurn> turnsFromJson(const QJsonArray& array) {
    std::vector<ChatTurn> turns;
    turns.reserve(static_cast<size_t>(array.size()));
    for (const auto& value : array) {
        turns.push_back(turnFromJson(value.toObject()));
    }
    return turns;
}

QJsonObject settingsToJson(const ChatDocument& chat) {
    QJsonObject object{{key("system_prompt"), chat.system_prompt},
                       {key("sampling"), samplingToJson(chat.sampling)},
                       {key("thinking"), chat.is_thinking},
                       {key("image_tokens"), chat.image_tokens},
                       {key("model"), chat.model},
                       {key("adapters"), adaptersToJson(chat.adapters)}};
    if (!chat.uses_drafts) {
        object.insert(key("uses_drafts"), false);
    }
    return object;
}

void settingsFromJson(const QJsonObject& object, ChatDocument& chat) {
    chat.system_prompt = object.value(key("system_prompt")).toString();
    chat.sampling = samplingFromJson(object.value(key("sampling")).toObject());
    chat.is_thinking = object.value(key("thinking")).toBool();
    chat.image_tokens = object.value(key("image_tokens")).toInteger();
    chat.uses_drafts = object.value(key("uses_drafts")).toBool(true);
    chat.model = object.value(key("model")).toString();
    chat.adapters = adaptersFromJson(object.value(key("adapters")).toArray());
}

QJsonObject chatToJson(const ChatDocument& chat) {
    QJsonObject object{{key("format"), QStringLiteral("belfry-chat")},
                       {key("version"), kVersion},
                       {key("id"), chat.id},
                       {key("title"), chat.title},
                       {key("title_set_by_user"), chat.is_title_set_by_user},
                       {key("created"), timeToText(chat.created)},
                       {key("modified"), timeToText(chat.modified)},
                       {key("turns"), turnsToJson(chat.turns)}};
    const QJsonObject settings = settingsToJson(chat);
    for (auto entry = settings.begin(); entry != settings.end(); ++entry) {
        object.insert(entry.key(), entry.value());
    }
    return object;
}

std::optional<ChatDocument> chatFromJson(const QJsonObject& object) {
    if (object.value(key("format")).toString() != QLatin1String("belfry-chat") ||
        object.value(key("version")).toInt() != kVersion) {
        return std::nullopt;
    }
    ChatDocument chat;
    chat.id = object.value(key("id")).toString();
    chat.title = object.value(key("title")).toString();
    chat.is_title_set_by_user = object.value(key("title_set_by_user")).toBool();
    chat.created = timeFromText(object.value(key("created")).toString());
    chat.modified = timeFromText(object.value(key("modified")).toString());
    settingsFromJson(object, chat);
    chat.turns = turnsFromJson(object.value(key("turns")).toArray());
    return chat;
}

} // namespace ui
