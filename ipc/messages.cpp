// SPDX-License-Identifier: Apache-2.0
#include "ipc/messages.h"

#include "ipc/message_fields.h"

namespace ipc {

template <typename T>
std::string encode(const T& value) {
    Writer writer;
    writer(value);
    return std::move(writer).take();
}

template <typename T>
bool decode(std::string_view bytes, T& value, std::string& why) {
    Reader reader(bytes);
    reader(value);
    if (!reader.isDone()) {
        why = reader.wrong();
    }
    return reader.isDone();
}

#define IPC_PAYLOAD(...)                                                                           \
    template std::string encode(const __VA_ARGS__&);                                               \
    template bool decode(std::string_view, __VA_ARGS__&, std::string&);
IPC_EACH(IPC_PAYLOAD,
         Hello,
         Inspect,
         Load,
         Unload,
         ApplyMap,
         SetAdapters,
         AdapterEffect,
         Generate,
         Logits,
         EncodeAhead,
         CheckMedia,
         MediaCost,
         Status)
IPC_EACH(IPC_PAYLOAD,
         Answer<Nothing>,
         Answer<Welcome>,
         Answer<engine::ModelSummary>,
         Answer<engine::AdapterSummary::Effect>,
         Answer<engine::Reply>,
         Answer<engine::LogitsResult>,
         Answer<engine::MediaCost>,
         Answer<std::vector<engine::DeviceMemory>>,
         engine::ReplyUpdate,
         engine::LoadProgressValue,
         Step)

} // namespace ipc
