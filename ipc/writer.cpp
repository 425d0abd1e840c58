// SPDX-License-Identifier: Apache-2.0
#include "ipc/writer.h"

#include "engine/base/utf8.h"

#include "ipc/sentence_fields.h"

namespace ipc {

void Writer::putLength(size_t length) {
    put(static_cast<uint32_t>(length)); // a longer frame is refused as a whole (frame.h)
}

void Writer::putBytes(const std::string& bytes) {
    putLength(bytes.size());
    out_ += bytes;
}

void Writer::put(const std::string& text) {
    if (engine::isValidUtf8(text)) {
        putBytes(text);
        return;
    }
    std::string clean;
    for (size_t at = 0; at < text.size();) {
        const size_t length = engine::utf8SequenceLength(text, at);
        clean += length == 0 ? std::string_view("\xef\xbf\xbd")
                             : std::string_view(text).substr(at, length);
        at += length == 0 ? 1 : length;
    }
    putBytes(clean);
}

void Writer::put(const engine::Sentence& sentence) {
    put(std::string(sentence.pattern));
    put(sentence.arguments);
}

void Writer::put(const engine::Argument& argument) {
    put(argument.value);
}

} // namespace ipc
