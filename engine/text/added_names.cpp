// SPDX-License-Identifier: Apache-2.0
#include "engine/text/added_names.h"

#include "engine/text/tokenizer_file.h"

#include <unordered_set>
#include <utility>

namespace engine {

namespace {

std::vector<std::string> addedOf(const text::TokenizerFile& file) {
    std::vector<std::string> names;
    const Json* list = file.root.find("added_tokens");
    if (list == nullptr) {
        return names;
    }
    for (const Json& token : list->items) {
        const Json* content = token.find("content");
        if (content != nullptr && content->is(Json::Kind::String)) {
            names.push_back(content->text);
        }
    }
    return names;
}

} // namespace

Result<std::vector<std::string>> addedTokenNames(std::string_view json) {
    ENGINE_ASSIGN(const text::TokenizerFile file, text::readTokenizerFile(json));
    return addedOf(file);
}

Result<std::vector<std::string>> tokensLacking(const std::vector<std::string>& names,
                                               std::string_view json) {
    ENGINE_ASSIGN(const text::TokenizerFile file, text::readTokenizerFile(json));
    std::unordered_set<std::string_view> lacking(names.begin(), names.end());
    for (const auto& entry : file.vocab) {
        lacking.erase(file.tokenOf(entry));
    }
    const std::vector<std::string> added = addedOf(file);
    for (const std::string& name : added) {
        lacking.erase(name);
    }
    std::vector<std::string> out;
    for (const std::string& name : names) {
        if (lacking.erase(name) > 0) {
            out.push_back(text::quoteToken(name));
        }
    }
    return out;
}

} // namespace engine
