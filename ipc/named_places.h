// SPDX-License-Identifier: Apache-2.0
// The places that a call names: what the engine's process may read and write for it, and no more.
#pragma once

#include <string>
#include <vector>

#include "ipc/messages.h"

namespace ipc {

struct NamedPlaces {
    std::vector<std::string> folders; ///< Models, adapters, assistants: also of later calls.
    std::vector<std::string> media;   ///< Files of this call.
    std::string cache;                ///< A folder that is written; empty: none.
};

NamedPlaces namedBy(const engine::LoadRequest& request);
NamedPlaces namedBy(const engine::MessagePart& part);
NamedPlaces namedBy(const engine::GenerateRequest& request);
NamedPlaces namedBy(const Inspect& call);
NamedPlaces namedBy(const SetAdapters& call);
NamedPlaces namedBy(const CheckMedia& call);
inline NamedPlaces namedBy(const Load& call) {
    return namedBy(call.request);
}
inline NamedPlaces namedBy(const Generate& call) {
    return namedBy(call.request);
}
inline NamedPlaces namedBy(const Logits& call) {
    return namedBy(call.request);
}
inline NamedPlaces namedBy(const EncodeAhead& call) {
    return namedBy(call.part);
}
inline NamedPlaces namedBy(const MediaCost& call) {
    return namedBy(call.part);
}
inline NamedPlaces namedBy(const AdapterEffect& call) {
    return {{call.folder}, {}, {}};
}
inline NamedPlaces namedBy(const Unload& /*call*/) {
    return {};
}
inline NamedPlaces namedBy(const ApplyMap& /*call*/) {
    return {};
}
inline NamedPlaces namedBy(const Status& /*call*/) {
    return {};
}

} // namespace ipc
