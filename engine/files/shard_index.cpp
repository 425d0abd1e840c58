// SPDX-License-Identifier: Apache-2.0
// Event reader of the shard index.
#include "engine/files/shard_index.h"

#include "engine/base/json/events.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <map>
#include <utility>

namespace engine {

namespace {

constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxTensors = 1'000'000;
constexpr int kMaxDepth = 8;

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
    std::string rule, problem;

    bool onObjectBegin() override {
        ++depth_;
        if (depth_ == 2 && key_ == "weight_map") {
            is_in_map_ = true;
            has_map = true;
            return true;
        }
        if (is_in_map_) {
            return wrongValue("an object");
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
            return fail("IndexFormat", "is a list, expected an object");
        }
        if (is_in_map_ || expectsMap()) {
            return wrongValue("a list");
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
        if (key.empty() || key.size() > kMaxNameBytes) {
            return fail("ST02", "a tensor name in weight_map is empty or longer than 1024 bytes");
        }
        for (const char c : key) {
            if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
                return fail("ST02", "the tensor name " + shown(key) +
                                        " in weight_map holds a control character");
            }
        }
        if (index.items.size() == kMaxTensors) {
            return fail("ST02", "weight_map names more than 1000000 tensors");
        }
        return true;
    }
    bool onString(std::string_view value) override {
        if (!is_in_map_) {
            return scalar("a text");
        }
        auto found = shard_numbers_.find(value);
        if (found == shard_numbers_.end()) {
            if (shard_numbers_.size() == kMaxShards) {
                return fail("ShardCount", "names more than 500 shards");
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
            return wrongValue("a number");
        }
        if (depth_ == 2 && key_ == "metadata" && inner_key_ == "total_size") {
            readTotalSize(literal);
        }
        return scalar("a number");
    }
    bool onBool(bool /*value*/) override { return scalar("true or false"); }
    bool onNull() override { return scalar("null"); }

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
    bool fail(std::string_view broken_rule, std::string what) {
        rule = broken_rule;
        problem = std::move(what);
        return false;
    }
    [[nodiscard]] bool expectsMap() const { return depth_ == 1 && key_ == "weight_map"; }
    bool wrongValue(std::string_view found) {
        return is_in_map_ ? fail("IndexFormat", "weight_map gives " + shown(inner_key_) + " " +
                                                    std::string(found) + ", expected a file name")
                          : fail("IndexFormat",
                                 "weight_map is " + std::string(found) + ", expected an object");
    }
    bool scalar(std::string_view found) {
        if (depth_ == 0) {
            return fail("IndexFormat", "is " + std::string(found) + ", expected an object");
        }
        return is_in_map_ || expectsMap() ? wrongValue(found) : true;
    }
    bool checkShardName(std::string_view name) {
        if (const char* problem_text = modelFileNameProblem(name)) {
            return fail("ShardName",
                        "the shard name \"" + shown(name) + "\" is refused: " + problem_text);
        }
        if (!name.ends_with(".safetensors")) {
            return fail("ShardName",
                        "the shard name \"" + shown(name) + "\" does not end in .safetensors");
        }
        std::string folded(name);
        std::transform(folded.begin(), folded.end(), folded.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        const auto [other, is_new] = folded_names_.emplace(std::move(folded), name);
        if (!is_new) {
            return fail("ShardName", "the shard name \"" + shown(name) +
                                         "\" is refused: it differs from \"" +
                                         shown(other->second) +
                                         "\" in capitals alone, and Windows has one file for both");
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
    const auto fail = [&](std::string_view rule, const std::string& what) {
        return Error{ErrorCode::InvalidFile,
                     name + ": " + what,
                     {{"rule", std::string(rule)}, {"file", name}}};
    };
    IndexReader reader;
    const JsonLimits limits{.max_depth = kMaxDepth, .max_string_bytes = size_t{1} << 20};
    const JsonOutcome outcome = readJson(text, limits, reader);
    const std::string where = " (at byte " + std::to_string(outcome.offset) + ")";
    switch (outcome.stop) {
    case JsonStop::Done:
        break;
    case JsonStop::Handler:
        return fail(reader.rule, reader.problem);
    case JsonStop::TooDeep:
    case JsonStop::StringTooLong:
        return fail("ST02", outcome.detail + where);
    case JsonStop::InvalidUtf8:
        return fail("IndexFormat", "the text is not UTF-8" + where);
    default:
        return fail("IndexFormat", "not valid JSON: " + outcome.detail + where);
    }
    // Member names of all levels, also outside weight_map.
    if (const auto unique = checkJson(text, name, limits); !unique) {
        Error error = unique.error();
        error.details[0].second = "ST01";
        return error;
    }
    reader.finish();
    if (!reader.has_map || reader.index.items.empty()) {
        return fail("IndexFormat", "has no weight_map with tensors in it");
    }
    return std::move(reader.index);
}

} // namespace engine
