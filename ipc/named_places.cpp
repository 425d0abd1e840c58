// SPDX-License-Identifier: Apache-2.0
#include "ipc/named_places.h"

namespace ipc {

NamedPlaces namedBy(const engine::LoadRequest& request) {
    NamedPlaces places;
    places.folders = {request.model, request.projector, request.draft};
    for (const engine::AdapterChoice& adapter : request.adapters) {
        places.folders.push_back(adapter.folder);
    }
    places.cache = request.cache_folder;
    return places;
}

NamedPlaces namedBy(const engine::MessagePart& part) {
    return part.kind == engine::MessagePart::Kind::Text ? NamedPlaces()
                                                        : NamedPlaces{{}, {part.text}, {}};
}

NamedPlaces namedBy(const engine::GenerateRequest& request) {
    NamedPlaces places;
    for (const engine::Message& message : request.messages) {
        for (const engine::MessagePart& part : message.parts) {
            if (part.kind != engine::MessagePart::Kind::Text) {
                places.media.push_back(part.text);
            }
        }
    }
    return places;
}

NamedPlaces namedBy(const Inspect& call) {
    NamedPlaces places;
    places.folders = call.adapters;
    places.folders.push_back(call.model);
    return places;
}

NamedPlaces namedBy(const SetAdapters& call) {
    NamedPlaces places;
    for (const engine::AdapterChoice& adapter : call.adapters) {
        places.folders.push_back(adapter.folder);
    }
    return places;
}

NamedPlaces namedBy(const CheckMedia& call) {
    NamedPlaces places;
    places.folders = {call.model};
    places.media = call.images;
    places.media.insert(places.media.end(), call.audios.begin(), call.audios.end());
    return places;
}

} // namespace ipc
