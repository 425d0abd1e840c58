// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/stored_head.h"

#include "engine/base/float_types.h"
#include "engine/families/gemma4_unified/spellings.h"
#include "engine/families/tensor_list.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr uint64_t kPieceElements = uint64_t{1} << 20;

bool isCausalClass(const ModelConfig& config) {
    return config.architecture.ends_with("ForCausalLM");
}

bool isTextOnly(const ModelConfig& config) {
    return isCausalClass(config) || (!config.vision && !config.audio);
}

bool isFloat(TensorType type) {
    return type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
}

float floatAt(TensorType type, const std::byte* bytes, size_t i) {
    if (type == TensorType::F32) {
        float value = 0.0F;
        std::memcpy(&value, bytes + i * sizeof value, sizeof value);
        return value;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
    return type == TensorType::F16 ? f16ToFloat(bits) : bf16ToFloat(bits);
}

/// Whether every value of two float tensors of one shape is the same number.
Result<bool> areEqual(const TensorSource& source,
                      const TensorInfo& a,
                      const TensorInfo& b,
                      const std::stop_token& stop) {
    const uint64_t a_size = tensorTypeSize(a.type);
    const uint64_t b_size = tensorTypeSize(b.type);
    const uint64_t count = a.size_bytes / a_size;
    std::vector<std::byte> a_bytes;
    std::vector<std::byte> b_bytes;
    for (uint64_t first = 0; first < count; first += kPieceElements) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("opening the model was cancelled")};
        }
        const uint64_t n = std::min(kPieceElements, count - first);
        a_bytes.resize(n * a_size);
        b_bytes.resize(n * b_size);
        ENGINE_TRY(source.read(a, first * a_size, a_bytes));
        ENGINE_TRY(source.read(b, first * b_size, b_bytes));
        if (a.type == b.type && std::memcmp(a_bytes.data(), b_bytes.data(), a_bytes.size()) == 0) {
            continue; // equal NaNs too: which of them is used does not matter
        }
        // Other bytes may be the same numbers: 0 and -0, or of two types.
        for (size_t i = 0; i < n; ++i) {
            if (floatAt(a.type, a_bytes.data(), i) != floatAt(b.type, b_bytes.data(), i)) {
                return false;
            }
        }
    }
    return true;
}

/// Answers of this process: a plan is made at every move of a block, and reading two tables of a
/// large model takes about a second.
class KnownAnswers {
public:
    struct Key {
        FileStamp head, table;
        uint64_t head_offset = 0, table_offset = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };

    static std::optional<Key>
    keyOf(const TensorSource& source, const TensorInfo& head, const TensorInfo& table) {
        const auto head_stamp = source.fileStamp(head.file_index);
        const auto table_stamp = source.fileStamp(table.file_index);
        if (!head_stamp.has_value() || !table_stamp.has_value()) {
            return std::nullopt;
        }
        return Key{*head_stamp, *table_stamp, head.file_offset, table.file_offset};
    }
    std::optional<bool> find(const Key& key) {
        const std::lock_guard lock(mutex_);
        const auto it = std::find_if(known_.begin(), known_.end(),
                                     [&key](const auto& entry) { return entry.first == key; });
        return it == known_.end() ? std::nullopt : std::optional(it->second);
    }
    void add(const Key& key, bool are_equal) {
        const std::lock_guard lock(mutex_);
        constexpr size_t kMost = 8;
        if (known_.size() == kMost) {
            known_.erase(known_.begin());
        }
        known_.emplace_back(key, are_equal);
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<Key, bool>> known_;
};

Result<bool> isSameTable(const TensorSource& source,
                         const TensorInfo& head,
                         const TensorInfo& table,
                         const std::stop_token& stop) {
    if (head.shape != table.shape || !isFloat(head.type) || !isFloat(table.type)) {
        return false;
    }
    static KnownAnswers known;
    const auto key = KnownAnswers::keyOf(source, head, table);
    if (key.has_value()) {
        if (const auto answer = known.find(*key)) {
            return *answer;
        }
    }
    ENGINE_ASSIGN(const bool are_equal, areEqual(source, head, table, stop));
    if (key.has_value()) {
        known.add(*key, are_equal);
    }
    return are_equal;
}

} // namespace

Result<void>
decideHead(ModelConfig& config, const TensorSource& source, const std::stop_token& stop) {
    config.has_own_head = !config.tie_word_embeddings;
    if (source.isHeaderOnly() || source.tensors().empty()) {
        return {};
    }
    const TensorInfo* head = nullptr;
    const TensorInfo* table = nullptr;
    for (const TensorInfo& info : source.tensors()) {
        const std::string name = canonicalTensorName(info.name, isTextOnly(config));
        if (name == kHeadName && head != nullptr) {
            config.has_own_head = true; // checkStoredNames() says that there are two
            return {};
        }
        head = name == kHeadName ? &info : head;
        table = name == kTokenTableName ? &info : table;
    }
    if (head == nullptr) {
        return {};
    }
    if (table == nullptr) {
        config.is_table_stored_as_head = config.tie_word_embeddings;
        if (config.is_table_stored_as_head) {
            config.warnings.push_back(
                said("%1: stands for the token embedding, which the files do not hold under its "
                     "own name (config.json: both are one table)",
                     head->name));
        }
        return {};
    }
    ENGINE_ASSIGN(const bool is_same, isSameTable(source, *head, *table, stop));
    config.has_own_head = !is_same;
    if (is_same) {
        return {}; // the load says that one table serves both
    }
    config.warnings.push_back(
        config.tie_word_embeddings
            ? said("%1: is used as the output head, as its values are not those of the token "
                   "embedding, although config.json says that both are one table; "
                   "\"tie_word_embeddings\": false there says what the files hold",
                   head->name)
            : said("%1: the output head is a tensor of its own, not the token embedding",
                   head->name));
    return {};
}

std::string storedTensorName(const ModelConfig& config, std::string_view file_name) {
    std::string name = canonicalTensorName(file_name, isTextOnly(config));
    if (config.is_table_stored_as_head && name == kHeadName) {
        name = kTokenTableName;
    }
    const auto& vision = config.left_out.vision ? config.left_out.vision : config.vision;
    return vision && !vision->has_tower ? moduleTreeName(name) : name;
}

std::string headFileName(std::string_view table_file_name) {
    const bool is_old_order = table_file_name.starts_with("language_model."); // transformers 4
    return is_old_order ? "language_model.lm_head.weight" : std::string(kHeadName);
}

std::string tableFileName(const ModelConfig& config) {
    return isCausalClass(config) ? "model.embed_tokens.weight" : std::string(kTokenTableName);
}

Error missingHead() {
    return Error{
        ErrorCode::InvalidFile,
        said("lm_head.weight: config.json says that the output head is not the token embedding "
             "(\"tie_word_embeddings\": false), and the weight files hold no lm_head.weight; get "
             "the file that holds it, or say true there if the model has one table for both"),
        {{"tensor", std::string(kHeadName)}, {"rule", "missing"}}};
}

} // namespace engine
