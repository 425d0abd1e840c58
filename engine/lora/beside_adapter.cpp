// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/beside_adapter.h"

#include "engine/base/json/tree.h"
#include "engine/files/model_files.h"
#include "engine/text/added_names.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace engine {

namespace {

constexpr const char* kAddedTokens = "added_tokens.json";

using Names = std::vector<std::string>;

/// {"<token>": id, ...}
Names namesOfMembers(const Json& tree) {
    Names names;
    for (const JsonMember& member : tree.members) {
        names.push_back(member.key);
    }
    return names;
}

/// tokenizer_config.json: {"added_tokens_decoder": {"id": {"content": "<token>"}, ...}}
Names namesOfDecoder(const Json& tree) {
    Names names;
    const Json* decoder = tree.find("added_tokens_decoder");
    if (decoder == nullptr) {
        return names;
    }
    for (const JsonMember& member : decoder->members) {
        const Json* content = member.value.find("content");
        if (content != nullptr && content->is(Json::Kind::String)) {
            names.push_back(content->text);
        }
    }
    return names;
}

class Reader {
public:
    Reader(const std::filesystem::path& folder, const Checkpoint& model)
        : folder_(folder), own_(folderCheckpoint(folder)), model_(model) {}

    BesideAdapter run() {
        readTemplate();
        readTokens();
        return std::move(out_);
    }

private:
    void note(const Sentence& odd) { out_.notes.push_back(said("in its folder: %1", odd)); }

    void readTemplate() {
        std::optional<ChatTemplateText> own = readChatTemplateText(*own_);
        const std::optional<ChatTemplateText> models = readChatTemplateText(model_);
        const bool is_models = own && models && own->source == models->source;
        const Result<StoredTemplates> stored = readStoredTemplates(*own_);
        if (!stored) {
            note(templateUnread(stored.error()));
            return;
        }
        if (!is_models && !stored->foreign.isEmpty()) {
            note(stored->foreign);
        }
        for (const Sentence& odd : stored->notes) {
            note(odd);
        }
        if (own && !is_models) {
            out_.chat_template = std::move(own);
        }
    }

    void readTokens() {
        const auto own = own_->read(ModelText::Tokenizer);
        const auto models = model_.read(ModelText::Tokenizer);
        if (!models || !*models) {
            return; // nothing to compare with; a load tells of it
        }
        if (!own) {
            unread(own.error());
        } else if (*own && **own != **models) {
            compare(std::string(fileNameOf(ModelText::Tokenizer)), addedTokenNames(**own),
                    **models);
        }
        const auto added = readModelText(folder_, kAddedTokens, kMaxSmallJsonBytes);
        compareJson(kAddedTokens, added, namesOfMembers, **models);
        const auto config = own_->read(ModelText::TokenizerConfig);
        if (config) { // else told with the templates
            compareJson(fileNameOf(ModelText::TokenizerConfig), config, namesOfDecoder, **models);
        }
    }

    void unread(const Error& why) {
        out_.notes.push_back(
            said("in its folder: %1 (whether the adapter needs further tokens is not known)",
                 why.told()));
    }

    void compareJson(std::string_view file,
                     const Result<std::optional<std::string>>& text,
                     Names (*namesOf)(const Json&),
                     std::string_view models) {
        if (is_told_ || (text && !*text)) {
            return;
        }
        if (!text) {
            unread(text.error());
            return;
        }
        const Result<Json> tree =
            parseJson(**text, file,
                      {.max_depth = 32, .max_string_bytes = maxTextBytes(ModelText::ChatTemplate)});
        compare(std::string(file), tree ? Result<Names>(namesOf(*tree)) : tree.error(), models);
    }

    void compare(std::string file, const Result<Names>& names, std::string_view models) {
        if (!names) {
            unread(names.error());
            return;
        }
        // What all three files name is in the first of them.
        Names fresh;
        std::copy_if(names->begin(), names->end(), std::back_inserter(fresh),
                     [this](const std::string& name) { return seen_.insert(name).second; });
        if (is_told_ || fresh.empty()) {
            return;
        }
        Result<Names> lacking = tokensLacking(fresh, models);
        if (!lacking || lacking->empty()) {
            return; // a load tells of a model's bad tokenizer
        }
        constexpr size_t kMostNamed = 4;
        const size_t count = lacking->size();
        lacking->resize(std::min(count, kMostNamed));
        out_.notes.push_back(
            said("%1 in its folder has tokens that the model's tokenizer lacks: %2. Prompts are "
                 "cut with the model's tokenizer, these into several tokens, so that the adapter "
                 "does not see what it was trained on; a copy of the model's folder with the "
                 "adapter's tokenizer.json cuts them rightly",
                 std::move(file), listed(*lacking, count)));
        is_told_ = true;
    }

    const std::filesystem::path& folder_;
    std::shared_ptr<const Checkpoint> own_;
    const Checkpoint& model_;
    std::unordered_set<std::string> seen_;
    bool is_told_ = false;
    BesideAdapter out_;
};

} // namespace

BesideAdapter readBesideAdapter(const std::filesystem::path& folder, const Checkpoint& model) {
    return Reader(folder, model).run();
}

} // namespace engine
