// SPDX-License-Identifier: Apache-2.0
// Any bytes as what the engine's process says to the window, or the window to it: a value or a
// refusal, and a value that can be told again. The first byte chooses the kind of value. With an
// odd second byte the rest are changes to a value of that kind, three bytes each (place, place,
// byte), so that what lies deep inside is met without a seed.
#include "tests/fuzz/require.h"
#include "tests/ipc/filler.h"

#include <string>
#include <string_view>

using fuzz::require;

namespace {

template <typename T>
void tryValue(std::string_view bytes, bool is_changes, uint8_t number) {
    std::string changed;
    if (is_changes) {
        T value{};
        filling::Filler filler(number);
        filler(value);
        changed = ipc::encode(value);
        for (size_t at = 0; at + 2 < bytes.size() && !changed.empty(); at += 3) {
            const auto place = static_cast<size_t>(static_cast<uint8_t>(bytes[at])) << 8U |
                               static_cast<uint8_t>(bytes[at + 1]);
            changed[place % changed.size()] = bytes[at + 2];
        }
        bytes = changed;
    }
    T value{};
    std::string why;
    if (!ipc::decode(bytes, value, why)) {
        require(!why.empty());
        return;
    }
    T again{};
    require(ipc::decode(ipc::encode(value), again, why));
}

void cutFrames(std::string_view bytes, size_t piece) {
    ipc::FrameCutter cutter;
    size_t taken = 0;
    for (size_t at = 0; at < bytes.size(); at += piece) {
        if (!cutter.feed(bytes.substr(at, piece))) {
            return;
        }
        while (cutter.hasFrame()) {
            taken += ipc::kFrameHead + cutter.take().payload.size();
        }
    }
    require(taken <= bytes.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3) {
        return 0;
    }
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
    const bool is_changes = data[1] % 2 == 1;
    switch (data[0] % 12) {
    case 0:
        tryValue<ipc::Answer<engine::Reply>>(bytes, is_changes, data[2]);
        break;
    case 1:
        tryValue<ipc::Answer<engine::ModelSummary>>(bytes, is_changes, data[2]);
        break;
    case 2:
        tryValue<ipc::Answer<engine::AdapterSummary::Effect>>(bytes, is_changes, data[2]);
        break;
    case 3:
        tryValue<ipc::Answer<engine::LogitsResult>>(bytes, is_changes, data[2]);
        break;
    case 4:
        tryValue<ipc::Answer<ipc::Nothing>>(bytes, is_changes, data[2]);
        break;
    case 5:
        tryValue<ipc::Answer<ipc::Welcome>>(bytes, is_changes, data[2]);
        break;
    case 6:
        tryValue<engine::ReplyUpdate>(bytes, is_changes, data[2]);
        break;
    case 7:
        tryValue<ipc::Step>(bytes, is_changes, data[2]);
        break;
    case 8:
        tryValue<ipc::Generate>(bytes, is_changes, data[2]);
        break;
    case 9:
        tryValue<ipc::Load>(bytes, is_changes, data[2]);
        break;
    case 10:
        tryValue<ipc::SetAdapters>(bytes, is_changes, data[2]);
        break;
    default:
        cutFrames(bytes, 1 + data[2]);
        break;
    }
    return 0;
}
