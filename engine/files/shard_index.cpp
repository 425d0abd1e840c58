// SPDX-License-Identifier: Apache-2.0
// Event reader of the shard index.
#include "engine/files/shard_index.h"

#include "engine/base/json/events.h"
#include "engine/files/model_files.h"
#include "engine/files/safetensors.h"

#include <algorithm>
#include <map>
#include <utility>

namespace engine {

namespace {

constexpr int kMaxIndexDepth = 8;

std::string shown(std::string_view name) {
    constexpr size_t kMaxShownBytes = 120;
    std::string text(name.substr(0, kMaxShownBytes));
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
            c = '?';
        }
    }
    return text;
}

class IndexReader : public JsonHandler {
public:
    ShardIndex index;
    bool has_map = false;
    std::string rule;
    Sentence problem;

    bool onObjectBegin() override {
        ++depth_;
        if (depth_ == 2 && key_ == "weight_map") {
            is_in_map_ = true;
            has_map = true;
            return true;
        }
        if (is_in_map_) {
            return wrongValue(phrase("an object"));
        }
        return true;
    }
    bool onObjectEnd() override {
        if (depth_ == 2) {
            is_in_map_ = false;
        }
        --depth_;
        return true;
    }
    bool onArrayBegin() override {
        if (depth_ == 0) {
            return fail("IndexFormat", said("is a list, expected an object"));
        }
        if (is_in_map_ || expectsMap()) {
            return wrongValue(phrase("a list"));
        }
        ++depth_;
        return true;
    }
    bool onArrayEnd() override {
        --depth_;
        return true;
    }
    bool onKey(std::string_view key) override {
        if (depth_ == 1) {
            key_.assign(key);
            return true;
        }
        inner_key_.assign(key);
        if (!is_in_map_) {
            return true;
        }
        if (key.empty() || key.size() > kMaxTensorNameBytes) {
            return fail("ST02",
                        said("a tensor name in weight_map is empty or longer than 1024 bytes"));
        }
        for (const char c : key) {
            if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
                return fail(
                    "ST02",
                    said("the tensor name %1 in weight_map holds a control character", shown(key)));
            }
        }
        if (index.items.size() == kMaxTensors) {
            return fail("ST02", said("weight_map names more than 1000000 tensors"));
        }
        return true;
    }
    bool onString(std::string_view value) override {
        if (!is_in_map_) {
            return scalar(phrase("a text"));
        }
        auto found = shard_numbers_.find(value);
        if (found == shard_numbers_.end()) {
            if (shard_numbers_.size() == kMaxShards) {
                return fail("ShardCount", said("names more than 500 shards"));
            }
            if (!checkShardName(value)) {
                return false;
            }
            const int number = static_cast<int>(shard_numbers_.size());
            found = shard_numbers_.emplace(std::string(value), number).first;
        }
        index.items.push_back({inner_key_, found->second});
        return true;
    }
    bool onNumber(std::string_view literal) override {
        if (is_in_map_) {
            return wrongValue(phrase("a number"));
        }
        if (depth_ == 2 && key_ == "metadata" && inner_key_ == "total_size") {
            readTotalSize(literal);
        }
        return scalar(phrase("a number"));
    }
    bool onBool(bool /*value*/) override { return scalar(phrase("true or false")); }
    bool onNull() override { return scalar(phrase("null")); }

    /// Renumbers the shards by name and sorts the items.
    void finish() {
        std::vector<int> rank(shard_numbers_.size(), 0);
        for (const auto& [name, number] : shard_numbers_) {
            rank[static_cast<size_t>(number)] = static_cast<int>(index.shards.size());
            index.shards.push_back(name);
        }
        for (ShardIndex::Item& item : index.items) {
            item.shard = rank[static_cast<size_t>(item.shard)];
        }
        std::sort(index.items.begin(), index.items.end(),
                  [](const ShardIndex::Item& a, const ShardIndex::Item& b) {
                      return a.tensor < b.tensor;
                  });
    }

private:
    bool fail(std::string_view broken_rule, Sentence what) {
        rule = broken_rule;
        problem = std::move(what);
        return false;
    }
    [[nodiscard]] bool expectsMap() const { return depth_ == 1 && key_ == "weight_map"; }
    bool wrongValue(Phrase found) {
        return is_in_map_
                   ? fail("IndexFormat", said("weight_map gives %1 %2, expected a file name",
                                              shown(inner_key_), found))
                   : fail("IndexFormat", said("weight_map is %1, expected an object", found));
    }
    bool scalar(Phrase found) {
        if (depth_ == 0) {
            return fail("IndexFormat", said("is %1, expected an object", found));
        }
        return is_in_map_ || expectsMap() ? wrongValue(found) : true;
    }
    bool checkShardName(std::string_view name) {
        if (const auto refused = modelFileNameProblem(name)) {
            return fail("ShardName",
                        said("the shard name \"%1\" is refused: %2", shown(name), *refused));
        }
        if (!name.ends_with(".safetensors")) {
            return fail("ShardName",
                        said("the shard name \"%1\" does not end in .safetensors", shown(name)));
        }
        std::string folded(name);
        std::transform(folded.begin(), folded.end(), folded.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        const auto [other, is_new] = folded_names_.emplace(std::move(folded), name);
        if (!is_new) {
            return fail("ShardName",
                        said("the shard name \"%1\" is refused: it differs from \"%2\" in "
                             "capitals alone, and Windows has one file for both",
                             shown(name), shown(other->second)));
        }
        return true;
    }
    void readTotalSize(std::string_view literal) {
        uint64_t total = 0;
        const bool is_plain =
            literal.size() <= 18 && std::all_of(literal.begin(), literal.end(),
                                                [](char c) { return c >= '0' && c <= '9'; });
        if (!is_plain) {
            index.has_bad_size = true;
            return;
        }
        for (const char c : literal) {
            total = total * 10 + static_cast<uint64_t>(c - '0');
        }
        index.total_size_bytes = total;
    }

    int depth_ = 0;
    bool is_in_map_ = false;
    std::string key_;       ///< Member of the root.
    std::string inner_key_; ///< Last member name below it.
    std::map<std::string, int, std::less<>> shard_numbers_;
    std::map<std::string, std::string> folded_names_; ///< In small letters, as it was spelled.
};

} // namespace

Result<ShardIndex> parseShardIndex(std::string_view text, std::string_view file_name) {
    const std::string name(file_name);
    const auto fail = [&](std::string_view rule, const Sentence& what) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: %2", name, what),
                     {{"rule", std::string(rule)}, {"file", name}}};
    };
    IndexReader reader;
    const JsonLimits limits{.max_depth = kMaxIndexDepth, .max_string_bytes = size_t{1} << 20};
    const JsonOutcome outcome = readJson(text, limits, reader);
    const auto at = [&outcome](const Sentence& what) {
        return said("%1 (at byte %2)", what, outcome.offset);
    };
    switch (outcome.stop) {
    case JsonStop::Done:
        break;
    case JsonStop::Handler:
        return fail(reader.rule, reader.problem);
    case JsonStop::TooDeep:
    case JsonStop::StringTooLong:
        return fail("ST02", at(outcome.detail));
    case JsonStop::InvalidUtf8:
        return fail("IndexFormat", at(said("the text is not UTF-8")));
    default:
        return fail("IndexFormat", at(said("not valid JSON: %1", outcome.detail)));
    }
    // Member names of all levels, also outside weight_map.
    if (const auto unique = checkJson(text, name, limits); !unique) {
        Error error = unique.error();
        error.details[0].second = "ST01";
        return error;
    }
    reader.finish();
    if (!reader.has_map || reader.index.items.empty()) {
        return fail("IndexFormat", said("has no weight_map with tensors in it"));
    }
    return std::move(reader.index);
}

} // namespace engine
