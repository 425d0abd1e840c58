// SPDX-License-Identifier: Apache-2.0
#include "engine/families/stored_templates.h"

#include "engine/base/digest.h"
#include "engine/base/json/tree.h"

#include <algorithm>
#include <span>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view kMember = "chat_template";

/// Google's earlier chat_template.jinja by their SHA-256: of 12B, 26B-A4B and 31B, then of E2B and
/// E4B. The newest are 0a2c8073... and ae53464b... . The small one of 2026-05-18 is not known.
constexpr std::pair<std::string_view, std::string_view> kOldTemplates[] = {
    {"2dfbfc7d538912f4ea11d29d85b4e25d7bc26386e53f57529f1d707c28b5828c", "2026-04-02"},
    {"85a08664d16d8f3be4416c92427b3ac10df1024ac566cc0b4bc3bab409393f98", "2026-04-10"},
    {"94899c0f917d93f6fe81c95744d1e8ddab2d21d39228d2e4aec1fb2a25bff413", "2026-04-28"},
    {"36e3a42e5cf14cd0020e72d92e1fdd9970f59b82170e421f0cbe1bb42bead3f0", "2026-05-18"},
    {"55572b8d3c8342044e25874c73fe5234b661fa0a57a57f6ef75b58e03d7d959a", "2026-04-02"},
    {"781d10940fbc44be40064b5d43a056fc486c84ceaa55538226368b57314132bf", "2026-04-10"},
    {"33204f1acb5bd0002713e16a593847f24ceeafe711ed88bda2a352dc996a3373", "2026-04-28"},
};

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
            Digest digest = Digest::sha256();
            digest.add(std::as_bytes(std::span(source)));
            text_.old_date = oldTemplateDate(digest.finish());
            if (!text_.old_date.empty()) {
                out_.old = oldTemplateNote(where, text_.old_date);
            }
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

std::string_view newestTemplateDate() {
    return "2026-07-09";
}

std::string_view oldTemplateDate(std::string_view sha256) {
    const auto* const at = std::find_if(std::begin(kOldTemplates), std::end(kOldTemplates),
                                        [&](const auto& known) { return known.first == sha256; });
    return at == std::end(kOldTemplates) ? std::string_view() : at->second;
}

Sentence oldTemplateNote(const std::string& where, std::string_view date) {
    return said("%1: its chat template is Google's of %2; there is a newer one, of %3, and its "
                "turns are the ones that are written here",
                where, date, newestTemplateDate());
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
