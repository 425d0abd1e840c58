// SPDX-License-Identifier: Apache-2.0
#include "engine/families/stored_templates.h"

#include "engine/base/json/tree.h"

#include <algorithm>

namespace engine {

namespace {

constexpr std::string_view kMember = "chat_template";

/// The marks that a template writes around turns: "<|im_start|>, <|im_end|>".
std::string marksOf(std::string_view source) {
    constexpr size_t kMostMarks = 4;
    constexpr size_t kLongest = 32;
    std::vector<std::string> marks;
    for (size_t at = 0; at < source.size() && marks.size() < kMostMarks; ++at) {
        const char open = source[at];
        if (open != '<' && open != '[') {
            continue;
        }
        const size_t end = source.substr(0, at + kLongest).find(open == '<' ? '>' : ']', at + 1);
        if (end == std::string_view::npos || end == at + 1) {
            continue;
        }
        const std::string mark(source.substr(at, end + 1 - at));
        const std::string_view inside(mark.data() + 1, mark.size() - 2);
        const bool is_word = std::all_of(inside.begin(), inside.end(), [&](char c) {
            const bool is_upper = (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
            return is_upper || (open == '<' && ((c >= 'a' && c <= 'z') || c == '|' || c == '-' ||
                                                (c >= '0' && c <= '9')));
        });
        if (is_word && std::find(marks.begin(), marks.end(), mark) == marks.end()) {
            marks.push_back(mark);
        }
    }
    std::string text;
    for (const std::string& mark : marks) {
        text += (text.empty() ? "" : ", ") + mark;
    }
    return text;
}

class TemplateReader {
public:
    explicit TemplateReader(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

    std::optional<ChatTemplateText> text() {
        if (!run() || text_.source.empty()) {
            return std::nullopt;
        }
        return std::move(text_);
    }

    Result<StoredTemplates> run() {
        ENGINE_ASSIGN(const auto jinja, checkpoint_.read(ModelText::ChatTemplate));
        if (jinja) {
            take(std::string(fileNameOf(ModelText::ChatTemplate)), *jinja);
        }
        for (const ModelText text :
             {ModelText::ChatTemplates, ModelText::Processor, ModelText::TokenizerConfig}) {
            readJson(text);
        }
        readNamed();
        return std::move(out_);
    }

private:
    /// The first of the checkpoint is in force; the others are not looked at by transformers
    /// either.
    void take(const std::string& where, std::string_view source) {
        if (is_found_) {
            return;
        }
        is_found_ = true;
        text_.where = where;
        text_.source = source;
        out_.is_large = isLargeTemplate(source);
        if (out_.is_large) {
            return;
        }
        std::string marks = marksOf(source);
        out_.foreign =
            said("%1: does not look like a Gemma 4 template; it is not used: this prompt is "
                 "written with <|turn>, the template writes %2. A model that was trained on the "
                 "template's turns may answer worse",
                 where, marks.empty() ? phrase("no marks of turns") : asItIs(std::move(marks)));
    }

    void further(const std::string& where) {
        out_.notes.push_back(said(
            "%1: a further chat template, chosen by name in transformers; it is not used", where));
    }

    void readJson(ModelText which) {
        const auto text = checkpoint_.read(which);
        if (text && !*text) {
            return;
        }
        const std::string name(fileNameOf(which));
        const bool has_tokens = which == ModelText::TokenizerConfig;
        if (!text || ((*text)->find(kMember) == std::string::npos && !has_tokens)) {
            if (!text) {
                out_.notes.push_back(templateUnread(text.error()));
            }
            return;
        }
        const auto tree =
            parseJson(**text, name,
                      {.max_depth = 32, .max_string_bytes = maxTextBytes(ModelText::ChatTemplate)});
        const bool is_asked = (*text)->find(kMember) != std::string::npos;
        if (!tree) {
            if (!is_asked) {
                return;
            }
            out_.notes.push_back(templateUnread(tree.error()));
            return;
        }
        for (const char* token : {"bos_token", "eos_token", "pad_token", "unk_token"}) {
            const Json* value = tree->find(token);
            const Json* content = value == nullptr ? nullptr : value->find("content");
            value = content == nullptr ? value : content;
            if (value != nullptr && value->is(Json::Kind::String)) {
                text_.tokens[token] = value->text;
            }
        }
        const Json* member = tree->find(kMember);
        if (member != nullptr && member->is(Json::Kind::String)) {
            take(name, member->text);
        } else if (member != nullptr) {
            takeList(name, *member);
        }
    }

    /// [{"name": "default", "template": "..."}, ...], or an object of names.
    void takeList(const std::string& file, const Json& list) {
        for (size_t i = 0; i < list.items.size(); ++i) {
            takeEntry(file, std::to_string(i), list.items[i]);
        }
        for (const JsonMember& member : list.members) {
            takeEntry(file, member.key, member.value);
        }
    }

    void takeEntry(const std::string& file, std::string name, const Json& entry) {
        const Json* source = &entry;
        if (entry.is(Json::Kind::Object)) {
            const Json* named = entry.find("name");
            source = entry.find("template");
            if (named == nullptr || !named->is(Json::Kind::String) || source == nullptr) {
                return;
            }
            name = named->text;
        }
        if (!source->is(Json::Kind::String)) {
            return;
        }
        if (name == "default") {
            take(file, source->text);
        } else {
            further(file + " (" + name.substr(0, 60) + ")");
        }
    }

    void readNamed() {
        constexpr size_t kMostTold = 4;
        const std::vector<std::string> found = checkpoint_.furtherTemplates();
        for (size_t i = 0; i < std::min(found.size(), kMostTold); ++i) {
            further(found[i]);
        }
    }

    const Checkpoint& checkpoint_;
    bool is_found_ = false;
    ChatTemplateText text_;
    StoredTemplates out_;
};

} // namespace

std::optional<bool> isLargeTemplate(std::string_view source) {
    if (source.find("<|turn>") == std::string_view::npos) {
        return std::nullopt;
    }
    // In the template's source the line break stands as itself or as the escape \n.
    return source.find("<|channel>thought\n<channel|>") != std::string_view::npos ||
           source.find("<|channel>thought\\n<channel|>") != std::string_view::npos;
}

Sentence templateUnread(const Error& why) {
    return said("%1 (its chat template is not known)", why.told());
}

std::optional<ChatTemplateText> readChatTemplateText(const Checkpoint& checkpoint) {
    return TemplateReader(checkpoint).text();
}

Result<StoredTemplates> readStoredTemplates(const Checkpoint& checkpoint) {
    return TemplateReader(checkpoint).run();
}

} // namespace engine
