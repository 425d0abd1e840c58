// SPDX-License-Identifier: Apache-2.0
// Writes the seed corpora of the fuzz targets into the folder named on the command line: the golden
// models' files and every named malformed case of the unit tests.
#include "tests/engine/files/malformed_config.h"
#include "tests/engine/files/malformed_index.h"
#include "tests/engine/files/malformed_safetensors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Larger seeds slow the fuzzer down more than they help.
constexpr size_t kMaxSeedBytes = 20'000;

class Corpus {
public:
    explicit Corpus(fs::path folder) : folder_(std::move(folder)) {
        fs::create_directories(folder_);
    }
    void add(const std::string& bytes) {
        if (bytes.size() <= kMaxSeedBytes) {
            support::writeBytes(folder_ / ("seed" + std::to_string(count_++)), bytes);
        }
    }
    [[nodiscard]] int count() const { return count_; }

private:
    fs::path folder_;
    int count_ = 0;
};

/// The golden tokenizer with its byte tokens, added tokens and a few letters and merges only.
json smallTokenizer(const fs::path& file) {
    json tokenizer = json::parse(support::readBytes(file));
    json& model = tokenizer["model"];
    json vocab = json::object();
    std::vector<std::pair<int, std::string>> kept;
    for (const auto& [token, id] : model["vocab"].items()) {
        const bool is_byte = token.size() == 6 && token.rfind("<0x", 0) == 0;
        bool is_added = false;
        for (const json& added : tokenizer["added_tokens"]) {
            is_added = is_added || added["content"] == token;
        }
        const bool is_letter = token.size() == 1 && token[0] >= 'a' && token[0] <= 'e';
        if (is_byte || is_added || is_letter || token == "\xe2\x96\x81") {
            kept.emplace_back(id.get<int>(), token);
        }
    }
    std::sort(kept.begin(), kept.end());
    for (const auto& [old_id, token] : kept) {
        vocab[token] = vocab.size();
    }
    json merges = json::array();
    for (const char* pair : {"a b", "c d", "ab c"}) {
        const std::string text(pair);
        const std::string left = text.substr(0, text.find(' '));
        const std::string right = text.substr(text.find(' ') + 1);
        if (vocab.contains(left) && vocab.contains(right)) {
            vocab[left + right] = vocab.size();
            merges.push_back({left, right});
        }
    }
    for (json& added : tokenizer["added_tokens"]) {
        added["id"] = vocab[added["content"].get<std::string>()];
    }
    model["vocab"] = vocab;
    model["merges"] = merges;
    return tokenizer;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    const fs::path root(argv[1]);
    const fs::path golden(BELFRY_GOLDEN_DIR);

    Corpus headers(root / "safetensors_header");
    headers.add("{}");
    headers.add("  {\"__metadata__\":{\"format\":\"pt\"}," +
                support::headerEntry("a", "F32", "2,3", "0,24") + "," +
                support::headerEntry("b", "F4", "4", "24,26") + "} ");
    for (const support::MalformedCase& row : support::malformedSafetensors()) {
        const std::string& bytes = row.files[0].second;
        headers.add(bytes.size() > 8 ? bytes.substr(8) : bytes);
    }

    Corpus indexes(root / "shard_index");
    indexes.add(
        R"({"metadata":{"total_size":4},"weight_map":{"a":"x.safetensors","b":"y.safetensors"}})");
    for (const support::MalformedCase& row : support::malformedIndexes()) {
        indexes.add(row.files[0].second);
    }

    Corpus configs(root / "config");
    Corpus tokenizers(root / "tokenizer");
    for (const char* model : {"e2b", "e4b", "dense31b", "moe26b"}) {
        const fs::path folder = golden / model / "model";
        const support::ConfigTexts sound{support::readBytes(folder / "config.json"),
                                         support::readBytes(folder / "generation_config.json"),
                                         support::readBytes(folder / "processor_config.json")};
        const std::string separator(1, '\0');
        configs.add(json::parse(sound.config).dump() + separator +
                    json::parse(sound.generation).dump() + separator +
                    json::parse(sound.processor).dump());
        if (model == std::string("e2b")) {
            for (const support::MalformedCase& row : support::malformedConfigs(sound)) {
                const auto& [name, content] = row.files[0];
                configs.add(name == "config.json" ? content : sound.config + separator + content);
            }
        }
    }
    const json tokenizer = smallTokenizer(golden / "e2b" / "model" / "tokenizer.json");
    tokenizers.add(tokenizer.dump());
    tokenizers.add(tokenizer.dump() + std::string(1, '\0') + "abc d<bos>\xff e");
    for (const auto& [key, value] : tokenizer.items()) {
        json changed = tokenizer;
        changed.erase(key);
        tokenizers.add(changed.dump());
    }
    for (const auto& [key, value] : tokenizer["model"].items()) {
        json changed = tokenizer;
        changed["model"].erase(key);
        tokenizers.add(changed.dump());
    }
    std::printf("seeds: %d headers, %d indexes, %d configs, %d tokenizers\n", headers.count(),
                indexes.count(), configs.count(), tokenizers.count());
    return 0;
}
