// SPDX-License-Identifier: Apache-2.0
// Something odd about a model's files that is accepted, or what keeps it from loading, as values,
// each a kind of its own. Words: engine/files/oddity_english.h for the command line, the window in
// its own languages.
#pragma once

#include "engine/api/sentence.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace engine {

namespace odd {

/// A member of config.json or a file beside it.
struct ConfigMember {
    enum class Kind : uint8_t {
        NoArchitecture = 1, ///< Missing; taken as `value`.
        NotResized,         ///< Pictures are resized all the same.
        NotRight,           ///< Recordings are padded on the right.
        EndsSliding,        ///< The last layer is always a full one.
        OneRope,            ///< Without members per layer type: taken for the full layers.
        LeftOut,            ///< `value`, which has no meaning there, is not used.
        TakenAs,            ///< Out of its range; taken as `value`.
        NotRun,             ///< `value`, which would change the text in transformers.
    };
    Kind kind = Kind::NoArchitecture;
    std::string file, member = {}; ///< The member with the sections it is in.
    std::string value = {};        ///< In English, or as JSON has it.
};
/// Weights are not there; config.json says which of them are packed.
struct PackedByConfig {};

/// The stored head stands for the token table, which the files do not name.
struct HeadIsTable {
    std::string head;
};
/// A head of its own; whether config.json says that there is none.
struct OwnHead {
    std::string head;
    bool is_denied = false;
};

/// The chat template of `where` is none of Gemma 4; `marks` are those of its turns.
struct ForeignTemplate {
    std::string where, marks;
};
/// A further template, which is not used.
struct FurtherTemplate {
    std::string where;
};
/// Its file cannot be read.
struct TemplateUnread {
    Sentence why; ///< An error's message.
};

/// Files that hold only their headers; the first of `count`.
struct NoWeights {
    std::vector<std::string> files;
    size_t count = 0;
};
/// Weights that cannot be opened.
struct WeightsUnread {
    Sentence why; ///< An error's message.
};
/// A member of a tensor in a header that is not known.
struct HeaderMember {
    std::string file, tensor, member;
};
struct MoreHeaderMembers {
    std::string file;
    size_t count = 0;
};
/// A tensor of an element type that is not read.
struct ElementType {
    std::string file, tensor, type;
};
/// metadata.total_size of the index is no number.
struct NoTotalSize {
    std::string index;
};
struct OtherTotalSize {
    std::string index;
    uint64_t told = 0, found = 0;
};
/// Tensors that the index does not name; the first of `count`.
struct UnnamedTensors {
    std::string index;
    std::vector<std::string> tensors = {};
    size_t count = 0;
};
/// One file of weights and the index of several.
struct SingleFileUsed {};

/// A load of these headers would fail.
struct LoadWouldFail {
    Sentence why; ///< An error's message.
};
struct LoadWouldFailAtMore {
    size_t count = 0;
};

/// A post-processor that is not applied to raw text.
struct PostProcessor {
    std::string type; ///< As the file has it.
};
/// A member of tokenizer.json without effect.
struct TokenizerMember {
    std::string member; ///< Quoted.
};
/// tokenizer.json is bad: a load would refuse it.
struct TokenizerRefused {
    Sentence why; ///< An error's message.
};
struct NoTokenizer {};
/// generation_config.json cannot be read: the family's own defaults count.
struct DefaultsUnread {
    Sentence why; ///< An error's message.
};
/// A token flagged "special" that ordinary text becomes, and which counts as a word.
struct SpellableToken {
    std::string token; ///< Quoted.
};

} // namespace odd

using ModelOddityKinds = std::variant<odd::ConfigMember,
                                      odd::PackedByConfig,
                                      odd::HeadIsTable,
                                      odd::OwnHead,
                                      odd::ForeignTemplate,
                                      odd::FurtherTemplate,
                                      odd::TemplateUnread,
                                      odd::NoWeights,
                                      odd::WeightsUnread,
                                      odd::HeaderMember,
                                      odd::MoreHeaderMembers,
                                      odd::ElementType,
                                      odd::NoTotalSize,
                                      odd::OtherTotalSize,
                                      odd::UnnamedTensors,
                                      odd::SingleFileUsed,
                                      odd::LoadWouldFail,
                                      odd::LoadWouldFailAtMore,
                                      odd::PostProcessor,
                                      odd::TokenizerMember,
                                      odd::TokenizerRefused,
                                      odd::NoTokenizer,
                                      odd::DefaultsUnread,
                                      odd::SpellableToken>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct ModelOddity : ModelOddityKinds {
    using ModelOddityKinds::ModelOddityKinds;
    ModelOddity();
    ModelOddity(const ModelOddity&);
    ModelOddity(ModelOddity&&) noexcept;
    ModelOddity& operator=(const ModelOddity&);
    ModelOddity& operator=(ModelOddity&&) noexcept;
    ~ModelOddity();
    friend bool operator==(const ModelOddity&, const ModelOddity&) = delete;
    friend bool operator<(const ModelOddity&, const ModelOddity&) = delete;
};

} // namespace engine
