// SPDX-License-Identifier: Apache-2.0
// What the pages Library and Get a model show of a computer that has seen something: one of
// everything that there is to be said.
#pragma once

#include "ui/library/hub_values.h"
#include "ui/library/library_values.h"

#include <memory>

namespace support {

inline ui::LibraryItem libraryItem(const char* name, ui::LibraryItem::Fit fit) {
    ui::LibraryItem item;
    item.name = QString::fromLatin1(name);
    item.revision = QStringLiteral("main");
    item.path = QStringLiteral("/home/ada/.cache/huggingface/hub/models--") + item.name;
    item.place = ui::LibraryItem::Place::HubCache;
    item.variant =
        item.name.contains(QStringLiteral("E4B")) ? QStringLiteral("E4B") : QStringLiteral("E2B");
    item.precision = QStringLiteral("bfloat16");
    item.parameters = 5'123'178'979;
    item.bytes = 10'246'357'958;
    item.needs_bytes = 10'900'000'000;
    item.modified = QDateTime(QDate(2026, 11, 3), QTime(12, 0));
    item.fit = fit;
    return item;
}

inline std::shared_ptr<const ui::LibraryContents> libraryContents() {
    using Item = ui::LibraryItem;
    auto contents = std::make_shared<ui::LibraryContents>();
    Item adapter = libraryItem("ada/gemma-4-E2B-latin-verse", Item::Fit::Unknown);
    adapter.kind = Item::Kind::Adapter;
    adapter.base = QStringLiteral("google/gemma-4-E2B-it");
    adapter.rank = 16;
    adapter.bytes = 41'000'000;
    contents->groups.push_back({libraryItem("google/gemma-4-E2B-it", Item::Fit::Fits), {adapter}});
    contents->groups.push_back(
        {libraryItem("google/gemma-4-E4B-it", Item::Fit::FitsWithChange), {}});
    contents->groups.push_back({libraryItem("google/gemma-4-31B-it", Item::Fit::DoesNotFit), {}});
    const auto unusable = [&](const char* name, Item::Reason reason, Item::Place place) {
        Item item = libraryItem(name, Item::Fit::Unknown);
        item.state =
            reason == Item::Reason::FilesMissing ? Item::State::Incomplete : Item::State::Unusable;
        item.reason = reason;
        item.place = place;
        item.problem = engine::asItIs(std::string(name) + ": pytorch_model.bin");
        contents->groups.push_back({item, {}});
    };
    unusable("ada/half", Item::Reason::FilesMissing, Item::Place::HubCache);
    unusable("old/gemma", Item::Reason::Pickle, Item::Place::Folder);
    unusable("lmstudio-community/gemma-4-E4B-it-MLX-4bit", Item::Reason::Mlx,
             Item::Place::LmStudio);
    adapter.name = QStringLiteral("lost/adapter");
    adapter.path = QStringLiteral("/data/lost");
    contents->groups.push_back({std::nullopt, {adapter}});
    contents->gaps.push_back(
        engine::said("%1: did not answer within %2 s and was skipped; if it is a network drive, "
                     "look whether it is connected",
                     "/mnt/nas/models", 3));
    contents->folders = {QStringLiteral("/mnt/nas/models")};
    contents->is_complete = true;
    return contents;
}

inline ui::LibraryRemoval libraryRemoval() {
    ui::LibraryRemoval removal;
    removal.name = QStringLiteral("google/gemma-4-E2B-it");
    removal.folder =
        QStringLiteral("/home/ada/.cache/huggingface/hub/models--google--gemma-4-E2B-it");
    removal.bytes = 10'246'357'958;
    removal.entries = 23;
    removal.is_shared = true;
    removal.kept = {QStringLiteral("notes.txt"), QStringLiteral("measurements")};
    return removal;
}

inline ui::NetworkFacts networkFacts() {
    ui::NetworkFacts facts;
    facts.endpoint = facts.usual_endpoint = QStringLiteral("https://huggingface.co");
    facts.token_place = QStringLiteral("org.belfry.Belfry / hub-token");
    return facts;
}

inline ui::HubOffer hubOffer() {
    ui::HubOffer offer;
    offer.id = QStringLiteral("google/gemma-4-E2B-it");
    offer.revision = QStringLiteral("main");
    offer.commit = QString(40, QLatin1Char('b'));
    offer.folder = QStringLiteral("/home/ada/.cache/huggingface/hub/models--google--gemma-4-E2B-it/"
                                  "snapshots/") +
                   offer.commit;
    offer.files = {
        {QStringLiteral("model-00001-of-00002.safetensors"), 5'000'000'000, 0},
        {QStringLiteral("model-00002-of-00002.safetensors"), 5'246'357'958, 1'200'000'000},
        {QStringLiteral("tokenizer.json"), 33'000'000, 33'000'000},
        {QStringLiteral("config.json"), 4'000, 0}};
    offer.left_out = 3;
    offer.left_out_bytes = 120'000;
    offer.total_bytes = 10'279'361'958;
    offer.present_bytes = 1'233'000'000;
    offer.free_bytes = 210'000'000'000;
    offer.needs = ui::ModelNeeds{true, true, 3'300'000'000, 38.2};
    return offer;
}

inline std::shared_ptr<const ui::Downloads> downloads() {
    using State = ui::Download::State;
    auto all = std::make_shared<ui::Downloads>();
    const auto add = [&](const char* id, State state, quint64 done) -> ui::Download& {
        ui::Download download;
        download.number = all->size() + 1;
        download.id = QString::fromLatin1(id);
        download.state = state;
        download.total_bytes = 10'279'361'958;
        download.done_bytes = done;
        all->push_back(download);
        return all->back();
    };
    ui::Download& running = add("google/gemma-4-E2B-it", State::Fetching, 4'100'000'000);
    running.bytes_per_s = 88'000'000;
    running.seconds_left = 71;
    add("google/gemma-4-E4B-it", State::Paused, 900'000'000);
    ui::Download& failed = add("ada/private-model", State::Failed, 0);
    failed.error = engine::Error{engine::ErrorCode::InvalidRequest,
                                 engine::said("%1 is not answered", "ada/private-model"),
                                 {{"rule", "HubToken"}}};
    add("ada/done", State::Done, 10'279'361'958);
    return all;
}

} // namespace support
