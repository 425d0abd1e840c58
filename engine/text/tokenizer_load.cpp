// SPDX-License-Identifier: Apache-2.0
// The rules of a tokenizer.json, each with its own refusal. Encoding relies on them: every id in
// range, every merge complete, all byte tokens there.
#include "engine/text/tokenizer_load.h"

#include "engine/base/sentence_english.h"

#include <algorithm>

namespace engine::text {

namespace {

constexpr std::string_view kSpaceSignText = "\xe2\x96\x81";

Error invalid(std::string_view rule, const Sentence& what) {
    return tokenizerError(ErrorCode::InvalidFile, rule, what);
}

Error unsupported(std::string_view rule, const Sentence& what) {
    return tokenizerError(ErrorCode::Unsupported, rule, what);
}

/// "null", "type \"NFKC\"", ... for messages about a member that should be something else.
Sentence describe(const Json& node) {
    switch (node.kind) {
    case Json::Kind::Null:
        return phrase("null");
    case Json::Kind::Bool:
        return asItIs(node.boolean ? "true" : "false");
    case Json::Kind::Number:
        return asItIs(quoteToken(node.text));
    case Json::Kind::String:
        return said("the string %1", quoteToken(node.text));
    case Json::Kind::Array:
        return phrase("an array");
    case Json::Kind::Object:
        break;
    }
    const Json* type = node.find("type");
    if (type != nullptr && type->is(Json::Kind::String)) {
        return said("type %1", quoteToken(type->text));
    }
    return phrase("an object without a type");
}

/// Describes a member that may be missing.
Sentence describe(const Json* node) {
    return node == nullptr ? phrase("none") : describe(*node);
}

bool hasNumMembers(const Json& node, size_t count) {
    return node.is(Json::Kind::Object) && node.members.size() == count;
}

bool isMemberString(const Json& node, std::string_view name, std::string_view value) {
    const Json* member = node.find(name);
    return member != nullptr && member->isString(value);
}

/// {"String": value}
bool isStringPattern(const Json* node, std::string_view value) {
    return node != nullptr && hasNumMembers(*node, 1) && isMemberString(*node, "String", value);
}

/// {"type": "Replace", "pattern": {"String": from}, "content": to}
bool isReplace(const Json& node, std::string_view from, std::string_view to) {
    return hasNumMembers(node, 3) && isMemberString(node, "type", "Replace") &&
           isStringPattern(node.find("pattern"), from) && isMemberString(node, "content", to);
}

/// The decoder says how the vocabulary is spelled.
bool isByteLevel(const Json& root) {
    const Json* decoder = root.find("decoder");
    return decoder != nullptr && isMemberString(*decoder, "type", "ByteLevel");
}

Result<void> readNormalizer(const Json& root, Tokenizer::Data& data) {
    const Json* node = root.find("normalizer");
    if (isByteLevel(root)) {
        return node == nullptr || node->is(Json::Kind::Null)
                   ? Result<void>()
                   : unsupported("TK07",
                                 said("normalizer: expected none in a byte-level file, found %1",
                                      describe(*node)));
    }
    const Json* steps = node == nullptr ? nullptr : node->find("normalizers");
    data.has_space_prefix = steps != nullptr && steps->items.size() == 2 &&
                            isMemberString(*node, "type", "Sequence") &&
                            isMemberString(steps->items[0], "type", "Prepend") &&
                            isMemberString(steps->items[0], "prepend", kSpaceSignText);
    const Json* replace = data.has_space_prefix ? &steps->items[1] : node;
    if (replace == nullptr || !isReplace(*replace, " ", kSpaceSignText)) {
        return unsupported("TK07", said("normalizer: expected Replace of a space by U+2581, alone "
                                        "or behind Prepend of one, found %1",
                                        describe(node)));
    }
    return {};
}

bool isFlag(const Json& node, std::string_view name, bool value, bool otherwise) {
    const Json* member = node.find(name);
    return member == nullptr ? value == otherwise
                             : member->is(Json::Kind::Bool) && member->boolean == value;
}

/// One step of a byte-level file's pre_tokenizer; ByteLevel is the last one. False: not known.
bool addWordRule(const Json& step, bool is_last, std::vector<WordRule>& rules) {
    if (isMemberString(step, "type", "ByteLevel")) {
        if (isFlag(step, "use_regex", true, true)) {
            rules.push_back(WordRule::Gpt2);
        }
        return is_last && isFlag(step, "add_prefix_space", false, true);
    }
    if (isMemberString(step, "type", "Digits")) {
        rules.push_back(isFlag(step, "individual_digits", true, false) ? WordRule::Digit
                                                                       : WordRule::Digits);
        return !is_last;
    }
    const Json* pattern = step.find("pattern");
    const Json* regex = pattern == nullptr ? nullptr : pattern->find("Regex");
    const std::optional<WordRule> rule = regex == nullptr ? std::nullopt : wordRuleOf(regex->text);
    rules.push_back(rule.value_or(WordRule::Gpt2));
    return !is_last && rule && isMemberString(step, "type", "Split") &&
           isMemberString(step, "behavior", "Isolated") && isFlag(step, "invert", false, false);
}

Result<std::vector<WordRule>> readWordRules(const Json& root) {
    constexpr size_t kMostSteps = 8; // published files have up to three
    const Json* node = root.find("pre_tokenizer");
    const Json* steps = node != nullptr && isMemberString(*node, "type", "Sequence")
                            ? node->find("pretokenizers")
                            : nullptr;
    const Json* begin = steps == nullptr ? node : steps->items.data();
    const size_t count = steps != nullptr ? steps->items.size() : node != nullptr ? 1 : 0;
    std::vector<WordRule> rules;
    for (size_t i = 0; i < std::max<size_t>(1, count); ++i) {
        if (i >= count || count > kMostSteps || !addWordRule(begin[i], i + 1 == count, rules)) {
            return unsupported(
                "TK08",
                said("pre_tokenizer: expected ByteLevel without a prefix space, behind a few "
                     "steps Digits and Split by the expression of GPT-2 or Llama 3, found "
                     "%1 as one of %2 steps",
                     describe(i < count ? begin + i : nullptr), count));
        }
    }
    return rules;
}

Result<void> checkPreTokenizer(const Json& root) {
    const Json* node = root.find("pre_tokenizer");
    if (node == nullptr || node->is(Json::Kind::Null)) {
        return {};
    }
    const Json* invert = node->find("invert");
    const bool is_known = hasNumMembers(*node, 4) && isMemberString(*node, "type", "Split") &&
                          isStringPattern(node->find("pattern"), " ") &&
                          isMemberString(*node, "behavior", "MergedWithPrevious") &&
                          invert != nullptr && invert->is(Json::Kind::Bool) && !invert->boolean;
    if (!is_known) {
        return unsupported("TK08", said("pre_tokenizer: expected none, or Split on a space merged "
                                        "with the previous piece, found %1",
                                        describe(*node)));
    }
    return {};
}

/// {"type": "Strip", "content": " ", "start": 1, "stop": 0}
bool isStrip(const Json& node) {
    const Json* start = node.find("start");
    const Json* stop = node.find("stop");
    return hasNumMembers(node, 4) && isMemberString(node, "type", "Strip") &&
           isMemberString(node, "content", " ") && start != nullptr && start->integer() == 1 &&
           stop != nullptr && stop->integer() == 0;
}

Result<void> checkDecoder(const Json& root, bool has_space_prefix) {
    const Json* node = root.find("decoder");
    const Json* steps = node == nullptr ? nullptr : node->find("decoders");
    const size_t count = has_space_prefix ? 4 : 3;
    const bool is_known =
        node != nullptr && hasNumMembers(*node, 2) && isMemberString(*node, "type", "Sequence") &&
        steps != nullptr && steps->is(Json::Kind::Array) && steps->items.size() == count &&
        (!has_space_prefix || isStrip(steps->items[3])) &&
        isReplace(steps->items[0], kSpaceSignText, " ") && hasNumMembers(steps->items[1], 1) &&
        isMemberString(steps->items[1], "type", "ByteFallback") &&
        hasNumMembers(steps->items[2], 1) && isMemberString(steps->items[2], "type", "Fuse");
    if (!is_known) {
        return unsupported("TK09", said("decoder: expected ByteLevel, or Sequence of Replace "
                                        "U+2581 by a space, ByteFallback, Fuse and, where the "
                                        "normalizer has Prepend, Strip of that space, found %1",
                                        describe(node)));
    }
    return {};
}

Result<void> checkModel(const Json& model, bool is_byte_level) {
    if (!isMemberString(model, "type", "BPE")) {
        return unsupported("TK10", said("model: expected type \"BPE\", found %1", describe(model)));
    }
    const Json* dropout = model.find("dropout");
    if (dropout != nullptr && !dropout->is(Json::Kind::Null)) {
        return unsupported(
            "TK11", said("model.dropout: expected null, found %1; random tokens are for training",
                         describe(*dropout)));
    }
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        const Json* affix = model.find(name);
        if (affix != nullptr && !affix->is(Json::Kind::Null)) {
            return unsupported("TK12",
                               said("model.%1: expected null, found %2", name, describe(*affix)));
        }
    }
    const Json* ignore_merges = model.find("ignore_merges");
    if (!is_byte_level && ignore_merges != nullptr && !ignore_merges->is(Json::Kind::Null) &&
        (!ignore_merges->is(Json::Kind::Bool) || ignore_merges->boolean)) {
        return unsupported("TK13", said("model.ignore_merges: expected false, found %1",
                                        describe(*ignore_merges)));
    }
    if (!isFlag(model, "byte_fallback", !is_byte_level, false)) {
        return unsupported("TK14", said("model.byte_fallback: expected %1, found %2",
                                        asItIs(is_byte_level ? "false" : "true"),
                                        describe(model.find("byte_fallback"))));
    }
    return {};
}

Result<AddedToken> readAddedToken(const Json& node, size_t index) {
    const Sentence where = said("added_tokens: entry %1", index);
    const Json* content = node.find("content");
    if (content == nullptr || !content->is(Json::Kind::String) || content->text.empty() ||
        content->text.size() > kMaxTokenBytes) {
        return invalid("TK26", said("%1 has no content of 1 to %2 bytes", where, kMaxTokenBytes));
    }
    AddedToken token;
    token.content = content->text;
    const Sentence named = said("%1 (%2)", where, quoteToken(token.content));
    const Json* id = node.find("id");
    if (id == nullptr || !id->is(Json::Kind::Number)) {
        return invalid("TK26", said("%1 has no id", named));
    }
    token.id = parseTokenId(id->text);
    if (token.id < 0) {
        return invalid("TK26", said("%1 has the id %2, expected a whole number from 0 to %3", named,
                                    quoteToken(id->text), kMaxTokens - 1));
    }
    const std::pair<const char*, bool*> flags[] = {{"lstrip", &token.strips_left},
                                                   {"rstrip", &token.strips_right},
                                                   {"single_word", &token.is_single_word},
                                                   {"normalized", &token.matches_normalized_text},
                                                   {"special", &token.is_special}};
    for (const auto& [flag, is_set] : flags) {
        const Json* value = node.find(flag);
        if (value == nullptr) {
            continue; // false
        }
        if (!value->is(Json::Kind::Bool)) {
            return invalid("TK26", said("%1: %2 is %3, expected true or false", named, flag,
                                        describe(*value)));
        }
        *is_set = value->boolean;
    }
    return token;
}

Result<std::vector<AddedToken>> readAddedTokens(const Json& root) {
    std::vector<AddedToken> tokens;
    const Json* list = root.find("added_tokens");
    if (list == nullptr || !list->is(Json::Kind::Array)) {
        return invalid("TK05", said("added_tokens: expected an array, found %1", describe(list)));
    }
    for (size_t i = 0; i < list->items.size(); ++i) {
        ENGINE_ASSIGN(AddedToken token, readAddedToken(list->items[i], i));
        tokens.push_back(std::move(token));
    }
    return tokens;
}

/// Puts the spellings of vocabulary and added tokens in id order.
class SpellingList {
public:
    Result<void> add(const TokenizerFile& file) {
        spellings_.resize(file.vocab.size());
        for (const auto& entry : file.vocab) {
            const std::string_view token = file.tokenOf(entry);
            if (static_cast<size_t>(entry.id) >= spellings_.size()) {
                return invalid("TK20", said("model.vocab: the id of %1 is %2, but there are %3 "
                                            "entries and ids run from 0 without a gap",
                                            quoteToken(token), entry.id, spellings_.size()));
            }
            ENGINE_TRY(place(token, entry.id, "model.vocab"));
        }
        return {};
    }

    Result<void> place(std::string_view token, TokenId id, const char* where) {
        std::string_view& spelling = spellings_[static_cast<size_t>(id)];
        if (!spelling.empty()) {
            return invalid("TK19", said("%1: the tokens %2 and %3 both have the id %4", where,
                                        quoteToken(spelling), quoteToken(token), id));
        }
        spelling = token;
        return {};
    }

    void grow(size_t count) { spellings_.resize(spellings_.size() + count); }

    void store(Tokenizer::Data& data) const {
        size_t num_bytes = 0;
        for (const std::string_view spelling : spellings_) {
            num_bytes += spelling.size();
        }
        data.bytes.clear();
        data.bytes.reserve(num_bytes);
        data.begins.assign(1, 0);
        data.begins.reserve(spellings_.size() + 1);
        for (const std::string_view spelling : spellings_) {
            data.bytes.append(spelling);
            data.begins.push_back(static_cast<uint32_t>(data.bytes.size()));
        }
        data.flags.resize(spellings_.size());
    }

    [[nodiscard]] size_t size() const { return spellings_.size(); }

private:
    std::vector<std::string_view> spellings_; ///< By id; empty = not yet placed.
};

Result<void> indexAll(Tokenizer::Data& data) {
    TokenId a = -1;
    TokenId b = -1;
    if (!data.indexTokens(a, b)) {
        return invalid("TK21", said("model.vocab: %1 has two ids: %2 and %3",
                                    quoteToken(data.token(a)), a, b));
    }
    return {};
}

/// Vocabulary and added tokens: spellings, index, flags.
Result<void> loadTokens(const TokenizerFile& file, Tokenizer::Data& data) {
    SpellingList spellings;
    ENGINE_TRY(spellings.add(file));
    spellings.store(data);
    ENGINE_TRY(indexAll(data));
    ENGINE_ASSIGN(auto added, readAddedTokens(file.root));

    data.vocab_size = spellings.size();
    std::vector<const AddedToken*> extra; // outside the vocabulary
    for (const auto& token : added) {
        const TokenId id = data.find(token.content);
        if (id < 0) {
            extra.push_back(&token);
        } else if (id != token.id) {
            return invalid("TK28", said("added_tokens: %1 has the id %2, model.vocab says %3",
                                        quoteToken(token.content), token.id, id));
        }
    }
    if (!extra.empty()) {
        spellings.grow(extra.size());
        for (const AddedToken* token : extra) {
            if (static_cast<size_t>(token->id) >= spellings.size()) {
                return invalid("TK20",
                               said("added_tokens: the id of %1 is %2, but there are %3 "
                                    "tokens in all and ids run from 0 without a gap",
                                    quoteToken(token->content), token->id, spellings.size()));
            }
            ENGINE_TRY(spellings.place(token->content, token->id, "added_tokens"));
        }
        spellings.store(data);
        ENGINE_TRY(indexAll(data));
    }
    for (AddedToken& token : added) {
        uint8_t& flags = data.flags[static_cast<size_t>(token.id)];
        if (flags != 0) {
            return invalid("TK29", said("added_tokens lists %1 twice", quoteToken(token.content)));
        }
        flags = static_cast<uint8_t>(Tokenizer::Data::kAdded |
                                     (token.is_special ? Tokenizer::Data::kSpecial : 0));
        if (data.has_space_prefix && token.matches_normalized_text) {
            return unsupported("TK07", said("normalizer: Prepend is not implemented beside added "
                                            "tokens that match in normalized text, as %1 does",
                                            quoteToken(token.content)));
        }
        token.is_plain =
            !data.is_byte_level && !token.is_special && data.isOutsideVocabulary(token.id);
        (token.matches_normalized_text ? data.normalized : data.exact).insert(token);
    }
    data.exact.makeIndex();
    data.normalized.makeIndex();
    return {};
}

Result<void> loadByteTokens(Tokenizer::Data& data) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    data.byte_of.assign(data.size(), -1);
    for (size_t byte = 0; byte < 256; ++byte) {
        if (data.is_byte_level) {
            const TokenId id = data.find(byteCharacter(static_cast<uint8_t>(byte)));
            data.byte_token[byte] = data.isOutsideVocabulary(id) ? -1 : id;
            continue;
        }
        const std::string spelling = std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15U] + '>';
        const TokenId id = data.find(spelling);
        if (id < 0) {
            return invalid(
                "TK22",
                said("model.vocab has no byte token %1; byte_fallback needs all 256", spelling));
        }
        data.byte_token[byte] = id;
        data.byte_of[static_cast<size_t>(id)] = static_cast<int16_t>(byte);
    }
    return {};
}

uint32_t lastCharacter(std::string_view text) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<uint8_t>(text[begin]) & 0xc0U) == 0x80U) {
        --begin;
    }
    return firstCharacter(text.substr(begin)).code_point;
}

Result<void> loadMerges(const TokenizerFile& file, Tokenizer::Data& data) {
    const auto find = [&data](std::string_view token) {
        const TokenId id = data.find(token);
        return data.isOutsideVocabulary(id) ? -1 : id;
    };
    data.merges.reserve(file.merges.size(), data.seed);
    const std::string_view bytes = file.bytes;
    int32_t rank = 0;
    for (const auto& entry : file.merges) {
        const std::string_view left = bytes.substr(entry.begin, entry.left_length);
        const std::string_view right =
            bytes.substr(size_t{entry.begin} + entry.left_length, entry.right_length);
        const std::string_view both =
            bytes.substr(entry.begin, size_t{entry.left_length} + entry.right_length);
        const TokenId left_id = find(left);
        const TokenId right_id = find(right);
        const TokenId both_id = find(both);
        if (left_id < 0 || right_id < 0) {
            return invalid("TK23",
                           said("model.merges: entry %1 names %2, which is not in the vocabulary",
                                rank, quoteToken(left_id < 0 ? left : right)));
        }
        if (both_id < 0) {
            return invalid("TK24",
                           said("model.merges: entry %1 makes %2, which is not in the vocabulary",
                                rank, quoteToken(both)));
        }
        if (!data.merges.insert(left_id, right_id, {rank, both_id})) {
            return invalid("TK25", said("model.merges: entry %1 repeats %2 %3", rank,
                                        quoteToken(left), quoteToken(right)));
        }
        data.flags[static_cast<size_t>(both_id)] |= Tokenizer::Data::kBuiltByMerge;
        data.borders.insert(lastCharacter(left), firstCharacter(right).code_point);
        data.do_byte_tokens_merge = data.do_byte_tokens_merge ||
                                    data.byte_of[static_cast<size_t>(left_id)] >= 0 ||
                                    data.byte_of[static_cast<size_t>(right_id)] >= 0;
        ++rank;
    }
    return {};
}

/// Fills the character table and makes sure that no text can spell a special token: one that it can
/// is a word, as a trainer makes them of the vocabulary's own ("###").
Result<void> checkReach(Tokenizer::Data& data) {
    for (size_t i = 0; i < data.size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        const std::string_view token = data.token(id);
        const Character first = firstCharacter(token);
        std::string bytes;
        if (data.is_byte_level) {
            appendBytes(token, bytes);
        }
        const bool is_character =
            !data.isOutsideVocabulary(id) &&
            (data.is_byte_level ? bytes.size() == 1 : first.size == token.size());
        if (is_character) {
            data.characters.insert(first.code_point, id);
        }
        uint8_t& flags = data.flags[i];
        if ((flags & Tokenizer::Data::kAdded) != 0 && data.byte_of[i] >= 0) {
            return invalid(
                "TK30",
                said("added_tokens lists the byte token %1, which unknown characters turn into",
                     quoteToken(token)));
        }
        const bool is_spelled = is_character || (flags & Tokenizer::Data::kBuiltByMerge) != 0;
        if ((flags & Tokenizer::Data::kSpecial) != 0 && is_spelled) {
            flags &= static_cast<uint8_t>(~Tokenizer::Data::kSpecial);
            data.warnings.push_back(said("tokenizer.json: ordinary text becomes the special token "
                                         "%1; it counts as a word and is shown in replies",
                                         quoteToken(token)));
        }
    }
    return {};
}

/// The ids of one SpecialToken step of a TemplateProcessing post-processor.
Result<std::vector<TokenId>>
templateTokens(const Json& post, std::string_view name, size_t vocab_size) {
    const Json* all = post.find("special_tokens");
    const Json* entry = all == nullptr ? nullptr : all->find(name);
    const Json* ids = entry == nullptr ? nullptr : entry->find("ids");
    if (ids == nullptr || !ids->is(Json::Kind::Array)) {
        return invalid(
            "TK31", said("post_processor: special_tokens gives no ids for %1", quoteToken(name)));
    }
    std::vector<TokenId> out;
    for (const Json& node : ids->items) {
        const TokenId id = node.is(Json::Kind::Number) ? parseTokenId(node.text) : -1;
        if (id < 0 || static_cast<size_t>(id) >= vocab_size) {
            return invalid("TK31",
                           said("post_processor: %1 has the id %2, expected a token from 0 to %3",
                                quoteToken(name), describe(node), vocab_size - 1));
        }
        out.push_back(id);
    }
    return out;
}

/// Only TemplateProcessing has an effect here; it concerns raw text, never a chat prompt.
Result<void> applyPostProcessor(const Json& post, Tokenizer::Data& data) {
    if (isMemberString(post, "type", "ByteLevel")) {
        return {}; // concerns places in the text, not tokens
    }
    const Json* steps = post.find("processors");
    if (isMemberString(post, "type", "Sequence") && steps != nullptr) {
        for (const Json& step : steps->items) {
            ENGINE_TRY(applyPostProcessor(step, data));
        }
        return {};
    }
    if (!isMemberString(post, "type", "TemplateProcessing")) {
        data.warnings.push_back(said("tokenizer.json: post_processor (%1) is not applied: raw text "
                                     "gets no special tokens from it",
                                     describe(post)));
        return {};
    }
    const Json* single = post.find("single");
    if (single == nullptr || !single->is(Json::Kind::Array)) {
        return invalid("TK31", said("post_processor: single is not an array"));
    }
    bool is_after_text = false;
    for (const Json& step : single->items) {
        const Json* special = step.find("SpecialToken");
        const Json* name = special == nullptr ? nullptr : special->find("id");
        if (name != nullptr && name->is(Json::Kind::String)) {
            ENGINE_ASSIGN(const auto ids, templateTokens(post, name->text, data.size()));
            auto& out = is_after_text ? data.suffix : data.prefix;
            out.insert(out.end(), ids.begin(), ids.end());
            continue;
        }
        const Json* sequence = step.find("Sequence");
        if (sequence == nullptr || !isMemberString(*sequence, "id", "A") || is_after_text) {
            return invalid("TK31", said("post_processor: single holds a step that is neither a "
                                        "special token nor the one text"));
        }
        is_after_text = true;
    }
    if (!is_after_text) {
        return invalid("TK31", said("post_processor: single has no place for the text"));
    }
    return {};
}

void noteUnknownMembers(const Json& node,
                        std::string_view prefix,
                        std::initializer_list<std::string_view> known,
                        std::vector<Sentence>& warnings) {
    for (const JsonMember& child : node.members) {
        if (std::find(known.begin(), known.end(), child.key) == known.end()) {
            warnings.push_back(said("tokenizer.json: the member %1 is unknown and has no effect",
                                    quoteToken(std::string(prefix) + child.key)));
        }
    }
}

} // namespace

Result<std::shared_ptr<const Tokenizer::Data>> loadTokenizer(const TokenizerFile& file) {
    const Json& root = file.root;
    if (!isMemberString(root, "version", "1.0")) {
        const Json* version = root.find("version");
        return unsupported("TK06", said("version: expected \"1.0\", found %1", describe(version)));
    }
    const Json* model = root.find("model");
    if (model == nullptr || !model->is(Json::Kind::Object)) {
        return invalid("TK05", said("model: expected an object, found %1", describe(model)));
    }
    auto data = std::make_shared<Tokenizer::Data>();
    data->is_byte_level = isByteLevel(root);
    ENGINE_TRY(checkModel(*model, data->is_byte_level));
    ENGINE_TRY(readNormalizer(root, *data));
    if (data->is_byte_level) {
        ENGINE_ASSIGN(data->word_rules, readWordRules(root));
        data->ignores_merges = isFlag(*model, "ignore_merges", true, false);
        data->normalized = AddedTokens(/*is_normalized=*/false);
    } else {
        ENGINE_TRY(checkPreTokenizer(root));
        ENGINE_TRY(checkDecoder(root, data->has_space_prefix));
    }
    if (!file.has_vocab) {
        return invalid("TK05", said("model.vocab is missing or not an object"));
    }
    if (!file.has_merges) {
        return invalid("TK05", said("model.merges is missing or not an array"));
    }

    // The address differs from run to run: nobody can prepare a file whose tokens all collide.
    data->seed = mixBits(reinterpret_cast<uintptr_t>(data.get()));
    ENGINE_TRY(loadTokens(file, *data));
    ENGINE_TRY(loadByteTokens(*data));
    const Json* unknown = model->find("unk_token");
    if (unknown != nullptr && !unknown->is(Json::Kind::Null) &&
        (!unknown->is(Json::Kind::String) || data->find(unknown->text) < 0)) {
        return invalid("TK15", said("model.unk_token: expected a token of the vocabulary, found %1",
                                    describe(*unknown)));
    }
    ENGINE_TRY(loadMerges(file, *data));
    ENGINE_TRY(checkReach(*data));
    const Json* post = root.find("post_processor");
    if (post != nullptr && !post->is(Json::Kind::Null)) {
        ENGINE_TRY(applyPostProcessor(*post, *data));
    }
    noteUnknownMembers(root, "",
                       {"version", "truncation", "padding", "added_tokens", "normalizer",
                        "pre_tokenizer", "post_processor", "decoder", "model"},
                       data->warnings);
    noteUnknownMembers(*model, "model.",
                       {"type", "dropout", "unk_token", "continuing_subword_prefix",
                        "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                        "merges"},
                       data->warnings);
    return std::shared_ptr<const Tokenizer::Data>(std::move(data));
}

} // namespace engine::text
