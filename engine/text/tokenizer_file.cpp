// SPDX-License-Identifier: Apache-2.0
// The handler behind the shared JSON reader. vocab and merges hold almost all of the 32 MB, so
// their events go straight into flat lists; the few other values become a small tree.
#include "engine/text/tokenizer_file.h"

#include "engine/text/tokenizer.h"

#include <algorithm>
#include <charconv>

namespace engine::text {

Error tokenizerError(ErrorCode code, std::string_view rule, const Sentence& what) {
    return Error{code,
                 said("tokenizer.json: %1", what),
                 {{"rule", std::string(rule)}, {"file", "tokenizer.json"}}};
}

std::string quoteToken(std::string_view token) {
    constexpr size_t kShown = 48;
    constexpr std::string_view kHex = "0123456789abcdef";
    size_t size = std::min(token.size(), kShown);
    while (size > 0 && size < token.size() &&
           (static_cast<uint8_t>(token[size]) & 0xc0U) == 0x80U) {
        --size; // not in the middle of a character
    }
    std::string out = "\"";
    for (const char c : token.substr(0, size)) {
        const auto byte = static_cast<uint8_t>(c);
        if (byte < 0x20U || byte == 0x7fU) {
            out += "\\x";
            out += kHex[byte >> 4];
            out += kHex[byte & 15U];
        } else {
            out += c;
        }
    }
    out += size < token.size() ? "...\"" : "\"";
    return out;
}

int32_t parseTokenId(std::string_view literal) {
    int32_t id = -1;
    const char* const end = literal.data() + literal.size();
    const auto [stop, status] = std::from_chars(literal.data(), end, id);
    const bool is_plain = status == std::errc{} && stop == end && literal.front() != '-';
    return is_plain && static_cast<size_t>(id) < kMaxTokens ? id : -1;
}

namespace {

class FileHandler : public JsonHandler {
public:
    explicit FileHandler(TokenizerFile& file) : file_(file), tree_(file.root, {}) {}

    [[nodiscard]] const Error& error() const { return error_; }

    bool onObjectBegin() override {
        if (place_ == Place::Tree && isModelMember("vocab")) {
            place_ = Place::Vocab;
            file_.has_vocab = true;
            return isWithinLimit() && tree_.onObjectBegin() && tree_.onObjectEnd();
        }
        if (place_ != Place::Tree) {
            return wrongItem(phrase("an object"));
        }
        return isWithinLimit() && tree_.onObjectBegin();
    }

    bool onObjectEnd() override {
        if (place_ == Place::Vocab) {
            place_ = Place::Tree;
            return true;
        }
        return tree_.onObjectEnd();
    }

    bool onArrayBegin() override {
        if (place_ == Place::Tree && isModelMember("merges")) {
            place_ = Place::Merges;
            file_.has_merges = true;
            return isWithinLimit() && tree_.onArrayBegin() && tree_.onArrayEnd();
        }
        if (place_ == Place::Tree && isModelMember("vocab")) {
            return fail("TK17", said("model.vocab is an array, as other kinds of tokenizer write "
                                     "it; expected an object of tokens and ids"));
        }
        if (place_ == Place::Merges) {
            place_ = Place::Pair;
            num_pair_strings_ = 0;
            return true;
        }
        if (place_ != Place::Tree) {
            return wrongItem(phrase("an array"));
        }
        return isWithinLimit() && tree_.onArrayBegin();
    }

    bool onArrayEnd() override {
        if (place_ == Place::Pair) {
            place_ = Place::Merges;
            if (num_pair_strings_ != 2) {
                return wrongItem(said("an array of %1 strings", num_pair_strings_));
            }
            return true;
        }
        if (place_ == Place::Merges) {
            place_ = Place::Tree;
            return true;
        }
        return tree_.onArrayEnd();
    }

    bool onKey(std::string_view key) override {
        if (place_ == Place::Vocab) {
            return beginVocabEntry(key);
        }
        const Json& object = tree_.innermost();
        if (object.find(key) != nullptr) {
            return fail("TK03", said("the member %1 occurs twice", quoteToken(key)));
        }
        if (object.members.size() >= kMaxMembers) {
            return fail("TK02", said("an object has more than %1 members", kMaxMembers));
        }
        if (tree_.depth() == 1) {
            root_key_.assign(key);
        }
        return tree_.onKey(key);
    }

    bool onString(std::string_view value) override {
        if (place_ == Place::Pair) {
            return addPairString(value);
        }
        if (place_ == Place::Merges) {
            const size_t space = value.find(' ');
            if (space == std::string_view::npos ||
                value.find(' ', space + 1) != std::string_view::npos) {
                return wrongItem(
                    said("the string %1 (two tokens with one space between)", quoteToken(value)));
            }
            num_pair_strings_ = 0;
            return addPairString(value.substr(0, space)) && addPairString(value.substr(space + 1));
        }
        if (place_ == Place::Vocab) {
            return wrongItem(phrase("a string"));
        }
        return isWithinLimit() && tree_.onString(value);
    }

    bool onNumber(std::string_view literal) override {
        if (place_ == Place::Vocab) {
            auto& entry = file_.vocab.back();
            entry.id = parseTokenId(literal);
            if (entry.id < 0) {
                return fail(
                    "TK17",
                    said("model.vocab: the id of %1 is %2, expected a whole number from 0 to %3",
                         quoteToken(file_.tokenOf(entry)), quoteToken(literal), kMaxTokens - 1));
            }
            return true;
        }
        if (place_ != Place::Tree) {
            return wrongItem(phrase("a number"));
        }
        return isWithinLimit() && tree_.onNumber(literal);
    }

    bool onBool(bool value) override {
        if (place_ != Place::Tree) {
            return wrongItem(asItIs(value ? "true" : "false"));
        }
        return isWithinLimit() && tree_.onBool(value);
    }

    bool onNull() override {
        if (place_ != Place::Tree) {
            return wrongItem(phrase("null"));
        }
        return isWithinLimit() && tree_.onNull();
    }

private:
    enum class Place { Tree = 1, Vocab, Merges, Pair };

    bool fail(std::string_view rule, const Sentence& what) {
        error_ = tokenizerError(ErrorCode::InvalidFile, rule, what);
        return false;
    }

    bool wrongItem(const Sentence& found) {
        if (place_ == Place::Vocab) {
            return fail("TK17", said("model.vocab: the id of %1 is %2, expected a whole number",
                                     quoteToken(file_.tokenOf(file_.vocab.back())), found));
        }
        return fail("TK18", said("model.merges: entry %1 holds %2, expected two strings",
                                 file_.merges.size(), found));
    }

    /// True when the value about to begin is the member `name` of the top-level member "model".
    [[nodiscard]] bool isModelMember(std::string_view name) const {
        return tree_.depth() == 2 && root_key_ == "model" &&
               tree_.innermost().is(Json::Kind::Object) && tree_.key() == name;
    }

    /// Counts a value that is about to be added to the tree.
    bool isWithinLimit() {
        return ++num_nodes_ <= kMaxNodes ||
               fail("TK02", said("more than %1 values outside of the vocabulary and the merges",
                                 kMaxNodes));
    }

    bool beginVocabEntry(std::string_view token) {
        if (token.empty() || token.size() > kMaxTokenBytes) {
            return fail("TK16", said("model.vocab: the token %1 has %2 bytes, expected 1 to %3",
                                     quoteToken(token), token.size(), kMaxTokenBytes));
        }
        if (file_.vocab.size() >= kMaxTokens) {
            return fail("TK02", said("model.vocab has more than %1 entries", kMaxTokens));
        }
        file_.vocab.push_back(
            {static_cast<uint32_t>(file_.bytes.size()), static_cast<uint32_t>(token.size()), -1});
        file_.bytes.append(token);
        return true;
    }

    bool addPairString(std::string_view token) {
        if (token.empty() || token.size() > kMaxTokenBytes) {
            return fail("TK18",
                        said("model.merges: entry %1 names a token of %2 bytes, expected 1 to %3",
                             file_.merges.size(), token.size(), kMaxTokenBytes));
        }
        const auto length = static_cast<uint16_t>(token.size());
        if (num_pair_strings_ == 0) {
            if (file_.merges.size() >= kMaxMerges) {
                return fail("TK02", said("model.merges has more than %1 entries", kMaxMerges));
            }
            pair_ = {static_cast<uint32_t>(file_.bytes.size()), length, 0};
        } else if (num_pair_strings_ == 1) {
            pair_.right_length = length;
            file_.merges.push_back(pair_);
        } else {
            return fail("TK18", said("model.merges: entry %1 holds more than two strings",
                                     file_.merges.size() - 1));
        }
        file_.bytes.append(token);
        ++num_pair_strings_;
        return true;
    }

    TokenizerFile& file_;
    Error error_;
    Place place_ = Place::Tree;
    JsonTreeBuilder tree_;
    std::string root_key_; ///< Last member name at the top level.
    size_t num_nodes_ = 0;
    TokenizerFile::MergeEntry pair_;
    int num_pair_strings_ = 0;
};

} // namespace

Result<TokenizerFile> readTokenizerFile(std::string_view json) {
    if (json.size() > maxTextBytes(ModelText::Tokenizer)) {
        return tokenizerError(ErrorCode::InvalidFile, "TK01",
                              said("the file has %1 bytes, at most %2 are read", json.size(),
                                   maxTextBytes(ModelText::Tokenizer)));
    }
    TokenizerFile file;
    file.bytes.reserve(json.size() / 3);
    FileHandler handler(file);
    JsonLimits limits;
    const JsonOutcome outcome = readJson(json, limits, handler);
    if (outcome.stop == JsonStop::Handler) {
        return handler.error();
    }
    if (outcome.stop != JsonStop::Done) {
        std::string_view rule = "TK01";
        if (outcome.stop == JsonStop::InvalidUtf8) {
            rule = "TK04";
        } else if (outcome.stop == JsonStop::TooDeep || outcome.stop == JsonStop::StringTooLong) {
            rule = "TK02";
        }
        return tokenizerError(
            ErrorCode::InvalidFile, rule,
            said("not valid JSON: %1 (at byte %2)", outcome.detail, outcome.offset));
    }
    if (!file.root.is(Json::Kind::Object)) {
        return tokenizerError(ErrorCode::InvalidFile, "TK05",
                              said("expected an object at the top level"));
    }
    return file;
}

} // namespace engine::text
