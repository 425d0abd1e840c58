// SPDX-License-Identifier: Apache-2.0
// What the user should know of a reply, as values, each a kind of its own. Words:
// engine/run/reply_english.h for the command line, the window in its own languages.
#pragma once

#include "engine/api/sentence.h"

#include <cstdint>
#include <string>
#include <variant>

namespace engine {

namespace reply_note {

/// The recording declares more bytes of sound than it has.
struct SoundCutShort {
    std::string format; ///< "WAV", "MP3", ...
    uint64_t declared = 0, found = 0;
};
/// It declares more seconds than could be decoded.
struct SoundEndsEarly {
    std::string format;
    double declared_s = 0.0, found_s = 0.0;
};
/// An Ogg recording that ends inside a page.
struct OggCutShort {};
/// The decoder of a picture met something odd and went on.
struct PictureFlaw {
    std::string finding; ///< In the words of the library.
};
/// The weight cache was damaged while in use: `count` weights are made from the model files.
struct CacheLost {
    int count = 0;
    std::string last; ///< By name.
};
/// The folder's chat template, in the file `where`, cannot be compared with the prompt in use.
struct TemplateUnreadable {
    std::string where;
    Sentence why;
};
/// It would write this conversation otherwise; the pieces where both part, in quotes.
struct TemplateDiffers {
    std::string where, theirs, used;
};

/// A server ended the reply for a reason of its own ("content_filter", "repetition", ...).
struct EndedByServer {
    std::string reason;
};
/// It asks for a tool, which nothing here runs.
struct ToolAsked {
    std::string name, arguments;
};

} // namespace reply_note

using ReplyNoteKinds = std::variant<reply_note::SoundCutShort,
                                    reply_note::SoundEndsEarly,
                                    reply_note::OggCutShort,
                                    reply_note::PictureFlaw,
                                    reply_note::CacheLost,
                                    reply_note::TemplateUnreadable,
                                    reply_note::TemplateDiffers,
                                    reply_note::EndedByServer,
                                    reply_note::ToolAsked>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct ReplyNote : ReplyNoteKinds {
    using ReplyNoteKinds::ReplyNoteKinds;
    ReplyNote();
    ReplyNote(const ReplyNote&);
    ReplyNote(ReplyNote&&) noexcept;
    ReplyNote& operator=(const ReplyNote&);
    ReplyNote& operator=(ReplyNote&&) noexcept;
    ~ReplyNote();
    friend bool operator==(const ReplyNote&, const ReplyNote&) = delete;
    friend bool operator<(const ReplyNote&, const ReplyNote&) = delete;
};

} // namespace engine
