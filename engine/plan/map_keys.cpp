// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_keys.h"

#include "engine/families/gemma4/names.h"

#include <algorithm>
#include <array>
#include <set>

namespace engine {

namespace {

constexpr int64_t kFarAbove = 1'000'000'000;
constexpr size_t kMaxProposals = 3;

bool isDecimal(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Decimal without leading zeros.
bool isPlainDecimal(std::string_view text) {
    return isDecimal(text) && (text.size() == 1 || text[0] != '0');
}

int64_t saturatedNumber(std::string_view digits) {
    int64_t value = 0;
    for (const char c : digits) {
        value = std::min<int64_t>(value * 10 + (c - '0'), kFarAbove);
    }
    return value;
}

std::string joinFrom(const std::vector<std::string_view>& parts, size_t begin) {
    std::string out;
    for (size_t i = begin; i < parts.size(); ++i) {
        if (i > begin) {
            out += '.';
        }
        out += parts[i];
    }
    return out;
}

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Names that other programs use for our modules.
struct ForeignName {
    std::string_view name;
    std::array<std::string_view, 2> ours;
};
constexpr std::array<ForeignName, 7> kForeignNames = {{
    {"multi_modal_projector", {"model.embed_vision", "model.embed_audio"}},
    {"mm_projector", {"model.embed_vision", "model.embed_audio"}},
    {"vision_model", {"model.vision_tower", ""}},
    {"audio_model", {"model.audio_tower", ""}},
    {"embed_per_layer", {"model.language_model.embed_tokens_per_layer", ""}},
    {"per_layer_embed_tokens", {"model.language_model.embed_tokens_per_layer", ""}},
    {"per_layer_token_embd", {"model.language_model.embed_tokens_per_layer", ""}},
}};

} // namespace

std::vector<std::string_view> splitKey(std::string_view key) {
    std::vector<std::string_view> parts;
    if (key.empty()) {
        return parts;
    }
    size_t begin = 0;
    while (true) {
        const size_t dot = key.find('.', begin);
        if (dot == std::string_view::npos) {
            parts.push_back(key.substr(begin));
            return parts;
        }
        parts.push_back(key.substr(begin, dot - begin));
        begin = dot + 1;
    }
}

bool isAtOrBelow(std::string_view name, std::string_view module) {
    return module.empty() || (name.size() >= module.size() && name.starts_with(module) &&
                              (name.size() == module.size() || name[module.size()] == '.'));
}

std::string canonicalKey(std::string_view key) {
    std::vector<std::string_view> parts = splitKey(key);
    if (!parts.empty() && parts[0] == "base_model") {
        if (parts.size() == 1 || (parts.size() == 2 && parts[1] == "model")) {
            return "";
        }
        if (parts[1] == "model") {
            parts.erase(parts.begin(), parts.begin() + 2);
        }
    }
    const size_t count = parts.size();
    const std::string_view first = count > 0 ? parts[0] : std::string_view{};
    const std::string_view second = count > 1 ? parts[1] : std::string_view{};
    if ((first == "language_model" || first == "model") && second == "lm_head") {
        return joinFrom(parts, 1);
    }
    if (first == "language_model" && second == "model") {
        return "model.language_model" + (count > 2 ? "." + joinFrom(parts, 2) : std::string());
    }
    if (isOneOf(first,
                {"language_model", "vision_tower", "audio_tower", "embed_vision", "embed_audio"})) {
        return "model." + joinFrom(parts, 0);
    }
    if (first == "model" && isOneOf(second, {"layers", "norm", "embed_tokens",
                                             "embed_tokens_per_layer", "per_layer_model_projection",
                                             "per_layer_projection_norm", "rotary_emb"})) {
        return "model.language_model." + joinFrom(parts, 1);
    }
    return joinFrom(parts, 0);
}

RangeCheck findRange(std::string_view key, KeyRange& range) {
    range = {};
    const std::vector<std::string_view> parts = splitKey(key);
    for (size_t i = 0; i < parts.size(); ++i) {
        const std::string_view part = parts[i];
        if (part.find_first_of("[]") == std::string_view::npos) {
            continue;
        }
        const size_t dash = part.find('-');
        if (range.component >= 0 || part.size() < 5 || part.front() != '[' || part.back() != ']' ||
            dash == std::string_view::npos) {
            return RangeCheck::BadBracket;
        }
        const std::string_view a = part.substr(1, dash - 1);
        const std::string_view b = part.substr(dash + 1, part.size() - dash - 2);
        if (!isPlainDecimal(a) || !isPlainDecimal(b) || a.size() > b.size() ||
            (a.size() == b.size() && a > b)) {
            return RangeCheck::BadBracket;
        }
        range = {static_cast<int>(i), saturatedNumber(a), saturatedNumber(b)};
    }
    return RangeCheck::Ok;
}

std::string withComponent(std::string_view key, int component, std::string_view replacement) {
    std::vector<std::string_view> parts = splitKey(key);
    if (component >= 0 && static_cast<size_t>(component) < parts.size()) {
        parts[static_cast<size_t>(component)] = replacement;
    }
    return joinFrom(parts, 0);
}

KnownNames::KnownNames(const std::vector<ExpectedTensor>& tensors) : tensors_(&tensors) {
    sorted_.reserve(tensors.size());
    for (const ExpectedTensor& tensor : tensors) {
        sorted_.push_back(&tensor);
    }
    std::sort(sorted_.begin(), sorted_.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
}

KnownNames::Span KnownNames::below(std::string_view module) const {
    if (module.empty()) {
        return {0, sorted_.size()};
    }
    // Names below a module start with "module."; '/' is the character after '.'.
    const auto less = [](const ExpectedTensor* tensor, const std::string& name) {
        return tensor->name < name;
    };
    std::string bound(module);
    auto begin = std::lower_bound(sorted_.begin(), sorted_.end(), bound, less);
    if (begin != sorted_.end() && (*begin)->name == module) {
        const auto i = static_cast<size_t>(begin - sorted_.begin());
        return {i, i + 1};
    }
    bound += '.';
    begin = std::lower_bound(begin, sorted_.end(), bound, less);
    bound.back() = '/';
    const auto end = std::lower_bound(begin, sorted_.end(), bound, less);
    return {static_cast<size_t>(begin - sorted_.begin()),
            static_cast<size_t>(end - sorted_.begin())};
}

int KnownNames::indexOf(std::string_view tensor) const {
    if (index_.empty()) {
        index_.reserve(tensors_->size());
        for (size_t i = 0; i < tensors_->size(); ++i) {
            index_.emplace((*tensors_)[i].name, static_cast<int>(i));
        }
    }
    const auto it = index_.find(tensor);
    return it == index_.end() ? -1 : it->second;
}

const ExpectedTensor* KnownNames::tensorAtOrAbove(std::string_view name) const {
    // A tensor above `name` is one of its dotted prefixes.
    for (size_t length = name.size();;) {
        const std::string_view prefix = name.substr(0, length);
        const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), prefix,
                                         [](const ExpectedTensor* tensor, std::string_view key) {
                                             return std::string_view(tensor->name) < key;
                                         });
        if (it != sorted_.end() && (*it)->name == prefix) {
            return *it;
        }
        const size_t dot = prefix.rfind('.');
        if (dot == std::string_view::npos) {
            return nullptr;
        }
        length = dot;
    }
}

bool KnownNames::isNoEffect(std::string_view name) const {
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) {
        return false;
    }
    const std::string_view parent = name.substr(0, dot);
    const std::string_view leaf = name.substr(dot + 1);
    const Span span = below(parent);
    const bool is_parent_module = span.begin < span.end && at(span.begin).name != parent;
    if (!is_parent_module) {
        return false;
    }
    if (isOneOf(leaf, {"rotary_emb", "act_fn", "v_norm"})) {
        return true;
    }
    if (leaf == "embedding_pre_projection_norm") {
        return isOneOf(parent, {"model.embed_vision", "model.embed_audio"});
    }
    if (leaf == "norm") {
        return parent.ends_with(".router");
    }
    if (leaf == "pooler") {
        return parent == "model.vision_tower";
    }
    if (leaf == "rel_pos_enc") {
        return parent == "model.audio_tower";
    }
    constexpr std::string_view kSubsample = "model.audio_tower.subsample_conv_projection.layer";
    return leaf == "act" && parent.starts_with(kSubsample) &&
           isDecimal(parent.substr(kSubsample.size()));
}

KnownNames::Kind KnownNames::kindOf(std::string_view name) const {
    if (name == "lm_head" || name == "lm_head.weight") {
        return Kind::Head;
    }
    if (isAtOrBelow(name, "lm_head.weight")) {
        return Kind::Inside;
    }
    if (name.empty()) {
        return Kind::Unknown;
    }
    const Span span = below(name);
    if (span.begin < span.end) {
        return at(span.begin).name == name ? Kind::Tensor : Kind::Module;
    }
    if (tensorAtOrAbove(name) != nullptr) {
        return Kind::Inside;
    }
    // A map may place an assistant that is not loaded now.
    const bool is_assistant = isAtOrBelow(name, partName({PartRole::Assistant}));
    return is_assistant || isNoEffect(name) ? Kind::NoEffect : Kind::Unknown;
}

int64_t KnownNames::numberedChildren(std::string_view module) const {
    const auto [it, is_new] = numbered_.try_emplace(std::string(module), 0);
    if (!is_new) {
        return it->second;
    }
    int64_t count = 0;
    const Span span = below(module);
    for (size_t i = span.begin; i < span.end; ++i) {
        if (at(i).name.size() <= module.size()) {
            continue;
        }
        const std::string_view rest = std::string_view(at(i).name).substr(module.size() + 1);
        const std::string_view child = rest.substr(0, rest.find('.'));
        if (isPlainDecimal(child)) {
            count = std::max(count, saturatedNumber(child) + 1);
        }
    }
    it->second = count;
    return count;
}

void KnownNames::prepareCandidates() const {
    if (!candidates_.empty()) {
        return;
    }
    std::set<std::string> names = {"lm_head", "lm_head.weight"};
    const auto addIfNoEffect = [&](const std::string& name) {
        if (isNoEffect(name)) {
            names.insert(name);
        }
    };
    for (const ExpectedTensor* tensor : sorted_) {
        for (size_t dot = tensor->name.find('.'); dot != std::string::npos;
             dot = tensor->name.find('.', dot + 1)) {
            const std::string module = tensor->name.substr(0, dot);
            if (!names.insert(module).second) {
                continue;
            }
            // Where transformers has such modules; elsewhere they are accepted, not proposed.
            if (module.ends_with(".mlp") || module.ends_with(".feed_forward1") ||
                module.ends_with(".feed_forward2") || module.ends_with(".lconv1d") ||
                module.ends_with(".experts")) {
                addIfNoEffect(module + ".act_fn");
            } else if (module.ends_with(".per_layer_input_gate")) {
                addIfNoEffect(module.substr(0, module.rfind('.')) + ".act_fn");
            } else if (module.ends_with(".self_attn") && !module.starts_with("model.audio_tower")) {
                addIfNoEffect(module + ".v_norm");
            } else if (module.ends_with(".router")) {
                addIfNoEffect(module + ".norm");
            }
        }
        names.insert(tensor->name);
    }
    for (const char* name :
         {"model.language_model.rotary_emb", "model.vision_tower.encoder.rotary_emb",
          "model.embed_vision.embedding_pre_projection_norm",
          "model.embed_audio.embedding_pre_projection_norm", "model.vision_tower.pooler",
          "model.audio_tower.rel_pos_enc", "model.audio_tower.subsample_conv_projection.layer0.act",
          "model.audio_tower.subsample_conv_projection.layer1.act"}) {
        addIfNoEffect(name);
    }
    candidates_.assign(names.begin(), names.end());
}

std::vector<std::string> KnownNames::propose(std::string_view key) const {
    prepareCandidates();
    std::vector<std::string> out;
    const auto add = [&out](const std::string& name) {
        if (out.size() < kMaxProposals && std::find(out.begin(), out.end(), name) == out.end()) {
            out.push_back(name);
        }
    };

    std::string_view bare = key;
    for (const std::string_view prefix : {"model.language_model.", "model."}) {
        if (bare.starts_with(prefix)) {
            bare.remove_prefix(prefix.size());
            break;
        }
    }
    for (const ForeignName& foreign : kForeignNames) {
        if (isAtOrBelow(bare, foreign.name)) {
            for (const std::string_view ours : foreign.ours) {
                if (!ours.empty() && kindOf(ours) != Kind::Unknown) {
                    add(std::string(ours));
                }
            }
        }
    }

    std::vector<const std::string*> endings;
    for (const std::string& name : candidates_) {
        if (name.size() > key.size() + 1 && name.ends_with(key) &&
            name[name.size() - key.size() - 1] == '.') {
            endings.push_back(&name);
        }
    }
    std::stable_sort(endings.begin(), endings.end(), [](const auto* a, const auto* b) {
        return a->size() < b->size(); // candidates_ are sorted by name already
    });
    for (const std::string* name : endings) {
        add(*name);
    }
    if (out.size() >= kMaxProposals) {
        return out;
    }

    size_t characters = 0;
    for (const char c : key) {
        characters += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1U : 0U;
    }
    const int limit = std::max(2, static_cast<int>(std::min<size_t>(characters, 600) / 6));
    const std::vector<std::string_view> parts = splitKey(key);
    std::vector<std::pair<int, const std::string*>> near;
    for (const std::string& name : candidates_) {
        if (static_cast<size_t>(std::count(name.begin(), name.end(), '.')) + 1 != parts.size()) {
            continue;
        }
        const std::vector<std::string_view> theirs = splitKey(name);
        int sum = 0;
        for (size_t i = 0; i < parts.size() && sum <= limit; ++i) {
            sum += parts[i] == theirs[i] ? 0 : editDistance(parts[i], theirs[i], limit - sum);
        }
        if (sum <= limit) {
            near.emplace_back(sum, &name);
        }
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [sum, name] : near) {
        add(*name);
    }
    return out;
}

int editDistance(std::string_view a, std::string_view b, int limit) {
    const auto n = static_cast<int>(a.size());
    const auto m = static_cast<int>(b.size());
    if (std::abs(n - m) > limit) {
        return limit + 1;
    }
    // Lowrance and Wagner's recurrence: `last_row[c]` is the last row of `a` that held c.
    const int far = n + m;
    const auto width = static_cast<size_t>(m) + 2;
    std::vector<int> d((static_cast<size_t>(n) + 2) * width, far);
    const auto at = [&d, width](int i, int j) -> int& {
        return d[static_cast<size_t>(i + 1) * width + static_cast<size_t>(j + 1)];
    };
    for (int i = 0; i <= n; ++i) {
        at(i, 0) = i;
    }
    for (int j = 0; j <= m; ++j) {
        at(0, j) = j;
    }
    std::array<int, 256> last_row{};
    for (int i = 1; i <= n; ++i) {
        int last_column = 0;
        for (int j = 1; j <= m; ++j) {
            const auto b_char = static_cast<unsigned char>(b[static_cast<size_t>(j) - 1]);
            const int row = last_row[b_char];
            const int column = last_column;
            int cost = 1;
            if (a[static_cast<size_t>(i) - 1] == b[static_cast<size_t>(j) - 1]) {
                cost = 0;
                last_column = j;
            }
            at(i, j) = std::min({at(i - 1, j - 1) + cost, at(i, j - 1) + 1, at(i - 1, j) + 1,
                                 at(row - 1, column - 1) + (i - row - 1) + 1 + (j - column - 1)});
        }
        last_row[static_cast<unsigned char>(a[static_cast<size_t>(i) - 1])] = i;
    }
    return std::min(at(n, m), limit + 1);
}

} // namespace engine
